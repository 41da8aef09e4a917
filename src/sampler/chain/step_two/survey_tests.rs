//! Step 2 with survey weights: what theta sees of them, and without feedback the exact posterior of the links at n = 5.
//!
//! As in `links::exactness`: steps from exact draws, a chi-square, and z above 4.5 with probability 3e-6 for a right kernel.

use std::convert::Infallible;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::sampler::links::exactness::{Enumeration, LIMIT};
use crate::sampler::links::{
    ActiveSet, FamilyLogLik, LinkFacts, LinkSpace, Normal, PriorKind, RatePrior, WeightSide,
    WeightedLogLik,
};

const N: usize = 5;
const Y: [f64; N] = [0.3, -1.0, 2.0, 0.9, -0.4];
const FITTED: [f64; N] = [0.5, 1.6, -0.9, 0.8, -0.1];
const WEIGHTS: [f64; N] = [0.4, 2.5, 1.0, 0.0, 1.7];
const MARGINAL: [f64; N] = [-1.1, -1.4, -2.2, -1.3, -1.2];
const FLAT: RatePrior = RatePrior {
    a: 1.0,
    b: 1.0,
    no_error: 0.0,
};

/// Normal pairs at fixed parameters, with weights.
struct Pairs<'m> {
    log_lik: FamilyLogLik<Normal>,
    weights: &'m SurveyWeights,
}

impl<'m> Pairs<'m> {
    fn new(weights: &'m SurveyWeights) -> Pairs<'m> {
        let mut log_lik = FamilyLogLik::new(Normal, Y.to_vec(), 1.0);
        log_lik.update(0.8, |fitted| fitted.copy_from_slice(&FITTED));
        Pairs { log_lik, weights }
    }

    fn weighted(&self) -> WeightedLogLik<'_, FamilyLogLik<Normal>> {
        WeightedLogLik {
            pair: &self.log_lik,
            weights: self.weights,
        }
    }

    fn own(&self, row: usize) -> f64 {
        WEIGHTS[row] * self.log_lik.log_density(row, row)
    }
}

impl LinkedPairs for Pairs<'_> {
    type Error = Infallible;

    fn update(&mut self, _: &[f64]) -> Result<(), Infallible> {
        Ok(())
    }

    fn step<R: Rng>(
        &self,
        kernel: &mut LinkKernel,
        pi: &mut Permutation,
        prior: &Prior,
        rng: &mut R,
    ) -> Result<UpdateInfo, Infallible> {
        Ok(kernel.step(pi, &self.weighted(), prior, rng))
    }

    fn step_given_moved<R: Rng>(
        &self,
        links: &mut LinksGivenMoved,
        state: &Permutation,
        prior: &Prior,
        rng: &mut R,
    ) -> Result<(), Infallible> {
        links.step(state, &self.weighted(), prior, rng);
        Ok(())
    }

    fn step_outside<R: Rng>(
        &self,
        links: &mut crate::sampler::links::OutsideLinks<'_>,
        pi: &mut Permutation,
        wrong: Option<&Permutation>,
        rng: &mut R,
    ) -> Result<UpdateInfo, Infallible> {
        Ok(links.step_as(pi, &self.weighted(), |row| self.own(row), wrong, rng))
    }

    fn draw_may_be_outside<R: Rng>(
        &self,
        links: &mut crate::sampler::links::OutsideLinks<'_>,
        pi: &mut Permutation,
        whole: &Prior,
        rng: &mut R,
    ) -> Result<bool, Infallible> {
        Ok(links.draw_may_be_outside(pi, &self.weighted(), |row| self.own(row), whole, rng))
    }

    fn temperature(&self) -> f64 {
        1.0
    }

    fn own_log_densities(&self, own: &mut Vec<f64>) {
        own.clear();
        own.extend((0..N).map(|row| self.own(row)));
    }
}

fn kernel() -> LinkKernel {
    LinkKernel::ActiveSet(ActiveSet::new(2.0))
}

fn prior() -> Prior {
    Prior::new(PriorKind::BetaBinomial(FLAT), LinkSpace::free(N))
}

