//! Some rows of a risk as a risk of their own.

use crate::design::{LabelledRows, PreparedDesign, gather};
use crate::error::Result;
use crate::objective::{Intercept, Loss, Penalty, Risk, Sample};
use crate::table::Class;

/// Copies of some rows with their labels, weights and offsets.
pub(super) struct RowPart {
    design: PreparedDesign,
    labels: Vec<Class>,
    weights: Option<Vec<f64>>,
    offsets: Option<Vec<f64>>,
}

impl RowPart {
    /// The given rows of a sample with `k` scores.
    pub(super) fn of(sample: &Sample<'_>, k: usize, rows: &[usize]) -> Result<RowPart> {
        let offsets = |o: &[f64]| rows.iter().flat_map(|r| o[r * k..(r + 1) * k].iter().copied()).collect();
        Ok(RowPart {
            design: gather(sample.design, rows)?,
            labels: rows.iter().map(|r| sample.labels[*r]).collect(),
            weights: sample.weights.map(|w| rows.iter().map(|r| w[*r]).collect()),
            offsets: sample.offsets.map(offsets),
        })
    }

    /// Their risk, in the units of the sample they were taken from.
    pub(super) fn risk<'a, L: Loss, P: Penalty>(
        &'a self,
        sample: &Sample<'a>,
        loss: L,
        penalty: P,
        intercept: Intercept,
    ) -> Risk<'a, L, P> {
        let rows = LabelledRows::new(self.design.as_design(), &self.labels).weighted(self.weights.as_deref());
        let part = Sample::new(rows, sample.units).with_offsets(self.offsets.as_deref());
        Risk::new(part, loss, penalty, intercept)
    }
}
