//! The long columns of sparse rows, blocked by rows for the cache.
//!
//! A column with entries in many rows reads all over a vector with one number per row, which does not fit the first-level
//! cache. A block of it does: first the products of all columns with the vector, then their sum. Rows are counted from the
//! start of their block, in 16 bits. Only for rows whose entries are equal: with values this would be more than one copy of
//! the data.

use crate::design::SparseColumns;
use rayon::prelude::*;

/// Rows in a block: their doubles take half of a first-level cache of 32 KiB. On 20news a product took 11 ms without
/// blocks and takes 5.5 ms with them (bench/README.md).
const BLOCK: usize = 2048;
/// Columns of this many entries in a block, on average, repay the cut into blocks. Chosen (bench/constants.md): part of
/// the measurement of [`BLOCK`], but other values were not recorded.
const LONG: usize = 16;
/// Groups of columns that are multiplied in parallel: fixed, so that sums do not depend on the threads. Chosen
/// (bench/constants.md).
const GROUPS: usize = 8;

/// Columns with this many entries or fewer are not long.
pub(super) fn longest_short(columns: &SparseColumns) -> u32 {
    match columns.shape().rows.div_ceil(BLOCK) {
        _ if columns.row_value().is_none() => u32::MAX,
        0..=2 => u32::MAX,
        blocks => (LONG * blocks) as u32,
    }
}

/// Some columns, block by block.
pub(super) struct LongColumns {
    /// Squared scales.
    factors: Vec<f64>,
    /// Where each column starts in each block, block by block, and the end.
    starts: Vec<u32>,
    rows: Vec<u16>,
}

impl LongColumns {
    /// All long columns, in groups of about as many entries; `scale` is that of a column by its range and place.
    pub(super) fn groups(columns: &SparseColumns, scale: impl Fn(usize, usize) -> f64 + Sync) -> Vec<LongColumns> {
        let least = longest_short(columns);
        let mut long: Vec<(usize, usize)> = Vec::new();
        let mut total = 0;
        for (at, range) in columns.ranges().iter().enumerate() {
            let count = range.first_of(least);
            total += range.entries(0..count).0.len();
            long.extend((0..count).map(|place| (at, place)));
        }
        let length = |(range, place): &(usize, usize)| columns.ranges()[*range].entries(*place..place + 1).0.len();
        let (mut groups, mut start, mut seen) = (Vec::new(), 0, 0);
        for (at, column) in long.iter().enumerate() {
            seen += length(column);
            if seen * GROUPS >= total * (groups.len() + 1) || at + 1 == long.len() {
                groups.push(&long[start..=at]);
                start = at + 1;
            }
        }
        groups.into_par_iter().map(|group| LongColumns::new(columns, group, &scale)).collect()
    }

    fn new(columns: &SparseColumns, group: &[(usize, usize)], scale: &impl Fn(usize, usize) -> f64) -> LongColumns {
        let blocks = columns.shape().rows.div_ceil(BLOCK);
        let of = |(range, place): &(usize, usize)| columns.ranges()[*range].entries(*place..place + 1).0;
        let mut starts = vec![0u32; blocks * group.len() + 1];
        for (j, column) in group.iter().enumerate() {
            of(column).iter().for_each(|row| starts[*row as usize / BLOCK * group.len() + j + 1] += 1);
        }
        (1..starts.len()).for_each(|at| starts[at] += starts[at - 1]);
        let total = starts[starts.len() - 1] as usize;
        let mut rows = vec![0u16; total];
        for (j, column) in group.iter().enumerate() {
            let column_rows = of(column);
            let mut entry = 0;
            while entry < column_rows.len() {
                let block = column_rows[entry] as usize / BLOCK;
                let at = starts[block * group.len() + j] as usize..starts[block * group.len() + j + 1] as usize;
                let here = &column_rows[entry..entry + at.len()];
                let first = (block * BLOCK) as u32;
                entry += at.len();
                rows[at].iter_mut().zip(here).for_each(|(r, row)| *r = (row - first) as u16);
            }
        }
        let factors = group.iter().map(|(range, place)| scale(*range, *place).powi(2)).collect();
        LongColumns { factors, starts, rows }
    }

    /// Adds `Σ_j x_j (x_j·v)` to `out`.
    pub(super) fn add_product(&self, v: &[f64], out: &mut [f64]) {
        let count = self.factors.len();
        let mut products = vec![0.0; count];
        for (starts, v) in self.starts.windows(count + 1).step_by(count).zip(v.chunks(BLOCK)) {
            for (product, ends) in products.iter_mut().zip(starts.windows(2)) {
                *product += self.dot(ends, v);
            }
        }
        products.iter_mut().zip(&self.factors).for_each(|(p, f)| *p *= f);
        for (starts, out) in self.starts.windows(count + 1).step_by(count).zip(out.chunks_mut(BLOCK)) {
            for (product, ends) in products.iter().zip(starts.windows(2)) {
                self.add(ends, *product, out);
            }
        }
    }

    #[inline]
    fn dot(&self, ends: &[u32], v: &[f64]) -> f64 {
        let (fours, rest) = self.rows[ends[0] as usize..ends[1] as usize].as_chunks::<4>();
        let (mut sums, mut tail) = ([0.0; 4], 0.0);
        for rows in fours {
            (0..4).for_each(|k| sums[k] += v[usize::from(rows[k])]);
        }
        rest.iter().for_each(|row| tail += v[usize::from(*row)]);
        (sums[0] + sums[1]) + (sums[2] + sums[3]) + tail
    }

    #[inline]
    fn add(&self, ends: &[u32], product: f64, out: &mut [f64]) {
        self.rows[ends[0] as usize..ends[1] as usize].iter().for_each(|row| out[usize::from(*row)] += product);
    }
}
