//! A slow twin: CSV as a textbook writes it, one character at a time.

use super::{ReadOptions, contents, read_with};
use proptest::prelude::*;

/// A record that is not an empty line, with the line it begins on, and whether it is delimiters alone.
type Record = (u64, Vec<Vec<u8>>, bool);
/// Cells row by row, and lines.
type Rows = (Vec<Vec<String>>, Vec<Option<u64>>);

/// All records, the empty lines only in a table of one column; `None` for anything that is not strict CSV.
fn records(bytes: &[u8], delimiter: u8) -> Option<Vec<Record>> {
    #[derive(PartialEq)]
    enum State {
        Start,
        Plain,
        Quoted,
        Closed,
    }
    let (mut all, mut record, mut cell, mut state) = (Vec::new(), Vec::new(), Vec::new(), State::Start);
    let (mut line, mut began, mut start) = (1, 1, 0);
    let mut bytes = bytes.to_vec();
    if bytes.last().is_some_and(|b| *b != b'\n') {
        bytes.push(b'\n');
    }
    for (i, byte) in bytes.iter().copied().enumerate() {
        let ends = byte == b'\n' || (byte == b'\r' && bytes.get(i + 1) == Some(&b'\n'));
        match state {
            State::Quoted if byte == b'"' => state = State::Closed,
            State::Quoted => cell.push(byte),
            State::Closed if byte == b'"' => {
                cell.push(byte);
                state = State::Quoted;
            }
            State::Start if byte == b'"' => state = State::Quoted,
            _ if byte == delimiter => {
                record.push(std::mem::take(&mut cell));
                state = State::Start;
            }
            _ if byte == b'\n' => {
                record.push(std::mem::take(&mut cell));
                let columns = all.first().map_or(1, |(_, header, _): &Record| header.len());
                if columns == 1 || !matches!(&bytes[start..i], b"" | b"\r") {
                    let raw = bytes[start..i].strip_suffix(b"\r").unwrap_or(&bytes[start..i]);
                    let bare = !raw.is_empty() && raw.iter().all(|b| *b == delimiter);
                    all.push((began, std::mem::take(&mut record), bare));
                }
                record.clear();
                state = State::Start;
                (began, start) = (line + 1, i + 1);
            }
            _ if ends => {}
            State::Closed => return None,
            State::Plain if byte == b'"' => return None,
            State::Start | State::Plain => {
                cell.push(byte);
                state = State::Plain;
            }
        }
        line += u64::from(byte == b'\n');
    }
    (state == State::Start).then_some(all)
}

/// The table as the twin sees it when every column is text: cells (missing ones empty) and lines.
fn slow(bytes: &[u8]) -> Option<Rows> {
    let mut all = records(bytes, b',')?.into_iter();
    let n = all.next()?.1.len();
    let mut rows: Vec<Record> = all.collect();
    if rows.iter().any(|(_, r, _)| r.len() != n) {
        return None;
    }
    while rows.last().is_some_and(|(_, _, bare)| *bare) {
        rows.pop();
    }
    if rows.is_empty() {
        return None;
    }
    let text = |cell: &Vec<u8>| {
        let text = String::from_utf8(cell.clone()).unwrap();
        text.trim_matches(' ').to_owned()
    };
    let lines = rows.iter().map(|(line, _, _)| Some(*line)).collect();
    Some((rows.iter().map(|(_, r, _)| r.iter().map(text).collect()).collect(), lines))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn fast_and_slow_agree(body in "[a1,\";\n\r .]{0,60}", columns in 1usize..4, piece in 1usize..40) {
        let names = ["p", "q", "r"][..columns].join(",");
        // One cell more behind a quote is a row name, which the twin does not know.
        let quoted = body.trim_start_matches(['\r', '\n', ' ']).starts_with('"');
        let body = if quoted { format!("a{body}") } else { body };
        let bytes = format!("{names}\n{body}").into_bytes();
        let text = ["p", "q", "r"][..columns].iter().map(|s| (*s).to_owned()).collect();
        let options = ReadOptions { text, delimiter: Some(b','), ..ReadOptions::default() };
        let fast = read_with(&bytes, "t.csv", &options, piece).ok().map(|t| {
            let (cells, lines, _) = contents(&t);
            (cells, lines)
        });
        prop_assert_eq!(fast, slow(&bytes));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// The quick paths for numbers against the standard library.
    #[test]
    fn numbers_agree_with_the_standard_library(
        rows in prop::collection::vec(
            prop::collection::vec("[0-9]|[0-9]|[0-9]{0,11}|[+-]?[0-9]{1,3}(\\.[0-9]{0,20})?(e-?[0-9]{1,2})? ?", 9), 1..12),
        crlf in any::<bool>(),
        piece in 1usize..300,
    ) {
        let newline = if crlf { "\r\n" } else { "\n" };
        let names: Vec<String> = (0..9).map(|c| format!("c{c}")).collect();
        let lines = rows.iter().map(|r| r.join(",") + newline);
        let text = names.join(",") + newline + &lines.collect::<String>();
        let table = read_with(text.as_bytes(), "t.csv", &ReadOptions::default(), piece).unwrap();
        for (r, row) in rows.iter().enumerate() {
            for (c, cell) in row.iter().enumerate() {
                let expected = if cell.trim().is_empty() { f64::NAN } else { cell.trim().parse::<f64>().unwrap() };
                prop_assert_eq!(table.number(r, c).to_bits(), expected.to_bits(), "{}", cell);
            }
        }
    }
}
