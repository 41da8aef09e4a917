//! The grid of panels: margins as wide as their labels need, the same for the panels of a column or row where they differ little.

use super::figure::Panel;
use super::labels::Labels;
use super::panel::Plan;

/// Around the figure.
pub(super) const MARGIN: f64 = 14.0;
/// Between panels.
pub(super) const GAP: f64 = 18.0;

/// The rectangle of a panel in which marks are drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
}

impl Frame {
    pub fn x(&self, fraction: f64) -> f64 {
        self.left + fraction * self.width
    }

    pub fn y(&self, fraction: f64) -> f64 {
        self.top + (1.0 - fraction) * self.height
    }

    pub fn right(&self) -> f64 {
        self.left + self.width
    }

    pub fn bottom(&self) -> f64 {
        self.top + self.height
    }
}

pub(super) struct Grid<'a> {
    plans: Vec<Plan<'a>>,
    columns: usize,
    cell_width: f64,
    /// Left and right margin of each panel.
    sides: Vec<(f64, f64)>,
    rows: Vec<Row>,
    /// Of each panel: labels below and beside it.
    labels: Vec<(Labels, Labels)>,
}

#[derive(Clone, Copy, Default)]
struct Row {
    title: f64,
    plot: f64,
    bottom: f64,
}

impl<'a> Grid<'a> {
    pub fn new(panels: &'a [Panel], columns: usize, width: f64) -> Self {
        let plans: Vec<Plan> = panels.iter().map(Plan::new).collect();
        let cell_width = (width - GAP * (columns - 1) as f64) / columns as f64;
        let mut rows = vec![Row::default(); plans.len().div_ceil(columns)];
        for (k, plan) in plans.iter().enumerate() {
            let row = &mut rows[k / columns];
            row.title = row.title.max(plan.title_height(cell_width));
            row.plot = row.plot.max(plan.plot_height(cell_width, columns));
        }

        let mut sides = Vec::with_capacity(plans.len());
        let mut beside = Vec::with_capacity(plans.len());
        for (k, plan) in plans.iter().enumerate() {
            let height = rows[k / columns].plot;
            let labels = plan.labels_beside(height, cell_width);
            sides.push((plan.left_margin(&labels, height), plan.right_margin()));
            beside.push(labels);
        }
        // Wider margins leave less room for the labels below, which may then reach further: two rounds settle it.
        for _ in 0..2 {
            for (side, plan) in sides.iter_mut().zip(&plans) {
                let length = plot_width(cell_width, *side);
                let (left, right) = plan.labels_below(length).overhang(length);
                *side = (side.0.max(left), side.1.max(right));
            }
        }
        align(&mut sides, columns);
        let mut below = Vec::with_capacity(plans.len());
        for (k, plan) in plans.iter().enumerate() {
            let length = plot_width(cell_width, sides[k]);
            let labels = plan.labels_below(length);
            let row = &mut rows[k / columns];
            row.bottom = row.bottom.max(plan.bottom_margin(&labels, length));
            below.push(labels);
        }
        Self {
            plans,
            columns,
            cell_width,
            sides,
            rows,
            labels: below.into_iter().zip(beside).collect(),
        }
    }

    pub fn height(&self) -> f64 {
        let rows: f64 = self.rows.iter().map(Row::height).sum();
        rows + GAP * self.rows.len().saturating_sub(1) as f64
    }

    pub fn svg(&self, left: f64, top: f64) -> String {
        let mut svg = String::new();
        let mut row_top = top;
        for (row, of_row) in self.rows.iter().zip(0..) {
            for column in 0..self.columns {
                let k = of_row * self.columns + column;
                let Some(plan) = self.plans.get(k) else {
                    break;
                };
                let cell_left = left + column as f64 * (self.cell_width + GAP);
                let frame = Frame {
                    left: cell_left + self.sides[k].0,
                    top: row_top + row.title,
                    width: plot_width(self.cell_width, self.sides[k]),
                    height: row.plot,
                };
                let (below, beside) = &self.labels[k];
                svg += &plan.svg(&frame, cell_left, self.cell_width, below, beside);
            }
            row_top += row.height() + GAP;
        }
        svg
    }
}

impl Row {
    fn height(&self) -> f64 {
        self.title + self.plot + self.bottom
    }
}

/// Panels of a column start and end at the same place, but none gives up much of its width for that.
fn align(sides: &mut [(f64, f64)], columns: usize) {
    const GIVEN_UP: f64 = 32.0;
    let widest = |own: f64, all: &mut dyn Iterator<Item = f64>| {
        all.filter(|other| *other <= own + GIVEN_UP)
            .fold(own, f64::max)
    };
    let own = sides.to_vec();
    for (k, side) in sides.iter_mut().enumerate() {
        let column = || own.iter().skip(k % columns).step_by(columns);
        side.0 = widest(side.0, &mut column().map(|other| other.0));
        side.1 = widest(side.1, &mut column().map(|other| other.1));
    }
}

fn plot_width(cell_width: f64, (left, right): (f64, f64)) -> f64 {
    // Absurdly long labels must not leave a plot of no width.
    (cell_width - left - right).max(60.0)
}
