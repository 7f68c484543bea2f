//! `Σ_j a_j K(x_j, x_i)` with proved error bounds: the distance of the computed sums from those of the kernel's formula in
//! ℝ.
//!
//! The rows are the doubles of the design; γ, c, the degree, centres and scales are exact; u = 2⁻⁵³ and A_i = Σ|a_j||K_ij|.
//! Terms are added in groups of 64, in fours within a group, and the groups by error-free additions: a term meets at most 22
//! roundings in its group, and the sum of groups is off by 2u, so adding up costs 26u·A_i.
//!
//! *Exponential kernel, dense rows*: distances come from differences of the doubles themselves, so every square is right to a
//! relative 6u and the exponent τ to (d+8)u. The value is then off by `((d+8)τ + 8)u·K`. Because −K ln K is concave,
//! `Σ|a|τK ≤ A ln(Σ|a|/A)`. *By products*, which take a third of the time: the entries `(x−c)/s` are right to a relative 3u,
//! which moves a squared distance by 6u(r_i+r_j)², squares and products of at most h entries by hu(r_i+r_j)², and putting them
//! together by 3u(r_i+r_j)²; so the exponent is off by `γ(h+12)u(r_i+r_j)²` with the lengths r of the rows. Sparse rows are
//! always seen so (without the centre, which distances do not need), dense ones where that is small for the longest rows.
//!
//! *Kernels of products*: with lengths ρ (about the centre at most the length plus that of the centre) the product is at most
//! ρ_iρ_j and off by (d+14)u of that, so `k = γx·y + c` by (d+15)u of `B = γρ_iρ_j + |c|`, and k^q by q(d+16)u of B^q. The sum
//! over j of |a_j|B^q is a polynomial in ρ_i. *tanh* has slope at most 1 and is itself off by less than 20u.
//!
//! *Precomputed*: the symmetric part of the table, whose entries are exact.
//!
//! Every bound is computed in doubles from terms that are not negative and then raised by a hundredth, which is more than its
//! own roundings; what underflows is below the floors.

use super::block::{Body, CHUNK, GROUP, Sources, combine, dense_rows};
use super::panels::{STRIP, distances};
use super::{Kernel, KernelRows, StoredRows, TargetRows, kernel_rows, rbf_of_distances};
use crate::design::{Design, Units};
use crate::error::Result;
use crate::numeric::{EXP_ERROR, UNIT, vectorised};
use crate::watch::Watch;
use rayon::prelude::*;

/// More than the roundings of a bound: even sums of thousands of terms need less than 1e-11.
pub(super) const RAISE: f64 = 1.01;
/// Lengths are raised by this, so that products of what underflowed are covered: its square, times u, is above 2⁻¹⁰⁷⁴ by
/// more than the number of columns.
const LENGTH_FLOOR: f64 = 1e-150;
/// Values of the exponential kernel are off by at most this where they are all but zero: e⁻⁷⁰⁸ is 3e-308.
const VALUE_FLOOR: f64 = 1e-300;
/// Rows scored by one task. Chosen (bench/constants.md): only the time depends on it.
const PIECE: usize = 256;
/// γ below this could meet distances that overflowed but are not large.
const LEAST_GAMMA: f64 = 1e-280;
/// Distances are taken by products where the exponents are then off by no more than this. Scores of a machine are at most some
/// thousands, so what this adds to a gap is below a hundredth of the default tolerance 1e-6; what it saves is two of three
/// operations (usps, 256 columns: the proof took 0.29 of the rest of the fit by differences).
const PRODUCT_ERROR: f64 = 1e-12;
/// Differences of doubles up to this do not overflow.
const MOST: f64 = 0.5 * f64::MAX;

/// Numbers with bounds on their errors; a bound that is not finite says that nothing is known.
#[derive(Debug, Clone, PartialEq)]
pub struct EnclosedValues {
    /// What was computed.
    pub values: Vec<f64>,
    /// How far each may be from the true value.
    pub errors: Vec<f64>,
}

/// Rows in the form that the proof needs.
#[derive(Debug)]
pub struct ProofRows {
    kernel: Kernel,
    rows: KernelRows,
    /// Where the rows are as they came and distances are taken by differences.
    inverse_scale: Option<Vec<f64>>,
    /// ρ, row by row, in the units of the kernel; none for distances by differences and for tables.
    lengths: Vec<f64>,
    /// What is added to the diagonal of a table.
    ridge: f64,
}

