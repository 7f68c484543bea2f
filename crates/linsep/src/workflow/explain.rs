//! Model and rows to what each column, or each support row of a kernel, adds to every score.

use super::predict::scored_rows;
use super::rows::offset_columns;
use crate::artifact::Model;
use crate::design::{ColumnOrigin, Design, Encoding, Tile, UnknownLevel, is_sparse};
use crate::discriminant::{Additive, Discriminant, ScoreShare};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Method, column_constants};
use crate::numeric::{has_room, sum};
use crate::options::options;
use crate::table::{Class, Table};
use crate::watch::Watch;
use rayon::prelude::*;

/// Rows explained at a time, in parallel; the result does not depend on it. Chosen: enough for all cores, few enough that
/// every column of every score fits in memory.
const ROWS_AT_ONCE: usize = 256;

/// What the intercept of an explanation is, so that contributions are read rightly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExplanationBase {
    /// The score at the centre of the model: contributions are about it, the means of the training rows as a rule.
    Centre,
    /// The score of a row of zeros: contributions are weights times values.
    Zero,
    /// The log-odds (two classes) or logarithm (more) of the priors: contributions are log-ratios of densities.
    Priors,
    /// The intercept of a kernel expansion: contributions are those of support rows.
    Kernel,
}

/// What a term of an explanation stands for.
#[derive(Debug, Clone, PartialEq)]
pub enum ExplainedBy {
    /// The intercept; see [`ExplanationBase`].
    Intercept,
    /// The offset columns of the row.
    Offset,
    /// What the true priors of the classes change.
    TruePriors,
    /// A column of the table, or a product of columns, with the cell or cells.
    Column {
        /// The column, or the columns of a product (`island*sex`, `age^2`).
        name: String,
        /// The number in the matrix, or the cells where there is text among them.
        value: ExplainedValue,
    },
    /// A support row of a kernel, by its row in the training table from 0, with the value of the kernel.
    SupportRow {
        /// The row.
        row: usize,
        /// `K(x_i, x)`.
        kernel: f64,
    },
    /// All columns or support rows that are not listed, and how many they are.
    Rest(usize),
}

/// What stands in the cells that a contribution comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum ExplainedValue {
    /// A number.
    Number(f64),
    /// A level, or the cells of a product, joined by `*`.
    Text(String),
}

/// One summand of a score.
#[derive(Debug, Clone, PartialEq)]
pub struct ExplainedTerm {
    /// What it stands for.
    pub by: ExplainedBy,
    /// What it adds.
    pub contribution: f64,
}

/// One score of a row as a sum: intercept, offset and priors, then columns by the size of what they add.
#[derive(Debug, Clone, PartialEq)]
pub struct ExplainedScore {
    /// The score, before a calibration.
    pub score: f64,
    /// The summands; their sum is the score up to rounding.
    pub terms: Vec<ExplainedTerm>,
}

/// A row of a table explained.
#[derive(Debug, Clone, PartialEq)]
pub struct ExplainedRow {
    /// Row of the table, from 0.
    pub row: usize,
    /// The class by the model's decision, `None` where it rejects the row or cannot determine one.
    pub class: Option<Class>,
    /// The probability of every class, of a model that has them.
    pub probabilities: Option<Vec<f64>>,
    /// The scores, named by [`Model::score_names`].
    pub scores: Vec<ExplainedScore>,
}

options! {
/// Which rows to explain, and how fully.
#[derive(Debug, Clone, Default)]
pub struct ExplainOptions {
    /// Columns or support rows listed for each score, those that add most; the rest is one term. `None` is all.
    pub most: Option<usize>,
    /// One row of the table, from 0; `None` is all.
    pub row: Option<usize>,
    /// Overrides the model's policy for new levels.
    pub unknown: Option<UnknownLevel>,
}
}

/// What the intercept of explanations of a model means for rows that are sparse or not.
fn base_of(model: &Model, sparse: bool, constants: &[f64]) -> ExplanationBase {
    match &model.discriminant {
        Discriminant::Kernel(_) => ExplanationBase::Kernel,
        Discriminant::Stack(stack) if stack.parts().iter().any(|p| p.as_kernel().is_some()) => ExplanationBase::Kernel,
        _ if sparse => ExplanationBase::Zero,
        _ if !constants.is_empty() => ExplanationBase::Priors,
        Discriminant::Linear(l) if l.centre().iter().all(|c| *c == 0.0) => ExplanationBase::Zero,
        _ => ExplanationBase::Centre,
    }
}

