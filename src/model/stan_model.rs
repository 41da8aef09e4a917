//! A compiled Stan program with its data, seen as the density of theta given the links.

use std::ffi::{CString, c_char};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use bridgestan::{Model, Rng, StanLibrary};

use super::Standardised;
use super::fixed_blocks::FixedBlocks;
use super::response_block::{self, ModelError, ResponseShape};
use crate::model::stan::{ProgramInfo, StanError};
use crate::numerics::rng::DrawSeeds;
use crate::sampler::chain::{DrawOutputs, LinkedDensity};
use crate::sampler::hmc::{EvalError, LogDensity};
use crate::sampler::links::Permutation;
use crate::text::full_sentence;

/// The parameter that holds the weight of each row in the likelihood.
pub(crate) const WEIGHT: &str = "weight";

/// One model serves all chains: it is read-only after construction.
pub struct StanModel {
    model: Model<Arc<StanLibrary>>,
    label: String,
    shape: ResponseShape,
    /// Where the blocks that are set stand in the unconstrained vector...
    fixed: FixedBlocks,
    /// ...and among all constrained outputs.
    fixed_outputs: FixedBlocks,
    dim: usize,
    num_outputs: usize,
    output_names: Vec<String>,
    theta_names: Vec<String>,
}

/// Stan's `print` goes to stderr, since stdout carries results.
extern "C" fn print_to_stderr(text: *const c_char, length: usize) {
    use std::io::Write;
    // SAFETY: the bridge passes a pointer to `length` bytes that live during the call.
    let bytes = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), length) };
    let _ = std::io::stderr().write_all(bytes);
}

impl StanModel {
    /// As `check_declaration`, once the data are known: whether the latent response, which takes `dimensions` indices, can
    /// hold them.
    pub fn check_dimensions(
        dimensions: usize,
        label: &str,
        response: &str,
        shape: impl Into<ResponseShape>,
    ) -> Result<(), ModelError> {
        response_block::check_dimensions(dimensions, label, response, shape.into())
    }

    /// What the program's text alone can tell, so that a mistake is found before compiling.
    pub fn check_declaration(
        info: &ProgramInfo,
        label: &str,
        response: &str,
    ) -> Result<(), ModelError> {
        response_block::check_declaration(info, label, response)
    }

    pub fn open_library(path: &Path) -> Result<Arc<StanLibrary>, StanError> {
        let failed = |source| StanError::Load {
            path: path.to_path_buf(),
            source,
        };
        let mut library = bridgestan::open_library(path).map_err(|source| {
            if full_sentence(&source).contains("static TLS") {
                return StanError::TooManyModels;
            }
            failed(source)
        })?;
        // SAFETY: the callback never panics; it ignores write errors.
        unsafe { library.set_print_callback(print_to_stderr) }.map_err(failed)?;
        Ok(Arc::new(library))
    }

    /// `response` names the block, which is a vector where `shape` is a number of rows; `data` is Stan's JSON.
    pub fn new(
        library: Arc<StanLibrary>,
        label: &str,
        data: &str,
        response: &str,
        shape: impl Into<ResponseShape>,
        seed: u32,
    ) -> Result<StanModel, ModelError> {
        let shape = shape.into();
        let data = CString::new(data).expect("JSON escapes NUL");
        let model = Model::new(library, Some(data), seed).map_err(|error| {
            let message = error.to_string();
            let mut message = one_line(message.trim_start_matches("Failed to construct model: "));
            if message.contains("variable does not exist") {
                message.push_str("; add it to model.data in the config");
            }
            ModelError::Construct {
                label: label.to_string(),
                message,
            }
        })?;
        let unconstrained: Vec<&str> = model.param_unc_names().split(',').collect();
        let block = response_block::find(&unconstrained, label, response, shape)?;
        let all: Vec<&str> = model.param_names(true, true).split(',').collect();
        let block_output = response_block::find(&all, label, response, shape)?;
        let no_weights = |response| FixedBlocks {
            response,
            weight: 0..0,
        };
        let mut built = StanModel {
            label: label.to_string(),
            shape,
            dim: 0,
            num_outputs: all.len(),
            output_names: Vec::new(),
            theta_names: Vec::new(),
            fixed: no_weights(block),
            fixed_outputs: no_weights(block_output),
            model,
        };
        built.name_theta();
        // A constrained block would change the responses on their way in: its transform must be the identity.
        if !built.is_identity(&built.fixed.response, &built.fixed_outputs.response)? {
            return Err(ModelError::Constrained {
                label: built.label,
                response: response.to_string(),
                shape,
            });
        }
        Ok(built)
    }

