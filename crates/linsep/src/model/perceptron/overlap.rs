//! Whether a plane separates the rows, so that a perceptron stops: decided and proved by `separate`.
//!
//! Without an intercept a row at the centre is on no side of any plane; all other cases are decided by the same stage.

use crate::design::{Block, Design, Tile, Training, Units};
use crate::error::{ErrorKind, Result};
use crate::objective::{Coef, Intercept};
use crate::separate::{self, SeparabilityOptions, SeparabilityVerdict, Verdict, through_centre};
use crate::watch::Watch;

/// With more columns the Hessian, of 32 MB here, costs more than the answer is worth. Chosen (bench/constants.md).
const MOST_COLUMNS: usize = 2_000;

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
    // Any separating plane suffices.
    let options = SeparabilityOptions { margin_tolerance: Some(1.0), ..SeparabilityOptions::default() };
    let found = separate::separability(training, &options, watch)?;
    let counts = |row: &usize| training.weights.is_none_or(|w| w[*row] > 0.0);
    let rows: Vec<usize> = match &found.verdict {
        Verdict::Complete(v) => {
            // w·(x − c) + b in the units given; no plane where its numbers are too far apart for doubles.
            let mut plane = Coef::zeros(1, units.scale().len());
            let scaled = v.weights[0].iter().zip(units.scale());
            plane.weights_mut().iter_mut().zip(scaled).for_each(|(p, (w, s))| *p = w * s);
            let moved = v.weights[0].iter().zip(units.centre().iter().zip(&v.centre)).map(|(w, (to, c))| w * (to - c));
            plane.intercept_mut()[0] = v.intercept[0] + crate::numeric::sum(moved);
            return Ok(OverlapVerdict::Separable { plane: v.whole.is_none().then_some(plane) });
        }
        Verdict::QuasiComplete(v) => v.boundary.clone(),
        Verdict::Overlap(_) => (0..training.labels.len()).filter(counts).collect(),
        Verdict::Undecided(v) => match &v.common {
            Some(common) => common.constraints.iter().map(|c| c.row).collect(),
            None => return Ok(OverlapVerdict::Unknown { reason: v.reason.clone() }),
        },
    };
    Ok(OverlapVerdict::Overlap { rows, witness: Some(Box::new(found)) })
}

fn without_intercept(training: &Training<'_>, units: &Units, watch: &Watch) -> Result<OverlapVerdict> {
    if let Some(row) = zero_row(training.design, units, &training.rows().counted())? {
        return Ok(OverlapVerdict::Overlap { rows: vec![row], witness: None });
    }
    Ok(match through_centre(training, units, watch)? {
        Err(reason) => unknown(reason),
        Ok(found) if !found.boundary.is_empty() => OverlapVerdict::Overlap { rows: found.boundary, witness: None },
        Ok(found) => OverlapVerdict::Separable { plane: found.direction.and_then(|direction| direction.plane) },
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
