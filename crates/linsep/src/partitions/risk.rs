//! A risk of rows in several places, as solvers and proofs see it.

use super::outline::PartsOutline;
use super::point_sums::{PointSums, from_lower_triangle};
use super::question::{Message, PartQuestion, PartTerms, read, written};
use crate::certify::{Enclosed, GapRows, ImbalanceSums, SizedSums, SlopeSums, TermSums, ThetaSums};
use crate::error::{Error, ErrorKind, Result};
use crate::numeric::{CompensatedSum, Merge};
use crate::objective::{Coef, Conjugate, Detail, DualPoint, Intercept, Penalty, Point, RiskFrame, Smooth};
use crate::table::Class;
use crate::watch::Watch;
use serde::de::DeserializeOwned;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Steps of a line, or shifts of an intercept, that are asked for at once: an answer costs a round trip and a pass, and each
/// further step only the losses of the rows. Four halvings are as short as most searches get.
const AT_ONCE: usize = 4;

/// Whoever reaches the places: each gets the message, and `answer` is what it does with it.
pub trait AskParts: Sync {
    /// The answers of all places that have rows, in their order.
    fn ask(&self, message: &[u8]) -> Result<Vec<Vec<u8>>>;
}

/// The risk of rows in several places.
pub struct PartitionedRisk<'a, L, P> {
    parts: &'a dyn AskParts,
    terms: PartTerms,
    loss: L,
    penalty: P,
    intercept: Intercept,
    totals: Vec<f64>,
    total_weight: f64,
    round_trips: AtomicUsize,
}

/// The balance sums of a point, which came with it.
pub struct BalanceOfParts(Vec<f64>);

impl<'a, L: Conjugate + Clone, P: Penalty> PartitionedRisk<'a, L, P> {
    /// Of rows with this outline; the loss is the one that the terms name.
    pub(crate) fn new(parts: &'a dyn AskParts, outline: &PartsOutline, terms: &PartTerms, loss: L, penalty: P) -> Self {
        let (terms, intercept) = (terms.clone(), terms.intercept);
        let totals = outline.totals.clone();
        let total_weight = outline.total_weight();
        let round_trips = AtomicUsize::new(0);
        PartitionedRisk { parts, terms, loss, penalty, intercept, totals, total_weight, round_trips }
    }

    /// Questions asked so far.
    pub(crate) fn round_trips(&self) -> usize {
        self.round_trips.load(Ordering::Relaxed)
    }

    /// The merged answers of all places.
    fn ask<T: DeserializeOwned + Merge>(&self, coef: &Coef, question: PartQuestion, watch: &Watch) -> Result<T> {
        let halted = || Error::new(ErrorKind::Interrupted, "stopped before all partitions were asked");
        if watch.halted().is_some() {
            return Err(halted());
        }
        self.round_trips.fetch_add(1, Ordering::Relaxed);
        let message = Message::At { terms: self.terms.clone(), coef: coef.as_slice().to_vec(), question };
        let answer = merged(self.parts, &message);
        // Whoever was stopped while they were asked stopped all of them.
        if watch.halted().is_some() && answer.is_err() { Err(halted()) } else { answer }
    }

    fn sums(&self, coef: &Coef, question: PartQuestion, watch: &Watch) -> Result<Vec<f64>> {
        Ok(self.ask::<PlainSums>(coef, question, watch)?.0)
    }

    /// Sums over all rows, divided by their weight; of coefficients.
    fn mean(&self, sums: Vec<f64>) -> Result<Coef> {
        let (k, cols) = (self.loss.n_scores(), self.n_cols());
        if sums.len() != k * (cols + 1) {
            return Err(Error::data("the partitions answer with sums of another length than was asked for"));
        }
        let mean = sums.into_iter().map(|s| s / self.total_weight).collect();
        Ok(Coef::from_vec(mean, k, cols))
    }

    /// Adds what the ridge multiplies some coefficients by.
    fn add_ridge(&self, to: &mut Coef, of: &Coef) {
        let cols = self.n_cols();
        let weights = to.weights_mut().iter_mut().zip(of.weights()).enumerate();
        weights.for_each(|(at, (t, w))| *t += self.penalty.ridge_of(at % cols) * w);
        if self.intercept == Intercept::Penalised {
            to.intercept_mut().iter_mut().zip(of.intercept()).for_each(|(t, b)| *t += self.penalty.ridge() * b);
        }
    }
}

