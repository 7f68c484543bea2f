//! The duality gap of a ridge-penalised risk.
//!
//! `D(θ) = −(1/S)Σsℓ*(θ) + (1/S)Σsθ·o − ‖Xᵀ(sθ)/S‖²/(2λ)`, with `Σsθ = 0` for a free intercept: without that
//! constraint D may exceed the optimum. The loss supplies a feasible θ near its derivative at the scores.

use super::{Certificate, rounding_allowance};
use crate::error::Result;
use crate::objective::{Conjugate, DualRecipe, Intercept, Penalty, Point, Risk};
use crate::watch::Watch;

/// The gap at a point; [`Certificate::Absent`] without a penalty, where the dual bound is void.
pub fn duality_gap<L: Conjugate>(risk: &Risk<'_, L>, point: &Point, watch: &Watch) -> Result<Certificate> {
    let Penalty::Ridge { lambda } = risk.penalty() else {
        return Ok(Certificate::Absent { reason: "without a penalty there is no duality gap".into() });
    };
    let sample = risk.sample();
    let balanced = risk.intercept() == Intercept::Free;
    let dual = risk.loss().dual_point(sample.labels, &point.scores, sample.weights, sample.offsets, balanced);
    let total = risk.total_weight();
    let sums = dual_sums(risk, point, &dual.recipe, watch)?;
    let mut norm: f64 = sums.iter().map(|g| (g / total) * (g / total)).sum();
    if risk.intercept() == Intercept::Penalised {
        norm += dual.total.iter().map(|t| (t / total) * (t / total)).sum::<f64>();
    }
    let value = (dual.entropy + dual.offset_term) / total - norm / (2.0 * lambda);
    let objective = point.objective;
    // A dual point that misses Σsθ = 0 by rounding exceeds the optimum by at most that times the intercept.
    let unbalanced = match balanced {
        true => dual.total.iter().zip(point.coef.intercept()).map(|(t, b)| (t * b).abs()).sum::<f64>() / total,
        false => 0.0,
    };
    let allowance = rounding_allowance(objective, value) + unbalanced;
    // A lower bound far above the objective is no rounding but an inconsistency, for example in an edited model.
    if value.is_nan() || value - objective > 1e-6 * (objective.abs() + value.abs()) {
        let reason = format!("the dual value {value} exceeds the objective {objective}: they do not belong together");
        return Ok(Certificate::Absent { reason });
    }
    let gap = (objective - value).max(0.0) + allowance;
    let reference = objective.abs().max(risk.null_objective());
    Ok(Certificate::DualityGap {
        objective,
        dual: value,
        gap,
        relative_gap: gap / reference,
        weight_distance: Some((2.0 * gap / lambda).sqrt()),
    })
}

/// `Σ sᵢ θᵢ xᵢᵀ` from the sums of the primal pass.
fn dual_sums<L: Conjugate>(risk: &Risk<'_, L>, point: &Point, recipe: &DualRecipe, watch: &Watch) -> Result<Vec<f64>> {
    let width = risk.loss().n_scores() * risk.n_cols();
    let cols = risk.n_cols();
    match recipe {
        DualRecipe::ScaleClasses(scale) => {
            let mut sums = vec![0.0; width];
            for (class, c) in point.gradient_sums.chunks_exact(width.max(1)).zip(scale) {
                sums.iter_mut().zip(class).for_each(|(s, g)| *s += c * g);
            }
            Ok(sums)
        }
        DualRecipe::Mix { share, probabilities } => {
            // One score keeps its sums per class; here they count alike.
            let mut sums = vec![0.0; width];
            for group in point.gradient_sums.chunks_exact(width.max(1)) {
                sums.iter_mut().zip(group).for_each(|(s, g)| *s += (1.0 - share) * g);
            }
            if *share > 0.0 {
                let class_sums = risk.class_sums(watch)?;
                let fixed = risk.loss().n_classes() - probabilities.len();
                for (c, p) in probabilities.iter().enumerate() {
                    for j in 0..cols {
                        let all: f64 = (0..risk.loss().n_classes()).map(|k| class_sums[k * cols + j]).sum();
                        sums[c * cols + j] += share * (p * all - class_sums[(c + fixed) * cols + j]);
                    }
                }
            }
            Ok(sums)
        }
    }
}
