//! The verdicts checked in rational arithmetic.

use super::{Case, Complete};
use crate::certify::{ExactPlane, WholeDirection, cone_gram, exact_direction, exactly_balanced, least_score, length};
use crate::design::Units;
use crate::error::Result;
use crate::linalg::factor;
use crate::objective::{Coef, Loss, Risk};
use crate::separate::independent_vectors;
use crate::table::Class;
use rayon::prelude::*;

/// Entries of a direction below this share of the largest are rounding, as `SeparabilityOptions::tolerance`: the exact
/// check decides about the rest.
const NO_WEIGHT: f64 = 1e-9;

impl Case<'_> {
    /// Whether every row is strictly on its side of a plane, of several classes in its region.
    pub(super) fn exactly_complete(&self, complete: &Complete) -> Result<bool> {
        Ok(self.exact_margin(complete)?.is_some())
    }

    /// A lower bound on the distance of any row from the plane, of several classes from the planes of its class, if all are
    /// exactly on their side.
    pub(super) fn exact_margin(&self, complete: &Complete) -> Result<Option<f64>> {
        let mut margin = f64::INFINITY;
        let score = |k: usize| (&complete.weights[k][..], complete.intercept[k]);
        for a in 0..self.classes {
            for b in a + 1..self.classes {
                let side = |y: &Class| match y.index() {
                    k if k == b => 1.0,
                    k if k == a => -1.0,
                    _ => 0.0,
                };
                let sides: Vec<f64> = self.rows.labels.iter().map(side).collect();
                let (score, less) = match complete.weights.len() {
                    1 => (score(0), None),
                    _ => (score(b), Some(score(a))),
                };
                let plane = ExactPlane { score, less, centre: &complete.centre };
                let Some(least) = least_score(self.rows.design, &sides, plane)? else { return Ok(None) };
                let entry = |j: usize| score.0[j] - less.map_or(0.0, |(w, _)| w[j]);
                let norm = length(&(0..complete.centre.len()).map(entry).collect::<Vec<f64>>());
                margin = margin.min(least / norm * (1.0 - 16.0 * f64::EPSILON));
            }
        }
        Ok(Some(margin))
    }

    /// Constraints with a positive weight whose vectors span those of all.
    fn spanning<L: Loss>(&self, risk: &Risk<'_, L>, weights: &[f64]) -> Result<Vec<usize>> {
        let ones: Vec<f64> = weights.iter().map(|w| f64::from(u8::from(*w > 0.0))).collect();
        let gram = cone_gram(risk, &ones, self.watch)?;
        let rank = factor(&gram, super::common::INDEPENDENT).rank();
        let scores = risk.loss().n_scores();
        // The largest weights first: they can change most without becoming negative.
        let mut order: Vec<usize> = (0..weights.len()).filter(|c| weights[*c] > 0.0).collect();
        order.sort_by(|a, b| weights[*b].total_cmp(&weights[*a]).then(a.cmp(b)));
        let mut order = order.into_iter();
        let mut failed = None;
        let next = || {
            let c = order.next()?;
            let mut vector = Vec::new();
            match self.vector(c, risk.sample().units, scores, &mut vector) {
                Ok(()) => Some((c, vector)),
                Err(error) => {
                    failed = Some(error);
                    None
                }
            }
        };
        let found = independent_vectors(scores * (risk.n_cols() + 1), rank, next);
        failed.map_or(Ok(found), Err)
    }

    /// Whether the weights of an overlap can be made to satisfy their equation.
    pub(super) fn exactly_balanced<L: Loss>(&self, risk: &Risk<'_, L>, alpha: &[f64]) -> Result<Option<bool>> {
        let scores = risk.loss().n_scores();
        let width = scores * (risk.n_cols() + 1);
        if width > super::plan::MOST_EXACT {
            return Ok(None);
        }
        let spanning = self.spanning(risk, alpha)?;
        let identity = Units::identity(risk.n_cols());
        let vector = |c: usize, out: &mut Vec<f64>| self.vector(c, &identity, scores, out);
        exactly_balanced(alpha, &spanning, width, self.effort(), vector).map(Some)
    }

    /// Whether a direction near this one vanishes on the boundary and is strict elsewhere, and whether the constraints of the
    /// boundary cannot leave it.
    pub(super) fn exactly_quasi<L: Loss + Clone>(
        &self,
        risk: &Risk<'_, L>,
        direction: &Coef,
        open: &[bool],
        alpha: &[f64],
    ) -> Result<bool> {
        // A boundary constraint without a positive weight is not proved to stay on the boundary.
        if open.iter().zip(alpha).any(|(open, alpha)| *open != (*alpha > 0.0)) {
            return Ok(false);
        }
        let raw = raw_direction(direction, risk.sample().units);
        // A column that is zero on the boundary is such a direction without any change.
        if !self.has_signs(&WholeDirection::of(raw.as_slice()), risk, open)? {
            if raw.as_slice().len() > super::plan::MOST_EXACT {
                return Ok(false);
            }
            let spanning = self.spanning(risk, alpha)?;
            let vectors = self.vectors(&spanning, &Units::identity(risk.n_cols()), risk.loss().n_scores())?;
            match exact_direction(raw.as_slice(), &vectors, self.effort()) {
                Some(exact) if self.has_signs(&exact, risk, open)? => {}
                _ => return Ok(false),
            }
        }
        // Where the columns are independent on the boundary, constant ones aside, a verified solve proves it without
        // rational arithmetic.
        let verified = self.verified(risk.loss().clone(), alpha)?.is_some();
        Ok(verified || self.exactly_balanced(risk, alpha)? == Some(true))
    }

    /// Whether a direction is zero on the open constraints and positive on all the others.
    fn has_signs<L: Loss>(&self, direction: &WholeDirection, risk: &Risk<'_, L>, open: &[bool]) -> Result<bool> {
        let identity = Units::identity(risk.n_cols());
        let as_it_should = |vector: &mut Vec<f64>, c: usize| -> Result<bool> {
            self.vector(c, &identity, risk.loss().n_scores(), vector)?;
            Ok(direction.sign(vector) == i32::from(!open[c]))
        };
        let wrong =
            (0..open.len()).into_par_iter().map_init(Vec::new, as_it_should).find_any(|ok| !matches!(ok, Ok(true)));
        wrong.unwrap_or(Ok(true))
    }
}

/// A direction in the units of the columns about zero; entries that are zero up to rounding are set to zero, since they
/// would only make the integers long.
fn raw_direction(direction: &Coef, units: &Units) -> Coef {
    let (scores, cols) = (direction.n_scores(), direction.n_cols());
    let size = direction.as_slice().iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let mut raw = direction.clone();
    for c in 0..scores {
        let weights = &mut raw.weights_mut()[c * cols..(c + 1) * cols];
        for (w, inverse) in weights.iter_mut().zip(units.inverse_scale()) {
            *w = if w.abs() > NO_WEIGHT * size { *w * inverse } else { 0.0 };
        }
        let terms = || raw.weights_of(c).iter().zip(units.centre()).map(|(w, c)| w * c);
        let (moved, terms_size) = (crate::numeric::sum(terms()), crate::numeric::sum(terms().map(f64::abs)));
        let intercept = direction.intercept()[c] - moved;
        let of_rounding = NO_WEIGHT * (direction.intercept()[c].abs() + terms_size);
        raw.intercept_mut()[c] = if intercept.abs() > of_rounding { intercept } else { 0.0 };
    }
    raw
}
