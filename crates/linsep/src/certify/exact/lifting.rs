//! Systems of linear equations over the integers by p-adic lifting (Dixon 1982).
//!
//! The inverse of the matrix modulo the prime gives the first p-adic digit of every unknown; the residual is then divisible
//! by the prime, and the quotient gives the next digit. Rational reconstruction recovers fractions from the digits (Wang
//! 1981). The number of digits is doubled until it suffices: after one digit, two, four and so on the candidate fractions,
//! if there are any, go to the caller's check, and only where that fails are digits added, up to the bound of Cramer's rule
//! and Hadamard's inequality. So solutions with small numerators and denominators are found early.

use super::effort::{Budget, cost_of_product};
use super::residue::{PRIME, of_whole};
use super::span::RESIDUE;
use crate::error::Result;
use num_bigint::{BigInt, Sign};
use rayon::prelude::*;

/// A square system with as many equations as unknowns.
pub(super) struct WholeSystem<'s> {
    /// Coefficients that are not zero, by unknown.
    pub(super) equations: Vec<Vec<(usize, BigInt)>>,
    /// The solution modulo the prime for given right sides.
    pub(super) inverse: &'s (dyn Fn(&[u64]) -> Vec<u64> + Sync),
}

/// Numerators by unknown and their denominator, which is positive.
pub(super) type WholeSolution = (Vec<BigInt>, BigInt);

impl WholeSystem<'_> {
    /// A bound on the bits of every numerator and denominator (Cramer, Hadamard).
    fn most_bits(&self, right: &[BigInt]) -> u64 {
        let of = |(a, r): (&Vec<(usize, BigInt)>, &BigInt)| {
            let longest = a.iter().map(|(_, x)| x.bits()).max().unwrap_or(0).max(r.bits());
            longest + u64::from(64 - (a.len() as u64 + 1).leading_zeros())
        };
        self.equations.iter().zip(right).map(of).sum()
    }

    /// The first candidate that the check accepts; `None` where there is none, or the work limit is exceeded.
    pub(super) fn solve(
        &self,
        right: &[BigInt],
        budget: &mut Budget<'_>,
        mut holds: impl FnMut(&WholeSolution, &mut Budget<'_>) -> Result<Option<bool>>,
    ) -> Result<Option<WholeSolution>> {
        let r = self.equations.len();
        let most = 2 * self.most_bits(right) + 4;
        let entries: usize = self.equations.iter().map(Vec::len).sum();
        let (mut digits, mut rest): (Vec<Vec<u64>>, Vec<BigInt>) = (Vec::new(), right.to_vec());
        let (mut wanted, mut modulus) = (1, BigInt::from(1));
        loop {
            while digits.len() < wanted {
                let digit = (self.inverse)(&rest.iter().map(of_whole).collect::<Vec<u64>>());
                rest.par_iter_mut().zip(&self.equations).for_each(|(rest, a)| {
                    for (k, x) in a.iter().filter(|(k, _)| digit[*k] != 0) {
                        *rest -= x * digit[*k];
                    }
                    *rest /= PRIME;
                });
                digits.push(digit);
                modulus *= PRIME;
                if !budget.allows((r * r) as f64 * RESIDUE + entries as f64 * cost_of_product(128)) {
                    return Ok(None);
                }
            }
            let values: Vec<BigInt> = (0..r).into_par_iter().map(|k| of_digits(&digits, k)).collect();
            let length = (modulus.bits() / 64 + 1) as f64;
            if !budget.allows((r + 64) as f64 * length * cost_of_product(modulus.bits())) {
                return Ok(None);
            }
            if let Some(found) = fractions(&values, &modulus) {
                match holds(&found, budget)? {
                    None => return Ok(None),
                    Some(true) => return Ok(Some(found)),
                    Some(false) => {}
                }
            }
            if modulus.bits() > most {
                return Ok(None);
            }
            wanted *= 2;
        }
    }
}

/// A number from its p-adic digits.
fn of_digits(digits: &[Vec<u64>], k: usize) -> BigInt {
    digits.iter().rev().fold(BigInt::ZERO, |sum, digit| sum * PRIME + digit[k])
}

/// Rational reconstruction with one denominator: fractions congruent to the numbers, all parts below the root of half the
/// modulus.
fn fractions(values: &[BigInt], modulus: &BigInt) -> Option<WholeSolution> {
    let half = modulus >> 1usize;
    let bound = half.sqrt();
    let mut denominator = BigInt::from(1);
    let mut numerators: Vec<BigInt> = Vec::with_capacity(values.len());
    for value in values {
        let mut scaled = value * &denominator % modulus;
        if scaled > half {
            scaled -= modulus;
        }
        if scaled.magnitude() <= bound.magnitude() {
            numerators.push(scaled);
            continue;
        }
        let (numerator, more) = fraction(scaled, modulus, &bound)?;
        denominator *= &more;
        if denominator > bound {
            return None;
        }
        numerators.iter_mut().for_each(|n| *n *= &more);
        numerators.push(numerator);
    }
    Some((numerators, denominator))
}

/// Rational reconstruction of one number: `n/d` congruent to it, by Euclid's algorithm stopped half way.
fn fraction(value: BigInt, modulus: &BigInt, bound: &BigInt) -> Option<(BigInt, BigInt)> {
    let value = if value.sign() == Sign::Minus { value + modulus } else { value };
    let (mut before, mut last) = ((modulus.clone(), BigInt::ZERO), (value, BigInt::from(1)));
    while last.0 > *bound {
        let quotient = &before.0 / &last.0;
        let next = (&before.0 - &quotient * &last.0, &before.1 - &quotient * &last.1);
        (before, last) = (last, next);
    }
    let (numerator, denominator) = last;
    let (numerator, denominator) = match denominator.sign() {
        Sign::Minus => (-numerator, -denominator),
        _ => (numerator, denominator),
    };
    (denominator.sign() == Sign::Plus && denominator <= *bound).then_some((numerator, denominator))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_told_from_residues() {
        let modulus = BigInt::from(PRIME) * PRIME;
        // −22/7 and 5/21, of denominator 21.
        let inverse_of = |d: u64| BigInt::from(d).modpow(&(BigInt::from(PRIME) * (PRIME - 1) - 1), &modulus);
        let minus = &modulus - BigInt::from(22) * inverse_of(7) % &modulus;
        let plus = BigInt::from(5) * inverse_of(21) % &modulus;
        let (numerators, denominator) = fractions(&[minus, plus], &modulus).expect("short");
        assert_eq!(numerators, [BigInt::from(-66), BigInt::from(5)]);
        assert_eq!(denominator, BigInt::from(21));
    }
}
