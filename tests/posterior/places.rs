//! Fits of two files in which unlinked rows are places, against the exact posterior of partial permutations and parameters.
//!
//! Links are enumerated, the slope is integrated in closed form and the variance by quadrature. Means of the draws are compared by
//! z-tests with MCSEs from `unshuffle::posterior::diagnostics`. The error rate of the whole file is declared as 1e-3 and shared by
//! the tests of 4 right runs, at most 50 each (Bonferroni): 5e-6 a test, two-sided.

use std::fs;

use serde_json::{Value, json};
use unshuffle::internals::config;
use unshuffle::internals::fit::prepare;
use unshuffle::internals::numerics::mean;
use unshuffle::internals::posterior::{ChainDraws, mcse_mean, read_links, read_output};
use unshuffle::internals::sampler::chain::Silent;

use std::sync::atomic::AtomicBool;

/// The 1 - 2.5e-6 quantile of the normal distribution.
const LIMIT: f64 = 4.565;
const MOST_TESTS: usize = 50;
/// A response that belongs to nobody.
const OUTSIDE: usize = usize::MAX;

/// Predictors of the linked rows, then of the places, and the zone of each.
const X: [f64; 6] = [-1.3, 0.2, 0.9, 1.7, -0.5, 2.6];
const ZONE: [&str; 6] = ["a", "b", "a", "b", "a", "b"];
/// The second response would fit the last place, the third the first one.
const Y: [f64; 4] = [-1.9, 4.6, -0.2, 2.9];
const SAFE: [bool; 4] = [true, false, false, false];
const MATCH: [f64; 4] = [0.9, 0.4, 0.5, 0.8];
/// Row, place and weight; no row is a candidate of another's place alone.
const PAIRS: [(usize, usize, f64); 6] = [
    (1, 5, 2.0),
    (1, 3, 1.0),
    (2, 4, 3.0),
    (2, 0, 1.0),
    (3, 5, 1.0),
    (0, 4, 1.0),
];
/// Of the share of wrong links whose response comes from outside.
const SHARE: [f64; 2] = [1.0, 2.0];

/// What a fit is told of the links.
#[derive(Clone, Copy, Default)]
struct Known {
    blocks: bool,
    safe: bool,
    matches: bool,
    pairs: bool,
}

fn log_gamma(z: f64) -> f64 {
    // Stirling's series, after enough steps up.
    let (mut z, mut shift) = (z, 0.0);
    while z < 12.0 {
        shift += z.ln();
        z += 1.0;
    }
    let series = 1.0 / (12.0 * z) - 1.0 / (360.0 * z.powi(3)) + 1.0 / (1260.0 * z.powi(5));
    (z - 0.5) * z.ln() - z + 0.5 * (2.0 * std::f64::consts::PI).ln() + series - shift
}

fn log_beta(a: f64, b: f64) -> f64 {
    log_gamma(a) + log_gamma(b) - log_gamma(a + b)
}

/// The number of injections of d rows into their own places and h others, none into its own, counted.
fn injections(d: usize, h: usize) -> f64 {
    fn count(row: usize, d: usize, h: usize, taken: &mut Vec<usize>) -> f64 {
        if row == d {
            return 1.0;
        }
        let mut sum = 0.0;
        for place in (0..d + h).filter(|&place| place != row) {
            if !taken.contains(&place) {
                taken.push(place);
                sum += count(row + 1, d, h, taken);
                taken.pop();
            }
        }
        sum
    }
    count(0, d, h, &mut Vec::new())
}

impl Known {
    fn is_safe(self, row: usize) -> bool {
        self.safe && row < Y.len() && SAFE[row]
    }

    /// Whether the response of `row` may belong to another place.
    fn allows(self, row: usize, place: usize) -> bool {
        let same_block = !self.blocks || ZONE[row] == ZONE[place];
        let listed = !self.pairs || PAIRS.iter().any(|pair| (pair.0, pair.1) == (row, place));
        row != place && same_block && listed && !self.is_safe(row) && !self.is_safe(place)
    }

