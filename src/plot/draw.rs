//! Marks of series as SVG, cut to the panel.

use super::axis::Span;
use super::cells;
use super::clip::{self, Point};
use super::figure::Panel;
use super::heat::HeatScale;
use super::layout::Frame;
use super::legend::lines_marked;
use super::marks::{Interval, Mark, Series};
use super::svg::num;
use super::theme::{colour_class, dash, marker};

/// Lines and clouds with more points than this are drawn finer.
const MANY: usize = 400;

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
            Mark::Points { series, points } => canvas.points(*series, points),
            Mark::Intervals { series, bars } => canvas.intervals(*series, bars),
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

struct Canvas<'a> {
    frame: &'a Frame,
    x: &'a Span,
    y: &'a Span,
}

impl Canvas<'_> {
    /// Fractions of both axes; none if either value cannot be drawn.
    fn place(&self, &(x, y): &(f64, f64)) -> Option<Point> {
        Some((self.x.fraction(x)?, self.y.fraction(y)?))
    }

    /// Pixels of the points that lie within the panel.
    fn visible(&self, points: &[(f64, f64)]) -> Vec<Point> {
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
            let visible = self.visible(points);
            let at = marker_places(series, visible.len());
            let markers: String = at
                .map(|k| marker(series, visible[k].0, visible[k].1, 3.4))
                .collect();
            svg += &format!("<g class=\"us-fill us-outlined\">{markers}</g>\n");
        }
        svg
    }

    fn points(&self, series: Series, points: &[(f64, f64)]) -> String {
        let visible = self.visible(points);
        if visible.is_empty() {
            return String::new();
        }
        let (class, radius) = match visible.len() > MANY {
            true => ("us-dense", 2.2),
            false => ("us-points", 3.2),
        };
        let markers = visible.iter().map(|&(x, y)| marker(series, x, y, radius));
        let markers: Vec<String> = markers.collect();
        format!("<g class=\"{class}\">\n{}\n</g>\n", markers.join("\n"))
    }

    fn intervals(&self, series: Series, bars: &[Interval]) -> String {
        let mut svg = String::new();
        for bar in bars {
            let Some(at) = self.x.fraction_within(bar.at) else {
                continue;
            };
            let x = self.frame.x(at);
            let mut part = |class: &str, low: f64, high: f64| {
                if let Some((low, high)) = self.visible_part(low, high) {
                    let (x, low, high) = (num(x), num(low), num(high));
                    svg += &format!("<path class=\"{class}\" d=\"M{x} {low}V{high}\"/>\n");
                }
            };
            part("us-whisker", bar.low, bar.high);
            if let Some((low, high)) = bar.inner {
                part("us-inner", low, high);
            }
            if let Some(mid) = self.y.fraction_within(bar.mid) {
                let dot = marker(series, x, self.frame.y(mid), 4.2);
                svg += &format!("<g class=\"us-fill us-outlined\">{dot}</g>\n");
            }
        }
        svg
    }

    /// Pixels of the part of an interval of y that the panel shows.
    fn visible_part(&self, low: f64, high: f64) -> Option<(f64, f64)> {
        let (a, b) = (self.y.fraction(low)?, self.y.fraction(high)?);
        let (bottom, top) = (a.min(b).max(0.0), a.max(b).min(1.0));
        (bottom <= top).then(|| (self.frame.y(bottom), self.frame.y(top)))
    }

    fn area(&self, points: &[(f64, f64)]) -> String {
        let places: Vec<Option<Point>> = points.iter().map(|point| self.place(point)).collect();
        let outline = self.path(clip::polyline(places.iter().copied()));
        let end = if self.y.reversed { 1.0 } else { 0.0 };
        let floor = self.y.fraction(0.0).unwrap_or(end).clamp(0.0, 1.0);
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
    fn path(&self, pieces: Vec<Vec<Point>>) -> String {
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
