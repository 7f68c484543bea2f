//! A table of results with one line per row of a table: CSV, TSV, JSON lines, Parquet or Arrow, by the ending of its name.

use crate::exit::Ending;
use crate::output::{ended, quoted};
use linsep::artifact::write_atomic;
use linsep::table::{Kind, Table};
use linsep::{Error, Result};
use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

/// How a sheet is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SheetFormat {
    /// Comma-separated values.
    Csv,
    /// Tab-separated values.
    Tsv,
    /// One JSON object to a line.
    JsonLines,
    /// Apache Parquet.
    Parquet,
    /// Arrow's file format.
    Arrow,
}

impl SheetFormat {
    /// By the ending of a name; standard output and names without one are CSV.
    pub fn of(output: &str) -> Result<SheetFormat> {
        let ending = Path::new(output).extension().map(|e| e.to_string_lossy().to_lowercase());
        Ok(match ending.as_deref() {
            None | Some("csv") => SheetFormat::Csv,
            Some("tsv" | "tab") => SheetFormat::Tsv,
            Some("jsonl" | "ndjson") => SheetFormat::JsonLines,
            Some("parquet" | "pq") => SheetFormat::Parquet,
            Some("arrow" | "feather" | "ipc") => SheetFormat::Arrow,
            Some(other) => {
                return Err(Error::usage(format!("`.{other}` is no format that is written"))
                    .help("end the name in .csv, .tsv, .jsonl, .parquet or .arrow"));
            }
        })
    }
}

/// Columns copied from the input and columns of results; rows without results keep them empty.
pub struct Sheet<'a> {
    /// The input.
    pub table: &'a Table,
    /// Its columns to copy in front.
    pub keep: &'a [usize],
    /// Names of the columns of results.
    pub header: Vec<String>,
    /// The table row of each result, rising.
    pub rows: &'a [usize],
}

/// One cell.
#[derive(Clone, PartialEq)]
pub enum SheetCell {
    /// Nothing.
    Empty,
    /// Text.
    Text(String),
    /// A number.
    Number(f64),
}

/// The cells of one line: text between delimiters, or one by one.
pub struct Line {
    text: String,
    delimiter: char,
    count: usize,
    cells: Option<Vec<SheetCell>>,
}

impl Line {
    fn new(format: SheetFormat) -> Line {
        let delimiter = if format == SheetFormat::Tsv { '\t' } else { ',' };
        let apart = !matches!(format, SheetFormat::Csv | SheetFormat::Tsv);
        Line { text: String::new(), delimiter, count: 0, cells: apart.then(Vec::new) }
    }

    /// A cell of text, quoted where it must be.
    pub fn text(&mut self, cell: &str) {
        if let Some(cells) = &mut self.cells {
            cells.push(if cell.is_empty() { SheetCell::Empty } else { SheetCell::Text(cell.to_owned()) });
            return;
        }
        self.separate();
        match self.delimiter {
            '\t' if cell.contains('\t') && !cell.contains(['"', ',', '\n', '\r']) => {
                let _ = write!(self.text, "\"{cell}\"");
            }
            _ => self.text.push_str(&quoted(cell)),
        }
    }

    /// A number.
    pub fn number(&mut self, value: f64) {
        if let Some(cells) = &mut self.cells {
            cells.push(SheetCell::Number(value));
            return;
        }
        self.separate();
        // The debug form is the shortest that reads back the same, with an exponent where it is short.
        let _ = write!(self.text, "{value:?}");
    }

    /// A whole number.
    pub fn whole(&mut self, value: usize) {
        match &mut self.cells {
            Some(cells) => cells.push(SheetCell::Number(value as f64)),
            None => self.text(&value.to_string()),
        }
    }

    /// A number, or an empty cell.
    pub fn optional(&mut self, value: Option<f64>) {
        match value {
            Some(value) => self.number(value),
            None => self.text(""),
        }
    }

    fn separate(&mut self) {
        if self.count > 0 {
            self.text.push(self.delimiter);
        }
        self.count += 1;
    }

    fn finish(&mut self, out: &mut impl Write) -> std::io::Result<()> {
        if self.text.is_empty() {
            // A blank line would be skipped by many readers, and every row after it would shift.
            self.text.push_str("\"\"");
        }
        self.text.push('\n');
        out.write_all(self.text.as_bytes())?;
        self.text.clear();
        self.count = 0;
        Ok(())
    }
}

