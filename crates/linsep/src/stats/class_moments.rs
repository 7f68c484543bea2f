//! Weights, means and the within-class scatter, pooled or of each class, in one pass.

use super::reference::class_references;
use super::tail::{difference, moved};
use crate::design::{Design, Pass, Rows, Units};
use crate::error::{Error, Result};
use crate::linalg::{Square, gram_update};
use crate::numeric::{rounding_bound, vectorised};
use crate::table::{Class, Labels};
use crate::watch::Watch;
use std::borrow::Cow;

/// Whether the classes share one scatter matrix or have their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scatter {
    /// The sum over the classes.
    Pooled,
    /// One for each class.
    Own,
}

/// Weight and mean of every class and the within-class scatter `Sₖ = Σ_{yᵢ=k} sᵢ(xᵢ−μ̂ₖ)(xᵢ−μ̂ₖ)ᵀ`, or its sum.
///
/// Two of them merge (Chan, Golub and LeVeque 1983): `Sₖ = Sₖ¹ + Sₖ² + n¹ₖn²ₖ/(n¹ₖ+n²ₖ) δₖδₖᵀ` with `δₖ = μ̂²ₖ − μ̂¹ₖ`; the
/// same equation solved for `Sₖ¹` removes rows (downdating).
///
/// ```
/// use linsep::{design::DenseMatrix, stats::ClassMoments, table::Labels, watch::Watch};
/// let x = DenseMatrix::new(vec![0.0, 2.0, 10.0, 14.0], 1)?;
/// let y = Labels::from_names(["a", "a", "b", "b"]);
/// let m = ClassMoments::of(&x, &y, None, &Watch::default())?;
/// assert_eq!(m.mean(1), [12.0]);
/// assert_eq!(m.scatter().get(0, 0), 10.0);
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ClassMoments {
    pub(super) kind: Scatter,
    pub(super) cols: usize,
    pub(super) weights: Vec<f64>,
    pub(super) means: Vec<f64>,
    /// What the doubles of the means cannot hold.
    pub(super) tails: Vec<f64>,
    /// One, or one for each class.
    pub(super) scatters: Vec<Square>,
}

/// Roundings of a moment beside those of its sum: difference from the reference, root of the weight, products, the means
/// taken off again.
const PER_MOMENT: usize = 32;
/// Weight left of a class, relative to what it was, that is rounding of a subtraction, as in `class_columns`.
const GONE: f64 = 1e-12;
/// Sums of squares below this have lost digits to underflow.
const NO_UNDERFLOW: f64 = 1e-280;

/// Rounding error bounds: how far statistics may be from those of the exact rows.
#[derive(Debug, Clone)]
pub(crate) struct MomentRounding {
    /// `Σ s (x−r)²` of every column over all classes, about the references r.
    sizes: Vec<f64>,
    roundings: usize,
}

impl MomentRounding {
    /// A bound on the error of an entry of the scatter (of any class, and of their sum): `γ√(Σs(x−r)² · Σs(y−r)²)`.
    pub(crate) fn of_scatter(&self, i: usize, j: usize) -> f64 {
        // Roots first: products of columns of 1e±100 would overflow, or vanish and claim no error at all.
        6.0 * rounding_bound(self.roundings) * (self.sizes[i].sqrt() * self.sizes[j].sqrt())
    }

    /// Whether no square of a column has lost digits to underflow: below this some are subnormal.
    pub(crate) fn is_whole(&self, j: usize) -> bool {
        self.sizes[j] == 0.0 || self.sizes[j] > NO_UNDERFLOW
    }

    /// A bound on the error of the mean of a column over rows of this weight, which is about so large.
    pub(crate) fn of_mean(&self, j: usize, weight: f64, mean: f64) -> f64 {
        2.0 * rounding_bound(self.roundings) * (self.sizes[j] / weight).sqrt() + f64::EPSILON * mean.abs()
    }
}

/// Sums about fixed per-class references: the partials of one pass merge by addition.
struct MomentsPartial {
    kind: Scatter,
    weights: Vec<f64>,
    sums: Vec<f64>,
    grams: Vec<Square>,
    /// Room for the rows of one class.
    gathered: Vec<f64>,
}

