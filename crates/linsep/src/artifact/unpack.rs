//! The text of a model file from its bytes, within bounds: a few hundred kilobytes must not fill the memory.

use crate::error::{Error, Place, Result};
use crate::numeric::has_room;
#[cfg(feature = "compression")]
use crate::read::most_unpacked;
use std::borrow::Cow;
#[cfg(feature = "compression")]
use std::io::Read;

/// Memory of a model that is small on disk: 2 GB; the text of a model of a million columns takes a tenth of it.
const MOST_SMALL: u64 = 2 << 30;
/// Memory for each byte of the file beyond that, as `read::source` allows compressed bytes: numbers of a few characters
/// become values of 32 bytes, and zeros are compressed to almost nothing.
const MOST_PER_BYTE: u64 = 1100;
/// What an object takes while it is parsed: a leaf of a tree with room for eleven names and values.
const OBJECT: u64 = 640;
/// What a value takes while it is parsed: `serde_json::Value` has 32 bytes.
const VALUE: u64 = 32;

/// The text of a model file, decompressed where it begins as a zstandard file does.
///
/// # Errors
/// Damaged compressed data, and bytes that take far more memory than a model of their size.
pub(super) fn unpack<'a>(bytes: &'a [u8], name: &str) -> Result<Cow<'a, [u8]>> {
    let stored = bytes.len() as u64;
    let text = match bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        true => Cow::Owned(decompress(bytes, name)?),
        false => Cow::Borrowed(bytes),
    };
    let needed = memory(&text);
    if needed > stored.saturating_mul(MOST_PER_BYTE).max(MOST_SMALL) {
        return Err(oversized(name));
    }
    if !usize::try_from(needed).is_ok_and(has_room) {
        return Err(Error::model("there is not enough memory to read this model file").at(Place::file(name)));
    }
    Ok(text)
}

#[cfg(not(feature = "compression"))]
fn decompress(_: &[u8], name: &str) -> Result<Vec<u8>> {
    Err(crate::read::absent("zstandard files", name).help("decompress it first"))
}

#[cfg(feature = "compression")]
fn decompress(bytes: &[u8], name: &str) -> Result<Vec<u8>> {
    let broken = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::OutOfMemory => {
            Error::model("there is not enough memory to read this model file").at(Place::file(name))
        }
        _ => Error::model(format!("this is not a complete model file: {e}"))
            .at(Place::file(name))
            .help("it may be truncated; fit the model again or restore the file"),
    };
    let most = most_unpacked(bytes.len() as u64);
    let mut text = Vec::new();
    let decoder = zstd::stream::read::Decoder::new(bytes).map_err(broken)?;
    decoder.take(most + 1).read_to_end(&mut text).map_err(broken)?;
    if text.len() as u64 > most { Err(oversized(name)) } else { Ok(text) }
}

/// About what the parsed text takes, counted too high where signs stand in strings.
fn memory(text: &[u8]) -> u64 {
    let (mut objects, mut values) = (0, 0);
    for byte in text {
        objects += u64::from(*byte == b'{');
        values += u64::from(*byte == b',' || *byte == b'[');
    }
    text.len() as u64 + OBJECT * objects + VALUE * values
}

fn oversized(name: &str) -> Error {
    Error::model("this is not a model file: it takes far more memory than a model of its size")
        .at(Place::file(name))
        .help("fit the model again or restore the file")
}

#[cfg(all(test, feature = "compression"))]
mod tests {
    use super::*;

    #[test]
    fn zeros_without_end_are_refused_before_they_are_made() {
        let bomb = zstd::encode_all(std::io::repeat(b'0').take(1 << 30), 1).expect("it can be compressed");
        let error = unpack(&bomb, "model.json.zst").expect_err("a bomb");
        assert!(error.message().contains("far more memory"), "{error}");
    }

    #[test]
    fn objects_count_for_what_they_take() {
        let many = format!("[{}{{}}]", "{\"\":0},".repeat(6_000_000));
        let packed = zstd::encode_all(many.as_bytes(), 1).expect("it can be compressed");
        assert!(many.len() < 64 << 20 && packed.len() < 1 << 20);
        assert!(unpack(&packed, "model.json.zst").is_err());
    }

    #[test]
    fn a_wide_model_of_zeros_is_read() {
        let zeros = format!("[{}0.0]", "0.0,".repeat(10_000_000));
        let packed = zstd::encode_all(zeros.as_bytes(), 3).expect("it can be compressed");
        assert_eq!(unpack(&packed, "model.json.zst").expect("a model").len(), zeros.len());
    }
}
