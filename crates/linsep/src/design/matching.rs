//! A recipe matched with a table: which column is which, which rows can be used.

use super::encoding::{Encoding, indicator_of_level};
use super::recipe::{Recipe, UnknownLevel};
use super::tiny::LARGEST;
use crate::error::{Error, Place, Result};
use crate::table::{Cells, Kind, Table};
use crate::words::{Setting, words};

/// A recipe column found in a table: where, and how its codes translate.
#[derive(Debug)]
pub(super) struct CellSource {
    /// Column of the table.
    pub(super) column: usize,
    pub(super) encoding: Encoding,
    /// For text: what each level of the table means; `None` where training has not seen it.
    pub(super) levels: Vec<Option<Indicator>>,
    /// First matrix column, and how many.
    pub(super) first: usize,
    pub(super) width: usize,
}

/// What a level sets to one.
#[derive(Debug, Clone, Copy)]
pub(super) enum Indicator {
    /// This of the column's matrix columns.
    At(usize),
    /// None: it is the reference.
    Reference,
    /// What a missing cell sets: training has not seen the level, and missing cells are filled in.
    FillIn,
}

/// Finds every recipe column by name; all that are absent are named at once.
pub(super) fn find_sources(recipe: &Recipe, table: &Table) -> Result<Vec<CellSource>> {
    let index = table.index();
    let absent: Vec<&str> =
        recipe.table_columns().map(|c| c.name.as_str()).filter(|name| !index.contains(name)).collect();
    if !absent.is_empty() {
        let file = table.chunks().first().map(|c| Place::file(&*c.origin.file)).unwrap_or_default();
        let names: Vec<&str> = table.columns().iter().map(|c| c.name.as_str()).take(12).collect();
        return Err(Error::data(format!("the model needs columns that are absent: `{}`", absent.join("`, `")))
            .at(file)
            .help(format!("the columns are: {}; they are matched by name, in any order", names.join(", "))));
    }
    let filled = recipe.unknown == UnknownLevel::Missing && recipe.missing.fills_in();
    let unseen = filled.then_some(Indicator::FillIn);
    let mut sources = Vec::with_capacity(recipe.columns.len());
    let mut first = 0;
    for recipe_column in &recipe.columns {
        let column = index.place(&recipe_column.name).unwrap_or(0);
        let levels = match (&recipe_column.encoding, &table.columns()[column].kind) {
            (Encoding::Number { .. } | Encoding::Quantile { .. } | Encoding::Missing, Kind::Number) => Vec::new(),
            (Encoding::Missing, Kind::Text { levels: present }) => {
                let own = recipe.table_columns().find(|c| c.name == recipe_column.name).map(|c| &c.encoding);
                let Some(Encoding::Levels { levels, .. }) = own else { return Err(kind_error(table, column, None)) };
                present
                    .iter()
                    .map(|p| Some(translate(p, levels, None).or(unseen).unwrap_or(Indicator::Reference)))
                    .collect()
            }
            (Encoding::Levels { levels, .. }, Kind::Text { levels: present }) => {
                let reference = recipe_column.reference_place();
                present.iter().map(|p| translate(p, levels, reference).or(unseen)).collect()
            }
            (Encoding::Number { .. } | Encoding::Quantile { .. }, Kind::Text { levels }) => {
                return Err(kind_error(table, column, levels.first()));
            }
            (Encoding::Levels { .. }, Kind::Number) => {
                return Err(Error::data(format!("column `{}` was text when the model was fitted", recipe_column.name))
                    .help(words!["read it as text: ", Setting::TextColumns.is(&recipe_column.name)]));
            }
        };
        let width = recipe_column.width();
        sources.push(CellSource { column, encoding: recipe_column.encoding.clone(), levels, first, width });
        first += width;
    }
    Ok(sources)
}

fn translate(level: &str, known: &[String], reference: Option<usize>) -> Option<Indicator> {
    let at = known.binary_search_by(|k| k.as_str().cmp(level)).ok()?;
    Some(indicator_of_level(at, reference).map_or(Indicator::Reference, Indicator::At))
}

fn kind_error(table: &Table, column: usize, example: Option<&String>) -> Error {
    let name = &table.columns()[column].name;
    let row = (0..table.n_rows()).find(|r| !table.number(*r, column).is_nan()).unwrap_or(0);
    let example = example.map(|e| format!(" (for example `{e}`)")).unwrap_or_default();
    Error::data(format!("the model needs numbers in column `{name}`, but it holds text{example}"))
        .at(table.place(row).column(name.clone()))
        .help("correct the column; the first row with text is named above")
}

pub(super) fn check_sparse(recipe: &Recipe, table: &Table) -> Result<()> {
    if recipe.sparse_width > 0 && table.sparse_width() == 0 && recipe.columns.is_empty() {
        return Err(Error::data("the model was fitted on LIBSVM data, but this table has no such columns")
            .help("give it a file in the LIBSVM format"));
    }
    Ok(())
}

