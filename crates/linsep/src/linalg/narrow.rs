//! Rows through a few scores that are polynomials without products of columns: `Σⱼ zⱼ(aⱼ + zⱼ(bⱼ + …))` with `z = x − c`.
//!
//! Two rows and a few scores at a time: a weight is loaded once for both rows, and all sums stay in registers.

use crate::numeric::{Lanes, vectorised};

/// Up to so many scores a row this is used instead of a general matrix product, which would pack its operands first. It
/// made narrow products faster; where the two break even was not recorded.
pub(super) const NARROW: usize = 16;

/// `out[i] = W(xᵢ − c)` for row-major rows of `d ≥ 1` columns; no centre is a zero one.
pub(super) fn multiply_narrow(rows: &[f64], centre: Option<&[f64]>, weights: &[f64], d: usize, out: &mut [f64]) {
    check(rows, [weights], d, out);
    assert!(centre.is_none_or(|c| c.len() == d), "shapes agree");
    linear(rows, centre, weights, d, out);
}

/// `out[i, k] = Σⱼ zⱼ(a_kj + b_kj zⱼ)` with `z = xᵢ − c`, for row-major rows of `centre.len()` columns; `linear` holds the
/// a and `square` the b, score by score.
///
/// # Panics
/// If the shapes do not agree.
pub fn quadratic_rows(rows: &[f64], centre: &[f64], linear: &[f64], square: &[f64], out: &mut [f64]) {
    if centre.is_empty() {
        return out.fill(0.0);
    }
    check(rows, [linear, square], centre.len(), out);
    quadratic(rows, centre, linear, square, out);
}

fn check<const DEGREE: usize>(rows: &[f64], weights: [&[f64]; DEGREE], d: usize, out: &[f64]) {
    let k = weights[0].len() / d;
    assert!(weights.iter().all(|w| w.len() == k * d), "whole weight vectors");
    assert!(rows.len() / d * k == out.len() && rows.len().is_multiple_of(d), "shapes agree");
}

// Register blocking: four linear scores at a time, or five quadratic ones: two sums each, and the values and weights, fill
// the sixteen registers. Five linear ones took 1.3 to 2.3 times as long.
vectorised! {
    fn linear<L: Lanes>(rows: &[f64], centre: Option<&[f64]>, weights: &[f64], d: usize, out: &mut [f64]) {
        polynomials::<L, 1, 4>(rows, centre, [weights], d, out);
    }

    fn quadratic<L: Lanes>(rows: &[f64], centre: &[f64], linear: &[f64], square: &[f64], out: &mut [f64]) {
        polynomials::<L, 2, 5>(rows, Some(centre), [linear, square], centre.len(), out);
    }
}

#[inline(always)]
fn polynomials<L: Lanes, const DEGREE: usize, const SCORES: usize>(
    rows: &[f64],
    centre: Option<&[f64]>,
    weights: [&[f64]; DEGREE],
    d: usize,
    out: &mut [f64],
) {
    let k = weights[0].len() / d;
    if k == 0 {
        return;
    }
    let mut unused = vec![0.0; k];
    let mut rows = rows.chunks_exact(d);
    let mut outs = out.chunks_exact_mut(k);
    while let (Some(a), Some(za)) = (rows.next(), outs.next()) {
        let (b, zb) = match (rows.next(), outs.next()) {
            (Some(b), Some(zb)) => (b, zb),
            _ => (a, &mut unused[..]),
        };
        for (part, (za, zb)) in za.chunks_mut(SCORES).zip(zb.chunks_mut(SCORES)).enumerate() {
            let first = part * SCORES * d;
            let weights = weights.map(|w| &w[first..first + za.len() * d]);
            match za.len() {
                5 => sums::<L, DEGREE, 5>([a, b], centre, weights, za, zb),
                4 => sums::<L, DEGREE, 4>([a, b], centre, weights, za, zb),
                3 => sums::<L, DEGREE, 3>([a, b], centre, weights, za, zb),
                2 => sums::<L, DEGREE, 2>([a, b], centre, weights, za, zb),
                _ => sums::<L, DEGREE, 1>([a, b], centre, weights, za, zb),
            }
        }
    }
}

