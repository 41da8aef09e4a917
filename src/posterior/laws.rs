//! The law of a response at each row of X, for one draw of the parameters.

use ndarray::{ArrayView1, ArrayView2};
use rand::Rng;

use super::draws::ChainDraws;
use crate::model::{Family, Law, LogSpread, Source};

/// The laws of all rows of X.
#[derive(Debug, Clone)]
pub struct RowLaws {
    pub laws: Vec<Law>,
}

impl RowLaws {
    /// A response of each row.
    pub fn draw(&self, rng: &mut impl Rng) -> Vec<f64> {
        self.laws.iter().map(|law| law.draw(rng)).collect()
    }
}

/// The posterior draws of everything that the laws of the rows of `x` need. These may be rows that were not fitted.
pub struct LawDraws<'a> {
    family: Family,
    x: ArrayView2<'a, f64>,
    /// What is added to x'beta, row by row.
    offset: Option<&'a [f64]>,
    chains: &'a [ChainDraws],
    /// The log spread of the program whose spread depends on the predictors.
    spread: Option<&'a LogSpread>,
}

impl<'a> LawDraws<'a> {
    /// None where the draws lack one `beta` for each column of X, a scale, or a parameter of the family.
    pub fn new(
        family: Family,
        x: ArrayView2<'a, f64>,
        offset: Option<&'a [f64]>,
        chains: &'a [ChainDraws],
        spread: Option<&'a LogSpread>,
    ) -> Option<LawDraws<'a>> {
        if matches!(family, Family::Robust { .. }) && spread.is_none() {
            return None;
        }
        let draws = LawDraws {
            family,
            x,
            offset,
            chains,
            spread,
        };
        let first = chains.first()?;
        (first.num_draws() > 0).then_some(())?;
        draws.at(first, 0).map(|_| draws)
    }

    pub fn num_draws(&self) -> usize {
        self.chains.iter().map(ChainDraws::num_draws).sum()
    }

    /// A draw of all chains by its number: its chain, and its number there.
    pub fn place(&self, mut number: usize) -> (&'a ChainDraws, usize) {
        for chain in self.chains {
            if number < chain.num_draws() {
                return (chain, number);
            }
            number -= chain.num_draws();
        }
        panic!("fewer draws than were counted");
    }

    pub fn beta(&self, chain: &ChainDraws, draw: usize) -> Option<Vec<f64>> {
        let entry = |k: usize| Some(chain.column(&format!("beta.{k}"))?[draw]);
        (1..=self.x.ncols()).map(entry).collect()
    }

    pub fn at(&self, chain: &ChainDraws, draw: usize) -> Option<RowLaws> {
        let value = |name: &str| chain.column(name).map(|column| column[draw]);
        let scale = || {
            let variance = value("sigma2").map(f64::sqrt);
            variance.or_else(|| value("sigma"))
        };
        let family = match self.family.parameter_of(Source::Program) {
            Some(parameter) => self.family.with_parameter(value(parameter.name)?),
            None => self.family,
        };
        let scale = match family.facts().is_additive {
            true => scale()?,
            false => 1.0,
        };
        let beta = self.beta(chain, draw)?;
        let mut fitted = self.x.dot(&ArrayView1::from(&beta));
        if let Some(offset) = self.offset {
            fitted += &ArrayView1::from(offset);
        }
        let mut scales = vec![scale; fitted.len()];
        if let Some(spread) = self.spread {
            let entry = |k: usize| value(&format!("gamma.{k}"));
            let gamma: Option<Vec<f64>> = (1..=spread.num_columns()).map(entry).collect();
            spread.fill(self.x, scale, &gamma?, &mut scales);
        }
        let law = |(&fitted, &scale): (&f64, &f64)| family.at(fitted, scale);
        Some(RowLaws {
            laws: fitted.iter().zip(&scales).map(law).collect(),
        })
    }
}
