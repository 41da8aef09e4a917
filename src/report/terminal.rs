//! The verdict and the coefficients as text for a terminal.

use super::coefficients::coefficients;
use super::format::with_spread;
use super::verdict::Verdict;
use crate::baseline::compare::method_label;
use crate::posterior::{Coefficient, Method, Posterior};

/// Coefficients shown; coefficients.csv has the others.
const MOST_SHOWN: usize = 40;
const LONGEST_NAME: usize = 24;
/// Shorter bars tell nothing, longer ones nothing more.
const SHORTEST_BAR: usize = 12;
const LONGEST_BAR: usize = 60;

/// One coefficient: its 90 % interval around the estimate, and what the links as given lead to.
#[derive(Debug, Clone, PartialEq)]
struct Bar {
    name: String,
    mean: f64,
    ends: [f64; 2],
    naive: Option<f64>,
}

/// What was found, and the coefficients as a picture, in lines of at most `width` characters; problems are listed elsewhere.
pub fn verdict_text(fit: &Posterior, width: usize) -> String {
    let findings = Verdict::new(fit).findings;
    let text: String = findings.iter().map(|line| wrapped(line, width)).collect();
    text + &coefficient_text(fit, width)
}

/// Problems, findings and the picture, in lines of at most `width` characters, as long as no word is longer.
pub fn overview(fit: &Posterior, width: usize) -> String {
    let verdict = Verdict::new(fit).text();
    let text: String = verdict.lines().map(|line| wrapped(line, width)).collect();
    text + &coefficient_text(fit, width)
}

/// The recommended coefficients as a picture, or those of the draws of a fit that recommends none.
fn coefficient_text(fit: &Posterior, width: usize) -> String {
    let recommended = recommended_bars(fit);
    let (bars, what, naive) = match recommended.is_empty() {
        true => (
            joint_bars(fit),
            "Coefficients",
            fit.as_linked().map(method_label),
        ),
        false => (recommended, "Recommended coefficients", Some("as linked")),
    };
    let mut bars: Vec<Bar> = bars.into_iter().filter(is_finite).collect();
    if bars.is_empty() {
        return String::new();
    }
    let num_more = bars.len().saturating_sub(MOST_SHOWN);
    bars.truncate(MOST_SHOWN);
    let naive = naive.filter(|_| bars.iter().any(|bar| bar.naive.is_some()));
    let mut text = format!("\n{}", drawn(&bars, what, naive, width));
    if num_more > 0 {
        text += &format!("... and {num_more} more\n");
    }
    text
}

fn is_finite(bar: &Bar) -> bool {
    [bar.mean, bar.ends[0], bar.ends[1]]
        .iter()
        .all(|v| v.is_finite())
}

fn recommended_bars(fit: &Posterior) -> Vec<Bar> {
    let bar = |coefficient: &Coefficient| {
        let mut as_linked = fit.coefficients_by(Method::AsLinked);
        let naive = as_linked.find(|naive| naive.name == coefficient.name);
        Bar {
            name: coefficient.name.clone(),
            mean: coefficient.estimate,
            ends: [coefficient.q5, coefficient.q95],
            naive: naive
                .map(|naive| naive.estimate)
                .filter(|value| value.is_finite()),
        }
    };
    fit.coefficients_by(Method::Recommended).map(bar).collect()
}

fn joint_bars(fit: &Posterior) -> Vec<Bar> {
    let method = fit.as_linked();
    let all = coefficients(fit);
    let bars = all.iter().filter_map(|(name, row)| {
        let mut estimates = fit.estimates().iter();
        let naive = estimates.find(|e| Some(e.method.as_str()) == method && e.name == *name);
        Some(Bar {
            name: name.clone(),
            mean: row.mean?,
            ends: [row.q5?, row.q95?],
            naive: naive.map(|e| e.value).filter(|value| value.is_finite()),
        })
    });
    bars.collect()
}

