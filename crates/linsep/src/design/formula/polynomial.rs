//! Orthonormal polynomials of a column, as R's `poly`: p₀ = 1 and, with the training rows as the inner product,
//!
//!   pⱼ₊₁(u) = (u − αⱼ) pⱼ(u) − (νⱼ / νⱼ₋₁) pⱼ₋₁(u),   αⱼ = ⟨u pⱼ, pⱼ⟩ / νⱼ,   νⱼ = ⟨pⱼ, pⱼ⟩
//!
//! (Stieltjes). The features are pⱼ/√νⱼ. u is the column moved to its mean and divided by its largest distance from it, so
//! that powers neither overflow nor underflow; as each pⱼ is normalised, the features do not depend on that unit.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// What was learned of a column for orthonormal polynomials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OrthogonalPolynomial {
    /// Mean of the training rows.
    pub centre: f64,
    /// Largest distance of a training row from it.
    pub scale: f64,
    /// The shifts α, one for every degree.
    pub shifts: Vec<f64>,
    /// The squared norms ν, of the constant and of every degree.
    pub norms: Vec<f64>,
}

/// A share of the squared norm of a column in its unit below which a polynomial of the degree vanishes on the rows: the
/// square of a hundred roundings, far below that of one more distinct value.
const VANISHES: f64 = 1e-28;

impl OrthogonalPolynomial {
    /// Learns from distinct values, each with its weight.
    pub(super) fn learn(values: &[(f64, f64)], degree: usize) -> Result<OrthogonalPolynomial> {
        if degree >= values.len() {
            return Err(Error::data(format!(
                "a polynomial of degree {degree} needs {} different values, and the rows have {}",
                degree + 1,
                values.len()
            ))
            .help(match values.len() {
                0..=2 => "leave the term out".to_owned(),
                n => format!("choose a degree of at most {}", n - 1),
            }));
        }
        let total: f64 = values.iter().map(|(_, w)| w).sum();
        // Moved by the first value, so that a large offset costs no digits.
        let shift = values[0].0;
        let centre = shift + values.iter().map(|(x, w)| w * (x - shift)).sum::<f64>() / total;
        let scale = values.iter().map(|(x, _)| (x - centre).abs()).fold(0.0, f64::max);
        let u: Vec<f64> = values.iter().map(|(x, _)| (x - centre) / scale).collect();
        let inner =
            |a: &[f64], b: &[f64]| -> f64 { values.iter().zip(a).zip(b).map(|(((_, w), a), b)| w * a * b).sum() };
        let (mut before, mut now) = (vec![0.0; u.len()], vec![1.0; u.len()]);
        let (mut shifts, mut norms) = (Vec::with_capacity(degree), vec![total]);
        for j in 0..degree {
            let moved: Vec<f64> = u.iter().zip(&now).map(|(u, p)| u * p).collect();
            let alpha = inner(&moved, &now) / norms[j];
            let ratio = if j == 0 { 0.0 } else { norms[j] / norms[j - 1] };
            let next: Vec<f64> = (0..u.len()).map(|i| (u[i] - alpha) * now[i] - ratio * before[i]).collect();
            let norm = inner(&next, &next);
            if norm.is_nan() || norm <= VANISHES * norms[j] {
                return Err(Error::data(format!(
                    "a polynomial of degree {} vanishes on the rows up to rounding",
                    j + 1
                ))
                .help(format!("choose a degree of at most {j}")));
            }
            shifts.push(alpha);
            norms.push(norm);
            before = std::mem::replace(&mut now, next);
        }
        Ok(OrthogonalPolynomial { centre, scale, shifts, norms })
    }

    /// Whether it can be used, wherever it came from.
    pub(super) fn is_whole(&self, degree: usize) -> bool {
        self.shifts.len() == degree
            && self.norms.len() == degree + 1
            && self.centre.is_finite()
            && self.scale.is_finite()
            && self.scale > 0.0
            && self.shifts.iter().all(|a| a.is_finite())
            && self.norms.iter().all(|n| n.is_finite() && *n > 0.0)
    }

    /// The polynomials of degree 1 to `out.len()` at a number.
    pub(super) fn fill(&self, x: f64, out: &mut [f64]) {
        let u = (x - self.centre) / self.scale;
        let (mut before, mut now) = (0.0, 1.0);
        for (j, out) in out.iter_mut().enumerate() {
            let ratio = if j == 0 { 0.0 } else { self.norms[j] / self.norms[j - 1] };
            let next = (u - self.shifts[j]) * now - ratio * before;
            *out = next / self.norms[j + 1].sqrt();
            before = std::mem::replace(&mut now, next);
        }
    }
}
