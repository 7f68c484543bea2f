//! The support vector machine of several classes by its dual, one row at a time.
//!
//! `min λ/2‖W‖² + (1/S)Σ s max_k(1{k≠y} + z_k − z_y)`. In units of λ, with `C = s/(λS)` and probabilities p for every row,
//! `W_k = Σ C(1{y=k} − p_k)x̂`, and the dual objective is `Σ C(1 − p_y) − ½‖W‖²`. As a function of the p of one row it is
//! `Σ p_k(1{k≠y} + z_k) − (A/2)‖p − p_old‖²`, `A = C‖x̂‖²`: the maximiser is the projection of `p_old + (1{k≠y} + z)/A` onto
//! the simplex, found by sorting (Crammer and Singer 2001; sequential: Keerthi, Sundararajan, Chang, Hsieh and Lin, A
//! sequential dual method for large scale multi-class linear SVMs, 2008).
//!
//! Rows that a visit left alone are visited again only in every fourth round, which sees all rows and their parts of the
//! gap, `C[max_k(1{k≠y} + z_k) − Σ p_k(1{k≠y} + z_k)]`. Intercepts as for two classes: penalised they are weights of a
//! column of ones, free ones are found by the method of multipliers.

use super::PROXIMAL_SHARE;
use crate::certify::{feasible_joint_multipliers, joint_multiplier_gap};
use crate::design::Tile;
use crate::error::{Error, ErrorKind, Result};
use crate::objective::DualRows;
use crate::objective::{Coef, CrammerSinger, Intercept, Loss, Penalty, Risk};
use crate::solve::{MarginSolved, Step, Stop};
use crate::watch::{Progress, Watch};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// The sequential dual method for several classes.
///
/// ```
/// use linsep::design::{LabelledRows, DenseMatrix, Units};
/// use linsep::objective::{CrammerSinger, Intercept, Ridge, Risk, Sample};
/// use linsep::solve::SequentialDual;
/// use linsep::table::Class;
/// let (x, units) = (DenseMatrix::new(vec![1.0, 0.0, 0.0, 1.0, -1.0, -1.0], 2)?, Units::identity(2));
/// let labels = [Class(0), Class(1), Class(2)];
/// let rows = Sample::new(LabelledRows::new(&x, &labels), &units);
/// let risk = Risk::new(rows, CrammerSinger::new(3), Ridge::new(0.1), Intercept::None);
/// let solved = SequentialDual { tolerance: 1e-9, max_iterations: 1000 }.solve(&risk, &Default::default())?;
/// assert!(solved.certificate.relative_gap().unwrap() <= 1e-9);
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct SequentialDual {
    /// Stop when the relative gap is at most this.
    pub tolerance: f64,
    /// Stop after this many rounds.
    pub max_iterations: usize,
}

/// All rows are visited every so many rounds, in between only those that moved last. Chosen, out of reach of
/// bench/constants.md: only the time depends on it.
const WHOLE: usize = 4;
/// Changes of probabilities below this are rounding: about 50 units.
const SETTLED: f64 = 1e-14;
/// Where the estimated gap is reached and the proved one is not, the goal falls by this factor. Chosen, out of reach of
/// bench/constants.md: it weighs proofs that fail against rounds that are not needed.
const SOONER: f64 = 0.25;

/// What a round saw: the sum of the gaps before its changes, and the largest change.
struct JointRound {
    gap: f64,
    change: f64,
}

struct JointRun<'r, 'd> {
    risk: &'r Risk<'d, CrammerSinger>,
    watch: &'r Watch,
    rows: DualRows<'r>,
    classes: usize,
    /// C of every row.
    capacity: Vec<f64>,
    /// p, row by row.
    p: Vec<f64>,
    /// `Σ βx` of the stored parts of the rows, class by class, with `β_k = C(1{y=k} − p_k)`.
    weights: Vec<f64>,
    /// `Σ β` and `Σ βκ` of every class.
    totals: Vec<f64>,
    kappa_totals: Vec<f64>,
    /// The dual objective in units of λ, from below.
    dual: f64,
    /// ρ, and the estimates of free intercepts.
    rho: f64,
    intercepts: Vec<f64>,
    order: Vec<u32>,
    /// Whether the last visit changed the row.
    moved: Vec<bool>,
    random: ChaCha8Rng,
    best: MarginSolved,
    /// The scale of a relative gap in units of λ.
    scale: f64,
    room: Room,
}