    /// The same program with its block `weight` set from outside as well, one weight for each row. It must have been
    /// built with `weighted` = 1 in its data.
    pub fn weighted(mut self) -> Result<StanModel, ModelError> {
        let failed = |label: &str, problem| ModelError::Weights {
            label: label.to_string(),
            problem,
        };
        let num_rows = self.shape.rows;
        let find = |names: &str| {
            let belongs = |name: &str| name.split('.').next() == Some(WEIGHT);
            let mut places = names.split(',').enumerate().filter(|(_, n)| belongs(n));
            let start = places.next()?.0;
            (places.count() + 1 == num_rows).then_some(start..start + num_rows)
        };
        let blocks = (
            find(self.model.param_unc_names()),
            find(self.model.param_names(false, false)),
        );
        let (Some(block), Some(output)) = blocks else {
            return Err(failed(&self.label, "has no weight for each row"));
        };
        self.fixed.weight = block;
        self.fixed_outputs.weight = output;
        if !self.is_identity(&self.fixed.weight, &self.fixed_outputs.weight)? {
            return Err(failed(&self.label, "declares `weight` with a constraint"));
        }
        self.name_theta();
        Ok(self)
    }

    /// Theta and the saved outputs are all that is not set from outside.
    fn name_theta(&mut self) {
        let without = |names: &str, blocks: &FixedBlocks| -> Vec<String> {
            let kept = names.split(',').enumerate();
            let kept = kept.filter(|(k, _)| !blocks.contains(*k));
            kept.map(|(_, name)| name.to_string()).collect()
        };
        self.theta_names = without(self.model.param_unc_names(), &self.fixed);
        self.output_names = without(self.model.param_names(true, true), &self.fixed_outputs);
        self.dim = self.theta_names.len();
    }

    /// Whether the values at `unconstrained` come out at `constrained` as they went in, tried at one irregular point.
    fn is_identity(
        &self,
        unconstrained: &Range<usize>,
        constrained: &Range<usize>,
    ) -> Result<bool, ModelError> {
        let mut point = vec![0.1; self.model.param_unc_num()];
        for (k, value) in point[unconstrained.clone()].iter_mut().enumerate() {
            *value = (k as f64 * 0.618_033_988_749).fract() * 4.0 - 2.5;
        }
        let mut outputs = vec![0.0; self.model.param_num(false, false)];
        self.model
            .param_constrain::<&StanLibrary>(&point, false, false, &mut outputs, None)
            .map_err(|error| self.evaluate_error(error))?;
        Ok(outputs[constrained.clone()] == point[unconstrained.clone()])
    }

    /// Where the parameter `name` stands in theta; None where there is none, or where it has a constraint.
    pub(super) fn plain_block(&self, name: &str) -> Result<Option<Range<usize>>, ModelError> {
        let belongs = |known: &str| known.split('.').next() == Some(name);
        let start = self.theta_names.iter().position(|known| belongs(known));
        let length = self
            .theta_names
            .iter()
            .filter(|known| belongs(known))
            .count();
        let (Some(start), Some((outputs, Block::Parameters))) = (start, self.index_of(name)) else {
            return Ok(None);
        };
        // Stan's own order has the response among the others.
        let first = self.fixed.place_of(start, self.model.param_unc_num());
        let placed = first..first + length;
        let plain = outputs.len() == length && self.is_identity(&placed, &outputs)?;
        Ok(plain.then_some(start..start + length))
    }

    /// Dimension of theta on the unconstrained scale, the response and the weights left out.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Whether its rows have weights, which are set from outside.
    pub fn is_weighted(&self) -> bool {
        !self.fixed.weight.is_empty()
    }

    /// The shape of the latent response.
    pub fn shape(&self) -> ResponseShape {
        self.shape
    }

    /// The generated C++ class, as CmdStan's files name a model.
    pub fn name(&self) -> &str {
        self.model.name().unwrap_or("model")
    }

