//! How good predictions are, each figure with an honest 95 % interval.
//!
//! ```
//! use linsep::evaluate::{Scored, evaluate};
//! use linsep::table::Class;
//! let classes = ["no".to_owned(), "yes".to_owned()];
//! let truth = [Class(0), Class(0), Class(1), Class(1)];
//! let predicted = [Class(0), Class(1), Class(1), Class(1)].map(Some);
//! let probabilities = [0.9, 0.1, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8];
//! let scored = Scored {
//!     classes: &classes,
//!     truth: &truth,
//!     predicted: &predicted,
//!     decision: None,
//!     probabilities: Some(&probabilities),
//!     losses: None,
//!     weights: None,
//!     origin: None,
//! };
//! let evaluation = evaluate(&scored)?;
//! assert_eq!(evaluation.accuracy.value(), Some(0.75));
//! assert_eq!(evaluation.auc.unwrap().value(), Some(1.0));
//! # Ok::<(), linsep::Error>(())
//! ```
//!
//! What cannot be known is said, never guessed: [`Metric::Undefined`] carries a reason, an [`Estimate`] without interval
//! says why in its method. No number here is NaN or infinite.
//!
//! The intervals speak of new rows drawn like these and of the classifier as it is. They do not cover the choice of the
//! classifier: rows it was fitted on make every figure too good.

mod against;
pub(crate) mod auc;
mod bounds;
mod class_figures;
mod confusion;
mod curve;
mod decided;
mod details;
mod guarantee;
mod interval;
mod labels;
mod probability;
mod reliability;
mod resampled;
mod score_losses;
mod scored;
mod sets;

pub use against::{Against, AucDifference, Bootstrap, Comparison, McNemar};
pub use bounds::{MarginPremises, clopper_pearson, clopper_pearson_upper, empirical_bernstein_upper, hoeffding_upper};
pub(crate) use bounds::{margin_upper, online_upper};
pub use class_figures::{ClassFigures, ClassReport};
pub use confusion::Confusion;
pub use curve::{Lift, RankingReport, ThresholdFigures, ThresholdTarget, WantedFigure};
pub use details::{Details, Thresholds};
pub use guarantee::{BoundKind, ErrorBound, Guarantee, LeftOut};
pub use interval::{LEVEL, wilson};
pub use labels::LabelFigures;
pub use reliability::{BrierParts, HosmerLemeshow, Reliability, ReliabilityBin};
pub use score_losses::ScoreLosses;
pub(crate) use score_losses::score_losses;
pub use scored::{RowsOf, Scored};
pub use sets::SetFigures;
pub(crate) use sets::set_figures;

// For the other stages, the command, the extension and the tests: nothing is promised about these.
#[doc(hidden)]
pub use self::{
    against::{Opponents, compare},
    bounds::excess_risk_bound,
    details::{details, thresholds},
    guarantee::guarantee,
    labels::evaluate_labels,
    resampled::{ResampledMean, holm, resampled_mean},
};

use crate::error::Result;
use serde::ser::{Serialize, SerializeMap, Serializer};

/// A figure, its 95 % interval and how both were found.
///
/// Serialises as `{"value": 0.8, "interval": [0.49, 0.94], "method": "…"}`.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Estimate {
    /// The figure on these rows.
    pub value: f64,
    /// Low and high end, around the value; absent where the rows do not allow one, and then `method` says why.
    pub interval: Option<(f64, f64)>,
    /// Convention of the figure and method of the interval.
    pub method: String,
}

impl Estimate {
    fn new(value: f64, interval: Option<(f64, f64)>, method: impl Into<String>) -> Estimate {
        Estimate { value, interval, method: method.into() }
    }

    /// The same estimate without its interval when there are fewer than two rows: one row shows no variation.
    fn needs_two(mut self, total_weight: f64) -> Estimate {
        if total_weight < 2.0 {
            self.interval = None;
            self.method = format!("{}; no interval: total weight {total_weight} is below 2", self.method);
        }
        self
    }
}

/// A figure that these rows may leave undefined.
///
/// Serialises like its [`Estimate`], or as `{"value": null, "interval": null, "reason": "…"}`.
#[derive(Debug, Clone, PartialEq)]
pub enum Metric {
    /// Defined.
    Estimated(Estimate),
    /// Not defined, or infinite.
    Undefined {
        /// Why.
        reason: String,
    },
}

impl Metric {
    fn undefined(reason: impl Into<String>) -> Metric {
        Metric::Undefined { reason: reason.into() }
    }

    /// The estimate, where defined.
    pub fn estimate(&self) -> Option<&Estimate> {
        match self {
            Metric::Estimated(estimate) => Some(estimate),
            Metric::Undefined { .. } => None,
        }
    }

