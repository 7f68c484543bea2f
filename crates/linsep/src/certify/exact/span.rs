//! The span of vectors by elimination modulo a prime: a basis, its pivot coordinates, and the dual functionals.
//!
//! Of r basis vectors `b` and r pivot coordinates P, the functional of a pivot q has `F_q·b_k = 1` for its own vector and 0
//! for the others (the dual basis); that of another coordinate u has the entry 1 at u and annihilates all of them. All other
//! entries of both are in P. A vector that all functionals of the second kind annihilate is in the span. The pivot of a new
//! vector is the first coordinate whose functional does not vanish on it, so a coordinate that is no pivot is, on all
//! vectors, a combination of coordinates before it.
//!
//! Ranks can only fall modulo a prime: the basis vectors are certainly independent, and so are the pivot coordinates.

use super::dyadic::{Dyadic, DyadicVectors};
use super::effort::Budget;
use super::residue::{add, dot, inverse, multiplied, negated, of_dyadic};
use crate::error::Result;
use rayon::prelude::*;

/// Nanoseconds of a product of residues. Chosen (bench/constants.md): only the limit of work is counted in it.
pub(super) const RESIDUE: f64 = 2.0;
/// Nanoseconds of reading an entry of a vector. Chosen (bench/constants.md).
pub(super) const READ: f64 = 10.0;
/// Vectors looked at one after the other for each coordinate; the rest, of which few are new, are looked at together.
/// Chosen (bench/constants.md): only the time depends on it.
const AT_FIRST: usize = 4;

/// What functionals are mixed with, any residue without a pattern: the bits of 2⁶¹ divided by the golden ratio.
const MIXING: u64 = 0x13c6_ef37_2fe9_4f82;

/// Whether a coordinate is a pivot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// The number of its basis vector.
    Pivot(usize),
    Free,
}

/// The span of some vectors modulo [`super::residue::PRIME`].
pub(super) struct ModularSpan {
    standing: Vec<Standing>,
    /// The coordinates P, in the order of the basis.
    pub(super) pivots: Vec<usize>,
    /// The vectors of the basis.
    pub(super) basis: Vec<usize>,
    /// Of every coordinate: the entries of its functional in P, in the order of the basis.
    functionals: Vec<Vec<u64>>,
}

impl ModularSpan {
    /// `None` where that takes longer than is allowed.
    pub(super) fn of(vectors: &dyn DyadicVectors, budget: &mut Budget<'_>) -> Result<Option<ModularSpan>> {
        let n = vectors.dimension();
        let mut span = ModularSpan {
            standing: vec![Standing::Free; n],
            pivots: Vec::new(),
            basis: Vec::new(),
            functionals: vec![Vec::new(); n],
        };
        let (count, mut entries) = (vectors.count(), Vec::new());
        let one_by_one = count.min(AT_FIRST.saturating_mul(n));
        for at in 0..one_by_one {
            if span.pivots.len() == n {
                return Ok(Some(span));
            }
            vectors.entries(at, &mut entries)?;
            if !span.insert(at, &entries, budget) {
                return Ok(None);
            }
        }
        let mut next = one_by_one;
        while next < count && span.pivots.len() < n {
            let all = span.mixed_functional();
            let is_new = |entries: &mut Vec<(usize, Dyadic)>, at: usize| -> Result<Option<usize>> {
                vectors.entries(at, entries)?;
                Ok((dot(entries.iter().map(|(j, x)| (all[*j], of_dyadic(*x)))) != 0).then_some(at))
            };
            let found = (next..count)
                .into_par_iter()
                .map_init(Vec::new, is_new)
                .find_first(|found| !matches!(found, Ok(None)))
                .transpose()?
                .flatten();
            let upto = found.unwrap_or(count - 1);
            let each = vectors.entries_at_most() as f64 * (READ + RESIDUE);
            if !budget.allows((upto + 1 - next) as f64 * each) {
                return Ok(None);
            }
            let Some(at) = found else { break };
            vectors.entries(at, &mut entries)?;
            if !span.insert(at, &entries, budget) {
                return Ok(None);
            }
            next = at + 1;
        }
        Ok(Some(span))
    }

    /// Coordinates that are not pivots, rising.
    pub(super) fn free(&self) -> impl Iterator<Item = usize> {
        (0..self.standing.len()).filter(|u| self.standing[*u] == Standing::Free)
    }

