//! The covariance of the estimates: model-based, or a sandwich of the residuals (Huber 1967, White 1980, MacKinnon and White
//! 1985, Liang and Zeger 1986).

use super::combinations::Combinations;
use super::likelihood::LogLikelihood;
use super::maximum::{Maximum, columns_of};
use super::options::CovarianceKind;
use crate::design::Pass;
use crate::error::{Error, Result};
use crate::linalg::{Square, dot, gram_update, multiply_rows};
use crate::watch::Watch;
use crate::words::{Setting, words};
use std::collections::BTreeMap;

/// A leverage of one, up to rounding: the row alone determines a coefficient, and its residual is zero.
const ALONE: f64 = 1.0 - 1e-10;

/// How rows count and which of them belong together.
#[derive(Clone, Copy)]
pub(super) struct Counting<'a> {
    /// Whether weights are whole numbers of copies.
    pub copies: bool,
    /// The cluster of every row.
    pub clusters: Option<&'a [usize]>,
}

/// The covariance V of the estimates in the units of the likelihood: of columns that nearly coincide as `AᵀCA` with
/// combinations A, because entries of V itself would cancel in variances of what the rows do determine.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct EstimateCovariance {
    combinations: Option<Combinations>,
    inner: Square,
}

impl EstimateCovariance {
    fn combined(&self, functional: &[f64]) -> Vec<f64> {
        self.combinations.as_ref().map_or_else(|| functional.to_vec(), |c| c.of(functional))
    }

    /// `f·Vf`, not negative.
    pub fn variance(&self, functional: &[f64]) -> f64 {
        let f = self.combined(functional);
        dot(&self.inner.multiply(&f), &f).max(0.0)
    }

    /// `f·Vg` of every two functionals.
    pub fn between(&self, functionals: &[Vec<f64>]) -> Square {
        let combined: Vec<Vec<f64>> = functionals.iter().map(|f| self.combined(f)).collect();
        let moved: Vec<Vec<f64>> = combined.iter().map(|f| self.inner.multiply(f)).collect();
        Square::from_lower(functionals.len(), |i, j| dot(&moved[j], &combined[i]))
    }

    /// V itself.
    pub fn matrix(&self) -> Square {
        match &self.combinations {
            Some(c) => columns_of(self.inner.n(), |unit| c.transposed(&self.inner.multiply(&c.of(unit)))),
            None => self.inner.clone(),
        }
    }
}

/// The sandwich `I⁻¹ M I⁻¹`, I the information and M as the kind says, in the units of the likelihood.
pub(super) fn covariance_of(
    likelihood: &LogLikelihood<'_>,
    maximum: &Maximum,
    kind: CovarianceKind,
    counting: Counting<'_>,
    watch: &Watch,
) -> Result<EstimateCovariance> {
    let (combinations, inverse) = maximum.metric.in_combinations();
    let (scores, parameters) = (likelihood.scores(), likelihood.size() as f64);
    if matches!(kind, CovarianceKind::Hc2 | CovarianceKind::Hc3) && scores > 1 {
        return Err(Error::usage(format!(
            "{} is for two classes: with more a row has no single leverage",
            kind.name()
        ))
        .help(words!["use ", Setting::Covariance.any(["hc0", "hc1", "cluster:COLUMN"])]));
    }
    let rows = likelihood.training().labels.len() as f64;
    let n = if counting.copies { likelihood.training().total_weight() } else { rows };
    let middle = match kind {
        CovarianceKind::Model => {
            return Ok(EstimateCovariance { combinations: combinations.cloned(), inner: inverse });
        }
        CovarianceKind::Cluster => {
            let clusters = counting.clusters.ok_or_else(|| {
                Error::usage("which rows belong together is not known").help("name the column of the clusters")
            })?;
            of_clusters(likelihood, &maximum.point, (clusters, combinations), watch)?
        }
        _ => of_rows(likelihood, maximum, (kind, counting.copies), (combinations, &inverse), watch)?,
    };
    let mut sandwich = congruent(&inverse, &middle);
    if kind == CovarianceKind::Hc1 {
        if n <= parameters {
            return Err(Error::data(format!(
                "hc1 divides by n − k, and there are {n} rows for {parameters} coefficients"
            ))
            .help(words!["use ", Setting::Covariance.is("hc0")]));
        }
        sandwich.scale(n / (n - parameters));
    }
    Ok(EstimateCovariance { combinations: combinations.cloned(), inner: sandwich })
}

/// The rows of a tile in combinations of its columns.
fn combine(tile: &mut Vec<f64>, combinations: Option<&Combinations>) {
    if let Some(c) = combinations {
        let mut combined = vec![0.0; tile.len()];
        multiply_rows(tile, &c.rows, c.width, c.width, &mut combined);
        *tile = combined;
    }
}

/// `A M A` of symmetric matrices.
fn congruent(a: &Square, m: &Square) -> Square {
    let n = a.n();
    let columns: Vec<Vec<f64>> = (0..n)
        .map(|j| {
            let column: Vec<f64> = (0..n).map(|i| a.get(i, j)).collect();
            a.multiply(&m.multiply(&column))
        })
        .collect();
    Square::from_lower(n, |i, j| 0.5 * (columns[j][i] + columns[i][j]))
}

