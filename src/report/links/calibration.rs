//! The probabilities that were given for the links, beside what the fit made of them.

use serde::Serialize;

use super::table::probability;
use crate::plot::{Axis, Figure, Mark, Panel, Series};
use crate::posterior::Posterior;
use crate::posterior::links::RowLinks;
use crate::report::format::{count, significant};
use crate::report::page::Picture;

/// Groups of about as many rows each, unless many rows have the same probability.
const MOST_GROUPS: usize = 10;
/// The standard normal quantile at 0.95: a difference beyond it is not put down to chance.
const Z_95: f64 = 1.645;

const GROUPS: Series = Series(0);
const EQUAL: Series = Series(6);

#[derive(Debug, Clone, Serialize)]
pub struct Calibration {
    /// Whether the given probabilities were too high, too low or about right.
    pub words: String,
    pub groups: Vec<Group>,
    pub picture: Picture,
}

/// Rows with neighbouring given probabilities.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    pub num_rows: usize,
    /// The lowest and the highest given probability.
    pub range: String,
    /// Means of P(right), as given and after the fit.
    pub given: f64,
    pub found: f64,
    pub given_text: String,
    pub found_text: String,
}

impl Calibration {
    /// None where no probabilities were given.
    pub fn new(fit: &Posterior, links: &[RowLinks]) -> Option<Calibration> {
        let given: Option<Vec<f64>> = fit.rows.iter().map(|row| row.match_probability).collect();
        let given = given.filter(|given| !given.is_empty())?;
        let pairs = given.iter().zip(links);
        let mut pairs: Vec<(f64, f64)> = pairs.map(|(p, row)| (*p, 1.0 - row.p_moved)).collect();
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let groups = groups(&pairs);
        Some(Calibration {
            words: words(fit, &given),
            picture: picture(&groups),
            groups,
        })
    }
}

/// `pairs` are P(right) as given and as found, in the order of the first; equal ones stay together.
fn groups(pairs: &[(f64, f64)]) -> Vec<Group> {
    let mut groups = Vec::new();
    let (mut start, mut end) = (0, 0);
    for same in pairs.chunk_by(|a, b| a.0 == b.0) {
        end += same.len();
        // The rows so far fill a further tenth of the file.
        let filled = |end: usize| end * MOST_GROUPS / pairs.len();
        if filled(end) > filled(start) {
            groups.push(Group::new(&pairs[start..end]));
            start = end;
        }
    }
    groups
}

impl Group {
    fn new(pairs: &[(f64, f64)]) -> Group {
        let mean = |part: fn(&(f64, f64)) -> f64| {
            let sum: f64 = pairs.iter().map(part).sum();
            sum / pairs.len() as f64
        };
        let (given, found) = (mean(|pair| pair.0), mean(|pair| pair.1));
        let ends = [pairs[0].0, pairs[pairs.len() - 1].0].map(probability);
        Group {
            num_rows: pairs.len(),
            range: if ends[0] == ends[1] {
                ends[0].clone()
            } else {
                format!("{} to {}", ends[0], ends[1])
            },
            given,
            found,
            given_text: probability(given),
            found_text: probability(found),
        }
    }
}

/// Were the probabilities right, the posterior mean of the number of wrong links would lie around the sum that they give, and
/// vary from file to file at most as that number itself does; besides, it has a Monte Carlo error.
fn words(fit: &Posterior, given: &[f64]) -> String {
    let expected: f64 = given.iter().map(|p| 1.0 - p).sum();
    let variance: f64 = given.iter().map(|p| p * (1.0 - p)).sum();
    let sum = format!(
        "By the given probabilities {expected:.1} of {} were expected to be wrong",
        count(given.len(), "link")
    );
    let row = fit.quantity("n_moved");
    let found = row.and_then(|row| Some((row.mean?, row.q5?, row.q95?, row.mcse)));
    let Some((mean, q5, q95, mcse)) = found else {
        return format!("{sum}; how many are could not be summarised.");
    };
    let chance = Z_95 * (variance + mcse.unwrap_or(0.0).powi(2)).sqrt();
    let judged = if mean > expected + chance {
        "too high: more links are wrong than they say"
    } else if mean < expected - chance {
        "too low: fewer links are wrong than they say"
    } else {
        "about right overall: chance explains the difference"
    };
    format!(
        "{sum}; the fit finds {} (90 % interval {q5:.0} to {q95:.0}), so the given probabilities were {judged}.",
        significant(mean, 3)
    )
}

