//! Rows of one Gaussian, without classes.

use super::{Generator, Truth};
use crate::density::{Covariance, Densities, Density, Draws, Gaussian, Parameters, Sampler, default_features};
use crate::error::{Error, Result};
use crate::table::Class;

/// Rows of one normal distribution.
pub struct Population {
    mean: Vec<f64>,
    covariance: Covariance,
    features: Vec<String>,
    sampler: Sampler,
}

impl Population {
    /// Refuses what is no covariance, and names that do not fit.
    ///
    /// ```
    /// use linsep::density::Covariance;
    /// use linsep::sample::{Population, Simulation};
    /// let law = Population::new(vec![0.0, 0.0], Covariance::Shared(vec![vec![0.9, 0.4], vec![0.4, 0.3]]), Vec::new())?;
    /// let (rows, _) = Simulation::new(Box::new(law), 3, 0)?.draw();
    /// assert_eq!(rows.len(), 6);
    /// # Ok::<(), linsep::Error>(())
    /// ```
    pub fn new(mean: Vec<f64>, covariance: Covariance, features: Vec<String>) -> Result<Population> {
        let features = if features.is_empty() { default_features(mean.len()) } else { features };
        if features.len() != mean.len() {
            return Err(Error::data(format!("{} names of features for {} columns", features.len(), mean.len()))
                .help("give one for every column")
                .help("leave `features` out"));
        }
        let covariance = match covariance {
            Covariance::Own(mut matrices) if matrices.len() == 1 => Covariance::Shared(matrices.swap_remove(0)),
            Covariance::Own(matrices) => {
                return Err(Error::data(format!("{} covariances for one population", matrices.len()))
                    .help("give one `covariance`"));
            }
            one => one,
        };
        // Twice the same class: a row has one law whichever is drawn.
        let means = vec![mean.clone(), mean.clone()];
        let density = Density::Gaussian(Gaussian { means, covariance: covariance.clone() });
        let densities = Densities { priors: vec![0.5, 0.5], density };
        densities.check(&["0".into(), "1".into()])?;
        Ok(Population { mean, covariance, features, sampler: Sampler::new(&densities)? })
    }
}

impl Generator for Population {
    fn kind(&self) -> &str {
        "population"
    }

    fn cols(&self) -> usize {
        self.mean.len()
    }

    fn classes(&self) -> Vec<String> {
        Vec::new()
    }

    fn features(&self) -> Vec<String> {
        self.features.clone()
    }

    fn fill(&self, _first: u64, draws: &mut Draws, values: &mut [f64], classes: &mut [Class]) {
        classes.fill(Class(0));
        values.chunks_exact_mut(self.cols()).for_each(|row| self.sampler.draw_row_of(0, draws, row));
    }

    fn truth(&self, _seed: u64) -> Result<Truth> {
        let mut parameters = Parameters { means: Some(vec![self.mean.clone()]), ..Parameters::default() };
        match &self.covariance {
            Covariance::Spherical(variance) => parameters.variance = Some(*variance),
            Covariance::Shared(matrix) => parameters.covariance = Some(matrix.clone()),
            Covariance::Own(matrices) => parameters.covariances = Some(matrices.clone()),
        }
        Ok(Truth { parameters, ..Truth::default() })
    }
}
