//! What a file is like before any fit: its size, what its predictors explain, and how its residuals look.

use std::f64::consts::PI;

use serde::Serialize;

use crate::baseline::least_squares;
use crate::data::{Dataset, INTERCEPT};
use crate::numerics::log_gamma;
use crate::numerics::{mean, sd};
use crate::report::format::significant;
use crate::sampler::links::LinkSpace;

/// Degrees of freedom that are tried for the tails.
const DEGREES: [f64; 9] = [1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 30.0];
/// Normal residuals gain more than this by a Student t once in a hundred files: half the 99 % point of the distribution of
/// the likelihood ratio, which is 0 in half of the files and chi-square with one degree of freedom in the others.
const CLEAR_GAIN: f64 = 2.71;
/// The 99.5 % point of the standard normal distribution.
const Z_99: f64 = 2.576;

/// What the file as given is like.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Description {
    pub num_rows: usize,
    /// Without the intercept.
    pub num_predictors: usize,
    pub num_blocks: Option<usize>,
    /// Rows whose links can be wrong.
    pub num_movable: usize,
    /// None for responses that are no real numbers, and for several of them.
    pub residuals: Option<Residuals>,
}

/// What the residuals of least squares with the links as given are like.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Residuals {
    pub response_sd: f64,
    pub residual_sd: f64,
    /// None where the response is constant.
    pub r_squared: Option<f64>,
    /// 3 for normal residuals.
    pub kurtosis: f64,
    /// The degrees of freedom of the Student t that fits best, and by how much its log likelihood exceeds the normal one.
    pub student_t: (f64, f64),
    /// Rank correlation of the size of the residual with the fitted value.
    pub spread_trend: f64,
    pub has_heavy_tails: bool,
    pub has_changing_spread: bool,
}

impl Description {
    /// `is_real`: whether least squares means something for the response.
    pub fn new(data: &Dataset, space: &LinkSpace, is_real: bool) -> Description {
        let names = data.predictor_names.iter();
        let measured = is_real && data.response_names.is_none();
        Description {
            num_rows: data.num_rows(),
            num_predictors: names.filter(|name| *name != INTERCEPT).count(),
            num_blocks: data.blocks.as_ref().map(|blocks| blocks.labels.len()),
            num_movable: space.num_movable(),
            residuals: if measured { Residuals::new(data) } else { None },
        }
    }

    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!(
            "rows       {}, of which {} can be linked elsewhere{}",
            self.num_rows,
            self.num_movable,
            match self.num_blocks {
                Some(count) => format!(", inside {count} blocks"),
                None => String::new(),
            }
        )];
        lines.push(format!("predictors {}", self.num_predictors));
        let Some(own) = &self.residuals else {
            return lines;
        };
        let explained = own.r_squared.map_or("-".into(), |r2| format!("{r2:.2}"));
        lines.push(format!("R-squared  {explained} (least squares)"));
        lines.push(format!(
            "scale      sd {} of the response, {} of the residuals",
            significant(own.response_sd, 3),
            significant(own.residual_sd, 3)
        ));
        let (nu, gain) = own.student_t;
        lines.push(match own.has_heavy_tails {
            true => format!(
                "tails      heavier than normal: kurtosis {:.1}; a Student t with {nu} degrees of freedom gains {gain:.1} in log likelihood",
                own.kurtosis
            ),
            false => format!("tails      as normal: kurtosis {:.1}", own.kurtosis),
        });
        let rank = format!(
            "rank correlation {:.2} of the size of the residual with the fitted value",
            own.spread_trend
        );
        lines.push(match own.has_changing_spread {
            true => format!("spread     changes: {rank}"),
            false => format!("spread     constant: {rank}"),
        });
        lines
    }
}

