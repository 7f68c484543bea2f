//! Inputs cut into pieces at record ends, and parsed in parallel.
//!
//! Every worker takes the next piece under a lock (reading and decompressing happen there, in order), then parses it
//! while others read on. So there are never more raw pieces than workers, without a queue. Where pieces end depends on
//! the bytes alone.

use super::source::{Input, halted, no_room};
use crate::error::{Error, Place, Result};
use crate::numeric::has_room;
use crate::watch::{Progress, Watch};
use crate::words::{Setting, Words, words};
use memchr::{memchr_iter, memrchr, memrchr2};
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Size of a piece: large enough that a few hundred columns get long runs, small enough for a second-level cache. Half
/// and twice the size are no faster (lowered from 2 MB in 724baa2; the table was not recorded).
pub(super) const PIECE: usize = 1 << 20;

/// Bytes that there must be room for, for each byte of a piece: a cell of one byte and its delimiter become a double or
/// a code, a row its line, and lists that grow have been copied. An estimate that refuses what could not fit.
const ROOM: usize = 24;

/// Zero bytes after a piece, so that a parser may load eight bytes from any position of it.
pub(super) const PADDING: usize = 8;
/// Pieces that the longest record may span: 256 MB of the usual size.
const PIECES: usize = 256;
/// The longest record where pieces are short, as in tests.
const LEAST: usize = 1 << 16;

/// Where the records of an input begin.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Start {
    /// Decompressed bytes before the first record.
    pub skip: u64,
    /// Lines before the first record.
    pub lines: u64,
}

/// Takes the inputs apart, one piece after the other.
pub(super) struct Feed<'a> {
    inputs: &'a [Input<'a>],
    starts: &'a [Start],
    /// Whether line breaks between quotes belong to a record.
    quotes: bool,
    piece: usize,
    file: usize,
    index: usize,
    reader: Option<Box<dyn Read + Send + 'a>>,
    /// The beginning of a record whose end was not in the last piece.
    carry: Vec<u8>,
    counter: Arc<AtomicU64>,
    total: u64,
}

impl<'a> Feed<'a> {
    pub(super) fn new(inputs: &'a [Input<'a>], starts: &'a [Start], quotes: bool, piece: usize) -> Feed<'a> {
        let total = inputs.iter().map(Input::size).sum();
        let counter = Arc::default();
        Feed { inputs, starts, quotes, piece, file: 0, index: 0, reader: None, carry: Vec::new(), counter, total }
    }

    /// Fills `bytes` with whole records, the last one ending in a line feed, and [`PADDING`]; the file and the number
    /// of the piece, or `None` after the last one.
    fn next(&mut self, bytes: &mut Vec<u8>) -> Result<Option<(usize, usize)>> {
        while let Some(input) = self.inputs.get(self.file) {
            if self.reader.is_none() {
                let mut reader = input.open(&self.counter)?;
                let skip = self.starts[self.file].skip;
                io::copy(&mut reader.by_ref().take(skip), &mut io::sink()).map_err(|e| input.failed(&e))?;
                self.reader = Some(reader);
            }
            bytes.clear();
            bytes.append(&mut self.carry);
            let file = self.file;
            if self.fill(input, bytes)? {
                self.reader = None;
                self.file += 1;
            }
            if !bytes.is_empty() {
                bytes.resize(bytes.len() + PADDING, 0);
                self.index += 1;
                return Ok(Some((file, self.index - 1)));
            }
        }
        Ok(None)
    }

