//! Consecutive rows of a design as a design of their own.

use super::{Block, Design, Shape, Tile};
use crate::error::Result;
use std::ops::Range;

/// Some consecutive rows. Passes cut them into the blocks that they would have by themselves, so that their sums are those of
/// the same rows in another place, to the last bit.
pub(crate) struct RowRange<'a> {
    design: &'a dyn Design,
    rows: Range<usize>,
}

impl<'a> RowRange<'a> {
    /// The rows must be among those of the design.
    pub(crate) fn new(design: &'a dyn Design, rows: Range<usize>) -> RowRange<'a> {
        RowRange { design, rows }
    }
}

impl Design for RowRange<'_> {
    fn shape(&self) -> Shape {
        Shape { rows: self.rows.len(), cols: self.design.shape().cols }
    }

    fn block<'a>(&'a self, rows: Range<usize>, tile: &'a mut Tile) -> Result<Block<'a>> {
        self.design.block(self.rows.start + rows.start..self.rows.start + rows.end, tile)
    }

    fn lends(&self) -> bool {
        self.design.lends()
    }
}
