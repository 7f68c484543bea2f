//! Scores that are linear in products of columns, as functions of the columns themselves.

use super::Quadric;
use super::scores::{Scores, too_large};
use crate::discriminant::Linear;
use crate::error::{Error, Result};
use crate::linalg::Square;

impl Scores<'_> {
    /// `w·(x − c) + Σ v (x_l x_r − c_lr) + b` is quadratic in the columns: about c, with `x = c + u`,
    /// `x_l x_r = c_l c_r + c_l u_r + c_r u_l + u_l u_r`. The products come behind the columns they are made of.
    pub(crate) fn of_products(linear: &Linear, products: &[(usize, usize)]) -> Result<Scores<'static>> {
        let Some(columns) = linear.n_cols().checked_sub(products.len()) else {
            return Err(Error::model("the model has more products than columns"));
        };
        let scores: Option<Vec<Quadric>> =
            (0..linear.n_scores()).map(|score| of_score(linear, score, columns, products)).collect();
        Ok(Scores::Quadrics { scores: scores.ok_or_else(too_large)?, n_cols: columns })
    }

    /// Scores that are linear in functions of the columns which have no simpler form: planes in the space of these functions.
    pub(crate) fn of_features(linear: &Linear) -> Scores<'static> {
        let product = |i: usize, j: usize| -> f64 {
            linear.weights_of(i).iter().zip(linear.weights_of(j)).map(|(a, b)| a * b).sum()
        };
        Scores::FeatureSpace {
            products: Square::from_lower(linear.n_scores(), product),
            intercepts: linear.intercept(),
            n_cols: linear.n_cols(),
        }
    }
}

fn of_score(linear: &Linear, score: usize, columns: usize, products: &[(usize, usize)]) -> Option<Quadric> {
    let (weights, centre) = (linear.weights_of(score), linear.centre());
    let mut form = vec![0.0; columns * columns];
    let mut gradient = weights[..columns].to_vec();
    let mut constant = linear.intercept_at_centre()[score];
    for (p, (l, r)) in products.iter().enumerate() {
        let v = weights[columns + p];
        form[l * columns + r] += v;
        form[r * columns + l] += v;
        gradient[*l] += v * centre[*r];
        gradient[*r] += v * centre[*l];
        constant += v * (centre[*l] * centre[*r] - centre[columns + p]);
    }
    let matrix = Square::from_lower(columns, |i, j| form[i * columns + j]);
    Quadric::new(centre[..columns].to_vec(), matrix, gradient, constant)
}
