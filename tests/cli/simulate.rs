//! `unshuffle simulate` as a person runs it, and the configs that are shipped with its data.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use predicates::str::contains;
use unshuffle::internals::config;
use unshuffle::internals::data;
use unshuffle::internals::fit::read_data;
use unshuffle::internals::model::Family;

fn simulate(arguments: &str, folder: &Path) -> assert_cmd::assert::Assert {
    Command::cargo_bin("unshuffle")
        .unwrap()
        .arg("simulate")
        .args(arguments.split_whitespace())
        .arg("--output")
        .arg(folder)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .assert()
}

#[test]
fn the_same_command_writes_the_same_files() {
    let folder = tempfile::tempdir().unwrap();
    let places = ["one", "two"].map(|name| folder.path().join(name));
    for place in &places {
        simulate("--design paper --n 100 --seed 3", place)
            .success()
            .stdout(contains("100 rows, 6 of them mislinked"));
    }
    for file in ["data.csv", "truth.json", "config.json"] {
        let [one, two] = places.each_ref().map(|place| fs::read(place.join(file)));
        assert_eq!(one.unwrap(), two.unwrap(), "{file}");
    }
    simulate("--design paper --n 100 --seed 4", &places[0])
        .code(2)
        .stderr(contains("already there"));
    simulate("--design paper --n 100 --seed 4 --force", &places[0]).success();
}

#[test]
fn the_general_design_takes_every_option() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = "--design general --n 60 --predictors 2 --sigma 0.2 --mislinked 0.25 --kind blocks --blocks 6 \
                     --x-scale 3 --errors student_t --nu 3 --beta -0.5 --intercept -2 --seed 8";
    simulate(arguments, folder.path()).success();
    let config = config::load(&folder.path().join("config.json"), &[]).unwrap();
    assert_eq!(config.model.family(), Family::StudentT { nu: 3.0 });
    let data = data::read(&config.data).unwrap();
    assert_eq!((data.num_rows(), data.x.ncols()), (60, 3));
    assert_eq!(data.blocks.unwrap().labels.len(), 6);
    let truth = fs::read_to_string(folder.path().join("truth.json")).unwrap();
    let truth: serde_json::Value = serde_json::from_str(&truth).unwrap();
    assert_eq!(truth["beta"], serde_json::json!([-2.0, -0.5, -0.5]));
    assert_eq!(truth["num_moved"], 15);
}

#[test]
fn a_formula_goes_into_the_config_and_its_response_moves() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = "--design file --from configs/data/engel.csv --formula log(food)~log(income)+I(income^2) \
                     --drop log_food --id household --mislinked 0.1";
    simulate(arguments, folder.path()).success();
    let config = config::load(&folder.path().join("config.json"), &[]).unwrap();
    let wrong = data::read(&config.data).unwrap();
    assert_eq!(
        wrong.predictor_names,
        ["(Intercept)", "log(income)", "I(income^2)"]
    );
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs/data/engel.csv");
    let right = config::Data {
        source: config::DataSource::File { file: from },
        ..config.data
    };
    let right = data::read(&right).unwrap();
    assert_eq!(wrong.x, right.x);
    let rows = wrong.response.iter().zip(&right.response);
    assert_eq!(rows.filter(|(wrong, right)| wrong != right).count(), 24);
}

#[test]
fn mistakes_are_one_sentence_and_exit_code_2() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("none");
    for (arguments, sentence) in [
        (
            "--design paper --n 12",
            "--n is 12, which is too small: this design needs at least 21 rows",
        ),
        (
            "--design paper",
            "this design needs --n, the number of rows",
        ),
        (
            "--design paper --n 50 --kind random",
            "--kind does not apply to --design paper; remove it",
        ),
        (
            "--design paper --n 50 --formula y~x",
            "--formula does not apply to --design paper; remove it",
        ),
        (
            "--design file --from configs/data/engel.csv --formula y~x --safe ok --kind adjacent",
            "--safe needs --kind random or blocks; add it or remove --safe",
        ),
        (
            "--design general --n 50 --predictors x1",
            "--predictors is x1; --design general needs their number",
        ),
        (
            "--design general --n 50 --predictors 2 --nu 3",
            "--nu needs --errors student_t; add it or remove --nu",
        ),
        (
            "--design file --from configs/data/engel.csv --response log_food --predictors log_incme",
            "configs/data/engel.csv: no column `log_incme` (data.predictors); did you mean `log_income`?",
        ),
    ] {
        simulate(arguments, &place)
            .code(2)
            .stderr(format!("error: {sentence}\n"));
        assert!(!place.exists());
    }
}

#[test]
fn every_shipped_config_loads_and_its_data_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs");
    for (name, num_rows) in [
        ("quickstart", 235),
        ("quantile", 235),
        ("student_t", 235),
        ("robust", 235),
        ("mean_shift", 235),
        ("poisson", 250),
        ("logistic", 250),
        ("negative_binomial", 250),
        ("gamma", 250),
        ("log_normal", 250),
    ] {
        let file = folder.join(format!("{name}.json"));
        let config = config::load(&file, &[]).unwrap();
        assert_eq!(config.name, name);
        assert_eq!(read_data(&config).unwrap().num_rows(), num_rows);
    }
    let config = config::load(&folder.join("multivariate.json"), &[]).unwrap();
    let households = data::read(&config.data).unwrap();
    assert_eq!(households.responses().len(), 2 * 150);
}
