//! Whether a column is a linear combination of others, in exact integer arithmetic.

use super::integer::ExactSum;
use crate::design::{Block, Design, Tile};
use crate::error::Result;
use crate::watch::Watch;
use num_bigint::Sign;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// The largest common denominator that all coefficients are tried with at once. Chosen (bench/constants.md): relations
/// with larger ones are recognised by the denominators of their coefficients.
const LARGEST_DENOMINATOR: u32 = 1000;
/// How near to an integer a coefficient times the denominator must be. Chosen (bench/constants.md): a wrong guess fails
/// on the rows.
const NEARLY_WHOLE: f64 = 1e-6;
/// The largest denominator of a single coefficient. Chosen (bench/constants.md): relations with larger ones are not
/// recognised, which is no claim.
const DENOMINATOR: f64 = 1e4;
/// The largest common multiple of these. Chosen (bench/constants.md), as above.
const COMMON: i64 = 1 << 20;
/// How near a fraction must be to a coefficient: coefficients come from a factorisation, which leaves some 1e-8 to
/// 1e-12 of them. Chosen (bench/constants.md): a wrong fraction fails on the rows.
const FRACTION: f64 = 1e-6;
/// Coefficients below this are compared as if they had this size.
const SMALL: f64 = 1e-3;
/// Rows read in one block. Chosen (bench/constants.md): only the time depends on it.
const ROWS: usize = 256;
/// Integers below this are exact as doubles, with three bits to spare of 2⁵³.
const LARGEST_WHOLE: f64 = 1e15;
/// Above this the error of a product is a normal number: 2⁻⁵³ of it is far above 1e-308.
const NO_UNDERFLOW: f64 = 1e-280;

/// Proves `q·x_column = Σ p·x_other + constant` exactly on all rows of positive weight, for whole p and q near the
/// given coefficients. With `centre` the relation must hold for the centred columns without a constant, as it must in a
/// model without an intercept.
///
/// False says that no such relation was found, not that there is none.
///
/// ```
/// use linsep::certify::exactly_dependent;
/// use linsep::design::DenseMatrix;
/// let x = DenseMatrix::new(vec![0.1, 3.0, 6.0, 0.7, 5.0, 10.0, 0.3, 1.0, 2.0], 3)?;
/// assert!(exactly_dependent(&x, None, 2, &[(1, 2.0 + 1e-9)], None, &Default::default())?);
/// assert!(!exactly_dependent(&x, None, 2, &[(0, 1.0), (1, 2.0)], None, &Default::default())?);
/// # Ok::<(), linsep::Error>(())
/// ```
pub fn exactly_dependent(
    design: &dyn Design,
    weights: Option<&[f64]>,
    column: usize,
    combination: &[(usize, f64)],
    centre: Option<&[f64]>,
    watch: &Watch,
) -> Result<bool> {
    let Some(terms) = whole_terms(column, combination) else { return Ok(false) };
    let rows = design.shape().rows;
    let counts = |i: usize| weights.is_none_or(|w| w[i] != 0.0);
    // The constant of the relation, as products at the first row (or at the centre): subtracted from every row.
    let mut tile = Tile::default();
    let reference: Vec<(f64, f64)> = match (centre, (0..rows).find(|i| counts(*i))) {
        (Some(centre), _) => terms.iter().map(|(j, p)| (-*p, centre[*j])).collect(),
        (None, Some(first)) => {
            let block = design.block(first..first + 1, &mut tile)?;
            terms.iter().map(|(j, p)| (-*p, entry(&block, 0, *j))).collect()
        }
        (None, None) => return Ok(true),
    };
    // Rows of few entries are looked up by them: a search for every term costs more than the rest of a sparse fit.
    let mut multiples = vec![0.0; design.shape().cols];
    terms.iter().for_each(|(j, p)| multiples[*j] = *p);
    let constant_is_zero = cancel(&[], &reference);
    let failed = AtomicBool::new(false);
    let holds = |block: usize| -> Result<bool> {
        if failed.load(Ordering::Relaxed) || watch.halted().is_some() {
            return Ok(false);
        }
        let (range, mut tile) = (block * ROWS..((block + 1) * ROWS).min(rows), Tile::default());
        let block = design.block(range.clone(), &mut tile)?;
        let mut products = Vec::with_capacity(terms.len());
        let holds = range.clone().filter(|i| counts(*i)).all(|i| {
            products.clear();
            match &block {
                Block::Csr(rows) => {
                    let (columns, values) = rows.row(i - range.start);
                    let terms = columns.iter().zip(values).map(|(j, x)| (multiples[*j as usize], *x));
                    products.extend(terms.filter(|(p, _)| *p != 0.0));
                    if products.is_empty() {
                        return constant_is_zero;
                    }
                }
                dense => products.extend(terms.iter().map(|(j, p)| (*p, entry(dense, i - range.start, *j)))),
            }
            cancel(&products, &reference)
        });
        if !holds {
            failed.store(true, Ordering::Relaxed);
        }
        Ok(holds)
    };
    (0..rows.div_ceil(ROWS)).into_par_iter().map(holds).try_reduce(|| true, |a, b| Ok(a && b))
}

