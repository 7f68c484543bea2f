//! Rows to a small problem: the columns in use, the normal equations on them, and the whitening matrix for the proof.

use super::frame::SquaresFrame;
use super::{ALIAS_TOLERANCE, DESCRIBED, ENOUGH, LeastSquaresSettings, LeastSquaresSolver, QR_LIMIT};
use crate::design::Training;
use crate::error::Result;
use crate::linalg::{Alias, Factor, Square, factor, gram_of_columns, pivoted_qr, triangular_factor};
use crate::model::Note;
use crate::model::printed::{EXPLAINED, agreeing, agreeing_columns, named};
use crate::objective::QuadraticObjective;
use crate::stats::{ClassMoments, ClassTriangle};
use crate::watch::Watch;

/// A least-squares problem on the columns in use.
pub(super) struct ReducedSquares {
    pub(super) frame: SquaresFrame,
    /// The penalised normal equations, zero on unknowns that are not in use.
    pub(super) problem: QuadraticObjective,
    /// The closed-form solution, where one was computed on the way.
    pub(super) solutions: Vec<Vec<f64>>,
    /// Unknowns in use, rising.
    pub(super) kept: Vec<usize>,
    /// `TᵀHT ≈ I` on them: Tᵀ row by row in the units of the fit; `None` where they are too many.
    pub(super) whitening: Option<Vec<f64>>,
    /// Whether the normal equations are too ill-conditioned for T to be applied to them.
    pub(super) ill: bool,
    pub(super) notes: Vec<Note>,
    /// How it was done.
    pub(super) how: String,
    /// Passes over the data so far.
    pub(super) passes: usize,
}

impl LeastSquaresSettings {
    /// The problem by the statistics that its solver uses: means and scatter, unless these are too ill-conditioned.
    pub(super) fn reduce(&self, training: &Training<'_>, watch: &Watch) -> Result<ReducedSquares> {
        if self.solver == LeastSquaresSolver::Qr {
            return self.by_triangle(training, "", watch);
        }
        let moments = ClassMoments::of(training.design, training.labels, training.weights, watch)?;
        let reduced = self.by_moments(&moments, training.printed)?;
        if self.solver == LeastSquaresSolver::Cholesky || !reduced.ill || reduced.frame.cols() > QR_LIMIT {
            return Ok(reduced);
        }
        let auto = format!(" (auto: {})", reduced.how);
        let why = if self.solver == LeastSquaresSolver::Auto { &auto[..] } else { "" };
        let by_rows = self.by_triangle(training, why, watch)?;
        Ok(ReducedSquares { passes: by_rows.passes + 1, ..by_rows })
    }

    /// By means and scatter.
    pub(super) fn by_moments(&self, moments: &ClassMoments, printed: &[f64]) -> Result<ReducedSquares> {
        let mut frame = SquaresFrame::of_moments(self, moments)?;
        let mut plain = frame.normal_equations(moments);
        let first = factor(&plain.hessian, ALIAS_TOLERANCE);
        let mut notes = frame.constant_notes();
        // Printed digits matter only where a column is nearly dependent.
        let asked = frame.lambda == 0.0 && (first.smallest_pivot() < EXPLAINED || first.rank() < frame.used().len());
        if let Some(units) = frame.printed_units(printed).filter(|_| asked) {
            let block = Square::from_lower(frame.cols(), |i, j| plain.hessian.get(i, j));
            let found = agreeing(&block, &units);
            notes.extend(frame.left_out_notes(&found, |j| block.get(j, j).sqrt(), true));
            frame.leave_out(found);
            frame.restrict(&mut plain);
        }
        let mut problem = plain.clone();
        frame.penalise(&mut problem);
        let factor = factor(&problem.hessian, ALIAS_TOLERANCE);
        let whole = factor.rank() == frame.used().len();
        let length = |j: usize| plain.hessian.get(j, j).sqrt();
        if frame.lambda > 0.0 && frame.cols() <= QR_LIMIT {
            notes.extend(frame.shared_notes(first.aliased()));
        } else {
            notes.extend(frame.left_out_notes(factor.aliased(), length, false));
        }
        let notes = frame.with_rank(factor.rank(), notes);
        let how = match whole {
            true => format!("the normal equations have a pivot of {:.0e}", factor.smallest_pivot()),
            false => "the normal equations are singular".to_owned(),
        };
        let kept = factor.kept().to_vec();
        let restricted = |g: &Vec<f64>| factor.solve(g);
        Ok(ReducedSquares {
            solutions: problem.linear.iter().map(restricted).collect(),
            whitening: (kept.len() <= QR_LIMIT).then(|| whitening_of(&factor)),
            ill: !(whole && factor.smallest_pivot() >= ENOUGH),
            how: match (self.solver, whole) {
                (LeastSquaresSolver::Auto, true) if factor.smallest_pivot() >= ENOUGH => {
                    format!("smallest pivot {:.0e}", factor.smallest_pivot())
                }
                _ => how,
            },
            problem,
            kept,
            frame,
            notes,
            passes: 1,
        })
    }

