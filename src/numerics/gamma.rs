//! Log gamma and log beta functions, and the number of derangements.

/// log Gamma(x) for x > 0: Stirling's series, after shifting small arguments above 16.
pub fn log_gamma(x: f64) -> f64 {
    debug_assert!(x > 0.0, "log_gamma needs a positive argument, got {x}");
    // Bernoulli terms B_2k / (2k (2k - 1)); the first one left out is below 1e-17 at 16.
    const SERIES: [f64; 6] = [
        1.0 / 12.0,
        -1.0 / 360.0,
        1.0 / 1260.0,
        -1.0 / 1680.0,
        1.0 / 1188.0,
        -691.0 / 360_360.0,
    ];
    let mut shifted = x;
    let mut product = 1.0;
    while shifted < 16.0 {
        product *= shifted;
        shifted += 1.0;
    }
    let inverse = 1.0 / shifted;
    let square = inverse * inverse;
    let tail = SERIES
        .iter()
        .rev()
        .fold(0.0, |sum, term| sum * square + term)
        * inverse;
    const HALF_LOG_TWO_PI: f64 = 0.918_938_533_204_672_8;
    (shifted - 0.5) * shifted.ln() - shifted + HALF_LOG_TWO_PI + tail - product.ln()
}

/// log B(a, b).
pub(crate) fn log_beta(a: f64, b: f64) -> f64 {
    log_gamma(a) + log_gamma(b) - log_gamma(a + b)
}

/// log D_d, the logarithm of the number of permutations of `d` things that leave none in place.
///
/// Exact integers up to 20; beyond, D_d = d!/e to far below double precision.
pub(crate) fn log_derangements(d: usize) -> f64 {
    if d > 20 {
        return log_gamma(d as f64 + 1.0) - 1.0;
    }
    let (mut before, mut current) = (1u128, 0u128); // D_0, D_1
    for k in 1..=d as u128 {
        // D_{k+1} = k (D_k + D_{k-1})
        (before, current) = (current, k * (current + before));
    }
    (before as f64).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_gamma_agrees_with_factorials_and_half_integers() {
        let mut sum = 0.0f64;
        for k in 1..=170u32 {
            sum += f64::from(k).ln();
            let value = log_gamma(f64::from(k) + 1.0);
            assert!(
                (value - sum).abs() <= 1e-14 * sum.max(1.0),
                "{k}: {value} {sum}"
            );
        }
        let half = std::f64::consts::PI.sqrt().ln();
        assert!((log_gamma(0.5) - half).abs() < 1e-14);
        assert!((log_gamma(2.5) - (half + 0.75f64.ln())).abs() < 1e-14);
        assert!(log_gamma(1.0).abs() < 1e-14 && log_gamma(2.0).abs() < 1e-14);
        // log Gamma(1e6), from the series carried to 30 digits.
        assert!((log_gamma(1e6) / 12_815_504.569_147_612 - 1.0).abs() < 1e-14);
    }

    #[test]
    fn log_derangements_agree_with_the_integers() {
        // OEIS A000166.
        let exact = [
            1.0, 0.0, 1.0, 2.0, 9.0, 44.0, 265.0, 1854.0, 14_833.0, 133_496.0,
        ];
        for (d, &count) in exact.iter().enumerate() {
            assert_eq!(log_derangements(d), f64::ln(count));
        }
        // D_25, an integer beyond the exact range.
        let d25 = 5_706_255_282_633_466_762_357_224.0f64;
        assert!((log_derangements(25) - d25.ln()).abs() < 1e-13);
        assert!((log_derangements(20) - (log_gamma(21.0) - 1.0)).abs() < 1e-13);
    }
}
