//! Average marginal effects: how much the probability of the second class changes with a column, on average over the rows,
//! with the delta method's standard error.

use super::covariance::EstimateCovariance;
use super::likelihood::LogLikelihood;
use super::maximum::Maximum;
use crate::design::Pass;
use crate::error::Result;
use crate::linalg::{dot, multiply_rows};
use crate::numeric::logistic;
use crate::watch::Watch;

/// How a column is moved.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Move {
    /// A little: the derivative.
    Slope(usize),
    /// From its reference to one level: the indicator of the level and those of all levels of the column, by their place in
    /// the likelihood.
    Level(usize, Vec<usize>),
}

/// An effect and its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Effect {
    pub value: f64,
    pub error: f64,
}

/// The average effects of moves of columns, for two classes.
pub(super) fn average_effects(
    likelihood: &LogLikelihood<'_>,
    maximum: &Maximum,
    covariance: &EstimateCovariance,
    moves: &[Move],
    watch: &Watch,
) -> Result<Vec<Effect>> {
    let (width, first) = (likelihood.width(), usize::from(likelihood.has_intercept()));
    let (centre, inverse_scale) = (likelihood.units().centre(), likelihood.units().inverse_scale());
    let column = |place: usize| likelihood.columns()[place];
    let theta = &maximum.point;
    // An indicator's zero and one in the units of the likelihood.
    let zero = |place: usize| -centre[column(place)] * inverse_scale[column(place)];
    let one = |place: usize| (1.0 - centre[column(place)]) * inverse_scale[column(place)];
    // Per move: the sum of effects and the gradient of that sum; for slopes Σpq and Σpq(1−2p)x are shared.
    let size = (width + 1) * (moves.len() + 1);
    let sums = Pass::new(likelihood.training().design, likelihood.units()).partials_of(size).reduce(
        watch,
        (0, &mut []),
        || (vec![0.0; size], Vec::new(), Vec::new()),
        |(sums, tile, z), range, rows, _| {
            likelihood.fill(rows, range.len(), tile);
            z.resize(range.len(), 0.0);
            multiply_rows(tile, theta, width, 1, z);
            for (i, x) in tile.chunks_exact(width.max(1)).enumerate() {
                let row = range.start + i;
                let s = likelihood.weight(row);
                let score = z[i] + likelihood.offset(row);
                let p = logistic(score);
                let pq = s * p * (1.0 - p);
                let (shared, of_moves) = sums.split_at_mut(width + 1);
                shared[width] += pq;
                shared[..width].iter_mut().zip(x).for_each(|(sum, x)| *sum += pq * (1.0 - 2.0 * p) * x);
                for (sum, change) in of_moves.chunks_exact_mut(width + 1).zip(moves) {
                    let Move::Level(level, all) = change else { continue };
                    for (target, sign) in [(Some(*level), 1.0), (None, -1.0)] {
                        let mut moved = x.to_vec();
                        for other in all {
                            let value = if Some(*other) == target { one(*other) } else { zero(*other) };
                            moved[first + other] = value;
                        }
                        let there = logistic(dot(&moved, theta) + likelihood.offset(row));
                        sum[width] += sign * s * there;
                        let slope = sign * s * there * (1.0 - there);
                        sum[..width].iter_mut().zip(&moved).for_each(|(sum, x)| *sum += slope * x);
                    }
                }
            }
            Ok(())
        },
        |(a, ..), (b, ..)| a.iter_mut().zip(&b).for_each(|(a, b)| *a += b),
    )?;
    let total = likelihood.training().total_weight();
    let (shared, of_moves) = sums.0.split_at(width + 1);
    let effect = |(sum, change): (&[f64], &Move)| {
        let (value, gradient): (f64, Vec<f64>) = match change {
            Move::Level(..) => (sum[width], sum[..width].to_vec()),
            Move::Slope(place) => {
                let scale = inverse_scale[column(*place)];
                let slope = theta[first + place] * scale;
                let mut gradient: Vec<f64> = shared[..width].iter().map(|t| slope * t).collect();
                gradient[first + place] += scale * shared[width];
                (slope * shared[width], gradient)
            }
        };
        Effect { value: value / total, error: covariance.variance(&gradient).sqrt() / total }
    };
    Ok(of_moves.chunks_exact(width + 1).zip(moves).map(effect).collect())
}
