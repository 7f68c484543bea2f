//! `linsep fit`.

use crate::exit::{Ending, INTERRUPTED};
use crate::input::InputArguments;
use crate::output::{check_directory, print, print_json};
use crate::predict::UnknownName;
use crate::progress::Progress;
use clap::{Args, ValueEnum};
use linsep::design::{Missing, RecipeOptions, Standardize, UnknownLevel};
use linsep::model::{Algorithm, Divisor, Lda, LogisticRegression, Method, Outcome, PenaltyChoice, Shrinkage};
use linsep::objective::{Intercept, SoftmaxForm};
use linsep::report::{fit_summary, inspect_json, no_optimum_text};
use linsep::table::{Labels, Table};
use linsep::workflow::{FitOptions, TableFit, fit_table};
use linsep::{Error, ErrorKind, Result};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Fit a classifier to a table and prove how good the fit is.
#[derive(Args)]
#[command(after_help = "\
Without further flags: logistic regression (softmax for more than two classes) on standardised
columns with the ridge penalty 1/Σs (Σs is the number of rows, or their total weight), text columns
as indicators, rows with missing cells dropped and counted.

Examples:
  linsep fit penguins.csv --target species -o model.json
  linsep fit penguins.csv --target species --model lda --cv 10
  linsep fit penguins.csv --target sex --drop year --penalty ridge:0.01 --positive female
  linsep fit penguins.csv --target species --penalty none")]
pub struct FitArguments {
    #[command(flatten)]
    input: InputArguments,

    /// Column to predict (for LIBSVM files: the label)
    #[arg(long, short, value_name = "COLUMN")]
    target: Option<String>,

    /// Where to write the model: .json or .json.zst; - is standard output, without the summary
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Method
    #[arg(long, short, value_enum, default_value = "logistic", value_name = "METHOD")]
    model: MethodName,

    /// Cross-validate with K folds
    #[arg(long, value_name = "K")]
    cv: Option<usize>,

    /// Print one JSON object instead of the summary
    #[arg(long)]
    json: bool,

    /// Use these columns only
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', help_heading = "Columns")]
    features: Option<Vec<String>>,

    /// Leave these columns out
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', help_heading = "Columns")]
    drop: Vec<String>,

    /// Column of row weights (frequencies)
    #[arg(long, value_name = "COLUMN", help_heading = "Columns")]
    weights: Option<String>,

    /// Columns added to the scores: one for two classes, else one per class in class order
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', help_heading = "Columns")]
    offset: Vec<String>,

    /// Of two classes, the one whose log-odds are reported (default: the last)
    #[arg(long, value_name = "CLASS", help_heading = "Columns")]
    positive: Option<String>,

    /// What to do with rows that miss a cell
    #[arg(long, value_enum, default_value = "drop", value_name = "POLICY", help_heading = "Columns")]
    missing: MissingName,

    /// What predictions do with a level that was not seen in training
    #[arg(long, value_enum, default_value = "error", value_name = "POLICY", help_heading = "Columns")]
    unknown: UnknownName,

    /// Most levels a text column may have
    #[arg(long, default_value_t = 100, value_name = "N", help_heading = "Columns")]
    max_levels: usize,

    /// Scale columns to mean 0 and variance 1, so that a penalty treats them alike
    #[arg(long, value_enum, default_value = "yes", value_name = "YES|NO", help_heading = "Method")]
    standardize: YesNo,

    /// Penalty of logistic regression: ridge (λ = 1/Σs), ridge:λ or none (maximum likelihood)
    #[arg(long, value_name = "PENALTY", help_heading = "Method")]
    penalty: Option<String>,

    /// Intercept of logistic regression (default: free)
    #[arg(long, value_enum, value_name = "KIND", help_heading = "Method")]
    intercept: Option<InterceptName>,

    /// Softmax with a score for every class (default), or with the first class as reference
    #[arg(long, value_enum, value_name = "FORM", help_heading = "Method")]
    softmax: Option<SoftmaxName>,

    /// Divisor of the LDA covariance: Σs−K (default) or Σs
    #[arg(long, value_enum, value_name = "KIND", help_heading = "Method")]
    covariance: Option<DivisorName>,

    /// Shrinkage of the LDA covariance: none, auto (Ledoit–Wolf) or a number from 0 to 1
    #[arg(long, value_name = "AMOUNT", help_heading = "Method")]
    shrinkage: Option<String>,

