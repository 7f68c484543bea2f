//! Logistic fits with a ridge of the same rows under many weights, which is what a bootstrap and a jackknife ask for.
//!
//! The optimum of rows drawn again is near that of all rows: `√(d/n)` of a standard error's worth of curvature away. So all
//! fits take Newton steps in the metric of the one to all rows, whose factor is made once, and a step of many fits is two products
//! of matrices. A fit that does not settle within some steps is left to the solver.

use crate::design::{Design, Pass, Rows, Standardize, Units, summarise_any};
use crate::error::Result;
use crate::linalg::{Factor, Square, dot, factor, gram_update, multiply_rows, weighted_rows_sum};
use crate::numeric::{logistic_terms, vectorised};
use crate::table::Class;
use crate::watch::Watch;
use rayon::prelude::*;

/// Fits that take their steps together. Products of matrices are fast from some thirty columns on, and the weights of twice as
/// many fits of 10,000 rows would leave a second-level cache; results do not depend on the threads, which share such groups.
const TOGETHER: usize = 32;
/// Rows that are looked at together: 32 of their scores for each of as many fits stay in a first-level cache.
const ROWS: usize = 64;
/// Steps after which a fit is left to the solver: contraction is by about `√(d/n)` a step, and seven settle where that is 0.05.
const STEPS: usize = 20;
/// A step that leaves more than this share of the decrement, a square, is slow: twenty of them would not settle a fit.
const SLOW: f64 = 0.2;
/// Newton's decrement squared times the total weight at the last step: coefficients are then 1e-7 of a standard error from the
/// optimum before that step, and nearer after it.
const SETTLED: f64 = 1e-14;
/// Doubles of the rows that are kept: 512 MB.
const MOST_VALUES: usize = 1 << 26;
/// Pivots of the curvature in unit diagonal below this are rounding.
const SINGULAR: f64 = 1e-12;

/// The rows, and the metric at the optimum of all of them.
pub(crate) struct ReweightedRidge {
    /// Row by row, a one and the columns with mean zero and variance one.
    tile: Vec<f64>,
    labels: Vec<Class>,
    units: Units,
    /// The optimum for all rows.
    start: Vec<f64>,
    metric: Factor,
    /// By column what the ridge is multiplied by; `None` where columns are standardised by the weights of each fit.
    plain: Option<Vec<f64>>,
}

/// The fit to all rows: weights and intercept in the units of the columns.
pub(crate) struct RidgeFit<'a> {
    pub(crate) weights: &'a [f64],
    pub(crate) intercept: f64,
    pub(crate) lambda: f64,
    /// Whether the ridge is about standardised columns.
    pub(crate) standardised: bool,
}

/// What one fit counts rows with, and its ridge.
pub(crate) struct RowWeights {
    pub(crate) weights: Vec<f64>,
    pub(crate) lambda: f64,
}

