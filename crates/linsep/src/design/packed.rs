//! A table used as a matrix: narrow integers stay narrow and become doubles a block at a time.
//!
//! For a table of small counts this is an eighth of the memory, and a pass reads an eighth of the bytes. For doubles it
//! saves the second copy; turning columns into rows again in every pass costs about what reading that copy would.

use super::fill::Filler;
use super::{Block, Dense, Design, Shape, Tile};
use crate::error::Result;
use crate::table::{Cells, Chunk};
use std::ops::Range;

/// Bytes of a matrix that no longer fits a cache.
const LARGE: usize = 32 << 20;

/// The kept rows and used columns of a table.
#[derive(Debug)]
pub struct PackedTable {
    filler: Filler,
    chunks: Vec<Chunk>,
}

impl PackedTable {
    /// Whether the table is better used as it is: the matrix would be large, or four times as large.
    pub(super) fn pays(filler: &Filler, chunks: &[Chunk]) -> bool {
        let width = |cells: &Cells| match cells {
            Cells::I8(_) => 1,
            Cells::I16(_) => 2,
            Cells::I32(_) | Cells::Text(_) => 4,
            Cells::F64(_) => 8,
        };
        let used =
            |chunk: &Chunk| filler.sources.iter().map(|s| chunk.n_rows * width(&chunk.cells[s.column])).sum::<usize>();
        let packed: usize = chunks.iter().map(used).sum();
        let matrix = 8 * filler.rows.len() * filler.cols;
        matrix > LARGE || 4 * packed <= matrix
    }

    /// Keeps the columns that are used and frees the others.
    pub(super) fn new(filler: Filler, mut chunks: Vec<Chunk>) -> PackedTable {
        for chunk in &mut chunks {
            for (column, cells) in chunk.cells.iter_mut().enumerate() {
                if filler.sources.iter().all(|s| s.column != column) {
                    *cells = Cells::I8(Vec::new());
                }
            }
        }
        PackedTable { filler, chunks }
    }
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
