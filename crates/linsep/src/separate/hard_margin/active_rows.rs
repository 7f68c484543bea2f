//! The last digits of the widest plane, by an active set of rows on its margin.
//!
//! An interior point method works with products of rows, which resolve the distance of the hulls to the square root of
//! rounding where they are close. If the rows on the margin are known, the plane is the solution of linear equations: `w` of
//! least length with `w·(x − x₀) = y − y₀` for every such row and one of them, x₀. With `Dᵀ = QR` of the differences,
//! `w = Dᵀc` and `RᵀRc = y − y₀`, whose rounding is that of D and not of its square once c is refined by residuals. The
//! multipliers are `α = yc`; a row with a negative one leaves, the row furthest within the margin joins, until there is none.

use super::{PlaneSearch, SeparatingPlane, dense_rows};
use crate::certify::hull_points;
use crate::error::Result;
use crate::linalg::{dot, triangular_factor};

/// Changes of the active set for each of its rows at most. A limit against cycles, which ties of rounding can cause; the
/// widest plane so far is returned.
const CHANGES_A_ROW: usize = 4;
/// And no more than these multiplications take, some seconds: a change costs a pass over all rows and a QR of the active ones.
const OPERATIONS: f64 = 1e10;
/// Weights of hull points relative to the largest with which rows start in the active set: what an interior point leaves of
/// zero is below it where the gap is near the rounding of its products.
const STARTS: f64 = 1e-4;
/// A pivot below this share of the largest is rounding of differences of rows: about 50 units.
const DEPENDENT: f64 = 1e-14;
/// Rounds of refinement of c; each gains the digits that `κ²u` leaves.
const REFINEMENTS: usize = 3;

/// A plane of a smaller gap than the one whose multipliers are given; `None` where none was found.
pub(super) fn refined(search: &PlaneSearch<'_>, rough: &SeparatingPlane) -> Result<Option<SeparatingPlane>> {
    let most = search.units.scale().len() + 1;
    let mut by_weight = rough.alpha.clone();
    by_weight.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let largest = by_weight.first().map_or(0.0, |(_, w)| *w);
    let mut active: Vec<usize> =
        by_weight.iter().take_while(|(_, w)| *w > STARTS * largest).take(most).map(|(row, _)| *row).collect();
    let mut best: Option<SeparatingPlane> = None;
    let (rows, columns) = (search.counted.len() as f64, most as f64);
    let affordable = OPERATIONS / (rows * columns + columns.powi(3));
    for _ in 0..(CHANGES_A_ROW * most).min(affordable as usize) {
        if search.watch.halted().is_some() {
            break;
        }
        let Some(alpha) = multipliers_on(search, &active)? else { break };
        let (at, least) =
            alpha.iter().enumerate().fold((0, f64::INFINITY), |m, (i, a)| if *a < m.1 { (i, *a) } else { m });
        if !(least > 0.0) {
            if active.len() <= 2 {
                break;
            }
            active.remove(at);
            continue;
        }
        let hull: Vec<(usize, f64)> = {
            let mut hull: Vec<(usize, f64)> = active.iter().copied().zip(alpha).collect();
            hull.sort_unstable_by_key(|(row, _)| *row);
            hull
        };
        let Some(points) = hull_points(search.rows, &search.units, &hull)?.filter(|p| p.distance > 0.0) else { break };
        let measured = search.sides(&points.difference)?;
        let found = search.solution(&points, &measured);
        let gap = found.gap();
        if found.margin > 0.0 && best.as_ref().is_none_or(|b| gap < b.gap()) {
            best = Some(found);
        }
        let middle = search.middle(&points, &measured);
        let within = 0.5 * points.distance * (1.0 - search.tolerance) * measured.norm;
        let signed: Vec<f64> = measured.scores.iter().map(|s| s - middle).collect();
        let furthest = search.nearest_rows(&signed, 1, |row, s| s < within && !active.contains(&row));
        let furthest = furthest.into_iter().min_by(|a, b| {
            let side = |row: usize| search.side(row) * signed[row];
            side(*a).total_cmp(&side(*b))
        });
        match furthest {
            Some(row) if gap > search.tolerance && active.len() < most => active.push(row),
            _ => break,
        }
    }
    Ok(best.filter(|found| found.gap() < rough.gap()))
}

/// The multipliers of the plane that has these rows on its margin; `None` where they do not determine one.
fn multipliers_on(search: &PlaneSearch<'_>, active: &[usize]) -> Result<Option<Vec<f64>>> {
    let (cols, m) = (search.units.scale().len(), active.len());
    let side = |at: usize| search.side(active[at]);
    if m < 2 || m > cols + 1 || (1..m).all(|i| side(i) == side(0)) {
        return Ok(None);
    }
    let rows = dense_rows(search.rows.design, active, &search.units)?;
    let (first, rest) = rows.split_at(cols);
    let differences: Vec<f64> = rest.chunks_exact(cols).flat_map(|x| x.iter().zip(first).map(|(x, r)| x - r)).collect();
    let r = triangular_factor(cols, m - 1, &mut differences.clone());
    let pivots = (0..m - 1).map(|i| r[i * (m - 1) + i]);
    let (least, largest) = pivots.fold((f64::INFINITY, 0.0f64), |(a, b), p| (a.min(p), b.max(p)));
    if !(least > DEPENDENT * largest) || !largest.is_finite() {
        return Ok(None);
    }
    let wanted: Vec<f64> = (1..m).map(|i| side(i) - side(0)).collect();
    let mut c = vec![0.0; m - 1];
    for _ in 0..=REFINEMENTS {
        let mut normal = vec![0.0; cols];
        for (c, d) in c.iter().zip(differences.chunks_exact(cols)) {
            normal.iter_mut().zip(d).for_each(|(w, d)| *w += c * d);
        }
        let residual = wanted.iter().zip(differences.chunks_exact(cols)).map(|(t, d)| t - dot(&normal, d));
        let mut step: Vec<f64> = residual.collect();
        solve_by_factor(&r, m - 1, &mut step);
        c.iter_mut().zip(&step).for_each(|(c, s)| *c += s);
    }
    let own = -c.iter().sum::<f64>() * side(0);
    let alpha: Vec<f64> = std::iter::once(own).chain(c.iter().enumerate().map(|(i, c)| c * side(i + 1))).collect();
    Ok(alpha.iter().all(|a| a.is_finite()).then_some(alpha))
}

/// `x ← (RᵀR)⁻¹x` of an upper-triangular R by columns.
fn solve_by_factor(r: &[f64], n: usize, x: &mut [f64]) {
    for i in 0..n {
        let known = dot(&r[i * n..i * n + i], &x[..i]);
        x[i] = (x[i] - known) / r[i * n + i];
    }
    for i in (0..n).rev() {
        x[i] /= r[i * n + i];
        let (known, at) = (x[i], &r[i * n..i * n + i]);
        x[..i].iter_mut().zip(at).for_each(|(x, r)| *x -= known * r);
    }
}
