//! The hinges of two classes: `θ = −ya`, `a ≥ 0`, with `m = 1 − yz`: `FY = m₊ − am` of the hinge, where `a ≤ 1`, and
//! `(m₊ − a/2)² + a(−m)₊` of the squared hinge.
//!
//! `Σsθ = 0` asks for equal totals `A = Σsa` of both classes. M is a double that is no larger than either; each class is
//! reduced by `A − M` in exact arithmetic: by scaling the multipliers of its rows below their bound where these suffice, and
//! those of all its rows otherwise.

use super::free_columns::CUT;
use super::{DualTask, Enclosed, ImbalanceSums, RowTerms, ScoredRows};
use crate::error::Result;
use crate::numeric::{CompensatedSum, UNIT, rounding_bound};
use crate::objective::{Hinge, MarginLoss, SquaredHinge};
use crate::table::Class;
use serde::{Deserialize, Serialize};

/// The share that rows keep of their multipliers, class by class.
#[derive(Serialize, Deserialize)]
pub struct ScaledMultipliers {
    keep: [Share; 2],
    largest: f64,
    /// Where columns are without a penalty, rows up to this slack have no part in the dual point.
    cut: Option<f64>,
    /// Then, the mean of ½(θ − θ̂)².
    gain: f64,
}

/// The factors by which the multipliers of a class are scaled.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Share {
    /// Of those below their bound, and of those at it.
    below: f64,
    at: f64,
    /// A bound on the error of a factor.
    error: f64,
}

/// Multipliers are kept as they are.
const ALL: Share = Share { below: 1.0, at: 1.0, error: 0.0 };

/// The multiplier of a row before it is scaled: what is given, or what the derivative says.
fn raw<L: MarginLoss>(loss: &L, rows: &ScoredRows<'_>, cut: Option<f64>, row: usize) -> f64 {
    match rows.multipliers {
        Some(given) => given[row].clamp(0.0, loss.largest_multiplier()),
        None => match slack(rows, row) {
            // Rows next to the margin have no part in the balance of columns without a penalty.
            slack if cut.is_some_and(|cut| slack <= cut) => 0.0,
            slack => loss.slope_at(slack),
        },
    }
}

/// `1 − yz`.
fn slack(rows: &ScoredRows<'_>, row: usize) -> f64 {
    1.0 - if rows.labels[row] == Class(1) { rows.scores[row] } else { -rows.scores[row] }
}

/// The multipliers where nothing has to be balanced by the rows.
fn unscaled<L: MarginLoss>(loss: &L, task: &DualTask) -> Option<ScaledMultipliers> {
    let gain = task.partly_best.map_or(0.0, |best| best.gain);
    let (largest, cut) = (loss.largest_multiplier(), task.partly_best.map(|_| CUT));
    (!task.balanced || task.partly_best.is_some()).then_some(ScaledMultipliers { keep: [ALL; 2], largest, cut, gain })
}

/// Balanced by the totals of the classes, and of their rows below the bound.
fn scaled<L: MarginLoss>(loss: &L, sums: &[f64]) -> std::result::Result<ScaledMultipliers, String> {
    let largest = loss.largest_multiplier();
    let rounding = rounding_bound(16);
    let common = sums[0].min(sums[1]) * (1.0 - 2.0 * rounding);
    let share = |class: usize| {
        let (all, below) = (sums[class], sums[2 + class]);
        let excess = all - common;
        let given = |part: f64| (1.0 - excess / part, 2.0 * rounding * all / part);
        match all > 0.0 {
            true if below > 2.0 * excess => {
                let (below, error) = given(below);
                Share { below, at: 1.0, error }
            }
            true => {
                let (kept, error) = given(all);
                Share { below: kept.max(0.0), at: kept.max(0.0), error }
            }
            false => ALL,
        }
    };
    let keep = [share(0), share(1)];
    match keep.iter().all(|k| k.below.is_finite() && k.error.is_finite()) {
        true => Ok(ScaledMultipliers { keep, largest, cut: None, gain: 0.0 }),
        false => Err("the multipliers of the two classes cannot be balanced".into()),
    }
}

