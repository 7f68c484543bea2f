//! A point near each class, so that sums about it lose no digits to a large common offset.

use crate::design::{Block, Design, Tile, Units, telling_weight};
use crate::error::Result;
use crate::table::Labels;

/// Rows per class whose mean is the class's reference: any point near the class avoids cancellation, and the mean of 16
/// is within a quarter of a standard deviation.
const REFERENCE_ROWS: usize = 16;

/// A row as it is, with all its zeros.
pub(crate) fn whole_row<'v>(block: Block<'_>, units: &Units, values: &'v mut Vec<f64>) -> &'v [f64] {
    match block {
        Block::F64(dense) => dense.load(units, values),
        Block::F32(dense) => dense.load(units, values),
        Block::Csr(rows) => {
            values.clear();
            values.resize(rows.cols, 0.0);
            let (columns, entries) = rows.row(0);
            columns.iter().zip(entries).for_each(|(c, v)| values[*c as usize] = *v);
        }
    }
    values
}

/// The mean of the first few rows of each class, of those whose weights tell where its mean is.
///
/// It is summed as differences from the class's first row: a column that is constant within the class then has that very
/// value as its reference, and a spread of exactly zero.
pub(super) fn class_references(design: &dyn Design, labels: &Labels, weights: Option<&[f64]>) -> Result<Vec<f64>> {
    let cols = design.shape().cols;
    let identity = Units::identity(cols);
    let mut first = vec![0.0; labels.n_classes() * cols];
    let mut differences = vec![0.0; labels.n_classes() * cols];
    let mut counts = vec![0usize; labels.n_classes()];
    let mut open = labels.n_classes();
    let (mut tile, mut values) = (Tile::default(), Vec::new());
    let of_class = |w: &[f64], k: usize| {
        let rows = w.iter().zip(labels.codes()).filter(move |(_, class)| class.index() == k);
        telling_weight(rows.map(|(w, _)| *w))
    };
    let least: Option<Vec<f64>> = weights.map(|w| (0..labels.n_classes()).map(|k| of_class(w, k)).collect());
    for (row, class) in labels.codes().iter().enumerate() {
        let k = class.index();
        let tells = || weights.zip(least.as_deref()).is_none_or(|(w, least)| w[row] >= least[k]);
        if counts[k] == REFERENCE_ROWS || !tells() {
            continue;
        }
        let block = design.block(row..row + 1, &mut tile)?;
        let values = whole_row(block, &identity, &mut values);
        let range = k * cols..(k + 1) * cols;
        if counts[k] == 0 {
            first[range].copy_from_slice(values);
        } else {
            let steps = differences[range.clone()].iter_mut().zip(&first[range]).zip(values);
            steps.for_each(|((d, f), v)| *d += v - f);
        }
        counts[k] += 1;
        if counts[k] == REFERENCE_ROWS {
            open -= 1;
            if open == 0 {
                break;
            }
        }
    }
    for (k, count) in counts.iter().enumerate().filter(|(_, c)| **c > 0) {
        let range = k * cols..(k + 1) * cols;
        let moves = first[range.clone()].iter_mut().zip(&differences[range]);
        moves.for_each(|(f, d)| *f += d / *count as f64);
    }
    // A value that is not finite would hide the place of the fault in every row of the class.
    first.iter_mut().for_each(|r| *r = if r.is_finite() { *r } else { 0.0 });
    Ok(first)
}
