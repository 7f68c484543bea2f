//! The maximum margin of sparse rows with many columns, through slacks that become dearer.
//!
//! With `K = XXᵀ` and `w = Xᵀa` the problem `min ½a·Ka + C/2 Σ max(0, 1 − y(Ka + b))²` has the widest plane as its limit
//! for C → ∞. Newton's method on it solves `(K + I/C)a + b = y`, `Σa = 0` on the rows that have a slack, by conjugate
//! gradients: a step costs one product with K, which reads the data once, and every C starts where the last ended. The a of
//! the right sign are weights of hull points, so each step bounds the margin from both sides; nothing is taken on trust.

use super::{HardMargin, Search};
use crate::certify::hull_points;
use crate::design::{Block, Tile};
use crate::error::Result;
use crate::solve::row_newton::gram::RowGram;
use crate::watch::Progress;

/// Products with K in all.
const PRODUCTS: usize = 8_000;
/// Products for one system of equations.
const INNER: usize = 400;
/// Newton steps for one C.
const STEPS: usize = 6;
/// How much dearer slacks become at a time.
const DEARER: f64 = 10.0;
/// Beyond this, times the first, slacks are rounding.
const DEAREST: f64 = 1e13;

/// The widest plane to the tolerance of the search, or, if the watch halts it, as far as it came; `None` where it did not get
/// there, and where the rows are not sparse or not all count.
pub(super) fn solve(search: &Search<'_>) -> Result<Option<HardMargin>> {
    let n = search.rows.labels.len();
    let mut tile = Tile::default();
    let design = search.rows.design;
    if search.counted.len() != n || !design.lends() {
        return Ok(None);
    }
    let Block::Csr(x) = design.block(0..n, &mut tile)? else { return Ok(None) };
    let gram = RowGram::new(&x, &search.units)?;
    let squares: f64 = (0..n).map(|row| x.row(row).1.iter().map(|v| v * v).sum::<f64>()).sum();
    let y: Vec<f64> = (0..n).map(|row| search.side(row)).collect();
    let mut run =
        Run { search, gram: &gram, y, a: vec![0.0; n], scores: vec![0.0; n], intercept: 0.0, products: 0, best: None };
    run.iterate(n as f64 / squares.max(f64::MIN_POSITIVE))
}

struct Run<'s, 'r> {
    search: &'s Search<'r>,
    gram: &'s RowGram,
    y: Vec<f64>,
    a: Vec<f64>,
    /// `Ka`.
    scores: Vec<f64>,
    intercept: f64,
    products: usize,
    /// Weights of hull points, and the gap they leave.
    best: Option<(Vec<f64>, f64)>,
}

impl Run<'_, '_> {
    fn iterate(&mut self, first: f64) -> Result<Option<HardMargin>> {
        let (mut cost, tolerance) = (first, self.search.tolerance);
        while cost <= DEAREST * first {
            for _ in 0..STEPS {
                let working = self.with_slack();
                let gap = self.best.as_ref().map_or(1.0, |b| b.1);
                let accuracy = (0.03 * gap).max(0.03 * tolerance);
                let Some((a, intercept)) = self.newton(&working, cost, accuracy) else { return self.proved(true) };
                let scores = self.multiply(&a);
                let whole = self.advance(a, scores, intercept, cost);
                self.judge();
                if self.best.as_ref().is_some_and(|b| b.1 <= tolerance)
                    && let Some(found) = self.proved(false)?
                {
                    return Ok(Some(found));
                }
                if self.search.watch.halted().is_some() || self.products > PRODUCTS {
                    return self.proved(self.search.watch.halted().is_some());
                }
                if whole && self.with_slack().len().abs_diff(working.len()) * 1000 <= working.len() {
                    break;
                }
            }
            cost *= DEARER;
        }
        self.proved(false)
    }

    fn with_slack(&self) -> Vec<usize> {
        (0..self.y.len()).filter(|i| self.y[*i] * (self.scores[*i] + self.intercept) < 1.0).collect()
    }

    fn multiply(&mut self, v: &[f64]) -> Vec<f64> {
        self.products += 1;
        self.gram.multiply(v)
    }

