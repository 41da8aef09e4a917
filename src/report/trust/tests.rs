//! The sections "Posterior" and "Trust" of made-up fits, as they stand in the page.

use roxmltree::Document;

use super::TrustSection;
use super::checks::Outcome;
use crate::config::Priors;
use crate::posterior::Posterior;
use crate::posterior::diagnostics::NUM_SUMMARIZED;
use crate::priors::{Law, PriorLine, PriorsUsed};
use crate::report::page;
use crate::report::posterior::PosteriorSection;
use crate::report::verdict::Verdict;

/// Every figure of the page, read as XML; each must say what it shows.
fn figures(fit: &Posterior) -> Vec<String> {
    let html = page::html(fit);
    let figures: Vec<String> = html
        .split("<svg ")
        .skip(1)
        .map(|rest| format!("<svg {}</svg>", rest.split("</svg>").next().unwrap()))
        .collect();
    for figure in &figures {
        let document = Document::parse(figure).unwrap_or_else(|error| panic!("{error}: {figure}"));
        for tag in ["title", "desc"] {
            let children = document.root_element().children();
            let text = children.filter(|node| node.has_tag_name(tag));
            let text: Vec<&str> = text.filter_map(|node| node.text()).collect();
            assert!(text.len() == 1 && !text[0].is_empty(), "{figure}");
        }
        assert!(
            !figure.contains("NaN") && !figure.contains("inf\""),
            "{figure}"
        );
    }
    figures
}

fn outcome(trust: &TrustSection, name: &str) -> Outcome {
    let check = trust.checks.iter().find(|check| check.name == name);
    check.expect("a check of this name").result
}

fn panel_titles(svg: &str) -> Vec<String> {
    let document = Document::parse(svg).unwrap();
    let titles = document.descendants();
    let titles = titles.filter(|node| node.attribute("class") == Some("us-panel-title"));
    titles
        .map(|node| node.text().unwrap().to_string())
        .collect()
}

#[test]
fn a_whole_fit_has_every_part() {
    let fit = Posterior::example(&[400; 4], 3)
        .with_links(50)
        .with_predictive();
    let trust = TrustSection::new(&fit);
    for part in [
        &trust.traces,
        &trust.ranks,
        &trust.energy,
        &trust.agreement,
        &trust.predictive,
    ] {
        assert!(part.picture.is_some(), "{:?}", part.missing);
    }
    assert_eq!(outcome(&trust, "divergences"), Outcome::Pass);
    assert_eq!(outcome(&trust, "R-hat"), Outcome::Pass);
    // The last chain always moves two rows that the others move half of the time.
    assert_eq!(outcome(&trust, "agreement of links"), Outcome::Problem);
    assert!(
        trust
            .in_short
            .contains("1 of 7 checks found a problem: agreement of links")
    );
    assert!(figures(&fit).len() >= 7);
    assert_eq!(page::html(&fit), page::html(&fit));
    let posterior = PosteriorSection::new(&fit);
    let titles = panel_titles(&posterior.parameters.unwrap().svg);
    assert_eq!(titles, ["(Intercept)", "x<1>", "x<2>"]);
    assert_eq!(panel_titles(&posterior.moved.unwrap().svg).len(), 2);
}

#[test]
fn without_links_nothing_is_said_of_them() {
    let fit = Posterior::example(&[400; 4], 2);
    let trust = TrustSection::new(&fit);
    assert!(trust.agreement.missing.is_some() && trust.predictive.missing.is_some());
    assert!(
        trust
            .checks
            .iter()
            .all(|check| !check.name.contains("links"))
    );
    assert!(PosteriorSection::new(&fit).moved.is_none());
    figures(&fit);
}

#[test]
fn a_posterior_far_from_its_prior_is_a_problem_with_a_remedy() {
    let with = |centre: f64| {
        let line = PriorLine {
            quantity: "beta.2".into(),
            label: "slope of x<1>".into(),
            law: Law::Normal {
                location: centre,
                scale: 2.0,
            },
        };
        let mut fit = Posterior::example(&[400; 4], 2).with_links(10).with_known();
        let data = fit.data.as_mut().unwrap();
        data.priors = Some(PriorsUsed {
            numbers: Priors::Scaled,
            program: None,
            filled: Vec::new(),
            centre: vec![0.0, 0.0],
            lines: vec![line],
        });
        fit.forget_summary();
        fit
    };
    assert_eq!(
        outcome(&TrustSection::new(&with(5.0)), "priors"),
        Outcome::Pass
    );
    let far = with(7.0);
    assert_eq!(
        outcome(&TrustSection::new(&far), "priors"),
        Outcome::Problem
    );
    let html = page::html(&far);
    for words in [
        "the posterior mean of x&lt;1&gt; is 3.5 standard deviations of its prior away from it",
        "Set model.priors to",
        "scaled to the file: slope of x&lt;1&gt;: normal(7, 2)",
    ] {
        assert!(html.contains(words), "{words}");
    }
}

#[test]
fn a_constant_or_broken_quantity_is_named_and_breaks_nothing() {
    let fit = Posterior::example(&[400; 4], 4)
        .with_column("beta.2", |_, _| 3.0)
        .with_column("beta.3", |chain, draw| match (chain, draw) {
            (1, 7) => f64::NAN,
            (2, 8) => f64::INFINITY,
            _ => draw as f64,
        });
    let posterior = PosteriorSection::new(&fit);
    let notes = posterior.notes.join(" ");
    assert!(
        notes.contains("x<1> = 3.000") && notes.contains("x<2>"),
        "{notes}"
    );
    assert_eq!(panel_titles(&posterior.parameters.unwrap().svg).len(), 2);
    let trust = TrustSection::new(&fit);
    assert_eq!(
        trust.convergence.rows[0].name, "x<2>",
        "not judged comes first"
    );
    assert_eq!(trust.convergence.rows.last().unwrap().name, "x<1>");
    assert_eq!(outcome(&trust, "R-hat"), Outcome::Unknown);
    figures(&fit);

    let stuck = Posterior::example(&[400; 4], 2).with_column("beta.2", |chain, draw| match chain {
        2 => 0.25,
        _ => (draw * 7919 % 400) as f64,
    });
    let svg = PosteriorSection::new(&stuck).parameters.unwrap().svg;
    assert!(svg.contains("chain 3 never moves"));
    figures(&stuck);
}