/// A model ready to explain rows.
struct Explainer<'a> {
    additive: Additive<'a>,
    base: ExplanationBase,
    /// The columns of the table and their products, which own ranges of the matrix.
    origins: Vec<ColumnOrigin>,
    /// Whether a text column is among the columns of each.
    has_text: Vec<bool>,
    /// Matrix columns with names; those behind them are numbered from 1.
    named: usize,
    /// Rows of the training table, from 0, by the number that an expansion has for them; empty where they are the same.
    support: Vec<(usize, usize)>,
}

impl<'a> Explainer<'a> {
    fn new(model: &'a Model, sparse: bool) -> Result<Explainer<'a>> {
        let centre = match &model.discriminant {
            Discriminant::Linear(linear) => Some(linear.centre()),
            Discriminant::Generalised(general) => Some(general.centre()),
            _ => None,
        };
        let constants = match (&model.method, &model.density, centre) {
            (Method::NaiveBayes(_), Some(density), Some(centre)) if !sparse => {
                column_constants(density, centre).unwrap_or_default()
            }
            _ => Vec::new(),
        };
        let base = base_of(model, sparse, &constants);
        let origins: Vec<ColumnOrigin> = model.recipe.origins();
        let is_text =
            |(column, _): &(usize, u32)| matches!(model.recipe.columns[*column].encoding, Encoding::Levels { .. });
        let has_text = model.recipe.origin_factors().iter().map(|f| f.iter().any(is_text)).collect();
        let named = origins.iter().map(|o| o.columns.end).max().unwrap_or(0);
        let additive = Additive::new(&model.discriminant, sparse, constants)?;
        Ok(Explainer { additive, base, origins, has_text, named, support: support_numbers(model) })
    }

    /// The group of matrix columns that a share belongs to, or the support row itself.
    fn group(&self, share: &ScoreShare) -> usize {
        match self.base {
            ExplanationBase::Kernel => share.index,
            _ if share.index < self.named => {
                let after = self.origins.partition_point(|o| o.columns.start <= share.index);
                // Text columns of one level have no matrix columns, and share their start with the next.
                (0..after).rev().find(|at| self.origins[*at].columns.contains(&share.index)).unwrap_or(0)
            }
            _ => self.origins.len() + share.index - self.named,
        }
    }

    /// The shares of a score added up by group; the value is that of the last column.
    fn grouped(&self, shares: &[ScoreShare]) -> Vec<(usize, ScoreShare)> {
        let mut groups: Vec<(usize, ScoreShare)> = Vec::new();
        for share in shares {
            let group = self.group(share);
            match groups.last_mut() {
                Some((last, sum)) if *last == group => {
                    sum.contribution += share.contribution;
                    sum.value = share.value;
                }
                _ => groups.push((group, *share)),
            }
        }
        groups
    }

    fn support_row(&self, number: usize) -> usize {
        match self.support.binary_search_by_key(&number, |(number, _)| *number) {
            Ok(at) => self.support[at].1,
            Err(_) => number,
        }
    }

    /// The term of a group, with the cells of a row of a table.
    fn term(&self, group: usize, share: &ScoreShare, cells: &dyn Fn(usize) -> String) -> ExplainedTerm {
        let by = match self.base {
            ExplanationBase::Kernel => {
                ExplainedBy::SupportRow { row: self.support_row(share.index), kernel: share.value }
            }
            _ => match self.origins.get(group) {
                Some(origin) => {
                    let value = match self.has_text[group] {
                        true => ExplainedValue::Text(cells(group)),
                        false => ExplainedValue::Number(share.value),
                    };
                    ExplainedBy::Column { name: origin.name.clone(), value }
                }
                None => ExplainedBy::Column {
                    name: (group - self.origins.len() + 1).to_string(),
                    value: ExplainedValue::Number(share.value),
                },
            },
        };
        ExplainedTerm { by, contribution: share.contribution }
    }

    /// The terms of the columns of one score: the `most` largest, then the rest as one.
    fn terms(&self, shares: &[ScoreShare], most: Option<usize>, cells: &dyn Fn(usize) -> String) -> Vec<ExplainedTerm> {
        let mut groups = self.grouped(shares);
        groups.sort_by(|(_, a), (_, b)| b.contribution.abs().total_cmp(&a.contribution.abs()));
        let shown = match most {
            Some(most) => groups.iter().take(most).take_while(|(_, s)| s.contribution != 0.0).count(),
            None => groups.len(),
        };
        let mut terms: Vec<ExplainedTerm> = groups[..shown].iter().map(|(g, s)| self.term(*g, s, cells)).collect();
        let rest = groups[shown..].iter().filter(|(_, s)| s.contribution != 0.0);
        let count = rest.clone().count();
        if count > 0 {
            let contribution = sum(rest.map(|(_, s)| s.contribution));
            terms.push(ExplainedTerm { by: ExplainedBy::Rest(count), contribution });
        }
        terms
    }
}

/// By number among the training rows, the row of the training table: only support vectors are stored with the latter.
fn support_numbers(model: &Model) -> Vec<(usize, usize)> {
    if model.training.used == model.training.rows {
        return Vec::new();
    }
    let mut numbers: Vec<usize> = match &model.discriminant {
        Discriminant::Kernel(kernel) => kernel.support_rows().to_vec(),
        Discriminant::Stack(stack) => {
            stack.parts().iter().filter_map(Discriminant::as_kernel).flat_map(|k| k.support_rows().to_vec()).collect()
        }
        _ => Vec::new(),
    };
    let parts = model.parts.iter().filter_map(|p| p.support_vectors.as_ref());
    let vectors = model.support_vectors.iter().chain(parts);
    let mut rows: Vec<usize> = vectors.flat_map(|s| s.multipliers.iter().map(|(row, _)| row - 1)).collect();
    for list in [&mut numbers, &mut rows] {
        list.sort_unstable();
        list.dedup();
    }
    // Both rise and name the same rows.
    if numbers.len() == rows.len() { numbers.into_iter().zip(rows).collect() } else { Vec::new() }
}

/// Explains rows of a table, in their order, each handed to `each` as it is ready; rows that miss a needed cell are left
/// out. The sum of the terms of a score is the score up to rounding, whatever is listed.
///
/// # Errors
/// As for predictions, where the one row that is asked for is not there or misses a cell, and what `each` refuses.
pub fn explain_table(
    model: &Model,
    table: &Table,
    options: &ExplainOptions,
    watch: &Watch,
    mut each: impl FnMut(&ExplainedRow) -> Result<()>,
) -> Result<ExplanationBase> {
    let wanted: Vec<bool> = match options.row {
        Some(row) if row >= table.n_rows() => {
            return Err(Error::usage(format!("there is no row {}: the table has {}", row + 1, table.n_rows())));
        }
        Some(row) => (0..table.n_rows()).map(|r| r == row).collect(),
        None => vec![true; table.n_rows()],
    };
    let (prepared, scores) = scored_rows(model, table, &wanted, options.unknown, watch)?;
    if let (Some(row), true) = (options.row, prepared.rows.is_empty()) {
        return Err(Error::data("the row misses a cell that the model needs, so there is nothing to explain")
            .at(table.place(row)));
    }
    let design = prepared.design.as_design();
    let explainer = Explainer::new(model, is_sparse(design))?;
    let kept: Vec<bool> = {
        let mut kept = vec![false; table.n_rows()];
        prepared.rows.iter().for_each(|r| kept[*r] = true);
        kept
    };
    let offsets = offset_columns(table, &model.offsets, |row| kept[row])?;
    let deciding = model.deciding_scores(scores.clone());
    let classes = model.decision.classes(&deciding, model.classes.len())?;
    let probabilities = model.has_probabilities().then(|| crate::decide::probabilities(&deciding, model.classes.len()));
    let columns: Vec<Option<usize>> =
        model.recipe.columns.iter().map(|c| table.columns().iter().position(|t| t.name == c.name)).collect();
    let factors = model.recipe.origin_factors();
    let shifts = model.prior_shifts();
    let (k, n_classes) = (model.discriminant.n_scores(), model.classes.len());
    let explain = |at: usize| -> Result<ExplainedRow> {
        let row = prepared.rows[at];
        let cells = |group: usize| {
            let cell = |(column, _): &(usize, u32)| columns[*column].map_or(String::new(), |c| table.text(row, c));
            factors[group].iter().map(cell).collect::<Vec<String>>().join("*")
        };
        let mut tile = Tile::default();
        let shares = explainer.additive.shares(design.block(at..at + 1, &mut tile)?);
        let score = |p: usize| {
            let offset = offsets.as_ref().map(|(width, values)| offset_of(values, *width, row, p, n_classes));
            let mut terms =
                vec![ExplainedTerm { by: ExplainedBy::Intercept, contribution: explainer.additive.intercept()[p] }];
            terms.extend(offset.map(|contribution| ExplainedTerm { by: ExplainedBy::Offset, contribution }));
            if model.true_priors.is_some() && model.calibration.is_none() {
                terms.push(ExplainedTerm { by: ExplainedBy::TruePriors, contribution: shifts[p] });
            }
            terms.extend(explainer.terms(&shares[p], options.most, &cells));
            ExplainedScore { score: scores[at * k + p] + shifts[p], terms }
        };
        Ok(ExplainedRow {
            row,
            class: classes[at],
            probabilities: probabilities.as_ref().map(|p| p[at * n_classes..(at + 1) * n_classes].to_vec()),
            scores: (0..k).map(score).collect(),
        })
    };
    for start in (0..prepared.rows.len()).step_by(ROWS_AT_ONCE) {
        if watch.halted().is_some() {
            return Err(Error::new(ErrorKind::Interrupted, "stopped before all rows were explained"));
        }
        let end = (start + ROWS_AT_ONCE).min(prepared.rows.len());
        let block: Vec<Result<ExplainedRow>> = (start..end).into_par_iter().map(explain).collect();
        for row in block {
            each(&row?)?;
        }
    }
    Ok(explainer.base)
}

/// What the offset columns add to a score; of two columns for two classes the difference counts.
fn offset_of(values: &[f64], width: usize, row: usize, score: usize, n_classes: usize) -> f64 {
    let own = &values[row * width..(row + 1) * width];
    match own {
        [first, second] if n_classes == 2 => second - first,
        _ => own.get(score).copied().unwrap_or(0.0),
    }
}

/// What every column adds to every score of the rows of a matrix.
#[derive(Debug, Clone, PartialEq)]
pub struct ContributionMatrix {
    /// The columns: those of the table and their products, numbers from 1 of unnamed ones, or the numbers from 0 of support
    /// rows.
    pub names: Vec<String>,
    /// The part of each score that no column adds, true priors included.
    pub intercept: Vec<f64>,
    /// Row by row, score by score, column by column.
    pub values: Vec<f64>,
    /// What the intercept is.
    pub base: ExplanationBase,
}

/// Explains every row of a matrix whose columns are those of the model.
///
/// # Errors
/// Where the matrix does not fit the model or the result does not fit in memory.
pub fn explain_design(model: &Model, design: &dyn Design, watch: &Watch) -> Result<ContributionMatrix> {
    let shape = design.shape();
    if shape.cols != model.discriminant.n_cols() {
        return Err(Error::model(format!(
            "the model has {} columns, the data {}",
            model.discriminant.n_cols(),
            shape.cols
        )));
    }
    // Rows without a logarithm are refused with their place.
    model.discriminant.scores(design, watch).map_err(|e| super::places::with_array_names(e, &model.recipe))?;
    let explainer = Explainer::new(model, is_sparse(design))?;
    let support: Vec<usize> = match &model.discriminant {
        Discriminant::Kernel(kernel) => kernel.support_rows().to_vec(),
        Discriminant::Stack(stack) => {
            let mut rows: Vec<usize> = stack
                .parts()
                .iter()
                .filter_map(Discriminant::as_kernel)
                .flat_map(|k| k.support_rows().to_vec())
                .collect();
            rows.sort_unstable();
            rows.dedup();
            rows
        }
        _ => Vec::new(),
    };
    let is_kernel = explainer.base == ExplanationBase::Kernel;
    let names: Vec<String> = match is_kernel {
        true => support.iter().map(|row| explainer.support_row(*row).to_string()).collect(),
        false => {
            let unnamed = shape.cols - explainer.named;
            explainer.origins.iter().map(|o| o.name.clone()).chain((1..=unnamed).map(|i| i.to_string())).collect()
        }
    };
    let (k, width) = (model.discriminant.n_scores(), names.len());
    let size = shape.rows.checked_mul(k).and_then(|n| n.checked_mul(width)).unwrap_or(usize::MAX);
    if !has_room(size.saturating_mul(size_of::<f64>())) {
        return Err(
            Error::data(format!("{size} contributions do not fit in memory")).help("explain fewer rows at a time")
        );
    }
    let mut values = vec![0.0; size];
    let per_row = (k * width).max(1);
    values.par_chunks_mut(per_row).enumerate().try_for_each(|(at, out)| -> Result<()> {
        if watch.halted().is_some() {
            return Err(Error::new(ErrorKind::Interrupted, "stopped before all rows were explained"));
        }
        let mut tile = Tile::default();
        let shares = explainer.additive.shares(design.block(at..at + 1, &mut tile)?);
        for (score, shares) in shares.iter().enumerate() {
            for (group, share) in explainer.grouped(shares) {
                let at = if is_kernel { support.binary_search(&group).unwrap_or(0) } else { group };
                out[score * width + at] = share.contribution;
            }
        }
        Ok(())
    })?;
    let intercept = explainer.additive.intercept().iter().zip(model.prior_shifts()).map(|(b, s)| b + s).collect();
    Ok(ContributionMatrix { names, intercept, values, base: explainer.base })
}
