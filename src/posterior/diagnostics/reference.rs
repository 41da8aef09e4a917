//! Reference numbers of ArviZ 0.23.4 (arviz-stats 1.3.3 and R posterior 1.4.0 agree), and the chains they belong to.

use super::ess::{ess_bulk, ess_quantile, ess_tail};
use super::rhat::r_hat;
use super::*;
use crate::numerics::stats::mad;
use crate::numerics::{mean, quantile, sd};

/// Four autoregressive chains of a linear congruential generator; chain c is shifted by c times `shift`.
pub(super) fn chains(num_draws: usize, phi: f64, shift: f64) -> Vec<Vec<f64>> {
    let mut state = 12345u64;
    let mut uniform = || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    (0..4)
        .map(|chain| {
            let mut x = 0.0;
            (0..num_draws)
                .map(|_| {
                    x = phi * x + (uniform() + uniform() + uniform() - 1.5);
                    x + shift * f64::from(chain)
                })
                .collect()
        })
        .collect()
}

pub(super) fn slices(chains: &[Vec<f64>]) -> Vec<&[f64]> {
    chains.iter().map(Vec::as_slice).collect()
}

fn assert_close(what: &str, value: Option<f64>, expected: f64) {
    let value = value.unwrap_or_else(|| panic!("{what} is NA"));
    assert!(
        ((value - expected) / expected).abs() < 1e-8,
        "{what}: {value}, expected {expected}"
    );
}

struct Reference {
    num_draws: usize,
    phi: f64,
    shift: f64,
    r_hat: f64,
    bulk: f64,
    tail: f64,
    mcse_mean: f64,
    ess_mean: f64,
    ess_q50: f64,
    /// Mean, sd, MAD, 5%, 50%, 95% by NumPy.
    plain: [f64; 6],
}

const REFERENCES: [Reference; 4] = [
    Reference {
        num_draws: 100,
        phi: 0.6,
        shift: 0.05,
        r_hat: 1.145815816517927,
        bulk: 21.664218158745147,
        tail: 64.13305481191772,
        mcse_mean: 0.14889481541365357,
        ess_mean: 20.962198937286466,
        ess_q50: 50.31091131067718,
        plain: [
            0.16722833453897704,
            0.6817073787641028,
            0.6872518802596521,
            -0.8889074692381477,
            0.12075047819392866,
            1.3374040810793368,
        ],
    },
    Reference {
        num_draws: 101,
        phi: 0.6,
        shift: 0.05,
        r_hat: 1.1161017112714104,
        bulk: 26.674379723848563,
        tail: 103.02491880634435,
        mcse_mean: 0.13236042106649817,
        ess_mean: 26.245367562946004,
        ess_q50: 70.75876211227767,
        plain: [
            0.15863702666429538,
            0.6780855189331791,
            0.6752932713532632,
            -0.9095393073053587,
            0.11806999111840147,
            1.3348529160284452,
        ],
    },
    Reference {
        num_draws: 1000,
        phi: -0.6,
        shift: 0.0,
        r_hat: 1.0005651332080825,
        bulk: 14408.23996531185,
        tail: 3536.207971416631,
        mcse_mean: 0.005253911348414116,
        ess_mean: 14408.23996531185,
        ess_q50: 8141.525736548595,
        plain: [
            0.0037093110157221075,
            0.6306497195425771,
            0.6379419532641186,
            -1.0303404789271355,
            0.014294016727792083,
            1.0307409644063945,
        ],
    },
    Reference {
        num_draws: 1000,
        phi: 0.3,
        shift: 0.0,
        r_hat: 0.999954353375631,
        bulk: 2235.273791861954,
        tail: 3017.6418782492015,
        mcse_mean: 0.0111261272206415,
        ess_mean: 2239.071816153585,
        ess_q50: 2688.7182677872147,
        plain: [
            0.008191644999617423,
            0.5264753393925178,
            0.5460222208080809,
            -0.8698245304812159,
            0.008180739324502322,
            0.8866423399225002,
        ],
    },
];

