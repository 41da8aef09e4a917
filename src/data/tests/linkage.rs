//! Pairs as linkage programs write them: which column is which file, labels, candidates, and what is refused.

use super::*;
use crate::config::{DataSource, LinkPairs};
use crate::data::{Candidate, LabelNotes, Notes, convert};

const SURVEY: &str = "person,wage\na,1.5\nb,2.5\nc,4\nd,3\ne,7\n";
const REGISTER: &str = "id,educ\nr1,9\nr2,12\nr3,8\nr4,16\nr5,10\nr6,11\n";
/// a and b could be exchanged; e has no link above 0.5; r6 has none at all.
const SPLINK: &str = "match_weight,match_probability,unique_id_l,unique_id_r\n\
                      5,0.9,a,r1\n5,0.9,b,r2\n1,0.2,a,r2\n1,0.5,b,r1\n9,1.0,c,r3\n7,0.99,d,r4\n0,0.4,e,r5\n-9,0,e,r6\n";

fn source(change: impl Fn(&mut LinkPairs)) -> DataSource {
    let mut links = LinkPairs {
        pairs: "pairs.csv".into(),
        left: Some("person".into()),
        right: Some("id".into()),
        columns: None,
        probability: Some("match_probability".into()),
        threshold: 0.5,
        labels: None,
        candidates: true,
    };
    change(&mut links);
    DataSource::Pairs {
        left: "survey.csv".into(),
        right: "register.csv".into(),
        links,
    }
}

fn folder(pairs: &str, labels: &str) -> Folder {
    Folder::new(&[
        ("survey.csv", SURVEY),
        ("register.csv", REGISTER),
        ("pairs.csv", pairs),
        ("labels.csv", labels),
    ])
}

fn read_pairs(pairs: &str, labels: &str, change: impl Fn(&mut LinkPairs)) -> Dataset {
    let with = |data: &mut Data| data.source = source(&change);
    folder(pairs, labels).read("wage ~ educ", with).unwrap()
}

fn refused(pairs: &str, labels: &str, change: impl Fn(&mut LinkPairs)) -> String {
    folder(pairs, labels).refused("wage ~ educ", |data| data.source = source(&change))
}

fn close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-8, "{found} where {expected}");
    }
}

#[test]
fn predictions_of_splink() {
    let data = read_pairs(SPLINK, "", |_| {});
    assert_eq!(data.response, [1.5, 2.5, 4.0, 3.0]);
    assert_eq!(data.x.column(1).to_vec(), [9.0, 12.0, 8.0, 16.0]);
    // Odds 9 and 9 for the links, 1/4 and 1 for the pairs across: all one-to-one choices of a circle of four.
    let probability = data.match_probability.as_ref().unwrap();
    let expected = (9.0 + 81.0) / (1.0 + 9.0 + 9.0 + 0.25 + 1.0 + 81.0 + 0.25);
    assert!(
        (probability[0] - expected).abs() < 0.02,
        "{}",
        probability[0]
    );
    assert_eq!(probability[0], probability[1]);
    close(&probability[2..], &[1.0 - 1e-9, 0.99]);
    let candidates = data.candidates.as_ref().unwrap();
    let places: Vec<(usize, usize)> = candidates.iter().map(|c| (c.row, c.partner)).collect();
    assert_eq!(places, [(0, 1), (1, 0)]);
    close(&[candidates[0].weight, candidates[1].weight], &[0.25, 1.0]);
    let notes = data.notes.linkage.as_ref().unwrap();
    assert_eq!(
        (notes.num_pairs, notes.num_links, notes.num_left_out),
        (7, 4, 1)
    );
    assert_eq!((data.notes.num_unlinked, &notes.labels), (2, &None));
    assert_eq!(data.safe, None);
    let free = read_pairs(SPLINK, "", |links| links.candidates = false);
    assert_eq!(free.candidates, None);
}

#[test]
fn candidates_follow_the_side_of_the_response() {
    let pairs = SPLINK.replace("1,0.5,b,r1\n", "");
    let with = |data: &mut Data| data.source = source(|_| {});
    let place = |formula: &str| {
        let data = folder(&pairs, "").read(formula, with).unwrap();
        let Candidate { row, partner, .. } = data.candidates.unwrap()[0];
        (row, partner)
    };
    // The pair (a, r2): the wage of a may belong to the education of row 1, or the education of row 1 to the wage of a.
    assert_eq!(place("wage ~ educ"), (0, 1));
    assert_eq!(place("educ ~ wage"), (1, 0));
}

