//! Rows with so many columns that the system is solved in the space of the rows.
//!
//! Such rows are mostly separable, and an active set method finds the widest plane. Where that finds none and the rows are
//! many, single columns settle most of them; where rows, or the constraints left open, are few, the system is solved for `Z`
//! with `ZZᵀ = XXᵀ`: it depends on the Gram matrix of the rows only.

use super::plan::{Route, affords_margin, affords_patience};
use super::{Case, CommonPoint, Complete, Constraint, MARGIN, SeparabilityVerdict, Undecided, Verdict};
use crate::design::{Block, DenseMatrix, LabelledRows, Tile, is_sparse};
use crate::error::{ErrorKind, Result};
use crate::linalg::{Factor, Square, dot, factor};
use crate::separate::{SeparatingPlane, any_plane, hard_margin, margin_by_faces};
use crate::table::Class;
use rayon::prelude::*;

/// A relative gap of one holds for every separating plane.
const ANY_PLANE: f64 = 1.0;
/// Planes against the rest only have to separate, so a rough one suffices. Chosen, out of reach of bench/constants.md.
const ANY_GAP: f64 = 0.1;
/// On the unit-diagonal scale, pivots of products of rows below this are combinations of others; what is found through
/// them is measured on the rows.
const DEPENDENT: f64 = 1e-12;

