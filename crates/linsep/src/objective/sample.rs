//! Rows in the units of a fit.

use crate::design::{Design, LabelledRows, Units};
use std::ops::Deref;

/// Rows to learn from in the units of a fit, with offsets where there are some; a sample is read like its rows.
#[derive(Clone, Copy)]
pub struct Sample<'a> {
    /// The rows.
    pub rows: LabelledRows<'a>,
    /// The units in which weights are penalised.
    pub units: &'a Units,
    /// oᵢ, one value per score, row by row.
    pub offsets: Option<&'a [f64]>,
}

impl<'a> Sample<'a> {
    /// Rows without offsets.
    pub fn new(rows: LabelledRows<'a>, units: &'a Units) -> Sample<'a> {
        Sample { rows, units, offsets: None }
    }

    /// The same rows with these offsets.
    pub fn with_offsets(self, offsets: Option<&'a [f64]>) -> Sample<'a> {
        Sample { offsets, ..self }
    }

    /// The same rows by the columns of another design.
    pub fn with_design(self, design: &'a dyn Design) -> Sample<'a> {
        Sample { rows: LabelledRows { design, ..self.rows }, ..self }
    }
}

impl<'a> Deref for Sample<'a> {
    type Target = LabelledRows<'a>;

    fn deref(&self) -> &LabelledRows<'a> {
        &self.rows
    }
}
