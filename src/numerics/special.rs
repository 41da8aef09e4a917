//! Quantile functions of the normal, the beta and the Student t distribution; distribution functions of beta and gamma.

use super::gamma::{log_beta, log_gamma};

/// Standard normal quantile by Wichura's AS 241 (PPND16), accurate to about 1e-16 relative.
pub(crate) fn normal_quantile(probability: f64) -> f64 {
    let q = probability - 0.5;
    if q.abs() <= 0.425 {
        return q * ratio(&CENTRE, 0.180625 - q * q);
    }
    let r = (-probability.min(1.0 - probability).ln()).sqrt();
    let x = if r <= 5.0 {
        ratio(&SHOULDER, r - 1.6)
    } else {
        ratio(&TAIL, r - 5.0)
    };
    x.copysign(q)
}

/// Numerator and denominator of a rational approximation, lowest power first.
type Rational = [[f64; 8]; 2];

fn ratio([numerator, denominator]: &Rational, r: f64) -> f64 {
    let horner =
        |coefficients: &[f64; 8]| coefficients.iter().rev().fold(0.0, |sum, c| sum * r + c);
    horner(numerator) / horner(denominator)
}

const CENTRE: Rational = [
    [
        3.387_132_872_796_366_5,
        1.331_416_678_917_843_8e2,
        1.971_590_950_306_551_3e3,
        1.373_169_376_550_946e4,
        4.592_195_393_154_987e4,
        6.726_577_092_700_87e4,
        3.343_057_558_358_813e4,
        2.509_080_928_730_122_7e3,
    ],
    [
        1.0,
        4.231_333_070_160_091e1,
        6.871_870_074_920_579e2,
        5.394_196_021_424_751e3,
        2.121_379_430_158_659_7e4,
        3.930_789_580_009_271e4,
        2.872_908_573_572_194_3e4,
        5.226_495_278_852_854e3,
    ],
];

const SHOULDER: Rational = [
    [
        1.423_437_110_749_683_5,
        4.630_337_846_156_546,
        5.769_497_221_460_691,
        3.647_848_324_763_204_5,
        1.270_458_252_452_368_4,
        2.417_807_251_774_506e-1,
        2.272_384_498_926_918_4e-2,
        7.745_450_142_783_414e-4,
    ],
    [
        1.0,
        2.053_191_626_637_759,
        1.676_384_830_183_803_8,
        6.897_673_349_851e-1,
        1.481_039_764_274_800_8e-1,
        1.519_866_656_361_645_7e-2,
        5.475_938_084_995_345e-4,
        1.050_750_071_644_416_9e-9,
    ],
];

const TAIL: Rational = [
    [
        6.657_904_643_501_103,
        5.463_784_911_164_114,
        1.784_826_539_917_291_3,
        2.965_605_718_285_048_7e-1,
        2.653_218_952_657_612_4e-2,
        1.242_660_947_388_078_4e-3,
        2.711_555_568_743_487_6e-5,
        2.010_334_399_292_288_1e-7,
    ],
    [
        1.0,
        5.998_322_065_558_88e-1,
        1.369_298_809_227_358e-1,
        1.487_536_129_085_061_5e-2,
        7.868_691_311_456_133e-4,
        1.846_318_317_510_054_8e-5,
        1.421_511_758_316_446e-7,
        2.044_263_103_389_939_8e-15,
    ],
];

