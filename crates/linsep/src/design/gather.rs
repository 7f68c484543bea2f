//! Some rows of a design as a design of their own, and sums of them.

use super::{Block, CsrMatrix, DenseMatrix, Design, PreparedDesign, Tile, Units};
use crate::error::Result;
use crate::numeric::CompensatedSum;

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

/// `Σ share·x` over the given rows, summed without losing digits.
pub fn weighted_sum(design: &dyn Design, rows: &[usize], shares: &[f64]) -> Result<Vec<f64>> {
    let cols = design.shape().cols;
    let identity = Units::identity(cols);
    let (mut tile, mut values) = (Tile::default(), Vec::new());
    let mut sums = vec![CompensatedSum::default(); cols];
    for (row, share) in rows.iter().zip(shares) {
        match design.block(*row..row + 1, &mut tile)? {
            Block::F64(block) => block.load(&identity, &mut values),
            Block::F32(block) => block.load(&identity, &mut values),
            Block::Csr(block) => {
                let (columns, entries) = block.row(0);
                columns.iter().zip(entries).for_each(|(c, v)| sums[*c as usize].add(share * v));
                continue;
            }
        }
        sums.iter_mut().zip(&values).for_each(|(sum, v)| sum.add(share * v));
    }
    Ok(sums.into_iter().map(CompensatedSum::value).collect())
}

/// The first columns of all rows.
pub fn leading_columns(design: &dyn Design, columns: usize) -> Result<DenseMatrix<'static, f64>> {
    let shape = design.shape();
    let identity = Units::identity(shape.cols);
    let (mut tile, mut values, mut kept) = (Tile::default(), Vec::new(), Vec::with_capacity(shape.rows * columns));
    for row in 0..shape.rows {
        match design.block(row..row + 1, &mut tile)? {
            Block::F64(block) => block.load(&identity, &mut values),
            Block::F32(block) => block.load(&identity, &mut values),
            Block::Csr(block) => {
                values = vec![0.0; shape.cols];
                let (at, entries) = block.row(0);
                at.iter().zip(entries).for_each(|(c, v)| values[*c as usize] = *v);
            }
        }
        kept.extend_from_slice(&values[..columns]);
    }
    DenseMatrix::new(kept, columns)
}
