//! Which priors a fit has, in the user's names and numbers, and whether a posterior lies far outside of one.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::numbers::{
    BETA_LOCATION, BETA_SCALE, SIGMA_F2_SCALE, SIGMA_SCALE, SIGMA2_SCALE, TAU_SCALE, X_CENTRE,
};
use crate::config::{self, ModelSource, Priors};
use crate::data::{Dataset, Groups};
use crate::model::LogSpread;

/// The priors of a fit, as saved in data.json.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PriorsUsed {
    pub numbers: Priors,
    /// The user's own program, whose priors only its text knows; None for a shipped one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// Entries of its data block that were filled in for the user's own program.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filled: Vec<String>,
    /// Where the intercept has its prior, by column of X.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub centre: Vec<f64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<PriorLine>,
}

/// The prior of one quantity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PriorLine {
    /// Its name in the draws.
    pub quantity: String,
    /// What the user calls it.
    pub label: String,
    #[serde(flatten)]
    pub law: Law,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "law", rename_all = "snake_case")]
pub enum Law {
    Normal {
        location: f64,
        scale: f64,
    },
    /// Of a parameter that is above zero.
    HalfNormal {
        scale: f64,
    },
    Gamma {
        shape: f64,
        rate: f64,
    },
}

impl Law {
    /// How far a value is from the prior's centre, in its standard deviations; of a half-normal prior, in its scale from 0.
    pub fn deviation(self, value: f64) -> f64 {
        match self {
            Law::Normal { location, scale } => (value - location).abs() / scale,
            Law::HalfNormal { scale } => value / scale,
            Law::Gamma { shape, rate } => (rate * value - shape).abs() / shape.sqrt(),
        }
    }
}

impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match *self {
            Law::Normal { location, scale } => {
                write!(f, "normal({}, {})", short(location), short(scale))
            }
            Law::HalfNormal { scale } => write!(f, "half-normal(0, {})", short(scale)),
            Law::Gamma { shape, rate } => write!(f, "gamma({}, {})", short(shape), short(rate)),
        }
    }
}

impl fmt::Display for PriorLine {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}: {}", self.label, self.law)
    }
}

