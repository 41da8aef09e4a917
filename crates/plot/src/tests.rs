//! Whole figures: valid, the same every time, and without what cannot be drawn.

use super::readback::frames;
use super::{Axis, Figure, HeatCell, Interval, Mark, Panel, Series, dodge};

const NAN: f64 = f64::NAN;

/// The text of all elements with a tag.
fn texts<'a>(document: &'a roxmltree::Document, tag: &str) -> Vec<&'a str> {
    let nodes = document.descendants().filter(|node| node.has_tag_name(tag));
    nodes.filter_map(|node| node.text()).collect()
}

fn count(svg: &str, tag: &str) -> usize {
    let document = roxmltree::Document::parse(svg).expect("valid XML");
    let nodes = document.descendants().filter(|node| node.has_tag_name(tag));
    nodes.count()
}

/// Points of a round series, and points of a line between two gaps.
fn dots(svg: &str) -> usize {
    svg.matches("h0").count()
}

fn small() -> Figure {
    let bar = |k: usize| Interval {
        at: k as f64 + dodge(k, 2),
        low: 0.5,
        high: 2.0,
        inner: Some((1.0, 1.5)),
        mid: 1.2,
    };
    Figure::new("Two panels", "A line with points, and two intervals.")
        .columns(2)
        .panel(
            Panel::new("Error")
                .x(Axis::log("rows"))
                .y(Axis::linear("error"))
                .mark(Mark::line(
                    Series(0),
                    vec![(1.0, 0.8), (10.0, 0.3), (1000.0, 0.1)],
                ))
                .mark(Mark::points(Series(1), vec![(10.0, 0.5), (100.0, 0.4)]))
                .mark(Mark::rule_at_y(0.2, "wanted")),
        )
        .panel(
            Panel::new("Coefficients")
                .x(Axis::categories("", ["alpha", "beta"]))
                .y(Axis::linear("value").range(0.0, 1.8))
                .mark(Mark::intervals(Series(0), vec![bar(0), bar(1)])),
        )
        .legend(Series(0), "unshuffle")
        .legend(Series(1), "as linked")
}

fn forest() -> Figure {
    let bars = |method: usize| {
        let bar = |k: usize| Interval {
            at: k as f64 + dodge(method, 2),
            low: k as f64 - 1.0,
            high: k as f64 + 1.0,
            inner: Some((k as f64 - 0.3, k as f64 + 0.4)),
            mid: k as f64,
        };
        Mark::intervals_across(Series(method), (0..3).map(bar).collect())
    };
    let names = ["(Intercept)", "log_income", "mismatch_rate"];
    Figure::new("A forest", "Three coefficients by two methods.")
        .width(400.0)
        .panel(
            Panel::new("")
                .x(Axis::linear("coefficient"))
                .y(Axis::categories("", names).reversed())
                .mark(Mark::rule_at_x(0.0, ""))
                .marks([bars(0), bars(1)]),
        )
        .legend(Series(0), "unshuffle")
        .legend(Series(1), "as linked")
}

fn heat() -> Figure {
    let cell = |row: u32, column: u32| HeatCell {
        x: f64::from(column),
        y: f64::from(row),
        value: f64::from(row) - f64::from(column),
        text: (row < 2).then(|| format!("{row}, {column}")),
    };
    let cells = (0..3).flat_map(|row| (0..3).map(move |column| cell(row, column)));
    Figure::new("A matrix", "Differences of row and column.").panel(
        Panel::new("")
            .x(Axis::categories("column", ["a", "b", "c"]))
            .y(Axis::linear("row").reversed())
            .mark(Mark::Heat {
                cells: cells.collect(),
                low: -2.0,
                high: 2.0,
                diverging: true,
            }),
    )
}

#[test]
fn figures_are_as_they_were_when_last_looked_at() {
    for (name, figure, golden) in [
        ("small.svg", small(), include_str!("golden/small.svg")),
        ("heat.svg", heat(), include_str!("golden/heat.svg")),
        ("forest.svg", forest(), include_str!("golden/forest.svg")),
    ] {
        let drawn = figure.svg();
        if drawn != golden {
            let path = std::env::temp_dir().join(name);
            std::fs::write(&path, &drawn).expect("a temporary folder");
            panic!(
                "{name} differs; if it looks right, copy {} to crates/plot/src/golden/",
                path.display()
            );
        }
    }
}

#[test]
fn the_same_figure_gives_the_same_bytes() {
    assert_eq!(small().svg(), small().svg());
    assert_eq!(heat().svg(), heat().clone().svg());
}