/// Room for one visit.
struct Room {
    scores: Vec<f64>,
    target: Vec<f64>,
    sorted: Vec<f64>,
}

impl SequentialDual {
    /// Runs until the certificate, a limit or the watch stops it. The multipliers returned are the probabilities p, row by
    /// row and class by class.
    pub fn solve(&self, risk: &Risk<'_, CrammerSinger>, watch: &Watch) -> Result<MarginSolved> {
        self.solve_from(risk, None, watch)
    }

    /// The same from multipliers and intercepts that are known to be good.
    pub(in crate::solve) fn solve_from(
        &self,
        risk: &Risk<'_, CrammerSinger>,
        start: Option<&MarginSolved>,
        watch: &Watch,
    ) -> Result<MarginSolved> {
        if risk.penalty().is_none() || !risk.penalty().free_columns().is_empty() {
            return Err(Error::usage("the sequential dual method needs a penalty on every column"));
        }
        let mut tile = Tile::default();
        let mut run = JointRun::new(risk, watch, &mut tile)?;
        if let Some(start) = start {
            run.start_at(start);
        }
        let stop = match run.iterate(self) {
            Ok(stop) => stop,
            Err(error) if error.kind() == ErrorKind::Interrupted => Stop::halted(watch.halted()),
            Err(error) => return Err(error),
        };
        if stop != Stop::Converged {
            run.certify(&Watch::default())?;
        }
        Ok(MarginSolved { stop, ..run.best })
    }
}

impl<'r, 'd> JointRun<'r, 'd> {
    fn new(risk: &'r Risk<'d, CrammerSinger>, watch: &'r Watch, tile: &'r mut Tile) -> Result<JointRun<'r, 'd>> {
        let rows = DualRows::new(risk, tile, watch)?;
        let (sample, classes) = (risk.sample(), risk.loss().n_classes());
        let scale = risk.penalty().ridge() * risk.total_weight();
        let mut p = vec![0.0; rows.len() * classes];
        for (p, place) in p.chunks_exact_mut(classes).zip(&rows.places) {
            p[sample.labels[*place].index()] = 1.0;
        }
        let rho = match risk.intercept() {
            Intercept::None => 0.0,
            Intercept::Penalised => 1.0,
            Intercept::Free => (rows.squares.iter().sum::<f64>() / rows.len() as f64).max(f64::MIN_POSITIVE),
        };
        let room = || vec![0.0; classes];
        Ok(JointRun {
            risk,
            watch,
            classes,
            capacity: rows.places.iter().map(|i| sample.weights.map_or(1.0, |w| w[*i]) / scale).collect(),
            p,
            weights: vec![0.0; rows.width * classes],
            totals: room(),
            kappa_totals: room(),
            dual: 0.0,
            rho,
            intercepts: room(),
            order: (0..rows.len() as u32).collect(),
            moved: vec![true; rows.len()],
            random: ChaCha8Rng::seed_from_u64(0),
            best: MarginSolved::at_zero(risk),
            scale: risk.null_objective() / risk.penalty().ridge(),
            room: Room { scores: room(), target: room(), sorted: room() },
            rows,
        })
    }

    fn start_at(&mut self, start: &MarginSolved) {
        let (k, width) = (self.classes, self.rows.width);
        for i in 0..self.rows.len() {
            let place = self.rows.places[i];
            let y = self.risk.sample().labels[place].index();
            for c in 0..k {
                let p = start.multipliers[place * k + c];
                let beta = self.capacity[i] * (f64::from(u8::from(c == y)) - p);
                self.p[i * k + c] = p;
                self.totals[c] += beta;
                self.kappa_totals[c] += beta * self.rows.kappa.get(i).copied().unwrap_or(0.0);
                self.rows.add(i, beta, &mut self.weights[c * width..(c + 1) * width]);
            }
        }
        if self.risk.intercept() == Intercept::Free {
            self.intercepts.copy_from_slice(start.coef.intercept());
        }
        (self.best.coef, self.best.objective) = (start.coef.clone(), start.objective);
        (self.best.multipliers, self.best.certificate) = (start.multipliers.clone(), start.certificate.clone());
    }

