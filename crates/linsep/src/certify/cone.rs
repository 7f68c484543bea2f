//! The system `(v_y − v_k)·x̃ ≥ 0`, one constraint per row and other class, by plain arithmetic (two classes: `y v·x̃ ≥ 0`).
//!
//! A direction that meets all of them, some strictly, separates; weights that are positive on all of them with
//! `Σ α (e_y − e_k)⊗x̃ = 0` prove that there is none (Stiemke). A constraint is numbered `row · (K−1) + place of k among the
//! other classes`.

use crate::design::{Pass, Rows};
use crate::error::Result;
use crate::linalg::Square;
use crate::objective::{Coef, Loss, Risk};
use crate::watch::Watch;

/// The other classes of a row, in order: the k of its constraints.
pub(crate) fn others(classes: usize, own: usize) -> impl Iterator<Item = usize> {
    (0..classes).filter(move |k| *k != own)
}

/// `v_y·x̃ − v_k·x̃` of every constraint.
pub(crate) fn cone_slacks<L: Loss>(risk: &Risk<'_, L>, direction: &Coef, watch: &Watch) -> Result<Vec<f64>> {
    let line = risk.along(direction, watch)?;
    let (k, classes) = (risk.loss().n_scores(), risk.loss().n_classes());
    let labels = risk.sample().labels;
    if k == 1 {
        return Ok(line.scores().iter().zip(labels).map(|(z, y)| if y.0 == 1 { *z } else { -z }).collect());
    }
    let fixed = classes - k;
    let score = |z: &[f64], class: usize| if class < fixed { 0.0 } else { z[class - fixed] };
    let of_row = |(z, y): (&[f64], &crate::table::Class)| -> Vec<f64> {
        others(classes, y.index()).map(|c| score(z, y.index()) - score(z, c)).collect()
    };
    Ok(line.scores().chunks_exact(k).zip(labels).flat_map(of_row).collect())
}

/// How a direction meets the constraints.
#[derive(Debug, Clone, PartialEq)]
pub struct DirectionCheck {
    /// The smallest slack over the largest: below −tolerance, some constraint is violated.
    pub least: f64,
    /// Which constraints are met strictly.
    pub strict: Vec<bool>,
}

impl DirectionCheck {
    /// Whether no constraint is violated and at least one is met strictly.
    pub fn separates(&self, tolerance: f64) -> bool {
        self.least >= -tolerance && self.strict.iter().any(|s| *s)
    }

    /// Whether all constraints are met strictly.
    pub fn is_strict(&self) -> bool {
        self.strict.iter().all(|s| *s)
    }
}

/// Measures a direction on every constraint; slacks up to `tolerance` of the largest count as zero.
pub fn check_cone_direction<L: Loss>(
    risk: &Risk<'_, L>,
    direction: &Coef,
    tolerance: f64,
    watch: &Watch,
) -> Result<DirectionCheck> {
    let slacks = cone_slacks(risk, direction, watch)?;
    let largest = slacks.iter().fold(0.0f64, |m, s| m.max(s.abs()));
    if !(largest > 0.0 && largest.is_finite()) || slacks.iter().any(|s| s.is_nan()) {
        return Ok(DirectionCheck { least: f64::NEG_INFINITY, strict: vec![false; slacks.len()] });
    }
    let least = slacks.iter().fold(f64::INFINITY, |m, s| m.min(*s)) / largest;
    Ok(DirectionCheck { least, strict: slacks.iter().map(|s| *s > tolerance * largest).collect() })
}

/// The constraint weights of one row as multipliers of its scores: `Σ_k α_k (e_y − e_k)` on the scores that are free.
fn score_values(alpha: &[f64], own: usize, (k, classes): (usize, usize), out: &mut [f64]) {
    if k == 1 {
        out[0] = if own == 1 { alpha[0] } else { -alpha[0] };
        return;
    }
    let fixed = classes - k;
    out.fill(0.0);
    for (other, a) in others(classes, own).zip(alpha) {
        if own >= fixed {
            out[own - fixed] += a;
        }
        if other >= fixed {
            out[other - fixed] -= a;
        }
    }
}

/// One multiplier per row and free score, from one weight per constraint.
pub(crate) fn cone_values<L: Loss>(risk: &Risk<'_, L>, alpha: &[f64]) -> Vec<f64> {
    let (k, classes) = (risk.loss().n_scores(), risk.loss().n_classes());
    let labels = risk.sample().labels;
    let mut out = vec![0.0; labels.len() * k];
    for ((out, alpha), y) in out.chunks_exact_mut(k).zip(alpha.chunks_exact(classes - 1)).zip(labels) {
        score_values(alpha, y.index(), (k, classes), out);
    }
    out
}