impl Residuals {
    /// None where no residual is left.
    fn new(data: &Dataset) -> Option<Residuals> {
        let y = &data.response_less_offset();
        let fit = least_squares(data.x.view(), y);
        let row = |x: ndarray::ArrayView1<f64>| x.iter().zip(&fit.beta).map(|(x, b)| x * b).sum();
        let fitted: Vec<f64> = data.x.rows().into_iter().map(row).collect();
        let residuals: Vec<f64> = y.iter().zip(&fitted).map(|(y, f)| y - f).collect();
        let moment = |power: i32| {
            let powers = residuals.iter().map(|r| r.powi(power));
            powers.sum::<f64>() / residuals.len() as f64
        };
        let variance = moment(2);
        if variance <= 0.0 || !variance.is_finite() {
            return None;
        }
        let centre = mean(y)?;
        let total = y.iter().map(|y| (y - centre).powi(2)).sum::<f64>();
        let left = variance * y.len() as f64;
        let standard: Vec<f64> = residuals.iter().map(|r| r / variance.sqrt()).collect();
        let student_t = best_student_t(&standard);
        let sizes: Vec<f64> = residuals.iter().map(|r| r.abs()).collect();
        let spread_trend = rank_correlation(&sizes, &fitted);
        Some(Residuals {
            response_sd: sd(y)?,
            residual_sd: fit.sigma2.sqrt(),
            r_squared: (total > 0.0).then(|| 1.0 - left / total),
            kurtosis: moment(4) / variance.powi(2),
            student_t,
            spread_trend,
            has_heavy_tails: student_t.1 > CLEAR_GAIN,
            has_changing_spread: spread_trend.abs() * ((y.len() - 1) as f64).sqrt() > Z_99,
        })
    }
}

/// Degrees of freedom, and the gain in log likelihood over the normal distribution; of residuals with mean square 1.
fn best_student_t(residuals: &[f64]) -> (f64, f64) {
    let count = residuals.len() as f64;
    let normal = -0.5 * count * ((2.0 * PI).ln() + 1.0);
    let gains = DEGREES.map(|nu| (nu, student_t_log_lik(residuals, nu) - normal));
    let best = gains.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
    best.expect("several are tried")
}

/// The log likelihood of Student t residuals at the best scale, which EM finds.
fn student_t_log_lik(residuals: &[f64], nu: f64) -> f64 {
    const STEPS: usize = 100;
    let count = residuals.len() as f64;
    let mut scale2 = 1.0;
    for _ in 0..STEPS {
        let weighted = residuals
            .iter()
            .map(|r| (nu + 1.0) * r * r / (nu + r * r / scale2));
        // A residual of 0 in every row was refused before.
        scale2 = f64::max(weighted.sum::<f64>() / count, f64::MIN_POSITIVE);
    }
    let constant =
        log_gamma((nu + 1.0) / 2.0) - log_gamma(nu / 2.0) - 0.5 * (nu * PI * scale2).ln();
    let terms = residuals
        .iter()
        .map(|r| -0.5 * (nu + 1.0) * (r * r / (nu * scale2)).ln_1p());
    count * constant + terms.sum::<f64>()
}

/// Spearman's; 0 where one of the two is constant.
fn rank_correlation(a: &[f64], b: &[f64]) -> f64 {
    let (a, b) = (ranks(a), ranks(b));
    let centre = (a.len() as f64 - 1.0) / 2.0;
    let product = |a: &[f64], b: &[f64]| -> f64 {
        let pairs = a.iter().zip(b);
        pairs.map(|(a, b)| (a - centre) * (b - centre)).sum()
    };
    let scale = (product(&a, &a) * product(&b, &b)).sqrt();
    if scale > 0.0 {
        product(&a, &b) / scale
    } else {
        0.0
    }
}

