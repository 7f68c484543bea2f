//! Rows laid out for random access.
//!
//! In units and under penalty factors a row is `(x_j − c_j)/(σ_j √f_j)`. Sparse rows keep `x_j/(σ_j√f_j)`, and the centre
//! acts through three numbers: with `q_j = c_j/(σ_j² f_j)`, `κ_i = x_i·q` and `‖ĉ‖² = c·q`, the product of two rows is
//! `x_i·x_k − κ_i − κ_k + ‖ĉ‖²`. A column with an entry in one row only is in no product of two rows: only its square is
//! kept. The rest are numbered by frequency, so that the common ones share cache lines.

use super::{Loss, Penalty, Ridge, Risk};
use crate::design::{CsrRows, InMemory, Tile};
use crate::error::Result;
use crate::watch::Watch;
use std::borrow::Cow;

/// The rows of positive weight.
pub(crate) struct DualRows<'a> {
    /// Their place in the sample.
    pub(crate) places: Vec<usize>,
    /// Σ over the columns that no other row has, of their squares.
    pub(crate) own: Vec<f64>,
    /// κ; empty where columns are not centred.
    pub(crate) kappa: Vec<f64>,
    /// `‖ĉ‖²`.
    pub(crate) centre_square: f64,
    /// `‖x‖²` of the whole row, centred.
    pub(crate) squares: Vec<f64>,
    /// Length of the vector that rows are multiplied with.
    pub(crate) width: usize,
    store: RowStore<'a>,
}

enum RowStore<'a> {
    Dense(Cow<'a, [f64]>),
    Sparse {
        starts: Vec<usize>,
        columns: Vec<u32>,
        values: Vec<f64>,
    },
    /// Rows whose entries are all alike: words present in a text, indicators.
    Alike {
        starts: Vec<usize>,
        columns: Vec<u32>,
        of_row: Vec<f64>,
    },
}

