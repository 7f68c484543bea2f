//! The duality gap as a sum that cannot cancel, rounding included.
//!
//! For any feasible point θ of the dual problem, and `v = X̂ᵀ(sθ)/S`,
//!
//! ```text
//! F − D(θ) = (1/S) Σ sᵢ FYᵢ + Ψ,   FY = ℓ(z) + ℓ*(θ) − θ·z ≥ 0,   Ψ = λΩ(w) + (λΩ)*(−v) + v·w ≥ 0
//! ```
//!
//! (Fenchel and Young), so an upper bound on each term is one on the gap, and the bound is good to its last digit however
//! small it is; as a difference of two objectives it would be good to 1e-16 of them at best. θ is feasible *by
//! definition*: it is a point of real numbers, of which only an enclosure is computed. Balance (`Σsθ = 0` for a free
//! intercept) is the optimality of an intercept that exists near the stored one ([`probabilities`]), or a scale of each
//! class that is a ratio of exact sums ([`margins`]); what is computed is how far θ may be from its approximation θ̂.
//!
//! What is exact: the doubles of the design, centres, scales, λ, factors, weights, offsets, and the coefficients. All
//! that is computed from them is enclosed: scores to `e`, sums over rows to `δ`, probabilities to a few units of the
//! last place.

mod free_columns;
mod intercepts;
mod joint;
mod margins;
mod penalty;
mod probabilities;
mod squares;

use super::Certificate;
use crate::error::{Error, Result};
use crate::numeric::{CompensatedSum, UNIT, rounding_bound};
use crate::objective::{Coef, Intercept, Loss, Penalty, Risk, SizedScores};
use crate::table::Class;
use crate::watch::Watch;
use free_columns::PartlyBest;
pub use free_columns::PartlyMinimised;
use penalty::Conjugated;
use rayon::prelude::*;
use std::ops::Range;

/// What a bound is multiplied by to cover the roundings of its own evaluation, sums and products of positive numbers:
/// 1e-9 covers nine million of them, and sums over rows are compensated.
const EVALUATION: f64 = 1.0 + 1e-9;
/// Rows summed in one block: fixed, so that sums do not depend on the threads; the bound grows with twice this number.
/// Chosen, not measured.
const ROWS: usize = 2048;
/// Relative rounding of two objectives that is not taken for a contradiction; a defect would show far above it.
const CONTRADICTION: f64 = 1e-9;

/// The rows of a risk at a point.
pub struct ScoredRows<'a> {
    labels: &'a [Class],
    weights: Option<&'a [f64]>,
    scores: &'a [f64],
    /// A bound on the error of every score of a row, per row.
    errors: &'a [f64],
    /// Multipliers of a loss that has no derivative, one or one per class of every row.
    multipliers: Option<&'a [f64]>,
    /// Whether `Σsθ = 0` is asked for.
    balanced: bool,
    /// Where columns are without a penalty, what is known of their best weights (and intercepts).
    partly_best: Option<PartlyBest>,
}

impl ScoredRows<'_> {
    fn len(&self) -> usize {
        self.labels.len()
    }

    fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |w| w[row])
    }

    /// Compensated sums over the rows of positive weight.
    fn sums(&self, width: usize, add: impl Fn(usize, f64, &mut [CompensatedSum]) + Sync) -> Vec<f64> {
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
        for partial in partials {
            total.iter_mut().zip(partial).for_each(|(t, p)| t.merge(p));
        }
        total.into_iter().map(CompensatedSum::value).collect()
    }
}

/// Upper bounds for one row.
#[derive(Debug, Clone, Copy)]
pub struct RowTerms {
    /// On `ℓ(z) + ℓ*(θ) − θ·z`.
    pub(crate) fenchel_young: f64,
    /// On how far ℓ at the exact scores exceeds ℓ at the computed ones.
    pub(crate) loss_error: f64,
}

/// A loss whose Fenchel–Young terms can be enclosed: what a proof of the gap needs.
pub trait Enclosed: Loss {
    /// A feasible point of the dual problem, as far as the rows determine it.
    type DualPoint: Sync;

