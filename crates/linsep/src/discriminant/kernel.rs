//! `g(x) = Σ_i c_i K(x_i, x) + b` over support rows.

use super::blocks::check_columns;
use crate::design::{Block, Design, Tile, Units};
use crate::error::{Error, ErrorKind, Result};
use crate::kernel::{Kernel, KernelRows, KernelSum, StoredRows, TargetRows};
use crate::linalg::Square;
use crate::watch::Watch;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Rows scored at a time: results do not depend on it. Chosen (bench/constants.md).
const BLOCK: usize = 256;
/// A squared length below this share of the sum of its terms is rounding: about 50 units.
const ROUNDING: f64 = 1e-14;

/// Discriminants that are sums of kernel values with support rows, one or several scores over the same rows.
///
/// ```
/// use linsep::design::{DenseMatrix, Units};
/// use linsep::discriminant::KernelExpansion;
/// use linsep::kernel::{Kernel, StoredRows};
/// // g(x) = exp(−x²) − exp(−(x−2)²)
/// let support = StoredRows::Dense { cols: 1, values: vec![0.0, 2.0] };
/// let units = Units::identity(1);
/// let g = KernelExpansion::new(Kernel::Rbf { gamma: 1.0 }, units, vec![0, 1], support, vec![1.0, -1.0], vec![0.0])?;
/// let x = DenseMatrix::new(vec![1.0], 1)?;
/// assert_eq!(g.scores(&x, &Default::default())?, [0.0]);
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KernelExpansion {
    kernel: Kernel,
    /// The kernel looks at `(x − centre)/scale`.
    units: Units,
    /// Numbers of the support rows among the training rows, from 0, rising.
    rows: Vec<usize>,
    /// The support rows in the units of the columns; none for a precomputed kernel, whose columns are the training rows.
    support: StoredRows,
    /// Support row by support row, score by score.
    coefficients: Vec<f64>,
    intercept: Vec<f64>,
}

impl KernelExpansion {
    /// From the kernel, the units it looks at columns in, the numbers of the support rows (rising), the rows themselves, their
    /// coefficients (row by row) and the intercepts.
    #[doc(hidden)]
    pub fn new(
        kernel: Kernel,
        units: Units,
        rows: Vec<usize>,
        support: StoredRows,
        coefficients: Vec<f64>,
        intercept: Vec<f64>,
    ) -> Result<KernelExpansion> {
        let expansion = KernelExpansion { kernel, units, rows, support, coefficients, intercept };
        match expansion.is_whole() {
            true => Ok(expansion),
            false => Err(Error::model("support rows, coefficients and intercepts do not fit together")),
        }
    }

    /// Whether the parts fit together and all numbers are finite: what a file could get wrong.
    pub(crate) fn is_whole(&self) -> bool {
        let (m, k, cols) = (self.rows.len(), self.intercept.len(), self.units.centre().len());
        let stored = match self.kernel {
            Kernel::Precomputed => self.rows.iter().all(|r| *r < cols),
            _ => self.support.is_whole(m) && self.support.cols() == cols,
        };
        let numbers = self.coefficients.iter().chain(&self.intercept).chain(self.units.centre());
        k >= 1
            && stored
            && self.kernel.check().is_ok()
            && self.units.scale().len() == cols
            && self.units.scale().iter().all(|s| *s > 0.0)
            && self.coefficients.len() == m * k
            && self.rows.windows(2).all(|w| w[0] < w[1])
            && numbers.copied().all(f64::is_finite)
    }

    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Number of scores.
    pub fn n_scores(&self) -> usize {
        self.intercept.len()
    }

    /// Number of columns.
    pub fn n_cols(&self) -> usize {
        self.units.centre().len()
    }

    /// Numbers of the support rows among the training rows, from 0.
    pub fn support_rows(&self) -> &[usize] {
        &self.rows
    }

    /// The support rows in the units of the columns.
    pub(super) fn support(&self) -> &StoredRows {
        &self.support
    }

    /// The units that the kernel sees columns in.
    pub(super) fn units(&self) -> &Units {
        &self.units
    }

    /// Whether the kernel sees columns in these units.
    pub(crate) fn is_in(&self, units: &Units) -> bool {
        self.units == *units
    }

    /// Whether the support rows are these, to the bit, dense or sparse.
    pub(crate) fn is_over(&self, rows: &StoredRows) -> bool {
        let as_dense = |stored: &StoredRows| {
            let mut dense = StoredRows::dense(stored.cols());
            (0..self.rows.len()).for_each(|i| dense.push_from(stored, i));
            dense
        };
        match self.support.is_sparse() == rows.is_sparse() {
            true => self.support == *rows,
            false => self.support.cols() == rows.cols() && as_dense(&self.support) == as_dense(rows),
        }
    }

