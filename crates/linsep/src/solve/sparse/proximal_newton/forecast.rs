//! What is left of the optimality conditions, and about what gap that means.

use crate::objective::{ElasticNet, Intercept, Penalty, Point, RiskFrame};

/// The column of a weight; most problems have one score.
#[inline]
fn column(weight: usize, cols: usize) -> usize {
    if weight < cols { weight } else { weight % cols }
}

/// How far some gradient is from what the penalty asks for, at worst.
pub(super) fn violation<R: RiskFrame<Penalty = ElasticNet>, S>(risk: &R, point: &Point<S>) -> f64 {
    let (penalty, cols) = (risk.penalty(), risk.n_cols());
    // The point's gradient has the ridge part already.
    let of = |lasso: f64, w: f64, g: f64| match w {
        w if w > 0.0 => (g + lasso).abs(),
        w if w < 0.0 => (g - lasso).abs(),
        _ => (g.abs() - lasso).max(0.0),
    };
    let weights = point.coef.weights().iter().zip(point.gradient.weights()).enumerate();
    let worst = weights.map(|(i, (w, g))| of(penalty.lasso_of(column(i, cols)), *w, *g)).fold(0.0, f64::max);
    let lasso = if risk.intercept() == Intercept::Penalised { penalty.lasso() } else { 0.0 };
    let intercepts = point.coef.intercept().iter().zip(point.gradient.intercept());
    intercepts.map(|(b, g)| of(lasso, *b, *g)).fold(worst, f64::max)
}

/// About the duality gap, without its pass over the rows: `Ω(w) + Ω*(v) − v·w` at the gradient −v of the loss, and what
/// shrinking costs where the conjugate is not finite.
pub(super) fn forecast<R: RiskFrame<Penalty = ElasticNet>, S>(risk: &R, point: &Point<S>) -> f64 {
    let (penalty, cols) = (risk.penalty(), risk.n_cols());
    let mut excess = 1.0f64;
    let mut term = |ridge: f64, lasso: f64, w: f64, g: f64| {
        let v = ridge * w - g;
        let conjugate = match (v.abs() - lasso).max(0.0) {
            over if ridge > 0.0 => over * over / (2.0 * ridge),
            _ if lasso > 0.0 => {
                excess = excess.max(v.abs() / lasso);
                0.0
            }
            // Without a penalty nothing may be left.
            _ => return (g * w).abs() + g.abs(),
        };
        (lasso * w.abs() + 0.5 * ridge * w * w + conjugate - v * w).max(0.0)
    };
    let weights = point.coef.weights().iter().zip(point.gradient.weights()).enumerate();
    let mut sum: f64 = weights
        .map(|(i, (w, g))| term(penalty.ridge_of(column(i, cols)), penalty.lasso_of(column(i, cols)), *w, *g))
        .sum();
    let (ridge, lasso) = match risk.intercept() {
        Intercept::Penalised => (penalty.ridge(), penalty.lasso()),
        Intercept::Free | Intercept::None => (0.0, 0.0),
    };
    let intercepts = point.coef.intercept().iter().zip(point.gradient.intercept());
    sum += intercepts.map(|(b, g)| term(ridge, lasso, *b, *g)).sum::<f64>();
    sum + (1.0 - excess.recip()) * point.objective.abs()
}
