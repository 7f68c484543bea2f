//! The products of a pass, on dense tiles and on sparse rows alike.
//!
//! Dense tiles arrive in the pass's units. Sparse rows arrive as stored, so for them the units move into the
//! coefficients (`x̂·w = x·(w/s) − c·(w/s)`) and sums are put into units once, at the end of the pass.

use crate::design::{Block, ColumnView, CsrRows, Design, Rows, Tile, Units, column_ranges};
use crate::error::{Error, Result};
use crate::linalg::{Square, gram_update, weighted_rows_sum};
use crate::numeric::vectorised;
use crate::table::Class;
use rayon::prelude::*;
use std::ops::Range;

/// Sparse rows with fewer columns are summed by groups of rows, with one sum per column and group. Chosen
/// (bench/constants.md).
const WIDE: usize = 4096;
/// So are columns with more entries than this on average, which repay the sums of the groups. Chosen
/// (bench/constants.md).
const ENTRIES_PER_COLUMN: usize = 64;
/// Ranges of columns that are summed side by side, at most: each looks for its part of every row, so one for each thread is
/// fastest (20news, 18,846 rows of 1.7 million columns, two threads: 1, 2, 4, 8 and 16 ranges take 42, 25, 31, 93 and 174 ms). A column
/// adds up its rows in their order, whatever the ranges.
const MOST_RANGES: usize = 16;

vectorised! {
    /// `xᵢ ← √hᵢ xᵢ`.
    fn scale_rows_by_root(rows: &mut [f64], curvature: &[f64], cols: usize) {
        for (x, h) in rows.chunks_exact_mut(cols).zip(curvature) {
            let root = h.max(0.0).sqrt();
            x.iter_mut().for_each(|v| *v *= root);
        }
    }

    /// `sums[route] += rᵢ xᵢ` for one residual a row.
    fn routed_rows_sum(rows: &[f64], residual: &[f64], cols: usize, routes: &[Class], sums: &mut [f64]) {
        for ((x, r), route) in rows.chunks_exact(cols.max(1)).zip(residual).zip(routes) {
            let sum = &mut sums[route.index() * cols..][..cols];
            for (s, x) in sum.iter_mut().zip(x) {
                *s = x.mul_add(*r, *s);
            }
        }
    }
}

/// `Σᵢ rᵢ xᵢᵀ` and `Σᵢ rᵢ` for `k` residuals a row, split into groups of rows (more than one only for k = 1).
#[derive(Debug, Clone)]
pub(super) struct GradientSums {
    k: usize,
    cols: usize,
    /// `sums[route][score][column]`; sparse sums are held column-major (`[column][score]`) until the end.
    pub(super) sums: Vec<f64>,
    /// `totals[route][score]`.
    pub(super) totals: Vec<f64>,
    sparse: bool,
    /// Whether sparse sums are held score by score already.
    by_score: bool,
}

impl GradientSums {
    pub(super) fn new(routes: usize, k: usize, cols: usize, sparse: bool) -> GradientSums {
        GradientSums {
            k,
            cols,
            sums: vec![0.0; routes * k * cols],
            totals: vec![0.0; routes * k],
            sparse,
            by_score: k == 1,
        }
    }

    /// Sums in units that are known already, of one score.
    pub(super) fn given(sums: Vec<f64>, total: f64) -> GradientSums {
        GradientSums { k: 1, cols: sums.len(), sums, totals: vec![total], sparse: false, by_score: true }
    }

    /// Adds a block; `routes` says which group each row belongs to, all to the first where it is absent.
    pub(super) fn add(&mut self, rows: &Rows<'_>, residual: &[f64], routes: Option<&[Class]>) {
        let (k, cols) = (self.k, self.cols);
        let route = |i: usize| routes.map_or(0, |r| r[i].index());
        for (i, r) in residual.chunks_exact(k).enumerate() {
            let totals = &mut self.totals[route(i) * k..][..k];
            totals.iter_mut().zip(r).for_each(|(t, r)| *t += r);
        }
        match rows {
            Rows::Dense(values) => match routes {
                None => weighted_rows_sum(values, residual, cols, k, &mut self.sums),
                Some(routes) => routed_rows_sum(values, residual, cols, routes, &mut self.sums),
            },
            Rows::Csr(rows) => {
                let width = k * cols;
                let mut groups: Vec<&mut [f64]> = self.sums.chunks_exact_mut(width.max(1)).collect();
                add_sparse(&mut groups, rows, 0..rows.len(), 0..cols, residual, routes, k);
            }
        }
    }