    /// Reads on until `bytes` holds at least one record end or the input is at its end (true).
    fn fill(&mut self, input: &Input<'_>, bytes: &mut Vec<u8>) -> Result<bool> {
        let Some(reader) = &mut self.reader else { return Ok(true) };
        let mut goal = self.piece;
        loop {
            let missing = goal.saturating_sub(bytes.len());
            bytes.try_reserve_exact(missing + PADDING + 1).map_err(|_| no_room(input))?;
            reader.by_ref().take(missing as u64).read_to_end(bytes).map_err(|e| input.failed(&e))?;
            let at_end = bytes.len() < goal;
            if !at_end && let Some(end) = last_record_end(bytes, self.quotes) {
                self.carry.extend_from_slice(&bytes[end..]);
                bytes.truncate(end);
                return Ok(false);
            }
            // A quote left open would otherwise bring the rest of the file into memory; the parser finds where it opens.
            let too_long = !at_end && bytes.len() > longest_record(self.piece);
            if too_long && !(self.quotes && has_open_quote(bytes)) {
                return Err(record_too_long(input));
            }
            if at_end || too_long {
                if bytes.last().is_some_and(|b| *b != b'\n') {
                    bytes.push(b'\n');
                }
                return Ok(true);
            }
            goal = bytes.len() * 2;
        }
    }
}

/// The longest record that is read, in bytes: 256 MB for pieces of the usual size.
pub(super) fn longest_record(piece: usize) -> usize {
    piece.saturating_mul(PIECES).max(LEAST)
}

/// The error of a record beyond [`longest_record`].
pub(super) fn record_too_long(input: &Input<'_>) -> Error {
    Error::format("a single row is longer than 256 MB")
        .at(Place::file(&**input.name()))
        .help("check the format: rows end in a line feed")
}

fn has_open_quote(bytes: &[u8]) -> bool {
    memchr_iter(b'"', bytes).count() % 2 == 1
}

/// The position after the last line feed that ends a record, for bytes that begin with a record. A valid record has an
/// even number of quotes, and a line feed between quotes has an odd number before it.
fn last_record_end(bytes: &[u8], quotes: bool) -> Option<usize> {
    if !quotes {
        return memrchr(b'\n', bytes).map(|at| at + 1);
    }
    let mut open = has_open_quote(bytes);
    let mut end = bytes.len();
    loop {
        end = memrchr2(b'"', b'\n', &bytes[..end])?;
        match bytes[end] {
            b'"' => open = !open,
            _ if !open => return Some(end + 1),
            _ => {}
        }
    }
}

/// What is wrong within a piece; its place in the file is known only when all pieces before it have been counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Flaw {
    /// Zero-based line within the piece.
    pub line: u64,
    pub column: Option<String>,
    pub message: String,
    pub remedies: Vec<Words>,
}

impl Flaw {
    pub(super) fn new(line: u64, message: impl Into<String>, help: impl Into<Words>) -> Flaw {
        Flaw { line, column: None, message: message.into(), remedies: vec![help.into()] }
    }

    /// The same with one more remedy.
    pub(super) fn or(mut self, help: Words) -> Flaw {
        self.remedies.push(help);
        self
    }

    pub(super) fn column(mut self, name: &str) -> Flaw {
        self.column = Some(name.to_owned());
        self
    }

    pub(super) fn into_error(self, file: &str, first_line: u64) -> Error {
        let place = Place { column: self.column, ..Place::file(file).line(first_line + self.line) };
        let error = Error::format(self.message).at(place);
        self.remedies.into_iter().fold(error, Error::help)
    }
}

/// A parsed piece in its place.
#[derive(Debug)]
pub(super) struct Placed<T> {
    /// Which input.
    pub file: usize,
    /// 1-based line of the piece's first byte.
    pub first_line: u64,
    pub parsed: T,
}

/// One piece to parse.
pub(super) struct BytePiece<'a> {
    /// Which input.
    pub file: usize,
    /// The records, and [`PADDING`] after them.
    pub padded: &'a [u8],
}

impl<'a> BytePiece<'a> {
    /// The records.
    pub(super) fn records(&self) -> &'a [u8] {
        &self.padded[..self.padded.len() - PADDING]
    }
}

