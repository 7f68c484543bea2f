//! From the scores of a model's discriminants to its probabilities: calibration first, then the true priors.

use super::{CrossFitted, Model};
use crate::decide::{
    Calibration, CalibrationKind, ConformalOptions, Coupling, Strangeness, prior_shift, sets_within, shift_scores,
};
use crate::error::{Error, Result};
use crate::model::Split;
use crate::words::{Setting, words};

impl Model {
    /// Whether the model has probabilities: by calibration, or of its method; the scores of two-class fits of several
    /// classes have none of their own.
    pub fn has_probabilities(&self) -> bool {
        self.calibration.is_some() || (self.parts.is_empty() && self.method.has_probabilities())
    }

    /// Whether a map is one, and of as many scores as the model has.
    pub(super) fn has_the_scores_of(&self, map: &Calibration) -> bool {
        let classes = self.classes.len();
        map.is_whole()
            && match (map, self.split()) {
                (Calibration::Coupled(c), Some(split)) => {
                    let coupling = if split == Split::Pairs { Coupling::Pairs } else { Coupling::Rest };
                    c.coupling == coupling && c.n_classes() == classes
                }
                (Calibration::Coupled(_), None) | (_, Some(Split::Pairs)) => false,
                (map, Some(Split::Rest)) => map.kind() == CalibrationKind::Temperature,
                (map, None) => map.kind().check(classes).is_ok(),
            }
    }

    /// The shares of the classes that its probabilities are about before true priors come in: those of the training rows as
    /// they are where it is calibrated, else given ones, else those that the method saw, class weights included.
    pub fn learned_priors(&self) -> Vec<f64> {
        let plain = &self.training.class_weights;
        match (&self.calibration, &self.class_weights) {
            (None, Some(weights)) => {
                let seen: Vec<f64> = plain.iter().zip(&weights.factors).map(|(n, f)| n * f).collect();
                self.method.learned_priors(&seen)
            }
            (None, None) => self.method.learned_priors(plain),
            (Some(_), _) => shares(plain),
        }
    }

    /// Scores of the discriminants to those that decide: log-odds (two classes) or log-probabilities up to a constant,
    /// where the model has probabilities.
    pub fn deciding_scores(&self, mut scores: Vec<f64>) -> Vec<f64> {
        match (&self.calibration, self.method.link()) {
            (Some(calibration), _) => calibration.map.apply(&mut scores),
            (None, Some(link)) if self.parts.is_empty() => scores.iter_mut().for_each(|z| *z = link.log_odds(*z)),
            _ => {}
        }
        if let Some(priors) = &self.true_priors {
            shift_scores(&mut scores, &prior_shift(&self.learned_priors(), priors));
        }
        scores
    }

    /// What the true priors add to the scores of the discriminants before they decide: zero without any, and where a
    /// calibration or a link comes in between.
    pub fn prior_shifts(&self) -> Vec<f64> {
        match &self.true_priors {
            Some(priors) if self.calibration.is_none() && self.method.link().is_none() => {
                prior_shift(&self.learned_priors(), priors)
            }
            _ => vec![0.0; self.discriminant.n_scores()],
        }
    }

    /// How strange each class would be in each row, row by row, from the scores that decide: what sets of classes go by.
    pub fn strangeness(&self, deciding: &[f64]) -> Vec<f64> {
        let kind = match self.split() {
            _ if self.has_probabilities() => Strangeness::LogOdds,
            Some(Split::Pairs) => Strangeness::WorstPair,
            _ => Strangeness::Lead,
        };
        kind.of(deciding, self.classes.len())
    }

    /// Whether each class is in the set of each row, row by row, from the scores that decide; at another level than that of the
    /// fit where one is given.
    ///
    /// # Errors
    /// Of a model without sets, and for a level that is not between 0 and 1.
    pub fn class_sets(&self, deciding: &[f64], level: Option<f64>) -> Result<Vec<bool>> {
        Ok(sets_within(&self.set_thresholds(level)?, &self.strangeness(deciding)))
    }

    /// How strange each class may be and still be in a set, `None` where it always is.
    ///
    /// # Errors
    /// As [`class_sets`](Model::class_sets).
    pub fn set_thresholds(&self, level: Option<f64>) -> Result<Vec<Option<f64>>> {
        let Some(conformal) = &self.conformal else {
            return Err(Error::usage("the model has no sets of classes: no rows were held back from its fit")
                .help(words!["fit it with ", Setting::Conformal.is("0.9")]));
        };
        let Some(level) = level else { return Ok(conformal.thresholds.clone()) };
        ConformalOptions { level, ..conformal.options }.check()?;
        Ok(conformal.thresholds_at(level))
    }

    /// What to take off each score of the discriminants so that the sign of the one score, or the largest of several,
    /// decides as the model does, rejection left aside. `None` where nothing does: see [`crate::decide::Decision::cut`], and
    /// calibrated probabilities that never pass the threshold or are coupled.
    pub fn cuts(&self) -> Option<Vec<f64>> {
        let classes = self.classes.len();
        let cut = self.decision.cut(classes)?;
        if matches!(self.calibration, Some(CrossFitted { map: Calibration::Coupled(_), .. })) {
            return None;
        }
        let shift = match &self.true_priors {
            Some(priors) => prior_shift(&self.learned_priors(), priors),
            None => vec![0.0; self.discriminant.n_scores()],
        };
        let map = self.calibration.as_ref().map(|c| &c.map);
        if classes == 2 {
            let log_odds = cut - shift[0];
            let score = match (map, self.method.link()) {
                (Some(map), _) => map.score_at(log_odds)?,
                (None, Some(link)) => link.score_at(log_odds),
                (None, None) => log_odds,
            };
            return Some(vec![score]);
        }
        let temperature = match map {
            Some(Calibration::Temperature { temperature }) => *temperature,
            _ => 1.0,
        };
        // 0 − 0 and not −0.
        Some(shift.iter().map(|s| 0.0 - temperature * s).collect())
    }
}

fn shares(weights: &[f64]) -> Vec<f64> {
    let total: f64 = weights.iter().sum();
    weights.iter().map(|w| w / total).collect()
}
