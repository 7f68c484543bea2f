//! Estimates with adjusted scores: reduced mean or median bias, and the intercept that Firth's estimates lack.
//!
//! Mean: the roots of the score of `ℓ + ½ log det I` (Firth 1993), the same estimates as Firth's, here with the Wald tests of
//! the information. Median: every estimate is above and below the truth about equally often (Kenne Pagui, Salvan and Sartori,
//! Biometrika 104, 2017; Kosmidis, Kenne Pagui and Sartori, Statistics and Computing 30, 2020). With V the inverse of the
//! information and `t_j = X V f_j` its step is Firth's with `u_j = −Σ w(1−2p) t_j³/(3 f_jᵀV f_j)` added to the coefficient
//! `f_j·θ`. It belongs to these coefficients: of other contrasts of a text column it is another estimate.

use super::firth::Penalised;
use super::likelihood::LogLikelihood;
use super::maximum::{InformationMetric, Maximum};
use crate::design::Pass;
use crate::error::{Error, Result};
use crate::linalg::{dot, multiply_rows};
use crate::numeric::{logistic_terms, sum};
use crate::watch::Watch;

/// A step is none that moves no coefficient by more than this share of its standard error.
const SETTLED: f64 = 1e-11;
/// Steps until a root counts as lost: they converge linearly, some forty suffice. Chosen, not measured.
const STEPS: usize = 2000;
/// The longest step in standard errors: far from the root the adjustment says little. Chosen, not measured.
const LONGEST: f64 = 2.0;
/// Halvings of an interval of intercepts: all bits of a double, and its exponent.
const HALVINGS: usize = 200;

/// The estimates of reduced mean bias, with the likelihood there.
pub(super) fn mean_reduced(penalised: &Penalised<'_, '_>, watch: &Watch) -> Result<Maximum> {
    with_likelihood(penalised.likelihood, penalised.maximum(watch)?, watch)
}

/// The estimates of reduced median bias of the coefficients that the functionals are, in the order of the table.
pub(super) fn median_reduced(
    penalised: &Penalised<'_, '_>,
    functionals: &[Vec<f64>],
    watch: &Watch,
) -> Result<Maximum> {
    let likelihood = penalised.likelihood;
    let mut found = penalised.maximum(watch)?;
    for _ in 0..STEPS {
        let (here, metric) = penalised.at(&found.point, watch)?;
        let mut step = metric.solve(&here.gradient);
        let moves = median_moves(likelihood, &found.point, &metric, functionals, watch)?;
        let more = coefficients_of(likelihood, &moves, functionals);
        step.iter_mut().zip(&more).for_each(|(s, m)| *s += m);
        let lengths = functionals.iter().map(|f| (dot(f, &step) / metric.square(f).sqrt()).abs());
        let longest = lengths.fold(0.0, f64::max);
        if !longest.is_finite() {
            break;
        }
        let share = (LONGEST / longest).min(1.0);
        found.point.iter_mut().zip(&step).for_each(|(p, s)| *p += share * s);
        found.metric = metric;
        if longest <= SETTLED {
            return with_likelihood(likelihood, found, watch);
        }
    }
    Err(Error::data("the estimates of reduced median bias were not found")
        .help("rescale the columns")
        .help("leave columns out that are nearly combinations of others"))
}

fn with_likelihood(likelihood: &LogLikelihood<'_>, found: Maximum, watch: &Watch) -> Result<Maximum> {
    let value = likelihood.at(&[&found.point], watch)?[0].value;
    Ok(Maximum { value, ..found })
}

/// `u_j` of every functional.
fn median_moves(
    likelihood: &LogLikelihood<'_>,
    point: &[f64],
    metric: &InformationMetric,
    functionals: &[Vec<f64>],
    watch: &Watch,
) -> Result<Vec<f64>> {
    let (width, many) = (likelihood.width(), functionals.len());
    let moved: Vec<Vec<f64>> = functionals.iter().map(|f| metric.solve(f)).collect();
    let all: Vec<f64> = moved.iter().flatten().copied().collect();
    let fitted = likelihood.class_probabilities(point, watch)?;
    let sums = Pass::new(likelihood.training().design, likelihood.units()).partials_of(many).reduce(
        watch,
        (0, &mut []),
        || (vec![0.0; many], Vec::new(), Vec::new()),
        |(sums, tile, t), range, rows, _| {
            likelihood.fill(rows, range.len(), tile);
            t.resize(range.len() * many, 0.0);
            multiply_rows(tile, &all, width, many, t);
            for (row, t) in range.zip(t.chunks_exact(many.max(1))) {
                let (s, q, p) = (likelihood.weight(row), fitted[2 * row], fitted[2 * row + 1]);
                let skew = s * p * q * (q - p);
                sums.iter_mut().zip(t).for_each(|(sum, t)| *sum += skew * t * t * t);
            }
            Ok(())
        },
        |(sums, ..), (other, ..)| sums.iter_mut().zip(&other).for_each(|(a, b)| *a += b),
    )?;
    let of = |((sum, f), moved): ((&f64, &Vec<f64>), &Vec<f64>)| -sum / (3.0 * dot(f, moved));
    Ok(sums.0.iter().zip(functionals).zip(&moved).map(of).collect())
}

/// The coefficients of the likelihood whose functionals are given: each of a column alone, the intercept with all of them.
fn coefficients_of(likelihood: &LogLikelihood<'_>, values: &[f64], functionals: &[Vec<f64>]) -> Vec<f64> {
    let first = usize::from(likelihood.has_intercept());
    let mut out = vec![0.0; values.len()];
    for j in first..values.len() {
        out[j] = values[j] / functionals[j][j];
    }
    if first == 1 {
        let others = sum((1..values.len()).map(|j| functionals[0][j] * out[j]));
        out[0] = (values[0] - others) / functionals[0][0];
    }
    out
}

/// How far the intercept has to move for the mean probability to be the share of the class: maximum likelihood of the intercept
/// alone (FLIC; Puhr, Heinze, Nold, Lusa and Geroldinger, Statistics in Medicine 36, 2017).
pub(super) fn intercept_correction(likelihood: &LogLikelihood<'_>, point: &[f64], watch: &Watch) -> Result<f64> {
    let codes = likelihood.training().labels.codes();
    let scores = likelihood.each_row(1, watch, |row, x, out| out[0] = dot(x, point) + likelihood.offset(row))?;
    // Increasing in the shift, from −(weight of the second class) to +(weight of the first).
    let excess = |shift: f64| {
        sum(scores.iter().enumerate().map(|(row, z)| {
            let terms = logistic_terms(z + shift);
            likelihood.weight(row) * if codes[row].index() == 1 { -terms.q } else { terms.p }
        }))
    };
    let (mut low, mut high) = (-1.0, 1.0);
    while excess(low) > 0.0 && low > f64::MIN / 4.0 {
        low *= 2.0;
    }
    while excess(high) < 0.0 && high < f64::MAX / 4.0 {
        high *= 2.0;
    }
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        match excess(middle) < 0.0 {
            true => low = middle,
            false => high = middle,
        }
    }
    Ok(0.5 * (low + high))
}
