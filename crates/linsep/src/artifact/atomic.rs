//! Files that are there in full or not at all.

use crate::error::{Error, ErrorKind, Place, Result};
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes gathered before they are written. Chosen, out of reach of bench/constants.md: only the time depends on it.
const BUFFER: usize = 1 << 20;
/// Links that are followed one after the other, as many as Linux follows.
const MOST_LINKS: usize = 40;
/// Characters of the file's name in that of its temporary, at most 240 of the 255 bytes that file systems allow.
const NAME_KEPT: usize = 60;

/// The writes of this process.
static WRITES: Mutex<Writes> = Mutex::new(Writes { under_way: Vec::new(), begun: 0, finished: 0 });

struct Writes {
    /// Temporary files that are there now.
    under_way: Vec<PathBuf>,
    begun: u64,
    finished: u64,
}

fn writes() -> MutexGuard<'static, Writes> {
    WRITES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// That no file of this process begins or ends any more. See [`abandon_writes`].
#[must_use = "writes go on once it is dropped"]
pub struct Abandoned {
    writes: MutexGuard<'static, Writes>,
}

impl Abandoned {
    /// Files that were finished before.
    pub fn finished(&self) -> u64 {
        self.writes.finished
    }
}

/// Removes the temporary file of every [`write_atomic`] under way, for a process that is about to end: until what is
/// returned is dropped no other write begins, and none ends by taking its name. Those that were under way fail.
pub fn abandon_writes() -> Abandoned {
    let mut writes = writes();
    for part in writes.under_way.drain(..) {
        // There is nobody left to tell.
        let _ = std::fs::remove_file(part);
    }
    Abandoned { writes }
}

/// Writes to a temporary name beside `path` and renames: a killed run leaves no half file, a failed one leaves nothing,
/// and what was there before stays until then.
///
/// A link keeps pointing where it did: the file behind it is written, also where there is none yet. A file that is
/// replaced keeps its mode and, where the system allows it, its owner. What is no ordinary file (a pipe, `/dev/null`) is
/// written as it stands: renaming would replace it.
pub fn write_atomic(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let failed = |e: &io::Error| failure(path, e);
    let target = behind_links(path).map_err(|e| failed(&e))?;
    let name = target.file_name().ok_or_else(|| {
        Error::usage(format!("`{}` does not name a file", path.display())).help("give the name of a file to write")
    })?;
    let before = std::fs::metadata(&target).ok();
    match &before {
        Some(about) if about.is_dir() => return Err(is_directory(path)),
        Some(about) if !about.is_file() => {
            let in_place = || {
                let mut out = BufWriter::with_capacity(BUFFER, OpenOptions::new().write(true).open(&target)?);
                write(&mut out)?;
                out.flush()
            };
            return in_place().map_err(|e| failed(&e));
        }
        _ => {}
    }
    let begun = PartFile::begin(&target, &name.to_string_lossy(), before.as_ref());
    let done = begun.and_then(|(part, file)| {
        let mut out = BufWriter::with_capacity(BUFFER, file);
        write(&mut out)?;
        out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        part.finish(&target)
    });
    done.map_err(|e| failed(&e))
}

/// A temporary file, removed unless it is finished.
struct PartFile {
    path: PathBuf,
}

impl PartFile {
    /// Creates it beside the target with the mode that the target has.
    fn begin(target: &Path, name: &str, before: Option<&Metadata>) -> io::Result<(PartFile, File)> {
        let mut writes = writes();
        writes.begun += 1;
        let short: String = name.chars().take(NAME_KEPT).collect();
        let path = target.with_file_name(format!(".{short}.{}-{}.part", std::process::id(), writes.begun));
        let mut options = OpenOptions::new();
        // Whatever has this name by chance, or by intent, is not ours.
        options.write(true).create_new(true);
        #[cfg(unix)]
        if before.is_some() {
            // Nobody may look in before the mode is that of the file to be replaced.
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        let file = options.open(&path)?;
        writes.under_way.push(path.clone());
        drop(writes);
        let part = PartFile { path };
        if let Some(before) = before {
            keep_mode(&file, before)?;
        }
        Ok((part, file))
    }

    /// Gives it the name of the target, unless all writes have been abandoned.
    fn finish(self, target: &Path) -> io::Result<()> {
        let mut writes = writes();
        let at = writes.under_way.iter().position(|p| *p == self.path);
        let at = at.ok_or_else(|| io::Error::other("writing was given up"))?;
        std::fs::rename(&self.path, target)?;
        writes.under_way.swap_remove(at);
        writes.finished += 1;
        Ok(())
    }
}

impl Drop for PartFile {
    fn drop(&mut self) {
        let mut writes = writes();
        if let Some(at) = writes.under_way.iter().position(|p| *p == self.path) {
            writes.under_way.swap_remove(at);
            // It may be gone by now; there is nothing more to do about it either way.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Gives a file the owner and the mode of the one it will replace. A group that cannot be kept gets what all others have:
/// the rights of the old group are not those of the new one.
#[cfg(unix)]
fn keep_mode(file: &File, before: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let now = file.metadata()?;
    let mut mode = before.mode() & 0o7777;
    if now.uid() != before.uid() {
        // Only root may give files away.
        let _ = fchown(file, Some(before.uid()), None);
    }
    if now.gid() != before.gid() && fchown(file, None, Some(before.gid())).is_err() {
        mode = (mode & 0o707) | (mode & 0o007) << 3;
    }
    file.set_permissions(std::fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn keep_mode(file: &File, before: &Metadata) -> io::Result<()> {
    file.set_permissions(before.permissions())
}

/// The file that [`write_atomic`] writes for a path: links are followed, and it need not be there.
///
/// # Errors
/// Links that lead in a circle.
pub fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut at = path.to_owned();
    for _ in 0..MOST_LINKS {
        match std::fs::read_link(&at) {
            Ok(to) => at = at.parent().unwrap_or(Path::new("")).join(to),
            // Not a link, or nothing.
            Err(_) => return Ok(at),
        }
    }
    Err(io::Error::other("its links lead in a circle"))
}

fn is_directory(path: &Path) -> Error {
    Error::new(ErrorKind::Io, "this is a directory")
        .at(Place::file(path.display().to_string()))
        .help("give the name of a file to write")
}

fn failure(path: &Path, e: &io::Error) -> Error {
    match e.kind() {
        io::ErrorKind::NotFound => Error::new(ErrorKind::NotFound, "there is no such directory to write to")
            .because(e)
            .at(Place::file(path.display().to_string()))
            .help("make it first; where the name is a link, the directory that it points into"),
        io::ErrorKind::IsADirectory => is_directory(path),
        _ => Error::io(path.display().to_string(), e),
    }
}
