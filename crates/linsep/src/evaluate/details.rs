//! Figures beyond the usual ones, on request.

use super::class_figures::{ClassReport, class_report};
use super::curve::{Curve, RankingReport, ThresholdFigures, ThresholdTarget, WantedFigure};
use super::reliability::{Reliability, reliability};
use super::{Confusion, LeftOut, Scored};
use crate::error::{Error, Result};

/// Calibration, classes and ranking.
#[derive(Debug, Clone, PartialEq)]
pub struct Details {
    /// Precision, recall and F1 of every class.
    pub classes: ClassReport,
    /// Calibration, of a model with probabilities.
    pub reliability: std::result::Result<Reliability, LeftOut>,
    /// Ranking, of two classes with probabilities.
    pub ranking: std::result::Result<RankingReport, LeftOut>,
}

/// What thresholds come to.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Thresholds {
    /// Even steps.
    pub table: Vec<ThresholdFigures>,
    /// Targets, and what meets them.
    pub targets: Vec<ThresholdTarget>,
}

/// Calibration, classes and ranking; `of_training` are rows that the fit saw.
///
/// # Errors
/// Whatever [`super::evaluate`] refuses.
pub fn details(scored: &Scored<'_>, of_training: bool) -> Result<Details> {
    scored.check()?;
    let none = |what: &'static str| LeftOut { what, reason: "the model has no probabilities".to_owned() };
    let ranking = match scored.probabilities {
        None => Err(none("ranking")),
        Some(p) => Curve::of(scored, p)
            .map(|curve| curve.ranking())
            .ok_or_else(|| LeftOut { what: "ranking", reason: "it needs two classes that both occur".to_owned() }),
    };
    Ok(Details {
        classes: class_report(&Confusion::new(scored)),
        reliability: scored
            .probabilities
            .map(|p| reliability(scored, p, of_training))
            .ok_or_else(|| none("calibration")),
        ranking,
    })
}

/// The threshold table, and the thresholds that meet targets.
///
/// # Errors
/// Whatever [`super::evaluate`] refuses; no probabilities, not two classes; a target that is not a share.
pub fn thresholds(scored: &Scored<'_>, wanted: &[(WantedFigure, f64)]) -> Result<Thresholds> {
    scored.check()?;
    let curve = scored.probabilities.and_then(|p| Curve::of(scored, p)).ok_or_else(|| {
        Error::data("a threshold is between two classes that both occur, of a model with probabilities")
    })?;
    let targets = wanted.iter().map(|(wanted, target)| curve.meet(*wanted, *target)).collect::<Result<_>>()?;
    Ok(Thresholds { table: curve.table(), targets })
}