impl ClassMoments {
    /// The statistics of no rows.
    pub fn empty(kind: Scatter, classes: usize, cols: usize) -> ClassMoments {
        let means = vec![0.0; classes * cols];
        let scatters = vec![Square::zeros(cols); kind.matrices(classes)];
        ClassMoments { kind, cols, weights: vec![0.0; classes], tails: means.clone(), means, scatters }
    }

    /// The statistics of a labelled design with the pooled scatter, weighted where weights are given.
    pub fn of(design: &dyn Design, labels: &Labels, weights: Option<&[f64]>, watch: &Watch) -> Result<ClassMoments> {
        ClassMoments::with(Scatter::Pooled, design, labels, weights, watch)
    }

    /// The statistics of a labelled design, weighted where weights are given.
    ///
    /// Each row is shifted by a reference near its own class before it enters the products, so neither columns like
    /// 1e9 + N(0,1) nor classes far apart cancel.
    pub fn with(
        kind: Scatter,
        design: &dyn Design,
        labels: &Labels,
        weights: Option<&[f64]>,
        watch: &Watch,
    ) -> Result<ClassMoments> {
        Ok(ClassMoments::with_rounding(kind, design, labels, weights, watch)?.0)
    }

    /// The same, with a bound on their rounding errors.
    pub(crate) fn with_rounding(
        kind: Scatter,
        design: &dyn Design,
        labels: &Labels,
        weights: Option<&[f64]>,
        watch: &Watch,
    ) -> Result<(ClassMoments, MomentRounding)> {
        let (cols, classes) = (design.shape().cols, labels.n_classes());
        let references = class_references(design, labels, weights)?;
        let identity = Units::identity(cols);
        let codes = labels.codes();
        let pass = Pass::new(design, &identity).partials_of(kind.matrices(classes) * cols * cols);
        let longest = pass.longest_sum().min(labels.len());
        let partial = pass.reduce(
            watch,
            (0, &mut []),
            || MomentsPartial::new(kind, classes, cols),
            |sum, range, rows, _| {
                let part = weights.map(|w| &w[range.clone()]);
                match rows {
                    Rows::Dense(values) => sum.add(values, &codes[range], part, &references),
                    Rows::Csr(rows) => {
                        let mut values = vec![0.0; rows.len() * cols];
                        for i in 0..rows.len() {
                            let (columns, entries) = rows.row(i);
                            columns.iter().zip(entries).for_each(|(c, v)| values[i * cols + *c as usize] = *v);
                        }
                        sum.add(&mut values, &codes[range], part, &references);
                    }
                }
                Ok(())
            },
            |a, b| {
                a.weights.iter_mut().zip(&b.weights).for_each(|(a, b)| *a += b);
                a.sums.iter_mut().zip(&b.sums).for_each(|(a, b)| *a += b);
                a.grams.iter_mut().zip(&b.grams).for_each(|(a, b)| a.add(b));
            },
        )?;
        let size = |j: usize| partial.grams.iter().map(|g| g.get(j, j)).sum::<f64>();
        let rounding = MomentRounding { sizes: (0..cols).map(size).collect(), roundings: longest + PER_MOMENT };
        let moments = partial.about_means(&references, cols);
        if !moments.is_finite() {
            // The summary pass names the column and row at fault.
            crate::design::summarise(design, weights, watch)?;
            return Err(Error::data("the products of the columns overflow").help("rescale the columns"));
        }
        Ok((moments, rounding))
    }

    pub(super) fn is_finite(&self) -> bool {
        let scatter = self.scatters.iter().flat_map(Square::as_slice);
        scatter.chain(&self.means).chain(&self.tails).chain(&self.weights).all(|v| v.is_finite())
    }

    /// Total weight of a class.
    pub fn weight(&self, class: usize) -> f64 {
        self.weights[class]
    }

    /// Total weights of all classes.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Mean of a class.
    pub fn mean(&self, class: usize) -> &[f64] {
        &self.means[class * self.cols..(class + 1) * self.cols]
    }

    /// How far the mean of a class is beyond a number, with the digits that [`ClassMoments::mean`] cannot hold.
    pub fn mean_beyond(&self, class: usize, column: usize, from: f64) -> f64 {
        let at = class * self.cols + column;
        difference((self.means[at], self.tails[at]), (from, 0.0))
    }

