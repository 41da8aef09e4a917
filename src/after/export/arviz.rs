//! A fit as the groups of ArviZ: posterior, sample_stats, observed_data, constant_data and posterior_predictive.

use std::path::Path;

use ndarray::Array2;

use super::netcdf::{self, Array, Group, Values};
use super::{ExportError, Posterior};
use crate::data::Dataset;
use crate::fit::read_data;
use crate::numerics::rng;
use crate::posterior::draws::{ChainDraws, is_log_lik};
use crate::posterior::{ExportFolder, LawDraws};
use crate::text::{FileError, write_whole};

/// Chains count from 1, and the last streams are taken by checks of a fit, by exports and by predictions.
const STREAM: usize = usize::MAX - 4;

/// Numbers in posterior_predictive; beyond that fewer draws are predicted from.
const MOST_PREDICTED: usize = 2_000_000;

/// The columns of the sampler, and what ArviZ calls them.
const SAMPLE_STATS: [(&str, &str, Kind); 9] = [
    ("lp__", "lp", Kind::Real),
    ("accept_stat__", "acceptance_rate", Kind::Real),
    ("stepsize__", "step_size", Kind::Real),
    ("treedepth__", "tree_depth", Kind::Whole),
    ("n_leapfrog__", "n_steps", Kind::Whole),
    ("divergent__", "diverging", Kind::Flag),
    ("energy__", "energy", Kind::Real),
    ("log_prior_pi__", "log_prior_pi", Kind::Real),
    ("accept_pi__", "accept_pi", Kind::Real),
];

/// What a number in a file of draws is.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Real,
    Whole,
    Flag,
}

impl Kind {
    fn values(self, numbers: Vec<f64>) -> Values {
        match self {
            Kind::Real => Values::Real(numbers),
            Kind::Whole => Values::Whole(numbers.into_iter().map(|n| n as i64).collect()),
            Kind::Flag => Values::Flag(numbers.into_iter().map(|n| n != 0.0).collect()),
        }
    }
}

/// Writes arviz.nc. Where the data files are gone or have changed, the groups that need them are left out; the
/// sentence that says so is returned.
pub fn write_arviz(fit: &Posterior, to: &Path, force: bool) -> Result<Option<String>, ExportError> {
    let folder = ExportFolder::new(to);
    let path = to.join(ExportFolder::ARVIZ);
    if path.exists() && !force {
        return Err(ExportError::Exists { path });
    }
    folder.add(ExportFolder::ARVIZ)?;
    let mut groups = vec![posterior(fit), sample_stats(fit)];
    let data = fit.check_data_unchanged().map_err(ExportError::from);
    let data = data.and_then(|()| read_data(&fit.config).map_err(ExportError::from));
    let missing = match data {
        Ok(data) => {
            groups.extend([observed(&data), constant(&data)]);
            groups.extend(predictive(fit, &data));
            None
        }
        Err(error) => Some(format!(
            "only posterior and sample_stats are written, as the data cannot be read: {error}"
        )),
    };
    let about = [
        ("inference_library", "unshuffle"),
        ("inference_library_version", env!("CARGO_PKG_VERSION")),
        ("model_name", fit.config.name.as_str()),
    ];
    let bytes = netcdf::bytes(&groups, &about).map_err(std::io::Error::other);
    write_whole(&path, bytes.map_err(FileError::write(&path))?)?;
    Ok(missing)
}

/// The quantities that are estimated, without `log_lik`, which is given the links of its draw and no input for `loo`.
fn posterior(fit: &Posterior) -> Group {
    let mut arrays = coordinates(fit.chains.len(), &evenly(shortest(fit), usize::MAX));
    let is_labelled = !fit.coefficient_names().is_empty();
    if is_labelled {
        arrays.extend(labels(fit));
    }
    let first = fit.chains.first();
    for (name, places) in first.map(variables).unwrap_or_default() {
        arrays.push(variable(fit, &name, &places, is_labelled && name == "beta"));
    }
    for (column, plain, kind) in [
        ("mismatch_rate__", "mismatch_rate", Kind::Real),
        ("n_moved__", "n_moved", Kind::Whole),
        ("outside_share__", "outside_share", Kind::Real),
        ("n_outside__", "n_outside", Kind::Whole),
    ] {
        arrays.extend(statistic(fit, column, plain, kind));
    }
    let name = "posterior";
    Group { name, arrays }
}

