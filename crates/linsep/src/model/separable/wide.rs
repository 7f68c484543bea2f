//! Rows with so many columns that the system is looked at through the rows.
//!
//! Such rows can mostly be separated, and the widest plane is found multiplier by multiplier. Where that finds none and the rows
//! are many, single columns settle most of them; where they are not many, or what is left is not, the question is asked of `Z` with `ZZᵀ = XXᵀ`: products of rows are all that it depends on.

use super::{Case, CommonPoint, Complete, Constraint, SeparabilityVerdict, Undecided, Verdict};
use crate::certify::{cone_residual, sides};
use crate::design::{Block, DenseMatrix, Tile, Units};
use crate::error::Result;
use crate::linalg::{Factor, Square, factor};
use crate::objective::Logistic;
use crate::solve::{HardMargin, MarginRows, any_plane, hard_margin};
use crate::table::Class;
use rayon::prelude::*;

/// So few entries are visited some hundred times in about a second.
const QUICK_ENTRIES: usize = 1_000_000;
/// Columns of which all products are formed where nothing else decides: seconds for each step.
const MOST_GRAM: usize = 5_000;
/// More rows than this, and their products are too many.
pub(super) const MOST_ROWS: usize = 2_000;

impl Case<'_> {
    pub(super) fn wide(&self) -> Result<SeparabilityVerdict> {
        let same = self.contradiction()?;
        let open = same.is_none();
        let mut found = match self.classes {
            _ if !open => None,
            2 if self.options.margin_tolerance.is_some() => self.widest_plane()?,
            2 => self.affordable_plane()?.map(|found| self.complete_plane(&found)).transpose()?,
            _ => self.machine()?,
        };
        let mut by_core = None;
        if found.is_none() && self.labels.len() > MOST_ROWS {
            by_core = self.by_core(same.as_ref())?;
        }
        match by_core {
            Some(SeparabilityVerdict { verdict: Verdict::Complete(_), .. }) | None => {}
            Some(decided) => return Ok(decided),
        }
        // The long search, for a plane that is wider than what single columns give, or where they say nothing.
        if found.is_none() && open && self.classes == 2 && self.options.margin_tolerance.is_none() {
            found = self.widest_plane()?;
        }
        if let Some(mut complete) = found {
            if self.options.exact && self.classes > 2 {
                complete.exact = Some(self.exactly_complete(&complete)?);
            }
            return Ok(self.found(Verdict::Complete(Box::new(complete)), 0));
        }
        if let Some(complete) = by_core {
            return Ok(complete);
        }
        let (rows, cols) = (self.labels.len(), self.design.shape().cols);
        if rows > MOST_ROWS && cols * (self.classes - 1) < rows.min(MOST_GRAM) && self.watch.halted().is_none() {
            return Ok(keeping(self.narrow()?, same));
        }
        if rows > MOST_ROWS || self.watch.halted().is_some() {
            let reason = format!(
                "no separating plane was found, and {rows} rows of {cols} columns are too many to prove that there is none"
            );
            return Ok(self.found(Verdict::Undecided(Box::new(Undecided { reason, common: same })), 0));
        }
        Ok(keeping(self.through_rows()?, same))
    }

    /// Some plane; the widest one where that takes about a second.
    fn affordable_plane(&self) -> Result<Option<HardMargin>> {
        let found = self.some_plane()?;
        let mut tile = Tile::default();
        let entries = match self.design.block(0..self.labels.len(), &mut tile)? {
            Block::Csr(x) => x.entries(),
            _ => usize::MAX,
        };
        if found.is_none() || entries > QUICK_ENTRIES {
            return Ok(found);
        }
        Ok(self.widest(None)?.or(found))
    }

    fn widest_plane(&self) -> Result<Option<Complete>> {
        self.widest(None)?.map(|found| self.complete_plane(&found)).transpose()
    }

    /// Two rows that are the same and have different labels: a common point, exactly.
    fn contradiction(&self) -> Result<Option<CommonPoint>> {
        let n = self.labels.len();
        let label = |row: usize| self.labels[row].index();
        let mut tile = Tile::default();
        let found = match self.design.block(0..n, &mut tile)? {
            Block::Csr(x) => self.same_rows(|row| {
                let (columns, values) = x.row(row);
                columns.iter().zip(values).map(|(c, v)| (*c as usize, *v))
            }),
            Block::F64(x) => {
                self.same_rows(|row| x.values[row * x.cols..(row + 1) * x.cols].iter().copied().enumerate())
            }
            Block::F32(x) => {
                let of_row = |row: usize| &x.values[row * x.cols..(row + 1) * x.cols];
                self.same_rows(|row| of_row(row).iter().map(|v| f64::from(*v)).enumerate())
            }
        };
        Ok(found.map(|(a, b)| {
            let half = |row: usize, other: usize| Constraint {
                row,
                own: label(row),
                other: label(other),
                weight: 1.0,
                exact: self.options.exact.then(|| "1".to_owned()),
            };
            CommonPoint { constraints: vec![half(a.min(b), a.max(b)), half(a.max(b), a.min(b))], residual: 0.0 }
        }))
    }

    /// The first two rows found that have the same entries and different labels.
    fn same_rows<I: Iterator<Item = (usize, f64)>>(
        &self,
        entries: impl Fn(usize) -> I + Sync,
    ) -> Option<(usize, usize)> {
        let stored = |row: usize| entries(row).filter(|(_, v)| *v != 0.0);
        let mut hashes: Vec<(u64, usize)> =
            (0..self.labels.len()).into_par_iter().map(|row| (hash(stored(row)), row)).collect();
        hashes.par_sort_unstable();
        let pairs = hashes.windows(2).filter(|pair| pair[0].0 == pair[1].0).map(|pair| (pair[0].1, pair[1].1));
        { pairs }.find(|(a, b)| self.labels[*a] != self.labels[*b] && stored(*a).eq(stored(*b)))
    }

    /// One plane for every class against the rest: together they are a linear machine.
    fn machine(&self) -> Result<Option<Complete>> {
        let mut planes: Vec<HardMargin> = Vec::new();
        for class in 0..self.classes {
            let is_class = |y: &Class| Class(u32::from(y.index() == class));
            let labels: Vec<Class> = self.labels.iter().map(is_class).collect();
            let rows = MarginRows { design: self.design, labels: &labels, weights: None };
            let quickly = any_plane(rows, self.watch)?;
            match quickly.map_or_else(|| hard_margin(rows, None, 0.1, self.watch), |plane| Ok(Some(plane)))? {
                Some(plane) => planes.push(plane),
                None => return Ok(None),
            }
        }
        let units = Units::new(planes[0].centre.clone(), vec![1.0; planes[0].centre.len()]);
        let scores: Vec<Vec<f64>> = planes
            .iter()
            .map(|plane| {
                let of_rows = sides(self.design, &units, (self.labels, None), &plane.weights, self.watch)?.scores;
                Ok(of_rows.into_iter().map(|z| z + plane.intercept).collect())
            })
            .collect::<Result<_>>()?;
        let norm = |a: usize, b: usize| {
            let difference: Vec<f64> = planes[a].weights.iter().zip(&planes[b].weights).map(|(a, b)| a - b).collect();
            crate::certify::length(&difference)
        };
        let norms: Vec<Vec<f64>> = (0..self.classes).map(|a| (0..self.classes).map(|b| norm(a, b)).collect()).collect();
        let mut margin = f64::INFINITY;
        for (row, y) in self.labels.iter().enumerate() {
            for other in crate::certify::others(self.classes, y.index()) {
                margin = margin.min((scores[y.index()][row] - scores[other][row]) / norms[y.index()][other]);
            }
        }
        Ok((margin > 0.0).then(|| Complete {
            intercept: planes.iter().map(|p| p.intercept).collect(),
            centre: planes[0].centre.clone(),
            weights: planes.into_iter().map(|p| p.weights).collect(),
            margin,
            hull: None,
            exact: None,
        }))
    }

    pub(super) fn through_rows(&self) -> Result<SeparabilityVerdict> {
        let (z, products) = self.coordinates()?;
        let case = Case { design: &z, ..*self };
        let mut found = case.narrow()?;
        if let Verdict::QuasiComplete(v) = &mut found.verdict {
            // `w·x = (Zu)` for every row, with w a combination of rows.
            let mut weights = Vec::new();
            for u in &v.weights {
                let zu: Vec<f64> = z.values().chunks_exact(u.len()).map(|z| dot(z, u)).collect();
                weights.push(self.combined(&products.solve(&zu))?);
            }
            let moved = v.weights.iter().map(|u| dot(u, &v.centre));
            v.intercept = v.intercept.iter().zip(moved).map(|(b, m)| b - m).collect();
            v.centre = vec![0.0; self.design.shape().cols];
            (v.weights, v.collinear) = (weights, Vec::new());
            (v.columns, v.intercept_diverges) = self.not_determined(&v.boundary)?;
            v.exact = None;
        }
        if let Verdict::Overlap(v) = &mut found.verdict {
            v.exact = None;
            if self.classes == 2 {
                let identity = Units::identity(self.design.shape().cols);
                let case = Case { ..*self };
                v.residual = cone_residual(&case.risk(&identity, Logistic), &v.weights, self.watch)?;
            }
        }
        if let Verdict::Complete(_) = &found.verdict {
            let reason = "the rows are separable by a margin that drowns in rounding".into();
            found.verdict = Verdict::Undecided(Box::new(Undecided { reason, common: None }));
        }
        found.columns = self.design.shape().cols;
        Ok(found)
    }

    /// Z, and the factor of `XXᵀ`.
    fn coordinates(&self) -> Result<(DenseMatrix<'static, f64>, Factor)> {
        let n = self.labels.len();
        let rows = self.entries_of(&(0..n).collect::<Vec<usize>>())?;
        let product = |i: usize| -> Vec<f64> {
            let mut wide = vec![0.0; self.design.shape().cols];
            rows[i].iter().for_each(|(j, v)| wide[*j] = *v);
            rows[i..].iter().map(|row| row.iter().map(|(j, v)| v * wide[*j]).sum()).collect()
        };
        let columns: Vec<Vec<f64>> = (0..n).into_par_iter().map(product).collect();
        let products = Square::from_lower(n, |i, j| columns[j][i - j]);
        let factor = factor(&products, 1e-12);
        let rank = factor.rank();
        let column = |r: usize| {
            let mut unit = vec![0.0; rank];
            unit[r] = 1.0;
            let mut out = vec![0.0; n];
            factor.multiply_lower(&unit, &mut out);
            out
        };
        let columns: Vec<Vec<f64>> = (0..rank).into_par_iter().map(column).collect();
        let values: Vec<f64> = (0..n).flat_map(|i| columns.iter().map(move |c| c[i])).collect();
        Ok((DenseMatrix::new(values, rank)?, factor))
    }

    /// The entries of some rows.
    pub(super) fn entries_of(&self, rows: &[usize]) -> Result<Vec<Vec<(usize, f64)>>> {
        let mut tile = Tile::default();
        let of_row = |row: &usize| {
            Ok(match self.design.block(*row..row + 1, &mut tile)? {
                Block::F64(dense) => dense.values.iter().copied().enumerate().collect(),
                Block::F32(dense) => dense.values.iter().map(|v| f64::from(*v)).enumerate().collect(),
                Block::Csr(block) => {
                    let (columns, values) = block.row(0);
                    columns.iter().map(|c| *c as usize).zip(values.iter().copied()).collect()
                }
            })
        };
        rows.iter().map(of_row).collect()
    }

    /// `Σ βx`.
    fn combined(&self, beta: &[f64]) -> Result<Vec<f64>> {
        let mut out = vec![0.0; self.design.shape().cols];
        let all: Vec<usize> = (0..beta.len()).collect();
        for (row, b) in self.entries_of(&all)?.iter().zip(beta).filter(|(_, b)| **b != 0.0) {
            row.iter().for_each(|(j, v)| out[*j] += b * v);
        }
        Ok(out)
    }
}

/// Rounding does not undo two rows that are the same.
fn keeping(mut found: SeparabilityVerdict, same: Option<CommonPoint>) -> SeparabilityVerdict {
    if let Verdict::Undecided(undecided) = &mut found.verdict
        && undecided.common.is_none()
    {
        undecided.common = same;
    }
    found
}

/// FNV-1a over columns and bits of values.
fn hash(row: impl Iterator<Item = (usize, f64)>) -> u64 {
    let mix = |h: u64, v: u64| (h ^ v).wrapping_mul(0x0000_0100_0000_01b3);
    row.fold(0xcbf2_9ce4_8422_2325, |h, (j, v)| mix(mix(h, j as u64), v.to_bits()))
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
