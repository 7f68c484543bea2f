//! The hinge of several classes: `θ = p − e_y` with probabilities p of the classes, `FY = Σ_k p_k (max h − h_k)` with
//! `h_k = z_k + 1{k≠y}`.
//!
//! The probabilities of a row are the given ones of the other classes, and what they leave for its own (all over their
//! sum where that exceeds one). For free intercepts `Σsp_k` must be the weight n_k of class k: with `D_k = Σsp_k − n_k`,
//! `p′ = (1−t)p + (tΣsp − D)/S` has that, and no negative entry if `t ≥ D_k/Σsp_k` for all k.

use super::{DualTask, Enclosed, ImbalanceSums, RowTerms, ScoredRows};
use crate::error::Result;
use crate::numeric::{CompensatedSum, UNIT, rounding_bound};
use crate::objective::{CrammerSinger, Loss};
use serde::{Deserialize, Serialize};

/// t, and what is added to every row.
#[derive(Serialize, Deserialize)]
pub struct MixedMultipliers {
    share: f64,
    added: Vec<f64>,
    /// How far an entry may be from the exact one.
    error: f64,
}

/// The probabilities of a row before they are mixed; the given `p_y` is ignored.
fn plain(given: &[f64], own: usize, p: &mut [f64]) {
    p.iter_mut().zip(given).for_each(|(p, g)| *p = g.max(0.0));
    p[own] = 0.0;
    let others: f64 = p.iter().sum();
    if others > 1.0 {
        p.iter_mut().for_each(|p| *p /= others);
    }
    p[own] = (1.0 - others).max(0.0);
}

impl Enclosed for CrammerSinger {
    type DualPoint = MixedMultipliers;

    fn n_imbalances(&self) -> usize {
        3 * self.n_classes() + 1
    }

    fn add_imbalance(&self, rows: &ScoredRows<'_>, row: usize, s: f64, sums: &mut [CompensatedSum]) {
        let k = self.n_classes();
        let (mut p, own) = (vec![0.0; k], rows.labels[row].index());
        plain(rows.multipliers.map_or(&[][..], |m| &m[row * k..][..k]), own, &mut p);
        let others: f64 = (0..k).filter(|c| *c != own).map(|c| p[c]).sum();
        for c in 0..k {
            let excess = if c == own { -others } else { p[c] };
            sums[c].add(s * excess);
            sums[k + c].add(s * excess.abs());
            sums[2 * k + c].add(s * p[c]);
        }
        sums[3 * k].add(s);
    }

    fn feasible(
        &self,
        task: &DualTask,
        sums_at: &mut dyn FnMut(&[f64]) -> Result<ImbalanceSums>,
    ) -> Result<std::result::Result<MixedMultipliers, String>> {
        let k = self.n_classes();
        if !task.multipliers {
            return Ok(Err("this loss is proved by its multipliers".into()));
        }
        let rounding = rounding_bound(2 * k + 16);
        if !task.balanced {
            return Ok(Ok(MixedMultipliers { share: 0.0, added: vec![0.0; k], error: rounding }));
        }
        let sums = sums_at(&[])?.values();
        let total = sums[3 * k];
        let error = |c: usize| rounding * (sums[k + c] + sums[2 * k + c]);
        let needed = |c: usize| match (sums[c] + error(c)) / (sums[2 * k + c] * (1.0 - rounding)) {
            // A class with `Σsp_k = 0` sets no lower bound on t.
            share if sums[2 * k + c] > 0.0 => share,
            _ => 0.0,
        };
        let share = (0..k).map(needed).fold(0.0, f64::max) * (1.0 + rounding);
        if !(share < 1.0) {
            return Ok(Err("the multipliers of the classes cannot be balanced".into()));
        }
        let added = (0..k).map(|c| ((share * sums[2 * k + c] - sums[c]) / total).max(0.0));
        let worst = (0..k).map(|c| 2.0 * error(c) / total).fold(0.0, f64::max);
        Ok(Ok(MixedMultipliers { share, added: added.collect(), error: worst + rounding }))
    }

    fn theta(&self, rows: &ScoredRows<'_>, dual: &MixedMultipliers, row: usize, theta: &mut [f64], error: &mut [f64]) {
        let (k, own) = (self.n_classes(), rows.labels[row].index());
        let given = rows.multipliers.map_or(&[][..], |m| &m[row * k..][..k]);
        plain(given, own, theta);
        theta.iter_mut().zip(&dual.added).for_each(|(p, g)| *p = (1.0 - dual.share) * *p + g);
        theta[own] = -(0..k).filter(|c| *c != own).map(|c| theta[c]).sum::<f64>();
        error.fill(dual.error + 4.0 * UNIT);
    }

    fn terms(&self, rows: &ScoredRows<'_>, dual: &MixedMultipliers, shrink: f64, row: usize) -> RowTerms {
        let (k, own) = (self.n_classes(), rows.labels[row].index());
        let (z, mut p) = (&rows.scores[row * k..][..k], vec![0.0; k]);
        plain(rows.multipliers.map_or(&[][..], |m| &m[row * k..][..k]), own, &mut p);
        let h = |c: usize| z[c] + if c == own { 0.0 } else { 1.0 };
        let highest = (0..k).map(h).fold(f64::NEG_INFINITY, f64::max);
        let widest = (0..k).map(|c| highest - h(c)).fold(0.0, f64::max);
        let of_class = |c: usize| {
            let mixed = (1.0 - dual.share) * p[c] + dual.added[c];
            let p = shrink * mixed + if c == own { 1.0 - shrink } else { 0.0 };
            p * (highest - h(c))
        };
        let error = 2.0 * rows.errors[row] + 4.0 * UNIT * (1.0 + z.iter().fold(0.0f64, |m, z| m.max(z.abs())));
        let fenchel_young = (0..k).map(of_class).sum::<f64>() + k as f64 * (dual.error + 4.0 * UNIT) * widest + error;
        RowTerms { fenchel_young, loss_error: error }
    }
}
