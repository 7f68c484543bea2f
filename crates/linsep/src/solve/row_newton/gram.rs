//! `v ↦ K v` for the Gram matrix `K = X̂X̂ᵀ` of sparse rows, which is never formed.
//!
//! The columns are copied: `K v = Σ_j x_j (x_j·v)` then reads every column once, and the products with v and the sum
//! touch vectors of one number a row only, which fit a cache where vectors of one number a column do not. A column with
//! a single entry adds to the diagonal of K alone. The copy is made range by range of columns, which fit a cache, too.

use crate::design::{CsrRows, Units, column_ranges};
use rayon::prelude::*;
use std::borrow::Cow;
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
///
/// Rows whose entries are all alike (words present in a text, indicators, also where rows have length one) are kept as
/// one number a row and the places of their entries: a third of the memory.
pub(in crate::solve) struct RowGram {
    n: usize,
    /// What every entry of a row is before the column is scaled, where entries are alike.
    row_value: Option<Vec<f64>>,
    /// Squares of the columns that have one entry, summed by row.
    diagonal: Vec<f64>,
    groups: Vec<Vec<Columns>>,
}

/// A range of columns, those of one length together: so the processor foresees where each ends.
struct Columns {
    range: Range<usize>,
    /// The original index of each column, those without entries left out.
    index: Vec<u32>,
    /// Where each starts, and the end.
    starts: Vec<u32>,
    rows: Vec<u32>,
    /// Scaled; empty where the entries of a row are alike.
    values: Vec<f64>,
    /// The scale of each column where values are not kept; empty where all are 1.
    scale: Vec<f64>,
    /// So many columns, the first, have at least two entries.
    shared: usize,
}

impl RowGram {
    pub(in crate::solve) fn new(x: &CsrRows<'_>, units: &Units) -> RowGram {
        let ranges = column_ranges(x, GROUPS * RANGES);
        let scale = (!units.is_identity()).then(|| units.inverse_scale());
        let row_value = x.values_by_row();
        let buckets = by_range(x, scale, row_value.is_none(), &ranges);
        let scale = scale.filter(|_| row_value.is_some());
        let columns: Vec<Columns> =
            buckets.into_par_iter().zip(&ranges).map(|(bucket, range)| columns_of(bucket, range, scale)).collect();
        let mut groups: Vec<Vec<Columns>> = Vec::new();
        let mut columns = columns.into_iter().peekable();
        while columns.peek().is_some() {
            groups.push(columns.by_ref().take(RANGES).collect());
        }
        let mut diagonal = vec![0.0; x.len()];
        for columns in groups.iter().flatten() {
            for at in columns.shared..columns.index.len() {
                let place = columns.starts[at] as usize;
                let row = columns.rows[place] as usize;
                let value = match &row_value {
                    Some(of_row) => of_row[row] * columns.scale_of(at),
                    None => columns.values[place],
                };
                diagonal[row] += value * value;
            }
        }
        RowGram { n: x.len(), row_value, diagonal, groups }
    }

    /// `K v`.
    pub(in crate::solve) fn multiply(&self, v: &[f64]) -> Vec<f64> {
        let by_value = self.times_row_value(v);
        let mut out = self.sum_of_groups(|columns, out| columns.add_product(&by_value, out));
        self.diagonal.iter().zip(v).zip(&mut out).for_each(|((d, v), o)| *o += d * v);
        out
    }

    /// `X̂ᵀ v`, by original column; zero for columns without entries.
    pub(in crate::solve) fn transposed(&self, v: &[f64], cols: usize) -> Vec<f64> {
        let v = self.times_row_value(v);
        let mut out = vec![0.0; cols];
        let (mut ranges, mut rest) = (Vec::new(), &mut out[..]);
        for columns in self.groups.iter().flatten() {
            let (now, later) = rest.split_at_mut(columns.range.len());
            ranges.push((columns, now));
            rest = later;
        }
        ranges.into_par_iter().for_each(|(columns, out)| {
            for (at, column) in columns.index.iter().enumerate() {
                out[*column as usize - columns.range.start] = columns.scale_of(at) * columns.gather(at, &v);
            }
        });
        out
    }

