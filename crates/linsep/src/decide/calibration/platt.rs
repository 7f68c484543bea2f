//! Platt's map: logistic regression of the class on one score, with smoothed targets t.
//!
//! `min Σ s [log(1+e^v) − t v]`, `v = a z + b`: strictly convex and with a minimum wherever two scores differ, since every t
//! is strictly between 0 and 1. Newton's method with step halving (H.-T. Lin, C.-J. Lin and R. C. Weng, Machine Learning 68,
//! 2007), on scores of mean 0 and variance 1, without their ridge: the loss needs none.

use super::{Calibration, CalibrationKind, HeldOut, not_rising};
use crate::error::{Error, Result};
use crate::numeric::{CompensatedSum, logistic_terms};

/// Newton steps at most; convergence takes about ten.
const MOST_STEPS: usize = 200;
/// Halvings of one step at most: more than the 53 bits of a double.
const MOST_HALVINGS: usize = 60;
/// Stop where a step promises no more than this share of the objective: the square of 1e-14, since Newton's decrement
/// is a square of the step.
const NEGLIGIBLE: f64 = 1e-28;
/// A slope per standard deviation of the scores that is no more than rounding.
const FLAT: f64 = 1e-12;
/// A standard deviation below this share of the largest score is rounding: about 50 units.
const CONSTANT: f64 = 1e-14;
/// Armijo's condition, with the usual constant (Nocedal and Wright 2006, section 3.1).
const DECREASE: f64 = 1e-4;
/// A decrease below this share of the objective may be hidden by its rounding; then the gradient decides.
const UNRESOLVED: f64 = 1e-12;

struct PlattProblem {
    /// Standardised score, target and weight of each row.
    rows: Vec<(f64, f64, f64)>,
}

/// Value, gradient and Hessian (entries aa, ab, bb).
struct PlattDerivatives {
    value: f64,
    gradient: [f64; 2],
    hessian: [f64; 3],
}

impl PlattProblem {
    fn at(&self, [a, b]: [f64; 2]) -> PlattDerivatives {
        let mut sums = [CompensatedSum::default(); 6];
        for (z, t, s) in &self.rows {
            let terms = logistic_terms(a * z + b);
            // log(1+e^v) − t v = (1−t) log(1+e^v) + t log(1+e^−v): two terms that are not negative.
            let loss = (1.0 - t) * terms.softplus + t * terms.softplus_negative;
            let residual = s * ((1.0 - t) * terms.p - t * terms.q);
            let curvature = s * terms.p * terms.q;
            let parts = [s * loss, residual * z, residual, curvature * z * z, curvature * z, curvature];
            sums.iter_mut().zip(parts).for_each(|(sum, part)| sum.add(part));
        }
        let [value, ga, gb, aa, ab, bb] = sums.map(CompensatedSum::value);
        PlattDerivatives { value, gradient: [ga, gb], hessian: [aa, ab, bb] }
    }
}

/// `H⁻¹g` of a positive definite H.
fn newton_step(local: &PlattDerivatives) -> Option<[f64; 2]> {
    let ([ga, gb], [aa, ab, bb]) = (local.gradient, local.hessian);
    let determinant = aa * bb - ab * ab;
    let step = [(bb * ga - ab * gb) / determinant, (aa * gb - ab * ga) / determinant];
    (determinant > 0.0 && step.iter().all(|v| v.is_finite())).then_some(step)
}

pub(super) fn fit(rows: &HeldOut<'_>) -> Result<Calibration> {
    let total: f64 = rows.totals().iter().sum();
    let weighted = |f: &dyn Fn(f64) -> f64| {
        crate::numeric::sum(rows.scores.iter().enumerate().map(|(i, z)| rows.weight(i) * f(*z))) / total
    };
    let mean = weighted(&|z| z);
    let spread = weighted(&|z| (z - mean) * (z - mean)).sqrt();
    let largest = rows.scores.iter().fold(0.0f64, |m, z| m.max(z.abs()));
    if !(spread > CONSTANT * largest && spread.is_finite()) {
        return Err(not_rising(CalibrationKind::Platt, "all scores are the same"));
    }
    let targets = rows.targets();
    let target = |class: usize| if class == 1 { targets[1].0 } else { targets[0].1 };
    let row = |(i, z): (usize, &f64)| ((z - mean) / spread, target(rows.truth[i].index()), rows.weight(i));
    let problem = PlattProblem { rows: rows.scores.iter().enumerate().map(row).collect() };
    let share = weighted_share(&problem);
    let mut at = [0.0, (share / (1.0 - share)).ln()];
    let mut local = problem.at(at);
    for _ in 0..MOST_STEPS {
        let Some(step) = newton_step(&local) else { break };
        let promise = step[0] * local.gradient[0] + step[1] * local.gradient[1];
        if !(promise > NEGLIGIBLE * local.value) {
            break;
        }
        match shortened(&problem, at, step, &local, promise) {
            Some((next, found)) => (at, local) = (next, found),
            None => break,
        }
    }
    if at[0] <= FLAT {
        let found = format!("its slope is {:.3e}", at[0] / spread);
        return Err(not_rising(CalibrationKind::Platt, &found));
    }
    let (slope, intercept) = (at[0] / spread, at[1] - at[0] * mean / spread);
    match slope.is_finite() && intercept.is_finite() {
        true => Ok(Calibration::Platt { slope, intercept }),
        false => Err(Error::data("the scores are too far from 1 in size to be calibrated")),
    }
}

