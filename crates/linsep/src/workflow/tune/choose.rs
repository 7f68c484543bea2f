//! What candidates are compared by, and which of them is taken.

use super::super::plan::Plan;
use super::Candidate;
use super::trial::Tried;
use crate::error::{Error, Result};
use crate::evaluate::Evaluation;
use crate::words::{Setting, words};

/// What candidates are compared by; all of them are losses, so that less is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TuneMetric {
    /// Mean of `−ln p(true class)`.
    LogLoss,
    /// Share of wrong predictions, undetermined and rejected rows among them.
    Error,
    /// One less the mean recall of the classes.
    BalancedError,
    /// Mean squared error of the probabilities.
    Brier,
    /// One less the area under the ROC curve.
    AucLoss,
    /// Mean of `‖t − z‖²`, the squared distance of the scores of least squares from the targets of the class.
    SquaredError,
}

/// Which of the sizes of a penalty is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TuneRule {
    /// That of the least mean loss.
    Least,
    /// The largest whose mean loss is within one standard error of the least.
    OneStandardError,
}

impl TuneMetric {
    /// All of them.
    pub const ALL: [TuneMetric; 6] = [
        TuneMetric::LogLoss,
        TuneMetric::Error,
        TuneMetric::BalancedError,
        TuneMetric::Brier,
        TuneMetric::AucLoss,
        TuneMetric::SquaredError,
    ];

    /// Its name for programs.
    pub fn name(self) -> &'static str {
        match self {
            TuneMetric::LogLoss => "log_loss",
            TuneMetric::Error => "error",
            TuneMetric::BalancedError => "balanced_error",
            TuneMetric::Brier => "brier",
            TuneMetric::AucLoss => "one_less_auc",
            TuneMetric::SquaredError => "squared_error",
        }
    }

    /// The least and the largest value that it can have.
    pub(in crate::workflow) fn range(self) -> (f64, f64) {
        match self {
            TuneMetric::LogLoss | TuneMetric::SquaredError => (0.0, f64::INFINITY),
            // Of several classes the squared errors of all of them add up.
            TuneMetric::Brier => (0.0, 2.0),
            TuneMetric::Error | TuneMetric::BalancedError | TuneMetric::AucLoss => (0.0, 1.0),
        }
    }

    pub(in crate::workflow) fn needs_probabilities(self) -> bool {
        matches!(self, TuneMetric::LogLoss | TuneMetric::Brier | TuneMetric::AucLoss)
    }

    /// The loss of the rows of a fold, or why they have none.
    pub(super) fn loss(self, evaluation: &Evaluation) -> Result<f64, String> {
        let defined = |metric: &crate::evaluate::Metric| match metric.value() {
            Some(value) => Ok(value),
            None => Err(metric.reason().unwrap_or("it is not defined").to_owned()),
        };
        let missing = || Err("there are no probabilities".to_owned());
        match self {
            TuneMetric::LogLoss => evaluation.log_loss.as_ref().map_or_else(missing, defined),
            TuneMetric::Error => {
                // Of all rows: what is not decided is not right.
                let left = evaluation.rejected.as_ref().map_or(0.0, |r| r.value)
                    + evaluation.undetermined.as_ref().map_or(0.0, |u| u.value);
                let right = if left >= 1.0 { 0.0 } else { defined(&evaluation.accuracy)? };
                Ok(1.0 - right * (1.0 - left))
            }
            TuneMetric::BalancedError => defined(&evaluation.balanced_accuracy).map(|right| 1.0 - right),
            TuneMetric::Brier => evaluation.brier.as_ref().map_or_else(missing, |b| Ok(b.value)),
            TuneMetric::AucLoss => evaluation.auc.as_ref().map_or_else(missing, defined).map(|area| 1.0 - area),
            TuneMetric::SquaredError => Err("it is of the targets of least squares".to_owned()),
        }
    }
}

impl TuneRule {
    /// Its name for programs.
    pub fn name(self) -> &'static str {
        match self {
            TuneRule::Least => "least",
            TuneRule::OneStandardError => "one_standard_error",
        }
    }
}

