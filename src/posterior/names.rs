//! Coefficients and rows of a fit under the names that the user knows.

use super::links::LinksSummary;
use super::{Posterior, Row};
use crate::data::INTERCEPT;

impl Posterior {
    /// The names of the columns of X.
    pub fn predictors(&self) -> Vec<&str> {
        if let Some(data) = &self.data {
            return data.predictor_names.iter().map(String::as_str).collect();
        }
        let data = &self.config.data;
        let intercept = data.intercept.then_some(INTERCEPT);
        let names = data.predictors.iter().map(String::as_str);
        intercept.into_iter().chain(names).collect()
    }

    /// The names of a list of responses.
    fn responses(&self) -> &[String] {
        let names = self.data.as_ref();
        let names = names.and_then(|data| data.response_names.as_deref());
        names.unwrap_or_default()
    }

    /// What the user calls a quantity: her predictor's name for a coefficient, with the response's where she has a list.
    pub fn name_of(&self, quantity: &str) -> String {
        let by_block = !self.config.permutation.audit_by_block.is_empty();
        if let Some(name) = self.rate_name(quantity).filter(|_| by_block) {
            return format!("rate of wrong links in {name}");
        }
        if let Some(name) = self.rate_name(quantity) {
            return format!("log odds of a wrong link ~ {name}");
        }
        if !quantity.starts_with("beta.") {
            return quantity.to_string();
        }
        let coefficients = self.coefficient_names();
        let named = coefficients.into_iter().find(|(beta, _)| beta == quantity);
        named.map_or(quantity.to_string(), |(_, name)| name)
    }

    /// The covariate of a coefficient of the rates of wrong links.
    fn rate_name(&self, quantity: &str) -> Option<&str> {
        let number: usize = quantity.strip_prefix("rate.")?.parse().ok()?;
        let names = self.data.as_ref()?.rate_names.as_ref()?;
        names.get(number.checked_sub(1)?).map(String::as_str)
    }

    /// The coefficients as the files and as the user call them: `beta.1`, ... by predictor, or `beta.1.1`, `beta.2.1`,
    /// ... by response and predictor. None of them where the program has others, whose numbers mean something else.
    pub fn coefficient_names(&self) -> Vec<(String, String)> {
        let predictors = self.predictors();
        let numbered = || (1..).zip(&predictors);
        let single = numbered().map(|(d, name)| (format!("beta.{d}"), name.to_string()));
        let by_response = (1..).zip(self.responses()).flat_map(|(k, response)| {
            numbered().map(move |(d, name)| {
                let name = format!("{response} ~ {name}");
                (format!("beta.{d}.{k}"), name)
            })
        });
        [single.collect(), by_response.collect()]
            .into_iter()
            .find(|names: &Vec<(String, String)>| self.has_exactly(names))
            .unwrap_or_default()
    }

    fn has_exactly(&self, coefficients: &[(String, String)]) -> bool {
        let betas = self.summary().iter();
        let betas = betas.filter(|row| row.name.starts_with("beta."));
        betas.count() == coefficients.len()
            && coefficients
                .iter()
                .all(|(beta, _)| self.quantity(beta).is_some())
    }

    /// How the user finds a row again: its number in her file, and her own name of it.
    pub fn row_label(&self, row: usize) -> String {
        let Some(Row { number, id, .. }) = self.rows.get(row) else {
            return self.place_label(row);
        };
        match id {
            Some(id) if *id != number.to_string() => format!("{number} ({id})"),
            _ => number.to_string(),
        }
    }

    /// How the user finds an unlinked row again that is a place.
    fn place_label(&self, column: usize) -> String {
        let numbers = self.links.as_ref().map(LinksSummary::numbers);
        let numbers = numbers.expect("a place is one of links");
        let number = numbers.number(column);
        match numbers.place_id(column) {
            Some(id) => format!("{number} (unlinked, {id})"),
            None => format!("{number} (unlinked)"),
        }
    }
}
