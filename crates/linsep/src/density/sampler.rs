//! Rows drawn from the classes.

use super::prepared::PreparedDensity;
use super::{Densities, Draws};
use crate::error::Result;

/// Rows drawn from one random stream. Blocks do not depend on which thread draws them or in what order; a change of the size
/// changes simulated data.
pub const DRAW_BLOCK: usize = 1024;

/// Densities made ready to draw rows from.
///
/// ```
/// use linsep::density::{Covariance, Densities, Density, Draws, Gaussian, Sampler};
/// let gaussian = Gaussian { means: vec![vec![-50.0], vec![50.0]], covariance: Covariance::Spherical(1.0) };
/// let classes = Densities { priors: vec![0.5, 0.5], density: Density::Gaussian(gaussian) };
/// let mut row = [0.0];
/// let class = Sampler::new(&classes)?.draw(&mut Draws::new(1, 0), &mut row);
/// assert_eq!(class == 1, row[0] > 0.0);
/// # Ok::<(), linsep::Error>(())
/// ```
pub struct Sampler {
    /// Running sums of the priors.
    cumulative: Vec<f64>,
    cols: usize,
    prepared: PreparedDensity,
}

impl Sampler {
    /// Refuses densities that are none (see [`Densities::check`]); a shared covariance may be singular.
    pub fn new(densities: &Densities) -> Result<Sampler> {
        let prepared = PreparedDensity::new(densities)?;
        let running = |sum: &mut f64, p: &f64| {
            *sum += p;
            Some(*sum)
        };
        let cumulative = densities.priors.iter().scan(0.0, running).collect();
        Ok(Sampler { cumulative, cols: densities.n_features(), prepared })
    }

    /// Columns of a row.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Draws a class by the priors and fills a row of it.
    pub fn draw(&self, draws: &mut Draws, row: &mut [f64]) -> usize {
        let class = draws.index(&self.cumulative);
        self.draw_of(class, draws, &mut Vec::new(), row);
        class
    }

    /// Fills a row of a given class.
    pub fn draw_row_of(&self, class: usize, draws: &mut Draws, row: &mut [f64]) {
        self.draw_of(class, draws, &mut Vec::new(), row);
    }

    /// Draws classes and rows one after the other, telling the class of each.
    pub fn draw_rows(&self, draws: &mut Draws, rows: &mut [f64], mut tell: impl FnMut(usize)) {
        let mut normals = Vec::with_capacity(self.cols);
        for row in rows.chunks_exact_mut(self.cols) {
            let class = draws.index(&self.cumulative);
            self.draw_of(class, draws, &mut normals, row);
            tell(class);
        }
    }

    fn draw_of(&self, class: usize, draws: &mut Draws, normals: &mut Vec<f64>, row: &mut [f64]) {
        match &self.prepared {
            PreparedDensity::Gaussian(gaussian) => gaussian.draw(class, draws, normals, row),
            PreparedDensity::Independent(marginals) => marginals.iter().for_each(|m| m.draw(class, draws, row)),
        }
    }
}
