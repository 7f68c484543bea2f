//! Rows in memory: what they add up to in the frame, and their Hessian in the columns or in another basis.

use super::curvature_rows::{CurvatureRows, FrameSums, HessianSum, LossSum};
use super::frame::{WhitenedFrame, column_length};
use super::scores::{ScoresWithErrors, TurnedBasis, scores_with_errors};
use crate::certify::orthonormal::is_exact_combination;
use crate::certify::{OrthonormalBasis, RowTriangle};
use crate::design::{Design, Pass, Rows, Units, spread};
use crate::error::{Error, Result};
use crate::linalg::{multiply_rows, weighted_rows_sum};
use crate::numeric::{CompensatedSum, Merge, rounding_bound};
use crate::objective::{Coef, CurvedLoss, Intercept, Penalty, Risk};
use crate::watch::Watch;

impl<'a, L: CurvedLoss, P: Penalty> CurvatureRows for Risk<'a, L, P> {
    type EnclosedRows = ScoresWithErrors<'a>;

    fn units(&self) -> &Units {
        self.sample().units
    }

    fn enclosed(&self, coef: &Coef, watch: &Watch) -> Result<(ScoresWithErrors<'a>, LossSum)> {
        let scores = scores_with_errors(self, coef, watch)?;
        let losses = self.loss_sum(&scores.values);
        Ok((scores, LossSum { losses, rows: self.sample().labels.len() }))
    }

    fn curvature(&self, rows: &ScoresWithErrors<'a>, total: f64, watch: &Watch) -> Result<Option<HessianSum>> {
        let sample = self.sample();
        // The products of sparse rows are centred and scaled after summation, a cancellation that the bound does not count.
        if self.is_sparse() && !sample.units.is_identity() {
            return Ok(None);
        }
        let hessian = self.loss_hessian(sample.design, sample.units, &rows.values, total, watch)?;
        Ok(Some(HessianSum { hessian, rows: sample.labels.len() }))
    }

    fn triangle(&self, watch: &Watch) -> Result<Option<RowTriangle>> {
        RowTriangle::of(self, watch).map(Some)
    }

    fn turned_curvature(
        &self,
        rows: &mut ScoresWithErrors<'a>,
        basis: &OrthonormalBasis,
        total: f64,
        watch: &Watch,
    ) -> Result<HessianSum> {
        let (turned, units) = (basis.rows(self), Units::identity(basis.columns.len()));
        let hessian = self.loss_hessian(&turned, &units, &rows.values, total, watch)?;
        let row_errors = row_errors(self, basis, watch)?;
        rows.turned = Some(TurnedBasis { rows: turned, units, row_errors });
        Ok(HessianSum { hessian, rows: self.sample().labels.len() })
    }

    fn frame_sums(&self, rows: &ScoresWithErrors<'a>, frame: &WhitenedFrame, watch: &Watch) -> Result<FrameSums> {
        match (frame.is_turned(), &rows.turned) {
            (false, _) => row_sums(self, frame, rows, None, watch),
            (true, Some(turned)) => row_sums(self, frame, rows, Some(turned), watch),
            (true, None) => Err(Error::data("a frame in another basis for rows that were not turned into it")),
        }
    }

    fn is_combination(
        &self,
        column: usize,
        combination: &[(usize, f64)],
        independent: usize,
        watch: &Watch,
    ) -> Result<bool> {
        is_exact_combination(self, column, combination, independent, watch)
    }
}

/// An upper bound on `‖t‖`, t = Tᵀx̃, of every row of a loss with one score.
pub(super) fn row_lengths<L: CurvedLoss, P: Penalty>(
    risk: &Risk<'_, L, P>,
    frame: &WhitenedFrame,
    scores: &ScoresWithErrors<'_>,
    watch: &Watch,
) -> Result<Vec<f64>> {
    let (sample, m) = (risk.sample(), frame.rank());
    let turned = scores.turned.as_ref().filter(|_| frame.is_turned());
    let (design, units): (&dyn Design, &Units) = match turned {
        Some(turned) => (&turned.rows, &turned.units),
        None => (sample.design, sample.units),
    };
    let r = design.shape().cols;
    let part = ScorePart::of(frame, 0, 1, r, risk.intercept());
    let rounding = rounding_bound(r + 10) * 1.01;
    let mut lengths = vec![0.0; sample.labels.len()];
    Pass::new(design, units).partials_of(1).reduce(
        watch,
        (1, &mut lengths),
        Vec::new,
        |room, range, rows, out| {
            let values: &[f64] = match &rows {
                Rows::Dense(values) => values,
                Rows::Csr(sparse) => {
                    spread(sparse, units, room);
                    room
                }
            };
            let mut t = vec![0.0; range.len() * m];
            multiply_rows(values, &part.weights, r, m, &mut t);
            for (at, (out, i)) in out.iter_mut().zip(range).enumerate() {
                let x = &values[at * r..(at + 1) * r];
                let spread = x.iter().zip(&part.lengths).map(|(x, l)| x.abs() * l).sum::<f64>();
                let basis = turned.map_or(0.0, |turned| turned.row_errors[i] * part.size);
                let square: f64 =
                    t[at * m..(at + 1) * m].iter().zip(&part.intercept).map(|(t, b)| (t + b) * (t + b)).sum();
                let error = rounding * (spread + part.intercept_length) + basis;
                *out = (square.sqrt() * (1.0 + rounding_bound(m + 6)) + error) * (1.0 + rounding_bound(8));
            }
            Ok(())
        },
        |_, _| (),
    )?;
    Ok(lengths)
}

