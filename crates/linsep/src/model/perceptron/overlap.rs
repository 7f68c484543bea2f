//! Whether a plane separates the rows, so that a perceptron stops: decided, and proved, by the engine of separability.
//!
//! Without an intercept the question is another one, and the engine is asked in its parts. Where logistic regression without a
//! penalty has a solution, the residuals of its rows are positive weights that nearly balance, and a verified solve proves that
//! some balance exactly. What that leaves open is decided in whole numbers.

use crate::certify::{Effort, WholeRows, margins, prove_balance};
use crate::design::{Block, Design, PreparedDesign, Tile, Units, gather};
use crate::error::{ErrorKind, Result};
use crate::model::separable::MOST_BITS;
use crate::model::{self, SeparabilityOptions, SeparabilityVerdict, Training};
use crate::objective::{Coef, Intercept, Logistic, Ridge, Risk, Sample};
use crate::solve::{Newton, Solver, Stop, solve_whole_cone};
use crate::table::Class;
use crate::watch::Watch;

/// With more columns the Hessian, of 32 MB here, costs more than the answer is worth. Chosen, not measured.
const MOST_COLUMNS: usize = 2_000;
/// Tolerance of the optimum whose weights are then proved to balance. Chosen, not measured: a wrong value costs a
/// proof.
const TOLERANCE: f64 = 1e-6;

/// Whether some plane puts every row strictly on its side.
#[derive(Debug, Clone)]
pub(in crate::model) enum OverlapVerdict {
    /// None does: these rows prove it. The witness is absent where there is no intercept.
    Overlap { rows: Vec<usize>, witness: Option<Box<SeparabilityVerdict>> },
    /// One does: this one, in the units given, where it is known.
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
) -> Result<OverlapVerdict> {
    if units.scale().len() > MOST_COLUMNS {
        return Ok(unknown(&format!("there are more than {MOST_COLUMNS} columns")));
    }
    let found = match intercept {
        Intercept::None => without_intercept(training, units, watch),
        _ => with_intercept(training, units, watch),
    };
    match found {
        Err(error) if error.kind() == ErrorKind::Interrupted => Ok(unknown("stopped")),
        found => found,
    }
}

fn with_intercept(training: &Training<'_>, units: &Units, watch: &Watch) -> Result<OverlapVerdict> {
    // Any plane will do.
    let options = SeparabilityOptions { margin_tolerance: Some(1.0), ..SeparabilityOptions::default() };
    let found = model::separability(training, &options, watch)?;
    let counts = |row: &usize| training.weights.is_none_or(|w| w[*row] > 0.0);
    let rows: Vec<usize> = match &found.verdict {
        model::Verdict::Complete(v) => {
            // w·(x − c) + b in the units given; what has no double near it stays unsaid.
            let mut plane = Coef::zeros(1, units.scale().len());
            let scaled = v.weights[0].iter().zip(units.scale());
            plane.weights_mut().iter_mut().zip(scaled).for_each(|(p, (w, s))| *p = w * s);
            let moved = v.weights[0].iter().zip(units.centre().iter().zip(&v.centre)).map(|(w, (to, c))| w * (to - c));
            plane.intercept_mut()[0] = v.intercept[0] + crate::numeric::sum(moved);
            return Ok(OverlapVerdict::Separable { plane: v.whole.is_none().then_some(plane) });
        }
        model::Verdict::QuasiComplete(v) => v.boundary.clone(),
        model::Verdict::Overlap(_) => (0..training.labels.len()).filter(counts).collect(),
        model::Verdict::Undecided(v) => match &v.common {
            Some(common) => common.constraints.iter().map(|c| c.row).collect(),
            None => return Ok(OverlapVerdict::Unknown { reason: v.reason.clone() }),
        },
    };
    Ok(OverlapVerdict::Overlap { rows, witness: Some(Box::new(found)) })
}

