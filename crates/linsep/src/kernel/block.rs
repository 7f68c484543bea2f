//! Blocks of kernel values: some rows against many.

use super::panels::{Real, STRIP};
use super::{Kernel, KernelRows, StoredRows};
use rayon::prelude::*;

/// Columns done at a time, so that values are still in cache when the kernel's function is applied: 8 KB a row. Chosen
/// (bench/constants.md): only the time depends on it.
pub(super) const CHUNK: usize = 1024;
/// Sparse rows scattered together: eight doubles are a cache line.
const SCATTERED: usize = 8;
/// Rows of a table made by one task. Chosen (bench/constants.md): only the time depends on it.
const TABLE_ROWS: usize = 64;
/// Support rows whose values are summed at a time. Chosen (bench/constants.md); sums depend on it in their last bits.
pub(super) const GROUP: usize = 64;

/// Rows packed to be the right side of products.
#[derive(Debug)]
pub struct TargetRows<T> {
    count: usize,
    padded: usize,
    width: usize,
    pub(super) body: Body<T>,
    squares: Vec<T>,
    centre_parts: Vec<f64>,
}

#[derive(Debug)]
pub(super) enum Body<T> {
    /// Panel by panel, column by column, row by row.
    Panels(Vec<T>),
    Sparse {
        starts: Vec<usize>,
        indices: Vec<u32>,
        values: Vec<f64>,
    },
    /// A precomputed kernel: row by row.
    Table(Vec<T>),
}

