//! One method in one fold: tuned, fitted and judged.

use super::super::folds::{Fold, OpenFold};
use super::super::options::FitOptions;
use super::super::plan::Plan;
use super::super::rows::RowRoles;
use super::super::tune::{Candidate, FoldScores, JournalPart, TuneMetric, TuneOptions, divide, search};
use super::lineup::ContestMethod;
use crate::design::{Training, select};
use crate::discriminant::{Discriminant, Linear};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Fit, Outcome};
use crate::stats::{ClassColumns, Run, Sums, Support};
use crate::table::{Class, Table};
use crate::watch::{Stopwatch, Watch};

/// A method that takes part.
pub(super) struct Entrant {
    pub(super) method: ContestMethod,
    pub(super) candidates: Vec<Candidate>,
    pub(super) metric: TuneMetric,
}

/// How it did.
pub(super) struct InFold {
    pub(super) loss: f64,
    /// Weight of its rows.
    pub(super) weight: f64,
    pub(super) predicted: Vec<Option<Class>>,
    pub(super) settings: Vec<(String, String)>,
    pub(super) size: usize,
    pub(super) fit_seconds: f64,
    pub(super) tune_seconds: f64,
    pub(super) predict_seconds: f64,
    pub(super) converged: bool,
}

/// Scores of the rows held out and what they took.
struct ScoredFold {
    scores: Vec<f64>,
    size: usize,
    fit_seconds: f64,
    predict_seconds: f64,
    converged: bool,
    settings: Vec<(String, String)>,
}

impl Entrant {
    pub(super) fn in_fold(
        &self,
        table: &Table,
        roles: &RowRoles,
        (fold, division): (&Fold, &TuneOptions),
        watch: &Watch,
    ) -> Result<InFold> {
        let clock = Stopwatch::start();
        let (options, settings) = self.tuned(table, roles, (fold, division), watch)?;
        let tune_seconds = clock.seconds();
        let plan = Plan::of(&options, &roles.names)?;
        let open = fold.open(table, roles, &options)?;
        let mut found = match self.method {
            ContestMethod::Majority => majority(&open, roles, watch)?,
            ContestMethod::SingleColumn => single_column(&open, (&options, &plan), watch)?,
            _ => fitted(&open, (&options, &plan), watch)?,
        };
        if watch.halted().is_some() {
            return Err(Error::new(ErrorKind::Interrupted, "stopped before every method was compared"));
        }
        found.settings.splice(0..0, settings);
        let predicted = plan.decision.classes(&found.scores, roles.names.len())?;
        let rows = FoldScores { table, roles, rows: open.rows(), number: fold.number };
        let judged = rows.loss(found.scores, &[], (&options, &plan), self.metric)?;
        Ok(InFold {
            loss: judged.loss,
            weight: judged.weight,
            predicted,
            settings: found.settings,
            size: found.size,
            fit_seconds: found.fit_seconds,
            tune_seconds,
            predict_seconds: found.predict_seconds,
            converged: found.converged,
        })
    }

    /// The settings that folds of the rows to learn from choose; the first ones where those rows are too few to divide.
    fn tuned(
        &self,
        table: &Table,
        roles: &RowRoles,
        (fold, division): (&Fold, &TuneOptions),
        watch: &Watch,
    ) -> Result<(FitOptions, Vec<(String, String)>)> {
        let first = &self.candidates[0];
        let open = self.candidates.len() > 1 || first.path.is_some();
        if !open {
            return Ok((first.options.clone(), Vec::new()));
        }
        let within = roles.only(|row| fold.learn[row]);
        let inner = |folds: usize| TuneOptions { folds, repeats: 1, ..division.clone() };
        let possible = (2..=TuneOptions::FOLDS).rev().map(inner).find(|o| divide(table, &within, o).is_ok());
        let Some(inner) = possible else { return Ok((first.options.clone(), first.settings.clone())) };
        let found = search(table, &within, &self.candidates, (&inner, JournalPart::default()), watch)?;
        let chosen = found.record.trials[found.record.best].settings.clone();
        Ok((found.best, chosen))
    }
}

