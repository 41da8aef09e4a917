//! Marks of series as SVG, cut to the panel.

use super::axis::Span;
use super::cells;
use super::clip::{self, Point};
use super::figure::Panel;
use super::heat::HeatScale;
use super::layout::Frame;
use super::legend::lines_marked;
use super::marks::{Mark, Series};
use super::svg::num;
use super::theme::{colour_class, dash, marker};

/// Lines and clouds with more points than this are drawn finer.
pub(super) const MANY: usize = 400;

/// A panel's marks but for its rules; empty if none of them has anything to show.
pub(super) fn marks(panel: &Panel, frame: &Frame, x: &Span, y: &Span) -> String {
    let canvas = Canvas { frame, x, y };
    let mut svg = String::new();
    for mark in &panel.marks {
        let drawn = match mark {
            Mark::Line {
                series,
                points,
                dashed,
            } => canvas.line(*series, points, *dashed, lines_marked(panel, *series)),
            Mark::Fine { points, .. } => canvas.fine(points),
            Mark::Points { series, points } => canvas.points(*series, points),
            Mark::LabelledPoints { series, points } => canvas.labelled_points(*series, points),
            Mark::Intervals {
                series,
                bars,
                across,
            } => canvas.intervals(*series, bars, *across),
            Mark::Bars {
                bars,
                outline: false,
                ..
            } => canvas.bars(bars),
            Mark::Bars {
                series,
                bars,
                outline: true,
            } => canvas.steps(*series, bars, lines_marked(panel, *series)),
            Mark::Area { points, .. } => canvas.area(points),
            Mark::Heat {
                cells,
                low,
                high,
                diverging,
            } => {
                let scale = HeatScale {
                    low: *low,
                    high: *high,
                    diverging: *diverging,
                };
                cells::cells(cells, &scale, frame, x, y)
            }
            Mark::Rule { .. } => String::new(),
        };
        match mark.series() {
            Some(series) if !drawn.is_empty() => {
                let class = colour_class(series);
                svg += &format!("<g class=\"{class}\">\n{drawn}</g>\n");
            }
            _ => svg += &drawn,
        }
    }
    svg
}

/// A panel's rectangle and what it spans. Points, intervals and bars are drawn in files of their own.
pub(super) struct Canvas<'a> {
    pub frame: &'a Frame,
    pub x: &'a Span,
    pub y: &'a Span,
}

impl Canvas<'_> {
    /// Fractions of both axes; none if either value cannot be drawn.
    pub fn place(&self, &(x, y): &(f64, f64)) -> Option<Point> {
        Some((self.x.fraction(x)?, self.y.fraction(y)?))
    }

    /// Pixels of the points that lie within the panel.
    pub fn visible(&self, points: &[(f64, f64)]) -> Vec<Point> {
        let within =
            |&(x, y): &(f64, f64)| Some((self.x.fraction_within(x)?, self.y.fraction_within(y)?));
        let pixel = |(x, y): Point| (self.frame.x(x), self.frame.y(y));
        points.iter().filter_map(within).map(pixel).collect()
    }

    fn line(&self, series: Series, points: &[(f64, f64)], dashed: bool, marked: bool) -> String {
        let path = self.path(clip::polyline(points.iter().map(|point| self.place(point))));
        if path.is_empty() {
            return path;
        }
        let class = if points.len() > MANY {
            "us-fine"
        } else {
            "us-line"
        };
        let dashes = match dashed {
            true => format!(" stroke-dasharray=\"{}\"", dash(series)),
            false => String::new(),
        };
        let mut svg = format!("<path class=\"{class}\" d=\"{path}\"{dashes}/>\n");
        if marked && !dashed {
            svg += &self.markers(series, points);
        }
        svg
    }

    fn fine(&self, points: &[(f64, f64)]) -> String {
        let path = self.path(clip::polyline(points.iter().map(|point| self.place(point))));
        if path.is_empty() {
            return path;
        }
        format!("<path class=\"us-fine\" d=\"{path}\"/>\n")
    }

    /// Markers at some of a line's points.
    pub fn markers(&self, series: Series, points: &[(f64, f64)]) -> String {
        let visible = self.visible(points);
        let at = marker_places(series, visible.len());
        let markers: String = at
            .map(|k| marker(series, visible[k].0, visible[k].1, 3.4))
            .collect();
        format!("<g class=\"us-fill us-outlined\">{markers}</g>\n")
    }

    /// Where what is filled ends: at zero, or at the end of the axis if zero is not on it.
    pub fn floor(&self) -> f64 {
        let end = if self.y.reversed { 1.0 } else { 0.0 };
        self.y.fraction(0.0).unwrap_or(end).clamp(0.0, 1.0)
    }

    fn area(&self, points: &[(f64, f64)]) -> String {
        let places: Vec<Option<Point>> = points.iter().map(|point| self.place(point)).collect();
        let outline = self.path(clip::polyline(places.iter().copied()));
        let floor = self.floor();
        let mut shapes = String::new();
        for run in places.split(Option::is_none) {
            let mut corners: Vec<Point> = run.iter().copied().flatten().collect();
            if let (Some(&first), Some(&last)) = (corners.first(), corners.last()) {
                corners.extend([(last.0, floor), (first.0, floor)]);
                let shape = self.path(vec![clip::polygon(corners)]);
                if !shape.is_empty() {
                    shapes += &shape;
                    shapes.push('z');
                }
            }
        }
        if shapes.is_empty() {
            return shapes;
        }
        format!(
            "<path class=\"us-area\" d=\"{shapes}\"/>\n<path class=\"us-line\" d=\"{outline}\"/>\n"
        )
    }

    /// Path data through pieces given as fractions; points that round to the same pixel are drawn once.
    pub fn path(&self, pieces: Vec<Vec<Point>>) -> String {
        let mut path = String::new();
        for piece in pieces {
            let mut before = String::new();
            let mut num_drawn = 0;
            for (x, y) in piece {
                let here = format!("{} {}", num(self.frame.x(x)), num(self.frame.y(y)));
                if here != before {
                    path.push(if num_drawn == 0 { 'M' } else { 'L' });
                    path += &here;
                    num_drawn += 1;
                    before = here;
                }
            }
            if num_drawn == 1 {
                path += "h0";
            }
        }
        path
    }
}

/// Which of a line's points carry markers: all of a few, else five spread out, at other places for the next series.
fn marker_places(series: Series, num_points: usize) -> impl Iterator<Item = usize> {
    const FEW: usize = 12;
    const SPREAD: usize = 5;
    let shift = (series.0 % 4) as f64 / 4.0 + 0.1;
    let spread = move |k: usize| ((k as f64 + shift) / SPREAD as f64 * num_points as f64) as usize;
    let all = num_points <= FEW;
    let count = if all { num_points } else { SPREAD };
    (0..count).map(move |k| if all { k } else { spread(k) })
}
