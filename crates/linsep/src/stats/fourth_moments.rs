//! Fourth moments of the length of a row, class by class.

use super::ClassMoments;
use crate::design::{Design, Pass, Rows, Units};
use crate::error::Result;
use crate::table::Labels;
use crate::watch::Watch;

/// `Σ sᵢ ‖(xᵢ − μ_{yᵢ})/scale‖⁴` over the rows of each class, the second pass that Ledoit–Wolf shrinkage needs.
pub fn fourth_moments(
    design: &dyn Design,
    labels: &Labels,
    weights: Option<&[f64]>,
    moments: &ClassMoments,
    scale: &[f64],
    watch: &Watch,
) -> Result<Vec<f64>> {
    let cols = design.shape().cols;
    let identity = Units::identity(cols);
    let codes = labels.codes();
    let row_term = |x: &dyn Fn(usize) -> f64, row: usize| {
        let s = weights.map_or(1.0, |w| w[row]);
        if s == 0.0 {
            return 0.0;
        }
        let mean = moments.mean(codes[row].index());
        let norm: f64 = (0..cols).map(|j| ((x(j) - mean[j]) / scale[j]).powi(2)).sum();
        s * norm * norm
    };
    Pass::new(design, &identity).reduce(
        watch,
        (0, &mut []),
        || vec![0.0; labels.n_classes()],
        |sums, range, rows, _| {
            match rows {
                Rows::Dense(values) => {
                    for (x, row) in values.chunks_exact(cols.max(1)).zip(range) {
                        sums[codes[row].index()] += row_term(&|j| x[j], row);
                    }
                }
                Rows::Csr(rows) => {
                    let mut x = vec![0.0; cols];
                    for (i, row) in range.enumerate() {
                        x.fill(0.0);
                        let (columns, entries) = rows.row(i);
                        columns.iter().zip(entries).for_each(|(c, v)| x[*c as usize] = *v);
                        sums[codes[row].index()] += row_term(&|j| x[j], row);
                    }
                }
            }
            Ok(())
        },
        |a, b| a.iter_mut().zip(&b).for_each(|(a, b)| *a += b),
    )
}