fn without_intercept(training: &Training<'_>, units: &Units, watch: &Watch) -> Result<OverlapVerdict> {
    let rows = training.counted_rows();
    if let Some(row) = zero_row(training.design, units, &rows)? {
        return Ok(OverlapVerdict::Overlap { rows: vec![row], witness: None });
    }
    let whole = rows.len() == training.labels.len();
    let part: Option<PreparedDesign> = if whole { None } else { Some(gather(training.design, &rows)?) };
    let design = part.as_ref().map_or(training.design, PreparedDesign::as_design);
    let labels: Vec<Class> = rows.iter().map(|i| training.labels.codes()[*i]).collect();
    match by_likelihood(design, units, &labels, watch)? {
        Some(LikelihoodFit::Exists) => return Ok(OverlapVerdict::Overlap { rows, witness: None }),
        Some(LikelihoodFit::Strict(plane)) => return Ok(OverlapVerdict::Separable { plane: Some(plane) }),
        None => {}
    }
    let Some(numbers) = WholeRows::new(design, &labels, 2, Some(units.centre()), MOST_BITS)? else {
        return Ok(unknown("rounding hides it, and there are too many numbers for rational arithmetic"));
    };
    let all = vec![true; labels.len()];
    let found = solve_whole_cone(&numbers, &all, Effort::seconds(watch)).filter(|found| numbers.holds(found, &all));
    Ok(match found {
        None => unknown("rounding hides it, and rational arithmetic would take too long"),
        Some(found) if !found.open.contains(&true) => OverlapVerdict::Separable { plane: None },
        Some(found) => {
            let open = rows.iter().zip(&found.open).filter(|(_, open)| **open).map(|(row, _)| *row).collect();
            OverlapVerdict::Overlap { rows: open, witness: None }
        }
    })
}

/// A row that is zero in the units given: without an intercept its score is zero for every θ.
fn zero_row(design: &dyn Design, units: &Units, rows: &[usize]) -> Result<Option<usize>> {
    let (mut tile, mut values) = (Tile::default(), Vec::new());
    for row in rows {
        match design.block(*row..row + 1, &mut tile)? {
            Block::F64(dense) => dense.load(units, &mut values),
            Block::F32(dense) => dense.load(units, &mut values),
            // What is not stored is zero only where there is no centre.
            Block::Csr(_) if is_centred(units) => return Ok(None),
            Block::Csr(sparse) => values = sparse.row(0).1.to_vec(),
        }
        if values.iter().all(|v| *v == 0.0) {
            return Ok(Some(*row));
        }
    }
    Ok(None)
}

fn is_centred(units: &Units) -> bool {
    units.centre().iter().any(|c| *c != 0.0)
}

fn unknown(reason: &str) -> OverlapVerdict {
    OverlapVerdict::Unknown { reason: reason.to_owned() }
}

/// What maximum likelihood proves of some rows.
enum LikelihoodFit {
    /// It exists: no plane, not even one with rows on it.
    Exists,
    /// A plane with every row strictly on its side.
    Strict(Coef),
}

/// The one place that poses the problem: logistic loss, no penalty, every row once.
fn by_likelihood(design: &dyn Design, units: &Units, labels: &[Class], watch: &Watch) -> Result<Option<LikelihoodFit>> {
    let sample = Sample { design, units, labels, weights: None, offsets: None };
    let risk = Risk::new(sample, Logistic, Ridge::none(), Intercept::None);
    if risk.is_sparse() && is_centred(units) {
        return Ok(None);
    }
    let solved = Newton { tolerance: TOLERANCE, ..Newton::default() }.solve(&risk, None, watch)?;
    if let Stop::Separated(found) = &solved.stop {
        let measured = margins(design, units, (labels, None), &found.direction, false, watch)?;
        return Ok((measured.margin > 0.0).then(|| LikelihoodFit::Strict(found.direction.clone())));
    }
    let residual = |(z, y): (&f64, &Class)| 1.0 / (1.0 + if y.0 == 1 { *z } else { -z }.exp());
    let alpha: Vec<f64> = solved.point.scores.iter().zip(labels).map(residual).collect();
    Ok(prove_balance(&risk, &alpha, &[], watch)?.map(|_| LikelihoodFit::Exists))
}
