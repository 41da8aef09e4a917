//! Sums of interactions, as `+`, `-`, `:`, `*` and `^` make them.

use std::fmt;

use super::expression::Expression;

/// What stands between the colons of an interaction.
#[derive(Debug, Clone)]
pub(crate) enum Factor {
    /// A column: its numbers, or its levels when it holds categories.
    Column(String),
    /// A column whose values are levels even if they look like numbers: `C(column)`.
    Category(String),
    Number(Labelled),
}

/// An expression in the user's words.
#[derive(Debug, Clone)]
pub(crate) struct Labelled {
    pub(crate) label: String,
    pub(crate) expression: Expression,
}

impl PartialEq for Factor {
    fn eq(&self, other: &Factor) -> bool {
        match (self, other) {
            (Factor::Column(a), Factor::Column(b)) | (Factor::Category(a), Factor::Category(b)) => {
                a == b
            }
            (Factor::Number(a), Factor::Number(b)) => a.label == b.label,
            _ => false,
        }
    }
}

/// A set of factors, in the order they were written.
#[derive(Debug, Clone)]
pub(crate) struct Term(pub(crate) Vec<Factor>);

impl PartialEq for Term {
    fn eq(&self, other: &Term) -> bool {
        self.0.len() == other.0.len() && self.0.iter().all(|factor| other.0.contains(factor))
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let names = self.0.iter().map(|factor| match factor {
            Factor::Column(name) => name.clone(),
            Factor::Category(name) => format!("C({name})"),
            Factor::Number(labelled) => labelled.label.clone(),
        });
        f.write_str(&names.collect::<Vec<_>>().join(":"))
    }
}

impl Term {
    /// The interaction of both; a factor that both have stands once, as in R.
    fn and(&self, other: &Term) -> Term {
        let mut factors = self.0.clone();
        for factor in &other.0 {
            if !factors.contains(factor) {
                factors.push(factor.clone());
            }
        }
        Term(factors)
    }

    pub(crate) fn without(&self, position: usize) -> Term {
        let mut factors = self.0.clone();
        factors.remove(position);
        Term(factors)
    }
}

/// Terms whose coefficients differ between the levels of a column: `(1 + x | g)`.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    pub(crate) column: String,
    pub(crate) terms: Vec<Term>,
    pub(crate) intercept: bool,
}

/// Terms without repetition, what was said of the intercept, terms by group, and offsets.
#[derive(Debug, Clone, Default)]
pub(super) struct Sum {
    pub(super) terms: Vec<Term>,
    pub(super) intercept: Option<bool>,
    pub(super) groups: Vec<Group>,
    /// What is added to the linear predictor with the coefficient 1.
    pub(super) offsets: Vec<Labelled>,
}

impl Sum {
    pub(super) fn of(factor: Factor) -> Sum {
        Sum {
            terms: vec![Term(vec![factor])],
            ..Sum::default()
        }
    }

    pub(super) fn add(&mut self, other: Sum) {
        for term in other.terms {
            if !self.terms.contains(&term) {
                self.terms.push(term);
            }
        }
        self.intercept = other.intercept.or(self.intercept);
        self.groups.extend(other.groups);
        for offset in other.offsets {
            if !self.offsets.iter().any(|known| known.label == offset.label) {
                self.offsets.push(offset);
            }
        }
    }

    pub(super) fn remove(&mut self, other: Sum) {
        self.terms.retain(|term| !other.terms.contains(term));
        self.intercept = other.intercept.map(|kept| !kept).or(self.intercept);
    }

    /// `a:b`.
    pub(super) fn interaction(&self, other: &Sum) -> Sum {
        let mut sum = Sum {
            terms: Vec::new(),
            intercept: other.intercept.or(self.intercept),
            ..Sum::default()
        };
        for left in &self.terms {
            for right in &other.terms {
                sum.add(Sum {
                    terms: vec![left.and(right)],
                    ..Sum::default()
                });
            }
        }
        sum
    }

    /// `a*b`, which is `a + b + a:b`.
    pub(super) fn crossed(&self, other: &Sum) -> Sum {
        let mut sum = self.clone();
        sum.add(other.clone());
        sum.add(self.interaction(other));
        sum
    }

    /// `(a + b)^order`: interactions of up to `order` of the terms.
    /// It stops where there are more than `most`.
    pub(super) fn power(&self, order: usize, most: usize) -> Sum {
        let mut sum = self.clone();
        // More factors than there are terms make nothing new.
        for _ in 1..order.min(self.terms.len()) {
            if sum.terms.len() > most {
                break;
            }
            sum = sum.crossed(self);
        }
        sum
    }
}
