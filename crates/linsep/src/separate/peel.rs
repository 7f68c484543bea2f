//! Constraints that single columns settle.
//!
//! A direction in one column gives every class a number u. For a row of class y that is positive in the column, `u_y ≥ u_k`
//! meets its constraint against class k; for a negative one `u_y ≤ u_k` does. These inequalities of all rows of a column are
//! the edges of a directed graph on the classes. An edge that is on no cycle can be met strictly, together with all the
//! others, if u counts the classes that can be reached; the constraints that it stands for are settled. (Of two classes: all
//! rows of one class are on one side of zero and all of the other on the other.) Without the settled constraints more
//! columns become such directions, round after round. Of sparse rows with many columns mostly little is left.

use super::Case;
use crate::certify::others;
use crate::design::CsrRows;

/// Sets of classes are bits of a word.
pub(super) const MOST_CLASSES: usize = 64;

/// A row number and a sign bit share 32 bits.
pub(super) const MOST_PEELED: usize = 1 << 31;

/// The constraints left open, and what settled the rest.
pub(super) struct Peeled {
    /// Constraints that no column settles.
    pub(super) open: Vec<bool>,
    rounds: Vec<PeelRound>,
}

#[derive(Default)]
struct PeelRound {
    /// Columns; one past the last is the intercept.
    columns: Vec<usize>,
    /// u of every class, column by column.
    levels: Vec<u8>,
    /// The constraints that they settled: a row and, as bits, the other classes.
    settled: Vec<(usize, u64)>,
}

impl PeelRound {
    fn directions(&self, classes: usize) -> impl Iterator<Item = (usize, &[u8])> {
        self.columns.iter().copied().zip(self.levels.chunks_exact(classes))
    }
}

/// Scores of all classes, linear in a sparse row.
pub(super) struct PeeledMachine {
    classes: usize,
    /// Column by column, one weight a class; the intercepts are last.
    pub(super) weights: Vec<f64>,
}

impl PeeledMachine {
    pub(super) fn zeros(classes: usize, cols: usize) -> PeeledMachine {
        PeeledMachine { classes, weights: vec![0.0; classes * (cols + 1)] }
    }

    pub(super) fn of_column(&mut self, column: usize) -> &mut [f64] {
        &mut self.weights[column * self.classes..(column + 1) * self.classes]
    }

    /// Takes over weights and intercepts by score, of all columns or of some; the one score of two classes is that of the
    /// second.
    pub(super) fn put(&mut self, weights: &[Vec<f64>], intercept: &[f64], columns: Option<&[usize]>) {
        let last = self.weights.len() / self.classes - 1;
        for (k, (w, b)) in weights.iter().zip(intercept).enumerate() {
            let class = if self.classes == 2 { 1 } else { k };
            for (at, w) in w.iter().enumerate() {
                self.of_column(columns.map_or(at, |c| c[at]))[class] = *w;
            }
            self.of_column(last)[class] = *b;
        }
    }

    fn scores(&self, x: &CsrRows<'_>, row: usize, out: &mut [f64]) {
        let of_column = |c: usize| &self.weights[c * self.classes..(c + 1) * self.classes];
        out.copy_from_slice(of_column(x.cols));
        let (columns, values) = x.row(row);
        for (c, v) in columns.iter().zip(values) {
            out.iter_mut().zip(of_column(*c as usize)).for_each(|(s, w)| *s += v * w);
        }
    }

    /// The weights of one class less those of another, and the same of the intercepts.
    pub(super) fn difference(&self, of: usize, less: Option<usize>) -> (Vec<f64>, f64) {
        let value = |w: &[f64]| w[of] - less.map_or(0.0, |k| w[k]);
        let mut weights: Vec<f64> = self.weights.chunks_exact(self.classes).map(value).collect();
        let intercept = weights.pop().unwrap_or(0.0);
        (weights, intercept)
    }
}

/// A directed graph on the classes: the successors of each as bits.
#[derive(Clone, Copy)]
struct Wishes {
    to: [u64; MOST_CLASSES],
    /// Classes with successors, as bits.
    from: u64,
}

