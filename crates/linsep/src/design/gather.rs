//! Some rows of a design as a design of their own.

use super::{Block, CsrMatrix, DenseMatrix, Design, PreparedDesign, Tile, Units};
use crate::error::Result;

/// Copies the given rows, in that order.
pub fn gather(design: &dyn Design, rows: &[usize]) -> Result<PreparedDesign> {
    let cols = design.shape().cols;
    let identity = Units::identity(cols);
    let (mut tile, mut row_values) = (Tile::default(), Vec::new());
    let mut dense = Vec::new();
    let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    let mut sparse = false;
    for row in rows {
        match design.block(*row..row + 1, &mut tile)? {
            Block::F64(block) => dense.extend_from_slice(block.values),
            Block::F32(block) => {
                block.load(&identity, &mut row_values);
                dense.extend_from_slice(&row_values);
            }
            Block::Csr(block) => {
                sparse = true;
                let (columns, entries) = block.row(0);
                indices.extend_from_slice(columns);
                values.extend_from_slice(entries);
                starts.push(indices.len());
            }
        }
    }
    Ok(match sparse {
        true => PreparedDesign::Sparse(CsrMatrix::new(starts, indices, values, cols)?),
        false => PreparedDesign::Dense(DenseMatrix::new(dense, cols)?),
    })
}
