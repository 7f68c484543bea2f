//! Some columns put together by rows: their combinations are gathered row by row, so nothing is merged.

use super::Columns;
use rayon::prelude::*;
use std::ops::Range;

/// Rows of one part. A row's sum is its own, so results do not depend on it; 2,048 rows of texts, about a megabyte of
/// entries, are enough work for a task and give a second core its half of 6,000 rows. Chosen, out of reach of
/// bench/constants.md.
const ROWS: usize = 2048;

/// A copy of some columns by rows, as they are stored: without what the entries of a row are where columns have rows only.
pub(crate) struct RowParts {
    parts: Vec<GatheredRows>,
    rows: usize,
}

struct GatheredRows {
    /// Where each row starts, and the end.
    starts: Vec<u32>,
    columns: Vec<u32>,
    /// Empty where columns have rows only.
    values: Vec<f64>,
}

impl RowParts {
    /// Some sparse columns of a matrix of so many rows; the columns are counted as they are given. `None` where columns are
    /// dense, or a part has too many entries to count them in 32 bits.
    pub(crate) fn new(columns: &Columns, chosen: &[usize], rows: usize) -> Option<RowParts> {
        if !columns.is_sparse() {
            return None;
        }
        let with_values = columns.row_value().is_none();
        let ranges: Vec<Range<usize>> = (0..rows).step_by(ROWS).map(|at| at..(at + ROWS).min(rows)).collect();
        let parts: Option<Vec<GatheredRows>> =
            ranges.into_par_iter().map(|range| GatheredRows::new(columns, chosen, range, with_values)).collect();
        Some(RowParts { parts: parts?, rows })
    }

    /// `Σ wⱼ xⱼ` over the columns.
    pub(crate) fn combine(&self, weights: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.rows];
        out.par_chunks_mut(ROWS).zip(&self.parts).for_each(|(out, part)| part.combine(weights, out));
        out
    }
}

impl GatheredRows {
    fn new(columns: &Columns, chosen: &[usize], range: Range<usize>, with_values: bool) -> Option<GatheredRows> {
        let (first, last) = (range.start as u32, range.end as u32);
        let inside = |j: &usize| {
            let (rows, values) = columns.column(*j).sparse_parts();
            let from = rows.partition_point(|i| *i < first);
            let to = from + rows[from..].partition_point(|i| *i < last);
            (&rows[from..to], if values.is_empty() { values } else { &values[from..to] })
        };
        let inside: Vec<(&[u32], &[f64])> = chosen.iter().map(inside).collect();
        let entries: usize = inside.iter().map(|(rows, _)| rows.len()).sum();
        u32::try_from(entries).ok()?;
        // Counts stand two places on, so that sums of them are where the next entry of a row goes, one place on.
        let mut starts = vec![0u32; range.len() + 2];
        inside.iter().flat_map(|(rows, _)| *rows).for_each(|i| starts[(i - first) as usize + 2] += 1);
        (2..starts.len()).for_each(|i| starts[i] += starts[i - 1]);
        let (mut places, mut values) = (vec![0u32; entries], vec![0.0; if with_values { entries } else { 0 }]);
        for (j, (rows, of_rows)) in inside.iter().enumerate() {
            for (e, i) in rows.iter().enumerate() {
                let place = &mut starts[(i - first) as usize + 1];
                places[*place as usize] = j as u32;
                if with_values {
                    values[*place as usize] = of_rows[e];
                }
                *place += 1;
            }
        }
        starts.pop();
        Some(GatheredRows { starts, columns: places, values })
    }

    fn combine(&self, weights: &[f64], out: &mut [f64]) {
        for (o, bounds) in out.iter_mut().zip(self.starts.windows(2)) {
            let entries = bounds[0] as usize..bounds[1] as usize;
            let columns = &self.columns[entries.clone()];
            *o = match self.values.is_empty() {
                true => columns.iter().map(|j| weights[*j as usize]).sum(),
                false => columns.iter().zip(&self.values[entries]).map(|(j, x)| x * weights[*j as usize]).sum(),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ROWS, RowParts};
    use crate::design::{Columns, CsrMatrix, Units};

    #[test]
    fn rows_combine_as_columns_do() {
        // More than two parts, rows and columns without entries; entries of a row alike, and not.
        let (rows, cols) = (2 * ROWS + 77, 9);
        for alike in [true, false] {
            let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
            for i in 0..rows {
                for j in (0..cols).filter(|j| i % 7 != 3 && *j != 4 && (i * 5 + j * 3) % 7 < 3) {
                    indices.push(j as u32);
                    values.push(if alike { 1.0 + (i % 3) as f64 } else { (i % 11) as f64 - 5.0 + j as f64 });
                }
                starts.push(indices.len());
            }
            let x = CsrMatrix::new(starts, indices, values, cols).expect("a matrix");
            let columns = Columns::new(&x, &Units::identity(cols), &Default::default()).expect("columns");
            let (chosen, weights) = ([1, 2, 4, 8], [2.0, -3.0, 5.0, 1.0]);
            let mut expected = vec![0.0; rows];
            chosen.iter().zip(weights).for_each(|(j, w)| columns.column(*j).add_to(w, &mut expected));
            let parts = RowParts::new(&columns, &chosen, rows).expect("sparse columns");
            assert_eq!(columns.row_value().is_some(), alike);
            // Whole numbers: every order of a sum gives the same bits.
            assert_eq!(parts.combine(&weights), expected);
        }
    }
}
