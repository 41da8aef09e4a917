//! Residuals of the rows whose links stay: their curvature and spread along the fitted values, and their tails.
//!
//! A residual is the normal score of a response at its own predictors, as the checks of the model use it. Means weigh each row
//! by P(right): under the model they are those of a standard normal number, although rows that fit badly have moved
//! (`src/trust/checks.rs`).

use super::interval;
use crate::numerics::{Bin, Weighted, bin_means, normal_quantile, rng};
use crate::plot::{Axis, Figure, Mark, Panel, Series};
use crate::posterior::Posterior;
use crate::report::format::{count, significant};
use crate::report::laws::MeanLaws;
use crate::report::page::Picture;

/// The stream of discrete responses, whose scores are drawn inside the jumps of their law.
const STREAM: usize = usize::MAX - 5;
/// Points in each panel.
const MOST_POINTS: usize = 1000;
/// Of the points of a long file, so many at either end are drawn in any case.
const ENDS: usize = 100;
/// Rows that stay are those more likely right than wrong.
const STAYS: f64 = 0.5;

const ROWS: Series = Series(0);
const MEANS: Series = Series(1);
const EQUAL: Series = Series(6);

/// The residual of one row.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Residual {
    fitted: f64,
    score: f64,
    /// P(right).
    weight: f64,
}

/// The residuals of all rows at their own predictors.
#[derive(Debug, Clone, PartialEq)]
pub struct Residuals {
    rows: Vec<Residual>,
    has_spread: bool,
    claims_tails: bool,
}

impl Residuals {
    /// The residuals, or why there are none.
    pub fn new(fit: &Posterior) -> Result<Residuals, String> {
        let links = fit.links.as_ref();
        let links = links.ok_or("There are no pictures of the residuals: every link was kept.")?;
        let laws = MeanLaws::new(fit).ok_or(
            "There are no pictures of the residuals: the law of a single response is not known from the saved files.",
        )?;
        let mut rng = rng::stream(fit.config.sampler.seed, STREAM);
        let rows = fit.rows.iter().enumerate().filter_map(|(k, row)| {
            Some(Residual {
                fitted: row.fitted?[0],
                score: laws.at(k).normal_score(row.response, &mut rng),
                weight: 1.0 - links.row(k).p_moved,
            })
        });
        let facts = laws.family().facts();
        Ok(Residuals {
            rows: rows.filter(|row| row.score.is_finite()).collect(),
            has_spread: facts.has_spread,
            claims_tails: facts.claims_tails,
        })
    }

    fn averaged(&self, value: impl Fn(f64) -> f64) -> Vec<Bin> {
        let rows = self.rows.iter().map(|row| Weighted {
            at: row.fitted,
            value: value(row.score),
            weight: row.weight,
        });
        bin_means(&rows.collect::<Vec<_>>())
    }

    /// Rows that stay, as points.
    fn points(&self, value: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
        let stays = self.rows.iter().filter(|row| row.weight >= STAYS);
        let all: Vec<(f64, f64)> = stays.map(|row| (row.fitted, value(row.score))).collect();
        thinned(all, 0)
    }