impl ProofRows {
    /// All rows of a design, for a kernel that sees them in given units; a precomputed one with `ridge` on its diagonal.
    pub fn new(kernel: &Kernel, design: &dyn Design, units: &Units, ridge: f64, watch: &Watch) -> Result<ProofRows> {
        let of = |rows: KernelRows, inverse_scale, lengths| ProofRows {
            kernel: *kernel,
            rows,
            inverse_scale,
            lengths,
            ridge,
        };
        if *kernel == Kernel::Precomputed {
            return Ok(of(KernelRows::table(design, watch)?, None, Vec::new()));
        }
        let rows = KernelRows::new(design, units, watch)?;
        let lengths = lengths(&rows, kernel.is_shift_invariant());
        if let Kernel::Rbf { gamma } = kernel
            && !rows.stored().is_sparse()
        {
            let longest = lengths.iter().copied().fold(0.0, f64::max);
            // NaN where lengths overflow: then by differences.
            if !(product_error(*gamma, rows.most_entries(), 2.0 * longest) <= PRODUCT_ERROR) {
                let raw = KernelRows::new(design, &Units::identity(design.shape().cols), watch)?;
                return Ok(of(raw, Some(units.inverse_scale().to_vec()), Vec::new()));
            }
        }
        Ok(of(rows, None, lengths))
    }

    /// The rows in the units of the kernel; as they came for distances by differences.
    pub(super) fn rows(&self) -> &KernelRows {
        &self.rows
    }

    /// Upper bounds of √K(x, x).
    pub fn norms(&self) -> Vec<f64> {
        let of = |i: usize| match self.kernel {
            Kernel::Rbf { .. } | Kernel::Sigmoid { .. } => 1.0,
            Kernel::Linear => self.lengths[i],
            Kernel::Polynomial { gamma, coef0, degree } => {
                RAISE * (gamma * self.lengths[i].powi(2) + coef0.abs()).powi(degree as i32).sqrt()
            }
            Kernel::Precomputed => RAISE * (self.rows.entry(i, i).abs() + self.ridge).sqrt(),
        };
        (0..self.rows.len()).map(of).collect()
    }

    /// `Σ_j a_j K(x_j, x_i)` of every row i, with errors.
    ///
    /// ```
    /// use linsep::design::{DenseMatrix, Units};
    /// use linsep::kernel::{Kernel, ProofRows};
    /// let x = DenseMatrix::new(vec![0.0, 1.0], 1)?;
    /// let kernel = Kernel::Rbf { gamma: 1.0 };
    /// let rows = ProofRows::new(&kernel, &x, &Units::identity(1), 0.0, &Default::default())?;
    /// let sums = rows.sums(&[1.0, 0.0]);
    /// assert!((sums.values[1] - (-1.0f64).exp()).abs() <= sums.errors[1] && sums.errors[1] < 1e-14);
    /// # Ok::<(), linsep::Error>(())
    /// ```
    pub fn sums(&self, coefficients: &[f64]) -> EnclosedValues {
        let ids: Vec<usize> = (0..coefficients.len()).filter(|i| coefficients[*i] != 0.0).collect();
        let terms: Vec<f64> = ids.iter().map(|i| coefficients[*i]).collect();
        let n = self.rows.len();
        let sums = GroupedSum::new(self, &ids, &terms);
        let (mut values, mut sizes) = (vec![0.0; n], vec![0.0; n]);
        values.par_chunks_mut(PIECE).zip(sizes.par_chunks_mut(PIECE)).enumerate().for_each(|(p, (values, sizes))| {
            let targets: Vec<usize> = (p * PIECE..p * PIECE + values.len()).collect();
            sums.at(&targets, values, sizes);
        });
        let errors = self.errors(coefficients, &ids, &values, &sizes);
        EnclosedValues { values, errors }
    }