impl<'a> DualRows<'a> {
    pub(crate) fn new<L: Loss>(risk: &Risk<'a, L, Ridge>, tile: &'a mut Tile, watch: &Watch) -> Result<DualRows<'a>> {
        let sample = risk.sample();
        let counted = |i: &usize| sample.weights.is_none_or(|w| w[*i] > 0.0);
        let places: Vec<usize> = (0..sample.labels.len()).filter(counted).collect();
        let root = |j: usize| risk.penalty().factor(j).sqrt().recip();
        Ok(match InMemory::new(sample.design, sample.units, tile, watch)? {
            InMemory::Dense { values, cols } => {
                let roots: Vec<f64> = (0..cols).map(root).collect();
                let row = |i: &usize| values[i * cols..(i + 1) * cols].iter().zip(&roots).map(|(v, r)| v * r);
                let values: Cow<'a, [f64]> =
                    match places.len() == sample.labels.len() && roots.iter().all(|r| *r == 1.0) {
                        true => values.into(),
                        false => places.iter().flat_map(row).collect(),
                    };
                let square = |i: usize| values[i * cols..(i + 1) * cols].iter().map(|v| v * v).sum();
                let (squares, own) = ((0..places.len()).map(square).collect(), vec![0.0; places.len()]);
                let store = RowStore::Dense(values);
                DualRows { places, own, kappa: Vec::new(), centre_square: 0.0, squares, width: cols, store }
            }
            InMemory::Sparse(rows) => {
                let units = sample.units;
                if units.is_identity() && risk.penalty().factors().is_none() {
                    return Ok(sparse(rows, places, None));
                }
                let scale: Vec<f64> = (0..rows.cols).map(|j| units.inverse_scale()[j] * root(j)).collect();
                let centre: Vec<f64> = units.centre().iter().zip(&scale).map(|(c, s)| c * s).collect();
                sparse(rows, places, Some((&scale, &centre)))
            }
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// `x·p` without the columns of one row and without the centre.
    #[inline]
    pub(crate) fn dot(&self, row: usize, p: &[f64]) -> f64 {
        match &self.store {
            RowStore::Dense(values) => {
                let x = &values[row * self.width..(row + 1) * self.width];
                let mut sums = [0.0; 8];
                let (chunks, rest) = (x.chunks_exact(8), x.chunks_exact(8).remainder());
                for (x, p) in chunks.zip(p.chunks_exact(8)) {
                    (0..8).for_each(|k| sums[k] = x[k].mul_add(p[k], sums[k]));
                }
                let tail: f64 = rest.iter().zip(&p[x.len() - rest.len()..]).map(|(x, p)| x * p).sum();
                sums.iter().sum::<f64>() + tail
            }
            RowStore::Sparse { starts, columns, values } => {
                let range = starts[row]..starts[row + 1];
                let (columns, values) = (&columns[range.clone()], &values[range]);
                let mut sums = [0.0; 4];
                let (c, v) = (columns.chunks_exact(4), values.chunks_exact(4));
                let tail: f64 = c.remainder().iter().zip(v.remainder()).map(|(c, v)| v * p[*c as usize]).sum();
                for (c, v) in c.zip(v) {
                    (0..4).for_each(|k| sums[k] += v[k] * p[c[k] as usize]);
                }
                sums[0] + sums[1] + (sums[2] + sums[3]) + tail
            }
            RowStore::Alike { starts, columns, of_row } => {
                let (fours, rest) = columns[starts[row]..starts[row + 1]].as_chunks::<4>();
                let mut sums = [0.0; 4];
                for c in fours {
                    (0..4).for_each(|k| sums[k] += p[c[k] as usize]);
                }
                let tail: f64 = rest.iter().map(|c| p[*c as usize]).sum();
                of_row[row] * (sums[0] + sums[1] + (sums[2] + sums[3]) + tail)
            }
        }
    }

    /// `p += step · x`.
    #[inline]
    pub(crate) fn add(&self, row: usize, step: f64, p: &mut [f64]) {
        match &self.store {
            RowStore::Dense(values) => {
                let x = &values[row * self.width..(row + 1) * self.width];
                p.iter_mut().zip(x).for_each(|(p, x)| *p = x.mul_add(step, *p));
            }
            RowStore::Sparse { starts, columns, values } => {
                let range = starts[row]..starts[row + 1];
                for (c, v) in columns[range.clone()].iter().zip(&values[range]) {
                    p[*c as usize] += step * v;
                }
            }
            RowStore::Alike { starts, columns, of_row } => {
                let step = step * of_row[row];
                columns[starts[row]..starts[row + 1]].iter().for_each(|c| p[*c as usize] += step);
            }
        }
    }
}

/// A copy of sparse rows; `units` are the scale and the scaled centre of every column.
fn sparse<'a>(rows: CsrRows<'_>, places: Vec<usize>, units: Option<(&[f64], &[f64])>) -> DualRows<'a> {
    let mut counts = vec![0u32; rows.cols];
    for i in &places {
        rows.row(*i).0.iter().for_each(|j| counts[*j as usize] += 1);
    }
    let (numbers, width) = by_frequency(&counts, places.len());
    let centre_square: f64 = units.map_or(0.0, |(_, centre)| centre.iter().map(|c| c * c).sum());
    let entries = rows.values.len();
    let of_row = if units.is_none() { rows.values_by_row() } else { None };
    let mut columns = Vec::with_capacity(entries);
    let mut values = Vec::with_capacity(if of_row.is_some() { 0 } else { entries });
    let mut starts = vec![0];
    let mut out = DualRows {
        own: Vec::with_capacity(places.len()),
        kappa: Vec::new(),
        centre_square,
        squares: Vec::with_capacity(places.len()),
        width,
        store: RowStore::Dense(Cow::Borrowed(&[])),
        places,
    };
    for i in &out.places {
        let (mut own, mut square, mut kappa) = (0.0, 0.0, 0.0);
        let (js, xs) = rows.row(*i);
        for (j, x) in js.iter().zip(xs) {
            let mut x = *x;
            if let Some((scale, centre)) = units {
                x *= scale[*j as usize];
                kappa += x * centre[*j as usize];
            }
            square += x * x;
            match numbers[*j as usize] {
                ALONE => own += x * x,
                number => {
                    columns.push(number);
                    if of_row.is_none() {
                        values.push(x);
                    }
                }
            }
        }
        starts.push(columns.len());
        out.own.push(own);
        out.squares.push((square - 2.0 * kappa + centre_square).max(0.0));
        if centre_square > 0.0 {
            out.kappa.push(kappa);
        }
    }
    out.store = match of_row {
        Some(of_row) => {
            let of_row = out.places.iter().map(|i| of_row[*i]).collect();
            RowStore::Alike { starts, columns, of_row }
        }
        None => RowStore::Sparse { starts, columns, values },
    };
    out
}

/// The number of a column that occurs in one row at most.
const ALONE: u32 = u32::MAX;

/// New numbers for columns, the most frequent first, and how many there are.
fn by_frequency(counts: &[u32], rows: usize) -> (Vec<u32>, usize) {
    let mut of_count = vec![0usize; rows + 2];
    counts.iter().filter(|c| **c > 1).for_each(|c| of_count[*c as usize] += 1);
    let mut next = 0;
    for slot in of_count.iter_mut().rev() {
        next += std::mem::replace(slot, next);
    }
    let mut number = |c: &u32| match *c {
        0 | 1 => ALONE,
        c => {
            let slot = &mut of_count[c as usize];
            *slot += 1;
            (*slot - 1) as u32
        }
    };
    (counts.iter().map(&mut number).collect(), next)
}
