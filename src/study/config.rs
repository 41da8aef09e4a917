//! The config of a study: a design with lists for axes, methods by name, repeats; resolved into cells.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::StudyError;
use super::answers::Answer;
use super::axes::{Point, expand, label};
use super::file_design::{FileDesign, file_points, is_file_design};
use super::identity::identity_of;
use super::known_rate::{RateKnown, RawAudit};
use crate::baseline::Baseline;
use crate::config::{
    self, Check, Config, ConfigError, Family, Prior, ResponseKind, load_value, typed,
};
use crate::study::simulate::{Design, Settings, SimulateError, model_of, simulate};

/// Everything that a study's config asks for.
#[derive(Debug, Clone)]
pub struct Study {
    pub name: String,
    /// The config's file, as typed.
    pub file: PathBuf,
    /// The values of `--set`, which override the file.
    pub overrides: Vec<String>,
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
    pub data: CellData,
    pub links: LinksUsed,
    pub estimator: Estimator,
    /// Which estimates of a fit are measured, each with a line of its own in the results; a baseline has the one.
    pub answers: Vec<Answer>,
    /// All that the results depend on, except the Stan program's text: seeds are hashed from it.
    pub identity: String,
}

/// Where the data sets of a cell come from.
#[derive(Debug, Clone)]
pub enum CellData {
    Simulated {
        settings: Box<Settings>,
        design: Design,
    },
    File(Arc<FileDesign>),
}

#[derive(Debug, Clone)]
pub enum Estimator {
    Baseline(Baseline),
    /// The baseline that is told the rate of wrong links.
    KnownRate(RateKnown),
    RobustMixture,
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

/// More is a slip of the keyboard: the plan alone would not fit into memory.
const MOST_REPEATS: usize = 1_000_000;

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
    rate: Option<f64>,
    audit: Option<RawAudit>,
    #[serde(default)]
    links: LinksUsed,
    model: Option<Map<String, Value>>,
    temperature: Option<Value>,
    permutation: Option<Value>,
    sampler: Option<Map<String, Value>>,
    answers: Option<Vec<Answer>>,
}

#[derive(Deserialize, Clone, Copy, PartialEq)]
#[serde(rename_all = "snake_case")]
enum BaselineName {
    LeastSquares,
    Huber,
    Mixture,
    Quantile,
    KnownRate,
    RobustMixture,
}

/// Places in a method where a list is a value of its own.
const LISTS_THAT_ARE_VALUES: [&str; 3] = ["model.data", "sampler.init", "answers"];

impl Cell {
    /// What an answer is called in the column `method`.
    pub fn label(&self, answer: Answer) -> String {
        match self.answers[..] {
            [Answer::Joint] => self.method.clone(),
            _ => format!("{}:{answer}", self.method),
        }
    }
}

impl CellData {
    /// What the data depend on, as typed, except the content of a file: seeds are hashed from it.
    pub fn identity(&self) -> Value {
        let value = match self {
            CellData::Simulated { settings, .. } => serde_json::to_value(settings),
            CellData::File(file) => serde_json::to_value(&file.settings),
        };
        value.expect("plain JSON")
    }

    /// The law of a response.
    pub fn errors(&self) -> Family {
        match self {
            CellData::Simulated { design, .. } => design.errors,
            CellData::File(file) => file.errors,
        }
    }

    /// Whether links of the same kind are audited in every repeat.
    fn has_audit(&self) -> bool {
        match self {
            CellData::Simulated { .. } => false,
            CellData::File(file) => file.planting.num_audited.is_some(),
        }
    }

    /// The shipped model that a fit has by default, and its family.
    fn model(&self) -> (&'static str, Family) {
        model_of(self.errors())
    }
}

