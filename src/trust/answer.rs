//! The recommended coefficients: the joint posterior where the checks pass, else what needs less of the model.

use crate::baseline::{KnownRate, RateAveraged, RobustMixtureFit, one_rate};
use crate::config::{Config, Prior, ResponseKind};
use crate::data::Dataset;
use crate::numerics::Z_90;
use crate::posterior::{Coefficient, Method};
use crate::sampler::links::LinkSpace;

/// The rate that is believed at most where the checks fail: the method is for files most of whose links are right.
const LARGEST_RATE: f64 = 0.5;
/// A rate above this quantile of both its prior and its posterior is excluded.
pub(super) const HIGH_POINT: f64 = 0.99;
/// The rate that is half put down to misfit, over the mean of the prior given that some link is wrong.
const SHARE_IN_DOUBT: f64 = 0.3;
/// The expected rate of the default prior, for priors that have no rate.
const USUAL_RATE: ExpectedRate = ExpectedRate {
    mean: 0.05,
    mean_of_some: 0.1,
    high: 0.4,
};

/// What the prior says of the rate of wrong links.
#[derive(Clone, Copy)]
struct ExpectedRate {
    mean: f64,
    /// Mean and `HIGH_POINT` given that some link is wrong.
    mean_of_some: f64,
    high: f64,
}

/// What the answer is made of.
pub(super) struct Ingredients<'a> {
    pub config: &'a Config,
    pub data: &'a Dataset,
    pub space: &'a LinkSpace,
    pub joint: &'a [Coefficient],
    pub as_linked: &'a [Coefficient],
    /// Mean and `HIGH_POINT` of the share of rows that moved, among those that can.
    pub rate: (f64, f64),
    /// The robust mixture, where it applies.
    pub robust: Option<RobustMixtureFit>,
    /// Whether the estimate for a known rate applies.
    pub has_known_rate: bool,
}

/// The recommended coefficients, and what they are.
pub(super) struct Recommended {
    pub coefficients: Vec<Coefficient>,
    pub source: Method,
}

