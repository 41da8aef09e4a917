//! Generalised linear models with the links as given, by iteratively reweighted least squares: where chains start.

use ndarray::ArrayView2;

use crate::config::ResponseKind;
use crate::numerics::invert;
use crate::numerics::qr::Qr;

const MAX_STEPS: usize = 50;
const TOLERANCE: f64 = 1e-8;
/// Responses that the predictors separate send x'beta to infinity; it stops so far from its middle.
const LARGEST: f64 = 20.0;
const LEAST_WEIGHT: f64 = 1e-6;

#[derive(Debug, Clone)]
pub struct Generalised {
    pub beta: Vec<f64>,
    pub standard_error: Vec<f64>,
}

/// None where the estimate does not exist in numbers. `x` is as for `least_squares`; counts are taken as Poisson,
/// positive responses as gamma with a log link, 0 and 1 as logistic, and all others are not generalised.
pub fn generalised(kind: ResponseKind, x: ArrayView2<f64>, y: &[f64]) -> Option<Generalised> {
    generalised_with_offset(kind, x, y, None)
}

/// The same with an offset of each row, which is added to x'beta.
pub fn generalised_with_offset(
    kind: ResponseKind,
    x: ArrayView2<f64>,
    y: &[f64],
    offset: Option<&[f64]>,
) -> Option<Generalised> {
    if kind == ResponseKind::Real {
        return None;
    }
    let qr = Qr::new(x);
    let mut linear: Vec<f64> = y.iter().map(|&y| first_guess(kind, y)).collect();
    // Positive responses may have any unit, which adds to their logs.
    let middle = match kind {
        ResponseKind::Positive => {
            let offset: f64 = offset.unwrap_or_default().iter().sum();
            (linear.iter().sum::<f64>() - offset) / y.len() as f64
        }
        _ => 0.0,
    };
    let mut gamma = Vec::new();
    for _ in 0..MAX_STEPS {
        let working = linear.iter().zip(y).map(|(&linear, &y)| {
            let mean = kind.mean(linear);
            let slope = slope(kind, mean);
            linear + (y - mean) / slope
        });
        let mut working: Vec<f64> = working.collect();
        let offsets = || offset.unwrap_or_default().iter();
        (working.iter_mut().zip(offsets())).for_each(|(working, offset)| *working -= offset);
        gamma = qr.weighted(&working, &weights(kind, &linear))?;
        let zeros = vec![0.0; y.len()];
        let next = qr.residuals(&zeros, &gamma);
        let next = next.iter().map(|r| -r - middle);
        let mut next: Vec<f64> = next.map(|r| middle + r.clamp(-LARGEST, LARGEST)).collect();
        (next.iter_mut().zip(offsets())).for_each(|(next, offset)| *next += offset);
        let change = next.iter().zip(&linear).map(|(a, b)| (a - b).abs());
        let change = change.fold(0.0, f64::max);
        linear = next;
        if change < TOLERANCE {
            break;
        }
    }
    let covariance = invert(&qr.cross_product(&weights(kind, &linear)), qr.dim())?;
    let dispersion = match kind {
        ResponseKind::Positive => {
            let squares = linear.iter().zip(y).map(|(&linear, &y)| {
                let mean = kind.mean(linear);
                ((y - mean) / mean).powi(2)
            });
            squares.sum::<f64>() / (y.len() - qr.dim()) as f64
        }
        _ => 1.0,
    };
    let errors = qr.standard_errors(&covariance, qr.dim()).into_iter();
    let fit = Generalised {
        beta: qr.beta(&gamma),
        standard_error: errors.map(|error| error * dispersion.sqrt()).collect(),
    };
    let numbers = fit.beta.iter().chain(&fit.standard_error);
    numbers
        .clone()
        .all(|value| value.is_finite())
        .then_some(fit)
}

/// x'beta of a mean near the response but inside its range.
fn first_guess(kind: ResponseKind, y: f64) -> f64 {
    match kind {
        ResponseKind::Real => y,
        ResponseKind::Count => (y + 0.5).ln(),
        ResponseKind::ZeroOne => ((y + 0.5) / (1.5 - y)).ln(),
        ResponseKind::Positive => y.ln(),
    }
}

/// The derivative of the mean with respect to x'beta.
fn slope(kind: ResponseKind, mean: f64) -> f64 {
    match kind {
        ResponseKind::Real => 1.0,
        ResponseKind::Count | ResponseKind::Positive => mean,
        ResponseKind::ZeroOne => (mean * (1.0 - mean)).max(LEAST_WEIGHT),
    }
}

/// Fisher's information of each row about its x'beta.
fn weights(kind: ResponseKind, linear: &[f64]) -> Vec<f64> {
    let weight = |&linear: &f64| match kind {
        ResponseKind::Real | ResponseKind::Positive => 1.0,
        ResponseKind::Count | ResponseKind::ZeroOne => slope(kind, kind.mean(linear)),
    };
    linear.iter().map(weight).collect()
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::*;
    use crate::model::Family;
    use crate::study::simulate::{DesignName, Settings, simulate};

    /// Dobson (1990), counts of three outcomes by three treatments: R's glm(counts ~ outcome, poisson) gives
    /// 3.0445, -0.4543 and -0.2930, the first with standard error 0.1260.
    #[test]
    fn matches_dobsons_counts() {
        let counts = [18., 17., 15., 20., 10., 20., 25., 13., 12.];
        let mut x = Array2::zeros((9, 3));
        for row in 0..9 {
            x[(row, 0)] = 1.0;
            if row % 3 > 0 {
                x[(row, row % 3)] = 1.0;
            }
        }
        let fit = generalised(ResponseKind::Count, x.view(), &counts).unwrap();
        for (found, expected) in fit.beta.iter().zip([3.0445, -0.4543, -0.2930]) {
            assert!((found - expected).abs() < 5e-5, "{fit:?}");
        }
        // The inverse root of the 63 counts at the first outcome.
        assert!((fit.standard_error[0] - 63f64.sqrt().recip()).abs() < 1e-6);
    }

    #[test]
    fn finds_the_coefficients_within_its_standard_errors() {
        for (errors, kind) in [
            (Family::Poisson, ResponseKind::Count),
            (Family::Logistic, ResponseKind::ZeroOne),
            (Family::Gamma { shape: 5.0 }, ResponseKind::Positive),
        ] {
            let settings = Settings {
                predictors: Some(3),
                intercept: Some(0.5),
                errors: Some(errors),
                mislinked: Some(0.0),
                ..Settings::new(DesignName::General, 2000)
            };
            let simulated = simulate(&settings.design().unwrap(), 8).unwrap();
            let data = simulated.dataset();
            let fit = generalised(kind, data.x.view(), &data.response).unwrap();
            for (k, beta) in simulated.truth.beta.iter().enumerate() {
                let z = (fit.beta[k] - beta) / fit.standard_error[k];
                assert!(z.abs() < 4.0, "{errors:?}: {z}");
                assert!(fit.standard_error[k] < 0.2);
            }
        }
    }

    #[test]
    fn separated_responses_leave_finite_numbers() {
        let x = Array2::from_shape_fn((20, 2), |(i, j)| if j == 0 { 1.0 } else { i as f64 - 9.5 });
        let y: Vec<f64> = (0..20).map(|i| f64::from(u8::from(i > 9))).collect();
        let fit = generalised(ResponseKind::ZeroOne, x.view(), &y).unwrap();
        assert!(fit.beta[1] > 1.0, "{fit:?}");
    }
}