    /// By a triangular factor of the rows.
    fn by_triangle(&self, training: &Training<'_>, why: &str, watch: &Watch) -> Result<ReducedSquares> {
        let triangle = ClassTriangle::of(training.design, training.labels, training.weights, watch)?;
        let mut frame = SquaresFrame::of_triangle(self, &triangle)?;
        let (penalised, n) = (frame.lambda > 0.0, frame.unknowns());
        let mut notes = frame.constant_notes();
        if let Some(units) = frame.printed_units(training.printed).filter(|_| !penalised) {
            let (rows, values) = frame.equations(&triangle, false);
            let columns: Vec<&[f64]> = values.chunks_exact(rows).take(frame.cols()).collect();
            let found = agreeing_columns(&columns, &units);
            let length = |j: usize| columns[j].iter().map(|x| x * x).sum::<f64>().sqrt();
            notes.extend(frame.left_out_notes(&found, length, true));
            frame.leave_out(found);
        }
        let (rows, values) = frame.equations(&triangle, penalised);
        let qr = pivoted_qr(rows, n, values.clone(), &frame.rank_tolerance(penalised));
        let kept = qr.kept();
        let gram = gram_of_columns(rows, n + frame.targets.len(), &values);
        let side = |score: usize| (0..n).map(|j| gram.get(n + score, j)).collect();
        let mut problem = QuadraticObjective {
            hessian: Square::from_lower(n, |i, j| gram.get(i, j)),
            linear: (0..frame.targets.len()).map(side).collect(),
        };
        restrict(&mut problem, &kept);
        if penalised {
            let (rows, values) = frame.equations(&triangle, false);
            let plain = pivoted_qr(rows, n, values, &frame.rank_tolerance(false));
            notes.extend(frame.shared_notes(&plain.aliased(usize::MAX)));
        } else {
            let length = |j: usize| gram.get(j, j).sqrt();
            notes.extend(frame.left_out_notes(&qr.aliased(usize::MAX), length, false));
        }
        let notes = frame.with_rank(kept.len(), notes);
        let columns = frame.cols() - frame.constant.len();
        let rank = kept.iter().filter(|j| **j < frame.cols()).count();
        Ok(ReducedSquares {
            solutions: (0..frame.targets.len()).map(|score| qr.solve(score)).collect(),
            whitening: (kept.len() <= QR_LIMIT).then(|| inverse_transpose(rows, &values, &kept)),
            ill: true,
            how: format!("qr, rank {rank} of {columns}{why}"),
            problem,
            kept,
            frame,
            notes,
            passes: 1,
        })
    }
}

impl SquaresFrame {
    /// Printed units of the columns in the units of the fit, where any are known.
    fn printed_units(&self, printed: &[f64]) -> Option<Vec<f64>> {
        let known = printed.len() == self.cols() && printed.iter().any(|unit| *unit > 0.0);
        known.then(|| printed.iter().zip(&self.scale).map(|(unit, scale)| unit / scale).collect())
    }

