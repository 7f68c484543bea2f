//! `g(x) = Σ w·φ(x) + b` with terms `x−c`, `(x−c)²` and `ln x` of single columns.

use super::blocks::{BLOCK_ROWS, check_columns};
use crate::design::{Block, CsrRows, Design, Tile};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::linalg::quadratic_rows;
use crate::watch::Watch;
use crate::words::{Span, words};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Discriminants that are linear in functions of single columns. As in [`super::Linear`] the columns are taken about a
/// centre, so that a column like 1e9 + N(0,1) loses no digits.
///
/// ```
/// use linsep::design::DenseMatrix;
/// use linsep::discriminant::Generalised;
/// // g(x) = 3(x−10)² + 2(x−10) + 1
/// let g = Generalised::new(vec![10.0], vec![1.0], vec![2.0], vec![3.0], Vec::new())?;
/// let x = DenseMatrix::new(vec![11.0], 1)?;
/// assert_eq!(g.scores(&x, &Default::default())?, [6.0]);
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Generalised {
    centre: Vec<f64>,
    intercept_at_centre: Vec<f64>,
    linear: Vec<f64>,
    square: Vec<f64>,
    logarithms: Vec<LogTerm>,
}

/// The weights of `ln x` for one column, score by score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogTerm {
    /// The column.
    pub column: usize,
    /// Its weights.
    pub weights: Vec<f64>,
}

/// A function of one column, with its weight in every score.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    /// The column.
    pub column: usize,
    /// The function.
    pub function: TermFunction,
    /// Weights, score by score.
    pub weights: Vec<f64>,
}

/// What is computed of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TermFunction {
    /// `x − c`.
    Deviation(f64),
    /// `(x − c)²`.
    Square(f64),
    /// `ln x`.
    Logarithm,
}

impl Generalised {
    /// From the centre, the values there without the logarithms, the weights of `x−c` and of `(x−c)²` score by score,
    /// and the weights of logarithms.
    pub fn new(
        centre: Vec<f64>,
        intercept_at_centre: Vec<f64>,
        linear: Vec<f64>,
        square: Vec<f64>,
        logarithms: Vec<LogTerm>,
    ) -> Result<Generalised> {
        let generalised = Generalised { centre, intercept_at_centre, linear, square, logarithms };
        if let Some(j) = generalised.infinite_column() {
            let what = words![Span::Column(j), " is too small or too large: its weights are not finite"];
            return Err(Error::data(what).help("rescale the column"));
        }
        match generalised.is_whole() {
            true => Ok(generalised),
            false => Err(Error::model("the weights do not fit the columns and scores")),
        }
    }

    /// The same with a number added to each score.
    pub(super) fn plus(&self, numbers: &[f64]) -> Result<Generalised> {
        let mut moved = self.clone();
        moved.intercept_at_centre.iter_mut().zip(numbers).for_each(|(b, number)| *b += number);
        match moved.is_whole() {
            true => Ok(moved),
            false => Err(Error::model("the scores are too large to add to")),
        }
    }

    /// Whether the weights fit the columns and scores and all numbers are finite: what a file could get wrong.
    pub(crate) fn is_whole(&self) -> bool {
        let (d, k) = (self.centre.len(), self.intercept_at_centre.len());
        let numbers = self.centre.iter().chain(&self.intercept_at_centre).chain(&self.linear).chain(&self.square);
        let logarithms = self.logarithms.iter().flat_map(|t| &t.weights);
        self.linear.len() == k * d
            && self.square.len() == k * d
            && self.logarithms.iter().all(|t| t.column < d && t.weights.len() == k)
            && numbers.chain(logarithms).all(|v| v.is_finite())
    }

    /// The first column with a weight that is not finite.
    fn infinite_column(&self) -> Option<usize> {
        let d = self.centre.len().max(1);
        let first = |weights: &[f64]| weights.iter().position(|w| !w.is_finite()).map(|at| at % d);
        first(&self.linear).or_else(|| first(&self.square))
    }

    /// Number of scores.
    pub fn n_scores(&self) -> usize {
        self.intercept_at_centre.len()
    }

    /// Number of columns.
    pub fn n_cols(&self) -> usize {
        self.centre.len()
    }

    /// The centre.
    pub fn centre(&self) -> &[f64] {
        &self.centre
    }

    /// The values at the centre, logarithms left out.
    pub fn intercept_at_centre(&self) -> &[f64] {
        &self.intercept_at_centre
    }