impl Ingredients<'_> {
    fn known_rate(&self, rates: &[(f64, f64)]) -> Option<RateAveraged> {
        let kind = self.config.model.response_kind();
        let known = KnownRate::within(self.space);
        known.fit(kind, self.data.x.view(), &self.data.response, rates)
    }

    /// Whether the rate is known from outside the responses of the file.
    pub fn has_outside_rate(&self) -> bool {
        match self.config.permutation.prior {
            Prior::BetaBinomial { audit, .. } => audit.is_some(),
            Prior::MatchProbability => self.config.permutation.rate_formula.is_none(),
            Prior::Uniform { .. } | Prior::Hamming { .. } => false,
        }
    }

    pub fn recommended(&self, trusted: bool) -> Recommended {
        let answer = |coefficients, source| Recommended {
            coefficients,
            source,
        };
        if trusted {
            return answer(relabelled(self.joint), Method::Joint);
        }
        if !self.has_known_rate {
            return answer(self.between_answers(), Method::AsLinked);
        }
        if let Some(robust) = &self.robust
            && let Some(coefficients) = self.around(robust)
        {
            return answer(coefficients, Method::RobustMixture);
        }
        if self.has_outside_rate() {
            let rates = self.config.permutation.prior.rate_grid();
            if let Some(fit) = rates.and_then(|rates| self.known_rate(&rates)) {
                let named = self.named(&fit, Method::Recommended);
                return answer(named, Method::KnownRate);
            }
        }
        match self.between_rates() {
            Some(between) if self.keeps_links() => answer(between, Method::AsLinked),
            Some(between) => answer(between, Method::KnownRate),
            None => answer(self.between_answers(), Method::AsLinked),
        }
    }

    /// The robust mixture, with an interval that reaches over those at all rates that cannot be excluded, or over that of the
    /// estimate for a known rate at what an audit says.
    fn around(&self, robust: &RobustMixtureFit) -> Option<Vec<Coefficient>> {
        let estimate = &robust.estimate;
        let audited = self.config.permutation.prior.rate_grid();
        let beside: Vec<[f64; 2]> = match audited.filter(|_| self.has_outside_rate()) {
            Some(rates) => {
                let fit = self.known_rate(&rates)?;
                fit.q5.into_iter().zip(fit.q95).map(Into::into).collect()
            }
            None => robust.widest.clone(),
        };
        let names = self.data.predictor_names.iter().enumerate();
        let around = names.map(|(k, name)| {
            let [low, high] = beside[k];
            let interval = [estimate.q5[k].min(low), estimate.q95[k].max(high)];
            recommended(name, estimate.mean[k], interval)
        });
        Some(around.collect())
    }

    /// Whether the responses hold too little of the rate for any correction: yes-or-no ones, and real ones many of which are
    /// equal.
    fn keeps_links(&self) -> bool {
        match self.config.model.response_kind() {
            ResponseKind::ZeroOne => true,
            ResponseKind::Real => self.robust.is_none(),
            _ => false,
        }
    }

    fn expected_rate(&self) -> ExpectedRate {
        let Some(grid) = self.config.permutation.prior.rate_grid() else {
            return USUAL_RATE;
        };
        let total: f64 = grid.iter().map(|(_, w)| w).sum();
        let mean = grid.iter().map(|(r, w)| r * w).sum::<f64>() / total;
        let positive: f64 = grid.iter().filter(|(r, _)| *r > 0.0).map(|(_, w)| w).sum();
        let mut above = 0.0;
        let mut high = 0.0;
        for (rate, weight) in grid.iter().rev().filter(|(r, _)| *r > 0.0) {
            above += weight / positive;
            high = *rate;
            if above >= 1.0 - HIGH_POINT {
                break;
            }
        }
        ExpectedRate {
            mean,
            mean_of_some: mean * total / positive,
            high,
        }
    }

    /// The rate at which the coefficients are corrected where a check fails: that of the robust mixture, or the one found in
    /// so far as it is larger than what misfit leads to. A rate by which most links would be wrong does not count.
    pub fn believed_rate(&self) -> f64 {
        if let Some(robust) = &self.robust {
            return robust.estimate.rate;
        }
        if self.keeps_links() {
            return 0.0;
        }
        let (found, _) = self.rate;
        let expected = self.expected_rate();
        if found > super::MOST_WRONG {
            return expected.mean.min(LARGEST_RATE);
        }
        let doubt = SHARE_IN_DOUBT * expected.mean_of_some;
        let share = found * found / (found * found + doubt * doubt).max(f64::MIN_POSITIVE);
        (share * found).min(LARGEST_RATE)
    }

    /// At the rate that is believed, with an interval from no wrong link to the largest rate that cannot be excluded.
    fn between_rates(&self) -> Option<Vec<Coefficient>> {
        let believed = self.believed_rate();
        let (found, found_high) = self.rate;
        let mut largest = self.expected_rate().high;
        if found <= super::MOST_WRONG {
            largest = largest.max(found_high);
        }
        let centre = self.known_rate(&one_rate(believed))?;
        let none = self.known_rate(&one_rate(0.0))?;
        let most = self.known_rate(&one_rate(largest.clamp(believed, LARGEST_RATE)))?;
        let names = self.data.predictor_names.iter().enumerate();
        let between = names.map(|(k, name)| {
            let q5 = none.q5[k].min(most.q5[k]).min(centre.q5[k]);
            let q95 = none.q95[k].max(most.q95[k]).max(centre.q95[k]);
            recommended(name, centre.mean[k], [q5, q95])
        });
        Some(between.collect())
    }

    /// The links as given, with an interval that reaches over the joint posterior's.
    fn between_answers(&self) -> Vec<Coefficient> {
        let pairs = self.as_linked.iter().map(|given| {
            let joint = self.joint.iter().find(|joint| joint.name == given.name);
            let joint = joint.unwrap_or(given);
            let interval = [given.q5.min(joint.q5), given.q95.max(joint.q95)];
            recommended(&given.name, given.estimate, interval)
        });
        pairs.collect()
    }

    /// An estimate for each predictor, under the user's names.
    pub fn named(&self, fit: &RateAveraged, method: Method) -> Vec<Coefficient> {
        let names = self.data.predictor_names.iter().enumerate();
        names
            .map(|(k, name)| Coefficient {
                name: name.clone(),
                method,
                estimate: fit.mean[k],
                sd: fit.sd[k],
                q5: fit.q5[k],
                q95: fit.q95[k],
            })
            .collect()
    }
}

