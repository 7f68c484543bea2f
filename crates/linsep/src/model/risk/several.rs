//! The support vector machine of several classes at once (Crammer and Singer).

use super::columns::{sample, score_offsets};
use super::margin::{AT_BOUND, refuse_start};
use super::{Algorithm, Choice, RiskFound, RiskMinimizer};
use crate::certify::{Certificate, feasible_joint_multipliers, proved_gap_of_multipliers};
use crate::design::Training;
use crate::design::Units;
use crate::discriminant::Linear;
use crate::error::{Error, Result};
use crate::model::{Fit, Multipliers, Note};
use crate::objective::{CrammerSinger, Penalty, Risk};
use crate::solve::{SequentialDual, SoftmaxLimit};
use crate::watch::Watch;
use crate::words::{Setting, words};

/// From so many rows on, and with no more coefficients than [`MOST_UNKNOWNS`], Newton's method is faster than visits of
/// single rows: letter (20,000 rows, 26 classes) to 1e-3 took 90 s row by row and takes 8 s of processor time; vowel (528 rows,
/// 11 classes) to 1e-8 took more than 5 s and takes 0.13 s. Below 200 rows either takes some hundredths of a second.
const MANY_ROWS: usize = 200;
/// See [`MANY_ROWS`]; letter has 442. Chosen, out of reach of bench/constants.md.
const MOST_UNKNOWNS: usize = 1_500;

impl RiskMinimizer {
    pub(super) fn fit_several(
        &self,
        (training, start): (&Training<'_>, Option<&Linear>),
        units: Units,
        notes: Vec<Note>,
        watch: &Watch,
    ) -> Result<Fit> {
        self.check_solver()?;
        refuse_start(start, Algorithm::DualCd)?;
        self.check_factors()?;
        if !matches!(self.algorithm, Algorithm::Auto | Algorithm::DualCd) {
            let message = words![Setting::Solver.is(self.algorithm.name()), " is for two classes"];
            return Err(Error::usage(message)
                .help(words!["use ", Setting::Solver.any(["auto", "dual-cd"])])
                .help(words!["use ", Setting::Multiclass.is("one-vs-rest")]));
        }
        let classes = training.labels.n_classes();
        let offsets = score_offsets(training, classes);
        let rows = sample(training, &units, offsets.as_deref());
        let penalty = self.penalty.ridge(training.total_weight(), &self.factors)?;
        let risk = Risk::new(rows, CrammerSinger::new(classes), penalty, self.intercept);
        let (tolerance, max_iterations) = (self.aim(), self.iterations(Algorithm::DualCd));
        let unknowns = classes * (training.design.shape().cols + 1);
        let auto = self.algorithm == Algorithm::Auto;
        let (choice, solved) = match auto && unknowns <= MOST_UNKNOWNS && training.labels.len() >= MANY_ROWS {
            true => {
                let reason = Some(format!("only {unknowns} coefficients, as the limit of softmax regressions"));
                let solved = SoftmaxLimit { tolerance, max_iterations }.solve(&risk, watch)?;
                (Choice { algorithm: Algorithm::Newton, reason }, solved)
            }
            false => {
                let reason = auto.then(|| "the one for several classes at once".to_owned());
                let solved = SequentialDual { tolerance, max_iterations }.solve(&risk, watch)?;
                (Choice { algorithm: Algorithm::DualCd, reason }, solved)
            }
        };
        let found = RiskFound {
            multipliers: Some(multipliers(&risk, &solved.multipliers)),
            coef: solved.coef,
            objective: solved.objective,
            stop: solved.stop,
            certificate: solved.certificate,
            iterations: solved.trace.len(),
            passes: solved.passes,
            aliased: Vec::new(),
        };
        self.finish(&risk, found, &choice, training, &units, notes)
    }

    /// The gap of a discriminant and multipliers α, one for every class of every row, recomputed from the data.
    pub(super) fn certify_several(
        &self,
        training: &Training<'_>,
        linear: &Linear,
        units: &Units,
        alpha: &[f64],
        watch: &Watch,
    ) -> Result<(f64, Certificate)> {
        let classes = training.labels.n_classes();
        let coef = self.stated_coef(linear, units, classes)?;
        let offsets = score_offsets(training, classes);
        let rows = sample(training, units, offsets.as_deref());
        let penalty = self.penalty.ridge(training.total_weight(), &self.factors)?;
        let scale = penalty.ridge() * training.total_weight();
        let risk = Risk::new(rows, CrammerSinger::new(classes), penalty, self.intercept);
        let mut p: Vec<f64> = alpha.iter().map(|a| scale * a).collect();
        for (i, (p, class)) in p.chunks_exact_mut(classes).zip(training.labels.codes()).enumerate() {
            let s = training.weights.map_or(1.0, |w| w[i]);
            p.iter_mut().for_each(|p| *p = if s > 0.0 { *p / s } else { 0.0 });
            p[class.index()] = 0.0;
            p[class.index()] = (1.0 - p.iter().sum::<f64>()).max(0.0);
        }
        // The rest of the imbalance is rounding.
        let p = feasible_joint_multipliers(&risk, &p);
        proved_gap_of_multipliers(&risk, &coef, &p, watch)
    }
}

/// `α_k = s p_k/(λS)` of the classes that are not the row's own.
fn multipliers(risk: &Risk<'_, CrammerSinger>, p: &[f64]) -> Multipliers {
    let sample = risk.sample();
    let classes = p.len() / sample.labels.len().max(1);
    let scale = risk.penalty().ridge() * risk.total_weight();
    let (mut alpha, mut free, mut bounded) = (vec![0.0; p.len()], 0, 0);
    for (i, class) in sample.labels.iter().enumerate() {
        let (s, own) = (sample.weights.map_or(1.0, |w| w[i]), class.index());
        let others = || (0..classes).filter(|k| *k != own);
        others().for_each(|k| alpha[i * classes + k] = s * p[i * classes + k] / scale);
        let total: f64 = others().map(|k| p[i * classes + k]).sum();
        if s > 0.0 && total > 0.0 {
            if total >= 1.0 - AT_BOUND { bounded += 1 } else { free += 1 }
        }
    }
    Multipliers { alpha, free, bounded }
}
