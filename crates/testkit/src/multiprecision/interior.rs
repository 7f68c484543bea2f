//! A primal-dual interior point method (Mehrotra 1992) for hinges as quadratic programs:
//! `min ½ vᵀAv + Σ c_i ξ_i` subject to `a_ik·v + ξ_i ≥ r_ik` and `ξ_i ≥ 0`.
//!
//! ξ is eliminated row by row in a form that does not cancel, `Σ_k D_kE/g a_ka_kᵀ + Σ_{k<l} D_kD_l/g (a_k−a_l)(a_k−a_l)ᵀ`
//! with `g = E + ΣD`, so that complementarity may go far below doubles.

use super::real::dot;
use super::{Loss, Optimum, Problem, Real, symmetric_solve};

/// Complementarity relative to the objective at which it stops: its root is an error of the weights.
const RESIDUAL: i32 = -70;

struct Row {
    /// a and r.
    constraints: Vec<(Vec<Real>, Real)>,
    slack: Vec<Real>,
    alpha: Vec<Real>,
    xi: Real,
    mu: Real,
}

/// A Newton direction.
struct Direction {
    v: Vec<Real>,
    rows: Vec<RowDirection>,
}

struct RowDirection {
    slack: Vec<Real>,
    alpha: Vec<Real>,
    xi: Real,
    mu: Real,
}

pub(super) fn minimise(problem: &Problem, start: &[Real], max_iterations: usize) -> Optimum {
    let unknowns: Vec<usize> = (0..problem.n_unknowns()).filter(|u| problem.moves(*u)).collect();
    let mut v: Vec<Real> = unknowns.iter().map(|u| start[*u].clone()).collect();
    let ridge: Vec<Real> = unknowns.iter().map(|u| problem.ridge(*u).clone()).collect();
    let mut rows: Vec<Row> = (0..problem.rows().len()).map(|i| row(problem, &unknowns, i, &v)).collect();
    let products: usize = rows.iter().map(|r| r.alpha.len() + 1).sum();
    let enough = Real::power_of_ten(RESIDUAL);
    let place = |v: &[Real]| {
        let mut point = problem.zero();
        unknowns.iter().zip(v).for_each(|(u, v)| point[*u] = v.clone());
        point
    };
    let mut best = (place(&v), problem.objective(&place(&v)));
    let (mut undetermined, mut residual) = (Vec::new(), Real::one());
    for iteration in 0..max_iterations {
        let balance: Vec<Real> = dual_residual(&ridge, &v, &rows);
        let complementarity = total(&rows, |a, t| a * t);
        let point = place(&v);
        let objective = problem.objective(&point);
        if objective < best.1 {
            best = (point, objective);
        }
        // The dual residual is charged at the size of the weights.
        let off: Real = balance.iter().zip(&v).map(|(r, v)| (r * (v.abs() + Real::one())).abs()).sum();
        residual = &complementarity + &off;
        let small = &enough * &best.1 + Real::power_of_ten(-300);
        if residual <= small {
            let (point, objective) = best;
            return Optimum { point, objective, residual, converged: true, undetermined, iterations: iteration };
        }
        let mean = &complementarity / Real::from(products as f64);
        let matrix = normal_matrix(&ridge, &rows);
        // Predictor: straight to zero; then the centring that its step calls for, with its second-order term.
        let zero = Real::zero();
        let (predictor, _) = direction(&matrix, &balance, &rows, &zero, None);
        let length = longest(&rows, &predictor);
        let after = predicted(&rows, &predictor, &length) / Real::from(products as f64);
        let ratio = if mean.is_zero() { Real::zero() } else { &after / &mean };
        let centring = &ratio * &ratio * &ratio * &mean;
        let (step, dropped) = direction(&matrix, &balance, &rows, &centring, Some(&predictor));
        undetermined = dropped.iter().map(|d| unknowns[*d]).collect();
        // Close to the end the step may go ever closer to the boundary, which makes convergence superlinear.
        let distance = mean.sqrt().min(Real::from(0.05)).max(Real::power_of_two(-60));
        let to_boundary = Real::one() - distance;
        let length = (longest(&rows, &step) * to_boundary).min(Real::one());
        if length < Real::power_of_two(-120) {
            break;
        }
        advance(&mut v, &mut rows, &step, &length);
    }
    let converged = residual <= &best.1 * Real::power_of_ten(-50);
    let (point, objective) = best;
    Optimum { point, objective, residual, converged, undetermined, iterations: max_iterations }
}

