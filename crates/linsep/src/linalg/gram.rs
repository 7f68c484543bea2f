//! The matrix products of a pass over the data, on tiles of rows that fit the cache.

use super::Square;
use crate::numeric::vectorised;
use faer::linalg::matmul::triangular::{BlockStructure, matmul as triangular_matmul};
use faer::{Accum, MatMut, MatRef, Par};

/// Up to so many scores a row the loops here beat a general matrix product, which would pack its operands first.
const NARROW: usize = 16;

/// `a += leftᵀ right` on the lower triangle, for two tiles of `d`-column rows.
///
/// With `left` the tile whose rows were scaled by their curvature this is the weighted Gram `Σ hᵢ xᵢ xᵢᵀ`.
pub fn gram_update(a: &mut Square, left: &[f64], right: &[f64]) {
    let d = a.n();
    if d == 0 || left.is_empty() {
        return;
    }
    let rows = left.len() / d;
    let dst = MatMut::from_column_major_slice_mut(a.as_mut_slice(), d, d);
    // A row-major tile is its own transpose in column-major order.
    let lhs = MatRef::from_column_major_slice(left, d, rows);
    let rhs = MatRef::from_row_major_slice(right, rows, d);
    triangular_matmul(
        dst,
        BlockStructure::TriangularLower,
        Accum::Add,
        lhs,
        BlockStructure::Rectangular,
        rhs,
        BlockStructure::Rectangular,
        1.0,
        Par::Seq,
    );
}

/// `out[i] = W xᵢ` for row-major rows of `d` columns and row-major `weights` of `k` rows.
pub fn multiply_rows(rows: &[f64], weights: &[f64], d: usize, k: usize, out: &mut [f64]) {
    if d == 0 {
        out.fill(0.0);
        return;
    }
    let n = rows.len() / d;
    if k <= NARROW {
        return multiply_rows_narrow(rows, weights, d, k, out);
    }
    let dst = MatMut::from_row_major_slice_mut(out, n, k);
    let lhs = MatRef::from_row_major_slice(rows, n, d);
    let rhs = MatRef::from_column_major_slice(weights, d, k);
    faer::linalg::matmul::matmul(dst, Accum::Replace, lhs, rhs, 1.0, Par::Seq);
}

/// `sums[c] += Σᵢ residual[i, c] xᵢ` for row-major rows of `d` columns and `k` residuals a row.
pub fn weighted_rows_sum(rows: &[f64], residual: &[f64], d: usize, k: usize, sums: &mut [f64]) {
    if d == 0 {
        return;
    }
    if k <= NARROW {
        return weighted_rows_sum_narrow(rows, residual, d, k, sums);
    }
    let n = rows.len() / d;
    let dst = MatMut::from_column_major_slice_mut(sums, d, k);
    let lhs = MatRef::from_column_major_slice(rows, d, n);
    let rhs = MatRef::from_row_major_slice(residual, n, k);
    faer::linalg::matmul::matmul(dst, Accum::Add, lhs, rhs, 1.0, Par::Seq);
}

vectorised! {
    /// Two rows and up to four scores at a time: each weight is loaded once for both rows, all sums stay in registers.
    fn multiply_rows_narrow(rows: &[f64], weights: &[f64], d: usize, k: usize, out: &mut [f64]) {
        let mut pairs = rows.chunks_exact(2 * d);
        let mut outs = out.chunks_exact_mut(2 * k);
        for (x, z) in pairs.by_ref().zip(outs.by_ref()) {
            let ((a, b), (za, zb)) = (x.split_at(d), z.split_at_mut(k));
            multiply_pair(a, b, weights, d, za, zb);
        }
        let (x, z) = (pairs.remainder(), outs.into_remainder());
        if !x.is_empty() {
            let mut unused = [0.0; NARROW];
            multiply_pair(x, x, weights, d, z, &mut unused[..k]);
        }
    }

    fn weighted_rows_sum_narrow(rows: &[f64], residual: &[f64], d: usize, k: usize, sums: &mut [f64]) {
        for (x, r) in rows.chunks_exact(d).zip(residual.chunks_exact(k)) {
            for (sum, r) in sums.chunks_exact_mut(d).zip(r) {
                for (s, x) in sum.iter_mut().zip(x) {
                    *s = x.mul_add(*r, *s);
                }
            }
        }
    }
}

#[inline(always)]
fn multiply_pair(a: &[f64], b: &[f64], weights: &[f64], d: usize, za: &mut [f64], zb: &mut [f64]) {
    if let ([za], [zb]) = (&mut *za, &mut *zb) {
        (*za, *zb) = (dot(a, weights), dot(b, weights));
        return;
    }
    for ((w, za), zb) in weights.chunks(4 * d).zip(za.chunks_mut(4)).zip(zb.chunks_mut(4)) {
        match za.len() {
            4 => dots::<4>(a, b, w, d, za, zb),
            3 => dots::<3>(a, b, w, d, za, zb),
            2 => dots::<2>(a, b, w, d, za, zb),
            _ => dots::<1>(a, b, w, d, za, zb),
        }
    }
}

/// The K dot products of two rows in four lanes each.
#[inline(always)]
fn dots<const K: usize>(a: &[f64], b: &[f64], weights: &[f64], d: usize, za: &mut [f64], zb: &mut [f64]) {
    let w: [&[f64]; K] = std::array::from_fn(|k| &weights[k * d..(k + 1) * d]);
    let (mut sa, mut sb) = ([[0.0f64; 4]; K], [[0.0f64; 4]; K]);
    let whole = d / 4 * 4;
    for j in (0..whole).step_by(4) {
        let (xa, xb) = (&a[j..j + 4], &b[j..j + 4]);
        for k in 0..K {
            let w = &w[k][j..j + 4];
            for lane in 0..4 {
                sa[k][lane] = xa[lane].mul_add(w[lane], sa[k][lane]);
                sb[k][lane] = xb[lane].mul_add(w[lane], sb[k][lane]);
            }
        }
    }
    for k in 0..K {
        za[k] = (sa[k][0] + sa[k][2]) + (sa[k][1] + sa[k][3]);
        zb[k] = (sb[k][0] + sb[k][2]) + (sb[k][1] + sb[k][3]);
        for j in whole..d {
            za[k] = a[j].mul_add(w[k][j], za[k]);
            zb[k] = b[j].mul_add(w[k][j], zb[k]);
        }
    }
}

/// A dot product in eight lanes: a fixed order that vectorises.
#[inline(always)]
pub(crate) fn dot(x: &[f64], w: &[f64]) -> f64 {
    let mut lanes = [0.0f64; 8];
    let (xs, ws) = (x.chunks_exact(8), w.chunks_exact(8));
    let (x_rest, w_rest) = (xs.remainder(), ws.remainder());
    for (x, w) in xs.zip(ws) {
        for i in 0..8 {
            lanes[i] = x[i].mul_add(w[i], lanes[i]);
        }
    }
    let mut total = (lanes[0] + lanes[4]) + (lanes[1] + lanes[5]) + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
    for (x, w) in x_rest.iter().zip(w_rest) {
        total = x.mul_add(*w, total);
    }
    total
}
