//! Units, targets and penalty of a least-squares problem: everything but its statistics.

use super::{LeastSquaresSettings, Targets};
use crate::design::Standardize;
use crate::discriminant::Linear;
use crate::error::{Error, Result};
use crate::linalg::Square;
use crate::numeric::sum;
use crate::objective::{Intercept, QuadraticObjective};
use crate::stats::{ClassMoments, ClassTriangle};
use crate::words::{Setting, words};

/// Beside earlier columns, a column shorter than this share of its length is a combination of them: rounding of an
/// orthogonal factorisation of many rows, about 5,000 units.
const RANK_TOLERANCE: f64 = 1e-12;
/// An intercept of a model that states none, on targets of order one, is rounding up to this.
const NO_INTERCEPT: f64 = 1e-9;

/// The problem in the units of the fit. The unknowns of a score are its weights and, unless it has none, its intercept.
pub(super) struct SquaresFrame {
    /// Total weight of each class, and of all.
    pub classes: Vec<f64>,
    pub total: f64,
    mean: Vec<f64>,
    pub centre: Vec<f64>,
    pub scale: Vec<f64>,
    /// Columns with one value, which the intercept stands for.
    pub constant: Vec<usize>,
    /// Columns left out because they agree with others up to their printed digits, rising.
    pub left_out: Vec<usize>,
    pub lambda: f64,
    intercept: Intercept,
    /// The target of each class, score by score.
    pub targets: Vec<Vec<f64>>,
    /// The constant subtracted from a score so that zero is the threshold.
    pub shift: f64,
    /// The rounding error of a column's own values, in its standard deviations.
    noise: Vec<f64>,
}

impl SquaresFrame {
    pub fn of_moments(method: &LeastSquaresSettings, moments: &ClassMoments) -> Result<SquaresFrame> {
        let mean = moments.grand_mean();
        let total: f64 = moments.weights().iter().sum();
        let spread = |j: usize| -> f64 {
            let apart = |k: usize| moments.weight(k) * moments.mean_beyond(k, j, mean[j]).powi(2);
            (moments.scatter().get(j, j) + (0..moments.weights().len()).map(apart).sum::<f64>()) / total
        };
        let variance = (0..mean.len()).map(spread).collect();
        SquaresFrame::new(method, moments.weights().to_vec(), mean, variance)
    }

    pub fn of_triangle(method: &LeastSquaresSettings, triangle: &ClassTriangle) -> Result<SquaresFrame> {
        let total: f64 = triangle.weights().iter().sum();
        let cols = triangle.centre().len();
        let spread = |j: usize| triangle.column(j)[1..=cols].iter().map(|v| v * v).sum::<f64>() / total;
        let variance = (0..cols).map(spread).collect();
        SquaresFrame::new(method, triangle.weights().to_vec(), triangle.mean(), variance)
    }

    /// From the weights of the classes and the means and variances of the columns.
    pub fn new(
        method: &LeastSquaresSettings,
        classes: Vec<f64>,
        mean: Vec<f64>,
        variance: Vec<f64>,
    ) -> Result<SquaresFrame> {
        let (total, cols) = (classes.iter().sum::<f64>(), mean.len());
        // Centring without standardising is for conditioning only, so it needs a free intercept to absorb it.
        // Without an intercept planes pass through the origin.
        let centred = match method.intercept {
            Intercept::Free => true,
            Intercept::Penalised => method.standardize == Standardize::Yes,
            Intercept::None => false,
        };
        // The rounding error of the variance of a constant column: the square of a few units in the last place of its value.
        let negligible = |j: usize| variance[j] <= (4.0 * f64::EPSILON * mean[j]).powi(2);
        let scale = |j: usize| match method.standardize {
            Standardize::Yes if !negligible(j) => variance[j].sqrt(),
            _ => 1.0,
        };
        let (targets, shift) = method.targets_of(classes.len())?;
        let noise =
            |j: usize| if negligible(j) { 0.0 } else { 4.0 * f64::EPSILON * mean[j].abs() / variance[j].sqrt() };
        Ok(SquaresFrame {
            centre: if centred { mean.clone() } else { vec![0.0; cols] },
            scale: (0..cols).map(scale).collect(),
            constant: if centred { (0..cols).filter(|j| negligible(*j)).collect() } else { Vec::new() },
            left_out: Vec::new(),
            noise: (0..cols).map(|j| if centred { noise(j) } else { 0.0 }).collect(),
            lambda: method.penalty.lambda(total),
            intercept: method.intercept,
            classes,
            total,
            mean,
            targets,
            shift,
        })
    }

    pub fn cols(&self) -> usize {
        self.centre.len()
    }

    pub fn has_intercept(&self) -> bool {
        self.intercept != Intercept::None
    }

    pub fn unknowns(&self) -> usize {
        self.cols() + usize::from(self.has_intercept())
    }

    /// Whether an unknown is neither a constant column nor one that was left out.
    pub fn is_used(&self, j: usize) -> bool {
        self.constant.binary_search(&j).is_err() && self.left_out.binary_search(&j).is_err()
    }

