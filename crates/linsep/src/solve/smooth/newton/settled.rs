//! Whether the iteration is so near the optimum that the digits of the coefficients have settled.

use super::NewtonRun;
use crate::error::Result;
use crate::objective::{Coef, Penalty, Ridge, Smooth};
use crate::solve::smooth::forecast::gap_forecast;

/// ν²S, the squared distance in standard errors, below which maximum likelihood is settled: a thirtieth of the
/// ten-thousandth of a standard error to which coefficients are printed.
const SETTLED: f64 = 1e-11;
/// At this tolerance or a looser one no digits of coefficients are asked for. Chosen (bench/constants.md): it saves the
/// last steps.
const ROUGH: f64 = 1e-6;
/// The error of weights, relative to the largest, that four printed digits allow under a penalty: half a unit of the
/// fifth.
const PRINTED: f64 = 5e-6;
/// A Newton step that moves a score by more than this belongs to a distant optimum, or to none: on separated classes
/// each step moves some score by about one, however small the decrement.
const LARGEST_LAST_STEP: f64 = 0.5;
/// The decrease still predicted must be below this share of the tolerance, so that the proof meets it. Chosen
/// (bench/constants.md).
const NEARLY: f64 = 0.9;

impl<P: Smooth<Penalty = Ridge>> NewtonRun<'_, P> {
    /// Without a penalty: whether the tolerance is about reached and the optimum in sight. `decrement` is ν².
    pub(super) fn near(&mut self, decrement: f64, direction: &Coef, tolerance: f64) -> Result<bool> {
        let scale = self.reference.max(self.point.objective.abs());
        if !self.risk.penalty().is_none() || self.damped || 0.5 * decrement > NEARLY * tolerance * scale {
            return Ok(false);
        }
        self.passes += 1;
        let line = self.risk.along(direction, self.watch)?;
        Ok(self.risk.range_of(&line)? <= LARGEST_LAST_STEP)
    }

    /// Whether the coefficients are within a small part of their standard errors, or only a rough answer is wanted.
    pub(super) fn is_settled(&self, decrement: f64, tolerance: f64) -> bool {
        tolerance >= ROUGH || decrement * self.risk.total_weight() <= SETTLED
    }

    /// Under a penalty: whether `‖w − w*‖ ≤ √(2 gap/λ)` leaves the printed digits of the largest weights alone, or only a
    /// rough answer is wanted.
    pub(super) fn has_digits(&self, tolerance: f64) -> bool {
        let largest = self.point.coef.weights().iter().fold(0.0f64, |m, w| m.max(w.abs()));
        let smallest = self.risk.penalty().factors().map_or(1.0, |f| f.iter().copied().fold(f64::INFINITY, f64::min));
        let convexity = self.risk.penalty().ridge() * smallest;
        let gap = 0.5 * convexity * (PRINTED * largest).powi(2);
        tolerance >= ROUGH || !(convexity > 0.0) || gap_forecast(self.risk, &self.point) <= gap
    }
}
