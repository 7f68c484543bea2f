//! Apache Parquet, decoded column by column in parallel.

use super::column::{Numbers, RawColumn, TextColumn};
use super::csv::same_columns;
use super::feed::Placed;
use super::infer::{Outcome, Places, RawChunk, assemble, bad_number_help, shown};
use super::number::{Said, read_cell};
use super::source::{Input, halted};
use super::{ReadOptions, Wanted, wanted};
use crate::error::{Error, Place, Result};
use crate::table::Table;
use crate::watch::{Progress, Watch};
use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use bytes::Bytes;
use rayon::prelude::*;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

/// Rows per chunk of the table.
const CHUNK_ROWS: usize = 1 << 16;
/// Rows decoded at a time.
const BATCH_ROWS: usize = 1 << 13;

/// Reads Parquet inputs with the same columns.
pub(super) fn read(inputs: &[Input<'_>], options: &ReadOptions, watch: &Watch) -> Result<Table> {
    let sources = inputs.iter().map(Source::open).collect::<Result<Vec<_>>>()?;
    let names = sources[0].names();
    let mut wanted = wanted(&names, options, inputs[0].name())?;
    for (c, field) in sources[0].metadata.schema().fields().iter().enumerate() {
        if wanted[c] == Wanted::Infer && is_text(field.data_type()) {
            wanted[c] = Wanted::Text;
        }
    }
    let total = inputs.iter().map(Input::size).sum();
    let done = AtomicU64::new(0);
    let mut pieces = Vec::new();
    for (f, source) in sources.iter().enumerate() {
        let order = same_columns(&source.names(), &names, inputs, f)?;
        let mut first = 1;
        for group in 0..source.metadata.metadata().num_row_groups() {
            let columns = order
                .par_iter()
                .enumerate()
                .map(|(own, at)| {
                    halted(watch)?;
                    let column = source.column(group, own, wanted[*at], first)?;
                    let size = source.metadata.metadata().row_group(group).column(own).compressed_size();
                    let done = done.fetch_add(size.max(0) as u64, Ordering::Relaxed) + size.max(0) as u64;
                    watch.report(Progress::Bytes { done, total: Some(total) });
                    Ok((*at, column))
                })
                .collect::<Result<Vec<_>>>()?;
            for chunk in in_rows(columns, source)? {
                let (n, places) = (chunk.n_rows as u64, Places::Numbered { first });
                pieces.push(Placed { file: f, first_line: 1, parsed: RawChunk { places, ..chunk } });
                first += n;
            }
        }
    }
    if pieces.iter().all(|p| p.parsed.n_rows == 0) {
        return Err(Error::format("there is no row").at(Place::file(&**inputs[0].name())));
    }
    match assemble(inputs, &names, &wanted, pieces, 0)? {
        Outcome::Table(table) => Ok(table),
        Outcome::ReadAgainAsText(_) => unreachable!("the schema decides the kinds"),
    }
}

/// Chunks of whole rows from the parts of every column, given with its place in the table.
fn in_rows(mut columns: Vec<(usize, Vec<RawColumn>)>, source: &Source<'_>) -> Result<Vec<RawChunk>> {
    columns.sort_by_key(|(at, _)| *at);
    let parts = columns.first().map_or(0, |(_, parts)| parts.len());
    let mut columns: Vec<_> = columns.into_iter().map(|(_, parts)| parts.into_iter()).collect();
    (0..parts)
        .map(|_| {
            let cells: Vec<RawColumn> = columns.iter_mut().filter_map(Iterator::next).collect();
            let n_rows = cells.first().map_or(0, RawColumn::len);
            if cells.len() != columns.len() || cells.iter().any(|c| c.len() != n_rows) {
                return Err(source.damaged("its columns differ in length"));
            }
            Ok(RawChunk { n_rows, columns: cells, sparse: None, places: Places::Consecutive })
        })
        .collect()
}

/// An input with its schema.
struct Source<'a> {
    input: &'a Input<'a>,
    /// The whole file, for input that has no path.
    bytes: Option<Bytes>,
    metadata: ArrowReaderMetadata,
}

