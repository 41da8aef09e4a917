//! Columns that cannot be what they are named for: ids that are not unique, terms by group and rates that cannot be told apart.

use super::*;
use crate::config::{DataSource, LinkColumns};

const ROWS: &str =
    "k,y,x,z,g\na,1,0.1,3,n\nb,3,1.2,5,s\n,2,2.8,4,n\nc,4,0.3,9,s\n,5,0.9,1,n\nd,2,1.1,2,s\n";

fn id(data: &mut Data) {
    data.id = Some("k".into());
}

#[test]
fn an_id_is_that_of_one_fitted_row() {
    let folder = Folder::new(&[("f.csv", ROWS)]);
    // Rows without an id are no namesakes.
    assert!(folder.read("y ~ x", id).is_ok());
    let twice = ROWS.replace("\nd,", "\nb,");
    let folder = Folder::new(&[("f.csv", &twice)]);
    assert!(folder.read("y ~ x", |_| {}).is_ok());
    assert_eq!(
        folder.refused("y ~ x", id),
        "f.csv, lines 3 and 7: `k` is \"b\" in both; data.id tells the rows of the results apart, so correct one of them, name another column, or remove data.id"
    );
}

/// A register may have namesakes among rows that nobody is linked to.
#[test]
fn ids_of_rows_that_are_not_fitted_do_not_matter() {
    let left = "link,y\n1,2\n2,3\n3,5\n4,1\n";
    let right = |name: &str| format!("nr,x,name\n1,2,a\n2,4,b\n3,1,c\n4,3,{name}\n5,7,a\n6,8,a\n");
    let two = |data: &mut Data| {
        data.source = DataSource::Two {
            left: "left.csv".into(),
            right: "right.csv".into(),
            links: LinkColumns {
                left: "link".into(),
                right: "nr".into(),
            },
        };
        data.id = Some("name".into());
    };
    let folder = Folder::new(&[("left.csv", left), ("right.csv", &right("d"))]);
    assert!(folder.read("y ~ x", two).is_ok());
    let folder = Folder::new(&[("left.csv", left), ("right.csv", &right("a"))]);
    let sentence = folder.refused("y ~ x", two);
    assert!(
        sentence.starts_with("right.csv, lines 2 and 5: `name` is \"a\" in both; "),
        "{sentence}"
    );
}

#[test]
fn terms_by_group_must_be_told_apart() {
    let folder = Folder::new(&[("f.csv", ROWS)]);
    for formula in ["y ~ x + (1 + z | g)", "y ~ x + (0 + z | g)"] {
        assert!(folder.read(formula, |_| {}).is_ok(), "{formula}");
    }
    for (term, sentence) in [
        (
            "(0 | g)",
            "data.formula has nothing before `| g`, so no coefficient differs between the groups; write 1 or a column there, such as (1 | g)",
        ),
        (
            "(1 + I(0 * z) | g)",
            "f.csv: `I(0 * z)` (data.formula) is 0 in every row; remove it, since the intercept already stands for a constant",
        ),
        (
            "(1 + z + I(2 * z) | g)",
            "f.csv: `I(2 * z)` is a linear combination of `z`, so their coefficients cannot be told apart; remove one of these columns from data.formula",
        ),
    ] {
        assert_eq!(folder.refused(&format!("y ~ x + {term}"), |_| {}), sentence);
    }
}

#[test]
fn rates_must_be_told_apart_and_do_not_move_with_the_response() {
    let folder = Folder::new(&[("f.csv", ROWS)]);
    let rates =
        |formula: &'static str| move |data: &mut Data| data.rate_formula = Some(formula.into());
    assert!(folder.read("y ~ x", rates("~ z + g")).is_ok());
    for (formula, sentence) in [
        (
            "~ z + I(z / 3)",
            "f.csv: `I(z / 3)` is a linear combination of `z`, so their coefficients cannot be told apart; remove one of these columns from permutation.rate_formula",
        ),
        (
            "~ g + log(y)",
            "permutation.rate_formula has `y`, which is the response: it moves when a link changes, so remove it from one of them",
        ),
        (
            "~ I(1e150 * z)",
            "f.csv: the largest value of `I(1e150 * z)` (permutation.rate_formula) is 9e150; choose a unit in which it is between 1e-100 and 1e100",
        ),
    ] {
        assert_eq!(folder.refused("y ~ x", rates(formula)), sentence);
    }
}

#[test]
fn the_response_is_no_column_of_the_survey() {
    let folder = Folder::new(&[("f.csv", ROWS)]);
    let strata = folder.refused("y ~ x", |data| data.strata = Some("y".into()));
    assert_eq!(
        strata,
        "`y` is the response and also data.strata; name another column there"
    );
    assert!(
        folder
            .read("y ~ x", |data| data.clusters = Some("g".into()))
            .is_ok()
    );
}
