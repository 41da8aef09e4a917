//! An axis as asked for, and the span of values that it shows.

/// One axis of a panel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    pub label: String,
    pub scale: Scale,
    /// What it shows; without it, what the marks need, with a margin.
    pub range: Option<(f64, f64)>,
    /// Values grow to the left, or downwards: row 1 of a matrix on top.
    pub reversed: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub enum Scale {
    #[default]
    Linear,
    /// Values of zero and below are left out.
    Log,
    /// Category k is at position k, from 0.
    Categories(Vec<String>),
}

impl Axis {
    pub fn linear(label: impl Into<String>) -> Self {
        Self::new(label, Scale::Linear)
    }

    pub fn log(label: impl Into<String>) -> Self {
        Self::new(label, Scale::Log)
    }

    pub fn categories<S: Into<String>>(
        label: impl Into<String>,
        names: impl IntoIterator<Item = S>,
    ) -> Self {
        let names = names.into_iter().map(Into::into).collect();
        Self::new(label, Scale::Categories(names))
    }

    fn new(label: impl Into<String>, scale: Scale) -> Self {
        Self {
            label: label.into(),
            scale,
            range: None,
            reversed: false,
        }
    }

    pub fn range(mut self, low: f64, high: f64) -> Self {
        self.range = Some((low, high));
        self
    }

    pub fn reversed(mut self) -> Self {
        self.reversed = true;
        self
    }

    /// What the axis shows, given how far its marks reach; none if there is nothing to go by.
    pub(super) fn span(&self, extent: &Extent) -> Option<Span> {
        let log = self.is_log();
        let asked = self.range.and_then(|(low, high)| {
            let (low, high) = (on_scale(low, log)?, on_scale(high, log)?);
            Some((low.min(high), low.max(high)))
        });
        let categories = match &self.scale {
            Scale::Categories(names) if !names.is_empty() => Some((-0.5, names.len() as f64 - 0.5)),
            _ => None,
        };
        let (low, high) = asked.or(categories).or_else(|| extent.padded())?;
        let (low, high) = widened(low, high, log);
        Some(Span {
            low,
            high,
            log,
            reversed: self.reversed,
        })
    }

    pub(super) fn is_log(&self) -> bool {
        self.scale == Scale::Log
    }
}

/// A value as it lies on the scale, if it can be drawn at all.
fn on_scale(value: f64, log: bool) -> Option<f64> {
    let value = if log { value.log10() } else { value };
    // Beyond this a width overflows.
    (value.is_finite() && value.abs() < 1e300).then_some(value)
}

/// A range of one value shows a little on both sides of it.
fn widened(low: f64, high: f64, log: bool) -> (f64, f64) {
    let size = low.abs().max(high.abs());
    if high - low > 1e-9 * size {
        return (low, high);
    }
    let margin = match (log, size == 0.0) {
        (true, _) => 0.5,
        (false, true) => 1.0,
        (false, false) => 0.1 * size,
    };
    (low - margin, high + margin)
}

/// How far marks reach along one axis: values that want a margin, and edges that want none.
#[derive(Clone, Debug)]
pub(super) struct Extent {
    log: bool,
    values: Option<(f64, f64)>,
    edges: Option<(f64, f64)>,
}

impl Extent {
    pub fn new(log: bool) -> Self {
        Self {
            log,
            values: None,
            edges: None,
        }
    }

    pub fn value(&mut self, value: f64) {
        include(&mut self.values, on_scale(value, self.log));
    }

    pub fn edge(&mut self, value: f64) {
        include(&mut self.edges, on_scale(value, self.log));
    }

    fn padded(&self) -> Option<(f64, f64)> {
        const MARGIN: f64 = 0.04;
        let Some((low, high)) = self.values else {
            return self.edges;
        };
        let margin = MARGIN * (high - low);
        let padded = (low - margin, high + margin);
        Some(match self.edges {
            // An edge beyond all values, such as the floor of an area, needs no margin of its own.
            Some((first, last)) => (
                if first <= low { first } else { padded.0 },
                if last >= high { last } else { padded.1 },
            ),
            None => padded,
        })
    }
}

fn include(range: &mut Option<(f64, f64)>, value: Option<f64>) {
    if let Some(v) = value {
        let (low, high) = range.unwrap_or((v, v));
        *range = Some((low.min(v), high.max(v)));
    }
}

/// What an axis shows. Fractions run from 0 at the left or bottom end to 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    /// On a log axis `low` and `high` are decimal logarithms.
    pub low: f64,
    pub high: f64,
    pub log: bool,
    pub reversed: bool,
}

impl Span {
    /// Where a value is, also outside of 0..=1; none if it is not finite or not on the scale.
    pub fn fraction(&self, value: f64) -> Option<f64> {
        let value = on_scale(value, self.log)?;
        let fraction = (value - self.low) / (self.high - self.low);
        Some(if self.reversed {
            1.0 - fraction
        } else {
            fraction
        })
    }

    /// As [`Span::fraction`], but only what lies within the axis.
    pub fn fraction_within(&self, value: f64) -> Option<f64> {
        const ROUNDING: f64 = 1e-9;
        let within = -ROUNDING..=1.0 + ROUNDING;
        self.fraction(value)
            .filter(|fraction| within.contains(fraction))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(log: bool, values: &[f64]) -> Extent {
        let mut extent = Extent::new(log);
        values.iter().for_each(|&v| extent.value(v));
        extent
    }

    #[test]
    fn values_get_a_margin_and_edges_do_not() {
        let mut extent = extent(false, &[1.0, 2.0, f64::NAN, f64::INFINITY]);
        let span = Axis::linear("").span(&extent).unwrap();
        assert!(span.low < 1.0 && span.low > 0.9 && span.high > 2.0 && span.high < 2.1);
        extent.edge(0.0);
        let span = Axis::linear("").span(&extent).unwrap();
        assert!(span.low == 0.0 && span.high > 2.0);
    }

    #[test]
    fn a_single_value_has_room_on_both_sides() {
        for value in [0.0, 3.0, -1e-7, 1e12] {
            let span = Axis::linear("").span(&extent(false, &[value])).unwrap();
            assert!(span.low < value && value < span.high);
        }
        let span = Axis::log("").span(&extent(true, &[100.0])).unwrap();
        assert!(span.low == 1.5 && span.high == 2.5);
    }

    #[test]
    fn nothing_to_show_has_no_span() {
        let nothing = extent(true, &[0.0, -1.0, f64::NAN]);
        assert!(Axis::log("").span(&nothing).is_none());
        assert!(Axis::log("").range(0.0, 1.0).span(&nothing).is_none());
        assert!(Axis::log("").range(0.1, 1.0).span(&nothing).is_some());
        let names: [&str; 0] = [];
        assert!(Axis::categories("", names).span(&nothing).is_none());
    }

    #[test]
    fn fractions_follow_the_scale_and_its_direction() {
        let none = Extent::new(true);
        let span = Axis::log("").range(1.0, 100.0).span(&none).unwrap();
        assert_eq!(span.fraction(10.0), Some(0.5));
        assert_eq!(span.fraction(0.0), None);
        assert_eq!(span.fraction_within(1000.0), None);
        let rows = Axis::categories("", ["a", "b"]).reversed();
        let span = rows.span(&Extent::new(false)).unwrap();
        assert_eq!(span.fraction(0.0), Some(0.75));
    }
}
