//! Rows drawn one at a time, and weights that a sparse row moves in time proportional to its entries.
//!
//! In the units of the fit, `x̂ = (x − c)/σ`, a sparse row is dense, so its centre is folded into three sums as in the
//! perceptron's rows. With the metric `m_j = 1/(σ_j² f_j)`, f the factors of the penalty (steps are `1/f_j` as long, so that
//! the penalty shrinks all columns alike), the weights are held as `u − a c m` per stored value, and
//!
//! `x̂·w = u·x − a q − P + a C`, `q = Σ x_j c_j m_j`, `P = Σ c_j u_j`, `C = Σ c_j² m_j`.
//!
//! Row i is drawn with probability `p_i ∝ s_i(N_i + N̄)`, `N = ‖x̃‖²` in the metric and N̄ its weighted mean; its gradient
//! counts `s_i/(Σs p_i) = 2N̄/(N_i + N̄)` times. So the mean is the gradient of the risk, weights are frequencies, and
//! no drawn row has more curvature than `2 c N̄`, c that of the loss: long and heavy rows do not shorten the steps of all
//! (Zhao and Zhang 2015; half of the probability by weight alone, so that no short row counts more than twice).

use crate::design::{InMemory, Tile, Units};
use crate::error::{Error, Result};
use crate::linalg::dot;
use crate::objective::{Coef, Intercept, Loss, Penalty, Risk};
use crate::watch::Watch;
use crate::words::{Setting, words};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// Numbers read between two looks at the watch, about a millisecond of work, and the rows that this may be. Chosen, out
/// of reach of bench/constants.md: only the delay of an interruption depends on it.
const POLL_NUMBERS: usize = 1 << 20;
/// The fewest and the most rows between two looks at the watch.
const POLL_ROWS: (usize, usize) = (16, 4096);

/// The rows of positive weight, to be drawn.
pub(super) struct DrawnRows<'a> {
    rows: InMemory<'a>,
    units: &'a Units,
    cols: usize,
    scores: usize,
    /// `1/f` for dense rows, `1/(σ²f)` for sparse ones.
    metric: Vec<f64>,
    /// q of every row and C, for sparse rows.
    centre_parts: Vec<f64>,
    centre_square: f64,
    counted: Vec<usize>,
    /// Running sums of `s(N + N̄)` over the rows counted.
    cumulative: Vec<f64>,
    /// `2N̄/(N + N̄)` of the rows counted.
    counts: Vec<f64>,
    /// `s n/Σs` of the rows counted.
    shares: Vec<f64>,
    /// N̄.
    mean_square: f64,
}

/// Weights of all scores.
#[derive(Debug, Clone)]
pub(super) struct Weights {
    /// Column by column: of dense rows the weights themselves, of sparse ones u.
    columns: Vec<f64>,
    /// a, per score.
    total: Vec<f64>,
    /// P, per score.
    moved: Vec<f64>,
}

impl Weights {
    /// `scale·self + other_scale·other`.
    pub(super) fn combined(&self, scale: f64, other: &Weights, other_scale: f64) -> Weights {
        let mix = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| scale * a + other_scale * b).collect();
        Weights {
            columns: mix(&self.columns, &other.columns),
            total: mix(&self.total, &other.total),
            moved: mix(&self.moved, &other.moved),
        }
    }
}

