//! The residual of the linear equations a closed form solves.

use super::Certificate;
use super::verified::VerifiedFactor;
use crate::linalg::Square;
use crate::numeric::rounding_bound;

/// Columns up to which a verified factor, in plain loops, is computed: its time grows with the cube. Chosen
/// (bench/constants.md): with more columns no digits of linear discriminant analysis are proved.
const MOST_COLUMNS: usize = 400;
/// Far more than the roundings of a sum of [`MOST_COLUMNS`] positive terms: 1e-13.
const ROUNDED_UP: f64 = 1.0 + 1e-9;

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
    Certificate::ClosedForm { equations: equations.to_owned(), relative_residual: worst, errors: None }
}

/// How far solutions of `A x = b` may be from the exact ones, where `entry_error(i, j)` bounds that of the entries of A;
/// each comes with b and bounds on its entries. Restricted to the rows and columns in use, zero elsewhere; `None` where A is
/// not proved to be nonsingular.
///
/// `A(x* − x) = b − A x`, so with T of the verified factor `|x*_j − x_j| ≤ ‖e_j‖_{A⁻¹}‖b − A x‖_{A⁻¹}`.
///
/// ```
/// use linsep::{certify::linear_system_errors, linalg::Square};
/// let a = Square::from_lower(2, |i, j| [[2.0, 1.0], [1.0, 3.0]][i][j]); // x = (1, 2)
/// let system = [(vec![1.0, 2.0 + 1e-9], vec![4.0, 7.0], vec![0.0, 0.0])];
/// let errors = linear_system_errors(&a, &[0, 1], |_, _| 0.0, &system).unwrap();
/// assert!(errors[0][1] >= 1e-9 && errors[0][1] < 2e-9);
/// ```
pub fn linear_system_errors(
    a: &Square,
    used: &[usize],
    entry_error: impl Fn(usize, usize) -> f64,
    systems: &[(Vec<f64>, Vec<f64>, Vec<f64>)],
) -> Option<Vec<Vec<f64>>> {
    if used.len() > MOST_COLUMNS {
        return None;
    }
    let inside = Square::from_lower(used.len(), |i, j| a.get(used[i], used[j]));
    let factor = VerifiedFactor::new(&inside, |i, j| entry_error(used[i], used[j]))?;
    let rounding = rounding_bound(used.len() + 8);
    let errors = systems.iter().map(|(x, b, b_error)| {
        let (mut residual, mut error) = (Vec::with_capacity(used.len()), Vec::with_capacity(used.len()));
        for i in used {
            let terms = || used.iter().map(|j| (a.get(*i, *j), x[*j], entry_error(*i, *j)));
            residual.push(b[*i] - terms().map(|(a, x, _)| a * x).sum::<f64>());
            let size = terms().map(|(a, x, e)| (rounding * a.abs() + e) * x.abs()).sum::<f64>();
            error.push((size + rounding * b[*i].abs() + b_error[*i]) * ROUNDED_UP);
        }
        let length = factor.norm(&residual, &error);
        let mut of_all = vec![0.0; x.len()];
        used.iter().enumerate().for_each(|(at, j)| of_all[*j] = factor.unit_norm(at) * length * ROUNDED_UP);
        of_all
    });
    let errors: Vec<Vec<f64>> = errors.collect();
    errors.iter().flatten().all(|e| e.is_finite()).then_some(errors)
}
