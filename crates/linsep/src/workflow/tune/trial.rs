//! A candidate in every fold.

use super::super::calibrate::cross_fit;
use super::super::folds::{Fold, hold_out, in_fold_error, with_class_weights};
use super::super::options::{FitOptions, recipe_options};
use super::super::plan::Plan;
use super::super::rows::RowRoles;
use super::super::source::Source;
use super::Candidate;
use super::choose::{FoldLoss, TuneMetric};
use super::divide::Division;
use super::journal::JournalPart;
use super::left_out::{LeftOutRows, squared_errors};
use crate::decide::{self, prior_shift, shift_scores};
use crate::discriminant::Discriminant;
use crate::error::{Error, ErrorKind, Result};
use crate::evaluate::{RowsOf, Scored, evaluate};
use crate::model::{Fit, Lambdas, Method, Outcome, RefusedPart, RiskMinimizer};
use crate::table::Table;
use crate::watch::{Progress, Watch};
use crate::words::{Setting, words};
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// One size of the penalty of a candidate, or the candidate itself.
pub(super) struct Tried {
    /// Its place among the candidates.
    pub(super) candidate: usize,
    pub(super) size: Option<PathSize>,
    pub(super) settings: Vec<(String, String)>,
    /// `None` where it cannot be fitted in every fold.
    pub(super) folds: Option<Vec<FoldLoss>>,
}

/// A size of a penalty along its path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum PathSize {
    Lambda(f64),
    /// C, which is another λ for other rows.
    Cost(f64),
}

impl PathSize {
    /// A method with a penalty of this size.
    pub(super) fn of(self, method: &Method) -> Method {
        match (method, self) {
            (Method::Risk(risk), PathSize::Lambda(lambda)) => Method::Risk(risk.with_lambda(lambda)),
            (Method::Risk(risk), PathSize::Cost(cost)) => Method::Risk(risk.with_cost(cost)),
            _ => method.clone(),
        }
    }

    /// Its name and value for people and programs.
    fn setting(self) -> (String, String) {
        match self {
            PathSize::Lambda(lambda) => ("lambda".to_owned(), format!("{lambda:?}")),
            PathSize::Cost(cost) => (COST.to_owned(), format!("{cost:?}")),
        }
    }
}

/// The name of the setting that prices a unit of loss.
pub(super) const COST: &str = "C";

/// Settings that were chosen, and what they are judged by.
pub(super) struct ChosenSettings<'c> {
    pub(super) options: &'c FitOptions,
    pub(super) metric: TuneMetric,
}

impl Tried {
    /// A candidate that some fold refused.
    pub(super) fn failed(candidate: &Candidate, number: usize) -> Tried {
        Tried { candidate: number, size: None, settings: candidate.settings.clone(), folds: None }
    }

    /// What is fitted with these settings.
    pub(super) fn options(&self, candidates: &[Candidate]) -> FitOptions {
        let mut options = candidates[self.candidate].options.clone();
        if let Some(size) = self.size {
            options.method = size.of(&options.method);
        }
        options
    }
}

