//! The hypotheses that were asked about, each by three tests: likelihood ratio, score and Wald.

use super::covariance::EstimateCovariance;
use super::firth::Penalised;
use super::hypothesis::{Hypothesis, parse};
use super::maximum::InformationMetric;
use super::restricted::{RestrictedGoal, Restriction, restricted_maxima};
use super::run::InferenceRun;
use super::term_tests::wald_statistic;
use crate::error::{Error, ErrorKind, Result, nearest};
use crate::linalg::{Eigen, dot};
use crate::numeric::{chi_square_ln_tail, chi_square_quantile};

/// A statistic that is χ² under the hypothesis, and the logarithm of its p value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tested {
    /// The statistic.
    pub statistic: f64,
    /// The natural logarithm of the p value.
    pub ln_p: f64,
}

/// A hypothesis and its tests.
#[derive(Debug, Clone, PartialEq)]
pub struct HypothesisTest {
    /// As it was asked.
    pub hypothesis: String,
    /// Restrictions.
    pub df: usize,
    /// Twice the fall of the log-likelihood; not under a robust covariance.
    pub ratio: Option<Tested>,
    /// The gradient at the restricted maximum, in the metric of the information there; of maximum likelihood only.
    pub score: Option<Tested>,
    /// The distance of the estimates.
    pub wald: Tested,
    /// Where the estimates may be jointly, of at least two restrictions.
    pub ellipsoid: Option<Ellipsoid>,
}

/// All values `b` of some functions of the coefficients with `(b − centre)ᵀ V⁻¹ (b − centre) ≤ radius²`: it covers the truth
/// with the level of the intervals.
#[derive(Debug, Clone, PartialEq)]
pub struct Ellipsoid {
    /// The estimates, restriction by restriction.
    pub centre: Vec<f64>,
    /// The quantile of the level: of χ², or of Hotelling's T² for means of Gaussian classes.
    pub radius_squared: f64,
    /// Half the length of each axis, longest first.
    pub half_lengths: Vec<f64>,
    /// The direction of each axis, of length one, its largest entry positive.
    pub directions: Vec<Vec<f64>>,
}

fn ellipsoid(
    run: &InferenceRun<'_, '_>,
    covariance: &EstimateCovariance,
    restriction: &Restriction,
) -> Option<Ellipsoid> {
    let size = restriction.len();
    if size < 2 {
        return None;
    }
    let eigen = Eigen::of(&covariance.between(&restriction.rows))?;
    let radius_squared = chi_square_quantile(run.options.level, size as f64);
    let centre = restriction.rows.iter().map(|row| dot(row, &run.maximum.point)).collect();
    Some(Ellipsoid::of_axes(centre, radius_squared, &eigen))
}

impl Ellipsoid {
    /// From the eigenvectors of V.
    pub(super) fn of_axes(centre: Vec<f64>, radius_squared: f64, eigen: &Eigen) -> Ellipsoid {
        let axis = |k: usize| {
            let direction: Vec<f64> = eigen.vector(k).to_vec();
            let largest = direction.iter().copied().fold(0.0f64, |m, v| if v.abs() > m.abs() { v } else { m });
            direction.iter().map(|v| v * largest.signum()).collect::<Vec<f64>>()
        };
        let axes = || (0..eigen.values().len()).rev();
        Ellipsoid {
            centre,
            radius_squared,
            half_lengths: axes().map(|k| (radius_squared * eigen.values()[k].max(0.0)).sqrt()).collect(),
            directions: axes().map(axis).collect(),
        }
    }
}

/// Tests every hypothesis of the options.
pub(super) fn hypothesis_tests(
    run: &InferenceRun<'_, '_>,
    covariance: &EstimateCovariance,
    by_likelihood: bool,
    firth: Option<&Penalised<'_, '_>>,
) -> Result<Vec<HypothesisTest>> {
    run.options.tests.iter().map(|text| test(run, text, covariance, by_likelihood, firth)).collect()
}

fn test(
    run: &InferenceRun<'_, '_>,
    text: &str,
    covariance: &EstimateCovariance,
    by_likelihood: bool,
    firth: Option<&Penalised<'_, '_>>,
) -> Result<HypothesisTest> {
    let restriction = restriction_of(run, text)?;
    let df = restriction.len();
    let tested = |statistic: f64| Tested { statistic, ln_p: chi_square_ln_tail(statistic, df as f64) };
    let wald = tested(wald_statistic(run, covariance, &restriction)?);
    let ellipsoid = ellipsoid(run, covariance, &restriction);
    let (ratio, score) = match (by_likelihood, firth) {
        (false, _) => (None, None),
        (true, Some(_)) => {
            let value = run.restricted_values(&[restriction], firth)?[0];
            (Some(tested(run.fall(value))), None)
        }
        (true, None) => {
            let found =
                restricted_maxima(run.likelihood, run.maximum, &[restriction], RestrictedGoal::Points, run.watch);
            let found = found.map_err(|e| not_found(e, text))?.swap_remove(0);
            let mut there = run.likelihood.with_information(&found.point, run.watch)?;
            let information = there.information.take();
            let metric =
                information.map(|i| InformationMetric::at(run.likelihood, &found.point, &i, run.watch)).transpose();
            let metric = metric.map_err(|e| not_found(e, text))?;
            let score = metric.map(|m| tested(m.square(&there.gradient)));
            (Some(tested(run.fall(found.value))), score)
        }
    };
    Ok(HypothesisTest { hypothesis: text.to_owned(), df, ratio, score, wald, ellipsoid })
}

