//! What a user would otherwise compute: estimates that take the links as they are.

mod least_squares;

pub use least_squares::{LeastSquares, least_squares};
