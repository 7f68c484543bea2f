//! Gaussian Bayes: classes `N(μ_k, Σ_k)` with `Σ_k = σ²I`, one Σ for all (LDA), or a Σ each (QDA).
//!
//! Statistics in one pass, then one factor for each covariance. Means, covariances and priors may be given instead, and
//! the means may have a prior.

mod known;
mod left_out;
mod own;
mod problem;
mod shared;

pub use known::{Known, MeanPrior};

use super::printed::with_proofs;
use super::{Computation, Fit, Fitted, Note, Objective, Outcome};
use crate::certify::Certificate;
use crate::density::{Covariance, Densities, Density, Gaussian};
use crate::design::Training;
use crate::design::{Standardize, Units};
use crate::discriminant::Discriminant;
use crate::error::{Error, Result};
use crate::stats::ClassMoments;
use crate::watch::Watch;
use problem::GaussianProblem;
use serde::{Deserialize, Serialize};

/// How the covariances of the classes relate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CovarianceShape {
    /// `σ²I`, in the units of the fit.
    Spherical,
    /// One matrix for all classes.
    Shared,
    /// A matrix for each class.
    Own,
}

/// Divisor of a covariance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Divisor {
    /// Σs − K pooled, n_k − 1 for one class.
    #[default]
    Unbiased,
    /// Σs pooled, n_k for one class: maximum likelihood.
    Mle,
}

/// Shrinkage of a covariance towards a multiple of the identity, in the units of the fit.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Shrinkage {
    /// None.
    #[default]
    None,
    /// `(1−a)Σ + a·tr(Σ)/d·I` with this a.
    Fixed(f64),
    /// The a of Ledoit and Wolf (2004) for the residuals about the class means; one for each covariance.
    LedoitWolf,
}

/// Gaussian Bayes and its settings.
///
/// ```
/// use linsep::model::{GaussianBayes, Method};
/// assert_eq!(Method::Gaussian(GaussianBayes::lda()).name(), "lda");
/// assert_eq!(Method::Gaussian(GaussianBayes::qda()).name(), "qda");
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GaussianBayes {
    /// How the covariances relate.
    pub shape: CovarianceShape,
    /// Divisor of the covariances.
    pub divisor: Divisor,
    /// Shrinkage of the covariances.
    pub shrinkage: Shrinkage,
    /// Prior probabilities in the order of the classes; `None` is the observed shares.
    pub priors: Option<Vec<f64>>,
    /// Parameters that are given, not estimated, and the prior of the means.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub known: Option<Known>,
    /// Whether `σ²I` and shrinkage are about standardised columns; otherwise it makes no difference.
    pub standardize: Standardize,
    /// Largest covariance that may be formed, in columns.
    pub max_columns: usize,
}

/// Numbers of the covariances up to which a model keeps its densities: 2 MB as doubles, some 5 MB as text. Chosen
/// (bench/constants.md): wider models lack `density`, nothing else.
const KEPT_NUMBERS: usize = 250_000;
/// Default of the most columns: a covariance of 0.8 GB.
const MOST_COLUMNS: usize = 10_000;

impl GaussianBayes {
    /// Gaussian classes of one shape, with unbiased estimates and observed priors.
    pub fn new(shape: CovarianceShape) -> GaussianBayes {
        GaussianBayes {
            shape,
            divisor: Divisor::Unbiased,
            shrinkage: Shrinkage::None,
            priors: None,
            known: None,
            // σ²I is about the columns as they are in every textbook; the other shapes do not depend on units.
            standardize: if shape == CovarianceShape::Spherical { Standardize::No } else { Standardize::Yes },
            max_columns: MOST_COLUMNS,
        }
    }

    /// Linear discriminant analysis: one covariance for all classes.
    pub fn lda() -> GaussianBayes {
        GaussianBayes::new(CovarianceShape::Shared)
    }

