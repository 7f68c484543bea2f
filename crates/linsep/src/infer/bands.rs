//! Intervals of the probabilities at given rows, each row alone or all rows at once.

use super::covariance::EstimateCovariance;
use super::likelihood::LogLikelihood;
use crate::design::{Design, Pass, Training, Units};
use crate::error::{Error, Result};
use crate::linalg::dot;
use crate::numeric::{chi_square_quantile, logistic, normal_quantile};
use crate::table::{Class, Labels};
use crate::watch::Watch;
use serde::{Deserialize, Serialize};

/// For which rows an interval holds at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BandKind {
    /// For each row alone.
    #[default]
    Pointwise,
    /// For all rows that there are, at once: a band around the fitted curve.
    Scheffe,
}

/// The probabilities of the classes at one row.
#[derive(Debug, Clone, PartialEq)]
pub struct ProbabilityInterval {
    /// The row (from 0) of the table.
    pub row: usize,
    /// The probability of each class.
    pub probabilities: Vec<f64>,
    /// The lower ends.
    pub low: Vec<f64>,
    /// The upper ends.
    pub high: Vec<f64>,
}

/// The estimates in the units they were found in: what intervals of probabilities need.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct EstimatedCoefficients {
    pub units: Units,
    pub columns: Vec<usize>,
    pub intercept: bool,
    pub scores: usize,
    pub point: Vec<f64>,
    pub covariance: EstimateCovariance,
}

impl EstimatedCoefficients {
    /// The intervals of all rows of a design with the same columns.
    pub fn probabilities(
        &self,
        design: &dyn Design,
        offsets: Option<&[f64]>,
        (level, band): (f64, BandKind),
        watch: &Watch,
    ) -> Result<Vec<ProbabilityInterval>> {
        let (rows, classes) = (design.shape().rows, self.scores + 1);
        if design.shape().cols != self.units.centre().len() {
            let (given, wanted) = (design.shape().cols, self.units.centre().len());
            return Err(Error::data(format!("{given} columns for estimates of {wanted}")));
        }
        // The classes of these rows are unknown and not used.
        let names = (0..classes).map(|k| k.to_string()).collect();
        let labels = Labels::new(vec![Class(0); rows], names);
        let training = Training::new(design, &labels);
        let likelihood = LogLikelihood::new(training, self.units.clone(), self.columns.clone(), self.intercept);
        let size = self.point.len() as f64;
        let multiple = match band {
            BandKind::Pointwise => normal_quantile(0.5 + 0.5 * level),
            BandKind::Scheffe => chi_square_quantile(level, size).sqrt(),
        };
        let width = likelihood.width();
        let mut out = vec![0.0; rows * 3 * classes];
        Pass::new(design, &self.units).partials_of(1).reduce(
            watch,
            (3 * classes, &mut out),
            Vec::new,
            |tile, range, block, out| {
                likelihood.fill(block, range.len(), tile);
                for (i, out) in out.chunks_exact_mut(3 * classes).enumerate() {
                    let offset = offsets.map(|o| &o[(range.start + i) * self.scores..][..self.scores]);
                    self.of_row(&tile[i * width..(i + 1) * width], offset, multiple, out);
                }
                Ok(())
            },
            |_, _| (),
        )?;
        let interval = |(row, v): (usize, &[f64])| ProbabilityInterval {
            row,
            probabilities: v[..classes].to_vec(),
            low: v[classes..2 * classes].to_vec(),
            high: v[2 * classes..].to_vec(),
        };
        Ok(out.chunks_exact(3 * classes).enumerate().map(interval).collect())
    }

    /// On the scale of log-odds of each class against all others, where the ends stay within 0 and 1: the gradient of
    /// `log p_k − log(1 − p_k)` in the scores is `e_k − Σ_{l≠k} p_l/(1−p_k) e_l`.
    fn of_row(&self, x: &[f64], offset: Option<&[f64]>, multiple: f64, out: &mut [f64]) {
        let (width, classes) = (x.len(), self.scores + 1);
        let z: Vec<f64> = std::iter::once(0.0)
            .chain(
                (0..self.scores)
                    .map(|k| dot(&self.point[k * width..(k + 1) * width], x) + offset.map_or(0.0, |o| o[k])),
            )
            .collect();
        for k in 0..classes {
            // log of the others' sum, relative to the largest of them.
            let others = (0..classes).filter(|l| *l != k);
            let largest = others.clone().map(|l| z[l]).fold(f64::NEG_INFINITY, f64::max);
            let total: f64 = others.clone().map(|l| (z[l] - largest).exp()).sum();
            let log_odds = z[k] - largest - total.ln();
            let mut gradient = vec![0.0; self.point.len()];
            for l in 1..classes {
                let factor = if l == k { 1.0 } else { -(z[l] - largest).exp() / total };
                gradient[(l - 1) * width..l * width].iter_mut().zip(x).for_each(|(g, x)| *g = factor * x);
            }
            let error = self.covariance.variance(&gradient).sqrt();
            out[k] = logistic(log_odds);
            out[classes + k] = logistic(log_odds - multiple * error);
            out[2 * classes + k] = logistic(log_odds + multiple * error);
        }
    }
}
