//! The linear relations among the coordinates of vectors, and combinations of the vectors, in exact integer arithmetic.
//!
//! A relation is a z with `Σ z·v = 0` for every vector v. Elimination modulo a prime ([`ModularSpan`]) bounds their number
//! from above: the rank modulo a prime is never larger than the rank. For each coordinate without a pivot one relation is
//! then solved for in integers ([`WholeSystem`]) and checked exactly on all vectors. These relations have different last
//! coordinates, so they are independent; being as many as the bound, they are a basis of all relations, which proves the
//! rank and the basis of the vectors as well. Where the check of a relation fails, there is no answer.

use super::dyadic::{Dyadic, DyadicVectors};
use super::effort::{Budget, Effort, cost_of_product};
use super::lifting::{WholeSolution, WholeSystem};
use super::residue::{multiplied, power_of_two};
use super::span::{ModularSpan, READ, RESIDUE};
use crate::error::Result;
use num_bigint::{BigInt, Sign};
use rayon::prelude::*;

/// Bits by which a product may be shifted in an `i128` sum before whole numbers of any length are taken instead. Chosen
/// (bench/constants.md): only the time depends on it.
const SHORT: i32 = 40;

/// All relations among coordinates, `Σ z·2^−exponent·v = 0`.
pub(crate) struct Relations {
    /// Coordinates that are independent on the vectors, rising.
    pub(crate) independent: Vec<usize>,
    /// For each of the others, rising, its relation with independent ones before it: entries that are not zero, its own last
    /// and positive.
    pub(crate) each: Vec<Vec<(usize, BigInt)>>,
    /// By coordinate.
    pub(crate) exponents: Vec<i32>,
    /// Vectors that make a basis of all, rising.
    pub(crate) basis: Vec<usize>,
}

impl Relations {
    /// `None` where that takes longer than is allowed, or the rank falls modulo the prime, as it does for few primes.
    pub(crate) fn among(vectors: &dyn DyadicVectors, effort: Effort<'_>) -> Result<Option<Relations>> {
        let mut budget = Budget::new(effort);
        let Some(span) = ModularSpan::of(vectors, &mut budget)? else { return Ok(None) };
        let whole = WholeBasisVectors::new(&span, vectors)?;
        whole.relations(vectors, &mut budget)
    }
}

/// Independent vectors that very likely span all the others: their rank was found modulo a prime, so callers check the
/// result; `None` where that takes longer than is allowed.
pub(crate) fn likely_basis(vectors: &dyn DyadicVectors, effort: Effort<'_>) -> Result<Option<Vec<usize>>> {
    Ok(ModularSpan::of(vectors, &mut Budget::new(effort))?.map(|span| span.basis))
}

/// Which vectors are not in the span of all the others; `None` where that takes longer than is allowed.
pub(crate) fn vectors_alone(vectors: &dyn DyadicVectors, effort: Effort<'_>) -> Result<Option<Vec<bool>>> {
    let mut budget = Budget::new(effort);
    let Some(span) = ModularSpan::of(vectors, &mut budget)? else { return Ok(None) };
    let whole = WholeBasisVectors::new(&span, vectors)?;
    // Coefficients modulo the prime are evidence only if the rank modulo the prime is the true one.
    if whole.relations(vectors, &mut budget)?.is_none() {
        return Ok(None);
    }
    let (mut used, mut entries) = (vec![false; span.basis.len()], Vec::new());
    let mut in_basis = vec![false; vectors.count()];
    span.basis.iter().for_each(|at| in_basis[*at] = true);
    for at in (0..vectors.count()).filter(|at| !in_basis[*at]) {
        vectors.entries(at, &mut entries)?;
        span.coefficients(&entries).iter().zip(&mut used).for_each(|(c, used)| *used |= *c != 0);
        if !budget.allows((entries.len() * used.len()) as f64 * RESIDUE) {
            return Ok(None);
        }
    }
    let mut alone = vec![false; vectors.count()];
    for (k, at) in span.basis.iter().enumerate().filter(|(k, _)| !used[*k]) {
        // A functional that is 1 on this vector and vanishes on all others.
        let right: Vec<BigInt> = (0..span.basis.len()).map(|j| BigInt::from(i32::from(j == k))).collect();
        let holds = |(z, _): &WholeSolution, budget: &mut Budget<'_>| {
            whole.functional(z, None).annihilates(vectors, Some(*at), &whole.exponents, budget)
        };
        if whole.solved(&right, &mut budget, holds)?.is_none() {
            return Ok(None);
        }
        alone[*at] = true;
    }
    Ok(Some(alone))
}

