//! The log-likelihood of a logistic or multinomial model, at many points in one pass over the rows.
//!
//! Tests and profile limits need the likelihood at a hundred nearby points. One pass for all of them reads the rows once and
//! turns two matrix–vector products into two matrix products.

use crate::design::{Pass, Rows, Training, Units};
use crate::error::Result;
use crate::linalg::{Square, dot, gram_update, multiply_rows, weighted_rows_sum};
use crate::numeric::{CompensatedSum, logistic_terms, vectorised};
use crate::watch::Watch;

/// Scores of all points that one pass computes: so many sums of `D` numbers stay in a second-level cache. Chosen
/// (bench/constants.md): results do not depend on it, only the number of passes.
const SCORES_A_PASS: usize = 128;

/// The log-likelihood as a function of the coefficients, in units in which the columns have mean zero and variance one.
///
/// A point has the coefficients of each free score in turn, the intercept first where there is one. The first class is the
/// reference, whose score is zero.
pub(super) struct LogLikelihood<'a> {
    training: Training<'a>,
    units: Units,
    /// Columns of the design that take part: the others are constant or combinations of these.
    columns: Vec<usize>,
    intercept: bool,
    scores: usize,
    /// Differences to the first class, row by row.
    offsets: Option<Vec<f64>>,
}

/// The likelihood at a point.
#[derive(Debug, Clone)]
pub(super) struct Evaluated {
    /// `Σ s log p(y)`.
    pub value: f64,
    /// Its gradient.
    pub gradient: Vec<f64>,
    /// Minus its Hessian, where it was asked for.
    pub information: Option<Square>,
}

/// What a pass computes beside the value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Derivatives {
    Gradient,
    /// And the information.
    Information,
}

/// Sums over some of the rows.
struct LikelihoodSums {
    values: Vec<CompensatedSum>,
    /// The same over the rows of a block.
    of_block: Vec<f64>,
    gradients: Vec<f64>,
    /// Of the first point alone: a matrix for every two scores.
    blocks: Vec<Square>,
    tile: Vec<f64>,
    scaled: Vec<f64>,
    z: Vec<f64>,
    residual: Vec<f64>,
    curvature: Vec<f64>,
}

impl<'a> LogLikelihood<'a> {
    /// The likelihood of rows in some of their columns.
    pub fn new(training: Training<'a>, units: Units, columns: Vec<usize>, intercept: bool) -> LogLikelihood<'a> {
        let scores = training.labels.n_classes() - 1;
        let offsets = training.offsets.map(|o| match o.columns {
            1 => o.values.to_vec(),
            k => o.values.chunks_exact(k).flat_map(|row| row[1..].iter().map(|v| v - row[0])).collect(),
        });
        LogLikelihood { training, units, columns, intercept, scores, offsets }
    }

    /// The same rows in fewer columns.
    pub fn of_columns(&self, columns: Vec<usize>) -> LogLikelihood<'a> {
        LogLikelihood {
            training: self.training,
            units: self.units.clone(),
            columns,
            intercept: self.intercept,
            scores: self.scores,
            offsets: self.offsets.clone(),
        }
    }

