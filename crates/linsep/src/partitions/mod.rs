//! Rows in several places: the questions of solvers and proofs as messages, the answers as sums that merge.
//!
//! A place (a partition on another machine, say) holds [`crate::design::LabelledRows`] and nothing else: a message carries all
//! that its answer depends on, so that a place that is lost is made again from its source and asked again. Whoever holds the
//! places implements [`AskParts`]; [`PartitionedRisk`] is then the risk of all rows to the solvers of `solve::smooth`, and
//! `answer` is what a place does with a message. Answers are merged in the order of the places, so that neither the number of
//! workers nor their speed changes a bit.
//!
//! The cost is that scores, which a risk in memory keeps, are computed again for every question: a pass of `2nd` operations
//! beside the `nd²` of a Hessian.

mod answer;
mod local;
mod outline;
mod point_sums;
mod question;
mod risk;

pub use answer::answer;
pub(crate) use local::RowsInParts;
pub use outline::PartsOutline;
pub(crate) use question::{PartLoss, PartTerms};
pub(crate) use risk::outline_of;
pub use risk::{AskParts, BalanceOfParts, PartitionedRisk};
