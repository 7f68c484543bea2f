//! Condition indices of the columns, with the shares of variance that belong to each (Belsley, Kuh and Welsch, *Regression
//! Diagnostics*, 1980).
//!
//! The columns as they are, the intercept among them, are scaled to length one; σ₁ ≥ σ₂ ≥ … are their singular values. A
//! large index σ₁/σ_k is a combination of the columns that is nearly zero, and the columns in it are those of whose variance a
//! large share belongs to it. The triangular factor of the rows is summed in the units of the likelihood and its singular
//! values are found by one-sided Jacobi rotations, so that no products of columns lose digits.

use super::likelihood::LogLikelihood;
use crate::design::Pass;
use crate::error::Result;
use crate::linalg::{dot, triangular_factor};
use crate::watch::Watch;

/// Cosine of two columns that counts as none.
const ORTHOGONAL: f64 = 1e-15;
/// Sweeps over all pairs of columns; some eight suffice. Chosen, not measured.
const SWEEPS: usize = 60;

/// One combination of the columns.
#[derive(Debug, Clone, PartialEq)]
pub struct ConditionIndex {
    /// The largest singular value over this one.
    pub index: f64,
    /// The singular value of the scaled columns.
    pub singular_value: f64,
    /// The share of the variance of each coefficient that belongs to it, in the order of [`Collinearity::columns`].
    pub shares: Vec<f64>,
}

/// How nearly columns are combinations of each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Collinearity {
    /// The columns of the matrix; `None` is the intercept.
    pub columns: Vec<Option<usize>>,
    /// By index, the smallest (one) first.
    pub indices: Vec<ConditionIndex>,
}

/// The indices of the columns that have coefficients.
pub(super) fn collinearity(likelihood: &LogLikelihood<'_>, watch: &Watch) -> Result<Collinearity> {
    let width = likelihood.width();
    let intercept = likelihood.has_intercept().then_some(None);
    let columns = intercept.into_iter().chain(likelihood.columns().iter().copied().map(Some)).collect();
    let mut scaled = in_columns(likelihood, &triangle(likelihood, watch)?);
    for column in scaled.chunks_exact_mut(width.max(1)) {
        let length = dot(column, column).sqrt();
        column.iter_mut().for_each(|v| *v /= length);
    }
    let vectors = orthogonalise(&mut scaled, width);
    let values: Vec<f64> = scaled.chunks_exact(width.max(1)).map(|column| dot(column, column).sqrt()).collect();
    let part = |k: usize, j: usize| (vectors[k * width + j] / values[k]).powi(2);
    let whole: Vec<f64> = (0..width).map(|j| crate::numeric::sum((0..width).map(|k| part(k, j)))).collect();
    let mut order: Vec<usize> = (0..width).collect();
    order.sort_by(|a, b| values[*b].total_cmp(&values[*a]));
    let largest = order.first().map_or(1.0, |k| values[*k]);
    let index = |k: &usize| ConditionIndex {
        index: largest / values[*k],
        singular_value: values[*k],
        shares: (0..width).map(|j| part(*k, j) / whole[j]).collect(),
    };
    Ok(Collinearity { columns, indices: order.iter().map(index).collect() })
}

/// The triangular factor of the rows in the units of the likelihood, each as often as it weighs; column-major.
fn triangle(likelihood: &LogLikelihood<'_>, watch: &Watch) -> Result<Vec<f64>> {
    let width = likelihood.width();
    let stacked = |r: &[f64], rows: usize, entry: &dyn Fn(usize, usize) -> f64| {
        let mut all = Vec::with_capacity(width * (width + rows));
        for j in 0..width {
            all.extend_from_slice(&r[j * width..(j + 1) * width]);
            all.extend((0..rows).map(|i| entry(i, j)));
        }
        triangular_factor(width + rows, width, &mut all)
    };
    let found = Pass::new(likelihood.training().design, likelihood.units()).partials_of(width * width).reduce(
        watch,
        (0, &mut []),
        || (vec![0.0; width * width], Vec::new()),
        |(r, tile), range, rows, _| {
            likelihood.fill(rows, range.len(), tile);
            let roots: Vec<f64> = range.clone().map(|row| likelihood.weight(row).sqrt()).collect();
            *r = stacked(r, range.len(), &|i, j| roots[i] * tile[i * width + j]);
            Ok(())
        },
        |(r, _), (other, _)| *r = stacked(r, width, &|i, j| other[j * width + i]),
    )?;
    Ok(found.0)
}

/// The factor of the columns as they are: `x = centre + scale·x̂`.
fn in_columns(likelihood: &LogLikelihood<'_>, r: &[f64]) -> Vec<f64> {
    let (width, first) = (likelihood.width(), usize::from(likelihood.has_intercept()));
    let (centre, scale) = (likelihood.units().centre(), likelihood.units().scale());
    let mut out = r.to_vec();
    for (at, j) in likelihood.columns().iter().enumerate() {
        let column = &mut out[(first + at) * width..(first + at + 1) * width];
        for (i, v) in column.iter_mut().enumerate() {
            *v = scale[*j] * *v + if first == 1 { centre[*j] * r[i] } else { 0.0 };
        }
    }
    out
}

/// Rotates columns until every two are orthogonal; returns the rotation V, column by column, with `AV` what is left in `a`.
/// (Hestenes 1958; Demmel and Veselić 1992 on its relative accuracy.)
fn orthogonalise(a: &mut [f64], n: usize) -> Vec<f64> {
    let mut v: Vec<f64> = (0..n * n).map(|at| f64::from(u8::from(at / n == at % n))).collect();
    for _ in 0..SWEEPS {
        let mut rotated = false;
        for k in 1..n {
            for l in 0..k {
                let (x, y) = (&a[l * n..(l + 1) * n], &a[k * n..(k + 1) * n]);
                let (xx, yy, xy) = (dot(x, x), dot(y, y), dot(x, y));
                if xy.abs() <= ORTHOGONAL * (xx * yy).sqrt() {
                    continue;
                }
                rotated = true;
                let zeta = (yy - xx) / (2.0 * xy);
                let tangent = zeta.signum() / (zeta.abs() + zeta.hypot(1.0));
                let cosine = 1.0 / tangent.hypot(1.0);
                for matrix in [&mut *a, &mut v] {
                    let (left, right) = matrix.split_at_mut(k * n);
                    for (x, y) in left[l * n..(l + 1) * n].iter_mut().zip(&mut right[..n]) {
                        (*x, *y) = (cosine * (*x - tangent * *y), cosine * (tangent * *x + *y));
                    }
                }
            }
        }
        if !rotated {
            break;
        }
    }
    v
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotations_find_tiny_singular_values() {
        // [1 1; 0 e] has singular values about √2 and e/√2.
        let e = 1e-12;
        let mut a = vec![1.0, 0.0, 1.0, e];
        let v = orthogonalise(&mut a, 2);
        let mut values: Vec<f64> = a.chunks_exact(2).map(|c| dot(c, c).sqrt()).collect();
        values.sort_by(f64::total_cmp);
        assert!((values[0] / (e / 2f64.sqrt()) - 1.0).abs() < 1e-9, "{values:?}");
        assert!((values[1] / 2f64.sqrt() - 1.0).abs() < 1e-14, "{values:?}");
        assert!((dot(&v[..2], &v[..2]) - 1.0).abs() < 1e-14 && dot(&v[..2], &v[2..]).abs() < 1e-14);
    }
}