    /// Weights of `x−c` of one score.
    pub fn linear_of(&self, score: usize) -> &[f64] {
        &self.linear[score * self.n_cols()..(score + 1) * self.n_cols()]
    }

    /// Weights of `(x−c)²` of one score.
    pub fn square_of(&self, score: usize) -> &[f64] {
        &self.square[score * self.n_cols()..(score + 1) * self.n_cols()]
    }

    /// The logarithms.
    pub fn logarithms(&self) -> &[LogTerm] {
        &self.logarithms
    }

    /// The terms that have a weight, column by column.
    pub fn terms(&self) -> Vec<Term> {
        let mut terms = Vec::new();
        for column in 0..self.n_cols() {
            let of = |weights: &[f64]| -> Vec<f64> {
                (0..self.n_scores()).map(|k| weights[k * self.n_cols() + column]).collect()
            };
            let c = self.centre[column];
            let pairs = [(TermFunction::Deviation(c), of(&self.linear)), (TermFunction::Square(c), of(&self.square))];
            for (function, weights) in pairs.into_iter().filter(|(_, w)| w.iter().any(|w| *w != 0.0)) {
                terms.push(Term { column, function, weights });
            }
            for term in self.logarithms.iter().filter(|t| t.column == column) {
                terms.push(Term { column, function: TermFunction::Logarithm, weights: term.weights.clone() });
            }
        }
        terms
    }

    /// Scores of every row, row by row.
    pub fn scores(&self, design: &dyn Design, watch: &Watch) -> Result<Vec<f64>> {
        let k = self.n_scores();
        let mut scores = vec![0.0; design.shape().rows * k];
        self.each_block(design, watch, k, &mut scores, |z, out| out.copy_from_slice(z))?;
        Ok(scores)
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
        let k = self.n_scores();
        check_columns(design, self.n_cols())?;
        let at_origin = self.at_origin();
        let blocks = out.par_chunks_mut(BLOCK_ROWS * width).enumerate().map_init(
            || (Tile::default(), vec![0.0; BLOCK_ROWS * k], Vec::new()),
            |(tile, scores, widened), (b, out)| {
                if watch.halted().is_some() {
                    return Err(Error::new(ErrorKind::Interrupted, "stopped before all rows were scored"));
                }
                let rows = b * BLOCK_ROWS..b * BLOCK_ROWS + out.len() / width;
                let scores = &mut scores[..rows.len() * k];
                match design.block(rows.clone(), tile)? {
                    Block::F64(dense) => self.dense(dense.values, rows.start, scores)?,
                    Block::F32(dense) => {
                        widened.clear();
                        widened.extend(dense.values.iter().map(|v| f64::from(*v)));
                        self.dense(widened, rows.start, scores)?;
                    }
                    Block::Csr(sparse) => self.sparse(&sparse, &at_origin, rows.start, scores)?,
                }
                finish(scores, out);
                Ok(())
            },
        );
        // The first error of all, whichever block failed first.
        blocks.collect::<Vec<Result<()>>>().into_iter().collect()
    }

    fn dense(&self, rows: &[f64], start: usize, scores: &mut [f64]) -> Result<()> {
        quadratic_rows(rows, &self.centre, &self.linear, &self.square, scores);
        let (k, d) = (self.n_scores(), self.n_cols().max(1));
        for z in scores.chunks_exact_mut(k) {
            z.iter_mut().zip(&self.intercept_at_centre).for_each(|(z, b)| *z += b);
        }
        if self.logarithms.is_empty() {
            return Ok(());
        }
        for (i, (x, z)) in rows.chunks_exact(d).zip(scores.chunks_exact_mut(k)).enumerate() {
            self.add_logarithms(|j| x[j], start + i, z)?;
        }
        Ok(())
    }

    /// The values of a row of zeros, logarithms left out.
    pub(super) fn at_origin(&self) -> Vec<f64> {
        let at_origin = |k: usize| {
            let terms = self.linear_of(k).iter().zip(self.square_of(k)).zip(&self.centre);
            self.intercept_at_centre[k] + crate::numeric::sum(terms.map(|((a, b), c)| c * (b * c - a)))
        };
        (0..self.n_scores()).map(at_origin).collect()
    }

