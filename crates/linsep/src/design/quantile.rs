//! Numbers replaced by their rank among the training rows: the quantile transform.
//!
//! The training cells of a column, each copied as often as its weight says and sorted, are a rising curve through the
//! positions 0 … N−1. It is read off at Q evenly spaced positions, the *knots*: knot i is the quantile at i/(Q−1). A
//! number x is mapped to the level at which the curve through the knots passes x. Where several knots equal x, that is
//! the middle of their levels, so that T(−x) = 1 − T(x) for the mirrored column; at or below the first knot it is 0, at
//! or above the last 1 (and ½ where the column is constant).
//!
//! With integer weights this is the definition of scikit-learn's `QuantileTransformer` without subsampling. A distinct value
//! of total weight f < 1 has no flat stretch of its own, but shortens the interval between its neighbours.

use crate::numeric::normal_quantile;
use crate::table::Table;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Most knots of a column unless the user says otherwise: scikit-learn's default.
pub const DEFAULT_KNOTS: usize = 1000;

/// Levels nearer to 0 or 1 are moved here before Φ⁻¹ is taken: the ends become ±5.199, as in scikit-learn.
const NEAREST_LEVEL: f64 = 1e-7;

/// What the levels become.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QuantileOutput {
    /// The levels themselves, from 0 to 1.
    Uniform,
    /// Φ⁻¹ of the levels, which are first moved 1e-7 away from 0 and 1: from −5.199 to 5.199.
    Normal,
}

/// The transform of number columns, learned from the training rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Transform {
    /// Numbers as they are.
    #[default]
    None,
    /// Numbers by their rank among the training rows.
    Quantile {
        /// What the ranks become.
        output: QuantileOutput,
        /// Most knots; fewer where there are fewer training cells.
        knots: usize,
    },
}

/// The distinct values of a column, ascending, each with its total weight; rows of weight zero and missing cells do not
/// count.
fn distinct_values(table: &Table, column: usize, counted: &[f64]) -> Vec<(f64, f64)> {
    let mut cells = Vec::new();
    for (c, chunk) in table.chunks().iter().enumerate() {
        let start = table.chunk_start(c);
        chunk.cells[column].for_each(|i, v| {
            if counted[start + i] > 0.0 && !v.is_nan() {
                // −0 and 0 are one value.
                cells.push((v + 0.0, counted[start + i]));
            }
        });
    }
    // With the weight as second key, cells that compare equal are equal: no sort can change the sums below.
    cells.par_sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    cells.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    cells
}

/// The knots of a column: none where it has no cells that count.
pub(super) fn learn_knots(table: &Table, column: usize, counted: &[f64], most: usize) -> Vec<f64> {
    let values = distinct_values(table, column, counted);
    // Whole weights: the number of copies. Small ones: the number of values.
    let copies: f64 = values.iter().map(|(_, f)| f.max(1.0)).sum();
    // A conversion to usize saturates.
    let q = most.max(2).min(copies as usize);
    let Some(last) = values.len().checked_sub(1) else { return Vec::new() };
    let curve = RankCurve::new(&values, last);
    // In this order whole positions come out exact, so that a knot meant to be a cell is that cell.
    let knot = |k: usize| curve.at(curve.end() * k as f64 / (q - 1).max(1) as f64);
    (0..q.max(1)).map(knot).collect()
}

/// Quantiles of distinct ascending values with their weights; none of no values.
pub(super) fn quantiles(values: &[(f64, f64)], shares: &[f64]) -> Vec<f64> {
    let Some(last) = values.len().checked_sub(1) else { return Vec::new() };
    let curve = RankCurve::new(values, last);
    shares.iter().map(|share| curve.at(curve.end() * share)).collect()
}

/// Sorted cells as a rising curve. A value lies on the flat stretch from its start to its end; between stretches the curve is
/// straight.
struct RankCurve<'a> {
    values: &'a [(f64, f64)],
    starts: Vec<f64>,
    ends: Vec<f64>,
}

