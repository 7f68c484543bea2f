//! Which classifier should be used: all methods that apply on the same folds, each tuned inside them.
//!
//! In every fold a method is tuned on the rows to learn from, by folds of their own, fitted to them and judged by the rows held
//! out, so that the figures are those of the method with its tuning. Means are compared by the corrected resampled t test.

mod entrant;
mod lineup;

pub use lineup::ContestMethod;

use super::options::{FitOptions, recipe_options};
use super::plan::Plan;
use super::rows::{RowRoles, read_roles};
use super::source::Source;
use super::tune::{FoldKind, TuneMetric, TuneOptions, divide};
use crate::error::{Error, ErrorKind, Result};
use crate::evaluate::{LEVEL, holm, resampled_mean};
use crate::options::options;
use crate::table::Table;
use crate::watch::{Halt, Progress, Watch};
use entrant::{Entrant, InFold};

/// Means whose difference is below this are equal: losses are of size one, and the rounding of their sums is far below.
const SAME: f64 = 1e-12;

options! {
/// How methods are compared.
#[derive(Debug, Clone, PartialEq)]
pub struct ContestOptions {
    /// Number of folds.
    pub folds: usize,
    /// How often the rows are dealt out anew.
    pub repeats: usize,
    /// What a fold is.
    pub kind: FoldKind,
    /// What is compared.
    pub metric: TuneMetric,
    /// The methods; `None` for all that apply. The baselines are always among them.
    pub methods: Option<Vec<ContestMethod>>,
    /// Seed of the folds.
    pub seed: u64,
}
}

impl Default for ContestOptions {
    fn default() -> ContestOptions {
        ContestOptions {
            folds: ContestOptions::FOLDS,
            repeats: 1,
            kind: FoldKind::Stratified,
            metric: TuneMetric::Error,
            methods: None,
            seed: 0,
        }
    }
}

impl ContestOptions {
    /// Folds where none are asked for: with five, only four degrees of freedom are left for the test.
    pub const FOLDS: usize = 10;
}

/// A method and how it did.
#[derive(Debug, Clone, PartialEq)]
pub struct ContestEntry {
    /// Which.
    pub method: ContestMethod,
    /// Mean loss over the folds, each of which counts by its rows.
    pub mean: f64,
    /// Its 95 % interval, corrected for the rows that fits share; `None` of one fold.
    pub interval: Option<(f64, f64)>,
    /// The loss in each fold.
    pub folds: Vec<f64>,
    /// Logarithm of the p value of its difference from the best, by the corrected resampled t test; `None` of one fold.
    pub ln_p_vs_best: Option<f64>,
    /// Whether Holm's procedure over all methods finds it worse than the best at 5 %.
    pub worse: bool,
    /// Methods before it in the order of simplicity with the same predictions on every row held out.
    pub ties: Vec<ContestMethod>,
    /// Settings that were chosen in each fold, in the words of the lineup.
    pub settings: Vec<Vec<(String, String)>>,
    /// Numbers that its model holds, the median over folds.
    pub size: usize,
    /// Median seconds of a fit with settings that are chosen.
    pub fit_seconds: f64,
    /// Median seconds of choosing them.
    pub tune_seconds: f64,
    /// Median seconds of scoring the rows of a fold.
    pub predict_seconds: f64,
    /// Whether every fit reached its tolerance.
    pub converged: bool,
}

/// What the comparison came to.
#[derive(Debug, Clone)]
pub struct Contest {
    /// What was compared.
    pub metric: TuneMetric,
    /// Rows with a label and all their cells.
    pub rows: usize,
    /// Classes.
    pub classes: Vec<String>,
    /// Folds of each dealing.
    pub folds: usize,
    /// Dealings.
    pub repeats: usize,
    /// Seed of the folds.
    pub seed: u64,
    /// The methods, the least mean loss first, of equal ones the simpler.
    pub entries: Vec<ContestEntry>,
    /// Methods that could not take part, and why.
    pub left_out: Vec<(ContestMethod, Error)>,
    /// Whether the clock left methods untried.
    pub incomplete: bool,
}

