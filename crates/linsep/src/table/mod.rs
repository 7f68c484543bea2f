//! A table as it was read: typed columns in row chunks, missing cells marked, every row traceable to its line.
//!
//! Whole numbers stay as narrow as each chunk allows, so that a table of small counts costs a byte or two per cell until
//! [`crate::design`] turns it, chunk by chunk, into a matrix.

mod cell_values;
mod dates;
mod fingerprint;
mod leakage;
mod names;
mod number_style;
mod places;
mod printed;
mod questions;
mod reading;
mod scratch;
mod scratch_file;
mod style_words;
mod target;
mod unread;

pub use cell_values::CellValues;
pub use dates::DateOrder;
pub use places::{Origin, RowPlaces};
pub use reading::{CellReading, ColumnReading, Reading};
pub use scratch::CellScratch;
pub use target::{Class, Labels, Target};

// For the other stages, the command, the extension and the tests: nothing is promised about these.
#[doc(hidden)]
pub use self::questions::{ColumnQuestion, QuestionCode, questions};
#[doc(hidden)]
pub use self::{dates::Moment, names::NameIndex, number_style::Mark, number_style::NumberStyle, reading::Aside};

pub(crate) use self::dates::{day_of_iso, iso_day, order_of};
pub(crate) use self::questions::{has_leading_zero, unanswered};

use crate::error::{Error, Place, Result, nearest};
use crate::numeric::vectorised;

/// What a column holds, decided over all its cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// Numbers.
    Number,
    /// Text, as codes into its sorted distinct values.
    Text {
        /// Distinct values in byte order.
        levels: Vec<String>,
    },
}

/// Name and kind of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Name from the header.
    pub name: String,
    /// Numbers or text.
    pub kind: Kind,
}

/// The cells of one column in one chunk. A missing cell is the type's minimum for integers,
/// NaN for floats and `u32::MAX` for text codes.
#[derive(Debug, Clone, PartialEq)]
pub enum Cells {
    /// Whole numbers in −127..=127.
    I8(CellValues<i8>),
    /// Whole numbers in −32767..=32767.
    I16(CellValues<i16>),
    /// Whole numbers in −2³¹+1..=2³¹−1.
    I32(CellValues<i32>),
    /// Any numbers.
    F64(CellValues<f64>),
    /// Codes into the column's levels.
    Text(CellValues<u32>),
}

/// The code of a missing text cell.
#[doc(hidden)]
pub const MISSING_TEXT: u32 = u32::MAX;

/// Runs `$body` with `$values` bound to the typed slice and `$number` to its conversion to `f64`.
macro_rules! with_numbers {
    ($cells:expr, |$values:ident, $number:ident| $body:expr) => {
        match $cells {
            Cells::I8($values) => {
                let $number = |v: &i8| if *v == i8::MIN { f64::NAN } else { f64::from(*v) };
                $body
            }
            Cells::I16($values) => {
                let $number = |v: &i16| if *v == i16::MIN { f64::NAN } else { f64::from(*v) };
                $body
            }
            Cells::I32($values) => {
                let $number = |v: &i32| if *v == i32::MIN { f64::NAN } else { f64::from(*v) };
                $body
            }
            Cells::F64($values) => {
                let $number = |v: &f64| *v;
                $body
            }
            Cells::Text($values) => {
                let $number = |v: &u32| if *v == MISSING_TEXT { f64::NAN } else { f64::from(*v) };
                $body
            }
        }
    };
}

