//! Dense rows, fewer than their columns: an orthonormal basis of their space is found once, and the problem in it has one
//! coefficient a row and score. Its Newton steps cost n³ where those of the columns cost d³.

use super::RowNewton;
use crate::certify::duality_gap;
use crate::design::{Design, RowSpace, Units};
use crate::error::Result;
use crate::objective::{Coef, Conjugate, Detail, Risk, Sample};
use crate::solve::smooth::{Newton, NewtonCg};
use crate::solve::{Solved, Solver, Stop};
use crate::watch::Watch;

/// More rows are not factored: 4dn² operations at 20 billion a second take as long as a hundred products with the rows, 4dn at
/// 2.5 billion (they are read from memory), from n = 800 on. Rounded up, because a path does it once.
const MOST_ROWS: usize = 1_000;
/// Nor are more values, which are held twice: half a gigabyte each time.
const MOST_VALUES: usize = 1 << 26;
/// Up to so many coefficients of several scores their Hessian is factored, as in `model::risk::choose`.
const FACTORED: usize = 200;

/// Whether so many dense rows and columns are few and many enough: with half as many rows as columns a Newton step costs an
/// eighth.
pub(super) fn pays(rows: usize, cols: usize) -> bool {
    rows <= MOST_ROWS && 2 * rows <= cols && rows * cols <= MOST_VALUES
}

/// Solves in the space of the rows, and proves it in that of the columns.
pub(super) fn solve<L: Conjugate + Clone>(
    limits: &RowNewton,
    risk: &Risk<'_, L>,
    start: Option<&Coef>,
    watch: &Watch,
) -> Result<Solved> {
    let RowNewton { tolerance, max_iterations } = *limits;
    let spanned = SpannedRows::of(risk.sample())?;
    let inside =
        Risk::new(spanned.sample(risk.sample()), risk.loss().clone(), risk.penalty().clone(), risk.intercept());
    let start = start.map(|coef| spanned.coordinates(coef));
    let scores = risk.loss().n_scores();
    let solved = match scores == 1 || scores * (inside.n_cols() + 1) <= FACTORED {
        true => Newton { tolerance, max_iterations }.solve(&inside, start.as_ref(), watch)?,
        false => NewtonCg { tolerance, max_iterations }.solve(&inside, start.as_ref(), watch)?,
    };
    spanned.in_columns(risk, solved, limits, watch)
}

/// The space of few dense rows, and what is needed to solve in it.
pub(crate) struct SpannedRows {
    space: RowSpace,
    /// Coordinates are in their units already.
    units: Units,
}

impl SpannedRows {
    pub(crate) fn of(sample: &Sample<'_>) -> Result<SpannedRows> {
        let space = RowSpace::of(sample.design, sample.units)?;
        let units = Units::identity(space.rows().shape().cols);
        Ok(SpannedRows { space, units })
    }

    /// The rows by their coordinates.
    pub(crate) fn sample<'s>(&'s self, sample: &Sample<'s>) -> Sample<'s> {
        Sample { units: &self.units, ..sample.with_design(self.space.rows()) }
    }

    /// Coefficients of the columns by their part in the space of the rows; no other part of them makes a score.
    pub(crate) fn coordinates(&self, coef: &Coef) -> Coef {
        let mut values = self.space.of_columns(coef.weights(), coef.n_scores());
        values.extend_from_slice(coef.intercept());
        Coef::from_vec(values, coef.n_scores(), self.units.scale().len())
    }

    /// What was solved in the space of the rows, as a solution in the columns; where rounding of the basis keeps it from the
    /// tolerance, a step or two in the columns themselves are free of it.
    pub(crate) fn in_columns<L: Conjugate + Clone>(
        &self,
        risk: &Risk<'_, L>,
        solved: Solved,
        limits: &RowNewton,
        watch: &Watch,
    ) -> Result<Solved> {
        let RowNewton { tolerance, max_iterations } = *limits;
        let coef = &solved.point.coef;
        let mut values = self.space.to_columns(coef.weights(), coef.n_scores());
        values.extend_from_slice(coef.intercept());
        let calm = Watch::default();
        let point = risk.at(&Coef::from_vec(values, coef.n_scores(), risk.n_cols()), Detail::Gradient, &calm)?;
        let certificate = duality_gap(risk, &point, &calm)?;
        let reached = certificate.relative_gap().is_some_and(|gap| gap <= tolerance);
        let passes = solved.passes + 3;
        if solved.stop == Stop::Converged && !reached {
            let further = NewtonCg { tolerance, max_iterations }.solve(risk, Some(&point.coef), watch)?;
            return Ok(Solved { passes: passes + further.passes, ..further });
        }
        let mut trace = solved.trace;
        if let Some(last) = trace.last_mut() {
            last.relative_gap = certificate.relative_gap();
        }
        Ok(Solved { point, stop: solved.stop, certificate, trace, passes, aliased: Vec::new() })
    }
}
