//! The objective, once: its scale, its pass over the data, its derivatives.

mod curvature;
mod repenalise;
mod sized;
mod wide;

pub use sized::RowSizes;

use super::loss::block_sums;
use super::rows::{GradientSums, HessianSums};
use super::scorer::Scorer;
use super::{Coef, Intercept, Loss, Penalty, Ridge, RiskFrame, Sample};
use crate::design::{Pass, is_sparse};
use crate::error::{Error, Result};
use crate::linalg::Square;
use crate::numeric::CompensatedSum;
use crate::table::Class;
use crate::watch::Watch;
use rayon::prelude::*;
use std::ops::Range;

/// `F(W,b) = Σ sᵢ ℓ(yᵢ, x̂ᵢW + b + oᵢ) / Σ sᵢ + λ Ω(W)`, x̂ the rows in the sample's units.
///
/// This is the one scale of the project: the loss is a weighted *mean*, so λ compares with `C` of other tools through
/// `λ = 1/(C Σs)`.
pub struct Risk<'a, L, P = Ridge> {
    sample: Sample<'a>,
    loss: L,
    penalty: P,
    intercept: Intercept,
    total_weight: f64,
    class_totals: Vec<f64>,
    sparse: bool,
}

/// How much a pass computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Objective and gradient.
    Gradient,
    /// Also the Hessian.
    Hessian,
}

/// A risk at some coefficients; scores and sums of the pass are kept for whoever needs them next.
#[derive(Debug, Clone)]
pub struct Point<S = Vec<f64>> {
    /// Where.
    pub coef: Coef,
    /// F.
    pub objective: f64,
    /// Its gradient without the lasso part; zero in the intercepts where there are none.
    pub gradient: Coef,
    /// The Hessian where it was asked for, ordered as [`Coef`].
    pub hessian: Option<Square>,
    /// Scores with offsets, row by row; or what stands for them where the rows are elsewhere.
    pub scores: S,
    /// `Σ sᵢ ∂ℓ/∂z xᵢᵀ` per class of two classes (else, and for wide rows, one group), not divided by Σs.
    pub gradient_sums: Vec<f64>,
}

/// Scores along a direction: the risk on a line costs no further pass over the features.
#[derive(Debug)]
pub struct Line {
    direction: Coef,
    scores: Vec<f64>,
}

impl Line {
    /// The direction.
    pub fn direction(&self) -> &Coef {
        &self.direction
    }

    /// The direction's scores, intercept included, offsets not.
    pub fn scores(&self) -> &[f64] {
        &self.scores
    }

    /// The scores alone.
    pub(crate) fn into_scores(self) -> Vec<f64> {
        self.scores
    }
}

struct RiskPartial {
    loss: f64,
    gradient: GradientSums,
    hessian: Option<HessianSums>,
    residual: Vec<f64>,
    curvature: Vec<f64>,
    scratch: Vec<f64>,
}

impl RiskPartial {
    fn of_gradient(loss: f64, gradient: GradientSums) -> RiskPartial {
        let (residual, curvature, scratch) = Default::default();
        RiskPartial { loss, gradient, hessian: None, residual, curvature, scratch }
    }
}

impl<'a, L: Loss, P: Penalty> Risk<'a, L, P> {
    /// A risk; lengths must agree, which [`crate::model`] has checked.
    pub fn new(sample: Sample<'a>, loss: L, penalty: P, intercept: Intercept) -> Risk<'a, L, P> {
        let sparse = is_sparse(sample.design);
        let mut class_totals = vec![0.0; loss.n_classes()];
        for (i, class) in sample.labels.iter().enumerate() {
            class_totals[class.index()] += sample.weights.map_or(1.0, |w| w[i]);
        }
        Risk { total_weight: sample.total_weight(), class_totals, sample, loss, penalty, intercept, sparse }
    }

    /// The rows.
    pub fn sample(&self) -> &Sample<'a> {
        &self.sample
    }

    /// The loss.
    pub fn loss(&self) -> &L {
        &self.loss
    }

    /// The penalty.
    pub fn penalty(&self) -> &P {
        &self.penalty
    }

    /// What becomes of the intercept.
    pub fn intercept(&self) -> Intercept {
        self.intercept
    }

    /// Σs.
    pub fn total_weight(&self) -> f64 {
        self.total_weight
    }

    /// Total weight of each class.
    pub fn class_totals(&self) -> &[f64] {
        &self.class_totals
    }

    /// Whether the rows are sparse.
    pub fn is_sparse(&self) -> bool {
        self.sparse
    }

    /// Number of columns.
    pub fn n_cols(&self) -> usize {
        self.sample.design.shape().cols
    }

