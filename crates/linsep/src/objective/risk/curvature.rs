//! Second derivatives of a risk without forming, or beyond, its Hessian.

use super::{Intercept, Point, Risk};
use crate::design::{Design, Pass, Rows, Units, is_sparse};
use crate::error::Result;
use crate::linalg::Square;
use crate::objective::rows::{GradientSums, HessianSums};
use crate::objective::scorer::Scorer;
use crate::objective::{Coef, CurvedLoss, Loss, Penalty};
use crate::watch::Watch;
use rayon::prelude::*;

/// Rows whose curvatures one task computes: each row's are its own, so results do not depend on it. Chosen, out of
/// reach of bench/constants.md.
const ROWS: usize = 512;

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
    /// weights: rows in another basis. Over `total`, the weight of all rows, also of those that are elsewhere; nothing is
    /// added for the penalty.
    pub(crate) fn loss_hessian(
        &self,
        design: &dyn Design,
        units: &Units,
        scores: &[f64],
        total: f64,
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
        Ok(sums.0.finish(units, total.recip()))
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
        if let Some(diagonal) = self.diagonal_by_columns(point) {
            return Ok(diagonal);
        }
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
        let (k, cols) = (self.loss.n_scores(), self.n_cols());
        if let Some(view) = self.sample.design.by_columns() {
            let mut curved = vec![0.0; self.sample.labels.len() * k];
            let along = self.along(direction, watch)?.scores;
            curved.par_chunks_mut(ROWS * k).zip(along.par_chunks(ROWS * k)).enumerate().for_each(
                |(block, (out, d))| {
                    let range = block * ROWS..block * ROWS + out.len() / k;
                    let weights = Self::part(self.sample.weights, &range, 1);
                    let z = &point.scores[range.start * k..range.end * k];
                    self.loss.curve(&self.sample.labels[range], z, weights, d, out);
                },
            );
            return Ok(self.curved(GradientSums::by_view(&view, k, &curved), direction));
        }
        let scorer = Scorer::new(direction, self.sample.units, self.sparse);
        let sums = self.pass().reduce(
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
        Ok(self.curved(sums, direction))
    }

    /// `Σᵢ Cᵢdᵢx̂ᵢᵀ` as a product with the Hessian.
    fn curved(&self, mut sums: GradientSums, direction: &Coef) -> Coef {
        let (k, cols, total) = (self.loss.n_scores(), self.n_cols(), self.total_weight);
        sums.finish(self.sample.units);
        let lambda = self.penalty.ridge();
        let mut values = std::mem::take(&mut sums.sums);
        for (of_score, along) in values.chunks_mut(cols.max(1)).zip(direction.weights().chunks(cols.max(1))) {
            // At least 2¹⁴ weights a task: results do not depend on it.
            let weights = of_score.par_iter_mut().with_min_len(1 << 14).zip(along).enumerate();
            weights.for_each(|(j, (s, d))| *s = *s / total + self.penalty.ridge_of(j) * d);
        }
        values.resize(k * (cols + 1), 0.0);
        let mut out = Coef::from_vec(values, k, cols);
        let ridge = if self.intercept == Intercept::Penalised { lambda } else { 0.0 };
        if self.intercept != Intercept::None {
            let intercepts = out.intercept_mut().iter_mut().zip(&sums.totals).zip(direction.intercept());
            intercepts.for_each(|((o, s), d)| *o = s / total + ridge * d);
        }
        out
    }

    /// The diagonal of the Hessian from a copy of all columns that are not centred.
    fn diagonal_by_columns(&self, point: &Point) -> Option<Coef> {
        let (k, cols, total) = (self.loss.n_scores(), self.n_cols(), self.total_weight);
        let (view, units, pairs) = (self.sample.design.by_columns()?, self.sample.units, k * (k + 1) / 2);
        if !units.is_identity() && units.centre().iter().any(|c| *c != 0.0) {
            return None;
        }
        let mut own = vec![0.0; self.sample.labels.len() * k];
        own.par_chunks_mut(ROWS * k).enumerate().for_each(|(block, own)| {
            let range = block * ROWS..block * ROWS + own.len() / k;
            let (mut residual, mut curvature) = (vec![0.0; own.len()], vec![0.0; range.len() * pairs]);
            let weights = Self::part(self.sample.weights, &range, 1);
            let z = &point.scores[range.start * k..range.end * k];
            self.loss.block(&self.sample.labels[range], z, weights, &mut residual, Some(&mut curvature));
            for (own, all) in own.chunks_exact_mut(k).zip(curvature.chunks_exact(pairs)) {
                own.iter_mut().enumerate().for_each(|(c, h)| *h = all[c * (c + 1) / 2 + c]);
            }
        });
        let mut values = view.squares(&own, k)?;
        for of_score in values.chunks_mut(cols.max(1)) {
            for (j, (d, inverse)) in of_score.iter_mut().zip(units.inverse_scale()).enumerate() {
                *d = *d * inverse * inverse / total + self.penalty.ridge_of(j);
            }
        }
        for c in 0..k {
            let sum: f64 = own.iter().skip(c).step_by(k).sum();
            values.push(match self.intercept {
                Intercept::None => 1.0,
                Intercept::Free => sum / total,
                Intercept::Penalised => sum / total + self.penalty.ridge(),
            });
        }
        Some(Coef::from_vec(values, k, cols))
    }
}

