//! A finished fit: its draws, what they say of each quantity and each link, what is wrong with them, and its output folder.

mod coefficients;
mod comparison;
mod damage;
mod data_summary;
pub mod diagnostics;
pub mod draws;
mod error;
#[cfg(test)]
mod findings_tests;
mod folder;
mod laws;
pub mod links;
mod lock;
mod names;
mod predictive;
mod read;
mod record;
mod rows;
mod status;
pub mod summary;
mod trust;

use std::path::Path;
use std::sync::OnceLock;

use crate::baseline::compare::{Estimate, KNOWN_RATE, RatePoint};
use crate::config::Config;
use crate::data::{Dataset, Truth};
use crate::sampler::chain::ChainOutcome;

pub(crate) use coefficients::coefficients_csv;
pub use coefficients::{Coefficient, Method};
pub use comparison::beside_fit;
pub use damage::DamagedFile;
pub use data_summary::{DataSummary, SurveySummary};
use diagnostics::{Finding, SummaryRow};
use draws::ChainDraws;
pub use error::PosteriorError;
pub use folder::{ExportFolder, Folder};
pub use laws::{LawDraws, RowLaws, mean_group_part};
use links::LinksSummary;
pub use lock::{ChainLock, FolderLock};
pub use predictive::Predictive;
pub use record::{Diagnostics, Versions};
pub use rows::Row;
pub use status::{FitState, Status};
pub use trust::{Aspect, Check, Rates, Trust, WrongAlong};

/// A finished, or interrupted, fit: in memory as the fit leaves it, or read from its output folder.
pub struct Posterior {
    /// The output folder, which a fit in memory has not written.
    pub folder: Folder,
    /// The config with every default written out.
    pub config: Config,
    /// Versions of what made the fit.
    pub versions: Versions,
    /// The text of the Stan program; None for fits of older versions.
    pub program: Option<String>,
    /// None for fits of older versions.
    pub data: Option<DataSummary>,
    /// None for fits of older versions, and while a fit is at work.
    pub status: Option<Status>,
    /// The files of the finished fit that are gone, cut short or changed.
    pub damaged: Vec<DamagedFile>,
    /// None for a fit that was killed.
    pub diagnostics: Option<Diagnostics>,
    /// The draws of each chain that has any.
    pub chains: Vec<ChainDraws>,
    /// None where every link was kept.
    pub links: Option<LinksSummary>,
    /// As many as the data have where links were updated, else none.
    pub rows: Vec<Row>,
    /// Least squares and other estimators of the same coefficients.
    pub baselines: Vec<Estimate>,
    /// Coefficients by the rate of wrong links that one believes in; empty where that estimator does not apply.
    pub rate_curve: Vec<RatePoint>,
    /// None for fits of older versions, and interrupted ones.
    pub trust: Option<Trust>,
    /// The estimates by method, the recommended ones first.
    pub coefficients: Vec<Coefficient>,
    /// Densities of data sets that the posterior predicts, where the law is known.
    pub predictive: Option<Predictive>,
    summary: OnceLock<Vec<SummaryRow>>,
    findings: OnceLock<Vec<Finding>>,
    estimates: OnceLock<Vec<Estimate>>,
}

impl Posterior {
    /// The posterior of a fit with these draws, of which nothing else is known yet.
    pub fn of(folder: Folder, config: Config, chains: Vec<ChainDraws>) -> Posterior {
        Posterior {
            folder,
            config,
            versions: Versions::default(),
            program: None,
            data: None,
            status: None,
            damaged: Vec::new(),
            diagnostics: None,
            chains,
            links: None,
            rows: Vec::new(),
            baselines: Vec::new(),
            rate_curve: Vec::new(),
            trust: None,
            coefficients: Vec::new(),
            predictive: None,
            summary: OnceLock::new(),
            findings: OnceLock::new(),
            estimates: OnceLock::new(),
        }
    }

    /// The posterior of the fit in an output folder.
    pub fn read(folder: &Path) -> Result<Posterior, PosteriorError> {
        read::read(folder)
    }

    /// The coefficients by one method, under the user's names.
    pub fn coefficients_by(&self, method: Method) -> impl Iterator<Item = &Coefficient> {
        self.coefficients.iter().filter(move |c| c.method == method)
    }

    /// One row for `lp__` and one for each saved quantity. R-hat and effective sample sizes are computed here, and once.
    pub fn summary(&self) -> &[SummaryRow] {
        self.summary.get_or_init(|| summary::rows(&self.chains))
    }

    /// What is wrong with the draws, in the order in which a person should act on it.
    pub fn findings(&self) -> &[Finding] {
        self.findings.get_or_init(|| {
            let summary = self.summary();
            let mut findings = Vec::from_iter(self.missing_draws());
            findings.extend(summary::findings(&self.chains, summary));
            findings.extend(self.links.as_ref().and_then(LinksSummary::findings));
            let outcomes = self.outcomes().iter();
            let drifts = outcomes.filter_map(|chain| Some((chain.chain, chain.drift?)));
            findings.extend(summary::drift_findings(drifts));
            let priors = self.data.as_ref().and_then(|data| data.priors.as_ref());
            findings.extend(summary::prior_findings(priors, summary));
            findings
        })
    }

    /// Whether there are fewer draws than the config asks for.
    fn missing_draws(&self) -> Option<Finding> {
        let sampler = &self.config.sampler;
        let num_asked = sampler.chains * sampler.draws.div_ceil(sampler.thin);
        let num_draws = self.num_draws();
        (num_draws < num_asked).then_some(Finding::Unfinished {
            num_draws,
            num_asked,
        })
    }

