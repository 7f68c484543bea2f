//! The system `a_c·v ≥ 0` decided by the simplex method in integer arithmetic, for tables that are small enough.
//!
//! Of the constraints still open, are there weights `β ≥ 0` with `Σ (1 + β)a = 0`? Phase one of the simplex method answers.
//! Either it finds them, and then no open constraint can be strict (Stiemke); or its final simplex multipliers π satisfy
//! `π·a ≤ 0` for all and `π·Σa < 0` (Farkas), so that `−π` is a direction that meets every open constraint, some strictly.
//! These are settled, as in Newton's method, and the search continues on the rest. Dependent columns need no special
//! treatment: their artificial variables stay basic at zero.
//!
//! The basis is kept as `D·B⁻¹` in integers with D its determinant (Edmonds 1967), so that every division is exact. Pricing
//! is in doubles with error bounds; only signs that these leave uncertain are computed in integers. Whatever variable
//! enters, the lexicographic ratio test makes the method finite (Dantzig, Orden and Wolfe 1955).

use crate::certify::{Effort, WholeCone, WholeRows, cost_of_change, cost_of_product};
use num_bigint::{BigInt, Sign};
use rayon::prelude::*;
use std::cmp::Ordering;

/// Beyond this many unknowns the inverse of the basis, of their square in large integers, is too expensive; `Effort`
/// limits the time below it. The same as for exact elimination. Chosen (bench/constants.md).
const MOST_UNKNOWNS: usize = 400;
/// Work of pricing one entry in doubles, in about nanoseconds (see `Effort`). Chosen (bench/constants.md): only the
/// time limit is counted in it.
const PRICING: f64 = 3.0;
/// More than what products below the least double lose in a sum of any length.
const UNDERFLOW: f64 = 1e-290;
/// Just above the exponent −1022 of the least normal double.
const LEAST_EXPONENT: i64 = -1_020;

/// Decides the constraints that are asked; `None` where that takes longer than is allowed.
pub(crate) fn solve_whole_cone(rows: &WholeRows, asked: &[bool], effort: Effort<'_>) -> Option<WholeCone> {
    if rows.unknowns() > MOST_UNKNOWNS {
        return None;
    }
    let mut run = WholeRun { rows, prices: Prices::new(rows), effort, work: 0.0 };
    let mut found =
        WholeCone { open: asked.to_vec(), direction: None, weights: vec![BigInt::ZERO; rows.constraints()] };
    loop {
        let open: Vec<usize> = (0..found.open.len()).filter(|c| found.open[*c]).collect();
        if open.is_empty() {
            break;
        }
        let mut goal = vec![BigInt::ZERO; rows.unknowns()];
        open.iter().for_each(|c| rows.add_vector(*c, &BigInt::from(-1), &mut goal));
        match run.phase_one(&open, goal)? {
            Ended::Weights { basic, scale } => {
                open.iter().for_each(|c| found.weights[*c] = scale.clone());
                basic.into_iter().for_each(|(c, w)| found.weights[c] += w);
                break;
            }
            Ended::Direction(direction) => settle(rows, &mut found, asked, direction),
        }
    }
    found.shorten();
    Some(found)
}

/// A small subset of the constraints that balance, with positive weights that balance on it alone: a basic solution.
pub(crate) fn whole_common_point(rows: &WholeRows, open: &[bool], effort: Effort<'_>) -> Option<Vec<(usize, BigInt)>> {
    if rows.unknowns() > MOST_UNKNOWNS {
        return None;
    }
    let mut run = WholeRun { rows, prices: Prices::new(rows), effort, work: 0.0 };
    let open: Vec<usize> = (0..open.len()).filter(|c| open[*c]).collect();
    let first = *open.first()?;
    let mut goal = vec![BigInt::ZERO; rows.unknowns()];
    rows.add_vector(first, &BigInt::from(-1), &mut goal);
    match run.phase_one(&open, goal)? {
        Ended::Weights { basic, scale } => {
            let mut all: Vec<(usize, BigInt)> = basic.into_iter().filter(|(_, w)| w.sign() == Sign::Plus).collect();
            match all.iter_mut().find(|(c, _)| *c == first) {
                Some((_, w)) => *w += scale,
                None => all.push((first, scale)),
            }
            all.sort_by_key(|(c, _)| *c);
            Some(all)
        }
        Ended::Direction(_) => None,
    }
}

