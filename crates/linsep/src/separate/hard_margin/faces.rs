//! The maximum margin of sparse rows with many columns by a primal-dual active set method.
//!
//! Only the rows of the active set A have multipliers, and all of them are at the margin: with `β = yα` the scores `Kβ + b`
//! are y on A, and `Σβ = 0`. If A is known that is one linear system, which conjugate gradients solve without forming
//! `K = XXᵀ`; its solution says which rows leave A (a negative multiplier) and which enter (a row within the margin). This
//! is the primal-dual active set method of Hintermüller, Ito and Kunisch (2002), and the right set is found in few rounds,
//! each warm-started from the last. With fewer columns than rows the system of too large a set has no solution: then it is
//! first regularised (`K + εD` instead of K, D the squared lengths), and ε falls to zero. The method may cycle, so its plane
//! is measured on all rows, and where its gap is too large the caller continues by coordinate descent.

use super::{PlaneSearch, SeparatingPlane, coordinate};
use crate::design::RowGram;
use crate::design::{Block, CsrRows, Tile, gather};
use crate::error::Result;
use crate::linalg::dot;
use crate::watch::Progress;

/// Rounds of the active set method at most; the best plane so far is kept. Chosen (bench/constants.md).
const ROUNDS: usize = 60;
/// Proofs in a row without a wider plane, after which the search ends. Chosen (bench/constants.md).
const PATIENCE: usize = 4;
/// Rounds of coordinate descent first, which find most of the active set: on 20news ten of them take 0.2 s of 1.4 s
/// (bench/README.md). Other numbers of rounds were not recorded.
const ROUNDS_BEFORE: usize = 10;
/// Conjugate gradient steps in a round: while the active set is searched, and once it is known or slack is allowed. On
/// 20news all rounds together take about 450 (bench/README.md); the limits end systems without a solution. Chosen, not
/// measured.
const STEPS: [usize; 2] = [300, 1_000];
/// Changes of the active set, relative to its size, below which its system is solved more precisely. Chosen
/// (bench/constants.md): only the time depends on it.
const FEW_CHANGES: f64 = 0.05;
/// Precision of the first systems: the largest deviation of a score from its label on the active set. Chosen
/// (bench/constants.md).
const FIRST: f64 = 0.1;
/// Factor by which precision and slack fall once few rows change. Chosen (bench/constants.md).
const NEXT: f64 = 0.1;
/// The first slack of a row, per multiplier and square of its length. Chosen, out of reach of bench/constants.md.
const FIRST_SLACK: f64 = 0.1;
/// The last slack that is not zero; raised from 1e-5 after a review without a record. Chosen, out of reach of
/// bench/constants.md.
const LAST_SLACK: f64 = 2e-5;
/// Rounds at one slack after which the active set cycles: the rows are hardly separable, or not. Chosen, out of reach
/// of bench/constants.md.
const CIRCLES: usize = 12;
/// Rows up to this margin get into the copied part: at first, and once few rows change. On 20news the part has 40 % of
/// the rows, and a product takes 2.1 ms (bench/README.md). Other values were not recorded.
const NEAR: [f64; 2] = [1.2, 1.05];
/// A copied part must have no more than this share of the entries to repay its copy. Chosen (bench/constants.md).
const WORTH_A_COPY: f64 = 0.7;
/// Added to the squared lengths that scale the conjugate gradients, relative to their mean, so that empty rows have
/// one. Chosen (bench/constants.md): only the number of steps depends on it.
const LITTLE: f64 = 0.01;
/// The last systems are solved to this share of the tolerance, so that the proof meets it. Chosen (bench/constants.md).
const FINEST: f64 = 0.3;

/// The products of sparse rows, and their labels as ±1.
pub(super) struct RowProducts {
    pub(super) gram: RowGram,
    /// `‖x‖²` plus a little, also for empty rows: the diagonal preconditioner.
    pub(super) squares: Vec<f64>,
    pub(super) y: Vec<f64>,
}

impl RowProducts {
    pub(super) fn new(search: &PlaneSearch<'_>, x: &CsrRows<'_>) -> Result<RowProducts> {
        let square = |row: usize| x.row(row).1.iter().map(|v| v * v).sum::<f64>();
        let squares: Vec<f64> = (0..x.len()).map(square).collect();
        let little = (LITTLE * squares.iter().sum::<f64>() / x.len() as f64).max(f64::MIN_POSITIVE);
        Ok(RowProducts {
            gram: RowGram::new(x, &search.units)?,
            squares: squares.into_iter().map(|s| s + little).collect(),
            y: (0..x.len()).map(|row| search.side(row)).collect(),
        })
    }
}

/// The rows searched for the active set, and their products; `None` where those of all rows are used.
struct FacePart {
    rows: Vec<usize>,
    gram: Option<RowGram>,
}

