//! A column of one piece while it is read: numbers as narrow as they are, or text as codes.

use super::number::{Said, read_cell};
use crate::table::{Cells, MISSING_TEXT};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// The missing whole number in a block of `i32`.
pub(super) const MISSING_INT: i32 = i32::MIN;

/// A column of one piece.
#[derive(Debug, PartialEq)]
pub(super) enum RawColumn {
    /// Numbers and missing cells only.
    Number(Cells),
    /// Every cell as it was written.
    Text(TextColumn),
}

impl RawColumn {
    pub(super) fn len(&self) -> usize {
        match self {
            RawColumn::Number(cells) => cells.len(),
            RawColumn::Text(text) => text.codes.len(),
        }
    }
}

/// Numbers that widen on demand.
#[derive(Debug)]
pub(super) struct Numbers(Cells);

impl Numbers {
    pub(super) fn with_capacity(n: usize) -> Numbers {
        Numbers(Cells::I8(Vec::with_capacity(n)))
    }

    pub(super) fn into_cells(self) -> Cells {
        self.0
    }

    /// Appends any number; NaN is missing.
    pub(super) fn push(&mut self, value: f64) {
        if let Cells::F64(values) = &mut self.0 {
            values.push(value);
        } else if value.is_nan() {
            self.push_ints(&[MISSING_INT]);
        } else if let Some(int) = whole(value) {
            self.push_ints(&[int]);
        } else {
            self.make_float().push(value);
        }
    }

    /// Appends whole numbers; [`MISSING_INT`] is missing.
    pub(super) fn push_ints(&mut self, block: &[i32]) {
        // The wrapping absolute value of the missing mark is negative, so it never counts.
        let largest = block.iter().fold(0, |m, v| m.max(v.wrapping_abs()));
        self.widen(largest);
        match &mut self.0 {
            Cells::I8(to) => to.extend(block.iter().map(|v| if *v == MISSING_INT { i8::MIN } else { *v as i8 })),
            Cells::I16(to) => to.extend(block.iter().map(|v| if *v == MISSING_INT { i16::MIN } else { *v as i16 })),
            Cells::I32(to) => to.extend_from_slice(block),
            Cells::F64(to) => {
                to.extend(block.iter().map(|v| if *v == MISSING_INT { f64::NAN } else { f64::from(*v) }));
            }
            Cells::Text(_) => {}
        }
    }

    /// The values as floats from now on.
    pub(super) fn make_float(&mut self) -> &mut Vec<f64> {
        if !matches!(self.0, Cells::F64(_)) {
            let mut wide = Vec::with_capacity(self.capacity());
            self.0.for_each(|_, v| wide.push(v));
            self.0 = Cells::F64(wide);
        }
        match &mut self.0 {
            Cells::F64(values) => values,
            _ => unreachable!("just made so"),
        }
    }

    /// Makes room for whole numbers up to `largest` in magnitude.
    fn widen(&mut self, largest: i32) {
        let capacity = self.capacity();
        if largest > i32::from(i16::MAX) && matches!(self.0, Cells::I8(_) | Cells::I16(_)) {
            let mut wide = Vec::with_capacity(capacity);
            self.0.for_each(|_, v| wide.push(if v.is_nan() { MISSING_INT } else { v as i32 }));
            self.0 = Cells::I32(wide);
        } else if largest > i32::from(i8::MAX) && matches!(self.0, Cells::I8(_)) {
            let mut wide = Vec::with_capacity(capacity);
            self.0.for_each(|_, v| wide.push(if v.is_nan() { i16::MIN } else { v as i16 }));
            self.0 = Cells::I16(wide);
        }
    }

    fn capacity(&self) -> usize {
        match &self.0 {
            Cells::I8(v) => v.capacity(),
            Cells::I16(v) => v.capacity(),
            Cells::I32(v) => v.capacity(),
            Cells::F64(v) => v.capacity(),
            Cells::Text(v) => v.capacity(),
        }
    }
}

