//! Apache Parquet, decoded column by column in parallel.

use super::arrow_columns::{ArrowKind, Builder, CHUNK_ROWS};
use super::column::RawColumn;
use super::csv::same_columns;
use super::feed::Placed;
use super::infer::{CellPlaces, InferOutcome, RawChunk, assemble};
use super::source::{Input, halted, no_room};
use super::style::CellStyle;
use super::{ReadOptions, Wanted, wanted};
use crate::error::{Error, Place, Result};
use crate::numeric::has_room;
use crate::table::Table;
use crate::watch::{Progress, Watch};
use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use bytes::Bytes;
use rayon::prelude::*;
use std::fs::File;
use std::sync::atomic::{AtomicU64, Ordering};

const KIND: ArrowKind = ArrowKind::Parquet;
/// Rows decoded at a time; they divide the rows of a chunk. Chosen, out of reach of bench/constants.md: only the time
/// depends on it.
const BATCH_ROWS: usize = 1 << 13;

/// Reads Parquet inputs with the same columns.
pub(super) fn read(inputs: &[Input<'_>], options: &ReadOptions, watch: &Watch) -> Result<Table> {
    let sources = inputs.iter().map(ParquetSource::open).collect::<Result<Vec<_>>>()?;
    let names = sources[0].names();
    let mut wanted = wanted(&names, options, inputs[0].name())?;
    KIND.decide(sources[0].metadata.schema(), &mut wanted);
    let total = inputs.iter().map(Input::size).sum();
    let done = AtomicU64::new(0);
    let mut pieces = Vec::new();
    for (f, source) in sources.iter().enumerate() {
        let order = same_columns(&source.names(), &names, inputs, f)?;
        let mut first = 1;
        for group in 0..source.metadata.metadata().num_row_groups() {
            // A few bytes may say that a value repeats a thousand million times; each takes a byte at least.
            let rows = usize::try_from(source.metadata.metadata().row_group(group).num_rows()).unwrap_or(0);
            if !has_room(rows.saturating_mul(order.len())) {
                return Err(no_room(source.input));
            }
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
                let chunk = chunk.stored(options.scratch.as_deref())?;
                let (n, places) = (chunk.n_rows as u64, CellPlaces::Numbered { first });
                pieces.push(Placed { file: f, first_line: 1, parsed: RawChunk { places, ..chunk } });
                first += n;
            }
        }
    }
    if pieces.iter().all(|p| p.parsed.n_rows == 0) {
        return Err(Error::format("there is no row").at(Place::file(&**inputs[0].name())));
    }
    match assemble(inputs, &names, &wanted, pieces, 0, &CellStyle::default())? {
        InferOutcome::Table(table) => Ok(table),
        InferOutcome::ReadAgainAsText(_) => unreachable!("the schema decides the kinds"),
    }
}

/// Chunks of whole rows from the parts of every column, given with its place in the table.
fn in_rows(mut columns: Vec<(usize, Vec<RawColumn>)>, source: &ParquetSource<'_>) -> Result<Vec<RawChunk>> {
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
            Ok(RawChunk { n_rows, columns: cells, sparse: None, places: CellPlaces::Consecutive })
        })
        .collect()
}

/// An input with its schema.
struct ParquetSource<'a> {
    input: &'a Input<'a>,
    /// The whole file, for input that has no path.
    bytes: Option<Bytes>,
    metadata: ArrowReaderMetadata,
}

impl<'a> ParquetSource<'a> {
    fn open(input: &'a Input<'a>) -> Result<ParquetSource<'a>> {
        let bytes = match input.path() {
            Some(_) => None,
            None => Some(Bytes::from(input.head(u64::MAX)?)),
        };
        // Without the hints of the Arrow writer dictionaries are plain text and large strings are strings.
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let metadata = KIND.guarded(input, || match &bytes {
            Some(bytes) => ArrowReaderMetadata::load(bytes, options).map_err(|e| KIND.damaged(input, &e.to_string())),
            None => {
                let file = open_file(input)?;
                ArrowReaderMetadata::load(&file, options).map_err(|e| KIND.damaged(input, &e.to_string()))
            }
        })?;
        let source = ParquetSource { input, bytes, metadata };
        KIND.check(source.metadata.schema(), input)?;
        Ok(source)
    }

    fn names(&self) -> Vec<String> {
        self.metadata.schema().fields().iter().map(|f| f.name().clone()).collect()
    }

    fn damaged(&self, what: &str) -> Error {
        KIND.damaged(self.input, what)
    }

    /// One column of one row group in parts of [`CHUNK_ROWS`]; `first` is the number of the group's first row.
    fn column(&self, group: usize, column: usize, wanted: Wanted, first: u64) -> Result<Vec<RawColumn>> {
        KIND.guarded(self.input, || {
            let mut parts = Vec::new();
            let mut builder = Builder::new(wanted);
            for batch in self.reader(group, column)? {
                let batch = batch.map_err(|e| self.damaged(&e.to_string()))?;
                let array = batch.columns().first().ok_or_else(|| self.damaged("a column is absent"))?;
                if let Err(bad) = builder.extend(array) {
                    let first = first + (parts.len() * CHUNK_ROWS) as u64;
                    return Err(bad.at(self.input, first, self.metadata.schema().field(column).name()));
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
    let path = input.path().ok_or_else(|| KIND.damaged(input, "it has no path"))?;
    File::open(path).map_err(|e| Error::io(&**input.name(), &e))
}
