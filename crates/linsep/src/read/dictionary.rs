//! Distinct texts, numbered in the order they are first seen.

use crate::table::MISSING_TEXT;

/// Distinct byte strings and their codes: one arena and an open-addressing table, so that a column of a million
/// different names costs no allocation per name.
#[derive(Debug, Default)]
pub(super) struct Dictionary {
    arena: Vec<u8>,
    /// Where each string ends in the arena, with its hash.
    entries: Vec<(usize, u64)>,
    /// Codes at the position of their hash or after it; the length is a power of two, [`MISSING_TEXT`] is free.
    slots: Vec<u32>,
}

impl Dictionary {
    /// Number of distinct strings.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The string of a code.
    pub(super) fn get(&self, code: usize) -> &[u8] {
        let start = if code == 0 { 0 } else { self.entries[code - 1].0 };
        &self.arena[start..self.entries[code].0]
    }

    /// The code of a string, a new one if it was not seen before.
    pub(super) fn code(&mut self, text: &[u8]) -> u32 {
        if self.entries.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let (hash, mask) = (hash(text), self.slots.len() - 1);
        let mut slot = hash as usize & mask;
        loop {
            let code = self.slots[slot];
            if code == MISSING_TEXT {
                break;
            }
            if self.entries[code as usize].1 == hash && self.get(code as usize) == text {
                return code;
            }
            slot = (slot + 1) & mask;
        }
        // Fewer than u32::MAX cells fit a piece, so a new code never reaches the free mark.
        let code = self.entries.len() as u32;
        self.slots[slot] = code;
        self.arena.extend_from_slice(text);
        self.entries.push((self.arena.len(), hash));
        code
    }

    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(16);
        self.slots.clear();
        self.slots.resize(size, MISSING_TEXT);
        for (code, (_, hash)) in self.entries.iter().enumerate() {
            let mut slot = *hash as usize & (size - 1);
            while self.slots[slot] != MISSING_TEXT {
                slot = (slot + 1) & (size - 1);
            }
            self.slots[slot] = code as u32;
        }
    }
}

/// A quick hash for short texts, eight bytes at a time; it never shows in a result.
fn hash(text: &[u8]) -> u64 {
    // Both halves of a 128-bit product folded together, as in wyhash.
    let mix = |state: u64, word: u64| {
        let product = u128::from(state ^ word) * 0x9e37_79b9_7f4a_7c15;
        (product as u64) ^ ((product >> 64) as u64) ^ word.rotate_left(29)
    };
    let mut words = text.chunks_exact(8);
    let mut state = 0xd6e8_feb8_6659_fd93 ^ text.len() as u64;
    for word in &mut words {
        state = mix(state, word.try_into().map_or(0, u64::from_le_bytes));
    }
    let tail = words.remainder().iter().fold(1u64, |t, b| t << 8 | u64::from(*b));
    let state = mix(state, tail);
    mix(state, 0x2545_f491_4f6c_dd1d)
}
