//! The links with beta and sigma integrated out, for linear regression with normal errors.
//!
//! On data with a weak signal the number of moved rows d, sigma and beta lie on a long ridge. Updates of the links given
//! theta and of theta given the links cross it in small steps. With theta integrated out, d is free to move.

use std::sync::Arc;

use ndarray::ArrayView2;
use rand::Rng;
use rand_distr::{ChiSquared, Distribution, StandardNormal};

use super::acceptance::{Acceptance, ExchangeLogLik, Metropolis, Target};
use super::active_set::{ActiveSet, Direction, Moved};
use super::family::{FamilyLogLik, Normal, PairResponses};
use super::moved_groups::MovedGroups;
use super::permutation::Permutation;
use super::prior::Prior;
use super::space::LinkSpace;
use super::statistics::LinearStatistics;
use super::update::UpdateInfo;

/// Insertions and removals in one step, by the variance of d, if all of them turned d round with probability one half: a step
/// carries d about as far as its posterior is wide.
const PROPOSALS_PER_VARIANCE: f64 = 4.5;
/// Insertions and removals that are accepted less often than this are not made up for.
const LEAST_ACCEPTANCE: f64 = 0.1;
/// Proposals for each moved row: where most rows are moved, beta depends on how they are paired.
const PROPOSALS_PER_MOVED: f64 = 16.0;
/// The fewest proposals of one step, for each row and in all: more gave no more ESS per second on thirteen real files. But where
/// `MAX_PROPOSALS` allows it there is one for each row: other steps take time for every row as well, and in a simulated file of
/// 10 000 rows three times as many proposals gave three times the effective draws of d.
const MIN_PER_ROW: usize = 6;
const MIN_PROPOSALS: usize = 600;
/// Numbers of moved rows below `FEW_MOVED` can be where they are within so many standard deviations of the mean of d.
const FEW_MOVED: f64 = 8.0;
const SDS_TO_FEW: f64 = 4.0;
/// The most proposals of one step: in a large file so many or, if that is more, a share of the rows.
const MAX_PROPOSALS: usize = 30_000;
const ROWS_PER_PROPOSAL: usize = 5;
/// The same in a file of up to so many rows: with 30 000, a file of 1388 rows, most of them moved, had half the effective draws.
const FEW_ROWS: usize = 10_000;
const MAX_OF_FEW_ROWS: usize = 60_000;
/// Proposals before draws are saved, as a share of those afterwards.
const WARMUP_SHARE: f64 = 1.0 / 3.0;
/// Residual sums of squares below this share of the total sum of squares count as this share: beyond it there is only
/// rounding.
const SMALLEST_SHARE: f64 = 1e-12;

/// The fewest and the most proposals of one step.
fn bounds(num_rows: usize) -> (usize, usize) {
    let fewest = (MIN_PER_ROW * num_rows).min(MIN_PROPOSALS);
    let most = match num_rows {
        0..=FEW_ROWS => MAX_OF_FEW_ROWS,
        _ => MAX_PROPOSALS.max(num_rows / ROWS_PER_PROPOSAL),
    };
    (fewest.max(num_rows.min(MAX_PROPOSALS)), most)
}

/// The surrogate posterior: the tempered normal likelihood with a flat prior on beta and on log sigma.
///
/// X = QR, c = Q'y in the order of X, and RSS = y'y - c'c. Then p~(pi | y) is proportional to RSS^(-(alpha n - D) / 2)
/// times the prior of the links.
#[derive(Clone, Debug)]
struct Surrogate {
    statistics: Arc<LinearStatistics>,
    temperature: f64,
    /// (alpha n - D) / 2.
    exponent: f64,
    smallest_rss: f64,
    /// c, at the current permutation.
    projection: Vec<f64>,
    rss: f64,
    /// Exchanges since `start`, so that they can be undone.
    exchanges: Vec<(usize, usize)>,
}

impl Surrogate {
    /// None where the tempered data leave theta undetermined.
    fn new(statistics: Arc<LinearStatistics>, temperature: f64) -> Option<Self> {
        let (num_rows, dim) = (statistics.num_rows(), statistics.dim());
        let exponent = 0.5 * (temperature * num_rows as f64 - dim as f64);
        if exponent < 0.5 {
            return None;
        }
        let response = statistics.response();
        let mean = response.iter().sum::<f64>() / num_rows as f64;
        let total: f64 = response.iter().map(|y| (y - mean).powi(2)).sum();
        Some(Self {
            statistics,
            temperature,
            exponent,
            smallest_rss: (SMALLEST_SHARE * total).max(f64::MIN_POSITIVE),
            projection: vec![0.0; dim],
            rss: f64::NAN,
            exchanges: Vec::with_capacity(bounds(num_rows).1),
        })
    }

    fn dim(&self) -> usize {
        self.projection.len()
    }

    /// Computes c and RSS afresh, so that rounding errors of the exchanges do not add up over steps.
    fn start(&mut self, pi: &Permutation) {
        self.exchanges.clear();
        self.rss = self.statistics.at(pi, &mut self.projection);
        let given = self.statistics.given_projection().iter();
        for (value, given) in self.projection.iter_mut().zip(given) {
            *value += given;
        }
    }

