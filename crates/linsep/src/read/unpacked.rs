//! Compressed bytes, decompressed within bounds.

use crate::error::Error;
use std::io::{self, Read};

/// Bytes that a compressed byte may become: gzip reaches 1,032 at most.
const MOST_PER_BYTE: u64 = 1100;
/// Bytes that any compressed input may become: 256 MB.
const MOST_SMALL: u64 = 256 << 20;

/// Bytes that compressed bytes may become: 256 MB, or 1,100 times their number. Gzip reaches 1,032 times at most, and
/// tables of real life with zstandard less; a few hundred kilobytes that become gigabytes are an accident or an attack.
pub(crate) fn most_unpacked(stored: u64) -> u64 {
    stored.saturating_mul(MOST_PER_BYTE).max(MOST_SMALL)
}

/// A decompressor whose failures are marked as damage of the data, and which stops where there is too much of it.
pub(super) struct Unpacked<R> {
    decoder: R,
    /// Bytes that may still come.
    left: u64,
}

impl<R: Read> Unpacked<R> {
    /// What `stored` bytes become.
    pub(super) fn new(decoder: R, stored: u64) -> Unpacked<R> {
        Unpacked { decoder, left: most_unpacked(stored) }
    }
}

/// See [`Unpacked`].
#[derive(Debug, thiserror::Error)]
#[error("the compressed data is damaged: {0}")]
struct Damaged(io::Error);

/// See [`most_unpacked`].
#[derive(Debug, thiserror::Error)]
#[error("the compressed file becomes more than a thousand times as large, too much for a table")]
struct Oversized;

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.decoder.read(into).map_err(|e| match e.kind() {
            io::ErrorKind::Interrupted => e,
            kind => io::Error::new(kind, Damaged(e)),
        })?;
        self.left = self.left.checked_sub(n as u64).ok_or_else(|| io::Error::other(Oversized))?;
        Ok(n)
    }
}

/// What a failure says of the compressed data, where it is about that.
pub(super) fn failed(e: &io::Error) -> Option<Error> {
    let inner = e.get_ref()?;
    if inner.is::<Damaged>() {
        return Some(Error::format(e.to_string()).help("the file is damaged or cut short; make it again"));
    }
    inner
        .is::<Oversized>()
        .then(|| Error::format(e.to_string()).help("if it is meant to be so large, decompress it first"))
}