    /// Zero weights and, where the intercept is free, the best constant scores.
    pub fn start(&self) -> Coef {
        let mut coef = Coef::zeros(self.loss.n_scores(), self.n_cols());
        if self.intercept != Intercept::Free {
            return coef;
        }
        let constant = self.loss.best_constant(&self.class_totals);
        match self.sample.offsets {
            None => coef.intercept_mut().copy_from_slice(&constant),
            // Offsets about a common value are undone, so that no row is sure of a class before the first step; offsets of
            // very different sizes have no such value, and zero may then be better.
            Some(offsets) => {
                let moved = self.less_mean_offset(constant, offsets);
                if self.loss_at_constant(offsets, &moved) < self.loss_of_scores(offsets) {
                    coef.intercept_mut().copy_from_slice(&moved);
                }
            }
        }
        coef
    }

    /// Intercepts that give with the mean offsets what these give without offsets.
    fn less_mean_offset(&self, mut intercept: Vec<f64>, offsets: &[f64]) -> Vec<f64> {
        let k = intercept.len();
        let mut mean = vec![0.0; k];
        for (i, row) in offsets.chunks_exact(k).enumerate() {
            let share = self.sample.weights.map_or(1.0, |w| w[i]) / self.total_weight;
            mean.iter_mut().zip(row).for_each(|(m, o)| *m += share * o);
        }
        // What all scores of a row have in common is no part of the loss, and must not enter the intercepts.
        let common = if self.loss.shift_invariant() { mean.iter().sum::<f64>() / k as f64 } else { 0.0 };
        intercept.iter_mut().zip(&mean).for_each(|(b, m)| *b -= m - common);
        intercept
    }

    /// The mean loss of these intercepts and offsets alone.
    fn loss_at_constant(&self, offsets: &[f64], intercept: &[f64]) -> f64 {
        let scores = |row: &[f64]| row.iter().zip(intercept).map(|(o, b)| o + b).collect::<Vec<f64>>();
        self.loss_of_scores(&offsets.chunks_exact(intercept.len()).flat_map(scores).collect::<Vec<f64>>())
    }

    /// The objective at zero weights: what the suboptimality is measured against.
    pub fn null_objective(&self) -> f64 {
        let k = self.loss.n_scores();
        match self.sample.offsets {
            // Without an intercept, too: how large a gap is does not depend on where a solver begins.
            Some(offsets) => self.loss_of_scores(offsets),
            None => {
                let start = self.start();
                let totals = &self.class_totals;
                let mut residual = vec![0.0; k];
                let of_class =
                    |c: usize, r: &mut [f64]| self.loss.block(&[Class(c as u32)], start.intercept(), None, r, None);
                (0..totals.len()).map(|c| totals[c] * of_class(c, &mut residual)).sum::<f64>() / self.total_weight
            }
        }
    }

    /// Where a common shift of all scores changes no loss, the part of some coefficients without one: the solution of
    /// least penalty has none.
    pub fn centre_scores(&self, coef: &mut Coef) {
        if self.loss.shift_invariant() {
            coef.remove_common_part();
        }
    }

    /// The penalty at some coefficients, the intercept among them where it is penalised.
    pub fn penalty_at(&self, coef: &Coef) -> f64 {
        RiskFrame::penalty_at(self, coef)
    }

