//! A direction of recession, checked by plain arithmetic: proof that maximum likelihood has no solution.

use crate::error::Result;
use crate::objective::{Coef, Loss, Risk};
use crate::watch::Watch;

/// How far the classes are separated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeparationKind {
    /// Every row lies strictly on its side.
    Complete,
    /// No row lies on the wrong side, some lie on the boundary.
    Quasi,
}

/// A direction along which the likelihood never falls: moving along it forever improves the fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Separation {
    /// Complete or quasi-complete.
    pub kind: SeparationKind,
    /// The direction, in the units of the fit.
    pub direction: Coef,
    /// Rows strictly on their side: of several classes against every other one.
    pub strict_rows: usize,
    /// The other rows: on the boundary, of several classes against one at least.
    pub boundary_rows: usize,
    /// Pairs of a row and another class that are told apart strictly.
    pub strict_constraints: usize,
    /// The relative tolerance at which boundary and sides were told apart.
    pub tolerance: f64,
}

/// Relative to the largest slack, what counts as lying on the boundary. A candidate only: that an optimum does not
/// exist is then proved exactly, since slacks of 1e-9 alone once made a separation of an overlap.
const TOLERANCE: f64 = 1e-9;

/// The smallest of `v_y·x̃ − v_k·x̃` over the other classes k, for every row (two classes: `y v·x̃`).
pub(crate) fn slacks<L: Loss>(risk: &Risk<'_, L>, direction: &Coef, watch: &Watch) -> Result<Vec<Vec<f64>>> {
    let line = risk.along(direction, watch)?;
    let (k, classes) = (risk.loss().n_scores(), risk.loss().n_classes());
    let fixed = classes - k;
    let score = |z: &[f64], class: usize| if class < fixed { 0.0 } else { z[class - fixed] };
    let rows = line.scores().chunks_exact(k).zip(risk.sample().labels);
    Ok(rows
        .map(|(z, y)| {
            let own = if classes == 2 && k == 1 { 0.0 } else { score(z, y.index()) };
            match classes == 2 && k == 1 {
                true => vec![if y.0 == 1 { z[0] } else { -z[0] }],
                false => (0..classes).filter(|c| *c != y.index()).map(|c| own - score(z, c)).collect(),
            }
        })
        .collect())
}

/// Whether a direction separates the rows of positive weight, completely or quasi-completely.
pub fn check_direction<L: Loss>(risk: &Risk<'_, L>, direction: &Coef, watch: &Watch) -> Result<Option<Separation>> {
    let slacks = slacks(risk, direction, watch)?;
    let counted = |i: usize| risk.sample().weights.is_none_or(|w| w[i] > 0.0);
    let used = slacks.iter().enumerate().filter(|(i, _)| counted(*i));
    let largest = used.flat_map(|(_, row)| row).fold(0.0f64, |m, s| m.max(s.abs()));
    if !(largest > 0.0 && largest.is_finite()) {
        return Ok(None);
    }
    let (mut strict_rows, mut boundary_rows, mut strict_constraints) = (0, 0, 0);
    let mut all_strict = true;
    for (_, row) in slacks.iter().enumerate().filter(|(i, _)| counted(*i)) {
        let least = row.iter().fold(f64::INFINITY, |m, s| m.min(*s));
        if least < -TOLERANCE * largest {
            return Ok(None);
        }
        all_strict &= least > TOLERANCE * largest;
        strict_constraints += row.iter().filter(|s| **s > TOLERANCE * largest).count();
        if least > TOLERANCE * largest {
            strict_rows += 1;
        } else {
            boundary_rows += 1;
        }
    }
    let kind = if all_strict { SeparationKind::Complete } else { SeparationKind::Quasi };
    // A direction whose slacks are all rounding error separates nothing.
    if strict_constraints == 0 {
        return Ok(None);
    }
    let direction = direction.clone();
    Ok(Some(Separation { kind, direction, strict_rows, boundary_rows, strict_constraints, tolerance: TOLERANCE }))
}