/// Three significant digits, without zeros behind them.
fn short(value: f64) -> String {
    let exponent = if value == 0.0 {
        0
    } else {
        value.abs().log10().floor() as i32
    };
    if !(-4..7).contains(&exponent) {
        return format!("{value:.2e}");
    }
    let text = format!("{value:.*}", (2 - exponent).max(0) as usize);
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// Parameters above zero whose half-normal scale is an entry of the data block.
const SCALES: [(&str, &str, &str); 3] = [
    ("sigma2", SIGMA2_SCALE, "error variance"),
    ("sigma", SIGMA_SCALE, "error scale"),
    ("sigma_f2", SIGMA_F2_SCALE, "variance of the shifts"),
];

const GAMMA: Law = Law::Gamma {
    shape: 2.0,
    rate: 0.1,
};

/// Parameters of shipped programs whose prior has no units.
const FIXED: &[(&str, &str, &str, Law)] = &[
    ("robust", "nu", "nu (degrees of freedom, above 1)", GAMMA),
    (
        "negative_binomial",
        "phi",
        "phi (a large one is nearly Poisson)",
        GAMMA,
    ),
    (
        "gamma",
        "shape",
        "shape (1 / squared relative error)",
        GAMMA,
    ),
    (
        "weibull_survival",
        "shape",
        "shape (above 1 the hazard grows with time)",
        Law::HalfNormal { scale: 2.5 },
    ),
    (
        "log_normal_survival",
        "sigma",
        "error scale of the log times",
        Law::HalfNormal { scale: 2.5 },
    ),
    (
        "log_normal",
        "sigma",
        "error scale of the logs",
        Law::HalfNormal { scale: 2.5 },
    ),
];

impl PriorsUsed {
    /// `entries` are those of Stan's data block, the user's own among them.
    pub fn new(
        model: &config::Model,
        program: &str,
        entries: &Map<String, Value>,
        data: &Dataset,
    ) -> PriorsUsed {
        let ModelSource::Shipped(name) = &model.stan else {
            return PriorsUsed::of_own_program(model, program, entries);
        };
        let centre = numbers(entries.get(X_CENTRE));
        let by_response = program.contains("matrix[D, K] beta;");
        let mut lines = coefficients(entries, data, &centre, by_response);
        for (parameter, entry, label) in SCALES {
            if program.contains(entry) {
                lines.extend(scales(parameter, label, entries.get(entry), data));
            }
        }
        let fixed = FIXED.iter().filter(|(program, ..)| program == name);
        lines.extend(fixed.map(|(_, parameter, label, law)| PriorLine {
            quantity: parameter.to_string(),
            label: label.to_string(),
            law: *law,
        }));
        if name == "robust" {
            lines.extend(spreads(data));
        }
        if let Some(groups) = &data.groups {
            lines.extend(between_groups(groups, entries.get(TAU_SCALE)));
        }
        PriorsUsed {
            numbers: model.priors,
            program: None,
            filled: Vec::new(),
            centre,
            lines,
        }
    }

    fn of_own_program(
        model: &config::Model,
        program: &str,
        entries: &Map<String, Value>,
    ) -> PriorsUsed {
        let label = match &model.stan {
            ModelSource::Shipped(name) => name.clone(),
            ModelSource::File(path) => {
                let file = path.file_name().unwrap_or(path.as_os_str());
                file.to_string_lossy().into_owned()
            }
        };
        let of_priors = [
            X_CENTRE,
            BETA_LOCATION,
            BETA_SCALE,
            SIGMA_SCALE,
            SIGMA2_SCALE,
            SIGMA_F2_SCALE,
            TAU_SCALE,
        ];
        let filled = of_priors.into_iter().filter(|entry| {
            let is_own = model.data.contains_key(*entry);
            !is_own && entries.contains_key(*entry) && program.contains(entry)
        });
        PriorsUsed {
            numbers: model.priors,
            program: Some(label),
            filled: filled.map(String::from).collect(),
            centre: Vec::new(),
            lines: Vec::new(),
        }
    }

    /// One line for each prior, or where to find them.
    pub fn words(&self) -> Vec<String> {
        let Some(program) = &self.program else {
            return self.lines.iter().map(PriorLine::to_string).collect();
        };
        let filled = match self.filled.as_slice() {
            [] => String::new(),
            filled => format!("; its data {} are {}", filled.join(", "), self.source()),
        };
        vec![format!("as written in {program}{filled}")]
    }

    /// Where the numbers come from.
    pub fn source(&self) -> &'static str {
        match self.numbers {
            Priors::Scaled => "scaled to the file",
            Priors::Paper => "the paper's, which have units",
        }
    }

    /// Every prior with the distance of its quantity's posterior mean; `mean` knows these by the names of the draws.
    pub fn deviations(&self, mean: impl Fn(&str) -> Option<f64>) -> Vec<(String, f64)> {
        let lines = self.lines.iter();
        lines
            .filter_map(|line| {
                let value = mean(&line.quantity)? + self.shift(&line.quantity, &mean);
                Some((line.quantity.clone(), line.law.deviation(value)))
            })
            .collect()
    }

    /// What the intercept gains between zero and the centre of the predictors.
    fn shift(&self, quantity: &str, mean: impl Fn(&str) -> Option<f64>) -> f64 {
        let Some(response) = quantity.strip_prefix("beta.1") else {
            return 0.0;
        };
        if !(response.is_empty() || response.starts_with('.')) {
            return 0.0;
        }
        let slopes = self.centre.iter().enumerate().skip(1);
        let terms = slopes.map(|(j, centre)| {
            let slope = mean(&format!("beta.{}{response}", j + 1));
            centre * slope.unwrap_or(0.0)
        });
        terms.sum()
    }
}

/// Numbers of a list, of a list of lists row by row, or a single one.
fn numbers(value: Option<&Value>) -> Vec<f64> {
    match value {
        Some(Value::Array(list)) => list.iter().flat_map(|v| numbers(Some(v))).collect(),
        Some(value) => value.as_f64().into_iter().collect(),
        None => Vec::new(),
    }
}

