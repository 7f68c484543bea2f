//! A direction with given slacks: in doubles where all its signs are proved, else in integers.
//!
//! Slacks that are orthogonal to all relations among the rows are those of some direction. The shortest such direction is a
//! combination of rows, found through their Gram matrix; where that is too ill-conditioned, a direction with few columns is
//! solved for exactly.

use super::{Case, Complete, Verdict, WholeScore};
use crate::certify::{Dyadic, ListedVectors, WholeCombination, WholeCone, WholeRows, length, others};
use crate::error::Result;
use crate::linalg::{Square, factor};
use num_bigint::BigInt;
use rayon::prelude::*;

/// On the unit-diagonal scale, pivots of products of independent rows below this leave too few digits. Chosen, out of
/// reach of bench/constants.md: what comes out is checked, and else found in whole numbers.
const FEW_DIGITS: f64 = 1e-12;
/// Times that a direction is corrected by what it misses: two gain all digits that doubles have where one is right.
const CORRECTIONS: usize = 2;

/// Weights in the units of the columns and the intercept at zero.
pub(super) type ScoreInDoubles = (Vec<f64>, f64);

/// The decision on all constraints, with its proof.
pub(super) struct Settled {
    /// On the boundary.
    pub(super) open: Vec<bool>,
    /// Positive on the boundary, with `Σ αa = 0`.
    pub(super) weights: Vec<BigInt>,
    /// Positive elsewhere: slacks of a direction.
    pub(super) slacks: Vec<BigInt>,
}

/// A direction in integers.
pub(super) struct WholeScores {
    /// Of every score but the first the columns (one past the last is the intercept) with their weight, a number times a power
    /// of two.
    terms: Vec<Vec<(usize, BigInt, i32)>>,
    /// What the slacks were multiplied by, a number times a power of two.
    unit: (BigInt, i32),
}

impl WholeScores {
    /// The exponent of the largest weight.
    fn top(&self) -> i64 {
        self.terms.iter().flatten().map(|(_, w, e)| WholeRows::leading(w, i64::from(*e)).1).max().unwrap_or(0)
    }

    /// The nearest doubles, scaled by a power of two so that the largest is about one.
    pub(super) fn doubles(&self, cols: usize) -> Vec<ScoreInDoubles> {
        let top = self.top();
        let score = |terms: &Vec<(usize, BigInt, i32)>| {
            let (mut weights, mut intercept) = (vec![0.0; cols], 0.0);
            for (j, w, e) in terms {
                let (m, e) = WholeRows::leading(w, i64::from(*e));
                *weights.get_mut(*j).unwrap_or(&mut intercept) = WholeRows::scaled(m, e - top);
            }
            (weights, intercept)
        };
        self.terms.iter().map(score).collect()
    }

    /// A lower bound on the distance of any row from a boundary of its class, where this is the least slack.
    fn margin(&self, cols: usize, least: &BigInt) -> f64 {
        let scores = self.doubles(cols);
        let norm = |a: usize, b: Option<usize>| {
            let other = |j: usize| b.map_or(0.0, |b| scores[b].0[j]);
            length(&(0..cols).map(|j| scores[a].0[j] - other(j)).collect::<Vec<f64>>())
        };
        let pairs = (0..scores.len()).flat_map(|a| std::iter::once(None).chain((0..a).map(Some)).map(move |b| (a, b)));
        let widest = pairs.map(|(a, b)| norm(a, b)).fold(0.0, f64::max);
        let (m, e) = WholeRows::leading(&(least * &self.unit.0), i64::from(self.unit.1));
        WholeRows::scaled(m, e - self.top()) / widest * (1.0 - 64.0 * f64::EPSILON)
    }