    /// Prior probabilities of the LDA classes, as class=share pairs (default: the observed shares)
    #[arg(long, value_name = "CLASS=P", value_delimiter = ',', help_heading = "Method")]
    priors: Vec<String>,

    /// Algorithm of logistic regression (default: auto)
    #[arg(long, value_enum, value_name = "SOLVER", help_heading = "Method")]
    solver: Option<SolverName>,

    /// Stop when the relative gap is proved to be at most this (default: 1e-8)
    #[arg(long, value_name = "TOL", help_heading = "Method")]
    tol: Option<f64>,

    /// Stop after this many iterations, with exit code 3 (default: 100)
    #[arg(long, value_name = "N", help_heading = "Method")]
    max_iter: Option<usize>,

    /// Stop after this many seconds with what there is (exit code 3)
    #[arg(long, value_name = "SECONDS", help_heading = "Method")]
    time_limit: Option<f64>,

    /// Seed of everything random
    #[arg(long, default_value_t = 0, value_name = "N", help_heading = "Method")]
    seed: u64,
}

/// Methods by name.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MethodName {
    /// Logistic regression; softmax for more than two classes
    Logistic,
    /// The same as logistic
    Softmax,
    /// Linear discriminant analysis
    Lda,
}

#[derive(Clone, Copy, ValueEnum)]
enum MissingName {
    /// Leave the row out
    Drop,
    /// Fill in the training mean (for text: the shares of the levels)
    Mean,
    /// Refuse
    Error,
}

#[derive(Clone, Copy, ValueEnum)]
enum YesNo {
    Yes,
    No,
}

#[derive(Clone, Copy, ValueEnum)]
enum InterceptName {
    /// Fitted, not penalised
    Free,
    /// Zero
    None,
    /// Penalised like a weight
    Penalised,
}

#[derive(Clone, Copy, ValueEnum)]
enum SoftmaxName {
    /// A score for every class
    Symmetric,
    /// The first class has score zero
    Reference,
}

#[derive(Clone, Copy, ValueEnum)]
enum DivisorName {
    /// Σs−K
    Unbiased,
    /// Σs
    Mle,
}

#[derive(Clone, Copy, ValueEnum)]
enum SolverName {
    /// By the number of coefficients
    Auto,
    /// Newton with a Cholesky factor
    Newton,
    /// Truncated Newton by conjugate gradients
    NewtonCg,
}

/// Runs the subcommand.
pub fn run(arguments: &FitArguments) -> Result<Ending> {
    let time_limit = arguments.time_limit.map(seconds).transpose()?;
    let method = method(arguments)?;
    if let Some(path) = &arguments.output {
        check_directory(path)?;
        arguments.input.refuse_as_output(path)?;
        if arguments.json && path == Path::new("-") {
            return Err(Error::usage("--json and -o - both want standard output").help("give the model a file name"));
        }
    }
    let progress = Progress::new(arguments.input.quiet, time_limit);
    let table = arguments.input.read(None, &progress)?;
    let options = options(arguments, method, &table)?;
    let fit = fit_table(table, &options, &progress.watch_with_deadline());
    progress.finish();
    match fit {
        // Out of time before the first pass was complete: there is not even a model that misses the tolerance.
        Err(error) if error.kind() == ErrorKind::Interrupted && !progress.cancelled() => {
            let message = "the time limit passed before there was a first result: nothing was written";
            let _ = writeln!(std::io::stderr(), "error: {message}\n  help: allow more with --time-limit");
            Ok(Ending::NotConverged)
        }
        fit => finish(arguments, fit?),
    }
}

