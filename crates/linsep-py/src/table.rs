//! Tables through Arrow's C stream interface.

use crate::errors::{LinsepError, raise};
use crate::input::Features;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{RecordBatch, RecordBatchReader};
use linsep::read::{ReadOptions, read_batches};
use linsep::table::{Cells, Chunk, Column, Kind, Labels, MISSING_TEXT, Origin, RowPlaces, SparseRows, Table};
use numpy::{PyArray1, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};
use std::ffi::CStr;

const STREAM: &CStr = c"arrow_array_stream";

/// The table behind anything with `__arrow_c_stream__`: pandas, polars, pyarrow and their kin.
pub(crate) fn stream(frame: &Bound<'_, PyAny>) -> PyResult<Table> {
    let py = frame.py();
    let capsule = frame.call_method0("__arrow_c_stream__")?;
    let capsule =
        capsule.cast::<PyCapsule>().map_err(|_| LinsepError::new_err("__arrow_c_stream__ gave no capsule"))?;
    let pointer = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: a capsule of this name holds a stream, which is ours to take; a released one is left in its place.
    let reader = unsafe { RecordBatchStreamReader::from_raw(pointer.as_ptr()) };
    let broken = |e: arrow_schema::ArrowError| LinsepError::new_err(format!("the table cannot be read: {e}"));
    let reader = reader.map_err(broken)?;
    let schema = reader.schema();
    let batches = reader.collect::<Result<Vec<RecordBatch>, _>>().map_err(broken)?;
    // Inside a pool of our own, like everything that may use threads.
    crate::pool::run(py, &crate::pool::Manner::default(), |_| {
        read_batches(&schema, &batches, "X", &ReadOptions::default())
    })
    .map_err(|e| if e.is_instance_of::<LinsepError>(py) { e } else { raise(py, &linsep::Error::data(e.to_string())) })
}

/// Columns of numbers and text that Python put together; features like any others.
#[pyclass(frozen, name = "Table", module = "linsep._core")]
pub(crate) struct Columns {
    pub(crate) table: Table,
}

#[pymethods]
impl Columns {
    /// From names and, for each, an array of float64 (NaN is missing), or codes (int64, −1 is missing) and their levels.
    #[new]
    fn new(names: Vec<String>, columns: Vec<Bound<'_, PyAny>>) -> PyResult<Columns> {
        if names.len() != columns.len() || names.is_empty() {
            return Err(LinsepError::new_err(format!("{} names for {} columns", names.len(), columns.len())));
        }
        let found = columns.iter().map(column).collect::<PyResult<Vec<(Kind, Cells)>>>()?;
        let n_rows = found[0].1.len();
        if let Some(at) = found.iter().position(|(_, cells)| cells.len() != n_rows) {
            let length = found[at].1.len();
            return Err(LinsepError::new_err(format!("column `{}` has {length} cells, not {n_rows}", names[at])));
        }
        let (kinds, cells): (Vec<Kind>, Vec<Cells>) = found.into_iter().unzip();
        let columns = names.into_iter().zip(kinds).map(|(name, kind)| Column { name, kind }).collect();
        let origin = Origin { file: "X".into(), rows: RowPlaces::Numbered { first: 1 } };
        Ok(Columns { table: Table::new(columns, vec![Chunk { n_rows, cells, sparse: None, origin }], 0) })
    }

    /// The table with 1 in the place of numbers above the threshold, and 0 of others; missing cells stay missing.
    fn binarized(&self, threshold: f64) -> Columns {
        let binary = |x: f64| if x.is_nan() { x } else { f64::from(u8::from(x > threshold)) };
        let mut chunks = self.table.chunks().to_vec();
        for cells in chunks.iter_mut().flat_map(|chunk| &mut chunk.cells) {
            if let Cells::F64(numbers) = cells {
                numbers.to_mut().iter_mut().for_each(|x| *x = binary(*x));
            }
        }
        Columns { table: Table::new(self.table.columns().to_vec(), chunks, self.table.sparse_width()) }
    }
}

