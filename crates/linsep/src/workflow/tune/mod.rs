//! Which settings predict best: every candidate on the same folds, the sizes of a penalty along its path.
//!
//! All learning happens inside the folds: recipe, units, method and calibration never see the rows that judge them. What the
//! winner will do on new rows is not the figure that it won by, which was the best of many; [`TuneOptions::nested`] asks for an
//! honest one, by folds around the whole search.

mod choose;
mod divide;
mod journal;
mod left_out;
mod merge;
mod trial;

pub use choose::{TuneMetric, TuneRule};
pub use divide::FoldKind;
pub(super) use journal::JournalPart;
pub use journal::{TrialJournal, TrialPlace};

use super::options::FitOptions;
use super::rows::{RowRoles, read_roles};
use super::source::Source;
use crate::artifact::{TrialRecord, TuningRecord};
use crate::error::{Error, Result};
use crate::model::Lambdas;
use crate::options::options;
use crate::table::Table;
use crate::watch::{Halt, Watch};
use choose::{Judgement, judgement};
use divide::Division;
pub(super) use divide::divide;
use merge::merged;
pub(super) use trial::FoldScores;
use trial::{ChosenSettings, Tried, judge_alone, try_candidate};

/// Settings to try.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// What is special about them, in the words of the caller: names and values.
    pub settings: Vec<(String, String)>,
    /// What is fitted.
    pub options: FitOptions,
    /// The sizes of the penalty to try, along one path in each fold; `None` takes the penalty as it is.
    pub path: Option<Lambdas>,
}

options! {
/// How candidates are compared.
#[derive(Debug, Clone, PartialEq)]
pub struct TuneOptions {
    /// Number of folds.
    pub folds: usize,
    /// What a fold is.
    pub kind: FoldKind,
    /// How often the rows are dealt out anew.
    pub repeats: usize,
    /// What is compared; `None` is the log loss where every candidate has probabilities, else the error.
    pub metric: Option<TuneMetric>,
    /// Which of the sizes of a penalty is taken.
    pub rule: TuneRule,
    /// Folds around the whole search, each of which it never sees.
    pub nested: Option<usize>,
    /// Seed of the folds.
    pub seed: u64,
}
}

impl Default for TuneOptions {
    fn default() -> TuneOptions {
        TuneOptions {
            folds: TuneOptions::FOLDS,
            kind: FoldKind::Stratified,
            repeats: 1,
            metric: None,
            rule: TuneRule::Least,
            nested: None,
            seed: 0,
        }
    }
}

impl TuneOptions {
    /// Folds where none are asked for: as many as calibration takes.
    pub const FOLDS: usize = super::options::CalibrationOptions::FOLDS;
}

/// What the search came to.
#[derive(Debug, Clone)]
pub struct Tuning {
    /// Everything that was tried, and what was chosen.
    pub record: TuningRecord,
    /// What to fit with the settings that were chosen.
    pub best: FitOptions,
    /// Why candidates could not be fitted, in the order of the trials without a figure.
    pub failures: Vec<Error>,
    /// Whether the clock left candidates untried.
    pub incomplete: bool,
}

/// Tries the candidates on folds of a table.
///
/// ```
/// use linsep::model::{Lambdas, Method, PenaltyChoice, RiskMinimizer};
/// use linsep::read::{ReadOptions, read_bytes};
/// use linsep::workflow::{Candidate, FitOptions, TuneOptions, tune_table};
/// let csv: String = (0..40).map(|i| format!("{},{},{}\n", i % 7, i % 11, ["no", "yes"][usize::from(i % 7 > 3)])).collect();
/// let table = read_bytes(format!("a,b,y\n{csv}").as_bytes(), "t.csv", &ReadOptions::default())?;
/// let penalty = PenaltyChoice::ElasticNet { l1_ratio: 1.0, lambda: None, cost: None };
/// let options = FitOptions::new("y", Method::Risk(RiskMinimizer { penalty, ..RiskMinimizer::default() }));
/// let candidate = Candidate { settings: Vec::new(), options, path: Some(Lambdas::Spaced { count: 10, ratio: None }) };
/// let found = tune_table(&table, &[candidate], &TuneOptions::default(), &Default::default())?;
/// assert_eq!(found.record.trials.len(), 10);
/// let means = found.record.trials.iter().filter_map(|t| t.mean);
/// assert_eq!(found.record.trials[found.record.best].mean, means.min_by(f64::total_cmp));
/// # Ok::<(), linsep::Error>(())
/// ```
///
/// # Errors
/// No candidate, candidates of different targets, weights or offsets, a metric that a candidate has no probabilities for, folds that
/// cannot be made, or no candidate that can be fitted in every fold.
pub fn tune_table(table: &Table, candidates: &[Candidate], options: &TuneOptions, watch: &Watch) -> Result<Tuning> {
    tune_table_kept(table, candidates, options, None, watch)
}

