//! Every kind of finding is raised by a fit that has what it finds, and by no fit without.

use std::collections::BTreeSet;
use std::mem::{Discriminant, discriminant};
use std::path::Path;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::json;

use super::*;
use crate::data::Notes;
use crate::posterior::draws::MovedRow;
use crate::posterior::links::RowNumbers;
use crate::sampler::chain::Drift;

const NUM_DRAWS: usize = 400;
const MAX_DEPTH: usize = 10;

/// A fit in which nothing is wrong: two chains of independent draws whose links, priors and checks agree.
fn good() -> Posterior {
    let text = r#"{"model": {"stan": "linear"}, "data": {"file": "a.csv", "formula": "y ~ x"},
        "sampler": {"chains": 2, "draws": 400}}"#;
    let config = crate::config::parse(text, Path::new("/fit/config.json"), &[]).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(14);
    let mut chain = |chain: usize| {
        let mut independent = || -> Vec<f64> { (0..NUM_DRAWS).map(|_| rng.random()).collect() };
        let columns = [
            ("lp__", independent()),
            ("energy__", independent()),
            ("divergent__", vec![0.0; NUM_DRAWS]),
            ("treedepth__", vec![3.0; NUM_DRAWS]),
            ("beta.1", independent()),
        ];
        let (names, columns) = columns.into_iter().unzip::<_, _, Vec<_>, _>();
        ChainDraws {
            chain,
            max_depth: MAX_DEPTH,
            names: names.into_iter().map(str::to_string).collect(),
            columns,
            ..ChainDraws::default()
        }
    };
    let mut fit = Posterior::of(Folder::new("/fit"), config, vec![chain(1), chain(2)]);
    fit.links = Some(links([3, 3]));
    fit.diagnostics = Some(Diagnostics {
        chains: vec![outcome(None), outcome(None)],
        ..Diagnostics::default()
    });
    fit.data = Some(DataSummary {
        predictor_names: vec!["x".into()],
        response_names: None,
        notes: Notes::default(),
        num_rows: 3,
        num_movable: 3,
        num_blocks: None,
        num_safe: None,
        num_candidate_pairs: None,
        survey: None,
        rate_names: None,
        places: None,
        priors: Some(prior_at(0.0)),
        spread: None,
    });
    fit.trust = Some(trust(true));
    fit
}

/// Two rows that are exchanged in one of so many draws, by chain; never where that is 0.
fn links(one_of: [usize; 2]) -> LinksSummary {
    let chains = one_of.map(|one_of| {
        let moved = (1..=NUM_DRAWS)
            .filter(|draw| one_of > 0 && draw % one_of == 0)
            .flat_map(|draw| {
                [(1, 2), (2, 1)].map(|(row, linked_to)| MovedRow {
                    draw,
                    row,
                    linked_to,
                })
            });
        (NUM_DRAWS, moved.collect())
    });
    LinksSummary::count(&chains, RowNumbers::new(&[1, 2, 3]))
}

fn outcome(drift: Option<Drift>) -> ChainOutcome {
    let outcome = json!({
        "chain": 1, "num_draws": NUM_DRAWS, "num_divergences": 0, "num_divergences_warmup": 0, "num_treedepth_hits": 0,
        "num_gradients": 1000, "step_size": 0.5, "warmup_seconds": 1.0, "sampling_seconds": 1.0,
        "step_one_seconds": 1.0, "step_two_seconds": 1.0, "interrupted": false,
    });
    ChainOutcome {
        drift,
        ..serde_json::from_value(outcome).unwrap()
    }
}

fn prior_at(location: f64) -> crate::priors::PriorsUsed {
    let line = json!({"quantity": "beta.1", "label": "slope", "law": "normal", "location": location, "scale": 1.0});
    serde_json::from_value(json!({"numbers": "paper", "lines": [line]})).unwrap()
}

fn trust(trusted: bool) -> Trust {
    Trust {
        trusted,
        source: Method::Joint,
        weight: 1.0,
        checks: Vec::new(),
        sentence: "Errors are no normal ones.".into(),
        rates: None,
        wrong_along: Vec::new(),
    }
}

