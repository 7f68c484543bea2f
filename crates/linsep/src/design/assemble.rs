//! A recipe applied: table chunks to matrix rows.

use super::recipe::{Encoding, Missing, Recipe, UnknownLevel};
use super::{CsrMatrix, DenseMatrix, Design};
use crate::error::{Error, Place, Result};
use crate::table::{Cells, Chunk, Kind, Table};
use rayon::prelude::*;

/// Beyond this a square overflows in sums over many rows; such a column is refused where it can still be named.
const LARGEST: f64 = 1e150;

/// A matrix made from a table.
#[derive(Debug)]
pub enum PreparedDesign {
    /// Dense doubles.
    Dense(DenseMatrix<'static, f64>),
    /// Compressed sparse rows.
    Sparse(CsrMatrix),
}

impl PreparedDesign {
    /// The matrix behind the common face.
    pub fn as_design(&self) -> &dyn Design {
        match self {
            PreparedDesign::Dense(dense) => dense,
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
}

/// A recipe column found in a table: where, and how its codes translate.
struct Source<'r> {
    column: usize,
    encoding: &'r Encoding,
    /// For text: matrix offset per table level; `Unknown` has none.
    levels: Vec<Option<Indicator>>,
    first: usize,
    width: usize,
}

#[derive(Clone, Copy)]
enum Indicator {
    At(usize),
    Reference,
}

impl Recipe {
    /// The matrix of the wanted rows of a table whose columns are matched by name. Rows that miss a needed cell are
    /// treated as the recipe says; extra columns are ignored.
    pub fn apply(&self, table: &Table, wanted: &[bool]) -> Result<Prepared> {
        let plan = Plan::new(self, table, wanted)?;
        let n = plan.rows.len();
        let values = if self.sparse_width > 0 { Vec::new() } else { vec![0.0; n * self.n_features()] };
        let chunks: Vec<&Chunk> = table.chunks().iter().collect();
        plan.finish(self, chunks, values)
    }

