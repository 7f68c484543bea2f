//! A linear kernel's machine is a plane: its scores, and how far its weights are from those of multipliers, with proved errors.

use super::enclosure::RAISE;
use super::{EnclosedValues, ProofRows, StoredRows};
use crate::design::Units;
use crate::numeric::UNIT;

/// More than what products lose that underflow: a million times the least double.
const FLOOR: f64 = 1e-300;

impl ProofRows {
    /// `w·x̂_i` of every row, for weights in the units of the kernel that are right to one unit of rounding.
    pub fn plane(&self, weights: &[f64], units: &Units) -> EnclosedValues {
        let rows = self.rows();
        let (mut values, mut errors) = (Vec::with_capacity(rows.len()), Vec::with_capacity(rows.len()));
        let shifts = || weights.iter().zip(units.centre()).zip(units.inverse_scale()).map(|((w, c), s)| w * (c * s));
        let (shift, shift_size) = match rows.stored() {
            StoredRows::Dense { .. } => (0.0, 0.0),
            StoredRows::Sparse { .. } => (crate::numeric::sum(shifts()), shifts().map(f64::abs).sum()),
        };
        let factor = RAISE * UNIT * (weights.len() as f64 + 16.0);
        let floor = FLOOR * (1.0 + weights.iter().map(|w| w.abs()).sum::<f64>());
        for i in 0..rows.len() {
            let (mut value, mut size) = (0.0, 0.0);
            rows.each_entry(i, |j, x| {
                value += weights[j] * x;
                size += (weights[j] * x).abs();
            });
            values.push(value - shift);
            errors.push(factor * (size + shift_size) + floor);
        }
        EnclosedValues { values, errors }
    }

    /// At least `‖w − Σ β_i x̂_i‖` for every β within `slack[i]` of `signed[i]` whose sum is zero.
    pub fn plane_distance(&self, weights: &[f64], signed: &[f64], slack: &[f64]) -> f64 {
        let rows = self.rows();
        let (mut sums, mut sizes) = (vec![0.0; weights.len()], vec![0.0; weights.len()]);
        let mut terms = 0.0;
        for i in (0..signed.len()).filter(|i| signed[*i] != 0.0 || slack[*i] != 0.0) {
            terms += 1.0;
            // Sparse rows are not about the centre, which takes no part where β adds up to zero.
            rows.each_entry(i, |j, x| sums[j] += signed[i] * x);
        }
        let factor = UNIT * (terms + 12.0);
        let floor = FLOOR * (1.0 + signed.iter().map(|b| b.abs()).sum::<f64>());
        for i in (0..signed.len()).filter(|i| signed[*i] != 0.0 || slack[*i] != 0.0) {
            let size = factor * signed[i].abs() + slack[i];
            rows.each_entry(i, |j, x| sizes[j] += size * x.abs());
        }
        let far = |j: usize| (weights[j] - sums[j]).abs() + sizes[j] + 2.0 * UNIT * weights[j].abs() + floor;
        RAISE * (0..weights.len()).map(|j| far(j) * far(j)).sum::<f64>().sqrt()
    }
}
