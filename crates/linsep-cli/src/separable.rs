//! `linsep separable`.

use crate::columns::{ColumnArguments, seconds};
use crate::exit::Ending;
use crate::input::InputArguments;
use crate::output::{print, print_json};
use crate::progress::Progress;
use crate::signals::{cancelled, patient};
use crate::voice;
use clap::{Args, ValueEnum};
use linsep::design::RecipeOptions;
use linsep::report::{separability_json, separability_text};
use linsep::workflow::{Scope, SeparableOptions, TableSeparability, separable_table};
use linsep::{Error, ErrorKind, Result};
use std::io::Write;

/// Whether planes can separate the classes, with a proof either way.
#[derive(Args)]
#[command(after_help = "\
Verdicts:
  complete        a plane puts every row strictly on its side; the widest one, and the nearest points of the hulls
  quasi-complete  no plane does, but one has no row on the wrong side; which coefficients diverge
  overlap         neither; positive weights of all rows that balance, and few rows whose hulls share a point
  undecided       rounding or the time limit got in the way
Exit code 0 if complete, 1 otherwise.

Examples:
  linsep separable penguins.csv --target species
  linsep separable penguins.csv --target sex --drop year --exact
  linsep separable iris.csv --target Species --scope pairs --json")]
pub struct SeparableArguments {
    #[command(flatten)]
    input: InputArguments,

    /// Column of the classes (for LIBSVM files: the label)
    #[arg(long, short, value_name = "COLUMN")]
    target: Option<String>,

    /// With more than two classes: all by one linear machine (joint), every two (pairs), each against the others (rest)
    /// (default: all three up to 8 classes, else joint)
    #[arg(long, value_enum, value_name = "SCOPE", help_heading = "Question")]
    scope: Option<ScopeName>,

    /// Check the witness in rational arithmetic as well
    #[arg(long, help_heading = "Question")]
    exact: bool,

    /// Relative to the largest, how far from a plane a row counts as on it
    #[arg(long, value_name = "T", default_value_t = 1e-9, help_heading = "Question")]
    tol: f64,

    /// How far the margin may be from the widest, relative: 1 for any plane (default: 1e-6)
    #[arg(long, value_name = "T", help_heading = "Question")]
    margin_tol: Option<f64>,

    /// Stop after this many seconds, undecided
    #[arg(long, value_name = "SECONDS", help_heading = "Question")]
    time_limit: Option<f64>,

    /// Print one JSON object
    #[arg(long, help_heading = "Question")]
    json: bool,

    #[command(flatten)]
    columns: ColumnArguments,
}

#[derive(Clone, Copy, ValueEnum)]
enum ScopeName {
    /// All classes by one linear machine
    Joint,
    /// Every two classes
    Pairs,
    /// Each class against all others
    Rest,
    /// All three questions
    All,
}

/// Runs the subcommand.
pub fn run(arguments: &SeparableArguments) -> Result<Ending> {
    let time_limit = arguments.time_limit.map(seconds).transpose()?;
    let recipe = arguments.columns.recipe()?;
    if recipe.formula.as_ref().is_some_and(|f| !f.has_intercept()) {
        return Err(Error::usage("the planes of this question have an intercept, which the formula leaves out")
            .help("leave 0 + or - 1 out of the formula"));
    }
    if !arguments.columns.offset.is_empty() {
        return Err(Error::usage("--offset has no part in separability")
            .help("offsets move scores, not the rows; leave it out"));
    }
    if !(arguments.tol > 0.0 && arguments.tol < 1.0) {
        return Err(Error::usage(format!("--tol {} is not between 0 and 1", arguments.tol)).help("for example 1e-9"));
    }
    if let Some(value) = arguments.margin_tol.filter(|value| !(*value > 0.0 && *value <= 1.0)) {
        return Err(Error::usage(format!("--margin-tol {value} is not between 0 and 1"))
            .help("for example 1e-6; 1 where any plane will do"));
    }
    let progress = Progress::new(arguments.input.quiet, time_limit);
    let found = find(arguments, recipe, &progress);
    progress.finish();
    match found {
        Err(error) if error.kind() == ErrorKind::Interrupted && !cancelled() => {
            let _ =
                writeln!(std::io::stderr(), "undecided: the time limit passed\n  help: allow more with --time-limit");
            Ok(Ending::No)
        }
        found => {
            let found = found?;
            let ending = if found.is_complete() { Ending::Done } else { Ending::No };
            match arguments.json {
                true => print_json(&separability_json(&found), ending),
                false => print(&separability_text(&found, &voice::Command), ending),
            }
        }
    }
}

/// Reads the table and looks for the verdict.
fn find(arguments: &SeparableArguments, recipe: RecipeOptions, progress: &Progress) -> Result<TableSeparability> {
    let named = arguments.columns.named_target(arguments.target.as_deref())?;
    let table = arguments.input.read_labelled(named.as_deref(), progress)?;
    let mut options = SeparableOptions::new(arguments.columns.target(arguments.target.as_deref(), &table)?);
    options.recipe = recipe;
    options.positive = arguments.columns.positive.clone();
    options.weights = arguments.columns.weights();
    options.scope = arguments.scope.map(|scope| match scope {
        ScopeName::Joint => Scope::Joint,
        ScopeName::Pairs => Scope::Pairs,
        ScopeName::Rest => Scope::Rest,
        ScopeName::All => Scope::All,
    });
    options.options.tolerance = arguments.tol;
    options.options.margin_tolerance = arguments.margin_tol;
    options.options.exact = arguments.exact;
    patient(|| separable_table(table, &options, &progress.watch()))
}
