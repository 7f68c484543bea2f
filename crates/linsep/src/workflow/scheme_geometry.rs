//! Rows beside the planes of two-class fits.

use crate::artifact::Model;
use crate::decide::{Calibration, Coupling, Scheme, Vote, pair_position};
use crate::discriminant::Linear;
use crate::error::{Error, Result};
use crate::geometry::{Measured, RowGeometry};
use crate::table::Class;

/// Scores of classes from scores of pairs, `Σ_j g_kj`, as functions of a row.
pub(super) fn summed(linear: &Linear, n_classes: usize) -> Result<Linear> {
    let d = linear.n_cols();
    let (mut weights, mut values) = (vec![0.0; n_classes * d], vec![0.0; n_classes]);
    for i in 0..n_classes {
        for j in i + 1..n_classes {
            let p = pair_position(n_classes, i, j);
            for (k, sign) in [(i, -1.0), (j, 1.0)] {
                values[k] += sign * linear.intercept_at_centre()[p];
                let own = weights[k * d..(k + 1) * d].iter_mut();
                own.zip(linear.weights_of(p)).for_each(|(o, w)| *o += sign * w);
            }
        }
    }
    Linear::new(weights, linear.centre().to_vec(), values)
}

/// The same of rows of scores.
pub(super) fn summed_scores(scores: &[f64], n_classes: usize) -> Vec<f64> {
    let pairs = n_classes * (n_classes - 1) / 2;
    let mut out = vec![0.0; scores.len() / pairs * n_classes];
    for (z, sums) in scores.chunks_exact(pairs).zip(out.chunks_exact_mut(n_classes)) {
        for i in 0..n_classes {
            for j in i + 1..n_classes {
                let score = z[pair_position(n_classes, i, j)];
                sums[i] -= score;
                sums[j] += score;
            }
        }
    }
    out
}

/// The linear machine that decides as calibrated fits against the rest do: the largest σ(a z + b) is the largest a z + b.
pub(super) struct Machine {
    maps: Vec<(f64, f64)>,
}

impl Machine {
    /// `None` where no two-class fits are coupled.
    ///
    /// # Errors
    /// Where the regions of their probabilities have no planes between them.
    pub(super) fn of(model: &Model) -> Result<Option<Machine>> {
        let Some(Calibration::Coupled(coupled)) = model.calibration.as_ref().map(|c| &c.map) else { return Ok(None) };
        let platt = |map: &Calibration| match map {
            Calibration::Platt { slope, intercept } => Some((*slope, *intercept)),
            _ => None,
        };
        let maps: Option<Vec<(f64, f64)>> = coupled.maps.iter().map(platt).collect();
        match (maps, coupled.coupling) {
            (Some(maps), Coupling::Rest) if model.true_priors.is_none() && model.decision.cut(maps.len()).is_some() => {
                Ok(Some(Machine { maps }))
            }
            _ => Err(Error::usage("the regions of these probabilities have no planes between them")
                .help("fit without --calibrate, or with --multiclass linear-machine --calibrate temperature")),
        }
    }

    pub(super) fn linear(&self, scores: &Linear) -> Result<Linear> {
        let d = scores.n_cols();
        let (mut weights, mut values) = (Vec::with_capacity(self.maps.len() * d), Vec::with_capacity(self.maps.len()));
        for (k, (slope, intercept)) in self.maps.iter().enumerate() {
            weights.extend(scores.weights_of(k).iter().map(|w| slope * w));
            values.push(slope * scores.intercept_at_centre()[k] + intercept);
        }
        Linear::new(weights, scores.centre().to_vec(), values)
    }

    pub(super) fn apply(&self, scores: &mut [f64]) {
        for row in scores.chunks_exact_mut(self.maps.len()) {
            row.iter_mut().zip(&self.maps).for_each(|(z, (slope, intercept))| *z = slope * *z + intercept);
        }
    }
}

