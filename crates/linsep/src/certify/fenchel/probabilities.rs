//! Logistic and softmax: `θ = p* − e_y`, `FY = KL(p*‖π)` with the exact probabilities π of the scores.
//!
//! For a free intercept p* are the probabilities at the best intercepts `b + g*` for these weights: that they are best
//! *is* `Σsθ = 0`. They exist, and lie within ω of the stored ones, by the argument of `self_concordance` in as many
//! unknowns as there are classes but one: with H the curvature in the intercepts, r the imbalance,
//! `ν = ‖r‖_{H⁻¹}` and ρ the largest spread of intercepts of unit length, if `ρν < 1` then `range(g*) ≤ −ln(1−ρν)`.
//! Some Newton steps ĝ go first, so that θ̂ is near θ.
//!
//! So the log-odds of p* and π differ by at most `R = range(ĝ) + ω + (errors of the scores)`, and `KL(p*‖π) ≤ R²/8`
//! (Hoeffding's lemma), also `½ e^R (1−max p) R²`. Where the stored intercepts are near the best, their contribution has a
//! sharper bound: the mean of `KL(p*‖p)` over the rows, p those of the computed scores, *is* what the best intercepts gain,
//! `[ρν + (1−ρν) ln(1−ρν)]/ρ²` at most, and `KL(p*‖π) ≤ KL(p*‖p) + KL(p‖π) + ‖p*−p‖₁ R/2` leaves only the errors of the
//! scores to R. A lasso scales θ to `κθ`, which means `p″ = κp* + (1−κ)e_y` for p*:
//! `KL(p″‖π) ≤ KL(p″‖p*) + ‖p″−p*‖₁ R/2 + KL(p*‖π)`.

use super::{DualTask, Enclosed, ImbalanceSums, NOT_NUMBERS, RowTerms, ScoredRows};
use crate::certify::verified::VerifiedFactor;
use crate::error::Result;
use crate::linalg::Square;
use crate::numeric::{CompensatedSum, SoftmaxRow, UNIT, logistic_terms, rounding_bound, softmax_rows, vectorised};
use crate::objective::{Logistic, Loss, Softmax};
use serde::{Deserialize, Serialize};

/// Computed probabilities are within this share of those of the computed scores: 4u for the exponential (argument
/// reduction 0.7u, polynomial 3.1u, truncation 0.1u), the rest for sum, quotient and product; see `numeric::exp`.
const PROBABILITY: f64 = 16.0 * UNIT;
/// What ρν must stay below for the stored intercepts to be near the best: below it `[x + (1−x)ln(1−x)]/x² ≤ ½ + x/5`.
const NEAR: f64 = 0.1;
/// Intercepts this near the best need no further step: about 500 units of scores of order one.
const SETTLED: f64 = 1e-13;
/// Newton steps towards the best intercepts at most; convergence is quadratic once ρν < 1. Chosen (bench/constants.md):
/// without convergence there is no proof.
const STEPS: usize = 60;
/// Below this a probability has lost digits to underflow: 2⁻⁵³ of it is about the least normal double.
const TINY: f64 = 1e-290;
/// Far more than the few roundings of a logarithm and a product.
const LOGARITHM: f64 = 1.0 + 1e-12;

/// What is known of the best intercepts. The rows keep their probabilities of all classes, at the computed scores and
/// intercepts shifted by ĝ.
#[derive(Serialize, Deserialize)]
pub struct BestIntercepts {
    /// ĝ, a number per class.
    shift: Vec<f64>,
    /// Range of `ĝ + g*`: how far log-odds move.
    moved: f64,
    /// The mean of KL(p*‖p) over the rows, where the stored intercepts are near the best.
    gain: Option<f64>,
    /// Range of `g*` alone, with the rounding of the shifted scores: how far θ may be from θ̂.
    omega: f64,
}

/// `1 − p_a` by the other probabilities.
fn rest(p: &[f64], a: usize) -> f64 {
    p[..a].iter().sum::<f64>() + p[a + 1..].iter().sum::<f64>()
}

/// The largest spread of some numbers and zero.
fn range_with_zero(g: &[f64]) -> f64 {
    g.iter().fold(0.0f64, |m, g| m.max(*g)) - g.iter().fold(0.0f64, |m, g| m.min(*g))
}

