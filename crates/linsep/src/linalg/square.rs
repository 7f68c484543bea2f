//! A symmetric matrix by its lower triangle.

use super::multiply_rows;
use faer::linalg::matmul::triangular::{BlockStructure, matmul as triangular_matmul};
use faer::{Accum, MatMut, MatRef, Par};

/// Numbers from which on new memory comes from the system, page by page: 256 KB, above the allocator's threshold of 128
/// KB.
const MANY: usize = 1 << 15;
/// Doubles in a page of 4 KB.
const PAGE: usize = 512;

/// An `n × n` symmetric matrix in column-major order; only the lower triangle (row ≥ column) is meaningful.
#[derive(Debug, Clone, PartialEq)]
pub struct Square {
    n: usize,
    values: Vec<f64>,
}

impl Square {
    /// The zero matrix.
    pub fn zeros(n: usize) -> Square {
        let mut values = vec![0.0; n * n];
        if values.len() >= MANY {
            // Written first: a page that is read before it is written faults twice, with a TLB shootdown on every core.
            values.chunks_mut(PAGE).for_each(|page| std::hint::black_box(page)[0] = 0.0);
        }
        Square { n, values }
    }

    /// A matrix by its entries on and below the diagonal.
    pub fn from_lower(n: usize, mut entry: impl FnMut(usize, usize) -> f64) -> Square {
        let mut a = Square::zeros(n);
        for j in 0..n {
            for i in j..n {
                a.values[j * n + i] = entry(i, j);
            }
        }
        a
    }

    /// Rows and columns.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Entry (i, j), whichever triangle it is in.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        self.values[i.min(j) * self.n + i.max(j)]
    }

    /// The entry (i, j) of the lower triangle, for writing.
    ///
    /// # Panics
    /// If i < j.
    pub fn at(&mut self, i: usize, j: usize) -> &mut f64 {
        assert!(i >= j, "only the lower triangle is stored");
        &mut self.values[j * self.n + i]
    }

    /// All entries, column by column.
    pub fn as_slice(&self) -> &[f64] {
        &self.values
    }

    /// All entries, for writing.
    pub fn as_mut_slice(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// Adds another matrix of the same size.
    pub fn add(&mut self, other: &Square) {
        assert_eq!(self.n, other.n, "matrices of one size");
        for (a, b) in self.values.iter_mut().zip(&other.values) {
            *a += b;
        }
    }

    /// Adds a multiple of another matrix of the same size, where there is one.
    pub fn add_scaled(&mut self, scale: f64, other: Option<&Square>) {
        for (a, b) in self.values.iter_mut().zip(other.map_or(&[][..], |o| &o.values)) {
            *a += scale * b;
        }
    }

    /// Adds `scale · v vᵀ`.
    pub fn add_outer(&mut self, scale: f64, v: &[f64]) {
        for (j, column) in self.values.chunks_exact_mut(self.n.max(1)).enumerate() {
            let factor = scale * v[j];
            for (a, x) in column[j..].iter_mut().zip(&v[j..]) {
                *a += factor * x;
            }
        }
    }

    /// Sets to zero every row and column that is not among `kept`, which must rise.
    pub fn keep_only(&mut self, kept: &[usize]) {
        for j in (0..self.n).filter(|j| kept.binary_search(j).is_err()) {
            (0..j).for_each(|i| *self.at(j, i) = 0.0);
            (j..self.n).for_each(|i| *self.at(i, j) = 0.0);
        }
    }

    /// Multiplies every entry.
    pub fn scale(&mut self, factor: f64) {
        self.values.iter_mut().for_each(|a| *a *= factor);
    }

    /// The diagonal.
    pub fn diagonal(&self) -> Vec<f64> {
        (0..self.n).map(|i| self.get(i, i)).collect()
    }

    /// `B A Bᵀ` for a row-major B with as many columns as this matrix has rows, row by row.
    pub fn congruence(&self, b: &[f64]) -> Vec<f64> {
        let n = self.n;
        let k = b.len().checked_div(n).unwrap_or(0);
        let full: Vec<f64> = (0..n * n).map(|at| self.get(at / n, at % n)).collect();
        let mut right = vec![0.0; n * k];
        multiply_rows(&full, b, n, k, &mut right);
        // `right` is A Bᵀ row by row; its transpose has the rows of B A.
        let left: Vec<f64> = (0..k * n).map(|at| right[at % n * k + at / n]).collect();
        let mut out = vec![0.0; k * k];
        multiply_rows(&left, b, n, k, &mut out);
        out
    }

    /// The matrix by its rows, both triangles.
    pub fn to_rows(&self) -> Vec<Vec<f64>> {
        (0..self.n).map(|i| (0..self.n).map(|j| self.get(i, j)).collect()).collect()
    }

    /// `A v`.
    pub fn multiply(&self, v: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.n];
        for j in 0..self.n {
            let column = &self.values[j * self.n..(j + 1) * self.n];
            out[j] += column[j] * v[j];
            let mut dot = 0.0;
            for i in j + 1..self.n {
                out[i] += column[i] * v[j];
                dot += column[i] * v[i];
            }
            out[j] += dot;
        }
        out
    }
}

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
