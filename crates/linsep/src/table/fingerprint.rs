//! What tells one table from another.

use super::{Cells, Kind, Table, canonical, sum_cells};
use rayon::prelude::*;

impl Table {
    /// A fingerprint of names and typed cells, the same however the table is chunked or its integers are packed.
    ///
    /// Each cell contributes a product of its bits, row and column to a wrapping sum, so chunks can be summed in any
    /// order. It tells other data apart; it is no defence against somebody who wants to be mistaken.
    pub fn fingerprint(&self) -> u64 {
        let names: Vec<&str> = self.columns.iter().map(|c| c.name.as_str()).collect();
        named_rows(&names, self.n_rows()).wrapping_add(self.cell_sum(0))
    }

    /// The fingerprint of the table that begins with `rows` rows of the fingerprint `before` and goes on with these; `names`
    /// are its columns in their order.
    pub(crate) fn fingerprint_behind(&self, names: &[&str], (before, rows): (u64, usize)) -> u64 {
        let cells = before.wrapping_sub(named_rows(names, rows)).wrapping_add(self.cell_sum(rows as u64));
        named_rows(names, rows + self.n_rows()).wrapping_add(cells)
    }

    /// The sum over all cells, the first row being this one of a longer table.
    fn cell_sum(&self, first: u64) -> u64 {
        let of_chunk = |c: usize| self.chunk_fingerprint(c, first);
        (0..self.chunks.len()).into_par_iter().map(of_chunk).reduce(|| 0, u64::wrapping_add)
    }

    fn chunk_fingerprint(&self, c: usize, first: u64) -> u64 {
        let (chunk, start) = (&self.chunks[c], first + self.starts[c] as u64);
        let mut sum = 0u64;
        for (column, cells) in self.columns.iter().zip(&chunk.cells) {
            let salt = hash_text(&column.name);
            let level_hash: Vec<u64> = match &column.kind {
                Kind::Text { levels } => levels.iter().map(|l| hash_text(l)).collect(),
                Kind::Number => Vec::new(),
            };
            match cells {
                Cells::Text(codes) => {
                    let hash = |code: &u32| level_hash.get(*code as usize).copied().unwrap_or(u64::MAX);
                    let bits: Vec<f64> = codes.iter().map(|c| f64::from_bits(hash(c))).collect();
                    sum_cells(&bits, salt, start, &mut sum);
                }
                numbers => {
                    let mut values = [0.0; 512];
                    for first in (0..numbers.len()).step_by(values.len()) {
                        let values = &mut values[..(numbers.len() - first).min(512)];
                        numbers.copy_numbers(first, values);
                        canonical(values);
                        sum_cells(values, salt, start + first as u64, &mut sum);
                    }
                }
            }
        }
        if let Some(sparse) = &chunk.sparse {
            for i in 0..chunk.n_rows {
                for e in sparse.starts[i]..sparse.starts[i + 1] {
                    let mut value = [sparse.values[e]];
                    canonical(&mut value);
                    sum_cells(&value, u64::from(sparse.indices[e]) << 20, start + i as u64, &mut sum);
                }
            }
        }
        sum
    }
}

/// A 64-bit mixer (multiply, fold, multiply): good avalanche at two multiplications a cell.
fn mix(a: u64, b: u64) -> u64 {
    let x = (a ^ b.rotate_left(32)).wrapping_mul(0xd6e8_feb8_6659_fd93) ^ b;
    let y = (x ^ (x >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    y ^ (y >> 29)
}

/// What names and number of rows contribute to a fingerprint.
fn named_rows(names: &[&str], rows: usize) -> u64 {
    names.iter().fold(rows as u64, |h, name| mix(h, hash_text(name)))
}

fn hash_text(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |h, byte| mix(h, u64::from(byte) + 1))
}
