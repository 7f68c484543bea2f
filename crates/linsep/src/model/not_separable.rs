//! That no plane separates the classes, for methods that need one.

use crate::separate::SeparabilityVerdict;

/// No plane puts every row strictly on its side: a perceptron makes mistakes forever, and there is no hard margin.
#[derive(Debug, Clone, PartialEq)]
pub struct NotSeparable {
    /// Rows (from 0) that already overlap among themselves: all, or those that other planes leave on their boundary.
    pub rows: Vec<usize>,
    /// The verdict, with the weights on rows that prove it; `None` for a perceptron without an intercept, whose rows are
    /// proved to overlap by a verified solve or in rational arithmetic (one row: it is zero, and on no side of any plane).
    pub witness: Option<Box<SeparabilityVerdict>>,
    /// Mistakes of a perceptron before that was proved.
    pub mistakes: usize,
    /// Epochs it had done, 0 for other methods.
    pub epochs: usize,
    /// Of a kernel: no plane in its feature space has a margin above this, which is proved of the rows of most weight; 0
    /// where two of them are the same and of different classes.
    pub margin_at_most: Option<f64>,
}

impl NotSeparable {
    /// Rows by the numbers that they have elsewhere.
    pub(crate) fn rename_rows(&mut self, names: &[usize]) {
        self.rows.iter_mut().for_each(|row| *row = names[*row]);
        self.witness.iter_mut().for_each(|found| found.rename_rows(names));
    }
}
