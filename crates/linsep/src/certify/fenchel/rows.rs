//! Rows as the proof of a gap reads them, wherever they are, and those that are all in memory.

use super::{Enclosed, PartlyBest};
use crate::error::Result;
use crate::numeric::{CompensatedSum, Merge};
use crate::objective::{Coef, Penalty, Risk, RiskFrame, RowSizes};
use crate::table::Class;
use crate::watch::Watch;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Rows summed in one block: fixed, so that sums do not depend on the threads; the bound grows with twice this number.
/// Chosen (bench/constants.md).
pub(super) const ROWS: usize = 2048;

/// A point of the dual problem as far as all rows together determine it: it holds no number of a single row.
pub type DualPointOf<R> = <<R as RiskFrame>::Loss as Enclosed>::DualPoint;

/// What [`crate::certify::proved_gap`] asks of the rows of a risk: sums and maxima over them, which parts of the rows can
/// find by themselves and [`Merge`] in the order of the parts.
///
/// Numbers of single rows (scores, their errors, probabilities, θ) stay with the rows, behind [`GapRows::SizedRows`]. [`Risk`]
/// is the implementation with all rows in memory. It also serves as one part of rows that lie in several places: every
/// answer is a sum that is not divided by the weight of the rows, or is told `total`, Σs of all of them, and knows nothing of
/// the penalty.
///
/// Only rows in memory have multipliers, for losses without derivatives (hinge, Crammer and Singer), and columns of penalty
/// factor zero, whose best weights are a fit of their own.
pub trait GapRows: RiskFrame<Loss: Enclosed> {
    /// The scores of all rows with their errors, and what the rows keep between two questions.
    type SizedRows;

    /// One pass: scores, losses and sizes, also those of every column where they are asked for.
    fn sized(&self, coef: &Coef, by_column: bool, total: f64, watch: &Watch) -> Result<(Self::SizedRows, SizedSums)>;
    /// The sums of [`Enclosed::add_imbalance`] at scores shifted by a number per class.
    fn imbalance(&self, rows: &mut Self::SizedRows, shift: &[f64]) -> Result<ImbalanceSums>;
    /// One pass: what `X̂ᵀ(sθ)` is near, and how nearly.
    fn theta_sums(&self, rows: &mut Self::SizedRows, dual: &DualPointOf<Self>, watch: &Watch) -> Result<ThetaSums>;
    /// The sums of [`Enclosed::terms`] at `κθ`, for rows whose [`GapRows::theta_sums`] were asked for.
    fn term_sums(&self, rows: &Self::SizedRows, dual: &DualPointOf<Self>, shrink: f64) -> Result<TermSums>;
    /// `Σ s ∂ℓ/∂z` at scores shifted by each of some numbers, of a loss of one score.
    fn slopes(&self, rows: &Self::SizedRows, shifts: &[f64]) -> Result<Vec<SlopeSums>>;
    /// How many shifts [`GapRows::slopes`] is best asked for at once: one where asking costs nothing.
    fn slopes_at_once(&self) -> usize {
        1
    }
}

/// The losses of some rows, and bounds on their sizes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SizedSums {
    /// `Σ s ℓ`.
    pub losses: CompensatedSum,
    /// Upper bounds.
    pub sizes: RowSizes,
}

impl Merge for SizedSums {
    fn merge(&mut self, other: SizedSums) {
        self.losses.merge(other.losses);
        self.sizes.merge(other.sizes);
    }
}

/// What the balance of a dual point depends on.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ImbalanceSums {
    /// As many as [`Enclosed::n_imbalances`] says.
    pub sums: Vec<CompensatedSum>,
    /// Number of rows.
    pub rows: usize,
    /// Whether all that the rows keep are numbers.
    pub finite: bool,
}

impl ImbalanceSums {
    pub(super) fn values(&self) -> Vec<f64> {
        self.sums.iter().map(|sum| sum.value()).collect()
    }
}

impl Merge for ImbalanceSums {
    fn merge(&mut self, other: ImbalanceSums) {
        self.sums.merge(other.sums);
        self.rows += other.rows;
        self.finite &= other.finite;
    }
}

/// Sums of θ̂ over some rows.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ThetaSums {
    /// `X̂ᵀ(sθ̂)`, score by score.
    pub columns: Vec<f64>,
    /// `Σ sθ̂`, score by score.
    pub totals: Vec<f64>,
    /// `Σ sθ̂²`, score by score.
    pub squares: Vec<CompensatedSum>,
    /// `Σ s(θ − θ̂)²` at most, score by score.
    pub errors: Vec<CompensatedSum>,
    /// The most roundings in sequence of an entry of `columns` or `totals`.
    pub roundings: usize,
    /// Whether all that the rows keep are numbers.
    pub finite: bool,
}

