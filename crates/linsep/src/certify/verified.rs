//! A factor of a symmetric matrix that proves it positive definite.
//!
//! With T near the inverse of the Cholesky factor, `G = TᵀHT` is near the identity; if `‖G − I‖ ≤ ε < 1`, rounding and the
//! errors of the entries of H included, then T and H are nonsingular, and `‖r‖_{H⁻¹} ≤ ‖Tᵀr‖/√(1−ε)` for every r.

use crate::linalg::Square;
use crate::numeric::rounding_bound;

/// `‖G − I‖` must stay below this: in theory 1 suffices, and bounds are then inflated by at most √2.
const MOST: f64 = 0.5;
/// Far more than the roundings of sums of one positive term per column or class, up to some thousand, and of a square
/// root.
const ROUNDED_UP: f64 = 1.0 + 1e-12;
/// The same for the sum over all pairs of columns.
const NORM_UP: f64 = 1.0 + 1e-9;

/// T with its proof.
pub(super) struct VerifiedFactor {
    n: usize,
    /// Row by row, upper triangular, in the units of H.
    t: Vec<f64>,
    /// `1/√(1−ε)`.
    inflation: f64,
}

impl VerifiedFactor {
    /// `None` where nothing is proved. `error(i, j)` bounds how far an entry may be from the exact one.
    pub(super) fn new(h: &Square, error: impl Fn(usize, usize) -> f64) -> Option<VerifiedFactor> {
        let n = h.n();
        let units: Vec<f64> = (0..n).map(|i| h.get(i, i).sqrt().recip()).collect();
        if units.iter().any(|u| !(u.is_finite() && *u > 0.0)) {
            return None;
        }
        let scaled = |i: usize, j: usize| h.get(i, j) * units[i] * units[j];
        let lower = cholesky(n, scaled)?;
        let t = inverse_transposed(n, &lower);
        // Entries of TᵀĤT by way of ĤT, and the sizes that its roundings are relative to.
        let (mut product, mut sizes) = (vec![0.0; n * n], vec![0.0; n * n]);
        let rounding = rounding_bound(2 * n + 8);
        for i in 0..n {
            for j in 0..n {
                let (mut sum, mut size) = (0.0, 0.0);
                for k in 0..=j {
                    sum += scaled(i, k) * t[k * n + j];
                    let uncertain = rounding * scaled(i, k).abs() + error(i, k) * units[i] * units[k];
                    size += uncertain * t[k * n + j].abs();
                }
                (product[i * n + j], sizes[i * n + j]) = (sum, size);
            }
        }
        let mut off = 0.0;
        for i in 0..n {
            for j in 0..n {
                let (mut sum, mut size) = (0.0, 0.0);
                for k in 0..=i {
                    sum += t[k * n + i] * product[k * n + j];
                    size += t[k * n + i].abs() * (sizes[k * n + j] + rounding * product[k * n + j].abs());
                }
                let identity = if i == j { 1.0 } else { 0.0 };
                off += ((sum - identity).abs() + size + rounding).powi(2);
            }
        }
        let epsilon = off.sqrt() * NORM_UP;
        if !(epsilon < MOST) {
            return None;
        }
        let t = (0..n * n).map(|at| t[at] * units[at / n]).collect();
        Some(VerifiedFactor { n, t, inflation: (1.0 - epsilon).sqrt().recip() * ROUNDED_UP })
    }

    /// An upper bound on `‖r‖_{H⁻¹}`, for all r within `error` of the given one.
    pub(super) fn norm(&self, r: &[f64], error: &[f64]) -> f64 {
        let n = self.n;
        let rounding = rounding_bound(n + 4);
        let entry = |j: usize| {
            let (mut sum, mut size) = (0.0, 0.0);
            for i in 0..=j {
                sum += self.t[i * n + j] * r[i];
                size += self.t[i * n + j].abs() * (error[i] + rounding * r[i].abs());
            }
            sum.abs() + size
        };
        (0..n).map(|j| entry(j).powi(2)).sum::<f64>().sqrt() * self.inflation * ROUNDED_UP
    }

