//! One panel: what its axes span, how much room it needs, and its frame, grid, labels and marks.

use super::axis::{Extent, Scale, Span};
use super::cells;
use super::draw;
use super::figure::Panel;
use super::heat::{HeatScale, MISSING};
use super::intervals;
use super::labels::{self, Label, Labels, SLOPE};
use super::layout::Frame;
use super::marks::Mark;
use super::rules;
use super::svg::{escape, num, text_element};
use super::text::wrap;
use super::theme::{FONT_SIZE, LINE_HEIGHT, PANEL_TITLE_SIZE};

const LINE: f64 = FONT_SIZE * LINE_HEIGHT;
/// From the frame to tick labels.
const TICK_GAP: f64 = 6.0;

pub(super) struct Plan<'a> {
    panel: &'a Panel,
    x: Option<Span>,
    y: Option<Span>,
    heat: Option<HeatScale>,
}

impl<'a> Plan<'a> {
    pub fn new(panel: &'a Panel) -> Self {
        let mut x = Extent::new(panel.x.is_log());
        let mut y = Extent::new(panel.y.is_log());
        for mark in &panel.marks {
            mark.reach(&mut x, &mut y);
        }
        let heat = panel.marks.iter().find_map(|mark| match *mark {
            Mark::Heat {
                low,
                high,
                diverging,
                ..
            } => Some(HeatScale {
                low,
                high,
                diverging,
            }),
            _ => None,
        });
        Self {
            panel,
            x: panel.x.span(&x),
            y: panel.y.span(&y),
            heat,
        }
    }

    fn title_lines(&self, cell_width: f64) -> Vec<String> {
        wrap(&self.panel.title, 1.1 * PANEL_TITLE_SIZE, cell_width, 2)
    }

    pub fn title_height(&self, cell_width: f64) -> f64 {
        match self.title_lines(cell_width).len() {
            0 => FONT_SIZE / 2.0,
            lines => lines as f64 * PANEL_TITLE_SIZE * LINE_HEIGHT + 6.0,
        }
    }

    /// Heat maps have cells about as high as wide, categories have room for their names and for the intervals beside them.
    pub fn plot_height(&self, cell_width: f64, columns: usize) -> f64 {
        if let Some(height) = self.panel.height {
            return height;
        }
        let usual = match columns {
            1 => 280.0,
            2 => 230.0,
            3 => 180.0,
            _ => 150.0,
        };
        let (Some(x), Some(y)) = (self.x, self.y) else {
            return usual;
        };
        let rows = y.high - y.low;
        if self.heat.is_some() {
            let cell = (0.75 * cell_width / (x.high - x.low)).min(36.0);
            return (rows * cell).clamp(0.6 * usual, 2.2 * usual);
        }
        match self.panel.y.scale {
            Scale::Categories(_) => {
                let intervals = intervals::rows_per_category(self.panel).max(1);
                f64::max(60.0, rows * (14.0 * intervals as f64 + 6.0))
            }
            _ => usual,
        }
    }

    pub fn labels_beside(&self, length: f64, cell_width: f64) -> Labels {
        // Names are cut only where the plot would be left too narrow for its marks.
        let max_width = match (&self.panel.y.scale, &self.heat) {
            (Scale::Categories(_), None) => {
                f64::max((cell_width - 180.0).min(320.0), 0.45 * cell_width)
            }
            _ => 0.35 * cell_width,
        };
        self.y.map_or_else(Labels::default, |span| {
            labels::beside(&self.panel.y, &span, length, self.heat.is_some(), max_width)
        })
    }

    pub fn labels_below(&self, length: f64) -> Labels {
        self.x.map_or_else(Labels::default, |span| {
            labels::across(&self.panel.x, &span, length, self.heat.is_some())
        })
    }

    pub fn left_margin(&self, beside: &Labels, length: f64) -> f64 {
        let lines = wrap(&self.panel.y.label, FONT_SIZE, length, 2).len() as f64;
        let ticks = if beside.labels.is_empty() {
            0.0
        } else {
            beside.widest() + TICK_GAP
        };
        lines * LINE + ticks + 2.0
    }

    pub fn right_margin(&self) -> f64 {
        self.heat.map_or(6.0, |heat| cells::bar_width(&heat))
    }

    pub fn bottom_margin(&self, below: &Labels, length: f64) -> f64 {
        let lines = wrap(&self.panel.x.label, FONT_SIZE, length, 2).len() as f64;
        let ticks = if below.labels.is_empty() {
            0.0
        } else {
            TICK_GAP + below.depth()
        };
        ticks + lines * LINE + 2.0
    }

