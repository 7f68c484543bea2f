//! `Ψ = λΩ(w) + (λΩ)*(−v) + v·w` of a ridge, a lasso and both.

use super::EVALUATION;
use crate::numeric::{CompensatedSum, UNIT};
use crate::objective::{Coef, Intercept, Penalty, RiskFrame, RowSizes};
use rayon::prelude::*;

/// Roundings of `λw`, `v/S` and their sum, and of λ itself: fewer than twelve.
const PER_ENTRY: f64 = 12.0 * UNIT;

/// Weights summed by one task: enough to repay its start, and few enough that two threads share a bag-of-words table.
const PIECE: usize = 1 << 16;

/// A penalty and the sums `v = X̂ᵀ(sθ)/S` of a dual point.
pub(super) struct Conjugated<'b, R> {
    pub(super) risk: &'b R,
    pub(super) coef: &'b Coef,
    pub(super) sizes: &'b RowSizes,
    /// `X̂ᵀ(sθ̂)`, score by score.
    pub(super) sums: Vec<f64>,
    /// `Σ sθ̂`.
    pub(super) totals: Vec<f64>,
    /// By how much an entry of v may be off, per unit of the column's size, score by score.
    pub(super) rounding: Vec<f64>,
}

/// One weight, or a penalised intercept.
struct Entry {
    weight: f64,
    /// v, and by how much it may be off.
    v: f64,
    error: f64,
    ridge: f64,
    lasso: f64,
}

impl Entry {
    /// `½aw² + l|w| + (|v| − l)₊²/2a + vw`, whatever v is within its error.
    fn fenchel_young(&self) -> f64 {
        let Entry { weight: w, v, error, ridge: a, lasso: l } = *self;
        if a == 0.0 && l == 0.0 {
            // No penalty: v is zero by the definition of θ.
            return 0.0;
        }
        let error = error + PER_ENTRY * (v.abs() + a * w.abs() + l);
        let slope = 2.0 * PER_ENTRY * l * w.abs();
        if l == 0.0 {
            let residual = (a * w + v).abs() + error;
            return residual * residual / (2.0 * a);
        }
        if a == 0.0 {
            // Feasible: |v| ≤ l, and both terms of w(v + l sign w) have one sign.
            return w.abs() * ((l + v * w.signum()).max(0.0) + error) + slope;
        }
        let at = |v: f64| {
            // −v pulls w beyond l by `excess`, towards the minimiser excess/a.
            let excess = v.abs() - l;
            if excess <= 0.0 {
                0.5 * a * w * w + w.abs() * (l + v * w.signum()).max(0.0)
            } else {
                let off = a * w + excess * v.signum();
                off * off / (2.0 * a) + l * (w.abs() + w * v.signum())
            }
        };
        // Convex in v, so the larger of the two ends bounds it.
        at(v - error).max(at(v + error)) + slope
    }
}

