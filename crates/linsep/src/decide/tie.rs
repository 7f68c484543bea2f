//! The side of an exact tie.

use crate::table::Class;
use serde::{Deserialize, Serialize};

/// Which of several decisions that are exactly equally good is made: equal largest scores, a score equal to the threshold,
/// equal expected costs.
///
/// Textbooks differ: `1` where `g(x) ≥ 0` is [`Tie::Last`], `1` where `g(x) > 0` is [`Tie::First`].
///
/// ```
/// use linsep::decide::{Decision, Tie};
/// use linsep::table::Class;
/// let at_zero = |tie| Decision { tie, ..Decision::default() }.classes(&[0.0], 2);
/// assert_eq!(at_zero(Tie::First)?, [Some(Class(0))]);
/// assert_eq!(at_zero(Tie::Last)?, [Some(Class(1))]);
/// assert_eq!(at_zero(Tie::Reject)?, [None]);
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tie {
    /// The class that comes first.
    #[default]
    First,
    /// The class that comes last; of two classes the positive one.
    Last,
    /// None.
    Reject,
}

impl Tie {
    /// The class of the largest number; NaN exceeds nothing and ties with nothing.
    pub(super) fn largest(self, values: &[f64]) -> Option<Class> {
        let (mut best, mut ties) = (0, false);
        for k in 1..values.len() {
            if values[k] > values[best] {
                (best, ties) = (k, false);
            } else if values[k] == values[best] {
                ties = true;
                best = if self == Tie::Last { k } else { best };
            }
        }
        (self != Tie::Reject || !ties).then_some(Class(best as u32))
    }

    /// The class of one of two sides: whether the last is better, and whether both are equally good.
    pub(super) fn side(self, last: bool, equal: bool) -> Option<Class> {
        match (equal, self) {
            (false, _) => Some(Class(u32::from(last))),
            (true, Tie::First) => Some(Class(0)),
            (true, Tie::Last) => Some(Class(1)),
            (true, Tie::Reject) => None,
        }
    }
}
