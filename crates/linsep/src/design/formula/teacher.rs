//! Where knots, polynomials and levels of a formula come from: the training rows, or a model file.

use super::arithmetic::Arithmetic;
use super::polynomial::OrthogonalPolynomial;
use super::spline::SplineKind;
use crate::design::quantile::quantiles;
use crate::error::{Error, Result};
use crate::words::{Setting, words};
use serde::{Deserialize, Serialize};

/// What was learned of a variable.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LearnedVariable {
    /// Of orthonormal polynomials.
    Polynomial(OrthogonalPolynomial),
    /// Of a spline: the outer knots and those between them.
    Spline {
        /// The outer knots.
        boundary: [f64; 2],
        /// The inner knots, ascending.
        knots: Vec<f64>,
    },
    /// Of numbers that are categories: the levels, ascending.
    Levels(Vec<f64>),
}

/// The training values of some arithmetic: distinct and ascending, each with its weight.
pub(super) type Values<'a> = &'a dyn Fn(&Arithmetic) -> Result<Vec<(f64, f64)>>;
/// Where what was learned comes from.
pub(super) enum Teacher<'a> {
    /// The training rows, and most levels of a category.
    Rows(Values<'a>, usize),
    /// A model file.
    File(std::slice::Iter<'a, LearnedVariable>),
}

impl Teacher<'_> {
    pub(super) fn polynomial(&mut self, of: &Arithmetic, degree: usize) -> Result<OrthogonalPolynomial> {
        match self {
            Teacher::Rows(values, _) => OrthogonalPolynomial::learn(&values(of)?, degree),
            Teacher::File(learned) => match learned.next() {
                Some(LearnedVariable::Polynomial(found)) if found.is_whole(degree) => Ok(found.clone()),
                _ => Err(damaged()),
            },
        }
    }

    pub(super) fn knots(&mut self, of: &Arithmetic, kind: &SplineKind) -> Result<([f64; 2], Vec<f64>)> {
        match self {
            Teacher::Rows(values, _) => {
                let values = values(of)?;
                let (Some(first), Some(last)) = (values.first(), values.last()) else { return Err(no_rows()) };
                let boundary = kind.boundary.unwrap_or([first.0, last.0]);
                let inside: Vec<(f64, f64)> =
                    values.iter().copied().filter(|(v, _)| (boundary[0]..=boundary[1]).contains(v)).collect();
                let count = kind.n_quantiles()?;
                let shares: Vec<f64> = (1..=count).map(|k| k as f64 / (count + 1) as f64).collect();
                let knots = match &kind.knots {
                    Some(knots) => knots.clone(),
                    None if count > 0 && inside.is_empty() => return Err(no_rows()),
                    None => quantiles(&inside, &shares),
                };
                Ok((boundary, knots))
            }
            Teacher::File(learned) => match learned.next() {
                Some(LearnedVariable::Spline { boundary, knots })
                    if knots.windows(2).all(|w| w[0] <= w[1])
                        && knots.len() == kind.knots.as_ref().map_or(kind.n_quantiles()?, Vec::len) =>
                {
                    Ok((*boundary, knots.clone()))
                }
                _ => Err(damaged()),
            },
        }
    }

    pub(super) fn levels(&mut self, of: &Arithmetic) -> Result<Vec<f64>> {
        match self {
            Teacher::Rows(values, most) => {
                let levels: Vec<f64> = values(of)?.into_iter().map(|(v, _)| v).collect();
                match levels.len() {
                    0 => Err(no_rows()),
                    n if n > *most => {
                        Err(Error::data(format!("the column has {n} different numbers, more than {most} levels"))
                            .help("take it as a number")
                            .help(words!["allow more with ", Setting::Levels.is(n)]))
                    }
                    _ => Ok(levels),
                }
            }
            Teacher::File(learned) => match learned.next() {
                Some(LearnedVariable::Levels(levels))
                    if !levels.is_empty()
                        && levels.windows(2).all(|w| w[0] < w[1])
                        && levels.iter().all(|l| l.is_finite()) =>
                {
                    Ok(levels.clone())
                }
                _ => Err(damaged()),
            },
        }
    }
}

fn damaged() -> Error {
    Error::model("what the model file says of its formula does not belong to it").help("fit the model again")
}

fn no_rows() -> Error {
    Error::data("no row has all the cells that are needed")
        .help(words!["choose ", Setting::Missing.is("mean")])
        .help("leave out columns that miss cells")
}