/// Integer multiples of the columns that would add up to a constant: with one small common denominator of all coefficients,
/// else with the denominators of the single coefficients.
fn whole_terms(column: usize, combination: &[(usize, f64)]) -> Option<Vec<(usize, f64)>> {
    let near = |q: f64, c: f64| (q * c - (q * c).round()).abs() <= NEARLY_WHOLE * (1.0 + (q * c).abs());
    let at_once = (1..=LARGEST_DENOMINATOR).map(f64::from).find(|q| combination.iter().all(|(_, c)| near(*q, *c)));
    let mut terms: Vec<(usize, f64)> = match at_once {
        Some(q) => combination.iter().map(|(j, c)| (*j, (q * c).round())).chain([(column, -q)]).collect(),
        None => terms_by_fractions(column, combination)?,
    };
    terms.retain(|(_, p)| *p != 0.0);
    (terms.iter().all(|(_, p)| p.abs() < LARGEST_WHOLE)).then_some(terms)
}

fn terms_by_fractions(column: usize, combination: &[(usize, f64)]) -> Option<Vec<(usize, f64)>> {
    let fractions = combination.iter().map(|(j, c)| fraction(*c).map(|f| (*j, f))).collect::<Option<Vec<_>>>()?;
    let common = fractions.iter().try_fold(1i64, |all, (_, (_, q))| {
        let least = all / gcd(all, *q) * q;
        (least <= COMMON).then_some(least)
    })?;
    let terms = fractions.iter().map(|(j, (p, q))| (*j, (p * (common / q)) as f64));
    Some(terms.chain([(column, -(common as f64))]).collect())
}

