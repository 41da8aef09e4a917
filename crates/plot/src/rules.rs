//! Reference lines and their labels, which keep clear of each other.

use super::axis::Span;
use super::figure::Panel;
use super::layout::Frame;
use super::marks::Mark;
use super::svg::{num, text_element};
use super::text::{shorten, width};
use super::theme::FONT_SIZE;

const LINE: f64 = 15.0;

/// A rectangle that a label takes: left, top, right, bottom.
type Taken = (f64, f64, f64, f64);

pub(super) fn rules(panel: &Panel, frame: &Frame, x: &Span, y: &Span) -> String {
    let rules = panel.marks.iter().filter_map(|mark| match mark {
        Mark::Rule {
            at,
            horizontal: true,
            label,
        } => Some((true, frame.y(y.fraction_within(*at)?), label)),
        Mark::Rule {
            at,
            horizontal: false,
            label,
        } => Some((false, frame.x(x.fraction_within(*at)?), label)),
        _ => None,
    });
    let rules: Vec<(bool, f64, &String)> = rules.collect();
    let mut path = String::new();
    let mut labels = String::new();
    let mut taken: Vec<Taken> = Vec::new();
    for &(horizontal, at, label) in &rules {
        let text = shorten(label, FONT_SIZE, frame.width - 10.0);
        let (anchor, candidates) = if horizontal {
            path += &format!("M{} {}H{}", num(frame.left), num(at), num(frame.right()));
            ("end", beside_horizontal(frame, at, &text))
        } else {
            path += &format!("M{} {}V{}", num(at), num(frame.top), num(frame.bottom()));
            let verticals = rules.iter().filter(|rule| !rule.0).map(|rule| rule.1);
            let next = verticals
                .filter(|other| *other > at)
                .fold(f64::MAX, f64::min);
            beside_vertical(frame, at, next, &text)
        };
        if text.is_empty() {
            continue;
        }
        let free = |place: &&Taken| taken.iter().all(|other| !overlap(place, other));
        let Some(&place) = candidates.iter().find(free).or(candidates.first()) else {
            continue;
        };
        taken.push(place);
        let edge = if anchor == "end" { place.2 } else { place.0 };
        let attributes = format!("class=\"us-tick us-halo\" text-anchor=\"{anchor}\"");
        labels += &text_element(edge, place.3 - 4.0, &attributes, &text);
    }
    if path.is_empty() {
        return path;
    }
    format!("<path class=\"us-rule\" d=\"{path}\"/>\n{labels}")
}

/// Above the right end of the line or below it, or at its left end.
fn beside_horizontal(frame: &Frame, at: f64, text: &str) -> Vec<Taken> {
    let wide = width(text, FONT_SIZE);
    let sides = [frame.right() - 4.0 - wide, frame.left + 4.0];
    let places = sides.into_iter().flat_map(|left| {
        let tops = [at - LINE - 1.0, at + 1.0];
        tops.map(|top| (left, top, left + wide, top + LINE))
    });
    places
        .filter(|place| place.1 >= frame.top && place.3 <= frame.bottom())
        .collect()
}

/// At the top of the line or further down, right of it if there is room before the `next` one, else left of it if there is.
fn beside_vertical(frame: &Frame, at: f64, next: f64, text: &str) -> (&'static str, Vec<Taken>) {
    let wide = width(text, FONT_SIZE);
    let (end, start) = (at + 4.0 + wide, at - 4.0 - wide);
    let fits_left = start >= frame.left;
    let right = end <= frame.right() && (end <= next || !fits_left);
    let (anchor, left) = match (right, fits_left) {
        (true, _) => ("start", at + 4.0),
        (false, true) => ("end", start),
        // Across the line, in a panel too narrow for either side.
        (false, false) => ("end", (frame.right() - 4.0 - wide).max(frame.left)),
    };
    let lines = ((frame.height / LINE) as usize).clamp(1, 6);
    let candidates = (0..lines).map(|k| {
        let top = frame.top + 2.0 + k as f64 * LINE;
        (left, top, left + wide, top + LINE)
    });
    (anchor, candidates.collect())
}

fn overlap(a: &Taken, b: &Taken) -> bool {
    a.0 < b.2 && b.0 < a.2 && a.1 < b.3 && b.1 < a.3
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axis::{Axis, Extent};

    const FRAME: Frame = Frame {
        left: 0.0,
        top: 0.0,
        width: 300.0,
        height: 200.0,
    };

    fn places(marks: Vec<Mark>) -> Vec<(f64, f64, &'static str)> {
        let axis = Axis::linear("").range(0.0, 1.0);
        let span = axis.span(&Extent::new(false)).unwrap();
        let panel = Panel::new("").marks(marks);
        let svg = format!("<svg>{}</svg>", rules(&panel, &FRAME, &span, &span));
        let document = roxmltree::Document::parse(&svg).unwrap();
        let texts = document.descendants().filter(|n| n.has_tag_name("text"));
        texts
            .map(|text| {
                let number = |name| text.attribute(name).unwrap().parse().unwrap();
                let anchored_at_end = text.attribute("text-anchor") == Some("end");
                let anchor = if anchored_at_end { "end" } else { "start" };
                (number("x"), number("y"), anchor)
            })
            .collect()
    }

    #[test]
    fn labels_of_close_lines_stand_on_either_side() {
        let close = vec![
            Mark::rule_at_x(0.50, "truth"),
            Mark::rule_at_x(0.52, "estimate"),
        ];
        let places = places(close);
        assert_eq!((places[0].2, places[1].2), ("end", "start"));
    }

    #[test]
    fn labels_with_room_on_neither_side_stay_inside() {
        let label = "a label of two thirds of the panel";
        let places = places(vec![Mark::rule_at_x(0.5, label)]);
        let wide = width(label, FONT_SIZE);
        assert!(wide > 150.0 && wide < 300.0);
        assert!(
            places[0].0 <= 300.0 && places[0].0 - wide >= 0.0,
            "{places:?}"
        );
    }

    #[test]
    fn labels_at_the_edge_stay_inside_and_apart() {
        let top = vec![
            Mark::rule_at_y(1.0, "first"),
            Mark::rule_at_y(0.98, "second"),
        ];
        let places = places(top);
        assert!(places.iter().all(|place| place.1 > FONT_SIZE - 2.0));
        assert!((places[0].0 - places[1].0).abs() > 60.0);
    }
}
