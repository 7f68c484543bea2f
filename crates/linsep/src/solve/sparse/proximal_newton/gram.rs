//! The quadratic model in its Gram matrix: a sweep costs the same for any number of rows.

use crate::linalg::{Square, factor};
use crate::numeric::vectorised;

/// Sweeps over the active set between two sweeps over all coordinates. Chosen (bench/constants.md): only the time
/// depends on it.
const INNER_SWEEPS: usize = 64;
/// Sweeps over all coordinates after which the model is left as it is: the next one starts from there. Chosen
/// (bench/constants.md).
const OUTER_SWEEPS: usize = 64;
/// On the unit-diagonal scale, as in Newton's method.
const ROUNDING_PIVOT: f64 = 1e-15;
/// Sweeps over an active set before its linear system is solved, and one more for this many coordinates, since the
/// system costs their cube and a sweep their square. Chosen (bench/constants.md).
const FIRST_JUMP: usize = 3;
/// See [`FIRST_JUMP`]. Chosen (bench/constants.md).
const PER_SWEEP: usize = 64;

/// `min_v g·(v−w) + ½(v−w)ᵀH(v−w) + Σ lⱼ|vⱼ|`.
pub(super) struct GramModel {
    n: usize,
    /// Both triangles, row by row.
    hessian: Vec<f64>,
}

/// The state of a minimisation.
struct CoordinateDescent<'m> {
    model: &'m GramModel,
    lasso: &'m [f64],
    v: Vec<f64>,
    /// The gradient of the quadratic part at v.
    slope: Vec<f64>,
}

impl GramModel {
    pub(super) fn new(hessian: &Square) -> GramModel {
        let n = hessian.n();
        let mut full = hessian.as_slice().to_vec();
        for j in 0..n {
            (j + 1..n).for_each(|i| full[i * n + j] = full[j * n + i]);
        }
        GramModel { n, hessian: full }
    }

    /// Adds to the diagonal.
    pub(super) fn add_diagonal(&mut self, j: usize, value: f64) {
        self.hessian[j * self.n + j] += value;
    }

    /// The minimiser from w, until no coordinate is further than `target` from its own optimum, measured in the gradient.
    pub(super) fn minimise(&self, w: &[f64], gradient: &[f64], lasso: &[f64], target: f64) -> Vec<f64> {
        let mut descent = CoordinateDescent { model: self, lasso, v: w.to_vec(), slope: gradient.to_vec() };
        let all: Vec<usize> = (0..self.n).collect();
        if lasso.iter().all(|l| *l == 0.0) {
            // Without a lasso the model is one linear system.
            descent.jump();
        }
        for _ in 0..OUTER_SWEEPS {
            if descent.sweep(&all) <= target {
                break;
            }
            let active: Vec<usize> = descent.active();
            // On the support the model is a linear system; where that is small, solving it beats sweeping.
            let every = FIRST_JUMP + active.len() / PER_SWEEP;
            for sweep in 1..=INNER_SWEEPS {
                if descent.sweep(&active) <= 0.5 * target {
                    break;
                }
                if sweep % every == 0 {
                    descent.jump();
                }
            }
        }
        descent.v
    }
}

impl CoordinateDescent<'_> {
    /// Coordinates that are not zero, or free.
    fn active(&self) -> Vec<usize> {
        (0..self.v.len()).filter(|j| self.v[*j] != 0.0 || self.lasso[*j] == 0.0).collect()
    }

    /// One sweep; the largest move, times the curvature of its coordinate.
    fn sweep(&mut self, coordinates: &[usize]) -> f64 {
        let n = self.model.n;
        let mut largest = 0.0f64;
        for &j in coordinates {
            let row = &self.model.hessian[j * n..(j + 1) * n];
            let (curvature, old, slope, lasso) = (row[j], self.v[j], self.slope[j], self.lasso[j]);
            let new = coordinate(old, slope, curvature, lasso);
            let step = new - old;
            if step != 0.0 {
                largest = largest.max((step * curvature).abs());
                self.v[j] = new;
                add_scaled(step, row, &mut self.slope);
            }
        }
        largest
    }

    /// Towards the minimiser on the face of the current signs, as far as they hold.
    fn jump(&mut self) {
        let (n, active) = (self.model.n, self.active());
        let entry = |i: usize, j: usize| self.model.hessian[active[i] * n + active[j]];
        let system = factor(&Square::from_lower(active.len(), entry), ROUNDING_PIVOT);
        let sign = |v: f64| if v == 0.0 { 0.0 } else { v.signum() };
        let right: Vec<f64> = active.iter().map(|&j| -self.slope[j] - self.lasso[j] * sign(self.v[j])).collect();
        let direction = system.solve(&right);
        if direction.iter().any(|d| !d.is_finite()) {
            return;
        }
        let (mut length, mut first) = (1.0, None);
        for (&j, d) in active.iter().zip(&direction) {
            let crossing = -self.v[j] / d;
            if self.lasso[j] > 0.0 && crossing > 0.0 && crossing < length {
                (length, first) = (crossing, Some(j));
            }
        }
        for (&j, d) in active.iter().zip(&direction) {
            let new = if first == Some(j) { 0.0 } else { self.v[j] + length * d };
            let step = new - self.v[j];
            self.v[j] = new;
            add_scaled(step, &self.model.hessian[j * n..(j + 1) * n], &mut self.slope);
        }
    }
}

/// The optimum of one coordinate, the others fixed. Without curvature only zero can be one.
#[inline]
pub(super) fn coordinate(old: f64, slope: f64, curvature: f64, lasso: f64) -> f64 {
    if curvature > 0.0 {
        // In terms of the step, so that a coordinate at its optimum stays put to the last bit.
        return match (slope + lasso, slope - lasso) {
            (right, _) if curvature * old > right => old - right / curvature,
            (_, left) if curvature * old < left => old - left / curvature,
            _ => 0.0,
        };
    }
    if lasso > 0.0 && slope.abs() <= lasso { 0.0 } else { old }
}

vectorised! {
    fn add_scaled(step: f64, row: &[f64], out: &mut [f64]) {
        for (o, h) in out.iter_mut().zip(row) {
            *o = h.mul_add(step, *o);
        }
    }
}
