//! Numbers modulo the prime 2⁶¹ − 1.
//!
//! Two is invertible, so every dyadic number has a residue, and a double has the residue of the rational that it is. A
//! nonzero residue proves a nonzero number; the converse is proved elsewhere.

use super::dyadic::Dyadic;
use num_bigint::{BigInt, Sign};

/// 2⁶¹ − 1, a Mersenne prime: reduction is a shift and an addition.
pub(super) const PRIME: u64 = (1 << 61) - 1;
/// Products of residues that are added before they are reduced: each is below 2¹²², so that 64 of them would fill 128 bits.
const UNREDUCED: usize = 32;

fn reduced(wide: u128) -> u64 {
    let once = (wide & u128::from(PRIME)) + (wide >> 61);
    let twice = (once as u64 & PRIME) + (once >> 61) as u64;
    if twice >= PRIME { twice - PRIME } else { twice }
}

pub(super) fn add(a: u64, b: u64) -> u64 {
    let sum = a + b;
    if sum >= PRIME { sum - PRIME } else { sum }
}

pub(super) fn negated(a: u64) -> u64 {
    if a == 0 { 0 } else { PRIME - a }
}

pub(super) fn multiplied(a: u64, b: u64) -> u64 {
    reduced(u128::from(a) * u128::from(b))
}

/// `Σ ab`.
pub(super) fn dot(pairs: impl Iterator<Item = (u64, u64)>) -> u64 {
    let (mut total, mut sum, mut pending) = (0, 0u128, 0);
    for (a, b) in pairs {
        sum += u128::from(a) * u128::from(b);
        pending += 1;
        if pending == UNREDUCED {
            (total, sum, pending) = (add(total, reduced(sum)), 0, 0);
        }
    }
    add(total, reduced(sum))
}

/// The inverse of a residue that is not zero, by Fermat's theorem.
pub(super) fn inverse(a: u64) -> u64 {
    let (mut power, mut square, mut exponent) = (1, a, PRIME - 2);
    while exponent > 0 {
        if exponent & 1 == 1 {
            power = multiplied(power, square);
        }
        square = multiplied(square, square);
        exponent >>= 1;
    }
    power
}

/// `2^e`: 2⁶¹ = 1 modulo the prime.
pub(super) fn power_of_two(e: i32) -> u64 {
    1 << e.rem_euclid(61)
}

pub(super) fn of_dyadic(x: Dyadic) -> u64 {
    let size = multiplied(reduced(x.mantissa.unsigned_abs()), power_of_two(x.exponent));
    if x.mantissa < 0 { negated(size) } else { size }
}

pub(super) fn of_whole(x: &BigInt) -> u64 {
    let size = (x.magnitude() % PRIME).iter_u64_digits().next().unwrap_or(0);
    if x.sign() == Sign::Minus { negated(size) } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn residues_are_those_of_the_numbers() {
        assert_eq!(multiplied(inverse(12_345), 12_345), 1);
        // −0.375·2 + 0.75 = 0, and 3·(1/3) is no dyadic number: 3·inverse(3) is one all the same.
        let of = |x: f64| of_dyadic(Dyadic::of(x));
        assert_eq!(dot([(of(-0.375), of(2.0)), (of(0.75), 1)].into_iter()), 0);
        assert_eq!(of(1e300), multiplied(of(1e300 / 4.0), 4));
        assert_eq!(multiplied(of(5e-324), power_of_two(1074)), 1);
        assert_eq!(of_whole(&(BigInt::from(PRIME) * 7 - 3)), negated(3));
        let many = (0..1_000u64).map(|i| (PRIME - 1 - i, PRIME - 1));
        assert_eq!(dot(many), (0..1_000u64).map(|i| i + 1).sum::<u64>());
    }
}
