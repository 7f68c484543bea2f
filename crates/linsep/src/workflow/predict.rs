//! Model and table to predictions, and predictions judged.

use super::places::Places;
use super::rows::{RowRoles, offset_columns};
use crate::artifact::Model;
use crate::decide;
use crate::design::{Prepared, UnknownLevel};
use crate::error::{Error, Result};
use crate::evaluate::{Evaluation, RowsOf, Scored, SetFigures, evaluate, set_figures};
use crate::table::{Class, Table};
use crate::watch::Watch;

/// Predictions for the rows of a table that have all the cells a model needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Predictions {
    /// Rows in the table.
    pub table_rows: usize,
    /// The table row of each prediction.
    pub rows: Vec<usize>,
    /// Scores of the discriminants, row by row.
    pub scores: Vec<f64>,
    /// The scores that decide: after calibration and the true priors of the classes, where the model has any.
    pub deciding: Vec<f64>,
    /// The class of each row by the model's decision, `None` where it rejects the row or cannot determine one.
    pub classes: Vec<Option<Class>>,
    /// Number of classes.
    pub n_classes: usize,
    /// Cells per column that were filled in with training means.
    pub filled: Vec<(String, usize)>,
}

impl Predictions {
    /// Class probabilities, row by row; only of a model that has them ([`Model::has_probabilities`]).
    pub fn probabilities(&self) -> Vec<f64> {
        decide::probabilities(&self.deciding, self.n_classes)
    }
}

/// Predicts every row of a table; columns are matched by name. `unknown` overrides the model's policy for new levels.
pub fn predict_table(
    model: &Model,
    table: &Table,
    unknown: Option<UnknownLevel>,
    watch: &Watch,
) -> Result<Predictions> {
    predict_rows(model, table, &vec![true; table.n_rows()], unknown, watch)
}

fn predict_rows(
    model: &Model,
    table: &Table,
    wanted: &[bool],
    unknown: Option<UnknownLevel>,
    watch: &Watch,
) -> Result<Predictions> {
    let (prepared, scores) = scored_rows(model, table, wanted, unknown, watch)?;
    let n_classes = model.classes.len();
    let deciding = model.deciding_scores(scores.clone());
    let classes = model.decision.classes(&deciding, n_classes)?;
    let Prepared { rows, filled, .. } = prepared;
    Ok(Predictions { table_rows: table.n_rows(), rows, scores, deciding, classes, n_classes, filled })
}

/// The rows of a table as the model sees them, with their scores, offsets included.
pub(super) fn scored_rows(
    model: &Model,
    table: &Table,
    wanted: &[bool],
    unknown: Option<UnknownLevel>,
    watch: &Watch,
) -> Result<(Prepared, Vec<f64>)> {
    let mut recipe = model.recipe.clone();
    recipe.unknown = unknown.unwrap_or(recipe.unknown);
    let prepared = recipe.apply(table, wanted)?;
    let scores = model.discriminant.scores(prepared.design.as_design(), watch);
    let named = |e: Error| Places::of(table).name(e, &prepared.rows, &model.recipe);
    let mut scores = scores.map_err(named)?;
    let needed: Vec<bool> = {
        let mut needed = vec![false; table.n_rows()];
        prepared.rows.iter().for_each(|r| needed[*r] = true);
        needed
    };
    if let Some((width, values)) = offset_columns(table, &model.offsets, |row| needed[row])? {
        let kept = prepared.rows.iter().flat_map(|r| values[r * width..(r + 1) * width].iter().copied()).collect();
        add_offsets(&mut scores, Some(&(width, kept)), model.classes.len());
    }
    Ok((prepared, scores))
}

/// Adds known parts to scores; of two columns for two classes the difference counts.
pub(super) fn add_offsets(scores: &mut [f64], offsets: Option<&(usize, Vec<f64>)>, n_classes: usize) {
    let Some((width, values)) = offsets else { return };
    if n_classes == 2 && *width == 2 {
        scores.iter_mut().zip(values.chunks_exact(2)).for_each(|(z, o)| *z += o[1] - o[0]);
    } else {
        scores.iter_mut().zip(values).for_each(|(z, o)| *z += o);
    }
}

