//! The energy fraction of missing information of one chain (Betancourt 2016).

use crate::numerics::stats::{finite, variance};

/// Mean squared change of the energy between draws over the variance of the energy; low values mean that the momentum draws
/// explore the energies slowly.
pub fn e_bfmi(energies: &[f64]) -> Option<f64> {
    let variance = variance(energies)?;
    let steps = energies
        .windows(2)
        .map(|pair| (pair[1] - pair[0]).powi(2))
        .sum::<f64>();
    finite(steps / (energies.len() - 1) as f64 / variance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e_bfmi_by_hand() {
        // Squared steps 1, 4, 9; squared deviations from the mean 0.5 are 0.25, 0.25, 2.25, 2.25.
        assert_eq!(
            e_bfmi(&[0.0, 1.0, -1.0, 2.0]),
            Some((14.0 / 3.0) / (5.0 / 3.0))
        );
    }

    #[test]
    fn e_bfmi_of_constant_short_or_non_finite_energies_is_none() {
        for energies in [&[][..], &[1.0], &[0.1; 10], &[1.0, f64::NAN, 2.0]] {
            assert_eq!(e_bfmi(energies), None);
        }
    }
}