fn sample_stats(fit: &Posterior) -> Group {
    let mut arrays = coordinates(fit.chains.len(), &evenly(shortest(fit), usize::MAX));
    let columns = SAMPLE_STATS.into_iter();
    arrays.extend(columns.filter_map(|(column, plain, kind)| statistic(fit, column, plain, kind)));
    let name = "sample_stats";
    Group { name, arrays }
}

fn observed(data: &Dataset) -> Group {
    let mut arrays = vec![row_numbers(data)];
    let mut dims = vec![("row".to_string(), data.num_rows())];
    let mut values = data.response.clone();
    if let Some(names) = &data.response_names {
        arrays.push(one_dimension("response", Values::Text(names.clone())));
        dims.push(("response".into(), names.len()));
        let further = |row: usize| data.further_responses.iter().map(move |all| all[row]);
        let by_row = |row: usize| [data.response[row]].into_iter().chain(further(row));
        values = (0..data.num_rows()).flat_map(by_row).collect();
    }
    arrays.push(Array {
        name: "y".into(),
        dims,
        values: Values::Real(values),
    });
    let name = "observed_data";
    Group { name, arrays }
}

/// The predictors, and what was known of the links.
fn constant(data: &Dataset) -> Group {
    let rows = ("row".to_string(), data.num_rows());
    let predictors = ("predictor".to_string(), data.predictor_names.len());
    let mut arrays = vec![
        row_numbers(data),
        one_dimension("predictor", Values::Text(data.predictor_names.clone())),
        Array {
            name: "X".into(),
            dims: vec![rows.clone(), predictors],
            values: Values::Real(row_major(&data.x)),
        },
    ];
    let blocks = data.blocks.as_ref().map(|blocks| {
        let labels = blocks
            .of_row
            .iter()
            .map(|block| blocks.labels[*block].clone());
        Values::Text(labels.collect())
    });
    let known = [
        ("id", data.row_ids.clone().map(Values::Text)),
        ("block", blocks),
        ("offset", data.offset.clone().map(Values::Real)),
        ("safe", data.safe.clone().map(Values::Flag)),
        (
            "match_probability",
            data.match_probability.clone().map(Values::Real),
        ),
    ];
    let known = known.into_iter().filter_map(|(name, values)| {
        Some(Array {
            name: name.into(),
            dims: vec![rows.clone()],
            values: values?,
        })
    });
    arrays.extend(known);
    let name = "constant_data";
    Group { name, arrays }
}

/// New responses of the rows of the data; None for a program of which no law of the responses is known.
fn predictive(fit: &Posterior, data: &Dataset) -> Option<Group> {
    let spread = fit.data.as_ref().and_then(|data| data.spread.as_ref());
    let (family, x) = (fit.config.known_family()?, data.x.view());
    let laws = LawDraws::new(family, x, data.offset.as_deref(), &fit.chains, spread)?;
    let per_draw = fit.chains.len() * data.num_rows();
    let draws = evenly(shortest(fit), MOST_PREDICTED / per_draw.max(1));
    let mut rng = rng::stream(fit.config.sampler.seed, STREAM);
    let mut values = Vec::with_capacity(draws.len() * per_draw);
    for chain in &fit.chains {
        for draw in &draws {
            values.extend(laws.at(chain, *draw)?.draw(&mut rng));
        }
    }
    let mut arrays = coordinates(fit.chains.len(), &draws);
    arrays.push(row_numbers(data));
    let mut dims = chain_and_draw(fit.chains.len(), draws.len());
    dims.push(("row".into(), data.num_rows()));
    arrays.push(Array {
        name: "y".into(),
        dims,
        values: Values::Real(values),
    });
    let name = "posterior_predictive";
    Some(Group { name, arrays })
}

