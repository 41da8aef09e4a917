//! The cells of a heat map, their texts, and the bar that explains their colours.

use super::axis::Span;
use super::heat::HeatScale;
use super::layout::Frame;
use super::marks::HeatCell;
use super::svg::{num, text_element};
use super::text::width;
use super::theme::FONT_SIZE;
use super::ticks;

const BAR_GAP: f64 = 10.0;
const BAR_WIDTH: f64 = 10.0;
const BAR_STEPS: usize = 32;

pub(super) fn cells(
    cells: &[HeatCell],
    scale: &HeatScale,
    frame: &Frame,
    x: &Span,
    y: &Span,
) -> String {
    let (mut rects, mut texts) = (String::new(), String::new());
    for cell in cells.iter().filter(|cell| cell.value.is_finite()) {
        let (Some((left, right)), Some((bottom, top))) = (side(x, cell.x), side(y, cell.y)) else {
            continue;
        };
        let (left, right) = (frame.x(left), frame.x(right));
        let (top, bottom) = (frame.y(top), frame.y(bottom));
        let colour = scale.colour(cell.value);
        // Edges are rounded before they are subtracted, so that neighbours meet.
        rects += &format!(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\n",
            num(left),
            num(top),
            num(tenth(right) - tenth(left)),
            num(tenth(bottom) - tenth(top)),
            colour.hex()
        );
        let text = cell.text.as_deref().unwrap_or("");
        if let Some(size) = text_size(text, right - left, bottom - top) {
            let (x, y) = ((left + right) / 2.0, (top + bottom) / 2.0 + 0.35 * size);
            let attributes = format!("font-size=\"{}\" fill=\"{}\"", num(size), colour.text());
            texts += &text_element(x, y, &attributes, text);
        }
    }
    if rects.is_empty() {
        return rects;
    }
    if !texts.is_empty() {
        texts = format!("<g text-anchor=\"middle\">\n{texts}</g>\n");
    }
    format!("<g class=\"us-heat\">\n{rects}</g>\n{texts}")
}

/// Both sides of a cell as fractions of the axis, cut to it; none if the cell is outside.
fn side(span: &Span, centre: f64) -> Option<(f64, f64)> {
    let (a, b) = (span.fraction(centre - 0.5)?, span.fraction(centre + 0.5)?);
    let (low, high) = (a.min(b).max(0.0), a.max(b).min(1.0));
    (high - low > 1e-9).then_some((low, high))
}

fn tenth(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

/// The largest readable size at which a text fits into a cell.
fn text_size(text: &str, cell_width: f64, cell_height: f64) -> Option<f64> {
    const SMALLEST: f64 = 8.0;
    if text.is_empty() {
        return None;
    }
    let by_width = (cell_width - 3.0) / width(text, 1.0);
    let size = by_width.min(0.75 * cell_height).min(11.0);
    (size >= SMALLEST).then_some(size)
}

/// Room that the colour bar needs to the right of a panel.
pub(super) fn bar_width(scale: &HeatScale) -> f64 {
    let labels = bar_ticks(scale);
    let widest = labels.iter().map(|tick| width(&tick.label, FONT_SIZE));
    BAR_GAP + BAR_WIDTH + 5.0 + widest.fold(0.0, f64::max)
}

pub(super) fn bar(scale: &HeatScale, frame: &Frame) -> String {
    let ticks = bar_ticks(scale);
    if ticks.is_empty() {
        return String::new();
    }
    let (left, height) = (frame.right() + BAR_GAP, frame.height.min(180.0));
    let mut svg = String::from("<g class=\"us-heat\">\n");
    for step in 0..BAR_STEPS {
        let at = |k: usize| tenth(frame.top + height * (1.0 - k as f64 / BAR_STEPS as f64));
        let share = (step as f64 + 0.5) / BAR_STEPS as f64;
        let colour = scale.colour(scale.low + share * (scale.high - scale.low));
        svg += &format!(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\n",
            num(left),
            num(at(step + 1)),
            num(BAR_WIDTH),
            num(at(step) - at(step + 1)),
            colour.hex()
        );
    }
    svg += &format!(
        "</g>\n<rect class=\"us-frame\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n<g class=\"us-tick\">\n",
        num(left),
        num(frame.top),
        num(BAR_WIDTH),
        num(height)
    );
    for tick in ticks {
        let share = (tick.value - scale.low) / (scale.high - scale.low);
        let y = frame.top + height * (1.0 - share) + 4.0;
        svg += &text_element(left + BAR_WIDTH + 4.0, y, "", &tick.label);
    }
    svg + "</g>\n"
}

/// None where the scale has no width to explain.
fn bar_ticks(scale: &HeatScale) -> Vec<ticks::Tick> {
    let finite = (scale.high - scale.low).is_finite();
    if !finite || scale.high <= scale.low {
        return Vec::new();
    }
    ticks::linear(scale.low, scale.high, 5, false)
}
