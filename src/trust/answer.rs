//! The recommended coefficients: the joint posterior where the checks pass, else what needs less of the model.

use ndarray::Array2;

use super::rival::Rival;
use crate::baseline::{KnownRate, KnownRateFit, one_rate};
use crate::config::{Config, Prior, ResponseKind};
use crate::data::{Dataset, INTERCEPT};
use crate::numerics::invert;
use crate::posterior::{Coefficient, Method};
use crate::sampler::links::LinkSpace;

/// Half the width of a 90 % interval, in standard deviations.
const Z_90: f64 = 1.644_853_626_951_472_7;
/// The rate that is believed at most where the checks fail: the method is for files most of whose links are right.
const LARGEST_RATE: f64 = 0.5;
/// A rate above this quantile of both its prior and its posterior is excluded.
pub(super) const HIGH_POINT: f64 = 0.99;
/// The rate that is half put down to misfit, over the mean of the prior given that some link is wrong.
const SHARE_IN_DOUBT: f64 = 0.3;
/// Evidence against wrong links of this size doubles that rate.
const EVIDENCE_THAT_DOUBLES_DOUBT: f64 = 10.0;
/// A smaller weight of the joint posterior is none: the two answers are too far apart to lie between them.
const LEAST_WEIGHT: f64 = 0.6;
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
    /// What a law with tails and a changing spread says, where there is such a rival.
    pub rival: Option<Rival>,
    /// Whether the estimate for a known rate applies.
    pub has_known_rate: bool,
    /// Means and covariances of the coefficients of the joint posterior, where it has one for each predictor.
    pub moments: Option<(Vec<f64>, Array2<f64>)>,
    /// Whether the rate found may be one of wrong links: otherwise the estimate for a known rate shares the mistake, and that the
    /// two agree says nothing.
    pub may_keep_joint: bool,
}

/// The recommended coefficients, what they are, and the weight of the joint posterior in them.
pub(super) struct Recommended {
    pub coefficients: Vec<Coefficient>,
    pub source: Method,
    pub weight: f64,
}

