//! QR in column order that leaves out columns equal to combinations of earlier ones up to rounding.

use super::Alias;
use super::qr::{lengths_below, reflect_others};

/// What an orthogonal factorisation of columns of length one can resolve, relative to the lengths that take part: some
/// tens of roundings (Higham 2002, section 19.3, has `c·m·n·u`, and √ of that in practice).
const RESOLUTION: f64 = 128.0 * f64::EPSILON;
/// A column longer than this beside the earlier ones needs no second orthogonalisation: it has lost at most four
/// digits.
const PLAINLY_INDEPENDENT: f64 = 1e-4;

/// `A = Q R` on the columns kept: all whose component orthogonal to the earlier ones exceeds rounding.
#[derive(Debug, Clone)]
pub struct InOrderQr {
    /// The columns kept, rising.
    pub kept: Vec<usize>,
    /// `R⁻¹` for the kept columns as they are: `A_kept R⁻¹` has orthonormal columns. Column-major, upper triangular.
    pub inverse: Vec<f64>,
    /// The others, with the combinations that they are within rounding.
    pub aliased: Vec<Alias>,
}

/// Factors a column-major matrix in the order of its columns.
///
/// A column is left out where its component orthogonal to the columns before it is no longer than the rounding error of the
/// terms of `column = Σ coefficient · earlier`: large coefficients that cancel leave fewer digits.
pub fn in_order_qr(rows: usize, cols: usize, mut values: Vec<f64>) -> InOrderQr {
    let mut lengths = Vec::new();
    let all: Vec<usize> = (0..cols).collect();
    lengths_below(&values, rows, 0, &all, &mut lengths);
    let inverse_length: Vec<f64> =
        lengths.iter().map(|l| if *l > 0.0 && l.is_finite() { l.recip() } else { 0.0 }).collect();
    for (column, scale) in values.chunks_exact_mut(rows.max(1)).zip(&inverse_length) {
        column.iter_mut().for_each(|x| *x *= scale);
    }
    let (mut kept, mut aliased, mut v) = (Vec::<usize>::new(), Vec::new(), Vec::new());
    for column in 0..cols {
        let at = kept.len();
        let beside = match at < rows {
            true => {
                lengths_below(&values, rows, at, &[column], &mut lengths);
                lengths[0]
            }
            false => 0.0,
        };
        if beside <= PLAINLY_INDEPENDENT {
            let terms = back_substitute(&values, rows, &kept, column);
            let size = 1.0 + terms.iter().map(|a| a.abs()).sum::<f64>();
            if !(beside > RESOLUTION * size) {
                let scale = |other: usize| inverse_length[other] / inverse_length[column];
                let combination = match inverse_length[column] {
                    0.0 => Vec::new(),
                    _ => kept.iter().zip(&terms).map(|(other, a)| (*other, a * scale(*other))).collect(),
                };
                aliased.push(Alias { column, combination, exact: false });
                continue;
            }
        }
        let others: Vec<usize> = (column + 1..cols).collect();
        reflect_others(&mut values, rows, at, column, &others, &mut v);
        kept.push(column);
    }
    let m = kept.len();
    let mut inverse = vec![0.0; m * m];
    for j in 0..m {
        let mut unit = vec![0.0; j + 1];
        unit[j] = 1.0;
        solve_upper(&values, rows, &kept, &mut unit);
        for (i, x) in unit.iter().enumerate() {
            inverse[j * m + i] = x * inverse_length[kept[i]];
        }
    }
    InOrderQr { kept, inverse, aliased }
}

/// The coefficients of a column in the kept ones, all of length one.
fn back_substitute(values: &[f64], rows: usize, kept: &[usize], column: usize) -> Vec<f64> {
    let mut x: Vec<f64> = (0..kept.len()).map(|i| values[column * rows + i]).collect();
    solve_upper(values, rows, kept, &mut x);
    x
}

/// Solves `R x = x` for the leading part of R.
fn solve_upper(values: &[f64], rows: usize, kept: &[usize], x: &mut [f64]) {
    for k in (0..x.len()).rev() {
        let column = &values[kept[k] * rows..];
        x[k] /= column[k];
        let step = x[k];
        x[..k].iter_mut().zip(column).for_each(|(x, r)| *x -= r * step);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_years_are_kept_and_a_sum_is_not() {
        // 1, t, t², t³, t⁴ of 1995…2024, whose products leave less than a thousand millionth to see, and t + t².
        let years: Vec<f64> = (1995..2025).map(f64::from).collect();
        let powers = (0..5).flat_map(|p| years.iter().map(move |t| t.powi(p)));
        let mut values: Vec<f64> = powers.collect();
        values.extend(years.iter().map(|t| t + t * t));
        let qr = in_order_qr(30, 6, values.clone());
        assert_eq!(qr.kept, [0, 1, 2, 3, 4]);
        let combination = &qr.aliased[0].combination;
        // The coefficients of so ill-conditioned a relation are rough; that it holds is not.
        for i in 0..30 {
            let combined: f64 = combination.iter().map(|(k, c)| c * values[k * 30 + i]).sum();
            assert!((combined - values[5 * 30 + i]).abs() < 1e-9 * values[5 * 30 + i], "{i}: {combined}");
        }
        for a in 0..5 {
            for b in 0..5 {
                let entry =
                    |i: usize, k: usize| (0..=k).map(|j| values[j * 30 + i] * qr.inverse[k * 5 + j]).sum::<f64>();
                let product: f64 = (0..30).map(|i| entry(i, a) * entry(i, b)).sum();
                assert!((product - f64::from(u8::from(a == b))).abs() < 1e-5, "({a}, {b}): {product}");
            }
        }
    }
}
