//! Words for people: lists of names, the nearest name to a mistyped one, tables, errors as sentences, text without
//! control characters.

mod csv_table;
mod errors;
mod file_error;
mod memory;
mod names;
mod numbers;
mod printable;
mod table;

pub(crate) use csv_table::{digits, digits_or_na, from_csv, to_csv};
pub(crate) use errors::full_sentence;
pub use file_error::FileError;
pub(crate) use file_error::{
    MOST_BYTES, make_folder, read_at_most, read_saved, read_text, text_if_there, write_whole,
};
pub(crate) use memory::{bytes_in_words, free_memory};
pub use names::list;
pub(crate) use names::{nearest, quoted_list};
pub(crate) use numbers::{number_on_scale, percent};
pub(crate) use printable::printable;
pub(crate) use table::aligned;