impl BestIntercepts {
    fn find(
        classes: usize,
        task: &DualTask,
        sums_at: &mut dyn FnMut(&[f64]) -> Result<ImbalanceSums>,
    ) -> Result<std::result::Result<BestIntercepts, String>> {
        let mut shift = vec![0.0; classes];
        if let Some(best) = task.partly_best {
            let found = BestIntercepts { shift, moved: best.omega, gain: Some(best.gain), omega: best.omega };
            return Ok(Ok(found));
        }
        if !task.balanced {
            return Ok(Ok(BestIntercepts { shift, moved: 0.0, gain: Some(0.0), omega: 0.0 }));
        }
        // What is known of the way from the stored intercepts to the best ones, while they are near.
        let mut from_stored: Option<(f64, f64)> = None;
        let mut nearest: Option<(f64, Vec<f64>)> = None;
        for at in 0..STEPS {
            let sums = sums_at(&shift)?;
            if at == 0 && !sums.finite {
                return Ok(Err(NOT_NUMBERS.into()));
            }
            let Some(step) = Imbalance::of(classes, &sums).step() else { break };
            if step.product < NEAR {
                let omega = -(-step.product).ln_1p() * LOGARITHM;
                if at == 0 {
                    // [x + (1−x)ln(1−x)]/x² = ½ + x/6 + x²/12 + … ≤ ½ + x/5 below NEAR.
                    from_stored = Some((omega, step.length * step.length * (0.5 + 0.2 * step.product)));
                }
                // θ̂ is taken as near the best intercepts as rounding allows.
                if nearest.as_ref().is_some_and(|(best, _)| omega > 0.5 * best) || omega < SETTLED {
                    let keep = nearest.filter(|(best, _)| *best <= omega);
                    let (omega, shift) = keep.unwrap_or((omega, shift));
                    let (moved, gain) = match from_stored {
                        Some((moved, gain)) => (moved, Some(gain)),
                        None => (range_with_zero(&shift) + omega, None),
                    };
                    return Ok(Ok(BestIntercepts { shift, moved, gain, omega }));
                }
                nearest = Some((omega, shift.clone()));
            }
            // A damped Newton step always lowers a self-concordant loss; near the best a whole one is better.
            let length = if step.product < NEAR { 1.0 } else { 1.0 / (1.0 + step.product) };
            shift[1..].iter_mut().zip(&step.direction).for_each(|(g, d)| *g -= length * d);
            if shift.iter().any(|g| !g.is_finite()) {
                break;
            }
        }
        Ok(Err("no intercept balances the classes within rounding".into()))
    }

    /// How far the log-odds of computed probabilities may be from those of p*; `size` is that of the row's scores.
    fn uncertainty(&self, size: f64) -> f64 {
        self.omega + 2.0 * PROBABILITY + 8.0 * UNIT * (size + self.moved)
    }

    /// `p − e_y` of every class by its probabilities, and how far p* − e_y may be from it.
    fn theta(&self, p: &[f64], own: usize, size: f64, mut write: impl FnMut(usize, f64, f64)) {
        let ratio = self.uncertainty(size).exp_m1();
        for class in 0..p.len() {
            let others = rest(p, class);
            let theta = if class == own { -others } else { p[class] };
            // Odds within e^{±R} of each other: probabilities within p(1−p)(e^R−1). Below TINY there may be no digit.
            let error = p[class] * others.min(1.0) * ratio + 8.0 * UNIT * theta.abs() + p.len() as f64 * TINY;
            write(class, theta, error * LOGARITHM);
        }
    }

    /// Bounds for a row whose exact log-odds are within `spread` of the computed ones.
    fn terms(&self, p: &[f64], own: usize, spread: f64, size: f64, shrink: f64) -> RowTerms {
        let classes = p.len() as f64;
        let likely = (0..p.len()).fold(0, |best, c| if p[c] > p[best] { c } else { best });
        let widened = self.uncertainty(size).exp();
        let unlikely = (rest(p, likely) + classes * TINY) * widened;
        let moved = if self.gain.is_some() { 0.0 } else { self.moved };
        let r = moved + spread;
        let mut kl = (r * r / 8.0).min(0.5 * r.exp() * unlikely * r * r).min(r);
        if self.gain.is_some() {
            // |p* − p| ≤ p(1−p)(e^ω − 1) of every class.
            kl += unlikely.min(1.0) * self.moved.exp_m1() * spread;
        }
        let r = self.moved + spread;
        let missing = 1.0 - shrink;
        if missing > 0.0 {
            // p″ is κp* for the other classes, and 1 + (1−κ)(1−p*)/p* times p* for the own.
            let others = (rest(p, own) + classes * TINY) * widened;
            let others = others.min(1.0);
            // p r ln r of the own class, whose logarithm is no larger than the scores are apart; while its probability
            // has digits, p ρ²/2 too.
            let most = 2.0 * (size + self.moved) + classes.ln() + 1.0;
            let excess = missing * others * widened / p[own].max(TINY);
            let own_term =
                (p[own] * widened + missing * others) * if p[own] > TINY { excess.ln_1p().min(most) } else { most };
            let own_term =
                if p[own] > TINY { own_term.min(0.5 * p[own] * widened * excess * excess) } else { own_term };
            let other_term = (missing * missing / (2.0 * shrink)).min(1.0);
            kl += others * other_term + own_term + missing * others * r;
        }
        RowTerms { fenchel_young: kl, loss_error: spread }
    }
}

