//! The certificate: the equations that parameters and discriminants must satisfy, evaluated with the statistics.
//!
//! The logarithms of the fit are inverted rather than repeated: a weight `ln(λ₁/λ₀)` is right if `e^w λ₀ = λ₁`. Scores of
//! more than two classes are compared with that of the first class, so that their common part cancels.

use super::FamilyChoice;
use super::estimate::{CHUNK, Estimates, runs_within, spread};
use crate::certify::Certificate;
use crate::discriminant::{Discriminant, Generalised, Linear};
use crate::error::{Error, Result};
use crate::numeric::{CompensatedSum, ln_gamma, ln_minus_digamma};
use rayon::prelude::*;
use std::ops::Range;

const EQUATIONS: &str = "g_k(x) − g_0(x) = log π_k p(x|k) − log π_0 p(x|0) with parameters from the statistics";

/// The discriminants as given.
#[derive(Clone, Copy)]
enum Given<'a> {
    Linear(&'a Linear),
    Generalised(&'a Generalised),
}

/// The weights of a column in the difference of two scores.
struct Contrast {
    linear: f64,
    square: f64,
    logarithm: f64,
}

/// The residual of a chunk of columns for one class.
struct ChunkResidual {
    worst: f64,
    constant: CompensatedSum,
    size: f64,
}

impl Estimates<'_> {
    /// The largest relative residual over classes and columns, and of the intercepts.
    pub(super) fn certificate(&self, discriminant: &Discriminant) -> Result<Certificate> {
        let (classes, cols) = (self.names.len(), self.statistics.n_cols());
        let scores = if classes == 2 { 1 } else { classes };
        let given = match discriminant {
            Discriminant::Linear(g) if self.layout.is_linear() => Given::Linear(g),
            Discriminant::Generalised(g) if !self.layout.is_linear() => Given::Generalised(g),
            _ => return Err(Error::model("the discriminants are not of the kind that the families give")),
        };
        if discriminant.n_cols() != cols || discriminant.n_scores() != scores {
            return Err(Error::model("the model does not have the columns and classes of the data"));
        }
        let mut worst = 0.0f64;
        for k in 1..classes {
            let chunks: Vec<ChunkResidual> = (0..cols.div_ceil(CHUNK))
                .into_par_iter()
                .map(|c| self.chunk_residual(given, k, c * CHUNK..((c + 1) * CHUNK).min(cols)))
                .collect();
            let mut expected = CompensatedSum::default();
            expected.add(self.log_prior_odds(k));
            let mut size = 1.0;
            for chunk in &chunks {
                worst = worst.max(chunk.worst);
                expected.merge(chunk.constant);
                size += chunk.size;
            }
            let intercept = given.intercept_at_centre();
            let found = if classes == 2 { intercept[0] } else { intercept[k] - intercept[0] };
            worst = worst.max((found - expected.value()).abs() / size);
        }
        // NaN compares false and would pass: it is turned into the largest number.
        let relative_residual = if worst.is_finite() { worst } else { f64::MAX };
        Ok(Certificate::ClosedForm { equations: EQUATIONS.to_owned(), relative_residual, errors: None })
    }

    fn chunk_residual(&self, given: Given<'_>, k: usize, range: Range<usize>) -> ChunkResidual {
        let mut found = ChunkResidual { worst: 0.0, constant: CompensatedSum::default(), size: 0.0 };
        let note = |worst: &mut f64, residual: f64| {
            *worst = if residual <= *worst { *worst } else { residual };
        };
        for run in runs_within(self.layout, &range) {
            for j in run.columns.clone() {
                let contrast = given.contrast(k, j);
                if self.constant.binary_search(&j).is_ok() {
                    let unused = contrast.linear == 0.0 && contrast.square == 0.0;
                    note(&mut found.worst, if unused { 0.0 } else { 1.0 });
                    continue;
                }
                let (residual, constant) = self.column_residual(run.family, k, j, &contrast, given.centre(j));
                note(&mut found.worst, residual);
                found.constant.add(constant);
                found.size += constant.abs();
            }
        }
        found
    }

    /// The residual of the equations of a column, and what the column adds to the intercept at the centre.
    fn column_residual(&self, family: FamilyChoice, k: usize, j: usize, w: &Contrast, centre: f64) -> (f64, f64) {
        let statistics = self.statistics;
        let unused = if w.square == 0.0 || family == FamilyChoice::Gaussian { 0.0 } else { 1.0 };
        // e^w·from = to, or w·scale = difference.
        let odds = |from: f64, to: f64| {
            let moved = w.linear.exp() * from;
            ((moved - to).abs() / (moved.abs() + to.abs())).max(unused)
        };
        let equal = |a: f64, b: f64, size: f64| if size > 0.0 { (a - b).abs() / size } else { 0.0 };
        let (residual, at_origin) = match family {
            FamilyChoice::Gaussian | FamilyChoice::GaussianShared => {
                let residual = self.gaussian_residual(family, k, j, w, centre);
                return (residual.max(unused), self.gaussian_constant(k, j, centre));
            }
            FamilyChoice::Bernoulli | FamilyChoice::Binomial(_) => {
                let trials = if let FamilyChoice::Binomial(n) = family { f64::from(n) } else { 1.0 };
                let ((a, b), (c, d)) = (self.hits_and_misses(trials, k, j), self.hits_and_misses(trials, 0, j));
                (odds(c / d, a / b), trials * ((b / (a + b)).ln() - (d / (c + d)).ln()))
            }
            FamilyChoice::Poisson | FamilyChoice::Geometric | FamilyChoice::Exponential => {
                let overall = self.overall_mean(j);
                let (a, c) = (self.smoothed_mean(k, j, overall), self.smoothed_mean(0, j, overall));
                match family {
                    FamilyChoice::Poisson => (odds(c, a), c - a),
                    FamilyChoice::Geometric => (odds(c / (1.0 + c), a / (1.0 + a)), c.ln_1p() - a.ln_1p()),
                    _ => (equal(w.linear * a * c, a - c, a + c).max(unused), c.ln() - a.ln()),
                }
            }
            FamilyChoice::Multinomial => {
                let share = |k: usize| (statistics.total(k, j) + self.settings.smoothing) / self.multinomial_totals[k];
                (odds(share(0), share(k)), 0.0)
            }
            FamilyChoice::Categorical => {
                let cols = statistics.n_cols();
                (odds(self.first[j], self.first[k * cols + j]).max(self.share_residual(k, j)), 0.0)
            }
            FamilyChoice::Gamma => self.gamma_residual(k, j, w),
        };
        (residual, at_origin + w.linear * centre)
    }

    /// `n·share = count + α(1 − L·share)` of a level.
    fn share_residual(&self, k: usize, j: usize) -> f64 {
        let cols = self.statistics.n_cols();
        let levels = self.layout.runs().iter().find(|r| r.columns.contains(&j)).map_or(1, |r| r.columns.len()) as f64;
        let (n, alpha) = (self.statistics.weights()[k], self.settings.smoothing);
        let left = self.first[k * cols + j] * (n + alpha * levels);
        (left - self.statistics.total(k, j) - alpha).abs() / (left + f64::MIN_POSITIVE)
    }

    /// `w v_k = (μ_k−c) − (μ_0−c)v_k/v_0`, `2q v_k = v_k/v_0 − 1`, and the variance from its squares.
    fn gaussian_residual(&self, family: FamilyChoice, k: usize, j: usize, w: &Contrast, centre: f64) -> f64 {
        let (statistics, cols) = (self.statistics, self.statistics.n_cols());
        let spread = spread(statistics, j);
        let weights = statistics.weights();
        let variance = |k: usize| self.second[k * cols + j];
        let of_variance = |k: usize| {
            let (squares, divisor) = match family {
                FamilyChoice::Gaussian => (statistics.squares(k, j), self.divisor(weights[k], 1.0)),
                _ => (spread.within, self.divisor(weights.iter().sum(), weights.len() as f64)),
            };
            let added = self.added_variance(&spread);
            let own = variance(k) - added;
            (own * divisor.max(0.0) - squares).abs() / (squares + variance(k) * divisor.max(1.0))
        };
        let (a, b) = (variance(k), variance(0));
        let (u, v) = (statistics.mean(k, j) - centre, statistics.mean(0, j) - centre);
        let ratio = a / b;
        let linear = (w.linear * a - (u - v * ratio)).abs();
        let size = w.linear.abs() * a + u.abs() + v.abs() * ratio;
        let square = (2.0 * w.square * a - (ratio - 1.0)).abs() / (ratio + 1.0);
        let linear = if size > 0.0 { linear / size } else { 0.0 };
        linear.max(square).max(of_variance(k)).max(of_variance(0))
    }

    fn gaussian_constant(&self, k: usize, j: usize, centre: f64) -> f64 {
        let cols = self.statistics.n_cols();
        let value = |k: usize| {
            let variance = self.second[k * cols + j];
            -0.5 * (variance.ln() + (self.statistics.mean(k, j) - centre).powi(2) / variance)
        };
        value(k) - value(0)
    }

    /// The likelihood equations of both classes, and the weights that follow from their solutions.
    fn gamma_residual(&self, k: usize, j: usize, w: &Contrast) -> (f64, f64) {
        let cols = self.statistics.n_cols();
        let parameters = |k: usize| (self.first[k * cols + j], self.second[k * cols + j]);
        let ((a, b), (c, d)) = (parameters(k), parameters(0));
        let equation = |k: usize| {
            let (mean, spread) = self.gamma_spread(k, j);
            let (shape, rate) = parameters(k);
            let of_shape = (ln_minus_digamma(shape).0 - spread).abs() / (spread + f64::EPSILON * mean.ln().abs());
            of_shape.max((rate * mean - shape).abs() / shape)
        };
        let linear = (w.linear - (d - b)).abs() / (b + d);
        let logarithm = (w.logarithm - (a - c)).abs() / (a + c);
        let constant = |a: f64, b: f64| a * b.ln() - ln_gamma(a);
        (linear.max(logarithm).max(equation(k)).max(equation(0)), constant(a, b) - constant(c, d))
    }
}

