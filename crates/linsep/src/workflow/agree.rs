//! When two numbers that were computed in different ways are the same number: each quantity by the scale of its rounding.

use super::compare::{Closeness, NUMBERS, value_differences};
use crate::artifact::KeptSums;
use crate::certify::Certificate;
use crate::decide::Conformal;
use crate::design::{ColumnSummary, Units};
use crate::discriminant::{Discriminant, Linear};
use serde_json::Value;

/// Agreement asked of the numbers of a certificate: bounds on rounding are sums over rows, and another machine adds
/// them in another order and with other fused products.
const CERTIFICATE: f64 = 1e-6;
/// Bounds below this share of the objective consist of rounding, which differs between machines: about 500 units.
const ROUNDED: f64 = 1e-13;
/// Factor by which two such bounds may differ. Chosen, out of reach of bench/constants.md: a larger one would let edits
/// of tiny gaps pass.
const FACTOR: f64 = 4.0;
/// What rounding of an objective, a compensated sum, does to a difference of two, relative to them. Chosen, not
/// measured.
const OBJECTIVE: f64 = 32.0 * f64::EPSILON;
/// A relative number below a few spacings of doubles is rounding: sums in another order leave another one.
const NOTHING: f64 = 4.0 * f64::EPSILON;
/// Agreement asked of calibrated probabilities: another machine fits the folds to their tolerance, not to the same
/// bits. Chosen, out of reach of bench/constants.md.
const PROBABILITIES: f64 = 1e-6;
/// And of the numbers of the map, which may be ill-conditioned where probabilities are not. Chosen, out of reach of
/// bench/constants.md.
const MAP: f64 = 1e-4;
/// Agreement relative to the objective at zero weights (or to eigenvalues of order one), for fits that leave only
/// rounding.
const AT_ZERO: f64 = 1e-12;

/// Nonconformity scores of held-out rows agree relative to the largest: each is a difference of sums over the columns.
pub(super) fn conformal_agree(stated: &Conformal, found: &Conformal) -> bool {
    let numbers = |c: &Conformal| c.scores.iter().flatten().copied().collect::<Vec<f64>>();
    let lengths = |c: &Conformal| c.scores.iter().map(Vec::len).collect::<Vec<usize>>();
    let (a, b) = (numbers(stated), numbers(found));
    let largest = b.iter().fold(0.0_f64, |m, s| m.max(s.abs()));
    stated.options == found.options
        && lengths(stated) == lengths(found)
        && a.iter().zip(&b).all(|(a, b)| (a - b).abs() <= NUMBERS * largest)
}

/// Sums over rows agree by the scale of their columns: weights and totals relative to themselves, means and products of
/// columns relative to their spread.
pub(super) fn sums_agree(stated: &KeptSums, found: &KeptSums) -> bool {
    let close = |a: &[f64], b: &[f64]| {
        let alike = |(x, y): (&f64, &f64)| (x - y).abs() <= NUMBERS * x.abs().max(y.abs());
        a.len() == b.len() && a.iter().zip(b).all(alike)
    };
    match (stated, found) {
        (
            KeptSums::Moments { weights: a, means: m, tails: p, scatters: s },
            KeptSums::Moments { weights: b, means: n, tails: q, scatters: t },
        ) => {
            let cols = n.len() / b.len().max(1);
            let sizes = s.len() == t.len() && s.iter().zip(t).all(|(s, t)| s.len() == t.len()) && m.len() == n.len();
            let sizes = sizes && [p, q].iter().all(|tails| tails.is_empty() || tails.len() == n.len());
            sizes && close(a, b) && {
                // Column j of a lower triangle begins with its own square.
                let starts: Vec<usize> = (0..cols).map(|j| j * cols - j * j.saturating_sub(1) / 2).collect();
                let spread = |k: usize, j: usize| t[k.min(t.len() - 1)][starts[j]].max(0.0).sqrt();
                let of_pairs = |k: usize, j: usize, i: usize| {
                    let at = starts[j] + i - j;
                    (s[k][at] - t[k][at]).abs() <= NUMBERS * spread(k, i) * spread(k, j)
                };
                let pairs = (0..t.len()).all(|k| (0..cols).all(|j| (j..cols).all(|i| of_pairs(k, j, i))));
                let of_mean = |at: usize| {
                    let (k, j) = (at / cols, at % cols);
                    let scale = spread(k, j) / b[k].max(f64::MIN_POSITIVE).sqrt();
                    // A file of before there were tails knows its means to their last digit.
                    let apart = match p.is_empty() || q.is_empty() {
                        true => (m[at] - n[at]).abs() - 8.0 * f64::EPSILON * n[at].abs(),
                        false => ((m[at] - n[at]) + (p[at] - q[at])).abs(),
                    };
                    apart <= NUMBERS * scale + f64::EPSILON * f64::EPSILON * n[at].abs()
                };
                pairs && (0..n.len()).all(of_mean)
            }
        }
        (
            KeptSums::Columns { weights: a, first: m, tails: p, second: s },
            KeptSums::Columns { weights: b, first: n, tails: q, second: t },
        ) => {
            let cols = n.len() / b.len().max(1);
            // What has a tail is a mean, to be compared by the spread about it.
            let of_mean = |at: usize| {
                let scale = (t[at].max(0.0) / b[at / cols].max(f64::MIN_POSITIVE)).sqrt();
                let apart = ((m[at] - n[at]) + (p[at] - q[at])).abs();
                (p[at] == 0.0 && q[at] == 0.0) || apart <= NUMBERS * scale + f64::EPSILON * f64::EPSILON * n[at].abs()
            };
            let means = p.is_empty() || q.is_empty() || (p.len() == q.len() && (0..q.len()).all(of_mean));
            close(a, b) && close(m, n) && close(s, t) && means
        }
        _ => false,
    }
}

