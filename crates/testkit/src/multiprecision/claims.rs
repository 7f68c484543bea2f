//! Every claim of a certificate against what the twin found, without a tolerance.

use super::{Optimum, Problem, Real};
use linsep::certify::{Certificate, CoefficientErrors};
use linsep::discriminant::Linear;
use std::fmt;

/// What a certificate claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Claim {
    /// `F(ŵ) − F* ≤ gap`, against the twin.
    Gap,
    /// The same against zero coefficients: no search is needed to see that it is false.
    GapOfZero,
    /// `dual ≤ F*`.
    Dual,
    /// `‖ŵ − w*‖ ≤ weight_distance`.
    WeightDistance,
    /// `|coefficient − optimum's| ≤ error`.
    CoefficientError,
    /// The relative gap is not less than the gap over the largest possible reference.
    RelativeGap,
    /// The stated objective is F(ŵ) up to its distance from the stated dual value and nine digits.
    Objective,
    /// Numbers that are no bounds: NaN, negative.
    NoNumber,
}

/// A claim that is false.
#[derive(Debug, Clone)]
pub struct Refuted {
    /// Which.
    pub claim: Claim,
    /// What the certificate says.
    pub claimed: f64,
    /// What is true.
    pub truth: Real,
}

impl fmt::Display for Refuted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: claims {:e}, truth {:?}", self.claim, self.claimed, self.truth)
    }
}

impl Refuted {
    /// Truth over claim.
    pub fn factor(&self) -> f64 {
        self.truth.to_f64().abs() / self.claimed.abs()
    }
}

/// What a certificate of a model claims falsely.
pub fn refute(problem: &Problem, model: &Linear, certificate: &Certificate, optimum: &Optimum) -> Vec<Refuted> {
    let point = problem.stated(model);
    let at_model = problem.objective(&point);
    let at_zero = problem.objective(&problem.zero());
    let mut found = Vec::new();
    let Some(gap) = certificate.gap() else { return found };
    if !(gap >= 0.0 && gap.is_finite()) {
        found.push(Refuted { claim: Claim::NoNumber, claimed: gap, truth: &at_model - &optimum.objective });
        return found;
    }
    let mut bounded = |claim: Claim, truth: Real, claimed: f64| {
        if claimed.is_nan() || (claimed.is_finite() && truth > Real::from(claimed)) {
            found.push(Refuted { claim, claimed, truth });
        }
    };
    bounded(Claim::Gap, &at_model - &optimum.objective, gap);
    bounded(Claim::GapOfZero, &at_model - &at_zero, gap);
    let (objective, relative) = match certificate {
        Certificate::DualityGap { objective, relative_gap, .. }
        | Certificate::SelfConcordance { objective, relative_gap, .. }
        | Certificate::Quadratic { objective, relative_gap, .. } => (*objective, *relative_gap),
        _ => return found,
    };
    let mut reference = at_model.clone().max(at_zero);
    if objective.is_finite() {
        reference = reference.max(Real::from(objective));
    }
    if !reference.is_zero() {
        let least = Real::from(gap) / &reference * Real::from(1.0 - 1e-9);
        bounded(Claim::RelativeGap, least, relative);
    }
    if objective.is_finite() {
        let off = (Real::from(objective) - &at_model).abs();
        // A dual value states how far the objective may be from F, beyond the gap.
        let stated = match certificate {
            Certificate::DualityGap { dual, .. } => Real::from(objective) - Real::from(*dual),
            _ => Real::from(gap),
        };
        let allowed = at_model.abs() * Real::from(1e-9) + stated;
        if off > allowed {
            found.push(Refuted { claim: Claim::Objective, claimed: objective, truth: at_model });
        }
    }
    match certificate {
        Certificate::DualityGap { dual, weight_distance, .. } => {
            if *dual > f64::NEG_INFINITY && Real::from(*dual) > optimum.objective {
                found.push(Refuted { claim: Claim::Dual, claimed: *dual, truth: optimum.objective.clone() });
            }
            if let (Some(claimed), true) = (weight_distance, optimum.converged) {
                found.extend(weights_too_far(problem, &point, *claimed, optimum));
            }
        }
        Certificate::SelfConcordance { errors: Some(errors), .. }
        | Certificate::Quadratic { errors: Some(errors), .. } => {
            found.extend(coefficients_too_far(problem, model, errors, optimum));
        }
        _ => {}
    }
    found
}

/// The distance of the weights in the units of the penalty, less what the twin's own may be.
fn weights_too_far(problem: &Problem, point: &[Real], claimed: f64, optimum: &Optimum) -> Option<Refuted> {
    let weights = || (0..point.len()).filter(|u| !problem.is_intercept(*u));
    let convexity = weights().map(|u| problem.ridge(u).clone()).reduce(Real::min)?;
    let apart: Real = weights().map(|u| &point[u] - &optimum.point[u]).map(|d| &d * &d).sum();
    // A distance cannot be claimed of weights without a penalty.
    let own = match convexity.is_zero() {
        true => Real::zero(),
        false => (Real::from(2.0) * &optimum.residual / convexity).sqrt(),
    };
    let truth = apart.sqrt() - own;
    let false_claim = claimed.is_nan() || (claimed.is_finite() && truth > Real::from(claimed));
    false_claim.then_some(Refuted { claim: Claim::WeightDistance, claimed, truth })
}

/// The coefficient that is furthest beyond its bound.
fn coefficients_too_far(
    problem: &Problem,
    model: &Linear,
    errors: &CoefficientErrors,
    optimum: &Optimum,
) -> Option<Refuted> {
    if !optimum.converged || !optimum.undetermined.iter().all(|u| problem.is_convention(*u)) {
        return None;
    }
    let (all, cols) = (model.n_scores(), problem.n_cols());
    let best = problem.as_stated(&optimum.point, all);
    // The twin's own error: a Newton step below 1e-45 of the decrement was its last.
    let own = Real::power_of_ten(-60);
    let mut worst: Option<Refuted> = None;
    for k in 0..all {
        for j in 0..=cols {
            let (stated, claimed) = match j < cols {
                true => (model.weights_of(k)[j], errors.weights[k * cols + j]),
                false => (model.intercept_at_centre()[k], errors.intercept[k]),
            };
            let truth = (Real::from(stated) - &best[k][j]).abs() - &own * (best[k][j].abs() + Real::one());
            let beyond = claimed.is_nan() || (claimed.is_finite() && truth > Real::from(claimed));
            let found = Refuted { claim: Claim::CoefficientError, claimed, truth };
            if beyond && worst.as_ref().is_none_or(|w| found.factor() > w.factor()) {
                worst = Some(found);
            }
        }
    }
    worst
}
