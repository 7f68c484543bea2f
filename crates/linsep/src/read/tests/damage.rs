//! Parquet, and files of every format with some bytes changed: an error or a table, never a panic.

use super::arrow::{file, stream};
use super::{Kind, ReadOptions, contents, read_bytes, read_with};
use ::parquet::arrow::ArrowWriter;
use ::parquet::file::properties::WriterProperties;
use arrow_array::{
    ArrayRef, BooleanArray, Decimal128Array, DictionaryArray, Float32Array, Float64Array, Int64Array, RecordBatch,
    StringArray, StringViewArray, UInt8Array, types::Int32Type,
};
use arrow_ipc::CompressionType;
use proptest::prelude::*;
use std::sync::Arc;

/// A batch whose columns may have missing cells.
pub(super) fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, a)| (n, a, true))).unwrap()
}

/// The batch as a Parquet file.
pub(super) fn parquet(batch: &RecordBatch) -> Vec<u8> {
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(2)).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

/// A column of every usual type.
pub(super) fn sample() -> RecordBatch {
    let dictionary: DictionaryArray<Int32Type> = vec![Some("p"), None, Some("q")].into_iter().collect();
    let decimal = Decimal128Array::from(vec![Some(123), None, Some(-5)]).with_precision_and_scale(10, 2).unwrap();
    batch(vec![
        ("int", Arc::new(Int64Array::from(vec![Some(1), None, Some(300)]))),
        ("byte", Arc::new(UInt8Array::from(vec![1, 2, 255]))),
        ("float", Arc::new(Float64Array::from(vec![Some(0.5), Some(f64::NAN), None]))),
        ("single", Arc::new(Float32Array::from(vec![1.5, 2.5, -1.0]))),
        ("flag", Arc::new(BooleanArray::from(vec![Some(true), Some(false), None]))),
        ("text", Arc::new(StringArray::from(vec![Some("b"), Some("a"), None]))),
        ("view", Arc::new(StringViewArray::from(vec!["1", "2", "3"]))),
        ("category", Arc::new(dictionary)),
        ("money", Arc::new(decimal)),
    ])
}

#[test]
fn parquet_columns() {
    let bytes = parquet(&sample());
    let table = read_bytes(&bytes, "t.parquet", &ReadOptions::default()).unwrap();
    let (cells, ..) = contents(&table);
    assert_eq!(cells[0], ["1", "1", "0.5", "1.5", "1", "b", "1", "p", "1.23"]);
    assert_eq!(cells[1], ["", "2", "", "2.5", "0", "a", "2", "", ""]);
    assert_eq!(cells[2], ["300", "255", "", "-1", "", "", "3", "q", "-0.05"]);
    assert_eq!(table.place(2).row, Some(3));
    assert!(matches!(table.columns()[6].kind, Kind::Text { .. }), "strings are text, whatever they look like");
    let options = ReadOptions { number: vec!["view".into()], text: vec!["int".into()], ..ReadOptions::default() };
    let table = read_bytes(&bytes, "unnamed", &options).unwrap();
    assert_eq!((table.number(2, 6), table.text(2, 0)), (3.0, "300".to_owned()));
    let options = ReadOptions { number: vec!["category".into()], ..ReadOptions::default() };
    let error = read_bytes(&bytes, "t.parquet", &options).unwrap_err();
    assert_eq!((&*error.message(), error.place().row), ("`p` is not a number", Some(1)));
}

#[test]
fn parquet_types_that_are_neither() {
    let bytes = parquet(&batch(vec![("day", Arc::new(arrow_array::Date32Array::from(vec![1, 2])))]));
    let error = read_bytes(&bytes, "t.parquet", &ReadOptions::default()).unwrap_err();
    assert_eq!(error.place().column.as_deref(), Some("day"));
    assert!(error.message().contains("Date32"), "{error}");
    let error = read_bytes(b"PAR1 and nothing else", "t.parquet", &ReadOptions::default()).unwrap_err();
    assert!(error.message().contains("not a readable Parquet file"), "{error}");
}

const CSV: &[u8] = b"a,b,c\r\n1,\"x, \"\"y\"\"\",2.5\n-3,z,1e5\n,\"two\nlines\",inf\n12345678,\xc3\xa9,?\n0,1,2\n";
const NDJSON: &[u8] =
    b"{\"a\":1,\"b\":\"x\\n\"}\r\n\n{\"b\":null,\"c\":true}\n{\"c\":false,\"a\":-2.5e3}\n{\"b\":\"\xc3\xa9\"}\n";
const LIBSVM: &[u8] = b"+1 1:0.5 3:2 # note\n-1 2:1e-3 1000000:7\n\n2 5:12345678901 6:-3\n";

/// The bytes with some of them changed, and perhaps cut short.
fn mutate(bytes: &[u8], changes: &[(prop::sample::Index, u8)], cut: Option<prop::sample::Index>) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for (at, byte) in changes {
        let at = at.index(bytes.len());
        bytes[at] = *byte;
    }
    if let Some(cut) = cut {
        bytes.truncate(cut.index(bytes.len()));
    }
    bytes
}

fn changes() -> impl Strategy<Value = Vec<(prop::sample::Index, u8)>> {
    let byte = prop_oneof![any::<u8>(), prop::sample::select(b"\",\n\r:#-. 0{}tn\\".to_vec())];
    prop::collection::vec((any::<prop::sample::Index>(), byte), 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5000))]

    #[test]
    fn text_formats(changes in changes(), cut in any::<Option<prop::sample::Index>>(), piece in 1usize..100) {
        let named = [(CSV, "t.csv"), (LIBSVM, "t.svm"), (NDJSON, "t.jsonl")];
        let misnamed = [(CSV, "t.svm"), (LIBSVM, "t.csv"), (CSV, "t"), (NDJSON, "t"), (CSV, "t.json")];
        for (bytes, name) in named.into_iter().chain(misnamed) {
            let bytes = mutate(bytes, &changes, cut);
            let small = read_with(&bytes, name, &ReadOptions::default(), piece);
            let whole = read_with(&bytes, name, &ReadOptions::default(), 1 << 20);
            match (small, whole) {
                (Ok(small), Ok(whole)) => prop_assert_eq!(contents(&small), contents(&whole)),
                (small, whole) => prop_assert_eq!(small.err(), whole.err()),
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn binary_formats(changes in changes(), cut in any::<Option<prop::sample::Index>>()) {
        let packed = zstd::encode_all(CSV, 1).unwrap();
        let arrow = [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)];
        let mut all = vec![(parquet(&sample()), "t.parquet"), (packed, "t.csv.zst"), (stream(&[sample()]), "t.arrows")];
        all.extend(arrow.map(|compression| (file(&[sample()], compression), "t.arrow")));
        for (bytes, name) in all {
            let _ = read_bytes(&mutate(&bytes, &changes, cut), name, &ReadOptions::default());
        }
    }
}
