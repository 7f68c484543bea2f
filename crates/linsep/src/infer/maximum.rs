//! The maximum of the likelihood, and the metric of the information.

use super::information_root::information_root;
use super::likelihood::{Evaluated, LogLikelihood};
use crate::error::{Error, Result};
use crate::linalg::{Factor, Square, dot, factor};
use crate::watch::Watch;
use crate::words::Span;
use crate::words::words;
use std::sync::Arc;

/// Newton's decrement squared, which is how far twice the log-likelihood is from its maximum, up to its own square: far below
/// the rounding of a printed statistic.
pub(super) const SETTLED: f64 = 1e-13;
/// The same of the free maximum: what rounding allows, since every standard error is computed there.
const SETTLED_FREE: f64 = 1e-22;
/// Steps until a maximum counts as lost. Newton's method on a concave function needs some ten; chosen
/// (bench/constants.md).
pub(super) const STEPS: usize = 200;
/// Pivots of the information in unit diagonal below this are rounding.
pub(super) const SINGULAR: f64 = 1e-15;
/// Such a pivot is off by about a unit of rounding for each column, so that above this the inverse has nine digits; below it,
/// the root of the information is computed from the rows, at the cost of a pass.
pub(super) const CLOSE: f64 = 1e-6;
/// The root of the largest variance inflation beyond which columns cannot be told apart: errors are some units of rounding
/// times this, so that below it standard errors have the four digits that are printed.
const INSEPARABLE: f64 = 1e10;

/// The inverse V of an information: `AᵀA` with a lower triangular A, by which variances are sums of squares.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct InformationMetric {
    factor: Factor,
}

impl InformationMetric {
    /// The metric of the information at a point.
    ///
    /// # Errors
    /// Where it is singular up to rounding, naming the columns.
    pub fn at(
        likelihood: &LogLikelihood<'_>,
        point: &[f64],
        information: &Square,
        watch: &Watch,
    ) -> Result<InformationMetric> {
        let plain = factor(information, SINGULAR);
        if plain.aliased().is_empty() && plain.smallest_pivot() >= CLOSE {
            return Ok(InformationMetric { factor: plain });
        }
        let root = information_root(likelihood, point, watch)?;
        match Factor::of_root(likelihood.size(), &root).filter(|f| f.inflation_root() <= INSEPARABLE) {
            Some(factor) => Ok(InformationMetric { factor }),
            None => {
                let worst = plain.aliased().first().map_or(likelihood.size() - 1, |alias| alias.column);
                Err(no_information(worst, likelihood))
            }
        }
    }

    /// `A b`, of which the square is `b·Vb`.
    pub fn whiten(&self, b: &[f64]) -> Vec<f64> {
        self.factor.whiten(b)
    }

    /// `Aᵀ h`.
    pub fn unwhiten(&self, h: &[f64]) -> Vec<f64> {
        self.factor.unwhiten(h)
    }

    /// `V b`.
    pub fn solve(&self, b: &[f64]) -> Vec<f64> {
        self.factor.solve(b)
    }

    /// `b·Vb`.
    pub fn square(&self, b: &[f64]) -> f64 {
        let white = self.whiten(b);
        dot(&white, &white)
    }

    /// `log det` of the information.
    pub fn log_determinant(&self) -> f64 {
        self.factor.log_determinant()
    }
}

/// That a coefficient has no standard error.
fn no_information(coefficient: usize, likelihood: &LogLikelihood<'_>) -> Error {
    let (at, first) = (coefficient % likelihood.width(), usize::from(likelihood.has_intercept()));
    let what = match at.checked_sub(first) {
        Some(j) => words![
            "the information about ",
            Span::Column(likelihood.columns()[j]),
            " is zero up to rounding, so that it has no standard error"
        ],
        None => {
            words!["the information about the intercept is zero up to rounding, so that it has no standard error"]
        }
    };
    Error::data(what)
        .help("leave the column out, or one that it is nearly a combination of")
        .help("join rare levels, or give rare classes more rows")
}

/// The free maximum.
pub(super) struct Maximum {
    pub point: Vec<f64>,
    pub value: f64,
    pub metric: Arc<InformationMetric>,
}

impl Maximum {
    /// Newton's method to full precision, from a point near the maximum.
    pub fn near(likelihood: &LogLikelihood<'_>, start: Vec<f64>, watch: &Watch) -> Result<Maximum> {
        let mut point = start;
        let mut found = likelihood.with_information(&point, watch)?;
        let mut last = f64::INFINITY;
        for _ in 0..STEPS {
            let information = taken(&mut found)?;
            let metric = InformationMetric::at(likelihood, &point, &information, watch)?;
            let step = metric.solve(&found.gradient);
            let decrement = metric.square(&found.gradient);
            // At rounding level the decrement stops falling and fluctuates.
            if decrement <= SETTLED_FREE || (decrement < SETTLED && decrement > 0.5 * last) {
                return Ok(Maximum { point, value: found.value, metric: Arc::new(metric) });
            }
            last = decrement;
            let mut share = 1.0;
            loop {
                let next: Vec<f64> = point.iter().zip(&step).map(|(p, s)| p + share * s).collect();
                let there = likelihood.with_information(&next, watch)?;
                if there.value >= found.value - rounding(found.value) || share < 1e-6 {
                    (point, found) = (next, there);
                    break;
                }
                share *= 0.5;
            }
        }
        Err(lost())
    }
}

pub(super) fn taken(found: &mut Evaluated) -> Result<Square> {
    found.information.take().ok_or_else(lost)
}

/// How far apart two sums may be by rounding alone.
pub(super) fn rounding(value: f64) -> f64 {
    1e-12 * (1.0 + value.abs())
}

pub(super) fn lost() -> Error {
    Error::data("a restricted maximum of the likelihood was not found: rounding, or columns too far apart in size, got in the way")
        .help("rescale the columns")
        .help("leave columns out that are nearly combinations of others")
}
