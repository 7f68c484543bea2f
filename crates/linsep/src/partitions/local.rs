//! Rows that are here, asked as if they were in several places: what verifies a fit of partitions to the last bit.

use super::answer;
use super::risk::AskParts;
use crate::design::{LabelledRows, RowRange};
use crate::error::Result;
use crate::watch::Watch;
use std::ops::Range;

/// Rows cut into parts of given sizes, in their order.
pub(crate) struct RowsInParts<'a> {
    rows: LabelledRows<'a>,
    ranges: Vec<Range<usize>>,
}

impl<'a> RowsInParts<'a> {
    /// `None` where the sizes are not those of these rows.
    pub(crate) fn new(rows: LabelledRows<'a>, sizes: &[usize]) -> Option<RowsInParts<'a>> {
        let mut ranges = Vec::with_capacity(sizes.len());
        let mut end = 0usize;
        for size in sizes.iter().filter(|size| **size > 0) {
            let start = end;
            end = start.checked_add(*size)?;
            ranges.push(start..end);
        }
        (end == rows.labels.len()).then_some(RowsInParts { rows, ranges })
    }
}

impl AskParts for RowsInParts<'_> {
    fn ask(&self, message: &[u8]) -> Result<Vec<Vec<u8>>> {
        let of_part = |range: &Range<usize>| {
            let design = RowRange::new(self.rows.design, range.clone());
            let labels = &self.rows.labels[range.clone()];
            let weights = self.rows.weights.map(|w| &w[range.clone()]);
            answer(LabelledRows { design: &design, labels, weights }, message, &Watch::default())
        };
        self.ranges.iter().map(of_part).collect()
    }
}
