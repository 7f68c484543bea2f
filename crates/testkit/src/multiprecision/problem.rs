//! A risk as the library states it, on the doubles of its rows and units.

use super::real::dot;
use super::{Loss, Real};
use crate::data::Data;
use linsep::design::Units;
use linsep::discriminant::Linear;
use linsep::model::{LossChoice, PenaltyChoice, RiskMinimizer};
use linsep::objective::{Intercept, SoftmaxForm};

/// `F(w, b) = Σ sᵢ ℓ(yᵢ, w·x̂ᵢ + b + oᵢ)/Σs + Σ_j (a_j/2 w_j² + l_j |w_j|)`. Unknowns are ordered score by score, the weights
/// and then the intercept, in the units `x̂ = (x − c)/σ`.
#[derive(Debug, Clone)]
pub struct Problem {
    loss: Loss,
    scores: usize,
    /// x̂ with a one at the end; rows of weight zero are left out.
    rows: Vec<Vec<Real>>,
    classes: Vec<usize>,
    /// sᵢ/Σs.
    shares: Vec<Real>,
    /// One per score.
    offsets: Vec<Vec<Real>>,
    /// a_j and l_j of a column, the intercept last.
    ridge: Vec<Real>,
    lasso: Vec<Real>,
    has_intercept: bool,
    /// Whether models state weights that sum to zero over the classes, and intercepts, too.
    sums_to_zero: (bool, bool),
    centre: Vec<f64>,
    scale: Vec<f64>,
}

impl Problem {
    /// What a risk minimiser minimises on these rows in these units; `lambda` as the model states it.
    pub fn new(data: &Data, method: &RiskMinimizer, units: &Units, lambda: f64) -> Problem {
        let classes = data.labels.n_classes();
        let loss = loss_of(method, classes);
        let scores = loss.scores(classes);
        let counted: Vec<usize> = (0..data.rows()).filter(|i| data.weight(*i) > 0.0).collect();
        let total: Real = counted.iter().map(|i| Real::from(data.weight(*i))).sum();
        let standard =
            |x: f64, j: usize| (Real::from(x) - Real::from(units.centre()[j])) / Real::from(units.scale()[j]);
        let row = |i: usize| -> Vec<Real> {
            let columns = data.row(i).iter().enumerate().map(|(j, x)| standard(*x, j));
            columns.chain([Real::one()]).collect()
        };
        let (share_ridge, share_lasso) = match method.penalty {
            PenaltyChoice::ElasticNet { l1_ratio, .. } => (Real::one() - Real::from(l1_ratio), Real::from(l1_ratio)),
            _ => (Real::one(), Real::zero()),
        };
        let factor = |j: usize| Real::from(method.factors.get(j).copied().unwrap_or(1.0));
        let of_intercept = match method.intercept {
            Intercept::Penalised => Real::one(),
            Intercept::Free | Intercept::None => Real::zero(),
        };
        let factors: Vec<Real> = (0..data.cols).map(factor).chain([of_intercept]).collect();
        let times = |share: &Real| factors.iter().map(|f| Real::from(lambda) * share * f).collect();
        Problem {
            loss,
            scores,
            rows: counted.iter().map(|i| row(*i)).collect(),
            classes: counted.iter().map(|i| data.class(*i)).collect(),
            shares: counted.iter().map(|i| Real::from(data.weight(*i)) / &total).collect(),
            offsets: counted.iter().map(|i| offsets(data, *i, scores)).collect(),
            ridge: times(&share_ridge),
            lasso: times(&share_lasso),
            has_intercept: method.intercept != Intercept::None,
            sums_to_zero: {
                let symmetric = method.loss == LossChoice::Logistic && method.form == SoftmaxForm::Symmetric;
                let centred = classes > 2 && symmetric && !method.penalty.is_sparse();
                (centred, centred && method.intercept == Intercept::Free)
            },
            centre: units.centre().to_vec(),
            scale: units.scale().to_vec(),
        }
    }

    /// The loss.
    pub fn loss(&self) -> Loss {
        self.loss
    }

    /// Number of free scores.
    pub fn n_scores(&self) -> usize {
        self.scores
    }

    /// Number of columns, the intercept not among them.
    pub fn n_cols(&self) -> usize {
        self.scale.len()
    }

    /// Number of unknowns.
    pub fn n_unknowns(&self) -> usize {
        self.scores * self.width()
    }

    /// Unknowns of a score: the columns and the intercept.
    pub(super) fn width(&self) -> usize {
        self.n_cols() + 1
    }

    pub(super) fn rows(&self) -> &[Vec<Real>] {
        &self.rows
    }

    pub(super) fn class(&self, row: usize) -> usize {
        self.classes[row]
    }

    pub(super) fn share(&self, row: usize) -> &Real {
        &self.shares[row]
    }

    pub(super) fn offset(&self, row: usize) -> &[Real] {
        &self.offsets[row]
    }

    /// a of an unknown.
    pub(super) fn ridge(&self, unknown: usize) -> &Real {
        &self.ridge[unknown % self.width()]
    }

    /// l of an unknown.
    pub(super) fn lasso(&self, unknown: usize) -> &Real {
        &self.lasso[unknown % self.width()]
    }

