//! Passes over sparse rows with so many columns that a gradient for every group of rows would cost more than the rows.

use super::{Detail, Risk, RiskPartial};
use crate::design::{Block, ColumnView, Design, SparseColumns, Tile};
use crate::error::{Error, ErrorKind, Result};
use crate::objective::column_gram::column_gram;
use crate::objective::rows::{GradientSums, HessianSums};
use crate::objective::{Coef, Loss, Penalty, Point};
use crate::watch::Watch;
use rayon::prelude::*;
use std::sync::Arc;

/// Rows whose losses are summed in one block: fixed, so that sums do not depend on the threads. Chosen
/// (bench/constants.md).
const ROWS: usize = 4096;

impl<L: Loss + Clone, P: Penalty + Clone> Risk<'_, L, P> {
    /// The same risk on another face of its rows.
    pub(crate) fn on<'b>(&'b self, design: &'b dyn Design) -> Risk<'b, L, P> {
        let sample = self.sample.with_design(design);
        Risk::new(sample, self.loss.clone(), self.penalty.clone(), self.intercept)
    }
}

impl<L: Loss, P: Penalty> Risk<'_, L, P> {
    /// Scores, losses and then the gradient by columns or ranges of them; `None` where the usual pass is better.
    pub(super) fn at_wide(&self, coef: &Coef, detail: Detail, watch: &Watch) -> Result<Option<Point>> {
        let k = self.loss.n_scores();
        let view = self.sample.design.by_columns();
        let curved = detail == Detail::Hessian;
        if view.is_some() && watch.halted().is_some() {
            return Err(Error::new(ErrorKind::Interrupted, "stopped before the pass over the columns"));
        }
        if curved && (view.is_none() || k > 1) || view.is_none() && !GradientSums::wide(self.sample.design)? {
            return Ok(None);
        }
        let mut scores = self.along(coef, watch)?.scores;
        if let Some(offsets) = self.sample.offsets {
            scores.iter_mut().zip(offsets).for_each(|(z, o)| *z += o);
        }
        if !curved && view.is_some() {
            return self.at_known(coef.clone(), scores, watch).map(Some);
        }
        let mut curvature = vec![0.0; if curved { scores.len() } else { 0 }];
        let (loss, residual) = self.residuals(&scores, &mut curvature);
        let mut gradient = match &view {
            Some(view) => GradientSums::by_view(view, k, &residual),
            None => GradientSums::by_columns(self.sample.design, k, &residual)?,
        };
        gradient.finish(self.sample.units);
        let mut sums = RiskPartial::of_gradient(loss, gradient);
        if curved {
            let Some((gram, firsts)) = view.and_then(|view| column_gram(&view, &curvature)) else { return Ok(None) };
            sums.hessian = Some(HessianSums::given(gram, firsts, curvature.iter().sum()));
        }
        self.assemble(coef.clone(), scores, sums).map(Some)
    }

    /// The point at coefficients whose scores (with offsets) are known already.
    pub(crate) fn at_known(&self, coef: Coef, scores: Vec<f64>, watch: &Watch) -> Result<Point> {
        let Some(view) = self.sample.design.by_columns() else { return self.at(&coef, Detail::Gradient, watch) };
        let (loss, residual) = self.residuals(&scores, &mut []);
        let mut gradient = GradientSums::by_view(&view, self.loss.n_scores(), &residual);
        gradient.finish(self.sample.units);
        self.assemble(coef, scores, RiskPartial::of_gradient(loss, gradient))
    }

    /// A copy of the columns where reading them beats reading the rows again and again and there is none yet.
    pub(crate) fn copied_columns(&self) -> Result<Option<Arc<SparseColumns>>> {
        let design = self.sample.design;
        if design.by_columns().is_some() || !GradientSums::wide(design)? {
            return Ok(None);
        }
        Ok(Some(self.copy_of_columns()?))
    }

    /// A copy of the columns of sparse rows.
    pub(crate) fn copy_of_columns(&self) -> Result<Arc<SparseColumns>> {
        let design = self.sample.design;
        match design.block(0..design.shape().rows, &mut Tile::default())? {
            Block::Csr(rows) => Ok(Arc::new(SparseColumns::new(&rows)?)),
            _ => Err(Error::data("a sparse matrix changed its type between two blocks")),
        }
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
        let (loss, residual) = self.residuals(&scores, &mut []);
        let gradient = GradientSums::given(sums(&residual), residual.iter().sum());
        self.assemble(coef, scores, RiskPartial::of_gradient(loss, gradient))
    }

    /// The sum of the losses, and their derivatives; also the second ones of one score where there is room for them.
    fn residuals(&self, scores: &[f64], curvature: &mut [f64]) -> (f64, Vec<f64>) {
        let (k, n) = (self.loss.n_scores(), self.sample.labels.len());
        let mut residual = vec![0.0; n * k];
        let mut curvatures: Vec<Option<&mut [f64]>> = curvature.chunks_mut(ROWS).map(Some).collect();
        curvatures.resize_with(n.div_ceil(ROWS), || None);
        let losses: Vec<f64> = residual
            .par_chunks_mut(ROWS * k)
            .zip(curvatures)
            .enumerate()
            .map(|(block, (residual, curvature))| {
                let range = block * ROWS..((block + 1) * ROWS).min(n);
                let weights = Self::part(self.sample.weights, &range, 1);
                let z = &scores[range.start * k..range.end * k];
                self.loss.block(&self.sample.labels[range], z, weights, residual, curvature)
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
