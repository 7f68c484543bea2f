//! Arrow's record batches as tables, whether a file held them or a caller does.

use super::arrow_columns::{ArrowKind, Builder, CHUNK_ROWS};
use super::feed::Placed;
use super::infer::{CellPlaces, InferOutcome, RawChunk, assemble};
use super::source::Input;
use super::style::CellStyle;
use super::{ReadOptions, Wanted, wanted};
use crate::error::{Error, Place, Result};
use crate::table::Table;
use arrow_array::RecordBatch;
use arrow_schema::Schema;
use rayon::prelude::*;

const KIND: ArrowKind = ArrowKind::Ipc;

/// The chunks of a batch.
pub(super) type Chunks = std::result::Result<Vec<RawChunk>, Faulty>;

/// An error whose row, if it has one, counts from the first row of its batch.
pub(super) struct Faulty(Error);

impl From<Error> for Faulty {
    fn from(error: Error) -> Faulty {
        Faulty(error)
    }
}

impl Faulty {
    /// The error with its row in the file, `before` of which come before the batch.
    pub(super) fn after(self, before: u64) -> Error {
        let place = self.0.place().clone();
        match place.row {
            Some(row) => self.0.at(place.row(before + row)),
            None => self.0,
        }
    }
}

/// A batch as chunks of whole rows, columns in the table's order.
pub(super) fn chunks(
    input: &Input<'_>,
    schema: &Schema,
    batch: &RecordBatch,
    order: &[usize],
    wanted: &[Wanted],
) -> Chunks {
    if batch.num_columns() != order.len() {
        return Err(KIND.damaged(input, "a batch lacks columns").into());
    }
    let mut own = vec![0; order.len()];
    order.iter().enumerate().for_each(|(from, to)| own[*to] = from);
    let starts: Vec<usize> = (0..batch.num_rows()).step_by(CHUNK_ROWS).collect();
    starts
        .into_par_iter()
        .map(|start| {
            let n_rows = CHUNK_ROWS.min(batch.num_rows() - start);
            let columns = own.par_iter().zip(wanted).map(|(from, wanted)| {
                let mut builder = Builder::new(*wanted);
                let name = schema.field(*from).name();
                match builder.extend(&batch.column(*from).slice(start, n_rows)) {
                    Ok(()) => Ok(builder.finish()),
                    Err(bad) => Err(bad.at(input, start as u64 + 1, name)),
                }
            });
            // The first column's error, whichever thread was first.
            let columns = columns.collect::<Vec<Result<_>>>().into_iter().collect::<Result<Vec<_>>>()?;
            Ok(RawChunk { n_rows, columns, sparse: None, places: CellPlaces::Consecutive })
        })
        .collect::<Vec<std::result::Result<RawChunk, Faulty>>>()
        .into_iter()
        .collect()
}

/// Turns batches that the caller holds into a table; `name` stands for the file in errors.
///
/// # Errors
/// Columns that are neither numbers nor text, names that occur twice, cells that are not what the caller expects.
pub fn read_batches(schema: &Schema, batches: &[RecordBatch], name: &str, options: &ReadOptions) -> Result<Table> {
    let inputs = [Input::from_bytes(&[], name)];
    let input = &inputs[0];
    KIND.check(schema, input)?;
    let names: Vec<String> = schema.fields().iter().map(|f| f.name().clone()).collect();
    let mut wanted = wanted(&names, options, input.name())?;
    KIND.decide(schema, &mut wanted);
    let order: Vec<usize> = (0..names.len()).collect();
    let (mut pieces, mut first) = (Vec::new(), 1);
    for batch in batches {
        for chunk in chunks(input, schema, batch, &order, &wanted).map_err(|faulty| faulty.after(first - 1))? {
            let (n, places) = (chunk.n_rows as u64, CellPlaces::Numbered { first });
            pieces.push(Placed { file: 0, first_line: 1, parsed: RawChunk { places, ..chunk } });
            first += n;
        }
    }
    if first == 1 {
        return Err(Error::format("there is no row").at(Place::file(name)));
    }
    match assemble(&inputs, &names, &wanted, pieces, 0, &CellStyle::default())? {
        InferOutcome::Table(table) => Ok(table),
        InferOutcome::ReadAgainAsText(_) => unreachable!("the schema decides the kinds"),
    }
}