    /// A feasible point near the derivatives of the loss, or near given multipliers; the reason where there is none.
    fn dual_rows(&self, rows: &ScoredRows<'_>) -> std::result::Result<Self::DualPoint, String>;

    /// θ̂ of a row and, entry by entry, how far θ may be from it.
    fn theta(&self, rows: &ScoredRows<'_>, dual: &Self::DualPoint, row: usize, theta: &mut [f64], error: &mut [f64]);

    /// What is known of the mean of the Fenchel–Young terms, beyond the terms of the rows.
    fn mean_term(&self, _dual: &Self::DualPoint) -> f64 {
        0.0
    }

    /// `√(Σs|θ − θ̂|²/S)` as far as it is known of all rows together, beyond the errors of the rows.
    fn mean_error(&self, _dual: &Self::DualPoint) -> f64 {
        0.0
    }

    /// The largest eigenvalue of `∂²ℓ/∂z²` anywhere, where there is one: ℓ* is as strongly convex as its inverse.
    fn smoothness(&self) -> Option<f64> {
        None
    }

    /// How far the best intercepts for these weights may be from the stored ones, of several scores.
    fn intercept_error(&self, _dual: &Self::DualPoint) -> Option<f64> {
        None
    }

    /// Bounds at `κθ`, κ from 0 to 1.
    fn terms(&self, rows: &ScoredRows<'_>, dual: &Self::DualPoint, shrink: f64, row: usize) -> RowTerms;
}

/// F at some coefficients and a proved bound on how far that is from the optimum. Losses without derivatives need
/// multipliers, one per row or one per class of every row.
///
/// ```
/// use linsep::certify::proved_gap;
/// use linsep::design::{LabelledRows, DenseMatrix, Units};
/// use linsep::objective::{Coef, Hinge, Intercept, Ridge, Risk, Sample};
/// use linsep::table::Class;
/// // Two points at ±1 and λ = 1/2: w = 1, and both multipliers are 1/2.
/// let (x, units) = (DenseMatrix::new(vec![-1.0, 1.0], 1)?, Units::identity(1));
/// let labels = [Class(0), Class(1)];
/// let rows = Sample::new(LabelledRows::new(&x, &labels), &units);
/// let risk = Risk::new(rows, Hinge, Ridge::new(0.5), Intercept::Free);
/// let coef = Coef::from_vec(vec![1.0, 0.0], 1, 1);
/// let (objective, certificate) = proved_gap(&risk, &coef, Some(&[0.5, 0.5]), &Default::default())?;
/// assert_eq!(objective, 0.25);
/// assert!(certificate.gap().unwrap() < 1e-14);
/// # Ok::<(), linsep::Error>(())
/// ```
pub fn proved_gap<L: Enclosed, P: Penalty>(
    risk: &Risk<'_, L, P>,
    coef: &Coef,
    multipliers: Option<&[f64]>,
    watch: &Watch,
) -> Result<(f64, Certificate)> {
    check_multipliers(risk, multipliers)?;
    let sized = risk.sized_scores(coef, needs_columns(risk), watch)?;
    if !risk.penalty().is_none() && !risk.penalty().free_columns().is_empty() {
        let objective = risk.loss_of_scores(&sized.scores) + risk.penalty_at(coef);
        let reason = "multipliers prove nothing about columns without a penalty";
        return Ok((objective, Certificate::Absent { reason: reason.into() }));
    }
    let proof = gap_at(risk, coef, &sized, multipliers, None, watch)?;
    Ok((proof.objective, proof.certificate))
}

/// The same where the penalty leaves columns out.
pub fn proved_gap_beside_free_columns<L: Enclosed + PartlyMinimised, P: Penalty>(
    risk: &Risk<'_, L, P>,
    coef: &Coef,
    watch: &Watch,
) -> Result<(f64, Certificate)> {
    let proof = gap_with_open_columns(risk, coef, watch)?;
    Ok((proof.objective, proof.certificate))
}

/// What is proved of a point.
pub(super) struct GapProof {
    pub(super) objective: f64,
    pub(super) certificate: Certificate,
    /// Columns of a lasso that an optimum may have a weight on: of all others it is proved to have none.
    pub(super) open_columns: Vec<usize>,
}

/// The gap of a penalty that may leave columns out, and the columns that a lasso leaves open.
pub(super) fn gap_with_open_columns<L: Enclosed + PartlyMinimised, P: Penalty>(
    risk: &Risk<'_, L, P>,
    coef: &Coef,
    watch: &Watch,
) -> Result<GapProof> {
    let sized = risk.sized_scores(coef, needs_columns(risk), watch)?;
    if risk.penalty().free_columns().is_empty() {
        return gap_at(risk, coef, &sized, None, None, watch);
    }
    match risk.loss().partly_best(risk, &sized.scores, watch)? {
        Ok(best) => gap_at(risk, coef, &sized, None, Some(best), watch),
        Err(reason) => {
            let objective = risk.loss_of_scores(&sized.scores) + risk.penalty_at(coef);
            Ok(GapProof { objective, certificate: Certificate::Absent { reason }, open_columns: Vec::new() })
        }
    }
}

/// Whether the errors of the sums are needed column by column: for a ridge their norm suffices.
fn needs_columns<L: Loss, P: Penalty>(risk: &Risk<'_, L, P>) -> bool {
    risk.penalty().factors().is_some() || risk.penalty().lasso() > 0.0
}

fn gap_at<L: Enclosed, P: Penalty>(
    risk: &Risk<'_, L, P>,
    coef: &Coef,
    sized: &SizedScores,
    multipliers: Option<&[f64]>,
    partly_best: Option<PartlyBest>,
    watch: &Watch,
) -> Result<GapProof> {
    let objective = risk.loss_of_scores(&sized.scores) + risk.penalty_at(coef);
    let absent = |reason: String| {
        Ok(GapProof { objective, certificate: Certificate::Absent { reason }, open_columns: Vec::new() })
    };
    if risk.penalty().is_none() {
        return absent("without a penalty there is no duality gap".into());
    }
    if !objective.is_finite() {
        return absent("the objective is not a number: the scores overflow".into());
    }
    let sample = risk.sample();
    let rows = ScoredRows {
        labels: sample.labels,
        weights: sample.weights,
        scores: &sized.scores,
        errors: &sized.errors,
        multipliers,
        balanced: risk.intercept() == Intercept::Free,
        partly_best,
    };
    let dual = match risk.loss().dual_rows(&rows) {
        Ok(dual) => dual,
        Err(reason) => return absent(reason),
    };
    let BoundOfGap { gap: bound, uncertain, open_columns } =
        Bound { risk, coef, sized, rows: &rows }.gap(&dual, objective, watch)?;
    let null = risk.null_objective();
    // F at zero weights is no less than the optimum: a bound below `F − F(0)` cannot be true.
    if !bound.is_finite() || objective - null > bound + CONTRADICTION * (objective.abs() + null.abs()) {
        return absent(match bound.is_finite() {
            true => format!("the bound {bound:e} is below what zero weights show: a defect of linsep"),
            false => "rounding errors are larger than the objective".into(),
        });
    }
    let smallest = risk.penalty().factors().map_or(1.0, |f| f.iter().copied().fold(f64::INFINITY, f64::min));
    let convexity = risk.penalty().ridge() * smallest;
    let weight_distance = (convexity > 0.0).then(|| (2.0 * bound / convexity).sqrt() * EVALUATION);
    let intercept_distance = match (weight_distance, risk.intercept()) {
        (Some(distance), Intercept::Free) => {
            intercepts::distance(risk, &rows, &dual, coef.intercept(), distance * sized.longest_row)
        }
        // The penalty of an intercept has no factor, whatever those of the columns are.
        (_, Intercept::Penalised) if risk.penalty().ridge() > 0.0 => {
            Some((2.0 * bound / risk.penalty().ridge()).sqrt() * EVALUATION)
        }
        _ => None,
    };
    let certificate = Certificate::DualityGap {
        objective,
        // A lower bound on the optimum, whatever rounding did to F.
        dual: objective - (bound + uncertain) * EVALUATION - 4.0 * UNIT * objective.abs(),
        gap: bound,
        relative_gap: bound / objective.abs().max(null),
        weight_distance,
        intercept_distance,
        ridge_added: None,
        errors: None,
    };
    Ok(GapProof { objective, certificate, open_columns })
}

fn check_multipliers<L: Loss, P: Penalty>(risk: &Risk<'_, L, P>, multipliers: Option<&[f64]>) -> Result<()> {
    let Some(given) = multipliers else { return Ok(()) };
    let (rows, k) = (risk.sample().labels.len(), risk.loss().n_scores());
    if given.len() != rows * k {
        return Err(Error::model(format!("{} multipliers for {rows} rows", given.len())));
    }
    match given.iter().position(|u| !u.is_finite()) {
        Some(at) => Err(Error::model(format!("the multiplier of row {} is not a number", at / k + 1))),
        None => Ok(()),
    }
}

/// The inputs of the sum of Fenchel–Young terms.
struct Bound<'b, 'd, L, P> {
    risk: &'b Risk<'d, L, P>,
    coef: &'b Coef,
    sized: &'b SizedScores,
    rows: &'b ScoredRows<'b>,
}

/// The bound on the gap, the error of the objective, and the columns that screening leaves open.
struct BoundOfGap {
    gap: f64,
    /// How far the computed objective may be from F.
    uncertain: f64,
    open_columns: Vec<usize>,
}

impl<L: Enclosed, P: Penalty> Bound<'_, '_, L, P> {
    fn gap(&self, dual: &L::DualPoint, objective: f64, watch: &Watch) -> Result<BoundOfGap> {
        let (risk, rows) = (self.risk, self.rows);
        let total = risk.total_weight();
        let (theta, rounding) = self.theta(dual);
        let (sums, totals) = risk.weighted_sums(&theta, watch)?;
        drop(theta);
        let conjugated = Conjugated { risk, coef: self.coef, sized: self.sized, sums, totals, rounding };
        let shrink = conjugated.shrink();
        let terms = rows.sums(2, |i, s, sums| {
            let terms = risk.loss().terms(rows, dual, shrink, i);
            sums[0].add(s * terms.fenchel_young);
            sums[1].add(s * terms.loss_error);
        });
        let of_rows = terms[0] / total + risk.loss().mean_term(dual);
        let gap = (of_rows + conjugated.fenchel_young(shrink)) * EVALUATION;
        let roundings = rounding_bound(2 * ROWS + self.coef.as_slice().len());
        let uncertain = (terms[1] / total + roundings * objective) * EVALUATION;
        // D is as strongly concave as ℓ* is convex: its maximum is within √(2L·gap) of θ, root mean square.
        let open_columns = match risk.loss().smoothness().filter(|_| risk.penalty().ridge() == 0.0) {
            Some(smoothness) => conjugated.open_columns(shrink, (2.0 * smoothness * gap).sqrt() * EVALUATION),
            None => Vec::new(),
        };
        // No loss and no penalty is negative, so the optimum is not, either.
        let gap = gap.min((objective + uncertain) * EVALUATION) + f64::MIN_POSITIVE;
        Ok(BoundOfGap { gap, uncertain, open_columns })
    }

    /// `s θ̂` of every row and, score by score, a bound on how far `X̂ᵀ(sθ)/S` may be from what their sums say, per unit of
    /// a column's size: rounding of the sums, and θ̂ for θ.
    fn theta(&self, dual: &L::DualPoint) -> (Vec<f64>, Vec<f64>) {
        let (risk, rows, k) = (self.risk, self.rows, self.risk.loss().n_scores());
        let mut theta = vec![0.0; rows.len() * k];
        let partials: Vec<Vec<CompensatedSum>> = theta
            .par_chunks_mut(ROWS * k)
            .enumerate()
            .map(|(block, theta)| {
                let mut sums = vec![CompensatedSum::default(); 2 * k];
                let mut error = vec![0.0; k];
                for (at, theta) in theta.chunks_exact_mut(k).enumerate() {
                    let i = block * ROWS + at;
                    let s = rows.weight(i);
                    if s == 0.0 {
                        continue;
                    }
                    risk.loss().theta(rows, dual, i, theta, &mut error);
                    for c in 0..k {
                        sums[c].add(s * theta[c] * theta[c]);
                        sums[k + c].add(s * error[c] * error[c]);
                        theta[c] *= s;
                    }
                }
                sums
            })
            .collect();
        let mut sums = vec![CompensatedSum::default(); 2 * k];
        for partial in partials {
            sums.iter_mut().zip(partial).for_each(|(t, p)| t.merge(p));
        }
        let root = |sum: CompensatedSum| (sum.value() / risk.total_weight()).sqrt();
        let of_all = risk.loss().mean_error(dual);
        let of_score = |c: usize| self.sized.sum_rounding * root(sums[c]) + root(sums[k + c]) + of_all;
        let rounding = (0..k).map(|c| of_score(c) * EVALUATION).collect();
        (theta, rounding)
    }
}
