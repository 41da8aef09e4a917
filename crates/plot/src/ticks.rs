//! Where an axis of numbers has its ticks, and what they are called.

/// A value on an axis and its label; the label is the exact decimal, the value its nearest double.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub value: f64,
    pub label: String,
}

/// A number as digits times a power of ten, so that labels never show rounding of binary fractions.
#[derive(Clone, Copy)]
struct Decimal {
    digits: i64,
    exponent: i32,
}

/// Labels longer than this are written with an exponent if that is shorter.
const LONG_LABEL: usize = 6;

/// At most `max` multiples of 1, 2 or 5 times a power of ten within `low..=high`; of at least 1 where `integers` are asked for.
///
/// With `max` 8 there are at least three, since the next finer step, at most 2.5 times as fine, has more than eight.
pub(super) fn linear(low: f64, high: f64, max: usize, integers: bool) -> Vec<Tick> {
    assert!(low < high, "a range has a width");
    let finest = ((high - low) / max as f64).log10().floor() as i32 - 1;
    let start = if integers { finest.max(0) } else { finest };
    let steps = (start..).flat_map(|exponent| [1, 2, 5].map(|digits| Decimal { digits, exponent }));
    for step in steps {
        let size = step.value();
        // Ends of a range are ticks even where their quotient is off by rounding.
        let first = (low / size - 1e-9).ceil() as i64;
        let last = (high / size + 1e-9).floor() as i64;
        if last - first < max as i64 {
            let multiple = |k: i64| Decimal {
                digits: k * step.digits,
                exponent: step.exponent,
            };
            return named((first..=last).map(multiple).collect());
        }
    }
    unreachable!("some step is wide enough")
}

/// Ticks of a log axis from `10^low` to `10^high`: decades, or 1, 2 and 5 where there are few of them, or plain ones within a decade.
pub(super) fn log(low: f64, high: f64, max: usize) -> Vec<Tick> {
    assert!(low < high, "a range has a width");
    let (first, last) = ((low - 1e-9).ceil() as i32, (high + 1e-9).floor() as i32);
    let decade = |exponent| Decimal {
        digits: 1,
        exponent,
    };
    let num_decades = (last - first + 1).max(0) as usize;
    if num_decades >= 3 {
        let stride = num_decades.div_ceil(max.max(1)) as i32;
        let shown = (first..=last).filter(|e| e.rem_euclid(stride) == 0);
        return decades(shown.map(decade).collect());
    }
    let within = |d: &Decimal| {
        let place = d.value().log10();
        low - 1e-9 <= place && place <= high + 1e-9
    };
    let fine: Vec<Decimal> = (first - 1..=last)
        .flat_map(|exponent| [1, 2, 5].map(|digits| Decimal { digits, exponent }))
        .filter(within)
        .collect();
    if fine.len() > max && num_decades > 0 {
        return decades((first..=last).map(decade).collect());
    }
    if fine.len() >= 3 {
        return decades(fine);
    }
    let mut ticks = linear(10f64.powf(low), 10f64.powf(high), max, false);
    ticks.retain(|tick| tick.value > 0.0);
    ticks
}

/// Each label on its own: 0.001, 1000, 1e6.
fn decades(values: Vec<Decimal>) -> Vec<Tick> {
    values
        .into_iter()
        .map(|value| {
            let magnitude = value.value().log10();
            let plain = (-4.0 - 1e-9..6.0 - 1e-9).contains(&magnitude);
            let label = if plain {
                value.plain()
            } else {
                value.scientific()
            };
            Tick {
                value: value.value(),
                label,
            }
        })
        .collect()
}

/// All labels in one notation: plain unless that is long and an exponent is shorter.
fn named(values: Vec<Decimal>) -> Vec<Tick> {
    let labels = |label: fn(&Decimal) -> String| values.iter().map(label).collect::<Vec<_>>();
    let widest = |labels: &[String]| {
        let lengths = labels.iter().map(|l| l.trim_start_matches('-').len());
        lengths.max().unwrap_or(0)
    };
    let (plain, scientific) = (labels(Decimal::plain), labels(Decimal::scientific));
    let keep_plain = widest(&plain) <= LONG_LABEL.max(widest(&scientific));
    let labels = if keep_plain { plain } else { scientific };
    let ticks = values.iter().zip(labels);
    ticks
        .map(|(value, label)| Tick {
            value: value.value(),
            label,
        })
        .collect()
}

impl Decimal {
    /// The nearest double: by way of text, which rounds once, where a product with a power of ten would round twice.
    fn value(&self) -> f64 {
        format!("{}e{}", self.digits, self.exponent)
            .parse()
            .expect("digits and an exponent are a number")
    }

