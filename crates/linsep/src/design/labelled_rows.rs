//! The one bundle of rows: features, classes and weights, as solvers and proofs read them.

use super::Design;
use crate::numeric::sum;
use crate::table::Class;

/// Rows with their classes and weights, lent by whoever holds them. [`super::Training`] also has the names of the classes and
/// of the columns; [`crate::objective::Sample`] has units and offsets besides.
///
/// ```
/// use linsep::design::{DenseMatrix, LabelledRows};
/// use linsep::table::Class;
/// let x = DenseMatrix::new(vec![0.0, 1.0, 2.0], 1)?;
/// let rows = LabelledRows::new(&x, &[Class(0), Class(1), Class(1)]).weighted(Some(&[1.0, 0.0, 2.5]));
/// assert_eq!((rows.total_weight(), rows.counted()), (3.5, vec![0, 2]));
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct LabelledRows<'a> {
    /// The features.
    pub design: &'a dyn Design,
    /// The class of every row.
    pub labels: &'a [Class],
    /// sᵢ ≥ 0, frequencies; `None` is 1 for every row.
    pub weights: Option<&'a [f64]>,
}

impl<'a> LabelledRows<'a> {
    /// Rows that count once each.
    pub fn new(design: &'a dyn Design, labels: &'a [Class]) -> LabelledRows<'a> {
        LabelledRows { design, labels, weights: None }
    }

    /// The same rows under these weights.
    pub fn weighted(self, weights: Option<&'a [f64]>) -> LabelledRows<'a> {
        LabelledRows { weights, ..self }
    }

    /// sᵢ.
    pub fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |w| w[row])
    }

    /// Σs.
    pub fn total_weight(&self) -> f64 {
        self.weights.map_or(self.labels.len() as f64, |w| sum(w.iter().copied()))
    }

    /// The rows of positive weight, rising.
    pub fn counted(&self) -> Vec<usize> {
        (0..self.labels.len()).filter(|i| self.weight(*i) > 0.0).collect()
    }

    /// Of two classes: −1 for the first, 1 for the second.
    pub fn side(&self, row: usize) -> f64 {
        if self.labels[row].0 == 1 { 1.0 } else { -1.0 }
    }
}
