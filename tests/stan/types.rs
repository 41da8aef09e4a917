//! The bridge to Stan on a program with every constrained type: transforms, names, derivatives, threads and print.

use std::ffi::{CString, c_char};
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock};

use bridgestan::{Model, StanLibrary, open_library};
use serde_json::{Value, json};

use crate::common::{compiler, program};

const N: usize = 4;

/// Compiled once for all tests of this file.
fn library() -> PathBuf {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    let compile = || compiler().compile(&program("types.stan")).unwrap().library;
    LIBRARY.get_or_init(compile).clone()
}

fn c_string(value: Value) -> CString {
    CString::new(value.to_string()).unwrap()
}

fn model(library: &StanLibrary, talk: u8) -> Model<&StanLibrary> {
    let data = json!({"N": N, "centre": [0.1, 0.2, 0.3, 0.4], "talk": talk});
    Model::new(library, Some(c_string(data)), 1).unwrap()
}

/// Points spread over the unit scale of every transform.
fn point(model: &Model<&StanLibrary>, shift: f64) -> Vec<f64> {
    let place = |k: usize| ((k as f64 + shift) * 0.618_033_988_749_895).fract() * 2.0 - 1.0;
    (1..=model.param_unc_num()).map(place).collect()
}

fn constrain(model: &Model<&StanLibrary>, point: &[f64], with_all: bool) -> Vec<f64> {
    let mut out = vec![0.0; model.param_num(with_all, with_all)];
    let mut rng = model.new_rng(5).unwrap();
    model
        .param_constrain(point, with_all, with_all, &mut out, Some(&mut rng))
        .unwrap();
    out
}

fn gradient(model: &Model<&StanLibrary>, point: &[f64]) -> Vec<f64> {
    let mut gradient = vec![0.0; point.len()];
    model
        .log_density_gradient(point, false, true, &mut gradient)
        .unwrap();
    gradient
}

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (k, (f, e)) in found.iter().zip(expected).enumerate() {
        let error = (f - e).abs() / e.abs().max(1.0);
        assert!(error < tolerance, "element {k}: {f} is not {e}");
    }
}

#[test]
fn constraining_and_back_arrives_where_it_started() {
    let library = open_library(library()).unwrap();
    let model = model(&library, 0);
    let names: Vec<&str> = model.param_unc_names().split(',').collect();
    for shift in [0.0, 0.3, 0.7] {
        let mut start = point(&model, shift);
        // A unit vector has one unconstrained point for every length: only length 1 comes back.
        let direction: Vec<usize> = (0..names.len())
            .filter(|k| names[*k].starts_with("direction."))
            .collect();
        assert_eq!(direction.len(), 3);
        let length = direction.iter().map(|k| start[*k].powi(2)).sum::<f64>();
        direction.iter().for_each(|k| start[*k] /= length.sqrt());
        let constrained = constrain(&model, &start, false);
        let mut back = vec![0.0; start.len()];
        model.param_unconstrain(&constrained, &mut back).unwrap();
        assert_close(&back, &start, 1e-8);
    }
}

#[test]
fn constrained_values_obey_their_constraints() {
    let library = open_library(library()).unwrap();
    let model = model(&library, 0);
    let values = constrain(&model, &point(&model, 0.2), true);
    let names: Vec<&str> = model.param_names(true, true).split(',').collect();
    let block = |name: &str| -> Vec<f64> {
        let inside = |full: &&str| full.split('.').next() == Some(name);
        let chosen = names.iter().zip(&values).filter(|(full, _)| inside(full));
        chosen.map(|(_, value)| *value).collect()
    };
    assert!(block("low")[0] > -1.0 && block("high")[0] < 2.0);
    assert!(block("positive").iter().all(|x| *x > 0.0));
    assert!(block("between").iter().all(|x| (-1.0..3.0).contains(x)));
    assert!((block("shares").iter().sum::<f64>() - 1.0).abs() < 1e-12);
    assert!(block("steps").is_sorted() && block("rising").is_sorted());
    assert!(block("rising")[0] > 0.0);
    let length = block("direction").iter().map(|x| x * x).sum::<f64>();
    assert!((length - 1.0).abs() < 1e-12);
    // Column-major: elements 0, 4 and 8 are the diagonal, 1 and 3 the same pair.
    let omega = block("Omega");
    assert_close(&[omega[0], omega[4], omega[8]], &[1.0; 3], 1e-12);
    assert_close(
        &[omega[1], omega[2], omega[5]],
        &[omega[3], omega[6], omega[7]],
        1e-12,
    );
    let l_corr = block("L_corr");
    assert_eq!([l_corr[3], l_corr[6], l_corr[7]], [0.0; 3]);
    let sigma = block("Sigma");
    assert!(sigma[0] * sigma[3] > sigma[1] * sigma[2]);
    let l_cov = block("L_cov");
    assert!(l_cov[0] > 0.0 && l_cov[4] > 0.0);
    assert_eq!(l_cov[3], 0.0);
    let twice: Vec<f64> = block("M").iter().map(|m| 2.0 * m).collect();
    assert_eq!(block("doubled"), twice);
    assert_eq!(block("counted"), [11.0, 21.0, 12.0, 22.0, 13.0, 23.0]);
    assert!((block("drawn")[0] - block("low")[0]).abs() < 6.0);
}