    /// Curvature and spread: residuals and their absolute values against the fitted values.
    pub fn along_fitted(&self) -> Result<Picture, String> {
        if !self.has_spread {
            return Err("Curvature and spread are not drawn: the family makes no claim on them that the rows could contradict.".into());
        }
        let curve = self.averaged(|score| score);
        let squares = self.averaged(|score| score * score);
        let root = |bin: Bin| Bin {
            mean: bin.mean.sqrt(),
            low: bin.low.max(0.0).sqrt(),
            high: bin.high.max(0.0).sqrt(),
            ..bin
        };
        let spread: Vec<Bin> = squares.into_iter().map(root).collect();
        let num_near = |bins: &[Bin], value: f64| bins.iter().filter(|b| b.holds(value)).count();
        let panel = |title: &str, label: &str, points, bins: Vec<Bin>, rule| {
            Panel::new(title)
                .x(Axis::linear("fitted"))
                .y(Axis::linear(label))
                .height(220.0)
                .mark(Mark::points(ROWS, points))
                .mark(Mark::intervals(
                    MEANS,
                    bins.into_iter().map(interval).collect(),
                ))
                .mark(Mark::rule_at_y(rule, ""))
        };
        let words = format!(
            "The mean residual is not told from 0 in {} of {}, the spread not from 1 in {}",
            num_near(&curve, 0.0),
            count(curve.len(), "bin"),
            num_near(&spread, 1.0)
        );
        let figure = Figure::new(
            "Residuals of rows that stay, against fitted values",
            format!("{words}."),
        )
        .columns(2)
        .panel(panel(
            "Curvature",
            "residual",
            self.points(|s| s),
            curve,
            0.0,
        ))
        .panel(panel(
            "Spread",
            "absolute residual",
            self.points(f64::abs),
            spread,
            1.0,
        ))
        .legend(ROWS, "rows more likely right than wrong")
        .legend(
            MEANS,
            "mean (left), root mean square (right), 90 % intervals",
        );
        Ok(Picture::new(
            &figure,
            format!(
                "Residuals in standard deviations of the model. A curve on the left or a slope on the right is what wrong links must not be asked to explain. \
                 {words}; nine in ten are usual. Means weigh each row by the probability that its link is right.{}",
                self.left_out()
            ),
        ))
    }

    /// Tails: quantiles of the residuals against those of a normal distribution.
    pub fn tails(&self) -> Result<Picture, String> {
        if !self.claims_tails {
            return Err("Tails are not drawn: the family allows any.".into());
        }
        let points = self.quantiles();
        let (Some(first), Some(last)) = (points.first(), points.last()) else {
            return Err("Tails are not drawn: no link stays.".into());
        };
        let ends = (first.0.min(first.1), last.0.max(last.1));
        let words = format!(
            "The lowest residual is {} where the model expects {}, the highest {} where it expects {}",
            significant(first.1, 2),
            significant(first.0, 2),
            significant(last.1, 2),
            significant(last.0, 2)
        );
        let panel = Panel::new("")
            .x(Axis::linear("expected of the model"))
            .y(Axis::linear("residual"))
            .height(260.0)
            .mark(Mark::dashed(
                EQUAL,
                vec![(ends.0, ends.0), (ends.1, ends.1)],
            ))
            .mark(Mark::points(ROWS, thinned(points, ENDS)));
        let figure = Figure::new("Tails of rows that stay", format!("{words}."))
            .width(480.0)
            .panel(panel)
            .legend(ROWS, "rows more likely right than wrong")
            .legend(EQUAL, "as the model says");
        Ok(Picture::new(
            &figure,
            format!(
                "Residuals in their order, against the values that the model expects at these places; rows are counted by the probability that their link is right. \
                 Ends above the line on the right and below it on the left are heavier tails than the model has: some errors are then taken for wrong links. {words}.{}",
                self.left_out()
            ),
        ))
    }

    /// The expected and the actual residual of each row that stays, in order.
    fn quantiles(&self) -> Vec<(f64, f64)> {
        let mut rows = self.rows.clone();
        rows.sort_by(|a, b| a.score.total_cmp(&b.score));
        let total: f64 = rows.iter().map(|row| row.weight).sum();
        let mut below = 0.0;
        let mut points = Vec::new();
        for row in rows {
            let level = (below + 0.5 * row.weight) / total;
            below += row.weight;
            if row.weight >= STAYS {
                points.push((normal_quantile(level), row.score));
            }
        }
        points
    }

    fn left_out(&self) -> String {
        let num_stay = self.rows.iter().filter(|row| row.weight >= STAYS).count();
        match num_stay.saturating_sub(MOST_POINTS) {
            0 => String::new(),
            _ => format!(" Shown are {MOST_POINTS} of {num_stay} rows; intervals are of all."),
        }
    }
}

