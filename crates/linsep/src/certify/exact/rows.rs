//! The system `(v_y − v_k)·x̃ ≥ 0` in integers, and exact checks of statements about it.
//!
//! Column j enters as `(x − c)·2^s`: with an intercept no verdict depends on c, and none depends on the unit. So the
//! integers are only as long as the differences between rows, however far from zero the columns are.

use super::integer::{decode, leading, shortened};
use super::others;
use crate::design::{Block, Design, LabelledRows, Tile};
use crate::error::Result;
use num_bigint::{BigInt, Sign};
use rayon::prelude::*;

/// Values within an eighth of the first one share at least their three leading bits, so a shift by it makes numbers
/// shorter. Chosen (bench/constants.md): only the length of the integers depends on it.
const NEAR: f64 = 0.125;

/// Rows as integers.
pub(crate) struct WholeRows {
    classes: usize,
    labels: Vec<usize>,
    /// Numbers per row: the columns and, with an intercept, a one.
    width: usize,
    intercept: bool,
    centre: Vec<f64>,
    /// Column j has been multiplied by `2^−exponent[j]`.
    exponent: Vec<i32>,
    values: Vec<BigInt>,
}

/// Which constraints no direction meets strictly, with the proof in integers: a direction that is positive on all the others
/// and zero on these, and positive weights α on these with `Σ αa = 0`.
#[derive(Debug, Clone)]
pub(crate) struct WholeCone {
    pub(crate) open: Vec<bool>,
    pub(crate) direction: Option<Vec<BigInt>>,
    /// Per constraint, zero on those that are settled.
    pub(crate) weights: Vec<BigInt>,
}

impl WholeRows {
    /// `None` where the numbers would have more than `most_bits` bits in all. Without an intercept the given centre is that of
    /// the model; with one it is chosen here.
    pub(crate) fn new(
        rows: LabelledRows<'_>,
        classes: usize,
        fixed_centre: Option<&[f64]>,
        most_bits: usize,
    ) -> Result<Option<WholeRows>> {
        let LabelledRows { design, labels, .. } = rows;
        let (n, cols) = (labels.len(), design.shape().cols);
        if n.saturating_mul(cols + 1).saturating_mul(64) > most_bits {
            return Ok(None);
        }
        let table = dense(design)?;
        let column = |j: usize| (0..n).map(move |i| (i, j));
        let at = |(i, j): (usize, usize)| table[i * cols + j];
        let centre: Vec<f64> = match fixed_centre {
            Some(centre) => centre.to_vec(),
            None => (0..cols).map(|j| reference(column(j).map(at))).collect(),
        };
        let (mut exponent, mut bits) = (Vec::with_capacity(cols), n * 64);
        for (j, c) in centre.iter().enumerate() {
            let ends = column(j).map(at).chain([*c]).map(decode).filter(|(m, _)| *m != 0);
            let (low, high) = ends.fold((i32::MAX, i32::MIN), |(low, high), (m, e)| {
                (low.min(e), high.max(e + (64 - m.unsigned_abs().leading_zeros()) as i32))
            });
            exponent.push(if low == i32::MAX { 0 } else { low });
            bits += n * (64 + (i64::from(high) - i64::from(low)).max(0) as usize);
        }
        if bits > most_bits {
            return Ok(None);
        }
        let intercept = fixed_centre.is_none();
        let width = cols + usize::from(intercept);
        let mut values = Vec::with_capacity(n * width);
        for i in 0..n {
            for j in 0..cols {
                let whole = |x: f64| {
                    let (m, e) = decode(x);
                    if m == 0 { BigInt::ZERO } else { BigInt::from(m) << (e - exponent[j]) as usize }
                };
                values.push(if centre[j] == 0.0 { whole(at((i, j))) } else { whole(at((i, j))) - whole(centre[j]) });
            }
            values.extend(intercept.then(|| BigInt::from(1)));
        }
        let labels = labels.iter().map(|y| y.index()).collect();
        Ok(Some(WholeRows { classes, labels, width, intercept, centre, exponent, values }))
    }

    /// Vectors `a` of constraints as they are, one a row of two classes; there is no table behind them.
    pub(crate) fn of_vectors(values: Vec<BigInt>, rows: usize, width: usize) -> WholeRows {
        let (centre, exponent) = (vec![0.0; width], vec![0; width]);
        WholeRows { classes: 2, labels: vec![1; rows], width, intercept: false, centre, exponent, values }
    }

    /// The number of constraints, one a row and other class.
    pub(crate) fn constraints(&self) -> usize {
        self.labels.len() * (self.classes - 1)
    }

    /// The number of unknowns: the first class has score zero.
    pub(crate) fn unknowns(&self) -> usize {
        self.width * (self.classes - 1)
    }