    /// Quadratic discriminant analysis: a covariance for each class.
    pub fn qda() -> GaussianBayes {
        GaussianBayes::new(CovarianceShape::Own)
    }

    /// The name on the command line.
    pub fn name(&self) -> &'static str {
        match self.shape {
            CovarianceShape::Spherical => "spherical",
            CovarianceShape::Shared => "lda",
            CovarianceShape::Own => "qda",
        }
    }

    /// The same settings with given parameters in the order of a matrix's columns and classes.
    pub(super) fn aligned(&self, features: &[String], classes: &[String]) -> Result<GaussianBayes> {
        let known = self.known.as_ref().map(|k| k.aligned(features, classes)).transpose()?;
        Ok(GaussianBayes { known, ..self.clone() })
    }

    pub(super) fn fit(&self, training: &Training<'_>, watch: &Watch) -> Result<Fit> {
        let fitted = self.solve(&GaussianProblem::of(self, training, watch)?)?;
        let notes = with_proofs(fitted.notes, training, true, watch);
        Ok(Fit::Model(Box::new(Fitted { notes, ..fitted })))
    }

    /// Fits from statistics alone, which may have been merged, updated and reduced. Ledoit–Wolf shrinkage needs the rows.
    ///
    /// ```
    /// use linsep::design::DenseMatrix;
    /// use linsep::model::GaussianBayes;
    /// use linsep::{stats::ClassMoments, table::Labels};
    /// let y = Labels::from_names(["a", "a", "b", "b"]);
    /// let watch = Default::default();
    /// let mut seen = ClassMoments::of(&DenseMatrix::new(vec![0.0, 2.0, 5.0, 7.0], 1)?, &y, None, &watch)?;
    /// seen.update(&DenseMatrix::new(vec![0.0, 2.0, 5.0, 7.0], 1)?, &y, None, &watch)?;
    /// let model = GaussianBayes::lda().fit_statistics(seen, y.names())?;
    /// let boundary = model.discriminant.as_linear().unwrap();
    /// assert!((boundary.weights_of(0)[0] - 3.75).abs() < 1e-14); // Σ = 8/6, μ₁ − μ₀ = 5
    /// # Ok::<(), linsep::Error>(())
    /// ```
    pub fn fit_statistics(&self, moments: ClassMoments, class_names: &[String]) -> Result<Fitted> {
        self.solve(&GaussianProblem::of_statistics(self, moments, class_names)?)
    }

    fn solve(&self, problem: &GaussianProblem) -> Result<Fitted> {
        let solved = match self.shape {
            CovarianceShape::Own => own::solve(problem)?,
            CovarianceShape::Spherical | CovarianceShape::Shared => shared::solve(problem)?,
        };
        let mut notes = Vec::new();
        if !problem.constant.is_empty() {
            notes.push(Note::Constant { columns: problem.constant.clone() });
        }
        notes.extend(solved.collinear);
        if self.shrinkage != Shrinkage::None {
            notes.extend(match (&problem.intensities[..], self.shape) {
                (_, CovarianceShape::Own) => Some(Note::ClassShrinkage { intensities: problem.intensities.clone() }),
                ([intensity], _) => Some(Note::Shrinkage { intensity: *intensity }),
                _ => None,
            });
        }
        notes.extend(self.known.iter().flat_map(Known::notes));
        let passes = 1 + usize::from(self.shrinkage == Shrinkage::LedoitWolf);
        Ok(Fitted {
            multipliers: None,
            discriminant: solved.discriminant,
            units: Units::new(problem.centre.clone(), problem.scale.clone()),
            objective: Objective { formula: self.formula(), value: solved.objective, lambda: None },
            certificate: solved.certificate,
            outcome: Outcome::Converged,
            notes,
            computation: Computation { solver: "cholesky".into(), reason: None, iterations: 0, passes },
            density: self.density(problem),
        })
    }

    /// The residual of the defining equations at given discriminants, with all estimates recomputed from the data.
    pub(super) fn certify(
        &self,
        training: &Training<'_>,
        discriminant: &Discriminant,
        watch: &Watch,
    ) -> Result<(f64, Certificate)> {
        let problem = GaussianProblem::of(self, training, watch)?;
        match (self.shape, discriminant) {
            (CovarianceShape::Own, Discriminant::Quadratic(quadratic)) => own::certify(&problem, quadratic),
            (CovarianceShape::Spherical | CovarianceShape::Shared, Discriminant::Linear(linear)) => {
                shared::certify(&problem, linear)
            }
            _ => Err(Error::model("the discriminants are not of the kind this method gives")),
        }
    }

    /// Whether the one variance is estimated of standardised columns, so that classes are spheres in those units alone.
    pub(crate) fn is_scaled(&self) -> bool {
        let given = self.known.as_ref().is_some_and(|k| k.covariance.is_some());
        self.shape == CovarianceShape::Spherical && self.standardize == Standardize::Yes && !given
    }

    fn formula(&self) -> String {
        let divisor = match (self.divisor, self.shape) {
            (Divisor::Unbiased, CovarianceShape::Own) => "n_k−1",
            (Divisor::Mle, CovarianceShape::Own) => "n_k",
            (Divisor::Unbiased, _) => "Σs−K",
            (Divisor::Mle, _) => "Σs",
        };
        let shrunk = match self.shrinkage {
            Shrinkage::None => String::new(),
            Shrinkage::Fixed(a) => format!(", shrunk by {a}"),
            Shrinkage::LedoitWolf => ", shrunk (Ledoit–Wolf)".into(),
        };
        let given = self.known.as_ref().is_some_and(|k| k.covariance.is_some());
        let (symbol, how) = match self.shape {
            // One variance of standardised columns is a share of each column's own.
            CovarianceShape::Spherical if self.is_scaled() => ("σ²S", "S the variances of the columns, σ² pooled"),
            CovarianceShape::Spherical => ("σ²I", "σ² pooled"),
            CovarianceShape::Shared => ("Σ", "Σ pooled"),
            CovarianceShape::Own => ("Σ_y", "Σ_k of each class"),
        };
        let covariance =
            if given { format!("{symbol} given") } else { format!("{how} with divisor {divisor}{shrunk}") };
        format!("−Σ s log[π_y N(x; μ_y, {symbol})]/Σs at the estimates; {covariance}")
    }

    /// The classes in the units of the columns, where they are not too many numbers.
    fn density(&self, problem: &GaussianProblem) -> Option<Densities> {
        let cols = problem.scale.len();
        if problem.covariances.len().saturating_mul(cols * cols) > KEPT_NUMBERS {
            return None;
        }
        let in_columns = |c: &crate::linalg::Square| -> Vec<Vec<f64>> {
            let entry = |i: usize, j: usize| c.get(i, j) * problem.scale[i] * problem.scale[j];
            (0..cols).map(|i| (0..cols).map(|j| entry(i, j)).collect()).collect()
        };
        let mut matrices: Vec<Vec<Vec<f64>>> = problem.covariances.iter().map(in_columns).collect();
        let covariance = match self.shape {
            CovarianceShape::Own => Covariance::Own(matrices),
            CovarianceShape::Spherical if problem.is_sphere() => Covariance::Spherical(matrices[0][0][0]),
            CovarianceShape::Spherical | CovarianceShape::Shared => Covariance::Shared(matrices.swap_remove(0)),
        };
        let means = problem.means.clone();
        Some(Densities { priors: problem.priors.clone(), density: Density::Gaussian(Gaussian { means, covariance }) })
    }
}

/// What the two kinds of discriminants come with.
struct GaussianSolved {
    discriminant: Discriminant,
    certificate: Certificate,
    objective: f64,
    collinear: Vec<Note>,
}