    /// The same as [`Recipe::apply`], freeing the table chunk by chunk so that it and the matrix never stand in full
    /// beside each other.
    pub fn apply_owned(&self, table: Table, wanted: &[bool]) -> Result<Prepared> {
        let plan = Plan::new(self, &table, wanted)?;
        let n = plan.rows.len();
        let values = if self.sparse_width > 0 { Vec::new() } else { vec![0.0; n * self.n_features()] };
        plan.finish(self, table.into_chunks(), values)
    }
}

/// Which rows go where, decided before anything is converted.
struct Plan<'r> {
    sources: Vec<Source<'r>>,
    /// Table rows kept, in order.
    rows: Vec<usize>,
    /// `rows[splits[c]..splits[c + 1]]` lie in chunk c, which starts at table row `starts[c]`.
    splits: Vec<usize>,
    starts: Vec<usize>,
    missing: Vec<(String, usize)>,
}

impl<'r> Plan<'r> {
    fn new(recipe: &'r Recipe, table: &Table, wanted: &[bool]) -> Result<Plan<'r>> {
        let sources = find_sources(recipe, table)?;
        check_sparse(recipe, table)?;
        let columns: Vec<usize> = sources.iter().map(|s| s.column).collect();
        check_values(table, &columns, wanted)?;
        let unknown = unknown_rows(recipe, &sources, table, wanted)?;
        let present = match recipe.missing {
            Missing::Mean => wanted.to_vec(),
            Missing::Drop | Missing::Error => rows_without_missing(table, &columns, wanted),
        };
        if recipe.missing == Missing::Error
            && let Some(row) = (0..table.n_rows()).find(|r| wanted[*r] && !present[*r])
        {
            let column = columns.iter().find(|c| table.number(row, **c).is_nan());
            let name = column.map(|c| table.columns()[*c].name.clone()).unwrap_or_default();
            return Err(Error::data("a needed cell is missing")
                .at(table.place(row).column(name))
                .help("fill it in, or choose --missing drop or --missing mean"));
        }
        let missing = if recipe.missing == Missing::Drop { count_missing(table, &columns, wanted) } else { Vec::new() };
        let rows: Vec<usize> = (0..table.n_rows()).filter(|r| present[*r] && !unknown[*r]).collect();
        let starts: Vec<usize> = (0..=table.chunks().len()).map(|c| table.chunk_start(c)).collect();
        let splits = starts.iter().map(|s| rows.partition_point(|r| r < s)).collect();
        Ok(Plan { sources, rows, splits, starts, missing })
    }

    fn finish<C: std::borrow::Borrow<Chunk> + Send + Sync>(
        self,
        recipe: &Recipe,
        chunks: Vec<C>,
        mut values: Vec<f64>,
    ) -> Result<Prepared> {
        let design = if recipe.sparse_width > 0 {
            PreparedDesign::Sparse(self.sparse(recipe, &chunks)?)
        } else {
            let cols = recipe.n_features();
            let mut pieces: Vec<(usize, C, &mut [f64])> = Vec::with_capacity(chunks.len());
            let mut left = &mut values[..];
            for (c, chunk) in chunks.into_iter().enumerate() {
                let (piece, rest) = left.split_at_mut((self.splits[c + 1] - self.splits[c]) * cols);
                pieces.push((c, chunk, piece));
                left = rest;
            }
            pieces.into_par_iter().for_each(|(c, chunk, piece)| self.fill(c, chunk.borrow(), cols, piece));
            PreparedDesign::Dense(DenseMatrix::new(values, cols)?)
        };
        Ok(Prepared { design, rows: self.rows, missing: self.missing })
    }

    /// Writes the kept rows of one chunk, some rows at a time so that the matrix rows stay in cache while each column
    /// of the chunk is read along.
    fn fill(&self, c: usize, chunk: &Chunk, cols: usize, out: &mut [f64]) {
        let rows = &self.rows[self.splits[c]..self.splits[c + 1]];
        for (group, out) in rows.chunks(64).zip(out.chunks_mut(64 * cols.max(1))) {
            for source in &self.sources {
                let cells = &chunk.cells[source.column];
                let at = |i: usize| group[i] - self.starts[c];
                let number = |cells: &Cells, out: &mut [f64]| {
                    for i in 0..group.len() {
                        out[i * cols + source.first] = cells.number(at(i));
                    }
                };
                match (source.encoding, cells) {
                    (Encoding::Number { mean }, cells) => {
                        number(cells, out);
                        if let Some(mean) = mean {
                            out.iter_mut()
                                .skip(source.first)
                                .step_by(cols)
                                .filter(|v| v.is_nan())
                                .for_each(|v| *v = *mean);
                        }
                    }
                    (Encoding::Levels { reference, shares, .. }, cells) => {
                        for i in 0..group.len() {
                            let code = cells.number(at(i));
                            let row = &mut out[i * cols + source.first..][..source.width];
                            if code.is_nan() {
                                let shares = shares.as_deref().unwrap_or(&[]);
                                let skip = usize::from(reference.is_some());
                                row.iter_mut().zip(shares.iter().skip(skip)).for_each(|(v, s)| *v = *s);
                            } else if let Some(Indicator::At(offset)) = source.levels[code as usize] {
                                row[offset] = 1.0;
                            }
                        }
                    }
                }
            }
        }
    }

    /// Named numeric columns first, then the unnamed sparse part.
    fn sparse<C: std::borrow::Borrow<Chunk>>(&self, recipe: &Recipe, chunks: &[C]) -> Result<CsrMatrix> {
        let named = recipe.n_features() - recipe.sparse_width;
        let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        let mut row_values = vec![0.0; named];
        for (c, chunk) in chunks.iter().enumerate() {
            let chunk = chunk.borrow();
            for r in &self.rows[self.splits[c]..self.splits[c + 1]] {
                let i = r - self.starts[c];
                self.named_row(chunk, i, &mut row_values);
                for (j, v) in row_values.iter().enumerate().filter(|(_, v)| **v != 0.0) {
                    indices.push(j as u32);
                    values.push(*v);
                }
                if let Some(sparse) = &chunk.sparse {
                    for e in sparse.starts[i]..sparse.starts[i + 1] {
                        if (sparse.indices[e] as usize) < recipe.sparse_width {
                            indices.push(sparse.indices[e] + named as u32);
                            values.push(sparse.values[e]);
                        }
                    }
                }
                starts.push(indices.len());
            }
        }
        CsrMatrix::new(starts, indices, values, recipe.n_features())
    }

    fn named_row(&self, chunk: &Chunk, i: usize, out: &mut [f64]) {
        out.fill(0.0);
        for source in &self.sources {
            let value = chunk.cells[source.column].number(i);
            match source.encoding {
                Encoding::Number { mean } => {
                    out[source.first] = if value.is_nan() { mean.unwrap_or(value) } else { value }
                }
                Encoding::Levels { .. } if value.is_nan() => {}
                Encoding::Levels { .. } => {
                    if let Some(Indicator::At(offset)) = source.levels[value as usize] {
                        out[source.first + offset] = 1.0;
                    }
                }
            }
        }
    }
}

/// Finds every recipe column by name; all that are absent are named at once.
fn find_sources<'r>(recipe: &'r Recipe, table: &Table) -> Result<Vec<Source<'r>>> {
    let position = |name: &str| table.columns().iter().position(|c| c.name == name);
    let absent: Vec<&str> =
        recipe.columns.iter().map(|c| c.name.as_str()).filter(|name| position(name).is_none()).collect();
    if !absent.is_empty() {
        let file = table.chunks().first().map(|c| Place::file(&*c.origin.file)).unwrap_or_default();
        let names: Vec<&str> = table.columns().iter().map(|c| c.name.as_str()).take(12).collect();
        return Err(Error::data(format!("the model needs columns that are absent: `{}`", absent.join("`, `")))
            .at(file)
            .help(format!("the columns are: {}; they are matched by name, in any order", names.join(", "))));
    }
    let mut sources = Vec::with_capacity(recipe.columns.len());
    let mut first = 0;
    for recipe_column in &recipe.columns {
        let column = position(&recipe_column.name).unwrap_or(0);
        let levels = match (&recipe_column.encoding, &table.columns()[column].kind) {
            (Encoding::Number { .. }, Kind::Number) => Vec::new(),
            (Encoding::Levels { levels, reference, .. }, Kind::Text { levels: present }) => {
                present.iter().map(|p| translate(p, levels, reference.as_deref())).collect()
            }
            (Encoding::Number { .. }, Kind::Text { levels }) => return Err(kind_error(table, column, levels.first())),
            (Encoding::Levels { .. }, Kind::Number) => {
                return Err(Error::data(format!("column `{}` was text when the model was fitted", recipe_column.name))
                    .help(format!("read it as text: --text {}", recipe_column.name)));
            }
        };
        let width = recipe_column.width();
        sources.push(Source { column, encoding: &recipe_column.encoding, levels, first, width });
        first += width;
    }
    Ok(sources)
}

