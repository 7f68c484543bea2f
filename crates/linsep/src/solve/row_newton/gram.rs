//! `v ↦ K v` for the Gram matrix `K = X̂X̂ᵀ` of sparse rows, which is never formed.
//!
//! The columns are copied, the longest first. `K v = Σ_j x_j (x_j·v)` then reads every column once: the products with v
//! and the sum touch vectors of one number a row only, which fit a cache where vectors of one number a column do not.
//! A column with a single entry adds to the diagonal of K alone. Columns of one length follow each other, so the
//! processor foresees where each ends.

use crate::design::{CsrRows, Units};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// Pieces in which rows are counted and copied, and into which columns are split for products: fixed, so that sums do
/// not depend on the threads.
const PIECES: usize = 16;

/// The columns of some sparse rows, scaled but not centred.
pub(super) struct RowGram {
    n: usize,
    /// Squares of the columns that have one entry, summed by row.
    diagonal: Vec<f64>,
    /// Where each column starts, the longest first.
    starts: Vec<usize>,
    /// The original index of each column.
    columns: Vec<u32>,
    rows: Vec<u32>,
    values: Vec<f64>,
    pieces: Vec<Range<usize>>,
}

impl RowGram {
    pub(super) fn new(x: &CsrRows<'_>, units: &Units) -> RowGram {
        let (n, d) = (x.len(), x.cols);
        let base = x.starts[0];
        let parts: Vec<Range<usize>> = split(x.starts, 4);
        let mut counts: Vec<Vec<u32>> = parts
            .par_iter()
            .map(|rows| {
                let mut counts = vec![0u32; d];
                for column in &x.indices[x.starts[rows.start] - base..x.starts[rows.end] - base] {
                    counts[*column as usize] += 1;
                }
                counts
            })
            .collect();
        let length = |j: usize| counts.iter().map(|c| c[j] as usize).sum::<usize>();
        let lengths: Vec<usize> = (0..d).map(length).collect();
        let columns = longest_first(&lengths, n);
        let mut starts = Vec::with_capacity(columns.len() + 1);
        starts.push(0);
        let mut end = 0;
        for j in &columns {
            // From here on the counts are where the next entry of a part goes.
            let mut cursor = end;
            for part in &mut counts {
                let count = part[*j as usize];
                part[*j as usize] = cursor as u32;
                cursor += count as usize;
            }
            end = cursor;
            starts.push(end);
        }
        // Every place is written once; as atomics the parts may write side by side.
        let rows: Vec<AtomicU32> = (0..end).map(|_| AtomicU32::new(0)).collect();
        let values: Vec<AtomicU64> = (0..end).map(|_| AtomicU64::new(0)).collect();
        parts.par_iter().zip(&mut counts).for_each(|(part, cursors)| {
            for i in part.clone() {
                let (indices, entries) = x.row(i);
                for (j, v) in indices.iter().zip(entries) {
                    let at = &mut cursors[*j as usize];
                    rows[*at as usize].store(i as u32, Relaxed);
                    values[*at as usize].store((v * units.inverse_scale()[*j as usize]).to_bits(), Relaxed);
                    *at += 1;
                }
            }
        });
        let rows: Vec<u32> = rows.into_iter().map(AtomicU32::into_inner).collect();
        let values: Vec<f64> = values.into_iter().map(|v| f64::from_bits(v.into_inner())).collect();
        let shared = columns.partition_point(|j| lengths[*j as usize] > 1);
        let mut diagonal = vec![0.0; n];
        for at in starts[shared]..end {
            diagonal[rows[at] as usize] += values[at] * values[at];
        }
        let pieces = split(&starts[..=shared], PIECES);
        RowGram { n, diagonal, starts, columns, rows, values, pieces }
    }

    /// `K v`.
    pub(super) fn multiply(&self, v: &[f64]) -> Vec<f64> {
        let of_piece = |piece: &Range<usize>| {
            let mut out = vec![0.0; self.n];
            for column in piece.clone() {
                let range = self.starts[column]..self.starts[column + 1];
                let (rows, values) = (&self.rows[range.clone()], &self.values[range]);
                let product: f64 = rows.iter().zip(values).map(|(i, x)| x * v[*i as usize]).sum();
                for (i, x) in rows.iter().zip(values) {
                    out[*i as usize] += x * product;
                }
            }
            out
        };
        let partials: Vec<Vec<f64>> = self.pieces.par_iter().map(of_piece).collect();
        let mut out: Vec<f64> = self.diagonal.iter().zip(v).map(|(d, v)| d * v).collect();
        for partial in partials {
            out.iter_mut().zip(partial).for_each(|(o, p)| *o += p);
        }
        out
    }

    /// `X̂ᵀ v`, by original column; zero for columns without entries.
    pub(super) fn transposed(&self, v: &[f64], cols: usize) -> Vec<f64> {
        let products: Vec<f64> = (0..self.columns.len())
            .into_par_iter()
            .with_min_len(4096)
            .map(|column| {
                let range = self.starts[column]..self.starts[column + 1];
                self.rows[range.clone()].iter().zip(&self.values[range]).map(|(i, x)| x * v[*i as usize]).sum()
            })
            .collect();
        let mut out = vec![0.0; cols];
        for (column, product) in self.columns.iter().zip(products) {
            out[*column as usize] = product;
        }
        out
    }
}

/// Columns with entries by length, the longest first, in their order among equals.
fn longest_first(lengths: &[usize], longest: usize) -> Vec<u32> {
    let mut places = vec![0usize; longest + 2];
    lengths.iter().filter(|l| **l > 0).for_each(|l| places[longest - l + 1] += 1);
    (1..places.len()).for_each(|i| places[i] += places[i - 1]);
    let mut order = vec![0u32; places[longest + 1]];
    for (j, l) in lengths.iter().enumerate().filter(|(_, l)| **l > 0) {
        order[places[longest - l]] = j as u32;
        places[longest - l] += 1;
    }
    order
}

/// Splits items with given boundaries into pieces of about equal size.
fn split(starts: &[usize], pieces: usize) -> Vec<Range<usize>> {
    let (items, first) = (starts.len() - 1, starts[0]);
    let total = starts[items] - first;
    let cut = |p: usize| starts.partition_point(|s| s - first < total * p / pieces).min(items);
    let mut cuts: Vec<usize> = (0..=pieces).map(cut).collect();
    (cuts[0], cuts[pieces]) = (0, items);
    cuts.windows(2).map(|w| w[0]..w[1]).filter(|r| !r.is_empty()).collect()
}
