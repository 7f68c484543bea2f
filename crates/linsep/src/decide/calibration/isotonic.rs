//! Isotonic regression: the non-decreasing function of the score with the least weighted squared error, by pooling
//! neighbours that violate the order (M. Ayer et al., 1955). It is a step function; between two steps the probability is
//! interpolated.

use super::{Calibration, CalibrationKind, HeldOut, not_rising};
use crate::error::Result;

/// A run of scores with one value.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Pool {
    low: f64,
    high: f64,
    weight: f64,
    /// Weighted sum of the values.
    sum: f64,
}

impl Pool {
    fn value(&self) -> f64 {
        self.sum / self.weight
    }

    fn absorb(&mut self, later: Pool) {
        self.high = later.high;
        self.weight += later.weight;
        self.sum += later.sum;
    }
}

/// The knots of the non-decreasing function with the least weighted squared error: the first and the last score of
/// every run of equal values, with that value, the weighted mean of its rows. Rows are `(score, value, weight)` in any order;
/// those of weight zero count for nothing.
///
/// ```
/// use linsep::decide::pool_adjacent_violators;
/// let rows = [(1.0, 0.0, 1.0), (2.0, 1.0, 1.0), (3.0, 0.0, 1.0), (4.0, 1.0, 1.0)];
/// assert_eq!(pool_adjacent_violators(&rows), [(1.0, 0.0), (2.0, 0.5), (3.0, 0.5), (4.0, 1.0)]);
/// ```
pub fn pool_adjacent_violators(rows: &[(f64, f64, f64)]) -> Vec<(f64, f64)> {
    let mut sorted: Vec<&(f64, f64, f64)> = rows.iter().filter(|(_, _, weight)| *weight > 0.0).collect();
    // Stable, so that equal scores are added up in the order of the rows.
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut single: Vec<Pool> = Vec::new();
    for (score, value, weight) in sorted {
        let pool = Pool { low: *score, high: *score, weight: *weight, sum: weight * value };
        match single.last_mut() {
            Some(last) if last.high == *score => last.absorb(pool),
            _ => single.push(pool),
        }
    }
    let mut pools: Vec<Pool> = Vec::new();
    for pool in single {
        let mut pool = pool;
        while let Some(mut last) = pools.pop_if(|last| last.value() >= pool.value()) {
            last.absorb(pool);
            pool = last;
        }
        pools.push(pool);
    }
    let ends = |pool: &Pool| {
        let value = pool.value();
        let last = (pool.high > pool.low).then_some((pool.high, value));
        std::iter::once((pool.low, value)).chain(last).collect::<Vec<_>>()
    };
    pools.iter().flat_map(ends).collect()
}

pub(super) fn fit(rows: &HeldOut<'_>) -> Result<Calibration> {
    let of_last = |i: usize| f64::from(u8::from(rows.truth[i].index() == 1));
    let triples: Vec<(f64, f64, f64)> =
        rows.scores.iter().enumerate().map(|(i, z)| (*z, of_last(i), rows.weight(i))).collect();
    let shares = pool_adjacent_violators(&triples);
    if shares.first().map(|knot| knot.1) == shares.last().map(|knot| knot.1) {
        return Err(not_rising(
            CalibrationKind::Isotonic,
            "the class does not become more frequent as the score rises",
        ));
    }
    // Smoothing the targets is an affine map of them, and the regression of mapped targets is the mapped regression.
    let targets = rows.targets();
    let (high, low) = (targets[1].0, targets[0].1);
    // Of weights beyond 1e16 the smoothed target rounds to one, whose log-odds are infinite.
    let smoothed = |p: f64| (low + (high - low) * p).min(1.0 - 0.5 * f64::EPSILON);
    Ok(Calibration::Isotonic { knots: shares.into_iter().map(|(score, p)| (score, smoothed(p))).collect() })
}

/// The probability at a score.
pub(super) fn interpolate(knots: &[(f64, f64)], score: f64) -> f64 {
    if score.is_nan() {
        return f64::NAN;
    }
    let after = knots.partition_point(|knot| knot.0 <= score);
    match (after.checked_sub(1).and_then(|i| knots.get(i)), knots.get(after)) {
        (Some(before), Some(next)) => between(*before, *next, score),
        (Some(end), None) | (None, Some(end)) => end.1,
        (None, None) => f64::NAN,
    }
}

fn between((low, p): (f64, f64), (high, q): (f64, f64), score: f64) -> f64 {
    // Halved, so that the difference of two huge numbers does not overflow.
    let share = (0.5 * score - 0.5 * low) / (0.5 * high - 0.5 * low);
    (p + (q - p) * share).clamp(p, q)
}

pub(super) fn log_odds(p: f64) -> f64 {
    (p / (1.0 - p)).ln()
}

/// The largest score whose probability is at most p; `None` where all are, or none is.
pub(super) fn last_score_at(knots: &[(f64, f64)], p: f64) -> Option<f64> {
    let after = knots.partition_point(|knot| knot.1 <= p);
    let (low, next) = (knots.get(after.checked_sub(1)?)?, knots.get(after)?);
    Some(low.0 + (next.0 - low.0) * ((p - low.1) / (next.1 - low.1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Among all non-decreasing step functions on five scores with values from a grid none is better.
    #[test]
    fn no_other_order_is_better() {
        let rows = [(0.0, 0.0, 1.0), (1.0, 1.0, 2.0), (2.0, 0.0, 3.0), (3.0, 1.0, 1.0), (4.0, 0.0, 0.5)];
        let knots = pool_adjacent_violators(&rows);
        let error = |values: &[f64]| rows.iter().zip(values).map(|((_, y, s), v)| s * (y - v).powi(2)).sum::<f64>();
        let found: Vec<f64> = rows.iter().map(|(z, _, _)| interpolate(&knots, *z)).collect();
        let best = error(&found);
        let grid: Vec<f64> = (0..=12).map(|i| f64::from(i) / 12.0).collect();
        let mut values = [0.0; 5];
        let mut places = [0usize; 5];
        'all: loop {
            values.iter_mut().zip(&places).for_each(|(v, p)| *v = grid[*p]);
            if values.windows(2).all(|w| w[0] <= w[1]) {
                assert!(error(&values) >= best - 1e-12, "{values:?} beats {found:?}");
            }
            for place in &mut places {
                *place += 1;
                if *place < grid.len() {
                    continue 'all;
                }
                *place = 0;
            }
            break;
        }
    }

    #[test]
    fn the_cut_is_where_the_probability_passes() {
        let knots = [(0.0, 0.1), (1.0, 0.1), (2.0, 0.5), (3.0, 0.5), (5.0, 0.9)];
        assert_eq!(last_score_at(&knots, 0.5), Some(3.0));
        assert!(last_score_at(&knots, 0.3).is_some_and(|score| (score - 1.5).abs() < 1e-15));
        assert_eq!(last_score_at(&knots, 0.05), None);
        assert_eq!(last_score_at(&knots, 0.9), None);
        assert!((interpolate(&knots, 1.5) - 0.3).abs() < 1e-15);
        assert_eq!(interpolate(&knots, -9.0), 0.1);
        assert_eq!(interpolate(&knots, 9.0), 0.9);
        assert!(interpolate(&knots, f64::NAN).is_nan());
    }
}