/// Whether a vector is in the cone of the constraints.
pub(crate) enum WholeMember {
    /// It is: a combination with weights that are not negative.
    Member,
    /// It is not (Farkas): a direction meets every constraint and is negative on the vector.
    Beyond(Vec<BigInt>),
}

/// `None` where that takes longer than is allowed.
pub(crate) fn whole_member(rows: &WholeRows, vector: Vec<BigInt>, effort: Effort<'_>) -> Option<WholeMember> {
    if rows.unknowns() > MOST_UNKNOWNS {
        return None;
    }
    let mut run = WholeRun { rows, prices: Prices::new(rows), effort, work: 0.0 };
    Some(match run.phase_one(&(0..rows.constraints()).collect::<Vec<usize>>(), vector)? {
        Ended::Weights { .. } => WholeMember::Member,
        Ended::Direction(direction) => WholeMember::Beyond(direction),
    })
}

/// Adds a direction that meets every open constraint to the one so far, and closes what it meets strictly.
fn settle(rows: &WholeRows, found: &mut WholeCone, asked: &[bool], direction: Vec<BigInt>) {
    let slacks: Vec<BigInt> = (0..found.open.len()).into_par_iter().map(|c| rows.slack(c, &direction)).collect();
    found.direction = Some(match found.direction.take() {
        None => direction,
        // The earlier direction is scaled so that what it settled stays strict.
        Some(before) => {
            let enough = |c: usize| -> Option<BigInt> {
                let lost = asked[c] && !found.open[c] && slacks[c].sign() == Sign::Minus;
                lost.then(|| -&slacks[c] / rows.slack(c, &before) + 1)
            };
            let share = (0..found.open.len()).into_par_iter().filter_map(enough).max().unwrap_or(BigInt::from(1));
            before.iter().zip(direction).map(|(b, d)| b * &share + d).collect()
        }
    });
    found.open.iter_mut().zip(&slacks).for_each(|(open, slack)| *open &= slack.sign() != Sign::Plus);
}

/// How phase one ends.
enum Ended {
    /// `Σ weight·a = scale·goal`.
    Weights { basic: Vec<(usize, BigInt)>, scale: BigInt },
    /// `a·v ≥ 0` for all and `goal·v < 0`.
    Direction(Vec<BigInt>),
}

struct WholeRun<'r> {
    rows: &'r WholeRows,
    prices: Prices,
    effort: Effort<'r>,
    /// Work done so far.
    work: f64,
}

/// `D·B⁻¹`, `D·B⁻¹b` and the basic variables: a constraint each, or an artificial variable (`None`).
struct WholeBasis {
    rows: Vec<Vec<BigInt>>,
    values: Vec<BigInt>,
    basic: Vec<Option<usize>>,
    determinant: BigInt,
}