/// The value as an `i32`, if that loses nothing: not for fractions, large values and −0.
pub(super) fn whole(value: f64) -> Option<i32> {
    let int = value as i32;
    (int != MISSING_INT && f64::from(int).to_bits() == value.to_bits()).then_some(int)
}

/// Text cells as codes into the distinct cells seen so far.
#[derive(Debug, Default, PartialEq)]
pub(super) struct TextColumn {
    codes: Vec<u32>,
    seen: HashMap<Box<[u8]>, u32, BuildHasherDefault<TextHasher>>,
}

impl TextColumn {
    pub(super) fn with_capacity(n: usize) -> TextColumn {
        TextColumn { codes: Vec::with_capacity(n), ..TextColumn::default() }
    }

    pub(super) fn push_missing(&mut self) {
        self.codes.push(MISSING_TEXT);
    }

    pub(super) fn push(&mut self, cell: &[u8]) {
        let code = match self.seen.get(cell) {
            Some(code) => *code,
            None => {
                // Fewer than u32::MAX cells fit a piece, so a new code never reaches the missing mark.
                let code = self.seen.len() as u32;
                self.seen.insert(cell.into(), code);
                code
            }
        };
        self.codes.push(code);
    }

    /// Distinct cells, and the code of each cell.
    pub(super) fn into_parts(self) -> (Vec<Box<[u8]>>, Vec<u32>) {
        (self.levels(), self.codes)
    }

    /// Distinct cells in the order of their codes.
    fn levels(&self) -> Vec<Box<[u8]>> {
        let mut levels: Vec<(u32, &Box<[u8]>)> = self.seen.iter().map(|(level, code)| (*code, level)).collect();
        levels.sort_unstable();
        levels.into_iter().map(|(_, level)| level.clone()).collect()
    }

    /// The distinct cells in no particular order.
    pub(super) fn distinct(&self) -> impl Iterator<Item = &[u8]> {
        self.seen.keys().map(|k| &**k)
    }

    /// Counts the cells that say something and those among them that are numbers; also the first that is not.
    pub(super) fn count(&self) -> Counts<'_> {
        let mut levels: Vec<(u32, &[u8])> = self.seen.iter().map(|(level, code)| (*code, &**level)).collect();
        levels.sort_unstable();
        let is_number: Vec<bool> = levels.iter().map(|(_, l)| matches!(read_cell(l), Said::Number(_))).collect();
        let mut counts = Counts::default();
        for (row, code) in self.codes.iter().enumerate().filter(|(_, code)| **code != MISSING_TEXT) {
            counts.present += 1;
            if is_number[*code as usize] {
                counts.numbers += 1;
            } else if counts.first_text.is_none() {
                counts.first_text = Some((row, levels[*code as usize].1));
            }
        }
        counts
    }
}

/// How numeric a column is.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Counts<'a> {
    pub present: usize,
    pub numbers: usize,
    /// Row and text of the first cell that is neither missing nor a number.
    pub first_text: Option<(usize, &'a [u8])>,
}

/// A quick hash for short cells, eight bytes at a time. Its order never shows: levels are sorted in the end.
#[derive(Default)]
pub(super) struct TextHasher(u64);

impl TextHasher {
    fn mix(&mut self, word: u64) {
        // The folded multiplication of wyhash: both halves of a 128-bit product.
        let product = u128::from(self.0 ^ word ^ 0x9e37_79b9_7f4a_7c15) * u128::from(0xd6e8_feb8_6659_fd93_u64 ^ word);
        self.0 = (product as u64) ^ ((product >> 64) as u64);
    }
}

impl Hasher for TextHasher {
    fn write(&mut self, bytes: &[u8]) {
        let mut words = bytes.chunks_exact(8);
        for word in &mut words {
            self.mix(word.try_into().map_or(0, u64::from_le_bytes));
        }
        let tail = words.remainder().iter().fold(bytes.len() as u64, |t, b| t << 8 | u64::from(*b));
        self.mix(tail);
    }

    fn write_usize(&mut self, _: usize) {
        // The length prefix of a slice; `write` mixes the length in.
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
