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
