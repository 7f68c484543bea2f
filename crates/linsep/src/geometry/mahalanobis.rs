//! `r_k² = (x−μ_k)ᵀΣ_k⁻¹(x−μ_k)`.

use crate::density::{Covariance, Densities, Density};
use crate::design::Design;
use crate::discriminant::{Discriminant, Quadratic};
use crate::error::{Error, Result};
use crate::linalg::{Square, factor};
use crate::watch::Watch;

/// Columns that are combinations of others were left out of the model by the same tolerance.
const ALIAS_TOLERANCE: f64 = 1e-12;

/// Squared Mahalanobis distances of every row to every class, row by row; an error for a model that states no Gaussian
/// classes.
pub fn mahalanobis(
    discriminant: &Discriminant,
    density: Option<&Densities>,
    design: &dyn Design,
    watch: &Watch,
) -> Result<Vec<f64>> {
    if let Discriminant::Quadratic(quadratic) = discriminant {
        return quadratic.distances(design, watch);
    }
    let Some(Density::Gaussian(gaussian)) = density.map(|d| &d.density) else {
        return Err(Error::model(
            "Mahalanobis distances are not defined for this model: it states no Gaussian classes",
        )
        .help("fit lda, qda or spherical"));
    };
    let d = discriminant.n_cols();
    let whitening = |rows: &Vec<Vec<f64>>| {
        let a = factor(&Square::from_lower(d, |i, j| rows[i][j]), ALIAS_TOLERANCE).whitening();
        (0..d).flat_map(|i| a[i * d..=i * d + i].to_vec()).collect::<Vec<f64>>()
    };
    let classes = gaussian.means.len();
    let triangles: Vec<f64> = match &gaussian.covariance {
        Covariance::Spherical(variance) => {
            let triangle =
                (0..d).flat_map(|i| (0..=i).map(move |j| if i == j { variance.sqrt().recip() } else { 0.0 }));
            triangle.collect::<Vec<f64>>().repeat(classes)
        }
        Covariance::Shared(rows) => whitening(rows).repeat(classes),
        Covariance::Own(matrices) => matrices.iter().flat_map(whitening).collect(),
    };
    Quadratic::new(gaussian.means.concat(), triangles, vec![0.0; classes])?.distances(design, watch)
}
