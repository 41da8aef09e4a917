//! Arithmetic on the columns of one row.

/// A function of one number by its name in formulas.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Function {
    pub(super) name: &'static str,
    value: fn(f64) -> f64,
}

pub(super) const FUNCTIONS: [Function; 7] = [
    Function {
        name: "log",
        value: f64::ln,
    },
    Function {
        name: "log2",
        value: f64::log2,
    },
    Function {
        name: "log10",
        value: f64::log10,
    },
    Function {
        name: "log1p",
        value: f64::ln_1p,
    },
    Function {
        name: "exp",
        value: f64::exp,
    },
    Function {
        name: "sqrt",
        value: f64::sqrt,
    },
    Function {
        name: "abs",
        value: f64::abs,
    },
];

#[derive(Debug, Clone)]
pub(crate) enum Expression {
    Number(f64),
    Column(String),
    Negative(Box<Expression>),
    Binary(char, Box<Expression>, Box<Expression>),
    Call(Function, Box<Expression>),
}

/// The part of an expression that is not a finite number in some row, with the values it had there.
#[derive(Debug, PartialEq)]
pub(crate) struct Undefined(pub(crate) String);

impl Expression {
    /// Adds the columns it uses, each once.
    pub(crate) fn columns<'a>(&'a self, into: &mut Vec<&'a str>) {
        match self {
            Expression::Number(_) => {}
            Expression::Column(name) => {
                if !into.contains(&name.as_str()) {
                    into.push(name);
                }
            }
            Expression::Negative(inner) | Expression::Call(_, inner) => inner.columns(into),
            Expression::Binary(_, left, right) => {
                left.columns(into);
                right.columns(into);
            }
        }
    }

    /// `of` gives the value of a column.
    pub(crate) fn value(&self, of: &impl Fn(&str) -> f64) -> Result<f64, Undefined> {
        let finite = |value: f64, words: &dyn Fn() -> String| {
            if value.is_finite() {
                Ok(value)
            } else {
                Err(Undefined(words()))
            }
        };
        match self {
            Expression::Number(value) => Ok(*value),
            Expression::Column(name) => Ok(of(name)),
            Expression::Negative(inner) => Ok(-inner.value(of)?),
            Expression::Call(function, inner) => {
                let inner = inner.value(of)?;
                let words = || format!("{}({inner})", function.name);
                finite((function.value)(inner), &words)
            }
            Expression::Binary(operator, left, right) => {
                let (left, right) = (left.value(of)?, right.value(of)?);
                let value = match operator {
                    '+' => left + right,
                    '-' => left - right,
                    '*' => left * right,
                    '/' => left / right,
                    // The most frequent power, exactly as I(x * x) has it.
                    '^' if right == 2.0 => left * left,
                    '^' => left.powf(right),
                    other => unreachable!("the parser reads no operator {other}"),
                };
                finite(value, &|| format!("{left} {operator} {right}"))
            }
        }
    }
}
