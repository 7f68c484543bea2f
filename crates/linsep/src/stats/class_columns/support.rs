//! Which values a column may hold, and the first one that it may not.

use super::Run;
use crate::design::{Block, Design, Tile};
use crate::error::{Error, Place, Result};

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
    let shape = design.shape();
    let mut tile = Tile::default();
    let mut values = vec![0.0; shape.cols];
    for row in 0..shape.rows {
        if weights.is_some_and(|w| w[row] == 0.0) {
            continue;
        }
        match design.block(row..row + 1, &mut tile)? {
            Block::F64(dense) => values.copy_from_slice(dense.values),
            Block::F32(dense) => values.iter_mut().zip(dense.values).for_each(|(o, v)| *o = f64::from(*v)),
            Block::Csr(rows) => {
                values.fill(0.0);
                let (columns, entries) = rows.row(0);
                columns.iter().zip(entries).for_each(|(c, v)| values[*c as usize] = *v);
            }
        }
        for run in runs {
            let outside = run.columns.clone().find(|j| !run.support.contains(values[*j]));
            if let Some(j) = outside {
                let message = format!("column {} is {}: it may hold {}", j + 1, values[j], run.support.describe());
                return Ok(Some(
                    Error::data(message)
                        .at(Place::default().row(row as u64 + 1))
                        .help("correct the value, leave the row out, or choose another --family for the column"),
                ));
            }
        }
    }
    Ok(None)
}
