//! Numbers or text: decided over all pieces of a column.
//!
//! A column at least 99 % numeric among its cells that say something is numeric, and a cell that is not a number is an
//! error; any other column is text.

use super::Wanted;
use super::column::RawColumn;
use super::feed::Placed;
use super::source::Input;
use crate::error::{Error, Result};
use crate::table::{Cells, Chunk, Column, Kind, MISSING_TEXT, Origin, RowPlaces, SparseRows, Table};
use rayon::prelude::*;

/// Rows as a reader returns them, columns in the table's order.
#[derive(Debug)]
pub(super) struct RawChunk {
    pub n_rows: usize,
    pub columns: Vec<RawColumn>,
    pub sparse: Option<SparseRows>,
    pub places: Places,
}

/// Where the rows of a raw chunk are, relative to its first line.
#[derive(Debug)]
pub(super) enum Places {
    /// Row `i` is on line `i`.
    Consecutive,
    /// Row `i` is on line `lines[i]`.
    Lines(Vec<u64>),
    /// Row `i` is data row `first + i`.
    Numbered { first: u64 },
}

/// A table, or the columns that are text although a piece kept only their numbers.
pub(super) enum Outcome {
    Table(Table),
    ReadAgainAsText(Vec<usize>),
}

/// Decides the kind of every column and assembles the table.
pub(super) fn assemble(
    inputs: &[Input<'_>],
    names: &[String],
    wanted: &[Wanted],
    pieces: Vec<Placed<RawChunk>>,
    sparse_width: usize,
) -> Result<Outcome> {
    let mut again = Vec::new();
    let mut is_text = vec![false; names.len()];
    for (c, name) in names.iter().enumerate() {
        match decide(inputs, c, name, wanted[c], &pieces)? {
            Decision::Number => {}
            Decision::Text => is_text[c] = true,
            Decision::ReadAgain => again.push(c),
        }
    }
    if !again.is_empty() {
        return Ok(Outcome::ReadAgainAsText(again));
    }

    let levels: Vec<Vec<Box<[u8]>>> = (0..names.len())
        .into_par_iter()
        .map(|c| if is_text[c] { all_levels(&pieces, c) } else { Vec::new() })
        .collect();
    let chunks = pieces.into_par_iter().map(|piece| finish(inputs, piece, &is_text, &levels)).collect();
    let columns = names.iter().zip(is_text).zip(levels).map(|((name, is_text), levels)| {
        // The readers have checked that all text is UTF-8.
        let levels = levels.into_iter().map(|l| String::from_utf8_lossy(&l).into_owned()).collect();
        Column { name: name.clone(), kind: if is_text { Kind::Text { levels } } else { Kind::Number } }
    });
    Ok(Outcome::Table(Table::new(columns.collect(), chunks, sparse_width)))
}

enum Decision {
    Number,
    Text,
    ReadAgain,
}

fn decide(inputs: &[Input<'_>], c: usize, name: &str, wanted: Wanted, pieces: &[Placed<RawChunk>]) -> Result<Decision> {
    let columns = || pieces.iter().map(|p| &p.parsed.columns[c]);
    if wanted == Wanted::Text {
        return Ok(Decision::Text);
    }
    if columns().all(|column| matches!(column, RawColumn::Number(_))) {
        return Ok(Decision::Number);
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
                let counts = text.count();
                present += counts.present;
                numbers += counts.numbers;
                first_text = first_text.or(counts.first_text.map(|found| (piece, found)));
            }
        }
    }
    // In whole numbers: numbers / present >= 99 / 100.
    if let Some((piece, (row, cell))) = first_text
        && (wanted == Wanted::Number || numbers as u128 * 100 >= present as u128 * 99)
    {
        let place = origin(inputs, piece).place(row).column(name);
        return Err(Error::format(format!("{} is not a number", shown(cell))).at(place).help(bad_number_help(name)));
    }
    Ok(if numbers_only { Decision::ReadAgain } else { Decision::Text })
}

/// What to do about a cell that is not a number.
pub(super) fn bad_number_help(column: &str) -> String {
    format!("fix the cell, or read the column as text with `--text {column}`")
}

/// A cell for an error message: quoted, control characters escaped, cut after forty characters.
pub(super) fn shown(cell: &[u8]) -> String {
    let text = String::from_utf8_lossy(cell);
    let mut short: String = text.chars().take(40).flat_map(|c| c.escape_debug().collect::<Vec<_>>()).collect();
    if text.chars().nth(40).is_some() {
        short.push('…');
    }
    format!("`{short}`")
}

/// The distinct cells of a column over all pieces, in byte order.
fn all_levels(pieces: &[Placed<RawChunk>], c: usize) -> Vec<Box<[u8]>> {
    let mut all: Vec<&[u8]> = Vec::new();
    for piece in pieces {
        if let RawColumn::Text(text) = &piece.parsed.columns[c] {
            all.extend(text.distinct());
        }
    }
    all.sort_unstable();
    all.dedup();
    all.into_iter().map(Box::from).collect()
}

fn finish(inputs: &[Input<'_>], piece: Placed<RawChunk>, is_text: &[bool], levels: &[Vec<Box<[u8]>>]) -> Chunk {
    let origin = origin(inputs, &piece);
    let RawChunk { n_rows, columns, sparse, .. } = piece.parsed;
    let cells = columns.into_iter().enumerate().map(|(c, column)| match column {
        RawColumn::Number(_) if is_text[c] => Cells::Text(vec![MISSING_TEXT; n_rows]),
        RawColumn::Number(cells) => cells,
        RawColumn::Text(text) if !is_text[c] => Cells::F64(vec![f64::NAN; text.into_parts().1.len()]),
        RawColumn::Text(text) => {
            let (own, mut codes) = text.into_parts();
            let code: Vec<u32> =
                own.iter().map(|l| levels[c].binary_search(l).map_or(MISSING_TEXT, |at| at as u32)).collect();
            for cell in codes.iter_mut().filter(|code| **code != MISSING_TEXT) {
                *cell = code[*cell as usize];
            }
            Cells::Text(codes)
        }
    });
    Chunk { n_rows, cells: cells.collect(), sparse, origin }
}

fn origin(inputs: &[Input<'_>], piece: &Placed<RawChunk>) -> Origin {
    let first = piece.first_line;
    let rows = match &piece.parsed.places {
        Places::Consecutive => RowPlaces::Consecutive { first },
        Places::Lines(lines) => RowPlaces::Lines(lines.iter().map(|l| first + l).collect()),
        Places::Numbered { first } => RowPlaces::Numbered { first: *first },
    };
    Origin { file: inputs[piece.file].name().clone(), rows }
}
