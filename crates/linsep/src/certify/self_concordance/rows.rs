//! What the rows add up to in the frame: the gradient, the largest row, and what rounding may have done to both.

use super::frame::WhitenedFrame;
use super::scores::ScoresWithErrors;
use crate::design::{Pass, Rows, spread};
use crate::error::Result;
use crate::linalg::{multiply_rows, weighted_rows_sum};
use crate::numeric::{CompensatedSum, rounding_bound};
use crate::objective::{CurvedLoss, Intercept, Penalty, Risk};
use crate::watch::Watch;

/// Sums over the rows, not divided by Σs. `t = Tᵀx̃` is a row in the frame, r its slope `∂ℓ/∂z`, C its curvature.
pub(super) struct RowSums {
    /// `Σ s r t`.
    pub(super) gradient: Vec<CompensatedSum>,
    /// `Σ s|r|‖t‖`, and the same with the rounding of t for t.
    pub(super) sizes: f64,
    pub(super) errors: f64,
    /// `Σ s ΔᵀCΔ` for errors Δ of the scores of a row.
    pub(super) score_errors: f64,
    /// `Σ s tr C η²`, η the error of a row of the basis.
    pub(super) basis_errors: f64,
    /// `Σ s e`, e the range of the errors of the scores of the row.
    pub(super) loss_errors: f64,
    /// The largest range over the classes of the scores of a row along a direction of unit length in the frame.
    pub(super) largest: f64,
    /// The largest range of the errors of the scores of a row.
    pub(super) range: f64,
    /// The most rows that were summed one after the other.
    pub(super) block: usize,
}

impl RowSums {
    fn merge(&mut self, other: RowSums) {
        self.gradient.iter_mut().zip(other.gradient).for_each(|(a, b)| a.merge(b));
        self.sizes += other.sizes;
        self.errors += other.errors;
        self.score_errors += other.score_errors;
        self.basis_errors += other.basis_errors;
        self.loss_errors += other.loss_errors;
        self.largest = self.largest.max(other.largest);
        self.range = self.range.max(other.range);
        self.block = self.block.max(other.block);
    }
}

/// T of one score: its part of the rows, the part of its intercept, and their sizes.
struct ScorePart {
    weights: Vec<f64>,
    intercept: Vec<f64>,
    lengths: Vec<f64>,
    intercept_length: f64,
    size: f64,
}

