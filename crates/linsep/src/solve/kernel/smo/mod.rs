//! Kernel machines: sequential minimal optimisation on working sets.
//!
//! `min ½βᵀKβ − yᵀβ` over β = αy with `0 ≤ α ≤ s/(λS)` and Σβ = 0, whose gradient is f = Kβ − y. Without an intercept the sum is
//! free: a row of zeros in the feature space, whose f is zero and whose β may be anything, balances it. A round takes the rows
//! that violate the conditions of the optimum most, computes their kernel rows by one matrix product, solves the problem on
//! them pair by pair with second-order selection (Fan, Chen and Lin 2005), and moves f (Joachims 1999; Wen and others
//! 2018). Rows at a bound that are far on the right side of it are left out. The kernel rows of rounds are kept in single
//! precision; now and then f of *all* rows is computed from β in double precision, rows that matter again come back, and
//! the duality gap of that point decides whether to go on. So errors of the rounds cost time, never truth. Few rows end
//! with the exact optimum on the face that was found.

mod active;
mod cache;
mod finish;
mod pairs;

use crate::certify::{Certificate, KernelDualPoint, KernelPoint, KernelTask, kernel_gap, kernel_violation};
use crate::error::Result;
use crate::kernel::{Kernel, KernelRows, KernelSum, Real, TargetRows};
use crate::solve::Stop;
use crate::watch::{Halt, Progress, Watch};
use active::{Active, Rounds, SmoProblem, extremes};
use rayon::prelude::*;

/// Rows whose exact scores are computed by one task. Chosen (bench/constants.md): only the time depends on it.
const PIECE: usize = 256;
/// The first violation to aim at; scores are about one on the margin. Chosen (bench/constants.md): only the time
/// depends on it.
const FIRST_GOAL: f64 = 0.1;
/// With more rows than this, one in eight of them, or half this number, is solved first. Chosen (bench/constants.md).
const START: usize = 4000;
/// Share of the tolerance to stop at, so that the proof, which adds bounds on rounding, still meets it. Chosen
/// (bench/constants.md).
const AIM: f64 = 0.95;
/// Kernel values outside of this range lose precision as singles (1e-38 to 3e38) when products of them are formed.
const SINGLE: std::ops::Range<f64> = 1e-25..1e25;
/// See [`START`]. Chosen (bench/constants.md).
const PART: usize = 8;
/// After the change to double precision, the goal as a share of the violation. Chosen, out of reach of
/// bench/constants.md.
const CLOSER: f64 = 0.1;
/// A round that leaves more than this share of the violation has not helped. Chosen (bench/constants.md): only the end
/// of a phase depends on it.
const HELPED: f64 = 0.7;
/// Rounds in a row without help that end a phase. Chosen (bench/constants.md).
const STALLED: usize = 3;
/// The least violation that doubles resolve: about 5 units of scores of order one.
const LEAST_GOAL: f64 = 1e-15;
/// The next goal aims at this share of the tolerance, the gap being about proportional to the violation. Chosen
/// (bench/constants.md).
const AHEAD: f64 = 0.7;
/// The least and the largest factor by which the goal falls. Chosen, not measured.
const FALL: (f64, f64) = (0.02, 0.5);

/// Sequential minimal optimisation with second-order selection, shrinking and a bounded cache.
#[derive(Debug, Clone, PartialEq)]
pub struct Smo {
    /// Stop when the relative gap is at most this.
    pub tolerance: f64,
    /// Stop after so many pairs.
    pub max_iterations: usize,
    /// Bytes for kernel rows.
    pub cache: usize,
}

/// What came of it.
#[derive(Debug, Clone)]
pub struct KernelSolved {
    /// β = αy, row by row.
    pub signed: Vec<f64>,
    /// `Σ_j β_j K(x_j, x_i)`, row by row.
    pub scores: Vec<f64>,
    /// The intercepts that are as good for these scores.
    pub intercepts: (f64, f64),
    /// F.
    pub objective: f64,
    /// The gap; of a kernel that is not known to be positive semidefinite how far from stationary.
    pub certificate: Certificate,
    /// Why it stopped.
    pub stop: Stop,
    /// Pairs moved.
    pub iterations: usize,
    /// Kernel rows computed, in rows of all data.
    pub passes: usize,
}

