//! Where the rows of a matrix stand in the files, also after the table has been consumed.

use crate::design::Recipe;
use crate::error::{Error, Place};
use crate::table::{Kind, Origin, Table};

/// The places of all rows of a table.
pub(super) struct Places {
    /// First row of each chunk.
    starts: Vec<usize>,
    origins: Vec<Origin>,
    /// Every column of the table, and whether it holds text.
    columns: Vec<(String, bool)>,
}

impl Places {
    pub(super) fn of(table: &Table) -> Places {
        Places {
            starts: (0..table.chunks().len()).map(|c| table.chunk_start(c)).collect(),
            origins: table.chunks().iter().map(|c| c.origin.clone()).collect(),
            columns: table_columns(table),
        }
    }

    /// Rows that stand in no file: their number is their place.
    pub(super) fn unknown() -> Places {
        Places { starts: Vec::new(), origins: Vec::new(), columns: Vec::new() }
    }

    /// Every column of the table, and whether it holds text.
    pub(super) fn columns(&self) -> &[(String, bool)] {
        &self.columns
    }

    /// An error of a method, which speaks of rows and columns by number, in the words of the table or the arrays.
    pub(super) fn name(&self, error: Error, rows: &[usize], recipe: &Recipe) -> Error {
        match self.origins.is_empty() {
            true => with_array_names(error, recipe),
            false => with_column_names(self.locate(error, rows), recipe),
        }
    }

    /// The place of a row of the table.
    pub(super) fn place(&self, row: usize) -> Place {
        if self.origins.is_empty() {
            return Place::default().row(row as u64 + 1);
        }
        let chunk = self.starts.partition_point(|s| *s <= row).saturating_sub(1);
        self.origins[chunk].place(row - self.starts[chunk])
    }

    /// An error that names a matrix row, at the place of that row; `rows` holds the table row of each matrix row.
    pub(super) fn locate(&self, error: Error, rows: &[usize]) -> Error {
        let place = error.place();
        let row = place.row.and_then(|r| usize::try_from(r).ok()?.checked_sub(1));
        match row.and_then(|r| rows.get(r)) {
            Some(row) if place.file.is_none() && !self.origins.is_empty() => {
                let found = self.place(*row);
                error.at(found)
            }
            _ => error,
        }
    }
}

/// Every column of a table, and whether it holds text.
pub(super) fn table_columns(table: &Table) -> Vec<(String, bool)> {
    table.columns().iter().map(|c| (c.name.clone(), c.kind != Kind::Number)).collect()
}

/// Methods speak of columns by number; the recipe knows their names.
pub(super) fn with_column_names(error: Error, recipe: &Recipe) -> Error {
    error.with_columns(&recipe.namer())
}

/// The same for arrays: where their columns have no names, the voice that says the error counts them.
pub(super) fn with_array_names(error: Error, recipe: &Recipe) -> Error {
    match recipe.columns.is_empty() {
        true => error,
        false => with_column_names(error, recipe),
    }
}