    /// As the compiled library tells it, for example 2.35.0.
    pub fn stan_version(&self) -> String {
        let info = self.model.info().to_string_lossy();
        let line = info
            .lines()
            .find_map(|line| line.strip_prefix("Stan version:"));
        line.unwrap_or("0.0.0").trim().to_string()
    }

    pub fn label(&self) -> &str {
        &self.label
    }

    /// Everything that is saved of a draw: parameters, transformed parameters, generated quantities; no response and no
    /// weights.
    pub fn output_names(&self) -> &[String] {
        &self.output_names
    }

    /// The unconstrained coordinates that HMC moves.
    pub fn theta_names(&self) -> &[String] {
        &self.theta_names
    }

    /// Whether there are generated quantities.
    fn generates(&self) -> bool {
        self.num_outputs > self.model.param_num(true, false)
    }

    /// Whether the outputs are the parameters and nothing else.
    pub fn puts_out_parameters_alone(&self) -> bool {
        self.num_outputs == self.model.param_num(false, false)
    }

    /// Positions of `name`, or of `name.1`, `name.2`, ..., among the outputs, and the block they stand in.
    pub fn index_of(&self, name: &str) -> Option<(Range<usize>, Block)> {
        let names = self.model.param_names(true, true).split(',');
        let belongs = |known: &str| known.split('.').next() == Some(name);
        let mut places = names.enumerate().filter(|(_, known)| belongs(known));
        let start = places.next()?.0;
        let range = start..start + 1 + places.count();
        let block = if range.end <= self.model.param_num(false, false) {
            Block::Parameters
        } else if range.end <= self.model.param_num(true, false) {
            Block::TransformedParameters
        } else {
            Block::GeneratedQuantities
        };
        Some((range, block))
    }

    /// The unconstrained theta of a saved draw; `value` gives what was saved under a name.
    pub fn unconstrain(
        &self,
        response: &[f64],
        value: impl Fn(&str) -> Option<f64>,
    ) -> Result<Option<Vec<f64>>, ModelError> {
        let num_parameters = self.model.param_num(false, false);
        let num_saved = num_parameters - self.fixed_outputs.len();
        let saved: Option<Vec<f64>> = self.output_names[..num_saved]
            .iter()
            .map(|name| value(name))
            .collect();
        let Some(saved) = saved else {
            return Ok(None);
        };
        let mut constrained = vec![1.0; num_parameters];
        self.fixed_outputs.scatter(&saved, &mut constrained);
        constrained[self.fixed_outputs.response.clone()].copy_from_slice(response);
        let mut full = vec![0.0; self.model.param_unc_num()];
        self.model
            .param_unconstrain(&constrained, &mut full)
            .map_err(|error| self.evaluate_error(error))?;
        Ok(Some(self.theta_of(&full)))
    }

    /// The normalised log density at theta and this aligned response, on the constrained scale; every row has weight 1.
    pub(super) fn log_density(&self, theta: &[f64], response: &[f64]) -> Result<f64, ModelError> {
        self.log_density_weighted(theta, response, &vec![1.0; self.fixed.weight.len()])
    }

    /// As `log_density`, with these weights of the rows.
    pub(super) fn log_density_weighted(
        &self,
        theta: &[f64],
        response: &[f64],
        weights: &[f64],
    ) -> Result<f64, ModelError> {
        let mut full = vec![0.0; self.model.param_unc_num()];
        self.fixed.scatter(theta, &mut full);
        full[self.fixed.response.clone()].copy_from_slice(response);
        full[self.fixed.weight.clone()].copy_from_slice(weights);
        self.model
            .log_density(&full, false, false)
            .map_err(|error| self.evaluate_error(error))
    }

    pub fn rng(&self, seed: u32) -> Result<Rng<Arc<StanLibrary>>, ModelError> {
        Rng::new(self.model.clone_library_ref(), seed).map_err(|error| self.evaluate_error(error))
    }