impl<T: Real> TargetRows<T> {
    /// Packs some rows.
    pub fn new(kernel: &Kernel, rows: &KernelRows, ids: &[usize]) -> TargetRows<T> {
        let (count, width) = (ids.len(), rows.cols().max(1));
        let padded = count.div_ceil(T::LANES) * T::LANES;
        let mut squares = vec![T::ZERO; padded];
        let body = match rows.stored() {
            StoredRows::Dense { cols, values } if matches!(kernel, Kernel::Precomputed) => {
                let of = |i: &usize| values[i * cols..(i + 1) * cols].iter().map(|v| T::narrow(*v));
                Body::Table(ids.iter().flat_map(of).collect())
            }
            StoredRows::Dense { cols, values } => {
                let mut panels = vec![T::ZERO; padded * width];
                for (at, i) in ids.iter().enumerate() {
                    let (panel, lane) = (at / T::LANES * T::LANES * width, at % T::LANES);
                    T::pack(&values[i * cols..(i + 1) * cols], &mut panels[panel + lane..], T::LANES, &mut squares[at]);
                }
                Body::Panels(panels)
            }
            StoredRows::Sparse { starts: s, indices: c, values: v, .. } => {
                let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
                for (at, i) in ids.iter().enumerate() {
                    indices.extend_from_slice(&c[s[*i]..s[i + 1]]);
                    values.extend_from_slice(&v[s[*i]..s[i + 1]]);
                    starts.push(indices.len());
                    squares[at] = T::narrow(rows.square(*i));
                }
                Body::Sparse { starts, indices, values }
            }
        };
        let centre_parts = ids.iter().map(|i| rows.centre_part(*i)).collect();
        TargetRows { count, padded, width, body, squares, centre_parts }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Values in a row of a block: the number of rows here, filled up to whole panels.
    pub fn padded(&self) -> usize {
        self.padded
    }
}

/// Rows packed to be the left side of products.
#[derive(Debug)]
pub(super) struct Sources<T> {
    pub(super) strips: Vec<T>,
    pub(super) squares: Vec<T>,
}

impl<T: Real> Sources<T> {
    pub(super) fn new(rows: &KernelRows, ids: &[usize]) -> Sources<T> {
        let width = rows.cols().max(1);
        let mut squares = vec![T::ZERO; ids.len()];
        let StoredRows::Dense { cols, values } = rows.stored() else {
            ids.iter().zip(&mut squares).for_each(|(i, s)| *s = T::narrow(rows.square(*i)));
            return Sources { strips: Vec::new(), squares };
        };
        let mut strips = vec![T::ZERO; ids.len().div_ceil(STRIP) * STRIP * width];
        for (at, i) in ids.iter().enumerate() {
            let (strip, lane) = (at / STRIP * STRIP * width, at % STRIP);
            T::pack(&values[i * cols..(i + 1) * cols], &mut strips[strip + lane..], STRIP, &mut squares[at]);
        }
        Sources { strips, squares }
    }
}

/// `out[r][t] = K(row ids[r], target t)`; every row of `out` has [`TargetRows::padded`] values, those beyond the targets
/// without meaning.
pub fn kernel_rows<T: Real>(
    kernel: &Kernel,
    rows: &KernelRows,
    ids: &[usize],
    targets: &TargetRows<T>,
    out: &mut [&mut [T]],
) {
    if let Body::Table(values) = &targets.body {
        let cols = targets.width;
        for (id, out) in ids.iter().zip(out) {
            out.iter_mut().zip(values.chunks_exact(cols)).for_each(|(o, row)| *o = row[*id]);
        }
        return;
    }
    if let Body::Sparse { .. } = &targets.body {
        return sparse_rows(kernel, rows, ids, targets, out);
    }
    let sources = Sources::<T>::new(rows, ids);
    dense_rows(kernel, &sources.strips, &sources.squares, targets, out);
}

/// K of some rows with each other, as doubles rounded to precision T; `stride` values a row. Cheaper than to select the
/// values from long rows.
pub fn kernel_table<T: Real>(kernel: &Kernel, rows: &KernelRows, ids: &[usize], stride: usize, out: &mut [f64]) {
    if matches!(kernel, Kernel::Precomputed) {
        for (i, out) in ids.iter().zip(out.chunks_exact_mut(stride)) {
            ids.iter().zip(out).for_each(|(j, o)| *o = T::narrow(rows.entry(*i, *j)).widen());
        }
        return;
    }
    let targets = TargetRows::<T>::new(kernel, rows, ids);
    out.par_chunks_mut(TABLE_ROWS * stride).zip(ids.par_chunks(TABLE_ROWS)).for_each(|(out, ids)| {
        let mut values = vec![T::ZERO; ids.len() * targets.padded()];
        let mut part: Vec<&mut [T]> = values.chunks_exact_mut(targets.padded()).collect();
        kernel_rows(kernel, rows, ids, &targets, &mut part);
        for (out, values) in out.chunks_exact_mut(stride).zip(part) {
            out.iter_mut().zip(&values[..targets.count]).for_each(|(o, v)| *o = v.widen());
        }
    });
}

/// Strips against all panels, a chunk of columns at a time.
pub(super) fn dense_rows<T: Real>(
    kernel: &Kernel,
    strips: &[T],
    own: &[T],
    targets: &TargetRows<T>,
    out: &mut [&mut [T]],
) {
    let (Body::Panels(panels), width) = (&targets.body, targets.width) else { return };
    let mut start = 0;
    while start < targets.padded {
        let end = (start + CHUNK).min(targets.padded);
        let mut part: Vec<&mut [T]> = out.iter_mut().map(|row| &mut row[start..end]).collect();
        T::multiply(strips, &panels[start * width..end * width], width, &mut part);
        for (row, own) in part.iter_mut().zip(own) {
            T::finish(kernel, row, *own, &targets.squares[start..end]);
        }
        start = end;
    }
}

/// Eight rows at a time, dense by column and interleaved: one entry of a target multiplies all eight.
fn sparse_rows<T: Real>(
    kernel: &Kernel,
    rows: &KernelRows,
    ids: &[usize],
    targets: &TargetRows<T>,
    out: &mut [&mut [T]],
) {
    let (Body::Sparse { starts, indices, values }, StoredRows::Sparse { cols, starts: s, indices: c, values: v }) =
        (&targets.body, rows.stored())
    else {
        return;
    };
    let mut spread = vec![0.0f64; cols * SCATTERED];
    for (ids, out) in ids.chunks(SCATTERED).zip(out.chunks_mut(SCATTERED)) {
        for (lane, i) in ids.iter().enumerate() {
            (s[*i]..s[i + 1]).for_each(|e| spread[c[e] as usize * SCATTERED + lane] = v[e]);
        }
        for t in 0..targets.count {
            let mut sums = [0.0f64; SCATTERED];
            for e in starts[t]..starts[t + 1] {
                let (at, value) = (indices[e] as usize * SCATTERED, values[e]);
                for (sum, x) in sums.iter_mut().zip(&spread[at..at + SCATTERED]) {
                    *sum = value.mul_add(*x, *sum);
                }
            }
            for ((sum, i), out) in sums.iter().zip(ids).zip(out.iter_mut()) {
                let moved = if kernel.is_shift_invariant() {
                    *sum
                } else {
                    sum - rows.centre_part(*i) - targets.centre_parts[t] + rows.centre_square()
                };
                out[t] = T::narrow(moved);
            }
        }
        for (i, out) in ids.iter().zip(out.iter_mut()) {
            (s[*i]..s[i + 1]).for_each(|e| {
                let at = c[e] as usize * SCATTERED;
                spread[at..at + SCATTERED].fill(0.0);
            });
            let own = T::narrow(rows.square(*i));
            T::finish(kernel, &mut out[..targets.count], own, &targets.squares[..targets.count]);
        }
    }
}

/// `Σ_r c_r K(x_r, ·)` for some rows and one or several columns of coefficients: what a kernel machine computes.
#[derive(Debug)]
pub struct KernelSum<'a> {
    kernel: Kernel,
    rows: &'a KernelRows,
    ids: Vec<usize>,
    sources: Sources<f64>,
    /// Row within its group and coefficient, group by group and score by score: a row of two of many classes has few scores.
    terms: Vec<(usize, f64)>,
    /// Where the terms of a group and a score begin.
    starts: Vec<usize>,
    scores: usize,
}