/// The first convergent of the continued fraction that is within [`FRACTION`] of a number.
fn fraction(value: f64) -> Option<(i64, i64)> {
    let (mut before, mut last) = ((0.0, 1.0), (1.0, 0.0));
    let mut rest = value;
    loop {
        let whole = rest.floor();
        let next = (whole * last.0 + before.0, whole * last.1 + before.1);
        if !next.0.is_finite() || next.0.abs() > COMMON as f64 || next.1 > DENOMINATOR {
            return None;
        }
        if (value - next.0 / next.1).abs() <= FRACTION * value.abs().max(SMALL) {
            return Some((next.0 as i64, next.1 as i64));
        }
        (before, last, rest) = (last, next, (rest - whole).recip());
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn entry(block: &Block<'_>, row: usize, column: usize) -> f64 {
    match block {
        Block::F64(dense) => dense.values[row * dense.cols + column],
        Block::F32(dense) => f64::from(dense.values[row * dense.cols + column]),
        Block::Csr(rows) => {
            let (columns, values) = rows.row(row);
            columns.binary_search(&(column as u32)).map_or(0.0, |at| values[at])
        }
    }
}

/// Whether the sum of all products is exactly zero: in doubles where no operation rounds, else in integers.
fn cancel(products: &[(f64, f64)], reference: &[(f64, f64)]) -> bool {
    let (mut sum, mut exact) = (0.0f64, true);
    for (p, x) in products.iter().chain(reference) {
        let product = p * x;
        let next = sum + product;
        let back = next - sum;
        let lost = (sum - (next - back)) + (product - back);
        // Integers decide where underflow could hide a rounding error, or an operation did round.
        let plain = *x == 0.0 || product.abs() > NO_UNDERFLOW;
        exact &= plain && p.mul_add(*x, -product) == 0.0 && lost == 0.0;
        sum = next;
    }
    if exact && sum.is_finite() {
        return sum == 0.0;
    }
    let mut sum = ExactSum::new();
    products.iter().chain(reference).for_each(|(p, x)| sum.add_product(*p, *x));
    sum.sign() == Sign::NoSign
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::{CsrMatrix, DenseMatrix};

    #[test]
    fn a_relation_holds_exactly_or_not_at_all() -> Result<()> {
        // 0.1 + 0.2 is not 0.3, but the doubles 0.1·3 … as stored may be.
        let rows = [[0.1, 0.2, 0.1 + 0.2], [0.5, 0.25, 0.75], [1e-300, 3.0, 3.0]];
        let flat: Vec<f64> = rows.iter().flatten().copied().collect();
        let all = DenseMatrix::new(flat.clone(), 3)?;
        let some = DenseMatrix::new(flat[3..6].to_vec(), 3)?;
        let calm = Watch::default();
        let relation = [(0, 1.0), (1, 1.0)];
        assert!(!exactly_dependent(&all, None, 2, &relation, None, &calm)?);
        assert!(!exactly_dependent(&all, Some(&[1.0, 1.0, 0.0]), 2, &relation, None, &calm)?);
        assert!(exactly_dependent(&all, Some(&[0.0, 1.0, 0.0]), 2, &relation, None, &calm)?);
        assert!(exactly_dependent(&some, None, 2, &relation, Some(&[0.0; 3]), &calm)?);
        assert!(!exactly_dependent(&some, None, 2, &relation, Some(&[1.0; 3]), &calm)?);
        Ok(())
    }

    fn holds(rows: &[[f64; 3]], combination: &[(usize, f64)]) -> bool {
        let x = DenseMatrix::new(rows.concat(), 3).unwrap();
        exactly_dependent(&x, None, 2, combination, None, &Watch::default()).unwrap()
    }

    #[test]
    fn thirds_hold_exactly_or_not_at_all() {
        // 3c = a + b in whole numbers; one unit in the last place of one cell breaks it.
        let third = 1.0 / 3.0;
        let mut rows = [[1.0, 2.0, 1.0], [4.0, -1.0, 1.0], [0.0, 9.0, 3.0]];
        assert!(holds(&rows, &[(0, third), (1, third)]));
        rows[1][2] = 1.0 + f64::EPSILON;
        assert!(!holds(&rows, &[(0, third), (1, third)]));
    }

    #[test]
    fn sparse_rows_answer_as_dense_ones() {
        // x₂ = x₀ + x₁ − 1 on the rows that count; empty rows need the constant alone to vanish.
        let table = |rows: &[[f64; 3]]| {
            let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
            for row in rows {
                let entries = (0u32..).zip(row).filter(|(_, x)| **x != 0.0);
                entries.for_each(|(j, x)| (columns.push(j), values.push(*x)).1);
                starts.push(columns.len());
            }
            CsrMatrix::new(starts, columns, values, 3).unwrap()
        };
        let relation = [(0, 1.0), (1, 1.0)];
        let cases: [&[[f64; 3]]; 4] = [
            &[[1.0, 0.0, 0.0], [2.0, 3.0, 4.0], [0.0, 1.0, 0.0]],
            &[[1.0, 0.0, 0.0], [2.0, 3.0, 4.0], [0.0, 0.0, 0.0]],
            &[[1.0, 0.0, 1.0], [0.0, 0.0, 0.0], [2.0, 3.0, 5.0]],
            &[[1.0, 0.0, 1.0], [0.0, 0.0, 0.0], [2.0, 3.0, 5.0 + 4.0 * f64::EPSILON]],
        ];
        for (rows, wanted) in cases.into_iter().zip([true, false, true, false]) {
            for centre in [None, Some(&[0.5, 0.5, 1.0][..])] {
                let dense = DenseMatrix::new(rows.concat(), 3).unwrap();
                let of = |x: &dyn Design| exactly_dependent(x, None, 2, &relation, centre, &Watch::default()).unwrap();
                assert_eq!(of(&table(rows)), of(&dense), "{rows:?}, about {centre:?}");
                assert!(centre.is_some() || of(&dense) == wanted, "{rows:?}");
            }
        }
    }

    #[test]
    fn decimals_that_add_up_on_paper_do_not_in_doubles() {
        assert!(!holds(&[[0.1, 0.2, 0.3], [0.5, 0.25, 0.75]], &[(0, 1.0), (1, 1.0)]));
        assert!(holds(&[[0.1, 0.1, 0.2], [0.5, 0.25, 0.75]], &[(0, 1.0), (1, 1.0)]));
    }
}
