//! Where the rows of a matrix stand in the files, also after the table has been used up.

use crate::error::{Error, Place};
use crate::table::{Origin, Table};

/// The places of all rows of a table.
pub(super) struct Places {
    /// First row of each chunk.
    starts: Vec<usize>,
    origins: Vec<Origin>,
}

impl Places {
    pub(super) fn of(table: &Table) -> Places {
        Places {
            starts: (0..table.chunks().len()).map(|c| table.chunk_start(c)).collect(),
            origins: table.chunks().iter().map(|c| c.origin.clone()).collect(),
        }
    }

    /// Rows that stand in no file: their number is their place.
    pub(super) fn unknown() -> Places {
        Places { starts: Vec::new(), origins: Vec::new() }
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
