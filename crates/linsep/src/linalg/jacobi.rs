//! Jacobi's rotations for `A = V Λ Vᵀ`: slower than a tridiagonal form, but columns in other units keep their digits.
//!
//! With `A = D B D`, D diagonal, the error of each eigenvalue is that of entries of A known to a share of about n·ε each, if B is
//! well conditioned, however uneven D is (Demmel and Veselić 1992, Jacobi's method is more accurate than QR; Barlow and Demmel
//! 1990 for both signs): rotations stop where an entry is small beside *its own* diagonal entries.

use super::Square;

/// Rounds over all pairs: convergence is quadratic, and six to ten are usual; uneven columns take fewer.
const SWEEPS: usize = 40;
/// Beyond, the square of the cotangent is infinite, and the tangent of the angle is half its inverse to the last bit.
const STEEP: f64 = 1e150;

/// Rising eigenvalues, and the eigenvectors one after the other; `None` where entries do not become small.
pub(super) fn jacobi(a: &Square) -> Option<(Vec<f64>, Vec<f64>)> {
    let n = a.n();
    let mut a: Vec<f64> = (0..n * n).map(|at| a.get(at / n, at % n)).collect();
    // Row k is the eigenvector k.
    let mut v = vec![0.0; n * n];
    (0..n).for_each(|k| v[k * n + k] = 1.0);
    let sizes: Vec<f64> = (0..n).map(|j| (0..n).fold(0.0f64, |m, i| m.max(a[j * n + i].abs()))).collect();
    let is_small = |a: &[f64], p: usize, q: usize| {
        let entry = a[p * n + q].abs();
        entry <= f64::EPSILON * (a[p * n + p].abs().sqrt() * a[q * n + q].abs().sqrt()) || entry < f64::MIN_POSITIVE
    };
    let mut settled = false;
    for _ in 0..SWEEPS {
        settled = true;
        for p in 0..n {
            for q in p + 1..n {
                if !is_small(&a, p, q) {
                    rotate(&mut a, &mut v, n, p, q);
                    settled = false;
                }
            }
        }
        if settled {
            break;
        }
    }
    // Of a singular matrix the last entries are rounding beside diagonal entries that are rounding, too.
    let rest = |p: usize, q: usize| a[p * n + q].abs() <= n as f64 * f64::EPSILON * sizes[p].min(sizes[q]);
    if !(settled || (0..n).all(|p| (p + 1..n).all(|q| rest(p, q)))) {
        return None;
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|i, j| a[i * n + i].total_cmp(&a[j * n + j]));
    let values: Vec<f64> = order.iter().map(|k| a[k * n + k]).collect();
    let vectors: Vec<f64> = order.iter().flat_map(|k| v[k * n..(k + 1) * n].iter().copied()).collect();
    values.iter().chain(&vectors).all(|v| v.is_finite()).then_some((values, vectors))
}

/// The rotation in the plane of p and q that makes their entry zero.
fn rotate(a: &mut [f64], v: &mut [f64], n: usize, p: usize, q: usize) {
    let entry = a[p * n + q];
    let cotangent = (a[q * n + q] - a[p * n + p]) / (2.0 * entry);
    let t = match cotangent.abs() > STEEP {
        true => 0.5 / cotangent,
        false => cotangent.signum() / (cotangent.abs() + (cotangent * cotangent + 1.0).sqrt()),
    };
    let c = (t * t + 1.0).sqrt().recip();
    let s = t * c;
    let half = s / (1.0 + c);
    a[p * n + p] -= t * entry;
    a[q * n + q] += t * entry;
    (a[p * n + q], a[q * n + p]) = (0.0, 0.0);
    for i in (0..n).filter(|i| *i != p && *i != q) {
        let (x, y) = (a[i * n + p], a[i * n + q]);
        let (x, y) = (x - s * (y + half * x), y + s * (x - half * y));
        (a[i * n + p], a[p * n + i], a[i * n + q], a[q * n + i]) = (x, x, y, y);
    }
    for i in 0..n {
        let (x, y) = (v[p * n + i], v[q * n + i]);
        (v[p * n + i], v[q * n + i]) = (x - s * (y + half * x), y + s * (x - half * y));
    }
}