    /// The unknowns in use, as far as their rank allows.
    pub fn used(&self) -> Vec<usize> {
        (0..self.unknowns()).filter(|j| self.is_used(*j)).collect()
    }

    fn mean_target(&self, score: usize) -> f64 {
        self.targets[score].iter().zip(&self.classes).map(|(t, n)| t * n).sum::<f64>() / self.total
    }

    pub fn intercept_penalty(&self) -> f64 {
        if self.intercept == Intercept::Penalised { self.lambda } else { 0.0 }
    }

    /// Zero weights with the best intercept.
    pub fn start(&self) -> Vec<Vec<f64>> {
        let one = |score: usize| {
            let mut v = vec![0.0; self.unknowns()];
            if self.has_intercept() {
                v[self.cols()] = self.mean_target(score) / (1.0 + self.intercept_penalty());
            }
            v
        };
        (0..self.targets.len()).map(one).collect()
    }

    /// F there.
    pub fn at_zero(&self) -> f64 {
        let one = |(score, v): (usize, Vec<f64>)| {
            let b = v.get(self.cols()).copied().unwrap_or(0.0);
            let off = self.targets[score].iter().zip(&self.classes).map(|(t, n)| n * (t - b).powi(2));
            0.5 * (off.sum::<f64>() / self.total + self.intercept_penalty() * b * b)
        };
        self.start().into_iter().enumerate().map(one).sum()
    }

    /// The normal equations, without the penalty; constant columns are left empty.
    pub fn normal_equations(&self, moments: &ClassMoments) -> QuadraticObjective {
        let (cols, n) = (self.cols(), self.unknowns());
        let apart: Vec<Vec<f64>> = (0..self.classes.len())
            .map(|k| (0..cols).map(|j| moments.mean_beyond(k, j, self.mean[j]) / self.scale[j]).collect())
            .collect();
        let offset: Vec<f64> = (0..cols).map(|j| (self.mean[j] - self.centre[j]) / self.scale[j]).collect();
        let mut hessian = Square::zeros(n);
        for j in 0..cols {
            for i in j..cols {
                *hessian.at(i, j) = moments.scatter().get(i, j) / (self.total * self.scale[i] * self.scale[j]);
            }
            if self.has_intercept() {
                *hessian.at(cols, j) = offset[j];
            }
        }
        let padded = |v: &[f64]| v.iter().copied().chain((cols..n).map(|_| 0.0)).collect::<Vec<f64>>();
        apart.iter().zip(&self.classes).for_each(|(v, w)| hessian.add_outer(w / self.total, &padded(v)));
        hessian.add_outer(1.0, &padded(&offset));
        if self.has_intercept() {
            *hessian.at(cols, cols) = 1.0;
        }
        hessian.keep_only(&self.used());
        let side = |score: usize| {
            let mean = self.mean_target(score);
            let entry = |j: usize| {
                let terms = (0..self.classes.len()).map(|k| self.classes[k] * self.targets[score][k] * apart[k][j]);
                terms.sum::<f64>() / self.total + offset[j] * mean
            };
            let weights = (0..cols).map(|j| if self.is_used(j) { entry(j) } else { 0.0 });
            weights.chain((cols..n).map(|_| mean)).collect()
        };
        QuadraticObjective { hessian, linear: (0..self.targets.len()).map(side).collect() }
    }

    /// Adds the penalty to normal equations.
    pub fn penalise(&self, problem: &mut QuadraticObjective) {
        for j in self.used() {
            let lambda = if j < self.cols() { self.lambda } else { self.intercept_penalty() };
            *problem.hessian.at(j, j) += lambda;
        }
    }

    /// The same problem as `min ½‖G v − h‖²` by a triangular factor: G, then h score by score, column-major, with its
    /// number of rows; `penalised` appends the roots of the penalty.
    pub fn equations(&self, triangle: &ClassTriangle, penalised: bool) -> (usize, Vec<f64>) {
        let (cols, n) = (self.cols(), self.unknowns());
        let rows = 1 + cols + if penalised { n } else { 0 };
        let root = self.total.sqrt();
        let mut values = Vec::with_capacity(rows * (n + self.targets.len()));
        for j in 0..cols {
            let used = self.is_used(j);
            let unit = if used { (root * self.scale[j]).recip() } else { 0.0 };
            values.push(if used { (self.mean[j] - self.centre[j]) / self.scale[j] } else { 0.0 });
            values.extend(triangle.column(j)[1..=cols].iter().map(|v| v * unit));
            let lambda = if used { self.lambda } else { 0.0 };
            values.extend((1 + cols..rows).map(|i| if i == 1 + cols + j { lambda.sqrt() } else { 0.0 }));
        }
        if self.has_intercept() {
            values.push(1.0);
            values.extend(
                (1..rows).map(|i| if i + 1 == rows && penalised { self.intercept_penalty().sqrt() } else { 0.0 }),
            );
        }
        for (score, targets) in self.targets.iter().enumerate() {
            let turned = |i: usize| targets.iter().enumerate().map(|(k, t)| t * triangle.indicator(k)[i]).sum::<f64>();
            values.push(self.mean_target(score));
            values.extend((1..=cols).map(|i| turned(i) / root));
            values.extend((1 + cols..rows).map(|_| 0.0));
        }
        (rows, values)
    }

