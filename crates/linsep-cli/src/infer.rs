//! `linsep infer`.

use crate::columns::{ColumnArguments, seconds};
use crate::exit::Ending;
use crate::input::{InputArguments, load_model};
use crate::method::penalty;
use crate::output::{check_directory, print, print_json};
use crate::progress::Progress;
use crate::voice;
use clap::{Args, ValueEnum};
use linsep::artifact::write_atomic;
use linsep::design::Formula;
use linsep::infer::{Adjustment, BandKind, CovarianceKind, EstimatorKind, Inference, IntervalKind};
use linsep::model::{CovarianceShape, Fit};
use linsep::report::{
    TableFormat, classical_json, classical_text, inference_json, inference_rows, inference_table, inference_text,
    probability_rows, split_json, split_text,
};
use linsep::workflow::{
    ClassicalModel, InferOptions, SplitInference, SplitOptions, infer_after_choice, infer_classical, infer_table,
};
use linsep::{Error, Result};
use std::path::PathBuf;

/// Standard errors, tests and intervals of a logistic model, of Gaussian classes or of least squares.
#[derive(Args)]
#[command(after_help = "\
Maximum likelihood without a penalty: log-odds against the first class (the reference), text columns
against their first level. Where rows are separated there is no maximum, and linsep says so, names
the coefficients that diverge, and gives the likelihood ratio tests that still hold; --firth gives
finite estimates. Weights are frequencies: a row of weight k counts as k rows.
With --model lda, qda or spherical: shares, means and variances of Gaussian classes with their
intervals, Hotelling's T², Wilks' Λ and Box's M. With --model least-squares: t and F of class targets.
Exit code 0; 1 where maximum likelihood does not exist.

Examples:
  linsep infer penguins.csv --target sex --features body_mass_g,bill_depth_mm,island
  linsep infer penguins.csv --target sex --features body_mass_g,bill_depth_mm --interval profile
  linsep infer penguins.csv --target sex --features body_mass_g,island --test island --json
  linsep infer penguins.csv --target sex --features body_mass_g,year --covariance cluster:island
  linsep infer penguins.csv --target species --features flipper_length_mm,body_mass_g --covariance hc1
  linsep infer penguins.csv --target sex --features body_mass_g --test 'body_mass_g = 0.001' --effects
  linsep infer penguins.csv --target sex --features body_mass_g --at penguins.csv --band scheffe
  linsep infer penguins.csv --formula 'sex ~ island * body_mass_g + poly(year, 2)'
  linsep infer penguins.csv --target sex --drop year --firth --table markdown
  linsep infer penguins.csv --target sex --drop year,species --split lasso:0.05
  linsep infer penguins.csv --target species --features bill_length_mm,bill_depth_mm --model lda
  linsep infer penguins.csv --target sex --features body_mass_g,island --model least-squares")]
pub struct InferArguments {
    #[command(flatten)]
    input: InputArguments,

    /// Column of the classes (for LIBSVM files: the label)
    #[arg(long, short, value_name = "COLUMN")]
    target: Option<String>,

    /// What is inferred about
    #[arg(long, short, value_enum, value_name = "METHOD", default_value = "logistic", help_heading = "Inference")]
    model: SubjectName,

    /// How sure intervals are
    #[arg(long, value_name = "LEVEL", default_value_t = 0.95, help_heading = "Inference")]
    level: f64,

    /// How intervals of coefficients are made
    #[arg(long, value_enum, value_name = "KIND", default_value = "wald", help_heading = "Inference")]
    interval: IntervalName,

    /// Standard errors: model, hc0, hc1, hc2, hc3 or cluster:COLUMN
    #[arg(long, value_name = "KIND", default_value = "model", help_heading = "Inference")]
    covariance: String,

    /// Firth's penalised likelihood: finite estimates also where rows are separated (two classes)
    #[arg(long, help_heading = "Inference")]
    firth: bool,

    /// Estimates of reduced bias with Wald tests, finite also where rows are separated (two classes)
    #[arg(long, value_enum, value_name = "BIAS", conflicts_with = "firth", help_heading = "Inference")]
    bias_reduced: Option<BiasName>,

