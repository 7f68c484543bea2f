//! One table of bad inputs: what is said of each, and at which line.

use super::{ReadOptions, read_with};
use crate::error::ErrorKind;

const CSV: &[(&[u8], &str, Option<u64>)] = &[
    (b"", "the file is empty", None),
    (b"\xef\xbb\xbf", "the file is empty", None),
    (b"a,b\n", "there is a header but no data row", None),
    (b"a,b", "there is a header but no data row", None),
    (b"a,b\n\n\n", "there is a header but no data row", None),
    (b"a,b\n1,2\n3\n", "the row has 1 cell, the header has 2", Some(3)),
    (b"a,b\n1,2\n3,4,5\n", "the row has 3 cells, the header has 2", Some(3)),
    (b"a,b\n1,2,\n", "the row has 3 cells, the header has 2", Some(2)),
    (b"a,b\n\"x\ny\",2\n3\n", "the row has 1 cell, the header has 2", Some(4)),
    (b"a,b,c\n\"x\ny\",\"2\n\"\n", "the row has 2 cells, the header has 3", Some(2)),
    (b"a,b\n\n  \n", "the row has 1 cell, the header has 2", Some(3)),
    (b"a,b,a\n1,2,3\n", "two columns have the same name: 1 and 3", Some(1)),
    (b"a, a\n1,2\n", "two columns have the same name: 1 and 2", Some(1)),
    (b"a,,c\n1,2,3\n", "column 2 has no name", Some(1)),
    (b"\n1,2\n", "column 1 has no name", Some(1)),
    (b"a,b\n1,2\n3,\"x\n4,5\n", "a quote is opened but never closed", Some(3)),
    (b"\"a,b\n1,2\n", "a quote is opened but never closed", Some(1)),
    (b"a,b\n1,\"x\"y\n", "text after a closing quote", Some(2)),
    (b"a,b\n1,\"x\ny\" \n", "text after a closing quote", Some(3)),
    (b"a,b\n1,x\"y\"\n", "a quote inside a cell", Some(2)),
    (b"a,b\n1, \"y\"\n", "a quote inside a cell", Some(2)),
    (b"a,b\n1,2\n3,\xff\n", "the text is not UTF-8: byte 0xff", Some(3)),
    (b"a,\xe9\n1,2\n", "the text is not UTF-8: byte 0xe9", Some(1)),
    (b"a,b\n1,2\n3\n\xff,1\n", "the row has 1 cell", Some(3)),
];

const LIBSVM: &[(&[u8], &str, Option<u64>)] = &[
    (b"", "there is no row", None),
    (b"# only a comment\n", "there is no row", None),
    (b"1 0:1 0:2\n", "index 0 comes after index 0", Some(1)),
    (b"1 1:1\n\n1 2:1 2:3\n", "index 2 comes after index 2", Some(3)),
    (b"1 5:1 2:3\n", "index 2 comes after index 5", Some(1)),
    (b"1 1:x\n", "`x` is not a number", Some(1)),
    (b"1 1:\n", "`` is not a number", Some(1)),
    (b"1 1:nan\n", "`nan` is not a number", Some(1)),
    (b"1 1\n", "`1` is not `index:value`", Some(1)),
    (b"1 a:1\n", "`a` is not an index", Some(1)),
    (b"1 -1:1\n", "`-1` is not an index", Some(1)),
    (b"1 :1\n", "`` is not an index", Some(1)),
    (b"1 4294967296:1\n", "index 4294967296 is too large", Some(1)),
    (b"1 qid:3 1:1\n", "ranking", Some(1)),
    (b"1:1 2:1\n", "the row has no label", Some(1)),
    (b"1 1:1\n1 # \xff\n", "not UTF-8", Some(2)),
];

