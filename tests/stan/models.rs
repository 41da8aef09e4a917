//! Programs through the real compiler: shipped models against closed forms, and a clear message for each wrong one.

use std::f64::consts::PI;
use std::ffi::CString;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

use bridgestan::{Model, open_library};
use ndarray::Array2;
use serde_json::json;
use unshuffle::FitError;
use unshuffle::hmc::{AdaptationSettings, EvalError, LogDensity, MetricKind, Trajectory};
use unshuffle::internals::fit::prepare;
use unshuffle::internals::model::stan::{
    BuildObserver, Compiler, StanError, StanSource, Toolchain, shipped_model, shipped_names,
};
use unshuffle::internals::model::{Family, ModelError, Outputs, Pairs, StanModel, ThetaGivenPi};
use unshuffle::internals::numerics::rng::{DrawSeeds, stream};
use unshuffle::internals::sampler::chain::{
    Chain, ChainParts, ChainSettings, DrawsInMemory, LINK_COLUMNS, LinkedDensity, SAMPLER_COLUMNS,
    Silent, StepTwo,
};
use unshuffle::internals::sampler::links::LinkKernel;
use unshuffle::links::{ActiveSet, Permutation, Prior};

use crate::common::{Project, compiler, program, rows};

const ALPHA: f64 = 0.7;

fn linear_data() -> String {
    let x: Vec<[f64; 2]> = rows().iter().map(|(x, _)| [1.0, *x]).collect();
    let sd = 1000f64.sqrt();
    json!({
        "N": x.len(), "D": 2, "X": x, "alpha": ALPHA, "weighted": 0, "has_offset": 0, "offsets": [],
        "X_centre": [0, 0], "beta_location": [0, 0], "beta_scale": [sd, sd], "sigma2_scale": sd
    })
    .to_string()
}

fn response() -> Vec<f64> {
    rows().iter().map(|(_, y)| *y).collect()
}

fn linear_model() -> StanModel {
    let source = shipped_model("linear").unwrap().source();
    let library = compiler().compile(&source).unwrap().library;
    let library = StanModel::open_library(&library).unwrap();
    StanModel::new(library, "linear.stan", &linear_data(), "y", 20, 1).unwrap()
}

#[test]
fn every_shipped_model_compiles_and_loads() {
    let compiler = compiler();
    assert!(!shipped_names().is_empty());
    for name in shipped_names() {
        let source = shipped_model(name).unwrap().source();
        let info = compiler.info(&source).unwrap().unwrap();
        StanModel::check_declaration(&info, &source.label, "y").unwrap();
        let compiled = compiler.compile(&source).unwrap();
        StanModel::open_library(&compiled.library).unwrap();
    }
}

/// log normal(x | mean, sd), constants included.
fn log_normal(x: f64, mean: f64, sd: f64) -> f64 {
    -0.5 * (2.0 * PI).ln() - sd.ln() - 0.5 * ((x - mean) / sd).powi(2)
}

#[test]
fn the_linear_model_is_its_closed_form() {
    let source = shipped_model("linear").unwrap().source();
    let library = open_library(compiler().compile(&source).unwrap().library).unwrap();
    let data = CString::new(linear_data()).unwrap();
    let model = Model::new(&library, Some(data), 1).unwrap();
    assert!(
        model
            .param_unc_names()
            .starts_with("beta.1,beta.2,sigma2,y.1,")
    );
    let prior_sd = 1000f64.sqrt();
    for theta in [[0.3, 1.5, -0.4], [-20.0, 4.0, 3.0], [1.0, 2.0, -2.5]] {
        let [b1, b2, log_sigma2] = theta;
        let sigma2 = f64::exp(log_sigma2);
        let likelihood: f64 = rows()
            .iter()
            .map(|(x, y)| log_normal(*y, b1 + b2 * x, sigma2.sqrt()))
            .sum();
        let priors: f64 = [b1, b2, sigma2]
            .map(|v| log_normal(v, 0.0, prior_sd))
            .iter()
            .sum();
        let point = [theta.as_slice(), &response()].concat();
        for (jacobian, log_jacobian) in [(true, log_sigma2), (false, 0.0)] {
            let expected = ALPHA * likelihood + priors + log_jacobian;
            let found = model.log_density(&point, false, jacobian).unwrap();
            let error = ((found - expected) / expected).abs();
            assert!(error < 1e-10, "at {theta:?}: {found} is not {expected}");
        }
    }
}

