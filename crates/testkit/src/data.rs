//! Rows in memory, and generators that build them from the answer.

use linsep::design::Training;
use linsep::design::{CsrMatrix, DenseMatrix, Design};
use linsep::error::Result;
use linsep::model::{Fit, Fitted, Method, Refusal};
use linsep::numeric::exp;
use linsep::table::{Class, Labels};
use linsep::watch::Watch;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Rows to learn from, owned.
#[derive(Debug, Clone)]
pub struct Data {
    /// Features, row after row.
    pub values: Vec<f64>,
    /// Features per row.
    pub cols: usize,
    /// Classes.
    pub labels: Labels,
    /// Frequencies.
    pub weights: Option<Vec<f64>>,
    /// Offsets with their number of columns.
    pub offsets: Option<(usize, Vec<f64>)>,
}

impl Data {
    /// Unweighted rows.
    pub fn new(values: Vec<f64>, cols: usize, labels: Labels) -> Data {
        assert_eq!(values.len(), cols * labels.len(), "one label a row");
        Data { values, cols, labels, weights: None, offsets: None }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.labels.len()
    }

    /// One row.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.cols..(i + 1) * self.cols]
    }

    /// Weight of a row.
    pub fn weight(&self, i: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |w| w[i])
    }

    /// The class of a row as an index.
    pub fn class(&self, i: usize) -> usize {
        self.labels.codes()[i].index()
    }

    /// The features as dense doubles.
    pub fn dense(&self) -> DenseMatrix<'_, f64> {
        DenseMatrix::new(&self.values[..], self.cols).expect("whole rows")
    }

    /// The features as dense singles, rounded.
    pub fn singles(&self) -> DenseMatrix<'static, f32> {
        DenseMatrix::new(self.values.iter().map(|v| *v as f32).collect::<Vec<f32>>(), self.cols).expect("whole rows")
    }

    /// The features as sparse rows, zeros not stored.
    pub fn csr(&self) -> CsrMatrix<'static> {
        let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for i in 0..self.rows() {
            for (j, v) in self.row(i).iter().enumerate().filter(|(_, v)| **v != 0.0) {
                indices.push(j as u32);
                values.push(*v);
            }
            starts.push(values.len());
        }
        CsrMatrix::new(starts, indices, values, self.cols).expect("well-formed rows")
    }

    /// Given rows, in that order, with their weights and offsets.
    pub fn select(&self, rows: &[usize]) -> Data {
        let pick = |width: usize, from: &[f64]| -> Vec<f64> {
            rows.iter().flat_map(|r| from[r * width..(r + 1) * width].iter().copied()).collect()
        };
        Data {
            values: pick(self.cols, &self.values),
            cols: self.cols,
            labels: self.labels.select(rows),
            weights: self.weights.as_ref().map(|w| pick(1, w)),
            offsets: self.offsets.as_ref().map(|(k, o)| (*k, pick(*k, o))),
        }
    }

    /// The same rows with each column passed through a function of its index and value.
    pub fn map(&self, f: impl Fn(usize, f64) -> f64) -> Data {
        let values = self.values.iter().enumerate().map(|(i, v)| f(i % self.cols, *v)).collect();
        Data { values, ..self.clone() }
    }

    /// The same rows with one more column.
    pub fn with_column(&self, column: impl Fn(usize, &[f64]) -> f64) -> Data {
        let mut values = Vec::with_capacity(self.values.len() + self.rows());
        for i in 0..self.rows() {
            values.extend_from_slice(self.row(i));
            values.push(column(i, self.row(i)));
        }
        Data { values, cols: self.cols + 1, ..self.clone() }
    }

    /// The same rows, weighted.
    pub fn weighted(&self, weights: Vec<f64>) -> Data {
        Data { weights: Some(weights), ..self.clone() }
    }

    /// The same rows with offsets.
    pub fn offset(&self, columns: usize, values: Vec<f64>) -> Data {
        Data { offsets: Some((columns, values)), ..self.clone() }
    }

    /// What a method learns from, with the features in a given layout.
    pub fn training<'a>(&'a self, design: &'a dyn Design) -> Training<'a> {
        let mut training = Training::new(design, &self.labels);
        if let Some(weights) = &self.weights {
            training = training.weighted(weights);
        }
        if let Some((columns, values)) = &self.offsets {
            training = training.with_offsets(*columns, values);
        }
        training
    }

    /// Fits a method on dense doubles.
    pub fn fit(&self, method: &Method) -> Result<Fit> {
        method.fit(&self.training(&self.dense()), &Watch::default())
    }

    /// Fits a method that must succeed.
    ///
    /// # Panics
    /// If there is an error or no optimum.
    #[track_caller]
    pub fn model(&self, method: &Method) -> Fitted {
        expect_model(self.fit(method))
    }

    /// Scores of a fitted model on these rows, offsets not included.
    #[track_caller]
    pub fn scores(&self, model: &Fitted) -> Vec<f64> {
        model.discriminant.scores(&self.dense(), &Watch::default()).expect("the same columns")
    }
}