pub(super) fn row_sums<L: CurvedLoss, P: Penalty>(
    risk: &Risk<'_, L, P>,
    frame: &WhitenedFrame<'_>,
    scores: &ScoresWithErrors,
    watch: &Watch,
) -> Result<RowSums> {
    let (sample, k, m) = (risk.sample(), risk.loss().n_scores(), frame.rank());
    let (design, units) = frame.design(risk);
    let r = design.shape().cols;
    let parts: Vec<ScorePart> = (0..k).map(|c| ScorePart::of(frame, c, k, r, risk.intercept())).collect();
    let rounding = rounding_bound(r + 10) * 1.01;
    let pairs = k * (k + 1) / 2;
    // Of a squared loss each score counts for itself.
    let several = k > 1 && !risk.loss().is_quadratic();
    Pass::new(design, units).partials_of(2 * m + 16).reduce(
        watch,
        (0, &mut []),
        || RowSums {
            gradient: vec![CompensatedSum::default(); m],
            sizes: 0.0,
            errors: 0.0,
            score_errors: 0.0,
            basis_errors: 0.0,
            loss_errors: 0.0,
            largest: 0.0,
            range: 0.0,
            block: 0,
        },
        |sum, range, rows, _| {
            let n = range.len();
            let mut room = Vec::new();
            let values: &[f64] = match &rows {
                Rows::Dense(values) => values,
                Rows::Csr(sparse) => {
                    spread(sparse, units, &mut room);
                    &room
                }
            };
            let (mut residual, mut curvature) = (vec![0.0; n * k], vec![0.0; n * pairs]);
            let weights = sample.weights.map(|w| &w[range.clone()]);
            let z = &scores.values[range.start * k..range.end * k];
            risk.loss().block(&sample.labels[range.clone()], z, weights, &mut residual, Some(&mut curvature));
            let mut norms = vec![(0.0f64, 0.0f64); n];
            let (mut t, mut block_sum) = (vec![0.0; n * m], vec![0.0; m]);
            for (c, part) in parts.iter().enumerate() {
                multiply_rows(values, &part.weights, r, m, &mut t);
                for row in t.chunks_exact_mut(m.max(1)) {
                    row.iter_mut().zip(&part.intercept).for_each(|(t, b)| *t += b);
                }
                let slopes: Vec<f64> = residual.iter().skip(c).step_by(k).copied().collect();
                weighted_rows_sum(&t, &slopes, m, 1, &mut block_sum);
                for at in 0..n {
                    let x = &values[at * r..(at + 1) * r];
                    let spread = x.iter().zip(&part.lengths).map(|(x, l)| x.abs() * l).sum::<f64>();
                    let basis = frame.row_errors.get(range.start + at).map_or(0.0, |eta| eta * part.size);
                    let error = rounding * (spread + part.intercept_length) + basis;
                    let row = &t[at * m..(at + 1) * m];
                    let norm = row.iter().map(|t| t * t).sum::<f64>().sqrt() * (1.0 + rounding_bound(m + 4));
                    sum.sizes += slopes[at].abs() * norm;
                    sum.errors += slopes[at].abs() * error;
                    let most = norm + error;
                    let best = &mut norms[at];
                    *best = if most > best.0 { (most, best.0) } else { (best.0, best.1.max(most)) };
                }
            }
            sum.gradient.iter_mut().zip(&block_sum).for_each(|(sum, block)| sum.add(*block));
            sum.block = sum.block.max(n * k);
            for (at, i) in range.enumerate() {
                let s = weights.map_or(1.0, |w| w[at]);
                if s == 0.0 {
                    continue;
                }
                let e = scores.errors[i * k..(i + 1) * k].iter().fold(0.0f64, |m, e| m.max(*e));
                let own = &curvature[at * pairs..(at + 1) * pairs];
                let trace: f64 = (0..k).map(|c| own[c * (c + 1) / 2 + c]).sum();
                // Var(Δ) under p is at most e², and at most 2e²(1 − Σp²) ≤ 4e² tr C with one class fixed at zero.
                sum.score_errors += e * e * if several { s.min(4.0 * trace) } else { trace };
                sum.basis_errors += frame.row_errors.get(i).map_or(0.0, |eta| trace * eta * eta);
                sum.loss_errors += s * if several { 2.0 * e } else { e };
                sum.largest = sum.largest.max(norms[at].0 + if several { norms[at].1 } else { 0.0 });
                sum.range = sum.range.max(if several { 2.0 * e } else { e });
            }
            Ok(())
        },
        RowSums::merge,
    )
}

impl ScorePart {
    fn of(frame: &WhitenedFrame<'_>, score: usize, k: usize, r: usize, intercept: Intercept) -> ScorePart {
        let width = frame.width;
        let rows = frame.transposed.chunks_exact(width.max(1));
        let weights = rows.clone().flat_map(|row| row[score * r..(score + 1) * r].iter().copied()).collect();
        let with = f64::from(u8::from(intercept != Intercept::None));
        let lengths: Vec<f64> = (0..r).map(|a| frame.length(score * r + a)).collect();
        ScorePart {
            weights,
            intercept: rows.map(|row| with * row[k * r + score]).collect(),
            intercept_length: with * frame.length(k * r + score),
            size: lengths.iter().map(|l| l * l).sum::<f64>().sqrt() * (1.0 + rounding_bound(r + 4)),
            lengths,
        }
    }
}
