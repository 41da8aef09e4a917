//! P(wrong) along the fitted values and each predictor: links that go wrong at random do so at one rate.

use super::interval;
use crate::numerics::{Bin, Weighted, bin_means};
use crate::plot::{Axis, Figure, Mark, Panel, Series};
use crate::posterior::Posterior;
use crate::report::format::{count, percent};
use crate::report::page::Picture;

const MEANS: Series = Series(1);

pub fn picture(fit: &Posterior) -> Result<Picture, String> {
    let Some(links) = fit.links.as_ref() else {
        return Err("P(wrong) is not drawn: every link was kept.".into());
    };
    let p_moved: Vec<f64> = (0..links.num_rows())
        .map(|row| links.row(row).p_moved)
        .collect();
    let panels = panels(fit, &p_moved);
    if panels.is_empty() {
        return Err("P(wrong) is not drawn: trust.json has no means along the predictors, and there are no fitted values.".into());
    }
    let rate = p_moved.iter().sum::<f64>() / p_moved.len().max(1) as f64;
    let bins = || panels.iter().flat_map(|(_, bins)| bins);
    let words = format!(
        "{} of {} cover {}, the mean of all rows",
        bins().filter(|bin| bin.holds(rate)).count(),
        count(bins().count(), "interval"),
        percent(rate)
    );
    let mut figure = Figure::new("P(wrong) along the predictors", format!("{words}."))
        .columns(panels.len().min(3));
    for (name, bins) in &panels {
        let panel = Panel::new(name.as_str())
            .x(Axis::linear(""))
            .y(Axis::linear("mean P(wrong)"))
            .height(150.0)
            .mark(Mark::intervals(
                MEANS,
                bins.iter().copied().map(interval).collect(),
            ))
            .mark(Mark::rule_at_y(rate, ""));
        figure = figure.panel(panel);
    }
    let figure = figure.legend(MEANS, "mean in a bin of rows, 90 % interval");
    let mut caption = format!(
        "The mean probability that a link is wrong, by predictor; the dashed line is the mean of all rows. Links that go wrong at random have one rate everywhere: \
         a slope says that rows with some predictors fit the model worse. {words}."
    );
    let num_predictors = fit.predictors().len();
    if panels.len() + 1 < num_predictors {
        caption += " Only the first predictors are drawn.";
    }
    Ok(Picture::new(&figure, caption))
}

/// The fitted values, then each predictor, with the means along them.
fn panels(fit: &Posterior, p_moved: &[f64]) -> Vec<(String, Vec<Bin>)> {
    let fitted: Option<Vec<Weighted>> = (fit.rows.iter().zip(p_moved))
        .map(|(row, &value)| {
            Some(Weighted {
                at: row.fitted?[0],
                value,
                weight: 1.0,
            })
        })
        .collect();
    let fitted = fitted.filter(|rows| !rows.is_empty());
    let mut panels =
        Vec::from_iter(fitted.map(|rows| ("fitted values".to_string(), bin_means(&rows))));
    let along = fit.trust.iter().flat_map(|trust| &trust.wrong_along);
    panels.extend(along.map(|along| (along.name.clone(), along.bins.clone())));
    panels
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::posterior::{Method, Trust, WrongAlong};
    use crate::report::verdict_example::Example;

    #[test]
    fn fitted_values_and_each_saved_predictor_have_a_panel() {
        let mut fit = Example::default().fit();
        let bin = |mean: f64| Bin {
            at: 1.0,
            mean,
            low: mean - 0.01,
            high: mean + 0.01,
            num_rows: 10,
        };
        fit.trust = Some(Trust {
            trusted: true,
            source: Method::Joint,
            weight: 1.0,
            checks: Vec::new(),
            sentence: String::new(),
            rates: None,
            wrong_along: vec![WrongAlong {
                name: "<income>".into(),
                bins: vec![bin(0.9)],
            }],
        });
        let drawn = picture(&fit).unwrap();
        assert_eq!(drawn.svg.matches("us-frame").count(), 2);
        assert!(drawn.svg.contains("&lt;income&gt;"));
        // Four rows of twenty move: the bin at 0.9 does not cover their mean.
        assert!(
            !drawn.caption.contains("3 of 3 intervals"),
            "{}",
            drawn.caption
        );
    }

    #[test]
    fn without_means_and_fitted_values_it_says_why() {
        let fit = Posterior::example(&[50; 2], 2).with_links(10);
        let why = picture(&fit).unwrap_err();
        assert!(why.contains("trust.json has no means"), "{why}");
        let kept = Posterior::example(&[50; 2], 2);
        assert!(picture(&kept).unwrap_err().contains("every link was kept"));
    }
}
