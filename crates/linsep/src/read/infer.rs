//! Numbers or text: decided over all pieces of a column.
//!
//! A column at least 99 % numeric among its cells that say something is numeric, and a cell that is not a number is an
//! error; any other column is text.

use super::Wanted;
use super::column::{RawColumn, TextColumn};
use super::dictionary::Dictionary;
use super::feed::Placed;
use super::source::{Input, no_room};
use super::style::CellStyle;
use crate::error::{Error, Result};
use crate::numeric::has_room;
use crate::table::{CellScratch, Cells, Chunk, Column, Kind, MISSING_TEXT, Origin, RowPlaces, SparseRows, Table};
use crate::words::{Setting, Words, words};
use rayon::prelude::*;

/// Rows as a reader returns them, columns in the table's order.
#[derive(Debug)]
pub(super) struct RawChunk {
    pub n_rows: usize,
    pub columns: Vec<RawColumn>,
    pub sparse: Option<SparseRows>,
    pub places: CellPlaces,
}

impl RawChunk {
    /// The same rows, with numbers that do not fit into memory in scratch files.
    pub(super) fn stored(mut self, scratch: Option<&CellScratch>) -> Result<RawChunk> {
        let Some(scratch) = scratch else { return Ok(self) };
        for column in &mut self.columns {
            if let RawColumn::Number(cells) = column {
                let kept = std::mem::replace(cells, Cells::I8(Vec::new().into()));
                *cells = scratch.store(kept)?;
            }
        }
        Ok(self)
    }
}

/// Where the rows of a raw chunk are, relative to its first line.
#[derive(Debug)]
pub(super) enum CellPlaces {
    /// Row `i` is on line `i`.
    Consecutive,
    /// Row `i` is on line `lines[i]`.
    Lines(Vec<u64>),
    /// Row `i` is data row `first + i`.
    #[cfg_attr(not(feature = "arrow-arrays"), expect(dead_code, reason = "rows of text have lines"))]
    Numbered { first: u64 },
}

/// A table, or the columns that are text although a piece kept only their numbers.
pub(super) enum InferOutcome {
    Table(Table),
    ReadAgainAsText(Vec<usize>),
}

/// Bytes that whatever is done with a table takes for each of its rows: label, weight, place, score. An estimate.
const PER_ROW: usize = 48;
/// Share of numbers from which on a text cell is taken for a fault, not for the kind of the column. Chosen, not
/// measured.
const NUMBERS: (u128, u128) = (99, 100);
/// Cells for each byte of JSON from which on a table is refused: a cell that is there takes five bytes, so 99 % are
/// missing.
const CELLS_PER_BYTE: usize = 16;
/// Cells that are allowed whatever the bytes: half a gigabyte as doubles.
const FEW_CELLS: usize = 1 << 26;