#[test]
fn every_number_of_the_reference_is_reached() {
    for reference in REFERENCES {
        let chains = chains(reference.num_draws, reference.phi, reference.shift);
        let chains = slices(&chains);
        assert_close("R-hat", r_hat(&chains), reference.r_hat);
        assert_close("bulk ESS", ess_bulk(&chains), reference.bulk);
        assert_close("tail ESS", ess_tail(&chains), reference.tail);
        assert_close("ESS of the mean", ess_mean(&chains), reference.ess_mean);
        assert_close(
            "ESS of the median",
            ess_quantile(&chains, 0.5),
            reference.ess_q50,
        );
        assert_close("MCSE of the mean", mcse_mean(&chains), reference.mcse_mean);
        let pooled = chains.concat();
        let [expected_mean, expected_sd, expected_mad, q5, q50, q95] = reference.plain;
        assert_close("mean", mean(&pooled), expected_mean);
        assert_close("sd", sd(&pooled), expected_sd);
        assert_close("MAD", mad(&pooled), expected_mad);
        assert_close("5%", quantile(&pooled, 0.05), q5);
        assert_close("50%", quantile(&pooled, 0.5), q50);
        assert_close("95%", quantile(&pooled, 0.95), q95);
    }
}

#[test]
fn a_chain_of_another_width_is_found_by_the_folded_r_hat() {
    let mut chains = chains(100, 0.6, 0.05);
    chains[3].iter_mut().for_each(|x| *x *= 3.0);
    // Unfolded it would be 1.1783.
    assert_close("R-hat", r_hat(&slices(&chains)), 1.2267090045329154);
}

#[test]
fn tied_draws_reach_the_reference() {
    let mut chains = chains(100, 0.6, 0.05);
    chains
        .iter_mut()
        .flatten()
        .for_each(|x| *x = (*x * 2.0).floor());
    let chains = slices(&chains);
    assert_close("R-hat", r_hat(&chains), 1.141982760224228);
    assert_close("bulk ESS", ess_bulk(&chains), 22.166329876619216);
    assert_close("tail ESS", ess_tail(&chains), 102.78775041049458);
}

#[test]
fn one_tail_decides_when_the_other_indicator_is_constant() {
    let mut chains = chains(100, 0.6, 0.05);
    chains
        .iter_mut()
        .flatten()
        .for_each(|x| *x = f64::from(*x < 1.0));
    let chains = slices(&chains);
    assert_eq!(ess_quantile(&chains, 0.95), None);
    assert_close("tail ESS", ess_tail(&chains), 35.525583662003854);
    assert_close("R-hat", r_hat(&chains), 1.093066567299515);
}

#[test]
fn one_chain_and_the_shortest_chains_reach_the_reference() {
    let chains = chains(100, 0.6, 0.05);
    assert_close(
        "bulk ESS of one chain",
        ess_bulk(&[&chains[0]]),
        33.841055662445584,
    );
    assert_close("E-BFMI", e_bfmi(&chains[0]), 0.877425);
    for (num_draws, expected_r_hat, expected_bulk) in [
        (4, 1.112266569213268, 19.265919722494797),
        (5, 1.0793121730191635, 19.265919722494797),
        (6, 1.166653991976142, 33.12506980107854),
        (7, 1.2492840254485886, 33.12506980107854),
    ] {
        let short: Vec<&[f64]> = chains.iter().map(|chain| &chain[..num_draws]).collect();
        assert_close("R-hat", r_hat(&short), expected_r_hat);
        assert_close("bulk ESS", ess_bulk(&short), expected_bulk);
    }
}

#[test]
fn constant_short_and_non_finite_chains_are_na_everywhere() {
    let not_a_number = [1.0, f64::NAN, 2.0, 3.0, 4.0];
    let infinite = [1.0, f64::INFINITY, 2.0, 3.0, 4.0];
    let indistinct = [0.0, 1e-200, 0.0, 0.0, 1e-200, 1e-200, 0.0, 0.0];
    let cases: [&[&[f64]]; 6] = [
        &[],
        &[&[], &[]],
        &[&[0.1; 50], &[0.1; 50]],
        &[&[1.0, 2.0, 3.0]],
        &[&not_a_number],
        &[&infinite],
    ];
    for chains in cases {
        assert_eq!(r_hat(chains), None);
        assert_eq!(ess_bulk(chains), None);
        assert_eq!(ess_tail(chains), None);
        assert_eq!(mcse_mean(chains), None);
    }
    assert_eq!(ess_mean(&[&indistinct]), None);
}

#[test]
fn chains_stuck_at_different_values_have_infinite_r_hat_and_almost_no_ess() {
    let chains: [&[f64]; 2] = [&[0.1; 100], &[0.2; 100]];
    assert_eq!(r_hat(&chains), Some(f64::INFINITY));
    assert!(ess_bulk(&chains).unwrap() < 4.0);
}
