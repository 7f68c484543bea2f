//! How Newton's method is held back when its steps are too long.

use super::NewtonRun;
use crate::objective::{Coef, Conjugate};

/// The first damping tried, the one below which there is none, and the one at which it is given up.
pub(super) const FIRST_DAMPING: f64 = 1e-2;
const SMALLEST_DAMPING: f64 = 1e-8;
const LARGEST_DAMPING: f64 = 1e9;

impl<L: Conjugate + Clone> NewtonRun<'_, '_, L> {
    /// Under a penalty a step that was too long is not shortened but taken again with more damping, which holds back
    /// the directions of little curvature and leaves the others alone (Marquardt 1963). False where that has no end.
    pub(super) fn damp_more(&mut self) -> bool {
        match self.hessian.take() {
            Some(hessian) if self.fresh && self.damping < LARGEST_DAMPING => {
                self.damping = (8.0 * self.damping).max(self.restart_damping);
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
            gain if gain > 0.7 && self.damping > SMALLEST_DAMPING => self.damping /= 8.0,
            // Should the undamped step fail after all, the next try begins close by.
            gain if gain > 0.7 => (self.damping, self.restart_damping) = (0.0, 8.0 * SMALLEST_DAMPING),
            gain if gain < 0.25 => self.damping *= 4.0,
            _ => {}
        }
    }
}
