//! The bound for a risk without a penalty, or with columns that a ridge leaves out.
//!
//! The logistic and softmax losses satisfy `|D³ℓ[v,v,v]| ≤ range(v) D²ℓ[v,v]` (Bach 2010). With `H = ∇²F`,
//! `ν = ‖∇F‖_{H⁻¹}` and `ρ` the largest range of the scores of a row over directions of unit H-norm: if `ρν < 1` the
//! minimiser exists, is unique, `F − F* ≤ [ρν + (1−ρν) ln(1−ρν)]/ρ²` and `‖w − w*‖_H ≤ −ln(1−ρν)/ρ`. A squared loss has
//! no third derivative: ρ = 0, and both are equalities.
//!
//! All of it holds for the real numbers that the doubles of data and coefficients are. With any T and `t = Tᵀx̃`:
//! - `‖TᵀHT − I‖ ≤ ε < 1` proves T and H nonsingular; ε is a computed distance plus the rounding of the sums;
//! - `ν ≤ ‖Tᵀ∇F‖/√(1−ε)`, `ρ ≤ max‖t‖/√(1−ε)`, and the coefficient errors are `‖T_j·‖‖w − w*‖_H/√(1−ε)`.
//!
//! T is the inverse of a Cholesky factor of H, in the columns of the fit or, where these are nearly collinear, in
//! orthonormal combinations of them ([`super::OrthonormalBasis`]). A lasso adds its slope to ∇F where no weight is zero: with g
//! a subgradient at w and 0 one at w*, `g·(w−w*) ≥ (∇f(w)−∇f(w*))·(w−w*)` (both are monotone), and the same bounds follow. Errors of scores change a slope by `C(ξ)Δ`, which in the
//! norm of H⁻¹ is at most `√(ΣsΔᵀCΔ/S)`, and C itself by a factor within e^{±range(Δ)}.

mod ball;
mod curvature_rows;
mod frame;
mod quadratic_part;
mod rows;
mod scores;

pub use ball::{BallBound, curvature_ball_bound};
pub use curvature_rows::{CurvatureRows, FrameSums, HessianSum, LossSum};
pub use frame::WhitenedFrame;
pub use scores::ScoresWithErrors;

use super::{Certificate, CoefficientErrors};
use crate::error::Result;
use crate::linalg::Alias;
use crate::numeric::rounding_bound;
use crate::objective::{Coef, CurvedLoss, Loss};
use crate::watch::Watch;
use quadratic_part::QuadraticPart;

/// What ρν must stay below: the bounds allow for rounding, so this only keeps `ln(1−ρν)` away from its pole.
const PROVEN: f64 = 0.999;
/// Roundings of slopes and curvatures beside those of their score: fewer than this for exp, sum, quotient and products.
const LOSS_ROUNDINGS: usize = 24;
/// Errors of scores above this would change the curvature by more than e^½.
const LARGEST_SCORE_ERROR: f64 = 0.5;
/// Far more than the few roundings of a bound's last operations.
const ROUNDED_UP: f64 = 1.0 + 1e-12;
/// Likewise, for lower bounds.
const ROUNDED_DOWN: f64 = 1.0 - 1e-12;
/// Below this the series of [`shape`] is used; above it the closed form loses at most a factor 1/x² = 400 of rounding.
const SERIES: f64 = 0.05;

/// How the coefficients of a risk are stored in a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredScores {
    /// As they are.
    AsFitted,
    /// After the zeros of a first class.
    Reference,
    /// After a first class, with their mean over the classes taken off.
    Centred,
}

/// The bound, and what was found on the way to it.
#[derive(Debug, Clone)]
pub struct SelfConcordance {
    /// F at the coefficients.
    pub objective: f64,
    /// The bound.
    pub certificate: Certificate,
    /// Newton's step from the coefficients, where H is not singular.
    pub step: Option<Coef>,
    /// `ν√S`: how many standard errors a coefficient may be off, at most and about.
    pub standard_errors: Option<f64>,
    /// Columns that have no part in the proof: combinations of others.
    pub aliased: Vec<Alias>,
}

impl SelfConcordance {
    /// Why a bound that leaves columns out says nothing of all columns: they are within rounding of a combination of others, which
    /// was not proved to be exact.
    pub fn unproved_alias(&self) -> Option<String> {
        let reason = "columns without a penalty are within rounding of a combination of others, and nothing is proved of weights \
                      on the difference";
        self.aliased.iter().any(|alias| !alias.exact).then(|| reason.to_owned())
    }
}

/// The bound at some coefficients, in the units of the risk; their errors are in the units of the columns.
///
/// Without a proof there is the reason. The coefficients may stand for stored ones that differ by four roundings each.
/// The rows may be anywhere.
pub fn self_concordance_bound<R: CurvatureRows>(
    risk: &R,
    coef: &Coef,
    stored: StoredScores,
    watch: &Watch,
) -> Result<SelfConcordance> {
    bound_in_frame(risk, coef, stored, true, watch)
}

