//! What is true of simulated data: coefficients, scale, the permutation and its expected matrix.

use serde::{Deserialize, Serialize};

use crate::sampler::links::OUTSIDE;

/// Rows count from 0 here and from 1 in `truth.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Truth {
    /// Names of the entries of `beta`, the intercept first where there is one.
    pub coefficients: Vec<String>,
    pub beta: Vec<f64>,
    /// Scale of the errors, where responses have errors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sigma: Option<f64>,
    /// The dispersion of negative binomial counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phi: Option<f64>,
    /// The shape of gamma responses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<f64>,
    /// Number of rows with `pi[i] != i`, those outside among them.
    pub num_moved: usize,
    /// Number of rows whose response belongs to nobody in the file.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub num_outside: usize,
    /// `y[i]` belongs to `x[pi[i]]`, or to nobody where that is `OUTSIDE`, 0 in `truth.json`.
    #[serde(rename = "linked_to", with = "one_based")]
    pub pi: Vec<usize>,
    /// The non-zero entries (row, column, probability) of the best posterior mean of the permutation matrix.
    ///
    /// It is the matrix of `pi`, except that two identical rows cannot be told apart: 0.5 for each of their places.
    #[serde(with = "one_based_entries")]
    pub pi0: Vec<(usize, usize, f64)>,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Truth {
    /// `copied` names two rows that are the same in x and y.
    pub(crate) fn new(
        coefficients: Vec<String>,
        beta: Vec<f64>,
        sigma: Option<f64>,
        pi: Vec<usize>,
        copied: Option<(usize, usize)>,
    ) -> Truth {
        let mut pi0 = Vec::with_capacity(pi.len() + 2);
        for (row, &column) in pi.iter().enumerate() {
            match copied {
                _ if column == OUTSIDE => {}
                Some((a, b)) if row == a || row == b => {
                    pi0.push((row, pi[a], 0.5));
                    pi0.push((row, pi[b], 0.5));
                }
                _ => pi0.push((row, column, 1.0)),
            }
        }
        Truth {
            coefficients,
            beta,
            sigma,
            phi: None,
            shape: None,
            num_moved: pi.iter().enumerate().filter(|(i, j)| i != *j).count(),
            num_outside: pi.iter().filter(|column| **column == OUTSIDE).count(),
            pi,
            pi0,
        }
    }

    /// The truth about the same rows once every response stands beside its own predictors.
    pub(crate) fn relinked(&self) -> Truth {
        let identity = (0..self.pi.len()).collect();
        let (names, beta) = (self.coefficients.clone(), self.beta.clone());
        Truth {
            phi: self.phi,
            shape: self.shape,
            ..Truth::new(names, beta, self.sigma, identity, None)
        }
    }
}

mod one_based {
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(pi: &[usize], serializer: S) -> Result<S::Ok, S::Error> {
        // OUTSIDE is the largest number, and becomes 0.
        serializer.collect_seq(pi.iter().map(|j| j.wrapping_add(1)))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<usize>, D::Error> {
        let pi = Vec::<usize>::deserialize(deserializer)?.into_iter();
        Ok(pi.map(|row| row.wrapping_sub(1)).collect())
    }

    pub fn below(row: usize) -> Option<usize> {
        row.checked_sub(1)
    }
}

mod one_based_entries {
    use super::one_based::below;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    type Entry = (usize, usize, f64);

    pub fn serialize<S: Serializer>(entries: &[Entry], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(entries.iter().map(|(i, j, p)| (i + 1, j + 1, p)))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Entry>, D::Error> {
        Vec::<Entry>::deserialize(deserializer)?
            .into_iter()
            .map(|(i, j, p)| Some((below(i)?, below(j)?, p)))
            .collect::<Option<_>>()
            .ok_or_else(|| D::Error::custom("rows and columns count from 1"))
    }
}