/// The model of a fit that must succeed.
///
/// # Panics
/// If there is an error or no optimum.
#[track_caller]
pub fn expect_model(fit: Result<Fit>) -> Fitted {
    match fit {
        Ok(Fit::Model(model)) => *model,
        Ok(Fit::Refused(Refusal::NoOptimum(none))) => panic!("no optimum: {none:?}"),
        Ok(Fit::Refused(Refusal::NotSeparable(none))) => {
            panic!("{} rows are not separable: {:?}", none.rows.len(), none.witness)
        }
        Err(error) => panic!("{error}"),
    }
}

/// Class probabilities of a row of scores: one score is the log-odds of the second of two classes.
pub fn posterior(scores: &[f64]) -> Vec<f64> {
    let all: Vec<f64> = if let [z] = scores { vec![0.0, *z] } else { scores.to_vec() };
    let top = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let terms: Vec<f64> = all.iter().map(|z| (z - top).exp()).collect();
    let total: f64 = terms.iter().sum();
    terms.iter().map(|t| t / total).collect()
}

/// A seeded source of random numbers with the draws the generators need.
pub struct Source(ChaCha8Rng);

impl Source {
    /// A source that always yields the same numbers for the same seed.
    pub fn new(seed: u64) -> Source {
        Source(ChaCha8Rng::seed_from_u64(seed))
    }

    /// Uniform in `low..high`.
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.0.random::<f64>()
    }

    /// An integer in `0..n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0.random_range(0..n)
    }

    /// True with probability `p`.
    pub fn chance(&mut self, p: f64) -> bool {
        self.0.random::<f64>() < p
    }

    /// Standard normal, by Box and Muller.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.0.random::<f64>()).ln()).sqrt();
        radius * (2.0 * std::f64::consts::PI * self.0.random::<f64>()).cos()
    }

    /// Some standard normals.
    pub fn normals(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.normal()).collect()
    }

    /// A random order of `0..n`.
    pub fn order(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            order.swap(i, self.below(i + 1));
        }
        order
    }
}

/// The class names used by the generators, in sorted order.
pub fn class_names(classes: usize) -> Vec<String> {
    (0..classes).map(|k| format!("class {k}")).collect()
}

/// Labels from class indices.
pub fn labels(codes: Vec<usize>, classes: usize) -> Labels {
    Labels::new(codes.into_iter().map(|c| Class(c as u32)).collect(), class_names(classes))
}

/// Correlated rows from a softmax model with chosen coefficients: `coef[k]` holds the weights of class k, then its
/// intercept. Every class occurs, and the classes overlap as long as the coefficients are moderate.
pub fn softmax_rows(rows: usize, coef: &[Vec<f64>], seed: u64) -> Data {
    let mut source = Source::new(seed);
    let cols = coef[0].len() - 1;
    let mut values = Vec::with_capacity(rows * cols);
    let mut codes = Vec::with_capacity(rows);
    for i in 0..rows {
        let common = source.normal();
        let x: Vec<f64> = (0..cols).map(|j| source.normal() + 0.5 * common + 0.1 * j as f64).collect();
        let score = |w: &Vec<f64>| w[cols] + x.iter().zip(w).map(|(x, w)| x * w).sum::<f64>();
        let terms: Vec<f64> = coef.iter().map(|w| exp(score(w))).collect();
        let mut u = source.uniform(0.0, 1.0) * terms.iter().sum::<f64>();
        let mut class = coef.len() - 1;
        for (k, term) in terms.iter().enumerate() {
            if u < *term {
                class = k;
                break;
            }
            u -= term;
        }
        // The first rows make sure that no class is missing.
        codes.push(if i < coef.len() { i } else { class });
        values.extend(x);
    }
    Data::new(values, cols, labels(codes, coef.len()))
}

/// Overlapping rows of `classes` classes with moderate random coefficients.
pub fn overlapping(rows: usize, cols: usize, classes: usize, seed: u64) -> Data {
    let mut source = Source::new(seed ^ 0x5eed);
    let coef: Vec<Vec<f64>> = (0..classes).map(|_| (0..=cols).map(|_| 0.7 * source.normal()).collect()).collect();
    softmax_rows(rows, &coef, seed)
}

