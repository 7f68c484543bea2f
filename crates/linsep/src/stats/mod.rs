//! Sufficient statistics that merge: for parallel, streaming and incremental computation alike.

mod class_columns;
mod class_moments;
mod fourth_moments;
mod moment_bytes;
mod reference;
mod tail;
mod triangle;

pub use class_columns::{ClassColumns, Run, Sums, Support};
pub(crate) use class_moments::MomentRounding;
pub use class_moments::{ClassMoments, Scatter};
pub(crate) use reference::whole_row;

// For the other stages, the command, the extension and the tests: nothing is promised about these.
#[doc(hidden)]
pub use self::{fourth_moments::fourth_moments, triangle::ClassTriangle};
