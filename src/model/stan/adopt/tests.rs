//! Whole programs: what changes and what stays, and every refusal; stanc's answers are made up.

use super::*;

const DATA: &str = "data { int N; vector[N] x; vector[N] y; int M; }\n";
const PARAMETERS: &str = "parameters { real a; real b; real<lower=0> s; }\n";

/// A few arguments are scalars, and all others vectors.
fn stanc(text: &str) -> Result<bool, StanError> {
    let scalars = ["1", "a", "b", "s"].map(|value| format!("{{ real adopted = {value}; }}"));
    Ok(text.contains("{ vector[1] adopted") || scalars.iter().any(|probe| text.contains(probe)))
}

fn refusal(program: &str) -> String {
    let error = adopt(program, "m.stan", "y", &stanc).unwrap_err();
    error.to_string()
}

/// The refusal of a model block, behind `m.stan, line 3: `.
fn model_refusal(model: &str) -> String {
    let message = refusal(&format!("{DATA}{PARAMETERS}model {{ {model} }}"));
    let sentence = message.strip_prefix("m.stan, line 3: ");
    sentence.unwrap_or_else(|| panic!("{message}")).to_string()
}

fn adopted(model: &str) -> Adopted {
    let program = format!("{DATA}{PARAMETERS}model {{\n{model}\n}}\n");
    adopt(&program, "m.stan", "y", &stanc).unwrap()
}

#[test]
fn only_what_must_change_changes() {
    let program = "// Title\ndata {\n  int N; // rows\n  int K;\n  matrix[N, K] X;\n\n  vector[N] y;\n}\n\
                   parameters {\n  vector[K] b; /* slopes */\n}\nmodel {\n  b ~ normal(0, 1); // y ~ y\n  y ~ normal(X * b, 1);\n}";
    let adopted = adopt(program, "m.stan", "y", &stanc).unwrap();
    assert_eq!(
        adopted.text,
        "// Title\ndata {\n  int N; // rows\n  int D;\n  matrix[N, D] X;\n\n  \
         real<lower=0, upper=1> alpha;  // temperature of the likelihood, set by unshuffle\n}\n\
         parameters {\n  vector[D] b; /* slopes */\n  \
         vector[N] y;  // set by unshuffle: the response that is linked to each row of X\n}\n\
         model {\n  b ~ normal(0, 1); // y ~ y\n  target += alpha * normal_lpdf(y | X * b, 1);\n}\n\
         generated quantities {\n  vector[N] log_lik;  // of each row, without alpha: what the links are sampled with\n  \
         {\n    vector[N] location = X * b;\n    for (n in 1:N) {\n      \
         log_lik[n] = normal_lpdf(y[n] | location[n], 1);\n    }\n  }\n}\n"
    );
    let lines: Vec<usize> = adopted.changes.iter().map(|change| change.line).collect();
    assert_eq!(lines, [4, 7, 8, 14, 15]);
}

#[test]
fn names_that_mean_something_else_make_room() {
    let program = "data { int n; int N; real D; vector[n] X; array[n] int<lower=0> y; }\n\
                   parameters { real alpha; }\nmodel { y ~ poisson_log(alpha + D * X * N); }";
    let adopted = adopt(program, "m.stan", "y", &stanc).unwrap();
    for part in [
        "int N; int N0; real D0;",
        "vector[N] x = X[ : , 1];",
        "poisson_log_real_lpdf(y | alpha0 + D0 * x * N0)",
    ] {
        assert!(adopted.text.contains(part), "{part}\n{}", adopted.text);
    }
    let entries: Vec<&str> = adopted
        .entries
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(entries, ["N0", "D0"]);
}

