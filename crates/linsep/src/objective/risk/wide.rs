//! Passes over sparse rows with so many columns that a gradient for every group of rows would cost more than the rows.

use super::{Partial, Risk};
use crate::error::Result;
use crate::objective::rows::GradientSums;
use crate::objective::{Coef, Loss, Penalty, Point};
use crate::watch::Watch;
use rayon::prelude::*;

/// Rows whose losses are summed together.
const ROWS: usize = 4096;

impl<L: Loss, P: Penalty> Risk<'_, L, P> {
    /// Scores, losses and then the gradient by ranges of columns; `None` where the usual pass is better.
    pub(super) fn at_wide(&self, coef: &Coef, watch: &Watch) -> Result<Option<Point>> {
        let k = self.loss.n_scores();
        if !GradientSums::wide(self.sample.design)? {
            return Ok(None);
        }
        let mut scores = self.along(coef, watch)?.scores;
        if let Some(offsets) = self.sample.offsets {
            scores.iter_mut().zip(offsets).for_each(|(z, o)| *z += o);
        }
        let (loss, residual) = self.residuals(&scores);
        let mut gradient = GradientSums::by_columns(self.sample.design, k, &residual)?;
        gradient.finish(self.sample.units);
        self.assemble(coef.clone(), scores, Partial::of_gradient(loss, gradient)).map(Some)
    }

    /// The point at some coefficients, whose scores (with offsets) and sums `Σᵢ rᵢx̂ᵢᵀ` come from a copy of the rows that
    /// is faster to read; for one score.
    pub(crate) fn at_scores(
        &self,
        coef: Coef,
        scores: Vec<f64>,
        sums: impl FnOnce(&[f64]) -> Vec<f64>,
    ) -> Result<Point> {
        let (loss, residual) = self.residuals(&scores);
        let gradient = GradientSums::given(sums(&residual), residual.iter().sum());
        self.assemble(coef, scores, Partial::of_gradient(loss, gradient))
    }

    /// The sum of the losses, and their derivatives.
    fn residuals(&self, scores: &[f64]) -> (f64, Vec<f64>) {
        let (k, n) = (self.loss.n_scores(), self.sample.labels.len());
        let mut residual = vec![0.0; n * k];
        let losses: Vec<f64> = residual
            .par_chunks_mut(ROWS * k)
            .enumerate()
            .map(|(block, residual)| {
                let range = block * ROWS..((block + 1) * ROWS).min(n);
                let weights = Self::part(self.sample.weights, &range, 1);
                let z = &scores[range.start * k..range.end * k];
                self.loss.block(&self.sample.labels[range], z, weights, residual, None)
            })
            .collect();
        (losses.iter().sum(), residual)
    }

    /// `Σᵢ rᵢxᵢᵀ` by ranges of columns; `None` where the usual pass is better.
    pub(super) fn sums_wide(&self, values: &[f64]) -> Result<Option<GradientSums>> {
        if !GradientSums::wide(self.sample.design)? {
            return Ok(None);
        }
        let mut sums = GradientSums::by_columns(self.sample.design, self.loss.n_scores(), values)?;
        sums.finish(self.sample.units);
        Ok(Some(sums))
    }
}
