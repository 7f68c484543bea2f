//! Files that are there in full or not at all.

use crate::error::{Error, Result};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Writes to a temporary name beside `path` and renames: a killed run leaves no half file, a failed one leaves nothing.
pub fn write_atomic(path: &Path, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<()> {
    let io = |e: &std::io::Error| Error::io(path.display().to_string(), e);
    let name = path.file_name().ok_or_else(|| {
        Error::usage(format!("`{}` does not name a file", path.display())).help("give the name of a file to write")
    })?;
    let mut temporary: PathBuf = path.to_owned();
    temporary.set_file_name(format!(".{}.{}.part", name.to_string_lossy(), std::process::id()));
    let result = (|| {
        let file = std::fs::File::create(&temporary)?;
        let mut buffered = std::io::BufWriter::with_capacity(1 << 20, file);
        write(&mut buffered)?;
        buffered.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()?;
        std::fs::rename(&temporary, path)
    })();
    if let Err(error) = result {
        // The temporary may never have been created; there is nothing more to do about it either way.
        let _ = std::fs::remove_file(&temporary);
        return Err(io(&error));
    }
    Ok(())
}
