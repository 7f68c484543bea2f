//! Columns of results as Parquet and Arrow files.

use crate::sheet::{SheetCell, SheetFormat};
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use linsep::{Error, ErrorKind, Result};
use std::sync::Arc;

/// The bytes of a file; a column of numbers and nothing else is one of doubles, any other is text.
pub fn bytes(format: SheetFormat, names: &[String], columns: &[Vec<SheetCell>]) -> Result<Vec<u8>> {
    let arrays = names.iter().cloned().zip(columns.iter().map(|column| array(column)));
    let batch = RecordBatch::try_from_iter_with_nullable(arrays.map(|(name, array)| (name, array, true)));
    let batch = batch.map_err(failed)?;
    let mut bytes = Vec::new();
    match format {
        SheetFormat::Arrow => {
            let mut writer = arrow_ipc::writer::FileWriter::try_new(&mut bytes, &batch.schema()).map_err(failed)?;
            writer.write(&batch).and_then(|()| writer.finish()).map_err(failed)?;
        }
        _ => {
            let mut writer = parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), None).map_err(failed)?;
            writer.write(&batch).map_err(failed)?;
            writer.close().map_err(failed)?;
        }
    }
    Ok(bytes)
}

fn array(column: &[SheetCell]) -> ArrayRef {
    let is_text = column.iter().any(|cell| matches!(cell, SheetCell::Text(_)));
    let some = column.iter().any(|cell| matches!(cell, SheetCell::Number(_)));
    if is_text || !some {
        let text = |cell: &SheetCell| match cell {
            SheetCell::Empty => None,
            SheetCell::Text(text) => Some(text.clone()),
            SheetCell::Number(value) => Some(format!("{value:?}")),
        };
        return Arc::new(StringArray::from_iter(column.iter().map(text)));
    }
    let number = |cell: &SheetCell| match cell {
        SheetCell::Number(value) => Some(*value),
        _ => None,
    };
    Arc::new(Float64Array::from_iter(column.iter().map(number)))
}

fn failed(e: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Io, format!("the columns cannot be written: {e}"))
}