impl Given<'_> {
    /// The weights of a column for class k less those for the first class.
    fn contrast(self, k: usize, j: usize) -> Contrast {
        let difference = |scores: usize, value: &dyn Fn(usize) -> f64| match scores {
            1 => value(0),
            _ => value(k) - value(0),
        };
        match self {
            Given::Linear(g) => {
                let linear = difference(g.n_scores(), &|s| g.weights_of(s)[j]);
                Contrast { linear, square: 0.0, logarithm: 0.0 }
            }
            Given::Generalised(g) => {
                let term = g.logarithms().binary_search_by_key(&j, |t| t.column).ok().map(|at| &g.logarithms()[at]);
                Contrast {
                    linear: difference(g.n_scores(), &|s| g.linear_of(s)[j]),
                    square: difference(g.n_scores(), &|s| g.square_of(s)[j]),
                    logarithm: term.map_or(0.0, |t| difference(g.n_scores(), &|s| t.weights[s])),
                }
            }
        }
    }

    fn centre(self, j: usize) -> f64 {
        match self {
            Given::Linear(g) => g.centre()[j],
            Given::Generalised(g) => g.centre()[j],
        }
    }

    fn intercept_at_centre(&self) -> &[f64] {
        match self {
            Given::Linear(g) => g.intercept_at_centre(),
            Given::Generalised(g) => g.intercept_at_centre(),
        }
    }
}