/// Writes what came of the fit, and says it.
fn finish(arguments: &FitArguments, fit: TableFit) -> Result<Ending> {
    match fit {
        TableFit::Model(model) if model.outcome == Outcome::Interrupted => {
            let _ = writeln!(std::io::stderr(), "{INTERRUPTED}");
            Ok(Ending::Interrupted)
        }
        TableFit::Model(model) => {
            let ending = if model.outcome == Outcome::Converged { Ending::Done } else { Ending::NotConverged };
            match &arguments.output {
                Some(path) if path == Path::new("-") => return print(&model.to_json()?, ending),
                Some(path) => model.save(path)?,
                None => {}
            }
            if arguments.json {
                return print_json(&inspect_json(&model)?, ending);
            }
            let written = match &arguments.output {
                Some(path) => format!("\nmodel written to {}\n", path.display()),
                None => "\nno model was written: add -o model.json to keep it\n".to_owned(),
            };
            print(&format!("{}{written}", fit_summary(&model)), ending)
        }
        TableFit::NoOptimum { proof, features, classes } => {
            if arguments.json {
                let value = serde_json::json!({
                    "model": null,
                    "outcome": "maximum_likelihood_does_not_exist",
                    "separation": format!("{:?}", proof.kind).to_lowercase(),
                    "classes": classes,
                    "features": features,
                    "direction": proof.direction,
                    "intercept": proof.intercept,
                    "diverging": proof.columns.iter().map(|j| &features[*j]).collect::<Vec<_>>(),
                    "strict_rows": proof.strict_rows,
                    "boundary_rows": proof.boundary_rows,
                    "tolerance": proof.tolerance,
                });
                return print_json(&value, Ending::No);
            }
            let text = no_optimum_text(&proof, &features, &classes);
            if arguments.output.as_deref() == Some(Path::new("-")) {
                // Standard output is for the model, and there is none.
                let _ = write!(std::io::stderr(), "{text}");
                return Ok(Ending::No);
            }
            print(&text, Ending::No)
        }
    }
}

fn seconds(limit: f64) -> Result<Duration> {
    Duration::try_from_secs_f64(limit)
        .map_err(|_| Error::usage(format!("`{limit}` is not a number of seconds")).help("for example --time-limit 60"))
}

fn method(arguments: &FitArguments) -> Result<Method> {
    let standardize = match arguments.standardize {
        YesNo::Yes => Standardize::Yes,
        YesNo::No => Standardize::No,
    };
    let lda = arguments.model == MethodName::Lda;
    refuse_foreign_flags(arguments, lda)?;
    if lda {
        return Ok(Method::Lda(Lda {
            divisor: match arguments.covariance {
                Some(DivisorName::Mle) => Divisor::Mle,
                _ => Divisor::Unbiased,
            },
            shrinkage: arguments.shrinkage.as_deref().map_or(Ok(Shrinkage::None), shrinkage)?,
            // Priors are given by class name; their order is known once the table is read.
            priors: None,
            standardize,
            ..Lda::default()
        }));
    }
    let defaults = LogisticRegression::default();
    Ok(Method::Logistic(LogisticRegression {
        penalty: arguments.penalty.as_deref().map_or(Ok(defaults.penalty), penalty)?,
        intercept: match arguments.intercept {
            None | Some(InterceptName::Free) => Intercept::Free,
            Some(InterceptName::None) => Intercept::None,
            Some(InterceptName::Penalised) => Intercept::Penalised,
        },
        form: match arguments.softmax {
            None | Some(SoftmaxName::Symmetric) => SoftmaxForm::Symmetric,
            Some(SoftmaxName::Reference) => SoftmaxForm::Reference,
        },
        standardize,
        algorithm: match arguments.solver {
            None | Some(SolverName::Auto) => Algorithm::Auto,
            Some(SolverName::Newton) => Algorithm::Newton,
            Some(SolverName::NewtonCg) => Algorithm::NewtonCg,
        },
        tolerance: arguments.tol.unwrap_or(defaults.tolerance),
        max_iterations: arguments.max_iter.unwrap_or(defaults.max_iterations),
    }))
}

/// A flag of the other method would be ignored; say so instead.
fn refuse_foreign_flags(arguments: &FitArguments, lda: bool) -> Result<()> {
    let logistic_flags = [
        ("--offset", !arguments.offset.is_empty()),
        ("--penalty", arguments.penalty.is_some()),
        ("--intercept", arguments.intercept.is_some()),
        ("--softmax", arguments.softmax.is_some()),
        ("--solver", arguments.solver.is_some()),
        ("--tol", arguments.tol.is_some()),
        ("--max-iter", arguments.max_iter.is_some()),
    ];
    let lda_flags = [
        ("--covariance", arguments.covariance.is_some()),
        ("--shrinkage", arguments.shrinkage.is_some()),
        ("--priors", !arguments.priors.is_empty()),
    ];
    let (flags, name, other): (&[(&str, bool)], _, _) =
        if lda { (&logistic_flags, "lda", "logistic") } else { (&lda_flags, "logistic", "lda") };
    match flags.iter().find(|(_, given)| *given) {
        Some((flag, _)) => Err(Error::usage(format!("{flag} does not belong to --model {name}"))
            .help(format!("leave it out, or choose --model {other}"))),
        None => Ok(()),
    }
}