    fn sign(&self) -> &'static str {
        if self.digits < 0 { "-" } else { "" }
    }

    fn plain(&self) -> String {
        let digits = self.digits.unsigned_abs();
        if digits == 0 && self.exponent >= 0 {
            return "0".to_owned();
        }
        if self.exponent >= 0 {
            let zeros = "0".repeat(self.exponent as usize);
            return format!("{}{digits}{zeros}", self.sign());
        }
        let decimals = self.exponent.unsigned_abs() as usize;
        let padded = format!("{digits:0>width$}", width = decimals + 1);
        let (whole, fraction) = padded.split_at(padded.len() - decimals);
        format!("{}{whole}.{fraction}", self.sign())
    }

    fn scientific(&self) -> String {
        let all = self.digits.unsigned_abs().to_string();
        let digits = all.trim_end_matches('0');
        if digits.is_empty() {
            return "0".to_owned();
        }
        let exponent = self.exponent + all.len() as i32 - 1;
        let (lead, fraction) = digits.split_at(1);
        let point = if fraction.is_empty() { "" } else { "." };
        let power = if exponent == 0 {
            String::new()
        } else {
            format!("e{exponent}")
        };
        format!("{}{lead}{point}{fraction}{power}", self.sign())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels(ticks: &[Tick]) -> Vec<&str> {
        ticks.iter().map(|tick| tick.label.as_str()).collect()
    }

    fn linear_labels(low: f64, high: f64) -> Vec<String> {
        let ticks = linear(low, high, 8, false);
        ticks.into_iter().map(|tick| tick.label).collect()
    }

    fn log_labels(low: f64, high: f64) -> Vec<String> {
        let ticks = log(low.log10(), high.log10(), 8);
        ticks.into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn linear_ticks_are_round_and_exact() {
        for (low, high, expected) in [
            (0.0, 1.0, "0.0 0.2 0.4 0.6 0.8 1.0"),
            (0.0, 0.7, "0.0 0.1 0.2 0.3 0.4 0.5 0.6 0.7"),
            (-1.0, 1.0, "-1.0 -0.5 0.0 0.5 1.0"),
            (-3.2, 4.1, "-3 -2 -1 0 1 2 3 4"),
            (0.0, 2000.0, "0 500 1000 1500 2000"),
            (0.0, 4e6, "0 1e6 2e6 3e6 4e6"),
            (0.0, 2.5e6, "0 5e5 1e6 1.5e6 2e6 2.5e6"),
            (0.0, 3e-5, "0 5e-6 1e-5 1.5e-5 2e-5 2.5e-5 3e-5"),
            (
                1000.0,
                1000.1,
                "1000.00 1000.02 1000.04 1000.06 1000.08 1000.10",
            ),
            (0.55, 0.71, "0.56 0.58 0.60 0.62 0.64 0.66 0.68 0.70"),
        ] {
            assert_eq!(linear_labels(low, high).join(" "), expected);
        }
        assert_eq!(labels(&linear(0.5, 3.5, 8, true)), ["1", "2", "3"]);
        assert_eq!(labels(&linear(0.5, 1.5, 8, true)), ["1"]);
    }

    #[test]
    fn log_ticks_are_decades_or_one_two_five() {
        for (low, high, expected) in [
            (1e-3, 1e3, "0.001 0.01 0.1 1 10 100 1000"),
            (0.5, 2e6, "1 10 100 1000 10000 100000 1e6"),
            (1e-6, 1e-3, "1e-6 1e-5 0.0001 0.001"),
            (1.0, 50.0, "1 2 5 10 20 50"),
            (30.0, 800.0, "50 100 200 500"),
            (2.1, 4.2, "2.5 3.0 3.5 4.0"),
            (1e-12, 1e12, "1e-12 1e-8 0.0001 1 10000 1e8 1e12"),
        ] {
            assert_eq!(log_labels(low, high).join(" "), expected);
        }
    }

    proptest! {
        #[test]
        fn ticks_of_any_range_are_few_and_within_it(
            low in -1e3f64..1e3, width in 0.0f64..8.0, scale in -9i32..9,
        ) {
            let unit = 10f64.powi(scale);
            let (low, high) = (low * unit, (low + 10f64.powf(width - 4.0)) * unit);
            let ticks = linear(low, high, 8, false);
            prop_assert!((3..=8).contains(&ticks.len()), "{} ticks", ticks.len());
            let step = (ticks[1].value - ticks[0].value).abs();
            let slack = 1e-6 * step;
            prop_assert!(ticks[0].value >= low - slack && ticks[0].value - low < step + slack);
            let last = &ticks[ticks.len() - 1];
            prop_assert!(last.value <= high + slack && high - last.value < step + slack);
            for tick in &ticks {
                prop_assert_eq!(tick.label.parse::<f64>().unwrap(), tick.value);
            }
        }

        #[test]
        fn log_ticks_of_any_range_are_few_and_within_it(low in -20.0f64..20.0, width in 0.01f64..30.0) {
            let ticks = log(low, low + width, 8);
            prop_assert!((2..=8).contains(&ticks.len()), "{ticks:?}");
            for tick in &ticks {
                prop_assert_eq!(tick.label.parse::<f64>().unwrap(), tick.value);
                let place = tick.value.log10();
                prop_assert!(low - 1e-6 <= place && place <= low + width + 1e-6);
            }
        }
    }
}
