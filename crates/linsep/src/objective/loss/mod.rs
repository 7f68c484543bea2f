//! Losses: each sees labels and scores, never features.

mod crammer_singer;
mod hinge;
mod link;
mod logistic;
mod softmax;
mod squared;
mod squared_hinge;
mod squared_sigmoid;

pub use crammer_singer::CrammerSinger;
pub use hinge::Hinge;
pub(crate) use hinge::least_hinge_shifts;
pub use link::{LINK_ERROR, Link, LinkLoss};
pub use logistic::Logistic;
pub use softmax::{Softmax, SoftmaxForm};
pub use squared::Squared;
pub use squared_hinge::SquaredHinge;
pub use squared_sigmoid::SquaredSigmoid;

use crate::numeric::CompensatedSum;
use crate::table::Class;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A loss ℓ(y, z) of a class and its scores, asked for a block of rows at a time.
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

    /// The largest `|∂ℓ/∂z|` of any score, where there is a bound.
    fn steepest(&self) -> Option<f64> {
        None
    }

    /// The intercepts of the best constant scores for these class totals.
    fn best_constant(&self, totals: &[f64]) -> Vec<f64>;
}

/// A loss with second derivatives (one of the two where they jump): what Newton's method needs.
pub trait CurvedLoss: Loss {
    /// `sᵢ ∂²ℓ/∂z² dᵢ` for a block of rows and directions d of their scores.
    fn curve(&self, labels: &[Class], scores: &[f64], weights: Option<&[f64]>, directions: &[f64], out: &mut [f64]) {
        let k = self.n_scores();
        let pairs = k * (k + 1) / 2;
        let mut curvature = vec![0.0; labels.len() * pairs];
        self.block(labels, scores, weights, out, Some(&mut curvature));
        for (i, out) in out.chunks_exact_mut(k).enumerate() {
            let (c, d) = (&curvature[i * pairs..][..pairs], &directions[i * k..][..k]);
            for (a, out) in out.iter_mut().enumerate() {
                let entry = |b: usize| c[a.max(b) * (a.max(b) + 1) / 2 + a.min(b)];
                *out = (0..k).map(|b| entry(b) * d[b]).sum();
            }
        }
    }

    /// The largest eigenvalue of `∂²ℓ/∂z²` anywhere.
    fn curvature_bound(&self) -> f64;

    /// Whether they bound the third: `|D³ℓ[v,v,v]| ≤ range(v)·D²ℓ[v,v]`, with `range` the spread of the score direction
    /// over the classes. What a proof without a penalty needs.
    fn self_concordant(&self) -> bool {
        false
    }

    /// Whether `∂²ℓ/∂z²` is the same everywhere: no third derivative.
    fn is_quadratic(&self) -> bool {
        false
    }
}

/// A loss that may not be convex, as a damped descent needs it.
pub trait DescentLoss: CurvedLoss + Sized {
    /// The size of its curvature where rows are undecided, by which coefficients are scaled.
    fn typical_curvature(&self) -> f64;

    /// The same loss with a curvature that is never negative (Gauss–Newton, Fisher scoring), or with its own.
    fn with_positive_curvature(&self, positive: bool) -> Self;
}

/// A convex loss whose conjugate is known.
pub trait Dual: Loss {
    /// `−ℓ*(θ)` for one row; −∞ outside the domain.
    fn dual_value(&self, class: Class, theta: &[f64]) -> f64;
}

/// A convex loss of the margin `yz` of two classes that falls until the margin is one and is zero beyond: the losses of
/// support vector machines. With `θ = −yu` their multipliers are `u ≥ 0`, and `−ℓ*(u) = u − c u²/2`.
pub trait MarginLoss: Dual + Copy {
    /// The largest multiplier, infinite where there is none.
    fn largest_multiplier(&self) -> f64;

    /// c.
    fn dual_curvature(&self) -> f64;

    /// ℓ at a margin.
    fn at_margin(&self, margin: f64) -> f64;

    /// The multiplier that the derivative at a slack `1 − yz` stands for, one of them where it jumps.
    fn slope_at(&self, slack: f64) -> f64;
}

/// A feasible point of the dual problem, as far as the rows determine it.
#[derive(Debug, Clone, PartialEq)]
pub struct DualPoint {
    /// `−Σ sᵢ ℓ*(θᵢ)`.
    pub entropy: f64,
    /// `Σ sᵢ θᵢ·oᵢ`, the part of the offsets.
    pub offset_term: f64,
    /// How the gradient sums of the primal point turn into `Σ sᵢ θᵢ xᵢᵀ`, before shrinking.
    pub recipe: DualRecipe,
    /// `Σ sᵢ θᵢ` per score.
    pub total: Vec<f64>,
}

/// How `Σ sᵢ θᵢ xᵢᵀ` follows from sums that a pass already has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum DualRecipe {
    /// `θᵢ = c_{yᵢ} ∂ℓ/∂z`: scale the per-class gradient sums.
    ScaleClasses([f64; 2]),
    /// `θᵢ = (1−t)∂ℓ/∂z + t(π̃ − e_{yᵢ})`: mix with the class sums.
    Mix {
        /// t.
        share: f64,
        /// π̃ of every class.
        probabilities: Vec<f64>,
    },
    /// `θᵢ = ∂ℓ/∂z − m`, m per score: subtract multiples of the sum of all rows.
    Shift(Vec<f64>),
}