#[test]
fn one_chain_is_not_judged_as_several() {
    let fit = Posterior::example(&[4000], 2).with_links(20);
    let trust = TrustSection::new(&fit);
    for part in [&trust.ranks, &trust.agreement] {
        assert!(part.missing.as_ref().unwrap().contains("sampler.chains"));
    }
    assert_eq!(outcome(&trust, "R-hat"), Outcome::Unknown);
    assert_eq!(outcome(&trust, "agreement of links"), Outcome::Unknown);
    figures(&fit);
}

#[test]
fn short_and_uneven_chains_are_drawn() {
    for lengths in [
        &[4, 4][..],
        &[1, 1],
        &[3],
        &[0, 5],
        &[400, 130, 7],
        &[60, 50, 70, 90],
    ] {
        let fit = Posterior::example(lengths, 3)
            .with_links(10)
            .with_predictive();
        let trust = TrustSection::new(&fit);
        assert_eq!(
            trust.ranks.picture.is_some(),
            lengths.len() == 4,
            "{lengths:?}"
        );
        assert_eq!(trust.sampler.len(), lengths.len());
        assert_ne!(outcome(&trust, "agreement of links"), Outcome::Pass);
        figures(&fit);
    }
}

#[test]
fn many_parameters_keep_the_limits() {
    let fit = Posterior::example(&[250; 4], 200)
        .with_links(30)
        .with_column("beta.150", |chain, draw| {
            (10 * chain) as f64 + (draw * 7919 % 250) as f64 / 250.0
        });
    let posterior = PosteriorSection::new(&fit);
    let titles = panel_titles(&posterior.parameters.unwrap().svg);
    assert_eq!(titles.len(), 24);
    assert_eq!(
        (titles[0].as_str(), titles[12].as_str()),
        ("(Intercept)", "x<149>")
    );
    assert!(
        posterior.notes[0].contains("Of 200 parameters"),
        "{:?}",
        posterior.notes
    );
    let trust = TrustSection::new(&fit);
    assert_eq!(
        (trust.convergence.rows.len(), trust.convergence.num_more),
        (40, 163)
    );
    assert!(trust.convergence.rows[0].r_hat.bad);
    let r_hats = trust
        .convergence
        .rows
        .iter()
        .map(|row| row.r_hat.text.parse::<f64>().unwrap());
    assert!(r_hats.collect::<Vec<_>>().is_sorted_by(|a, b| a >= b));
    let traces = panel_titles(&trust.traces.picture.unwrap().svg);
    assert!(
        traces.len() == 8 && traces[0].starts_with("x<149> (R-hat"),
        "{traces:?}"
    );
    assert!(
        traces.iter().any(|title| title.starts_with("n_moved")),
        "{traces:?}"
    );
    assert_eq!(panel_titles(&trust.ranks.picture.unwrap().svg).len(), 8);
    figures(&fit);
}

#[test]
fn divergences_are_counted_and_marked() {
    let divergent = |chain, draw| f64::from(u8::from(chain == 1 && draw % 100 == 0));
    let fit = Posterior::example(&[400; 4], 2).with_column("divergent__", divergent);
    let trust = TrustSection::new(&fit);
    assert_eq!(outcome(&trust, "divergences"), Outcome::Problem);
    let counts: Vec<usize> = trust
        .sampler
        .iter()
        .map(|row| row.num_divergences)
        .collect();
    assert_eq!(counts, [0, 4, 0, 0]);
    let traces = trust.traces.picture.unwrap();
    assert!(traces.svg.contains("4 divergent transitions marked"));
    assert!(traces.svg.contains(">divergent transition<"));
    let without = TrustSection::new(&Posterior::example(&[400; 4], 2));
    assert!(
        !without
            .traces
            .picture
            .unwrap()
            .svg
            .contains(">divergent transition<")
    );

    let everywhere = Posterior::example(&[400; 4], 2).with_column("divergent__", |_, _| 1.0);
    let caption = TrustSection::new(&everywhere)
        .traces
        .picture
        .unwrap()
        .caption;
    assert!(caption.contains("(200 of 1600)"), "{caption}");
}

#[test]
fn of_many_rows_those_that_disagree_most_are_drawn() {
    let fit = Posterior::example(&[40; 4], 2).with_links(20_000);
    figures(&fit);
    let picture = TrustSection::new(&fit).agreement.picture.unwrap();
    assert_eq!(picture.svg.matches("<title>row ").count(), 500);
    assert!(
        picture.caption.contains("Of 80000 points"),
        "{}",
        picture.caption
    );
    let worst = "row 1 (id &lt;0&gt;), chain 4: 1.0, others 0.50";
    assert!(picture.svg.contains(worst));
}

#[test]
fn pages_verdicts_and_findings_summarise_each_quantity_once() {
    let fit = Posterior::example(&[100; 4], 3).with_links(10).with_known();
    let before = NUM_SUMMARIZED.get();
    page::html(&fit);
    page::html(&fit);
    Verdict::new(&fit);
    fit.all_findings();
    assert_eq!(NUM_SUMMARIZED.get() - before, fit.summary().len());
}
