//! The options under which the same rows give a model again, and that second fit.

use super::assemble::KnownOfRows;
use super::calibrate::cross_fit;
use super::conformal::{DividedSource, HeldBack};
use super::cross_validate::cross_validate;
use super::fit::{fit_rows_of, fit_source};
use super::multiclass::Approach;
use super::options::{CalibrationOptions, FitOptions};
use super::plan::Plan;
use super::rows::RowRoles;
use crate::artifact::Model;
use crate::decide::Rule;
use crate::error::Result;
use crate::model::{ClassWeights, Outcome, Split};
use crate::table::{Kind, Table};
use crate::watch::Watch;

/// Everything that a model says of how it was fitted. Where it started is not kept, but whether it did is.
pub fn options_of(model: &Model) -> FitOptions {
    let mut options = FitOptions::new(model.target.clone(), model.method.clone());
    options.weights.clone_from(&model.weights);
    options.class_weights = model.class_weights.as_ref().map(|w| match w.balanced {
        true => ClassWeights::Balanced,
        false => ClassWeights::Given(model.classes.iter().cloned().zip(w.factors.iter().copied()).collect()),
    });
    options.offsets.clone_from(&model.offsets);
    options.recipe = model.recipe.options(model.method.coding());
    if model.recipe.columns.is_empty() {
        // Unnamed sparse columns are not chosen by name.
        options.recipe.features = None;
    }
    options.seed = model.provenance.seed;
    options.true_priors.clone_from(&model.true_priors);
    if !matches!(model.decision.rule, Rule::Scheme(_)) {
        options.decision = model.decision.clone();
    }
    options.multiclass.approach = Some(match model.split() {
        None => Approach::Joint,
        Some(Split::Pairs) => Approach::OneVsOne,
        Some(Split::Rest) => Approach::LinearMachine,
    });
    options.calibration = model.calibration.as_ref().map(|c| CalibrationOptions { kind: c.map.kind(), folds: c.folds });
    options.conformal = model.conformal.as_ref().map(|c| c.options);
    options.folds = model.cross_validation.as_ref().map(|c| c.folds);
    options.keep_statistics = model.statistics.is_some();
    options
}

/// What was fitted, and how it decides.
pub(super) fn plan_of(model: &Model) -> Plan {
    Plan { decision: model.decision.clone(), split: model.split(), sure: model.has_probabilities() }
}

/// Why a second fit need not come to the same bits, where it need not.
pub(super) fn why_not_again(model: &Model) -> Option<&'static str> {
    match model.outcome {
        Outcome::TimeLimit | Outcome::Interrupted => Some("the clock stopped the fit, which nothing repeats"),
        _ if model.provenance.is_updated() => {
            Some("the model was updated by its statistics, whose rounding the order of the updates decides")
        }
        _ if !model.provenance.partitions.is_empty() => {
            Some("the rows were in several places, and how they were cut decides the rounding of sums")
        }
        _ if model.provenance.started => Some("the fit started at another model, which is not kept"),
        _ => None,
    }
}

/// Fits the rows of a table again, with everything that the model was asked for; `None` where there is no model now.
pub(super) fn fit_again(
    model: &Model,
    table: &Table,
    (roles, held): (&RowRoles, Option<&HeldBack>),
    watch: &Watch,
) -> Result<Option<Model>> {
    let (options, plan) = (options_of(model), plan_of(model));
    let folds = options.folds.map(|folds| cross_validate(table, roles, &options, &plan, folds, watch)).transpose()?;
    let arrays = model.provenance.fingerprint.is_empty();
    let known = KnownOfRows {
        fingerprint: if arrays { String::new() } else { format!("{:016x}", table.fingerprint()) },
        target_is_text: table.columns()[table.column(&model.target)?].kind != Kind::Number,
        reading: if arrays { model.reading.clone() } else { table.reading().clone() },
        cross_validation: folds,
        calibration: options.calibration.as_ref().map(|c| cross_fit(table, roles, &options, c, watch)),
        accuracy: !arrays,
    };
    let fit = fit_rows_of(table.clone(), (roles, held), &options, (&plan, known), watch)?;
    // A search over settings is not repeated: the model is what they give.
    let (tuning, label_types) = (model.tuning.clone(), model.label_types.clone());
    Ok(fit.model().map(|again| Model { tuning, label_types, ..*again }))
}

/// The same for rows of arrays.
pub(super) fn fit_source_again(model: &Model, rows: &DividedSource<'_>, watch: &Watch) -> Result<Option<Model>> {
    let found = fit_source(&rows.source, &options_of(model), &plan_of(model), KnownOfRows::stated_by(model), watch)?;
    let Some(found) = found.model() else { return Ok(None) };
    let mut found = Model {
        calibration: model.calibration.clone(),
        tuning: model.tuning.clone(),
        label_types: model.label_types.clone(),
        ..*found
    };
    found.conformal = rows.sets(&found, watch)?;
    Ok(Some(found))
}
