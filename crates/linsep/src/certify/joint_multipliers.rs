//! The duality gap of a support vector machine of several classes from its multipliers.
//!
//! The multipliers of a row are probabilities p over the classes, `θ = p − e_y`; `D(p) = (1/S)Σs[(1 − p_y) + θ·o] −
//! (λΩ)*(X̂ᵀ(sθ)/S)`, with `Σ s(p_k − 1{y=k}) = 0` of every class for free intercepts.

use super::Certificate;
use super::dual_bound::{DualBound, penalty_conjugate};
use super::gap::gap_between;
use crate::error::{Error, Result};
use crate::linalg::{Square, factor};
use crate::numeric::CompensatedSum;
use crate::objective::{Coef, CrammerSinger, Dual, Intercept, Loss, Penalty, Risk};
use crate::watch::Watch;

/// Classes whose sums are right up to this share are balanced, about 5 units; the gap allows for the rest.
const BALANCED: f64 = 1e-15;
/// Newton steps towards the balance at most; convergence is quadratic.
const BALANCING: usize = 8;
/// On the unit-diagonal scale, the pivot of the common shift of all classes, which is zero, is below this.
const INDEPENDENT: f64 = 1e-12;

/// The nearest feasible multipliers, row by row and class by class: probabilities, and for free intercepts scaled, or mixed
/// with constant ones, until `Σ s p_k` is the weight of class k.
pub fn feasible_joint_multipliers<P: Penalty>(risk: &Risk<'_, CrammerSinger, P>, multipliers: &[f64]) -> Vec<f64> {
    let (k, sample) = (risk.loss().n_classes(), risk.sample());
    let mut feasible: Vec<f64> = multipliers.iter().map(|p| p.max(0.0)).collect();
    for (p, class) in feasible.chunks_exact_mut(k).zip(sample.labels) {
        let others: f64 = (0..k).filter(|c| *c != class.index()).map(|c| p[c]).sum();
        if others > 1.0 {
            p.iter_mut().for_each(|p| *p /= others);
        }
        p[class.index()] = (1.0 - others).max(0.0);
    }
    if risk.intercept() != Intercept::Free {
        return feasible;
    }
    balance(risk, &mut feasible);
    let (have, want) = (class_sums(risk, &feasible), risk.class_totals());
    let share = have.iter().zip(want).map(|(have, want)| 1.0 - want / have).fold(0.0, f64::max);
    if share > 10.0 * BALANCED {
        let total = risk.total_weight();
        let rest: Vec<f64> =
            have.iter().zip(want).map(|(h, w)| ((w - (1.0 - share) * h) / (share * total)).max(0.0)).collect();
        let sum: f64 = rest.iter().sum();
        for p in feasible.chunks_exact_mut(k) {
            p.iter_mut().zip(&rest).for_each(|(p, r)| *p = (1.0 - share) * *p + share * r / sum);
        }
    }
    feasible
}

/// `Σ s p` of every class.
fn class_sums<P: Penalty>(risk: &Risk<'_, CrammerSinger, P>, p: &[f64]) -> Vec<f64> {
    let k = risk.loss().n_classes();
    let mut sums = vec![CompensatedSum::default(); k];
    for (i, p) in p.chunks_exact(k).enumerate() {
        let s = risk.sample().weights.map_or(1.0, |w| w[i]);
        sums.iter_mut().zip(p).for_each(|(sum, p)| sum.add(s * p));
    }
    sums.into_iter().map(CompensatedSum::value).collect()
}