/// The same without orthonormal combinations of the columns: no bound where these are nearly collinear.
pub(crate) fn bound_in_columns<R: CurvatureRows>(risk: &R, coef: &Coef, watch: &Watch) -> Result<SelfConcordance> {
    bound_in_frame(risk, coef, StoredScores::AsFitted, false, watch)
}

fn bound_in_frame<R: CurvatureRows>(
    risk: &R,
    coef: &Coef,
    stored: StoredScores,
    may_turn: bool,
    watch: &Watch,
) -> Result<SelfConcordance> {
    let (mut rows, loss) = risk.enclosed(coef, watch)?;
    let total = risk.total_weight();
    let objective = loss.losses.value() / total + risk.penalty_at(coef);
    let without = |reason: &str, aliased: &[Alias], step: Option<Coef>| SelfConcordance {
        objective,
        certificate: Certificate::Absent { reason: reason.into() },
        step,
        standard_errors: None,
        aliased: aliased.to_vec(),
    };
    let quadratic = risk.loss().is_quadratic();
    if !(risk.loss().self_concordant() || quadratic) || QuadraticPart::ridge_only(risk).has_kink(coef) {
        return Ok(without("this loss and penalty have no bound by curvature", &[], None));
    }
    let singular = "the Hessian is singular to working precision: the optimum may not exist";
    let Some(frame) = WhitenedFrame::of(risk, &mut rows, may_turn, watch)? else {
        return Ok(without(singular, &[], None));
    };
    if frame.weighs_left_out(coef) {
        let reason = "there is a weight on a column that the others leave nothing of";
        return Ok(without(reason, frame.aliased(), None));
    }
    let sums = risk.frame_sums(&rows, &frame, watch)?;
    let (k, cols) = (risk.loss().n_scores(), risk.n_cols());
    let (in_columns, column_errors) = frame.in_columns(k, cols);
    let lengths: Vec<f64> = in_columns.iter().zip(&column_errors).map(|(row, e)| length(row) + e).collect();

    // Tᵀ∇F, and what rounding may have done to it.
    let (of_penalty, penalty_errors) = frame.quadratic.gradient(coef);
    let mut gradient: Vec<f64> = sums.gradient.iter().map(|g| g.value() / total).collect();
    let mut rounding =
        (rounding_bound(sums.block + k + 8) + rounding_bound(LOSS_ROUNDINGS + k)) * sums.sizes + 1.01 * sums.errors;
    rounding *= 1.01 / total;
    if of_penalty.iter().any(|g| *g != 0.0) {
        rounding += rounding_bound(of_penalty.len() + 4) * length(&gradient);
    }
    for a in 0..of_penalty.len() {
        gradient.iter_mut().zip(&in_columns[a]).for_each(|(g, t)| *g += t * of_penalty[a]);
        rounding += lengths[a] * (penalty_errors[a] + rounding_bound(of_penalty.len() + 4) * of_penalty[a].abs());
        rounding += column_errors[a] * of_penalty[a].abs();
    }
    let step = newton_step(&in_columns, &gradient, k, cols);
    if !(sums.range < LARGEST_SCORE_ERROR || quadratic) {
        return Ok(without("rounding moves the scores too far for a bound", frame.aliased(), None));
    }

    // Eigenvalues of TᵀHT at the exact scores.
    let curvature = if quadratic { 1.0 } else { sums.range.exp() * ROUNDED_UP };
    let size = (0..frame.width).map(|a| frame.length(a).powi(2)).sum::<f64>().sqrt();
    let moved = size * (sums.basis_errors / total).sqrt() * 1.01;
    let low = ((1.0 - frame.deviation).max(0.0).sqrt() - moved).max(0.0).powi(2) / curvature * ROUNDED_DOWN;
    let high = ((1.0 + frame.deviation).sqrt() + moved).powi(2) * curvature * ROUNDED_UP;
    if !(low > 0.0 && frame.deviation < 1.0) {
        return Ok(without(singular, frame.aliased(), None));
    }
    let by_scores = curvature * (high * sums.score_errors / total).sqrt();
    let decrement = (length(&gradient) + rounding + by_scores * 1.01) / low.sqrt() * ROUNDED_UP;
    let radius = if quadratic { 0.0 } else { sums.largest / low.sqrt() * ROUNDED_UP };
    let product = radius * decrement;
    if !(product < PROVEN) {
        let reason = format!("ρν = {product:.3} is not below 1: the optimum may not exist");
        return Ok(without(&reason, frame.aliased(), Some(step)));
    }
    let rounded = rounding_bound(loss.rows + 64) * objective.abs();
    let objective_error = (sums.loss_errors / total + rounded) * (1.0 + 1e-9);
    let highest = objective + objective_error;
    // No loss or penalty is negative, so F* ≥ 0. A squared loss may be off by more than the error of its score.
    let bound = shape(product) * decrement * decrement;
    let gap = if quadratic { bound } else { bound.min(highest) };
    let distance = if radius > 0.0 { -(-product).ln_1p() / radius } else { decrement };
    let reach = distance / low.sqrt() * (1.0 + 1e-11);
    let unique = frame.aliased().iter().all(|alias| !alias.exact || weight_is_zero(coef, alias.column));
    let errors = unique.then(|| {
        let scale = risk.units().inverse_scale();
        coefficient_errors(coef, stored, &in_columns, &column_errors, reach, scale)
    });
    let reference = objective.abs().max(risk.null_objective());
    Ok(SelfConcordance {
        objective,
        certificate: Certificate::SelfConcordance {
            objective,
            decrement,
            radius,
            gap,
            relative_gap: gap / reference,
            // A squared loss may be off by more than the error of its score.
            objective_error: (!quadratic).then_some(objective_error),
            errors,
        },
        step: Some(step),
        standard_errors: Some(decrement * total.sqrt()),
        aliased: frame.aliased().to_vec(),
    })
}

