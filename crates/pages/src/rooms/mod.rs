//! docs/rooms.svg: which room of src/ uses which other.

mod graph;
mod tokens;

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use unshuffle_plot::{Axis, Figure, Mark, Panel, Series};

use graph::{Graph, ROOMS};

/// Writes the picture of `src`.
pub fn draw(src: &Path, to: &Path) -> Result<()> {
    let graph = Graph::read(src);
    ensure!(
        graph.unknown.is_empty(),
        "paths that lead to no room: {}",
        graph.unknown.join(", ")
    );
    let cannot = || format!("cannot write {}", to.display());
    std::fs::write(to, figure(&graph).svg()).with_context(cannot)
}

const DOWN: Series = Series(0);
const UP: Series = Series(1);

/// A matrix: a room that uses (row) and a room that is used (column), in the order of the storeys.
fn figure(graph: &Graph) -> Figure {
    let arrows: BTreeSet<(usize, usize)> = (graph.arrows.iter())
        .map(|arrow| (arrow.from, arrow.to))
        .collect();
    // Rooms without an arrow, such as a folder's own mod.rs, are left out.
    let shown: Vec<usize> = (0..ROOMS.len())
        .filter(|room| arrows.iter().any(|(from, to)| from == room || to == room))
        .collect();
    let place = |room: usize| shown.iter().take_while(|known| **known != room).count() as f64;
    let points = |up: bool| -> Vec<(f64, f64)> {
        let wanted = arrows.iter().filter(|(from, to)| (to > from) == up);
        wanted.map(|&(from, to)| (place(to), place(from))).collect()
    };
    let names = || shown.iter().map(|&room| ROOMS[room]);
    let upwards = points(true);
    let description = format!(
        "Matrix of {} rooms in the order of their storeys, with {} arrows, of which {} point up.",
        shown.len(),
        arrows.len(),
        upwards.len()
    );
    let panel = Panel::new("Each row uses the columns that are marked")
        .x(Axis::categories("used", names()))
        .y(Axis::categories("uses", names()))
        .mark(Mark::points(DOWN, points(false)));
    let figure = Figure::new("The rooms of src/", description).legend(DOWN, "down the storeys");
    if upwards.is_empty() {
        return figure.panel(panel);
    }
    figure
        .panel(panel.mark(Mark::points(UP, upwards)))
        .legend(UP, "up: refused by tests/house/rooms.rs")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::committed::{assert_same, docs};
    use crate::support::root;

    #[test]
    fn the_committed_picture_is_that_of_the_sources() {
        let folder = tempfile::tempdir().unwrap();
        let made = folder.path().join("rooms.svg");
        draw(&root().join("src"), &made).unwrap();
        assert_same(&made, &docs().join("rooms.svg"), "rooms");
    }
}
