//! Colours for light and dark pages, as custom properties that a page may override; markers and dashes tell series apart in grey.

use std::fmt::Write;

use super::marks::Series;
use super::svg::num;

pub(super) const FONT_SIZE: f64 = 12.0;
pub(super) const TITLE_SIZE: f64 = 15.0;
pub(super) const PANEL_TITLE_SIZE: f64 = 13.0;
pub(super) const LINE_HEIGHT: f64 = 1.3;

/// A colour by role: custom property, value on light pages, value on dark ones.
type Role = (&'static str, &'static str, &'static str);

const BACKGROUND: Role = ("bg", "#ffffff", "#0d1117");
const TEXT: Role = ("text", "#1f2328", "#e6edf3");
const MUTED: Role = ("muted", "#57606a", "#a3adb8");
const GRID: Role = ("grid", "#e7eaee", "#242b35");
const FRAME: Role = ("frame", "#8c959f", "#6e7681");

/// Okabe and Ito's colours, strongest first. Blue, sky blue and black are lightened on dark pages, yellow is darkened on light ones.
const SERIES: [Role; 8] = [
    ("s0", "#0072b2", "#3d9bdc"),
    ("s1", "#d55e00", "#e8741c"),
    ("s2", "#009e73", "#12b886"),
    ("s3", "#cc79a7", "#d98bb6"),
    ("s4", "#e69f00", "#e69f00"),
    ("s5", "#56b4e9", "#9bd7fa"),
    ("s6", "#000000", "#f0f3f6"),
    ("s7", "#a89b00", "#f0e442"),
];

/// Dashes of dashed lines, one per series in turn.
const DASHES: [&str; 4] = ["7 4", "2 3", "10 3 2 3", "14 4"];

/// Rules that use a role: selector, property, role, other declarations.
const RULES: &[(&str, &str, Role, &str)] = &[
    (".us-bg", "fill", BACKGROUND, ""),
    (".us-title", "fill", TEXT, "font-size:15px;font-weight:600"),
    (
        ".us-panel-title",
        "fill",
        TEXT,
        "font-size:13px;font-weight:600",
    ),
    (".us-label", "fill", TEXT, ""),
    (".us-tick", "fill", MUTED, ""),
    (".us-note", "fill", MUTED, "font-style:italic"),
    (".us-grid", "stroke", GRID, "fill:none"),
    (".us-frame", "stroke", FRAME, "fill:none"),
    (
        ".us-rule",
        "stroke",
        MUTED,
        "fill:none;stroke-width:1.2;stroke-dasharray:4 3",
    ),
    (
        ".us-halo",
        "stroke",
        BACKGROUND,
        "stroke-width:3px;stroke-linejoin:round;paint-order:stroke",
    ),
    (".us-outlined", "stroke", BACKGROUND, "stroke-width:1"),
];

/// Rules that are the same on every page; marks take the colour of the group of their series.
const FIXED_RULES: &str = "\
.us-figure{font-family:system-ui,-apple-system,\"Segoe UI\",Roboto,\"Helvetica Neue\",Arial,sans-serif;font-size:12px;\
max-width:100%;height:auto}
.us-fill{fill:currentColor}
.us-points{fill:currentColor;fill-opacity:.7}
.us-dense{fill:currentColor;fill-opacity:.45}
.us-area{fill:currentColor;fill-opacity:.22;stroke:none}
.us-line{fill:none;stroke:currentColor;stroke-width:1.8;stroke-linejoin:round;stroke-linecap:round}
.us-fine{fill:none;stroke:currentColor;stroke-width:1;stroke-linejoin:round;stroke-opacity:.8}
.us-whisker{stroke:currentColor;stroke-width:1.5}
.us-inner{stroke:currentColor;stroke-width:4.5}
.us-heat{shape-rendering:crispEdges}
";

/// The style element of a figure. The same in every figure, so that several in one page agree.
pub(super) fn style() -> String {
    format!("<style>\n{}</style>\n", css("(prefers-color-scheme:dark)"))
}

/// What [`Figure::inline_svg`](super::Figure::inline_svg) needs, as rules for a style element of the page: dark where the reader prefers
/// that, light on paper.
pub fn page_style() -> String {
    css("screen and (prefers-color-scheme:dark)")
}

fn css(dark_media: &str) -> String {
    let mut css = String::new();
    let roles = [BACKGROUND, TEXT, MUTED, GRID, FRAME];
    let properties = |value: fn(&Role) -> &'static str| {
        let all = roles.iter().chain(&SERIES);
        all.map(|role| format!("--us-{}:{}", role.0, value(role)))
            .collect::<Vec<_>>()
            .join(";")
    };
    let light = properties(|role| role.1);
    let dark = properties(|role| role.2);
    css.push_str(FIXED_RULES);
    let _ = writeln!(css, ".us-figure{{{light}}}");
    let _ = writeln!(css, "@media {dark_media}{{.us-figure{{{dark}}}}}");
    for (selector, property, role, more) in RULES {
        let _ = writeln!(css, "{selector}{{{}{more}}}", coloured(property, *role));
    }
    for (k, role) in SERIES.iter().enumerate() {
        let _ = writeln!(css, ".us-c{k}{{{}}}", coloured("color", *role));
    }
    css
}

