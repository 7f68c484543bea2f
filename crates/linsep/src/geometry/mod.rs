//! The boundaries between classes and the position of rows relative to them.
//!
//! Everything is measured in the matrix columns, in their own units: a text column counts as its indicators, and a distance
//! of millimetres and grams is what it is. Of every pair of classes `from < to` the boundary is `g_to − g_from = 0`; normals
//! point to `to`, and signed distances are positive on its side.

mod hyperplane;
mod mahalanobis;
mod nearest;
mod products;
mod quadric;
mod quadric_shape;
mod regions;
mod rows;
mod scores;

pub use hyperplane::Hyperplane;
pub use quadric::{Quadric, QuadricKind, Signature};
pub use regions::Region;
pub(crate) use rows::least;
pub use rows::{Measured, RowGeometry, SmallestMargin};
pub(crate) use scores::{Scores, Sum};

// For the other stages, the command, the extension and the tests: nothing is promised about these.
#[doc(hidden)]
pub use self::{
    mahalanobis::mahalanobis,
    quadric::FLAT,
    regions::{MIXTURE, MOST_CLASSES, regions},
};

use crate::density::{Covariance, Densities, Density, Family, Gaussian};
use crate::discriminant::{Discriminant, Linear};
use crate::error::{Error, ErrorKind, Result};
use crate::table::Class;
use crate::watch::Watch;
use hyperplane::euclidean;

/// The points where two classes have the same score.
#[derive(Debug, Clone, PartialEq)]
pub enum Surface {
    /// Of linear discriminants.
    Hyperplane(Hyperplane),
    /// Of quadratic discriminants.
    Quadric(Box<Quadric>),
    /// Of kernel expansions: a hyperplane of the feature space, whose preimage among the rows has no simple form. Distances
    /// to it are `|g|/‖w‖` there and say nothing about how far a row can move.
    FeatureSpace {
        /// `‖w‖ = √(cᵀKc)`.
        norm: f64,
    },
    /// The scores differ by the same number everywhere.
    Constant(f64),
}

/// The boundary between two classes, or between a class and the rest.
#[derive(Debug, Clone, PartialEq)]
pub struct Boundary {
    /// The class whose score is subtracted; `None` for all other classes.
    pub from: Option<Class>,
    /// The class to which normals point.
    pub to: Class,
    /// Where it is.
    pub surface: Surface,
    /// How far apart the class means are, where they are known.
    pub means: Option<MeanDistance>,
}

/// The distance between the means of two classes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanDistance {
    /// ‖μ_to − μ_from‖.
    pub euclidean: f64,
    /// `√((μ_to−μ_from)ᵀΣ⁻¹(μ_to−μ_from))`, where the classes share one covariance.
    pub mahalanobis: Option<f64>,
}

/// The geometry of discriminants.
///
/// ```
/// use linsep::discriminant::{Discriminant, Linear};
/// use linsep::geometry::{Geometry, Surface};
/// let g = Discriminant::Linear(Linear::new(vec![3.0, 4.0], vec![0.0, 0.0], vec![-10.0])?);
/// let geometry = Geometry::of(&g, None, &Default::default())?;
/// let Surface::Hyperplane(plane) = &geometry.boundaries()[0].surface else { panic!("a line") };
/// assert_eq!(plane.point(), [1.2, 1.6]);
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Geometry {
    boundaries: Vec<Boundary>,
    n_classes: usize,
    n_cols: usize,
    regions: Option<Vec<Region>>,
}