    /// A starting point: `values` (Stan's JSON, the response included) where given, else uniform in ±radius.
    pub(crate) fn initialize(
        &self,
        values: String,
        radius: f64,
        rng: &mut Rng<Arc<StanLibrary>>,
    ) -> Result<Vec<f64>, String> {
        const TRIES: i32 = 100;
        let mut full = vec![0.0; self.model.param_unc_num()];
        let values = CString::new(values).expect("JSON escapes NUL");
        self.model
            .param_initialize(rng, values, radius, TRIES, true, &mut full)
            .map_err(|error| one_line(&error.to_string()))?;
        Ok(self.theta_of(&full))
    }

    fn theta_of(&self, full: &[f64]) -> Vec<f64> {
        let mut theta = vec![0.0; self.dim];
        self.fixed.gather(full, &mut theta);
        theta
    }

    fn evaluate_error(&self, error: bridgestan::BridgeStanError) -> ModelError {
        ModelError::Evaluate {
            label: self.label.clone(),
            message: one_line(&error.to_string()),
        }
    }
}

fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// log p(theta | links): what one chain evaluates, with its own buffers and its own aligned response.
pub struct ThetaGivenPi<'m> {
    model: &'m StanModel,
    /// None where HMC moves in theta itself.
    coordinates: Option<&'m Standardised>,
    theta: Vec<f64>,
    full: Vec<f64>,
    full_gradient: Vec<f64>,
}

impl<'m> ThetaGivenPi<'m> {
    /// `aligned` holds, at row j of X, the response that is linked to it.
    pub fn new(model: &'m StanModel, aligned: &[f64]) -> ThetaGivenPi<'m> {
        let size = model.model.param_unc_num();
        let mut target = ThetaGivenPi {
            model,
            coordinates: None,
            theta: vec![0.0; model.dim],
            full: vec![0.0; size],
            full_gradient: vec![0.0; size],
        };
        target.response_mut().copy_from_slice(aligned);
        target.weights_mut().fill(1.0);
        target
    }

    fn response_mut(&mut self) -> &mut [f64] {
        &mut self.full[self.model.fixed.response.clone()]
    }

    /// The same density, of these coordinates instead of theta.
    pub fn in_coordinates(self, coordinates: Option<&'m Standardised>) -> ThetaGivenPi<'m> {
        ThetaGivenPi {
            coordinates,
            ..self
        }
    }
}

impl LinkedDensity for ThetaGivenPi<'_> {
    fn theta_at(&self, position: &[f64], theta: &mut [f64]) {
        theta.copy_from_slice(position);
        if let Some(coordinates) = self.coordinates {
            coordinates.to_theta(theta);
        }
    }

    fn position_of(&self, mut theta: Vec<f64>) -> Vec<f64> {
        if let Some(coordinates) = self.coordinates {
            coordinates.to_position(&mut theta);
        }
        theta
    }

    fn response(&self) -> &[f64] {
        &self.full[self.model.fixed.response.clone()]
    }

    fn weights(&self) -> &[f64] {
        &self.full[self.model.fixed.weight.clone()]
    }

    fn align(&mut self, permutation: &Permutation, responses: &[f64]) {
        permutation.align(responses, self.response_mut());
    }

    fn weights_mut(&mut self) -> &mut [f64] {
        &mut self.full[self.model.fixed.weight.clone()]
    }
}

/// Everything a program computes from a draw: parameters, transformed parameters, generated quantities.
pub struct Outputs<'m> {
    model: &'m StanModel,
    full: Vec<f64>,
    values: Vec<f64>,
    seeds: DrawSeeds,
    /// For evaluations besides the draws, of which only quantities without random numbers are used. It is no part of a
    /// chain's state. A new generator for each would take longer than the program.
    rng: Rng<Arc<StanLibrary>>,
}

