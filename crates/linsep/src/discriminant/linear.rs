//! `g(x) = W(x − c) + b`.

use crate::design::{Design, Pass, Rows, Units};
use crate::error::{Error, Result};
use crate::linalg::multiply_rows;
use crate::watch::Watch;
use serde::{Deserialize, Serialize};

/// Linear discriminants about a centre: with a column like 1e9 + N(0,1) the form `W x + w₀` would lose nine digits to
/// cancellation, `W(x − c) + b` loses none.
///
/// ```
/// use linsep::design::DenseMatrix;
/// use linsep::discriminant::Linear;
/// let g = Linear::new(vec![2.0], vec![10.0], vec![1.0])?;
/// assert_eq!(g.intercept(), [-19.0]);
/// let x = DenseMatrix::new(vec![11.0], 1)?;
/// assert_eq!(g.scores(&x, &Default::default())?, [3.0]);
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Linear {
    weights: Vec<f64>,
    centre: Vec<f64>,
    intercept_at_centre: Vec<f64>,
}

impl Linear {
    /// From weights (score by score, in the units of the columns), the centre and the values there.
    pub fn new(weights: Vec<f64>, centre: Vec<f64>, intercept_at_centre: Vec<f64>) -> Result<Linear> {
        if weights.len() != centre.len() * intercept_at_centre.len() {
            return Err(Error::model("the weights do not fit the columns and scores"));
        }
        Ok(Linear { weights, centre, intercept_at_centre })
    }

    /// Number of scores.
    pub fn n_scores(&self) -> usize {
        self.intercept_at_centre.len()
    }

    /// Number of columns.
    pub fn n_cols(&self) -> usize {
        self.centre.len()
    }

    /// Weights of one score, in the units of the columns.
    pub fn weights_of(&self, score: usize) -> &[f64] {
        &self.weights[score * self.n_cols()..(score + 1) * self.n_cols()]
    }

    /// The centre.
    pub fn centre(&self) -> &[f64] {
        &self.centre
    }

    /// The values at the centre.
    pub fn intercept_at_centre(&self) -> &[f64] {
        &self.intercept_at_centre
    }

    /// The values at the origin, w₀.
    pub fn intercept(&self) -> Vec<f64> {
        let at_origin = |k: usize| {
            let moved = crate::numeric::sum(self.weights_of(k).iter().zip(&self.centre).map(|(w, c)| -w * c));
            self.intercept_at_centre[k] + moved
        };
        (0..self.n_scores()).map(at_origin).collect()
    }

    /// Scores of every row, row by row.
    pub fn scores(&self, design: &dyn Design, watch: &Watch) -> Result<Vec<f64>> {
        let (k, cols) = (self.n_scores(), self.n_cols());
        if design.shape().cols != cols {
            let message = format!("the model has {cols} columns, the data {}", design.shape().cols);
            return Err(Error::model(message));
        }
        let units = Units::new(self.centre.clone(), vec![1.0; cols]);
        let at_origin = self.intercept();
        let mut scores = vec![0.0; design.shape().rows * k];
        Pass::new(design, &units).reduce(
            watch,
            (k, &mut scores),
            || (),
            |(), _, rows, out| {
                match rows {
                    Rows::Dense(values) => {
                        multiply_rows(values, &self.weights, cols, k, out);
                        let add =
                            |z: &mut [f64]| z.iter_mut().zip(&self.intercept_at_centre).for_each(|(z, b)| *z += b);
                        out.chunks_exact_mut(k).for_each(add);
                    }
                    Rows::Csr(rows) => {
                        for (i, z) in out.chunks_exact_mut(k).enumerate() {
                            z.copy_from_slice(&at_origin);
                            let (columns, values) = rows.row(i);
                            for (score, z) in z.iter_mut().enumerate() {
                                let w = self.weights_of(score);
                                columns.iter().zip(values).for_each(|(c, v)| *z += v * w[*c as usize]);
                            }
                        }
                    }
                }
                Ok(())
            },
            |(), ()| (),
        )?;
        Ok(scores)
    }
}
