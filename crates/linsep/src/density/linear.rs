//! The best rule as a linear function of the row, where it is one.

use super::check::numbered;
use super::gaussian::FactoredCovariance;
use super::{Densities, Density, Family, Gaussian, Marginal};
use crate::error::Result;
use serde::{Deserialize, Serialize};

/// Discriminants `g_k(x) = w_k·x + w_k0` whose largest names the most probable class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinearForm {
    /// Two classes: one row, the log-odds of the second. More: one row per class.
    pub weights: Vec<Vec<f64>>,
    /// One for each row of the weights.
    pub intercept: Vec<f64>,
}

/// Weights and intercept of every class.
type Forms = (Vec<Vec<f64>>, Vec<f64>);

impl Densities {
    /// The discriminants of the best rule, up to what is common to all classes: Gaussian classes that share a
    /// covariance (taken about the mean of all rows, as LDA does) and independent columns of exponential families.
    /// `None` where the rule is not linear, or a weight is infinite.
    #[doc(hidden)]
    pub fn linear_form(&self) -> Result<Option<LinearForm>> {
        self.check_parts(&numbered(self.n_classes()))?;
        let form = match &self.density {
            Density::Gaussian(gaussian) => self.gaussian_form(gaussian)?,
            Density::Independent { marginals } => self.independent_form(marginals),
        };
        let form = form.map(|(weights, intercept)| as_log_odds(weights, intercept));
        Ok(form.filter(|f| f.weights.iter().flatten().chain(&f.intercept).all(|v| v.is_finite())))
    }

    fn gaussian_form(&self, gaussian: &Gaussian) -> Result<Option<Forms>> {
        let factored = FactoredCovariance::new(gaussian, &numbered(self.n_classes()))?;
        let classes = self.n_classes();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let differences: Option<Vec<Vec<f64>>> = (0..classes).map(|k| factored.whitened_difference(k, 0)).collect();
        let Some(from_first) = differences else { return Ok(None) };
        let cols = self.n_features();
        // About the mean of all rows: w_k = Σ⁻¹(μ_k − μ̄), and Σ⁻¹μ̄ need not be formed where columns are large.
        let average = |rows: &[Vec<f64>], j: usize| self.priors.iter().zip(rows).map(|(p, r)| p * r[j]).sum::<f64>();
        let shift: Vec<f64> = (0..cols).map(|j| average(&from_first, j)).collect();
        let centre: Vec<f64> = (0..cols).map(|j| average(&gaussian.means, j)).collect();
        let weights: Vec<Vec<f64>> =
            from_first.iter().map(|w| w.iter().zip(&shift).map(|(w, s)| w - s).collect()).collect();
        let at_origin = |k: usize| {
            // log π_k − ½(μ_k−μ̄)·w_k − μ̄·w_k.
            let middle: Vec<f64> = gaussian.means[k].iter().zip(&centre).map(|(m, c)| 0.5 * (m + c)).collect();
            self.priors[k].ln() - dot(&weights[k], &middle)
        };
        let intercept = (0..classes).map(at_origin).collect();
        Ok(Some((weights, intercept)))
    }

    /// Weights and intercept of every class for independent columns, of a matrix that may have more; `None` where a log density
    /// has terms other than x.
    pub(crate) fn class_forms(&self, columns: usize) -> Option<(Vec<Vec<f64>>, Vec<f64>)> {
        let Density::Independent { marginals } = &self.density else { return None };
        let mut weights = vec![vec![0.0; columns]; self.n_classes()];
        let mut intercept: Vec<f64> = self.priors.iter().map(|p| p.ln()).collect();
        for marginal in marginals {
            for k in 0..self.n_classes() {
                intercept[k] += marginal.add_linear(k, &mut weights[k])?;
            }
        }
        let finite = weights.iter().flatten().chain(&intercept).all(|v| v.is_finite());
        finite.then_some((weights, intercept))
    }

    fn independent_form(&self, marginals: &[Marginal]) -> Option<Forms> {
        let mut weights = vec![vec![0.0; self.n_features()]; self.n_classes()];
        let mut intercept: Vec<f64> = self.priors.iter().map(|p| p.ln()).collect();
        for marginal in marginals {
            for k in 0..self.n_classes() {
                intercept[k] += marginal.add_linear(k, &mut weights[k])?;
            }
        }
        Some((weights, intercept))
    }
}

/// For two classes the difference.
fn as_log_odds(weights: Vec<Vec<f64>>, intercept: Vec<f64>) -> LinearForm {
    if let ([first, second], [a, b]) = (&weights[..], &intercept[..]) {
        let difference = first.iter().zip(second).map(|(a, b)| b - a).collect();
        return LinearForm { weights: vec![difference], intercept: vec![b - a] };
    }
    LinearForm { weights, intercept }
}

impl Marginal {
    /// Adds the weights of its columns for class k and returns the intercept, leaving out what all classes share.
    /// `None` where the log density has another term that the classes do not share.
    fn add_linear(&self, k: usize, weights: &mut [f64]) -> Option<f64> {
        let equal = |v: &[f64]| v.iter().all(|x| *x == v[0]);
        let (weight, constant) = match &self.family {
            Family::Constant { .. } => (0.0, 0.0),
            Family::Gaussian { mean, variance } if equal(variance) => {
                (mean[k] / variance[k], -0.5 * mean[k] * mean[k] / variance[k])
            }
            Family::Bernoulli { p } => (p[k].ln() - (-p[k]).ln_1p(), (-p[k]).ln_1p()),
            Family::Poisson { rate } => (rate[k].ln(), -rate[k]),
            Family::Exponential { rate } => (-rate[k], rate[k].ln()),
            Family::Geometric { p } => ((-p[k]).ln_1p(), p[k].ln()),
            Family::Gamma { shape, rate } if equal(shape) => (-rate[k], shape[k] * rate[k].ln()),
            Family::Binomial { trials, p } => (p[k].ln() - (-p[k]).ln_1p(), *trials as f64 * (-p[k]).ln_1p()),
            Family::Categorical { shares } | Family::Multinomial { shares, .. } => {
                self.columns.iter().zip(&shares[k]).for_each(|(c, p)| weights[*c] = p.ln());
                return Some(0.0);
            }
            Family::Gaussian { .. } | Family::Gamma { .. } => return None,
        };
        weights[self.columns[0]] = weight;
        Some(constant)
    }
}