fn recommended(name: &str, estimate: f64, [q5, q95]: [f64; 2]) -> Coefficient {
    Coefficient {
        name: name.to_string(),
        method: Method::Recommended,
        estimate,
        sd: (q95 - q5) / (2.0 * Z_90),
        q5,
        q95,
    }
}

fn relabelled(coefficients: &[Coefficient]) -> Vec<Coefficient> {
    let relabel = |c: &Coefficient| Coefficient {
        method: Method::Recommended,
        ..c.clone()
    };
    coefficients.iter().map(relabel).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config;
    use serde_json::json;
    use std::path::Path;

    fn config(prior: serde_json::Value) -> Config {
        config_of("linear", prior)
    }

    fn config_of(model: &str, prior: serde_json::Value) -> Config {
        let text = json!({
            "model": {"stan": model},
            "data": {"file": "data.csv", "response": "y", "predictors": ["x"]},
            "permutation": {"prior": prior},
        });
        let file = Path::new("/fits/config.json");
        config::parse(&text.to_string(), file, &[]).unwrap()
    }

    /// y = 1 + 2 x with small errors and nothing wrong.
    fn data() -> Dataset {
        let folder = tempfile::tempdir().unwrap();
        let line = |k: usize| {
            let x = (k as f64 * 0.37).sin();
            format!("{x},{}\n", 1.0 + 2.0 * x + 0.3 * (k as f64 * 1.7).cos())
        };
        let text: String = (0..60).map(line).collect();
        std::fs::write(folder.path().join("data.csv"), format!("x,y\n{text}")).unwrap();
        let columns =
            json!({"file": folder.path().join("data.csv"), "response": "y", "predictors": ["x"]});
        let text = json!({"model": {"stan": "linear"}, "data": columns}).to_string();
        let config = config::parse(&text, Path::new("/fits/config.json"), &[]).unwrap();
        crate::data::read(&config.data).unwrap()
    }

    fn line(method: Method, estimate: f64) -> Coefficient {
        Coefficient {
            name: "x".into(),
            method,
            estimate,
            sd: 0.1,
            q5: estimate - 0.16,
            q95: estimate + 0.16,
        }
    }

    /// Without a robust mixture.
    fn ingredients<'a>(
        config: &'a Config,
        data: &'a Dataset,
        space: &'a LinkSpace,
        rate: (f64, f64),
        has_known_rate: bool,
    ) -> Ingredients<'a> {
        Ingredients {
            config,
            data,
            space,
            joint: &[],
            as_linked: &[],
            rate,
            robust: None,
            has_known_rate,
        }
    }

    fn slope(answer: Recommended) -> (Coefficient, Method) {
        let mut all = answer.coefficients.into_iter();
        (all.find(|c| c.name == "x").unwrap(), answer.source)
    }

    fn robust(config: &Config, data: &Dataset, space: &LinkSpace) -> Option<RobustMixtureFit> {
        let prior = config.permutation.prior.rate().unwrap();
        let mut rng = crate::numerics::rng::stream(1, 1);
        crate::baseline::robust_mixture(data.x.view(), &data.response, space, prior, &mut rng)
    }

    #[test]
    fn the_interval_reaches_over_all_rates_that_cannot_be_excluded() {
        let (config, data) = (config(json!({"name": "beta_binomial"})), data());
        let space = LinkSpace::free(data.num_rows());
        let mut all = ingredients(&config, &data, &space, (0.2, 0.3), true);
        all.robust = robust(&config, &data, &space);
        let fit = all.robust.as_ref().unwrap();
        let (estimate, widest) = (fit.estimate.mean[1], fit.widest[1]);
        assert!(fit.estimate.rate < 0.05, "{}", fit.estimate.rate);
        let given = crate::baseline::least_squares(data.x.view(), &data.response);
        // Few rows do not exclude some wrong links, and with them the slope is steeper.
        assert!(widest[0] < given.beta[1] - 1.5 * given.standard_error[1]);
        assert!(widest[1] > given.beta[1] + 2.0 * given.standard_error[1]);
        let (slope, method) = slope(all.recommended(false));
        assert_eq!((slope.estimate, method), (estimate, Method::RobustMixture));
        assert!((slope.estimate - 2.0).abs() < 0.2, "{slope:?}");
        assert!(slope.q5 <= widest[0] && slope.q95 >= widest[1], "{slope:?}");
    }

    #[test]
    fn an_audit_decides_the_rate() {
        let audit = json!({"name": "beta_binomial", "audit": {"checked": 1000, "wrong": 300}});
        let (config, data) = (config(audit), data());
        let space = LinkSpace::free(data.num_rows());
        let all = ingredients(&config, &data, &space, (0.02, 0.05), true);
        let (found, method) = slope(all.recommended(false));
        assert_eq!(method, Method::KnownRate);
        assert!((found.estimate * 0.7 - 2.0).abs() < 0.1, "{found:?}");
        // The robust mixture has to believe the audit too: no row of this file looks wrong, and yet the rate is 0.3.
        let fit = robust(&config, &data, &space).unwrap();
        assert!(
            (fit.estimate.rate - 0.3).abs() < 0.06,
            "{}",
            fit.estimate.rate
        );
    }

    #[test]
    fn responses_many_of_which_are_equal_keep_their_links() {
        let (config, mut data) = (config(json!({"name": "beta_binomial"})), data());
        for y in data.response.iter_mut().take(30) {
            *y = 0.0;
        }
        let space = LinkSpace::free(data.num_rows());
        assert!(robust(&config, &data, &space).is_none());
        let all = ingredients(&config, &data, &space, (0.3, 0.4), true);
        assert_eq!(all.believed_rate(), 0.0);
        let (slope, method) = slope(all.recommended(false));
        assert_eq!(method, Method::AsLinked);
        let given = crate::baseline::least_squares(data.x.view(), &data.response);
        assert!((slope.estimate - given.beta[1]).abs() < 1e-9, "{slope:?}");
        assert!(
            slope.q95 - slope.q5 > 3.3 * given.standard_error[1],
            "{slope:?}"
        );
    }

    #[test]
    fn a_rate_that_counts_have_found_is_put_down_to_misfit_where_it_is_small() {
        let config = config_of("poisson", json!({"name": "beta_binomial"}));
        let data = data();
        let space = LinkSpace::free(data.num_rows());
        let believed =
            |rate: f64| ingredients(&config, &data, &space, (rate, rate), true).believed_rate();
        assert!((believed(0.2) - 0.2 * 0.04 / 0.0409).abs() < 1e-3);
        assert!((believed(0.03) - 0.015).abs() < 1e-3);
        assert_eq!(believed(0.0), 0.0);
        // Most links would be wrong, so what was found says nothing.
        assert!((believed(0.8) - 0.05).abs() < 1e-3);
    }

    #[test]
    fn without_an_estimate_for_a_known_rate_the_links_are_kept() {
        let (config, data) = (config(json!({"name": "beta_binomial"})), data());
        let space = LinkSpace::free(data.num_rows());
        let (joint, given) = ([line(Method::Joint, 2.6)], [line(Method::AsLinked, 2.0)]);
        let mut all = ingredients(&config, &data, &space, (0.2, 0.3), false);
        (all.joint, all.as_linked) = (&joint, &given);
        let (slope, method) = slope(all.recommended(false));
        assert_eq!((slope.estimate, method), (2.0, Method::AsLinked));
        assert_eq!((slope.q5, slope.q95), (2.0 - 0.16, 2.6 + 0.16));
    }
}
