//! Model and training table to the table of its support vectors.

use super::predict::scored_rows;
use super::rows::RowRoles;
use crate::artifact::{Model, SupportVectors};
use crate::discriminant::Discriminant;
use crate::error::{Error, Result};
use crate::model::{LossChoice, Method, Part};
use crate::table::{Class, Table};
use crate::watch::Watch;
use crate::words::{Setting, words};

/// Multipliers this close to their bound, relatively, are at it, as where the model was made (`model::risk::margin`).
const AT_BOUND: f64 = 1e-12;

/// The support vectors of a machine, or of one of the two-class fits that make it up.
#[derive(Debug, Clone, PartialEq)]
pub struct SupportTable {
    /// Which fit; `None` for a model that is one.
    pub part: Option<Part>,
    /// In the order of the rows.
    pub rows: Vec<SupportRow>,
}

/// A support vector.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SupportRow {
    /// Row of the training table, from 0.
    pub row: usize,
    /// Its class.
    pub class: Class,
    /// For several classes at once: the class whose constraint the multiplier belongs to.
    pub against: Option<Class>,
    /// Its multiplier.
    pub alpha: f64,
    /// Whether α is at its upper bound (for several classes at once: the sum of the multipliers of the row), so that the row
    /// may lie within the margin or beyond the plane; a row with a free multiplier lies on the margin (for a squared hinge,
    /// within it in proportion to α).
    pub bounded: bool,
    /// ξ = max(0, 1 − y z); of several classes at once that of the two classes.
    pub slack: f64,
    /// Signed distance `z/‖w‖` from the plane z = 0, negative on the side of the first class: in the units of the matrix
    /// columns, and of a kernel in the feature space. `None` for a precomputed kernel, where ‖w‖ is not known.
    pub distance: Option<f64>,
}

/// The support vectors of a model with what the rows of its training table say of them: one table, or one for each of its
/// two-class fits.
///
/// # Errors
/// Where the model has none, and where the table is not the one it was fitted on: rows are known by their number only.
pub fn support_tables(model: &Model, table: &Table, watch: &Watch) -> Result<Vec<SupportTable>> {
    let counts = matches!(model.method, Method::KernelPerceptron(_));
    let supports = if counts { Vec::new() } else { supports(model)? };
    let fingerprint = format!("{:016x}", table.fingerprint());
    if !model.provenance.is_of(&fingerprint) {
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
    if counts {
        let weighs = |row: usize| roles.weights.as_ref().is_none_or(|w| w[row] > 0.0);
        let used: Vec<bool> = roles.usable().iter().enumerate().map(|(row, usable)| *usable && weighs(row)).collect();
        let (prepared, scores) = scored_rows(model, table, &used, None, watch)?;
        let mistakes = mistakes(model, &prepared.rows)?;
        return tables_of(model, &[&mistakes], &roles, &prepared.rows, &scores);
    }
    let mut wanted = vec![false; table.n_rows()];
    supports.iter().flat_map(|s| &s.multipliers).for_each(|(row, _)| wanted[row - 1] = true);
    let (prepared, scores) = scored_rows(model, table, &wanted, None, watch)?;
    tables_of(model, &supports, &roles, &prepared.rows, &scores)
}

/// The rows that a kernel perceptron was wrong about, with how often: its α. `rows` are those it was fitted on.
fn mistakes(model: &Model, rows: &[usize]) -> Result<SupportVectors> {
    let kernel = model.discriminant.as_kernel().ok_or_else(|| Error::model("a kernel perceptron has a kernel"))?;
    if rows.len() != model.training.used || kernel.support_rows().iter().any(|row| *row >= rows.len()) {
        return Err(Error::model("the rows of the model are not those of the table"));
    }
    let counts = kernel.support_rows().iter().zip(kernel.coefficients());
    let multipliers: Vec<(usize, f64)> = counts.map(|(row, alpha)| (rows[*row] + 1, alpha.abs())).collect();
    Ok(SupportVectors { free: multipliers.len(), bounded: 0, multipliers, against: Vec::new() })
}

/// The support vectors of a model: of all, or of each of its two-class fits.
pub(super) fn supports(model: &Model) -> Result<Vec<&SupportVectors>> {
    let found = match model.parts.is_empty() {
        true => model.support_vectors.as_ref().map(|s| vec![s]),
        false => model.parts.iter().map(|p| p.support_vectors.as_ref()).collect(),
    };
    found.ok_or_else(|| {
        Error::usage(format!("a {} model has no support vectors", model.method.name()))
            .help(words!["leave the table out; support vectors belong to ", Setting::Model.any(["svm", "hard-margin"])])
    })
}

/// A table for each, from the scores of some rows.
pub(super) fn tables_of(
    model: &Model,
    supports: &[&SupportVectors],
    roles: &RowRoles,
    rows: &[usize],
    scores: &[f64],
) -> Result<Vec<SupportTable>> {
    let parts = model.score_parts();
    let scored = ScoredSupport { model, roles, rows, scores };
    let one = |(score, support): (usize, &&SupportVectors)| match support.against.is_empty() {
        true => scored.one_score(score, parts.get(score).copied(), support),
        false => scored.several(support),
    };
    supports.iter().enumerate().map(one).collect()
}

/// Rows of the training table with their scores.
struct ScoredSupport<'a> {
    model: &'a Model,
    roles: &'a RowRoles,
    rows: &'a [usize],
    scores: &'a [f64],
}

