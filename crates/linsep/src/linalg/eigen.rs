//! `A = V Λ Vᵀ` of a symmetric matrix.

use super::Square;
use super::jacobi::jacobi;
use faer::{Mat, Side};

/// Columns whose largest numbers differ by more than this factor have other units: the small eigenvalues would be lost in the
/// rounding of the large ones. Chosen: below it they keep eleven digits.
const GRADED: f64 = 1e4;
/// Rotations take about ten times as long as the tridiagonal method; with more columns than this, seconds. Chosen.
const MOST_ROTATED: usize = 256;

/// Eigenvalues in rising order with orthonormal eigenvectors.
///
/// ```
/// use linsep::linalg::{Eigen, Square};
/// let a = Square::from_lower(2, |i, j| if i == j { 0.0 } else { 2.0 });
/// let eigen = Eigen::of(&a).expect("finite numbers");
/// assert!((eigen.values()[0] + 2.0).abs() < 1e-15 && (eigen.values()[1] - 2.0).abs() < 1e-15);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Eigen {
    values: Vec<f64>,
    /// Eigenvector by eigenvector.
    vectors: Vec<f64>,
    resolution: f64,
}

impl Eigen {
    /// The decomposition; the error of each eigenvalue is about `n·ε` of the largest, and of columns in very different
    /// units about `n·ε` of the terms that it is the sum of. `None` where a number is not finite or the iteration does not
    /// end.
    pub fn of(a: &Square) -> Option<Eigen> {
        let n = a.n();
        if n == 0 {
            return Some(Eigen { values: Vec::new(), vectors: Vec::new(), resolution: 0.0 });
        }
        if (0..n).any(|j| (j..n).any(|i| !a.get(i, j).is_finite())) {
            return None;
        }
        if n <= MOST_ROTATED
            && is_graded(a)
            && let Some((values, vectors)) = jacobi(a)
        {
            return Some(Eigen { values, vectors, resolution: 0.0 });
        }
        let matrix = Mat::from_fn(n, n, |i, j| a.get(i, j));
        let found = matrix.self_adjoint_eigen(Side::Lower).ok()?;
        let (s, u) = (found.S().column_vector(), found.U());
        let values: Vec<f64> = (0..n).map(|k| s[k]).collect();
        let vectors: Vec<f64> = (0..n).flat_map(|k| (0..n).map(move |i| u[(i, k)])).collect();
        values.iter().chain(&vectors).all(|v| v.is_finite()).then(|| {
            let largest = values.iter().fold(0.0f64, |m, v| m.max(v.abs()));
            Eigen { values, vectors, resolution: n as f64 * f64::EPSILON * largest }
        })
    }

    /// What eigenvalues may be off by whatever their size: zero where each has the digits that its own terms leave it.
    pub fn resolution(&self) -> f64 {
        self.resolution
    }

    /// The eigenvalues, rising.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The eigenvector of one eigenvalue.
    pub fn vector(&self, k: usize) -> &[f64] {
        let n = self.values.len();
        &self.vectors[k * n..(k + 1) * n]
    }

    /// `Vᵀ x`.
    pub fn rotate(&self, x: &[f64]) -> Vec<f64> {
        let dot = |v: &[f64]| v.iter().zip(x).map(|(v, x)| v * x).sum();
        (0..self.values.len()).map(|k| dot(self.vector(k))).collect()
    }

    /// `V y`.
    pub fn rotate_back(&self, y: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; y.len()];
        for (k, y) in y.iter().enumerate() {
            out.iter_mut().zip(self.vector(k)).for_each(|(o, v)| *o += y * v);
        }
        out
    }
}

/// Whether columns have very different units; columns of zeros have any.
fn is_graded(a: &Square) -> bool {
    let n = a.n();
    let largest = |j: usize| (0..n).fold(0.0f64, |m, i| m.max(a.get(i, j).abs()));
    let sizes = (0..n).map(largest).filter(|size| *size > 0.0);
    let (low, high) = sizes.fold((f64::INFINITY, 0.0f64), |(low, high), s| (low.min(s), high.max(s)));
    high > GRADED * low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_multiply_to_the_matrix() {
        let number = |i: usize| ((i * 7919) % 23) as f64 - 11.0;
        for n in [1, 2, 3, 8, 40] {
            let a = Square::from_lower(n, |i, j| number(i * n + j + 1));
            let eigen = Eigen::of(&a).unwrap();
            assert!(eigen.values().windows(2).all(|w| w[0] <= w[1]));
            for j in 0..n {
                let mut e = vec![0.0; n];
                e[j] = 1.0;
                let y: Vec<f64> = eigen.rotate(&e).iter().zip(eigen.values()).map(|(y, v)| y * v).collect();
                for (i, v) in eigen.rotate_back(&y).iter().enumerate() {
                    assert!((v - a.get(i, j)).abs() < 1e-13 * 11.0 * n as f64, "{n}: entry {i}, {j}");
                }
            }
        }
        assert!(Eigen::of(&Square::from_lower(1, |_, _| f64::NAN)).is_none());
    }

    /// In columns of units 1e12 apart the eigenvalues are, up to a share of 1e-24, the pivots of elimination from the largest.
    #[test]
    fn small_eigenvalues_of_columns_in_other_units() {
        for sign in [1.0, -1.0] {
            let (big, small) = (1e12, 1e-12);
            let of = |i: usize| [small, 1.0, big][i];
            let core = [[2.0 * sign, 0.5, 0.3], [0.5, 3.0, 0.7], [0.3, 0.7, 1.0]];
            let a = Square::from_lower(3, |i, j| core[i][j] * of(i) * of(j));
            let last = core[2][2];
            let second = core[1][1] - core[1][2] * core[1][2] / last;
            let between = core[0][1] - core[0][2] * core[1][2] / last;
            let first = core[0][0] - core[0][2] * core[0][2] / last - between * between / second;
            let mut expected = [first * small * small, second, last * big * big];
            expected.sort_by(f64::total_cmp);
            let eigen = Eigen::of(&a).expect("finite");
            for (found, expected) in eigen.values().iter().zip(expected) {
                assert!((found / expected - 1.0).abs() < 1e-14, "{found} for {expected}");
            }
            assert_eq!(eigen.resolution(), 0.0);
        }
        // A column of zeros is an eigenvector, and a matrix of one rank has no other eigenvalue.
        let v = [1e9, 0.0, 1e-3, 2.0];
        let eigen = Eigen::of(&Square::from_lower(4, |i, j| v[i] * v[j])).expect("finite");
        assert!((eigen.values()[3] / 1e18 - 1.0).abs() < 1e-14);
        assert!(eigen.values()[..3].iter().all(|l| l.abs() < 1e-14), "{:?}", eigen.values());
    }
}
