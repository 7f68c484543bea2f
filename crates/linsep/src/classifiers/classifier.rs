//! What a fitted classifier can be asked.

use super::{Features, Matrix};
use crate::certify::Certificate;
use crate::error::{Error, Result};
use crate::words::{Span, words};

/// A fitted classifier: what every method's fit returns can do, and what a caller's own classifier may do as well.
///
/// ```
/// use linsep::prelude::*;
/// fn errors<C: Classifier<Class = u8>>(model: &C, x: &[[f64; 1]], y: &[u8]) -> linsep::Result<usize> {
///     Ok(model.predict(x)?.iter().zip(y).filter(|(a, b)| a != b).count())
/// }
/// let (x, y) = ([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]);
/// let model = GaussianNb::new().fit(&x, &y)?;
/// assert_eq!(errors(&model, &x, &y)?, 0);
/// # Ok::<(), linsep::FitError>(())
/// ```
pub trait Classifier {
    /// What a prediction is.
    type Class: Clone;

    /// The classes, in the order of scores and probabilities.
    fn classes(&self) -> &[Self::Class];

    /// What is proved of the fit. Where several two-class fits make up the model, the weakest of their certificates.
    fn certificate(&self) -> &Certificate;

    /// The scores of every row: one for two classes, whose sign decides (positive for the last class); one for each class;
    /// or one for each two-class fit.
    fn scores<X: Features + ?Sized>(&self, x: &X) -> Result<Matrix<'static, f64>>;

    /// The class of every row; `None` where there is none, because costs say not to decide or two-class fits contradict
    /// each other.
    fn decide<X: Features + ?Sized>(&self, x: &X) -> Result<Vec<Option<Self::Class>>>;

    /// The probability of every class for every row.
    ///
    /// # Errors
    /// Where the scores of the method have no probabilities, as margins have none.
    fn predict_proba<X: Features + ?Sized>(&self, x: &X) -> Result<Matrix<'static, f64>>;

    /// The class of every row.
    ///
    /// # Errors
    /// Also where a row has no class, which [`decide`](Classifier::decide) gives as `None`.
    fn predict<X: Features + ?Sized>(&self, x: &X) -> Result<Vec<Self::Class>> {
        let undecided = |row: usize| {
            Error::data(words![Span::Row(row), " has no class: its scores contradict each other, or it is rejected"])
                .help("ask for decisions, which may be none")
        };
        let decided = self.decide(x)?.into_iter().enumerate();
        decided.map(|(row, class)| class.ok_or_else(|| undecided(row))).collect()
    }
}
