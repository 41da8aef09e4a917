//! Tables of text with aligned columns.

/// A table with two spaces between its columns and one line for each row; the first `num_left` columns are flush left, the
/// others right. Every row has as many cells as the first.
pub(crate) fn aligned(rows: &[Vec<String>], num_left: usize) -> String {
    let width = |k: usize| rows.iter().map(|row| row[k].chars().count()).max();
    let num_columns = rows.first().map_or(0, Vec::len);
    let widths: Vec<usize> = (0..num_columns).map(|k| width(k).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).enumerate();
        let cells = cells.map(|(k, (cell, &width))| match k < num_left {
            true => format!("{cell:<width$}"),
            false => format!("{cell:>width$}"),
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["", "Mean", "left"], ["\u{3b2}_1", "-0.25", ""]];
        let rows = rows.map(|row| row.map(String::from).to_vec());
        assert_eq!(aligned(&rows, 1), "      Mean  left\n\u{3b2}_1  -0.25\n");
        assert_eq!(aligned(&rows, 0), "      Mean  left\n\u{3b2}_1  -0.25\n");
        let names = [["b"], ["long"]].map(|row| row.map(String::from).to_vec());
        assert_eq!(aligned(&names, 0), "   b\nlong\n");
        assert_eq!(aligned(&names, 1), "b\nlong\n");
        assert_eq!(aligned(&[], 1), "");
    }
}
