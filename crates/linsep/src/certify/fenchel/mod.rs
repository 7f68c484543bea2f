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
mod rows;
mod squares;

use super::Certificate;
use crate::error::{Error, Result};
use crate::numeric::{CompensatedSum, UNIT, rounding_bound};
use crate::objective::{Coef, Intercept, Loss, Penalty, Risk, RiskFrame, RowSizes};
use crate::watch::Watch;
use free_columns::PartlyBest;
pub use free_columns::PartlyMinimised;
use penalty::Conjugated;
use rows::ROWS;
pub use rows::{DualPointOf, DualTask, GapRows, ImbalanceSums, ScoredRows, SizedSums, SlopeSums, TermSums, ThetaSums};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What a bound is multiplied by to cover the roundings of its own evaluation, sums and products of positive numbers:
/// 1e-9 covers nine million of them, and sums over rows are compensated.
const EVALUATION: f64 = 1.0 + 1e-9;
/// Why there is no proof where what rows keep is not finite.
const NOT_NUMBERS: &str = "the scores are not numbers";
/// Relative rounding of two objectives that is not taken for a contradiction; a defect would show far above it.
const CONTRADICTION: f64 = 1e-9;

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
    /// A feasible point of the dual problem, as far as all rows together determine it: no number of a single row, so that it
    /// can be sent to where the rows are.
    type DualPoint: Sync + Serialize + DeserializeOwned;

    /// Numbers that a row keeps while its dual point is looked for.
    fn n_kept(&self) -> usize {
        0
    }

    /// Computes them for a block of rows at scores shifted by a number per class.
    fn keep(&self, _scores: &[f64], _shift: &[f64], _kept: &mut [f64]) {}

    /// How many numbers [`Enclosed::add_imbalance`] adds to.
    fn n_imbalances(&self) -> usize;

    /// Adds the sums that the balance `Σsθ = 0` depends on, for a row of positive weight s that has kept its numbers.
    fn add_imbalance(&self, rows: &ScoredRows<'_>, row: usize, s: f64, sums: &mut [CompensatedSum]);

    /// A feasible point near the derivatives of the loss, or near given multipliers; the reason where there is none.
    /// `sums_at` asks the rows for these sums at a shift.
    fn feasible(
        &self,
        task: &DualTask,
        sums_at: &mut dyn FnMut(&[f64]) -> Result<ImbalanceSums>,
    ) -> Result<std::result::Result<Self::DualPoint, String>>;

    /// The shift at which rows keep their numbers for a dual point.
    fn shift<'d>(&self, _dual: &'d Self::DualPoint) -> &'d [f64] {
        &[]
    }

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

/// F at some coefficients and a proved bound on how far that is from the optimum, of a loss with derivatives and a penalty
/// on every column. The rows may be anywhere.
///
/// ```
/// use linsep::certify::proved_gap;
/// use linsep::design::{LabelledRows, DenseMatrix, Units};
/// use linsep::objective::{Coef, Intercept, Ridge, Risk, Sample, Squared};
/// use linsep::table::Class;
/// // ½ mean (±1 − wx)² + ½w² with x = ±1: w = ½.
/// let (x, units) = (DenseMatrix::new(vec![-1.0, 1.0], 1)?, Units::identity(1));
/// let labels = [Class(0), Class(1)];
/// let rows = Sample::new(LabelledRows::new(&x, &labels), &units);
/// let risk = Risk::new(rows, Squared::two_classes([-1.0, 1.0]), Ridge::new(1.0), Intercept::Free);
/// let (objective, certificate) = proved_gap(&risk, &Coef::from_vec(vec![0.5, 0.0], 1, 1), &Default::default())?;
/// assert_eq!(objective, 0.25);
/// assert!(certificate.gap().unwrap() < 1e-28);
/// # Ok::<(), linsep::Error>(())
/// ```
pub fn proved_gap<R: GapRows>(risk: &R, coef: &Coef, watch: &Watch) -> Result<(f64, Certificate)> {
    let (rows, sums) = risk.sized(coef, needs_columns(risk), risk.total_weight(), watch)?;
    let proof = match risk.penalty().is_none() || risk.penalty().free_columns().is_empty() {
        true => gap_at(risk, coef, rows, &sums, task(risk), watch)?,
        false => unproved(
            objective_of(risk, coef, &sums),
            "columns without a penalty are proved with all rows in memory".into(),
        ),
    };
    Ok((proof.objective, proof.certificate))
}