/// Whether the scheme is the largest of summed scores of pairs.
pub(super) fn sums_pairs(scheme: Scheme) -> bool {
    matches!(scheme, Scheme::OneVsOne { vote: Vote::Scores, .. })
}

/// Measures rows by their scores alone.
pub(super) fn measure(
    scheme: Scheme,
    linear: &Linear,
    scores: &[f64],
    labels: Option<&[Option<Class>]>,
    n_classes: usize,
) -> Result<Measured> {
    let norm = |w: &[f64]| w.iter().map(|w| w * w).sum::<f64>().sqrt();
    let width = linear.n_scores();
    if width != scheme.n_scores(n_classes) || !scores.len().is_multiple_of(width) {
        return Err(Error::model("the scores are not those of the two-class fits"));
    }
    let norms: Vec<f64> = (0..width).map(|p| norm(linear.weights_of(p))).collect();
    let pairs = matches!(scheme, Scheme::OneVsOne { .. });
    let sums = if pairs { summed(linear, n_classes)? } else { linear.clone() };
    let difference = |a: usize, b: usize| {
        let terms = sums.weights_of(a).iter().zip(sums.weights_of(b)).map(|(a, b)| a - b);
        norm(&terms.collect::<Vec<f64>>())
    };
    let sum_norms: Vec<f64> = (0..n_classes * n_classes).map(|at| difference(at / n_classes, at % n_classes)).collect();
    let all_sums = if pairs { summed_scores(scores, n_classes) } else { scores.to_vec() };
    // A score that is the same everywhere has no plane.
    let away = |gap: f64, norm: f64| if norm > 0.0 { gap.abs() / norm } else { f64::INFINITY };
    let row = |(i, (z, sums)): (usize, (&[f64], &[f64]))| {
        let distances: Vec<f64> = z.iter().zip(&norms).map(|(z, n)| away(*z, *n)).collect();
        let between = |a: usize, b: usize| away(sums[a] - sums[b], sum_norms[a * n_classes + b]);
        let radius = scheme.radius(z, &distances, n_classes, between);
        let decided = scheme.class(z, n_classes);
        let largest = (1..n_classes).fold(0, |best, k| if sums[k] > sums[best] { k } else { best });
        let class = decided.map_or(largest, Class::index);
        // The planes that bound the class: those of its pairs, or all.
        let planes: Vec<(usize, Option<usize>)> = match pairs {
            true => {
                let others = (0..n_classes).filter(|j| *j != class);
                others.map(|j| (pair_position(n_classes, class.min(j), class.max(j)), Some(j))).collect()
            }
            false => (0..n_classes).map(|j| (j, (j != class).then_some(j))).collect(),
        };
        let nearest = planes.iter().copied().reduce(|a, b| if distances[b.0] < distances[a.0] { b } else { a });
        let signed = |y: usize, by: &dyn Fn(usize) -> f64| match pairs {
            true => (0..n_classes)
                .filter(|j| *j != y)
                .map(|j| if j < y { 1.0 } else { -1.0 } * by(pair_position(n_classes, y.min(j), y.max(j))))
                .fold(f64::INFINITY, f64::min),
            false => (0..n_classes).map(|j| if j == y { by(j) } else { -by(j) }).fold(f64::INFINITY, f64::min),
        };
        let label = labels.and_then(|l| l[i]).map(Class::index);
        RowGeometry {
            class: Class(class as u32),
            nearest: decided.and(nearest).and_then(|(_, other)| other).map(|k| Class(k as u32)),
            distance: nearest.map_or(f64::INFINITY, |(at, _)| distances[at]),
            radius,
            functional_margin: label.map(|y| signed(y, &|at| z[at])),
            margin: label.map(|y| signed(y, &|at| distances[at].copysign(z[at]))),
        }
    };
    let rows = scores.chunks_exact(width).zip(all_sums.chunks_exact(n_classes)).enumerate().map(row).collect();
    Ok(Measured { rows, projections: None })
}
