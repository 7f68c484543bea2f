//! Densities checked and made ready: covariances are factored once.

use super::check::numbered;
use super::gaussian::FactoredCovariance;
use super::{Densities, Density, Marginal};
use crate::error::Result;

/// What evaluating and drawing start from.
pub(super) enum PreparedDensity {
    Gaussian(FactoredCovariance),
    Independent(Vec<Marginal>),
}

impl PreparedDensity {
    pub fn new(densities: &Densities) -> Result<PreparedDensity> {
        let classes = numbered(densities.n_classes());
        densities.check_parts(&classes)?;
        Ok(match &densities.density {
            Density::Gaussian(gaussian) => PreparedDensity::Gaussian(FactoredCovariance::new(gaussian, &classes)?),
            Density::Independent { marginals } => PreparedDensity::Independent(marginals.clone()),
        })
    }
}
