//! The widest plane in the feature space of a kernel, against the distance of the hulls of the classes there.
//!
//! A plane `(w, b)` is at least `min y(w·φ + b)/‖w‖` from every row. For multipliers `α ≥ 0` that sum to M in either class,
//! `‖Σ α y φ‖/M` is a distance between points of the two hulls, and no plane has a margin above half of it. Without an
//! intercept planes pass through the origin, and with `Σα = M` no margin is above `‖Σ α y φ‖/M`: half the distance of the hull
//! of the `yφ` from its mirror image, which is what is then stated.

use super::Certificate;
use super::kernel_gap::{KernelDualPoint, KernelPoint, KernelTask};
use crate::numeric::UNIT;

/// More than the roundings of the few operations on a bound.
const RAISE: f64 = 1.0 + 64.0 * UNIT;

/// Half of ‖w‖² of a machine, and its margin against a pair of points of the hulls.
///
/// ```
/// use linsep::certify::{Certificate, KernelDualPoint, KernelPoint, KernelTask, kernel_margin};
/// // Points at ±1: w = 1, both multipliers are 1/2, the margin is 1 and the points are 2 apart.
/// let task = KernelTask { signs: &[-1.0, 1.0], weights: None, lambda: 1e-9, has_intercept: true };
/// let dual = KernelDualPoint::new(&task, &[-0.5, 0.5]).unwrap();
/// let point = KernelPoint {
///     scores: &[-1.0, 1.0],
///     errors: None,
///     intercept: 0.0,
///     squared_length: (1.0, 0.0),
///     distance: 0.0,
///     ridge: 0.0,
/// };
/// let (objective, certificate) = kernel_margin(&task, &dual, &point);
/// let Certificate::Margin { margin, hull_distance, .. } = certificate else { panic!("it separates") };
/// assert_eq!(objective, 0.5);
/// assert!(margin <= 1.0 && hull_distance >= 2.0 && hull_distance - 2.0 * margin < 1e-13);
/// ```
pub fn kernel_margin(task: &KernelTask<'_>, dual: &KernelDualPoint, point: &KernelPoint<'_>) -> (f64, Certificate) {
    let (squared, length_error) = point.squared_length;
    let objective = 0.5 * squared;
    let mut functional = f64::INFINITY;
    for i in (0..point.scores.len()).filter(|i| task.weight(*i) > 0.0) {
        let z = point.scores[i] + point.intercept;
        let error = point.errors.map_or(0.0, |e| (e[i] + 2.0 * UNIT * z.abs()) * RAISE);
        // Not `min`, which would pass over NaN.
        let least = task.signs[i] * z - error;
        functional = if least < functional { least } else { functional };
        if least.is_nan() {
            functional = f64::NAN;
            break;
        }
    }
    let longest = (squared + length_error).max(0.0).sqrt() * RAISE;
    let margin = functional / longest * (2.0 - RAISE);
    let hull_distance = 2.0 * kernel_margin_at_most(task, dual, point);
    if !(functional > 0.0 && margin.is_finite() && margin > 0.0) {
        let reason = "the plane does not put every row on its side".to_owned();
        return (objective, Certificate::Absent { reason });
    }
    if !hull_distance.is_finite() || point.ridge > 0.0 {
        let reason = match point.ridge > 0.0 {
            true => format!("the kernel is proved positive semidefinite only with {:.1e} on its diagonal", point.ridge),
            false => "kernel values or scores are too large for a bound on their rounding".to_owned(),
        };
        return (objective, Certificate::Absent { reason });
    }
    let relative_gap = (1.0 - 2.0 * margin / hull_distance).max(0.0);
    (objective, Certificate::Margin { margin, hull_distance, relative_gap })
}

/// No plane has a margin above this: half of the distance of the hull points that the multipliers stand for.
pub fn kernel_margin_at_most(task: &KernelTask<'_>, dual: &KernelDualPoint, point: &KernelPoint<'_>) -> f64 {
    let (squared, length_error) = point.squared_length;
    let longest = (squared + length_error).max(0.0).sqrt() * RAISE;
    // With an intercept M is the mass of either hull.
    let both = if task.has_intercept { 2.0 } else { 1.0 };
    (longest + point.distance) / (both * dual.mass()) * RAISE
}
