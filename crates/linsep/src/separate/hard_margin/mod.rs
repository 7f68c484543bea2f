//! The maximum margin of separable classes: `min ½‖w‖²` subject to `y(w·x + w₀) ≥ 1`.
//!
//! Its dual asks for the nearest points x*, y* of the two hulls: with hull weights λ, `u = x* − y* = Σ λyx`,
//! `w = 2u/‖u‖²` and `α = 2λ/‖u‖²` solve both, `Σα = ‖w‖² = 1/γ²` and `γ = ½‖u‖`. Any λ and any plane bound γ from both
//! sides, which [`crate::certify::hull_points`] and [`crate::certify::sides`] measure on all rows; the search stops when
//! the two agree.
//!
//! With few columns, few rows are support vectors: they are found by row generation. The problem of a working set of rows is
//! solved by an interior point method, and rows within the margin of its plane are added until there are none; where its
//! rounding is more than the tolerance, an active set method takes the last steps. With many
//! columns, many rows are support vectors: for sparse rows an active set method finds them, else dual coordinate descent.

mod active_rows;
mod coordinate;
mod faces;
mod interior;
mod interpolate;

use crate::certify::{HullPoints, Sides, hull_points, sides};
use crate::design::{Block, CsrRows, Design, LabelledRows, Tile, Units, is_sparse};
use crate::error::Result;
use crate::linalg::Square;
use crate::watch::{Progress, Watch};
use faces::RowProducts;
use interior::{Nearest, Space, nearest};
use rayon::prelude::*;

/// With more columns and more rows than these, row generation is replaced by coordinate descent and active sets. Chosen
/// (bench/constants.md): only the time depends on it.
const MOST_COLUMNS: usize = 1_000;
/// See [`MOST_COLUMNS`]. On text of 1,000 rows (rcv1) coordinate descent takes 0.07 of the time of row generation, on 500 rows 0.39.
const MOST_ROWS: usize = 400;
/// Up to so many rows are solved without row generation, which is also the most rows added in a round: the interior
/// point method factors a matrix of that size in each of its iterations. Chosen (bench/constants.md).
const ALL_AT_ONCE: usize = 400;
/// Rounds of row generation at most; the widest plane so far is returned with its gap. Chosen (bench/constants.md).
const ROUNDS: usize = 200;
/// Weights of hull points, relative to the largest, that an interior point leaves of zero; the first share is taken
/// with which the gap stays within the tolerance.
const NEGLIGIBLE: [f64; 3] = [1e-4, 1e-6, 1e-8];
/// Gap of the problem of the working rows, relative to the tolerance, so that it does not limit the whole. Chosen
/// (bench/constants.md).
const INNER: f64 = 0.1;
/// Hulls whose distance is below this share of the size of its terms touch up to rounding: about 500 units.
const TOUCHING: f64 = 1e-13;
/// The fewest rows added in a round. Chosen (bench/constants.md): only the time depends on it.
const LEAST_BATCH: usize = 32;
/// Working rows without a weight leave when they are this many times further out than the margin. Chosen
/// (bench/constants.md): they come back if they should.
const FAR: f64 = 10.0;
/// Share of the tolerance that a plane of fewer support rows may add to the gap. Chosen (bench/constants.md).
const SPARSER: f64 = 0.1;

/// A plane with every row strictly on its side, the widest that was found, in the units of the columns about a centre.
#[derive(Debug, Clone)]
pub(crate) struct SeparatingPlane {
    /// w of `y(w·(x − c) + b) ≥ 1` at the optimum.
    pub(crate) weights: Vec<f64>,
    /// b, about the centre.
    pub(crate) intercept: f64,
    /// c: zeros for sparse rows.
    pub(crate) centre: Vec<f64>,
    /// α of the rows that have one, rows rising; `Σ αy = 0`.
    pub(crate) alpha: Vec<(usize, f64)>,
    /// γ of this plane, measured on all rows.
    pub(crate) margin: f64,
    /// `‖x* − y*‖`: no margin exceeds half of it.
    pub(crate) hull_distance: f64,
}

