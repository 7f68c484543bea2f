//! The triangular factor of a labelled design, in one pass.

use super::reference::whole_row;
use crate::design::{Design, Pass, Rows, Tile, Units, telling_weight};
use crate::error::{Error, Result};
use crate::linalg::{downdate, triangular_factor};
use crate::table::{Class, Labels};
use crate::watch::Watch;

/// `R` of the rows `√s·[1, x−c, e_y]`, `e_y` the indicators of the classes: `RᵀR` is their Gram matrix, but R itself keeps
/// the digits that products of columns lose (condition κ instead of κ²).
///
/// Factors merge by factoring one above the other; the order of rows does not matter, so neither does the partition into
/// blocks (tall-skinny QR; Demmel, Grigori, Hoemmen and Langou 2012). A change of centre is a column operation, because the
/// column of ones comes first. Rows are removed by downdating the same factor ([`ClassTriangle::remove`]).
///
/// ```
/// use linsep::{design::DenseMatrix, stats::ClassTriangle, table::Labels, watch::Watch};
/// let x = DenseMatrix::new(vec![0.0, 2.0, 4.0, 6.0], 1)?;
/// let y = Labels::from_names(["a", "a", "b", "b"]);
/// let r = ClassTriangle::of(&x, &y, None, &Watch::default())?;
/// assert!((r.mean()[0] - 3.0).abs() < 1e-15);
/// assert!((r.column(0)[1].powi(2) - 20.0).abs() < 1e-13);     // Σ(x − 3)²
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ClassTriangle {
    cols: usize,
    /// Total weight of each class.
    weights: Vec<f64>,
    /// c.
    centre: Vec<f64>,
    /// Square, column-major, upper triangular.
    r: Vec<f64>,
}

/// Rows whose mean is near the centre, as in `reference`.
const REFERENCE_ROWS: usize = 16;
/// Rows gathered at least before they are reduced by a QR step. Chosen (bench/constants.md): only the time and last
/// bits depend on it.
const REDUCE_AT: usize = 512;
/// Weight left of a class, relative to what it was, that is rounding of a subtraction, as in `class_columns`.
const GONE: f64 = 1e-12;

/// A factor and rows still to be folded into it.
struct TrianglePartial {
    triangle: ClassTriangle,
    /// Row-major.
    pending: Vec<f64>,
}

impl ClassTriangle {
    /// The factor of no rows, about a centre that should lie near the rows to come.
    pub fn empty(classes: usize, centre: Vec<f64>) -> ClassTriangle {
        let cols = centre.len();
        let width = 1 + cols + classes;
        ClassTriangle { cols, weights: vec![0.0; classes], centre, r: vec![0.0; width * width] }
    }

    /// The factor of a labelled design, weighted where weights are given.
    pub fn of(design: &dyn Design, labels: &Labels, weights: Option<&[f64]>, watch: &Watch) -> Result<ClassTriangle> {
        let (cols, classes) = (design.shape().cols, labels.n_classes());
        let empty = ClassTriangle::empty(classes, reference(design, weights)?);
        let identity = Units::identity(cols);
        let codes = labels.codes();
        // The factor and the rows gathered for it.
        let doubles = 3 * empty.width().pow(2);
        let partial = Pass::new(design, &identity).partials_of(doubles).reduce(
            watch,
            (0, &mut []),
            || TrianglePartial { triangle: empty.clone(), pending: Vec::new() },
            |sum, range, rows, _| {
                let part = weights.map(|w| &w[range.clone()]);
                match rows {
                    Rows::Dense(values) => sum.add(values, &codes[range], part),
                    Rows::Csr(rows) => {
                        let mut values = vec![0.0; rows.len() * cols];
                        for i in 0..rows.len() {
                            let (columns, entries) = rows.row(i);
                            columns.iter().zip(entries).for_each(|(c, v)| values[i * cols + *c as usize] = *v);
                        }
                        sum.add(&values, &codes[range], part);
                    }
                }
                Ok(())
            },
            |a, mut b| {
                a.reduce();
                b.reduce();
                a.triangle.stack(&b.triangle);
            },
        )?;
        let mut partial = partial;
        partial.reduce();
        if partial.triangle.r.iter().any(|v| !v.is_finite()) {
            // The summary pass names the column and row at fault.
            crate::design::summarise(design, weights, watch)?;
            return Err(Error::data("the lengths of the columns overflow").help("rescale the columns"));
        }
        Ok(partial.triangle)
    }

    /// Adds rows (row-major, as they are); cheapest with several times as many rows as columns.
    pub fn update(&mut self, rows: &[f64], codes: &[Class], weights: Option<&[f64]>) -> Result<()> {
        let fits = rows.len() == codes.len() * self.cols
            && weights.is_none_or(|w| w.len() == codes.len())
            && codes.iter().all(|c| c.index() < self.weights.len());
        if !fits {
            return Err(Error::usage("rows, classes and weights do not fit the statistics"));
        }
        let usable = |s: f64| s.is_finite() && s >= 0.0;
        if !rows.iter().all(|v| v.is_finite()) || !weights.is_none_or(|w| w.iter().all(|s| usable(*s))) {
            return Err(Error::data("a value or weight is not finite, or a weight is negative"));
        }
        let mut partial = TrianglePartial { triangle: self.clone(), pending: Vec::new() };
        partial.add(rows, codes, weights);
        partial.reduce();
        *self = partial.triangle;
        Ok(())
    }

