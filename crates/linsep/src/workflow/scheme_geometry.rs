//! Rows beside the surfaces of two-class fits.

use crate::artifact::Model;
use crate::decide::{Calibration, Coupling, Scheme, Ties, Vote, pair_position};
use crate::design::Design;
use crate::error::{Error, Result};
use crate::geometry::{Geometry, Measured, RowGeometry, Scores, Sum, least};
use crate::table::Class;
use crate::watch::Watch;
use crate::words::{Setting, words};

/// Scores of classes from scores of pairs, `Σ_j g_kj`.
fn class_sums(n_classes: usize) -> Vec<Sum> {
    let mut sums = vec![Sum { terms: Vec::new(), constant: 0.0 }; n_classes];
    for i in 0..n_classes {
        for j in i + 1..n_classes {
            let p = pair_position(n_classes, i, j);
            sums[i].terms.push((p, -1.0));
            sums[j].terms.push((p, 1.0));
        }
    }
    sums
}

/// The same of rows of scores.
pub(super) fn summed_scores(scores: &[f64], n_classes: usize) -> Vec<f64> {
    let pairs = n_classes * (n_classes - 1) / 2;
    let sums = class_sums(n_classes);
    let of = |z: &[f64], sum: &Sum| sum.terms.iter().map(|(p, sign)| sign * z[*p]).sum::<f64>();
    scores.chunks_exact(pairs).flat_map(|z| sums.iter().map(move |sum| of(z, sum))).collect()
}

/// The machine that decides as calibrated fits against the rest do: the largest σ(a z + b) is the largest a z + b.
pub(super) struct TwoClassMachine {
    maps: Vec<(f64, f64)>,
}

impl TwoClassMachine {
    /// `None` where no two-class fits are coupled.
    ///
    /// # Errors
    /// Where the regions of their probabilities have no such boundaries.
    pub(super) fn of(model: &Model) -> Result<Option<TwoClassMachine>> {
        let Some(Calibration::Coupled(coupled)) = model.calibration.as_ref().map(|c| &c.map) else { return Ok(None) };
        let platt = |map: &Calibration| match map {
            Calibration::Platt { slope, intercept } => Some((*slope, *intercept)),
            _ => None,
        };
        let maps: Option<Vec<(f64, f64)>> = coupled.maps.iter().map(platt).collect();
        match (maps, coupled.coupling) {
            (Some(maps), Coupling::Rest) if model.true_priors.is_none() && model.decision.cut(maps.len()).is_some() => {
                Ok(Some(TwoClassMachine { maps }))
            }
            _ => Err(Error::usage("the regions of these probabilities have no planes between them")
                .help(words!["fit without ", Setting::Calibrate])
                .help(words![
                    "fit with ",
                    Setting::Multiclass.is("linear-machine"),
                    " ",
                    Setting::Calibrate.is("temperature")
                ])),
        }
    }

    /// Where the largest of the mapped scores changes.
    pub(super) fn geometry(&self, scores: &Scores<'_>) -> Result<Geometry> {
        let mapped = self.maps.iter().enumerate();
        let sums: Vec<Sum> =
            mapped.map(|(k, (slope, intercept))| Sum { terms: vec![(k, *slope)], constant: *intercept }).collect();
        scores.summed(&sums)?.largest()
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

/// Where the largest of the classes' summed scores changes.
pub(super) fn of_sums(scores: &Scores<'_>, n_classes: usize) -> Result<Geometry> {
    scores.summed(&class_sums(n_classes))?.largest()
}

/// Rows whose scores are known, beside the surfaces where single scores are zero and those where two classes have the same
/// (sum of) scores.
pub(super) struct Votes<'a> {
    scheme: Scheme,
    /// Where single scores are zero.
    zeros: &'a Geometry,
    /// Where two classes are level, for the ties that scores decide.
    level: Option<Geometry>,
}

impl<'a> Votes<'a> {
    pub(super) fn new(scheme: Scheme, scores: &Scores<'_>, zeros: &'a Geometry) -> Result<Votes<'a>> {
        let level = match scheme {
            Scheme::OneVsOne { ties: Ties::Scores, .. } => Some(of_sums(scores, zeros.n_classes())?),
            _ => None,
        };
        Ok(Votes { scheme, zeros, level })
    }

