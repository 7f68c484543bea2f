//! Two-class fits side by side: what they share, the worst of their proofs, and the one fit that they make.

use super::{Computation, Fitted, Multipliers, Note, Objective, Outcome};
use crate::certify::Certificate;
use crate::design::Units;
use crate::discriminant::Discriminant;
use crate::error::{Error, Result};
use crate::table::Class;

/// Coefficients of the same relation in two fits differ by less, relatively: what a factorisation leaves.
const SAME: f64 = 1e-6;

/// One two-class problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// The class on the negative side; `None` for all others.
    pub against: Option<Class>,
    /// The class on the positive side.
    pub class: Class,
}

/// A part, fitted.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedPart {
    /// The two-class problem.
    pub part: Part,
    /// The rows it was fitted to; `None` for all.
    pub rows: Option<Vec<usize>>,
    /// Units in which the method worked on them.
    pub units: Units,
    /// What was minimised, and its value.
    pub objective: Objective,
    /// The proof.
    pub certificate: Certificate,
    /// Whether the tolerance was reached.
    pub outcome: Outcome,
    /// Notes of this part that not all parts share.
    pub notes: Vec<Note>,
    /// How the solution was computed.
    pub computation: Computation,
    /// Of a support vector machine: the multiplier of every one of its rows.
    pub multipliers: Option<Multipliers>,
}

/// All parts side by side.
#[derive(Debug)]
pub struct SplitFit {
    /// The scores of all parts; objectives, iterations and passes summed, certificate and outcome those of the worst part,
    /// notes those that all parts share.
    pub whole: Box<Fitted>,
    /// The parts in order.
    pub parts: Vec<FittedPart>,
}

/// The notes that all parts share, and the parts with the others. `tables` is the number of columns where each pair has a table
/// of kernel values of its own.
pub(super) fn apart_from_shared(
    found: Vec<(Part, Option<Vec<usize>>, Fitted)>,
    tables: Option<usize>,
) -> (Vec<Note>, Vec<FittedPart>) {
    let everywhere = |note: &Note| found.iter().all(|(.., f)| f.notes.iter().any(|n| is_same(n, note)));
    let notes: Vec<Note> =
        found.first().map_or(Vec::new(), |(.., f)| f.notes.iter().filter(|n| everywhere(n)).cloned().collect());
    let parts: Vec<FittedPart> = found
        .into_iter()
        .map(|(part, rows, f)| FittedPart {
            part,
            units: match (tables, &rows) {
                (Some(cols), Some(_)) => Units::identity(cols),
                _ => f.units,
            },
            rows,
            objective: f.objective,
            certificate: f.certificate,
            outcome: f.outcome,
            notes: f.notes.into_iter().filter(|n| !notes.iter().any(|m| is_same(n, m))).collect(),
            computation: f.computation,
            multipliers: f.multipliers,
        })
        .collect();
    (notes, parts)
}

/// The fit that parts make together.
pub(super) fn whole_of(
    discriminant: Discriminant,
    units: Units,
    notes: Vec<Note>,
    parts: Vec<FittedPart>,
) -> Result<SplitFit> {
    let Some(worst) = worst_certificate(parts.iter().map(|p| (p.outcome, &p.certificate))).cloned() else {
        return Err(Error::usage("there are no classes to tell apart"));
    };
    let whole = Fitted {
        discriminant,
        objective: objective(&parts),
        certificate: worst,
        outcome: parts.iter().map(|p| p.outcome).max_by_key(|o| severity(*o)).unwrap_or(Outcome::Converged),
        notes,
        computation: computation(&parts),
        density: None,
        multipliers: None,
        units,
    };
    Ok(SplitFit { whole: Box::new(whole), parts })
}

