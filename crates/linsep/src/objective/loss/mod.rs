//! Losses: each sees labels and scores, never features.

mod logistic;
mod softmax;

pub use logistic::Logistic;
pub use softmax::{Softmax, SoftmaxForm};

use crate::numeric::CompensatedSum;
use crate::table::Class;
use rayon::prelude::*;
use std::ops::Range;

/// A convex loss ℓ(y, z) of a class and its scores, asked for a block of rows at a time.
pub trait Loss: Sync {
    /// Number of scores per row.
    fn n_scores(&self) -> usize;

    /// Number of classes.
    fn n_classes(&self) -> usize;

    /// Returns `Σ sᵢ ℓ(yᵢ, zᵢ)` over a block and writes `sᵢ ∂ℓ/∂z` into `residual`; with `curvature`, also the lower
    /// triangle of `sᵢ ∂²ℓ/∂z²`, `k(k+1)/2` values a row in row order (0,0), (1,0), (1,1), …
    fn block(
        &self,
        labels: &[Class],
        scores: &[f64],
        weights: Option<&[f64]>,
        residual: &mut [f64],
        curvature: Option<&mut [f64]>,
    ) -> f64;

    /// Whether adding one number to all scores of a row changes nothing.
    fn shift_invariant(&self) -> bool {
        false
    }

    /// The intercepts of the best constant scores for these class totals.
    fn best_constant(&self, totals: &[f64]) -> Vec<f64>;
}

/// A loss with second derivatives that bound the third: `|D³ℓ[v,v,v]| ≤ range(v)·D²ℓ[v,v]`, with `range` the spread
/// of the score direction over the classes. What Newton's method and its certificate need.
pub trait CurvedLoss: Loss {}

/// A feasible point of the dual problem, as far as the rows determine it.
#[derive(Debug, Clone, PartialEq)]
pub struct DualPoint {
    /// `−Σ sᵢ ℓ*(θᵢ)`.
    pub entropy: f64,
    /// `Σ sᵢ θᵢ·oᵢ`, the part of the offsets.
    pub offset_term: f64,
    /// How the gradient sums of the primal point turn into `Σ sᵢ θᵢ xᵢᵀ`.
    pub recipe: DualRecipe,
    /// `Σ sᵢ θᵢ` per score.
    pub total: Vec<f64>,
}

/// How `Σ sᵢ θᵢ xᵢᵀ` follows from sums that a pass already has.
#[derive(Debug, Clone, PartialEq)]
pub enum DualRecipe {
    /// `θᵢ = c_{yᵢ} ∂ℓ/∂z`: scale the per-class gradient sums.
    ScaleClasses(Vec<f64>),
    /// `θᵢ = (1−t)∂ℓ/∂z + t(π̃ − e_{yᵢ})`: mix with the class sums.
    Mix {
        /// t.
        share: f64,
        /// π̃.
        probabilities: Vec<f64>,
    },
}

/// A loss whose conjugate is known: what the duality gap needs.
pub trait Conjugate: CurvedLoss {
    /// A feasible dual point near `θ = ∂ℓ/∂z` at these scores; with `balanced`, one with `Σ sᵢθᵢ = 0`, which a free
    /// intercept demands.
    fn dual_point(
        &self,
        labels: &[Class],
        scores: &[f64],
        weights: Option<&[f64]>,
        offsets: Option<&[f64]>,
        balanced: bool,
    ) -> DualPoint;
}

/// Compensated sums over fixed blocks of rows, in parallel and merged in order.
pub(super) fn block_sums(
    rows: usize,
    width: usize,
    block: impl Fn(Range<usize>, &mut [CompensatedSum]) + Sync,
) -> Vec<f64> {
    const ROWS: usize = 8192;
    let partials: Vec<Vec<CompensatedSum>> = (0..rows.div_ceil(ROWS))
        .into_par_iter()
        .map(|b| {
            let mut sums = vec![CompensatedSum::default(); width];
            block(b * ROWS..((b + 1) * ROWS).min(rows), &mut sums);
            sums
        })
        .collect();
    let mut total = vec![CompensatedSum::default(); width];
    for partial in partials {
        total.iter_mut().zip(partial).for_each(|(t, p)| t.merge(p));
    }
    total.into_iter().map(CompensatedSum::value).collect()
}

/// `−p log p` of a probability that may be zero; for one near 1, [`complement_entropy_term`] keeps the digits.
#[inline]
pub(crate) fn entropy_term(p: f64) -> f64 {
    if p > 0.0 { -p * p.ln() } else { 0.0 }
}

/// `−p log p` of `p = 1 − rest` to full relative accuracy for a small rest: by way of p it would be good to ε only, which
/// is more than the whole entropy of a row that is almost certain.
#[inline]
pub(crate) fn complement_entropy_term(rest: f64) -> f64 {
    if rest < 1.0 { -(1.0 - rest) * (-rest).ln_1p() } else { 0.0 }
}