/// A combination `Σ c·2^exponent·v` of few vectors that is `factor·2^power` times given numbers.
pub(crate) struct WholeCombination {
    /// A positive number.
    pub(crate) factor: BigInt,
    /// The same for all combinations of the same vectors.
    pub(crate) power: i32,
    /// Vectors with their c and exponent.
    pub(crate) terms: Vec<(usize, BigInt, i32)>,
}

impl WholeCombination {
    /// `None` where there is none, or it takes longer than is allowed.
    pub(crate) fn of(
        vectors: &dyn DyadicVectors,
        target: &[BigInt],
        effort: Effort<'_>,
    ) -> Result<Option<WholeCombination>> {
        let mut budget = Budget::new(effort);
        let Some(span) = ModularSpan::of(vectors, &mut budget)? else { return Ok(None) };
        let whole = WholeBasisVectors::new(&span, vectors)?;
        let top = whole.exponents.iter().copied().max().unwrap_or(0).max(0);
        let right = |q: usize| &target[q] << (top - whole.exponents[q]) as usize;
        let mut number = vec![None; vectors.dimension()];
        span.pivots.iter().enumerate().for_each(|(k, q)| number[*q] = Some(k));
        let mut equations = vec![Vec::new(); span.pivots.len()];
        for (j, b) in whole.basis.iter().enumerate() {
            for (q, x) in &b.entries {
                if let Some(k) = number[*q] {
                    equations[k].push((j, x.clone()));
                }
            }
        }
        let inverse = |right: &[u64]| {
            let scaled = |(q, r): (&usize, &u64)| multiplied(*r, power_of_two(whole.exponents[*q]));
            let right: Vec<u64> = span.pivots.iter().zip(right).map(scaled).collect();
            let mut out = span.multiples(&right);
            out.iter_mut().zip(&whole.basis).for_each(|(c, b)| *c = multiplied(*c, power_of_two(b.exponent)));
            out
        };
        let holds = |(c, denominator): &WholeSolution, _: &mut Budget<'_>| {
            let mut sums = vec![BigInt::ZERO; vectors.dimension()];
            for (c, b) in c.iter().zip(&whole.basis).filter(|(c, _)| c.sign() != Sign::NoSign) {
                b.entries.iter().for_each(|(q, x)| sums[*q] += c * x);
            }
            Ok(Some((0..sums.len()).all(|q| sums[q] == denominator * right(q))))
        };
        let at_pivots: Vec<BigInt> = span.pivots.iter().map(|q| right(*q)).collect();
        let Some((c, factor)) = WholeSystem { equations, inverse: &inverse }.solve(&at_pivots, &mut budget, holds)?
        else {
            return Ok(None);
        };
        let term = |((c, at), b): ((BigInt, &usize), &WholeBasisVector)| (*at, c, -b.exponent);
        let terms = c.into_iter().zip(&span.basis).zip(&whole.basis).map(term);
        Ok(Some(WholeCombination {
            factor,
            power: top,
            terms: terms.filter(|(_, c, _)| c.sign() != Sign::NoSign).collect(),
        }))
    }
}

/// `Σ 2^−exponent·x·z` over the coordinates of x, each z a list of numbers of one length: up to a power of two, which makes it whole.
pub(crate) fn combined_numbers(
    x: &[(usize, Dyadic)],
    exponents: &[i32],
    z: &[Vec<BigInt>],
    length: usize,
) -> Vec<BigInt> {
    let mut sums = vec![BigInt::ZERO; length];
    let Some(least) = x.iter().map(|(j, x)| x.exponent - exponents[*j]).min() else { return sums };
    for (j, x) in x {
        let x = x.over(exponents[*j] + least);
        sums.iter_mut().zip(&z[*j]).filter(|(_, z)| z.sign() != Sign::NoSign).for_each(|(s, z)| *s += z * &x);
    }
    sums
}

