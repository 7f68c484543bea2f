//! Densities, posteriors and distances of given rows.

use super::prepared::PreparedDensity;
use super::{Densities, Density};
use crate::error::{Error, Result};
use crate::numeric::{SoftmaxRow, softmax_rows};

/// Densities made ready to be evaluated on many rows: covariances are factored once.
///
/// ```
/// use linsep::density::{Covariance, Densities, Density, Gaussian, Likelihood};
/// let gaussian = Gaussian { means: vec![vec![0.0], vec![2.0]], covariance: Covariance::Spherical(1.0) };
/// let classes = Densities { priors: vec![0.5, 0.5], density: Density::Gaussian(gaussian) };
/// let likelihood = Likelihood::new(&classes)?;
/// assert_eq!(likelihood.posterior(&[1.0]), [0.5, 0.5]);
/// assert_eq!(likelihood.squared_distances(&[0.5]), Some(vec![0.25, 2.25]));
/// assert!((likelihood.log_odds(&[3.0], 1, 0) - 4.0).abs() < 1e-12);
/// # Ok::<(), linsep::Error>(())
/// ```
pub struct Likelihood {
    log_priors: Vec<f64>,
    prepared: PreparedDensity,
}

impl Likelihood {
    /// Refuses densities that are none (see [`Densities::check`]); a shared covariance may be singular, and densities
    /// are then those within its range.
    pub fn new(densities: &Densities) -> Result<Likelihood> {
        let prepared = PreparedDensity::new(densities)?;
        Ok(Likelihood { log_priors: densities.priors.iter().map(|p| p.ln()).collect(), prepared })
    }

    /// `log p(x | k)` for every class; −∞ where the class cannot have made the row.
    pub fn log_densities(&self, row: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.log_priors.len()];
        self.log_densities_of(row, 1, &mut out);
        out
    }

    /// `P(k | x)` for every class; NaN where no class can have made the row.
    pub fn posterior(&self, row: &[f64]) -> Vec<f64> {
        let mut joint = self.log_joint(row);
        softmax_rows(joint.len(), &mut joint, &mut [SoftmaxRow { max: 0.0, log_sum: 0.0 }]);
        joint
    }

    /// `log P(a | x)/P(b | x)`.
    pub fn log_odds(&self, row: &[f64], a: usize, b: usize) -> f64 {
        let joint = self.log_joint(row);
        joint[a] - joint[b]
    }

    /// `r_k² = (x−μ_k)ᵀΣ_k⁻¹(x−μ_k)` for every class; `None` unless the classes are Gaussian.
    pub fn squared_distances(&self, row: &[f64]) -> Option<Vec<f64>> {
        let PreparedDensity::Gaussian(gaussian) = &self.prepared else { return None };
        let (mut tile, mut out) = (Vec::new(), Vec::new());
        let one = |k: usize| {
            gaussian.squared_distances(k, row, &mut tile, &mut out);
            out[0]
        };
        Some((0..self.log_priors.len()).map(one).collect())
    }

    fn log_joint(&self, row: &[f64]) -> Vec<f64> {
        let densities = self.log_densities(row);
        densities.iter().zip(&self.log_priors).map(|(d, p)| d + p).collect()
    }

    /// `P(k | x)` of every row of a tile, row by row.
    pub fn posteriors(&self, rows: &[f64], count: usize) -> Vec<f64> {
        let classes = self.log_priors.len();
        let mut joint = vec![0.0; count * classes];
        self.log_densities_of(rows, count, &mut joint);
        joint.iter_mut().enumerate().for_each(|(i, z)| *z += self.log_priors[i % classes]);
        softmax_rows(classes, &mut joint, &mut vec![SoftmaxRow { max: 0.0, log_sum: 0.0 }; count]);
        joint
    }

    /// `1 − max_k P(k | x)` of every row of a tile, without the cancellation.
    pub(super) fn conditional_errors(&self, rows: &[f64], count: usize) -> Vec<f64> {
        let classes = self.log_priors.len();
        let mut joint = vec![0.0; count * classes];
        self.log_densities_of(rows, count, &mut joint);
        joint.iter_mut().enumerate().for_each(|(i, z)| *z += self.log_priors[i % classes]);
        let mut sums = vec![SoftmaxRow { max: 0.0, log_sum: 0.0 }; count];
        softmax_rows(classes, &mut joint, &mut sums);
        sums.iter().map(|row| -f64::exp_m1(-row.log_sum)).collect()
    }

    fn log_densities_of(&self, rows: &[f64], count: usize, out: &mut [f64]) {
        let classes = self.log_priors.len();
        match &self.prepared {
            PreparedDensity::Gaussian(gaussian) => {
                let (mut tile, mut squares) = (Vec::new(), Vec::new());
                for k in 0..classes {
                    gaussian.squared_distances(k, rows, &mut tile, &mut squares);
                    let peak = gaussian.log_peak(k);
                    for (out, square) in out[k..].iter_mut().step_by(classes).zip(&squares) {
                        *out = peak - 0.5 * square;
                    }
                }
            }
            PreparedDensity::Independent(marginals) => {
                let cols = rows.len() / count.max(1);
                for (row, out) in rows.chunks_exact(cols.max(1)).zip(out.chunks_exact_mut(classes)) {
                    let one = |k: usize| marginals.iter().map(|m| m.log_density(row, k)).sum::<f64>();
                    out.iter_mut().enumerate().for_each(|(k, out)| *out = one(k));
                }
            }
        }
    }
}

impl Densities {
    /// `log p(x | k)` for every class. For many rows prepare a [`Likelihood`].
    pub fn log_densities(&self, row: &[f64]) -> Result<Vec<f64>> {
        self.check_width(row)?;
        Ok(Likelihood::new(self)?.log_densities(row))
    }

    /// `P(k | x)` for every class. For many rows prepare a [`Likelihood`].
    pub fn posterior(&self, row: &[f64]) -> Result<Vec<f64>> {
        self.check_width(row)?;
        Ok(Likelihood::new(self)?.posterior(row))
    }

    /// `r_k²` for every class where they are Gaussian. For many rows prepare a [`Likelihood`].
    pub fn mahalanobis(&self, row: &[f64]) -> Result<Option<Vec<f64>>> {
        self.check_width(row)?;
        Ok(Likelihood::new(self)?.squared_distances(row))
    }

    /// Distances between the means of Gaussian classes, `√((μ_i−μ_j)ᵀΣ_i⁻¹(μ_i−μ_j))`: row i is measured by the
    /// covariance of class i, so the table is symmetric where they share one. `None` unless the classes are Gaussian.
    pub fn mean_distances(&self) -> Result<Option<Vec<Vec<f64>>>> {
        let Density::Gaussian(gaussian) = &self.density else { return Ok(None) };
        let likelihood = Likelihood::new(self)?;
        let columns: Vec<Vec<f64>> =
            gaussian.means.iter().filter_map(|mean| likelihood.squared_distances(mean)).collect();
        let classes = 0..columns.len();
        Ok(Some(classes.clone().map(|i| classes.clone().map(|j| columns[j][i].sqrt()).collect()).collect()))
    }

    fn check_width(&self, row: &[f64]) -> Result<()> {
        let cols = self.n_features();
        if row.len() != cols {
            return Err(Error::data(format!("a row of {} numbers, not {cols}", row.len())));
        }
        Ok(())
    }
}
