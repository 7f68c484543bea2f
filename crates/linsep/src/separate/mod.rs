//! Whether planes can separate the classes, with a witness that plain arithmetic has checked.
//!
//! Three verdicts exclude each other. *Complete*: a plane puts every row strictly on its side. *Quasi-complete*: no plane
//! does, but one has no row on the wrong side and not all rows on the plane itself. *Overlap*: neither. A verdict comes from
//! a search; what is reported was measured by [`crate::certify`], and where that does not suffice the verdict is
//! *undecided*.

mod boundary;
mod common;
mod cone;
mod core;
mod exact;
mod existence;
mod from_slacks;
mod hard_margin;
mod limits;
mod narrow;
mod origin;
mod peel;
mod plan;
mod proof;
pub(crate) mod recession;
mod row_relations;
mod verdict;
mod wide;

pub(crate) use cone::{
    ConeSolved, WholeMember, basic_solution, independent_vectors, solve_cone, solve_part_of_cone, solve_whole_cone,
    whole_common_point, whole_member,
};
pub use existence::NoOptimum;
pub(crate) use existence::proved_no_optimum;
pub(crate) use hard_margin::{SeparatingPlane, any_plane, hard_margin, margin_by_faces};
pub use limits::{CoefficientLimit, CoefficientLimits};
pub(crate) use origin::through_centre;
pub use plan::Route;
pub use verdict::{
    CommonPoint, Complete, Constraint, NearestPoints, Overlap, QuasiComplete, SeparabilityOptions, SeparabilityVerdict,
    Undecided, Verdict, WholeScore,
};

// For the other stages, the command, the extension and the tests: nothing is promised about these.
#[doc(hidden)]
pub use self::limits::coefficient_limits;

use crate::certify::{ExactPlane, exactly_separates};
use crate::design::{LabelledRows, Training};
use crate::error::Result;
use crate::table::Class;
use crate::watch::Watch;
use plan::QuestionSize;

/// The gap asked of a margin where the user names none; bench/README.md states it.
const MARGIN: f64 = 1e-6;
/// Weights with a larger residual, relative to the terms of their equation, are not worth a proof: it would fail.
/// Chosen, not measured.
const EQUATION: f64 = 1e-10;
/// Why weights that nearly balance are no verdict.
const NOT_BALANCED: &str = "weights of all rows nearly balance, but that some balance exactly was not proved";

/// Decides for the rows of positive weight: two classes, or the joint system of several.
///
/// ```
/// use linsep::design::DenseMatrix;
/// use linsep::design::{Training};
/// use linsep::separate::{SeparabilityOptions, Verdict, separability};
/// use linsep::table::Labels;
/// let x = DenseMatrix::new(vec![0.0, 1.0, 3.0, 4.0], 1)?;
/// let y = Labels::from_names(["a", "a", "b", "b"]);
/// let found = separability(&Training::new(&x, &y), &SeparabilityOptions::default(), &Default::default())?;
/// let Verdict::Complete(complete) = &found.verdict else { panic!("2 is between the classes") };
/// assert!((complete.margin - 1.0).abs() < 1e-9);
/// # Ok::<(), linsep::Error>(())
/// ```
#[doc(hidden)]
pub fn separability(
    training: &Training<'_>,
    options: &SeparabilityOptions,
    watch: &Watch,
) -> Result<SeparabilityVerdict> {
    training.check()?;
    let counted = training.counted()?;
    let counted_rows = counted.view(training);
    let rows = counted_rows.rows().weighted(None);
    let case = Case { rows, classes: counted_rows.labels.n_classes(), options, watch };
    let mut found = match case.size().routes()[..] {
        [Route::Columns | Route::PartOfRows] => case.narrow()?,
        _ => case.wide()?,
    };
    if let Verdict::Undecided(undecided) = &mut found.verdict {
        undecided.common = undecided.common.take().filter(CommonPoint::is_exact);
        let common = undecided.common.clone();
        if let Some(verdict) = case.in_whole_numbers(common.clone())? {
            (found.verdict, found.route) = (verdict, Route::WholeNumbers);
        } else if let Some(verdict) = case.by_row_relations(common)? {
            (found.verdict, found.route) = (verdict, Route::RowRelations);
        }
    }
    if let Some(rows) = counted.rows() {
        found.rename_rows(rows);
    }
    Ok(found)
}

/// Whether every row of positive weight is, without rounding, strictly on its side of the planes between scores: one score for
/// two classes, one a class, or one a class but the first, whose score is zero; scores are `w·(x − centre) + intercept`.
fn strictly_apart(
    training: &Training<'_>,
    weights: &[Vec<f64>],
    (intercept, centre): (&[f64], &[f64]),
) -> Result<bool> {
    let classes = training.labels.n_classes();
    let counts = |row: usize| training.weights.is_none_or(|w| w[row] > 0.0);
    let score = |k: usize| (&weights[k][..], intercept[k]);
    for a in 0..classes {
        for b in a + 1..classes {
            let side = |(row, y): (usize, &Class)| match y.index() {
                _ if !counts(row) => 0.0,
                k if k == b => 1.0,
                k if k == a => -1.0,
                _ => 0.0,
            };
            let sides: Vec<f64> = training.labels.codes().iter().enumerate().map(side).collect();
            let first_is_zero = weights.len() < classes;
            let (score, less) = match first_is_zero {
                true => (score(b - 1), a.checked_sub(1).map(score)),
                false => (score(b), Some(score(a))),
            };
            if !exactly_separates(training.design, &sides, ExactPlane { score, less, centre })? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Rows that all count, and what is asked of them.
#[derive(Clone, Copy)]
struct Case<'a> {
    rows: LabelledRows<'a>,
    classes: usize,
    options: &'a SeparabilityOptions,
    watch: &'a Watch,
}

impl Case<'_> {
    fn size(&self) -> QuestionSize {
        let shape = self.rows.design.shape();
        QuestionSize { rows: shape.rows, columns: shape.cols, classes: self.classes }
    }

    fn found(&self, route: Route, verdict: Verdict, iterations: usize) -> SeparabilityVerdict {
        let QuestionSize { rows, columns, classes } = self.size();
        let tolerance = self.options.tolerance;
        SeparabilityVerdict { verdict, route, rows, columns, classes, tolerance, iterations }
    }
}