/// T of one score: its part of the rows, the part of its intercept, and their sizes.
struct ScorePart {
    weights: Vec<f64>,
    intercept: Vec<f64>,
    lengths: Vec<f64>,
    intercept_length: f64,
    size: f64,
}

fn row_sums<L: CurvedLoss, P: Penalty>(
    risk: &Risk<'_, L, P>,
    frame: &WhitenedFrame,
    scores: &ScoresWithErrors<'_>,
    turned: Option<&TurnedBasis<'_>>,
    watch: &Watch,
) -> Result<FrameSums> {
    let (sample, k, m) = (risk.sample(), risk.loss().n_scores(), frame.rank());
    let (design, units): (&dyn Design, &Units) = match turned {
        Some(turned) => (&turned.rows, &turned.units),
        None => (sample.design, sample.units),
    };
    // Entries in the columns of the fit are good to two roundings.
    let basis_error = |i: usize| turned.map(|turned| turned.row_errors[i]);
    let r = design.shape().cols;
    let parts: Vec<ScorePart> = (0..k).map(|c| ScorePart::of(frame, c, k, r, risk.intercept())).collect();
    let rounding = rounding_bound(r + 10) * 1.01;
    let pairs = k * (k + 1) / 2;
    // Of a squared loss each score counts for itself.
    let several = k > 1 && !risk.loss().is_quadratic();
    Pass::new(design, units).partials_of(2 * m + 16).reduce(
        watch,
        (0, &mut []),
        || FrameSums {
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
                    let basis = basis_error(range.start + at).map_or(0.0, |eta| eta * part.size);
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
                sum.basis_errors += basis_error(i).map_or(0.0, |eta| trace * eta * eta);
                sum.loss_errors += s * if several { 2.0 * e } else { e };
                sum.largest = sum.largest.max(norms[at].0 + if several { norms[at].1 } else { 0.0 });
                sum.range = sum.range.max(if several { 2.0 * e } else { e });
            }
            Ok(())
        },
        FrameSums::merge,
    )
}

impl ScorePart {
    fn of(frame: &WhitenedFrame, score: usize, k: usize, r: usize, intercept: Intercept) -> ScorePart {
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

/// How far the computed `q = Bᵀx̂ + m` of each row is from the real one: `γ_{d+8}(Σ|x̂|‖B_j‖ + ‖m‖)`.
fn row_errors<L: CurvedLoss, P: Penalty>(
    risk: &Risk<'_, L, P>,
    basis: &OrthonormalBasis,
    watch: &Watch,
) -> Result<Vec<f64>> {
    let (sample, cols) = (risk.sample(), risk.n_cols());
    let lengths: Vec<f64> = (0..cols).map(|j| column_length(&basis.matrix, cols, j)).collect();
    let shift = basis.shift.iter().map(|m| m * m).sum::<f64>().sqrt();
    let rounding = rounding_bound(cols + 8) * 1.01;
    let mut errors = vec![0.0; sample.labels.len()];
    Pass::new(sample.design, sample.units).partials_of(1).reduce(
        watch,
        (1, &mut errors),
        Vec::new,
        |room, _, rows, out| {
            let values: &[f64] = match &rows {
                Rows::Dense(values) => values,
                Rows::Csr(sparse) => {
                    spread(sparse, sample.units, room);
                    room
                }
            };
            for (at, out) in out.iter_mut().enumerate() {
                let x = &values[at * cols..(at + 1) * cols];
                let size = x.iter().zip(&lengths).map(|(x, l)| x.abs() * l).sum::<f64>();
                *out = rounding * (size + shift) + f64::MIN_POSITIVE;
            }
            Ok(())
        },
        |_, _| (),
    )?;
    Ok(errors)
}
