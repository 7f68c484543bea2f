//! All rows at once, for methods that visit them in any order.

use super::{Block, CsrRows, Design, Rows, Tile, Units};
use crate::design::Pass;
use crate::error::{Error, Result};
use crate::watch::Watch;

/// The rows of a design in memory: dense ones in given units, sparse ones as stored.
///
/// Dense rows that are lent in the units wanted are borrowed, others are copied into the tile: the one extra copy of
/// the data. Sparse rows are always borrowed; whoever uses them folds the units into the coefficients
/// (`x̂·w = x·(w/s) − c·(w/s)`).
///
/// ```
/// use linsep::design::{DenseMatrix, InMemory, Tile, Units};
/// let x = DenseMatrix::new(&[1.0, 2.0, 3.0, 4.0][..], 2)?;
/// let mut tile = Tile::default();
/// let InMemory::Dense { values, .. } = InMemory::new(&x, &Units::identity(2), &mut tile, &Default::default())? else {
///     panic!("a dense matrix has dense rows")
/// };
/// assert_eq!(values, x.values());
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub enum InMemory<'a> {
    /// Row after row, in the units asked for.
    Dense {
        /// The values.
        values: &'a [f64],
        /// Values per row.
        cols: usize,
    },
    /// As stored.
    Sparse(CsrRows<'a>),
}

impl<'a> InMemory<'a> {
    /// All rows of a design; `tile` gives room for a copy where one is needed.
    pub fn new(design: &'a dyn Design, units: &Units, tile: &'a mut Tile, watch: &Watch) -> Result<InMemory<'a>> {
        let shape = design.shape();
        let mut empty = Tile::default();
        let kind = match design.block(0..0, &mut empty)? {
            Block::Csr(_) => StorageKind::Sparse,
            Block::F64(_) if units.is_identity() && design.lends() => StorageKind::Lent,
            _ => StorageKind::Copied,
        };
        if kind == StorageKind::Copied {
            tile.values.resize(shape.rows * shape.cols, 0.0);
            let copy = |(): &mut (), _, rows: Rows<'_>, out: &mut [f64]| {
                if let Rows::Dense(values) = rows {
                    out.copy_from_slice(values);
                }
                Ok(())
            };
            Pass::new(design, units).reduce(watch, (shape.cols, &mut tile.values), || (), copy, |(), ()| ())?;
            return Ok(InMemory::Dense { values: &tile.values, cols: shape.cols });
        }
        Ok(match design.block(0..shape.rows, tile)? {
            Block::Csr(rows) => InMemory::Sparse(rows),
            Block::F64(dense) => InMemory::Dense { values: dense.values, cols: dense.cols },
            Block::F32(_) => return Err(Error::data("a matrix changed its type between two blocks")),
        })
    }
}

#[derive(PartialEq)]
enum StorageKind {
    Sparse,
    Lent,
    Copied,
}
