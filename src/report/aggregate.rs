//! The report without rows: what may leave a room where the data must stay. No ids, no values of single rows, no count below ten,
//! no paths.

use serde::Serialize;

use super::card::{Number, num_probably_wrong, numbers};
use super::coefficients::CoefficientsSection;
use super::page::Picture;
use super::provenance::Provenance;
use super::status::Status;
use super::trust::draws_checks;
use super::verdict::{self, CheckLine, Verdict, num_expected};
use crate::config::Prior;
use crate::plot::{Axis, Figure, Mark, Panel, Series};
use crate::posterior::diagnostics::Finding;
use crate::posterior::{Posterior, Row};

/// A count or a mean of fewer rows than this is not shown.
pub const LEAST_ROWS: usize = 10;
/// Points of the figure, each the mean of a group of rows.
const MOST_GROUPS: usize = 20;

/// Facts of the run that hold no path and no row.
const FACTS: [&str; 13] = [
    "Rows",
    "Response",
    "Predictors",
    "Stan program",
    "Priors of the parameters",
    "Likelihood of links",
    "Feedback",
    "Update of links",
    "Temperature",
    "Chains",
    "Seed",
    "unshuffle",
    "Stan",
];
/// Facts that also tell what an audit counted.
const PRIOR_FACTS: [&str; 2] = ["Prior of links", "Prior of the mismatch rate"];

const BEFORE: Series = Series(1);
const AFTER: Series = Series(0);
const EQUAL: Series = Series(6);

