//! Rows with their sides, and sums of such rows to which adding a sparse one costs its entries only.
//!
//! In the units of the fit, `x̂ = (x − c)/σ`, a sparse row is dense. Over the rows added let `v = Σ y x`, `a = Σ y` and
//! `u = v/σ²`. Then `θ = ((v − a c)/σ, a)`, and with `q = Σ_j x_j c_j/σ_j²` (a number per row), `p = Σ_j v_j c_j/σ_j²` (a
//! running sum, Σ y q) and `C = Σ_j c_j²/σ_j²`
//!
//! `θ·x̃ = u·x − a q − p + a C + a`.
//!
//! The terms cancel by about `c²/σ²`, which is far below the limit of 10¹⁰ that sparse columns are held to.

use crate::design::{InMemory, LabelledRows, Tile, Units};
use crate::error::Result;
use crate::linalg::dot;
use crate::objective::Coef;
use crate::watch::Watch;
use rayon::prelude::*;

/// Rows scored by one task: fixed, so that sums do not depend on the threads. Chosen, out of reach of
/// bench/constants.md.
const PIECE: usize = 4096;
/// Numbers read between two looks at the watch, about a millisecond of work. Chosen (bench/constants.md): only the
/// delay of an interruption depends on it.
const POLL_NUMBERS: usize = 1 << 20;
/// The fewest and the most rows between two looks at the watch.
const POLL_ROWS: (usize, usize) = (16, 4096);

/// The rows of positive weight in memory, each with its side: −1 for the first class, 1 for the second.
pub struct SignedRows<'a> {
    labelled: LabelledRows<'a>,
    rows: InMemory<'a>,
    /// Rows of positive weight.
    counted: Vec<usize>,
    units: &'a Units,
    cols: usize,
    intercept: bool,
    folded: Option<FoldedRow>,
}

/// What the centre adds to the scores of sparse rows.
struct FoldedRow {
    /// 1/σ².
    inverse_square: Vec<f64>,
    /// q, row by row.
    centre_parts: Vec<f64>,
    /// C.
    centre_square: f64,
}

/// `Σ f y x̃` over some rows with factors f.
#[derive(Debug, Clone)]
pub(super) struct PerceptronSums {
    /// Dense rows: the weights. Sparse rows: u.
    columns: Vec<f64>,
    /// a.
    total: f64,
    /// p.
    moved: f64,
}

impl PerceptronSums {
    /// Adds a multiple of other sums.
    pub(super) fn add_scaled(&mut self, factor: f64, other: &PerceptronSums) {
        self.columns.iter_mut().zip(&other.columns).for_each(|(a, b)| *a += factor * b);
        self.total += factor * other.total;
        self.moved += factor * other.moved;
    }

    /// `self − other/n`.
    pub(super) fn minus(&self, other: &PerceptronSums, n: f64) -> PerceptronSums {
        PerceptronSums {
            columns: self.columns.iter().zip(&other.columns).map(|(a, b)| a - b / n).collect(),
            total: self.total - other.total / n,
            moved: self.moved - other.moved / n,
        }
    }
}