impl WholeRun<'_> {
    /// `None` where it takes too long.
    fn phase_one(&mut self, open: &[usize], goal: Vec<BigInt>) -> Option<Ended> {
        let mut basis = WholeBasis::new(&goal);
        loop {
            let prices = basis.prices();
            let Some(entering) = self.entering(open, &prices) else {
                return Some(basis.ended(prices));
            };
            let mut column = vec![BigInt::ZERO; goal.len()];
            let product = |row: &Vec<BigInt>| self.rows.slack(entering, row);
            column.clone_from_slice(&basis.rows.par_iter().map(product).collect::<Vec<BigInt>>());
            let leaving = basis.leaving(&column)?;
            basis.pivot(&column, leaving, entering);
            self.work += basis.work() + PRICING * (open.len() * self.prices.width) as f64;
            if !self.effort.allows(self.work) {
                return None;
            }
        }
    }

    /// Pricing: a constraint with `π·a > 0`, by doubles the one with the largest.
    fn entering(&mut self, open: &[usize], prices: &[BigInt]) -> Option<usize> {
        let mut doubtful = Vec::new();
        let mut best: Option<(f64, usize)> = None;
        let about = self.prices.about(prices);
        for (at, (value, error)) in open
            .par_iter()
            .map(|c| self.prices.slack(self.rows, *c, &about))
            .collect::<Vec<_>>()
            .into_iter()
            .enumerate()
        {
            if value > error {
                let far = value / self.prices.norms[self.rows.ends(open[at]).0];
                best = if best.is_none_or(|(most, _)| far > most) { Some((far, at)) } else { best };
            } else if value >= -error {
                doubtful.push(open[at]);
            }
        }
        if let Some((_, at)) = best {
            return Some(open[at]);
        }
        let longest = prices.iter().map(BigInt::bits).max().unwrap_or(0);
        self.work += 2.0 * (doubtful.len() * self.prices.width) as f64 * cost_of_product(longest);
        doubtful.into_par_iter().find_first(|c| self.rows.slack(*c, prices).sign() == Sign::Plus)
    }
}

impl WholeBasis {
    fn new(goal: &[BigInt]) -> WholeBasis {
        let n = goal.len();
        let unit = |i: usize| {
            let mut row = vec![BigInt::ZERO; n];
            row[i] = BigInt::from(if goal[i].sign() == Sign::Minus { -1 } else { 1 });
            row
        };
        WholeBasis {
            rows: (0..n).map(unit).collect(),
            values: goal.iter().map(|g| BigInt::from(g.magnitude().clone())).collect(),
            basic: vec![None; n],
            determinant: BigInt::from(1),
        }
    }

    /// D times the simplex multipliers for a cost of one on artificial variables.
    fn prices(&self) -> Vec<BigInt> {
        let mut prices = vec![BigInt::ZERO; self.rows.len()];
        for (row, _) in self.rows.iter().zip(&self.basic).filter(|(_, basic)| basic.is_none()) {
            prices.iter_mut().zip(row).for_each(|(p, r)| *p += r);
        }
        prices
    }

    fn ended(self, prices: Vec<BigInt>) -> Ended {
        let missing = self.basic.iter().zip(&self.values).any(|(b, v)| b.is_none() && v.sign() != Sign::NoSign);
        if missing {
            return Ended::Direction(prices.into_iter().map(|p| -p).collect());
        }
        let basic = self.basic.into_iter().zip(self.values).filter_map(|(b, v)| Some((b?, v))).collect();
        Ended::Weights { basic, scale: self.determinant }
    }

    /// Lexicographic ratio test: the row with the least `(value, row)/y` over positive y. There is one: the cost is bounded
    /// below by zero.
    fn leaving(&self, column: &[BigInt]) -> Option<usize> {
        let positive = (0..column.len()).filter(|i| column[*i].sign() == Sign::Plus);
        { positive }.min_by(|i, k| {
            let compare = |a: &BigInt, b: &BigInt| (a * &column[*k]).cmp(&(b * &column[*i]));
            let entries = || self.rows[*i].iter().zip(&self.rows[*k]);
            compare(&self.values[*i], &self.values[*k]).then_with(|| {
                entries().map(|(a, b)| compare(a, b)).find(|o| *o != Ordering::Equal).unwrap_or(Ordering::Equal)
            })
        })
    }

