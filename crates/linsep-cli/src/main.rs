//! The command `linsep`: one file per subcommand, exit codes in one place.

mod asked;
mod calibrate;
mod column_files;
mod columns;
mod compare;
mod conformal;
mod decision;
mod describe;
mod estimate;
mod evaluate;
mod exit;
mod explain;
mod feature_law;
mod fit;
mod geometry;
mod given;
mod grid;
mod guarantee;
mod infer;
mod input;
mod inspect;
mod journal;
mod known_classes;
mod labels;
mod method;
mod multiclass;
mod output;
mod page;
mod path;
mod perceptron;
mod plot;
mod predict;
mod progress;
mod reading;
mod report;
mod resample;
mod separable;
mod sheet;
mod shell;
mod signals;
mod simulate;
mod simulated_sheet;
mod storage;
mod study;
mod tips;
mod trace;
mod tune;
mod update;
mod verify;
mod voice;

use clap::{Parser, Subcommand};
use exit::Ending;
use std::process::ExitCode;

/// Linear classifiers with proofs: fits, certifies and explains any classifier of the linear family.
#[derive(Parser)]
#[command(name = "linsep", version, max_term_width = 100, after_help = EXAMPLES)]
struct Arguments {
    /// Threads to use, at most four for each core; the result does not depend on it
    #[arg(long, global = true, value_name = "N", env = "LINSEP_NUM_THREADS")]
    threads: Option<usize>,

    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  linsep describe penguins.csv --target species
  linsep fit penguins.csv --target species -o model.json
  linsep predict model.json penguins.csv --proba -o predictions.csv
  linsep evaluate model.json penguins.csv
  linsep inspect model.json --json
  linsep verify model.json penguins.csv
  linsep geometry model.json penguins.csv -o distances.csv
  linsep separable penguins.csv --target species
  linsep infer penguins.csv --target sex --features body_mass_g,island
  linsep resample penguins.csv --target sex --features body_mass_g --model svm
  linsep path penguins.csv --target species --penalty lasso -o path.csv
  linsep tune penguins.csv --target species --penalty lasso -o model.json
  linsep compare penguins.csv --target species
  linsep update model.json penguins.csv --with penguins.csv -o twice.json
  linsep plot regions model.json penguins.csv -o regions.svg
  linsep report model.json penguins.csv -o report.html
  linsep simulate gaussian --rows 500 -o data.csv
  linsep study gaussian --model lda --rows 20,200
  linsep estimate penguins.csv --features body_mass_g

Exit codes: 0 done; 1 the answer is no (verification fails, maximum likelihood does not exist, no
plane separates the classes); 2 bad usage or data; 3 fitted, but the tolerance was not reached, or out of
time; 130 interrupted, 143 terminated.";

#[derive(Subcommand)]
enum Command {
    /// Look at a table: its columns, what each would become, and what may be wrong with them
    Describe(describe::DescribeArguments),
    /// Fit a classifier to a table and prove how good the fit is
    Fit(Box<fit::FitArguments>),
    /// Predict the class of every row of a table
    Predict(predict::PredictArguments),
    /// Compare predictions with known labels: metrics with 95 % intervals
    Evaluate(evaluate::EvaluateArguments),
    /// Bound the error on new rows by rows that were kept apart from the fit
    Guarantee(guarantee::GuaranteeArguments),
    /// Show what a model file holds
    Inspect(inspect::InspectArguments),
    /// Recompute everything a model claims from the data it was fitted on
    Verify(verify::VerifyArguments),
    /// Boundaries, and distance, margin and robustness radius of every row
    Geometry(geometry::GeometryArguments),
    /// Whether planes can separate the classes, with a proof either way
    Separable(Box<separable::SeparableArguments>),
    /// Standard errors, tests and intervals of logistic models, Gaussian classes and least squares, where they exist
    Infer(Box<infer::InferArguments>),
    /// Draw rows again or deal classes out anew: intervals of coefficients, and tests of the error
    Resample(Box<resample::ResampleArguments>),
    /// Solve for every size of a penalty, from all weights zero down to almost none
    Path(Box<path::PathArguments>),
    /// Find the settings that predict best, by folds, and fit them to all rows
    Tune(Box<tune::TuneArguments>),
    /// Compare all methods that apply on the same folds: which classifier should be used?
    Compare(Box<compare::CompareArguments>),
    /// Learn from more rows, or forget some: exactly, by the sums that a model kept, or starting at the model
    Update(Box<update::UpdateArguments>),
    /// Draw a picture of a table or a model: SVG, PNG or PDF
    Plot(Box<plot::PlotArguments>),
    /// Tell the whole story of a model in one file: what was fitted, its proof, data, figures, pictures
    Report(Box<report::ReportArguments>),
    /// Draw labelled rows from known classes, with the truth beside them
    Simulate(Box<simulate::SimulateArguments>),
    /// Fit methods to repeated samples of known classes: bias and variance, learning curves, coverage
    Study(Box<study::StudyArguments>),
    /// Mean and covariance of one population, without classes
    Estimate(estimate::EstimateArguments),
    /// Print what makes a shell complete the names of commands and flags
    Completions(shell::CompletionsArguments),
    /// Print a manual page, or write all of them
    Man(shell::ManArguments),
}

fn main() -> ExitCode {
    signals::install();
    silence_decoders();
    // Known before anything else is, so that wrong arguments are reported the same way.
    let json = exit::is_for_programs();
    match Arguments::try_parse() {
        Ok(arguments) => exit::report(run(arguments), json),
        Err(error) => exit::refuse(&tips::with_tip(error), json),
    }
}

/// The crates that decode Parquet and Arrow panic on some damaged files. The library turns that into an error which names
/// the file; nobody needs to read of the panic, too.
fn silence_decoders() {
    let tell = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !linsep::read::is_decoding() {
            tell(panic);
        }
    }));
}

fn run(arguments: Arguments) -> Result<Ending, linsep::Error> {
    if let Some(threads) = arguments.threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(linsep::watch::sensible_threads(threads));
        pool.build_global().map_err(|e| linsep::Error::usage(format!("{threads} threads: {e}")))?;
    }
    match arguments.command {
        Command::Describe(arguments) => describe::run(&arguments),
        Command::Fit(arguments) => fit::run(&arguments),
        Command::Predict(arguments) => predict::run(&arguments),
        Command::Evaluate(arguments) => evaluate::run(&arguments),
        Command::Guarantee(arguments) => guarantee::run(&arguments),
        Command::Inspect(arguments) => inspect::run(&arguments),
        Command::Verify(arguments) => verify::run(&arguments),
        Command::Geometry(arguments) => geometry::run(&arguments),
        Command::Separable(arguments) => separable::run(&arguments),
        Command::Infer(arguments) => infer::run(&arguments),
        Command::Resample(arguments) => resample::run(&arguments),
        Command::Path(arguments) => path::run(&arguments),
        Command::Tune(arguments) => tune::run(&arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Update(arguments) => update::run(&arguments),
        Command::Plot(arguments) => plot::run(&arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::Simulate(arguments) => simulate::run(&arguments),
        Command::Study(arguments) => study::run(&arguments),
        Command::Estimate(arguments) => estimate::run(&arguments),
        Command::Completions(arguments) => shell::complete(&arguments),
        Command::Man(arguments) => shell::man(&arguments),
    }
}