/// Evenly spaced draws, at most `most` of them.
fn evenly(num_draws: usize, most: usize) -> Vec<usize> {
    let taken = num_draws.min(most.max(1));
    (0..taken).map(|k| k * num_draws / taken).collect()
}

/// Chains of an interrupted fit differ in length, and arrays cannot.
fn shortest(fit: &Posterior) -> usize {
    let lengths = fit.chains.iter().map(ChainDraws::num_draws);
    lengths.min().unwrap_or(0)
}

fn chain_and_draw(num_chains: usize, num_draws: usize) -> Vec<(String, usize)> {
    vec![("chain".into(), num_chains), ("draw".into(), num_draws)]
}

fn one_dimension(name: &str, values: Values) -> Array {
    let length = match &values {
        Values::Real(values) => values.len(),
        Values::Whole(values) => values.len(),
        Values::Flag(values) => values.len(),
        Values::Text(values) => values.len(),
    };
    let dims = vec![(name.to_string(), length)];
    let name = name.to_string();
    Array { name, dims, values }
}

/// Chains and draws count from 0, as everywhere in ArviZ.
fn coordinates(num_chains: usize, draws: &[usize]) -> Vec<Array> {
    let chains = (0..num_chains as i64).collect();
    let draws = draws.iter().map(|draw| *draw as i64).collect();
    vec![
        one_dimension("chain", Values::Whole(chains)),
        one_dimension("draw", Values::Whole(draws)),
    ]
}

/// Rows as they are numbered in the user's file.
fn row_numbers(data: &Dataset) -> Array {
    let numbers = data.row_numbers.iter().map(|number| *number as i64);
    one_dimension("row", Values::Whole(numbers.collect()))
}

/// The names of predictors and responses.
fn labels(fit: &Posterior) -> Vec<Array> {
    let predictors = fit.predictors().into_iter().map(String::from).collect();
    let responses = fit
        .data
        .as_ref()
        .and_then(|data| data.response_names.clone());
    let responses = responses.map(|names| one_dimension("response", Values::Text(names)));
    let predictors = one_dimension("predictor", Values::Text(predictors));
    [predictors].into_iter().chain(responses).collect()
}

/// Where the element of a variable stands: its indices from 1, and its column.
type Element = (Vec<usize>, usize);

/// The variables of the program with their elements, in the order of the columns: `beta.2.1` is an element of `beta`.
fn variables(chain: &ChainDraws) -> Vec<(String, Vec<Element>)> {
    let mut variables: Vec<(String, Vec<Element>)> = Vec::new();
    for (column, name) in chain.names.iter().enumerate() {
        if name.ends_with("__") || is_log_lik(name) {
            continue;
        }
        let mut parts = name.split('.');
        let base = parts.next().unwrap_or_default();
        let indices: Option<Vec<usize>> = parts.map(|part| part.parse().ok()).collect();
        let (base, indices) = match indices {
            Some(indices) => (base, indices),
            None => (name.as_str(), Vec::new()),
        };
        match variables.last_mut() {
            Some((last, elements)) if last == base => elements.push((indices, column)),
            _ => variables.push((base.to_string(), vec![(indices, column)])),
        }
    }
    variables
}