impl<'m> Outputs<'m> {
    pub fn new(model: &'m StanModel, seeds: DrawSeeds) -> Result<Outputs<'m>, ModelError> {
        let mut full = vec![0.0; model.model.param_unc_num()];
        full[model.fixed.weight.clone()].fill(1.0);
        Ok(Outputs {
            model,
            full,
            values: vec![0.0; model.num_outputs],
            seeds,
            rng: model.rng(seeds.of_draw(0))?,
        })
    }

    /// The values of all blocks up to `last`, in the order of `StanModel::index_of`.
    pub fn evaluate(
        &mut self,
        theta: &[f64],
        response: &[f64],
        last: Block,
    ) -> Result<&[f64], ModelError> {
        self.full[self.model.fixed.response.clone()].copy_from_slice(response);
        self.evaluate_placed(theta, last, None)
    }

    /// Sets the response, for `evaluate_again`: a program on fewer rows takes the first ones.
    pub(super) fn place_response(&mut self, response: &[f64]) {
        let block = self.model.fixed.response.clone();
        self.full[block.clone()].copy_from_slice(&response[..block.len()]);
    }

    /// As `evaluate`, with the response of the last call or of `place_response`.
    pub(super) fn evaluate_again(
        &mut self,
        theta: &[f64],
        last: Block,
    ) -> Result<&[f64], ModelError> {
        self.evaluate_placed(theta, last, None)
    }

    /// The values of all blocks, with Stan's generator seeded for this draw (from 1).
    pub fn evaluate_draw(
        &mut self,
        draw: usize,
        theta: &[f64],
        response: &[f64],
    ) -> Result<&[f64], ModelError> {
        self.place_response(response);
        // Seeding a generator takes longer than most programs.
        if !self.model.generates() {
            return self.evaluate_placed(theta, Block::TransformedParameters, None);
        }
        let mut rng = self.model.rng(self.seeds.of_draw(draw))?;
        self.evaluate_placed(theta, Block::GeneratedQuantities, Some(&mut rng))
    }

    /// As `evaluate`, with every row's responses equal to those of `row`.
    pub fn evaluate_constant(
        &mut self,
        theta: &[f64],
        responses: &[f64],
        row: usize,
    ) -> Result<&[f64], ModelError> {
        let num_rows = self.model.shape.rows;
        let columns = self.full[self.model.fixed.response.clone()].chunks_exact_mut(num_rows);
        for (column, response) in columns.zip(responses.chunks_exact(num_rows)) {
            column.fill(response[row]);
        }
        self.evaluate_placed(theta, Block::GeneratedQuantities, None)
    }

    fn evaluate_placed(
        &mut self,
        theta: &[f64],
        last: Block,
        rng: Option<&mut Rng<Arc<StanLibrary>>>,
    ) -> Result<&[f64], ModelError> {
        self.model.fixed.scatter(theta, &mut self.full);
        let transformed = last >= Block::TransformedParameters;
        let generated = last == Block::GeneratedQuantities;
        let size = self.model.model.param_num(transformed, generated);
        let rng = rng.unwrap_or(&mut self.rng);
        let values = &mut self.values[..size];
        self.model
            .model
            .param_constrain(&self.full, transformed, generated, values, Some(rng))
            .map_err(|error| self.model.evaluate_error(error))?;
        Ok(values)
    }
}

impl DrawOutputs for Outputs<'_> {
    type Error = ModelError;

    /// Appends the outputs, in the order of `StanModel::output_names`.
    fn append(
        &mut self,
        draw: usize,
        theta: &[f64],
        response: &[f64],
        weights: &[f64],
        row: &mut Vec<f64>,
    ) -> Result<(), ModelError> {
        self.full[self.model.fixed.weight.clone()].copy_from_slice(weights);
        let gaps = self.model.fixed_outputs.gaps(self.model.num_outputs);
        let values = self.evaluate_draw(draw, theta, response)?;
        for gap in gaps {
            row.extend_from_slice(&values[gap]);
        }
        Ok(())
    }
}

/// The blocks of a program whose values it puts out, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Block {
    Parameters,
    TransformedParameters,
    GeneratedQuantities,
}

impl LogDensity for ThetaGivenPi<'_> {
    fn dim(&self) -> usize {
        self.model.dim
    }

    fn log_density_gradient(
        &mut self,
        position: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, EvalError> {
        self.theta.copy_from_slice(position);
        if let Some(coordinates) = self.coordinates {
            coordinates.to_theta(&mut self.theta);
        }
        self.model.fixed.scatter(&self.theta, &mut self.full);
        let value = self
            .model
            .model
            .log_density_gradient(&self.full, true, true, &mut self.full_gradient)
            .map_err(|error| EvalError::Rejected(error.to_string()))?;
        self.model.fixed.gather(&self.full_gradient, gradient);
        if let Some(coordinates) = self.coordinates {
            coordinates.pull_back(gradient);
        }
        Ok(value)
    }
}
