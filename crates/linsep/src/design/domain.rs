//! Rows outside the domain of a formula's functions.

use super::fill::Filler;
use super::formula::{FormulaRoom, RowFault, undefined};
use super::recipe::{Recipe, UnknownLevel};
use super::tiny::LARGEST;
use crate::error::{Error, Result};
use crate::table::Table;
use crate::words::{Setting, words};
use rayon::prelude::*;

/// Leaves out the rows at which a function is not defined, or a number is no level that training has seen, where unknown
/// levels count as missing; otherwise refuses the first of them, naming its place.
pub(super) fn leave_undefined_rows_out(recipe: &Recipe, filler: &mut Filler, table: &Table) -> Result<()> {
    let Some(formula) = filler.formula.clone() else { return Ok(()) };
    let zero = recipe.unknown == UnknownLevel::Zero;
    let width = formula.plain_width();
    let faults_of = |c: usize| {
        let (mut plain, mut out, mut room) = (vec![0.0; width], vec![0.0; formula.width()], FormulaRoom::default());
        let mut found: Vec<(usize, RowFault)> = Vec::new();
        for row in &filler.rows[filler.splits[c]..filler.splits[c + 1]] {
            filler.plain(c, &table.chunks()[c], std::slice::from_ref(row), &mut plain, width);
            found.extend(formula.fault(&plain, zero, &mut room, &mut out).map(|fault| (*row, fault)));
        }
        found
    };
    let faults: Vec<(usize, RowFault)> = (0..table.chunks().len()).into_par_iter().flat_map_iter(faults_of).collect();
    let Some((row, fault)) = faults.first().copied() else { return Ok(()) };
    if recipe.unknown != UnknownLevel::Missing {
        return Err(refusal(recipe, filler, table, (row, fault)));
    }
    let left_out: Vec<usize> = faults.into_iter().map(|(row, _)| row).collect();
    filler.rows.retain(|row| left_out.binary_search(row).is_err());
    filler.splits = filler.starts.iter().map(|s| filler.rows.partition_point(|r| r < s)).collect();
    Ok(())
}

/// What is wrong at the first row, and what to do.
fn refusal(recipe: &Recipe, filler: &Filler, table: &Table, (row, fault): (usize, RowFault)) -> Error {
    let Some(formula) = &filler.formula else { return Error::data("a row cannot be used") };
    let (spelled, columns) = formula.fault_words(fault);
    let cell = |column: &usize| {
        let value = table.number(row, filler.sources[*column].column);
        if value.is_nan() { "a missing cell".to_owned() } else { value.to_string() }
    };
    let cells: Vec<String> = columns.iter().map(cell).collect();
    let error = match fault {
        RowFault::Undefined(_) => undefined(&cells).in_context(format!("`{spelled}`")),
        RowFault::UnknownValue(_) => {
            Error::data(format!("`{}` was not seen when the model was fitted", cells.join(", "))).help("correct it")
        }
        RowFault::TooLarge(_) => {
            let message = format!("the term `{spelled}` is too large: beyond {LARGEST:e} sums of squares overflow");
            Error::data(message).help("rescale the column").help("take the term out of the formula")
        }
    };
    let name = columns.first().map(|c| recipe.columns[*c].name.clone()).unwrap_or_default();
    error.at(table.place(row).column(name)).help(words![
        "for predictions choose ",
        Setting::Unknown.is("missing"),
        ", which leaves such rows out"
    ])
}
