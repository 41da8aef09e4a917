//! Puts the sections into one self-contained HTML file.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment};
use serde::Serialize;

use super::aggregate::Aggregate;
use super::card::Card;
use super::coefficients::CoefficientsSection;
use super::format::count;
use super::links::LinksSection;
use super::posterior::PosteriorSection;
use super::provenance::{Provenance, model_name};
use super::together::Together;
use super::trust::TrustSection;
use super::verdict::Verdict;
use crate::data::INTERCEPT;
use crate::plot::{self, Figure};
use crate::posterior::Posterior;
use crate::text::printable;

/// A figure of the page, with the sentence below it; the page has the style of all its figures once.
#[derive(Debug, Clone, Serialize)]
pub struct Picture {
    pub svg: String,
    pub caption: String,
}

impl Picture {
    pub fn new(figure: &Figure, caption: impl Into<String>) -> Picture {
        Picture {
            svg: figure.inline_svg(),
            caption: caption.into(),
        }
    }
}

/// Templates by name; the page includes one for each section.
const TEMPLATES: [(&str, &str); 12] = [
    ("page.html", include_str!("templates/page.html")),
    ("macros.html", include_str!("templates/macros.html")),
    ("aggregate.html", include_str!("templates/aggregate.html")),
    ("together.html", include_str!("templates/together.html")),
    ("card.html", include_str!("templates/card.html")),
    ("why.html", include_str!("templates/why.html")),
    ("verdict.html", include_str!("templates/verdict.html")),
    (
        "coefficients.html",
        include_str!("templates/coefficients.html"),
    ),
    ("links.html", include_str!("templates/links.html")),
    ("posterior.html", include_str!("templates/posterior.html")),
    ("trust.html", include_str!("templates/trust.html")),
    ("provenance.html", include_str!("templates/provenance.html")),
];
const STYLE: &str = include_str!("templates/style.css");
const SCRIPT: &str = include_str!("templates/script.js");

/// The report of a fit.
pub fn html(fit: &Posterior) -> String {
    let sections = Sections {
        name: &fit.config.name,
        subtitle: subtitle(fit),
        version: env!("CARGO_PKG_VERSION"),
        style: style(),
        script: SCRIPT,
        card: Card::new(fit),
        verdict: Verdict::new(fit),
        coefficients: CoefficientsSection::new(fit),
        links: LinksSection::new(fit),
        posterior: PosteriorSection::new(fit),
        trust: TrustSection::new(fit),
        provenance: Provenance::new(fit),
    };
    rendered("page.html", &sections)
}

/// The report of a fit without anything of single rows.
pub fn aggregate_html(fit: &Posterior) -> String {
    let page = AggregatePage {
        name: &fit.config.name,
        subtitle: subtitle(fit),
        version: env!("CARGO_PKG_VERSION"),
        style: style(),
        script: SCRIPT,
        aggregate: Aggregate::new(fit),
    };
    rendered("aggregate.html", &page)
}

/// The page of several fits.
pub fn together_html(fits: &[Posterior]) -> String {
    let page = TogetherPage {
        version: env!("CARGO_PKG_VERSION"),
        style: style(),
        script: SCRIPT,
        together: Together::new(fits),
    };
    rendered("together.html", &page)
}

fn style() -> String {
    format!("{STYLE}{}", plot::page_style())
}

fn rendered(template: &str, sections: &impl Serialize) -> String {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .build();
    environment.set_syntax(syntax.expect("the usual delimiters"));
    for (name, text) in TEMPLATES {
        let added = environment.add_template(name, text);
        added.expect("the templates are part of the program");
    }
    let page = environment.get_template(template).expect("added above");
    let rendered = page.render(Serde(sections));
    let page = rendered.expect("the templates fit the sections");
    printable(&page).into_owned()
}

/// What the templates see.
#[derive(Serialize)]
struct Sections<'a> {
    name: &'a str,
    /// The size and kind of the fit in one line.
    subtitle: String,
    version: &'a str,
    style: String,
    script: &'a str,
    card: Card,
    verdict: Verdict,
    coefficients: CoefficientsSection,
    /// None where every link was kept.
    links: Option<LinksSection>,
    posterior: PosteriorSection,
    trust: TrustSection,
    provenance: Provenance,
}

/// What the template of the aggregate report sees.
#[derive(Serialize)]
struct AggregatePage<'a> {
    name: &'a str,
    subtitle: String,
    version: &'a str,
    style: String,
    script: &'a str,
    aggregate: Aggregate,
}

/// What the template of several fits sees.
#[derive(Serialize)]
struct TogetherPage<'a> {
    version: &'a str,
    style: String,
    script: &'a str,
    together: Together,
}

fn subtitle(fit: &Posterior) -> String {
    let config = &fit.config;
    let mut parts = Vec::new();
    parts.extend(fit.num_rows().map(|n| format!("n = {n}")));
    let names = fit.predictors();
    let num_predictors = names.iter().filter(|name| **name != INTERCEPT).count();
    parts.push(count(num_predictors, "predictor"));
    let model = model_name(config);
    parts.push(match &fit.links {
        Some(_) => format!("{model} ({})", config.model.family()),
        None => format!("{model}, links kept"),
    });
    let draws = fit.chains.iter().map(|chain| chain.num_draws()).max();
    let num_chains = fit.chains.len();
    let plural = if num_chains == 1 { "" } else { "s" };
    parts.push(format!(
        "{num_chains} chain{plural} \u{d7} {}",
        count(draws.unwrap_or(0), "draw")
    ));
    parts.join(" \u{b7} ")
}
