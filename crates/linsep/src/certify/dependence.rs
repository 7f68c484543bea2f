//! Whether a column is a linear combination of others: an equality, so proved in whole numbers or not at all.

use crate::design::{Design, Pass, Rows, Units};
use crate::error::Result;
use crate::watch::Watch;

/// The largest denominator of a coefficient that is tried. Chosen, not measured: relations with larger ones are not
/// recognised, which is no claim.
const DENOMINATOR: f64 = 1e4;
/// The largest common denominator: 21 bits of the sum below.
const COMMON: i64 = 1 << 20;
/// Bits by which the doubles of a row may lie apart: 53 + 40 + 21 + 10 bits fit an `i128`.
const APART: i32 = 40;
/// Terms of a relation at most: 10 bits of the sum above.
const TERMS: usize = 1 << 10;
/// How near a fraction must be to a coefficient: coefficients come from a factorisation, which leaves some 1e-8 to
/// 1e-12 of them. Chosen, not measured: a wrong fraction fails on the rows.
const FRACTION: f64 = 1e-6;
/// Coefficients below this are compared as if they had this size.
const SMALL: f64 = 1e-3;

/// Whether `x_column = Σ coefficient·x_k`, plus the same number in every row if `shifted`, holds exactly for the doubles of
/// all rows of positive weight; coefficients are the fractions of small denominators that the given ones are close to.
///
/// `false` is no proof of the contrary.
///
/// ```
/// use linsep::{certify::is_exact_combination, design::DenseMatrix, watch::Watch};
/// let x = DenseMatrix::new(vec![1.0, 0.0, 3.5, 0.0, 1.0, 4.25, 2.0, 0.0, 4.0], 3)?; // the third is 3 + a/2 + 5b/4
/// let close = [(0, 0.500000001), (1, 1.25)];
/// assert!(is_exact_combination(&x, None, 2, &close, true, &Watch::default())?);
/// assert!(!is_exact_combination(&x, None, 2, &close, false, &Watch::default())?);
/// # Ok::<(), linsep::Error>(())
/// ```
pub fn is_exact_combination(
    design: &dyn Design,
    weights: Option<&[f64]>,
    column: usize,
    combination: &[(usize, f64)],
    shifted: bool,
    watch: &Watch,
) -> Result<bool> {
    let Some(terms) = whole_terms(column, combination) else { return Ok(false) };
    let cols = design.shape().cols;
    let units = Units::identity(cols);
    let found = Pass::new(design, &units).partials_of(cols).reduce(
        watch,
        (0, &mut []),
        || Remainder::Unseen,
        |sum, range, rows, _| {
            let counts = |i: usize| weights.is_none_or(|w| w[range.start + i] > 0.0);
            match rows {
                Rows::Dense(values) => {
                    for (_, row) in values.chunks_exact(cols).enumerate().filter(|(i, _)| counts(*i)) {
                        sum.see(remainder(&terms, |j| row[j]));
                    }
                }
                Rows::Csr(rows) => {
                    for i in (0..rows.len()).filter(|i| counts(*i)) {
                        let (columns, entries) = rows.row(i);
                        let at = |j: usize| columns.binary_search(&(j as u32)).map_or(0.0, |e| entries[e]);
                        sum.see(remainder(&terms, at));
                    }
                }
            }
            Ok(())
        },
        |a, b| match b {
            Remainder::Unseen => {}
            Remainder::Always(value) => a.see(Some(value)),
            Remainder::Varies => *a = Remainder::Varies,
        },
    )?;
    Ok(match found {
        Remainder::Always((0, _)) => true,
        Remainder::Always(_) => shifted,
        Remainder::Unseen | Remainder::Varies => false,
    })
}

/// What is left of a column when its combination is taken off, so far: an odd number times a power of two.
enum Remainder {
    Unseen,
    Always((i128, i32)),
    Varies,
}

impl Remainder {
    fn see(&mut self, value: Option<(i128, i32)>) {
        *self = match (&self, value) {
            (Remainder::Unseen, Some(value)) => Remainder::Always(value),
            (Remainder::Always(same), Some(value)) if *same == value => return,
            _ => Remainder::Varies,
        };
    }
}

/// The relation in whole numbers, the column itself among the terms.
fn whole_terms(column: usize, combination: &[(usize, f64)]) -> Option<Vec<(usize, i64)>> {
    if combination.len() >= TERMS {
        return None;
    }
    let fractions = combination.iter().map(|(j, c)| fraction(*c).map(|f| (*j, f))).collect::<Option<Vec<_>>>()?;
    let common = fractions.iter().try_fold(1i64, |all, (_, (_, q))| {
        let least = all / gcd(all, *q) * q;
        (least <= COMMON).then_some(least)
    })?;
    let mut terms = vec![(column, common)];
    for (j, (p, q)) in fractions {
        terms.push((j, Some(-p * (common / q)).filter(|t| t.abs() <= COMMON)?));
    }
    Some(terms)
}

/// The first continued fraction within a millionth of a number.
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

/// `Σ term·x` of a row as an odd number times a power of two; `None` where that does not fit.
fn remainder(terms: &[(usize, i64)], at: impl Fn(usize) -> f64) -> Option<(i128, i32)> {
    let parts: Vec<(i128, i32)> =
        terms.iter().map(|(j, t)| parts(at(*j)).map(|(m, e)| (m * i128::from(*t), e))).collect::<Option<_>>()?;
    let least = parts.iter().filter(|(m, _)| *m != 0).map(|(_, e)| *e).min().unwrap_or(0);
    let mut sum = 0i128;
    for (m, e) in parts.into_iter().filter(|(m, _)| *m != 0) {
        if e - least > APART {
            return None;
        }
        sum += m << (e - least);
    }
    let zeros = if sum == 0 { 0 } else { sum.trailing_zeros() };
    Some((sum >> zeros, if sum == 0 { 0 } else { least + zeros as i32 }))
}

/// A finite double as an odd number times a power of two.
fn parts(value: f64) -> Option<(i128, i32)> {
    if value == 0.0 {
        return Some((0, 0));
    }
    let bits = value.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32;
    if exponent == 0x7ff {
        return None;
    }
    let fraction = (bits & ((1 << 52) - 1)) as i128;
    let (mantissa, exponent) = if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
    let zeros = mantissa.trailing_zeros();
    let odd = mantissa >> zeros;
    Some((if value < 0.0 { -odd } else { odd }, exponent + zeros as i32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::DenseMatrix;

    fn holds(rows: &[[f64; 3]], combination: &[(usize, f64)]) -> bool {
        let x = DenseMatrix::new(rows.concat(), 3).unwrap();
        is_exact_combination(&x, None, 2, combination, true, &Watch::default()).unwrap()
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
    fn decimals_that_add_up_on_paper_do_not_in_doubles() {
        assert!(!holds(&[[0.1, 0.2, 0.3], [0.5, 0.25, 0.75]], &[(0, 1.0), (1, 1.0)]));
        assert!(holds(&[[0.1, 0.1, 0.2], [0.5, 0.25, 0.75]], &[(0, 1.0), (1, 1.0)]));
    }
}
