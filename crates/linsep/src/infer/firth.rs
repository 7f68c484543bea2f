//! Firth's estimates: the maximum of `ℓ + ½ log det I`, which exists for every table (Firth, Biometrika 80, 1993; Heinze and
//! Schemper, Statistics in Medicine 21, 2002). Restricted maxima keep the information of all coefficients in the penalty.

use super::likelihood::{Evaluated, LogLikelihood};
use super::maximum::{InformationMetric, Maximum, rounding};
use super::restricted::{Restrained, RestrictedMaximum, Restriction};
use crate::error::{Error, Result};
use crate::linalg::dot;
use crate::watch::Watch;
use crate::words::{Setting, words};
use std::sync::Arc;

/// The tolerance on twice the penalised log-likelihood below its maximum.
const SETTLED: f64 = 1e-18;
/// Steps until a maximum counts as lost; some ten suffice. Chosen (bench/constants.md).
const STEPS: usize = 500;
/// The longest step of a coefficient in standard units of its column: the penalised likelihood is not concave, and far
/// away its metric says little (logistf has 5). Chosen (bench/constants.md).
const LONGEST: f64 = 5.0;

/// The penalised likelihood of two classes.
pub(super) struct Penalised<'l, 'a> {
    pub likelihood: &'l LogLikelihood<'a>,
}

impl Penalised<'_, '_> {
    /// Value, gradient `Σ s (y − p + h(½ − p)) x` and information.
    pub(super) fn at(&self, point: &[f64], watch: &Watch) -> Result<(Evaluated, Arc<InformationMetric>)> {
        let likelihood = self.likelihood;
        let mut found = likelihood.with_information(point, watch)?;
        let information = found.information.as_ref().ok_or_else(lost)?;
        let metric = InformationMetric::at(likelihood, point, information, watch)?;
        let width = likelihood.width();
        let fitted = likelihood.class_probabilities(point, watch)?;
        // h(½ − p) of every row, s times.
        let pulls = likelihood.each_row(1, watch, |row, x, out| {
            let (s, q, p) = (likelihood.weight(row), fitted[2 * row], fitted[2 * row + 1]);
            out[0] = s * p * q * metric.square(x) * (0.5 - p);
        })?;
        let moved =
            crate::design::Pass::new(likelihood.training().design, likelihood.units()).partials_of(width).reduce(
                watch,
                (0, &mut []),
                || (vec![0.0; width], Vec::new()),
                |(sum, tile), range, rows, _| {
                    likelihood.fill(rows, range.len(), tile);
                    crate::linalg::weighted_rows_sum(tile, &pulls[range], width, 1, sum);
                    Ok(())
                },
                |(sum, _), (other, _)| sum.iter_mut().zip(&other).for_each(|(a, b)| *a += b),
            )?;
        found.gradient.iter_mut().zip(&moved.0).for_each(|(g, m)| *g += m);
        found.value += 0.5 * metric.log_determinant();
        Ok((found, Arc::new(metric)))
    }

    /// The free maximum, from zero.
    pub fn maximum(&self, watch: &Watch) -> Result<Maximum> {
        let none = Restriction { rows: Vec::new(), values: Vec::new() };
        let (found, metric) = self.climb(vec![0.0; self.likelihood.size()], &none, watch)?;
        Ok(Maximum { point: found.point, value: found.value, metric })
    }

    /// A maximum under restrictions.
    pub fn restricted(&self, free: &Maximum, restriction: &Restriction, watch: &Watch) -> Result<RestrictedMaximum> {
        let start = Restrained::new(restriction, free.metric.clone())?.nearest(&free.point);
        Ok(self.climb(start, restriction, watch)?.0)
    }