impl RankCurve<'_> {
    fn new(values: &[(f64, f64)], last: usize) -> RankCurve<'_> {
        let (mut starts, mut ends) = (vec![0.0], vec![(values[0].1 - 1.0).max(0.0)]);
        for i in 1..=last {
            let gap = 0.5 * (values[i - 1].1.min(1.0) + values[i].1.min(1.0));
            starts.push(ends[i - 1] + gap);
            ends.push(starts[i] + (values[i].1 - 1.0).max(0.0));
        }
        RankCurve { values, starts, ends }
    }

    /// The last position.
    fn end(&self) -> f64 {
        self.ends[self.ends.len() - 1]
    }

    fn at(&self, position: f64) -> f64 {
        let RankCurve { values, starts, ends } = self;
        // The first stretch that ends at or behind the position.
        let i = ends.partition_point(|e| *e < position).min(values.len() - 1);
        if i == 0 || position >= starts[i] {
            return values[i].0;
        }
        let share = (position - ends[i - 1]) / (starts[i] - ends[i - 1]);
        let (low, high) = (values[i - 1].0, values[i].0);
        // Rounding must not carry a knot past its neighbours.
        (low + share * (high - low)).clamp(low, high)
    }
}

/// The level of a number among the knots, 0 to 1.
fn level(knots: &[f64], x: f64) -> f64 {
    let last = knots.len() - 1;
    let below = knots.partition_point(|k| *k < x);
    let upto = below + knots[below..].partition_point(|k| *k <= x);
    let at = |k: usize| k as f64 / last.max(1) as f64;
    match (below == 0, upto > last) {
        (true, true) => 0.5,
        (true, false) => 0.0,
        (false, true) => 1.0,
        // Equal to the knots from `below` to before `upto`.
        _ if upto > below => 0.5 * (at(below) + at(upto - 1)),
        _ => {
            let (low, high) = (knots[below - 1], knots[below]);
            (below as f64 - 1.0 + (x - low) / (high - low)) / last as f64
        }
    }
}

