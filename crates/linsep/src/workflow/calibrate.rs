//! Calibration by cross-fitting: every row is scored by a fit without its fold, and one map is learned from all.

use super::fit::FitOptions;
use super::folds::hold_out;
use super::multiclass::{Approach, Plan};
use super::rows::RowRoles;
use crate::artifact::{CrossFitted, Model};
use crate::decide::{Calibration, CalibrationKind, Coupled, Coupling, HeldOut, TwoSides, probabilities};
use crate::error::{Error, Result};
use crate::model::{ClassWeights, Note, Part, Split, of_part};
use crate::numeric::sum;
use crate::resample::stratified_folds;
use crate::table::{Class, Table};
use crate::watch::{Progress, Watch};

/// Which map, and from how many folds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CalibrationOptions {
    /// The map.
    pub kind: CalibrationKind,
    /// The folds.
    pub folds: usize,
}

impl CalibrationOptions {
    /// Folds where none are asked for.
    pub const FOLDS: usize = 5;

    /// A map from five folds.
    pub fn new(kind: CalibrationKind) -> CalibrationOptions {
        CalibrationOptions { kind, folds: CalibrationOptions::FOLDS }
    }
}

/// A calibration and what it was learned from.
pub(super) struct CrossFit {
    pub(super) calibration: CrossFitted,
    /// Scores of the rows by the fits without them.
    pub(super) scores: Vec<f64>,
    /// The shares of the classes among these rows.
    pub(super) shares: Vec<f64>,
    /// Said where fits without a fold did not reach their tolerance.
    pub(super) note: Option<Note>,
}

/// Learns the map. Weights of rows count, weights of classes do not: the probabilities are to be those of the rows as they
/// are.
pub(super) fn cross_fit(
    table: &Table,
    roles: &RowRoles,
    options: &FitOptions,
    calibration: &CalibrationOptions,
    watch: &Watch,
) -> Result<CrossFit> {
    let n_classes = roles.names.len();
    let plan = Plan::of(options, &roles.names)?;
    let assigned =
        stratified_folds(&roles.classes, &roles.names, calibration.folds, options.seed).map_err(about_calibration)?;
    let (mut scores, mut truth, mut weights) = (Vec::new(), Vec::<Class>::new(), Vec::new());
    let mut unconverged = Vec::new();
    for fold in 0..calibration.folds {
        let held_out = hold_out(table, roles, (options, &plan), &assigned, fold, watch)?;
        if !held_out.converged {
            unconverged.push(fold + 1);
        }
        scores.extend(held_out.scores);
        truth.extend(roles.codes(&held_out.rows));
        weights.extend(roles.weights_of(&held_out.rows).unwrap_or_else(|| vec![1.0; held_out.rows.len()]));
        watch.report(Progress::Fold { done: fold + 1, total: calibration.folds });
    }
    let held_out = HeldOut { scores: &scores, truth: &truth, weights: Some(&weights), n_classes };
    let map = match plan.split {
        Some(split) => fit_parts(calibration.kind, split, &held_out, &roles.names)?,
        None => calibration.kind.fit(&held_out)?,
    };
    let mut shares = vec![0.0; n_classes];
    let total = sum(weights.iter().copied());
    truth.iter().zip(&weights).for_each(|(class, w)| shares[class.index()] += w / total);
    Ok(CrossFit {
        calibration: CrossFitted { map, folds: calibration.folds },
        scores,
        shares,
        note: (!unconverged.is_empty()).then_some(Note::UnconvergedFolds { folds: unconverged }),
    })
}

/// A map for every two-class fit, learned from the held-out rows that it is about: of a pair those of its classes. A
/// temperature of scores against the rest is one for all of them, so that the largest stays the largest.
fn fit_parts(kind: CalibrationKind, split: Split, rows: &HeldOut<'_>, names: &[String]) -> Result<Calibration> {
    if (split, kind) == (Split::Rest, CalibrationKind::Temperature) {
        return kind.fit(rows);
    }
    let parts = split.parts(names.len());
    let fit = |(place, part): (usize, &Part)| {
        let sides = TwoSides::of(rows, (place, parts.len()), part.class, part.against);
        let other = match split {
            Split::Pairs => "leave out --calibrate, or choose --multiclass linear-machine --calibrate temperature",
            Split::Rest => {
                "choose --multiclass one-vs-one, or --calibrate temperature, which has one map for all classes"
            }
        };
        kind.fit(&sides.rows()).map_err(|e| of_part(e, part, names).help(other))
    };
    let maps = parts.iter().enumerate().map(fit).collect::<Result<Vec<Calibration>>>()?;
    let coupling = match split {
        Split::Pairs => Coupling::Pairs,
        Split::Rest => Coupling::Rest,
    };
    Ok(Calibration::Coupled(Coupled { coupling, maps }))
}

/// Folds are made for cross-validation, too; the remedy is another.
fn about_calibration(error: Error) -> Error {
    let renamed = Error::new(error.kind(), format!("calibration: {}", error.message()));
    let help = error.help_text().unwrap_or_default().replace("leave out --cv", "leave out --calibrate");
    renamed.help(help.replace("choose from", "choose --calibrate-folds from"))
}

/// The largest difference between the probabilities that a calibrated model gives to held-out rows and those of a
/// calibration learned anew.
pub(super) fn recalibrated(
    model: &Model,
    stored: &CrossFitted,
    table: &Table,
    roles: &RowRoles,
    watch: &Watch,
) -> Result<f64> {
    let calibration = CalibrationOptions { kind: stored.map.kind(), folds: stored.folds };
    let found = cross_fit(table, roles, &options_of(model, calibration), &calibration, watch)?;
    let p = |map: &Calibration| {
        let mut scores = found.scores.clone();
        map.apply(&mut scores);
        probabilities(&scores, model.classes.len())
    };
    let pairs = p(&stored.map).into_iter().zip(p(&found.calibration.map));
    Ok(pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max))
}

/// The options under which the same table gives this model again.
fn options_of(model: &Model, calibration: CalibrationOptions) -> FitOptions {
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
    options.multiclass.approach = Some(match model.split() {
        None => Approach::Joint,
        Some(Split::Pairs) => Approach::OneVsOne,
        Some(Split::Rest) => Approach::LinearMachine,
    });
    options.calibration = Some(calibration);
    options
}