    fn pivot(&mut self, column: &[BigInt], leaving: usize, entering: usize) {
        let pivot = &column[leaving];
        let (own, own_value) = (self.rows[leaving].clone(), self.values[leaving].clone());
        let determinant = &self.determinant;
        let rest = self.rows.par_iter_mut().zip(&mut self.values).zip(column).enumerate();
        rest.filter(|(i, _)| *i != leaving).for_each(|(_, ((row, value), y))| {
            let change = |old: &mut BigInt, own: &BigInt| {
                let simple = own.sign() == Sign::NoSign || y.sign() == Sign::NoSign;
                if simple && old.sign() == Sign::NoSign {
                    return;
                }
                let scaled = if simple { pivot * &*old } else { pivot * &*old - y * own };
                *old = scaled / determinant;
            };
            row.iter_mut().zip(&own).for_each(|(old, own)| change(old, own));
            change(value, &own_value);
        });
        self.determinant = pivot.clone();
        self.basic[leaving] = Some(entering);
    }

    /// The work of a pivot.
    fn work(&self) -> f64 {
        (self.rows.len() * self.rows.len()) as f64 * cost_of_change(self.determinant.bits())
    }
}

/// Doubles near the rows, each column divided by the power of two that makes its largest entry about one.
struct Prices {
    values: Vec<f64>,
    exponents: Vec<i64>,
    norms: Vec<f64>,
    width: usize,
}

impl Prices {
    fn new(rows: &WholeRows) -> Prices {
        let (n, width) = (rows.rows(), rows.width());
        let leading: Vec<Vec<(f64, i64)>> = (0..n).map(|row| rows.leading_of_row(row)).collect();
        let largest = |j: usize| leading.iter().filter(|row| row[j].0 != 0.0).map(|row| row[j].1).max().unwrap_or(0);
        let exponents: Vec<i64> = (0..width).map(largest).collect();
        let number = |(j, (m, e)): (usize, &(f64, i64))| power(*m, e - exponents[j]);
        let values: Vec<f64> = leading.iter().flat_map(|row| row.iter().enumerate().map(number)).collect();
        let norm = |row: &[f64]| row.iter().map(|v| v * v).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
        let norms = if width == 0 { vec![1.0; n] } else { values.chunks_exact(width).map(norm).collect() };
        Prices { values, exponents, norms, width }
    }

    /// Approximate simplex multipliers for the scaled columns, the largest about one.
    fn about(&self, prices: &[BigInt]) -> Vec<f64> {
        let parts: Vec<(f64, i64)> = prices
            .iter()
            .enumerate()
            .map(|(at, p)| WholeRows::leading(p, self.exponents[at % self.width.max(1)]))
            .collect();
        let top = parts.iter().filter(|(m, _)| *m != 0.0).map(|(_, e)| *e).max().unwrap_or(0);
        parts.iter().map(|(m, e)| power(*m, e - top)).collect()
    }

    /// `π·a` and its error bound.
    fn slack(&self, rows: &WholeRows, constraint: usize, prices: &[f64]) -> (f64, f64) {
        let (row, own, other) = rows.ends(constraint);
        let x = &self.values[row * self.width..(row + 1) * self.width];
        let (mut value, mut size) = (0.0, 0.0);
        for (class, sign) in [(own, 1.0), (other, -1.0)].into_iter().filter(|(k, _)| *k > 0) {
            for (x, p) in x.iter().zip(&prices[(class - 1) * self.width..]) {
                value += sign * x * p;
                size += (x * p).abs();
            }
        }
        // Two factors with relative errors of 2⁻⁵² each, a product, a sum of twice the width, and underflow.
        let rounding = (2 * self.width + 8) as f64 * f64::EPSILON;
        (value, rounding * size + UNDERFLOW)
    }
}

/// `m·2^e` for e ≤ 0; zero where that is too small.
fn power(m: f64, e: i64) -> f64 {
    if e < LEAST_EXPONENT { 0.0 } else { m * 2f64.powi(e as i32) }
}