/// Refuses infinite values and values too large to be squared in sums, with their place.
pub(super) fn check_values(table: &Table, columns: &[usize], wanted: &[bool]) -> Result<()> {
    for (c, chunk) in table.chunks().iter().enumerate() {
        let start = table.chunk_start(c);
        for column in columns {
            let Cells::F64(values) = &chunk.cells[*column] else { continue };
            // NaN is a missing cell and compares false.
            if !values.iter().any(|v| v.abs() > LARGEST) {
                continue;
            }
            let Some(i) = (0..values.len()).find(|i| values[*i].abs() > LARGEST && wanted[start + i]) else { continue };
            let place = chunk.origin.place(i).column(&table.columns()[*column].name);
            let error = if values[i].is_infinite() {
                Error::data("the value is infinite")
                    .help("correct it")
                    .help("leave the row out")
                    .help("mark it as missing")
            } else {
                Error::data(format!("{:e} is too large: beyond {LARGEST:e} sums of squares overflow", values[i]))
                    .help("rescale the column")
                    .help(words!["leave it out with ", Setting::Drop])
            };
            return Err(error.at(place));
        }
        if let Some(sparse) = &chunk.sparse
            && let Some(e) = sparse.values.iter().position(|v| !v.is_finite() || v.abs() > LARGEST)
        {
            let i = sparse.starts.partition_point(|s| *s <= e) - 1;
            let place = chunk.origin.place(i).column((sparse.indices[e] + 1).to_string());
            return Err(Error::data(format!(
                "{:e} is not usable: it is not finite, or beyond {LARGEST:e}, where sums of squares overflow",
                sparse.values[e]
            ))
            .at(place)
            .help("correct or rescale it"));
        }
    }
    Ok(())
}

/// Rows with a level that training has not seen, treated as the recipe says.
pub(super) fn unknown_rows(
    recipe: &Recipe,
    sources: &[CellSource],
    table: &Table,
    wanted: &[bool],
) -> Result<Vec<bool>> {
    let mut unknown = vec![false; table.n_rows()];
    if recipe.unknown == UnknownLevel::Zero {
        return Ok(unknown);
    }
    unknown_indices(recipe, table, wanted, &mut unknown)?;
    for source in sources.iter().filter(|s| s.levels.iter().any(Option::is_none)) {
        for row in 0..table.n_rows() {
            let code = table.number(row, source.column);
            if !wanted[row] || code.is_nan() || source.levels[code as usize].is_some() {
                continue;
            }
            if recipe.unknown == UnknownLevel::Error {
                let name = &table.columns()[source.column].name;
                let Encoding::Levels { levels, .. } = &source.encoding else { continue };
                let level = table.text(row, source.column);
                return Err(Error::data(format!("`{level}` was not seen when the model was fitted"))
                    .at(table.place(row).column(name.clone()))
                    .help(format!("correct it (known levels: {})", levels.join(", ")))
                    .help(words!["choose ", Setting::Unknown.is("missing"), ", which treats the cell as missing"])
                    .help(words!["choose ", Setting::Unknown.is("zero"), ", which ignores it"]));
            }
            unknown[row] = true;
        }
    }
    Ok(unknown)
}

/// Marks rows with an index of a sparse column that training has not seen.
fn unknown_indices(recipe: &Recipe, table: &Table, wanted: &[bool], unknown: &mut [bool]) -> Result<()> {
    if recipe.sparse_width == 0 || table.sparse_width() <= recipe.sparse_width {
        return Ok(());
    }
    let from = table.reading().index_from.unwrap_or(1) as usize;
    for (c, chunk) in table.chunks().iter().enumerate() {
        let Some(sparse) = &chunk.sparse else { continue };
        for i in (0..chunk.n_rows).filter(|i| wanted[table.chunk_start(c) + i]) {
            // Indices rise within a row.
            let last = sparse.indices[sparse.starts[i]..sparse.starts[i + 1]].last().map_or(0, |index| *index as usize);
            if last < recipe.sparse_width {
                continue;
            }
            if recipe.unknown == UnknownLevel::Error {
                let largest = recipe.sparse_width - 1 + from;
                let message = format!("index {} was not seen when the model was fitted", last + from);
                return Err(Error::data(format!("{message}: the largest was {largest}"))
                    .at(chunk.origin.place(i))
                    .help(words!["choose ", Setting::Unknown.is("zero"), ", which ignores it"])
                    .help(words!["choose ", Setting::Unknown.is("missing"), ", which leaves the row out"]));
            }
            unknown[table.chunk_start(c) + i] = true;
        }
    }
    Ok(())
}

/// The wanted rows that have all these cells.
pub(super) fn rows_without_missing(table: &Table, columns: &[usize], wanted: &[bool]) -> Vec<bool> {
    let mut keep = wanted.to_vec();
    for (c, chunk) in table.chunks().iter().enumerate() {
        let start = table.chunk_start(c);
        for column in columns {
            let cells = &chunk.cells[*column];
            if cells.any_missing() {
                cells.for_each(|i, v| keep[start + i] &= !v.is_nan());
            }
        }
    }
    keep
}

pub(super) fn count_missing(table: &Table, columns: &[usize], wanted: &[bool]) -> Vec<(String, usize)> {
    let mut counts = vec![0usize; columns.len()];
    for (c, chunk) in table.chunks().iter().enumerate() {
        let start = table.chunk_start(c);
        for (count, column) in counts.iter_mut().zip(columns) {
            let cells = &chunk.cells[*column];
            if cells.any_missing() {
                cells.for_each(|i, v| *count += usize::from(v.is_nan() && wanted[start + i]));
            }
        }
    }
    let named = columns.iter().zip(counts).filter(|(_, n)| *n > 0);
    named.map(|(c, n)| (table.columns()[*c].name.clone(), n)).collect()
}