    /// The places of each group: connected by links that are possible in either direction.
    fn groups(self) -> Vec<Vec<usize>> {
        let mut label: Vec<usize> = (0..X.len()).collect();
        for _ in 0..X.len() {
            for row in 0..Y.len() {
                for place in (0..X.len()).filter(|&place| self.allows(row, place)) {
                    let low = label[row].min(label[place]);
                    (label[row], label[place]) = (low, low);
                }
            }
        }
        let members = |k: usize| (0..X.len()).filter(|&j| label[j] == k).collect();
        let groups = (0..X.len()).map(members);
        groups
            .filter(|group: &Vec<usize>| !group.is_empty())
            .collect()
    }

    /// All partial permutations that are possible.
    fn links(self) -> Vec<Vec<usize>> {
        let mut all = vec![Vec::new()];
        for row in 0..Y.len() {
            let longer = |prefix: Vec<usize>| {
                let to = |&place: &usize| match place {
                    OUTSIDE => !self.is_safe(row),
                    place if prefix.contains(&place) => false,
                    place => place == row || self.allows(row, place),
                };
                let places = (0..X.len()).chain([OUTSIDE]).filter(to);
                let with = |place| prefix.iter().copied().chain([place]).collect();
                places.map(with).collect::<Vec<Vec<usize>>>()
            };
            all = all.into_iter().flat_map(longer).collect();
        }
        all
    }

    /// docs/method.md, section 9, written out: the rate is uniform, or each row has its own odds.
    fn log_prior(self, pi: &[usize], share: [f64; 2]) -> f64 {
        let movable = (0..Y.len()).filter(|&row| !self.is_safe(row)).count();
        let wrong: Vec<usize> = (0..Y.len()).filter(|&row| pi[row] != row).collect();
        let (mut outside, mut lone, mut sum) = (0, 0, 0.0);
        for group in self.groups() {
            let of_group: Vec<usize> = (wrong.iter().copied())
                .filter(|row| group.contains(row))
                .collect();
            let out = of_group.iter().filter(|&&row| pi[row] == OUTSIDE).count();
            let absent = group.iter().filter(|&&place| place >= Y.len()).count();
            let moved = of_group.len() - out;
            outside += out;
            lone += usize::from(moved == 0 && out == 1 && absent == 0);
            sum -= injections(moved, out + absent).ln();
            for &row in of_group
                .iter()
                .filter(|&&row| self.pairs && pi[row] != OUTSIDE)
            {
                let of_row = PAIRS
                    .iter()
                    .filter(|pair| self.allows(pair.0, pair.1) && pair.0 == row);
                let total: f64 = of_row.clone().map(|pair| pair.2).sum();
                let weight = of_row.clone().find(|pair| pair.1 == pi[row]).unwrap().2;
                sum += ((group.len() - 1) as f64 * weight / total).ln();
            }
        }
        let (d, by_choice) = (wrong.len() - outside, outside - lone);
        let [a, b] = share;
        sum += log_beta(a + by_choice as f64, b + d as f64) - log_beta(a, b);
        let w = wrong.len() as f64;
        sum + match self.matches {
            true => wrong.iter().map(|&row| (1.0 / MATCH[row] - 1.0).ln()).sum(),
            false => log_beta(1.0 + w, 1.0 + movable as f64 - w),
        }
    }
}

/// Posterior probabilities of links, and means.
struct Exact {
    links: Vec<Vec<usize>>,
    probability: Vec<f64>,
    slope: f64,
}

