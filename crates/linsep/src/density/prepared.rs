//! Densities checked and made ready: covariances are factored once.

use super::check::numbered;
use super::gaussian::Factored;
use super::{Densities, Density, Marginal};
use crate::error::Result;

/// What evaluating and drawing start from.
pub(super) enum Prepared {
    Gaussian(Factored),
    Independent(Vec<Marginal>),
}

impl Prepared {
    pub fn new(densities: &Densities) -> Result<Prepared> {
        let classes = numbered(densities.n_classes());
        densities.check_parts(&classes)?;
        Ok(match &densities.density {
            Density::Gaussian(gaussian) => Prepared::Gaussian(Factored::new(gaussian, &classes)?),
            Density::Independent { marginals } => Prepared::Independent(marginals.clone()),
        })
    }
}
