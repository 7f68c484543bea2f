//! Which columns of sparse rows are constant, without a summary of every column.

use super::tiny::LARGEST;
use super::{Block, CsrRows, Design, Tile, summarise};
use crate::error::Result;
use crate::watch::Watch;
use rayon::prelude::*;
use std::ops::Range;

/// Rows read between two polls of the watch: results do not depend on it.
const ROWS: usize = 2048;
/// Tasks at most: each keeps a bit per column. Chosen (bench/constants.md).
const TASKS: usize = 16;

/// The constant columns of a sparse design that lends its rows, rows of weight zero not counted; `None` for other designs.
/// Fails, naming column and row, where a value is not finite or too large to be squared in sums.
///
/// A column is constant if no row has an entry, or if every row has the same: the second kind are those of the first row
/// that survive all others, few at once.
pub fn constant_sparse_columns(
    design: &dyn Design,
    weights: Option<&[f64]>,
    watch: &Watch,
) -> Result<Option<Vec<usize>>> {
    let shape = design.shape();
    let mut tile = Tile::default();
    if !design.lends() {
        return Ok(None);
    }
    let Block::Csr(x) = design.block(0..shape.rows, &mut tile)? else { return Ok(None) };
    let counted = |i: usize| weights.is_none_or(|w| w[i] != 0.0);
    let blocks: Vec<Range<usize>> =
        (0..shape.rows.div_ceil(ROWS)).map(|b| b * ROWS..((b + 1) * ROWS).min(shape.rows)).collect();
    let looked: Vec<SeenValues> = blocks
        .par_chunks(blocks.len().div_ceil(TASKS).max(1))
        .map(|blocks| {
            let mut seen = SeenValues::new(shape.cols);
            for rows in blocks.iter().filter(|_| watch.halted().is_none()) {
                rows.clone().filter(|i| counted(*i)).for_each(|i| seen.look(&x, i));
            }
            seen
        })
        .collect();
    if looked.iter().any(|seen| seen.bad) {
        summarise(design, weights, watch)?;
    }
    let mut total = SeenValues::new(shape.cols);
    looked.into_iter().for_each(|seen| total.merge(seen));
    let full: Vec<usize> = total.always.unwrap_or_default().iter().map(|(j, _)| *j as usize).collect();
    let empty = (0..shape.cols).filter(|j| total.present[j / 64] >> (j % 64) & 1 == 0);
    let mut constant: Vec<usize> = empty.chain(full).collect();
    constant.sort_unstable();
    Ok(Some(constant))
}

/// What some rows showed.
struct SeenValues {
    /// One bit a column: whether it has an entry.
    present: Vec<u64>,
    /// Columns with the same entry in every row so far; `None` before the first.
    always: Option<Vec<(u32, f64)>>,
    bad: bool,
}

impl SeenValues {
    fn new(cols: usize) -> SeenValues {
        SeenValues { present: vec![0; cols.div_ceil(64)], always: None, bad: false }
    }

    fn look(&mut self, x: &CsrRows<'_>, row: usize) {
        let (columns, values) = x.row(row);
        for j in columns {
            self.present[*j as usize / 64] |= 1 << (j % 64);
        }
        // A stored zero is no entry, and NaN fails the comparison.
        self.bad |= !values.iter().fold(true, |good, v| good & (v.abs() <= LARGEST));
        match &mut self.always {
            None => self.always = Some(columns.iter().copied().zip(values.iter().copied()).collect()),
            Some(always) if always.is_empty() => {}
            Some(always) => {
                always.retain(|(j, v)| columns.binary_search(j).is_ok_and(|at| values[at] == *v));
            }
        }
    }

    fn merge(&mut self, other: SeenValues) {
        self.present.iter_mut().zip(other.present).for_each(|(a, b)| *a |= b);
        self.always = match (self.always.take(), other.always) {
            (Some(a), Some(b)) => Some(a.into_iter().filter(|entry| b.contains(entry)).collect()),
            (a, b) => a.or(b),
        };
    }
}