fn translate(level: &str, known: &[String], reference: Option<&str>) -> Option<Indicator> {
    let at = known.binary_search_by(|k| k.as_str().cmp(level)).ok()?;
    Some(match reference {
        Some(r) if r == level => Indicator::Reference,
        Some(_) => Indicator::At(at - 1),
        None => Indicator::At(at),
    })
}

fn kind_error(table: &Table, column: usize, example: Option<&String>) -> Error {
    let name = &table.columns()[column].name;
    let row = (0..table.n_rows()).find(|r| !table.number(*r, column).is_nan()).unwrap_or(0);
    let example = example.map(|e| format!(" (for example `{e}`)")).unwrap_or_default();
    Error::data(format!("the model needs numbers in column `{name}`, but it holds text{example}"))
        .at(table.place(row).column(name.clone()))
        .help("correct the column; the first row with text is named above")
}

fn check_sparse(recipe: &Recipe, table: &Table) -> Result<()> {
    if recipe.sparse_width > 0 && table.sparse_width() == 0 && recipe.columns.is_empty() {
        return Err(Error::data("the model was fitted on LIBSVM data, but this table has no such columns")
            .help("give it a file in the LIBSVM format"));
    }
    Ok(())
}

/// Refuses infinite values and values whose square overflows, with their place.
fn check_values(table: &Table, columns: &[usize], wanted: &[bool]) -> Result<()> {
    for (c, chunk) in table.chunks().iter().enumerate() {
        let start = table.chunk_start(c);
        for column in columns {
            let Cells::F64(values) = &chunk.cells[*column] else { continue };
            // NaN is a missing cell and compares false.
            if !values.iter().any(|v| v.abs() > LARGEST) {
                continue;
            }
            let Some(i) = (0..values.len()).find(|i| values[*i].abs() > LARGEST && wanted[start + i]) else { continue };
            let place = chunk.origin.place(i).column(&table.columns()[*column].name);
            let error = if values[i].is_infinite() {
                Error::data("the value is infinite").help("correct it, leave the row out, or mark it as missing")
            } else {
                Error::data(format!("{:e} is too large: its square overflows", values[i]))
                    .help("rescale the column, or leave it out with --drop")
            };
            return Err(error.at(place));
        }
        if let Some(sparse) = &chunk.sparse
            && let Some(e) = sparse.values.iter().position(|v| !v.is_finite() || v.abs() > LARGEST)
        {
            let i = sparse.starts.partition_point(|s| *s <= e) - 1;
            let place = chunk.origin.place(i).column((sparse.indices[e] + 1).to_string());
            return Err(Error::data(format!(
                "{:e} is not usable: it is not finite or its square overflows",
                sparse.values[e]
            ))
            .at(place)
            .help("correct or rescale it"));
        }
    }
    Ok(())
}