    /// The bounds of the head of this file; `sizes` holds A where the kernel has no negative values.
    fn errors(&self, coefficients: &[f64], ids: &[usize], values: &[f64], sizes: &[f64]) -> Vec<f64> {
        let total: f64 = ids.iter().map(|i| coefficients[*i].abs()).sum();
        let d = self.rows.cols() as f64;
        let bound: Box<dyn Fn(usize) -> f64 + Sync> = match self.kernel {
            Kernel::Rbf { gamma } => match &self.inverse_scale {
                Some(inverse) => {
                    if gamma < LEAST_GAMMA || !self.rows.all_within(MOST) || !inverse.iter().all(|s| s.is_finite()) {
                        return vec![f64::INFINITY; values.len()];
                    }
                    // Squares that underflow, below the square root of the smallest number each.
                    let lost = gamma * d * 1e-320;
                    Box::new(move |i| {
                        let spread = if sizes[i] > 0.0 { (total / sizes[i]).ln().max(0.0) + 0.01 } else { 0.0 };
                        let relative = UNIT * (26.0 + (d + 8.0) * spread) + EXP_ERROR + lost;
                        relative * sizes[i] + VALUE_FLOOR * total
                    })
                }
                None => {
                    let longest = self.lengths.iter().copied().fold(0.0, f64::max);
                    let entries = self.rows.most_entries();
                    Box::new(move |i| {
                        let exponent = product_error(gamma, entries, self.lengths[i] + longest);
                        match exponent < 0.25 {
                            true => sizes[i] * (1.15 * exponent + EXP_ERROR + 26.0 * UNIT) + VALUE_FLOOR * total,
                            false => total * (1.0 + 34.0 * UNIT),
                        }
                    })
                }
            },
            Kernel::Linear => {
                let powers = self.powers(coefficients, ids, (1.0, 0.0, 1));
                Box::new(move |i| UNIT * (d + 42.0) * evaluated(&powers, self.lengths[i]))
            }
            Kernel::Polynomial { gamma, coef0, degree } => {
                let powers = self.powers(coefficients, ids, (gamma, coef0, degree));
                let factor = UNIT * (f64::from(degree) * (d + 16.0) + 26.0);
                Box::new(move |i| factor * evaluated(&powers, gamma.sqrt() * self.lengths[i]))
            }
            Kernel::Sigmoid { gamma, coef0 } => {
                let powers = self.powers(coefficients, ids, (gamma, coef0, 1));
                Box::new(move |i| {
                    UNIT * ((d + 16.0) * evaluated(&powers, gamma.sqrt() * self.lengths[i]) + 46.0 * total)
                })
            }
            Kernel::Precomputed => Box::new(move |i| {
                let crooked = |j: &usize| 0.5 * (self.rows.entry(i, *j) - self.rows.entry(*j, i)).abs();
                let size: f64 = ids.iter().map(|j| coefficients[*j].abs() * self.rows.entry(i, *j).abs()).sum();
                let asymmetry: f64 = ids.iter().map(|j| coefficients[*j].abs() * crooked(j)).sum();
                26.0 * UNIT * size + asymmetry + self.ridge * coefficients[i].abs()
            }),
        };
        let of = |i: usize| match values[i].is_finite() {
            true => RAISE * (bound(i) + UNIT * values[i].abs()),
            false => f64::INFINITY,
        };
        (0..values.len()).into_par_iter().map(of).collect()
    }

    /// Coefficients c_p of `Σ_j |a_j|(γρ_jρ + |c|)^q = Σ_p c_p (√γ ρ)^p`.
    fn powers(&self, coefficients: &[f64], ids: &[usize], (gamma, coef0, degree): (f64, f64, u32)) -> Vec<f64> {
        let q = degree as i32;
        let mut binomial = 1.0;
        (0..=q)
            .map(|p| {
                let moment: f64 =
                    ids.iter().map(|j| coefficients[*j].abs() * (gamma.sqrt() * self.lengths[*j]).powi(p)).sum();
                let of = binomial * coef0.abs().powi(q - p);
                binomial *= f64::from(q - p) / f64::from(p + 1);
                // 0·∞ is zero here: an absent power.
                if of == 0.0 { 0.0 } else { of * moment }
            })
            .collect()
    }
}

/// The error of the exponent of the exponential kernel by products, for rows of so many entries whose lengths add up to
/// `reach`.
fn product_error(gamma: f64, entries: usize, reach: f64) -> f64 {
    gamma * UNIT * (entries as f64 + 12.0) * reach.powi(2)
}

/// A polynomial of terms that are not negative, raised by more than its roundings.
fn evaluated(powers: &[f64], at: f64) -> f64 {
    1.001 * powers.iter().rev().fold(0.0, |sum, c| sum * at + c)
}

/// Upper bounds of the lengths of rows in the units of the kernel, with the centre's where sparse rows do not have it yet.
fn lengths(rows: &KernelRows, shifted: bool) -> Vec<f64> {
    let centre = if shifted { 0.0 } else { rows.centre_square().max(0.0).sqrt() };
    let grown = 1.0 + (rows.cols() as f64 + 16.0) * f64::EPSILON;
    (0..rows.len()).into_par_iter().map(|i| (rows.square(i).sqrt() + centre) * grown + LENGTH_FLOOR).collect()
}

