//! Cells of a table that is larger than the memory it may take, in files that are mapped.
//!
//! A scratch file is written once, by plain writes, so that a full disk is an error and no signal, and then only read. Where the
//! system allows it the file has no name any more once it is open: nobody else can change it, and nothing is left behind
//! however the process ends.

use super::Cells;
use super::cell_values::CellValues;
use super::scratch_file::{ScratchFile, ScratchSlice};
use crate::error::Result;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of a scratch file: few mappings however large the table is, and what is not used is a hole that takes no disk.
const SEGMENT: u64 = 1 << 28;
/// Cells begin at multiples of this, which suits doubles.
const ALIGNED: u64 = 8;

/// Types of which any bytes are a value.
pub(super) trait PlainValue: Copy + 'static {}
impl PlainValue for i8 {}
impl PlainValue for i16 {}
impl PlainValue for i32 {}
impl PlainValue for u32 {}
impl PlainValue for f64 {}

/// Where cells go that do not fit into the memory they may take.
#[derive(Debug)]
pub struct CellScratch {
    directory: PathBuf,
    limit: u64,
    /// Bytes of cells that were kept in memory.
    kept: AtomicU64,
    written: Mutex<Option<(Arc<ScratchFile>, u64)>>,
}

impl CellScratch {
    /// Keeps `limit` bytes of cells in memory, and writes the others to files in a directory.
    pub fn new(directory: impl Into<PathBuf>, limit: u64) -> CellScratch {
        CellScratch { directory: directory.into(), limit, kept: AtomicU64::new(0), written: Mutex::new(None) }
    }

    /// Counts what is in memory from nothing: cells that were kept are stored once more.
    pub(super) fn count_again(&self) {
        self.kept.store(0, Ordering::Relaxed);
    }

    /// The cells, in memory where there is room.
    pub(crate) fn store(&self, cells: Cells) -> Result<Cells> {
        let bytes = cells.bytes() as u64;
        if self.kept.fetch_add(bytes, Ordering::Relaxed) + bytes <= self.limit {
            return Ok(cells);
        }
        self.kept.fetch_sub(bytes, Ordering::Relaxed);
        Ok(match cells {
            Cells::I8(values) => Cells::I8(self.write(values)?),
            Cells::I16(values) => Cells::I16(self.write(values)?),
            Cells::I32(values) => Cells::I32(self.write(values)?),
            Cells::F64(values) => Cells::F64(self.write(values)?),
            Cells::Text(values) => Cells::Text(self.write(values)?),
        })
    }

    fn write<T: PlainValue>(&self, values: CellValues<T>) -> Result<CellValues<T>> {
        let size = size_of_val(&*values);
        if size == 0 || values.is_in_scratch() {
            return Ok(values);
        }
        // SAFETY: the values are plain numbers without padding, so that all their bytes are initialised.
        let bytes = unsafe { std::slice::from_raw_parts(values.as_ptr().cast::<u8>(), size) };
        let mut state = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let room = state.as_ref().is_some_and(|(file, at)| at + size as u64 <= file.size());
        if !room {
            *state = Some((Arc::new(ScratchFile::create(&self.directory, SEGMENT.max(size as u64))?), 0));
        }
        let Some((file, at)) = state.as_mut() else { return Ok(values) };
        let start = *at;
        file.write(start, bytes, &self.directory)?;
        *at = (start + size as u64).next_multiple_of(ALIGNED);
        Ok(CellValues::in_scratch(ScratchSlice::new(file.clone(), start as usize, values.len())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use std::path::Path;

    /// Whatever is in memory and whatever is not, cells are the same, and no file has a name.
    #[test]
    fn cells_come_back_as_they_were() {
        let directory = std::env::temp_dir();
        let before = names(&directory);
        let scratch = CellScratch::new(&directory, 64);
        let kinds = || {
            [
                Cells::I8(vec![1, -127, i8::MIN].into()),
                Cells::I16(vec![200, i16::MIN, -32767].into()),
                Cells::I32(vec![-40000, 1, i32::MAX].into()),
                Cells::F64(vec![2.5, -0.0, f64::MAX, f64::MIN_POSITIVE].into()),
                Cells::Text(vec![0, 7, super::super::MISSING_TEXT].into()),
                Cells::F64(Vec::new().into()),
            ]
        };
        for _ in 0..20 {
            for cells in kinds() {
                assert_eq!(scratch.store(cells.clone()).unwrap(), cells);
            }
        }
        let stored = scratch.store(Cells::F64(vec![1.5; 100].into())).unwrap();
        assert!(stored.is_in_scratch());
        let again = stored.clone();
        drop((stored, scratch));
        assert_eq!(again, Cells::F64(vec![1.5; 100].into()));
        assert_eq!(names(&directory), before);
    }

    fn names(directory: &Path) -> usize {
        let own = format!(".linsep-scratch-{}-", std::process::id());
        let entries = std::fs::read_dir(directory).unwrap().flatten();
        entries.filter(|e| e.file_name().to_string_lossy().starts_with(&own)).count()
    }

    #[test]
    fn a_directory_that_is_not_there_is_an_error() {
        let scratch = CellScratch::new("/no/such/directory", 0);
        let error = scratch.store(Cells::F64(vec![1.0].into())).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io);
        assert!(error.message().contains("cannot be written"));
    }
}
