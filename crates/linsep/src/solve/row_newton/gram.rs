//! `v ↦ K v` for the Gram matrix `K = X̂X̂ᵀ` of sparse rows, which is never formed.
//!
//! The columns are copied: `K v = Σ_j x_j (x_j·v)` then reads every column once, and the products with v and the sum
//! touch vectors of one number a row only, which fit a cache where vectors of one number a column do not. A column with
//! a single entry adds to the diagonal of K alone. The copy is made range by range of columns, which fit a cache, too.

use crate::design::{CsrRows, Units, column_ranges};
use rayon::prelude::*;
use std::ops::Range;

/// Groups of ranges whose products are summed on their own, and ranges in a group: fixed, so that sums do not depend on
/// the threads.
const GROUPS: usize = 16;
const RANGES: usize = 16;
/// Parts of the rows that are read side by side.
const PARTS: usize = 8;
/// Bins by which the range of a column is found.
const TABLE: usize = 16_384;

/// The columns of some sparse rows, scaled but not centred.
pub(in crate::solve) struct RowGram {
    n: usize,
    /// Squares of the columns that have one entry, summed by row.
    diagonal: Vec<f64>,
    groups: Vec<Vec<Columns>>,
}

/// A range of columns, those of one length together: so the processor foresees where each ends.
struct Columns {
    /// The original index of each column, those without entries left out.
    index: Vec<u32>,
    /// Where each starts, and the end.
    starts: Vec<u32>,
    rows: Vec<u32>,
    values: Vec<f64>,
    /// So many columns, the first, have at least two entries.
    shared: usize,
}

impl RowGram {
    pub(in crate::solve) fn new(x: &CsrRows<'_>, units: &Units) -> RowGram {
        let ranges = column_ranges(x, GROUPS * RANGES);
        let buckets = by_range(x, units, &ranges);
        let columns: Vec<Columns> =
            buckets.into_par_iter().zip(&ranges).map(|(entries, range)| columns_of(entries, range)).collect();
        let mut groups: Vec<Vec<Columns>> = Vec::new();
        let mut columns = columns.into_iter().peekable();
        while columns.peek().is_some() {
            groups.push(columns.by_ref().take(RANGES).collect());
        }
        let mut diagonal = vec![0.0; x.len()];
        for columns in groups.iter().flatten() {
            let single = columns.starts[columns.shared] as usize..;
            for (i, v) in columns.rows[single.clone()].iter().zip(&columns.values[single]) {
                diagonal[*i as usize] += v * v;
            }
        }
        RowGram { n: x.len(), diagonal, groups }
    }

    /// `K v`.
    pub(in crate::solve) fn multiply(&self, v: &[f64]) -> Vec<f64> {
        let of_group = |group: &Vec<Columns>| {
            let mut out = vec![0.0; self.n];
            group.iter().for_each(|columns| columns.add_product(v, &mut out));
            out
        };
        let partials: Vec<Vec<f64>> = self.groups.par_iter().map(of_group).collect();
        let mut out: Vec<f64> = self.diagonal.iter().zip(v).map(|(d, v)| d * v).collect();
        for partial in partials {
            out.iter_mut().zip(partial).for_each(|(o, p)| *o += p);
        }
        out
    }

    /// `X̂ᵀ v`, by original column; zero for columns without entries.
    pub(in crate::solve) fn transposed(&self, v: &[f64], cols: usize) -> Vec<f64> {
        let mut out = vec![0.0; cols];
        let parts: Vec<Vec<(u32, f64)>> = self
            .groups
            .par_iter()
            .map(|group| group.iter().flat_map(|columns| columns.products(v)).collect())
            .collect();
        parts.into_iter().flatten().for_each(|(column, product)| out[column as usize] = product);
        out
    }
}

impl Columns {
    fn column(&self, at: usize) -> (&[u32], &[f64]) {
        let range = self.starts[at] as usize..self.starts[at + 1] as usize;
        (&self.rows[range.clone()], &self.values[range])
    }

    fn add_product(&self, v: &[f64], out: &mut [f64]) {
        for at in 0..self.shared {
            let (rows, values) = self.column(at);
            let product: f64 = rows.iter().zip(values).map(|(i, x)| x * v[*i as usize]).sum();
            rows.iter().zip(values).for_each(|(i, x)| out[*i as usize] += x * product);
        }
    }

    fn products<'a>(&'a self, v: &'a [f64]) -> impl Iterator<Item = (u32, f64)> + 'a {
        let product = |at: usize| {
            let (rows, values) = self.column(at);
            rows.iter().zip(values).map(|(i, x)| x * v[*i as usize]).sum()
        };
        self.index.iter().enumerate().map(move |(at, column)| (*column, product(at)))
    }
}