impl<'a> KernelSum<'a> {
    /// A sum over the rows `ids` with `scores` coefficients each, row by row.
    pub fn new(
        kernel: &Kernel,
        rows: &'a KernelRows,
        ids: Vec<usize>,
        coefficients: &[f64],
        scores: usize,
    ) -> KernelSum<'a> {
        let sources = match kernel {
            Kernel::Precomputed => Sources { strips: Vec::new(), squares: Vec::new() },
            _ => Sources::new(rows, &ids),
        };
        let (mut terms, mut starts) = (Vec::with_capacity(coefficients.len()), vec![0]);
        for group in coefficients.chunks(GROUP * scores.max(1)) {
            for o in 0..scores {
                let own = group.chunks_exact(scores).map(|c| c[o]).enumerate();
                terms.extend(own.filter(|(_, c)| *c != 0.0));
                starts.push(terms.len());
            }
        }
        KernelSum { kernel: *kernel, rows, ids, sources, terms, starts, scores }
    }

    /// Adds the sums at all targets to `out`, target by target.
    pub fn add_to(&self, targets: &TargetRows<f64>, out: &mut [f64]) {
        let (stride, k) = (targets.padded(), self.scores);
        let mut tile = vec![0.0; GROUP.min(self.ids.len()) * stride];
        let mut sums = vec![0.0; k * stride];
        for (g, ids) in self.ids.chunks(GROUP).enumerate() {
            let first = g * GROUP;
            let mut part: Vec<&mut [f64]> = tile.chunks_exact_mut(stride.max(1)).take(ids.len()).collect();
            match &targets.body {
                Body::Panels(_) => {
                    let width = targets.width;
                    let strips = &self.sources.strips[first * width..];
                    let strips = &strips[..ids.len().div_ceil(STRIP) * STRIP * width];
                    let own = &self.sources.squares[first..first + ids.len()];
                    dense_rows(&self.kernel, strips, own, targets, &mut part);
                }
                _ => kernel_rows(&self.kernel, self.rows, ids, targets, &mut part),
            }
            for o in 0..k {
                let sums = &mut sums[o * stride..(o + 1) * stride];
                combine(&tile, &self.terms[self.starts[g * k + o]..self.starts[g * k + o + 1]], sums);
            }
        }
        for (t, out) in out.chunks_exact_mut(k).enumerate() {
            out.iter_mut().enumerate().for_each(|(o, out)| *out += sums[o * stride + t]);
        }
    }
}

crate::numeric::vectorised! {
    /// `sums += Σ c·tile[r]` over the terms (r, c), four at a time.
    pub(super) fn combine(tile: &[f64], terms: &[(usize, f64)], sums: &mut [f64]) {
        let n = sums.len();
        let row = |r: usize| &tile[r * n..(r + 1) * n];
        let fours = terms.chunks_exact(4);
        let rest = fours.remainder();
        for four in fours {
            let [(i0, c0), (i1, c1), (i2, c2), (i3, c3)] = [four[0], four[1], four[2], four[3]];
            let (r0, r1, r2, r3) = (row(i0), row(i1), row(i2), row(i3));
            for t in 0..n {
                let low = r1[t].mul_add(c1, r0[t] * c0);
                let high = r3[t].mul_add(c3, r2[t] * c2);
                sums[t] += low + high;
            }
        }
        for (i, c) in rest {
            for (s, r) in sums.iter_mut().zip(row(*i)) {
                *s = r.mul_add(*c, *s);
            }
        }
    }
}
