//! Sheets of workbooks: the same table as CSV, whatever program wrote it.
#![cfg(feature = "xlsx")]

mod common;

use common::Scratch;
use common::book::{book, rows};
use linsep::read::{ReadOptions, read_bytes, read_files};
use linsep::table::{Kind, Table};
use serde_json::Value;

fn golden(name: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/workbooks").join(name)
}

fn read(bytes: &[u8], options: &ReadOptions) -> Table {
    read_bytes(bytes, "a.xlsx", options).unwrap_or_else(|e| panic!("{e}"))
}

/// Written by pandas (with its index), openpyxl (a title above, another sheet) and xlsxwriter (days since 1904, formulas, a hidden
/// sheet first); golden/make_workbooks.py makes them.
#[test]
fn workbooks_of_three_writers_are_one_table() {
    let watch = linsep::watch::Watch::default();
    let of = |name: &str, skip: u64| {
        read_files(&[golden(name)], &ReadOptions { skip, ..ReadOptions::default() }, &watch).unwrap()
    };
    // Text with leading zeros is text in a workbook; in CSV it looks like a number.
    let text = ReadOptions { text: vec!["code".into()], ..ReadOptions::default() };
    let csv = read_files(&[golden("table.csv")], &text, &watch).unwrap();
    for (name, skip, first) in [("pandas.xlsx", 0, 2), ("openpyxl.xlsx", 1, 4), ("xlsxwriter.xlsx", 0, 2)] {
        let table = of(name, skip);
        assert_eq!(table.columns(), csv.columns(), "{name}");
        assert_eq!(table.reading(), csv.reading(), "{name}");
        assert_eq!(table.n_rows(), csv.n_rows(), "{name}");
        for row in 0..csv.n_rows() {
            for column in 0..csv.columns().len() {
                assert_eq!(table.text(row, column), csv.text(row, column), "{name}, row {row}, column {column}");
            }
            assert_eq!(table.place(row).line, Some(first + row as u64), "{name}: the rows of the sheet");
        }
    }
}

#[test]
fn a_model_of_a_sheet_is_that_of_the_text() {
    let scratch = Scratch::new();
    for name in ["openpyxl.xlsx", "pandas.xlsx", "table.csv"] {
        scratch.write(name, std::fs::read(golden(name)).unwrap());
    }
    let flags = "-t y --drop code --missing mean --penalty ridge:0.1 -q";
    scratch.done(&format!("fit openpyxl.xlsx --skip 1 {flags} -o book.json"));
    scratch.done(&format!("fit table.csv --text code {flags} -o text.json"));
    let model = |name: &str| -> Value { serde_json::from_slice(&scratch.read(name)).unwrap() };
    for part in ["discriminant", "recipe", "reading", "certificate", "training"] {
        assert_eq!(model("book.json")["model"][part], model("text.json")["model"][part], "{part}");
    }
    // A model of text takes workbooks and one of a workbook takes text.
    scratch.done("verify book.json table.csv --text code -q");
    scratch.done("verify text.json pandas.xlsx -q");
    assert_eq!(
        scratch.done("predict book.json table.csv --scores -q"),
        scratch.done("predict text.json openpyxl.xlsx --skip 1 --scores -q")
    );
    let noted = scratch.run("describe openpyxl.xlsx --skip 1");
    assert!(noted.stderr.contains("sheet `Daten 2024` of the workbook was read, not `Notizen`"), "{}", noted.stderr);
    // Two workbooks of the same columns are read one after the other, and two sheets are two tables.
    scratch.write("again.xlsx", scratch.read("pandas.xlsx"));
    let both = scratch.done("describe pandas.xlsx again.xlsx -q");
    assert!(both.starts_with("60 rows"), "{both}");
    assert_eq!(scratch.run("describe openpyxl.xlsx --sheet Notizen").code, 2);
}

