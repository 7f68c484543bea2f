//! The perceptron family: algorithms that move θ only by rows on the wrong side, `y θ·x̃ ≤ 0`, from θ₀ = 0.
//!
//! - [`OnlinePerceptron`]: `θ ← θ + η y x̃` row by row; averaged over all steps on demand (Freund and Schapire 1999).
//! - [`BatchPerceptron`]: `θ ← θ + η Σ_M s y x̃ / Σ_M s` over all rows M on the wrong side.
//! - [`PocketPerceptron`]: online on rows drawn with replacement, keeping the best θ met (Gallant 1990).
//! - [`SteppedPerceptron`]: the textbooks' rules with any start and steps, by a row, a sum or a mean.
//! - [`KernelPerceptronRun`]: online in a feature space that only a kernel knows (Aizerman and others 1964).
//!
//! With `R = max ‖x̃‖` and any θ* that has `γ = min y θ*·x̃ > 0` the updates number at most `R²‖θ*‖²/γ²` (Novikoff 1962),
//! in whatever order rows come: an update adds at least `ηγ` to `θ·θ*` and at most `η²R²` to `‖θ‖²`. The batch step
//! is a mean of such rows, so the same holds of its iterations. No loss is minimised: that of the perceptron is zero at θ = 0.
//!
//! From θ₀ = 0 a constant step η only scales θ and decides nothing, so the sums are kept without it and are exact
//! for whole numbers.

mod batch;
mod kernel;
mod online;
mod pocket;
mod rows;
mod stepped;

pub use batch::BatchPerceptron;
pub use kernel::KernelPerceptronRun;
pub use online::OnlinePerceptron;
pub use pocket::{PocketPerceptron, PocketRule};
pub use rows::SignedRows;
pub use stepped::{PerceptronMove, PerceptronSteps, SteppedPerceptron, SteppedRule};

use super::Stop;
use crate::error::Result;
use crate::objective::Coef;
use crate::watch::{Progress, Watch};
use rows::PerceptronSums;
use serde::{Deserialize, Serialize};

/// In which order rows are visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// In a fresh random order every epoch, by the seed.
    #[default]
    Shuffled,
    /// As they come.
    Given,
}

/// An update that has just been made.
struct FollowedUpdate {
    /// Its number; 0 is the start.
    update: usize,
    /// The row that made it, where it was one.
    row: Option<usize>,
    /// The length of the step.
    step: f64,
    /// `y θ·x̃` of the row before.
    before: Option<f64>,
}

/// Tells an observer who follows every update where θ is now.
fn report_update(watch: &Watch, rows: &SignedRows<'_>, sums: &PerceptronSums, moved: &FollowedUpdate) {
    if !watch.follows() {
        return;
    }
    watch.report(Progress::Update {
        update: moved.update,
        row: moved.row,
        step: moved.step,
        loss: rows.loss(sums),
        before: moved.before,
        after: moved.row.map(|row| rows.margin(sums, row)),
        coefficients: rows.coef(sums).as_slice(),
    });
}

/// An algorithm that moves by its mistakes and can be continued.
pub trait MistakeDriven {
    /// Goes on until `epochs` epochs are done in all, or θ separates the rows ([`Stop::Converged`]), or the watch halts.
    fn run(&mut self, epochs: usize, watch: &Watch) -> Result<Stop>;

    /// What would be returned now, for η = 1, in the units of the rows.
    fn coef(&self) -> Coef;

    /// Updates so far.
    fn mistakes(&self) -> usize;

    /// Epochs done: passes over the rows, or as many draws as there are rows.
    fn epochs(&self) -> usize;
}