struct FaceRun<'s, 'r> {
    search: &'s PlaneSearch<'r>,
    x: &'s CsrRows<'s>,
    all: &'s RowProducts,
    part: FacePart,
    /// The active set A.
    carries: Vec<bool>,
    beta: Vec<f64>,
    /// `Kβ` and b.
    scores: Vec<f64>,
    intercept: f64,
    /// ε: rows of the active set are `εα‖x‖²` short of the margin.
    slack: f64,
}

/// The widest plane; `None` where none was found that separates the rows.
pub(super) fn widest(search: &PlaneSearch<'_>, x: &CsrRows<'_>, all: &RowProducts) -> Result<Option<SeparatingPlane>> {
    let (alpha, intercept) = coordinate::few_rounds(search, ROUNDS_BEFORE)?;
    let carries: Vec<bool> = alpha.iter().map(|a| *a > 0.0).collect();
    let beta: Vec<f64> = alpha.iter().zip(&all.y).map(|(a, y)| a * y).collect();
    let scores = all.gram.multiply(&beta);
    let part = FacePart { rows: Vec::new(), gram: None };
    FaceRun { search, x, all, part, carries, beta, scores, intercept, slack: 0.0 }.iterate()
}

impl FaceRun<'_, '_> {
    fn iterate(&mut self) -> Result<Option<SeparatingPlane>> {
        let tolerance = self.search.tolerance;
        let finest = FINEST * tolerance;
        let (mut best, mut since, mut goal): (Option<SeparatingPlane>, usize, f64) = (None, 0, FIRST.max(finest));
        let start = (self.carries.clone(), self.beta.clone());
        self.choose_part(NEAR[0])?;
        let (mut settled, mut at_slack) = (false, 0);
        for round in 1..=ROUNDS {
            if self.search.watch.halted().is_some() {
                break;
            }
            at_slack += 1;
            let solved = self.solve(goal, STEPS[usize::from(settled || self.slack > 0.0)]);
            if self.search.watch.halted().is_some() {
                break;
            }
            if !solved && round == 1 {
                // Fewer columns than active rows: solve with slack, and continue as its penalty grows.
                (self.carries, self.beta) = start.clone();
                self.slack = FIRST_SLACK;
                continue;
            }
            let size = self.carries.iter().filter(|a| **a).count();
            let gap = self.estimated_gap();
            self.search.watch.report(Progress::Iteration {
                solver: "hard-margin",
                iteration: round,
                objective: size as f64,
                relative_gap: Some(gap),
            });
            let changes = self.next_face();
            let lost = !solved || (self.slack > 0.0 && at_slack > CIRCLES);
            let last = lost || (changes == 0 && goal <= finest && self.slack == 0.0);
            if gap <= tolerance || last || round == ROUNDS {
                since += 1;
                if let Some(found) = self.prove()?
                    && best.as_ref().is_none_or(|b| found.gap() < b.gap())
                {
                    since = 0;
                    best = Some(found);
                }
                if last || since > PATIENCE || best.as_ref().is_some_and(|b| b.gap() <= tolerance) {
                    break;
                }
            }
            let few = (changes as f64) < FEW_CHANGES * size as f64;
            let outside = self.part.gram.is_some() && !self.is_within_part();
            if outside || (few && !settled) {
                self.choose_part(NEAR[usize::from(few)])?;
            }
            settled |= few;
            if few && self.slack > 0.0 {
                at_slack = 0;
                self.slack = if self.slack > LAST_SLACK { NEXT * self.slack } else { 0.0 };
            } else if few {
                goal = (goal * NEXT).max(finest);
            }
        }
        Ok(best)
    }

    fn is_within_part(&self) -> bool {
        let mut within = vec![false; self.carries.len()];
        self.part.rows.iter().for_each(|row| within[*row] = true);
        self.carries.iter().zip(&within).all(|(carries, within)| *within || !carries)
    }

    /// Selects the rows of the active set and those near enough to enter it soon.
    fn choose_part(&mut self, near: f64) -> Result<()> {
        let wanted = |i: &usize| self.carries[*i] || self.margin(*i) < near;
        let rows: Vec<usize> = (0..self.beta.len()).filter(wanted).collect();
        let entries: usize = rows.iter().map(|row| self.x.row(*row).0.len()).sum();
        if entries as f64 > WORTH_A_COPY * self.x.entries() as f64 {
            self.part = FacePart { rows: (0..self.beta.len()).collect(), gram: None };
            return Ok(());
        }
        let copy = gather(self.search.rows.design, &rows)?;
        let mut tile = Tile::default();
        let Block::Csr(x) = copy.as_design().block(0..rows.len(), &mut tile)? else { return Ok(()) };
        self.part = FacePart { gram: Some(RowGram::new(&x, &self.search.units)?), rows };
        Ok(())
    }

