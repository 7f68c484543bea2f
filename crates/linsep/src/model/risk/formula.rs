//! The objective in symbols.

use super::{LossChoice, PenaltyChoice, RiskMinimizer};
use crate::design::Standardize;
use crate::objective::Intercept;

impl RiskMinimizer {
    /// What is minimised, complete.
    pub(in crate::model) fn formula(&self, classes: usize) -> String {
        let loss = match (self.loss, classes) {
            (LossChoice::Logistic, 2) => "log(1+exp(−y·z))",
            (LossChoice::Logistic, _) => "[log Σ exp(z_k) − z_y]",
            (LossChoice::Hinge, 2) => "max(0, 1−y·z)",
            (LossChoice::Hinge, _) => "max_k (1{k≠y} + z_k − z_y)",
            (LossChoice::SquaredHinge, _) => "max(0, 1−y·z)²",
            (LossChoice::Squared, 2) => "½(z−y)²",
            (LossChoice::Squared, _) => "½ Σ (z_k−1{y=k})²",
        };
        let scores = match (self.standardize, self.intercept) {
            (Standardize::Yes, Intercept::None) => "z = W·x/sd",
            (Standardize::Yes, _) => "z = W·(x−mean)/sd + b",
            (Standardize::No, Intercept::None) => "z = W·x",
            (Standardize::No, _) => "z = W·x + b",
        };
        format!("Σ s·{loss} / Σs{}, {scores}", self.penalty_formula())
    }

    fn penalty_formula(&self) -> &'static str {
        let penalised = self.intercept == Intercept::Penalised;
        match (self.penalty, self.factors.is_empty(), penalised) {
            (PenaltyChoice::None, ..) => "",
            (PenaltyChoice::RidgeOne | PenaltyChoice::Ridge(_) | PenaltyChoice::RidgeCost(_), true, false) => {
                " + λ/2·‖W‖²"
            }
            (PenaltyChoice::RidgeOne | PenaltyChoice::Ridge(_) | PenaltyChoice::RidgeCost(_), true, true) => {
                " + λ/2·(‖W‖² + ‖b‖²)"
            }
            (PenaltyChoice::RidgeOne | PenaltyChoice::Ridge(_) | PenaltyChoice::RidgeCost(_), false, false) => {
                " + λ/2·Σ f_j·‖W_j‖²"
            }
            (PenaltyChoice::RidgeOne | PenaltyChoice::Ridge(_) | PenaltyChoice::RidgeCost(_), false, true) => {
                " + λ/2·(Σ f_j·‖W_j‖² + ‖b‖²)"
            }
            (PenaltyChoice::ElasticNet { l1_ratio: 1.0, .. }, true, false) => " + λ·‖W‖₁",
            (PenaltyChoice::ElasticNet { l1_ratio: 1.0, .. }, true, true) => " + λ·(‖W‖₁ + ‖b‖₁)",
            (PenaltyChoice::ElasticNet { l1_ratio: 1.0, .. }, false, false) => " + λ·Σ f_j·‖W_j‖₁",
            (PenaltyChoice::ElasticNet { l1_ratio: 1.0, .. }, false, true) => " + λ·(Σ f_j·‖W_j‖₁ + ‖b‖₁)",
            (PenaltyChoice::ElasticNet { .. }, true, false) => " + λ·[(1−α)/2·‖W‖² + α·‖W‖₁]",
            (PenaltyChoice::ElasticNet { .. }, true, true) => " + λ·[(1−α)/2·(‖W‖² + ‖b‖²) + α·(‖W‖₁ + ‖b‖₁)]",
            (PenaltyChoice::ElasticNet { .. }, false, false) => " + λ·Σ f_j·[(1−α)/2·‖W_j‖² + α·‖W_j‖₁]",
            (PenaltyChoice::ElasticNet { .. }, false, true) => {
                " + λ·{Σ f_j·[(1−α)/2·‖W_j‖² + α·‖W_j‖₁] + (1−α)/2·‖b‖² + α·‖b‖₁}"
            }
        }
    }
}
