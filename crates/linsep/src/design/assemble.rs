//! A recipe applied: table chunks to a matrix.

use super::domain::leave_undefined_rows_out;
use super::encoding::Encoding;
use super::fill::Filler;
use super::matching::{check_sparse, check_values, count_missing, find_sources, rows_without_missing, unknown_rows};
use super::packed::PackedTable;
use super::recipe::{Missing, Recipe};
use super::{CsrMatrix, DenseMatrix, Design};
use crate::error::{Error, Result};
use crate::numeric::has_room;
use crate::table::{Chunk, Table};
use crate::words::{Setting, words};
use rayon::prelude::*;
use std::borrow::Borrow;

/// Bytes that a fit keeps beside the matrix for every row (label, weight, score, gradient) and for every unnamed column
/// (weight, gradient, step, units): eight doubles. An estimate that refuses what could not fit in memory.
const PER_ROW_AND_COLUMN: usize = 64;

/// A matrix made from a table.
#[derive(Debug)]
pub enum PreparedDesign {
    /// Dense doubles.
    Dense(DenseMatrix<'static, f64>),
    /// Narrow columns, widened a block at a time.
    Packed(PackedTable),
    /// Compressed sparse rows.
    Sparse(CsrMatrix<'static>),
}

impl PreparedDesign {
    /// The matrix behind the common trait.
    pub fn as_design(&self) -> &dyn Design {
        match self {
            PreparedDesign::Dense(dense) => dense,
            PreparedDesign::Packed(packed) => packed,
            PreparedDesign::Sparse(sparse) => sparse,
        }
    }
}

/// A matrix and the table rows it holds.
#[derive(Debug)]
pub struct Prepared {
    /// The matrix.
    pub design: PreparedDesign,
    /// The table row of each matrix row.
    pub rows: Vec<usize>,
    /// How many of the wanted rows each column left out, columns that left out none not listed.
    pub missing: Vec<(String, usize)>,
    /// How many cells of each column were filled in, columns without any not listed.
    pub filled: Vec<(String, usize)>,
}

impl Recipe {
    /// The matrix of the wanted rows of a table whose columns are matched by name. Rows that miss a needed cell are
    /// treated as the recipe says; extra columns are ignored. A large matrix of products is never made as a whole.
    #[doc(hidden)]
    pub fn apply(&self, table: &Table, wanted: &[bool]) -> Result<Prepared> {
        let (filler, missing, filled) = plan(self, table, wanted)?;
        let rows = filler.rows.clone();
        let chunks: Vec<&Chunk> = table.chunks().iter().collect();
        let design = if self.sparse_width > 0 {
            PreparedDesign::Sparse(sparse(self, &filler, &chunks)?)
        } else if !self.basis.is_none() && PackedTable::pays(&filler, table.chunks()) {
            // The used columns take far less memory than their products would.
            let used = PackedTable::used_columns(&filler, table.chunks());
            PreparedDesign::Packed(PackedTable::new(filler, used))
        } else {
            PreparedDesign::Dense(dense(&filler, chunks)?)
        };
        Ok(Prepared { design, rows, missing, filled })
    }

    /// The same as [`Recipe::apply`], consuming the table: a large table or one of narrow columns serves as the matrix
    /// without a copy, any other is freed chunk by chunk as it is copied.
    #[doc(hidden)]
    pub fn apply_owned(&self, table: Table, wanted: &[bool]) -> Result<Prepared> {
        let (filler, missing, filled) = plan(self, &table, wanted)?;
        let rows = filler.rows.clone();
        let chunks = table.into_chunks();
        let design = if self.sparse_width > 0 {
            PreparedDesign::Sparse(sparse(self, &filler, &chunks)?)
        } else if PackedTable::pays(&filler, &chunks) && !made_once(&filler) {
            PreparedDesign::Packed(PackedTable::new(filler, chunks))
        } else {
            PreparedDesign::Dense(dense(&filler, chunks)?)
        };
        Ok(Prepared { design, rows, missing, filled })
    }
}

/// Whether the matrix is made once although its table would take fewer bytes: functions cost more than reading their values.
fn made_once(filler: &Filler) -> bool {
    filler.formula.is_some() && has_room(filler.rows.len().saturating_mul(filler.cols).saturating_mul(size_of::<f64>()))
}

/// Cells of columns, by name.
type CellCounts = Vec<(String, usize)>;

/// Decides which rows go where before anything is converted; also the missing cells and those that are filled in.
fn plan(recipe: &Recipe, table: &Table, wanted: &[bool]) -> Result<(Filler, CellCounts, CellCounts)> {
    let sources = find_sources(recipe, table)?;
    check_sparse(recipe, table)?;
    let columns: Vec<usize> = sources.iter().filter(|s| s.encoding != Encoding::Missing).map(|s| s.column).collect();
    check_values(table, &columns, wanted)?;
    let present = match recipe.missing {
        Missing::Mean | Missing::Indicator => wanted.to_vec(),
        Missing::Drop | Missing::Error => rows_without_missing(table, &columns, wanted),
    };
    if recipe.missing == Missing::Error
        && let Some(row) = (0..table.n_rows()).find(|r| wanted[*r] && !present[*r])
    {
        let column = columns.iter().find(|c| table.number(row, **c).is_nan());
        let name = column.map(|c| table.columns()[*c].name.clone()).unwrap_or_default();
        return Err(Error::data("a needed cell is missing")
            .at(table.place(row).column(name))
            .help("fill it in")
            .help(words!["choose ", Setting::Missing.any(["drop", "mean", "indicator"])]));
    }
    // A row that is left out for a missing cell may have a level that no row in use has.
    let unknown = unknown_rows(recipe, &sources, table, &present)?;
    let missing = if recipe.missing == Missing::Drop { count_missing(table, &columns, wanted) } else { Vec::new() };
    let filled = if recipe.missing.fills_in() { count_missing(table, &columns, wanted) } else { Vec::new() };
    let rows: Vec<usize> = (0..table.n_rows()).filter(|r| present[*r] && !unknown[*r]).collect();
    let starts: Vec<usize> = (0..=table.chunks().len()).map(|c| table.chunk_start(c)).collect();
    let splits = starts.iter().map(|s| rows.partition_point(|r| r < s)).collect();
    let formula = recipe.formula_columns().cloned();
    let (cols, products) = match &formula {
        Some(formula) => (formula.width(), Vec::new()),
        None => {
            let groups = recipe.groups();
            (groups.width(), groups.products())
        }
    };
    let formula = formula.filter(|f| !f.is_plain());
    let rows_and_columns = rows.len().saturating_add(recipe.sparse_width).saturating_mul(PER_ROW_AND_COLUMN);
    check_room(rows_and_columns, rows.len(), cols + recipe.sparse_width)?;
    let mut filler = Filler { sources, rows, splits, starts, cols, products, formula };
    leave_undefined_rows_out(recipe, &mut filler, table)?;
    Ok((filler, missing, filled))
}

/// Refuses what does not fit in memory, before it is allocated.
fn check_room(bytes: usize, rows: usize, cols: usize) -> Result<()> {
    match has_room(bytes) {
        true => Ok(()),
        false => Err(Error::data(format!("there is not enough memory for {rows} rows and {cols} columns"))
            .help("use fewer rows or columns")
            .help("use a machine with more memory")),
    }
}

fn dense<C: Borrow<Chunk> + Send>(filler: &Filler, chunks: Vec<C>) -> Result<DenseMatrix<'static, f64>> {
    let cells = filler.rows.len().saturating_mul(filler.cols);
    check_room(cells.saturating_mul(size_of::<f64>()), filler.rows.len(), filler.cols)?;
    let mut values = vec![0.0; filler.rows.len() * filler.cols];
    let mut pieces: Vec<(usize, C, &mut [f64])> = Vec::with_capacity(chunks.len());
    let mut left = &mut values[..];
    for (c, chunk) in chunks.into_iter().enumerate() {
        let (piece, rest) = left.split_at_mut((filler.splits[c + 1] - filler.splits[c]) * filler.cols);
        pieces.push((c, chunk, piece));
        left = rest;
    }
    // Each chunk is dropped as soon as it has been copied.
    pieces.into_par_iter().for_each(|(c, chunk, piece)| {
        filler.fill(c, chunk.borrow(), filler.splits[c]..filler.splits[c + 1], piece);
    });
    DenseMatrix::new(values, filler.cols)
}

/// Named columns first, then the unnamed sparse part.
fn sparse<C: Borrow<Chunk>>(recipe: &Recipe, filler: &Filler, chunks: &[C]) -> Result<CsrMatrix<'static>> {
    let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    let mut named = vec![0.0; filler.cols];
    for (c, chunk) in chunks.iter().enumerate() {
        let chunk = chunk.borrow();
        for row in &filler.rows[filler.splits[c]..filler.splits[c + 1]] {
            let i = row - filler.starts[c];
            filler.named_row(chunk, i, &mut named);
            for (j, v) in named.iter().enumerate().filter(|(_, v)| **v != 0.0) {
                indices.push(j as u32);
                values.push(*v);
            }
            if let Some(sparse) = &chunk.sparse {
                for e in sparse.starts[i]..sparse.starts[i + 1] {
                    if (sparse.indices[e] as usize) < recipe.sparse_width {
                        indices.push(sparse.indices[e] + filler.cols as u32);
                        values.push(sparse.values[e]);
                    }
                }
            }
            starts.push(indices.len());
        }
    }
    CsrMatrix::new(starts, indices, values, recipe.n_features())
}
