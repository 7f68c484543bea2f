//! Many columns and few rows: the verdict by the linear relations among the rows, in exact integer arithmetic.
//!
//! Weights α of constraints balance, `Σ α(e_y − e_k)⊗x̃ = 0`, exactly if for every class the numbers `Σ_k α` of its own rows and `−α` of the
//! others are a relation z among the rows, `Σ z·x̃ = 0`. With a basis N of all relations that is `α = A·β`, one row of A for each
//! constraint and as many β as there are relations: few, where there are many columns. Which α can be positive is the question
//! of this stage once more, for the rows of A (Gale's duality):
//! - an α ≥ 0 with as many positive entries as possible proves that these constraints are on the boundary of every
//!   direction;
//! - positive weights t of the others with `Σ tA = 0` are orthogonal to all relations, so they are the slacks of a direction,
//!   `a·v = t`, that vanishes on the boundary.
//!
//! So one run of the simplex method in few unknowns gives both halves of the proof, whatever the number of columns. Where
//! there are more relations than independent columns, the independent columns are used instead, and the resulting weights
//! are checked on all columns.
//!
//! A row with an entry in a column that no other row has is in no relation. Such rows are removed first, repeatedly: of
//! sparse rows mostly few are left.

use super::from_slacks::Settled;
use super::plan::{MOST_BITS, MOST_RELATED, MOST_RELATED_ENTRIES, MOST_UNREDUCED};
use super::{Case, CommonPoint, Constraint, Overlap, Verdict};
use crate::certify::{Dyadic, ListedVectors, Relations, WholeCone, WholeRows, likely_basis, others};
use crate::design::{DenseMatrix, LabelledRows};
use crate::error::Result;
use crate::separate::{solve_whole_cone, whole_common_point};
use crate::table::Class;
use num_bigint::{BigInt, Sign};
use rayon::prelude::*;

/// The rows that may be in a relation, and their columns.
struct RelatedRows {
    rows: Vec<usize>,
    /// Columns over these rows, the constant first.
    vectors: ListedVectors,
}

