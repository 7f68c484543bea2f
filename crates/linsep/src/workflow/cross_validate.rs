//! K-fold cross-validation of a whole fit: recipe, units and method are learned anew without each fold.

use super::fit::{FitOptions, labels_of, name_columns, recipe_options, training, weighted_accuracy};
use super::multiclass::{Plan, Planned};
use super::places::Places;
use super::rows::RowRoles;
use crate::artifact::CrossValidation;
use crate::decide;
use crate::design::{UnknownLevel, fit_recipe};
use crate::error::{Error, Result};
use crate::evaluate::{RowsOf, Scored, evaluate};
use crate::model::{Part, Training};
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
    let in_fold = |row: &Option<usize>| *row == Some(fold);
    let learn: Vec<bool> = assigned.iter().map(|f| f.is_some() && !in_fold(f)).collect();
    let test: Vec<bool> = assigned.iter().map(in_fold).collect();
    let frequencies = roles.frequencies(|row| learn[row]);
    let mut recipe = fit_recipe(table, &frequencies, &recipe_options(options))?;
    let counted: Vec<bool> = frequencies.iter().map(|f| *f > 0.0).collect();
    let prepared = recipe.apply(table, &counted)?;
    let labels = labels_of(&prepared.rows, roles, &recipe).map_err(|e| in_fold_error(e, fold))?;
    let (mut weights, offsets) = (roles.weights_of(&prepared.rows), roles.offsets_of(&prepared.rows));
    if let Some(class_weights) = &options.class_weights {
        weights = class_weights.for_rows(&labels, weights.as_deref())?.weighted(&labels, weights.as_deref());
    }
    let origins = recipe.origins();
    let training: Training<'_> = training(&prepared, &labels, weights.as_deref(), offsets.as_ref(), &origins);
    let method = options.method.aligned(&recipe, &roles.names).map_err(|e| in_fold_error(e, fold))?;
    let places = Places::of(table);
    let named = |e: Error| in_fold_error(name_columns(places.locate(e, &prepared.rows), &recipe), fold);
    let of = |part: Option<Part>| part.map_or(String::new(), |p| format!(" ({})", p.describe(&roles.names)));
    let fitted = match plan.fit(&method, &training, watch).map_err(named)? {
        Planned::Model(fitted, _) => fitted,
        Planned::NoOptimum(part, _) => {
            return Err(Error::data(format!(
                "without fold {} the classes are separable{}: maximum likelihood does not exist",
                fold + 1,
                of(part)
            ))
            .help("use a penalty, for example --penalty ridge:0.01"));
        }
        Planned::NotSeparable(part, ..) => {
            return Err(Error::data(format!(
                "without fold {} the classes overlap{}: no plane separates them, and the perceptron does not converge",
                fold + 1,
                of(part)
            ))
            .help("choose --model pocket, averaged-perceptron or logistic"));
        }
    };
    // A level that only the held-out rows have is no reason to stop.
    recipe.unknown = UnknownLevel::Zero;
    let held_out = recipe.apply(table, &test)?;
    if held_out.rows.is_empty() {
        return Ok(None);
    }
    let n_classes = roles.names.len();
    let mut scores = fitted.discriminant.scores(held_out.design.as_design(), watch)?;
    super::predict::add_offsets(&mut scores, roles.offsets_of(&held_out.rows).as_ref(), n_classes);
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

fn in_fold_error(error: Error, fold: usize) -> Error {
    let renamed =
        Error::new(error.kind(), format!("without fold {}: {}", fold + 1, error.message())).at(error.place().clone());
    match error.help_text() {
        Some(help) => renamed.help(help),
        None => renamed,
    }
}
