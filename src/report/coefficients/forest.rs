//! The forest plot: each coefficient by each method, in panels whose axis suits all of their coefficients.

use super::coefficients;
use crate::baseline::compare::{JOINT, RECOMMENDED, UNSHUFFLE, method_label};
use crate::data::INTERCEPT;
use crate::numerics::quantile;
use crate::plot::{Axis, Figure, Interval, Mark, Panel, Series, dodge};
use crate::posterior::Posterior;
use crate::report::format::with_spread;
use crate::report::page::Picture;

/// Coefficients drawn; the table has the others.
const MOST_DRAWN: usize = 40;
/// An interval shorter than this part of its axis says nothing to the eye.
const LEAST_PART: f64 = 1.0 / 20.0;
/// More panels than this, of one coefficient each, stand in two columns.
const MOST_IN_A_COLUMN: usize = 6;

/// One coefficient by each method, our own first; `at` of the intervals is not used yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub name: String,
    pub bars: Vec<Option<Interval>>,
}

pub fn picture(fit: &Posterior) -> Option<Picture> {
    let (figure, caption) = drawn(fit)?;
    Some(Picture::new(&figure, caption))
}

/// The figure and the sentence below it.
pub fn drawn(fit: &Posterior) -> Option<(Figure, String)> {
    let all = coefficients(fit);
    if all.is_empty() {
        return None;
    }
    let methods = methods(fit);
    let shown = all.iter().take(MOST_DRAWN).map(|(name, row)| {
        let draws: Vec<f64> = fit
            .chains
            .iter()
            .filter_map(|chain| chain.column(&row.name))
            .flatten()
            .copied()
            .collect();
        let own = interval(row.mean, [row.q5, row.q95]).map(|bar| Interval {
            inner: quantile(&draws, 0.25).zip(quantile(&draws, 0.75)),
            ..bar
        });
        let bars = methods.iter().map(|method| {
            if [UNSHUFFLE, JOINT].contains(method) {
                return own;
            }
            let mut estimates = fit.estimates().iter();
            let found = estimates.find(|e| e.method == *method && e.name == *name)?;
            let [low, high] = found.interval.map_or([None; 2], |ends| ends.map(Some));
            interval(Some(found.value), [low, high])
        });
        Row {
            name: name.clone(),
            bars: bars.collect(),
        }
    });
    let rows: Vec<Row> = shown.collect();
    let figure = figure(&rows, &methods);
    let caption = caption(&rows, methods.len(), all.len());
    Some((figure, caption))
}

/// This fit first, then the baselines in their order. Of a fit whose model is contradicted, what is recommended comes first.
fn methods(fit: &Posterior) -> Vec<&str> {
    let has_recommended = fit.estimates().iter().any(|e| e.method == RECOMMENDED);
    let mut methods = match has_recommended {
        true => vec![RECOMMENDED, JOINT],
        false => vec![UNSHUFFLE],
    };
    for estimate in fit.estimates() {
        if !methods.contains(&estimate.method.as_str()) {
            methods.push(&estimate.method);
        }
    }
    methods
}

/// None for an estimate that is not a number; ends that are none are those of the estimate.
pub fn interval(mid: Option<f64>, [low, high]: [Option<f64>; 2]) -> Option<Interval> {
    let mid = mid.filter(|value| value.is_finite())?;
    let end = |value: Option<f64>| value.filter(|v| v.is_finite()).unwrap_or(mid);
    Some(Interval {
        at: 0.0,
        low: end(low),
        high: end(high),
        inner: None,
        mid,
    })
}

