//! Figures as self-contained SVG: accessible, light and dark, fit for a README or inline in an HTML page.
//!
//! ```
//! use unshuffle_plot::{Axis, Figure, Mark, Panel, Series};
//!
//! let draws = vec![(0.0, 1.2), (1.0, 1.4), (2.0, 1.1)];
//! let figure = Figure::new("Trace of beta", "Three draws between 1.1 and 1.4.")
//!     .panel(
//!         Panel::new("beta")
//!             .x(Axis::linear("iteration"))
//!             .y(Axis::linear("value"))
//!             .mark(Mark::line(Series(0), draws)),
//!     )
//!     .legend(Series(0), "chain 1");
//! assert!(figure.svg().starts_with("<svg"));
//! ```
//!
//! A page with many figures takes [`Figure::inline_svg`] and states [`page_style`] once.
//!
//! Text is never measured, since no font is at hand: `text.rs` guesses its width from above, and margins, tick labels and the
//! legend follow from that guess.

mod axis;
mod bars;
mod cells;
mod clip;
mod draw;
mod figure;
mod heat;
mod intervals;
mod labels;
mod layout;
mod legend;
mod marks;
mod panel;
mod points;
mod rules;
mod svg;
mod text;
mod theme;
mod ticks;

#[cfg(test)]
mod readback;
#[cfg(test)]
mod tests;

pub use axis::{Axis, Scale};
pub use figure::{Figure, Panel};
pub use marks::{HeatCell, Interval, Mark, Series, dodge};
pub use theme::page_style;
