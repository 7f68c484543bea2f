//! Classes of several parts each: a part by its share, then a row of it; its class is that of the part.

use super::ideal::{MeanOver, Means};
use super::{Generator, Truth};
use crate::density::{DRAW_BLOCK, Densities, Draws, Likelihood, Parameters, Sampler, losses_of};
use crate::error::{Error, Result};
use crate::table::Class;

/// Rows drawn for the error of the best rule: a standard error of at most 0.0016.
const ERROR_BLOCKS: u64 = 100;
/// Streams of the rows drawn here start at 2⁶³, apart from those of data drawn with the same seed.
const ERROR_STREAMS: u64 = 1 << 63;

/// Classes whose densities are mixtures of parts.
pub struct Mixtures {
    parts: Densities,
    /// The class of each part.
    of: Vec<usize>,
    classes: Vec<String>,
    features: Vec<String>,
    sampler: Sampler,
}

impl Mixtures {
    /// Parts with the class of each; the classes are in the order in which they first come.
    ///
    /// ```
    /// use linsep::density::{Covariance, Densities, Density, Gaussian};
    /// use linsep::sample::{Mixtures, Simulation};
    /// // One class on both sides of the other.
    /// let gaussian = Gaussian { means: vec![vec![-4.0], vec![0.0], vec![4.0]], covariance: Covariance::Spherical(1.0) };
    /// let parts = Densities { priors: vec![0.25, 0.5, 0.25], density: Density::Gaussian(gaussian) };
    /// let both = Mixtures::new(parts, &["out", "in", "out"].map(String::from), vec!["x".into()])?;
    /// let truth = Simulation::new(Box::new(both), 10, 0)?.truth()?;
    /// // The boundary is at ±(2 + ln 2 / 4), up to what the far side adds: Φ(−2.173) + Φ(−1.827)/2.
    /// assert!((truth.bayes_error.unwrap().value - 0.0318).abs() < 2e-3);
    /// # Ok::<(), linsep::Error>(())
    /// ```
    pub fn new(parts: Densities, components: &[String], features: Vec<String>) -> Result<Mixtures> {
        if components.len() != parts.n_classes() {
            return Err(Error::data(format!("{} components for {} parts", components.len(), parts.n_classes()))
                .help("`components` names the class of each part"));
        }
        if features.len() != parts.n_features() {
            return Err(Error::data("the names of features do not fit the densities"));
        }
        let mut classes: Vec<String> = Vec::new();
        for name in components {
            if !classes.contains(name) {
                classes.push(name.clone());
            }
        }
        if classes.len() < 2 {
            return Err(Error::data("all parts are of one class").help("name at least two classes in `components`"));
        }
        let of = components.iter().filter_map(|name| classes.iter().position(|c| c == name)).collect();
        let sampler = Sampler::new(&parts)?;
        Ok(Mixtures { parts, of, classes, features, sampler })
    }

    /// `P(k | x)` of some rows.
    fn posteriors(&self, likelihood: &Likelihood, rows: &[f64], count: usize) -> Vec<f64> {
        let mut merged = vec![0.0; count * self.classes.len()];
        let parts = likelihood.posteriors(rows, count);
        for (row, p) in merged.chunks_exact_mut(self.classes.len()).zip(parts.chunks_exact(self.of.len())) {
            p.iter().zip(&self.of).for_each(|(p, k)| row[*k] += p);
        }
        merged
    }
}

impl Generator for Mixtures {
    fn kind(&self) -> &str {
        "mixture"
    }

    fn cols(&self) -> usize {
        self.sampler.cols()
    }

    fn classes(&self) -> Vec<String> {
        self.classes.clone()
    }

    fn features(&self) -> Vec<String> {
        self.features.clone()
    }

    fn fill(&self, _first: u64, draws: &mut Draws, values: &mut [f64], classes: &mut [Class]) {
        for (row, class) in values.chunks_exact_mut(self.cols()).zip(classes) {
            *class = Class(self.of[self.sampler.draw(draws, row)] as u32);
        }
    }

    fn truth(&self, seed: u64) -> Result<Truth> {
        let likelihood = Likelihood::new(&self.parts)?;
        let (mut error, mut squared, mut entropy) = (Means::default(), Means::default(), Means::default());
        let mut rows = vec![0.0; DRAW_BLOCK * self.cols()];
        for block in 0..ERROR_BLOCKS {
            self.sampler.draw_rows(&mut Draws::new(seed, ERROR_STREAMS + block), &mut rows, |_| ());
            for p in self.posteriors(&likelihood, &rows, DRAW_BLOCK).chunks_exact(self.classes.len()) {
                let largest = (0..p.len()).max_by(|a, b| p[*a].total_cmp(&p[*b])).unwrap_or(0);
                error.add(p.iter().enumerate().filter(|(k, _)| *k != largest).map(|(_, p)| p).sum());
                let [s, h] = losses_of(p);
                squared.add(s);
                entropy.add(h);
            }
        }
        let drawn = MeanOver::Drawn(seed);
        Ok(Truth {
            parameters: Parameters::of(&self.parts, &[], &[]),
            components: Some(self.of.iter().map(|k| self.classes[*k].clone()).collect()),
            bayes_error: Some(drawn.result(&error)),
            ideal_squared_error: Some(drawn.result(&squared)),
            ideal_cross_entropy: Some(drawn.result(&entropy)),
            ..Truth::default()
        })
    }
}
