//! Unlinked rows of the right file as places.

use ndarray::array;

use super::*;
use crate::config::{DataSource, LinkColumns, LinkPairs, Missing, Unlinked};
use crate::data::{Candidate, Places, link_space};

const SURVEY: &str = "person,wage,checked\na,1.5,0\nb,2.5,1\nc,4,0\nd,3,0\n";
const REGISTER: &str =
    "person,educ,sex,zone\nu,13,m,n\nc,9,f,n\na,12,m,n\nv,8,f,s\nd,16,m,s\nb,10,f,s\nw,11,f,e\n";
const PAIRS: &str = "row,partner,weight\na,u,2\na,c,1\nd,v,1\nu,a,1\n";

fn two(data: &mut Data) {
    let person = || "person".to_string();
    let links = LinkColumns {
        left: person(),
        right: person(),
    };
    data.source = DataSource::Two {
        left: "survey.csv".into(),
        right: "register.csv".into(),
        links,
    };
    data.id = Some(person());
    data.unlinked = Unlinked::Places;
}

fn folder(register: &str) -> Folder {
    Folder::new(&[
        ("survey.csv", SURVEY),
        ("register.csv", register),
        ("pairs.csv", PAIRS),
    ])
}

fn places(data: &Dataset) -> &Places {
    data.places.as_ref().unwrap()
}

#[test]
fn places_have_the_columns_and_names_of_the_rows() {
    let data = folder(REGISTER).read("wage ~ educ + sex", two).unwrap();
    assert_eq!((data.num_rows(), data.num_places()), (4, 3));
    let found = places(&data);
    assert_eq!(
        found.x,
        array![[1.0, 13.0, 1.0], [1.0, 8.0, 0.0], [1.0, 11.0, 0.0]]
    );
    // Rows 1, 4 and 7 of the register, behind four rows of the survey.
    assert_eq!(found.numbers, [5, 8, 11]);
    assert_eq!(found.ids.as_ref().unwrap(), &["u", "v", "w"]);
    let all = data.with_places();
    assert_eq!((all.num_rows(), all.x.nrows()), (7, 7));
    assert_eq!(all.response, [1.5, 2.5, 4.0, 3.0, 1.5, 1.5, 1.5]);
    // Without the key nothing changes.
    let left_out = |data: &mut Data| {
        two(data);
        data.unlinked = Unlinked::LeaveOut;
    };
    let plain = folder(REGISTER)
        .read("wage ~ educ + sex", left_out)
        .unwrap();
    assert_eq!(
        plain,
        Dataset {
            places: None,
            ..data
        }
    );
}

#[test]
fn places_stand_in_blocks_and_among_candidates() {
    let data = folder(REGISTER).read("wage ~ educ", |data| {
        two(data);
        data.block = Some("zone".into());
        data.safe = Some("checked".into());
        data.candidates = Some("pairs.csv".into());
    });
    let data = data.unwrap();
    // Zone e has no linked row.
    let found = places(&data);
    assert_eq!((found.len(), found.num_apart, found.num_missing), (2, 1, 0));
    let blocks = data.blocks.as_ref().unwrap();
    let labels = found.block_of.as_ref().unwrap().iter();
    let labels: Vec<&str> = labels.map(|&k| blocks.labels[k].as_str()).collect();
    assert_eq!(labels, ["n", "s"]);
    // The pair of u is of no response.
    let candidate = |row, partner, weight| Candidate {
        row,
        partner,
        weight,
    };
    let expected = [
        candidate(0, 4, 2.0),
        candidate(0, 2, 1.0),
        candidate(3, 5, 1.0),
    ];
    assert_eq!(data.candidates.as_ref().unwrap(), &expected);
    assert_eq!(link_space(&data).num_rows(), 4);
    let all = data.with_places();
    assert_eq!(
        all.safe.as_ref().unwrap(),
        &[false, true, false, false, false, false]
    );
    assert_eq!(all.blocks.as_ref().unwrap().of_row.len(), 6);
}

#[test]
fn pairs_of_a_linkage_program_have_places_as_candidates() {
    let pairs =
        "match_probability,unique_id_l,unique_id_r\n0.9,a,a\n0.3,a,u\n0.8,b,b\n0.9,c,c\n0.9,d,d\n";
    let folder = Folder::new(&[
        ("survey.csv", SURVEY),
        ("register.csv", REGISTER),
        ("pairs.csv", pairs),
    ]);
    let source = DataSource::Pairs {
        left: "survey.csv".into(),
        right: "register.csv".into(),
        links: LinkPairs {
            pairs: "pairs.csv".into(),
            left: Some("person".into()),
            right: Some("person".into()),
            columns: None,
            probability: Some("match_probability".into()),
            threshold: 0.5,
            labels: None,
            candidates: true,
        },
    };
    let read = |unlinked: Unlinked| {
        let data = folder.read("wage ~ educ", |data| {
            data.source = source.clone();
            data.unlinked = unlinked;
        });
        data.unwrap()
    };
    assert_eq!(read(Unlinked::LeaveOut).candidates, None);
    let data = read(Unlinked::Places);
    let candidates = data.candidates.as_ref().unwrap();
    assert_eq!((candidates[0].row, candidates[0].partner), (0, 4));
    assert_eq!(
        data.with_places().match_probability.as_ref().unwrap().len(),
        7
    );
}

#[test]
fn unlinked_rows_without_a_value_are_told_or_left_out() {
    let gaps = REGISTER.replace("v,8,f,s", "v,NA,f,s");
    let sentence = folder(&gaps).refused("wage ~ educ", two);
    assert_eq!(
        sentence,
        "register.csv, line 5: `educ` is \"NA\"; fill it in, or leave such rows out with \"missing\": \"drop\" in the config's data"
    );
    let data = folder(&gaps).read("wage ~ educ", |data| {
        two(data);
        data.missing = Missing::Drop;
    });
    let data = data.unwrap();
    assert_eq!((places(&data).len(), places(&data).num_missing), (2, 1));
}

#[test]
fn what_cannot_be_a_place_is_one_sentence() {
    for (formula, block, sentence) in [
        (
            "educ ~ wage",
            None,
            "data.unlinked is \"places\", but the response `educ` stands in register.csv: an unlinked row is a place by its predictors, so \
             exchange data.left and data.right, or remove data.unlinked",
        ),
        (
            "wage ~ educ",
            Some("checked"),
            "data.unlinked is \"places\", but data.block names `checked` of survey.csv, so unlinked rows of the other file have no block: \
             name a column of data.right, or remove data.unlinked",
        ),
        (
            "wage ~ educ + (1 | zone)",
            None,
            "data.unlinked is \"places\", which goes neither with terms by group such as (1 | g) nor with columns in model.data; remove \
             it, or remove them",
        ),
    ] {
        let found = folder(REGISTER).refused(formula, |data| {
            two(data);
            data.block = block.map(String::from);
        });
        assert_eq!(found, sentence);
    }
}
