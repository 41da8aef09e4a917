//! The recommended coefficients: the joint posterior where the checks pass, else what needs less of the model.

use serde::{Deserialize, Serialize};

use crate::baseline::{KnownRate, KnownRateFit, one_rate};
use crate::config::{Config, Prior, ResponseKind};
use crate::data::Dataset;
use crate::permutation::LinkSpace;

/// Half the width of a 90 % interval, in standard deviations.
const Z_90: f64 = 1.644_853_626_951_472_7;
/// The rate that is believed at most where the checks fail: the method is for files most of whose links are right.
const LARGEST_RATE: f64 = 0.5;
/// Mean and 95 % point of the default prior of the rate, for priors that have no rate.
const USUAL_RATE: (f64, f64) = (0.05, 0.283);

/// Where an estimate comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    Recommended,
    Joint,
    /// The same program with every link kept.
    AsLinked,
    Huber,
    Mixture,
    KnownRate,
}

impl Method {
    pub fn name(self) -> &'static str {
        match self {
            Method::Recommended => "recommended",
            Method::Joint => "joint",
            Method::AsLinked => "as_linked",
            Method::Huber => "huber",
            Method::Mixture => "mixture",
            Method::KnownRate => "known_rate",
        }
    }
}

/// One line of coefficients.csv.
#[derive(Debug, Clone, PartialEq)]
pub struct Coefficient {
    /// The user's name.
    pub name: String,
    pub method: Method,
    pub estimate: f64,
    pub sd: f64,
    pub q5: f64,
    pub q95: f64,
}

/// What the answer is made of.
pub(super) struct Ingredients<'a> {
    pub config: &'a Config,
    pub data: &'a Dataset,
    pub space: &'a LinkSpace,
    pub joint: &'a [Coefficient],
    pub as_linked: &'a [Coefficient],
    /// Mean and 95 % point of the share of rows that moved, among those that can.
    pub rate: (f64, f64),
    /// Whether the estimate for a known rate applies.
    pub has_known_rate: bool,
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
            Prior::MatchProbability => true,
            Prior::Uniform { .. } | Prior::Hamming { .. } => false,
        }
    }

    /// The recommendation, and which method it has.
    pub fn recommended(&self, trusted: bool) -> (Vec<Coefficient>, Method) {
        if trusted {
            return (relabelled(self.joint), Method::Joint);
        }
        if self.has_known_rate && self.has_outside_rate() {
            let rates = self.config.permutation.prior.rate_grid();
            if let Some(fit) = rates.and_then(|rates| self.known_rate(&rates)) {
                return (self.named(&fit), Method::KnownRate);
            }
        }
        let is_yes_no = self.config.model.response_kind() == ResponseKind::ZeroOne;
        if self.has_known_rate
            && let Some(between) = self.between_rates(is_yes_no)
        {
            let method = match is_yes_no {
                true => Method::AsLinked,
                false => Method::KnownRate,
            };
            return (between, method);
        }
        (self.between_answers(), Method::AsLinked)
    }

    /// Mean and 95 % point of the prior of the rate.
    fn prior_rate(&self) -> (f64, f64) {
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
            if above >= 0.05 {
                break;
            }
        }
        (mean, high)
    }

    /// The rate found counts in so far as it exceeds what the prior expects; nothing where most links would be wrong.
    fn believed_rate(&self) -> f64 {
        let (found, _) = self.rate;
        let (expected, _) = self.prior_rate();
        if found > super::MOST_WRONG {
            return expected.min(LARGEST_RATE);
        }
        (found * found / (found + expected).max(f64::MIN_POSITIVE)).min(LARGEST_RATE)
    }

    /// At the rate that is believed, with an interval from no wrong link to the largest rate that cannot be excluded. The
    /// centre of yes-or-no responses is the links as given: they hold too little about the rate.
    fn between_rates(&self, keep_links: bool) -> Option<Vec<Coefficient>> {
        let believed = match keep_links {
            true => 0.0,
            false => self.believed_rate(),
        };
        let (found, found_high) = self.rate;
        let mut largest = self.prior_rate().1;
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
        config::parse(&text.to_string(), file, &[], &["linear"]).unwrap()
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
        let config =
            config::parse(&text, Path::new("/fits/config.json"), &[], &["linear"]).unwrap();
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

    fn recommend(prior: serde_json::Value, rate: (f64, f64), known: bool) -> (Coefficient, Method) {
        let (config, data) = (config(prior), data());
        let space = LinkSpace::free(data.num_rows());
        let ingredients = Ingredients {
            config: &config,
            data: &data,
            space: &space,
            joint: &[line(Method::Joint, 2.6)],
            as_linked: &[line(Method::AsLinked, 2.0)],
            rate,
            has_known_rate: known,
        };
        let (all, method) = ingredients.recommended(false);
        let slope = all.into_iter().find(|c| c.name == "x").unwrap();
        (slope, method)
    }

    #[test]
    fn a_rate_that_is_found_counts_less_than_one_from_outside() {
        let prior = json!({"name": "beta_binomial"});
        let (slope, method) = recommend(prior, (0.2, 0.3), true);
        assert_eq!(method, Method::KnownRate);
        // 0.04 / 0.25 = 0.16 of the links are believed to be wrong.
        assert!(
            (slope.estimate * (1.0 - 0.16) - 2.0).abs() < 0.1,
            "{slope:?}"
        );
        assert!(slope.q5 < 2.0 && slope.q95 > 2.0 / 0.7, "{slope:?}");
        let audit = json!({"name": "beta_binomial", "audit": {"checked": 1000, "wrong": 300}});
        let (slope, _) = recommend(audit, (0.02, 0.05), true);
        assert!((slope.estimate * 0.7 - 2.0).abs() < 0.1, "{slope:?}");
    }

    #[test]
    fn a_file_most_of_whose_links_would_be_wrong_is_left_nearly_as_it_is() {
        let (slope, _) = recommend(json!({"name": "beta_binomial"}), (0.8, 0.9), true);
        assert!((slope.estimate - 2.0 / 0.95).abs() < 0.1, "{slope:?}");
    }

    #[test]
    fn without_an_estimate_for_a_known_rate_the_links_are_kept() {
        let (slope, method) = recommend(json!({"name": "beta_binomial"}), (0.2, 0.3), false);
        assert_eq!((slope.estimate, method), (2.0, Method::AsLinked));
        assert_eq!((slope.q5, slope.q95), (2.0 - 0.16, 2.6 + 0.16));
    }
}