/// Ranks from 0; ties share their mean.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&i, &j| values[i].total_cmp(&values[j]));
    let mut ranks = vec![0.0; values.len()];
    let mut start = 0;
    for group in order.chunk_by(|&i, &j| values[i] == values[j]) {
        let shared = start as f64 + (group.len() as f64 - 1.0) / 2.0;
        group.iter().for_each(|&row| ranks[row] = shared);
        start += group.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;
    use rand_distr::{Distribution, StandardNormal, StudentT};

    use super::*;
    use crate::data::Blocks;
    use crate::data::link_space;
    use crate::numerics::rng;

    const NUM_ROWS: usize = 300;

    /// y = 1 + 2 x + error(x).
    fn file(mut error: impl FnMut(f64, &mut rng::ChainRng) -> f64) -> Dataset {
        let mut rng = rng::stream(5, 0);
        let mut x = Array2::ones((NUM_ROWS, 2));
        let mut y = Vec::with_capacity(NUM_ROWS);
        for row in 0..NUM_ROWS {
            let own = row as f64 / NUM_ROWS as f64;
            x[[row, 1]] = own;
            y.push(1.0 + 2.0 * own + error(own, &mut rng));
        }
        Dataset::new(vec![INTERCEPT.into(), "x".into()], x, y)
    }

    fn normal(rng: &mut rng::ChainRng) -> f64 {
        StandardNormal.sample(rng)
    }

    fn residuals(data: &Dataset) -> Residuals {
        let description = Description::new(data, &link_space(data), true);
        description.residuals.unwrap()
    }

    #[test]
    fn a_clean_file_has_normal_tails_and_one_spread() {
        let data = file(|_, rng| 0.2 * normal(rng));
        let found = residuals(&data);
        assert!(!found.has_heavy_tails, "{found:?}");
        assert!(!found.has_changing_spread, "{found:?}");
        // Var(2 x) = 1/3 and Var(error) = 0.04.
        assert!((found.r_squared.unwrap() - 0.893).abs() < 0.03, "{found:?}");
        assert!((found.residual_sd - 0.2).abs() < 0.02, "{found:?}");
        assert!((found.kurtosis - 3.0).abs() < 0.8, "{found:?}");
    }

    #[test]
    fn heavy_tails_are_seen_and_are_no_change_of_spread() {
        let law = StudentT::new(2.5).unwrap();
        let found = residuals(&file(|_, rng| 0.2 * law.sample(rng)));
        assert!(found.has_heavy_tails, "{found:?}");
        assert!(!found.has_changing_spread, "{found:?}");
        assert!(found.student_t.0 <= 5.0 && found.kurtosis > 4.0);
    }

    #[test]
    fn a_spread_that_grows_is_seen() {
        let found = residuals(&file(|x, rng| 0.5 * x * normal(rng)));
        assert!(found.has_changing_spread, "{found:?}");
        assert!(found.spread_trend > 0.3, "{found:?}");
    }

    #[test]
    fn the_units_of_the_response_do_not_matter() {
        let law = StudentT::new(3.0).unwrap();
        let one = file(|_, rng| 0.2 * law.sample(rng));
        let mut other = one.clone();
        other.response.iter_mut().for_each(|y| *y *= 1e6);
        let (one, other) = (residuals(&one), residuals(&other));
        assert!((one.student_t.1 - other.student_t.1).abs() < 1e-6);
        assert!((one.kurtosis - other.kurtosis).abs() < 1e-6);
        assert!((other.residual_sd / one.residual_sd / 1e6 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn rows_that_cannot_move_are_counted_and_other_responses_have_no_residuals() {
        let mut data = file(|_, rng| 0.2 * normal(rng));
        data.safe = Some((0..NUM_ROWS).map(|row| row < 50).collect());
        data.blocks = Some(Blocks {
            of_row: (0..NUM_ROWS).map(|row| row / 100).collect(),
            labels: ["a", "b", "c"].map(String::from).to_vec(),
        });
        let found = Description::new(&data, &link_space(&data), false);
        assert_eq!(found.num_movable, 250);
        assert_eq!(found.num_blocks, Some(3));
        assert_eq!(found.num_predictors, 1);
        assert_eq!(found.residuals, None);
        assert_eq!(
            found.lines()[0],
            "rows       300, of which 250 can be linked elsewhere, inside 3 blocks"
        );
    }

    /// nu = 1 with residuals of -1 and 1 alone: the best scale is 1, and the density there 1 / (2 pi).
    #[test]
    fn the_likelihood_is_that_of_a_student_t() {
        let found = student_t_log_lik(&[-1.0, 1.0], 1.0);
        assert!((found + 2.0 * (2.0 * PI).ln()).abs() < 1e-9, "{found}");
        assert_eq!(ranks(&[3.0, 1.0, 3.0]), [1.5, 0.0, 1.5]);
        assert!((rank_correlation(&[1.0, 2.0, 9.0], &[3.0, 2.0, 1.0]) + 1.0).abs() < 1e-12);
    }
}