/// The weighted mean target.
fn weighted_share(problem: &PlattProblem) -> f64 {
    let total: f64 = problem.rows.iter().map(|(_, _, s)| s).sum();
    problem.rows.iter().map(|(_, t, s)| s * t).sum::<f64>() / total
}

/// Backtracking: the longest of the halved steps that satisfies Armijo's condition.
fn shortened(
    problem: &PlattProblem,
    at: [f64; 2],
    step: [f64; 2],
    local: &PlattDerivatives,
    promise: f64,
) -> Option<([f64; 2], PlattDerivatives)> {
    let mut length = 1.0;
    for _ in 0..MOST_HALVINGS {
        let next = [at[0] - length * step[0], at[1] - length * step[1]];
        let found = problem.at(next);
        if found.value <= local.value - DECREASE * length * promise {
            return Some((next, found));
        }
        // Near the minimum the objective stagnates at rounding level; a decrease of the gradient then decides.
        let size = |l: &PlattDerivatives| l.gradient[0].abs() + l.gradient[1].abs();
        if length == 1.0 && promise <= UNRESOLVED * local.value && size(&found) < 0.5 * size(local) {
            return Some((next, found));
        }
        length *= 0.5;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Class;

    /// At the minimum both sums of residuals vanish.
    #[test]
    fn the_gradient_vanishes() {
        let scores: Vec<f64> = (0..200).map(|i| ((i * 37 % 101) as f64 - 40.0) * 3.0 + 1e3).collect();
        let truth: Vec<Class> = (0..200).map(|i| Class(u32::from((i * 37 % 101) + (i * 13 % 29) > 60))).collect();
        let weights: Vec<f64> = (0..200).map(|i| 0.5 + (i % 7) as f64).collect();
        let rows = HeldOut { scores: &scores, truth: &truth, weights: Some(&weights), n_classes: 2 };
        let Ok(Calibration::Platt { slope, intercept }) = fit(&rows) else { panic!("a map") };
        let targets = rows.targets();
        let (mut first, mut second, mut size) = (0.0, 0.0, 0.0);
        for ((z, class), s) in scores.iter().zip(&truth).zip(&weights) {
            let t = if class.index() == 1 { targets[1].0 } else { targets[0].1 };
            let r = s * (logistic_terms(slope * z + intercept).p - t);
            first += r;
            second += r * z;
            size += s;
        }
        assert!(first.abs() < 1e-11 * size && second.abs() < 1e-8 * size, "{first} {second}");
        assert!(slope > 0.0);
    }

    #[test]
    fn scores_that_fall_with_the_class_are_refused() {
        let scores = [3.0, 2.0, 1.0, 0.0];
        let truth = [0, 0, 1, 1].map(Class);
        let rows = HeldOut { scores: &scores, truth: &truth, weights: None, n_classes: 2 };
        assert!(fit(&rows).unwrap_err().message().contains("its slope is -"));
        let rows = HeldOut { scores: &[1.0; 4], ..rows };
        assert!(fit(&rows).unwrap_err().message().contains("all scores are the same"));
    }

    #[test]
    fn scores_that_separate_have_a_finite_map() {
        let scores = [-1e6, -1.0, 2.0, 1e6];
        let truth = [0, 0, 1, 1].map(Class);
        let rows = HeldOut { scores: &scores, truth: &truth, weights: None, n_classes: 2 };
        let Ok(Calibration::Platt { slope, intercept }) = fit(&rows) else { panic!("a map") };
        assert!(slope > 0.0 && slope.is_finite() && intercept.is_finite());
    }
}
