//! `Σᵢ cᵢ xᵢxᵢᵀ` of sparse columns, one column of the matrix after the other: nothing is merged.

use crate::design::ColumnView;
use crate::linalg::Square;
use rayon::prelude::*;
use std::ops::Range;

/// Parts of the rows that are gathered in parallel: fixed, so that sums do not depend on the threads. Chosen
/// (bench/constants.md).
const PARTS: usize = 8;

/// Some rows, put together from the columns, and where in them the entries of each column are.
struct GramPart {
    /// The first entry of each row, and the end.
    starts: Vec<u32>,
    columns: Vec<u32>,
    /// Empty where the entries of a row are alike.
    values: Vec<f64>,
    /// For each entry, column by column: its row from the first on, and its place above.
    places: Vec<(u32, u32)>,
    /// Where each column starts among the places, and the end.
    of_column: Vec<u32>,
}

/// The lower triangle of the matrix, and `Σ cᵢxᵢ`, for one curvature a row; `None` where there are too many entries to
/// count them in 32 bits.
pub(super) fn column_gram(view: &ColumnView<'_>, curvature: &[f64]) -> Option<(Square, Vec<f64>)> {
    let (n, m) = (curvature.len(), view.n_cols());
    if view.stored_values() > u32::MAX as usize {
        return None;
    }
    // Where the entries of a row are equal, their value goes into its curvature.
    let times = |power: i32| match view.row_value() {
        Some(of_row) => curvature.iter().zip(of_row).map(|(c, x)| c * x.powi(power)).collect(),
        None => curvature.to_vec(),
    };
    let squared: Vec<f64> = times(2);
    let once: Vec<f64> = times(1);
    let ranges = (0..PARTS).map(|p| n * p / PARTS..n * (p + 1) / PARTS);
    let ranges: Vec<Range<usize>> = ranges.filter(|range| !range.is_empty()).collect();
    let parts: Vec<(usize, GramPart)> =
        ranges.into_par_iter().map(|range| (range.start, GramPart::new(view, range))).collect();
    let mut gram = Square::zeros(m);
    let mut firsts = vec![0.0; m];
    let columns = gram.as_mut_slice().par_chunks_mut(m.max(1)).zip(&mut firsts).enumerate();
    columns.for_each(|(j, (out, first))| {
        *first = view.column(j).dot(&once);
        for (start, part) in &parts {
            part.add(j, &squared[*start..], out);
        }
    });
    Some((gram, firsts))
}

impl GramPart {
    fn new(view: &ColumnView<'_>, range: Range<usize>) -> GramPart {
        let (first, last) = (range.start as u32, range.end as u32);
        let inside = |j: usize| {
            let (rows, values) = view.column(j).sparse_parts();
            let from = rows.partition_point(|i| *i < first);
            let to = from + rows[from..].partition_point(|i| *i < last);
            (&rows[from..to], if values.is_empty() { values } else { &values[from..to] })
        };
        let inside: Vec<(&[u32], &[f64])> = (0..view.n_cols()).map(inside).collect();
        // Counts are stored two places on: their prefix sums are then the positions of the next entry of each row, one place
        // on.
        let mut starts = vec![0u32; range.len() + 2];
        let mut of_column = vec![0u32];
        let mut entries = 0;
        for (rows, _) in &inside {
            rows.iter().for_each(|i| starts[(i - first) as usize + 2] += 1);
            entries += rows.len();
            of_column.push(entries as u32);
        }
        (2..starts.len()).for_each(|i| starts[i] += starts[i - 1]);
        let with_values = view.row_value().is_none();
        let (mut columns, mut values) = (vec![0u32; entries], vec![0.0; if with_values { entries } else { 0 }]);
        let mut places = Vec::with_capacity(entries);
        for (j, (rows, of_rows)) in inside.iter().enumerate() {
            for (e, i) in rows.iter().enumerate() {
                let place = &mut starts[(i - first) as usize + 1];
                columns[*place as usize] = j as u32;
                if with_values {
                    values[*place as usize] = of_rows[e];
                }
                places.push((i - first, *place));
                *place += 1;
            }
        }
        starts.pop();
        GramPart { starts, columns, values, places, of_column }
    }

    /// Adds `Σᵢ cᵢ xᵢⱼ xᵢ` from entry j of the rows on.
    fn add(&self, j: usize, curvature: &[f64], out: &mut [f64]) {
        let places = &self.places[self.of_column[j] as usize..self.of_column[j + 1] as usize];
        for (row, place) in places {
            let tail = *place as usize..self.starts[*row as usize + 1] as usize;
            let factor = curvature[*row as usize];
            if self.values.is_empty() {
                self.columns[tail].iter().for_each(|other| out[*other as usize] += factor);
            } else {
                let factor = factor * self.values[*place as usize];
                let entries = self.columns[tail.clone()].iter().zip(&self.values[tail]);
                entries.for_each(|(other, x)| out[*other as usize] += factor * x);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::column_gram;
    use crate::design::{CsrRows, SomeColumns, SparseColumns};

    /// The definition, by plain loops.
    fn naive(x: &CsrRows<'_>, chosen: &[usize], curvature: &[f64]) -> Vec<Vec<f64>> {
        let value = |i: usize, j: usize| {
            let (columns, values) = x.row(i);
            columns.iter().zip(values).find(|(c, _)| **c as usize == j).map_or(0.0, |(_, v)| *v)
        };
        let entry = |a: usize, b: usize| (0..x.len()).map(|i| curvature[i] * value(i, a) * value(i, b)).sum();
        chosen.iter().map(|a| chosen.iter().map(|b| entry(*a, *b)).collect()).collect()
    }

    #[test]
    fn it_is_the_sum_over_the_rows() {
        // 40 rows of 12 columns, some rows and columns empty; values alike within rows, and not.
        for alike in [true, false] {
            let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
            for i in 0..40usize {
                for j in 0..12usize {
                    if i % 9 != 4 && j != 7 && (i * 7 + j * 5) % 11 < 4 {
                        indices.push(j as u32);
                        values.push(if alike { 1.0 + i as f64 / 8.0 } else { (i as f64 - 20.0) / 4.0 + j as f64 });
                    }
                }
                starts.push(indices.len());
            }
            let x = CsrRows { starts: &starts, indices: &indices, values: &values, cols: 12 };
            let chosen = [0, 2, 3, 7, 8, 11];
            let some = SomeColumns::new(SparseColumns::new(&x).expect("few rows").into(), &chosen);
            assert_eq!(some.view().row_value().is_some(), alike);
            let curvature: Vec<f64> = (0..40).map(|i| 0.1 + (i % 5) as f64).collect();
            let (gram, firsts) = column_gram(&some.view(), &curvature).expect("few entries");
            let expected = naive(&x, &chosen, &curvature);
            for a in 0..chosen.len() {
                for b in 0..=a {
                    let (found, wanted) = (gram.get(a, b), expected[a][b]);
                    assert!((found - wanted).abs() <= 1e-12 * wanted.abs().max(1.0), "{alike} {a} {b}");
                }
                let sum: f64 = (0..40)
                    .map(|i| {
                        let (columns, values) = x.row(i);
                        let at = columns.iter().position(|c| *c as usize == chosen[a]);
                        at.map_or(0.0, |at| curvature[i] * values[at])
                    })
                    .sum();
                assert!((firsts[a] - sum).abs() <= 1e-12 * sum.abs().max(1.0), "{alike} {a}");
            }
        }
    }
}
