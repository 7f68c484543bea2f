//! Two classes on the two sides of a plane, with an exact margin.

use super::{Generator, Truth, check_cols};
use crate::density::{Draws, LinearForm, Parameters, default_classes};
use crate::error::{Error, Result};
use crate::table::Class;
use crate::words::{Setting, words};

/// Priors may miss a sum of one by this, as in `density::check`.
const SUM: f64 = 1e-9;

/// Rows at least a margin γ from the plane `w·x + w₀ = 0`, each on the side of its class.
///
/// Beside the plane a row is standard normal; its distance is γ plus the size of a normal number. Two rows, drawn among the
/// first block of them, face each other across the plane at 2γ, the distance of the two classes' hulls: no separator has a
/// larger margin.
pub struct Separable {
    /// The normal, of length one.
    normal: Vec<f64>,
    /// Distance of the origin on the positive side.
    offset: f64,
    weights: Vec<f64>,
    intercept: f64,
    margin: f64,
    /// Probability of the first class.
    first: f64,
}

impl Separable {
    /// Refuses a margin or weights that are not positive, and priors that are not two probabilities.
    pub fn new(weights: Vec<f64>, intercept: f64, margin: f64, priors: [f64; 2]) -> Result<Separable> {
        check_cols(weights.len())?;
        if !(margin > 0.0 && margin.is_finite()) {
            return Err(Error::usage(format!("a margin of {margin} does not separate"))
                .help(words!["choose a positive one, for example ", Setting::Margin.is("0.5")]));
        }
        let length = weights.iter().map(|w| w * w).sum::<f64>().sqrt();
        if !(length > 0.0 && length.is_finite() && intercept.is_finite()) {
            return Err(Error::usage("the weights do not name a plane").help("at least one must not be zero"));
        }
        if !priors.iter().all(|p| *p > 0.0) || !((priors[0] + priors[1] - 1.0).abs() <= SUM) {
            let sum = priors[0] + priors[1];
            return Err(Error::usage(format!("the priors must be positive and sum to one; they sum to {sum}"))
                .help(words!["for example ", Setting::Priors.is("0.2,0.8")]));
        }
        let normal = weights.iter().map(|w| w / length).collect();
        Ok(Separable { normal, offset: intercept / length, weights, intercept, margin, first: priors[0] })
    }

    /// Moves a row to a signed distance from the plane.
    fn place(&self, row: &mut [f64], distance: f64) {
        // Twice: what the first step leaves by rounding the second removes.
        for _ in 0..2 {
            let now = self.offset + row.iter().zip(&self.normal).map(|(x, w)| x * w).sum::<f64>();
            row.iter_mut().zip(&self.normal).for_each(|(x, w)| *x += (distance - now) * w);
        }
    }
}

impl Generator for Separable {
    fn kind(&self) -> &str {
        "separable"
    }

    fn cols(&self) -> usize {
        self.normal.len()
    }

    fn classes(&self) -> Vec<String> {
        default_classes(2)
    }

    fn fewest_rows(&self) -> u64 {
        2
    }

    fn fill(&self, first: u64, draws: &mut Draws, values: &mut [f64], classes: &mut [Class]) {
        let cols = self.cols();
        for (row, class) in values.chunks_exact_mut(cols).zip(classes.iter_mut()) {
            row.iter_mut().for_each(|x| *x = draws.normal());
            let (drawn, beyond) = (u32::from(!draws.chance(self.first)), draws.normal().abs());
            *class = Class(drawn);
            let distance = self.margin + beyond;
            self.place(row, if drawn == 1 { distance } else { -distance });
        }
        if first == 0 && classes.len() > 1 {
            // Two different rows.
            let n = classes.len();
            let at = |draws: &mut Draws, below: usize| (draws.uniform() * below as f64) as usize;
            let a = at(draws, n);
            let b = (a + 1 + at(draws, n - 1)) % n;
            let base = values[a * cols..(a + 1) * cols].to_vec();
            for (row, class, side) in [(a, 0, -self.margin), (b, 1, self.margin)] {
                let facing = &mut values[row * cols..(row + 1) * cols];
                facing.copy_from_slice(&base);
                self.place(facing, side);
                classes[row] = Class(class);
            }
        }
    }

    fn truth(&self, _seed: u64) -> Result<Truth> {
        let rule = LinearForm { weights: vec![self.weights.clone()], intercept: vec![self.intercept] };
        let parameters = Parameters { priors: Some(vec![self.first, 1.0 - self.first]), ..Parameters::default() };
        Ok(Truth { margin: Some(self.margin), parameters, ..Truth::certain(Some(rule)) })
    }
}
