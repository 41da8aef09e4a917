//! Other estimators of the same coefficients, beside a fit: baselines.csv and known_rate.csv.

use super::{FitError, Prepared};
use crate::baseline::Baseline;
use crate::baseline::compare::{self, KnownRateBaseline};
use crate::config::{Family, ResponseKind};
use crate::posterior::{Folder, Posterior};

impl Prepared {
    /// Why further estimators find nothing to compare with the fit, one sentence for each reason.
    pub fn nothing_to_compare(&self) -> Vec<String> {
        let mut reasons = Vec::new();
        let label = self.model.label();
        if !self.is_real() && self.known_rate().is_none_or(|k| k.estimates().is_empty()) {
            reasons.push(format!(
                "least squares and its like estimate differences of means, not the coefficients of {label}; leave --compare out"
            ));
        }
        if !self.has_coefficients() {
            reasons.push(format!(
                "{label} has no `vector[D] beta` with one entry for each of the {} columns of X; rename its coefficients so, or leave --compare out",
                self.data.x.ncols()
            ));
        }
        reasons
    }

    /// Which estimators are not set beside the fit though they would apply to rows that count once.
    pub fn left_out_of_comparison(&self) -> Option<&'static str> {
        if self.data.weights.is_none() && self.data.offset.is_some() {
            return Some(
                "the row mixture and the estimate for a known rate take no offset (data.offset), so they are left out; least squares \
                 and its like are those of the response less the offset",
            );
        }
        self.data.weights.as_ref().map(|_| {
            "Huber's estimator, the row mixture, the quantile regression and the estimate for a known rate take no survey weights \
             (data.weights), so they are left out; weighted least squares and the same model with the links as given have them"
        })
    }

    /// Writes baselines.csv and known_rate.csv, as far as they apply.
    pub(super) fn compare(
        &self,
        posterior: &mut Posterior,
        with_further: bool,
    ) -> Result<(), FitError> {
        let known_rate = self.known_rate();
        let comparable = self.is_real() && self.has_coefficients();
        if comparable {
            let methods = self.methods(with_further);
            posterior.baselines = compare::baselines(&self.data, &methods);
        }
        let folder = &posterior.folder;
        if let Some(known_rate) = &known_rate {
            posterior.rate_curve = known_rate.curve();
            let path = folder.file(Folder::KNOWN_RATE);
            compare::write_known_rate(&path, &posterior.rate_curve)?;
            if with_further {
                posterior.baselines.extend(known_rate.estimates());
            }
        }
        if comparable || !posterior.baselines.is_empty() {
            compare::write_baselines(&folder.file(Folder::BASELINES), &posterior.baselines)?;
        }
        Ok(())
    }

    /// The estimators beside the fit. A fit of a quantile is also set beside an estimator of that quantile.
    fn methods(&self, with_further: bool) -> Vec<Baseline> {
        let mut methods = vec![Baseline::LeastSquares];
        if with_further {
            methods.extend([Baseline::Huber, Baseline::Mixture]);
            if let Family::AsymmetricLaplace { tau } = self.config.model.family() {
                methods.push(Baseline::Quantile { tau });
            }
        }
        methods
    }

    /// The estimator for a known rate of wrong links, where it applies.
    pub(super) fn known_rate(&self) -> Option<KnownRateBaseline<'_>> {
        if self.no_exchange().is_some() {
            return None;
        }
        let output_names = self.model.output_names();
        KnownRateBaseline::new(&self.config, &self.data, self.prior.space(), output_names)
    }

    pub(super) fn is_real(&self) -> bool {
        self.config.model.response_kind() == ResponseKind::Real
    }

    /// Whether the program has one `beta` for each column of X.
    pub(super) fn has_coefficients(&self) -> bool {
        compare::has_coefficients(&self.data, self.model.output_names())
    }
}