impl<'a> SignedRows<'a> {
    /// All rows of a design in given units, in memory; `tile` gives room for a copy where one is needed.
    pub fn new(
        labelled: LabelledRows<'a>,
        units: &'a Units,
        intercept: bool,
        tile: &'a mut Tile,
        watch: &Watch,
    ) -> Result<SignedRows<'a>> {
        let cols = labelled.design.shape().cols;
        let rows = InMemory::new(labelled.design, units, tile, watch)?;
        let folded = match &rows {
            InMemory::Dense { .. } => None,
            InMemory::Sparse(sparse) => {
                let inverse_square: Vec<f64> = units.inverse_scale().iter().map(|s| s * s).collect();
                let part = |i: usize| {
                    let (columns, values) = sparse.row(i);
                    let terms = columns.iter().zip(values);
                    terms.map(|(c, v)| v * units.centre()[*c as usize] * inverse_square[*c as usize]).sum::<f64>()
                };
                let centre_parts = (0..sparse.len()).into_par_iter().map(part).collect();
                let squares = units.centre().iter().zip(&inverse_square).map(|(c, s)| c * c * s);
                Some(FoldedRow { centre_square: crate::numeric::sum(squares), centre_parts, inverse_square })
            }
        };
        Ok(SignedRows { labelled, rows, counted: labelled.counted(), units, cols, intercept, folded })
    }

    /// Rows of positive weight, rising.
    pub(super) fn counted(&self) -> &[usize] {
        &self.counted
    }

    /// Weight of a row.
    pub(super) fn weight(&self, row: usize) -> f64 {
        self.labelled.weight(row)
    }

    /// Rows between two looks at the watch: about a million numbers, and not more than a few thousand rows.
    pub(super) fn poll(&self) -> usize {
        (POLL_NUMBERS / self.cols.max(1)).clamp(POLL_ROWS.0, POLL_ROWS.1)
    }

    /// No rows added yet.
    pub(super) fn zero(&self) -> PerceptronSums {
        PerceptronSums { columns: vec![0.0; self.cols], total: 0.0, moved: 0.0 }
    }

    /// The sums that are these coefficients: `v = σw + a c` where rows are sparse.
    pub(super) fn sums_of(&self, coef: &Coef) -> PerceptronSums {
        let total = coef.intercept()[0];
        let Some(_) = &self.folded else {
            return PerceptronSums { columns: coef.weights().to_vec(), total, moved: 0.0 };
        };
        let (centre, inverse) = (self.units.centre(), self.units.inverse_scale());
        let column = |(j, w): (usize, &f64)| w * inverse[j] + total * centre[j] * inverse[j] * inverse[j];
        let columns: Vec<f64> = coef.weights().iter().enumerate().map(column).collect();
        let moved = columns.iter().zip(centre).map(|(u, c)| u * c).sum();
        PerceptronSums { columns, total, moved }
    }

    /// `y θ·x̃` of a row.
    pub(super) fn margin(&self, sums: &PerceptronSums, row: usize) -> f64 {
        self.side(row) * self.score(sums, row)
    }

    /// The perceptron loss `Σ s max(0, −y θ·x̃) / Σs`.
    pub(super) fn loss(&self, sums: &PerceptronSums) -> f64 {
        let of_piece = |piece: &[usize]| -> [f64; 2] {
            let loss = piece.iter().map(|i| self.weight(*i) * (-self.margin(sums, *i)).max(0.0)).sum();
            [loss, piece.iter().map(|i| self.weight(*i)).sum()]
        };
        let pieces: Vec<[f64; 2]> = self.counted.par_chunks(PIECE).map(of_piece).collect();
        crate::numeric::sum(pieces.iter().map(|p| p[0])) / crate::numeric::sum(pieces.iter().map(|p| p[1]))
    }

    fn side(&self, row: usize) -> f64 {
        self.labelled.side(row)
    }

    /// Whether a row is strictly on its side; a score that is no number is on none.
    pub(super) fn is_right(&self, sums: &PerceptronSums, row: usize) -> bool {
        self.side(row) * self.score(sums, row) > 0.0
    }

    /// `θ·x̃`.
    fn score(&self, sums: &PerceptronSums, row: usize) -> f64 {
        let constant = if self.intercept { sums.total } else { 0.0 };
        match (&self.rows, &self.folded) {
            (InMemory::Sparse(sparse), Some(folded)) => {
                let (columns, values) = sparse.row(row);
                let product: f64 = columns.iter().zip(values).map(|(c, v)| v * sums.columns[*c as usize]).sum();
                let centre = sums.total * (folded.centre_square - folded.centre_parts[row]) - sums.moved;
                product + centre + constant
            }
            (InMemory::Dense { values, cols }, _) => {
                dot(&values[row * cols..(row + 1) * cols], &sums.columns) + constant
            }
            (InMemory::Sparse(_), None) => f64::NAN,
        }
    }

    /// Adds `factor·y x̃` of a row.
    pub(super) fn add(&self, sums: &mut PerceptronSums, row: usize, factor: f64) {
        let signed = factor * self.side(row);
        sums.total += signed;
        match (&self.rows, &self.folded) {
            (InMemory::Sparse(sparse), Some(folded)) => {
                let (columns, values) = sparse.row(row);
                for (c, v) in columns.iter().zip(values) {
                    let j = *c as usize;
                    sums.columns[j] += signed * v * folded.inverse_square[j];
                }
                sums.moved += signed * folded.centre_parts[row];
            }
            (InMemory::Dense { values, cols }, _) => {
                let x = &values[row * cols..(row + 1) * cols];
                sums.columns.iter_mut().zip(x).for_each(|(w, x)| *w += signed * x);
            }
            (InMemory::Sparse(_), None) => {}
        }
    }

    /// Sums as coefficients in the units of the rows.
    pub(super) fn coef(&self, sums: &PerceptronSums) -> Coef {
        let mut coef = Coef::zeros(1, self.cols);
        let (centre, inverse) = (self.units.centre(), self.units.inverse_scale());
        for (j, w) in coef.weights_mut().iter_mut().enumerate() {
            *w = match self.folded {
                None => sums.columns[j],
                Some(_) if inverse[j] > 0.0 => sums.columns[j] / inverse[j] - sums.total * (centre[j] * inverse[j]),
                // A column without a scale of its own takes no part.
                Some(_) => 0.0,
            };
        }
        coef.intercept_mut()[0] = if self.intercept { sums.total } else { 0.0 };
        coef
    }

    /// Weight of the rows not strictly on their side; the same bits for any number of threads.
    pub(super) fn errors(&self, sums: &PerceptronSums) -> f64 {
        let of_piece = |piece: &[usize]| -> f64 {
            piece.iter().filter(|i| !self.is_right(sums, **i)).map(|i| self.weight(*i)).sum()
        };
        let pieces: Vec<f64> = self.counted.par_chunks(PIECE).map(of_piece).collect();
        crate::numeric::sum(pieces)
    }
}