#[test]
fn the_columns_of_splink_may_be_in_either_order() {
    let straight = read_pairs(SPLINK, "", |_| {});
    let turned = SPLINK.replace("unique_id_l,unique_id_r", "unique_id_r,unique_id_l");
    assert_eq!(read_pairs(&turned, "", |_| {}), straight);
    let inside = SPLINK
        .replace(
            "unique_id_r\n",
            "unique_id_r,source_dataset_l,source_dataset_r\n",
        )
        .replace(",r1\n", ",r1,x,y\n");
    let inside: String = inside
        .lines()
        .map(|line| match line.matches(',').count() {
            5 => format!("{line}\n"),
            _ => format!("{line},x,y\n"),
        })
        .collect();
    let inside = format!("{inside}3,0.9,a,b,x,x\n");
    let mut data = read_pairs(&inside, "", |_| {});
    assert_eq!(data.notes.linkage.as_ref().unwrap().num_inside, 1);
    data.notes = straight.notes.clone();
    assert_eq!(data, straight);
}

#[test]
fn ids_that_both_files_have_need_the_names_of_the_tables() {
    let read = |pairs: &str, columns: Option<[String; 2]>| {
        let folder = Folder::new(&[
            ("survey.csv", "n,wage\n1,1.5\n2,2.5\n3,4\n4,9\n"),
            ("register.csv", "n,educ\n1,9\n2,12\n3,8\n4,7\n"),
            ("pairs.csv", pairs),
        ]);
        let with = |data: &mut Data| {
            data.source = source(|links| {
                (links.left, links.right) = (Some("n".into()), Some("n".into()));
                links.probability = None;
                links.columns = columns.clone();
            });
        };
        match folder.read("wage ~ educ", with) {
            Ok(data) => Ok(data.x.column(1).to_vec()),
            Err(_) => Err(folder.refused("wage ~ educ", with)),
        }
    };
    let header = "unique_id_l,unique_id_r,source_dataset_l,source_dataset_r\n";
    let pairs = |l: &str, r: &str| {
        let pairs = [(1, 2), (2, 3), (3, 1), (4, 4)];
        let lines = pairs.map(|(a, b)| format!("{a},{b},{l},{r}\n"));
        format!("{header}{}", lines.concat())
    };
    let straight = vec![12.0, 8.0, 9.0, 7.0];
    let turned = vec![8.0, 9.0, 12.0, 7.0];
    assert_eq!(
        read(&pairs("survey", "register"), None),
        Ok(straight.clone())
    );
    assert_eq!(read(&pairs("register", "survey"), None), Ok(turned.clone()));
    assert_eq!(
        read(&pairs("one", "two"), None).unwrap_err(),
        "pairs.csv, line 1: `unique_id_l` and `unique_id_r` could each name rows of either file; write \"columns\": [..., ...] in \
         data.links, first the one of survey.csv"
    );
    let said = Some(["unique_id_r".to_string(), "unique_id_l".to_string()]);
    assert_eq!(read(&pairs("one", "two"), said), Ok(turned));
    let plain = "left,right\n1,2\n2,3\n3,1\n4,4\n";
    assert_eq!(read(plain, None), Ok(straight));
}

#[test]
fn matches_of_fastlink_have_row_numbers() {
    let pairs = "\"\",inds.a,inds.b,posterior\n1,1,1,0.95\n2,2,2,0.9\n3,3,4,0.8\n4,4,3,0.7\n";
    let data = read_pairs(pairs, "", |links| {
        (links.left, links.right) = (None, None);
        links.probability = Some("posterior".into());
    });
    assert_eq!(data.x.column(1).to_vec(), [9.0, 12.0, 16.0, 8.0]);
    close(&data.match_probability.unwrap(), &[0.95, 0.9, 0.8, 0.7]);
    assert_eq!(data.candidates, None);
}

#[test]
fn labels_make_safe_rows_and_an_audit() {
    // c is linked to r3 without labels, and d to r4; e has no link, but the labels know one.
    let labels =
        "unique_id_l,unique_id_r,clerical_match_score\na,r1,1\nc,r3,0\nd,r5,0\ne,r6,1\nb,r1,0.5\n";
    let data = read_pairs(SPLINK, labels, |links| {
        links.labels = Some("labels.csv".into())
    });
    assert_eq!(data.row_numbers, [1, 2, 4, 5]);
    assert_eq!(data.safe.as_deref().unwrap(), [true, false, false, true]);
    // The partner of a is known, so that nobody else belongs to r1.
    assert_eq!(data.candidates, None);
    close(
        data.match_probability.as_ref().unwrap(),
        &[1.0, 0.9, 0.99, 1.0],
    );
    let expected = LabelNotes {
        num_right: 2,
        num_wrong: 2,
        num_undecided: 1,
        checked: 2,
        wrong: 1,
    };
    assert_eq!(data.notes.linkage.unwrap().labels, Some(expected));
}

