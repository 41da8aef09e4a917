//! Mean and spread of a column of numbers, finite and above zero whatever the numbers are.

/// Where a column lies and how wide it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    pub centre: f64,
    /// Above zero: the largest absolute value where the column is constant, 1 where it is all zero.
    pub size: f64,
}

/// A standard deviation below this share of the largest value is rounding error.
const NEGLIGIBLE: f64 = 1e-13;

impl Spread {
    /// Mean and standard deviation.
    pub fn around_mean(values: impl Iterator<Item = f64> + Clone) -> Spread {
        let column = Column::new(values.clone());
        let scaled = values.map(|value| value / column.unit);
        let mut centre = scaled.clone().sum::<f64>() / column.count;
        // A second pass: the error of the first is not small beside the spread of a column far from zero.
        centre += scaled.clone().map(|value| value - centre).sum::<f64>() / column.count;
        let square = scaled.map(|value| (value - centre).powi(2)).sum::<f64>() / column.count;
        Spread {
            centre: centre * column.unit,
            size: column.size(square.sqrt()),
        }
    }

    /// The root mean square, around zero.
    pub fn around_zero(values: impl Iterator<Item = f64> + Clone) -> Spread {
        let column = Column::new(values.clone());
        let square = values
            .map(|value| (value / column.unit).powi(2))
            .sum::<f64>()
            / column.count;
        Spread {
            centre: 0.0,
            size: column.size(square.sqrt()),
        }
    }
}

struct Column {
    count: f64,
    /// The largest absolute value, or 1.
    largest: f64,
    /// A power of two near it: divided by this, values neither overflow when squared nor lose digits.
    unit: f64,
}

impl Column {
    fn new(values: impl Iterator<Item = f64> + Clone) -> Column {
        let largest = values.clone().fold(0.0, |max: f64, v| max.max(v.abs()));
        let largest = if largest > 0.0 { largest } else { 1.0 };
        Column {
            count: values.count().max(1) as f64,
            largest,
            unit: largest.log2().floor().exp2(),
        }
    }

    fn size(&self, in_units: f64) -> f64 {
        if in_units > NEGLIGIBLE {
            (self.unit * in_units).max(f64::MIN_POSITIVE)
        } else {
            self.largest
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(values: &[f64]) -> Spread {
        Spread::around_mean(values.iter().copied())
    }

    #[test]
    fn mean_and_standard_deviation_of_any_finite_numbers() {
        let spread = mean(&[1.0, 3.0]);
        assert_eq!((spread.centre, spread.size), (2.0, 1.0));
        let spread = mean(&[1e6 + 1.0, 1e6 + 3.0]);
        assert!((spread.size - 1.0).abs() < 1e-9, "{spread:?}");
        let spread = mean(&[1e200, 3e200]);
        assert!((spread.size / 1e200 - 1.0).abs() < 1e-12, "{spread:?}");
        let spread = mean(&[1e-200, 3e-200]);
        assert!((spread.size / 1e-200 - 1.0).abs() < 1e-12, "{spread:?}");
        assert_eq!(Spread::around_zero([3.0, -3.0].into_iter()).size, 3.0);
    }

    #[test]
    fn a_column_without_spread_has_a_size_all_the_same() {
        assert_eq!(mean(&[7.0, 7.0, 7.0]).size, 7.0);
        assert_eq!(mean(&[0.1; 10]).size, 0.1);
        assert_eq!(mean(&[0.0, 0.0]).size, 1.0);
        assert_eq!(mean(&[-2.0]).size, 2.0);
        assert_eq!(Spread::around_zero([0.0; 3].into_iter()).size, 1.0);
    }
}
