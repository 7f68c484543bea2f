//! What has to be known of all rows before a risk can be written down: how many, of which classes, and their columns.

use crate::design::{ColumnSummary, LabelledRows, is_sparse, stored_values, summarise_any};
use crate::error::{Error, Result};
use crate::numeric::Merge;
use crate::table::Class;
use crate::watch::Watch;
use serde::{Deserialize, Serialize};

/// Counts and columns of some rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PartsOutline {
    /// Number of rows.
    pub rows: usize,
    /// Of each place.
    pub sizes: Vec<usize>,
    /// Stored values.
    pub stored: usize,
    /// Whether rows are sparse, in any place.
    pub sparse: bool,
    /// Total weight of each class.
    pub totals: Vec<f64>,
    /// Means, variances and ranges of the columns.
    pub summary: ColumnSummary,
}

impl PartsOutline {
    /// Σs.
    pub(crate) fn total_weight(&self) -> f64 {
        crate::numeric::sum(self.totals.iter().copied())
    }

    /// The same rows, of a class against the rest.
    pub(crate) fn against_rest(&self, class: Class) -> PartsOutline {
        let own = self.totals.get(class.index()).copied().unwrap_or(0.0);
        let others = self.totals.iter().enumerate().filter(|(k, _)| *k != class.index());
        let rest = crate::numeric::sum(others.map(|(_, total)| *total));
        PartsOutline { totals: vec![rest, own], ..self.clone() }
    }

    /// Of the rows of one place.
    pub(super) fn of(rows: LabelledRows<'_>, classes: usize, watch: &Watch) -> Result<PartsOutline> {
        let mut totals = vec![0.0; classes];
        for (i, class) in rows.labels.iter().enumerate() {
            let total = totals.get_mut(class.index());
            *total.ok_or_else(|| Error::data(format!("a class beyond the {classes} that are known")))? +=
                rows.weight(i);
        }
        Ok(PartsOutline {
            rows: rows.labels.len(),
            sizes: vec![rows.labels.len()],
            stored: stored_values(rows.design)?,
            sparse: is_sparse(rows.design),
            totals,
            summary: summarise_any(rows.design, rows.weights, watch)?.0,
        })
    }
}

impl Merge for PartsOutline {
    fn merge(&mut self, other: PartsOutline) {
        self.rows += other.rows;
        self.sizes.extend(other.sizes);
        self.stored += other.stored;
        self.sparse |= other.sparse;
        self.totals.iter_mut().zip(other.totals).for_each(|(a, b)| *a += b);
        self.summary.merge(other.summary);
    }
}

impl Merge for ColumnSummary {
    /// By the difference of the means (Chan, Golub and LeVeque 1983): 1e9 + N(0,1) keeps its variance.
    fn merge(&mut self, other: ColumnSummary) {
        let total = self.total_weight + other.total_weight;
        if !(total > 0.0) {
            return;
        }
        let (own, share) = (self.total_weight / total, other.total_weight / total);
        for j in 0..self.mean.len().min(other.mean.len()) {
            let apart = other.mean[j] - self.mean[j];
            self.mean[j] += apart * share;
            self.variance[j] = own * self.variance[j] + share * other.variance[j] + own * share * apart * apart;
            self.min[j] = self.min[j].min(other.min[j]);
            self.max[j] = self.max[j].max(other.max[j]);
        }
        self.total_weight = total;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::DenseMatrix;
    use proptest::prelude::*;

    fn outline(values: &[f64], weights: &[f64]) -> PartsOutline {
        let design = DenseMatrix::new(values, 1).unwrap();
        let labels: Vec<Class> = (0..values.len()).map(|i| Class(i as u32 % 2)).collect();
        let rows = LabelledRows { design: &design, labels: &labels, weights: Some(weights) };
        PartsOutline::of(rows, 2, &Watch::default()).unwrap()
    }

    proptest! {
        /// However rows are cut into places, their outline is that of all of them.
        #[test]
        fn outlines_merge(
            values in prop::collection::vec((-1e3..1e3f64, 0.5..4.0f64), 4..40),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
            about in prop::sample::select(vec![0.0, 1e9, -1e-9]),
        ) {
            let (values, weights): (Vec<f64>, Vec<f64>) = values.into_iter().map(|(v, w)| (about + v, w)).unzip();
            let whole = outline(&values, &weights);
            let mut ends: Vec<usize> = cuts.iter().map(|c| 2 * c.index(values.len() / 2)).collect();
            ends.extend([0, values.len()]);
            ends.sort_unstable();
            ends.dedup();
            let mut parts = ends.windows(2).map(|w| outline(&values[w[0]..w[1]], &weights[w[0]..w[1]]));
            let mut merged = parts.next().unwrap();
            parts.for_each(|part| merged.merge(part));
            prop_assert_eq!((merged.rows, merged.stored), (whole.rows, whole.stored));
            let (a, b) = (&merged.summary, &whole.summary);
            // Extremes are kept as differences from a row near the mean, which each place has its own of.
            let same = |x: f64, y: f64| (x - y).abs() <= 4.0 * f64::EPSILON * y.abs().max(b.max[0].abs());
            prop_assert!(same(a.min[0], b.min[0]) && same(a.max[0], b.max[0]), "{:?} and {:?}", a, b);
            let spread = b.variance[0].sqrt();
            prop_assert!((a.mean[0] - b.mean[0]).abs() <= 1e-13 * spread + 4.0 * f64::EPSILON * b.mean[0].abs());
            prop_assert!((a.variance[0] - b.variance[0]).abs() <= 1e-9 * b.variance[0]);
            prop_assert!(merged.totals.iter().zip(&whole.totals).all(|(a, b)| (a - b).abs() <= 1e-13 * b.abs()));
        }
    }
}