impl Sheet<'_> {
    /// Writes to a file in one step, or CSV to standard output for `-`; `cells` adds the results by their number.
    pub fn write(&self, output: &str, cells: impl Fn(usize, &mut Line)) -> Result<Ending> {
        if output == "-" {
            let mut out = std::io::BufWriter::with_capacity(1 << 20, std::io::stdout().lock());
            let result = self.write_to(&mut out, SheetFormat::Csv, &cells).and_then(|()| out.flush());
            return ended(result, Ending::Done);
        }
        let format = SheetFormat::of(output)?;
        match format {
            SheetFormat::Parquet | SheetFormat::Arrow => {
                let bytes = crate::column_files::bytes(format, &self.names(), &self.columns(format, &cells))?;
                write_atomic(Path::new(output), |out| out.write_all(&bytes))?;
            }
            _ => write_atomic(Path::new(output), |mut out| self.write_to(&mut out, format, &cells))?,
        }
        Ok(Ending::Done)
    }

    fn names(&self) -> Vec<String> {
        let kept = self.keep.iter().map(|c| self.table.columns()[*c].name.clone());
        kept.chain(self.header.iter().cloned()).collect()
    }

    fn write_to(
        &self,
        out: &mut impl Write,
        format: SheetFormat,
        cells: &impl Fn(usize, &mut Line),
    ) -> std::io::Result<()> {
        if format == SheetFormat::JsonLines {
            let names = self.names();
            return self.each_row(format, cells, |line| write_object(out, &names, line.cells.iter_mut().flatten()));
        }
        let mut line = Line::new(format);
        self.names().iter().for_each(|name| line.text(name));
        line.finish(out)?;
        self.each_row(format, cells, |line| line.finish(out))
    }

    /// Fills a line for every row.
    fn each_row(
        &self,
        format: SheetFormat,
        cells: &impl Fn(usize, &mut Line),
        mut done: impl FnMut(&mut Line) -> std::io::Result<()>,
    ) -> std::io::Result<()> {
        let mut line = Line::new(format);
        let mut next = 0;
        for row in 0..self.table.n_rows() {
            for c in self.keep {
                // What was a date is one again, not days since another.
                if let Some(date) = self.table.date_text(row, *c) {
                    line.text(&date);
                    continue;
                }
                match (&self.table.columns()[*c].kind, &mut line.cells) {
                    (Kind::Number, Some(_)) => line.optional(Some(self.table.number(row, *c)).filter(|v| !v.is_nan())),
                    _ => line.text(&self.table.text(row, *c)),
                }
            }
            if self.rows.get(next) == Some(&row) {
                cells(next, &mut line);
                next += 1;
            } else {
                self.header.iter().for_each(|_| line.text(""));
            }
            done(&mut line)?;
            if let Some(cells) = &mut line.cells {
                cells.clear();
            }
        }
        Ok(())
    }

    /// All cells, column by column.
    fn columns(&self, format: SheetFormat, cells: &impl Fn(usize, &mut Line)) -> Vec<Vec<SheetCell>> {
        let mut columns = vec![Vec::with_capacity(self.table.n_rows()); self.keep.len() + self.header.len()];
        let result = self.each_row(format, cells, |line| {
            let row = line.cells.iter_mut().flatten();
            columns.iter_mut().zip(row).for_each(|(column, cell)| column.push(cell.clone()));
            Ok(())
        });
        debug_assert!(result.is_ok(), "nothing is written");
        columns
    }
}

/// One JSON object; a number that JSON does not have is null.
fn write_object<'a>(
    out: &mut impl Write,
    names: &[String],
    cells: impl Iterator<Item = &'a mut SheetCell>,
) -> std::io::Result<()> {
    let mut text = String::from("{");
    for (i, (name, cell)) in names.iter().zip(cells).enumerate() {
        let value = match cell {
            SheetCell::Empty => serde_json::Value::Null,
            SheetCell::Text(text) => text.as_str().into(),
            SheetCell::Number(value) => (*value).into(),
        };
        let comma = if i > 0 { "," } else { "" };
        let _ = write!(text, "{comma}{}:{value}", serde_json::Value::from(name.as_str()));
    }
    text.push_str("}\n");
    out.write_all(text.as_bytes())
}
