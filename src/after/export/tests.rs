//! Exports of fits made up on disk, read back.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::data::files_sha256;

/// Links of a draw: row and what it is linked to, as in the user's file.
type Links = &'static [(usize, usize)];

const DATA: &str =
    "id;wage; note ;educ\na;10;\"x;1\";1\nb;20; y ;2\nc;NA;z;3\nd;40;w;4\ne;50;v;6\n";
/// Rows 1, 2, 4 and 5 of the file are fitted.
const DRAWS: [&[Links]; 2] = [
    &[&[], &[(1, 4), (4, 1)], &[(1, 4), (4, 5), (5, 1)]],
    &[
        &[(1, 4), (4, 1)],
        &[(1, 4), (4, 5), (5, 1)],
        &[(2, 5), (5, 2)],
    ],
];
/// log densities, of which the last but one of the second chain is the highest together with the prior.
const DENSITIES: [[(f64, f64); 3]; 2] = [
    [(-5.0, 0.0), (-4.0, -3.0), (-1.0, -5.0)],
    [(-4.0, -3.0), (-1.5, -2.0), (-2.0, -3.0)],
];

fn made_up(data: Value, files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    for (name, text) in files {
        write(name, text);
    }
    let paths: Vec<PathBuf> = files
        .iter()
        .map(|(name, _)| folder.path().join(name))
        .collect();
    let paths: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    let sha = files_sha256(&paths).unwrap();
    let config = json!({"model": {"stan": "linear"}, "data": data, "output": "elsewhere", "versions": {"data_sha256": sha}});
    write("config.json", &config.to_string());
    for (k, (draws, densities)) in DRAWS.iter().zip(DENSITIES).enumerate() {
        let mut links = "draw,row,linked_to\n".to_string();
        for (draw, moved) in draws.iter().enumerate() {
            for (row, linked_to) in moved.iter() {
                links += &format!("{},{row},{linked_to}\n", draw + 1);
            }
        }
        write(&format!("links_{}.csv", k + 1), &links);
        let mut text = "lp__,n_moved__,log_prior_pi__\n".to_string();
        for (density, prior) in densities {
            text += &format!("{density},0,{prior}\n");
        }
        write(&format!("draws_{}.csv", k + 1), &text);
    }
    folder
}

fn one_file() -> TempDir {
    let data = json!({"file": "d.csv", "formula": "log(wage) ~ educ", "missing": "drop"});
    made_up(data, &[("d.csv", DATA)])
}

fn settings(num_sets: usize) -> Settings {
    Settings {
        num_sets,
        seed: 1,
        force: false,
    }
}

fn exported(folder: &TempDir, num_sets: usize) -> (PathBuf, Vec<Linking>) {
    let to = folder.path().join("export");
    let export = Export::read(folder.path(), &[]).unwrap();
    let linkings = export.write(&to, &settings(num_sets)).unwrap();
    (to, linkings)
}

/// Header and rows.
fn table(path: &Path, delimiter: u8) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .delimiter(delimiter)
        .from_path(path)
        .unwrap();
    let rows = reader.records().map(|record| {
        let record = record.unwrap();
        record.iter().map(String::from).collect()
    });
    rows.collect()
}

/// Moved rows and what they are linked to, from the last two columns.
fn links(rows: &[Vec<String>]) -> BTreeMap<usize, usize> {
    let number = |text: &String| text.parse::<usize>().unwrap();
    let pairs = rows[1..].iter().map(|row| {
        let [.., own, other] = &row[..] else { panic!() };
        (number(own), number(other))
    });
    pairs.filter(|(own, other)| own != other).collect()
}

fn refused(export: Result<Export, ExportError>) -> String {
    export.err().unwrap().to_string()
}

