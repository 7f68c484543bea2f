//! The null model of a path: all penalised weights zero, and the λ from which on that is the optimum.

use crate::error::{Error, ErrorKind, Result};
use crate::numeric::rounding_bound;
use crate::objective::{Conjugate, Detail, ElasticNet, Intercept, Penalty, Point, Risk};
use crate::solve::{Previous, ProximalNewton, Stop};
use crate::watch::Watch;

/// Tolerance of the model without weights, from which λ_max is read.
const NULL_TOLERANCE: f64 = 1e-10;
/// Roundings of an entry of the gradient beside those of its sum: slopes, weights, units, merging of partial sums.
const ROUNDINGS: usize = 64;
/// Factor over an estimate of λ_max at which all weights vanish; it is raised by the same factor until they do.
const LARGE: f64 = 1e3;

/// The solution with all penalised weights zero.
pub(super) struct NullModel {
    pub(super) point: Point,
    pub(super) previous: Previous,
    pub(super) lambda_max: f64,
    /// Its mean loss.
    pub(super) loss: f64,
    /// The penalty that it was solved with, above λ_max.
    pub(super) lambda: f64,
}

/// Solves with a penalty so large that all penalised weights are zero: λ_max is where the largest gradient meets the lasso.
pub(super) fn null_model<'a, L: Conjugate + Clone>(
    risk: &dyn Fn(f64) -> Result<Risk<'a, L, ElasticNet>>,
    watch: &Watch,
) -> Result<NullModel> {
    let solver = ProximalNewton { tolerance: NULL_TOLERANCE, ..ProximalNewton::default() };
    let one = risk(1.0)?;
    let first = one.at(&one.start(), Detail::Gradient, watch)?;
    let mut large = LARGE * critical(&one, &first).max(f64::MIN_POSITIVE.sqrt());
    loop {
        let risk = risk(large)?;
        let (solved, previous) = solver.solve_first(&risk, watch)?;
        if matches!(solved.stop, Stop::TimeLimit | Stop::Interrupted) {
            return Err(Error::new(ErrorKind::Interrupted, "stopped before the path began"));
        }
        let lambda_max = critical(&risk, &solved.point);
        let penalised = risk.penalty_at(&solved.point.coef);
        if lambda_max <= large && penalised == 0.0 {
            let loss = solved.point.objective;
            return Ok(NullModel { point: solved.point, previous, lambda_max, loss, lambda: large });
        }
        large *= LARGE;
        if !large.is_finite() {
            return Err(Error::data("the gradient of the null model is not finite"));
        }
    }
}

/// The λ at which the largest gradient over its penalty factor is the lasso part.
fn critical<L: Conjugate>(risk: &Risk<'_, L, ElasticNet>, point: &Point) -> f64 {
    let (penalty, cols) = (risk.penalty(), risk.n_cols());
    let size = |(i, g): (usize, &f64)| match penalty.factor(i % cols) {
        factor if factor > 0.0 => g.abs() / (penalty.l1_ratio() * factor),
        _ => 0.0,
    };
    let weights = point.gradient.weights().iter().enumerate().map(size).fold(0.0, f64::max);
    match risk.intercept() {
        Intercept::Penalised => {
            point.gradient.intercept().iter().map(|g| g.abs() / penalty.l1_ratio()).fold(weights, f64::max)
        }
        Intercept::Free | Intercept::None => weights,
    }
}

/// How far λ_max may be from that of the best null model.
///
/// Both null models differ in free directions alone, along which the gradient of the best one vanishes. With the largest
/// curvature L of the loss therefore `Σ s|θ̂ − θ*|²/S ≤ 2L·gap` for the slopes θ of the rows, and an entry of the gradient
/// differs by at most the size of its column times the root of that. Slopes are at most `√(2Lℓ)`, which bounds what the
/// sum loses to rounding.
pub(super) fn critical_error<L: Conjugate>(
    risk: &Risk<'_, L, ElasticNet>,
    null: &NullModel,
    gap: f64,
    watch: &Watch,
) -> Result<f64> {
    let sample = risk.sample();
    let sizes = risk.sized_scores(&null.point.coef, true, sample.total_weight(), watch)?.sizes;
    let curvature = risk.loss().curvature_bound();
    let slopes = (2.0 * curvature * gap).sqrt() + curvature * sizes.largest_error;
    let rounding = rounding_bound(sample.labels.len() + ROUNDINGS) * (1.0 + (2.0 * curvature * null.loss).sqrt());
    let (penalty, units) = (risk.penalty(), sample.units);
    let error = |j: usize| match penalty.factor(j) {
        factor if factor > 0.0 => {
            let centred = 2.0 * units.centre()[j].abs() * units.inverse_scale()[j];
            (sizes.column_sizes[j] * (slopes + rounding) + centred * rounding) / (penalty.l1_ratio() * factor)
        }
        _ => 0.0,
    };
    let columns = (0..risk.n_cols()).map(error).fold(0.0, f64::max);
    Ok(match risk.intercept() {
        Intercept::Penalised => columns.max((slopes + rounding) / penalty.l1_ratio()),
        Intercept::Free | Intercept::None => columns,
    })
}