const NDJSON: &[(&[u8], &str, Option<u64>)] = &[
    (b"", "there is no row", None),
    (b"\xef\xbb\xbf\n \n", "there is no row", None),
    (b"{}\n{}\n", "there is no column", None),
    (b"{\"a\":1}\n[1]\n", "the line is an array, not an object", Some(2)),
    (b"[\n{\"a\":1}\n]\n", "the line is an array, not an object", Some(1)),
    (b"{\"a\":1}\n\n5\n", "the line is not a JSON object: `5`", Some(3)),
    (b"a,b\n1,2\n", "the line is not a JSON object: `a,b`", Some(1)),
    (b"{\n  \"a\": 1\n}\n", "invalid JSON at byte 1 of the line: EOF while parsing an object", Some(1)),
    (b"{\"a\":1}\n{\"a\":1 \"b\":2}\n", "invalid JSON at byte 8 of the line: expected `,` or `}`", Some(2)),
    (b"{\"a\":1} {\"a\":2}\n", "invalid JSON at byte 9 of the line: trailing characters", Some(1)),
    (b"{\"a\":NaN}\n", "invalid JSON at byte 6 of the line: expected value", Some(1)),
    (b"{\"a\":01}\n", "invalid JSON at byte 7 of the line: invalid number", Some(1)),
    (b"{\"a\":\"\\ud800\"}\n", "invalid JSON", Some(1)),
    (b"{\"a\":\"x\ty\"}\n", "control character", Some(1)),
    (b"{\"a\":1,\"b\":2,\"a\":3}\n", "the key occurs twice in this line", Some(1)),
    (b"{\"a\":null,\"a\":null}\n", "the key occurs twice in this line", Some(1)),
    (b"{\"a\":1}\n{\"a\":[1]}\n", "a cell cannot be an array", Some(2)),
    (b"{\"a\":{\"b\":1}}\n", "a cell cannot be an object", Some(1)),
    (b"{\"\":1}\n", "a key is empty", Some(1)),
    (b"{\"a\":1}\n{\"a\":\"\xff\"}\n", "not UTF-8: byte 0xff", Some(2)),
    (b"{\"a\":1}\n{\"a\":null}\n{\"a\":\"1\"}\n", "this is a string, but the column began with a number", Some(3)),
    (b"{\"a\":true}\n{\"a\":1}\n", "this is a number, but the column began with a boolean", Some(2)),
    (
        b"{\"b\":\"x\"}\n{\"a\":1,\"b\":false}\n{\"a\":[]}\n",
        "this is a boolean, but the column began with a string",
        Some(2),
    ),
    (b"{\"a\":1}\n{\"a\":\"x\",\"b\":[]}\n", "a cell cannot be an array", Some(2)),
    (
        b"{\"a\":1,\"b\":\"x\"}\n{\"b\":2,\"a\":\"x\"}\n",
        "this is a number, but the column began with a string",
        Some(2),
    ),
];

#[test]
fn every_bad_input_is_named_with_its_line() {
    for (name, table) in [("bad.csv", CSV), ("bad.svm", LIBSVM), ("bad.jsonl", NDJSON)] {
        for (bytes, message, line) in table {
            for piece in [1, 7, 1 << 20] {
                let shown = String::from_utf8_lossy(bytes);
                let error = match read_with(bytes, name, &ReadOptions::default(), piece) {
                    Err(error) => error,
                    Ok(_) => panic!("{shown:?} was read"),
                };
                assert!(error.message().contains(message), "{shown:?}: {error}");
                assert_eq!(error.kind(), ErrorKind::Format, "{shown:?}");
                assert_eq!(error.place().line, *line, "{shown:?}: {error}");
                assert_eq!(error.place().file.as_deref(), Some(name), "{shown:?}");
            }
        }
    }
}

#[test]
fn the_first_error_of_the_file_wins() {
    let mut text = String::from("a,b\n");
    (0..2000).for_each(|i| text.push_str(if i % 500 == 400 { "1\n" } else { "1,2\n" }));
    for piece in [16, 100, 1000] {
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let read = || read_with(text.as_bytes(), "t.csv", &ReadOptions::default(), piece).unwrap_err();
            assert_eq!(pool.install(read).place().line, Some(402));
        }
    }
}

#[test]
fn a_record_without_end_does_not_fill_the_memory() {
    let long = "x".repeat(1 << 20);
    let open = read_with(format!("a,b\n1,2\n3,\"{long}").as_bytes(), "t.csv", &ReadOptions::default(), 1).unwrap_err();
    assert_eq!((&*open.message(), open.place().line), ("a quote is opened but never closed", Some(3)));
    for (name, row) in [("t.csv", "1 1:1"), ("t.svm", "1 1:1"), ("t.jsonl", "{\"a\":1}")] {
        let plain =
            read_with(format!("{row}\n{row} # {long}").as_bytes(), name, &ReadOptions::default(), 1).unwrap_err();
        assert_eq!(plain.message(), "a single row is longer than 256 MB");
    }
}

#[test]
fn a_wide_table() {
    let names: Vec<String> = (0..5000).map(|c| format!("c{c}")).collect();
    let row: Vec<String> = (0..5000).map(|c| (c % 7).to_string()).collect();
    let text = format!("{}\n{}", names.join(","), format!("{}\n", row.join(",")).repeat(20));
    let table = read_with(text.as_bytes(), "t.csv", &ReadOptions::default(), 1000).unwrap();
    assert_eq!((table.n_rows(), table.number(19, 4999)), (20, 1.0));
}