    /// The rows.
    pub fn training(&self) -> &Training<'a> {
        &self.training
    }

    /// The units of the coefficients.
    pub fn units(&self) -> &Units {
        &self.units
    }

    /// The columns that take part.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// Whether there is an intercept.
    pub fn has_intercept(&self) -> bool {
        self.intercept
    }

    /// Free scores: one fewer than classes.
    pub fn scores(&self) -> usize {
        self.scores
    }

    /// Coefficients of one score.
    pub fn width(&self) -> usize {
        self.columns.len() + usize::from(self.intercept)
    }

    /// Coefficients.
    pub fn size(&self) -> usize {
        self.scores * self.width()
    }

    /// The weight of a row.
    pub fn weight(&self, row: usize) -> f64 {
        self.training.weights.map_or(1.0, |w| w[row])
    }

    /// The offset of the first free score of a row.
    pub fn offset(&self, row: usize) -> f64 {
        self.offsets.as_ref().map_or(0.0, |o| o[row * self.scores])
    }

    /// Value and gradient at points.
    pub fn at(&self, points: &[&[f64]], watch: &Watch) -> Result<Vec<Evaluated>> {
        let mut found = Vec::with_capacity(points.len());
        for some in points.chunks((SCORES_A_PASS / self.scores.max(1)).max(1)) {
            found.extend(self.pass(some, Derivatives::Gradient, watch)?);
        }
        Ok(found)
    }

    /// Value, gradient and information at a point.
    pub fn with_information(&self, point: &[f64], watch: &Watch) -> Result<Evaluated> {
        let mut found = self.pass(&[point], Derivatives::Information, watch)?;
        // One point in, one point out.
        Ok(found.swap_remove(0))
    }

    fn pass(&self, points: &[&[f64]], derivatives: Derivatives, watch: &Watch) -> Result<Vec<Evaluated>> {
        let information = derivatives == Derivatives::Information;
        let (width, scores) = (self.width(), self.scores);
        let all: Vec<f64> = points.iter().flat_map(|p| p.iter().copied()).collect();
        let pairs = if information { scores * (scores + 1) / 2 } else { 0 };
        let pass =
            Pass::new(self.training.design, &self.units).partials_of(all.len() + pairs * width * width + self.size());
        let new = || LikelihoodSums {
            values: vec![CompensatedSum::default(); points.len()],
            of_block: Vec::new(),
            gradients: vec![0.0; all.len()],
            blocks: (0..pairs).map(|_| Square::zeros(width)).collect(),
            tile: Vec::new(),
            scaled: Vec::new(),
            z: Vec::new(),
            residual: Vec::new(),
            curvature: Vec::new(),
        };
        let sums = pass.reduce(
            watch,
            (0, &mut []),
            new,
            |sums, range, rows, _| {
                self.fill(rows, range.len(), &mut sums.tile);
                self.add_rows(sums, range.start, range.len(), &all);
                Ok(())
            },
            |sums, other| {
                sums.values.iter_mut().zip(&other.values).for_each(|(a, b)| a.merge(*b));
                sums.gradients.iter_mut().zip(&other.gradients).for_each(|(a, b)| *a += b);
                sums.blocks.iter_mut().zip(&other.blocks).for_each(|(a, b)| a.add(b));
            },
        )?;
        let information = information.then(|| self.assembled(&sums.blocks));
        let size = self.size();
        let found = sums.values.iter().enumerate().map(|(at, value)| Evaluated {
            value: value.value(),
            gradient: sums.gradients[at * size..(at + 1) * size].to_vec(),
            information: information.clone(),
        });
        Ok(found.collect())
    }

    /// The columns that take part, in the units of the coefficients, with ones for the intercept.
    pub fn fill(&self, rows: Rows<'_>, count: usize, tile: &mut Vec<f64>) {
        let (width, first) = (self.width(), usize::from(self.intercept));
        tile.clear();
        tile.resize(count * width, 1.0);
        if width == 0 {
            return;
        }
        match rows {
            Rows::Dense(values) => {
                let cols = self.units.centre().len();
                for (out, x) in tile.chunks_exact_mut(width).zip(values.chunks_exact(cols.max(1))) {
                    out[first..].iter_mut().zip(&self.columns).for_each(|(o, j)| *o = x[*j]);
                }
            }
            Rows::Csr(sparse) => {
                let (centre, inverse) = (self.units.centre(), self.units.inverse_scale());
                let mut dense = vec![0.0; centre.len()];
                for (i, out) in tile.chunks_exact_mut(width).enumerate() {
                    let (columns, values) = sparse.row(i);
                    columns.iter().zip(values).for_each(|(j, v)| dense[*j as usize] = *v);
                    out[first..]
                        .iter_mut()
                        .zip(&self.columns)
                        .for_each(|(o, j)| *o = (dense[*j] - centre[*j]) * inverse[*j]);
                    columns.iter().for_each(|j| dense[*j as usize] = 0.0);
                }
            }
        }
    }

    /// Adds the rows of the tile to the sums, at all points.
    fn add_rows(&self, sums: &mut LikelihoodSums, first: usize, count: usize, points: &[f64]) {
        let (width, scores, many) = (self.width(), self.scores, sums.values.len());
        let each = many * scores;
        sums.z.resize(count * each, 0.0);
        multiply_rows(&sums.tile, points, width, each, &mut sums.z);
        sums.residual.resize(count * each, 0.0);
        let with_information = !sums.blocks.is_empty();
        let pairs = scores * (scores + 1) / 2;
        sums.curvature.resize(if with_information { count * pairs } else { 0 }, 0.0);
        sums.of_block.clear();
        sums.of_block.resize(many, 0.0);
        let mut p = vec![0.0; scores + 1];
        for i in 0..count {
            let row = first + i;
            let (s, y) = (self.weight(row), self.training.labels.codes()[row].index());
            let offset = self.offsets.as_ref().map(|o| &o[row * scores..(row + 1) * scores]);
            let own = i * each..(i + 1) * each;
            if scores == 1 {
                let shift = offset.map_or(0.0, |o| o[0]);
                two_classes(&sums.z[own.clone()], shift, s, y == 1, &mut sums.residual[own], &mut sums.of_block);
                if with_information {
                    let t = logistic_terms(sums.z[i] + shift);
                    sums.curvature[i] = s * t.p * t.q;
                }
                continue;
            }
            for at in 0..many {
                let place = i * each + at * scores;
                let (z, residual) = (&sums.z[place..place + scores], &mut sums.residual[place..place + scores]);
                sums.of_block[at] += s * probabilities(z, offset, y, &mut p);
                for (k, r) in residual.iter_mut().enumerate() {
                    *r = s * residual_of(&p, y, k + 1);
                }
                if with_information {
                    let curvature = &mut sums.curvature[i * pairs..(i + 1) * pairs];
                    for k in 0..scores {
                        for l in 0..=k {
                            curvature[k * (k + 1) / 2 + l] = s * p[k + 1] * residual_of(&p, k + 1, l + 1);
                        }
                    }
                }
            }
        }
        sums.values.iter_mut().zip(&sums.of_block).for_each(|(sum, block)| sum.add(*block));
        weighted_rows_sum(&sums.tile, &sums.residual, width, each, &mut sums.gradients);
        for (pair, block) in sums.blocks.iter_mut().enumerate() {
            sums.scaled.clear();
            for (i, x) in sums.tile.chunks_exact(width.max(1)).enumerate() {
                let h = sums.curvature[i * pairs + pair];
                sums.scaled.extend(x.iter().map(|v| v * h));
            }
            gram_update(block, &sums.scaled, &sums.tile);
        }
    }

    /// One matrix of the blocks of every two scores.
    fn assembled(&self, blocks: &[Square]) -> Square {
        let width = self.width();
        Square::from_lower(self.size(), |i, j| {
            let (k, l) = (i / width, j / width);
            blocks[k * (k + 1) / 2 + l].get(i % width, j % width)
        })
    }

    /// Calls `each` with every row of the tile by its number, and gathers `width` values a row that it gives.
    pub fn each_row(
        &self,
        width: usize,
        watch: &Watch,
        each: impl Fn(usize, &[f64], &mut [f64]) + Sync,
    ) -> Result<Vec<f64>> {
        let mut out = vec![0.0; self.training.labels.len() * width];
        let columns = self.width();
        Pass::new(self.training.design, &self.units).partials_of(1).reduce(
            watch,
            (width, &mut out),
            Vec::new,
            |tile, range, rows, out| {
                self.fill(rows, range.len(), tile);
                for (i, out) in out.chunks_exact_mut(width).enumerate() {
                    each(range.start + i, &tile[i * columns..(i + 1) * columns], out);
                }
                Ok(())
            },
            |_, _| (),
        )?;
        Ok(out)
    }

    /// The probabilities of all classes at every row.
    pub fn class_probabilities(&self, point: &[f64], watch: &Watch) -> Result<Vec<f64>> {
        self.each_row(self.scores + 1, watch, |row, x, p| {
            self.row_probabilities(&self.row_scores(point, row, x), row, p);
        })
    }

    /// The scores of a row, with its offsets, whose columns `x` are.
    pub fn row_scores(&self, point: &[f64], row: usize, x: &[f64]) -> Vec<f64> {
        let width = self.width();
        let offset = |k: usize| self.offsets.as_ref().map_or(0.0, |o| o[row * self.scores + k]);
        (0..self.scores).map(|k| dot(&point[k * width..(k + 1) * width], x) + offset(k)).collect()
    }

    /// The probabilities of all classes at a row by its scores; also `log p(y)`.
    pub fn row_probabilities(&self, scores: &[f64], row: usize, p: &mut [f64]) -> f64 {
        probabilities(scores, None, self.training.labels.codes()[row].index(), p)
    }
}