/// The outline of all places.
pub(crate) fn outline_of(parts: &dyn AskParts, classes: usize) -> Result<PartsOutline> {
    merged(parts, &Message::Outline { classes })
}

fn merged<T: DeserializeOwned + Merge>(parts: &dyn AskParts, message: &Message) -> Result<T> {
    let mut answers = parts.ask(&written(message)?)?.into_iter();
    let first = answers.next().ok_or_else(|| Error::data("no partition has any rows"))?;
    let mut sum: T = read(&first)?;
    for answer in answers {
        sum.merge(read(&answer)?);
    }
    Ok(sum)
}

/// Sums of numbers.
struct PlainSums(Vec<f64>);

impl<'de> serde::Deserialize<'de> for PlainSums {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> std::result::Result<PlainSums, D::Error> {
        Vec::deserialize(from).map(PlainSums)
    }
}

impl Merge for PlainSums {
    fn merge(&mut self, other: PlainSums) {
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| *a += b);
    }
}

/// The largest of some numbers.
#[derive(serde::Deserialize)]
struct LargestOfParts(f64);

impl Merge for LargestOfParts {
    fn merge(&mut self, other: LargestOfParts) {
        self.0 = self.0.max(other.0);
    }
}

impl<L: Conjugate + Clone, P: Penalty> RiskFrame for PartitionedRisk<'_, L, P> {
    type Loss = L;
    type Penalty = P;

    fn loss(&self) -> &L {
        &self.loss
    }

    fn penalty(&self) -> &P {
        &self.penalty
    }

    fn intercept(&self) -> Intercept {
        self.intercept
    }

    fn n_cols(&self) -> usize {
        self.terms.scale.len()
    }

    fn total_weight(&self) -> f64 {
        self.total_weight
    }

    fn null_objective(&self) -> f64 {
        let start = self.start();
        let mut slopes = vec![0.0; self.loss.n_scores()];
        let of_class = |c: usize, r: &mut [f64]| self.loss.block(&[Class(c as u32)], start.intercept(), None, r, None);
        let losses: f64 = (0..self.totals.len()).map(|c| self.totals[c] * of_class(c, &mut slopes)).sum();
        losses / self.total_weight
    }
}

