//! What the discriminants share: blocks of rows, dense ones for functions that need every column.

use crate::design::{Block, Design, Tile};
use crate::error::{Error, ErrorKind, Result};
use crate::watch::Watch;
use rayon::prelude::*;

/// Rows scored at a time: each row's scores are its own, so results do not depend on it. Chosen (bench/constants.md).
pub(super) const BLOCK_ROWS: usize = 512;

/// Passes every block of rows, dense and as doubles, to `score` with its part of `out`, `width` values per row; `new` makes
/// the buffers that a thread keeps between blocks.
pub(super) fn each_dense_block<T: Send, S: Send>(
    design: &dyn Design,
    cols: usize,
    watch: &Watch,
    width: usize,
    out: &mut [T],
    new: impl Fn() -> S + Sync + Send,
    score: impl Fn(&mut S, &[f64], &mut [T]) + Sync,
) -> Result<()> {
    check_columns(design, cols)?;
    out.par_chunks_mut(BLOCK_ROWS * width).enumerate().try_for_each_init(
        || (Tile::default(), Vec::new(), new()),
        |(tile, dense, state), (b, out)| {
            if watch.halted().is_some() {
                return Err(Error::new(ErrorKind::Interrupted, "stopped before all rows were scored"));
            }
            let rows = b * BLOCK_ROWS..b * BLOCK_ROWS + out.len() / width;
            match design.block(rows, tile)? {
                Block::F64(block) => score(state, block.values, out),
                Block::F32(block) => {
                    dense.clear();
                    dense.extend(block.values.iter().map(|v| f64::from(*v)));
                    score(state, dense, out);
                }
                Block::Csr(rows) => {
                    dense.clear();
                    dense.resize(rows.len() * cols, 0.0);
                    for i in 0..rows.len() {
                        let (columns, values) = rows.row(i);
                        columns.iter().zip(values).for_each(|(c, v)| dense[i * cols + *c as usize] = *v);
                    }
                    score(state, dense, out);
                }
            }
            Ok(())
        },
    )
}

/// Refuses a design of another width than the model's.
pub(super) fn check_columns(design: &dyn Design, cols: usize) -> Result<()> {
    let found = design.shape().cols;
    if found != cols {
        return Err(Error::model(format!("the model has {cols} columns, the data {found}")));
    }
    Ok(())
}
