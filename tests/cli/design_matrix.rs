//! Design matrices against those of formulaic, a Python package that codes formulas as R does.

use std::collections::BTreeMap;

use tempfile::TempDir;
use unshuffle::internals::config::Data;
use unshuffle::internals::data;

const FORMULAS: [&str; 20] = [
    "y ~ x + z",
    "y ~ x - 1",
    "y ~ sex",
    "y ~ 0 + sex + x",
    "y ~ 0 + sex + sector",
    "y ~ sex*union",
    "y ~ sex:union + x - 1",
    "y ~ 0 + sex*sector",
    "y ~ sex + sex:union",
    "y ~ x*sector",
    "y ~ x:sex",
    "y ~ x + x:sector + sector",
    "y ~ C(region)",
    "y ~ sex + C(region):sex",
    "y ~ (x + sex + union)**2",
    "y ~ sex*union*sector",
    "y ~ sex*union*x - sex:union:x",
    "y ~ x + I(x**2) + I((x - z) / 2)",
    "y ~ log(x) + sqrt(z):sex + sex",
    "y ~ log1p(x) + exp(I(x / 10)) + abs(I(z - 3)) + log2(z) + log10(x)",
];

/// Columns by name, without the spaces that the two write differently.
type Columns = BTreeMap<String, Vec<f64>>;

struct Example {
    folder: TempDir,
}

impl Example {
    /// Every combination of the categories, with numbers that follow no pattern of theirs.
    fn new() -> Example {
        let mut text = "y,x,z,sex,union,sector,region\n".to_string();
        for k in 0..72usize {
            let wave = |step: f64| 5.0 + 4.0 * (step * (k * k + 1) as f64).sin();
            text += &format!(
                "{},{},{},{},{},{},{}\n",
                wave(0.37),
                wave(1.1),
                wave(2.3),
                ["male", "female"][k % 2],
                ["no", "yes"][k / 2 % 2],
                ["other", "services", "manufacturing"][k / 4 % 3],
                [10, 2, 33][k / 12 % 3]
            );
        }
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("data.csv"), text).unwrap();
        Example { folder }
    }

    fn formulaic(&self) -> BTreeMap<String, Columns> {
        let output = crate::common::python("design_matrix.py")
            .arg(self.folder.path().join("data.csv"))
            .arg(serde_json::json!(FORMULAS).to_string())
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn data(&self, formula: &str) -> Data {
        Data {
            formula: Some(formula.into()),
            ..Data::new(self.folder.path().join("data.csv"), "", Vec::new())
        }
    }
}

fn ours(data: &Data) -> Columns {
    let dataset = data::read(data).unwrap();
    let names = dataset.predictor_names.iter();
    names
        .zip(dataset.x.columns())
        .map(|(name, column)| (name.replace(' ', ""), column.to_vec()))
        .collect()
}

fn difference(ours: &Columns, theirs: &Columns) -> Option<String> {
    if !ours.keys().eq(theirs.keys()) {
        return Some(format!("{:?} and {:?}", ours.keys(), theirs.keys()));
    }
    let differs = |(name, column): (&String, &Vec<f64>)| {
        let pairs = column.iter().zip(&theirs[name]);
        let largest = pairs.fold(0.0f64, |most, (a, b)| most.max((a - b).abs()));
        let same = column.len() == theirs[name].len() && largest <= 1e-12;
        (!same).then(|| format!("{name} differs by {largest}"))
    };
    ours.iter().find_map(differs)
}

#[test]
fn matrices_are_those_of_formulaic() {
    let example = Example::new();
    let theirs = example.formulaic();
    for formula in FORMULAS {
        let ours = ours(&example.data(formula));
        assert_eq!(difference(&ours, &theirs[formula]), None, "{formula}");
    }
}

#[test]
fn another_coding_is_noticed() {
    let example = Example::new();
    let theirs = example.formulaic();
    for formula in ["y ~ sex", "y ~ sex*union"] {
        let mut data = example.data(formula);
        data.reference.insert("sex".into(), "male".into());
        assert!(difference(&ours(&data), &theirs[formula]).is_some());
    }
    // The same names, with one level's ones and zeros exchanged.
    let mut wrong = ours(&example.data("y ~ sex"));
    for value in wrong.get_mut("sex[male]").unwrap() {
        *value = 1.0 - *value;
    }
    assert_eq!(
        difference(&wrong, &theirs["y ~ sex"]),
        Some("sex[male] differs by 1".into())
    );
}
