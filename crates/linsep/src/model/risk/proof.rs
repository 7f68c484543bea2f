//! The proof of a fit, at the numbers that the model stores: what `fit` states and `verify` recomputes.

use super::columns::{from_columns, sample, score_offsets};
use super::{LossChoice, PenaltyChoice, RiskMinimizer, squared};
use crate::certify::{
    Certificate, Enclosed, PartlyMinimised, StoredScores, proved_gap, proved_gap_beside_free_columns, proved_lasso,
    self_concordance_bound,
};
use crate::design::Training;
use crate::design::Units;
use crate::discriminant::{Discriminant, Linear};
use crate::error::{Error, Result};
use crate::model::{Fit, Fitted};
use crate::objective::{Coef, Conjugate, Intercept, Logistic, Penalty, Risk, Softmax, SquaredHinge};
use crate::partitions::RowsInParts;
use crate::watch::Watch;
use std::borrow::Cow;

/// Share of the tolerance that a solver is asked for: its estimate of the gap knows nothing of rounding, nor of the
/// stored numbers. Chosen (bench/constants.md): more lets proofs miss the tolerance, less costs time.
const AIM: f64 = 0.8;
/// An intercept of a model that states none is rounding up to this.
const NO_INTERCEPT: f64 = 1e-9;

impl RiskMinimizer {
    /// A fit with the objective and the proof of the coefficients it stores, computed as `verify` does.
    ///
    /// A solver stops on an estimate of the gap in its own coordinates, rounding ignored; the fit has converged if the proof
    /// says so.
    pub(super) fn proved(&self, fit: Fit, training: &Training<'_>) -> Result<Fit> {
        let Fit::Model(mut fitted) = fit else { return Ok(fit) };
        if self.penalty == PenaltyChoice::None {
            // Its last steps were Newton steps of the proof.
            return Ok(Fit::Model(fitted));
        }
        // The proof is part of the answer, even after the time limit.
        let calm = Watch::default();
        let Fitted { discriminant, units, multipliers, .. } = &*fitted;
        let (objective, certificate) = match multipliers {
            Some(found) => self.certify_multipliers(training, discriminant, units, &found.alpha, &calm)?,
            None => self.certify(training, discriminant, units, &calm)?,
        };
        fitted.outcome = fitted.outcome.proved(&certificate, self.tolerance);
        fitted.objective.value = objective;
        fitted.certificate = certificate;
        Ok(Fit::Model(fitted))
    }

    /// The tolerance of the solver, whose estimate of the gap includes neither rounding nor the stored form of the numbers.
    pub(super) fn aim(&self) -> f64 {
        AIM * self.tolerance
    }

    /// The gap (or bound) of given discriminants, recomputed from the data.
    pub(in crate::model) fn certify(
        &self,
        training: &Training<'_>,
        discriminant: &Discriminant,
        units: &Units,
        watch: &Watch,
    ) -> Result<(f64, Certificate)> {
        let linear = self.stated(training, discriminant, units)?;
        let units = &self.about_its_centre(linear, units)?;
        if let Some(parts) = RowsInParts::new(training.rows(), training.partitions) {
            return self.certify_partitions(&parts, training.labels.n_classes(), linear, units, watch);
        }
        let classes = training.labels.n_classes();
        match self.loss {
            LossChoice::Logistic if classes == 2 => self.certify_loss(training, linear, units, Logistic, watch),
            LossChoice::Logistic => {
                self.certify_loss(training, linear, units, Softmax::new(classes, self.form()), watch)
            }
            LossChoice::SquaredHinge => self.certify_loss(training, linear, units, SquaredHinge, watch),
            LossChoice::Squared => self.certify_loss(training, linear, units, squared(classes), watch),
            LossChoice::Hinge => {
                Err(Error::model("a support vector machine is proved by its multipliers, and it has none"))
            }
        }
    }

