//! Sparse rows to sparse columns, in parallel.

use super::sparse::{ABSENT, ColumnRange};
use crate::design::CsrRows;
use rayon::prelude::*;
use std::ops::Range;

/// Parts of the rows that are read in parallel: fixed, so that the order of entries does not depend on the threads.
/// Chosen (bench/constants.md).
const PARTS: usize = 8;
/// Rows in a part and columns in a range, at most: an entry in a bucket then takes two numbers of 16 bits.
const SIXTEEN_BITS: usize = 1 << 16;
/// Bins by which the range of a column is found: 32 KB of 16 bits, a first-level cache. Chosen (bench/constants.md).
const TABLE: usize = 16_384;

/// Entries on their way from the rows to the columns, as in a bucket sort.
#[derive(Default)]
pub(super) struct Bucket {
    /// Column and row, counted from the first of the range and of the part.
    places: Vec<(u16, u16)>,
    /// The first row of each part, and its entries.
    parts: Vec<(u32, usize)>,
    /// Empty where they are not asked for.
    values: Vec<f64>,
}

/// Entries by ranges of columns, by row within each. Rows are read once and ranges written in order, so that every cache
/// line is fully used while it is in cache.
pub(super) fn by_range(x: &CsrRows<'_>, with_values: bool, ranges: &[Range<usize>]) -> Vec<Bucket> {
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
    let pieces = PARTS.max(x.len().div_ceil(SIXTEEN_BITS));
    let parts: Vec<Range<usize>> = (0..pieces).map(|p| x.len() * p / pieces..x.len() * (p + 1) / pieces).collect();
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
        let parts = parts.iter().zip(&counts).map(|(part, counts)| (part.start as u32, counts[range])).collect();
        Bucket { places: vec![(0, 0); total], parts, values: vec![0.0; if with_values { total } else { 0 }] }
    };
    // In parallel: allocating the memory costs as much as writing the entries.
    let mut buckets: Vec<Bucket> = (0..ranges.len()).into_par_iter().map(bucket).collect();
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
        for i in part.clone() {
            let (columns, values) = x.row(i);
            for (column, v) in columns.iter().zip(values) {
                let range = range_of(*column);
                let (place, value) = &mut ends[range];
                if let Some(place) = place.next() {
                    *place = ((*column as usize - ranges[range].start) as u16, (i - part.start) as u16);
                }
                if with_values && let Some(value) = value.next() {
                    *value = *v;
                }
            }
        }
    });
    buckets
}

/// A bucket sorted into columns.
pub(super) fn columns_of(bucket: Bucket, range: &Range<usize>) -> ColumnRange {
    let mut counts = vec![0u32; range.len()];
    bucket.places.iter().for_each(|(column, _)| counts[usize::from(*column)] += 1);
    let order = longest_first(&counts);
    let mut starts = Vec::with_capacity(order.len() + 1);
    starts.push(0);
    let mut end = 0;
    let shared = order.partition_point(|j| counts[*j as usize] > 1);
    for j in &order {
        // From here on a count is the position of the next entry of the column.
        end += std::mem::replace(&mut counts[*j as usize], end);
        starts.push(end);
    }
    let (mut rows, mut values) = (vec![0u32; bucket.places.len()], vec![0.0; bucket.values.len()]);
    let mut entry = 0;
    for (first, entries) in bucket.parts {
        for (column, row) in &bucket.places[entry..entry + entries] {
            let place = &mut counts[usize::from(*column)];
            rows[*place as usize] = first + u32::from(*row);
            if let Some(value) = bucket.values.get(entry) {
                values[*place as usize] = *value;
            }
            *place += 1;
            entry += 1;
        }
    }
    let mut place = counts;
    place.fill(ABSENT);
    order.iter().enumerate().for_each(|(at, j)| place[*j as usize] = at as u32);
    let index: Vec<u32> = order.into_iter().map(|j| j + range.start as u32).collect();
    ColumnRange { range: range.clone(), index, place, starts, rows, values, shared }
}

/// Ranges of columns, none longer than 16 bits can index.
pub(super) fn short_ranges(ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let pieces = |range: Range<usize>| {
        let end = range.end;
        range.step_by(SIXTEEN_BITS).map(move |start| start..(start + SIXTEEN_BITS).min(end))
    };
    ranges.into_iter().flat_map(pieces).collect()
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
