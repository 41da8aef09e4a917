//! What can be drawn in a panel.

use super::axis::Extent;

/// The k-th thing compared in a figure: it has its colour, marker and dash in every panel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Series(pub usize);

/// An interval of y at a place of the x axis, or of x at a place of the y axis if it goes across: whiskers, a thicker inner part, a dot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    pub at: f64,
    pub low: f64,
    pub high: f64,
    pub inner: Option<(f64, f64)>,
    pub mid: f64,
}

/// A cell of a heat map: one unit wide and high, its centre at `x`, `y`.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatCell {
    pub x: f64,
    pub y: f64,
    pub value: f64,
    /// Left out where the cell is too small for it.
    pub text: Option<String>,
}

/// Values that are not finite, or not positive on a log axis, are left out: a line has a gap there, a cell stays empty.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    Line {
        series: Series,
        points: Vec<(f64, f64)>,
        dashed: bool,
    },
    /// Fine and without markers, however few its points: one of many lines that lie over each other.
    Fine {
        series: Series,
        points: Vec<(f64, f64)>,
    },
    Points {
        series: Series,
        points: Vec<(f64, f64)>,
    },
    /// Points with a text each, shown when the pointer rests on them.
    LabelledPoints {
        series: Series,
        points: Vec<(f64, f64, String)>,
    },
    Intervals {
        series: Series,
        bars: Vec<Interval>,
        /// Horizontal, as in a forest plot.
        across: bool,
    },
    /// From `low` to `high` along x, `height` up from zero: a histogram, or as an outline one of several that overlay.
    Bars {
        series: Series,
        /// Low, high, height.
        bars: Vec<(f64, f64, f64)>,
        outline: bool,
    },
    /// Filled from the line down to zero, or to the end of the axis if zero is not on it: a density.
    Area {
        series: Series,
        points: Vec<(f64, f64)>,
    },
    /// White to dark blue from `low` to `high`; diverging, blue over white to orange. What no cell covers is grey, also on dark pages.
    Heat {
        cells: Vec<HeatCell>,
        low: f64,
        high: f64,
        diverging: bool,
    },
    /// A reference line across the panel, at a value of y if horizontal, else of x.
    Rule {
        at: f64,
        horizontal: bool,
        label: String,
    },
}

impl Mark {
    pub fn line(series: Series, points: Vec<(f64, f64)>) -> Self {
        Self::Line {
            series,
            points,
            dashed: false,
        }
    }

    pub fn dashed(series: Series, points: Vec<(f64, f64)>) -> Self {
        Self::Line {
            series,
            points,
            dashed: true,
        }
    }

    /// A trace, or the density of one chain among others.
    pub fn fine(series: Series, points: Vec<(f64, f64)>) -> Self {
        Self::Fine { series, points }
    }

    pub fn points(series: Series, points: Vec<(f64, f64)>) -> Self {
        Self::Points { series, points }
    }

    pub fn labelled_points(series: Series, points: Vec<(f64, f64, String)>) -> Self {
        Self::LabelledPoints { series, points }
    }

    pub fn intervals(series: Series, bars: Vec<Interval>) -> Self {
        Self::Intervals {
            series,
            bars,
            across: false,
        }
    }

    /// A forest plot: names as categories down the side, each `Interval::at` a place among them. Where the axis of names is
    /// [reversed](super::Axis::reversed), the first name is on top, and so is the first of several that are [dodged](dodge).
    pub fn intervals_across(series: Series, bars: Vec<Interval>) -> Self {
        Self::Intervals {
            series,
            bars,
            across: true,
        }
    }

    /// Filled bars; each is low, high, height.
    pub fn bars(series: Series, bars: Vec<(f64, f64, f64)>) -> Self {
        Self::Bars {
            series,
            bars,
            outline: false,
        }
    }

    /// The outline of bars alone, as a line in steps.
    pub fn steps(series: Series, bars: Vec<(f64, f64, f64)>) -> Self {
        Self::Bars {
            series,
            bars,
            outline: true,
        }
    }

    pub fn area(series: Series, points: Vec<(f64, f64)>) -> Self {
        Self::Area { series, points }
    }

