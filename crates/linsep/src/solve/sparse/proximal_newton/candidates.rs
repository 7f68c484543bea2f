//! Columns that cannot have a weight, known before anything is solved.
//!
//! The gradient of the loss in a column is at most `Σᵢ sᵢ|xᵢⱼ|/S` times the steepest slope of the loss, at any scores.
//! Where that does not exceed the lasso, the weight is zero at the optimum and no dual point violates the column: in texts
//! nearly all columns are such, being words that occur a few times. What remains is a problem of its own, and its solution
//! is proved on all columns like any other. (El Ghaoui, Viallon and Rabbani 2012 call such rules safe.)

use super::{ProximalNewton, Solved, Stop};
use crate::certify::duality_gap;
use crate::error::Result;
use crate::objective::{Coef, Conjugate, Detail, ElasticNet, Loss, Penalty, Restricted, Risk};
use crate::watch::Watch;
use rayon::prelude::*;

/// Bounds are compared with this share of the lasso: rounding of sums over up to millions of rows stays below 1e-9.
const SAFE: f64 = 1.0 - 1e-9;

/// The columns that can have a weight, where the rule applies and leaves less than half of them.
pub(super) fn candidates<L: Loss>(risk: &Risk<'_, L, ElasticNet>, start: Option<&Coef>) -> Option<Vec<usize>> {
    let (sample, penalty) = (risk.sample(), risk.penalty());
    let (view, steepest) = (sample.design.by_columns()?, risk.loss().steepest()?);
    // A column that is centred has an entry in every row.
    if !sample.units.is_identity() && sample.units.centre().iter().any(|c| *c != 0.0) {
        return None;
    }
    let sums = match sample.weights {
        Some(weights) => view.absolute_sums(weights),
        None => view.absolute_sums(&vec![1.0; sample.labels.len()]),
    };
    let (total, inverse) = (risk.total_weight(), sample.units.inverse_scale());
    let started = |j: usize| start.is_some_and(|s| (0..s.n_scores()).any(|c| s.weights_of(c)[j] != 0.0));
    let in_question = |j: usize| {
        let lasso = SAFE * penalty.lasso_of(j) * total;
        lasso <= 0.0 || sums[j] * inverse[j] * steepest > lasso || started(j)
    };
    let chosen: Vec<usize> = (0..sums.len()).into_par_iter().filter(|j| in_question(*j)).collect();
    (2 * chosen.len() < sums.len()).then_some(chosen)
}

impl ProximalNewton {
    /// Solves on some columns, all others without a weight, and proves it on all.
    pub(super) fn solve_on<L: Conjugate + Clone>(
        &self,
        risk: &Risk<'_, L, ElasticNet>,
        chosen: Vec<usize>,
        start: Option<&Coef>,
        watch: &Watch,
    ) -> Result<Solved> {
        let restricted = Restricted::of(risk.sample(), chosen, watch)?;
        let sub = restricted.risk(risk)?;
        let start = start.map_or_else(|| sub.start(), |start| restricted.gather(start));
        let point = sub.at(&start, Detail::Gradient, watch)?;
        let (mut solved, _) = self.solve_from(&sub, point, None, watch)?;
        // Whoever ran out of time keeps what there is.
        let calm = Watch::default();
        let coef = restricted.scatter(&solved.point.coef, risk.n_cols());
        solved.point = risk.at_known(coef, solved.point.scores, &calm)?;
        solved.certificate = duality_gap(risk, &solved.point, &calm)?;
        solved.passes += 1;
        let reached = solved.certificate.relative_gap().is_some_and(|gap| gap <= self.tolerance);
        if solved.stop != Stop::Converged || reached {
            return Ok(solved);
        }
        // Short of it by rounding.
        let (mut again, _) = self.solve_from(risk, solved.point, None, watch)?;
        again.passes += solved.passes;
        again.trace.splice(0..0, solved.trace);
        Ok(again)
    }
}
