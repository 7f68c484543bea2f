//! Positive weights that nearly balance, and a proof that weights near them balance exactly.
//!
//! Let `α > 0`, `r = Σ αa` and `H = Σ α²aaᵀ`, all in real numbers. If H is positive definite, `δ = α·(αa)ᵀH⁻¹r` satisfies
//! `Σ δa = r`, so that `α − δ` balances; and since `α²aaᵀ ≼ H`, `|δ| ≤ α √(rᵀH⁻¹r)`. So **`rᵀH⁻¹r < 1` proves that positive weights
//! balance**: the classes overlap. It proves, too, that the vectors span all of the space.
//!
//! With D² the diagonal of H and `D⁻¹HD⁻¹ ≽ λ`, `rᵀH⁻¹r ≤ ‖D⁻¹r‖²/λ`. λ is proved by a Cholesky factor: where that of
//! `A − σI` exists in doubles, `A ≽ σ − c`, with c a bound on the backward error of the factorisation (Rump 2006). The
//! rounding errors of H and r are bounded by the number of their terms, for any order of summation.

use super::cone::{cone_gram, cone_slacks, cone_sums};
use crate::error::Result;
use crate::linalg::{Square, factor};
use crate::numeric::{UNIT, rounding_bound};
use crate::objective::{Coef, Intercept, Loss, Risk};
use crate::watch::Watch;

/// Newton corrections of the weights where their residual is too large. Chosen (bench/constants.md): each squares the
/// error, and a failure leaves the verdict undecided.
const ROUNDS: usize = 3;
/// Squared sizes of columns far enough from underflow and overflow that products of two of them are normal numbers.
const RANGE: (f64, f64) = (1e-200, 1e200);
/// The lower bounds of the smallest eigenvalue that are tried: this, and powers of ten below. Chosen
/// (bench/constants.md): a finer sequence would give a bound up to ten times as large, for more factors.
const FIRST_SHIFT: f64 = 0.1;
/// Far more than the roundings of a sum of one positive term per unknown: thousands of them are 1e-12.
const ROUNDED_UP: f64 = 1.0 + 1e-6;

/// Weights near which there are some that balance exactly.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ProvedBalance {
    /// One per constraint, positive where the given weights are.
    pub(crate) weights: Vec<f64>,
    /// Relative distance: no weight of the exact solution differs from these by more than this fraction.
    pub(crate) share: f64,
}

/// Proves that positive weights balance exactly, near those given, on the constraints that have one; `None` where that is not
/// proved. The rows must be dense, or their units without a centre. `dependent` columns are, exactly and on these constraints,
/// combinations of the others.
pub(crate) fn prove_balance<L: Loss>(
    risk: &Risk<'_, L>,
    alpha: &[f64],
    dependent: &[usize],
    watch: &Watch,
) -> Result<Option<ProvedBalance>> {
    let largest = alpha.iter().fold(0.0f64, |m, a| m.max(*a));
    if !(alpha.iter().all(|a| *a >= 0.0) && largest > 0.0 && largest.is_finite()) {
        return Ok(None);
    }
    let kept = kept_coefficients(risk, dependent);
    // Scaling must not underflow a positive weight to zero.
    let scaled = |a: &f64| if *a > 0.0 { (a / largest).max(f64::MIN_POSITIVE) } else { 0.0 };
    let mut weights: Vec<f64> = alpha.iter().map(scaled).collect();
    for _ in 0..ROUNDS {
        let squares: Vec<f64> = weights.iter().map(|a| a * a).collect();
        let all = cone_gram(risk, &squares, watch)?;
        let gram = Square::from_lower(kept.len(), |i, j| all.get(kept[i], kept[j]));
        let Some(system) = Definite::new(&gram, weights.len()) else { return Ok(None) };
        let (sums, sizes) = cone_sums(risk, &weights, watch)?;
        let of_kept = |by_score: &[f64]| -> Vec<f64> {
            let values = in_order(risk, by_score);
            kept.iter().map(|j| values[*j]).collect()
        };
        let (sums, sizes) = (of_kept(&sums), of_kept(&sizes));
        let share = system.share(&sums, &sizes);
        if share < 0.5 {
            return Ok(Some(ProvedBalance { weights, share }));
        }
        // One Newton correction in doubles; the proof is then attempted again.
        let mut step = vec![0.0; all.n()];
        kept.iter().zip(factor(&gram, 0.0).solve(&sums)).for_each(|(j, v)| step[*j] = v);
        let step = Coef::from_vec(step, risk.loss().n_scores(), risk.n_cols());
        let slacks = cone_slacks(risk, &step, watch)?;
        for (a, s) in weights.iter_mut().zip(&slacks).filter(|(a, _)| **a > 0.0) {
            *a *= 1.0 - *a * s;
            if !(*a > 0.0 && a.is_finite()) {
                return Ok(None);
            }
        }
    }
    Ok(None)
}

/// A matrix proved to be at least `least` on the scale of unit diagonal.
struct Definite {
    diagonal: Vec<f64>,
    least: f64,
    /// The rounding constant γ of the sums over rows.
    rounding: f64,
}