/// An entry on its way from the rows to the columns.
#[derive(Clone, Copy, Default)]
struct Entry {
    column: u32,
    row: u32,
    value: f64,
}

/// Entries by ranges of columns, by row within each. Rows are read once and ranges written in order, so that every cache
/// line is used up while it is there.
fn by_range(x: &CsrRows<'_>, units: &Units, ranges: &[Range<usize>]) -> Vec<Vec<Entry>> {
    // The range of the first column with the same high bits; few further ranges begin among those columns.
    let shift = (0..32).find(|s| x.cols >> s <= TABLE).unwrap_or(0);
    let first = |bin: usize| ranges.partition_point(|range| range.end <= bin << shift) as u16;
    let table: Vec<u16> = (0..=x.cols >> shift).map(first).collect();
    let range_of = |column: u32| {
        let mut range = usize::from(table[column as usize >> shift]);
        while column as usize >= ranges[range].end {
            range += 1;
        }
        range
    };
    let parts: Vec<Range<usize>> = (0..PARTS).map(|p| x.len() * p / PARTS..x.len() * (p + 1) / PARTS).collect();
    let entries = |part: &Range<usize>| x.starts[part.start] - x.starts[0]..x.starts[part.end] - x.starts[0];
    let counts: Vec<Vec<usize>> = parts
        .par_iter()
        .map(|part| {
            let mut counts = vec![0; ranges.len()];
            x.indices[entries(part)].iter().for_each(|c| counts[range_of(*c)] += 1);
            counts
        })
        .collect();
    let total = |range: usize| counts.iter().map(|c| c[range]).sum();
    let mut buckets: Vec<Vec<Entry>> = (0..ranges.len()).map(|r| vec![Entry::default(); total(r)]).collect();
    let mut places: Vec<Vec<std::slice::IterMut<'_, Entry>>> = parts.iter().map(|_| Vec::new()).collect();
    for (range, bucket) in buckets.iter_mut().enumerate() {
        let mut rest = &mut bucket[..];
        for (part, places) in places.iter_mut().enumerate() {
            let (here, later) = rest.split_at_mut(counts[part][range]);
            places.push(here.iter_mut());
            rest = later;
        }
    }
    let scale = (!units.is_identity()).then(|| units.inverse_scale());
    parts.into_par_iter().zip(places).for_each(|(part, mut places)| {
        for i in part {
            let (columns, values) = x.row(i);
            for (column, v) in columns.iter().zip(values) {
                let value = scale.map_or(*v, |scale| v * scale[*column as usize]);
                if let Some(place) = places[range_of(*column)].next() {
                    *place = Entry { column: *column, row: i as u32, value };
                }
            }
        }
    });
    buckets
}

fn columns_of(entries: Vec<Entry>, range: &Range<usize>) -> Columns {
    let mut counts = vec![0u32; range.len()];
    entries.iter().for_each(|e| counts[e.column as usize - range.start] += 1);
    let order = longest_first(&counts);
    let mut starts = Vec::with_capacity(order.len() + 1);
    starts.push(0);
    let mut end = 0;
    let shared = order.partition_point(|j| counts[*j as usize] > 1);
    for j in &order {
        // From here on a count is where the next entry of the column goes.
        end += std::mem::replace(&mut counts[*j as usize], end);
        starts.push(end);
    }
    let (mut rows, mut values) = (vec![0u32; entries.len()], vec![0.0; entries.len()]);
    for entry in entries {
        let place = &mut counts[entry.column as usize - range.start];
        rows[*place as usize] = entry.row;
        values[*place as usize] = entry.value;
        *place += 1;
    }
    let index = order.into_iter().map(|j| j + range.start as u32).collect();
    Columns { index, starts, rows, values, shared }
}

/// Columns with entries by length, the longest first, in their order among equals.
fn longest_first(lengths: &[u32]) -> Vec<u32> {
    let longest = lengths.iter().copied().max().unwrap_or(0) as usize;
    let mut places = vec![0usize; longest + 2];
    lengths.iter().filter(|l| **l > 0).for_each(|l| places[longest - *l as usize + 1] += 1);
    (1..places.len()).for_each(|i| places[i] += places[i - 1]);
    let mut order = vec![0u32; places[longest + 1]];
    for (j, l) in lengths.iter().enumerate().filter(|(_, l)| **l > 0) {
        let place = &mut places[longest - *l as usize];
        order[*place] = j as u32;
        *place += 1;
    }
    order
}