/// All sizes of a candidate in all folds, which are fitted side by side. The first fold that fails is the one that is told of.
pub(super) fn try_candidate(
    table: &Table,
    roles: &RowRoles,
    (candidate, number): (&Candidate, usize),
    (folds, metric, journal): (&Division<'_>, TuneMetric, JournalPart<'_>),
    (done, total): (usize, usize),
    watch: &Watch,
) -> Result<Vec<Tried>> {
    let plan = Plan::of(&candidate.options, &roles.names)?;
    let sizes = candidate.path.as_ref().map(|l| sizes(table, roles, (candidate, &plan), l, watch)).transpose()?;
    let tried = |sizes: &[Option<PathSize>], losses: Vec<Vec<FoldLoss>>| -> Vec<Tried> {
        let one = |(size, losses): (&Option<PathSize>, Vec<FoldLoss>)| {
            let mut settings = candidate.settings.clone();
            settings.extend(size.map(PathSize::setting));
            Tried { candidate: number, size: *size, settings, folds: Some(losses) }
        };
        sizes.iter().zip(losses).map(one).collect()
    };
    let steps: Vec<Option<PathSize>> = match (&sizes, &candidate.path) {
        (Some(sizes), Some(Lambdas::Costs(_))) => sizes.iter().map(|c| Some(PathSize::Cost(*c))).collect(),
        (Some(sizes), _) => sizes.iter().map(|l| Some(PathSize::Lambda(*l))).collect(),
        (None, _) => vec![None],
    };
    if let Division::Each { rows, .. } = folds {
        let asked = LeftOutRows { table, roles, options: &candidate.options, plan: &plan, metric, rows };
        if let Some(losses) = asked.losses(&steps, watch)? {
            return Ok(tried(&steps, losses));
        }
    }
    let count = AtomicUsize::new(done);
    let in_fold = |fold: &Fold| {
        let count_of_sizes = sizes.as_ref().map_or(1, Vec::len);
        let losses = journal.or_else((number, fold.number, count_of_sizes), || match &sizes {
            Some(sizes) => {
                let sizes = match &candidate.path {
                    Some(Lambdas::Costs(_)) => Lambdas::Costs(sizes.clone()),
                    _ => Lambdas::Given(sizes.clone()),
                };
                along_path(table, roles, (&candidate.options, &plan), (fold, metric), &sizes, watch)
            }
            None => one(table, roles, (&candidate.options, &plan), (fold, metric), watch).map(|loss| vec![loss]),
        });
        watch.report(Progress::Fold { done: count.fetch_add(1, Ordering::Relaxed) + 1, total });
        losses
    };
    let found: Vec<Result<Vec<FoldLoss>>> =
        (0..folds.len()).into_par_iter().map(|number| in_fold(&folds.fold(number))).collect();
    let found = found.into_iter().collect::<Result<Vec<_>>>()?;
    let of_size = |place: usize| found.iter().map(|losses| losses[place]).collect();
    Ok(tried(&steps, (0..steps.len()).map(of_size).collect()))
}

/// The method whose path a candidate asks for.
fn path_method<'m>(options: &'m FitOptions, plan: &Plan, method: &'m Method) -> Result<&'m RiskMinimizer> {
    let refuse = |what: &str| {
        Err(Error::usage(words![Setting::Model.is(options.method.name()), format!(" has no path {what}")])
            .help("give the sizes of the penalty one by one"))
    };
    match method {
        _ if options.calibration.is_some() => refuse("of calibrated scores"),
        _ if plan.split.is_some() => refuse("of two-class fits"),
        Method::Risk(risk) => Ok(risk),
        _ => refuse("along its penalty"),
    }
}

/// The sizes to try, from the largest down: those of the path of all rows, so that they are the same in every fold.
fn sizes(
    table: &Table,
    roles: &RowRoles,
    (candidate, plan): (&Candidate, &Plan),
    lambdas: &Lambdas,
    watch: &Watch,
) -> Result<Vec<f64>> {
    let options = &candidate.options;
    let source = Source::of_some_rows(table, roles, |_| true, &recipe_options(options))?;
    let aligned = options.method.aligned(&source.recipe, &roles.names)?;
    let method = path_method(options, plan, &aligned)?;
    let factored = with_class_weights(&source, options)?;
    let training = source.training(factored.as_deref().or(source.weights.as_deref()));
    method.path_sizes(&training, lambdas, watch).map_err(|e| source.name(e))?.ok_or_else(|| {
        Error::data("columns without a penalty separate the classes, so that there is no path")
            .help("give them a penalty factor above 0")
    })
}

/// One path without a fold, and the losses of the fold at its points.
fn along_path(
    table: &Table,
    roles: &RowRoles,
    (options, plan): (&FitOptions, &Plan),
    (fold, metric): (&Fold, TuneMetric),
    sizes: &Lambdas,
    watch: &Watch,
) -> Result<Vec<FoldLoss>> {
    let open = fold.open(table, roles, options)?;
    let aligned = open.aligned(&options.method)?;
    let method = path_method(options, plan, &aligned)?;
    let training = open.training();
    let used = training.labels.len();
    let path = match method.path(&training, sizes, watch).map_err(|e| open.name(e))? {
        Fit::Model(path) => path,
        Fit::Refused(refusal) => return Err(open.refused(&RefusedPart { part: None, used, refusal }, &aligned)),
    };
    if matches!(path.outcome, Outcome::TimeLimit | Outcome::Interrupted) {
        return Err(Error::new(ErrorKind::Interrupted, "stopped before every size was tried in every fold"));
    }
    let learned = open.learned_priors(&aligned);
    let loss = |point: crate::model::PathPoint| {
        let scores = open.scores(&Discriminant::Linear(point.linear), watch)?;
        let rows = FoldScores { table, roles, rows: open.rows(), number: fold.number };
        rows.loss(scores, &learned, (options, plan), metric)
    };
    path.points.into_iter().map(loss).collect()
}

