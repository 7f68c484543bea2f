//! Scores as functions of a row that can be added: a boundary is where a weighted sum of them is zero.
//!
//! Two-class fits decide by signs of single scores, by the largest score or by the largest sum of scores. All of these change
//! where some weighted sum of scores is zero. A sum of linear functions is linear, of quadratic ones quadratic, and of
//! functions linear in the feature space of one kernel linear there: its length follows from inner products.

use super::{Boundary, Geometry, Hyperplane, Quadric, Surface, quadric};
use crate::discriminant::{Discriminant, Linear};
use crate::error::{Error, Result};
use crate::linalg::Square;
use crate::table::Class;
use crate::words::{Setting, words};
use std::borrow::Cow;

/// A squared length below this share of the terms it is the difference of is rounding, as in `discriminant::kernel`.
const ROUNDING: f64 = 1e-14;

/// A weighted sum of scores and a constant.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sum {
    /// Scores with their weights.
    pub terms: Vec<(usize, f64)>,
    /// What is added.
    pub constant: f64,
}

/// The scores of a model.
pub(crate) enum Scores<'a> {
    /// Linear in the columns.
    Planes(Cow<'a, Linear>),
    /// Linear in one feature space: the inner products of all w, and the intercepts.
    FeatureSpace { products: Square, intercepts: Vec<f64>, n_cols: usize },
    /// Quadratic in the columns.
    Quadrics { scores: Vec<Quadric>, n_cols: usize },
}

impl<'a> Scores<'a> {
    /// The scores of discriminants that have one for every two-class fit or for every class.
    pub(crate) fn of(discriminant: &'a Discriminant) -> Result<Scores<'a>> {
        match discriminant {
            Discriminant::Linear(linear) => Ok(Scores::Planes(Cow::Borrowed(linear))),
            Discriminant::Kernel(expansion) => {
                let products = expansion.inner_products().ok_or_else(|| {
                    Error::model("the length of w in the feature space is not known for this model")
                        .help("it is for a kernel that is computed from columns")
                })?;
                let (intercepts, n_cols) = (expansion.intercept().to_vec(), expansion.n_cols());
                Ok(Scores::FeatureSpace { products, intercepts, n_cols })
            }
            Discriminant::Stack(stack) => {
                let scores: Result<Vec<Quadric>> = stack.parts().iter().map(of_part).collect();
                Ok(Scores::Quadrics { scores: scores?, n_cols: discriminant.n_cols() })
            }
            _ => Err(other_surfaces()),
        }
    }

    fn n_cols(&self) -> usize {
        match self {
            Scores::Planes(linear) => linear.n_cols(),
            Scores::FeatureSpace { n_cols, .. } | Scores::Quadrics { n_cols, .. } => *n_cols,
        }
    }

    fn len(&self) -> usize {
        match self {
            Scores::Planes(linear) => linear.n_scores(),
            Scores::FeatureSpace { intercepts, .. } => intercepts.len(),
            Scores::Quadrics { scores, .. } => scores.len(),
        }
    }

    /// New scores that are sums of these.
    pub(crate) fn summed(&self, sums: &[Sum]) -> Result<Scores<'static>> {
        match self {
            Scores::Planes(linear) => {
                let d = linear.n_cols();
                let (mut weights, mut values) = (vec![0.0; sums.len() * d], Vec::with_capacity(sums.len()));
                for (sum, own) in sums.iter().zip(weights.chunks_exact_mut(d.max(1))) {
                    let value = |(p, c): &(usize, f64)| c * linear.intercept_at_centre()[*p];
                    values.push(sum.constant + sum.terms.iter().map(value).sum::<f64>());
                    for (p, c) in &sum.terms {
                        own.iter_mut().zip(linear.weights_of(*p)).for_each(|(o, w)| *o += c * w);
                    }
                }
                Ok(Scores::Planes(Cow::Owned(Linear::new(weights, linear.centre().to_vec(), values)?)))
            }
            Scores::FeatureSpace { products, intercepts, n_cols } => {
                let product = |a: &Sum, b: &Sum| -> f64 {
                    a.terms
                        .iter()
                        .map(|(p, c)| c * b.terms.iter().map(|(q, e)| e * products.get(*p, *q)).sum::<f64>())
                        .sum()
                };
                let intercept = |s: &Sum| s.constant + s.terms.iter().map(|(p, c)| c * intercepts[*p]).sum::<f64>();
                Ok(Scores::FeatureSpace {
                    products: Square::from_lower(sums.len(), |i, j| product(&sums[i], &sums[j])),
                    intercepts: sums.iter().map(intercept).collect(),
                    n_cols: *n_cols,
                })
            }
            Scores::Quadrics { scores, n_cols } => {
                let sum = |s: &Sum| {
                    let terms: Vec<(f64, &Quadric)> = s.terms.iter().map(|(p, c)| (*c, &scores[*p])).collect();
                    Quadric::sum(&terms, s.constant).ok_or_else(too_large)
                };
                let scores: Result<Vec<Quadric>> = sums.iter().map(sum).collect();
                Ok(Scores::Quadrics { scores: scores?, n_cols: *n_cols })
            }
        }
    }

