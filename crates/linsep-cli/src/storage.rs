//! Where the cells of a table were, and what a run took: for those who gave a limit of memory.

use linsep::artifact::Model;
use linsep::table::Table;
use serde_json::{Value, json};
use std::time::Instant;

/// What is known of a run under a limit of memory.
pub struct Storage {
    /// Bytes of cells in memory and in scratch files.
    cells: (u64, u64),
    since: Instant,
}

impl Storage {
    /// Of a table that was read under a limit, which began at this moment.
    pub fn of(table: &Table, since: Instant) -> Storage {
        Storage { cells: table.stored_bytes(), since }
    }

    /// Its fields among those of a fit.
    pub fn json(&self, model: &Model) -> Vec<(&'static str, Value)> {
        vec![
            ("storage", json!(if self.cells.1 > 0 { "disk" } else { "memory" })),
            ("scratch_bytes", json!(self.cells.1)),
            ("passes", json!(model.computation.passes)),
            ("round_trips", json!(0)),
            ("peak_bytes", json!(peak_bytes())),
            ("seconds", json!(self.since.elapsed().as_secs_f64())),
        ]
    }

    /// A line of the summary, where cells are on disk.
    pub fn text(&self) -> String {
        let megabytes = |bytes: u64| bytes as f64 / 1e6;
        match self.cells {
            (_, 0) => String::new(),
            (memory, disk) => format!(
                "\ncells: {:.1} MB in memory, {:.1} MB in scratch files (--memory)\n",
                megabytes(memory),
                megabytes(disk)
            ),
        }
    }
}

/// The most memory that the process has held so far, mapped files included, where the system tells.
fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}