/// Gaussian classes with the given means and a common covariance `L Lᵀ`, L unit lower triangular with ½ below.
pub fn gaussian(counts: &[usize], means: &[Vec<f64>], seed: u64) -> Data {
    let mut source = Source::new(seed);
    let cols = means[0].len();
    let (mut values, mut codes) = (Vec::new(), Vec::new());
    for (k, count) in counts.iter().enumerate() {
        for _ in 0..*count {
            let z = source.normals(cols);
            values.extend((0..cols).map(|j| means[k][j] + z[j] + 0.5 * z[..j].iter().sum::<f64>()));
            codes.push(k);
        }
    }
    let data = Data::new(values, cols, labels(codes, counts.len()));
    let order = source.order(data.rows());
    data.select(&order)
}

/// How rows are arranged about a hyperplane (two classes) or a linear machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrangement {
    /// Every row strictly on its side, at least the chosen margin away.
    Complete,
    /// No row on the wrong side; rows of all classes that overlap within the boundary.
    Quasi,
    /// Rows of all classes on both sides.
    Overlap,
}

/// Two classes arranged about a random hyperplane through the bulk of the rows; `integers` rounds the features to
/// small whole numbers, so that ties and points on the boundary are exact.
///
/// The normal is a sum of few unit vectors so that points of the boundary can be chosen exactly. Complete: rows within
/// `margin` of the plane are moved away. Quasi-complete: rows of both classes are placed exactly in the plane, in ±
/// pairs about a point of it, so that no direction other than the normal's improves on them. Overlap: the labels of
/// some rows far from the plane are exchanged, on both sides.
pub fn arranged(arrangement: Arrangement, rows: usize, cols: usize, integers: bool, seed: u64) -> Data {
    let mut source = Source::new(seed);
    let mut normal = vec![0.0; cols];
    let first = source.below(cols);
    normal[first] = if source.chance(0.5) { 1.0 } else { -1.0 };
    if cols > 1 {
        let second = (first + 1 + source.below(cols - 1)) % cols;
        normal[second] = if source.chance(0.5) { 1.0 } else { -1.0 };
    }
    let position = source.below(5) as f64 - 2.0;
    let side = |x: &[f64]| x.iter().zip(&normal).map(|(x, w)| x * w).sum::<f64>() - position;
    let draw = |source: &mut Source| -> Vec<f64> {
        (0..cols).map(|_| if integers { source.below(9) as f64 - 4.0 } else { 2.0 * source.normal() }).collect()
    };
    let margin = if integers { 1.0 } else { 0.25 };
    let (mut values, mut codes): (Vec<Vec<f64>>, Vec<usize>) = (Vec::new(), Vec::new());
    while values.len() < rows {
        let mut x = draw(&mut source);
        let class = values.len() % 2;
        let wanted = if class == 1 { 1.0 } else { -1.0 };
        let short = wanted * side(&x);
        if short < margin {
            // Moved along one coordinate of the normal to its own side: exact for whole numbers.
            x[first] += normal[first]
                * wanted
                * (margin - short + if integers { source.below(4) as f64 } else { source.uniform(0.0, 2.0) });
        }
        values.push(x);
        codes.push(class);
    }
    match arrangement {
        Arrangement::Complete => {}
        Arrangement::Quasi => {
            // In the plane: a centre and, for every direction of the plane, both ends, once for each class.
            let centre: Vec<f64> = (0..cols).map(|j| if j == first { normal[first] * position } else { 0.0 }).collect();
            for class in 0..2 {
                values.push(centre.clone());
                codes.push(class);
                for j in (0..cols).filter(|j| *j != first) {
                    for sign in [1.0, -1.0] {
                        let mut x = centre.clone();
                        x[j] += sign * 2.0;
                        // Back into the plane.
                        x[first] -= normal[first] * normal[j] * sign * 2.0;
                        values.push(x);
                        codes.push(class);
                    }
                }
            }
        }
        Arrangement::Overlap => {
            // A simplex and its mirror image about a point of the plane, each with both labels: any v ≠ 0 has a
            // positive and a negative value on rows of either class.
            let centre: Vec<f64> = (0..cols).map(|j| if j == first { normal[first] * position } else { 0.0 }).collect();
            for class in 0..2 {
                for j in 0..cols {
                    for sign in [1.0, -1.0] {
                        let mut x = centre.clone();
                        x[j] += sign;
                        values.push(x);
                        codes.push(class);
                    }
                }
            }
        }
    }
    let data = Data::new(values.concat(), cols, labels(codes, 2));
    let order = source.order(data.rows());
    data.select(&order)
}