/// Each coefficient on a scale of its own, which `naive` shares.
fn drawn(bars: &[Bar], what: &str, naive: Option<&str>, width: usize) -> String {
    let naive = naive.map_or(String::new(), |name| format!(", \u{d7} {name}"));
    let heading = format!(
        "{what} (\u{251c}\u{2500}\u{25cf}\u{2500}\u{2524} 90 % interval{naive}, own scales):"
    );
    let mut text = wrapped(&heading, width);
    let numbers = bars.iter().map(|bar| {
        let [low, high] = bar.ends;
        let spread = (high - low) / 4.0;
        let shown = |value: f64| with_spread(value, spread);
        let name = shortened(&bar.name);
        (
            name,
            shown(bar.mean),
            format!("[{}, {}]", shown(low), shown(high)),
        )
    });
    let numbers: Vec<(String, String, String)> = numbers.collect();
    let widest = |part: &dyn Fn(&(String, String, String)) -> usize| {
        numbers.iter().map(part).max().unwrap_or(0)
    };
    let name_width = widest(&|n| n.0.chars().count());
    let mean_width = widest(&|n| n.1.len());
    let ends_width = widest(&|n| n.2.len());
    let left = name_width + mean_width + ends_width + 6;
    let room = width.saturating_sub(left).min(LONGEST_BAR);
    for (bar, (name, mean, ends)) in bars.iter().zip(&numbers) {
        let line = format!("{name:<name_width$}  {mean:>mean_width$}  {ends:<ends_width$}");
        let picture = match room {
            0..SHORTEST_BAR => String::new(),
            room => format!("  {}", picture(bar, room)),
        };
        text += format!("{line}{picture}").trim_end();
        text.push('\n');
    }
    text
}

fn picture(bar: &Bar, room: usize) -> String {
    let values = || bar.ends.into_iter().chain([bar.mean]).chain(bar.naive);
    let low = values().fold(f64::INFINITY, f64::min);
    let high = values().fold(f64::NEG_INFINITY, f64::max);
    let place = |value: f64| match high - low {
        span if span > 0.0 => (((value - low) / span) * (room - 1) as f64).round() as usize,
        _ => room / 2,
    };
    let mut cells = vec![' '; room];
    let [from, to] = bar.ends.map(place);
    cells[from..=to].fill('\u{2500}');
    cells[from] = '\u{251c}';
    cells[to] = '\u{2524}';
    cells[place(bar.mean)] = '\u{25cf}';
    if let Some(naive) = bar.naive {
        cells[place(naive)] = '\u{d7}';
    }
    cells.into_iter().collect()
}

fn shortened(name: &str) -> String {
    if name.chars().count() <= LONGEST_NAME {
        return name.into();
    }
    let start: String = name.chars().take(LONGEST_NAME - 1).collect();
    format!("{start}\u{2026}")
}

/// The words in lines, each ended.
fn wrapped(text: &str, width: usize) -> String {
    let mut lines = String::new();
    let mut taken = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if taken > 0 && taken + 1 + length > width {
            lines.push('\n');
            taken = 0;
        } else if taken > 0 {
            lines.push(' ');
            taken += 1;
        }
        lines += word;
        taken += length;
    }
    lines + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(name: &str, ends: [f64; 2], naive: Option<f64>) -> Bar {
        Bar {
            name: name.into(),
            mean: 0.5 * (ends[0] + ends[1]),
            ends,
            naive,
        }
    }

    #[test]
    fn intervals_are_drawn_with_what_the_links_as_given_say() {
        let bars = [
            bar("(Intercept)", [0.308, 0.760], Some(1.851)),
            bar("log_income", [0.8246, 0.8905], Some(0.6635)),
            bar("inside", [-10.0, 20.0], Some(5.0)),
        ];
        let expected = "
Coefficients (├─●─┤ 90 % interval, × as linked (least squares), own scales):
(Intercept)   0.53  [0.31, 0.76]    ├─────●──────┤                             ×
log_income   0.858  [0.825, 0.890]  ×                              ├─────●─────┤
inside         5.0  [-10.0, 20.0]   ├─────────────────────×────────────────────┤
";
        let shown = drawn(&bars, "Coefficients", Some("as linked (least squares)"), 80);
        assert_eq!(shown, expected[1..]);
    }

    #[test]
    fn narrow_terminals_have_numbers_only() {
        let bars = [bar("a", [1.0, 2.0], None)];
        assert!(drawn(&bars, "Coefficients", None, 30).ends_with("\na  1.50  [1.00, 2.00]\n"));
    }

    #[test]
    fn one_value_is_a_dot_and_long_names_are_cut() {
        let one = bar(&"x".repeat(30), [1.0, 1.0], Some(1.0));
        let shown = drawn(&[one], "Coefficients", None, 80);
        assert!(
            shown.contains(&format!("{}\u{2026}  1.00", "x".repeat(23))),
            "{shown}"
        );
        assert_eq!(shown.matches('\u{d7}').count(), 1);
    }

    #[test]
    fn words_are_wrapped() {
        assert_eq!(wrapped("one two three", 7), "one two\nthree\n");
        assert_eq!(wrapped("unbreakable", 4), "unbreakable\n");
    }
}