#[cfg(test)]
mod tests {
    use crate::design::{CsrMatrix, LabelledRows, Units, WithColumns};
    use crate::objective::{Coef, Detail, Intercept, Ridge, Risk, Sample, Softmax, SoftmaxForm};
    use crate::table::Class;
    use crate::watch::Watch;

    /// By rows and by a copy of the columns beside them.
    #[test]
    fn columns_give_the_products_of_the_rows() {
        let (rows, cols, k) = (1100, 40, 5);
        for alike in [true, false] {
            let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
            for i in 0..rows {
                for j in (0..cols).filter(|j| *j != 7 && (i * 13 + j * j * 5) % 11 < 2) {
                    indices.push(j as u32);
                    values.push(if alike { 0.5 + (i % 4) as f64 } else { ((i * 3 + j * 7) % 9) as f64 / 4.0 - 1.0 });
                }
                starts.push(indices.len());
            }
            let x = CsrMatrix::new(starts, indices, values, cols).expect("a matrix");
            let labels: Vec<Class> = (0..rows).map(|i| Class((i * i % k) as u32)).collect();
            let weights: Vec<f64> = (0..rows).map(|i| (i % 3) as f64).collect();
            for centred in [false, true] {
                let centre = (0..cols).map(|j| if centred { j as f64 / 50.0 } else { 0.0 }).collect();
                let units = Units::new(centre, (0..cols).map(|j| 1.0 + j as f64 / 20.0).collect());
                let sample = Sample::new(LabelledRows::new(&x, &labels).weighted(Some(&weights)), &units);
                let loss = Softmax::new(k, SoftmaxForm::Symmetric);
                let risk = Risk::new(sample, loss, Ridge::new(0.1), Intercept::Penalised);
                let design = risk.copy_of_columns().map(|columns| WithColumns::new(&x, columns)).expect("sparse rows");
                let beside = risk.on(&design);
                let values = |shift: f64| (0..k * (cols + 1)).map(|i| ((i * 29) % 17) as f64 / 20.0 - shift).collect();
                let (coef, along) = (Coef::from_vec(values(0.4), k, cols), Coef::from_vec(values(0.7), k, cols));
                let watch = Watch::default();
                let [one, other] = [&risk, &beside].map(|risk| {
                    let point = risk.at(&coef, Detail::Gradient, &watch).expect("a point");
                    let product = risk.hess_vec(&point, &along, &watch).expect("a product");
                    let diagonal = risk.hessian_diagonal(&point, &watch).expect("a diagonal");
                    [point.gradient, product, diagonal, Coef::from_vec(vec![point.objective, 0.0], 1, 1)]
                });
                for (one, other) in one.iter().zip(&other) {
                    let size = one.as_slice().iter().fold(0.0f64, |m, v| m.max(v.abs()));
                    for (a, b) in one.as_slice().iter().zip(other.as_slice()) {
                        assert!((a - b).abs() <= 1e-13 * size, "{alike} {centred}: {a} {b}");
                    }
                }
            }
        }
    }
}
