//! The end of a fit of few rows: from close to the optimum onto it.
//!
//! Pairs come closer by a constant factor at best. Once they have found which multipliers are strictly inside their bounds,
//! the rest is a system of linear equations: the optimum on a face of the box. Where a step leaves the box, what blocks it
//! stays at its bound; where a row at a bound wants to move in, it is let go, the worst one first. Every accepted point has
//! exact scores and a smaller gap than the last, so nothing is lost where it ends early.

use super::{Exact, SmoRun};
use crate::kernel::kernel_table;
use crate::linalg::{Factor, Square, factor};
use crate::watch::Watch;

/// Rows up to which the solution is refined to the optimum; CHANGELOG.md states it. Chosen (bench/constants.md): it
/// bounds the time.
const ROWS: usize = 2000;
/// Free multipliers up to which their linear system is solved: 500² kernel values. Chosen (bench/constants.md).
const FREE: usize = 500;
/// Active sets tried at most; every accepted one has a smaller gap. Chosen (bench/constants.md).
const FACES: usize = 20;
/// At looser tolerances than this, the default, the solution is not refined.
const TOLERANCE: f64 = 1e-6;
/// On the unit-diagonal scale, pivots below this belong to free rows that are combinations of others, as in Newton's
/// method.
const PIVOT: f64 = 1e-11;
/// Violations below this are rounding of scores, which are about one on the margin: about 500 units.
const NO_GAIN: f64 = 1e-13;

impl SmoRun<'_> {
    /// Takes multipliers that have converged to where rounding ends it.
    pub(super) fn finish(&mut self, watch: &Watch) {
        if self.task.signs.len() > ROWS || !self.definite || self.smo.tolerance > TOLERANCE {
            return;
        }
        let mut free: Vec<usize> = (0..self.exact.beta.len()).filter(|i| self.is_free(*i)).collect();
        for _ in 0..FACES {
            if free.is_empty() || free.len() > FREE || watch.halted().is_some() {
                return;
            }
            let Some((beta, intercept)) = self.on_face(&mut free, watch) else { return };
            let before = self.exact.clone();
            if !self.look(&beta, watch) || !self.improves_on(&before) {
                self.exact = before;
                return;
            }
            match self.worst_at_bound(intercept) {
                Some(row) => free.push(row),
                None => return,
            }
        }
    }

    fn is_free(&self, i: usize) -> bool {
        self.problem.low[i] < self.exact.beta[i] && self.exact.beta[i] < self.problem.high[i]
    }

    fn improves_on(&self, before: &Exact) -> bool {
        match (self.exact.certificate.gap(), before.certificate.gap()) {
            (Some(now), Some(then)) => now < then,
            _ => false,
        }
    }

    /// The minimum over the free rows inside the box, and the intercept that belongs to it. Rows that end at a bound are
    /// taken from the list. `None` where numbers fail or time is over.
    fn on_face(&self, free: &mut Vec<usize>, watch: &Watch) -> Option<(Vec<f64>, f64)> {
        let (low, high) = (self.problem.low, self.problem.high);
        let count = free.len();
        let mut table = vec![0.0; count * count];
        kernel_table::<f64>(self.problem.kernel, self.problem.rows, free, count, &mut table);
        let (mut beta, signs) = (self.exact.beta.clone(), self.task.signs);
        let mut gradient: Vec<f64> = free.iter().map(|i| self.exact.scores[*i] - signs[*i]).collect();
        let mut inside: Vec<usize> = (0..count).collect();
        let intercept = loop {
            let (step, intercept) = newton(&table, count, &inside, &gradient, self.task.has_intercept)?;
            let room = |(at, s): (&usize, &f64)| {
                let i = free[*at];
                let bound = if *s > 0.0 { high[i] } else { low[i] };
                if *s == 0.0 { f64::INFINITY } else { ((bound - beta[i]) / s).max(0.0) }
            };
            let rooms: Vec<f64> = inside.iter().zip(&step).map(room).collect();
            let length = rooms.iter().fold(1.0f64, |a, r| a.min(*r));
            for (at, (s, room)) in inside.iter().zip(step.iter().zip(&rooms)) {
                let i = free[*at];
                beta[i] = match *room <= length && *room < 1.0 {
                    true if *s > 0.0 => high[i],
                    true => low[i],
                    false => (beta[i] + length * s).clamp(low[i], high[i]),
                };
            }
            for (g, row) in gradient.iter_mut().zip(table.chunks_exact(count)) {
                *g += length * inside.iter().zip(&step).map(|(at, s)| row[*at] * s).sum::<f64>();
            }
            if length == 1.0 {
                break intercept;
            }
            inside = inside.iter().zip(&rooms).filter(|(_, r)| **r > length).map(|(at, _)| *at).collect();
            if inside.is_empty() || watch.halted().is_some() {
                return None;
            }
        };
        *free = inside.iter().map(|at| free[*at]).collect();
        Some((beta, intercept))
    }

    /// The row at a bound that gains most by leaving it.
    fn worst_at_bound(&self, intercept: f64) -> Option<usize> {
        let (low, high, beta) = (self.problem.low, self.problem.high, &self.exact.beta);
        let gain = |i: usize| {
            let slope = self.exact.scores[i] - self.task.signs[i] + intercept;
            let wants_up = beta[i] == low[i] && slope < 0.0;
            let wants_down = beta[i] == high[i] && slope > 0.0;
            if low[i] < high[i] && (wants_up || wants_down) { slope.abs() } else { 0.0 }
        };
        let worst = (0..beta.len()).max_by(|a, b| gain(*a).total_cmp(&gain(*b)))?;
        (gain(worst) > NO_GAIN).then_some(worst)
    }
}