impl Case<'_> {
    /// `None` where the rows are too many, or their numbers too long. `common` is a common point that is known already.
    pub(super) fn by_row_relations(&self, common: Option<CommonPoint>) -> Result<Option<Verdict>> {
        let n = self.rows.labels.len();
        if n > MOST_RELATED {
            return Ok(None);
        }
        let mut entries = Vec::with_capacity(n);
        let mut stored = 0;
        for row in 0..n {
            let mut entries_of_row = self.entries_of(&[row])?.remove(0);
            entries_of_row.retain(|(_, x)| *x != 0.0);
            stored += entries_of_row.len();
            if stored > MOST_RELATED_ENTRIES {
                return Ok(None);
            }
            entries.push(entries_of_row);
        }
        let related = self.related(&entries);
        let Some(settled) = self.settled(&related)? else { return Ok(None) };
        if !settled.open.contains(&true) {
            return self.complete_by_slacks(&entries, &settled);
        }
        let alpha =
            WholeCone { open: Vec::new(), direction: None, weights: settled.weights.clone() }.weights_as_doubles();
        let residual = self.residual_of(&alpha)?;
        let common = match common {
            Some(common) => Some(common),
            None => self.common_of_boundary(&related, &settled)?,
        };
        if !settled.open.contains(&false) {
            // Weights too small for doubles must not be read as zero.
            let alpha: Vec<f64> = alpha.iter().map(|a| a.max(f64::MIN_POSITIVE)).collect();
            return Ok(Some(Verdict::Overlap(Box::new(Overlap::new(&alpha, residual, common, Some(true))))));
        }
        let Some(common) = common else { return Ok(None) };
        let scores = match self.direction_in_doubles(&entries, &settled)? {
            Some(scores) => scores,
            None => match self.whole_direction(&entries, &settled)? {
                Some(whole) => whole.doubles(self.rows.design.shape().cols),
                None => return Ok(None),
            },
        };
        let (weights, intercept) = self.by_score(scores);
        let plane = (weights, intercept, vec![0.0; self.rows.design.shape().cols]);
        self.proved_quasi(&settled.open, plane, residual, common).map(Some)
    }

    /// Removes rows that are alone in a column. Entries are not zero.
    fn related(&self, entries: &[Vec<(usize, f64)>]) -> RelatedRows {
        let cols = self.rows.design.shape().cols;
        let used = |row: usize| entries[row].iter().map(|(j, _)| *j);
        // Per column the number of its rows and the sum of their numbers: with one row left, the sum is its number.
        let mut counts = vec![(0usize, 0usize); cols + 1];
        let count = |counts: &mut Vec<(usize, usize)>, j: usize, row: usize| {
            counts[j] = (counts[j].0 + 1, counts[j].1 + row);
        };
        for row in 0..entries.len() {
            used(row).chain([cols]).for_each(|j| count(&mut counts, j, row));
        }
        let mut is_left = vec![true; entries.len()];
        let mut alone: Vec<usize> = (0..=cols).filter(|j| counts[*j].0 == 1).collect();
        while let Some(column) = alone.pop() {
            let (rows, row) = counts[column];
            if rows != 1 {
                continue;
            }
            is_left[row] = false;
            for j in used(row).chain([cols]) {
                counts[j] = (counts[j].0 - 1, counts[j].1 - row);
                if counts[j].0 == 1 {
                    alone.push(j);
                }
            }
        }
        let rows: Vec<usize> = (0..entries.len()).filter(|row| is_left[*row]).collect();
        let mut place = vec![usize::MAX; cols];
        let mut vectors = vec![Vec::new()];
        for (at, row) in rows.iter().enumerate() {
            vectors[0].push((at, Dyadic::of(1.0)));
            for (j, x) in &entries[*row] {
                if place[*j] == usize::MAX {
                    place[*j] = vectors.len();
                    vectors.push(Vec::new());
                }
                vectors[place[*j]].push((at, Dyadic::of(*x)));
            }
        }
        RelatedRows { vectors: ListedVectors { dimension: rows.len(), vectors }, rows }
    }

    /// Which constraints are on the boundary, with both halves of the proof.
    fn settled(&self, related: &RelatedRows) -> Result<Option<Settled>> {
        let per_row = self.classes - 1;
        let all = self.rows.labels.len() * per_row;
        let mut settled =
            Settled { open: vec![false; all], weights: vec![BigInt::ZERO; all], slacks: vec![BigInt::from(1); all] };
        if related.rows.is_empty() {
            return Ok(Some(settled));
        }
        let Some(basis) = likely_basis(&related.vectors, self.effort())? else { return Ok(None) };
        let found = match 2 * basis.len() <= related.rows.len() {
            true => self.by_basis(related, &basis)?,
            false => self.by_relations(related)?,
        };
        let Some(found) = found else { return Ok(None) };
        // Rows in no relation are independent of all others: they can have any slack.
        let far = found.slacks.iter().max().cloned().unwrap_or_default().max(BigInt::from(1));
        settled.slacks.fill(far);
        for (at, row) in related.rows.iter().enumerate() {
            for c in 0..per_row {
                let (from, to) = (at * per_row + c, row * per_row + c);
                settled.open[to] = found.open[from];
                settled.weights[to] = found.weights[from].clone();
                settled.slacks[to] = found.slacks[from].clone();
            }
        }
        Ok(Some(settled))
    }

    /// By the relations: α = Aβ.
    fn by_relations(&self, related: &RelatedRows) -> Result<Option<Settled>> {
        let Some(relations) = Relations::among(&related.vectors, self.effort())? else { return Ok(None) };
        let (k, scores) = (relations.each.len(), self.classes - 1);
        let top = relations.exponents.iter().copied().max().unwrap_or(0);
        let mut by_row = vec![vec![BigInt::ZERO; k]; related.rows.len()];
        for (l, relation) in relations.each.iter().enumerate() {
            for (at, z) in relation {
                by_row[*at][l] = z << (top - relations.exponents[*at]) as usize;
            }
        }
        let mut values = Vec::with_capacity(related.rows.len() * scores * scores * k);
        for (row, numbers) in related.rows.iter().zip(&by_row) {
            for other in others(self.classes, self.rows.labels[*row].index()) {
                for score in 1..self.classes {
                    match other {
                        0 => values.extend_from_slice(numbers),
                        other if other == score => values.extend(numbers.iter().map(|z| -z)),
                        _ => values.extend(std::iter::repeat_n(BigInt::ZERO, k)),
                    }
                }
            }
        }
        let dual = WholeRows::of_vectors(values, related.rows.len() * scores, scores * k);
        let asked = vec![true; dual.constraints()];
        let Some(found) = solve_whole_cone(&dual, &asked, self.effort()).filter(|f| dual.holds(f, &asked)) else {
            return Ok(None);
        };
        let weight = |c: usize| found.direction.as_ref().map_or(BigInt::ZERO, |beta| dual.slack(c, beta));
        let weights: Vec<BigInt> = (0..dual.constraints()).into_par_iter().map(weight).collect();
        // A constraint that cannot have a weight is not on the boundary, and its weight in the dual is its slack.
        Ok(Some(Settled { open: found.open.iter().map(|o| !o).collect(), weights, slacks: found.weights }))
    }

    /// By independent columns; that the others are combinations of them is checked on the weights only.
    fn by_basis(&self, related: &RelatedRows, basis: &[usize]) -> Result<Option<Settled>> {
        let Some(numbers) = self.whole_part(related, &(0..related.rows.len()).collect::<Vec<usize>>(), basis)? else {
            return Ok(None);
        };
        let asked = vec![true; numbers.constraints()];
        let Some(found) = solve_whole_cone(&numbers, &asked, self.effort()).filter(|f| numbers.holds(f, &asked)) else {
            return Ok(None);
        };
        if !self.balances(related, &found.weights) {
            return Ok(None);
        }
        let slack = |c: usize| match (&found.direction, found.open[c]) {
            (Some(direction), false) => numbers.slack(c, direction),
            _ => BigInt::ZERO,
        };
        let slacks: Vec<BigInt> = (0..numbers.constraints()).into_par_iter().map(slack).collect();
        Ok(Some(Settled { open: found.open, weights: found.weights, slacks }))
    }

    /// Some of the rows in some of their columns.
    fn whole_part(&self, related: &RelatedRows, rows: &[usize], columns: &[usize]) -> Result<Option<WholeRows>> {
        let mut place = vec![usize::MAX; related.rows.len()];
        rows.iter().enumerate().for_each(|(to, at)| place[*at] = to);
        // The constant is among the unknowns anyway, and a table has at least one column.
        let columns: Vec<usize> = columns.iter().copied().filter(|v| *v > 0).collect();
        let width = columns.len().max(1);
        let mut values = vec![0.0; rows.len() * width];
        for (to, v) in columns.iter().enumerate() {
            for (at, x) in related.vectors.vectors[*v].iter().filter(|(at, _)| place[*at] != usize::MAX) {
                values[place[*at] * width + to] = x.as_double();
            }
        }
        let labels: Vec<Class> = rows.iter().map(|at| self.rows.labels[related.rows[*at]]).collect();
        WholeRows::new(LabelledRows::new(&DenseMatrix::new(values, width)?, &labels), self.classes, None, MOST_BITS)
    }

    /// Whether `Σ α(e_y − e_k)⊗x̃ = 0` in every column.
    fn balances(&self, related: &RelatedRows, weights: &[BigInt]) -> bool {
        let per_row = self.classes - 1;
        let mut by_class = vec![vec![BigInt::ZERO; related.rows.len()]; self.classes];
        for (at, row) in related.rows.iter().enumerate() {
            let own = self.rows.labels[*row].index();
            for (other, w) in others(self.classes, own).zip(&weights[at * per_row..]) {
                by_class[own][at] += w;
                by_class[other][at] -= w;
            }
        }
        let zero = |vector: &Vec<(usize, Dyadic)>| by_class.iter().all(|z| Dyadic::is_zero_combination(z, vector));
        related.vectors.vectors.par_iter().all(zero)
    }

    /// Few constraints of the boundary that balance on their own; all of them where fewer would take too long.
    fn common_of_boundary(&self, related: &RelatedRows, settled: &Settled) -> Result<Option<CommonPoint>> {
        let per_row = self.classes - 1;
        let on_it = |at: &usize| {
            let row = related.rows[*at];
            settled.open[row * per_row..(row + 1) * per_row].contains(&true)
        };
        let rows: Vec<usize> = (0..related.rows.len()).filter(on_it).collect();
        let mut place = vec![usize::MAX; related.rows.len()];
        rows.iter().enumerate().for_each(|(to, at)| place[*at] = to);
        let kept = |vector: &Vec<(usize, Dyadic)>| -> Vec<(usize, Dyadic)> {
            vector.iter().filter(|(at, _)| place[*at] != usize::MAX).map(|(at, x)| (place[*at], *x)).collect()
        };
        let part = ListedVectors { dimension: rows.len(), vectors: related.vectors.vectors.iter().map(kept).collect() };
        let mut weights = settled.weights.clone();
        if let Some(basis) = likely_basis(&part, self.effort())?
            && let Some(numbers) = self.whole_part(related, &rows, &basis)?
        {
            let open: Vec<bool> = rows
                .iter()
                .flat_map(|at| &settled.open[related.rows[*at] * per_row..(related.rows[*at] + 1) * per_row])
                .copied()
                .collect();
            if let Some(few) = whole_common_point(&numbers, &open, self.effort()) {
                let mut of_related = vec![BigInt::ZERO; related.rows.len() * per_row];
                few.into_iter().for_each(|(c, w)| of_related[rows[c / per_row] * per_row + c % per_row] = w);
                if self.balances(related, &of_related) {
                    weights.fill(BigInt::ZERO);
                    for (c, w) in of_related.into_iter().enumerate() {
                        weights[related.rows[c / per_row] * per_row + c % per_row] = w;
                    }
                }
            }
        }
        let used: Vec<usize> = (0..weights.len()).filter(|c| weights[*c].sign() == Sign::Plus).collect();
        if used.len() > MOST_UNREDUCED {
            return Ok(None);
        }
        let doubles = WholeCone { open: Vec::new(), direction: None, weights: weights.clone() }.weights_as_doubles();
        let total: f64 = used.iter().map(|c| doubles[*c]).sum();
        let constraint = |c: &usize| {
            let (row, own) = (c / per_row, self.rows.labels[c / per_row].index());
            let other = others(self.classes, own).nth(c % per_row).unwrap_or(own);
            Constraint { row, own, other, weight: 2.0 * doubles[*c] / total, exact: Some(weights[*c].to_string()) }
        };
        Ok(Some(CommonPoint { constraints: used.iter().map(constraint).collect(), residual: 0.0 }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::separate::SeparabilityOptions;
    use crate::watch::Watch;

    /// Numbers that look drawn.
    fn drawn(state: &mut u64, below: u64) -> u64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) % below
    }

    /// Rows of few columns, whose verdict the simplex method knows, agree with it: by relations, and by independent columns.
    #[test]
    fn the_simplex_method_on_the_columns_agrees() -> Result<()> {
        let (mut state, watch, options) = (5, Watch::default(), SeparabilityOptions::default());
        let mut seen = std::collections::BTreeMap::new();
        for round in 0..600 {
            let classes = 2 + round % 2;
            let (rows, cols) = (3 + drawn(&mut state, 8) as usize, 1 + drawn(&mut state, 6) as usize);
            let number = |state: &mut u64| (drawn(state, 4) as f64 - 1.0) * [1.0, 0.3][round / 2 % 2];
            let values: Vec<f64> = (0..rows * cols).map(|_| number(&mut state)).collect();
            let class =
                |i: usize, state: &mut u64| if i < classes { i as u32 } else { drawn(state, classes as u64) as u32 };
            let labels: Vec<Class> = (0..rows).map(|i| Class(class(i, &mut state))).collect();
            let design = DenseMatrix::new(values, cols)?;
            let case = Case { rows: LabelledRows::new(&design, &labels), classes, options: &options, watch: &watch };
            let by_columns = case.in_whole_numbers(None)?.expect("small");
            let by_rows = case.by_row_relations(None)?.expect("small");
            assert_eq!(by_columns.name(), by_rows.name(), "round {round}");
            assert_eq!(by_rows.exact(), Some(true), "round {round}");
            if let (Verdict::QuasiComplete(a), Verdict::QuasiComplete(b)) = (&by_columns, &by_rows) {
                assert_eq!((&a.pairs, &a.columns, &a.collinear), (&b.pairs, &b.columns, &b.collinear), "round {round}");
            }
            *seen.entry(by_rows.name()).or_insert(0) += 1;
        }
        assert!(seen.len() == 3 && seen.values().all(|n| *n > 50), "{seen:?}");
        Ok(())
    }

    /// Rows that differ by less than doubles can tell are separated by a plane in whole numbers.
    #[test]
    fn rows_that_are_nearly_the_same() -> Result<()> {
        let (watch, options) = (Watch::default(), SeparabilityOptions::default());
        let tiny = f64::EPSILON;
        let values = vec![1.0, 1.0, 1.0, 1.0 + tiny, 1.0 + tiny, 1.0 + 2.0 * tiny, 1e200, 3.0, 1e-200, 1e200, 3.0, 0.0];
        let labels: Vec<Class> = [0, 1, 0, 1].map(Class).to_vec();
        let design = DenseMatrix::new(values, 3)?;
        let case = Case { rows: LabelledRows::new(&design, &labels), classes: 2, options: &options, watch: &watch };
        let Some(Verdict::Complete(found)) = case.by_row_relations(None)? else { panic!("they can be told apart") };
        assert!(found.whole.is_some() || case.exactly_complete(&found)?);
        Ok(())
    }
}
