//! Rows that single columns settle.
//!
//! A column in which no row of one class is positive and none of the other negative is a direction that has no row on the
//! wrong side: its rows are strictly on their side and settled. Without them other columns become such directions, round
//! after round. Of sparse rows with many columns a small core is left, mostly; a direction for the core and the columns
//! of all rounds, the later ones small beside the earlier, settle the same rows at once. Weights that prove that rows of the
//! core cannot leave the boundary prove it among all rows. So the verdict is that of the core.

use super::{Case, CommonPoint, MOST_COLUMNS, QuasiComplete, SeparabilityVerdict, Verdict};
use crate::certify::check_cone_direction;
use crate::design::{Block, CsrMatrix, CsrRows, Tile, Units};
use crate::error::Result;
use crate::objective::{Coef, Logistic};
use crate::table::Class;

/// So many columns of the core are looked at by Newton's method in the columns.
const MOST_OF_CORE: usize = 5_000;

/// What is left, and what settled the others.
struct Peeled {
    /// Rows that no column settles.
    core: Vec<usize>,
    /// Round by round: columns with the sign of their weight, and the rows they settled. `None` is the intercept.
    rounds: Vec<Round>,
}

#[derive(Default)]
struct Round {
    columns: Vec<(usize, f64)>,
    /// Only rows of one class were left: the intercept settles them.
    intercept: f64,
    rows: Vec<usize>,
}

/// A plane `w·x + b`.
struct Plane {
    weights: Vec<f64>,
    intercept: f64,
}

impl Plane {
    /// The score of a row on its side.
    fn slack(&self, x: &CsrRows<'_>, row: usize, side: f64) -> f64 {
        let (columns, values) = x.row(row);
        let score: f64 = columns.iter().zip(values).map(|(c, v)| v * self.weights[*c as usize]).sum();
        side * (score + self.intercept)
    }
}

