//! `linsep estimate`.

use crate::exit::Ending;
use crate::input::InputArguments;
use crate::output::{print, print_json};
use crate::progress::Progress;
use clap::{Args, ValueEnum};
use linsep::model::Divisor;
use linsep::report::population_text;
use linsep::workflow::{PopulationKnown, estimate_population};
use linsep::{Error, Result};
use serde_json::json;
use std::path::PathBuf;

/// Mean and covariance of one population, without classes.
#[derive(Args)]
#[command(after_help = "\
All rows are of one population: its mean with standard errors √(Σ_jj/n), and its covariance with the
divisor n − 1, or n with --covariance mle. A file of --parameters says what is known: the covariance, or a
normal prior of the mean, which then has a posterior mean and covariance:
  {\"features\": [\"x1\"], \"mean_prior\": {\"mean\": [0], \"covariance\": [[1]]}}

Examples:
  linsep estimate penguins.csv --features bill_length_mm,body_mass_g
  linsep estimate points.csv --covariance mle")]
pub struct EstimateArguments {
    #[command(flatten)]
    input: InputArguments,

    /// Use these columns only (default: all)
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    features: Option<Vec<String>>,

    /// Divisor of the covariance: unbiased (n − 1; default) or mle (n)
    #[arg(long, value_enum, value_name = "KIND", default_value = "unbiased")]
    covariance: DivisorName,

    /// JSON file of what is known: features, covariance, mean_prior
    #[arg(long, value_name = "FILE")]
    parameters: Option<PathBuf>,

    /// Compare with this truth file, as simulate population writes it
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DivisorName {
    /// n − 1
    Unbiased,
    /// n
    Mle,
}

/// Runs the subcommand.
pub fn run(arguments: &EstimateArguments) -> Result<Ending> {
    let bytes = |path: &PathBuf| {
        let name = path.display().to_string();
        std::fs::read(path).map_err(|e| Error::io(&name, &e)).map(|bytes| (bytes, name))
    };
    let known = match &arguments.parameters {
        Some(path) => {
            let (bytes, name) = bytes(path)?;
            Some(PopulationKnown::from_json(&bytes, &name)?)
        }
        None => None,
    };
    let truth = arguments.truth.as_ref().map(bytes).transpose()?;
    let progress = Progress::new(arguments.input.quiet, None);
    let table = arguments.input.read(None, &progress)?;
    let (divisor, words) = match arguments.covariance {
        DivisorName::Unbiased => (Divisor::Unbiased, "n − 1"),
        DivisorName::Mle => (Divisor::Mle, "n"),
    };
    let found = estimate_population(&table, arguments.features.as_deref(), divisor, known.as_ref())?;
    let truth = truth.as_ref().map(|(bytes, name)| (bytes.as_slice(), name.as_str()));
    if arguments.json {
        let mut value = found.to_json();
        if let Some((bytes, name)) = truth {
            let one = |(what, truth, estimate): &(String, f64, f64)| json!({"parameter": what, "truth": truth, "estimate": estimate});
            value["truth"] = found.beside(bytes, name)?.iter().map(one).collect();
        }
        return print_json(&value, Ending::Done);
    }
    print(&population_text(&found, truth, words)?, Ending::Done)
}
