//! Least squares without each row in turn, by a formula.
//!
//! Leaving a row of weight s out of rows of weight S takes one outer product from the centred equations: with `u = x − x̄`,
//! `r = t − t̄` and `a = sS/(S−s)` they are `(G − a·uuᵀ + P) w = c − a·u·r`. Where the penalty P does not change, Sherman and
//! Morrison give the score of that row from the fit to all, `z = t̄′ + S/(S−s) · (u·w − a·r·h)/(1 − a·h)` with
//! `h = uᵀ(G + P)⁻¹u` (Allen's PRESS, 1974). Where it acts on standardised columns, P changes with their variances, and the small
//! system is solved anew for each row.

use super::frame::SquaresFrame;
use super::{ALIAS_TOLERANCE, ENOUGH, LeastSquaresSettings, LeastSquaresSolver};
use crate::design::{Standardize, Training, Units};
use crate::error::Result;
use crate::linalg::{Factor, Square, dot, factor};
use crate::model::left_out::{LEFT, RowsLeftOut, for_rows};
use crate::objective::Intercept;
use crate::stats::ClassMoments;
use crate::watch::Watch;

/// The equations of all rows, in units in which the diagonal of the Gram matrix is Σs.
struct WholeSquares<'a> {
    method: &'a LeastSquaresSettings,
    frame: SquaresFrame,
    /// Whether a free intercept takes the means away.
    centred: bool,
    gram: Square,
    /// The right-hand side of each score.
    sides: Vec<Vec<f64>>,
    /// Mean target of each score; 0 where nothing is centred.
    means: Vec<f64>,
    units: Units,
    /// Columns in use.
    used: Vec<usize>,
}

impl LeastSquaresSettings {
    /// Scores of every row by the fit without it.
    pub(in crate::model) fn left_out(&self, training: &Training<'_>, watch: &Watch) -> Result<Option<RowsLeftOut>> {
        self.check(training)?;
        let by_rows = matches!(self.solver, LeastSquaresSolver::Qr | LeastSquaresSolver::GradientDescent);
        if by_rows || self.intercept == Intercept::Penalised {
            return Ok(None);
        }
        let moments = ClassMoments::of(training.design, training.labels, training.weights, watch)?;
        let reduced = self.by_moments(&moments, training.printed)?;
        // Which columns agree, or are too near to others, may differ without a row.
        if reduced.ill || !reduced.frame.left_out.is_empty() {
            return Ok(None);
        }
        let whole = WholeSquares::of(self, reduced.frame, &moments);
        let (penalised, total) = (whole.frame.lambda > 0.0, whole.frame.total);
        if penalised && self.standardize == Standardize::Yes && !whole.centred {
            return Ok(None);
        }
        let weight = |row: usize| training.weights.map_or(1.0, |w| w[row]);
        // λ(S−s) is the same for all rows of equal weight.
        let first = (0..training.labels.len()).map(weight).next().unwrap_or(1.0);
        let alike = (0..training.labels.len()).all(|row| weight(row) == first);
        let fixed = !penalised || (self.standardize == Standardize::No && alike);
        let shared = fixed.then(|| whole.factor(&whole.penalties(total - first, None)));
        if shared.as_ref().is_some_and(|f| f.rank() < whole.used.len() || f.smallest_pivot() < ENOUGH) {
            return Ok(None);
        }
        let solutions: Vec<Vec<f64>> = match &shared {
            Some(factor) => whole.sides.iter().map(|side| factor.solve(side)).collect(),
            None => Vec::new(),
        };
        let scores = whole.frame.targets.len();
        let of_row = |row: usize, u: &[f64], out: &mut [f64]| {
            let (s, class) = (weight(row), training.labels.codes()[row].index());
            if s >= total {
                return false;
            }
            match &shared {
                Some(factor) => whole.by_formula((factor, &solutions), (s, class), u, out),
                None => whole.anew((s, class), u, out),
            }
        };
        for_rows(training.design, &whole.units, scores, watch, of_row).map(Some)
    }
}

