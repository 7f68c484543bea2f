//! Coverage and size of prediction sets.

use super::{Estimate, wilson};
use crate::table::Class;
use serde::Serialize;

/// Figures of sets on labelled rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SetFigures {
    /// The nominal coverage.
    pub level: f64,
    /// Whether coverage is guaranteed within every class.
    pub by_class: bool,
    /// Share of the rows whose class is in their set.
    pub coverage: Estimate,
    /// The same within each class, by name, where it has rows.
    pub of_classes: Vec<(String, Option<Estimate>)>,
    /// Mean number of classes in a set.
    pub mean_size: f64,
    /// Share of the sets with one class.
    pub single: f64,
    /// Share of empty sets: rows that conform to no class.
    pub empty: f64,
}

/// What sets come to: `sets` says of every class of every row whether it is in.
pub fn set_figures(
    sets: &[bool],
    truth: &[Class],
    classes: &[String],
    (level, by_class): (f64, bool),
) -> Option<SetFigures> {
    if truth.is_empty() {
        return None;
    }
    let k = classes.len();
    let mut counts = vec![(0.0, 0.0); k];
    let (mut size, mut single, mut empty) = (0, 0, 0);
    for (set, class) in sets.chunks_exact(k).zip(truth) {
        let within = set.iter().filter(|c| **c).count();
        size += within;
        single += usize::from(within == 1);
        empty += usize::from(within == 0);
        let count = &mut counts[class.index()];
        count.0 += f64::from(u8::from(set[class.index()]));
        count.1 += 1.0;
    }
    let estimate = |(held, rows): (f64, f64)| {
        (rows > 0.0).then(|| Estimate::new(held / rows, Some(wilson(held, rows)), "Wilson score"))
    };
    let total = counts.iter().fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
    let share = |n: usize| n as f64 / truth.len() as f64;
    Some(SetFigures {
        level,
        by_class,
        coverage: estimate(total)?,
        of_classes: classes.iter().cloned().zip(counts.into_iter().map(estimate)).collect(),
        mean_size: share(size),
        single: share(single),
        empty: share(empty),
    })
}