impl SeparatingPlane {
    /// `1 − 2γ/‖x*−y*‖`.
    pub(crate) fn gap(&self) -> f64 {
        1.0 - 2.0 * self.margin / self.hull_distance
    }
}

/// Finds it to a relative gap, or as near as rounding allows; `None` where no plane was found that separates the rows
/// strictly. Rows of weight zero do not count; `start` is a normal that is known to be good.
pub(crate) fn hard_margin(
    rows: LabelledRows<'_>,
    start: Option<&[f64]>,
    tolerance: f64,
    watch: &Watch,
) -> Result<Option<SeparatingPlane>> {
    let search = PlaneSearch::new(rows, tolerance, watch)?;
    let shape = rows.design.shape();
    if shape.cols > MOST_COLUMNS && search.counted.len() > MOST_ROWS {
        return search.visit_rows();
    }
    match search.generate_rows(start)? {
        // The rest of the gap is rounding of products; the rows on the margin determine the plane without them.
        Some(rough) if rough.gap() > tolerance && shape.cols <= MOST_COLUMNS => {
            Ok(Some(active_rows::refined(&search, &rough)?.unwrap_or(rough)))
        }
        found => Ok(found),
    }
}

/// Some plane with every row strictly on its side, not the widest, for sparse rows of many columns; `alpha` are then those
/// of hull points that bound every margin, not those of the plane. `None` where none was found.
pub(crate) fn any_plane(rows: LabelledRows<'_>, watch: &Watch) -> Result<Option<SeparatingPlane>> {
    interpolate::plane(&PlaneSearch::new(rows, 1.0, watch)?)
}

/// The widest plane of sparse rows by the active set method, which takes seconds where it works; the gap may be larger than
/// was asked.
pub(crate) fn margin_by_faces(
    rows: LabelledRows<'_>,
    tolerance: f64,
    watch: &Watch,
) -> Result<Option<SeparatingPlane>> {
    PlaneSearch::new(rows, tolerance, watch)?.by_faces()
}

/// What is searched, and where.
struct PlaneSearch<'a> {
    rows: LabelledRows<'a>,
    /// The centre; no scale, which would change what a margin is.
    units: Units,
    counted: Vec<usize>,
    tolerance: f64,
    watch: &'a Watch,
}