    /// Whether a design is sparse with so many columns that sums per group of rows would cost more than the rows.
    pub(super) fn wide(design: &dyn Design) -> Result<bool> {
        let shape = design.shape();
        if shape.cols < WIDE || !design.lends() {
            return Ok(false);
        }
        Ok(match design.block(0..shape.rows, &mut Tile::default())? {
            Block::Csr(rows) => rows.indices.len() <= ENTRIES_PER_COLUMN * shape.cols,
            _ => false,
        })
    }

    /// The sums of all rows of a wide design: ranges of columns are summed side by side, each over all rows.
    pub(super) fn by_columns(design: &dyn Design, k: usize, residual: &[f64]) -> Result<GradientSums> {
        let shape = design.shape();
        let mut tile = Tile::default();
        let Block::Csr(rows) = design.block(0..shape.rows, &mut tile)? else {
            return Err(Error::data("a sparse matrix changed its type between two blocks"));
        };
        let mut sums = GradientSums::new(1, k, shape.cols, true);
        let (mut ranges, mut rest) = (Vec::new(), &mut sums.sums[..]);
        for columns in column_ranges(&rows, rayon::current_num_threads().min(MOST_RANGES)) {
            let (now, later) = rest.split_at_mut(k * columns.len());
            ranges.push((columns, now));
            rest = later;
        }
        ranges.into_par_iter().for_each(|(columns, slice)| {
            add_sparse(&mut [slice], &rows, 0..rows.len(), columns, residual, None, k);
        });
        for r in residual.chunks_exact(k) {
            sums.totals.iter_mut().zip(r).for_each(|(t, r)| *t += r);
        }
        Ok(sums)
    }

    /// The sums of all rows of a design that has its columns.
    pub(super) fn by_view(view: &ColumnView<'_>, k: usize, residual: &[f64]) -> GradientSums {
        let mut sums = GradientSums::new(1, k, 0, true);
        sums.cols = view.n_cols();
        sums.sums = if k == 1 { view.transposed(residual) } else { view.transposed_rows(residual, k) };
        sums.by_score = true;
        for r in residual.chunks_exact(k) {
            sums.totals.iter_mut().zip(r).for_each(|(t, r)| *t += r);
        }
        sums
    }

    pub(super) fn merge(&mut self, other: &GradientSums) {
        self.sums.iter_mut().zip(&other.sums).for_each(|(a, b)| *a += b);
        self.totals.iter_mut().zip(&other.totals).for_each(|(a, b)| *a += b);
    }

    /// The sums of all groups over a total. New memory of many columns costs more than the arithmetic: side by side, and
    /// without reading it first.
    pub(super) fn means(&self, total: f64, gradient: &mut [f64]) {
        let width = gradient.len().max(1);
        gradient.par_chunks_mut(1 << 16).enumerate().for_each(|(part, gradient)| {
            for (route, sums) in self.sums.chunks_exact(width).enumerate() {
                let terms = gradient.iter_mut().zip(&sums[part << 16..]);
                match route {
                    0 => terms.for_each(|(g, s)| *g = s / total),
                    _ => terms.for_each(|(g, s)| *g += s / total),
                }
            }
        });
    }