vectorised! {
    /// A row of two classes at many points: `s log p(y)` is added to the sums, `s (y − p)` are the residuals, without
    /// cancellation where a probability is nearly one.
    fn two_classes(z: &[f64], offset: f64, s: f64, second: bool, residual: &mut [f64], sums: &mut [f64]) {
        for ((z, r), sum) in z.iter().zip(residual).zip(sums) {
            let t = logistic_terms(z + offset);
            *r = if second { s * t.q } else { -s * t.p };
            *sum -= s * if second { t.softplus_negative } else { t.softplus };
        }
    }
}

/// `p_k = e^{z_k}/Σ e^{z}` of all classes, the score of the first of which is zero; returns `log p_y`.
fn probabilities(z: &[f64], offset: Option<&[f64]>, y: usize, p: &mut [f64]) -> f64 {
    let score = |k: usize| z[k] + offset.map_or(0.0, |o| o[k]);
    if z.len() == 1 {
        let t = logistic_terms(score(0));
        (p[0], p[1]) = (t.q, t.p);
        return if y == 1 { -t.softplus_negative } else { -t.softplus };
    }
    let largest = (0..z.len()).map(score).fold(0.0, f64::max);
    p[0] = (-largest).exp();
    let mut total = p[0];
    for (k, p) in p[1..].iter_mut().enumerate() {
        *p = (score(k) - largest).exp();
        total += *p;
    }
    let own = if y == 0 { 0.0 } else { score(y - 1) };
    p.iter_mut().for_each(|p| *p /= total);
    own - largest - total.ln()
}

/// `[y = k] − p_k`, of a class that is nearly certain by the others.
pub(super) fn residual_of(p: &[f64], y: usize, k: usize) -> f64 {
    match y == k {
        false => -p[k],
        true if p[k] < 0.5 => 1.0 - p[k],
        true => p[..k].iter().chain(&p[k + 1..]).sum(),
    }
}
