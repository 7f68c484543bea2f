//! What the tests of linsep share; development only, never published.
//!
//! - [`golden`]: reference values of other programs and the data they were computed from;
//! - [`data`]: rows built from the answer, seeded;
//! - [`twin`]: slow textbook versions of what the library computes fast;
//! - [`double_double`]: numbers of 32 digits, and elimination with them;
//! - [`multiprecision`]: risk minimisers solved in 400 bits, and certificates held against them;
//! - [`cone`]: an independent conic solver as judge of optima and of separability;
//! - [`contract`]: what every model must do, registered once.

pub mod cone;
pub mod contract;
pub mod data;
pub mod double_double;
pub mod exact;
pub mod golden;
pub mod multiprecision;
pub mod twin;

/// Asserts that two numbers agree to `tolerance` relative to the larger of `scale` and both sizes.
///
/// # Panics
/// If they do not, or if one is NaN.
#[track_caller]
pub fn assert_near(a: f64, b: f64, tolerance: f64, scale: f64, what: &str) {
    let size = a.abs().max(b.abs()).max(scale);
    let close = a == b || (a - b).abs() <= tolerance * size;
    assert!(close, "{what}: {a:e} and {b:e} differ by {:e} of {size:e}", (a - b).abs() / size);
}

/// Asserts that two slices agree entry by entry to `tolerance` relative to the largest entry of either and to `scale`.
///
/// # Panics
/// If they do not, or if their lengths differ.
#[track_caller]
pub fn assert_all_near(a: &[f64], b: &[f64], tolerance: f64, scale: f64, what: &str) {
    assert_eq!(a.len(), b.len(), "{what}: lengths");
    let size = a.iter().chain(b).fold(scale, |m, v| m.max(v.abs()));
    for (i, (a, b)) in a.iter().zip(b).enumerate() {
        assert_near(*a, *b, tolerance, size, &format!("{what}, entry {i}"));
    }
}

/// The Rust examples of the README and of docs/rust.md are run. Here, since a package has no documents above it.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../../README.md")]
    struct Readme;

    #[doc = include_str!("../../../docs/rust.md")]
    struct Rust;
}
