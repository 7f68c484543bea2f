//! Where bytes come from: a file that can be opened again, or memory; plain, gzip or zstd by their magic bytes.

use super::ReadOptions;
use super::encoded::{Decoded, TextEncoding, Uncommented};
#[cfg(feature = "compression")]
use super::unpacked;
use crate::error::{Error, ErrorKind, Place, Result};
use crate::watch::{Progress, Watch};
use crate::words::{Setting, words};
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// One input that can be read as often as needed.
#[derive(Debug)]
pub(super) struct Input<'a> {
    name: Arc<str>,
    bytes: ByteStore<'a>,
    text: OnceLock<TextForm>,
}

/// How text is written; bytes that are no text stay as they are.
#[derive(Debug, Clone, Copy)]
struct TextForm {
    encoding: TextEncoding,
    comment: Option<u8>,
}

#[derive(Debug)]
enum ByteStore<'a> {
    File { path: PathBuf, size: u64 },
    Memory(Cow<'a, [u8]>),
}

/// How an input is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Packing {
    Plain,
    Gzip,
    Zstd,
}

impl Packing {
    fn of(magic: &[u8]) -> Packing {
        match magic {
            [0x1f, 0x8b, ..] => Packing::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Packing::Zstd,
            _ => Packing::Plain,
        }
    }
}

