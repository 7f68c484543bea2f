//! Which methods leave out a row by a formula, and what least squares is fitted to.

use super::left_out::RowsLeftOut;
use super::{LeastSquaresSettings, LossChoice, Method};
use crate::design::Training;
use crate::error::Result;
use crate::watch::Watch;

impl Method {
    /// Scores of every row by the fit to all others where a formula has them: least squares in closed form, and LDA; `None`
    /// where every row takes a fit.
    pub(crate) fn left_out(&self, training: &Training<'_>, watch: &Watch) -> Result<Option<RowsLeftOut>> {
        match self {
            Method::Gaussian(gaussian) => gaussian.left_out(training, watch),
            _ => self.closed_squares().map_or(Ok(None), |squares| squares.left_out(training, watch)),
        }
    }

    /// Least squares in closed form, which a squared risk with a ridge is as well.
    fn closed_squares(&self) -> Option<LeastSquaresSettings> {
        match self {
            Method::LeastSquares(squares) => Some(squares.clone()),
            Method::Risk(risk) if risk.loss == LossChoice::Squared => {
                let closed = LeastSquaresSettings::has_closed_form(&risk.penalty, !risk.factors.is_empty());
                closed.then(|| LeastSquaresSettings {
                    penalty: risk.penalty,
                    intercept: risk.intercept,
                    standardize: risk.standardize,
                    ..LeastSquaresSettings::default()
                })
            }
            _ => None,
        }
    }

    /// What the scores of least squares are fitted to: the target of each class, score by score, and the constant subtracted from
    /// the scores; `None` of any other method.
    pub(crate) fn class_targets(&self, classes: usize) -> Result<Option<(Vec<Vec<f64>>, f64)>> {
        match self {
            Method::LeastSquares(squares) => squares.targets_of(classes).map(Some),
            Method::Risk(risk) if risk.loss == LossChoice::Squared => {
                LeastSquaresSettings::default().targets_of(classes).map(Some)
            }
            _ => Ok(None),
        }
    }
}
