//! The samplers allocate when they first see a problem's size, and never again.

use ndarray::Array2;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use unshuffle::sampler::links::{
    ActiveSet, Checkerboard, Collapsed, Family, FamilyLogLik, Permutation, Prior, Restart, Update,
};

struct Counting;

thread_local! {
    /// Of this thread only: the test harness allocates on its own thread when it likes.
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is passed on to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn later_steps_do_not_allocate() {
    let n = 500;
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let truth = Permutation::random_sparse(n, 40, &mut rng);
    let fitted: Vec<f64> = (0..n)
        .map(|_| 3.0 * rng.sample::<f64, _>(StandardNormal))
        .collect();
    let response = (0..n).map(|i| fitted[truth.column_of(i)]).collect();
    let mut pair = FamilyLogLik::new(Family::Gaussian, response, 1.0);
    pair.update(0.3, |eta| eta.copy_from_slice(&fitted));
    let prior = Prior::beta_binomial(n, 1.0, 1.0);
    let mut pi = Permutation::identity(n);
    let mut kernels = [
        Update::ActiveSet(ActiveSet::default()),
        Update::Checkerboard(Checkerboard::new(100_000, Restart::Current)),
    ];
    for kernel in &mut kernels {
        kernel.step(&mut pi, &pair, &prior, &mut rng);
    }
    let x = Array2::from_shape_fn((n, 2), |(i, k)| if k == 0 { 1.0 } else { fitted[i] });
    let collapsed = Collapsed::new(x.view(), pair.response(), 1.0, prior.space());
    let mut collapsed = collapsed.expect("full rank");
    collapsed.set_num_moved(40.0, 1e6);
    let mut accepted = 0;
    let before = ALLOCATIONS.get();
    assert!(before > 0, "the counter must see the first allocations");
    for step in 0..50 {
        let scale = 0.3 + 0.05 * f64::from(step % 7);
        pair.update(scale, |eta| {
            eta.iter_mut().for_each(|value| *value *= 0.999)
        });
        for kernel in &mut kernels {
            kernel.step(&mut pi, &pair, &prior, &mut rng);
        }
        collapsed.start(&pi);
        let moves = collapsed.step(&mut pi, &prior, &mut rng).total();
        accepted += moves.accepted;
    }
    assert!(accepted > 0);
    assert_eq!(ALLOCATIONS.get(), before);
    assert!(pi.version() > 100);
}
