//! `linsep compare`.

use crate::columns::{ColumnArguments, seconds, target_of};
use crate::exit::Ending;
use crate::fit::class_weights;
use crate::input::InputArguments;
use crate::labels;
use crate::output::{print, print_json};
use crate::progress::Progress;
use crate::tune::MetricName;
use crate::voice;
use clap::Args;
use linsep::model::{Method, RiskMinimizer};
use linsep::report::{contest_json, contest_text};
use linsep::workflow::{Contest, ContestMethod, ContestOptions, FitOptions, FoldKind, TuneMetric, compare_methods};
use linsep::{Error, Result};

/// Which classifier should I use? All that apply on the same folds, with what can be said of the difference.
#[derive(Args)]
#[command(after_help = "\
In every fold each method is tuned on the rows to learn from, by folds of their own, and judged by the rows held
out. The majority class and the best single column are always among the methods. The p value against the best is that
of the corrected resampled t test (Nadeau and Bengio).

Methods: majority, single-column, spherical, naive-bayes, lda, least-squares, logistic-lasso, logistic, svm,
averaged-perceptron, qda, svm-rbf; from the simplest to the most flexible.

Examples:
  linsep compare penguins.csv --target species
  linsep compare penguins.csv --target sex --methods lda,logistic,naive-bayes --folds 5 --json
  linsep compare penguins.csv --target sex --groups island --folds 3 --methods lda,logistic")]
pub struct CompareArguments {
    #[command(flatten)]
    input: InputArguments,

    /// Column to predict (for LIBSVM files: the label)
    #[arg(long, short, value_name = "COLUMN")]
    target: Option<String>,

    /// These methods, beside the baselines (default: all that apply)
    #[arg(long, value_name = "METHOD", value_delimiter = ',', help_heading = "Comparison")]
    methods: Vec<String>,

    /// Number of folds
    #[arg(long, value_name = "K", default_value_t = ContestOptions::FOLDS, help_heading = "Comparison")]
    folds: usize,

    /// Deal the rows out anew so often
    #[arg(long, value_name = "R", default_value_t = 1, help_heading = "Comparison")]
    repeats: usize,

    /// Rows with the same cell in this column are never in two folds; it is no feature
    #[arg(long, value_name = "COLUMN", conflicts_with = "time", help_heading = "Comparison")]
    groups: Option<String>,

    /// Folds in order of this column: each is judged by fits to the rows before it; it is no feature
    #[arg(long, value_name = "COLUMN", help_heading = "Comparison")]
    time: Option<String>,

    /// What is compared; methods without probabilities take part in error and balanced-error only
    #[arg(long, value_enum, value_name = "METRIC", default_value = "error", help_heading = "Comparison")]
    metric: MetricName,

    /// Compare what was tried by then (exit code 3)
    #[arg(long, value_name = "SECONDS", help_heading = "Comparison")]
    time_limit: Option<f64>,

    /// Seed of everything random
    #[arg(long, default_value_t = 0, value_name = "N", help_heading = "Comparison")]
    seed: u64,

    /// Print one JSON object: methods (name, mean, low, high, fit_s, p_vs_best, ...) and finding
    #[arg(long, help_heading = "Comparison")]
    json: bool,

    #[command(flatten)]
    columns: ColumnArguments,

    /// Weights of whole classes, multiplied into those of their rows: balanced, or CLASS=W pairs
    #[arg(long, value_name = "WEIGHTS", value_delimiter = ',', help_heading = "Columns")]
    class_weight: Vec<String>,
}

/// Runs the subcommand.
pub fn run(arguments: &CompareArguments) -> Result<Ending> {
    let time_limit = arguments.time_limit.map(seconds).transpose()?;
    let methods = arguments.methods.iter().map(|name| named(name)).collect::<Result<Vec<ContestMethod>>>()?;
    let (recipe, class_weights) = (arguments.columns.recipe()?, class_weights(&arguments.class_weight)?);
    let progress = Progress::new(arguments.input.quiet, time_limit);
    let table = arguments.input.read(None, &progress)?;
    if labels::targets(arguments.target.as_deref(), &table).is_some() {
        return Err(Error::usage("a comparison is for one target").help("choose one column with --target"));
    }
    let target = target_of(arguments.target.as_deref(), &table)?;
    let mut base = FitOptions::new(target, Method::Risk(RiskMinimizer::default()));
    arguments.columns.roles(&mut base);
    base.recipe = recipe;
    base.recipe.exclude.extend(arguments.groups.iter().chain(&arguments.time).cloned());
    base.class_weights = class_weights;
    base.seed = arguments.seed;
    let options = ContestOptions {
        folds: arguments.folds,
        repeats: arguments.repeats,
        kind: FoldKind::by(arguments.groups.as_deref(), arguments.time.as_deref()),
        metric: TuneMetric::from(arguments.metric),
        methods: (!methods.is_empty()).then_some(methods),
        seed: arguments.seed,
    };
    let found = compare_methods(&table, &base, &options, &progress.watch());
    progress.finish();
    let found = found?;
    let ending = if found.incomplete { Ending::NotConverged } else { Ending::Done };
    if arguments.json {
        return print_json(&contest_json(&found, &voice::Command), ending);
    }
    let mut text = contest_text(&found, &voice::Command);
    if found.incomplete {
        text.push_str("Out of time: not every method was compared.\n");
    }
    if let Some(flags) = flags_of_best(&found) {
        text.push_str(&format!("To tune and fit the best on all rows:\nlinsep {flags}\n"));
    }
    print(&text, ending)
}

fn named(name: &str) -> Result<ContestMethod> {
    let known = || ContestMethod::ALL.iter().map(|m| m.name());
    ContestMethod::ALL.into_iter().find(|m| m.name() == name).ok_or_else(|| {
        Error::usage(format!("no method is called `{name}`"))
            .help(format!("the methods are: {}", known().collect::<Vec<&str>>().join(", ")))
    })
}

/// The subcommand with the flags that tune and fit a method; FILE and target are the user's.
fn flags_of_best(found: &Contest) -> Option<&'static str> {
    let best = found.entries.first()?.method;
    Some(match best {
        ContestMethod::Spherical => "fit … --model spherical --standardize yes",
        ContestMethod::NaiveBayes => "tune … --model naive-bayes --grid variance-smoothing=0,0.01",
        ContestMethod::Lda => "tune … --model lda --grid shrinkage=none,auto",
        ContestMethod::LeastSquares => "tune … --model least-squares --grid penalty=ridge:1,ridge:0.1,ridge:0.01",
        ContestMethod::LogisticLasso => "tune … --penalty lasso",
        ContestMethod::Logistic => "tune … --penalty ridge",
        ContestMethod::Svm => "tune … --model svm --grid C=0.01,0.1,1,10",
        ContestMethod::AveragedPerceptron => "fit … --model averaged-perceptron",
        ContestMethod::Qda => "tune … --model qda --grid shrinkage=none,auto,0.5",
        ContestMethod::SvmRbf => "tune … --model svm --kernel rbf --grid C=1,10",
        _ => return None,
    })
}