impl<L: Conjugate + Clone, P: Penalty> Smooth for PartitionedRisk<'_, L, P> {
    type Scores = BalanceOfParts;
    type Line = Coef;

    fn start(&self) -> Coef {
        let mut coef = Coef::zeros(self.loss.n_scores(), self.n_cols());
        if self.intercept == Intercept::Free {
            coef.intercept_mut().copy_from_slice(&self.loss.best_constant(&self.totals));
        }
        coef
    }

    fn at(&self, coef: &Coef, detail: Detail, watch: &Watch) -> Result<Point<BalanceOfParts>> {
        let sums: PointSums = self.ask(coef, PartQuestion::point(detail), watch)?;
        let mut gradient = self.mean(sums.gradient)?;
        self.add_ridge(&mut gradient, coef);
        let n = coef.as_slice().len();
        let hessian = sums.hessian.filter(|h| h.len() == n * (n + 1) / 2).map(|lower| {
            let mut hessian = from_lower_triangle(n, &lower, self.total_weight.recip());
            let mut ridge = Coef::zeros(coef.n_scores(), coef.n_cols());
            let mut ones = ridge.clone();
            ones.as_mut_slice().fill(1.0);
            self.add_ridge(&mut ridge, &ones);
            ridge.as_slice().iter().enumerate().for_each(|(j, r)| *hessian.at(j, j) += r);
            hessian
        });
        let objective = sums.loss.value() / self.total_weight + self.penalty_at(coef);
        if !objective.is_finite() || gradient.as_slice().iter().any(|g| !g.is_finite()) {
            return Err(Error::data("the objective is not finite at these coefficients").help("rescale the columns"));
        }
        Ok(Point {
            coef: coef.clone(),
            objective,
            gradient,
            hessian,
            scores: BalanceOfParts(sums.balance.into_iter().map(CompensatedSum::value).collect()),
            gradient_sums: sums.gradient_sums,
        })
    }

    fn along(&self, direction: &Coef, _watch: &Watch) -> Result<Coef> {
        Ok(direction.clone())
    }

    fn range_of(&self, line: &Coef) -> Result<f64> {
        Ok(self.ask::<LargestOfParts>(line, PartQuestion::Range, &Watch::default())?.0)
    }

    fn on_line(&self, point: &Point<BalanceOfParts>, line: &Coef, steps: &[f64]) -> Result<Vec<f64>> {
        let question = PartQuestion::OnLine { direction: line.as_slice().to_vec(), steps: steps.to_vec() };
        let losses: Vec<CompensatedSum> = self.ask(&point.coef, question, &Watch::default())?;
        let penalty = |step: f64| self.penalty_at(&point.coef.moved(step, line));
        Ok(losses.iter().zip(steps).map(|(loss, step)| loss.value() / self.total_weight + penalty(*step)).collect())
    }

    fn steps_at_once(&self) -> usize {
        AT_ONCE
    }

    fn hess_vec(&self, point: &Point<BalanceOfParts>, direction: &Coef, watch: &Watch) -> Result<Coef> {
        let question = PartQuestion::HessVec { direction: direction.as_slice().to_vec() };
        let mut product = self.mean(self.sums(&point.coef, question, watch)?)?;
        self.add_ridge(&mut product, direction);
        Ok(product)
    }

    fn hessian_diagonal(&self, point: &Point<BalanceOfParts>, watch: &Watch) -> Result<Coef> {
        let mut diagonal = self.mean(self.sums(&point.coef, PartQuestion::HessianDiagonal, watch)?)?;
        let mut ones = diagonal.clone();
        ones.as_mut_slice().fill(1.0);
        self.add_ridge(&mut diagonal, &ones);
        Ok(diagonal)
    }

    fn dual_point(&self, point: &Point<BalanceOfParts>, balanced: bool, shrink: f64) -> Result<DualPoint> {
        let balance = &point.scores.0;
        let recipe = self.loss.dual_recipe(balance, balanced);
        let dual: Vec<CompensatedSum> = match self.loss.n_dual_sums() {
            0 => Vec::new(),
            _ => {
                let question = PartQuestion::Dual { recipe: recipe.clone(), shrink };
                self.ask(&point.coef, question, &Watch::default())?
            }
        };
        let dual: Vec<f64> = dual.into_iter().map(CompensatedSum::value).collect();
        Ok(self.loss.dual_point(recipe, shrink, balance, &dual))
    }

    fn class_scaled_sums(&self, point: &Point<BalanceOfParts>, scale: [f64; 2], watch: &Watch) -> Result<Vec<f64>> {
        self.sums(&point.coef, PartQuestion::ClassScaled { scale }, watch)
    }

    fn class_sums(&self, watch: &Watch) -> Result<Vec<f64>> {
        self.sums(&Coef::zeros(self.loss.n_scores(), self.n_cols()), PartQuestion::ClassSums, watch)
    }
}

impl<L: Conjugate + Enclosed + Clone, P: Penalty> GapRows for PartitionedRisk<'_, L, P> {
    /// The rows are asked again, at the same coefficients.
    type SizedRows = Coef;

    fn sized(&self, coef: &Coef, by_column: bool, total: f64, watch: &Watch) -> Result<(Coef, SizedSums)> {
        Ok((coef.clone(), self.ask(coef, PartQuestion::Sized { by_column, total }, watch)?))
    }

    fn imbalance(&self, rows: &mut Coef, shift: &[f64]) -> Result<ImbalanceSums> {
        let question = PartQuestion::Imbalance { total: self.total_weight, shift: shift.to_vec() };
        self.ask(rows, question, &Watch::default())
    }

    fn theta_sums(&self, rows: &mut Coef, dual: &L::DualPoint, watch: &Watch) -> Result<ThetaSums> {
        self.ask(rows, PartQuestion::Theta { total: self.total_weight, dual: written(dual)? }, watch)
    }

    fn term_sums(&self, rows: &Coef, dual: &L::DualPoint, shrink: f64) -> Result<TermSums> {
        let question = PartQuestion::TermSums { total: self.total_weight, dual: written(dual)?, shrink };
        self.ask(rows, question, &Watch::default())
    }

    fn slopes(&self, rows: &Coef, shifts: &[f64]) -> Result<Vec<SlopeSums>> {
        let question = PartQuestion::Slopes { total: self.total_weight, shifts: shifts.to_vec() };
        self.ask(rows, question, &Watch::default())
    }

    fn slopes_at_once(&self) -> usize {
        2 * AT_ONCE
    }
}