    /// Puts sparse sums into units: `Σ r x̂ = (Σ r x − c Σ r)/s`, scores before columns.
    pub(super) fn finish(&mut self, units: &Units) {
        if !std::mem::take(&mut self.sparse) {
            return;
        }
        let (k, cols) = (self.k, self.cols);
        if self.by_score {
            if units.is_identity() {
                return;
            }
            for (total, sums) in self.totals.iter().zip(self.sums.chunks_exact_mut(cols.max(1))) {
                let in_units = units.centre().iter().zip(units.inverse_scale());
                sums.iter_mut().zip(in_units).for_each(|(s, (centre, inverse))| *s = (*s - centre * total) * inverse);
            }
            return;
        }
        for (route, sums) in self.sums.chunks_exact_mut((k * cols).max(1)).enumerate() {
            let raw = sums.to_vec();
            for c in 0..k {
                let total = self.totals[route * k + c];
                for j in 0..cols {
                    sums[c * cols + j] = (raw[j * k + c] - units.centre()[j] * total) * units.inverse_scale()[j];
                }
            }
        }
    }
}

/// `groups[route][column·k + score] += rᵢ xᵢ` for the entries of some rows in a range of columns.
fn add_sparse(
    groups: &mut [&mut [f64]],
    rows: &CsrRows<'_>,
    range: Range<usize>,
    wanted: Range<usize>,
    residual: &[f64],
    routes: Option<&[Class]>,
    k: usize,
) {
    let all = wanted == (0..rows.cols);
    for i in range {
        let (mut columns, mut values) = rows.row(i);
        if !all {
            let from = columns.partition_point(|c| (*c as usize) < wanted.start);
            let to = from + columns[from..].partition_point(|c| (*c as usize) < wanted.end);
            (columns, values) = (&columns[from..to], &values[from..to]);
        }
        let sums = &mut *groups[routes.map_or(0, |r| r[i].index())];
        if k == 1 {
            let r = residual[i];
            if r != 0.0 {
                columns.iter().zip(values).for_each(|(c, v)| sums[*c as usize - wanted.start] += v * r);
            }
            continue;
        }
        let r = &residual[i * k..(i + 1) * k];
        for (c, v) in columns.iter().zip(values) {
            let sums = &mut sums[(*c as usize - wanted.start) * k..][..k];
            sums.iter_mut().zip(r).for_each(|(s, r)| *s += v * r);
        }
    }
}

/// `Σᵢ x̃ᵢx̃ᵢᵀ ⊗ Cᵢ` for small symmetric matrices Cᵢ: the Hessian of a risk, ordered as [`Coef`] (all weights score by
/// score, then the intercepts).
#[derive(Debug, Clone)]
pub(super) struct HessianSums {
    k: usize,
    cols: usize,
    /// One Gram per pair of scores (a ≥ b) in packed order.
    grams: Vec<Square>,
    /// `Σ C x` per pair, then `Σ C` per pair.
    firsts: Vec<f64>,
    totals: Vec<f64>,
    sparse: bool,
}

impl HessianSums {
    pub(super) fn new(k: usize, cols: usize, sparse: bool) -> HessianSums {
        let pairs = k * (k + 1) / 2;
        HessianSums {
            k,
            cols,
            grams: vec![Square::zeros(cols); pairs],
            firsts: vec![0.0; pairs * cols],
            totals: vec![0.0; pairs],
            sparse,
        }
    }

    /// Sums of sparse columns that are known already, of one score.
    pub(super) fn given(gram: Square, firsts: Vec<f64>, total: f64) -> HessianSums {
        HessianSums { k: 1, cols: firsts.len(), grams: vec![gram], firsts, totals: vec![total], sparse: true }
    }

    /// Adds a block given the packed curvature of each row; the tile of dense rows is used up.
    pub(super) fn add(&mut self, rows: &mut Rows<'_>, curvature: &[f64], scratch: &mut Vec<f64>) {
        let pairs = self.grams.len();
        for c in curvature.chunks_exact(pairs) {
            self.totals.iter_mut().zip(c).for_each(|(t, c)| *t += c);
        }
        match rows {
            Rows::Dense(values) => self.add_dense(values, curvature, scratch),
            Rows::Csr(rows) => self.add_sparse(rows, curvature),
        }
    }