#[derive(Debug, Clone, Serialize)]
pub struct Aggregate {
    pub status: Status,
    pub words: &'static str,
    pub shape: &'static str,
    pub sentence: String,
    pub numbers: Vec<Number>,
    pub problems: Vec<String>,
    pub findings: Vec<String>,
    pub notes: Vec<String>,
    pub checks: Vec<CheckLine>,
    /// The checks of the draws by name, and how they ended.
    pub draws_checks: Vec<(&'static str, &'static str)>,
    pub coefficients: CoefficientsSection,
    pub groups: Option<Picture>,
    pub facts: Vec<(&'static str, String)>,
    pub least_rows: usize,
}

impl Aggregate {
    pub fn new(fit: &Posterior) -> Aggregate {
        let status = Status::of(fit);
        let verdict = Verdict::new(fit);
        let checks = draws_checks(fit).into_iter();
        Aggregate {
            status,
            words: status.words(),
            shape: status.shape(),
            sentence: verdict::headline(fit),
            numbers: rounded_numbers(fit),
            problems: problems(fit),
            findings: verdict::without_rows(fit),
            notes: notes(fit),
            checks: verdict.checks,
            draws_checks: checks
                .map(|check| (check.name, check.result.words()))
                .collect(),
            coefficients: CoefficientsSection::without_rows(fit),
            groups: groups_picture(&fit.rows),
            facts: facts(fit),
            least_rows: LEAST_ROWS,
        }
    }
}

/// Whether a quantity is of the whole file: a coefficient, or a number that is not one of many.
pub fn is_of_file(fit: &Posterior, name: &str) -> bool {
    fit.name_of(name) != name || !name.contains(['.', '['])
}

/// The three numbers, the count of rows told only from ten on.
fn rounded_numbers(fit: &Posterior) -> Vec<Number> {
    let mut numbers = numbers(fit);
    if let (Some(last), Some(num_wrong)) = (numbers.last_mut(), num_probably_wrong(fit)) {
        last.value = rounded(num_wrong);
        last.note = format!(
            "more likely wrong than right; {} wrong links are expected in all",
            rounded(num_expected(fit).round() as usize)
        );
    }
    numbers
}

/// A count, which is not told where it is small.
fn rounded(number: usize) -> String {
    match number {
        few if few < LEAST_ROWS => format!("fewer than {LEAST_ROWS}"),
        many => many.to_string(),
    }
}

/// The problems, without the numbers of rows and of quantities that belong to one.
fn problems(fit: &Posterior) -> Vec<String> {
    let name = |name: &str| match is_of_file(fit, name) {
        true => fit.name_of(name),
        false => "one of many quantities".into(),
    };
    let findings = fit.findings().iter().filter(|finding| finding.is_problem());
    let sentence = |finding: &Finding| match finding {
        Finding::LinksDisagree(_) => {
            "The chains disagree on the probability of being moved of some rows.".into()
        }
        other => other.clone().renamed(name).to_string(),
    };
    findings.map(sentence).collect()
}

fn notes(fit: &Posterior) -> Vec<String> {
    let Some(data) = &fit.data else {
        return Vec::new();
    };
    let dropped = data.notes.num_dropped;
    let mut notes = Vec::new();
    if dropped > 0 {
        notes.push(format!(
            "Rows left out because a value is missing: {}.",
            rounded(dropped)
        ));
    }
    let references = data.notes.references.iter();
    notes.extend(references.map(|reference| {
        let (column, level) = (&reference.column, &reference.level);
        format!("Coefficients of {column} are differences to `{level}`.")
    }));
    notes
}

fn facts(fit: &Posterior) -> Vec<(&'static str, String)> {
    let prior = &fit.config.permutation.prior;
    let is_audited = matches!(prior, Prior::BetaBinomial { audit: Some(_), .. });
    let is_told =
        |name: &str| FACTS.contains(&name) || (!is_audited && PRIOR_FACTS.contains(&name));
    let all = Provenance::new(fit).facts.into_iter();
    all.filter(|(name, _)| is_told(name)).collect()
}

/// Means of the observed and fitted responses of groups of neighbours; None where the file is too small for two groups.
fn groups_picture(rows: &[Row]) -> Option<Picture> {
    let points = |place: usize| -> Option<Vec<(f64, f64)>> {
        let pair = |row: &Row| Some((row.fitted?[place], row.response));
        let pairs: Option<Vec<(f64, f64)>> = rows.iter().map(pair).collect();
        Some(group_means(pairs?))
    };
    let (before, after) = (points(0)?, points(1)?);
    if before.len() < 2 {
        return None;
    }
    let all = || before.iter().chain(&after).flat_map(|(x, y)| [*x, *y]);
    let (low, high) = (
        all().fold(f64::INFINITY, f64::min),
        all().fold(f64::NEG_INFINITY, f64::max),
    );
    let panel = Panel::new("")
        .x(Axis::linear("mean of fitted"))
        .y(Axis::linear("mean of observed"))
        .height(300.0)
        .mark(Mark::dashed(EQUAL, vec![(low, low), (high, high)]))
        .mark(Mark::points(BEFORE, before.clone()))
        .mark(Mark::points(AFTER, after));
    let description = format!(
        "Means of observed against means of fitted responses in {} groups of rows, as linked and with each row at its best link.",
        before.len()
    );
    let figure = Figure::new("Observed against fitted, in groups", description)
        .width(560.0)
        .panel(panel)
        .legend(BEFORE, "as linked")
        .legend(AFTER, "each row at its best link");
    let caption = format!(
        "Rows in the order of their fitted value, in groups of at least {LEAST_ROWS}; each point is the mean of a group. Wrong links make the \
         observed means flatter than the dashed line."
    );
    Some(Picture::new(&figure, caption))
}

/// Means of neighbours by the first value, in groups of at least `LEAST_ROWS`.
fn group_means(mut pairs: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let num_groups = (pairs.len() / LEAST_ROWS).min(MOST_GROUPS);
    let start = |k: usize| k * pairs.len() / num_groups;
    let mean = |k: usize| {
        let group = &pairs[start(k)..start(k + 1)];
        let number = group.len() as f64;
        let sums = group.iter().fold((0.0, 0.0), |s, p| (s.0 + p.0, s.1 + p.1));
        (sums.0 / number, sums.1 / number)
    };
    (0..num_groups).map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::page;
    use crate::report::verdict_example::Example;

    /// The text of a page, in which slashes are written as entities.
    fn text(page: String) -> String {
        page.replace("&#x2f;", "/")
    }

    /// Ids, and responses that occur nowhere by chance.
    fn fit() -> Posterior {
        let example = Example {
            num_rows: 60,
            id: Some(|row| format!("person-{row}-x")),
            ..Example::default()
        };
        let mut fit = example.fit();
        for (k, row) in fit.rows.iter_mut().enumerate() {
            row.response = 20_041.3 + 117.317 * k as f64;
            row.fitted = Some([row.response + 0.3173, row.response + 0.1379]);
            row.block = Some(format!("village {k}"));
        }
        fit
    }

    /// What a row is recognised by: its id, its block, its response and its fitted value, exact and as tables show them.
    fn traces(row: &Row) -> Vec<(usize, String)> {
        let [before, after] = row.fitted.unwrap();
        let mut traces = vec![
            (0, row.id.clone().unwrap()),
            (1, row.block.clone().unwrap()),
        ];
        for (kind, value) in [(2, row.response), (3, before), (3, after)] {
            let digits = [0, 1, 2, 3].map(|digits| format!("{value:.digits$}"));
            traces.extend(
                digits
                    .into_iter()
                    .chain([value.to_string()])
                    .map(|text| (kind, text)),
            );
        }
        traces
    }

    #[test]
    fn no_row_can_be_found_in_it() {
        let fit = fit();
        let (whole, aggregate) = (text(page::html(&fit)), text(page::aggregate_html(&fit)));
        let mut num_in_whole = [0; 4];
        for row in &fit.rows {
            for (kind, trace) in traces(row) {
                assert!(!aggregate.contains(&trace), "{trace}");
                num_in_whole[kind] += usize::from(whole.contains(&trace));
            }
        }
        // The search sees what the ordinary report has: ids, blocks, responses and fitted values.
        assert!(
            num_in_whole.iter().all(|number| *number >= 50),
            "{num_in_whole:?}"
        );
    }

    #[test]
    fn neither_paths_nor_row_numbers_are_in_it() {
        let mut fit = fit();
        fit.config.data.id = Some("person".into());
        let aggregate = text(page::aggregate_html(&fit));
        assert!(text(page::html(&fit)).contains("/fits/example"));
        for trace in [
            "/fits",
            "data.csv",
            "config.json",
            "SHA-256",
            "row 3",
            "Row 3",
        ] {
            assert!(!aggregate.contains(trace), "{trace}");
        }
        for part in ["income", "Coefficients", "Use with care", "fewer than 10"] {
            assert!(aggregate.contains(part), "{part}");
        }
    }

    #[test]
    fn problems_name_no_row() {
        let mut example = Example {
            swaps_of_first_chain: vec![(4, 5), (8, 9)],
            ..Example::default()
        };
        example.num_rows = 30;
        let fit = example.fit();
        let all = problems(&fit).join(" ");
        assert!(
            all.contains("of some rows") && all.contains("n_moved"),
            "{all}"
        );
        assert!(!all.contains("row 5") && Verdict::new(&fit).text().contains("row 5"));
    }

    #[test]
    fn quantities_of_single_rows_are_left_out() {
        let mut fit = fit();
        for chain in &mut fit.chains {
            let column = chain.columns[0].clone();
            chain.names.push("shift.17".into());
            chain.columns.push(column);
        }
        fit.forget_summary();
        assert!(page::html(&fit).contains("shift.17"));
        assert!(!page::aggregate_html(&fit).contains("shift.17"));
    }

    #[test]
    fn groups_have_at_least_ten_rows() {
        let pairs: Vec<(f64, f64)> = (0..39).map(|k| (f64::from(k), 1.0)).collect();
        let means = group_means(pairs.clone());
        assert_eq!(means, [(6.0, 1.0), (19.0, 1.0), (32.0, 1.0)]);
        assert!(group_means(pairs[..9].to_vec()).is_empty());
        let many = (0..1000).map(|k| (f64::from(k), 0.0)).collect();
        assert_eq!(group_means(many).len(), MOST_GROUPS);
    }

    #[test]
    fn small_counts_are_not_told() {
        let shown = [0, 1, 9, 10].map(rounded);
        assert_eq!(
            shown,
            ["fewer than 10", "fewer than 10", "fewer than 10", "10"]
        );
    }
}