impl Merge for ThetaSums {
    fn merge(&mut self, other: ThetaSums) {
        self.columns.iter_mut().zip(other.columns).for_each(|(a, b)| *a += b);
        self.totals.iter_mut().zip(other.totals).for_each(|(a, b)| *a += b);
        self.squares.merge(other.squares);
        self.errors.merge(other.errors);
        // Each merge is one addition more.
        self.roundings = self.roundings.max(other.roundings) + 1;
        self.finite &= other.finite;
    }
}

/// Sums of the bounds for single rows, those of `RowTerms`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TermSums {
    /// `Σ s FY` at most.
    pub fenchel_young: CompensatedSum,
    /// By how much `Σ s ℓ` at the exact scores may exceed that at the computed ones.
    pub loss_error: CompensatedSum,
}

impl Merge for TermSums {
    fn merge(&mut self, other: TermSums) {
        self.fenchel_young.merge(other.fenchel_young);
        self.loss_error.merge(other.loss_error);
    }
}

/// The slope of the loss in the intercept.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct SlopeSums {
    /// `Σ s ∂ℓ/∂z`.
    pub slope: CompensatedSum,
    /// `Σ s|∂ℓ/∂z|`.
    pub size: f64,
}

impl Merge for SlopeSums {
    fn merge(&mut self, other: SlopeSums) {
        self.slope.merge(other.slope);
        self.size += other.size;
    }
}

/// What is known of a dual point before the rows are asked.
#[derive(Debug, Clone, Copy)]
pub struct DualTask {
    /// Whether `Σsθ = 0` is asked for.
    pub(super) balanced: bool,
    /// Whether the rows have multipliers.
    pub(super) multipliers: bool,
    /// Where columns are without a penalty, what is known of their best weights (and intercepts).
    pub(super) partly_best: Option<PartlyBest>,
}

/// The rows of a risk at a point, all in memory.
pub struct ScoredRows<'a> {
    pub(super) labels: &'a [Class],
    pub(super) weights: Option<&'a [f64]>,
    pub(super) scores: Vec<f64>,
    /// A bound on the error of every score of a row, per row.
    pub(super) errors: Vec<f64>,
    /// Multipliers of a loss that has no derivative, one or one per class of every row.
    pub(super) multipliers: Option<&'a [f64]>,
    /// What [`Enclosed::keep`] computed, row by row, for which shift, and whether all are numbers.
    kept: Vec<f64>,
    kept_at: Option<(Vec<f64>, bool)>,
}

impl ScoredRows<'_> {
    fn len(&self) -> usize {
        self.labels.len()
    }

    fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |w| w[row])
    }

    /// The numbers that a row keeps.
    pub(super) fn kept(&self, row: usize, width: usize) -> &[f64] {
        &self.kept[row * width..][..width]
    }

    /// Lets every row keep its numbers for a shift; whether all are finite.
    fn keep<L: Enclosed>(&mut self, loss: &L, shift: &[f64]) -> bool {
        let (k, width) = (loss.n_scores(), loss.n_kept());
        if width == 0 {
            return true;
        }
        if let Some((_, finite)) = self.kept_at.as_ref().filter(|(at, _)| at == shift) {
            return *finite;
        }
        self.kept.resize(self.labels.len() * width, 0.0);
        let blocks = self.kept.par_chunks_mut(width * ROWS).zip(self.scores.par_chunks(k * ROWS));
        let of_block = |(kept, scores): (&mut [f64], &[f64])| {
            loss.keep(scores, shift, kept);
            kept.iter().all(|p| p.is_finite())
        };
        let finite = blocks.map(of_block).reduce(|| true, |a, b| a && b);
        self.kept_at = Some((shift.to_vec(), finite));
        finite
    }

    /// Compensated sums over the rows of positive weight.
    fn sums(&self, width: usize, add: impl Fn(usize, f64, &mut [CompensatedSum]) + Sync) -> Vec<CompensatedSum> {
        let of_block = |range: Range<usize>| {
            let mut sums = vec![CompensatedSum::default(); width];
            for i in range {
                let s = self.weight(i);
                if s > 0.0 {
                    add(i, s, &mut sums);
                }
            }
            sums
        };
        let blocks = (0..self.len().div_ceil(ROWS)).into_par_iter();
        let partials: Vec<Vec<CompensatedSum>> =
            blocks.map(|b| of_block(b * ROWS..((b + 1) * ROWS).min(self.len()))).collect();
        let mut total = vec![CompensatedSum::default(); width];
        partials.into_iter().for_each(|partial| total.merge(partial));
        total
    }
}