    /// `X̂ w`.
    pub(in crate::solve) fn scores(&self, weights: &[f64]) -> Vec<f64> {
        self.sum_of_groups(|columns, out| {
            for (at, column) in columns.index.iter().enumerate() {
                columns.scatter(at, columns.scale_of(at) * weights[*column as usize], out);
            }
        })
    }

    fn times_row_value<'a>(&self, v: &'a [f64]) -> Cow<'a, [f64]> {
        match &self.row_value {
            Some(of_row) => v.iter().zip(of_row).map(|(v, r)| v * r).collect(),
            None => Cow::Borrowed(v),
        }
    }

    /// What all columns add to the rows, in an order that does not depend on the threads.
    fn sum_of_groups(&self, add: impl Fn(&Columns, &mut [f64]) + Sync) -> Vec<f64> {
        let of_group = |group: &Vec<Columns>| {
            let mut out = vec![0.0; self.n];
            group.iter().for_each(|columns| add(columns, &mut out));
            out
        };
        let partials: Vec<Vec<f64>> = self.groups.par_iter().map(of_group).collect();
        let mut out = vec![0.0; self.n];
        for partial in partials {
            out.iter_mut().zip(partial).for_each(|(o, p)| *o += p);
        }
        if let Some(of_row) = &self.row_value {
            out.iter_mut().zip(of_row).for_each(|(o, r)| *o *= r);
        }
        out
    }
}

impl Columns {
    fn entries(&self, at: usize) -> Range<usize> {
        self.starts[at] as usize..self.starts[at + 1] as usize
    }

    /// What the entries of a column lack.
    fn scale_of(&self, at: usize) -> f64 {
        if self.scale.is_empty() { 1.0 } else { self.scale[at] }
    }

    fn add_product(&self, v: &[f64], out: &mut [f64]) {
        // Most columns of a text have few entries; loops that know how many do without finding out for each.
        let [four, three, two] = [4, 3, 2].map(|length| self.first_of(length));
        for at in 0..four {
            let scale = self.scale_of(at);
            self.scatter(at, scale * scale * self.gather(at, v), out);
        }
        self.add_short::<4>(four..three, v, out);
        self.add_short::<3>(three..two, v, out);
        self.add_short::<2>(two..self.shared, v, out);
    }