impl Exact {
    fn new(links: Vec<Vec<usize>>, log_prior: impl Fn(&[usize]) -> f64) -> Exact {
        const NUM_POINTS: usize = 2000;
        const VARIANCE: f64 = 1000.0;
        let (low, high) = (-16.0, 5.4);
        let centre = mean(&Y).unwrap();
        let spread = Y.iter().map(|y| (y - centre).powi(2)).sum::<f64>() / Y.len() as f64;
        let log_outside = |y: f64| -0.5 * ((y - centre).powi(2) / spread + spread.ln());
        let mut cells = Vec::new();
        for (k, pi) in links.iter().enumerate() {
            let prior = log_prior(pi);
            let (mut n, mut sxx, mut sxy, mut syy, mut rest) = (0.0, 0.0, 0.0, 0.0, prior);
            for (&y, &place) in Y.iter().zip(pi) {
                if place == OUTSIDE {
                    rest += log_outside(y);
                    continue;
                }
                let x = X[place];
                n += 1.0;
                sxx += x * x;
                sxy += x * y;
                syy += y * y;
            }
            for point in 0..=NUM_POINTS {
                let log_variance = low + (high - low) * point as f64 / NUM_POINTS as f64;
                let variance = f64::exp(log_variance);
                let precision = sxx / variance + 1.0 / VARIANCE;
                let b = sxy / variance;
                let log_weight = rest + log_variance
                    - variance * variance / (2.0 * VARIANCE)
                    - 0.5 * (n * log_variance + syy / variance)
                    - 0.5 * precision.ln()
                    + 0.5 * b * b / precision;
                cells.push((k, log_weight, b / precision));
            }
        }
        let largest = cells.iter().map(|cell| cell.1).fold(f64::MIN, f64::max);
        let mut exact = Exact {
            probability: vec![0.0; links.len()],
            links,
            slope: 0.0,
        };
        let mut total = 0.0;
        for (k, log_weight, slope) in cells {
            let weight = f64::exp(log_weight - largest);
            total += weight;
            exact.probability[k] += weight;
            exact.slope += weight * slope;
        }
        exact.probability.iter_mut().for_each(|p| *p /= total);
        exact.slope /= total;
        exact
    }

    fn probability_of(&self, event: &dyn Fn(&[usize]) -> bool) -> f64 {
        let cells = self.links.iter().zip(&self.probability);
        cells.filter(|(pi, _)| event(pi)).map(|(_, p)| p).sum()
    }
}

/// A whole fit of two files: by chain its draws, and the links of each.
struct Draws {
    chains: Vec<ChainDraws>,
    links: Vec<Vec<Vec<usize>>>,
}

fn fit(known: Known, seed: u64) -> Draws {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| fs::write(folder.path().join(name), text).unwrap();
    let survey = |row: usize| format!("p{row},{},{},{}\n", Y[row], SAFE[row], MATCH[row]);
    let survey: String = (0..Y.len()).map(survey).collect();
    write("survey.csv", format!("person,y,checked,p\n{survey}"));
    // In another order than that of the survey.
    let register = |row: usize| format!("p{row},{},{}\n", X[row], ZONE[row]);
    let order = [4, 2, 0, 5, 1, 3];
    let lines: String = order.iter().map(|&row| register(row)).collect();
    write("register.csv", format!("person,x,zone\n{lines}"));
    let pair = |(row, place, weight): &(usize, usize, f64)| format!("p{row},p{place},{weight}\n");
    let pairs: String = PAIRS.iter().map(pair).collect();
    write("pairs.csv", format!("row,partner,weight\n{pairs}"));
    let prior = match known.matches {
        true => Value::Null,
        false => crate::study::flat_rate(),
    };
    let config = json!({
        "model": {"stan": "linear", "priors": "paper"},
        "data": {"left": "survey.csv", "right": "register.csv", "links": "person", "response": "y",
                 "predictors": ["x"], "intercept": false, "id": "person", "unlinked": "places",
                 "block": known.blocks.then_some("zone"), "safe": known.safe.then_some("checked"),
                 "match_probability": known.matches.then_some("p"),
                 "candidates": known.pairs.then_some("pairs.csv")},
        "permutation": {"prior": prior, "outside": {"a": SHARE[0], "b": SHARE[1]}},
        "sampler": {"chains": 4, "warmup": 1000, "draws": 8000, "seed": seed, "target_accept": 0.95},
        "output": "out"
    });
    let file = folder.path().join("fit.json");
    let config = config::parse(&config.to_string(), &file, &[]).unwrap();
    let prepared =
        prepare(config, &crate::study::compiler()).unwrap_or_else(|error| panic!("{error}"));
    prepared
        .sample(2, &AtomicBool::new(false), &Silent)
        .unwrap();
    let output = &prepared.config.output;
    let chains = read_output(output).unwrap();
    let links = chains.iter().map(|chain| {
        let mut links = vec![Vec::from_iter(0..Y.len()); chain.num_draws()];
        for moved in read_links(&output.join(format!("links_{}.csv", chain.chain))).unwrap() {
            // Places have the number of their row of the register, counted on from the last row of the survey.
            let to = match moved.linked_to {
                0 => OUTSIDE,
                row if row <= Y.len() => row - 1,
                row => order[row - Y.len() - 1],
            };
            links[moved.draw - 1][moved.row - 1] = to;
        }
        links
    });
    Draws {
        links: links.collect(),
        chains,
    }
}