#[test]
fn what_the_likelihood_needs_is_copied_and_nothing_else() {
    let text = adopted(
        "  real c, d = 2;\n  real unused = 3;\n  vector[N] m;\n  c = 1;\n  a ~ normal(0, unused);\n  \
         for (k in 1:M) { b ~ normal(0, c); m = a + b * x * c; }\n  y ~ normal(m, s);",
    )
    .text;
    let copy = text.split("log_lik;").nth(1).unwrap();
    assert!(
        copy.contains("real c, d = 2;\n    vector[N] m;\n    c = 1;\n"),
        "{copy}"
    );
    assert!(copy.contains("{ ; m = a + b * x * c; }"), "{copy}");
    assert!(!copy.contains("unused"), "{copy}");
}

#[test]
fn every_form_of_a_likelihood_is_read() {
    let cases = [
        (
            "y ~ cauchy(x, s);",
            "target += alpha * cauchy_lpdf(y | x, s);",
        ),
        (
            "target += normal_lupdf(y | x, s);",
            "target += alpha * normal_lpdf(y | x, s);",
        ),
        (
            "for (i in 1:N) y[i] ~ gamma(a, b);",
            "for (i in 1:N) target += alpha * gamma_lpdf(y[i] | a, b);",
        ),
        (
            "profile(\"y\") { y ~ std_normal(); }",
            "{ target += alpha * std_normal_lpdf(y | ); }",
        ),
        (
            "y ~ normal(fma(a, b, x), s);",
            "normal_lpdf(y | fma(a, b, x), s);",
        ),
    ];
    for (model, expected) in cases {
        let text = adopted(model).text;
        assert!(text.contains(expected), "{expected}\n{text}");
    }
}

#[test]
fn a_log_lik_of_the_users_own_stays() {
    let program = format!(
        "{DATA}{PARAMETERS}model {{ y ~ normal(x, s); }}\n\
         generated quantities {{ vector[N] log_lik; for (n in 1:N) log_lik[n] = normal_lpdf(y[n] | x[n], s); }}"
    );
    let adopted = adopt(&program, "m.stan", "y", &stanc).unwrap();
    assert_eq!(adopted.text.matches("vector[N] log_lik").count(), 1);
    assert!(
        adopted
            .changes
            .iter()
            .any(|change| change.what.starts_with("your log_lik stays"))
    );
}

#[test]
fn models_that_cannot_be_adopted_are_told_why() {
    let cases = [
        (
            "a ~ normal(0, 1);",
            "m.stan: the model block does not use `y`, so there is no likelihood to adopt",
        ),
        (
            "y ~ normal(a, s) T[0, ];",
            "the truncation `T[...]` is not adopted",
        ),
        (
            "target += normal_lpdf(y | a, s) - normal_lccdf(0 | a, s);",
            "`normal_lccdf` censors the response",
        ),
        (
            "target += log_sum_exp(normal_lpdf(y | a, s), 0);",
            "`log_sum_exp` makes a mixture",
        ),
        (
            "if (N > 3) y ~ normal(a, s);",
            "the likelihood stands under `if` or `while`",
        ),
        (
            "if (y[1] > 3) a ~ normal(0, s);",
            "the likelihood stands under `if` or `while`",
        ),
        (
            "y ~ normal(x, s); y ~ normal(x, 2);",
            "`y` is used 2 times in the model block",
        ),
        (
            "for (n in 2:N) y[n] ~ normal(a, s);",
            "the likelihood does not run once over all rows",
        ),
        (
            "for (n in 1:N) y[M] ~ normal(a, s);",
            "the likelihood does not run once over all rows",
        ),
        (
            "for (n in 1:M) y ~ normal(a, s);",
            "the likelihood does not run once over all rows",
        ),
        (
            "y[1:M] ~ normal(a, s);",
            "the likelihood does not run once over all rows",
        ),
        (
            "log(y) ~ normal(a, s);",
            "the likelihood is of `log(y)`, not of `y` itself",
        ),
        (
            "a ~ normal(mean(y), s);",
            "`y` is used as an argument, not as the outcome",
        ),
        (
            "target += normal_lpdf(y | a, s) + 1;",
            "adopt does not see a likelihood of `y` in this statement",
        ),
        (
            "y ~ multi_normal(x, s);",
            "`multi_normal` is not among the distributions that adopt knows (normal, ",
        ),
    ];
    for (model, expected) in cases {
        let message = match expected.starts_with("m.stan") {
            true => refusal(&format!("{DATA}{PARAMETERS}model {{ {model} }}")),
            false => model_refusal(model),
        };
        assert!(message.starts_with(expected), "{model}\n{message}");
    }
}

