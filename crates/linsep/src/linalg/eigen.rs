//! `A = V Λ Vᵀ` of a symmetric matrix.

use super::Square;
use faer::{Mat, Side};

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
}

impl Eigen {
    /// The decomposition; the error of each eigenvalue is about `n·ε` of the largest. `None` where a number is not
    /// finite or the iteration does not end.
    pub fn of(a: &Square) -> Option<Eigen> {
        let n = a.n();
        if n == 0 {
            return Some(Eigen { values: Vec::new(), vectors: Vec::new() });
        }
        if (0..n).any(|j| (j..n).any(|i| !a.get(i, j).is_finite())) {
            return None;
        }
        let matrix = Mat::from_fn(n, n, |i, j| a.get(i, j));
        let found = matrix.self_adjoint_eigen(Side::Lower).ok()?;
        let (s, u) = (found.S().column_vector(), found.U());
        let values: Vec<f64> = (0..n).map(|k| s[k]).collect();
        let vectors: Vec<f64> = (0..n).flat_map(|k| (0..n).map(move |i| u[(i, k)])).collect();
        values.iter().chain(&vectors).all(|v| v.is_finite()).then_some(Eigen { values, vectors })
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
}
