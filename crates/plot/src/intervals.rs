//! Intervals, upright or across as in a forest plot.

use super::axis::Span;
use super::draw::Canvas;
use super::figure::Panel;
use super::marks::{Interval, Mark, Series};
use super::svg::num;
use super::theme::marker;

impl Canvas<'_> {
    pub fn intervals(&self, series: Series, bars: &[Interval], across: bool) -> String {
        // Those of a forest plot stand closer together.
        let (places, values, radius) = match across {
            true => (self.y, self.x, 3.6),
            false => (self.x, self.y, 4.2),
        };
        let pixel = |value: f64| match across {
            true => self.frame.x(value),
            false => self.frame.y(value),
        };
        let mut svg = String::new();
        for bar in bars {
            let Some(at) = places.fraction_within(bar.at) else {
                continue;
            };
            let at = match across {
                true => self.frame.y(at),
                false => self.frame.x(at),
            };
            let mut part = |class: &str, low: f64, high: f64| {
                if let Some((low, high)) = visible_part(values, low, high) {
                    let (at, low, high) = (num(at), num(pixel(low)), num(pixel(high)));
                    let path = match across {
                        true => format!("M{low} {at}H{high}"),
                        false => format!("M{at} {low}V{high}"),
                    };
                    svg += &format!("<path class=\"{class}\" d=\"{path}\"/>\n");
                }
            };
            part("us-whisker", bar.low, bar.high);
            if let Some((low, high)) = bar.inner {
                part("us-inner", low, high);
            }
            if let Some(mid) = values.fraction_within(bar.mid) {
                let dot = match across {
                    true => marker(series, pixel(mid), at, radius),
                    false => marker(series, at, pixel(mid), radius),
                };
                svg += &format!("<g class=\"us-fill us-outlined\">{dot}</g>\n");
            }
        }
        svg
    }
}

/// The part of an interval that its axis shows, as fractions.
fn visible_part(span: &Span, low: f64, high: f64) -> Option<(f64, f64)> {
    let (a, b) = (span.fraction(low)?, span.fraction(high)?);
    let (low, high) = (a.min(b).max(0.0), a.max(b).min(1.0));
    (low <= high).then_some((low, high))
}

/// How many intervals stand one under the other at the fullest category of the y axis.
pub(super) fn rows_per_category(panel: &Panel) -> usize {
    let of_mark = |mark: &Mark| match mark {
        Mark::Intervals {
            bars, across: true, ..
        } => bars.iter().map(|bar| bar.at).collect(),
        _ => Vec::new(),
    };
    let mut places: Vec<f64> = panel.marks.iter().flat_map(of_mark).collect();
    places.retain(|place| place.is_finite());
    places.sort_by(f64::total_cmp);
    places.dedup_by(|a, b| (*a - *b).abs() < 1e-6);
    let categories = places.chunk_by(|a, b| a.round() == b.round());
    categories.map(<[f64]>::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readback::{frames, numbers, shown};
    use crate::{Axis, Figure, dodge};

    fn bar(at: f64, low: f64, high: f64) -> Interval {
        Interval {
            at,
            low,
            high,
            inner: None,
            mid: 0.5 * (low + high),
        }
    }

    fn forest(names: &[String], num_methods: usize) -> Figure {
        let of_method = |method: usize| {
            let at = |k: usize| k as f64 + dodge(method, num_methods);
            let bars = (0..names.len()).map(|k| bar(at(k), k as f64, k as f64 + 1.0));
            Mark::intervals_across(Series(method), bars.collect())
        };
        let panel = Panel::new("")
            .x(Axis::linear(""))
            .y(Axis::categories("", names).reversed());
        Figure::new("", "").panel(panel.marks((0..num_methods).map(of_method)))
    }

    fn names(count: usize) -> Vec<String> {
        (1..=count).map(|k| format!("name {k}")).collect()
    }

    #[test]
    fn the_first_name_and_the_first_method_are_on_top() {
        let svg = forest(&names(3), 2).svg();
        let whiskers = numbers(&svg, "us-whisker");
        // Of the first method first: left, y, right.
        let y: Vec<f64> = whiskers.iter().map(|path| path[1]).collect();
        let [a0, a1, a2, b0, b1, b2] = y[..] else {
            panic!("{y:?}")
        };
        assert!(a0 < b0 && b0 < a1 && a1 < b1 && b1 < a2 && a2 < b2, "{y:?}");
        assert!(b0 - a0 >= 8.0, "markers of {y:?} would touch");
        let [left, top, width, height] = frames(&svg)[0];
        assert!((top..top + height).contains(&a0) && (top..top + height).contains(&b2));
        for path in &whiskers {
            let unit = (path[2] - path[0]) / (width / 3.24);
            assert!((unit - 1.0).abs() < 0.01, "one unit of x is {unit}");
        }
        // The axis reaches 4 % beyond 0 and 3.
        assert!((whiskers[0][0] - left - 0.12 / 3.24 * width).abs() < 0.2);
    }

    #[test]
    fn whiskers_are_cut_at_the_range() {
        let panel = Panel::new("")
            .x(Axis::linear("").range(0.0, 1.0))
            .y(Axis::categories("", ["a"]))
            .mark(Mark::intervals_across(Series(0), vec![bar(0.0, -9.0, 0.5)]));
        let svg = Figure::new("", "").panel(panel).svg();
        let [left, _, width, _] = frames(&svg)[0];
        let whisker = &numbers(&svg, "us-whisker")[0];
        assert_eq!(whisker[0], left);
        assert!((whisker[2] - left - width / 2.0).abs() < 0.2);
    }

    #[test]
    fn panels_grow_with_names_and_methods() {
        let height = |count, num_methods| frames(&forest(&names(count), num_methods).svg())[0][3];
        assert_eq!(height(10, 1), 200.0);
        assert_eq!(height(100, 1), 2000.0);
        assert_eq!(height(10, 4), 620.0);
        assert!(height(1, 1) >= 60.0);
        let chosen = forest(&names(10), 1);
        let panel = chosen.panels[0].clone().height(90.0);
        assert_eq!(frames(&Figure::new("", "").panel(panel).svg())[0][3], 90.0);
    }

    #[test]
    fn forty_characters_are_shown_and_more_are_in_a_title() {
        let forty = "a predictor whose name has 40 characters".to_owned();
        let long = format!("{forty} <and> & then goes on, and on, and on");
        assert_eq!(forty.len(), 40);
        let svg = forest(&[forty.clone(), long.clone()], 1).svg();
        let document = roxmltree::Document::parse(&svg).unwrap();
        let labels = shown(&document, "text");
        assert!(labels.contains(&forty), "{labels:?}");
        assert!(labels.iter().any(|label| label.contains('…')), "{labels:?}");
        assert_eq!(shown(&document, "title")[1..], [long]);
    }
}