#[test]
fn the_gradient_of_the_linear_model_agrees_with_finite_differences() {
    let model = linear_model();
    let mut density = ThetaGivenPi::new(&model, &response());
    let mut at = |theta: &[f64]| {
        let mut gradient = vec![0.0; 3];
        let value = density.log_density_gradient(theta, &mut gradient).unwrap();
        (value, gradient)
    };
    for theta in [[0.3, 1.5, -0.4], [-2.0, 4.0, 1.0]] {
        let (_, gradient) = at(&theta);
        for k in 0..3 {
            let h = 1e-5;
            let (mut up, mut down) = (theta, theta);
            up[k] += h;
            down[k] -= h;
            let slope = (at(&up).0 - at(&down).0) / (2.0 * h);
            let error = (gradient[k] - slope).abs() / slope.abs().max(1.0);
            assert!(error < 1e-7, "element {k}: {} is not {slope}", gradient[k]);
        }
    }
}

#[test]
fn the_aligned_response_decides_the_density_and_is_not_saved() {
    let model = linear_model();
    assert_eq!(model.dim(), 3);
    assert_eq!(model.output_names(), ["beta.1", "beta.2", "sigma2"]);
    let mut density = ThetaGivenPi::new(&model, &response());
    let mut gradient = vec![0.0; 3];
    let theta = [0.3, 1.5, -0.4];
    let before = density.log_density_gradient(&theta, &mut gradient).unwrap();
    let mut swapped = Permutation::identity(20);
    swapped.exchange(0, 19);
    density.align(&swapped, &response());
    let after = density.log_density_gradient(&theta, &mut gradient).unwrap();
    // Swapping y_i and y_j changes the sum of squares by 2 (m_i - m_j)(y_i - y_j).
    let (rows, sigma2) = (rows(), (-0.4f64).exp());
    let (mean_difference, response_difference) =
        (1.5 * (rows[0].0 - rows[19].0), rows[0].1 - rows[19].1);
    let expected = -ALPHA * mean_difference * response_difference / sigma2;
    assert!((after - before - expected).abs() < 1e-9 * expected.abs());
}

/// Fails the test when anything is compiled.
struct NoBuild;

impl BuildObserver for NoBuild {
    fn task(
        &self,
        what: &str,
        _about_seconds: u64,
        _work: &mut dyn FnMut() -> Result<(), StanError>,
    ) -> Result<(), StanError> {
        panic!("{what}: nothing had to be compiled to see this mistake")
    }
}

/// What `prepare` says of this program, which it must see without compiling.
fn mistake(stan: &str) -> FitError {
    let project = Project::new(&[("model.stan", json!("wrong.stan"))]);
    project.write("wrong.stan", stan);
    let known = compiler();
    let Toolchain::Wheel(_) = known.toolchain else {
        panic!("the tests compile with the wheel");
    };
    let compiler = Compiler::new(known.toolchain, known.cache, &NoBuild, 1);
    prepare(project.config(), &compiler)
        .err()
        .expect("a mistake")
}

const LINEAR: &str = include_str!("../../stan/linear.stan");

/// How stanc names the line of `part` in the program.
fn line_of(part: &str) -> String {
    let before = &LINEAR[..LINEAR.find(part).unwrap()];
    format!("wrong.stan', line {}", before.matches('\n').count() + 1)
}

#[test]
fn a_syntax_error_is_told_by_stanc_with_file_and_line() {
    let error = mistake(&LINEAR.replace("real<lower=0> sigma2;", "real<lower=0> sigma2"));
    let message = error.to_string();
    assert!(
        matches!(error, FitError::Stan(StanError::Program { .. })),
        "{message}"
    );
    assert!(message.contains("Syntax error in"), "{message}");
    // What is missing is told where the next declaration begins.
    assert!(message.contains(&line_of("vector[N] y;")), "{message}");
}

#[test]
fn a_type_error_is_told_by_stanc_with_file_and_line() {
    let message = mistake(&LINEAR.replace("sqrt(sigma2))", "sqrt(sigma3))")).to_string();
    assert!(message.contains("Semantic error in"), "{message}");
    assert!(message.contains(&line_of("sqrt(sigma2))")), "{message}");
    assert!(message.contains("sigma3"), "{message}");
}

#[test]
fn a_response_in_data_is_told_without_compiling() {
    let text = LINEAR.replace("  vector[N] y;\n", "");
    let message = mistake(&text.replace("data {", "data {\n  int M;\n  vector[M] y;")).to_string();
    assert!(
        message.contains("wrong.stan declares `y` in `data`"),
        "{message}"
    );
    assert!(
        message.contains("move `vector[N] y;` to `parameters`"),
        "{message}"
    );
    assert_eq!(message.lines().count(), 1);
}

#[test]
fn a_missing_response_is_told_without_compiling() {
    let text = LINEAR
        .replace("vector[N] y;", "vector[N] y1;")
        .replace("(y |", "(y1 |")
        .replace("square(y ", "square(y1 ");
    let message = mistake(&text).to_string();
    assert!(
        message.contains("wrong.stan has no parameter `y`"),
        "{message}"
    );
    assert!(message.contains("did you mean `y1`?"), "{message}");
    assert_eq!(message.lines().count(), 1);
}

