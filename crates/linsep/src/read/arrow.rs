//! Arrow's interprocess format: files (also named Feather, version 2) and streams, their batches decoded in parallel.
//!
//! Both are a run of messages, each metadata and a body. A file ends in a footer that says where they are; a stream is
//! walked from its beginning.

use super::arrow_columns::ArrowKind;
use super::batches::{Chunks, chunks};
use super::csv::same_columns;
use super::feed::Placed;
use super::infer::{CellPlaces, InferOutcome, RawChunk, assemble};
use super::source::{Input, halted};
use super::style::CellStyle;
use super::{ARROW_MAGIC, ReadOptions, wanted};
use crate::error::{Error, Place, Result};
use crate::table::Table;
use crate::watch::{Progress, Watch};
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{FileDecoder, read_footer_length};
use arrow_ipc::{Block, MessageHeader, MetadataVersion, root_as_footer, root_as_message};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use bytes::Bytes;
use rayon::prelude::*;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::atomic::{AtomicU64, Ordering};

const KIND: ArrowKind = ArrowKind::Ipc;
/// Bytes at the end of a file: a length of four and the magic of six.
const TRAILER: u64 = 10;

/// Reads Arrow inputs with the same columns.
pub(super) fn read(inputs: &[Input<'_>], options: &ReadOptions, watch: &Watch) -> Result<Table> {
    let sources =
        inputs.iter().map(|input| KIND.guarded(input, || ArrowSource::open(input))).collect::<Result<Vec<_>>>()?;
    let names = sources[0].names();
    let mut wanted = wanted(&names, options, inputs[0].name())?;
    KIND.decide(&sources[0].schema, &mut wanted);
    let (done, total) = (AtomicU64::new(0), inputs.iter().map(Input::size).sum());
    let mut pieces = Vec::new();
    for (f, source) in sources.iter().enumerate() {
        let order = same_columns(&source.names(), &names, inputs, f)?;
        // Every message says its own version. The footer may say another one, as that of Arrow's C++ writer does for
        // older versions; the first version stands for not comparing them.
        let mut decoder = FileDecoder::new(source.schema.clone(), MetadataVersion::V1);
        let mut first = 1;
        for step in &source.steps {
            for block in &step.dictionaries {
                source.decode(block, |bytes| decoder.read_dictionary(block, &bytes.into()))?;
            }
            let batches = step
                .batches
                .par_iter()
                .map(|block| {
                    halted(watch)?;
                    let batch = source.decode(block, |bytes| decoder.read_record_batch(block, &bytes.into()))?;
                    let size = block.bodyLength().max(0) as u64;
                    let done = done.fetch_add(size, Ordering::Relaxed) + size;
                    watch.report(Progress::Bytes { done: done.min(total), total: Some(total) });
                    batch.map_or(Ok(Vec::new()), |batch| chunks(source.input, &source.schema, &batch, &order, &wanted))
                })
                .collect::<Vec<Chunks>>();
            for batch in batches {
                for chunk in batch.map_err(|faulty| faulty.after(first - 1))? {
                    let (n, places) = (chunk.n_rows as u64, CellPlaces::Numbered { first });
                    pieces.push(Placed { file: f, first_line: 1, parsed: RawChunk { places, ..chunk } });
                    first += n;
                }
            }
        }
    }
    if pieces.iter().all(|p| p.parsed.n_rows == 0) {
        return Err(Error::format("there is no row").at(Place::file(&**inputs[0].name())));
    }
    match assemble(inputs, &names, &wanted, pieces, 0, &CellStyle::default())? {
        InferOutcome::Table(table) => Ok(table),
        InferOutcome::ReadAgainAsText(_) => unreachable!("the schema decides the kinds"),
    }
}

/// Dictionaries, and the batches that use them; a stream may replace dictionaries on its way.
#[derive(Default)]
struct ArrowStep {
    dictionaries: Vec<Block>,
    batches: Vec<Block>,
}

/// An input with its schema and the places of its messages.
struct ArrowSource<'a> {
    input: &'a Input<'a>,
    bytes: ArrowStored,
    schema: SchemaRef,
    steps: Vec<ArrowStep>,
}