/// The light value first, for viewers that know no custom properties.
fn coloured(property: &str, (name, light, _): Role) -> String {
    format!("{property}:{light};{property}:var(--us-{name});")
}

/// Class of the group that holds a series' marks.
pub(super) fn colour_class(series: Series) -> String {
    format!("us-c{}", series.0 % SERIES.len())
}

pub(super) fn dash(series: Series) -> &'static str {
    DASHES[series.0 % DASHES.len()]
}

/// A marker of a series around a place. Seven shapes and eight colours: 56 series differ.
pub(super) fn marker(series: Series, x: f64, y: f64, radius: f64) -> String {
    let corners = |unit: &[(f64, f64)]| {
        let corner =
            |(dx, dy): &(f64, f64)| format!("{} {}", num(x + dx * radius), num(y + dy * radius));
        let path: Vec<String> = unit.iter().map(corner).collect();
        format!("<path d=\"M{}z\"/>", path.join("L"))
    };
    match series.0 % 7 {
        0 => format!(
            "<circle cx=\"{}\" cy=\"{}\" r=\"{}\"/>",
            num(x),
            num(y),
            num(radius)
        ),
        1 => corners(&[(0.0, -1.25), (1.15, 0.8), (-1.15, 0.8)]),
        2 => corners(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
        3 => corners(&[(0.0, -1.35), (1.35, 0.0), (0.0, 1.35), (-1.35, 0.0)]),
        4 => corners(&[(0.0, 1.25), (-1.15, -0.8), (1.15, -0.8)]),
        5 => corners(&turned_cross(0.0)),
        _ => corners(&turned_cross(std::f64::consts::FRAC_PI_4)),
    }
}

fn turned_cross(angle: f64) -> Vec<(f64, f64)> {
    let (arm, half) = (1.35, 0.42);
    let quarter = [(arm, -half), (arm, half), (half, half)];
    let turn =
        |(x, y): (f64, f64), by: f64| (x * by.cos() - y * by.sin(), x * by.sin() + y * by.cos());
    (0..4)
        .flat_map(|k| {
            let by = angle + f64::from(k) * std::f64::consts::FRAC_PI_2;
            quarter.map(|corner| turn(corner, by))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heat::Rgb;

    fn contrast(a: &str, b: &str) -> f64 {
        Rgb::from_hex(a).contrast(Rgb::from_hex(b))
    }

    #[test]
    fn text_has_contrast_in_both_modes() {
        for role in [TEXT, MUTED] {
            assert!(contrast(role.1, BACKGROUND.1) >= 4.5, "{role:?}");
            assert!(contrast(role.2, BACKGROUND.2) >= 4.5, "{role:?}");
        }
    }

    #[test]
    fn series_stand_out_in_both_modes() {
        for role in SERIES {
            assert!(contrast(role.1, BACKGROUND.1) >= 2.0, "{role:?}");
            assert!(contrast(role.2, BACKGROUND.2) >= 4.5, "{role:?}");
        }
    }

    #[test]
    fn rules_hold_for_our_classes_alone() {
        let css = style();
        let rules = css.lines().filter(|line| line.contains('{'));
        for rule in rules {
            assert!(
                rule.starts_with(".us-") || rule.starts_with("@media"),
                "{rule}"
            );
        }
        let used = css.split("--").skip(1);
        assert!(used.clone().count() > 20 && used.into_iter().all(|p| p.starts_with("us-")));
        assert!(
            !css.trim_start_matches("<style>")
                .trim_end_matches("</style>\n")
                .contains(['<', '&'])
        );
    }

    #[test]
    fn pages_are_dark_on_screens_alone_and_else_styled_as_files_are() {
        let page = page_style();
        assert_eq!(page.matches("@media").count(), 1);
        assert!(page.contains("@media screen and (prefers-color-scheme:dark){.us-figure{--us-bg:"));
        assert_eq!(
            format!("<style>\n{}</style>\n", page.replace("screen and ", "")),
            style()
        );
    }

    #[test]
    fn series_of_the_same_colour_have_different_markers() {
        let look = |k| (colour_class(Series(k)), marker(Series(k), 0.0, 0.0, 3.0));
        let mut looks: Vec<_> = (0..56).map(look).collect();
        looks.sort();
        looks.dedup();
        assert_eq!(looks.len(), 56);
    }
}
