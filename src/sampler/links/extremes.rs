//! Numbers at the edge of double precision: tiny and huge scales, ties, almost as many columns as rows. Weights stay finite,
//! and an exchange of two rows costs as much as its reverse gains.

use ndarray::Array2;
use proptest::prelude::*;
use rand::Rng;

use super::acceptance::Target;
use super::collapsed::Collapsed;
use super::moved_groups::MovedGroups;
use super::rows::RowProposal;
use super::{
    ActiveSet, Checkerboard, FamilyLogLik, LinkSpace, ModeSearch, Normal, PairLogLik, Permutation,
    Prior, PriorKind, Restart,
};
use crate::numerics::rng;

/// A regression whose responses have this size and errors this scale.
#[derive(Debug, Clone)]
struct Case {
    seed: u64,
    num_rows: usize,
    response_size: f64,
    sigma: f64,
    /// Responses take few values.
    has_ties: bool,
}

fn case() -> impl Strategy<Value = Case> {
    let powers = (0..=8i32, -8..=8i32);
    (any::<u64>(), 3..24usize, powers, any::<bool>()).prop_map(
        |(seed, num_rows, (size, sigma), has_ties)| Case {
            seed,
            num_rows,
            response_size: 10f64.powi(size),
            sigma: 10f64.powi(sigma),
            has_ties,
        },
    )
}

impl Case {
    /// Responses, and fitted values within a few sigma of them or far away.
    fn pair(&self) -> FamilyLogLik<Normal> {
        let mut rng = rng::stream(self.seed, 1);
        let mut number = || {
            let u = rng.random_range(-1.0..1.0f64);
            self.response_size * if self.has_ties { u.round() } else { u }
        };
        let response: Vec<f64> = (0..self.num_rows).map(|_| number()).collect();
        let fitted: Vec<f64> = response
            .iter()
            .map(|y| match rng.random_range(0..4) {
                0 => -y,
                _ => y + self.sigma * rng.random_range(-2.0..2.0),
            })
            .collect();
        let mut pair = FamilyLogLik::new(Normal, response, 1.0);
        pair.update(self.sigma, |place| place.copy_from_slice(&fitted));
        pair
    }

    fn prior(&self) -> Prior {
        Prior::beta_binomial(self.num_rows, 1.0, 9.0)
    }

