//! The cells of one column in one chunk: in memory, or in a scratch file that is mapped.

use super::scratch_file::ScratchSlice;
use std::ops::Deref;

/// Values that are read as a slice, wherever they are.
pub struct CellValues<T: 'static> {
    place: ValuePlace<T>,
}

enum ValuePlace<T: 'static> {
    Memory(Vec<T>),
    Scratch(ScratchSlice<T>),
}

impl<T: Copy> CellValues<T> {
    /// The values in a vector, for writing; those in a scratch file are copied.
    #[doc(hidden)]
    pub fn to_mut(&mut self) -> &mut Vec<T> {
        if let ValuePlace::Scratch(slice) = &self.place {
            self.place = ValuePlace::Memory(slice.to_vec());
        }
        match &mut self.place {
            ValuePlace::Memory(values) => values,
            ValuePlace::Scratch(_) => unreachable!("just copied"),
        }
    }

    /// Those values, from a scratch file.
    pub(super) fn in_scratch(slice: ScratchSlice<T>) -> CellValues<T> {
        CellValues { place: ValuePlace::Scratch(slice) }
    }

    pub(super) fn is_in_scratch(&self) -> bool {
        matches!(self.place, ValuePlace::Scratch(_))
    }
}

impl<T> Deref for CellValues<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.place {
            ValuePlace::Memory(values) => values,
            ValuePlace::Scratch(slice) => slice,
        }
    }
}

impl<T> From<Vec<T>> for CellValues<T> {
    fn from(values: Vec<T>) -> CellValues<T> {
        CellValues { place: ValuePlace::Memory(values) }
    }
}

impl<T> FromIterator<T> for CellValues<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> CellValues<T> {
        Vec::from_iter(values).into()
    }
}

impl<T: Clone> Clone for CellValues<T> {
    fn clone(&self) -> CellValues<T> {
        let place = match &self.place {
            ValuePlace::Memory(values) => ValuePlace::Memory(values.clone()),
            ValuePlace::Scratch(slice) => ValuePlace::Scratch(slice.clone()),
        };
        CellValues { place }
    }
}

impl<T: PartialEq> PartialEq for CellValues<T> {
    fn eq(&self, other: &CellValues<T>) -> bool {
        **self == **other
    }
}

impl<T: std::fmt::Debug> std::fmt::Debug for CellValues<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
