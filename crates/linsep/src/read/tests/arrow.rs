//! Arrow files and streams: every type, every packing, and the same cells as other formats give.

use super::damage::{batch, parquet, sample};
use super::random::{Drawn, table, write};
use super::{ReadOptions, contents, read_bytes, read_files, read_stream, read_with};
use crate::error::ErrorKind;
use crate::table::{Kind, Table};
use crate::watch::Watch;
use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float16Array, Float64Array, Int8Array, Int64Array, LargeStringArray,
    NullArray, RecordBatch, StringArray, UInt64Array,
};
use arrow_ipc::reader::read_footer_length;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_ipc::{CompressionType, MetadataVersion, root_as_footer};
use proptest::prelude::*;
use std::io::Write;
use std::sync::Arc;

/// The batches as an Arrow file.
pub(super) fn file(batches: &[RecordBatch], compression: Option<CompressionType>) -> Vec<u8> {
    let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
    let mut writer = FileWriter::try_new_with_options(Vec::new(), &batches[0].schema(), options).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.into_inner().unwrap()
}

/// The batches as an Arrow stream.
pub(super) fn stream(batches: &[RecordBatch]) -> Vec<u8> {
    let mut writer = StreamWriter::try_new(Vec::new(), &batches[0].schema()).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.into_inner().unwrap()
}

fn read(bytes: &[u8], name: &str) -> Table {
    read_bytes(bytes, name, &ReadOptions::default()).unwrap()
}

