//! The nearest point of a quadric: `min ‖u‖` with `q(x + u) = 0`.
//!
//! With `u = V v` in the eigenvectors of W, h = Vᵀ∇q(x) and g = q(x) > 0 (else −q is taken), a multiplier μ gives
//! `v_k = −s_k h_k` with `s_k = μ/(1 + μλ_k)`, and v is the shortest where all `1 + μλ_k ≥ 0` (Moré 1993, generalizations of
//! the trust region problem, theorem 3.2). There the secular function `φ(μ) = g − Σ h_k s_k (h_k − ½λ_k h_k s_k)`, the value
//! of q at the end, only falls, from g at μ = 0. With negative eigenvalues μ ends at the pole `−1/λ_min`; if φ is still
//! positive there (the hard case: h has no part along that eigenvector) the rest of the way is along it. Without, μ goes to
//! infinity, and if φ stays positive there is no such point.
//!
//! What comes out is checked by W itself, without its eigenvectors: for every μ with `I + μW ⪰ 0` the shortest step is at least as
//! long as the minimum of `½‖u‖² + μ q(x + u)` says (weak duality), and at a step u with the residual `r = u + μ∇q(x + u)` that
//! minimum is `½‖u‖² + μ q(x + u) − ½ rᵀ(I + μW)⁻¹r`. A step whose square is not that long, or that does not end on the quadric, is
//! not given as the shortest.

use super::quadric::Quadric;
use crate::linalg::dot;

/// A correction of the length by more than this is no correction of rounding: the slope vanishes there.
const CLOSE: f64 = 1e-3;
/// Newton steps for the length: from three correct digits three steps reach all of a double.
const STRETCHES: usize = 3;
/// A step is the shortest if the bound from below is within this share of its square: far below any printed digit.
const PROVED: f64 = 1e-9;
/// Rounding of a sum, in units of the last place of its terms: chosen, a few operations for each.
const ULPS: f64 = 8.0;

/// Steps are found by halving intervals of floating-point numbers, so that both 1e-300 and 1 are reached to the last bit.
fn halve(low: f64, high: f64, is_high: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (low.to_bits(), high.to_bits());
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if is_high(f64::from_bits(middle)) { high = middle } else { low = middle }
    }
    f64::from_bits(high)
}

/// A solution of the secular equation.
struct Multiplied {
    /// The step along each eigenvector.
    v: Vec<f64>,
    /// Its multiplier.
    mu: f64,
    /// `1 + μλ_k`.
    bends: Vec<f64>,
}

/// What is found of the nearest point.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum NearestPoint {
    /// The quadric has no point.
    Nowhere,
    /// The step to it.
    Step(Vec<f64>),
    /// Rounding leaves it open which step is the shortest.
    Unresolved,
}

impl Quadric {
    /// The shortest step from x to the quadric; `None` where it has no point, and where rounding leaves open which step is the
    /// shortest. Eigenvalues of W that are rounding error beside their terms count as zero, so a quadric that closes only very
    /// far away counts as open.
    pub fn step(&self, x: &[f64]) -> Option<Vec<f64>> {
        match self.nearest(&self.gradient_at(x), self.value(x)) {
            NearestPoint::Step(step) => Some(step),
            NearestPoint::Nowhere | NearestPoint::Unresolved => None,
        }
    }

    /// The same from gradient and value at x.
    pub(super) fn nearest(&self, gradient: &[f64], value: f64) -> NearestPoint {
        if value == 0.0 {
            return NearestPoint::Step(vec![0.0; gradient.len()]);
        }
        let sign = value.signum();
        let g = value.abs();
        let h: Vec<f64> = self.form.rotate(gradient).iter().map(|h| sign * h).collect();
        let lambda: Vec<f64> = self.values.iter().map(|l| sign * l).collect();
        let lowest = lambda.iter().copied().fold(0.0, f64::min);
        let found = if lowest < 0.0 { Some(to_the_pole(g, &h, &lambda, lowest)) } else { to_infinity(g, &h, &lambda) };
        let Some(found) = found else { return NearestPoint::Nowhere };
        let step = self.onto(self.form.rotate_back(&found.v), gradient, value);
        match self.is_shortest(&step, gradient, value, &found) {
            true => NearestPoint::Step(step),
            false => NearestPoint::Unresolved,
        }
    }

