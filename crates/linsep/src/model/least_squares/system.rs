//! The normal equations of least squares.

use super::frame::Frame;
use super::{ALIAS_TOLERANCE, ENOUGH};
use crate::linalg::{Factor, factor};
use crate::objective::Quadratic;
use crate::stats::ClassMoments;

/// The normal equations and how far they can be trusted.
pub(super) struct System {
    pub(super) plain: Quadratic,
    /// With the penalty.
    pub(super) problem: Quadratic,
    pub(super) factor: Factor,
    /// Whether every column in use is independent of the others.
    pub(super) whole: bool,
    /// Whether they keep enough digits, too.
    pub(super) enough: bool,
}

impl System {
    pub(super) fn of(frame: &Frame, moments: &ClassMoments) -> System {
        let plain = frame.normal_equations(moments);
        let mut problem = plain.clone();
        frame.penalise(&mut problem);
        let factor = factor(&problem.hessian, ALIAS_TOLERANCE);
        let whole = factor.rank() == frame.used().len();
        let enough = whole && factor.smallest_pivot() >= ENOUGH;
        System { plain, problem, factor, whole, enough }
    }
}
