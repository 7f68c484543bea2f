//! The duality gap of a penalised risk.
//!
//! `D(θ) = −(1/S)Σsℓ*(θ) + (1/S)Σsθ·o − (λΩ)*(−Xᵀ(sθ)/S)`, with `Σsθ = 0` for a free intercept: without that constraint
//! D may exceed the optimum. The loss supplies a feasible θ near its derivative at the scores. A lasso without a ridge
//! part demands `|X_jᵀsθ|/S ≤ λαf_j` as well, for which θ shrinks; columns that are not penalised demand `X_jᵀsθ = 0`,
//! for which see [`super::free_columns`].

use super::dual_bound::{DualBound, feasible_shrink, penalty_conjugate};
use super::free_columns::corrected_dual;
use super::{Certificate, rounding_allowance};
use crate::error::Result;
use crate::objective::{DualRecipe, Intercept, Loss, Penalty, Point, RiskFrame, Smooth};
use crate::watch::Watch;
use std::borrow::Cow;

/// Classes whose balance is off by no more than this are left as they are, which saves a pass over wide rows, and the
/// bound allows for the rest; raised from 1e-14 for that.
const BALANCED: f64 = 1e-12;

/// A dual value that exceeds the objective by more than this fraction contradicts weak duality; rounding is far below it.
const INCONSISTENT: f64 = 1e-6;

/// The gap at a point; [`Certificate::Absent`] without a penalty, where the dual bound is void.
pub fn duality_gap<P: Smooth>(risk: &P, point: &Point<P::Scores>, watch: &Watch) -> Result<Certificate> {
    if risk.penalty().is_none() {
        return Ok(Certificate::Absent { reason: "without a penalty there is no duality gap".into() });
    }
    let bound = if risk.penalty().free_columns().is_empty() {
        near_gradient(risk, point, watch)?
    } else {
        let (Some(rows), Some(here)) = (risk.rows_here(), risk.point_here(point)) else {
            let reason = "columns without a penalty need all rows in memory";
            return Ok(Certificate::Absent { reason: reason.into() });
        };
        match corrected_dual(rows, here, watch)? {
            Some(bound) => bound,
            None => {
                let reason = "too far from the optimum for a dual point that leaves the columns without a penalty free";
                return Ok(Certificate::Absent { reason: reason.into() });
            }
        }
    };
    Ok(gap_between(risk, point.objective, &bound))
}

/// The certificate for an objective and a lower bound.
pub(super) fn gap_between<P: RiskFrame>(risk: &P, objective: f64, bound: &DualBound) -> Certificate {
    let value = bound.value;
    // A lower bound far above the objective is no rounding but an inconsistency, for example in an edited model.
    if value.is_nan() || value - objective > INCONSISTENT * (objective.abs() + value.abs()) {
        let reason = format!("the dual value {value} exceeds the objective {objective}: they do not belong together");
        return Certificate::Absent { reason };
    }
    let gap = (objective - value).max(0.0) + rounding_allowance(objective, value) + bound.allowance;
    let reference = objective.abs().max(risk.null_objective());
    let penalty = risk.penalty();
    let smallest = penalty.factors().map_or(1.0, |f| f.iter().copied().fold(f64::INFINITY, f64::min));
    let convexity = penalty.ridge() * smallest;
    Certificate::DualityGap {
        objective,
        dual: value,
        gap,
        relative_gap: gap / reference,
        weight_distance: (convexity > 0.0).then(|| (2.0 * gap / convexity).sqrt()),
        ridge_added: None,
        errors: None,
        intercept_distance: None,
    }
}