/// Rows with a level that training has not seen, treated as the recipe says.
fn unknown_rows(recipe: &Recipe, sources: &[Source<'_>], table: &Table, wanted: &[bool]) -> Result<Vec<bool>> {
    let mut unknown = vec![false; table.n_rows()];
    if recipe.unknown == UnknownLevel::Zero {
        return Ok(unknown);
    }
    for source in sources.iter().filter(|s| s.levels.iter().any(Option::is_none)) {
        for row in 0..table.n_rows() {
            let code = table.number(row, source.column);
            if !wanted[row] || code.is_nan() || source.levels[code as usize].is_some() {
                continue;
            }
            if recipe.unknown == UnknownLevel::Error {
                let name = &table.columns()[source.column].name;
                let Encoding::Levels { levels, .. } = source.encoding else { continue };
                let level = table.text(row, source.column);
                return Err(Error::data(format!("`{level}` was not seen when the model was fitted"))
                    .at(table.place(row).column(name.clone()))
                    .help(format!(
                        "known levels: {}; --unknown missing predicts nothing for such rows, --unknown zero ignores the cell",
                        levels.join(", ")
                    )));
            }
            unknown[row] = true;
        }
    }
    Ok(unknown)
}

/// The wanted rows that have all these cells.
pub(super) fn rows_without_missing(table: &Table, columns: &[usize], wanted: &[bool]) -> Vec<bool> {
    let mut keep = wanted.to_vec();
    for (c, chunk) in table.chunks().iter().enumerate() {
        let start = table.chunk_start(c);
        for column in columns {
            let cells = &chunk.cells[*column];
            if cells.any_missing() {
                cells.for_each(|i, v| keep[start + i] &= !v.is_nan());
            }
        }
    }
    keep
}

fn count_missing(table: &Table, columns: &[usize], wanted: &[bool]) -> Vec<(String, usize)> {
    let mut counts = vec![0usize; columns.len()];
    for (c, chunk) in table.chunks().iter().enumerate() {
        let start = table.chunk_start(c);
        for (count, column) in counts.iter_mut().zip(columns) {
            let cells = &chunk.cells[*column];
            if cells.any_missing() {
                cells.for_each(|i, v| *count += usize::from(v.is_nan() && wanted[start + i]));
            }
        }
    }
    let named = columns.iter().zip(counts).filter(|(_, n)| *n > 0);
    named.map(|(c, n)| (table.columns()[*c].name.clone(), n)).collect()
}
