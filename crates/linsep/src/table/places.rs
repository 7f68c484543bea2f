//! Where the rows of a chunk stand in their file.

use crate::error::Place;
use std::sync::Arc;

/// Where the rows of a chunk came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The file as the user named it.
    pub file: Arc<str>,
    /// How rows map to places in it.
    pub rows: RowPlaces,
}

/// How the rows of a chunk map to places in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowPlaces {
    /// Row `i` starts on line `first + i`.
    Consecutive {
        /// Line of the chunk's first row.
        first: u64,
    },
    /// Row `i` starts on line `lines[i]` (quoted line breaks, blank lines).
    Lines(Vec<u64>),
    /// The format has no lines: row `i` is data row `first + i` of the file.
    Numbered {
        /// 1-based number of the chunk's first row.
        first: u64,
    },
}

impl Origin {
    /// The place of row `i` of the chunk.
    pub fn place(&self, i: usize) -> Place {
        let file = Place::file(&*self.file);
        match &self.rows {
            RowPlaces::Consecutive { first } => file.line(first + i as u64),
            RowPlaces::Lines(lines) => file.line(lines[i]),
            RowPlaces::Numbered { first } => file.row(first + i as u64),
        }
    }
}