impl Geometry {
    /// The boundaries of every pair of classes. Means that are known place x₀ on the line between them.
    pub fn of(discriminant: &Discriminant, density: Option<&Densities>, watch: &Watch) -> Result<Geometry> {
        let normal = density.and_then(|d| match &d.density {
            Density::Gaussian(gaussian) => Some(gaussian),
            _ => None,
        });
        let n_classes = discriminant.n_scores().max(2);
        let n_cols = discriminant.n_cols();
        let known = normal.filter(|g| g.means.len() == n_classes && g.means.iter().all(|m| m.len() == n_cols));
        let surface: Box<dyn Fn(usize, usize) -> Result<Surface> + '_> = match discriminant {
            Discriminant::Linear(linear) => Box::new(move |from, to| Ok(hyperplane_between(linear, from, to, known))),
            Discriminant::Quadratic(quadratic) => {
                Box::new(move |from, to| quadric(Quadric::between(quadratic, from, to)))
            }
            Discriminant::Generalised(terms) if terms.logarithms().is_empty() => Box::new(move |from, to| {
                quadric(Quadric::of_terms(terms, from, to, curvature_sizes(density, n_cols, from, to).as_deref()))
            }),
            Discriminant::Kernel(_) if n_classes == 2 => {
                let sides = [(Some(Class(0)), Class(1))];
                return Scores::of(discriminant)?.zeros(&sides, 2);
            }
            Discriminant::Kernel(_) | Discriminant::Stack(_) => return Scores::of(discriminant)?.largest(),
            Discriminant::Generalised(_) => {
                return Err(Error::model(
                    "unit normal, distance, projection, margin and radius are not defined for this model: its \
                     boundaries are neither hyperplanes nor quadrics",
                )
                .help("they are for all models but naive Bayes with gamma columns, whose scores have logarithms"));
            }
        };
        let mut boundaries = Vec::with_capacity(n_classes * (n_classes - 1) / 2);
        for from in 0..n_classes {
            for to in from + 1..n_classes {
                if watch.halted().is_some() {
                    return Err(Error::new(ErrorKind::Interrupted, "stopped before all boundaries were found"));
                }
                let surface = surface(from, to)?;
                let means = known.map(|gaussian| mean_distance(gaussian, &surface, from, to));
                boundaries.push(Boundary { from: Some(Class(from as u32)), to: Class(to as u32), surface, means });
            }
        }
        let regions = discriminant.as_linear().map(regions::regions);
        Ok(Geometry { boundaries, n_classes, n_cols, regions })
    }

    /// The boundaries of all pairs, (0,1), (0,2) … (1,2) …, or of all two-class fits.
    pub fn boundaries(&self) -> &[Boundary] {
        &self.boundaries
    }

    /// Whether lengths are those of a feature space, not of the columns.
    pub fn is_of_feature_space(&self) -> bool {
        self.boundaries.iter().any(|b| matches!(b.surface, Surface::FeatureSpace { .. }))
    }

    /// Number of classes.
    pub fn n_classes(&self) -> usize {
        self.n_classes
    }

    /// Number of columns.
    pub fn n_cols(&self) -> usize {
        self.n_cols
    }

    /// The region of every class, for linear discriminants.
    pub fn regions(&self) -> Option<&[Region]> {
        self.regions.as_deref()
    }

    /// The boundary of two classes, with −1 where the second is the one subtracted.
    fn between(&self, a: usize, b: usize) -> (&Boundary, f64) {
        let (from, to, sign) = if a < b { (a, b, 1.0) } else { (b, a, -1.0) };
        let before = from * (2 * self.n_classes - from - 1) / 2;
        (&self.boundaries[before + to - from - 1], sign)
    }
}

/// `g_to − g_from` of linear discriminants; with known means x₀ is where the boundary crosses the line between them: for
/// Gaussian classes `½(μ_to+μ_from) − log(π_to/π_from)/(ΔᵀΣ⁻¹Δ)·Δ` with Δ = μ_to − μ_from and Σ⁻¹Δ = w.
fn hyperplane_between(linear: &Linear, from: usize, to: usize, known: Option<&Gaussian>) -> Surface {
    let (weights, at_centre) = match linear.n_scores() {
        1 => (linear.weights_of(0).to_vec(), linear.intercept_at_centre()[0]),
        _ => {
            let pairs = linear.weights_of(to).iter().zip(linear.weights_of(from));
            let values = linear.intercept_at_centre();
            (pairs.map(|(a, b)| a - b).collect(), values[to] - values[from])
        }
    };
    let Some(plane) = Hyperplane::new(weights, linear.centre().to_vec(), at_centre) else {
        return Surface::Constant(at_centre);
    };
    let Some(gaussian) = known else { return Surface::Hyperplane(plane) };
    let (a, b) = (&gaussian.means[from], &gaussian.means[to]);
    let delta: Vec<f64> = a.iter().zip(b).map(|(a, b)| b - a).collect();
    let squared: f64 = plane.weights().iter().zip(&delta).map(|(w, d)| w * d).sum();
    let middle: Vec<f64> = a.iter().zip(&delta).map(|(a, d)| a + 0.5 * d).collect();
    // From the middle, where no digits cancel.
    let share = 0.5 - plane.value(&middle) / squared;
    if !(squared > 0.0 && share.is_finite()) {
        return Surface::Hyperplane(plane);
    }
    let point = a.iter().zip(&delta).map(|(a, d)| a + share * d).collect();
    Surface::Hyperplane(plane.through(point))
}

fn quadric(found: Option<Quadric>) -> Result<Surface> {
    found.map(|quadric| Surface::Quadric(Box::new(quadric))).ok_or_else(scores::too_large)
}

/// Sums of the two precisions of independent Gaussian columns, zero for others: their differences are the diagonal of W.
fn curvature_sizes(density: Option<&Densities>, n_cols: usize, from: usize, to: usize) -> Option<Vec<f64>> {
    let Density::Independent { marginals } = &density?.density else { return None };
    let mut sizes = vec![0.0; n_cols];
    for marginal in marginals {
        if let (Family::Gaussian { variance, .. }, [j]) = (&marginal.family, &marginal.columns[..]) {
            let precision = |k: usize| variance.get(k).map_or(0.0, |v| v.recip());
            *sizes.get_mut(*j)? = precision(from) + precision(to);
        }
    }
    Some(sizes)
}

fn mean_distance(gaussian: &Gaussian, surface: &Surface, from: usize, to: usize) -> MeanDistance {
    let pairs = gaussian.means[to].iter().zip(&gaussian.means[from]);
    let delta: Vec<f64> = pairs.map(|(a, b)| a - b).collect();
    let mahalanobis = match (surface, &gaussian.covariance) {
        (_, Covariance::Own(_)) => None,
        // Σ⁻¹Δ = w.
        (Surface::Hyperplane(plane), _) => {
            Some(plane.weights().iter().zip(&delta).map(|(w, d)| w * d).sum::<f64>().max(0.0).sqrt())
        }
        _ => Some(0.0),
    };
    MeanDistance { euclidean: euclidean(&delta), mahalanobis }
}
