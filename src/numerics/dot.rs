//! Scalar products in partial sums, which processors compute side by side.

/// The sum of a[k] * b[k], up to the shorter length. The order of summation is fixed, so that the same input gives the
/// same bits everywhere.
#[inline]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 4;
    let (a, b) = (&a[..a.len().min(b.len())], &b[..a.len().min(b.len())]);
    let mut sums = [0.0; LANES];
    let (a, b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f64 = (a.remainder().iter().zip(b.remainder()))
        .map(|(a, b)| a * b)
        .sum();
    for (a, b) in a.zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_is_summed_to_its_end() {
        for length in 0..11 {
            let a: Vec<f64> = (0..length).map(f64::from).collect();
            let b: Vec<f64> = (0..12).map(|k| f64::from(k) + 1.0).collect();
            let expected: f64 = (0..length).map(|k| f64::from(k * (k + 1))).sum();
            assert_eq!(dot(&a, &b), expected);
            assert_eq!(dot(&b, &a), expected);
        }
    }
}
