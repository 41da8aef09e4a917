//! The posterior mean of the permutation matrix as a heat map: all of a small file, else where something happens.

use std::collections::BTreeSet;

use super::ranked;
use crate::plot::{Axis, Figure, HeatCell, Mark, Panel};
use crate::posterior::links::RowLinks;
use crate::report::format::{count, percent};
use crate::report::page::Picture;

/// Rows and columns of the picture.
const MOST_ROWS: usize = 60;
/// A link with less probability does not call for a place in the picture.
const VISIBLE: f64 = 0.02;

/// `number` is that of a row in the user's file. None where the file is too large to be drawn whole and no link deserves a picture.
pub fn picture(links: &[RowLinks], number: &dyn Fn(usize) -> usize) -> Option<Picture> {
    let shown = shown(links);
    if shown.is_empty() {
        return None;
    }
    let column = |row: usize| shown.binary_search(&row).ok();
    let mut cells = Vec::with_capacity(shown.len() * shown.len());
    let (mut away, mut inside) = (0.0, 0.0);
    for (y, &row) in shown.iter().enumerate() {
        let mut values = vec![0.0; shown.len()];
        for &(partner, p) in &links[row].partners {
            let place = column(partner);
            if let Some(x) = place {
                values[x] = p;
            }
            if partner != row {
                away += p;
                inside += place.map_or(0.0, |_| p);
            }
        }
        cells.extend(values.into_iter().enumerate().map(|(x, value)| HeatCell {
            x: x as f64,
            y: y as f64,
            value,
            text: None,
        }));
    }
    let names = || shown.iter().map(|row| number(*row).to_string());
    let title = "Posterior mean of the permutation matrix";
    let figure = Figure::new(title, description(links, &shown, number)).panel(
        Panel::new("")
            .x(Axis::categories(
                "belongs to the predictors of row",
                names(),
            ))
            .y(Axis::categories("response of row", names()).reversed())
            .height(if shown.len() > 25 { 560.0 } else { 400.0 })
            .mark(Mark::heat(cells)),
    );
    let mut caption = "Each line is a row of the file, each cell the probability that its response belongs to the predictors of the row below. \
         The diagonal is P(right); dark cells off it are links that were found."
        .to_string();
    if shown.len() < links.len() {
        caption += &format!(
            " Shown are {} of {} rows: {} a link of at least {VISIBLE} off the diagonal",
            shown.len(),
            links.len(),
            match shown.len() {
                MOST_ROWS => "those with the largest P(moved) among the ones with",
                _ => "the ones with",
            },
        );
        if away > 0.0 {
            caption += &format!(
                "; {} of the probability that they moved lies within the picture",
                percent(inside / away)
            );
        }
        caption += ". pi_mean.csv has the whole matrix.";
    }
    Some(Picture::new(&figure, caption))
}

/// Rows of the picture in the order of the file.
fn shown(links: &[RowLinks]) -> Vec<usize> {
    if links.len() <= MOST_ROWS {
        return (0..links.len()).collect();
    }
    let mut involved = BTreeSet::new();
    for (row, own) in links.iter().enumerate() {
        for &(column, p) in &own.partners {
            if column != row && p >= VISIBLE {
                involved.extend([row, column]);
            }
        }
    }
    let order = ranked(links).into_iter();
    let mut shown: Vec<usize> = order
        .filter(|row| involved.contains(row))
        .take(MOST_ROWS)
        .collect();
    shown.sort_unstable();
    shown
}

fn description(links: &[RowLinks], shown: &[usize], number: &dyn Fn(usize) -> usize) -> String {
    let strongest = shown.iter().filter_map(|&row| {
        let mut others = links[row]
            .partners
            .iter()
            .filter(|(column, _)| *column != row);
        others.next().map(|&(column, p)| (row, column, p))
    });
    let mut strongest: Vec<(usize, usize, f64)> = strongest.collect();
    strongest.sort_by(|a, b| b.2.total_cmp(&a.2));
    let likely = strongest
        .iter()
        .filter(|link| link.2 > super::MOVED)
        .count();
    let named: Vec<String> = strongest
        .iter()
        .take(5)
        .map(|(row, column, p)| {
            format!(
                "row {} to row {} ({})",
                number(*row),
                number(*column),
                percent(*p)
            )
        })
        .collect();
    if named.is_empty() {
        return "A heat map with its whole weight on the diagonal: no link was ever moved.".into();
    }
    format!(
        "A heat map of {}; {} off the diagonal with more than half of the probability. The strongest: {}.",
        count(shown.len(), "row"),
        count(likely, "cell"),
        named.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::super::tests::row_links;
    use super::*;

    #[test]
    fn a_small_file_is_shown_whole() {
        let links: Vec<RowLinks> = (0..60).map(|k| row_links(k, &[])).collect();
        assert_eq!(shown(&links), (0..60).collect::<Vec<_>>());
        let svg = picture(&links, &|row| row + 1).unwrap().svg;
        assert!(svg.matches("<rect").count() > 3600);
        assert!(svg.contains("whole weight on the diagonal"));
    }

    #[test]
    fn of_a_large_file_only_what_moves_is_shown() {
        let mut links: Vec<RowLinks> = (0..200).map(|k| row_links(k, &[])).collect();
        assert_eq!(picture(&links, &|row| row + 1).map(|p| p.caption), None);
        links[150] = row_links(150, &[(3, 0.6), (7, 0.01)]);
        links[3] = row_links(3, &[(150, 0.6)]);
        links[90] = row_links(90, &[(91, 0.019)]);
        assert_eq!(shown(&links), [3, 150]);
        let picture = picture(&links, &|row| row + 1).unwrap();
        assert!(
            picture.svg.contains("row 151 to row 4 (60 %)"),
            "{}",
            picture.svg
        );
        assert!(picture.caption.contains("Shown are 2 of 200 rows"));
        assert!(
            picture.caption.contains("99.2 % of the probability"),
            "{}",
            picture.caption
        );
    }

    #[test]
    fn no_more_rows_than_can_be_told_apart() {
        let links: Vec<RowLinks> = (0..200)
            .map(|k| row_links(k, &[((k + 1) % 200, 0.1 + k as f64 / 400.0)]))
            .collect();
        assert_eq!(shown(&links), (140..200).collect::<Vec<_>>());
    }
}
