//! Columns that separate on their own, before Newton's method.

use super::ConeRun;
use crate::design::{Pass, Rows, is_sparse};
use crate::error::Result;
use crate::objective::{Coef, Loss};

/// Smallest and largest value of every column in either class: `[low₀, high₀, low₁, high₁]`, each over all columns.
struct Ranges {
    values: [Vec<f64>; 4],
    /// Entries seen per class and column, of sparse rows: others are zero.
    seen: [Vec<u32>; 2],
    rows: [u32; 2],
}

impl Ranges {
    fn new(cols: usize, sparse: bool) -> Ranges {
        let ends = |v: f64| vec![v; cols];
        let seen = || vec![0; if sparse { cols } else { 0 }];
        let (low, high) = (f64::INFINITY, f64::NEG_INFINITY);
        Ranges { values: [ends(low), ends(high), ends(low), ends(high)], seen: [seen(), seen()], rows: [0, 0] }
    }

    fn merge(&mut self, other: &Ranges) {
        for class in 0..2 {
            for (a, b) in self.values[2 * class].iter_mut().zip(&other.values[2 * class]) {
                *a = if *b < *a { *b } else { *a };
            }
            for (a, b) in self.values[2 * class + 1].iter_mut().zip(&other.values[2 * class + 1]) {
                *a = if *b > *a { *b } else { *a };
            }
            self.seen[class].iter_mut().zip(&other.seen[class]).for_each(|(a, b)| *a += b);
            self.rows[class] += other.rows[class];
        }
    }
}

impl<L: Loss> ConeRun<'_, '_, L> {
    /// The sum of the directions of all columns in which the open rows of one class reach no further than where those of the
    /// other begin, each scaled to its range, with its slacks; two classes only.
    pub(super) fn screen(&self) -> Result<Option<(Coef, Vec<f64>)>> {
        if self.risk.loss().n_scores() != 1 {
            return Ok(None);
        }
        let sample = self.risk.sample();
        let (cols, sparse) = (self.risk.n_cols(), is_sparse(sample.design));
        // Ranges do not depend on the units, but dense rows are read in them.
        let ranges = Pass::new(sample.design, sample.units).partials_of(6 * cols).reduce(
            self.watch,
            (0, &mut []),
            || Ranges::new(cols, sparse),
            |ranges, range, rows, _| {
                for (i, row) in range.enumerate().filter(|(_, row)| self.open[*row]) {
                    let class = sample.labels[row].index();
                    ranges.rows[class] += 1;
                    let (low, high) = ranges.values.split_at_mut(2 * class + 1);
                    let (low, high) = (&mut low[2 * class], &mut high[0]);
                    match &rows {
                        Rows::Dense(x) => widen(low, high, &x[i * cols..(i + 1) * cols]),
                        Rows::Csr(rows) => {
                            let (columns, entries) = rows.row(i);
                            for (c, v) in columns.iter().zip(entries) {
                                let j = *c as usize;
                                low[j] = low[j].min(*v);
                                high[j] = high[j].max(*v);
                                ranges.seen[class][j] += 1;
                            }
                        }
                    }
                }
                Ok(())
            },
            |a, b| a.merge(&b),
        )?;
        if ranges.rows.contains(&0) {
            // One class alone is strictly on the right side of a plane far away.
            let mut direction = Coef::zeros(1, cols);
            direction.intercept_mut()[0] = if ranges.rows[0] == 0 { 1.0 } else { -1.0 };
            let slacks = crate::certify::cone_slacks(self.risk, &direction, self.watch)?;
            return Ok(Some((direction, slacks)));
        }
        let mut direction = Coef::zeros(1, cols);
        let mut found = false;
        for j in 0..cols {
            let mut ends: [f64; 4] = std::array::from_fn(|k| ranges.values[k][j]);
            if sparse {
                for class in 0..2 {
                    if ranges.seen[class][j] < ranges.rows[class] {
                        ends[2 * class] = ends[2 * class].min(0.0);
                        ends[2 * class + 1] = ends[2 * class + 1].max(0.0);
                    }
                }
                let (centre, inverse) = (sample.units.centre()[j], sample.units.inverse_scale()[j]);
                ends.iter_mut().for_each(|v| *v = (*v - centre) * inverse);
            }
            let [low0, high0, low1, high1] = ends;
            let range = high0.max(high1) - low0.min(low1);
            let (sign, threshold) = match () {
                () if !(range > 0.0) => continue,
                () if high0 <= low1 => (1.0, 0.5 * (high0 + low1)),
                () if high1 <= low0 => (-1.0, 0.5 * (high1 + low0)),
                () => continue,
            };
            direction.weights_mut()[j] = sign / range;
            direction.intercept_mut()[0] -= sign * threshold / range;
            found = true;
        }
        if !found {
            return Ok(None);
        }
        let slacks = crate::certify::cone_slacks(self.risk, &direction, self.watch)?;
        Ok(self.separates(&slacks).then_some((direction, slacks)))
    }
}

fn widen(low: &mut [f64], high: &mut [f64], x: &[f64]) {
    for ((low, high), x) in low.iter_mut().zip(high).zip(x) {
        *low = if *x < *low { *x } else { *low };
        *high = if *x > *high { *x } else { *high };
    }
}
