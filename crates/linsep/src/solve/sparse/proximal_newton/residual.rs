//! The quadratic model by the columns: a sweep costs the stored values of the columns it visits.
//!
//! With the residuals r and curvatures C of the current scores, and the scores t of the move so far, the gradient of the
//! model is `X̂ᵀ(r + Ct)/S`. Sparse columns in units are `(x − c)·s`: the parts of their centres and of the intercepts, one
//! number per score, are kept apart as τ and enter through `Σ C`, `Σ C x` and the sums of `r + Ct`.

use super::gram::coordinate;
use crate::design::{Columns, Units};
use crate::objective::{Coef, CurvedLoss, Intercept, Penalty, Point, Risk};
use rayon::prelude::*;

/// Columns given to one task at least, so that it takes longer than its start. Chosen (bench/constants.md).
const COLUMNS: usize = 16;
/// Sweeps over all columns at most; the next model starts where they end. Chosen, out of reach of bench/constants.md:
/// only the time depends on it.
const OVER_ALL: usize = 20;
/// Sweeps over the active set after each of these, at most. Chosen, out of reach of bench/constants.md.
const OVER_USED: usize = 100;

/// From so large a score on, a row has at least the curvature that leads its score back to zero: beyond, the logistic
/// curvature is below 2e-9, so it matters only for rows far on the wrong side, which no optimum has.
const FAR: f64 = 20.0;

/// How many sweeps at most.
#[derive(Clone, Copy)]
pub(super) struct Sweeps {
    /// Over all coordinates.
    pub(super) over_all: usize,
    /// Over those that are not zero, after each of these.
    pub(super) over_used: usize,
    /// Whether a step on the face of the signs goes before the latter, and how exactly its system is solved.
    pub(super) on_face: Option<f64>,
}

impl Default for Sweeps {
    fn default() -> Sweeps {
        Sweeps { over_all: OVER_ALL, over_used: OVER_USED, on_face: None }
    }
}

/// The model at a point.
pub(super) struct ResidualModel<'m> {
    pub(super) columns: &'m Columns,
    pub(super) units: &'m Units,
    k: usize,
    pub(super) total_weight: f64,
    /// `r + C·(stored part of t)`, row by row, and its sums. Where columns have rows only, times what entries are.
    pub(super) theta: Vec<f64>,
    pub(super) sums: Vec<f64>,
    /// C; where columns have rows only, times the square of what entries are.
    pub(super) curvature: Vec<f64>,
    /// `Σ C`, packed; `Σ C x` and `Σ C x²` per column (the latter by score), of the stored values.
    pub(super) totals: Vec<f64>,
    pub(super) first: Vec<f64>,
    second: Vec<f64>,
    /// Moves of all rows alike, per score.
    pub(super) common: Vec<f64>,
}

/// Where C(a, b) is kept.
#[inline]
fn pair(a: usize, b: usize) -> usize {
    a.max(b) * (a.max(b) + 1) / 2 + a.min(b)
}