/// Units agree when centre and scale do, relative to the standard deviation and to the rounding of the mean.
pub(super) fn units_agree(stated: &Units, learned: &Units, summary: &ColumnSummary) -> bool {
    let spread = |j: usize| summary.variance[j].sqrt();
    let rounding = |j: usize| 8.0 * f64::EPSILON * summary.mean[j].abs();
    let centre = |j: usize| {
        let (a, b) = (stated.centre()[j], learned.centre()[j]);
        a == b || (a - b).abs() <= NUMBERS * spread(j) + rounding(j)
    };
    let scale = |j: usize| {
        let (a, b) = (stated.scale()[j], learned.scale()[j]);
        a == b || (a - b).abs() <= NUMBERS * b + rounding(j)
    };
    let cols = learned.centre().len();
    stated.centre().len() == cols && stated.scale().len() == cols && (0..cols).all(|j| centre(j) && scale(j))
}

/// Linear discriminants agree when the terms that they add up to do, beside the largest; others number by number.
pub(super) fn discriminants_agree(stated: &Discriminant, found: &Discriminant, summary: &ColumnSummary) -> bool {
    match (stated, found) {
        (Discriminant::Linear(a), Discriminant::Linear(b)) => lines_agree(a, b, summary),
        (a, b) => {
            let value = |d: &Discriminant| serde_json::to_value(d).unwrap_or_default();
            value_differences(&value(a), &value(b), Discriminant::ROLES, Closeness::Within(NUMBERS)).is_empty()
        }
    }
}

fn lines_agree(a: &Linear, b: &Linear, summary: &ColumnSummary) -> bool {
    if a.n_scores() != b.n_scores() || a.n_cols() != b.n_cols() {
        return false;
    }
    let spread: Vec<f64> = summary.variance.iter().map(|v| v.sqrt()).collect();
    let centres = (0..a.n_cols()).all(|j| {
        let (p, q) = (a.centre()[j], b.centre()[j]);
        p == q || (p - q).abs() <= NUMBERS * spread[j] + 8.0 * f64::EPSILON * summary.mean[j].abs()
    });
    let score = |k: usize| {
        let (v, w) = (a.weights_of(k), b.weights_of(k));
        let largest = w.iter().zip(&spread).map(|(w, s)| (w * s).abs()).fold(0.0, f64::max);
        let weights =
            (0..w.len()).all(|j| v[j] == w[j] || (w[j] != 0.0 && (v[j] - w[j]).abs() * spread[j] <= NUMBERS * largest));
        let (p, q) = (a.intercept_at_centre()[k], b.intercept_at_centre()[k]);
        weights && (p == q || (p - q).abs() <= NUMBERS * q.abs().max(largest))
    };
    centres && (0..a.n_scores()).all(score)
}

/// Objectives agree relative to themselves, or to the objective at zero weights: an exact fit leaves nothing but rounding.
pub(super) fn objectives_agree(stated: f64, found: f64, at_zero: f64) -> bool {
    let size = stated.abs().max(found.abs());
    stated == found || (stated - found).abs() <= NUMBERS * size + AT_ZERO * at_zero
}