/// Decides the kind of every column and assembles the table.
pub(super) fn assemble(
    inputs: &[Input<'_>],
    names: &[String],
    wanted: &[Wanted],
    pieces: Vec<Placed<RawChunk>>,
    sparse_width: usize,
    style: &CellStyle,
) -> Result<InferOutcome> {
    let rows: usize = pieces.iter().map(|p| p.parsed.n_rows).sum();
    if !has_room(rows.saturating_mul(PER_ROW)) {
        return Err(no_room(&inputs[0]));
    }
    let mut again = Vec::new();
    let mut is_text = vec![false; names.len()];
    for (c, name) in names.iter().enumerate() {
        match decide(inputs, (c, name), wanted[c], &pieces, style)? {
            KindDecision::Number => {}
            KindDecision::Text => is_text[c] = true,
            KindDecision::ReadAgain => again.push(c),
        }
    }
    if !again.is_empty() {
        return Ok(InferOutcome::ReadAgainAsText(again));
    }

    let levels: Vec<Levels> = (0..names.len())
        .into_par_iter()
        .map(|c| if is_text[c] { Levels::merge(&pieces, c) } else { Levels::default() })
        .collect();
    let chunks =
        pieces.into_par_iter().enumerate().map(|(p, piece)| finish(inputs, p, piece, &is_text, &levels)).collect();
    let columns = names.iter().zip(is_text).zip(levels).map(|((name, is_text), Levels { levels, .. })| Column {
        name: name.clone(),
        kind: if is_text { Kind::Text { levels } } else { Kind::Number },
    });
    Ok(InferOutcome::Table(Table::new(columns.collect(), chunks, sparse_width)))
}

enum KindDecision {
    Number,
    Text,
    ReadAgain,
}

fn decide(
    inputs: &[Input<'_>],
    (c, name): (usize, &str),
    wanted: Wanted,
    pieces: &[Placed<RawChunk>],
    style: &CellStyle,
) -> Result<KindDecision> {
    let columns = || pieces.iter().map(|p| &p.parsed.columns[c]);
    if wanted == Wanted::Text {
        return Ok(KindDecision::Text);
    }
    if columns().all(|column| matches!(column, RawColumn::Number(_))) {
        return Ok(KindDecision::Number);
    }
    let (mut present, mut numbers, mut first_text, mut numbers_only) = (0, 0, None, false);
    for piece in pieces {
        match &piece.parsed.columns[c] {
            RawColumn::Number(cells) => {
                let mut here = 0;
                cells.for_each(|_, v| here += usize::from(!v.is_nan()));
                present += here;
                numbers += here;
                numbers_only |= here > 0;
            }
            RawColumn::Text(text) => {
                let counts = text.count(style);
                present += counts.present;
                numbers += counts.numbers;
                first_text = first_text.or(counts.first_text.map(|found| (piece, found)));
            }
        }
    }
    // In whole numbers: numbers / present >= 99 / 100.
    if let Some((piece, (row, cell))) = first_text
        && (wanted == Wanted::Number || numbers as u128 * NUMBERS.1 >= present as u128 * NUMBERS.0)
    {
        let place = origin(inputs, piece).place(row).column(name);
        return Err(Error::format(format!("{} is not a number", shown(cell))).at(place).help(FIX).help(as_text(name)));
    }
    Ok(if numbers_only { KindDecision::ReadAgain } else { KindDecision::Text })
}

/// Refuses a table that is large and almost all of whose cells are missing: they are kept, a byte or more each, while a
/// cell that is there takes five bytes of JSON. Small ones are nothing to worry about.
pub(super) fn too_sparse(rows: usize, columns: usize, bytes: usize) -> std::result::Result<(), (String, &'static str)> {
    let cells = rows.saturating_mul(columns);
    if cells <= bytes.saturating_mul(CELLS_PER_BYTE).max(FEW_CELLS) {
        return Ok(());
    }
    let message = format!("{columns} different keys in {rows} objects: as a table it would be too large");
    Err((message, "leave out keys that few objects have, or write sparse rows in the LIBSVM format"))
}

/// What to do about a cell that is not a number, if it is not to be [`FIX`]ed.
pub(super) fn as_text(column: &str) -> Words {
    words!["read the column as text with `", Setting::TextColumns.is(column), "`"]
}

/// What to do about a cell that is not a number.
pub(super) const FIX: &str = "fix the cell";

/// A cell for an error message: quoted, control characters escaped, cut after forty characters.
pub(super) fn shown(cell: &[u8]) -> String {
    let text = String::from_utf8_lossy(cell);
    let mut short: String = text.chars().take(40).flat_map(|c| c.escape_debug().collect::<Vec<_>>()).collect();
    if text.chars().nth(40).is_some() {
        short.push('…');
    }
    format!("`{short}`")
}

/// The distinct cells of a text column over all pieces in byte order, and for each piece the codes of its own.
#[derive(Default)]
struct Levels {
    levels: Vec<String>,
    codes: Vec<Vec<u32>>,
}

impl Levels {
    /// One sort of all pieces' cells finds the levels and numbers them at once.
    fn merge(pieces: &[Placed<RawChunk>], c: usize) -> Levels {
        let none = Dictionary::default();
        let seen: Vec<&Dictionary> = pieces
            .iter()
            .map(|piece| match &piece.parsed.columns[c] {
                RawColumn::Text(text) => &text.seen,
                RawColumn::Number(_) => &none,
            })
            .collect();
        let mut all: Vec<(u64, u32, u32)> = Vec::with_capacity(seen.iter().map(|s| s.len()).sum());
        for (p, own) in seen.iter().enumerate() {
            all.extend((0..own.len()).map(|code| (prefix(own.get(code)), p as u32, code as u32)));
        }
        let cell = |entry: &(u64, u32, u32)| seen[entry.1 as usize].get(entry.2 as usize);
        all.par_sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| cell(a).cmp(cell(b))));
        let mut codes: Vec<Vec<u32>> = seen.iter().map(|own| vec![MISSING_TEXT; own.len()]).collect();
        let mut levels: Vec<String> = Vec::new();
        let mut last: Option<&[u8]> = None;
        for entry in &all {
            if last != Some(cell(entry)) {
                // The readers have checked that all text is UTF-8.
                levels.push(String::from_utf8_lossy(cell(entry)).into_owned());
                last = Some(cell(entry));
            }
            codes[entry.1 as usize][entry.2 as usize] = levels.len() as u32 - 1;
        }
        Levels { levels, codes }
    }
}

/// The first eight bytes as a number of the same order, so that most comparisons touch no text.
fn prefix(cell: &[u8]) -> u64 {
    let mut first = [0; 8];
    let n = cell.len().min(8);
    first[..n].copy_from_slice(&cell[..n]);
    u64::from_be_bytes(first)
}

fn finish(inputs: &[Input<'_>], p: usize, piece: Placed<RawChunk>, is_text: &[bool], levels: &[Levels]) -> Chunk {
    let origin = origin(inputs, &piece);
    let RawChunk { n_rows, columns, sparse, .. } = piece.parsed;
    let cells = columns.into_iter().enumerate().map(|(c, column)| match column {
        // All its cells are missing, or it would have been read again.
        RawColumn::Number(_) if is_text[c] => Cells::Text(vec![MISSING_TEXT; n_rows].into()),
        RawColumn::Number(cells) => cells,
        RawColumn::Text(TextColumn { mut codes, .. }) => {
            for code in codes.iter_mut().filter(|code| **code != MISSING_TEXT) {
                *code = levels[c].codes[p][*code as usize];
            }
            Cells::Text(codes.into())
        }
    });
    Chunk { n_rows, cells: cells.collect(), sparse, origin }
}

fn origin(inputs: &[Input<'_>], piece: &Placed<RawChunk>) -> Origin {
    let first = piece.first_line;
    let rows = match &piece.parsed.places {
        CellPlaces::Consecutive => RowPlaces::Consecutive { first },
        CellPlaces::Lines(lines) => RowPlaces::Lines(lines.iter().map(|l| first + l).collect()),
        CellPlaces::Numbered { first } => RowPlaces::Numbered { first: *first },
    };
    Origin { file: inputs[piece.file].name().clone(), rows }
}