impl<'a> Source<'a> {
    fn open(input: &'a Input<'a>) -> Result<Source<'a>> {
        let bytes = match input.path() {
            Some(_) => None,
            None => Some(Bytes::from(input.head(u64::MAX)?)),
        };
        // Without the hints of the Arrow writer dictionaries are plain text and large strings are strings.
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let metadata = guarded(input, || match &bytes {
            Some(bytes) => ArrowReaderMetadata::load(bytes, options).map_err(|e| damaged(input, &e.to_string())),
            None => {
                let file = open_file(input)?;
                ArrowReaderMetadata::load(&file, options).map_err(|e| damaged(input, &e.to_string()))
            }
        })?;
        let source = Source { input, bytes, metadata };
        for field in source.metadata.schema().fields() {
            let kind = field.data_type();
            if !(is_number(kind) || is_text(kind)) {
                return Err(Error::format(format!("a column of type {kind} can be neither numbers nor text"))
                    .at(Place::file(&**input.name()).column(field.name()))
                    .help("leave the column out, or cast it to a number or a string where the file is written"));
            }
        }
        let names = source.names();
        if let Some(twice) = names.iter().enumerate().find(|(i, n)| names[..*i].contains(n)) {
            return Err(Error::format("two columns have the same name")
                .at(Place::file(&**input.name()).column(twice.1))
                .help("give every column its own name"));
        }
        if names.is_empty() {
            return Err(Error::format("the file has no column").at(Place::file(&**input.name())));
        }
        Ok(source)
    }

    fn names(&self) -> Vec<String> {
        self.metadata.schema().fields().iter().map(|f| f.name().clone()).collect()
    }

    fn damaged(&self, what: &str) -> Error {
        damaged(self.input, what)
    }

    /// One column of one row group in parts of [`CHUNK_ROWS`]; `first` is the number of the group's first row.
    fn column(&self, group: usize, column: usize, wanted: Wanted, first: u64) -> Result<Vec<RawColumn>> {
        guarded(self.input, || {
            let mut parts = Vec::new();
            let mut builder = Builder::new(wanted);
            for batch in self.reader(group, column)? {
                let batch = batch.map_err(|e| self.damaged(&e.to_string()))?;
                let array = batch.columns().first().ok_or_else(|| self.damaged("a column is absent"))?;
                if let Err((row, cell)) = builder.extend(array) {
                    let row = first + (parts.len() * CHUNK_ROWS) as u64 + row as u64;
                    let name = self.metadata.schema().field(column).name();
                    return Err(Error::format(format!("{} is not a number", shown(cell.as_bytes())))
                        .at(Place::file(&**self.input.name()).row(row).column(name))
                        .help(bad_number_help(name)));
                }
                // Batches divide chunks, so a part is full exactly here.
                if builder.len() >= CHUNK_ROWS {
                    parts.push(std::mem::replace(&mut builder, Builder::new(wanted)).finish());
                }
            }
            if builder.len() > 0 {
                parts.push(builder.finish());
            }
            Ok(parts)
        })
    }

    /// Every reader has its own handle: clones of one file share their position.
    fn reader(&self, group: usize, column: usize) -> Result<ParquetRecordBatchReader> {
        let mask = ProjectionMask::roots(self.metadata.parquet_schema(), [column]);
        let metadata = self.metadata.clone();
        let reader = match &self.bytes {
            Some(bytes) => ParquetRecordBatchReaderBuilder::new_with_metadata(bytes.clone(), metadata)
                .with_row_groups(vec![group])
                .with_projection(mask)
                .with_batch_size(BATCH_ROWS)
                .build(),
            None => ParquetRecordBatchReaderBuilder::new_with_metadata(open_file(self.input)?, metadata)
                .with_row_groups(vec![group])
                .with_projection(mask)
                .with_batch_size(BATCH_ROWS)
                .build(),
        };
        reader.map_err(|e| self.damaged(&e.to_string()))
    }
}

fn open_file(input: &Input<'_>) -> Result<File> {
    let path = input.path().ok_or_else(|| damaged(input, "it has no path"))?;
    File::open(path).map_err(|e| Error::io(&**input.name(), &e))
}

fn damaged(input: &Input<'_>, what: &str) -> Error {
    Error::format(format!("this is not a readable Parquet file: {what}")).at(Place::file(&**input.name()))
}

/// Runs a decoder. The Parquet crate panics on some damaged files; to the user that is a damaged file like any other.
fn guarded<T>(input: &Input<'_>, decode: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(decode)).unwrap_or_else(|_| Err(damaged(input, "it is damaged")))
}