/// Balances the classes, `Σ s p_k = n_k`, by a shift g of the intercepts: `p_k ← p_k e^{g_k}/Σ`. Zeros stay zero, so the
/// support vectors stay the same. Newton's method for g; where too few rows lie between classes for it, nothing is changed.
fn balance<P: Penalty>(risk: &Risk<'_, CrammerSinger, P>, p: &mut [f64]) {
    let (k, sample, want) = (risk.loss().n_classes(), risk.sample(), risk.class_totals());
    let miss =
        |p: &[f64]| -> Vec<f64> { class_sums(risk, p).iter().zip(want).map(|(have, want)| want - have).collect() };
    let size = |miss: &[f64]| miss.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let mut missing = miss(p);
    let mut support = Vec::new();
    for _ in 0..BALANCING {
        let before = size(&missing);
        if !(before > BALANCED * risk.total_weight()) {
            return;
        }
        // −Σ s p_k p_l beside the diagonal: rows add up to zero.
        let mut curvature = Square::zeros(k);
        for (i, p) in p.chunks_exact(k).enumerate().filter(|(_, p)| p.iter().all(|p| *p < 1.0)) {
            let s = sample.weights.map_or(1.0, |w| w[i]);
            support.clear();
            support.extend((0..k).filter(|c| p[*c] > 0.0));
            for (at, a) in support.iter().copied().enumerate() {
                *curvature.at(a, a) += s * p[a] * (1.0 - p[a]);
                support[..at].iter().for_each(|b| *curvature.at(a, *b) -= s * p[a] * p[*b]);
            }
        }
        let move_by = factor(&curvature, INDEPENDENT).solve(&missing);
        if !(size(&move_by) < 1.0) {
            return;
        }
        let mut moved = p.to_vec();
        for p in moved.chunks_exact_mut(k).filter(|p| p.iter().all(|p| *p < 1.0)) {
            p.iter_mut().zip(&move_by).for_each(|(p, g)| *p *= g.exp());
            let total: f64 = p.iter().sum();
            p.iter_mut().for_each(|p| *p /= total);
        }
        let found = miss(&moved);
        if !(size(&found) < before) {
            return;
        }
        p.copy_from_slice(&moved);
        missing = found;
    }
}

/// The objective at some coefficients, and its gap to the dual value of some multipliers, which are first made feasible.
pub fn joint_multiplier_gap<P: Penalty>(
    risk: &Risk<'_, CrammerSinger, P>,
    coef: &Coef,
    multipliers: &[f64],
    watch: &Watch,
) -> Result<(f64, Certificate)> {
    let (k, sample) = (risk.loss().n_classes(), risk.sample());
    if multipliers.len() != sample.labels.len() * k || multipliers.iter().any(|p| !p.is_finite()) {
        return Err(Error::model(format!("{} multipliers for {} rows", multipliers.len(), sample.labels.len())));
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
    let mut values = feasible_joint_multipliers(risk, multipliers);
    let mut entropy = CompensatedSum::default();
    for (i, theta) in values.chunks_exact_mut(k).enumerate() {
        let (s, class) = (sample.weights.map_or(1.0, |w| w[i]), sample.labels[i]);
        let others: f64 = (0..k).filter(|c| *c != class.index()).map(|c| theta[c]).sum();
        // As a difference, so that the row adds up to zero to the last bit.
        theta[class.index()] = -others;
        if s > 0.0 {
            entropy.add(s * risk.loss().dual_value(class, theta));
        }
        theta.iter_mut().for_each(|t| *t *= s);
        if let Some(offsets) = sample.offsets {
            theta.iter().zip(&offsets[i * k..]).for_each(|(t, o)| entropy.add(t * o));
        }
    }
    let (sums, totals) = risk.weighted_sums(&values, watch)?;
    let total = risk.total_weight();
    // Multipliers that miss the balance by rounding exceed the optimum by at most that times the intercepts.
    let allowance = match risk.intercept() {
        Intercept::Free => totals.iter().zip(coef.intercept()).map(|(t, b)| (t * b).abs()).sum::<f64>() / total,
        Intercept::None | Intercept::Penalised => 0.0,
    };
    let value = entropy.value() / total - penalty_conjugate(risk, &sums, &totals, 1.0);
    Ok((objective, gap_between(risk, objective, &DualBound { value, allowance })))
}
