//! The maximum of the likelihood, and the metric of the information.

use super::combinations::Combinations;
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
/// Pivots of the information in unit diagonal below this are rounding: the columns cannot be told apart.
pub(super) const SINGULAR: f64 = 1e-15;
/// Such a pivot is off by about a unit of rounding for each column, so that above this the inverse has nine digits; below it,
/// products are taken of combinations of the columns, at the cost of a pass.
pub(super) const CLOSE: f64 = 1e-6;

/// The inverse of an information, by its factor.
#[derive(Debug)]
pub(super) struct InformationMetric {
    factor: Factor,
    /// Where the factor is that of `A I Aᵀ`.
    combinations: Option<Combinations>,
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
        if let Some(alias) = plain.aliased().first() {
            return Err(no_information(alias.column, likelihood));
        }
        if plain.smallest_pivot() >= CLOSE {
            return Ok(InformationMetric { factor: plain, combinations: None });
        }
        let width = likelihood.width();
        let of_first = factor(&Square::from_lower(width, |i, j| information.get(i, j)), SINGULAR);
        let rows = of_first.whitening();
        let combined =
            likelihood.combined_information(&rows, point, watch)?.map(|combined| factor(&combined, SINGULAR));
        Ok(match combined.filter(|f| of_first.aliased().is_empty() && f.aliased().is_empty()) {
            Some(factor) => InformationMetric { factor, combinations: Some(Combinations { width, rows }) },
            None => InformationMetric { factor: plain, combinations: None },
        })
    }

    /// `V b`, V the inverse.
    pub fn solve(&self, b: &[f64]) -> Vec<f64> {
        match &self.combinations {
            Some(combinations) => combinations.transposed(&self.factor.solve(&combinations.of(b))),
            None => self.factor.solve(b),
        }
    }

    /// `log det` of the information.
    pub fn log_determinant(&self) -> f64 {
        let scores = |c: &Combinations| (self.factor.n() / c.width) as f64;
        let of_combinations = self.combinations.as_ref().map_or(0.0, |c| 2.0 * scores(c) * c.log_determinant());
        self.factor.log_determinant() - of_combinations
    }

    /// V itself.
    pub fn inverse(&self) -> Square {
        columns_of(self.factor.n(), |unit| self.solve(unit))
    }

    /// The combinations of the columns in which it is known, where there are any, and the inverse in them.
    pub fn in_combinations(&self) -> (Option<&Combinations>, Square) {
        (self.combinations.as_ref(), columns_of(self.factor.n(), |unit| self.factor.solve(unit)))
    }
}

/// A symmetric matrix by its products with the unit vectors.
pub(super) fn columns_of(n: usize, product: impl Fn(&[f64]) -> Vec<f64>) -> Square {
    let mut unit = vec![0.0; n];
    let columns: Vec<Vec<f64>> = (0..n)
        .map(|j| {
            unit[j] = 1.0;
            let column = product(&unit);
            unit[j] = 0.0;
            column
        })
        .collect();
    Square::from_lower(n, |i, j| 0.5 * (columns[j][i] + columns[i][j]))
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
            let decrement = dot(&step, &found.gradient);
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