#[test]
fn every_packing_gives_the_same_table() {
    let expected = contents(&read(&parquet(&sample()), "t.parquet"));
    let plain = file(&[sample()], None);
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(&plain).unwrap();
    let folder = std::env::temp_dir().join(format!("linsep-arrow-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let all = [
        ("t.arrow", file(&[sample()], Some(CompressionType::LZ4_FRAME))),
        ("t.feather", file(&[sample()], Some(CompressionType::ZSTD))),
        ("t.arrows", stream(&[sample()])),
        ("t.arrow.gz", gz.finish().unwrap()),
        ("t.ipc", plain),
    ];
    for (name, bytes) in all {
        assert_eq!(contents(&read(&bytes, name)), expected, "{name}");
        // Without a name the content tells.
        let piped = read_stream(&bytes[..], "-", &ReadOptions::default(), &Watch::default()).unwrap();
        assert_eq!(contents(&piped), expected, "{name} from a stream");
        let path = folder.join(name);
        std::fs::write(&path, &bytes).unwrap();
        let table = read_files(&[path], &ReadOptions::default(), &Watch::default()).unwrap();
        assert_eq!(contents(&table), expected, "{name} from a file");
        assert_eq!(table.place(2).row, Some(3));
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn types_that_parquet_does_not_write() {
    let numbers = DictionaryArray::<Int8Type>::new(
        Int8Array::from(vec![Some(1), None, Some(0)]),
        Arc::new(Float64Array::from(vec![Some(0.5), Some(7.0)])),
    );
    let empty = DictionaryArray::<Int32Type>::new(
        vec![None, None, None].into(),
        Arc::new(StringArray::from(Vec::<&str>::new())),
    );
    let half = Float16Array::from(vec![1.5f32, -2.0, 0.25].into_iter().map(half_of).collect::<Vec<_>>());
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("coded", Arc::new(numbers)),
        ("empty", Arc::new(empty)),
        ("half", Arc::new(half)),
        ("large", Arc::new(LargeStringArray::from(vec![Some("b"), None, Some("a")]))),
        ("none", Arc::new(NullArray::new(3))),
        ("wide", Arc::new(UInt64Array::from(vec![u64::MAX, 9_007_199_254_740_993, 1]))),
    ];
    let bytes = file(&[batch(columns)], None);
    let table = read(&bytes, "t.arrow");
    let (cells, ..) = contents(&table);
    assert_eq!(cells[0], ["7", "", "1.5", "b", "", "18446744073709552000"]);
    assert_eq!(cells[1], ["", "", "-2", "", "", "9007199254740992"]);
    assert_eq!(cells[2], ["0.5", "", "0.25", "a", "", "1"]);
    assert_eq!(table.columns()[3].kind, Kind::Text { levels: vec!["a".into(), "b".into()] });
    // As text all digits are kept.
    let options = ReadOptions { text: vec!["wide".into()], ..ReadOptions::default() };
    let table = read_bytes(&bytes, "t.arrow", &options).unwrap();
    assert_eq!(table.text(1, 5), "9007199254740993");
}

/// A half-precision number, without naming its crate.
fn half_of(value: f32) -> <arrow_array::types::Float16Type as arrow_array::ArrowPrimitiveType>::Native {
    <arrow_array::types::Float16Type as arrow_array::ArrowPrimitiveType>::Native::from_f32(value)
}

fn coded(cells: Vec<Option<&str>>, x: Vec<i64>) -> RecordBatch {
    let dictionary: DictionaryArray<Int32Type> = cells.into_iter().collect();
    batch(vec![("kind", Arc::new(dictionary)), ("x", Arc::new(Int64Array::from(x)))])
}

#[test]
fn a_stream_may_replace_its_dictionaries() {
    let batches = [
        coded(vec![Some("a"), Some("b")], vec![1, 2]),
        coded(vec![Some("c"), None], vec![3, 4]),
        coded(vec![Some("b"), Some("c"), Some("d")], vec![5, 6, 7]),
    ];
    let table = read(&stream(&batches), "t.arrows");
    let cells: Vec<String> = (0..7).map(|r| table.text(r, 0)).collect();
    assert_eq!(cells, ["a", "b", "c", "", "b", "c", "d"]);
    assert_eq!(table.place(6).row, Some(7));
    let options = ReadOptions { number: vec!["kind".into()], ..ReadOptions::default() };
    let number = |bytes: &[u8]| read_bytes(bytes, "t.arrows", &options).unwrap_err();
    let digits = [coded(vec![Some("1"), Some("2")], vec![1, 2]), coded(vec![Some("3"), Some("x")], vec![3, 4])];
    let error = number(&stream(&digits));
    assert_eq!((&*error.message(), error.place().row), ("`x` is not a number", Some(4)));
}

#[test]
fn the_footer_may_name_another_version_than_the_messages() {
    let options = IpcWriteOptions::try_new(8, false, MetadataVersion::V4).unwrap();
    let mut writer = FileWriter::try_new_with_options(Vec::new(), &sample().schema(), options).unwrap();
    writer.write(&sample()).unwrap();
    let old = writer.into_inner().unwrap();
    let end = old.len() - 10;
    let start = end - read_footer_length(old[end..].try_into().unwrap()).unwrap();
    let says = |bytes: &[u8]| root_as_footer(&bytes[start..end]).map(|footer| footer.version());
    assert_eq!(says(&old), Ok(MetadataVersion::V4));
    // The byte of the footer that makes it the next version.
    let changed = |at: usize| [&old[..at], &[4], &old[at + 1..]].concat();
    let mixed = (start..end).map(changed).find(|bytes| says(bytes) == Ok(MetadataVersion::V5)).unwrap();
    let expected = contents(&read(&file(&[sample()], None), "t.arrow"));
    assert_eq!(contents(&read(&old, "t.arrow")), expected);
    assert_eq!(contents(&read(&mixed, "t.arrow")), expected);
}

#[test]
fn long_batches_become_chunks() {
    let n = 150_000;
    let x: ArrayRef = Arc::new((0..n).map(Some).collect::<Int64Array>());
    let flag: ArrayRef = Arc::new((0..n).map(|i| Some(i % 3 == 0)).collect::<BooleanArray>());
    let table = read(&file(&[batch(vec![("x", x), ("flag", flag)])], None), "t.arrow");
    assert_eq!((table.n_rows(), table.chunks().len()), (150_000, 3));
    for row in [0, 65_535, 65_536, 149_999] {
        assert_eq!((table.number(row, 0), table.number(row, 1)), (row as f64, f64::from(u8::from(row % 3 == 0))));
        assert_eq!(table.place(row).row, Some(row as u64 + 1));
    }
}

#[test]
fn what_cannot_be_read_is_named() {
    let fails = |bytes: &[u8], words: &str| {
        let error = read_bytes(bytes, "t.arrow", &ReadOptions::default()).unwrap_err();
        assert!(error.message().contains(words), "{error}");
        assert_eq!(error.kind(), ErrorKind::Format, "{error}");
        error
    };
    let day = file(&[batch(vec![("day", Arc::new(arrow_array::Date32Array::from(vec![1, 2])))])], None);
    assert_eq!(fails(&day, "Date32").place().column.as_deref(), Some("day"));
    let none = file(&[batch(vec![("n", Arc::new(NullArray::new(2)))])], None);
    fails(&none, "holds no values");
    let no_rows = file(&[batch(vec![("x", Arc::new(Int64Array::from(Vec::<i64>::new())))])], None);
    fails(&no_rows, "there is no row");
    fails(b"", "the file is empty");
    fails(b"FEA1 is the old Feather", "Feather version 1");
    fails(b"ARROW1", "not a readable Arrow file");
    fails(b"\xff\xff\xff\xff\0\0\0\0", "it has no schema");
    fails(b"x,y\n1,2\n", "not a readable Arrow file");
    let trailing = [stream(&[sample()]), b"more".to_vec()].concat();
    fails(&trailing, "bytes follow the end of the stream");
    // Without its end a file is no file; a stream may stop between two messages.
    let whole = file(&[sample()], None);
    (1..whole.len()).for_each(|cut| drop(read_bytes(&whole[..cut], "t.arrow", &ReadOptions::default()).unwrap_err()));
}

#[test]
fn a_claim_of_more_than_all_memory_is_damage() {
    for compression in [CompressionType::LZ4_FRAME, CompressionType::ZSTD] {
        let zeros: ArrayRef = Arc::new(Int64Array::from(vec![0; 1000]));
        let mut bytes = file(&[batch(vec![("x", zeros)])], Some(compression));
        let claim = 8000u64.to_le_bytes();
        let at = bytes.windows(8).position(|w| w == claim).expect("the length before the buffer");
        bytes[at..at + 8].copy_from_slice(&(1u64 << 50).to_le_bytes());
        let error = read_bytes(&bytes, "t.arrow", &ReadOptions::default()).unwrap_err();
        assert!(error.message().contains("more bytes than there is memory"), "{error}");
    }
}

/// The columns as arrays; text as plain strings or, if `coded`, as dictionaries.
fn arrays(columns: &[Drawn], coded: bool) -> RecordBatch {
    let names: Vec<String> = (0..columns.len()).map(|c| format!("c{c}")).collect();
    let array = |column: &Drawn| -> ArrayRef {
        match column {
            Drawn::Numbers(v) => Arc::new(v.iter().copied().collect::<Float64Array>()),
            Drawn::Texts(v) if coded => {
                Arc::new(v.iter().map(Option::as_deref).collect::<DictionaryArray<Int32Type>>())
            }
            Drawn::Texts(v) => Arc::new(v.iter().map(Option::as_deref).collect::<StringArray>()),
        }
    };
    batch(names.iter().map(String::as_str).zip(columns.iter().map(array)).collect())
}

/// The table as JSON lines: the first has every key, the others leave out some missing cells and turn the order round.
fn json_lines(columns: &[Drawn], rows: usize, dice: &[u8]) -> String {
    let mut dice = dice.iter().cycle().copied();
    let mut roll = |n: u8| dice.next().unwrap_or(0) % n;
    let mut out = String::new();
    for row in 0..rows {
        let mut cells = Vec::new();
        for (c, column) in columns.iter().enumerate() {
            let cell = match column {
                Drawn::Numbers(v) => v[row].map(|v| if roll(2) == 0 { format!("{v}") } else { format!("{v:e}") }),
                Drawn::Texts(v) => v[row].as_ref().map(|v| serde_json::to_string(v).unwrap()),
            };
            if let Some(cell) = cell.or_else(|| (row == 0 || roll(2) == 0).then(|| "null".to_owned())) {
                cells.push(format!("\"c{c}\":{}{cell}", " ".repeat(usize::from(roll(2)))));
            }
        }
        let turn = if row == 0 || cells.is_empty() { 0 } else { usize::from(roll(5)) % cells.len() };
        cells.rotate_left(turn);
        out.push_str(&format!("{{{}}}{}", cells.join(","), ["\n", "\r\n", "\n\n"][usize::from(roll(3))]));
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn one_table_in_every_format(columns in table(), dice in prop::collection::vec(any::<u8>(), 50)) {
        // JSON has no infinities.
        let columns: Vec<Drawn> = columns.into_iter().map(|column| match column {
            Drawn::Numbers(v) => Drawn::Numbers(v.into_iter().map(|v| v.filter(|v| v.is_finite())).collect()),
            texts => texts,
        }).collect();
        let rows = match &columns[0] { Drawn::Numbers(v) => v.len(), Drawn::Texts(v) => v.len() };
        let csv = read(write(&columns, rows, ',', "\n", &dice).as_bytes(), "t.csv");
        let lines = json_lines(&columns, rows, &dice);
        let (plain, coded) = (arrays(&columns, false), arrays(&columns, true));
        let halves = [plain.slice(0, rows / 2), plain.slice(rows / 2, rows - rows / 2)];
        let all = [
            read(&parquet(&plain), "t.parquet"),
            read(&file(&halves, None), "t.arrow"),
            read(&file(std::slice::from_ref(&coded), Some(CompressionType::ZSTD)), "t.feather"),
            read(&stream(&[coded]), "t.arrows"),
            read(lines.as_bytes(), "t.jsonl"),
        ];
        for other in &all {
            prop_assert_eq!(other.columns().len(), csv.columns().len());
            for c in 0..columns.len() {
                prop_assert_eq!(&other.columns()[c].name, &csv.columns()[c].name);
                let all_missing = (0..rows).all(|r| csv.number(r, c).is_nan());
                // A column without any cell has the type of its file, which CSV and JSON do not have.
                if !all_missing {
                    prop_assert_eq!(&other.columns()[c].kind, &csv.columns()[c].kind);
                }
                for r in 0..rows {
                    prop_assert_eq!(other.number(r, c).to_bits(), csv.number(r, c).to_bits(), "{} {}", r, c);
                    prop_assert_eq!(other.text(r, c), csv.text(r, c));
                }
            }
        }
        let whole = contents(&all[4]);
        for (piece, threads) in [(1, 2), (64, 1), (100, 5), (1000, 2)] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let other = pool.install(|| read_with(lines.as_bytes(), "t.jsonl", &ReadOptions::default(), piece).unwrap());
            prop_assert_eq!(&contents(&other), &whole);
            prop_assert_eq!(other.fingerprint(), all[4].fingerprint());
        }
    }
}