/// `Σ ω u uᵀ`, u the gradient of a row.
fn of_rows(
    likelihood: &LogLikelihood<'_>,
    maximum: &Maximum,
    (kind, copies): (CovarianceKind, bool),
    (combinations, inverse): (Option<&Combinations>, &Square),
    watch: &Watch,
) -> Result<Square> {
    let (width, scores) = (likelihood.width(), likelihood.scores());
    let pairs = scores * (scores + 1) / 2;
    let fitted = likelihood.fitted(&maximum.point, watch)?;
    let blocks =
        Pass::new(likelihood.training().design, likelihood.units()).partials_of(pairs * width * width).reduce(
            watch,
            (0, &mut []),
            || ((0..pairs).map(|_| Square::zeros(width)).collect::<Vec<_>>(), Vec::new(), Vec::new()),
            |(blocks, tile, scaled), range, rows, _| {
                likelihood.fill(rows, range.len(), tile);
                combine(tile, combinations);
                let mut factors = vec![0.0; range.len() * pairs];
                for (i, x) in tile.chunks_exact(width.max(1)).enumerate() {
                    let row = range.start + i;
                    let p = &fitted[row * scores..(row + 1) * scores];
                    let (s, y) = (likelihood.weight(row), likelihood.training().labels.codes()[row].index());
                    let residual = |k: usize| f64::from(u8::from(y == k + 1)) - p[k];
                    let count = if copies { s } else { s * s };
                    let inflation = match kind {
                        CovarianceKind::Hc2 | CovarianceKind::Hc3 => {
                            let h = leverage(inverse, x, if copies { 1.0 } else { s } * p[0] * (1.0 - p[0]));
                            if h >= ALONE {
                                return Err(Error::data(words![
                                    crate::words::Span::Row(row),
                                    format!(" has leverage one, and {} divides by one less", kind.name())
                                ])
                                .help(words!["use ", Setting::Covariance.is("hc1")])
                                .help("leave out the column that this row alone decides"));
                            }
                            (1.0 - h).powi(if kind == CovarianceKind::Hc2 { -1 } else { -2 })
                        }
                        _ => 1.0,
                    };
                    for k in 0..scores {
                        for l in 0..=k {
                            factors[i * pairs + k * (k + 1) / 2 + l] = count * inflation * residual(k) * residual(l);
                        }
                    }
                }
                for (pair, block) in blocks.iter_mut().enumerate() {
                    scaled.clear();
                    for (i, x) in tile.chunks_exact(width.max(1)).enumerate() {
                        scaled.extend(x.iter().map(|v| v * factors[i * pairs + pair]));
                    }
                    gram_update(block, scaled, tile);
                }
                Ok(())
            },
            |(blocks, ..), (other, ..)| blocks.iter_mut().zip(&other).for_each(|(a, b)| a.add(b)),
        )?;
    Ok(Square::from_lower(likelihood.size(), |i, j| {
        let (k, l) = (i / width, j / width);
        blocks.0[k * (k + 1) / 2 + l].get(i % width, j % width)
    }))
}

/// `h = w xᵀ A x`.
pub(super) fn leverage(inverse: &Square, x: &[f64], weight: f64) -> f64 {
    weight * dot(&inverse.multiply(x), x)
}

/// `G/(G−1) Σ_g u_g u_gᵀ`, u_g the gradient of a cluster.
fn of_clusters(
    likelihood: &LogLikelihood<'_>,
    point: &[f64],
    (clusters, combinations): (&[usize], Option<&Combinations>),
    watch: &Watch,
) -> Result<Square> {
    let (width, scores, size) = (likelihood.width(), likelihood.scores(), likelihood.size());
    let fitted = likelihood.fitted(point, watch)?;
    let sums = Pass::new(likelihood.training().design, likelihood.units()).reduce(
        watch,
        (0, &mut []),
        || (BTreeMap::<usize, Vec<f64>>::new(), Vec::new()),
        |(sums, tile), range, rows, _| {
            likelihood.fill(rows, range.len(), tile);
            combine(tile, combinations);
            for (i, x) in tile.chunks_exact(width.max(1)).enumerate() {
                let row = range.start + i;
                let p = &fitted[row * scores..(row + 1) * scores];
                let (s, y) = (likelihood.weight(row), likelihood.training().labels.codes()[row].index());
                let sum = sums.entry(clusters[row]).or_insert_with(|| vec![0.0; size]);
                for k in 0..scores {
                    let r = s * (f64::from(u8::from(y == k + 1)) - p[k]);
                    sum[k * width..(k + 1) * width].iter_mut().zip(x).for_each(|(u, x)| *u += r * x);
                }
            }
            Ok(())
        },
        |(sums, _), (other, _)| {
            for (cluster, gradient) in other {
                match sums.get_mut(&cluster) {
                    Some(sum) => sum.iter_mut().zip(&gradient).for_each(|(a, b)| *a += b),
                    None => {
                        sums.insert(cluster, gradient);
                    }
                }
            }
        },
    )?;
    let count = sums.0.len() as f64;
    if count < 2.0 {
        return Err(Error::data("there is one cluster only: nothing is known of how clusters vary")
            .help("name a column with at least two values")
            .help(words!["use ", Setting::Covariance.is("hc1")]));
    }
    let mut middle = Square::zeros(size);
    for gradient in sums.0.values() {
        middle.add_outer(count / (count - 1.0), gradient);
    }
    Ok(middle)
}