    /// An upper bound on `‖e_i‖_{H⁻¹}`.
    pub(super) fn unit_norm(&self, i: usize) -> f64 {
        let row = &self.t[i * self.n..][..self.n];
        row.iter().map(|t| t * t).sum::<f64>().sqrt() * self.inflation * ROUNDED_UP
    }

    /// `T Tᵀ r`, near `H⁻¹r`.
    pub(super) fn solve(&self, r: &[f64]) -> Vec<f64> {
        let n = self.n;
        let along: Vec<f64> = (0..n).map(|j| (0..=j).map(|i| self.t[i * n + j] * r[i]).sum()).collect();
        (0..n).map(|i| (i..n).map(|j| self.t[i * n + j] * along[j]).sum()).collect()
    }
}

/// The lower factor, row by row; `None` where a pivot is not positive.
fn cholesky(n: usize, entry: impl Fn(usize, usize) -> f64) -> Option<Vec<f64>> {
    let mut lower = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let known: f64 = (0..j).map(|k| lower[i * n + k] * lower[j * n + k]).sum();
            let left = entry(i, j) - known;
            if i == j {
                if !(left > 0.0) {
                    return None;
                }
                lower[i * n + i] = left.sqrt();
            } else {
                lower[i * n + j] = left / lower[j * n + j];
            }
        }
    }
    Some(lower)
}

/// `L⁻ᵀ`, row by row.
fn inverse_transposed(n: usize, lower: &[f64]) -> Vec<f64> {
    let mut t = vec![0.0; n * n];
    for column in 0..n {
        // Column `column` of L⁻¹ is row `column` of its transpose.
        for i in column..n {
            let unit = if i == column { 1.0 } else { 0.0 };
            let known: f64 = (column..i).map(|k| lower[i * n + k] * t[column * n + k]).sum();
            t[column * n + i] = (unit - known) / lower[i * n + i];
        }
    }
    t
}

#[cfg(test)]
mod tests {
    use super::VerifiedFactor;
    use crate::linalg::Square;

    #[test]
    fn norms_bound_those_of_the_inverse() {
        // H = [[2, 1], [1, 3]], H⁻¹ = [[3, −1], [−1, 2]]/5.
        let h = Square::from_lower(2, |i, j| [[2.0, 1.0], [1.0, 3.0]][i][j]);
        let factor = VerifiedFactor::new(&h, |_, _| 0.0).unwrap();
        for (r, square) in [([1.0, 0.0], 0.6), ([0.0, 1.0], 0.4), ([1.0, 2.0], 1.4)] {
            let norm = factor.norm(&r, &[0.0, 0.0]);
            assert!(norm * norm >= square && norm * norm < square * (1.0 + 1e-9), "{norm}");
            assert!(factor.norm(&r, &[0.1, 0.0]) > norm);
        }
        assert!((factor.unit_norm(1).powi(2) - 0.4).abs() < 1e-9);
        let solved = factor.solve(&[5.0, 5.0]);
        assert!((solved[0] - 2.0).abs() < 1e-14 && (solved[1] - 1.0).abs() < 1e-14);
    }

    #[test]
    fn nothing_is_proved_of_what_may_be_singular() {
        let near = |gap: f64| Square::from_lower(2, |i, j| if i == j { 1.0 } else { 1.0 - gap });
        assert!(VerifiedFactor::new(&near(1e-10), |_, _| 0.0).is_some());
        assert!(VerifiedFactor::new(&near(1e-10), |_, _| 1e-10).is_none());
        assert!(VerifiedFactor::new(&near(0.0), |_, _| 0.0).is_none());
        assert!(VerifiedFactor::new(&near(f64::NAN), |_, _| 0.0).is_none());
    }
}