impl Case<'_> {
    /// The verdict of two classes by the core; `None` where that is too large, too, or rounding gets in the way.
    pub(super) fn by_core(&self, same: Option<&CommonPoint>) -> Result<Option<SeparabilityVerdict>> {
        let n = self.labels.len();
        let mut tile = Tile::default();
        let Block::Csr(x) = self.design.block(0..n, &mut tile)? else { return Ok(None) };
        if self.classes != 2 {
            return Ok(None);
        }
        let peeled = self.peel(&x);
        let core = &peeled.core;
        if core.is_empty() {
            return self.settled_by_columns(&x, &peeled);
        }
        let (matrix, used) = part(&x, core)?;
        let labels: Vec<Class> = core.iter().map(|row| self.labels[*row]).collect();
        let case = Case { design: &matrix, labels: &labels, ..*self };
        let mut found = match used.len() {
            columns if columns <= MOST_COLUMNS => case.narrow()?,
            _ if core.len() <= super::wide::MOST_ROWS => case.through_rows()?,
            columns if columns <= MOST_OF_CORE => case.narrow()?,
            _ => return Ok(None),
        };
        found.rename_rows(core);
        (found.rows, found.columns) = (n, x.cols);
        let of_core = |w: &[Vec<f64>], b: &[f64], centre: &[f64]| {
            let mut plane = Plane { weights: vec![0.0; x.cols], intercept: b[0] };
            for (at, column) in used.iter().enumerate() {
                plane.weights[*column] = w[0][at];
                plane.intercept -= w[0][at] * centre[at];
            }
            plane
        };
        let (plane, boundary, residual, common) = match found.verdict {
            Verdict::Undecided(_) => return Ok(None),
            Verdict::Overlap(_) if core.len() == n => return Ok(Some(found)),
            Verdict::Complete(v) => {
                let plane = self.completed(&x, &peeled, of_core(&v.weights, &v.intercept, &v.centre), &[]);
                return self.strict_plane(plane, found.iterations);
            }
            Verdict::QuasiComplete(v) => {
                (of_core(&v.weights, &v.intercept, &v.centre), v.boundary, v.residual, Some(v.common))
            }
            Verdict::Overlap(v) => {
                let none = Plane { weights: vec![0.0; x.cols], intercept: 0.0 };
                (none, core.clone(), v.residual, v.common)
            }
        };
        let Some(common) = same.cloned().or(common) else { return Ok(None) };
        let plane = self.completed(&x, &peeled, plane, &boundary);
        found.verdict = match self.quasi_by_core(plane, boundary, residual, common)? {
            Some(verdict) => verdict,
            None => return Ok(None),
        };
        Ok(Some(found))
    }

    fn side(&self, row: usize) -> f64 {
        if self.labels[row].0 == 1 { 1.0 } else { -1.0 }
    }

    /// No row is left: a strict plane of columns alone.
    fn settled_by_columns(&self, x: &CsrRows<'_>, peeled: &Peeled) -> Result<Option<SeparabilityVerdict>> {
        let plane = self.completed(x, peeled, Plane { weights: vec![0.0; x.cols], intercept: 0.0 }, &[]);
        self.strict_plane(plane, 0)
    }

    fn strict_plane(&self, plane: Plane, iterations: usize) -> Result<Option<SeparabilityVerdict>> {
        Ok(match self.plane_as_it_is(plane.weights)? {
            Verdict::Undecided(_) => None,
            verdict => Some(self.found(verdict, iterations)),
        })
    }

    fn peel(&self, x: &CsrRows<'_>) -> Peeled {
        let n = self.labels.len();
        let by_column = Transposed::of(x);
        // Entries of rows that are left, by column: on the side of the class, and against it.
        let mut counts = vec![[0usize; 2]; x.cols];
        let against = |row: usize, v: f64| usize::from(self.side(row) * v < 0.0);
        let entries = |row: usize| {
            let (columns, values) = x.row(row);
            columns.iter().zip(values).filter(|(_, v)| **v != 0.0).map(|(c, v)| (*c as usize, *v))
        };
        (0..n).for_each(|row| entries(row).for_each(|(c, v)| counts[c][against(row, v)] += 1));
        let mut left = vec![true; n];
        let mut of_class = [0usize; 2];
        self.labels.iter().for_each(|class| of_class[class.index()] += 1);
        let pure = |counts: &[usize; 2]| (counts[0] > 0) != (counts[1] > 0);
        let mut next: Vec<usize> = (0..x.cols).filter(|c| pure(&counts[*c])).collect();
        let mut rounds = Vec::new();
        while !next.is_empty() {
            let mut round = Round::default();
            for column in std::mem::take(&mut next) {
                round.columns.push((column, if counts[column][0] > 0 { 1.0 } else { -1.0 }));
            }
            for (column, _) in &round.columns {
                for row in by_column.rows(*column) {
                    if std::mem::take(&mut left[*row as usize]) {
                        round.rows.push(*row as usize);
                    }
                }
            }
            let mut touched = Vec::new();
            for row in &round.rows {
                of_class[self.labels[*row].index()] -= 1;
                for (c, v) in entries(*row) {
                    counts[c][against(*row, v)] -= 1;
                    touched.push(c);
                }
            }
            touched.sort_unstable();
            touched.dedup();
            next = touched.into_iter().filter(|c| pure(&counts[*c])).collect();
            rounds.push(round);
        }
        let mut core: Vec<usize> = (0..n).filter(|row| left[*row]).collect();
        if of_class[0] == 0 || of_class[1] == 0 {
            let intercept = if of_class[0] == 0 { 1.0 } else { -1.0 };
            rounds.push(Round { intercept, rows: std::mem::take(&mut core), ..Round::default() });
        }
        Peeled { core, rounds }
    }

    /// A plane of the core, and beside it so much of the columns of every round, the last first, that each row that they
    /// settled has a slack of one.
    fn completed(&self, x: &CsrRows<'_>, peeled: &Peeled, mut plane: Plane, boundary: &[usize]) -> Plane {
        let strict = peeled.core.iter().filter(|row| boundary.binary_search(row).is_err());
        let least = strict.map(|row| plane.slack(x, *row, self.side(*row))).fold(f64::INFINITY, f64::min);
        if least > 0.0 && least.is_finite() {
            plane.weights.iter_mut().for_each(|w| *w /= least);
            plane.intercept /= least;
        }
        for round in peeled.rounds.iter().rev() {
            let mut own = Plane { weights: vec![0.0; x.cols], intercept: round.intercept };
            round.columns.iter().for_each(|(c, sign)| own.weights[*c] = *sign);
            let needed = round.rows.iter().map(|row| {
                let side = self.side(*row);
                (1.0 - plane.slack(x, *row, side)) / own.slack(x, *row, side)
            });
            let share = needed.fold(0.0, f64::max);
            round.columns.iter().for_each(|(c, sign)| plane.weights[*c] += share * sign);
            plane.intercept += share * round.intercept;
        }
        plane
    }

    /// The verdict that a direction and the rows it cannot settle stand for, if it holds on all rows.
    fn quasi_by_core(
        &self,
        plane: Plane,
        boundary: Vec<usize>,
        residual: f64,
        common: CommonPoint,
    ) -> Result<Option<Verdict>> {
        let cols = self.design.shape().cols;
        let identity = Units::identity(cols);
        let case = Case { ..*self };
        let risk = case.risk(&identity, Logistic);
        let mut values = plane.weights.clone();
        values.push(plane.intercept);
        let check = check_cone_direction(&risk, &Coef::from_vec(values, 1, cols), self.options.tolerance, self.watch)?;
        let on_it = |row: &usize| !check.strict[*row];
        if !check.separates(self.options.tolerance)
            || !(0..self.labels.len()).filter(on_it).eq(boundary.iter().copied())
        {
            return Ok(None);
        }
        let (columns, intercept_diverges) = self.not_determined(&boundary)?;
        Ok(Some(Verdict::QuasiComplete(Box::new(QuasiComplete {
            weights: vec![plane.weights],
            intercept: vec![plane.intercept],
            centre: vec![0.0; cols],
            columns,
            intercept_diverges,
            collinear: Vec::new(),
            strict_rows: self.labels.len() - boundary.len(),
            boundary,
            residual,
            common,
            exact: None,
        }))))
    }
}

