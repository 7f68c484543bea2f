//! The support vector machine of several classes as the limit of softmax regressions.
//!
//! `max_k a_k ≤ μ log Σ exp(a_k/μ) ≤ max_k a_k + μ log K`. With that in the place of the maximum in the loss of Crammer and
//! Singer, with V = W/μ and up to the factor μ, the risk is that of a softmax regression with the offsets `1{k≠y}/μ` and the
//! penalty λμ: Newton's method minimises it. Its probabilities are multipliers of the machine, so every μ gives a plane and a
//! bound, and the gap between them shrinks with μ. Every regression starts where the line through the last two leads
//! (smoothing as in Y. Nesterov, Mathematical Programming 103, 2005; the path is followed as barriers are).
//!
//! A regression costs what its Hessian costs, whatever the number of support vectors: for few coefficients and many rows.

use super::SequentialDual;
use crate::certify::{Certificate, feasible_joint_multipliers, joint_multiplier_gap};
use crate::error::{Error, Result};
use crate::numeric::{SoftmaxRow, softmax_rows};
use crate::objective::{Coef, CrammerSinger, Loss, Penalty, Risk, Sample, Softmax, SoftmaxForm};
use crate::solve::{MarginSolved, Newton, Solver, Step, Stop};
use crate::watch::{Progress, Watch};

/// Precision of a regression relative to μ, so that its gap is small beside that of smoothing. Chosen, out of reach of
/// bench/constants.md.
const INNER: f64 = 0.02;
/// The least and the largest factor by which μ falls. With them letter takes 8 s of processor time to 1e-3 and 67 s to
/// 1e-8; other values were not recorded.
const SHARES: (f64, f64) = (0.1, 0.5);
/// Below this μ, differences of scores of order one divided by μ exceed what doubles resolve: 1e-16/μ is 1e-5.
const SMALLEST: f64 = 1e-11;
/// Multipliers below this are set to zero; the largest cutoff with which the proof holds is taken.
const CUTOFFS: [f64; 5] = [1e-3, 1e-5, 1e-7, 1e-9, 1e-12];
/// Regressions in a row that did not halve the gap: rounding. Chosen, out of reach of bench/constants.md.
const PATIENCE: usize = 4;
/// The next μ aims at this share of the tolerance, the gap being about proportional to μ. Chosen, out of reach of
/// bench/constants.md.
const AIM: f64 = 0.7;

/// The limit of softmax regressions.
///
/// ```
/// use linsep::design::{LabelledRows, DenseMatrix, Units};
/// use linsep::objective::{CrammerSinger, Intercept, Ridge, Risk, Sample};
/// use linsep::solve::SoftmaxLimit;
/// use linsep::table::Class;
/// let (x, units) = (DenseMatrix::new(vec![1.0, 0.0, 0.0, 1.0, -1.0, -1.0], 2)?, Units::identity(2));
/// let labels = [Class(0), Class(1), Class(2)];
/// let rows = Sample::new(LabelledRows::new(&x, &labels), &units);
/// let risk = Risk::new(rows, CrammerSinger::new(3), Ridge::new(0.1), Intercept::None);
/// let solved = SoftmaxLimit { tolerance: 1e-8, max_iterations: 1000 }.solve(&risk, &Default::default())?;
/// assert!(solved.certificate.relative_gap().unwrap() <= 1e-8);
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct SoftmaxLimit {
    /// Stop when the relative gap is at most this.
    pub tolerance: f64,
    /// Stop after this many steps of Newton's method.
    pub max_iterations: usize,
}

/// W of the last two regressions, with their μ.
struct Path {
    last: Option<(f64, Coef)>,
    before: Option<(f64, Coef)>,
}

impl SoftmaxLimit {
    /// Runs until the certificate, a limit or the watch stops it; what rounding leaves is done by [`SequentialDual`]. The
    /// multipliers returned are the probabilities p, row by row and class by class.
    pub fn solve(&self, risk: &Risk<'_, CrammerSinger>, watch: &Watch) -> Result<MarginSolved> {
        if risk.penalty().is_none() || !risk.penalty().free_columns().is_empty() {
            return Err(Error::usage("the limit of softmax regressions needs a penalty on every column"));
        }
        let mut best = MarginSolved::at_zero(risk);
        let mut path = Path { last: None, before: None };
        let (mut mu, mut slow, mut least) = (1.0, 0, f64::INFINITY);
        loop {
            let left = self.max_iterations.saturating_sub(best.trace.len());
            if left == 0 {
                return Ok(MarginSolved { stop: Stop::IterationLimit, ..best });
            }
            let stop = regress(risk, mu, &mut path, left, &mut best, watch)?;
            let Some((_, coef)) = &path.last else { return Ok(MarginSolved { stop, ..best }) };
            let (gap, found) = prove(risk, mu, coef, 0.0)?;
            best.passes += 3;
            best.offer(coef.clone(), found.objective, found.multipliers, None, found.certificate);
            watch.report(Progress::Iteration {
                solver: "softmax limit",
                iteration: best.trace.len(),
                objective: best.objective,
                relative_gap: Some(gap),
            });
            if gap <= self.tolerance {
                self.trim(risk, mu, coef, &mut best)?;
                return Ok(MarginSolved { stop: Stop::Converged, ..best });
            }
            if let Some(halt) = watch.halted() {
                return Ok(MarginSolved { stop: Stop::halted(Some(halt)), ..best });
            }
            slow = if gap <= 0.5 * least { 0 } else { slow + 1 };
            least = least.min(gap);
            if mu < SMALLEST || slow >= PATIENCE {
                return self.polish(risk, best, watch);
            }
            mu *= (AIM * self.tolerance / gap).clamp(SHARES.0, SHARES.1);
        }
    }

