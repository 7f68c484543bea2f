//! The rows a method learns from, whether they come from a table or from arrays in memory.

use super::places::{Places, with_array_names, with_column_names};
use super::rows::{RowRoles, labels_of};
use crate::design::{
    ColumnOrigin, Design, Prepared, PreparedDesign, Recipe, RecipeOptions, check_small_columns, fit_recipe, gather,
};
use crate::design::{Offsets, Training};
use crate::error::{Error, Result};
use crate::table::{Labels, Table};
use std::borrow::Cow;

/// Features, classes, weights and offsets of the rows in use, and where each of them stands.
pub(super) struct Source<'a> {
    design: Held<'a>,
    pub(super) recipe: Recipe,
    pub(super) labels: Labels,
    /// Frequencies of the rows, without the weights of classes.
    pub(super) weights: Option<Cow<'a, [f64]>>,
    /// Offsets row by row, and their number per row.
    pub(super) offsets: Option<(usize, Vec<f64>)>,
    /// The row of the table or of the arrays that each row in use is.
    pub(super) rows: Vec<usize>,
    pub(super) counts: RowCounts,
    origins: Vec<ColumnOrigin>,
    printed: Vec<f64>,
    places: Places,
}

/// A matrix made from a table, or one that the caller holds.
enum Held<'a> {
    Prepared(PreparedDesign),
    Lent(&'a dyn Design),
}

/// Rows that are there and rows that are not used.
pub(super) struct RowCounts {
    pub(super) rows: usize,
    pub(super) missing_target: usize,
    pub(super) zero_weight: usize,
    pub(super) held_back: usize,
    /// How many rows each column left out.
    pub(super) missing: Vec<(String, usize)>,
    /// How many cells of each column were filled in.
    pub(super) filled: Vec<(String, usize)>,
}

impl RowCounts {
    /// The cells that were filled in, where any was.
    pub(super) fn filled_cells(&self) -> Option<Vec<(String, usize)>> {
        (!self.filled.is_empty()).then(|| self.filled.clone())
    }
}