    /// The discriminant of a model, which must fit the data.
    pub(super) fn stated<'a>(
        &self,
        training: &Training<'_>,
        discriminant: &'a Discriminant,
        units: &Units,
    ) -> Result<&'a Linear> {
        self.check(training)?;
        let linear = discriminant.as_linear().ok_or_else(|| Error::model("a risk minimiser must be linear"))?;
        let classes = training.labels.n_classes();
        if linear.n_scores() != if classes == 2 { 1 } else { classes } {
            return Err(Error::model("the model does not have the classes of the data"));
        }
        if linear.n_cols() != training.design.shape().cols || linear.n_cols() != units.scale().len() {
            return Err(Error::model("the model does not have the columns of the data"));
        }
        Ok(linear)
    }

    /// The units of the fit about the centre of the discriminant, where its intercepts are exact; without a penalty on
    /// intercepts the objective is the same.
    pub(super) fn about_its_centre<'u>(&self, linear: &Linear, units: &'u Units) -> Result<Cow<'u, Units>> {
        match linear.centre() == units.centre() {
            true => Ok(Cow::Borrowed(units)),
            false if self.intercept == Intercept::Penalised => {
                Err(Error::model("the discriminant is not about the centre at which its intercept is penalised"))
            }
            false => Ok(Cow::Owned(Units::new(linear.centre().to_vec(), units.scale().to_vec()))),
        }
    }

    /// The coefficients a model states, in the units of the fit.
    pub(super) fn stated_coef(&self, linear: &Linear, units: &Units, scores: usize) -> Result<Coef> {
        let coef = from_columns(linear, units, scores);
        if self.intercept == Intercept::None && coef.intercept().iter().any(|b| b.abs() > NO_INTERCEPT) {
            return Err(Error::model("the model states that it has no intercept, but it has one"));
        }
        Ok(coef)
    }

    fn certify_loss<L: Conjugate + Enclosed + PartlyMinimised + Clone>(
        &self,
        training: &Training<'_>,
        linear: &Linear,
        units: &Units,
        loss: L,
        watch: &Watch,
    ) -> Result<(f64, Certificate)> {
        let offsets = score_offsets(training, loss.n_scores());
        let coef = self.stated_coef(linear, units, loss.n_scores())?;
        let rows = sample(training, units, offsets.as_deref());
        if let Some(penalty) = self.penalty.elastic_net(training.total_weight(), &self.factors)? {
            let risk = Risk::new(rows, loss, penalty, self.intercept);
            return match risk.penalty().lasso() > 0.0 {
                true => proved_lasso(&risk, &coef, watch),
                false => self.certify_penalised(&risk, &coef, watch),
            };
        }
        let penalty = self.penalty.ridge(training.total_weight(), &self.factors)?;
        let risk = Risk::new(rows, loss, penalty, self.intercept);
        if !risk.penalty().is_none() {
            return self.certify_penalised(&risk, &coef, watch);
        }
        let bound = self.bound_of_stored(&risk, linear, units, watch)?;
        Ok((bound.objective, bound.certificate))
    }

    /// The gap of coefficients under a penalty.
    pub(super) fn certify_penalised<L: Conjugate + Enclosed + PartlyMinimised, P: Penalty>(
        &self,
        risk: &Risk<'_, L, P>,
        coef: &Coef,
        watch: &Watch,
    ) -> Result<(f64, Certificate)> {
        if risk.penalty().free_columns().is_empty() {
            return proved_gap(risk, coef, watch);
        }
        if risk.penalty().lasso() == 0.0 && (risk.loss().self_concordant() || risk.loss().is_quadratic()) {
            let stored = match risk.loss().n_scores() + 1 == risk.loss().n_classes() && risk.loss().n_classes() > 2 {
                true => StoredScores::Reference,
                false => StoredScores::AsFitted,
            };
            let bound = self_concordance_bound(risk, coef, stored, watch)?;
            return Ok(match bound.unproved_alias() {
                None => (bound.objective, bound.certificate),
                Some(reason) => (bound.objective, Certificate::Absent { reason }),
            });
        }
        proved_gap_beside_free_columns(risk, coef, watch)
    }
}