/// An even selection, with so many of the first and last in any case.
fn thinned(points: Vec<(f64, f64)>, ends: usize) -> Vec<(f64, f64)> {
    if points.len() <= MOST_POINTS {
        return points;
    }
    let (inner, room) = (points.len() - 2 * ends, MOST_POINTS - 2 * ends);
    let middle = (0..room).map(|k| points[ends + k * inner / room]);
    let (first, last) = (&points[..ends], &points[points.len() - ends..]);
    first
        .iter()
        .copied()
        .chain(middle)
        .chain(last.iter().copied())
        .collect()
}

#[cfg(test)]
mod tests {
    use rand::Rng;

    use super::*;

    /// Normal quantiles as residuals, times what `spread` says at a fitted value between 0 and 1.
    fn made_up(
        num_rows: usize,
        spread: impl Fn(f64) -> f64,
        weight: impl Fn(f64) -> f64,
    ) -> Residuals {
        let mut rng = rng::stream(1, 1);
        let row = |k: usize| {
            let fitted: f64 = rng.random();
            let score = spread(fitted) * normal_quantile((k as f64 + 0.5) / num_rows as f64);
            Residual {
                fitted,
                score,
                weight: weight(score),
            }
        };
        Residuals {
            rows: (0..num_rows).map(row).collect(),
            has_spread: true,
            claims_tails: true,
        }
    }

    fn count_in(picture: &Picture, before: &str) -> usize {
        let (words, _) = picture.caption.split_once(before).unwrap();
        let digits = words.rsplit(' ').next().unwrap();
        digits.parse().unwrap()
    }

    #[test]
    fn residuals_of_the_model_are_within_the_intervals_and_a_spread_that_grows_is_not() {
        let right = made_up(1200, |_| 1.0, |_| 1.0).along_fitted().unwrap();
        assert!(count_in(&right, " of 12 bins") >= 9, "{}", right.caption);
        assert!(count_in(&right, "; nine in ten") >= 9, "{}", right.caption);
        let wrong = made_up(1200, |fitted| 0.5 + fitted, |_| 1.0)
            .along_fitted()
            .unwrap();
        assert!(count_in(&wrong, "; nine in ten") <= 6, "{}", wrong.caption);
    }

    #[test]
    fn quantiles_are_those_of_the_model_when_rows_are_weighed() {
        for (expected, actual) in made_up(500, |_| 1.0, |_| 1.0).quantiles() {
            assert!((expected - actual).abs() < 1e-9);
        }
        let heavy = made_up(500, |_| 2.0, |_| 1.0).quantiles();
        assert!(heavy[0].1 < 1.9 * heavy[0].0 && heavy[499].1 > 1.9 * heavy[499].0);
        // Rows that moved are not drawn, and do not shift the others.
        let mut mixed = made_up(500, |_| 1.0, |_| 1.0);
        mixed.rows.extend((0..50).map(|_| Residual {
            fitted: 0.5,
            score: 7.0,
            weight: 0.0,
        }));
        assert_eq!(
            mixed.quantiles(),
            made_up(500, |_| 1.0, |_| 1.0).quantiles()
        );
    }

    #[test]
    fn a_long_file_is_thinned_and_keeps_its_ends() {
        let points: Vec<(f64, f64)> = (0..5000).map(|k| (f64::from(k), 0.0)).collect();
        let shown = thinned(points.clone(), ENDS);
        assert_eq!(shown.len(), MOST_POINTS);
        assert_eq!(shown[..ENDS], points[..ENDS]);
        assert_eq!(shown[MOST_POINTS - ENDS..], points[5000 - ENDS..]);
        assert!(shown.windows(2).all(|pair| pair[0].0 < pair[1].0));
        let long = made_up(3000, |_| 1.0, |_| 1.0).tails().unwrap();
        assert!(long.caption.contains("Shown are 1000 of 3000 rows"));
    }

    #[test]
    fn what_the_family_does_not_claim_is_not_drawn() {
        let free = Residuals {
            has_spread: false,
            claims_tails: false,
            ..made_up(50, |_| 1.0, |_| 1.0)
        };
        assert!(free.along_fitted().is_err() && free.tails().is_err());
        let kept = Posterior::example(&[50; 2], 2);
        assert!(
            Residuals::new(&kept)
                .unwrap_err()
                .contains("every link was kept")
        );
    }
}
