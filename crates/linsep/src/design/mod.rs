//! Tables to matrices: [`Design`] hides dense from sparse, f32 from f64 and memory from disk; [`Recipe`] is what
//! [`fit_recipe`] learned from the training rows and [`Recipe::apply`] repeats on new ones.

mod assemble;
mod basis;
mod columns;
mod constant;
mod csr;
mod dense;
mod encoding;
mod fill;
mod gather;
mod in_memory;
mod invert;
mod labelled_rows;
mod learn;
mod matching;
mod packed;
mod pass;
mod quantile;
mod recipe;
mod relations;
mod row_gram;
mod row_space;
mod select;
mod selected;
mod summary;
mod tiny;
mod training;
mod turned;
mod units;

pub use assemble::{Prepared, PreparedDesign};
pub use basis::{Basis, MOST_BASIS_FEATURES};
pub use columns::{ColumnEntries, ColumnView, Columns, SomeColumns, SparseColumns, WithColumns, stored_values};
pub(crate) use columns::{ColumnRange, RowParts};
pub use constant::constant_sparse_columns;
pub use csr::{CsrMatrix, CsrRows, column_ranges};
pub use dense::{Dense, DenseMatrix};
pub use encoding::{Encoding, RecipeColumn};
pub use gather::{gather, leading_columns, weighted_sum};
pub use in_memory::InMemory;
pub use invert::Cell;
pub use labelled_rows::LabelledRows;
pub use learn::fit_recipe;
pub use packed::PackedTable;
pub use pass::{Pass, Rows};
pub use quantile::{DEFAULT_KNOTS, QuantileOutput, Transform};
pub use recipe::{Coding, ColumnOrigin, Missing, Recipe, RecipeOptions, UnknownLevel};
pub use relations::CodingRelations;
pub(crate) use row_gram::RowGram;
pub use row_space::RowSpace;
pub use select::select;
pub use selected::SelectedRows;
pub(crate) use summary::telling_weight;
pub use summary::{ColumnSummary, summarise, summarise_any};
pub use tiny::check_small_columns;
pub use training::{Offsets, Training};
pub use turned::TurnedRows;
pub(crate) use turned::spread;
pub use units::{Standardize, Units};

use crate::error::Result;
use std::ops::Range;

/// Rows and columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns, the intercept not among them.
    pub cols: usize,
}

/// Room for a design that has to produce its rows (from disk, or from another layout) instead of lending them.
#[derive(Debug, Default)]
pub struct Tile {
    /// Room for dense rows, or the values of sparse ones.
    pub values: Vec<f64>,
    /// Room for the starts and columns of sparse rows.
    pub starts: Vec<usize>,
    /// See `starts`.
    pub indices: Vec<u32>,
}

/// A matrix asked for once per fixed row block, never per row. The only place that knows dense from sparse, f32 from
/// f64 and memory from disk.
pub trait Design: Sync {
    /// Rows and columns.
    fn shape(&self) -> Shape;

    /// The rows of a range, lent or produced in `tile`.
    fn block<'a>(&'a self, rows: Range<usize>, tile: &'a mut Tile) -> Result<Block<'a>>;

    /// Whether blocks are lent, so that all rows may be asked for at once without a copy.
    fn lends(&self) -> bool {
        false
    }

    /// The columns one by one, of a design that has them: methods that read few columns, or all again and again, are
    /// faster by these than by rows.
    fn by_columns(&self) -> Option<ColumnView<'_>> {
        None
    }
}

/// Whether the rows of a design are sparse: an empty block tells.
pub fn is_sparse(design: &dyn Design) -> bool {
    design.by_columns().is_some() || matches!(design.block(0..0, &mut Tile::default()), Ok(Block::Csr(_)))
}

/// Some consecutive rows of a design.
#[derive(Debug, Clone, Copy)]
pub enum Block<'a> {
    /// Dense rows of doubles.
    F64(Dense<'a, f64>),
    /// Dense rows of singles.
    F32(Dense<'a, f32>),
    /// Compressed sparse rows.
    Csr(CsrRows<'a>),
}