    /// Whether an unknown is an intercept.
    pub fn is_intercept(&self, unknown: usize) -> bool {
        unknown % self.width() == self.n_cols()
    }

    /// Whether an unknown may move.
    pub(super) fn moves(&self, unknown: usize) -> bool {
        self.has_intercept || !self.is_intercept(unknown)
    }

    /// Scores of a row, offsets included.
    pub(super) fn scores_of(&self, point: &[Real], row: usize) -> Vec<Real> {
        let of = |c: usize| dot(&point[c * self.width()..(c + 1) * self.width()], &self.rows[row]);
        (0..self.scores).map(|c| of(c) + &self.offsets[row][c]).collect()
    }

    /// F at a point.
    pub fn objective(&self, point: &[Real]) -> Real {
        let loss: Real = (0..self.rows.len())
            .map(|i| self.shares[i].clone() * self.loss.value(self.classes[i], &self.scores_of(point, i)))
            .sum();
        loss + self.penalty(point)
    }

    /// The penalty at a point.
    pub fn penalty(&self, point: &[Real]) -> Real {
        let half = Real::from(0.5);
        let term = |(u, v): (usize, &Real)| &half * self.ridge(u) * v * v + self.lasso(u) * v.abs();
        point.iter().enumerate().map(term).sum()
    }

    /// The zero point.
    pub fn zero(&self) -> Vec<Real> {
        vec![Real::zero(); self.n_unknowns()]
    }

    /// The point that a stored model states: `w = Wσ` in ℝ, differences to the reference class where there is one, about the
    /// centre of these units.
    pub fn stated(&self, model: &Linear) -> Vec<Real> {
        let (all, cols) = (model.n_scores(), self.n_cols());
        let base = all - self.scores;
        let mut point = self.zero();
        for c in 0..self.scores {
            for j in 0..cols {
                let mut w = Real::from(model.weights_of(c + base)[j]);
                if base > 0 {
                    w -= Real::from(model.weights_of(0)[j]);
                }
                point[c * self.width() + j] = w * Real::from(self.scale[j]);
            }
            let at_centre = |k: usize| {
                let moved: Real = (0..cols)
                    .map(|j| {
                        let by = Real::from(self.centre[j]) - Real::from(model.centre()[j]);
                        Real::from(model.weights_of(k)[j]) * by
                    })
                    .sum();
                Real::from(model.intercept_at_centre()[k]) + moved
            };
            let mut b = at_centre(c + base);
            if base > 0 {
                b -= at_centre(0);
            }
            point[c * self.width() + cols] = b;
        }
        point
    }

    /// A point as a model of so many scores would state it: all classes, in the units of the columns.
    pub fn as_stated(&self, point: &[Real], all: usize) -> Vec<Vec<Real>> {
        let (width, base) = (self.width(), all - self.scores);
        let mut full = vec![vec![Real::zero(); width]; base];
        full.extend(point.chunks_exact(width).map(<[Real]>::to_vec));
        for j in 0..width {
            let centred = if j < self.n_cols() { self.sums_to_zero.0 } else { self.sums_to_zero.1 };
            if centred {
                let mean = full.iter().map(|w| w[j].clone()).sum::<Real>() / Real::from(all as f64);
                full.iter_mut().for_each(|w| w[j] -= mean.clone());
            }
            if j < self.n_cols() {
                full.iter_mut().for_each(|w| w[j] = &w[j] / Real::from(self.scale[j]));
            }
        }
        full
    }

    /// Whether models can state an unknown in one way only although the objective does not determine it: weights of
    /// columns that are constant, and what all classes share.
    pub(super) fn is_convention(&self, unknown: usize) -> bool {
        let column = unknown % self.width();
        let shared = if column < self.n_cols() { self.sums_to_zero.0 } else { self.sums_to_zero.1 };
        shared || self.rows.iter().all(|x| x[column].is_zero())
    }
}

fn loss_of(method: &RiskMinimizer, classes: usize) -> Loss {
    let reference = method.penalty == PenaltyChoice::None || method.form == SoftmaxForm::Reference;
    match (method.loss, classes) {
        (LossChoice::Logistic, 2) => Loss::Logistic,
        (LossChoice::Logistic, _) => Loss::Softmax { reference },
        (LossChoice::Squared, 2) => Loss::Squared,
        (LossChoice::Squared, _) => Loss::OneHot,
        (LossChoice::SquaredHinge, _) => Loss::SquaredHinge,
        (LossChoice::Hinge, 2) => Loss::Hinge,
        (LossChoice::Hinge, _) => Loss::CrammerSinger,
    }
}

/// Offsets per free score: exact differences to the first class where it has no score.
fn offsets(data: &Data, row: usize, scores: usize) -> Vec<Real> {
    let Some((columns, values)) = &data.offsets else { return vec![Real::zero(); scores] };
    let of_row = &values[row * columns..(row + 1) * columns];
    let base = columns - scores;
    let first = if base > 0 { Real::from(of_row[0]) } else { Real::zero() };
    of_row[base..].iter().map(|o| Real::from(*o) - &first).collect()
}
