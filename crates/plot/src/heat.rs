//! Colours of heat maps: the same in light and dark pages, so that the text in a cell can be chosen once.

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rgb([f64; 3]);

/// From the lowest value to the highest, at equal distances.
const SEQUENTIAL: [&str; 5] = ["#ffffff", "#c6dbef", "#6baed6", "#2171b5", "#08306b"];
const DIVERGING: [&str; 7] = [
    "#084594", "#4292c6", "#c6dbef", "#ffffff", "#fdd0a2", "#f0852d", "#a63603",
];

/// Behind the cells: no value's colour, and light, so that dark cells are seen on a dark page too.
pub(super) const MISSING: &str = "#e0e0e0";

/// The colour scale of one heat map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct HeatScale {
    pub low: f64,
    pub high: f64,
    pub diverging: bool,
}

impl HeatScale {
    /// The colour of a value; values beyond the ends have the colour of the end.
    pub fn colour(&self, value: f64) -> Rgb {
        let fraction = if self.high > self.low {
            ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
        } else {
            0.5
        };
        let stops: &[&str] = if self.diverging {
            &DIVERGING
        } else {
            &SEQUENTIAL
        };
        let place = fraction * (stops.len() - 1) as f64;
        let below = (place.floor() as usize).min(stops.len() - 2);
        Rgb::from_hex(stops[below]).mixed(Rgb::from_hex(stops[below + 1]), place - below as f64)
    }
}

impl Rgb {
    /// From `#rrggbb`.
    pub fn from_hex(hex: &str) -> Self {
        let channel = |k: usize| {
            let digits = &hex[1 + 2 * k..3 + 2 * k];
            f64::from(u8::from_str_radix(digits, 16).expect("a colour has hexadecimal digits"))
        };
        Self([channel(0), channel(1), channel(2)])
    }

    pub fn hex(self) -> String {
        let [r, g, b] = self.0.map(|channel| channel.round() as u8);
        format!("#{r:02x}{g:02x}{b:02x}")
    }

    fn mixed(self, other: Self, share: f64) -> Self {
        let channel = |k: usize| self.0[k] + share * (other.0[k] - self.0[k]);
        Self([channel(0), channel(1), channel(2)])
    }

    /// Relative luminance as WCAG 2 defines it.
    fn luminance(self) -> f64 {
        let linear = self.0.map(|channel| {
            let c = channel / 255.0;
            if c <= 0.04045 {
                c / 12.92
            } else {
                ((c + 0.055) / 1.055).powf(2.4)
            }
        });
        0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    }

    pub fn contrast(self, other: Self) -> f64 {
        let (a, b) = (self.luminance(), other.luminance());
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// Black or white, whichever reads better on this colour.
    pub fn text(self) -> &'static str {
        let (black, white) = ("#000000", "#ffffff");
        if self.contrast(Self::from_hex(black)) >= self.contrast(Self::from_hex(white)) {
            black
        } else {
            white
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORRELATION: HeatScale = HeatScale {
        low: -1.0,
        high: 1.0,
        diverging: true,
    };
    const PROBABILITY: HeatScale = HeatScale {
        low: 0.0,
        high: 1.0,
        diverging: false,
    };

    #[test]
    fn ends_and_middle_have_their_colours() {
        assert_eq!(PROBABILITY.colour(0.0).hex(), "#ffffff");
        assert_eq!(PROBABILITY.colour(7.0).hex(), "#08306b");
        assert_eq!(CORRELATION.colour(0.0).hex(), "#ffffff");
        assert_eq!(CORRELATION.colour(-1.0).hex(), "#084594");
        assert_eq!(CORRELATION.colour(1.0).hex(), "#a63603");
    }

    #[test]
    fn sequential_colours_darken_steadily() {
        let luminance = |k| PROBABILITY.colour(f64::from(k) / 100.0).luminance();
        assert!((0..100).all(|k| luminance(k + 1) < luminance(k)));
    }

    #[test]
    fn text_is_readable_in_every_cell() {
        for k in -100..=100 {
            for scale in [CORRELATION, PROBABILITY] {
                let colour = scale.colour(f64::from(k) / 100.0);
                assert!(colour.contrast(Rgb::from_hex(colour.text())) >= 4.5);
            }
        }
    }
}