/// A whole fit without a fold, calibration included, and the loss of the fold.
pub(super) fn one(
    table: &Table,
    roles: &RowRoles,
    (options, plan): (&FitOptions, &Plan),
    (fold, metric): (&Fold, TuneMetric),
    watch: &Watch,
) -> Result<FoldLoss> {
    let held_out = hold_out(table, roles, (options, plan), fold, watch)?;
    if watch.halted().is_some() {
        return Err(Error::new(ErrorKind::Interrupted, "stopped before every fold was done"));
    }
    let (mut scores, mut learned) = (held_out.scores, held_out.learned_priors);
    if let Some(calibration) = &options.calibration {
        let within = roles.only(|row| fold.learn[row]);
        let found =
            cross_fit(table, &within, options, calibration, watch).map_err(|e| in_fold_error(e, fold.number))?;
        found.calibration.map.apply(&mut scores);
        learned = found.shares;
    }
    let rows = FoldScores { table, roles, rows: &held_out.rows, number: fold.number };
    rows.loss(scores, &learned, (options, plan), metric)
}

/// The loss of a fold under settings chosen without it.
pub(super) fn judge_alone(
    table: &Table,
    roles: &RowRoles,
    chosen: &ChosenSettings<'_>,
    fold: &Fold,
    watch: &Watch,
) -> Result<FoldLoss> {
    let plan = Plan::of(chosen.options, &roles.names)?;
    one(table, roles, (chosen.options, &plan), (fold, chosen.metric), watch)
}

/// Rows that were held out.
pub(in crate::workflow) struct FoldScores<'f> {
    pub(in crate::workflow) table: &'f Table,
    pub(in crate::workflow) roles: &'f RowRoles,
    pub(in crate::workflow) rows: &'f [usize],
    pub(in crate::workflow) number: usize,
}

impl FoldScores<'_> {
    /// Their loss by scores without a shift of priors.
    pub(in crate::workflow) fn loss(
        &self,
        mut scores: Vec<f64>,
        learned: &[f64],
        (options, plan): (&FitOptions, &Plan),
        metric: TuneMetric,
    ) -> Result<FoldLoss> {
        let FoldScores { table, roles, rows, number } = *self;
        if rows.is_empty() {
            return Err(Error::data(format!("no row of fold {} has all the cells that are needed", number + 1))
                .help(words!["choose ", Setting::Missing.is("mean")]));
        }
        if let Some(priors) = &options.true_priors {
            shift_scores(&mut scores, &prior_shift(learned, priors));
        }
        let n_classes = roles.names.len();
        let (truth, weights) = (roles.codes(rows), roles.weights_of(rows));
        if metric == TuneMetric::SquaredError {
            let losses = squared_errors(&options.method, &scores, &truth, n_classes)?;
            let weight = |at: usize| weights.as_ref().map_or(1.0, |w| w[at]);
            let total: f64 = (0..rows.len()).map(weight).sum();
            let loss = losses.iter().enumerate().map(|(at, loss)| weight(at) / total * loss).sum();
            return Ok(FoldLoss { loss, weight: total });
        }
        let predicted = plan.decision.classes(&scores, n_classes)?;
        let probabilities = plan.sure.then(|| decide::probabilities(&scores, n_classes));
        let losses = plan.sure.then(|| decide::losses(&scores, &truth, n_classes));
        let evaluation = evaluate(&Scored {
            classes: &roles.names,
            truth: &truth,
            predicted: &predicted,
            decision: (plan.sure || plan.split.is_some()).then_some(&plan.decision),
            probabilities: probabilities.as_deref(),
            losses: losses.as_deref(),
            weights: weights.as_deref(),
            origin: Some(RowsOf { table, rows }),
        })?;
        let loss = metric.loss(&evaluation).map_err(|why| {
            Error::data(format!("fold {}: {} is not defined: {why}", number + 1, metric.name()))
                .help("choose fewer folds, or another metric")
        })?;
        Ok(FoldLoss { loss, weight: evaluation.total_weight })
    }
}
