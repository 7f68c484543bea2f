//! Numbers of about 32 digits: a pair of doubles whose sum they are (Dekker 1971; Knuth's two-sum).

use std::ops::{Add, Div, Mul, Sub};

/// `high + low`, with `low` below half a unit in the last place of `high`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DoubleDouble {
    high: f64,
    low: f64,
}

fn two_sum(a: f64, b: f64) -> DoubleDouble {
    let sum = a + b;
    let part = sum - a;
    DoubleDouble { high: sum, low: (a - (sum - part)) + (b - part) }
}

impl From<f64> for DoubleDouble {
    fn from(value: f64) -> DoubleDouble {
        DoubleDouble { high: value, low: 0.0 }
    }
}

impl DoubleDouble {
    /// The nearest double.
    pub fn value(self) -> f64 {
        self.high + self.low
    }
}

impl Add for DoubleDouble {
    type Output = DoubleDouble;
    fn add(self, other: DoubleDouble) -> DoubleDouble {
        let (high, low) = (two_sum(self.high, other.high), two_sum(self.low, other.low));
        let first = two_sum(high.high, high.low + low.high);
        two_sum(first.high, first.low + low.low)
    }
}

impl Sub for DoubleDouble {
    type Output = DoubleDouble;
    fn sub(self, other: DoubleDouble) -> DoubleDouble {
        self + DoubleDouble { high: -other.high, low: -other.low }
    }
}

impl Mul for DoubleDouble {
    type Output = DoubleDouble;
    fn mul(self, other: DoubleDouble) -> DoubleDouble {
        let product = self.high * other.high;
        let error = self.high.mul_add(other.high, -product);
        two_sum(product, error + (self.high * other.low + self.low * other.high))
    }
}

impl Div for DoubleDouble {
    type Output = DoubleDouble;
    fn div(self, other: DoubleDouble) -> DoubleDouble {
        let first = DoubleDouble::from(self.high / other.high);
        let rest = self - first * other;
        let second = DoubleDouble::from(rest.high / other.high);
        let left = rest - second * other;
        first + second + DoubleDouble::from(left.high / other.high)
    }
}

/// Solves `A x = b` by Gaussian elimination with partial pivoting.
///
/// # Panics
/// If a pivot vanishes.
#[allow(clippy::needless_range_loop)]
pub fn solve(a: &[Vec<DoubleDouble>], b: &[DoubleDouble]) -> Vec<f64> {
    let n = b.len();
    let mut m: Vec<Vec<DoubleDouble>> = a.iter().zip(b).map(|(row, b)| [&row[..], &[*b]].concat()).collect();
    for j in 0..n {
        let pivot = (j..n).max_by(|p, q| m[*p][j].high.abs().total_cmp(&m[*q][j].high.abs())).expect("rows left");
        m.swap(j, pivot);
        assert!(m[j][j].high != 0.0, "a singular matrix");
        for i in j + 1..n {
            let factor = m[i][j] / m[j][j];
            for c in j..=n {
                m[i][c] = m[i][c] - factor * m[j][c];
            }
        }
    }
    for j in (0..n).rev() {
        for c in j + 1..n {
            m[j][n] = m[j][n] - m[j][c] * m[c][n];
        }
        m[j][n] = m[j][n] / m[j][j];
    }
    m.iter().map(|row| row[n].value()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_thirty_digits() {
        let third = DoubleDouble::from(1.0) / DoubleDouble::from(3.0);
        let back = third * DoubleDouble::from(3.0) - DoubleDouble::from(1.0);
        assert!(back.value().abs() < 1e-31);
        // (1 + 1e-20)² − 1 − 2e-20 = 1e-40: nothing is left but rounding far below 1e-20.
        let x = DoubleDouble::from(1.0) + DoubleDouble::from(1e-20);
        let rest = x * x - DoubleDouble::from(1.0) - DoubleDouble::from(2e-20);
        assert!(rest.value().abs() < 1e-31);
    }
}
