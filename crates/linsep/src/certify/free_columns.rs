//! A dual point for a penalty that leaves some columns out.
//!
//! The weights of a column of factor zero are as free as an intercept, so the dual demands `X_Uᵀ(sθ) = 0` for these
//! columns U (the intercept among them where it is free). Near the optimum one Newton step in U alone does it: with
//! `θ = ∂ℓ/∂z` and `C = ∂²ℓ/∂z²`, `θ′ = θ − C X_U c` where `(X_UᵀsCX_U) c = X_Uᵀsθ`. That is exact, and feasible as long
//! as no θ leaves its domain, which `−ℓ*(θ′)` tells.

use super::dual_bound::{DualBound, feasible_shrink, penalty_conjugate};
use crate::design::{Pass, Rows};
use crate::error::Result;
use crate::linalg::{Square, factor};
use crate::numeric::CompensatedSum;
use crate::objective::{Coef, Conjugate, Intercept, Penalty, Point, Risk};
use crate::watch::Watch;

/// On the unit-diagonal scale, pivots below this belong to columns that are combinations of others, as in
/// `independent`. The result is a start only; what is proved of it is computed anew.
const DEPENDENT: f64 = 1e-12;

/// The dual value at the corrected θ; `None` where the correction leaves the domain.
pub(super) fn corrected_dual<L: Conjugate, P: Penalty>(
    risk: &Risk<'_, L, P>,
    point: &Point,
    watch: &Watch,
) -> Result<Option<DualBound>> {
    let (k, cols, total) = (risk.loss().n_scores(), risk.n_cols(), risk.total_weight());
    let free = risk.penalty().free_columns();
    let system = System { risk, free: &free, with_intercept: risk.intercept() == Intercept::Free };
    let correction = system.solve(point, watch)?;
    let mut direction = Coef::zeros(k, cols);
    for score in 0..k {
        for (at, column) in free.iter().enumerate() {
            direction.weights_mut()[score * cols + column] = correction[score * system.width() + at];
        }
        if system.with_intercept {
            direction.intercept_mut()[score] = correction[score * system.width() + free.len()];
        }
    }
    let line = risk.along(&direction, watch)?;
    let mut theta = residual_of(risk, point, Some(line.scores()));
    let sums = weighted_sums(risk, &theta, watch)?;
    if risk.penalty().ridge() == 0.0 {
        let shrink = feasible_shrink(risk, &sums.0, &sums.1);
        theta.iter_mut().for_each(|t| *t *= shrink);
    }
    let sums = weighted_sums(risk, &theta, watch)?;
    let sample = risk.sample();
    let (mut entropy, mut offset_term) = (CompensatedSum::default(), CompensatedSum::default());
    for (i, theta) in theta.chunks_exact(k).enumerate() {
        let s = sample.weights.map_or(1.0, |w| w[i]);
        if s == 0.0 {
            continue;
        }
        let value = risk.loss().dual_value(sample.labels[i], theta);
        if value == f64::NEG_INFINITY {
            return Ok(None);
        }
        entropy.add(s * value);
        if let Some(o) = sample.offsets {
            theta.iter().zip(&o[i * k..]).for_each(|(t, o)| offset_term.add(s * t * o));
        }
    }
    // What rounding leaves of the constraints costs at most that times the coefficient.
    let of_score = |score: usize| {
        let missed = free.iter().map(|j| (sums.0[score * cols + j] * point.coef.weights_of(score)[*j]).abs());
        let intercept = if system.with_intercept { (sums.1[score] * point.coef.intercept()[score]).abs() } else { 0.0 };
        missed.sum::<f64>() + intercept
    };
    let allowance = (0..k).map(of_score).sum::<f64>() / total;
    let conjugate = penalty_conjugate(risk, &sums.0, &sums.1, 1.0);
    Ok(Some(DualBound { value: (entropy.value() + offset_term.value()) / total - conjugate, allowance }))
}

/// The Newton system of the free columns.
struct System<'s, 'd, L, P> {
    risk: &'s Risk<'d, L, P>,
    free: &'s [usize],
    with_intercept: bool,
}

impl<L: Conjugate, P: Penalty> System<'_, '_, L, P> {
    /// Unknowns per score.
    fn width(&self) -> usize {
        self.free.len() + usize::from(self.with_intercept)
    }

