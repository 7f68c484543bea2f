//! Comma-separated values after RFC 4180, with a header; strict.
//!
//! A quote may only open a cell, a doubled quote inside a quoted cell is a quote, line breaks and delimiters between
//! quotes belong to the cell, lines end in LF or CRLF. Whether a cell is quoted does not change what it says. An empty
//! line is skipped, unless the table has one column: then it is a missing cell.

mod header;
mod parse;
mod unnamed;

use super::feed::{BytePiece, Feed, Flaw, Start, parse_pieces};
use super::infer::{InferOutcome, RawChunk, assemble};
use super::source::Input;
use super::style::CellStyle;
use super::{ReadOptions, Wanted, wanted};
use crate::error::{Error, Place, Result};
use crate::table::{Aside, Table};
use crate::watch::Watch;
use header::Header;
#[cfg(feature = "xlsx")]
pub(super) use header::distinct_names;
pub(super) use header::numbered_names;
#[cfg(any(feature = "arrow", feature = "parquet", feature = "xlsx"))]
pub(super) use header::same_columns;
use parse::CsvLayout;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
#[cfg(feature = "xlsx")]
pub(super) use unnamed::without_unnamed;

/// For so many columns a piece is one size longer, so that a column has more than a few rows in each. Chosen
/// (bench/constants.md).
const WIDE: usize = 512;
/// Pieces of wide tables are at most this many times as long. Chosen (bench/constants.md).
const LONGEST: usize = 16;

/// Reads CSV inputs with the same columns.
pub(super) fn read(
    inputs: &[Input<'_>],
    options: &ReadOptions,
    style: &CellStyle,
    watch: &Watch,
    piece: usize,
) -> Result<Table> {
    let headers = inputs.iter().map(|input| Header::read(input, options)).collect::<Result<Vec<_>>>()?;
    let names = &headers[0].names;
    let orders = (0..inputs.len()).map(|f| headers[f].order(names, inputs, f)).collect::<Result<Vec<_>>>()?;
    let mut wanted = wanted(names, options, inputs[0].name())?;
    // Wide tables get longer pieces, so that a column has more than a few rows in each.
    let piece = piece * (names.len() / WIDE).clamp(1, LONGEST);
    let starts: Vec<Start> = headers.iter().map(|h| h.start).collect();

    loop {
        // Columns in which some piece has met text, so that later pieces keep texts from their first row; only a hint.
        let met_text: Vec<AtomicBool> = wanted.iter().map(|w| AtomicBool::new(*w == Wanted::Text)).collect();
        let feed = Feed::new(inputs, &starts, true, piece);
        // What goes wrong with the disk is no flaw of a piece.
        let disk: Mutex<Option<Error>> = Mutex::new(None);
        let pieces = parse_pieces(feed, watch, |piece: BytePiece<'_>| {
            let (header, order) = (&headers[piece.file], &orders[piece.file]);
            let layout = CsvLayout {
                delimiter: header.delimiter,
                names: &header.names,
                text: order.iter().map(|c| met_text[*c].load(Ordering::Relaxed)).collect(),
                strict: order.iter().map(|c| wanted[*c] == Wanted::Number).collect(),
                style: Some(style).filter(|style| !style.is_plain()),
                blank_lines: options.comment.is_some(),
            };
            let (mut chunk, lines, empty) =
                parse::parse(&piece, layout, |c| met_text[order[c]].store(true, Ordering::Relaxed))?;
            chunk.columns = in_order(chunk.columns, order);
            let chunk = chunk.stored(options.scratch.as_deref()).map_err(|error| {
                disk.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                Flaw::new(0, "the scratch files cannot be written", "")
            })?;
            Ok(((chunk, empty), lines))
        });
        let pieces = match disk.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => return Err(error),
            None => pieces?,
        };
        let (pieces, empty_rows) = unnamed::without_empty_rows(pieces);
        if pieces.iter().all(|p: &super::feed::Placed<RawChunk>| p.parsed.n_rows == 0) {
            return Err(no_rows(&inputs[0], &headers[0]));
        }
        match assemble(inputs, names, &wanted, pieces, 0, style)? {
            InferOutcome::Table(table) => {
                let table = unnamed::without_unnamed(table, inputs, headers[0].start.lines)?;
                let table = unnamed::with_leading_zeros(table, &inputs[0], &headers[0], &wanted)?;
                return Ok(match empty_rows {
                    0 => table,
                    n => table.with_aside(Aside::EmptyRows(n)),
                });
            }
            InferOutcome::ReadAgainAsText(columns) => columns.into_iter().for_each(|c| wanted[c] = Wanted::Text),
        }
    }
}

/// Column `i` of the file moved to place `order[i]` of the table.
fn in_order<T>(columns: Vec<T>, order: &[usize]) -> Vec<T> {
    let mut tagged: Vec<(usize, T)> = order.iter().copied().zip(columns).collect();
    tagged.sort_by_key(|(place, _)| *place);
    tagged.into_iter().map(|(_, column)| column).collect()
}

fn no_rows(input: &Input<'_>, header: &Header) -> Error {
    let help = if header.names.iter().any(|n| n.contains('\r')) {
        "its lines end in CR alone; convert them to LF"
    } else {
        "the first line is always taken as the header; data rows must follow it"
    };
    Error::format("there is a header but no data row").at(Place::file(&**input.name())).help(help)
}
