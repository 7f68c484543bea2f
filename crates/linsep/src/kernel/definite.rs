//! Whether the values of a kernel on some rows are positive semidefinite, with evidence where they are not.

use super::semidefinite::{DoublePair, proved_ridge};
use super::{Kernel, KernelRows, TargetRows, kernel_rows};
use crate::linalg::{Eigen, Square};
use serde::{Deserialize, Serialize};

/// Up to so many rows all of them are looked at; of more, a sample of this size, whose eigenvalues take a fraction of a
/// second. Chosen, out of reach of bench/constants.md: an indefinite kernel may be missed on more rows, which is no
/// claim.
const LOOKED_AT: usize = 400;
/// An eigenvalue below this share of the largest is negative beyond rounding, which is about 1e-16 times the number of
/// rows.
const NEGATIVE: f64 = 1e-10;
/// Rounding of a sum of pairs of doubles for each of its m² terms, relative to their sizes: 20 units of 2⁻¹⁰⁴.
const PAIR_ROUNDING: f64 = 1e-30;

/// Rows on which a kernel is not positive semidefinite: their table of values has a negative eigenvalue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NegativeCurvature {
    /// The rows, from 0: one, a pair, or more where no pair is enough.
    pub rows: Vec<usize>,
    /// The smallest eigenvalue of their table.
    pub eigenvalue: f64,
    /// The largest.
    pub largest: f64,
}

/// What is known of a kernel on some rows.
#[derive(Debug, Clone, PartialEq)]
pub enum Definiteness {
    /// Positive semidefinite: by theory, or proved of a precomputed table.
    Definite,
    /// A precomputed table of which this is proved once a little is added to its diagonal.
    WithRidge(f64),
    /// Not, and here is the evidence.
    Indefinite(NegativeCurvature),
    /// Nothing was found against it, and nothing proves it.
    Unknown,
}

impl Definiteness {
    /// The ridge that must be added to the diagonal, where `K + δI` is proved positive semidefinite.
    pub fn ridge(&self) -> Option<f64> {
        match self {
            Definiteness::Definite => Some(0.0),
            Definiteness::WithRidge(ridge) => Some(*ridge),
            Definiteness::Indefinite(_) | Definiteness::Unknown => None,
        }
    }
}

/// Looks at the kernel on all rows, or on a sample of them.
///
/// ```
/// use linsep::design::{DenseMatrix, Units};
/// use linsep::kernel::{Definiteness, Kernel, KernelRows, definiteness};
/// let x = DenseMatrix::new(vec![0.0, 1.0, 2.0], 1)?;
/// let rows = KernelRows::new(&x, &Units::identity(1), &Default::default())?;
/// // tanh(xy − 1) of a row of zeros with itself is negative.
/// let found = definiteness(&Kernel::Sigmoid { gamma: 1.0, coef0: -1.0 }, &rows);
/// let Definiteness::Indefinite(evidence) = found else { panic!("negative on the diagonal") };
/// assert_eq!(evidence.rows, [0]);
/// # Ok::<(), linsep::Error>(())
/// ```
pub fn definiteness(kernel: &Kernel, rows: &KernelRows) -> Definiteness {
    if kernel.is_definite() {
        return Definiteness::Definite;
    }
    if *kernel == Kernel::Precomputed {
        match proved_ridge(rows) {
            Some(0.0) => return Definiteness::Definite,
            Some(ridge) => return Definiteness::WithRidge(ridge),
            None => {}
        }
    }
    let n = rows.len();
    let sample: Vec<usize> = (0..n.min(LOOKED_AT)).map(|i| i * n / n.clamp(1, LOOKED_AT)).collect();
    let m = sample.len();
    let targets = TargetRows::<f64>::new(kernel, rows, &sample);
    let mut values = vec![0.0; m * targets.padded()];
    let mut out: Vec<&mut [f64]> = values.chunks_exact_mut(targets.padded().max(1)).collect();
    kernel_rows(kernel, rows, &sample, &targets, &mut out);
    let table = Square::from_lower(m, |i, j| values[i * targets.padded() + j]);
    let Some(eigen) = Eigen::of(&table) else { return Definiteness::Unknown };
    let (smallest, largest) = (eigen.values().first().copied(), eigen.values().last().copied());
    let (Some(smallest), Some(largest)) = (smallest, largest) else { return Definiteness::Unknown };
    if smallest >= -NEGATIVE * largest.abs() {
        // Too close to zero for the accuracy of the eigenvalues; the quadratic form of the exact entries may still decide.
        return match curvature(&table, eigen.vector(0)) {
            Some(eigenvalue) if *kernel == Kernel::Precomputed => {
                Definiteness::Indefinite(NegativeCurvature { rows: sample, eigenvalue, largest })
            }
            _ => Definiteness::Unknown,
        };
    }
    Definiteness::Indefinite(shortest(&table, &sample).unwrap_or(NegativeCurvature {
        rows: sample,
        eigenvalue: smallest,
        largest,
    }))
}

/// The Rayleigh quotient `vᵀKv/vᵀv` where it is proved to be negative: summed in double-double arithmetic, plus more than
/// its rounding error.
fn curvature(table: &Square, v: &[f64]) -> Option<f64> {
    let m = v.len();
    let (mut sum, mut size) = (DoublePair::ZERO, 0.0);
    for i in 0..m {
        for j in 0..m {
            let (weighted, entry) = (v[i] * v[j], table.get(i.max(j), i.min(j)));
            let rest = v[i].mul_add(v[j], -weighted);
            sum = sum.add_product(DoublePair::exact(weighted), DoublePair::exact(entry));
            sum = sum.add_product(DoublePair::exact(rest), DoublePair::exact(entry));
            size += (weighted * entry).abs();
        }
    }
    let value = sum.value() + PAIR_ROUNDING * (m * m) as f64 * size;
    (value < 0.0).then(|| value / v.iter().map(|x| x * x).sum::<f64>())
}

/// The row or pair of rows with the most negative eigenvalue, where one suffices as evidence.
fn shortest(table: &Square, sample: &[usize]) -> Option<NegativeCurvature> {
    let m = sample.len();
    let least = (0..m).min_by(|a, b| table.get(*a, *a).total_cmp(&table.get(*b, *b)))?;
    if table.get(least, least) < 0.0 {
        let eigenvalue = table.get(least, least);
        return Some(NegativeCurvature { rows: vec![sample[least]], eigenvalue, largest: eigenvalue });
    }
    let mut worst: Option<NegativeCurvature> = None;
    for i in 0..m {
        for j in 0..i {
            let (a, b, c) = (table.get(i, i), table.get(i, j), table.get(j, j));
            let largest = 0.5 * (a + c) + (0.5 * (a - c)).hypot(b);
            // By the determinant, the product of both eigenvalues: it does not cancel as their difference does.
            let eigenvalue = (a * c - b * b) / largest;
            if eigenvalue < -NEGATIVE * largest && worst.as_ref().is_none_or(|w| eigenvalue < w.eigenvalue) {
                worst = Some(NegativeCurvature { rows: vec![sample[j], sample[i]], eigenvalue, largest });
            }
        }
    }
    worst
}