    fn climb(
        &self,
        start: Vec<f64>,
        restriction: &Restriction,
        watch: &Watch,
    ) -> Result<(RestrictedMaximum, Arc<InformationMetric>)> {
        let mut point = start;
        let (mut here, mut metric) = self.at(&point, watch)?;
        let mut last = f64::INFINITY;
        for _ in 0..STEPS {
            let (mut step, decrement) = Restrained::new(restriction, metric.clone())?.step(&here.gradient);
            if decrement <= SETTLED || (decrement < 1e-12 && decrement > 0.9 * last) {
                return Ok((RestrictedMaximum { point, value: here.value }, metric));
            }
            last = decrement;
            let largest = step.iter().fold(0.0f64, |m, s| m.max(s.abs()));
            if largest > LONGEST {
                step.iter_mut().for_each(|s| *s *= LONGEST / largest);
            }
            let mut share = 1.0;
            loop {
                let next: Vec<f64> = point.iter().zip(&step).map(|(p, s)| p + share * s).collect();
                let there = self.at(&next, watch);
                // Where the information is singular the penalised likelihood is −∞.
                match there {
                    Ok((there, of_it)) if there.value >= here.value - rounding(here.value) || share < 1e-9 => {
                        (point, here, metric) = (next, there, of_it);
                        break;
                    }
                    Err(error) if share < 1e-9 => return Err(error),
                    _ => share *= 0.5,
                }
            }
        }
        Err(lost())
    }

    /// Both profile limits of a functional: the penalised likelihood ratio statistic is `quantile` there.
    pub fn limits(&self, free: &Maximum, functional: &[f64], quantile: f64, watch: &Watch) -> Result<(f64, f64)> {
        let estimate = dot(functional, &free.point);
        let variance = free.metric.square(functional);
        let target = free.value - 0.5 * quantile;
        let mut ends = [0.0; 2];
        for (end, side) in ends.iter_mut().zip([-1.0, 1.0]) {
            let profile = |value: f64| {
                let restriction = Restriction { rows: vec![functional.to_vec()], values: vec![value] };
                self.restricted(free, &restriction, watch).map(|m| m.value)
            };
            *end = crossing(&profile, (estimate, free.value), side * (quantile * variance).sqrt(), target)
                .map_err(|_| without_limit())?;
        }
        Ok((ends[0], ends[1]))
    }
}

/// Where a function that falls from its maximum at `from` takes a value: a bracket by doubling the first step, then Illinois
/// steps (regula falsi) on the square root of the fall, which is nearly linear.
pub(super) fn crossing(
    profile: &dyn Fn(f64) -> Result<f64>,
    (from, top): (f64, f64),
    step: f64,
    target: f64,
) -> Result<f64> {
    /// Doublings and steps: 2^60 standard errors are beyond every limit, and sixty Illinois steps beyond every digit.
    const MOST: usize = 60;
    /// Relative width of the last bracket.
    const WIDTH: f64 = 1e-11;
    let depth = |value: f64| (top - value).max(0.0).sqrt();
    let wanted = depth(target);
    let (mut inner, mut inner_gap) = (from, -wanted);
    let (mut outer, mut length) = (from + step, step);
    let mut outer_gap = depth(profile(outer)?) - wanted;
    for _ in 0..MOST {
        if outer_gap >= 0.0 {
            break;
        }
        (inner, inner_gap) = (outer, outer_gap);
        length *= 2.0;
        outer = from + length;
        outer_gap = depth(profile(outer)?) - wanted;
    }
    if outer_gap < 0.0 {
        return Ok(f64::INFINITY.copysign(step));
    }
    for _ in 0..MOST {
        if (outer - inner).abs() <= WIDTH * step.abs() || outer_gap == 0.0 {
            break;
        }
        let middle = outer - outer_gap * (outer - inner) / (outer_gap - inner_gap);
        let gap = depth(profile(middle)?) - wanted;
        if gap.abs() <= WIDTH {
            return Ok(middle);
        }
        match gap > 0.0 {
            true => {
                (outer, outer_gap) = (middle, gap);
                inner_gap *= 0.5;
            }
            false => {
                (inner, inner_gap) = (middle, gap);
                outer_gap *= 0.5;
            }
        }
    }
    Ok(0.5 * (inner + outer))
}

fn without_limit() -> Error {
    Error::data(
        "a profile limit was not found: the maximum of the penalised likelihood at a fixed coefficient did not settle",
    )
    .help(words!["use ", Setting::Interval.is("wald")])
}

fn lost() -> Error {
    Error::data("the maximum of the penalised likelihood was not found")
        .help("rescale the columns")
        .help("leave columns out that are nearly combinations of others")
}