    /// What a stored entry changes from the row of zeros: `x(a + b(x − 2c))`.
    fn sparse(&self, rows: &CsrRows<'_>, at_origin: &[f64], start: usize, scores: &mut [f64]) -> Result<()> {
        let k = self.n_scores();
        for (score, origin) in at_origin.iter().enumerate() {
            let (a, b) = (self.linear_of(score), self.square_of(score));
            for i in 0..rows.len() {
                let (columns, values) = rows.row(i);
                let terms = columns.iter().zip(values).map(|(c, x)| {
                    let j = *c as usize;
                    x * (a[j] + b[j] * (x - 2.0 * self.centre[j]))
                });
                scores[i * k + score] = terms.fold(*origin, |sum, t| sum + t);
            }
        }
        if self.logarithms.is_empty() {
            return Ok(());
        }
        for (i, z) in scores.chunks_exact_mut(k).enumerate() {
            let (columns, values) = rows.row(i);
            let value = |j: usize| columns.binary_search(&(j as u32)).map_or(0.0, |at| values[at]);
            self.add_logarithms(value, start + i, z)?;
        }
        Ok(())
    }

    fn add_logarithms(&self, x: impl Fn(usize) -> f64, row: usize, z: &mut [f64]) -> Result<()> {
        for term in &self.logarithms {
            let value = x(term.column);
            if !(value > 0.0 && value < f64::INFINITY) {
                return Err(Error::data(words![
                    Span::Column(term.column),
                    format!(" is {value}: it has no logarithm")
                ])
                .at(Place::default().row(row as u64 + 1))
                .help("the model takes this column to be positive: correct the value, or leave the row out"));
            }
            let logarithm = value.ln();
            z.iter_mut().zip(&term.weights).for_each(|(z, w)| *z += w * logarithm);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::{CsrMatrix, DenseMatrix};

    fn two_scores() -> Generalised {
        let logarithms = vec![LogTerm { column: 1, weights: vec![0.5, -1.0] }];
        let (linear, square) = (vec![2.0, -1.0, 0.25, 3.0], vec![1.5, 0.0, -2.0, 0.0]);
        Generalised::new(vec![10.0, 0.0], vec![1.0, -1.0], linear, square, logarithms).expect("whole")
    }

    #[test]
    fn the_formula_on_all_layouts() {
        let g = two_scores();
        let rows: Vec<f64> = (0..1300).flat_map(|i| [f64::from(i % 7), 0.5 + f64::from(i % 5)]).collect();
        let dense = DenseMatrix::new(&rows[..], 2).expect("rows");
        let scores = g.scores(&dense, &Watch::default()).expect("scores");
        for (x, z) in rows.chunks_exact(2).zip(scores.chunks_exact(2)) {
            let u = x[0] - 10.0;
            let expected = [
                1.0 + 2.0 * u - x[1] + 1.5 * u * u + 0.5 * x[1].ln(),
                -1.0 + 0.25 * u + 3.0 * x[1] - 2.0 * u * u - x[1].ln(),
            ];
            assert!(z.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12), "{z:?} {expected:?}");
        }
        let singles = DenseMatrix::new(rows.iter().map(|v| *v as f32).collect::<Vec<f32>>(), 2).expect("rows");
        assert_eq!(scores, g.scores(&singles, &Watch::default()).expect("scores"));
        let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for x in rows.chunks_exact(2) {
            for (j, v) in x.iter().enumerate().filter(|(_, v)| **v != 0.0) {
                indices.push(j as u32);
                values.push(*v);
            }
            starts.push(values.len());
        }
        let sparse = CsrMatrix::new(starts, indices, values, 2).expect("rows");
        let same = g.scores(&sparse, &Watch::default()).expect("scores");
        assert!(scores.iter().zip(&same).all(|(a, b)| (a - b).abs() < 1e-11));
    }

    #[test]
    fn the_first_value_without_a_logarithm_is_named() {
        let mut rows = vec![1.0; 4000];
        (rows[2 * 1700 + 1], rows[2 * 900 + 1]) = (-1.0, 0.0);
        let dense = DenseMatrix::new(&rows[..], 2).expect("rows");
        let error = two_scores().scores(&dense, &Watch::default()).expect_err("no logarithm");
        assert_eq!(error.place().row, Some(901));
        assert!(error.message().contains("column 2 is 0"), "{error}");
    }

    #[test]
    fn terms_list_what_has_weight() {
        let functions: Vec<(usize, TermFunction)> =
            two_scores().terms().iter().map(|t| (t.column, t.function)).collect();
        let expected = [
            (0, TermFunction::Deviation(10.0)),
            (0, TermFunction::Square(10.0)),
            (1, TermFunction::Deviation(0.0)),
            (1, TermFunction::Logarithm),
        ];
        assert_eq!(functions, expected);
        assert!(Generalised::new(vec![0.0], vec![0.0], vec![1.0], vec![], Vec::new()).is_err());
    }
}
