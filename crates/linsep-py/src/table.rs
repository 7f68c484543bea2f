//! Tables through Arrow's C stream interface.

use crate::errors::{LinsepError, raise};
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{RecordBatch, RecordBatchReader};
use linsep::read::{ReadOptions, read_batches};
use linsep::table::{Kind, Labels, Table};
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