/// An evaluation and the rows it left out.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The metrics.
    pub evaluation: Evaluation,
    /// Rows without a label.
    pub missing_target: usize,
    /// Rows with a label that miss a cell the model needs.
    pub incomplete: usize,
    /// The weight column used, where the table has the model's.
    pub weights: Option<String>,
    /// What the sets of classes come to, of a model that has them; rows count once, whatever their weight.
    pub sets: Option<SetFigures>,
}

/// The labelled rows of a table with what a model makes of them.
pub(super) struct PredictedRows {
    pub(super) predictions: Predictions,
    pub(super) truth: Vec<Class>,
    pub(super) probabilities: Option<Vec<f64>>,
    pub(super) losses: Option<Vec<f64>>,
    pub(super) row_weights: Option<Vec<f64>>,
    /// The weight column used, where the table has the model's.
    pub(super) weights: Option<String>,
    pub(super) labelled: usize,
}

impl PredictedRows {
    /// Predicts the labelled rows.
    pub(super) fn of(
        model: &Model,
        table: &Table,
        unknown: Option<UnknownLevel>,
        watch: &Watch,
    ) -> Result<PredictedRows> {
        let weights = model.weights.clone().filter(|name| table.columns().iter().any(|c| c.name == *name));
        let roles = RowRoles::of(table, &model.target, weights.as_deref(), &model.offsets)?.in_terms_of(
            table,
            &model.target,
            &model.classes,
        )?;
        let wanted = roles.usable();
        let predictions = predict_rows(model, table, &wanted, unknown, watch)?;
        if predictions.rows.is_empty() {
            return Err(Error::data("no row has a label and all the cells the model needs"));
        }
        let truth = roles.codes(&predictions.rows);
        let sure = model.has_probabilities();
        Ok(PredictedRows {
            row_weights: roles.weights_of(&predictions.rows),
            probabilities: sure.then(|| predictions.probabilities()),
            losses: sure.then(|| decide::losses(&predictions.deciding, &truth, predictions.n_classes)),
            labelled: wanted.iter().filter(|w| **w).count(),
            predictions,
            truth,
            weights,
        })
    }

    /// What is judged.
    pub(super) fn scored<'a>(&'a self, model: &'a Model, table: &'a Table) -> Scored<'a> {
        Scored {
            classes: &model.classes,
            truth: &self.truth,
            predicted: &self.predictions.classes,
            decision: Some(&model.decision),
            probabilities: self.probabilities.as_deref(),
            losses: self.losses.as_deref(),
            weights: self.row_weights.as_deref(),
            origin: Some(RowsOf { table, rows: &self.predictions.rows }),
        }
    }

    /// What the sets of classes come to.
    pub(super) fn sets(&self, model: &Model) -> Result<Option<SetFigures>> {
        let Some(conformal) = &model.conformal else { return Ok(None) };
        let sets = model.class_sets(&self.predictions.deciding, None)?;
        let promise = (conformal.options.level, conformal.options.by_class);
        Ok(set_figures(&sets, &self.truth, &model.classes, promise))
    }

    /// Rows with a label that miss a cell the model needs.
    pub(super) fn incomplete(&self) -> usize {
        self.labelled - self.predictions.rows.len()
    }
}

/// Predicts the labelled rows of a table and compares with the labels.
pub fn evaluate_table(model: &Model, table: &Table, unknown: Option<UnknownLevel>, watch: &Watch) -> Result<Judged> {
    let rows = PredictedRows::of(model, table, unknown, watch)?;
    let evaluation = evaluate(&rows.scored(model, table))?;
    Ok(Judged {
        evaluation,
        missing_target: table.n_rows() - rows.labelled,
        incomplete: rows.incomplete(),
        sets: rows.sets(model)?,
        weights: rows.weights,
    })
}