/// Compares all methods that apply on the same folds of a table; `base` says target, columns and weights, and its method is not
/// looked at.
///
/// ```
/// use linsep::model::{Method, RiskMinimizer};
/// use linsep::read::{ReadOptions, read_bytes};
/// use linsep::workflow::{ContestMethod, ContestOptions, FitOptions, compare_methods};
/// let csv: String = (0..60).map(|i| format!("{},{},{}\n", i % 7, i % 11, ["no", "yes"][usize::from(i % 7 > 3)])).collect();
/// let table = read_bytes(format!("a,b,y\n{csv}").as_bytes(), "t.csv", &ReadOptions::default())?;
/// let base = FitOptions::new("y", Method::Risk(RiskMinimizer::default()));
/// let methods = Some(vec![ContestMethod::Lda]);
/// let options = ContestOptions::default().folds(3).methods(methods);
/// let found = compare_methods(&table, &base, &options, &Default::default())?;
/// // The baselines are always in, and one column is enough here.
/// assert_eq!(found.entries.len(), 3);
/// assert_eq!(found.entries[2].method, ContestMethod::Majority);
/// # Ok::<(), linsep::Error>(())
/// ```
///
/// # Errors
/// Folds that cannot be made, a method asked for that has no probabilities for the metric, and whatever is wrong with the table.
pub fn compare_methods(table: &Table, base: &FitOptions, options: &ContestOptions, watch: &Watch) -> Result<Contest> {
    // Decisions, calibration and priors are those of a method once it is chosen.
    let base = &FitOptions {
        positive: base.positive.clone(),
        weights: base.weights.clone(),
        class_weights: base.class_weights.clone(),
        offsets: base.offsets.clone(),
        recipe: base.recipe.clone(),
        seed: base.seed,
        ..FitOptions::new(base.target.clone(), base.method.clone())
    };
    if options.metric == TuneMetric::SquaredError {
        return Err(Error::usage(
            "squared_error is the distance from the targets of least squares, which no other method has",
        )
        .help("compare by error or balanced_error"));
    }
    let roles = read_roles(table, base)?;
    let division = TuneOptions {
        folds: options.folds,
        kind: options.kind.clone(),
        repeats: options.repeats,
        metric: Some(options.metric),
        seed: options.seed,
        ..TuneOptions::default()
    };
    let folds = divide(table, &roles, &division)?;
    let whole = Source::of_some_rows(table, &roles, |_| true, &recipe_options(base))?;
    let (rows, columns) = (whole.rows.len(), whole.recipe.n_features());
    drop(whole);
    let (entrants, mut left_out) = entrants(table, &roles, base, options, (rows, columns))?;
    let (mut done, mut incomplete) = (Vec::<(Entrant, Vec<InFold>)>::new(), false);
    let total = entrants.len() * folds.len();
    'methods: for entrant in entrants {
        let mut figures = Vec::with_capacity(folds.len());
        for fold in &folds {
            match entrant.in_fold(table, &roles, (fold, &division), watch) {
                Ok(found) => figures.push(found),
                Err(error) if error.kind() == ErrorKind::Interrupted => match watch.halted() {
                    // Whatever has been compared is an answer, once there is something to compare.
                    Some(Halt::Deadline) if done.len() > 1 => {
                        incomplete = true;
                        break 'methods;
                    }
                    _ => return Err(error),
                },
                Err(error) if entrant.method.is_baseline() => return Err(error),
                Err(error) => {
                    left_out.push((entrant.method, error));
                    continue 'methods;
                }
            }
            watch.report(Progress::Fold { done: done.len() * folds.len() + figures.len(), total });
        }
        done.push((entrant, figures));
    }
    let sizes = |part: fn(&super::folds::Fold) -> &Vec<bool>| {
        folds.iter().map(|fold| part(fold).iter().filter(|row| **row).count()).sum::<usize>()
    };
    let (tested, learned) = (sizes(|fold| &fold.test), sizes(|fold| &fold.learn));
    Ok(Contest {
        metric: options.metric,
        rows,
        classes: roles.names.clone(),
        folds: options.folds,
        repeats: options.repeats,
        seed: options.seed,
        entries: entries(done, tested as f64 / learned as f64),
        left_out,
        incomplete,
    })
}

/// The methods that take part, and those that cannot with the reason. One that was asked for by name is refused aloud.
type Lineup = (Vec<Entrant>, Vec<(ContestMethod, Error)>);