impl<'a> ArrowSource<'a> {
    fn open(input: &'a Input<'a>) -> Result<ArrowSource<'a>> {
        let damaged = |what: &str| KIND.damaged(input, what);
        let bytes = match input.is_plain_file()? {
            true => ArrowStored::File { size: input.size() },
            false => ArrowStored::Memory(Bytes::from(input.head(u64::MAX)?)),
        };
        let head = bytes.slice(input, 0, bytes.len().min(8))?;
        if head.starts_with(b"FEA1") {
            return Err(damaged("it is Feather version 1").help("write it as Feather version 2, or as Parquet"));
        }
        if head.is_empty() {
            return Err(Error::format("the file is empty").at(Place::file(&**input.name())));
        }
        let (schema, steps) = match head.starts_with(ARROW_MAGIC) {
            true => from_footer(input, &bytes)?,
            false => from_stream(input, &bytes)?,
        };
        KIND.check(&schema, input)?;
        Ok(ArrowSource { input, bytes, schema: schema.into(), steps })
    }

    fn names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|f| f.name().clone()).collect()
    }

    /// Reads a message and decodes it.
    fn decode<T>(&self, block: &Block, decode: impl FnOnce(Bytes) -> std::result::Result<T, ArrowError>) -> Result<T> {
        let damaged = |what: &str| KIND.damaged(self.input, what);
        KIND.guarded(self.input, || {
            let (Ok(offset), Ok(metadata), Ok(body)) = (
                u64::try_from(block.offset()),
                u64::try_from(block.metaDataLength()),
                u64::try_from(block.bodyLength()),
            ) else {
                return Err(damaged("a message has a negative length"));
            };
            let bytes = self.bytes.slice(self.input, offset, metadata.saturating_add(body))?;
            match can_unpack(&bytes, metadata as usize) {
                Some(true) => decode(bytes).map_err(|e| damaged(&e.to_string())),
                Some(false) => Err(damaged("it claims more bytes than there is memory")),
                None => Err(damaged("a message ends too early")),
            }
        })
    }
}

/// The bytes of an input: on disk, or in memory where they are compressed or came as a stream.
enum ArrowStored {
    File { size: u64 },
    Memory(Bytes),
}

impl ArrowStored {
    fn len(&self) -> u64 {
        match self {
            ArrowStored::File { size } => *size,
            ArrowStored::Memory(bytes) => bytes.len() as u64,
        }
    }

    /// Some of the bytes; asking beyond the end is an error, before any memory is taken.
    fn slice(&self, input: &Input<'_>, offset: u64, length: u64) -> Result<Bytes> {
        if offset.checked_add(length).is_none_or(|end| end > self.len()) {
            return Err(KIND.damaged(input, "it is cut short").help("make the file again"));
        }
        match self {
            ArrowStored::Memory(bytes) => Ok(bytes.slice(offset as usize..(offset + length) as usize)),
            ArrowStored::File { .. } => {
                let path = input.path().ok_or_else(|| KIND.damaged(input, "it has no path"))?;
                let mut part = Vec::new();
                let read = File::open(path).and_then(|mut file| {
                    file.seek(SeekFrom::Start(offset))?;
                    file.take(length).read_to_end(&mut part)
                });
                match read {
                    Ok(n) if n as u64 == length => Ok(Bytes::from(part)),
                    Ok(_) => Err(KIND.damaged(input, "it changed while it was read")),
                    Err(e) => Err(Error::io(&**input.name(), &e)),
                }
            }
        }
    }
}

/// Schema and messages as the footer of a file lists them.
fn from_footer(input: &Input<'_>, bytes: &ArrowStored) -> Result<(Schema, Vec<ArrowStep>)> {
    let damaged = |what: &str| KIND.damaged(input, what);
    let Some(end) = bytes.len().checked_sub(TRAILER) else { return Err(damaged("it is cut short")) };
    let mut trailer = [0; TRAILER as usize];
    trailer.copy_from_slice(&bytes.slice(input, end, TRAILER)?);
    let length = read_footer_length(trailer)
        .map_err(|_| damaged("its end is absent").help("the file is damaged or cut short; make it again"))?;
    let Some(start) = end.checked_sub(length as u64) else { return Err(damaged("it is cut short")) };
    let footer = bytes.slice(input, start, length as u64)?;
    let footer = root_as_footer(&footer).map_err(|e| damaged(&e.to_string()))?;
    let schema = schema_of(input, footer.schema())?;
    let step = ArrowStep {
        dictionaries: footer.dictionaries().iter().flatten().copied().collect(),
        batches: footer.recordBatches().iter().flatten().copied().collect(),
    };
    Ok((schema, vec![step]))
}

