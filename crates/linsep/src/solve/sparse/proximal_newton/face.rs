//! A step of the quadratic model on the face of the current signs.
//!
//! Where signs stay as they are, the lasso is linear and the model one linear system. Conjugate gradients, whose products
//! are by rows and by columns on all cores, come as near to its solution in a few tens of products as coordinate descent
//! in hundreds or thousands of sweeps where columns are correlated. Weights that would change their sign become zero, and
//! the step is shortened until the model is lower: coordinate descent then says which columns have a weight. (Moré and
//! Toraldo 1991 alternate in the same way between projected gradients and conjugate gradients on a face.)

use super::residual::ResidualModel;
use crate::design::RowParts;
use crate::linalg::dot;
use crate::objective::{Coef, CurvedLoss, Intercept, Penalty, Risk};
use rayon::prelude::*;

/// Columns given to one task at least, so that it takes longer than its start. Chosen, out of reach of
/// bench/constants.md.
const COLUMNS: usize = 16;
/// Products for one system at most; a truncated solution is still a direction of descent. Chosen, out of reach of
/// bench/constants.md: of texts systems take up to 50.
const PRODUCTS: usize = 60;
/// Curvature along a direction below this share of what the diagonal says is rounding: about 4,500 units.
const FLAT: f64 = 1e-12;
/// A step is halved so often at most before coordinate descent goes on without it. Chosen, out of reach of
/// bench/constants.md.
const HALVINGS: usize = 6;

/// The face of a model at v: the weights that are not zero or have no lasso, and the intercept.
struct Face<'f> {
    model: &'f ResidualModel<'f>,
    active: Vec<usize>,
    rows: RowParts,
    /// Per unknown: the weights, then the intercept where there is one.
    ridge: Vec<f64>,
    diagonal: Vec<f64>,
}

/// A move of all unknowns: by row without what the move of all rows alike adds, that, and `Σ C` times the former.
struct FaceMove {
    scores: Vec<f64>,
    common: f64,
    total: f64,
}

impl ResidualModel<'_> {
    /// Lowers the model on the face of the signs of v, by a system that is solved to this share of its first residual, in the
    /// norm of the inverse diagonal; for one score and sparse columns.
    pub(super) fn step_on_face<L: CurvedLoss, P: Penalty>(
        &mut self,
        risk: &Risk<'_, L, P>,
        v: &mut Coef,
        precision: f64,
    ) {
        let penalty = risk.penalty();
        let active: Vec<usize> =
            (0..v.n_cols()).filter(|j| v.weights()[*j] != 0.0 || penalty.lasso_of(*j) == 0.0).collect();
        let Some(rows) = RowParts::new(self.columns, &active, self.theta.len()) else { return };
        let of_intercept = match risk.intercept() {
            Intercept::None => None,
            Intercept::Free => Some((0.0, 0.0)),
            Intercept::Penalised => Some((penalty.ridge(), penalty.lasso())),
        };
        let mut at: Vec<f64> = active.iter().map(|j| v.weights()[*j]).collect();
        let mut ridge: Vec<f64> = active.iter().map(|j| penalty.ridge_of(*j)).collect();
        let mut lasso: Vec<f64> = active.iter().map(|j| penalty.lasso_of(*j)).collect();
        let slopes = active.par_iter().with_min_len(COLUMNS).map(|j| self.slope(*j, 0));
        let (mut slope, mut diagonal): (Vec<f64>, Vec<f64>) = slopes.unzip();
        if let Some((of_ridge, of_lasso)) = of_intercept {
            at.push(v.intercept()[0]);
            ridge.push(of_ridge);
            lasso.push(of_lasso);
            slope.push(self.total(0) / self.total_weight);
            diagonal.push(self.totals[0] / self.total_weight);
        }
        for i in 0..at.len() {
            let sign = if at[i] == 0.0 { 0.0 } else { at[i].signum() };
            slope[i] += ridge[i] * at[i] + lasso[i] * sign;
            diagonal[i] += ridge[i];
        }
        let face = Face { model: self, active, rows, ridge, diagonal };
        let direction = face.solve(&slope, precision);
        let mut length = 1.0;
        for _ in 0..HALVINGS {
            let next = |((at, d), lasso): ((&f64, &f64), &f64)| match at + length * d {
                crossed if *lasso > 0.0 && crossed * at <= 0.0 => 0.0,
                next => next,
            };
            let next: Vec<f64> = at.iter().zip(&direction).zip(&lasso).map(next).collect();
            let step: Vec<f64> = next.iter().zip(&at).map(|(n, a)| n - a).collect();
            let moved = face.moved(&step);
            // On the face signs hold, so the lasso is in the slope.
            let change = dot(&slope, &step) + 0.5 * face.curvature(&step, &moved);
            if change < 0.0 {
                let active = face.active;
                self.move_by(&moved);
                let weights = v.weights_mut();
                active.iter().zip(&next).for_each(|(j, w)| weights[*j] = *w);
                if of_intercept.is_some() {
                    v.intercept_mut()[0] = next[active.len()];
                }
                return;
            }
            length *= 0.5;
        }
    }

    fn move_by(&mut self, moved: &FaceMove) {
        let rows = self.theta.iter_mut().zip(&self.curvature).zip(&moved.scores);
        rows.for_each(|((t, c), s)| *t += c * s);
        self.common[0] += moved.common;
        self.sums[0] += moved.total;
    }
}

