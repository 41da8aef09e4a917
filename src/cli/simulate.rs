//! `unshuffle simulate`: arguments as typed, then a design.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::failure::Failure;
use super::json;
use super::terminal::{absolute, refuse_input};
use crate::config::{Data, Family, Missing};
use crate::study::simulate::{
    self, DEFAULT_MISLINKED, Design, DesignName, Kind, Settings, SimulateError, Source, TimesName,
    config_text, mislink_file, needed, write_files,
};

#[derive(Debug, Args)]
pub(super) struct SimulateArgs {
    /// The paper's experiment, a regression of your own choice, or your own file with rows mislinked
    #[arg(long, value_enum)]
    design: Origin,
    /// Number of rows
    #[arg(long)]
    n: Option<usize>,
    /// Seed of the random numbers
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The folder to write to
    #[arg(long, value_name = "DIR")]
    output: PathBuf,
    /// Overwrite files that are already there
    #[arg(long)]
    force: bool,
    /// Standard deviation of the predictors [default: 10 for paper, 1 for general; for counts, amounts and 0/1 smaller: it
    /// gives x'beta the standard deviation 1 (log link) or 3 (logit link) where beta is 1]
    #[arg(long, value_name = "S")]
    x_scale: Option<f64>,
    /// Law of the errors, or of the response [default: normal]
    #[arg(long, value_enum)]
    errors: Option<Family>,
    /// Quantile of asymmetric Laplace errors [default: 0.5]
    #[arg(long)]
    tau: Option<f64>,
    /// Degrees of freedom of Student t errors [default: 4]
    #[arg(long)]
    nu: Option<f64>,
    /// negative_binomial: variance = mean + mean^2 / phi [default: 5]
    #[arg(long)]
    phi: Option<f64>,
    /// gamma: variance = mean^2 / shape [default: 5]; --times weibull: its shape [default: 1.5]
    #[arg(long)]
    shape: Option<f64>,
    /// Scale of the errors [default: 0.1 for paper, 1 for general]
    #[arg(long)]
    sigma: Option<f64>,
    /// Instead of --sigma: the share of the variance that the predictors explain
    #[arg(long)]
    r2: Option<f64>,
    /// general: number of predictors; file: their columns, separated by commas
    #[arg(long, value_name = "D or COLUMNS")]
    predictors: Option<String>,
    /// general: the coefficient of every predictor [default: 1]
    #[arg(long, allow_negative_numbers = true)]
    beta: Option<f64>,
    /// general: the intercept; left out, there is none
    #[arg(long, allow_negative_numbers = true)]
    intercept: Option<f64>,
    /// general, file: the fraction of rows that are mislinked [default: 0.1]
    #[arg(long, value_name = "FRACTION")]
    mislinked: Option<f64>,
    /// general, file: among which rows links are wrong [default: random]
    #[arg(long, value_enum)]
    kind: Option<Kind>,
    /// general with --kind blocks: number of blocks
    #[arg(long)]
    blocks: Option<usize>,
    /// general: the share of the mislinked rows whose response belongs to nobody in the file [default: 0]
    #[arg(long, value_name = "SHARE")]
    outside: Option<f64>,
    /// general: times until an event, in the columns `time` and `event`, in place of a response
    #[arg(long, value_enum, value_name = "LAW")]
    times: Option<TimesName>,
    /// general with --times: the share of the times that are censored [default: 0.2]
    #[arg(long, value_name = "SHARE")]
    censored: Option<f64>,
    /// file: the CSV file
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// file: column of the response
    #[arg(long, value_name = "COLUMN")]
    response: Option<String>,
    /// file: instead of --response and --predictors, such as "log(wage) ~ education + gender"
    #[arg(long, conflicts_with_all = ["response", "predictors"])]
    formula: Option<String>,
    /// file: column that names the rows
    #[arg(long, value_name = "COLUMN")]
    id: Option<String>,
    /// file with --kind blocks: column of the blocks
    #[arg(long, value_name = "COLUMN")]
    block: Option<String>,
    /// file: column that marks rows whose link is right, which are not mislinked
    #[arg(long, value_name = "COLUMN")]
    safe: Option<String>,
    /// file: leave out rows with missing values
    #[arg(long)]
    drop_missing: bool,
    /// file: a column to leave out, such as another form of the response
    #[arg(long, value_name = "COLUMN")]
    drop: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Origin {
    /// 20 predictors, six reversed rows and a copied one
    Paper,
    /// Any size, errors and wrong links
    General,
    /// Your own file
    File,
}

pub(super) fn simulate(args: SimulateArgs) -> Result<(), Failure> {
    args.refuse_what_does_not_apply()?;
    let simulated = |name, design: Design| {
        let simulated = simulate::simulate(&design, args.seed)?;
        let has_outside = design.outside > 0.0;
        let config = config_text(name, design.model(), &simulated.columns(), has_outside);
        Ok::<_, Failure>((simulated.csv(), simulated.truth, config))
    };
    let (csv, truth, config) = match args.design {
        Origin::Paper => simulated("paper", args.regression(DesignName::Paper)?)?,
        Origin::General => simulated("general", args.regression(DesignName::General)?)?,
        Origin::File => {
            let source = args.source()?;
            let mislinked = mislink_file(&source, args.seed)?;
            let model = match mislinked.is_list {
                true => ("multivariate", Family::Stan),
                false => ("linear", Family::Gaussian),
            };
            let config = config_text("mislinked", model, &source.data, false);
            (mislinked.csv, mislinked.truth, config)
        }
    };
    if let Some(from) = &args.from {
        refuse_input(&args.output.join("data.csv"), &[from])?;
    }
    write_files(&args.output, &csv, &truth, &config, args.force)?;
    json::result("folder", absolute(&args.output));
    let folder = args.output.display();
    let outside = match truth.num_outside {
        0 => String::new(),
        number => format!(", {number} of these to responses from outside"),
    };
    say!(
        "{folder}: {} rows, {} of them mislinked{outside} (data.csv, truth.json, config.json)",
        truth.pi.len(),
        truth.num_moved
    );
    say!(
        "Now run: unshuffle fit {}",
        args.output.join("config.json").display()
    );
    Ok(())
}

impl SimulateArgs {
    /// An option that a design would ignore is a mistake; `Settings` refuses those of the simulated designs.
    fn refuse_what_does_not_apply(&self) -> Result<(), Failure> {
        let of_simulated = [
            ("--n", self.n.is_some()),
            ("--x-scale", self.x_scale.is_some()),
            ("--errors", self.errors.is_some()),
            ("--sigma", self.sigma.is_some()),
            ("--r2", self.r2.is_some()),
            ("--tau", self.tau.is_some()),
            ("--nu", self.nu.is_some()),
            ("--phi", self.phi.is_some()),
            ("--shape", self.shape.is_some()),
            ("--beta", self.beta.is_some()),
            ("--intercept", self.intercept.is_some()),
            ("--blocks", self.blocks.is_some()),
            ("--outside", self.outside.is_some()),
            ("--times", self.times.is_some()),
            ("--censored", self.censored.is_some()),
        ];
        let of_file = [
            ("--from", self.from.is_some()),
            ("--response", self.response.is_some()),
            ("--formula", self.formula.is_some()),
            ("--safe", self.safe.is_some()),
            ("--drop-missing", self.drop_missing),
            ("--id", self.id.is_some()),
            ("--drop", !self.drop.is_empty()),
            ("--block", self.block.is_some()),
        ];
        let (others, design): (&[_], _) = match self.design {
            Origin::Paper => (&of_file, "paper"),
            Origin::General => (&of_file, "general"),
            Origin::File => (&of_simulated, "file"),
        };
        if let Some((option, _)) = others.iter().find(|(_, given)| *given) {
            return Err(SimulateError::DoesNotApply { option, design }.into());
        }
        if self.block.is_some() && self.kind != Some(Kind::Blocks) {
            let (option, other) = ("--block".into(), "--kind blocks".into());
            return Err(SimulateError::NeedsOther { option, other }.into());
        }
        if self.safe.is_some() && self.kind == Some(Kind::Adjacent) {
            let (option, other) = ("--safe".into(), "--kind random or blocks".into());
            return Err(SimulateError::NeedsOther { option, other }.into());
        }
        Ok(())
    }

