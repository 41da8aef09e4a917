//! Programs in the style of brms: adopted, compiled, and compared with the density of the same program as it was.

use std::ffi::CString;
use std::path::Path;

use bridgestan::{Model, Rng, StanLibrary, open_library};
use serde_json::{Value, json};
use unshuffle::internals::model::stan::{StanError, StanSource, adopt};

use crate::common::compiler;

const N: usize = 6;
const X2: [f64; N] = [0.5, 1.5, -0.7, 2.2, -1.0, 0.1];

pub fn source(name: &str) -> StanSource {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/adopt/brms");
    StanSource::from_file(&folder.join(format!("{name}.stan"))).unwrap()
}

/// The program for unshuffle, and the keys that its config must give.
pub fn adopted(name: &str) -> (StanSource, Vec<String>, String) {
    let (original, compiler) = (source(name), compiler());
    let with_text = |text: &str| StanSource::from_text(&format!("{name}_unshuffle.stan"), text);
    let accepts = |text: &str| match compiler.info(&with_text(text)) {
        Ok(_) => Ok(true),
        Err(StanError::Program { .. }) => Ok(false),
        Err(error) => Err(error),
    };
    let found = adopt(&original.text, name, "Y", &accepts)
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let result = with_text(&found.text);
    assert!(
        accepts(&found.text).unwrap(),
        "{name}: stanc refuses\n{}",
        found.text
    );
    let config: Value = serde_json::from_str(&found.starting_config("m.stan")).unwrap();
    assert_eq!(config["data"]["intercept"], true, "{name}");
    let entries = config["model"]["data"].as_object();
    let entries = entries.map(|entries| entries.keys().cloned().collect());
    (
        result,
        entries.unwrap_or_default(),
        config["model"]["data"].to_string(),
    )
}

/// stanc takes every adopted program, and what is left for the config is what groups need.
#[test]
fn ten_programs_of_brms_are_adopted() {
    let of_groups = ["N_1", "M_1", "J_1", "Z_1_1"];
    for (name, entries) in [
        ("gaussian", &[][..]),
        ("gaussian_group", &of_groups),
        (
            "gaussian_slopes",
            &["N_1", "M_1", "J_1", "Z_1_1", "Z_1_2", "NC_1"],
        ),
        ("student", &[]),
        ("bernoulli", &of_groups),
        ("poisson", &[]),
        ("negbinomial", &of_groups),
        ("gamma", &[]),
        ("lognormal", &of_groups),
        ("beta", &[]),
    ] {
        let (_, found, config) = adopted(name);
        assert_eq!(found, entries, "{name}");
        if !entries.is_empty() {
            for part in [
                r#""J_1":{"column":"fill in: the column of J_1"}"#,
                r#""N_1":{"levels":"fill in: the column of J_1"}"#,
                r#""M_1":"fill in: int<lower=1>""#,
                r#""Z_1_1":{"column":"fill in: the column of Z_1_1"}"#,
            ] {
                assert!(config.contains(part), "{name}: {config}");
            }
        }
    }
}

fn data(y: &Value) -> Value {
    let x: Vec<[f64; 2]> = X2.iter().map(|x| [1.0, *x]).collect();
    json!({
        "N": N, "Y": y, "K": 2, "Kc": 1, "D": 2, "X": x, "prior_only": 0, "NC_1": 1,
        "N_1": 2, "M_1": 1, "J_1": [1, 2, 2, 1, 1, 2], "Z_1_1": [1, 1, 1, 1, 1, 1], "Z_1_2": X2
    })
}

pub fn library(source: &StanSource) -> StanLibrary {
    open_library(compiler().compile(source).unwrap().library).unwrap()
}

/// At ten points the adopted program has the density of the original, and its `log_lik` adds up to the likelihood: half of it is what
/// alpha = 1/2 takes away.
pub fn is_the_same_program(name: &str, y: [f64; N], num_coefficients: usize) {
    let is_integer = y.iter().all(|y| y.fract() == 0.0);
    let as_data = match is_integer {
        true => json!(y.map(|y| y as i64)),
        false => json!(y),
    };
    let mut data = data(&as_data);
    data["M_1"] = json!(num_coefficients);
    let text = |data: &Value| CString::new(data.to_string()).unwrap();
    let (before, after) = (library(&source(name)), library(&adopted(name).0));
    let original = Model::new(&before, Some(text(&data)), 1).unwrap();
    let with_alpha = |alpha: f64| {
        let mut data = data.clone();
        data["alpha"] = json!(alpha);
        Model::new(&after, Some(text(&data)), 1).unwrap()
    };
    let (whole, half) = (with_alpha(1.0), with_alpha(0.5));
    let names: Vec<String> = whole
        .param_names(true, true)
        .split(',')
        .map(String::from)
        .collect();
    let first = names.iter().position(|name| name == "log_lik.1").unwrap();
    for point in 0..10 {
        let place =
            |k: usize| (((k * 7 + point * 3) as f64 + 0.3) * 0.618_033_988_749_895).fract() - 0.5;
        let theta: Vec<f64> = (0..original.param_unc_num()).map(place).collect();
        let with_y = [&theta[..], &y].concat();
        let expected = original.log_density(&theta, false, true).unwrap();
        let found = whole.log_density(&with_y, false, true).unwrap();
        assert!(
            (found - expected).abs() < 1e-8 * expected.abs().max(1.0),
            "{name}: {found} where {expected}"
        );
        let mut outputs = vec![0.0; names.len()];
        let mut rng = Rng::new(&after, 1).unwrap();
        whole
            .param_constrain(&with_y, true, true, &mut outputs, Some(&mut rng))
            .unwrap();
        let log_lik: f64 = outputs[first..first + N].iter().sum();
        let taken = found - half.log_density(&with_y, false, true).unwrap();
        assert!(
            (taken - 0.5 * log_lik).abs() < 1e-8 * expected.abs().max(1.0),
            "{name}: {taken} {log_lik}"
        );
    }
}
