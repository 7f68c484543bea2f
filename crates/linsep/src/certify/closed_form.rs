//! The residual of the linear equations a closed form solves.

use super::Certificate;
use crate::linalg::Square;

/// `max ‖A x − b‖∞ / (‖A‖∞‖x‖∞ + ‖b‖∞)` over some right-hand sides, restricted to the rows and columns in use.
pub fn linear_system_residual(
    a: &Square,
    used: &[usize],
    solutions: &[(Vec<f64>, Vec<f64>)],
    equations: &str,
) -> Certificate {
    let largest = |v: &mut dyn Iterator<Item = f64>| v.fold(0.0f64, |m, x| m.max(x.abs()));
    let norm = largest(&mut used.iter().map(|i| used.iter().map(|j| a.get(*i, *j).abs()).sum()));
    let mut worst = 0.0f64;
    for (x, b) in solutions {
        let x_norm = largest(&mut used.iter().map(|j| x[*j]));
        let b_norm = largest(&mut used.iter().map(|j| b[*j]));
        let residual = |i: &usize| used.iter().map(|j| a.get(*i, *j) * x[*j]).sum::<f64>() - b[*i];
        let scale = norm * x_norm + b_norm;
        if scale > 0.0 {
            worst = worst.max(largest(&mut used.iter().map(residual)) / scale);
        }
    }
    Certificate::ClosedForm { equations: equations.to_owned(), relative_residual: worst }
}
