//! Axes, and where their ticks stand.

use super::nice::{log_ticks, nice_ticks};

/// How values become lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// In proportion.
    Linear,
    /// In proportion to the logarithm; the range is positive.
    Log,
}

/// An axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// What it measures.
    pub label: String,
    /// Its ends.
    pub range: (f64, f64),
    /// How values become lengths.
    pub scale: Scale,
    /// Names at places instead of numbers.
    pub names: Option<Vec<(f64, String)>>,
    /// Whether lines lead from its ticks through the panel.
    pub grid: bool,
}

/// The ticks of an axis: places with their text.
pub(crate) type AxisTicks = Vec<(f64, String)>;

/// Room on either side of the values, as a share of their range: symbols at the ends are whole. Chosen.
const ROOM: f64 = 0.05;

impl Axis {
    /// An axis with the given ends.
    pub fn new(label: impl Into<String>, range: (f64, f64)) -> Axis {
        Axis { label: label.into(), range, scale: Scale::Linear, names: None, grid: true }
    }

    /// An axis with room for all of some values; of a single value one around it.
    pub fn around(label: impl Into<String>, values: impl IntoIterator<Item = f64>) -> Axis {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.into_iter().filter(|v| v.is_finite()) {
            low = low.min(value);
            high = high.max(value);
        }
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        let span = high - low;
        // One value, or values that no picture can tell apart.
        let room = match span > 1e-9 * low.abs().max(high.abs()) {
            true => ROOM * span,
            false => 0.5 * low.abs().max(1.0),
        };
        Axis::new(label, (low - room, high + room))
    }

    /// The same without lines through the panel.
    pub fn plain(mut self) -> Axis {
        self.grid = false;
        self
    }

    /// The same by logarithms.
    pub fn log(mut self) -> Axis {
        self.scale = Scale::Log;
        self
    }

    /// Ticks at most so many, for a length on which labels keep apart.
    pub(crate) fn ticks(&self, most: usize) -> AxisTicks {
        match (&self.names, self.scale) {
            (Some(names), _) => names.clone(),
            (None, Scale::Linear) => nice_ticks(self.range, most),
            (None, Scale::Log) => log_ticks(self.range, most),
        }
    }

    /// Where a value stands between the ends, from 0 to 1.
    pub(crate) fn share(&self, value: f64) -> f64 {
        let (low, high) = self.range;
        match self.scale {
            Scale::Linear => (value - low) / (high - low),
            Scale::Log => (value.ln() - low.ln()) / (high.ln() - low.ln()),
        }
    }
}
