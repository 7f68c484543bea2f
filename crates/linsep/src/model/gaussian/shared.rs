//! One covariance: linear discriminants.
//!
//! `g_k(x) = (μ_k−μ̄)ᵀΣ⁻¹(x−μ̄) − ½(μ_k−μ̄)ᵀΣ⁻¹(μ_k−μ̄) + log π_k`: the usual `w_k = Σ⁻¹μ_k` less their common part, so that
//! a large offset of a column costs no digits. Two classes keep the difference `g₁ − g₀`, the log-odds.

use super::GaussianSolved;
use super::problem::{ALIAS_TOLERANCE, GaussianProblem};
use crate::certify::{Certificate, CoefficientErrors, linear_system_errors, linear_system_residual};
use crate::discriminant::{Discriminant, Linear};
use crate::error::{Error, Result};
use crate::linalg::{Factor, Square, dot, factor};
use crate::numeric::rounding_bound;

const EQUATIONS: &str = "Σ w_k = μ_k − μ̄";
/// Far more than the roundings of a sum of one positive term per column.
const ROUNDED_UP: f64 = 1.0 + 1e-9;

pub(super) fn solve(problem: &GaussianProblem) -> Result<GaussianSolved> {
    let covariance = problem.distinct(problem.covariance_of(0));
    let factor = factor(&covariance, ALIAS_TOLERANCE);
    let collinear = problem.collinear(&factor)?;
    let contrasts: Vec<Vec<f64>> = (0..problem.priors.len()).map(|k| problem.contrast(k)).collect();
    let directions: Vec<Vec<f64>> = contrasts.iter().map(|c| factor.solve(c)).collect();
    let pairs: Vec<(Vec<f64>, Vec<f64>)> = directions.iter().cloned().zip(contrasts).collect();
    let mut certificate = linear_system_residual(&covariance, factor.kept(), &pairs, EQUATIONS);
    let discriminant = discriminant(problem, &directions)?;
    if let (Certificate::ClosedForm { errors, .. }, Some(linear)) = (&mut certificate, discriminant.as_linear()) {
        *errors = coefficient_errors(problem, linear, &covariance, factor.kept());
    }
    Ok(GaussianSolved { discriminant, certificate, objective: objective(problem, &factor), collinear })
}

/// The residual of `Σ w_k = μ_k − μ̄` and of the intercepts at given discriminants.
pub(super) fn certify(problem: &GaussianProblem, linear: &Linear) -> Result<(f64, Certificate)> {
    let classes = problem.priors.len();
    let scores = if classes == 2 { 1 } else { classes };
    if linear.n_cols() != problem.scale.len() || linear.n_scores() != scores {
        return Err(Error::model("the model does not have the columns and classes of the data"));
    }
    let covariance = problem.distinct(problem.covariance_of(0));
    let factor = factor(&covariance, ALIAS_TOLERANCE);
    let pairs = equations(problem, linear);
    let mut certificate = linear_system_residual(&covariance, factor.kept(), &pairs, EQUATIONS);
    if let Certificate::ClosedForm { relative_residual, errors, .. } = &mut certificate {
        *relative_residual = relative_residual.max(intercept_residual(problem, linear, &pairs, factor.kept()));
        *errors = coefficient_errors(problem, linear, &covariance, factor.kept());
    }
    Ok((objective(problem, &factor), certificate))
}

/// The weights of each score in the units of the fit, and the right-hand side of their equations.
fn equations(problem: &GaussianProblem, linear: &Linear) -> Vec<(Vec<f64>, Vec<f64>)> {
    let scaled = |k: usize| linear.weights_of(k).iter().zip(&problem.scale).map(|(w, s)| w * s).collect::<Vec<f64>>();
    match problem.priors.len() {
        2 => {
            let difference = problem.contrast(1).iter().zip(problem.contrast(0)).map(|(a, b)| a - b).collect();
            vec![(scaled(0), difference)]
        }
        classes => (0..classes).map(|k| (scaled(k), problem.contrast(k))).collect(),
    }
}

/// How far the stored coefficients may be from those of the exact moments of the rows, rounding of both included.
fn coefficient_errors(
    problem: &GaussianProblem,
    linear: &Linear,
    covariance: &Square,
    used: &[usize],
) -> Option<CoefficientErrors> {
    let entry_error = problem.covariance_error()?;
    let contrast_errors = (0..problem.scale.len()).map(|j| problem.contrast_error(j)).collect::<Option<Vec<f64>>>()?;
    let systems: Vec<(Vec<f64>, Vec<f64>, Vec<f64>)> =
        equations(problem, linear).into_iter().map(|(w, m)| (w, m, contrast_errors.clone())).collect();
    let found = linear_system_errors(covariance, used, entry_error, &systems)?;
    let rounding = rounding_bound(used.len() + 16);
    let (two, first, second) = (problem.priors.len() == 2, problem.contrast(0), problem.contrast(1));
    let (mut weights, mut intercept) = (Vec::new(), Vec::new());
    for (k, ((w, m, _), errors)) in systems.iter().zip(&found).enumerate() {
        // In the units of the columns: one more product and quotient.
        let in_columns = |j: usize| (errors[j] + 4.0 * f64::EPSILON * w[j].abs()) / problem.scale[j] * ROUNDED_UP;
        weights.extend((0..w.len()).map(in_columns));
        // ½ w·m, or ½ w·(m₁ + m₀) of two classes, and logarithms of priors.
        let sum = |j: usize| if two { first[j].abs() + second[j].abs() } else { m[j].abs() };
        let terms = used.iter().map(|j| {
            let (size, error) = (sum(*j), 2.0 * contrast_errors[*j]);
            (errors[*j] + rounding * w[*j].abs()) * (size + error) + w[*j].abs() * error
        });
        let constant = linear.intercept_at_centre()[k].abs() + problem.priors.iter().map(|p| p.ln().abs()).sum::<f64>();
        intercept.push((terms.sum::<f64>() + rounding * constant) * ROUNDED_UP);
    }
    Some(CoefficientErrors { weights, intercept })
}

