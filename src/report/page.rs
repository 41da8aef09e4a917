//! Puts the sections into one self-contained HTML file.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment};
use serde::Serialize;

use super::coefficients::Coefficients;
use super::links::Links;
use super::posterior::Posterior;
use super::provenance::Provenance;
use super::saved::Saved;
use super::trust::Trust;
use super::verdict::Verdict;
use crate::plot::Figure;

/// A figure of the page, with the sentence below it.
#[derive(Debug, Clone, Serialize)]
pub struct Picture {
    pub svg: String,
    pub caption: String,
}

impl Picture {
    pub fn new(figure: &Figure, caption: impl Into<String>) -> Picture {
        Picture {
            svg: figure.svg(),
            caption: caption.into(),
        }
    }
}

/// Templates by name; the page includes one for each section.
const TEMPLATES: [(&str, &str); 8] = [
    ("page.html", include_str!("templates/page.html")),
    ("macros.html", include_str!("templates/macros.html")),
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

pub fn html(saved: &Saved) -> String {
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
    let page = environment.get_template("page.html").expect("added above");
    let sections = Sections {
        name: &saved.config.name,
        style: STYLE,
        script: SCRIPT,
        verdict: Verdict::new(saved),
        coefficients: Coefficients::new(saved),
        links: Links::new(saved),
        posterior: Posterior::new(saved),
        trust: Trust::new(saved),
        provenance: Provenance::new(saved),
    };
    let rendered = page.render(Serde(&sections));
    rendered.expect("the templates fit the sections")
}

/// What the templates see.
#[derive(Serialize)]
struct Sections<'a> {
    name: &'a str,
    style: &'a str,
    script: &'a str,
    verdict: Verdict,
    coefficients: Coefficients,
    /// None where every link was kept.
    links: Option<Links>,
    posterior: Posterior,
    trust: Trust,
    provenance: Provenance,
}