    fn start(&self) -> Permutation {
        let mut rng = rng::stream(self.seed, 2);
        Permutation::random_sparse(self.num_rows, self.num_rows / 2 * 2 / 3 * 2, &mut rng)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn likelihoods_and_proposal_weights_are_finite(case in case()) {
        let pair = case.pair();
        let n = case.num_rows;
        for i in 0..n {
            for j in 0..n {
                prop_assert!(pair.pair(i, j).is_finite());
            }
            prop_assert!(!pair.log_mislink_ratio(i).is_nan());
        }
        let mut rows = RowProposal::default();
        rows.update(&pair, &LinkSpace::free(n));
        let weights: Vec<f64> = (0..n).map(|i| rows.probability(i)).collect();
        prop_assert!(weights.iter().all(|q| *q > 0.0 && *q <= 1.0), "{weights:?}");
        prop_assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{weights:?}");
        prop_assert!(rows.expected_mislinked().is_finite());
    }

    #[test]
    fn an_exchange_costs_what_its_reverse_gains(case in case()) {
        let (pair, prior) = (case.pair(), case.prior());
        let mut pi = case.start();
        let size = pair.total(&pi).abs() + 1.0;
        let mut groups = MovedGroups::default();
        let mut target = Target::new(&mut pi, &pair, &prior, &mut groups);
        for i in 0..case.num_rows {
            for j in 0..i {
                let there = target.log_change(i, j);
                target.exchange(i, j);
                let back = target.log_change(i, j);
                target.exchange(i, j);
                let tolerance = 1e-12 * (size + there.abs());
                prop_assert!(there.is_finite() && (there + back).abs() <= tolerance, "{there} {back}");
            }
        }
    }

    #[test]
    fn every_update_leaves_a_permutation_with_prior_mass(case in case()) {
        let (pair, prior) = (case.pair(), case.prior());
        let mut rng = rng::stream(case.seed, 3);
        let mut active_set = ActiveSet::default();
        let mut checkerboard = Checkerboard::new(50, Restart::default());
        let mut pi = case.start();
        for _ in 0..5 {
            active_set.step(&mut pi, &pair, &prior, &mut rng);
            pi.check();
            checkerboard.step(&mut pi, &pair, &prior, &mut rng);
            pi.check();
            prop_assert!(prior.log_prior(&pi).is_finite());
        }
        let mode = ModeSearch::default().find(&pi, &pair, &prior);
        mode.permutation.check();
        prop_assert!(prior.log_prior(&mode.permutation).is_finite());
    }

    #[test]
    fn priors_are_finite_within_the_bounds_of_a_config(
        num_rows in 2..300usize, a in -9.0..9.0f64, b in -9.0..9.0f64, no_error in 0.0..0.999f64,
    ) {
        let kind = PriorKind::BetaBinomial(super::RatePrior {
            a: 10f64.powf(a),
            b: 10f64.powf(b),
            no_error,
        });
        let prior = Prior::new(kind, LinkSpace::free(num_rows));
        for num_moved in (0..=num_rows).filter(|moved| *moved != 1) {
            prop_assert!(prior.log_weight(num_moved).is_finite(), "{num_moved}");
        }
    }

    /// With theta integrated out; down to one row more than there are columns.
    #[test]
    fn collapsed_moves_can_be_undone_and_do_not_drift(case in case(), spare in 1..6usize) {
        let num_rows = case.num_rows.max(spare + 2);
        let dim = (num_rows - spare).min(12);
        let mut rng = rng::stream(case.seed, 4);
        let x = Array2::from_shape_fn((num_rows, dim), |(_, k)| match k {
            0 => 1.0,
            _ => rng.random_range(-1.0..1.0),
        });
        let beta = vec![case.response_size; dim];
        let response: Vec<f64> = x
            .rows()
            .into_iter()
            .map(|row| {
                let mean: f64 = row.iter().zip(&beta).map(|(x, beta)| x * beta).sum();
                let y = mean + case.sigma * rng.random_range(-1.0..1.0);
                if case.has_ties { (y / case.response_size).round() * case.response_size } else { y }
            })
            .collect();
        // Refused with the data.
        prop_assume!(response.iter().any(|y| *y != response[0]));
        let space = LinkSpace::free(num_rows);
        let Some(collapsed) = Collapsed::new(x.view(), &response, 1.0, &space) else {
            return Ok(());
        };
        let mut collapsed = collapsed.with_num_proposals(200);
        let prior = Prior::beta_binomial(num_rows, 1.0, 9.0);
        let mut pi = Permutation::identity(num_rows);
        collapsed.start(&pi);
        collapsed.step(&mut pi, &prior, &mut rng);
        pi.check();
        let mut theta = vec![0.0; dim];
        let variance = collapsed.draw_theta(&mut theta, &mut rng);
        prop_assert!(variance > 0.0 && variance.is_finite());
        prop_assert!(theta.iter().all(|beta| beta.is_finite()));
        let moved = collapsed.log_density(&theta, variance);
        prop_assert!(moved.is_finite());
        // The same links reached without rounding of 200 exchanges.
        let mut fresh = collapsed.clone();
        fresh.start(&pi);
        let drift = (fresh.log_density(&theta, variance) - moved).abs();
        prop_assert!(drift < 1e-3 * (1.0 + moved.abs()), "{drift} of {moved}");
        collapsed.undo(&mut pi);
        prop_assert_eq!(pi.num_moved(), 0);
    }
}
