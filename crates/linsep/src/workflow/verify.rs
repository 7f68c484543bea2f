//! Model and data to a verdict: everything the model claims, recomputed.

use super::calibrate::recalibrated;
use super::places::Places;
use super::rows::RowRoles;
use super::source::Source;
use super::verify_parts::verify_parts;
use crate::artifact::{Model, SupportVectors};
use crate::certify::{Certificate, is_local_minimum};
use crate::design::{Transform, Units, fit_recipe};
use crate::error::{Error, Result};
use crate::model::{Method, Outcome, PenaltyChoice, Training};
use crate::table::{NameIndex, Table};
use crate::watch::Watch;

/// One claim of a model, compared with the data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// What the claim is about: `data`, `class weight`, `recipe`, `units`, `objective`, `certificate` or `calibration`.
    pub claim: &'static str,
    /// Whether it holds.
    pub holds: bool,
    /// What was found.
    pub found: String,
}

/// The verdict on a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Verification {
    /// The claims in order.
    pub checks: Vec<Check>,
    /// The certificate recomputed from the data.
    pub certificate: Certificate,
    /// The objective recomputed from the data.
    pub objective: f64,
}

impl Verification {
    /// Whether every claim holds.
    pub fn passed(&self) -> bool {
        self.checks.iter().all(|c| c.holds)
    }
}

/// Relative agreement asked of recomputed numbers: sums over many rows in another order stay far within it.
const AGREEMENT: f64 = 1e-9;
/// Agreement asked of calibrated probabilities: other machines fit the folds to their tolerance, not to the same bits.
const CALIBRATION: f64 = 1e-4;
/// Relative residual allowed to the equations of a closed form.
const RESIDUAL: f64 = 1e-8;

/// Recomputes recipe, units, objective and certificate of a model from the table it was fitted on.
pub fn verify_table(model: &Model, table: &Table, watch: &Watch) -> Result<Verification> {
    let roles = RowRoles::of(table, &model.target, model.weights.as_deref(), &model.offsets)?.in_terms_of(
        table,
        &model.target,
        &model.classes,
    )?;
    let frequencies = roles.frequencies(|_| true);
    let usable: Vec<bool> = frequencies.iter().map(|f| *f > 0.0).collect();
    let same_recipe = recipe_agrees(model, table, &frequencies);
    let prepared = model.recipe.apply(table, &usable)?;
    let source = Source::of_prepared(prepared, &roles, model.recipe.clone(), Places::of(table))?;
    let fingerprint = format!("{:016x}", table.fingerprint());
    let checks = vec![data_check(model, &fingerprint), follows("recipe", recipe_parts(model), same_recipe)];
    let mut found = verify_source(model, &source, checks, watch)?;
    found.checks.extend(calibration_check(model, table, &roles, watch)?);
    Ok(found)
}

/// Recomputes units, objective and certificate from rows, however they came about; `checks` were made before.
pub(super) fn verify_source(
    model: &Model,
    source: &Source<'_>,
    mut checks: Vec<Check>,
    watch: &Watch,
) -> Result<Verification> {
    let (labels, plain) = (&source.labels, source.weights.as_deref());
    let mut factored = None;
    if let Some(stored) = &model.class_weights {
        let found = stored.for_rows(labels, plain)?;
        let close = |(a, b): (&f64, &f64)| (a - b).abs() <= AGREEMENT * b;
        let agree = found.factors.iter().zip(&stored.factors).all(close);
        checks.insert(checks.len().min(1), follows("class weight", "factors of the classes", agree));
        factored = found.weighted(labels, plain);
    }
    let training = source.training(factored.as_deref().or(plain));
    let units = units_agree(&model.method, &model.units, &training, watch)?;
    if !model.parts.is_empty() {
        let parts = verify_parts(model, &training, &source.rows, units, watch)?;
        checks.extend(parts.checks);
        return Ok(Verification { checks, ..parts });
    }
    let (objective, certificate) = match &model.support_vectors {
        Some(support) => {
            let alpha = multipliers(support, &source.rows, model.classes.len())?;
            model.method.certify_multipliers(&training, &model.discriminant, &model.units, &alpha, watch)?
        }
        None => model.method.certify(&training, &model.discriminant, &model.units, watch)?,
    };
    let stated = Stated { method: &model.method, certificate: &model.certificate, outcome: model.outcome };
    let zero = floor(&model.method, &training)?;
    checks.extend([
        follows("units", "means and scales", units),
        objective_check(objective, model.objective.value, zero),
        stated.check(&certificate),
    ]);
    Ok(Verification { checks, certificate, objective })
}

/// The folds are fitted again, where there were any.
fn calibration_check(model: &Model, table: &Table, roles: &RowRoles, watch: &Watch) -> Result<Option<Check>> {
    let Some(stored) = &model.calibration else { return Ok(None) };
    let difference = recalibrated(model, stored, table, roles, watch)?;
    Ok(Some(Check {
        claim: "calibration",
        holds: difference <= CALIBRATION,
        found: format!("cross-fitted again in {} folds: probabilities differ by {difference:.1e}", stored.folds),
    }))
}