/// Features of any kind as a table: dense columns have these names, sparse ones none.
#[pyfunction]
pub(crate) fn as_table(x: &Bound<'_, PyAny>, names: Vec<String>) -> PyResult<Columns> {
    let features = Features::of(x)?;
    let one_chunk = |columns: Vec<Column>, cells: Vec<Cells>, (n_rows, width): (usize, usize), sparse| {
        let origin = Origin { file: "X".into(), rows: RowPlaces::Numbered { first: 1 } };
        Columns { table: Table::new(columns, vec![Chunk { n_rows, cells, sparse, origin }], width) }
    };
    let dense = |values: &dyn Fn(usize) -> f64, cols: usize, n_rows: usize| {
        if names.len() != cols {
            return Err(LinsepError::new_err(format!("{} names for {cols} columns", names.len())));
        }
        let columns = names.iter().map(|name| Column { name: name.clone(), kind: Kind::Number }).collect();
        let cells = (0..cols).map(|j| Cells::F64((0..n_rows).map(|i| values(i * cols + j)).collect())).collect();
        Ok(one_chunk(columns, cells, (n_rows, 0), None))
    };
    match &features {
        Features::Table(table) => Ok(Columns { table: (**table).clone() }),
        Features::F64(array) => {
            // SAFETY: copied before anything else runs.
            let values = unsafe { array.as_slice() }?;
            dense(&|at| values[at], array.shape()[1], array.shape()[0])
        }
        Features::F32(array) => {
            // SAFETY: as above.
            let values = unsafe { array.as_slice() }?;
            dense(&|at| f64::from(values[at]), array.shape()[1], array.shape()[0])
        }
        Features::Csr { starts, indices, values, cols } => {
            let rows = SparseRows { starts: starts.clone(), indices: indices.copied()?, values: values.copied()? };
            Ok(one_chunk(Vec::new(), Vec::new(), (starts.len() - 1, *cols), Some(rows)))
        }
    }
}

fn column(said: &Bound<'_, PyAny>) -> PyResult<(Kind, Cells)> {
    if let Ok(numbers) = said.cast::<PyArray1<f64>>() {
        // SAFETY: copied before anything else runs.
        return Ok((Kind::Number, Cells::F64(unsafe { numbers.as_slice() }?.to_vec().into())));
    }
    let (codes, levels): (Bound<'_, PyArray1<i64>>, Vec<String>) = said.extract()?;
    // Levels of a table are in byte order and all different.
    let mut sorted = levels.clone();
    sorted.sort();
    if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(LinsepError::new_err("a level is named twice"));
    }
    let rank: Vec<u32> = levels.iter().map(|level| sorted.partition_point(|s| s < level) as u32).collect();
    let cell = |code: &i64| match usize::try_from(*code) {
        Ok(code) => rank.get(code).copied().ok_or_else(|| LinsepError::new_err(format!("there is no level {code}"))),
        Err(_) => Ok(MISSING_TEXT),
    };
    // SAFETY: as above.
    let cells = unsafe { codes.as_slice() }?.iter().map(cell).collect::<PyResult<Vec<u32>>>()?;
    Ok((Kind::Text { levels: sorted }, Cells::Text(cells.into())))
}

/// A name that no column has.
pub(crate) fn free_name(table: &Table, wished: &str) -> String {
    let mut name = wished.to_owned();
    while table.columns().iter().any(|c| c.name == name) {
        name.push('_');
    }
    name
}

/// The table with its labels as a column.
pub(crate) fn with_labels(table: Table, name: &str, labels: &Labels, text: bool) -> PyResult<Table> {
    if labels.len() != table.n_rows() {
        return Err(LinsepError::new_err(format!("{} labels for {} rows", labels.len(), table.n_rows())));
    }
    let codes = labels.codes().iter().map(|c| c.index());
    if text {
        let cells: Vec<f64> = codes.map(|c| c as f64).collect();
        return Ok(table.with_column(name, Kind::Text { levels: labels.names().to_vec() }, &cells));
    }
    let number =
        |n: &String| n.parse::<f64>().map_err(|_| LinsepError::new_err(format!("the class `{n}` is no number")));
    let values = labels.names().iter().map(number).collect::<PyResult<Vec<f64>>>()?;
    let cells: Vec<f64> = codes.map(|c| values[c]).collect();
    Ok(table.with_column(name, Kind::Number, &cells))
}

/// The table with weights as a column.
pub(crate) fn with_weights(table: Table, name: &str, weights: &[f64]) -> PyResult<Table> {
    if weights.len() != table.n_rows() {
        return Err(LinsepError::new_err(format!("{} weights for {} rows", weights.len(), table.n_rows())));
    }
    Ok(table.with_column(name, Kind::Number, weights))
}

/// The table that a model was fitted on, put together again.
pub(crate) fn training_table(
    model: &linsep::artifact::Model,
    table: Table,
    labels: &Labels,
    weights: Option<&[f64]>,
) -> PyResult<Table> {
    let table = with_labels(table, &model.target, labels, model.target_is_text)?;
    match (&model.weights, weights) {
        (Some(name), Some(weights)) => with_weights(table, name, weights),
        (None, None) => Ok(table),
        (Some(_), None) => Err(LinsepError::new_err("the model was fitted with sample_weight: give it again")),
        (None, Some(_)) => Err(LinsepError::new_err("the model was fitted without sample_weight")),
    }
}