/// The constraints of a row, strictly satisfied.
fn row(problem: &Problem, unknowns: &[usize], i: usize, v: &[Real]) -> Row {
    let (x, width, class) = (&problem.rows()[i], problem.width(), problem.class(i));
    let offset = problem.offset(i);
    // Signs of the scores in each constraint.
    let signs: Vec<Vec<(usize, i32)>> = match problem.loss() {
        Loss::Hinge => vec![vec![(0, if class == 1 { 1 } else { -1 })]],
        _ => (0..problem.n_scores()).filter(|k| *k != class).map(|k| vec![(class, 1), (k, -1)]).collect(),
    };
    let signed = |value: &Real, sign: i32| if sign > 0 { value.clone() } else { -value };
    let constraints: Vec<(Vec<Real>, Real)> = signs
        .iter()
        .map(|of| {
            let of_unknown = |u: &usize| {
                let found = of.iter().find(|(c, _)| *c == u / width);
                found.map_or(Real::zero(), |(_, sign)| signed(&x[u % width], *sign))
            };
            let known: Real = of.iter().map(|(c, sign)| signed(&offset[*c], *sign)).sum();
            (unknowns.iter().map(of_unknown).collect(), Real::one() - known)
        })
        .collect();
    let short: Vec<Real> = constraints.iter().map(|(a, r)| r - dot(a, v)).collect();
    let xi = short.iter().cloned().fold(Real::zero(), Real::max) + Real::one();
    let each = problem.share(i) / Real::from(constraints.len() as f64 + 1.0);
    Row {
        slack: short.iter().map(|s| &xi - s).collect(),
        alpha: vec![each.clone(); constraints.len()],
        xi,
        mu: each,
        constraints,
    }
}

fn total(rows: &[Row], term: impl Fn(&Real, &Real) -> Real) -> Real {
    rows.iter().map(|r| r.alpha.iter().zip(&r.slack).map(|(a, t)| term(a, t)).sum::<Real>() + term(&r.mu, &r.xi)).sum()
}

/// `Av − Σ αa`.
fn dual_residual(ridge: &[Real], v: &[Real], rows: &[Row]) -> Vec<Real> {
    let mut residual: Vec<Real> = ridge.iter().zip(v).map(|(a, v)| a * v).collect();
    for row in rows {
        for ((a, _), alpha) in row.constraints.iter().zip(&row.alpha) {
            residual.iter_mut().zip(a).for_each(|(r, a)| *r -= alpha * a);
        }
    }
    residual
}

fn add_outer(matrix: &mut [Vec<Real>], factor: &Real, a: &[Real]) {
    for i in (0..a.len()).filter(|i| !a[*i].is_zero()) {
        let scaled = factor * &a[i];
        for j in 0..=i {
            matrix[i][j] += &scaled * &a[j];
        }
    }
}

/// `A + Σ …` as above, its lower triangle.
fn normal_matrix(ridge: &[Real], rows: &[Row]) -> Vec<Vec<Real>> {
    let mut matrix: Vec<Vec<Real>> = (0..ridge.len()).map(|i| vec![Real::zero(); i + 1]).collect();
    for (i, a) in ridge.iter().enumerate() {
        matrix[i][i] = a.clone();
    }
    for row in rows {
        let (d, e, g) = row.ratios();
        for (k, (a, _)) in row.constraints.iter().enumerate() {
            add_outer(&mut matrix, &(&d[k] * &e / &g), a);
            for l in 0..k {
                let apart: Vec<Real> = a.iter().zip(&row.constraints[l].0).map(|(a, b)| a - b).collect();
                add_outer(&mut matrix, &(&d[k] * &d[l] / &g), &apart);
            }
        }
    }
    matrix
}

impl Row {
    /// D, E and g.
    fn ratios(&self) -> (Vec<Real>, Real, Real) {
        let d: Vec<Real> = self.alpha.iter().zip(&self.slack).map(|(a, t)| a / t).collect();
        let e = &self.mu / &self.xi;
        let g = d.iter().cloned().sum::<Real>() + &e;
        (d, e, g)
    }
}