/// α of every row used, from the pairs of a model.
pub(super) fn multipliers(support: &SupportVectors, rows: &[usize], n_classes: usize) -> Result<Vec<f64>> {
    let per_row = if n_classes > 2 { n_classes } else { 1 };
    let mut alpha = vec![0.0; rows.len() * per_row];
    let alien = (per_row > 1) == support.against.is_empty() && !support.multipliers.is_empty();
    if alien || support.against.iter().any(|k| *k as usize >= n_classes) {
        return Err(Error::model("the multipliers of the support vectors are not those of the classes"));
    }
    for (i, (row, value)) in support.multipliers.iter().enumerate() {
        match rows.binary_search(&(row - 1)) {
            Ok(at) => alpha[at * per_row + support.against.get(i).map_or(0, |k| *k as usize)] = *value,
            Err(_) => return Err(Error::model(format!("the support vector in row {row} is not a row that was used"))),
        }
    }
    Ok(alpha)
}

/// An exact fit by least squares has an objective that is all rounding; like a gap, it is measured against the objective at
/// zero weights.
pub(super) fn floor(method: &Method, training: &Training<'_>) -> Result<f64> {
    match method {
        Method::LeastSquares(m) => m.objective_at_zero(&training.labels.totals(training.weights)),
        _ => Ok(0.0),
    }
}

pub(super) fn objective_check(found: f64, stated: f64, at_zero: f64) -> Check {
    let difference = (found - stated).abs() / stated.abs().max(at_zero).max(1e-300);
    let holds = difference <= AGREEMENT;
    Check { claim: "objective", holds, found: format!("{found:.12}, stated {stated:.12}") }
}

fn data_check(model: &Model, fingerprint: &str) -> Check {
    let stated = &model.provenance.fingerprint;
    let holds = model.provenance.is_of(fingerprint);
    let found = match holds {
        true if stated.is_empty() => "fitted on arrays in memory, which leave no fingerprint".to_owned(),
        true => format!("the table it was fitted on (fingerprint {fingerprint})"),
        false => format!("not the table it was fitted on (fingerprint {fingerprint}, stated {stated})"),
    };
    Check { claim: "data", holds, found }
}

pub(super) fn follows(claim: &'static str, what: &str, holds: bool) -> Check {
    let verb = if holds { "follow" } else { "do not follow" };
    Check { claim, holds, found: format!("{what} {verb} from the data") }
}

/// What a recipe has learned, in words.
fn recipe_parts(model: &Model) -> &'static str {
    match model.recipe.transform() {
        Transform::None => "columns, levels and fill-in values",
        Transform::Quantile { .. } => "columns, levels, fill-in values and quantiles",
    }
}

fn recipe_agrees(model: &Model, table: &Table, frequencies: &[f64]) -> bool {
    let options = model.recipe.options(model.method.coding());
    match fit_recipe(table, frequencies, &options) {
        Ok(mut learned) => {
            // Features were named, so the order is the table's; the model's may come from a reordered file.
            let order = NameIndex::new(model.recipe.columns.iter().map(|c| c.name.as_str()));
            learned.columns.sort_by_cached_key(|c| order.place(&c.name));
            if model.provenance.fingerprint.is_empty() {
                // Arrays do not tell how finely a column was printed.
                learned.columns.iter_mut().for_each(|c| c.forget_printed());
            }
            learned == model.recipe
        }
        Err(_) => model.recipe.columns.is_empty() && table.sparse_width() == model.recipe.sparse_width,
    }
}

/// Units agree when centre and scale do, relative to the scale.
pub(super) fn units_agree(method: &Method, stored: &Units, training: &Training<'_>, watch: &Watch) -> Result<bool> {
    let summary = match training.columns {
        Some(columns) => columns.clone(),
        None => crate::design::summarise(training.design, training.weights, watch)?,
    };
    let learned: Units = summary.units(method.standardize());
    let close = |a: f64, b: f64, scale: f64| (a - b).abs() <= 1e-6 * scale.abs().max(f64::MIN_POSITIVE);
    let scales = (0..stored.scale().len()).all(|j| close(stored.scale()[j], learned.scale()[j], learned.scale()[j]));
    // A model without intercept may rightly be about the origin.
    let centred = (0..stored.centre().len()).all(|j| {
        let spread = summary.variance[j].sqrt().max(1e-9 * summary.mean[j].abs());
        stored.centre()[j] == 0.0 || close(stored.centre()[j], learned.centre()[j], spread)
    });
    Ok(scales && centred)
}

/// What a model, or a part of it, claims.
pub(super) struct Stated<'a> {
    pub(super) method: &'a Method,
    pub(super) certificate: &'a Certificate,
    pub(super) outcome: Outcome,
}

impl Stated<'_> {
    pub(super) fn check(&self, certificate: &Certificate) -> Check {
        certificate_check(self, certificate)
    }
}