impl Definite {
    fn new(gram: &Square, terms: usize) -> Option<Definite> {
        let n = gram.n();
        let diagonal = gram.diagonal();
        // Away from underflow and overflow.
        if n == 0 || !diagonal.iter().all(|d| *d > RANGE.0 && *d < RANGE.1) {
            return None;
        }
        let scale: Vec<f64> = diagonal.iter().map(|d| d.sqrt().recip()).collect();
        // A term is a product of four numbers that were rounded twice each; sums of as many.
        let rounding = rounding_bound(terms + 32);
        // An entry is off by γ times the sum of the sizes of its terms, at most the roots of two diagonals (Cauchy–Schwarz);
        // twice for the computed diagonal, and the scaling rounds a few times. The Frobenius norm bounds the rest.
        let of_entries = n as f64 * (2.0 * rounding + 16.0 * UNIT);
        // |LLᵀ − A| ≤ γ|L||Lᵀ|, whose norm is at most the trace; reciprocals of pivots round once more.
        let of_factor = 2.0 * rounding_bound(2 * n + 16) * n as f64 + 16.0 * UNIT * n as f64;
        let mut shift = FIRST_SHIFT;
        while shift > 4.0 * (of_entries + of_factor) {
            let shifted =
                Square::from_lower(n, |i, j| gram.get(i, j) * scale[i] * scale[j] - if i == j { shift } else { 0.0 });
            if factor(&shifted, 0.0).rank() == n {
                return Some(Definite { diagonal, least: shift - of_entries - of_factor, rounding });
            }
            shift *= FIRST_SHIFT;
        }
        None
    }

    /// A bound on `√(rᵀH⁻¹r)` from computed sums and the sizes of their terms.
    fn share(&self, sums: &[f64], sizes: &[f64]) -> f64 {
        let entry = |((sum, size), d): ((&f64, &f64), &f64)| {
            let bound = (sum.abs() + self.rounding * size) * (1.0 + 2.0 * self.rounding);
            bound * bound / d
        };
        let squares: f64 = sums.iter().zip(sizes).zip(&self.diagonal).map(entry).sum();
        let share = (squares / self.least).sqrt() * ROUNDED_UP;
        if share.is_finite() { share } else { f64::INFINITY }
    }
}

/// The places of the coefficients that are not those of dependent columns, nor of intercepts that are not in the model.
fn kept_coefficients<L: Loss>(risk: &Risk<'_, L>, dependent: &[usize]) -> Vec<usize> {
    let (scores, cols) = (risk.loss().n_scores(), risk.n_cols());
    let intercepts = if risk.intercept() == Intercept::None { 0 } else { scores };
    let is_kept = |at: &usize| *at >= scores * cols || dependent.binary_search(&(at % cols)).is_err();
    (0..scores * cols + intercepts).filter(is_kept).collect()
}

/// Sums by score as coefficients are laid out: all weights, then the intercepts.
fn in_order<L: Loss>(risk: &Risk<'_, L>, by_score: &[f64]) -> Vec<f64> {
    let cols = risk.n_cols();
    let scores = || by_score.chunks_exact(cols + 1);
    scores().flat_map(|s| &s[..cols]).copied().chain(scores().map(|s| s[cols])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::{DenseMatrix, LabelledRows, Units};
    use crate::objective::{Logistic, Ridge, Sample};
    use crate::table::Class;

    fn proved(x: &[f64], cols: usize, labels: &[u32], alpha: &[f64], dependent: &[usize]) -> Result<bool> {
        let x = DenseMatrix::new(x.to_vec(), cols)?;
        let units = Units::identity(cols);
        let labels: Vec<Class> = labels.iter().map(|y| Class(*y)).collect();
        let sample = Sample::new(LabelledRows::new(&x, &labels), &units);
        let risk = Risk::new(sample, Logistic, Ridge::none(), Intercept::Free);
        Ok(prove_balance(&risk, alpha, dependent, &Watch::default())?.is_some())
    }

    #[test]
    fn weights_that_nearly_balance_prove_it() -> Result<()> {
        // XOR balances with weights that are all the same, and with others near them.
        let xor = [0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0];
        assert!(proved(&xor, 2, &[0, 1, 1, 0], &[1.0; 4], &[])?);
        assert!(proved(&xor, 2, &[0, 1, 1, 0], &[1.0, 1.001, 0.999, 1.0], &[])?);
        Ok(())
    }

    #[test]
    fn what_a_hidden_column_separates_is_not_proved() -> Result<()> {
        // Columns a and a + 2⁻ᵏe, e the label: the weights balance in a, not in the difference.
        for k in [20, 27, 30, 40, 50] {
            let a = [0.0, 1.0, 1.0, 0.0];
            let labels = [0, 1, 0, 1];
            let x: Vec<f64> = a.iter().zip(labels).flat_map(|(a, y)| [*a, a + 2f64.powi(-k) * f64::from(y)]).collect();
            assert!(!proved(&x, 2, &labels, &[1.0; 4], &[])?, "{k}");
        }
        Ok(())
    }

    #[test]
    fn dependent_columns_need_a_word() -> Result<()> {
        let twice = [0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 1.0, 1.0];
        assert!(!proved(&twice, 2, &[0, 1, 0, 1], &[1.0, 2.0, 1.0, 2.0], &[])?);
        assert!(proved(&twice, 2, &[0, 1, 0, 1], &[1.0, 1.5, 1.0, 0.5], &[1])?);
        Ok(())
    }
}
