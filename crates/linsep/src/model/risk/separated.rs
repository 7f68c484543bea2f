//! That there is no optimum, as a theorem: what a solver took for a direction of separation is one of the stored numbers.
//!
//! A direction that is strict in every row is checked as it is. Where rows are on its boundary, rounding cannot tell, and the engine
//! of separability decides; without an intercept, the simplex method in whole numbers.

use super::columns::no_optimum;
use crate::certify::{Effort, Separation, SeparationKind, WholeRows};
use crate::design::{PreparedDesign, Units, gather};
use crate::error::{ErrorKind, Result};
use crate::model::separable::{MOST_BITS, strictly_apart};
use crate::model::{NoOptimum, SeparabilityOptions, Training, Verdict, separability};
use crate::objective::Intercept;
use crate::solve::solve_whole_cone;
use crate::table::Class;
use crate::watch::Watch;

/// Columns with at least this share of the largest weight take part in a direction, as in `columns`.
const TAKES_PART: f64 = 1e-6;
/// What is left of two intercepts that cancel, relative to them, is rounding below this.
const CANCELLED: f64 = 1e-12;

/// The proof that there is no optimum, from a direction that a solver found; `None` where the classes overlap, and where
/// nothing is proved.
pub(in crate::model) fn proved_no_optimum(
    training: &Training<'_>,
    units: &Units,
    intercept: Intercept,
    found: &Separation,
    watch: &Watch,
) -> Result<Option<NoOptimum>> {
    let stated = no_optimum(found, units);
    if found.kind == SeparationKind::Complete && strictly_apart(training, &stated.direction, &stated.intercept)? {
        return Ok(Some(stated));
    }
    let claim = match intercept {
        Intercept::None => without_intercept(training, units, watch),
        _ => with_intercept(training, watch),
    };
    match claim {
        // Whoever is out of time proves nothing; what to do then is the caller's.
        Err(error) if error.kind() == ErrorKind::Interrupted => Ok(None),
        claim => Ok(claim?.map(|claim| claim.stated(units))),
    }
}

/// A direction about a centre, and the rows that are strictly on their side of it.
struct Claim {
    weights: Vec<Vec<f64>>,
    intercept: Vec<f64>,
    centre: Vec<f64>,
    /// Where it is known which columns diverge.
    columns: Option<Vec<usize>>,
    strict_rows: usize,
    boundary_rows: usize,
}

impl Claim {
    fn stated(self, units: &Units) -> NoOptimum {
        let size = |j: usize| self.weights.iter().map(|w| (w[j] * units.scale()[j]).abs()).fold(0.0, f64::max);
        let largest = (0..self.centre.len()).map(size).fold(0.0, f64::max);
        let takes_part = |j: &usize| match &self.columns {
            Some(columns) => columns.contains(j),
            None => size(*j) > TAKES_PART * largest,
        };
        let mut columns: Vec<usize> = (0..self.centre.len()).filter(takes_part).collect();
        columns.sort_by(|a, b| size(*b).total_cmp(&size(*a)).then(a.cmp(b)));
        let at_origin = |(w, b): (&Vec<f64>, &f64)| {
            let moved = crate::numeric::sum(w.iter().zip(&self.centre).map(|(w, c)| w * c));
            // What is left of two numbers that cancel is rounding.
            if (b - moved).abs() > CANCELLED * moved.abs() { b - moved } else { 0.0 }
        };
        NoOptimum {
            of_likelihood: true,
            kind: if self.boundary_rows == 0 { SeparationKind::Complete } else { SeparationKind::Quasi },
            intercept: self.weights.iter().zip(&self.intercept).map(at_origin).collect(),
            columns,
            strict_rows: self.strict_rows,
            boundary_rows: self.boundary_rows,
            direction: self.weights,
        }
    }
}

fn with_intercept(training: &Training<'_>, watch: &Watch) -> Result<Option<Claim>> {
    // Any plane will do.
    let options = SeparabilityOptions { margin_tolerance: Some(1.0), ..SeparabilityOptions::default() };
    let found = separability(training, &options, watch)?;
    let rows = found.rows;
    Ok(match found.verdict {
        Verdict::Complete(v) => Some(Claim {
            weights: v.weights,
            intercept: v.intercept,
            centre: v.centre,
            columns: None,
            strict_rows: rows,
            boundary_rows: 0,
        }),
        Verdict::QuasiComplete(v) => Some(Claim {
            weights: v.weights,
            intercept: v.intercept,
            centre: v.centre,
            columns: v.columns,
            strict_rows: v.strict_rows,
            boundary_rows: v.boundary.len(),
        }),
        Verdict::Overlap(_) | Verdict::Undecided(_) => None,
    })
}

fn without_intercept(training: &Training<'_>, units: &Units, watch: &Watch) -> Result<Option<Claim>> {
    let rows: Vec<usize> = training.counted_rows();
    let part: Option<PreparedDesign> = match rows.len() == training.labels.len() {
        true => None,
        false => Some(gather(training.design, &rows)?),
    };
    let design = part.as_ref().map_or(training.design, PreparedDesign::as_design);
    let labels: Vec<Class> = rows.iter().map(|i| training.labels.codes()[*i]).collect();
    let classes = training.labels.n_classes();
    let Some(numbers) = WholeRows::new(design, &labels, classes, Some(units.centre()), MOST_BITS)? else {
        return Ok(None);
    };
    let asked = vec![true; numbers.constraints()];
    let found = solve_whole_cone(&numbers, &asked, Effort::seconds(watch)).filter(|found| numbers.holds(found, &asked));
    Ok(found.and_then(|found| {
        let (weights, intercept, centre) = numbers.in_columns(found.direction.as_ref()?);
        let boundary_rows = found.open.chunks_exact(classes - 1).filter(|open| open.contains(&true)).count();
        let strict_rows = labels.len() - boundary_rows;
        Some(Claim { weights, intercept, centre, columns: None, strict_rows, boundary_rows })
    }))
}