impl ReweightedRidge {
    /// `None` where a column is constant, the rows are sparse or too many to be kept, or the curvature is singular.
    pub(crate) fn new(
        design: &dyn Design,
        labels: &[Class],
        weights: Option<&[f64]>,
        fit: &RidgeFit<'_>,
        watch: &Watch,
    ) -> Result<Option<ReweightedRidge>> {
        let shape = design.shape();
        let width = shape.cols + 1;
        if shape.rows.saturating_mul(width) > MOST_VALUES {
            return Ok(None);
        }
        let (summary, sparse) = summarise_any(design, weights, watch)?;
        if sparse || !summary.constant().is_empty() {
            return Ok(None);
        }
        let units = summary.units(Standardize::Yes);
        let mut tile = vec![1.0; shape.rows * width];
        Pass::new(design, &units).partials_of(1).reduce(
            watch,
            (width, &mut tile),
            || (),
            |(), _, rows, out| {
                if let Rows::Dense(values) = rows {
                    let rows = out.chunks_exact_mut(width).zip(values.chunks_exact(shape.cols.max(1)));
                    rows.for_each(|(out, x)| out[1..].copy_from_slice(x));
                }
                Ok(())
            },
            |(), ()| (),
        )?;
        let weight = |row: usize| weights.map_or(1.0, |w| w[row]);
        let at_centre = fit.intercept + dot(fit.weights, units.centre());
        let scaled = fit.weights.iter().zip(units.scale()).map(|(w, s)| w * s);
        let start: Vec<f64> = [at_centre].into_iter().chain(scaled).collect();
        let plain: Option<Vec<f64>> =
            (!fit.standardised).then(|| units.inverse_scale().iter().map(|inverse| inverse * inverse).collect());
        let mut curvature = Square::zeros(width);
        let (mut rooted, mut total) = (Vec::new(), 0.0);
        for (block, rows) in tile.chunks(ROWS * width).enumerate() {
            rooted.clear();
            for (i, x) in rows.chunks_exact(width).enumerate() {
                let (terms, s) = (logistic_terms(dot(x, &start)), weight(block * ROWS + i));
                total += s;
                rooted.extend(x.iter().map(|x| x * (s * terms.p * terms.q)));
            }
            gram_update(&mut curvature, &rooted, rows);
        }
        let penalty = |j: usize| if j == 0 { 0.0 } else { fit.lambda * plain.as_ref().map_or(1.0, |f| f[j - 1]) };
        let curvature =
            Square::from_lower(width, |i, j| curvature.get(i, j) / total + if i == j { penalty(i) } else { 0.0 });
        let metric = factor(&curvature, SINGULAR);
        let usable = metric.aliased().is_empty() && start.iter().all(|t| t.is_finite());
        Ok(usable.then(|| ReweightedRidge { tile, labels: labels.to_vec(), units, start, metric, plain }))
    }

    /// Weights and the intercept, in the units of the columns, of `count` fits; `None` of those that did not settle.
    pub(crate) fn fits(
        &self,
        count: usize,
        of_fit: impl Fn(usize) -> RowWeights + Sync,
        watch: &Watch,
    ) -> Vec<Option<Vec<f64>>> {
        let groups = (0..count.div_ceil(TOGETHER)).into_par_iter();
        let group = |group: usize| {
            let numbers: Vec<usize> = (group * TOGETHER..((group + 1) * TOGETHER).min(count)).collect();
            if watch.halted().is_some() {
                return vec![None; numbers.len()];
            }
            let asked: Vec<RowWeights> = numbers.iter().map(|number| of_fit(*number)).collect();
            self.group(&asked)
        };
        groups.flat_map_iter(group).collect()
    }

    fn group(&self, asked: &[RowWeights]) -> Vec<Option<Vec<f64>>> {
        let (n, width) = (self.labels.len(), self.start.len());
        let mut moving: Vec<MovingFit> =
            asked.iter().enumerate().map(|(number, asked)| self.moving(number, asked)).collect();
        moving.retain(|fit| !fit.done);
        let mut settled = vec![None; asked.len()];
        for _ in 0..STEPS {
            if moving.is_empty() {
                break;
            }
            let each = moving.len();
            let mut weights = vec![0.0; n * each];
            for (at, fit) in moving.iter().enumerate() {
                let own = &asked[fit.number].weights;
                weights.iter_mut().skip(at).step_by(each).zip(own).for_each(|(to, s)| *to = *s);
            }
            let points: Vec<f64> = moving.iter().flat_map(|fit| fit.point.iter().copied()).collect();
            let gradients = self.gradients(&points, &weights, each);
            for (fit, gradient) in moving.iter_mut().zip(gradients.chunks_exact(width)) {
                if fit.advance(gradient, &self.metric) {
                    settled[fit.number] = Some(self.in_units(&fit.point));
                }
            }
            moving.retain(|fit| !fit.done);
        }
        settled
    }

