//! Sums over the training rows that a model keeps, so that rows can be added to it and taken away from it.

use crate::error::{Error, Result};
use crate::role::{Role, Roles};
use crate::stats::{ClassColumns, ClassMoments, Run, Scatter, Sums};
use serde::{Deserialize, Serialize};

/// What a model of sums over rows keeps of its rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptStatistics {
    /// Every column of the table in its order, used or not, and whether it holds text.
    pub columns: Vec<(String, bool)>,
    /// Rows of each class that were used.
    pub class_rows: Vec<usize>,
    /// Of each text column in use: rows of each level that were used.
    pub level_rows: Vec<Vec<usize>>,
    /// The sums.
    pub sums: KeptSums,
}

/// The sums, class by class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeptSums {
    /// Of single columns.
    Columns {
        /// Weight of each class.
        weights: Vec<f64>,
        /// Totals or means of the columns, class by class.
        first: Vec<f64>,
        /// What the doubles of means cannot hold, where there are means.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tails: Vec<f64>,
        /// Squared deviations or logarithms, where a column has them.
        second: Vec<f64>,
    },
    /// Of pairs of columns.
    Moments {
        /// Weight of each class.
        weights: Vec<f64>,
        /// Means, class by class.
        means: Vec<f64>,
        /// What the doubles of the means cannot hold.
        #[serde(default)]
        tails: Vec<f64>,
        /// Lower triangles of the scatter within classes, column by column: one, or one of each class.
        scatters: Vec<Vec<f64>>,
    },
}

/// What a matrix column was before levels were added or dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FeatureOrigin {
    /// This column.
    Same(usize),
    /// Zero in every row so far.
    Absent,
    /// The indicator of a level that had none: one where all of these columns are zero.
    Rest(std::ops::Range<usize>),
}

impl KeptStatistics {
    /// All of it is counted again.
    #[doc(hidden)]
    pub const ROLES: Roles = Roles::All(Role::Claim);
}

impl KeptSums {
    /// Sums of single columns.
    pub(crate) fn of_columns(statistics: &ClassColumns) -> KeptSums {
        let [weights, first, tails, second] = statistics.numbers().map(<[f64]>::to_vec);
        KeptSums::Columns { weights, first, tails, second }
    }

    /// Sums of pairs of columns.
    pub(crate) fn of_moments(moments: &ClassMoments) -> KeptSums {
        let classes = moments.weights().len();
        let matrices = if moments.kind() == Scatter::Own { classes } else { 1 };
        let means: Vec<f64> = (0..classes).flat_map(|k| moments.mean(k).iter().copied()).collect();
        let tails: Vec<f64> = (0..classes).flat_map(|k| moments.mean_tail(k).iter().copied()).collect();
        let lower = |k: usize| {
            let (scatter, n) = (moments.scatter_of(k), moments.scatter_of(k).n());
            (0..n).flat_map(|j| (j..n).map(move |i| scatter.get(i, j))).collect()
        };
        let scatters = (0..matrices).map(lower).collect();
        KeptSums::Moments { weights: moments.weights().to_vec(), means, tails, scatters }
    }

    /// Weight of each class.
    pub(crate) fn weights(&self) -> &[f64] {
        match self {
            KeptSums::Columns { weights, .. } | KeptSums::Moments { weights, .. } => weights,
        }
    }

    /// As statistics of single columns, which these runs describe.
    pub(crate) fn to_columns(&self, runs: &[Run]) -> Result<ClassColumns> {
        let KeptSums::Columns { weights, first, tails, second } = self else { return Err(unfit()) };
        let head = [weights.len(), runs.len(), usize::from(!second.is_empty())];
        let empty = ClassColumns::empty(weights.len(), runs)?;
        let described = &empty.to_bytes()[8 * head.len()..8 * (head.len() + 6 * runs.len())];
        let moments = runs.iter().any(|r| r.sums == Sums::Moments);
        let tails = or_zeros(tails, if moments { first.len() } else { 0 });
        let numbers = weights.iter().chain(first).chain(&tails).chain(second).flat_map(|v| v.to_le_bytes());
        let mut bytes: Vec<u8> = head.iter().flat_map(|n| (*n as u64).to_le_bytes()).collect();
        bytes.extend(described);
        bytes.extend(numbers);
        ClassColumns::from_bytes(&bytes).map_err(|_| unfit())
    }

    /// As statistics of pairs of so many columns.
    pub(crate) fn to_moments(&self, kind: Scatter, cols: usize) -> Result<ClassMoments> {
        let KeptSums::Moments { weights, means, tails, scatters } = self else { return Err(unfit()) };
        let tails = or_zeros(tails, means.len());
        let head = [u64::from(kind == Scatter::Own), weights.len() as u64, cols as u64];
        let mut bytes: Vec<u8> = head.iter().flat_map(|n| n.to_le_bytes()).collect();
        let numbers = weights.iter().chain(means).chain(&tails).chain(scatters.iter().flatten());
        bytes.extend(numbers.flat_map(|v| v.to_le_bytes()));
        ClassMoments::from_bytes(&bytes).map_err(|_| unfit())
    }