/// The same near given multipliers, one per row or one per class of every row: losses without derivatives need them. They
/// are numbers of single rows, so all rows are in memory.
///
/// ```
/// use linsep::certify::proved_gap_of_multipliers;
/// use linsep::design::{LabelledRows, DenseMatrix, Units};
/// use linsep::objective::{Coef, Hinge, Intercept, Ridge, Risk, Sample};
/// use linsep::table::Class;
/// // Two points at ±1 and λ = 1/2: w = 1, and both multipliers are 1/2.
/// let (x, units) = (DenseMatrix::new(vec![-1.0, 1.0], 1)?, Units::identity(1));
/// let labels = [Class(0), Class(1)];
/// let rows = Sample::new(LabelledRows::new(&x, &labels), &units);
/// let risk = Risk::new(rows, Hinge, Ridge::new(0.5), Intercept::Free);
/// let coef = Coef::from_vec(vec![1.0, 0.0], 1, 1);
/// let (objective, certificate) = proved_gap_of_multipliers(&risk, &coef, &[0.5, 0.5], &Default::default())?;
/// assert_eq!(objective, 0.25);
/// assert!(certificate.gap().unwrap() < 1e-14);
/// # Ok::<(), linsep::Error>(())
/// ```
pub fn proved_gap_of_multipliers<'a, L: Enclosed, P: Penalty>(
    risk: &Risk<'a, L, P>,
    coef: &Coef,
    multipliers: &'a [f64],
    watch: &Watch,
) -> Result<(f64, Certificate)> {
    check_multipliers(risk, multipliers)?;
    let (mut rows, sums) = risk.sized(coef, needs_columns(risk), risk.total_weight(), watch)?;
    rows.multipliers = Some(multipliers);
    let proof = match risk.penalty().is_none() || risk.penalty().free_columns().is_empty() {
        true => gap_at(risk, coef, rows, &sums, DualTask { multipliers: true, ..task(risk) }, watch)?,
        false => {
            let reason = "multipliers prove nothing about columns without a penalty";
            unproved(objective_of(risk, coef, &sums), reason.into())
        }
    };
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
    let (rows, sums) = risk.sized(coef, needs_columns(risk), risk.total_weight(), watch)?;
    if risk.penalty().free_columns().is_empty() {
        return gap_at(risk, coef, rows, &sums, task(risk), watch);
    }
    match risk.loss().partly_best(risk, &rows.scores, watch)? {
        Ok(best) => gap_at(risk, coef, rows, &sums, DualTask { partly_best: Some(best), ..task(risk) }, watch),
        Err(reason) => Ok(unproved(objective_of(risk, coef, &sums), reason)),
    }
}

/// The dual point of a risk without multipliers whose columns are all penalised.
fn task<R: RiskFrame>(risk: &R) -> DualTask {
    DualTask { balanced: risk.intercept() == Intercept::Free, multipliers: false, partly_best: None }
}

fn objective_of<R: RiskFrame>(risk: &R, coef: &Coef, sums: &SizedSums) -> f64 {
    sums.losses.value() / risk.total_weight() + risk.penalty_at(coef)
}

fn unproved(objective: f64, reason: String) -> GapProof {
    GapProof { objective, certificate: Certificate::Absent { reason }, open_columns: Vec::new() }
}

/// Whether the errors of the sums are needed column by column: for a ridge their norm suffices.
fn needs_columns<R: RiskFrame>(risk: &R) -> bool {
    risk.penalty().factors().is_some() || risk.penalty().lasso() > 0.0
}

