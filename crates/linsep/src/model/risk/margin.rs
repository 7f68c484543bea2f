//! Support vector machines: the multipliers are part of the solution.

use super::choose::ProblemSize;
use super::columns::{sample, score_offsets, start};
use super::{Algorithm, RiskFound, RiskMinimizer};
use crate::certify::{Certificate, feasible_multipliers, proved_gap_of_multipliers};
use crate::design::Training;
use crate::design::Units;
use crate::discriminant::{Discriminant, Linear};
use crate::error::{Error, Result};
use crate::model::{Fit, LossChoice, Multipliers, Note};
use crate::objective::{Hinge, MarginLoss, Penalty, Risk, SquaredHinge};
use crate::solve::{DualCoordinateDescent, InteriorPoint, MarginSolved, RowNewton};
use crate::table::Class;
use crate::watch::Watch;
use crate::words::{Setting, Span, words};

/// Multipliers this close to their bound, relatively, are at it: bounds `s/(λS)` round a few times.
pub(super) const AT_BOUND: f64 = 1e-12;
/// Best intercepts further apart than this are an interval, not rounding of scores that were found to a tolerance.
/// Chosen (bench/constants.md).
const INTERVAL: f64 = 1e-6;

impl RiskMinimizer {
    pub(super) fn fit_hinge(
        &self,
        (training, start): (&Training<'_>, Option<&Linear>),
        units: Units,
        notes: Vec<Note>,
        watch: &Watch,
    ) -> Result<Fit> {
        self.check_factors()?;
        let offsets = score_offsets(training, 1);
        let rows = sample(training, &units, offsets.as_deref());
        let choice = self.choose(ProblemSize::of(training.design, 1, false)?)?;
        refuse_start(start, choice.algorithm)?;
        let penalty = self.penalty.ridge(training.total_weight(), &self.factors)?;
        let risk = Risk::new(rows, Hinge, penalty, self.intercept);
        let (tolerance, max_iterations) = (self.aim(), self.iterations(choice.algorithm));
        let solved = match choice.algorithm {
            Algorithm::DualCd => DualCoordinateDescent { tolerance, max_iterations }.solve(&risk, watch)?,
            _ => InteriorPoint { tolerance, max_iterations }.solve(&risk, watch)?,
        };
        let interval = solved.intercepts.map(|(low, high)| (low, high, solved.coef.intercept()[0]));
        let fit = self.finish(&risk, found(&risk, solved), &choice, training, &units, notes)?;
        Ok(with_interval(fit, interval))
    }

    pub(super) fn fit_squared_hinge(
        &self,
        (training, from): (&Training<'_>, Option<&Linear>),
        units: Units,
        notes: Vec<Note>,
        watch: &Watch,
    ) -> Result<Fit> {
        if self.penalty.is_sparse() {
            return self.fit_loss((training, from), units, SquaredHinge, notes, watch);
        }
        let offsets = score_offsets(training, 1);
        let rows = sample(training, &units, offsets.as_deref());
        let penalty = self.penalty.ridge(training.total_weight(), &self.factors)?;
        let risk = Risk::new(rows, SquaredHinge, penalty, self.intercept);
        let choice = self.choose(ProblemSize::of(training.design, 1, RowNewton::takes(&risk))?)?;
        if choice.algorithm == Algorithm::DualCd {
            refuse_start(from, choice.algorithm)?;
            self.check_factors()?;
            let (tolerance, max_iterations) = (self.aim(), self.iterations(choice.algorithm));
            let solved = DualCoordinateDescent { tolerance, max_iterations }.solve(&risk, watch)?;
            return self.finish(&risk, found(&risk, solved), &choice, training, &units, notes);
        }
        let start = from.map(|linear| start(linear, &units, 1, self.intercept));
        let solved = self.solve(&risk, choice.algorithm, start.as_ref(), watch)?;
        // u = 2 max(0, 1 − yz); columns without a penalty would add constraints beyond the balance of the classes.
        let multipliers = risk.penalty().free_columns().is_empty().then(|| {
            let margins = solved.point.scores.iter().zip(training.labels.codes());
            let u: Vec<f64> =
                margins.map(|(z, c)| 2.0 * (1.0 - if *c == Class(1) { *z } else { -z }).max(0.0)).collect();
            multipliers(&risk, &feasible_multipliers(&risk, &u))
        });
        self.finish(&risk, RiskFound { multipliers, ..solved.into() }, &choice, training, &units, notes)
    }

    /// The gap of a discriminant and multipliers α, recomputed from the data.
    pub(in crate::model) fn certify_multipliers(
        &self,
        training: &Training<'_>,
        discriminant: &Discriminant,
        units: &Units,
        alpha: &[f64],
        watch: &Watch,
    ) -> Result<(f64, Certificate)> {
        let linear = self.stated(training, discriminant, units)?;
        let units = &self.about_its_centre(linear, units)?;
        if training.labels.n_classes() > 2 {
            return self.certify_several(training, linear, units, alpha, watch);
        }
        let coef = self.stated_coef(linear, units, 1)?;
        let offsets = score_offsets(training, 1);
        let rows = sample(training, units, offsets.as_deref());
        let penalty = self.penalty.ridge(training.total_weight(), &self.factors)?;
        let scale = penalty.ridge() * training.total_weight();
        let u: Vec<f64> = match training.weights {
            None => alpha.iter().map(|a| scale * a).collect(),
            Some(w) => alpha.iter().zip(w).map(|(a, s)| if *s > 0.0 { scale * a / s } else { 0.0 }).collect(),
        };
        match self.loss {
            LossChoice::Hinge => {
                proved_gap_of_multipliers(&Risk::new(rows, Hinge, penalty, self.intercept), &coef, &u, watch)
            }
            LossChoice::SquaredHinge => {
                proved_gap_of_multipliers(&Risk::new(rows, SquaredHinge, penalty, self.intercept), &coef, &u, watch)
            }
            other => Err(Error::model(format!("the {} loss has no multipliers", other.name()))),
        }
    }

    pub(super) fn check_factors(&self) -> Result<()> {
        match self.factors.iter().position(|f| *f == 0.0) {
            None => Ok(()),
            Some(j) => Err(Error::usage(words![
                format!("the {} loss by its multipliers needs a penalty on every column, and ", self.loss.name()),
                Span::Column(j),
                " has the factor 0",
            ])
            .help(words!["use ", Setting::Loss.is("squared-hinge"), " with ", Setting::Solver.is("newton")])
            .help("use a small positive factor")),
        }
    }
}

fn found<L: MarginLoss, P: Penalty>(risk: &Risk<'_, L, P>, solved: MarginSolved) -> RiskFound {
    RiskFound {
        multipliers: Some(multipliers(risk, &solved.multipliers)),
        coef: solved.coef,
        objective: solved.objective,
        stop: solved.stop,
        certificate: solved.certificate,
        iterations: solved.trace.len(),
        passes: solved.passes,
        aliased: Vec::new(),
    }
}

/// `α = s u/(λS)`.
fn multipliers<L: MarginLoss, P: Penalty>(risk: &Risk<'_, L, P>, u: &[f64]) -> Multipliers {
    let scale = risk.penalty().ridge() * risk.total_weight();
    let weight = |i: usize| risk.sample().weights.map_or(1.0, |w| w[i]);
    let bound = risk.loss().largest_multiplier() * (1.0 - AT_BOUND);
    let support = |i: &usize| u[*i] > 0.0 && weight(*i) > 0.0;
    let bounded = (0..u.len()).filter(support).filter(|i| u[*i] >= bound).count();
    Multipliers {
        alpha: u.iter().enumerate().map(|(i, u)| u * weight(i) / scale).collect(),
        free: (0..u.len()).filter(support).count() - bounded,
        bounded,
    }
}

/// Notes that the intercept is not unique; in the units of the columns.
fn with_interval(mut fit: Fit, interval: Option<(f64, f64, f64)>) -> Fit {
    if let (Fit::Model(fitted), Some((low, high, taken))) = (&mut fit, interval)
        && high - low > INTERVAL * (1.0 + taken.abs())
        && let Some(linear) = fitted.discriminant.as_linear()
    {
        let intercept = linear.intercept()[0];
        fitted.notes.push(Note::Intercepts { low: intercept + low - taken, high: intercept + high - taken });
    }
    fit
}

/// Dual solvers start from multipliers, which a model for a warm start need not have.
pub(super) fn refuse_start(start: Option<&Linear>, algorithm: Algorithm) -> Result<()> {
    match start {
        None => Ok(()),
        Some(_) => Err(Error::usage(format!("the solver {} has no use for a start", algorithm.name()))
            .help("leave the start out, or use the squared hinge loss with the solver newton-cg")),
    }
}
