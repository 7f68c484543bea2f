//! The rows that a model was fitted on, given once more: to be verified, or for their support vectors.

use crate::input::{Features, doubles};
use crate::labels::labels;
use crate::pool::{Manner, run};
use crate::table::training_table;
use linsep::artifact;
use linsep::table::Table;
use linsep::watch::Watch;
use linsep::workflow::Arrays;
use pyo3::prelude::*;

/// The rows a model was fitted on, as they are given again.
pub(crate) struct TrainingRows<'a, 'py> {
    pub(crate) x: &'a Bound<'py, PyAny>,
    pub(crate) y_codes: &'a Bound<'py, PyAny>,
    pub(crate) sample_weight: Option<&'a Bound<'py, PyAny>>,
    pub(crate) n_threads: usize,
}

impl TrainingRows<'_, '_> {
    /// What the library says of them, be they a table or arrays.
    pub(crate) fn given_to<T: Send + 'static>(
        &self,
        model: &artifact::Model,
        of_table: impl Fn(&artifact::Model, &Table, &Watch) -> linsep::Result<T> + Sync,
        of_arrays: impl Fn(&artifact::Model, Arrays<'_>, &Watch) -> linsep::Result<T> + Sync,
    ) -> PyResult<T> {
        let labels = labels(self.y_codes, model.classes.clone())?;
        let weights = doubles(self.sample_weight)?;
        let manner = Manner::threads(self.n_threads);
        match Features::of(self.x)? {
            Features::Table(table) => {
                let table = training_table(model, *table, &labels, weights.as_deref())?;
                run(self.x.py(), &manner, |watch| of_table(model, &table, watch))
            }
            features => {
                // SAFETY: as in `fit`.
                let lent = unsafe { features.lend() }?;
                let design = lent.as_design();
                let weights = weights.as_deref();
                let arrays = Arrays { design, names: Vec::new(), labels, labels_are_text: true, weights };
                run(self.x.py(), &manner, |watch| of_arrays(model, arrays, watch))
            }
        }
    }
}
