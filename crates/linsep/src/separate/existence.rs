//! Whether maximum likelihood has an optimum, as a theorem about the stored numbers.
//!
//! A direction of recession from a solver that is strict in every row is checked as it is. Where rows are on its boundary,
//! rounding cannot decide, and separability is decided in full, with or without an intercept.

use super::limits::{LimitRows, NamedColumns};
use super::origin::through_centre;
use super::plan::Route;
use super::{SeparabilityOptions, Verdict, separability, strictly_apart};
use crate::certify::{Effort, Separation, SeparationKind};
use crate::design::{LabelledRows, Training, Units};
use crate::error::{ErrorKind, Result};
use crate::objective::Intercept;
use crate::watch::Watch;

/// Columns with at least this share of the largest weight take part in a direction of separation: the rest is named
/// rounding. Chosen, out of reach of bench/constants.md: only the names listed depend on it.
const TAKES_PART: f64 = 1e-6;
/// Weights below this share of the largest are rounding of the solver, as `SeparabilityOptions::tolerance`.
const ROUNDED: f64 = 1e-9;
/// What is left of two intercepts that cancel, relative to them, is rounding below this: sums over thousands of
/// columns.
const CANCELLED: f64 = 1e-12;

/// Maximum likelihood does not exist: the direction along which the likelihood never stops rising (or the squared error of
/// sigmoid outputs falling).
#[derive(Debug, Clone, PartialEq)]
pub struct NoOptimum {
    /// Whether it is about the likelihood.
    pub of_likelihood: bool,
    /// Complete or quasi-complete separation.
    pub kind: SeparationKind,
    /// Weights of the direction per score, in the units of the columns: doubles near those of the proof.
    pub direction: Vec<Vec<f64>>,
    /// Its intercepts per score.
    pub intercept: Vec<f64>,
    /// Columns whose coefficients diverge, proved in whole numbers, the largest (in standard units) of the direction first;
    /// `None` where that would take too long.
    pub columns: Option<Vec<usize>>,
    /// Columns that take part in the direction, the largest (in standard units) first.
    pub largest: Vec<usize>,
    /// Rows strictly on their side: of several classes against every other one.
    pub strict_rows: usize,
    /// Rows (from 0) on the boundary, rising; none is beyond.
    pub boundary: Vec<usize>,
    /// The same with the class against which they are on it, for [`super::coefficient_limits`].
    pub pairs: Vec<(usize, usize)>,
    /// Whether the intercept diverges, where it is known what does.
    pub intercept_diverges: bool,
    /// How it was found.
    pub route: Route,
}

impl NoOptimum {
    /// Rows by the numbers that they have elsewhere.
    pub(crate) fn rename_rows(&mut self, names: &[usize]) {
        self.boundary.iter_mut().for_each(|row| *row = names[*row]);
        self.pairs.iter_mut().for_each(|(row, _)| *row = names[*row]);
    }

    /// With what is known of the columns.
    fn naming(self, named: NamedColumns) -> NoOptimum {
        let mut rank = vec![usize::MAX; self.direction.first().map_or(0, Vec::len)];
        self.largest.iter().enumerate().for_each(|(at, j)| rank[*j] = at);
        let columns = named.diverging.map(|mut columns| {
            columns.sort_by_key(|j| (rank[*j], *j));
            columns
        });
        NoOptimum { columns, intercept_diverges: named.intercept_diverges, ..self }
    }
}

/// The proof that there is no optimum, from a direction that a solver found, if one did; `None` where the classes overlap, and
/// where nothing is proved.
pub(crate) fn proved_no_optimum(
    training: &Training<'_>,
    units: &Units,
    intercept: Intercept,
    found: Option<&Separation>,
    watch: &Watch,
) -> Result<Option<NoOptimum>> {
    if let Some(found) = found.filter(|found| found.kind == SeparationKind::Complete) {
        let stated = as_it_is(found, units);
        let zero = vec![0.0; units.centre().len()];
        if strictly_apart(training, &stated.direction, (&stated.intercept, &zero))? {
            let through = (intercept == Intercept::None).then_some(units.centre());
            return Ok(Some(stated.naming(named_columns(training, &[], through, watch)?)));
        }
    }
    let claim = match intercept {
        Intercept::None => without_intercept(training, units, watch),
        _ => with_intercept(training, watch),
    };
    match claim {
        // Out of time, nothing is proved; the caller decides what to do then.
        Err(error) if error.kind() == ErrorKind::Interrupted => Ok(None),
        claim => Ok(claim?.map(|claim| claim.stated(units))),
    }
}

/// The columns that diverge where these pairs of a row and another class are on the boundary.
fn named_columns(
    training: &Training<'_>,
    pairs: &[(usize, usize)],
    through: Option<&[f64]>,
    watch: &Watch,
) -> Result<NamedColumns> {
    let counted = training.counted()?;
    let Training { design, labels, .. } = counted.view(training);
    let place = |row: usize| counted.rows().map_or(Ok(row), |rows| rows.binary_search(&row));
    let pairs: Vec<(usize, usize)> = pairs.iter().filter_map(|(row, k)| Some((place(*row).ok()?, *k))).collect();
    LimitRows::new(LabelledRows::new(design, labels.codes()), labels.n_classes(), through, Effort::seconds(watch))
        .named(&pairs)
}

