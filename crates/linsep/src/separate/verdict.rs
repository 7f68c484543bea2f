//! The verdicts.

use super::plan::Route;

/// Slacks below this share of the largest are zero to the solver. What is claimed is proved without it.
pub(super) const TOLERANCE: f64 = 1e-9;

use crate::options::options;

options! {
/// How to decide.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SeparabilityOptions {
    /// In the search, slacks up to this, relative to the largest, lie on the boundary; what it finds is proved without it.
    pub tolerance: f64,
    /// Asked of the maximum margin: `1 − 2γ/‖x*−y*‖` at most this, so that 1 is any plane. `None` asks for 1e-6, and
    /// for any plane where sparse rows with many columns have more than 30 million entries.
    pub margin_tolerance: Option<f64>,
    /// Check the witness in rational arithmetic also where intervals and verified solves prove it, and take more time for
    /// whole numbers where nothing else decides.
    pub exact: bool,
}
}

impl Default for SeparabilityOptions {
    fn default() -> SeparabilityOptions {
        SeparabilityOptions { tolerance: TOLERANCE, margin_tolerance: None, exact: false }
    }
}

/// A verdict and what it is about.
#[derive(Debug, Clone, PartialEq)]
pub struct SeparabilityVerdict {
    /// The verdict.
    pub verdict: Verdict,
    /// How it was found.
    pub route: Route,
    /// Rows of positive weight.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
    /// Classes.
    pub classes: usize,
    /// The tolerance of the boundary.
    pub tolerance: f64,
    /// Iterations of the search.
    pub iterations: usize,
}

/// Whether planes separate the classes. Rows are numbered from 0.
#[must_use]
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// A plane puts every row strictly on its side.
    Complete(Box<Complete>),
    /// No plane does, but one has no row on the wrong side, and not all on it.
    QuasiComplete(Box<QuasiComplete>),
    /// Every plane with rows strictly on their side has rows on the wrong one.
    Overlap(Box<Overlap>),
    /// Nothing was proved.
    Undecided(Box<Undecided>),
}

impl Verdict {
    /// The verdict in one word.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Complete(_) => "complete",
            Verdict::QuasiComplete(_) => "quasi-complete",
            Verdict::Overlap(_) => "overlap",
            Verdict::Undecided(_) => "undecided",
        }
    }

    /// Whether the witness was checked in rational arithmetic; every verdict but an undecided one is proved, rounding included.
    pub fn exact(&self) -> Option<bool> {
        match self {
            Verdict::Complete(v) => v.exact,
            Verdict::QuasiComplete(v) => v.exact,
            Verdict::Overlap(v) => v.exact,
            Verdict::Undecided(_) => None,
        }
    }
}

/// The nearest points of the hulls of two classes.
#[derive(Debug, Clone, PartialEq)]
pub struct NearestPoints {
    /// Hull weights by row, adding up to one in each class.
    pub weights: Vec<(usize, f64)>,
    /// The points that they are: y* of the first class and x* of the second, in the units of the columns.
    pub points: [Vec<f64>; 2],
    /// `‖x* − y*‖`.
    pub distance: f64,
    /// `1 − 2γ/‖x* − y*‖`.
    pub gap: f64,
}

/// A plane with every row strictly on its side.
#[derive(Debug, Clone, PartialEq)]
pub struct Complete {
    /// Weights per score in the units of the columns: one score for two classes (positive for the second), else one a class.
    pub weights: Vec<Vec<f64>>,
    /// Intercepts per score, about the centre.
    pub intercept: Vec<f64>,
    /// Scores are `w·(x − centre) + intercept`.
    pub centre: Vec<f64>,
    /// The smallest distance of a row from the plane (several classes: from the boundaries of its class), in the units of
    /// the columns.
    pub margin: f64,
    /// Two classes: the nearest hull points, which bound every margin.
    pub hull: Option<NearestPoints>,
    /// Whether every row is strictly on its side in rational arithmetic.
    pub exact: Option<bool>,
    /// The scores in whole numbers where the nearest doubles do not separate; `weights` and `intercept` are these doubles.
    pub whole: Option<Vec<WholeScore>>,
}

/// A score `Σ w·2^e·(x − centre) + intercept` in whole numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WholeScore {
    /// w in decimal digits and e, per column.
    pub weights: Vec<(String, i32)>,
    /// The intercept in decimal digits.
    pub intercept: String,
}

/// A weight on a row and one of the classes it does not belong to.
#[derive(Debug, Clone, PartialEq)]
pub struct Constraint {
    /// The row.
    pub row: usize,
    /// The class of the row.
    pub own: usize,
    /// The other class.
    pub other: usize,
    /// λ; all add up to two, one for each of two hulls.
    pub weight: f64,
    /// λ as a whole number in proportion: with these the combination is exactly zero.
    pub exact: Option<String>,
}

