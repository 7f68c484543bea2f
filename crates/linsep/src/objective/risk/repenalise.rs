//! From one size of a penalty to another.

use super::{Intercept, Point, Risk};
use crate::objective::{Loss, Penalty};

impl<L: Loss, P: Penalty> Risk<'_, L, P> {
    /// A point of the same risk with another penalty as a point of this one: no pass over the data.
    pub fn repenalised(&self, point: &Point, before: &P) -> Point {
        let cols = self.n_cols();
        let mut point = Point { hessian: None, ..point.clone() };
        let (old, new) = (before.ridge(), self.penalty.ridge());
        let (coef, gradient) = (&point.coef, &mut point.gradient);
        for (i, (g, w)) in gradient.weights_mut().iter_mut().zip(coef.weights()).enumerate() {
            *g += (self.penalty.ridge_of(i % cols) - before.ridge_of(i % cols)) * w;
        }
        let mut difference = self.penalty.value(coef.weights(), cols) - before.value(coef.weights(), cols);
        if self.intercept == Intercept::Penalised {
            gradient.intercept_mut().iter_mut().zip(coef.intercept()).for_each(|(g, b)| *g += (new - old) * b);
            let lasso = self.penalty.lasso() - before.lasso();
            difference += coef.intercept().iter().map(|b| 0.5 * (new - old) * b * b + lasso * b.abs()).sum::<f64>();
        }
        point.objective += difference;
        point
    }
}