fn entrants(
    table: &Table,
    roles: &RowRoles,
    base: &FitOptions,
    options: &ContestOptions,
    (rows, columns): (usize, usize),
) -> Result<Lineup> {
    let (mut entrants, mut left_out) = (Vec::new(), Vec::new());
    for method in ContestMethod::ALL {
        let asked = options.methods.as_ref().is_some_and(|asked| asked.contains(&method));
        if options.methods.is_some() && !asked && !method.is_baseline() {
            continue;
        }
        let candidates = method.candidates(base, table.sparse_width() > 0, roles.names.len());
        let unsure = || match Plan::of(&candidates[0].options, &roles.names) {
            Ok(plan) if options.metric.needs_probabilities() && !plan.sure => Some(
                Error::usage(format!("{} needs probabilities, and {} has none", options.metric.name(), method.name()))
                    .help("compare by error or balanced_error"),
            ),
            Ok(_) => None,
            Err(error) => Some(error),
        };
        match method.unsuited(rows, columns).map(Error::data).or_else(unsure) {
            Some(error) if asked => return Err(error),
            Some(error) => left_out.push((method, error)),
            None => entrants.push(Entrant { method, candidates, metric: options.metric }),
        }
    }
    Ok((entrants, left_out))
}

/// The middle of several numbers, the lower of two.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or(0.0)
}

fn entries(done: Vec<(Entrant, Vec<InFold>)>, ratio: f64) -> Vec<ContestEntry> {
    let losses: Vec<Vec<f64>> = done.iter().map(|(_, folds)| folds.iter().map(|f| f.loss).collect()).collect();
    // All methods are judged by the same rows.
    let weights: Vec<f64> = done.first().map_or(Vec::new(), |(_, folds)| folds.iter().map(|f| f.weight).collect());
    let mean_of = |values: &[f64]| resampled_mean(values, &weights, ratio);
    // As many wrong rows in other folds are the same mean but for rounding.
    let steps: Vec<f64> = losses.iter().map(|l| (mean_of(l).mean / SAME).round()).collect();
    // They are in the order of simplicity, so that the first of equal ones is the simplest.
    let mut order: Vec<usize> = (0..done.len()).collect();
    order.sort_by(|a, b| steps[*a].total_cmp(&steps[*b]).then(a.cmp(b)));
    let Some(best) = order.first().copied() else { return Vec::new() };
    let against = |at: usize| {
        let differences: Vec<f64> = losses[at].iter().zip(&losses[best]).map(|(a, b)| a - b).collect();
        mean_of(&differences).ln_p
    };
    let ln_p: Vec<Option<f64>> = (0..done.len()).map(against).collect();
    let others: Vec<usize> = (0..done.len()).filter(|at| *at != best).collect();
    let rejected = holm(&others.iter().map(|at| ln_p[*at].map_or(1.0, f64::exp)).collect::<Vec<f64>>(), 1.0 - LEVEL);
    let worse = |at: usize| others.iter().position(|o| *o == at).is_some_and(|place| rejected[place]);
    let same = |a: usize, b: usize| done[a].1.iter().zip(&done[b].1).all(|(x, y)| x.predicted == y.predicted);
    let entry = |at: usize| {
        let (entrant, folds) = &done[at];
        let found = mean_of(&losses[at]);
        let (least, most) = entrant.metric.range();
        ContestEntry {
            method: entrant.method,
            mean: found.mean,
            interval: found.interval.map(|(low, high)| (low.max(least), high.min(most))),
            folds: losses[at].clone(),
            ln_p_vs_best: if at == best { Some(0.0) } else { ln_p[at] },
            worse: worse(at),
            ties: (0..at).filter(|before| same(*before, at)).map(|before| done[before].0.method).collect(),
            settings: folds.iter().map(|f| f.settings.clone()).collect(),
            size: median(folds.iter().map(|f| f.size as f64).collect()) as usize,
            fit_seconds: median(folds.iter().map(|f| f.fit_seconds).collect()),
            tune_seconds: median(folds.iter().map(|f| f.tune_seconds).collect()),
            predict_seconds: median(folds.iter().map(|f| f.predict_seconds).collect()),
            converged: folds.iter().all(|f| f.converged),
        }
    };
    order.iter().map(|at| entry(*at)).collect()
}