#[test]
fn a_constrained_response_is_told_in_one_sentence() {
    let library = compiler().compile(&program("types.stan")).unwrap().library;
    let library = StanModel::open_library(&library).unwrap();
    let data = json!({"N": 4, "centre": [1, 2, 3, 4], "talk": 0}).to_string();
    for block in ["positive", "between", "shifted"] {
        let error = StanModel::new(library.clone(), "types.stan", &data, block, 4, 1).err();
        let error = error.expect("the block is constrained");
        assert!(matches!(error, ModelError::Constrained { .. }), "{error}");
        let message = error.to_string();
        assert!(
            message.contains(&format!("`{block}` with a constraint")),
            "{message}"
        );
        assert_eq!(message.lines().count(), 1);
    }
    let error = StanModel::new(library, "types.stan", &data, "stacked", 4, 1).err();
    let message = error.unwrap().to_string();
    assert!(
        message.contains("6 values, but the data have 4 rows"),
        "{message}"
    );
}

fn reject_library() -> std::sync::Arc<bridgestan::StanLibrary> {
    static LIBRARY: OnceLock<std::path::PathBuf> = OnceLock::new();
    let path = LIBRARY.get_or_init(|| compiler().compile(&program("reject.stan")).unwrap().library);
    StanModel::open_library(path).unwrap()
}

fn reject_data(limit: f64) -> serde_json::Value {
    let mut data: serde_json::Value = serde_json::from_str(&linear_data()).unwrap();
    data["limit"] = json!(limit);
    data
}

#[test]
fn wrong_data_are_told_in_stans_words() {
    let complete = reject_data(1.0);
    let message = |data: &serde_json::Value| {
        let built = StanModel::new(reject_library(), "m.stan", &data.to_string(), "y", 20, 1);
        built.err().expect("wrong data").to_string()
    };
    let mut missing = complete.clone();
    missing.as_object_mut().unwrap().remove("limit");
    let told = message(&missing);
    assert!(
        told.starts_with("m.stan cannot be built with these data: "),
        "{told}"
    );
    assert!(
        told.contains("variable does not exist") && told.contains("limit"),
        "{told}"
    );
    let mut wrong_size = complete.clone();
    wrong_size["N"] = json!(19);
    let told = message(&wrong_size);
    assert!(
        told.contains("mismatch in dimension") && told.contains("variable name=X"),
        "{told}"
    );
    let mut out_of_range = complete;
    out_of_range["alpha"] = json!(1.5);
    let told = message(&out_of_range);
    assert!(
        told.contains("alpha is 1.5") && told.contains("less than or equal to 1"),
        "{told}"
    );
    assert_eq!(told.lines().count(), 1);
}

#[test]
fn a_rejected_point_carries_the_programs_message() {
    let data = reject_data(1.0).to_string();
    let model = StanModel::new(reject_library(), "reject.stan", &data, "y", 20, 1).unwrap();
    let mut density = ThetaGivenPi::new(&model, &response());
    let mut gradient = vec![0.0; 3];
    density
        .log_density_gradient(&[0.5, 1.0, 0.0], &mut gradient)
        .unwrap();
    match density.log_density_gradient(&[1.5, 1.0, 0.0], &mut gradient) {
        Err(EvalError::Rejected(message)) => {
            assert!(
                message.contains("slopes[1] must stay below 1 and is 1.5"),
                "{message}"
            );
        }
        other => panic!("{other:?}"),
    }
    // One rejected point must not spoil the next.
    density
        .log_density_gradient(&[0.5, 1.0, 0.0], &mut gradient)
        .unwrap();
}

#[test]
fn a_fit_with_rejections_counts_divergences_and_stays_inside() {
    let project = Project::new(&[
        ("model.stan", json!("reject.stan")),
        ("model.data", json!({"limit": 1.0})),
    ]);
    project.write("reject.stan", &program("reject.stan").text);
    let prepared = prepare(project.config(), &compiler()).unwrap();
    let fitted = prepared
        .sample(2, &AtomicBool::new(false), &Silent)
        .unwrap();
    let num_divergences: usize = fitted
        .outcomes()
        .iter()
        .map(|chain| chain.num_divergences)
        .sum();
    assert!(num_divergences > 0);
    for draws in project.draws("out") {
        let first = crate::common::column(&draws, "slopes.1");
        assert_eq!(first.len(), 200);
        assert!(first.iter().all(|b| *b <= 1.0));
        assert!(
            first.iter().any(|b| *b > 0.9),
            "the limit cuts the posterior"
        );
    }
    assert!(
        fitted
            .findings()
            .iter()
            .any(|f| f.to_string().contains("diverge"))
    );
}

