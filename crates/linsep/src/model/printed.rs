//! Columns that agree with others up to the digits they were printed with.
//!
//! A number with the printed unit δ is off by up to δ/2, `δ²/12` in the mean square. Where the residual
//! `r = x_c − Σ a_k x_k` of a column on those before it has `Var(r) ≤ (δ_c² + Σ a_k²δ_k²)/3`, four times the variance of
//! rounding alone, its difference from them is taken for rounding: a weight on it would be a weight on digits that were
//! never measured.

use super::Note;
use crate::certify::exactly_dependent;
use crate::design::Training;
use crate::discriminant::Discriminant;
use crate::linalg::{Alias, Square, dot};
use crate::watch::Watch;

/// Only a column of which the others explain all but this share of its variance is tested for rounding: a coarsely printed
/// column (0, 0.1, 0, …) on its own agrees with nothing.
pub(super) const EXPLAINED: f64 = 0.01;
/// Columns up to which the rule is applied: its factorisation, in plain loops on one core, grows with the cube. Chosen
/// (bench/constants.md).
const MOST_COLUMNS: usize = 2_000;
/// Shares of a variance that a Gram matrix resolves: about 50 units.
const RESOLVED: f64 = 1e-14;
/// Terms below this share of the largest are left out of the words.
const NAMED: f64 = 1e-3;

/// The columns of a covariance (or Gram) that agree with earlier ones up to their printed digits, with all coefficients;
/// `units` are the printed units in the units of the matrix, zero for columns that have none.
pub(super) fn agreeing(a: &Square, units: &[f64]) -> Vec<Alias> {
    if a.n() > MOST_COLUMNS || units.iter().all(|unit| *unit == 0.0) {
        return Vec::new();
    }
    let mut rule = AgreementRule::new(units, RESOLVED);
    for column in (0..units.len()).filter(|j| a.get(*j, *j) > 0.0) {
        let mut row: Vec<f64> = Vec::with_capacity(rule.chosen.len() + 1);
        for (j, other) in rule.chosen.iter().enumerate() {
            let partial: f64 = row.iter().zip(&rule.rows[j]).map(|(x, y)| x * y).sum();
            row.push((a.get(column, *other) - partial) / rule.rows[j][j]);
        }
        let variance = a.get(column, column);
        let rest = variance - row.iter().map(|x| x * x).sum::<f64>();
        rule.decide(column, row, rest, variance);
    }
    rule.found
}

/// The same for the columns of a matrix whose Gram is the covariance: the lengths keep the digits that their squares lose.
pub(super) fn agreeing_columns(columns: &[&[f64]], units: &[f64]) -> Vec<Alias> {
    if columns.len() > MOST_COLUMNS || units.iter().all(|unit| *unit == 0.0) {
        return Vec::new();
    }
    let mut rule = AgreementRule::new(units, RESOLVED * RESOLVED);
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for (column, values) in columns.iter().enumerate() {
        let variance = dot(values, values);
        if variance == 0.0 {
            continue;
        }
        let (mut rest, mut row) = (values.to_vec(), vec![0.0; basis.len()]);
        // Reorthogonalised once: twice is enough (Kahan and Parlett).
        for _ in 0..2 {
            for (q, along) in basis.iter().zip(&mut row) {
                let part = dot(q, &rest);
                *along += part;
                rest.iter_mut().zip(q).for_each(|(r, q)| *r -= part * q);
            }
        }
        let left = dot(&rest, &rest);
        if rule.decide(column, row, left, variance) {
            let length = left.sqrt();
            basis.push(rest.into_iter().map(|r| r / length).collect());
        }
    }
    rule.found
}

/// The columns so far: those kept, with their rows of the lower factor, and those that agree with them.
struct AgreementRule<'a> {
    units: &'a [f64],
    /// A share of the variance below this is rounding of the matrix itself, which the rank rule of the method is for.
    resolved: f64,
    chosen: Vec<usize>,
    rows: Vec<Vec<f64>>,
    found: Vec<Alias>,
}

