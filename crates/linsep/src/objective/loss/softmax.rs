//! `ℓ(y, z) = log Σₖ e^{zₖ} − z_y`.

use super::{
    Conjugate, CurvedLoss, Dual, DualPoint, DualRecipe, Loss, ScoredBlock, complement_entropy_term, entropy_term,
};
use crate::numeric::{CompensatedSum, SoftmaxRow, softmax_rows};
use crate::table::Class;
use serde::{Deserialize, Serialize};

/// Probabilities of a row may miss a sum of one by this: rounding of as many terms as classes.
const BALANCED: f64 = 1e-12;
/// A probability this far below zero is rounding: about 5 units.
const BELOW_ZERO: f64 = 1e-15;

/// Which scores are free.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SoftmaxForm {
    /// All K; a penalty makes them unique up to a common intercept.
    #[default]
    Symmetric,
    /// The first class has score zero; K−1 are free.
    Reference,
}

/// The K-class softmax loss.
#[derive(Debug, Clone, Copy)]
pub struct Softmax {
    classes: usize,
    form: SoftmaxForm,
}

impl Softmax {
    /// Softmax over `classes ≥ 2` classes.
    pub fn new(classes: usize, form: SoftmaxForm) -> Softmax {
        Softmax { classes, form }
    }

    /// Which scores are free.
    pub fn form(&self) -> SoftmaxForm {
        self.form
    }

    /// Classes without a score of their own: 0 or 1.
    fn fixed(&self) -> usize {
        usize::from(self.form == SoftmaxForm::Reference)
    }

    /// Probabilities of all K classes of a block of rows, with the per-row terms of the loss.
    fn probabilities(&self, scores: &[f64]) -> (Vec<f64>, Vec<SoftmaxRow>) {
        let (k, fixed) = (self.classes, self.fixed());
        let n = scores.len() / self.n_scores();
        let mut p = vec![0.0; n * k];
        for (p, z) in p.chunks_exact_mut(k).zip(scores.chunks_exact(k - fixed)) {
            p[fixed..].copy_from_slice(z);
        }
        let mut rows = vec![SoftmaxRow { max: 0.0, log_sum: 0.0 }; n];
        softmax_rows(k, &mut p, &mut rows);
        (p, rows)
    }
}

/// `1 − p_a`, by the other probabilities where p_a is nearly 1: the residual and the curvature of a row that is almost
/// certain are made of it.
#[inline]
fn complement(p: &[f64], a: usize) -> f64 {
    if p[a] <= 0.5 { 1.0 - p[a] } else { p[..a].iter().sum::<f64>() + p[a + 1..].iter().sum::<f64>() }
}

impl Loss for Softmax {
    fn n_scores(&self) -> usize {
        self.classes - self.fixed()
    }

    fn steepest(&self) -> Option<f64> {
        Some(1.0)
    }

    fn n_classes(&self) -> usize {
        self.classes
    }

    fn block(
        &self,
        labels: &[Class],
        scores: &[f64],
        weights: Option<&[f64]>,
        residual: &mut [f64],
        curvature: Option<&mut [f64]>,
    ) -> f64 {
        let (k, fixed, free) = (self.classes, self.fixed(), self.n_scores());
        let (p, rows) = self.probabilities(scores);
        let mut total = 0.0;
        for (i, class) in labels.iter().enumerate() {
            let s = weights.map_or(1.0, |w| w[i]);
            let z = if class.index() < fixed { 0.0 } else { scores[i * free + class.index() - fixed] };
            let loss = rows[i].log_sum + (rows[i].max - z);
            total += if s == 0.0 { 0.0 } else { s * loss };
            let out = &mut residual[i * free..(i + 1) * free];
            out.iter_mut().zip(&p[i * k + fixed..]).for_each(|(out, p)| *out = s * p);
            if class.index() >= fixed {
                out[class.index() - fixed] = -s * complement(&p[i * k..(i + 1) * k], class.index());
            }
        }
        if let Some(curvature) = curvature {
            for (i, out) in curvature.chunks_exact_mut(free * (free + 1) / 2).enumerate() {
                let s = weights.map_or(1.0, |w| w[i]);
                let p = &p[i * k..(i + 1) * k];
                let mut at = 0;
                for a in fixed..k {
                    for b in fixed..a {
                        out[at] = -s * p[a] * p[b];
                        at += 1;
                    }
                    out[at] = s * p[a] * complement(p, a);
                    at += 1;
                }
            }
        }
        total
    }

    fn shift_invariant(&self) -> bool {
        self.form == SoftmaxForm::Symmetric
    }

    fn best_constant(&self, totals: &[f64]) -> Vec<f64> {
        let logs: Vec<f64> = totals.iter().map(|t| t.ln()).collect();
        let base = match self.form {
            SoftmaxForm::Symmetric => logs.iter().sum::<f64>() / logs.len() as f64,
            SoftmaxForm::Reference => logs[0],
        };
        logs[self.fixed()..].iter().map(|l| l - base).collect()
    }
}

impl CurvedLoss for Softmax {
    /// `s(p∘d − p(p·d))`, written `s p_a Σ_b p_b (d_a − d_b)` so that almost certain rows keep their digits.
    fn curve(&self, labels: &[Class], scores: &[f64], weights: Option<&[f64]>, directions: &[f64], out: &mut [f64]) {
        let (k, fixed, free) = (self.classes, self.fixed(), self.n_scores());
        let (p, _) = self.probabilities(scores);
        for i in 0..labels.len() {
            let s = weights.map_or(1.0, |w| w[i]);
            let (p, d) = (&p[i * k..(i + 1) * k], &directions[i * free..(i + 1) * free]);
            let likely = (0..k).fold(0, |best, c| if p[c] > p[best] { c } else { best });
            let along = |c: usize| if c < fixed { 0.0 } else { d[c - fixed] };
            // Relative to the likely class the mean is a sum of small terms.
            let mean: f64 = (0..k).map(|c| p[c] * (along(c) - along(likely))).sum();
            for (a, out) in out[i * free..(i + 1) * free].iter_mut().enumerate() {
                *out = s * p[a + fixed] * (along(a + fixed) - along(likely) - mean);
            }
        }
    }