/// What makes a fit raise each kind of finding. A new kind does not compile before it has its line here.
fn spoil(kind: &Finding, fit: &mut Posterior) {
    let column =
        |fit: &mut Posterior, chain: usize, name: &str, change: &mut dyn FnMut(usize, &mut f64)| {
            let chain = &mut fit.chains[chain];
            let k = chain.names.iter().position(|known| known == name).unwrap();
            let values = chain.columns[k].iter_mut().enumerate();
            values.for_each(|(draw, value)| change(draw, value));
        };
    match kind {
        Finding::Unfinished { .. } => {
            let columns = fit.chains[1].columns.iter_mut();
            columns.for_each(|column| column.truncate(NUM_DRAWS - 1));
        }
        Finding::TreedepthHits { .. } => {
            column(fit, 0, "treedepth__", &mut |draw, depth| {
                *depth += f64::from(draw == 7) * (MAX_DEPTH as f64 - 3.0);
            });
        }
        Finding::Divergences { .. } => {
            column(fit, 1, "divergent__", &mut |draw, value| {
                *value = f64::from(draw == 7)
            });
        }
        Finding::LowEBfmi(_) => {
            column(fit, 0, "energy__", &mut |draw, value| *value = draw as f64);
        }
        // Draws that wander once from low to high have few effective ones.
        Finding::LowBulkEss(_) | Finding::LowTailEss(_) => {
            let mut wander =
                |draw: usize, value: &mut f64| *value = 0.1 * *value + draw as f64 / 100.0;
            column(fit, 0, "beta.1", &mut wander);
            column(fit, 1, "beta.1", &mut wander);
        }
        Finding::HighRHat(_) => column(fit, 1, "beta.1", &mut |_, value| *value += 0.5),
        Finding::NotJudged(_) => {
            column(fit, 1, "beta.1", &mut |draw, value| {
                if draw == 7 {
                    *value = f64::NAN;
                }
            });
        }
        Finding::Constant(_) => {
            column(fit, 0, "beta.1", &mut |_, value| *value = 1.0);
            column(fit, 1, "beta.1", &mut |_, value| *value = 1.0);
        }
        Finding::LinksDisagree(_) => fit.links = Some(links([1, 0])),
        Finding::LinksDrift(_) => {
            let drift = Drift {
                before: 40.0,
                after: 52.5,
            };
            fit.diagnostics.as_mut().unwrap().chains[1] = outcome(Some(drift));
        }
        Finding::PriorAgainstData(_) => fit.data.as_mut().unwrap().priors = Some(prior_at(-4.0)),
        Finding::Contradicted(_) => fit.trust = Some(trust(false)),
    }
}

/// One finding of each kind, as it is saved.
fn every_kind() -> Vec<Finding> {
    let worst = json!({"names": ["a"], "values": [1.0], "num_more": 0, "limit": 1.0});
    let names = json!({"names": ["a"], "num_more": 0});
    let counts = json!({
        "num_draws": 1, "num_asked": 2, "num_hits": 1, "max_depth": 10, "num_divergences": 1, "sentence": "So it is."
    });
    let kinds = [
        ("unfinished", &counts),
        ("treedepth_hits", &counts),
        ("divergences", &counts),
        ("low_e_bfmi", &worst),
        ("low_bulk_ess", &worst),
        ("low_tail_ess", &worst),
        ("high_r_hat", &worst),
        ("links_disagree", &worst),
        ("links_drift", &worst),
        ("prior_against_data", &worst),
        ("not_judged", &names),
        ("constant", &names),
        ("contradicted", &counts),
    ];
    let finding = |(kind, numbers): (&str, &serde_json::Value)| {
        let mut record = numbers.clone();
        record["kind"] = json!(kind);
        record["message"] = json!("");
        serde_json::from_value(record).unwrap()
    };
    kinds.map(finding).into()
}

#[test]
fn a_fit_with_nothing_wrong_has_no_finding() {
    assert_eq!(good().all_findings(), []);
}

#[test]
fn every_kind_of_finding_is_raised_by_what_it_finds() {
    let is = |kind: Discriminant<Finding>| move |found: &Finding| discriminant(found) == kind;
    for kind in every_kind() {
        let mut fit = good();
        spoil(&kind, &mut fit);
        let found = fit.all_findings();
        assert!(
            found.iter().any(is(discriminant(&kind))),
            "{kind:?}: {found:?}"
        );
        // What spoils only one thing raises nothing else, but for effective sizes and R-hat, which go together.
        let few: BTreeSet<String> = found
            .iter()
            .map(|found| serde_json::to_value(found).unwrap()["kind"].to_string())
            .filter(|kind| !kind.contains("ess") && !kind.contains("r_hat"))
            .collect();
        assert!(few.len() <= 1, "{kind:?}: {found:?}");
    }
}