    fn residues(&self, entries: &[(usize, Dyadic)]) -> SeenVector {
        let mut seen = SeenVector { pivots: Vec::new(), own: vec![0; self.standing.len()] };
        for (j, x) in entries {
            match self.standing[*j] {
                Standing::Pivot(k) => seen.pivots.push((k, of_dyadic(*x))),
                Standing::Free => seen.own[*j] = of_dyadic(*x),
            }
        }
        seen
    }

    /// The functional of a coordinate at a vector.
    fn seen_by(&self, coordinate: usize, vector: &SeenVector) -> u64 {
        let functional = &self.functionals[coordinate];
        add(dot(vector.pivots.iter().map(|(k, x)| (functional[*k], *x))), vector.own[coordinate])
    }

    /// A mixture of the functionals that annihilate the basis, by coordinate, with the powers of one residue: it misses a vector
    /// that one of them sees if that residue is one of the at most n roots of a polynomial, of 2⁶¹ residues, and costs one
    /// product an entry where asking all of them costs one for each. What is missed fails where the result is checked.
    fn mixed_functional(&self) -> Vec<u64> {
        let mut mixed = vec![0; self.standing.len()];
        let mut of_pivots = vec![0; self.pivots.len()];
        let mut share = 1;
        for u in self.free() {
            share = multiplied(share, MIXING);
            mixed[u] = share;
            of_pivots.iter_mut().zip(&self.functionals[u]).for_each(|(m, f)| *m = add(*m, multiplied(share, *f)));
        }
        self.pivots.iter().zip(of_pivots).for_each(|(q, m)| mixed[*q] = m);
        mixed
    }

    /// The coefficients of a vector of the span, by number of the basis.
    pub(super) fn coefficients(&self, entries: &[(usize, Dyadic)]) -> Vec<u64> {
        let vector = self.residues(entries);
        self.pivots.iter().map(|q| self.seen_by(*q, &vector)).collect()
    }

    /// The coefficients c of the basis with `Σ c·b = right` at the pivots.
    pub(super) fn multiples(&self, right: &[u64]) -> Vec<u64> {
        let one = |q: &usize| dot(self.functionals[*q].iter().copied().zip(right.iter().copied()));
        self.pivots.par_iter().map(one).collect()
    }

    /// The solution z of `Σ z·b = right`, one equation for each vector of the basis, over the pivots.
    pub(super) fn solve(&self, right: &[u64]) -> Vec<u64> {
        let mut out = vec![0; self.pivots.len()];
        for (q, r) in self.pivots.iter().zip(right).filter(|(_, r)| **r != 0) {
            out.iter_mut().zip(&self.functionals[*q]).for_each(|(z, f)| *z = add(*z, multiplied(*f, *r)));
        }
        out
    }

    /// Takes a vector into the basis unless it is in the span; `false` where that takes too long.
    fn insert(&mut self, at: usize, entries: &[(usize, Dyadic)], budget: &mut Budget<'_>) -> bool {
        let vector = self.residues(entries);
        let free = self.standing.len() - self.pivots.len();
        if !budget.allows((entries.len() * free) as f64 * RESIDUE) {
            return false;
        }
        let found = self.free().map(|u| (u, self.seen_by(u, &vector))).find(|(_, seen)| *seen != 0);
        let Some((own, seen)) = found else { return true };
        let all: Vec<u64> = (0..self.standing.len()).into_par_iter().map(|i| self.seen_by(i, &vector)).collect();
        let scale = inverse(seen);
        let mut new: Vec<u64> = self.functionals[own].iter().map(|f| multiplied(*f, scale)).collect();
        new.push(scale);
        self.functionals.par_iter_mut().zip(&all).for_each(|(functional, seen)| {
            functional.push(0);
            if *seen != 0 {
                let minus = negated(*seen);
                functional.iter_mut().zip(&new).for_each(|(f, n)| *f = add(*f, multiplied(minus, *n)));
            }
        });
        self.functionals[own] = new;
        self.standing[own] = Standing::Pivot(self.pivots.len());
        self.pivots.push(own);
        self.basis.push(at);
        budget.allows((self.standing.len() * (self.pivots.len() + entries.len())) as f64 * RESIDUE)
    }
}

/// Residues of a vector: of the pivots by their number, and of the others by coordinate, zero for pivots.
struct SeenVector {
    pivots: Vec<(usize, u64)>,
    own: Vec<u64>,
}