/// D at the loss's own dual point.
fn near_gradient<P: Smooth>(risk: &P, point: &Point<P::Scores>, watch: &Watch) -> Result<DualBound> {
    let balanced = risk.intercept() == Intercept::Free;
    let mut dual = risk.dual_point(point, balanced, 1.0)?;
    let mut scaled = balanced;
    if let DualRecipe::ScaleClasses(scale) = &dual.recipe
        && point.gradient_sums.len() == risk.n_cols()
        && (scale[0] - scale[1]).abs() <= BALANCED
    {
        // Wide rows keep one sum for both classes, so classes that are balanced but for rounding are not scaled.
        scaled = false;
        dual = risk.dual_point(point, false, 1.0)?;
    }
    let total = risk.total_weight();
    let sums = dual_sums(risk, point, &dual.recipe, watch)?;
    let mut shrink = 1.0;
    if risk.penalty().ridge() == 0.0 {
        shrink = feasible_shrink(risk, &sums, &dual.total);
        if shrink < 1.0 {
            dual = risk.dual_point(point, scaled, shrink)?;
        }
    }
    let conjugate = penalty_conjugate(risk, &sums, &dual.total, shrink);
    // A dual point that misses Σsθ = 0 by rounding exceeds the optimum by at most that times the intercept.
    let allowance = match balanced {
        true => dual.total.iter().zip(point.coef.intercept()).map(|(t, b)| (t * b).abs()).sum::<f64>() / total,
        false => 0.0,
    };
    Ok(DualBound { value: (dual.entropy + dual.offset_term) / total - conjugate, allowance })
}

/// `Σ sᵢ θᵢ xᵢᵀ` from the sums of the primal pass.
fn dual_sums<'p, P: Smooth>(
    risk: &P,
    point: &'p Point<P::Scores>,
    recipe: &DualRecipe,
    watch: &Watch,
) -> Result<Cow<'p, [f64]>> {
    let width = risk.loss().n_scores() * risk.n_cols();
    let cols = risk.n_cols();
    let classes = risk.loss().n_classes();
    // One score keeps its sums per class.
    let add_groups = |sums: &mut [f64], scale: &dyn Fn(usize) -> f64| {
        for (group, values) in point.gradient_sums.chunks_exact(width.max(1)).enumerate() {
            sums.iter_mut().zip(values).for_each(|(s, g)| *s += scale(group) * g);
        }
    };
    // Sums that need no scaling are those of the point; of many columns a copy would cost more than the rest.
    let as_they_are = match recipe {
        DualRecipe::ScaleClasses(scale) => scale.iter().all(|s| *s == 1.0),
        DualRecipe::Mix { share, .. } => *share == 0.0,
        DualRecipe::Shift(means) => means.iter().all(|m| *m == 0.0),
    };
    if as_they_are && point.gradient_sums.len() == width {
        return Ok(Cow::Borrowed(&point.gradient_sums));
    }
    let mut sums = vec![0.0; width];
    match recipe {
        DualRecipe::ScaleClasses(scale) if point.gradient_sums.len() > width => {
            add_groups(&mut sums, &|class| scale[class]);
        }
        // Wide rows keep one sum for both classes.
        DualRecipe::ScaleClasses(scale) if scale[0] == scale[1] => add_groups(&mut sums, &|_| scale[0]),
        DualRecipe::ScaleClasses(scale) => sums = risk.class_scaled_sums(point, *scale, watch)?,
        DualRecipe::Mix { share, probabilities } => {
            add_groups(&mut sums, &|_| 1.0 - share);
            if *share > 0.0 {
                let class_sums = risk.class_sums(watch)?;
                let fixed = classes - risk.loss().n_scores();
                for (c, p) in probabilities[fixed..].iter().enumerate() {
                    for j in 0..cols {
                        let all: f64 = (0..classes).map(|k| class_sums[k * cols + j]).sum();
                        sums[c * cols + j] += share * (p * all - class_sums[(c + fixed) * cols + j]);
                    }
                }
            }
        }
        DualRecipe::Shift(means) => {
            add_groups(&mut sums, &|_| 1.0);
            if means.iter().any(|m| *m != 0.0) {
                let class_sums = risk.class_sums(watch)?;
                for (i, sum) in sums.iter_mut().enumerate() {
                    let all: f64 = (0..classes).map(|k| class_sums[k * cols + i % cols]).sum();
                    *sum -= means[i / cols] * all;
                }
            }
        }
    }
    Ok(Cow::Owned(sums))
}
