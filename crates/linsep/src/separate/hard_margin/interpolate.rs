//! Some plane between sparse rows of many columns, quickly: by interpolating the labels.
//!
//! With more columns than rows there mostly is a plane on which every row has the score ±1 of its label: `(K + 11ᵀ)α = y`,
//! `K = XXᵀ`. The method of conjugate gradients (Hestenes and Stiefel 1952), scaled by the diagonal, comes near it without
//! forming K, and may stop as soon as every row is on its side. It is not the widest plane; hull weights made of the α of
//! the right sign say how much wider another could be.

use super::faces::RowProducts;
use super::{PlaneSearch, SeparatingPlane};
use crate::certify::hull_points;
use crate::design::Tile;
use crate::error::Result;
use crate::linalg::dot;
use crate::watch::Progress;

/// Conjugate gradient steps at most; then other methods look for a plane. Chosen, out of reach of bench/constants.md.
const ITERATIONS: usize = 400;
/// The score on its side that every row must have; labels are ±1. Chosen, out of reach of bench/constants.md: more
/// costs steps, and less leaves a narrow margin that rounding may not prove.
const ENOUGH: f64 = 0.02;

/// A plane with every row strictly on its side; `None` where none was found, or the rows are not sparse or not all count.
pub(super) fn plane(search: &PlaneSearch<'_>) -> Result<Option<SeparatingPlane>> {
    let mut tile = Tile::default();
    let Some(x) = search.sparse_rows(&mut tile)? else { return Ok(None) };
    let rows = RowProducts::new(search, &x)?;
    let Some(alpha) = conjugate_gradients(search, &rows) else { return Ok(None) };
    let normal = rows.gram.transposed(&alpha);
    let measured = search.sides(&normal)?;
    let signed: Vec<(usize, f64)> = alpha.iter().zip(&rows.y).map(|(a, y)| (a * y).max(0.0)).enumerate().collect();
    let Some(points) = hull_points(search.rows, &search.units, &signed)? else { return Ok(None) };
    let margin = measured.margin();
    if !(margin > 0.0 && points.distance > 0.0) {
        return Ok(None);
    }
    let (scale, share) = (1.0 / (margin * measured.norm), 2.0 / points.distance / points.distance);
    Ok(Some(SeparatingPlane {
        weights: normal.iter().map(|w| w * scale).collect(),
        intercept: measured.intercept() * scale,
        centre: search.units.centre().to_vec(),
        alpha: points.weights.iter().map(|(row, w)| (*row, w * share)).collect(),
        margin,
        hull_distance: points.distance_bound(),
    }))
}

/// α with every row on its side, if there is one within the iterations.
fn conjugate_gradients(search: &PlaneSearch<'_>, rows: &RowProducts) -> Option<Vec<f64>> {
    let y = &rows.y;
    let scaled = |r: &[f64]| r.iter().zip(&rows.squares).map(|(r, d)| r / (d + 1.0)).collect::<Vec<f64>>();
    let mut alpha = vec![0.0; y.len()];
    let mut residual = y.to_vec();
    let mut direction = scaled(&residual);
    let mut size = dot(&residual, &direction);
    for iteration in 1..=ITERATIONS {
        if search.watch.halted().is_some() {
            return None;
        }
        let total: f64 = direction.iter().sum();
        let product: Vec<f64> = rows.gram.multiply(&direction).into_iter().map(|p| p + total).collect();
        let step = size / dot(&direction, &product);
        if !step.is_finite() {
            return None;
        }
        alpha.iter_mut().zip(&direction).for_each(|(a, d)| *a += step * d);
        residual.iter_mut().zip(&product).for_each(|(r, p)| *r -= step * p);
        // y(y − r): the score on its side.
        let least = residual.iter().zip(y).map(|(r, y)| 1.0 - y * r).fold(f64::INFINITY, f64::min);
        search.watch.report(Progress::Iteration {
            solver: "interpolation",
            iteration,
            objective: least,
            relative_gap: None,
        });
        if least >= ENOUGH {
            return Some(alpha);
        }
        let next = scaled(&residual);
        let now = dot(&residual, &next);
        direction.iter_mut().zip(&next).for_each(|(d, n)| *d = n + now / size * *d);
        size = now;
    }
    None
}