    /// Adds the factor of other rows of the same columns and classes.
    pub fn merge(&mut self, other: &ClassTriangle) -> Result<()> {
        self.check_like(other)?;
        if self.weights.iter().all(|w| *w == 0.0) {
            *self = other.clone();
        } else {
            self.stack(&other.about(&self.centre));
        }
        Ok(())
    }

    /// Removes rows: the inverse of [`ClassTriangle::merge`], with an error relative to the rows before: what remains of a
    /// hundred millionth of them has about half its digits.
    ///
    /// Refused, with nothing changed, where no such rows could remain. That is the only test for rows that were never added:
    /// similar rows may hide them.
    pub fn remove(&mut self, other: &ClassTriangle) -> Result<()> {
        self.check_like(other)?;
        let refused = |fact: String| {
            Err(Error::data(fact).help(
                "remove only rows that were added, with the weights and classes they had; \
                 otherwise compute the statistics anew from the rows that are to stay",
            ))
        };
        // Sums of weights that are not whole may differ by rounding.
        let negligible = |k: usize| GONE * self.weights[k];
        if let Some(k) = (0..self.weights.len()).find(|k| other.weights[*k] - self.weights[*k] > negligible(*k)) {
            let (has, out) = (self.weights[k], other.weights[k]);
            return refused(format!("class {} has the weight {has}, so {out} cannot be taken out", k + 1));
        }
        let weights: Vec<f64> = (0..self.weights.len())
            .map(|k| Some(self.weights[k] - other.weights[k]).filter(|left| *left > negligible(k)).unwrap_or(0.0))
            .collect();
        if weights.iter().all(|w| *w == 0.0) {
            *self = ClassTriangle::empty(weights.len(), self.centre.clone());
            return Ok(());
        }
        // Constant columns are as long as the rounding error of their centre.
        let rounding = |j: usize| 4.0 * f64::EPSILON * self.centre[j].abs() * self.r[0];
        let mut short = vec![0.0; self.width()];
        (0..self.cols).for_each(|j| short[1 + j] = rounding(j));
        let Some(r) = downdate(self.width(), &self.r, &other.about(&self.centre).r, &short) else {
            return refused("these rows cannot be taken out: a sum of squares without them would be negative".into());
        };
        (self.weights, self.r) = (weights, r);
        // A class without rows is reset to zero, rounding included.
        let (width, first) = (self.width(), 1 + self.cols);
        for k in (0..self.weights.len()).filter(|k| self.weights[*k] == 0.0) {
            self.r[(first + k) * width..(first + k + 1) * width].fill(0.0);
        }
        Ok(())
    }

    /// The same statistics with room for more classes, which have no rows yet.
    pub fn with_classes(self, classes: usize) -> Result<ClassTriangle> {
        let (before, width) = (self.weights.len(), self.width());
        if classes < before {
            return Err(Error::usage(format!("statistics of {before} classes cannot be cut to {classes}")));
        }
        let mut wider = ClassTriangle::empty(classes, self.centre);
        let wide = wider.width();
        for (to, from) in wider.r.chunks_exact_mut(wide).zip(self.r.chunks_exact(width)) {
            to[..width].copy_from_slice(from);
        }
        wider.weights[..before].copy_from_slice(&self.weights);
        Ok(wider)
    }

    fn check_like(&self, other: &ClassTriangle) -> Result<()> {
        if self.cols != other.cols || self.weights.len() != other.weights.len() {
            return Err(Error::usage("statistics of different columns or classes do not belong together")
                .help("make room for a new class with `with_classes` first"));
        }
        Ok(())
    }

    /// The same rows about another centre: `x − c′ = (x − c) + (c − c′)·1`.
    pub fn about(&self, centre: &[f64]) -> ClassTriangle {
        let mut moved = ClassTriangle { centre: centre.to_vec(), ..self.clone() };
        for j in 0..self.cols {
            moved.r[(1 + j) * self.width()] += (self.centre[j] - centre[j]) * self.r[0];
        }
        moved
    }

    /// Total weights of the classes.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// c.
    pub fn centre(&self) -> &[f64] {
        &self.centre
    }

    /// Mean of all rows.
    pub fn mean(&self) -> Vec<f64> {
        (0..self.cols).map(|j| self.centre[j] + self.column(j)[0] / self.r[0]).collect()
    }

    /// The part of R that belongs to a column of the design: first its projection on the ones, then, from entry one on, the
    /// centred column.
    pub fn column(&self, column: usize) -> &[f64] {
        &self.r[(1 + column) * self.width()..(2 + column) * self.width()]
    }

    /// The part of R that belongs to the indicator of a class.
    pub fn indicator(&self, class: usize) -> &[f64] {
        self.column(self.cols + class)
    }

