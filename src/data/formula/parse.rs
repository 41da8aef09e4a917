//! From the text of a formula to an expression for the response and a sum of terms.

use super::Problem;
use super::expression::{Expression, FUNCTIONS, Function};
use super::terms::{Factor, Group, Labelled, Sum, Term};
use super::token::{Placed, Token, rendered, tokens};
use crate::text::nearest;

const A_TERM: &str = "a column, a function such as log(x), or I(...)";
/// A formula with more is a slip, such as a power that was meant for I(...), and would take hours to expand.
const MOST_TERMS: usize = 2000;
/// An expression with more would not fit on the stack that evaluates it.
const MOST_OPERATIONS: usize = 500;
const A_VALUE: &str = "a column, a number or a function such as log(x)";

/// What stands left of `~`: one expression, or the list that `cbind(...)` or `Surv(...)` makes.
pub(super) enum Left {
    One(Labelled),
    List(Vec<Labelled>),
}

/// `response ~ terms`.
pub(super) fn formula(text: &str) -> Result<(Left, Sum), Problem> {
    let mut parser = Parser::new(text)?;
    let response = parser.left()?;
    parser.expect('~', "an operator or `~`")?;
    let terms = parser.sum()?;
    parser.end("an operator such as `+`, or the end,")?;
    Ok((response, terms))
}

/// The response alone.
pub(super) fn response(text: &str) -> Result<Labelled, Problem> {
    let mut parser = Parser::new(text)?;
    let response = parser.labelled()?;
    parser.end("an operator or the end")?;
    Ok(response)
}

/// The right side alone.
pub(super) fn terms(text: &str) -> Result<Sum, Problem> {
    let mut parser = Parser::new(text)?;
    let terms = parser.sum()?;
    parser.end("an operator such as `+`, or the end,")?;
    Ok(terms)
}

fn bounded(sum: Sum, at: usize) -> Result<Sum, Problem> {
    if sum.terms.len() <= MOST_TERMS {
        return Ok(sum);
    }
    Err(Problem {
        at,
        words: format!(
            "more than {MOST_TERMS} terms are made; ask for interactions of fewer columns"
        ),
    })
}

struct Parser {
    tokens: Vec<Placed>,
    next: usize,
    /// Parentheses of terms that are open.
    depth: usize,
    /// Operators and parentheses of the expression that is being read.
    num_operations: usize,
    /// The place behind the last character.
    end: usize,
}

