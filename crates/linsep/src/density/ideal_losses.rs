//! The smallest expected losses of probabilities: those of the true `p = P(k | x)`.
//!
//! Squared error: `E p(1−p)` of one output for two classes, the sum over the outputs for more. Cross entropy: `E H(p)`, in
//! nats. No rule that states probabilities has less of either.

use super::bayes_error::ERROR_STREAMS;
use super::{BayesError, DRAW_BLOCK, Densities, Draws, ErrorMethod, Likelihood, Sampler};
use crate::error::Result;
use crate::numeric::{CompensatedSum, logistic_terms};
use rayon::prelude::*;

/// The nodes of an integral over a normal score reach this many standard deviations: beyond lies less than 1e-32.
const REACH: f64 = 12.0;
/// Their distance is at most this share of a standard deviation, and [`LONGEST`]: the trapezoidal rule of a function that is
/// analytic within π of the line then errs by less than 1e-30.
const SHARE: f64 = 0.125;
/// See [`SHARE`].
const LONGEST: f64 = 0.25;
/// Beyond this score both losses are below the smallest positive double.
const FURTHEST: f64 = 760.0;

/// The smallest expected losses of probabilities.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IdealLosses {
    /// `E p(1−p)`.
    pub squared_error: BayesError,
    /// `E H(p)`.
    pub cross_entropy: BayesError,
}

impl Densities {
    /// The ideal losses: by an integral over the score of two Gaussian classes with one covariance, otherwise over rows
    /// drawn with the seed, those of [`Densities::bayes_error`].
    ///
    /// ```
    /// use linsep::density::{Covariance, Densities, Density, Gaussian};
    /// let gaussian = Gaussian { means: vec![vec![0.0], vec![0.0]], covariance: Covariance::Spherical(1.0) };
    /// let alike = Densities { priors: vec![0.5, 0.5], density: Density::Gaussian(gaussian) };
    /// let ideal = alike.ideal_losses(0)?;
    /// assert_eq!((ideal.squared_error.value, ideal.cross_entropy.value), (0.25, 2.0f64.ln()));
    /// # Ok::<(), linsep::Error>(())
    /// ```
    pub fn ideal_losses(&self, seed: u64) -> Result<IdealLosses> {
        Likelihood::new(self)?;
        if let (Some(distance), [first, second]) = (self.two_gaussians_distance()?, &self.priors[..]) {
            let [squared, entropy] = normal_scores(*first, *second, distance);
            let exact = |value: f64| BayesError { value, method: ErrorMethod::ClosedForm };
            return Ok(IdealLosses { squared_error: exact(squared), cross_entropy: exact(entropy) });
        }
        let (problem, draws) = self.drawn_problem()?;
        let problem = problem.as_ref().unwrap_or(self);
        let sampler = Sampler::new(&problem.with_one_total())?;
        let likelihood = Likelihood::new(problem)?;
        let classes = problem.n_classes();
        let blocks: Vec<[CompensatedSum; 4]> = (0..draws.div_ceil(DRAW_BLOCK))
            .into_par_iter()
            .map(|block| {
                let count = DRAW_BLOCK.min(draws - block * DRAW_BLOCK);
                let mut rows = vec![0.0; count * sampler.cols()];
                sampler.draw_rows(&mut Draws::new(seed, ERROR_STREAMS + block as u64), &mut rows, |_| ());
                let mut sums = [CompensatedSum::default(); 4];
                for p in likelihood.posteriors(&rows, count).chunks_exact(classes) {
                    for (at, loss) in losses_of(p).into_iter().enumerate() {
                        sums[2 * at].add(loss);
                        sums[2 * at + 1].add(loss * loss);
                    }
                }
                sums
            })
            .collect();
        let mut sums = [CompensatedSum::default(); 4];
        for block in blocks {
            sums.iter_mut().zip(block).for_each(|(sum, part)| sum.merge(part));
        }
        let n = draws as f64;
        let mean = |at: usize| {
            let value = sums[2 * at].value() / n;
            let variance = ((sums[2 * at + 1].value() / n - value * value) * n / (n - 1.0)).max(0.0);
            let standard_error = (variance / n).sqrt();
            BayesError { value, method: ErrorMethod::MonteCarlo { draws: draws as u64, standard_error, seed } }
        };
        Ok(IdealLosses { squared_error: mean(0), cross_entropy: mean(1) })
    }
}

/// Squared error and cross entropy of probabilities that are true.
pub(crate) fn losses_of(p: &[f64]) -> [f64; 2] {
    let spread = |p: &f64| p * (1.0 - p);
    let squared = if p.len() == 2 { p[0] * p[1] } else { p.iter().map(spread).sum() };
    let entropy = p.iter().map(|p| if *p > 0.0 { -p * p.ln() } else { 0.0 }).sum();
    [squared, entropy]
}

/// The two losses where the log-odds are normal with standard deviation D about `L ± D²/2`, by the trapezoidal rule.
fn normal_scores(first: f64, second: f64, distance: f64) -> [f64; 2] {
    let odds = second.ln() - first.ln();
    if distance == 0.0 {
        return losses_of(&[first, second]);
    }
    let step = (SHARE * distance).min(LONGEST);
    let mut totals = [CompensatedSum::default(), CompensatedSum::default()];
    for (prior, centre) in [(first, odds - 0.5 * distance * distance), (second, odds + 0.5 * distance * distance)] {
        let low = (centre - REACH * distance).max(-FURTHEST);
        let high = (centre + REACH * distance).min(FURTHEST);
        // Nodes at whole multiples of the step, so that both classes use the same.
        let (start, end) = ((low / step).ceil() as i64, (high / step).floor() as i64);
        for node in start..=end {
            let z = node as f64 * step;
            let t = (z - centre) / distance;
            let weight = prior * step * (-0.5 * t * t).exp() / (distance * std::f64::consts::TAU.sqrt());
            let terms = logistic_terms(z.abs());
            totals[0].add(weight * terms.p * terms.q);
            totals[1].add(weight * (f64::ln_1p((-z.abs()).exp()) + z.abs() * terms.q));
        }
    }
    totals.map(|total| total.value())
}