/// The metric that is asked for, or the one that all candidates have.
pub(super) fn metric(asked: Option<TuneMetric>, candidates: &[Candidate], classes: &[String]) -> Result<TuneMetric> {
    let mut unsure = None;
    for candidate in candidates {
        if !Plan::of(&candidate.options, classes)?.sure {
            unsure = unsure.or(Some(candidate));
        }
    }
    if asked == Some(TuneMetric::SquaredError) {
        for candidate in candidates {
            let method = &candidate.options.method;
            let split = Plan::of(&candidate.options, classes)?.split.is_some();
            if split || candidate.options.calibration.is_some() || method.class_targets(classes.len())?.is_none() {
                return Err(Error::usage(words![
                    "squared_error is the distance from the targets of least squares, and ",
                    Setting::Model.is(method.name()),
                    " has none"
                ])
                .help("compare by error or log_loss"));
            }
        }
    }
    match (asked, unsure) {
        (None, None) => Ok(TuneMetric::LogLoss),
        (None, Some(_)) => Ok(TuneMetric::Error),
        (Some(metric), Some(candidate)) if metric.needs_probabilities() => Err(Error::usage(words![
            format!("{} needs probabilities, and ", metric.name()),
            Setting::Model.is(candidate.options.method.name()),
            " has none"
        ])
        .help(words!["add ", Setting::Calibrate.is("platt")])
        .help("compare by error or balanced_error")),
        (Some(metric), _) => Ok(metric),
    }
}

/// The loss of a fold, and how much it counts.
#[derive(Debug, Clone, Copy)]
pub(in crate::workflow) struct FoldLoss {
    pub(in crate::workflow) loss: f64,
    pub(in crate::workflow) weight: f64,
}

/// The losses of the folds together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Judgement {
    pub(super) mean: f64,
    /// `None` of one fold.
    pub(super) standard_error: Option<f64>,
}

/// Mean and standard error over folds, each of which counts by its rows: `√(Σw(x−x̄)²/Σw / (K−1))`.
pub(super) fn judgement(folds: &[FoldLoss]) -> Judgement {
    let total: f64 = folds.iter().map(|f| f.weight).sum();
    let mean = folds.iter().map(|f| f.weight / total * f.loss).sum::<f64>();
    let spread: f64 = folds.iter().map(|f| f.weight / total * (f.loss - mean).powi(2)).sum();
    let standard_error = (folds.len() > 1).then(|| (spread / (folds.len() - 1) as f64).sqrt());
    Judgement { mean, standard_error }
}

/// The trial that is taken. Of equal ones the first: along a path that is the largest penalty.
pub(super) fn choose(tried: &[Tried], judged: &[Option<Judgement>], rule: TuneRule) -> Option<usize> {
    let known = judged.iter().enumerate().filter_map(|(at, j)| j.map(|j| (at, j.mean)));
    let (least, mean) = known.min_by(|a, b| a.1.total_cmp(&b.1))?;
    let error = judged[least].and_then(|j| j.standard_error).unwrap_or(0.0);
    let limit = match rule {
        TuneRule::Least => return Some(least),
        TuneRule::OneStandardError => mean + error,
    };
    let along = |at: &usize| tried[*at].candidate == tried[least].candidate && tried[*at].size.is_some();
    (0..=least).filter(along).find(|at| judged[*at].is_some_and(|j| j.mean <= limit)).or(Some(least))
}

#[cfg(test)]
mod tests {
    use super::super::trial::PathSize;
    use super::*;

    #[test]
    fn mean_and_error_are_those_of_weighted_folds() {
        let fold = |loss, weight| FoldLoss { loss, weight };
        let equal = judgement(&[fold(1.0, 2.0), fold(3.0, 2.0), fold(5.0, 2.0)]);
        assert_eq!(equal.mean, 3.0);
        // The usual standard error of a mean: √(4/3).
        assert!((equal.standard_error.unwrap() - (4.0_f64 / 3.0).sqrt()).abs() < 1e-15);
        let heavy = judgement(&[fold(1.0, 3.0), fold(5.0, 1.0)]);
        assert_eq!(heavy.mean, 2.0);
        assert!((heavy.standard_error.unwrap() - 3.0_f64.sqrt()).abs() < 1e-15);
        assert!(judgement(&[fold(1.0, 3.0)]).standard_error.is_none());
    }

    #[test]
    fn one_standard_error_takes_the_largest_penalty_of_the_same_path() {
        let tried: Vec<Tried> = [(0, None), (1, Some(4.0)), (1, Some(2.0)), (1, Some(1.0)), (1, Some(0.5))]
            .map(|(candidate, lambda)| (candidate, lambda.map(PathSize::Lambda)))
            .map(|(candidate, size)| Tried { candidate, size, settings: Vec::new(), folds: None })
            .into();
        let judged = |mean, error| Some(Judgement { mean, standard_error: Some(error) });
        let judged = [judged(0.39, 0.1), judged(0.9, 0.1), judged(0.45, 0.1), judged(0.38, 0.1), judged(0.4, 0.1)];
        assert_eq!(choose(&tried, &judged, TuneRule::Least), Some(3));
        assert_eq!(choose(&tried, &judged, TuneRule::OneStandardError), Some(2));
        assert_eq!(choose(&tried, &[None; 5], TuneRule::Least), None);
        let tie = [None, None, judged[3], judged[3], None];
        assert_eq!(choose(&tried, &tie, TuneRule::Least), Some(2));
    }
}
