//! Pictures: rows and models in, a picture out that renders itself.

use crate::errors::{LinsepError, raise};
use crate::fit::column_names;
use crate::input::Features;
use crate::labels::labels;
use crate::model::Model;
use crate::pool::{Manner, run};
use crate::table::with_labels;
use linsep::table::{Cells, Chunk, Column, Kind as ColumnKind, Origin, RowPlaces, Table};
use linsep_plot::{Format, Kind, Look, PlaneChoice, Request, Theme};
use numpy::PyArrayMethods;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::Path;

/// A picture as data; files of it are made when they are asked for.
#[pyclass(frozen, name = "Picture", module = "linsep._core")]
pub(crate) struct Drawn {
    inner: linsep_plot::Picture,
}

fn look(py: Python<'_>, width: f64, theme: &str) -> PyResult<Look> {
    let theme = match theme {
        "light" => Theme::Light,
        "dark" => Theme::Dark,
        other => return Err(LinsepError::new_err(format!("theme must be 'light' or 'dark', not {other:?}"))),
    };
    let look = Look { width, theme };
    look.check().map_err(|e| raise(py, &e))?;
    Ok(look)
}

#[pymethods]
impl Drawn {
    #[getter]
    fn kind(&self) -> &str {
        self.inner.kind
    }

    #[getter]
    fn title(&self) -> &str {
        &self.inner.title
    }

    #[getter]
    fn caption(&self) -> &str {
        &self.inner.caption
    }

    #[getter]
    fn notes(&self) -> Vec<String> {
        self.inner.notes.clone()
    }

    fn svg(&self, py: Python<'_>, width: f64, theme: &str) -> PyResult<String> {
        Ok(self.inner.svg(&look(py, width, theme)?))
    }

    /// The bytes of a file whose name ends so.
    fn encoded<'py>(&self, py: Python<'py>, path: &str, width: f64, theme: &str) -> PyResult<Bound<'py, PyBytes>> {
        let look = look(py, width, theme)?;
        let format = Format::of(Path::new(path)).map_err(|e| raise(py, &e))?;
        let bytes = py.detach(|| self.inner.encoded(format, &look)).map_err(|e| raise(py, &e))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Marks, axes and caption as JSON.
    fn json(&self) -> String {
        self.inner.json().to_string()
    }
}

/// Names of the kinds, each with what it shows.
#[pyfunction]
pub(crate) fn plot_kinds() -> Vec<(String, String)> {
    Kind::ALL.iter().map(|kind| (kind.name().to_owned(), kind.about().to_owned())).collect()
}

/// Draws a picture of models and rows.
#[pyfunction]
#[pyo3(signature = (kind, models, model_names, features=None, *, y_codes=None, classes=vec![], target="y",
    target_is_text=true, input_names=None, x=None, y=None, plane=None, at=vec![], show=vec![], row=None, prior=None,
    panels=false, n_threads=0))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn plot(
    py: Python<'_>,
    kind: &str,
    models: Vec<PyRef<'_, Model>>,
    model_names: Vec<String>,
    features: Option<&Bound<'_, PyAny>>,
    y_codes: Option<&Bound<'_, PyAny>>,
    classes: Vec<String>,
    target: &str,
    target_is_text: bool,
    input_names: Option<Vec<String>>,
    x: Option<String>,
    y: Option<String>,
    plane: Option<&str>,
    at: Vec<(String, String)>,
    show: Vec<String>,
    row: Option<usize>,
    prior: Option<(f64, f64)>,
    panels: bool,
    n_threads: usize,
) -> PyResult<Drawn> {
    let kind = Kind::named(kind).map_err(|e| raise(py, &e))?;
    let plane = match plane {
        None => None,
        Some("slice") => Some(PlaneChoice::Slice),
        Some("normal") => Some(PlaneChoice::Normal),
        Some("discriminant") => Some(PlaneChoice::Discriminant),
        Some(other) => {
            return Err(LinsepError::new_err(format!(
                "plane must be 'slice', 'normal' or 'discriminant', not {other:?}"
            )));
        }
    };
    let mut table = features.map(|x| table_of(x, input_names)).transpose()?;
    if let (Some(rows), Some(codes)) = (table.take_if(|_| y_codes.is_some()), y_codes) {
        table = Some(with_labels(rows, target, &labels(codes, classes)?, target_is_text)?);
    }
    let named = models.is_empty() && y_codes.is_some();
    let request = Request {
        models: models.iter().map(|m| m.inner().clone()).collect(),
        model_names,
        table,
        target: named.then(|| target.to_owned()),
        x,
        y,
        plane,
        at,
        show,
        row,
        prior,
        panels,
    };
    let inner = run(py, &Manner::threads(n_threads), |watch| kind.picture(&request, watch))?;
    Ok(Drawn { inner })
}

/// Features as a table: pictures have axes, and axes have names.
fn table_of(x: &Bound<'_, PyAny>, names: Option<Vec<String>>) -> PyResult<Table> {
    let features = Features::of(x)?;
    let (cols, values): (usize, Vec<f64>) = match &features {
        Features::Table(table) => return Ok((**table).clone()),
        Features::Csr { .. } => {
            return Err(LinsepError::new_err(
                "pictures are drawn of dense features: give X.toarray(), or fewer columns",
            ));
        }
        // SAFETY: copied before anything else runs.
        Features::F64(array) => (width(array), unsafe { array.as_slice() }?.to_vec()),
        // SAFETY: as above.
        Features::F32(array) => (width(array), unsafe { array.as_slice() }?.iter().map(|v| f64::from(*v)).collect()),
    };
    let names = column_names(names, &features, cols);
    let n_rows = values.len() / cols.max(1);
    let cells = (0..cols).map(|j| Cells::F64((0..n_rows).map(|i| values[i * cols + j]).collect())).collect();
    let heads = names.into_iter().map(|name| Column { name, kind: ColumnKind::Number }).collect();
    let origin = Origin { file: "X".into(), rows: RowPlaces::Numbered { first: 1 } };
    Ok(Table::new(heads, vec![Chunk { n_rows, cells, sparse: None, origin }], 0))
}

fn width<T: numpy::Element>(array: &Bound<'_, numpy::PyArray2<T>>) -> usize {
    use numpy::PyUntypedArrayMethods;
    array.shape()[1]
}