    /// Where each score is zero; `sides` holds the classes of each, negative and positive. The regions of such fits are not
    /// those of the largest score, and rows are measured by the decision.
    pub(crate) fn zeros(&self, sides: &[(Option<Class>, Class)], n_classes: usize) -> Result<Geometry> {
        if sides.len() != self.len() {
            return Err(Error::model(format!("{} scores for {} two-class fits", self.len(), sides.len())));
        }
        let boundary = |(score, (from, to)): (usize, &(Option<Class>, Class))| {
            Ok(Boundary { from: *from, to: *to, surface: self.surface(&[(score, 1.0)])?, means: None })
        };
        let boundaries: Result<Vec<Boundary>> = sides.iter().enumerate().map(boundary).collect();
        Ok(Geometry { boundaries: boundaries?, n_classes, n_cols: self.n_cols(), regions: None })
    }

    /// Where the largest score changes, for scores of classes.
    pub(crate) fn largest(&self) -> Result<Geometry> {
        let n_classes = self.len();
        let mut boundaries = Vec::with_capacity(n_classes * n_classes.saturating_sub(1) / 2);
        for from in 0..n_classes {
            for to in from + 1..n_classes {
                let surface = self.surface(&[(to, 1.0), (from, -1.0)])?;
                boundaries.push(Boundary {
                    from: Some(Class(from as u32)),
                    to: Class(to as u32),
                    surface,
                    means: None,
                });
            }
        }
        let regions = match self {
            Scores::Planes(linear) => Some(super::regions::regions(linear)),
            _ => None,
        };
        Ok(Geometry { boundaries, n_classes, n_cols: self.n_cols(), regions })
    }

    /// Where a sum is zero.
    fn surface(&self, terms: &[(usize, f64)]) -> Result<Surface> {
        // A single score knows its own rounding best.
        if let (Scores::Quadrics { scores, .. }, [(score, 1.0)]) = (self, terms) {
            return quadric(Some(scores[*score].clone()));
        }
        let sums = [Sum { terms: terms.to_vec(), constant: 0.0 }];
        Ok(match self.summed(&sums)? {
            Scores::Planes(linear) => {
                let value = linear.intercept_at_centre()[0];
                let plane = Hyperplane::new(linear.weights_of(0).to_vec(), linear.centre().to_vec(), value);
                plane.map_or(Surface::Constant(value), Surface::Hyperplane)
            }
            Scores::FeatureSpace { products, intercepts, .. } => {
                // A length that is rounding error relative to the lengths that it is the difference of counts as zero.
                let own = |(p, c): &(usize, f64)| match self {
                    Scores::FeatureSpace { products, .. } => c * c * products.get(*p, *p).abs(),
                    _ => 0.0,
                };
                let (squared, size) = (products.get(0, 0), terms.iter().map(own).sum::<f64>());
                match squared.abs() > ROUNDING * size {
                    true if squared > 0.0 => Surface::FeatureSpace { norm: squared.sqrt() },
                    true => {
                        return Err(Error::model(
                            "w has no length: the kernel is not positive semidefinite, and ‖w‖² is negative",
                        )
                        .help("distances are for kernels that are: linear, rbf, polynomial with c ≥ 0"));
                    }
                    false => Surface::Constant(intercepts[0]),
                }
            }
            Scores::Quadrics { mut scores, .. } => quadric(scores.pop())?,
        })
    }
}

/// The score of one two-class fit.
fn of_part(part: &Discriminant) -> Result<Quadric> {
    match part {
        Discriminant::Quadratic(quadratic) => Quadric::between(quadratic, 0, 1).ok_or_else(too_large),
        Discriminant::Generalised(terms) if terms.logarithms().is_empty() => {
            Quadric::of_terms(terms, 0, 1, None).ok_or_else(too_large)
        }
        _ => Err(other_surfaces()),
    }
}

pub(super) fn too_large() -> Error {
    Error::model("the quadratic discriminants have numbers too large for a quadric")
        .help("scale the columns and fit the model again")
}

fn other_surfaces() -> Error {
    Error::model(
        "unit normal, distance, margin and radius are not defined for these two-class fits: their boundaries are neither \
         planes, nor quadrics, nor planes of one feature space",
    )
    .help(words!["they are for all methods but naive Bayes with gamma columns, and for kernels with one ", Setting::Gamma, " for all fits"])
}
