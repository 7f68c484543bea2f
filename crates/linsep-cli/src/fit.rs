//! `linsep fit`.

use crate::decision::DecisionArguments;
use crate::exit::{Ending, INTERRUPTED};
use crate::input::InputArguments;
use crate::method::{MethodArguments, class_names};
use crate::output::{check_directory, print, print_json};
use crate::predict::UnknownName;
use crate::progress::Progress;
use clap::{Args, ValueEnum};
use linsep::artifact::Model;
use linsep::design::{Basis, DEFAULT_KNOTS, Missing, QuantileOutput, RecipeOptions, Transform, UnknownLevel};
use linsep::model::{ClassWeights, Method, Outcome};
use linsep::report::{fit_summary, inspect_json, no_optimum_text, not_separable_text};
use linsep::table::Table;
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
  linsep fit penguins.csv --target species --model naive-bayes --family gamma
  linsep fit penguins.csv --target species --model least-squares --penalty ridge:0.01
  linsep fit penguins.csv --target sex --drop year --penalty ridge:0.01 --positive female
  linsep fit penguins.csv --target sex --basis quadratic --basis-columns body_mass_g,bill_depth_mm
  linsep fit penguins.csv --target species --transform quantile-normal --model lda
  linsep fit penguins.csv --target species --penalty none
  linsep fit penguins.csv --target sex --model pocket --max-iter 20
  linsep fit penguins.csv --target sex --costs female:male=5 --reject 0.3 -o careful.json")]
pub struct FitArguments {
    #[command(flatten)]
    input: InputArguments,

    /// Column to predict (for LIBSVM files: the label)
    #[arg(long, short, value_name = "COLUMN")]
    target: Option<String>,

    /// Where to write the model: .json or .json.zst; - is standard output, without the summary
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

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

    /// Weights of whole classes, multiplied into those of their rows: balanced, or CLASS=W pairs
    #[arg(long, value_name = "WEIGHTS", value_delimiter = ',', help_heading = "Columns")]
    class_weight: Vec<String>,

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

    /// Replace numbers by their rank among the training rows (0 to 1), or by the normal score of it
    #[arg(long, value_enum, value_name = "TRANSFORM", help_heading = "Columns")]
    transform: Option<TransformName>,

    /// Transform these columns only (default: all number columns)
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', requires = "transform", help_heading = "Columns")]
    transform_columns: Option<Vec<String>>,

    /// Add products of columns: products (age*bmi), quadratic (also age^2) or poly:D (up to D factors)
    #[arg(long, value_name = "BASIS", help_heading = "Columns")]
    basis: Option<String>,

    /// Multiply these columns only (default: all)
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', requires = "basis", help_heading = "Columns")]
    basis_columns: Option<Vec<String>>,

    #[command(flatten)]
    method: MethodArguments,

    #[command(flatten)]
    decision: DecisionArguments,

    /// Start at the coefficients of this model, which has the same columns and classes
    #[arg(long, value_name = "MODEL", help_heading = "Method")]
    init: Option<PathBuf>,

    /// Stop after this many seconds with what there is (exit code 3)
    #[arg(long, value_name = "SECONDS", help_heading = "Method")]
    time_limit: Option<f64>,

    /// Seed of everything random
    #[arg(long, default_value_t = 0, value_name = "N", help_heading = "Method")]
    seed: u64,
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
enum TransformName {
    /// The share of the training rows below, from 0 to 1
    Quantile,
    /// The normal score of that share
    QuantileNormal,
}

/// Runs the subcommand.
pub fn run(arguments: &FitArguments) -> Result<Ending> {
    let time_limit = arguments.time_limit.map(seconds).transpose()?;
    let method = arguments.method.method(!arguments.offset.is_empty(), arguments.seed)?;
    let class_weights = class_weights(&arguments.class_weight)?;
    let basis = arguments.basis.as_deref().map_or(Ok(Basis::None), basis)?;
    arguments.decision.check()?;
    if let Some(path) = &arguments.output {
        check_directory(path)?;
        arguments.input.refuse_as_output(path)?;
        if arguments.json && path == Path::new("-") {
            return Err(Error::usage("--json and -o - both want standard output").help("give the model a file name"));
        }
    }
    let init = arguments.init.as_deref().map(|path| start(path, &method)).transpose()?;
    let progress = Progress::new(arguments.input.quiet, time_limit);
    let table = arguments.input.read(None, &progress)?;
    let mut options = options(arguments, method, &table)?;
    options.recipe.basis = basis;
    options.class_weights = class_weights;
    options.init = init;
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
                    "outcome": match proof.of_likelihood {
                        true => "maximum_likelihood_does_not_exist",
                        false => "no_minimum",
                    },
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
            say_no(arguments, &no_optimum_text(&proof, &features, &classes))
        }
        TableFit::NotSeparable { proof, used } => {
            if arguments.json {
                let value = serde_json::json!({
                    "model": null,
                    "outcome": "not_separable",
                    "rows": used,
                    "overlapping_rows": proof.rows.len(),
                    "certificate": serde_json::to_value(&proof.certificate).unwrap_or_default(),
                    "mistakes": proof.mistakes,
                    "epochs": proof.epochs,
                });
                return print_json(&value, Ending::No);
            }
            say_no(arguments, &not_separable_text(&proof, used))
        }
    }
}