impl<'m> ResidualModel<'m> {
    /// The model at a point. With a reach, the curvature of a row is the one where its score is so much nearer to zero: for
    /// one score and losses that bend most there, no smaller than on the way to it.
    pub(super) fn new<L: CurvedLoss, P: Penalty>(
        risk: &Risk<'m, L, P>,
        point: &Point,
        columns: &'m Columns,
        reach: f64,
    ) -> ResidualModel<'m> {
        let (k, sample) = (risk.loss().n_scores(), risk.sample());
        let (n, pairs) = (sample.labels.len(), k * (k + 1) / 2);
        let (mut theta, mut curvature) = (vec![0.0; n * k], vec![0.0; n * pairs]);
        // Rows evaluated by one task: each row's loss is its own, so results do not depend on it.
        const ROWS: usize = 4096;
        let blocks = theta.par_chunks_mut(ROWS * k).zip(curvature.par_chunks_mut(ROWS * pairs)).enumerate();
        blocks.for_each(|(block, (theta, curvature))| {
            let rows = block * ROWS..(block * ROWS + ROWS).min(n);
            let weights = sample.weights.map(|w| &w[rows.clone()]);
            let scores = &point.scores[rows.start * k..rows.end * k];
            if reach > 0.0 {
                let nearer: Vec<f64> = scores.iter().map(|z| z.signum() * (z.abs() - reach).max(0.0)).collect();
                risk.loss().block(&sample.labels[rows.clone()], &nearer, weights, theta, Some(curvature));
                risk.loss().block(&sample.labels[rows], scores, weights, theta, None);
            } else {
                risk.loss().block(&sample.labels[rows], scores, weights, theta, Some(curvature));
            }
            if k == 1 {
                // A row far on the wrong side has a slope and no curvature, and would send its columns to infinity.
                for ((c, r), z) in curvature.iter_mut().zip(theta).zip(scores).filter(|(_, z)| z.abs() > FAR) {
                    *c = c.max(r.abs() / z.abs());
                }
            }
        });
        let sum = |values: &[f64], width: usize| {
            let mut sums = vec![0.0; width];
            values.chunks_exact(width).for_each(|v| sums.iter_mut().zip(v).for_each(|(s, v)| *s += v));
            sums
        };
        let (sums, totals) = (sum(&theta, k), sum(&curvature, pairs));
        let cols = risk.n_cols();
        let (mut first, mut second) = (vec![0.0; cols * pairs], vec![0.0; cols * k]);
        let once = columns.row_value().map(|of_row| times(&mut theta, &mut curvature, of_row));
        let once = once.as_deref().unwrap_or(&curvature);
        let moments = first.par_chunks_mut(pairs).zip(second.par_chunks_mut(k)).enumerate();
        moments.with_min_len(COLUMNS).for_each(|(j, (first, second))| {
            let column = columns.column(j);
            if k == 1 && columns.row_value().is_some() {
                (first[0], second[0]) = (column.dot(once), column.dot(&curvature));
                return;
            }
            column.for_each(|i, x| {
                let (once, twice) = (&once[i * pairs..][..pairs], &curvature[i * pairs..][..pairs]);
                first.iter_mut().zip(once).for_each(|(f, c)| *f += c * x);
                second.iter_mut().enumerate().for_each(|(a, s)| *s += twice[pair(a, a)] * x * x);
            });
        });
        ResidualModel {
            columns,
            units: sample.units,
            k,
            total_weight: risk.total_weight(),
            theta,
            sums,
            curvature,
            totals,
            first,
            second,
            common: vec![0.0; k],
        }
    }

    /// The minimiser from w, until no coordinate is further than `target` from its own optimum, measured in the gradient.
    pub(super) fn minimise<L: CurvedLoss, P: Penalty>(
        mut self,
        risk: &Risk<'_, L, P>,
        w: &Coef,
        target: f64,
        sweeps: Sweeps,
    ) -> Coef {
        let mut v = w.clone();
        let all: Vec<usize> = (0..risk.n_cols()).collect();
        for _ in 0..sweeps.over_all {
            if self.sweep(risk, &mut v, &all) <= target {
                break;
            }
            let in_use =
                |j: &usize| risk.penalty().lasso_of(*j) == 0.0 || (0..self.k).any(|c| v.weights_of(c)[*j] != 0.0);
            let active: Vec<usize> = all.iter().copied().filter(in_use).collect();
            if let Some(precision) = sweeps.on_face.filter(|_| self.k == 1) {
                self.step_on_face(risk, &mut v, precision);
            }
            for _ in 0..sweeps.over_used {
                if self.sweep(risk, &mut v, &active) <= 0.5 * target {
                    break;
                }
            }
        }
        v
    }

    /// One sweep over the weights of some columns and the intercepts.
    fn sweep<L: CurvedLoss, P: Penalty>(&mut self, risk: &Risk<'_, L, P>, v: &mut Coef, columns: &[usize]) -> f64 {
        let (cols, penalty) = (risk.n_cols(), risk.penalty());
        let mut largest = 0.0f64;
        for &j in columns {
            let (ridge, lasso) = (penalty.ridge_of(j), penalty.lasso_of(j));
            for c in 0..self.k {
                let old = v.weights_of(c)[j];
                let (slope, curvature) = self.slope(j, c);
                let (slope, curvature) = (slope + ridge * old, curvature + ridge);
                let new = coordinate(old, slope, curvature, lasso);
                if new != old {
                    largest = largest.max(((new - old) * curvature).abs());
                    v.weights_mut()[c * cols + j] = new;
                    self.step(j, c, new - old);
                }
            }
        }
        let (ridge, lasso) = match risk.intercept() {
            Intercept::None => return largest,
            Intercept::Free => (0.0, 0.0),
            Intercept::Penalised => (penalty.ridge(), penalty.lasso()),
        };
        for c in 0..self.k {
            let old = v.intercept()[c];
            let slope = self.total(c) / self.total_weight + ridge * old;
            let curvature = self.totals[pair(c, c)] / self.total_weight + ridge;
            let new = coordinate(old, slope, curvature, lasso);
            largest = largest.max(((new - old) * curvature).abs());
            v.intercept_mut()[c] = new;
            self.common[c] += new - old;
        }
        largest
    }

    /// `Σ (r + Ct)` of one score.
    pub(super) fn total(&self, c: usize) -> f64 {
        self.sums[c] + (0..self.k).map(|b| self.totals[pair(c, b)] * self.common[b]).sum::<f64>()
    }

    /// Slope and curvature of the loss in one weight.
    pub(super) fn slope(&self, j: usize, c: usize) -> (f64, f64) {
        let (k, pairs) = (self.k, self.totals.len());
        let first = &self.first[j * pairs..][..pairs];
        let mut sum = 0.0;
        match k {
            1 => sum = self.columns.column(j).dot(&self.theta),
            _ => self.columns.column(j).for_each(|i, x| sum += x * self.theta[i * k + c]),
        }
        sum += (0..k).map(|b| first[pair(c, b)] * self.common[b]).sum::<f64>();
        let (mut second, total) = (self.second[j * k + c], self.total_weight);
        if self.columns.is_sparse() {
            let (centre, inverse) = (self.units.centre()[j], self.units.inverse_scale()[j]);
            sum = (sum - centre * self.total(c)) * inverse;
            let own = pair(c, c);
            second -= centre * (2.0 * first[own] - centre * self.totals[own]);
            second *= inverse * inverse;
        }
        (sum / total, second / total)
    }

    /// Moves one weight.
    pub(super) fn step(&mut self, j: usize, c: usize, step: f64) {
        let (k, pairs) = (self.k, self.totals.len());
        let mut scaled = step;
        if self.columns.is_sparse() {
            scaled *= self.units.inverse_scale()[j];
            self.common[c] -= scaled * self.units.centre()[j];
        }
        let (theta, curvature) = (&mut self.theta, &self.curvature);
        if k == 1 {
            self.columns.column(j).for_each(|i, x| theta[i] += scaled * x * curvature[i]);
        } else {
            self.columns.column(j).for_each(|i, x| {
                let (theta, row) = (&mut theta[i * k..][..k], &curvature[i * pairs..][..pairs]);
                theta.iter_mut().enumerate().for_each(|(b, t)| *t += scaled * x * row[pair(b, c)]);
            });
        }
        let first = &self.first[j * pairs..][..pairs];
        self.sums.iter_mut().enumerate().for_each(|(b, s)| *s += scaled * first[pair(b, c)]);
    }
}

/// Multiplies by what the entries of a row are, curvatures by its square; the curvatures times it are returned.
fn times(theta: &mut [f64], curvature: &mut [f64], of_row: &[f64]) -> Vec<f64> {
    let n = of_row.len().max(1);
    let (k, pairs) = (theta.len() / n, curvature.len() / n);
    let mut once = curvature.to_vec();
    for (i, x) in of_row.iter().enumerate() {
        theta[i * k..(i + 1) * k].iter_mut().for_each(|t| *t *= x);
        once[i * pairs..(i + 1) * pairs].iter_mut().for_each(|c| *c *= x);
        curvature[i * pairs..(i + 1) * pairs].iter_mut().for_each(|c| *c *= x * x);
    }
    once
}