/// Quantile of the beta distribution with shapes `a` and `b`, by bisection: it is needed twice per quantity, not per draw.
pub(crate) fn beta_quantile(probability: f64, a: f64, b: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if beta_cdf(middle, a, b) < probability {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// Quantile of the Student t distribution, `probability` at least one half: its square over df plus itself has a beta distribution.
pub(crate) fn student_t_quantile(probability: f64, df: f64) -> f64 {
    // Beyond this the bisection has fewer digits than the normal quantile.
    if df > 1e9 {
        return normal_quantile(probability);
    }
    let y = beta_quantile(2.0 * probability - 1.0, 0.5, 0.5 * df);
    (df * y / (1.0 - y)).sqrt()
}

/// Regularised incomplete beta function I_x(a, b), by Lentz's method on its continued fraction (DLMF 8.17.22).
pub(crate) fn beta_cdf(x: f64, a: f64, b: f64) -> f64 {
    // The fraction converges quickly only below the mean.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta_cdf(1.0 - x, b, a);
    }
    if x <= 0.0 {
        return 0.0;
    }
    let away_from_zero = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    let mut m = 0.0;
    loop {
        m += 1.0;
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut last_factor = 1.0;
        for coefficient in [even, odd] {
            d = 1.0 / away_from_zero(1.0 + coefficient * d);
            c = away_from_zero(1.0 + coefficient / c);
            last_factor = c * d;
            fraction *= last_factor;
        }
        // About sqrt(a + b) terms are needed; the bound only guards against shapes that are not numbers.
        if (last_factor - 1.0).abs() < 1e-15 || m > 1e5 {
            break;
        }
    }
    (a * x.ln() + b * (-x).ln_1p() - log_beta(a, b)).exp() * fraction / a
}

/// Regularised lower incomplete gamma function P(shape, x): its series below the mean (DLMF 8.11.4), the continued
/// fraction of its complement above (DLMF 8.9.2), by Lentz's method.
pub(crate) fn gamma_cdf(x: f64, shape: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    let log_factor = shape * x.ln() - x - log_gamma(shape);
    if x < shape + 1.0 {
        let (mut term, mut sum, mut a) = (1.0 / shape, 1.0 / shape, shape);
        while term > 1e-16 * sum {
            a += 1.0;
            term *= x / a;
            sum += term;
        }
        return (log_factor + sum.ln()).exp().min(1.0);
    }
    let mut b = x + 1.0 - shape;
    let mut c = 1e300;
    let mut d = 1.0 / b;
    let mut fraction = d;
    for k in 1..100_000 {
        let k = f64::from(k);
        let coefficient = -k * (k - shape);
        b += 2.0;
        d = 1.0 / (coefficient * d + b);
        c = b + coefficient / c;
        fraction *= c * d;
        if (c * d - 1.0).abs() < 1e-15 {
            break;
        }
    }
    1.0 - (log_factor.exp() * fraction).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values are those of SciPy 1.x `norm.ppf`.
    #[test]
    fn normal_quantile_in_centre_shoulders_and_tails() {
        for (probability, expected) in [
            (0.5, 0.0),
            (0.3, -0.5244005127080409),
            (0.05, -1.6448536269514729),
            (0.975, 1.959963984540054),
            (1e-3, -3.090232306167813),
            (1e-9, -5.9978070150076865),
            (1e-12, -7.034483825301131),
            (1.0 - 1e-6, 4.753424308817087),
        ] {
            let quantile = normal_quantile(probability);
            assert!(
                (quantile - expected).abs() < 1e-13,
                "{probability}: {quantile} {expected}"
            );
        }
    }

    /// Expected values are those of SciPy 1.x `beta.ppf`.
    #[test]
    fn beta_quantile_for_small_large_and_skewed_shapes() {
        for (probability, a, b, expected) in [
            (0.1586553, 2.0, 3.0, 0.18530113734156411),
            (0.8413447, 2.0, 3.0, 0.6184023828714598),
            (0.1586553, 177.8, 3360.4, 0.04658177844922007),
            (0.8413447, 50.0, 1.5, 0.9917367056794386),
            (0.5, 7000.5, 7000.5, 0.5),
        ] {
            let quantile = beta_quantile(probability, a, b);
            assert!(
                (quantile - expected).abs() < 1e-12,
                "{probability} {a} {b}: {quantile} {expected}"
            );
        }
    }

    /// Expected values are those of SciPy 1.x `t.ppf`.
    #[test]
    fn student_t_quantile_for_few_and_many_degrees_of_freedom() {
        for (probability, df, expected) in [
            (0.975, 1.0, 12.706204736174694),
            (0.975, 2.5, 3.5746548420036817),
            (0.975, 26.298, 2.0543963882704084),
            (0.95, 1000.0, 1.6463788172854643),
            (0.975, 1e6, 1.959966356814107),
            (0.975, f64::INFINITY, 1.959963984540054),
        ] {
            let quantile = student_t_quantile(probability, df);
            assert!(
                (quantile / expected - 1.0).abs() < 1e-10,
                "{probability} {df}: {quantile} {expected}"
            );
        }
    }

    #[test]
    fn gamma_cdf_against_closed_forms() {
        // Shape 1: 1 - exp(-x); shape 2: 1 - (1 + x) exp(-x).
        for x in [1e-3f64, 0.4, 1.0, 2.5, 9.0, 40.0] {
            let one = -(-x).exp_m1();
            let two = 1.0 - (1.0 + x) * (-x).exp();
            assert!((gamma_cdf(x, 1.0) - one).abs() < 1e-14, "{x}");
            assert!((gamma_cdf(x, 2.0) - two).abs() < 1e-13, "{x}");
        }
        // R: pgamma(90, 100)
        assert!((gamma_cdf(90.0, 100.0) - 0.158_220_977_6).abs() < 1e-6);
    }

    #[test]
    fn beta_quantiles_agree_with_closed_forms() {
        for p in [1e-6f64, 0.02, 0.3, 0.5, 0.9, 0.999] {
            // 1 - (1 - x)^b, x^a, and the arcsine law.
            let closed = [
                (1.0, 9.0, -((-p).ln_1p() / 9.0).exp_m1()),
                (1.0, 1.0, p),
                (4.0, 1.0, p.powf(0.25)),
                (0.5, 0.5, (std::f64::consts::FRAC_PI_2 * p).sin().powi(2)),
            ];
            for (a, b, expected) in closed {
                let found = beta_quantile(p, a, b);
                assert!(
                    (found / expected - 1.0).abs() < 1e-9,
                    "{p} {a} {b}: {found}"
                );
            }
            // A Beta distribution of whole numbers counts successes: P(X <= x) = P(Binomial(101, x) >= 8).
            let x = beta_quantile(p, 8.0, 94.0);
            let mut term = (1.0 - x).powi(101);
            let mut below = 0.0;
            for k in 0..8 {
                below += term;
                term *= f64::from(101 - k) / f64::from(k + 1) * x / (1.0 - x);
            }
            assert!((1.0 - below - p).abs() < 1e-9, "{p}: {x}");
        }
        let wide = beta_quantile(0.5, 2e5, 1e6);
        assert!((wide - 1.0 / 6.0).abs() < 1e-5, "{wide}");
    }
}