impl<'a> Source<'a> {
    /// The rows of a table that have a class, a weight and all cells; the table is used up on the way.
    pub(super) fn of_table(table: Table, roles: &RowRoles, options: &RecipeOptions) -> Result<Source<'static>> {
        let frequencies = roles.frequencies(|_| true);
        let recipe = fit_recipe(&table, &frequencies, options)?;
        let counted: Vec<bool> = frequencies.iter().map(|f| *f > 0.0).collect();
        let places = Places::of(&table);
        let prepared = recipe.training().apply_owned(table, &counted)?;
        if recipe.sparse_width > 0 || recipe.formula.is_some() {
            check_small_columns(prepared.design.as_design()).map_err(|e| with_column_names(e, &recipe))?;
        }
        Source::of_prepared(prepared, roles, recipe, places)
    }

    /// The same of some rows of a table, which is kept.
    pub(super) fn of_some_rows(
        table: &Table,
        roles: &RowRoles,
        wanted: impl Fn(usize) -> bool,
        options: &RecipeOptions,
    ) -> Result<Source<'static>> {
        let frequencies = roles.frequencies(wanted);
        let recipe = fit_recipe(table, &frequencies, options)?;
        let counted: Vec<bool> = frequencies.iter().map(|f| *f > 0.0).collect();
        let prepared = recipe.training().apply(table, &counted)?;
        if recipe.sparse_width > 0 || recipe.formula.is_some() {
            check_small_columns(prepared.design.as_design()).map_err(|e| with_column_names(e, &recipe))?;
        }
        Source::of_prepared(prepared, roles, recipe, Places::of(table))
    }

    /// The rows that are not marked, and those that are: copies of both.
    pub(super) fn divided(self, marked: &[bool]) -> Result<(Source<'static>, PreparedDesign)> {
        let (held, kept): (Vec<usize>, Vec<usize>) = (0..self.rows.len()).partition(|i| marked[*i]);
        let apart = gather(self.design(), &held)?;
        let rest = Source {
            design: Held::Prepared(gather(self.design(), &kept)?),
            labels: self.labels.select(&kept),
            weights: self.weights.as_ref().map(|w| kept.iter().map(|i| w[*i]).collect()),
            offsets: None,
            rows: kept.iter().map(|i| self.rows[*i]).collect(),
            counts: RowCounts { held_back: held.len(), ..self.counts },
            recipe: self.recipe,
            origins: self.origins,
            printed: self.printed,
            places: self.places,
        };
        Ok((rest, apart))
    }

    /// The rows of a table that were prepared by a recipe.
    pub(super) fn of_prepared(
        prepared: Prepared,
        roles: &RowRoles,
        recipe: Recipe,
        places: Places,
    ) -> Result<Source<'static>> {
        let Prepared { design, rows, missing, filled } = prepared;
        let labels = labels_of(&rows, roles, &recipe)?;
        let missing_target = roles.classes.iter().filter(|c| c.is_none()).count() - roles.held_back;
        let counted = roles.frequencies(|_| true).iter().filter(|f| **f > 0.0).count();
        Ok(Source {
            design: Held::Prepared(design),
            labels,
            weights: roles.weights_of(&rows).map(Cow::Owned),
            offsets: roles.offsets_of(&rows),
            counts: RowCounts {
                rows: roles.classes.len(),
                missing_target,
                zero_weight: roles.classes.len() - missing_target - roles.held_back - counted,
                held_back: roles.held_back,
                missing,
                filled,
            },
            origins: recipe.origins(),
            printed: recipe.printed_units(),
            recipe,
            rows,
            places,
        })
    }

    /// The rows of a matrix that the caller holds, which is not copied, unless there are rows of weight zero to leave out.
    pub(super) fn of_arrays(
        design: &'a dyn Design,
        recipe: Recipe,
        labels: Labels,
        weights: Option<&'a [f64]>,
    ) -> Result<Source<'a>> {
        // Lengths and weights are checked before anything is read from them.
        Training { weights, ..Training::new(design, &labels) }.check()?;
        check_small_columns(design).map_err(|e| with_array_names(e, &recipe))?;
        let count = design.shape().rows;
        let counts = |zero_weight| RowCounts {
            rows: count,
            missing_target: 0,
            zero_weight,
            held_back: 0,
            missing: Vec::new(),
            filled: Vec::new(),
        };
        let whole = Source {
            design: Held::Lent(design),
            labels,
            weights: weights.map(Cow::Borrowed),
            offsets: None,
            counts: counts(0),
            origins: recipe.origins(),
            // Arrays have no printed digits: they are as fine as their doubles.
            printed: Vec::new(),
            recipe,
            rows: (0..count).collect(),
            places: Places::unknown(),
        };
        let Some(weights) = weights.filter(|w| w.contains(&0.0)) else { return Ok(whole) };
        let rows: Vec<usize> = (0..count).filter(|i| weights[*i] > 0.0).collect();
        Ok(Source {
            design: Held::Prepared(gather(design, &rows)?),
            labels: whole.labels.select(&rows),
            weights: Some(rows.iter().map(|i| weights[*i]).collect()),
            counts: counts(count - rows.len()),
            rows,
            ..whole
        })
    }

    /// The matrix.
    pub(super) fn design(&self) -> &dyn Design {
        match &self.design {
            Held::Prepared(prepared) => prepared.as_design(),
            Held::Lent(design) => *design,
        }
    }

    /// How finely each column was printed, where that is known.
    pub(super) fn printed_units(&self) -> &[f64] {
        &self.printed
    }

    /// What a method sees of the rows, with these weights.
    pub(super) fn training<'s>(&'s self, weights: Option<&'s [f64]>) -> Training<'s> {
        let mut training =
            Training::new(self.design(), &self.labels).with_origins(&self.origins).with_printed_units(&self.printed);
        training.weights = weights;
        training.offsets = self.offsets.as_ref().map(|(columns, values)| Offsets { columns: *columns, values });
        training
    }

    /// What a method sees of other rows of the same columns.
    pub(super) fn training_of<'s>(
        &'s self,
        design: &'s dyn Design,
        labels: &'s Labels,
        weights: Option<&'s [f64]>,
        offsets: Option<&'s (usize, Vec<f64>)>,
    ) -> Training<'s> {
        let mut training = Training::new(design, labels).with_origins(&self.origins).with_printed_units(&self.printed);
        training.weights = weights;
        training.offsets = offsets.map(|(columns, values)| Offsets { columns: *columns, values });
        training
    }

    /// An error of a method about other rows of these columns, which has no place in the table.
    pub(super) fn name_columns(&self, error: Error) -> Error {
        with_column_names(error, &self.recipe)
    }

    /// An error of a method, which speaks of rows and columns by number, in the words of the table.
    pub(super) fn name(&self, error: Error) -> Error {
        self.places.name(error, &self.rows, &self.recipe)
    }

    /// Every column of the table, and whether it holds text; of arrays none.
    pub(super) fn table_columns(&self) -> &[(String, bool)] {
        self.places.columns()
    }

    /// Where a row of the table or of the arrays stands.
    pub(super) fn place(&self, row: usize) -> crate::error::Place {
        self.places.place(row)
    }
}
