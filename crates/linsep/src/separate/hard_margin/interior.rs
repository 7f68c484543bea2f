//! The nearest points of two hulls, given by few rows: an interior point method.
//!
//! `min ½‖w‖²` subject to `y(w·x + b) = 1 + t`, `t ≥ 0`, with multipliers α: optimal where `w = Σ αyx`, `Σ αy = 0`, `αt = 0`.
//! Newton's method on these equations with `αt = μ → 0` comes to systems `(Q + diag(t/α)) Δα = r − yΔb`, `Q = yyᵀ∘XXᵀ`; w
//! always is `Σ αyx`. With fewer columns than rows they are solved as `I + Xᵀdiag(α/t)X`. Steps are Mehrotra's (1992).

use crate::linalg::{Factor, Square, factor, gram_update, multiply_rows, weighted_rows_sum};

/// How far towards the boundary a step goes at least (Nocedal and Wright 2006, section 14.2, have [0.9, 1)). Chosen
/// (bench/constants.md): only the number of iterations depends on it.
const STAY_INSIDE: f64 = 0.99;
/// Pivots on the unit-diagonal scale below this are dropped: below the unit roundoff, so that only zeros are.
const ROUNDING_PIVOT: f64 = 1e-17;
/// Iterations at most; raised from 80. [`PATIENCE`] normally ends the search. Chosen (bench/constants.md).
const ITERATIONS: usize = 200;
/// Iterations without half the gap, once there is one below ½, after which rounding decides. Chosen
/// (bench/constants.md).
const PATIENCE: usize = 6;
/// Weights below this share of the largest are set to zero if the gap allows it; the largest share that does is taken.
const SMALL: [f64; 8] = [1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9];
/// By complementary slackness one of α and t vanishes; α does if its share is below this times t. Chosen
/// (bench/constants.md): both candidates are evaluated, and the better one is kept.
const VANISHES: f64 = 0.1;

/// The rows: as many columns as were given, or their products where there are more columns than rows.
pub(super) enum Space {
    /// Row-major `y x`.
    Columns { rows: Vec<f64>, cols: usize },
    /// `Q`.
    Products(Square),
}

/// Hull weights with the relative gap `1 − 2γ/‖x*−y*‖` on these rows; above one where nothing is separated.
pub(super) struct Nearest {
    pub(super) weights: Vec<f64>,
    pub(super) gap: f64,
}

impl Space {
    /// `Q v`.
    fn multiply(&self, v: &[f64]) -> Vec<f64> {
        match self {
            Space::Columns { rows, cols } => {
                let mut w = vec![0.0; *cols];
                weighted_rows_sum(rows, v, *cols, 1, &mut w);
                let mut out = vec![0.0; v.len()];
                multiply_rows(rows, &w, *cols, 1, &mut out);
                out
            }
            Space::Products(q) => q.multiply(v),
        }
    }

    fn factored(&self, theta: &[f64]) -> FactoredSystem<'_> {
        let factor = match self {
            Space::Columns { rows, cols } => {
                let mut scaled = rows.clone();
                for (row, theta) in scaled.chunks_exact_mut((*cols).max(1)).zip(theta) {
                    row.iter_mut().for_each(|x| *x /= theta);
                }
                let mut m = Square::zeros(*cols);
                gram_update(&mut m, &scaled, rows);
                (0..*cols).for_each(|j| *m.at(j, j) += 1.0);
                factor(&m, ROUNDING_PIVOT)
            }
            Space::Products(q) => {
                let mut m = q.clone();
                theta.iter().enumerate().for_each(|(i, t)| *m.at(i, i) += t);
                factor(&m, ROUNDING_PIVOT)
            }
        };
        FactoredSystem { space: self, factor, theta: theta.to_vec() }
    }
}

/// `Q + diag θ`, ready to solve.
struct FactoredSystem<'s> {
    space: &'s Space,
    factor: Factor,
    theta: Vec<f64>,
}

impl FactoredSystem<'_> {
    fn solve(&self, r: &[f64]) -> Vec<f64> {
        match self.space {
            Space::Columns { rows, cols } => {
                let scaled: Vec<f64> = r.iter().zip(&self.theta).map(|(r, t)| r / t).collect();
                let mut right = vec![0.0; *cols];
                weighted_rows_sum(rows, &scaled, *cols, 1, &mut right);
                let s = self.factor.solve(&right);
                let mut zs = vec![0.0; r.len()];
                multiply_rows(rows, &s, *cols, 1, &mut zs);
                r.iter().zip(&zs).zip(&self.theta).map(|((r, z), t)| (r - z) / t).collect()
            }
            Space::Products(_) => self.factor.solve(r),
        }
    }
}