    /// Test a hypothesis: a column, several (a, b), or an equation ('a - 2*b = 0', 'CLASS: a = 0'); may be repeated
    #[arg(long, value_name = "HYPOTHESIS", help_heading = "Inference")]
    test: Vec<String>,

    /// Test all columns that this model of the same table does not have (it is of --penalty none)
    #[arg(long, value_name = "MODEL", help_heading = "Inference")]
    against: Option<PathBuf>,

    /// Choose columns by this penalty on a random half of the rows, and infer from the other half: lasso:0.02
    #[arg(long, value_name = "PENALTY", help_heading = "Inference", conflicts_with_all = ["against", "at"])]
    split: Option<String>,

    /// Correct p values for the number of coefficients
    #[arg(long, value_enum, value_name = "METHOD", help_heading = "Inference")]
    adjust: Option<AdjustName>,

    /// Without an intercept
    #[arg(long, help_heading = "Inference")]
    no_intercept: bool,

    /// Average marginal effects (two classes)
    #[arg(long, help_heading = "Inference")]
    effects: bool,

    /// Condition indices: which columns are nearly combinations of others
    #[arg(long, help_heading = "Inference")]
    collinearity: bool,

    /// Write probability, residuals, leverage and Cook's distance of every row to a CSV file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    rows: Option<PathBuf>,

    /// Print the probabilities at the rows of this table with their intervals, as CSV
    #[arg(long, value_name = "FILE", help_heading = "Output", conflicts_with_all = ["table", "json"])]
    at: Option<PathBuf>,

    /// For which rows the intervals of --at hold
    #[arg(long, value_enum, value_name = "KIND", default_value = "pointwise", help_heading = "Output")]
    band: BandName,

    /// Print the coefficients alone, as a table for other programs or papers
    #[arg(long, value_enum, value_name = "FORM", help_heading = "Output")]
    table: Option<TableName>,

    /// Print one JSON object
    #[arg(long, help_heading = "Output", conflicts_with = "table")]
    json: bool,

    /// Seed of the quantile residuals of --rows, and of the halves of --split
    #[arg(long, default_value_t = 0, value_name = "N", help_heading = "Output")]
    seed: u64,

    /// Stop after this many seconds
    #[arg(long, value_name = "SECONDS", help_heading = "Inference")]
    time_limit: Option<f64>,

