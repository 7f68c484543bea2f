//! JSON lines: types, keys in any order, forced kinds, and a slow twin.

use super::{Format, Input, ReadOptions, contents, read_bytes, read_inputs, read_stream, read_with};
use crate::error::Error;
use crate::table::{Kind, Table};
use crate::watch::Watch;
use proptest::prelude::*;
use std::io::Write;

fn lines(text: &str) -> Table {
    read_bytes(text.as_bytes(), "t.jsonl", &ReadOptions::default()).unwrap()
}

fn force(text: &[&str], number: &[&str]) -> ReadOptions {
    let names = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect();
    ReadOptions { text: names(text), number: names(number), ..ReadOptions::default() }
}

#[test]
fn keys_are_columns_in_the_order_first_seen() {
    let text = "{\"b\": 1, \"a\": \"x\"}\r\n\n  {\"c\":true,\"a\":null,\"b\":2.5}\n\t\n{}\n{\"a\":\"\\u00e9\\n\",\"\\u0064\":-0.0}";
    let table = lines(text);
    let names: Vec<&str> = table.columns().iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["b", "a", "c", "d"]);
    let (cells, at, kinds) = contents(&table);
    assert_eq!(cells, [["1", "x", "", ""], ["2.5", "", "1", ""], ["", "", "", ""], ["", "é\n", "", "-0"]]);
    assert_eq!(at, [Some(1), Some(3), Some(5), Some(6)]);
    assert_eq!(kinds[1], Kind::Text { levels: vec!["x".into(), "é\n".into()] });
    assert_eq!([&kinds[0], &kinds[2], &kinds[3]], [&Kind::Number; 3]);
    for piece in [1, 10, 30] {
        let small = read_with(text.as_bytes(), "t.jsonl", &ReadOptions::default(), piece).unwrap();
        assert_eq!(contents(&small), contents(&table));
    }
    assert_eq!(lines("{\"a\":null}\n").columns()[0].kind, Kind::Number, "as in CSV");
}

#[test]
fn numbers_are_as_precise_as_in_csv() {
    let cells = [
        "9007199254740993",
        "-9223372036854775809",
        "18446744073709551617",
        "0.1",
        "1E-5",
        "123456789012345678901e-10",
    ];
    for cell in cells {
        let csv = read_bytes(format!("a,b\n{cell},1\n").as_bytes(), "t.csv", &ReadOptions::default()).unwrap();
        let json = format!("{{\"a\":{cell}}}\n");
        assert_eq!(lines(&json).number(0, 0).to_bits(), csv.number(0, 0).to_bits(), "{cell}");
        let text = read_bytes(json.as_bytes(), "t.jsonl", &force(&["a"], &[])).unwrap();
        assert_eq!(text.text(0, 0), cell);
    }
}

#[test]
fn forced_kinds_may_mix() {
    let text = b"{\"a\":1.50,\"b\":\"7\"}\n{\"a\":\"x\",\"b\":8}\n{\"a\":true,\"b\":\" NA \"}\n{\"b\":true}\n";
    for piece in [1, 1 << 20] {
        let table = read_with(text, "t.jsonl", &force(&["a"], &["b"]), piece).unwrap();
        let (cells, ..) = contents(&table);
        assert_eq!(cells, [["1.50", "7"], ["x", "8"], ["true", ""], ["", "1"]]);
        let error = read_with(text, "t.jsonl", &force(&[], &["a", "b"]), piece).unwrap_err();
        assert_eq!((&*error.message(), error.place().line), ("`x` is not a number", Some(2)));
        let error = read_with(text, "t.jsonl", &force(&["a"], &[]), piece).unwrap_err();
        assert_eq!((error.place().line, error.place().column.as_deref()), (Some(2), Some("b")));
        let error = read_with(text, "t.jsonl", &force(&["a", "bb"], &["b"]), piece).unwrap_err();
        assert_eq!(error.message(), "there is no column `bb`");
    }
}

#[test]
fn found_by_name_and_by_content() {
    let text = b"\xef\xbb\xbf \n{\"a\":1}\n{\"a\":2}\n".as_slice();
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(text).unwrap();
    let gz = gz.finish().unwrap();
    let zst = zstd::encode_all(text, 1).unwrap();
    for (bytes, name) in [(text, "t.json"), (text, "t"), (&gz, "t.ndjson.gz"), (&zst, "t.jsonl.zst"), (&zst, "-")] {
        let table = read_stream(bytes, name, &ReadOptions::default(), &Watch::default()).unwrap();
        assert_eq!(contents(&table).1, [Some(2), Some(3)], "{name}");
    }
    let options = ReadOptions { format: Some(Format::Ndjson), ..ReadOptions::default() };
    assert_eq!(read_bytes(text, "t.csv", &options).unwrap().n_rows(), 2);
    let array = read_bytes(b"[{\"a\":1}]", "t.json", &ReadOptions::default()).unwrap_err();
    assert!(array.help_text().is_some_and(|help| help.contains("lines=True")), "{array}");
}

