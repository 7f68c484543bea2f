//! A fitted model in Python's hands.

use crate::errors::{LinsepError, raise};
use crate::input::Features;
use crate::pool::{Manner, run};
use crate::score::{class_scores, codes, few_rows, probabilities, scored};
use crate::training_rows::TrainingRows;
use crate::voice;
use linsep::artifact;
use linsep::decide::{Decision, sets_within};
use linsep::report::{fit_summary, inspect_json, support_json};
use linsep::workflow::{
    measure_design, predict_table, refit_arrays, refit_table, support_arrays, support_tables, verify_arrays,
    verify_table,
};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// A fitted model: immutable, and shared by whoever holds it.
#[pyclass(frozen, module = "linsep._core")]
pub(crate) struct Model {
    inner: Arc<artifact::Model>,
    /// The scores decide as they are, by their sign or the largest.
    plain: bool,
    labels: OnceLock<Named>,
}

/// The labels that predictions are given in.
enum Named {
    Integers(Vec<i64>),
    /// Any array; taken from by position.
    Other(Py<PyAny>),
}

impl Model {
    pub(crate) fn new(inner: artifact::Model) -> Model {
        let plain = inner.decision == Decision::default()
            && inner.calibration.is_none()
            && inner.true_priors.is_none()
            && inner.offsets.is_empty()
            && inner.parts.is_empty()
            && inner.method.link().is_none();
        Model { inner: Arc::new(inner), plain, labels: OnceLock::new() }
    }

    pub(crate) fn inner(&self) -> &artifact::Model {
        &self.inner
    }

    /// `width` numbers per row of the features; rows that a table leaves out get `none`.
    fn each_row<'py, T: numpy::Element + Copy + Send + 'static>(
        &self,
        x: &Bound<'py, PyAny>,
        n_threads: usize,
        width: usize,
        none: T,
        finish: impl Fn(&artifact::Model, &[f64], &mut [T]) -> linsep::Result<()> + Sync,
    ) -> PyResult<Bound<'py, PyArray2<T>>> {
        let py = x.py();
        let model = &*self.inner;
        let manner = Manner::threads(n_threads);
        let features = Features::of(x)?;
        if let Features::Table(table) = &features {
            let found = run(py, &manner, |watch| predict_table(model, table, None, watch))?;
            let mut values = vec![none; found.table_rows * width];
            let k = model.discriminant.n_scores();
            for (row, scores) in found.rows.iter().zip(found.scores.chunks_exact(k)) {
                finish(model, scores, &mut values[row * width..(row + 1) * width]).map_err(|e| raise(py, &e))?;
            }
            return PyArray1::from_vec(py, values).reshape([found.table_rows, width]);
        }
        // SAFETY: as in `fit`.
        let lent = unsafe { features.lend() }?;
        let design = lent.as_design();
        let rows = design.shape().rows;
        // SAFETY: every row is written below before anyone sees the array, or it is dropped with an error.
        let out = unsafe { PyArray2::<T>::new(py, [rows, width], false) };
        // SAFETY: the array is new, nobody else knows it.
        let values = unsafe { out.as_slice_mut() }?;
        run(py, &manner, |watch| scored(model, design, width, values, watch, &finish))?;
        Ok(out)
    }
}

#[pymethods]
impl Model {
    #[getter]
    fn classes(&self) -> Vec<String> {
        self.inner.classes.clone()
    }

    #[getter]
    fn target_is_text(&self) -> bool {
        self.inner.target_is_text
    }

    #[getter]
    fn target(&self) -> &str {
        &self.inner.target
    }

    #[getter]
    fn n_features(&self) -> usize {
        self.inner.recipe.n_features()
    }

    #[getter]
    fn n_inputs(&self) -> usize {
        self.inner.recipe.table_columns().count() + self.inner.recipe.sparse_width
    }

    #[getter]
    fn input_names(&self) -> Vec<String> {
        self.inner.recipe.table_columns().map(|c| c.name.clone()).collect()
    }

    #[getter]
    fn feature_names(&self) -> Vec<String> {
        self.inner.recipe.features()
    }