impl DualRecipe {
    /// The scales of the two classes, shrunk; one where classes are not scaled.
    fn class_scales(&self, shrink: f64) -> [f64; 2] {
        match self {
            DualRecipe::ScaleClasses(scale) => scale.map(|c| shrink * c),
            DualRecipe::Mix { .. } | DualRecipe::Shift(_) => [shrink; 2],
        }
    }
}

/// Some rows with their scores, offsets included.
#[derive(Debug, Clone, Copy)]
pub struct ScoredBlock<'a> {
    /// The class of every row.
    pub labels: &'a [Class],
    /// Scores, row by row.
    pub scores: &'a [f64],
    /// Frequencies; `None` is 1 for every row.
    pub weights: Option<&'a [f64]>,
    /// The part of the scores that was given, row by row.
    pub offsets: Option<&'a [f64]>,
}

impl<'a> ScoredBlock<'a> {
    /// Some of these rows, of so many scores each.
    fn part(&self, range: Range<usize>, k: usize) -> ScoredBlock<'a> {
        let of_scores = range.start * k..range.end * k;
        ScoredBlock {
            labels: &self.labels[range.clone()],
            scores: &self.scores[of_scores.clone()],
            weights: self.weights.map(|w| &w[range]),
            offsets: self.offsets.map(|o| &o[of_scores]),
        }
    }

    fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |w| w[row])
    }
}

/// A smooth loss whose derivative at a good primal point is a good dual point: what the duality gap needs.
///
/// The point is found by two sums over the rows, each of which may be taken over parts of them and merged: the first
/// measures the imbalance `Σsθ` of `θ = ∂ℓ/∂z`, the second adds up the dual value at a balanced point.
pub trait Conjugate: CurvedLoss + Dual {
    /// How many numbers [`Conjugate::add_balance`] adds to.
    fn n_balance_sums(&self) -> usize;

    /// Adds the sums that the balance depends on.
    fn add_balance(&self, rows: ScoredBlock<'_>, sums: &mut [CompensatedSum]);

    /// A feasible dual point near `θ = ∂ℓ/∂z`; with `balanced`, one with `Σ sᵢθᵢ = 0`, which a free intercept demands.
    fn dual_recipe(&self, balance: &[f64], balanced: bool) -> DualRecipe;

    /// How many numbers [`Conjugate::add_dual`] adds to.
    fn n_dual_sums(&self) -> usize;

    /// Adds up the dual value of the recipe's θ multiplied by `shrink` from 0 to 1, which a lasso may demand.
    fn add_dual(&self, rows: ScoredBlock<'_>, recipe: &DualRecipe, shrink: f64, sums: &mut [CompensatedSum]);

    /// The point by the sums of all rows.
    fn dual_point(&self, recipe: DualRecipe, shrink: f64, balance: &[f64], dual: &[f64]) -> DualPoint;
}

/// The dual point of rows that are all here.
pub fn dual_point_of<L: Conjugate + ?Sized>(loss: &L, rows: ScoredBlock<'_>, balanced: bool, shrink: f64) -> DualPoint {
    let balance = balance_sums(loss, rows);
    let recipe = loss.dual_recipe(&balance, balanced);
    let dual = dual_sums(loss, rows, &recipe, shrink);
    loss.dual_point(recipe, shrink, &balance, &dual)
}

/// [`Conjugate::add_balance`] of all these rows.
fn balance_sums<L: Conjugate + ?Sized>(loss: &L, rows: ScoredBlock<'_>) -> Vec<f64> {
    let k = loss.n_scores();
    let add = |range: Range<usize>, sums: &mut [CompensatedSum]| loss.add_balance(rows.part(range, k), sums);
    values(block_sums(rows.labels.len(), loss.n_balance_sums(), add))
}

/// [`Conjugate::add_dual`] of all these rows.
fn dual_sums<L: Conjugate + ?Sized>(loss: &L, rows: ScoredBlock<'_>, recipe: &DualRecipe, shrink: f64) -> Vec<f64> {
    let (k, width) = (loss.n_scores(), loss.n_dual_sums());
    if width == 0 {
        return Vec::new();
    }
    let add = |range: Range<usize>, sums: &mut [CompensatedSum]| {
        loss.add_dual(rows.part(range, k), recipe, shrink, sums);
    };
    values(block_sums(rows.labels.len(), width, add))
}

/// Compensated sums over fixed blocks of rows, in parallel and merged in order.
pub(super) fn block_sums(
    rows: usize,
    width: usize,
    block: impl Fn(Range<usize>, &mut [CompensatedSum]) + Sync,
) -> Vec<CompensatedSum> {
    // Rows summed in one block: fixed, so that sums do not depend on the threads; lowered from 8192 without a
    // record of the times. Chosen, not measured.
    const ROWS: usize = 2048;
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
    total
}

fn values(sums: Vec<CompensatedSum>) -> Vec<f64> {
    sums.into_iter().map(CompensatedSum::value).collect()
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

/// +1 for the second class, −1 for the first.
#[inline]
pub(crate) fn sign(class: Class) -> f64 {
    f64::from(class.0).mul_add(2.0, -1.0)
}

/// The scales of two classes that make `Σsθ` vanish where it must, for sums of sizes `low` and `high` of opposite sign:
/// the heavier class shrinks.
fn balancing(low: f64, high: f64, balanced: bool) -> [f64; 2] {
    match balanced {
        true if high > low => [1.0, low / high],
        true if low > high => [high / low, 1.0],
        _ => [1.0, 1.0],
    }
}