fn is_text(kind: &DataType) -> bool {
    matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

fn is_number(kind: &DataType) -> bool {
    kind.is_integer()
        || matches!(kind, DataType::Float32 | DataType::Float64 | DataType::Boolean | DataType::Decimal128(..))
        || *kind == DataType::Null
}

/// Cells of one column of the kind that is wanted.
enum Builder {
    Numbers(Numbers, usize),
    Text(TextColumn, usize),
}

impl Builder {
    fn new(wanted: Wanted) -> Builder {
        match wanted {
            Wanted::Text => Builder::Text(TextColumn::default(), 0),
            Wanted::Number | Wanted::Infer => Builder::Numbers(Numbers::with_capacity(0), 0),
        }
    }

    fn len(&self) -> usize {
        match self {
            Builder::Numbers(_, n) | Builder::Text(_, n) => *n,
        }
    }

    fn finish(self) -> RawColumn {
        match self {
            Builder::Numbers(numbers, _) => RawColumn::Number(numbers.into_cells()),
            Builder::Text(text, _) => RawColumn::Text(text),
        }
    }

    /// Appends numbers; NaN is missing.
    fn numbers(&mut self, values: &[f64]) {
        match self {
            Builder::Numbers(numbers, n) => {
                numbers.extend(values);
                *n += values.len();
            }
            Builder::Text(..) => values.iter().for_each(|v| self.number((!v.is_nan()).then_some(*v))),
        }
    }

    fn number(&mut self, value: Option<f64>) {
        match self {
            Builder::Numbers(numbers, n) => {
                numbers.push(value.unwrap_or(f64::NAN));
                *n += 1;
            }
            Builder::Text(text, n) => {
                match value {
                    Some(value) => text.push(value.to_string().as_bytes()),
                    None => text.push_missing(),
                }
                *n += 1;
            }
        }
    }

    /// False if numbers are wanted and this is none.
    fn text(&mut self, cell: Option<&str>) -> bool {
        if let Builder::Text(text, n) = self {
            match cell {
                Some(cell) => text.push(cell.as_bytes()),
                None => text.push_missing(),
            }
            *n += 1;
            return true;
        }
        match cell.map(|cell| read_cell(cell.as_bytes())) {
            Some(Said::Number(value)) => self.number(Some(value)),
            Some(Said::Missing) | None => self.number(None),
            Some(Said::Text) => return false,
        }
        true
    }

    /// Appends a batch; the row and cell that is not a number where one is wanted.
    fn extend(&mut self, array: &ArrayRef) -> std::result::Result<(), (usize, String)> {
        let before = self.len();
        macro_rules! numbers {
            ($($kind:ty),*) => {
                $(if let Some(values) = array.as_primitive_opt::<$kind>() {
                    let mut wide: Vec<f64> = values.values().iter().map(|v| *v as f64).collect();
                    if values.null_count() > 0 {
                        (0..wide.len()).filter(|i| values.is_null(*i)).for_each(|i| wide[i] = f64::NAN);
                    }
                    self.numbers(&wide);
                    return Ok(());
                })*
            };
        }
        numbers!(Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type);
        numbers!(Float32Type, Float64Type);
        if let Some(values) = array.as_primitive_opt::<Decimal128Type>() {
            // Through the decimal text, so that the double is correctly rounded.
            let scale = -i32::from(values.scale());
            let value = |v: i128| format!("{v}e{scale}").parse().unwrap_or(f64::NAN);
            values.iter().for_each(|v| self.number(v.map(value)));
        } else if let Some(values) = array.as_boolean_opt() {
            values.iter().for_each(|v| self.number(v.map(|v| f64::from(u8::from(v)))));
        } else {
            for (i, cell) in texts(array).enumerate() {
                if !self.text(cell) {
                    return Err((before + i, cell.unwrap_or_default().to_owned()));
                }
            }
        }
        Ok(())
    }
}

/// The cells of a text array; all missing for an array of nulls.
fn texts(array: &ArrayRef) -> Box<dyn Iterator<Item = Option<&str>> + '_> {
    if let Some(values) = array.as_string_opt::<i32>() {
        Box::new(values.iter())
    } else if let Some(values) = array.as_string_opt::<i64>() {
        Box::new(values.iter())
    } else if let Some(values) = array.as_string_view_opt() {
        Box::new(values.iter())
    } else {
        Box::new((0..array.len()).map(|_| None))
    }
}
