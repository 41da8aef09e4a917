//! Each coefficient as a function of the rate of wrong links that one believes in.

use super::coefficients;
use crate::baseline::compare::RatePoint;
use crate::numerics::Z_90;
use crate::plot::{Axis, Figure, Interval, Mark, Panel, Series};
use crate::posterior::Posterior;
use crate::posterior::diagnostics::SummaryRow;
use crate::report::format::{percent, with_spread};
use crate::report::page::Picture;

/// Coefficients drawn; known_rate.csv has all.
const MOST_DRAWN: usize = 12;

const AS_GIVEN: Series = Series(1);
const CURVE: Series = Series(2);
const FIT: Series = Series(0);

/// None where the estimator did not apply.
pub fn picture(fit: &Posterior) -> Option<Picture> {
    let rate = fit
        .links
        .as_ref()
        .and(fit.quantity("mismatch_rate"))
        .and_then(|row| row.mean);
    let all = coefficients(fit);
    let curves: Vec<Curve> = all
        .iter()
        .filter_map(|(name, row)| Curve::new(name, row, &fit.rate_curve))
        .collect();
    let shown = &curves[..curves.len().min(MOST_DRAWN)];
    let largest = shown.first()?.points.last()?.rate;
    let title = "Coefficients by the rate of wrong links";
    let columns = if shown.len() == 1 { 1 } else { 2 };
    let mut figure = Figure::new(title, description(shown, largest)).columns(columns);
    for curve in shown {
        figure = figure.panel(curve.panel(rate));
    }
    figure = figure
        .legend(CURVE, "if this were the rate, 90 % band dashed")
        .legend(AS_GIVEN, "links as given");
    if rate.is_some() {
        figure = figure.legend(FIT, "this fit, at its own rate");
    }
    Some(Picture::new(&figure, caption(shown.len(), curves.len())))
}

struct Curve<'a> {
    name: &'a str,
    points: Vec<&'a RatePoint>,
    own: &'a SummaryRow,
}

impl<'a> Curve<'a> {
    fn new(name: &'a str, own: &'a SummaryRow, all: &'a [RatePoint]) -> Option<Curve<'a>> {
        let points: Vec<&RatePoint> = all.iter().filter(|point| point.name == name).collect();
        (!points.is_empty()).then_some(Curve { name, points, own })
    }

    fn panel(&self, rate: Option<f64>) -> Panel {
        let line = |z: f64| -> Vec<(f64, f64)> {
            let points = self.points.iter();
            points
                .map(|point| (point.rate, point.estimate + z * point.standard_error))
                .collect()
        };
        let mut panel = Panel::new(self.name)
            .x(Axis::linear("rate of wrong links"))
            .y(Axis::linear(""))
            .mark(Mark::dashed(CURVE, line(-Z_90)))
            .mark(Mark::dashed(CURVE, line(Z_90)))
            .mark(Mark::line(CURVE, line(0.0)))
            .mark(Mark::points(AS_GIVEN, line(0.0)[..1].to_vec()));
        if let (Some(at), Some(mid)) = (rate, self.own.mean) {
            panel = panel.mark(Mark::intervals(
                FIT,
                vec![Interval {
                    at,
                    low: self.own.q5.unwrap_or(mid),
                    high: self.own.q95.unwrap_or(mid),
                    inner: None,
                    mid,
                }],
            ));
        }
        panel
    }
}

fn description(shown: &[Curve], largest: f64) -> String {
    let words = shown.iter().map(|curve| {
        let (first, last) = (curve.points[0], curve.points[curve.points.len() - 1]);
        format!(
            "{}: {} with the links as given, {} if {} of them were wrong",
            curve.name,
            with_spread(first.estimate, first.standard_error),
            with_spread(last.estimate, last.standard_error),
            percent(largest)
        )
    });
    format!("{}.", words.collect::<Vec<_>>().join(". "))
}

fn caption(num_shown: usize, num_all: usize) -> String {
    let mut caption = "What each coefficient would be if this share of the links that can be wrong were wrong, each as likely to \
        lead to any other row of its block (Lahiri and Larsen 2005). It uses the mean of the response alone, so no shape of its errors is read as wrong links; \
        where an audit tells you the rate, read the estimate off there."
        .to_string();
    if num_shown < num_all {
        caption += &format!(
            " Only the first {num_shown} of {num_all} coefficients are drawn; known_rate.csv has all."
        );
    }
    caption
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every coefficient of the example, growing with the rate.
    fn with_curve(num_parameters: usize) -> Posterior {
        let mut fit = Posterior::example(&[50, 50], num_parameters).with_links(10);
        let names: Vec<String> = fit.coefficient_names().into_iter().map(|c| c.1).collect();
        for name in names {
            fit.rate_curve.extend((0..=10).map(|k| RatePoint {
                name: name.clone(),
                rate: f64::from(k) / 20.0,
                estimate: 1.0 / (1.0 - f64::from(k) / 20.0),
                standard_error: 0.1,
            }));
        }
        fit
    }

    #[test]
    fn each_coefficient_has_a_panel_with_the_fit_at_its_rate() {
        let picture = picture(&with_curve(3)).unwrap();
        assert_eq!(picture.svg.matches("us-frame").count(), 3);
        assert_eq!(picture.svg.matches("us-whisker").count(), 3);
        assert!(
            picture
                .svg
                .contains("x&lt;1&gt;: 1.00 with the links as given, 2.00 if 50 %")
        );
        assert!(picture.svg.contains("this fit, at its own rate"));
        assert!(!picture.caption.contains("Only"));
    }

    #[test]
    fn a_fit_that_kept_its_links_has_no_rate_and_others_no_curve() {
        let mut fit = with_curve(2);
        fit.links = None;
        let drawn = picture(&fit).unwrap();
        assert!(!drawn.svg.contains("us-whisker") && !drawn.svg.contains("this fit"));
        fit.rate_curve.clear();
        assert!(picture(&fit).is_none());
    }

    #[test]
    fn what_is_left_out_is_said() {
        let picture = picture(&with_curve(15)).unwrap();
        assert!(picture.caption.contains("first 12 of 15 coefficients"));
        assert_eq!(picture.svg.matches("us-frame").count(), 12);
    }
}
