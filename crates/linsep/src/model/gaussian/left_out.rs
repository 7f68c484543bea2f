//! LDA without each row in turn, by a formula.
//!
//! Leaving a row of weight s out of class k moves that class's mean by `s/(n_k−s)·v`, `v = x − μ_k`, and takes one outer product
//! from the scatter: `W − b·vvᵀ` with `b = s·n_k/(n_k−s)`. Distances by its inverse follow from those by `W⁻¹` (Sherman and
//! Morrison): `δᵀW⁻¹δ + b(vᵀW⁻¹δ)²/(1 − b·vᵀW⁻¹v)`. A shrunk covariance changes in its units and its trace as well, and is
//! factored anew for each row.

use super::problem::{ALIAS_TOLERANCE, GaussianProblem};
use super::{CovarianceShape, Divisor, GaussianBayes, Shrinkage};
use crate::design::{Standardize, Training, Units};
use crate::error::Result;
use crate::linalg::{Factor, Square, dot, factor};
use crate::model::left_out::{LEFT, RowsLeftOut, for_rows};
use crate::watch::Watch;

/// Class moments of all rows, in units in which every column has variance one.
struct WholeClasses<'a> {
    method: &'a GaussianBayes,
    weights: Vec<f64>,
    total: f64,
    scatter: Square,
    /// `(μ_k − μ̄)` of each class.
    means: Vec<Vec<f64>>,
    /// Columns that vary.
    used: Vec<usize>,
    units: Units,
}

impl GaussianBayes {
    /// Scores of every row by the fit without it.
    pub(in crate::model) fn left_out(&self, training: &Training<'_>, watch: &Watch) -> Result<Option<RowsLeftOut>> {
        let plain = self.known.is_none() && self.shrinkage != Shrinkage::LedoitWolf;
        if self.shape != CovarianceShape::Shared || !plain {
            return Ok(None);
        }
        let problem = GaussianProblem::of(self, training, watch)?;
        let whole = WholeClasses::of(self, &problem);
        let lightest = training.weights.map_or(1.0, |w| w.iter().copied().fold(f64::INFINITY, f64::min));
        let few = self.shrinkage == Shrinkage::None && whole.used.len() as f64 > whole.divisor(lightest);
        // Which columns agree, and whether rows are enough, may differ without a row.
        if !problem.agreeing.is_empty() || few || !(whole.divisor(lightest) > 0.0) {
            return Ok(None);
        }
        let shared = (self.shrinkage == Shrinkage::None).then(|| factor(&whole.scatter, ALIAS_TOLERANCE));
        if shared.as_ref().is_some_and(|f| f.rank() < whole.used.len()) {
            return Ok(None);
        }
        let whitened: Vec<Vec<f64>> = match &shared {
            Some(factor) => whole.means.iter().map(|m| factor.whiten(m)).collect(),
            None => Vec::new(),
        };
        let scores = if whole.weights.len() == 2 { 1 } else { whole.weights.len() };
        let of_row = |row: usize, u: &[f64], out: &mut [f64]| {
            let s = training.weights.map_or(1.0, |w| w[row]);
            let class = training.labels.codes()[row].index();
            if !(whole.weights[class] - s > LEFT * s) || !(whole.divisor(s) > 0.0) {
                return false;
            }
            let found = match &shared {
                Some(factor) => whole.by_formula((factor, &whitened), (s, class), u),
                None => whole.anew((s, class), u),
            };
            found.is_some_and(|found| whole.scores(&found, (s, class), out))
        };
        for_rows(training.design, &whole.units, scores, watch, of_row).map(Some)
    }
}

/// Squared distances of a row from the means of the classes, and from the mean of all, without it.
struct RowDistances {
    classes: Vec<f64>,
    centre: f64,
}

