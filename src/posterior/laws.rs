//! The law of a response at each row of X, for one draw of the parameters.

use ndarray::{ArrayView1, ArrayView2};
use rand::Rng;

use super::draws::ChainDraws;
use crate::data::Groups;
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
    /// Those whose coefficients differ, where the program is `hierarchical`.
    groups: Option<&'a Groups>,
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
            groups: None,
        };
        draws.if_complete()
    }

    /// With what groups have beside x'beta, by the draws of `u`. None where the draws lack it.
    pub fn with_groups(self, groups: Option<&'a Groups>) -> Option<LawDraws<'a>> {
        LawDraws { groups, ..self }.if_complete()
    }

    fn if_complete(self) -> Option<LawDraws<'a>> {
        let first = self.chains.first()?;
        (first.num_draws() > 0).then_some(())?;
        self.at(first, 0).map(|_| self)
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
        if let Some(groups) = self.groups {
            let deviations = deviations(groups, chain)?;
            let own = groups.part(|place| deviations[place][draw]);
            fitted += &ArrayView1::from(&own);
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

/// The draws of the deviations of the groups: of each group, in the order of the columns of z.
fn deviations<'a>(groups: &Groups, chain: &'a ChainDraws) -> Option<&'a [Vec<f64>]> {
    chain.matrix("u", groups.z.ncols(), groups.levels.len())
}

/// What the group of each row adds to x'beta, as a mean of the draws; None where these lack it.
pub fn mean_group_part(groups: &Groups, chains: &[ChainDraws]) -> Option<Vec<f64>> {
    let of_chains: Option<Vec<&[Vec<f64>]>> =
        chains.iter().map(|c| deviations(groups, c)).collect();
    let of_chains = of_chains?;
    let num_draws: usize = chains.iter().map(ChainDraws::num_draws).sum();
    let places = groups.z.ncols() * groups.levels.len();
    let means: Vec<f64> = (0..places)
        .map(|place| {
            let draws = of_chains.iter().flat_map(|chain| &chain[place]);
            draws.sum::<f64>() / num_draws.max(1) as f64
        })
        .collect();
    Some(groups.part(|place| means[place]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    fn draws(names: &[&str], columns: Vec<Vec<f64>>) -> ChainDraws {
        ChainDraws {
            chain: 1,
            max_depth: 10,
            num_warmup: 0,
            warmup_seconds: 0.0,
            sampling_seconds: 0.0,
            names: names.iter().map(ToString::to_string).collect(),
            columns,
        }
    }

    /// Two groups with an intercept and a slope of their own; u[l, j] is 10 j + l in the first draw and 0 in the second.
    #[test]
    fn groups_have_their_own_part_of_the_fitted_value() {
        let names = ["beta.1", "sigma2", "u.1.1", "u.2.1", "u.1.2", "u.2.2"];
        let columns = [1.0, 4.0, 11.0, 12.0, 21.0, 22.0].map(|first| vec![first, 0.0]);
        let chain = draws(&names, columns.to_vec());
        let chains = [chain];
        let groups = Groups {
            column: "school".into(),
            of_row: vec![0, 1, 1],
            levels: vec!["a".into(), "b".into()],
            names: vec!["(Intercept)".into(), "x".into()],
            z: array![[1.0, 0.5], [1.0, -1.0], [1.0, 2.0]],
        };
        let x = array![[1.0], [1.0], [1.0]];
        let laws = LawDraws::new(Family::Gaussian, x.view(), None, &chains, None).unwrap();
        let laws = laws.with_groups(Some(&groups)).unwrap();
        let at = laws.at(&chains[0], 0).unwrap();
        let fitted: Vec<f64> = at.laws.iter().map(|law| law.fitted).collect();
        assert_eq!(
            fitted,
            [1.0 + 11.0 + 6.0, 1.0 + 21.0 - 22.0, 1.0 + 21.0 + 44.0]
        );
        let part = mean_group_part(&groups, &chains).unwrap();
        assert_eq!(part, [8.5, -0.5, 32.5]);
        // Draws without them.
        let plain = [draws(&names[..2], vec![vec![1.0], vec![4.0]])];
        let laws = LawDraws::new(Family::Gaussian, x.view(), None, &plain, None).unwrap();
        assert!(laws.with_groups(Some(&groups)).is_none());
        assert!(mean_group_part(&groups, &plain).is_none());
    }
}