/// Solves; `y` is ±1 for every row and both occur.
pub(super) fn nearest(space: &Space, y: &[f64], tolerance: f64) -> Nearest {
    let m = y.len();
    let (mut alpha, mut t) = (vec![1.0; m], vec![1.0; m]);
    let mut b = 0.0;
    let mut best = Nearest { weights: vec![0.0; m], gap: f64::INFINITY };
    let mut since = 0;
    for _ in 0..ITERATIONS {
        let product = space.multiply(&alpha);
        since += 1;
        for candidate in [alpha.clone(), pruned(&alpha, &t)] {
            let found = measured(space, y, candidate);
            if found.gap < best.gap {
                since = if found.gap < 0.5 * best.gap || found.gap > 0.5 { 0 } else { since };
                best = found;
            }
        }
        if best.gap < 1.0 && (best.gap <= tolerance || since > PATIENCE) {
            break;
        }
        let primal: Vec<f64> = (0..m).map(|i| product[i] + y[i] * b - t[i] - 1.0).collect();
        let imbalance: f64 = alpha.iter().zip(y).map(|(a, y)| a * y).sum();
        let theta: Vec<f64> = t.iter().zip(&alpha).map(|(t, a)| t / a).collect();
        let factored = space.factored(&theta);
        let of_y = factored.solve(y);
        let curvature: f64 = of_y.iter().zip(y).map(|(g, y)| g * y).sum();
        let step = |goal: &dyn Fn(usize) -> f64| -> (Vec<f64>, Vec<f64>, f64) {
            let right: Vec<f64> = (0..m).map(|i| goal(i) / alpha[i] - primal[i]).collect();
            let u = factored.solve(&right);
            let db = (u.iter().zip(y).map(|(u, y)| u * y).sum::<f64>() + imbalance) / curvature;
            let da: Vec<f64> = u.iter().zip(&of_y).map(|(u, g)| u - g * db).collect();
            let dt: Vec<f64> = (0..m).map(|i| (goal(i) - t[i] * da[i]) / alpha[i]).collect();
            (da, dt, db)
        };
        let mu = alpha.iter().zip(&t).map(|(a, t)| a * t).sum::<f64>() / m as f64;
        let (da, dt, _) = step(&|i| -alpha[i] * t[i]);
        let (reach_a, reach_t) = (reach(&alpha, &da).min(1.0), reach(&t, &dt).min(1.0));
        let after: f64 =
            (0..m).map(|i| (alpha[i] + reach_a * da[i]) * (t[i] + reach_t * dt[i])).sum::<f64>() / m as f64;
        let goal = mu * (after / mu).powi(3);
        let (da, dt, db) = step(&|i| goal - alpha[i] * t[i] - da[i] * dt[i]);
        let length = (STAY_INSIDE.max(1.0 - mu) * reach(&alpha, &da).min(reach(&t, &dt))).min(1.0);
        if !(length > 0.0 && db.is_finite()) || da.iter().any(|d| !d.is_finite()) {
            break;
        }
        for i in 0..m {
            alpha[i] += length * da[i];
            t[i] += length * dt[i];
        }
        b += length * db;
    }
    sparse(space, y, best, tolerance)
}

/// The sparsest weights that are as good: an interior point method leaves small ones where the solution has zeros.
fn sparse(space: &Space, y: &[f64], best: Nearest, tolerance: f64) -> Nearest {
    let largest = best.weights.iter().fold(0.0f64, |m, w| m.max(*w));
    for share in SMALL {
        let kept = best.weights.iter().map(|w| if *w < share * largest { 0.0 } else { *w }).collect();
        let found = measured(space, y, kept);
        if found.gap <= tolerance.max(2.0 * best.gap) {
            return found;
        }
    }
    best
}

/// The ratio test: the longest step that keeps all numbers positive.
fn reach(values: &[f64], changes: &[f64]) -> f64 {
    let losses = values.iter().zip(changes).map(|(v, c)| -c / v);
    losses.fold(f64::MIN_POSITIVE, f64::max).recip()
}

/// Multipliers without those about to vanish: by complementary slackness one of α and t does.
fn pruned(alpha: &[f64], t: &[f64]) -> Vec<f64> {
    let total: f64 = alpha.iter().sum();
    alpha.iter().zip(t).map(|(a, t)| if a / total < VANISHES * t { 0.0 } else { *a }).collect()
}

/// Hull weights of multipliers, and the gap that they prove on these rows.
fn measured(space: &Space, y: &[f64], mut weights: Vec<f64>) -> Nearest {
    let none = |weights| Nearest { weights, gap: f64::INFINITY };
    for side in [-1.0, 1.0] {
        let total: f64 = weights.iter().zip(y).filter(|(_, y)| **y == side).map(|(w, _)| w).sum();
        if !(total > 0.0 && total.is_finite()) {
            return none(weights);
        }
        weights.iter_mut().zip(y).filter(|(_, y)| **y == side).for_each(|(w, _)| *w /= total);
    }
    let product = space.multiply(&weights);
    let square: f64 = product.iter().zip(&weights).map(|(p, w)| p * w).sum();
    // y w·x: the smallest of each side bound the gap between the classes.
    let smallest =
        |side: f64| product.iter().zip(y).filter(|(_, y)| **y == side).map(|(p, _)| *p).fold(f64::INFINITY, f64::min);
    match square > 0.0 {
        true => Nearest { gap: 1.0 - (smallest(1.0) + smallest(-1.0)) / square, weights },
        false => none(weights),
    }
}