/// Terms of a sum, packed.
struct GroupedSum<'a> {
    proof: &'a ProofRows,
    ids: &'a [usize],
    sources: Sources<f64>,
    terms: Vec<(usize, f64)>,
    sizes: Vec<(usize, f64)>,
}

impl<'a> GroupedSum<'a> {
    fn new(proof: &'a ProofRows, ids: &'a [usize], coefficients: &[f64]) -> GroupedSum<'a> {
        let sources = match proof.kernel {
            Kernel::Precomputed => Sources::new(&proof.rows, &[]),
            _ => Sources::new(&proof.rows, ids),
        };
        let of = |value: fn(f64) -> f64| coefficients.iter().enumerate().map(|(j, a)| (j % GROUP, value(*a))).collect();
        GroupedSum { proof, ids, sources, terms: of(|a| a), sizes: of(f64::abs) }
    }

    /// Sums at some rows; `sizes` are the same with |a|, where the bound uses them.
    fn at(&self, rows: &[usize], values: &mut [f64], sizes: &mut [f64]) {
        let ProofRows { kernel, rows: all, .. } = self.proof;
        let targets = TargetRows::<f64>::new(kernel, all, rows);
        let stride = match kernel {
            Kernel::Precomputed => targets.len(),
            _ => targets.padded(),
        };
        let mut tile = vec![0.0; GROUP.min(self.ids.len()) * stride];
        let (mut high, mut low, mut size) = (vec![0.0; stride], vec![0.0; stride], vec![0.0; stride]);
        let mut part = vec![0.0; stride];
        for (g, ids) in self.ids.chunks(GROUP).enumerate() {
            let first = g * GROUP;
            let mut out: Vec<&mut [f64]> = tile.chunks_exact_mut(stride.max(1)).take(ids.len()).collect();
            self.fill(first, ids, &targets, &mut out);
            part.fill(0.0);
            combine(&tile, &self.terms[first..first + ids.len()], &mut part);
            add_exactly(&part, &mut high, &mut low);
            if let Kernel::Rbf { .. } = kernel {
                combine(&tile, &self.sizes[first..first + ids.len()], &mut size);
            }
        }
        for (t, (value, own)) in values.iter_mut().zip(sizes).enumerate() {
            (*value, *own) = (high[t] + low[t], size[t]);
        }
    }

    fn fill(&self, first: usize, ids: &[usize], targets: &TargetRows<f64>, out: &mut [&mut [f64]]) {
        let ProofRows { kernel, rows, inverse_scale, .. } = self.proof;
        let Body::Panels(panels) = &targets.body else { return kernel_rows(kernel, rows, ids, targets, out) };
        let width = rows.cols().max(1);
        let strips = &self.sources.strips[first * width..];
        let strips = &strips[..ids.len().div_ceil(STRIP) * STRIP * width];
        let (Kernel::Rbf { gamma }, Some(inverse)) = (kernel, inverse_scale) else {
            return dense_rows(kernel, strips, &self.sources.squares[first..first + ids.len()], targets, out);
        };
        if inverse.is_empty() {
            return out.iter_mut().for_each(|row| row.fill(1.0));
        }
        let mut start = 0;
        while start < targets.padded() {
            let end = (start + CHUNK).min(targets.padded());
            let mut part: Vec<&mut [f64]> = out.iter_mut().map(|row| &mut row[start..end]).collect();
            distances(strips, &panels[start * width..end * width], inverse, &mut part);
            part.iter_mut().for_each(|row| rbf_of_distances(row, *gamma));
            start = end;
        }
    }
}

vectorised! {
    /// `high + low += part` where only the sum of the low parts is rounded (Knuth's two-sum).
    fn add_exactly(part: &[f64], high: &mut [f64], low: &mut [f64]) {
        for ((p, h), l) in part.iter().zip(high).zip(low) {
            let sum = *h + p;
            let back = sum - *h;
            *l += (*h - (sum - back)) + (p - back);
            *h = sum;
        }
    }
}

impl KernelRows {
    /// Whether no entry is larger in size.
    fn all_within(&self, most: f64) -> bool {
        let (StoredRows::Dense { values, .. } | StoredRows::Sparse { values, .. }) = self.stored();
        values.iter().all(|v| v.abs() <= most)
    }

    /// The most entries of a row.
    fn most_entries(&self) -> usize {
        match self.stored() {
            StoredRows::Dense { cols, .. } => *cols,
            StoredRows::Sparse { starts, .. } => starts.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0),
        }
    }
}
