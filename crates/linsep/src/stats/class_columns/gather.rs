//! The passes that sum: dense rows grouped by class, sparse rows by their stored entries.

use super::support::first_outside;
use super::{ClassColumns, Run, Sums};
use crate::design::{Block, CsrRows, Design, Pass, Rows, Tile, Units, is_sparse};
use crate::error::{Error, ErrorKind, Result};
use crate::numeric::vectorised;
use crate::stats::reference::class_references;
use crate::stats::tail::moved;
use crate::table::{Class, Labels};
use crate::watch::Watch;
use rayon::prelude::*;
use std::ops::Range;

/// Sums per class up to this many, 8 MB, are kept per leaf of the pass; wider ones are summed by ranges of columns in
/// place. Chosen (bench/constants.md).
const LEAF_SUMS: usize = 1 << 20;
/// Ranges of columns summed in parallel: fixed, so that sums do not depend on the threads. Chosen, out of reach of
/// bench/constants.md.
const RANGES: usize = 8;
/// Sparse rows asked for at a time: results do not depend on it.
const SPARSE_ROWS: usize = 1024;

/// Sums about fixed references: the partials of one pass merge by addition.
struct ColumnsPartial {
    weights: Vec<f64>,
    first: Vec<f64>,
    second: Vec<f64>,
    /// The weight of the stored entries of sparse rows, where moments are asked for: the rest of the class is zeros.
    stored: Vec<f64>,
    outside: bool,
}

/// The sums of every class in a range of columns.
#[derive(Default)]
struct Slices<'a> {
    first: Vec<&'a mut [f64]>,
    second: Vec<&'a mut [f64]>,
    stored: Vec<&'a mut [f64]>,
}

/// Rows of a pass with what belongs to them.
struct Labelled<'a> {
    codes: &'a [Class],
    weights: Option<&'a [f64]>,
    runs: &'a [Run],
    references: &'a [f64],
}

pub(super) fn gather(
    design: &dyn Design,
    labels: &Labels,
    weights: Option<&[f64]>,
    runs: &[Run],
    watch: &Watch,
) -> Result<ClassColumns> {
    let (cols, classes) = (design.shape().cols, labels.n_classes());
    let references = match runs.iter().any(|r| r.sums == Sums::Moments) {
        true => class_references(design, labels, weights)?,
        false => Vec::new(),
    };
    let sparse = is_sparse(design);
    // Logarithms need every value, stored or not.
    let stored_only = sparse && runs.iter().all(|r| r.sums != Sums::Logarithms);
    let mut partial = if stored_only && classes * cols > LEAF_SUMS {
        by_columns(design, labels, weights, runs, &references, watch)?
    } else {
        by_rows(design, labels, weights, runs, &references, stored_only, watch)?
    };
    if partial.outside
        && let Some(error) = first_outside(design, weights, runs)?
    {
        return Err(error);
    }
    partial.add_zeros(runs, &references, cols);
    if !all_finite(&partial.first) || !all_finite(&partial.second) {
        // The summary pass names the column and row at fault.
        crate::design::summarise(design, weights, watch)?;
        return Err(Error::data("the sums of the columns overflow").help("rescale the columns"));
    }
    Ok(partial.about_means(runs, &references, cols))
}

/// Without an early end, so that it vectorises.
fn all_finite(values: &[f64]) -> bool {
    !values.iter().fold(false, |bad, v| bad | !v.is_finite())
}

fn empty(classes: usize, cols: usize, runs: &[Run], stored_only: bool) -> ColumnsPartial {
    let all = classes * cols;
    let second = if runs.iter().all(|r| r.sums == Sums::Total) { 0 } else { all };
    let stored = if stored_only && runs.iter().any(|r| r.sums == Sums::Moments) { all } else { 0 };
    ColumnsPartial {
        weights: vec![0.0; classes],
        first: vec![0.0; all],
        second: vec![0.0; second],
        stored: vec![0.0; stored],
        outside: false,
    }
}

