//! `q(x) = ½(x−m)ᵀW(x−m) + w·(x−m) + w₀ = 0`: its type, and the nearest point of it.

use crate::discriminant::{Generalised, Quadratic};
use crate::linalg::{Eigen, Square, dot};
use std::borrow::Cow;

/// A quadric of the matrix columns, kept about a point so that a large offset of a column costs no digits.
#[derive(Debug, Clone, PartialEq)]
pub struct Quadric {
    centre: Vec<f64>,
    pub(super) form: Form,
    gradient: Vec<f64>,
    constant: f64,
    /// Λ of `V Λ Vᵀ`, eigenvalues that are rounding set to zero.
    pub(super) values: Vec<f64>,
    kind: QuadricKind,
    signature: Signature,
}

/// W with its eigenvectors V.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Form {
    Full {
        matrix: Square,
        eigen: Eigen,
    },
    /// The columns are the eigenvectors: any number of them is cheap, and every eigenvalue has all its digits.
    Diagonal(Vec<f64>),
}

impl Form {
    /// `W v`.
    pub(super) fn multiply(&self, v: &[f64]) -> Vec<f64> {
        match self {
            Form::Full { matrix, .. } => matrix.multiply(v),
            Form::Diagonal(values) => values.iter().zip(v).map(|(a, v)| a * v).collect(),
        }
    }

    /// The largest number of a column of W, without its sign.
    fn largest_of(&self, j: usize) -> f64 {
        match self {
            Form::Full { matrix, .. } => (0..matrix.n()).fold(0.0, |m, i| m.max(matrix.get(i, j).abs())),
            Form::Diagonal(values) => values[j].abs(),
        }
    }

    /// `Vᵀ x`.
    pub(super) fn rotate(&self, x: &[f64]) -> Vec<f64> {
        match self {
            Form::Full { eigen, .. } => eigen.rotate(x),
            Form::Diagonal(_) => x.to_vec(),
        }
    }

    /// `V y`.
    pub(super) fn rotate_back(&self, y: &[f64]) -> Vec<f64> {
        match self {
            Form::Full { eigen, .. } => eigen.rotate_back(y),
            Form::Diagonal(_) => y.to_vec(),
        }
    }
}

/// Signs of the eigenvalues of W.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signature {
    /// Positive eigenvalues.
    pub positive: usize,
    /// Negative eigenvalues.
    pub negative: usize,
    /// Eigenvalues that are zero at the tolerance [`FLAT`].
    pub zero: usize,
}

/// A number of at most this size relative to the terms that it is the sum of is zero: W is a difference of inverse
/// covariances, each known to about their condition number times 1e-16.
pub const FLAT: f64 = 1e-10;

/// What the solutions of `q(x) = 0` look like, from the signature of W, whether w is in its range, and the sign of
/// `w₀ − ½wᵀW⁺w`. `flat` counts the directions in which nothing changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuadricKind {
    /// q is zero everywhere.
    Everything,
    /// q is zero nowhere.
    Empty,
    /// W is zero: one hyperplane.
    Hyperplane,
    /// W has one sign and full rank, and q is zero at its extreme: one point; with flat directions, a line, plane …
    Point {
        /// Dimension of the flat.
        flat: usize,
    },
    /// An ellipsoid (an ellipse), or a cylinder over one.
    Ellipsoid {
        /// Directions of the cylinder.
        flat: usize,
    },
    /// A hyperboloid (a hyperbola), or a cylinder over one.
    Hyperboloid {
        /// Separate pieces: 1 or 2.
        sheets: usize,
        /// Directions of the cylinder.
        flat: usize,
    },
    /// A cone over an ellipsoid or hyperboloid, or a cylinder over one.
    Cone {
        /// Directions of the cylinder.
        flat: usize,
    },
    /// A paraboloid (a parabola), or a cylinder over one.
    Paraboloid {
        /// Whether W has both signs.
        hyperbolic: bool,
        /// Directions of the cylinder.
        flat: usize,
    },
    /// Two hyperplanes that cross.
    CrossingHyperplanes,
    /// Two parallel hyperplanes.
    ParallelHyperplanes,
    /// One hyperplane that q touches without changing its sign.
    DoubleHyperplane,
}

