//! Small CSV files of our own: a fixed header, names, and numbers that read back as they were written.

const NA: &str = "NA";

/// The shortest digits that read back as the same number.
pub(crate) fn digits(number: f64) -> String {
    format!("{number:?}")
}

/// `NA` where there is no number.
pub(crate) fn digits_or_na(number: Option<f64>) -> String {
    number.map_or(NA.into(), digits)
}

/// The bytes of a file with this header.
pub(crate) fn to_csv<const N: usize>(
    header: [&str; N],
    rows: impl Iterator<Item = [String; N]>,
) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let in_memory = "writing to memory does not fail";
    writer.write_record(header).expect(in_memory);
    for row in rows {
        writer.write_record(row).expect(in_memory);
    }
    writer.into_inner().expect(in_memory)
}

/// A line of such a file.
pub(crate) struct Line<'a> {
    header: &'a [&'a str],
    record: csv::StringRecord,
}

impl Line<'_> {
    pub fn text(&self, column: usize) -> &str {
        &self.record[column]
    }

    pub fn number(&self, column: usize) -> Result<f64, String> {
        let text = self.text(column);
        text.parse().map_err(|_| self.wrong(column, "is no number"))
    }

    pub fn number_or_na(&self, column: usize) -> Result<Option<f64>, String> {
        match self.text(column) {
            NA => Ok(None),
            text => {
                let wrong = |_| self.wrong(column, "is neither a number nor NA");
                text.parse().map(Some).map_err(wrong)
            }
        }
    }

    fn wrong(&self, column: usize, what: &str) -> String {
        let line = self.record.position().map_or(0, csv::Position::line);
        let (name, text) = (self.header[column], self.text(column));
        format!("line {line}, column {name}: `{text}` {what}")
    }
}

/// The lines of a file with this header, or what is wrong with it.
pub(crate) fn from_csv<T>(
    text: &str,
    header: &[&str],
    read: impl Fn(&Line) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let found = reader.headers().map_err(|error| error.to_string())?;
    if found != header {
        return Err(format!("its columns are not {}", header.join(",")));
    }
    let lines = reader.records().map(|record| {
        let record = record.map_err(|error| error.to_string())?;
        read(&Line { header, record })
    });
    lines.collect()
}