    /// `(K + I/C)a + b = y`, `Σa = 0` on the working rows, by conjugate gradients among the a that sum to zero; `None` where
    /// there are no such rows of both classes.
    fn newton(&mut self, working: &[usize], cost: f64, accuracy: f64) -> Option<(Vec<f64>, f64)> {
        if !working.iter().any(|i| self.y[*i] > 0.0) || !working.iter().any(|i| self.y[*i] < 0.0) {
            return None;
        }
        let n = self.y.len();
        let count = working.len() as f64;
        let balanced = |v: &mut [f64]| {
            let mean = working.iter().map(|i| v[*i]).sum::<f64>() / count;
            working.iter().for_each(|i| v[*i] -= mean);
            mean
        };
        let mut a = vec![0.0; n];
        working.iter().for_each(|i| a[*i] = self.a[*i]);
        balanced(&mut a);
        let start = self.multiply(&a);
        let mut residual = vec![0.0; n];
        working.iter().for_each(|i| residual[*i] = self.y[*i] - start[*i] - a[*i] / cost);
        let mut intercept = balanced(&mut residual);
        let goal = accuracy * accuracy * count;
        let mut direction = residual.clone();
        let mut size = dot(&residual, &residual);
        for _ in 0..INNER {
            if size <= goal || self.search.watch.halted().is_some() {
                break;
            }
            let mut product = self.multiply(&direction);
            let mut applied = vec![0.0; n];
            working.iter().for_each(|i| applied[*i] = product[*i] + direction[*i] / cost);
            std::mem::swap(&mut product, &mut applied);
            let curvature = dot(&direction, &product);
            if !(curvature > 0.0) {
                break;
            }
            let length = size / curvature;
            for i in working {
                a[*i] += length * direction[*i];
                residual[*i] -= length * product[*i];
            }
            // What is left over in the mean belongs to the intercept.
            intercept += balanced(&mut residual);
            let next = dot(&residual, &residual);
            working.iter().for_each(|i| direction[*i] = residual[*i] + next / size * direction[*i]);
            size = next;
        }
        Some((a, intercept))
    }

    /// Goes there as far as the objective falls; whether all the way.
    fn advance(&mut self, a: Vec<f64>, scores: Vec<f64>, intercept: f64, cost: f64) -> bool {
        let (own, cross, new) = (dot(&self.a, &self.scores), dot(&a, &self.scores), dot(&a, &scores));
        let value = |length: f64| {
            let stay = 1.0 - length;
            let norm = stay * stay * own + 2.0 * stay * length * cross + length * length * new;
            let slack = |i: usize| {
                let z = stay * (self.scores[i] + self.intercept) + length * (scores[i] + intercept);
                (1.0 - self.y[i] * z).max(0.0)
            };
            0.5 * norm + 0.5 * cost * (0..self.y.len()).map(|i| slack(i) * slack(i)).sum::<f64>()
        };
        let before = value(0.0);
        let mut length = 1.0;
        while value(length) > before && length > 1e-6 {
            length *= 0.5;
        }
        let mix = |old: &mut Vec<f64>, new: &[f64]| {
            old.iter_mut().zip(new).for_each(|(old, new)| *old += length * (new - *old));
        };
        mix(&mut self.a, &a);
        mix(&mut self.scores, &scores);
        self.intercept += length * (intercept - self.intercept);
        length == 1.0
    }

    /// The gap of the hull points that a stands for.
    fn judge(&mut self) {
        let total = |side: f64| {
            self.a.iter().zip(&self.y).filter(|(_, y)| **y == side).map(|(a, y)| (a * y).max(0.0)).sum::<f64>()
        };
        let totals = [total(-1.0), total(1.0)];
        let share = |(a, y): (&f64, &f64)| (a * y).max(0.0) * y / totals[usize::from(*y > 0.0)];
        let weights: Vec<f64> = self.a.iter().zip(&self.y).map(share).collect();
        let scores = self.multiply(&weights);
        let squared = dot(&weights, &scores);
        let of = |side: f64| scores.iter().zip(&self.y).filter(move |(_, y)| **y == side).map(move |(z, _)| side * z);
        let apart = of(1.0).fold(f64::INFINITY, f64::min) + of(-1.0).fold(f64::INFINITY, f64::min);
        let gap = 1.0 - apart / squared;
        self.search.watch.report(Progress::Iteration {
            solver: "hard-margin",
            iteration: self.products,
            objective: squared.max(0.0).sqrt(),
            relative_gap: Some(gap),
        });
        if gap.is_finite() && self.best.as_ref().is_none_or(|b| gap < b.1) {
            self.best = Some((weights, gap));
        }
    }

    /// The best plane, measured on all rows; `None` if it separates nothing or, unless `any`, misses the tolerance.
    fn proved(&self, any: bool) -> Result<Option<HardMargin>> {
        let Some((weights, gap)) = &self.best else { return Ok(None) };
        if *gap >= 1.0 || !(any || *gap <= self.search.tolerance) {
            return Ok(None);
        }
        let rows = self.search.rows;
        let hull: Vec<(usize, f64)> = weights.iter().map(|w| w.abs()).enumerate().collect();
        let Some(points) = hull_points(rows.design, &self.search.units, rows.labels, &hull)? else { return Ok(None) };
        if !(points.distance > 0.0) {
            return Ok(None);
        }
        let found = self.search.solution(&points, &self.search.sides(&points.difference)?);
        Ok((found.margin > 0.0 && (any || found.gap() <= self.search.tolerance)).then_some(found))
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
