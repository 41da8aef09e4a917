//! The posterior predictive check: the responses beside data sets drawn from the fit.

use crate::plot::{Axis, Figure, Mark, Panel, Series};
use crate::posterior::Posterior;
use crate::posterior::Predictive;
use crate::report::by_chain::bare_axis;
use crate::report::format::{count, percent};
use crate::report::page::Picture;

const OBSERVED: Series = Series(1);
const REPLICATED: Series = Series(5);
/// Where the observed density is below this share of its peak, there is nothing to compare.
const NEGLIGIBLE: f64 = 0.01;

pub fn picture(fit: &Posterior) -> Result<Picture, String> {
    let missing = "There is no predictive check: it needs a family of errors that unshuffle knows (gaussian, asymmetric_laplace or \
                   student_t), with the coefficients as beta and the scale as sigma2 or sigma.";
    let predictive = fit.predictive.as_ref().ok_or(missing)?;
    if predictive.replicated.is_empty() {
        return Err(missing.into());
    }
    let num_replicated = predictive.replicated.len();
    let mut words = format!(
        "the observed density stays within the replicated ones over {} of the responses' range",
        percent(share_within(predictive))
    );
    if num_replicated > 2 {
        let expected = 1.0 - 2.0 / (num_replicated + 1) as f64;
        words += &format!(
            ", where about {} is usual for a model that fits",
            percent(expected)
        );
    }
    // One line with gaps, which costs far less than many.
    let grid = &predictive.grid;
    let replicated = predictive.replicated.iter().flat_map(|heights| {
        let points = grid.iter().copied().zip(heights.iter().copied());
        points.chain([(f64::NAN, f64::NAN)])
    });
    let observed = grid
        .iter()
        .copied()
        .zip(predictive.observed.iter().copied());
    let all = predictive.replicated.iter().chain([&predictive.observed]);
    let highest = all.flatten().copied().filter(|h| h.is_finite());
    let top = 1.05 * highest.fold(f64::MIN_POSITIVE, f64::max);
    let panel = Panel::new("")
        .x(Axis::linear(fit.config.data.response_label()))
        .y(bare_axis(0.0, top))
        .height(240.0)
        .mark(Mark::fine(REPLICATED, replicated.collect()))
        .mark(Mark::line(OBSERVED, observed.collect()));
    let description = format!(
        "The density of the observed responses over those of {} from the fit: {words}.",
        count(num_replicated, "data set")
    );
    let figure = Figure::new("Responses as observed and as the fit predicts", description)
        .panel(panel)
        .legend(OBSERVED, "observed")
        .legend(
            REPLICATED,
            format!("{} from the fit", count(num_replicated, "data set")),
        );
    let caption = format!(
        "The density of the responses (thick) and of {} drawn from the fit (thin). A model that fits gives data sets that look like \
         the observed one; where the thick line leaves the bundle, the model's errors have the wrong shape. Links do not matter \
         here, since the responses are the same in any order. Here, {words}.",
        count(num_replicated, "data set")
    );
    Ok(Picture::new(&figure, caption))
}

/// The share of the grid on which the observed density is between the lowest and the highest of the replicated ones.
fn share_within(predictive: &Predictive) -> f64 {
    let peak = predictive.observed.iter().copied().fold(0.0, f64::max);
    let (mut within, mut compared) = (0, 0);
    for (k, observed) in predictive.observed.iter().enumerate() {
        let heights = || {
            predictive
                .replicated
                .iter()
                .filter_map(|heights| heights.get(k).copied())
        };
        let (Some(low), Some(high)) = (heights().reduce(f64::min), heights().reduce(f64::max))
        else {
            continue;
        };
        if *observed > NEGLIGIBLE * peak {
            compared += 1;
            within += usize::from((low..=high).contains(observed));
        }
    }
    within as f64 / f64::from(compared.max(1))
}