    fn leave_out(&mut self, found: Vec<Alias>) {
        self.left_out = found.into_iter().map(|alias| alias.column).collect();
    }

    fn restrict(&self, problem: &mut QuadraticObjective) {
        restrict(problem, &self.used());
    }

    fn constant_notes(&self) -> Vec<Note> {
        let note = || Note::Constant { columns: self.constant.clone() };
        (!self.constant.is_empty()).then(note).into_iter().collect()
    }

    /// The notes with one on the rank, where that is not full, before those on single columns.
    fn with_rank(&self, rank: usize, mut notes: Vec<Note>) -> Vec<Note> {
        // Columns left out for their printed digits are no lack of rank: the data would determine their weights, too.
        let columns = self.cols() - self.constant.len() - self.left_out.len();
        let missing = (columns + self.unknowns()).saturating_sub(self.cols() + rank);
        if missing > 0 {
            notes.insert(self.constant_notes().len(), Note::Rank { rank: columns - missing, columns });
        }
        notes
    }

    /// Columns left out, in the units of the columns.
    fn left_out_notes(&self, aliased: &[Alias], length: impl Fn(usize) -> f64, printed: bool) -> Vec<Note> {
        let note = |a: &Alias| {
            let combination = self.in_columns(a.column, named(a.combination.clone(), &length));
            Note::LeftOut { column: a.column, combination, printed }
        };
        aliased.iter().filter(|a| a.column < self.cols() && self.is_used(a.column)).take(DESCRIBED).map(note).collect()
    }

    /// Dependent columns under a penalty.
    fn shared_notes(&self, aliased: &[Alias]) -> Vec<Note> {
        let note = |a: &Alias| Note::Shared {
            column: a.column,
            combination: self.in_columns(a.column, a.combination.clone()),
        };
        aliased.iter().filter(|a| a.column < self.cols() && self.is_used(a.column)).take(DESCRIBED).map(note).collect()
    }

    fn in_columns(&self, column: usize, combination: Vec<(usize, f64)>) -> Vec<(usize, f64)> {
        let of_columns = combination.into_iter().filter(|(c, _)| *c < self.cols());
        of_columns.map(|(c, v)| (c, v * self.scale[column] / self.scale[c])).collect()
    }
}

/// Normal equations without the unknowns that are not in use.
fn restrict(problem: &mut QuadraticObjective, kept: &[usize]) {
    problem.hessian.keep_only(kept);
    for g in &mut problem.linear {
        (0..g.len()).filter(|j| kept.binary_search(j).is_err()).for_each(|j| g[j] = 0.0);
    }
}

/// Tᵀ from a Cholesky factor, on the unknowns it keeps.
fn whitening_of(factor: &Factor) -> Vec<f64> {
    let (whole, n) = (factor.whitening(), factor.n());
    factor
        .kept()
        .iter()
        .flat_map(|i| factor.kept().iter().map(move |j| (i, j)))
        .map(|(i, j)| whole[i * n + j])
        .collect()
}

/// `R⁻ᵀ` row by row, R the triangular factor of some columns of a column-major matrix.
fn inverse_transpose(rows: usize, values: &[f64], kept: &[usize]) -> Vec<f64> {
    let m = kept.len();
    let mut columns: Vec<f64> = kept.iter().flat_map(|j| values[j * rows..(j + 1) * rows].iter().copied()).collect();
    let r = triangular_factor(rows, m, &mut columns);
    // Row k of R⁻ᵀ solves Rᵀ-wise: column k of R⁻¹ by back substitution.
    let mut out = vec![0.0; m * m];
    for (k, row) in out.chunks_exact_mut(m.max(1)).enumerate() {
        row[k] = 1.0;
        for i in (0..=k).rev() {
            row[i] /= r[i * m + i];
            let x = row[i];
            (0..i).for_each(|l| row[l] -= r[i * m + l] * x);
        }
    }
    out
}
