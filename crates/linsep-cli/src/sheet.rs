//! CSV with one line per row of a table.

use crate::exit::Ending;
use crate::output::{ended, quoted};
use linsep::Result;
use linsep::artifact::write_atomic;
use linsep::table::Table;
use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

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

/// The cells of one line.
#[derive(Default)]
pub struct Line {
    text: String,
    cells: usize,
}

impl Line {
    /// A cell of text, quoted where it must be.
    pub fn text(&mut self, cell: &str) {
        self.separate();
        self.text.push_str(&quoted(cell));
    }

    /// A number.
    pub fn number(&mut self, value: f64) {
        self.separate();
        // The debug form is the shortest that reads back the same, with an exponent where it is short.
        let _ = write!(self.text, "{value:?}");
    }

    /// A number, or an empty cell.
    pub fn optional(&mut self, value: Option<f64>) {
        match value {
            Some(value) => self.number(value),
            None => self.text(""),
        }
    }

    fn separate(&mut self) {
        if self.cells > 0 {
            self.text.push(',');
        }
        self.cells += 1;
    }

    fn finish(&mut self, out: &mut impl Write) -> std::io::Result<()> {
        if self.text.is_empty() {
            // A blank line would be skipped by many readers, and every row after it would shift.
            self.text.push_str("\"\"");
        }
        self.text.push('\n');
        out.write_all(self.text.as_bytes())?;
        self.text.clear();
        self.cells = 0;
        Ok(())
    }
}

impl Sheet<'_> {
    /// Writes to a file in one step, or to standard output for `-`; `cells` adds the results by their number.
    pub fn write(&self, output: &str, cells: impl Fn(usize, &mut Line)) -> Result<Ending> {
        if output == "-" {
            let mut out = std::io::BufWriter::with_capacity(1 << 20, std::io::stdout().lock());
            let result = self.write_to(&mut out, &cells).and_then(|()| out.flush());
            return ended(result, Ending::Done);
        }
        write_atomic(Path::new(output), |mut out| self.write_to(&mut out, &cells))?;
        Ok(Ending::Done)
    }

    fn write_to(&self, out: &mut impl Write, cells: &impl Fn(usize, &mut Line)) -> std::io::Result<()> {
        let mut line = Line::default();
        self.keep.iter().for_each(|c| line.text(&self.table.columns()[*c].name));
        self.header.iter().for_each(|name| line.text(name));
        line.finish(out)?;
        let mut next = 0;
        for row in 0..self.table.n_rows() {
            self.keep.iter().for_each(|c| line.text(&self.table.text(row, *c)));
            if self.rows.get(next) == Some(&row) {
                cells(next, &mut line);
                next += 1;
            } else {
                self.header.iter().for_each(|_| line.text(""));
            }
            line.finish(out)?;
        }
        Ok(())
    }
}