impl<'a> Input<'a> {
    /// A file by path; `-` is standard input. Pipes and other files that cannot be read twice are read to memory.
    pub(super) fn from_path(path: &Path, watch: &Watch) -> Result<Input<'a>> {
        if path == Path::new("-") {
            return Input::spool(io::stdin().lock(), "-", watch);
        }
        let name = path.display().to_string();
        let file = File::open(path).map_err(|e| Error::io(name.as_str(), &e))?;
        let about = file.metadata().map_err(|e| Error::io(name.as_str(), &e))?;
        if about.is_dir() {
            return Err(Error::new(ErrorKind::Io, "this is a directory").at(Place::file(name)).help("name its files"));
        }
        if !about.is_file() {
            return Input::spool(file, &name, watch);
        }
        let bytes = ByteStore::File { path: path.to_owned(), size: about.len() };
        Ok(Input { name: name.into(), bytes, text: OnceLock::new() })
    }

    /// Bytes in memory.
    pub(super) fn from_bytes(bytes: &'a [u8], name: &str) -> Input<'a> {
        Input { name: name.into(), bytes: ByteStore::Memory(Cow::Borrowed(bytes)), text: OnceLock::new() }
    }

    /// A stream, read to its end.
    pub(super) fn spool(mut stream: impl Read, name: &str, watch: &Watch) -> Result<Input<'a>> {
        // Bytes read between two looks at the watch: results do not depend on it.
        const STEP: u64 = 1 << 20;
        let mut bytes = Vec::new();
        loop {
            halted(watch)?;
            let n = stream.by_ref().take(STEP).read_to_end(&mut bytes).map_err(|e| Error::io(name, &e))?;
            watch.report(Progress::Bytes { done: bytes.len() as u64, total: None });
            if n == 0 {
                let bytes = ByteStore::Memory(Cow::Owned(bytes));
                return Ok(Input { name: name.into(), bytes, text: OnceLock::new() });
            }
        }
    }

    /// The input as the user named it.
    pub(super) fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Decides how the text is written, as asked or by a byte order mark; the name of an encoding that was found.
    pub(super) fn set_text(&self, options: &ReadOptions) -> Result<Option<&'static str>> {
        let marked = TextEncoding::marked(&self.head(4)?);
        let encoding = options.encoding.or(marked).unwrap_or(TextEncoding::Utf8);
        if encoding != TextEncoding::Utf8 || options.comment.is_some() {
            let _ = self.text.set(TextForm { encoding, comment: options.comment });
        }
        Ok(marked.filter(|_| options.encoding.is_none()).map(|_| "UTF-16, by its byte order mark"))
    }

    /// Size as stored, compressed or not.
    pub(super) fn size(&self) -> u64 {
        match &self.bytes {
            ByteStore::File { size, .. } => *size,
            ByteStore::Memory(bytes) => bytes.len() as u64,
        }
    }

    /// The path, unless the input is in memory.
    #[cfg(any(feature = "arrow", feature = "parquet"))]
    pub(super) fn path(&self) -> Option<&Path> {
        match &self.bytes {
            ByteStore::File { path, .. } => Some(path),
            ByteStore::Memory(_) => None,
        }
    }

    /// Whether the input is a file that is not compressed, so that any part of it can be read alone.
    #[cfg(any(feature = "arrow", feature = "parquet"))]
    pub(super) fn is_plain_file(&self) -> Result<bool> {
        let Some(path) = self.path() else { return Ok(false) };
        let mut magic = Vec::with_capacity(4);
        let read = File::open(path).and_then(|file| file.take(4).read_to_end(&mut magic));
        read.map_err(|e| Error::io(&*self.name, &e))?;
        Ok(Packing::of(&magic) == Packing::Plain)
    }

    /// The extension in lower case, without that of a compression.
    pub(super) fn extension(&self) -> Option<String> {
        let lower = self.name.to_lowercase();
        let stem = [".gz", ".zst"].iter().find_map(|e| lower.strip_suffix(e)).unwrap_or(&lower);
        Path::new(stem).extension().map(|e| e.to_string_lossy().into_owned())
    }

    /// The bytes from the beginning, decompressed and as UTF-8; `counter` follows how many stored bytes have been taken.
    pub(super) fn open(&self, counter: &Arc<AtomicU64>) -> Result<Box<dyn Read + Send + '_>> {
        let bytes = self.open_bytes(counter)?;
        let Some(TextForm { encoding, comment }) = self.text.get() else { return Ok(bytes) };
        let text: Box<dyn Read + Send + '_> = match encoding {
            TextEncoding::Utf8 => bytes,
            other => Box::new(Decoded::new(bytes, *other)),
        };
        Ok(match comment {
            Some(sign) => Box::new(Uncommented::new(text, *sign)),
            None => text,
        })
    }

    fn open_bytes(&self, counter: &Arc<AtomicU64>) -> Result<Box<dyn Read + Send + '_>> {
        let mut raw: Box<dyn Read + Send + '_> = match &self.bytes {
            ByteStore::File { path, .. } => Box::new(File::open(path).map_err(|e| Error::io(&*self.name, &e))?),
            ByteStore::Memory(bytes) => Box::new(&bytes[..]),
        };
        let mut magic = Vec::with_capacity(4);
        raw.by_ref().take(4).read_to_end(&mut magic).map_err(|e| Error::io(&*self.name, &e))?;
        let packing = Packing::of(&magic);
        let counted = Counted { inner: Cursor::new(magic).chain(raw), counter: Arc::clone(counter) };
        Ok(match packing {
            Packing::Plain => Box::new(counted),
            #[cfg(not(feature = "compression"))]
            Packing::Gzip | Packing::Zstd => {
                return Err(super::absent("gzip and zstandard files", &self.name).help("decompress it first"));
            }
            #[cfg(feature = "compression")]
            Packing::Gzip => Box::new(self.unpacked(flate2::read::MultiGzDecoder::new(counted))),
            #[cfg(feature = "compression")]
            Packing::Zstd => {
                let decoder = zstd::stream::read::Decoder::new(counted).map_err(|e| Error::io(&*self.name, &e))?;
                Box::new(self.unpacked(decoder))
            }
        })
    }

    #[cfg(feature = "compression")]
    fn unpacked<R: Read>(&self, decoder: R) -> unpacked::Unpacked<R> {
        unpacked::Unpacked::new(decoder, self.size())
    }

    /// All bytes, decompressed, whatever encoding was asked for text.
    #[cfg(feature = "xlsx")]
    pub(super) fn raw(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.open_bytes(&Arc::default())?.read_to_end(&mut bytes).map_err(|e| self.failed(&e))?;
        Ok(bytes)
    }

    /// The first `n` bytes, decompressed.
    pub(super) fn head(&self, n: u64) -> Result<Vec<u8>> {
        let mut head = Vec::new();
        self.open(&Arc::default())?.take(n).read_to_end(&mut head).map_err(|e| self.failed(&e))?;
        Ok(head)
    }

    /// An error while reading: the system's fault, or damaged compressed data.
    pub(super) fn failed(&self, e: &io::Error) -> Error {
        #[cfg(feature = "compression")]
        if let Some(error) = unpacked::failed(e) {
            return error.at(Place::file(&*self.name));
        }
        if e.kind() == io::ErrorKind::InvalidData && self.text.get().is_some() {
            return Error::format(e.to_string())
                .at(Place::file(&*self.name))
                .help(words!["name the right encoding with ", Setting::Encoding]);
        }
        if e.kind() == io::ErrorKind::OutOfMemory {
            return no_room(self);
        }
        Error::io(&*self.name, e)
    }
}

/// The error of an input that does not fit in memory.
pub(super) fn no_room(input: &Input<'_>) -> Error {
    Error::new(ErrorKind::Io, "there is not enough memory for this table")
        .at(Place::file(&*input.name))
        .help("leave columns out of the file")
        .help("take a sample of its rows")
        .help("use a machine with more memory")
}

/// Fails if the watch says stop.
pub(super) fn halted(watch: &Watch) -> Result<()> {
    match watch.halted() {
        None => Ok(()),
        Some(_) => Err(Error::new(ErrorKind::Interrupted, "reading was interrupted")),
    }
}

/// Counts the bytes that pass.
struct Counted<R> {
    inner: R,
    counter: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(into)?;
        self.counter.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}
