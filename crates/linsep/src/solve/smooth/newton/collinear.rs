//! Newton's method on columns that are nearly collinear, or some of which are combinations of others.

use super::{NAMED_COLUMNS, Newton, NewtonRun, SUSPECT_PIVOT};
use crate::certify::{OrthonormalBasis, Separation, check_direction, exactly_dependent};
use crate::design::Units;
use crate::error::Result;
use crate::linalg::{Alias, Square, factor};
use crate::objective::{Coef, Conjugate, Detail, Intercept, Penalty, Ridge, Risk, Sample, Smooth};
use crate::solve::{Solved, Stop};
use crate::watch::Watch;

impl Newton {
    /// Solves in a basis that is orthonormal under the weights of the rows; columns that have no part in it get no weight.
    pub(super) fn solve_in_basis<P: Smooth<Penalty = Ridge>>(
        &self,
        problem: &P,
        risk: &Risk<'_, P::Loss>,
        looks: bool,
        watch: &Watch,
    ) -> Result<Solved<P::Scores>> {
        let basis = OrthonormalBasis::of(risk, watch)?;
        let (rows, units) = (basis.rows(risk), Units::identity(basis.columns.len()));
        let sample = Sample { units: &units, ..risk.sample().with_design(&rows) };
        let turned = Risk::new(sample, risk.loss().clone(), Ridge::none(), risk.intercept());
        let mut run = NewtonRun::new(&turned, &turned.start(), watch)?;
        run.looks = looks;
        let solved = self.run(run, watch)?;
        let coef = basis.to_columns(&solved.point.coef, risk.n_cols());
        let stop = match solved.stop {
            Stop::Separated(found) => in_columns(risk, &basis, &found.direction, watch)?,
            stop => stop,
        };
        let mut trace = solved.trace;
        let point = problem.at(&coef, Detail::Gradient, &Watch::default())?;
        if let Some(last) = trace.last_mut() {
            last.objective = point.objective;
        }
        let (certificate, passes) = (solved.certificate, solved.passes + 2);
        Ok(Solved { point, stop, certificate, trace, passes, aliased: basis.aliased })
    }
}

impl<P: Smooth<Penalty = Ridge>> NewtonRun<'_, P> {
    /// Under a penalty, columns that are nearly combinations of others by the last Hessian without its penalty, and
    /// whether they are exactly; for information, so not where it would take long or where there are more columns than
    /// rows anyway.
    pub(super) fn collinear_columns(&self) -> Result<Vec<Alias>> {
        let Some(rows) = self.risk.rows_here() else { return Ok(Vec::new()) };
        let (cols, sample) = (rows.n_cols(), rows.sample());
        let Some(hessian) = self.hessian.as_ref().filter(|_| cols <= NAMED_COLUMNS && cols < sample.labels.len())
        else {
            return Ok(Vec::new());
        };
        let plain = |i: usize, j: usize| hessian.get(i, j) - if i == j { self.risk.penalty().ridge_of(i) } else { 0.0 };
        let mut aliased = factor(&Square::from_lower(cols, plain), SUSPECT_PIVOT).aliased().to_vec();
        let inverse = sample.units.inverse_scale();
        let centre = (self.risk.intercept() == Intercept::None).then(|| sample.units.centre());
        for alias in &mut aliased {
            let in_columns = |(j, a): &(usize, f64)| (*j, a * inverse[*j] / inverse[alias.column]);
            let combination: Vec<(usize, f64)> = alias.combination.iter().map(in_columns).collect();
            alias.exact =
                exactly_dependent(sample.design, sample.weights, alias.column, &combination, centre, self.watch)?;
        }
        Ok(aliased)
    }
}

/// A direction of separation in the columns of the fit, where it still separates there: rounding may have turned it.
fn in_columns<L: Conjugate>(
    risk: &Risk<'_, L>,
    basis: &OrthonormalBasis,
    direction: &Coef,
    watch: &Watch,
) -> Result<Stop> {
    let direction = basis.to_columns(direction, risk.n_cols());
    let found: Option<Separation> = check_direction(risk, &direction, watch)?;
    Ok(found.map_or(Stop::PrecisionLimit, |found| Stop::Separated(Box::new(found))))
}
