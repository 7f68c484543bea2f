//! Second derivatives of a risk without forming, or beyond, its Hessian.

use super::{Intercept, Point, Risk};
use crate::design::{Design, Pass, Rows, Units, is_sparse};
use crate::error::Result;
use crate::linalg::Square;
use crate::objective::rows::{GradientSums, HessianSums, Scorer};
use crate::objective::{Coef, CurvedLoss, Loss, Penalty};
use crate::watch::Watch;

impl<L: Loss, P: Penalty> Risk<'_, L, P> {
    /// `Σᵢ x̃ᵢx̃ᵢᵀ ⊗ Cᵢ` for given packed Cᵢ, intercepts included, nothing added.
    pub fn weighted_gram(&self, curvature: &[f64], watch: &Watch) -> Result<Square> {
        let (k, cols) = (self.loss.n_scores(), self.n_cols());
        let pairs = k * (k + 1) / 2;
        let sums = self.pass().reduce(
            watch,
            (0, &mut []),
            || HessianSums::new(k, cols, self.sparse),
            |sums, range, mut rows, _| {
                sums.add(&mut rows, &curvature[range.start * pairs..range.end * pairs], &mut Vec::new());
                Ok(())
            },
            |a, b| a.merge(&b),
        )?;
        Ok(sums.finish(self.sample.units, 1.0))
    }

    /// The Hessian of the loss at given scores (offsets included), for rows of another design with the same labels and
    /// weights: rows in another basis. Nothing is added for the penalty.
    pub(crate) fn loss_hessian(
        &self,
        design: &dyn Design,
        units: &Units,
        scores: &[f64],
        watch: &Watch,
    ) -> Result<Square> {
        let (k, cols) = (self.loss.n_scores(), design.shape().cols);
        let pairs = k * (k + 1) / 2;
        let sparse = is_sparse(design);
        let sums = Pass::new(design, units).reduce(
            watch,
            (0, &mut []),
            || (HessianSums::new(k, cols, sparse), Vec::new(), Vec::new(), Vec::new()),
            |(sums, residual, curvature, scratch), range, mut rows, _| {
                residual.resize(range.len() * k, 0.0);
                curvature.resize(range.len() * pairs, 0.0);
                let weights = Self::part(self.sample.weights, &range, 1);
                let z = &scores[range.start * k..range.end * k];
                self.loss.block(&self.sample.labels[range], z, weights, residual, Some(curvature));
                sums.add(&mut rows, curvature, scratch);
                Ok(())
            },
            |a, b| a.0.merge(&b.0),
        )?;
        Ok(sums.0.finish(units, self.total_weight.recip()))
    }
}