/// Moves the responses of the wrong rows to places that are uniform among those where none stays.
fn derange(pi: &mut Permutation, rng: &mut impl Rng) {
    let wrong: Vec<usize> = (0..N).filter(|&row| pi.is_moved(row)).collect();
    let mut places = wrong.clone();
    while !wrong.is_empty() && wrong.iter().zip(&places).any(|(row, place)| row == place) {
        places.shuffle(rng);
    }
    let mut columns: Vec<usize> = (0..N).collect();
    wrong
        .iter()
        .zip(&places)
        .for_each(|(&row, &place)| columns[row] = place);
    pi.assign(&Permutation::from_vec(columns).unwrap());
}

/// Without feedback a moved response counts with its own weight under the marginal law. Which rows are wrong is exact; where
/// their responses belong says nothing there.
#[test]
fn without_feedback_both_laws_of_a_row_have_its_weight() {
    let prior = prior();
    for side in [WeightSide::Predictors, WeightSide::Response] {
        let weights = SurveyWeights::new(WEIGHTS.to_vec(), side);
        let pairs = Pairs::new(&weights);
        let exact = |of_marginal: [f64; N]| {
            Enumeration::of_log_weights(N, |pi| {
                let rows = (0..N).map(|row| match pi.is_moved(row) {
                    true => of_marginal[row] * MARGINAL[row],
                    false => pairs.own(row),
                });
                rows.sum::<f64>() + prior.log_prior(pi)
            })
        };
        let step_two = StepTwo::new(&Y, &prior, kernel(), Pairs::new(&weights));
        let mut step_two = step_two.with_survey(&weights).without_feedback(&MARGINAL);
        let (right, forgotten) = (exact(WEIGHTS), exact([1.0; N]));
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let mut score = |exact: &Enumeration| {
            exact.score(&exact.replicate(30_000, &mut rng, |pi, rng| {
                step_two.permutation.assign(pi);
                step_two.draw(&[], rng).unwrap();
                pi.assign(&step_two.permutation);
                derange(pi, rng);
            }))
        };
        let z = score(&right);
        assert!(z < LIMIT, "{side:?}: z = {z}");
        let z = score(&forgotten);
        assert!(z > LIMIT, "marginal law without weights, {side:?}: z = {z}");
    }
}

/// What theta sees: the weights where the links put them, and 0 for rows that do not inform it.
#[test]
fn theta_sees_the_weights_of_the_rows_that_inform_it() {
    let prior = prior();
    let outside = OutsidePrior::new(
        PriorKind::BetaBinomial(FLAT),
        FLAT,
        N,
        N,
        LinkFacts::default(),
    );
    for side in [WeightSide::Predictors, WeightSide::Response] {
        let weights = SurveyWeights::new(WEIGHTS.to_vec(), side);
        let new = || StepTwo::new(&Y, &prior, kernel(), Pairs::new(&weights)).with_survey(&weights);
        let mut rng = ChaCha8Rng::seed_from_u64(6);
        let of = |pi: &Permutation, place: usize| match side {
            WeightSide::Predictors => WEIGHTS[place],
            WeightSide::Response => WEIGHTS[pi.row_of(place)],
        };
        let (mut with_feedback, mut without) = (new(), new().without_feedback(&MARGINAL));
        let mut num_moved = 0;
        for _ in 0..200 {
            with_feedback.draw(&[], &mut rng).unwrap();
            let pi = &with_feedback.permutation;
            let seen = &with_feedback.survey.as_ref().unwrap().weights;
            num_moved += pi.num_moved();
            assert!((0..N).all(|place| seen[place] == of(pi, place)));
            without.draw(&[], &mut rng).unwrap();
            let pi = &without.permutation;
            let seen = &without.mixture.as_ref().unwrap().weights;
            let expected = |row: usize| if pi.is_moved(row) { 0.0 } else { WEIGHTS[row] };
            assert!((0..N).all(|row| seen[row] == expected(row)));
        }
        assert!(num_moved > 100, "{num_moved}");
        if side == WeightSide::Response {
            let mut with_outside = new().with_outside(&outside, &MARGINAL);
            let mut num_outside = 0;
            for _ in 0..200 {
                with_outside.draw(&[], &mut rng).unwrap();
                let pi = &with_outside.permutation;
                num_outside += pi.num_outside();
                let seen = &with_outside.outside.as_ref().unwrap().weights;
                let expected = |place: usize| match pi.row_of(place) {
                    NOBODY => 0.0,
                    row => WEIGHTS[row],
                };
                assert!((0..N).all(|place| seen[place] == expected(place)));
            }
            assert!(num_outside > 100, "{num_outside}");
        }
    }
}