/// A direction with every row strictly on its side in the units of the columns, with the columns that take part in it.
fn as_it_is(separation: &Separation, units: &Units) -> NoOptimum {
    let v = &separation.direction;
    let (k, cols) = (v.n_scores(), v.n_cols());
    let size = |j: usize| (0..k).map(|c| v.weights_of(c)[j].abs()).fold(0.0, f64::max);
    let largest = (0..cols).map(size).fold(0.0, f64::max);
    let mut columns: Vec<usize> = (0..cols).filter(|j| size(*j) > TAKES_PART * largest).collect();
    columns.sort_by(|a, b| size(*b).total_cmp(&size(*a)).then(a.cmp(b)));
    let direction: Vec<Vec<f64>> = (0..k)
        .map(|c| {
            v.weights_of(c)
                .iter()
                .zip(units.scale())
                .map(|(w, s)| if w.abs() > ROUNDED * largest { w / s } else { 0.0 })
                .collect()
        })
        .collect();
    let intercept = (0..k)
        .map(|c| {
            let moved: f64 = direction[c].iter().zip(units.centre()).map(|(w, m)| w * m).sum();
            let at_origin = v.intercept()[c] - moved;
            // What remains of two intercepts that cancel is rounding error.
            if at_origin.abs() > CANCELLED * moved.abs() { at_origin } else { 0.0 }
        })
        .collect();
    NoOptimum {
        of_likelihood: true,
        kind: separation.kind,
        direction,
        intercept,
        columns: None,
        largest: columns,
        strict_rows: separation.strict_rows,
        boundary: Vec::new(),
        pairs: Vec::new(),
        intercept_diverges: false,
        route: Route::Fit,
    }
}

/// A direction about a centre, and the rows that are strictly on their side of it.
struct Claim {
    weights: Vec<Vec<f64>>,
    intercept: Vec<f64>,
    centre: Vec<f64>,
    named: NamedColumns,
    strict_rows: usize,
    boundary: Vec<usize>,
    pairs: Vec<(usize, usize)>,
    route: Route,
}

impl Claim {
    fn stated(self, units: &Units) -> NoOptimum {
        let size = |j: usize| self.weights.iter().map(|w| (w[j] * units.scale()[j]).abs()).fold(0.0, f64::max);
        let largest = (0..self.centre.len()).map(size).fold(0.0, f64::max);
        let mut parts: Vec<usize> = (0..self.centre.len()).filter(|j| size(*j) > TAKES_PART * largest).collect();
        parts.sort_by(|a, b| size(*b).total_cmp(&size(*a)).then(a.cmp(b)));
        let at_origin = |(w, b): (&Vec<f64>, &f64)| {
            let moved = crate::numeric::sum(w.iter().zip(&self.centre).map(|(w, c)| w * c));
            // What remains of two intercepts that cancel is rounding error.
            if (b - moved).abs() > CANCELLED * moved.abs() { b - moved } else { 0.0 }
        };
        NoOptimum {
            of_likelihood: true,
            kind: if self.boundary.is_empty() { SeparationKind::Complete } else { SeparationKind::Quasi },
            intercept: self.weights.iter().zip(&self.intercept).map(at_origin).collect(),
            columns: None,
            largest: parts,
            strict_rows: self.strict_rows,
            boundary: self.boundary,
            pairs: self.pairs,
            intercept_diverges: false,
            route: self.route,
            direction: self.weights,
        }
        .naming(self.named)
    }
}

fn with_intercept(training: &Training<'_>, watch: &Watch) -> Result<Option<Claim>> {
    // Any separating plane suffices.
    let options = SeparabilityOptions { margin_tolerance: Some(1.0), ..SeparabilityOptions::default() };
    let found = separability(training, &options, watch)?;
    let (rows, route) = (found.rows, found.route);
    Ok(match found.verdict {
        Verdict::Complete(v) => Some(Claim {
            weights: v.weights,
            intercept: v.intercept,
            centre: v.centre,
            named: named_columns(training, &[], None, watch)?,
            strict_rows: rows,
            boundary: Vec::new(),
            pairs: Vec::new(),
            route,
        }),
        Verdict::QuasiComplete(v) => Some(Claim {
            weights: v.weights,
            intercept: v.intercept,
            centre: v.centre,
            named: NamedColumns {
                diverging: v.columns,
                intercept_diverges: v.intercept_diverges,
                collinear: v.collinear,
            },
            strict_rows: v.strict_rows,
            boundary: v.boundary,
            pairs: v.pairs,
            route,
        }),
        Verdict::Overlap(_) | Verdict::Undecided(_) => None,
    })
}

fn without_intercept(training: &Training<'_>, units: &Units, watch: &Watch) -> Result<Option<Claim>> {
    let Ok(found) = through_centre(training, units, watch)? else { return Ok(None) };
    let Some(direction) = found.direction else { return Ok(None) };
    Ok(Some(Claim {
        weights: direction.weights,
        intercept: direction.intercept,
        centre: direction.centre,
        named: named_columns(training, &found.pairs, Some(units.centre()), watch)?,
        strict_rows: found.rows - found.boundary.len(),
        boundary: found.boundary,
        pairs: found.pairs,
        route: found.route,
    }))
}