    fn row(&self, row: usize) -> &[BigInt] {
        &self.values[row * self.width..(row + 1) * self.width]
    }

    /// The row of a constraint, its class and the other one.
    pub(crate) fn ends(&self, constraint: usize) -> (usize, usize, usize) {
        let per_row = self.classes - 1;
        let row = constraint / per_row;
        let own = self.labels[row];
        (row, own, others(self.classes, own).nth(constraint % per_row).unwrap_or(own))
    }

    /// The blocks of unknowns in which a constraint has ±x̃.
    fn blocks(&self, constraint: usize) -> impl Iterator<Item = (usize, bool)> {
        let (_, own, other) = self.ends(constraint);
        let width = self.width;
        [(own, true), (other, false)].into_iter().filter(|(k, _)| *k > 0).map(move |(k, plus)| ((k - 1) * width, plus))
    }

    /// Adds `weight` times the vector of a constraint.
    pub(crate) fn add_vector(&self, constraint: usize, weight: &BigInt, out: &mut [BigInt]) {
        let x = self.row(self.ends(constraint).0);
        for (start, plus) in self.blocks(constraint) {
            for (out, x) in out[start..].iter_mut().zip(x).filter(|(_, x)| x.sign() != Sign::NoSign) {
                if plus {
                    *out += weight * x;
                } else {
                    *out -= weight * x;
                }
            }
        }
    }

    /// The product of the vector of a constraint and a direction.
    pub(crate) fn slack(&self, constraint: usize, direction: &[BigInt]) -> BigInt {
        let x = self.row(self.ends(constraint).0);
        let mut sum = BigInt::ZERO;
        for (start, plus) in self.blocks(constraint) {
            for (v, x) in direction[start..].iter().zip(x) {
                if x.sign() == Sign::NoSign || v.sign() == Sign::NoSign {
                    continue;
                }
                if plus {
                    sum += v * x;
                } else {
                    sum -= v * x;
                }
            }
        }
        sum
    }

    /// The number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.labels.len()
    }

    /// Numbers per row.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// A double near a whole number times `2^more`, as `mantissa·2^exponent`.
    pub(crate) fn leading(value: &BigInt, more: i64) -> (f64, i64) {
        let (m, e) = leading(value);
        (m, e + more)
    }

    /// `m·2^e`; zero where it is too small for a double.
    pub(crate) fn scaled(m: f64, e: i64) -> f64 {
        scaled(m, e)
    }

    /// Doubles near the entries of a row, `mantissa·2^exponent` of each.
    pub(crate) fn leading_of_row(&self, row: usize) -> Vec<(f64, i64)> {
        self.row(row).iter().map(leading).collect()
    }

    /// Checks a result exactly on the constraints that were asked: every sign, and every sum.
    pub(crate) fn holds(&self, found: &WholeCone, asked: &[bool]) -> bool {
        let signs = |c: usize| {
            let sign = found.direction.as_ref().map_or(Sign::NoSign, |v| self.slack(c, v).sign());
            sign == if found.open[c] { Sign::NoSign } else { Sign::Plus }
        };
        let weighed = |c: usize| (found.weights[c].sign() == Sign::Plus) == found.open[c];
        let all = |c: usize| {
            (!asked[c] && !found.open[c] || signs(c)) && weighed(c) && found.weights[c].sign() != Sign::Minus
        };
        (0..self.constraints()).into_par_iter().all(all) && self.balances(&found.weights)
    }

    /// Whether `Σ λa = 0`.
    pub(crate) fn balances(&self, weights: &[BigInt]) -> bool {
        let mut sums = vec![BigInt::ZERO; self.unknowns()];
        let used = weights.iter().enumerate().filter(|(_, w)| w.sign() != Sign::NoSign);
        used.for_each(|(c, w)| self.add_vector(c, w, &mut sums));
        sums.iter().all(|s| s.sign() == Sign::NoSign)
    }

    /// A direction as doubles in the units of the columns: weights and intercepts, one score a class (two classes: one), about
    /// the centre. The nearest doubles of its entries, up to a power of two.
    pub(crate) fn in_columns(&self, direction: &[BigInt]) -> (Vec<Vec<f64>>, Vec<f64>, Vec<f64>) {
        let parts: Vec<(f64, i64)> = direction.iter().map(leading).collect();
        let exponent = |at: usize| match at % self.width {
            j if j < self.exponent.len() => -i64::from(self.exponent[j]),
            _ => 0,
        };
        let top = parts.iter().enumerate().filter(|(_, (m, _))| *m != 0.0).map(|(at, (_, e))| e + exponent(at)).max();
        let number = |at: usize| scaled(parts[at].0, parts[at].1 + exponent(at) - top.unwrap_or(0));
        let score = |k: usize| -> Vec<f64> { (0..self.centre.len()).map(|j| number(k * self.width + j)).collect() };
        let constant = |k: usize| if self.intercept { number(k * self.width + self.width - 1) } else { 0.0 };
        let scores = self.classes - 1;
        let (mut weights, mut intercept): (Vec<_>, Vec<_>) = (0..scores).map(|k| (score(k), constant(k))).unzip();
        if self.classes > 2 {
            weights.insert(0, vec![0.0; self.centre.len()]);
            intercept.insert(0, 0.0);
        }
        (weights, intercept, self.centre.clone())
    }
}

