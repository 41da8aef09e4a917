//! The error law of the robust mixture: Student t errors whose scale differs above and below their mode.

use std::f64::consts::PI;

use crate::numerics::log_gamma;

/// Degrees of freedom that are tried.
const DEGREES: [f64; 12] = [
    1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 8.0, 12.0, 20.0, 40.0, 100.0, 500.0,
];
/// The degrees of freedom from which a search starts.
const FIRST_DEGREES: f64 = 8.0;
/// Prior standard deviation of the skewness.
const USUAL_SKEW: f64 = 0.5;
const MOST_SKEW: f64 = 1.2;
/// Steps of the skewness that are tried.
const SKEW_STEPS: [f64; 7] = [0.0, -0.01, 0.01, -0.05, 0.05, -0.15, 0.15];

/// The law of errors in units of their spread.
#[derive(Clone, Copy, Debug)]
pub(super) struct ErrorLaw {
    /// Infinite for normal errors.
    degrees: f64,
    /// The logarithm of the scale above the mode, and of the inverse of that below.
    skew: f64,
}

impl ErrorLaw {
    pub const NORMAL: ErrorLaw = ErrorLaw {
        degrees: f64::INFINITY,
        skew: 0.0,
    };
    pub const FIRST: ErrorLaw = ErrorLaw {
        degrees: FIRST_DEGREES,
        skew: 0.0,
    };

    /// In units of the scale on its side of the mode.
    fn scaled(&self) -> impl Fn(f64) -> f64 + use<> {
        let above = self.skew.exp();
        move |z| if z > 0.0 { z / above } else { z * above }
    }

    fn log_kernel(&self) -> impl Fn(f64) -> f64 + use<> {
        let (scaled, degrees) = (self.scaled(), self.degrees);
        move |z| {
            let square = scaled(z).powi(2);
            match degrees.is_finite() {
                true => -0.5 * (degrees + 1.0) * (square / degrees).ln_1p(),
                false => -0.5 * square,
            }
        }
    }

    fn log_constant(&self) -> f64 {
        let degrees = self.degrees;
        let symmetric = match degrees.is_finite() {
            true => {
                log_gamma(0.5 * (degrees + 1.0))
                    - log_gamma(0.5 * degrees)
                    - 0.5 * (degrees * PI).ln()
            }
            false => -0.5 * (2.0 * PI).ln(),
        };
        // The mean of the two scales is cosh(skew).
        symmetric - self.skew.cosh().ln()
    }

    /// The log density of an error.
    pub fn log_density(&self) -> impl Fn(f64) -> f64 + use<> {
        let (constant, kernel) = (self.log_constant(), self.log_kernel());
        move |z| constant + kernel(z)
    }

    /// The weight of an error in a regression by EM: 1 for normal ones.
    pub fn pull(&self) -> impl Fn(f64) -> f64 + use<> {
        let (scaled, degrees) = (self.scaled(), self.degrees);
        move |z| {
            let side = scaled(z);
            let square_of_scale = if side == 0.0 { 1.0 } else { (z / side).powi(2) };
            let tail = match degrees.is_finite() {
                true => (degrees + 1.0) / (degrees + side * side),
                false => 1.0,
            };
            tail / square_of_scale
        }
    }

    /// Fisher's information on the log scale.
    pub fn information(&self) -> f64 {
        match self.degrees.is_finite() {
            true => 2.0 * self.degrees / (self.degrees + 3.0),
            false => 2.0,
        }
    }

    /// Log prior: Gamma(2, 0.1) of the degrees of freedom, normal of the skewness.
    pub fn log_prior(&self) -> f64 {
        match self.degrees.is_finite() {
            true => self.degrees.ln() - 0.1 * self.degrees - 0.5 * (self.skew / USUAL_SKEW).powi(2),
            false => 0.0,
        }
    }

    /// A law that explains the errors `z` with these weights at least as well: the degrees of freedom first, then the skewness.
    pub fn improved(&self, weights: &[f64], z: &[f64]) -> ErrorLaw {
        let total: f64 = weights.iter().sum();
        let value = |law: &ErrorLaw| {
            let kernel = law.log_kernel();
            let kernels = weights.iter().zip(z).map(|(w, z)| w * kernel(*z));
            kernels.sum::<f64>() + total * law.log_constant() + law.log_prior()
        };
        let best = |laws: &mut dyn Iterator<Item = ErrorLaw>| {
            let valued = laws.map(|law| (value(&law), law));
            let better = |a: &(f64, ErrorLaw), b: &(f64, ErrorLaw)| a.0.total_cmp(&b.0);
            valued.max_by(better).expect("some laws").1
        };
        let with_degrees = |degrees| ErrorLaw { degrees, ..*self };
        let best_degrees = best(&mut DEGREES.into_iter().map(with_degrees));
        let with_skew = |step: f64| ErrorLaw {
            skew: (self.skew + step).clamp(-MOST_SKEW, MOST_SKEW),
            ..best_degrees
        };
        best(&mut SKEW_STEPS.into_iter().map(with_skew))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law(degrees: f64, skew: f64) -> ErrorLaw {
        ErrorLaw { degrees, skew }
    }

    #[test]
    fn densities_integrate_to_one() {
        for law in [
            ErrorLaw::NORMAL,
            law(3.0, 0.0),
            law(3.0, 0.8),
            law(40.0, -0.4),
        ] {
            let density = law.log_density();
            let step = 1e-2;
            let area: f64 = (-200_000..200_000)
                .map(|k| step * density((f64::from(k) + 0.5) * step).exp())
                .sum();
            assert!((area - 1.0).abs() < 1e-4, "{law:?}: {area}");
        }
    }

    #[test]
    fn the_pull_is_minus_the_slope_of_the_log_density_over_the_error() {
        for law in [law(3.0, 0.8), law(12.0, -0.3), ErrorLaw::NORMAL] {
            let (density, pull) = (law.log_density(), law.pull());
            for z in [-3.0, -0.2, 0.4, 5.0] {
                let slope = (density(z + 1e-6) - density(z - 1e-6)) / 2e-6;
                assert!((slope + pull(z) * z).abs() < 1e-6, "{law:?} at {z}");
            }
        }
    }

    #[test]
    fn skewed_errors_are_seen() {
        // Quantiles of an exponential law, in units of its standard deviation around its mode's neighbourhood.
        let z: Vec<f64> = (0..500)
            .map(|k| -f64::ln(1.0 - (f64::from(k) + 0.5) / 500.0) - 0.3)
            .collect();
        let weights = vec![1.0; z.len()];
        let mut law = ErrorLaw::FIRST;
        for _ in 0..30 {
            law = law.improved(&weights, &z);
        }
        assert!(law.skew > 0.4, "{law:?}");
        let turned: Vec<f64> = z.iter().map(|z| -z).collect();
        let mut other = ErrorLaw::FIRST;
        for _ in 0..30 {
            other = other.improved(&weights, &turned);
        }
        assert!((other.skew + law.skew).abs() < 1e-9, "{other:?}");
    }
}
