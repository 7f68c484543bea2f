//! Decoders of other crates, whose panics are errors here.

use std::cell::Cell;
#[cfg(any(feature = "arrow", feature = "parquet", feature = "xlsx"))]
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static DECODING: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread runs a decoder whose panics become errors. A program's panic hook may ask, to say nothing of them;
/// the library installs no hook, which is the program's to choose.
pub fn is_decoding() -> bool {
    DECODING.get()
}

/// Runs a decoder; `None` where it panics. The crates that decode do so on some damaged files; to the user that is a
/// damaged file like any other.
#[cfg(any(feature = "arrow", feature = "parquet", feature = "xlsx"))]
pub(super) fn guarded<T>(decode: impl FnOnce() -> T) -> Option<T> {
    let before = DECODING.replace(true);
    let decoded = catch_unwind(AssertUnwindSafe(decode));
    DECODING.set(before);
    decoded.ok()
}
