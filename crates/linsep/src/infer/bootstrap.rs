//! Intervals from estimates of resampled rows.
//!
//! A replicate without a finite estimate (separated rows) counts as both −∞ and +∞: below everything at the low end, above
//! everything at the high end, so that an interval never becomes narrower because an estimate does not exist.

use super::options::check_level;
use crate::error::{Error, Result};
use crate::numeric::{normal_cdf, normal_quantile};

/// Estimates of one number by all replicates.
#[derive(Debug, Clone, PartialEq)]
pub struct BootstrapLine {
    /// By all rows.
    pub estimate: f64,
    /// Mean of the finite replicates less the estimate; `None` where some are infinite.
    pub bias: Option<f64>,
    /// Their standard deviation; `None` where some are infinite.
    pub se: Option<f64>,
    /// Percentile interval: the level's share of the replicates lies within.
    pub percentile: (f64, f64),
    /// The same corrected for bias and acceleration (BCa, Efron 1987); `None` where the jackknife does not give the
    /// acceleration.
    pub bca: Option<(f64, f64)>,
}

/// The fewest replicates whose order statistics reach the ends of a level: `(B + 1) α/2 ≥ 1`.
pub fn replicates_needed(level: f64) -> usize {
    ((2.0 / (1.0 - level)) * (1.0 - 1e-12)).ceil() as usize - 1
}

/// Checks a level and a number of replicates.
pub(crate) fn check_replicates(replicates: usize, level: f64) -> Result<()> {
    check_level(level)?;
    let needed = replicates_needed(level);
    match replicates >= needed {
        true => Ok(()),
        false => Err(Error::usage(format!(
            "{replicates} replicates do not reach the ends of an interval of level {level}: {needed} are needed"
        ))
        .help(format!("ask for {needed} or more; 999 are usual"))),
    }
}

impl BootstrapLine {
    /// From the finite replicates, the number of infinite ones, and the estimates without each group of rows, each with how many
    /// groups give it.
    ///
    /// ```
    /// use linsep::infer::BootstrapLine;
    /// let replicates: Vec<f64> = (1..=99).map(f64::from).collect();
    /// let line = BootstrapLine::new(50.0, replicates, 0, &[(49.0, 1.0), (50.0, 1.0), (51.0, 1.0)], 0.9);
    /// assert_eq!(line.percentile, (5.0, 95.0));
    /// assert_eq!(line.bca, Some((5.0, 95.0)));            // no bias, and a symmetric jackknife
    /// ```
    pub fn new(
        estimate: f64,
        mut finite: Vec<f64>,
        infinite: usize,
        jackknife: &[(f64, f64)],
        level: f64,
    ) -> BootstrapLine {
        finite.sort_by(f64::total_cmp);
        let count = finite.len() as f64;
        let mean = finite.iter().sum::<f64>() / count;
        let squares: f64 = finite.iter().map(|v| (v - mean).powi(2)).sum();
        let sorted = Sorted { finite: &finite, infinite };
        let tail = 0.5 - level / 2.0;
        BootstrapLine {
            estimate,
            bias: (infinite == 0).then_some(mean - estimate),
            se: (infinite == 0 && finite.len() > 1).then(|| (squares / (count - 1.0)).sqrt()),
            percentile: (sorted.low(tail), sorted.high(tail)),
            bca: sorted.corrected(estimate, jackknife, tail),
        }
    }
}

/// Replicates in order.
struct Sorted<'a> {
    finite: &'a [f64],
    infinite: usize,
}