impl QuadricKind {
    /// The name in so many columns.
    ///
    /// ```
    /// use linsep::geometry::QuadricKind;
    /// assert_eq!(QuadricKind::Ellipsoid { flat: 0 }.name(2), "ellipse");
    /// assert_eq!(QuadricKind::Ellipsoid { flat: 1 }.name(3), "elliptic cylinder");
    /// ```
    pub fn name(self, columns: usize) -> String {
        use QuadricKind::*;
        let planes = match columns {
            1 => "points",
            2 => "lines",
            3 => "planes",
            _ => "hyperplanes",
        };
        let plane = &planes[..planes.len() - 1];
        let cylinder = |flat: usize, shape: &str, adjective: &str| match flat {
            0 => shape.to_owned(),
            1 => format!("{adjective} cylinder"),
            _ => format!("{adjective} cylinder with {flat} flat directions"),
        };
        match (self, columns) {
            (Everything, _) => "everything".into(),
            (Empty, _) => "empty".into(),
            (Hyperplane, _) => plane.to_owned(),
            (Point { flat: 0 }, _) => "point".into(),
            (Point { flat: 1 }, _) => "line".into(),
            (Point { flat }, _) => format!("flat of dimension {flat}"),
            (Ellipsoid { flat }, _) if columns - flat == 2 => cylinder(flat, "ellipse", "elliptic"),
            (Ellipsoid { flat }, _) => cylinder(flat, "ellipsoid", "ellipsoidal"),
            (Hyperboloid { flat, .. }, _) if columns - flat == 2 => cylinder(flat, "hyperbola", "hyperbolic"),
            (Hyperboloid { sheets, flat }, _) => {
                let words = if sheets == 1 { "one sheet" } else { "two sheets" };
                format!("{} of {words}", cylinder(flat, "hyperboloid", "hyperboloidal"))
            }
            (Cone { flat }, _) => cylinder(flat, "cone", "conical"),
            (Paraboloid { flat, .. }, _) if columns - flat == 2 => cylinder(flat, "parabola", "parabolic"),
            (Paraboloid { hyperbolic: false, flat }, _) => {
                cylinder(flat, "elliptic paraboloid", "elliptic paraboloidal")
            }
            (Paraboloid { hyperbolic: true, flat }, _) => {
                cylinder(flat, "hyperbolic paraboloid", "hyperbolic paraboloidal")
            }
            (CrossingHyperplanes, _) => format!("two crossing {planes}"),
            (ParallelHyperplanes, 1) => "two points".into(),
            (ParallelHyperplanes, _) => format!("two parallel {planes}"),
            (DoubleHyperplane, _) => format!("one {plane}, touched from one side"),
        }
    }
}

/// Sizes of the terms that W, w and w₀ are sums of: what is far smaller is rounding.
struct Sizes {
    gradient: Vec<f64>,
    constant: f64,
    /// Per column, 1/√(size of the diagonal of W): the type is judged in these units, whatever those of the columns.
    scale: Vec<f64>,
}

impl Quadric {
    /// From m, W, w and w₀; `None` where the sizes do not agree or a number is not finite.
    #[doc(hidden)]
    pub fn new(centre: Vec<f64>, matrix: Square, gradient: Vec<f64>, constant: f64) -> Option<Quadric> {
        let d = centre.len();
        if matrix.n() != d || gradient.len() != d {
            return None;
        }
        let largest = |j: usize| (0..d).fold(0.0f64, |m, i| m.max(matrix.get(i, j).abs()));
        let scale = (0..d).map(|j| if largest(j) > 0.0 { largest(j).sqrt().recip() } else { 1.0 }).collect();
        let sizes = Sizes { gradient: gradient.clone(), constant, scale };
        Quadric::with(centre, matrix, gradient, constant, &sizes)
    }