fn variable(fit: &Posterior, name: &str, elements: &[Element], is_labelled: bool) -> Array {
    let num_indices = elements[0].0.len();
    let lengths: Vec<usize> = (0..num_indices)
        .map(|k| {
            elements
                .iter()
                .map(|(indices, _)| indices[k])
                .max()
                .unwrap_or(0)
        })
        .collect();
    let size: usize = lengths.iter().product();
    let mut order = vec![0; size];
    for (indices, column) in elements {
        let place = indices.iter().zip(&lengths);
        let place = place.fold(0, |place, (index, length)| place * length + index - 1);
        order[place] = *column;
    }
    let num_draws = shortest(fit);
    let mut values = Vec::with_capacity(fit.chains.len() * num_draws * size);
    for chain in &fit.chains {
        for draw in 0..num_draws {
            values.extend(order.iter().map(|column| chain.columns[*column][draw]));
        }
    }
    let mut dims = chain_and_draw(fit.chains.len(), num_draws);
    let dim = |k: usize| match (is_labelled, k) {
        (true, 0) => "predictor".to_string(),
        (true, 1) => "response".to_string(),
        _ => format!("{name}_dim_{k}"),
    };
    dims.extend(
        lengths
            .iter()
            .enumerate()
            .map(|(k, length)| (dim(k), *length)),
    );
    Array {
        name: name.to_string(),
        dims,
        values: Values::Real(values),
    }
}

/// A column with one number for each draw.
fn statistic(fit: &Posterior, column: &str, name: &str, kind: Kind) -> Option<Array> {
    let num_draws = shortest(fit);
    let mut values = Vec::with_capacity(fit.chains.len() * num_draws);
    for chain in &fit.chains {
        values.extend_from_slice(&chain.column(column)?[..num_draws]);
    }
    Some(Array {
        name: name.into(),
        dims: chain_and_draw(fit.chains.len(), num_draws),
        values: kind.values(values),
    })
}

fn row_major(x: &Array2<f64>) -> Vec<f64> {
    x.rows().into_iter().flatten().copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::posterior::Folder;

    fn fit() -> Posterior {
        let text =
            r#"{"model": {"stan": "linear"}, "data": {"file": "a.csv", "formula": "y ~ x"}}"#;
        let config = crate::config::parse(text, Path::new("/fit/config.json"), &[]).unwrap();
        let names = [
            "lp__",
            "n_moved__",
            "L.1.1",
            "L.2.1",
            "L.1.2",
            "L.2.2",
            "log_lik.1",
        ];
        let chain = |shift: f64| ChainDraws {
            names: names.map(String::from).to_vec(),
            columns: (0..names.len())
                .map(|k| vec![k as f64 + shift; 3])
                .collect(),
            ..ChainDraws::default()
        };
        let mut chains = vec![chain(0.0), chain(10.0)];
        // An interrupted fit has chains of different lengths.
        chains[1]
            .columns
            .iter_mut()
            .for_each(|column| column.truncate(2));
        Posterior::of(Folder::new("/fit"), config, chains)
    }

    #[test]
    fn a_matrix_is_written_by_rows_and_chains_are_cut_to_the_shortest() {
        let group = posterior(&fit());
        let names: Vec<&str> = group.arrays.iter().map(|a| a.name.as_str()).collect();
        assert_eq!(names, ["chain", "draw", "L", "n_moved"]);
        let matrix = &group.arrays[2];
        let lengths: Vec<usize> = matrix.dims.iter().map(|(_, length)| *length).collect();
        assert_eq!(lengths, [2, 2, 2, 2]);
        let Values::Real(values) = &matrix.values else {
            panic!("{matrix:?}");
        };
        assert_eq!(values[..4], [2.0, 4.0, 3.0, 5.0]);
        assert_eq!(values[8..12], [12.0, 14.0, 13.0, 15.0]);
        assert_eq!(group.arrays[3].values, Values::Whole(vec![1, 1, 11, 11]));
    }

    #[test]
    fn draws_are_spread_evenly() {
        assert_eq!(evenly(10, 3), [0, 3, 6]);
        assert_eq!(evenly(3, 10), [0, 1, 2]);
        assert_eq!(evenly(3, 0), [0]);
        assert!(evenly(0, 5).is_empty());
    }
}
