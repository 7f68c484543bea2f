//! Table rows to matrix rows.

use super::basis::{Product, expand};
use super::encoding::{Encoding, level_of_indicator};
use super::formula::{FormulaColumns, FormulaRoom};
use super::matching::{CellSource, Indicator};
use super::quantile::transform;
use crate::table::Chunk;
use std::ops::Range;
use std::sync::Arc;

/// Rows converted at a time: matrix rows stay in cache while each column of the chunk is read along. Chosen
/// (bench/constants.md).
const GROUP: usize = 64;

/// Which table rows become matrix rows, and how.
#[derive(Debug)]
pub(super) struct Filler {
    pub(super) sources: Vec<CellSource>,
    /// Table rows kept, in order.
    pub(super) rows: Vec<usize>,
    /// `rows[splits[c]..splits[c + 1]]` lie in chunk c, which starts at table row `starts[c]`.
    pub(super) splits: Vec<usize>,
    pub(super) starts: Vec<usize>,
    /// Matrix columns of the named part, products included.
    pub(super) cols: usize,
    /// The products behind the other columns.
    pub(super) products: Vec<Product>,
    /// What makes the matrix row of the cells instead.
    pub(super) formula: Option<Arc<FormulaColumns>>,
}

impl Filler {
    /// For every column of the table the source that uses it.
    pub(super) fn uses(&self, chunks: &[Chunk]) -> Vec<Option<usize>> {
        let mut uses = vec![None; chunks.first().map_or(0, |chunk| chunk.cells.len())];
        let own = self.sources.iter().enumerate().filter(|(_, source)| source.encoding != Encoding::Missing);
        own.for_each(|(s, source)| uses[source.column] = Some(s));
        uses
    }

    /// Writes matrix rows `range`, all of which lie in chunk `c`.
    pub(super) fn fill(&self, c: usize, chunk: &Chunk, range: Range<usize>, out: &mut [f64]) {
        let cols = self.cols.max(1);
        if let Some(formula) = &self.formula {
            return self.fill_formula(formula, (c, chunk), range, out);
        }
        for (group, out) in self.rows[range].chunks(GROUP).zip(out.chunks_mut(GROUP * cols)) {
            self.plain(c, chunk, group, out, self.cols);
            if !self.products.is_empty() {
                out.chunks_exact_mut(cols).for_each(|row| expand(&self.products, row));
            }
        }
    }

    /// Matrix rows by a formula: the plain rows of a group, then what the formula makes of each.
    fn fill_formula(
        &self,
        formula: &FormulaColumns,
        (c, chunk): (usize, &Chunk),
        range: Range<usize>,
        out: &mut [f64],
    ) {
        let (width, cols) = (formula.plain_width(), self.cols.max(1));
        let (mut plain, mut room) = (vec![0.0; GROUP * width], FormulaRoom::default());
        for (group, out) in self.rows[range].chunks(GROUP).zip(out.chunks_mut(GROUP * cols)) {
            let plain = &mut plain[..group.len() * width];
            self.plain(c, chunk, group, plain, width);
            for (plain, out) in plain.chunks_exact(width.max(1)).zip(out.chunks_exact_mut(cols)) {
                formula.fill(plain, &mut room, out);
            }
        }
    }

    /// The cells of some rows as numbers and indicators, in rows of `width`.
    pub(super) fn plain(&self, c: usize, chunk: &Chunk, group: &[usize], out: &mut [f64], width: usize) {
        for source in &self.sources {
            match &source.encoding {
                Encoding::Number { .. } | Encoding::Quantile { .. } => {
                    self.numbers((c, chunk), source, group, out, width);
                }
                Encoding::Levels { .. } => self.levels((c, chunk), source, group, out, width),
                Encoding::Missing => {
                    let cells = &chunk.cells[source.column];
                    for (row, out) in group.iter().zip(out[source.first..].iter_mut().step_by(width)) {
                        *out = source.missing(cells.number(row - self.starts[c]));
                    }
                }
            }
        }
    }

    fn numbers(
        &self,
        (c, chunk): (usize, &Chunk),
        source: &CellSource,
        group: &[usize],
        out: &mut [f64],
        width: usize,
    ) {
        let cells = &chunk.cells[source.column];
        let mut numbers = [0.0; GROUP];
        let numbers = &mut numbers[..group.len()];
        let (first, last) = (group[0] - self.starts[c], group[group.len() - 1] - self.starts[c]);
        if last - first + 1 == group.len() {
            cells.copy_numbers(first, numbers);
        } else {
            numbers.iter_mut().zip(group).for_each(|(n, row)| *n = cells.number(row - self.starts[c]));
        }
        source.encode_numbers(numbers);
        let column = out[source.first..].iter_mut().step_by(width);
        column.zip(&*numbers).for_each(|(o, v)| *o = *v);
    }

    fn levels(&self, (c, chunk): (usize, &Chunk), source: &CellSource, group: &[usize], out: &mut [f64], width: usize) {
        let cells = &chunk.cells[source.column];
        for (row, out) in group.iter().zip(out.chunks_exact_mut(width)) {
            source.indicators(cells.number(row - self.starts[c]), &mut out[source.first..][..source.width]);
        }
    }

    /// One row of the named columns.
    pub(super) fn named_row(&self, chunk: &Chunk, i: usize, out: &mut [f64]) {
        for source in &self.sources {
            let value = chunk.cells[source.column].number(i);
            let out = &mut out[source.first..][..source.width];
            match &source.encoding {
                Encoding::Number { .. } | Encoding::Quantile { .. } => {
                    out[0] = value;
                    source.encode_numbers(out);
                }
                Encoding::Levels { .. } => source.indicators(value, out),
                Encoding::Missing => out[0] = source.missing(value),
            }
        }
    }
}

impl CellSource {
    /// Fills in and transforms the cells of a number column.
    pub(super) fn encode_numbers(&self, numbers: &mut [f64]) {
        if let Encoding::Number { mean: Some(mean), .. } | Encoding::Quantile { mean: Some(mean), .. } = &self.encoding
        {
            numbers.iter_mut().filter(|v| v.is_nan()).for_each(|v| *v = *mean);
        }
        if let Encoding::Quantile { knots, output, .. } = &self.encoding {
            numbers.iter_mut().for_each(|v| *v = transform(knots, *output, *v));
        }
    }

    /// One for a cell that is missing, or treated so; else zero.
    fn missing(&self, cell: f64) -> f64 {
        let filled = |code: f64| matches!(self.levels.get(code as usize), Some(Some(Indicator::FillIn)));
        f64::from(u8::from(cell.is_nan() || filled(cell)))
    }

    /// The indicators of a level; of a missing one, the shares that stand in for it.
    fn indicators(&self, code: f64, out: &mut [f64]) {
        out.fill(0.0);
        let indicator = if code.is_nan() { Some(Indicator::FillIn) } else { self.levels[code as usize] };
        match (indicator, &self.encoding) {
            (Some(Indicator::At(offset)), _) => out[offset] = 1.0,
            (Some(Indicator::FillIn), encoding @ Encoding::Levels { shares: Some(shares), .. }) => {
                let reference = encoding.reference_place();
                out.iter_mut().enumerate().for_each(|(at, v)| *v = shares[level_of_indicator(at, reference)]);
            }
            _ => {}
        }
    }
}