    /// The figure, where defined.
    pub fn value(&self) -> Option<f64> {
        self.estimate().map(|e| e.value)
    }

    /// Low and high end, where there are any.
    pub fn interval(&self) -> Option<(f64, f64)> {
        self.estimate().and_then(|e| e.interval)
    }

    /// Why the figure is undefined.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Metric::Estimated(_) => None,
            Metric::Undefined { reason } => Some(reason),
        }
    }
}

impl Serialize for Metric {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Metric::Estimated(estimate) => estimate.serialize(serializer),
            Metric::Undefined { reason } => {
                let mut map = serializer.serialize_map(Some(3))?;
                map.serialize_entry("value", &None::<f64>)?;
                map.serialize_entry("interval", &None::<(f64, f64)>)?;
                map.serialize_entry("reason", reason)?;
                map.end()
            }
        }
    }
}

/// One metric per class, in the order of the classes; serialises as an object from name to metric.
#[derive(Debug, Clone, PartialEq)]
pub struct PerClass(Vec<(String, Metric)>);

impl PerClass {
    fn new(metrics: Vec<(String, Metric)>) -> PerClass {
        PerClass(metrics)
    }

    /// Names and metrics, in the order of the classes.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Metric)> {
        self.0.iter().map(|(name, metric)| (name.as_str(), metric))
    }

    /// The metric of a class.
    pub fn get(&self, name: &str) -> Option<&Metric> {
        self.iter().find(|(n, _)| *n == name).map(|(_, metric)| metric)
    }
}

impl Serialize for PerClass {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

/// All the figures; those that need probabilities (the log loss: or losses) are `None` without them.
///
/// Accuracy, balanced accuracy, F1 and the confusion speak of the rows that were decided, all others of all rows.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Evaluation {
    /// Number of rows judged.
    pub rows: usize,
    /// Sum of their weights; the sample size of every interval.
    pub total_weight: f64,
    /// Coverage of the intervals: [`LEVEL`].
    pub level: f64,
    /// Share of the rows that were rejected; `None` if the decision never rejects.
    pub rejected: Option<Estimate>,
    /// Share of the rows that two-class fits left undetermined; `None` where they cannot.
    pub undetermined: Option<Estimate>,
    /// Share of all rows given their own class, an undetermined one counted as a mistake; `None` where there can be none.
    pub right_of_all: Option<Estimate>,
    /// Mean cost of the decisions, a rejected row at the cost of rejection; `None` without costs or rejection.
    pub mean_cost: Option<Estimate>,
    /// Share of the decided rows given their own class.
    pub accuracy: Metric,
    /// Mean recall of the classes that occur.
    pub balanced_accuracy: Metric,
    /// Mean of `−ln p(true class)`; undefined when infinite.
    pub log_loss: Option<Metric>,
    /// Mean squared error of the probabilities; two classes: of the last one, more: summed over classes.
    pub brier: Option<Estimate>,
    /// Area under the ROC curve of the last of two classes, or the mean of one-vs-rest areas.
    pub auc: Option<Metric>,
    /// Harmonic mean of precision and recall of every class.
    pub f1: PerClass,
    /// Which class was taken for which.
    pub confusion: Confusion,
}

/// Judges predictions; weight k counts as k copies of a row in every figure and interval.
///
/// Takes one pass over the rows per figure and, for the AUC, one sort per judged class. The result does not depend on the
/// number of threads.
///
/// # Errors
/// Lengths that disagree, fewer than two classes or equal names, classes without name, weights that are negative, not
/// finite or all zero, probabilities outside `[0, 1]` or rows of them that do not sum to one, losses that are negative
/// or not numbers, rows without prediction under a decision that never rejects. Errors about a row name its place in the table where [`Scored::origin`] is given.
#[doc(hidden)]
pub fn evaluate(scored: &Scored<'_>) -> Result<Evaluation> {
    scored.check()?;
    let confusion = Confusion::new(scored);
    let mut class_weights = vec![0.0; scored.classes.len()];
    scored.truth.iter().enumerate().for_each(|(row, c)| class_weights[c.index()] += scored.weight(row));
    Ok(Evaluation {
        rows: scored.truth.len(),
        total_weight: scored.total_weight(),
        level: LEVEL,
        rejected: decided::rejected(scored),
        undetermined: decided::undetermined(scored),
        right_of_all: decided::right_of_all(scored),
        mean_cost: decided::mean_cost(scored),
        accuracy: confusion.accuracy(),
        balanced_accuracy: confusion.balanced_accuracy(),
        log_loss: probability::log_loss(scored),
        brier: scored.probabilities.map(|p| probability::brier(scored, p)),
        auc: scored.probabilities.map(|p| auc::auc(scored, p, &class_weights)),
        f1: confusion.f1(),
        confusion,
    })
}