    fn bounded(&self, rss: f64) -> f64 {
        rss.max(self.smallest_rss)
    }

    /// log p~(theta, y | pi) at beta and sigma2, as a density of beta and log sigma2 (or log sigma).
    fn log_density(&self, beta: &[f64], variance: f64) -> f64 {
        let distance: f64 = (0..self.dim())
            .map(|k| (self.statistics.r().times(k, beta) - self.projection[k]).powi(2))
            .sum();
        let squares = self.bounded(self.rss) + distance;
        -0.5 * self.temperature
            * (self.statistics.num_rows() as f64 * variance.ln() + squares / variance)
    }

    /// Draws beta and sigma2 from p~(theta | pi, y); returns sigma2.
    fn draw<R: Rng + ?Sized>(&self, beta: &mut [f64], rng: &mut R) -> f64 {
        let chi_squared = ChiSquared::new(2.0 * self.exponent).expect("positive degrees");
        let variance = self.temperature * self.bounded(self.rss) / chi_squared.sample(rng);
        let spread = (variance / self.temperature).sqrt();
        for (value, c) in beta.iter_mut().zip(&self.projection) {
            *value = c + spread * rng.sample::<f64, _>(StandardNormal);
        }
        self.statistics.r().solve(beta);
        variance
    }
}

impl ExchangeLogLik for &mut Surrogate {
    fn num_rows(&self) -> usize {
        self.statistics.num_rows()
    }

    #[inline]
    fn exchange_change(&self, i: usize, a: usize, j: usize, b: usize) -> f64 {
        let statistics = &self.statistics;
        let difference = statistics.response()[i] - statistics.response()[j];
        let (from, to) = (statistics.row(a), statistics.row(b));
        let mut gain = 0.0;
        for ((from, to), c) in from.iter().zip(to).zip(&self.projection) {
            let step = difference * (to - from);
            gain += step * (2.0 * c + step);
        }
        let (before, after) = (self.bounded(self.rss), self.bounded(self.rss - gain));
        -self.exponent * (after / before).ln()
    }

    #[inline]
    fn exchanged(&mut self, i: usize, a: usize, j: usize, b: usize) {
        let statistics = &self.statistics;
        let difference = statistics.response()[i] - statistics.response()[j];
        let (from, to) = (statistics.row(a), statistics.row(b));
        for ((from, to), c) in from.iter().zip(to).zip(&mut self.projection) {
            let step = difference * (to - from);
            self.rss -= step * (2.0 * *c + step);
            *c += step;
        }
        self.exchanges.push((i, j));
    }
}

/// Moves of the active set, accepted by the marginal p~(pi | y) of the surrogate posterior.
///
/// The proposals belong to a reference theta that stays the same while draws are saved, so any number of moves is reversible
/// with respect to p~(pi | y): each is so together with its direction (see `Direction`), which is forgotten at the end.
/// With theta' drawn from p~(theta' | pi', y), the pair (pi', theta') is a proposal whose ratio is that of the surrogate's joint
/// densities. See `log_density`.
#[derive(Clone, Debug)]
pub struct Collapsed {
    surrogate: Surrogate,
    proposals: ActiveSet,
    num_proposals: usize,
    num_movable: usize,
    reference: FamilyLogLik<Normal>,
    groups: MovedGroups,
}

impl Collapsed {
    /// None where X lacks full column rank, and where `of` gives none.
    pub fn new(
        x: ArrayView2<f64>,
        response: &[f64],
        temperature: f64,
        space: &LinkSpace,
    ) -> Option<Self> {
        let statistics = LinearStatistics::new(x, response)?;
        let responses = PairResponses::new(Normal, response.to_vec());
        Collapsed::of(
            Arc::new(statistics),
            Arc::new(responses),
            temperature,
            space,
        )
    }

    /// `responses` are those of the statistics, for a normal law. None where theta cannot be integrated out, or where links are
    /// limited to candidate pairs, which need other moves.
    pub fn of(
        statistics: Arc<LinearStatistics>,
        responses: Arc<PairResponses>,
        temperature: f64,
        space: &LinkSpace,
    ) -> Option<Self> {
        if space.num_movable() < 2 || space.candidates().is_some() {
            return None;
        }
        let surrogate = Surrogate::new(Arc::clone(&statistics), temperature)?;
        let response = statistics.response();
        let reference = FamilyLogLik::of(Normal, responses, temperature);
        let mut collapsed = Self {
            surrogate,
            proposals: ActiveSet::collapsed(),
            num_proposals: 0,
            num_movable: space.num_movable(),
            reference,
            groups: MovedGroups::default(),
        };
        collapsed.start(&Permutation::identity(response.len()));
        let mut beta = collapsed.surrogate.projection.clone();
        statistics.r().solve(&mut beta);
        let rss = collapsed.surrogate.bounded(collapsed.surrogate.rss);
        let variance = rss / response.len() as f64;
        collapsed.set_reference(&beta, variance, space);
        collapsed.set_num_moved(0.0, 0.0, 0.5);
        Some(collapsed)
    }

