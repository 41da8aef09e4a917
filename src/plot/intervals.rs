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