impl ScaledMultipliers {
    /// a of a row, and how far it may be from the exact one.
    fn of(&self, raw: f64, class: Class) -> (f64, f64) {
        let share = self.keep[class.index()];
        let kept = if raw < self.largest { share.below } else { share.at };
        (raw * kept, raw * (share.error + 2.0 * UNIT))
    }
}

/// What the two hinges share.
macro_rules! enclosed_margin {
    ($loss:ty) => {
        impl Enclosed for $loss {
            type DualPoint = ScaledMultipliers;

            fn n_imbalances(&self) -> usize {
                4
            }

            fn add_imbalance(&self, rows: &ScoredRows<'_>, row: usize, s: f64, sums: &mut [CompensatedSum]) {
                let (a, class) = (raw(self, rows, None, row), rows.labels[row].index());
                sums[class].add(s * a);
                if a < self.largest_multiplier() {
                    sums[2 + class].add(s * a);
                }
            }

            fn feasible(
                &self,
                task: &DualTask,
                sums_at: &mut dyn FnMut(&[f64]) -> Result<ImbalanceSums>,
            ) -> Result<std::result::Result<ScaledMultipliers, String>> {
                match unscaled(self, task) {
                    Some(found) => Ok(Ok(found)),
                    None => Ok(scaled(self, &sums_at(&[])?.values())),
                }
            }

            /// `(a + b)² ≤ 2a² + 2b²` of what the rows and the columns without a penalty are off, the latter by half of θ.
            fn mean_term(&self, dual: &ScaledMultipliers) -> f64 {
                dual.gain
            }

            fn mean_error(&self, dual: &ScaledMultipliers) -> f64 {
                (2.0 * dual.gain).sqrt()
            }

            fn theta(
                &self,
                rows: &ScoredRows<'_>,
                dual: &ScaledMultipliers,
                row: usize,
                theta: &mut [f64],
                error: &mut [f64],
            ) {
                let class = rows.labels[row];
                let (a, off) = dual.of(raw(self, rows, dual.cut, row), class);
                (theta[0], error[0]) = (if class == Class(1) { -a } else { a }, off);
            }

            fn terms(&self, rows: &ScoredRows<'_>, dual: &ScaledMultipliers, shrink: f64, row: usize) -> RowTerms {
                let (a, off) = dual.of(raw(self, rows, dual.cut, row), rows.labels[row]);
                let (a, off) = (shrink * a, shrink * off + 2.0 * UNIT * a);
                let m = slack(rows, row);
                // 1 − yz is rounded once more.
                let error = rows.errors[row] + UNIT * m.abs();
                let terms = self.margin_terms(m, error, a, off);
                let twice = if dual.gain > 0.0 { 2.0 } else { 1.0 };
                RowTerms { fenchel_young: twice * terms.fenchel_young, ..terms }
            }
        }
    };
}

enclosed_margin!(Hinge);
enclosed_margin!(SquaredHinge);

/// Bounds for a slack m and a multiplier a, each within its error.
trait MarginTerms: MarginLoss {
    fn margin_terms(&self, m: f64, error: f64, a: f64, off: f64) -> RowTerms;
}

impl MarginTerms for Hinge {
    fn margin_terms(&self, m: f64, error: f64, a: f64, off: f64) -> RowTerms {
        let least = if m > 0.0 { (1.0 - a).max(0.0) * m } else { -a * m };
        let fenchel_young = least + error * a.max(1.0 - a) + (off + UNIT) * (m.abs() + error);
        RowTerms { fenchel_young, loss_error: error }
    }
}

impl MarginTerms for SquaredHinge {
    fn margin_terms(&self, m: f64, error: f64, a: f64, off: f64) -> RowTerms {
        let missed = (m.max(0.0) - 0.5 * a).abs() + error + 0.5 * off + UNIT * (m.abs() + a);
        let beyond = (a + off) * (error - m).max(0.0);
        let loss_error = error * (2.0 * m.max(0.0) + error);
        RowTerms { fenchel_young: missed * missed + beyond, loss_error }
    }
}