#[test]
fn names_may_hold_markup() {
    let nasty = "a<b> & \"c\" 'd' ]]> \u{1}";
    let figure = Figure::new(nasty, nasty)
        .panel(
            Panel::new(nasty)
                .x(Axis::categories(nasty, [nasty]))
                .y(Axis::linear(nasty))
                .mark(Mark::points(Series(0), vec![(0.0, 1.0)]))
                .mark(Mark::rule_at_y(1.0, nasty))
                .mark(Mark::heat(vec![HeatCell {
                    x: 0.0,
                    y: 1.0,
                    value: 0.5,
                    text: Some(nasty.to_owned()),
                }])),
        )
        .legend(Series(0), nasty);
    let svg = figure.svg();
    let document = roxmltree::Document::parse(&svg).expect("valid XML");
    let shown = nasty.replace('\u{1}', "\u{fffd}");
    assert_eq!(texts(&document, "title"), [shown.as_str()]);
    assert_eq!(texts(&document, "desc"), [shown.as_str()]);
    let labels = texts(&document, "text");
    // Title, panel title, both axis labels, the category, the rule, the cell, the legend.
    let nasty_labels = labels.iter().filter(|label| **label == shown).count();
    assert_eq!(nasty_labels, 8, "{labels:?}");
}

#[test]
fn figures_say_what_they_are_to_those_who_cannot_see_them() {
    let svg = small().svg();
    let document = roxmltree::Document::parse(&svg).unwrap();
    let root = document.root_element();
    assert_eq!(root.attribute("role"), Some("img"));
    assert_eq!(root.attribute("aria-label"), Some("Two panels"));
    assert!(root.attribute("viewBox").is_some());
    assert!(
        root.descendants()
            .all(|node| node.attribute("id").is_none())
    );
}

#[test]
fn values_that_are_not_finite_are_left_out() {
    let panel = |mark: Mark| {
        let panel = Panel::new("").x(Axis::linear("")).y(Axis::linear(""));
        Figure::new("", "").panel(panel.mark(mark)).svg()
    };
    let points = vec![
        (1.0, 1.0),
        (2.0, NAN),
        (3.0, f64::INFINITY),
        (NAN, 1.0),
        (4.0, 2.0),
    ];
    assert_eq!(dots(&panel(Mark::points(Series(0), points.clone()))), 2);
    let line = panel(Mark::line(Series(0), points));
    assert!(!line.contains("NaN") && !line.contains("inf"));
    // Two lone ends and no line between them.
    assert_eq!(line.matches("h0").count(), 2);

    let bar = Interval {
        at: 1.0,
        low: f64::NEG_INFINITY,
        high: 2.0,
        inner: None,
        mid: 1.0,
    };
    let nowhere = Interval { at: NAN, ..bar };
    let svg = panel(Mark::intervals(Series(0), vec![bar, nowhere]));
    assert_eq!(
        (count(&svg, "circle"), svg.matches("\"us-whisker\"").count()),
        (1, 0)
    );

    let cell = |x, value| HeatCell {
        x,
        y: 1.0,
        value,
        text: None,
    };
    let cells = vec![cell(1.0, 0.5), cell(2.0, NAN), cell(NAN, 0.5)];
    let svg = panel(Mark::heat(cells));
    assert!(!svg.contains("NaN"));
    assert_eq!(svg.matches("fill=\"#6baed6\"").count(), 1);
}

#[test]
fn log_axes_leave_out_what_is_not_positive() {
    let panel = Panel::new("").x(Axis::linear("")).y(Axis::log(""));
    let points = vec![(1.0, 0.0), (2.0, -1.0), (3.0, 10.0), (4.0, 1000.0)];
    let figure = Figure::new("", "").panel(panel.mark(Mark::points(Series(0), points)));
    assert_eq!(dots(&figure.svg()), 2);
}

#[test]
fn panels_without_anything_to_draw_say_so() {
    let empty = Panel::new("").x(Axis::linear("")).y(Axis::linear(""));
    let unseen = Mark::points(Series(0), vec![(NAN, NAN)]);
    let outside = Mark::points(Series(0), vec![(5.0, 5.0)]);
    let figure = Figure::new("", "")
        .panel(empty.clone())
        .panel(empty.clone().mark(unseen).mark(Mark::rule_at_y(1.0, "")))
        .panel(
            empty
                .clone()
                .x(Axis::linear("").range(0.0, 1.0))
                .mark(outside),
        )
        .panel(
            empty
                .mark(Mark::rule_at_y(1.0, ""))
                .mark(Mark::rule_at_x(1.0, "")),
        );
    assert_eq!(figure.svg().matches("no data").count(), 3);
}

#[test]
fn marks_outside_a_range_are_cut() {
    let axis = || Axis::linear("").range(0.0, 1.0);
    let far = vec![(-1e3, -1e3), (1e3, 1e3)];
    let panel = Panel::new("")
        .x(axis())
        .y(axis())
        .mark(Mark::line(Series(0), far.clone()))
        .mark(Mark::area(Series(0), far.clone()))
        .mark(Mark::points(Series(0), far))
        .mark(Mark::rule_at_x(7.0, "far away"));
    let svg = Figure::new("", "").panel(panel).svg();
    assert_eq!(dots(&svg), 0);
    assert!(!svg.contains("far away"));
    let numbers = svg.split(['M', 'L', ' ', 'z', '"']);
    let largest = numbers
        .filter_map(|n| n.parse::<f64>().ok())
        .fold(0.0, f64::max);
    assert!(largest <= 720.0, "{largest}");
}