/// A number transformed; a missing one stays missing.
pub(super) fn transform(knots: &[f64], output: QuantileOutput, x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    let level = level(knots, x);
    match output {
        QuantileOutput::Uniform => level,
        QuantileOutput::Normal => normal_quantile(level.clamp(NEAREST_LEVEL, 1.0 - NEAREST_LEVEL)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::{ReadOptions, read_bytes};

    fn table(cells: &[f64]) -> Table {
        let lines: String = cells.iter().map(|v| format!("{v}\n")).collect();
        read_bytes(format!("x\n{lines}").as_bytes(), "x.csv", &ReadOptions::default()).expect("a table")
    }

    fn knots_of(cells: &[f64], weights: &[f64], most: usize) -> Vec<f64> {
        learn_knots(&table(cells), 0, weights, most)
    }

    /// The textbook quantile of copies laid out one by one.
    fn slow_knots(cells: &[f64], copies: &[usize], most: usize) -> Vec<f64> {
        let mut all: Vec<f64> = cells.iter().zip(copies).flat_map(|(v, n)| std::iter::repeat_n(*v, *n)).collect();
        all.sort_by(f64::total_cmp);
        let q = most.min(all.len());
        let at = |k: usize| {
            let h = (all.len() - 1) as f64 * k as f64 / (q - 1) as f64;
            let (low, high) = (all[h.floor() as usize], all[h.ceil() as usize]);
            low + h.fract() * (high - low)
        };
        (0..q).map(at).collect()
    }

    fn numbers(n: usize, seed: u64) -> Vec<f64> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 40) as f64 / (1u64 << 24) as f64
        };
        // A third are ties.
        (0..n).map(|i| if i % 3 == 0 { (8.0 * next()).floor() } else { 8.0 * next() }).collect()
    }

    #[test]
    fn weights_are_copies() {
        for (n, most) in [(40, 1000), (40, 17), (300, 100), (2, 1000)] {
            let cells = numbers(n, n as u64);
            let copies: Vec<usize> = (0..n).map(|i| (i * 7) % 4 + usize::from(i < 2)).collect();
            let weights: Vec<f64> = copies.iter().map(|c| *c as f64).collect();
            let (found, expected) = (knots_of(&cells, &weights, most), slow_knots(&cells, &copies, most));
            assert_eq!(found.len(), expected.len());
            for (a, b) in found.iter().zip(&expected) {
                assert!((a - b).abs() < 1e-12, "{a} or {b}");
            }
            assert!(found.windows(2).all(|w| w[0] <= w[1]));
        }
    }

    #[test]
    fn small_weights_keep_a_knot_for_each_value() {
        let cells = [3.0, 1.0, 2.0, 5.0];
        let equal = knots_of(&cells, &[0.25; 4], 1000);
        assert_eq!(equal, [1.0, 2.0, 3.0, 5.0]);
        // A row of hardly any weight hardly moves its neighbours' levels.
        let faint = knots_of(&cells, &[1.0, 1.0, 1e-9, 1.0], 1000);
        assert!((level(&faint, 3.0) - 0.5).abs() < 1e-6, "{faint:?}");
    }

    #[test]
    fn ranks_are_uniform() {
        let cells: Vec<f64> = (0..101).map(|i| ((i * 37) % 101) as f64).map(|v| v.powi(3)).collect();
        let knots = knots_of(&cells, &[1.0; 101], 1000);
        let mut levels: Vec<f64> = cells.iter().map(|v| level(&knots, *v)).collect();
        levels.sort_by(f64::total_cmp);
        for (i, l) in levels.iter().enumerate() {
            assert!((l - i as f64 / 100.0).abs() < 1e-15);
        }
    }

    #[test]
    fn a_monotone_map_changes_nothing() {
        let cells = numbers(200, 3);
        let mapped: Vec<f64> = cells.iter().map(|v| v.exp()).collect();
        let (a, b) = (knots_of(&cells, &[1.0; 200], 1000), knots_of(&mapped, &[1.0; 200], 1000));
        for (x, y) in cells.iter().zip(&mapped) {
            for output in [QuantileOutput::Uniform, QuantileOutput::Normal] {
                assert_eq!(transform(&a, output, *x), transform(&b, output, *y));
            }
        }
    }

    #[test]
    fn a_mirrored_column_is_mirrored() {
        let cells = numbers(200, 9);
        let mirrored: Vec<f64> = cells.iter().map(|v| -v).collect();
        let (a, b) = (knots_of(&cells, &[1.0; 200], 50), knots_of(&mirrored, &[1.0; 200], 50));
        for x in (-10..100).map(|k| f64::from(k) * 0.1) {
            assert!((level(&a, x) + level(&b, -x) - 1.0).abs() < 1e-13, "{x}");
        }
    }

    #[test]
    fn beyond_the_training_rows_levels_stay() {
        let knots = knots_of(&[1.0, 2.0, 2.0, 4.0], &[1.0; 4], 1000);
        let uniform = |x| transform(&knots, QuantileOutput::Uniform, x);
        assert_eq!([0.0, 1.0, 1.5, 2.0, 3.0, 4.0, 9.0].map(uniform), [0.0, 0.0, 1.0 / 6.0, 0.5, 5.0 / 6.0, 1.0, 1.0]);
        let normal = |x| transform(&knots, QuantileOutput::Normal, x);
        assert!((normal(-7.0) + 5.199337582192817).abs() < 1e-9 && (normal(7.0) - 5.199337582192817).abs() < 1e-9);
        assert_eq!(normal(2.0), 0.0);
        assert!(uniform(f64::NAN).is_nan());
    }

    #[test]
    fn a_constant_column_is_in_the_middle() {
        for weights in [vec![1.0], vec![5.0]] {
            let knots = knots_of(&[7.0], &weights, 1000);
            assert_eq!([6.0, 7.0, 8.0].map(|x| level(&knots, x)), [0.0, 0.5, 1.0]);
        }
        assert!(knots_of(&[7.0], &[0.0], 1000).is_empty());
    }
}