    /// Whether the step ends on the quadric and the bound from below is as long.
    fn is_shortest(&self, step: &[f64], gradient: &[f64], value: f64, found: &Multiplied) -> bool {
        let sign = value.signum();
        let bent = self.form.multiply(step);
        let terms = || step.iter().zip(gradient.iter().zip(&bent)).flat_map(|(u, (w, h))| [u * w, 0.5 * u * h]);
        let left = value + terms().sum::<f64>();
        let size = value.abs() + terms().map(f64::abs).sum::<f64>();
        let rounding = ULPS * (step.len() + 1) as f64 * f64::EPSILON * size;
        let half_square = 0.5 * dot(step, step);
        let end = found.mu * (left.abs() - rounding).max(0.0);
        let residual: Vec<f64> =
            step.iter().zip(gradient.iter().zip(&bent)).map(|(u, (w, h))| u + found.mu * sign * (w + h)).collect();
        let turned = self.form.rotate(&residual);
        // At the pole the residual along its eigenvector is rounding and nothing divides it.
        let parts = turned.iter().zip(&found.bends).filter(|(_, bend)| **bend > 0.0).map(|(r, bend)| r * r / bend);
        let stray = turned.iter().zip(&found.bends).filter(|(_, bend)| **bend <= 0.0).map(|(r, _)| r * r);
        let gap = end + 0.5 * parts.sum::<f64>();
        gap <= PROVED * half_square && 0.5 * stray.sum::<f64>() <= PROVED * half_square
    }

    /// Stretches a step so that it ends on the quadric to full precision: eigenvalues resolve the large columns only.
    fn onto(&self, mut step: Vec<f64>, gradient: &[f64], value: f64) -> Vec<f64> {
        let slope = dot(gradient, &step);
        let bend = 0.5 * dot(&self.form.multiply(&step), &step);
        let mut stretch = 1.0f64;
        for _ in 0..STRETCHES {
            let next = stretch - (value + stretch * (slope + stretch * bend)) / (slope + 2.0 * stretch * bend);
            // Where the quadric is only touched the slope vanishes, and the step is left as it is.
            if !((next - 1.0).abs() < CLOSE) {
                return step;
            }
            stretch = next;
        }
        step.iter_mut().for_each(|s| *s *= stretch);
        step
    }
}

/// φ at given s_k.
fn secular(g: f64, h: &[f64], lambda: &[f64], s: impl Fn(usize) -> f64) -> f64 {
    let term = |k: usize| {
        let y = h[k] * s(k);
        // Zero times infinity is no number.
        if lambda[k] == 0.0 { y * h[k] } else { y * (h[k] - 0.5 * lambda[k] * y) }
    };
    g - (0..h.len()).filter(|k| h[*k] != 0.0).map(term).sum::<f64>()
}

/// μ up to `−1/λ_min`: in the lower half by μ itself, which may be far below the pole where another λ is large, in the
/// upper by the distance t = 1 + μλ_min from the pole, where digits of μ would not do.
fn to_the_pole(g: f64, h: &[f64], lambda: &[f64], lowest: f64) -> Multiplied {
    let half = 0.5 / -lowest;
    let low = |k: usize, mu: f64| (mu.recip() + lambda[k]).recip();
    if secular(g, h, lambda, |k| low(k, half)) <= 0.0 {
        let mu = halve(0.0, half, |mu| secular(g, h, lambda, |k| low(k, mu)) <= 0.0);
        let v = (0..h.len()).map(|k| -h[k] * low(k, mu)).collect();
        return Multiplied { v, mu, bends: lambda.iter().map(|l| 1.0 + mu * l).collect() };
    }
    let bend = |k: usize, t: f64| (lowest - lambda[k]) / lowest + t * (lambda[k] / lowest);
    let s = |k: usize, t: f64| (1.0 - t) / -lowest / bend(k, t);
    let value = |t: f64| secular(g, h, lambda, |k| s(k, t));
    let end = |t: f64| (0..h.len()).map(|k| if h[k] == 0.0 { 0.0 } else { -h[k] * s(k, t) }).collect::<Vec<f64>>();
    let bends = |t: f64| (0..h.len()).map(|k| bend(k, t)).collect::<Vec<f64>>();
    if value(f64::MIN_POSITIVE) <= 0.0 {
        let t = halve(f64::MIN_POSITIVE, 0.5, |t| value(t) > 0.0);
        return Multiplied { v: end(t), mu: (1.0 - t) / -lowest, bends: bends(t) };
    }
    let at_pole = |k: usize| if lambda[k] == lowest { 0.0 } else { s(k, 0.0) };
    let mut v: Vec<f64> = (0..h.len()).map(|k| -h[k] * at_pole(k)).collect();
    let rest = secular(g, h, lambda, at_pole).max(0.0);
    if let Some(k) = lambda.iter().position(|l| *l == lowest) {
        v[k] = (2.0 * rest / -lowest).sqrt();
    }
    Multiplied { v, mu: -lowest.recip(), bends: bends(0.0) }
}

/// μ up to infinity, for W without negative eigenvalues.
fn to_infinity(g: f64, h: &[f64], lambda: &[f64]) -> Option<Multiplied> {
    let s = |k: usize, mu: f64| (mu.recip() + lambda[k]).recip();
    let value = |mu: f64| secular(g, h, lambda, |k| s(k, mu));
    if !(value(f64::MAX) <= 0.0) {
        return None;
    }
    let mu = halve(0.0, f64::MAX, |mu| value(mu) <= 0.0);
    let v = (0..h.len()).map(|k| -h[k] * s(k, mu)).collect();
    Some(Multiplied { v, mu, bends: lambda.iter().map(|l| 1.0 + mu * l).collect() })
}