    fn curvature_bound(&self) -> f64 {
        0.5
    }

    fn self_concordant(&self) -> bool {
        true
    }
}

impl Dual for Softmax {
    /// The entropy of `p = θ + e_y`.
    fn dual_value(&self, class: Class, theta: &[f64]) -> f64 {
        let fixed = self.fixed();
        let own = |c: usize| f64::from(u8::from(c == class.index()));
        let mut p: Vec<f64> = theta.iter().enumerate().map(|(c, t)| t + own(c + fixed)).collect();
        if fixed == 1 {
            p.push(1.0 - p.iter().sum::<f64>());
        } else if (p.iter().sum::<f64>() - 1.0).abs() > BALANCED {
            return f64::NEG_INFINITY;
        }
        // A probability just below zero is one that rounding took there.
        if p.iter().any(|p| *p < -BELOW_ZERO) {
            return f64::NEG_INFINITY;
        }
        p.iter().map(|p| entropy_term(*p)).sum()
    }
}

impl Conjugate for Softmax {
    fn n_balance_sums(&self) -> usize {
        2 * self.classes
    }

    /// `Dₖ = Σs(pₖ − 1{y=k})`, then `nₖ`, the class totals.
    fn add_balance(&self, rows: ScoredBlock<'_>, sums: &mut [CompensatedSum]) {
        let k = self.classes;
        let (p, _) = self.probabilities(rows.scores);
        for (i, p) in p.chunks_exact(k).enumerate() {
            let own = rows.labels[i].index();
            sums[k + own].add(rows.weight(i));
            for c in 0..k {
                // D is summed as such: as a difference of P and n it would be lost where all rows are certain.
                sums[c].add(rows.weight(i) * if c == own { -complement(p, c) } else { p[c] });
            }
        }
    }

    /// `θ = p′ − e_y`. With `Pₖ = Σspₖ = nₖ + Dₖ`, `p′ = (1−t)p + tπ̃`, `t = maxₖ(Dₖ/Pₖ)₊`, `π̃ₖ = (nₖ − Dₖ(1−t)/t)/S` makes
    /// `Σsθ` vanish.
    fn dual_recipe(&self, balance: &[f64], balanced: bool) -> DualRecipe {
        let (excess, observed) = balance.split_at(self.classes);
        let total: f64 = observed.iter().sum();
        let share = match balanced {
            true => excess.iter().zip(observed).map(|(d, n)| d / (n + d)).fold(0.0, f64::max),
            false => 0.0,
        };
        let mixed = |(d, n): (&f64, &f64)| match share > 0.0 {
            true => ((n - d * (1.0 - share) / share) / total).max(0.0),
            false => 0.0,
        };
        DualRecipe::Mix { share, probabilities: excess.iter().zip(observed).map(mixed).collect() }
    }

    fn n_dual_sums(&self) -> usize {
        2
    }

    /// `−ℓ*(θ) = −Σ p′ log p′`.
    fn add_dual(&self, rows: ScoredBlock<'_>, recipe: &DualRecipe, shrink: f64, sums: &mut [CompensatedSum]) {
        let (k, fixed, free) = (self.classes, self.fixed(), self.n_scores());
        let DualRecipe::Mix { share, probabilities: mixed } = recipe else { return };
        let (p, _) = self.probabilities(rows.scores);
        for (i, p) in p.chunks_exact(k).enumerate() {
            let (s, own) = (rows.weight(i), rows.labels[i].index());
            let whole = |c: usize| (1.0 - share) * p[c] + share * mixed[c];
            // Shrinking θ moves the probabilities towards the class.
            let q = |c: usize| shrink * whole(c) + if c == own { 1.0 - shrink } else { 0.0 };
            let likely =
                if shrink < 0.5 { own } else { (0..k).fold(0, |best, c| if p[c] > p[best] { c } else { best }) };
            let all_but = |left_out: usize| (0..k).filter(|c| *c != left_out).map(q).sum::<f64>();
            sums[0].add(s * complement_entropy_term(all_but(likely)));
            for c in 0..k {
                if c != likely {
                    sums[0].add(s * entropy_term(q(c)));
                }
                if let Some(o) = rows.offsets.filter(|_| c >= fixed) {
                    let theta = if c == own { -all_but(c) } else { q(c) };
                    sums[1].add(s * theta * o[i * free + c - fixed]);
                }
            }
        }
    }

    fn dual_point(&self, recipe: DualRecipe, shrink: f64, balance: &[f64], dual: &[f64]) -> DualPoint {
        let (excess, observed) = balance.split_at(self.classes);
        let all: f64 = observed.iter().sum();
        let total = match &recipe {
            DualRecipe::Mix { share, probabilities: mixed } => (self.fixed()..self.classes)
                .map(|c| shrink * ((1.0 - share) * excess[c] + share * (all * mixed[c] - observed[c])))
                .collect(),
            DualRecipe::ScaleClasses(_) | DualRecipe::Shift(_) => Vec::new(),
        };
        DualPoint { entropy: dual[0], offset_term: dual[1], total, recipe }
    }
}