/// The step to the minimum over the rows inside with `Σ step = 0`, and the intercept b of `gradient + K step + b = 0`; without
/// an intercept b = 0 and the sum is free.
fn newton(
    table: &[f64],
    count: usize,
    inside: &[usize],
    gradient: &[f64],
    has_intercept: bool,
) -> Option<(Vec<f64>, f64)> {
    if !has_intercept {
        let matrix = Square::from_lower(inside.len(), |i, j| table[inside[i] * count + inside[j]]);
        let right: Vec<f64> = inside.iter().map(|i| -gradient[*i]).collect();
        let step = factor(&matrix, PIVOT).solve(&right);
        return step.iter().all(|s| s.is_finite()).then_some((step, 0.0));
    }
    // A constant added to K changes nothing where steps sum to zero, and gives the factor the direction of the intercept.
    let constant = inside.iter().map(|i| table[i * count + i]).sum::<f64>() / inside.len() as f64;
    let matrix = Square::from_lower(inside.len(), |i, j| table[inside[i] * count + inside[j]] + constant);
    let factor: Factor = factor(&matrix, PIVOT);
    let right: Vec<f64> = inside.iter().map(|i| gradient[*i]).collect();
    let (of_gradient, of_ones) = (factor.solve(&right), factor.solve(&vec![1.0; inside.len()]));
    let intercept = -of_gradient.iter().sum::<f64>() / of_ones.iter().sum::<f64>();
    let step: Vec<f64> = of_gradient.iter().zip(&of_ones).map(|(g, o)| -(g + intercept * o)).collect();
    (intercept.is_finite() && step.iter().all(|s| s.is_finite())).then_some((step, intercept))
}

#[cfg(test)]
mod tests {
    use crate::certify::KernelTask;
    use crate::design::{DenseMatrix, Units};
    use crate::kernel::{Kernel, KernelRows};
    use crate::solve::Smo;

    /// Two classes that overlap; every row twice where asked.
    fn drawn(rows: usize, twice: bool) -> (DenseMatrix<'static, f64>, Vec<f64>) {
        let mut state = 7u64;
        let mut uniform = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let (mut values, mut signs) = (Vec::new(), Vec::new());
        for i in 0..rows {
            let sign = if i % 2 == 0 { 1.0 } else { -1.0 };
            let row = [uniform() + 0.3 * sign, uniform(), uniform() * uniform()];
            for _ in 0..if twice { 2 } else { 1 } {
                values.extend(row);
                signs.push(sign);
            }
        }
        (DenseMatrix::new(values, 3).unwrap(), signs)
    }

    fn relative_gap(kernel: &Kernel, twice: bool, has_intercept: bool, tolerance: f64) -> f64 {
        let (x, signs) = drawn(150, twice);
        let rows = KernelRows::new(&x, &Units::identity(3), &Default::default()).unwrap();
        let task = KernelTask { signs: &signs, weights: None, lambda: 1.0 / (3.0 * signs.len() as f64), has_intercept };
        let smo = Smo { tolerance, max_iterations: 1_000_000, cache: 1 << 22 };
        let solved = smo.solve(kernel, &rows, &task, true, &Default::default()).unwrap();
        solved.certificate.relative_gap().unwrap()
    }

    /// Rows that are there twice, and planes through few columns, make equations that depend on each other.
    #[test]
    fn few_rows_end_on_the_optimum() {
        for kernel in [Kernel::Rbf { gamma: 1.0 }, Kernel::Linear] {
            for (twice, intercept) in [(false, true), (true, true), (false, false), (true, false)] {
                let gap = relative_gap(&kernel, twice, intercept, 1e-6);
                assert!(gap < 1e-12, "{kernel:?}, twice {twice}, intercept {intercept}: {gap:e}");
            }
        }
    }

    #[test]
    fn whoever_asks_for_less_is_not_kept_waiting() {
        assert!(relative_gap(&Kernel::Rbf { gamma: 1.0 }, false, true, 1e-2) > 1e-9);
    }
}
