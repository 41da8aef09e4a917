//! The legend of a figure: each series as its marks show it, in as many lines as it takes.

use super::figure::Panel;
use super::marks::{Mark, Series};
use super::svg::{num, text_element};
use super::text::{shorten, width};
use super::theme::{FONT_SIZE, colour_class, dash, marker};

const SWATCH: f64 = 24.0;
const LINE: f64 = 19.0;
const BETWEEN: f64 = 18.0;

pub(super) struct Legend {
    entries: Vec<Entry>,
    num_lines: usize,
}

struct Entry {
    series: Series,
    name: String,
    left: f64,
    line: usize,
    look: Look,
}

/// By what a series is seen in the panels.
#[derive(Default)]
struct Look {
    solid: bool,
    dashed: bool,
    area: bool,
    marker: bool,
}

impl Legend {
    pub fn new(named: &[(Series, String)], panels: &[Panel], max_width: f64) -> Self {
        let (mut left, mut line) = (0.0, 0);
        let mut entries = Vec::with_capacity(named.len());
        for (series, name) in named {
            let name = shorten(name, FONT_SIZE, max_width - SWATCH - 6.0);
            let taken = SWATCH + 6.0 + width(&name, FONT_SIZE);
            if left > 0.0 && left + taken > max_width {
                (left, line) = (0.0, line + 1);
            }
            entries.push(Entry {
                series: *series,
                name,
                left,
                line,
                look: Look::of(*series, panels),
            });
            left += taken + BETWEEN;
        }
        let num_lines = if entries.is_empty() { 0 } else { line + 1 };
        Self { entries, num_lines }
    }

    pub fn height(&self) -> f64 {
        match self.num_lines {
            0 => 0.0,
            lines => LINE * lines as f64 + 4.0,
        }
    }

    pub fn svg(&self, left: f64, top: f64) -> String {
        let mut svg = String::new();
        for entry in &self.entries {
            let (x, y) = (left + entry.left, top + LINE * (entry.line as f64 + 0.5));
            svg += &entry.look.swatch(entry.series, x, y);
            svg += &text_element(x + SWATCH + 6.0, y + 4.0, "class=\"us-label\"", &entry.name);
        }
        svg
    }
}

impl Look {
    fn of(series: Series, panels: &[Panel]) -> Self {
        let mut look = Self::default();
        for panel in panels {
            let lines_marked = lines_marked(panel, series);
            for mark in panel.marks.iter().filter(|m| m.series() == Some(series)) {
                match mark {
                    Mark::Line { dashed: true, .. } => look.dashed = true,
                    Mark::Line { .. } => {
                        look.solid = true;
                        look.marker |= lines_marked;
                    }
                    Mark::Fine { .. } => look.solid = true,
                    Mark::Bars { outline: true, .. } => {
                        look.solid = true;
                        look.marker |= lines_marked;
                    }
                    Mark::Area { .. } | Mark::Bars { .. } => look.area = true,
                    Mark::Points { .. } | Mark::LabelledPoints { .. } => look.marker = true,
                    Mark::Intervals { .. } => {
                        look.solid = true;
                        look.marker = true;
                    }
                    Mark::Heat { .. } | Mark::Rule { .. } => {}
                }
            }
        }
        look
    }

    fn swatch(&self, series: Series, x: f64, y: f64) -> String {
        let mut svg = format!("<g class=\"{}\">", colour_class(series));
        let (left, right) = (num(x), num(x + SWATCH));
        if self.area {
            let (top, height) = (num(y - 6.0), num(12.0));
            svg += &format!(
                "<rect class=\"us-area\" x=\"{left}\" y=\"{top}\" width=\"{}\" height=\"{height}\"/>",
                num(SWATCH)
            );
        }
        let line_y = if self.area { y - 6.0 } else { y };
        if self.solid || self.dashed || self.area {
            let dashes = match self.dashed && !self.solid {
                true => format!(" stroke-dasharray=\"{}\"", dash(series)),
                false => String::new(),
            };
            let line_y = num(line_y);
            svg += &format!("<path class=\"us-line\" d=\"M{left} {line_y}H{right}\"{dashes}/>");
        }
        // A series without marks is still named by its marker.
        if self.marker || !(self.solid || self.dashed || self.area) {
            let drawn = marker(series, x + SWATCH / 2.0, y, 3.8);
            svg += &format!("<g class=\"us-fill\">{drawn}</g>");
        }
        svg + "</g>\n"
    }
}

/// Lines between two points are fits rather than data, and on the trace of a chain markers are only in the way.
const MARKED_LENGTHS: std::ops::RangeInclusive<usize> = 3..=400;

/// Whether solid lines of a series carry its marker in a panel: where several would look alike in grey, and no points tell them apart.
pub(super) fn lines_marked(panel: &Panel, series: Series) -> bool {
    let solid = |mark: &Mark| match mark {
        Mark::Line {
            series,
            dashed: false,
            points,
        } if MARKED_LENGTHS.contains(&points.len()) => Some(*series),
        Mark::Bars {
            series,
            outline: true,
            bars,
        } if MARKED_LENGTHS.contains(&bars.len()) => Some(*series),
        _ => None,
    };
    let lines: Vec<Series> = panel.marks.iter().filter_map(solid).collect();
    let is_points = |mark: &Mark| match mark {
        Mark::Points { series: s, .. } | Mark::LabelledPoints { series: s, .. } => *s == series,
        _ => false,
    };
    let has_points = panel.marks.iter().any(is_points);
    lines.contains(&series) && lines.iter().any(|other| *other != series) && !has_points
}