/// A point whose scores are exact.
#[derive(Clone)]
struct Exact {
    beta: Vec<f64>,
    scores: Vec<f64>,
    intercepts: (f64, f64),
    objective: f64,
    certificate: Certificate,
    violation: f64,
}

impl Smo {
    /// Solves the problem; `definite` says whether the kernel is positive semidefinite on the rows, so that a gap is a
    /// proof.
    ///
    /// ```
    /// use linsep::certify::KernelTask;
    /// use linsep::design::{DenseMatrix, Units};
    /// use linsep::kernel::{Kernel, KernelRows};
    /// use linsep::solve::Smo;
    /// // Exclusive or: no plane separates it, an exponential kernel does.
    /// let x = DenseMatrix::new(vec![0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0], 2)?;
    /// let rows = KernelRows::new(&x, &Units::identity(2), &Default::default())?;
    /// let task = KernelTask { signs: &[-1.0, -1.0, 1.0, 1.0], weights: None, lambda: 1e-3, has_intercept: true };
    /// let smo = Smo { tolerance: 1e-8, max_iterations: 1000, cache: 1 << 20 };
    /// let solved = smo.solve(&Kernel::Rbf { gamma: 1.0 }, &rows, &task, true, &Default::default())?;
    /// assert!(solved.scores.iter().zip(task.signs).all(|(g, y)| g * y > 0.99));
    /// # Ok::<(), linsep::Error>(())
    /// ```
    pub fn solve(
        &self,
        kernel: &Kernel,
        rows: &KernelRows,
        task: &KernelTask<'_>,
        definite: bool,
        watch: &Watch,
    ) -> Result<KernelSolved> {
        let diagonal = rows.diagonal(kernel)?;
        let bounds = task.bounds();
        let low: Vec<f64> = task.signs.iter().zip(&bounds).map(|(y, c)| if *y > 0.0 { 0.0 } else { -c }).collect();
        let high: Vec<f64> = task.signs.iter().zip(&bounds).map(|(y, c)| if *y > 0.0 { *c } else { 0.0 }).collect();
        let has_intercept = task.has_intercept;
        let problem = SmoProblem { kernel, rows, diagonal: &diagonal, low: &low, high: &high, has_intercept };
        let n = rows.len();
        let mut run = SmoRun {
            smo: self,
            problem,
            task,
            definite,
            exact: judged(task, definite, vec![0.0; n], vec![0.0; n]),
            iterations: 0,
            passes: 0,
        };
        let single =
            SINGLE.contains(&diagonal.iter().fold(0.0f64, |a, k| a.max(k.abs()))) && fits_singles(kernel, rows);
        let mut stop = if single { run.phase::<f32>(watch)? } else { Stop::PrecisionLimit };
        if stop == Stop::PrecisionLimit {
            stop = run.phase::<f64>(watch)?;
        }
        if stop == Stop::Converged {
            run.finish(watch);
        }
        let Exact { beta, scores, intercepts, objective, certificate, .. } = run.exact;
        let (iterations, passes) = (run.iterations, run.passes);
        Ok(KernelSolved { signed: beta, scores, intercepts, objective, certificate, stop, iterations, passes })
    }
}

/// Whether the products of rows that a kernel is made of are numbers of single precision, too, and their factor.
fn fits_singles(kernel: &Kernel, rows: &KernelRows) -> bool {
    let products = || SINGLE.contains(&rows.largest_square());
    match kernel {
        Kernel::Precomputed | Kernel::Linear => true,
        Kernel::Rbf { gamma } => SINGLE.contains(gamma) && products(),
        Kernel::Polynomial { .. } | Kernel::Sigmoid { .. } => products(),
    }
}