/// A vector of the basis over powers of two that make it whole.
struct WholeBasisVector {
    /// By coordinate, rising.
    entries: Vec<(usize, BigInt)>,
    /// What it was divided by, beside the powers of its coordinates.
    exponent: i32,
}

impl WholeBasisVector {
    fn at(&self, coordinate: usize) -> BigInt {
        match self.entries.binary_search_by_key(&coordinate, |(j, _)| *j) {
            Ok(at) => self.entries[at].1.clone(),
            Err(_) => BigInt::ZERO,
        }
    }
}

/// The basis in whole numbers.
struct WholeBasisVectors<'s> {
    span: &'s ModularSpan,
    basis: Vec<WholeBasisVector>,
    exponents: Vec<i32>,
}

impl<'s> WholeBasisVectors<'s> {
    fn new(span: &'s ModularSpan, vectors: &dyn DyadicVectors) -> Result<WholeBasisVectors<'s>> {
        let mut all = Vec::with_capacity(span.basis.len());
        for at in &span.basis {
            let mut entries = Vec::new();
            vectors.entries(*at, &mut entries)?;
            entries.sort_by_key(|(j, _)| *j);
            all.push(entries);
        }
        let mut exponents = vec![i32::MAX; vectors.dimension()];
        all.iter().flatten().for_each(|(j, x)| exponents[*j] = exponents[*j].min(x.exponent));
        exponents.iter_mut().filter(|e| **e == i32::MAX).for_each(|e| *e = 0);
        let whole = |entries: Vec<(usize, Dyadic)>| {
            let exponent = entries.iter().map(|(j, x)| x.exponent - exponents[*j]).min().unwrap_or(0);
            let entry = |(j, x): (usize, Dyadic)| (j, x.over(exponents[j] + exponent));
            WholeBasisVector { entries: entries.into_iter().map(entry).collect(), exponent }
        };
        Ok(WholeBasisVectors { span, basis: all.into_iter().map(whole).collect(), exponents })
    }

    fn relations(&self, vectors: &dyn DyadicVectors, budget: &mut Budget<'_>) -> Result<Option<Relations>> {
        let dependent: Vec<usize> = self.span.free().collect();
        let mut each = Vec::with_capacity(dependent.len());
        for f in &dependent {
            let right: Vec<BigInt> = self.basis.iter().map(|b| -b.at(*f)).collect();
            let holds = |(z, denominator): &WholeSolution, budget: &mut Budget<'_>| {
                self.functional(z, Some((*f, denominator))).annihilates(vectors, None, &self.exponents, budget)
            };
            let Some((z, denominator)) = self.solved(&right, budget, holds)? else { return Ok(None) };
            let all = self.functional(&z, Some((*f, &denominator))).values.into_iter().enumerate();
            each.push(all.filter(|(_, z)| z.sign() != Sign::NoSign).collect());
        }
        let mut independent = self.span.pivots.clone();
        independent.sort_unstable();
        let basis = self.span.basis.clone();
        Ok(Some(Relations { independent, each, exponents: self.exponents.clone(), basis }))
    }

