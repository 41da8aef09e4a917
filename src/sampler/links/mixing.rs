//! Mixing at size: 20 000 rows with 400 mislinks, the case in which uniform swaps fail; and between no moved row and some.

use super::exactness::DOUBTING;
use super::*;
use crate::model::Family;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

/// theta at the truth: sigma = 0.3, sd(x'beta) = 3.2.
pub(super) fn linked_file(
    n: usize,
    num_moved: usize,
    seed: u64,
) -> (FamilyLogLik<Family>, Permutation) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let truth = Permutation::random_sparse(n, num_moved, &mut rng);
    let mut normal = || rng.sample::<f64, _>(StandardNormal);
    let fitted: Vec<f64> = (0..n).map(|_| 3.2 * normal()).collect();
    let response = (0..n)
        .map(|i| fitted[truth.column_of(i)] + 0.3 * normal())
        .collect();
    let mut pair = FamilyLogLik::new(Family::Gaussian, response, 1.0);
    pair.update(0.3, |eta| eta.copy_from_slice(&fitted));
    (pair, truth)
}

/// Mean of d over the last `kept` of `steps` steps.
fn mean_moved(
    update: &mut LinkKernel,
    start: &Permutation,
    pair: &FamilyLogLik<Family>,
    prior: &Prior,
    steps: usize,
    kept: usize,
) -> f64 {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let mut pi = start.clone();
    let mut sum = 0.0;
    for step in 0..steps {
        update.step(&mut pi, pair, prior, &mut rng);
        if step >= steps - kept {
            sum += pi.num_moved() as f64;
        }
    }
    pi.check();
    sum / kept as f64
}

#[test]
fn active_set_forgets_its_start_and_the_checkerboard_does_not() {
    let n = 20_000;
    let (pair, truth) = linked_file(n, 400, 2);
    let prior = Prior::beta_binomial(n, 1.0, 1.0);
    let identity = Permutation::identity(n);
    let mut active = LinkKernel::ActiveSet(ActiveSet::default());
    let from_identity = mean_moved(&mut active, &identity, &pair, &prior, 300, 200);
    let from_truth = mean_moved(&mut active, &truth, &pair, &prior, 300, 200);
    // Over twelve seeds d had a standard deviation of 10 and these means one of 1.6, with no sign of
    // the start: a difference of 10 is more than four standard errors (error rate 1e-4).
    assert!((from_identity - 400.0).abs() < 25.0, "{from_identity}");
    assert!(
        (from_identity - from_truth).abs() < 10.0,
        "{from_identity} {from_truth}"
    );

    // 2n real swaps each step, 2.4 million in all.
    let steps = (n * n) as u64;
    let mut swaps = LinkKernel::Checkerboard(Checkerboard::new(steps, Restart::Current));
    let stuck = mean_moved(&mut swaps, &identity, &pair, &prior, 60, 5);
    let at_truth = mean_moved(&mut swaps, &truth, &pair, &prior, 60, 5);
    assert!(stuck > 800.0, "{stuck}");
    assert!((at_truth - from_truth).abs() < 25.0, "{at_truth}");
}

/// Share of steps at which no row is moved, from `start`; each start has random numbers of its own.
fn share_unmoved(
    kernel: &mut ActiveSet,
    start: &Permutation,
    pair: &FamilyLogLik<Family>,
    prior: &Prior,
    steps: usize,
) -> f64 {
    let mut rng = ChaCha8Rng::seed_from_u64(5 + start.num_moved() as u64);
    let mut pi = start.clone();
    let mut num_unmoved = 0;
    for _ in 0..steps {
        kernel.step(&mut pi, pair, prior, &mut rng);
        num_unmoved += usize::from(pi.num_moved() == 0);
    }
    num_unmoved as f64 / steps as f64
}

/// A file of 300 rows in which two responses were exchanged, so that the posterior cannot tell whether any link is wrong:
/// chains cross between no moved row and some, and agree whatever their start.
#[test]
fn active_set_crosses_between_no_error_and_some() {
    let n = 300;
    let (sigma, spacing) = (0.3, 0.28);
    let fitted: Vec<f64> = (0..n).map(|row| spacing * row as f64).collect();
    let mut exchanged: Vec<usize> = (0..n).collect();
    exchanged.swap(100, 104);
    let truth = Permutation::from_vec(exchanged).unwrap();
    let response = (0..n).map(|row| fitted[truth.column_of(row)]).collect();
    let mut pair = FamilyLogLik::new(Family::Gaussian, response, 1.0);
    pair.update(sigma, |eta| eta.copy_from_slice(&fitted));
    let prior = Prior::new(PriorKind::BetaBinomial(DOUBTING), LinkSpace::free(n));
    let identity = Permutation::identity(n);
    let steps = 20_000;
    let mut kernel = ActiveSet::default();
    let from_identity = share_unmoved(&mut kernel, &identity, &pair, &prior, steps);
    let from_truth = share_unmoved(&mut kernel, &truth, &pair, &prior, steps);
    println!("P(no row moved): {from_identity} {from_truth}");
    assert!((0.2..0.8).contains(&from_identity), "{from_identity}");
    assert!(
        (from_identity - from_truth).abs() < 0.05,
        "{from_identity} {from_truth}"
    );
    // Without births of pairs a chain never leaves the links as given; a relink is a birth by another way.
    let mut stuck = ActiveSet::only(1, 40.0);
    assert_eq!(
        share_unmoved(&mut stuck, &identity, &pair, &prior, 100),
        1.0
    );
    assert_eq!(share_unmoved(&mut stuck, &truth, &pair, &prior, 100), 0.0);
}
