//! Good files in every dialect, and the sentence for every kind of bad one.

use std::io::Write;

use ndarray::array;

use super::*;
use crate::data::INTERCEPT;
use crate::text::quoted_list;

fn data(file: &std::path::Path) -> Data {
    Data::new(file, "y", vec!["a".into(), "b".into()])
}

fn read_with(bytes: &[u8], change: impl Fn(&mut Data)) -> Result<Dataset, DataError> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    let mut data = data(file.path());
    change(&mut data);
    read(&data)
}

fn read_text(text: &str) -> Dataset {
    read_with(text.as_bytes(), |_| {}).unwrap()
}

/// The error sentence, with the temporary file's path replaced by `F`.
fn refused_with(bytes: &[u8], change: impl Fn(&mut Data)) -> String {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    let mut data = data(file.path());
    change(&mut data);
    let message = read(&data).unwrap_err().to_string();
    message.replace(&file.path().display().to_string(), "F")
}

fn refused(text: &str) -> String {
    refused_with(text.as_bytes(), |_| {})
}

const PLAIN: &str = "y,a,b\n1,2,3\n2,4,1\n3,1,0\n5,7,2\n";

#[test]
fn a_plain_file_keeps_the_order_of_its_rows() {
    let dataset = read_text(PLAIN);
    assert_eq!(dataset.predictor_names, [INTERCEPT, "a", "b"]);
    assert_eq!(dataset.response, [1.0, 2.0, 3.0, 5.0]);
    assert_eq!(
        dataset.x,
        array![
            [1.0, 2.0, 3.0],
            [1.0, 4.0, 1.0],
            [1.0, 1.0, 0.0],
            [1.0, 7.0, 2.0]
        ]
    );
    let without = read_with(PLAIN.as_bytes(), |data| data.intercept = false).unwrap();
    assert_eq!(without.predictor_names, ["a", "b"]);
    assert_eq!(without.x.row(1), array![4.0, 1.0]);
}

#[test]
fn other_dialects_read_the_same() {
    let plain = read_text(PLAIN);
    for text in [
        "\u{feff}y,a,b\n1,2,3\n2,4,1\n3,1,0\n5,7,2\n",
        "y,a,b\r\n1,2,3\r\n2,4,1\r\n3,1,0\r\n5,7,2\r\n\r\n",
        "y;a;b\n1;2;3\n2;4;1\n3;1;0\n5;7;2",
        "y\ta\tb\n1\t2\t3\n2\t4\t1\n3\t1\t0\n5\t7\t2\n",
        "\u{feff}\"y\";\"a\";\"b\"\r\n\"1\";2;3\r\n2;4;1\r\n3;1;0\r\n5;7;2\r\n",
        " y , a , \"b\"\n 1, 2 ,3\n2,4, \"1\" \n\n3,1,0\n5,7,2\n   \n",
        "y,a,b\r1,2,3\r2,4,1\r3,1,0\r5,7,2\r",
        "\"\",\"y\",\"a\",\"b\",\"\"\n1,1,2,3,x\n2,2,4,1,x\n3,3,1,0,x\n4,5,7,2,x\n",
        "note,b,y,a\n\"one, two\n\"\"three\"\"\",3,1,2\n,1,2,4\nNA,0,3,1\n-,2,5,7\n",
    ] {
        assert_eq!(read_text(text), plain, "{text}");
    }
}

#[test]
fn ids_blocks_and_safe_rows_are_read() {
    let text = "y,a,b,who,region,ok\n1,2,3,Ann,north,yes\n2,4,1,,south,NO\n3,1,0,Bob,north,1\n5,7,2,Bo,east,False\n";
    let dataset = read_with(text.as_bytes(), |data| {
        data.id = Some("who".into());
        data.block = Some("region".into());
        data.safe = Some("ok".into());
    })
    .unwrap();
    assert_eq!(dataset.row_ids.unwrap(), ["Ann", "", "Bob", "Bo"]);
    let blocks = dataset.blocks.unwrap();
    assert_eq!(blocks.of_row, [0, 1, 0, 2]);
    assert_eq!(blocks.labels, ["north", "south", "east"]);
    assert_eq!(dataset.safe.unwrap(), [true, false, true, false]);
}

#[test]
fn files_that_are_not_there_or_empty() {
    assert_eq!(
        read(&data(std::path::Path::new("/nowhere/w.csv")))
            .unwrap_err()
            .to_string(),
        "cannot find the data file /nowhere/w.csv; check data.file, which is relative to the config file"
    );
    assert_eq!(
        read(&data(std::path::Path::new("/")))
            .unwrap_err()
            .to_string(),
        "cannot read / (Is a directory (os error 21)); data.file must be a CSV file that you may read"
    );
    let empty =
        "F is empty; it needs a header line with the column names and then one line for each row";
    for text in ["", "\u{feff}", "\n\n", "  "] {
        assert_eq!(refused(text), empty);
    }
    for text in ["y,a,b", "y,a,b\r\n\r\n"] {
        assert_eq!(
            refused(text),
            "F has a header line but no rows; add the data below it"
        );
    }
    assert_eq!(
        refused_with(b"y,a,b\n1,2,3\n2,M\xfcller,3\n", |_| {}),
        "F, line 3: not UTF-8 text; save the file again as \"CSV UTF-8\""
    );
}

