//! Newton's method on columns that are nearly collinear, or some of which are combinations of others.

use super::{Looks, NAMED_COLUMNS, Newton, NewtonRun, SUSPECT_PIVOT};
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
        looks: Looks,
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
    /// Leaves out the columns that are proved to be combinations of others, where no other pivot is suspect; false where one is.
    /// They need no new basis then, which makes sparse rows dense and costs every pass a product with a square matrix.
    pub(super) fn leave_out_exact_combinations(&mut self, rows: &Risk<'_, P::Loss>) -> Result<bool> {
        let (cols, sample) = (rows.n_cols(), rows.sample());
        let plain = self.point.coef.n_scores() == 1 && self.risk.intercept() == Intercept::Free;
        let Some(hessian) = self.suspect.take().filter(|_| plain) else { return Ok(false) };
        // The intercept comes first, so that it stays.
        let coordinate = |j: usize| if j == 0 { cols } else { j - 1 };
        let ordered = Square::from_lower(cols + 1, |i, j| hessian.get(coordinate(i), coordinate(j)));
        let ordered = factor(&ordered, SUSPECT_PIVOT);
        let inverse = sample.units.inverse_scale();
        let (mut coef, mut aliased) = (self.point.coef.clone(), Vec::new());
        for alias in ordered.aliased() {
            let column = coordinate(alias.column);
            let of_columns = alias.combination.iter().filter(|(j, _)| *j > 0);
            let combination: Vec<(usize, f64)> = of_columns.map(|(j, a)| (coordinate(*j), *a)).collect();
            let in_columns: Vec<(usize, f64)> =
                combination.iter().map(|(j, a)| (*j, a * inverse[*j] / inverse[column])).collect();
            if alias.column == 0
                || !exactly_dependent(sample.design, sample.weights, column, &in_columns, None, self.watch)?
            {
                return Ok(false);
            }
            // What the start gave to the column goes to those that it is a combination of.
            let given = std::mem::take(&mut coef.weights_mut()[column]);
            for (j, a) in &alias.combination {
                match j {
                    0 => coef.intercept_mut()[0] += a * given,
                    j => coef.weights_mut()[coordinate(*j)] += a * given,
                }
            }
            aliased.push(Alias { column, combination, exact: true });
        }
        self.unknowns = ordered.kept().iter().map(|j| coordinate(*j)).collect();
        self.unknowns.sort_unstable();
        self.aliased = aliased;
        if coef != self.point.coef {
            self.point = self.risk.at(&coef, Detail::Gradient, self.watch)?;
            self.passes += 1;
        }
        self.refactor(hessian);
        Ok(true)
    }

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
