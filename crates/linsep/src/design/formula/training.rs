//! A formula meets a table: which columns it uses, and what their training rows teach it.

use super::arithmetic::Arithmetic;
use super::layout::{absent, lay_out, names_in};
use super::parse::wrong;
use super::recipe::FormulaRecipe;
use super::teacher::Teacher;
use super::terms::{TermList, without_dot};
use super::written::Formula;
use crate::design::encoding::RecipeColumn;
use crate::error::{Error, Result};
use crate::table::Table;
use crate::words::{Setting, words};

/// A formula whose columns were found in a table.
#[derive(Debug)]
pub(in crate::design) struct FoundFormula {
    list: TermList,
    text: String,
    /// The table columns that it uses, in the order in which it names them.
    pub(in crate::design) columns: Vec<usize>,
}

impl FoundFormula {
    /// Finds the columns; `excluded` marks those that are no features.
    pub(in crate::design) fn new(formula: &Formula, table: &Table, excluded: &[bool]) -> Result<FoundFormula> {
        if table.sparse_width() > 0 {
            return Err(Error::data("a formula needs named columns, and those of LIBSVM data have none")
                .help(words!["leave ", Setting::Formula, " out"])
                .help("give the table as CSV or Parquet"));
        }
        let names = || table.columns().iter().map(|c| c.name.as_str());
        let others: Vec<String> =
            names().zip(excluded).filter(|(_, excluded)| !**excluded).map(|(name, _)| name.to_owned()).collect();
        let right = without_dot(formula.right(), &others)?;
        let list = TermList::of(&right)?;
        if list.terms.is_empty() {
            return Err(Error::usage("the formula has no term besides the intercept").help("name a column after `~`"));
        }
        let index = table.index();
        let mut columns = Vec::new();
        for (name, at) in names_in(&list) {
            let Some(column) = index.place(&name) else { return Err(absent(&name, at, names())) };
            if excluded[column] {
                return Err(wrong(
                    at,
                    format!("column `{name}` cannot be a feature: it is the target, a weight, an offset or dropped"),
                )
                .help("take it out of the formula"));
            }
            columns.push(column);
        }
        Ok(FoundFormula { list, text: right.to_string(), columns })
    }

    /// Learns from the rows that count. `columns` are what became of [`FoundFormula::columns`].
    pub(in crate::design) fn learn(
        &self,
        columns: &[RecipeColumn],
        table: &Table,
        counted: &[f64],
        most_levels: usize,
    ) -> Result<FormulaRecipe> {
        // The table column of each number of the plain row; those of text are never asked for.
        let places: Vec<usize> = columns
            .iter()
            .zip(&self.columns)
            .flat_map(|(column, place)| std::iter::repeat_n(*place, column.width()))
            .collect();
        let values = |of: &Arithmetic| training_values(of, &places, table, counted);
        let (found, learned) = lay_out(&self.list, columns, Teacher::Rows(&values, most_levels))?;
        Ok(FormulaRecipe::new(self.text.clone(), learned, found))
    }
}

/// The distinct values of some arithmetic in the rows that count and miss none of its cells, ascending, with their weights.
fn training_values(of: &Arithmetic, places: &[usize], table: &Table, counted: &[f64]) -> Result<Vec<(f64, f64)>> {
    let mut used = Vec::new();
    of.columns(&mut used);
    let mut values = Vec::new();
    for (c, chunk) in table.chunks().iter().enumerate() {
        let start = table.chunk_start(c);
        for i in 0..chunk.n_rows {
            let cell = |place: usize| chunk.cells[places[place]].number(i);
            if counted[start + i] <= 0.0 || used.iter().any(|place| cell(*place).is_nan()) {
                continue;
            }
            let value = of.at(&cell);
            if !value.is_finite() {
                let name = used.first().map(|p| table.columns()[places[*p]].name.clone()).unwrap_or_default();
                let cells: Vec<String> = used.iter().map(|p| super::expression::spelled_number(cell(*p))).collect();
                return Err(undefined(&cells).at(chunk.origin.place(i).column(name)));
            }
            // −0 and 0 are one value.
            values.push((value + 0.0, counted[start + i]));
        }
    }
    values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    values.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    Ok(values)
}

/// A function of cells outside its domain.
pub(in crate::design) fn undefined(cells: &[String]) -> Error {
    Error::data(format!("a function of the formula is not defined, or infinite, at {}", cells.join(", ")))
        .help("correct the cell")
        .help("leave the row out")
        .help("shift the column inside the function, for example log1p")
}