fn picture(groups: &[Group]) -> Picture {
    let points = groups.iter().map(|group| {
        let text = format!(
            "{} given {}: {} on average, after the fit {}",
            count(group.num_rows, "row"),
            group.range,
            group.given_text,
            group.found_text
        );
        (group.given, group.found, text)
    });
    let values = groups.iter().flat_map(|group| [group.given, group.found]);
    // Most probabilities are near 1, so the axes begin a little below the lowest.
    let low = values.fold(1.0, f64::min);
    let low = (low - 0.05 * (1.0 - low) - 0.005).max(-0.02);
    let high = 1.0 + 0.02 * (1.0 - low);
    let panel = Panel::new("")
        .x(Axis::linear("P(right) as given").range(low, high))
        .y(Axis::linear("P(right) after the fit").range(low, high))
        .height(340.0)
        .mark(Mark::dashed(EQUAL, vec![(low, low), (1.0, 1.0)]))
        .mark(Mark::labelled_points(GROUPS, points.collect()));
    let told: Vec<String> = groups
        .iter()
        .map(|group| format!("{} became {}", group.given_text, group.found_text))
        .collect();
    let description = format!(
        "Scatter of the mean probability of being right after the fit against the given one, with the line on which they are equal: {}.",
        told.join(", ")
    );
    let figure = Figure::new(
        "Given probabilities and what the fit made of them",
        description,
    )
    .width(480.0)
    .panel(panel)
    .legend(GROUPS, "a group of rows")
    .legend(EQUAL, "as given");
    let caption = "Each point is a group of rows with neighbouring given probabilities. Above the dashed line links are right more often than was \
         said, below it less often, as far as the model is right; where the response says little of a link, the fit leaves it as given.";
    Picture::new(&figure, caption)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_of_equal_size_and_never_split_equal_values() {
        let pairs: Vec<(f64, f64)> = (0..95).map(|k| (0.5 + k as f64 / 200.0, 0.9)).collect();
        let sizes: Vec<usize> = groups(&pairs).iter().map(|g| g.num_rows).collect();
        assert_eq!(sizes.len(), 10);
        assert_eq!(sizes.iter().sum::<usize>(), 95);
        assert!(
            sizes.iter().all(|size| (9..=10).contains(size)),
            "{sizes:?}"
        );

        let two: Vec<(f64, f64)> = (0..100)
            .map(|k| if k < 30 { (0.5, 0.25) } else { (0.99, 1.0) })
            .collect();
        let two = groups(&two);
        let shown: Vec<_> = two.iter().map(|g| (g.num_rows, g.range.as_str())).collect();
        assert_eq!(shown, [(30, "0.500"), (70, "0.990")]);
        assert_eq!(
            (two[0].given_text.as_str(), two[0].found_text.as_str()),
            ("0.500", "0.250")
        );
        assert_eq!(groups(&[(0.5, 0.5), (0.7, 0.5), (1.0, 1.0)]).len(), 3);
    }

    #[test]
    fn too_high_too_low_and_about_right_are_told_apart() {
        let judged = |num_moved: f64| {
            let fit = Posterior::example(&[50, 50], 2).with_links(100);
            let fit = fit.with_column("n_moved__", |_, draw| num_moved + (draw % 2) as f64);
            words(&fit, &[0.9; 100])
        };
        // 10 expected, standard deviation 3: about right between 5.07 and 14.93.
        assert_eq!(
            judged(20.0),
            "By the given probabilities 10.0 of 100 links were expected to be wrong; the fit finds 20.5 (90 % interval 20 to 21), \
             so the given probabilities were too high: more links are wrong than they say."
        );
        assert!(judged(2.0).ends_with("were too low: fewer links are wrong than they say."));
        assert!(
            judged(14.0).ends_with("were about right overall: chance explains the difference.")
        );
        assert!(judged(16.0).contains("too high"));
    }

    #[test]
    fn the_picture_names_its_groups() {
        let pairs = [(0.5, 0.25), (0.5, 0.25), (0.9, 1.0), (0.9, 1.0)];
        let picture = picture(&groups(&pairs));
        assert!(
            picture
                .svg
                .contains("2 rows given 0.500: 0.500 on average, after the fit 0.250"),
            "{}",
            picture.svg
        );
        assert!(picture.svg.contains("0.900 became 1.000"));
    }
}