/// What a column is depends on what its cells are.
#[test]
fn kinds_of_cells() {
    let cells = "num|stored|code|flag|mixed|when|wait\n\
                 1.5|12.5|007|[t=\"b\"><v>1</v>]|1|[s=\"1\"><v>45657</v>]|[s=\"2\"><v>1.25</v>]\n\
                 -2|3|010|[t=\"b\"><v>0</v>]|a|[s=\"1\"><v>45658.5</v>]|[s=\"2\"><v>0.5</v>]\n\
                 |NA|011||2.5|[s=\"1\"><v>45660</v>]|[s=\"2\"><v>2</v>]\n";
    let stored = cells.replace("|12.5|", "|[t=\"inlineStr\"><is><t>12.5</t></is>]|");
    let coded = ["007", "010", "011"].iter().fold(stored, |text, code| {
        text.replace(&format!("|{code}|"), &format!("|[t=\"inlineStr\"><is><t> {code} </t></is>]|"))
    });
    let table = read(&book(&[("a", &rows(&coded), "")]), &ReadOptions::default());
    let texts = |name: &str| -> Vec<String> {
        let column = table.column(name).unwrap();
        (0..3).map(|row| table.text(row, column)).collect()
    };
    assert_eq!(texts("num"), ["1.5", "-2", ""]);
    assert_eq!(texts("stored"), ["12.5", "3", ""], "numbers stored as text are numbers");
    assert_eq!(texts("code"), ["007", "010", "011"], "codes are not");
    assert_eq!(texts("flag"), ["1", "0", ""]);
    assert_eq!(texts("mixed"), ["1", "a", "2.5"]);
    assert_eq!(texts("when"), ["0", "1.5", "3"], "days since the first");
    assert_eq!(texts("wait"), ["1.25", "0.5", "2"], "durations are days");
    let is_text = |name: &str| matches!(table.columns()[table.column(name).unwrap()].kind, Kind::Text { .. });
    assert_eq!(["num", "stored", "code", "flag", "mixed"].map(is_text), [false, false, true, false, true]);
    // As text, everything as it would be written; words of missing are missing, also errors that are named.
    let options = ReadOptions {
        text: vec!["num".into(), "flag".into()],
        missing: vec!["#DIV/0!".into(), "a".into()],
        ..ReadOptions::default()
    };
    let errors = coded.replace("|1|[s", "|[t=\"e\"><v>#DIV/0!</v>]|[s");
    let table = read(&book(&[("a", &rows(&errors), "")]), &options);
    let texts = |name: &str| -> Vec<String> {
        let column = table.column(name).unwrap();
        (0..3).map(|row| table.text(row, column)).collect()
    };
    assert_eq!(texts("num"), ["1.5", "-2", ""]);
    assert_eq!(texts("flag"), ["TRUE", "FALSE", ""]);
    assert_eq!(texts("mixed"), ["", "", "2.5"]);
    // Numbers beside text with a decimal comma.
    let options = ReadOptions { decimal: Some(','), ..ReadOptions::default() };
    let table = read(&book(&[("a", &rows("x|y\n1.5|a\n2,75|b\n"), "")]), &options);
    assert_eq!((table.number(0, 0), table.number(1, 0)), (1.5, 2.75));
}

/// A cell far away must not fill the memory, and a damaged book is an error wherever it ends.
#[test]
fn damaged_and_hostile_books() {
    let far = "<row r=\"1\"><c r=\"A1\"><v>1</v></c></row><row r=\"1048576\"><c r=\"XFD1048576\"><v>1</v></c></row>";
    let error = read_bytes(&book(&[("a", far, "")]), "a.xlsx", &ReadOptions::default()).unwrap_err();
    assert!(error.to_string().contains("cell XFD1048576 of sheet `a` is far from the others"), "{error}");
    let whole = book(&[("a", &rows("x|y\n1|a\n2|b\n"), "")]);
    read(&whole, &ReadOptions::default());
    for end in 0..whole.len() {
        assert!(read_bytes(&whole[..end], "a.xlsx", &ReadOptions::default()).is_err(), "{end}");
    }
    // Every byte changed: an error or a table, never a panic.
    for at in 0..whole.len() {
        for change in [1u8, 0x20, 0x80] {
            let mut bytes = whole.clone();
            bytes[at] ^= change;
            let _ = read_bytes(&bytes, "a.xlsx", &ReadOptions::default());
        }
    }
}