#[test]
fn left_margins_grow_with_tick_labels() {
    let frame_left = |high: f64| {
        let mark = Mark::points(Series(0), vec![(0.0, 0.0)]);
        let y = Axis::linear("y").range(high, high + 1e-3);
        let svg = Figure::new("", "")
            .panel(Panel::new("").y(y).mark(mark))
            .svg();
        let document = roxmltree::Document::parse(&svg).unwrap();
        let frame = document
            .descendants()
            .find(|n| n.attribute("class") == Some("us-frame"));
        frame
            .unwrap()
            .attribute("x")
            .unwrap()
            .parse::<f64>()
            .unwrap()
    };
    assert!(frame_left(100_000.0) > frame_left(0.0) + 20.0);
}

#[test]
fn figures_are_as_large_as_asked() {
    let wide = small().width(1000.0).svg();
    assert!(wide.contains("viewBox=\"0 0 1000 "));
    let mut figure = small().columns(4).width(720.0);
    figure.panels = vec![figure.panels[0].clone().height(55.0); 8];
    let svg = figure.svg();
    let frames = frames(&svg);
    assert_eq!(frames.len(), 8);
    for [left, _, width, height] in frames {
        assert_eq!(height, 55.0);
        assert!(width > 60.0 && left + width < 720.0);
    }
}

#[test]
fn inline_figures_leave_their_style_to_the_page() {
    for figure in [small(), heat(), forest()] {
        let (alone, inline) = (figure.svg(), figure.inline_svg());
        let (start, end) = (alone.find("<style>"), alone.find("</style>\n"));
        let (start, end) = (start.unwrap(), end.unwrap() + "</style>\n".len());
        assert_eq!(inline, format!("{}{}", &alone[..start], &alone[end..]));
        assert!(end - start > 2000);
    }
}

#[test]
fn odd_shapes_of_figures_are_drawn() {
    for figure in [
        Figure::default(),
        Figure::new("no panels", "").columns(0),
        small().columns(0),
        small().columns(7),
        Figure::new("x", "").panel(Panel::default()).columns(3),
    ] {
        assert!(count(&figure.svg(), "svg") == 1);
    }
}

#[test]
fn classes_are_prefixed_and_styled() {
    for svg in [small().svg(), heat().svg()] {
        let document = roxmltree::Document::parse(&svg).unwrap();
        let style = texts(&document, "style")[0];
        let classes = document.descendants().filter_map(|n| n.attribute("class"));
        for class in classes.flat_map(str::split_whitespace) {
            assert!(class.starts_with("us-"), "{class}");
            assert!(style.contains(&format!(".{class}{{")), "{class}");
        }
    }
}

#[test]
fn fine_lines_have_no_markers_however_few_their_points() {
    let line = vec![
        (0.0, 1.0),
        (1.0, 2.0),
        (f64::NAN, 1.0),
        (2.0, 1.0),
        (3.0, 2.0),
    ];
    let panel = Panel::new("")
        .mark(Mark::fine(Series(0), line.clone()))
        .mark(Mark::fine(Series(1), line));
    let svg = Figure::new("Traces", "Two.")
        .panel(panel)
        .legend(Series(0), "one")
        .svg();
    assert_eq!(svg.matches("class=\"us-fine\"").count(), 2);
    assert!(!svg.contains("us-fill us-outlined"));
}

#[test]
fn a_linked_panel_says_where_its_values_are() {
    let panel = Panel::new("")
        .x(Axis::linear("").range(0.0, 2.0))
        .y(Axis::linear("").range(-1.0, 1.0))
        .mark(Mark::labelled_points(
            Series(0),
            vec![(0.5, -0.5, "a point".into())],
        ));
    let plain = Figure::new("", "").panel(panel.clone()).svg();
    assert!(!plain.contains("data-frame"));
    let svg = Figure::new("", "").panel(panel.linked()).svg();
    let numbers = |name: &str| -> Vec<f64> {
        let behind = svg.split(&format!("{name}=\"")).nth(1).unwrap();
        let text = behind.split('"').next().unwrap();
        text.split(' ').map(|word| word.parse().unwrap()).collect()
    };
    let (frame, range) = (numbers("data-frame"), numbers("data-range"));
    let x = frame[0] + frame[2] * (0.5 - range[0]) / (range[1] - range[0]);
    let y = frame[1] + frame[3] * (range[3] + 0.5) / (range[3] - range[2]);
    let drawn = |name: &str| -> f64 {
        let circle = svg.split("<title>a point</title><circle").nth(1).unwrap();
        let behind = circle.split(&format!("{name}=\"")).nth(1).unwrap();
        behind.split('"').next().unwrap().parse().unwrap()
    };
    assert!((drawn("cx") - x).abs() < 0.11, "{svg}");
    assert!((drawn("cy") - y).abs() < 0.11, "{svg}");
}