impl<'a> PlaneSearch<'a> {
    fn new(rows: LabelledRows<'a>, tolerance: f64, watch: &'a Watch) -> Result<PlaneSearch<'a>> {
        let counted = rows.counted();
        let cols = rows.design.shape().cols;
        let mut units = Units::identity(cols);
        if !is_sparse(rows.design)
            && let Some(first) = counted.first()
        {
            units = Units::new(dense_rows(rows.design, &[*first], &units)?, vec![1.0; cols]);
        }
        Ok(PlaneSearch { rows, units, counted, tolerance, watch })
    }

    fn side(&self, row: usize) -> f64 {
        self.rows.side(row)
    }

    fn sides(&self, normal: &[f64]) -> Result<Sides> {
        sides(self.rows, &self.units, normal, self.watch)
    }

    /// All rows, if they are sparse and all count.
    fn sparse_rows<'t>(&'t self, tile: &'t mut Tile) -> Result<Option<CsrRows<'t>>> {
        let n = self.rows.labels.len();
        if self.counted.len() != n || !self.rows.design.lends() {
            return Ok(None);
        }
        Ok(match self.rows.design.block(0..n, tile)? {
            Block::Csr(x) => Some(x),
            _ => None,
        })
    }

    fn by_faces(&self) -> Result<Option<SeparatingPlane>> {
        let mut tile = Tile::default();
        match self.sparse_rows(&mut tile)? {
            Some(x) => faces::widest(self, &x, &RowProducts::new(self, &x)?),
            None => Ok(None),
        }
    }

    /// Sparse rows by the active set method; others, and where it fails, by dual coordinate descent.
    fn visit_rows(&self) -> Result<Option<SeparatingPlane>> {
        let by_faces = self.by_faces()?;
        if by_faces.as_ref().is_some_and(|found| found.gap() <= self.tolerance) || self.watch.halted().is_some() {
            return Ok(by_faces);
        }
        Ok(match (coordinate::solve(self)?, by_faces) {
            (Some(a), Some(b)) => Some(if b.gap() < a.gap() { b } else { a }),
            (a, b) => a.or(b),
        })
    }

    fn generate_rows(&self, start: Option<&[f64]>) -> Result<Option<SeparatingPlane>> {
        let cols = self.units.scale().len();
        let batch = (2 * (cols + 1)).clamp(LEAST_BATCH, ALL_AT_ONCE);
        let mut working: Vec<usize> = match (self.counted.len() <= ALL_AT_ONCE, start) {
            (true, _) => self.counted.clone(),
            (false, Some(normal)) => self.nearest_rows(&self.sides(normal)?.scores, batch, |_, _| true),
            (false, None) => self.spread(batch),
        };
        let mut best: Option<SeparatingPlane> = None;
        for round in 0..ROUNDS {
            let space = self.space(&working)?;
            let y: Vec<f64> = working.iter().map(|row| self.side(*row)).collect();
            let Nearest { weights, gap } = nearest(&space, &y, INNER * self.tolerance);
            if !(gap < 1.0) {
                return Ok(best);
            }
            let hull: Vec<(usize, f64)> = working.iter().copied().zip(weights.iter().copied()).collect();
            let Some(points) = hull_points(self.rows, &self.units, &hull)? else {
                return Ok(best);
            };
            let size = crate::certify::length(&points.sizes);
            if points.distance <= TOUCHING * size {
                return Ok(best);
            }
            let measured = self.sides(&points.difference)?;
            let within = 0.5 * points.distance * (1.0 - self.tolerance);
            let found = self.solution(&points, &measured);
            self.watch.report(Progress::Iteration {
                solver: "hard-margin",
                iteration: round + 1,
                objective: found.margin,
                relative_gap: Some(found.gap()),
            });
            let done = found.gap() <= self.tolerance;
            if done && found.margin > 0.0 {
                return Ok(Some(self.with_fewer_rows(&hull, found)?));
            }
            if found.margin > 0.0 && best.as_ref().is_none_or(|b| found.gap() < b.gap()) {
                best = Some(found);
            }
            if done || self.watch.halted().is_some() {
                return Ok(best);
            }
            let mut is_working = vec![false; self.rows.labels.len()];
            working.iter().for_each(|row| is_working[*row] = true);
            // The plane midway between the two hull points, not between the nearest rows: rows within its margin violate
            // optimality.
            let middle = self.middle(&points, &measured);
            let scores = &measured.scores;
            let outside = |row: usize, signed: f64| !is_working[row] && signed < within * measured.norm;
            let signed: Vec<f64> = scores.iter().map(|s| s - middle).collect();
            let added = self.nearest_rows(&signed, batch, outside);
            if added.is_empty() {
                // No violated row is outside the working set: the rest of the gap is rounding.
                return Ok(best);
            }
            // Rows without a weight far outside the margin leave the working set; row generation adds them again if they are
            // violated.
            let far = FAR * within * measured.norm;
            if working.len() > 4 * batch {
                let keep = |i: usize| weights[i] > 0.0 || self.side(working[i]) * signed[working[i]] < far;
                working = (0..working.len()).filter(|i| keep(*i)).map(|i| working[i]).collect();
            }
            working.extend(added);
            working.sort_unstable();
        }
        Ok(best)
    }

    /// The same plane without rows whose weights are the small ones of an interior point, as far as the gap allows it.
    fn with_fewer_rows(&self, hull: &[(usize, f64)], found: SeparatingPlane) -> Result<SeparatingPlane> {
        let largest = hull.iter().fold(0.0f64, |m, (_, w)| m.max(*w));
        for cut in NEGLIGIBLE {
            let kept: Vec<(usize, f64)> = hull.iter().copied().filter(|(_, w)| *w > cut * largest).collect();
            let Some(points) = hull_points(self.rows, &self.units, &kept)? else { continue };
            let fewer = self.solution(&points, &self.sides(&points.difference)?);
            if fewer.margin > 0.0 && fewer.gap() <= (found.gap() + SPARSER * self.tolerance).min(self.tolerance) {
                return Ok(fewer);
            }
        }
        Ok(found)
    }

    /// The score midway between the two hull points.
    fn middle(&self, points: &HullPoints, measured: &Sides) -> f64 {
        let ends = points.weights.iter().map(|(row, w)| w * measured.scores[*row]);
        0.5 * crate::numeric::sum(ends)
    }

    /// The rows nearest to the plane on either side, or furthest on the wrong one, at most so many of each class.
    fn nearest_rows(&self, scores: &[f64], batch: usize, wanted: impl Fn(usize, f64) -> bool) -> Vec<usize> {
        let mut chosen = Vec::new();
        for side in [-1.0, 1.0] {
            let mut rows: Vec<(f64, usize)> = self
                .counted
                .iter()
                .filter(|row| self.side(**row) == side)
                .map(|row| (side * scores[*row], *row))
                .filter(|(signed, row)| wanted(*row, *signed))
                .collect();
            let order = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
            if rows.len() > batch {
                rows.select_nth_unstable_by(batch, order);
                rows.truncate(batch);
            }
            chosen.extend(rows.into_iter().map(|(_, row)| row));
        }
        chosen.sort_unstable();
        chosen
    }

    /// Rows of both classes at equal distances in the table.
    fn spread(&self, batch: usize) -> Vec<usize> {
        let mut chosen = Vec::new();
        for side in [-1.0, 1.0] {
            let rows: Vec<usize> = self.counted.iter().copied().filter(|row| self.side(*row) == side).collect();
            chosen.extend(rows.iter().step_by(rows.len().div_ceil(batch).max(1)));
        }
        chosen.sort_unstable();
        chosen
    }

    /// Some rows for the interior point method, at a size of one.
    fn space(&self, rows: &[usize]) -> Result<Space> {
        let cols = self.units.scale().len();
        let y = |at: usize| self.side(rows[at]);
        if cols <= rows.len() {
            let mut values = dense_rows(self.rows.design, rows, &self.units)?;
            // Centred at the mean of the working rows: the least cancellation.
            let m = rows.len() as f64;
            let mean: Vec<f64> =
                (0..cols).map(|j| values.iter().skip(j).step_by(cols.max(1)).sum::<f64>() / m).collect();
            values.chunks_exact_mut(cols.max(1)).for_each(|x| x.iter_mut().zip(&mean).for_each(|(x, c)| *x -= c));
            let largest = values.iter().fold(f64::MIN_POSITIVE, |m, v| m.max(v.abs()));
            for (at, row) in values.chunks_exact_mut(cols.max(1)).enumerate() {
                row.iter_mut().for_each(|x| *x *= y(at) / largest);
            }
            return Ok(Space::Columns { rows: values, cols });
        }
        let mut products = self.products(rows)?;
        centre_products(&mut products);
        let largest = (0..rows.len()).map(|i| products.get(i, i)).fold(f64::MIN_POSITIVE, f64::max);
        Ok(Space::Products(Square::from_lower(rows.len(), |i, j| y(i) * y(j) * products.get(i, j) / largest)))
    }

    /// `XXᵀ` of some rows.
    fn products(&self, rows: &[usize]) -> Result<Square> {
        let cols = self.units.scale().len();
        let m = rows.len();
        if !is_sparse(self.rows.design) {
            let values = dense_rows(self.rows.design, rows, &self.units)?;
            let of_row = |i: usize| -> Vec<f64> {
                let x = &values[i * cols..(i + 1) * cols];
                let mut out = vec![0.0; m - i];
                crate::linalg::multiply_rows(&values[i * cols..], x, cols, 1, &mut out);
                out
            };
            let columns: Vec<Vec<f64>> = (0..m).into_par_iter().map(of_row).collect();
            return Ok(Square::from_lower(m, |i, j| columns[j][i - j]));
        }
        let mut tile = Tile::default();
        let Block::Csr(x) = self.rows.design.block(0..self.rows.labels.len(), &mut tile)? else {
            return Ok(Square::zeros(m));
        };
        let of_row = |i: usize| -> Vec<f64> {
            let mut wide = vec![0.0; cols];
            let (columns, values) = x.row(rows[i]);
            columns.iter().zip(values).for_each(|(c, v)| wide[*c as usize] = *v);
            let product = |j: &usize| {
                let (columns, values) = x.row(*j);
                columns.iter().zip(values).map(|(c, v)| v * wide[*c as usize]).sum::<f64>()
            };
            rows[i..].iter().map(product).collect()
        };
        let columns: Vec<Vec<f64>> = (0..m).into_par_iter().map(of_row).collect();
        Ok(Square::from_lower(m, |i, j| columns[j][i - j]))
    }

    /// The plane of multipliers measured on all rows; `None` where it does not separate them.
    fn proved(&self, multipliers: &[(usize, f64)]) -> Result<Option<SeparatingPlane>> {
        let points = hull_points(self.rows, &self.units, multipliers)?;
        let Some(points) = points.filter(|points| points.distance > 0.0) else { return Ok(None) };
        let found = self.solution(&points, &self.sides(&points.difference)?);
        Ok((found.margin > 0.0).then_some(found))
    }

    /// The solution that hull weights stand for, with the plane midway between the nearest rows.
    fn solution(&self, points: &HullPoints, measured: &Sides) -> SeparatingPlane {
        let scale = 2.0 / points.distance / points.distance;
        let weights: Vec<f64> = points.difference.iter().map(|u| u * scale).collect();
        SeparatingPlane {
            weights,
            intercept: measured.intercept() * scale,
            centre: self.units.centre().to_vec(),
            alpha: points.weights.iter().map(|(row, w)| (*row, w * scale)).collect(),
            margin: measured.margin(),
            hull_distance: points.distance_bound(),
        }
    }
}

