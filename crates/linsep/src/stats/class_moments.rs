//! Weights, means and the pooled within-class scatter, in one pass.

use crate::design::{Block, Design, Pass, Rows, Tile, Units};
use crate::error::{Error, Result};
use crate::linalg::{Square, gram_update};
use crate::numeric::vectorised;
use crate::table::{Class, Labels};
use crate::watch::Watch;

/// Weight and mean of every class and the within-class scatter `S_W = Σₖ Σ_{yᵢ=k} sᵢ(xᵢ−μ̂ₖ)(xᵢ−μ̂ₖ)ᵀ`.
///
/// Two of them merge exactly (Chan, Golub and LeVeque 1983):
/// `S_W = S_W¹ + S_W² + Σₖ n¹ₖn²ₖ/(n¹ₖ+n²ₖ) δₖδₖᵀ` with `δₖ = μ̂²ₖ − μ̂¹ₖ`.
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
    cols: usize,
    weights: Vec<f64>,
    means: Vec<f64>,
    scatter: Square,
}

/// Rows per class whose mean is the class's reference: any point near the class will do.
const REFERENCE_ROWS: usize = 16;

/// Sums about fixed per-class references: partials of one pass simply add.
struct Partial {
    weights: Vec<f64>,
    sums: Vec<f64>,
    gram: Square,
}

impl ClassMoments {
    /// The statistics of no rows.
    pub fn empty(classes: usize, cols: usize) -> ClassMoments {
        let means = vec![0.0; classes * cols];
        ClassMoments { cols, weights: vec![0.0; classes], means, scatter: Square::zeros(cols) }
    }

    /// The statistics of a labelled design, weighted where weights are given.
    ///
    /// Each row is shifted by a reference near its own class before it enters the products, so neither columns like
    /// 1e9 + N(0,1) nor classes far apart cancel.
    pub fn of(design: &dyn Design, labels: &Labels, weights: Option<&[f64]>, watch: &Watch) -> Result<ClassMoments> {
        let (cols, classes) = (design.shape().cols, labels.n_classes());
        let references = class_references(design, labels, weights)?;
        let identity = Units::identity(cols);
        let codes = labels.codes();
        let partial = Pass::new(design, &identity).reduce(
            watch,
            (0, &mut []),
            || Partial { weights: vec![0.0; classes], sums: vec![0.0; classes * cols], gram: Square::zeros(cols) },
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
                a.gram.add(&b.gram);
            },
        )?;
        let moments = partial.about_means(&references, cols);
        if moments.scatter.as_slice().iter().chain(&moments.means).any(|v| !v.is_finite()) {
            // The summary pass names the column and row at fault.
            crate::design::summarise(design, weights, watch)?;
            return Err(Error::data("the products of the columns overflow").help("rescale the columns"));
        }
        Ok(moments)
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

    /// Mean of all rows.
    pub fn grand_mean(&self) -> Vec<f64> {
        let total: f64 = self.weights.iter().sum();
        // Through differences from the first class, so that a large common offset costs no digits.
        let base = self.mean(0);
        let shift = |j: usize| -> f64 {
            (0..self.weights.len()).map(|k| self.weights[k] / total * (self.mean(k)[j] - base[j])).sum()
        };
        (0..self.cols).map(|j| base[j] + shift(j)).collect()
    }

    /// The within-class scatter.
    pub fn scatter(&self) -> &Square {
        &self.scatter
    }

    /// Adds the statistics of other rows of the same columns and classes.
    pub fn merge(&mut self, other: &ClassMoments) -> Result<()> {
        if self.cols != other.cols || self.weights.len() != other.weights.len() {
            return Err(Error::usage("statistics of different columns or classes cannot be merged"));
        }
        self.scatter.add(&other.scatter);
        for k in 0..self.weights.len() {
            let (a, b) = (self.weights[k], other.weights[k]);
            if b == 0.0 {
                continue;
            }
            let delta: Vec<f64> = other.mean(k).iter().zip(self.mean(k)).map(|(o, s)| o - s).collect();
            if a > 0.0 {
                self.scatter.add_outer(a * b / (a + b), &delta);
            }
            let mean = &mut self.means[k * self.cols..(k + 1) * self.cols];
            let share = b / (a + b);
            if a > 0.0 {
                mean.iter_mut().zip(&delta).for_each(|(m, d)| *m += share * d);
            } else {
                mean.copy_from_slice(other.mean(k));
            }
            self.weights[k] = a + b;
        }
        Ok(())
    }