    /// `Σ z·b = right`, one equation for each vector of the basis.
    fn solved(
        &self,
        right: &[BigInt],
        budget: &mut Budget<'_>,
        holds: impl FnMut(&WholeSolution, &mut Budget<'_>) -> Result<Option<bool>>,
    ) -> Result<Option<WholeSolution>> {
        let span = self.span;
        let mut number = vec![None; self.exponents.len()];
        span.pivots.iter().enumerate().for_each(|(k, q)| number[*q] = Some(k));
        let at_pivots = |b: &WholeBasisVector| {
            b.entries.iter().filter_map(|(q, x)| number[*q].map(|k| (k, x.clone()))).collect::<Vec<(usize, BigInt)>>()
        };
        let inverse = |right: &[u64]| {
            let scaled = |(b, r): (&WholeBasisVector, &u64)| multiplied(*r, power_of_two(b.exponent));
            let mut z = span.solve(&self.basis.iter().zip(right).map(scaled).collect::<Vec<u64>>());
            let scales = span.pivots.iter().map(|q| power_of_two(self.exponents[*q]));
            z.iter_mut().zip(scales).for_each(|(z, scale)| *z = multiplied(*z, scale));
            z
        };
        let system = WholeSystem { equations: self.basis.iter().map(at_pivots).collect(), inverse: &inverse };
        system.solve(right, budget, holds)
    }

    /// Numbers at the pivots, and one more, by coordinate.
    fn functional(&self, at_pivots: &[BigInt], own: Option<(usize, &BigInt)>) -> WholeFunctional {
        let mut values = vec![BigInt::ZERO; self.exponents.len()];
        self.span.pivots.iter().zip(at_pivots).for_each(|(q, z)| values[*q] = z.clone());
        if let Some((f, denominator)) = own {
            values[f] = denominator.clone();
        }
        WholeFunctional::new(values)
    }
}

/// Whole numbers by coordinate, as short ones where all are.
struct WholeFunctional {
    values: Vec<BigInt>,
    short: Option<Vec<i64>>,
    used: usize,
}

impl WholeFunctional {
    fn new(values: Vec<BigInt>) -> WholeFunctional {
        let short = values.iter().map(|v| i64::try_from(v).ok()).collect();
        let used = values.iter().filter(|v| v.sign() != Sign::NoSign).count();
        WholeFunctional { values, short, used }
    }

    /// Whether `Σ z·2^−exponent·v` is zero for every vector but one, and not for that one; `None` where that takes too long.
    fn annihilates(
        &self,
        vectors: &dyn DyadicVectors,
        but: Option<usize>,
        exponents: &[i32],
        budget: &mut Budget<'_>,
    ) -> Result<Option<bool>> {
        let longest = self.values.iter().map(BigInt::bits).max().unwrap_or(0);
        let each = if self.short.is_some() { READ } else { cost_of_product(longest) };
        let width = vectors.entries_at_most() as f64;
        if !budget.allows(vectors.count() as f64 * (width * READ + width.min(self.used as f64) * each)) {
            return Ok(None);
        }
        let wrong = |entries: &mut Vec<(usize, Dyadic)>, at: usize| -> Result<bool> {
            vectors.entries(at, entries)?;
            Ok(self.is_zero_on(entries, exponents) == (but == Some(at)))
        };
        let all = (0..vectors.count()).into_par_iter().map_init(Vec::new, wrong);
        Ok(Some(!all.find_any(|wrong| !matches!(wrong, Ok(false))).transpose()?.unwrap_or(false)))
    }

    fn is_zero_on(&self, entries: &[(usize, Dyadic)], exponents: &[i32]) -> bool {
        let shift = |j: usize, x: &Dyadic| x.exponent - exponents[j];
        let used = || entries.iter().filter(|(j, _)| self.values[*j].sign() != Sign::NoSign);
        let Some(least) = used().map(|(j, x)| shift(*j, x)).min() else { return true };
        if let Some(short) = &self.short {
            let product = |(j, x): &(usize, Dyadic)| -> Option<i128> {
                let (product, up) = (x.mantissa.checked_mul(i128::from(short[*j]))?, shift(*j, x) - least);
                (up <= SHORT && product.unsigned_abs() >> (126 - up) == 0).then(|| product << up)
            };
            if let Some(sum) = used().try_fold(0i128, |sum, entry| sum.checked_add(product(entry)?)) {
                return sum == 0;
            }
        }
        let mut sum = BigInt::ZERO;
        used().for_each(|(j, x)| sum += &self.values[*j] * x.over(exponents[*j] + least));
        sum.sign() == Sign::NoSign
    }
}

#[cfg(test)]
mod tests {
    use super::super::dyadic::ListedVectors;
    use super::*;
    use crate::watch::Watch;