    pub fn svg(
        &self,
        frame: &Frame,
        cell_left: f64,
        cell_width: f64,
        below: &Labels,
        beside: &Labels,
    ) -> String {
        let mut svg = format!("<g{}>\n", self.link(frame));
        let titles = self.title_lines(cell_width);
        let line = PANEL_TITLE_SIZE * LINE_HEIGHT;
        for (k, title) in titles.iter().enumerate() {
            let y = frame.top - 8.0 - line * (titles.len() - 1 - k) as f64;
            svg += &text_element(cell_left, y, "class=\"us-panel-title\"", title);
        }
        let (left, top) = (num(frame.left), num(frame.top));
        let (width, height) = (num(frame.width), num(frame.height));
        let place = format!("x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\"");
        svg += &self.grid(frame, below, beside);
        let mut drawn = false;
        if let (Some(x), Some(y)) = (self.x, self.y) {
            let marks = draw::marks(self.panel, frame, &x, &y);
            drawn = !marks.is_empty();
            if drawn && self.heat.is_some() {
                svg += &format!("<rect {place} fill=\"{MISSING}\"/>\n");
            }
            svg += &marks;
            svg += &rules::rules(self.panel, frame, &x, &y);
        }
        svg += &format!("<rect class=\"us-frame\" {place}/>\n");
        let only_rules = |mark: &Mark| matches!(mark, Mark::Rule { .. });
        if !drawn && (self.panel.marks.is_empty() || !self.panel.marks.iter().all(only_rules)) {
            let attributes = "class=\"us-note\" text-anchor=\"middle\"";
            svg += &text_element(frame.x(0.5), frame.y(0.5) + 4.0, attributes, "no data");
        }
        if let Some(heat) = self.heat.filter(|_| drawn) {
            svg += &cells::bar(&heat, frame);
        }
        svg += &labels_svg(frame, below, beside);
        svg += &self.axis_names(frame, below, beside);
        svg + "</g>\n"
    }

    /// The plot's left, top, width and height in pixels, and the ends of both axes.
    fn link(&self, frame: &Frame) -> String {
        let (true, Some(x), Some(y)) = (self.panel.linked, self.x, self.y) else {
            return String::new();
        };
        debug_assert!(!(x.log || y.log || x.reversed || y.reversed));
        let place = [frame.left, frame.top, frame.width, frame.height].map(num);
        let ends = [x.low, x.high, y.low, y.high].map(|end| end.to_string());
        format!(
            " data-frame=\"{}\" data-range=\"{}\"",
            place.join(" "),
            ends.join(" ")
        )
    }

    /// Lines at the ticks; none under a heat map, which would hide them.
    fn grid(&self, frame: &Frame, below: &Labels, beside: &Labels) -> String {
        if self.heat.is_some() {
            return String::new();
        }
        let mut path = String::new();
        for label in &below.labels {
            let x = num(frame.left + label.offset);
            path += &format!("M{x} {}V{}", num(frame.top), num(frame.bottom()));
        }
        for label in &beside.labels {
            let y = num(frame.bottom() - label.offset);
            path += &format!("M{} {y}H{}", num(frame.left), num(frame.right()));
        }
        if path.is_empty() {
            return path;
        }
        format!("<path class=\"us-grid\" d=\"{path}\"/>\n")
    }

    fn axis_names(&self, frame: &Frame, below: &Labels, beside: &Labels) -> String {
        let mut svg = String::new();
        let middle = "class=\"us-label\" text-anchor=\"middle\"";
        let under = frame.bottom() + self.bottom_margin(below, frame.width);
        let lines = wrap(&self.panel.x.label, FONT_SIZE, frame.width, 2);
        for (k, line) in lines.iter().rev().enumerate() {
            let y = under - 5.0 - k as f64 * LINE;
            svg += &text_element(frame.x(0.5), y, middle, line);
        }
        let left = frame.left - self.left_margin(beside, frame.height);
        let lines = wrap(&self.panel.y.label, FONT_SIZE, frame.height, 2);
        for (k, line) in lines.iter().enumerate() {
            let (x, y) = (num(left + 11.0 + k as f64 * LINE), num(frame.y(0.5)));
            svg += &format!(
                "<text transform=\"translate({x} {y}) rotate(-90)\" {middle}>{}</text>\n",
                escape(line)
            );
        }
        svg
    }
}

fn label_element(x: f64, y: f64, label: &Label) -> String {
    format!(
        "<text x=\"{}\" y=\"{}\" >{}</text>\n",
        num(x),
        num(y),
        label.content()
    )
}

fn labels_svg(frame: &Frame, below: &Labels, beside: &Labels) -> String {
    let mut svg = String::new();
    let top = frame.bottom() + TICK_GAP;
    if !below.labels.is_empty() {
        svg += match below.rotated {
            true => "<g class=\"us-tick\" text-anchor=\"end\">\n",
            false => "<g class=\"us-tick\" text-anchor=\"middle\">\n",
        };
        for label in &below.labels {
            let x = frame.left + label.offset;
            if below.rotated {
                let (x, y) = (num(x + 4.0), num(top + FONT_SIZE * SLOPE));
                let text = label.content();
                svg +=
                    &format!("<text transform=\"translate({x} {y}) rotate(-45)\">{text}</text>\n");
            } else {
                svg += &label_element(x, top + 10.0, label);
            }
        }
        svg += "</g>\n";
    }
    if !beside.labels.is_empty() {
        svg += "<g class=\"us-tick\" text-anchor=\"end\">\n";
        for label in &beside.labels {
            let y = frame.bottom() - label.offset + 4.0;
            svg += &label_element(frame.left - TICK_GAP, y, label);
        }
        svg += "</g>\n";
    }
    svg
}
