//! `g_k(x) = c_k − ½‖A_k(x − μ_k)‖²` with lower triangular A_k.

use super::blocks::{BLOCK_ROWS, each_dense_block};
use crate::design::Design;
use crate::error::{Error, Result};
use crate::numeric::vectorised;
use crate::watch::Watch;
use serde::{Deserialize, Serialize};

/// Quadratic discriminants, one for each class, kept as whitening matrices: in the form `xᵀWx + w·x + w₀` a large offset
/// of a column would cost digits, here it costs none, and the triangle halves the work.
///
/// Two classes give one score, `g₁ − g₀`; more give one each.
///
/// ```
/// use linsep::{design::DenseMatrix, discriminant::Quadratic};
/// // g₀ = −½x², g₁ = −½(2(x − 3))²
/// let g = Quadratic::new(vec![0.0, 3.0], vec![1.0, 2.0], vec![0.0, 0.0])?;
/// let x = DenseMatrix::new(vec![2.0], 1)?;
/// assert_eq!(g.scores(&x, &Default::default())?, [0.0]);
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Quadratic {
    centres: Vec<f64>,
    /// Row i of a triangle holds its first i + 1 entries; class by class.
    whitening: Vec<f64>,
    constants: Vec<f64>,
}

/// Rows whitened together, one in each lane: two vectors of four doubles. With eight, prediction takes 1.8 times the
/// floor of its products, since the triangle is read again for every group; larger groups were not measured
/// (bench/README.md).
const LANES: usize = 8;
/// Rows of the triangle multiplied together: eight sums of four doubles stay in the sixteen registers.
const STRIP: usize = 4;

impl Quadratic {
    /// From centres (class by class), lower triangles (class by class, row by row) and constants.
    pub fn new(centres: Vec<f64>, whitening: Vec<f64>, constants: Vec<f64>) -> Result<Quadratic> {
        let quadratic = Quadratic { centres, whitening, constants };
        match quadratic.is_whole() {
            true => Ok(quadratic),
            false => Err(Error::model("centres, matrices and constants of the classes do not fit together")),
        }
    }

    /// Whether the parts fit together and all numbers are finite: what a file could get wrong.
    pub(crate) fn is_whole(&self) -> bool {
        let (classes, d) = (self.n_classes(), self.n_cols());
        let sizes =
            classes >= 2 && self.centres.len() == classes * d && self.whitening.len() == classes * (d * (d + 1) / 2);
        let numbers = self.centres.iter().chain(&self.whitening).chain(&self.constants);
        sizes && numbers.copied().all(f64::is_finite)
    }

    /// Number of classes.
    pub fn n_classes(&self) -> usize {
        self.constants.len()
    }

    /// Number of scores: one for two classes, else one for each.
    pub fn n_scores(&self) -> usize {
        if self.n_classes() == 2 { 1 } else { self.n_classes() }
    }

    /// Number of columns.
    pub fn n_cols(&self) -> usize {
        self.centres.len() / self.constants.len().max(1)
    }

    /// The centre of a class, μ_k.
    pub fn centre(&self, class: usize) -> &[f64] {
        &self.centres[class * self.n_cols()..(class + 1) * self.n_cols()]
    }

    /// The lower triangle A_k of a class, row by row.
    pub fn whitening(&self, class: usize) -> &[f64] {
        let size = self.n_cols() * (self.n_cols() + 1) / 2;
        &self.whitening[class * size..(class + 1) * size]
    }

    /// Entry (i, j) of A_k; zero above the diagonal.
    pub fn whitening_at(&self, class: usize, i: usize, j: usize) -> f64 {
        if j > i { 0.0 } else { self.whitening(class)[i * (i + 1) / 2 + j] }
    }

    /// The value at the centre of each class, c_k.
    pub fn constants(&self) -> &[f64] {
        &self.constants
    }

    /// The same with a number added to each score; the one score of two classes is that of the last.
    pub(super) fn plus(&self, numbers: &[f64]) -> Result<Quadratic> {
        let mut constants = self.constants.clone();
        constants.iter_mut().rev().zip(numbers.iter().rev()).for_each(|(c, number)| *c += number);
        Quadratic::new(self.centres.clone(), self.whitening.clone(), constants)
    }