impl<R: RiskFrame> Conjugated<'_, R> {
    fn entries(&self) -> impl Iterator<Item = Entry> {
        let (risk, cols, total) = (self.risk, self.risk.n_cols(), self.risk.total_weight());
        let (ridge, lasso) = (risk.penalty().ridge(), risk.penalty().lasso());
        let weights = self.sums.iter().zip(self.coef.weights()).enumerate().map(move |(at, (sum, weight))| {
            let (score, column) = (at / cols, at % cols);
            let error = self.rounding[score] * self.sizes.column_sizes.get(column).copied().unwrap_or(f64::INFINITY);
            let factor = risk.penalty().factor(column);
            Entry { weight: *weight, v: sum / total, error, ridge: ridge * factor, lasso: lasso * factor }
        });
        let penalised = risk.intercept() == Intercept::Penalised;
        let intercepts = self.totals.iter().zip(self.coef.intercept()).enumerate().filter(move |_| penalised);
        let intercepts = intercepts.map(move |(score, (sum, weight))| {
            // A column of ones.
            Entry { weight: *weight, v: sum / total, error: self.rounding[score] * EVALUATION, ridge, lasso }
        });
        weights.chain(intercepts)
    }

    /// The largest multiple of θ that a lasso allows, at most one: `|v| ≤ λαf` in every column, errors included.
    pub(super) fn shrink(&self) -> f64 {
        if self.risk.penalty().ridge() > 0.0 {
            return 1.0;
        }
        let allowed = |entry: Entry| {
            if entry.lasso == 0.0 {
                return 1.0;
            }
            let most = entry.v.abs() * (1.0 + PER_ENTRY) + entry.error;
            let limit = entry.lasso * (1.0 - PER_ENTRY);
            if most <= limit { 1.0 } else { limit / most * (1.0 - PER_ENTRY) }
        };
        self.entries().map(allowed).fold(1.0, f64::min)
    }

    /// Gap-safe screening: columns where the best v may reach the bound of the lasso, so that an optimum may have a weight
    /// there; `reach` is how far the best θ may be from κθ, root mean square.
    pub(super) fn open_columns(&self, shrink: f64, reach: f64) -> Vec<usize> {
        let cols = self.risk.n_cols();
        let mut open = vec![false; cols];
        for (at, entry) in self.entries().enumerate().take(self.coef.weights().len()) {
            let size = self.sizes.column_sizes[at % cols];
            let most = shrink * (entry.v.abs() * (1.0 + PER_ENTRY) + entry.error) + reach * size * EVALUATION;
            open[at % cols] |= !(most < entry.lasso * (1.0 - PER_ENTRY));
        }
        (0..cols).filter(|j| open[*j]).collect()
    }

    /// Ψ at `κθ`.
    pub(super) fn fenchel_young(&self, shrink: f64) -> f64 {
        let plain = self.risk.penalty().factors().is_none() && self.risk.penalty().lasso() == 0.0;
        if plain {
            return self.ridge_alone();
        }
        let shrunk = |entry: Entry| Entry {
            v: shrink * entry.v,
            error: shrink * entry.error + 2.0 * UNIT * entry.v.abs(),
            ..entry
        };
        crate::numeric::sum(self.entries().map(|entry| shrunk(entry).fenchel_young()))
    }

    /// `‖λw + v‖²/2λ`, where the errors of all columns count by their length.
    fn ridge_alone(&self) -> f64 {
        let (ridge, total) = (self.risk.penalty().ridge(), self.risk.total_weight());
        // Σ(λw + v)² and Σ(|v| + λ|w|)² of some weights.
        let add_up = |weights: &[f64], sums: &[f64]| {
            let mut squares = [CompensatedSum::default(); 2];
            for (weight, sum) in weights.iter().zip(sums) {
                let v = sum / total;
                squares[0].add((ridge * weight + v) * (ridge * weight + v));
                let size = v.abs() + ridge * weight.abs();
                squares[1].add(size * size);
            }
            squares
        };
        let pieces = self.coef.weights().par_chunks(PIECE).zip(self.sums.par_chunks(PIECE));
        let mut parts: Vec<[CompensatedSum; 2]> = pieces.map(|(weights, sums)| add_up(weights, sums)).collect();
        if self.risk.intercept() == Intercept::Penalised {
            parts.push(add_up(self.coef.intercept(), &self.totals));
        }
        let [mut residual, mut rounding] = [CompensatedSum::default(); 2];
        for [of_residual, of_rounding] in parts {
            residual.merge(of_residual);
            rounding.merge(of_rounding);
        }
        // The errors of all columns of a score by their length, and of a penalised intercept, a column of ones.
        let ones = if self.risk.intercept() == Intercept::Penalised { EVALUATION } else { 0.0 };
        let sizes = self.sizes.all_sizes.powi(2) + ones * ones;
        let error = (self.rounding.iter().map(|r| r * r).sum::<f64>() * sizes).sqrt() * EVALUATION;
        let length = residual.value().sqrt() + PER_ENTRY * rounding.value().sqrt() + error;
        length * length / (2.0 * ridge)
    }
}
