//! Labels without noise: the side of a given plane that a row is on.

use super::law::Features;
use super::logistic::{check_plane, check_width, score};
use super::{FeatureLaw, Generator, OwnRows, Truth};
use crate::density::{Draws, LinearForm, default_classes};
use crate::error::{Error, Result};
use crate::table::Class;

/// Features of some law, and the class `1` where `w·x + w₀ > 0`, else `0`.
pub struct PlaneLabels {
    weights: Vec<f64>,
    intercept: f64,
    features: Features,
}

impl PlaneLabels {
    /// Refuses weights that are all zero or not finite, and laws that are none.
    ///
    /// ```
    /// use linsep::sample::{FeatureLaw, PlaneLabels, Simulation};
    /// let labels = PlaneLabels::new(vec![2.0], -1.0, FeatureLaw::Uniform(0.0, 1.0))?;
    /// let (x, classes) = Simulation::new(Box::new(labels), 50, 0)?.draw();
    /// assert!(x.iter().zip(&classes).all(|(x, class)| (*x > 0.5) == (class.0 == 1)));
    /// # Ok::<(), linsep::Error>(())
    /// ```
    pub fn new(weights: Vec<f64>, intercept: f64, law: FeatureLaw) -> Result<PlaneLabels> {
        let features = Features::new(law, weights.len())?;
        PlaneLabels::of(weights, intercept, features)
    }

    /// The same at the rows of a table.
    pub fn at_rows(weights: Vec<f64>, intercept: f64, own: OwnRows) -> Result<PlaneLabels> {
        check_width(&weights, &own)?;
        PlaneLabels::of(weights, intercept, Features::of_rows(own)?)
    }

    fn of(weights: Vec<f64>, intercept: f64, features: Features) -> Result<PlaneLabels> {
        check_plane(&weights, intercept)?;
        if weights.iter().all(|w| *w == 0.0) {
            return Err(Error::usage("the weights do not name a plane").help("at least one must not be zero"));
        }
        Ok(PlaneLabels { weights, intercept, features })
    }
}

impl Generator for PlaneLabels {
    fn kind(&self) -> &str {
        "plane"
    }

    fn cols(&self) -> usize {
        self.weights.len()
    }

    fn classes(&self) -> Vec<String> {
        default_classes(2)
    }

    fn features(&self) -> Vec<String> {
        self.features.names().to_vec()
    }

    fn fill(&self, first: u64, draws: &mut Draws, values: &mut [f64], classes: &mut [Class]) {
        for (i, (row, class)) in values.chunks_exact_mut(self.cols()).zip(classes).enumerate() {
            self.features.fill(first + i as u64, draws, row);
            *class = Class(u32::from(score(&self.weights, self.intercept, row) > 0.0));
        }
    }

    fn truth(&self, _seed: u64) -> Result<Truth> {
        let rule = LinearForm { weights: vec![self.weights.clone()], intercept: vec![self.intercept] };
        let feature_law = Some(self.features.law().clone());
        Ok(Truth { feature_law, ..Truth::certain(Some(rule)) })
    }
}