fn discriminant(problem: &GaussianProblem, directions: &[Vec<f64>]) -> Result<Discriminant> {
    let value = |k: usize| {
        let half: f64 = directions[k].iter().zip(problem.contrast(k)).map(|(w, m)| w * m).sum::<f64>() * 0.5;
        problem.priors[k].ln() - half
    };
    let in_columns = |w: f64, j: usize| w / problem.scale[j];
    let linear = if directions.len() == 2 {
        let weights = (0..problem.scale.len()).map(|j| in_columns(directions[1][j] - directions[0][j], j)).collect();
        Linear::new(weights, problem.centre.clone(), vec![value(1) - value(0)])?
    } else {
        let weights = directions.iter().flat_map(|w| w.iter().enumerate().map(|(j, w)| in_columns(*w, j))).collect();
        Linear::new(weights, problem.centre.clone(), (0..directions.len()).map(value).collect())?
    };
    Ok(Discriminant::Linear(linear))
}

/// How far the intercepts of given discriminants are from `log π_k − ½ w_k·(μ_k−μ̄)`; one where a column that is not in
/// use has a weight.
fn intercept_residual(
    problem: &GaussianProblem,
    linear: &Linear,
    pairs: &[(Vec<f64>, Vec<f64>)],
    used: &[usize],
) -> f64 {
    let unused = |w: &Vec<f64>| w.iter().enumerate().any(|(j, w)| *w != 0.0 && used.binary_search(&j).is_err());
    if pairs.iter().any(|(w, _)| unused(w)) {
        return 1.0;
    }
    let dot = |w: &[f64], m: &[f64]| w.iter().zip(m).map(|(w, m)| w * m).sum::<f64>();
    let mut worst = 0.0f64;
    // Terms as large as these cancel in an intercept where the classes are many standard deviations apart.
    let size = |w: &[f64], m: &[f64]| w.iter().zip(m).map(|(w, m)| (w * m).abs()).sum::<f64>();
    for (k, (w, contrast)) in pairs.iter().enumerate() {
        let (expected, terms) = if problem.priors.len() == 2 {
            // w₁·m₁ − w₀·m₀ = w·(m₁ + m₀) for w = Σ⁻¹(m₁ − m₀).
            let (first, second) = (problem.contrast(0), problem.contrast(1));
            let sum: Vec<f64> = second.iter().zip(&first).map(|(a, b)| a + b).collect();
            let expected = problem.priors[1].ln() - problem.priors[0].ln() - 0.5 * dot(w, &sum);
            (expected, 0.5 * (size(w, &first) + size(w, &second)))
        } else {
            (problem.priors[k].ln() - 0.5 * dot(w, contrast), 0.5 * size(w, contrast))
        };
        let moves = linear.weights_of(k).iter().zip(problem.centre.iter().zip(linear.centre()));
        let found = linear.intercept_at_centre()[k] + moves.map(|(w, (to, from))| w * (to - from)).sum::<f64>();
        worst = worst.max((found - expected).abs() / (1.0 + expected.abs() + terms));
    }
    worst
}

/// The mean negative log-likelihood of rows and labels, on the columns in use.
fn objective(problem: &GaussianProblem, factor: &Factor) -> f64 {
    let weights = problem.moments.weights();
    let total: f64 = weights.iter().sum();
    let used = factor.kept();
    let log_scales: f64 = used.iter().map(|j| 2.0 * problem.scale[*j].ln()).sum();
    let scatter = problem.moments.scatter();
    let solved = |j: &usize| {
        let entry = |i: usize| scatter.get(i, *j) / (total * problem.scale[i] * problem.scale[*j]);
        factor.solve(&(0..problem.scale.len()).map(entry).collect::<Vec<f64>>())[*j]
    };
    let trace = match &problem.plain_divisors {
        // Σ⁻¹S is the divisor times the identity.
        Some(divisors) => divisors[0] / total * used.len() as f64,
        None => used.iter().map(solved).sum::<f64>(),
    };
    let away = |k: usize| {
        let offset = problem.offset(k);
        weights[k] / total * dot(&offset, &factor.solve(&offset))
    };
    let away: f64 = (0..weights.len()).map(away).sum();
    let constant = used.len() as f64 * (2.0 * std::f64::consts::PI).ln();
    problem.label_loss() + 0.5 * (constant + factor.log_determinant() + log_scales + trace + away)
}