fn certificate_check(model: &Stated<'_>, certificate: &Certificate) -> Check {
    let claim = "certificate";
    match certificate {
        Certificate::ClosedForm { relative_residual, .. } => Check {
            claim,
            holds: *relative_residual <= RESIDUAL,
            found: format!("relative residual {relative_residual:.1e}"),
        },
        Certificate::Local { gradient, smallest_eigenvalue } => local_check(model, *gradient, *smallest_eigenvalue),
        Certificate::Stationary { violation } => stationary_check(model, *violation),
        Certificate::Absent { reason } => Check { claim, holds: false, found: reason.clone() },
        Certificate::Separates { .. } | Certificate::Errors { .. } => plane_check(model, certificate),
        bound => {
            let found = bound.relative_gap().unwrap_or(f64::INFINITY);
            let stated = model.certificate.relative_gap().unwrap_or(0.0);
            let asked = match (model.method, model.outcome) {
                (Method::Risk(m), Outcome::Converged) => m.tolerance,
                (Method::KernelSvm(m), Outcome::Converged) => m.tolerance,
                (Method::LeastSquares(m), Outcome::Converged) => m.tolerance,
                (Method::HardMargin(m), Outcome::Converged) => m.tolerance,
                // Not converged: the model claims no more than the gap it states.
                _ => stated,
            };
            // A recomputed gap differs from the stated one by rounding of the objective.
            let holds = found <= asked + 1e-12;
            Check { claim, holds, found: format!("relative gap {found:.1e}, stated {stated:.1e}") }
        }
    }
}

/// A stationary point is one; where none was reached, the model claims no more than what it states.
fn stationary_check(model: &Stated<'_>, violation: f64) -> Check {
    let stated = match &model.certificate {
        Certificate::Stationary { violation } => *violation,
        _ => 0.0,
    };
    let asked = match (&model.method, model.outcome) {
        (Method::KernelSvm(m), Outcome::Converged) => m.tolerance,
        _ => stated,
    };
    let found = format!("violation {violation:.1e}, stated {stated:.1e}; no gap is claimed");
    Check { claim: "certificate", holds: violation <= asked + 1e-9, found }
}

/// A local minimum is one; where none was reached, the model claims no more than what it states.
fn local_check(model: &Stated<'_>, gradient: f64, smallest: f64) -> Check {
    let (holds, stated) = match (model.method, model.certificate, model.outcome) {
        (Method::Sigmoid(m), Certificate::Local { gradient: g, .. }, Outcome::Converged) => {
            let penalised = m.penalty != PenaltyChoice::None;
            (gradient <= m.tolerance + 1e-12 && is_local_minimum(gradient, smallest, penalised), *g)
        }
        (_, Certificate::Local { gradient: g, smallest_eigenvalue: s }, _) => {
            ((gradient - g).abs() <= 1e-6 * g.abs() + 1e-12 && (smallest - s).abs() <= 1e-6 * s.abs() + 1e-12, *g)
        }
        // Of scores that grow without bound nothing is claimed.
        _ => (gradient.is_finite() && model.outcome != Outcome::Converged, f64::NAN),
    };
    let found = format!("gradient {gradient:.1e}, stated {stated:.1e}; smallest eigenvalue {smallest:.1e}");
    Check { claim: "certificate", holds, found }
}

/// A plane is as good as it says; and of the mistakes, which nobody can count afterwards, there are neither more than the
/// bound nor fewer than it takes to make θ as long as it is.
fn plane_check(model: &Stated<'_>, certificate: &Certificate) -> Check {
    let claim = "certificate";
    let close = |a: &f64, b: &f64| (a - b).abs() <= AGREEMENT * a.abs().max(b.abs());
    match (certificate, model.certificate) {
        (
            Certificate::Separates { margin, norm, radius, bound, .. },
            Certificate::Separates { margin: m, norm: n, radius: r, bound: b, mistakes: Some(mistakes) },
        ) => {
            let step = if let Method::Perceptron(method) = model.method { method.step } else { 1.0 };
            let fewest = (norm / (step * radius)).powi(2) * (1.0 - AGREEMENT);
            let within = (fewest..=*bound).contains(&(*mistakes as f64));
            let same = close(margin, m) && close(norm, n) && close(radius, r) && close(bound, b);
            let found = format!(
                "separates with margin {margin:.6e}, stated {m:.6e}; updates {mistakes}, possible {:.0} to {:.0}",
                fewest.ceil(),
                bound.floor()
            );
            Check { claim, holds: same && within, found }
        }
        (Certificate::Errors { errors, total }, Certificate::Errors { errors: e, total: t }) => Check {
            claim,
            holds: close(errors, e) && close(total, t),
            found: format!("{errors} of {total} on the wrong side, stated {e} of {t}"),
        },
        (Certificate::Separates { .. }, _) => {
            Check { claim, holds: false, found: "the plane separates the rows, which the model does not state".into() }
        }
        _ => Check { claim, holds: false, found: "the plane does not separate the rows, as the model states".into() },
    }
}