    fn pass(&self) -> Pass<'a> {
        Pass::new(self.sample.design, self.sample.units)
    }

    fn part<'s, T>(slice: Option<&'s [T]>, range: &Range<usize>, width: usize) -> Option<&'s [T]> {
        slice.map(|s| &s[range.start * width..range.end * width])
    }

    /// Scores of a direction for every row, offsets not included.
    pub fn along(&self, direction: &Coef, watch: &Watch) -> Result<Line> {
        let k = self.loss.n_scores();
        // Weights of several scores are seldom zero in all, and rows that are at hand read them side by side.
        let view = self.sample.design.by_columns().filter(|_| k == 1 || !self.sample.design.lends());
        if let Some(view) = view {
            return Ok(Line { direction: direction.clone(), scores: self.scores_by_columns(&view, direction) });
        }
        let mut scores = vec![0.0; self.sample.labels.len() * k];
        let scorer = Scorer::new(direction, self.sample.units, self.sparse);
        self.pass().reduce(
            watch,
            (k, &mut scores),
            || (),
            |(), _, rows, out| {
                scorer.scores(&rows, out);
                Ok(())
            },
            |(), ()| (),
        )?;
        Ok(Line { direction: direction.clone(), scores })
    }

    /// The largest spread of a direction over the class scores of a row of positive weight.
    pub fn range_of(&self, line: &Line) -> f64 {
        let k = self.loss.n_scores();
        // A class without a score of its own has score zero.
        let fixed = if self.loss.n_classes() > k { 0.0f64 } else { f64::NAN };
        let counted = |i: usize| self.sample.weights.is_none_or(|w| w[i] > 0.0);
        let rows = line.scores.chunks_exact(k).enumerate().filter(|(i, _)| counted(*i));
        let spread = |z: &[f64]| {
            let (low, high) = z.iter().fold((fixed, fixed), |(low, high), z| (low.min(*z), high.max(*z)));
            high - low
        };
        rows.map(|(_, z)| spread(z)).fold(0.0, f64::max)
    }

    /// F at `point + step · direction`, from cached scores.
    pub fn on_line(&self, point: &Point, line: &Line, step: f64) -> f64 {
        let z: Vec<f64> = point.scores.iter().zip(&line.scores).map(|(z, d)| z + step * d).collect();
        self.loss_of_scores(&z) + self.penalty_at(&point.coef.moved(step, &line.direction))
    }

    /// The mean loss of given scores.
    pub fn loss_of_scores(&self, scores: &[f64]) -> f64 {
        self.loss_sum(scores).value() / self.total_weight
    }

    /// `Σ sᵢ ℓ(yᵢ, zᵢ)` of given scores.
    pub(crate) fn loss_sum(&self, scores: &[f64]) -> CompensatedSum {
        let k = self.loss.n_scores();
        let sums = block_sums(self.sample.labels.len(), 1, |range, sums| {
            let mut residual = vec![0.0; range.len() * k];
            let weights = Self::part(self.sample.weights, &range, 1);
            let z = &scores[range.start * k..range.end * k];
            sums[0].add(self.loss.block(&self.sample.labels[range], z, weights, &mut residual, None));
        });
        sums[0]
    }

    /// `Σᵢ rᵢxᵢᵀ` in units, score by score, and `Σᵢ rᵢ`, for given values r, one per row and score.
    pub fn weighted_sums(&self, values: &[f64], watch: &Watch) -> Result<(Vec<f64>, Vec<f64>)> {
        let (k, cols) = (self.loss.n_scores(), self.n_cols());
        if let Some(sums) = self.sums_wide(values)? {
            return Ok((sums.sums, sums.totals));
        }
        let mut sums = self.pass().reduce(
            watch,
            (0, &mut []),
            || GradientSums::new(1, k, cols, self.sparse),
            |sums, range, rows, _| {
                sums.add(&rows, &values[range.start * k..range.end * k], None);
                Ok(())
            },
            |a, b| a.merge(&b),
        )?;
        sums.finish(self.sample.units);
        Ok((sums.sums, sums.totals))
    }

    /// `Σ sᵢ xᵢ` per class, in units: what a balanced dual point of several classes is mixed with.
    pub fn class_sums(&self, watch: &Watch) -> Result<Vec<f64>> {
        let (classes, cols) = (self.loss.n_classes(), self.n_cols());
        let mut sums = self.pass().reduce(
            watch,
            (0, &mut []),
            || GradientSums::new(classes, 1, cols, self.sparse),
            |sums, range, rows, _| {
                let labels = &self.sample.labels[range.clone()];
                let weights: Vec<f64> = match self.sample.weights {
                    Some(w) => w[range].to_vec(),
                    None => vec![1.0; labels.len()],
                };
                sums.add(&rows, &weights, Some(labels));
                Ok(())
            },
            |a, b| a.merge(&b),
        )?;
        sums.finish(self.sample.units);
        Ok(sums.sums)
    }
}

