//! Observed responses against fitted ones, as linked and with each row at its best link.

use super::table::probability;
use super::{MOVED, ranked};
use crate::plot::{Axis, Figure, Mark, Panel, Series};
use crate::posterior::Row;
use crate::posterior::links::RowLinks;
use crate::report::format::{count, significant};
use crate::report::page::Picture;

/// Points in each panel.
const MOST_POINTS: usize = 3000;

/// Of each figure in pixels, so that its text stays readable at the width of a phone.
const WIDTH: f64 = 420.0;

const KEPT: Series = Series(0);
const RELINKED: Series = Series(1);
const EQUAL: Series = Series(6);

/// None for a program without coefficients, which has no fitted values.
pub fn picture(
    links: &[RowLinks],
    data: &[Row],
    label: &dyn Fn(usize) -> String,
) -> Option<Picture> {
    let fitted: Vec<[f64; 2]> = data.iter().map(|row| row.fitted).collect::<Option<_>>()?;
    let (moved, kept) = shown(links);
    let num_moved = links.iter().filter(|row| row.p_moved > MOVED).count();
    let finite = |value: &f64| value.is_finite();
    let all = || {
        data.iter()
            .map(|row| row.response)
            .chain(fitted.iter().flatten().copied())
    };
    let ends = (
        all().filter(finite).fold(f64::INFINITY, f64::min),
        all().filter(finite).fold(f64::NEG_INFINITY, f64::max),
    );
    let panel = |place: usize| {
        let kept = kept
            .iter()
            .map(|&row| (fitted[row][place], data[row].response));
        let moved = moved.iter().map(|&row| {
            let text = format!(
                "row {}, P(moved) {}",
                label(row),
                probability(links[row].p_moved)
            );
            (fitted[row][place], data[row].response, text)
        });
        Panel::new("")
            .x(Axis::linear("fitted"))
            .y(Axis::linear("observed"))
            .height(270.0)
            .linked()
            .mark(Mark::dashed(
                EQUAL,
                vec![(ends.0, ends.0), (ends.1, ends.1)],
            ))
            .mark(Mark::points(KEPT, kept.collect()))
            .mark(Mark::labelled_points(RELINKED, moved.collect()))
    };
    let [before, after] = [0, 1].map(|place| significant(mean_distance(data, &fitted, place), 3));
    let moved_words = match num_moved {
        1 => "1 row is".into(),
        many => format!("{many} rows are"),
    };
    // Two figures and not two panels, which a narrow page puts below each other.
    let figure = |title: &str, place: usize, distance: &str| {
        let description = format!(
            "Observed against fitted responses with the line on which they are equal; the mean distance between them is {distance}. {moved_words} more likely wrong than right."
        );
        Figure::new(title, description)
            .width(WIDTH)
            .panel(panel(place))
            .legend(KEPT, "more likely right")
            .legend(RELINKED, "more likely wrong")
            .inline_svg()
    };
    let svg = figure("As linked", 0, &before) + &figure("Each row at its best link", 1, &after);
    let mut caption = format!(
        "Each point is a row: observed against fitted, equal on the dashed line. Mean distance {before} as linked, {after} with each row at its best link."
    );
    let num_shown = moved.len() + kept.len();
    if num_shown < links.len() {
        caption += &format!(
            " Shown are {} of {}: {} moved ones and every so many of the others.",
            num_shown,
            count(links.len(), "row"),
            if moved.len() < num_moved {
                "the likeliest"
            } else {
                "all"
            }
        );
    }
    Some(Picture { svg, caption })
}

/// Moved rows, the likeliest first, and an even selection of the others.
fn shown(links: &[RowLinks]) -> (Vec<usize>, Vec<usize>) {
    let order = ranked(links).into_iter();
    let (mut moved, mut kept): (Vec<usize>, Vec<usize>) =
        order.partition(|&row| links[row].p_moved > MOVED);
    moved.truncate(MOST_POINTS);
    let room = MOST_POINTS - moved.len();
    kept.sort_unstable();
    if kept.len() > room {
        kept = (0..room).map(|k| kept[k * kept.len() / room]).collect();
    }
    (moved, kept)
}

fn mean_distance(data: &[Row], fitted: &[[f64; 2]], place: usize) -> f64 {
    let distances = data.iter().zip(fitted);
    let sum: f64 = distances
        .map(|(row, fitted)| (row.response - fitted[place]).abs())
        .sum();
    sum / data.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::super::tests::{data_rows, row_links};
    use super::*;

    #[test]
    fn moved_rows_are_named() {
        let links = [
            row_links(0, &[(1, 0.9)]),
            row_links(1, &[(0, 0.9)]),
            row_links(2, &[]),
        ];
        let label = |row: usize| format!("{} (<b>)", row + 1);
        let picture = picture(&links, &data_rows(&links), &label).unwrap();
        let named = "<title>row 1 (&lt;b&gt;), P(moved) 0.900</title>";
        assert_eq!(picture.svg.matches(named).count(), 2);
        assert!(!picture.svg.contains("row 3 (") && !picture.caption.contains("Shown are"));
    }

    #[test]
    fn others_are_thinned_and_moved_ones_are_not() {
        let links: Vec<RowLinks> = (0..9000)
            .map(|k| row_links(k, &[(k + 1, if k % 9 == 0 { 0.8 } else { 0.1 })]))
            .collect();
        let (moved, kept) = shown(&links);
        assert_eq!((moved.len(), kept.len()), (1000, 2000));
        assert!(kept.windows(2).all(|pair| pair[0] < pair[1]) && kept[1999] > 8990);
        let all_moved: Vec<RowLinks> = (0..4000).map(|k| row_links(k, &[(k + 1, 0.8)])).collect();
        let (moved, kept) = shown(&all_moved);
        assert_eq!((moved.len(), kept.len()), (3000, 0));
    }

    #[test]
    fn without_fitted_values_there_is_no_picture() {
        let links = [row_links(0, &[])];
        let mut data = data_rows(&links);
        data[0].fitted = None;
        assert!(picture(&links, &data, &|row| row.to_string()).is_none());
    }
}
