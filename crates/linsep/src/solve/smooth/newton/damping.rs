//! How Newton's method is held back when its steps are too long.

use super::NewtonRun;
use crate::objective::{Coef, Conjugate};

/// The first damping, relative to the diagonal of the Hessian. Chosen, not measured: it adapts within a few steps.
pub(super) const FIRST_DAMPING: f64 = 1e-2;
/// Below this, damping is switched off: it no longer changes a step by more than 1e-8.
const SMALLEST_DAMPING: f64 = 1e-8;
/// Above this a step is shorter than rounding, and damping is given up.
const LARGEST_DAMPING: f64 = 1e9;
/// Factor by which damping grows where a step fails and falls where the model is good. Chosen, not measured.
const MORE: f64 = 8.0;
/// Ratio of actual to predicted decrease above which damping falls; 0.75 is usual (Nocedal and Wright 2006, section
/// 4.1). Chosen, not measured.
const GOOD: f64 = 0.7;
/// Ratio of actual to predicted decrease below which damping grows by a factor of four (the same section).
const POOR: f64 = 0.25;

impl<L: Conjugate + Clone> NewtonRun<'_, '_, L> {
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
}
