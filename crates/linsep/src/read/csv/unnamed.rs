//! What other programs leave in their files: row names without a header, columns and rows without cells, codes with leading
//! zeros.

use super::header::{Header, NAMELESS, ROW_NAMES, no_name};
use super::parse::for_each_cell;
use crate::error::{Error, Result};
use crate::read::Wanted;
use crate::read::column::RawColumn;
use crate::read::feed::{PADDING, Placed};
use crate::read::infer::{CellPlaces, RawChunk, shown};
use crate::read::number::trim_spaces;
use crate::read::source::Input;
use crate::table::{Aside, Kind, Table, has_leading_zero};
use std::collections::BTreeMap;
use std::io::Read;
use std::sync::Arc;

/// Bytes in which leading zeros are looked for. Chosen; only a note depends on it.
const LOOKED_AT: u64 = 64 << 10;

/// The pieces without the rows at the end of each file that are delimiters and nothing else, and how many there were.
pub(super) fn without_empty_rows(pieces: Vec<Placed<(RawChunk, usize)>>) -> (Vec<Placed<RawChunk>>, usize) {
    let mut all = 0;
    let mut at_end = true;
    let mut after = usize::MAX;
    let mut kept: Vec<Placed<RawChunk>> = Vec::with_capacity(pieces.len());
    for Placed { file, first_line, parsed: (mut chunk, empty) } in pieces.into_iter().rev() {
        at_end |= file != after;
        after = file;
        let rows = chunk.n_rows - if at_end { empty } else { 0 };
        // A piece of such rows alone: those before it are at the end, too.
        at_end &= rows == 0;
        all += chunk.n_rows - rows;
        if rows < chunk.n_rows {
            chunk.n_rows = rows;
            chunk.columns.iter_mut().for_each(|column| column.truncate(rows));
            if let CellPlaces::Lines(lines) = &mut chunk.places {
                lines.truncate(rows);
            }
        }
        kept.push(Placed { file, first_line, parsed: chunk });
    }
    kept.reverse();
    (kept, all)
}

/// The table without row names and without columns at the end that have neither names nor cells.
pub(in crate::read) fn without_unnamed(mut table: Table, inputs: &[Input<'_>], lines: u64) -> Result<Table> {
    let mut empty = 0;
    while let Some(number) = table.columns().last().and_then(|c| c.name.strip_prefix(NAMELESS)) {
        let (column, number) = (table.columns().len() - 1, number.to_owned());
        if let Some(row) = (0..table.n_rows()).find(|row| !table.number(*row, column).is_nan()) {
            let cell = table.text(row, column);
            return Err(Error::format(format!("column {number} has no name, but holds {}", shown(cell.as_bytes())))
                .at(table.place(row))
                .help("name it in the header")
                .help("remove its cells"));
        }
        table.remove_column(column);
        empty += 1;
    }
    if table.columns().first().is_some_and(|c| c.name == ROW_NAMES) {
        if !is_unique(&table) {
            return Err(no_name(1).into_error(inputs[0].name(), lines.max(1)));
        }
        table.remove_column(0);
        table = table.with_aside(Aside::RowNames);
    }
    Ok(if empty > 0 { table.with_aside(Aside::EmptyColumns(empty)) } else { table })
}

/// Whether no two rows of a file have the same first cell.
fn is_unique(table: &Table) -> bool {
    let mut cells: Vec<(&str, f64)> = Vec::with_capacity(table.n_rows());
    for chunk in table.chunks() {
        chunk.cells[0].for_each(|_, v| cells.push((&chunk.origin.file, v)));
    }
    cells.sort_by(|a, b| a.0.cmp(b.0).then(a.1.total_cmp(&b.1)));
    cells.windows(2).all(|w| w[0].0 != w[1].0 || w[0].1 != w[1].1)
}

/// Remembers columns of numbers that are written with leading zeros, as far as the first rows show it.
pub(super) fn with_leading_zeros(table: Table, input: &Input<'_>, header: &Header, wanted: &[Wanted]) -> Result<Table> {
    let mut reader = input.open(&Arc::default())?;
    std::io::copy(&mut reader.by_ref().take(header.start.skip), &mut std::io::sink()).map_err(|e| input.failed(&e))?;
    let mut bytes = Vec::new();
    reader.take(LOOKED_AT).read_to_end(&mut bytes).map_err(|e| input.failed(&e))?;
    // The last record may be cut.
    bytes.truncate(bytes.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1));
    bytes.resize(bytes.len() + PADDING, 0);
    let mut found: Vec<Option<(String, u64)>> = vec![None; header.names.len()];
    for_each_cell(&bytes, header.delimiter, |line, column, cell| {
        let cell = trim_spaces(cell);
        if has_leading_zero(cell)
            && let Some(found) = found.get_mut(column)
            && found.is_none()
        {
            *found = Some((String::from_utf8_lossy(cell).into_owned(), header.start.lines + 1 + line));
        }
    });
    if found.iter().all(Option::is_none) {
        return Ok(table);
    }
    let places: BTreeMap<&str, usize> =
        table.columns().iter().enumerate().map(|(at, column)| (column.name.as_str(), at)).collect();
    let mut asides = Vec::new();
    for (c, (name, found)) in header.names.iter().zip(found).enumerate() {
        if let (Some((example, line)), Some(column)) = (found, places.get(name.as_str()))
            && table.columns()[*column].kind == Kind::Number
            && wanted[c] != Wanted::Number
        {
            asides.push(Aside::LeadingZeros { column: name.clone(), example, line });
        }
    }
    Ok(asides.into_iter().fold(table, Table::with_aside))
}

impl RawColumn {
    fn truncate(&mut self, rows: usize) {
        match self {
            RawColumn::Number(cells) => cells.truncate(rows),
            RawColumn::Text(text) => text.codes.truncate(rows),
        }
    }
}
