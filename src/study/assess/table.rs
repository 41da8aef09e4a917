//! The trials for people: a table, bars in characters, and a figure.

use super::{Assessment, METHODS, Trial};
use crate::plot::{Axis, Figure, Mark, Panel, Series};
use crate::text::aligned;
use crate::trust::Method;

/// Characters of the longest bar.
const LONGEST: f64 = 40.0;

impl Assessment {
    /// A line for each share.
    pub fn table(&self) -> String {
        let mut rows = vec![vec!["planted".to_string()]];
        let methods = self.methods();
        rows[0].extend(methods.iter().map(|method| label(*method).to_string()));
        rows[0].extend(["found".to_string(), "checks".to_string()]);
        for trial in &self.trials {
            let mut row = vec![planted(trial)];
            row.extend(methods.iter().map(|method| {
                let error = trial.error(*method);
                error.map_or("-".into(), |error| format!("{error:.2}"))
            }));
            row.push(percent(trial.found));
            row.push(if trial.trusted { "hold" } else { "fail" }.into());
            rows.push(row);
        }
        aligned(&rows, 0)
    }

    /// A bar for each method and planted share.
    pub fn bars(&self) -> String {
        let planted = || self.trials.iter().filter(|trial| trial.share > 0.0);
        let largest = planted().flat_map(|trial| trial.errors.iter().map(|(_, error)| *error));
        let largest = largest
            .filter(|error| error.is_finite())
            .fold(0.0, f64::max);
        let methods = self.methods();
        let width = methods.iter().map(|method| label(*method).len()).max();
        let width = width.unwrap_or(0);
        let mut text = String::new();
        for trial in planted() {
            let own = methods.iter().filter_map(|m| Some((*m, trial.error(*m)?)));
            for (k, (method, error)) in own.enumerate() {
                let share = if k == 0 {
                    percent(trial.share)
                } else {
                    String::new()
                };
                let length = match largest > 0.0 {
                    true => (LONGEST * error / largest).round() as usize,
                    false => 0,
                };
                let bar = "#".repeat(length.min(LONGEST as usize));
                let gap = if bar.is_empty() { "" } else { " " };
                let name = label(method);
                text += &format!("{share:>5}  {name:<width$}  {bar}{gap}{error:.2}\n");
            }
        }
        text
    }

    /// Error against the planted share, a line for each method.
    pub fn figure(&self) -> Figure {
        let title = format!("Planted wrong links in {}", self.name);
        let mut panel = Panel::new("")
            .x(Axis::linear("share of the links planted wrong"))
            .y(Axis::linear("error of the slopes, in standard deviations"));
        let mut figure = Figure::new(title, self.in_words());
        for (k, method) in self.methods().into_iter().enumerate() {
            let points: Vec<(f64, f64)> = self
                .trials
                .iter()
                .filter_map(|trial| Some((trial.share, trial.error(method)?)))
                .collect();
            let series = Series(k);
            panel = panel
                .mark(Mark::line(series, points.clone()))
                .mark(Mark::points(series, points));
            figure = figure.legend(series, label(method));
        }
        figure.panel(panel)
    }

    fn in_words(&self) -> String {
        let trials = self.trials.iter().map(|trial| {
            let errors = trial.errors.iter();
            let errors: Vec<String> = errors
                .map(|(method, error)| format!("{} {error:.2}", label(*method)))
                .collect();
            format!("{} planted: {}.", percent(trial.share), errors.join(", "))
        });
        trials.collect::<Vec<_>>().join(" ")
    }

    /// Those that apply to the model.
    fn methods(&self) -> Vec<Method> {
        let applies = |method: &Method| self.trials.iter().any(|t| t.error(*method).is_some());
        METHODS.into_iter().filter(applies).collect()
    }
}

fn label(method: Method) -> &'static str {
    match method {
        Method::AsLinked => "links as given",
        Method::Huber => "Huber",
        other => other.name(),
    }
}

fn planted(trial: &Trial) -> String {
    match trial.num_planted {
        0 => "none".into(),
        count => format!("{} ({count} rows)", percent(trial.share)),
    }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::assess::{Advice, Description};

    fn trial(share: f64, num_planted: usize, errors: [f64; 3]) -> Trial {
        let methods = [Method::AsLinked, Method::Joint, Method::Recommended];
        Trial {
            share,
            num_planted,
            errors: methods.into_iter().zip(errors).collect(),
            found: share / 2.0,
            trusted: share < 0.2,
            sentence: String::new(),
            iteration_seconds: 0.0,
        }
    }

    fn assessment() -> Assessment {
        let trials = vec![
            trial(0.0, 0, [0.0, 0.1, 0.1]),
            trial(0.1, 10, [1.0, 0.5, 0.5]),
            trial(0.2, 20, [2.0, 0.0, 1.0]),
        ];
        Assessment {
            name: "wages".into(),
            description: Description {
                num_rows: 100,
                num_predictors: 1,
                num_blocks: None,
                num_movable: 100,
                residuals: None,
            },
            advice: Advice::new(&trials),
            trials,
            expected_seconds: 1.0,
        }
    }

    #[test]
    fn the_table_has_the_methods_that_apply() {
        let words: Vec<Vec<String>> = assessment()
            .table()
            .lines()
            .map(|line| line.split("  ").map(str::trim).map(String::from).collect())
            .map(|cells: Vec<String>| cells.into_iter().filter(|c| !c.is_empty()).collect())
            .collect();
        assert_eq!(
            words,
            [
                [
                    "planted",
                    "links as given",
                    "joint",
                    "recommended",
                    "found",
                    "checks"
                ],
                ["none", "0.00", "0.10", "0.10", "0 %", "hold"],
                ["10 % (10 rows)", "1.00", "0.50", "0.50", "5 %", "hold"],
                ["20 % (20 rows)", "2.00", "0.00", "1.00", "10 %", "fail"],
            ]
        );
        assert!(!assessment().table().contains("Huber"));
    }

    #[test]
    fn the_longest_bar_is_the_largest_error() {
        let bars = assessment().bars();
        let lines: Vec<&str> = bars.lines().collect();
        let length = |line: &str| line.matches('#').count();
        let lengths: Vec<usize> = lines.iter().map(|line| length(line)).collect();
        assert_eq!(lengths, [20, 10, 10, 40, 0, 20]);
        assert!(lines[0].starts_with(" 10 %  links as given  #"), "{bars}");
        assert!(lines[4].ends_with("joint           0.00"), "{bars}");
    }

    #[test]
    fn the_files_are_json_and_a_picture_and_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("notes.txt"), "mine").unwrap();
        assessment().write(folder.path()).unwrap();
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        let json: serde_json::Value = serde_json::from_str(&read("assess.json")).unwrap();
        assert_eq!(json["trials"][2]["errors"]["as_linked"], 2.0);
        assert_eq!(json["advice"]["decision"], "use");
        let svg = read("assess.svg");
        assert!(svg.contains("20 % planted: links as given 2.00"));
        assert!(svg.contains("links as given") && svg.contains("recommended"));
        assert_eq!(read("notes.txt"), "mine");
    }
}