    /// `g_to − g_from` of quadratic discriminants, about the middle of the two centres.
    pub fn between(g: &Quadratic, from: usize, to: usize) -> Option<Quadric> {
        let d = g.n_cols();
        let centre: Vec<f64> = g.centre(from).iter().zip(g.centre(to)).map(|(a, b)| a + 0.5 * (b - a)).collect();
        let (of, ot) = (precision(g, from), precision(g, to));
        let matrix = Square::from_lower(d, |i, j| of.get(i, j) - ot.get(i, j));
        let away = |k: usize| centre.iter().zip(g.centre(k)).map(|(m, c)| m - c).collect::<Vec<f64>>();
        let (uf, ut) = (away(from), away(to));
        let (hf, ht) = (of.multiply(&uf), ot.multiply(&ut));
        let (qf, qt) = (0.5 * dot(&uf, &hf), 0.5 * dot(&ut, &ht));
        let (cf, ct) = (g.constants()[from], g.constants()[to]);
        let size = |j: usize| of.get(j, j) + ot.get(j, j);
        let sizes = Sizes {
            gradient: hf.iter().zip(&ht).map(|(a, b)| a.abs() + b.abs()).collect(),
            constant: qf.abs() + qt.abs() + cf.abs() + ct.abs(),
            scale: (0..d).map(|j| if size(j) > 0.0 { size(j).sqrt().recip() } else { 1.0 }).collect(),
        };
        let gradient = hf.iter().zip(&ht).map(|(f, t)| f - t).collect();
        Quadric::with(centre, matrix, gradient, (ct - cf) - (qt - qf), &sizes)
    }

    /// `g_to − g_from` of discriminants that are linear in `x−c` and `(x−c)²`, so that W is diagonal; of two classes with
    /// one score that score. `None` where there are logarithms or a number is not finite. `curvature` is the size of the
    /// terms that the diagonal of W is the difference of, where it is known.
    pub fn of_terms(g: &Generalised, from: usize, to: usize, curvature: Option<&[f64]>) -> Option<Quadric> {
        let (d, one) = (g.n_cols(), g.n_scores() == 1);
        let differ = |weights: &[f64]| if one { weights[0] != 0.0 } else { weights[to] != weights[from] };
        if g.logarithms().iter().any(|t| differ(&t.weights)) {
            return None;
        }
        let pair = |of: &dyn Fn(usize) -> f64| match one {
            true => (of(0), of(0).abs()),
            false => (of(to) - of(from), of(to).abs() + of(from).abs()),
        };
        let (mut diagonal, mut gradient) = (Vec::with_capacity(d), Vec::with_capacity(d));
        let mut sizes = Sizes { gradient: Vec::with_capacity(d), constant: 0.0, scale: Vec::with_capacity(d) };
        for j in 0..d {
            let (square, size) = pair(&|k| 2.0 * g.square_of(k)[j]);
            let (slope, steep) = pair(&|k| g.linear_of(k)[j]);
            let size = curvature.map_or(size, |c| c[j].max(size));
            // A column that is flat is judged by its slope alone.
            let scale = if size > 0.0 { size.sqrt().recip() } else { steep.recip() };
            diagonal.push(square);
            gradient.push(slope);
            sizes.gradient.push(steep);
            sizes.scale.push(if scale.is_finite() { scale } else { 1.0 });
        }
        let (constant, size) = pair(&|k| g.intercept_at_centre()[k]);
        sizes.constant = size;
        Quadric::along_columns(g.centre().to_vec(), diagonal, gradient, constant, &sizes)
    }

    /// A quadric whose W is diagonal.
    fn along_columns(
        centre: Vec<f64>,
        diagonal: Vec<f64>,
        gradient: Vec<f64>,
        constant: f64,
        sizes: &Sizes,
    ) -> Option<Quadric> {
        if !(constant.is_finite() && diagonal.iter().chain(&gradient).all(|v| v.is_finite())) {
            return None;
        }
        let values: Vec<f64> = diagonal.iter().zip(&sizes.scale).map(|(v, s)| v * s * s).collect();
        let slopes: Vec<f64> = gradient.iter().zip(&sizes.scale).map(|(w, s)| w * s).collect();
        let (signature, kind) = classify(&values, &slopes, constant, sizes);
        let rounding = 4.0 * f64::EPSILON;
        let flattened = diagonal.iter().zip(&values).map(|(v, scaled)| if scaled.abs() <= rounding { 0.0 } else { *v });
        let (values, form) = (flattened.collect(), Form::Diagonal(diagonal));
        Some(Quadric { centre, form, gradient, constant, values, kind, signature })
    }