impl Case<'_> {
    pub(super) fn wide(&self) -> Result<SeparabilityVerdict> {
        let same = self.contradiction()?;
        let open = same.is_none();
        let mut found = match self.classes {
            _ if !open => None,
            2 => self.affordable_plane()?.map(|found| self.complete_plane(&found)).transpose()?,
            _ => self.machine()?,
        };
        let routes = self.size().routes();
        let mut by_core = None;
        if found.is_none() && routes.contains(&Route::SingleColumns) {
            by_core = self.by_core(same.as_ref())?;
        }
        match by_core {
            Some(SeparabilityVerdict { verdict: Verdict::Complete(_), .. }) | None => {}
            Some(decided) => return Ok(decided),
        }
        // The long search, for a plane wider than single columns give, or where these do not decide.
        let any_plane_will_do = by_core.is_some() && self.margin_asked()? >= ANY_PLANE;
        if found.is_none() && open && self.classes == 2 && !any_plane_will_do && self.watch.halted().is_none() {
            found = self.widest_plane()?;
        }
        if let Some(complete) = found {
            return Ok(self.found(Route::Planes, self.if_it_separates(complete)?, 0));
        }
        if let Some(complete) = by_core {
            return Ok(complete);
        }
        let last = routes.last().copied().filter(|_| self.watch.halted().is_none());
        match last {
            Some(Route::RowProducts) => self.through_rows(same),
            Some(Route::Columns | Route::PartOfRows) => Ok(keeping(self.narrow()?, same)),
            _ => {
                let (rows, cols) = (self.rows.labels.len(), self.rows.design.shape().cols);
                let reason = match self.watch.halted() {
                    Some(_) => "it was stopped before a plane was found, or shown not to exist".to_owned(),
                    None => format!(
                        "no separating plane was found, and {rows} rows of {cols} columns are too many to prove that there is none"
                    ),
                };
                Ok(self.found(Route::Planes, Verdict::Undecided(Box::new(Undecided { reason, common: same })), 0))
            }
        }
    }

    /// The widest plane; some plane where the widest would take long, or any plane was asked for.
    fn affordable_plane(&self) -> Result<Option<SeparatingPlane>> {
        let tolerance = self.margin_asked()?;
        if tolerance >= ANY_PLANE {
            return any_plane(self.rows, self.watch);
        }
        // Under a deadline any plane comes first, for the verdict; the remaining time goes into the margin.
        let some = if self.watch.has_deadline() { any_plane(self.rows, self.watch)? } else { None };
        let found = match margin_by_faces(self.rows, tolerance, self.watch) {
            Err(error) if error.kind() == ErrorKind::Interrupted && some.is_some() => None,
            found => found?,
        };
        let Some(found) = found else { return Ok(some) };
        let patient = self.options.margin_tolerance.is_some() || affords_patience(self.entries()?);
        if found.gap() <= tolerance || !patient || self.watch.halted().is_some() {
            return Ok(Some(found));
        }
        let wider = hard_margin(self.rows, None, tolerance, self.watch)?.filter(|other| other.gap() < found.gap());
        Ok(Some(wider.unwrap_or(found)))
    }

    /// The margin tolerance.
    fn margin_asked(&self) -> Result<f64> {
        let affordable = if affords_margin(self.entries()?) { MARGIN } else { ANY_PLANE };
        Ok(self.options.margin_tolerance.unwrap_or(affordable))
    }

    /// The stored entries of sparse rows; zero for dense ones.
    fn entries(&self) -> Result<usize> {
        let mut tile = Tile::default();
        Ok(match self.rows.design.block(0..self.rows.labels.len(), &mut tile)? {
            Block::Csr(x) => x.entries(),
            _ => 0,
        })
    }

    fn widest_plane(&self) -> Result<Option<Complete>> {
        self.widest(None)?.map(|found| self.complete_plane(&found)).transpose()
    }

    /// Two rows that are the same and have different labels: a common point, exactly.
    fn contradiction(&self) -> Result<Option<CommonPoint>> {
        let n = self.rows.labels.len();
        let label = |row: usize| self.rows.labels[row].index();
        let mut tile = Tile::default();
        let found = match self.rows.design.block(0..n, &mut tile)? {
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
                exact: Some("1".to_owned()),
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
            (0..self.rows.labels.len()).into_par_iter().map(|row| (hash(stored(row)), row)).collect();
        hashes.par_sort_unstable();
        let pairs = hashes.windows(2).filter(|pair| pair[0].0 == pair[1].0).map(|pair| (pair[0].1, pair[1].1));
        { pairs }.find(|(a, b)| self.rows.labels[*a] != self.rows.labels[*b] && stored(*a).eq(stored(*b)))
    }

    /// One plane for every class against the rest: together they are a linear machine.
    fn machine(&self) -> Result<Option<Complete>> {
        let mut planes: Vec<SeparatingPlane> = Vec::new();
        for class in 0..self.classes {
            let is_class = |y: &Class| Class(u32::from(y.index() == class));
            let labels: Vec<Class> = self.rows.labels.iter().map(is_class).collect();
            let rows = LabelledRows::new(self.rows.design, &labels);
            let quickly = any_plane(rows, self.watch)?;
            match quickly.map_or_else(|| hard_margin(rows, None, ANY_GAP, self.watch), |plane| Ok(Some(plane)))? {
                Some(plane) => planes.push(plane),
                None => return Ok(None),
            }
        }
        let (centre, intercept) = (planes[0].centre.clone(), planes.iter().map(|p| p.intercept).collect());
        self.measured_machine(planes.into_iter().map(|p| p.weights).collect(), intercept, centre)
    }

    /// A linear machine with its margin, where every row is strictly in the region of its class.
    pub(super) fn measured_machine(
        &self,
        weights: Vec<Vec<f64>>,
        intercept: Vec<f64>,
        centre: Vec<f64>,
    ) -> Result<Option<Complete>> {
        // Sparse rows stay sparse about zero; the cancellation that this costs is in the error bounds. Dense rows are
        // centred.
        let sparse = is_sparse(self.rows.design);
        let zero = vec![0.0; centre.len()];
        let (moved_by, less) = if sparse { (&centre, &zero) } else { (&zero, &centre) };
        let moved = |(w, b): (&Vec<f64>, &f64)| b - dot(w, moved_by);
        let moved_size = |w: &Vec<f64>| w.iter().zip(moved_by).map(|(w, c)| (w * c).abs()).sum::<f64>();
        let at_zero: Vec<f64> = weights.iter().zip(&intercept).map(moved).collect();
        let moved_sizes: Vec<f64> = weights.iter().map(moved_size).collect();
        let of_row = |row: usize| -> Result<Vec<Score>> {
            let entries = self.entries_of(&[row])?.remove(0);
            let score = |((w, b), moved): ((&Vec<f64>, &f64), &f64)| {
                let mut score = Score { value: *b, size: b.abs() + moved };
                entries.iter().for_each(|(j, x)| score.add(w[*j] * (x - less[*j])));
                score
            };
            Ok(weights.iter().zip(&at_zero).zip(&moved_sizes).map(score).collect())
        };
        let by_row: Vec<Vec<Score>> = (0..self.rows.labels.len()).into_par_iter().map(of_row).collect::<Result<_>>()?;
        let norm = |a: usize, b: usize| {
            let difference: Vec<f64> = weights[a].iter().zip(&weights[b]).map(|(a, b)| a - b).collect();
            crate::certify::length(&difference)
        };
        let norms: Vec<Vec<f64>> = (0..self.classes).map(|a| (0..self.classes).map(|b| norm(a, b)).collect()).collect();
        // A sum of d products in any order, of numbers that were rounded three times each.
        let rounding = (centre.len() + 8) as f64 * f64::EPSILON;
        let lost = (2 * centre.len() + 8) as f64 * f64::from_bits(1);
        let mut margin = f64::INFINITY;
        for (row, y) in self.rows.labels.iter().enumerate() {
            for other in crate::certify::others(self.classes, y.index()) {
                let (own, its) = (by_row[row][y.index()], by_row[row][other]);
                let slack = own.value - its.value - rounding * (own.size + its.size) - lost;
                // Numbers that overflowed prove nothing.
                if !(slack > 0.0 && slack.is_finite()) {
                    return Ok(None);
                }
                margin = margin.min(slack / norms[y.index()][other] * (1.0 - 8.0 * f64::EPSILON));
            }
        }
        Ok((margin > 0.0).then_some(Complete {
            weights,
            intercept,
            centre,
            margin,
            hull: None,
            exact: None,
            whole: None,
        }))
    }

    /// Z, and the factor of `XXᵀ`.
    pub(super) fn coordinates(&self) -> Result<(DenseMatrix<'static, f64>, Factor)> {
        let n = self.rows.labels.len();
        let rows = self.entries_of(&(0..n).collect::<Vec<usize>>())?;
        let product = |i: usize| -> Vec<f64> {
            let mut wide = vec![0.0; self.rows.design.shape().cols];
            rows[i].iter().for_each(|(j, v)| wide[*j] = *v);
            rows[i..].iter().map(|row| row.iter().map(|(j, v)| v * wide[*j]).sum()).collect()
        };
        let columns: Vec<Vec<f64>> = (0..n).into_par_iter().map(product).collect();
        let products = Square::from_lower(n, |i, j| columns[j][i - j]);
        let factor = factor(&products, DEPENDENT);
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
            Ok(match self.rows.design.block(*row..row + 1, &mut tile)? {
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
    pub(super) fn combined(&self, beta: &[f64]) -> Result<Vec<f64>> {
        let mut out = vec![0.0; self.rows.design.shape().cols];
        let all: Vec<usize> = (0..beta.len()).collect();
        for (row, b) in self.entries_of(&all)?.iter().zip(beta).filter(|(_, b)| **b != 0.0) {
            row.iter().for_each(|(j, v)| out[*j] += b * v);
        }
        Ok(out)
    }
}

/// Two equal rows with different labels remain a common point, whatever rounding left undecided.
fn keeping(mut found: SeparabilityVerdict, same: Option<CommonPoint>) -> SeparabilityVerdict {
    if let Verdict::Undecided(undecided) = &mut found.verdict
        && undecided.common.is_none()
    {
        undecided.common = same;
    }
    found
}

/// A score and the size of its terms.
#[derive(Clone, Copy)]
struct Score {
    value: f64,
    size: f64,
}

impl Score {
    fn add(&mut self, term: f64) {
        self.value += term;
        self.size += term.abs();
    }
}

/// FNV-1a over columns and bits of values.
fn hash(row: impl Iterator<Item = (usize, f64)>) -> u64 {
    let mix = |h: u64, v: u64| (h ^ v).wrapping_mul(0x0000_0100_0000_01b3);
    row.fold(0xcbf2_9ce4_8422_2325, |h, (j, v)| mix(mix(h, j as u64), v.to_bits()))
}
