//! A table used as a matrix: narrow integers stay narrow and become doubles a block at a time.
//!
//! For a table of small counts this is an eighth of the memory, and a pass reads an eighth of the bytes. For doubles it
//! saves the second copy; turning columns into rows again in every pass costs about what reading that copy would. The
//! products of a basis are made a block at a time, too, from the columns; a transform is applied once, to the columns.

use super::encoding::Encoding;
use super::fill::Filler;
use super::{Block, Dense, Design, Shape, Tile};
use crate::error::Result;
use crate::table::{Cells, Chunk};
use rayon::prelude::*;
use std::ops::Range;

/// Bytes of a matrix that no common cache holds: the table is then read as it is, in fewer bytes.
const LARGE: usize = 32 << 20;

/// The kept rows and used columns of a table.
#[derive(Debug)]
pub struct PackedTable {
    filler: Filler,
    chunks: Vec<Chunk>,
}

impl PackedTable {
    /// Whether the table itself is the better matrix: the dense one would be large, or four times as large, or it would bring
    /// into memory what was kept out of it.
    pub(super) fn pays(filler: &Filler, chunks: &[Chunk]) -> bool {
        let width = |cells: &Cells| match cells {
            Cells::I8(_) => 1,
            Cells::I16(_) => 2,
            Cells::I32(_) | Cells::Text(_) => 4,
            Cells::F64(_) => 8,
        };
        let bytes = |encoding: &Encoding, cells: &Cells| match encoding {
            Encoding::Quantile { .. } => 8,
            _ => width(cells),
        };
        let used = |chunk: &Chunk| {
            filler.sources.iter().map(|s| chunk.n_rows * bytes(&s.encoding, &chunk.cells[s.column])).sum::<usize>()
        };
        // A transform is applied to the columns once, where missing cells are filled in and could not be told any more.
        let has = |kind: fn(&Encoding) -> bool| filler.sources.iter().any(|s| kind(&s.encoding));
        if has(|e| matches!(e, Encoding::Quantile { .. })) && has(|e| *e == Encoding::Missing) {
            return false;
        }
        let packed: usize = chunks.iter().map(used).sum();
        let matrix = 8 * filler.rows.len() * filler.cols;
        let scratch = chunks.iter().any(|chunk| chunk.cells.iter().any(Cells::is_in_scratch));
        scratch || matrix > LARGE || 4 * packed <= matrix
    }

    /// Copies of the chunks of a table with the columns that are used.
    pub(super) fn used_columns(filler: &Filler, chunks: &[Chunk]) -> Vec<Chunk> {
        let uses = filler.uses(chunks);
        let copy = |chunk: &Chunk| {
            let cells = chunk.cells.iter().zip(&uses);
            Chunk {
                cells: cells.map(|(cells, used)| if used.is_some() { cells.clone() } else { unused() }).collect(),
                sparse: None,
                n_rows: chunk.n_rows,
                origin: chunk.origin.clone(),
            }
        };
        chunks.iter().map(copy).collect()
    }

    /// Keeps the columns that are used and frees the others.
    pub(super) fn new(mut filler: Filler, mut chunks: Vec<Chunk>) -> PackedTable {
        let uses = filler.uses(&chunks);
        chunks.par_iter_mut().for_each(|chunk| {
            for (cells, used) in chunk.cells.iter_mut().zip(&uses) {
                match used.map(|source| &filler.sources[source]) {
                    None => *cells = unused(),
                    Some(source) if matches!(source.encoding, Encoding::Quantile { .. }) => {
                        let mut numbers = vec![0.0; cells.len()];
                        cells.copy_numbers(0, &mut numbers);
                        source.encode_numbers(&mut numbers);
                        *cells = Cells::F64(numbers.into());
                    }
                    Some(_) => {}
                }
            }
        });
        for source in filler.sources.iter_mut().filter(|s| matches!(s.encoding, Encoding::Quantile { .. })) {
            source.encoding = Encoding::Number { mean: None, printed: None };
        }
        PackedTable { filler, chunks }
    }
}

/// A column that is never read.
fn unused() -> Cells {
    Cells::I8(Vec::new().into())
}

impl Design for PackedTable {
    fn shape(&self) -> Shape {
        Shape { rows: self.filler.rows.len(), cols: self.filler.cols }
    }

    fn block<'a>(&'a self, rows: Range<usize>, tile: &'a mut Tile) -> Result<Block<'a>> {
        let cols = self.filler.cols;
        tile.values.resize(rows.len() * cols, 0.0);
        let mut done = rows.start;
        let mut c = self.filler.splits.partition_point(|s| *s <= rows.start).saturating_sub(1);
        while done < rows.end {
            let end = self.filler.splits[c + 1].min(rows.end);
            let piece = &mut tile.values[(done - rows.start) * cols..(end - rows.start) * cols];
            self.filler.fill(c, &self.chunks[c], done..end, piece);
            done = end;
            c += 1;
        }
        Ok(Block::F64(Dense { values: &tile.values, cols }))
    }
}