    /// `W_k = −A_kᵀA_k`, the matrix of the quadratic form `½xᵀWx + w·x + w₀`, row by row.
    pub fn form(&self, class: usize) -> Vec<Vec<f64>> {
        let d = self.n_cols();
        let entry = |i: usize, j: usize| {
            -(i.max(j)..d).map(|r| self.whitening_at(class, r, i) * self.whitening_at(class, r, j)).sum::<f64>()
        };
        (0..d).map(|i| (0..d).map(|j| entry(i, j)).collect()).collect()
    }

    /// Scores of every row, row by row.
    pub fn scores(&self, design: &dyn Design, watch: &Watch) -> Result<Vec<f64>> {
        let k = self.n_scores();
        let mut scores = vec![0.0; design.shape().rows * k];
        self.each_block(design, watch, k, &mut scores, |z, out| out.copy_from_slice(z))?;
        Ok(scores)
    }

    /// Squared Mahalanobis distances `‖A_k(x − μ_k)‖²` of every row to every class, row by row.
    pub fn distances(&self, design: &dyn Design, watch: &Watch) -> Result<Vec<f64>> {
        let k = self.n_classes();
        let mut out = vec![0.0; design.shape().rows * k];
        each_dense_block(
            design,
            self.n_cols(),
            watch,
            k,
            &mut out,
            || Scratch::new(self),
            |scratch, rows, out| {
                self.block_distances(rows, scratch, out);
            },
        )?;
        Ok(out)
    }

    /// Scores a block of rows at a time and lets `finish` turn the scores of a block into `width` values per row.
    pub(crate) fn each_block<T: Send>(
        &self,
        design: &dyn Design,
        watch: &Watch,
        width: usize,
        out: &mut [T],
        finish: impl Fn(&[f64], &mut [T]) + Sync,
    ) -> Result<()> {
        let classes = self.n_classes();
        let new = || (Scratch::new(self), vec![0.0; BLOCK_ROWS * classes], vec![0.0; BLOCK_ROWS]);
        each_dense_block(design, self.n_cols(), watch, width, out, new, |(scratch, squares, single), rows, out| {
            let count = out.len() / width;
            let squares = &mut squares[..count * classes];
            self.block_distances(rows, scratch, squares);
            for row in squares.chunks_exact_mut(classes) {
                row.iter_mut().zip(&self.constants).for_each(|(v, c)| *v = c - 0.5 * *v);
            }
            if classes == 2 {
                let single = &mut single[..count];
                single.iter_mut().zip(squares.chunks_exact(2)).for_each(|(z, g)| *z = g[1] - g[0]);
                finish(single, out);
            } else {
                finish(squares, out);
            }
        })
    }

    /// `‖A_k(x − μ_k)‖²` for row-major rows.
    fn block_distances(&self, rows: &[f64], scratch: &mut Scratch, out: &mut [f64]) {
        let (d, classes) = (self.n_cols(), self.n_classes());
        if d == 0 {
            return out.fill(0.0);
        }
        for (group, out) in rows.chunks(LANES * d).zip(out.chunks_mut(LANES * classes)) {
            for class in 0..classes {
                let mut squares = [0.0; LANES];
                whiten(group, self.centre(class), self.whitening(class), &mut scratch.lanes, &mut squares);
                out.chunks_exact_mut(classes).zip(squares).for_each(|(row, square)| row[class] = square);
            }
        }
    }
}

/// Room for one group of rows.
struct Scratch {
    /// Column by column, one row in each lane.
    lanes: Vec<[f64; LANES]>,
}

impl Scratch {
    fn new(quadratic: &Quadratic) -> Scratch {
        Scratch { lanes: vec![[0.0; LANES]; quadratic.n_cols()] }
    }
}

