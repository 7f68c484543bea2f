//! The verdicts once more, without rounding.

use super::{Case, Complete};
use crate::certify::{ExactPlane, cone_gram, exact_direction, exactly_balanced, exactly_separates};
use crate::design::Units;
use crate::error::Result;
use crate::linalg::factor;
use crate::objective::{Coef, Loss, Risk};
use crate::solve::independent_vectors;
use rayon::prelude::*;

/// Elimination with whole numbers is for few unknowns; how many depends on how long they get.
const MOST_UNKNOWNS: usize = 400;

impl Case<'_> {
    /// Whether every row is strictly on its side of a plane.
    pub(super) fn exactly_complete(&self, complete: &Complete) -> Result<bool> {
        if complete.weights.len() > 1 {
            return self.exactly_in_regions(complete);
        }
        let side = |y: &crate::table::Class| if y.0 == 1 { 1.0 } else { -1.0 };
        let sides: Vec<f64> = self.labels.iter().map(side).collect();
        let score = (&complete.weights[0][..], complete.intercept[0]);
        let plane = ExactPlane { score, less: None, centre: &complete.centre };
        exactly_separates(self.design, &sides, plane)
    }

    /// Whether every row is strictly in the region of its class: against every other class on its side of their plane.
    fn exactly_in_regions(&self, complete: &Complete) -> Result<bool> {
        for a in 0..self.classes {
            for b in a + 1..self.classes {
                let side = |y: &crate::table::Class| match y.index() {
                    k if k == b => 1.0,
                    k if k == a => -1.0,
                    _ => 0.0,
                };
                let sides: Vec<f64> = self.labels.iter().map(side).collect();
                let score = |k: usize| (&complete.weights[k][..], complete.intercept[k]);
                let plane = ExactPlane { score: score(b), less: Some(score(a)), centre: &complete.centre };
                if !exactly_separates(self.design, &sides, plane)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Constraints, of those with a weight, whose vectors span those of all.
    fn spanning<L: Loss>(&self, risk: &Risk<'_, L>, weights: &[f64]) -> Result<Vec<usize>> {
        let ones: Vec<f64> = weights.iter().map(|w| f64::from(u8::from(*w > 0.0))).collect();
        let gram = cone_gram(risk, &ones, self.watch)?;
        let rank = factor(&gram, super::common::INDEPENDENT).rank();
        let scores = risk.loss().n_scores();
        // The heaviest first: they have most to give.
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
        if width > MOST_UNKNOWNS {
            return Ok(None);
        }
        let spanning = self.spanning(risk, alpha)?;
        let identity = Units::identity(risk.n_cols());
        let vector = |c: usize, out: &mut Vec<f64>| self.vector(c, &identity, scores, out);
        exactly_balanced(alpha, &spanning, width, self.effort(), vector).map(Some)
    }

    /// Whether a direction near this one vanishes on the boundary and is strict elsewhere, and whether the weights of the
    /// boundary can be made to satisfy their equation.
    pub(super) fn exactly_quasi<L: Loss>(
        &self,
        risk: &Risk<'_, L>,
        direction: &Coef,
        open: &[bool],
        alpha: &[f64],
    ) -> Result<Option<bool>> {
        let (scores, cols) = (risk.loss().n_scores(), risk.n_cols());
        let width = scores * (cols + 1);
        if width > MOST_UNKNOWNS {
            return Ok(None);
        }
        // A constraint of the boundary without a weight is not proved to stay there.
        if open.iter().zip(alpha).any(|(open, alpha)| *open != (*alpha > 0.0)) {
            return Ok(Some(false));
        }
        let units = risk.sample().units;
        let mut raw = direction.clone();
        for c in 0..scores {
            let weights = &mut raw.weights_mut()[c * cols..(c + 1) * cols];
            weights.iter_mut().zip(units.inverse_scale()).for_each(|(w, s)| *w *= s);
            let moved: f64 = raw.weights_of(c).iter().zip(units.centre()).map(|(w, c)| w * c).sum();
            raw.intercept_mut()[c] -= moved;
        }
        // What rounding left of entries that are zero would only make the numbers long.
        let size = direction.as_slice().iter().fold(0.0f64, |m, v| m.max(v.abs()));
        for (raw, standard) in raw.as_mut_slice().iter_mut().zip(direction.as_slice()).take(scores * cols) {
            *raw = if standard.abs() > 1e-9 * size { *raw } else { 0.0 };
        }
        let spanning = self.spanning(risk, alpha)?;
        let identity = Units::identity(cols);
        let independent = self.vectors(&spanning, &identity, scores)?;
        let Some(exact) = exact_direction(raw.as_slice(), &independent, self.effort()) else { return Ok(Some(false)) };
        let as_it_should = |c: usize| -> Result<bool> {
            let mut vector = Vec::new();
            self.vector(c, &identity, scores, &mut vector)?;
            Ok(exact.sign(&vector) == i32::from(!open[c]))
        };
        let signs: Vec<bool> = (0..open.len()).into_par_iter().map(as_it_should).collect::<Result<_>>()?;
        if signs.contains(&false) {
            return Ok(Some(false));
        }
        self.exactly_balanced(risk, alpha)
    }
}
