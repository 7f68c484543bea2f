//! Tests of the readers.

mod arrow;
mod damage;
mod errors;
mod ndjson;
mod random;
mod styles;
mod twin;

use super::source::Input;
use super::{Format, ReadOptions, read_bytes, read_files, read_inputs, read_stream};
use crate::error::{ErrorKind, Result};
use crate::table::{Cells, Kind, RowPlaces, Table};
use crate::watch::{Progress, Watch};
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Reads with a given size of piece.
fn read_with(bytes: &[u8], name: &str, options: &ReadOptions, piece: usize) -> Result<Table> {
    read_inputs(&[Input::from_bytes(bytes, name)], options, &Watch::default(), piece)
}

fn csv(text: &str) -> Table {
    read_bytes(text.as_bytes(), "t.csv", &ReadOptions::default()).unwrap()
}

/// All cells as text, row by row, and the line of every row: what does not depend on how a table is chunked.
fn contents(table: &Table) -> (Vec<Vec<String>>, Vec<Option<u64>>, Vec<Kind>) {
    let rows = 0..table.n_rows();
    let cells = rows.clone().map(|r| (0..table.columns().len()).map(|c| table.text(r, c)).collect()).collect();
    let lines = rows.map(|r| table.place(r).line).collect();
    (cells, lines, table.columns().iter().map(|c| c.kind.clone()).collect())
}

fn sparse_rows(table: &Table) -> Vec<Vec<(u32, f64)>> {
    let mut rows = Vec::new();
    for chunk in table.chunks() {
        let sparse = chunk.sparse.as_ref().unwrap();
        for i in 0..chunk.n_rows {
            let range = sparse.starts[i]..sparse.starts[i + 1];
            rows.push(range.map(|e| (sparse.indices[e], sparse.values[e])).collect());
        }
    }
    rows
}

#[test]
fn whole_numbers_are_kept_narrow() {
    let table = csv("a,b,c,d,e,f\n1,200,-40000,2.5,-0,3e9\n-127,?,1,1,1,\n,-32767,2147483647,NA,2,1\n");
    let cells = &table.chunks()[0].cells;
    assert_eq!(cells[0], Cells::I8(vec![1, -127, i8::MIN].into()));
    assert_eq!(cells[1], Cells::I16(vec![200, i16::MIN, -32767].into()));
    assert_eq!(cells[2], Cells::I32(vec![-40000, 1, i32::MAX].into()));
    assert!(matches!(&cells[3], Cells::F64(v) if v[..2] == [2.5, 1.0] && v[2].is_nan()));
    assert!(matches!(&cells[4], Cells::F64(v) if v[0].is_sign_negative() && v[1..] == [1.0, 2.0]));
    assert!(matches!(&cells[5], Cells::F64(v) if v[0] == 3e9 && v[1].is_nan()));
    assert_eq!(table.chunks()[0].origin.rows, RowPlaces::Consecutive { first: 2 });
}

#[test]
fn extremes_of_each_width() {
    for (value, narrow) in [("-128", 2), ("128", 2), ("127", 1), ("-32768", 4), ("32768", 4), ("2147483647", 4)] {
        let table = csv(&format!("x\n{value}\n"));
        let width = match table.chunks()[0].cells[0] {
            Cells::I8(_) => 1,
            Cells::I16(_) => 2,
            Cells::I32(_) => 4,
            _ => 8,
        };
        assert_eq!((width, table.text(0, 0).as_str()), (narrow, value));
    }
    assert!(matches!(csv("x\n-2147483648\n").chunks()[0].cells[0], Cells::F64(_)));
}

#[test]
fn numbers_in_all_their_forms() {
    let cells = ["+5", " 7 ", "1e3", ".5", "5.", "inf", "-Infinity", "\"12\"", "1.0", "007", "12345678", "123456789"];
    let values = [5.0, 7.0, 1e3, 0.5, 5.0, f64::INFINITY, f64::NEG_INFINITY, 12.0, 1.0, 7.0, 12345678.0, 123456789.0];
    for (cell, value) in cells.iter().zip(values) {
        assert_eq!(csv(&format!("x,y\n{cell},0\n")).number(0, 0), value, "{cell}");
        assert_eq!(csv(&format!("y,x\r\n0,{cell}\r\n")).number(0, 1), value, "{cell}");
    }
    for text in ["0x1f", "1_000", "1 000", "--1", "1e", "e5", "infi", "-nan", "NAN", "1,5"] {
        let table = csv(&format!("x\n\"{text}\"\n"));
        assert_eq!(table.columns()[0].kind, Kind::Text { levels: vec![text.to_owned()] }, "{text}");
    }
}

#[test]
fn missing_cells_of_every_spelling() {
    let table = csv("x,t\n,a\n\"\",a\nNA,NA\nNaN,\nnan,\"?\"\nnull,NULL\nNULL,null\nN/A,N/A\n?,?\n  ,a\n");
    assert!((0..table.n_rows()).all(|r| table.number(r, 0).is_nan()));
    assert_eq!(table.columns()[0].kind, Kind::Number, "a column of missing cells only is numeric");
    let kept: Vec<usize> = (0..table.n_rows()).filter(|r| !table.number(*r, 1).is_nan()).collect();
    assert_eq!(kept, [0, 1, 9]);
}

