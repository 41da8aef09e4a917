//! The config of a study: a design with lists for axes, methods by name, repeats; resolved into cells.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::StudyError;
use super::axes::{Point, expand, label};
use crate::baseline::Baseline;
use crate::config::{self, Check, Config, ConfigError, Priors, load_value, typed};
use crate::simulate::{Design, Settings, SimulateError, simulate};
use crate::stan::shipped_names;

/// Everything that a study's config asks for.
#[derive(Debug, Clone)]
pub struct Study {
    pub name: String,
    /// The config's file, as typed.
    pub file: PathBuf,
    pub seed: u64,
    pub repeats: usize,
    /// Of so many repeats the coefficients' intervals and a corner of the mean permutation matrix are kept.
    pub detail: usize,
    /// At most so many tasks at once, as a study of times needs.
    pub max_jobs: Option<usize>,
    pub output: PathBuf,
    /// Names of the axes, which are columns of the results.
    pub axes: Vec<String>,
    pub cells: Vec<Cell>,
}

/// One method with one setting of every axis.
#[derive(Debug, Clone)]
pub struct Cell {
    /// From 1, as text.
    pub number: String,
    pub method: String,
    /// What stands in the columns of the axes, in the order of `Study::axes`.
    pub labels: Vec<String>,
    pub settings: Settings,
    pub design: Design,
    pub links: LinksUsed,
    pub estimator: Estimator,
    /// All that the results depend on, except the Stan program's text: seeds are hashed from it.
    pub identity: String,
}

#[derive(Debug, Clone)]
pub enum Estimator {
    Baseline(Baseline),
    /// Its data and output are set for each fit.
    Fit(Box<Config>),
}

/// Which links a method is given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinksUsed {
    #[default]
    AsLinked,
    /// The oracle's.
    True,
}

#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "an object such as {\"data\": {...}, \"methods\": {...}}"
)]
struct RawStudy {
    #[serde(rename = "$schema")]
    _schema: Option<String>,
    name: Option<String>,
    #[serde(default = "one")]
    seed: u64,
    #[serde(default = "twenty")]
    repeats: usize,
    data: Map<String, Value>,
    /// Under the model of each method.
    #[serde(default)]
    model: Map<String, Value>,
    #[serde(default)]
    sampler: Map<String, Value>,
    methods: Map<String, Value>,
    #[serde(default = "one_repeat")]
    detail: usize,
    jobs: Option<usize>,
    output: Option<PathBuf>,
}

fn one() -> u64 {
    1
}

fn one_repeat() -> usize {
    1
}

fn twenty() -> usize {
    20
}

#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "an object such as {\"baseline\": \"huber\"} or {\"temperature\": 0.5}"
)]
struct RawMethod {
    baseline: Option<BaselineName>,
    tau: Option<f64>,
    #[serde(default)]
    links: LinksUsed,
    model: Option<Map<String, Value>>,
    temperature: Option<Value>,
    permutation: Option<Value>,
    sampler: Option<Map<String, Value>>,
}

#[derive(Deserialize, Clone, Copy, PartialEq)]
#[serde(rename_all = "snake_case")]
enum BaselineName {
    LeastSquares,
    Huber,
    Mixture,
    Quantile,
}

/// Places in a method where a list is a value of its own.
const LISTS_THAT_ARE_VALUES: [&str; 2] = ["model.data", "sampler.init"];

