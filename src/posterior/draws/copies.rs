//! Columns that stand in a file of draws twice.
//!
//! Readers of CmdStan CSV take every column that ends in `__` for a statistic of the sampler. What the links are about is
//! also there under plain names, as the last columns, so that such readers find it among the parameters.

/// The names that the sampler has for these columns, and their plain ones.
const COPIES: [(&str, &str); 4] = [
    ("n_moved__", "n_moved"),
    ("mismatch_rate__", "mismatch_rate"),
    ("n_outside__", "n_outside"),
    ("outside_share__", "outside_share"),
];

/// Place and plain name of each column that is copied.
pub(crate) fn copied(columns: &[String]) -> Vec<(usize, &'static str)> {
    let place = |name: &str| columns.iter().position(|column| column == name);
    let copies = COPIES.into_iter();
    copies
        .filter_map(|(name, plain)| Some((place(name)?, plain)))
        .collect()
}

/// Whether a column is a copy of another one of `columns`.
pub(super) fn is_copy(column: &str, columns: &[String]) -> bool {
    let mut copies = copied(columns).into_iter();
    copies.any(|(_, plain)| plain == column)
}