#[test]
fn names_are_column_major_and_so_are_the_values() {
    let library = open_library(library()).unwrap();
    let model = model(&library, 0);
    let all = model.param_names(true, true);
    for block in ["M", "doubled", "counted", "stacked"] {
        let order = [(1, 1), (2, 1), (1, 2), (2, 2), (1, 3), (2, 3)];
        let names = order.map(|(i, j)| format!("{block}.{i}.{j}")).join(",");
        assert!(all.contains(&names), "{names} is not in {all}");
    }
    assert!(all.starts_with("low,high,positive.1,"), "{all}");
    assert!(all.ends_with(
        ",doubled.2.3,drawn,counted.1.1,counted.2.1,counted.1.2,counted.2.2,counted.1.3,counted.2.3"
    ));
    let third = (1.0f64 / 3.0).sqrt();
    let values = json!({
        "low": 0.5, "high": 1.0, "positive": [1, 2, 3, 4], "between": [0, 1, 2, 0.5],
        "shifted": [1, 2, 3, 4], "shares": [0.2, 0.3, 0.5], "steps": [-1, 0, 1], "rising": [1, 2, 3],
        "direction": [third, third, third],
        "L_corr": [[1, 0, 0], [0.6, 0.8, 0], [0, 0, 1]],
        "L_cov": [[1, 0], [0.1, 2], [0.2, 0.3]],
        "Omega": [[1, 0.1, 0.2], [0.1, 1, 0.3], [0.2, 0.3, 1]],
        "Sigma": [[2, 0.5], [0.5, 1]],
        "stacked": [[11, 12, 13], [21, 22, 23]],
        "M": [[11, 12, 13], [21, 22, 23]],
    });
    let mut start = vec![0.0; model.param_unc_num()];
    model
        .param_unconstrain_json(c_string(values.clone()), &mut start)
        .unwrap();
    let found = constrain(&model, &start, false);
    for (name, value) in model.param_names(false, false).split(',').zip(found) {
        let mut parts = name.split('.');
        let mut expected = &values[parts.next().unwrap()];
        for index in parts {
            expected = &expected[index.parse::<usize>().unwrap() - 1];
        }
        assert_close(&[value], &[expected.as_f64().unwrap()], 1e-8);
    }
}

#[test]
fn derivatives_agree_with_finite_differences_and_each_other() {
    let library = open_library(library()).unwrap();
    let model = model(&library, 0);
    let start = point(&model, 0.4);
    let n = start.len();
    let shifted = |k: usize, by: f64| {
        let mut moved = start.clone();
        moved[k] += by;
        moved
    };
    let h = 1e-5;
    let density = |q: &[f64]| model.log_density(q, false, true).unwrap();
    let slopes: Vec<f64> = (0..n)
        .map(|k| (density(&shifted(k, h)) - density(&shifted(k, -h))) / (2.0 * h))
        .collect();
    let exact = gradient(&model, &start);
    assert_close(&exact, &slopes, 1e-7);

    let (mut same_gradient, mut hessian) = (vec![0.0; n], vec![0.0; n * n]);
    let value = model
        .log_density_hessian(&start, false, true, &mut same_gradient, &mut hessian)
        .unwrap();
    assert_eq!(value, density(&start));
    assert_close(&same_gradient, &exact, 1e-12);
    for k in 0..n {
        let (up, down) = (
            gradient(&model, &shifted(k, h)),
            gradient(&model, &shifted(k, -h)),
        );
        let column: Vec<f64> = up
            .iter()
            .zip(&down)
            .map(|(u, d)| (u - d) / (2.0 * h))
            .collect();
        assert_close(&hessian[k * n..(k + 1) * n], &column, 1e-6);
    }
    let vector = point(&model, 0.9);
    let mut product = vec![0.0; n];
    model
        .log_density_hessian_vector_product(&start, &vector, false, true, &mut product)
        .unwrap();
    let by_rows: Vec<f64> = (0..n)
        .map(|i| (0..n).map(|j| hessian[i * n + j] * vector[j]).sum())
        .collect();
    assert_close(&product, &by_rows, 1e-6);
}

#[test]
fn four_threads_get_what_one_gets() {
    let library = open_library(library()).unwrap();
    let model = model(&library, 0);
    let answer = |k: usize| {
        let q = point(&model, k as f64 / 50.0);
        (constrain(&model, &q, true), gradient(&model, &q))
    };
    let alone: Vec<_> = (0..50).map(answer).collect();
    assert_ne!(alone[0], alone[1]);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for (k, expected) in alone.iter().enumerate() {
                    assert_eq!(&answer(k), expected, "point {k}");
                }
            });
        }
    });
}

#[test]
fn print_reaches_the_callback() {
    static HEARD: Mutex<String> = Mutex::new(String::new());
    extern "C" fn hear(text: *const c_char, length: usize) {
        // SAFETY: the bridge passes a pointer to `length` bytes that live during the call.
        let bytes = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), length) };
        HEARD
            .lock()
            .unwrap()
            .push_str(&String::from_utf8_lossy(bytes));
    }
    // A copy, since the callback belongs to the library and other tests use theirs.
    let dir = tempfile::tempdir().unwrap();
    let copy = dir.path().join("types.so");
    std::fs::copy(library(), &copy).unwrap();
    let mut library = open_library(&copy).unwrap();
    // SAFETY: the callback does not panic unless another thread did.
    unsafe { library.set_print_callback(hear) }.unwrap();
    let (quiet, talkative) = (model(&library, 0), model(&library, 1));
    let q = point(&quiet, 0.0);
    let low = constrain(&quiet, &q, false)[0];
    quiet.log_density(&q, false, true).unwrap();
    assert_eq!(HEARD.lock().unwrap().as_str(), "");
    talkative.log_density(&q, false, true).unwrap();
    let heard = HEARD.lock().unwrap().clone();
    let number = heard.strip_prefix("low is ").expect(&heard).trim();
    assert!(
        (number.parse::<f64>().unwrap() - low).abs() < 1e-4,
        "{heard}"
    );
}
