//! Every row left out by a formula, where there is one.

use super::super::folds::{Fold, with_class_weights};
use super::super::options::{FitOptions, recipe_options};
use super::super::plan::Plan;
use super::super::rows::RowRoles;
use super::super::source::Source;
use super::choose::{FoldLoss, TuneMetric};
use super::trial::{PathSize, one};
use crate::decide;
use crate::design::{Encoding, Recipe};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{ClassWeights, Method};
use crate::table::{Class, Table};
use crate::watch::Watch;
use rayon::prelude::*;

/// Rows that are to be left out one by one, and what is fitted to the others.
pub(super) struct LeftOutRows<'a> {
    pub(super) table: &'a Table,
    pub(super) roles: &'a RowRoles,
    pub(super) options: &'a FitOptions,
    pub(super) plan: &'a Plan,
    pub(super) metric: TuneMetric,
    /// Rows of the table.
    pub(super) rows: &'a [usize],
}

impl LeftOutRows<'_> {
    /// The loss of each row under each size; `None` where every row takes a fit. A row that the formula cannot leave out is
    /// left out by a fit.
    pub(super) fn losses(&self, sizes: &[Option<PathSize>], watch: &Watch) -> Result<Option<Vec<Vec<FoldLoss>>>> {
        let LeftOutRows { table, roles, options, plan, metric, rows } = *self;
        if matches!(metric, TuneMetric::BalancedError | TuneMetric::AucLoss) {
            return Err(Error::usage(format!("{} is of rows of several classes, not of one row", metric.name()))
                .help("compare by error, log_loss or brier")
                .help("choose a number of folds"));
        }
        let whole = plan.split.is_none() && options.calibration.is_none() && options.true_priors.is_none();
        // Balanced weights of classes change for all rows when one is left out.
        let weighted = matches!(options.class_weights, Some(ClassWeights::Balanced));
        if !whole || weighted || !options.offsets.is_empty() {
            return Ok(None);
        }
        let source = Source::of_some_rows(table, roles, |_| true, &recipe_options(options))?;
        if !learns_nothing(&source.recipe) || !source.counts.filled.is_empty() || source.rows != rows {
            return Ok(None);
        }
        let aligned = options.method.aligned(&source.recipe, &roles.names)?;
        let factored = with_class_weights(&source, options)?;
        let training = source.training(factored.as_deref().or(source.weights.as_deref()));
        let mut found = Vec::with_capacity(sizes.len());
        for size in sizes {
            let method = size.map_or_else(|| aligned.clone(), |size| size.of(&aligned));
            let Some(left_out) = method.left_out(&training, watch).map_err(|e| source.name(e))? else {
                return Ok(None);
            };
            let own = FitOptions {
                method: size.map_or_else(|| options.method.clone(), |s| s.of(&options.method)),
                ..options.clone()
            };
            let mut losses = self.row_losses(&method, &left_out.scores, watch)?;
            let by_fit = |row: &usize| {
                let fold = Fold::without(rows[*row], *row, roles);
                one(table, roles, (&own, plan), (&fold, metric), watch)
            };
            let fitted: Vec<Result<FoldLoss>> = left_out.open.par_iter().map(by_fit).collect();
            for (row, loss) in left_out.open.iter().zip(fitted) {
                losses[*row] = loss?;
            }
            found.push(losses);
        }
        Ok(Some(found))
    }

    /// The loss of every row by its scores.
    fn row_losses(&self, method: &Method, scores: &[f64], watch: &Watch) -> Result<Vec<FoldLoss>> {
        if watch.halted().is_some() {
            return Err(Error::new(ErrorKind::Interrupted, "stopped before every fold was done"));
        }
        let (classes, truth) = (self.roles.names.len(), self.roles.codes(self.rows));
        let losses: Vec<f64> = match self.metric {
            TuneMetric::LogLoss => decide::losses(scores, &truth, classes),
            TuneMetric::SquaredError => squared_errors(method, scores, &truth, classes)?,
            TuneMetric::Brier => {
                let probabilities = decide::probabilities(scores, classes);
                let row = |(class, p): (&Class, &[f64])| {
                    let error = |k: usize| (p[k] - if class.index() == k { 1.0 } else { 0.0 }).powi(2);
                    if classes == 2 { error(1) } else { (0..classes).map(error).sum() }
                };
                truth.iter().zip(probabilities.chunks_exact(classes)).map(row).collect()
            }
            _ => {
                let decided = self.plan.decision.classes(scores, classes)?;
                decided
                    .iter()
                    .zip(&truth)
                    .map(|(found, class)| if *found == Some(*class) { 0.0 } else { 1.0 })
                    .collect()
            }
        };
        let weights = self.roles.weights_of(self.rows);
        let weight = |row: usize| weights.as_ref().map_or(1.0, |w| w[row]);
        Ok(losses.into_iter().enumerate().map(|(row, loss)| FoldLoss { loss, weight: weight(row) }).collect())
    }
}

/// Whether columns become a matrix in the same way without any one row: numbers as they are, and indicators of levels, of which one
/// that a single row has is a column of that row alone.
fn learns_nothing(recipe: &Recipe) -> bool {
    let plain = |encoding: &Encoding| matches!(encoding, Encoding::Number { .. } | Encoding::Levels { .. });
    recipe.formula.is_none() && recipe.columns.iter().all(|column| plain(&column.encoding))
}

/// `‖t − z‖²` of every row: the squared distance of the scores of least squares from the targets of its class.
pub(super) fn squared_errors(method: &Method, scores: &[f64], truth: &[Class], classes: usize) -> Result<Vec<f64>> {
    let Some((targets, shift)) = method.class_targets(classes)? else {
        return Err(Error::usage("squared_error is the distance from the targets of least squares"));
    };
    let row = |(class, z): (&Class, &[f64])| {
        targets.iter().zip(z).map(|(t, z)| (t[class.index()] - (z + shift)).powi(2)).sum::<f64>()
    };
    Ok(truth.iter().zip(scores.chunks_exact(targets.len())).map(row).collect())
}
