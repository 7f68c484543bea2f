//! Tables to matrices: [`Design`] hides dense from sparse, f32 from f64 and memory from disk; [`Recipe`] is what
//! [`fit_recipe`] learned from the training rows and [`Recipe::apply`] repeats on new ones.

mod assemble;
mod basis;
mod columns;
mod constant;
mod csr;
mod dense;
mod domain;
mod encoding;
mod fill;
mod formula;
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
mod row_range;
mod row_space;
mod select;
mod selected;
mod summary;
mod tiny;
mod training;
mod turned;
mod units;

pub use basis::Basis;
pub(crate) use columns::{ColumnRange, ColumnView, RowParts, WithColumns, stored_values};
pub(crate) use constant::constant_sparse_columns;
pub use csr::CsrMatrix;
pub(crate) use csr::column_ranges;
pub use dense::DenseMatrix;
pub use encoding::{Encoding, RecipeColumn};
pub use formula::{Formula, FormulaRecipe, LearnedVariable, OrthogonalPolynomial};
pub(crate) use gather::{gather, leading_columns, weighted_sum};
pub(crate) use pass::Pass;
pub use quantile::{QuantileOutput, Transform};
pub use recipe::{Coding, ColumnOrigin, Missing, Recipe, RecipeOptions, UnknownLevel};
pub(crate) use relations::CodingRelations;
pub(crate) use row_gram::RowGram;
pub(crate) use row_range::RowRange;
pub(crate) use selected::SelectedRows;
pub(crate) use summary::{ColumnSummary, summarise_any, telling_weight};
pub(crate) use tiny::check_small_columns;
pub(crate) use turned::spread;
pub use units::{Standardize, Units};

// For the other stages, the command, the extension and the tests: nothing is promised about these.
#[doc(hidden)]
pub use self::{
    assemble::{Prepared, PreparedDesign},
    columns::{ColumnEntries, Columns, SomeColumns, SparseColumns},
    csr::CsrRows,
    dense::Dense,
    formula::formula_of,
    in_memory::InMemory,
    invert::Cell,
    labelled_rows::LabelledRows,
    learn::fit_recipe,
    pass::Rows,
    quantile::DEFAULT_KNOTS,
    row_space::RowSpace,
    select::select,
    summary::summarise,
    training::{Offsets, Training},
    turned::TurnedRows,
};

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
#[doc(hidden)]
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
    #[doc(hidden)]
    fn block<'a>(&'a self, rows: Range<usize>, tile: &'a mut Tile) -> Result<Block<'a>>;

    /// Whether blocks are lent, so that all rows may be asked for at once without a copy.
    #[doc(hidden)]
    fn lends(&self) -> bool {
        false
    }

    /// The columns one by one, of a design that has them: methods that read few columns, or all again and again, are
    /// faster by these than by rows.
    #[doc(hidden)]
    fn by_columns(&self) -> Option<ColumnView<'_>> {
        None
    }
}

/// Whether the rows of a design are sparse: an empty block tells.
#[doc(hidden)]
pub fn is_sparse(design: &dyn Design) -> bool {
    design.by_columns().is_some() || matches!(design.block(0..0, &mut Tile::default()), Ok(Block::Csr(_)))
}

/// Some consecutive rows of a design.
#[derive(Debug, Clone, Copy)]
#[doc(hidden)]
pub enum Block<'a> {
    /// Dense rows of doubles.
    F64(Dense<'a, f64>),
    /// Dense rows of singles.
    F32(Dense<'a, f32>),
    /// Compressed sparse rows.
    Csr(CsrRows<'a>),
}
