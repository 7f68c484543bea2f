//! Files that are there in full or not at all.

use crate::error::{Error, Result};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Writes to a temporary name beside `path` and renames: a killed run leaves no half file, a failed one leaves nothing.
///
/// A link keeps pointing where it did, and what is no ordinary file (a pipe, `/dev/null`) is written as it stands:
/// renaming would replace it.
pub fn write_atomic(path: &Path, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<()> {
    let io = |e: &std::io::Error| Error::io(path.display().to_string(), e);
    let name = path.file_name().ok_or_else(|| {
        Error::usage(format!("`{}` does not name a file", path.display())).help("give the name of a file to write")
    })?;
    let there = std::fs::metadata(path).ok();
    if there.as_ref().is_some_and(|about| !about.is_file() && !about.is_dir()) {
        return std::fs::OpenOptions::new().write(true).open(path).and_then(|mut f| write(&mut f)).map_err(|e| io(&e));
    }
    let target = if there.is_some() { path.canonicalize().map_err(|e| io(&e))? } else { path.to_owned() };
    let mut temporary: PathBuf = target.clone();
    temporary.set_file_name(format!(".{}.{}.part", name.to_string_lossy(), std::process::id()));
    let result = (|| {
        let file = std::fs::File::create(&temporary)?;
        let mut buffered = std::io::BufWriter::with_capacity(1 << 20, file);
        write(&mut buffered)?;
        buffered.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()?;
        std::fs::rename(&temporary, &target)
    })();
    if let Err(error) = result {
        // The temporary may never have been created; there is nothing more to do about it either way.
        let _ = std::fs::remove_file(&temporary);
        return Err(io(&error));
    }
    Ok(())
}
