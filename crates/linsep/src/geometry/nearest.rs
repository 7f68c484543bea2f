//! The nearest point of a quadric: `min ‖u‖` with `q(x + u) = 0`.
//!
//! With `u = V v` in the eigenvectors of W, h = Vᵀ∇q(x) and g = q(x) > 0 (else −q is taken), a multiplier μ gives
//! `v_k = −s_k h_k` with `s_k = μ/(1 + μλ_k)`, and v is the shortest where all `1 + μλ_k ≥ 0` (Moré 1993, generalizations of
//! the trust region problem, theorem 3.2). There the secular function `φ(μ) = g − Σ h_k s_k (h_k − ½λ_k h_k s_k)`, the value
//! of q at the end, only falls, from g at μ = 0. With negative eigenvalues μ ends at the pole `−1/λ_min`; if φ is still
//! positive there (the hard case: h has no part along that eigenvector) the rest of the way is along it. Without, μ goes to
//! infinity, and if φ stays positive there is no such point.

use super::quadric::Quadric;
use crate::linalg::dot;

/// A correction of the length by more than this is no correction of rounding: the slope vanishes there.
const CLOSE: f64 = 1e-3;
/// Newton steps for the length: from three correct digits three steps reach all of a double.
const STRETCHES: usize = 3;

/// Steps are found by halving intervals of floating-point numbers, so that both 1e-300 and 1 are reached to the last bit.
fn halve(low: f64, high: f64, is_high: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (low.to_bits(), high.to_bits());
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if is_high(f64::from_bits(middle)) { high = middle } else { low = middle }
    }
    f64::from_bits(high)
}

impl Quadric {
    /// The shortest step from x to the quadric; `None` where it has no point. Eigenvalues of W that are rounding error
    /// relative to the largest count as zero, so a quadric that closes only very far away counts as open.
    pub fn step(&self, x: &[f64]) -> Option<Vec<f64>> {
        self.step_from(&self.gradient_at(x), self.value(x))
    }

    /// The same from gradient and value at x.
    pub(super) fn step_from(&self, gradient: &[f64], value: f64) -> Option<Vec<f64>> {
        if value == 0.0 {
            return Some(vec![0.0; gradient.len()]);
        }
        let sign = value.signum();
        let g = value.abs();
        let h: Vec<f64> = self.form.rotate(gradient).iter().map(|h| sign * h).collect();
        let lambda: Vec<f64> = self.values.iter().map(|l| sign * l).collect();
        let lowest = lambda.iter().copied().fold(0.0, f64::min);
        let v = if lowest < 0.0 { to_the_pole(g, &h, &lambda, lowest) } else { to_infinity(g, &h, &lambda)? };
        let step = self.form.rotate_back(&v);
        Some(self.onto(step, gradient, value))
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
fn to_the_pole(g: f64, h: &[f64], lambda: &[f64], lowest: f64) -> Vec<f64> {
    let half = 0.5 / -lowest;
    let low = |k: usize, mu: f64| (mu.recip() + lambda[k]).recip();
    if secular(g, h, lambda, |k| low(k, half)) <= 0.0 {
        let mu = halve(0.0, half, |mu| secular(g, h, lambda, |k| low(k, mu)) <= 0.0);
        return (0..h.len()).map(|k| -h[k] * low(k, mu)).collect();
    }
    let s = |k: usize, t: f64| {
        let above = (lowest - lambda[k]) / lowest;
        (1.0 - t) / -lowest / (above + t * (lambda[k] / lowest))
    };
    let value = |t: f64| secular(g, h, lambda, |k| s(k, t));
    let end = |t: f64| (0..h.len()).map(|k| if h[k] == 0.0 { 0.0 } else { -h[k] * s(k, t) }).collect::<Vec<f64>>();
    if value(f64::MIN_POSITIVE) <= 0.0 {
        return end(halve(f64::MIN_POSITIVE, 0.5, |t| value(t) > 0.0));
    }
    let at_pole = |k: usize| if lambda[k] == lowest { 0.0 } else { s(k, 0.0) };
    let mut v: Vec<f64> = (0..h.len()).map(|k| -h[k] * at_pole(k)).collect();
    let rest = secular(g, h, lambda, at_pole).max(0.0);
    if let Some(k) = lambda.iter().position(|l| *l == lowest) {
        v[k] = (2.0 * rest / -lowest).sqrt();
    }
    v
}

/// μ up to infinity, for W without negative eigenvalues.
fn to_infinity(g: f64, h: &[f64], lambda: &[f64]) -> Option<Vec<f64>> {
    let s = |k: usize, mu: f64| (mu.recip() + lambda[k]).recip();
    let value = |mu: f64| secular(g, h, lambda, |k| s(k, mu));
    if !(value(f64::MAX) <= 0.0) {
        return None;
    }
    let mu = halve(0.0, f64::MAX, |mu| value(mu) <= 0.0);
    Some((0..h.len()).map(|k| -h[k] * s(k, mu)).collect())
}
