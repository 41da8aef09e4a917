//! Autocovariance of a series by the fast Fourier transform.

use std::f64::consts::PI;

/// Biased autocovariances (divided by n) of lags 0 to n - 1 of a series around its own mean.
pub(crate) fn autocovariance(series: &[f64], mean: f64) -> Vec<f64> {
    let n = series.len();
    // Twice the length, or the end of the series would be correlated with its start.
    let size = (2 * n).next_power_of_two();
    let mut re: Vec<f64> = series.iter().map(|x| x - mean).collect();
    re.resize(size, 0.0);
    let mut im = vec![0.0; size];
    fft(&mut re, &mut im);
    for (re, im) in re.iter_mut().zip(&mut im) {
        *re = *re * *re + *im * *im;
        *im = 0.0;
    }
    // The power spectrum is real and even, so the forward transform is also its inverse up to the scale.
    fft(&mut re, &mut im);
    re.truncate(n);
    re.iter_mut().for_each(|c| *c /= (size * n) as f64);
    re
}

/// In-place radix-2 transform of a series whose length is a power of two.
fn fft(re: &mut [f64], im: &mut [f64]) {
    let size = re.len();
    assert!(size.is_power_of_two() && im.len() == size);
    let mut j = 0;
    for i in 1..size {
        // j counts up in bit-reversed order.
        let mut bit = size >> 1;
        while j & bit != 0 {
            j ^= bit;
            bit >>= 1;
        }
        j |= bit;
        if i < j {
            re.swap(i, j);
            im.swap(i, j);
        }
    }
    let roots: Vec<(f64, f64)> = (0..size / 2)
        .map(|k| (-2.0 * PI * k as f64 / size as f64).sin_cos())
        .collect();
    let mut half = 1;
    while half < size {
        for start in (0..size).step_by(2 * half) {
            for k in 0..half {
                let (sin, cos) = roots[k * (size / (2 * half))];
                let (a, b) = (start + k, start + k + half);
                let (x, y) = (re[b] * cos - im[b] * sin, re[b] * sin + im[b] * cos);
                (re[b], im[b]) = (re[a] - x, im[a] - y);
                (re[a], im[a]) = (re[a] + x, im[a] + y);
            }
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::stats;

    #[test]
    fn fft_autocovariance_is_the_naive_sum() {
        for n in [1, 2, 3, 7, 64, 100, 129] {
            let series: Vec<f64> = (0..n).map(|t| (0.37 * (t * t) as f64).sin()).collect();
            let mean = stats::mean(&series).unwrap();
            for (lag, fast) in autocovariance(&series, mean).into_iter().enumerate() {
                let naive = (0..n - lag)
                    .map(|t| (series[t] - mean) * (series[t + lag] - mean))
                    .sum::<f64>()
                    / n as f64;
                assert!(
                    (fast - naive).abs() < 1e-14,
                    "n {n} lag {lag}: {fast} {naive}"
                );
            }
        }
    }
}