    fn iterate(&mut self, limits: &SequentialDual) -> Result<Stop> {
        let free = self.risk.intercept() == Intercept::Free;
        let mut goal = 0.5 * limits.tolerance;
        let mut rest = 0;
        loop {
            if let Some(halt) = self.watch.halted() {
                return Ok(Stop::halted(Some(halt)));
            }
            if self.best.trace.len() >= limits.max_iterations {
                return Ok(Stop::IterationLimit);
            }
            let whole = rest == 0;
            rest = if whole { WHOLE - 1 } else { rest - 1 };
            let round = self.round(whole);
            let imbalance = match free {
                true => self.totals.iter().zip(&self.intercepts).map(|(t, b)| t.abs() * (1.0 + b.abs())).sum(),
                false => 0.0,
            };
            let gap = (round.gap + imbalance) / self.scale;
            let objective = self.dual * self.risk.penalty().ridge();
            self.best.trace.push(Step { objective, relative_gap: None, step: 1.0 });
            if round.change <= SETTLED {
                rest = 0;
            }
            if !whole {
                continue;
            }
            self.watch.report(Progress::Iteration {
                solver: "sequential-dual",
                iteration: self.best.trace.len(),
                objective,
                relative_gap: Some(gap),
            });
            let settled = round.change <= SETTLED;
            let at_rest = !free || self.totals.iter().all(|t| self.rho * t.abs() <= SETTLED);
            if gap <= goal || (settled && at_rest) {
                if self.certify(self.watch)?.is_some_and(|gap| gap <= limits.tolerance) {
                    return Ok(Stop::Converged);
                }
                if (settled && at_rest) || goal < f64::MIN_POSITIVE {
                    return Ok(Stop::PrecisionLimit);
                }
                goal *= SOONER;
                self.move_intercepts(free);
            } else if free && (round.gap <= PROXIMAL_SHARE * imbalance || settled) {
                self.move_intercepts(free);
                rest = 0;
            }
        }
    }

    fn move_intercepts(&mut self, free: bool) {
        if free {
            self.intercepts.iter_mut().zip(&self.totals).for_each(|(b, t)| *b += self.rho * t);
        }
    }

    /// Visits all rows, or those that moved at their last visit, in a new order.
    fn round(&mut self, whole: bool) -> JointRound {
        self.order.shuffle(&mut self.random);
        let mut seen = JointRound { gap: 0.0, change: 0.0 };
        for at in 0..self.order.len() {
            let i = self.order[at] as usize;
            if whole || self.moved[i] {
                let (gap, change) = self.visit(i);
                seen.gap += gap;
                seen.change = seen.change.max(change);
                self.moved[i] = change > 0.0;
            }
        }
        seen
    }

    /// Maximises over the probabilities of a row; its part of the gap before, and the largest change.
    fn visit(&mut self, i: usize) -> (f64, f64) {
        let k = self.classes;
        let y = self.risk.sample().labels[self.rows.places[i]].index();
        self.score(i, y);
        let (capacity, p) = (self.capacity[i], &self.p[i * k..(i + 1) * k]);
        let Room { scores, target, sorted } = &mut self.room;
        // 1{k≠y} + z_k; a common shift means nothing, and the own class is the origin.
        let own = scores[y];
        for (c, z) in scores.iter_mut().enumerate() {
            *z = if c == y { 0.0 } else { 1.0 + *z - own };
        }
        let lead = scores.iter().copied().fold(0.0, f64::max);
        let gap = capacity * p.iter().zip(&*scores).map(|(p, z)| p * (lead - z)).sum::<f64>();
        let curvature = capacity * (self.rows.squares[i] + self.rho);
        match curvature > 0.0 {
            true => target.iter_mut().zip(p.iter().zip(&*scores)).for_each(|(t, (p, z))| *t = p + z / curvature),
            // A row of zeros: everything goes to the class in the lead.
            false => target.iter_mut().zip(&*scores).for_each(|(t, z)| *t = if *z == lead { 1.0 } else { 0.0 }),
        }
        project(target, sorted);
        let mut change: f64 = 0.0;
        for c in 0..k {
            let difference = self.room.target[c] - self.p[i * k + c];
            if difference == 0.0 {
                continue;
            }
            change = change.max(difference.abs());
            self.dual += capacity * difference * (self.room.scores[c] - 0.5 * curvature * difference);
            self.p[i * k + c] = self.room.target[c];
            let beta = -capacity * difference;
            self.totals[c] += beta;
            self.kappa_totals[c] += beta * self.rows.kappa.get(i).copied().unwrap_or(0.0);
            let width = self.rows.width;
            self.rows.add(i, beta, &mut self.weights[c * width..(c + 1) * width]);
        }
        (gap, change)
    }

