//! Newton's method with halved steps, on the orthant that the signs of a lasso's weights span.
//!
//! Weights at the kink that the gradient holds there stay; those it pulls away join with the sign it pulls to. A step ends at
//! the kink where it would cross it (Bertsekas' two-metric projection; Andrew and Gao 2007 for the orthants). Near the
//! solution the orthant no longer changes and the steps are those of Newton's method on a smooth problem.

use super::real::dot;
use super::{Optimum, Problem, Real, symmetric_solve};

/// F is trusted to this share of itself: 400 bits are 120 digits, of which sums of large scores lose some.
const RESIDUAL: i32 = -90;
/// A share of the decrease that the slope promises, which a step has to bring.
const ARMIJO: f64 = 1e-3;
const HALVINGS: usize = 60;

struct Here {
    gradient: Vec<Real>,
    hessian: Vec<Vec<Real>>,
}

pub(super) fn minimise(problem: &Problem, start: &[Real], max_iterations: usize) -> Optimum {
    let mut point = start.to_vec();
    let mut objective = problem.objective(&point);
    let enough = Real::power_of_ten(RESIDUAL);
    let mut undetermined = Vec::new();
    let mut residual = Real::one();
    for iteration in 0..max_iterations {
        let here = derivatives(problem, &point);
        let (active, slope) = active_set(problem, &point, &here.gradient);
        let matrix: Vec<Vec<Real>> =
            (0..active.len()).map(|a| (0..=a).map(|b| here.hessian[active[a]][active[b]].clone()).collect()).collect();
        let (step, dropped) = symmetric_solve(&matrix, &slope);
        undetermined = dropped.iter().map(|d| active[*d]).collect();
        if let Some(moved) = along_flat(problem, &point, &active, (&matrix, &slope), &dropped) {
            let there = problem.objective(&moved);
            if there < objective {
                (point, objective) = (moved, there);
                continue;
            }
        }
        // g·H⁻¹g, twice what the quadratic model says is left.
        let decrement = dot(&step, &slope);
        let small = &enough * &objective + Real::power_of_ten(-300);
        let held = decrement.abs() + left_over(&matrix, &step, &slope);
        residual = decrement.abs();
        let Some(moved) = line_search(problem, (&point, &objective), &active, (&step, &slope), &decrement) else {
            let converged = held <= &small * Real::power_of_ten(20);
            return Optimum { point, objective, residual, converged, undetermined, iterations: iteration };
        };
        (point, objective) = moved;
        if held <= small {
            return Optimum { point, objective, residual, converged: true, undetermined, iterations: iteration };
        }
    }
    Optimum { point, objective, residual, converged: false, undetermined, iterations: max_iterations }
}

/// A move along a direction without curvature on which only the lasso changes, up to the first weight that reaches its kink:
/// what all classes of a softmax share, or copies of a column with weights of different signs.
fn along_flat(
    problem: &Problem,
    point: &[Real],
    active: &[usize],
    (matrix, slope): (&[Vec<Real>], &[Real]),
    dropped: &[usize],
) -> Option<Vec<Real>> {
    let entry = |a: usize, b: usize| if a >= b { &matrix[a][b] } else { &matrix[b][a] };
    let kept: Vec<usize> = (0..active.len()).filter(|a| !dropped.contains(a)).collect();
    let inner: Vec<Vec<Real>> =
        kept.iter().enumerate().map(|(i, a)| kept[..=i].iter().map(|b| entry(*a, *b).clone()).collect()).collect();
    for d in dropped {
        let column: Vec<Real> = kept.iter().map(|a| entry(*a, *d).clone()).collect();
        let (combination, _) = symmetric_solve(&inner, &column);
        let mut flat = vec![Real::zero(); active.len()];
        flat[*d] = Real::one();
        kept.iter().zip(combination).for_each(|(a, c)| flat[*a] = -c);
        let rise = dot(&flat, slope);
        let size: Real = flat.iter().zip(slope).map(|(f, s)| (f * s).abs()).sum();
        if rise.abs() <= &size * Real::power_of_ten(-50) {
            continue;
        }
        let downhill = if rise.sign() > 0 { -Real::one() } else { Real::one() };
        let negligible = flat.iter().map(Real::abs).fold(Real::zero(), Real::max) * Real::power_of_ten(-50);
        let reach = |a: &usize| {
            let (u, by) = (active[*a], &downhill * &flat[*a]);
            let towards = !problem.lasso(u).is_zero() && by.abs() > negligible && by.sign() * point[u].sign() < 0;
            towards.then(|| (-(&point[u] / by), *a))
        };
        let first = (0..active.len()).filter_map(|a| reach(&a)).reduce(|x, y| if y.0 < x.0 { y } else { x });
        if let Some((length, at_kink)) = first {
            let mut next = point.to_vec();
            for (a, u) in active.iter().enumerate().filter(|(a, _)| flat[*a].abs() > negligible) {
                next[*u] += &length * &downhill * &flat[a];
            }
            next[active[at_kink]] = Real::zero();
            return Some(next);
        }
    }
    None
}

