//! The posterior mean of the permutation matrix of a small file as a heat map.

use crate::plot::{Axis, Figure, HeatCell, Mark, Panel};
use crate::posterior::links::RowLinks;
use crate::report::format::{count, percent};
use crate::report::page::Picture;

/// Rows of the largest file whose cells can be told apart.
const MOST_ROWS: usize = 60;

/// `number` is that of a row in the user's file. None for a larger file, whose table of cycles says more.
pub fn picture(links: &[RowLinks], number: &dyn Fn(usize) -> usize) -> Option<Picture> {
    if links.is_empty() || links.len() > MOST_ROWS {
        return None;
    }
    let mut cells = Vec::with_capacity(links.len() * links.len());
    for (y, row) in links.iter().enumerate() {
        let mut values = vec![0.0; links.len()];
        // Unlinked rows that are places have no column here.
        let inside = row.partners.iter().filter(|(x, _)| *x < links.len());
        inside.for_each(|&(x, p)| values[x] = p);
        cells.extend(values.into_iter().enumerate().map(|(x, value)| HeatCell {
            x: x as f64,
            y: y as f64,
            value,
            text: None,
        }));
    }
    let names = || (0..links.len()).map(|row| number(row).to_string());
    let title = "Posterior mean of the permutation matrix";
    let figure = Figure::new(title, description(links, number)).panel(
        Panel::new("")
            .x(Axis::categories(
                "belongs to the predictors of row",
                names(),
            ))
            .y(Axis::categories("response of row", names()).reversed())
            .height(if links.len() > 25 { 560.0 } else { 400.0 })
            .mark(Mark::heat(cells)),
    );
    let caption = "Each line is a row of the file, each cell the probability that its response belongs to the predictors of the row below. \
         The diagonal is P(right); dark cells off it are links that were found.";
    Some(Picture::new(&figure, caption))
}

fn description(links: &[RowLinks], number: &dyn Fn(usize) -> usize) -> String {
    let strongest = links.iter().enumerate().filter_map(|(row, own)| {
        let mut others = own.partners.iter().filter(|(column, _)| *column != row);
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
        count(links.len(), "row"),
        count(likely, "cell"),
        named.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::super::tests::row_links;
    use super::*;

    #[test]
    fn a_small_file_is_shown_whole_and_a_larger_one_not_at_all() {
        let mut links: Vec<RowLinks> = (0..60).map(|k| row_links(k, &[])).collect();
        let svg = picture(&links, &|row| row + 1).unwrap().svg;
        assert!(svg.matches("<rect").count() > 3600);
        assert!(svg.contains("whole weight on the diagonal"));
        links[50] = row_links(50, &[(3, 0.6), (7, 0.01)]);
        let svg = picture(&links, &|row| row + 1).unwrap().svg;
        assert!(svg.contains("row 51 to row 4 (60 %)"), "{svg}");
        links.push(row_links(60, &[]));
        assert!(picture(&links, &|row| row + 1).is_none());
    }
}