impl Face<'_> {
    fn moved(&self, step: &[f64]) -> FaceMove {
        let units = self.model.units;
        let inverse = self.active.iter().map(|j| units.inverse_scale()[*j]);
        let scaled: Vec<f64> = step.iter().zip(inverse).map(|(s, i)| s * i).collect();
        let mut common = step.get(self.active.len()).copied().unwrap_or(0.0);
        let mut total = 0.0;
        for (j, s) in self.active.iter().zip(&scaled) {
            common -= s * units.centre()[*j];
            total += s * self.model.first[*j];
        }
        FaceMove { scores: self.rows.combine(&scaled), common, total }
    }

    /// `sᵀHs`.
    fn curvature(&self, step: &[f64], moved: &FaceMove) -> f64 {
        let model = self.model;
        let squares: f64 = moved.scores.iter().zip(&model.curvature).map(|(s, c)| c * s * s).sum();
        let of_all = moved.common * (2.0 * moved.total + model.totals[0] * moved.common);
        let ridge: f64 = step.iter().zip(&self.ridge).map(|(s, r)| r * s * s).sum();
        (squares + of_all) / model.total_weight + ridge
    }

    /// `Hs`.
    fn product(&self, step: &[f64], moved: &FaceMove) -> Vec<f64> {
        let model = self.model;
        let bent: Vec<f64> = moved.scores.iter().zip(&model.curvature).map(|(s, c)| c * s).collect();
        let all = moved.total + model.totals[0] * moved.common;
        let of_column = |j: &usize| {
            let sum = model.columns.column(*j).dot(&bent) + model.first[*j] * moved.common;
            (sum - model.units.centre()[*j] * all) * model.units.inverse_scale()[*j]
        };
        let mut out: Vec<f64> = self.active.par_iter().with_min_len(COLUMNS).map(of_column).collect();
        if step.len() > self.active.len() {
            out.push(all);
        }
        for ((o, s), r) in out.iter_mut().zip(step).zip(&self.ridge) {
            *o = *o / model.total_weight + r * s;
        }
        out
    }

    /// About `−H⁻¹ slope`, by conjugate gradients with the diagonal.
    fn solve(&self, slope: &[f64], precision: f64) -> Vec<f64> {
        let divided = |r: &[f64]| -> Vec<f64> {
            r.iter().zip(&self.diagonal).map(|(r, d)| if *d > 0.0 { r / d } else { 0.0 }).collect()
        };
        let mut solution = vec![0.0; slope.len()];
        let mut residual: Vec<f64> = slope.iter().map(|s| -s).collect();
        let mut scaled = divided(&residual);
        let mut direction = scaled.clone();
        let mut size = dot(&residual, &scaled);
        let target = precision * precision * size;
        for _ in 0..PRODUCTS {
            if !(size > target) {
                break;
            }
            let moved = self.moved(&direction);
            let product = self.product(&direction, &moved);
            let curvature = dot(&direction, &product);
            let of_diagonal: f64 = direction.iter().zip(&self.diagonal).map(|(p, d)| d * p * p).sum();
            if !(curvature > FLAT * of_diagonal) {
                break;
            }
            let length = size / curvature;
            solution.iter_mut().zip(&direction).for_each(|(x, p)| *x += length * p);
            residual.iter_mut().zip(&product).for_each(|(r, p)| *r -= length * p);
            scaled = divided(&residual);
            let next = dot(&residual, &scaled);
            let ratio = next / size;
            direction.iter_mut().zip(&scaled).for_each(|(p, z)| *p = ratio * *p + z);
            size = next;
        }
        solution
    }
}