#[test]
fn mistakes_are_one_sentence() {
    let none = |_: &mut LinkPairs| {};
    for (from, to, sentence) in [
        (
            "d,r4",
            "x,r4",
            "pairs.csv, line 7: `unique_id_l` is \"x\"; no row of survey.csv has it in `person`, so correct it",
        ),
        (
            "1,0.5,b,r1",
            "1,0.2,a,r2",
            "pairs.csv, lines 4 and 5: `unique_id_l` is \"a\" with the same partner in both; remove one of them",
        ),
        (
            "0.99,d",
            "99,d",
            "pairs.csv, line 7: `match_probability` is \"99\"; write a probability, from 0 to 1",
        ),
        (
            "unique_id_l",
            "mine",
            "pairs.csv, line 1: no two columns are known to name the records of a pair; write \"columns\": [..., ...] in \
             data.links, first the one of survey.csv",
        ),
    ] {
        assert_eq!(refused(&SPLINK.replace(from, to), "", none), sentence);
    }
    assert_eq!(
        refused(SPLINK, "", |links| links.threshold = 0.9999999999),
        "pairs.csv: no pair has a probability above 0.9999999999, so there is no link; lower `threshold` in data.links"
    );
    let labels = "unique_id_l,unique_id_r,clerical_match_score\na,r1,1\nb,r1,1\n";
    assert_eq!(
        refused(SPLINK, labels, |links| links.labels =
            Some("labels.csv".into())),
        "labels.csv, line 3: `unique_id_l` is \"b\"; a record has one partner, but the labels give it another one, too, so \
         correct one of them"
    );
}

#[test]
fn a_converted_linkage_is_the_linkage() {
    for formula in ["wage ~ educ", "educ ~ wage"] {
        // Nobody is left without a link.
        let folder = Folder::new(&[
            ("survey.csv", &SURVEY.replace("e,7\n", "")),
            ("register.csv", &REGISTER.replace("r5,10\nr6,11\n", "")),
            ("pairs.csv", &SPLINK.replace("0,0.4,e,r5\n-9,0,e,r6\n", "")),
        ]);
        let data = folder.data(formula, |data| {
            data.source = source(|_| {});
            data.id = Some("person".into());
        });
        let converted = convert(&data, "linear").unwrap();
        assert_eq!((converted.num_candidates, converted.num_movable), (2, 2));
        std::fs::write(folder.0.path().join("linked.csv"), &converted.linked).unwrap();
        let candidates = converted.candidates.as_ref().unwrap();
        std::fs::write(folder.0.path().join("candidates.csv"), candidates).unwrap();
        assert!(
            candidates.starts_with("row,partner,weight\na,b,")
                || candidates.starts_with("row,partner,weight\nb,a,")
        );
        let file = folder.0.path().join("config.json");
        let config = crate::config::parse(&converted.config.to_string(), &file, &[]).unwrap();
        let mut direct = read(&data).unwrap();
        // Rows are counted in the linked file.
        direct.row_numbers = vec![1, 2, 3, 4];
        direct.notes = Notes::default();
        assert_eq!(read(&config.data).unwrap(), direct, "{formula}");
    }
}

/// A linked file has no records that are linked to nobody, so both files stay.
#[test]
fn a_converted_linkage_keeps_the_records_that_are_linked_to_nobody() {
    for (labels, checked) in [("", 0), ("unique_id_l,unique_id_r,match\na,r1,1\n", 1)] {
        let folder = folder(SPLINK, labels);
        let data = folder.data("wage ~ educ", |data| {
            data.source = source(|links| {
                links.labels = (checked > 0).then(|| "labels.csv".into());
            });
            data.id = Some("person".into());
        });
        let converted = convert(&data, "linear").unwrap();
        assert_eq!(converted.notes.linked_to_nobody(), (1, 2));
        assert_eq!(converted.candidates, None);
        let file = folder.0.path().join("config.json");
        let config = crate::config::parse(&converted.config.to_string(), &file, &[]).unwrap();
        assert_eq!(config.data, data);
        let audit = &converted.config["permutation"]["prior"]["audit"];
        assert_eq!(audit["checked"].as_u64().unwrap_or(0), checked);
    }
}

/// Of ids that both files have, those of the left file name the rows.
#[test]
fn rows_have_the_ids_of_the_left_file() {
    let folder = Folder::new(&[
        ("survey.csv", "n,wage\na,1.5\nb,2.5\nc,4\n"),
        ("register.csv", "n,educ\n1,9\n2,12\n3,8\n"),
        ("pairs.csv", "left,right\na,2\nb,3\nc,1\n"),
    ]);
    let with = |data: &mut Data| {
        data.source = source(|links| {
            (links.left, links.right) = (Some("n".into()), Some("n".into()));
            links.probability = None;
        });
        data.id = Some("n".into());
    };
    let data = folder.read("wage ~ educ", with).unwrap();
    assert_eq!(data.row_ids.unwrap(), ["a", "b", "c"]);
    // Elsewhere it could be either.
    let refused = folder.refused("wage ~ educ", |data| {
        with(data);
        data.block = Some("n".into());
    });
    assert!(refused.contains("`n`"), "{refused}");
    assert!(refused.contains("survey.csv"), "{refused}");
    assert!(refused.contains("register.csv"), "{refused}");
}