    /// Fixes the distributions of the proposals at this theta. Only before draws are saved.
    pub fn set_reference(&mut self, beta: &[f64], variance: f64, space: &LinkSpace) {
        let statistics = &self.surrogate.statistics;
        let gamma: Vec<f64> = (0..beta.len())
            .map(|k| statistics.r().times(k, beta))
            .collect();
        self.reference.update(variance.sqrt(), |fitted| {
            for (column, fitted) in fitted.iter_mut().enumerate() {
                let q = statistics.row(column).iter();
                *fitted = q.zip(&gamma).map(|(q, gamma)| q * gamma).sum();
            }
        });
        self.proposals.fix(&self.reference, space);
    }

    /// Sets the number of proposals of a step by the posterior mean and variance of d, and by the share of insertions and
    /// removals that are accepted. Only before draws are saved.
    ///
    /// Where a share p is accepted, a walk that turns round at each refusal spreads with the variance p / (1 - p) for each
    /// of them.
    pub fn set_num_moved(&mut self, mean: f64, variance: f64, acceptance: f64) {
        let p = acceptance.clamp(LEAST_ACCEPTANCE, 0.5);
        let by_variance = PROPOSALS_PER_VARIANCE * variance * (1.0 - p) / p;
        let wanted = by_variance + PROPOSALS_PER_MOVED * mean;
        let (fewest, most) = self.bounds();
        self.num_proposals = (wanted as usize).clamp(fewest, most);
        self.proposals.expect(self.moved(mean, variance.sqrt()));
    }

    pub(super) fn moved(&self, mean: f64, sd: f64) -> Moved {
        if mean - SDS_TO_FEW * sd < FEW_MOVED {
            Moved::Few
        } else if 2.0 * mean > self.num_movable as f64 {
            Moved::Most
        } else {
            Moved::Many
        }
    }

    fn bounds(&self) -> (usize, usize) {
        bounds(self.surrogate.statistics.num_rows())
    }

    #[cfg(test)]
    pub(crate) fn with_num_proposals(mut self, num_proposals: usize) -> Self {
        self.num_proposals = num_proposals;
        self
    }

    #[cfg(test)]
    pub(super) fn with_moved(mut self, moved: Moved) -> Self {
        self.proposals.expect(moved);
        self
    }

    /// Takes up the links where another step left them.
    pub fn start(&mut self, pi: &Permutation) {
        self.surrogate.start(pi);
    }

    /// Moves the links from where `start` or the last call left them; p~(pi | y) stays invariant.
    pub fn step<R: Rng + ?Sized>(
        &mut self,
        pi: &mut Permutation,
        prior: &Prior,
        rng: &mut R,
    ) -> UpdateInfo {
        self.step_with::<Metropolis, R>(pi, prior, self.num_proposals, rng)
    }

    /// The same with fewer proposals, before draws are saved: a start is forgotten long before d has been everywhere.
    pub fn step_in_warmup<R: Rng + ?Sized>(
        &mut self,
        pi: &mut Permutation,
        prior: &Prior,
        rng: &mut R,
    ) -> UpdateInfo {
        let some = (WARMUP_SHARE * self.num_proposals as f64).ceil() as usize;
        let num_proposals = some.max(self.bounds().0).min(self.num_proposals);
        self.step_with::<Metropolis, R>(pi, prior, num_proposals, rng)
    }

    pub(super) fn step_with<A: Acceptance, R: Rng + ?Sized>(
        &mut self,
        pi: &mut Permutation,
        prior: &Prior,
        num_proposals: usize,
        rng: &mut R,
    ) -> UpdateInfo {
        let mut info = UpdateInfo::default();
        let mut target = Target::new(pi, &mut self.surrogate, prior, &mut self.groups);
        let mut direction = Direction::draw(rng);
        for _ in 0..num_proposals {
            let proposals = &self.proposals;
            let (kind, accepted) =
                proposals.propose_fixed::<A, _, R>(&mut direction, &mut target, rng);
            info.count(kind, accepted);
        }
        info
    }

    /// Takes the links back to where they were at `start`.
    pub fn undo(&mut self, pi: &mut Permutation) {
        while let Some((i, j)) = self.surrogate.exchanges.pop() {
            pi.exchange(i, j);
        }
    }

    /// Draws theta from p~(theta | pi, y): writes beta, returns sigma2.
    pub fn draw_theta<R: Rng + ?Sized>(&self, beta: &mut [f64], rng: &mut R) -> f64 {
        self.surrogate.draw(beta, rng)
    }

    /// The surrogate's log density of theta and the links, without the prior of the links, up to a constant.
    ///
    /// The scale is that of beta and the logarithm of sigma (or sigma2), on which the surrogate's prior is flat.
    pub fn log_density(&self, beta: &[f64], variance: f64) -> f64 {
        self.surrogate.log_density(beta, variance)
    }
}