impl<'a> AgreementRule<'a> {
    fn new(units: &'a [f64], resolved: f64) -> AgreementRule<'a> {
        AgreementRule { units, resolved, chosen: Vec::new(), rows: Vec::new(), found: Vec::new() }
    }

    /// Whether a column is kept, given its row of the factor and the variance of its residual.
    fn decide(&mut self, column: usize, mut row: Vec<f64>, rest: f64, variance: f64) -> bool {
        if self.units[column] > 0.0 && rest <= EXPLAINED * variance {
            let mut coefficients = row.clone();
            back_substitute(&self.rows, &mut coefficients);
            let combination: Vec<(usize, f64)> = self.chosen.iter().copied().zip(coefficients).collect();
            if rest <= rounding(column, &combination, self.units) {
                self.found.push(Alias { column, combination, exact: false });
                return false;
            }
        }
        let chosen = rest > self.resolved * variance;
        if chosen {
            row.push(rest.sqrt());
            self.rows.push(row);
            self.chosen.push(column);
        }
        chosen
    }
}

/// Solves `Lᵀ c = row` for the rows of L.
fn back_substitute(rows: &[Vec<f64>], row: &mut [f64]) {
    for j in (0..row.len()).rev() {
        row[j] /= rows[j][j];
        for i in 0..j {
            row[i] -= rows[j][i] * row[j];
        }
    }
}

/// `(δ_c² + Σ a_k²δ_k²)/3`.
pub(super) fn rounding(column: usize, combination: &[(usize, f64)], units: &[f64]) -> f64 {
    let others: f64 = combination.iter().map(|(k, a)| (a * units[*k]).powi(2)).sum();
    (units[column].powi(2) + others) / 3.0
}

/// The terms of a combination that matter, by the lengths of their columns.
pub(super) fn named(combination: Vec<(usize, f64)>, length: impl Fn(usize) -> f64) -> Vec<(usize, f64)> {
    let largest = combination.iter().fold(0.0f64, |m, (j, a)| m.max((a * length(*j)).abs()));
    combination.into_iter().filter(|(j, a)| (a * length(*j)).abs() > NAMED * largest).collect()
}

/// The same notes, with columns that were left out called linear combinations where that is proved for the doubles of all
/// rows; `shifted` if an intercept absorbs a constant. Without time for a proof they are not called so.
pub(super) fn with_proofs(notes: Vec<Note>, training: &Training<'_>, shifted: bool, watch: &Watch) -> Vec<Note> {
    let Training { design, weights, .. } = *training;
    // Without an intercept nothing absorbs a constant: the relation is one of columns as they are.
    let zero = vec![0.0; design.shape().cols];
    let centre = (!shifted).then_some(&zero[..]);
    let proved = |note: Note| match note {
        Note::LeftOut { column, combination, printed } => {
            match exactly_dependent(design, weights, column, &combination, centre, watch).unwrap_or(false) {
                true => Note::Collinear { column, combination },
                false => Note::LeftOut { column, combination, printed },
            }
        }
        other => other,
    };
    notes.into_iter().map(proved).collect()
}

/// How far rounding within the printed digits moves a score, root mean square: `√(Σ w_j²δ_j²/12)` of the most sensitive
/// linear score; of a quadratic one, whose slope in a column has the variance `(Σ⁻¹)_jj` over its class,
/// `√(Σ (Σ⁻¹)_jj δ_j²/12)`.
pub fn last_digit(discriminant: &Discriminant, units: &[f64]) -> Option<f64> {
    let moved = |slope_squared: &dyn Fn(usize) -> f64| -> f64 {
        let terms = units.iter().enumerate().filter(|(_, unit)| **unit > 0.0);
        (terms.map(|(j, unit)| slope_squared(j) * unit * unit).sum::<f64>() / 12.0).sqrt()
    };
    let largest = |scores: &mut dyn Iterator<Item = f64>| scores.fold(0.0f64, f64::max);
    match discriminant {
        Discriminant::Linear(linear) if linear.n_cols() == units.len() => {
            let score = |k: usize| moved(&|j| linear.weights_of(k)[j].powi(2));
            Some(largest(&mut (0..linear.n_scores()).map(score)))
        }
        Discriminant::Quadratic(quadratic) if quadratic.n_cols() == units.len() => {
            let slope = |k: usize, j: usize| (j..units.len()).map(|i| quadratic.whitening_at(k, i, j).powi(2)).sum();
            let score = |k: usize| moved(&|j| slope(k, j));
            Some(largest(&mut (0..quadratic.n_classes()).map(score)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The Gram of columns about their means, divided by their number of rows.
    fn covariance(columns: &[Vec<f64>]) -> Square {
        let n = columns[0].len() as f64;
        let centred: Vec<Vec<f64>> =
            columns.iter().map(|c| c.iter().map(|x| x - c.iter().sum::<f64>() / n).collect()).collect();
        Square::from_lower(columns.len(), |i, j| {
            centred[i].iter().zip(&centred[j]).map(|(a, b)| a * b).sum::<f64>() / n
        })
    }

    #[test]
    fn a_rounded_mean_goes_and_a_coarse_column_of_its_own_stays() {
        let mut state = 7u64;
        let mut uniform = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let round = |x: f64| (x * 1e4).round() / 1e4;
        let a: Vec<f64> = (0..300).map(|_| round(uniform())).collect();
        let b: Vec<f64> = (0..300).map(|_| round(uniform())).collect();
        let mean: Vec<f64> = a.iter().zip(&b).map(|(a, b)| round((a + b) / 2.0)).collect();
        let coarse: Vec<f64> = (0..300).map(|_| (uniform() * 2.0).floor() / 10.0).collect();
        let apart: Vec<f64> = a.iter().map(|a| a + round(0.001 * uniform())).collect();
        let units = [1e-4, 1e-4, 1e-4, 0.1, 1e-4];
        let found = agreeing(&covariance(&[a, b, mean, coarse, apart]), &units);
        assert_eq!(found.iter().map(|f| f.column).collect::<Vec<_>>(), [2]);
        assert!(found[0].combination.iter().all(|(_, c)| (c - 0.5).abs() < 1e-3));
        // Without printed units nothing is said.
        assert!(agreeing(&Square::from_lower(2, |_, _| 1.0), &[0.0; 2]).is_empty());
    }
}
