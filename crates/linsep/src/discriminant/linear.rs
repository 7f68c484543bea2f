//! `g(x) = W(x − c) + b`.

use super::blocks::{BLOCK_ROWS, check_columns};
use crate::design::{Block, CsrRows, Design, Tile};
use crate::error::{Error, ErrorKind, Result};
use crate::linalg::multiply_rows_about;
use crate::watch::Watch;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Linear discriminants about a centre: with a column like 1e9 + N(0,1) the form `W x + w₀` would lose nine digits to
/// cancellation, `W(x − c) + b` loses none.
///
/// ```
/// use linsep::design::DenseMatrix;
/// use linsep::discriminant::Linear;
/// let g = Linear::new(vec![2.0], vec![10.0], vec![1.0])?;
/// assert_eq!(g.intercept(), [-19.0]);
/// let x = DenseMatrix::new(vec![11.0], 1)?;
/// assert_eq!(g.scores(&x, &Default::default())?, [3.0]);
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Linear {
    weights: Vec<f64>,
    centre: Vec<f64>,
    intercept_at_centre: Vec<f64>,
}

impl Linear {
    /// From weights (score by score, in the units of the columns), the centre and the values there.
    pub fn new(weights: Vec<f64>, centre: Vec<f64>, intercept_at_centre: Vec<f64>) -> Result<Linear> {
        if weights.len() != centre.len() * intercept_at_centre.len() {
            return Err(Error::model("the weights do not fit the columns and scores"));
        }
        Ok(Linear { weights, centre, intercept_at_centre })
    }

    /// The same with a number added to each score.
    pub(super) fn plus(&self, numbers: &[f64]) -> Result<Linear> {
        let moved = self.intercept_at_centre.iter().zip(numbers).map(|(b, number)| b + number).collect();
        Linear::new(self.weights.clone(), self.centre.clone(), moved)
    }

    /// The same functions about another centre; about the same one the same numbers.
    pub fn about(&self, centre: &[f64]) -> Result<Linear> {
        if centre == self.centre {
            return Ok(self.clone());
        }
        let moved = |k: usize| {
            let terms = self.weights_of(k).iter().zip(centre.iter().zip(&self.centre));
            self.intercept_at_centre[k] + crate::numeric::sum(terms.map(|(w, (to, from))| w * (to - from)))
        };
        Linear::new(self.weights.clone(), centre.to_vec(), (0..self.n_scores()).map(moved).collect())
    }

    /// Whether the weights fit the columns and scores and all numbers are finite: what a file could get wrong.
    pub(crate) fn is_whole(&self) -> bool {
        let numbers = self.weights.iter().chain(&self.centre).chain(&self.intercept_at_centre);
        self.weights.len() == self.centre.len() * self.intercept_at_centre.len() && numbers.copied().all(f64::is_finite)
    }

    /// Number of scores.
    pub fn n_scores(&self) -> usize {
        self.intercept_at_centre.len()
    }

    /// Number of columns.
    pub fn n_cols(&self) -> usize {
        self.centre.len()
    }

    /// Weights of one score, in the units of the columns.
    pub fn weights_of(&self, score: usize) -> &[f64] {
        &self.weights[score * self.n_cols()..(score + 1) * self.n_cols()]
    }

    /// The centre.
    pub fn centre(&self) -> &[f64] {
        &self.centre
    }

    /// The values at the centre.
    pub fn intercept_at_centre(&self) -> &[f64] {
        &self.intercept_at_centre
    }

    /// The values at the origin, w₀.
    pub fn intercept(&self) -> Vec<f64> {
        let at_origin = |k: usize| {
            let moved = crate::numeric::sum(self.weights_of(k).iter().zip(&self.centre).map(|(w, c)| -w * c));
            self.intercept_at_centre[k] + moved
        };
        (0..self.n_scores()).map(at_origin).collect()
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
        let at_origin = self.intercept();
        out.par_chunks_mut(BLOCK_ROWS * width).enumerate().try_for_each_init(
            || (Tile::default(), vec![0.0; BLOCK_ROWS * k], Vec::new()),
            |(tile, scores, widened), (b, out)| {
                if watch.halted().is_some() {
                    return Err(Error::new(ErrorKind::Interrupted, "stopped before all rows were scored"));
                }
                let rows = b * BLOCK_ROWS..b * BLOCK_ROWS + out.len() / width;
                let scores = &mut scores[..rows.len() * k];
                match design.block(rows, tile)? {
                    Block::F64(dense) => self.dense(dense.values, scores),
                    Block::F32(dense) => {
                        widened.clear();
                        widened.extend(dense.values.iter().map(|v| f64::from(*v)));
                        self.dense(widened, scores);
                    }
                    Block::Csr(rows) => self.sparse(&rows, &at_origin, scores),
                }
                finish(scores, out);
                Ok(())
            },
        )
    }

    /// Scores of some dense rows, by this thread alone: the same bits that [`Linear::scores`] finds for them.
    ///
    /// # Panics
    /// Where the values are not whole rows, or there is not room for exactly their scores.
    pub fn dense(&self, rows: &[f64], scores: &mut [f64]) {
        assert_eq!(rows.len() * self.n_scores(), scores.len() * self.n_cols(), "rows and scores do not fit");
        multiply_rows_about(rows, &self.centre, &self.weights, self.n_scores(), scores);
        for z in scores.chunks_exact_mut(self.n_scores()) {
            z.iter_mut().zip(&self.intercept_at_centre).for_each(|(z, b)| *z += b);
        }
    }

    /// Score by score over all rows of the block: the weights of one score have the width of the data, and many columns
    /// recur from row to row, so they stay in cache.
    fn sparse(&self, rows: &CsrRows<'_>, at_origin: &[f64], scores: &mut [f64]) {
        let k = self.n_scores();
        for (score, origin) in at_origin.iter().enumerate() {
            let w = self.weights_of(score);
            for i in 0..rows.len() {
                let (columns, values) = rows.row(i);
                let mut z = *origin;
                columns.iter().zip(values).for_each(|(c, v)| z += v * w[*c as usize]);
                scores[i * k + score] = z;
            }
        }
    }
}