impl Cells {
    /// Number of cells.
    pub fn len(&self) -> usize {
        with_numbers!(self, |values, _number| values.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What they take.
    #[doc(hidden)]
    pub fn bytes(&self) -> usize {
        with_numbers!(self, |values, _number| size_of_val(&**values))
    }

    /// Whether they are in a scratch file.
    #[doc(hidden)]
    pub fn is_in_scratch(&self) -> bool {
        with_numbers!(self, |values, _number| values.is_in_scratch())
    }

    /// Cell `i` as a number (a text cell as its code); NaN where missing.
    pub fn number(&self, i: usize) -> f64 {
        with_numbers!(self, |values, number| number(&values[i]))
    }

    /// Whether cell `i` is missing.
    pub fn is_missing(&self, i: usize) -> bool {
        self.number(i).is_nan()
    }

    /// Whether any cell is missing.
    pub fn any_missing(&self) -> bool {
        match self {
            Cells::I8(v) => v.contains(&i8::MIN),
            Cells::I16(v) => v.contains(&i16::MIN),
            Cells::I32(v) => v.contains(&i32::MIN),
            Cells::F64(v) => v.iter().any(|x| x.is_nan()),
            Cells::Text(v) => v.contains(&MISSING_TEXT),
        }
    }

    /// Copies the cells from `first` on as numbers (text as codes); NaN where missing.
    pub fn copy_numbers(&self, first: usize, out: &mut [f64]) {
        let range = first..first + out.len();
        match self {
            Cells::I8(values) => widen_i8(&values[range], out),
            Cells::I16(values) => widen_i16(&values[range], out),
            Cells::I32(values) => widen_i32(&values[range], out),
            Cells::F64(values) => out.copy_from_slice(&values[range]),
            Cells::Text(_) => (0..out.len()).for_each(|i| out[i] = self.number(first + i)),
        }
    }

    /// Calls `each(i, value)` for every cell in order; NaN where missing, the code for text.
    pub fn for_each(&self, mut each: impl FnMut(usize, f64)) {
        with_numbers!(self, |values, number| values.iter().enumerate().for_each(|(i, v)| each(i, number(v))))
    }
}

/// Sparse rows of one chunk in compressed form; zero-based indices strictly increase within a row.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SparseRows {
    /// Row `i` occupies `starts[i]..starts[i + 1]`.
    pub starts: Vec<usize>,
    /// Zero-based column of each entry.
    pub indices: Vec<u32>,
    /// Value of each entry.
    pub values: Vec<f64>,
}

/// Consecutive rows of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Chunk {
    /// Rows in this chunk.
    pub n_rows: usize,
    /// One entry per named column, in the table's order.
    pub cells: Vec<Cells>,
    /// The unnamed sparse columns of these rows, for LIBSVM input.
    pub sparse: Option<SparseRows>,
    /// Where these rows came from.
    pub origin: Origin,
}

/// Typed columns in row chunks.
///
/// ```
/// use linsep::read::{ReadOptions, read_bytes};
/// let table = read_bytes(b"x,kind\n1,a\n2.5,b\n", "demo.csv", &ReadOptions::default())?;
/// assert_eq!(table.n_rows(), 2);
/// assert_eq!(table.number(1, table.column("x")?), 2.5);
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    columns: Vec<Column>,
    chunks: Vec<Chunk>,
    /// Global row number at which each chunk starts, and the total at the end.
    starts: Vec<usize>,
    /// Width of the unnamed sparse part; 0 where there is none.
    sparse_width: usize,
    record: reading::ReadingRecord,
}

impl Table {
    /// Assembles a table; every chunk must have one `Cells` of `n_rows` per column.
    ///
    /// # Panics
    /// If a chunk's shape disagrees with the columns: a defect of the reader, never of the data.
    pub fn new(columns: Vec<Column>, chunks: Vec<Chunk>, sparse_width: usize) -> Table {
        let mut starts = vec![0];
        for chunk in &chunks {
            assert_eq!(chunk.cells.len(), columns.len(), "one Cells per column");
            assert!(chunk.cells.iter().all(|c| c.len() == chunk.n_rows), "columns of one length");
            starts.push(starts[starts.len() - 1] + chunk.n_rows);
        }
        Table { columns, chunks, starts, sparse_width, record: reading::ReadingRecord::default() }
    }

    /// The same table, with cells that do not fit into memory in scratch files.
    pub(crate) fn in_scratch(mut self, scratch: &CellScratch) -> Result<Table> {
        scratch.count_again();
        for cells in self.chunks.iter_mut().flat_map(|chunk| &mut chunk.cells).filter(|cells| !cells.is_in_scratch()) {
            let kept = std::mem::replace(cells, Cells::I8(Vec::new().into()));
            *cells = scratch.store(kept)?;
        }
        Ok(self)
    }

    /// Bytes of cells in memory, and of those in scratch files.
    pub fn stored_bytes(&self) -> (u64, u64) {
        let mut bytes = (0, 0);
        for cells in self.chunks.iter().flat_map(|chunk| &chunk.cells) {
            let place = if cells.is_in_scratch() { &mut bytes.1 } else { &mut bytes.0 };
            *place += cells.bytes() as u64;
        }
        bytes
    }

