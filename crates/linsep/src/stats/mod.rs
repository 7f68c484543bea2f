//! Sufficient statistics that merge: the common ground of threads, streams and increments.

mod class_moments;
mod fourth_moments;
mod triangle;

pub use class_moments::{ClassMoments, Scatter};
pub use fourth_moments::fourth_moments;
pub use triangle::ClassTriangle;
