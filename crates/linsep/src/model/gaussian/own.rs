//! A covariance for each class: quadratic discriminants.
//!
//! `g_k(x) = log π_k − ½ log|Σ_k| − ½‖A_k(x−μ_k)‖²` with `A_k Σ_k A_kᵀ = I`, A_k the inverse of the Cholesky factor. The
//! determinant is that in the units of the fit: another unit of a column would only add the same number to all classes.

use super::GaussianSolved;
use super::problem::{ALIAS_TOLERANCE, GaussianProblem};
use crate::certify::Certificate;
use crate::discriminant::{Discriminant, Quadratic};
use crate::error::{Error, Result};
use crate::linalg::{Factor, Square, dot, factor};
use crate::model::Note;
use crate::words::{Setting, Span, words};

const EQUATIONS: &str = "A_k Σ_k A_kᵀ = I";

/// The columns in use, one factor for each class.
struct Factors {
    collinear: Vec<Note>,
    of: Vec<Factor>,
}

pub(super) fn solve(problem: &GaussianProblem) -> Result<GaussianSolved> {
    let factors = factors(problem)?;
    let d = problem.scale.len();
    let (mut centres, mut whitening, mut constants) = (Vec::new(), Vec::new(), Vec::new());
    let mut worst = 0.0f64;
    for (k, factor) in factors.of.iter().enumerate() {
        let mut a = factor.whitening();
        worst = worst.max(whitening_residual(&a, problem.covariance_of(k), factor.kept()));
        for row in a.chunks_exact_mut(d.max(1)) {
            row.iter_mut().zip(&problem.scale).for_each(|(a, s)| *a /= s);
        }
        whitening.extend((0..d).flat_map(|i| a[i * d..=i * d + i].to_vec()));
        centres.extend_from_slice(&problem.means[k]);
        constants.push(problem.priors[k].ln() - 0.5 * factor.log_determinant());
    }
    let discriminant = Discriminant::Quadratic(Quadratic::new(centres, whitening, constants)?);
    let certificate =
        Certificate::ClosedForm { equations: EQUATIONS.to_owned(), relative_residual: worst, errors: None };
    Ok(GaussianSolved {
        discriminant,
        certificate,
        objective: objective(problem, &factors),
        collinear: factors.collinear,
    })
}

/// The residual of `A_k Σ_k A_kᵀ = I`, of the centres and of the constants at given discriminants.
pub(super) fn certify(problem: &GaussianProblem, given: &Quadratic) -> Result<(f64, Certificate)> {
    let d = problem.scale.len();
    if given.n_cols() != d || given.n_classes() != problem.priors.len() {
        return Err(Error::model("the model does not have the columns and classes of the data"));
    }
    let factors = factors(problem)?;
    let mut worst = 0.0f64;
    for (k, factor) in factors.of.iter().enumerate() {
        let a: Vec<f64> = (0..d * d).map(|at| given.whitening_at(k, at / d, at % d) * problem.scale[at % d]).collect();
        worst = worst.max(whitening_residual(&a, problem.covariance_of(k), factor.kept()));
        let moved: Vec<f64> = (0..d).map(|j| (given.centre(k)[j] - problem.means[k][j]) / problem.scale[j]).collect();
        let off = a.chunks_exact(d.max(1)).map(|row| row.iter().zip(&moved).map(|(a, m)| a * m).sum::<f64>().abs());
        worst = worst.max(off.fold(0.0, f64::max));
        let expected = problem.priors[k].ln() - 0.5 * factor.log_determinant();
        worst = worst.max((given.constants()[k] - expected).abs() / (1.0 + expected.abs()));
    }
    let certificate =
        Certificate::ClosedForm { equations: EQUATIONS.to_owned(), relative_residual: worst, errors: None };
    Ok((objective(problem, &factors), certificate))
}

/// Columns that are combinations of others in all classes alike are left out; in one class alone they make its
/// covariance singular, which is refused.
fn factors(problem: &GaussianProblem) -> Result<Factors> {
    let pooled = factor(&problem.distinct(&problem.pooled()), ALIAS_TOLERANCE);
    let collinear = problem.collinear(&pooled)?;
    let of_class = |(k, covariance): (usize, &Square)| {
        let mut kept = covariance.clone();
        kept.keep_only(pooled.kept());
        let factor = factor(&kept, ALIAS_TOLERANCE);
        let new = factor.aliased().iter().find(|a| pooled.kept().binary_search(&a.column).is_ok());
        match new {
            None => Ok(factor),
            Some(alias) => {
                let mut what: Vec<Span> = vec![
                    "within ".into(),
                    Span::Class(problem.class_name(k).to_owned()),
                    " ".into(),
                    Span::Column(alias.column),
                    " is ".into(),
                ];
                what.push(if alias.combination.is_empty() { "constant" } else { "a combination of " }.into());
                for (place, (j, _)) in alias.combination.iter().take(4).enumerate() {
                    what.push(if place == 0 { "" } else { ", " }.into());
                    what.push(Span::Column(*j));
                }
                what.push(": the covariance of the class is singular".into());
                Err(Error::data(what)
                    .help(words!["use ", Setting::Shrinkage.is("auto")])
                    .help(words!["use ", Setting::Model.is("lda")])
                    .help("drop the column"))
            }
        }
    };
    let of = problem.covariances.iter().enumerate().map(of_class).collect::<Result<Vec<_>>>()?;
    Ok(Factors { collinear, of })
}

/// `max |A Σ Aᵀ − I|` on the columns in use; one where a column that is not in use has a row.
fn whitening_residual(a: &[f64], covariance: &Square, used: &[usize]) -> f64 {
    let d = covariance.n();
    let product = covariance.congruence(a);
    let mut worst = 0.0f64;
    for i in 0..d {
        let in_use = used.binary_search(&i).is_ok();
        for j in 0..=i {
            let expected = if i == j && in_use { 1.0 } else { 0.0 };
            worst = worst.max((product[i * d + j] - expected).abs());
        }
        if !in_use && (a[i * d..(i + 1) * d].iter().any(|v| *v != 0.0) || (0..d).any(|r| a[r * d + i] != 0.0)) {
            return 1.0;
        }
    }
    worst
}

/// `log|Σ_k|` in the units of the columns.
fn log_determinant(problem: &GaussianProblem, factor: &Factor) -> f64 {
    factor.log_determinant() + factor.kept().iter().map(|j| 2.0 * problem.scale[*j].ln()).sum::<f64>()
}

/// The mean negative log-likelihood of rows and labels, on the columns in use.
fn objective(problem: &GaussianProblem, factors: &Factors) -> f64 {
    let total: f64 = problem.moments.weights().iter().sum();
    let d = problem.scale.len();
    let loss = |(k, factor): (usize, &Factor)| {
        let n = problem.moments.weight(k);
        let used = factor.kept().len() as f64;
        let trace = match &problem.plain_divisors {
            Some(divisors) => divisors[k] / n * used,
            None => {
                let scatter = problem.moments.scatter_of(k);
                let scaled =
                    Square::from_lower(d, |i, j| scatter.get(i, j) / (n * problem.scale[i] * problem.scale[j]));
                let product = scaled.congruence(&factor.whitening());
                (0..d).map(|i| product[i * d + i]).sum()
            }
        };
        let offset = problem.offset(k);
        let away = dot(&offset, &factor.solve(&offset));
        let constant = used * (2.0 * std::f64::consts::PI).ln();
        0.5 * n / total * (constant + log_determinant(problem, factor) + trace + away)
    };
    problem.label_loss() + factors.of.iter().enumerate().map(loss).sum::<f64>()
}
