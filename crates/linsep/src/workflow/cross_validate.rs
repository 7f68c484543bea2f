//! K-fold cross-validation of a whole fit: recipe, units, method and calibration are learned again without each fold.

use super::assemble::weighted_accuracy;
use super::calibrate::cross_fit;
use super::folds::{Fold, hold_out, in_fold_error};
use super::options::FitOptions;
use super::plan::Plan;
use super::rows::RowRoles;
use crate::artifact::CrossValidation;
use crate::decide::{self, prior_shift, shift_scores};
use crate::error::Result;
use crate::evaluate::{RowsOf, Scored, evaluate};
use crate::resample::stratified_folds;
use crate::table::{Class, Table};
use crate::watch::{Progress, Watch};

/// Out-of-fold predictions of all folds, judged together.
#[derive(Default)]
struct OutOfFold {
    rows: Vec<usize>,
    truth: Vec<Class>,
    predicted: Vec<Option<Class>>,
    probabilities: Vec<f64>,
    losses: Vec<f64>,
    weights: Vec<f64>,
}

pub(super) fn cross_validate(
    table: &Table,
    roles: &RowRoles,
    options: &FitOptions,
    plan: &Plan,
    folds: usize,
    watch: &Watch,
) -> Result<CrossValidation> {
    let assigned = stratified_folds(&roles.classes, &roles.names, folds, options.seed)?;
    let mut all = OutOfFold::default();
    let mut per_fold = Vec::with_capacity(folds);
    for fold in 0..folds {
        let accuracy = one_fold(table, roles, (options, plan), &assigned, fold, &mut all, watch)?;
        per_fold.extend(accuracy);
        watch.report(Progress::Fold { done: fold + 1, total: folds });
    }
    let evaluation = evaluate(&Scored {
        classes: &roles.names,
        truth: &all.truth,
        predicted: &all.predicted,
        decision: (plan.sure || plan.split.is_some()).then_some(&plan.decision),
        probabilities: plan.sure.then_some(&all.probabilities[..]),
        losses: plan.sure.then_some(&all.losses[..]),
        weights: roles.weights.is_some().then_some(&all.weights[..]),
        origin: Some(RowsOf { table, rows: &all.rows }),
    })?;
    Ok(CrossValidation::new(folds, &evaluation, per_fold))
}

/// Fits without one fold and predicts it; `None` where no row of the fold is complete and decided.
fn one_fold(
    table: &Table,
    roles: &RowRoles,
    (options, plan): (&FitOptions, &Plan),
    assigned: &[Option<usize>],
    fold: usize,
    all: &mut OutOfFold,
    watch: &Watch,
) -> Result<Option<f64>> {
    let held_out = hold_out(table, roles, (options, plan), &Fold::of(assigned, fold), watch)?;
    if held_out.rows.is_empty() {
        return Ok(None);
    }
    let n_classes = roles.names.len();
    let mut scores = held_out.scores;
    let mut learned = held_out.learned_priors;
    if let Some(calibration) = &options.calibration {
        let within = roles.only(|row| assigned[row].is_some_and(|f| f != fold));
        let found = cross_fit(table, &within, options, calibration, watch).map_err(|e| in_fold_error(e, fold))?;
        found.calibration.map.apply(&mut scores);
        learned = found.shares;
    }
    if let Some(priors) = &options.true_priors {
        shift_scores(&mut scores, &prior_shift(&learned, priors));
    }
    let predicted = plan.decision.classes(&scores, n_classes)?;
    let truth = roles.codes(&held_out.rows);
    let weights = roles.weights_of(&held_out.rows);
    let (accuracy, _) = weighted_accuracy(&predicted, &truth, weights.as_deref());
    if plan.sure {
        all.probabilities.extend(decide::probabilities(&scores, n_classes));
        all.losses.extend(decide::losses(&scores, &truth, n_classes));
    }
    all.weights.extend(weights.unwrap_or_else(|| vec![1.0; truth.len()]));
    all.rows.extend(&held_out.rows);
    all.predicted.extend(predicted);
    all.truth.extend(truth);
    Ok(accuracy)
}

impl RowRoles {
    /// The same roles as if the other rows had no label.
    pub(super) fn only(&self, wanted: impl Fn(usize) -> bool) -> RowRoles {
        let class = |(row, class): (usize, &Option<Class>)| class.filter(|_| wanted(row));
        RowRoles {
            classes: self.classes.iter().enumerate().map(class).collect(),
            names: self.names.clone(),
            weights: self.weights.clone(),
            offsets: self.offsets.clone(),
            held_back: self.held_back,
        }
    }
}
