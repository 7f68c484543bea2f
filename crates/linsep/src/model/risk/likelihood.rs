//! Fits without a penalty: solved by Newton's method, proved at the coefficients that the model stores.

use super::columns::{from_columns, to_columns};
use super::{Algorithm, LossChoice, PenaltyChoice, RiskFound, RiskMinimizer};
use crate::certify::{SelfConcordance, StoredScores, self_concordance_bound};
use crate::design::{Training, Units};
use crate::discriminant::Linear;
use crate::error::{Error, Result};
use crate::linalg::Alias;
use crate::objective::{Coef, Conjugate, Risk, SoftmaxForm};
use crate::separate::{NoOptimum, proved_no_optimum};
use crate::solve::{Newton, Stop};
use crate::watch::Watch;

/// Error of a coefficient, in standard errors, that is invisible in what is printed; CHANGELOG.md states it.
const WANTED: f64 = 1e-4;
/// Last steps by the Newton step of the proof itself, which is precise to the rounding of the scores: each squares the
/// error.
const LAST_STEPS: usize = 2;

impl RiskMinimizer {
    /// Maximum likelihood without a penalty, or the proof that there is none.
    pub(super) fn most_likely<L: Conjugate + Clone>(
        &self,
        risk: &Risk<'_, L>,
        (training, units): (&Training<'_>, &Units),
        start: Option<&Coef>,
        watch: &Watch,
    ) -> Result<std::result::Result<RiskFound, NoOptimum>> {
        let newton = Newton { tolerance: self.aim(), max_iterations: self.iterations(Algorithm::Newton) };
        let solved = newton.solve_unless_in_doubt(risk, start, watch)?;
        let doubt = match &solved.stop {
            Stop::Separated(found) => Some(Some(&**found)),
            Stop::IterationLimit if solved.trace.len() < newton.max_iterations => Some(None),
            _ => None,
        };
        let asked = doubt.is_some();
        let solved = match doubt {
            Some(found) => {
                if let Some(proof) = proved_no_optimum(training, units, self.intercept, found, watch)? {
                    return Ok(Err(proof));
                }
                newton.solve_overlapping(risk, watch)?
            }
            None => solved,
        };
        let found = self.maximum_likelihood(risk, &newton, solved.into(), training.labels.n_classes())?;
        // Where rounding ended the search and nothing is proved of an optimum, there may be none.
        let undecided = matches!(found.stop, Stop::PrecisionLimit) && found.certificate.gap().is_none();
        if undecided
            && !asked
            && self.loss == LossChoice::Logistic
            && watch.halted().is_none()
            && let Some(proof) = proved_no_optimum(training, units, self.intercept, None, watch)?
        {
            return Ok(Err(proof));
        }
        Ok(Ok(found))
    }

    /// Whether the steps are those of a textbook, which end where they end.
    pub(super) fn descends(&self) -> bool {
        match self.algorithm {
            Algorithm::GradientDescent | Algorithm::FixedStep => true,
            Algorithm::Sgd => self.penalty == PenaltyChoice::None,
            _ => false,
        }
    }

    /// What textbook steps have reached without a penalty, with the bound that holds there; or the proof that there is nothing
    /// to reach.
    pub(super) fn descended<L: Conjugate + Clone>(
        &self,
        risk: &Risk<'_, L>,
        (training, units): (&Training<'_>, &Units),
        mut found: RiskFound,
        watch: &Watch,
    ) -> Result<std::result::Result<RiskFound, NoOptimum>> {
        let bound = self.bound_of(risk, &found.coef, training.labels.n_classes(), &Watch::default())?;
        found.passes += 3;
        if bound.certificate.gap().is_none()
            && self.loss == LossChoice::Logistic
            && watch.halted().is_none()
            && let Some(proof) = proved_no_optimum(training, units, self.intercept, None, watch)?
        {
            return Ok(Err(proof));
        }
        let reached = bound.certificate.relative_gap().is_some_and(|gap| gap <= self.aim());
        found.stop = match found.stop {
            Stop::Converged if !reached => Stop::PrecisionLimit,
            stop => stop,
        };
        (found.objective, found.certificate) = (bound.objective, bound.certificate);
        found.aliased.extend(bound.aliased);
        Ok(Ok(found))
    }

    /// Proves what was found, after last steps that the proof itself gives.
    pub(super) fn maximum_likelihood<L: Conjugate + Clone>(
        &self,
        risk: &Risk<'_, L>,
        newton: &Newton,
        mut found: RiskFound,
        classes: usize,
    ) -> Result<RiskFound> {
        let calm = Watch::default();
        let mut bound = self.bound_of(risk, &found.coef, classes, &calm)?;
        for _ in 0..LAST_STEPS {
            let off = bound.standard_errors.unwrap_or(f64::INFINITY);
            let converged = found.stop == Stop::Converged && off > WANTED;
            let Some(step) = bound.step.as_ref().filter(|_| converged) else { break };
            let coef = found.coef.moved(1.0, step);
            let next = self.bound_of(risk, &coef, classes, &calm)?;
            found.passes += 3;
            if !(next.standard_errors.unwrap_or(f64::INFINITY) < off) {
                break;
            }
            (found.coef, bound) = (coef, next);
        }
        found.passes += 3;
        found.stop = newton.judged(found.stop, &bound.certificate);
        (found.objective, found.certificate) = (bound.objective, bound.certificate);
        // The columns that the proof leaves out are those that the summary must name, whichever the solver could use.
        for alias in bound.aliased {
            if !found.aliased.iter().any(|a: &Alias| a.column == alias.column) {
                found.aliased.push(alias);
            }
        }
        Ok(found)
    }

    /// The bound at the coefficients that a model would store for these.
    fn bound_of<L: Conjugate + Clone>(
        &self,
        risk: &Risk<'_, L>,
        coef: &Coef,
        classes: usize,
        watch: &Watch,
    ) -> Result<SelfConcordance> {
        let units = risk.sample().units;
        let linear = to_columns(self.canonical(coef.clone(), classes), units)?;
        self.bound_of_stored(risk, &linear, units, watch)
    }

    /// The bound at the coefficients of a model: the same numbers when it is fitted and when it is verified.
    pub(super) fn bound_of_stored<L: Conjugate + Clone>(
        &self,
        risk: &Risk<'_, L>,
        linear: &Linear,
        units: &Units,
        watch: &Watch,
    ) -> Result<SelfConcordance> {
        let k = risk.loss().n_scores();
        let stored = match linear.n_scores() == k {
            true => StoredScores::AsFitted,
            false if self.form == SoftmaxForm::Symmetric => StoredScores::Centred,
            false => StoredScores::Reference,
        };
        check_stored(linear, stored)?;
        self_concordance_bound(risk, &from_columns(linear, units, k), stored, watch)
    }
}

/// The weights of several classes must be in the form that the model states: their errors are.
fn check_stored(linear: &Linear, stored: StoredScores) -> Result<()> {
    let (classes, cols) = (linear.n_scores(), linear.n_cols());
    let entry = |k: usize, j: usize| if j == cols { linear.intercept_at_centre()[k] } else { linear.weights_of(k)[j] };
    let is_whole = |j: usize| match stored {
        StoredScores::AsFitted => true,
        StoredScores::Reference => entry(0, j) == 0.0,
        StoredScores::Centred => {
            let sum = crate::numeric::sum((0..classes).map(|k| entry(k, j)));
            let size: f64 = (0..classes).map(|k| entry(k, j).abs()).sum();
            sum.abs() <= 2.0 * (classes + 4) as f64 * f64::EPSILON * size
        }
    };
    match (0..=cols).all(is_whole) {
        true => Ok(()),
        false => Err(Error::model("the weights of the classes are not in the form that the model states")),
    }
}