impl<L: CurvedLoss, P: Penalty> Risk<'_, L, P> {
    /// The blocks of the Hessian that belong to one score each, intercept last, at given scores.
    pub fn hessian_blocks(&self, scores: &[f64], watch: &Watch) -> Result<Vec<Square>> {
        let (k, cols) = (self.loss.n_scores(), self.n_cols());
        let pairs = k * (k + 1) / 2;
        // A block for every score is much to keep and to merge: few leaves.
        let sums = self.pass().partials_of(16 * k * cols * cols).reduce(
            watch,
            (0, &mut []),
            || vec![HessianSums::new(1, cols, self.sparse); k],
            |sums, range, mut rows, _| {
                let n = range.len();
                let (mut residual, mut curvature) = (vec![0.0; n * k], vec![0.0; n * pairs]);
                let weights = Self::part(self.sample.weights, &range, 1);
                let z = &scores[range.start * k..range.end * k];
                self.loss.block(&self.sample.labels[range], z, weights, &mut residual, Some(&mut curvature));
                // The rows are used up by every score.
                let kept = match &rows {
                    Rows::Dense(values) if k > 1 => values.to_vec(),
                    _ => Vec::new(),
                };
                for (c, sums) in sums.iter_mut().enumerate() {
                    let own: Vec<f64> =
                        curvature.chunks_exact(pairs).map(|h| h[c * (c + 1) / 2 + c].max(0.0)).collect();
                    sums.add(&mut rows, &own, &mut Vec::new());
                    if let Rows::Dense(values) = &mut rows
                        && c + 1 < k
                    {
                        values.copy_from_slice(&kept);
                    }
                }
                Ok(())
            },
            |a, b| a.iter_mut().zip(&b).for_each(|(a, b)| a.merge(b)),
        )?;
        let ridge = if self.intercept == Intercept::Penalised { self.penalty.ridge() } else { 0.0 };
        let finish = |sums: HessianSums| {
            let mut block = sums.finish(self.sample.units, self.total_weight.recip());
            (0..cols).for_each(|j| *block.at(j, j) += self.penalty.ridge_of(j));
            *block.at(cols, cols) += ridge;
            if self.intercept == Intercept::None {
                (0..cols).for_each(|j| *block.at(cols, j) = 0.0);
            }
            block
        };
        Ok(sums.into_iter().map(finish).collect())
    }

    /// The diagonal of the Hessian by one pass.
    pub fn hessian_diagonal(&self, point: &Point, watch: &Watch) -> Result<Coef> {
        let (k, cols) = (self.loss.n_scores(), self.n_cols());
        let pairs = k * (k + 1) / 2;
        let (centre, inverse) = (self.sample.units.centre(), self.sample.units.inverse_scale());
        let (mut second, first, total) = self.pass().reduce(
            watch,
            (0, &mut []),
            || (Coef::zeros(k, cols), Coef::zeros(k, if self.sparse { cols } else { 0 }), vec![0.0; k]),
            |(second, first, total), range, rows, _| {
                let n = range.len();
                let (mut residual, mut curvature) = (vec![0.0; n * k], vec![0.0; n * pairs]);
                let weights = Self::part(self.sample.weights, &range, 1);
                let z = &point.scores[range.start * k..range.end * k];
                self.loss.block(&self.sample.labels[range.clone()], z, weights, &mut residual, Some(&mut curvature));
                for i in 0..n {
                    for c in 0..k {
                        let h = curvature[i * pairs + c * (c + 1) / 2 + c];
                        total[c] += h;
                        match &rows {
                            Rows::Dense(values) => {
                                let sums = &mut second.weights_mut()[c * cols..(c + 1) * cols];
                                let x = &values[i * cols..(i + 1) * cols];
                                sums.iter_mut().zip(x).for_each(|(s, x)| *s += h * x * x);
                            }
                            Rows::Csr(rows) => {
                                let (columns, values) = rows.row(i);
                                for (j, v) in columns.iter().zip(values) {
                                    second.weights_mut()[c * cols + *j as usize] += h * v * v;
                                    first.weights_mut()[c * cols + *j as usize] += h * v;
                                }
                            }
                        }
                    }
                }
                Ok(())
            },
            |a, b| {
                a.0.as_mut_slice().iter_mut().zip(b.0.as_slice()).for_each(|(a, b)| *a += b);
                a.1.as_mut_slice().iter_mut().zip(b.1.as_slice()).for_each(|(a, b)| *a += b);
                a.2.iter_mut().zip(&b.2).for_each(|(a, b)| *a += b);
            },
        )?;
        for (c, total) in total.iter().enumerate() {
            for j in 0..cols {
                let d = &mut second.weights_mut()[c * cols + j];
                if self.sparse {
                    let f = first.weights_of(c)[j];
                    *d = (*d - 2.0 * centre[j] * f + centre[j] * centre[j] * total) * inverse[j] * inverse[j];
                }
                *d = *d / self.total_weight + self.penalty.ridge_of(j);
            }
            second.intercept_mut()[c] = match self.intercept {
                Intercept::None => 1.0,
                Intercept::Free => total / self.total_weight,
                Intercept::Penalised => total / self.total_weight + self.penalty.ridge(),
            };
        }
        Ok(second)
    }

    /// `∇²F(point) · direction` by one pass, without forming the Hessian.
    pub fn hess_vec(&self, point: &Point, direction: &Coef, watch: &Watch) -> Result<Coef> {
        let (k, cols, total) = (self.loss.n_scores(), self.n_cols(), self.total_weight);
        let scorer = Scorer::new(direction, self.sample.units, self.sparse);
        let mut sums = self.pass().reduce(
            watch,
            (0, &mut []),
            || GradientSums::new(1, k, cols, self.sparse),
            |sums, range, rows, _| {
                let n = range.len();
                let (mut d, mut curved) = (vec![0.0; n * k], vec![0.0; n * k]);
                scorer.scores(&rows, &mut d);
                let weights = Self::part(self.sample.weights, &range, 1);
                let z = &point.scores[range.start * k..range.end * k];
                self.loss.curve(&self.sample.labels[range], z, weights, &d, &mut curved);
                sums.add(&rows, &curved, None);
                Ok(())
            },
            |a, b| a.merge(&b),
        )?;
        sums.finish(self.sample.units);
        let lambda = self.penalty.ridge();
        let mut out = Coef::zeros(k, cols);
        let weights = out.weights_mut().iter_mut().zip(&sums.sums).zip(direction.weights());
        weights.enumerate().for_each(|(j, ((o, s), d))| *o = s / total + self.penalty.ridge_of(j % cols) * d);
        let ridge = if self.intercept == Intercept::Penalised { lambda } else { 0.0 };
        if self.intercept != Intercept::None {
            let intercepts = out.intercept_mut().iter_mut().zip(&sums.totals).zip(direction.intercept());
            intercepts.for_each(|((o, s), d)| *o = s / total + ridge * d);
        }
        Ok(out)
    }
}