/// What a solution with dropped unknowns leaves of the equations: nothing but rounding if the system is consistent.
fn left_over(matrix: &[Vec<Real>], step: &[Real], slope: &[Real]) -> Real {
    let entry = |a: usize, b: usize| if a >= b { &matrix[a][b] } else { &matrix[b][a] };
    let mut worst = Real::zero();
    for a in 0..slope.len() {
        let product: Real = (0..slope.len()).map(|b| entry(a, b) * &step[b]).sum();
        let diagonal = entry(a, a);
        let off = &product - &slope[a];
        if diagonal.is_zero() {
            // A gradient without curvature: the optimum is nowhere near.
            worst = worst.max(off.abs());
        } else {
            worst = worst.max(&off * &off / diagonal);
        }
    }
    worst
}

/// Unknowns that move, and the (sub)gradient there.
fn active_set(problem: &Problem, point: &[Real], gradient: &[Real]) -> (Vec<usize>, Vec<Real>) {
    let (mut active, mut slope) = (Vec::new(), Vec::new());
    for u in (0..point.len()).filter(|u| problem.moves(*u)) {
        let lasso = problem.lasso(u);
        let sign = match point[u].sign() {
            0 if lasso.is_zero() => 0,
            0 if gradient[u].abs() <= *lasso => continue,
            0 => -gradient[u].sign(),
            sign => sign,
        };
        active.push(u);
        slope.push(match sign {
            1 => &gradient[u] + lasso,
            -1 => &gradient[u] - lasso,
            _ => gradient[u].clone(),
        });
    }
    (active, slope)
}

/// The first of ever smaller steps that brings its share of the decrease.
fn line_search(
    problem: &Problem,
    (point, objective): (&[Real], &Real),
    active: &[usize],
    (step, slope): (&[Real], &[Real]),
    decrement: &Real,
) -> Option<(Vec<Real>, Real)> {
    let mut length = Real::one();
    let half = Real::from(0.5);
    for _ in 0..HALVINGS {
        let mut next = point.to_vec();
        for (at, u) in active.iter().enumerate() {
            let moved = &point[*u] - &length * &step[at];
            // The sign of the orthant: of the weight, or of where the slope pulls it from zero.
            let orthant = match point[*u].sign() {
                0 => -slope[at].sign(),
                sign => sign,
            };
            let crosses = !problem.lasso(*u).is_zero() && moved.sign() * orthant < 0;
            next[*u] = if crosses { Real::zero() } else { moved };
        }
        let value = problem.objective(&next);
        if value < objective - Real::from(ARMIJO) * &length * decrement {
            return Some((next, value));
        }
        length = &length * &half;
    }
    None
}

fn derivatives(problem: &Problem, point: &[Real]) -> Here {
    let (p, width, k) = (problem.n_unknowns(), problem.width(), problem.n_scores());
    let mut gradient = vec![Real::zero(); p];
    let mut hessian: Vec<Vec<Real>> = (0..p).map(|a| vec![Real::zero(); a + 1]).collect();
    for (i, x) in problem.rows().iter().enumerate() {
        let at = problem.loss().derivatives(problem.class(i), &problem.scores_of(point, i));
        let share = problem.share(i);
        for a in 0..k {
            let weighted = share * &at.first[a];
            for j in 0..width {
                gradient[a * width + j] += &weighted * &x[j];
            }
        }
        if at.second.iter().flatten().all(Real::is_zero) {
            continue;
        }
        for j in 0..width {
            let scaled = share * &x[j];
            for l in 0..=j {
                let product = &scaled * &x[l];
                for a in 0..k {
                    for b in 0..k {
                        let (row, column) = (a * width + j, b * width + l);
                        if row >= column {
                            hessian[row][column] += &product * &at.second[a][b];
                        } else if j != l {
                            hessian[column][row] += &product * &at.second[a][b];
                        }
                    }
                }
            }
        }
    }
    for u in 0..p {
        gradient[u] += problem.ridge(u) * &point[u];
        hessian[u][u] += problem.ridge(u).clone();
    }
    Here { gradient, hessian }
}