#[test]
fn quotes_line_breaks_and_lines() {
    let table = csv("\"a\"\"b\",c\r\n\"x, \"\"y\"\"\",1\r\n\r\n\"two\nlines\",2\r\n z ,3");
    assert_eq!(table.columns()[0].name, "a\"b");
    let (cells, lines, _) = contents(&table);
    assert_eq!(cells, [["x, \"y\"", "1"], ["two\nlines", "2"], ["z", "3"]]);
    assert_eq!(lines, [Some(2), Some(4), Some(6)]);
}

#[test]
fn delimiters_and_headers() {
    let cases = [
        ("a;b,c;d\n1;x;2\n", "t.csv", "b,c"),
        ("a\tb,c\td\n1\tx\t2\n", "t.csv", "b,c"),
        ("a|\"b;;;\"|d\n1|x|2\n", "t", "b;;;"),
        ("a\tb,c,d\n1\tx\n", "t.tsv", "b,c,d"),
        ("a,b|c\n1,x\n", "t.csv", "b|c"),
    ];
    for (text, name, second) in cases {
        let table = read_bytes(text.as_bytes(), name, &ReadOptions::default()).unwrap();
        assert_eq!(table.columns()[1].name, second, "{text:?}");
    }
    let options = ReadOptions { delimiter: Some(b' '), ..ReadOptions::default() };
    let table = read_bytes(b"a b\n1 2\n", "t.txt", &options).unwrap();
    assert_eq!((table.number(0, 0), table.number(0, 1)), (1.0, 2.0));
    assert_eq!(csv("\u{feff}a , b\n1,2\n").columns()[1].name, "b");
    assert_eq!(csv("\u{feff}\"a\"\n1\n").columns()[0].name, "a");
    for delimiter in [b'"', b'\n', b'1', b'.', 0, 200] {
        let options = ReadOptions { delimiter: Some(delimiter), ..ReadOptions::default() };
        assert_eq!(read_bytes(b"a\n1\n", "t.csv", &options).unwrap_err().kind(), ErrorKind::Usage);
    }
}

#[test]
fn one_column_keeps_empty_lines() {
    let table = csv("x\n1\n\n3\n");
    assert_eq!(table.n_rows(), 3);
    assert!(table.number(1, 0).is_nan());
    assert_eq!(csv("x,y\n\n1,2\n\n\n3,4\n\n").n_rows(), 2);
}

#[test]
fn text_after_many_numbers_is_read_again() {
    // Early pieces see only numbers; the column is text all the same, spelled as written.
    let mut text = String::from("id,x\n");
    (0..500).for_each(|i| text.push_str(&format!("{i:04}.0,1\n")));
    (0..500).for_each(|i| text.push_str(&format!("n{i},1\n")));
    for piece in [64, 1000, 1 << 20] {
        let table = read_with(text.as_bytes(), "t.csv", &ReadOptions::default(), piece).unwrap();
        assert_eq!(table.text(7, 0), "0007.0");
        assert_eq!(table.text(999, 0), "n499");
        assert_eq!(table.column("x").map(|c| table.number(999, c)), Ok(1.0));
    }
    let from_stream = read_stream(text.as_bytes(), "-", &ReadOptions::default(), &Watch::default()).unwrap();
    assert_eq!(from_stream.text(7, 0), "0007.0");
}

#[test]
fn the_99_percent_rule() {
    let rows = |numbers: usize, texts: usize| {
        let numbers = (0..numbers).map(|i| format!("{i},1\n"));
        let texts = (0..texts).map(|i| format!("t{i},1\n"));
        format!("x,y\n{}", numbers.chain(texts).collect::<String>())
    };
    for piece in [50, 1 << 20] {
        let read = |text: String| read_with(text.as_bytes(), "t.csv", &ReadOptions::default(), piece);
        let error = read(rows(99, 1)).unwrap_err();
        assert_eq!((error.place().line, &*error.message()), (Some(101), "`t0` is not a number"));
        assert_eq!(
            error.help_text().as_deref(),
            Some("fix the cell, or read the column as text with `text columns = x`")
        );
        let table = read(rows(98, 1)).unwrap();
        assert_eq!(table.text(98, 0), "t0");
        assert!(matches!(table.columns()[0].kind, Kind::Text { .. }));
    }
}

#[test]
fn forced_kinds() {
    let text = b"a,b\n01,x\n2,3\n".as_slice();
    let force = |text: &[&str], number: &[&str]| ReadOptions {
        text: text.iter().map(|s| (*s).to_owned()).collect(),
        number: number.iter().map(|s| (*s).to_owned()).collect(),
        ..ReadOptions::default()
    };
    let table = read_bytes(text, "t.csv", &force(&["a"], &[])).unwrap();
    assert_eq!(table.columns()[0].kind, Kind::Text { levels: vec!["01".into(), "2".into()] });
    let error = read_bytes(text, "t.csv", &force(&[], &["b"])).unwrap_err();
    assert_eq!((error.place().line, error.place().column.as_deref()), (Some(2), Some("b")));
    let error = read_bytes(b"speed\n1\n", "t.csv", &force(&["sped"], &[])).unwrap_err();
    assert_eq!(error.help_text().as_deref(), Some("did you mean `speed`?"));
    assert_eq!(read_bytes(text, "t.csv", &force(&["a"], &["a"])).unwrap_err().kind(), ErrorKind::Usage);
}

