//! The covariance of the estimates: model-based, or a sandwich of the residuals (Huber 1967, White 1980, MacKinnon and White
//! 1985, Liang and Zeger 1986).

use super::likelihood::{LogLikelihood, residual_of};
use super::maximum::{InformationMetric, Maximum};
use super::options::CovarianceKind;
use crate::design::Pass;
use crate::error::{Error, Result};
use crate::linalg::{RowRoot, Square, dot};
use crate::watch::Watch;
use crate::words::{Setting, words};
use std::collections::BTreeMap;
use std::sync::Arc;

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

/// The covariance V of the estimates in the units of the likelihood by a root of it, because entries of V itself cancel in
/// variances of what the rows do determine: `AᵀA` with the A of the metric, or `AᵀUᵀUA` of a sandwich.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct EstimateCovariance {
    metric: Arc<InformationMetric>,
    /// Upper-triangular, column-major.
    middle: Option<Vec<f64>>,
}

impl EstimateCovariance {
    /// A vector for each functional f whose products with each other are `f·Vg`.
    pub fn rooted(&self, functional: &[f64]) -> Vec<f64> {
        let white = self.metric.whiten(functional);
        let Some(middle) = &self.middle else { return white };
        let mut out = vec![0.0; white.len()];
        for (w, column) in white.iter().zip(middle.chunks_exact(white.len().max(1))) {
            out.iter_mut().zip(column).for_each(|(o, u)| *o += w * u);
        }
        out
    }

    /// `f·Vf`.
    pub fn variance(&self, functional: &[f64]) -> f64 {
        let root = self.rooted(functional);
        dot(&root, &root)
    }

    /// `f·Vg` of every two functionals.
    pub fn between(&self, functionals: &[Vec<f64>]) -> Square {
        let roots: Vec<Vec<f64>> = functionals.iter().map(|f| self.rooted(f)).collect();
        Square::from_lower(functionals.len(), |i, j| dot(&roots[i], &roots[j]))
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
    let metric = &maximum.metric;
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
    let mut middle = match kind {
        CovarianceKind::Model => {
            return Ok(EstimateCovariance { metric: metric.clone(), middle: None });
        }
        CovarianceKind::Cluster => {
            let clusters = counting.clusters.ok_or_else(|| {
                Error::usage("which rows belong together is not known").help("name the column of the clusters")
            })?;
            of_clusters(likelihood, maximum, clusters, watch)?
        }
        _ => of_rows(likelihood, maximum, (kind, counting.copies), watch)?,
    };
    if kind == CovarianceKind::Hc1 {
        if n <= parameters {
            return Err(Error::data(format!(
                "hc1 divides by n − k, and there are {n} rows for {parameters} coefficients"
            ))
            .help(words!["use ", Setting::Covariance.is("hc0")]));
        }
        let factor = (n / (n - parameters)).sqrt();
        middle.iter_mut().for_each(|u| *u *= factor);
    }
    Ok(EstimateCovariance { metric: metric.clone(), middle: Some(middle) })
}

/// The root of `Σ ω u uᵀ`, u the gradient of a row times A.
fn of_rows(
    likelihood: &LogLikelihood<'_>,
    maximum: &Maximum,
    (kind, copies): (CovarianceKind, bool),
    watch: &Watch,
) -> Result<Vec<f64>> {
    let (width, scores, size) = (likelihood.width(), likelihood.scores(), likelihood.size());
    let metric = &maximum.metric;
    let fitted = likelihood.class_probabilities(&maximum.point, watch)?;
    let found =
        Pass::new(likelihood.training().design, likelihood.units()).partials_of(RowRoot::doubles(size)).reduce(
            watch,
            (0, &mut []),
            || (RowRoot::new(size), Vec::new()),
            |(root, tile), range, rows, _| {
                likelihood.fill(rows, range.len(), tile);
                for (i, x) in tile.chunks_exact(width.max(1)).enumerate() {
                    let row = range.start + i;
                    let p = &fitted[row * (scores + 1)..(row + 1) * (scores + 1)];
                    let (s, y) = (likelihood.weight(row), likelihood.training().labels.codes()[row].index());
                    let count = if copies { s.sqrt() } else { s };
                    let inflation = match kind {
                        CovarianceKind::Hc2 | CovarianceKind::Hc3 => {
                            let h = if copies { 1.0 } else { s } * p[0] * p[1] * metric.square(x);
                            if h >= ALONE {
                                return Err(Error::data(words![
                                    crate::words::Span::Row(row),
                                    format!(" has leverage one, and {} divides by one less", kind.name())
                                ])
                                .help(words!["use ", Setting::Covariance.is("hc1")])
                                .help("leave out the column that this row alone decides"));
                            }
                            if kind == CovarianceKind::Hc2 { (1.0 - h).sqrt().recip() } else { (1.0 - h).recip() }
                        }
                        _ => 1.0,
                    };
                    let gradient: Vec<f64> = (0..scores)
                        .map(|k| count * inflation * residual_of(p, y, k + 1))
                        .flat_map(|r| x.iter().map(move |x| r * x))
                        .collect();
                    root.add(metric.whiten(&gradient));
                }
                Ok(())
            },
            |(root, _), (other, _)| root.merge(other),
        )?;
    Ok(found.0.finish())
}

/// The root of `G/(G−1) Σ_g u_g u_gᵀ`, u_g the gradient of a cluster times A.
fn of_clusters(
    likelihood: &LogLikelihood<'_>,
    maximum: &Maximum,
    clusters: &[usize],
    watch: &Watch,
) -> Result<Vec<f64>> {
    let (width, scores, size) = (likelihood.width(), likelihood.scores(), likelihood.size());
    let fitted = likelihood.class_probabilities(&maximum.point, watch)?;
    let sums = Pass::new(likelihood.training().design, likelihood.units()).reduce(
        watch,
        (0, &mut []),
        || (BTreeMap::<usize, Vec<f64>>::new(), Vec::new()),
        |(sums, tile), range, rows, _| {
            likelihood.fill(rows, range.len(), tile);
            for (i, x) in tile.chunks_exact(width.max(1)).enumerate() {
                let row = range.start + i;
                let p = &fitted[row * (scores + 1)..(row + 1) * (scores + 1)];
                let (s, y) = (likelihood.weight(row), likelihood.training().labels.codes()[row].index());
                let sum = sums.entry(clusters[row]).or_insert_with(|| vec![0.0; size]);
                for k in 0..scores {
                    let r = s * residual_of(p, y, k + 1);
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
    let (mut root, factor) = (RowRoot::new(size), (count / (count - 1.0)).sqrt());
    for gradient in sums.0.values() {
        root.add(maximum.metric.whiten(gradient).into_iter().map(|u| factor * u));
    }
    Ok(root.finish())
}