impl Parser {
    fn new(text: &str) -> Result<Parser, Problem> {
        Ok(Parser {
            tokens: tokens(text)?,
            next: 0,
            depth: 0,
            num_operations: 0,
            end: text.chars().count() + 1,
        })
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next).map(|placed| &placed.token)
    }

    fn at(&self) -> usize {
        self.tokens
            .get(self.next)
            .map_or(self.end, |token| token.at)
    }

    fn eat(&mut self, mark: char) -> bool {
        let found = self.peek() == Some(&Token::Mark(mark));
        self.next += usize::from(found);
        found
    }

    fn expect(&mut self, mark: char, words: &str) -> Result<(), Problem> {
        if self.eat(mark) {
            Ok(())
        } else {
            Err(self.expected(words))
        }
    }

    fn end(&self, words: &str) -> Result<(), Problem> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.expected(words)),
        }
    }

    fn expected(&self, words: &str) -> Problem {
        let words = match self.peek() {
            None => format!("{words} was expected, but the text ends there"),
            Some(token) => format!("{words} was expected, not {token}"),
        };
        Problem {
            at: self.at(),
            words,
        }
    }

    fn checked_depth(&self) -> Result<(), Problem> {
        if self.depth <= MOST_OPERATIONS {
            return Ok(());
        }
        Err(Problem {
            at: self.at(),
            words: format!(
                "more than {MOST_OPERATIONS} parentheses are open; write fewer inside one another"
            ),
        })
    }

    /// One operator or parenthesis more; each makes the tree of the expression deeper by at most one.
    fn operation(&mut self) -> Result<(), Problem> {
        self.num_operations += 1;
        if self.num_operations <= MOST_OPERATIONS {
            return Ok(());
        }
        Err(Problem {
            at: self.at(),
            words: format!(
                "the expression has more than {MOST_OPERATIONS} operators and parentheses; compute such a column in the file"
            ),
        })
    }

    fn arithmetic_outside(&self) -> Problem {
        let token = self.peek().map(Token::to_string).unwrap_or_default();
        Problem {
            at: self.at(),
            words: format!("{token} is arithmetic, which stands inside I(...), such as I(x / 2)"),
        }
    }

    /// Terms joined by `+` and `-`; numbers 0 and 1 speak of the intercept.
    fn sum(&mut self) -> Result<Sum, Problem> {
        let mut sum = Sum::default();
        let mut removed = self.eat('-');
        if !removed {
            self.eat('+');
        }
        loop {
            let at = self.at();
            let part = match self.peek() {
                Some(Token::Mark('(')) if !removed && self.is_group() => self.group()?,
                Some(token) if !removed && *token == Token::plain("offset") && self.calls() => {
                    self.offset()?
                }
                Some(Token::Number(number)) if number == "0" || number == "1" => {
                    let intercept = Some(number == "1");
                    self.next += 1;
                    Sum {
                        intercept,
                        ..Sum::default()
                    }
                }
                Some(Token::Number(_)) => return Err(self.arithmetic_outside()),
                _ => self.product()?,
            };
            if removed {
                let is_absent = |term: &&Term| !sum.terms.contains(term);
                if let Some(absent) = part.terms.iter().find(is_absent) {
                    return Err(Problem {
                        at,
                        words: format!(
                            "`{absent}` is taken away, but it is not among the terms before it"
                        ),
                    });
                }
                sum.remove(part);
            } else {
                sum.add(part);
            }
            removed = match self.peek() {
                Some(Token::Mark('+')) => false,
                Some(Token::Mark('-')) => true,
                Some(Token::Mark('/')) => return Err(self.arithmetic_outside()),
                _ => return Ok(sum),
            };
            self.next += 1;
        }
    }

    /// Whether the parenthesis that comes next has a bar inside of it.
    fn is_group(&self) -> bool {
        let mut depth = 0;
        for placed in &self.tokens[self.next..] {
            match placed.token {
                Token::Mark('(') => depth += 1,
                Token::Mark(')') => depth -= 1,
                Token::Mark('|') if depth == 1 => return true,
                _ => {}
            }
            if depth == 0 {
                return false;
            }
        }
        false
    }

    /// `(terms | column)`, which stands alone between `+`.
    fn group(&mut self) -> Result<Sum, Problem> {
        self.next += 1;
        let inner = self.sum()?;
        self.expect('|', "an operator such as `+`, or `|`,")?;
        let Some(Token::Name { name, .. }) = self.peek().cloned() else {
            return Err(self.expected("the column of the groups"));
        };
        self.next += 1;
        self.expect(')', "`)` behind the column of the groups")?;
        if matches!(self.peek(), Some(Token::Mark('*' | ':' | '^'))) {
            return Err(self.expected("`+`, `-` or the end behind terms by group"));
        }
        if !inner.offsets.is_empty() {
            return Err(Problem {
                at: self.at(),
                words:
                    "an offset does not differ between groups; write it outside of the parentheses"
                        .into(),
            });
        }
        let group = Group {
            column: name,
            intercept: inner.intercept.unwrap_or(true),
            terms: inner.terms,
        };
        Ok(Sum {
            groups: vec![group],
            ..Sum::default()
        })
    }

    /// `offset(expression)`, which stands alone between `+`.
    fn offset(&mut self) -> Result<Sum, Problem> {
        self.next += 2;
        let offset = self.labelled()?;
        self.expect(')', "an operator or `)`")?;
        if matches!(self.peek(), Some(Token::Mark('*' | ':' | '^'))) {
            return Err(self.expected("`+`, `-` or the end behind an offset"));
        }
        Ok(Sum {
            offsets: vec![offset],
            ..Sum::default()
        })
    }

    fn product(&mut self) -> Result<Sum, Problem> {
        let mut sum = self.interaction()?;
        while self.eat('*') {
            let at = self.at();
            sum = bounded(sum.crossed(&self.interaction()?), at)?;
        }
        Ok(sum)
    }

    fn interaction(&mut self) -> Result<Sum, Problem> {
        let mut sum = self.power()?;
        while self.eat(':') {
            sum = sum.interaction(&self.power()?);
        }
        Ok(sum)
    }

    fn power(&mut self) -> Result<Sum, Problem> {
        let base = self.term()?;
        if !self.eat('^') {
            return Ok(base);
        }
        let order = match self.peek() {
            Some(Token::Number(number)) => number.parse::<usize>().ok(),
            _ => None,
        };
        match order {
            Some(order) if order >= 1 => {
                let at = self.at();
                self.next += 1;
                bounded(base.power(order, MOST_TERMS), at)
            }
            _ => Err(self.expected("a whole number of 1 or more")),
        }
    }

    fn term(&mut self) -> Result<Sum, Problem> {
        if self.eat('(') {
            self.depth += 1;
            self.checked_depth()?;
            let sum = self.sum()?;
            self.depth -= 1;
            self.expect(')', "an operator such as `+`, or `)`,")?;
            return Ok(sum);
        }
        let Some(Token::Name { name, quoted }) = self.peek().cloned() else {
            return Err(match self.peek() {
                Some(Token::Number(_)) => self.arithmetic_outside(),
                _ => self.expected(A_TERM),
            });
        };
        if quoted || !self.calls() {
            self.next += 1;
            return Ok(Sum::of(Factor::Column(name)));
        }
        if name == "C" {
            self.next += 2;
            let Some(Token::Name { name, .. }) = self.peek().cloned() else {
                return Err(self.expected("a column"));
            };
            self.next += 1;
            self.expect(')', "`)`")?;
            return Ok(Sum::of(Factor::Category(name)));
        }
        let start = self.next;
        self.num_operations = 0;
        let expression = self.atom()?;
        let label = rendered(&self.tokens[start..self.next]);
        Ok(Sum::of(Factor::Number(Labelled { label, expression })))
    }

    /// Whether a parenthesis follows the next token.
    fn calls(&self) -> bool {
        let after = self.tokens.get(self.next + 1);
        after.is_some_and(|placed| placed.token == Token::Mark('('))
    }

    fn left(&mut self) -> Result<Left, Problem> {
        // R's name for a time and whether the event was seen then.
        let named = |token: &Token| ["cbind", "Surv"].map(Token::plain).contains(token);
        if !self.peek().is_some_and(named) || !self.calls() {
            return Ok(Left::One(self.labelled()?));
        }
        self.next += 2;
        let mut list = vec![self.labelled()?];
        while self.eat(',') {
            list.push(self.labelled()?);
        }
        self.expect(')', "an operator, `,` or `)`")?;
        Ok(Left::List(list))
    }

    fn labelled(&mut self) -> Result<Labelled, Problem> {
        let start = self.next;
        self.num_operations = 0;
        let expression = self.arithmetic()?;
        let label = match &expression {
            Expression::Column(name) => name.clone(),
            _ => rendered(&self.tokens[start..self.next]),
        };
        Ok(Labelled { label, expression })
    }

    fn arithmetic(&mut self) -> Result<Expression, Problem> {
        self.left_to_right(['+', '-'], Parser::scaled)
    }

    fn scaled(&mut self) -> Result<Expression, Problem> {
        self.left_to_right(['*', '/'], Parser::signed)
    }

    fn left_to_right(
        &mut self,
        operators: [char; 2],
        operand: fn(&mut Parser) -> Result<Expression, Problem>,
    ) -> Result<Expression, Problem> {
        let mut expression = operand(self)?;
        while let Some(operator) = operators.into_iter().find(|mark| self.eat(*mark)) {
            self.operation()?;
            let right = operand(self)?;
            expression = Expression::Binary(operator, Box::new(expression), Box::new(right));
        }
        Ok(expression)
    }

    /// A sign binds less than a power: -x^2 is -(x^2).
    fn signed(&mut self) -> Result<Expression, Problem> {
        if self.eat('-') {
            self.operation()?;
            return Ok(Expression::Negative(Box::new(self.signed()?)));
        }
        if self.eat('+') {
            self.operation()?;
            return self.signed();
        }
        let base = self.atom()?;
        if !self.eat('^') {
            return Ok(base);
        }
        self.operation()?;
        let exponent = self.signed()?;
        Ok(Expression::Binary('^', Box::new(base), Box::new(exponent)))
    }

    fn atom(&mut self) -> Result<Expression, Problem> {
        if self.eat('(') {
            return self.closed();
        }
        let token = self.peek().cloned();
        match token {
            Some(Token::Number(number)) => {
                self.next += 1;
                let value = number.parse().expect("digits, a point and an exponent");
                Ok(Expression::Number(value))
            }
            Some(Token::Name { name, quoted }) if quoted || !self.calls() => {
                self.next += 1;
                Ok(Expression::Column(name))
            }
            Some(Token::Name { name, .. }) if name == "I" => {
                self.next += 2;
                self.closed()
            }
            Some(Token::Name { name, .. }) => {
                let function = self.function(&name)?;
                self.next += 2;
                Ok(Expression::Call(function, Box::new(self.closed()?)))
            }
            _ => Err(self.expected(A_VALUE)),
        }
    }

    fn closed(&mut self) -> Result<Expression, Problem> {
        self.operation()?;
        let expression = self.arithmetic()?;
        self.expect(')', "an operator or `)`")?;
        Ok(expression)
    }

    fn function(&self, name: &str) -> Result<Function, Problem> {
        if let Some(function) = FUNCTIONS.into_iter().find(|known| known.name == name) {
            return Ok(function);
        }
        let names = FUNCTIONS.map(|function| function.name);
        let words = match (name, nearest(name, names)) {
            ("C", _) => "C(...) makes a category, which has no place in arithmetic".into(),
            ("offset", _) => {
                "offset(...) stands alone between `+`, such as x + offset(log(exposure))".into()
            }
            ("cbind" | "Surv", _) => format!(
                "{name}(...) lists responses, so it stands alone left of `~` in data.formula; \
                 data.response takes a list such as [\"food\", \"rent\"]"
            ),
            (_, Some(known)) => format!("`{name}` is no function here; did you mean `{known}`?"),
            (_, None) => format!(
                "`{name}` is no function here; there are {}, I for arithmetic and C for categories",
                names.join(", ")
            ),
        };
        Err(Problem {
            at: self.at(),
            words,
        })
    }
}
