//! Several vectors taken together: an orthonormal basis of what they span, and how they follow from it.

use crate::linalg::{dot, orthonormal_factor};

/// A vector of which less than this share is left beside the others is one of them up to rounding: what is left has some
/// sixteen digits fewer than the vector, of which five would remain.
const DEPENDENT: f64 = 1e-11;

/// `B = QT` of vectors, the columns of B, with orthonormal Q and upper-triangular T. `BᵀB = TᵀT` is never formed: of vectors
/// that nearly coincide it has half the digits.
#[derive(Debug, Clone)]
pub(super) struct JointSpan {
    count: usize,
    /// Column by column.
    basis: Vec<Vec<f64>>,
    /// Column-major.
    triangle: Vec<f64>,
}

impl JointSpan {
    /// `None` where the vectors depend on each other.
    pub fn of(vectors: &[Vec<f64>]) -> Option<JointSpan> {
        let (rows, count) = (vectors.first().map_or(0, Vec::len), vectors.len());
        if count == 0 || count > rows {
            return (count == 0).then(|| JointSpan { count, basis: Vec::new(), triangle: Vec::new() });
        }
        // Vectors of length one, about: their squares neither vanish nor overflow.
        let sizes: Vec<f64> = vectors.iter().map(|v| v.iter().fold(0.0f64, |m, v| m.max(v.abs()))).collect();
        let mut columns: Vec<f64> =
            vectors.iter().zip(&sizes).flat_map(|(v, s)| v.iter().map(move |v| v / s)).collect();
        let (q, mut triangle) = orthonormal_factor(rows, count, &mut columns);
        for (column, size) in triangle.chunks_exact_mut(count).zip(&sizes) {
            column.iter_mut().for_each(|t| *t *= size);
        }
        let independent = |j: usize| {
            let own = triangle[j * count + j].abs();
            own > DEPENDENT * dot(&vectors[j], &vectors[j]).sqrt() && own.is_finite()
        };
        let all = (0..count).all(independent);
        all.then(|| JointSpan { count, basis: q.chunks_exact(rows).map(<[f64]>::to_vec).collect(), triangle })
    }

    /// `T⁻ᵀ e`: in the basis the vector of least length whose products with the vectors are e.
    pub fn coordinates(&self, e: &[f64]) -> Vec<f64> {
        let mut y = e.to_vec();
        for j in 0..self.count {
            let column = &self.triangle[j * self.count..(j + 1) * self.count];
            y[j] = (y[j] - dot(&column[..j], &y[..j])) / column[j];
        }
        y
    }

    /// `eᵀ (BᵀB)⁻¹ e`.
    pub fn distance(&self, e: &[f64]) -> f64 {
        let y = self.coordinates(e);
        dot(&y, &y)
    }

    /// `Q y`.
    pub fn vector(&self, y: &[f64], size: usize) -> Vec<f64> {
        let mut out = vec![0.0; size];
        for (y, q) in y.iter().zip(&self.basis) {
            out.iter_mut().zip(q).for_each(|(o, q)| *o += y * q);
        }
        out
    }

    /// Takes off what a vector has within the span, twice for what rounding left the first time.
    pub fn take_off(&self, v: &mut [f64]) {
        for q in self.basis.iter().chain(&self.basis) {
            let along = dot(q, v);
            v.iter_mut().zip(q).for_each(|(v, q)| *v -= along * q);
        }
    }

    /// `log det BᵀB`.
    pub fn log_determinant(&self) -> f64 {
        (0..self.count).map(|j| 2.0 * self.triangle[j * self.count + j].abs().ln()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_that_nearly_coincide_keep_their_digits() {
        // (1, 0, 0) and (1, δ, 0), whose Gram has the determinant δ² and is singular in doubles.
        let delta = 1e-9;
        let span = JointSpan::of(&[vec![1.0, 0.0, 0.0], vec![1.0, delta, 0.0]]).unwrap();
        assert!((span.log_determinant() - 2.0 * delta.ln()).abs() < 1e-12);
        // The products of (3, 5, 7) with both are 3 and 3 + 5δ: its part within the span is (3, 5, 0).
        let e = [3.0, 3.0 + 5.0 * delta];
        assert!((span.distance(&e) - 34.0).abs() < 1e-5, "{}", span.distance(&e));
        let within = span.vector(&span.coordinates(&e), 3);
        assert!((within[0] - 3.0).abs() < 1e-12 && (within[1] - 5.0).abs() < 1e-6 && within[2] == 0.0, "{within:?}");
        let mut v = [3.0, 5.0, 7.0];
        span.take_off(&mut v);
        assert!(v[0].abs() < 1e-14 && v[1].abs() < 1e-14 && (v[2] - 7.0).abs() < 1e-14, "{v:?}");
        assert!(JointSpan::of(&[vec![1.0, 2.0], vec![2.0, 4.0]]).is_none());
        assert!(JointSpan::of(&[vec![0.0, 0.0]]).is_none());
        // Of no vectors nothing is taken off.
        let none = JointSpan::of(&[]).unwrap();
        none.take_off(&mut v);
        assert!(v[2] > 6.0 && none.distance(&[]) == 0.0 && none.vector(&[], 2) == [0.0, 0.0]);
    }
}