fn by_rows(
    design: &dyn Design,
    labels: &Labels,
    weights: Option<&[f64]>,
    runs: &[Run],
    references: &[f64],
    stored_only: bool,
    watch: &Watch,
) -> Result<ColumnsPartial> {
    let (cols, classes) = (design.shape().cols, labels.n_classes());
    let identity = Units::identity(cols);
    // Sums need a fraction of the memory allowed for leaves; more leaves would only cost merges.
    Pass::new(design, &identity).partials_of(32 * classes * cols).reduce(
        watch,
        (0, &mut []),
        || empty(classes, cols, runs, stored_only),
        |sum, range, rows, _| {
            let part = weights.map(|w| &w[range.clone()]);
            let labelled = Labelled { codes: &labels.codes()[range], weights: part, runs, references };
            match rows {
                Rows::Dense(values) => add_dense(sum, values, &labelled),
                Rows::Csr(rows) if !stored_only => add_dense(sum, &widened(&rows), &labelled),
                Rows::Csr(rows) => {
                    labelled.add_weights(&mut sum.weights);
                    let mut outside = false;
                    for slices in &mut sum.by_columns(cols, cols) {
                        outside |= add_sparse(slices, &rows, &labelled, 0..cols);
                    }
                    sum.outside |= outside;
                }
            }
            Ok(())
        },
        |a, b| {
            a.weights.iter_mut().zip(&b.weights).for_each(|(a, b)| *a += b);
            a.first.iter_mut().zip(&b.first).for_each(|(a, b)| *a += b);
            a.second.iter_mut().zip(&b.second).for_each(|(a, b)| *a += b);
            a.stored.iter_mut().zip(&b.stored).for_each(|(a, b)| *a += b);
            a.outside |= b.outside;
        },
    )
}

fn widened(rows: &CsrRows<'_>) -> Vec<f64> {
    let mut values = vec![0.0; rows.len() * rows.cols];
    for i in 0..rows.len() {
        let (columns, entries) = rows.row(i);
        columns.iter().zip(entries).for_each(|(c, v)| values[i * rows.cols + *c as usize] = *v);
    }
    values
}

/// Each range of columns reads all rows in order, so threads need no sums of their own, and the bits do not depend on which
/// thread took which range.
fn by_columns(
    design: &dyn Design,
    labels: &Labels,
    weights: Option<&[f64]>,
    runs: &[Run],
    references: &[f64],
    watch: &Watch,
) -> Result<ColumnsPartial> {
    let (shape, classes) = (design.shape(), labels.n_classes());
    let mut sum = empty(classes, shape.cols, runs, true);
    Labelled { codes: labels.codes(), weights, runs, references }.add_weights(&mut sum.weights);
    let width = shape.cols.div_ceil(RANGES);
    let mut pieces = sum.by_columns(shape.cols, width);
    let outside = pieces.par_iter_mut().enumerate().map(|(r, slices)| {
        let range = r * width..((r + 1) * width).min(shape.cols);
        let mut outside = false;
        let mut tile = Tile::default();
        for start in (0..shape.rows).step_by(SPARSE_ROWS) {
            if watch.halted().is_some() {
                return Err(Error::new(ErrorKind::Interrupted, "stopped before the pass over the data was complete"));
            }
            let block = start..(start + SPARSE_ROWS).min(shape.rows);
            let part = weights.map(|w| &w[block.clone()]);
            let labelled = Labelled { codes: &labels.codes()[block.clone()], weights: part, runs, references };
            if let Block::Csr(rows) = design.block(block, &mut tile)? {
                outside |= add_sparse(slices, &rows, &labelled, range.clone());
            }
        }
        Ok(outside)
    });
    let outside = outside.collect::<Vec<Result<bool>>>().into_iter().collect::<Result<Vec<bool>>>()?;
    sum.outside = outside.contains(&true);
    Ok(sum)
}

impl Labelled<'_> {
    fn add_weights(&self, totals: &mut [f64]) {
        for (i, class) in self.codes.iter().enumerate() {
            totals[class.index()] += self.weights.map_or(1.0, |w| w[i]);
        }
    }
}

vectorised! {
    /// One row at a time into the sums of its class; the loops over the columns of a run have no branches.
    fn add_dense(sum: &mut ColumnsPartial, rows: &[f64], labelled: &Labelled<'_>) {
        let cols = sum.first.len() / sum.weights.len();
        let (mut outside, second_width) = (false, sum.second.len() / sum.weights.len());
        for (i, (x, class)) in rows.chunks_exact(cols.max(1)).zip(labelled.codes).enumerate() {
            let s = labelled.weights.map_or(1.0, |w| w[i]);
            if s == 0.0 {
                continue;
            }
            let k = class.index();
            sum.weights[k] += s;
            let first = &mut sum.first[k * cols..(k + 1) * cols];
            let second = &mut sum.second[k * second_width..(k + 1) * second_width];
            for run in labelled.runs {
                let range = run.columns.clone();
                let (x, first) = (&x[range.clone()], &mut first[range.clone()]);
                match run.sums {
                    Sums::Total => {
                        for (v, first) in x.iter().zip(first) {
                            outside |= !run.support.contains(*v);
                            *first = s.mul_add(*v, *first);
                        }
                    }
                    Sums::Moments => {
                        let reference = &labelled.references[k * cols..][range.clone()];
                        for (((v, r), first), second) in x.iter().zip(reference).zip(first).zip(&mut second[range]) {
                            let shifted = v - r;
                            let scaled = s * shifted;
                            *first += scaled;
                            *second = scaled.mul_add(shifted, *second);
                        }
                    }
                    Sums::Logarithms => {
                        for ((v, first), second) in x.iter().zip(first).zip(&mut second[range]) {
                            outside |= !run.support.contains(*v);
                            *first = s.mul_add(*v, *first);
                            *second = s.mul_add(v.ln(), *second);
                        }
                    }
                }
            }
        }
        sum.outside |= outside;
    }
}

