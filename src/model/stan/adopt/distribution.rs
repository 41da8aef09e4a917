//! The distributions of one number that can be adopted, and integer ones written again for a response that is real.

/// A distribution by the name that stands behind `~`.
#[derive(Debug)]
pub(super) struct Distribution {
    pub name: &'static str,
    /// What its arguments are, as names for local variables.
    pub arguments: &'static [&'static str],
    /// The log mass of an integer response in real arithmetic, since no `_lpmf` takes the latent response.
    formula: Option<&'static str>,
}

/// A regression in one call, `f(y | X, intercept, slopes, ...)`, and the distribution of each row.
const GLMS: [(&str, &str); 4] = [
    ("normal_id_glm", "normal"),
    ("poisson_log_glm", "poisson_log"),
    ("bernoulli_logit_glm", "bernoulli_logit"),
    ("neg_binomial_2_log_glm", "neg_binomial_2_log"),
];

const fn real(name: &'static str, arguments: &'static [&'static str]) -> Distribution {
    Distribution {
        name,
        arguments,
        formula: None,
    }
}

const fn integer(
    name: &'static str,
    arguments: &'static [&'static str],
    formula: &'static str,
) -> Distribution {
    Distribution {
        name,
        arguments,
        formula: Some(formula),
    }
}

/// Only those whose support is the same for every row: a response must be possible wherever it is linked.
const KNOWN: [Distribution; 26] = [
    real("normal", &["location", "scale"]),
    real("std_normal", &[]),
    real("student_t", &["degrees", "location", "scale"]),
    real("double_exponential", &["location", "scale"]),
    real("cauchy", &["location", "scale"]),
    real("logistic", &["location", "scale"]),
    real("gumbel", &["location", "scale"]),
    real("skew_normal", &["location", "scale", "shape"]),
    real("exp_mod_normal", &["location", "scale", "rate"]),
    real(
        "skew_double_exponential",
        &["location", "scale", "skewness"],
    ),
    real("lognormal", &["location", "scale"]),
    real("gamma", &["shape", "rate"]),
    real("inv_gamma", &["shape", "scale"]),
    real("exponential", &["rate"]),
    real("weibull", &["shape", "scale"]),
    real("frechet", &["shape", "scale"]),
    real("loglogistic", &["scale", "shape"]),
    real("rayleigh", &["scale"]),
    real("beta", &["shape_a", "shape_b"]),
    real("beta_proportion", &["location", "precision"]),
    integer(
        "poisson",
        &["rate"],
        "lmultiply(y, rate) - rate - lgamma(y + 1)",
    ),
    integer(
        "poisson_log",
        &["log_rate"],
        "y .* log_rate - exp(log_rate) - lgamma(y + 1)",
    ),
    integer(
        "bernoulli",
        &["probability"],
        "lmultiply(y, probability) + lmultiply(1 - y, 1 - probability)",
    ),
    integer(
        "bernoulli_logit",
        &["log_odds"],
        "y .* log_odds - log1p_exp(log_odds)",
    ),
    integer(
        "neg_binomial_2",
        &["mean_count", "precision"],
        "lgamma(y + precision) - lgamma(y + 1) - lgamma(precision) + lmultiply(y, mean_count) \
         + precision .* log(precision) - (y + precision) .* log(mean_count + precision)",
    ),
    integer(
        "neg_binomial_2_log",
        &["log_mean", "precision"],
        "lgamma(y + precision) - lgamma(y + 1) - lgamma(precision) + y .* log_mean \
         + precision .* log(precision) - (y + precision) .* log(exp(log_mean) + precision)",
    ),
];

impl Distribution {
    pub fn find(name: &str) -> Option<&'static Distribution> {
        KNOWN.iter().find(|known| known.name == name)
    }

    /// The distribution of each row of a regression in one call.
    pub fn of_glm(name: &str) -> Option<&'static Distribution> {
        let (_, row) = GLMS.iter().find(|(glm, _)| *glm == name)?;
        Distribution::find(row)
    }

    pub fn is_integer(&self) -> bool {
        self.formula.is_some()
    }

    /// What a program calls: Stan's own density, or the helper.
    pub fn function(&self) -> String {
        let real = if self.is_integer() { "_real" } else { "" };
        format!("{}{real}_lpdf", self.name)
    }

    /// Stan functions for all rows at once and for one row; None where Stan's own will do.
    pub fn helper(&self) -> Option<String> {
        let formula = self.formula?;
        let function = self.function();
        let arguments = |kind: &str| -> String {
            let names = self.arguments.iter();
            names.map(|name| format!(", {kind} {name}")).collect()
        };
        let of_rows = arguments("vector");
        let of_row = arguments("real");
        let scalar = formula.replace(" .* ", " * ");
        Some(format!(
            "// The log mass of {}, of responses that are kept as real numbers: all rows, and one.\n\
             real {function}(vector y{of_rows}) {{\n  return sum({formula});\n}}\n\
             real {function}(real y{of_row}) {{\n  return {scalar};\n}}",
            self.name
        ))
    }
}

/// The names that can be adopted, for a message.
pub(super) fn known_names() -> String {
    let names = KNOWN.iter().map(|known| known.name);
    let all: Vec<&str> = names.chain(GLMS.iter().map(|(glm, _)| *glm)).collect();
    all.join(", ")
}