/// The same with a journal: folds that it knows are not fitted again, and those that are fitted are kept in it.
///
/// # Errors
/// As [`tune_table`], and those of the journal.
pub fn tune_table_kept(
    table: &Table,
    candidates: &[Candidate],
    options: &TuneOptions,
    journal: Option<&dyn TrialJournal>,
    watch: &Watch,
) -> Result<Tuning> {
    let Some(first) = candidates.first() else {
        return Err(Error::usage("there is nothing to try").help("give at least one value of a setting"));
    };
    let roles = read_roles(table, &first.options)?;
    if let Some(other) = candidates.iter().find(|c| !same_rows(&c.options, &first.options)) {
        let of = |o: &FitOptions| format!("{:?}", (&o.target, &o.positive, &o.weights, &o.offsets));
        return Err(Error::usage(format!(
            "candidates must be about the same target, weights and offsets: {} and {}",
            of(&first.options),
            of(&other.options)
        )));
    }
    let candidates = &merged(candidates, &roles.names)?[..];
    let part = JournalPart { journal, search: 0 };
    let mut found = search(table, &roles, candidates, (options, part), watch)?;
    if let Some(outer) = options.nested {
        found.record.nested = Some(nested(table, &roles, candidates, (options, outer, journal), watch)?);
    }
    Ok(found)
}

fn same_rows(a: &FitOptions, b: &FitOptions) -> bool {
    (&a.target, &a.positive, &a.weights, &a.offsets) == (&b.target, &b.positive, &b.weights, &b.offsets)
}

/// One search over the rows that have a label.
pub(super) fn search(
    table: &Table,
    roles: &RowRoles,
    candidates: &[Candidate],
    (options, journal): (&TuneOptions, JournalPart<'_>),
    watch: &Watch,
) -> Result<Tuning> {
    let metric = choose::metric(options.metric, candidates, &roles.names)?;
    let folds = division(table, roles, candidates, options)?;
    let (mut tried, mut failures) = (Vec::<Tried>::new(), Vec::new());
    let mut incomplete = false;
    for (number, candidate) in candidates.iter().enumerate() {
        if watch.halted() == Some(Halt::Deadline) && number > 0 {
            incomplete = true;
            break;
        }
        let progress = (number * folds.len(), candidates.len() * folds.len());
        match try_candidate(table, roles, (candidate, number), (&folds, metric, journal), progress, watch) {
            Ok(found) => tried.extend(found),
            Err(error) if error.kind() == crate::error::ErrorKind::Interrupted => match watch.halted() {
                Some(Halt::Deadline) if number > 0 => {
                    incomplete = true;
                    break;
                }
                _ => return Err(error),
            },
            // Settings that cannot be fitted lose; they do not end the search.
            Err(error) => {
                tried.push(Tried::failed(candidate, number));
                failures.push(error);
            }
        }
    }
    let judgements: Vec<Option<Judgement>> = tried.iter().map(|t| t.folds.as_deref().map(judgement)).collect();
    let Some(best) = choose::choose(&tried, &judgements, options.rule) else {
        let error = failures.into_iter().next();
        return Err(error.unwrap_or_else(|| Error::data("no candidate could be fitted")));
    };
    let trials = tried.iter().zip(&judgements).map(|(tried, judged)| TrialRecord {
        settings: tried.settings.clone(),
        mean: judged.map(|j| j.mean),
        standard_error: judged.and_then(|j| j.standard_error),
        folds: match &folds {
            Division::Listed(_) => tried.folds.iter().flatten().map(|f| f.loss).collect(),
            Division::Each { .. } => Vec::new(),
        },
    });
    Ok(Tuning {
        record: TuningRecord {
            metric: metric.name().to_owned(),
            rule: options.rule.name().to_owned(),
            folds: folds.len() / options.repeats.max(1),
            repeats: options.repeats,
            leave_one_out: options.kind == FoldKind::LeaveOneOut,
            dealt_by: options.kind.column().map(str::to_owned),
            seed: options.seed,
            best,
            trials: trials.collect(),
            nested: None,
        },
        best: tried[best].options(candidates),
        failures,
        incomplete,
    })
}

/// The folds of a search. Rows are left out one by one where they have all cells that the first candidate needs.
fn division<'r>(
    table: &Table,
    roles: &'r RowRoles,
    candidates: &[Candidate],
    options: &TuneOptions,
) -> Result<Division<'r>> {
    if options.kind != FoldKind::LeaveOneOut || options.repeats != 1 {
        return divide(table, roles, options).map(Division::Listed);
    }
    let recipe = super::options::recipe_options(&candidates[0].options);
    Division::each(Source::of_some_rows(table, roles, |_| true, &recipe)?.rows, roles)
}

/// The whole search again without each of some folds, and its winner judged by that fold.
fn nested(
    table: &Table,
    roles: &RowRoles,
    candidates: &[Candidate],
    (options, outer, journal): (&TuneOptions, usize, Option<&dyn TrialJournal>),
    watch: &Watch,
) -> Result<TrialRecord> {
    let metric = choose::metric(options.metric, candidates, &roles.names)?;
    // Folds around folds of single rows are as large as others.
    let kind = match &options.kind {
        FoldKind::LeaveOneOut => FoldKind::Stratified,
        kind => kind.clone(),
    };
    let around = divide(table, roles, &TuneOptions { folds: outer, repeats: 1, kind, ..options.clone() })?;
    let mut figures = Vec::with_capacity(around.len());
    for fold in &around {
        let within = roles.only(|row| fold.learn[row]);
        let part = JournalPart { journal, search: fold.number + 1 };
        let found = search(table, &within, candidates, (options, part), watch)
            .map_err(|e| e.in_context(format!("without outer fold {}", fold.number + 1)))?;
        let chosen = ChosenSettings { options: &found.best, metric };
        figures.push(judge_alone(table, roles, &chosen, fold, watch)?);
    }
    let judged = judgement(&figures);
    Ok(TrialRecord {
        settings: Vec::new(),
        mean: Some(judged.mean),
        standard_error: judged.standard_error,
        folds: figures.iter().map(|f| f.loss).collect(),
    })
}