/// By how much the probabilities of the classes miss their counts, and the curvature in the intercepts of all classes but
/// the first.
struct Imbalance {
    residual: Vec<f64>,
    /// What rounding may have done to it.
    error: Vec<f64>,
    curvature: Square,
    /// The relative error of its entries.
    relative: f64,
    total: f64,
}

/// A Newton step, its length in the norm of the curvature, and that times the largest spread of a unit step.
struct InterceptStep {
    direction: Vec<f64>,
    length: f64,
    product: f64,
}

/// How many sums an [`Imbalance`] is made of: residuals and their sizes, curvatures, and the total weight.
fn imbalance_width(classes: usize) -> usize {
    let free = classes - 1;
    2 * free + free * (free + 1) / 2 + 1
}

/// Adds a row of weight s with probabilities p.
fn add_imbalance(p: &[f64], own: usize, s: f64, sums: &mut [CompensatedSum]) {
    let free = p.len() - 1;
    let mut at = 2 * free;
    for a in 1..p.len() {
        let others = rest(p, a);
        let theta = if a == own { -others } else { p[a] };
        sums[a - 1].add(s * theta);
        sums[free + a - 1].add(s * theta.abs());
        for b in 1..a {
            sums[at].add(-s * p[a] * p[b]);
            at += 1;
        }
        sums[at].add(s * p[a] * others);
        at += 1;
    }
    sums[at].add(s);
}

impl Imbalance {
    fn of(classes: usize, of_rows: &ImbalanceSums) -> Imbalance {
        let free = classes - 1;
        let pairs = free * (free + 1) / 2;
        let sums = of_rows.values();
        let total = sums[2 * free + pairs];
        // Compensated sums, of terms each of which has a few roundings.
        let relative = 4.0 * PROBABILITY + rounding_bound(2 * classes + 32);
        Imbalance {
            residual: sums[..free].iter().map(|r| r / total).collect(),
            error: sums[free..2 * free]
                .iter()
                .map(|size| (relative * size + of_rows.rows as f64 * TINY) / total)
                .collect(),
            curvature: Square::from_lower(free, |a, b| sums[2 * free + a * (a + 1) / 2 + b] / total),
            relative,
            total,
        }
    }

    /// `None` where the curvature is not proved to be positive definite.
    fn step(&self) -> Option<InterceptStep> {
        let size = |a: usize, b: usize| self.relative * self.curvature.get(a, b).abs() + TINY / self.total;
        let factor = VerifiedFactor::new(&self.curvature, size)?;
        let length = factor.norm(&self.residual, &self.error);
        let mut spreads: Vec<f64> = (0..self.residual.len()).map(|a| factor.unit_norm(a)).collect();
        spreads.sort_by(|a, b| b.total_cmp(a));
        // ‖e_a − e_b‖ ≤ ‖e_a‖ + ‖e_b‖.
        let widest = spreads.iter().take(2).sum::<f64>();
        let product = length * widest;
        product.is_finite().then(|| InterceptStep { direction: factor.solve(&self.residual), length, product })
    }
}

vectorised! {
    /// The probabilities of both classes of every row, at shifted scores.
    fn logistic_pairs(scores: &[f64], shift: f64, p: &mut [f64]) {
        for (p, z) in p.chunks_exact_mut(2).zip(scores) {
            let terms = logistic_terms(z + shift);
            (p[0], p[1]) = (terms.q, terms.p);
        }
    }
}

impl Enclosed for Logistic {
    type DualPoint = BestIntercepts;

    fn smoothness(&self) -> Option<f64> {
        Some(0.25)
    }

    fn mean_term(&self, dual: &BestIntercepts) -> f64 {
        dual.gain.unwrap_or(0.0)
    }

    fn n_kept(&self) -> usize {
        2
    }

    fn keep(&self, scores: &[f64], shift: &[f64], kept: &mut [f64]) {
        logistic_pairs(scores, shift[1], kept);
    }