    /// A fit at its start, with the ridge of its weights.
    fn moving(&self, number: usize, asked: &RowWeights) -> MovingFit {
        let width = self.start.len();
        let total: f64 = asked.weights.iter().sum();
        let penalty: Vec<f64> = match &self.plain {
            Some(factors) => factors.iter().map(|f| asked.lambda * f).collect(),
            None => {
                let (mut sums, mut squares) = (vec![0.0; width], vec![0.0; width]);
                for (x, s) in self.tile.chunks_exact(width).zip(&asked.weights).filter(|(_, s)| **s > 0.0) {
                    for ((sum, square), x) in sums.iter_mut().zip(&mut squares).zip(x) {
                        *sum += s * x;
                        *square += s * x * x;
                    }
                }
                let variance = |j: usize| (squares[j] - sums[j] * sums[j] / total) / total;
                (1..width).map(|j| asked.lambda * variance(j)).collect()
            }
        };
        // Without a class there is no optimum, and a column that is constant by these weights is the solver's.
        let has = |class: usize| self.labels.iter().zip(&asked.weights).any(|(y, s)| y.index() == class && *s > 0.0);
        let lost = !has(0) || !has(1) || penalty.iter().any(|p| !(*p > asked.lambda * SINGULAR));
        MovingFit { number, point: self.start.clone(), penalty, total, last: f64::INFINITY, done: lost }
    }

    /// `Σ s (p − y) x̃` of every fit.
    fn gradients(&self, points: &[f64], weights: &[f64], each: usize) -> Vec<f64> {
        let width = self.start.len();
        let mut gradients = vec![0.0; each * width];
        let mut scores = vec![0.0; ROWS * each];
        for ((rows, weights), labels) in
            self.tile.chunks(ROWS * width).zip(weights.chunks(ROWS * each)).zip(self.labels.chunks(ROWS))
        {
            let scores = &mut scores[..labels.len() * each];
            multiply_rows(rows, points, width, each, scores);
            for ((z, s), class) in scores.chunks_exact_mut(each).zip(weights.chunks_exact(each)).zip(labels) {
                slopes(z, s, class.index() == 1);
            }
            weighted_rows_sum(rows, scores, width, each, &mut gradients);
        }
        gradients
    }

    /// Weights and the intercept in the units of the columns.
    fn in_units(&self, point: &[f64]) -> Vec<f64> {
        let weights: Vec<f64> =
            point[1..].iter().zip(self.units.inverse_scale()).map(|(w, inverse)| w * inverse).collect();
        let intercept = point[0] - dot(&weights, self.units.centre());
        weights.into_iter().chain([intercept]).collect()
    }
}

vectorised! {
    /// Scores of a row in many fits become `s (p − y)`, without cancellation where a probability is nearly one.
    fn slopes(z: &mut [f64], weights: &[f64], second: bool) {
        for (z, s) in z.iter_mut().zip(weights) {
            let t = logistic_terms(*z);
            *z = if second { -s * t.q } else { s * t.p };
        }
    }
}

/// A fit on its way.
struct MovingFit {
    number: usize,
    point: Vec<f64>,
    /// By column.
    penalty: Vec<f64>,
    total: f64,
    /// The decrement before the last step.
    last: f64,
    done: bool,
}