impl<'a> DrawnRows<'a> {
    /// The rows of a risk in memory; `tile` gives room for a copy where one is needed.
    pub(super) fn new<L: Loss, P: Penalty>(
        risk: &Risk<'a, L, P>,
        tile: &'a mut Tile,
        watch: &Watch,
    ) -> Result<DrawnRows<'a>> {
        let sample = *risk.sample();
        let (units, cols, scores) = (sample.units, risk.n_cols(), risk.loss().n_scores());
        if !risk.penalty().free_columns().is_empty() {
            return Err(Error::usage("a stochastic solver needs a penalty on every column")
                .help(words!["use ", Setting::Solver.is("newton")])
                .help("use penalty factors above zero"));
        }
        let rows = InMemory::new(sample.design, units, tile, watch)?;
        let sparse = matches!(rows, InMemory::Sparse(_));
        let metric: Vec<f64> = (0..cols)
            .map(|j| {
                let scale = if sparse { units.inverse_scale()[j].powi(2) } else { 1.0 };
                scale / risk.penalty().factor(j)
            })
            .collect();
        let mut drawn = DrawnRows {
            rows,
            units,
            cols,
            scores,
            metric,
            centre_parts: Vec::new(),
            centre_square: 0.0,
            counted: (0..sample.labels.len()).filter(|i| sample.weights.is_none_or(|w| w[*i] > 0.0)).collect(),
            cumulative: Vec::new(),
            counts: Vec::new(),
            shares: Vec::new(),
            mean_square: 0.0,
        };
        if let InMemory::Sparse(sparse) = &drawn.rows {
            let squares = units.centre().iter().zip(&drawn.metric).map(|(c, m)| c * c * m);
            drawn.centre_square = crate::numeric::sum(squares);
            let part = |i: usize| {
                let (columns, values) = sparse.row(i);
                let term = |(c, v): (&u32, &f64)| v * units.centre()[*c as usize] * drawn.metric[*c as usize];
                columns.iter().zip(values).map(term).sum::<f64>()
            };
            drawn.centre_parts = (0..sparse.len()).into_par_iter().map(part).collect();
        }
        drawn.weigh(sample.weights, if risk.intercept() == Intercept::None { 0.0 } else { 1.0 });
        Ok(drawn)
    }

    /// The probabilities of the draws.
    fn weigh(&mut self, weights: Option<&[f64]>, constant: f64) {
        let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
        let squares: Vec<f64> = self.counted.par_iter().map(|i| self.square(*i) + constant).collect();
        let total = crate::numeric::sum(self.counted.iter().map(|i| weight(*i)));
        self.shares = self.counted.iter().map(|i| weight(*i) * self.counted.len() as f64 / total).collect();
        let weighted = self.counted.iter().zip(&squares).map(|(i, n)| weight(*i) * n);
        self.mean_square = crate::numeric::sum(weighted) / total;
        // Rows of zeros only: all are alike.
        let mean = if self.mean_square > 0.0 { self.mean_square } else { 1.0 };
        let mut sum = 0.0;
        for (i, n) in self.counted.iter().zip(&squares) {
            sum += weight(*i) * (n + mean);
            self.cumulative.push(sum);
            self.counts.push(2.0 * mean / (n + mean));
        }
        if self.mean_square == 0.0 {
            self.counts.fill(1.0);
        }
    }

    /// `‖x̂‖²` in the metric.
    fn square(&self, row: usize) -> f64 {
        match &self.rows {
            InMemory::Dense { values, cols } => {
                let x = &values[row * cols..(row + 1) * cols];
                x.iter().zip(&self.metric).map(|(x, m)| x * x * m).sum()
            }
            InMemory::Sparse(sparse) => {
                let (columns, values) = sparse.row(row);
                let own: f64 = columns.iter().zip(values).map(|(c, v)| v * v * self.metric[*c as usize]).sum();
                (own - 2.0 * self.centre_parts[row] + self.centre_square).max(0.0)
            }
        }
    }

    /// Rows of positive weight.
    pub(super) fn len(&self) -> usize {
        self.counted.len()
    }

    /// N̄; no drawn row has more curvature than twice this times that of the loss.
    pub(super) fn mean_square(&self) -> f64 {
        self.mean_square
    }

    /// Draws between two looks at the watch: about a million numbers, and not more than a few thousand rows.
    pub(super) fn poll(&self) -> usize {
        (POLL_NUMBERS / (self.cols * self.scores).max(1)).clamp(POLL_ROWS.0, POLL_ROWS.1)
    }

    /// A row, and how often its gradient counts.
    pub(super) fn draw(&self, random: &mut ChaCha8Rng) -> (usize, f64) {
        let point = random.random::<f64>() * self.cumulative[self.cumulative.len() - 1];
        let at = self.cumulative.partition_point(|s| *s <= point).min(self.counted.len() - 1);
        (self.counted[at], self.counts[at])
    }

    /// Row k of the rows counted, in their order and from the first again after the last, and how often its gradient counts: by its
    /// weight.
    pub(super) fn in_order(&self, k: usize) -> (usize, f64) {
        let at = k % self.counted.len();
        (self.counted[at], self.shares[at])
    }

    /// Coefficients of the fit as weights; intercepts are kept elsewhere.
    pub(super) fn weights(&self, coef: &Coef) -> Weights {
        let (k, sparse) = (self.scores, matches!(self.rows, InMemory::Sparse(_)));
        let mut weights = Weights { columns: vec![0.0; k * self.cols], total: vec![0.0; k], moved: vec![0.0; k] };
        for c in 0..k {
            for (j, w) in coef.weights_of(c).iter().enumerate() {
                let stored = if sparse { w * self.units.inverse_scale()[j] } else { *w };
                weights.columns[j * k + c] = stored;
                weights.moved[c] += if sparse { stored * self.units.centre()[j] } else { 0.0 };
            }
        }
        weights
    }

    /// No weights.
    pub(super) fn zero(&self) -> Weights {
        let k = self.scores;
        Weights { columns: vec![0.0; k * self.cols], total: vec![0.0; k], moved: vec![0.0; k] }
    }

    /// Weights with some intercepts as coefficients of the fit.
    pub(super) fn coef(&self, weights: &Weights, intercept: &[f64]) -> Coef {
        let k = self.scores;
        let mut coef = Coef::zeros(k, self.cols);
        for c in 0..k {
            for j in 0..self.cols {
                let stored = weights.columns[j * k + c];
                coef.weights_mut()[c * self.cols + j] = match self.rows {
                    InMemory::Dense { .. } => stored,
                    InMemory::Sparse(_) => {
                        (stored - weights.total[c] * self.units.centre()[j] * self.metric[j]) * self.units.scale()[j]
                    }
                };
            }
        }
        coef.intercept_mut().copy_from_slice(intercept);
        coef
    }

    /// `out = x̂·w` per score.
    pub(super) fn scores(&self, weights: &Weights, row: usize, out: &mut [f64]) {
        let k = self.scores;
        match &self.rows {
            InMemory::Dense { values, cols } if k == 1 => {
                out[0] = dot(&values[row * cols..(row + 1) * cols], &weights.columns);
            }
            InMemory::Dense { values, cols } => {
                out.fill(0.0);
                for (x, w) in values[row * cols..(row + 1) * cols].iter().zip(weights.columns.chunks_exact(k)) {
                    out.iter_mut().zip(w).for_each(|(z, w)| *z += x * w);
                }
            }
            InMemory::Sparse(sparse) => {
                let about = self.centre_square - self.centre_parts[row];
                out.iter_mut().enumerate().for_each(|(c, z)| *z = weights.total[c] * about - weights.moved[c]);
                let (columns, values) = sparse.row(row);
                for (column, x) in columns.iter().zip(values) {
                    let w = &weights.columns[*column as usize * k..][..k];
                    out.iter_mut().zip(w).for_each(|(z, w)| *z += x * w);
                }
            }
        }
    }

    /// `w += δ x̂` in the metric, with a δ per score.
    pub(super) fn add(&self, weights: &mut Weights, row: usize, delta: &[f64]) {
        let k = self.scores;
        match &self.rows {
            InMemory::Dense { values, cols } => {
                let x = values[row * cols..(row + 1) * cols].iter().zip(&self.metric);
                for ((x, m), w) in x.zip(weights.columns.chunks_exact_mut(k)) {
                    w.iter_mut().zip(delta).for_each(|(w, d)| *w += d * x * m);
                }
            }
            InMemory::Sparse(sparse) => {
                let (columns, values) = sparse.row(row);
                for (column, x) in columns.iter().zip(values) {
                    let j = *column as usize;
                    let w = &mut weights.columns[j * k..][..k];
                    w.iter_mut().zip(delta).for_each(|(w, d)| *w += d * x * self.metric[j]);
                }
                for (c, d) in delta.iter().enumerate() {
                    weights.total[c] += d;
                    weights.moved[c] += d * self.centre_parts[row];
                }
            }
        }
    }
}
