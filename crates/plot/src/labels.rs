//! Tick labels that do not collide: fewer ticks, or rotated or thinned names of categories.

use super::axis::{Axis, Scale, Span};
use super::svg::{escape, title};
use super::text::{shorten_middle, width};
use super::theme::FONT_SIZE;
use super::ticks::{self, Tick};

/// Room between two labels side by side.
const GAP: f64 = 8.0;
/// Room from one line of labels to the next.
const LINE: f64 = 15.0;
/// Rotated labels climb at 45 degrees.
pub(super) const SLOPE: f64 = std::f64::consts::FRAC_1_SQRT_2;
const MAX_ROTATED: f64 = 130.0;

/// A label and where its tick is, in pixels from the start of the axis (its left or its bottom end).
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Label {
    pub offset: f64,
    pub text: String,
    /// What the text was before it was shortened.
    full: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Labels {
    pub labels: Vec<Label>,
    pub rotated: bool,
}

impl Labels {
    /// Width of the widest label.
    pub fn widest(&self) -> f64 {
        let widths = self.labels.iter().map(Label::width);
        widths.fold(0.0, f64::max)
    }

    /// How far labels below an axis reach down.
    pub fn depth(&self) -> f64 {
        match (self.labels.is_empty(), self.rotated) {
            (true, _) => 0.0,
            (false, false) => LINE,
            (false, true) => self.widest() * SLOPE + LINE * SLOPE,
        }
    }

    /// How far labels below an axis of this length reach beyond its left and its right end.
    pub fn overhang(&self, length: f64) -> (f64, f64) {
        let reach = |label: &Label| match self.rotated {
            true => (label.width() * SLOPE + LINE * SLOPE, 0.0),
            false => (label.width() / 2.0, label.width() / 2.0),
        };
        self.labels.iter().fold((0.0, 0.0), |(left, right), label| {
            let (before, after) = reach(label);
            (
                f64::max(left, before - label.offset),
                f64::max(right, label.offset + after - length),
            )
        })
    }
}

impl Label {
    pub fn width(&self) -> f64 {
        width(&self.text, FONT_SIZE)
    }

    /// What stands in its text element; of a shortened label also the full one, for the pointer that rests on it.
    pub fn content(&self) -> String {
        let title = self.full.as_deref().map_or_else(String::new, title);
        title + &escape(&self.text)
    }

    fn shortened(self, max_width: f64) -> Self {
        let text = shorten_middle(&self.text, FONT_SIZE, max_width);
        let full = (text != self.text).then_some(self.text);
        Self { text, full, ..self }
    }
}

/// Labels below an axis of this length.
pub(super) fn across(axis: &Axis, span: &Span, length: f64, integers: bool) -> Labels {
    if let Scale::Categories(names) = &axis.scale {
        return categories_across(names, span, length);
    }
    Labels {
        labels: spaced_numbers(span, length, 8, integers, collide),
        rotated: false,
    }
}

/// Labels beside an axis of this length, none wider than `max_width`.
pub(super) fn beside(
    axis: &Axis,
    span: &Span,
    length: f64,
    integers: bool,
    max_width: f64,
) -> Labels {
    let labels = match &axis.scale {
        Scale::Categories(names) => {
            let labels = thinned(placed(&named(names), span, length), LINE);
            let short = |label: Label| label.shortened(max_width);
            labels.into_iter().map(short).collect()
        }
        _ => {
            let max = ((length / 34.0) as usize).clamp(3, 8);
            let too_close = |labels: &[Label]| {
                let mut pairs = labels.windows(2);
                pairs.any(|pair| (pair[1].offset - pair[0].offset).abs() < LINE)
            };
            spaced_numbers(span, length, max, integers, too_close)
        }
    };
    Labels {
        labels,
        rotated: false,
    }
}

/// As many ticks up to `max` as do not collide, and two of them if possible: one alone tells nothing of the scale.
fn spaced_numbers(
    span: &Span,
    length: f64,
    max: usize,
    integers: bool,
    collide: impl Fn(&[Label]) -> bool,
) -> Vec<Label> {
    let ticks = |max| placed(&numbers(span, max, integers), span, length);
    let fits = |labels: &Vec<Label>| labels.len() >= 2 && !collide(labels);
    if let Some(labels) = (2..=max).rev().map(ticks).find(fits) {
        return labels;
    }
    let mut labels = ticks(8);
    if labels.len() > 2 {
        labels.drain(1..labels.len() - 1);
    }
    if collide(&labels) {
        labels.truncate(1);
    }
    labels
}

fn numbers(span: &Span, max: usize, integers: bool) -> Vec<Tick> {
    if span.log {
        ticks::log(span.low, span.high, max)
    } else {
        ticks::linear(span.low, span.high, max, integers)
    }
}

fn named(names: &[String]) -> Vec<Tick> {
    let tick = |(k, name): (usize, &String)| Tick {
        value: k as f64,
        label: name.clone(),
    };
    names.iter().enumerate().map(tick).collect()
}

fn placed(ticks: &[Tick], span: &Span, length: f64) -> Vec<Label> {
    let place = |tick: &Tick| {
        Some(Label {
            offset: span.fraction_within(tick.value)? * length,
            text: tick.label.clone(),
            full: None,
        })
    };
    ticks.iter().filter_map(place).collect()
}

fn categories_across(names: &[String], span: &Span, length: f64) -> Labels {
    /// Names no wider than this are thinned out rather than rotated: mostly they are numbers.
    const SHORT: f64 = 34.0;
    let labels = placed(&named(names), span, length);
    if !collide(&labels) {
        return Labels {
            labels,
            rotated: false,
        };
    }
    let widest = labels.iter().map(Label::width).fold(0.0, f64::max);
    if widest <= SHORT {
        return Labels {
            labels: thinned(labels, widest + GAP),
            rotated: false,
        };
    }
    let labels = thinned(labels, LINE / SLOPE);
    let short = |label: Label| label.shortened(MAX_ROTATED);
    Labels {
        labels: labels.into_iter().map(short).collect(),
        rotated: true,
    }
}

/// Every k-th label, so that they are at least `distance` apart.
fn thinned(labels: Vec<Label>, distance: f64) -> Vec<Label> {
    let spacing = match labels.as_slice() {
        [first, second, ..] => (second.offset - first.offset).abs(),
        _ => return labels,
    };
    let stride = (distance / spacing).ceil().max(1.0) as usize;
    labels.into_iter().step_by(stride).collect()
}

fn collide(labels: &[Label]) -> bool {
    labels.windows(2).any(|pair| {
        let needed = (pair[0].width() + pair[1].width()) / 2.0 + GAP;
        (pair[1].offset - pair[0].offset).abs() < needed
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axis::Extent;

    fn labels(axis: &Axis, length: f64) -> Labels {
        let span = axis.span(&Extent::new(axis.is_log())).unwrap();
        across(axis, &span, length, false)
    }

    fn distances(labels: &Labels) -> Vec<f64> {
        let pairs = labels.labels.windows(2);
        pairs
            .map(|pair| (pair[1].offset - pair[0].offset).abs())
            .collect()
    }

    #[test]
    fn numbers_never_collide_however_narrow_the_axis() {
        let axes = [
            Axis::linear("").range(0.0, 1.0),
            Axis::linear("").range(123_456.0, 123_457.0),
            Axis::linear("").range(-1e-7, 1e-7).reversed(),
            Axis::log("").range(1e-9, 1e9),
            Axis::log("").range(1.0, 90.0),
        ];
        for axis in axes {
            for length in (100..700).step_by(20) {
                let labels = labels(&axis, f64::from(length));
                assert!(!collide(&labels.labels), "{labels:?}");
                assert!(!labels.labels.is_empty());
            }
        }
    }

    #[test]
    fn narrow_axes_still_have_two_numbers_where_two_fit() {
        let axes = [
            Axis::linear("").range(0.1, 0.9),
            Axis::linear("").range(123_456.2, 123_456.9),
            Axis::linear("").range(-0.013, 0.017),
            Axis::log("").range(3e-7, 4e8),
        ];
        for axis in axes {
            for length in [90.0, 110.0, 160.0] {
                let shown = labels(&axis, length);
                let fit = 2.0 * shown.widest() + GAP < 0.6 * length;
                assert!(
                    !collide(&shown.labels) && (shown.labels.len() >= 2 || !fit),
                    "{shown:?}"
                );
            }
            for length in [20.0, 30.0, 60.0] {
                let span = axis.span(&Extent::new(axis.is_log())).unwrap();
                let shown = beside(&axis, &span, length, false, 100.0);
                assert!(distances(&shown).iter().all(|d| *d >= LINE), "{shown:?}");
                assert!(shown.labels.len() >= 2 || length < 60.0, "{shown:?}");
            }
        }
    }

    #[test]
    fn dense_categories_are_thinned_or_rotated() {
        let numbers = Axis::categories("", (1..=200).map(|k| k.to_string()));
        let shown = labels(&numbers, 300.0);
        assert!(!shown.rotated && shown.labels.len() > 3 && !collide(&shown.labels));

        let names = Axis::categories("", (1..=12).map(|k| format!("parameter number {k}")));
        let shown = labels(&names, 300.0);
        assert!(shown.rotated && shown.labels.len() == 12);

        let names = Axis::categories("", (1..=100).map(|k| format!("parameter number {k}")));
        let shown = labels(&names, 300.0);
        assert!(shown.rotated && shown.labels.len() > 5);
        assert!(distances(&shown).iter().all(|d| d * SLOPE >= LINE));
    }

    #[test]
    fn rows_of_names_keep_a_line_each() {
        let axis = Axis::categories("", (1..=100).map(|k| format!("row {k}"))).reversed();
        let span = axis.span(&Extent::new(false)).unwrap();
        let shown = beside(&axis, &span, 400.0, false, 30.0);
        assert!(shown.labels.len() > 10 && shown.widest() <= 30.0);
        assert!(distances(&shown).iter().all(|d| *d >= LINE));
        let last = shown.labels.last().unwrap();
        assert!(last.text.contains('…'));
        assert!(last.content().starts_with("<title>row "), "{last:?}");
    }
}
