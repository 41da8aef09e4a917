//! What formulas mean, and the sentence for every kind of bad one.

use super::expression::Undefined;
use super::*;

fn columns() -> Vec<String> {
    ["y", "a", "b", "c", "hours worked", "log(w)", "x.1"]
        .map(String::from)
        .to_vec()
}

fn formula(text: &str) -> Result<Formula, DataError> {
    let data = Data {
        formula: Some(text.into()),
        ..Data::new("f.csv", "", Vec::new())
    };
    Formula::new(&data, &columns(), "f.csv")
}

fn listed(response: &str, predictors: &[&str]) -> Result<Formula, DataError> {
    let predictors = predictors.iter().map(|text| text.to_string()).collect();
    Formula::new(
        &Data::new("f.csv", response, predictors),
        &columns(),
        "f.csv",
    )
}

/// The terms by name, with `1` for the intercept.
fn shown(formula: &Formula) -> String {
    let factor = |factor: &Factor| match factor {
        Factor::Column(name) => name.clone(),
        Factor::Category(name) => format!("C({name})"),
        Factor::Number(labelled) => labelled.label.clone(),
    };
    let term = |term: &Term| term.0.iter().map(factor).collect::<Vec<_>>().join(":");
    let intercept = formula.intercept.then(|| "1".to_string());
    let terms = formula.terms.iter().map(term);
    intercept
        .into_iter()
        .chain(terms)
        .collect::<Vec<_>>()
        .join(" + ")
}

#[test]
fn operators_make_terms_in_the_order_of_r() {
    for (text, terms) in [
        ("y ~ a", "1 + a"),
        ("y~b+a", "1 + b + a"),
        ("y ~ a:b + c", "1 + c + a:b"),
        ("y ~ a*b", "1 + a + b + a:b"),
        ("y ~ a*b*c", "1 + a + b + c + a:b + a:c + b:c + a:b:c"),
        ("y ~ (a + b + c)^2", "1 + a + b + c + a:b + a:c + b:c"),
        ("y ~ (a + b)**9", "1 + a + b + a:b"),
        ("y ~ a*b - a", "1 + b + a:b"),
        ("y ~ a*b - b:a", "1 + a + b"),
        ("y ~ (a + b):c - 1", "a:c + b:c"),
        ("y ~ 0 + a", "a"),
        ("y ~ -1 + a", "a"),
        ("y ~ 1 + a - 0", "1 + a"),
        ("y ~ a - 1 + 1", "1 + a"),
        ("y ~ a:a + a", "1 + a"),
        ("y ~ C(a) + a", "1 + C(a) + a"),
        ("y ~ I( a ^2)+I(a**2)", "1 + I(a^2)"),
        ("y ~ I(-a*(b+ 2.50)) ", "1 + I(-a * (b + 2.50))"),
        ("y ~ log( a/2 )*b", "1 + log(a / 2) + b + log(a / 2):b"),
        ("y ~ `hours worked` + x.1", "1 + hours worked + x.1"),
        ("y ~ sqrt(`hours worked`)", "1 + sqrt(`hours worked`)"),
    ] {
        assert_eq!(shown(&formula(text).unwrap()), terms, "{text}");
    }
}

/// A group as its column, intercept and terms.
fn group_of(text: &str) -> (String, bool, Vec<String>) {
    let formula = formula(text).unwrap();
    let group = formula.group.as_ref().unwrap();
    let terms = group.terms.iter().map(Term::to_string).collect();
    (group.column.clone(), group.intercept, terms)
}

#[test]
fn terms_by_group_stand_apart() {
    let group = |intercept: bool, terms: &[&str]| {
        let terms = terms.iter().map(|term| term.to_string()).collect();
        ("b".to_string(), intercept, terms)
    };
    assert_eq!(group_of("y ~ a + (1 | b)"), group(true, &[]));
    assert_eq!(group_of("y ~ (1 + a | b) + a"), group(true, &["a"]));
    assert_eq!(group_of("y ~ a + (a | b)"), group(true, &["a"]));
    assert_eq!(
        group_of("y ~ a + (0 + a + log(c) | b)"),
        group(false, &["a", "log(c)"])
    );
    let formula = formula("y ~ a + (1 + c | b)").unwrap();
    assert_eq!(shown(&formula), "1 + a");
    assert_eq!(formula.predictor_columns(), ["a", "c", "b"]);
    for (text, sentence) in [
        (
            "y ~ a + (1 | b):c",
            "data.formula is `y ~ a + (1 | b):c`; at character 16 `+`, `-` or the end behind terms by group was expected, not `:`",
        ),
        (
            "y ~ a + (1 | 2)",
            "data.formula is `y ~ a + (1 | 2)`; at character 14 the column of the groups was expected, not `2`",
        ),
        (
            "y ~ a | b",
            "data.formula is `y ~ a | b`; at character 7 an operator such as `+`, or the end, was expected, not `|`",
        ),
        (
            "y ~ a + (1 | b) + (1 | c)",
            "data.formula has several terms such as (1 | g), but one column of groups is taken; keep one, or write a program of \
             your own with columns in model.data",
        ),
    ] {
        assert_eq!(
            super::tests::formula(text).unwrap_err().to_string(),
            sentence
        );
    }
}

#[test]
fn lists_take_columns_as_they_are_and_terms_otherwise() {
    let found = listed("log(w)", &["hours worked", "a*b", "log(a)", "- 1"]).unwrap();
    assert_eq!(shown(&found), "hours worked + a + b + log(a) + a:b");
    assert_eq!(found.response_columns(), ["log(w)"]);
    let found = listed("log(y)", &["a"]).unwrap();
    assert_eq!(found.responses[0].label, "log(y)");
    assert_eq!(found.response_columns(), ["y"]);
    assert_eq!(found.predictor_columns(), ["a"]);
}

