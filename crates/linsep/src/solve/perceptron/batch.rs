//! The batch perceptron: `θ ← θ + Σ_M s y x̃ / Σ_M s` over the set M of all rows not strictly on their side.
//!
//! With the step 1/|M| an iteration moves by a mean of rows, so the iterations (not Σ|M|) are at most `R²‖θ*‖²/γ²`. Weights
//! are frequencies: a row of weight k counts k times in sum and size.

use super::MistakeDriven;
use crate::design::{LabelledRows, Pass, Rows, Units};
use crate::error::{ErrorKind, Result};
use crate::linalg::dot;
use crate::numeric::sum;
use crate::objective::Coef;
use crate::solve::Stop;
use crate::watch::{Progress, Watch};

/// The batch perceptron; a pass over the rows per iteration, in fixed blocks.
pub struct BatchPerceptron<'a> {
    rows: LabelledRows<'a>,
    units: &'a Units,
    intercept: bool,
    coef: Coef,
    mistakes: usize,
    epochs: usize,
}

/// Sums over rows on the wrong side: `Σ s y x` (in the units where rows are dense), `Σ s y`, `Σ s` and `−Σ s y θ·x̃`.
struct Wrong {
    columns: Vec<f64>,
    signed: f64,
    weight: f64,
    loss: f64,
}

impl<'a> BatchPerceptron<'a> {
    /// At θ = 0.
    pub fn new(rows: LabelledRows<'a>, units: &'a Units, intercept: bool) -> BatchPerceptron<'a> {
        let coef = Coef::zeros(1, rows.design.shape().cols);
        BatchPerceptron { rows, units, intercept, coef, mistakes: 0, epochs: 0 }
    }

    fn wrong(&self, watch: &Watch) -> Result<Wrong> {
        let cols = self.coef.n_cols();
        let (w, b) = (self.coef.weights(), self.coef.intercept()[0]);
        // For sparse rows the units are folded into the weights.
        let folded: Vec<f64> = w.iter().zip(self.units.inverse_scale()).map(|(w, s)| w * s).collect();
        let at_zero = b - sum(folded.iter().zip(self.units.centre()).map(|(w, c)| w * c));
        let new = || Wrong { columns: vec![0.0; cols], signed: 0.0, weight: 0.0, loss: 0.0 };
        Pass::new(self.rows.design, self.units).partials_of(cols + 3).reduce(
            watch,
            (0, &mut []),
            new,
            |found, range, rows, _| {
                for (i, row) in range.enumerate() {
                    let s = self.rows.weight(row);
                    let y = self.rows.side(row);
                    let score = match &rows {
                        Rows::Dense(values) => dot(&values[i * cols..(i + 1) * cols], w) + b,
                        Rows::Csr(sparse) => {
                            let (columns, values) = sparse.row(i);
                            columns.iter().zip(values).map(|(c, v)| v * folded[*c as usize]).sum::<f64>() + at_zero
                        }
                    };
                    if s == 0.0 || y * score > 0.0 {
                        continue;
                    }
                    found.signed += s * y;
                    found.weight += s;
                    found.loss -= s * y * score;
                    match &rows {
                        Rows::Dense(values) => {
                            let x = &values[i * cols..(i + 1) * cols];
                            found.columns.iter_mut().zip(x).for_each(|(f, x)| *f += s * y * x);
                        }
                        Rows::Csr(sparse) => {
                            let (columns, values) = sparse.row(i);
                            columns.iter().zip(values).for_each(|(c, v)| found.columns[*c as usize] += s * y * v);
                        }
                    }
                }
                Ok(())
            },
            |a, b| {
                a.columns.iter_mut().zip(&b.columns).for_each(|(a, b)| *a += b);
                a.signed += b.signed;
                a.weight += b.weight;
                a.loss += b.loss;
            },
        )
    }

    fn step(&mut self, wrong: &Wrong, sparse: bool) {
        let (centre, inverse) = (self.units.centre(), self.units.inverse_scale());
        for (j, w) in self.coef.weights_mut().iter_mut().enumerate() {
            let sum = match sparse {
                true => (wrong.columns[j] - wrong.signed * centre[j]) * inverse[j],
                false => wrong.columns[j],
            };
            *w += sum / wrong.weight;
        }
        if self.intercept {
            self.coef.intercept_mut()[0] += wrong.signed / wrong.weight;
        }
        self.mistakes += 1;
    }
}

impl MistakeDriven for BatchPerceptron<'_> {
    fn run(&mut self, epochs: usize, watch: &Watch) -> Result<Stop> {
        let sparse = crate::design::is_sparse(self.rows.design);
        let total = self.rows.total_weight();
        while self.epochs < epochs {
            let wrong = match self.wrong(watch) {
                Ok(wrong) => wrong,
                Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(Stop::halted(watch.halted())),
                Err(error) => return Err(error),
            };
            self.epochs += 1;
            if watch.follows() {
                watch.report(Progress::Update {
                    update: self.mistakes,
                    row: None,
                    step: if self.mistakes == 0 { 0.0 } else { 1.0 },
                    loss: wrong.loss / total,
                    before: None,
                    after: None,
                    coefficients: self.coef.as_slice(),
                });
            }
            if wrong.weight == 0.0 {
                return Ok(Stop::Converged);
            }
            self.step(&wrong, sparse);
            watch.report(Progress::Iteration {
                solver: "batch perceptron",
                iteration: self.epochs,
                objective: wrong.weight / total,
                relative_gap: None,
            });
        }
        Ok(Stop::IterationLimit)
    }

    fn coef(&self) -> Coef {
        self.coef.clone()
    }

    fn mistakes(&self) -> usize {
        self.mistakes
    }

    fn epochs(&self) -> usize {
        self.epochs
    }
}
