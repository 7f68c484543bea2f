//! Coefficients.

use crate::linalg::dot;
use rayon::prelude::*;

/// Coefficients of one task at least, which take about as long as to start it; results do not depend on it. Chosen
/// (bench/constants.md).
const TOGETHER: usize = 1 << 14;
/// Coefficients whose products are summed by one task: fixed, so that sums do not depend on the threads. Chosen
/// (bench/constants.md).
const SUMMED: usize = 1 << 15;

/// Weights and intercepts of some linear scores, contiguous: all weights score by score, then the intercepts.
///
/// ```
/// let mut c = linsep::objective::Coef::zeros(2, 3);
/// c.intercept_mut()[1] = 5.0;
/// assert_eq!(c.as_slice(), [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 5.0]);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Coef {
    values: Vec<f64>,
    scores: usize,
    cols: usize,
}

impl Coef {
    /// All zero.
    pub fn zeros(scores: usize, cols: usize) -> Coef {
        Coef { values: vec![0.0; scores * (cols + 1)], scores, cols }
    }

    /// From the contiguous values.
    ///
    /// # Panics
    /// If the length does not fit.
    pub fn from_vec(values: Vec<f64>, scores: usize, cols: usize) -> Coef {
        assert_eq!(values.len(), scores * (cols + 1), "weights and one intercept per score");
        Coef { values, scores, cols }
    }

    /// Number of scores.
    pub fn n_scores(&self) -> usize {
        self.scores
    }

    /// Number of columns.
    pub fn n_cols(&self) -> usize {
        self.cols
    }

    /// All weights, score by score.
    pub fn weights(&self) -> &[f64] {
        &self.values[..self.scores * self.cols]
    }

    /// All weights, for writing.
    pub fn weights_mut(&mut self) -> &mut [f64] {
        &mut self.values[..self.scores * self.cols]
    }

    /// All weights, score by score, without a copy.
    pub fn into_weights(mut self) -> Vec<f64> {
        self.values.truncate(self.scores * self.cols);
        self.values
    }

    /// The weights of one score.
    pub fn weights_of(&self, score: usize) -> &[f64] {
        &self.values[score * self.cols..(score + 1) * self.cols]
    }

    /// One intercept per score.
    pub fn intercept(&self) -> &[f64] {
        &self.values[self.scores * self.cols..]
    }

    /// The intercepts, for writing.
    pub fn intercept_mut(&mut self) -> &mut [f64] {
        &mut self.values[self.scores * self.cols..]
    }

    /// Weights and intercepts in one slice.
    pub fn as_slice(&self) -> &[f64] {
        &self.values
    }

    /// Weights and intercepts in one slice, for writing.
    pub fn as_mut_slice(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// `self + step · direction`.
    pub fn moved(&self, step: f64, direction: &Coef) -> Coef {
        let values = self.values.par_iter().with_min_len(TOGETHER).zip(&direction.values);
        let values = values.map(|(a, d)| a + step * d).collect();
        Coef { values, ..*self }
    }

    /// `self += step · direction`.
    pub fn add_scaled(&mut self, step: f64, direction: &Coef) {
        let values = self.values.par_iter_mut().with_min_len(TOGETHER).zip(&direction.values);
        values.for_each(|(a, d)| *a += step * d);
    }

    /// Takes from every score what all have in common: the mean of the weights of a column, and of the intercepts.
    pub fn remove_common_part(&mut self) {
        let (k, cols) = (self.n_scores(), self.n_cols());
        let mut mean = vec![0.0; cols];
        for c in 0..k {
            let weights = self.weights_of(c).par_iter().with_min_len(TOGETHER);
            mean.par_iter_mut().with_min_len(TOGETHER).zip(weights).for_each(|(m, w)| *m += w);
        }
        mean.iter_mut().for_each(|m| *m /= k as f64);
        for of_score in self.weights_mut().chunks_mut(cols.max(1)) {
            of_score.par_iter_mut().with_min_len(TOGETHER).zip(&mean).for_each(|(w, m)| *w -= m);
        }
        let mean = self.intercept().iter().sum::<f64>() / k as f64;
        self.intercept_mut().iter_mut().for_each(|b| *b -= mean);
    }

    /// Sum of products of all entries.
    pub fn dot(&self, other: &Coef) -> f64 {
        let parts = self.values.par_chunks(SUMMED).zip(other.values.par_chunks(SUMMED));
        parts.map(|(a, b)| dot(a, b)).collect::<Vec<f64>>().iter().sum()
    }
}
