//! The paper's own figures, and what its scheme took in R: all that is not a result of ours.

/// The temperatures of the linear study, as the columns of the results have them.
pub const KAPPAS: [&str; 5] = ["1/n", "0.1", "0.5", "0.75", "0.99"];
pub const SIZES: [usize; 4] = [100, 150, 200, 250];

/// (mean |beta hat - beta|, d_H), largest over repeats, in 1e-4: Tables I and II of the paper, by KAPPAS and SIZES.
const LINEAR: [[(f64, f64); 4]; 5] = [
    [(9.63, 4.19), (8.90, 2.36), (7.88, 0.89), (8.59, 0.63)],
    [(12.20, 8.63), (9.86, 5.07), (7.84, 0.83), (8.33, 0.97)],
    [(14.58, 7.25), (13.32, 5.70), (9.02, 3.42), (11.79, 0.90)],
    [(20.67, 11.06), (12.65, 3.44), (13.21, 3.68), (12.52, 1.16)],
    [(19.74, 10.54), (17.25, 6.48), (13.53, 3.31), (18.57, 1.24)],
];

/// Its Table III, by temperature 1/n and 0.99 and by n = 100, 150, 250.
const QUANTILE_SIZES: [usize; 3] = [100, 150, 250];
const QUANTILE: [(&str, [(f64, f64); 3]); 2] = [
    ("1/n", [(3.70, 1.73), (2.93, 1.39), (2.38, 0.23)]),
    ("0.99", [(4.46, 3.85), (3.66, 1.76), (3.11, 0.25)]),
];

/// Seconds per iteration of the paper's scheme in R with rstan, by n.
pub const RSTAN_SECONDS: [(usize, f64); 2] = [(100, 0.081), (250, 0.105)];

/// What one cell of the paper's tables holds, in units of 1.
#[derive(Clone, Copy)]
pub struct Cell {
    pub beta_error: f64,
    pub pi_error: f64,
}

impl Cell {
    fn new((beta_error, pi_error): (f64, f64)) -> Cell {
        Cell {
            beta_error: 1e-4 * beta_error,
            pi_error: 1e-4 * pi_error,
        }
    }

    /// By the names of our columns.
    pub fn of(&self, metric: &str) -> f64 {
        match metric {
            "beta_error" => self.beta_error,
            "pi_error" => self.pi_error,
            _ => panic!("the paper has no {metric}"),
        }
    }
}

/// Its tables for one kind of regression.
pub type Paper = fn(&str, &str) -> Option<Cell>;

pub fn linear(kappa: &str, n: &str) -> Option<Cell> {
    let row = KAPPAS.iter().position(|k| *k == kappa)?;
    let column = SIZES.iter().position(|size| size.to_string() == n)?;
    Some(Cell::new(LINEAR[row][column]))
}

pub fn quantile(kappa: &str, n: &str) -> Option<Cell> {
    let (_, row) = QUANTILE.iter().find(|(k, _)| *k == kappa)?;
    let column = QUANTILE_SIZES
        .iter()
        .position(|size| size.to_string() == n)?;
    Some(Cell::new(row[column]))
}

/// The smallest error over temperatures at one n, with its temperature.
pub fn best(paper: Paper, metric: &str, n: &str) -> Option<(&'static str, f64)> {
    let cells = KAPPAS
        .iter()
        .filter_map(|kappa| Some((*kappa, paper(kappa, n)?.of(metric))));
    cells.min_by(|a, b| a.1.total_cmp(&b.1))
}