    /// Per unknown, the relative length of its residual on the others up to which it counts as dependent.
    pub fn rank_tolerance(&self, penalised: bool) -> Vec<f64> {
        let of = |j: usize| match j < self.cols() {
            _ if penalised => 4.0 * f64::EPSILON,
            true => self.noise[j].max(RANK_TOLERANCE),
            false => 0.0,
        };
        (0..self.unknowns()).map(of).collect()
    }

    /// F by statistics: `Σ s(t−z)² = Σ_k n_k(t_k − z(μ_k))² + wᵀS_W w`, two sums of squares that cannot cancel.
    pub fn objective(&self, moments: &ClassMoments, solutions: &[Vec<f64>]) -> f64 {
        let cols = self.cols();
        let one = |(score, v): (usize, &Vec<f64>)| {
            let weights: Vec<f64> = (0..cols).map(|j| v[j] / self.scale[j]).collect();
            let off = |k: usize| {
                let beyond = |j: usize| moments.mean_beyond(k, j, self.centre[j]);
                let terms = weights.iter().enumerate().map(|(j, w)| w * beyond(j));
                let z = v.get(cols).copied().unwrap_or(0.0) + terms.sum::<f64>();
                self.classes[k] * (self.targets[score][k] - z).powi(2)
            };
            let between: f64 = (0..self.classes.len()).map(off).sum();
            let within: f64 = moments.scatter().multiply(&weights).iter().zip(&weights).map(|(a, w)| a * w).sum();
            0.5 * (between + within.max(0.0)) / self.total
        };
        solutions.iter().enumerate().map(one).sum::<f64>() + self.penalty(solutions)
    }

    pub fn penalty(&self, solutions: &[Vec<f64>]) -> f64 {
        let one = |v: &Vec<f64>| {
            let b = v.get(self.cols()).copied().unwrap_or(0.0);
            let weights: f64 = v[..self.cols()].iter().map(|w| w * w).sum();
            0.5 * (self.lambda * weights + self.intercept_penalty() * b * b)
        };
        solutions.iter().map(one).sum()
    }

    /// Discriminants of the columns from solutions in the units of the fit.
    pub fn discriminant(&self, solutions: &[Vec<f64>]) -> Result<Linear> {
        let cols = self.cols();
        let weights = solutions.iter().flat_map(|v| v[..cols].iter().zip(&self.scale).map(|(w, s)| w / s)).collect();
        let intercept = solutions.iter().map(|v| v.get(cols).copied().unwrap_or(0.0) - self.shift).collect();
        Linear::new(weights, self.centre.clone(), intercept)
    }

    /// The reverse of [`SquaresFrame::discriminant`].
    pub fn solutions(&self, linear: &Linear) -> Result<Vec<Vec<f64>>> {
        if linear.n_cols() != self.cols() || linear.n_scores() != self.targets.len() {
            return Err(Error::model("the model does not have the columns and classes of the data"));
        }
        let one = |k: usize| {
            let moves = linear.weights_of(k).iter().zip(self.centre.iter().zip(linear.centre()));
            let moved = sum(moves.map(|(w, (to, from))| w * (to - from)));
            let b = linear.intercept_at_centre()[k] + moved + self.shift;
            if !self.has_intercept() && b.abs() > NO_INTERCEPT {
                return Err(Error::model("the model states that it has no intercept, but it has one"));
            }
            let weights = linear.weights_of(k).iter().zip(&self.scale).map(|(w, s)| w * s);
            Ok(weights.chain(self.has_intercept().then_some(b)).collect())
        };
        (0..linear.n_scores()).map(one).collect()
    }
}

impl LeastSquaresSettings {
    /// The target of each class, score by score, and the constant subtracted from the scores.
    pub(in crate::model) fn targets_of(&self, classes: usize) -> Result<(Vec<Vec<f64>>, f64)> {
        match (classes, self.targets) {
            (2, Targets::Auto | Targets::PlusMinus) => Ok((vec![vec![-1.0, 1.0]], 0.0)),
            (2, Targets::ZeroOne) => Ok((vec![vec![0.0, 1.0]], 0.5)),
            (_, Targets::PlusMinus) => Err(Error::usage(format!("targets ±1 are for two classes, not {classes}"))
                .help(words!["leave ", Setting::Targets, " out: more classes have one-hot targets"])),
            _ => {
                let one = |t: usize| (0..classes).map(|k| f64::from(u8::from(k == t))).collect();
                Ok(((0..classes).map(one).collect(), 0.0))
            }
        }
    }
}