/// Two-class fits of each class against the rest, in units that they share, of rows that are not here.
pub(crate) fn parts_against_rest(found: Vec<(Part, Fitted)>) -> Result<SplitFit> {
    let Some((_, first)) = found.first() else { return Err(Error::usage("there are no classes to tell apart")) };
    let units = first.units.clone();
    let discriminants = found.iter().map(|(_, f)| f.discriminant.clone()).collect::<Vec<Discriminant>>();
    let discriminant = Discriminant::stack(discriminants, units.centre())?;
    let found = found.into_iter().map(|(part, fitted)| (part, None, fitted)).collect();
    let (notes, parts) = apart_from_shared(found, None);
    whole_of(discriminant, units, notes, parts)
}

/// Whether two notes say the same: relations between columns that hold for all rows have coefficients that differ by
/// rounding only.
fn is_same(a: &Note, b: &Note) -> bool {
    let same = |x: &[(usize, f64)], y: &[(usize, f64)]| {
        let close = |((i, a), (j, b)): (&(usize, f64), &(usize, f64))| i == j && (a - b).abs() <= SAME * a.abs();
        x.len() == y.len() && x.iter().zip(y).all(close)
    };
    match (a, b) {
        (Note::Shared { column, combination }, Note::Shared { column: other, combination: of }) => {
            column == other && same(combination, of)
        }
        (
            Note::LeftOut { column, combination, printed },
            Note::LeftOut { column: other, combination: of, printed: too },
        ) => column == other && printed == too && same(combination, of),
        (Note::Collinear { column, combination }, Note::Collinear { column: other, combination: of }) => {
            column == other && same(combination, of)
        }
        (
            Note::NearlyCollinear { column, combination, left_out },
            Note::NearlyCollinear { column: other, combination: of, left_out: also },
        ) => column == other && left_out == also && same(combination, of),
        _ => a == b,
    }
}

/// The certificate of the worst part, the first of equals: it stands for the whole.
pub(crate) fn worst_certificate<'a>(
    parts: impl Iterator<Item = (Outcome, &'a Certificate)>,
) -> Option<&'a Certificate> {
    parts.reduce(|a, b| if badness(b) > badness(a) { b } else { a }).map(|(_, certificate)| certificate)
}

/// Parts ordered by their bounds, those without one last.
fn badness((outcome, certificate): (Outcome, &Certificate)) -> (u8, u8, f64) {
    let (kind, size) = match certificate {
        Certificate::Separates { bound, .. } => (0, *bound),
        Certificate::ClosedForm { relative_residual, .. } => (1, *relative_residual),
        Certificate::Errors { errors, total } => (2, errors / total),
        Certificate::Local { gradient, .. } => (2, *gradient),
        // The narrowest of several margins is the one that all rows have.
        Certificate::Margin { margin, .. } => (3, -margin),
        Certificate::Absent { .. } => (4, 0.0),
        bound => (3, bound.relative_gap().unwrap_or(f64::INFINITY)),
    };
    (severity(outcome), kind, size)
}

fn severity(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Converged => 0,
        Outcome::PrecisionLimit => 1,
        Outcome::IterationLimit => 2,
        Outcome::TimeLimit => 3,
        Outcome::Interrupted => 4,
    }
}

/// The sum over the parts, with what they have in common.
fn objective(parts: &[FittedPart]) -> Objective {
    let first = &parts[0].objective;
    Objective {
        formula: first.formula.clone(),
        value: crate::numeric::sum(parts.iter().map(|p| p.objective.value)),
        lambda: first.lambda.filter(|lambda| parts.iter().all(|p| p.objective.lambda == Some(*lambda))),
    }
}

fn computation(parts: &[FittedPart]) -> Computation {
    let first = &parts[0].computation;
    let same = parts.iter().all(|p| p.computation.solver == first.solver);
    Computation {
        solver: if same { first.solver.clone() } else { "several".into() },
        reason: first.reason.clone().filter(|r| same && parts.iter().all(|p| p.computation.reason.as_ref() == Some(r))),
        iterations: parts.iter().map(|p| p.computation.iterations).sum(),
        passes: parts.iter().map(|p| p.computation.passes).sum(),
    }
}
