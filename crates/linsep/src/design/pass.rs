//! One pass over the rows: fixed blocks, a fixed tree of merges, the same bits for any number of threads.

use super::{Block, CsrRows, Design, Shape, Tile, Units};
use crate::error::{Error, ErrorKind, Result};
use crate::watch::Watch;
use std::ops::Range;

/// A dense tile holds about this many doubles: a quarter of a megabyte, half of a common second-level cache. Chosen
/// (bench/constants.md); sums depend on it in their last bits, so a change changes models.
const TILE_VALUES: usize = 32 * 1024;
/// Leaves of the merge tree: enough for many threads, few enough that merging a `d × d` partial stays cheap. Chosen
/// (bench/constants.md); sums depend on it in their last bits, so a change changes models.
const LEAVES: usize = 64;
/// Bytes that the partials of all leaves may take together, `d × d` doubles each unless said otherwise: 2 GB.
const PARTIALS: usize = 2 << 30;
/// The fewest and the most rows of a block: with very many columns a product still has some rows, with few a block
/// stays short. Chosen, not measured.
const BLOCK_ROWS: (usize, usize) = (16, 1024);
/// Leaves however large their partials are. Chosen (bench/constants.md).
const FEWEST_LEAVES: usize = 4;

/// The rows of a block as a pass sees them.
#[derive(Debug)]
pub enum Rows<'a> {
    /// Row-major doubles in the pass's units; the pass may overwrite them.
    Dense(&'a mut [f64]),
    /// Sparse rows as stored: the pass folds the units into coefficients and sums.
    Csr(CsrRows<'a>),
}

/// A design seen in given units, block by block.
#[derive(Clone, Copy)]
pub struct Pass<'a> {
    design: &'a dyn Design,
    units: &'a Units,
    rows: usize,
    /// Doubles in the partial of a leaf.
    partial: usize,
}

impl<'a> Pass<'a> {
    /// A pass over all rows of a design.
    pub fn new(design: &'a dyn Design, units: &'a Units) -> Pass<'a> {
        let shape = design.shape();
        Pass { design, units, rows: shape.rows, partial: shape.cols.saturating_mul(shape.cols) }
    }

    /// The same pass with partials of so many doubles: large ones make fewer leaves.
    pub fn partials_of(self, doubles: usize) -> Pass<'a> {
        Pass { partial: doubles, ..self }
    }

    /// Rows and columns of the design.
    pub fn shape(&self) -> Shape {
        self.design.shape()
    }

    /// Rows per block: a function of the shape alone, never of the threads.
    fn block_rows(&self) -> usize {
        (TILE_VALUES / self.shape().cols.max(1)).clamp(BLOCK_ROWS.0, BLOCK_ROWS.1) / 8 * 8
    }

    /// Rows per leaf: whole blocks.
    fn leaf_rows(&self) -> usize {
        let blocks = self.rows.div_ceil(self.block_rows());
        let leaves = (PARTIALS / self.partial.saturating_mul(8).max(1)).clamp(FEWEST_LEAVES, LEAVES);
        blocks.div_ceil(leaves).max(1) * self.block_rows()
    }

    /// The most additions in sequence that a sum over the rows takes: those of a leaf, then the merges.
    pub(crate) fn longest_sum(&self) -> usize {
        self.leaf_rows() + LEAVES
    }

    /// Folds all rows: each leaf of a fixed tree starts from `new`, takes its blocks in order, and siblings are merged
    /// left to right. `out` has `width` values per row and is handed to the blocks in pieces.
    pub fn reduce<A: Send>(
        &self,
        watch: &Watch,
        (width, out): (usize, &mut [f64]),
        new: impl Fn() -> A + Sync,
        block: impl Fn(&mut A, Range<usize>, Rows<'_>, &mut [f64]) -> Result<()> + Sync,
        merge: impl Fn(&mut A, A) + Sync,
    ) -> Result<A> {
        let walk = Walk { pass: self, watch, width, new: &new, block: &block, merge: &merge };
        walk.tree(0..self.rows, out)
    }
}

/// The state of the recursion.
struct Walk<'w, 'a, N, B, M> {
    pass: &'w Pass<'a>,
    watch: &'w Watch,
    width: usize,
    new: &'w N,
    block: &'w B,
    merge: &'w M,
}

impl<A, N, B, M> Walk<'_, '_, N, B, M>
where
    A: Send,
    N: Fn() -> A + Sync,
    B: Fn(&mut A, Range<usize>, Rows<'_>, &mut [f64]) -> Result<()> + Sync,
    M: Fn(&mut A, A) + Sync,
{
    fn tree(&self, rows: Range<usize>, out: &mut [f64]) -> Result<A> {
        let leaf = self.pass.leaf_rows();
        if rows.len() <= leaf {
            return self.leaf(rows, out);
        }
        let leaves = rows.len().div_ceil(leaf);
        let left = leaves.div_ceil(2) * leaf;
        let (out_left, out_right) = out.split_at_mut(left * self.width);
        let middle = rows.start + left;
        let (a, b) = rayon::join(|| self.tree(rows.start..middle, out_left), || self.tree(middle..rows.end, out_right));
        let mut a = a?;
        (self.merge)(&mut a, b?);
        Ok(a)
    }

    fn leaf(&self, rows: Range<usize>, out: &mut [f64]) -> Result<A> {
        let step = self.pass.block_rows();
        let mut sum = (self.new)();
        let (mut tile, mut values) = (Tile::default(), Vec::new());
        let mut start = rows.start;
        while start < rows.end {
            if self.watch.halted().is_some() {
                return Err(Error::new(ErrorKind::Interrupted, "stopped before the pass over the data was complete"));
            }
            let range = start..(start + step).min(rows.end);
            let piece = (range.start - rows.start) * self.width..(range.end - rows.start) * self.width;
            let loaded = match self.pass.design.block(range.clone(), &mut tile)? {
                Block::F64(dense) => {
                    dense.load(self.pass.units, &mut values);
                    Rows::Dense(&mut values)
                }
                Block::F32(dense) => {
                    dense.load(self.pass.units, &mut values);
                    Rows::Dense(&mut values)
                }
                Block::Csr(rows) => Rows::Csr(rows),
            };
            (self.block)(&mut sum, range.clone(), loaded, &mut out[piece])?;
            start = range.end;
        }
        Ok(sum)
    }
}
