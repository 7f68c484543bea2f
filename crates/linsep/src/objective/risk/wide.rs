//! Passes over sparse rows with so many columns that a gradient for every group of rows would cost more than the rows.

use super::{Partial, Risk};
use crate::design::{Block, ColumnView, Design, SparseColumns, Tile};
use crate::error::Result;
use crate::objective::rows::GradientSums;
use crate::objective::{Coef, Loss, Penalty, Point, Sample};
use crate::watch::Watch;
use rayon::prelude::*;
use std::sync::Arc;

/// Rows whose losses are summed together.
const ROWS: usize = 4096;

impl<L: Loss + Clone, P: Penalty + Clone> Risk<'_, L, P> {
    /// The same risk on another face of its rows.
    pub(crate) fn on<'b>(&'b self, design: &'b dyn Design) -> Risk<'b, L, P> {
        let sample = Sample { design, ..self.sample };
        Risk::new(sample, self.loss.clone(), self.penalty.clone(), self.intercept)
    }
}

impl<L: Loss, P: Penalty> Risk<'_, L, P> {
    /// Scores, losses and then the gradient by ranges of columns; `None` where the usual pass is better.
    pub(super) fn at_wide(&self, coef: &Coef, watch: &Watch) -> Result<Option<Point>> {
        let k = self.loss.n_scores();
        let view = self.sample.design.by_columns();
        if view.is_none() && !GradientSums::wide(self.sample.design)? {
            return Ok(None);
        }
        let mut scores = self.along(coef, watch)?.scores;
        if let Some(offsets) = self.sample.offsets {
            scores.iter_mut().zip(offsets).for_each(|(z, o)| *z += o);
        }
        let (loss, residual) = self.residuals(&scores);
        let mut gradient = match view {
            Some(view) => GradientSums::by_view(&view, k, &residual),
            None => GradientSums::by_columns(self.sample.design, k, &residual)?,
        };
        gradient.finish(self.sample.units);
        self.assemble(coef.clone(), scores, Partial::of_gradient(loss, gradient)).map(Some)
    }

    /// A copy of the columns where reading them beats reading the rows again and again and there is none yet.
    pub(crate) fn copied_columns(&self) -> Result<Option<Arc<SparseColumns>>> {
        let design = self.sample.design;
        if design.by_columns().is_some() || !GradientSums::wide(design)? {
            return Ok(None);
        }
        Ok(match design.block(0..design.shape().rows, &mut Tile::default())? {
            Block::Csr(rows) => Some(Arc::new(SparseColumns::new(&rows)?)),
            _ => None,
        })
    }

    /// Scores without offsets, by the columns of weights that are not zero.
    pub(super) fn scores_by_columns(&self, view: &ColumnView<'_>, coef: &Coef) -> Vec<f64> {
        let (k, units) = (coef.n_scores(), self.sample.units);
        let of_score = |c: usize| {
            let mut intercept = coef.intercept()[c];
            let mut weights = Vec::new();
            for (j, w) in coef.weights_of(c).iter().enumerate().filter(|(_, w)| **w != 0.0) {
                let scaled = w * units.inverse_scale()[j];
                intercept -= units.centre()[j] * scaled;
                weights.push((j, scaled));
            }
            let mut scores = view.combine(&weights);
            scores.iter_mut().for_each(|z| *z += intercept);
            scores
        };
        if k == 1 {
            return of_score(0);
        }
        let mut scores = vec![0.0; self.sample.labels.len() * k];
        for c in 0..k {
            of_score(c).into_iter().enumerate().for_each(|(i, z)| scores[i * k + c] = z);
        }
        scores
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
        let k = self.loss.n_scores();
        let mut sums = match self.sample.design.by_columns() {
            Some(view) => GradientSums::by_view(&view, k, values),
            None if GradientSums::wide(self.sample.design)? => GradientSums::by_columns(self.sample.design, k, values)?,
            None => return Ok(None),
        };
        sums.finish(self.sample.units);
        Ok(Some(sums))
    }
}
