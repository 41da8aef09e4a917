//! Words for people: lists of names and the nearest name to a mistyped one.

mod names;

pub(crate) use names::{list, nearest, quoted_list};