/// Parses all pieces in the current pool; `parse` also returns how many lines the piece has. The results are in the
/// order of the bytes, and so is the error that is returned.
pub(super) fn parse_pieces<T: Send>(
    feed: Feed<'_>,
    watch: &Watch,
    parse: impl Fn(BytePiece<'_>) -> std::result::Result<(T, u64), Flaw> + Sync,
) -> Result<Vec<Placed<T>>> {
    let inputs = feed.inputs;
    let pieces = parse_until(feed, watch, |piece| match parse(piece) {
        Ok((parsed, lines)) => Parsed { value: Ok(parsed), lines, last: false },
        Err(flaw) => Parsed { value: Err(flaw), lines: 0, last: true },
    })?;
    let placed = pieces.into_iter().map(|piece| {
        let Placed { file, first_line, parsed } = piece;
        match parsed {
            Ok(parsed) => Ok(Placed { file, first_line, parsed }),
            Err(flaw) => Err(flaw.into_error(inputs[file].name(), first_line)),
        }
    });
    placed.collect()
}

/// What became of a piece.
pub(super) struct Parsed<T> {
    pub value: T,
    /// Its number of lines.
    pub lines: u64,
    /// Nothing after this piece matters.
    pub last: bool,
}

/// Parses the pieces in the current pool, up to and with the first one that says it is the last. The results are in the
/// order of the bytes and do not depend on which worker was first.
pub(super) fn parse_until<T: Send>(
    feed: Feed<'_>,
    watch: &Watch,
    parse: impl Fn(BytePiece<'_>) -> Parsed<T> + Sync,
) -> Result<Vec<Placed<T>>> {
    let (inputs, starts, total) = (feed.inputs, feed.starts, feed.total);
    let counter = Arc::clone(&feed.counter);
    let feed = Mutex::new(feed);
    let done: Mutex<Vec<(usize, usize, Parsed<T>)>> = Mutex::new(Vec::new());
    let failed: Mutex<Option<Error>> = Mutex::new(None);
    let stop = AtomicBool::new(false);

    let work = || {
        let mut bytes = Vec::new();
        while !stop.load(Ordering::Relaxed) {
            let taken = halted(watch).and_then(|()| lock(&feed).next(&mut bytes));
            let (file, index) = match taken {
                Ok(Some(next)) => next,
                Ok(None) => return,
                Err(error) => {
                    stop.store(true, Ordering::Relaxed);
                    lock(&failed).get_or_insert(error);
                    return;
                }
            };
            if !has_room(ROOM * bytes.len()) {
                stop.store(true, Ordering::Relaxed);
                lock(&failed).get_or_insert(no_room(&inputs[file]));
                return;
            }
            let result = parse(BytePiece { file, padded: &bytes });
            if result.last {
                stop.store(true, Ordering::Relaxed);
            }
            lock(&done).push((index, file, result));
            watch.report(Progress::Bytes { done: counter.load(Ordering::Relaxed), total: Some(total) });
        }
    };
    rayon::scope(|scope| (0..rayon::current_num_threads()).for_each(|_| scope.spawn(|_| work())));

    halted(watch)?;
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_unstable_by_key(|(index, ..)| *index);
    let mut placed = Vec::with_capacity(done.len());
    let (mut current, mut line) = (usize::MAX, 0);
    for (_, file, Parsed { value, lines, last }) in done {
        if file != current {
            (current, line) = (file, starts[file].lines + 1);
        }
        placed.push(Placed { file, first_line: line, parsed: value });
        line += lines;
        // Pieces are taken in order, so a failure to read comes after it.
        if last {
            return Ok(placed);
        }
    }
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Ok(placed),
    }
}

/// A poisoned lock means that another worker panicked; the scope passes that panic on.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The flaw of bytes that are not UTF-8, at its line.
pub(super) fn check_utf8(records: &[u8]) -> std::result::Result<(), Flaw> {
    std::str::from_utf8(records).map(|_| ()).map_err(|e| {
        let line = memchr_iter(b'\n', &records[..e.valid_up_to()]).count() as u64;
        let byte = records[e.valid_up_to()];
        Flaw::new(
            line,
            format!("the text is not UTF-8: byte 0x{byte:02x}"),
            words!["name its encoding: ", Setting::Encoding.any(["windows-1252", "latin1"])],
        )
        .or(words!["convert it to UTF-8"])
    })
}
