//! Symmetric systems.

use super::Real;

/// A pivot this much smaller than its diagonal entry is the rounding of a dependent column: independent columns of
/// doubles leave far more, even after several near-collinearities of 2⁻⁵².
const DEPENDENT: isize = -300;

/// Solves `A x = b` for a positive semidefinite A (its lower triangle, row by row) by LDLᵀ. Unknowns that depend on earlier
/// ones are zero in the solution and returned by their index.
pub fn symmetric_solve(a: &[Vec<Real>], b: &[Real]) -> (Vec<Real>, Vec<usize>) {
    let n = b.len();
    let threshold = Real::power_of_two(DEPENDENT);
    let mut l: Vec<Vec<Real>> = a.iter().enumerate().map(|(i, row)| row[..=i].to_vec()).collect();
    let (mut pivots, mut dropped) = (vec![Real::zero(); n], Vec::new());
    for j in 0..n {
        // Row j holds L_jk D_k for k < j until it is divided.
        let mut pivot = l[j][j].clone();
        for k in 0..j {
            if pivots[k].is_zero() {
                l[j][k] = Real::zero();
                continue;
            }
            let scaled = {
                let (done, rest) = l.split_at(j);
                let inner: Real = (0..k).map(|m| &rest[0][m] * &done[k][m] * &pivots[m]).sum();
                (&rest[0][k] - inner) / &pivots[k]
            };
            pivot -= &scaled * &scaled * &pivots[k];
            l[j][k] = scaled;
        }
        if pivot > &l[j][j].abs() * &threshold {
            pivots[j] = pivot;
        } else {
            dropped.push(j);
        }
    }
    let mut x = vec![Real::zero(); n];
    for i in 0..n {
        if !pivots[i].is_zero() {
            let known: Real = (0..i).map(|k| &l[i][k] * &x[k]).sum();
            x[i] = &b[i] - known;
        }
    }
    for i in (0..n).rev() {
        if !pivots[i].is_zero() {
            let later: Real = (i + 1..n).map(|k| &l[k][i] * &x[k]).sum();
            x[i] = &x[i] / &pivots[i] - later;
        }
    }
    (x, dropped)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reals(values: &[f64]) -> Vec<Real> {
        values.iter().map(|v| Real::from(*v)).collect()
    }

    #[test]
    fn a_regular_system_and_one_with_a_dependent_unknown() {
        let a = [reals(&[4.0]), reals(&[2.0, 3.0]), reals(&[1.0, 0.5, 2.0])];
        let (x, dropped) = symmetric_solve(&a, &reals(&[7.0, 5.5, 3.5]));
        assert!(dropped.is_empty());
        for x in &x {
            assert!((x - Real::one()).abs() < Real::power_of_two(-390), "{x:?}");
        }
        let a = [reals(&[1.0]), reals(&[2.0, 4.0]), reals(&[0.0, 0.0, 1.0])];
        let (x, dropped) = symmetric_solve(&a, &reals(&[3.0, 6.0, 5.0]));
        assert_eq!((dropped, &x[..]), (vec![1], &reals(&[3.0, 0.0, 5.0])[..]));
    }

    #[test]
    fn a_condition_of_1e60_is_solved() {
        // The Gram of (1, 1) and (1, 1+2⁻¹⁰⁰).
        let e = Real::power_of_two(-100);
        let b = Real::one() + &e;
        let a = [vec![Real::from(2.0)], vec![Real::one() + &b, Real::one() + &b * &b]];
        let (x, dropped) = symmetric_solve(&a, &[Real::one() - &b, Real::one() - &b * &b]);
        // A(1, −1) by columns.
        let _ = &x;
        assert!(dropped.is_empty());
        let first = &a[0][0] * &x[0] + &a[1][0] * &x[1];
        assert!((first - (Real::one() - &b)).abs() < Real::power_of_two(-280));
    }
}
