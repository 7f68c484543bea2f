//! On which side of a plane the rows are, by plain arithmetic: proof that it separates them, or a count of those it does
//! not put on their side.

use super::Certificate;
use super::hulls::LEAST;
use crate::design::{LabelledRows, Pass, Rows, Units};
use crate::error::Result;
use crate::numeric::sum;
use crate::objective::Coef;
use crate::watch::Watch;

/// How the rows of positive weight lie relative to a plane `θ·x̃ = 0`, x̃ the row in given units and a one (none without an
/// intercept).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Margins {
    /// A lower bound on `min y θ·x̃`, rounding included.
    pub margin: f64,
    /// An upper bound on `max ‖x̃‖`.
    pub radius: f64,
    /// An upper bound on `‖θ‖`.
    pub norm: f64,
    /// Weight of the rows not strictly on their side.
    pub errors: f64,
    /// Σs.
    pub total: f64,
}

impl Margins {
    /// Novikoff's bound `R²‖θ‖²/γ²` on the mistakes of a perceptron; `None` unless the plane separates the rows.
    pub fn bound(&self) -> Option<f64> {
        let bound = (self.radius * self.norm / self.margin).powi(2);
        (self.margin > 0.0 && bound.is_finite()).then_some(bound)
    }

    /// The proof that the plane separates, or the count of errors.
    pub fn certificate(&self) -> Certificate {
        match self.bound() {
            Some(bound) => Certificate::Separates {
                margin: self.margin,
                norm: self.norm,
                radius: self.radius,
                bound,
                widest: None,
                mistakes: None,
            },
            None => Certificate::Errors { errors: self.errors, total: self.total },
        }
    }
}

struct MarginPartial {
    margin: f64,
    longest: f64,
    errors: f64,
    total: f64,
}

/// Measures a plane on the rows of two classes.
///
/// ```
/// use linsep::certify::margins;
/// use linsep::design::{DenseMatrix, LabelledRows, Units};
/// use linsep::objective::Coef;
/// use linsep::table::Class;
/// let x = DenseMatrix::new(vec![-1.0, 2.0], 1)?;
/// let theta = Coef::from_vec(vec![1.0, -0.5], 1, 1);
/// let rows = LabelledRows::new(&x, &[Class(0), Class(1)]);
/// let found = margins(rows, &Units::identity(1), &theta, true, &Default::default())?;
/// // y θ·x̃ is 1.5 for both; ‖x̃‖² = 2² + 1, ‖θ‖² = 1.25.
/// assert!((found.margin - 1.5).abs() < 1e-14 && (found.bound().unwrap() - 5.0 * 1.25 / 2.25).abs() < 1e-12);
/// # Ok::<(), linsep::Error>(())
/// ```
pub fn margins(rows: LabelledRows<'_>, units: &Units, theta: &Coef, intercept: bool, watch: &Watch) -> Result<Margins> {
    let cols = theta.n_cols();
    let (w, b) = (theta.weights(), theta.intercept()[0]);
    let one = f64::from(u8::from(intercept));
    // A sum of d+1 products in any order, of numbers that were rounded three times each.
    let rounding = (cols + 8) as f64 * f64::EPSILON;
    let lost = (cols + 8) as f64 * LEAST;
    let sparse = FoldedScores::new(units, w, b);
    let new = || MarginPartial { margin: f64::INFINITY, longest: 0.0, errors: 0.0, total: 0.0 };
    let found = Pass::new(rows.design, units).partials_of(1).reduce(
        watch,
        (0, &mut []),
        new,
        |found, range, block, _| {
            for (i, row) in range.enumerate() {
                let s = rows.weight(row);
                if s == 0.0 {
                    continue;
                }
                let MeasuredMargins { score, size, square, square_size } = match &block {
                    Rows::Dense(values) => dense(&values[i * cols..(i + 1) * cols], w, b),
                    Rows::Csr(rows) => sparse.row(rows.row(i)),
                };
                let signed = if rows.labels[row].0 == 1 { score } else { -score };
                let margin = signed - rounding * size - lost;
                // Numbers that overflowed prove nothing.
                found.margin = if margin.is_nan() { f64::NEG_INFINITY } else { found.margin.min(margin) };
                found.longest = found.longest.max(square + one + rounding * (square_size + one));
                found.total += s;
                found.errors += if signed > 0.0 { 0.0 } else { s };
            }
            Ok(())
        },
        |a, b| {
            a.margin = a.margin.min(b.margin);
            a.longest = a.longest.max(b.longest);
            a.errors += b.errors;
            a.total += b.total;
        },
    )?;
    let norm = sum(theta.as_slice().iter().map(|v| v * v)).sqrt();
    Ok(Margins {
        margin: found.margin,
        radius: found.longest.sqrt() * (1.0 + f64::EPSILON),
        norm: norm * (1.0 + 4.0 * f64::EPSILON),
        errors: found.errors,
        total: found.total,
    })
}

/// `θ·x̃` and the sum of the sizes of its terms; `‖x̂‖²` and the sum of the sizes of its terms.
struct MeasuredMargins {
    score: f64,
    size: f64,
    square: f64,
    square_size: f64,
}

fn dense(x: &[f64], w: &[f64], b: f64) -> MeasuredMargins {
    let (mut score, mut size, mut square) = (b, b.abs(), 0.0);
    for (x, w) in x.iter().zip(w) {
        score += x * w;
        size += (x * w).abs();
        square += x * x;
    }
    MeasuredMargins { score, size, square, square_size: square }
}

/// Weights with the units folded in, for rows as stored: `x̂·w = x·(w/σ) − c·(w/σ)` and
/// `‖x̂‖² = Σ (x² − 2xc)/σ² + Σ c²/σ²` with the first sum over the entries of the row.
struct FoldedScores<'a> {
    units: &'a Units,
    weights: Vec<f64>,
    at_zero: f64,
    size_at_zero: f64,
    centre_square: f64,
}

impl<'a> FoldedScores<'a> {
    fn new(units: &'a Units, w: &[f64], b: f64) -> FoldedScores<'a> {
        let weights: Vec<f64> = w.iter().zip(units.inverse_scale()).map(|(w, s)| w * s).collect();
        let moved = || weights.iter().zip(units.centre()).map(|(w, c)| w * c);
        FoldedScores {
            units,
            at_zero: b - sum(moved()),
            size_at_zero: b.abs() + sum(moved().map(f64::abs)),
            centre_square: sum(units.centre().iter().zip(units.inverse_scale()).map(|(c, s)| (c * s).powi(2))),
            weights,
        }
    }

    fn row(&self, (columns, values): (&[u32], &[f64])) -> MeasuredMargins {
        let (mut score, mut size) = (self.at_zero, self.size_at_zero);
        let (mut square, mut square_size) = (self.centre_square, self.centre_square);
        for (c, v) in columns.iter().zip(values) {
            let j = *c as usize;
            let term = v * self.weights[j];
            score += term;
            size += term.abs();
            let (centre, scale) =
                (self.units.centre()[j] * self.units.inverse_scale()[j], self.units.inverse_scale()[j]);
            let x = v * scale;
            square += x * (x - 2.0 * centre);
            square_size += x.abs() * (x.abs() + 2.0 * centre.abs());
        }
        MeasuredMargins { score, size, square, square_size }
    }
}