/// Schema and messages of a stream, which ends at its mark or where the bytes end.
fn from_stream(input: &Input<'_>, bytes: &ArrowStored) -> Result<(Schema, Vec<ArrowStep>)> {
    let damaged = |what: &str| KIND.damaged(input, what);
    let word =
        |at: u64| Ok::<u32, Error>(bytes.slice(input, at, 4)?.iter().rev().fold(0, |w, b| w << 8 | u32::from(*b)));
    let (mut at, mut found) = (0, None);
    let mut steps = vec![ArrowStep::default()];
    while at < bytes.len() {
        let marked = word(at)? == u32::MAX;
        let (prefix, length) = if marked { (8, word(at + 4)?) } else { (4, word(at)?) };
        if length == 0 {
            at += prefix;
            if at < bytes.len() {
                return Err(damaged("bytes follow the end of the stream"));
            }
            break;
        }
        let metadata = bytes.slice(input, at + prefix, u64::from(length))?;
        let message = root_as_message(&metadata).map_err(|e| damaged(&e.to_string()))?;
        let head = prefix + u64::from(length);
        let (Ok(head_length), Ok(body)) = (i32::try_from(head), u64::try_from(message.bodyLength())) else {
            return Err(damaged("a message has an impossible length"));
        };
        let block = Block::new(at as i64, head_length, message.bodyLength());
        match (message.header_type(), &found) {
            (MessageHeader::Schema, None) => {
                found = Some(schema_of(input, message.header_as_schema())?);
            }
            (MessageHeader::DictionaryBatch, Some(_)) => {
                if steps.last().is_none_or(|step| !step.batches.is_empty()) {
                    steps.push(ArrowStep::default());
                }
                steps.last_mut().into_iter().for_each(|step| step.dictionaries.push(block));
            }
            (MessageHeader::RecordBatch, Some(_)) => {
                steps.last_mut().into_iter().for_each(|step| step.batches.push(block));
            }
            (_, None) => return Err(damaged("it does not begin with a schema")),
            (other, Some(_)) => return Err(damaged(&format!("a message of type {other:?}"))),
        }
        let next = at.checked_add(head).and_then(|next| next.checked_add(body));
        at = next.filter(|next| *next <= bytes.len()).ok_or_else(|| damaged("it is cut short"))?;
    }
    let schema = found.ok_or_else(|| damaged("it has no schema"))?;
    Ok((schema, steps))
}

fn schema_of(input: &Input<'_>, schema: Option<arrow_ipc::Schema<'_>>) -> Result<Schema> {
    let schema = schema.ok_or_else(|| KIND.damaged(input, "it has no schema"))?;
    if !schema.endianness().equals_to_target_endianness() {
        return Err(KIND.damaged(input, "its bytes are in the order of another kind of machine"));
    }
    try_fb_to_schema(schema).map_err(|e| KIND.damaged(input, &e.to_string()))
}

/// Whether there is memory for the buffers of a message as large as they claim to be once decompressed; `None` for a
/// message that is cut short. The decoder takes the claims of a damaged file at their word, and running out of memory
/// ends the process.
fn can_unpack(bytes: &[u8], metadata: usize) -> Option<bool> {
    let prefix = if bytes.get(..4)? == [0xff; 4] { 8 } else { 4 };
    let message = root_as_message(bytes.get(prefix..metadata)?).ok()?;
    let dictionary = message.header_as_dictionary_batch().and_then(|d| d.data());
    let Some(batch) = message.header_as_record_batch().or(dictionary) else { return Some(true) };
    if batch.compression().is_none() {
        return Some(true);
    }
    let body = bytes.get(metadata..)?;
    for buffer in batch.buffers().into_iter().flatten() {
        let (Ok(start), true) = (usize::try_from(buffer.offset()), buffer.length() >= 8) else { continue };
        let claim = body.get(start..start.checked_add(8)?)?.try_into().map(i64::from_le_bytes).ok()?;
        // Minus one marks a buffer that is not compressed.
        if claim > 0 && Vec::<u8>::new().try_reserve_exact(usize::try_from(claim).ok()?).is_err() {
            return Some(false);
        }
    }
    Some(true)
}