    /// The first column with so many entries or fewer.
    fn first_of(&self, length: u32) -> usize {
        let (mut low, mut high) = (0, self.shared);
        while low < high {
            let middle = (low + high) / 2;
            if self.starts[middle + 1] - self.starts[middle] > length { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// Columns of L entries each.
    fn add_short<const L: usize>(&self, columns: Range<usize>, v: &[f64], out: &mut [f64]) {
        let entries = self.starts[columns.start] as usize..self.starts[columns.end] as usize;
        let rows = self.rows[entries.clone()].as_chunks::<L>().0;
        if self.values.is_empty() {
            for (at, rows) in columns.zip(rows) {
                let scale = self.scale_of(at);
                let product = scale * scale * rows.iter().map(|i| v[*i as usize]).sum::<f64>();
                rows.iter().for_each(|i| out[*i as usize] += product);
            }
        } else {
            for (rows, values) in rows.iter().zip(self.values[entries].as_chunks::<L>().0) {
                let product: f64 = rows.iter().zip(values).map(|(i, x)| x * v[*i as usize]).sum();
                rows.iter().zip(values).for_each(|(i, x)| out[*i as usize] += x * product);
            }
        }
    }

    /// The product of a column with a vector.
    fn gather(&self, at: usize, v: &[f64]) -> f64 {
        let (fours, rest) = self.rows[self.entries(at)].as_chunks::<4>();
        // Four sums, because an addition waits for the one before; the rest has its own, so that none leaves a register.
        let (mut a, mut b, mut c, mut d, mut tail) = (0.0, 0.0, 0.0, 0.0, 0.0);
        if self.values.is_empty() {
            for [i, j, k, l] in fours {
                a += v[*i as usize];
                b += v[*j as usize];
                c += v[*k as usize];
                d += v[*l as usize];
            }
            rest.iter().for_each(|i| tail += v[*i as usize]);
        } else {
            let (values, last) = self.values[self.entries(at)].as_chunks::<4>();
            for ([i, j, k, l], x) in fours.iter().zip(values) {
                a += x[0] * v[*i as usize];
                b += x[1] * v[*j as usize];
                c += x[2] * v[*k as usize];
                d += x[3] * v[*l as usize];
            }
            rest.iter().zip(last).for_each(|(i, x)| tail += x * v[*i as usize]);
        }
        (a + b) + (c + d) + tail
    }

    /// Adds a multiple of a column.
    fn scatter(&self, at: usize, factor: f64, out: &mut [f64]) {
        let rows = &self.rows[self.entries(at)];
        if self.values.is_empty() {
            rows.iter().for_each(|i| out[*i as usize] += factor);
        } else {
            let values = &self.values[self.entries(at)];
            rows.iter().zip(values).for_each(|(i, x)| out[*i as usize] += x * factor);
        }
    }
}

/// Entries on their way from the rows to the columns.
#[derive(Default)]
struct Bucket {
    /// Column and row.
    places: Vec<(u32, u32)>,
    /// Scaled; empty where they are not asked for.
    values: Vec<f64>,
}

/// Entries by ranges of columns, by row within each. Rows are read once and ranges written in order, so that every cache
/// line is used up while it is there.
fn by_range(x: &CsrRows<'_>, scale: Option<&[f64]>, with_values: bool, ranges: &[Range<usize>]) -> Vec<Bucket> {
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
    let bucket = |range: usize| {
        let total = counts.iter().map(|c| c[range]).sum();
        Bucket { places: vec![(0, 0); total], values: vec![0.0; if with_values { total } else { 0 }] }
    };
    let mut buckets: Vec<Bucket> = (0..ranges.len()).map(bucket).collect();
    let mut ends: Vec<Vec<_>> = parts.iter().map(|_| Vec::new()).collect();
    for (range, bucket) in buckets.iter_mut().enumerate() {
        let (mut places, mut values) = (&mut bucket.places[..], &mut bucket.values[..]);
        for (part, ends) in ends.iter_mut().enumerate() {
            let count = counts[part][range];
            let here = places.split_off_mut(..count).unwrap_or_default().iter_mut();
            let with_value = values.split_off_mut(..count.min(values.len())).unwrap_or_default().iter_mut();
            ends.push((here, with_value));
        }
    }
    parts.into_par_iter().zip(ends).for_each(|(part, mut ends)| {
        for i in part {
            let (columns, values) = x.row(i);
            for (column, v) in columns.iter().zip(values) {
                let (place, value) = &mut ends[range_of(*column)];
                if let Some(place) = place.next() {
                    *place = (*column, i as u32);
                }
                if with_values && let Some(value) = value.next() {
                    *value = scale.map_or(*v, |scale| v * scale[*column as usize]);
                }
            }
        }
    });
    buckets
}

/// A bucket sorted into columns; `scale` where these keep no values.
fn columns_of(bucket: Bucket, range: &Range<usize>, scale: Option<&[f64]>) -> Columns {
    let mut counts = vec![0u32; range.len()];
    bucket.places.iter().for_each(|(column, _)| counts[*column as usize - range.start] += 1);
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
    let (mut rows, mut values) = (vec![0u32; bucket.places.len()], vec![0.0; bucket.values.len()]);
    for (e, (column, row)) in bucket.places.iter().enumerate() {
        let place = &mut counts[*column as usize - range.start];
        rows[*place as usize] = *row;
        if let Some(value) = bucket.values.get(e) {
            values[*place as usize] = *value;
        }
        *place += 1;
    }
    let index: Vec<u32> = order.into_iter().map(|j| j + range.start as u32).collect();
    let scale = scale.map_or_else(Vec::new, |scale| index.iter().map(|j| scale[*j as usize]).collect());
    Columns { range: range.clone(), index, starts, rows, values, scale, shared }
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