    /// Measures the rows of a design.
    pub(super) fn measure(
        &self,
        design: &dyn Design,
        scores: &[f64],
        labels: Option<&[Option<Class>]>,
        watch: &Watch,
    ) -> Result<Measured> {
        let n_classes = self.zeros.n_classes();
        let width = self.scheme.n_scores(n_classes);
        if width != self.zeros.boundaries().len() || scores.len() != design.shape().rows * width {
            return Err(Error::model("the scores are not those of the two-class fits"));
        }
        let rows = self.zeros.each_row(design, watch, |i, x| {
            let label = labels.and_then(|l| l[i]).map(Class::index);
            self.row(&scores[i * width..(i + 1) * width], label, x)
        })?;
        Ok(Measured { rows, projections: None })
    }

    fn row(&self, z: &[f64], label: Option<usize>, x: &[f64]) -> RowGeometry {
        let n_classes = self.zeros.n_classes();
        let pairs = matches!(self.scheme, Scheme::OneVsOne { .. });
        let sums = if pairs { summed_scores(z, n_classes) } else { z.to_vec() };
        let distances: Vec<f64> = z.iter().enumerate().map(|(p, z)| self.zeros.distance(p, *z, x)).collect();
        let between = |a: usize, b: usize| {
            let (a, b) = (a.min(b), a.max(b));
            let level = self.level.as_ref();
            level.map_or(0.0, |level| level.distance(pair_position(n_classes, a, b), sums[b] - sums[a], x))
        };
        let known = std::cell::Cell::new(!distances.iter().any(|d| d.is_nan()));
        let between = |a: usize, b: usize| {
            let distance = between(a, b);
            known.set(known.get() && !distance.is_nan());
            distance
        };
        let radius = self.scheme.radius(z, &distances, n_classes, between);
        let radius = if known.get() { radius } else { f64::NAN };
        let decided = self.scheme.class(z, n_classes);
        let largest = (1..n_classes).fold(0, |best, k| if sums[k] > sums[best] { k } else { best });
        let class = decided.map_or(largest, Class::index);
        // The surfaces that bound the class: those of its pairs, or all.
        let bounds: Vec<(usize, Option<usize>)> = match pairs {
            true => {
                let others = (0..n_classes).filter(|j| *j != class);
                others.map(|j| (pair_position(n_classes, class.min(j), class.max(j)), Some(j))).collect()
            }
            false => (0..n_classes).map(|j| (j, (j != class).then_some(j))).collect(),
        };
        let nearest =
            bounds.iter().copied().reduce(|a, b| match distances[a.0].is_nan() || distances[b.0] >= distances[a.0] {
                true => a,
                false => b,
            });
        let signed = |y: usize, by: &dyn Fn(usize) -> f64| match pairs {
            true => (0..n_classes)
                .filter(|j| *j != y)
                .map(|j| if j < y { 1.0 } else { -1.0 } * by(pair_position(n_classes, y.min(j), y.max(j))))
                .fold(f64::INFINITY, least),
            false => (0..n_classes).map(|j| if j == y { by(j) } else { -by(j) }).fold(f64::INFINITY, least),
        };
        RowGeometry {
            class: Class(class as u32),
            nearest: decided.and(nearest).and_then(|(_, other)| other).map(|k| Class(k as u32)),
            distance: nearest.map_or(f64::INFINITY, |(at, _)| distances[at]),
            radius: if self.zeros.is_of_feature_space() { f64::NAN } else { radius },
            functional_margin: label.map(|y| signed(y, &|at| z[at])),
            margin: label.map(|y| signed(y, &|at| distances[at].copysign(z[at]))),
        }
    }
}