/// `K ← (I − 11ᵀ/m) K (I − 11ᵀ/m)`: products of rows about their mean; the distance of the hulls does not depend on it.
fn centre_products(k: &mut Square) {
    let m = k.n();
    let means: Vec<f64> = (0..m).map(|i| (0..m).map(|j| k.get(i, j)).sum::<f64>() / m as f64).collect();
    let mean = means.iter().sum::<f64>() / m as f64;
    for j in 0..m {
        for i in j..m {
            *k.at(i, j) += mean - means[i] - means[j];
        }
    }
}

/// Some rows as dense numbers in given units.
pub(super) fn dense_rows(design: &dyn Design, rows: &[usize], units: &Units) -> Result<Vec<f64>> {
    let cols = design.shape().cols;
    let (mut tile, mut values) = (Tile::default(), Vec::new());
    let mut out = Vec::with_capacity(rows.len() * cols);
    for row in rows {
        match design.block(*row..row + 1, &mut tile)? {
            Block::F64(dense) => dense.load(units, &mut values),
            Block::F32(dense) => dense.load(units, &mut values),
            Block::Csr(sparse) => {
                values.clear();
                values.extend(units.centre().iter().zip(units.inverse_scale()).map(|(c, s)| -c * s));
                let (columns, entries) = sparse.row(0);
                for (c, v) in columns.iter().zip(entries) {
                    values[*c as usize] += v * units.inverse_scale()[*c as usize];
                }
            }
        }
        out.extend_from_slice(&values);
    }
    Ok(out)
}
