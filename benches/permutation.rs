//! Time of one permutation step at the sizes of a small survey and of a large file.

use divan::Bencher;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;
use unshuffle::permutation::{
    ActiveSet, Checkerboard, Family, FamilyLogLik, ModeSearch, Permutation, Prior, Restart, Update,
};

fn main() {
    divan::main();
}

/// Rows and mislinked rows.
const SIZES: [(usize, usize); 2] = [(250, 20), (20_000, 400)];

fn linked_file(n: usize, num_moved: usize) -> (FamilyLogLik, Permutation) {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
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

fn steps(bencher: Bencher, (n, num_moved): (usize, usize), mut update: Update) {
    let (pair, mut pi) = linked_file(n, num_moved);
    let prior = Prior::beta_binomial(n, 1.0, 1.0);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    bencher.bench_local(|| update.step(&mut pi, &pair, &prior, &mut rng));
}

#[divan::bench(args = SIZES)]
fn active_set(bencher: Bencher, size: (usize, usize)) {
    steps(bencher, size, Update::ActiveSet(ActiveSet::default()));
}

/// As many real swaps as there are rows.
#[divan::bench(args = SIZES)]
fn checkerboard(bencher: Bencher, size: (usize, usize)) {
    let proposals = (size.0 * size.0 / 2) as u64;
    let kernel = Checkerboard::new(proposals, Restart::Current);
    steps(bencher, size, Update::Checkerboard(kernel));
}

#[divan::bench(args = SIZES, sample_count = 10)]
fn mode(bencher: Bencher, size: (usize, usize)) {
    steps(bencher, size, Update::Mode(ModeSearch::default()));
}