    /// The statistics as bytes: shape, weights, means and the lower triangle, little-endian.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for size in [self.weights.len() as u64, self.cols as u64] {
            bytes.extend(size.to_le_bytes());
        }
        let lower = (0..self.cols).flat_map(|j| (j..self.cols).map(move |i| (i, j)));
        let scatter = lower.map(|(i, j)| self.scatter.get(i, j));
        for value in self.weights.iter().chain(&self.means).copied().chain(scatter) {
            bytes.extend(value.to_le_bytes());
        }
        bytes
    }

    /// The statistics back from [`ClassMoments::to_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Result<ClassMoments> {
        let bad = || Error::data("these bytes are not class statistics");
        let words: Vec<[u8; 8]> = bytes.chunks_exact(8).filter_map(|w| w.try_into().ok()).collect();
        let [classes, cols, values @ ..] = &words[..] else { return Err(bad()) };
        let (classes, cols) = (u64::from_le_bytes(*classes) as u128, u64::from_le_bytes(*cols) as u128);
        let expected = classes + classes * cols + cols * (cols + 1) / 2;
        if !bytes.len().is_multiple_of(8) || values.len() as u128 != expected {
            return Err(bad());
        }
        let (classes, cols) = (classes as usize, cols as usize);
        let mut values = values.iter().map(|w| f64::from_le_bytes(*w));
        let weights: Vec<f64> = values.by_ref().take(classes).collect();
        let means: Vec<f64> = values.by_ref().take(classes * cols).collect();
        let scatter = Square::from_lower(cols, |_, _| values.next().unwrap_or(f64::NAN));
        // What no rows can have would only surface later, as a fit that makes no sense.
        let possible = weights.iter().all(|w| *w >= 0.0)
            && weights.iter().chain(&means).chain(scatter.as_slice()).all(|v| v.is_finite());
        if !possible {
            return Err(bad());
        }
        Ok(ClassMoments { cols, weights, means, scatter })
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

impl Partial {
    fn add(&mut self, rows: &mut [f64], codes: &[Class], weights: Option<&[f64]>, references: &[f64]) {
        shift_and_sum(rows, codes, weights, references, &mut self.weights, &mut self.sums);
        gram_update(&mut self.gram, rows, rows);
    }

    fn about_means(mut self, references: &[f64], cols: usize) -> ClassMoments {
        let mut means = references.to_vec();
        for (k, weight) in self.weights.iter().enumerate().filter(|(_, w)| **w > 0.0) {
            let delta: Vec<f64> = self.sums[k * cols..(k + 1) * cols].iter().map(|s| s / weight).collect();
            self.gram.add_outer(-weight, &delta);
            means[k * cols..(k + 1) * cols].iter_mut().zip(&delta).for_each(|(m, d)| *m += d);
        }
        ClassMoments { cols, weights: self.weights, means, scatter: self.gram }
    }
}

/// The mean of the first few rows of each class.
fn class_references(design: &dyn Design, labels: &Labels, weights: Option<&[f64]>) -> Result<Vec<f64>> {
    let cols = design.shape().cols;
    let identity = Units::identity(cols);
    let mut references = vec![0.0; labels.n_classes() * cols];
    let mut counts = vec![0usize; labels.n_classes()];
    let mut open = labels.n_classes();
    let (mut tile, mut values) = (Tile::default(), Vec::new());
    for (row, class) in labels.codes().iter().enumerate() {
        let k = class.index();
        if counts[k] == REFERENCE_ROWS || weights.is_some_and(|w| w[row] == 0.0) {
            continue;
        }
        match design.block(row..row + 1, &mut tile)? {
            Block::F64(dense) => dense.load(&identity, &mut values),
            Block::F32(dense) => dense.load(&identity, &mut values),
            // Sparse columns are near zero for most rows: the origin is a good reference.
            Block::Csr(_) => return Ok(references),
        }
        references[k * cols..(k + 1) * cols].iter_mut().zip(&values).for_each(|(r, v)| *r += v);
        counts[k] += 1;
        if counts[k] == REFERENCE_ROWS {
            open -= 1;
            if open == 0 {
                break;
            }
        }
    }
    for (k, count) in counts.iter().enumerate().filter(|(_, c)| **c > 0) {
        references[k * cols..(k + 1) * cols].iter_mut().for_each(|r| *r /= *count as f64);
    }
    Ok(references)
}

/// `Σ sᵢ ‖(xᵢ − μ_{yᵢ})/scale‖⁴`, the second pass that Ledoit–Wolf shrinkage needs.
pub fn fourth_moment(
    design: &dyn Design,
    labels: &Labels,
    weights: Option<&[f64]>,
    moments: &ClassMoments,
    scale: &[f64],
    watch: &Watch,
) -> Result<f64> {
    let cols = design.shape().cols;
    let identity = Units::identity(cols);
    let codes = labels.codes();
    let row_term = |x: &dyn Fn(usize) -> f64, row: usize| {
        let s = weights.map_or(1.0, |w| w[row]);
        if s == 0.0 {
            return 0.0;
        }
        let mean = moments.mean(codes[row].index());
        let norm: f64 = (0..cols).map(|j| ((x(j) - mean[j]) / scale[j]).powi(2)).sum();
        s * norm * norm
    };
    Pass::new(design, &identity).reduce(
        watch,
        (0, &mut []),
        || 0.0,
        |sum, range, rows, _| {
            match rows {
                Rows::Dense(values) => {
                    for (x, row) in values.chunks_exact(cols.max(1)).zip(range) {
                        *sum += row_term(&|j| x[j], row);
                    }
                }
                Rows::Csr(rows) => {
                    let mut x = vec![0.0; cols];
                    for (i, row) in range.enumerate() {
                        x.fill(0.0);
                        let (columns, entries) = rows.row(i);
                        columns.iter().zip(entries).for_each(|(c, v)| x[*c as usize] = *v);
                        *sum += row_term(&|j| x[j], row);
                    }
                }
            }
            Ok(())
        },
        |a, b| *a += b,
    )
}
