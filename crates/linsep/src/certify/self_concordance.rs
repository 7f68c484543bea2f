//! The bound for a risk without a penalty.
//!
//! The logistic and softmax losses satisfy `|D³ℓ[v,v,v]| ≤ range(v) D²ℓ[v,v]` (Bach 2010). With `H = ∇²F`,
//! `ν = ‖∇F‖_{H⁻¹}` and `ρ` the largest range of the scores of a row over directions of unit H-norm: if `ρν < 1` the
//! minimiser exists, is unique, and `F − F* ≤ [ρν + (1−ρν) ln(1−ρν)]/ρ²`.

use super::{Certificate, rounding_allowance};
use crate::design::{Pass, Rows};
use crate::error::Result;
use crate::linalg::Factor;
use crate::objective::{CurvedLoss, Intercept, Point, Risk};
use crate::watch::Watch;

/// What `ρν` must stay below. In exact arithmetic 1 will do; but on separated classes `ρν` tends to 1 (from above, as
/// `1/(1−p)` of the last row that matters), so a proof must not hang on the last digits.
const PROVEN: f64 = 0.9;
/// Pivots of H below this, on the unit-diagonal scale, leave ν and ρ without the digits that [`PROVEN`] counts on.
const RELIABLE_PIVOT: f64 = 1e-13;

/// What summing may do to the gradient, relative to the sum of the sizes of its terms.
const GRADIENT_ROUNDING: f64 = 32.0 * f64::EPSILON;

/// The bound at a point, given the factor of the Hessian *at that point* and the coefficients that make up the problem:
/// all but those of columns that are linear combinations of others.
///
/// Far out, where rows saturate, the Hessian loses coefficients to rounding that the problem has. Leaving them out would
/// prove something about another problem (and so "prove" that separated classes overlap), so there is no bound then.
pub fn self_concordance_bound<L: CurvedLoss>(
    risk: &Risk<'_, L>,
    point: &Point,
    factor: &Factor,
    unknowns: &[usize],
    watch: &Watch,
) -> Result<Certificate> {
    if !risk.loss().self_concordant() {
        return Ok(Certificate::Absent { reason: "this loss has no bound without a penalty".into() });
    }
    if factor.kept() != unknowns || factor.smallest_pivot() < RELIABLE_PIVOT {
        let reason = "the Hessian is singular to working precision: the optimum may not exist".into();
        return Ok(Certificate::Absent { reason });
    }
    let step = factor.solve(point.gradient.as_slice());
    let kept_gradient = factor.kept().iter().map(|j| point.gradient.as_slice()[*j] * step[*j]);
    let radius = largest_range(risk, factor, watch)?;
    // The gradient is a sum of `residual · x̃`, rounded at about ε of its terms, and a residual is at most its loss; in
    // the norm of H⁻¹ that is up to ερF, which far out on separated data is all there is.
    let rounding = GRADIENT_ROUNDING * point.objective.min(1.0) * radius;
    let decrement = kept_gradient.sum::<f64>().max(0.0).sqrt() + rounding;
    let product = radius * decrement;
    if product.is_nan() || product >= PROVEN {
        let reason = format!("ρν = {product:.3} is not clearly below 1: the optimum may not exist");
        return Ok(Certificate::Absent { reason });
    }
    // The series 1/2 + x/6 + x²/12 + … of [x + (1−x)ln(1−x)]/x², where the closed form cancels.
    let shape = if product < 1e-3 {
        0.5 + product / 6.0 + product * product / 12.0 + product.powi(3) / 10.0
    } else {
        (product + (1.0 - product) * (-product).ln_1p()) / (product * product)
    };
    let gap = shape * decrement * decrement + rounding_allowance(point.objective, 0.0);
    let reference = point.objective.abs().max(risk.null_objective());
    Ok(Certificate::SelfConcordance {
        objective: point.objective,
        decrement,
        radius,
        gap,
        relative_gap: gap / reference,
        errors: None,
    })
}

/// An upper bound on ρ: exact for one score; for several, the two largest norms of a row's single scores added, since
/// `‖x̃⊗(e_a − e_b)‖ ≤ ‖x̃⊗e_a‖ + ‖x̃⊗e_b‖`.
fn largest_range<L: CurvedLoss>(risk: &Risk<'_, L>, factor: &Factor, watch: &Watch) -> Result<f64> {
    let sample = risk.sample();
    let (k, cols) = (risk.loss().n_scores(), risk.n_cols());
    let width = k * (cols + 1);
    let constant = f64::from(u8::from(risk.intercept() != Intercept::None));
    let pass = Pass::new(sample.design, sample.units);
    pass.reduce(
        watch,
        (0, &mut []),
        || 0.0f64,
        |largest, range, rows, _| {
            let n = range.len();
            let mut best = vec![(0.0f64, 0.0f64); n];
            let (mut padded, mut norms) = (vec![0.0; n * width], Vec::new());
            for score in 0..k {
                padded.fill(0.0);
                for i in 0..n {
                    let row = &mut padded[i * width..(i + 1) * width];
                    row[k * cols + score] = constant;
                    let row = &mut row[score * cols..(score + 1) * cols];
                    match &rows {
                        Rows::Dense(values) => row.copy_from_slice(&values[i * cols..(i + 1) * cols]),
                        Rows::Csr(rows) => {
                            let units = sample.units;
                            row.iter_mut()
                                .zip(units.centre())
                                .zip(units.inverse_scale())
                                .for_each(|((r, c), s)| *r = -c * s);
                            let (columns, values) = rows.row(i);
                            columns
                                .iter()
                                .zip(values)
                                .for_each(|(c, v)| row[*c as usize] += v * units.inverse_scale()[*c as usize]);
                        }
                    }
                }
                factor.inverse_norms(&mut padded, &mut norms);
                for (best, norm) in best.iter_mut().zip(&norms) {
                    let norm = norm.sqrt();
                    *best = if norm > best.0 { (norm, best.0) } else { (best.0, best.1.max(norm)) };
                }
            }
            for (i, (first, second)) in best.iter().enumerate() {
                if sample.weights.is_none_or(|w| w[range.start + i] > 0.0) {
                    *largest = largest.max(first + second);
                }
            }
            Ok(())
        },
        |a, b| *a = a.max(b),
    )
}