/// `by_response` says that each of several responses has coefficients of its own, and not only the first.
fn coefficients(
    entries: &Map<String, Value>,
    data: &Dataset,
    centre: &[f64],
    by_response: bool,
) -> Vec<PriorLine> {
    let location = numbers(entries.get(BETA_LOCATION));
    let scale = numbers(entries.get(BETA_SCALE));
    let responses = data.response_names.as_deref();
    let num_responses = responses.map_or(1, <[String]>::len);
    let is_centred = centre.iter().any(|centre| *centre != 0.0);
    let mut lines = Vec::new();
    for k in 0..if by_response { num_responses } else { 1 } {
        for (d, name) in data.predictor_names.iter().enumerate() {
            let place = d * num_responses + k;
            let (Some(&location), Some(&scale)) = (location.get(place), scale.get(place)) else {
                continue;
            };
            let of = match (data.has_intercept() && d == 0, is_centred) {
                (true, true) => "intercept at the means of the predictors".to_string(),
                (true, false) => "intercept".to_string(),
                (false, _) => format!("slope of {name}"),
            };
            let (quantity, label) = match responses.filter(|_| by_response) {
                None => (format!("beta.{}", d + 1), of),
                Some(responses) => (
                    format!("beta.{}.{}", d + 1, k + 1),
                    format!("{of} for {}", responses[k]),
                ),
            };
            lines.push(PriorLine {
                quantity,
                label,
                law: Law::Normal { location, scale },
            });
        }
    }
    lines
}

/// How the log scale of the program `robust` changes with each predictor that varies; nothing here has units.
fn spreads(data: &Dataset) -> impl Iterator<Item = PriorLine> {
    let spread = LogSpread::new(data.x.view());
    let columns: Vec<usize> = spread.columns().collect();
    let columns = columns.into_iter().enumerate();
    columns.map(|(k, column)| PriorLine {
        quantity: format!("gamma.{}", k + 1),
        label: format!(
            "change of the log error scale with {}, by its standard deviation",
            data.predictor_names[column]
        ),
        law: Law::Normal {
            location: 0.0,
            scale: 0.5,
        },
    })
}

fn scales(parameter: &str, label: &str, entry: Option<&Value>, data: &Dataset) -> Vec<PriorLine> {
    let scales = numbers(entry).into_iter().enumerate();
    let responses = data.response_names.as_deref();
    scales
        .map(|(k, scale)| {
            let (quantity, label) = match responses.and_then(|names| names.get(k)) {
                None => (parameter.to_string(), format!("{label} {parameter}")),
                Some(response) => (
                    format!("{parameter}.{}", k + 1),
                    format!("{label} {parameter} of {response}"),
                ),
            };
            let law = Law::HalfNormal { scale };
            PriorLine {
                quantity,
                label,
                law,
            }
        })
        .collect()
}

/// Of the standard deviations between groups.
fn between_groups(groups: &Groups, entry: Option<&Value>) -> Vec<PriorLine> {
    let scales = numbers(entry).into_iter().zip(&groups.names).enumerate();
    let line = |(k, (scale, name)): (usize, (f64, &String))| PriorLine {
        quantity: format!("tau.{}", k + 1),
        label: format!(
            "standard deviation of {name} between groups of {}",
            groups.column
        ),
        law: Law::HalfNormal { scale },
    };
    scales.map(line).collect()
}

#[cfg(test)]
mod tests {
    use ndarray::array;
    use serde_json::json;

    use super::*;
    use crate::config::{Priors, ResponseKind};
    use crate::data::INTERCEPT;
    use crate::model::stan::shipped_model;
    use crate::priors::entries;

    fn data() -> Dataset {
        let x = array![[1.0, 2000.0], [1.0, 2010.0], [1.0, 2000.0], [1.0, 2010.0]];
        let names = vec![INTERCEPT.into(), "year".into()];
        Dataset::new(names, x, vec![10.0, 10.0, 14.0, 14.0])
    }

    fn model(stan: ModelSource, priors: Priors, own: Value) -> config::Model {
        config::Model {
            stan,
            response: "y".into(),
            family: None,
            priors,
            outcome: None,
            data: own.as_object().cloned().unwrap_or_default(),
        }
    }

    fn used(stan: &str, priors: Priors, own: Value, data: &Dataset) -> PriorsUsed {
        let model = model(ModelSource::Shipped(stan.into()), priors, own);
        let mut all = entries(priors, model.response_kind(), data);
        all.extend(model.data.clone());
        PriorsUsed::new(&model, shipped_model(stan).unwrap().stan, &all, data)
    }

