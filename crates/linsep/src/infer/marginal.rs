//! Which effects are averaged, and the table of them.

use super::covariance::EstimateCovariance;
use super::effects::{Effect, Move, average_effects};
use super::run::InferenceRun;
use crate::error::Result;
use crate::numeric::normal_two_sided_ln;

/// How far a zero or a one may be off after standardising and back: rounding.
const OFF: f64 = 1e-9;

/// A column whose average effect is known.
#[derive(Debug, Clone, PartialEq)]
pub struct MarginalEffect {
    /// The column of the matrix.
    pub feature: usize,
    /// Whether it is the change from zero (or the reference level) to one.
    pub discrete: bool,
    /// The average change of the probability of the second class.
    pub effect: f64,
    /// Its standard error.
    pub error: f64,
    /// The logarithm of the p value.
    pub ln_p: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl InferenceRun<'_, '_> {
    /// The average effect of every column.
    pub(super) fn effects(&self, covariance: &EstimateCovariance, z_quantile: f64) -> Result<Vec<MarginalEffect>> {
        let columns = self.likelihood.columns();
        let place = |j: usize| columns.iter().position(|c| *c == j);
        let binary = self.indicator_columns()?;
        let mut moves = Vec::new();
        for (at, j) in columns.iter().enumerate() {
            let term = self.subject.terms.iter().find(|t| t.columns.contains(j));
            moves.push(match term {
                Some(term) if term.levels => Move::Level(at, term.columns.clone().filter_map(place).collect()),
                _ if binary[at] => Move::Level(at, vec![at]),
                _ => Move::Slope(at),
            });
        }
        let found = average_effects(self.likelihood, self.maximum, covariance, &moves, self.watch)?;
        let line = |(at, effect): (usize, &Effect)| MarginalEffect {
            feature: columns[at],
            discrete: matches!(moves[at], Move::Level(..)),
            effect: effect.value,
            error: effect.error,
            ln_p: normal_two_sided_ln(effect.value / effect.error),
            low: effect.value - z_quantile * effect.error,
            high: effect.value + z_quantile * effect.error,
        };
        Ok(found.iter().enumerate().map(line).collect())
    }

    /// Which columns hold zeros and ones only.
    fn indicator_columns(&self) -> Result<Vec<bool>> {
        let (units, columns) = (self.likelihood.units(), self.likelihood.columns());
        let first = usize::from(self.likelihood.has_intercept());
        let back = |at: usize, v: f64| v * units.scale()[columns[at]] + units.centre()[columns[at]];
        let all =
            crate::design::Pass::new(self.likelihood.training().design, units).partials_of(columns.len()).reduce(
                self.watch,
                (0, &mut []),
                || (vec![true; columns.len()], Vec::new()),
                |(all, tile), range, rows, _| {
                    self.likelihood.fill(rows, range.len(), tile);
                    for x in tile.chunks_exact(self.likelihood.width().max(1)) {
                        for (at, is) in all.iter_mut().enumerate().filter(|(_, is)| **is) {
                            let value = back(at, x[first + at]);
                            *is = value.abs() < OFF || (value - 1.0).abs() < OFF;
                        }
                    }
                    Ok(())
                },
                |(a, _), (b, _)| a.iter_mut().zip(&b).for_each(|(a, b)| *a &= b),
            )?;
        Ok(all.0)
    }
}
