//! The last steps of a lasso: Newton's method on its support.

use super::RiskMinimizer;
use crate::certify::{Certificate, bound_in_columns, is_worth_curvature};
use crate::error::Result;
use crate::objective::{Coef, Conjugate, Detail, ElasticNet, Penalty, Restricted, Risk};
use crate::solve::{Solved, Stop};
use crate::watch::Watch;

/// At this tolerance or a looser one no digits of weights are asked for, as in `newton::settled`.
const ROUGH: f64 = 1e-6;
/// The error of weights, relative to the largest, that four printed digits allow: half a unit of the fifth.
const PRINTED: f64 = 5e-6;
/// Newton steps on the support: from a gap of 1e-8 one suffices for a quadratic loss, two for others.
const STEPS: usize = 2;
/// Relative rounding of an objective that has not changed: about 500 units.
const ROUNDING: f64 = 1e-13;

impl RiskMinimizer {
    /// The solution of a lasso after Newton steps on its support, as long as no weight changes its sign: a small gap bounds
    /// the weights less tightly than their printed digits suggest.
    pub(super) fn with_settled_support<L: Conjugate + Clone>(
        &self,
        risk: &Risk<'_, L, ElasticNet>,
        mut solved: Solved,
    ) -> Result<Solved> {
        let (penalty, found) = (risk.penalty(), &solved.point.coef);
        let curved = risk.loss().self_concordant() || risk.loss().is_quadratic();
        let wanted = solved.stop == Stop::Converged && self.tolerance < ROUGH && penalty.ridge() == 0.0;
        if !wanted || !curved || found.n_scores() != 1 {
            return Ok(solved);
        }
        let has_weight = |j: &usize| found.weights_of(0)[*j] != 0.0 || penalty.lasso_of(*j) == 0.0;
        let support: Vec<usize> = (0..found.n_cols()).filter(has_weight).collect();
        if !is_worth_curvature(risk.sample().design, support.len())? {
            return Ok(solved);
        }
        // Part of the answer, even near the time limit.
        let calm = Watch::default();
        let restricted = Restricted::dense(risk.sample(), support, &calm)?;
        let some = restricted.risk(risk)?;
        let mut coef = restricted.gather(found);
        for _ in 0..STEPS {
            let bound = bound_in_columns(&some, &coef, &calm)?;
            solved.passes += 2;
            let settled = has_digits(&coef, &bound.certificate, some.sample().units.scale());
            let Some(step) = bound.step.filter(|_| !settled) else { break };
            let next = coef.moved(1.0, &step);
            if next.weights().iter().zip(coef.weights()).any(|(a, b)| a * b < 0.0 || (*a == 0.0) != (*b == 0.0)) {
                break;
            }
            coef = next;
        }
        let point = risk.at(&restricted.scatter(&coef, risk.n_cols()), Detail::Gradient, &calm)?;
        if point.objective <= solved.point.objective + ROUNDING * solved.point.objective.abs() {
            solved.point = point;
        }
        Ok(solved)
    }
}

fn has_digits(coef: &Coef, certificate: &Certificate, scale: &[f64]) -> bool {
    let Certificate::SelfConcordance { errors: Some(errors), .. } = certificate else { return false };
    let largest = coef.weights().iter().fold(0.0f64, |m, w| m.max(w.abs()));
    errors.weights.iter().zip(scale).all(|(error, scale)| error * scale <= PRINTED * largest)
}