    #[test]
    fn priors_are_told_in_the_users_names_and_numbers() {
        let found = used("linear", Priors::Scaled, json!({}), &data());
        assert_eq!(
            found.words(),
            [
                "intercept at the means of the predictors: normal(12, 5)",
                "slope of year: normal(0, 1)",
                "error variance sigma2: half-normal(0, 10)",
            ]
        );
        let paper = used("quantile", Priors::Paper, json!({}), &data());
        assert_eq!(
            paper.words(),
            [
                "intercept: normal(0, 31.6)",
                "slope of year: normal(0, 31.6)",
                "error scale sigma: half-normal(0, 31.6)",
            ]
        );
        let counts = used("negative_binomial", Priors::Scaled, json!({}), &data());
        assert_eq!(
            counts.words(),
            [
                "intercept at the means of the predictors: normal(2.48, 2.5)",
                "slope of year: normal(0, 0.5)",
                "phi (a large one is nearly Poisson): gamma(2, 0.1)",
            ]
        );
        let robust = used("robust", Priors::Scaled, json!({}), &data());
        assert_eq!(
            robust.words()[2..],
            [
                "error scale sigma: half-normal(0, 5)",
                "nu (degrees of freedom, above 1): gamma(2, 0.1)",
                "change of the log error scale with year, by its standard deviation: normal(0, 0.5)",
            ]
        );
        assert_eq!(
            robust.deviations(|name| (name == "gamma.1").then_some(1.5)),
            [("gamma.1".to_string(), 3.0)]
        );
        let own = json!({"beta_scale": [1e9, 0.25]});
        let found = used("linear", Priors::Scaled, own, &data());
        assert_eq!(found.words()[1], "slope of year: normal(0, 0.25)");
        assert_eq!(
            found.words()[0],
            "intercept at the means of the predictors: normal(12, 1.00e9)"
        );
    }

    #[test]
    fn a_list_of_responses_has_a_line_for_each() {
        let mut data = data();
        data.further_responses = vec![vec![1.0, 1.0, 3.0, 3.0]];
        data.response_names = Some(vec!["food".into(), "rent".into()]);
        let found = used("multivariate", Priors::Scaled, json!({}), &data);
        let words = found.words();
        assert_eq!(words.len(), 6);
        assert_eq!(words[3], "slope of year for rent: normal(0, 0.5)");
        assert_eq!(
            words[5],
            "error variance sigma2 of rent: half-normal(0, 2.5)"
        );
        let saved = serde_json::to_value(&found).unwrap();
        assert_eq!(serde_json::from_value::<PriorsUsed>(saved).unwrap(), found);
    }

    #[test]
    fn an_own_program_knows_its_priors_itself() {
        let path = ModelSource::File("/home/me/wages.stan".into());
        let model = model(path, Priors::Scaled, json!({"sigma2_scale": 3}));
        let all = entries(Priors::Scaled, ResponseKind::Real, &data());
        let plain = PriorsUsed::new(&model, "beta ~ normal(0, 1);", &all, &data());
        assert_eq!(plain.words(), ["as written in wages.stan"]);
        assert_eq!(plain.deviations(|_| Some(1e9)), []);
        let program = shipped_model("linear").unwrap().stan;
        let copy = PriorsUsed::new(&model, program, &all, &data());
        assert_eq!(
            copy.words(),
            [
                "as written in wages.stan; its data X_centre, beta_location, beta_scale are scaled to the file"
            ]
        );
    }

    #[test]
    fn the_intercept_is_judged_at_the_centre_of_the_predictors() {
        let found = used("linear", Priors::Scaled, json!({}), &data());
        let mean = |name: &str| match name {
            "beta.1" => Some(12.0 - 2005.0 * 0.5 + 10.0),
            "beta.2" => Some(0.5),
            "sigma2" => Some(40.0),
            _ => None,
        };
        let expected = [("beta.1", 2.0), ("beta.2", 0.5), ("sigma2", 4.0)];
        let deviations = found.deviations(mean);
        assert_eq!(deviations.len(), 3);
        for ((name, found), (expected_name, expected)) in deviations.iter().zip(expected) {
            assert_eq!(name, expected_name);
            assert!((found - expected).abs() < 1e-12, "{name} {found}");
        }
        let gamma = Law::Gamma {
            shape: 2.0,
            rate: 0.1,
        };
        assert!((gamma.deviation(20.0 + 3.0 * 200f64.sqrt()) - 3.0).abs() < 1e-12);
    }
}
