//! When the metric is learnt: Stan's windows of growing length (`windowed_adaptation.hpp`).

use serde::{Deserialize, Serialize};

const INITIAL_BUFFER: usize = 75;
const FIRST_WINDOW: usize = 25;
const TERMINAL_BUFFER: usize = 50;
/// Below this many iterations Stan learns the step size only.
const MIN_ITERATIONS: usize = 20;

/// The windows of a warm-up: the metric is learnt from each and set at its end.
///
/// An initial buffer finds the typical set, windows of doubling length learn the metric, and a
/// terminal buffer settles the step size for the last metric.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Schedule {
    num_warmup: usize,
    /// First iteration whose draw the metric is learnt from.
    start: usize,
    /// Iterations done when each window ends, ascending.
    ends: Vec<usize>,
}

impl Schedule {
    pub fn new(num_warmup: usize) -> Self {
        if num_warmup < MIN_ITERATIONS {
            return Self {
                num_warmup,
                start: num_warmup,
                ends: Vec::new(),
            };
        }
        let (start, first, terminal) =
            if num_warmup < INITIAL_BUFFER + FIRST_WINDOW + TERMINAL_BUFFER {
                // 15 %, 75 % and 10 %, with the buffers rounded down.
                let (start, terminal) = (num_warmup * 15 / 100, num_warmup / 10);
                (start, num_warmup - start - terminal, terminal)
            } else {
                (INITIAL_BUFFER, FIRST_WINDOW, TERMINAL_BUFFER)
            };

        let last = num_warmup - terminal;
        let mut ends = Vec::new();
        let (mut end, mut size) = (start + first, first);
        while end < last {
            ends.push(end);
            size *= 2;
            end += size;
            // Where the window after this one would not fit, this one takes what is left.
            // Stan compares the zero-based last iteration, hence the 1.
            if end != last && end - 1 + 2 * size >= last {
                end = last;
            }
        }
        ends.push(last);
        Self {
            num_warmup,
            start,
            ends,
        }
    }

    pub fn num_warmup(&self) -> usize {
        self.num_warmup
    }

    /// Whether the metric is learnt from the draw of this iteration (counted from 0).
    pub fn learns_from(&self, iteration: usize) -> bool {
        iteration >= self.start && self.ends.last().is_some_and(|&last| iteration < last)
    }

    /// Whether a window ends with this iteration (counted from 0).
    pub fn ends_with(&self, iteration: usize) -> bool {
        self.ends.contains(&(iteration + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Golden windows: what Stan's algorithm gives.
    #[test]
    fn windows_are_those_of_stan() {
        let golden: [(usize, usize, &[usize]); 9] = [
            (1000, 75, &[100, 150, 250, 450, 950]),
            (2000, 75, &[100, 150, 250, 450, 850, 1950]),
            (500, 75, &[100, 150, 250, 450]),
            (150, 75, &[100]),
            (149, 22, &[135]),
            (100, 15, &[90]),
            (20, 3, &[18]),
            (10, 10, &[]),
            (0, 0, &[]),
        ];
        for (num_warmup, start, ends) in golden {
            let schedule = Schedule::new(num_warmup);
            assert_eq!(schedule.start, start, "start for {num_warmup}");
            assert_eq!(schedule.ends, ends, "ends for {num_warmup}");
        }
    }

    /// Stan's bookkeeping, iteration by iteration, as its source has it.
    fn windows_by_stan(num_warmup: usize) -> Vec<usize> {
        let (init, term, base) = if num_warmup < 150 {
            let init = (0.15 * num_warmup as f64) as usize;
            let term = (0.10 * num_warmup as f64) as usize;
            (init, term, num_warmup - init - term)
        } else {
            (75, 50, 25)
        };
        let last = num_warmup - term - 1;
        let (mut size, mut next) = (base, init + base - 1);
        let mut ends = Vec::new();
        for counter in 0..num_warmup {
            if counter != next {
                continue;
            }
            ends.push(counter + 1);
            if next == last {
                continue;
            }
            size *= 2;
            next = counter + size;
            if next != last && next + 2 * size >= num_warmup - term {
                next = last;
            }
        }
        ends
    }

    #[test]
    fn windows_equal_stans_bookkeeping_for_every_length() {
        for num_warmup in 20..5000 {
            assert_eq!(
                Schedule::new(num_warmup).ends,
                windows_by_stan(num_warmup),
                "{num_warmup}"
            );
        }
    }

    #[test]
    fn learns_between_the_buffers_only() {
        let schedule = Schedule::new(1000);
        let learnt: Vec<usize> = (0..1000).filter(|&i| schedule.learns_from(i)).collect();
        assert_eq!((learnt[0], learnt[learnt.len() - 1]), (75, 949));
        assert!(schedule.ends_with(99) && !schedule.ends_with(100));
    }
}