#[test]
fn headers_that_do_not_fit() {
    assert_eq!(
        refused("y,a,b,a\n1,2,3,4\n"),
        "F, line 1: columns 2 and 4 are both named `a`; rename one of them"
    );
    let rename = |data: &mut Data| data.predictors[1] = "experience".into();
    assert_eq!(
        refused_with(b"y,a,experiense\n1,2,3\n", rename),
        "F: no column `experience` (data.predictors); did you mean `experiense`?"
    );
    assert_eq!(
        refused_with(b"y,a,b\n1,2,3\n", rename),
        "F: no column `experience` (data.predictors); the columns are `y`, `a` and `b`"
    );
    assert_eq!(
        refused("y|a|b\n1|2|3\n"),
        "F: no column `y` (data.response); the header is the one column `y|a|b`, so separate columns by commas, \
         semicolons or tabs"
    );
    let wide: Vec<String> = (1..=20).map(|i| format!("column{i}")).collect();
    assert_eq!(
        refused(&format!("{}\n", wide.join(","))),
        format!(
            "F: no column `y` (data.response); the file has 20 columns, the first being {}",
            quoted_list(&wide[..12])
        )
    );
    assert_eq!(
        refused_with(PLAIN.as_bytes(), |data| data.safe = Some("sure".into())),
        "F: no column `sure` (data.safe); the columns are `y`, `a` and `b`"
    );
}

#[test]
fn missing_values_are_counted_by_column() {
    let text = "y,a,b,g\n1,2,NA,1\n,4,1,1\n3,.,0,\n4,NaN,null,2\n";
    assert_eq!(
        refused_with(text.as_bytes(), |data| data.block = Some("g".into())),
        "F: missing values in `y` (1, first on line 3), `a` (2, first on line 4), `b` (2, first on line 2), \
         `g` (1, first on line 4); fill them in, or leave such rows out with \"missing\": \"drop\" in the config's data"
    );
}

#[test]
fn values_that_are_not_numbers_are_shown_with_their_line() {
    for (text, sentence) in [
        (
            "y;a;b\r\n1;2;3\r\n\r\n2;1,5;3\r\n",
            "F, line 4: `a` is \"1,5\"; write decimals with a point (1.5, not 1,5) and no separator of thousands",
        ),
        (
            "y,a,b\n1,2,3\n2,3,female\n",
            "F, line 3: `b` is \"female\"; write a number, or C(b) if it is a category",
        ),
        (
            "y,a,b\n1,2,3\n5 EUR,3,1\n",
            "F, line 3: `y` is \"5 EUR\"; write a plain number such as 1.5, without units",
        ),
        (
            "y,a,b\n1,Inf,3\n",
            "F, line 2: `a` is \"Inf\"; write a finite number or remove the row",
        ),
    ] {
        assert_eq!(refused(text), sentence);
    }
    assert_eq!(
        refused_with(b"y,a,b,ok\n1,2,3,maybe\n", |data| data.safe =
            Some("ok".into())),
        "F, line 2: `ok` is \"maybe\"; write true or false, 1 or 0, yes or no"
    );
}

#[test]
fn lines_are_counted_through_quotes_and_every_line_end() {
    for text in [
        "n,y,a,b\n\"two\nlines\",1,2,3\nx,2,?,3\n",
        "n,y,a,b\r\n\"two\r\nlines\",1,2,3\r\nx,2,?,3\r\n",
        "n,y,a,b\r\r\rx,2,?,3\rx,2,1,3\r",
    ] {
        assert!(
            refused(text).starts_with("F, line 4: `a` is \"?\""),
            "{text:?}"
        );
    }
}

#[test]
fn ragged_rows() {
    let rest = "give one value for each column, and put values that contain the separator (`,`) in double quotes";
    assert_eq!(
        refused("y,a,b\n1,2,3\n1,5,2,3\n"),
        format!("F, line 3: 4 values where the header has 3 columns; {rest}")
    );
    assert_eq!(
        refused("y,a,b\n1\n"),
        format!("F, line 2: 1 value where the header has 3 columns; {rest}")
    );
    assert_eq!(
        refused("y,a,b\n1,\"2,3\n2,3,4\n"),
        "F, line 2: 2 values where the header has 3 columns; close the double quote that is open here"
    );
}

#[test]
fn columns_that_cannot_be_fitted() {
    assert_eq!(
        refused("y,a,b\n1,2,3\n2,4,1\n3,1,0\n"),
        "F has 3 rows for 3 coefficients (with the intercept); add rows or remove predictors until there are more \
         rows than coefficients"
    );
    assert_eq!(
        refused("y,a,b\n2,2,3\n2,4,1\n2,1,0\n2,7,2\n"),
        "F: `y` (data.response) is 2 in every row; choose a response that varies"
    );
    let constant = "y,a,b\n1,2,3\n2,4,3\n3,1,3\n5,7,3\n";
    assert_eq!(
        refused(constant),
        "F: `b` (data.predictors) is 3 in every row; remove it, since the intercept already stands for a constant"
    );
    assert!(read_with(constant.as_bytes(), |data| data.intercept = false).is_ok());
    assert_eq!(
        refused_with(b"y,a,b\n1,2,0\n2,4,0\n3,1,0\n", |data| data.intercept =
            false),
        "F: `b` (data.predictors) is 0 in every row; remove it, since it explains nothing"
    );
    assert_eq!(
        refused("y,a,b\n1,0,1\n2,1,0\n3,0,1\n5,1,0\n"),
        "F: `b` is a linear combination of `a` and `(Intercept)`, so their coefficients cannot be told apart; remove \
         one of these columns from data.predictors"
    );
}

#[test]
fn columns_have_one_role() {
    assert_eq!(
        refused_with(PLAIN.as_bytes(), |data| data.predictors.push("a".into())),
        "data.predictors names `a` twice; remove one of the two"
    );
    assert_eq!(
        refused_with(PLAIN.as_bytes(), |data| data.predictors.push("y".into())),
        "`y` is data.response and also in data.predictors; remove it from one of them"
    );
}
