//! Simulated rows as CSV, written block by block.

use crate::output::quoted;
use linsep::design::{Cell, Recipe};
use linsep::sample::Simulation;
use linsep::watch::Watch;
use rayon::prelude::*;
use std::io::Write;

/// The CSV to be written.
pub struct SimulatedSheet<'a> {
    /// What makes the rows.
    pub simulation: &'a Simulation,
    /// How a model turns them into cells.
    pub recipe: Option<&'a Recipe>,
    /// Names of the columns.
    pub names: Vec<String>,
    /// Name of the column of classes.
    pub target: String,
}

/// Blocks made at a time: enough for all threads, few enough for memory.
const BLOCKS: u64 = 64;

impl SimulatedSheet<'_> {
    /// Header and rows, block by block.
    pub fn write(&self, out: &mut dyn Write, watch: &Watch) -> std::io::Result<()> {
        let classes: Vec<String> = self.simulation.generator().classes().iter().map(|c| quoted(c)).collect();
        // One population has no column of classes.
        let target = (!classes.is_empty()).then_some(&self.target);
        let header: Vec<String> = self.names.iter().chain(target).map(|n| quoted(n)).collect();
        writeln!(out, "{}", header.join(","))?;
        let mut next = 0;
        while next < self.simulation.n_blocks() {
            if watch.halted().is_some() {
                return Err(std::io::Error::from(std::io::ErrorKind::Interrupted));
            }
            let end = (next + BLOCKS).min(self.simulation.n_blocks());
            let texts: Vec<std::io::Result<String>> =
                (next..end).into_par_iter().map(|block| self.text(block, &classes)).collect();
            for text in texts {
                out.write_all(text?.as_bytes())?;
            }
            next = end;
        }
        Ok(())
    }

    /// The lines of one block.
    fn text(&self, block: u64, classes: &[String]) -> std::io::Result<String> {
        let (values, drawn) = self.simulation.block(block);
        let mut text = String::new();
        for (row, class) in values.chunks_exact(self.simulation.generator().cols()).zip(drawn) {
            match self.recipe {
                None => row.iter().for_each(|v| push_number(&mut text, *v)),
                Some(recipe) => {
                    for cell in recipe.cells(row).map_err(|e| std::io::Error::other(e.to_string()))? {
                        match cell {
                            Cell::Number(v) => push_number(&mut text, v),
                            Cell::Text(level) => {
                                text.push_str(&quoted(level));
                                text.push(',');
                            }
                        }
                    }
                }
            }
            match classes.get(class.index()) {
                Some(class) => text.push_str(class),
                // The comma after the last feature.
                None => drop(text.pop()),
            }
            text.push('\n');
        }
        Ok(text)
    }
}

/// A number and a comma: whole numbers without a point, others the shortest that read back the same.
fn push_number(text: &mut String, value: f64) {
    use std::fmt::Write as _;
    // Writing to a String cannot fail. Adding zero makes −0 a 0.
    let _ = match value.fract() == 0.0 && value.abs() < 1e15 {
        true => write!(text, "{},", value + 0.0),
        false => write!(text, "{value:?},"),
    };
}
