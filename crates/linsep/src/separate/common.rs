//! A common point of the hulls on few rows.

use super::plan::{MOST_REDUCED, MOST_UNREDUCED, MOST_WHOLE};
use super::{Case, CommonPoint, Constraint};
use crate::certify::{HullPoints, cone_residual, exact_weights, hull_points, others};
use crate::design::{Block, LabelledRows, Tile, Units, gather};
use crate::error::Result;
use crate::objective::{Loss, Risk};
use crate::separate::{SeparatingPlane, basic_solution, solve_cone};
use crate::table::Class;

/// On the unit-diagonal scale, pivots below this belong to columns that are combinations of others; coarser than
/// rounding of a Gram matrix, since the boundary was chosen up to rounding. Chosen, not measured: what follows is
/// checked.
pub(super) const INDEPENDENT: f64 = 1e-10;
/// Constraints tried first, per unknown; four times as many each time they do not suffice. Chosen (bench/constants.md).
const PER_UNKNOWN: usize = 8;
/// Fewer hull points must have the same distance, up to this share: rounding of a basic solution.
const SAME_DISTANCE: f64 = 1e-9;

impl Case<'_> {
    /// Few constraints that carry a common point, from positive weights on all that are open.
    pub(super) fn common_point<L: Loss + Clone>(
        &self,
        risk: &Risk<'_, L>,
        open: &[bool],
        alpha: &[f64],
    ) -> Result<Option<CommonPoint>> {
        let width = risk.loss().n_scores() * (risk.n_cols() + 1);
        let per_row = self.classes - 1;
        let open: Vec<usize> = (0..open.len()).filter(|c| open[*c]).collect();
        let few = PER_UNKNOWN * (width + 2);
        if width > MOST_REDUCED {
            return self.unreduced(risk, &open, alpha);
        }
        let mut rows: Vec<usize> = open.iter().map(|c| c / per_row).collect();
        rows.dedup();
        let mut wanted = few;
        while wanted < rows.len() / 2 {
            let part = self.spread(&rows, wanted);
            if let Some(found) = self.of_part(risk, &part)? {
                return Ok(Some(found));
            }
            wanted *= 4;
        }
        let weights: Vec<f64> = open.iter().map(|c| alpha[*c]).collect();
        self.reduced(risk, &open, &weights)
    }

    /// All open constraints as they are, where there are not too many to look at.
    fn unreduced<L: Loss + Clone>(
        &self,
        risk: &Risk<'_, L>,
        open: &[usize],
        alpha: &[f64],
    ) -> Result<Option<CommonPoint>> {
        if open.len() > MOST_UNREDUCED {
            return Ok(None);
        }
        let residual = cone_residual(risk, alpha, self.watch)?;
        let total: f64 = open.iter().map(|c| alpha[*c]).sum();
        let per_row = self.classes - 1;
        let constraint = |c: &usize| {
            let own = self.rows.labels[c / per_row].index();
            let other = others(self.classes, own).nth(c % per_row).unwrap_or(own);
            Constraint { row: c / per_row, own, other, weight: 2.0 * alpha[*c] / total, exact: None }
        };
        Ok(Some(CommonPoint { constraints: open.iter().map(constraint).collect(), residual }))
    }

    /// The same `x* − y*` as a mixture of at most d+2 rows (Carathéodory); `None` where that saves no row, or rounding
    /// prevents it.
    ///
    /// With `u = x* − y*` and weights that add up to two, `Σ λ(yx − u/2, y) = 0`.
    pub(super) fn fewer_hull_rows(
        &self,
        found: &SeparatingPlane,
        weights: &[(usize, f64)],
    ) -> Result<Option<HullPoints>> {
        let width = found.weights.len() + 1;
        if weights.len() <= width + 1 || width > MOST_REDUCED {
            return Ok(None);
        }
        let units = Units::new(found.centre.clone(), vec![1.0; width - 1]);
        let Some(points) = hull_points(self.rows, &units, weights)? else { return Ok(None) };
        let rows: Vec<usize> = weights.iter().map(|(row, _)| *row).collect();
        let mut vectors = self.vectors(&rows, &units, 1)?;
        for vector in vectors.chunks_exact_mut(width) {
            vector.iter_mut().zip(&points.difference).for_each(|(a, u)| *a -= 0.5 * u);
        }
        let lambda: Vec<f64> = weights.iter().map(|(_, w)| *w).collect();
        let Some(basic) = basic_solution(&vectors, width, &lambda) else { return Ok(None) };
        let fewer: Vec<(usize, f64)> = basic.into_iter().map(|(at, w)| (rows[at], 2.0 * w)).collect();
        let Some(now) = hull_points(self.rows, &units, &fewer)? else { return Ok(None) };
        let same = (now.distance - found.hull_distance).abs() <= SAME_DISTANCE * found.hull_distance;
        Ok(same.then_some(now))
    }

    /// Some of the given rows of every class at equal distances.
    fn spread(&self, rows: &[usize], wanted: usize) -> Vec<usize> {
        let mut part = Vec::new();
        for class in 0..self.classes {
            let of_class: Vec<usize> = rows.iter().copied().filter(|r| self.rows.labels[*r].index() == class).collect();
            part.extend(of_class.iter().step_by(of_class.len().div_ceil(wanted / self.classes).max(1)));
        }
        part.sort_unstable();
        part
    }

    /// A common point of some rows alone, if they have one.
    fn of_part<L: Loss + Clone>(&self, risk: &Risk<'_, L>, rows: &[usize]) -> Result<Option<CommonPoint>> {
        let part = gather(self.rows.design, rows)?;
        let labels: Vec<Class> = rows.iter().map(|r| self.rows.labels[*r]).collect();
        let sample = crate::objective::Sample { rows: LabelledRows::new(part.as_design(), &labels), ..*risk.sample() };
        let of_part = Risk::new(sample, risk.loss().clone(), crate::objective::Ridge::none(), risk.intercept());
        let solved = solve_cone(&of_part, None, self.options.tolerance, self.watch)?;
        let Some(alpha) = solved.alpha else { return Ok(None) };
        let per_row = self.classes - 1;
        let open: Vec<usize> = (0..alpha.len()).filter(|c| solved.open[*c]).collect();
        let weights: Vec<f64> = open.iter().map(|c| alpha[*c]).collect();
        let of_all: Vec<usize> = open.iter().map(|c| rows[c / per_row] * per_row + c % per_row).collect();
        self.reduced(risk, &of_all, &weights)
    }

    /// A basic solution of some constraints, checked, and exactly where that is asked.
    fn reduced<L: Loss + Clone>(
        &self,
        risk: &Risk<'_, L>,
        constraints: &[usize],
        weights: &[f64],
    ) -> Result<Option<CommonPoint>> {
        let scores = risk.loss().n_scores();
        let width = scores * (risk.n_cols() + 1);
        let vectors = self.vectors(constraints, risk.sample().units, scores)?;
        let Some(basic) = basic_solution(&vectors, width, weights) else { return Ok(None) };
        let (mut sums, mut sizes) = (vec![0.0; width], vec![0.0; width]);
        for (at, weight) in &basic {
            for (j, a) in vectors[at * width..(at + 1) * width].iter().enumerate() {
                sums[j] += weight * a;
                sizes[j] += (weight * a).abs();
            }
        }
        let relative = |(sum, size): (&f64, &f64)| if *size > 0.0 { sum.abs() / size } else { 0.0 };
        let residual = sums.iter().zip(&sizes).map(relative).fold(0.0, f64::max);
        let chosen: Vec<usize> = basic.iter().map(|(at, _)| constraints[*at]).collect();
        let digits = if self.options.exact || width <= MOST_WHOLE {
            let raw = self.vectors(&chosen, &Units::identity(risk.n_cols()), scores)?;
            // Weights that do not balance exactly are no common point.
            let Some(weights) = exact_weights(&raw, width, self.effort()) else { return Ok(None) };
            Some(weights.digits())
        } else {
            None
        };
        let per_row = self.classes - 1;
        let constraint = |(at, (c, (_, weight))): (usize, (&usize, &(usize, f64)))| {
            let own = self.rows.labels[c / per_row].index();
            let other = others(self.classes, own).nth(c % per_row).unwrap_or(own);
            let exact = digits.as_ref().map(|d| d[at].clone());
            Constraint { row: c / per_row, own, other, weight: 2.0 * weight, exact }
        };
        let constraints = chosen.iter().zip(&basic).enumerate().map(constraint).collect();
        Ok(Some(CommonPoint { constraints, residual }))
    }

    /// The vectors `(e_y − e_k)⊗x̃` of constraints in given units, row-major, laid out like coefficients.
    pub(super) fn vectors(&self, constraints: &[usize], units: &Units, scores: usize) -> Result<Vec<f64>> {
        let mut out = Vec::new();
        let mut row = Vec::new();
        for c in constraints {
            self.vector(*c, units, scores, &mut row)?;
            out.extend_from_slice(&row);
        }
        Ok(out)
    }

    /// One of them.
    pub(super) fn vector(&self, c: usize, units: &Units, scores: usize, out: &mut Vec<f64>) -> Result<()> {
        let (cols, per_row) = (self.rows.design.shape().cols, self.classes - 1);
        let (row, fixed) = (c / per_row, self.classes - scores);
        let mut x = Vec::new();
        let mut tile = Tile::default();
        match self.rows.design.block(row..row + 1, &mut tile)? {
            Block::F64(dense) => dense.load(units, &mut x),
            Block::F32(dense) => dense.load(units, &mut x),
            Block::Csr(sparse) => {
                x.extend(units.centre().iter().zip(units.inverse_scale()).map(|(c, s)| -c * s));
                let (columns, values) = sparse.row(0);
                columns.iter().zip(values).for_each(|(c, v)| x[*c as usize] += v * units.inverse_scale()[*c as usize]);
            }
        }
        let own = self.rows.labels[row].index();
        let other = others(self.classes, own).nth(c % per_row).unwrap_or(own);
        out.clear();
        out.resize(scores * (cols + 1), 0.0);
        // Two classes share one score: y x̃ whichever class is fixed.
        let ends = match scores {
            1 => [(Some(0), if own == 1 { 1.0 } else { -1.0 }), (None, 0.0)],
            _ => [(own.checked_sub(fixed), 1.0), (other.checked_sub(fixed), -1.0)],
        };
        for (score, sign) in ends {
            if let Some(score) = score {
                x.iter().enumerate().for_each(|(j, x)| out[score * cols + j] = sign * x);
                out[scores * cols + score] = sign;
            }
        }
        Ok(())
    }
}