impl Study {
    /// `settings` are the values of `--set`.
    pub fn load(file: &Path, settings: &[String]) -> Result<Study, StudyError> {
        let value = load_value(file, settings)?;
        let raw: RawStudy = typed(&value, file)?;
        let check = Check { file };
        let reader = Reader {
            file,
            check,
            model: &raw.model,
        };
        reader.check.that(
            raw.repeats >= 1,
            "repeats",
            raw.repeats,
            "it must be 1 or more",
        )?;
        reader.check.that(
            raw.jobs != Some(0),
            "jobs",
            0,
            "it must be 1 or more, or left out",
        )?;
        reader.check.that(
            !raw.methods.is_empty(),
            "methods",
            "{}",
            "name at least one",
        )?;
        let no_seed = raw.sampler.get("seed").is_none();
        reader.check.that(
            no_seed,
            "sampler.seed",
            "given",
            "every fit has a seed of its own, hashed from `seed`; remove it",
        )?;
        reader.config(&raw.sampler, json!({"model": {"stan": "linear"}}))?;
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        let name = raw.name.unwrap_or_else(|| stem.into_owned());
        let folder = file.parent().unwrap_or(Path::new("."));
        let output = raw
            .output
            .unwrap_or_else(|| Path::new("out").join(format!("study_{name}")));

        let data = reader.points(&Value::Object(raw.data), "data", &[])?;
        let mut cells = Vec::new();
        for point in &data {
            let wrapped = json!({"data": point.value});
            let settings = typed::<Wrapped>(&wrapped, file)?.data;
            let design = settings.design().map_err(|error| reader.design(error))?;
            // What cannot be simulated is said before anything runs.
            simulate(&design, raw.seed).map_err(|error| reader.design(error))?;
            for (method, value) in &raw.methods {
                let place = format!("methods.{method}");
                for choice in reader.points(value, &place, &LISTS_THAT_ARE_VALUES)? {
                    let cell = reader.cell(method, point, &settings, &design, choice, &raw.sampler);
                    cells.push(cell?);
                }
            }
        }
        let axes = label_axes(&mut cells);
        Ok(Study {
            name,
            file: file.to_path_buf(),
            seed: raw.seed,
            repeats: raw.repeats,
            detail: raw.detail,
            max_jobs: raw.jobs,
            output: folder.join(output),
            axes,
            cells: cells.into_iter().map(|(cell, _)| cell).collect(),
        })
    }
}

/// A cell whose labels are not known yet, and the axes it has.
type Unlabelled = (Cell, Axes);

struct Axes {
    /// Varied by the study, with their values here.
    varied: Vec<(String, Value)>,
    /// What the method and its defaults say of every other key.
    all: Value,
}

/// Gives every cell a label for every axis that any cell has; returns the axes, those of the data first.
fn label_axes(cells: &mut [Unlabelled]) -> Vec<String> {
    let mut axes: Vec<String> = Vec::new();
    for (name, _) in cells.iter().flat_map(|(_, axes)| &axes.varied) {
        if !axes.contains(name) {
            axes.push(name.clone());
        }
    }
    for (index, (cell, own)) in cells.iter_mut().enumerate() {
        cell.number = (index + 1).to_string();
        cell.labels = axes
            .iter()
            .map(|axis| {
                let varied = own.varied.iter().find(|(name, _)| name == axis);
                let value = varied.map(|(_, value)| value).or_else(|| {
                    let pointer = format!("/{}", axis.replace('.', "/"));
                    own.all.pointer(&pointer)
                });
                value.map_or("NA".to_string(), label)
            })
            .collect();
    }
    axes
}

#[derive(Deserialize)]
struct Wrapped {
    data: Settings,
}

/// Reads parts of the config, and names the file in every mistake.
struct Reader<'a> {
    file: &'a Path,
    check: Check<'a>,
    /// What the study says of every method's model.
    model: &'a Map<String, Value>,
}