    /// Whether columns of numbers are all it needs, so that a matrix will do.
    #[getter]
    fn takes_arrays(&self) -> bool {
        self.inner.recipe.n_features() == self.n_inputs()
            && self.inner.recipe.is_linear()
            && self.inner.recipe.origins().iter().all(|o| !o.levels)
            && self.inner.offsets.is_empty()
    }

    #[getter]
    fn n_scores(&self) -> usize {
        self.inner.discriminant.n_scores()
    }

    #[getter]
    fn n_rows(&self) -> usize {
        self.inner.training.rows
    }

    #[getter]
    fn method(&self) -> PyResult<String> {
        let written = serde_json::to_value(&self.inner.method).ok();
        let name = written.as_ref().and_then(|m| m.get("method")).and_then(Value::as_str).map(str::to_owned);
        name.ok_or_else(|| LinsepError::new_err("the method has no name"))
    }

    /// The method's settings as JSON, in the words of the model file.
    #[getter]
    fn settings(&self) -> PyResult<String> {
        serde_json::to_string(&self.inner.method).map_err(|e| LinsepError::new_err(e.to_string()))
    }

    #[getter]
    fn outcome(&self) -> PyResult<String> {
        let written = serde_json::to_value(self.inner.outcome).ok();
        written.as_ref().and_then(Value::as_str).map(str::to_owned).ok_or_else(|| LinsepError::new_err("no outcome"))
    }

    #[getter]
    fn objective(&self) -> f64 {
        self.inner.objective.value
    }

    #[getter]
    fn lambda_(&self) -> Option<f64> {
        self.inner.objective.lambda
    }

    #[getter]
    fn formula(&self) -> &str {
        &self.inner.objective.formula
    }

    #[getter]
    fn iterations(&self) -> usize {
        self.inner.computation.iterations
    }

    #[getter]
    fn passes(&self) -> usize {
        self.inner.computation.passes
    }

    #[getter]
    fn solver(&self) -> &str {
        &self.inner.computation.solver
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.inner.provenance.seed
    }

    #[getter]
    fn has_probabilities(&self) -> bool {
        self.inner.has_probabilities()
    }

    /// The relative gap that the certificate proves, where it proves one.
    #[getter]
    fn gap(&self) -> Option<f64> {
        self.inner.certificate.relative_gap()
    }

    /// Says which labels the classes stand for; they cannot be changed afterwards.
    fn bind(&self, labels: &Bound<'_, PyAny>) -> PyResult<()> {
        if labels.len()? != self.inner.classes.len() {
            return Err(LinsepError::new_err("there must be one label for every class"));
        }
        let named = match labels.cast::<PyArray1<i64>>() {
            // SAFETY: copied at once.
            Ok(array) => Named::Integers(unsafe { array.as_slice() }?.to_vec()),
            Err(_) => Named::Other(labels.clone().unbind()),
        };
        let _ = self.labels.set(named);
        Ok(())
    }