impl<'a> WholeSquares<'a> {
    fn of(method: &'a LeastSquaresSettings, frame: SquaresFrame, moments: &ClassMoments) -> WholeSquares<'a> {
        let (cols, total, centred) = (frame.cols(), frame.total, method.intercept == Intercept::Free);
        let away: Vec<Vec<f64>> = (0..frame.classes.len())
            .map(|k| moments.mean(k).iter().zip(&frame.centre).map(|(m, c)| m - c).collect())
            .collect();
        let within = moments.scatter();
        let entry = |i: usize, j: usize| {
            within.get(i, j) + away.iter().zip(&frame.classes).map(|(m, n)| n * m[i] * m[j]).sum::<f64>()
        };
        let used: Vec<usize> = (0..cols).filter(|j| frame.is_used(*j) && entry(*j, *j) > 0.0).collect();
        let mut scale = vec![1.0; cols];
        used.iter().for_each(|j| scale[*j] = (entry(*j, *j) / total).sqrt());
        let mut gram = Square::from_lower(cols, |i, j| entry(i, j) / (scale[i] * scale[j]));
        gram.keep_only(&used);
        let mean = |t: &Vec<f64>| t.iter().zip(&frame.classes).map(|(t, n)| t * n).sum::<f64>() / total;
        let means: Vec<f64> = frame.targets.iter().map(|t| if centred { mean(t) } else { 0.0 }).collect();
        let side = |(targets, mean): (&Vec<f64>, &f64)| {
            let one = |j: usize| {
                let terms = away.iter().zip(frame.classes.iter().zip(targets));
                terms.map(|(m, (n, t))| n * m[j] * (t - mean)).sum::<f64>() / scale[j]
            };
            (0..cols).map(|j| if used.binary_search(&j).is_ok() { one(j) } else { 0.0 }).collect()
        };
        let sides = frame.targets.iter().zip(&means).map(side).collect();
        let units = Units::new(frame.centre.clone(), scale);
        WholeSquares { method, frame, centred, gram, sides, means, units, used }
    }

    /// The diagonal that the penalty adds for rows of this total weight; of standardised columns `left` is the share of each
    /// column's variance, times Σs, that is left.
    fn penalties(&self, total: f64, left: Option<&[f64]>) -> Vec<f64> {
        let lambda = self.method.penalty.lambda(total);
        let scale = self.units.scale();
        (0..scale.len())
            .map(|j| match (self.method.standardize, left) {
                _ if lambda == 0.0 => 0.0,
                (Standardize::Yes, Some(left)) => lambda * left[j],
                _ => lambda * total / (scale[j] * scale[j]),
            })
            .collect()
    }

    fn factor(&self, penalties: &[f64]) -> Factor {
        let mut equations = self.gram.clone();
        self.used.iter().for_each(|j| *equations.at(*j, *j) += penalties[*j]);
        factor(&equations, ALIAS_TOLERANCE)
    }

    /// How much a row of this weight takes away, and what its own distances from the means grow by.
    fn taken(&self, s: f64) -> (f64, f64) {
        let total = self.frame.total;
        if self.centred { (s * total / (total - s), total / (total - s)) } else { (s, 1.0) }
    }

    /// The mean target of a score without the row.
    fn mean_without(&self, score: usize, s: f64, residual: f64) -> f64 {
        if self.centred { self.means[score] - s / (self.frame.total - s) * residual } else { 0.0 }
    }

    fn by_formula(
        &self,
        (factor, solutions): (&Factor, &[Vec<f64>]),
        (s, class): (f64, usize),
        u: &[f64],
        out: &mut [f64],
    ) -> bool {
        let (taken, grown) = self.taken(s);
        let leverage = factor.whiten(u).iter().map(|x| x * x).sum::<f64>();
        let left = 1.0 - taken * leverage;
        if !(left > LEFT) {
            return false;
        }
        for (score, out) in out.iter_mut().enumerate() {
            let residual = self.frame.targets[score][class] - self.means[score];
            let along = dot(u, &solutions[score]) - taken * residual * leverage;
            *out = self.mean_without(score, s, residual) + grown * along / left - self.frame.shift;
        }
        true
    }

    /// The equations without the row, solved.
    fn anew(&self, (s, class): (f64, usize), u: &[f64], out: &mut [f64]) -> bool {
        let ((taken, grown), total) = (self.taken(s), self.frame.total);
        let left: Vec<f64> = u.iter().map(|u| total - taken * u * u).collect();
        if self.used.iter().any(|j| !(left[*j] > LEFT * total)) {
            return false;
        }
        let penalties = self.penalties(total - s, Some(&left));
        let mut equations = self.gram.clone();
        let mut row = vec![0.0; u.len()];
        self.used.iter().for_each(|j| row[*j] = u[*j]);
        equations.add_outer(-taken, &row);
        self.used.iter().for_each(|j| *equations.at(*j, *j) += penalties[*j]);
        let factor = factor(&equations, ALIAS_TOLERANCE);
        if factor.rank() < self.used.len() || factor.smallest_pivot() < ENOUGH {
            return false;
        }
        for (score, out) in out.iter_mut().enumerate() {
            let residual = self.frame.targets[score][class] - self.means[score];
            let side: Vec<f64> = self.sides[score].iter().zip(&row).map(|(c, u)| c - taken * u * residual).collect();
            let along = dot(&row, &factor.solve(&side));
            *out = self.mean_without(score, s, residual) + grown * along - self.frame.shift;
        }
        true
    }
}