    fn margin(&self, row: usize) -> f64 {
        self.all.y[row] * (self.scores[row] + self.intercept)
    }

    /// Solves for the margins of the active rows up to `goal`; false where that takes more than so many steps.
    fn solve(&mut self, goal: f64, steps: usize) -> bool {
        let (part, gram) = (&self.part.rows, self.part.gram.as_ref().unwrap_or(&self.all.gram));
        let of_part = |values: &[f64]| part.iter().map(|row| values[*row]).collect::<Vec<f64>>();
        // The diagonal preconditioner: zero for rows outside the active set.
        let inverse: Vec<f64> =
            part.iter().map(|row| if self.carries[*row] { self.all.squares[*row].recip() } else { 0.0 }).collect();
        let size: f64 = inverse.iter().sum();
        if !(size > 0.0) {
            return false;
        }
        let m = part.len();
        // β on the active set, with Σβ = 0.
        let mut beta: Vec<f64> = of_part(&self.beta);
        beta.iter_mut().zip(&inverse).filter(|(_, d)| **d == 0.0).for_each(|(b, _)| *b = 0.0);
        let off = beta.iter().sum::<f64>() / size;
        beta.iter_mut().zip(&inverse).for_each(|(b, d)| *b -= off * d);
        let y = of_part(&self.all.y);
        let slack: Vec<f64> = part.iter().map(|row| self.slack * self.all.squares[*row]).collect();
        let multiply = |v: &[f64]| -> Vec<f64> {
            gram.multiply(v).into_iter().zip(v).zip(&slack).map(|((k, v), s)| k + s * v).collect()
        };
        let product = multiply(&beta);
        let mut residual: Vec<f64> = y.iter().zip(&product).map(|(y, s)| y - s).collect();
        // The intercept is the mean of the residuals, weighted by the preconditioner; without it they give a step with
        // Σβ = 0. It is subtracted at once, since the remainder would lose its digits beside it.
        let mut intercept = 0.0;
        let mut centre = |r: &mut [f64]| -> Vec<f64> {
            let mean = r.iter().zip(&inverse).map(|(r, d)| r * d).sum::<f64>() / size;
            intercept += mean;
            r.iter_mut().for_each(|r| *r -= mean);
            r.iter().zip(&inverse).map(|(r, d)| r * d).collect()
        };
        let mut z = centre(&mut residual);
        let mut p = z.clone();
        let mut rho = dot(&residual, &z);
        let mut reached = false;
        for _ in 0..steps {
            let on_face = residual.iter().zip(&inverse).filter(|(_, d)| **d > 0.0);
            let largest = on_face.fold(0.0f64, |m, (r, _)| m.max(r.abs()));
            reached = largest <= goal;
            if reached || self.search.watch.halted().is_some() {
                break;
            }
            let product = multiply(&p);
            let length = rho / dot(&p, &product);
            if !(length > 0.0 && length.is_finite()) {
                break;
            }
            for i in 0..m {
                beta[i] += length * p[i];
                residual[i] -= length * product[i];
            }
            z = centre(&mut residual);
            let next = dot(&residual, &z);
            (0..m).for_each(|i| p[i] = z[i] + next / rho * p[i]);
            rho = next;
        }
        self.beta.fill(0.0);
        part.iter().zip(&beta).for_each(|(row, b)| self.beta[*row] = *b);
        self.intercept = intercept;
        self.scores = self.all.gram.multiply(&self.beta);
        reached
    }

    /// Rows with negative multipliers leave the active set and rows within the margin enter; how many do.
    fn next_face(&mut self) -> usize {
        let next: Vec<bool> = (0..self.carries.len())
            .map(|i| if self.carries[i] { self.all.y[i] * self.beta[i] > 0.0 } else { self.margin(i) < 1.0 })
            .collect();
        let changes = next.iter().zip(&self.carries).filter(|(a, b)| a != b).count();
        self.carries = next;
        changes
    }

    /// An estimate of the gap from the smallest margin and the positive multipliers, as if dropping the others changed
    /// nothing.
    fn estimated_gap(&self) -> f64 {
        let least = (0..self.beta.len()).map(|i| self.margin(i)).fold(f64::INFINITY, f64::min);
        let positive: f64 = self.beta.iter().zip(&self.all.y).map(|(b, y)| (b * y).max(0.0)).sum();
        match dot(&self.beta, &self.scores) {
            square if square > 0.0 => 1.0 - least * positive / square,
            _ => f64::INFINITY,
        }
    }

    /// The plane of the positive multipliers, measured.
    fn prove(&self) -> Result<Option<SeparatingPlane>> {
        let positive = self.beta.iter().zip(&self.all.y).map(|(b, y)| (b * y).max(0.0));
        self.search.proved(&positive.enumerate().collect::<Vec<_>>())
    }
}