/// F at zero weights, or F where that is more: what a gap is relative to.
pub(super) fn size_of_objective(certificate: &Certificate) -> f64 {
    match (certificate.gap(), certificate.relative_gap()) {
        (Some(gap), Some(relative)) if relative > 0.0 && gap.is_finite() => gap / relative,
        _ => 0.0,
    }
}

/// Certificates agree when all their numbers do; bounds that consist of rounding only by a factor.
pub(super) fn certificates_agree(stated: &Certificate, found: &Certificate) -> bool {
    if stated == found {
        return true;
    }
    let value = |c: &Certificate| serde_json::to_value(c).unwrap_or_default();
    let size = size_of_objective(found).max(size_of_objective(stated));
    let bound = |c: &Certificate| match c {
        Certificate::ClosedForm { relative_residual, .. } => *relative_residual,
        Certificate::Local { gradient, .. } => *gradient,
        Certificate::Stationary { violation } => *violation,
        other => other.relative_gap().unwrap_or(f64::INFINITY),
    };
    // Since F* ≥ 0, a bound above the objective says nothing.
    let void = found.gap().is_some() && bound(stated).min(bound(found)) > 1.0;
    let rounded = bound(stated).max(bound(found)) <= ROUNDED || void;
    // A difference of objectives carries their rounding error: much of a small difference, and all of a smaller one.
    let relative = match bound(found) {
        bound if bound > 2.0 * OBJECTIVE => CERTIFICATE + OBJECTIVE / bound,
        _ => CERTIFICATE,
    };
    let agree = |name: &str, a: f64, b: f64| {
        let apart = (a - b).abs();
        let larger = a.abs().max(b.abs());
        let alike = a * b > 0.0 && larger <= FACTOR * a.abs().min(b.abs());
        // The same arithmetic gives the same bits: a bound that is stated is not below what is found. Residuals and gradients
        // are what they are, not bounds.
        let measured = matches!(name, "relative_residual" | "gradient" | "violation");
        let proved = measured && a >= 0.0 || a >= b * (1.0 - CERTIFICATE);
        match name {
            "dual" if void => alike,
            "objective" | "dual" => apart <= NUMBERS * larger + AT_ZERO * size,
            "margin" | "hull_distance" | "norm" | "radius" | "bound" | "errors" | "total" => apart <= NUMBERS * larger,
            "smallest_eigenvalue" => apart <= CERTIFICATE * larger + AT_ZERO,
            _ if apart <= relative * larger => true,
            "relative_gap" | "relative_residual" | "gradient" | "violation" if larger <= NOTHING => proved,
            "gap" if larger <= NOTHING * size => proved,
            _ => rounded && alike && proved,
        }
    };
    match (value(stated), value(found)) {
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(name, v)| b.get(name).is_some_and(|w| agree_within(name, v, w, &agree)))
        }
        _ => false,
    }
}

fn agree_within(name: &str, a: &Value, b: &Value, agree: &dyn Fn(&str, f64, f64) -> bool) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(n, v)| b.get(n).is_some_and(|w| agree_within(n, v, w, agree)))
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(v, w)| agree_within(name, v, w, agree))
        }
        (a, b) if a == b => true,
        (a, b) => matches!((a.as_f64(), b.as_f64()), (Some(x), Some(y)) if a.is_f64() && agree(name, x, y)),
    }
}

/// Calibrations agree when they give the same probabilities by about the same numbers.
pub(super) fn calibrations_agree(stated: &Value, found: &Value, difference: f64) -> bool {
    let roles = crate::artifact::CrossFitted::ROLES;
    difference <= PROBABILITIES && value_differences(stated, found, roles, Closeness::Within(MAP)).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gap(gap: f64) -> Certificate {
        Certificate::DualityGap {
            objective: 0.5,
            dual: 0.5,
            gap,
            relative_gap: gap / 0.5,
            weight_distance: None,
            intercept_distance: None,
            ridge_added: None,
            errors: None,
        }
    }

    #[test]
    fn a_stated_bound_is_not_below_the_one_found() {
        let found = gap(8e-27);
        for (stated, agrees) in [(8e-27, true), (1.1e-26, true), (7e-27, false), (2.1e-27, false), (0.0, false)] {
            assert_eq!(certificates_agree(&gap(stated), &found), agrees, "{stated:e}");
        }
        let found = gap(4e-15);
        for (stated, agrees) in [(4e-15, true), (1.2e-14, true), (3.9e-15, false), (1e-15, false)] {
            assert_eq!(certificates_agree(&gap(stated), &found), agrees, "{stated:e}");
        }
    }
}
