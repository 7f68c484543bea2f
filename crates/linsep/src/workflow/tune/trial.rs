//! A candidate in every fold.

use super::super::calibrate::cross_fit;
use super::super::folds::{Fold, hold_out, in_fold_error, with_class_weights};
use super::super::options::{FitOptions, recipe_options};
use super::super::plan::Plan;
use super::super::rows::RowRoles;
use super::super::source::Source;
use super::Candidate;
use super::choose::{FoldLoss, TuneMetric};
use super::journal::JournalPart;
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
    pub(super) lambda: Option<f64>,
    pub(super) settings: Vec<(String, String)>,
    /// `None` where it cannot be fitted in every fold.
    pub(super) folds: Option<Vec<FoldLoss>>,
}

/// Settings that were chosen, and what they are judged by.
pub(super) struct ChosenSettings<'c> {
    pub(super) options: &'c FitOptions,
    pub(super) metric: TuneMetric,
}

impl Tried {
    /// A candidate that some fold refused.
    pub(super) fn failed(candidate: &Candidate, number: usize) -> Tried {
        Tried { candidate: number, lambda: None, settings: candidate.settings.clone(), folds: None }
    }

    /// What is fitted with these settings.
    pub(super) fn options(&self, candidates: &[Candidate]) -> FitOptions {
        let mut options = candidates[self.candidate].options.clone();
        if let (Method::Risk(risk), Some(lambda)) = (&options.method, self.lambda) {
            options.method = Method::Risk(risk.with_lambda(lambda));
        }
        options
    }
}

/// All sizes of a candidate in all folds, which are fitted side by side. The first fold that fails is the one that is told of.
pub(super) fn try_candidate(
    table: &Table,
    roles: &RowRoles,
    (candidate, number): (&Candidate, usize),
    (folds, metric, journal): (&[Fold], TuneMetric, JournalPart<'_>),
    (done, total): (usize, usize),
    watch: &Watch,
) -> Result<Vec<Tried>> {
    let plan = Plan::of(&candidate.options, &roles.names)?;
    let sizes = candidate.path.as_ref().map(|l| sizes(table, roles, (candidate, &plan), l, watch)).transpose()?;
    let count = AtomicUsize::new(done);
    let in_fold = |fold: &Fold| {
        let count_of_sizes = sizes.as_ref().map_or(1, Vec::len);
        let losses = journal.or_else((number, fold.number, count_of_sizes), || match &sizes {
            Some(sizes) => along_path(table, roles, (&candidate.options, &plan), (fold, metric), sizes, watch),
            None => one(table, roles, (&candidate.options, &plan), (fold, metric), watch).map(|loss| vec![loss]),
        });
        watch.report(Progress::Fold { done: count.fetch_add(1, Ordering::Relaxed) + 1, total });
        losses
    };
    let found: Vec<Result<Vec<FoldLoss>>> = folds.par_iter().map(in_fold).collect();
    let found = found.into_iter().collect::<Result<Vec<_>>>()?;
    let lambdas: Vec<Option<f64>> = match &sizes {
        Some(sizes) => sizes.iter().copied().map(Some).collect(),
        None => vec![None],
    };
    let tried = |(place, lambda): (usize, Option<f64>)| {
        let mut settings = candidate.settings.clone();
        settings.extend(lambda.map(|l| ("lambda".to_owned(), format!("{l:?}"))));
        Tried { candidate: number, lambda, settings, folds: Some(found.iter().map(|losses| losses[place]).collect()) }
    };
    Ok(lambdas.into_iter().enumerate().map(tried).collect())
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
    sizes: &[f64],
    watch: &Watch,
) -> Result<Vec<FoldLoss>> {
    let open = fold.open(table, roles, options)?;
    let aligned = open.aligned(&options.method)?;
    let method = path_method(options, plan, &aligned)?;
    let training = open.training();
    let used = training.labels.len();
    let path = match method.path(&training, &Lambdas::Given(sizes.to_vec()), watch).map_err(|e| open.name(e))? {
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
fn one(
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