/// The largest entry of `Σ α (e_y − e_k)⊗x̃`, each relative to the sum of the sizes of its terms: zero for weights that
/// prove overlap.
pub fn cone_residual<L: Loss>(risk: &Risk<'_, L>, alpha: &[f64], watch: &Watch) -> Result<f64> {
    let (sums, sizes) = cone_sums(risk, alpha, watch)?;
    let mut worst = 0.0f64;
    for (sum, size) in sums.iter().zip(&sizes) {
        // A sum whose terms are all zero has no relative residual.
        if *size > 0.0 {
            worst = worst.max(sum.abs() / size);
        } else if size.is_nan() || sum.is_nan() {
            worst = f64::INFINITY;
        }
    }
    Ok(worst)
}

/// `Σ α (e_y − e_k)⊗x̃` score by score, the intercept after the columns, and the sums of the sizes of its terms.
pub(crate) fn cone_sums<L: Loss>(risk: &Risk<'_, L>, alpha: &[f64], watch: &Watch) -> Result<(Vec<f64>, Vec<f64>)> {
    let (k, cols) = (risk.loss().n_scores(), risk.n_cols());
    let values = cone_values(risk, alpha);
    let units = risk.sample().units;
    let width = k * (cols + 1);
    let sums = Pass::new(risk.sample().design, units).partials_of(2 * width).reduce(
        watch,
        (0, &mut []),
        || vec![0.0; 2 * width],
        |sums, range, rows, _| {
            let (sum, size) = sums.split_at_mut(width);
            for (i, row) in range.enumerate() {
                for c in 0..k {
                    let r = values[row * k + c];
                    if r == 0.0 {
                        continue;
                    }
                    let at = c * (cols + 1);
                    sum[at + cols] += r;
                    size[at + cols] += r.abs();
                    match &rows {
                        Rows::Dense(x) => {
                            let x = &x[i * cols..(i + 1) * cols];
                            let sums = sum[at..at + cols].iter_mut().zip(&mut size[at..at + cols]).zip(x);
                            sums.for_each(|((sum, size), x)| {
                                *sum += r * x;
                                *size += (r * x).abs();
                            });
                        }
                        Rows::Csr(rows) => {
                            let (columns, entries) = rows.row(i);
                            for (j, v) in columns.iter().zip(entries) {
                                sum[at + *j as usize] += r * v;
                                size[at + *j as usize] += (r * v).abs();
                            }
                        }
                    }
                }
            }
            Ok(())
        },
        |a, b| a.iter_mut().zip(b).for_each(|(a, b)| *a += b),
    )?;
    let (mut sum, mut size) = (sums[..width].to_vec(), sums[width..].to_vec());
    if risk.is_sparse() {
        for (sum, size) in sum.chunks_exact_mut(cols + 1).zip(size.chunks_exact_mut(cols + 1)) {
            let (total, total_size) = (sum[cols], size[cols]);
            for (j, c) in units.centre().iter().enumerate() {
                sum[j] -= c * total;
                size[j] += c.abs() * total_size;
            }
        }
    }
    Ok((sum, size))
}

/// `Σ w a aᵀ` for one weight per constraint.
pub(crate) fn cone_gram<L: Loss>(risk: &Risk<'_, L>, weights: &[f64], watch: &Watch) -> Result<Square> {
    let (k, classes) = (risk.loss().n_scores(), risk.loss().n_classes());
    if k == 1 {
        return risk.weighted_gram(weights, watch);
    }
    let (pairs, fixed) = (k * (k + 1) / 2, classes - k);
    let labels = risk.sample().labels;
    let mut packed = vec![0.0; labels.len() * pairs];
    for ((packed, w), y) in packed.chunks_exact_mut(pairs).zip(weights.chunks_exact(classes - 1)).zip(labels) {
        for (other, w) in others(classes, y.index()).zip(w) {
            add_outer_of_difference(packed, (y.index(), other), fixed, *w);
        }
    }
    risk.weighted_gram(&packed, watch)
}

/// Adds `w (e_own − e_other)(e_own − e_other)ᵀ` to a packed matrix over the free scores.
fn add_outer_of_difference(packed: &mut [f64], (own, other): (usize, usize), fixed: usize, w: f64) {
    let at = |a: usize, b: usize| a.max(b) * (a.max(b) + 1) / 2 + a.min(b);
    let free = |class: usize| class.checked_sub(fixed);
    match (free(own), free(other)) {
        (Some(a), Some(b)) => {
            packed[at(a, a)] += w;
            packed[at(b, b)] += w;
            packed[at(a, b)] -= w;
        }
        (Some(a), None) | (None, Some(a)) => packed[at(a, a)] += w,
        (None, None) => {}
    }
}