#[test]
fn several_files_of_the_same_columns() {
    let [one, two, three] =
        [b"a,b\n1,x\n".as_slice(), b"b;a\ny;2\nz;3\n", b"a,c\n1,x\n"].map(|bytes| Input::from_bytes(bytes, "f.csv"));
    let read = |inputs: &[Input<'_>]| read_inputs(inputs, &ReadOptions::default(), &Watch::default(), 1 << 20);
    let inputs = [one, two];
    let table = read(&inputs).unwrap();
    assert_eq!(contents(&table).0, [["1", "x"], ["2", "y"], ["3", "z"]]);
    assert_eq!(contents(&table).1, [Some(2), Some(2), Some(3)]);
    let [one, two] = inputs;
    let error = read(&[one, three]).unwrap_err();
    assert_eq!(error.place().column.as_deref(), Some("c"));
    let error = read(&[two, Input::from_bytes(b"a\n1\n", "g.csv")]).unwrap_err();
    assert_eq!(error.message(), "this column of `f.csv` is not in `g.csv`");
    let mixed = [Input::from_bytes(b"a\n1\n", "g.csv"), Input::from_bytes(b"1 1:2\n", "g.svm")];
    assert!(read(&mixed).unwrap_err().message().contains("Libsvm"));
}

#[test]
fn compressed_by_magic_bytes_and_from_files() {
    let text = b"a,b\n1,x\n2,y\n".as_slice();
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(text).unwrap();
    let gz = gz.finish().unwrap();
    let zst = zstd::encode_all(text, 1).unwrap();
    let plain = contents(&csv("a,b\n1,x\n2,y\n"));
    let folder = std::env::temp_dir().join(format!("linsep-read-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let twice = [gz.clone(), gz.clone()].concat();
    for (bytes, name) in [(text, "p.csv"), (&gz, "a.csv.gz"), (&zst, "b.csv.zst"), (&gz, "misnamed.csv")] {
        assert_eq!(contents(&read_bytes(bytes, name, &ReadOptions::default()).unwrap()), plain);
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(contents(&read_files(&[path], &ReadOptions::default(), &Watch::default()).unwrap()), plain);
    }
    // Members of a gzip file follow one another: here the second header is a row of text.
    assert_eq!(read_bytes(&twice, "t.csv.gz", &ReadOptions::default()).unwrap().n_rows(), 5);
    for cut in [gz.len() - 9, gz.len() - 1] {
        let error = read_bytes(&gz[..cut], "t.csv.gz", &ReadOptions::default()).unwrap_err();
        assert!(error.message().contains("damaged"), "{error}");
    }
    let missing = read_files(&[folder.join("absent.csv")], &ReadOptions::default(), &Watch::default()).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound);
    let directory = read_files(&[&folder], &ReadOptions::default(), &Watch::default()).unwrap_err();
    assert_eq!(directory.kind(), ErrorKind::Io);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn libsvm_rows() {
    let text = b"# head\n+1 1:0.5 3:2 # note\r\n\n-1 2:1e-3 10:0\n-1\n".as_slice();
    let table = read_bytes(text, "t.svm", &ReadOptions::default()).unwrap();
    assert_eq!(contents(&table).0, [["1"], ["-1"], ["-1"]]);
    assert_eq!(contents(&table).1, [Some(2), Some(4), Some(5)]);
    assert_eq!(sparse_rows(&table), [vec![(0, 0.5), (2, 2.0)], vec![(1, 1e-3)], vec![]]);
    assert_eq!(table.sparse_width(), 10);
    let table = read_bytes(b"spam 1:1\nham 2:1\n", "noname", &ReadOptions::default()).unwrap();
    assert_eq!(table.columns()[0].kind, Kind::Text { levels: vec!["ham".into(), "spam".into()] });
    let asked = ReadOptions { format: Some(Format::Csv), ..ReadOptions::default() };
    assert_eq!(read_bytes(b"spam 1:1\nham 2:1\n", "noname", &asked).unwrap().sparse_width(), 0);
}

#[test]
fn progress_and_interruption() {
    let text = format!("x\n{}", "1\n".repeat(10_000));
    let seen = Arc::new(AtomicU64::new(0));
    let to = Arc::clone(&seen);
    let watch = Watch::default().observer(move |p| {
        if let Progress::Bytes { done, .. } = p {
            to.fetch_max(done, Ordering::Relaxed);
        }
    });
    read_stream(text.as_bytes(), "t.csv", &ReadOptions::default(), &watch).unwrap();
    assert_eq!(seen.load(Ordering::Relaxed), text.len() as u64);
    watch.cancel();
    let error = read_stream(text.as_bytes(), "t.csv", &ReadOptions::default(), &watch).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Interrupted);
}
