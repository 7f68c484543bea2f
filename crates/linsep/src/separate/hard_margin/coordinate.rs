//! The maximum margin of rows with many columns by dual coordinate descent.
//!
//! `min ½‖Σ αyx‖² − Σ α`, `α ≥ 0`, `Σ αy = 0`: the α are minimised over one at a time, in a new random order every round,
//! while `w = Σ αyx` is updated. The equality constraint is enforced by the method of multipliers: a penalty `ρ/2 (Σ αy)²`
//! and an estimate b of the intercept that moves by `ρ Σ αy` after every round.

use super::{PlaneSearch, SeparatingPlane};
use crate::design::Tile;
use crate::error::Result;
use crate::objective::DualRows;
use crate::objective::{Hinge, Intercept, Ridge, Risk, Sample};
use crate::watch::Progress;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// Rounds without a separating plane after which none is expected; other methods then decide. Chosen, out of reach of
/// bench/constants.md.
const PATIENCE: usize = 300;
/// Rounds at most; the best plane so far is returned with its proved gap. On 20news even a gap of 10 % took 25 s by
/// single multipliers (bench/README.md), so active sets are tried first. Chosen, out of reach of bench/constants.md.
const ROUNDS: usize = 3_000;
/// The estimate of the gap uses values from before the round: a proof is tried when it is this many times what is
/// asked.
const WORTH_A_PROOF: f64 = 1.0;
/// After a proof that failed, the goal falls by this factor. Chosen, out of reach of bench/constants.md: it weighs
/// proofs against rounds.
const SOONER: f64 = 0.7;

struct CoordinateRun<'s, 'r> {
    search: &'s PlaneSearch<'r>,
    rows: DualRows<'s>,
    y: Vec<f64>,
    alpha: Vec<f64>,
    weights: Vec<f64>,
    /// `Σ αy`.
    total: f64,
    rho: f64,
    intercept: f64,
}

pub(super) fn solve(search: &PlaneSearch<'_>) -> Result<Option<SeparatingPlane>> {
    let mut tile = Tile::default();
    CoordinateRun::new(search, rows(search, &mut tile)?).iterate()
}

/// The multipliers of all rows, and the intercept, after some rounds.
pub(super) fn few_rounds(search: &PlaneSearch<'_>, rounds: usize) -> Result<(Vec<f64>, f64)> {
    let mut tile = Tile::default();
    let mut run = CoordinateRun::new(search, rows(search, &mut tile)?);
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let mut order: Vec<u32> = (0..run.alpha.len() as u32).collect();
    for _ in 0..rounds {
        if search.watch.halted().is_some() {
            break;
        }
        order.shuffle(&mut random);
        run.round(&order);
        run.intercept += run.rho * run.total;
    }
    let mut alpha = vec![0.0; search.rows.labels.len()];
    run.rows.places.iter().zip(&run.alpha).for_each(|(row, a)| alpha[*row] = *a);
    Ok((alpha, run.intercept))
}

/// The rows, as they are visited.
fn rows<'s>(search: &'s PlaneSearch<'_>, tile: &'s mut Tile) -> Result<DualRows<'s>> {
    let risk = Risk::new(Sample::new(search.rows, &search.units), Hinge, Ridge::new(1.0), Intercept::Free);
    DualRows::new(&risk, tile, search.watch)
}

impl<'s, 'r> CoordinateRun<'s, 'r> {
    fn new(search: &'s PlaneSearch<'r>, rows: DualRows<'s>) -> CoordinateRun<'s, 'r> {
        let count = rows.len();
        CoordinateRun {
            search,
            y: rows.places.iter().map(|row| search.side(*row)).collect(),
            alpha: vec![0.0; count],
            weights: vec![0.0; rows.width],
            total: 0.0,
            rho: (rows.squares.iter().sum::<f64>() / count as f64).max(f64::MIN_POSITIVE),
            intercept: 0.0,
            rows,
        }
    }
}

impl CoordinateRun<'_, '_> {
    fn iterate(&mut self) -> Result<Option<SeparatingPlane>> {
        let mut random = ChaCha8Rng::seed_from_u64(0);
        let mut order: Vec<u32> = (0..self.alpha.len() as u32).collect();
        let mut best: Option<SeparatingPlane> = None;
        let mut goal = self.search.tolerance;
        for round in 1..=ROUNDS {
            if self.search.watch.halted().is_some() {
                break;
            }
            order.shuffle(&mut random);
            let least = self.round(&order);
            let sum: f64 = self.alpha.iter().sum();
            let square = self.square();
            let gap = 1.0 - least * sum / square;
            self.search.watch.report(Progress::Iteration {
                solver: "hard-margin",
                iteration: round,
                objective: square.sqrt() / sum,
                relative_gap: Some(gap),
            });
            let last = round == ROUNDS || (round >= PATIENCE && best.is_none() && !(least > 0.0));
            if gap <= WORTH_A_PROOF * goal || last {
                let found = self.prove()?;
                let proved = found.as_ref().map_or(f64::INFINITY, SeparatingPlane::gap);
                if found.is_some() && best.as_ref().is_none_or(|b| proved < b.gap()) {
                    best = found;
                }
                if proved <= self.search.tolerance || last {
                    break;
                }
                goal *= SOONER;
            }
            self.intercept += self.rho * self.total;
        }
        Ok(best)
    }

    /// `‖w‖²`.
    fn square(&self) -> f64 {
        let shared: f64 = self.weights.iter().map(|w| w * w).sum();
        shared + self.alpha.iter().zip(&self.rows.own).map(|(a, own)| a * a * own).sum::<f64>()
    }

    /// One sweep over all multipliers; the smallest margin met on the way.
    fn round(&mut self, order: &[u32]) -> f64 {
        let mut least = f64::INFINITY;
        for i in order {
            let i = *i as usize;
            let alpha = self.alpha[i];
            let score = self.rows.dot(i, &self.weights) + self.intercept + self.rho * self.total;
            let margin = self.y[i] * score + alpha * self.rows.own[i];
            let gradient = margin - 1.0;
            least = least.min(margin);
            let second = self.rows.squares[i] + self.rho;
            let next = (alpha - gradient / second).max(0.0);
            if next != alpha {
                let change = self.y[i] * (next - alpha);
                self.alpha[i] = next;
                self.total += change;
                self.rows.add(i, change, &mut self.weights);
            }
        }
        least
    }

    /// The plane of these multipliers, measured.
    fn prove(&self) -> Result<Option<SeparatingPlane>> {
        self.search.proved(&self.rows.places.iter().copied().zip(self.alpha.iter().copied()).collect::<Vec<_>>())
    }
}
