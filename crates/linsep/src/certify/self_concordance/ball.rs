//! The bound for convex losses whose third derivative is not bounded by the second: curvature on a ball.
//!
//! With `H = Σ s ℓ″(z) x̃x̃ᵀ/S + ∇²penalty` and `ν = ‖∇F‖_{H⁻¹}`: where `∇²F ⪰ μH` for all coefficients within r of these in the
//! norm of H, and `ν < μr`, F rises at the border of that ball in every direction, so its minimiser is inside, is unique, and
//! `F − F* ≤ ν²/2μ`, `‖w − w*‖_H ≤ ν/μ`. A score moves by at most `r‖x̃‖_{H⁻¹}` in the ball, so μ is the least
//! `ℓ″(z′)/ℓ″(z)` of a row over scores z′ so near ([`LinkLoss::curvature_within`]), and 1 at most.
//!
//! Rounding is allowed for as in the bound by self-concordance, whose frame T this is: `low ≤ TᵀHT ≤ high`. H is taken at the computed
//! scores; the real ones are within their errors of them, and that is added to how far a score may move.

use super::frame::WhitenedFrame;
use super::rows::row_lengths;
use super::{CurvatureRows, StoredScores, coefficient_errors, length, newton_step, weight_is_zero};
use crate::certify::Certificate;
use crate::error::Result;
use crate::linalg::Alias;
use crate::numeric::rounding_bound;
use crate::objective::{Coef, LINK_ERROR, LinkLoss, Ridge, Risk};
use crate::watch::Watch;

/// Radii that are tried, over ν: of the first that holds the gap is the smallest.
const RADII: [f64; 4] = [1.05, 1.25, 2.0, 4.0];
/// Far more than the few roundings of a bound's last operations.
const ROUNDED_UP: f64 = 1.0 + 1e-12;
/// Likewise, for lower bounds.
const ROUNDED_DOWN: f64 = 1.0 - 1e-12;

/// The bound, and what was found on the way to it.
#[derive(Debug, Clone)]
pub struct BallBound {
    /// F at the coefficients.
    pub objective: f64,
    /// The bound, or why there is none.
    pub certificate: Certificate,
    /// Newton's step from the coefficients, where H is not singular.
    pub step: Option<Coef>,
    /// Columns that have no part in the proof: combinations of others.
    pub aliased: Vec<Alias>,
}