    fn listed(rows: &[&[f64]]) -> ListedVectors {
        let entries = |row: &&[f64]| {
            row.iter().enumerate().filter(|(_, x)| **x != 0.0).map(|(j, x)| (j, Dyadic::of(*x))).collect()
        };
        ListedVectors { dimension: rows[0].len(), vectors: rows.iter().map(entries).collect() }
    }

    #[test]
    fn relations_are_all_there_are() -> Result<()> {
        let watch = Watch::default();
        let effort = Effort::seconds(&watch);
        // b = 2a, d = 0 and e = a/3 + c, in units far apart; one row repeats another.
        let row = |a: f64, c: f64| [3.0 * a, 6.0 * a, c * 2f64.powi(-600), 0.0, a + c];
        let rows = [row(1.0, 2.0), row(4.0, -5.0), row(1.0, 2.0)];
        let found = Relations::among(&listed(&[&rows[0], &rows[1], &rows[2]]), effort)?.expect("small");
        assert_eq!((&found.independent[..], &found.basis[..]), (&[0, 2][..], &[0, 1][..]));
        assert!(found.each.iter().all(|r| r.last().is_some_and(|(_, z)| z.sign() == Sign::Plus)));
        let used: Vec<Vec<usize>> = found.each.iter().map(|r| r.iter().map(|(j, _)| *j).collect()).collect();
        assert_eq!(used, [vec![0, 1], vec![3], vec![0, 2, 4]]);
        // One unit in the last place off, and the relation no longer holds.
        let off = 6.0 + 4.0 * f64::EPSILON;
        let found = Relations::among(&listed(&[&[3.0, off], &[12.0, 24.0]]), effort)?.expect("small");
        assert!(found.each.is_empty());
        Ok(())
    }

    #[test]
    fn long_fractions_are_told() -> Result<()> {
        // Coordinates without a simple relation: numerators and denominators are determinants of doubles.
        let watch = Watch::default();
        let number = |i: usize| ((i * i * 7_919 + 3 * i + 1) % 1_009) as f64 / 7.0;
        let rows: Vec<Vec<f64>> = (0..6).map(|i| (0..7).map(|j| number(7 * i + j)).collect()).collect();
        let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
        let found = Relations::among(&listed(&rows), Effort::seconds(&watch))?.expect("small");
        assert_eq!(found.independent, [0, 1, 2, 3, 4, 5]);
        assert!(found.each[0].iter().map(|(_, z)| z.bits()).max() > Some(200));
        Ok(())
    }

    #[test]
    fn vectors_that_stand_alone() -> Result<()> {
        let watch = Watch::default();
        let vectors = listed(&[&[1.0, 2.0, 0.0], &[2.0, 4.0, 0.0], &[0.0, 0.1, 0.3], &[0.0, 0.0, 0.0]]);
        let found = vectors_alone(&vectors, Effort::seconds(&watch))?;
        assert_eq!(found, Some(vec![false, false, true, false]));
        Ok(())
    }

    #[test]
    fn a_combination_is_the_one_asked_for() -> Result<()> {
        let watch = Watch::default();
        let effort = Effort::seconds(&watch);
        let vectors = listed(&[&[0.5, 0.0, 1.0], &[0.0, 3.0, 1.0], &[0.5, 3.0, 2.0]]);
        let whole = |values: [i32; 3]| values.map(BigInt::from);
        // 4·(½, 0, 1) + ⅓·(0, 3, 1) = (2, 1, 13/3).
        let found = WholeCombination::of(&vectors, &whole([6, 3, 13]), effort)?.expect("in the span");
        let terms: Vec<(usize, BigInt)> = found.terms.iter().map(|(at, c, e)| (*at, c << (e + 8) as usize)).collect();
        assert_eq!(terms.len(), 2);
        assert_eq!(terms[0].1, &terms[1].1 * 12);
        assert!(WholeCombination::of(&vectors, &whole([6, 3, 12]), effort)?.is_none());
        Ok(())
    }
}