    #[command(flatten)]
    columns: ColumnArguments,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum SubjectName {
    /// Log-odds, by maximum likelihood
    Logistic,
    /// Gaussian classes with one covariance
    Lda,
    /// Gaussian classes with a covariance each
    Qda,
    /// Gaussian classes with covariance σ²I
    Spherical,
    /// Least squares on class targets
    LeastSquares,
}

impl SubjectName {
    /// What is not maximum likelihood.
    fn classical(self) -> Option<ClassicalModel> {
        match self {
            SubjectName::Logistic => None,
            SubjectName::Lda => Some(ClassicalModel::Gaussian(CovarianceShape::Shared)),
            SubjectName::Qda => Some(ClassicalModel::Gaussian(CovarianceShape::Own)),
            SubjectName::Spherical => Some(ClassicalModel::Gaussian(CovarianceShape::Spherical)),
            SubjectName::LeastSquares => Some(ClassicalModel::LeastSquares),
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub enum IntervalName {
    /// Estimate ± a quantile times the standard error
    Wald,
    /// All values that the likelihood ratio test does not reject
    Profile,
}

impl From<IntervalName> for IntervalKind {
    fn from(name: IntervalName) -> IntervalKind {
        match name {
            IntervalName::Wald => IntervalKind::Wald,
            IntervalName::Profile => IntervalKind::Profile,
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum BiasName {
    /// The mean of estimates is nearer to the truth; Firth's estimates
    Mean,
    /// Estimates are above and below the truth about equally often
    Median,
}

#[derive(Clone, Copy, ValueEnum)]
enum AdjustName {
    /// The chance of any false rejection
    Holm,
    /// The share of false rejections (Benjamini and Hochberg)
    Bh,
}

#[derive(Clone, Copy, ValueEnum)]
enum BandName {
    /// For each row alone
    Pointwise,
    /// For all rows at once (Scheffé)
    Scheffe,
}

#[derive(Clone, Copy, ValueEnum)]
enum TableName {
    /// All digits
    Csv,
    /// Rounded
    Markdown,
    /// Rounded, a `tabular`
    Latex,
}

/// Runs the subcommand.
pub fn run(arguments: &InferArguments) -> Result<Ending> {
    let time_limit = arguments.time_limit.map(seconds).transpose()?;
    let (covariance, cluster) = covariance(&arguments.covariance)?;
    let mut recipe = arguments.columns.recipe()?;
    if arguments.no_intercept {
        recipe.formula = recipe.formula.map(Formula::without_intercept);
    }
    let intercept = !arguments.no_intercept && recipe.formula.as_ref().is_none_or(Formula::has_intercept);
    let classical = arguments.model.classical();
    if classical.is_some() && !intercept && !arguments.no_intercept {
        return Err(Error::usage("the formula leaves the intercept out, which belongs to --model logistic")
            .help("leave 0 + or - 1 out of the formula"));
    }
    if let Some(model) = classical {
        refuse_foreign_flags(arguments, model)?;
    }
    if let Some(path) = &arguments.rows {
        check_directory(path)?;
        arguments.input.refuse_as_output(path, &[arguments.against.as_deref(), arguments.at.as_deref()])?;
    }
    let progress = Progress::new(arguments.input.quiet, time_limit);
    let named = arguments.columns.named_target(arguments.target.as_deref())?;
    let table = arguments.input.read_labelled(named.as_deref(), &progress)?;
    let mut options = InferOptions::new(arguments.columns.target(arguments.target.as_deref(), &table)?);
    options.recipe = recipe;
    options.positive = arguments.columns.positive.clone();
    options.weights = arguments.columns.weights();
    options.offsets = arguments.columns.offset.clone();
    options.cluster = cluster;
    options.against = arguments.against.as_deref().map(load_model).transpose()?.map(Box::new);
    let asked = &mut options.inference;
    asked.level = arguments.level;
    asked.interval = arguments.interval.into();
    asked.covariance = covariance;
    if let Some(model) = classical {
        let found = infer_classical(table, &options, model, &progress.watch());
        progress.finish();
        let found = found?;
        return match arguments.json {
            true => print_json(&classical_json(&found), Ending::Done),
            false => print(&classical_text(&found, &voice::Command), Ending::Done),
        };
    }
    let asked = &mut options.inference;
    asked.estimator = match (arguments.firth, arguments.bias_reduced) {
        (true, _) => EstimatorKind::Firth,
        (false, Some(BiasName::Mean)) => EstimatorKind::MeanReduced,
        (false, Some(BiasName::Median)) => EstimatorKind::MedianReduced,
        (false, None) => EstimatorKind::Likelihood,
    };
    asked.tests = arguments.test.clone();
    asked.adjust = arguments.adjust.map(|a| match a {
        AdjustName::Holm => Adjustment::Holm,
        AdjustName::Bh => Adjustment::Bh,
    });
    asked.intercept = intercept;
    asked.effects = arguments.effects;
    asked.collinearity = arguments.collinearity;
    asked.rows = arguments.rows.is_some();
    asked.seed = arguments.seed;
    if let Some(text) = &arguments.split {
        let split = SplitOptions { penalty: penalty(text)?, seed: arguments.seed };
        let found = infer_after_choice(table, &options, &split, &progress.watch());
        progress.finish();
        return print_split(arguments, &found?);
    }
    let reading = table.reading().clone();
    let found = infer_table(table, &options, &progress.watch());
    progress.finish();
    let found = found?;
    // Everything that can fail comes before the first file is written.
    let band = match (&arguments.at, &found.answer) {
        (Some(path), Fit::Model(inference)) => {
            let other = arguments.input.read_other(path, found.recipe.expected(), reading, &progress)?;
            let band = match arguments.band {
                BandName::Pointwise => BandKind::Pointwise,
                BandName::Scheffe => BandKind::Scheffe,
            };
            let intervals = found.probabilities(&other, band, &progress.watch())?;
            Some(probability_rows(inference, &intervals))
        }
        _ => None,
    };
    let ending = match &found.answer {
        Fit::Model(inference) => {
            write_rows(arguments, inference)?;
            Ending::Done
        }
        Fit::Refused(_) => Ending::No,
    };
    if let Some(band) = band {
        return print(&band, ending);
    }
    if arguments.json {
        return print_json(&inference_json(&found), ending);
    }
    match (&found.answer, arguments.table.map(table_format)) {
        (Fit::Model(inference), Some(format)) => print(&inference_table(inference, format), ending),
        _ => print(&inference_text(&found, &voice::Command), ending),
    }
}

fn print_split(arguments: &InferArguments, found: &SplitInference) -> Result<Ending> {
    let ending = match &found.inference.answer {
        Fit::Model(inference) => {
            write_rows(arguments, inference)?;
            Ending::Done
        }
        Fit::Refused(_) => Ending::No,
    };
    match (&found.inference.answer, arguments.table.map(table_format)) {
        _ if arguments.json => print_json(&split_json(found), ending),
        (Fit::Model(inference), Some(format)) => print(&inference_table(inference, format), ending),
        _ => print(&split_text(found, &voice::Command), ending),
    }
}

/// A flag of another model would be ignored; say so instead.
fn refuse_foreign_flags(arguments: &InferArguments, model: ClassicalModel) -> Result<()> {
    let gaussian = model != ClassicalModel::LeastSquares;
    let flags = [
        ("--interval", matches!(arguments.interval, IntervalName::Profile)),
        ("--covariance", gaussian && arguments.covariance != "model"),
        ("--firth", arguments.firth),
        ("--bias-reduced", arguments.bias_reduced.is_some()),
        ("--collinearity", arguments.collinearity),
        ("--test", !arguments.test.is_empty()),
        ("--against", arguments.against.is_some()),
        ("--split", arguments.split.is_some()),
        ("--adjust", arguments.adjust.is_some()),
        ("--no-intercept", arguments.no_intercept),
        ("--effects", arguments.effects),
        ("--rows", arguments.rows.is_some()),
        ("--at", arguments.at.is_some()),
        ("--table", arguments.table.is_some()),
    ];
    let Some((flag, _)) = flags.iter().find(|(_, given)| *given) else { return Ok(()) };
    let name = arguments.model.to_possible_value().map(|v| v.get_name().to_owned()).unwrap_or_default();
    Err(Error::usage(format!("{flag} does not belong to --model {name}"))
        .help("leave it out")
        .help("choose --model logistic"))
}

fn write_rows(arguments: &InferArguments, inference: &Inference) -> Result<()> {
    match &arguments.rows {
        Some(path) => write_atomic(path, |out| out.write_all(inference_rows(inference).as_bytes())),
        None => Ok(()),
    }
}

fn table_format(name: TableName) -> TableFormat {
    match name {
        TableName::Csv => TableFormat::Csv,
        TableName::Markdown => TableFormat::Markdown,
        TableName::Latex => TableFormat::Latex,
    }
}

/// The kind of a covariance, and the column of its clusters.
fn covariance(text: &str) -> Result<(CovarianceKind, Option<String>)> {
    if let Some(column) = text.strip_prefix("cluster:").filter(|c| !c.is_empty()) {
        return Ok((CovarianceKind::Cluster, Some(column.to_owned())));
    }
    let kinds =
        [CovarianceKind::Model, CovarianceKind::Hc0, CovarianceKind::Hc1, CovarianceKind::Hc2, CovarianceKind::Hc3];
    match kinds.into_iter().find(|k| k.name() == text) {
        Some(kind) => Ok((kind, None)),
        None => Err(Error::usage(format!("`{text}` is not a covariance"))
            .help("use --covariance model, hc0, hc1, hc2, hc3 or cluster:COLUMN")),
    }
}
