//! Whether a plane separates the rows, decided by logistic regression without a penalty.
//!
//! Its maximum exists only where no plane separates the rows, not even with some of them on it; the self-concordance bound
//! proves existence, and so that no perceptron can ever stop. Otherwise there is a direction v with `y v·x̃ ≥ 0`. If
//! that is strict for every row, v is a plane. If not, a strict plane for the rows on the boundary of v, added a little of
//! to v, is one for all rows, and without one for them there is none for all: so they decide, and the question is asked
//! again of them alone. That some rows overlap proves that all do, whatever made us choose these.

use crate::certify::{Certificate, SeparationKind, slacks};
use crate::design::{Block, Design, Tile, Units, gather};
use crate::error::{ErrorKind, Result};
use crate::model::Training;
use crate::objective::{Coef, Intercept, Logistic, Ridge, Risk, Sample};
use crate::solve::{Newton, Solver, Stop};
use crate::table::Class;
use crate::watch::Watch;

/// More columns than this, and the Hessian costs more than the answer is worth.
const MOST_COLUMNS: usize = 2_000;
/// Existence needs no more of the optimum than this.
const TOLERANCE: f64 = 1e-6;

/// Whether some plane puts every row strictly on its side.
#[derive(Debug, Clone)]
pub(in crate::model) enum Verdict {
    /// None does: these rows overlap, because their maximum likelihood exists (or the one row is all zero).
    Overlap { rows: Vec<usize>, certificate: Option<Certificate> },
    /// One does: this one, in the units given, where it was found in one step.
    Separable { plane: Option<Coef> },
    /// Not decided.
    Unknown { reason: String },
}

/// Decides for the rows of positive weight.
pub(in crate::model) fn separability(
    training: &Training<'_>,
    units: &Units,
    intercept: Intercept,
    watch: &Watch,
) -> Result<Verdict> {
    if units.scale().len() > MOST_COLUMNS {
        return Ok(unknown(&format!("there are more than {MOST_COLUMNS} columns")));
    }
    let mut rows: Vec<usize> =
        (0..training.labels.len()).filter(|i| training.weights.is_none_or(|w| w[*i] > 0.0)).collect();
    if intercept == Intercept::None
        && let Some(row) = zero_row(training.design, units, &rows)?
    {
        return Ok(Verdict::Overlap { rows: vec![row], certificate: None });
    }
    let mut whole = true;
    // Every round but the last leaves rows out.
    loop {
        let labels: Vec<Class> = rows.iter().map(|i| training.labels.codes()[*i]).collect();
        if intercept == Intercept::Free && labels.iter().all(|y| *y == labels[0]) {
            return Ok(Verdict::Separable { plane: None });
        }
        let part;
        let design = match rows.len() == training.labels.len() {
            true => training.design,
            false => {
                part = gather(training.design, &rows)?;
                part.as_design()
            }
        };
        match maximum_likelihood(design, units, &labels, intercept, watch) {
            Ok(Likelihood::Exists(certificate)) => {
                return Ok(Verdict::Overlap { rows, certificate: Some(certificate) });
            }
            Ok(Likelihood::Strict(plane)) => return Ok(Verdict::Separable { plane: whole.then_some(plane) }),
            Ok(Likelihood::Boundary(on_it)) if on_it.is_empty() || on_it.len() == rows.len() => {
                return Ok(unknown("rounding hides which rows are on the boundary"));
            }
            Ok(Likelihood::Boundary(on_it)) => rows = on_it.into_iter().map(|at| rows[at]).collect(),
            Ok(Likelihood::Undecided) => return Ok(unknown("logistic regression came to no verdict")),
            Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(unknown("stopped")),
            Err(error) => return Err(error),
        }
        whole = false;
    }
}

/// A row that is zero in the units given: without an intercept its score is zero for every θ.
fn zero_row(design: &dyn Design, units: &Units, rows: &[usize]) -> Result<Option<usize>> {
    let (mut tile, mut values) = (Tile::default(), Vec::new());
    let centred = units.centre().iter().zip(units.inverse_scale()).any(|(c, s)| c * s != 0.0);
    for row in rows {
        match design.block(*row..row + 1, &mut tile)? {
            Block::F64(dense) => dense.load(units, &mut values),
            Block::F32(dense) => dense.load(units, &mut values),
            // What is not stored is zero only where there is no centre.
            Block::Csr(_) if centred => return Ok(None),
            Block::Csr(sparse) => values = sparse.row(0).1.to_vec(),
        }
        if values.iter().all(|v| *v == 0.0) {
            return Ok(Some(*row));
        }
    }
    Ok(None)
}

fn unknown(reason: &str) -> Verdict {
    Verdict::Unknown { reason: reason.to_owned() }
}

/// What maximum likelihood says of some rows.
enum Likelihood {
    /// It exists: no plane, not even one with rows on it.
    Exists(Certificate),
    /// A plane with every row strictly on its side.
    Strict(Coef),
    /// A plane with these rows on it and the others on their side.
    Boundary(Vec<usize>),
    Undecided,
}

/// The one place that poses the problem: logistic loss, no penalty, every row once.
fn maximum_likelihood(
    design: &dyn Design,
    units: &Units,
    labels: &[Class],
    intercept: Intercept,
    watch: &Watch,
) -> Result<Likelihood> {
    let sample = Sample { design, units, labels, weights: None, offsets: None };
    let risk = Risk::new(sample, Logistic, Ridge::none(), intercept);
    let solved = Newton { tolerance: TOLERANCE, ..Newton::default() }.solve(&risk, None, watch)?;
    Ok(match solved.stop {
        Stop::Converged if solved.certificate.relative_gap().is_some() => Likelihood::Exists(solved.certificate),
        Stop::Separated(found) if found.kind == SeparationKind::Complete => Likelihood::Strict(found.direction),
        Stop::Separated(found) => {
            let slacks: Vec<f64> = slacks(&risk, &found.direction, watch)?.into_iter().map(|s| s[0]).collect();
            let largest = slacks.iter().fold(0.0f64, |m, s| m.max(s.abs()));
            let on_it = |at: &usize| slacks[*at] <= found.tolerance * largest;
            Likelihood::Boundary((0..slacks.len()).filter(on_it).collect())
        }
        _ => Likelihood::Undecided,
    })
}