#[test]
fn a_program_that_rejects_everything_has_no_starting_point() {
    let project = Project::new(&[
        ("model.stan", json!("reject.stan")),
        ("model.data", json!({"limit": -1e300})),
    ]);
    project.write("reject.stan", &program("reject.stan").text);
    let prepared = prepare(project.config(), &compiler()).unwrap();
    let error = prepared
        .sample(2, &AtomicBool::new(false), &Silent)
        .err()
        .unwrap();
    let message = error.to_string();
    assert!(message.contains("no starting point"), "{message}");
    assert!(message.contains("slopes[1] must stay below"), "{message}");
    assert!(message.contains("sampler.init"), "{message}");
}

#[test]
fn a_program_with_solvers_has_all_headers() {
    let library = compiler().compile(&program("decay.stan")).unwrap().library;
    let library = open_library(library).unwrap();
    let model = Model::new(&library, None::<CString>, 1).unwrap();
    let mut values = [0.0; 3];
    let mut rng = model.new_rng(1).unwrap();
    let constrained = model.param_constrain(&[0.3], true, false, &mut values, Some(&mut rng));
    constrained.unwrap();
    for (value, expected) in values.iter().zip([0.3, (-0.3f64).exp(), 0.6]) {
        assert!((value - expected).abs() < 1e-6, "{value} and {expected}");
    }
}

#[test]
fn a_label_does_not_change_what_is_compiled() {
    let copy = StanSource::from_text("linear.stan", LINEAR);
    let compiler = compiler();
    let shipped = compiler
        .compile(&shipped_model("linear").unwrap().source())
        .unwrap();
    assert_eq!(compiler.compile(&copy).unwrap().library, shipped.library);
}

/// A chain through Stan alone: links by `log_lik`, and a generated quantity from Stan's own generator.
#[test]
fn a_chain_of_a_stan_program_is_resumed_with_the_same_draws() {
    let source = program("linear_log_lik.stan");
    let library = compiler().compile(&source).unwrap().library;
    let library = StanModel::open_library(&library).unwrap();
    let x = Array2::from_shape_fn((20, 2), |(i, k)| [1.0, rows()[i].0][k]);
    let lists: Vec<Vec<f64>> = x.rows().into_iter().map(|row| row.to_vec()).collect();
    let data = json!({"N": 20, "D": 2, "X": lists, "alpha": 1}).to_string();
    let model = StanModel::new(library, &source.label, &data, "y", 20, 1).unwrap();
    let (y, prior) = (response(), Prior::beta_binomial(20, 1.0, 3.0));
    let parts = || {
        let outputs = || Outputs::new(&model, DrawSeeds::new(1, 1)).unwrap();
        let pairs = Pairs::new(Family::Stan, &model, outputs(), x.view(), &y, 1.0).unwrap();
        let update = LinkKernel::ActiveSet(ActiveSet::default());
        ChainParts {
            density: ThetaGivenPi::new(&model, &y),
            step_two: Some(StepTwo::new(&y, &prior, update, pairs)),
            collapsed: None,
            outputs: outputs(),
        }
    };
    let settings = ChainSettings {
        adaptation: AdaptationSettings {
            num_warmup: 40,
            target_accept: 0.8,
            metric: MetricKind::Dense,
            trajectory: Trajectory::Nuts,
        },
        num_draws: 20,
        thin: 1,
        max_depth: 8,
    };
    let start = || Chain::new(1, settings, parts(), vec![0.1, 1.0, 0.2], stream(1, 1)).unwrap();
    let never = AtomicBool::new(false);
    let mut whole = DrawsInMemory::default();
    start().run(&mut whole, &never, &Silent).unwrap();
    let noise = SAMPLER_COLUMNS.len() + LINK_COLUMNS.len() + 3;
    assert_eq!(model.output_names()[3], "noise");
    for draws in whole.values.windows(2) {
        assert_ne!(draws[0][noise], draws[1][noise], "each draw has its own");
    }
    for stop in [25, 48] {
        let mut chain = start();
        let mut first = 0;
        for _ in 0..stop {
            first += usize::from(chain.step().unwrap().is_some());
        }
        let text = serde_json::to_string(&chain.state()).unwrap();
        let state = serde_json::from_str(&text).unwrap();
        let mut rest = DrawsInMemory::default();
        let mut chain = Chain::resume(settings, parts(), state).unwrap();
        chain.run(&mut rest, &never, &Silent).unwrap();
        assert_eq!(rest.values, whole.values[first..]);
        assert_eq!(rest.links, whole.links[first..]);
    }
}