    /// The statistics as bytes: shape, weights, centre and the upper triangle, little-endian.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for size in [self.weights.len() as u64, self.cols as u64] {
            bytes.extend(size.to_le_bytes());
        }
        let upper = self.r.chunks_exact(self.width()).enumerate().flat_map(|(j, column)| &column[..=j]);
        for value in self.weights.iter().chain(&self.centre).chain(upper) {
            bytes.extend(value.to_le_bytes());
        }
        bytes
    }

    /// The statistics back from [`ClassTriangle::to_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Result<ClassTriangle> {
        let bad = || Error::data("these bytes are not a triangular factor");
        let words: Vec<[u8; 8]> = bytes.chunks_exact(8).filter_map(|w| w.try_into().ok()).collect();
        let [classes, cols, values @ ..] = &words[..] else { return Err(bad()) };
        let (classes, cols) = (u64::from_le_bytes(*classes) as u128, u64::from_le_bytes(*cols) as u128);
        let width = 1 + cols + classes;
        if !bytes.len().is_multiple_of(8) || Some(values.len() as u128) != triangle_values(classes, cols, width) {
            return Err(bad());
        }
        let mut values = values.iter().map(|w| f64::from_le_bytes(*w));
        let weights: Vec<f64> = values.by_ref().take(classes as usize).collect();
        let mut triangle = ClassTriangle::empty(classes as usize, values.by_ref().take(cols as usize).collect());
        for j in 0..width as usize {
            let column = &mut triangle.r[j * width as usize..(j + 1) * width as usize];
            column[..=j].iter_mut().for_each(|v| *v = values.next().unwrap_or(f64::NAN));
        }
        triangle.weights = weights;
        let numbers = triangle.weights.iter().chain(&triangle.centre).chain(&triangle.r);
        if !numbers.copied().all(f64::is_finite) || triangle.weights.iter().any(|w| *w < 0.0) {
            return Err(bad());
        }
        Ok(triangle)
    }

    fn width(&self) -> usize {
        1 + self.cols + self.weights.len()
    }

    /// Rows of another factor about the same centre.
    fn stack(&mut self, other: &ClassTriangle) {
        let width = self.width();
        let mut both = Vec::with_capacity(2 * width * width);
        for (a, b) in self.r.chunks_exact(width).zip(other.r.chunks_exact(width)) {
            both.extend(a.iter().chain(b));
        }
        self.r = triangular_factor(2 * width, width, &mut both);
        self.weights.iter_mut().zip(&other.weights).for_each(|(a, b)| *a += b);
    }
}

/// Numbers in the bytes of a factor; `None` where the shape is absurd.
fn triangle_values(classes: u128, cols: u128, width: u128) -> Option<u128> {
    width.checked_mul(width + 1).map(|twice| twice / 2 + classes + cols)
}

impl TrianglePartial {
    fn add(&mut self, rows: &[f64], codes: &[Class], weights: Option<&[f64]>) {
        let TrianglePartial { triangle, pending } = self;
        let (cols, width) = (triangle.cols, triangle.width());
        for (i, class) in codes.iter().enumerate() {
            let s = weights.map_or(1.0, |w| w[i]);
            if s == 0.0 {
                continue;
            }
            let (root, k) = (s.sqrt(), class.index());
            triangle.weights[k] += s;
            pending.push(root);
            pending.extend(rows[i * cols..(i + 1) * cols].iter().zip(&triangle.centre).map(|(x, c)| root * (x - c)));
            pending.extend((0..width - 1 - cols).map(|class| if class == k { root } else { 0.0 }));
        }
        if pending.len() >= width * REDUCE_AT.max(2 * width) {
            self.reduce();
        }
    }

    fn reduce(&mut self) {
        let width = self.triangle.width();
        let rows = self.pending.len() / width;
        if rows == 0 {
            return;
        }
        let mut stacked = Vec::with_capacity(width * (width + rows));
        for j in 0..width {
            stacked.extend_from_slice(&self.triangle.r[j * width..(j + 1) * width]);
            stacked.extend((0..rows).map(|i| self.pending[i * width + j]));
        }
        self.triangle.r = triangular_factor(width + rows, width, &mut stacked);
        self.pending.clear();
    }
}

/// The mean of the first few rows that count, of those whose weights tell where the mean is.
fn reference(design: &dyn Design, weights: Option<&[f64]>) -> Result<Vec<f64>> {
    let shape = design.shape();
    let identity = Units::identity(shape.cols);
    let (mut tile, mut values) = (Tile::default(), Vec::new());
    let (mut sum, mut count) = (vec![0.0; shape.cols], 0.0);
    let least = weights.map_or(0.0, |w| telling_weight(w.iter().copied()));
    for row in (0..shape.rows).filter(|row| weights.is_none_or(|w| w[*row] >= least)).take(REFERENCE_ROWS) {
        let block = design.block(row..row + 1, &mut tile)?;
        let values = whole_row(block, &identity, &mut values);
        sum.iter_mut().zip(values).for_each(|(s, v)| *s += v);
        count += 1.0;
    }
    if count > 0.0 {
        sum.iter_mut().for_each(|s| *s /= count);
    }
    Ok(sum)
}
