//! A file of cells, written once and mapped.

use crate::error::{Error, ErrorKind, Place, Result};
use crate::words::{Setting, words};
use memmap2::{Mmap, MmapOptions};
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::marker::PhantomData;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Numbers the files of a process.
static FILES: AtomicU64 = AtomicU64::new(0);

/// What went wrong with the disk.
fn failed(directory: &Path, error: &std::io::Error) -> Error {
    let what = format!("cells that do not fit into memory cannot be written: {error}");
    Error::new(ErrorKind::Io, what)
        .at(Place::file(directory.display().to_string()))
        .help(words!["name a directory with room: ", Setting::Scratch.is("DIR")])
        .help(words!["allow more memory with ", Setting::Memory])
}

/// A file of cells.
#[derive(Debug)]
pub(super) struct ScratchFile {
    handle: File,
    size: u64,
    map: OnceLock<Option<Mmap>>,
    /// To be removed at the end, where an open file keeps its name.
    path: Option<PathBuf>,
}

impl ScratchFile {
    pub(super) fn create(directory: &Path, size: u64) -> Result<ScratchFile> {
        let number = FILES.fetch_add(1, Ordering::Relaxed);
        let path = directory.join(format!(".linsep-scratch-{}-{number}", std::process::id()));
        let open = OpenOptions::new().read(true).write(true).create_new(true).open(&path);
        let handle = open.map_err(|e| failed(directory, &e))?;
        let removed = if cfg!(unix) { std::fs::remove_file(&path).is_ok() } else { false };
        let file = ScratchFile { handle, size, map: OnceLock::new(), path: (!removed).then_some(path) };
        file.handle.set_len(size).map_err(|e| failed(directory, &e))?;
        Ok(file)
    }

    /// Bytes that it has room for.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// Writes bytes that have not been lent yet; one writer at a time.
    pub(super) fn write(&self, start: u64, bytes: &[u8], directory: &Path) -> Result<()> {
        let mut handle = &self.handle;
        let written = handle.seek(SeekFrom::Start(start)).and_then(|_| handle.write_all(bytes));
        written.map_err(|e| failed(directory, &e))
    }

    /// All bytes of the file; none where the system refuses to map it.
    fn bytes(&self) -> &[u8] {
        let map = || {
            // SAFETY: the file has no name that anybody else could open it by, or one that is ours alone; it is never
            // shortened, and no part that has been lent is written again.
            unsafe { MmapOptions::new().len(self.size as usize).map(&self.handle) }.ok()
        };
        self.map.get_or_init(map).as_deref().unwrap_or(&[])
    }
}

impl Drop for ScratchFile {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // Nobody is left to be told.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Some values of a scratch file.
pub(super) struct ScratchSlice<T> {
    file: Arc<ScratchFile>,
    start: usize,
    len: usize,
    of: PhantomData<T>,
}

impl<T> ScratchSlice<T> {
    /// So many plain numbers that were written at this place, a multiple of eight bytes.
    pub(super) fn new(file: Arc<ScratchFile>, start: usize, len: usize) -> ScratchSlice<T> {
        ScratchSlice { file, start, len, of: PhantomData }
    }
}

impl<T> Clone for ScratchSlice<T> {
    fn clone(&self) -> ScratchSlice<T> {
        ScratchSlice { file: self.file.clone(), start: self.start, len: self.len, of: PhantomData }
    }
}

impl<T> Deref for ScratchSlice<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        let bytes = &self.file.bytes()[self.start..self.start + self.len * size_of::<T>()];
        // SAFETY: only slices of plain numbers are written (`Scratch::write`), at multiples of eight bytes of a mapping that
        // begins at a page, and these bytes are never written again.
        unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast::<T>(), self.len) }
    }
}