fn penalty(text: &str) -> Result<PenaltyChoice> {
    let (name, amount) = text.split_once(':').map_or((text, None), |(n, a)| (n, Some(a)));
    match (name, amount) {
        ("none", None) => Ok(PenaltyChoice::None),
        ("ridge", None | Some("auto")) => Ok(PenaltyChoice::RidgeOne),
        ("ridge", Some(amount)) => match amount.parse::<f64>() {
            Ok(lambda) if lambda > 0.0 && lambda.is_finite() => Ok(PenaltyChoice::Ridge(lambda)),
            _ => Err(Error::usage(format!("`{amount}` is not a positive ridge penalty"))
                .help("for example --penalty ridge:0.1")),
        },
        _ => Err(Error::usage(format!("`{text}` is not a penalty")).help("use ridge, ridge:0.1 or none")),
    }
}

fn shrinkage(text: &str) -> Result<Shrinkage> {
    match text {
        "none" => Ok(Shrinkage::None),
        "auto" => Ok(Shrinkage::LedoitWolf),
        number => {
            match number.parse::<f64>() {
                Ok(a) if (0.0..=1.0).contains(&a) => Ok(Shrinkage::Fixed(a)),
                _ => Err(Error::usage(format!("`{number}` is not a shrinkage"))
                    .help("use none, auto or a number from 0 to 1")),
            }
        }
    }
}

fn options(arguments: &FitArguments, mut method: Method, table: &Table) -> Result<FitOptions> {
    let target = match &arguments.target {
        Some(target) => target.clone(),
        None if table.sparse_width() > 0 => "label".to_owned(),
        None => {
            let names: Vec<&str> = table.columns().iter().map(|c| c.name.as_str()).take(12).collect();
            return Err(Error::usage("which column is to be predicted?")
                .help(format!("name it with --target; the columns are: {}", names.join(", "))));
        }
    };
    if let Method::Lda(lda) = &mut method
        && !arguments.priors.is_empty()
    {
        lda.priors = Some(priors(arguments, table, &target)?);
    }
    let mut options = FitOptions::new(target, method);
    options.positive = arguments.positive.clone();
    options.weights = arguments.weights.clone();
    options.offsets = arguments.offset.clone();
    options.folds = arguments.cv;
    options.seed = arguments.seed;
    options.recipe = RecipeOptions {
        features: arguments.features.clone(),
        exclude: arguments.drop.clone(),
        missing: match arguments.missing {
            MissingName::Drop => Missing::Drop,
            MissingName::Mean => Missing::Mean,
            MissingName::Error => Missing::Error,
        },
        unknown: UnknownLevel::from(arguments.unknown),
        max_levels: arguments.max_levels,
        ..RecipeOptions::default()
    };
    Ok(options)
}

/// `class=share` pairs in the order of the classes.
fn priors(arguments: &FitArguments, table: &Table, target: &str) -> Result<Vec<f64>> {
    let (_, mut names) = Labels::from_column(table, table.column(target)?);
    if let Some(positive) = &arguments.positive {
        names.retain(|n| n != positive);
        names.push(positive.clone());
    }
    let mut shares = vec![None; names.len()];
    for pair in &arguments.priors {
        let parsed = pair.rsplit_once('=').and_then(|(class, p)| Some((class, p.parse::<f64>().ok()?)));
        let Some((class, share)) = parsed else {
            return Err(Error::usage(format!("`{pair}` is not a prior")).help("write --priors a=0.2,b=0.8"));
        };
        match names.iter().position(|n| n == class) {
            Some(k) => shares[k] = Some(share),
            None => {
                return Err(Error::usage(format!("there is no class `{class}`"))
                    .help(format!("the classes are: {}", names.join(", "))));
            }
        }
    }
    let missing: Vec<&str> = names.iter().zip(&shares).filter(|(_, s)| s.is_none()).map(|(n, _)| n.as_str()).collect();
    if !missing.is_empty() {
        return Err(
            Error::usage(format!("no prior for class `{}`", missing.join("`, `"))).help("give one for every class")
        );
    }
    Ok(shares.into_iter().flatten().collect())
}
