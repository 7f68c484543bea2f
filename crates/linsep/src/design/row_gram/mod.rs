//! `v ↦ K v` for the Gram matrix `K = X̂X̂ᵀ` of sparse rows, which is never formed.
//!
//! The columns are copied: `K v = Σ_j x_j (x_j·v)` then reads every column once, and the products with v and the sum access
//! only vectors with one number per row, which fit a cache where vectors with one number per column do not. A column with a
//! single entry contributes to the diagonal of K alone.

mod long_columns;

use crate::design::{ColumnRange, CsrRows, SparseColumns, Units};
use crate::error::Result;
use long_columns::{LongColumns, longest_short};
use rayon::prelude::*;
use std::ops::Range;

/// Ranges of columns whose products are summed together: fixed, so that sums do not depend on the threads. Lowered from
/// 16 when columns were copied through 64 ranges instead of 256. Chosen (bench/constants.md).
const RANGES: usize = 4;

/// The columns of some sparse rows, scaled but not centred.
pub(crate) struct RowGram {
    columns: SparseColumns,
    /// The scale of each column by its place, range by range; empty where all are 1.
    scales: Vec<Vec<f64>>,
    /// The columns with many entries once more, blocked by rows.
    long: Vec<LongColumns>,
    /// Squares of the columns that have one entry, summed by row.
    diagonal: Vec<f64>,
}

/// A range and its scales.
#[derive(Clone, Copy)]
struct ScaledRows<'a> {
    range: &'a ColumnRange,
    scale: &'a [f64],
}