    fn n_imbalances(&self) -> usize {
        imbalance_width(2)
    }

    fn add_imbalance(&self, rows: &ScoredRows<'_>, row: usize, s: f64, sums: &mut [CompensatedSum]) {
        add_imbalance(rows.kept(row, 2), rows.labels[row].index(), s, sums);
    }

    fn feasible(
        &self,
        task: &DualTask,
        sums_at: &mut dyn FnMut(&[f64]) -> Result<ImbalanceSums>,
    ) -> Result<std::result::Result<BestIntercepts, String>> {
        BestIntercepts::find(2, task, sums_at)
    }

    fn shift<'d>(&self, dual: &'d BestIntercepts) -> &'d [f64] {
        &dual.shift
    }

    fn theta(&self, rows: &ScoredRows<'_>, dual: &BestIntercepts, row: usize, theta: &mut [f64], error: &mut [f64]) {
        dual.theta(rows.kept(row, 2), rows.labels[row].index(), rows.scores[row].abs(), |class, t, e| {
            if class == 1 {
                (theta[0], error[0]) = (t, e);
            }
        });
    }

    fn terms(&self, rows: &ScoredRows<'_>, dual: &BestIntercepts, shrink: f64, row: usize) -> RowTerms {
        dual.terms(rows.kept(row, 2), rows.labels[row].index(), rows.errors[row], rows.scores[row].abs(), shrink)
    }
}

/// The largest score of a row.
fn largest_score(scores: &[f64]) -> f64 {
    scores.iter().fold(0.0, |m, z| m.max(z.abs()))
}

impl Enclosed for Softmax {
    type DualPoint = BestIntercepts;

    fn intercept_error(&self, dual: &BestIntercepts) -> Option<f64> {
        Some(dual.moved)
    }

    fn smoothness(&self) -> Option<f64> {
        Some(0.5)
    }

    fn mean_term(&self, dual: &BestIntercepts) -> f64 {
        dual.gain.unwrap_or(0.0)
    }

    fn n_kept(&self) -> usize {
        self.n_classes()
    }

    fn keep(&self, scores: &[f64], shift: &[f64], kept: &mut [f64]) {
        let (classes, k) = (self.n_classes(), self.n_scores());
        let fixed = classes - k;
        for (p, z) in kept.chunks_exact_mut(classes).zip(scores.chunks_exact(k)) {
            p[..fixed].fill(0.0);
            p[fixed..].iter_mut().zip(z).zip(&shift[fixed..]).for_each(|((p, z), g)| *p = z + g);
        }
        let mut terms = vec![SoftmaxRow { max: 0.0, log_sum: 0.0 }; kept.len() / classes];
        softmax_rows(classes, kept, &mut terms);
    }

    fn n_imbalances(&self) -> usize {
        imbalance_width(self.n_classes())
    }

    fn add_imbalance(&self, rows: &ScoredRows<'_>, row: usize, s: f64, sums: &mut [CompensatedSum]) {
        add_imbalance(rows.kept(row, self.n_classes()), rows.labels[row].index(), s, sums);
    }

    fn feasible(
        &self,
        task: &DualTask,
        sums_at: &mut dyn FnMut(&[f64]) -> Result<ImbalanceSums>,
    ) -> Result<std::result::Result<BestIntercepts, String>> {
        BestIntercepts::find(self.n_classes(), task, sums_at)
    }

    fn shift<'d>(&self, dual: &'d BestIntercepts) -> &'d [f64] {
        &dual.shift
    }

    fn theta(&self, rows: &ScoredRows<'_>, dual: &BestIntercepts, row: usize, theta: &mut [f64], error: &mut [f64]) {
        let (k, fixed) = (self.n_scores(), self.n_classes() - self.n_scores());
        let size = largest_score(&rows.scores[row * k..][..k]);
        dual.theta(rows.kept(row, self.n_classes()), rows.labels[row].index(), size, |class, t, e| {
            if class >= fixed {
                (theta[class - fixed], error[class - fixed]) = (t, e);
            }
        });
    }

    fn terms(&self, rows: &ScoredRows<'_>, dual: &BestIntercepts, shrink: f64, row: usize) -> RowTerms {
        let k = self.n_scores();
        let size = largest_score(&rows.scores[row * k..][..k]);
        // Two scores may err in opposite directions.
        let p = rows.kept(row, self.n_classes());
        dual.terms(p, rows.labels[row].index(), 2.0 * rows.errors[row], size, shrink)
    }
}