    /// The same in decimal digits.
    fn digits(&self, cols: usize) -> Vec<WholeScore> {
        // A common power of two makes the intercepts integers.
        let least = self.terms.iter().flatten().filter(|(j, ..)| *j == cols).map(|(_, _, e)| *e).min().unwrap_or(0);
        let score = |terms: &Vec<(usize, BigInt, i32)>| {
            let mut out = WholeScore { weights: vec![("0".to_owned(), 0); cols], intercept: "0".to_owned() };
            for (j, w, e) in terms {
                match *j < cols {
                    true => out.weights[*j] = (w.to_string(), e - least),
                    false => out.intercept = (w << (e - least) as usize).to_string(),
                }
            }
            out
        };
        self.terms.iter().map(score).collect()
    }
}

impl Case<'_> {
    /// Every constraint can be strict: a plane in doubles where a near one separates, else in integers.
    pub(super) fn complete_by_slacks(
        &self,
        entries: &[Vec<(usize, f64)>],
        settled: &Settled,
    ) -> Result<Option<Verdict>> {
        let cols = self.rows.design.shape().cols;
        if let Some(scores) = self.direction_in_doubles(entries, settled)? {
            if self.classes == 2
                && let Some(found) = self.widest(Some(&scores[0].0))?
                && let verdict @ Verdict::Complete(_) = self.if_it_separates(self.complete_plane(&found)?)?
            {
                return Ok(Some(verdict));
            }
            if let Some(complete) = self.if_it_is_exact(scores)? {
                return Ok(Some(complete));
            }
        }
        let Some(whole) = self.whole_direction(entries, settled)? else { return Ok(None) };
        if let Some(complete) = self.if_it_is_exact(whole.doubles(cols))? {
            return Ok(Some(complete));
        }
        let (weights, intercept) = self.by_score(whole.doubles(cols));
        let least = settled.slacks.iter().min().cloned().unwrap_or_default();
        Ok(Some(Verdict::Complete(Box::new(Complete {
            weights,
            intercept,
            centre: vec![0.0; cols],
            margin: whole.margin(cols, &least),
            hull: None,
            exact: Some(true),
            whole: Some(whole.digits(cols)),
        }))))
    }

    /// The verdict by doubles, if they separate exactly.
    fn if_it_is_exact(&self, scores: Vec<ScoreInDoubles>) -> Result<Option<Verdict>> {
        let (weights, intercept) = self.by_score(scores);
        let centre = vec![0.0; self.rows.design.shape().cols];
        let mut complete =
            Complete { weights, intercept, centre, margin: 0.0, hull: None, exact: Some(true), whole: None };
        let Some(margin) = self.exact_margin(&complete)?.filter(|margin| *margin > 0.0) else { return Ok(None) };
        complete.margin = margin;
        Ok(Some(Verdict::Complete(Box::new(complete))))
    }

    /// One score for two classes, else one a class.
    pub(super) fn by_score(&self, scores: Vec<ScoreInDoubles>) -> (Vec<Vec<f64>>, Vec<f64>) {
        let first = (self.classes > 2).then(|| (vec![0.0; self.rows.design.shape().cols], 0.0));
        first.into_iter().chain(scores).unzip()
    }

    /// What the scores of classes, beside the first, must be on every row so that the slacks are those given.
    fn targets<T: Clone + std::ops::Neg<Output = T> + std::ops::Sub<Output = T>>(&self, slacks: &[T]) -> Vec<Vec<T>> {
        let per_row = self.classes - 1;
        let target = |class: usize, row: usize| {
            let own = self.rows.labels[row].index();
            let slack = |other: usize| {
                let place = others(self.classes, own).position(|k| k == other).unwrap_or(0);
                slacks[row * per_row + place].clone()
            };
            match own {
                0 => -slack(class),
                own if own == class => slack(0),
                _ => slack(0) - slack(class),
            }
        };
        (1..self.classes).map(|class| (0..self.rows.labels.len()).map(|row| target(class, row)).collect()).collect()
    }

    /// The shortest direction with these slacks, in doubles, if all its signs are right up to rounding.
    pub(super) fn direction_in_doubles(
        &self,
        entries: &[Vec<(usize, f64)>],
        settled: &Settled,
    ) -> Result<Option<Vec<ScoreInDoubles>>> {
        let (n, cols) = (self.rows.labels.len(), self.rows.design.shape().cols);
        let cone = WholeCone { open: Vec::new(), direction: None, weights: settled.slacks.clone() };
        let targets = self.targets(&cone.weights_as_doubles());
        let product = |i: usize| -> Vec<f64> {
            let mut wide = vec![0.0; cols];
            entries[i].iter().for_each(|(j, x)| wide[*j] = *x);
            entries[i..].iter().map(|row| 1.0 + row.iter().map(|(j, x)| x * wide[*j]).sum::<f64>()).collect()
        };
        let columns: Vec<Vec<f64>> = (0..n).into_par_iter().map(product).collect();
        let products = Square::from_lower(n, |i, j| columns[j][i - j]);
        drop(columns);
        if !products.as_slice().iter().all(|x| x.is_finite()) {
            return Ok(None);
        }
        let factor = factor(&products, FEW_DIGITS);
        let score = |(weights, intercept): &(Vec<f64>, f64), row: &Vec<(usize, f64)>| {
            intercept + row.iter().map(|(j, x)| x * weights[*j]).sum::<f64>()
        };
        let mut scores = Vec::new();
        for target in &targets {
            let mut found = (vec![0.0; cols], 0.0);
            for _ in 0..=CORRECTIONS {
                let missing: Vec<f64> = entries.iter().zip(target).map(|(row, t)| t - score(&found, row)).collect();
                let beta = factor.solve(&missing);
                self.combined(&beta)?.iter().zip(&mut found.0).for_each(|(more, w)| *w += more);
                found.1 += beta.iter().sum::<f64>();
            }
            scores.push(found);
        }
        let mut values: Vec<f64> = scores.iter().flat_map(|(w, _)| w.iter().copied()).collect();
        values.extend(scores.iter().map(|(_, b)| *b));
        if !values.iter().all(|v| v.is_finite()) {
            return Ok(None);
        }
        let strict = self.strict_in_doubles(values)?;
        Ok(strict.filter(|s| s.iter().zip(&settled.open).all(|(s, o)| s != o)).map(|_| scores))
    }

    /// A direction with these slacks in whole numbers; `None` where that takes too long.
    pub(super) fn whole_direction(
        &self,
        entries: &[Vec<(usize, f64)>],
        settled: &Settled,
    ) -> Result<Option<WholeScores>> {
        let cols = self.rows.design.shape().cols;
        let mut place = vec![usize::MAX; cols];
        let mut columns = vec![cols];
        let mut vectors: Vec<Vec<(usize, Dyadic)>> =
            vec![(0..entries.len()).map(|row| (row, Dyadic::of(1.0))).collect()];
        for (row, entries) in entries.iter().enumerate() {
            for (j, x) in entries {
                if place[*j] == usize::MAX {
                    place[*j] = vectors.len();
                    columns.push(*j);
                    vectors.push(Vec::new());
                }
                vectors[place[*j]].push((row, Dyadic::of(*x)));
            }
        }
        let listed = ListedVectors { dimension: entries.len(), vectors };
        let (mut scores, mut power) = (Vec::new(), 0);
        for target in self.targets(&settled.slacks) {
            let Some(found) = WholeCombination::of(&listed, &target, self.effort())? else { return Ok(None) };
            power = found.power;
            scores.push((found.factor, found.terms));
        }
        // The scores of all classes need one common factor.
        let common: BigInt = scores.iter().map(|(factor, _)| factor).product();
        let score = |(factor, terms): (BigInt, Vec<(usize, BigInt, i32)>)| {
            let more = &common / factor;
            terms.into_iter().map(|(v, c, e)| (columns[v], c * &more, e)).collect()
        };
        let terms = scores.into_iter().map(score).collect();
        Ok(Some(WholeScores { terms, unit: (common, power) }))
    }
}