impl Sorted<'_> {
    fn total(&self) -> f64 {
        (self.finite.len() + self.infinite) as f64
    }

    /// The rank `(B + 1) p` of an end, rounded away from the middle; a product within rounding of an integer counts as the
    /// integer.
    fn place(&self, p: f64) -> usize {
        ((self.total() + 1.0) * p + 1e-9).floor() as usize
    }

    /// The replicate with a share `p` of all at or below it; infinite ones come first.
    fn low(&self, p: f64) -> f64 {
        match self.place(p).checked_sub(self.infinite + 1) {
            None => f64::NEG_INFINITY,
            Some(at) => self.finite.get(at).copied().unwrap_or(f64::INFINITY),
        }
    }

    /// The replicate with a share `p` of all at or above it; infinite ones come first from above.
    fn high(&self, p: f64) -> f64 {
        match self.place(p).checked_sub(self.infinite + 1) {
            None => f64::INFINITY,
            Some(at) => self.finite.len().checked_sub(at + 1).map_or(f64::NEG_INFINITY, |at| self.finite[at]),
        }
    }

    /// `α₁ = Φ(z₀ + (z₀ + z_α)/(1 − a(z₀ + z_α)))` and the same of 1 − α (Efron 1987): z₀ by the share of the replicates below the
    /// estimate, a by the skewness of the jackknife.
    fn corrected(&self, estimate: f64, jackknife: &[(f64, f64)], tail: f64) -> Option<(f64, f64)> {
        let below = self.finite.iter().filter(|v| **v < estimate).count() as f64;
        let tied = self.finite.iter().filter(|v| **v == estimate).count() as f64;
        let share = (below + 0.5 * tied + 0.5 * self.infinite as f64) / self.total();
        if !(share > 0.0 && share < 1.0) || jackknife.iter().any(|(v, _)| !v.is_finite()) {
            return None;
        }
        let groups: f64 = jackknife.iter().map(|(_, copies)| copies).sum();
        let mean = jackknife.iter().map(|(v, copies)| v * copies).sum::<f64>() / groups;
        let power = |p: i32| jackknife.iter().map(|(v, copies)| copies * (mean - v).powi(p)).sum::<f64>();
        let spread = power(2);
        if spread.is_nan() || spread <= 0.0 {
            return None;
        }
        let acceleration = power(3) / (6.0 * spread.powf(1.5));
        let z0 = normal_quantile(share);
        let moved = |z: f64| {
            let (sum, factor) = (z0 + z, 1.0 - acceleration * (z0 + z));
            // Beyond, the transformation to a normal scale folds back.
            (factor > 0.0).then(|| normal_cdf(z0 + sum / factor))
        };
        let z = normal_quantile(tail);
        let (low, high) = (moved(z)?, moved(-z)?);
        Some((self.low(low), self.high(1.0 - high)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A jackknife without skewness.
    const EVEN: [(f64, f64); 3] = [(1.0, 1.0), (2.0, 1.0), (3.0, 1.0)];

    #[test]
    fn groups_of_one_estimate_are_copies() {
        let finite: Vec<f64> = (1..=999).map(f64::from).collect();
        let copies = [(1.0, 5.0), (2.0, 1.0), (9.0, 3.0)];
        let each: Vec<(f64, f64)> =
            copies.iter().flat_map(|(v, n)| std::iter::repeat_n((*v, 1.0), *n as usize)).collect();
        let line = |jackknife: &[(f64, f64)]| BootstrapLine::new(500.0, finite.clone(), 0, jackknife, 0.9);
        assert_eq!(line(&copies), line(&each));
        assert_ne!(line(&copies).bca, line(&EVEN).bca);
    }

    #[test]
    fn infinite_replicates_are_beyond_both_ends() {
        let finite: Vec<f64> = (1..=97).map(f64::from).collect();
        // Of 99 replicates two are infinite: at 90 % the fifth from below is the third finite one.
        let line = BootstrapLine::new(49.0, finite.clone(), 2, &EVEN, 0.9);
        assert_eq!(line.percentile, (3.0, 95.0));
        assert_eq!((line.bias, line.se), (None, None));
        let line = BootstrapLine::new(49.0, finite, 5, &EVEN, 0.9);
        assert_eq!(line.percentile, (f64::NEG_INFINITY, f64::INFINITY));
    }

    #[test]
    fn as_many_replicates_as_a_level_needs() {
        assert_eq!([0.9, 0.95, 0.99].map(replicates_needed), [19, 39, 199]);
        assert!(check_replicates(39, 0.95).is_ok() && check_replicates(38, 0.95).is_err());
        let finite: Vec<f64> = (1..=39).map(f64::from).collect();
        assert_eq!(
            BootstrapLine::new(20.0, finite, 0, &[(1.0, 1.0), (2.0, 1.0), (4.0, 1.0)], 0.95).percentile,
            (1.0, 39.0)
        );
    }

    /// Efron and Tibshirani (1993), 14.3: more replicates below the estimate move the interval up.
    #[test]
    fn the_correction_moves_towards_what_the_bias_leaves_out() {
        let finite: Vec<f64> = (1..=999).map(f64::from).collect();
        let plain = BootstrapLine::new(500.0, finite.clone(), 0, &EVEN, 0.9);
        let high = BootstrapLine::new(600.0, finite.clone(), 0, &EVEN, 0.9);
        let (p, h) = (plain.bca.expect("an interval"), high.bca.expect("an interval"));
        assert!(h.0 > p.0 && h.1 > p.1);
        // α₁ = Φ(2z₀ + z_α) without skewness: z₀ = Φ⁻¹(599.5/999).
        let z0 = normal_quantile(599.5 / 999.0);
        let expected = (1000.0 * normal_cdf(2.0 * z0 + normal_quantile(0.05))).floor();
        assert_eq!(h.0, expected);
        assert_eq!(BootstrapLine::new(0.5, finite, 0, &EVEN, 0.9).bca, None);
    }
}