#[test]
fn links_go_out_with_the_cells_and_come_back() {
    let folder = one_file();
    let (to, linkings) = exported(&folder, 6);
    // As many sets as draws: each draw once, in order.
    for (k, expected) in DRAWS.concat().into_iter().enumerate() {
        let rows = table(&to.join(format!("completed_{}.csv", k + 1)), b';');
        assert_eq!(rows[0], ["id", "wage", "note", "educ", "row", "linked_to"]);
        assert_eq!(links(&rows), expected.iter().copied().collect(), "{k}");
        assert_eq!(linkings[k + 3].num_moved, expected.len());
    }
    // The second draw: the wages of rows 1 and 4 change places, and nothing else.
    let text = fs::read_to_string(to.join("completed_2.csv")).unwrap();
    assert_eq!(
        text,
        "id;wage;note;educ;row;linked_to\na;40;\"x;1\";1;4;1\nb;20; y ;2;2;2\nd;10;w;4;1;4\ne;50;v;6;5;5\n"
    );
}

#[test]
fn every_cell_stands_exactly_once() {
    let folder = one_file();
    let (to, _) = exported(&folder, 6);
    let original = table(&folder.path().join("d.csv"), b';');
    for path in ExportFolder::new(&to).files().unwrap() {
        let rows = table(&path, b';');
        for column in 0..4 {
            let sorted = |rows: &[Vec<String>], dropped: &str| {
                let rows = rows[1..].iter().filter(|row| row[0] != dropped);
                let mut cells: Vec<String> = rows.map(|row| row[column].clone()).collect();
                cells.sort();
                cells
            };
            assert_eq!(
                sorted(&rows, ""),
                sorted(&original, "c"),
                "{}",
                path.display()
            );
        }
    }
}

#[test]
fn the_mode_is_the_best_draw_and_the_best_links_are_the_likeliest() {
    let folder = one_file();
    let (to, linkings) = exported(&folder, 1);
    let mode = table(&to.join("relinked_mode.csv"), b';');
    assert_eq!(links(&mode), BTreeMap::from([(1, 4), (4, 5), (5, 1)]));
    // P(1 at 4) = 4/6, P(4 at 1) = P(4 at 5) = 2/6, P(5 at 5) = 3/6, P(2 at 2) = 5/6.
    let best = table(&to.join("relinked_best.csv"), b';');
    assert_eq!(links(&best), BTreeMap::from([(1, 4), (4, 1)]));
    let judged: Vec<(usize, f64)> = linkings
        .iter()
        .map(|linking| (linking.num_moved, (6.0 * linking.expected_right).round()))
        .collect();
    assert_eq!(
        judged[..3],
        [
            (0, 2.0 + 5.0 + 2.0 + 3.0),
            (3, 4.0 + 5.0 + 2.0 + 2.0),
            (2, 4.0 + 5.0 + 2.0 + 3.0)
        ]
    );
}

#[test]
fn the_file_of_the_response_moves_as_a_whole() {
    let survey = "key,wage,asked_by\nq,10,Ann\nr,20,Bob\ns,40,Cem\nt,50,Dua\n";
    let register = "key,educ\nt,6\nq,1\nr,2\ns,4\nz,9\n";
    let files = [("survey.csv", survey), ("register.csv", register)];
    let data = json!({"left": "survey.csv", "right": "register.csv", "links": "key", "formula": "wage ~ educ"});
    let folder = made_up(data, &files);
    for chain in [1, 2] {
        let path = folder.path().join(format!("links_{chain}.csv"));
        fs::write(
            path,
            "draw,row,linked_to\n1,1,4\n1,4,1\n2,1,4\n2,4,1\n3,1,4\n3,4,1\n",
        )
        .unwrap();
    }
    let (to, _) = exported(&folder, 1);
    let text = fs::read_to_string(to.join("relinked_best.csv")).unwrap();
    assert_eq!(
        text,
        "key.left,wage,asked_by,key.right,educ,row,linked_to\nt,50,Dua,q,1,4,1\nr,20,Bob,r,2,2,2\ns,40,Cem,s,4,3,3\nq,10,Ann,t,6,1,4\n"
    );
    // The response in the right file: its columns move, and rows are still those of the left one.
    let data = json!({"left": "register2.csv", "right": "survey.csv", "links": "key", "formula": "wage ~ educ"});
    let files = [
        ("register2.csv", "key,educ\nt,6\nq,1\nr,2\ns,4\n"),
        files[0],
    ];
    let folder = made_up(data, &files);
    for chain in [1, 2] {
        let path = folder.path().join(format!("links_{chain}.csv"));
        fs::write(path, "draw,row,linked_to\n2,1,2\n2,2,1\n").unwrap();
    }
    let (to, _) = exported(&folder, 6);
    let text = fs::read_to_string(to.join("completed_2.csv")).unwrap();
    assert!(text.starts_with("key.left,educ,key.right,wage,asked_by,row,linked_to\nt,6,q,10,Ann,2,1\nq,1,t,50,Dua,1,2\n"), "{text}");
}