    /// The scores of a row, offsets included.
    fn score(&mut self, i: usize, y: usize) {
        let (k, width) = (self.classes, self.rows.width);
        let kappa = self.rows.kappa.get(i).copied().unwrap_or(0.0);
        let offsets = self.risk.sample().offsets.map(|o| &o[self.rows.places[i] * k..]);
        for c in 0..k {
            let beta = self.capacity[i] * (f64::from(u8::from(c == y)) - self.p[i * k + c]);
            let constant = self.totals[c] * (self.rows.centre_square + self.rho - kappa) - self.kappa_totals[c];
            self.room.scores[c] = self.rows.dot(i, &self.weights[c * width..(c + 1) * width])
                + constant
                + self.intercepts[c]
                + beta * self.rows.own[i]
                + offsets.map_or(0.0, |o| o[c]);
        }
    }

    /// Proves the gap of the multipliers and the weights they stand for; keeps them if they are the best so far.
    fn certify(&mut self, watch: &Watch) -> Result<Option<f64>> {
        let (risk, sample, k) = (self.risk, self.risk.sample(), self.classes);
        let mut multipliers = vec![0.0; sample.labels.len() * k];
        for (i, class) in sample.labels.iter().enumerate() {
            multipliers[i * k + class.index()] = 1.0;
        }
        for (at, i) in self.rows.places.iter().enumerate() {
            multipliers[i * k..(i + 1) * k].copy_from_slice(&self.p[at * k..(at + 1) * k]);
        }
        let mut values = vec![0.0; multipliers.len()];
        for (i, class) in sample.labels.iter().enumerate() {
            let s = sample.weights.map_or(1.0, |w| w[i]);
            for c in 0..k {
                values[i * k + c] = s * (f64::from(u8::from(c == class.index())) - multipliers[i * k + c]);
            }
        }
        let (sums, totals) = risk.weighted_sums(&values, watch)?;
        let (total, cols) = (risk.total_weight(), risk.n_cols());
        let weights = sums.iter().enumerate().map(|(j, s)| s / (total * risk.penalty().ridge_of(j % cols.max(1))));
        let intercept = |c: usize| match risk.intercept() {
            Intercept::None => 0.0,
            Intercept::Penalised => totals[c] / (total * risk.penalty().ridge()),
            Intercept::Free => self.intercepts[c] + self.rho * self.totals[c],
        };
        let coef = Coef::from_vec(weights.chain((0..k).map(intercept)).collect(), k, cols);
        let multipliers = feasible_joint_multipliers(risk, &multipliers);
        let (objective, certificate) = joint_multiplier_gap(risk, &coef, &multipliers, watch)?;
        self.best.passes += 3;
        Ok(self.best.offer(coef, objective, multipliers, None, certificate))
    }
}

/// The nearest point of the simplex: `max(t − τ, 0)` with τ such that the sum is one.
fn project(target: &mut [f64], sorted: &mut [f64]) {
    // A common shift changes nothing; from the largest no digits are lost.
    let largest = target.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    target.iter_mut().for_each(|t| *t -= largest);
    sorted.copy_from_slice(target);
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    let (mut sum, mut tau) = (0.0, 0.0);
    for (n, value) in sorted.iter().enumerate() {
        sum += value;
        let candidate = (sum - 1.0) / (n as f64 + 1.0);
        if *value <= candidate {
            break;
        }
        tau = candidate;
    }
    target.iter_mut().for_each(|t| *t = (*t - tau).max(0.0));
}

#[cfg(test)]
mod tests {
    use super::project;

    #[test]
    fn projections_are_probabilities_and_the_nearest() {
        for target in [[0.2, 0.3, 0.5], [5.0, 0.0, 0.0], [1.0, 1.0, -4.0], [-3.0, -3.1, -2.9], [1e9, 1e9, 0.0]] {
            let mut found = target;
            project(&mut found, &mut [0.0; 3]);
            assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-15, "{found:?}");
            assert!(found.iter().all(|p| *p >= 0.0));
            // (t − p)·(q − p) ≤ 0 for the corners q.
            for corner in 0..3 {
                let q = |k: usize| f64::from(u8::from(k == corner));
                let product: f64 = (0..3).map(|k| (target[k] - found[k]) * (q(k) - found[k])).sum();
                assert!(product <= 1e-6 * (1.0 + target[0].abs()), "{target:?} {found:?}");
            }
        }
    }
}
