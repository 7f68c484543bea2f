//! What a perceptron does, in symbols and in words.

use super::{PerceptronSettings, PerceptronVariant};
use crate::design::Standardize;
use crate::objective::Intercept;
use crate::solve::{Order, PerceptronSteps};

impl PerceptronSettings {
    /// What is done, in symbols.
    pub(in crate::model) fn formula(&self) -> String {
        let scores = match (self.standardize, self.intercept) {
            (Standardize::Yes, Intercept::None) => "x̃ = x/sd",
            (Standardize::Yes, _) => "x̃ = ((x−mean)/sd, 1)",
            (Standardize::No, Intercept::None) => "x̃ = x",
            (Standardize::No, _) => "x̃ = (x, 1)",
        };
        let rule = match self.variant {
            PerceptronVariant::Batch => "θ ← θ + η Σ s·y·x̃ / Σs over the rows with y θ·x̃ ≤ 0",
            PerceptronVariant::BatchSum => "θ ← θ + η Σ s·y·x̃ over the rows with y θ·x̃ ≤ 0",
            _ => "θ ← θ + η y x̃ where y θ·x̃ ≤ 0",
        };
        let kept = match self.variant {
            PerceptronVariant::Online | PerceptronVariant::Batch | PerceptronVariant::BatchSum => "",
            PerceptronVariant::PocketRun => "; the θ with the longest run of right rows is kept",
            PerceptronVariant::PocketErrors => "; the θ with the fewest errors is kept",
            PerceptronVariant::Averaged => "; the average of θ over all steps is kept",
        };
        let steps = match &self.steps {
            PerceptronSteps::Harmonic => format!("{}/t at update t", self.step),
            PerceptronSteps::Root => format!("{}/√t at update t", self.step),
            PerceptronSteps::Listed(steps) => {
                let steps: Vec<String> = steps.iter().map(|s| (self.step * s).to_string()).collect();
                format!("{}, then the last", steps.join(", "))
            }
            PerceptronSteps::Best => "θ*·d/‖d‖² for the move d, θ* the widest plane".to_owned(),
            PerceptronSteps::Constant => self.step.to_string(),
        };
        let from = if self.started { "a given start" } else { "θ = 0" };
        format!("no objective: {rule}, from {from}{kept}; {scores}, η={steps}")
    }

    pub(super) fn algorithm(&self) -> String {
        let order = match self.order {
            Order::Shuffled => "rows in a new order every epoch",
            Order::Given => "rows in their order",
        };
        match self.variant {
            PerceptronVariant::Online => format!("online perceptron, {order}"),
            PerceptronVariant::Batch => "batch perceptron".into(),
            PerceptronVariant::BatchSum => "batch perceptron by sums".into(),
            PerceptronVariant::PocketRun | PerceptronVariant::PocketErrors if self.order == Order::Given => {
                format!("pocket, {order}")
            }
            PerceptronVariant::PocketRun | PerceptronVariant::PocketErrors => {
                "pocket, rows drawn with replacement".into()
            }
            PerceptronVariant::Averaged => format!("averaged perceptron, {order}"),
        }
    }
}
