//! Rows with missing values, and probabilities of right links.

use super::*;
use crate::config::Missing;

const GAPS: &str = "y,x,g,ok,p,note\n\
                    1,2,a,yes,0.9,\n\
                    NA,3,b,yes,0.8,\n\
                    3,1,a,no,1,\n\
                    \n\
                    4,.,b,no,0.5,\n\
                    5,7,,no,0.5,\n\
                    6,,b,,0.25,\n\
                    7,5,b,no,0.25,\n\
                    9,6,a,no,NA,\n\
                    8,8,a,yes,0.001,\n";

fn everything(data: &mut Data) {
    data.missing = Missing::Drop;
    data.block = Some("g".into());
    data.safe = Some("ok".into());
    data.match_probability = Some("p".into());
}

#[test]
fn dropped_rows_keep_the_numbers_of_the_others() {
    let folder = Folder::new(&[("f.csv", GAPS)]);
    let dataset = folder.read("y ~ x", everything).unwrap();
    assert_eq!(dataset.row_numbers, [1, 3, 7, 9]);
    assert_eq!(dataset.response, [1.0, 3.0, 7.0, 8.0]);
    assert_eq!(dataset.x.column(1).to_vec(), [2.0, 1.0, 5.0, 8.0]);
    assert_eq!(dataset.blocks.unwrap().of_row, [0, 0, 1, 0]);
    assert_eq!(dataset.safe.unwrap(), [true, false, false, true]);
    assert_eq!(dataset.match_probability.unwrap(), [0.9, 1.0, 0.25, 0.001]);
    assert_eq!(dataset.notes.num_dropped, 5);
    let missing = [("y", 1), ("x", 2), ("g", 1), ("ok", 1), ("p", 1)];
    assert_eq!(
        dataset.notes.missing,
        missing.map(|(name, count)| (name.to_string(), count))
    );
    // A column that is not used may have gaps.
    let dataset = folder
        .read("y ~ x", |data| data.missing = Missing::Drop)
        .unwrap();
    assert_eq!(dataset.notes.num_dropped, 3);
}

#[test]
fn missing_values_stop_unless_rows_may_be_dropped() {
    let folder = Folder::new(&[("f.csv", GAPS)]);
    assert_eq!(
        folder.refused("y ~ x", |_| {}),
        "f.csv: missing values in `y` (1, first on line 3), `x` (2, first on line 6); fill them in, or leave such rows \
         out with \"missing\": \"drop\" in the config's data"
    );
    let nothing = Folder::new(&[("f.csv", "y,x\n1,\n,2\n")]);
    assert_eq!(
        nothing.refused("y ~ x", |data| data.missing = Missing::Drop),
        "f.csv: every row has a missing value, in `y` and `x`; fill them in, or choose other columns"
    );
}

#[test]
fn levels_of_dropped_rows_are_gone() {
    let folder = Folder::new(&[("f.csv", "y,g\n1,a\n,b\n2,c\n4,a\n3,c\n")]);
    let dataset = folder
        .read("y ~ g", |data| data.missing = Missing::Drop)
        .unwrap();
    assert_eq!(dataset.predictor_names, [INTERCEPT, "g[c]"]);
}

#[test]
fn probabilities_are_above_zero_and_at_most_one() {
    let refused = |value: &str| {
        let text = format!("y,x,p\n1,2,0.5\n2,4,{value}\n3,1,1\n");
        Folder::new(&[("f.csv", &text)]).refused("y ~ x", |data| {
            data.match_probability = Some("p".into());
        })
    };
    for (value, fix) in [
        (
            "0",
            "a link that is certainly wrong cannot be fitted, so write a small number such as 0.001",
        ),
        ("1.2", "write a probability, above 0 and at most 1"),
        ("-0.1", "write a probability, above 0 and at most 1"),
        ("likely", "write a number"),
    ] {
        assert_eq!(
            refused(value),
            format!("f.csv, line 3: `p` is \"{value}\"; {fix}")
        );
    }
}