/// The stored entries of some rows in a range of columns, into sums that start at the range; what the zeros between them
/// add to moments follows from their weight at the end. Returns whether a value is outside its support.
fn add_sparse(slices: &mut Slices<'_>, rows: &CsrRows<'_>, labelled: &Labelled<'_>, range: Range<usize>) -> bool {
    let runs = labelled.runs;
    let opening = runs.partition_point(|r| r.columns.end <= range.start);
    let mut outside = false;
    for (i, class) in labelled.codes.iter().enumerate() {
        let s = labelled.weights.map_or(1.0, |w| w[i]);
        if s == 0.0 {
            continue;
        }
        let k = class.index();
        let (columns, values) = rows.row(i);
        let from = if range.start == 0 { 0 } else { columns.partition_point(|c| (*c as usize) < range.start) };
        let to = match range.end == rows.cols {
            true => columns.len(),
            false => columns.partition_point(|c| (*c as usize) < range.end),
        };
        let (columns, values) = (&columns[from..to], &values[from..to]);
        let mut at = opening;
        let mut done = 0;
        while done < columns.len() && at < runs.len() {
            let run = &runs[at];
            let end = run.columns.end;
            let stop = match end >= range.end {
                true => columns.len(),
                false => done + columns[done..].partition_point(|c| (*c as usize) < end),
            };
            let first = &mut *slices.first[k];
            let entries = columns[done..stop].iter().zip(&values[done..stop]).map(|(c, v)| (*c as usize, *v));
            if run.sums == Sums::Moments {
                let references = &labelled.references[k * rows.cols..];
                let (second, stored) = (&mut *slices.second[k], &mut *slices.stored[k]);
                for (c, v) in entries {
                    let (at, shifted) = (c - range.start, v - references[c]);
                    let scaled = s * shifted;
                    first[at] += scaled;
                    second[at] = scaled.mul_add(shifted, second[at]);
                    stored[at] += s;
                }
            } else {
                for (c, v) in entries {
                    outside |= !run.support.contains(v);
                    first[c - range.start] += s * v;
                }
            }
            done = stop;
            at += 1;
        }
    }
    outside
}

impl ColumnsPartial {
    /// The sums of all classes, range of columns by range of columns.
    fn by_columns(&mut self, cols: usize, width: usize) -> Vec<Slices<'_>> {
        let (cols, width) = (cols.max(1), width.max(1));
        let mut pieces: Vec<Slices<'_>> = (0..cols.div_ceil(width)).map(|_| Slices::default()).collect();
        for class in self.first.chunks_exact_mut(cols) {
            class.chunks_mut(width).zip(&mut pieces).for_each(|(c, p)| p.first.push(c));
        }
        for class in self.second.chunks_exact_mut(cols) {
            class.chunks_mut(width).zip(&mut pieces).for_each(|(c, p)| p.second.push(c));
        }
        for class in self.stored.chunks_exact_mut(cols) {
            class.chunks_mut(width).zip(&mut pieces).for_each(|(c, p)| p.stored.push(c));
        }
        pieces
    }

    /// The contribution of the zeros that sparse rows do not store to moments about the references.
    fn add_zeros(&mut self, runs: &[Run], references: &[f64], cols: usize) {
        if self.stored.is_empty() {
            return;
        }
        for (k, weight) in self.weights.iter().enumerate() {
            for run in runs.iter().filter(|r| r.sums == Sums::Moments) {
                for at in run.columns.clone().map(|j| k * cols + j) {
                    // Both weights are sums in the same order: without zeros their difference is exactly zero.
                    let zeros = weight - self.stored[at];
                    self.first[at] -= zeros * references[at];
                    self.second[at] += zeros * references[at] * references[at];
                }
            }
        }
    }

    fn about_means(mut self, runs: &[Run], references: &[f64], cols: usize) -> ClassColumns {
        let mut tails = vec![0.0; if super::has_moments(runs) { self.first.len() } else { 0 }];
        for (k, weight) in self.weights.iter().enumerate().filter(|(_, w)| **w > 0.0) {
            for run in runs.iter().filter(|r| r.sums == Sums::Moments) {
                for at in run.columns.clone().map(|j| k * cols + j) {
                    let delta = self.first[at] / weight;
                    self.second[at] = (self.second[at] - weight * delta * delta).max(0.0);
                    (self.first[at], tails[at]) = moved((references[at], 0.0), delta);
                }
            }
        }
        let (first, second) = (self.first, self.second);
        ClassColumns { runs: runs.to_vec(), cols, weights: self.weights, first, tails, second }
    }
}