/// A part of the sum, computed by one task.
enum GramBlock<'a> {
    Range(ScaledRows<'a>),
    Long(&'a LongColumns),
}

impl RowGram {
    pub(crate) fn new(x: &CsrRows<'_>, units: &Units) -> Result<RowGram> {
        let columns = SparseColumns::new(x)?;
        let scales_of =
            |range: &ColumnRange| range.index().iter().map(|j| units.inverse_scale()[*j as usize]).collect();
        let scales = if units.is_identity() { Vec::new() } else { columns.ranges().iter().map(scales_of).collect() };
        let mut gram = RowGram { columns, scales, long: Vec::new(), diagonal: Vec::new() };
        gram.diagonal = gram.sum_of_groups(|part, out| {
            let GramBlock::Range(columns) = part else { return };
            for at in columns.range.shared()..columns.range.index().len() {
                columns.range.column(at).for_each(|row, x| {
                    // The common value of a row's entries is a factor twice: here, and when the groups are summed.
                    let value = x * columns.scale_of(at);
                    out[row] += value * value * gram.columns.row_value().map_or(1.0, |of_row| of_row[row]);
                });
            }
        });
        gram.long = LongColumns::groups(&gram.columns, |range, at| gram.scaled(range).scale_of(at));
        Ok(gram)
    }

    fn scaled(&self, range: usize) -> ScaledRows<'_> {
        ScaledRows { range: &self.columns.ranges()[range], scale: self.scales.get(range).map_or(&[], |s| s) }
    }

    /// Entries stored.
    pub(crate) fn entries(&self) -> usize {
        let of_range = |range: &ColumnRange| range.entries(0..range.index().len()).0.len();
        self.columns.ranges().iter().map(of_range).sum()
    }

    /// `K v`.
    pub(crate) fn multiply(&self, v: &[f64]) -> Vec<f64> {
        let by_value = self.columns.times_row_value(v);
        let longest = longest_short(&self.columns);
        let mut out = self.sum_of_groups(|part, out| match part {
            GramBlock::Range(columns) => columns.add_product(longest, &by_value, out),
            GramBlock::Long(columns) => columns.add_product(&by_value, out),
        });
        self.diagonal.iter().zip(v).zip(&mut out).for_each(|((d, v), o)| *o += d * v);
        out
    }

    /// `X̂ᵀ v`, by original column; zero for columns without entries.
    pub(crate) fn transposed(&self, v: &[f64]) -> Vec<f64> {
        let mut out = self.columns.transposed(v);
        for (range, scale) in self.columns.ranges().iter().zip(&self.scales) {
            range.index().iter().zip(scale).for_each(|(j, s)| out[*j as usize] *= s);
        }
        out
    }

    /// `X̂ w`.
    pub(crate) fn scores(&self, weights: &[f64]) -> Vec<f64> {
        self.sum_of_groups(|part, out| {
            // The ranges include the long columns.
            let GramBlock::Range(columns) = part else { return };
            for (at, column) in columns.range.index().iter().enumerate() {
                columns.range.column(at).add_to(columns.scale_of(at) * weights[*column as usize], out);
            }
        })
    }

    /// Sums the contributions of all columns, in an order that does not depend on the threads.
    fn sum_of_groups(&self, add: impl Fn(GramBlock<'_>, &mut [f64]) + Sync) -> Vec<f64> {
        let (n, ranges) = (self.columns.shape().rows, self.columns.ranges().len());
        let short = ranges.div_ceil(RANGES);
        let of_group = |group: usize| {
            let mut out = vec![0.0; n];
            match group.checked_sub(short) {
                Some(long) => add(GramBlock::Long(&self.long[long]), &mut out),
                None => {
                    let here = group * RANGES..((group + 1) * RANGES).min(ranges);
                    here.for_each(|at| add(GramBlock::Range(self.scaled(at)), &mut out));
                }
            }
            out
        };
        let partials: Vec<Vec<f64>> = (0..short + self.long.len()).into_par_iter().map(of_group).collect();
        let mut out = vec![0.0; n];
        for partial in partials {
            out.iter_mut().zip(partial).for_each(|(o, p)| *o += p);
        }
        if let Some(of_row) = self.columns.row_value() {
            out.iter_mut().zip(of_row).for_each(|(o, r)| *o *= r);
        }
        out
    }
}

impl ScaledRows<'_> {
    fn scale_of(&self, at: usize) -> f64 {
        if self.scale.is_empty() { 1.0 } else { self.scale[at] }
    }

    /// Adds the products of the columns with so many entries at most.
    fn add_product(&self, longest: u32, v: &[f64], out: &mut [f64]) {
        // Most columns of a text table have few entries; loops of fixed length save the loop overhead of each.
        let [first, four, three, two] = [longest, 4, 3, 2].map(|length| self.range.first_of(length));
        for at in first..four.max(first) {
            let (scale, column) = (self.scale_of(at), self.range.column(at));
            column.add_to(scale * scale * column.dot(v), out);
        }
        self.add_short::<4>(four..three, v, out);
        self.add_short::<3>(three..two, v, out);
        self.add_short::<2>(two..self.range.shared(), v, out);
    }

    /// Columns of L entries each.
    fn add_short<const L: usize>(&self, columns: Range<usize>, v: &[f64], out: &mut [f64]) {
        let (rows, values) = self.range.entries(columns.clone());
        let rows = rows.as_chunks::<L>().0;
        if values.is_empty() {
            for (at, rows) in columns.zip(rows) {
                let scale = self.scale_of(at);
                let product = scale * scale * rows.iter().map(|i| v[*i as usize]).sum::<f64>();
                rows.iter().for_each(|i| out[*i as usize] += product);
            }
        } else {
            for (at, (rows, values)) in columns.zip(rows.iter().zip(values.as_chunks::<L>().0)) {
                let scale = self.scale_of(at);
                let product: f64 =
                    rows.iter().zip(values).map(|(i, x)| x * v[*i as usize]).sum::<f64>() * scale * scale;
                rows.iter().zip(values).for_each(|(i, x)| out[*i as usize] += x * product);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RowGram;
    use crate::design::{CsrRows, Units};

    /// Products against plain loops over the rows: columns of one entry, short ones and such as are cut into blocks, of entries that
    /// are alike in a row and of others, and in units.
    #[test]
    fn products_are_those_of_the_rows() {
        let (n, cols) = (9_000, 400);
        for alike in [true, false] {
            let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
            for i in 0..n {
                for j in 0..cols {
                    // From nearly every row down to one in ten thousand.
                    if (i * 7_919 + j * 104_729) % 10_007 < 9_000 / (1 + j * j / 8) {
                        indices.push(j as u32);
                        values.push(if alike { 0.5 + (i % 3) as f64 } else { 1.0 + ((i + j) % 5) as f64 });
                    }
                }
                starts.push(indices.len());
            }
            let x = CsrRows { starts: &starts, indices: &indices, values: &values, cols };
            let scale: Vec<f64> = (0..cols).map(|j| if j % 2 == 0 { 2.0 } else { 0.25 }).collect();
            for units in [Units::identity(cols), Units::new(vec![0.0; cols], scale)] {
                let gram = RowGram::new(&x, &units).expect("rows");
                assert_eq!(gram.long.is_empty(), !alike, "long columns of entries that are alike");
                let v: Vec<f64> = (0..n).map(|i| ((i * i) as f64).sin()).collect();
                let mut w = vec![0.0; cols];
                let entries = |i: usize| {
                    let (columns, values) = x.row(i);
                    let scaled = |(c, v): (&u32, &f64)| (*c as usize, v * units.inverse_scale()[*c as usize]);
                    columns.iter().zip(values).map(scaled).collect::<Vec<_>>()
                };
                (0..n).for_each(|i| entries(i).into_iter().for_each(|(j, x)| w[j] += x * v[i]));
                for (i, found) in gram.multiply(&v).into_iter().enumerate() {
                    let plain: f64 = entries(i).into_iter().map(|(j, x)| x * w[j]).sum();
                    let size: f64 = entries(i).into_iter().map(|(j, x)| (x * w[j]).abs()).sum::<f64>() + 1.0;
                    assert!((found - plain).abs() < 1e-10 * size, "{alike} row {i}: {found} {plain}");
                }
            }
        }
    }
}