    /// The means of the classes less that of all rows, in which a large common offset cancels before it is rounded.
    pub fn centred_means(&self) -> Vec<Vec<f64>> {
        let (base, total) = (self.mean(0), self.weights.iter().sum::<f64>());
        let apart = |k: usize| (0..self.cols).map(|j| self.mean_beyond(k, j, base[j])).collect::<Vec<f64>>();
        let mut centred: Vec<Vec<f64>> = (0..self.weights.len()).map(apart).collect();
        for j in 0..self.cols {
            let grand: f64 = centred.iter().zip(&self.weights).map(|(class, w)| w / total * class[j]).sum();
            centred.iter_mut().for_each(|class| class[j] -= grand);
        }
        centred
    }

    /// What the doubles of [`ClassMoments::mean`] cannot hold.
    pub(crate) fn mean_tail(&self, class: usize) -> &[f64] {
        &self.tails[class * self.cols..(class + 1) * self.cols]
    }

    /// Mean of all rows.
    pub fn grand_mean(&self) -> Vec<f64> {
        let total: f64 = self.weights.iter().sum();
        // Through differences from the first class, so that a large common offset costs no digits.
        let base = self.mean(0);
        let shift = |j: usize| -> f64 {
            (0..self.weights.len()).map(|k| self.weights[k] / total * self.mean_beyond(k, j, base[j])).sum()
        };
        (0..self.cols).map(|j| base[j] + shift(j)).collect()
    }

    /// The within-class scatter, summed over the classes.
    pub fn scatter(&self) -> Cow<'_, Square> {
        match self.kind {
            Scatter::Pooled => Cow::Borrowed(&self.scatters[0]),
            Scatter::Own => {
                let mut sum = Square::zeros(self.cols);
                self.scatters.iter().for_each(|s| sum.add(s));
                Cow::Owned(sum)
            }
        }
    }

    /// The scatter of one class; of pooled statistics the pooled one.
    pub fn scatter_of(&self, class: usize) -> &Square {
        &self.scatters[class.min(self.scatters.len() - 1)]
    }

    /// Adds the statistics of other rows of the same columns; classes that are new to one side come after the others.
    pub fn merge(&mut self, other: &ClassMoments) -> Result<()> {
        self.combine(other, 1.0)
    }

    /// Adds more labelled rows.
    pub fn update(
        &mut self,
        design: &dyn Design,
        labels: &Labels,
        weights: Option<&[f64]>,
        watch: &Watch,
    ) -> Result<()> {
        self.merge(&ClassMoments::with(self.kind(), design, labels, weights, watch)?)
    }

    /// Removes the statistics of rows that were merged before, up to rounding as if they had never been added.
    pub fn remove(&mut self, other: &ClassMoments) -> Result<()> {
        let excess = |(a, b): (&f64, &f64)| *b > a * (1.0 + GONE);
        if other.weights.len() > self.weights.len() || self.weights.iter().zip(&other.weights).any(excess) {
            return Err(Error::usage("these statistics do not contain the rows to be removed"));
        }
        self.combine(other, -1.0)
    }

    /// Makes room for classes that have no rows yet.
    pub fn with_classes(mut self, classes: usize) -> ClassMoments {
        let classes = classes.max(self.weights.len());
        if self.kind == Scatter::Own {
            self.scatters.resize(classes, Square::zeros(self.cols));
        }
        self.weights.resize(classes, 0.0);
        self.means.resize(classes * self.cols, 0.0);
        self.tails.resize(classes * self.cols, 0.0);
        self
    }

    /// Whether the scatter is pooled.
    pub fn kind(&self) -> Scatter {
        self.kind
    }

    /// Adds (sign 1) or removes (sign −1) the rows of other statistics.
    fn combine(&mut self, other: &ClassMoments, sign: f64) -> Result<()> {
        if self.cols != other.cols || self.kind() != other.kind() {
            return Err(Error::usage("statistics of different columns or kinds cannot be merged"));
        }
        let classes = self.weights.len().max(other.weights.len());
        *self = std::mem::replace(self, ClassMoments::empty(Scatter::Pooled, 0, 0)).with_classes(classes);
        for (k, b) in other.weights.iter().enumerate().filter(|(_, b)| **b > 0.0) {
            let (a, b) = (self.weights[k], sign * b);
            let left = a + b;
            let own = self.kind == Scatter::Own;
            let scatter = &mut self.scatters[if own { k } else { 0 }];
            let gone = left <= a * GONE;
            if own {
                scatter.add_scaled(sign, Some(&other.scatters[k]));
            }
            if gone && own {
                *scatter = Square::zeros(self.cols);
            }
            let class = k * self.cols..(k + 1) * self.cols;
            let (mean, tail) = (&mut self.means[class.clone()], &mut self.tails[class]);
            let (other_mean, other_tail) = (other.mean(k), other.mean_tail(k));
            let delta: Vec<f64> =
                (0..mean.len()).map(|j| difference((other_mean[j], other_tail[j]), (mean[j], tail[j]))).collect();
            if gone {
                // A class without rows is reset to zero, rounding included.
                mean.fill(0.0);
                tail.fill(0.0);
            } else if a > 0.0 {
                scatter.add_outer(a * b / left, &delta);
                for (j, d) in delta.iter().enumerate() {
                    (mean[j], tail[j]) = moved((mean[j], tail[j]), b / left * d);
                }
            } else {
                mean.copy_from_slice(other_mean);
                tail.copy_from_slice(other_tail);
            }
            self.weights[k] = if gone { 0.0 } else { left };
        }
        if self.kind == Scatter::Pooled {
            self.scatters[0].add_scaled(sign, Some(&other.scatters[0]));
        }
        Ok(())
    }
}