#[test]
fn arithmetic_follows_the_usual_rules() {
    let value = |text: &str| {
        let response = parse::response(text).unwrap();
        response.expression.value(&|name| match name {
            "a" => 3.0,
            "b" => -2.0,
            _ => 0.0,
        })
    };
    for (text, expected) in [
        ("1 + 2 * a", 7.0),
        ("(1 + 2) * a", 9.0),
        ("-a^2", -9.0),
        ("a^-1", 1.0 / 3.0),
        ("2^a^2", 512.0),
        ("10 - 4 - 3", 3.0),
        ("12 / a / 2", 2.0),
        ("a - -b", 1.0),
        ("abs(b) + I(a)", 5.0),
        ("log2(8) + log10(1e2) + exp(0) + sqrt(.25)", 6.5),
        ("log(exp(a))", 3.0),
        ("log1p(0)", 0.0),
        ("2e1 + 1.5e-1", 20.15),
    ] {
        assert_eq!(value(text), Ok(expected), "{text}");
    }
    for (text, part) in [
        ("log(b)", "log(-2)"),
        ("1 / c", "1 / 0"),
        ("a + sqrt(b)", "sqrt(-2)"),
        ("c^b", "0 ^ -2"),
    ] {
        assert_eq!(value(text), Err(Undefined(part.into())));
    }
}

#[test]
fn bad_formulas_say_where() {
    for (text, sentence) in [
        (
            "y ~ a + * b",
            "at character 9 a column, a function such as log(x), or I(...) was expected, not `*`",
        ),
        (
            "y ~ a +",
            "at character 8 a column, a function such as log(x), or I(...) was expected, but the text ends there",
        ),
        (
            "y ~ (a + b",
            "at character 11 an operator such as `+`, or `)`, was expected, but the text ends there",
        ),
        (
            "y ~ a b",
            "at character 7 an operator such as `+`, or the end, was expected, not `b`",
        ),
        (
            "y + a",
            "at character 6 an operator or `~` was expected, but the text ends there",
        ),
        (
            "~ a",
            "at character 1 a column, a number or a function such as log(x) was expected, not `~`",
        ),
        (
            "y ~ a / 2",
            "at character 7 `/` is arithmetic, which stands inside I(...), such as I(x / 2)",
        ),
        (
            "y ~ 2*a",
            "at character 5 `2` is arithmetic, which stands inside I(...), such as I(x / 2)",
        ),
        (
            "y ~ a^b",
            "at character 7 a whole number of 1 or more was expected, not `b`",
        ),
        (
            "y ~ lg(a)",
            "at character 5 `lg` is no function here; did you mean `log`?",
        ),
        (
            "y ~ factor(a)",
            "at character 5 `factor` is no function here; there are log, log2, log10, log1p, exp, sqrt, abs, I for \
             arithmetic and C for categories",
        ),
        (
            "y ~ I(C(a) + 1)",
            "at character 7 C(...) makes a category, which has no place in arithmetic",
        ),
        ("y ~ C(2)", "at character 7 a column was expected, not `2`"),
        (
            "y ~ a & b",
            "at character 7 `&` has no meaning; put the name of a column that has such characters in backticks",
        ),
        ("y ~ `a + b", "at character 5 the backtick is not closed"),
    ] {
        let message = formula(text).unwrap_err().to_string();
        assert_eq!(message, format!("data.formula is `{text}`; {sentence}"));
    }
}

#[test]
fn too_many_terms_are_refused_before_they_are_made() {
    let columns: Vec<String> = (1..=30).map(|k| format!("c{k}")).collect();
    for (text, at) in [
        (format!("y ~ ({})^30", columns.join(" + ")), 176),
        (format!("y ~ {}", columns.join("*")), 36),
    ] {
        let message = formula(&text).unwrap_err().to_string();
        let end = format!(
            "; at character {at} more than 2000 terms are made; ask for interactions of fewer columns"
        );
        assert!(message.ends_with(&end), "{message}");
    }
}

proptest::proptest! {
    /// Whatever is typed is a formula or a sentence.
    #[test]
    fn no_text_is_too_odd(text in "[yab1-9.e+*/^():~` CIlogé-]{0,24}") {
        let _ = formula(&text);
        let _ = formula(&format!("y ~ {text}"));
        let _ = listed(&text, &["a"]);
    }
}

#[test]
fn both_sides_need_columns_of_their_own() {
    let refused = |result: Result<Formula, DataError>| result.unwrap_err().to_string();
    assert_eq!(
        refused(formula("y ~ 1")),
        "data.formula has no predictor; add a column"
    );
    assert_eq!(
        refused(formula("2 ~ a")),
        "data.formula has the response `2`, in which there is no column; name the column of the response"
    );
    assert_eq!(
        refused(formula("log(a) ~ b + I(a^2)")),
        "`a` stands on both sides of data.formula; remove it from one of them"
    );
    assert_eq!(
        refused(listed("y", &["a", "y:b"])),
        "`y` is data.response and also in data.predictors; remove it from one of them"
    );
    assert_eq!(
        refused(listed("y", &["hours wrked"])),
        "f.csv: no column `hours wrked` (data.predictors); did you mean `hours worked`?"
    );
    assert_eq!(
        refused(listed("y", &["log(a"])),
        "data.predictors is `log(a`; at character 6 an operator or `)` was expected, but the text ends there"
    );
}