    /// Cells coloured from 0 to 1, as probabilities are.
    pub fn heat(cells: Vec<HeatCell>) -> Self {
        Self::Heat {
            cells,
            low: 0.0,
            high: 1.0,
            diverging: false,
        }
    }

    /// Cells coloured from -1 to 1, as correlations are.
    pub fn diverging_heat(cells: Vec<HeatCell>) -> Self {
        Self::Heat {
            cells,
            low: -1.0,
            high: 1.0,
            diverging: true,
        }
    }

    /// A horizontal reference line at a value of y.
    pub fn rule_at_y(at: f64, label: impl Into<String>) -> Self {
        Self::Rule {
            at,
            horizontal: true,
            label: label.into(),
        }
    }

    /// A vertical reference line at a value of x.
    pub fn rule_at_x(at: f64, label: impl Into<String>) -> Self {
        Self::Rule {
            at,
            horizontal: false,
            label: label.into(),
        }
    }

    pub fn series(&self) -> Option<Series> {
        match self {
            Self::Line { series, .. }
            | Self::Fine { series, .. }
            | Self::Points { series, .. }
            | Self::LabelledPoints { series, .. }
            | Self::Intervals { series, .. }
            | Self::Bars { series, .. }
            | Self::Area { series, .. } => Some(*series),
            Self::Heat { .. } | Self::Rule { .. } => None,
        }
    }

    /// Adds what the mark reaches to the extents of both axes.
    pub(super) fn reach(&self, x: &mut Extent, y: &mut Extent) {
        match self {
            Self::Line { points, .. } | Self::Fine { points, .. } | Self::Points { points, .. } => {
                reach_points(points.iter().copied(), x, y);
            }
            Self::LabelledPoints { points, .. } => {
                reach_points(points.iter().map(|&(px, py, _)| (px, py)), x, y);
            }
            Self::Area { points, .. } => {
                reach_points(points.iter().copied(), x, y);
                if !points.is_empty() {
                    y.edge(0.0);
                }
            }
            Self::Intervals { bars, across, .. } => {
                let (place, reached) = if *across { (y, x) } else { (x, y) };
                for bar in bars.iter().filter(|bar| bar.at.is_finite()) {
                    place.value(bar.at);
                    let (inner_low, inner_high) = bar.inner.unwrap_or((bar.mid, bar.mid));
                    for value in [bar.low, inner_low, bar.mid, inner_high, bar.high] {
                        reached.value(value);
                    }
                }
            }
            Self::Bars { bars, .. } => {
                let finite = |b: &&(f64, f64, f64)| [b.0, b.1, b.2].iter().all(|v| v.is_finite());
                let empty = bars.iter().all(|bar| bar.2 == 0.0);
                for &(low, high, height) in bars.iter().filter(finite) {
                    x.edge(low);
                    x.edge(high);
                    y.value(height);
                    y.edge(0.0);
                    // Where there is nothing but empty bins, zero still is at the bottom.
                    if empty {
                        y.edge(1.0);
                    }
                }
            }
            Self::Heat { cells, .. } => {
                for cell in cells.iter().filter(|cell| cell.value.is_finite()) {
                    for half in [-0.5, 0.5] {
                        x.edge(cell.x + half);
                        y.edge(cell.y + half);
                    }
                }
            }
            Self::Rule { at, horizontal, .. } => {
                let axis = if *horizontal { y } else { x };
                axis.value(*at);
            }
        }
    }
}

/// A point counts only as a whole: one without a finite y is not drawn, so its x needs no room.
fn reach_points(points: impl Iterator<Item = (f64, f64)>, x: &mut Extent, y: &mut Extent) {
    let drawn = points.filter(|(px, py)| px.is_finite() && py.is_finite());
    for (px, py) in drawn {
        x.value(px);
        y.value(py);
    }
}

/// How far the k-th of `count` things at the same category is moved aside, so that they stand next to each other.
pub fn dodge(k: usize, count: usize) -> f64 {
    const WIDTH: f64 = 0.6;
    assert!(k < count, "the k-th of count");
    WIDTH * ((k as f64 + 0.5) / count as f64 - 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dodged_things_are_centred() {
        assert_eq!(dodge(0, 1), 0.0);
        assert_eq!(dodge(0, 2), -dodge(1, 2));
        assert!(dodge(3, 4) < 0.5);
    }
}
