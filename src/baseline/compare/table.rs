//! The comparison as an aligned table for terminals.

use super::{Estimate, JOINT, TRUTH};
use crate::text::{aligned, number_on_scale};

/// More methods than these do not fit side by side into a terminal: they stand below one another.
const MOST_COLUMNS: usize = 2;

/// Rows are coefficients and columns methods, as long as these are few; else each coefficient has a row for each method.
pub fn table(estimates: &[Estimate]) -> String {
    let methods = distinct(estimates.iter().map(|e| e.method.as_str()));
    let names = distinct(estimates.iter().map(|e| e.name.as_str()));
    let find = |name: &str, method: &str| {
        let mut all = estimates.iter();
        all.find(|e| e.name == name && e.method == method)
    };
    let num_estimates = methods.iter().filter(|method| **method != TRUTH).count();
    if num_estimates > MOST_COLUMNS {
        let mut rows = Vec::new();
        for name in names {
            let found = methods.iter().filter_map(|method| find(name, method));
            rows.extend(found.enumerate().map(|(k, estimate)| {
                let name = if k == 0 { name } else { "" };
                let [value, interval] = cells(estimate);
                vec![
                    name.into(),
                    method_label(&estimate.method).into(),
                    value,
                    interval,
                ]
            }));
        }
        return aligned(&rows, 2);
    }
    let mut header = vec![String::new()];
    header.extend(
        methods
            .iter()
            .map(|method| method_label(method).to_string()),
    );
    let mut rows = vec![header];
    for name in names {
        let cell = |method: &&str| find(name, method).map_or(String::new(), joined);
        let mut row = vec![name.to_string()];
        row.extend(methods.iter().map(cell));
        rows.push(row);
    }
    aligned(&rows, 1)
}

/// Methods as a person calls them; what is unknown keeps its name.
pub fn method_label(method: &str) -> &str {
    match method {
        "least_squares" => "as linked (least squares)",
        "huber" => "Huber",
        "known_rate" => "known rate",
        "quantile" => "quantile regression",
        JOINT => "joint (not recommended)",
        other => other,
    }
}

fn cells(estimate: &Estimate) -> [String; 2] {
    let ends = estimate.interval.unwrap_or([estimate.value; 2]);
    let scale = ends.into_iter().map(f64::abs).fold(0.0, f64::max);
    let number = |value| number_on_scale(value, scale, 4);
    let interval = estimate
        .interval
        .map(|[low, high]| format!("[{}, {}]", number(low), number(high)));
    [number(estimate.value), interval.unwrap_or_default()]
}

fn joined(estimate: &Estimate) -> String {
    cells(estimate).join(" ").trim_end().to_string()
}

fn distinct<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = Vec::new();
    for text in texts {
        if !seen.contains(&text) {
            seen.push(text);
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(method: &str, name: &str, value: f64) -> Estimate {
        Estimate {
            method: method.into(),
            name: name.into(),
            value,
            standard_error: None,
            interval: (method != TRUTH && name != "mismatch_rate")
                .then_some([value - 1.0, value + 1.0]),
        }
    }

    #[test]
    fn two_methods_stand_side_by_side_and_the_truth_only_where_it_is_known() {
        let mut estimates = vec![
            estimate("least_squares", "income", 1.0),
            estimate("unshuffle", "income", 2.0),
        ];
        assert_eq!(
            table(&estimates),
            "        as linked (least squares)                unshuffle\n\
             income    1.0000 [0.0000, 2.0000]  2.0000 [1.0000, 3.0000]\n"
        );
        estimates.push(estimate(TRUTH, "income", 2.5));
        assert!(table(&estimates).ends_with("2.5000\n"));
    }

    #[test]
    fn small_coefficients_do_not_become_zero() {
        let mut small = estimate("least_squares", "income", 1.5e-6);
        small.interval = Some([1.25e-6, 1.75e-6]);
        let text = table(&[small]);
        assert!(text.contains("1.500e-6 [1.250e-6, 1.750e-6]"), "{text}");
    }

    #[test]
    fn more_methods_stand_below_one_another() {
        let mut estimates = Vec::new();
        for (method, shift) in [("least_squares", 0.0), ("huber", 1.0), ("unshuffle", 12.0)] {
            estimates.push(estimate(method, "(Intercept)", shift));
            estimates.push(estimate(method, "income", -shift));
        }
        estimates.push(estimate("mixture", "mismatch_rate", 0.25));
        estimates.push(estimate(TRUTH, "income", 2.5));
        let expected = "
(Intercept)    as linked (least squares)    0.0000     [-1.0000, 1.0000]
               Huber                        1.0000      [0.0000, 2.0000]
               unshuffle                   12.0000    [11.0000, 13.0000]
income         as linked (least squares)   -0.0000     [-1.0000, 1.0000]
               Huber                       -1.0000     [-2.0000, 0.0000]
               unshuffle                  -12.0000  [-13.0000, -11.0000]
               truth                        2.5000
mismatch_rate  mixture                      0.2500
";
        assert_eq!(table(&estimates), expected[1..]);
    }
}