    /// Labels of a few dense rows, here and now; `None` where that takes more.
    fn predict_fast<'py>(&self, x: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = x.py();
        let (Some(named), true) = (self.labels.get(), self.plain) else { return Ok(None) };
        let Some(decided) = few_rows(&self.inner, x) else { return Ok(None) };
        Ok(Some(match named {
            Named::Integers(labels) => PyArray1::from_iter(py, decided.iter().map(|c| labels[c.index()])).into_any(),
            Named::Other(labels) => {
                let positions = PyArray1::from_iter(py, decided.iter().map(|c| c.index() as i64));
                labels.bind(py).call_method1(pyo3::intern!(py, "take"), (positions,))?
            }
        }))
    }

    #[pyo3(signature = (x, n_threads=0))]
    fn predict<'py>(&self, x: &Bound<'py, PyAny>, n_threads: usize) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let out = self.each_row(x, n_threads, 1, -1, codes)?;
        let rows = out.shape()[0];
        out.reshape([rows])
    }

    #[pyo3(signature = (x, n_threads=0))]
    fn scores<'py>(&self, x: &Bound<'py, PyAny>, n_threads: usize) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.each_row(x, n_threads, self.n_scores(), f64::NAN, |_, scores, out| {
            out.copy_from_slice(scores);
            Ok(())
        })
    }

    #[pyo3(signature = (x, n_threads=0))]
    fn class_scores<'py>(&self, x: &Bound<'py, PyAny>, n_threads: usize) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let width = if self.n_scores() == 1 { 1 } else { self.inner.classes.len() };
        self.each_row(x, n_threads, width, f64::NAN, class_scores)
    }

    #[pyo3(signature = (x, n_threads=0))]
    fn probabilities<'py>(&self, x: &Bound<'py, PyAny>, n_threads: usize) -> PyResult<Bound<'py, PyArray2<f64>>> {
        if !self.inner.has_probabilities() {
            return Err(LinsepError::new_err("the scores of this model are no log-odds: it has no probabilities"));
        }
        self.each_row(x, n_threads, self.inner.classes.len(), f64::NAN, probabilities)
    }

    /// Whether each class is in the set of each row.
    #[pyo3(signature = (x, level=None, n_threads=0))]
    fn sets<'py>(
        &self,
        x: &Bound<'py, PyAny>,
        level: Option<f64>,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<bool>>> {
        let thresholds = self.inner.set_thresholds(level).map_err(|e| raise(x.py(), &e))?;
        // Of a row that misses a cell nothing is known, and no class can be left out.
        self.each_row(x, n_threads, self.inner.classes.len(), true, |model, scores, out| {
            let strangeness = model.strangeness(&model.deciding_scores(scores.to_vec()));
            out.copy_from_slice(&sets_within(&thresholds, &strangeness));
            Ok(())
        })
    }

    /// What was held back for sets, as JSON; `None` without.
    fn conformal(&self) -> PyResult<Option<String>> {
        let Some(conformal) = &self.inner.conformal else { return Ok(None) };
        serde_json::to_string(conformal).map(Some).map_err(|e| LinsepError::new_err(e.to_string()))
    }

    /// Distance, radius and nearest class of every row.
    #[pyo3(signature = (x, n_threads=0))]
    fn distance<'py>(&self, x: &Bound<'py, PyAny>, n_threads: usize) -> PyResult<Bound<'py, PyDict>> {
        let py = x.py();
        let model = &*self.inner;
        let manner = Manner::threads(n_threads);
        let prepared;
        let features = Features::of(x)?;
        let lent;
        let design = match &features {
            Features::Table(table) => {
                let wanted = vec![true; table.n_rows()];
                prepared = run(py, &manner, |_| model.recipe.apply(table, &wanted))?;
                if prepared.rows.len() != table.n_rows() {
                    return Err(LinsepError::new_err("a needed cell is missing"));
                }
                prepared.design.as_design()
            }
            features => {
                // SAFETY: as in `fit`.
                lent = unsafe { features.lend() }?;
                lent.as_design()
            }
        };
        let measured = run(py, &manner, |watch| measure_design(model, design, watch))?;
        let column = |number: &dyn Fn(&linsep::geometry::RowGeometry) -> f64| {
            PyArray1::from_vec(py, measured.rows.iter().map(number).collect::<Vec<f64>>())
        };
        let nearest: Vec<i64> = measured.rows.iter().map(|r| r.nearest.map_or(-1, |c| c.index() as i64)).collect();
        let found = PyDict::new(py);
        found.set_item("distance", column(&|r| r.distance))?;
        found.set_item("radius", column(&|r| r.radius))?;
        found.set_item("class", column(&|r| r.class.index() as f64))?;
        found.set_item("nearest", PyArray1::from_vec(py, nearest))?;
        Ok(found)
    }

    fn coef<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        let Some(linear) = self.inner.discriminant.as_linear() else { return Ok(None) };
        let weights: Vec<f64> = (0..linear.n_scores()).flat_map(|k| linear.weights_of(k).iter().copied()).collect();
        Ok(Some(PyArray1::from_vec(py, weights).reshape([linear.n_scores(), linear.n_cols()])?))
    }

    fn intercept<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        self.inner.discriminant.as_linear().map(|linear| PyArray1::from_vec(py, linear.intercept()))
    }

    /// Part, rows (from 0) and multipliers of the support vectors, fit by fit.
    #[expect(clippy::type_complexity, reason = "a tuple of Python")]
    fn support<'py>(
        &self,
        py: Python<'py>,
    ) -> Vec<(Option<String>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>)> {
        let arrays = |part: Option<String>, support: &artifact::SupportVectors| {
            let rows = support.multipliers.iter().map(|(row, _)| *row as i64 - 1);
            let alpha = support.multipliers.iter().map(|(_, alpha)| *alpha);
            (part, PyArray1::from_iter(py, rows), PyArray1::from_iter(py, alpha))
        };
        let names = self.inner.score_names();
        match &self.inner.support_vectors {
            Some(support) => vec![arrays(None, support)],
            None => {
                let parts = self.inner.parts.iter().zip(names);
                parts.filter_map(|(part, name)| Some(arrays(Some(name), part.support_vectors.as_ref()?))).collect()
            }
        }
    }

    /// What the classes look like to a generative method, as JSON; `None` for others.
    fn density(&self) -> PyResult<Option<String>> {
        let Some(density) = &self.inner.density else { return Ok(None) };
        serde_json::to_string(density).map(Some).map_err(|e| LinsepError::new_err(e.to_string()))
    }

    fn priors<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_vec(py, self.inner.learned_priors())
    }

    /// Weight of the training rows of each class.
    fn class_counts<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_vec(py, self.inner.training.class_weights.clone())
    }

    fn summary(&self) -> String {
        fit_summary(&self.inner, &voice::Python)
    }

    fn describe(&self, py: Python<'_>) -> PyResult<String> {
        inspect_json(&self.inner, &voice::Python).map(|v| v.to_string()).map_err(|e| raise(py, &e))
    }

    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        self.inner.to_json().map_err(|e| raise(py, &e))
    }

    #[staticmethod]
    fn from_json(py: Python<'_>, text: &str) -> PyResult<Model> {
        artifact::Model::from_json(text.as_bytes(), "model").map(Model::new).map_err(|e| raise(py, &e))
    }

    fn save(&self, py: Python<'_>, path: &str) -> PyResult<()> {
        py.detach(|| self.inner.save(Path::new(path))).map_err(|e| raise(py, &e))
    }

    #[getter]
    fn label_types(&self) -> Vec<String> {
        self.inner.label_types.clone()
    }

    fn __reduce__(slf: &Bound<'_, Model>) -> PyResult<(Py<PyAny>, (String,))> {
        let py = slf.py();
        let make = py.get_type::<Model>().getattr("from_json")?.unbind();
        Ok((make, (slf.get().to_json(py)?,)))
    }

    /// Recomputes what the model claims from the rows it was fitted on; JSON.
    #[pyo3(signature = (x, y_codes, sample_weight=None, n_threads=0, refit=false))]
    fn verify(
        &self,
        x: &Bound<'_, PyAny>,
        y_codes: &Bound<'_, PyAny>,
        sample_weight: Option<&Bound<'_, PyAny>>,
        n_threads: usize,
        refit: bool,
    ) -> PyResult<String> {
        let rows = TrainingRows { x, y_codes, sample_weight, n_threads };
        let found = match refit {
            true => rows.given_to(&self.inner, refit_table, refit_arrays)?,
            false => rows.given_to(&self.inner, verify_table, verify_arrays)?,
        };
        let check = |c: &linsep::workflow::Check| json!({"claim": c.claim, "holds": c.holds, "found": c.found});
        let checks: Vec<Value> = found.checks.iter().map(check).collect();
        let settings: serde_json::Map<String, Value> =
            found.settings.iter().map(|(path, value)| (path.clone(), value.clone().into())).collect();
        Ok(json!({
            "passed": found.passed(),
            "proved": found.proved,
            "unchecked": found.unchecked,
            "checks": checks,
            "objective": found.objective,
            "settings": settings,
        })
        .to_string())
    }

    /// The support vectors with slack and distance; JSON.
    #[pyo3(signature = (x, y_codes, sample_weight=None, n_threads=0))]
    fn support_table(
        &self,
        x: &Bound<'_, PyAny>,
        y_codes: &Bound<'_, PyAny>,
        sample_weight: Option<&Bound<'_, PyAny>>,
        n_threads: usize,
    ) -> PyResult<String> {
        let rows = TrainingRows { x, y_codes, sample_weight, n_threads };
        let tables = rows.given_to(&self.inner, support_tables, support_arrays)?;
        Ok(support_json(&self.inner, &tables).to_string())
    }
}