    /// `Σ c q + constant`, about the centre of the first; `None` for no terms or numbers that are not finite.
    pub(super) fn sum(terms: &[(f64, &Quadric)], constant: f64) -> Option<Quadric> {
        let (_, first) = terms.first()?;
        let (centre, d) = (first.centre.clone(), first.centre.len());
        let mut gradient = vec![0.0; d];
        let mut sizes = Sizes { gradient: vec![0.0; d], constant: constant.abs(), scale: vec![0.0; d] };
        let mut at_centre = constant;
        for (c, q) in terms {
            let value = c * q.value(&centre);
            at_centre += value;
            sizes.constant += value.abs();
            for (j, slope) in q.gradient_at(&centre).into_iter().enumerate() {
                gradient[j] += c * slope;
                sizes.gradient[j] += (c * slope).abs();
                sizes.scale[j] += c.abs() * q.form.largest_of(j);
            }
        }
        sizes.scale.iter_mut().for_each(|s| *s = if *s > 0.0 { s.sqrt().recip() } else { 1.0 });
        let diagonals: Option<Vec<(f64, &[f64])>> = terms.iter().map(|(c, q)| Some((*c, q.diagonal()?))).collect();
        if let Some(diagonals) = diagonals {
            let diagonal = (0..d).map(|j| diagonals.iter().map(|(c, v)| c * v[j]).sum()).collect();
            return Quadric::along_columns(centre, diagonal, gradient, at_centre, &sizes);
        }
        let mut matrix = Square::zeros(d);
        terms.iter().for_each(|(c, q)| matrix.add_scaled(*c, Some(&q.matrix())));
        Quadric::with(centre, matrix, gradient, at_centre, &sizes)
    }

    fn with(centre: Vec<f64>, matrix: Square, gradient: Vec<f64>, constant: f64, sizes: &Sizes) -> Option<Quadric> {
        let d = centre.len();
        let eigen = Eigen::of(&matrix)?;
        let scale = &sizes.scale;
        // Each eigenvalue beside the terms that vᵀWv is the sum of: in raw units the largest column says nothing of the others.
        let rounding = |k: usize| {
            let terms: f64 = eigen.vector(k).iter().zip(scale).map(|(v, s)| (v / s) * (v / s)).sum();
            (d as f64 * f64::EPSILON * terms).max(eigen.resolution())
        };
        let flattened = |(k, v): (usize, &f64)| if v.abs() <= rounding(k) { 0.0 } else { *v };
        let values = eigen.values().iter().enumerate().map(flattened).collect();
        let scaled = Eigen::of(&Square::from_lower(d, |i, j| matrix.get(i, j) * scale[i] * scale[j]))?;
        let slopes = scaled.rotate(&gradient.iter().zip(scale).map(|(w, s)| w * s).collect::<Vec<f64>>());
        let (signature, kind) = classify(scaled.values(), &slopes, constant, sizes);
        Some(Quadric { centre, form: Form::Full { matrix, eigen }, gradient, constant, values, kind, signature })
    }

    /// What it looks like.
    pub fn kind(&self) -> QuadricKind {
        self.kind
    }

    /// Signs of the eigenvalues of W.
    pub fn signature(&self) -> Signature {
        self.signature
    }

    /// Number of columns.
    pub fn n_cols(&self) -> usize {
        self.centre.len()
    }

    /// m.
    pub fn centre(&self) -> &[f64] {
        &self.centre
    }

