//! Calibration by cross-fitting: every row is scored by a fit without its fold, and one map is learned from all.

use super::folds::{Fold, hold_out};
use super::options::{CalibrationOptions, FitOptions};
use super::plan::Plan;
use super::rows::RowRoles;
use crate::artifact::CrossFitted;
use crate::decide::{Calibration, CalibrationKind, Coupled, Coupling, HeldOut, TwoSides, probabilities};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Note, Part, Split, of_part};
use crate::numeric::sum;
use crate::resample::stratified_folds;
use crate::table::{Class, Table};
use crate::watch::{Progress, Watch};
use crate::words::{Setting, words};

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
    let assigned = stratified_folds(&roles.classes, &roles.names, calibration.folds, options.seed)
        .map_err(|e| about_calibration(e, roles))?;
    let (mut scores, mut truth, mut weights) = (Vec::new(), Vec::<Class>::new(), Vec::new());
    let mut unconverged = Vec::new();
    for fold in 0..calibration.folds {
        let held_out = hold_out(table, roles, (options, &plan), &Fold::of(&assigned, fold), watch)?;
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
        let failed = |e: Error| match (of_part(e, part, names).without_help(), split) {
            (error, Split::Pairs) => error.help(words!["leave out ", Setting::Calibrate]).help(words![
                "choose ",
                Setting::Multiclass.is("linear-machine"),
                " ",
                Setting::Calibrate.is("temperature"),
            ]),
            (error, Split::Rest) => error.help(words!["choose ", Setting::Multiclass.is("one-vs-one")]).help(words![
                "choose ",
                Setting::Calibrate.is("temperature"),
                ", which has one map for all classes",
            ]),
        };
        kind.fit(&sides.rows()).map_err(failed)
    };
    let maps = parts.iter().enumerate().map(fit).collect::<Result<Vec<Calibration>>>()?;
    let coupling = match split {
        Split::Pairs => Coupling::Pairs,
        Split::Rest => Coupling::Rest,
    };
    Ok(Calibration::Coupled(Coupled { coupling, maps }))
}

/// Folds are made for cross-validation, too; the remedy is another.
fn about_calibration(error: Error, roles: &RowRoles) -> Error {
    let error = error.in_context("calibration").without_help();
    match error.kind() {
        ErrorKind::Usage => {
            let labelled = roles.classes.iter().flatten().count();
            error.help(words!["choose ", Setting::CalibrateFolds, format!(" from 2 to {labelled}")])
        }
        _ => error.help(words!["leave out ", Setting::Calibrate]).help("give the class more rows"),
    }
}

impl CrossFit {
    /// The largest difference between the probabilities that another map gives to the held-out rows and those of this one.
    pub(super) fn differs_from(&self, other: &Calibration, n_classes: usize) -> f64 {
        let p = |map: &Calibration| {
            let mut scores = self.scores.clone();
            map.apply(&mut scores);
            probabilities(&scores, n_classes)
        };
        let pairs = p(other).into_iter().zip(p(&self.calibration.map));
        pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    }
}
