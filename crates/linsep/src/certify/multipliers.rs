//! The duality gap of a support vector machine from its multipliers.
//!
//! A hinge has no derivative at its kink, so a dual point near the optimum cannot be read off the scores: the multipliers
//! `0 ≤ u ≤ 1` (`u ≥ 0` for the squared hinge) are part of the solution. `D(u) = (1/S)Σs[−ℓ*(u) − yuo] − (λΩ)*(X̂ᵀ(syu)/S)`.

use super::Certificate;
use super::dual_bound::{DualBound, penalty_conjugate};
use super::gap::gap_between;
use crate::error::{Error, Result};
use crate::numeric::CompensatedSum;
use crate::objective::{Coef, Intercept, MarginLoss, Penalty, Risk};
use crate::table::Class;
use crate::watch::Watch;

/// The nearest multipliers that the dual problem allows: within their box, and with `Σ s y u = 0` for a free intercept,
/// for which those of the heavier class shrink, the ones below
/// their bound first.
pub fn feasible_multipliers<L: MarginLoss, P: Penalty>(risk: &Risk<'_, L, P>, multipliers: &[f64]) -> Vec<f64> {
    let sample = risk.sample();
    let largest = risk.loss().largest_multiplier();
    let mut feasible: Vec<f64> = multipliers.iter().map(|u| u.clamp(0.0, largest)).collect();
    if risk.intercept() != Intercept::Free {
        return feasible;
    }
    let mut totals = [CompensatedSum::default(); 2];
    for (i, u) in feasible.iter().enumerate() {
        totals[sample.labels[i].index()].add(sample.weights.map_or(1.0, |w| w[i]) * u);
    }
    let [low, high] = totals.map(CompensatedSum::value);
    let class = if high > low { Class(1) } else { Class(0) };
    let (excess, heavier) = ((high - low).abs(), high.max(low));
    // Those at their bound stay there where the others can make up for it.
    let weight = |i: usize| sample.weights.map_or(1.0, |w| w[i]);
    let is_free = |i: usize, u: f64| sample.labels[i] == class && u < largest;
    let free: f64 = feasible.iter().enumerate().filter(|(i, u)| is_free(*i, **u)).map(|(i, u)| weight(i) * u).sum();
    let (only_free, scale) = if free > excess { (true, 1.0 - excess / free) } else { (false, 1.0 - excess / heavier) };
    if excess > 0.0 {
        for (i, u) in feasible.iter_mut().enumerate() {
            if is_free(i, *u) || (!only_free && sample.labels[i] == class) {
                *u *= scale;
            }
        }
    }
    feasible
}

/// The objective at some coefficients, and its gap to the dual value of some multipliers, one per row, which are first
/// made feasible.
///
/// ```
/// use linsep::certify::multiplier_gap;
/// use linsep::design::{LabelledRows, DenseMatrix, Units};
/// use linsep::objective::{Coef, Hinge, Intercept, Ridge, Risk, Sample};
/// use linsep::table::Class;
/// // Two points at ±1 and λ = 1/2: w = 1, and both multipliers are 1/2.
/// let (x, units) = (DenseMatrix::new(vec![-1.0, 1.0], 1)?, Units::identity(1));
/// let labels = [Class(0), Class(1)];
/// let rows = Sample::new(LabelledRows::new(&x, &labels), &units);
/// let risk = Risk::new(rows, Hinge, Ridge::new(0.5), Intercept::Free);
/// let coef = Coef::from_vec(vec![1.0, 0.0], 1, 1);
/// let (objective, certificate) = multiplier_gap(&risk, &coef, &[0.5, 0.5], &Default::default())?;
/// assert_eq!(objective, 0.25);
/// assert!(certificate.gap().unwrap() < 1e-14);
/// # Ok::<(), linsep::Error>(())
/// ```
pub fn multiplier_gap<L: MarginLoss, P: Penalty>(
    risk: &Risk<'_, L, P>,
    coef: &Coef,
    multipliers: &[f64],
    watch: &Watch,
) -> Result<(f64, Certificate)> {
    let sample = risk.sample();
    if multipliers.len() != sample.labels.len() {
        return Err(Error::model(format!("{} multipliers for {} rows", multipliers.len(), sample.labels.len())));
    }
    if let Some(i) = multipliers.iter().position(|u| !u.is_finite()) {
        return Err(Error::model(format!("the multiplier of row {} is not a number", i + 1)));
    }
    let mut scores = risk.along(coef, watch)?.scores().to_vec();
    if let Some(offsets) = sample.offsets {
        scores.iter_mut().zip(offsets).for_each(|(z, o)| *z += o);
    }
    let objective = risk.loss_of_scores(&scores) + risk.penalty_at(coef);
    if risk.penalty().is_none() || !risk.penalty().free_columns().is_empty() {
        let reason = "multipliers prove nothing about columns without a penalty";
        return Ok((objective, Certificate::Absent { reason: reason.into() }));
    }
    let feasible = feasible_multipliers(risk, multipliers);
    let mut values = vec![0.0; feasible.len()];
    let mut entropy = CompensatedSum::default();
    for (i, u) in feasible.iter().enumerate() {
        let s = sample.weights.map_or(1.0, |w| w[i]);
        let theta = if sample.labels[i] == Class(1) { -u } else { *u };
        values[i] = s * theta;
        if s > 0.0 {
            entropy.add(s * risk.loss().dual_value(sample.labels[i], &[theta]));
            entropy.add(values[i] * sample.offsets.map_or(0.0, |o| o[i]));
        }
    }
    let (sums, totals) = risk.weighted_sums(&values, watch)?;
    let total = risk.total_weight();
    // Multipliers that miss Σsyu = 0 by rounding exceed the optimum by at most that times the intercept.
    let allowance = match risk.intercept() {
        Intercept::Free => (totals[0] * coef.intercept()[0]).abs() / total,
        Intercept::None | Intercept::Penalised => 0.0,
    };
    let value = entropy.value() / total - penalty_conjugate(risk, &sums, &totals, 1.0);
    Ok((objective, gap_between(risk, objective, &DualBound { value, allowance })))
}