/// Each row has one bar for each method.
pub fn figure(rows: &[Row], methods: &[&str]) -> Figure {
    let panels = panels(rows);
    // Beside a high panel a low one would be stretched.
    let alone = panels.iter().all(|members| members.len() == 1);
    let columns = if alone && panels.len() > MOST_IN_A_COLUMN {
        2
    } else {
        1
    };
    let mut figure = Figure::new(
        match rows
            .iter()
            .flat_map(|row| &row.bars)
            .flatten()
            .any(|bar| bar.inner.is_some())
        {
            true => "Coefficients with 50 and 90 % intervals",
            false => "Coefficients with 90 % intervals",
        },
        description(rows, methods),
    )
    .columns(columns);
    for members in panels {
        let names = members.iter().map(|&k| rows[k].name.as_str());
        let mut panel = Panel::new("").y(Axis::categories("", names).reversed());
        for k in 0..methods.len() {
            let bars = members.iter().enumerate().filter_map(|(place, &row)| {
                Some(Interval {
                    at: place as f64 + dodge(k, methods.len()),
                    ..rows[row].bars[k]?
                })
            });
            panel = panel.mark(Mark::intervals_across(Series(k), bars.collect()));
        }
        if members
            .iter()
            .filter_map(|&k| reach(&rows[k]))
            .reduce(joined)
            .is_some_and(|(low, high)| low <= 0.0 && 0.0 <= high)
        {
            panel = panel.mark(Mark::rule_at_x(0.0, ""));
        }
        figure = figure.panel(panel);
    }
    for (k, method) in methods.iter().enumerate() {
        figure = figure.legend(Series(k), method_label(method));
    }
    figure
}

/// Coefficients by panel: they share an axis as long as none of them shrinks to a dot on it.
fn panels(rows: &[Row]) -> Vec<Vec<usize>> {
    // The intercept often differs in scale from all others: it joins them where it can, not they it.
    let (intercept, others): (Vec<usize>, Vec<usize>) =
        (0..rows.len()).partition(|&k| rows[k].name == INTERCEPT);
    let mut panels: Vec<Vec<usize>> = Vec::new();
    for k in others.into_iter().chain(intercept) {
        let with = |panel: &Vec<usize>| [panel.as_slice(), &[k]].concat();
        match panels.iter().position(|panel| legible(rows, &with(panel))) {
            Some(place) => panels[place].push(k),
            None => panels.push(vec![k]),
        }
    }
    for panel in &mut panels {
        panel.sort_unstable();
    }
    panels.sort_unstable();
    panels
}

fn legible(rows: &[Row], members: &[usize]) -> bool {
    let reaches: Option<Vec<(f64, f64)>> = members.iter().map(|&k| reach(&rows[k])).collect();
    let Some((low, high)) = reaches.and_then(|all| all.into_iter().reduce(joined)) else {
        return false;
    };
    members.iter().all(|&k| {
        let own = rows[k].bars[0];
        own.is_some_and(|bar| bar.high - bar.low >= LEAST_PART * (high - low))
    })
}

/// The lowest and the highest end of the intervals of all methods.
fn reach(row: &Row) -> Option<(f64, f64)> {
    let bars = row.bars.iter().flatten();
    bars.map(|bar| (bar.low, bar.high)).reduce(joined)
}

fn joined(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    (a.0.min(b.0), a.1.max(b.1))
}

fn description(rows: &[Row], methods: &[&str]) -> String {
    let words = rows.iter().filter_map(|row| {
        let own = row.bars[0]?;
        let spread = (own.high - own.low) / 4.0;
        let baseline = row.bars.get(1).copied().flatten().map(|bar| {
            let name = method_label(methods[1]);
            format!("; {name} {}", with_spread(bar.mid, spread))
        });
        Some(format!(
            "{}: {}, 90 % interval {} to {}{}",
            row.name,
            with_spread(own.mid, spread),
            with_spread(own.low, spread),
            with_spread(own.high, spread),
            baseline.unwrap_or_default()
        ))
    });
    format!("{}.", words.collect::<Vec<_>>().join(". "))
}