    /// Coefficients, support row by support row and score by score.
    pub fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }

    /// The intercepts.
    pub fn intercept(&self) -> &[f64] {
        &self.intercept
    }

    /// The same with a number added to each score.
    pub(super) fn plus(&self, numbers: &[f64]) -> KernelExpansion {
        KernelExpansion { intercept: self.intercept.iter().zip(numbers).map(|(b, n)| b + n).collect(), ..self.clone() }
    }

    /// The same with support row `i` called `rows[i]`: for a fit on some rows of a larger table, which must rise. A
    /// precomputed kernel then has a column for each of the `all` rows of that table.
    pub fn renumbered(self, rows: &[usize], all: usize) -> Result<KernelExpansion> {
        if self.rows.iter().any(|r| *r >= rows.len()) {
            return Err(Error::model("a support row has no number in the larger table"));
        }
        let numbers = self.rows.iter().map(|r| rows[*r]).collect();
        self.numbered(numbers, all)
    }

    /// With other numbers of the support rows, among so many.
    fn numbered(self, numbers: Vec<usize>, all: usize) -> Result<KernelExpansion> {
        let (units, support) = match self.kernel {
            Kernel::Precomputed => (Units::identity(all), StoredRows::dense(all)),
            _ => (self.units, self.support),
        };
        KernelExpansion::new(self.kernel, units, numbers, support, self.coefficients, self.intercept)
    }

    /// The way back: support row `rows[i]` is called `i`.
    pub(super) fn within(self, rows: &[usize]) -> Result<KernelExpansion> {
        let place = |row: &usize| rows.binary_search(row);
        let numbers: Vec<usize> = self
            .rows
            .iter()
            .map(place)
            .collect::<std::result::Result<_, _>>()
            .map_err(|_| Error::model("a support row is not among the rows of its two classes"))?;
        self.numbered(numbers, rows.len())
    }

    /// Whether the kernel and the units are those of another, so that support rows can be shared.
    pub(super) fn is_alike(&self, other: &KernelExpansion) -> bool {
        self.kernel == other.kernel && self.units == other.units
    }

    /// One of several scores, with the support rows that it has.
    pub(super) fn part(&self, score: usize) -> Result<KernelExpansion> {
        let k = self.n_scores();
        let kept: Vec<usize> = (0..self.rows.len()).filter(|i| self.coefficients[i * k + score] != 0.0).collect();
        let cols = self.support.cols();
        let mut support = if self.support.is_sparse() { StoredRows::sparse(cols) } else { StoredRows::dense(cols) };
        if self.kernel != Kernel::Precomputed {
            kept.iter().for_each(|i| support.push_from(&self.support, *i));
        }
        let rows = kept.iter().map(|i| self.rows[*i]).collect();
        let coefficients = kept.iter().map(|i| self.coefficients[i * k + score]).collect();
        let (units, intercept) = (self.units.clone(), vec![self.intercept[score]]);
        KernelExpansion::new(self.kernel, units, rows, support, coefficients, intercept)
    }

    /// All scores of several expansions over their united support rows: a row that several have is kept once.
    ///
    /// # Errors
    /// Where they do not have the same kernel and units.
    pub fn stack(parts: &[&KernelExpansion]) -> Result<KernelExpansion> {
        let Some(first) = parts.first() else { return Err(Error::model("there is nothing to stack")) };
        if !parts.iter().all(|p| p.is_alike(first)) {
            return Err(Error::model("expansions with different kernels or units cannot be stacked"));
        }
        let k: usize = parts.iter().map(|p| p.n_scores()).sum();
        let mut rows: Vec<usize> = parts.iter().flat_map(|p| p.rows.iter().copied()).collect();
        rows.sort_unstable();
        rows.dedup();
        let mut coefficients = vec![0.0; rows.len() * k];
        let mut source = vec![(0, 0); rows.len()];
        let mut before = 0;
        for (p, part) in parts.iter().enumerate() {
            let scores = part.n_scores();
            for (i, row) in part.rows.iter().enumerate() {
                let at = rows.partition_point(|r| r < row);
                source[at] = (p, i);
                coefficients[at * k + before..at * k + before + scores]
                    .copy_from_slice(&part.coefficients[i * scores..(i + 1) * scores]);
            }
            before += scores;
        }
        let sparse = first.support.is_sparse();
        let cols = first.support.cols();
        let mut support = if sparse { StoredRows::sparse(cols) } else { StoredRows::dense(cols) };
        if first.kernel != Kernel::Precomputed {
            source.iter().for_each(|(p, i)| support.push_from(&parts[*p].support, *i));
        }
        let intercept = parts.iter().flat_map(|p| p.intercept.iter().copied()).collect();
        KernelExpansion::new(first.kernel, first.units.clone(), rows, support, coefficients, intercept)
    }

    /// ‖w‖² of one score in the feature space, `cᵀKc`, which may be negative where the kernel is not positive
    /// semidefinite; `None` for a precomputed kernel, of which the support rows alone say nothing.
    pub fn squared_length(&self, score: usize) -> Option<f64> {
        let k = self.n_scores();
        let c: Vec<f64> = self.coefficients.iter().skip(score).step_by(k).copied().collect();
        let values = self.own_sums(&c, 1)?;
        Some(crate::numeric::sum(c.iter().zip(&values).map(|(c, g)| c * g)))
    }

    /// `w_p·w_q = c_pᵀKc_q` of all scores in the feature space, zero where w is zero up to rounding; `None` for a precomputed
    /// kernel.
    #[doc(hidden)]
    pub fn inner_products(&self) -> Option<Square> {
        let k = self.n_scores();
        let values = self.own_sums(&self.coefficients, k)?;
        let mut sums = vec![crate::numeric::CompensatedSum::default(); k * k];
        for (c, g) in self.coefficients.chunks_exact(k).zip(values.chunks_exact(k)) {
            // Of many scores a support row has a nonzero coefficient in few.
            for (p, c) in c.iter().enumerate().filter(|(_, c)| **c != 0.0) {
                sums[p * k..(p + 1) * k].iter_mut().zip(g).for_each(|(s, g)| s.add(c * g));
            }
        }
        // ‖w‖ without any cancellation: a w that is rounding error relative to it has no direction.
        let diagonal: Vec<f64> = KernelRows::of_stored(&self.support, self.rows.len(), &self.units)
            .diagonal(&self.kernel)
            .map_or_else(|_| vec![0.0; self.rows.len()], |d| d.iter().map(|d| d.abs().sqrt()).collect());
        let whole =
            |p: usize| self.coefficients.iter().skip(p).step_by(k).zip(&diagonal).map(|(c, d)| c.abs() * d).sum();
        let is_rounding = |p: usize| sums[p * k + p].value().abs() <= ROUNDING * f64::powi(whole(p), 2);
        let vanishes: Vec<bool> = (0..k).map(is_rounding).collect();
        Some(Square::from_lower(k, |p, q| match vanishes[p] || vanishes[q] {
            true => 0.0,
            false => 0.5 * (sums[p * k + q].value() + sums[q * k + p].value()),
        }))
    }

    /// `Σ_j c_j K(x_j, x_i)` of the support rows themselves, for `k` sets of coefficients.
    fn own_sums(&self, coefficients: &[f64], k: usize) -> Option<Vec<f64>> {
        if self.kernel == Kernel::Precomputed {
            return None;
        }
        let m = self.rows.len();
        let rows = KernelRows::of_stored(&self.support, m, &self.units);
        let sum = KernelSum::new(&self.kernel, &rows, (0..m).collect(), coefficients, k);
        let mut values = vec![0.0; m * k];
        values.par_chunks_mut(BLOCK * k).enumerate().for_each(|(b, values)| {
            let ids: Vec<usize> = (b * BLOCK..b * BLOCK + values.len() / k).collect();
            sum.add_to(&TargetRows::new(&self.kernel, &rows, &ids), values);
        });
        Some(values)
    }

    /// Scores of every row, row by row.
    pub fn scores(&self, design: &dyn Design, watch: &Watch) -> Result<Vec<f64>> {
        let k = self.n_scores();
        let mut scores = vec![0.0; design.shape().rows * k];
        self.each_block(design, watch, k, &mut scores, |z, out| out.copy_from_slice(z))?;
        Ok(scores)
    }

    /// Scores a block of rows at a time and lets `finish` turn the scores of a block into `width` values per row.
    pub(crate) fn each_block<T: Send>(
        &self,
        design: &dyn Design,
        watch: &Watch,
        width: usize,
        out: &mut [T],
        finish: impl Fn(&[f64], &mut [T]) + Sync,
    ) -> Result<()> {
        let (m, k) = (self.rows.len(), self.n_scores());
        check_columns(design, self.n_cols())?;
        let table = self.kernel == Kernel::Precomputed;
        let none = StoredRows::dense(self.n_cols());
        let support =
            KernelRows::of_stored(if table { &none } else { &self.support }, if table { 0 } else { m }, &self.units);
        let ids = if table { self.rows.clone() } else { (0..m).collect() };
        let sum = KernelSum::new(&self.kernel, &support, ids, &self.coefficients, k);
        out.par_chunks_mut(BLOCK * width).enumerate().try_for_each_init(
            || (Tile::default(), vec![0.0; BLOCK * k]),
            |(tile, scores), (b, out)| {
                if watch.halted().is_some() {
                    return Err(Error::new(ErrorKind::Interrupted, "stopped before all rows were scored"));
                }
                let count = out.len() / width;
                let block = stored(design.block(b * BLOCK..b * BLOCK + count, tile)?);
                let rows = support.and(&block, count, &self.units);
                let scores = &mut scores[..count * k];
                scores.chunks_exact_mut(k).for_each(|z| z.copy_from_slice(&self.intercept));
                let all: Vec<usize> = (0..count).collect();
                sum.add_to(&TargetRows::new(&self.kernel, &rows, &all), scores);
                finish(scores, out);
                Ok(())
            },
        )
    }
}

/// The rows of a block, as doubles.
pub(crate) fn stored(block: Block<'_>) -> StoredRows {
    match block {
        Block::F64(dense) => StoredRows::Dense { cols: dense.cols, values: dense.values.to_vec() },
        Block::F32(dense) => {
            StoredRows::Dense { cols: dense.cols, values: dense.values.iter().map(|v| f64::from(*v)).collect() }
        }
        Block::Csr(rows) => StoredRows::of_csr(&rows),
    }
}
