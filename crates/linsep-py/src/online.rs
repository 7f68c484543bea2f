//! One pass of stochastic gradient steps over rows as they come, which `partial_fit` takes where there are no sums.
//!
//! scikit-learn's recursion, row by row: with the order of the rows kept the numbers are the same. It proves nothing, and the
//! model that is made of it says so.

use crate::errors::LinsepError;
use crate::fit::word;
use crate::input::{Features, doubles};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;

/// Derivatives are cut off here, as in scikit-learn.
const STEEPEST: f64 = 1e12;
/// Below this the scale of the weights is multiplied into them, so that it does not underflow.
const SMALLEST_SCALE: f64 = 1e-9;
/// The intercept of sparse rows moves so much more slowly than the weights, which seldom move.
const SPARSE_INTERCEPT: f64 = 0.01;

#[derive(Clone, Copy, PartialEq)]
enum OnlineLoss {
    Hinge,
    SquaredHinge,
    Logistic,
    Squared,
    Perceptron,
}

impl OnlineLoss {
    /// The derivative by the score `p` of a row of the class `y` = ±1.
    fn slope(self, y: f64, p: f64) -> f64 {
        let z = p * y;
        match self {
            OnlineLoss::Hinge if z <= 1.0 => -y,
            OnlineLoss::Perceptron if z <= 0.0 => -y,
            OnlineLoss::Hinge | OnlineLoss::Perceptron => 0.0,
            OnlineLoss::SquaredHinge => -2.0 * y * (1.0 - z).max(0.0),
            OnlineLoss::Logistic => -y / (1.0 + z.exp()),
            OnlineLoss::Squared => p - y,
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Rate {
    Constant,
    Optimal,
    InverseScaling,
}

/// What stays the same in a pass.
struct Steps {
    loss: OnlineLoss,
    rate: Rate,
    alpha: f64,
    l1_ratio: f64,
    penalised: bool,
    eta0: f64,
    power: f64,
    intercept: bool,
}

impl Steps {
    /// Where the rate 1/(α(t₀ + t)) begins: at a step that leaves weights of the usual size.
    fn first(&self) -> f64 {
        let usual = (1.0 / self.alpha.sqrt()).sqrt();
        let eta = usual / self.loss.slope(1.0, -usual).max(1.0);
        1.0 / (eta * self.alpha)
    }

    fn rate(&self, first: f64, t: f64) -> f64 {
        match self.rate {
            Rate::Constant => self.eta0,
            Rate::Optimal => 1.0 / (self.alpha * (first + t - 1.0)),
            Rate::InverseScaling => self.eta0 / t.powf(self.power),
        }
    }
}

/// The entries of a row: column and value.
type Entries<'a> = Box<dyn Fn(usize, &mut dyn FnMut(usize, f64)) + 'a>;

/// One class against the others.
struct Plane<'a> {
    weights: &'a mut [f64],
    intercept: f64,
    scale: f64,
}

impl Plane<'_> {
    fn score(&self, row: &Entries<'_>, at: usize) -> f64 {
        let mut sum = 0.0;
        row(at, &mut |j, x| sum += self.weights[j] * x);
        sum * self.scale + self.intercept
    }

    fn shrink(&mut self, factor: f64) {
        self.scale *= factor;
        if self.scale < SMALLEST_SCALE {
            self.settle();
        }
    }

    fn add(&mut self, row: &Entries<'_>, at: usize, step: f64) {
        let scale = self.scale;
        row(at, &mut |j, x| self.weights[j] += x * (step / scale));
    }

    fn settle(&mut self) {
        let scale = self.scale;
        self.weights.iter_mut().for_each(|w| *w *= scale);
        self.scale = 1.0;
    }

    /// The lasso by truncated gradients: no weight crosses zero (Y. Tsuruoka and others, ACL 2009).
    fn truncate(&mut self, row: &Entries<'_>, at: usize, (total, paid): (f64, &mut [f64])) {
        let scale = self.scale;
        row(at, &mut |j, _| {
            let before = self.weights[j];
            let w = &mut self.weights[j];
            if scale * *w > 0.0 {
                *w = (*w - (total + paid[j]) / scale).max(0.0);
            } else if scale * *w < 0.0 {
                *w = (*w + (total - paid[j]) / scale).min(0.0);
            }
            paid[j] += scale * (*w - before);
        });
    }
}

/// A pass over the rows in this order, for every score; changes `coef` and `intercept` in place.
#[pyfunction]
#[pyo3(signature = (x, y_codes, coef, intercept, order, *, loss, rate, alpha, l1_ratio, penalised, eta0, power, fit_intercept,
    first_step, sample_weight=None, class_factors=None))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn online_pass(
    x: &Bound<'_, PyAny>,
    y_codes: &Bound<'_, PyArray1<i64>>,
    coef: &Bound<'_, PyArray2<f64>>,
    intercept: &Bound<'_, PyArray1<f64>>,
    order: &Bound<'_, PyArray1<i64>>,
    loss: &str,
    rate: &str,
    alpha: f64,
    l1_ratio: f64,
    penalised: bool,
    eta0: f64,
    power: f64,
    fit_intercept: bool,
    first_step: f64,
    sample_weight: Option<&Bound<'_, PyAny>>,
    class_factors: Option<Vec<f64>>,
) -> PyResult<()> {
    let losses = [
        ("hinge", OnlineLoss::Hinge),
        ("squared_hinge", OnlineLoss::SquaredHinge),
        ("log_loss", OnlineLoss::Logistic),
        ("squared_error", OnlineLoss::Squared),
        ("perceptron", OnlineLoss::Perceptron),
    ];
    let rates = [("constant", Rate::Constant), ("optimal", Rate::Optimal), ("invscaling", Rate::InverseScaling)];
    let unknown = || LinsepError::new_err("no such loss or learning rate");
    let steps = Steps {
        loss: word("loss", Some(loss), &losses)?.ok_or_else(unknown)?,
        rate: word("learning_rate", Some(rate), &rates)?.ok_or_else(unknown)?,
        alpha,
        l1_ratio,
        penalised,
        eta0,
        power,
        intercept: fit_intercept,
    };
    let features = Features::of(x)?;
    let (n, cols) = (y_codes.len(), coef.shape()[1]);
    // SAFETY: nothing else runs while the interpreter is attached.
    let (codes, order) = (unsafe { y_codes.as_slice() }?, unsafe { order.as_slice() }?);
    let row = entries(&features, (n, cols))?;
    if order.iter().any(|at| !(0..n as i64).contains(at)) {
        return Err(LinsepError::new_err("an order names a row that is not there"));
    }
    let weights = doubles(sample_weight)?;
    // SAFETY: as above; the caller made the two arrays for this.
    let (coef, intercept) = (unsafe { coef.as_slice_mut() }?, unsafe { intercept.as_slice_mut() }?);
    let scores = intercept.len();
    let sparse = matches!(features, Features::Csr { .. });
    for (k, (weights_of, intercept)) in coef.chunks_exact_mut(cols).zip(intercept.iter_mut()).enumerate() {
        let mut plane = Plane { weights: weights_of, intercept: *intercept, scale: 1.0 };
        let positive = if scores == 1 { 1 } else { k as i64 };
        // Of one class against the rest the factor of that class counts, and the rest has none.
        let factors = class_factors.as_ref().map_or([1.0, 1.0], |factors| match scores {
            1 => [factors[0], factors[1]],
            _ => [1.0, factors[k]],
        });
        let rows = OnlineRows { codes, positive, weights: weights.as_deref(), factors };
        pass(&steps, &mut plane, &row, &rows, (order, first_step, sparse));
        plane.settle();
        *intercept = plane.intercept;
    }
    match coef.iter().chain(intercept.iter()).all(|w| w.is_finite()) {
        true => Ok(()),
        false => Err(LinsepError::new_err(
            "the steps diverged: scale the features, or choose a smaller eta0 or a larger alpha",
        )),
    }
}

