//! Gaussian classes with their covariances factored.

use super::{Covariance, Draws, Gaussian};
use crate::error::{Error, Result};
use crate::linalg::Factor;
use crate::words::{Span, words};

/// What evaluating and drawing need of Gaussian classes.
pub(super) struct FactoredCovariance {
    means: Vec<Vec<f64>>,
    spread: GaussianSpread,
}

enum GaussianSpread {
    /// The standard deviation of every column.
    Spherical(f64),
    Shared(Factor),
    Own(Vec<Factor>),
}

impl FactoredCovariance {
    /// A shared covariance may be singular: rows then lie in a subspace, and densities are those within it. Own ones may
    /// only have columns that are constant in all classes, because densities within different subspaces cannot be
    /// compared.
    pub fn new(gaussian: &Gaussian, classes: &[String]) -> Result<FactoredCovariance> {
        let mut factors = gaussian.factors(classes)?;
        let spread = match &gaussian.covariance {
            Covariance::Spherical(variance) => GaussianSpread::Spherical(variance.sqrt()),
            Covariance::Shared(_) => GaussianSpread::Shared(factors.remove(0)),
            Covariance::Own(_) => {
                let constant = |column: usize| gaussian.means.iter().all(|m| m[column] == gaussian.means[0][column]);
                let same = factors.iter().all(|f| f.kept() == factors[0].kept());
                let singular = |(k, f): (usize, &Factor)| {
                    let alias = f.aliased().iter().find(|a| !(same && a.combination.is_empty() && constant(a.column)));
                    alias.map(|alias| (k, alias.column))
                };
                if let Some((k, column)) = factors.iter().enumerate().find_map(singular) {
                    let class = Span::Class(classes[k].clone());
                    return Err(Error::data(words![
                        "the covariance of ",
                        class,
                        " is singular at ",
                        Span::Column(column),
                    ])
                    .help("leave the column out")
                    .help("shrink the covariance"));
                }
                GaussianSpread::Own(factors)
            }
        };
        Ok(FactoredCovariance { means: gaussian.means.clone(), spread })
    }

    fn cols(&self) -> usize {
        self.means[0].len()
    }

    /// `r_k² = (x−μ_k)ᵀΣ_k⁻¹(x−μ_k)` of every row of a tile for one class.
    pub fn squared_distances(&self, k: usize, rows: &[f64], tile: &mut Vec<f64>, out: &mut Vec<f64>) {
        tile.clear();
        for row in rows.chunks_exact(self.cols()) {
            tile.extend(row.iter().zip(&self.means[k]).map(|(x, m)| x - m));
        }
        match &self.spread {
            GaussianSpread::Spherical(sd) => {
                out.clear();
                out.extend(tile.chunks_exact(self.cols()).map(|x| x.iter().map(|v| (v / sd).powi(2)).sum::<f64>()));
            }
            GaussianSpread::Shared(factor) => factor.inverse_norms(tile, out),
            GaussianSpread::Own(factors) => factors[k].inverse_norms(tile, out),
        }
    }

    /// `log N(μ_k; μ_k, Σ_k)`, what the log density is at the mean.
    pub fn log_peak(&self, k: usize) -> f64 {
        let (rank, log_determinant) = match &self.spread {
            GaussianSpread::Spherical(sd) => (self.cols(), 2.0 * sd.ln() * self.cols() as f64),
            GaussianSpread::Shared(factor) => (factor.rank(), factor.log_determinant()),
            GaussianSpread::Own(factors) => (factors[k].rank(), factors[k].log_determinant()),
        };
        -0.5 * (rank as f64 * (2.0 * std::f64::consts::PI).ln() + log_determinant)
    }

    /// `Σ⁻¹(μ_a − μ_b)` where the classes share a covariance.
    pub fn whitened_difference(&self, a: usize, b: usize) -> Option<Vec<f64>> {
        let difference: Vec<f64> = self.means[a].iter().zip(&self.means[b]).map(|(x, y)| x - y).collect();
        match &self.spread {
            GaussianSpread::Spherical(sd) => Some(difference.iter().map(|v| v / (sd * sd)).collect()),
            GaussianSpread::Shared(factor) => Some(factor.solve(&difference)),
            GaussianSpread::Own(_) => None,
        }
    }

    /// A row of class k.
    pub fn draw(&self, k: usize, draws: &mut Draws, normals: &mut Vec<f64>, row: &mut [f64]) {
        let factor = match &self.spread {
            GaussianSpread::Spherical(sd) => {
                row.iter_mut().zip(&self.means[k]).for_each(|(x, m)| *x = m + sd * draws.normal());
                return;
            }
            GaussianSpread::Shared(factor) => factor,
            GaussianSpread::Own(factors) => &factors[k],
        };
        normals.clear();
        normals.extend((0..factor.rank()).map(|_| draws.normal()));
        factor.multiply_lower(normals, row);
        row.iter_mut().zip(&self.means[k]).for_each(|(x, m)| *x += m);
    }
}
