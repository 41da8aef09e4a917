//! The recommended coefficients: the joint posterior where the checks pass, else what needs less of the model.

use crate::baseline::{KnownRate, RateAveraged, RobustMixtureFit, least_squares, one_rate};
use crate::config::{Config, Family, Prior, ResponseKind};
use crate::data::Dataset;
use crate::numerics::Z_90;
use crate::posterior::{Coefficient, Method};
use crate::sampler::links::LinkSpace;

/// The rate that is believed at most where the checks fail: the method is for files most of whose links are right.
const LARGEST_RATE: f64 = 0.5;
/// A rate above this quantile of both its prior and its posterior is excluded.
pub(super) const HIGH_POINT: f64 = 0.99;
/// That quantile of the default prior, given that some link is wrong, for priors that have no rate.
const USUAL_HIGH_RATE: f64 = 0.4;

/// What the answer is made of.
pub(super) struct Ingredients<'a> {
    pub config: &'a Config,
    pub data: &'a Dataset,
    pub space: &'a LinkSpace,
    pub joint: &'a [Coefficient],
    pub as_linked: &'a [Coefficient],
    /// Mean and `HIGH_POINT` of the share of rows that moved, among those that can.
    pub rate: (f64, f64),
    /// The robust mixture, where it applies. Of counts and positive responses it is that of their logarithms, and says
    /// something of the rate only.
    pub robust: Option<RobustMixtureFit>,
    /// The program with every link kept, each row weighted by the probability of the robust mixture that its link is right; empty
    /// where that was not needed.
    pub weighted: Vec<Coefficient>,
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
        let (coefficients, source) = match self.without_likelihood() {
            Some(answer) => answer,
            None => (self.between_answers(), Method::AsLinked),
        };
        answer(coefficients, source)
    }

    /// An answer that needs no more of the program than its coefficients with every link kept; None where the estimate for a
    /// known rate does not exist.
    fn without_likelihood(&self) -> Option<(Vec<Coefficient>, Method)> {
        if !self.has_known_rate {
            return None;
        }
        if let Some(robust) = self.of_real() {
            let source = match self.weighted.is_empty() {
                true if self.is_normal() => Method::RobustMixture,
                true => Method::AsLinked,
                false => Method::Weighted,
            };
            return Some((self.around(robust, source)?, source));
        }
        if let Some(rates) = self.outside_rates() {
            return Some((self.corrected(&rates, &[])?, Method::KnownRate));
        }
        Some(match &self.robust {
            Some(robust) => {
                let corrected = self.corrected(&rates_of(robust), &robust.possible)?;
                (corrected, Method::KnownRate)
            }
            // The responses hold too little of the rate for any correction.
            None => {
                let possible = [0.0, self.largest_rate()];
                let kept = self.corrected(&one_rate(0.0), &possible)?;
                (kept, Method::AsLinked)
            }
        })
    }

    fn is_real(&self) -> bool {
        self.config.model.response_kind() == ResponseKind::Real
    }

    /// Whether the program's coefficients are those of least squares, but for its priors.
    fn is_normal(&self) -> bool {
        self.config.model.family() == Family::Gaussian
    }

    /// The robust mixture of real responses, whose coefficients are those of the responses themselves.
    pub fn of_real(&self) -> Option<&RobustMixtureFit> {
        self.robust.as_ref().filter(|_| self.is_real())
    }

    /// Rates and their weights, where they are known from outside the responses of the file.
    fn outside_rates(&self) -> Option<Vec<(f64, f64)>> {
        let rates = self.config.permutation.prior.rate_grid();
        rates.filter(|_| self.has_outside_rate())
    }

    fn given(&self, name: &str) -> Option<&Coefficient> {
        self.as_linked.iter().find(|given| given.name == name)
    }

    /// The robust mixture, which at the rate 0 is the program with every link kept; or, where the program has an error law of its own,
    /// that program with weights or with every link kept. The interval reaches over those of the robust mixture at all rates that
    /// cannot be excluded, or over that of the estimate for a known rate at what an audit says.
    fn around(&self, robust: &RobustMixtureFit, source: Method) -> Option<Vec<Coefficient>> {
        let estimate = &robust.estimate;
        let beside: Vec<[f64; 2]> = match self.outside_rates() {
            Some(rates) => {
                let fit = self.known_rate(&rates)?;
                fit.q5.into_iter().zip(fit.q95).map(Into::into).collect()
            }
            None => robust.widest.clone(),
        };
        let kept = least_squares(self.data.x.view(), &self.data.response);
        let weight_of_kept: f64 = rates_of(robust)
            .iter()
            .filter(|(rate, _)| *rate == 0.0)
            .map(|(_, weight)| weight)
            .sum();
        let [least_rate, _] = robust.possible;
        let names = self.data.predictor_names.iter().enumerate();
        let around = names.map(|(k, name)| {
            let given = self.given(name);
            let weighted = self.weighted.iter().find(|own| own.name == *name);
            let own = given.map_or(kept.beta[k], |own| own.estimate);
            let centre = match (source, weighted) {
                (Method::Weighted, Some(weighted)) => weighted.estimate,
                (Method::AsLinked, _) => own,
                _ => estimate.mean[k] + weight_of_kept * (own - kept.beta[k]),
            };
            let shift = centre - estimate.mean[k];
            let [low, high] = beside[k];
            let of_mixture = [
                estimate.q5[k].min(low) + shift,
                estimate.q95[k].max(high) + shift,
            ];
            // An error law of its own loses less, or other things, by wrong links than least squares does.
            let is_possible = source != Method::RobustMixture && least_rate == 0.0;
            let with_own = weighted.into_iter().chain(given.filter(|_| is_possible));
            let interval = with_own.fold(of_mixture, |[low, high], own| {
                [low.min(own.q5), high.max(own.q95)]
            });
            recommended(name, centre, interval)
        });
        Some(around.collect())
    }

    /// The program with every link kept, plus what the estimate for a known rate gains at these rates over that at the rate 0. The
    /// interval reaches over those at the possible rates.
    fn corrected(&self, rates: &[(f64, f64)], possible: &[f64]) -> Option<Vec<Coefficient>> {
        let kept = self.known_rate(&one_rate(0.0))?;
        let centre = self.known_rate(rates)?;
        let at_possible: Option<Vec<RateAveraged>> = possible
            .iter()
            .map(|rate| self.known_rate(&one_rate(*rate)))
            .collect();
        let at_possible = at_possible?;
        let names = self.data.predictor_names.iter().enumerate();
        let corrected = names.map(|(k, name)| {
            let (shift, [below, above]) = match self.given(name) {
                Some(own) => (
                    own.estimate - kept.mean[k],
                    [own.estimate - own.q5, own.q95 - own.estimate],
                ),
                None => (0.0, [0.0; 2]),
            };
            let interval = (at_possible.iter().chain([&centre])).fold(
                [f64::INFINITY, f64::NEG_INFINITY],
                |[low, high], fit| {
                    // Of the program and of the estimate that does not rely on its likelihood, the wider one.
                    let below = below.max(fit.mean[k] - fit.q5[k]);
                    let above = above.max(fit.q95[k] - fit.mean[k]);
                    [low.min(fit.mean[k] - below), high.max(fit.mean[k] + above)]
                },
            );
            recommended(
                name,
                centre.mean[k] + shift,
                interval.map(|end| end + shift),
            )
        });
        Some(corrected.collect())
    }

    /// The rate at which the coefficients are corrected where a check fails: that of the robust mixture, or what is known of it where
    /// the correction uses that alone.
    pub fn believed_rate(&self) -> f64 {
        let known = self.outside_rates().filter(|_| self.of_real().is_none());
        if let Some(rates) = known.filter(|_| self.has_known_rate) {
            return rates.iter().map(|(rate, weight)| rate * weight).sum();
        }
        let robust = self.robust.as_ref();
        robust.map_or(0.0, |robust| robust.estimate.rate)
    }

    /// The largest rate that cannot be excluded, by the prior and by the joint posterior. A rate by which most links would be wrong
    /// does not count.
    fn largest_rate(&self) -> f64 {
        let (found, found_high) = self.rate;
        let expected = self.high_rate_expected();
        let largest = match found <= super::MOST_WRONG {
            true => expected.max(found_high),
            false => expected,
        };
        largest.min(LARGEST_RATE)
    }

    /// `HIGH_POINT` of the prior of the rate, given that some link is wrong.
    fn high_rate_expected(&self) -> f64 {
        let Some(grid) = self.config.permutation.prior.rate_grid() else {
            return USUAL_HIGH_RATE;
        };
        let some_wrong = || grid.iter().rev().filter(|(rate, _)| *rate > 0.0);
        let total: f64 = some_wrong().map(|(_, weight)| weight).sum();
        let mut above = 0.0;
        let high = some_wrong().find(|(_, weight)| {
            above += weight / total;
            above >= 1.0 - HIGH_POINT
        });
        high.map_or(0.0, |(rate, _)| *rate)
    }

    /// What the joint posterior is compared with: an estimate that does not rely on the likelihood. For counts and positive
    /// responses its standard deviations are those of the interval over all possible rates: that of a mean on the log scale
    /// understates how far the estimate lies from an efficient one.
    ///
    /// None with groups: their part comes from the joint posterior.
    pub fn beside_joint(&self) -> Option<Vec<Coefficient>> {
        let is_independent = self.has_known_rate && self.data.groups.is_none();
        let robust = self.robust.as_ref().filter(|_| is_independent)?;
        if self.is_real() {
            return Some(self.named(&robust.estimate, Method::RobustMixture));
        }
        self.corrected(&rates_of(robust), &robust.possible)
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

/// The rates of a robust mixture and their weights.
fn rates_of(robust: &RobustMixtureFit) -> Vec<(f64, f64)> {
    let by_rate = robust.estimate.by_rate.iter();
    by_rate.map(|at| (at.rate, at.weight)).collect()
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
            weighted: Vec::new(),
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

    /// Counts with mean exp(1 + x); the first `num_wrong` of them change places.
    fn counts(num_wrong: usize) -> Dataset {
        let mut data = data();
        for (y, x) in data.response.iter_mut().zip(data.x.column(1)) {
            *y = (1.0 + x).exp().round();
        }
        data.response[..num_wrong].rotate_left(num_wrong / 2);
        data
    }

    #[test]
    fn counts_without_a_rate_of_their_own_are_those_of_the_program_with_every_link_kept() {
        let config = config_of("poisson", json!({"name": "beta_binomial"}));
        let data = counts(0);
        let space = LinkSpace::free(data.num_rows());
        // Neither what the joint posterior found nor another estimate of the mean changes this.
        let given = [line(Method::AsLinked, 1.7)];
        for found in [0.2, 0.8] {
            let mut all = ingredients(&config, &data, &space, (found, found), true);
            all.as_linked = &given;
            assert_eq!(all.believed_rate(), 0.0);
            let (slope, method) = slope(all.recommended(false));
            assert_eq!(method, Method::AsLinked);
            assert!((slope.estimate - 1.7).abs() < 1e-9, "{slope:?}");
            assert!(slope.q5 <= 1.54 && slope.q95 > 1.86, "{slope:?}");
        }
    }

    #[test]
    fn counts_are_corrected_at_the_rate_that_their_logarithms_tell() {
        let config = config_of("poisson", json!({"name": "beta_binomial"}));
        let data = counts(20);
        let space = LinkSpace::free(data.num_rows());
        let kept = KnownRate::within(&space)
            .fit(
                ResponseKind::Count,
                data.x.view(),
                &data.response,
                &one_rate(0.0),
            )
            .unwrap();
        // Another program of the same mean, whose coefficients lie elsewhere.
        let given = [line(Method::AsLinked, kept.mean[1] + 0.5)];
        let mut of_logarithms = data.clone();
        for y in &mut of_logarithms.response {
            *y = (*y + 0.5).ln();
        }
        let mut all = ingredients(&config, &data, &space, (0.0, 0.0), true);
        all.robust = robust(&config, &of_logarithms, &space);
        all.as_linked = &given;
        assert!(all.believed_rate() > 0.15, "{}", all.believed_rate());
        let (slope, method) = slope(all.recommended(false));
        assert_eq!(method, Method::KnownRate);
        let correction = slope.estimate - given[0].estimate;
        assert!(correction > 0.15, "{correction}");
        // By as much as the estimate for a known rate is, at the same rates.
        let at_rates = all.known_rate(&rates_of(all.robust.as_ref().unwrap()));
        assert!((correction - (at_rates.unwrap().mean[1] - kept.mean[1])).abs() < 1e-9);
        let beside = all.beside_joint().unwrap();
        assert_eq!(beside[1].estimate, slope.estimate);
    }

    #[test]
    fn the_robust_mixture_is_the_program_itself_where_every_link_is_kept() {
        let (config, data) = (config(json!({"name": "beta_binomial"})), data());
        let space = LinkSpace::free(data.num_rows());
        let given = [line(Method::AsLinked, 2.3)];
        let mut all = ingredients(&config, &data, &space, (0.2, 0.3), true);
        all.robust = robust(&config, &data, &space);
        let (of_least_squares, _) = slope(all.recommended(false));
        all.as_linked = &given;
        let fit = all.robust.as_ref().unwrap();
        let kept = crate::baseline::least_squares(data.x.view(), &data.response).beta[1];
        let weight: f64 = rates_of(fit)[0].1;
        assert!(weight > 0.5, "{weight}");
        let (slope, _) = slope(all.recommended(false));
        let moved = slope.estimate - of_least_squares.estimate;
        assert!((moved - weight * (2.3 - kept)).abs() < 1e-9, "{moved}");
    }

    /// `x` of a program with Student t errors, whose weights were asked for or could not be.
    fn of_student_t(weighted: Vec<Coefficient>) -> (Coefficient, Method, RobustMixtureFit) {
        let config = config_of("student_t", json!({"name": "beta_binomial"}));
        let data = data();
        let space = LinkSpace::free(data.num_rows());
        let given = [line(Method::AsLinked, 3.0)];
        let mut all = ingredients(&config, &data, &space, (0.2, 0.3), true);
        all.robust = robust(&config, &data, &space);
        all.as_linked = &given;
        all.weighted = weighted;
        let (slope, method) = slope(all.recommended(false));
        (slope, method, all.robust.unwrap())
    }

    /// Its coefficients are not those of least squares: 3 with every link kept, where least squares has 2.
    #[test]
    fn a_program_with_an_error_law_of_its_own_is_recommended_with_weights() {
        let (slope, method, robust) = of_student_t(vec![line(Method::Weighted, 3.4)]);
        assert_eq!((slope.estimate, method), (3.4, Method::Weighted));
        // As far as the intervals of the robust mixture at the possible rates, and over both of the program's own.
        let shift = 3.4 - robust.estimate.mean[1];
        assert_eq!(robust.possible[0], 0.0);
        assert!(slope.q5 <= robust.widest[1][0] + shift, "{slope:?}");
        assert!(slope.q95 >= robust.widest[1][1] + shift, "{slope:?}");
        assert!(slope.q5 <= 3.0 - 0.16 && slope.q95 >= 3.4 + 0.16);
        assert!(robust.stays.iter().all(|s| (0.5..=1.0).contains(s)));
    }

    #[test]
    fn without_weights_such_a_program_keeps_its_links() {
        let (slope, method, _) = of_student_t(Vec::new());
        assert_eq!((slope.estimate, method), (3.0, Method::AsLinked));
        assert!(
            slope.q5 <= 3.0 - 0.16 && slope.q95 >= 3.0 + 0.16,
            "{slope:?}"
        );
    }

    #[test]
    fn with_an_audit_counts_are_corrected_at_its_rate() {
        let audit = json!({"name": "beta_binomial", "audit": {"checked": 400, "wrong": 80}});
        let config = config_of("poisson", audit);
        let data = counts(0);
        let space = LinkSpace::free(data.num_rows());
        let mut all = ingredients(&config, &data, &space, (0.0, 0.0), true);
        all.robust = robust(&config, &data, &space);
        let believed = all.believed_rate();
        assert!((believed - 0.2).abs() < 0.01, "{believed}");
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
