//! Rows in another basis of their columns.

use super::{Block, CsrRows, Dense, Design, Shape, Tile, Units};
use crate::error::Result;
use crate::linalg::multiply_rows;
use std::ops::Range;

/// `q = M x̂ + m` of the rows x̂ of a design in its units, made anew block by block: a design of its own, always dense.
///
/// ```
/// use linsep::design::{Block, DenseMatrix, Design, Tile, TurnedRows, Units};
/// let x = DenseMatrix::new(vec![1.0, 2.0, 3.0, 5.0], 2)?;
/// let units = Units::identity(2);
/// let turned = TurnedRows::new(&x, &units, vec![-1.0, 1.0], vec![0.5]);
/// let mut tile = Tile::default();
/// let Block::F64(rows) = turned.block(0..2, &mut tile)? else { panic!("dense") };
/// assert_eq!(rows.values, [1.5, 2.5]);
/// # Ok::<(), linsep::Error>(())
/// ```
pub struct TurnedRows<'a> {
    design: &'a dyn Design,
    units: &'a Units,
    /// M, row-major.
    matrix: Vec<f64>,
    /// m.
    shift: Vec<f64>,
}

impl<'a> TurnedRows<'a> {
    /// As many new columns as there are shifts, each a combination of all columns of the design.
    pub fn new(design: &'a dyn Design, units: &'a Units, matrix: Vec<f64>, shift: Vec<f64>) -> TurnedRows<'a> {
        TurnedRows { design, units, matrix, shift }
    }
}

impl Design for TurnedRows<'_> {
    fn shape(&self) -> Shape {
        Shape { rows: self.design.shape().rows, cols: self.shift.len() }
    }

    fn block<'a>(&'a self, rows: Range<usize>, tile: &'a mut Tile) -> Result<Block<'a>> {
        let (mut room, mut values) = (Tile::default(), Vec::new());
        block_in_units(self.design, self.units, rows.clone(), &mut room, &mut values)?;
        let width = self.shift.len();
        tile.values.resize(rows.len() * width, 0.0);
        if width > 0 {
            multiply_rows(&values, &self.matrix, self.design.shape().cols, width, &mut tile.values);
        }
        for q in tile.values.chunks_exact_mut(width.max(1)) {
            q.iter_mut().zip(&self.shift).for_each(|(q, m)| *q += m);
        }
        Ok(Block::F64(Dense { values: &tile.values, cols: width }))
    }
}

/// Rows of a design as dense rows in some units: `(x − centre)·inverse scale`, two roundings an entry.
pub(super) fn block_in_units(
    design: &dyn Design,
    units: &Units,
    rows: Range<usize>,
    tile: &mut Tile,
    out: &mut Vec<f64>,
) -> Result<()> {
    match design.block(rows, tile)? {
        Block::F64(dense) => dense.load(units, out),
        Block::F32(dense) => dense.load(units, out),
        Block::Csr(rows) => spread(&rows, units, out),
    }
    Ok(())
}

/// Sparse rows with all their columns, in units.
pub(crate) fn spread(rows: &CsrRows<'_>, units: &Units, out: &mut Vec<f64>) {
    out.clear();
    let (centre, inverse) = (units.centre(), units.inverse_scale());
    for i in 0..rows.len() {
        let start = out.len();
        out.extend(centre.iter().zip(inverse).map(|(c, s)| (0.0 - c) * s));
        let (columns, values) = rows.row(i);
        for (c, v) in columns.iter().zip(values) {
            let j = *c as usize;
            out[start + j] = (v - centre[j]) * inverse[j];
        }
    }
}
