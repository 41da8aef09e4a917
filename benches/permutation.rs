//! Time of one permutation step at the sizes of a small survey and of a large file.

use divan::Bencher;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;
use unshuffle::internals::sampler::links::{
    Checkerboard, FamilyLogLik, LinkKernel, ModeSearch, Normal, PriorKind, Restart,
};
use unshuffle::links::{ActiveSet, LinkFacts, LinkSpace, Permutation, Prior, RatePrior};

fn main() {
    divan::main();
}

/// Rows and mislinked rows.
const SIZES: [(usize, usize); 2] = [(250, 20), (20_000, 400)];

fn linked_file(n: usize, num_moved: usize) -> (FamilyLogLik<Normal>, Permutation) {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let truth = Permutation::random_sparse(n, num_moved, &mut rng);
    let mut normal = || rng.sample::<f64, _>(StandardNormal);
    let fitted: Vec<f64> = (0..n).map(|_| 3.2 * normal()).collect();
    let response = (0..n)
        .map(|i| fitted[truth.column_of(i)] + 0.3 * normal())
        .collect();
    let mut pair = FamilyLogLik::new(Normal, response, 1.0);
    pair.update(0.3, |eta| eta.copy_from_slice(&fitted));
    (pair, truth)
}

fn steps(bencher: Bencher, size: (usize, usize), update: LinkKernel) {
    let (pair, pi) = linked_file(size.0, size.1);
    let prior = Prior::beta_binomial(size.0, 1.0, 1.0);
    steps_from(bencher, pi, &pair, &prior, update);
}

fn steps_from(
    bencher: Bencher,
    mut pi: Permutation,
    pair: &FamilyLogLik<Normal>,
    prior: &Prior,
    mut update: LinkKernel,
) {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    bencher.bench_local(|| update.step(&mut pi, pair, prior, &mut rng));
}

#[divan::bench(args = SIZES)]
fn active_set(bencher: Bencher, size: (usize, usize)) {
    steps(bencher, size, LinkKernel::ActiveSet(ActiveSet::default()));
}

/// As many real swaps as there are rows.
#[divan::bench(args = SIZES)]
fn checkerboard(bencher: Bencher, size: (usize, usize)) {
    let proposals = (size.0 * size.0 / 2) as u64;
    let kernel = Checkerboard::new(proposals, Restart::Current);
    steps(bencher, size, LinkKernel::Checkerboard(kernel));
}

#[divan::bench(args = SIZES, sample_count = 10)]
fn mode(bencher: Bencher, size: (usize, usize)) {
    steps(bencher, size, LinkKernel::Mode(ModeSearch::default()));
}

/// Links inside blocks of 25 rows: the same work as without, on shorter lists.
#[divan::bench(args = SIZES)]
fn active_set_in_blocks(bencher: Bencher, (n, num_moved): (usize, usize)) {
    let (pair, _) = linked_file(n, num_moved);
    let blocks: Vec<usize> = (0..n).map(|row| row / 25).collect();
    let facts = LinkFacts {
        block_of_row: Some(&blocks),
        ..LinkFacts::default()
    };
    from_identity(bencher, &pair, facts);
}

/// Four candidates for each row: its neighbours in the file.
#[divan::bench(args = SIZES)]
fn active_set_with_candidates(bencher: Bencher, (n, num_moved): (usize, usize)) {
    let (pair, _) = linked_file(n, num_moved);
    let near = |row: usize| [1, 2, n - 1, n - 2].map(|step| (row, (row + step) % n, 1.0));
    let pairs: Vec<(usize, usize, f64)> = (0..n).flat_map(near).collect();
    let facts = LinkFacts {
        candidates: Some(&pairs),
        ..LinkFacts::default()
    };
    from_identity(bencher, &pair, facts);
}

fn from_identity(bencher: Bencher, pair: &FamilyLogLik<Normal>, facts: LinkFacts) {
    let n = pair.response().len();
    let kind = PriorKind::BetaBinomial(RatePrior::beta(1.0, 1.0));
    let prior = Prior::new(kind, LinkSpace::new(n, facts));
    let update = LinkKernel::ActiveSet(ActiveSet::default());
    steps_from(bencher, Permutation::identity(n), pair, &prior, update);
}