fn gap_at<R: GapRows>(
    risk: &R,
    coef: &Coef,
    mut rows: R::SizedRows,
    sums: &SizedSums,
    task: DualTask,
    watch: &Watch,
) -> Result<GapProof> {
    let objective = objective_of(risk, coef, sums);
    let absent = |reason: String| Ok(unproved(objective, reason));
    if risk.penalty().is_none() {
        return absent("without a penalty there is no duality gap".into());
    }
    if !objective.is_finite() {
        return absent("the objective is not a number: the scores overflow".into());
    }
    let dual = match risk.loss().feasible(&task, &mut |shift| risk.imbalance(&mut rows, shift))? {
        Ok(dual) => dual,
        Err(reason) => return absent(reason),
    };
    let theta = risk.theta_sums(&mut rows, &dual, watch)?;
    if !theta.finite {
        return absent(NOT_NUMBERS.into());
    }
    let bound = Bound { risk, coef, sizes: &sums.sizes, rows: &rows, dual: &dual };
    let BoundOfGap { gap: bound, uncertain, open_columns } = bound.gap(theta, objective)?;
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
            intercepts::distance(risk, &rows, &dual, coef.intercept(), &sums.sizes, distance)?
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

fn check_multipliers<L: Loss, P: Penalty>(risk: &Risk<'_, L, P>, given: &[f64]) -> Result<()> {
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
struct Bound<'b, R: GapRows> {
    risk: &'b R,
    coef: &'b Coef,
    sizes: &'b RowSizes,
    rows: &'b R::SizedRows,
    dual: &'b DualPointOf<R>,
}

/// The bound on the gap, the error of the objective, and the columns that screening leaves open.
struct BoundOfGap {
    gap: f64,
    /// How far the computed objective may be from F.
    uncertain: f64,
    open_columns: Vec<usize>,
}

impl<R: GapRows> Bound<'_, R> {
    fn gap(&self, theta: ThetaSums, objective: f64) -> Result<BoundOfGap> {
        let (risk, dual) = (self.risk, self.dual);
        let total = risk.total_weight();
        let rounding = self.rounding(&theta);
        let ThetaSums { columns, totals, .. } = theta;
        let conjugated = Conjugated { risk, coef: self.coef, sizes: self.sizes, sums: columns, totals, rounding };
        let shrink = conjugated.shrink();
        let terms = risk.term_sums(self.rows, dual, shrink)?;
        let of_rows = terms.fenchel_young.value() / total + risk.loss().mean_term(dual);
        let gap = (of_rows + conjugated.fenchel_young(shrink)) * EVALUATION;
        let roundings = rounding_bound(2 * ROWS + self.coef.as_slice().len());
        let uncertain = (terms.loss_error.value() / total + roundings * objective) * EVALUATION;
        // D is as strongly concave as ℓ* is convex: its maximum is within √(2L·gap) of θ, root mean square.
        let open_columns = match risk.loss().smoothness().filter(|_| risk.penalty().ridge() == 0.0) {
            Some(smoothness) => conjugated.open_columns(shrink, (2.0 * smoothness * gap).sqrt() * EVALUATION),
            None => Vec::new(),
        };
        // No loss and no penalty is negative, so the optimum is not, either.
        let gap = gap.min((objective + uncertain) * EVALUATION) + f64::MIN_POSITIVE;
        Ok(BoundOfGap { gap, uncertain, open_columns })
    }

    /// Score by score, a bound on how far `X̂ᵀ(sθ)/S` may be from what the sums of θ̂ say, per unit of a column's size:
    /// rounding of the sums, and θ̂ for θ.
    fn rounding(&self, theta: &ThetaSums) -> Vec<f64> {
        let root = |sum: &CompensatedSum| (sum.value() / self.risk.total_weight()).sqrt();
        let of_all = self.risk.loss().mean_error(self.dual);
        let of_sums = rounding_bound(theta.roundings);
        let of_score = |(square, error)| of_sums * root(square) + root(error) + of_all;
        theta.squares.iter().zip(&theta.errors).map(|both| of_score(both) * EVALUATION).collect()
    }
}