/// The bound at some coefficients, in the units of the risk; their errors are in the units of the columns.
pub fn curvature_ball_bound(risk: &Risk<'_, LinkLoss, Ridge>, coef: &Coef, watch: &Watch) -> Result<BallBound> {
    let (mut rows, loss) = risk.enclosed(coef, watch)?;
    let total = risk.total_weight();
    let objective = loss.losses.value() / total + risk.penalty_at(coef);
    let without = |reason: &str, aliased: &[Alias], step: Option<Coef>| BallBound {
        objective,
        certificate: Certificate::Absent { reason: reason.into() },
        step,
        aliased: aliased.to_vec(),
    };
    let singular = "the Hessian is singular to working precision: the optimum may not exist";
    let Some(frame) = WhitenedFrame::of(risk, &mut rows, true, watch)? else {
        return Ok(without(singular, &[], None));
    };
    if frame.weighs_left_out(coef) {
        let reason = "there is a weight on a column that the others leave nothing of";
        return Ok(without(reason, frame.aliased(), None));
    }
    let sums = risk.frame_sums(&rows, &frame, watch)?;
    let lengths_of_rows = row_lengths(risk, &frame, &rows, watch)?;
    let cols = risk.n_cols();
    let (in_columns, column_errors) = frame.in_columns(1, cols);
    let lengths: Vec<f64> = in_columns.iter().zip(&column_errors).map(|(row, e)| length(row) + e).collect();

    // Tᵀ∇F, and what rounding may have done to it.
    let (of_penalty, penalty_errors) = frame.quadratic.gradient(coef);
    let mut gradient: Vec<f64> = sums.gradient.iter().map(|g| g.value() / total).collect();
    let mut rounding = (rounding_bound(sums.block + 9) + LINK_ERROR) * sums.sizes + 1.01 * sums.errors;
    rounding *= 1.01 / total;
    if of_penalty.iter().any(|g| *g != 0.0) {
        rounding += rounding_bound(of_penalty.len() + 4) * length(&gradient);
    }
    for a in 0..of_penalty.len() {
        gradient.iter_mut().zip(&in_columns[a]).for_each(|(g, t)| *g += t * of_penalty[a]);
        rounding += lengths[a] * (penalty_errors[a] + rounding_bound(of_penalty.len() + 4) * of_penalty[a].abs());
        rounding += column_errors[a] * of_penalty[a].abs();
    }
    let step = newton_step(&in_columns, &gradient, 1, cols);

    // Eigenvalues of TᵀHT.
    let size = (0..frame.width).map(|a| frame.length(a).powi(2)).sum::<f64>().sqrt();
    let moved = size * (sums.basis_errors / total).sqrt() * 1.01;
    let low =
        ((1.0 - frame.deviation).max(0.0).sqrt() - moved).max(0.0).powi(2) * (1.0 - 2.0 * LINK_ERROR) * ROUNDED_DOWN;
    let high = ((1.0 + frame.deviation).sqrt() + moved).powi(2) * (1.0 + 2.0 * LINK_ERROR) * ROUNDED_UP;
    if !(low > 0.0 && frame.deviation < 1.0) {
        return Ok(without(singular, frame.aliased(), None));
    }
    let reaching = |radius: f64| within(risk, (&rows.values, &rows.errors), &lengths_of_rows, radius / low.sqrt());
    let (_, steeper) = reaching(0.0);
    let by_scores = steeper * (high * sums.score_errors / total).sqrt();
    let decrement = (length(&gradient) + rounding + by_scores * 1.01) / low.sqrt() * ROUNDED_UP;
    if !(decrement.is_finite() && steeper.is_finite()) {
        return Ok(without("rounding moves the scores too far for a bound", frame.aliased(), Some(step)));
    }
    // The least double keeps the ball from being a point.
    let radii = RADII.map(|factor| factor * decrement + f64::MIN_POSITIVE);
    let found =
        radii.iter().map(|radius| (*radius, reaching(*radius).0)).find(|(r, mu)| decrement < mu * r * ROUNDED_DOWN);
    let Some((radius, curvature)) = found else {
        let reason =
            format!("the curvature falls too fast for a bound within {:.1e}: the optimum may not exist", radii[3]);
        return Ok(without(&reason, frame.aliased(), Some(step)));
    };
    let rounded = (rounding_bound(loss.rows + 64) + LINK_ERROR) * objective.abs();
    let objective_error = (loss_errors(risk, (&rows.values, &rows.errors), steeper) / total + rounded) * (1.0 + 1e-9);
    let gap = (decrement * decrement / (2.0 * curvature) * ROUNDED_UP).min(objective + objective_error);
    let reach = decrement / curvature / low.sqrt() * (1.0 + 1e-11);
    let unique = frame.aliased().iter().all(|alias| !alias.exact || weight_is_zero(coef, alias.column));
    let errors = unique.then(|| {
        let scale = CurvatureRows::units(risk).inverse_scale();
        coefficient_errors(coef, StoredScores::AsFitted, &in_columns, &column_errors, reach, scale)
    });
    let reference = objective.abs().max(risk.null_objective());
    Ok(BallBound {
        objective,
        certificate: Certificate::CurvatureBall {
            objective,
            decrement,
            radius,
            curvature,
            gap,
            relative_gap: gap / reference,
            objective_error,
            errors,
        },
        step: Some(step),
        aliased: frame.aliased().to_vec(),
    })
}

/// The least and the largest `ℓ″(z′)/ℓ″(z)` of the rows, for z′ that `radius·‖t‖` and the error of the score allow; 1 at most, and
/// at least.
fn within(
    risk: &Risk<'_, LinkLoss, Ridge>,
    (scores, errors): (&[f64], &[f64]),
    lengths: &[f64],
    radius: f64,
) -> (f64, f64) {
    let sample = risk.sample();
    let (mut least, mut largest) = (1.0f64, 1.0f64);
    for i in (0..scores.len()).filter(|i| sample.weights.is_none_or(|w| w[*i] > 0.0)) {
        let reach = (radius * lengths[i] + errors[i]) * ROUNDED_UP;
        let (low, high) = risk.loss().curvature_within(sample.labels[i], scores[i], reach);
        // A NaN proves nothing.
        if low.is_nan() || high.is_nan() {
            return (0.0, f64::INFINITY);
        }
        (least, largest) = (least.min(low), largest.max(high));
    }
    (least, largest)
}

/// `Σ s |ℓ(z′) − ℓ(z)|` at most, z′ within the error of its score.
fn loss_errors(risk: &Risk<'_, LinkLoss, Ridge>, (scores, errors): (&[f64], &[f64]), steeper: f64) -> f64 {
    let sample = risk.sample();
    let of = |i: usize| {
        let (s, e) = (sample.weights.map_or(1.0, |w| w[i]), errors[i]);
        if s == 0.0 {
            return 0.0;
        }
        let (slope, curvature) = risk.loss().derivatives(sample.labels[i], scores[i]);
        s * e * (slope.abs() + steeper * curvature * e)
    };
    (0..scores.len()).map(of).sum::<f64>() * (1.0 + rounding_bound(scores.len() + 8))
}
