//! The parts of a risk that need no row: loss, penalty, intercept and totals.

use super::{Coef, Loss, Penalty};
use serde::{Deserialize, Serialize};

/// What becomes of the intercept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Intercept {
    /// Fitted, not penalised.
    #[default]
    Free,
    /// Zero.
    None,
    /// Fitted and penalised like a weight.
    Penalised,
}

/// The parts of a risk that need no pass over the rows.
pub trait RiskFrame {
    /// The loss.
    type Loss: Loss;
    /// The penalty.
    type Penalty: Penalty;

    /// The loss.
    fn loss(&self) -> &Self::Loss;
    /// The penalty.
    fn penalty(&self) -> &Self::Penalty;
    /// What becomes of the intercept.
    fn intercept(&self) -> Intercept;
    /// Number of columns.
    fn n_cols(&self) -> usize;
    /// Σs.
    fn total_weight(&self) -> f64;
    /// The objective at zero weights: what the suboptimality is measured against.
    fn null_objective(&self) -> f64;

    /// The penalty at some coefficients, the intercept among them where it is penalised.
    fn penalty_at(&self, coef: &Coef) -> f64 {
        let (ridge, lasso) = (self.penalty().ridge(), self.penalty().lasso());
        let intercept = match self.intercept() {
            Intercept::Penalised => coef.intercept().iter().map(|b| 0.5 * ridge * b * b + lasso * b.abs()).sum(),
            Intercept::Free | Intercept::None => 0.0,
        };
        self.penalty().value(coef.weights(), coef.n_cols()) + intercept
    }
}