/// The direction towards complementarity products of `target`; `before` supplies the second-order terms.
fn direction(
    matrix: &[Vec<Real>],
    balance: &[Real],
    rows: &[Row],
    target: &Real,
    before: Option<&Direction>,
) -> (Direction, Vec<usize>) {
    // ρ/t of every constraint and π/ξ of every row.
    let mut wanted: Vec<(Vec<Real>, Real)> = Vec::with_capacity(rows.len());
    let mut right: Vec<Real> = balance.iter().map(|b| -b).collect();
    for (i, row) in rows.iter().enumerate() {
        let (d, _, g) = row.ratios();
        let second = before.map(|b| &b.rows[i]);
        let of: Vec<Real> = (0..row.alpha.len())
            .map(|k| {
                let cross = second.map_or(Real::zero(), |s| &s.slack[k] * &s.alpha[k]);
                (target - cross) / &row.slack[k] - &row.alpha[k]
            })
            .collect();
        let cross = second.map_or(Real::zero(), |s| &s.xi * &s.mu);
        let of_xi = (target - cross) / &row.xi - &row.mu;
        let h = of.iter().cloned().sum::<Real>() + &of_xi;
        for (k, (a, _)) in row.constraints.iter().enumerate() {
            let factor = &of[k] - &d[k] * &h / &g;
            right.iter_mut().zip(a).for_each(|(r, a)| *r += &factor * a);
        }
        wanted.push((of, of_xi));
    }
    let (v, dropped) = symmetric_solve(matrix, &right);
    let of_row = |row: &Row, (of, of_xi): &(Vec<Real>, Real)| {
        let (d, e, g) = row.ratios();
        let along: Vec<Real> = row.constraints.iter().map(|(a, _)| dot(a, &v)).collect();
        let pulled: Real = d.iter().zip(&along).map(|(d, a)| d * a).sum();
        let xi = (of.iter().cloned().sum::<Real>() + of_xi - pulled) / g;
        let slack: Vec<Real> = along.iter().map(|a| a + &xi).collect();
        let alpha: Vec<Real> = of.iter().zip(&d).zip(&slack).map(|((of, d), t)| of - d * t).collect();
        let mu = of_xi - e * &xi;
        RowDirection { slack, alpha, xi, mu }
    };
    let rows = rows.iter().zip(&wanted).map(|(row, wanted)| of_row(row, wanted)).collect();
    (Direction { v, rows }, dropped)
}

/// The longest step up to one that keeps everything positive.
fn longest(rows: &[Row], step: &Direction) -> Real {
    let mut length = Real::one();
    let mut keep = |value: &Real, change: &Real| {
        if change.sign() < 0 {
            let most = -(value / change);
            if most < length {
                length = most;
            }
        }
    };
    for (row, step) in rows.iter().zip(&step.rows) {
        for k in 0..row.alpha.len() {
            keep(&row.alpha[k], &step.alpha[k]);
            keep(&row.slack[k], &step.slack[k]);
        }
        keep(&row.xi, &step.xi);
        keep(&row.mu, &step.mu);
    }
    length
}

/// Complementarity after a step.
fn predicted(rows: &[Row], step: &Direction, length: &Real) -> Real {
    let after = |a: &Real, b: &Real, da: &Real, db: &Real| (a + length * da) * (b + length * db);
    let of_row = |(row, step): (&Row, &RowDirection)| {
        let constraints = (0..row.alpha.len())
            .map(|k| after(&row.alpha[k], &row.slack[k], &step.alpha[k], &step.slack[k]))
            .sum::<Real>();
        constraints + after(&row.xi, &row.mu, &step.xi, &step.mu)
    };
    rows.iter().zip(&step.rows).map(of_row).sum()
}

fn advance(v: &mut [Real], rows: &mut [Row], step: &Direction, length: &Real) {
    v.iter_mut().zip(&step.v).for_each(|(v, d)| *v += length * d);
    for (row, step) in rows.iter_mut().zip(&step.rows) {
        for k in 0..row.alpha.len() {
            row.alpha[k] += length * &step.alpha[k];
            row.slack[k] += length * &step.slack[k];
        }
        row.xi += length * &step.xi;
        // The rows' own balance, c = Σα + μ, holds by definition.
        row.mu += length * &step.mu;
    }
}