#[test]
fn several_files_have_the_keys_of_all() {
    let [one, two] = [b"{\"a\":1}\n".as_slice(), b"\n{\"b\":\"x\",\"a\":2}\n"].map(|b| Input::from_bytes(b, "f.jsonl"));
    let table = read_inputs(&[one, two], &ReadOptions::default(), &Watch::default(), 1 << 20).unwrap();
    assert_eq!(contents(&table).0, [["1", ""], ["2", "x"]]);
    assert_eq!(contents(&table).1, [Some(1), Some(2)]);
    let mixed = [b"{\"a\":1}\n".as_slice(), b"{}\n{\"a\":\"1\"}\n"];
    let inputs = [Input::from_bytes(mixed[0], "f.jsonl"), Input::from_bytes(mixed[1], "g.jsonl")];
    let error = read_inputs(&inputs, &ReadOptions::default(), &Watch::default(), 1 << 20).unwrap_err();
    assert_eq!(error.place().to_string(), "g.jsonl, line 2, column `a`");
}

/// The cells of a line as they will be written, by name; `None` is a line that is blank.
type Line = Option<Vec<(char, &'static str)>>;
/// Names, and cells row by row.
type Columns = (Vec<char>, Vec<Vec<String>>);

/// Rows of cells by column in the order of first appearance, or the line of the first error and whether types mix there.
fn slow(text: &[Line]) -> Result<Columns, (u64, bool)> {
    let (mut names, mut types, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    for (at, line) in text.iter().enumerate() {
        let at = at as u64 + 1;
        let Some(cells) = line else { continue };
        let twice = (0..cells.len()).any(|i| cells[..i].iter().any(|(name, _)| *name == cells[i].0));
        if twice || cells.iter().any(|(_, cell)| matches!(*cell, "[1]" | "{}" | "nope" | "+1")) {
            return Err((at, false));
        }
        let mut row: Vec<(char, String)> = Vec::new();
        for (name, cell) in cells {
            if !names.contains(name) {
                names.push(*name);
                types.push(None);
            }
            let place = names.iter().position(|n| n == name).unwrap();
            let (kind, said) = match *cell {
                "null" => continue,
                "true" => ('b', "1"),
                "false" => ('b', "0"),
                text if text.starts_with('"') => ('t', text.trim_matches('"')),
                number => ('n', number),
            };
            if *types[place].get_or_insert(kind) != kind {
                return Err((at, true));
            }
            row.push((*name, said.to_owned()));
        }
        rows.push(row);
    }
    if rows.is_empty() || names.is_empty() {
        return Err((0, false));
    }
    let cell = |row: &Vec<(char, String)>, name: &char| {
        row.iter().find(|(n, _)| n == name).map_or(String::new(), |(_, cell)| cell.clone())
    };
    let cells = rows.iter().map(|row| names.iter().map(|name| cell(row, name)).collect()).collect();
    Ok((names, cells))
}

fn line() -> impl Strategy<Value = Line> {
    // Rarely a flaw, so that most tables are long enough to mix types or to be read whole.
    let cell = prop_oneof![
        30 => prop::sample::select(vec!["1", "2.5", "-300", "1", "7"]),
        6 => prop::sample::select(vec!["\"x\"", "\"long text\"", "true", "false"]),
        10 => Just("null"),
        1 => prop::sample::select(vec!["[1]", "{}", "nope", "+1"]),
    ];
    let name = prop::sample::select(vec!['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']);
    prop::option::weighted(0.9, prop::collection::vec((name, cell), 0..3))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8000))]

    #[test]
    fn fast_and_slow_agree(text in prop::collection::vec(line(), 0..14), piece in 1usize..60) {
        let written: String = text.iter().map(|line| match line {
            Some(cells) => {
                let cells: Vec<String> = cells.iter().map(|(name, cell)| format!("\"{name}\":{cell}")).collect();
                format!("{{{}}}\n", cells.join(","))
            }
            None => " \n".to_owned(),
        }).collect();
        let of_error = |e: Error| (e.place().line.unwrap_or(0), e.message().contains("the column began with"));
        for piece in [piece, 1 << 20] {
            let fast = read_with(written.as_bytes(), "t.jsonl", &ReadOptions::default(), piece).map_err(of_error);
            let fast = fast.map(|table| {
                let names = table.columns().iter().map(|c| c.name.chars().next().unwrap()).collect::<Vec<char>>();
                (names, contents(&table).0)
            });
            prop_assert_eq!(fast, slow(&text), "{}", written);
        }
    }
}