impl Wishes {
    fn none() -> Wishes {
        Wishes { to: [0; MOST_CLASSES], from: 0 }
    }

    fn add(&mut self, own: usize, open: u64, positive: bool) {
        if positive {
            self.to[own] |= open;
            self.from |= u64::from(open != 0) << own;
        } else {
            bits(open).for_each(|k| self.to[k] |= 1 << own);
            self.from |= open;
        }
    }

    /// The transitive closure (Warshall).
    fn close(&mut self) {
        for middle in bits(self.from) {
            for start in bits(self.from) {
                if self.to[start] >> middle & 1 == 1 {
                    self.to[start] |= self.to[middle];
                }
            }
        }
    }

    /// Whether an edge is on no cycle; only after the closure.
    fn is_strict(&self, from: usize, to: usize) -> bool {
        self.to[to] >> from & 1 == 0
    }

    fn any_strict(&self) -> bool {
        bits(self.from).any(|from| bits(self.to[from]).any(|to| self.is_strict(from, to)))
    }

    /// The number of classes that can be reached, the class itself included.
    fn level(&self, class: usize) -> u8 {
        (self.to[class] | 1 << class).count_ones() as u8
    }
}

fn bits(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let next = (word != 0).then(|| word.trailing_zeros() as usize)?;
        word &= word - 1;
        Some(next)
    })
}

