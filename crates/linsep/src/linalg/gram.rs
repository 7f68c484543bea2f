//! The matrix products of a pass over the data, on tiles of rows that fit the cache.

use super::dot::fused_dot;
use super::narrow::{NARROW, multiply_narrow};
use crate::numeric::vectorised;
use faer::{Accum, MatMut, MatRef, Par};

/// `out[i] = W xᵢ` for row-major rows of `d` columns and row-major `weights` of `k` rows.
pub fn multiply_rows(rows: &[f64], weights: &[f64], d: usize, k: usize, out: &mut [f64]) {
    if d == 0 {
        out.fill(0.0);
        return;
    }
    let n = rows.len() / d;
    match k {
        1 => return multiply_rows_one(rows, weights, out),
        2..=NARROW => return multiply_narrow(rows, None, weights, d, out),
        _ => {}
    }
    let dst = MatMut::from_row_major_slice_mut(out, n, k);
    let lhs = MatRef::from_row_major_slice(rows, n, d);
    let rhs = MatRef::from_column_major_slice(weights, d, k);
    faer::linalg::matmul::matmul(dst, Accum::Replace, lhs, rhs, 1.0, Par::Seq);
}

/// `out[i] = W(xᵢ − c)` for row-major rows that are read once, straight from where they lie.
pub fn multiply_rows_about(rows: &[f64], centre: &[f64], weights: &[f64], k: usize, out: &mut [f64]) {
    let d = centre.len();
    if d == 0 {
        out.fill(0.0);
    } else if k <= NARROW {
        multiply_narrow(rows, Some(centre), weights, d, out);
    } else {
        let centred: Vec<f64> = rows.chunks_exact(d).flat_map(|x| x.iter().zip(centre).map(|(x, c)| x - c)).collect();
        multiply_rows(&centred, weights, d, k, out);
    }
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
    fn multiply_rows_one(rows: &[f64], weights: &[f64], out: &mut [f64]) {
        for (x, z) in rows.chunks_exact(weights.len()).zip(out) {
            *z = fused_dot(x, weights);
        }
    }

    fn weighted_rows_sum_narrow(rows: &[f64], residual: &[f64], d: usize, k: usize, sums: &mut [f64]) {
        // Four rows at a time: a sum is loaded and stored once for all of them.
        let (fours, four_residuals) = (rows.chunks_exact(4 * d), residual.chunks_exact(4 * k));
        let (rest, rest_residuals) = (fours.remainder(), four_residuals.remainder());
        for (x, r) in fours.zip(four_residuals) {
            let (x0, x1, x2, x3) = (&x[..d], &x[d..2 * d], &x[2 * d..3 * d], &x[3 * d..4 * d]);
            for (c, sum) in sums.chunks_exact_mut(d).enumerate() {
                let (r0, r1, r2, r3) = (r[c], r[k + c], r[2 * k + c], r[3 * k + c]);
                for j in 0..d {
                    let pair = x0[j].mul_add(r0, sum[j]);
                    let other = x2[j] * r2;
                    sum[j] = x1[j].mul_add(r1, pair) + x3[j].mul_add(r3, other);
                }
            }
        }
        for (x, r) in rest.chunks_exact(d).zip(rest_residuals.chunks_exact(k)) {
            for (sum, r) in sums.chunks_exact_mut(d).zip(r) {
                for (s, x) in sum.iter_mut().zip(x) {
                    *s = x.mul_add(*r, *s);
                }
            }
        }
    }
}