/// A point that two hulls have in common (several classes: a positive combination `Σ λ(e_y − e_k)⊗x̃ = 0`).
#[derive(Debug, Clone, PartialEq)]
pub struct CommonPoint {
    /// Weights of few rows.
    pub constraints: Vec<Constraint>,
    /// The largest entry of `Σ λ(e_y − e_k)⊗x̃` in standard units, relative to its terms.
    pub residual: f64,
}

impl CommonPoint {
    /// Whether its weights are known in whole numbers.
    pub fn is_exact(&self) -> bool {
        self.constraints.iter().all(|c| c.exact.is_some())
    }
}

/// A direction with rows on its boundary.
#[derive(Debug, Clone, PartialEq)]
pub struct QuasiComplete {
    /// Weights of the direction per score, in the units of the columns.
    pub weights: Vec<Vec<f64>>,
    /// Its intercepts per score, about the centre.
    pub intercept: Vec<f64>,
    /// Scores are `w·(x − centre) + intercept`.
    pub centre: Vec<f64>,
    /// Columns whose coefficients diverge in maximum likelihood (several classes: in one of the scores), proved in whole numbers;
    /// `None` where that would take too long. Of tables with more than 2,000 columns all whose coefficients have no limit.
    pub columns: Option<Vec<usize>>,
    /// Whether the intercept does.
    pub intercept_diverges: bool,
    /// Columns that are combinations of columns before them and of the constant on all rows, proved in whole numbers: not
    /// determined, whatever the labels, and left out where it is asked what diverges; `None` where that would take too long. Of
    /// tables with more than 2,000 columns only those that are zero in all rows.
    pub collinear: Option<Vec<usize>>,
    /// Rows strictly on their side (several classes: of every boundary of their class).
    pub strict_rows: usize,
    /// The other rows: on the boundary (several classes: on one of them) whatever the direction.
    pub boundary: Vec<usize>,
    /// The same with the class against which they are on it, for [`super::coefficient_limits`].
    pub pairs: Vec<(usize, usize)>,
    /// Relative residual of the positive weights on the boundary, which prove that none of its rows can leave it.
    pub residual: f64,
    /// A common point, which proves that no plane is strict.
    pub common: CommonPoint,
    /// That direction and boundary hold in rational arithmetic.
    pub exact: Option<bool>,
}

/// Positive weights on all rows with `Σ α y x̃ = 0`.
#[derive(Debug, Clone, PartialEq)]
pub struct Overlap {
    /// α per row and other class, the largest one.
    pub weights: Vec<f64>,
    /// The smallest α.
    pub smallest: f64,
    /// The largest entry of `Σ α y x̃` in standard units, relative to its terms.
    pub residual: f64,
    /// Few rows whose hulls meet.
    pub common: Option<CommonPoint>,
    /// Whether weights near these satisfy the equation in rational arithmetic; `None` where a verified solve proves it.
    pub exact: Option<bool>,
}

impl Overlap {
    /// From positive weights of any size on all constraints.
    pub(super) fn new(alpha: &[f64], residual: f64, common: Option<CommonPoint>, exact: Option<bool>) -> Overlap {
        let largest = alpha.iter().fold(0.0f64, |m, a| m.max(*a));
        let weights: Vec<f64> = alpha.iter().map(|a| a / largest).collect();
        let smallest = weights.iter().fold(f64::INFINITY, |m, a| m.min(*a));
        Overlap { weights, smallest, residual, common, exact }
    }
}

/// No verdict.
#[derive(Debug, Clone, PartialEq)]
pub struct Undecided {
    /// What got in the way.
    pub reason: String,
    /// A common point in whole numbers, if one was found: then no plane is strict, and only quasi-complete and overlap are
    /// open.
    pub common: Option<CommonPoint>,
}

impl SeparabilityVerdict {
    /// Rows strictly on their side of what was found (several classes: of every boundary of their class), where a plane or a
    /// direction was.
    pub fn strict_rows(&self) -> Option<usize> {
        match &self.verdict {
            Verdict::Complete(_) => Some(self.rows),
            Verdict::QuasiComplete(v) => Some(v.strict_rows),
            Verdict::Overlap(_) | Verdict::Undecided(_) => None,
        }
    }

    /// Rows by the numbers that they have elsewhere.
    pub(crate) fn rename_rows(&mut self, names: &[usize]) {
        let in_point = |common: &mut CommonPoint| common.constraints.iter_mut().for_each(|c| c.row = names[c.row]);
        match &mut self.verdict {
            Verdict::Complete(v) => {
                if let Some(hull) = &mut v.hull {
                    hull.weights.iter_mut().for_each(|(row, _)| *row = names[*row]);
                }
            }
            Verdict::QuasiComplete(v) => {
                v.boundary.iter_mut().for_each(|row| *row = names[*row]);
                v.pairs.iter_mut().for_each(|(row, _)| *row = names[*row]);
                in_point(&mut v.common);
            }
            Verdict::Overlap(v) => v.common.iter_mut().for_each(in_point),
            Verdict::Undecided(v) => v.common.iter_mut().for_each(in_point),
        }
    }
}