/// The rows of every column.
struct Transposed {
    starts: Vec<usize>,
    rows: Vec<u32>,
}

impl Transposed {
    fn of(x: &CsrRows<'_>) -> Transposed {
        let mut starts = vec![0usize; x.cols + 1];
        (0..x.len()).for_each(|row| x.row(row).0.iter().for_each(|c| starts[*c as usize + 1] += 1));
        (0..x.cols).for_each(|c| starts[c + 1] += starts[c]);
        let mut rows = vec![0u32; starts[x.cols]];
        let mut at = starts.clone();
        for row in 0..x.len() {
            let (columns, values) = x.row(row);
            for (c, _) in columns.iter().zip(values).filter(|(_, v)| **v != 0.0) {
                rows[at[*c as usize]] = row as u32;
                at[*c as usize] += 1;
            }
        }
        // Entries of zero leave the end of their column unused.
        let ends = at;
        let mut kept = Vec::with_capacity(rows.len());
        let mut tight = vec![0];
        for c in 0..x.cols {
            kept.extend_from_slice(&rows[starts[c]..ends[c]]);
            tight.push(kept.len());
        }
        Transposed { starts: tight, rows: kept }
    }

    fn rows(&self, column: usize) -> &[u32] {
        &self.rows[self.starts[column]..self.starts[column + 1]]
    }
}

/// Some rows with the columns that they use, of which there is at least one.
fn part(x: &CsrRows<'_>, rows: &[usize]) -> Result<(CsrMatrix<'static>, Vec<usize>)> {
    let mut place = vec![u32::MAX; x.cols];
    rows.iter().for_each(|row| x.row(*row).0.iter().for_each(|c| place[*c as usize] = 0));
    let mut used: Vec<usize> = (0..x.cols).filter(|c| place[*c] == 0).collect();
    if used.is_empty() {
        used.extend((x.cols > 0).then_some(0));
    }
    used.iter().enumerate().for_each(|(at, c)| place[*c] = at as u32);
    let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in rows {
        let (columns, entries) = x.row(*row);
        indices.extend(columns.iter().map(|c| place[*c as usize]));
        values.extend_from_slice(entries);
        starts.push(indices.len());
    }
    Ok((CsrMatrix::new(starts, indices, values, used.len())?, used))
}