    /// The findings on the draws, and what contradicts the model behind the links.
    pub fn all_findings(&self) -> Vec<Finding> {
        let contradiction = self.trust.as_ref().and_then(Trust::finding);
        let findings = self.findings().iter().cloned();
        findings.chain(contradiction).collect()
    }

    /// The same in the names that the user knows.
    pub fn named_findings(&self) -> Vec<Finding> {
        let findings = self.all_findings().into_iter();
        let named = findings.map(|finding| finding.renamed(|name| self.name_of(name)));
        named.collect()
    }

    /// Sets the rows of the data, with what the posterior mean predicts.
    pub(crate) fn set_rows(&mut self, data: &Dataset) {
        if let Some(links) = &self.links {
            let kind = self.config.model.response_kind();
            let fitted = summary::fitted_values(self.summary(), &data.with_places(), kind);
            self.rows = rows::rows(data, links, fitted.as_deref());
        }
    }

    /// The baselines, then this fit; empty without baselines, and for a program without coefficients.
    pub fn estimates(&self) -> &[Estimate] {
        self.estimates
            .get_or_init(|| self.estimates_and(None).unwrap_or_default())
    }

    /// The baselines, then this fit, then the truth where it is known. Where a check of the model failed, the recommended
    /// coefficients stand beside the joint posterior.
    pub fn estimates_and(&self, truth: Option<&Truth>) -> Option<Vec<Estimate>> {
        let mut estimates = beside_fit(self.baselines.clone(), self.summary(), truth)?;
        if self.trust.as_ref().is_some_and(|trust| !trust.trusted) {
            comparison::recommend(&mut estimates, self.coefficients_by(Method::Recommended));
        }
        Some(estimates)
    }

    /// The method that takes the links as given: the first baseline, unless it corrects for a rate of wrong links.
    pub fn as_linked(&self) -> Option<&str> {
        let first = self.estimates().first()?.method.as_str();
        (first != KNOWN_RATE).then_some(first)
    }

    /// Counts and times of each chain; none for a fit that was killed.
    pub fn outcomes(&self) -> &[ChainOutcome] {
        let diagnostics = self.diagnostics.as_ref();
        diagnostics.map_or(&[], |known| &known.chains)
    }

    /// The time of sampling and summarising; unknown for a fit that was killed.
    pub fn seconds(&self) -> Option<f64> {
        self.diagnostics.as_ref().map(|known| known.seconds)
    }

    /// Whether the fit was interrupted, killed or failed before it had all its draws.
    pub fn is_interrupted(&self) -> bool {
        let diagnostics = self.diagnostics.as_ref();
        let status = self.status.as_ref();
        diagnostics.is_some_and(|known| known.interrupted)
            || status.is_some_and(|status| status.state != FitState::Finished)
    }

    /// The number of draws of all chains.
    pub fn num_draws(&self) -> usize {
        self.chains.iter().map(ChainDraws::num_draws).sum()
    }

    /// Chain and draw, both from 0, of the `index`-th of all draws.
    pub fn place(&self, mut index: usize) -> (usize, usize) {
        for (chain, draws) in self.chains.iter().enumerate() {
            if index < draws.num_draws() {
                return (chain, index);
            }
            index -= draws.num_draws();
        }
        panic!("there are only {} draws", self.num_draws());
    }

    /// The summary of a quantity by its name in summary.csv.
    pub fn quantity(&self, name: &str) -> Option<&SummaryRow> {
        self.summary().iter().find(|row| row.name == name)
    }

    /// The number of rows of the data; unknown for a fit of an older version that kept its links and was killed.
    pub fn num_rows(&self) -> Option<usize> {
        let recorded = self.diagnostics.as_ref().and_then(|known| known.num_rows);
        let linked = self.links.as_ref().map(LinksSummary::num_rows);
        let of_data = self.data.as_ref().map(|data| data.num_rows);
        linked.or(recorded).or(of_data)
    }
}

#[cfg(test)]
impl Posterior {
    /// Summary, findings and estimates are computed anew after a test has changed what they are computed from.
    pub(crate) fn forget_summary(&mut self) {
        self.summary = OnceLock::new();
        self.findings = OnceLock::new();
        self.estimates = OnceLock::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fit that was asked for two chains of five draws, of which it kept every second.
    fn with_draws(num_draws: &[usize]) -> Posterior {
        let text = r#"{"model": {"stan": "linear"}, "data": {"file": "a.csv", "formula": "y ~ x"},
            "sampler": {"chains": 2, "draws": 5, "thin": 2}}"#;
        let config = crate::config::parse(text, Path::new("/fit/config.json"), &[]).unwrap();
        let chain = |(k, num_draws): (usize, &usize)| ChainDraws {
            chain: k + 1,
            names: vec!["lp__".into()],
            columns: vec![(0..*num_draws).map(|draw| draw as f64).collect()],
            ..ChainDraws::default()
        };
        let chains = num_draws.iter().enumerate().map(chain).collect();
        Posterior::of(Folder::new("/fit"), config, chains)
    }

    #[test]
    fn fewer_draws_than_were_asked_for_are_a_problem() {
        assert_eq!(with_draws(&[3, 3]).missing_draws(), None);
        for num_draws in [&[3, 2][..], &[3], &[]] {
            let finding = with_draws(num_draws).missing_draws();
            let expected = Finding::Unfinished {
                num_draws: num_draws.iter().sum(),
                num_asked: 6,
            };
            assert_eq!(finding.as_ref(), Some(&expected));
            assert!(expected.is_problem());
        }
        assert!(matches!(
            with_draws(&[3]).findings()[0],
            Finding::Unfinished { .. }
        ));
    }
}
