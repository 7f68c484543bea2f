//! A step for problems in which few rows move far.
//!
//! A rare level whose rows all have one class is pushed out until a small ridge holds it: Newton's quadratic model is
//! wrong for just those rows, and each step moves them by about one unit of the score. Here the loss of the rows that
//! the Newton direction moves far is kept exact and only the rest is replaced by its quadratic model:
//!
//! `m(d) = (∇F − ∇F_S)·d + ½ dᵀ(H − H_S)d + F_S(w + d)`, S the far rows, `F_S` their share of the mean loss.
//!
//! m is convex, and its Newton iterations cost only passes over S.

use crate::error::Result;
use crate::linalg::{Square, dot, factor};
use crate::objective::line_search::DECREASE;
use crate::objective::{Coef, CurvedLoss, Detail, Line, Point, Ridge, Risk};
use crate::solve::smooth::part::RowPart;
use crate::watch::Watch;

/// A score that moves by more than this leaves the range in which its loss is about quadratic: the curvature of a
/// logistic loss changes by at most e^0.3. Keeping these rows exact took covtype from 9 passes to 6, softmax of its
/// seven classes from 61 to 18 (bench/README.md); other values were not recorded.
const FAR: f64 = 0.3;
/// With more far rows than this share the model costs about as much as Newton steps on all rows. Chosen
/// (bench/constants.md).
const LARGEST_SHARE: f64 = 0.125;
/// Inner Newton steps at most: scores move by about one in each, so enough for tens. Chosen (bench/constants.md).
const INNER: usize = 40;
/// Pivots on the unit-diagonal scale below this are rounding, as in Newton's method.
const ROUNDING_PIVOT: f64 = 1e-15;
/// The model is solved until its decrement, a square, is this share of the first. Chosen (bench/constants.md): only the
/// number of outer steps depends on it.
const INNER_DECREMENT: f64 = 1e-4;
/// A shorter step is not worth another pass over the far rows: ten halvings.
const SHORTEST: f64 = 1e-3;

/// The minimiser of the model, or `None` where no row, or too many, would move far.
pub(super) fn step<L: CurvedLoss + Clone>(
    risk: &Risk<'_, L>,
    point: &Point,
    hessian: &Square,
    newton: &Coef,
    watch: &Watch,
) -> Result<Option<Coef>> {
    let (n, k) = (risk.sample().labels.len(), risk.loss().n_scores());
    let far = far_rows(&risk.along(newton, watch)?, k);
    if far.is_empty() || far.len() as f64 > LARGEST_SHARE * n as f64 {
        return Ok(None);
    }
    let part = RowPart::of(risk.sample(), k, &far)?;
    let exact = part.risk(risk.sample(), risk.loss().clone(), Ridge::none(), risk.intercept());
    let share = exact.total_weight() / risk.total_weight();
    if share == 0.0 {
        return Ok(None);
    }
    let base = exact.at(&point.coef, Detail::Hessian, watch)?;
    let mut rest = hessian.clone();
    rest.add_scaled(-share, base.hessian.as_ref());
    let linear = point.gradient.moved(-share, &base.gradient);
    let model = FarRowModel { risk: &exact, share, rest, linear, at: &point.coef };
    model.minimise(watch).map(Some)
}

fn far_rows(line: &Line, k: usize) -> Vec<usize> {
    let range = |z: &[f64]| {
        // One score is a difference to a score that stays; several are compared with each other.
        let start = if k == 1 { (0.0, 0.0) } else { (z[0], z[0]) };
        let (low, high) = z.iter().fold(start, |(low, high), v| (v.min(low), v.max(high)));
        high - low
    };
    let rows = line.scores().chunks_exact(k).enumerate();
    rows.filter(|(_, z)| range(z) > FAR).map(|(row, _)| row).collect()
}

struct FarRowModel<'m, 'd, L> {
    risk: &'m Risk<'d, L>,
    share: f64,
    rest: Square,
    linear: Coef,
    at: &'m Coef,
}

impl<L: CurvedLoss> FarRowModel<'_, '_, L> {
    fn minimise(&self, watch: &Watch) -> Result<Coef> {
        let (k, cols) = (self.at.n_scores(), self.at.n_cols());
        let coef = |values: Vec<f64>| Coef::from_vec(values, k, cols);
        let mut d = Coef::zeros(k, cols);
        let mut point = self.risk.at(self.at, Detail::Hessian, watch)?;
        let mut first = None;
        for _ in 0..INNER {
            let curved = coef(self.rest.multiply(d.as_slice()));
            let gradient = self.linear.moved(1.0, &curved).moved(self.share, &point.gradient);
            let mut hessian = self.rest.clone();
            hessian.add_scaled(self.share, point.hessian.as_ref());
            let newton = coef(factor(&hessian, ROUNDING_PIVOT).solve(gradient.as_slice()));
            let decrement = gradient.dot(&newton);
            if decrement.is_nan() || decrement <= INNER_DECREMENT * *first.get_or_insert(decrement) {
                break;
            }
            let value = self.value(&d, point.objective);
            let mut length = 1.0;
            loop {
                let trial = d.moved(-length, &newton);
                let next = self.risk.at(&self.at.moved(1.0, &trial), Detail::Hessian, watch)?;
                if self.value(&trial, next.objective) <= value - DECREASE * length * decrement {
                    (d, point) = (trial, next);
                    break;
                }
                length *= 0.5;
                if length < SHORTEST {
                    return Ok(d);
                }
            }
        }
        Ok(d)
    }

    fn value(&self, d: &Coef, exact: f64) -> f64 {
        let quadratic = dot(&self.rest.multiply(d.as_slice()), d.as_slice());
        self.linear.dot(d) + 0.5 * quadratic + self.share * exact
    }
}
