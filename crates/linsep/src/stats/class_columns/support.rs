//! Which values a column may hold, and the first one that it may not.

use super::Run;
use crate::design::{Block, Design, Tile};
use crate::error::{Error, Place, Result};
use crate::words::{Setting, Span, words};

/// The values a column may hold: an interval, all of it or its whole numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Support {
    /// Smallest value.
    pub low: f64,
    /// Largest value.
    pub high: f64,
    /// Whole numbers only.
    pub whole: bool,
}

impl Support {
    /// All finite numbers.
    pub const REAL: Support = Support { low: f64::MIN, high: f64::MAX, whole: false };
    /// Numbers from zero.
    pub const NOT_NEGATIVE: Support = Support { low: 0.0, high: f64::MAX, whole: false };
    /// Numbers above zero.
    pub const POSITIVE: Support = Support { low: f64::from_bits(1), high: f64::MAX, whole: false };
    /// Numbers from zero to one.
    pub const UNIT: Support = Support { low: 0.0, high: 1.0, whole: false };

    /// Whole numbers from zero to `largest`.
    pub fn counts_to(largest: f64) -> Support {
        Support { low: 0.0, high: largest, whole: true }
    }

    /// Whole numbers from zero.
    pub fn counts() -> Support {
        Support::counts_to(f64::MAX)
    }

    /// Whether the column may hold a value; NaN never.
    #[inline(always)]
    pub fn contains(&self, value: f64) -> bool {
        (value >= self.low) & (value <= self.high) & (!self.whole | (value == value.floor()))
    }

    /// In words.
    pub fn describe(&self) -> String {
        match (self.whole, self.low, self.high) {
            (true, _, 1.0) => "0 or 1".into(),
            (true, _, f64::MAX) => "counts: 0, 1, 2 …".into(),
            (true, _, high) => format!("counts from 0 to {high}"),
            (false, f64::MIN, _) => "finite numbers".into(),
            (false, 0.0, f64::MAX) => "numbers from 0".into(),
            (false, _, f64::MAX) => "numbers above 0".into(),
            (false, low, high) => format!("numbers from {low} to {high}"),
        }
    }
}

/// The first row of positive weight with a value outside its column's support, as an error.
pub(super) fn first_outside(design: &dyn Design, weights: Option<&[f64]>, runs: &[Run]) -> Result<Option<Error>> {
    let mut tile = Tile::default();
    for row in 0..design.shape().rows {
        if weights.is_some_and(|w| w[row] == 0.0) {
            continue;
        }
        let found = match design.block(row..row + 1, &mut tile)? {
            Block::F64(dense) => first_in_row(runs, |j| dense.values[j]),
            Block::F32(dense) => first_in_row(runs, |j| f64::from(dense.values[j])),
            Block::Csr(rows) => first_stored(runs, rows.row(0)),
        };
        if let Some((j, value, support)) = found {
            let what = words![Span::Column(j), format!(" is {value}: it may hold {}", support.describe())];
            let error = Error::data(what).at(Place::default().row(row as u64 + 1));
            return Ok(Some(error.help("correct the value").help("leave the row out").help(words![
                "choose another ",
                Setting::Families,
                " for the column",
            ])));
        }
    }
    Ok(None)
}

fn first_in_row(runs: &[Run], value: impl Fn(usize) -> f64) -> Option<(usize, f64, Support)> {
    let in_run = |run: &Run| {
        let j = run.columns.clone().find(|j| !run.support.contains(value(*j)))?;
        Some((j, value(j), run.support))
    };
    runs.iter().find_map(in_run)
}

/// Stored entries, and zeros that are not stored where a run may not hold them.
fn first_stored(runs: &[Run], (columns, values): (&[u32], &[f64])) -> Option<(usize, f64, Support)> {
    let stored = columns.iter().zip(values).find_map(|(c, v)| {
        let run = &runs[runs.partition_point(|r| r.columns.end <= *c as usize)];
        (!run.support.contains(*v)).then_some((*c as usize, *v, run.support))
    });
    let absent = |run: &Run| {
        let j = run.columns.clone().find(|j| columns.binary_search(&(*j as u32)).is_err())?;
        Some((j, 0.0, run.support))
    };
    stored.or_else(|| runs.iter().filter(|r| !r.support.contains(0.0)).find_map(absent))
}