    fn add_dense(&mut self, values: &mut [f64], curvature: &[f64], scratch: &mut Vec<f64>) {
        let (cols, pairs) = (self.cols, self.grams.len());
        weighted_rows_sum(values, curvature, cols, pairs, &mut self.firsts);
        if pairs == 1 {
            // One nonnegative curvature a row: its root goes into the tile, which is then multiplied with itself.
            scale_rows_by_root(values, curvature, cols.max(1));
            return gram_update(&mut self.grams[0], values, values);
        }
        scratch.resize(values.len(), 0.0);
        for (pair, gram) in self.grams.iter_mut().enumerate() {
            let scaled = scratch.chunks_exact_mut(cols.max(1)).zip(values.chunks_exact(cols.max(1)));
            for ((out, x), c) in scaled.zip(curvature.chunks_exact(pairs)) {
                out.iter_mut().zip(x).for_each(|(o, x)| *o = c[pair] * x);
            }
            gram_update(gram, scratch, values);
        }
    }

    fn add_sparse(&mut self, rows: &CsrRows<'_>, curvature: &[f64]) {
        let (cols, pairs) = (self.cols, self.grams.len());
        for (i, c) in curvature.chunks_exact(pairs).enumerate() {
            let (columns, values) = rows.row(i);
            for (pair, c) in c.iter().enumerate() {
                let gram = self.grams[pair].as_mut_slice();
                if *c == 0.0 {
                    continue;
                }
                let firsts = &mut self.firsts[pair * cols..][..cols];
                for (at, (column, v)) in columns.iter().zip(values).enumerate() {
                    let column = *column as usize;
                    let scaled = c * v;
                    firsts[column] += scaled;
                    // Columns increase along the row, so this walks down one column of the lower triangle.
                    let of_column = &mut gram[column * cols..][..cols];
                    for (other, w) in columns[at..].iter().zip(&values[at..]) {
                        of_column[*other as usize] += scaled * w;
                    }
                }
            }
        }
    }

    pub(super) fn merge(&mut self, other: &HessianSums) {
        self.grams.iter_mut().zip(&other.grams).for_each(|(a, b)| a.add(b));
        self.firsts.iter_mut().zip(&other.firsts).for_each(|(a, b)| *a += b);
        self.totals.iter_mut().zip(&other.totals).for_each(|(a, b)| *a += b);
    }

    /// Puts sparse sums into units: `Σ C x̂x̂ᵀ` from `Σ C xxᵀ`, `Σ C x` and `Σ C`.
    fn change_units(&mut self, units: &Units) {
        if !std::mem::take(&mut self.sparse) {
            return;
        }
        if units.is_identity() {
            return;
        }
        let (cols, centre, inverse) = (self.cols, units.centre(), units.inverse_scale());
        for (pair, gram) in self.grams.iter_mut().enumerate() {
            let first = &mut self.firsts[pair * cols..(pair + 1) * cols];
            let total = self.totals[pair];
            for j in 0..cols {
                for i in j..cols {
                    let g = gram.at(i, j);
                    *g += centre[i] * centre[j] * total - first[i] * centre[j] - centre[i] * first[j];
                    *g *= inverse[i] * inverse[j];
                }
            }
            for j in 0..cols {
                first[j] = (first[j] - centre[j] * total) * inverse[j];
            }
        }
    }

    /// The assembled matrix times `scale`.
    pub(super) fn finish(mut self, units: &Units, scale: f64) -> Square {
        self.change_units(units);
        let (k, cols) = (self.k, self.cols);
        if k == 1 {
            return self.finish_one(scale);
        }
        let pair = |a: usize, b: usize| a.max(b) * (a.max(b) + 1) / 2 + a.min(b);
        Square::from_lower(k * (cols + 1), |i, j| {
            let value = match (i < k * cols, j < k * cols) {
                (true, true) => self.grams[pair(i / cols, j / cols)].get(i % cols, j % cols),
                (false, true) => self.firsts[pair(i - k * cols, j / cols) * cols + j % cols],
                _ => self.totals[pair(i - k * cols, j - k * cols)],
            };
            value * scale
        })
    }

    fn finish_one(self, scale: f64) -> Square {
        let cols = self.cols;
        Square::from_lower(cols + 1, |i, j| {
            scale
                * match (i < cols, j < cols) {
                    (true, _) => self.grams[0].get(i, j),
                    (false, true) => self.firsts[j],
                    _ => self.totals[0],
                }
        })
    }
}