/// The gap of multipliers with their scores in double precision, whose own rounding is left to the proof afterwards.
fn judged(task: &KernelTask<'_>, definite: bool, beta: Vec<f64>, scores: Vec<f64>) -> Exact {
    let intercepts = task.best_intercepts(&scores);
    let squared = crate::numeric::sum(beta.iter().zip(&scores).filter(|(b, _)| **b != 0.0).map(|(b, g)| b * g));
    let point = KernelPoint {
        scores: &scores,
        errors: None,
        intercept: 0.5 * (intercepts.0 + intercepts.1),
        squared_length: (squared, 0.0),
        distance: 0.0,
        ridge: 0.0,
    };
    let (objective, certificate) = match KernelDualPoint::new(task, &beta) {
        Ok(dual) => kernel_gap(task, &dual, &point),
        Err(row) => (f64::NAN, Certificate::Absent { reason: format!("row {} left its bounds", row + 1) }),
    };
    let violation = kernel_violation(task, &beta, &scores, None);
    let certificate = if definite { certificate } else { Certificate::Stationary { violation } };
    Exact { beta, scores, intercepts, objective, certificate, violation }
}

struct SmoRun<'a> {
    smo: &'a Smo,
    problem: SmoProblem<'a>,
    task: &'a KernelTask<'a>,
    definite: bool,
    exact: Exact,
    iterations: usize,
    passes: usize,
}

/// Pairs moved for each row before the scores are looked at again: rows of sizes that differ by 1e11 move pairs for ever by rounding
/// alone. A round of the benchmarks moves fewer than a hundred.
const PAIRS_A_ROW: usize = 10_000;
/// Fewer rows count as this many: a million pairs take some hundredths of a second.
const FEW_ROWS: usize = 100;
/// So many pairs that lower the gap to no less than this share of what it was did not help.
const SLOWLY: f64 = 0.99;

