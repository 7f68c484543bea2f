//! `linsep resample`.

use crate::columns::{ColumnArguments, seconds};
use crate::exit::Ending;
use crate::fit::class_weights;
use crate::input::InputArguments;
use crate::method::MethodArguments;
use crate::multiclass::ApproachName;
use crate::output::{print, print_json};
use crate::progress::Progress;
use crate::voice;
use clap::Args;
use linsep::model::{Fit, Method};
use linsep::report::{bootstrap_json, bootstrap_text, permutation_json, permutation_text, refusal_json, refusal_text};
use linsep::workflow::{BootstrapOptions, FitOptions, PermutationStatistic, bootstrap_table, permutation_test};
use linsep::{Error, Result};

/// Draw rows again, or deal classes out anew: how far coefficients move, and whether columns tell anything.
#[derive(Args)]
#[command(after_help = "\
--bootstrap draws rows with replacement and fits each time: percentile and BCa intervals of the
coefficients of logistic, svm, least squares and Gaussian methods, about what the method with its
penalty would give on the whole population. Of a lasso the share of replicates that select a column.
--permutations fits with the classes dealt out anew, and compares the error of rows held out (of
--model hard-margin: the margin). The method is chosen as for fit. Answers are the same for any
number of threads. Exit code 0; 1 where the rows have no model.

Examples:
  linsep resample penguins.csv --target sex --features body_mass_g,bill_depth_mm --bootstrap 999
  linsep resample penguins.csv --target sex --features body_mass_g,bill_depth_mm --model svm
  linsep resample penguins.csv --target sex --drop year --penalty lasso:0.02 --bootstrap 200
  linsep resample penguins.csv --target sex --features year,flipper_length_mm --permutations 199")]
pub struct ResampleArguments {
    #[command(flatten)]
    input: InputArguments,

    /// Column to predict (for LIBSVM files: the label)
    #[arg(long, short, value_name = "COLUMN")]
    target: Option<String>,

    /// Replicates of rows drawn with replacement (default: 999)
    #[arg(long, value_name = "N", help_heading = "Resampling")]
    bootstrap: Option<usize>,

    /// Classes dealt out anew so often, instead of a bootstrap
    #[arg(long, value_name = "N", help_heading = "Resampling", conflicts_with = "bootstrap")]
    permutations: Option<usize>,

    /// Folds in which rows are held out for --permutations (default: 5)
    #[arg(long, value_name = "K", help_heading = "Resampling")]
    folds: Option<usize>,

    /// How sure intervals are (default: 0.95)
    #[arg(long, value_name = "LEVEL", help_heading = "Resampling")]
    level: Option<f64>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    columns: ColumnArguments,

    /// Weights of whole classes, multiplied into those of their rows: balanced, or CLASS=W pairs
    #[arg(long, value_name = "WEIGHTS", value_delimiter = ',', help_heading = "Columns")]
    class_weight: Vec<String>,

    #[command(flatten)]
    method: MethodArguments,

    /// More than two classes: as for fit
    #[arg(long, value_enum, value_name = "APPROACH", help_heading = "Method")]
    multiclass: Option<ApproachName>,

    /// Stop after this many seconds
    #[arg(long, value_name = "SECONDS", help_heading = "Resampling")]
    time_limit: Option<f64>,

    /// Seed of everything random
    #[arg(long, default_value_t = 0, value_name = "N", help_heading = "Resampling")]
    seed: u64,
}

/// Folds where none are asked for: as for calibrations.
const FOLDS: usize = 5;

impl ResampleArguments {
    /// A flag of the other question would be ignored; say so instead.
    fn check(&self) -> Result<()> {
        let strays = [
            ("--folds", self.folds.is_some() && self.permutations.is_none(), "--permutations 999"),
            ("--level", self.level.is_some() && self.permutations.is_some(), "--bootstrap 999"),
        ];
        match strays.iter().find(|(_, stray, _)| *stray) {
            None => Ok(()),
            Some((flag, _, other)) => {
                Err(Error::usage(format!("{flag} is for {}", other.split(' ').next().unwrap_or_default()))
                    .help(format!("add {other}"))
                    .help("leave it out"))
            }
        }
    }
}

/// Runs the subcommand.
pub fn run(arguments: &ResampleArguments) -> Result<Ending> {
    arguments.check()?;
    let time_limit = arguments.time_limit.map(seconds).transpose()?;
    let method = arguments.method.method(!arguments.columns.offset.is_empty(), arguments.seed)?;
    let recipe = arguments.columns.recipe()?;
    let class_weights = class_weights(&arguments.class_weight)?;
    let progress = Progress::new(arguments.input.quiet, time_limit);
    let named = arguments.columns.named_target(arguments.target.as_deref())?;
    let table = arguments.input.read_labelled(named.as_deref(), &progress)?;
    let target = arguments.columns.target(arguments.target.as_deref(), &table)?;
    let method = arguments.method.with_classes(method, &table, &target, arguments.columns.positive.as_deref())?;
    let hard = matches!(method, Method::HardMargin(_));
    let mut options = FitOptions::new(target, method);
    arguments.columns.roles(&mut options);
    options.recipe = recipe;
    let mut options = options.settled()?;
    options.class_weights = class_weights;
    options.multiclass.approach = arguments.multiclass.map(Into::into);
    options.seed = arguments.seed;
    if let Some(permutations) = arguments.permutations {
        let statistic = match hard {
            true => PermutationStatistic::Margin,
            false => PermutationStatistic::HeldOutError { folds: arguments.folds.unwrap_or(FOLDS) },
        };
        let found = permutation_test(table, &options, (statistic, permutations), &progress.watch());
        progress.finish();
        let found = found?;
        return match arguments.json {
            true => print_json(&permutation_json(&found), Ending::Done),
            false => print(&permutation_text(&found), Ending::Done),
        };
    }
    let usual = BootstrapOptions::default();
    let asked = BootstrapOptions {
        replicates: arguments.bootstrap.unwrap_or(usual.replicates),
        level: arguments.level.unwrap_or(usual.level),
    };
    let found = bootstrap_table(table, &options, &asked, &progress.watch());
    progress.finish();
    match (found?, arguments.json) {
        (Fit::Model(found), true) => print_json(&bootstrap_json(&found), Ending::Done),
        (Fit::Model(found), false) => print(&bootstrap_text(&found), Ending::Done),
        (Fit::Refused(refusal), true) => print_json(&refusal_json(&refusal), Ending::No),
        (Fit::Refused(refusal), false) => print(&refusal_text(&refusal, &voice::Command), Ending::No),
    }
}
