//! A summary as CSV, to be read by R or pandas: every digit, NA where there is no number.

use std::io;

use super::summary::{COLUMNS, SummaryRow};

const NA: &str = "NA";
/// The last column; files of older versions lack it.
const LABEL: &str = "label";

/// Writes the summary: a line for each quantity; `label` is what the user calls it.
pub fn write_csv(
    rows: &[SummaryRow],
    label: impl Fn(&str) -> String,
    writer: impl io::Write,
) -> csv::Result<()> {
    let mut writer = csv::Writer::from_writer(writer);
    writer.write_record(header().chain([LABEL]))?;
    for row in rows {
        let numbers = row.numbers().map(|number| match number {
            // Debug prints the shortest digits that read back as the same number, with an exponent where that is shorter.
            Some(number) => format!("{number:?}"),
            None => NA.to_owned(),
        });
        let label = label(&row.name);
        let cells = std::iter::once(&row.name).chain(&numbers).chain([&label]);
        writer.write_record(cells)?;
    }
    Ok(writer.flush()?)
}

fn header() -> impl Iterator<Item = &'static str> {
    std::iter::once("name").chain(COLUMNS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_as_documented() {
        let mut row = SummaryRow::from_numbers("a,b".into(), [None; 11]);
        row.mean = Some(0.1);
        row.q95 = Some(1e300);
        row.r_hat = Some(f64::INFINITY);
        let mut file = Vec::new();
        write_csv(&[row], |_| "log income".into(), &mut file).unwrap();
        assert_eq!(
            String::from_utf8(file).unwrap(),
            "name,Mean,MCSE,StdDev,MAD,5%,50%,95%,ESS_bulk,ESS_tail,ESS_bulk/s,R_hat,label\n\
             \"a,b\",0.1,NA,NA,NA,NA,NA,1e300,NA,NA,NA,inf,log income\n"
        );
    }
}