impl<'a, L: Enclosed, P: Penalty> GapRows for Risk<'a, L, P> {
    type SizedRows = ScoredRows<'a>;

    fn sized(&self, coef: &Coef, by_column: bool, total: f64, watch: &Watch) -> Result<(ScoredRows<'a>, SizedSums)> {
        let sized = self.sized_scores(coef, by_column, total, watch)?;
        let losses = self.loss_sum(&sized.scores);
        let sample = self.sample();
        let rows = ScoredRows {
            labels: sample.rows.labels,
            weights: sample.rows.weights,
            scores: sized.scores,
            errors: sized.errors,
            multipliers: None,
            kept: Vec::new(),
            kept_at: None,
        };
        Ok((rows, SizedSums { losses, sizes: sized.sizes }))
    }

    fn imbalance(&self, rows: &mut ScoredRows<'a>, shift: &[f64]) -> Result<ImbalanceSums> {
        let finite = rows.keep(self.loss(), shift);
        let rows = &*rows;
        let sums = rows.sums(self.loss().n_imbalances(), |i, s, sums| self.loss().add_imbalance(rows, i, s, sums));
        Ok(ImbalanceSums { sums, rows: rows.len(), finite })
    }

    fn theta_sums(&self, rows: &mut ScoredRows<'a>, dual: &L::DualPoint, watch: &Watch) -> Result<ThetaSums> {
        let k = self.loss().n_scores();
        let finite = rows.keep(self.loss(), self.loss().shift(dual));
        let rows = &*rows;
        let mut theta = vec![0.0; rows.len() * k];
        let partials: Vec<[Vec<CompensatedSum>; 2]> = theta
            .par_chunks_mut(ROWS * k)
            .enumerate()
            .map(|(block, theta)| {
                let [mut squares, mut errors] =
                    [vec![CompensatedSum::default(); k], vec![CompensatedSum::default(); k]];
                let mut error = vec![0.0; k];
                for (at, theta) in theta.chunks_exact_mut(k).enumerate() {
                    let i = block * ROWS + at;
                    let s = rows.weight(i);
                    if s == 0.0 {
                        continue;
                    }
                    self.loss().theta(rows, dual, i, theta, &mut error);
                    for c in 0..k {
                        squares[c].add(s * theta[c] * theta[c]);
                        errors[c].add(s * error[c] * error[c]);
                        theta[c] *= s;
                    }
                }
                [squares, errors]
            })
            .collect();
        let [mut squares, mut errors] = [vec![CompensatedSum::default(); k], vec![CompensatedSum::default(); k]];
        for [of_theta, of_error] in partials {
            squares.merge(of_theta);
            errors.merge(of_error);
        }
        let (columns, totals) = self.weighted_sums(&theta, watch)?;
        Ok(ThetaSums { columns, totals, squares, errors, roundings: self.sum_roundings()?, finite })
    }

    fn term_sums(&self, rows: &ScoredRows<'a>, dual: &L::DualPoint, shrink: f64) -> Result<TermSums> {
        let sums = rows.sums(2, |i, s, sums| {
            let terms = self.loss().terms(rows, dual, shrink, i);
            sums[0].add(s * terms.fenchel_young);
            sums[1].add(s * terms.loss_error);
        });
        Ok(TermSums { fenchel_young: sums[0], loss_error: sums[1] })
    }

    fn slopes(&self, rows: &ScoredRows<'a>, shifts: &[f64]) -> Result<Vec<SlopeSums>> {
        Ok(shifts.iter().map(|shift| slope_at(self.loss(), rows, *shift)).collect())
    }
}

/// `Σ s ∂ℓ/∂z` at scores shifted by a number.
fn slope_at<L: Enclosed>(loss: &L, rows: &ScoredRows<'_>, shift: f64) -> SlopeSums {
    let of_block = |block: usize| {
        let range = block * ROWS..((block + 1) * ROWS).min(rows.len());
        let shifted: Vec<f64> = rows.scores[range.clone()].iter().map(|z| z + shift).collect();
        let mut slopes = vec![0.0; shifted.len()];
        let weights = rows.weights.map(|w| &w[range.clone()]);
        loss.block(&rows.labels[range], &shifted, weights, &mut slopes, None);
        let mut sums = SlopeSums { slope: CompensatedSum::default(), size: 0.0 };
        for slope in slopes {
            sums.slope.add(slope);
            sums.size += slope.abs();
        }
        sums
    };
    let blocks: Vec<SlopeSums> = (0..rows.len().div_ceil(ROWS)).into_par_iter().map(of_block).collect();
    let mut sums = SlopeSums { slope: CompensatedSum::default(), size: 0.0 };
    blocks.into_iter().for_each(|block| sums.merge(block));
    sums
}
