//! The triangular root of a sum of squares of rows that come in blocks, without the squares.

use super::triangular_factor;

/// Rows that are gathered before they are reflected, at least: fewer would spend the time on the triangle that is there
/// already. Chosen, not measured: only the time and last bits depend on it.
const GATHERED: usize = 256;

/// The upper-triangular R with `RᵀR = Σ x xᵀ` of all rows so far, by Householder reflections: where columns nearly coincide
/// it keeps twice the digits that the Gram matrix has.
#[derive(Debug, Clone)]
pub struct RowRoot {
    cols: usize,
    /// Column-major; zero at first.
    root: Vec<f64>,
    /// Row by row.
    waiting: Vec<f64>,
}

impl RowRoot {
    /// Of no rows.
    pub fn new(cols: usize) -> RowRoot {
        RowRoot { cols, root: vec![0.0; cols * cols], waiting: Vec::new() }
    }

    /// Doubles that it holds at most.
    pub fn doubles(cols: usize) -> usize {
        cols * (cols + GATHERED.max(2 * cols))
    }

    /// Adds a row.
    pub fn add(&mut self, row: impl IntoIterator<Item = f64>) {
        self.waiting.extend(row);
        if self.waiting.len() >= self.cols * GATHERED.max(2 * self.cols) {
            self.reflect();
        }
    }

    /// Adds the rows of another.
    pub fn merge(&mut self, mut other: RowRoot) {
        other.reflect();
        for i in 0..self.cols {
            self.add((0..other.cols).map(|j| other.root[j * other.cols + i]));
        }
    }

    /// R, column-major.
    pub fn finish(mut self) -> Vec<f64> {
        self.reflect();
        self.root
    }

    fn reflect(&mut self) {
        let cols = self.cols;
        if self.waiting.is_empty() || cols == 0 {
            return;
        }
        let new = self.waiting.len() / cols;
        let rows = new + cols;
        let mut all = vec![0.0; rows * cols];
        for (j, column) in all.chunks_exact_mut(rows).enumerate() {
            column[..cols].copy_from_slice(&self.root[j * cols..(j + 1) * cols]);
            column[cols..].iter_mut().zip(self.waiting.chunks_exact(cols)).for_each(|(to, row)| *to = row[j]);
        }
        self.root = triangular_factor(rows, cols, &mut all);
        self.waiting.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_have_the_root_of_all_rows() {
        // Numbers without a pattern; the last column is near the first, by a millionth.
        let noise = |i: usize| ((i * 2_654_435_761) % 4_294_967_291) as f64 / 4_294_967_291.0 - 0.5;
        let rows: Vec<[f64; 3]> =
            (0..1500).map(|i| [noise(i), noise(i + 5000), noise(i) + 1e-6 * noise(i + 9000)]).collect();
        let (mut first, mut second) = (RowRoot::new(3), RowRoot::new(3));
        rows[..1000].iter().for_each(|row| first.add(*row));
        rows[1000..].iter().for_each(|row| second.add(*row));
        first.merge(second);
        let r = first.finish();
        let mut whole: Vec<f64> = (0..3).flat_map(|j| rows.iter().map(move |row| row[j])).collect();
        let expected = triangular_factor(1500, 3, &mut whole);
        for (at, (r, e)) in r.iter().zip(&expected).enumerate() {
            assert!((r - e).abs() <= 1e-14 * expected[0], "{at}: {r} and {e}");
        }
        // What the last column has of its own is a millionth of a column's length, with nine digits.
        assert!((r[8] / expected[8] - 1.0).abs() < 1e-9 && r[8] < 1e-5 * r[0]);
    }
}