impl MovingFit {
    /// Takes a step; whether the fit has settled.
    fn advance(&mut self, sums: &[f64], metric: &Factor) -> bool {
        let mut gradient: Vec<f64> = sums.iter().map(|g| g / self.total).collect();
        for ((g, penalty), w) in gradient[1..].iter_mut().zip(&self.penalty).zip(&self.point[1..]) {
            *g += penalty * w;
        }
        let step = metric.solve(&gradient);
        let decrement = dot(&gradient, &step) * self.total;
        self.point.iter_mut().zip(&step).for_each(|(p, s)| *p -= s);
        let settled = decrement <= SETTLED;
        self.done = settled || !(decrement <= SLOW * self.last);
        self.last = decrement;
        settled
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::DenseMatrix;

    /// Newton's method with a Hessian of its own at every step, in plain loops.
    fn textbook(x: &[f64], cols: usize, y: &[usize], s: &[f64], lambda: f64, standardised: bool) -> Vec<f64> {
        let total: f64 = s.iter().sum();
        let factor_of = |j: usize| {
            if !standardised {
                return 1.0;
            }
            let column = || x.chunks_exact(cols).map(|x| x[j]).zip(s);
            let mean = column().map(|(x, s)| x * s).sum::<f64>() / total;
            column().map(|(x, s)| s * (x - mean) * (x - mean)).sum::<f64>() / total
        };
        let factors: Vec<f64> = (0..cols).map(factor_of).collect();
        let mut w = vec![0.0; cols + 1];
        for _ in 0..50 {
            let mut gradient: Vec<f64> =
                (0..=cols).map(|j| if j < cols { lambda * factors[j] * w[j] } else { 0.0 }).collect();
            let mut hessian = vec![0.0; (cols + 1) * (cols + 1)];
            for ((x, y), s) in x.chunks_exact(cols).zip(y).zip(s) {
                let row: Vec<f64> = x.iter().copied().chain([1.0]).collect();
                let p = 1.0 / (1.0 + (-dot(&row, &w)).exp());
                for (i, a) in row.iter().enumerate() {
                    gradient[i] += s / total * (p - *y as f64) * a;
                    for (j, b) in row.iter().enumerate() {
                        hessian[i * (cols + 1) + j] += s / total * p * (1.0 - p) * a * b;
                    }
                }
            }
            let full = Square::from_lower(cols + 1, |i, j| {
                hessian[i * (cols + 1) + j] + if i == j && i < cols { lambda * factors[i] } else { 0.0 }
            });
            let step = factor(&full, 0.0).solve(&gradient);
            w.iter_mut().zip(step).for_each(|(w, s)| *w -= s);
        }
        w
    }

    #[test]
    fn fits_are_those_of_newton_with_its_own_curvature() {
        let (n, cols) = (400, 3);
        // Numbers without a pattern, far from zero and of different sizes.
        let noise = |i: usize| (((i * 2_654_435_761) % 4_294_967_291) as f64 / 4_294_967_291.0 - 0.5) * 3.0;
        let x: Vec<f64> = (0..n * cols)
            .map(|at| [10.0, -3.0, 1e3][at % cols] + [1.0, 0.1, 50.0][at % cols] * noise(at + 7))
            .collect();
        let y: Vec<usize> = (0..n).map(|i| usize::from((x[i * cols] - 10.0) + noise(i + 50_021) > 0.2)).collect();
        let labels: Vec<Class> = y.iter().map(|y| Class(*y as u32)).collect();
        let design = DenseMatrix::new(x.clone(), cols).unwrap();
        for standardised in [true, false] {
            let lambda = 0.01;
            let all = textbook(&x, cols, &y, &vec![1.0; n], lambda, standardised);
            let fit = RidgeFit { weights: &all[..cols], intercept: all[cols], lambda, standardised };
            let ridge = ReweightedRidge::new(&design, &labels, None, &fit, &Watch::default()).unwrap().unwrap();
            let weights =
                |number: usize| -> Vec<f64> { (0..n).map(|i| ((i * 7 + number * 13) % 5 % 3) as f64).collect() };
            let fits = ridge.fits(40, |number| RowWeights { weights: weights(number), lambda }, &Watch::default());
            for (number, found) in fits.iter().enumerate() {
                let expected = textbook(&x, cols, &y, &weights(number), lambda, standardised);
                let found = found.as_ref().expect("settles");
                for (f, e) in found.iter().zip(&expected) {
                    assert!((f - e).abs() <= 1e-8 * (1.0 + e.abs()), "{number}: {found:?} and {expected:?}");
                }
            }
        }
        let constant = DenseMatrix::new(vec![1.0; n], 1).unwrap();
        let fit = RidgeFit { weights: &[0.0], intercept: 0.0, lambda: 0.1, standardised: true };
        assert!(ReweightedRidge::new(&constant, &labels, None, &fit, &Watch::default()).unwrap().is_none());
    }
}