impl Study {
    /// `settings` are the values of `--set`.
    pub fn load(file: &Path, settings: &[String]) -> Result<Study, StudyError> {
        let value = load_value(file, settings)?;
        let raw: RawStudy = typed(&value, file).map_err(with_example_of_a_study)?;
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
            raw.repeats <= MOST_REPEATS,
            "repeats",
            raw.repeats,
            &format!("it must be at most {MOST_REPEATS}"),
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

        let mut cells = Vec::new();
        for (point, data) in reader.data(raw.data, raw.seed)? {
            for (method, value) in &raw.methods {
                let place = format!("methods.{method}");
                for choice in reader.points(value, &place, &LISTS_THAT_ARE_VALUES)? {
                    let cell = reader.cell(method, &point, &data, choice, &raw.sampler);
                    cells.push(cell?);
                }
            }
        }
        let axes = label_axes(&mut cells);
        Ok(Study {
            name,
            file: file.to_path_buf(),
            overrides: settings.to_vec(),
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

/// The `data` of a study are simulated, those of a fit are a file.
fn with_example_of_a_study(mut error: ConfigError) -> ConfigError {
    if let ConfigError::MissingKey { path, example, .. } = &mut error
        && path == "data"
    {
        *example = "\"data\": {\"design\": \"paper\", \"n\": 100}".into();
    }
    error
}

/// A cell whose labels are not known yet, and the axes it has.
type Unlabelled = (Cell, Axes);

struct Axes {
    /// Varied by the study, with their values here.
    varied: Vec<(String, Value)>,
    /// What the method and its defaults say of every other key.
    all: Value,
    /// The `data` of the cell, where an axis of one file is a single value in another.
    data: Value,
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
                    own.data.pointer(&pointer).or(own.all.pointer(&pointer))
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
    /// Every combination of the axes of `data`. What cannot be simulated is said before anything runs.
    fn data(
        &self,
        data: Map<String, Value>,
        seed: u64,
    ) -> Result<Vec<(Point, CellData)>, StudyError> {
        if is_file_design(&data) {
            let all = Value::Object(data.clone());
            let points = self.not_empty(file_points(data, &self.check)?, &all, "data")?;
            let read = |point: Point| {
                let design = FileDesign::new(&point, self.file, seed)?;
                Ok((point, CellData::File(Arc::new(design))))
            };
            return points.into_iter().map(read).collect();
        }
        let points = self.points(&Value::Object(data), "data", &[])?;
        let simulated = |point: Point| {
            let settings = typed::<Wrapped>(&json!({"data": point.value}), self.file)?.data;
            let design = settings.design().map_err(|error| self.design(error))?;
            simulate(&design, seed).map_err(|error| self.design(error))?;
            let settings = Box::new(settings);
            Ok((point, CellData::Simulated { settings, design }))
        };
        points.into_iter().map(simulated).collect()
    }

    fn points(&self, value: &Value, place: &str, kept: &[&str]) -> Result<Vec<Point>, ConfigError> {
        self.not_empty(expand(value, kept), value, place)
    }

    fn not_empty(
        &self,
        points: Vec<Point>,
        value: &Value,
        place: &str,
    ) -> Result<Vec<Point>, ConfigError> {
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
        config::of_arrays(&fit, self.file)
    }

    fn cell(
        &self,
        method: &str,
        point: &Point,
        data: &CellData,
        choice: Point,
        sampler: &Map<String, Value>,
    ) -> Result<Unlabelled, StudyError> {
        let place = format!("methods.{method}");
        let raw: RawMethod =
            typed(&choice.value, self.file).map_err(|error| error.inside(&place))?;
        let links = raw.links;
        let answers = self.answers(&raw, &place)?;
        let (estimator, all) = match raw.baseline {
            Some(name) => {
                let estimator = self.baseline(name, &raw, data, &place)?;
                (estimator, choice.value.clone())
            }
            None => {
                let fit = self.fit(raw, data, sampler, &place)?;
                let all = serde_json::to_value(&fit).expect("a config is plain JSON");
                (Estimator::Fit(Box::new(fit)), all)
            }
        };
        let identity = json!({
            "data": data.identity(),
            "links": links,
            "estimator": identity_of(&estimator, self.model, &choice.value, &all),
        });
        let varied = point.axes.iter().chain(&choice.axes).cloned().collect();
        let cell = Cell {
            number: String::new(),
            method: method.to_string(),
            labels: Vec::new(),
            data: data.clone(),
            links,
            estimator,
            answers,
            identity: identity.to_string(),
        };
        let data = point.value.clone();
        Ok((cell, Axes { varied, all, data }))
    }

    fn answers(&self, raw: &RawMethod, place: &str) -> Result<Vec<Answer>, ConfigError> {
        let Some(answers) = &raw.answers else {
            return Ok(vec![Answer::Joint]);
        };
        let path = format!("{place}.answers");
        let rule = "this baseline has none; remove it";
        let is_fit = raw.baseline.is_none();
        self.check.that(is_fit, &path, "given", rule)?;
        let rule = "list at least one, such as \"joint\"";
        self.check.that(!answers.is_empty(), &path, "[]", rule)?;
        let mut seen = Vec::new();
        for answer in answers {
            let is_new = !seen.contains(answer);
            let twice = format!("with \"{answer}\" twice");
            self.check.that(is_new, &path, twice, "name each once")?;
            seen.push(*answer);
        }
        Ok(seen)
    }

    fn baseline(
        &self,
        name: BaselineName,
        raw: &RawMethod,
        data: &CellData,
        place: &str,
    ) -> Result<Estimator, ConfigError> {
        let of_rates = name != BaselineName::KnownRate;
        let of_fits = [
            ("model", raw.model.is_some()),
            ("temperature", raw.temperature.is_some()),
            ("permutation", raw.permutation.is_some()),
            ("sampler", raw.sampler.is_some()),
            ("tau", raw.tau.is_some() && name != BaselineName::Quantile),
            ("rate", raw.rate.is_some() && of_rates),
            ("audit", raw.audit.is_some() && of_rates),
        ];
        for (key, given) in of_fits {
            let path = format!("{place}.{key}");
            self.check
                .that(!given, &path, "given", "this baseline has none; remove it")?;
        }
        Ok(Estimator::Baseline(match name {
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
            BaselineName::KnownRate => {
                let audited = data.has_audit();
                let known = RateKnown::read(raw.rate, raw.audit, audited, &self.check, place);
                return known.map(Estimator::KnownRate);
            }
            BaselineName::RobustMixture => return Ok(Estimator::RobustMixture),
        }))
    }

    fn fit(
        &self,
        raw: RawMethod,
        data: &CellData,
        sampler: &Map<String, Value>,
        place: &str,
    ) -> Result<Config, ConfigError> {
        let path = format!("{place}.tau");
        let rule = "a fit has it in model.family; remove it";
        self.check.that(raw.tau.is_none(), &path, "given", rule)?;
        for (key, given) in [("rate", raw.rate.is_some()), ("audit", raw.audit.is_some())] {
            let path = format!("{place}.{key}");
            let rule = "a fit has it in permutation.prior; remove it";
            self.check.that(!given, &path, "given", rule)?;
        }
        let mut model = self.model.clone();
        model.extend(raw.model.unwrap_or_default());
        if !model.contains_key("stan") {
            let (stan, family) = data.model();
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
        let config = self.config(sampler, fit);
        let mut config = config.map_err(|error| error.inside(place))?;
        if let CellData::File(file) = data {
            self.suits(&config, file, place)?;
            config.data = file.data.clone();
        }
        Ok(config)
    }

    /// A fit on a file is compared with the fit of the unharmed file that `data.errors` names.
    fn suits(&self, config: &Config, file: &FileDesign, place: &str) -> Result<(), ConfigError> {
        let kind = config.model.response_kind();
        let known = [ResponseKind::Real, file.response_kind()].contains(&kind);
        let rule = format!(
            "its responses are {}, so give `data.errors` of this kind",
            kind.rule()
        );
        let model = serde_json::to_value(&config.model.stan).expect("plain JSON");
        let path = format!("{place}.model.stan");
        self.check.that(known, &path, model, &rule)?;
        let path = format!("{place}.permutation.prior.audit");
        let prior = config.permutation.prior;
        let own_audit = matches!(prior, Prior::BetaBinomial { audit: Some(_), .. });
        let twice = own_audit && file.planting.num_audited.is_some();
        let rule = "`data.audit` gives one of its own to every repeat; remove one of the two";
        self.check.that(!twice, &path, "given", rule)
    }
}