impl<L: Loss, P: Penalty> Risk<'_, L, P> {
    /// One fused pass: scores, objective, gradient and, where asked for, the Hessian.
    pub fn at(&self, coef: &Coef, detail: Detail, watch: &Watch) -> Result<Point> {
        if let Some(point) = self.at_wide(coef, detail, watch)? {
            return Ok(point);
        }
        let (k, cols) = (self.loss.n_scores(), self.n_cols());
        // With one score the sums are kept per class: the duality gap scales the classes against each other.
        let routes = if k == 1 { 2 } else { 1 };
        let pairs = k * (k + 1) / 2;
        let scorer = Scorer::new(coef, self.sample.units, self.sparse);
        let mut scores = vec![0.0; self.sample.labels.len() * k];
        let mut sum = self.pass().reduce(
            watch,
            (k, &mut scores),
            || RiskPartial {
                loss: 0.0,
                gradient: GradientSums::new(routes, k, cols, self.sparse),
                hessian: (detail == Detail::Hessian).then(|| HessianSums::new(k, cols, self.sparse)),
                residual: Vec::new(),
                curvature: Vec::new(),
                scratch: Vec::new(),
            },
            |sum, range, mut rows, z| {
                scorer.scores(&rows, z);
                if let Some(offsets) = Self::part(self.sample.offsets, &range, k) {
                    z.iter_mut().zip(offsets).for_each(|(z, o)| *z += o);
                }
                let labels = &self.sample.labels[range.clone()];
                let weights = Self::part(self.sample.weights, &range, 1);
                sum.residual.resize(z.len(), 0.0);
                let curvature = sum.hessian.is_some().then(|| {
                    sum.curvature.resize(range.len() * pairs, 0.0);
                    &mut sum.curvature[..]
                });
                sum.loss += self.loss.block(labels, z, weights, &mut sum.residual, curvature);
                sum.gradient.add(&rows, &sum.residual, (routes == 2).then_some(labels));
                if let Some(hessian) = &mut sum.hessian {
                    hessian.add(&mut rows, &sum.curvature, &mut sum.scratch);
                }
                Ok(())
            },
            |a, b| {
                a.loss += b.loss;
                a.gradient.merge(&b.gradient);
                if let (Some(a), Some(b)) = (&mut a.hessian, &b.hessian) {
                    a.merge(b);
                }
            },
        )?;
        sum.gradient.finish(self.sample.units);
        self.assemble(coef.clone(), scores, sum)
    }

    fn assemble(&self, coef: Coef, scores: Vec<f64>, sum: RiskPartial) -> Result<Point> {
        let (k, cols, total) = (self.loss.n_scores(), self.n_cols(), self.total_weight);
        let lambda = self.penalty.ridge();
        let mut gradient = Coef::zeros(k, cols);
        sum.gradient.means(total, gradient.weights_mut());
        if lambda > 0.0 {
            for (c, of_score) in gradient.weights_mut().chunks_mut(cols.max(1)).enumerate() {
                // At least 2¹⁴ weights a task: results do not depend on it.
                let weights = of_score.par_iter_mut().with_min_len(1 << 14).zip(coef.weights_of(c)).enumerate();
                weights.for_each(|(j, (g, w))| *g += self.penalty.ridge_of(j) * w);
            }
        }
        if self.intercept != Intercept::None {
            for route in sum.gradient.totals.chunks_exact(k) {
                gradient.intercept_mut().iter_mut().zip(route).for_each(|(g, s)| *g += s / total);
            }
        }
        if self.intercept == Intercept::Penalised {
            gradient.intercept_mut().iter_mut().zip(coef.intercept()).for_each(|(g, b)| *g += lambda * b);
        }
        let objective = sum.loss / total + self.penalty_at(&coef);
        let finite = |part: &[f64]| part.iter().all(|g| g.is_finite());
        if !objective.is_finite() || !gradient.as_slice().par_chunks(1 << 16).all(finite) {
            // Names the value at fault, also where it is in a row of weight zero: 0 · ∞ is not 0.
            crate::design::summarise(self.sample.design, None, &Watch::default())?;
            return Err(Error::data("the objective is not finite at these coefficients")
                .help("check the offsets and the scale of the columns"));
        }
        let hessian = sum.hessian.map(|h| self.penalised(h.finish(self.sample.units, total.recip())));
        Ok(Point { coef, objective, gradient, hessian, scores, gradient_sums: sum.gradient.sums })
    }

    /// Adds the curvature of the penalty, and takes the intercepts out where there are none.
    pub(crate) fn penalised(&self, mut hessian: Square) -> Square {
        let (weights, all) = (self.loss.n_scores() * self.n_cols(), hessian.n());
        for j in 0..weights {
            *hessian.at(j, j) += self.penalty.ridge_of(j % self.n_cols());
        }
        if self.intercept == Intercept::Free && self.loss.shift_invariant() {
            // A common shift of all intercepts changes nothing; give that direction curvature so that it stays put.
            let mean = (weights..all).map(|j| hessian.get(j, j)).sum::<f64>() / (all - weights) as f64;
            for j in weights..all {
                (j..all).for_each(|i| *hessian.at(i, j) += mean);
            }
        }
        for j in weights..all {
            match self.intercept {
                Intercept::Free => {}
                Intercept::Penalised => *hessian.at(j, j) += self.penalty.ridge(),
                Intercept::None => {
                    (0..j).for_each(|i| *hessian.at(j, i) = 0.0);
                    (j + 1..all).for_each(|i| *hessian.at(i, j) = 0.0);
                    *hessian.at(j, j) = 0.0;
                }
            }
        }
        hessian
    }
}