#[test]
fn columns_measured_with_the_response_can_move_with_it() {
    let folder = one_file();
    let export = Export::read(folder.path(), &["note".into()]).unwrap();
    let to = folder.path().join("with_note");
    export.write(&to, &settings(6)).unwrap();
    let rows = table(&to.join("completed_2.csv"), b';');
    assert_eq!(rows[1], ["a", "40", "w", "1", "4", "1"]);
    assert_eq!(
        refused(Export::read(folder.path(), &["educ".into()])),
        "--also names `educ`, which is a predictor; predictors stay where they are, so leave it out"
    );
}

#[test]
fn sets_are_spread_over_all_chains() {
    let folder = one_file();
    let export = Export::read(folder.path(), &[]).unwrap();
    for seed in 0..50 {
        let settings = Settings {
            seed,
            ..settings(3)
        };
        let draws = export.spread(&settings).unwrap();
        // One of each third of the six draws.
        let thirds: Vec<usize> = draws.iter().map(|draw| draw / 2).collect();
        assert_eq!(thirds, [0, 1, 2]);
    }
    let error = export.spread(&settings(7)).unwrap_err().to_string();
    assert_eq!(
        error,
        "--sets is 7, but the fit has 6 draws; ask for at most so many"
    );
}

#[test]
fn names_that_are_taken_are_left_alone() {
    let data = json!({"file": "d.csv", "response": "y", "predictors": ["x"]});
    let folder = made_up(
        data,
        &[("d.csv", "row,x,y\n7,1,1\n8,2,2\n9,4,5\n3,7,6\n1,9,8\n")],
    );
    let (to, _) = exported(&folder, 1);
    let rows = table(&to.join("relinked_mode.csv"), b',');
    assert_eq!(rows[0], ["row", "x", "y", "row_", "linked_to"]);
    assert_eq!(rows[1], ["7", "1", "8", "5", "1"]);
}

#[test]
fn what_cannot_be_exported_is_one_sentence() {
    let folder = one_file();
    let (to, _) = exported(&folder, 3);
    let export = Export::read(folder.path(), &[]).unwrap();
    let error = export.write(&to, &settings(2)).unwrap_err().to_string();
    assert!(
        error.ends_with(
            "completed_1.csv already exists: choose another --output, or replace it with --force"
        ),
        "{error}"
    );
    let force = Settings {
        force: true,
        ..settings(2)
    };
    export.write(&to, &force).unwrap();
    assert_eq!(ExportFolder::new(&to).files().unwrap().len(), 4);

    let links = folder.path().join("links_2.csv");
    let saved = fs::read_to_string(&links).unwrap();
    fs::write(&links, saved.replace("2,5,1", "2,5,5")).unwrap();
    let broken = Export::read(folder.path(), &[]).unwrap();
    let error = broken.write(&to, &force).unwrap_err().to_string();
    assert!(
        error.ends_with("links_2.csv, line 4: the links of draw 2 are not one to one"),
        "{error}"
    );
    fs::remove_file(&links).unwrap();
    let error = refused(Export::read(folder.path(), &[]));
    assert!(
        error.starts_with("cannot read") && error.contains("links_2.csv"),
        "{error}"
    );
    fs::write(&links, saved).unwrap();

    fs::write(folder.path().join("d.csv"), DATA.replace("50", "51")).unwrap();
    let error = refused(Export::read(folder.path(), &[]));
    assert!(error.contains("d.csv changed since the fit in"), "{error}");
    fs::remove_file(folder.path().join("d.csv")).unwrap();
    let error = refused(Export::read(folder.path(), &[]));
    assert!(error.starts_with("cannot find the data file"), "{error}");
}