impl Reader<'_> {
    fn points(&self, value: &Value, place: &str, kept: &[&str]) -> Result<Vec<Point>, ConfigError> {
        let points = expand(value, kept);
        let rule = "an empty list leaves nothing to run; list at least one value";
        self.check.that(!points.is_empty(), place, value, rule)?;
        Ok(points)
    }

    /// The words of `simulate` are options; here they are keys.
    fn design(&self, error: SimulateError) -> StudyError {
        let words = error.to_string().replace("--x-scale", "--x_scale");
        StudyError::Design {
            file: self.file.display().to_string(),
            problem: words.replace("--", "data."),
        }
    }

    /// A fit's config, with `sampler` under the method's own.
    fn config(&self, sampler: &Map<String, Value>, mut fit: Value) -> Result<Config, ConfigError> {
        let mut merged = sampler.clone();
        if let Some(own) = fit["sampler"].as_object() {
            merged.extend(own.clone());
        }
        fit["sampler"] = Value::Object(merged);
        // Only their presence is asked for; the data are simulated.
        fit["data"] = json!({"file": "simulated.csv", "response": "y", "predictors": ["x1"]});
        config::parse(&fit.to_string(), self.file, &[], &shipped_names())
    }

    fn cell(
        &self,
        method: &str,
        data: &Point,
        settings: &Settings,
        design: &Design,
        choice: Point,
        sampler: &Map<String, Value>,
    ) -> Result<Unlabelled, StudyError> {
        let place = format!("methods.{method}");
        let raw: RawMethod =
            typed(&choice.value, self.file).map_err(|error| error.inside(&place))?;
        let links = raw.links;
        let (estimator, all) = match raw.baseline {
            Some(name) => (
                Estimator::Baseline(self.baseline(name, &raw, &place)?),
                choice.value.clone(),
            ),
            None => {
                let fit = self.fit(raw, design, sampler, &place)?;
                let all = serde_json::to_value(&fit).expect("a config is plain JSON");
                (Estimator::Fit(Box::new(fit)), all)
            }
        };
        let identity = json!({
            "data": settings,
            "links": links,
            "estimator": self.identity_of(&estimator, &choice.value, &all),
        });
        let varied = data.axes.iter().chain(&choice.axes).cloned().collect();
        let cell = Cell {
            number: String::new(),
            method: method.to_string(),
            labels: Vec::new(),
            settings: settings.clone(),
            design: design.clone(),
            links,
            estimator,
            identity: identity.to_string(),
        };
        Ok((cell, Axes { varied, all }))
    }

    fn baseline(
        &self,
        name: BaselineName,
        raw: &RawMethod,
        place: &str,
    ) -> Result<Baseline, ConfigError> {
        let of_fits = [
            ("model", raw.model.is_some()),
            ("temperature", raw.temperature.is_some()),
            ("permutation", raw.permutation.is_some()),
            ("sampler", raw.sampler.is_some()),
            ("tau", raw.tau.is_some() && name != BaselineName::Quantile),
        ];
        for (key, given) in of_fits {
            let path = format!("{place}.{key}");
            self.check
                .that(!given, &path, "given", "this baseline has none; remove it")?;
        }
        Ok(match name {
            BaselineName::LeastSquares => Baseline::LeastSquares,
            BaselineName::Huber => Baseline::Huber,
            BaselineName::Mixture => Baseline::Mixture,
            BaselineName::Quantile => {
                let tau = raw.tau.unwrap_or(0.5);
                let path = format!("{place}.tau");
                let rule = "it must be between 0 and 1, both excluded";
                self.check.that(tau > 0.0 && tau < 1.0, &path, tau, rule)?;
                Baseline::Quantile { tau }
            }
        })
    }

    fn fit(
        &self,
        raw: RawMethod,
        design: &Design,
        sampler: &Map<String, Value>,
        place: &str,
    ) -> Result<Config, ConfigError> {
        let path = format!("{place}.tau");
        let rule = "a fit has it in model.family; remove it";
        self.check.that(raw.tau.is_none(), &path, "given", rule)?;
        let mut model = self.model.clone();
        model.extend(raw.model.unwrap_or_default());
        if !model.contains_key("stan") {
            let (stan, family) = design.model();
            model.insert("stan".into(), json!(stan));
            model.entry("family").or_insert(json!(family));
        }
        let mut fit = json!({"model": model});
        let given = [
            ("temperature", raw.temperature),
            ("permutation", raw.permutation),
            ("sampler", raw.sampler.map(Value::Object)),
        ];
        for (key, value) in given {
            if let Some(value) = value {
                fit[key] = value;
            }
        }
        self.config(sampler, fit)
            .map_err(|error| error.inside(place))
    }

    /// A path of a program stays as typed, so that a study can move; seeds and places are not the cell's.
    fn identity_of(&self, estimator: &Estimator, typed: &Value, resolved: &Value) -> Value {
        let Estimator::Fit(config) = estimator else {
            return typed.clone();
        };
        let mut sampler = resolved["sampler"].clone();
        if let Some(sampler) = sampler.as_object_mut() {
            sampler.shift_remove("seed");
        }
        let mut model = self.model.clone();
        model.extend(typed["model"].as_object().cloned().unwrap_or_default());
        let model = match model.contains_key("stan") {
            true => Value::Object(model),
            false => resolved["model"].clone(),
        };
        json!({
            "model": model_identity(model, config.model.priors),
            "family": config.model.family(),
            "temperature": resolved["temperature"],
            "permutation": resolved["permutation"],
            "sampler": sampler,
        })
    }
}

/// The paper's priors go without saying, as they did when there were no others: seeds of studies with them stay the same.
fn model_identity(mut model: Value, priors: Priors) -> Value {
    if let Some(entries) = model.as_object_mut() {
        entries.shift_remove("priors");
        if priors != Priors::Paper {
            entries.insert("priors".into(), json!(priors));
        }
    }
    model
}
