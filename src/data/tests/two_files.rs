//! Two linked files against the file that joins them.

use super::*;
use crate::config::{DataSource, LinkColumns, Missing};

const SURVEY: &str = "person,wage,p,zone\n7,1.5,0.9,n\n3,2.5,0.8,s\n12,4,0.7,n\n5,3,0.5,s\n";
const REGISTER: &str = "educ,person,sex,birth\n9,3,f,1\n12,12,m,2\n8,1,f,3\n16,5,m,4\n10,7,f,5\n";
const JOINED: &str = "person,wage,p,zone,educ,sex,birth\n\
                      7,1.5,0.9,n,10,f,5\n3,2.5,0.8,s,9,f,1\n12,4,0.7,n,12,m,2\n5,3,0.5,s,16,m,4\n";

fn linked_by(left: &str, right: &str) -> DataSource {
    DataSource::Two {
        left: "survey.csv".into(),
        right: "register.csv".into(),
        links: LinkColumns {
            left: left.into(),
            right: right.into(),
        },
    }
}

fn two(data: &mut Data) {
    data.source = linked_by("person", "person");
}

fn folder() -> Folder {
    Folder::new(&[
        ("survey.csv", SURVEY),
        ("register.csv", REGISTER),
        ("f.csv", JOINED),
    ])
}

fn refused(survey: &str, register: &str, formula: &str) -> String {
    let folder = Folder::new(&[("survey.csv", survey), ("register.csv", register)]);
    folder.refused(formula, two)
}

fn roles(data: &mut Data) {
    data.id = Some("person".into());
    data.block = Some("zone".into());
    data.match_probability = Some("p".into());
}

#[test]
fn two_files_are_their_join() {
    let folder = folder();
    for formula in ["wage ~ educ + sex", "log(wage) ~ I(educ^2)", "educ ~ wage"] {
        let joined = folder.read(formula, roles).unwrap();
        let linked = folder.read(formula, |data| {
            two(data);
            roles(data);
        });
        let mut linked = linked.unwrap();
        assert_eq!(linked.notes.num_unlinked, 1);
        linked.notes.num_unlinked = 0;
        assert_eq!(linked, joined, "{formula}");
    }
}

#[test]
fn link_columns_may_have_two_names() {
    let folder = Folder::new(&[
        ("survey.csv", &SURVEY.replace("person", "register_id")),
        ("register.csv", REGISTER),
    ]);
    let linked = folder.read("wage ~ educ", |data| {
        data.source = linked_by("register_id", "person");
        data.id = Some("person".into());
    });
    assert_eq!(linked.unwrap().row_ids.unwrap(), ["7", "3", "12", "5"]);
}

#[test]
fn rows_without_a_link_are_missing() {
    let survey = SURVEY.replace("\n3,", "\nNA,");
    assert_eq!(
        refused(&survey, REGISTER, "wage ~ educ"),
        "survey.csv: missing values in `person` (1, first on line 3); fill them in, or leave such rows out with \
         \"missing\": \"drop\" in the config's data"
    );
    let register = REGISTER.replace("16,5", ",5");
    assert_eq!(
        refused(SURVEY, &register, "wage ~ educ"),
        "survey.csv and register.csv: missing values in `educ` (1, first on line 5 of register.csv); fill them in, or \
         leave such rows out with \"missing\": \"drop\" in the config's data"
    );
    let folder = Folder::new(&[
        ("survey.csv", &format!("{survey}1,5,0.5,s\n")),
        ("register.csv", &register),
    ]);
    let dataset = folder.read("wage ~ educ", |data| {
        two(data);
        data.missing = Missing::Drop;
    });
    let dataset = dataset.unwrap();
    assert_eq!(dataset.row_numbers, [1, 3, 5]);
    assert_eq!(dataset.notes.num_dropped, 2);
    assert_eq!(
        dataset.notes.missing,
        [("person".to_string(), 1), ("educ".to_string(), 1)]
    );
    assert_eq!(dataset.notes.num_unlinked, 1);
}

#[test]
fn links_that_do_not_fit_are_sentences() {
    assert_eq!(
        refused(&SURVEY.replace("\n12,", "\n13,"), REGISTER, "wage ~ educ"),
        "survey.csv, line 4: `person` is \"13\"; no row of register.csv has it in `person`, so correct the link or remove \
         the row"
    );
    assert_eq!(
        refused(&SURVEY.replace("\n12,", "\n7,"), REGISTER, "wage ~ educ"),
        "survey.csv, lines 2 and 4: `person` is \"7\" in both; links must be one to one, but both name the same row of \
         register.csv, so remove one of them"
    );
    assert_eq!(
        refused(SURVEY, &REGISTER.replace("8,1,", "8,12,"), "wage ~ educ"),
        "register.csv, lines 3 and 4: `person` is \"12\" in both; a row that is linked to must stand once, so remove \
         one of them"
    );
    assert_eq!(
        refused(
            &SURVEY.replace("person", "persona"),
            REGISTER,
            "wage ~ educ"
        ),
        "survey.csv: no column `person` (data.links); did you mean `persona`?"
    );
}

#[test]
fn columns_of_the_wrong_file_are_sentences() {
    assert_eq!(
        refused(
            SURVEY,
            &REGISTER.replace("birth", "zone"),
            "wage ~ educ + zone"
        ),
        "`zone` (data.formula) is in both survey.csv and register.csv; rename or remove it in one of them"
    );
    assert_eq!(
        refused(SURVEY, REGISTER, "wage ~ educ + zone"),
        "survey.csv: the predictor `zone` stands in the file of the response, so it would move with the response when a \
         link is wrong; leave it out, or move it to the other file if it was measured there"
    );
    assert_eq!(
        refused(SURVEY, REGISTER, "wage / birth ~ educ"),
        "the response `wage / birth` uses columns of both survey.csv and register.csv; it must come from one of the two \
         files"
    );
    assert_eq!(
        refused(SURVEY, REGISTER, "wage ~ income"),
        "survey.csv and register.csv: no column `income` (data.formula); the columns are `person`, `wage`, `p`, `zone`, \
         `educ`, `person`, `sex` and `birth`"
    );
}