/// A fit as `linsep fit` makes it.
fn fitted(open: &OpenFold<'_>, (options, plan): (&FitOptions, &Plan), watch: &Watch) -> Result<ScoredFold> {
    let method = open.aligned(&options.method)?;
    let clock = Stopwatch::start();
    let fit = match plan.fit(&method, &open.training(), None, watch).map_err(|e| open.name(e))? {
        Fit::Model(fit) => fit.whole,
        Fit::Refused(refused) => return Err(open.refused(&refused, &method)),
    };
    let fit_seconds = clock.seconds();
    let clock = Stopwatch::start();
    let scores = open.scores(&fit.discriminant, watch)?;
    Ok(ScoredFold {
        scores,
        size: fit.discriminant.size(),
        fit_seconds,
        predict_seconds: clock.seconds(),
        converged: fit.outcome == Outcome::Converged,
        settings: Vec::new(),
    })
}

/// Scores that are the same for every row: logarithms of the shares of the classes.
fn majority(open: &OpenFold<'_>, roles: &RowRoles, watch: &Watch) -> Result<ScoredFold> {
    let clock = Stopwatch::start();
    let training = open.training();
    let (totals, columns) = (training.labels.totals(training.weights), training.design.shape().cols);
    let total: f64 = totals.iter().sum();
    // A class without rows is as good as impossible.
    let logs: Vec<f64> = totals.iter().map(|t| (t / total).max(f64::MIN_POSITIVE).ln()).collect();
    let intercepts = if roles.names.len() == 2 { vec![logs[1] - logs[0]] } else { logs };
    let weights = vec![0.0; columns * intercepts.len()];
    let constant = Discriminant::Linear(Linear::new(weights, vec![0.0; columns], intercepts)?);
    let fit_seconds = clock.seconds();
    let clock = Stopwatch::start();
    let scores = open.scores(&constant, watch)?;
    let (size, predict_seconds) = (constant.size(), clock.seconds());
    Ok(ScoredFold { scores, size, fit_seconds, predict_seconds, converged: true, settings: Vec::new() })
}

/// Logistic regression on the column with the largest ratio of the variance between classes to that within.
fn single_column(open: &OpenFold<'_>, (options, plan): (&FitOptions, &Plan), watch: &Watch) -> Result<ScoredFold> {
    let clock = Stopwatch::start();
    let training = open.training();
    let (columns, sparse) = (training.design.shape().cols, open.source.recipe.sparse_width > 0);
    let runs = [Run { columns: 0..columns, sums: Sums::Moments, support: Support::REAL }];
    let moments = ClassColumns::of(training.design, training.labels, training.weights, &runs, watch)?;
    let ratio = |column: usize| {
        let classes = || moments.weights().iter().enumerate().filter(|(_, w)| **w > 0.0);
        let total: f64 = moments.weights().iter().sum();
        let mean = classes().map(|(k, w)| w / total * moments.mean(k, column)).sum::<f64>();
        let between = classes().map(|(k, w)| w * (moments.mean(k, column) - mean).powi(2)).sum::<f64>();
        let within = classes().map(|(k, _)| moments.squares(k, column)).sum::<f64>();
        // Of a constant column, and of numbers whose squares are beyond all doubles, nothing is known.
        if between > 0.0 && !(between / within).is_nan() { between / within } else { 0.0 }
    };
    let ratios: Vec<f64> = (0..columns).map(ratio).collect();
    // Of equal ones the first.
    let best = (0..columns).rev().max_by(|a, b| ratios[*a].total_cmp(&ratios[*b]));
    let Some(best) = best else { return majority(open, open.roles(), watch) };
    let learn = select(training.design, &[best], watch)?;
    let alone = Training { design: learn.as_design(), labels: training.labels, weights: training.weights, ..training };
    let alone = Training { origins: &[], printed: &[], columns: None, ..alone };
    let method = if sparse { options.method.clone().on_columns_as_they_are() } else { options.method.clone() };
    let fit = match plan.fit(&method, &alone, None, watch).map_err(|e| open.name(e))? {
        Fit::Model(fit) => fit.whole,
        Fit::Refused(refused) => return Err(open.refused(&refused, &method)),
    };
    let fit_seconds = clock.seconds();
    let clock = Stopwatch::start();
    let scores = open.scores_of_column(&fit.discriminant, best, watch)?;
    Ok(ScoredFold {
        scores,
        size: fit.discriminant.size(),
        fit_seconds,
        predict_seconds: clock.seconds(),
        converged: fit.outcome == Outcome::Converged,
        settings: vec![("column".to_owned(), open.source.recipe.feature(best))],
    })
}
