//! The coefficients by method on one scale: differences from the fit as linked, in its standard errors.

use crate::data::INTERCEPT;
use crate::plot::{Axis, Figure, Interval, Mark, Panel, Series, dodge};
use crate::posterior::{Coefficient, Method, Posterior};
use crate::report::format::significant;
use crate::report::page::Picture;

/// Coefficients drawn; coefficients.csv has all.
const MOST_DRAWN: usize = 30;

/// In the order of the legend; the fit as linked is the line at 0.
const METHODS: [(Method, &str); 7] = [
    (Method::Recommended, "recommended"),
    (Method::Joint, "joint posterior"),
    (Method::Huber, "Huber"),
    (Method::Mixture, "row mixture"),
    (Method::KnownRate, "known rate"),
    (Method::RobustMixture, "robust mixture"),
    (Method::Weighted, "rows weighted"),
];

pub fn picture(fit: &Posterior) -> Result<Picture, String> {
    let all = names(&fit.coefficients);
    if all.is_empty() {
        return Err("Coefficients by method are not drawn: coefficients.csv has no estimate with the links as given.".into());
    }
    // The recommended coefficients are often those of the joint posterior.
    let source = fit.trust.as_ref().map(|trust| trust.source);
    let shown: Vec<(Method, &str)> = METHODS
        .into_iter()
        .filter(|(method, _)| *method != Method::Recommended || source != Some(Method::Joint))
        .filter(|(method, _)| fit.coefficients_by(*method).next().is_some())
        .collect();
    let names = &all[..all.len().min(MOST_DRAWN)];
    let mut panel = Panel::new("")
        .x(Axis::linear(
            "difference from the fit as linked, in its standard errors",
        ))
        .y(Axis::categories("", names.iter().copied()).reversed());
    for (k, (method, _)) in shown.iter().enumerate() {
        let bars = names.iter().enumerate().filter_map(|(place, name)| {
            let at = place as f64 + dodge(k, shown.len());
            scaled(&fit.coefficients, *method, name, at)
        });
        panel = panel.mark(Mark::intervals_across(Series(k), bars.collect()));
    }
    let panel = panel.mark(Mark::rule_at_x(0.0, "as linked"));
    let title = "Coefficients by method, on one scale";
    let mut figure = Figure::new(title, description(fit, names, &shown)).panel(panel);
    for (k, (method, label)) in shown.iter().enumerate() {
        let is_source = source == Some(*method) && *method != Method::Recommended;
        let label = format!("{label}{}", if is_source { " (recommended)" } else { "" });
        figure = figure.legend(Series(k), label);
    }
    let mut caption = "Each method's estimate with its 90 % interval, less the estimate of the same program with every link kept, in that one's standard errors: \
                       coefficients of any unit stand on one axis, the intercept last. Methods that agree with each other and differ from 0 support wrong links as the reason."
        .to_string();
    if names.len() < all.len() {
        caption += &format!(
            " Only the first {} of {} coefficients are drawn; coefficients.csv has all.",
            names.len(),
            all.len()
        );
    }
    Ok(Picture::new(&figure, caption))
}

/// The coefficients that have an estimate as linked with a standard error, the intercept last.
fn names(all: &[Coefficient]) -> Vec<&str> {
    let linked = all
        .iter()
        .filter(|c| c.method == Method::AsLinked && c.sd > 0.0);
    let names = linked.map(|c| c.name.as_str());
    let (intercept, mut names): (Vec<&str>, Vec<&str>) = names.partition(|name| *name == INTERCEPT);
    names.extend(intercept);
    names
}

fn found<'a>(all: &'a [Coefficient], method: Method, name: &str) -> Option<&'a Coefficient> {
    all.iter().find(|c| c.method == method && c.name == name)
}

fn scaled(all: &[Coefficient], method: Method, name: &str, at: f64) -> Option<Interval> {
    let linked = found(all, Method::AsLinked, name)?;
    let own = found(all, method, name)?;
    let scaled = |value: f64| (value - linked.estimate) / linked.sd;
    Some(Interval {
        at,
        low: scaled(own.q5),
        high: scaled(own.q95),
        inner: None,
        mid: scaled(own.estimate),
    })
}

fn description(fit: &Posterior, names: &[&str], shown: &[(Method, &str)]) -> String {
    let of_name = |name: &&str| {
        let values = shown.iter().filter_map(|(method, label)| {
            let bar = scaled(&fit.coefficients, *method, name, 0.0)?;
            Some(format!("{label} {}", significant(bar.mid, 2)))
        });
        format!("{name}: {}", values.collect::<Vec<_>>().join(", "))
    };
    format!(
        "{}.",
        names.iter().map(of_name).collect::<Vec<_>>().join(". ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coefficient(name: &str, method: Method, estimate: f64, sd: f64) -> Coefficient {
        Coefficient {
            name: name.into(),
            method,
            estimate,
            sd,
            q5: estimate - sd,
            q95: estimate + sd,
        }
    }

    fn fit() -> Posterior {
        let mut fit = Posterior::example(&[50; 2], 2);
        fit.coefficients = vec![
            coefficient(INTERCEPT, Method::Joint, 105.0, 20.0),
            coefficient("x<1>", Method::Joint, 1.3, 0.1),
            coefficient(INTERCEPT, Method::AsLinked, 100.0, 10.0),
            coefficient("x<1>", Method::AsLinked, 1.0, 0.1),
            coefficient("no standard error", Method::AsLinked, 1.0, 0.0),
        ];
        fit
    }

    #[test]
    fn differences_are_in_standard_errors_as_linked_and_the_intercept_is_last() {
        let fit = fit();
        assert_eq!(names(&fit.coefficients), ["x<1>", INTERCEPT]);
        let slope = scaled(&fit.coefficients, Method::Joint, "x<1>", 0.0).unwrap();
        assert!((slope.mid - 3.0).abs() < 1e-12 && (slope.low - 2.0).abs() < 1e-12);
        let intercept = scaled(&fit.coefficients, Method::Joint, INTERCEPT, 0.0).unwrap();
        assert!((intercept.mid - 0.5).abs() < 1e-12 && (intercept.high - 2.5).abs() < 1e-12);
        let svg = picture(&fit).unwrap().svg;
        assert!(
            svg.contains("x&lt;1&gt;: joint posterior 3.0. (Intercept): joint posterior 0.50.")
        );
    }

    #[test]
    fn without_a_fit_as_linked_there_is_no_picture() {
        let mut fit = fit();
        fit.coefficients.retain(|c| c.method != Method::AsLinked);
        assert!(picture(&fit).unwrap_err().contains("coefficients.csv"));
    }
}