    /// W.
    pub fn matrix(&self) -> Cow<'_, Square> {
        match &self.form {
            Form::Full { matrix, .. } => Cow::Borrowed(matrix),
            Form::Diagonal(v) => Cow::Owned(Square::from_lower(v.len(), |i, j| if i == j { v[i] } else { 0.0 })),
        }
    }

    /// The diagonal of W where the rest is zero because columns are independent.
    pub fn diagonal(&self) -> Option<&[f64]> {
        match &self.form {
            Form::Full { .. } => None,
            Form::Diagonal(values) => Some(values),
        }
    }

    /// w, the gradient at m.
    pub fn gradient(&self) -> &[f64] {
        &self.gradient
    }

    /// w₀, the value at m.
    pub fn constant(&self) -> f64 {
        self.constant
    }

    /// q(x).
    pub fn value(&self, x: &[f64]) -> f64 {
        let u: Vec<f64> = x.iter().zip(&self.centre).map(|(x, m)| x - m).collect();
        let h = self.form.multiply(&u);
        let terms = u.iter().zip(h.iter().zip(&self.gradient)).map(|(u, (h, w))| u * (0.5 * h + w));
        self.constant + terms.sum::<f64>()
    }

    /// ∇q(x).
    pub fn gradient_at(&self, x: &[f64]) -> Vec<f64> {
        let u: Vec<f64> = x.iter().zip(&self.centre).map(|(x, m)| x - m).collect();
        self.form.multiply(&u).iter().zip(&self.gradient).map(|(h, w)| h + w).collect()
    }
}

/// `A_kᵀA_k`.
fn precision(g: &Quadratic, class: usize) -> Square {
    let form = g.form(class);
    Square::from_lower(g.n_cols(), |i, j| -form[i][j])
}

/// Signature and type from the eigenvalues of W and the gradient along its eigenvectors, in units where the diagonal of W is
/// about one: both are the same in all units.
fn classify(values: &[f64], slopes: &[f64], constant: f64, sizes: &Sizes) -> (Signature, QuadricKind) {
    let d = values.len();
    let slope = sizes.gradient.iter().zip(&sizes.scale).fold(0.0f64, |m, (w, s)| m.max((w * s).abs()));
    // W has entries of size one in these units.
    let is_flat = |k: usize| values[k].abs() <= FLAT;
    let signature = Signature {
        positive: (0..d).filter(|k| !is_flat(*k) && values[*k] > 0.0).count(),
        negative: (0..d).filter(|k| !is_flat(*k) && values[*k] < 0.0).count(),
        zero: (0..d).filter(|k| is_flat(*k)).count(),
    };
    let in_range = (0..d).all(|k| !is_flat(k) || slopes[k].abs() <= FLAT * slope);
    let extreme = |k: usize| 0.5 * slopes[k] * slopes[k] / values[k];
    let curved = (0..d).filter(|k| !is_flat(*k));
    let (moved, size) = curved.fold((0.0, sizes.constant.abs()), |(m, s), k| (m + extreme(k), s + extreme(k).abs()));
    let at_extreme = constant - moved;
    let sign = if at_extreme.abs() <= FLAT * size { 0 } else { at_extreme.signum() as i32 };
    (signature, kind(signature, in_range, sign))
}

fn kind(signature: Signature, in_range: bool, sign: i32) -> QuadricKind {
    let Signature { positive, negative, zero } = signature;
    // −q has the same zeros.
    let (more, fewer, sign) =
        if positive >= negative { (positive, negative, sign) } else { (negative, positive, -sign) };
    match (more + fewer, fewer, in_range, sign) {
        (0, _, false, _) => QuadricKind::Hyperplane,
        (0, _, true, 0) => QuadricKind::Everything,
        (0, ..) => QuadricKind::Empty,
        (_, _, false, _) => QuadricKind::Paraboloid { hyperbolic: fewer > 0, flat: zero - 1 },
        (1, _, _, 0) if zero > 0 => QuadricKind::DoubleHyperplane,
        (_, 0, _, 0) => QuadricKind::Point { flat: zero },
        (_, 0, _, 1) => QuadricKind::Empty,
        (1, ..) => QuadricKind::ParallelHyperplanes,
        (_, 0, ..) => QuadricKind::Ellipsoid { flat: zero },
        (2, _, _, 0) => QuadricKind::CrossingHyperplanes,
        (_, _, _, 0) => QuadricKind::Cone { flat: zero },
        // Σ₊ − Σ₋ = −w₀′: with one square on the side that must not vanish, that square keeps two pieces apart.
        (_, _, _, sign) => {
            let kept = if sign < 0 { more } else { fewer };
            QuadricKind::Hyperboloid { sheets: if kept == 1 { 2 } else { 1 }, flat: zero }
        }
    }
}
