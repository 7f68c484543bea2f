//! Sufficient statistics that merge: the common ground of threads, streams and increments.

mod class_moments;

pub use class_moments::{ClassMoments, fourth_moment};
