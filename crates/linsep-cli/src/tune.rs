//! `linsep tune`.

use crate::columns::seconds;
use crate::exit::Ending;
use crate::fit::{self, FitArguments};
use crate::grid::{Grid, settings_of};
use crate::journal::{Journal, run_of};
use crate::labels;
use crate::output::{check_directory, print, print_json};
use crate::progress::Progress;
use crate::voice;
use clap::{Args, ValueEnum};
use linsep::model::Lambdas;
use linsep::report::{tuning_json, tuning_text};
use linsep::table::Table;
use linsep::workflow::{
    Candidate, FoldKind, TableFit, TrialJournal, TuneMetric, TuneOptions, TuneRule, Tuning, fit_table, tune_table,
    tune_table_kept,
};
use linsep::{Error, Result};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Find the settings that predict best, by folds, and fit them to all rows.
#[derive(Args)]
#[command(after_help = "\
The size of a penalty whose kind alone is given (--penalty ridge, lasso or elastic-net:0.5; ridge is what
logistic has unless told) is chosen along its path, one in every fold. Any other flag of `linsep fit` can be
searched by --grid, several of them in all combinations. All learning happens inside the folds.

Examples:
  linsep tune penguins.csv --target sex --penalty lasso -o model.json
  linsep tune penguins.csv --target species --penalty elastic-net:0.5 --rule one-se --lambdas 20
  linsep tune penguins.csv --target sex --model svm --grid C=0.1,1,10 --metric error
  linsep tune penguins.csv --target sex --model svm --kernel rbf --grid C=1,10 --grid gamma=log:0.01:1:3
  linsep tune penguins.csv --target species --model lda --grid shrinkage=none,auto,0.5 --nested 5
  linsep tune penguins.csv --target sex --groups island --grid 'basis=none;products;quadratic' --lambdas 10
  linsep tune penguins.csv --target species --model lda --grid shrinkage=none,lin:0.1:0.9:5 --folds loo")]
pub struct TuneArguments {
    #[command(flatten)]
    pub fit: FitArguments,

    /// Values of a flag of fit to try: NAME=a,b,c (a;b;c where values have commas), NAME=log:FROM:TO:N or NAME=lin:FROM:TO:N
    #[arg(long, value_name = "NAME=VALUES", help_heading = "Search")]
    grid: Vec<String>,

    /// Try so many of the combinations, drawn by the seed (default: all)
    #[arg(long, value_name = "N", help_heading = "Search")]
    trials: Option<usize>,

    /// Number of folds, or loo: every row by itself, by a formula where there is one (least squares, LDA)
    #[arg(long, value_name = "K", default_value_t = FoldCount::Number(TuneOptions::FOLDS), value_parser = fold_count, help_heading = "Search")]
    folds: FoldCount,

    /// Deal the rows out anew so often
    #[arg(long, value_name = "R", default_value_t = 1, help_heading = "Search")]
    repeats: usize,

    /// Rows with the same cell in this column are never in two folds; it is no feature
    #[arg(long, value_name = "COLUMN", conflicts_with = "time", help_heading = "Search")]
    groups: Option<String>,

    /// Folds in order of this column: each is judged by fits to the rows before it; it is no feature
    #[arg(long, value_name = "COLUMN", help_heading = "Search")]
    time: Option<String>,

    /// Folds are those of this column, one for each of its values; it is no feature
    #[arg(long, value_name = "COLUMN", conflicts_with_all = ["groups", "time", "folds", "repeats"], help_heading = "Search")]
    fold_column: Option<String>,

    /// What is compared (default: log-loss where there are probabilities, else error)
    #[arg(long, value_enum, value_name = "METRIC", help_heading = "Search")]
    metric: Option<MetricName>,

    /// Which size of a penalty is taken
    #[arg(long, value_enum, value_name = "RULE", default_value = "least", help_heading = "Search")]
    rule: RuleName,

    /// Judge the whole search by K folds around it
    #[arg(long, value_name = "K", help_heading = "Search")]
    nested: Option<usize>,

    /// Keep what every fold came to in this file; the same command goes on from it after it was killed, with the same result
    #[arg(long, value_name = "FILE", help_heading = "Search")]
    journal: Option<PathBuf>,

    /// Search no longer than this, for example 90s, 10min or 2h, and take the best of what was tried (exit code 3)
    #[arg(long, value_name = "TIME", conflicts_with = "time_limit", help_heading = "Search")]
    budget: Option<String>,

    /// Number of λ along a path
    #[arg(long, value_name = "N", default_value_t = 100, help_heading = "Search")]
    lambdas: usize,

    /// The smallest λ over the largest (default: 1e-4 with more rows than columns, else 1e-2)
    #[arg(long, value_name = "R", help_heading = "Search")]
    lambda_ratio: Option<f64>,

    /// These λ instead
    #[arg(long, value_name = "L", value_delimiter = ',', conflicts_with_all = ["lambdas", "lambda_ratio"], help_heading = "Search")]
    lambda_values: Vec<f64>,
}