impl Scatter {
    pub(super) fn matrices(self, classes: usize) -> usize {
        match self {
            Scatter::Pooled => 1,
            Scatter::Own => classes,
        }
    }
}

vectorised! {
    /// Shifts each row to its class's reference, adds it to its class's sum, and leaves it scaled by √s for the Gram.
    fn shift_and_sum(
        rows: &mut [f64],
        codes: &[Class],
        weights: Option<&[f64]>,
        references: &[f64],
        totals: &mut [f64],
        sums: &mut [f64],
    ) {
        let cols = (sums.len() / totals.len()).max(1);
        for (i, (x, class)) in rows.chunks_exact_mut(cols).zip(codes).enumerate() {
            let k = class.index();
            let reference = &references[k * cols..(k + 1) * cols];
            let sum = &mut sums[k * cols..(k + 1) * cols];
            let s = weights.map_or(1.0, |w| w[i]);
            totals[k] += s;
            if s == 0.0 {
                x.fill(0.0);
                continue;
            }
            let root = s.sqrt();
            for ((v, r), sum) in x.iter_mut().zip(reference).zip(sum) {
                let shifted = *v - r;
                *sum = s.mul_add(shifted, *sum);
                *v = root * shifted;
            }
        }
    }
}

impl MomentsPartial {
    fn new(kind: Scatter, classes: usize, cols: usize) -> MomentsPartial {
        let grams = vec![Square::zeros(cols); kind.matrices(classes)];
        MomentsPartial {
            kind,
            weights: vec![0.0; classes],
            sums: vec![0.0; classes * cols],
            grams,
            gathered: Vec::new(),
        }
    }

    fn add(&mut self, rows: &mut [f64], codes: &[Class], weights: Option<&[f64]>, references: &[f64]) {
        shift_and_sum(rows, codes, weights, references, &mut self.weights, &mut self.sums);
        if self.kind == Scatter::Pooled {
            return gram_update(&mut self.grams[0], rows, rows);
        }
        let cols = self.sums.len() / self.weights.len();
        for (k, gram) in self.grams.iter_mut().enumerate() {
            self.gathered.clear();
            for (x, _) in rows.chunks_exact(cols.max(1)).zip(codes).filter(|(_, class)| class.index() == k) {
                self.gathered.extend_from_slice(x);
            }
            gram_update(gram, &self.gathered, &self.gathered);
        }
    }

    fn about_means(mut self, references: &[f64], cols: usize) -> ClassMoments {
        let mut means = references.to_vec();
        let mut tails = vec![0.0; means.len()];
        for (k, weight) in self.weights.iter().enumerate().filter(|(_, w)| **w > 0.0) {
            let delta: Vec<f64> = self.sums[k * cols..(k + 1) * cols].iter().map(|s| s / weight).collect();
            let own = k.min(self.grams.len() - 1);
            self.grams[own].add_outer(-weight, &delta);
            for (at, d) in (k * cols..).zip(&delta) {
                (means[at], tails[at]) = moved((means[at], 0.0), *d);
            }
        }
        ClassMoments { kind: self.kind, cols, weights: self.weights, means, tails, scatters: self.grams }
    }
}