    fn solve(&self, point: &Point, watch: &Watch) -> Result<Vec<f64>> {
        let (risk, k, width) = (self.risk, self.risk.loss().n_scores(), self.width());
        let (sample, n, pairs) = (risk.sample(), k * width, k * (k + 1) / 2);
        let pass = Pass::new(sample.design, sample.units);
        let (gram, right) = pass.reduce(
            watch,
            (0, &mut []),
            || (vec![0.0; n * n], vec![0.0; n]),
            |(gram, right), range, rows, _| {
                let m = range.len();
                let (mut residual, mut curvature) = (vec![0.0; m * k], vec![0.0; m * pairs]);
                let weights = sample.weights.map(|w| &w[range.clone()]);
                let z = &point.scores[range.start * k..range.end * k];
                risk.loss().block(&sample.labels[range.clone()], z, weights, &mut residual, Some(&mut curvature));
                let mut x = vec![0.0; width];
                for i in 0..m {
                    self.row(&rows, i, &mut x);
                    for a in 0..k {
                        for (p, xp) in x.iter().enumerate() {
                            right[a * width + p] += residual[i * k + a] * xp;
                            for b in 0..=a {
                                let c = curvature[i * pairs + a * (a + 1) / 2 + b];
                                let out = &mut gram[(a * width + p) * n + b * width..][..width];
                                out.iter_mut().zip(&x).for_each(|(g, xq)| *g += c * xp * xq);
                            }
                        }
                    }
                }
                Ok(())
            },
            |a, b| {
                a.0.iter_mut().zip(b.0).for_each(|(a, b)| *a += b);
                a.1.iter_mut().zip(b.1).for_each(|(a, b)| *a += b);
            },
        )?;
        let mut matrix = Square::from_lower(n, |i, j| gram[i * n + j]);
        if self.with_intercept && risk.loss().shift_invariant() {
            // A common shift of all scores changes nothing: give it curvature so that it stays zero.
            let mean = matrix.diagonal().iter().sum::<f64>() / n as f64;
            for j in 0..n {
                (j..n).filter(|i| i % width == j % width).for_each(|i| *matrix.at(i, j) += mean);
            }
        }
        Ok(factor(&matrix, DEPENDENT).solve(&right))
    }

    /// The free columns of a row, in units, and the constant.
    fn row(&self, rows: &Rows<'_>, i: usize, x: &mut [f64]) {
        let units = self.risk.sample().units;
        for (at, column) in self.free.iter().enumerate() {
            x[at] = match rows {
                Rows::Dense(values) => values[i * self.risk.n_cols() + column],
                Rows::Csr(rows) => {
                    let (columns, values) = rows.row(i);
                    let stored = columns.binary_search(&(*column as u32)).map_or(0.0, |at| values[at]);
                    (stored - units.centre()[*column]) * units.inverse_scale()[*column]
                }
            };
        }
        if self.with_intercept {
            x[self.free.len()] = 1.0;
        }
    }
}

/// `∂ℓ/∂z` of every row without its weight, less `C · step` where a step of the scores is given.
fn residual_of<L: Conjugate, P: Penalty>(risk: &Risk<'_, L, P>, point: &Point, step: Option<&[f64]>) -> Vec<f64> {
    let k = risk.loss().n_scores();
    let pairs = k * (k + 1) / 2;
    let labels = risk.sample().labels;
    let (mut theta, mut curvature) = (vec![0.0; labels.len() * k], vec![0.0; labels.len() * pairs]);
    risk.loss().block(labels, &point.scores, None, &mut theta, Some(&mut curvature));
    if let Some(step) = step {
        for (i, theta) in theta.chunks_exact_mut(k).enumerate() {
            let (c, d) = (&curvature[i * pairs..][..pairs], &step[i * k..][..k]);
            for (a, theta) in theta.iter_mut().enumerate() {
                let entry = |b: usize| c[a.max(b) * (a.max(b) + 1) / 2 + a.min(b)];
                *theta -= (0..k).map(|b| entry(b) * d[b]).sum::<f64>();
            }
        }
    }
    theta
}

/// `Σ sᵢθᵢxᵢᵀ` in units and `Σ sᵢθᵢ`.
fn weighted_sums<L: Conjugate, P: Penalty>(
    risk: &Risk<'_, L, P>,
    theta: &[f64],
    watch: &Watch,
) -> Result<(Vec<f64>, Vec<f64>)> {
    let k = risk.loss().n_scores();
    let weighted: Vec<f64> = match risk.sample().weights {
        Some(weights) => theta.chunks_exact(k).zip(weights).flat_map(|(t, s)| t.iter().map(move |t| t * s)).collect(),
        None => theta.to_vec(),
    };
    risk.weighted_sums(&weighted, watch)
}