/// What is compared.
#[derive(Clone, Copy, ValueEnum)]
pub enum MetricName {
    /// Mean of −ln p(true class)
    LogLoss,
    /// Share of wrong predictions
    Error,
    /// One less the mean recall of the classes
    BalancedError,
    /// Mean squared error of the probabilities
    Brier,
    /// Area under the ROC curve: one less it is compared
    Auc,
    /// Mean squared distance from the targets of least squares
    SquaredError,
}

/// How many folds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FoldCount {
    Number(usize),
    /// One for each row.
    LeaveOneOut,
}

impl std::fmt::Display for FoldCount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            FoldCount::Number(number) => number.fmt(f),
            FoldCount::LeaveOneOut => f.write_str("loo"),
        }
    }
}

fn fold_count(text: &str) -> std::result::Result<FoldCount, String> {
    match text {
        "loo" | "leave-one-out" => Ok(FoldCount::LeaveOneOut),
        _ => text.parse().map(FoldCount::Number).map_err(|_| "give a number of folds, or loo".to_owned()),
    }
}

impl From<MetricName> for TuneMetric {
    fn from(name: MetricName) -> TuneMetric {
        match name {
            MetricName::LogLoss => TuneMetric::LogLoss,
            MetricName::Error => TuneMetric::Error,
            MetricName::BalancedError => TuneMetric::BalancedError,
            MetricName::Brier => TuneMetric::Brier,
            MetricName::Auc => TuneMetric::AucLoss,
            MetricName::SquaredError => TuneMetric::SquaredError,
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum RuleName {
    /// That of the least mean loss
    Least,
    /// The largest within one standard error of the least
    OneSe,
}

impl TuneArguments {
    fn options(&self) -> Result<TuneOptions> {
        let dealt = FoldKind::by(self.groups.as_deref(), self.time.as_deref());
        let (folds, kind) = match (self.folds, &self.fold_column) {
            (_, Some(column)) => (TuneOptions::FOLDS, FoldKind::Given(column.clone())),
            (FoldCount::Number(folds), None) => (folds, dealt),
            (FoldCount::LeaveOneOut, None) if dealt == FoldKind::Stratified => {
                (TuneOptions::FOLDS, FoldKind::LeaveOneOut)
            }
            (FoldCount::LeaveOneOut, None) => {
                return Err(Error::usage("rows that are left out one by one have neither groups nor an order")
                    .help("leave --folds loo out, or the column"));
            }
        };
        Ok(TuneOptions {
            folds,
            kind,
            repeats: self.repeats,
            metric: self.metric.map(TuneMetric::from),
            rule: match self.rule {
                RuleName::Least => TuneRule::Least,
                RuleName::OneSe => TuneRule::OneStandardError,
            },
            nested: self.nested,
            seed: self.fit.seed,
        })
    }

    fn sizes(&self) -> Lambdas {
        match self.lambda_values.is_empty() {
            true => Lambdas::Spaced { count: self.lambdas, ratio: self.lambda_ratio },
            false => Lambdas::Given(self.lambda_values.clone()),
        }
    }

    /// A candidate for the flags as they are, without the column that divides the rows.
    fn candidate(&self, table: &Table, settings: Vec<(String, String)>) -> Result<Candidate> {
        let mut candidate = candidate(&self.fit, table, settings, self.sizes())?;
        candidate.options.recipe.exclude.extend(self.groups.iter().chain(&self.time).chain(&self.fold_column).cloned());
        Ok(candidate)
    }
}

/// What the flags of a fit ask for; its penalty is tried along a path where its size is open.
fn candidate(fit: &FitArguments, table: &Table, settings: Vec<(String, String)>, sizes: Lambdas) -> Result<Candidate> {
    let open = fit.method.leaves_size_open();
    let asked = if open { fit.asked_of_path()? } else { fit.asked()? };
    let target = fit.columns.target(fit.target.as_deref(), table)?;
    let options = fit.options(&asked, table, target)?;
    // Two-class fits have no path together.
    let split = options.multiclass.approach.is_some() || options.calibration.is_some();
    if open && split {
        return Err(Error::usage("two-class fits and calibrated scores have no path along the penalty")
            .help("give the sizes, for example with linsep tune --grid C=0.1,1,10"));
    }
    Ok(Candidate { settings, options, path: open.then_some(sizes) })
}

/// `linsep fit` with a penalty whose size folds choose: the search that `tune` makes without further flags.
pub fn fit_by_folds(fit: &FitArguments) -> Result<Ending> {
    let time_limit = fit.time_limit.map(seconds).transpose()?;
    if !fit.method.leaves_size_open() {
        // Whatever is wrong with the method or the penalty is said by those who know it.
        fit.asked_of_path()?;
        return Err(Error::usage("folds choose the size of a penalty along its path, and this fit has none")
            .help("give a size, for example --penalty ridge:0.1")
            .help("search over sizes with linsep tune --grid"));
    }
    fit.asked_of_path()?;
    let progress = Progress::new(fit.input.quiet, time_limit);
    let table = fit.input.read(None, &progress)?;
    if labels::targets(fit.target.as_deref(), &table).is_some() {
        return Err(Error::usage("a search is for one target").help("choose one column with --target"));
    }
    let candidate = candidate(fit, &table, Vec::new(), Lambdas::default())?;
    let options = TuneOptions { seed: fit.seed, ..TuneOptions::default() };
    let found = tune_table(&table, &[candidate], &options, &progress.watch());
    progress.finish();
    finish(fit, found?, table, !fit.json)
}

/// Runs the subcommand.
pub fn run(arguments: &TuneArguments) -> Result<Ending> {
    let time_limit = match &arguments.budget {
        Some(text) => Some(budget(text)?),
        None => arguments.fit.time_limit.map(seconds).transpose()?,
    };
    let grids = arguments.grid.iter().map(|text| Grid::parse(text)).collect::<Result<Vec<Grid>>>()?;
    let combinations = Grid::combinations(&grids, arguments.trials, arguments.fit.seed)?;
    // Flags that are wrong together are refused before the table is read.
    let all = combinations.iter().map(|settings| settings_of(settings)).collect::<Result<Vec<TuneArguments>>>()?;
    for one in &all {
        if one.fit.method.leaves_size_open() {
            one.fit.asked_of_path().map(drop)?
        } else {
            one.fit.asked().map(drop)?
        }
    }
    if all.len() == 1 && !all[0].fit.method.leaves_size_open() && arguments.nested.is_none() {
        return Err(Error::usage("there is nothing to choose: the size of the penalty is given, or there is none")
            .help("give values of a flag, for example --grid C=0.1,1,10")
            .help("leave the size of the penalty out"));
    }
    let options = arguments.options()?;
    if let Some(path) = &arguments.journal {
        check_directory(path)?;
        arguments.fit.input.refuse_as_output(path, &[arguments.fit.output.as_deref()])?;
    }
    let progress = Progress::new(arguments.fit.input.quiet, time_limit);
    let table = arguments.fit.input.read_labelled(arguments.fit.target.as_deref(), &progress)?;
    if labels::targets(arguments.fit.target.as_deref(), &table).is_some() {
        return Err(Error::usage("a search is for one target").help("choose one column with --target"));
    }
    let candidates = all.iter().zip(combinations).map(|(one, settings)| one.candidate(&table, settings));
    let candidates = candidates.collect::<Result<Vec<Candidate>>>()?;
    let open = |path: &PathBuf| Journal::open(path, &run_of(&table, &candidates, &options));
    let journal = arguments.journal.as_ref().map(open).transpose()?;
    let kept = journal.as_ref().map(|journal| journal as &dyn TrialJournal);
    let found = tune_table_kept(&table, &candidates, &options, kept, &progress.watch());
    progress.finish();
    finish(&arguments.fit, found?, table, true)
}

/// A time with its unit: seconds, minutes or hours.
fn budget(text: &str) -> Result<Duration> {
    let digits = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let unit = match text[digits..].trim() {
        "s" => Some(1.0),
        "min" | "m" => Some(60.0),
        "h" => Some(3600.0),
        _ => None,
    };
    let time = text[..digits].parse::<f64>().ok().zip(unit).map(|(number, unit)| number * unit);
    time.and_then(|t| Duration::try_from_secs_f64(t).ok()).ok_or_else(|| {
        Error::usage(format!("`{text}` is not a time")).help("for example --budget 90s, --budget 10min or --budget 2h")
    })
}

/// Fits what was chosen to all rows, however long the search took, and says what it is: the search, unless the fit alone is
/// asked for.
fn finish(fit: &FitArguments, found: Tuning, table: Table, search: bool) -> Result<Ending> {
    let Tuning { record, best, failures, incomplete } = found;
    let ending = if incomplete { Ending::NotConverged } else { Ending::Done };
    let to_output = fit.output.as_deref() == Some(Path::new("-"));
    if search && fit.json && fit.output.is_none() {
        return print_json(&tuning_json(&record), ending);
    }
    let (json, mut text) = (tuning_json(&record), tuning_text(&record, &failures, &voice::Command));
    if incomplete {
        text.push_str("Out of time: not everything was tried.\n");
    }
    let progress = Progress::new(fit.input.quiet, None);
    let fitted = fit_table(table, &best, &progress.watch());
    progress.finish();
    let mut fitted = fitted?;
    if let TableFit::Model(model) = &mut fitted {
        model.tuning = Some(record);
    }
    if search && fit.json {
        let ended = fit::write(fit, &fitted)?;
        return print_json(&json, ending.or_worse(ended));
    }
    if search && !to_output {
        print(&format!("{text}\n"), ending)?;
    }
    Ok(ending.or_worse(fit::finish(fit, fitted)?))
}