fn caption(rows: &[Row], num_methods: usize, num_all: usize) -> String {
    let mut caption =
        "Points are posterior means, thick bars 50 % and thin bars 90 % posterior intervals."
            .to_string();
    if num_methods > 1 {
        caption += " The other methods relink no row; theirs are estimates with 90 % confidence intervals.";
    }
    if panels(rows).len() > 1 {
        caption += " Coefficients of different scale have panels with axes of their own.";
    }
    if rows.len() < num_all {
        caption += &format!(
            " Only the first {} of {num_all} coefficients are drawn; the table has all.",
            rows.len()
        );
    }
    caption
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, ends: &[(f64, f64)]) -> Row {
        let bars = ends
            .iter()
            .map(|&(low, high)| interval(Some(0.5 * (low + high)), [Some(low), Some(high)]));
        Row {
            name: name.into(),
            bars: bars.collect(),
        }
    }

    #[test]
    fn coefficients_of_one_scale_share_a_panel() {
        let rows = [
            row(INTERCEPT, &[(0.0, 1.0)]),
            row("a", &[(1.0, 1.5)]),
            row("b", &[(-2.0, -1.0)]),
        ];
        assert_eq!(panels(&rows), [vec![0, 1, 2]]);
    }

    #[test]
    fn the_intercept_leaves_the_others_together() {
        let rows = [
            row(INTERCEPT, &[(900.0, 1100.0)]),
            row("a", &[(1.0, 1.5)]),
            row("b", &[(-2.0, -1.0)]),
        ];
        assert_eq!(panels(&rows), [vec![0], vec![1, 2]]);
    }

    #[test]
    fn a_small_coefficient_has_a_panel_of_its_own() {
        let rows = [
            row("a", &[(1.0, 2.0)]),
            row("tiny", &[(0.001, 0.002)]),
            row("b", &[(3.0, 4.0)]),
        ];
        assert_eq!(panels(&rows), [vec![0, 2], vec![1]]);
        // A baseline far away does the same.
        let rows = [
            row("a", &[(1.0, 2.0), (1.0, 2.0)]),
            row("b", &[(1.0, 2.0), (500.0, 600.0)]),
        ];
        assert_eq!(panels(&rows), [vec![0], vec![1]]);
    }

    #[test]
    fn what_is_not_a_number_stands_alone_and_stops_nothing() {
        let broken = Row {
            name: "broken".into(),
            bars: vec![interval(Some(f64::NAN), [None, None])],
        };
        let rows = [row("a", &[(1.0, 2.0)]), broken, row("b", &[(1.0, 2.0)])];
        assert_eq!(panels(&rows), [vec![0, 2], vec![1]]);
        let svg = figure(&rows, &[UNSHUFFLE]).inline_svg();
        assert!(svg.contains("no data") && !svg.contains("NaN"));
    }

    #[test]
    fn zero_has_a_rule_where_it_is_within_the_axis() {
        let across = figure(&[row("a", &[(-1.0, 2.0)])], &[UNSHUFFLE]);
        assert!(across.inline_svg().contains("us-rule"));
        let above = figure(&[row("a", &[(1.0, 2.0)])], &[UNSHUFFLE]);
        assert!(!above.inline_svg().contains("us-rule"));
    }

    #[test]
    fn names_are_text_and_nothing_else() {
        let name = "<script>alert(\"x\")</script>";
        let rows = [row(name, &[(1.0, 2.0), (0.0, 1.0)])];
        let svg = figure(&rows, &[UNSHUFFLE, "least_squares"]).inline_svg();
        assert!(!svg.contains("<script") && svg.contains("&lt;script"));
        assert!(svg.contains("as linked (least squares)"));
    }

    #[test]
    fn what_is_left_out_is_said() {
        let rows: Vec<Row> = (0..40)
            .map(|k| row(&format!("x{k}"), &[(1.0, 2.0)]))
            .collect();
        assert!(caption(&rows, 1, 200).contains("first 40 of 200"));
        assert!(!caption(&rows, 1, 40).contains("first 40"));
    }
}
