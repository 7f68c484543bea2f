//! A risk at a point, as sums over the rows of a place.

use crate::linalg::Square;
use crate::numeric::{CompensatedSum, Merge};
use serde::{Deserialize, Serialize};

/// Sums that are not divided by the weight of the rows and know nothing of the penalty.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct PointSums {
    /// `Σ s ℓ`.
    pub(super) loss: CompensatedSum,
    /// The gradient of that, ordered as coefficients are.
    pub(super) gradient: Vec<f64>,
    /// As [`crate::objective::Point::gradient_sums`]: one group of sums, or one for each of two classes.
    pub(super) gradient_sums: Vec<f64>,
    /// The lower triangle of the Hessian, row by row.
    pub(super) hessian: Option<Vec<f64>>,
    /// What the balance of a dual point depends on: asked for at nearly every point, so that it saves a question.
    pub(super) balance: Vec<CompensatedSum>,
}

impl Merge for PointSums {
    fn merge(&mut self, mut other: PointSums) {
        self.loss.merge(other.loss);
        add(&mut self.gradient, &other.gradient);
        // Wide sparse rows keep one group of sums where others keep one for each class, and places may differ.
        let narrower = self.gradient_sums.len().min(other.gradient_sums.len());
        in_groups_of(&mut self.gradient_sums, narrower);
        in_groups_of(&mut other.gradient_sums, narrower);
        add(&mut self.gradient_sums, &other.gradient_sums);
        if let (Some(hessian), Some(more)) = (&mut self.hessian, &other.hessian) {
            add(hessian, more);
        }
        self.balance.merge(other.balance);
    }
}

fn add(to: &mut [f64], values: &[f64]) {
    to.iter_mut().zip(values).for_each(|(a, b)| *a += b);
}

/// Adds groups of sums up to a single one of so many numbers.
fn in_groups_of(sums: &mut Vec<f64>, width: usize) {
    if width == 0 || sums.len() <= width {
        return;
    }
    let (first, rest) = sums.split_at_mut(width);
    rest.chunks(width).for_each(|group| add(first, group));
    sums.truncate(width);
}

/// The lower triangle of a matrix, row by row, times a factor.
pub(super) fn lower_triangle(matrix: &Square, factor: f64) -> Vec<f64> {
    (0..matrix.n()).flat_map(|i| (0..=i).map(move |j| (i, j))).map(|(i, j)| factor * matrix.get(i, j)).collect()
}

/// The reverse of [`lower_triangle`]; the factor multiplies again.
pub(super) fn from_lower_triangle(n: usize, values: &[f64], factor: f64) -> Square {
    Square::from_lower(n, |i, j| factor * values[i * (i + 1) / 2 + j])
}
