//! Separability without rounding, by listing every extreme direction: the slow twin of the verdicts.
//!
//! With independent columns the directions that meet every constraint `a·v ≥ 0` are the sums of extreme ones, and an extreme one
//! vanishes on all but one dimension of independent constraints. So all sets of so many constraints are tried; their
//! direction is a vector of minors. What no extreme direction meets strictly, none does.

use crate::data::Data;
use num_bigint::{BigInt, Sign};

/// Which constraints, row by row and per row in the order of the other classes, can be strict.
///
/// # Panics
/// If there are more than a few columns: the sets of constraints would be too many.
pub fn strict_constraints(data: &Data) -> Vec<bool> {
    strict_constraints_of(data, true)
}

/// The same with an intercept or without one.
///
/// # Panics
/// If there are more than a few columns: the sets of constraints would be too many.
pub fn strict_constraints_of(data: &Data, intercept: bool) -> Vec<bool> {
    let classes = data.labels.n_classes();
    let used: Vec<usize> = (0..data.rows()).filter(|i| data.weight(*i) > 0.0).collect();
    let columns: Vec<Vec<BigInt>> = (0..data.cols).map(|j| whole(used.iter().map(|i| data.row(*i)[j]))).collect();
    let width = data.cols + 1;
    let mut vectors: Vec<Vec<BigInt>> = Vec::new();
    for (at, i) in used.iter().enumerate() {
        let own = data.class(*i);
        for other in (0..classes).filter(|k| *k != own) {
            let mut vector = vec![BigInt::ZERO; (classes - 1) * width];
            for (class, sign) in [(own, 1), (other, -1)].into_iter().filter(|(k, _)| *k > 0) {
                for j in 0..width {
                    let x = if j < data.cols { columns[j][at].clone() } else { BigInt::from(i32::from(intercept)) };
                    vector[(class - 1) * width + j] = x * sign;
                }
            }
            vectors.push(vector);
        }
    }
    let kept = independent_columns(&vectors);
    assert!(kept.len() <= 6, "{} columns are too many to list directions", kept.len());
    let vectors: Vec<Vec<BigInt>> = vectors.iter().map(|v| kept.iter().map(|j| v[*j].clone()).collect()).collect();
    // The same vector twice says nothing new.
    let mut different = vectors.clone();
    different.sort();
    different.dedup();
    let mut strict = vec![false; vectors.len()];
    let mut chosen = Vec::new();
    each_set(different.len(), kept.len().saturating_sub(1), &mut chosen, &mut |set: &[usize]| {
        let rows: Vec<&Vec<BigInt>> = set.iter().map(|i| &different[*i]).collect();
        let direction = minors(&rows, kept.len());
        if direction.iter().all(|v| v.sign() == Sign::NoSign) {
            return;
        }
        let slack = |a: &Vec<BigInt>| a.iter().zip(&direction).map(|(a, v)| a * v).sum::<BigInt>();
        let signs: Vec<Sign> = different.iter().map(|a| slack(a).sign()).collect();
        let wrong = match (signs.contains(&Sign::Plus), signs.contains(&Sign::Minus)) {
            (true, false) => Sign::Minus,
            (false, true) => Sign::Plus,
            _ => return,
        };
        for (strict, a) in strict.iter_mut().zip(&vectors) {
            let sign = slack(a).sign();
            *strict |= sign != Sign::NoSign && sign != wrong;
        }
    });
    strict
}

/// Doubles times one power of two.
fn whole(values: impl Iterator<Item = f64>) -> Vec<BigInt> {
    let parts: Vec<(i64, i32)> = values.map(parts).collect();
    let least = parts.iter().filter(|(m, _)| *m != 0).map(|(_, e)| *e).min().unwrap_or(0);
    parts.iter().map(|(m, e)| if *m == 0 { BigInt::ZERO } else { BigInt::from(*m) << (e - least) as u32 }).collect()
}

/// A double as `mantissa·2^exponent`.
fn parts(x: f64) -> (i64, i32) {
    let (bits, sign) = (x.abs().to_bits(), if x < 0.0 { -1 } else { 1 });
    let (exponent, fraction) = ((bits >> 52) as i32, (bits & ((1 << 52) - 1)) as i64);
    let (mantissa, exponent) = if exponent == 0 { (fraction, -1074) } else { (fraction + (1 << 52), exponent - 1075) };
    if mantissa == 0 {
        return (0, 0);
    }
    let zeros = mantissa.trailing_zeros();
    (sign * (mantissa >> zeros), exponent + zeros as i32)
}

/// Columns, the first of them first, that the others are combinations of.
fn independent_columns(vectors: &[Vec<BigInt>]) -> Vec<usize> {
    let width = vectors.first().map_or(0, Vec::len);
    let mut rows = vectors.to_vec();
    let mut kept = Vec::new();
    for column in 0..width {
        let at = kept.len();
        let Some(chosen) = (at..rows.len()).find(|i| rows[*i][column].sign() != Sign::NoSign) else { continue };
        rows.swap(at, chosen);
        let pivot = rows[at].clone();
        for row in &mut rows[at + 1..] {
            let factor = row[column].clone();
            if factor.sign() != Sign::NoSign {
                row.iter_mut().zip(&pivot).for_each(|(v, p)| *v = &*v * &pivot[column] - &factor * p);
            }
        }
        kept.push(column);
    }
    kept
}

