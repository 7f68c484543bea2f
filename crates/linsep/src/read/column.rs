//! A column of one piece while it is read: numbers as narrow as they are, or text as codes.

use super::dictionary::Dictionary;
use super::number::Said;
use super::style::CellStyle;
use crate::table::{Cells, MISSING_TEXT};

/// The missing integer in a block of `i32`: no cell holds it, since such a number is kept as a double.
pub(super) const MISSING_INT: i32 = i32::MIN;

/// A column of one piece.
#[derive(Debug)]
pub(super) enum RawColumn {
    /// Numbers and missing cells only.
    Number(Cells),
    /// Every cell as it was written.
    Text(TextColumn),
}

#[cfg(feature = "parquet")]
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
pub(super) struct Numbers {
    cells: Cells,
    /// Rows that were expected.
    capacity: usize,
}

impl Numbers {
    pub(super) fn with_capacity(n: usize) -> Numbers {
        Numbers { cells: Cells::I8(Vec::with_capacity(n).into()), capacity: n }
    }

    pub(super) fn into_cells(self) -> Cells {
        self.cells
    }

    /// Appends any number; NaN is missing.
    #[inline]
    pub(super) fn push(&mut self, value: f64) {
        if let Cells::F64(values) = &mut self.cells {
            values.to_mut().push(value);
        } else if value.is_nan() {
            self.push_ints(&[MISSING_INT]);
        } else if let Some(int) = whole(value) {
            self.push_ints(&[int]);
        } else {
            self.make_float().push(value);
        }
    }

    /// Appends any numbers; NaN is missing.
    pub(super) fn extend(&mut self, values: &[f64]) {
        if let Cells::F64(all) = &mut self.cells {
            all.to_mut().extend_from_slice(values);
            return;
        }
        let ints = values.iter().map(|v| if v.is_nan() { Some(MISSING_INT) } else { whole(*v) });
        match ints.collect::<Option<Vec<i32>>>() {
            Some(ints) => self.push_ints(&ints),
            None => self.make_float().extend_from_slice(values),
        }
    }

    /// Appends whole numbers; [`MISSING_INT`] is missing.
    pub(super) fn push_ints(&mut self, block: &[i32]) {
        // The wrapping absolute value of the missing mark is negative, so it never counts.
        let largest = block.iter().fold(0, |m, v| m.max(v.wrapping_abs()));
        self.widen(largest);
        match &mut self.cells {
            Cells::I8(to) => {
                to.to_mut().extend(block.iter().map(|v| if *v == MISSING_INT { i8::MIN } else { *v as i8 }))
            }
            Cells::I16(to) => {
                to.to_mut().extend(block.iter().map(|v| if *v == MISSING_INT { i16::MIN } else { *v as i16 }))
            }
            Cells::I32(to) => to.to_mut().extend_from_slice(block),
            Cells::F64(to) => {
                to.to_mut().extend(block.iter().map(|v| if *v == MISSING_INT { f64::NAN } else { f64::from(*v) }));
            }
            Cells::Text(_) => {}
        }
    }

    /// The values as floats from now on.
    pub(super) fn make_float(&mut self) -> &mut Vec<f64> {
        if !matches!(self.cells, Cells::F64(_)) {
            let mut wide = Vec::with_capacity(self.capacity.max(self.cells.len()));
            self.cells.for_each(|_, v| wide.push(v));
            self.cells = Cells::F64(wide.into());
        }
        match &mut self.cells {
            Cells::F64(values) => values.to_mut(),
            _ => unreachable!("just made so"),
        }
    }

    /// Makes room for whole numbers up to `largest` in magnitude.
    fn widen(&mut self, largest: i32) {
        let capacity = self.capacity.max(self.cells.len());
        if largest > i32::from(i16::MAX) && matches!(self.cells, Cells::I8(_) | Cells::I16(_)) {
            let mut wide = Vec::with_capacity(capacity);
            self.cells.for_each(|_, v| wide.push(if v.is_nan() { MISSING_INT } else { v as i32 }));
            self.cells = Cells::I32(wide.into());
        } else if largest > i32::from(i8::MAX) && matches!(self.cells, Cells::I8(_)) {
            let mut wide = Vec::with_capacity(capacity);
            self.cells.for_each(|_, v| wide.push(if v.is_nan() { i16::MIN } else { v as i16 }));
            self.cells = Cells::I16(wide.into());
        }
    }
}

/// The value as an `i32`, if that loses nothing: not for fractions, large values and −0.
pub(super) fn whole(value: f64) -> Option<i32> {
    let int = value as i32;
    (int != MISSING_INT && f64::from(int).to_bits() == value.to_bits()).then_some(int)
}

/// Text cells as codes into the distinct cells seen so far.
#[derive(Debug, Default)]
pub(super) struct TextColumn {
    pub codes: Vec<u32>,
    pub seen: Dictionary,
}

impl TextColumn {
    pub(super) fn with_capacity(n: usize) -> TextColumn {
        TextColumn { codes: Vec::with_capacity(n), seen: Dictionary::default() }
    }

    pub(super) fn push_missing(&mut self) {
        self.codes.push(MISSING_TEXT);
    }

    pub(super) fn push(&mut self, cell: &[u8]) {
        let code = self.seen.code(cell);
        self.codes.push(code);
    }

    /// Counts the cells that say something and those among them that are numbers; also the first that is not.
    pub(super) fn count(&self, style: &CellStyle) -> ColumnCounts<'_> {
        let is_number: Vec<bool> =
            (0..self.seen.len()).map(|code| matches!(style.read(self.seen.get(code)), Said::Number(_))).collect();
        let mut counts = ColumnCounts::default();
        for (row, code) in self.codes.iter().enumerate().filter(|(_, code)| **code != MISSING_TEXT) {
            counts.present += 1;
            if is_number[*code as usize] {
                counts.numbers += 1;
            } else if counts.first_text.is_none() {
                counts.first_text = Some((row, self.seen.get(*code as usize)));
            }
        }
        counts
    }
}

/// How numeric a column is.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ColumnCounts<'a> {
    pub present: usize,
    pub numbers: usize,
    /// Row and text of the first cell that is neither missing nor a number.
    pub first_text: Option<(usize, &'a [u8])>,
}