    fn regression(&self, design: DesignName) -> Result<Design, Failure> {
        let predictors = self.predictors.as_deref().map(|predictors| {
            predictors.parse().map_err(|_| {
                Failure::user(format!(
                    "--predictors is {predictors}; --design general needs their number"
                ))
            })
        });
        let settings = Settings {
            design,
            n: needed(self.n, "--n, the number of rows")?,
            predictors: predictors.transpose()?,
            x_scale: self.x_scale,
            beta: self.beta,
            intercept: self.intercept,
            sigma: self.sigma,
            r2: self.r2,
            errors: self.errors,
            tau: self.tau,
            nu: self.nu,
            phi: self.phi,
            shape: self.shape,
            mislinked: self.mislinked,
            kind: self.kind,
            blocks: self.blocks,
            outside: self.outside,
            times: self.times,
            censored: self.censored,
        };
        Ok(settings.design()?)
    }

    fn source(&self) -> Result<Source, Failure> {
        let file = needed(self.from.clone(), "--from, the CSV file")?;
        let columns = match &self.formula {
            Some(formula) => Data {
                formula: Some(formula.clone()),
                ..Data::new(file, "", Vec::new())
            },
            None => {
                let predictors = needed(self.predictors.as_deref(), "--predictors, their columns")?;
                let predictors = predictors.split(',').map(|name| name.trim().to_string());
                let response = needed(self.response.as_deref(), "--response, its column")?;
                Data::new(file, response, predictors.collect())
            }
        };
        let kind = self.kind.unwrap_or(Kind::Random);
        let block = match kind {
            Kind::Blocks => Some(needed(self.block.clone(), "--block, the column of blocks")?),
            Kind::Random | Kind::Adjacent => None,
        };
        Ok(Source {
            data: Data {
                id: self.id.clone(),
                block,
                safe: self.safe.clone(),
                missing: if self.drop_missing {
                    Missing::Drop
                } else {
                    Missing::Error
                },
                ..columns
            },
            drop: self.drop.clone(),
            fraction: self.mislinked.unwrap_or(DEFAULT_MISLINKED),
            adjacent: kind == Kind::Adjacent,
        })
    }
}