/// K scores of two rows, by Horner's rule. The slices are cut to one length, so that bounds checks are elided; code that
/// holds lanes is in loops, since closures would not be compiled for the wide units.
#[inline(always)]
fn sums<L: Lanes, const DEGREE: usize, const K: usize>(
    [a, b]: [&[f64]; 2],
    centre: Option<&[f64]>,
    weights: [&[f64]; DEGREE],
    za: &mut [f64],
    zb: &mut [f64],
) {
    let d = a.len();
    let n = d / 4;
    let mut by_four = [[&[][..]; DEGREE]; K];
    for k in 0..K {
        for p in 0..DEGREE {
            by_four[k][p] = fours(&weights[p][k * d..(k + 1) * d], n);
        }
    }
    let (four_a, four_b, four_c) = (fours(a, n), fours(b, n), centre.map(|c| fours(c, n)));
    let (mut sa, mut sb) = ([L::zero(); K], [L::zero(); K]);
    for j in 0..n {
        let (mut xa, mut xb) = (L::of(&four_a[j]), L::of(&four_b[j]));
        if let Some(centre) = four_c {
            let c = L::of(&centre[j]);
            (xa, xb) = (xa.minus(c), xb.minus(c));
        }
        for k in 0..K {
            let last = L::of(&by_four[k][DEGREE - 1][j]);
            let (mut ha, mut hb) = (last, last);
            for p in (0..DEGREE - 1).rev() {
                let w = L::of(&by_four[k][p][j]);
                (ha, hb) = (xa.times_plus(ha, w), xb.times_plus(hb, w));
            }
            (sa[k], sb[k]) = (xa.times_plus(ha, sa[k]), xb.times_plus(hb, sb[k]));
        }
    }
    for k in 0..K {
        (za[k], zb[k]) = (sa[k].total(), sb[k].total());
        for j in 4 * n..d {
            let centre = centre.map_or(0.0, |c| c[j]);
            let (xa, xb) = (a[j] - centre, b[j] - centre);
            let last = weights[DEGREE - 1][k * d + j];
            let (mut ha, mut hb) = (last, last);
            for p in (0..DEGREE - 1).rev() {
                let w = weights[p][k * d + j];
                (ha, hb) = (L::one_times_plus(xa, ha, w), L::one_times_plus(xb, hb, w));
            }
            (za[k], zb[k]) = (L::one_times_plus(xa, ha, za[k]), L::one_times_plus(xb, hb, zb[k]));
        }
    }
}

/// The first n groups of four.
#[inline(always)]
fn fours(values: &[f64], n: usize) -> &[[f64; 4]] {
    &values.as_chunks::<4>().0[..n]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_scores_of_all_small_shapes() {
        let number = |i: usize| ((i * 7919) % 101) as f64 - 50.0;
        for d in 1..=11 {
            for k in 1..=NARROW {
                for n in [1, 2, 5] {
                    let rows: Vec<f64> = (0..n * d).map(number).collect();
                    let weights: Vec<f64> = (0..k * d).map(|i| number(i + 13)).collect();
                    let centre: Vec<f64> = (0..d).map(|i| number(i + 29)).collect();
                    for about in [None, Some(&centre[..])] {
                        let mut out = vec![f64::NAN; n * k];
                        multiply_narrow(&rows, about, &weights, d, &mut out);
                        for i in 0..n {
                            for c in 0..k {
                                let x = |j: usize| rows[i * d + j] - about.map_or(0.0, |c| c[j]);
                                let expected: f64 = (0..d).map(|j| x(j) * weights[c * d + j]).sum();
                                assert_eq!(out[i * k + c], expected, "whole numbers are exact");
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn quadratic_scores_of_all_small_shapes() {
        // Small whole numbers: every order of summing gives the same bits.
        let number = |i: usize| ((i * 7919) % 101) as f64 - 50.0;
        for d in 1..=11 {
            for k in 1..=12 {
                for n in [1, 2, 5] {
                    let rows: Vec<f64> = (0..n * d).map(number).collect();
                    let linear: Vec<f64> = (0..k * d).map(|i| number(i + 13)).collect();
                    let square: Vec<f64> = (0..k * d).map(|i| number(i + 47)).collect();
                    let centre: Vec<f64> = (0..d).map(|i| number(i + 29)).collect();
                    let mut out = vec![f64::NAN; n * k];
                    quadratic_rows(&rows, &centre, &linear, &square, &mut out);
                    for i in 0..n {
                        for s in 0..k {
                            let term = |j: usize| {
                                let z = rows[i * d + j] - centre[j];
                                linear[s * d + j] * z + square[s * d + j] * z * z
                            };
                            assert_eq!(out[i * k + s], (0..d).map(term).sum::<f64>(), "{d} {k} {n}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn both_kinds_of_lanes_agree() {
        // Small whole numbers: every order of summing gives the same bits, fused or not.
        let number = |i: usize| ((i * 7919) % 101) as f64 - 50.0;
        for (d, k) in [(1, 1), (5, 3), (8, 4), (11, 7)] {
            let rows: Vec<f64> = (0..3 * d).map(number).collect();
            let weights: Vec<f64> = (0..k * d).map(|i| number(i + 13)).collect();
            let (mut portable, mut chosen) = (vec![f64::NAN; 3 * k], vec![f64::NAN; 3 * k]);
            polynomials::<crate::numeric::Portable, 1, 4>(&rows, None, [&weights], d, &mut portable);
            multiply_narrow(&rows, None, &weights, d, &mut chosen);
            assert_eq!(portable, chosen, "{d} {k}");
        }
    }
}