impl Ingredients<'_> {
    fn known_rate(&self, rates: &[(f64, f64)]) -> Option<KnownRateFit> {
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
        if trusted {
            return Recommended {
                coefficients: relabelled(self.joint),
                source: Method::Joint,
                weight: 1.0,
            };
        }
        let answer = |coefficients, source, weight| Recommended {
            coefficients,
            source,
            weight,
        };
        if !self.has_known_rate {
            return answer(self.between_answers(), Method::AsLinked, 0.0);
        }
        let is_yes_no = self.config.model.response_kind() == ResponseKind::ZeroOne;
        if self.has_outside_rate() {
            let rates = self.config.permutation.prior.rate_grid();
            if let Some(fit) = rates.and_then(|rates| self.known_rate(&rates)) {
                let weight = if is_yes_no { 0.0 } else { self.weight(&fit) };
                let blended = self.blended(self.named(&fit), weight);
                return answer(blended, Method::KnownRate, weight);
            }
        }
        match self.between_rates(is_yes_no) {
            Some(between) if is_yes_no => answer(between, Method::AsLinked, 0.0),
            Some(between) => {
                let (found, _) = self.rate;
                let anchor =
                    (found <= super::MOST_WRONG).then(|| self.known_rate(&one_rate(found)));
                let weight = anchor.flatten().map_or(0.0, |fit| self.weight(&fit));
                answer(self.blended(between, weight), Method::KnownRate, weight)
            }
            None => answer(self.between_answers(), Method::AsLinked, 0.0),
        }
    }

    /// How much of the joint posterior to keep beside an estimate that does not use the likelihood: what the joint
    /// posterior gains in precision, over how far the two are apart (a semi-modular weight, squared,
    /// since both share the rate that was found). Below `LEAST_WEIGHT` nothing is kept.
    fn weight(&self, anchor: &KnownRateFit) -> f64 {
        if !self.may_keep_joint {
            return 0.0;
        }
        let weight = || {
            let (mean, covariance) = self.moments.as_ref()?;
            let names = &self.data.predictor_names;
            let slopes: Vec<usize> = (0..names.len())
                .filter(|k| names[*k] != INTERCEPT)
                .collect();
            let size = slopes.len();
            let dim = names.len();
            let block: Vec<f64> = slopes
                .iter()
                .flat_map(|&i| slopes.iter().map(move |&j| anchor.covariance[i * dim + j]))
                .collect();
            // In units of each standard deviation, in which the matrix is well scaled.
            let sd: Vec<f64> = (0..size).map(|i| block[i * size + i].sqrt()).collect();
            let scaled: Vec<f64> = (0..size * size)
                .map(|k| block[k] / (sd[k / size] * sd[k % size]))
                .collect();
            let inverse = invert(&scaled, size)?;
            let (mut share, mut distance) = (0.0, 0.0);
            for (i, &row) in slopes.iter().enumerate() {
                for (j, &column) in slopes.iter().enumerate() {
                    let factor = inverse[i * size + j] / (sd[i] * sd[j]);
                    share += factor * covariance[[column, row]];
                    distance += factor
                        * (mean[row] - anchor.mean[row])
                        * (mean[column] - anchor.mean[column]);
                }
            }
            let gain = (size as f64 - share).max(0.0);
            Some(
                if distance > gain {
                    gain / distance
                } else {
                    1.0
                }
                .powi(2),
            )
        };
        weight().filter(|w| *w >= LEAST_WEIGHT).unwrap_or(0.0)
    }

    /// The estimate lies between the two answers; a check has failed, so the interval reaches over both of theirs.
    fn blended(&self, cautious: Vec<Coefficient>, weight: f64) -> Vec<Coefficient> {
        let blend = |cautious: Coefficient| {
            let joint = self.joint.iter().find(|joint| joint.name == cautious.name);
            let Some(joint) = joint.filter(|_| weight > 0.0) else {
                return cautious;
            };
            let estimate = weight * joint.estimate + (1.0 - weight) * cautious.estimate;
            let interval = [joint.q5.min(cautious.q5), joint.q95.max(cautious.q95)];
            recommended(&cautious.name, estimate, interval)
        };
        cautious.into_iter().map(blend).collect()
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

    /// The rate found counts as far as a law with tails, skewness and a changing spread finds it too, in so far as it is larger
    /// than what misfit leads to, and the less the better that law explains the file without wrong links. A rate by which
    /// most links would be wrong does not count.
    pub fn believed_rate(&self) -> f64 {
        let (joint, _) = self.rate;
        let (rival, evidence) = match self.rival {
            Some(rival) => (rival.rate, rival.evidence),
            None => (joint, 0.0),
        };
        let expected = self.expected_rate();
        let is_plausible = |rate: f64| rate <= super::MOST_WRONG;
        let found = match (is_plausible(joint), is_plausible(rival)) {
            (true, true) => (joint * rival).sqrt(),
            (true, false) => joint,
            (false, true) => rival,
            (false, false) => return expected.mean.min(LARGEST_RATE),
        };
        let against = (-evidence).max(0.0) / EVIDENCE_THAT_DOUBLES_DOUBT;
        let doubt = SHARE_IN_DOUBT * expected.mean_of_some * (1.0 + against);
        let share = found * found / (found * found + doubt * doubt).max(f64::MIN_POSITIVE);
        (share * found).min(LARGEST_RATE)
    }

    /// At the rate that is believed, with an interval from no wrong link to the largest rate that cannot be excluded. The
    /// centre of yes-or-no responses is the links as given: they hold too little about the rate.
    fn between_rates(&self, keep_links: bool) -> Option<Vec<Coefficient>> {
        let believed = match keep_links {
            true => 0.0,
            false => self.believed_rate(),
        };
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

    fn named(&self, fit: &KnownRateFit) -> Vec<Coefficient> {
        let names = self.data.predictor_names.iter().enumerate();
        names
            .map(|(k, name)| Coefficient {
                sd: fit.sd[k],
                ..recommended(name, fit.mean[k], [fit.q5[k], fit.q95[k]])
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
        let text = json!({
            "model": {"stan": "linear"},
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

    fn recommend(
        prior: serde_json::Value,
        rate: (f64, f64),
        known: bool,
    ) -> (Coefficient, Method, f64) {
        recommend_beside(prior, rate, known, None)
    }

    fn recommend_beside(
        prior: serde_json::Value,
        rate: (f64, f64),
        known: bool,
        moments: Option<(Vec<f64>, Array2<f64>)>,
    ) -> (Coefficient, Method, f64) {
        let (config, data) = (config(prior), data());
        let space = LinkSpace::free(data.num_rows());
        let ingredients = Ingredients {
            config: &config,
            data: &data,
            space: &space,
            joint: &[line(Method::Joint, 2.6)],
            as_linked: &[line(Method::AsLinked, 2.0)],
            rate,
            rival: None,
            has_known_rate: known,
            moments,
            may_keep_joint: true,
        };
        let answer = ingredients.recommended(false);
        let mut all = answer.coefficients.into_iter();
        let slope = all.find(|c| c.name == "x").unwrap();
        (slope, answer.source, answer.weight)
    }

    #[test]
    fn a_rate_that_is_found_counts_less_than_one_from_outside() {
        let prior = json!({"name": "beta_binomial"});
        let (slope, method, _) = recommend(prior, (0.2, 0.3), true);
        assert_eq!(method, Method::KnownRate);
        // 0.2 * 0.04 / 0.0409 = 0.196 of the links are believed to be wrong.
        assert!(
            (slope.estimate * (1.0 - 0.196) - 2.0).abs() < 0.1,
            "{slope:?}"
        );
        assert!(slope.q5 < 2.0 && slope.q95 > 2.0 / 0.7, "{slope:?}");
        let audit = json!({"name": "beta_binomial", "audit": {"checked": 1000, "wrong": 300}});
        let (slope, ..) = recommend(audit, (0.02, 0.05), true);
        assert!((slope.estimate * 0.7 - 2.0).abs() < 0.1, "{slope:?}");
    }

    #[test]
    fn a_rate_counts_the_less_the_less_a_rival_needs_it() {
        let (config, data) = (config(json!({"name": "beta_binomial"})), data());
        let space = LinkSpace::free(data.num_rows());
        let believed = |rate: f64, evidence: f64| {
            let ingredients = Ingredients {
                config: &config,
                data: &data,
                space: &space,
                joint: &[],
                as_linked: &[],
                rate: (0.2, 0.3),
                rival: Some(Rival { evidence, rate }),
                has_known_rate: true,
                moments: None,
                may_keep_joint: true,
            };
            ingredients.believed_rate()
        };
        assert!((believed(0.2, 5.0) - 0.2 * 0.04 / 0.0409).abs() < 1e-3);
        // Evidence of -10 doubles the 0.03 that are put down to misfit.
        assert!((believed(0.2, -10.0) - 0.2 * 0.04 / 0.0436).abs() < 1e-3);
        assert!(believed(0.2, -100.0) < 0.06);
        assert!((believed(0.05, 5.0) - 0.1 * 0.01 / 0.0109).abs() < 1e-3);
        assert_eq!(believed(0.0, 5.0), 0.0);
        // By the rival most links would be wrong, so it says nothing.
        assert!((believed(0.7, 5.0) - believed(0.2, 5.0)).abs() < 1e-9);
    }

    #[test]
    fn a_file_most_of_whose_links_would_be_wrong_is_left_nearly_as_it_is() {
        let (slope, ..) = recommend(json!({"name": "beta_binomial"}), (0.8, 0.9), true);
        assert!((slope.estimate - 2.0 / 0.95).abs() < 0.1, "{slope:?}");
    }

    #[test]
    fn without_an_estimate_for_a_known_rate_the_links_are_kept() {
        let (slope, method, _) = recommend(json!({"name": "beta_binomial"}), (0.2, 0.3), false);
        assert_eq!((slope.estimate, method), (2.0, Method::AsLinked));
        assert_eq!((slope.q5, slope.q95), (2.0 - 0.16, 2.6 + 0.16));
    }

    #[test]
    fn a_precise_posterior_that_agrees_keeps_its_weight_and_one_that_disagrees_does_not() {
        let prior = || json!({"name": "beta_binomial"});
        let moments = |slope: f64, sd: f64| {
            let covariance = Array2::from_diag(&ndarray::arr1(&[sd * sd, sd * sd]));
            Some((vec![1.0, slope], covariance))
        };
        let at =
            |slope: f64, sd: f64| recommend_beside(prior(), (0.2, 0.3), true, moments(slope, sd)).2;
        // At a rate of 0.2 the estimate that needs no likelihood is near 2.5, with a standard deviation near 0.07.
        assert!(at(2.5, 0.01) > 0.9, "{}", at(2.5, 0.01));
        assert!(at(3.5, 0.01) < 0.01, "{}", at(3.5, 0.01));
        // A posterior that is not more precise has nothing to add.
        assert!(at(2.55, 1.0) < 1e-9, "{}", at(2.55, 1.0));
    }
}
