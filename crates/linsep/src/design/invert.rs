//! A row of the matrix as the cells of a table: what a recipe did, undone.

use super::encoding::level_of_indicator;
use super::{Encoding, Recipe};
use crate::error::{Error, Result};

/// A cell of a table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    /// Of a column of numbers.
    Number(f64),
    /// Of a column of text.
    Text(&'a str),
}

impl Recipe {
    /// The cells of a row in the order of [`Recipe::columns`], unnamed columns behind them. Refuses indicators that name
    /// no level, and recipes that do more than code levels ([`Recipe::is_linear`]).
    ///
    /// ```
    /// use linsep::design::{Cell, RecipeOptions, fit_recipe};
    /// use linsep::read::{ReadOptions, read_bytes};
    /// let table = read_bytes(b"x,kind\n1,a\n2,b\n3,a\n", "demo.csv", &ReadOptions::default())?;
    /// let recipe = fit_recipe(&table, &[1.0; 3], &RecipeOptions::default())?;
    /// assert_eq!(recipe.cells(&[7.5, 0.0, 1.0])?, [Cell::Number(7.5), Cell::Text("b")]);
    /// assert!(recipe.cells(&[7.5, 0.2, 0.8]).is_err());
    /// # Ok::<(), linsep::Error>(())
    /// ```
    #[doc(hidden)]
    pub fn cells(&self, row: &[f64]) -> Result<Vec<Cell<'_>>> {
        if row.len() != self.n_features() {
            return Err(Error::data(format!("a row of {} numbers, not {}", row.len(), self.n_features())));
        }
        if !self.is_linear() {
            return Err(Error::data("columns that were transformed or multiplied cannot be turned back"));
        }
        if let Some(indicator) = self.columns.iter().find(|c| c.is_missing_indicator()) {
            return Err(Error::data(format!("`{}` has no cell to be turned back to", indicator.title())));
        }
        let mut cells = Vec::with_capacity(self.columns.len() + self.sparse_width);
        let mut rest = row;
        for column in &self.columns {
            let (own, after) = rest.split_at(column.width());
            rest = after;
            cells.push(match &column.encoding {
                Encoding::Number { .. } | Encoding::Quantile { .. } | Encoding::Missing => Cell::Number(own[0]),
                Encoding::Levels { levels, .. } => {
                    let level = level_of(own, levels, column.reference_place()).ok_or_else(|| {
                        Error::data(format!("the indicators of column `{}` name no level", column.name))
                    })?;
                    Cell::Text(level)
                }
            });
        }
        cells.extend(rest.iter().map(|v| Cell::Number(*v)));
        Ok(cells)
    }

    /// Names of the cells of a row.
    pub fn cell_names(&self) -> Vec<String> {
        let unnamed = (1..=self.sparse_width).map(|j| j.to_string());
        self.table_columns().map(|c| c.name.clone()).chain(unnamed).collect()
    }
}

/// The level whose indicator is one where the others are zero; the reference where all are.
fn level_of<'a>(indicators: &[f64], levels: &'a [String], reference: Option<usize>) -> Option<&'a str> {
    if indicators.iter().any(|v| *v != 0.0 && *v != 1.0) {
        return None;
    }
    let ones: Vec<usize> = (0..indicators.len()).filter(|l| indicators[*l] == 1.0).collect();
    match ones[..] {
        [one] => levels.get(level_of_indicator(one, reference)).map(String::as_str),
        [] => reference.and_then(|r| levels.get(r)).map(String::as_str),
        _ => None,
    }
}
