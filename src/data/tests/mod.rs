//! Whole data sets from files: categories, missing values, several responses, survey weights, two files,
//! candidate pairs, linkage output.

mod candidates;
mod categories;
mod columns;
mod linkage;
mod missing;
mod places;
mod several;
mod survey;
mod two_files;

use super::{DataError, Dataset, INTERCEPT, Reference, read};
use crate::config::Data;

/// A folder of CSV files.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        for (name, text) in files {
            std::fs::write(folder.0.path().join(name), text).unwrap();
        }
        folder
    }

    /// A config of the file `f.csv`; `change` gives it more.
    fn data(&self, formula: &str, change: impl Fn(&mut Data)) -> Data {
        let mut data = Data {
            formula: Some(formula.into()),
            ..Data::new("f.csv", "", Vec::new())
        };
        change(&mut data);
        data.in_folder(self.0.path())
    }

    fn read(&self, formula: &str, change: impl Fn(&mut Data)) -> Result<Dataset, DataError> {
        read(&self.data(formula, change))
    }

    /// The error sentence, without the folder.
    fn refused(&self, formula: &str, change: impl Fn(&mut Data)) -> String {
        let message = self.read(formula, change).unwrap_err().to_string();
        message.replace(&format!("{}/", self.0.path().display()), "")
    }
}