#[test]
fn other_blocks_that_cannot_be_adopted_are_told_why() {
    let model = "model { y ~ normal(0, 1); }";
    let cases = [
        (
            format!("data {{ int N; matrix[N, 2] y; }} {model}"),
            "m.stan, line 1: `y` is declared as `matrix[N, 2]`, but",
        ),
        (
            format!("data {{ int N; vector[2 * N] y; }} {model}"),
            "m.stan, line 1: `y` is declared as `vector[2 * N]`, but",
        ),
        (
            format!("data {{ real y; }} {model}"),
            "m.stan, line 1: `y` is declared as `real`, but",
        ),
        (
            format!("data {{ int N; vector[N] x, y; }} {model}"),
            "m.stan, line 1: `y` shares its declaration",
        ),
        (
            format!("data {{ int N; vector[N] y, x; }} {model}"),
            "m.stan, line 1: `y` shares its declaration",
        ),
        (
            format!("data {{ int N; vector[N] z; }} {model}"),
            "m.stan: `data` has no `y`; name the response with --response, one of N, z",
        ),
        (
            format!("parameters {{ vector[2] y; }} {model}"),
            "m.stan: `y` stands in `parameters` already",
        ),
        (
            format!("{DATA} {model}"),
            "m.stan: the program has no `parameters` block",
        ),
        (
            format!("{DATA}transformed data {{ real z = mean(y); }} {PARAMETERS} {model}"),
            "m.stan, line 2: `y` is used in `transformed data`",
        ),
        (
            format!("{DATA}{PARAMETERS}transformed parameters {{ real z = a - y[1]; }} {model}"),
            "m.stan, line 3: `y` is used in `transformed parameters`",
        ),
        (
            format!("{DATA}{PARAMETERS}model {{\n#include m.stan\n}}"),
            "m.stan, line 4: an #include outside of the functions block",
        ),
        (
            format!(
                "functions {{ real f_lpdf(vector y, real a) {{ return a; }} }}\n{DATA}{PARAMETERS}model {{ y ~ f(a); }}"
            ),
            "m.stan, line 4: `f` is your own function of all rows at once",
        ),
    ];
    for (program, expected) in cases {
        let message = refusal(&program);
        assert!(message.starts_with(expected), "{program}\n{message}");
    }
}

#[test]
fn a_function_of_the_users_own_is_adopted_in_a_loop() {
    let program = format!(
        "functions {{\n#include f.stan\n  real f_lpdf(real y, real a) {{ return a; }}\n}}\n{DATA}{PARAMETERS}\
         model {{ for (n in 1:N) y[n] ~ f(a); }}"
    );
    let text = adopt(&program, "m.stan", "y", &stanc).unwrap().text;
    assert!(
        text.contains("for (n in 1:N) log_lik[n] = f_lpdf(y[n] | a);"),
        "{text}"
    );
}

#[test]
fn the_config_gives_what_the_program_takes() {
    let adopted = adopted("y ~ normal(a + b * x, s);");
    let config: serde_json::Value =
        serde_json::from_str(&adopted.starting_config("m.stan")).unwrap();
    assert_eq!(
        config["model"]["data"],
        serde_json::json!({"M": "fill in: int"})
    );
    assert_eq!(config["data"]["predictors"], serde_json::json!(["x"]));
    assert_eq!(config["data"]["intercept"], false);
    assert_eq!(adopted.notes(), ["model.data must give M (int)."]);
}
