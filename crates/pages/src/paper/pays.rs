//! Beyond the paper: where the joint model pays, by strength of the regression and share of mislinked rows.

use unshuffle_plot::{Axis, Figure, HeatCell, Mark, Panel};

use super::Section;
use super::format::{fixed, percent, ratio, table};
use super::losses;
use super::results::{Rows, Study};

/// (method, how its columns are called).
pub const METHODS: [(&str, &str); 5] = [
    ("ours", "ours"),
    ("mixture", "mixture"),
    ("huber", "huber"),
    ("naive", "naive"),
    ("oracle", "oracle"),
];

/// One setting of the grid.
#[derive(Clone)]
pub struct Setting {
    pub r2: String,
    pub mislinked: String,
}

impl Setting {
    pub fn rows<'a>(&self, study: &'a Study, method: &str) -> Rows<'a> {
        study.results.select(&[
            ("method", method),
            ("r2", &self.r2),
            ("mislinked", &self.mislinked),
        ])
    }

    pub fn mislinked_percent(&self) -> String {
        percent(self.mislinked.parse().ok())
    }
}

pub fn settings(study: &Study) -> Vec<Setting> {
    let mut settings = Vec::new();
    for r2 in study.results.distinct("r2") {
        for mislinked in study.results.distinct("mislinked") {
            let setting = Setting {
                r2: r2.clone(),
                mislinked,
            };
            if !setting.rows(study, "ours").is_empty() {
                settings.push(setting);
            }
        }
    }
    settings
}

pub fn section(study: &Study) -> Section {
    let mut section = super::new_section();
    section.add("## Beyond the paper: when does it pay?");
    section.add(
        "The paper's design has σ = 0.1 against a spread of Xβ near 45: any wrong link stands out. Here regressions are weaker. n = 300, 4 predictors and an intercept, all coefficients 1, normal errors; R² is the share of \
         the variance of y that Xβ explains when the links are right, and a share of the rows is mislinked at random. Methods as above: *ours* with its defaults, *mixture*, *huber*, *naive* and *oracle*.",
    );
    section.show("when_it_pays.svg", figure(study));
    section.add("Ratios of mean errors over repeats; blue is where ours is better. The colour is the decimal logarithm of the ratio, from a tenth to ten times.");
    section.add("All cells: mean over repeats of the mean |β̂ − β|, and the coverage of 90 % intervals of ours and of the mixture.");
    section.add(all_cells(study));
    section.add("### Ours against the mixture");
    for block in losses::blocks(study) {
        section.add(block);
    }
    section
}

/// Two decimals, or two digits of what is small.
fn shown(ratio: f64) -> String {
    let decimals = match ratio {
        small if small < 0.01 => 4,
        small if small < 0.1 => 3,
        _ => 2,
    };
    format!("{ratio:.decimals$}")
}

fn all_cells(study: &Study) -> String {
    let rows: Vec<Vec<String>> = settings(study)
        .iter()
        .map(|setting| {
            let mut row = vec![setting.r2.clone(), setting.mislinked_percent()];
            let error = |method: &str| setting.rows(study, method).mean("beta_error");
            row.extend(METHODS.map(|(method, _)| fixed(error(method), 4)));
            let coverage = |method: &str| percent(setting.rows(study, method).mean("coverage"));
            row.extend([coverage("ours"), coverage("mixture")]);
            row
        })
        .collect();
    let mut headings = vec!["R²", "mislinked"];
    headings.extend(METHODS.map(|(_, name)| name));
    headings.extend(["coverage, ours", "coverage, mixture"]);
    table(&headings, &rows)
}

fn figure(study: &Study) -> Figure {
    let r2 = study.results.distinct("r2");
    let mislinked = study.results.distinct("mislinked");
    let shares: Vec<String> = mislinked.iter().map(|m| percent(m.parse().ok())).collect();
    let mut better = Vec::new();
    let mut figure =
        Figure::new("When it pays: mean error of ours over that of another", "").columns(1);
    for (method, name) in [
        ("naive", "least squares as linked"),
        ("mixture", "the mixture"),
        ("oracle", "least squares with the true links"),
    ] {
        let mut cells = Vec::new();
        for setting in settings(study) {
            let error = |method: &str| setting.rows(study, method).mean("beta_error");
            let Some(ratio) = ratio(error("ours"), error(method)) else {
                continue;
            };
            let place = |values: &[String], value: &String| {
                values.iter().position(|v| v == value).unwrap_or(0) as f64
            };
            cells.push(HeatCell {
                x: place(&r2, &setting.r2),
                y: place(&mislinked, &setting.mislinked),
                value: ratio.log10(),
                text: Some(shown(ratio)),
            });
        }
        let below = cells.iter().filter(|cell| cell.value < 0.0).count();
        better.push(format!("{below} of {} cells against {name}", cells.len()));
        let heat = Mark::Heat {
            cells,
            low: -1.0,
            high: 1.0,
            diverging: true,
        };
        figure = figure.panel(
            Panel::new(format!("ours / {name}"))
                .x(Axis::categories("R² with the right links", r2.clone()))
                .y(Axis::categories("mislinked", shares.clone()))
                .mark(heat),
        );
    }
    figure.description = format!(
        "Heat maps over R² and the share of mislinked rows. The mean error of ours is the smaller one in {}.",
        better.join(", ")
    );
    figure
}