fn each_set(n: usize, size: usize, chosen: &mut Vec<usize>, call: &mut dyn FnMut(&[usize])) {
    if size == 0 {
        call(chosen);
        return;
    }
    for next in chosen.last().map_or(0, |l| l + 1)..n {
        chosen.push(next);
        each_set(n, size - 1, chosen, call);
        chosen.pop();
    }
}

/// The vector that is orthogonal to one fewer vectors than dimensions.
fn minors(rows: &[&Vec<BigInt>], width: usize) -> Vec<BigInt> {
    let minor = |skip: usize| {
        let columns: Vec<usize> = (0..width).filter(|j| *j != skip).collect();
        let value = determinant(rows, &columns);
        if skip.is_multiple_of(2) { value } else { -value }
    };
    (0..width).map(minor).collect()
}

fn determinant(rows: &[&Vec<BigInt>], columns: &[usize]) -> BigInt {
    let Some((first, rest)) = rows.split_first() else { return BigInt::from(1) };
    let mut sum = BigInt::ZERO;
    for (at, column) in columns.iter().enumerate().filter(|(_, c)| first[**c].sign() != Sign::NoSign) {
        let others: Vec<usize> = columns.iter().copied().filter(|c| c != column).collect();
        let term = &first[*column] * determinant(rest, &others);
        sum = if at % 2 == 0 { sum + term } else { sum - term };
    }
    sum
}

/// The name of the verdict that these rows deserve.
pub fn true_verdict(data: &Data) -> &'static str {
    let strict = strict_constraints(data);
    match (strict.contains(&true), strict.contains(&false)) {
        (true, false) => "complete",
        (true, true) => "quasi-complete",
        _ => "overlap",
    }
}

/// What the extreme directions do to every coefficient, score by score: the constant first, then the columns; `None` for columns that
/// are combinations of those before them, else whether one raises the coefficient and whether one lowers it.
///
/// # Panics
/// If there are more than a few columns: the sets of constraints would be too many.
pub fn coefficient_moves(data: &Data, intercept: bool) -> Vec<Vec<Option<(bool, bool)>>> {
    let classes = data.labels.n_classes();
    let used: Vec<usize> = (0..data.rows()).filter(|i| data.weight(*i) > 0.0).collect();
    let mut columns: Vec<Vec<BigInt>> = (0..data.cols).map(|j| whole(used.iter().map(|i| data.row(*i)[j]))).collect();
    let constant = if intercept { BigInt::from(1) } else { BigInt::ZERO };
    columns.insert(0, vec![constant; used.len()]);
    let rows: Vec<Vec<BigInt>> = (0..used.len()).map(|at| columns.iter().map(|c| c[at].clone()).collect()).collect();
    let kept = independent_columns(&rows);
    let width = kept.len() * (classes - 1);
    assert!(width <= 6, "{width} columns are too many to list directions");
    let mut vectors: Vec<Vec<BigInt>> = Vec::new();
    for (row, i) in rows.iter().zip(&used) {
        let own = data.class(*i);
        for other in (0..classes).filter(|k| *k != own) {
            let mut vector = vec![BigInt::ZERO; width];
            for (class, sign) in [(own, 1), (other, -1)].into_iter().filter(|(k, _)| *k > 0) {
                kept.iter().enumerate().for_each(|(at, j)| vector[(class - 1) * kept.len() + at] = &row[*j] * sign);
            }
            vectors.push(vector);
        }
    }
    vectors.sort();
    vectors.dedup();
    let mut moves = vec![(false, false); width];
    let mut chosen = Vec::new();
    each_set(vectors.len(), width.saturating_sub(1), &mut chosen, &mut |set: &[usize]| {
        let direction = minors(&set.iter().map(|i| &vectors[*i]).collect::<Vec<_>>(), width);
        let slack = |a: &Vec<BigInt>| a.iter().zip(&direction).map(|(a, v)| a * v).sum::<BigInt>().sign();
        let signs: Vec<Sign> = vectors.iter().map(slack).collect();
        let positive = match (signs.contains(&Sign::Plus), signs.contains(&Sign::Minus)) {
            (true, false) => Sign::Plus,
            (false, true) => Sign::Minus,
            _ => return,
        };
        for (moved, v) in moves.iter_mut().zip(&direction).filter(|(_, v)| v.sign() != Sign::NoSign) {
            if v.sign() == positive { moved.0 = true } else { moved.1 = true }
        }
    });
    let of = |score: usize, j: usize| kept.binary_search(&j).ok().map(|at| moves[score * kept.len() + at]);
    (0..classes - 1).map(|score| (0..columns.len()).map(|j| of(score, j)).collect()).collect()
}