impl Draws {
    fn worst(&self, exact: &Exact) -> (f64, String) {
        let column = |chain: &ChainDraws| chain.column("beta.1").unwrap().to_vec();
        let beta = self.chains.iter().map(column).collect();
        let mut tests = vec![test("E beta", exact.slope, beta)];
        let mut probability = |what: String, event: &dyn Fn(&[usize]) -> bool| {
            let p = exact.probability_of(event);
            // Rarer ones are too few among the draws, and certain ones do not vary.
            if (0.002..0.998).contains(&p) {
                let holds = |pi: &Vec<usize>| f64::from(u8::from(event(pi)));
                let chains = self.links.iter();
                let found = chains.map(|pi| pi.iter().map(holds).collect()).collect();
                tests.push(test(&what, p, found));
            }
        };
        for row in 0..Y.len() {
            for place in (0..X.len()).chain([OUTSIDE]) {
                let what = match place {
                    OUTSIDE => format!("P({row} outside)"),
                    place => format!("P({row} at {place})"),
                };
                probability(what, &|pi| pi[row] == place);
            }
        }
        let num_outside = |pi: &[usize]| pi.iter().filter(|&&place| place == OUTSIDE).count();
        for number in 0..=Y.len() {
            probability(format!("P({number} outside)"), &|pi| {
                num_outside(pi) == number
            });
        }
        assert!((10..=MOST_TESTS).contains(&tests.len()), "{}", tests.len());
        let worst = tests.into_iter().max_by(|a, b| a.0.total_cmp(&b.0));
        worst.unwrap()
    }
}

fn test(what: &str, exact: f64, draws: Vec<Vec<f64>>) -> (f64, String) {
    let chains: Vec<&[f64]> = draws.iter().map(Vec::as_slice).collect();
    let found = mean(&draws.concat()).unwrap();
    let mcse = mcse_mean(&chains).unwrap_or(0.0);
    let z = (found - exact).abs() / mcse;
    (
        z,
        format!("{what}: exact {exact:.4}, found {found:.4}, z = {z:.2}"),
    )
}

/// The right posterior is accepted; one without places, and one with another share from outside, are not.
fn is_exact(known: Known, seed: u64) {
    let draws = fit(known, seed);
    let (z, worst) = draws.worst(&Exact::new(known.links(), |pi| known.log_prior(pi, SHARE)));
    println!("worst of the tests: {worst}");
    assert!(z < LIMIT, "{worst}");
    let mut inside = known.links();
    inside.retain(|pi| pi.iter().all(|&place| place == OUTSIDE || place < Y.len()));
    for (wrong, links, share) in [
        ("without places", inside, SHARE),
        ("another share", known.links(), [4.0, 1.0]),
    ] {
        let (z, worst) = draws.worst(&Exact::new(links, |pi| known.log_prior(pi, share)));
        println!("{wrong}: {worst}");
        assert!(z > LIMIT, "{wrong}: {worst}");
    }
}

#[test]
fn unlinked_rows_are_places() {
    is_exact(Known::default(), 1);
}

#[test]
fn places_in_blocks_with_a_safe_row() {
    let (blocks, safe) = (true, true);
    is_exact(
        Known {
            blocks,
            safe,
            ..Known::default()
        },
        2,
    );
}

#[test]
fn places_among_candidates() {
    is_exact(
        Known {
            pairs: true,
            ..Known::default()
        },
        3,
    );
}

#[test]
fn places_with_match_probabilities_blocks_and_candidates() {
    let known = Known {
        blocks: true,
        matches: true,
        pairs: true,
        safe: false,
    };
    is_exact(known, 4);
}