vectorised! {
    /// `‖A(x − μ)‖²` of up to [`LANES`] rows; four rows of the triangle at a time keep all sums in registers.
    fn whiten(
        rows: &[f64],
        centre: &[f64],
        triangle: &[f64],
        lanes: &mut [[f64; LANES]],
        squares: &mut [f64; LANES],
    ) {
        let d = centre.len();
        for (r, x) in rows.chunks_exact(d).enumerate() {
            for j in 0..d {
                lanes[j][r] = x[j] - centre[j];
            }
        }
        *squares = [0.0; LANES];
        let whole = d / STRIP * STRIP;
        for first in (0..whole).step_by(STRIP) {
            let start = |i: usize| (first + i) * (first + i + 1) / 2;
            // The four rows have their first `first + 1` entries in common.
            let common: [&[f64]; STRIP] = [0, 1, 2, 3].map(|i| &triangle[start(i)..start(i) + first + 1]);
            let mut sums = [[0.0; LANES]; STRIP];
            for (j, x) in lanes[..=first].iter().enumerate() {
                for i in 0..STRIP {
                    let a = common[i][j];
                    for r in 0..LANES {
                        sums[i][r] = x[r].mul_add(a, sums[i][r]);
                    }
                }
            }
            for i in 1..STRIP {
                for j in first + 1..=first + i {
                    let a = triangle[start(i) + j];
                    for r in 0..LANES {
                        sums[i][r] = lanes[j][r].mul_add(a, sums[i][r]);
                    }
                }
            }
            for i in 0..STRIP {
                for r in 0..LANES {
                    squares[r] = sums[i][r].mul_add(sums[i][r], squares[r]);
                }
            }
        }
        for i in whole..d {
            let row = &triangle[i * (i + 1) / 2..(i + 1) * (i + 2) / 2];
            let mut sums = [0.0; LANES];
            for (x, a) in lanes.iter().zip(row) {
                for r in 0..LANES {
                    sums[r] = x[r].mul_add(*a, sums[r]);
                }
            }
            for r in 0..LANES {
                squares[r] = sums[r].mul_add(sums[r], squares[r]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::{CsrMatrix, DenseMatrix};

    #[test]
    fn agrees_with_the_definition_for_all_small_shapes() {
        let number = |i: usize| ((i * 7919) % 23) as f64 - 11.0;
        for d in 1..=11 {
            for classes in 2..=4 {
                for n in [1, 7, 8, 9, 600] {
                    let triangle = d * (d + 1) / 2;
                    let centres: Vec<f64> = (0..classes * d).map(|i| number(i + 3)).collect();
                    let whitening: Vec<f64> = (0..classes * triangle).map(|i| number(i + 5)).collect();
                    let constants: Vec<f64> = (0..classes).map(|i| number(i + 8)).collect();
                    let rows: Vec<f64> = (0..n * d).map(number).collect();
                    let g = Quadratic::new(centres, whitening, constants).unwrap();
                    let x = DenseMatrix::new(rows.clone(), d).unwrap();
                    let expected = |row: &[f64], k: usize| {
                        let y = |i: usize| -> f64 {
                            (0..=i).map(|j| g.whitening_at(k, i, j) * (row[j] - g.centre(k)[j])).sum()
                        };
                        g.constants()[k] - 0.5 * (0..d).map(|i| y(i) * y(i)).sum::<f64>()
                    };
                    let wanted: Vec<f64> = rows
                        .chunks_exact(d)
                        .flat_map(|row| match classes {
                            2 => vec![expected(row, 1) - expected(row, 0)],
                            _ => (0..classes).map(|k| expected(row, k)).collect(),
                        })
                        .collect();
                    // Whole numbers are exact.
                    assert_eq!(g.scores(&x, &Watch::default()).unwrap(), wanted, "{n} rows, {d} columns, {classes}");
                    let starts: Vec<usize> = (0..=n).map(|i| i * d).collect();
                    let columns: Vec<u32> = (0..n * d).map(|i| (i % d) as u32).collect();
                    let sparse = CsrMatrix::new(starts, columns, rows, d).unwrap();
                    assert_eq!(g.scores(&sparse, &Watch::default()).unwrap(), wanted);
                }
            }
        }
    }

    #[test]
    fn the_form_is_the_second_derivative() {
        let g = Quadratic::new(vec![1.0, 2.0, 0.0, 0.0], vec![2.0, 1.0, 3.0, 1.0, 0.0, 1.0], vec![0.0, 0.0]).unwrap();
        assert_eq!(g.form(0), [[-5.0, -3.0], [-3.0, -9.0]]);
    }
}