impl SmoRun<'_> {
    /// Rounds and exact looks in turn, with kernel rows of one precision; [`Stop::PrecisionLimit`] where they no longer help.
    fn phase<T: Real>(&mut self, watch: &Watch) -> Result<Stop> {
        let n = self.task.signs.len();
        let gradient = self.gradient();
        let first = if self.iterations == 0 { self.first_rows() } else { (0..n).collect() };
        let start = (&self.exact.beta[..], &gradient[..]);
        let mut active = Active::<T>::new(self.problem, first, start, self.smo.cache)?;
        let mut goal = if self.iterations == 0 { FIRST_GOAL } else { CLOSER * self.exact.violation };
        let mut stalled = 0;
        loop {
            let before = active.cache.computed * active.ids.len();
            let left = self.smo.max_iterations.saturating_sub(self.iterations);
            let many = PAIRS_A_ROW.saturating_mul(n.max(FEW_ROWS));
            let (end, moved) = active.run(goal, left.min(many), watch);
            self.iterations += moved;
            let gap_before = self.exact.certificate.relative_gap().unwrap_or(f64::INFINITY);
            self.passes += (active.cache.computed * active.ids.len()).saturating_sub(before) / n.max(1);
            if end == Rounds::Halted && watch.halted() == Some(Halt::Cancelled) {
                return Ok(Stop::Interrupted);
            }
            let violation_before = self.exact.violation;
            // Out of time, but what there is must have its certificate.
            let patient = if end == Rounds::Halted { &Watch::default() } else { watch };
            if !self.look(active.settle(), patient) {
                return Ok(Stop::halted(watch.halted()));
            }
            self.report(watch);
            if self.is_done() {
                return Ok(Stop::Converged);
            }
            match end {
                Rounds::Halted => return Ok(Stop::halted(watch.halted())),
                Rounds::Limit if many >= left => return Ok(Stop::IterationLimit),
                Rounds::Reached | Rounds::Stuck | Rounds::Limit => {}
            }
            let gradient = self.gradient();
            let added = self.returning(&active, &gradient);
            let gap = self.exact.certificate.relative_gap().unwrap_or(f64::INFINITY);
            let closer = end == Rounds::Limit && gap < SLOWLY * gap_before;
            let helped = self.exact.violation < HELPED * violation_before || closer || !added.is_empty();
            stalled = if helped { 0 } else { stalled + 1 };
            if stalled >= STALLED || (end == Rounds::Stuck && added.is_empty()) {
                return Ok(Stop::PrecisionLimit);
            }
            if self.exact.violation <= 2.0 * goal || added.is_empty() {
                goal = self.next_goal(goal);
            }
            active.resume(&gradient, &added)?;
        }
    }

    /// f of all rows.
    fn gradient(&self) -> Vec<f64> {
        self.exact.scores.iter().zip(self.task.signs).map(|(g, y)| g - y).collect()
    }

    /// Where to begin: all rows, or of many some of each class.
    fn first_rows(&self) -> Vec<usize> {
        let signs = self.task.signs;
        if signs.len() <= START {
            return (0..signs.len()).collect();
        }
        let step = signs.len().div_ceil((signs.len() / PART).max(START / 2));
        let mut seen = [0usize; 2];
        (0..signs.len())
            .filter(|i| {
                let count = &mut seen[usize::from(signs[*i] > 0.0)];
                *count += 1;
                (*count - 1).is_multiple_of(step)
            })
            .collect()
    }

    /// Scores of all rows at new multipliers, exact, and what they prove; false where the watch says stop.
    fn look(&mut self, beta: &[f64], watch: &Watch) -> bool {
        let SmoProblem { kernel, rows, .. } = self.problem;
        let changed: Vec<usize> = (0..beta.len()).filter(|i| beta[*i] != self.exact.beta[*i]).collect();
        let changes: Vec<f64> = changed.iter().map(|i| beta[*i] - self.exact.beta[*i]).collect();
        self.passes += changed.len();
        let sum = KernelSum::new(kernel, rows, changed, &changes, 1);
        let mut scores = self.exact.scores.clone();
        let done = scores.par_chunks_mut(PIECE).enumerate().all(|(p, scores)| {
            let ids: Vec<usize> = (p * PIECE..p * PIECE + scores.len()).collect();
            sum.add_to(&TargetRows::new(kernel, rows, &ids), scores);
            watch.halted().is_none()
        });
        if done {
            self.exact = judged(self.task, self.definite, beta.to_vec(), scores);
        }
        done
    }

    fn report(&self, watch: &Watch) {
        watch.report(Progress::Iteration {
            solver: "smo",
            iteration: self.iterations,
            objective: self.exact.objective,
            relative_gap: self.exact.certificate.relative_gap(),
        });
    }

    fn is_done(&self) -> bool {
        match &self.exact.certificate {
            Certificate::Stationary { violation } => *violation <= AIM * self.smo.tolerance,
            other => other.relative_gap().is_some_and(|gap| gap <= AIM * self.smo.tolerance),
        }
    }

    /// Rows that are not active but violate the conditions, by the exact scores.
    fn returning<T: Real>(&self, active: &Active<'_, T>, gradient: &[f64]) -> Vec<usize> {
        let SmoProblem { low, high, has_intercept, .. } = self.problem;
        let mut is_active = vec![false; gradient.len()];
        active.ids.iter().for_each(|i| is_active[*i] = true);
        let of = |values: &[f64]| active.ids.iter().map(|i| values[*i]).collect::<Vec<f64>>();
        let (smallest, largest) = extremes(&of(&self.exact.beta), &of(gradient), (&of(low), &of(high)), has_intercept);
        let beta = &self.exact.beta;
        let violates =
            |i: usize| (beta[i] < high[i] && gradient[i] < largest) || (beta[i] > low[i] && gradient[i] > smallest);
        (0..gradient.len()).filter(|i| !is_active[*i] && violates(*i)).collect()
    }

    /// The violation to aim at next, so that the gap may reach the tolerance.
    fn next_goal(&self, goal: f64) -> f64 {
        let ratio = match self.exact.certificate.relative_gap() {
            Some(gap) => self.smo.tolerance / gap,
            None => self.smo.tolerance / self.exact.violation,
        };
        goal.min(self.exact.violation.max(LEAST_GOAL)) * (AHEAD * ratio).clamp(FALL.0, FALL.1)
    }
}