impl Case<'_> {
    pub(super) fn peel(&self, x: &CsrRows<'_>) -> Peeled {
        let (n, classes) = (self.rows.labels.len(), self.classes);
        let by_column = Transposed::of(x);
        let all = u64::MAX >> (MOST_CLASSES - classes);
        let mut open: Vec<u64> = self.rows.labels.iter().map(|y| all & !(1 << y.index())).collect();
        let wishes = |open: &[u64], column: usize| {
            let mut wishes = Wishes::none();
            if column == x.cols {
                self.rows.labels.iter().zip(open).for_each(|(y, open)| wishes.add(y.index(), *open, true));
            } else {
                for (row, positive) in by_column.rows(column) {
                    wishes.add(self.rows.labels[row].index(), open[row], positive);
                }
            }
            wishes.close();
            wishes
        };
        let mut rounds = Vec::new();
        // Only what a round touches is cleared: there may be as many rounds as rows.
        let (mut settled, mut touched) = (vec![0u64; n], vec![false; x.cols + 1]);
        let mut next: Vec<usize> = (0..x.cols).collect();
        let mut intercept_is_due = true;
        while self.watch.halted().is_none() {
            if next.is_empty() {
                // The intercept column has all rows, so it is tried only when no other column settles anything.
                if !std::mem::take(&mut intercept_is_due) {
                    break;
                }
                next.push(x.cols);
            }
            let mut round = PeelRound::default();
            let mut touched_rows = Vec::new();
            for column in std::mem::take(&mut next) {
                let wishes = wishes(&open, column);
                if !wishes.any_strict() {
                    continue;
                }
                round.columns.push(column);
                round.levels.extend((0..classes).map(|k| wishes.level(k)));
                let mut settle = |row: usize, positive: bool| {
                    let own = self.rows.labels[row].index();
                    let strict = bits(open[row]).filter(|k| match positive {
                        true => wishes.is_strict(own, *k),
                        false => wishes.is_strict(*k, own),
                    });
                    let strict = strict.fold(0, |word, k| word | 1u64 << k);
                    if strict != 0 && settled[row] == 0 {
                        touched_rows.push(row);
                    }
                    settled[row] |= strict;
                };
                match column == x.cols {
                    true => (0..n).for_each(|row| settle(row, true)),
                    false => by_column.rows(column).for_each(|(row, positive)| settle(row, positive)),
                }
            }
            touched_rows.sort_unstable();
            for row in touched_rows {
                let now = std::mem::take(&mut settled[row]);
                open[row] &= !now;
                round.settled.push((row, now));
                intercept_is_due = true;
                for c in x.row(row).0 {
                    if !std::mem::replace(&mut touched[*c as usize], true) {
                        next.push(*c as usize);
                    }
                }
            }
            next.sort_unstable();
            next.iter().for_each(|c| touched[*c] = false);
            if !round.columns.is_empty() {
                rounds.push(round);
            }
        }
        let constraints = |(y, open): (&crate::table::Class, &u64)| -> Vec<bool> {
            others(classes, y.index()).map(|k| open >> k & 1 == 1).collect()
        };
        Peeled { open: self.rows.labels.iter().zip(&open).flat_map(constraints).collect(), rounds }
    }

    /// A machine for the open constraints, plus multiples of the columns of every round, the last round first, such that
    /// each constraint that they settled has a slack of one. `still_open` is what the machine leaves on the boundary.
    pub(super) fn completed(
        &self,
        x: &CsrRows<'_>,
        peeled: &Peeled,
        mut machine: PeeledMachine,
        still_open: &[bool],
    ) -> PeeledMachine {
        let classes = self.classes;
        let mut scores = vec![0.0; classes];
        let mut least = f64::INFINITY;
        let per_row = classes - 1;
        for (row, y) in self.rows.labels.iter().enumerate() {
            let own = y.index();
            let asked = row * per_row..(row + 1) * per_row;
            if peeled.open[asked.clone()] != still_open[asked.clone()] {
                machine.scores(x, row, &mut scores);
                let strict = asked.zip(others(classes, own)).filter(|(c, _)| peeled.open[*c] && !still_open[*c]);
                strict.for_each(|(_, other)| least = least.min(scores[own] - scores[other]));
            }
        }
        if least > 0.0 && least.is_finite() {
            machine.weights.iter_mut().for_each(|w| *w /= least);
        }
        let mut own_direction = PeeledMachine::zeros(classes, x.cols);
        let mut of_round = vec![0.0; classes];
        for round in peeled.rounds.iter().rev() {
            for (column, levels) in round.directions(classes) {
                own_direction.of_column(column).iter_mut().zip(levels).for_each(|(w, u)| *w = f64::from(*u));
            }
            let mut share = 0.0f64;
            for (row, settled) in &round.settled {
                let own = self.rows.labels[*row].index();
                machine.scores(x, *row, &mut scores);
                own_direction.scores(x, *row, &mut of_round);
                for other in bits(*settled) {
                    share = share.max((1.0 - (scores[own] - scores[other])) / (of_round[own] - of_round[other]));
                }
            }
            for (column, levels) in round.directions(classes) {
                machine.of_column(column).iter_mut().zip(levels).for_each(|(w, u)| *w += share * f64::from(*u));
                own_direction.of_column(column).fill(0.0);
            }
        }
        machine
    }
}

/// The rows of every column, and whether they are positive there.
struct Transposed {
    starts: Vec<usize>,
    /// Twice the row, plus one where it is positive.
    rows: Vec<u32>,
}

impl Transposed {
    fn of(x: &CsrRows<'_>) -> Transposed {
        let entries = |row: usize| {
            let (columns, values) = x.row(row);
            columns.iter().zip(values).filter(|(_, v)| **v != 0.0).map(|(c, v)| (*c as usize, *v > 0.0))
        };
        let mut starts = vec![0usize; x.cols + 1];
        (0..x.len()).for_each(|row| entries(row).for_each(|(c, _)| starts[c + 1] += 1));
        (0..x.cols).for_each(|c| starts[c + 1] += starts[c]);
        let mut rows = vec![0u32; starts[x.cols]];
        let mut at = starts.clone();
        for row in 0..x.len() {
            for (c, positive) in entries(row) {
                rows[at[c]] = 2 * row as u32 + u32::from(positive);
                at[c] += 1;
            }
        }
        Transposed { starts, rows }
    }

    fn rows(&self, column: usize) -> impl Iterator<Item = (usize, bool)> {
        self.rows[self.starts[column]..self.starts[column + 1]].iter().map(|r| ((r / 2) as usize, r % 2 == 1))
    }
}
