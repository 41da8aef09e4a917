//! Responses of new rows from the program itself: `y_new` in generated quantities, given `N_new` and `X_new` in data.

use serde_json::json;

use super::{PredictError, Prediction, STREAM};
use crate::after::export::ChainLinks;
use crate::config::{Feedback, ModelSource, Update};
use crate::fit::{Program, read_data};
use crate::model::stan::Compiler;
use crate::model::{Block, Outputs};
use crate::numerics::rng::DrawSeeds;
use crate::posterior::links::RowNumbers;
use crate::posterior::{Folder, Posterior};

/// Whether the saved program has both ends of a prediction.
pub(super) fn draws_new(fit: &Posterior) -> bool {
    let program = fit.program.as_deref().unwrap_or_default();
    ["N_new", "X_new", "y_new"]
        .iter()
        .all(|name| program.contains(name))
}

pub(super) fn responses(
    prediction: &Prediction,
    compiler: &Compiler,
    seed: u64,
) -> Result<Vec<Vec<f64>>, PredictError> {
    let fit = &prediction.fit;
    let mut config = fit.config.clone();
    let mut data = read_data(&config)?;
    let numbers = RowNumbers::of(&data);
    // The responses of places are not in the file.
    data.places = None;
    let permutation = &mut config.permutation;
    // Without feedback theta saw the responses in the order of the file.
    let linked = permutation.update != Update::None && permutation.feedback == Feedback::Full;
    // The likelihood was checked when it was fitted.
    permutation.update = Update::None;
    permutation.feedback = Feedback::Full;
    permutation.outside = None;
    // The program as it was fitted; the user's own file may have been edited since.
    config.model.stan = ModelSource::File(fit.folder.file(Folder::PROGRAM));
    let x = &prediction.rows.x;
    let rows: Vec<Vec<f64>> = x.rows().into_iter().map(|row| row.to_vec()).collect();
    config.model.data.insert("N_new".into(), json!(rows.len()));
    config.model.data.insert("X_new".into(), json!(rows));
    if let Some(offset) = &prediction.rows.offset {
        let program = fit.program.as_deref().unwrap_or_default();
        if !program.contains("offsets_new") {
            return Err(PredictError::Program {
                folder: fit.folder.path().to_path_buf(),
                problem: "has an offset, but none of new rows: declare `vector[has_offset * N_new] offsets_new` in its data and add it where it draws `y_new`, then fit again",
            });
        }
        config
            .model
            .data
            .insert("offsets_new".into(), json!(offset));
    }
    let prepared = Program::compile(&config.model, compiler)?.with_data(config, data)?;
    let (model, response) = (&prepared.model, &prepared.data.response);
    let unfit = |problem| PredictError::Program {
        folder: fit.folder.path().to_path_buf(),
        problem,
    };
    let (y_new, block) = model
        .index_of("y_new")
        .filter(|(range, _)| range.len() == x.nrows())
        .ok_or_else(|| unfit("has no `vector[N_new] y_new`; declare it in generated quantities"))?;
    if block != Block::GeneratedQuantities {
        return Err(unfit(
            "declares `y_new` outside of generated quantities; move it there",
        ));
    }
    let links = fit.chains.iter().filter(|_| linked);
    let links: Vec<ChainLinks> = links
        .map(|chain| ChainLinks::read(&fit.folder, chain.chain))
        .collect::<Result<_, _>>()
        .map_err(crate::fit::FitError::from)?;
    let mut outputs = Outputs::new(model, DrawSeeds::new(seed, STREAM))?;
    // Places have the first row's response, as in a fit.
    let mut responses = response.clone();
    responses.resize(numbers.num_columns(), response[0]);
    let mut of_columns = responses.clone();
    let mut aligned = response.clone();
    let mut found = Vec::with_capacity(prediction.draws.len());
    for &index in &prediction.draws {
        let (chain, draw) = fit.place(index);
        if let Some(links) = links.get(chain) {
            let pi = links.draw(draw, &numbers);
            let pi = pi.map_err(crate::fit::FitError::from)?;
            pi.align(&responses, &mut of_columns);
            aligned.copy_from_slice(&of_columns[..response.len()]);
        }
        let saved = &fit.chains[chain];
        let value = |name: &str| saved.column(name).map(|column| column[draw]);
        let theta = model.unconstrain(&aligned, value)?.ok_or_else(|| {
            unfit("has parameters that its draws lack; the folder mixes two fits, so fit again")
        })?;
        let values = outputs.evaluate_draw(index + 1, &theta, &aligned)?;
        found.push(values[y_new.clone()].to_vec());
    }
    Ok(found)
}
