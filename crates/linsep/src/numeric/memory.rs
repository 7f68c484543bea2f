//! Whether memory is available for a large allocation.

/// A megabyte is always given: asking would cost more.
const LITTLE: usize = 1 << 20;
/// Twice the largest threshold (32 MB on 64-bit systems) from which the GNU allocator maps pieces by themselves;
/// freeing a smaller one would raise the threshold, and tables would no longer be given back to the system when they
/// are freed.
const MAPPED: usize = 64 << 20;

/// Whether so many more bytes could be allocated. Running out of memory aborts the process without a message; large
/// allocations that depend on the data are tested here first. Under a limit of the address space the answer is exact;
/// elsewhere the system may overcommit, and only what could never be allocated is refused.
pub fn has_room(bytes: usize) -> bool {
    if bytes < LITTLE {
        return true;
    }
    let mut probe: Vec<u8> = Vec::new();
    let reserved = probe.try_reserve_exact(bytes.max(MAPPED)).is_ok();
    // The allocation must not be optimised away.
    std::hint::black_box(probe.as_ptr());
    reserved
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_never_be_had_is_refused() {
        assert!(has_room(1 << 20));
        assert!(!has_room(1 << 60));
        assert!(!has_room(usize::MAX));
    }
}
