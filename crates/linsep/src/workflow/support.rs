//! Model and training table to the table of its support vectors.

use super::predict::scored_rows;
use super::rows::RowRoles;
use crate::artifact::Model;
use crate::error::{Error, Result};
use crate::model::{LossChoice, Method};
use crate::table::{Class, Table};
use crate::watch::Watch;

/// Multipliers this close to their bound, relatively, are at it.
const AT_BOUND: f64 = 1e-12;

/// A row that holds up a support vector machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SupportRow {
    /// Row of the training table, from 0.
    pub row: usize,
    /// Its class.
    pub class: Class,
    /// Its multiplier.
    pub alpha: f64,
    /// Whether α is at its upper bound, so that the row may lie within the margin or beyond the plane; a free one lies on
    /// the margin (of a squared hinge, by as much within it as α says).
    pub bounded: bool,
    /// ξ = max(0, 1 − y z).
    pub slack: f64,
    /// Signed distance `z/‖w‖` from the plane z = 0 in the units of the matrix columns, negative on the side of the first
    /// class.
    pub distance: f64,
}

/// The support vectors of a model with what the rows of its training table say of them, in the order of the rows.
///
/// # Errors
/// Where the model has none, and where the table is not the one it was fitted on: rows are known by their number only.
pub fn support_table(model: &Model, table: &Table, watch: &Watch) -> Result<Vec<SupportRow>> {
    let Some(support) = &model.support_vectors else {
        return Err(Error::usage(format!("a {} model has no support vectors", model.method.name()))
            .help("leave the table out; support vectors belong to --model svm and hard-margin"));
    };
    let fingerprint = format!("{:016x}", table.fingerprint());
    if fingerprint != model.provenance.fingerprint {
        return Err(Error::data(format!(
            "this is not the table that the model was fitted on (fingerprint {fingerprint}, stated {})",
            model.provenance.fingerprint
        ))
        .help("support vectors are known by their row: give the training table"));
    }
    let roles = RowRoles::of(table, &model.target, model.weights.as_deref(), &model.offsets)?.in_terms_of(
        table,
        &model.target,
        &model.classes,
    )?;
    let mut wanted = vec![false; table.n_rows()];
    support.multipliers.iter().for_each(|(row, _)| wanted[row - 1] = true);
    let (prepared, scores) = scored_rows(model, table, &wanted, None, watch)?;
    let linear = model.discriminant.as_linear().ok_or_else(|| Error::model("a support vector machine is linear"))?;
    let norm = crate::numeric::sum(linear.weights_of(0).iter().map(|w| w * w)).sqrt();
    let capacity = capacity(model);
    let one = |(row, alpha): &(usize, f64)| {
        let lost = || Error::model(format!("the support vector in row {row} is not a row that was used"));
        let at = prepared.rows.binary_search(&(row - 1)).map_err(|_| lost())?;
        let class = roles.classes[row - 1].ok_or_else(lost)?;
        let score = scores[at];
        let signed = if class.index() == 1 { score } else { -score };
        let weight = roles.weights.as_ref().map_or(1.0, |w| w[row - 1])
            * model.class_weights.as_ref().map_or(1.0, |w| w.factors[class.index()]);
        Ok(SupportRow {
            row: row - 1,
            class,
            alpha: *alpha,
            bounded: capacity.is_some_and(|c| *alpha >= c * weight * (1.0 - AT_BOUND)),
            slack: (1.0 - signed).max(0.0),
            distance: score / norm,
        })
    };
    support.multipliers.iter().map(one).collect()
}

/// The largest multiplier of a row of weight one; `None` where there is no bound.
fn capacity(model: &Model) -> Option<f64> {
    match &model.method {
        Method::Risk(m) if m.loss == LossChoice::Hinge => {
            model.objective.lambda.map(|lambda| 1.0 / (lambda * model.training.total_weight))
        }
        _ => None,
    }
}