    /// No probability of a softmax is zero, most multipliers are: as many as the proof can do without are made so.
    fn trim(&self, risk: &Risk<'_, CrammerSinger>, mu: f64, coef: &Coef, best: &mut MarginSolved) -> Result<()> {
        for cutoff in CUTOFFS {
            let (gap, found) = prove(risk, mu, coef, cutoff)?;
            best.passes += 3;
            if gap <= self.tolerance {
                (best.multipliers, best.certificate) = (found.multipliers, found.certificate);
                (best.coef, best.objective) = (coef.clone(), found.objective);
                break;
            }
        }
        Ok(())
    }

    /// What regressions cannot reach the dual method can, one row at a time.
    fn polish(&self, risk: &Risk<'_, CrammerSinger>, best: MarginSolved, watch: &Watch) -> Result<MarginSolved> {
        let rounds = SequentialDual { tolerance: self.tolerance, max_iterations: self.max_iterations };
        let found = rounds.solve_from(risk, Some(&best), watch)?;
        let trace = best.trace.iter().chain(&found.trace).copied().collect();
        Ok(MarginSolved { trace, passes: best.passes + found.passes, ..found })
    }
}

/// Minimises for one μ; why Newton's method stopped.
fn regress(
    risk: &Risk<'_, CrammerSinger>,
    mu: f64,
    path: &mut Path,
    steps: usize,
    best: &mut MarginSolved,
    watch: &Watch,
) -> Result<Stop> {
    let (sample, k) = (risk.sample(), risk.loss().n_classes());
    let offsets = leads(risk, mu);
    let rows = Sample { offsets: Some(&offsets), ..*sample };
    let penalty = risk.penalty().with_lambda(risk.penalty().lambda() * mu);
    let soft = Risk::new(rows, Softmax::new(k, SoftmaxForm::Symmetric), penalty, risk.intercept());
    let start = match (&path.last, &path.before) {
        (Some((near, w)), Some((far, v))) => {
            let beyond = (mu - near) / (near - far);
            let values = w.as_slice().iter().zip(v.as_slice()).map(|(w, v)| (w + beyond * (w - v)) / mu).collect();
            Some(Coef::from_vec(values, k, risk.n_cols()))
        }
        (Some((_, w)), None) => Some(scaled(w, 1.0 / mu)),
        _ => None,
    };
    let newton = Newton { tolerance: INNER * mu, max_iterations: steps };
    let solved = newton.solve(&soft, start.as_ref(), watch)?;
    best.passes += solved.passes;
    best.trace.extend(solved.trace.iter().map(|step| Step {
        objective: mu * step.objective,
        relative_gap: None,
        ..*step
    }));
    path.before = path.last.take();
    path.last = Some((mu, scaled(&solved.point.coef, mu)));
    Ok(solved.stop)
}

/// `(1{k≠y} + o)/μ` of every row and class.
fn leads(risk: &Risk<'_, CrammerSinger>, mu: f64) -> Vec<f64> {
    let (sample, k) = (risk.sample(), risk.loss().n_classes());
    let mut out = vec![1.0 / mu; sample.labels.len() * k];
    out.chunks_exact_mut(k).zip(sample.labels).for_each(|(row, class)| row[class.index()] = 0.0);
    if let Some(offsets) = sample.offsets {
        out.iter_mut().zip(offsets).for_each(|(out, o)| *out += o / mu);
    }
    out
}

fn scaled(coef: &Coef, by: f64) -> Coef {
    Coef::from_vec(coef.as_slice().iter().map(|v| v * by).collect(), coef.n_scores(), coef.n_cols())
}

/// A bound and what it belongs to.
struct Proof {
    objective: f64,
    multipliers: Vec<f64>,
    certificate: Certificate,
}

/// The relative gap between the plane and the bound of its probabilities, those below a cutoff taken as zero.
fn prove(risk: &Risk<'_, CrammerSinger>, mu: f64, coef: &Coef, cutoff: f64) -> Result<(f64, Proof)> {
    // The proof is worth its passes also where time is up.
    let watch = Watch::default();
    let k = risk.loss().n_classes();
    let mut p = leads(risk, mu);
    p.iter_mut().zip(risk.along(coef, &watch)?.scores()).for_each(|(p, z)| *p += z / mu);
    let mut rows = vec![SoftmaxRow { max: 0.0, log_sum: 0.0 }; p.len() / k];
    softmax_rows(k, &mut p, &mut rows);
    if cutoff > 0.0 {
        for p in p.chunks_exact_mut(k) {
            p.iter_mut().for_each(|p| *p = if *p < cutoff { 0.0 } else { *p });
            let total: f64 = p.iter().sum();
            p.iter_mut().for_each(|p| *p /= total);
        }
    }
    let multipliers = feasible_joint_multipliers(risk, &p);
    let (objective, certificate) = joint_multiplier_gap(risk, coef, &multipliers, &watch)?;
    let gap = certificate.relative_gap().unwrap_or(f64::INFINITY);
    Ok((gap, Proof { objective, multipliers, certificate }))
}