impl WholeRows {
    /// The smallest distance of a row from the boundaries of its class in the units of the columns, for a direction that is
    /// strict; rounded down.
    pub(crate) fn margin(&self, direction: &[BigInt]) -> f64 {
        let top = direction.iter().map(|v| leading(v).1).max().unwrap_or(0);
        let entry = |class: usize, j: usize| match class {
            0 => BigInt::ZERO,
            k => direction[(k - 1) * self.width + j].clone(),
        };
        // ‖w_y − w_k‖ over 2^top.
        let norm = |own: usize, other: usize| -> f64 {
            let size = |j: usize| {
                let (m, e) = leading(&(entry(own, j) - entry(other, j)));
                scaled(m, e - i64::from(self.exponent[j]) - top)
            };
            super::super::length(&(0..self.centre.len()).map(size).collect::<Vec<f64>>())
        };
        let norms: Vec<Vec<f64>> = (0..self.classes).map(|a| (0..self.classes).map(|b| norm(a, b)).collect()).collect();
        let distance = |c: usize| {
            let (_, own, other) = self.ends(c);
            let (m, e) = leading(&self.slack(c, direction));
            scaled(m, e - top) / norms[own][other] * (1.0 - 64.0 * f64::EPSILON)
        };
        (0..self.constraints()).map(distance).fold(f64::INFINITY, f64::min)
    }

    /// The scores of a direction in decimal digits, weights with the exponent of two that belongs to their column.
    pub(crate) fn digits(&self, direction: &[BigInt]) -> Vec<(Vec<(String, i32)>, String)> {
        let score = |v: &[BigInt]| {
            let weight = |(v, e): (&BigInt, &i32)| (v.to_string(), -e);
            let intercept = v[self.exponent.len()..].first().map_or_else(|| "0".to_owned(), BigInt::to_string);
            (v.iter().zip(&self.exponent).map(weight).collect(), intercept)
        };
        direction.chunks_exact(self.width.max(1)).map(score).collect()
    }
}

impl WholeCone {
    /// The weights as doubles, the largest about one.
    pub(crate) fn weights_as_doubles(&self) -> Vec<f64> {
        let parts: Vec<(f64, i64)> = self.weights.iter().map(leading).collect();
        let top = parts.iter().map(|(_, e)| *e).max().unwrap_or(0);
        parts.iter().map(|(m, e)| scaled(*m, e - top)).collect()
    }

    /// Divides direction and weights by their greatest common divisors.
    pub(crate) fn shorten(&mut self) {
        self.direction = self.direction.take().map(shortened);
        self.weights = shortened(std::mem::take(&mut self.weights));
    }
}

/// `m·2^e`; zero where it is too small for a double.
fn scaled(m: f64, e: i64) -> f64 {
    let half = e.clamp(-2_200, 2_200) as i32 / 2;
    m * 2f64.powi(half) * 2f64.powi(e.clamp(-2_200, 2_200) as i32 - half)
}

/// The shift of a column: one of its values where all are far from zero relative to their differences, else zero.
fn reference(mut values: impl Iterator<Item = f64> + Clone) -> f64 {
    let Some(first) = values.clone().next() else { return 0.0 };
    let near = values.all(|x| (x - first).abs() <= NEAR * first.abs());
    if near { first } else { 0.0 }
}

/// All rows as doubles.
fn dense(design: &dyn Design) -> Result<Vec<f64>> {
    let shape = design.shape();
    let mut out = vec![0.0; shape.rows * shape.cols];
    let mut tile = Tile::default();
    for (row, out) in out.chunks_exact_mut(shape.cols.max(1)).enumerate() {
        match design.block(row..row + 1, &mut tile)? {
            Block::F64(dense) => out.copy_from_slice(dense.values),
            Block::F32(dense) => out.iter_mut().zip(dense.values).for_each(|(o, v)| *o = f64::from(*v)),
            Block::Csr(sparse) => {
                let (columns, values) = sparse.row(0);
                columns.iter().zip(values).for_each(|(c, v)| out[*c as usize] += v);
            }
        }
    }
    Ok(out)
}
