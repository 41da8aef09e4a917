//! The estimates of a fit beside those of other estimators and the truth.

use super::Coefficient;
use super::diagnostics::SummaryRow;
use crate::baseline::compare::{Estimate, JOINT, MISMATCH_RATE, TRUTH, UNSHUFFLE, beta_name};
use crate::data::Truth;

/// The baselines, and behind them this fit and the truth. None where there is neither a baseline nor a truth, or where the
/// summary lacks one `beta` for each coefficient.
pub fn beside_fit(
    mut estimates: Vec<Estimate>,
    summary: &[SummaryRow],
    truth: Option<&Truth>,
) -> Option<Vec<Estimate>> {
    let names: Vec<String> = match estimates.first() {
        Some(first) => {
            let of_first = estimates.iter().filter(|e| e.method == first.method);
            of_first.map(|estimate| estimate.name.clone()).collect()
        }
        None => truth?.coefficients.clone(),
    };
    let find = |name: &str| summary.iter().find(|row| row.name == name);
    let fitted = |name: &str, row: &SummaryRow| {
        Some(Estimate {
            method: UNSHUFFLE.into(),
            name: name.into(),
            value: row.mean?,
            standard_error: row.sd,
            interval: Some([row.q5?, row.q95?]),
        })
    };
    let has_rate = estimates.iter().any(|e| e.name == MISMATCH_RATE);
    for (number, name) in (1..).zip(&names) {
        estimates.push(fitted(name, find(&beta_name(number))?)?);
    }
    if has_rate && let Some(row) = find(MISMATCH_RATE) {
        estimates.extend(fitted(MISMATCH_RATE, row));
    }
    if let Some(truth) = truth {
        let true_value = |(name, value): (String, f64)| Estimate {
            method: TRUTH.into(),
            name,
            value,
            standard_error: None,
            interval: None,
        };
        let rate = truth.num_moved as f64 / truth.pi.len() as f64;
        let rate = has_rate.then(|| (MISMATCH_RATE.into(), rate));
        let coefficients = names.into_iter().zip(truth.beta.iter().copied());
        estimates.extend(coefficients.chain(rate).map(true_value));
    }
    Some(estimates)
}

/// Sets the recommended coefficients behind the joint posterior, which goes by its own name then.
pub(super) fn recommend<'a>(
    estimates: &mut Vec<Estimate>,
    recommended: impl Iterator<Item = &'a Coefficient>,
) {
    for estimate in estimates.iter_mut().filter(|e| e.method == UNSHUFFLE) {
        estimate.method = JOINT.into();
    }
    let behind = estimates.iter().rposition(|e| e.method == JOINT);
    let behind = behind.map_or(estimates.len(), |last| last + 1);
    estimates.splice(behind..behind, recommended.map(Coefficient::as_estimate));
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;
    use crate::baseline::Baseline;
    use crate::baseline::compare::baselines;
    use crate::data::Dataset;
    use crate::posterior::Method;
    use crate::posterior::diagnostics::summarize;

    fn data() -> Dataset {
        Dataset::new(
            vec!["(Intercept)".into(), "income".into()],
            array![[1., 0.], [1., 1.], [1., 2.], [1., 3.], [1., 4.]],
            vec![1.0, 3.1, 4.9, 7.0, 2.0],
        )
    }

    fn summary(names: &[&str]) -> Vec<SummaryRow> {
        let draws = [0.0, 1.0, 2.0, 3.0, 4.0];
        names
            .iter()
            .map(|name| summarize(name, &[&draws], None))
            .collect()
    }

    fn of<'a>(estimates: &'a [Estimate], method: &str) -> Vec<&'a str> {
        let of_method = estimates.iter().filter(|e| e.method == method);
        of_method.map(|e| e.name.as_str()).collect()
    }

    #[test]
    fn each_method_has_each_coefficient_once() {
        let methods = [Baseline::LeastSquares, Baseline::Mixture];
        let rows = baselines(&data(), &methods);
        let truth = Truth {
            coefficients: data().predictor_names,
            beta: vec![1.0, 2.0],
            sigma: Some(0.1),
            phi: None,
            shape: None,
            num_moved: 2,
            num_outside: 0,
            pi: vec![0, 1, 2, 4, 3],
            pi0: Vec::new(),
        };
        let summary = summary(&["lp__", "beta.1", "beta.2", "mismatch_rate"]);
        let all = beside_fit(rows, &summary, Some(&truth)).unwrap();
        let coefficients = ["(Intercept)", "income"];
        let with_rate = ["(Intercept)", "income", "mismatch_rate"];
        assert_eq!(of(&all, "least_squares"), coefficients);
        assert_eq!(of(&all, "mixture"), with_rate);
        assert_eq!(of(&all, "unshuffle"), with_rate);
        assert_eq!(of(&all, "truth"), with_rate);
        assert_eq!(all.last().unwrap().value, 0.4);
        let without_baselines = beside_fit(Vec::new(), &summary, Some(&truth)).unwrap();
        assert_eq!(of(&without_baselines, "unshuffle"), coefficients);
        assert_eq!(of(&without_baselines, "truth"), coefficients);
        assert!(beside_fit(Vec::new(), &summary, None).is_none());
        let fitted = all.iter().find(|e| e.method == "unshuffle").unwrap();
        assert_eq!((fitted.value, fitted.interval), (2.0, Some([0.2, 3.8])));
    }

    #[test]
    fn a_contradicted_fit_has_its_recommended_coefficients_behind_the_joint_posterior() {
        let rows = baselines(&data(), &[Baseline::LeastSquares]);
        let mut all = beside_fit(rows, &summary(&["beta.1", "beta.2"]), None).unwrap();
        let coefficient = |name: &str| Coefficient {
            name: name.into(),
            method: Method::Recommended,
            estimate: 7.0,
            sd: 1.0,
            q5: 5.0,
            q95: 9.0,
        };
        let recommended = [coefficient("(Intercept)"), coefficient("income")];
        recommend(&mut all, recommended.iter());
        let methods: Vec<&str> = all.iter().map(|e| e.method.as_str()).collect();
        let expected = [
            "least_squares",
            "least_squares",
            "joint",
            "joint",
            "recommended",
            "recommended",
        ];
        assert_eq!(methods, expected);
        assert_eq!(all[5].interval, Some([5.0, 9.0]));
    }

    #[test]
    fn without_a_beta_for_each_coefficient_nothing_is_compared() {
        let rows = baselines(&data(), &[Baseline::LeastSquares]);
        assert!(beside_fit(rows, &summary(&["beta.1", "mu"]), None).is_none());
    }
}
