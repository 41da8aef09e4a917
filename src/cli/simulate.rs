//! `unshuffle simulate`: arguments as typed, then a design.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::failure::Failure;
use crate::config::{Data, Family};
use crate::simulate::{
    self, Design, Errors, Links, Source, config_text, mislink_file, write_files,
};

#[derive(Debug, Args)]
pub(super) struct SimulateArgs {
    /// The paper's experiment, a regression of your own choice, or your own file with rows mislinked
    #[arg(long, value_enum)]
    design: DesignName,
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
    /// Standard deviation of the predictors [default: 10 for paper, 1 for general]
    #[arg(long, value_name = "S")]
    x_scale: Option<f64>,
    /// Law of the errors [default: normal]
    #[arg(long, value_enum)]
    errors: Option<ErrorsName>,
    /// Quantile of asymmetric Laplace errors [default: 0.5]
    #[arg(long)]
    tau: Option<f64>,
    /// Degrees of freedom of Student t errors [default: 4]
    #[arg(long)]
    nu: Option<f64>,
    /// Scale of the errors [default: 0.1 for paper, 1 for general]
    #[arg(long)]
    sigma: Option<f64>,
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
    /// file: the CSV file
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// file: column of the response
    #[arg(long, value_name = "COLUMN")]
    response: Option<String>,
    /// file: column that names the rows
    #[arg(long, value_name = "COLUMN")]
    id: Option<String>,
    /// file with --kind blocks: column of the blocks
    #[arg(long, value_name = "COLUMN")]
    block: Option<String>,
    /// file: a column to leave out, such as another form of the response
    #[arg(long, value_name = "COLUMN")]
    drop: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DesignName {
    /// 20 predictors, six reversed rows and a copied one
    Paper,
    /// Any size, errors and wrong links
    General,
    /// Your own file
    File,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
enum ErrorsName {
    Normal,
    /// Asymmetric Laplace, as in quantile regression
    Ald,
    StudentT,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Any rows
    Random,
    /// Neighbours in the file
    Adjacent,
    /// Rows of the same block
    Blocks,
}

pub(super) fn simulate(args: SimulateArgs) -> Result<(), Failure> {
    args.refuse_what_does_not_apply()?;
    let name = match args.design {
        DesignName::Paper => "paper",
        DesignName::General => "general",
        DesignName::File => "mislinked",
    };
    let (csv, truth, config) = if args.design == DesignName::File {
        let source = args.source()?;
        let mislinked = mislink_file(&source, args.seed)?;
        let config = config_text(name, ("linear", Family::Gaussian), &source.data);
        (mislinked.csv, mislinked.truth, config)
    } else {
        let design = args.regression()?;
        let simulated = simulate::simulate(&design, args.seed)?;
        let config = config_text(name, design.model(), &simulated.columns());
        (simulated.csv(), simulated.truth, config)
    };
    write_files(&args.output, &csv, &truth, &config, args.force)?;
    let folder = args.output.display();
    println!(
        "{folder}: {} rows, {} of them mislinked (data.csv, truth.json, config.json)",
        truth.pi.len(),
        truth.num_moved
    );
    println!(
        "Now run: unshuffle fit {}",
        args.output.join("config.json").display()
    );
    Ok(())
}

impl SimulateArgs {
    /// An option that a design would ignore is a mistake.
    fn refuse_what_does_not_apply(&self) -> Result<(), Failure> {
        use DesignName::{File, General, Paper};
        let kind = self.kind.unwrap_or(Kind::Random);
        let design = self.design;
        let simulated = design != File;
        let options = [
            ("--n", self.n.is_some(), simulated),
            ("--x-scale", self.x_scale.is_some(), simulated),
            ("--errors", self.errors.is_some(), simulated),
            ("--sigma", self.sigma.is_some(), simulated),
            ("--predictors", self.predictors.is_some(), design != Paper),
            ("--beta", self.beta.is_some(), design == General),
            ("--intercept", self.intercept.is_some(), design == General),
            ("--mislinked", self.mislinked.is_some(), design != Paper),
            ("--kind", self.kind.is_some(), design != Paper),
            ("--from", self.from.is_some(), design == File),
            ("--response", self.response.is_some(), design == File),
            ("--id", self.id.is_some(), design == File),
            ("--drop", !self.drop.is_empty(), design == File),
            ("--blocks", self.blocks.is_some(), design == General),
            ("--block", self.block.is_some(), design == File),
            ("--tau", self.tau.is_some(), simulated),
            ("--nu", self.nu.is_some(), simulated),
        ];
        let refused = options
            .iter()
            .find(|(_, given, applies)| *given && !applies);
        if let Some((option, ..)) = refused {
            let name = design.to_possible_value().expect("no value is skipped");
            return Err(Failure::user(format!(
                "{option} does not apply to --design {}; remove it",
                name.get_name()
            )));
        }
        let blocks_given = self.blocks.is_some() || self.block.is_some();
        let with_errors = [
            (
                "--tau needs --errors ald; add it or remove --tau",
                self.tau.is_some() && !matches!(self.errors, Some(ErrorsName::Ald)),
            ),
            (
                "--nu needs --errors student_t; add it or remove --nu",
                self.nu.is_some() && !matches!(self.errors, Some(ErrorsName::StudentT)),
            ),
            (
                "--blocks and --block need --kind blocks; add it or remove them",
                blocks_given && kind != Kind::Blocks,
            ),
        ];
        match with_errors.iter().find(|(_, wrong)| *wrong) {
            Some((sentence, _)) => Err(Failure::user(sentence.to_string())),
            None => Ok(()),
        }
    }

    fn regression(&self) -> Result<Design, Failure> {
        let num_rows = needed(self.n, "--n, the number of rows")?;
        let mut design = Design::paper(num_rows);
        if self.design == DesignName::General {
            let predictors = self.predictors.as_deref();
            let predictors = needed(predictors, "--predictors, their number")?;
            let fraction = self.fraction();
            design = Design {
                num_rows,
                num_predictors: predictors.parse().map_err(|_| {
                    Failure::user(format!(
                        "--predictors is {predictors}; --design general needs their number"
                    ))
                })?,
                x_scale: 1.0,
                beta: self.beta.unwrap_or(1.0),
                intercept: self.intercept,
                sigma: 1.0,
                errors: Errors::Normal,
                links: match self.kind.unwrap_or(Kind::Random) {
                    Kind::Random => Links::Random { fraction },
                    Kind::Adjacent => Links::Adjacent { fraction },
                    Kind::Blocks => Links::Blocks {
                        fraction,
                        num_blocks: needed(self.blocks, "--blocks, their number")?,
                    },
                },
            };
        }
        design.x_scale = self.x_scale.unwrap_or(design.x_scale);
        design.sigma = self.sigma.unwrap_or(design.sigma);
        design.errors = match self.errors {
            None | Some(ErrorsName::Normal) => Errors::Normal,
            Some(ErrorsName::Ald) => Errors::AsymmetricLaplace {
                tau: self.tau.unwrap_or(0.5),
            },
            Some(ErrorsName::StudentT) => Errors::StudentT {
                nu: self.nu.unwrap_or(4.0),
            },
        };
        Ok(design)
    }

    fn source(&self) -> Result<Source, Failure> {
        let predictors = needed(self.predictors.as_deref(), "--predictors, their columns")?;
        let columns = predictors.split(',').map(|name| name.trim().to_string());
        let kind = self.kind.unwrap_or(Kind::Random);
        let block = match kind {
            Kind::Blocks => Some(needed(self.block.clone(), "--block, the column of blocks")?),
            Kind::Random | Kind::Adjacent => None,
        };
        Ok(Source {
            data: Data {
                file: needed(self.from.clone(), "--from, the CSV file")?,
                response: needed(self.response.clone(), "--response, its column")?,
                predictors: columns.collect(),
                intercept: true,
                id: self.id.clone(),
                block,
                safe: None,
            },
            drop: self.drop.clone(),
            fraction: self.fraction(),
            adjacent: kind == Kind::Adjacent,
        })
    }

    fn fraction(&self) -> f64 {
        self.mislinked.unwrap_or(0.1)
    }
}

fn needed<T>(value: Option<T>, what: &str) -> Result<T, Failure> {
    value.ok_or_else(|| Failure::user(format!("this design needs {what}")))
}