/// Far from the estimates every probability is zero or one up to rounding, which is no fault of a column.
fn not_found(error: Error, text: &str) -> Error {
    if error.kind() != ErrorKind::Data {
        return error;
    }
    Error::data(format!("no maximum of the likelihood was found under `{text}`, which is far from the estimates"))
        .help("test a value that the data could have come from")
}

/// The restriction that a hypothesis is.
fn restriction_of(run: &InferenceRun<'_, '_>, text: &str) -> Result<Restriction> {
    let known = |name: &str| places(run, name).is_ok();
    match parse(text, &known)? {
        Hypothesis::Set(names) => {
            let mut all = Vec::new();
            for name in &names {
                for column in places(run, name)? {
                    for class in 1..=run.frame.scores() {
                        match column {
                            Some(j) => all.push((class, Some(j))),
                            None => all.push((class, None)),
                        }
                    }
                }
            }
            let rows = all.iter().map(|(class, column)| run.frame.functional(*class, *column)).collect::<Vec<_>>();
            Ok(Restriction { values: vec![0.0; rows.len()], rows })
        }
        Hypothesis::Equations(equations) => {
            let (mut rows, mut values) = (Vec::new(), Vec::new());
            for equation in &equations {
                let classes: Vec<usize> = match &equation.class {
                    None => (1..=run.frame.scores()).collect(),
                    Some(name) => vec![class_of(run, name)?],
                };
                for class in classes {
                    let mut row = vec![0.0; run.likelihood.size()];
                    for (factor, name) in &equation.terms {
                        let [column] = places(run, name)?[..] else { return Err(several(run, name)) };
                        let functional = run.frame.functional(class, column);
                        row.iter_mut().zip(&functional).for_each(|(r, f)| *r += factor * f);
                    }
                    rows.push(row);
                    values.push(equation.value);
                }
            }
            Ok(Restriction { rows, values })
        }
    }
}

/// An equation about a text column, or about its reference level.
fn several(run: &InferenceRun<'_, '_>, name: &str) -> Error {
    let subject = run.subject;
    let columns = subject.terms.iter().filter(|t| t.name == name).flat_map(|t| t.columns.clone());
    let levels: Vec<&str> = columns.filter(|j| run.frame.has(*j)).map(|j| subject.features[j].as_str()).collect();
    Error::usage(format!("`{name}` has several coefficients, and an equation needs one"))
        .help(format!("name one of them: {}; the reference level has none", levels.join(", ")))
        .help(format!("test all of them by `{name}` alone"))
}

fn class_of(run: &InferenceRun<'_, '_>, name: &str) -> Result<usize> {
    let names = run.subject.training.labels.names();
    match names.iter().position(|n| n == name) {
        Some(0) => Err(Error::usage(format!("`{name}` is the reference class, which has no coefficients"))
            .help(format!("the others are: {}", names[1..].join(", ")))),
        Some(class) => Ok(class),
        None => {
            Err(Error::usage(format!("there is no class `{name}`"))
                .help(format!("the classes are: {}", names.join(", "))))
        }
    }
}

/// The columns of a term or of a single coefficient; `None` is the intercept.
fn places(run: &InferenceRun<'_, '_>, name: &str) -> Result<Vec<Option<usize>>> {
    let (subject, frame) = (run.subject, run.frame);
    if name == "(intercept)" && run.likelihood.has_intercept() {
        return Ok(vec![None]);
    }
    let term = subject.terms.iter().find(|t| t.name == name);
    let columns: Vec<usize> = match (term, subject.features.iter().position(|f| f == name)) {
        (Some(term), _) => term.columns.clone().collect(),
        (None, Some(j)) => vec![j],
        (None, None) => {
            let of_terms = subject.terms.iter().map(|t| t.name.as_str());
            let own = |f: &&str| !subject.terms.iter().any(|t| t.name == **f);
            let names = of_terms.chain(subject.features.iter().map(String::as_str).filter(own));
            let near = nearest(name, names);
            let error = Error::usage(format!("there is no coefficient `{name}`"));
            return Err(match near.is_empty() {
                true => error.help("name a column, a level as `column=level`, or (intercept)"),
                false => error.help(format!("did you mean {}?", near.join(" or "))),
            });
        }
    };
    let kept: Vec<Option<usize>> = columns.iter().filter(|j| frame.has(**j)).map(|j| Some(*j)).collect();
    match kept.is_empty() {
        true => Err(Error::usage(format!(
            "`{name}` was left out, because it is constant or a combination of other columns: it has no coefficient"
        ))),
        false => Ok(kept),
    }
}
