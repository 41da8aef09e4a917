//! Who is told how far a chain has come.

/// Told of every iteration; must be quick.
pub trait Observer: Sync {
    fn iteration(&self, progress: Progress);
}

#[derive(Debug, Clone, Copy)]
pub struct Progress {
    pub chain: usize,
    pub done: usize,
    pub total: usize,
    pub warming_up: bool,
    pub num_divergences: usize,
}

/// Says nothing.
pub struct Silent;

impl Observer for Silent {
    fn iteration(&self, _progress: Progress) {}
}