/// `[x + (1−x)ln(1−x)]/x² = Σ x^{k−2}/(k(k−1))`, rounded up: by the series where the closed form cancels.
fn shape(x: f64) -> f64 {
    if x < SERIES {
        let terms: f64 = (2..12).rev().map(|k| x.powi(k - 2) / f64::from(k * (k - 1))).sum();
        (terms + x.powi(10) / 100.0) * (1.0 + 1e-13)
    } else {
        (x + (1.0 - x) * (-x).ln_1p()) / (x * x) * (1.0 + 1e-10)
    }
}

/// ‖v‖ rounded up.
fn length(v: &[f64]) -> f64 {
    let largest = v.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    if !(largest > 0.0 && largest.is_finite()) {
        return largest;
    }
    let squares: f64 = v.iter().map(|x| (x / largest) * (x / largest)).sum();
    largest * squares.sqrt() * (1.0 + rounding_bound(v.len() + 8))
}

fn newton_step(in_columns: &[Vec<f64>], gradient: &[f64], k: usize, cols: usize) -> Coef {
    let step = in_columns.iter().map(|row| -row.iter().zip(gradient).map(|(t, g)| t * g).sum::<f64>());
    Coef::from_vec(step.collect(), k, cols)
}

fn weight_is_zero(coef: &Coef, column: usize) -> bool {
    (0..coef.n_scores()).all(|c| coef.weights_of(c)[column] == 0.0)
}

/// `‖T_j·‖·reach` of every stored coefficient, in the units of its column.
fn coefficient_errors(
    coef: &Coef,
    stored: StoredScores,
    in_columns: &[Vec<f64>],
    column_errors: &[f64],
    reach: f64,
    inverse_scale: &[f64],
) -> CoefficientErrors {
    let (k, cols) = (coef.n_scores(), coef.n_cols());
    let index = |c: usize, j: usize| if j == cols { k * cols + c } else { c * cols + j };
    let classes = if stored == StoredScores::AsFitted { k } else { k + 1 };
    // A stored coefficient of a class as a combination of those of the scores.
    let share = |class: usize, score: usize| match stored {
        StoredScores::AsFitted => f64::from(u8::from(class == score)),
        StoredScores::Reference => f64::from(u8::from(class == score + 1)),
        StoredScores::Centred => f64::from(u8::from(class == score + 1)) - (k as f64 + 1.0).recip(),
    };
    let of = |class: usize, j: usize| {
        let mut combined = vec![0.0; in_columns.first().map_or(0, Vec::len)];
        let (mut error, mut size) = (0.0, 0.0);
        for c in 0..k {
            let (by, row) = (share(class, c), &in_columns[index(c, j)]);
            if by != 0.0 {
                combined.iter_mut().zip(row).for_each(|(t, r)| *t += by * r);
                error += by.abs() * (column_errors[index(c, j)] + rounding_bound(k + 4) * length(row));
                size += by.abs() * coef.as_slice()[index(c, j)].abs();
            }
        }
        // Stored weights that should add up to zero over the classes do so up to the rounding of their mean.
        let uncentred = if stored == StoredScores::Centred { rounding_bound(8 * k + 16) * size } else { 0.0 };
        ((length(&combined) + error) * reach + uncentred) * ROUNDED_UP
    };
    CoefficientErrors {
        weights: (0..classes)
            .flat_map(|c| (0..cols).map(move |j| (c, j)))
            .map(|(c, j)| of(c, j) * inverse_scale[j] * (1.0 + 1e-15))
            .collect(),
        intercept: (0..classes).map(|c| of(c, cols)).collect(),
    }
}
