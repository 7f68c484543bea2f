//! How Newton's method is held back when its steps are too long.

use super::NewtonRun;
use crate::error::Result;
use crate::objective::line_search::{DECREASE, SHORTEST_STEP};
use crate::objective::{Coef, Ridge, Smooth, first_accepted};

/// The first damping, relative to the diagonal of the Hessian. Chosen, not measured: it adapts within a few steps.
pub(super) const FIRST_DAMPING: f64 = 1e-2;
/// Below this, damping is switched off: it no longer changes a step by more than 1e-8.
const SMALLEST_DAMPING: f64 = 1e-8;
/// Above this a step is shorter than rounding, and damping is given up.
const LARGEST_DAMPING: f64 = 1e9;
/// Factor by which damping grows where a step fails and falls where the model is good. Chosen (bench/constants.md).
const MORE: f64 = 8.0;
/// Ratio of actual to predicted decrease above which damping falls; 0.75 is usual (Nocedal and Wright 2006, section
/// 4.1). Chosen (bench/constants.md).
const GOOD: f64 = 0.7;
/// Ratio of actual to predicted decrease below which damping grows by a factor of four (the same section).
const POOR: f64 = 0.25;

impl<P: Smooth<Penalty = Ridge>> NewtonRun<'_, P> {
    /// Under a penalty a step that was too long is not shortened but taken again with more damping, which holds back
    /// the directions of little curvature and leaves the others alone (Marquardt 1963). False where that has no end.
    pub(super) fn damp_more(&mut self) -> bool {
        match self.hessian.take() {
            Some(hessian) if self.fresh && self.damping < LARGEST_DAMPING => {
                self.damping = (MORE * self.damping).max(self.restart_damping);
                self.refactor(hessian);
                true
            }
            kept => {
                self.hessian = kept;
                false
            }
        }
    }

    /// Less damping where the quadratic model foretold the decrease, more where it did not.
    pub(super) fn adjust_damping(&mut self, direction: &Coef, decrement: f64, decrease: f64) {
        let Some(hessian) = self.hessian.as_ref().filter(|_| self.damping > 0.0) else { return };
        let curved = hessian.multiply(direction.as_slice());
        let curvature: f64 = curved.iter().zip(direction.as_slice()).map(|(h, d)| h * d).sum();
        match decrease / (decrement - 0.5 * curvature) {
            gain if gain > GOOD && self.damping > SMALLEST_DAMPING => self.damping /= MORE,
            // Should the undamped step fail after all, the next try begins close by.
            gain if gain > GOOD => (self.damping, self.restart_damping) = (0.0, MORE * SMALLEST_DAMPING),
            gain if gain < POOR => self.damping *= 4.0,
            _ => {}
        }
    }

    /// A step that decreases F enough, on cached scores. With r the largest range of the direction over the scores of a
    /// row, the third derivative is at most r times the second along the line, so `ln(1+r)/r` would do if H were exact
    /// (Sun and Tran-Dinh 2019, (24)): however long the direction, there is no need to look much below that.
    pub(super) fn backtrack(&mut self, direction: &Coef, decrement: f64) -> Result<Option<f64>> {
        let line = self.risk.along(direction, self.watch)?;
        self.passes += 1;
        let range = self.risk.range_of(&line)?;
        let floor = SHORTEST_STEP * (range.ln_1p() / range).min(1.0);
        let halves = std::iter::successors(Some(0.5), |step| Some(0.5 * step)).take_while(|step| *step > floor);
        let enough = |step: f64, value: f64| value <= self.point.objective - DECREASE * step * decrement;
        first_accepted(self.risk, &self.point, &line, halves, enough)
    }
}
