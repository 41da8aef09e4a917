//! The kernels allocate when they first see a problem's size, and never again.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use ndarray::Array2;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;
use unshuffle::hmc::{
    Adaptation, AdaptationSettings, EvalError, Kernel, LogDensity, MetricKind, MovingTarget, State,
    Trajectory,
};
use unshuffle::internals::sampler::links::{
    Checkerboard, Collapsed, FamilyLogLik, LinkKernel, Normal, Restart,
};
use unshuffle::links::{ActiveSet, Permutation, Prior};

thread_local! {
    /// Of this thread only: the test harness allocates on its own thread when it likes.
    static NUM_ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is handed to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        NUM_ALLOCATIONS.with(|num| num.set(num.get() + 1));
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Normals of scale 1, 2, 3, ..., whose sum in units of these is held near 0, so that a dense metric pays.
struct Normals {
    centre: f64,
}

impl LogDensity for Normals {
    fn dim(&self) -> usize {
        10
    }

    fn log_density_gradient(&mut self, q: &[f64], gradient: &mut [f64]) -> Result<f64, EvalError> {
        let units = |i: usize| (q[i] - self.centre) / (i + 1) as f64;
        let pull = 5.0 * (0..q.len()).map(units).sum::<f64>();
        let mut log_density = 0.0;
        for (i, g) in gradient.iter_mut().enumerate() {
            let slope = -(units(i) + pull);
            *g = slope / (i + 1) as f64;
            log_density += 0.5 * slope * units(i);
        }
        Ok(log_density)
    }
}

fn allocations_in_100_steps(metric: MetricKind, trajectory: Trajectory) -> usize {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut target = MovingTarget::new(Normals { centre: 0.0 });
    let mut state = State::new(vec![0.1; 10], &mut target).unwrap();
    let mut kernel = Kernel::nuts(10, 10);
    let settings = AdaptationSettings {
        num_warmup: 500,
        target_accept: 0.8,
        metric,
        trajectory,
    };
    let mut adaptation =
        Adaptation::start(settings, &mut kernel, &mut target, &state, &mut rng).unwrap();
    let mut before = 0;
    for iteration in 0..600 {
        if iteration == 500 {
            before = NUM_ALLOCATIONS.get();
        }
        target.change().centre = f64::from(iteration % 2);
        state.refresh(&mut target).unwrap();
        let info = kernel.step(&mut target, &mut state, &mut rng).unwrap();
        adaptation
            .after_step(&info, &state, &mut kernel, &mut target, &mut rng)
            .unwrap();
    }
    assert_eq!(kernel.metric().kind(), metric);
    NUM_ALLOCATIONS.get() - before
}

#[test]
fn transitions_after_warm_up_allocate_nothing() {
    for metric in [MetricKind::Diagonal, MetricKind::Dense] {
        for trajectory in [Trajectory::Nuts, Trajectory::Static] {
            assert_eq!(allocations_in_100_steps(metric, trajectory), 0);
        }
    }
}

#[test]
fn the_counter_counts() {
    let before = NUM_ALLOCATIONS.get();
    drop(std::hint::black_box(Box::new(1)));
    assert_eq!(NUM_ALLOCATIONS.get() - before, 1);
}

#[test]
fn steps_of_the_links_after_the_first_allocate_nothing() {
    let n = 500;
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let truth = Permutation::random_sparse(n, 40, &mut rng);
    let fitted: Vec<f64> = (0..n)
        .map(|_| 3.0 * rng.sample::<f64, _>(StandardNormal))
        .collect();
    let response = (0..n).map(|i| fitted[truth.column_of(i)]).collect();
    let mut pair = FamilyLogLik::new(Normal, response, 1.0);
    pair.update(0.3, |eta| eta.copy_from_slice(&fitted));
    let prior = Prior::beta_binomial(n, 1.0, 1.0);
    let mut pi = Permutation::identity(n);
    let mut kernels = [
        LinkKernel::ActiveSet(ActiveSet::default()),
        LinkKernel::Checkerboard(Checkerboard::new(100_000, Restart::Current)),
    ];
    for kernel in &mut kernels {
        kernel.step(&mut pi, &pair, &prior, &mut rng);
    }
    let x = Array2::from_shape_fn((n, 2), |(i, k)| if k == 0 { 1.0 } else { fitted[i] });
    let collapsed = Collapsed::new(x.view(), pair.response(), 1.0, prior.space());
    let mut collapsed = collapsed.expect("full rank");
    collapsed.set_num_moved(40.0, 1e6, 0.5);
    let mut accepted = 0;
    let before = NUM_ALLOCATIONS.get();
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
    assert_eq!(NUM_ALLOCATIONS.get(), before);
    assert!(pi.version() > 100);
}