    /// The same table with a column more, given row by row.
    ///
    /// # Panics
    /// If there is not one cell for every row.
    pub fn with_column(mut self, name: impl Into<String>, kind: Kind, cells: &[f64]) -> Table {
        assert_eq!(cells.len(), self.n_rows(), "every row needs a cell");
        let mut left = cells;
        for chunk in &mut self.chunks {
            let (own, rest) = left.split_at(chunk.n_rows);
            chunk.cells.push(match kind {
                Kind::Number => Cells::F64(own.to_vec().into()),
                Kind::Text { .. } => Cells::Text(own.iter().map(|code| *code as u32).collect()),
            });
            left = rest;
        }
        self.columns.push(Column { name: name.into(), kind });
        self
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.starts[self.starts.len() - 1]
    }

    /// The named columns.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The places of the named columns, for looking many of them up.
    #[doc(hidden)]
    pub fn index(&self) -> NameIndex<'_> {
        NameIndex::new(self.columns.iter().map(|c| c.name.as_str()))
    }

    /// Width of the unnamed sparse part; 0 where there is none.
    pub fn sparse_width(&self) -> usize {
        self.sparse_width
    }

    /// The row chunks in order.
    pub fn chunks(&self) -> &[Chunk] {
        &self.chunks
    }

    /// The row chunks, for a consumer that frees each as it goes.
    pub fn into_chunks(self) -> Vec<Chunk> {
        self.chunks
    }

    /// Global row number of the first row of chunk `c`.
    pub fn chunk_start(&self, c: usize) -> usize {
        self.starts[c]
    }

    /// Index of a named column; the error suggests the nearest names.
    pub fn column(&self, name: &str) -> Result<usize> {
        if let Some(index) = self.columns.iter().position(|c| c.name == name) {
            return Ok(index);
        }
        let names = || self.columns.iter().map(|c| c.name.as_str());
        let near = nearest(name, names());
        let help = if near.is_empty() {
            let shown: Vec<&str> = names().take(12).collect();
            let more = if self.columns.len() > shown.len() { ", …" } else { "" };
            format!("the columns are: {}{more}", shown.join(", "))
        } else {
            format!("did you mean `{}`?", near.join("`, `"))
        };
        let file = self.chunks.first().map(|c| Place::file(&*c.origin.file)).unwrap_or_default();
        Err(Error::data(format!("there is no column `{name}`")).at(file).help(help))
    }

    /// Chunk and row within it of a global row.
    pub fn locate(&self, row: usize) -> (usize, usize) {
        let chunk = self.starts.partition_point(|s| *s <= row) - 1;
        (chunk, row - self.starts[chunk])
    }

    /// Where a row came from.
    pub fn place(&self, row: usize) -> Place {
        let (chunk, i) = self.locate(row);
        self.chunks[chunk].origin.place(i)
    }

    /// One cell as a number (a text cell as its code); NaN where missing.
    pub fn number(&self, row: usize, column: usize) -> f64 {
        let (chunk, i) = self.locate(row);
        self.chunks[chunk].cells[column].number(i)
    }

    /// One cell as text: the level, or the number in its shortest form; empty where missing.
    pub fn text(&self, row: usize, column: usize) -> String {
        let value = self.number(row, column);
        match &self.columns[column].kind {
            _ if value.is_nan() => String::new(),
            Kind::Text { levels } => levels[value as usize].clone(),
            Kind::Number => format!("{value}"),
        }
    }
}

vectorised! {
    fn widen_i8(values: &[i8], out: &mut [f64]) {
        for (o, v) in out.iter_mut().zip(values) {
            *o = if *v == i8::MIN { f64::NAN } else { f64::from(*v) };
        }
    }

    fn widen_i16(values: &[i16], out: &mut [f64]) {
        for (o, v) in out.iter_mut().zip(values) {
            *o = if *v == i16::MIN { f64::NAN } else { f64::from(*v) };
        }
    }

    fn widen_i32(values: &[i32], out: &mut [f64]) {
        for (o, v) in out.iter_mut().zip(values) {
            *o = if *v == i32::MIN { f64::NAN } else { f64::from(*v) };
        }
    }

    /// One zero and one NaN.
    fn canonical(values: &mut [f64]) {
        for v in values {
            *v = if v.is_nan() { f64::NAN } else { *v + 0.0 };
        }
    }

    /// Adds one product per cell: the two halves of its bits, each hidden by a key of the column and the row.
    fn sum_cells(values: &[f64], salt: u64, first_row: u64, sum: &mut u64) {
        let mut total = 0u64;
        for (i, value) in values.iter().enumerate() {
            let key = salt.wrapping_add((first_row + i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let hidden = value.to_bits() ^ key;
            total = total.wrapping_add((hidden & 0xffff_ffff).wrapping_mul(hidden >> 32)).wrapping_add(hidden);
        }
        *sum = sum.wrapping_add(total);
    }
}