    /// The same sums in other classes (for each the old one, if there was one) and other columns.
    pub(crate) fn moved(&self, classes: &[Option<usize>], features: &[FeatureOrigin], old_cols: usize) -> KeptSums {
        let old = Embedding { features, old_cols };
        match self {
            KeptSums::Columns { weights, first, tails, second } => {
                // A level that had no indicator has what the others leave of the weight, and of tails what they have, less.
                let of_class = |values: &[f64], k: &Option<usize>, whole: f64| match k {
                    Some(k) => old.totals(&values[k * old_cols..(k + 1) * old_cols], whole * weights[*k]),
                    None => vec![0.0; features.len()],
                };
                let all = |values: &[f64], whole: f64| match values.is_empty() {
                    true => Vec::new(),
                    false => classes.iter().flat_map(|k| of_class(values, k, whole)).collect::<Vec<f64>>(),
                };
                KeptSums::Columns {
                    weights: taken(weights, classes),
                    first: all(first, 1.0),
                    tails: all(tails, 0.0),
                    second: all(second, 1.0),
                }
            }
            KeptSums::Moments { weights, means, tails, scatters } => {
                let of_class = |values: &[f64], one: f64, k: &Option<usize>| match k {
                    Some(k) => old.totals(&values[k * old_cols..(k + 1) * old_cols], one),
                    None => vec![0.0; features.len()],
                };
                let all = |values: &[f64], one: f64| -> Vec<f64> {
                    classes.iter().flat_map(|k| of_class(values, one, k)).collect()
                };
                let size = features.len() * (features.len() + 1) / 2;
                // One scatter is of all classes together; where a class has its own, it moves with the class.
                let scatters = match scatters.len() > 1 {
                    true => {
                        let of = |k: &Option<usize>| k.map_or(vec![0.0; size], |k| old.scatter(&scatters[k]));
                        classes.iter().map(of).collect()
                    }
                    false => scatters.iter().map(|s| old.scatter(s)).collect(),
                };
                KeptSums::Moments {
                    weights: taken(weights, classes),
                    means: all(means, 1.0),
                    // Indicators of the rest are one less the others, whose tails are then taken off.
                    tails: if tails.is_empty() { Vec::new() } else { all(tails, 0.0) },
                    scatters,
                }
            }
        }
    }
}

/// The tails, or those of a file that was written before there were any.
fn or_zeros(tails: &[f64], count: usize) -> Vec<f64> {
    if tails.is_empty() { vec![0.0; count] } else { tails.to_vec() }
}

fn unfit() -> Error {
    Error::model("the statistics of the model do not fit its method, columns and classes")
        .help("fit the model again, and keep its statistics")
}

fn taken(weights: &[f64], classes: &[Option<usize>]) -> Vec<f64> {
    classes.iter().map(|k| k.map_or(0.0, |k| weights[k])).collect()
}

/// New columns as linear functions of old ones.
struct Embedding<'a> {
    features: &'a [FeatureOrigin],
    old_cols: usize,
}

impl Embedding<'_> {
    /// Totals of a class of this weight (means: of weight one).
    fn totals(&self, old: &[f64], weight: f64) -> Vec<f64> {
        let one = |origin: &FeatureOrigin| match origin {
            FeatureOrigin::Same(j) => old[*j],
            FeatureOrigin::Absent => 0.0,
            FeatureOrigin::Rest(range) => weight - old[range.clone()].iter().sum::<f64>(),
        };
        self.features.iter().map(one).collect()
    }

    /// A lower triangle `T S Tᵀ`.
    fn scatter(&self, old: &[f64]) -> Vec<f64> {
        let n = self.old_cols;
        let entry = |i: usize, j: usize| {
            let (i, j) = (i.max(j), i.min(j));
            // Column j of a lower triangle begins behind those of n, n−1, … numbers.
            old[j * n - j * (j + 1) / 2 + i]
        };
        let terms = |origin: &FeatureOrigin| match origin {
            FeatureOrigin::Same(j) => (1.0, *j..*j + 1),
            FeatureOrigin::Absent => (0.0, 0..0),
            FeatureOrigin::Rest(range) => (-1.0, range.clone()),
        };
        let mut moved = Vec::with_capacity(self.features.len() * (self.features.len() + 1) / 2);
        for (b, of_b) in self.features.iter().enumerate() {
            let (sign_b, range_b) = terms(of_b);
            for of_a in &self.features[b..] {
                let (sign_a, range_a) = terms(of_a);
                let sum: f64 =
                    range_a.flat_map(|i| range_b.clone().map(move |j| (i, j))).map(|(i, j)| entry(i, j)).sum();
                moved.push(sign_a * sign_b * sum);
            }
        }
        moved
    }
}

/// Whether sums of single columns are totals of whole numbers, whose differences are exact.
pub(crate) fn are_whole_totals(runs: &[Run], sums: &KeptSums) -> bool {
    let KeptSums::Columns { weights, first, .. } = sums else { return false };
    runs.iter().all(|r| r.sums == Sums::Total) && weights.iter().chain(first).all(|v| v.fract() == 0.0)
}
