//! Whether the machine has the vector units that loops were compiled for a second time.

#[cfg(target_arch = "x86_64")]
mod found {
    use std::sync::atomic::{AtomicU8, Ordering};

    /// Not looked for yet.
    const UNKNOWN: u8 = 0;
    /// AVX2 and fused multiply-add are there.
    const WIDE: u8 = 1;
    /// They are not, or are not to be used.
    const SCALAR: u8 = 2;

    static UNITS: AtomicU8 = AtomicU8::new(UNKNOWN);

    /// Whether AVX2 and fused multiply-add may be used; only true on a machine that has them.
    #[inline]
    pub(crate) fn has_wide_units() -> bool {
        match UNITS.load(Ordering::Relaxed) {
            UNKNOWN => look(),
            known => known == WIDE,
        }
    }

    #[cold]
    fn look() -> bool {
        let wide = std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma");
        let choice = if wide { WIDE } else { SCALAR };
        // The first choice stays, if another thread made one.
        let _ = UNITS.compare_exchange(UNKNOWN, choice, Ordering::Relaxed, Ordering::Relaxed);
        UNITS.load(Ordering::Relaxed) == WIDE
    }

    pub(super) fn forget() {
        UNITS.store(SCALAR, Ordering::Relaxed);
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) use found::has_wide_units;

/// Whether the loops of this library use vector units beyond the baseline of the build. For tests.
#[doc(hidden)]
pub fn wide_units_in_use() -> bool {
    #[cfg(target_arch = "x86_64")]
    return has_wide_units();
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// From now on the loops of this library run as on a machine without vector units; those of faer do not ask here. For
/// tests, which call it before anything else.
#[doc(hidden)]
pub fn without_wide_units() {
    #[cfg(target_arch = "x86_64")]
    found::forget();
}