/// An answer instead of a model.
fn say_no(arguments: &FitArguments, text: &str) -> Result<Ending> {
    if arguments.output.as_deref() == Some(Path::new("-")) {
        // Standard output is for the model, and there is none.
        let _ = write!(std::io::stderr(), "{text}");
        return Ok(Ending::No);
    }
    print(text, Ending::No)
}

fn seconds(limit: f64) -> Result<Duration> {
    Duration::try_from_secs_f64(limit)
        .map_err(|_| Error::usage(format!("`{limit}` is not a number of seconds")).help("for example --time-limit 60"))
}

fn options(arguments: &FitArguments, method: Method, table: &Table) -> Result<FitOptions> {
    let target = match &arguments.target {
        Some(target) => target.clone(),
        None if table.sparse_width() > 0 => "label".to_owned(),
        None => {
            let names: Vec<&str> = table.columns().iter().map(|c| c.name.as_str()).take(12).collect();
            return Err(Error::usage("which column is to be predicted?")
                .help(format!("name it with --target; the columns are: {}", names.join(", "))));
        }
    };
    let method = arguments.method.with_classes(method, table, &target, arguments.positive.as_deref())?;
    let classes = class_names(table, &target, arguments.positive.as_deref())?;
    let decision = arguments.decision.decision(&classes)?;
    let mut options = FitOptions::new(target, method);
    options.positive = arguments.positive.clone();
    options.weights = arguments.weights.clone();
    options.offsets = arguments.offset.clone();
    options.decision = decision.unwrap_or_default();
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
        transform: arguments.transform.map_or(Transform::None, transform),
        transform_columns: arguments.transform_columns.clone(),
        basis_columns: arguments.basis_columns.clone(),
        ..RecipeOptions::default()
    };
    Ok(options)
}

/// `balanced`, or `class=weight` pairs.
fn class_weights(texts: &[String]) -> Result<Option<ClassWeights>> {
    if texts.is_empty() {
        return Ok(None);
    }
    if let [one] = texts
        && one == "balanced"
    {
        return Ok(Some(ClassWeights::Balanced));
    }
    let pair = |text: &String| {
        let parsed = text.rsplit_once('=').and_then(|(class, w)| Some((class.to_owned(), w.parse::<f64>().ok()?)));
        parsed.ok_or_else(|| {
            Error::usage(format!("`{text}` is not a class weight")).help("write --class-weight balanced, or a=1,b=5")
        })
    };
    Ok(Some(ClassWeights::Given(texts.iter().map(pair).collect::<Result<_>>()?)))
}

/// The model to start from, refused before the table is read where the method has no use for it.
fn start(path: &Path, method: &Method) -> Result<Box<Model>> {
    if !matches!(method, Method::Risk(_) | Method::Sigmoid(_)) {
        return Err(Error::usage(format!("--init does not belong to --model {}", method.name()))
            .help("leave it out, or choose --model logistic"));
    }
    Model::load(path).map(Box::new)
}

fn transform(name: TransformName) -> Transform {
    let output = match name {
        TransformName::Quantile => QuantileOutput::Uniform,
        TransformName::QuantileNormal => QuantileOutput::Normal,
    };
    Transform::Quantile { output, knots: DEFAULT_KNOTS }
}

fn basis(text: &str) -> Result<Basis> {
    match (text, text.strip_prefix("poly:").map(str::parse)) {
        ("products", _) => Ok(Basis::Products),
        ("quadratic", _) => Ok(Basis::Quadratic),
        (_, Some(Ok(degree))) => Basis::polynomial(degree),
        _ => Err(Error::usage(format!("`{text}` is not a basis")).help("use products, quadratic or poly:3")),
    }
}
