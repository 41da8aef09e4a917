//! A figure: titled panels in rows, one legend.

use super::axis::Axis;
use super::layout::{GAP, Grid, MARGIN};
use super::legend::Legend;
use super::marks::{Mark, Series};
use super::svg::{escape, num, text_element};
use super::text::wrap;
use super::theme::{self, LINE_HEIGHT, TITLE_SIZE};

/// What [`Figure::svg`] draws.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figure {
    pub title: String,
    /// What a person who cannot see it should know.
    pub description: String,
    /// Panels per row.
    pub columns: usize,
    /// In pixels; without it 720, or more where many columns need it.
    pub width: Option<f64>,
    pub panels: Vec<Panel>,
    pub legend: Vec<(Series, String)>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    /// Of the plot without its titles and labels, in pixels; without it, what suits the columns and the marks. All panels of a row are
    /// as high as its highest.
    pub height: Option<f64>,
    /// Whether the place of the plot and the ends of its axes are written out, for a script that finds points by their values.
    pub linked: bool,
    /// Drawn in this order, rules on top of the others.
    pub marks: Vec<Mark>,
}

impl Figure {
    pub fn new(title: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            description: description.into(),
            columns: 1,
            ..Self::default()
        }
    }

    pub fn columns(mut self, columns: usize) -> Self {
        self.columns = columns;
        self
    }

    pub fn width(mut self, width: f64) -> Self {
        assert!(
            width.is_finite() && width >= 100.0,
            "a figure is at least 100 px wide"
        );
        self.width = Some(width);
        self
    }

    pub fn panel(mut self, panel: Panel) -> Self {
        self.panels.push(panel);
        self
    }

    pub fn legend(mut self, series: Series, name: impl Into<String>) -> Self {
        self.legend.push((series, name.into()));
        self
    }

    /// The figure as a whole SVG file, which may also stand inline in an HTML page. The same figure gives the same bytes.
    pub fn svg(&self) -> String {
        self.drawn(&theme::style())
    }

    /// As [`Figure::svg`], but for an HTML page that has [`page_style`](super::page_style) once for all its figures.
    pub fn inline_svg(&self) -> String {
        self.drawn("")
    }

    fn drawn(&self, style: &str) -> String {
        let columns = self.columns.clamp(1, self.panels.len().max(1));
        let usual = f64::max(720.0, 240.0 * columns as f64);
        let width = self.width.unwrap_or(usual);
        let inner = width - 2.0 * MARGIN;

        let mut body = String::new();
        let mut top = MARGIN;
        // Bold text is wider than the estimate for plain text.
        for line in wrap(&self.title, 1.1 * TITLE_SIZE, inner, 3) {
            top += LINE_HEIGHT * TITLE_SIZE;
            body += &text_element(MARGIN, top - 5.0, "class=\"us-title\"", &line);
        }
        let legend = Legend::new(&self.legend, &self.panels, inner);
        body += &legend.svg(MARGIN, top + 4.0);
        top += legend.height();
        if top > MARGIN {
            top += GAP / 2.0;
        }
        let grid = Grid::new(&self.panels, columns, inner);
        body += &grid.svg(MARGIN, top);
        let height = top + grid.height() + MARGIN;

        let (w, h) = (num(width), num(height));
        let (title, description) = (escape(&self.title), escape(&self.description));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"us-figure\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" height=\"{h}\" \
             role=\"img\" aria-label=\"{title}\">\n<title>{title}</title>\n<desc>{description}</desc>\n{style}\
             <rect class=\"us-bg\" width=\"{w}\" height=\"{h}\"/>\n{body}</svg>\n"
        )
    }
}

impl Panel {
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            ..Self::default()
        }
    }

    pub fn x(mut self, axis: Axis) -> Self {
        self.x = axis;
        self
    }

    pub fn y(mut self, axis: Axis) -> Self {
        self.y = axis;
        self
    }

    /// Writes out where the plot is and what its axes span; both must be linear.
    pub fn linked(mut self) -> Self {
        self.linked = true;
        self
    }

    pub fn height(mut self, height: f64) -> Self {
        assert!(
            height.is_finite() && height >= 20.0,
            "a panel is at least 20 px high"
        );
        self.height = Some(height);
        self
    }

    pub fn mark(mut self, mark: Mark) -> Self {
        self.marks.push(mark);
        self
    }

    pub fn marks(mut self, marks: impl IntoIterator<Item = Mark>) -> Self {
        self.marks.extend(marks);
        self
    }
}
