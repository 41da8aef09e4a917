//! Which findings a run gives rise to.

use super::energy::e_bfmi;
use super::finding::{Finding, MAX_R_HAT, MIN_E_BFMI, Names, Worst, min_ess};
use super::summary::SummaryRow;

/// What the checks need to know of a run after warm-up.
#[derive(Clone, Debug)]
pub struct RunRecord<'a> {
    pub max_depth: u32,
    pub chains: Vec<ChainRecord<'a>>,
    /// The quantities whose convergence matters; leave out the sampler's own columns, such as `stepsize__`.
    pub quantities: &'a [SummaryRow],
}

#[derive(Clone, Debug)]
pub struct ChainRecord<'a> {
    pub num_draws: usize,
    pub num_divergences: usize,
    pub num_treedepth_hits: usize,
    /// The column `energy__`; empty if the run has none, and then not checked.
    pub energies: &'a [f64],
}

/// All findings, in the order in which a person should act on them.
pub fn check(run: &RunRecord) -> Vec<Finding> {
    let total = |count: fn(&ChainRecord) -> usize| run.chains.iter().map(count).sum::<usize>();
    let num_draws = total(|chain| chain.num_draws);
    let num_divergences = total(|chain| chain.num_divergences);
    let num_hits = total(|chain| chain.num_treedepth_hits);
    let mut findings = Vec::new();
    if num_divergences > 0 {
        findings.push(Finding::Divergences {
            num_divergences,
            num_draws,
        });
    }
    if num_hits > 0 {
        findings.push(Finding::TreedepthHits {
            num_hits,
            num_draws,
            max_depth: run.max_depth,
        });
    }

    let min_ess = min_ess(run.chains.len());
    let known = |number: fn(&SummaryRow) -> Option<f64>| {
        run.quantities
            .iter()
            .filter_map(move |row| Some((row.name.clone(), number(row)?)))
    };
    findings.extend(Worst::above(MAX_R_HAT, known(|row| row.r_hat)).map(Finding::HighRHat));
    findings.extend(Worst::below(min_ess, known(|row| row.ess_bulk)).map(Finding::LowBulkEss));
    findings.extend(Worst::below(min_ess, known(|row| row.ess_tail)).map(Finding::LowTailEss));

    let mut e_bfmis = Vec::new();
    let mut not_judged = Vec::new();
    for (id, chain) in (1..)
        .zip(&run.chains)
        .filter(|(_, chain)| !chain.energies.is_empty())
    {
        match e_bfmi(chain.energies) {
            Some(e_bfmi) => e_bfmis.push((format!("chain {id}"), e_bfmi)),
            None => not_judged.push(format!("energy__ of chain {id}")),
        }
    }
    findings.extend(Worst::below(MIN_E_BFMI, e_bfmis).map(Finding::LowEBfmi));

    let names = |of: fn(&SummaryRow) -> bool| {
        let found = run.quantities.iter().filter(move |row| of(row));
        found.map(|row| row.name.clone())
    };
    not_judged.extend(names(|row| !row.is_judged()));
    findings.extend(Names::first(not_judged).map(Finding::NotJudged));
    let constant = names(SummaryRow::is_constant).collect();
    findings.extend(Names::first(constant).map(Finding::Constant));
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Alternating energies have E-BFMI near 4.
    const ENERGIES: [f64; 6] = [1.0, 2.0, 1.0, 2.0, 1.0, 2.0];
    /// A slow walk: the squared steps are 1, the variance is 8.25 * 10 / 9.
    const SLOW_ENERGIES: [f64; 10] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0];

    fn good_chain() -> ChainRecord<'static> {
        ChainRecord {
            num_draws: 1000,
            num_divergences: 0,
            num_treedepth_hits: 0,
            energies: &ENERGIES,
        }
    }

    fn good_row(name: &str) -> SummaryRow {
        let mut numbers = [Some(1.0); 11];
        numbers[7..9].fill(Some(400.0));
        numbers[10] = Some(1.01);
        SummaryRow::from_numbers(name.to_owned(), numbers)
    }

    /// The findings on four good chains and one good quantity after a change to them.
    fn findings_after(
        change: impl FnOnce(&mut Vec<ChainRecord>, &mut Vec<SummaryRow>),
    ) -> Vec<Finding> {
        let mut chains = vec![good_chain(); 4];
        let mut quantities = vec![good_row("beta.1")];
        change(&mut chains, &mut quantities);
        check(&RunRecord {
            max_depth: 10,
            chains,
            quantities: &quantities,
        })
    }

    fn worst(name: &str, value: f64, limit: f64) -> Worst {
        Worst {
            named: vec![(name.to_owned(), value)],
            num_more: 0,
            limit,
        }
    }

    #[test]
    fn a_run_on_the_good_side_of_every_limit_has_no_findings() {
        assert_eq!(findings_after(|_, _| ()), []);
        assert_eq!(
            findings_after(|chains, _| chains.iter_mut().for_each(|chain| chain.energies = &[])),
            []
        );
    }

    #[test]
    fn divergences_and_treedepth_hits_are_counted_over_chains() {
        let findings = findings_after(|chains, _| {
            chains[0].num_divergences = 2;
            chains[3].num_divergences = 1;
            chains[1].num_treedepth_hits = 7;
        });
        let expected = [
            Finding::Divergences {
                num_divergences: 3,
                num_draws: 4000,
            },
            Finding::TreedepthHits {
                num_hits: 7,
                num_draws: 4000,
                max_depth: 10,
            },
        ];
        assert_eq!(findings, expected);
    }

    #[test]
    fn each_limit_on_a_quantity_has_its_finding() {
        let r_hat = findings_after(|_, rows| rows[0].r_hat = Some(1.0101));
        assert_eq!(r_hat, [Finding::HighRHat(worst("beta.1", 1.0101, 1.01))]);
        let bulk = findings_after(|_, rows| rows[0].ess_bulk = Some(399.0));
        assert_eq!(bulk, [Finding::LowBulkEss(worst("beta.1", 399.0, 400.0))]);
        let tail = findings_after(|_, rows| rows[0].ess_tail = Some(399.0));
        assert_eq!(tail, [Finding::LowTailEss(worst("beta.1", 399.0, 400.0))]);
    }

    #[test]
    fn the_limit_on_ess_is_per_chain() {
        let findings = findings_after(|chains, rows| {
            chains.truncate(2);
            rows[0].ess_bulk = Some(200.0);
        });
        assert_eq!(findings, []);
    }

    #[test]
    fn slow_energies_are_found_per_chain() {
        let findings = findings_after(|chains, _| chains[2].energies = &SLOW_ENERGIES);
        let [Finding::LowEBfmi(worst)] = findings.as_slice() else {
            panic!("{findings:?}")
        };
        assert_eq!(worst.named.len(), 1);
        assert_eq!(worst.named[0].0, "chain 3");
        assert!((worst.named[0].1 - 6.0 / 55.0).abs() < 1e-15);
    }

    #[test]
    fn a_constant_is_listed_but_no_problem() {
        let findings = findings_after(|_, rows| {
            rows[0] = SummaryRow::from_numbers("fixed".into(), [None; 11]);
            rows[0].sd = Some(0.0);
        });
        assert_eq!(
            findings,
            [Finding::Constant(Names {
                named: vec!["fixed".into()],
                num_more: 0
            })]
        );
        assert!(!findings[0].is_problem());
    }

    #[test]
    fn a_varying_quantity_or_an_energy_without_numbers_cannot_be_judged() {
        let findings = findings_after(|chains, rows| {
            rows[0].ess_tail = None;
            rows.push(SummaryRow::from_numbers("broken".into(), [None; 11]));
            chains[1].energies = &[1.0, 1.0, 1.0];
        });
        let named = ["energy__ of chain 2", "beta.1", "broken"]
            .map(String::from)
            .to_vec();
        assert_eq!(findings, [Finding::NotJudged(Names { named, num_more: 0 })]);
        assert!(findings[0].is_problem());
    }

    #[test]
    fn only_the_five_worst_are_named_worst_first() {
        let findings = findings_after(|_, rows| {
            *rows = (1..=8).map(|i| good_row(&format!("theta.{i}"))).collect();
            rows.iter_mut()
                .zip(1..)
                .for_each(|(row, i)| row.r_hat = Some(1.0 + 0.01 * f64::from(i)));
            rows[2].r_hat = Some(f64::INFINITY);
        });
        let [Finding::HighRHat(worst)] = findings.as_slice() else {
            panic!("{findings:?}")
        };
        let names: Vec<&str> = worst.named.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            names,
            ["theta.3", "theta.8", "theta.7", "theta.6", "theta.5"]
        );
        assert_eq!(worst.num_more, 2);
    }
}