/// What the rows of a pass are.
struct OnlineRows<'a> {
    codes: &'a [i64],
    positive: i64,
    weights: Option<&'a [f64]>,
    /// Of rows of other classes, and of the positive one.
    factors: [f64; 2],
}

fn pass(
    steps: &Steps,
    plane: &mut Plane<'_>,
    row: &Entries<'_>,
    rows: &OnlineRows<'_>,
    (order, first_step, sparse): (&[i64], f64, bool),
) {
    let first = if steps.rate == Rate::Optimal { steps.first() } else { 0.0 };
    let lasso = steps.penalised && steps.l1_ratio > 0.0;
    let (mut t, mut total, mut paid) = (first_step, 0.0, vec![0.0; if lasso { plane.weights.len() } else { 0 }]);
    for at in order {
        let at = *at as usize;
        let is_positive = rows.codes[at] == rows.positive;
        let y = if is_positive { 1.0 } else { -1.0 };
        let eta = steps.rate(first, t);
        let slope = steps.loss.slope(y, plane.score(row, at)).clamp(-STEEPEST, STEEPEST);
        let step = -eta * slope * (rows.factors[usize::from(is_positive)] * rows.weights.map_or(1.0, |w| w[at]));
        if steps.penalised {
            plane.shrink((1.0 - (1.0 - steps.l1_ratio) * eta * steps.alpha).max(0.0));
        }
        if step != 0.0 {
            plane.add(row, at, step);
            if steps.intercept {
                plane.intercept += step * if sparse { SPARSE_INTERCEPT } else { 1.0 };
            }
        }
        if lasso {
            total += steps.l1_ratio * eta * steps.alpha;
            plane.truncate(row, at, (total, &mut paid));
        }
        t += 1.0;
    }
}

/// The entries of the rows, lent.
fn entries<'a>(features: &'a Features<'_>, (rows, cols): (usize, usize)) -> PyResult<Entries<'a>> {
    let shape = |found: &[usize]| match found == [rows, cols] {
        true => Ok(()),
        false => Err(LinsepError::new_err(format!("features of shape {found:?} for {rows} labels and {cols} weights"))),
    };
    match features {
        Features::F64(array) => {
            shape(array.shape())?;
            // SAFETY: the interpreter is attached while the pass runs.
            let values = unsafe { array.as_slice() }?;
            Ok(Box::new(move |i, tell| {
                values[i * cols..(i + 1) * cols].iter().enumerate().for_each(|(j, x)| tell(j, *x))
            }))
        }
        Features::F32(array) => {
            shape(array.shape())?;
            // SAFETY: as above.
            let values = unsafe { array.as_slice() }?;
            Ok(Box::new(move |i, tell| {
                values[i * cols..(i + 1) * cols].iter().enumerate().for_each(|(j, x)| tell(j, f64::from(*x)))
            }))
        }
        Features::Csr { starts, indices, values, cols: width } => {
            shape(&[starts.len() - 1, *width])?;
            let (indices, values) = (indices.copied()?, values.copied()?);
            if starts.last() != Some(&values.len()) || indices.iter().any(|j| *j as usize >= *width) {
                return Err(LinsepError::new_err("a sparse entry is beyond the last column"));
            }
            Ok(Box::new(move |i, tell| {
                (starts[i]..starts[i + 1]).for_each(|e| tell(indices[e] as usize, values[e]));
            }))
        }
        Features::Table(_) => Err(LinsepError::new_err("a table is no matrix")),
    }
}
