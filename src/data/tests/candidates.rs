//! Candidate pairs by row number and by name.

use super::*;
use crate::config::Missing;
use crate::data::Candidate;

const ROWS: &str = "who,y,x\nAnn,1,2\nBob,2,\nCid,3,1\nDan,5,7\nEve,4,4\n";

fn pairs(text: &str, id: Option<&'static str>) -> Result<Option<Vec<Candidate>>, String> {
    let folder = Folder::new(&[("f.csv", ROWS), ("pairs.csv", text)]);
    let change = |data: &mut Data| {
        data.id = id.map(String::from);
        data.missing = Missing::Drop;
        data.candidates = Some("pairs.csv".into());
    };
    match folder.read("y ~ x", change) {
        Ok(dataset) => Ok(dataset.candidates),
        Err(_) => Err(folder.refused("y ~ x", change)),
    }
}

fn candidate(row: usize, partner: usize, weight: f64) -> Candidate {
    Candidate {
        row,
        partner,
        weight,
    }
}

#[test]
fn pairs_count_the_rows_that_are_fitted() {
    let expected = vec![
        candidate(0, 1, 1.0),
        candidate(1, 0, 1.0),
        candidate(2, 3, 1.0),
    ];
    let by_number = "row,partner\n1,3\n3,1\n2,4\n4,5\n5,2\n";
    assert_eq!(pairs(by_number, None), Ok(Some(expected.clone())));
    let by_name = "partner;row\nCid;Ann\nAnn;Cid\nDan;Bob\nEve;Dan\nBob;Eve\n";
    assert_eq!(pairs(by_name, Some("who")), Ok(Some(expected)));
}

#[test]
fn weights_are_read() {
    let found = pairs("row,weight,partner\n4,2.5,1\n5,1e-3,4\n", None);
    assert_eq!(
        found,
        Ok(Some(vec![candidate(2, 0, 2.5), candidate(3, 2, 0.001)]))
    );
}

#[test]
fn bad_pairs_are_sentences() {
    for (text, id, sentence) in [
        (
            "row,partner\n1,3\n1,9\n",
            None,
            "pairs.csv, line 3: `partner` is \"9\"; without data.id, write the number of a row of the data, from 1 to 5",
        ),
        (
            "row,partner\nAnn,3\n",
            None,
            "pairs.csv, line 2: `row` is \"Ann\"; without data.id, write the number of a row of the data, from 1 to 5",
        ),
        (
            "row,partner\nAnne,Bob\n",
            Some("who"),
            "pairs.csv, line 2: `row` is \"Anne\"; no row of the data has this name in data.id, so correct it, perhaps \
             \"Ann\"",
        ),
        (
            "row,partner\n1,3\n3,4\n1,3\n",
            None,
            "pairs.csv, lines 2 and 4: `row` is \"1\" with `partner` \"3\" in both; remove one of them",
        ),
        (
            "row,partner\n1,\n",
            None,
            "pairs.csv, line 2: `partner` is \"\"; name a row of the data",
        ),
        (
            "row,partner\n3,3\n",
            None,
            "pairs.csv, line 2: `partner` is \"3\"; a row's own link is always possible, so remove the line",
        ),
        (
            "row,partner,weight\n3,1,0\n",
            None,
            "pairs.csv, line 2: `weight` is \"0\"; write a number above 0, or remove a pair that is impossible",
        ),
        (
            "row,partner,weight\n3,1,NA\n",
            None,
            "pairs.csv, line 2: `weight` is \"NA\"; write a number above 0",
        ),
        (
            "row,partner,weight\n3,1,inf\n",
            None,
            "pairs.csv, line 2: `weight` is \"inf\"; write a finite number or remove the row",
        ),
        (
            "row,partners\n3,1\n",
            None,
            "pairs.csv: no column `partner` (data.candidates); did you mean `partners`?",
        ),
        (
            "row,partner\n",
            None,
            "pairs.csv has a header line but no rows; add the data below it",
        ),
    ] {
        assert_eq!(pairs(text, id), Err(sentence.into()), "{text}");
    }
}

#[test]
fn names_in_pairs_must_be_unique() {
    let folder = Folder::new(&[
        ("f.csv", &ROWS.replace("Eve", "Ann")),
        ("pairs.csv", "row,partner\nCid,Dan\n"),
    ]);
    let sentence = folder.refused("y ~ x", |data| {
        data.id = Some("who".into());
        data.missing = Missing::Drop;
        data.candidates = Some("pairs.csv".into());
    });
    assert_eq!(
        sentence,
        "f.csv, lines 2 and 6: `who` is \"Ann\" in both; rows named in data.candidates need names of their own"
    );
    let missing = folder.refused("y ~ x", |data| {
        data.missing = Missing::Drop;
        data.candidates = Some("pair.csv".into());
    });
    assert_eq!(
        missing,
        "cannot find the data file pair.csv; check data.candidates, which is relative to the config file"
    );
}