impl ScoredSupport<'_> {
    /// The scores, the class and the weight of a row of the table, which counts from 1.
    fn row(&self, row: usize) -> Result<(&[f64], Class, f64)> {
        let lost = || Error::model(format!("the support vector in row {row} is not a row that was used"));
        let at = self.rows.binary_search(&(row - 1)).map_err(|_| lost())?;
        let class = self.roles.classes[row - 1].ok_or_else(lost)?;
        let k = self.model.discriminant.n_scores();
        let weight = self.roles.weights.as_ref().map_or(1.0, |w| w[row - 1]) * factor(self.model, class);
        Ok((&self.scores[at * k..(at + 1) * k], class, weight))
    }

    /// The machine behind one score.
    fn one_score(&self, score: usize, part: Option<Part>, support: &SupportVectors) -> Result<SupportTable> {
        let model = self.model;
        let norm = match part {
            Some(_) => norm(&model.discriminant.part(score)?)?,
            None => norm(&model.discriminant)?,
        };
        let capacity = capacity(model, score, part.as_ref());
        let positive = part.map_or(Class(1), |p| p.class);
        let one = |(row, alpha): &(usize, f64)| {
            let (scores, class, weight) = self.row(*row)?;
            let z = scores[score];
            let signed = if class == positive { z } else { -z };
            Ok(SupportRow {
                row: row - 1,
                class,
                against: None,
                alpha: *alpha,
                bounded: capacity.is_some_and(|c| *alpha >= c * weight * (1.0 - AT_BOUND)),
                slack: (1.0 - signed).max(0.0),
                distance: norm.map(|norm| z / norm),
            })
        };
        Ok(SupportTable { part, rows: support.multipliers.iter().map(one).collect::<Result<_>>()? })
    }

    /// A machine of several classes at once.
    fn several(&self, support: &SupportVectors) -> Result<SupportTable> {
        let linear = self.model.discriminant.as_linear().ok_or_else(|| Error::model("the machine is not linear"))?;
        let capacity = capacity(self.model, 0, None);
        let pairs: Vec<(&(usize, f64), usize)> =
            support.multipliers.iter().zip(support.against.iter().map(|k| *k as usize)).collect();
        let mut rows = Vec::with_capacity(pairs.len());
        for of_row in pairs.chunk_by(|(a, _), (b, _)| a.0 == b.0) {
            let row = of_row[0].0.0;
            let (z, class, weight) = self.row(row)?;
            let total: f64 = of_row.iter().map(|((_, alpha), _)| alpha).sum();
            for ((_, alpha), other) in of_row {
                let (own, held_off) = (linear.weights_of(class.index()), linear.weights_of(*other));
                let ahead = z[class.index()] - z[*other];
                let norm = crate::numeric::sum(own.iter().zip(held_off).map(|(a, b)| (a - b) * (a - b))).sqrt();
                rows.push(SupportRow {
                    row: row - 1,
                    class,
                    against: Some(Class(*other as u32)),
                    alpha: *alpha,
                    bounded: capacity.is_some_and(|c| total >= c * weight * (1.0 - AT_BOUND)),
                    slack: (1.0 - ahead).max(0.0),
                    distance: Some(ahead / norm),
                });
            }
        }
        Ok(SupportTable { part: None, rows })
    }
}

/// ‖w‖ of a machine of two classes.
fn norm(discriminant: &Discriminant) -> Result<Option<f64>> {
    match discriminant {
        Discriminant::Linear(linear) => {
            Ok(Some(crate::numeric::sum(linear.weights_of(0).iter().map(|w| w * w)).sqrt()))
        }
        Discriminant::Kernel(kernel) => Ok(kernel.squared_length(0).filter(|square| *square > 0.0).map(f64::sqrt)),
        _ => Err(Error::model("a support vector machine is linear or has a kernel")),
    }
}

/// The factor of the weights of a class.
fn factor(model: &Model, class: Class) -> f64 {
    model.class_weights.as_ref().map_or(1.0, |w| w.factors[class.index()])
}

/// The largest multiplier of a row of weight one; `None` where there is no bound.
fn capacity(model: &Model, score: usize, part: Option<&Part>) -> Option<f64> {
    let bounded = match &model.method {
        Method::Risk(m) => m.loss == LossChoice::Hinge,
        Method::KernelSvm(_) => true,
        _ => false,
    };
    let lambda = match part {
        Some(_) => model.parts[score].objective.lambda,
        None => model.objective.lambda,
    };
    let counted = |k: usize| match part {
        Some(Part { against: Some(other), class }) => k == other.index() || k == class.index(),
        _ => true,
    };
    let classes = model.training.class_weights.iter().enumerate().filter(|(k, _)| counted(*k));
    let total: f64 = classes.map(|(k, n)| n * factor(model, Class(k as u32))).sum();
    lambda.filter(|_| bounded).map(|lambda| 1.0 / (lambda * total))
}