impl<'a> WholeClasses<'a> {
    fn of(method: &'a GaussianBayes, problem: &GaussianProblem) -> WholeClasses<'a> {
        let (moments, cols) = (&problem.moments, problem.scale.len());
        let (weights, total) = (moments.weights().to_vec(), moments.weights().iter().sum::<f64>());
        let away = |k: usize, j: usize| moments.mean(k)[j] - problem.centre[j];
        let scatter = moments.scatter();
        let used: Vec<usize> = (0..cols).filter(|j| problem.constant.binary_search(j).is_err()).collect();
        let mut scale = vec![1.0; cols];
        for j in &used {
            let between = (0..weights.len()).map(|k| weights[k] * away(k, *j).powi(2)).sum::<f64>();
            scale[*j] = ((scatter.get(*j, *j) + between) / total).sqrt();
        }
        let mut scaled = Square::from_lower(cols, |i, j| scatter.get(i, j) / (scale[i] * scale[j]));
        scaled.keep_only(&used);
        let mean = |k: usize| {
            (0..cols).map(|j| if used.binary_search(&j).is_ok() { away(k, j) / scale[j] } else { 0.0 }).collect()
        };
        let means = (0..weights.len()).map(mean).collect();
        let units = Units::new(problem.centre.clone(), scale);
        WholeClasses { method, weights, total, scatter: scaled, means, used, units }
    }

    /// The divisor of the covariance without a row of this weight.
    fn divisor(&self, s: f64) -> f64 {
        match self.method.divisor {
            Divisor::Mle => self.total - s,
            Divisor::Unbiased => self.total - s - self.weights.len() as f64,
        }
    }

    /// What leaving a row out of its class takes from the scatter.
    fn taken(&self, s: f64, class: usize) -> f64 {
        s * self.weights[class] / (self.weights[class] - s)
    }

    /// How far a row is from the mean of class `k`, for its own class without it.
    fn grown(&self, s: f64, class: usize, k: usize) -> f64 {
        if k == class { self.weights[class] / (self.weights[class] - s) } else { 1.0 }
    }

    fn by_formula(
        &self,
        (factor, means): (&Factor, &[Vec<f64>]),
        (s, class): (f64, usize),
        u: &[f64],
    ) -> Option<RowDistances> {
        let (row, taken) = (factor.whiten(u), self.taken(s, class));
        let own: Vec<f64> = row.iter().zip(&means[class]).map(|(x, m)| x - m).collect();
        let left = 1.0 - taken * dot(&own, &own);
        if !(left > LEFT) {
            return None;
        }
        let divisor = self.divisor(s);
        let distance = |away: &[f64], grown: f64| {
            let along = dot(&own, away);
            divisor * grown * grown * (dot(away, away) + taken * along * along / left)
        };
        let to_class = |k: usize| {
            let away: Vec<f64> = row.iter().zip(&means[k]).map(|(x, m)| x - m).collect();
            distance(&away, self.grown(s, class, k))
        };
        let classes = (0..means.len()).map(to_class).collect();
        Some(RowDistances { classes, centre: distance(&row, self.total / (self.total - s)) })
    }

    /// By the covariance without the row, shrunk and factored.
    fn anew(&self, (s, class): (f64, usize), u: &[f64]) -> Option<RowDistances> {
        let Shrinkage::Fixed(intensity) = self.method.shrinkage else { return None };
        let (taken, rest) = (self.taken(s, class), self.total - s);
        let mut row = vec![0.0; u.len()];
        self.used.iter().for_each(|j| row[*j] = u[*j]);
        let own: Vec<f64> = row.iter().zip(&self.means[class]).map(|(x, m)| x - m).collect();
        // Standard deviations without the row, over those with it; or one over these where columns are taken as they are.
        let mut scale = vec![1.0; u.len()];
        for j in &self.used {
            let variance = (self.total - s * self.total / rest * row[*j] * row[*j]) / rest;
            if !(variance > LEFT) {
                return None;
            }
            scale[*j] = match self.method.standardize {
                Standardize::Yes => variance.sqrt(),
                Standardize::No => self.units.scale()[*j].recip(),
            };
        }
        let divisor = self.divisor(s);
        let entry = |i: usize, j: usize| {
            (self.scatter.get(i, j) - taken * own[i] * own[j]) / (divisor * scale[i] * scale[j]) * (1.0 - intensity)
        };
        let mut covariance = Square::from_lower(u.len(), entry);
        covariance.keep_only(&self.used);
        let plain =
            |j: &usize| (self.scatter.get(*j, *j) - taken * own[*j] * own[*j]) / (divisor * scale[*j] * scale[*j]);
        let mean = self.used.iter().map(plain).sum::<f64>() / self.used.len() as f64;
        self.used.iter().for_each(|j| *covariance.at(*j, *j) += intensity * mean);
        let factor = factor(&covariance, ALIAS_TOLERANCE);
        if factor.rank() < self.used.len() {
            return None;
        }
        let distance = |away: &dyn Fn(usize) -> f64, grown: f64| {
            let away: Vec<f64> = (0..u.len()).map(|j| away(j) / scale[j]).collect();
            grown * grown * factor.whiten(&away).iter().map(|x| x * x).sum::<f64>()
        };
        let to_class = |k: usize| distance(&|j| row[j] - self.means[k][j], self.grown(s, class, k));
        let classes = (0..self.means.len()).map(to_class).collect();
        Some(RowDistances { classes, centre: distance(&|j| row[j], self.total / rest) })
    }

    /// Scores as [`super::shared`] has them: relative to the mean of all, of two classes the difference.
    fn scores(&self, found: &RowDistances, (s, class): (f64, usize), out: &mut [f64]) -> bool {
        let prior = |k: usize| match &self.method.priors {
            Some(given) => given[k],
            None => (self.weights[k] - if k == class { s } else { 0.0 }) / (self.total - s),
        };
        let log_prior = |k: usize| prior(k).ln();
        if let [score] = out {
            *score = 0.5 * (found.classes[0] - found.classes[1]) + log_prior(1) - log_prior(0);
        } else {
            let scores = out.iter_mut().enumerate();
            scores.for_each(|(k, g)| *g = 0.5 * (found.centre - found.classes[k]) + log_prior(k));
        }
        true
    }
}
