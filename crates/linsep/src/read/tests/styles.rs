//! Files as other programs write them: numbers in other styles, dates, row names, spare columns and rows, encodings.

use super::{contents, read_with};
use crate::read::{ReadOptions, TextEncoding, read_bytes};
use crate::table::{Aside, CellReading, DateOrder, Kind, QuestionCode, Table, questions};
use proptest::prelude::*;

fn options() -> ReadOptions {
    ReadOptions::default()
}

fn comma() -> ReadOptions {
    ReadOptions { decimal: Some(','), thousands: Some('.'), ..options() }
}

fn read(text: &str, options: &ReadOptions) -> Table {
    read_bytes(text.as_bytes(), "t.csv", options).unwrap()
}

fn error(text: &str, options: &ReadOptions) -> (String, Option<u64>) {
    let error = read_bytes(text.as_bytes(), "t.csv", options).unwrap_err();
    (error.message().to_string(), error.place().line)
}

/// A writer in any style; the twin of the reader.
fn written(value: f64, decimal: char, thousands: Option<char>) -> String {
    let text = format!("{value}");
    let (whole, decimals) = text.split_once('.').unwrap_or((&text, ""));
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |rest| ("-", rest));
    let mut grouped = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            grouped.extend(thousands);
        }
        grouped.push(digit);
    }
    if decimals.is_empty() { format!("{sign}{grouped}") } else { format!("{sign}{grouped}{decimal}{decimals}") }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// A spreadsheet in German, French or Swiss gives the table that a program gives, to the bit, in pieces of any size.
    #[test]
    fn styles_give_the_same_table(
        rows in prop::collection::vec((-2_000_000i64..2_000_000, 0usize..4, -500i32..500), 1..12),
        which in 0usize..4,
        piece in 1usize..200,
        crlf in any::<bool>(),
    ) {
        let (decimal, thousands) = [(',', Some('.')), (',', Some(' ')), ('.', Some('\'')), (',', None)][which];
        let newline = if crlf { "\r\n" } else { "\n" };
        let mut plain = format!("x;n;t{newline}");
        let mut styled = plain.clone();
        for (mantissa, places, n) in &rows {
            let value = *mantissa as f64 / 10f64.powi(*places as i32);
            plain += &format!("{};{n};b{newline}", written(value, '.', None));
            styled += &format!("{};{};b{newline}", written(value, decimal, thousands), written(f64::from(*n), decimal, thousands));
        }
        let asked = ReadOptions { decimal: Some(decimal), thousands, delimiter: Some(b';'), ..options() };
        let found = read_with(styled.as_bytes(), "t.csv", &asked, piece).unwrap();
        let expected = read_with(plain.as_bytes(), "t.csv", &options(), piece).unwrap();
        prop_assert_eq!(contents(&found), contents(&expected));
        prop_assert_eq!(found.fingerprint(), expected.fingerprint());
    }

    /// Row names, spare columns and spare rows change nothing.
    #[test]
    fn what_programs_add_is_left_out(
        rows in prop::collection::vec((-99i32..99, "[a-c]"), 1..8),
        spare_columns in 0usize..3,
        spare_rows in 0usize..3,
        names in any::<bool>(),
        piece in 1usize..60,
    ) {
        let tail = ",".repeat(spare_columns);
        let body = |with: bool| {
            let mut text = String::from(if names && with { "\"\",x,y" } else { "x,y" });
            text += if with { &tail } else { "" };
            text.push('\n');
            for (i, (x, y)) in rows.iter().enumerate() {
                text += &if names && with { format!("\"{}\",{x},{y}", i + 1) } else { format!("{x},{y}") };
                text += if with { &tail } else { "" };
                text.push('\n');
            }
            if with {
                let columns = 2 + usize::from(names) + spare_columns;
                text += &format!("{}\n", ",".repeat(columns - 1)).repeat(spare_rows);
            }
            text
        };
        let found = read_with(body(true).as_bytes(), "t.csv", &options(), piece).unwrap();
        let plain = read_with(body(false).as_bytes(), "t.csv", &options(), piece).unwrap();
        prop_assert_eq!(contents(&found), contents(&plain));
        prop_assert_eq!(found.fingerprint(), plain.fingerprint());
        prop_assert_eq!(found.asides().contains(&Aside::RowNames), names);
        prop_assert_eq!(found.asides().contains(&Aside::EmptyColumns(spare_columns)), spare_columns > 0);
        prop_assert_eq!(found.asides().contains(&Aside::EmptyRows(spare_rows)), spare_rows > 0);
    }
}

#[test]
fn a_point_is_no_decimal_sign_where_a_comma_is() {
    let table = read("x;y\n1.234;a\n2,5;b\n", &comma());
    assert_eq!([table.number(0, 0), table.number(1, 0)], [1234.0, 2.5]);
    let only = ReadOptions { decimal: Some(','), number: vec!["x".into()], ..options() };
    assert_eq!(error("x;y\n1,5;a\n2.5;b\n", &only), ("`2.5` is not a number".into(), Some(3)));
}

#[test]
fn words_of_missing() {
    let asked = ReadOptions { missing: vec!["-999".into(), "unknown".into(), ".".into()], ..options() };
    let table = read("x,y\n-999,a\n1,unknown\n.,b\n n/a ,#N/A\n", &asked);
    let missing = |c: usize| (0..4).map(|r| table.number(r, c).is_nan()).collect::<Vec<bool>>();
    assert_eq!(missing(0), [true, false, true, true]);
    assert_eq!(missing(1), [false, true, false, true]);
    let json = b"{\"x\":-999,\"t\":\"unknown\"}\n{\"x\":2,\"t\":\"b\"}\n";
    let table = read_bytes(json, "t.jsonl", &asked).unwrap();
    assert!(table.number(0, 0).is_nan() && table.number(0, 1).is_nan() && table.number(1, 0) == 2.0);
    assert_eq!(table.text(1, 1), "b");
}

#[test]
fn whole_columns_of_signs_and_dates() {
    let text = "p,c,d,e,u\n12.5%,$5,2024-03-01,31.12.2024,1/2/2024\n-3 %,$-7.5,2024-02-28T12:00,01.01.2025,2/1/2024\n";
    let table = read(text, &options());
    let row = |r: usize| (0..4).map(|c| table.number(r, c)).collect::<Vec<f64>>();
    assert_eq!(row(0), [12.5, 5.0, 2.0, 0.0]);
    assert_eq!(row(1), [-3.0, -7.5, 0.5, 1.0]);
    assert_ne!(table.columns()[4].kind, Kind::Number, "which is the day is not known");
    let reading = table.reading();
    assert_eq!(reading.of("p"), Some(&CellReading::Percent));
    assert_eq!(reading.of("d"), Some(&CellReading::Date { order: DateOrder::Ymd, first: "2024-02-28".into() }));
    // Another table, read the same: days since the same day.
    let later = ReadOptions { as_read: reading.clone(), ..options() };
    let text = "p,c,d,e,u\n1%,$1,2024-03-02,02.01.2025,x\n";
    let other = read(text, &later);
    assert_eq!((0..4).map(|c| other.number(0, c)).collect::<Vec<f64>>(), [1.0, 1.0, 3.0, 2.0]);
    assert_eq!(error("p,c,d,e,u\n1,$1,2024-03-02,02.01.2025,x\n", &later).1, Some(2));
    assert_eq!(error("p,c,d,e,u\n1%,€1,2024-03-02,02.01.2025,x\n", &later).1, Some(2));
    assert!(error("p,c,d,e,u\n1%,$1,2.3.2024,02.01.2025,x\n", &later).0.contains("is not a date (year, month, day)"));
    // Labels and what is asked to be text stay what they are.
    let kept = ReadOptions { labels: vec!["p".into()], text: vec!["d".into()], ..options() };
    let table = read("p,d\n1%,2024-01-01\n2%,2024-01-02\n", &kept);
    assert!(table.columns().iter().all(|c| c.kind != Kind::Number));
}

#[test]
fn what_is_asked_for() {
    let dates = |order| ReadOptions { dates: vec![("d".into(), order)], ..options() };
    let text = "d,y\n01/02/2024,a\n03/05/2024,b\n";
    assert_eq!(read(text, &dates(Some(DateOrder::Dmy))).number(1, 0), 92.0);
    assert_eq!(read(text, &dates(Some(DateOrder::Mdy))).number(1, 0), 63.0);
    assert!(error(text, &dates(None)).0.contains("order is open"));
    assert_eq!(error("d,y\n2024-01-01,a\n31.12.2024,b\n", &dates(None)).1, Some(3));
    assert_eq!(error("d,y\n2024-01-01,a\n7,b\n", &dates(Some(DateOrder::Ymd))).1, Some(3));
    let numbers = ReadOptions { number: vec!["b".into()], ..options() };
    let table = read("b,y\nTRUE,a\nfalse,b\nNA,c\n", &numbers);
    assert_eq!((table.number(0, 0), table.number(1, 0)), (1.0, 0.0));
    assert_eq!(table.reading().of("b"), Some(&CellReading::Boolean));
    assert_eq!(error("b,y\nyes,a\nmaybe,b\n", &numbers), ("`yes` is not a number".into(), Some(2)));
    let both = ReadOptions { number: vec!["b".into()], dates: vec![("b".into(), None)], ..options() };
    assert!(error("b,y\n1,a\n", &both).0.contains("two of text, numbers and dates"));
}

#[test]
fn lines_before_and_between() {
    let skip = ReadOptions { skip: 2, ..options() };
    let table = read("Report \"1\nof May\nx,y\n1,a\n", &skip);
    assert_eq!((table.number(0, 0), table.place(0).line), (1.0, Some(4)));
    assert!(error("a\n", &skip).0.contains("the file has 1 lines"));
    let comments = ReadOptions { comment: Some(b'#'), ..options() };
    let table = read("# made \"by\n#\nx,y\n1,a\n# it's \"\n2,b\n", &comments);
    assert_eq!((table.n_rows(), table.place(1).line), (2, Some(6)));
    assert_eq!(read("x\n1\n#\n2\n", &comments).n_rows(), 2);
    let table = read("sep=|\nx|y\n1|a\n", &options());
    assert_eq!((table.columns().len(), table.place(0).line), (2, Some(3)));
    let bare = ReadOptions { no_header: true, ..options() };
    let table = read("1,a\n2,b\n", &bare);
    assert_eq!((table.columns()[1].name.as_str(), table.n_rows(), table.place(0).line), ("column2", 2, Some(1)));
    // R's write.table.
    let table = read("\"x\",\"y\"\n\"1\",5,\"a\"\n\"2\",6,\"b\"\n", &options());
    assert_eq!((table.columns().len(), table.number(1, 0)), (2, 6.0));
    assert!(error(",x\n1,2\n1,3\n", &options()).0.contains("column 1 has no name"));
    assert_eq!(error("x,y,\n1,2,\n1,3,4\n", &options()), ("column 3 has no name, but holds `4`".into(), Some(3)));
}

#[test]
fn encodings() {
    let text = "größe,y\n1,ä\n2,€\n";
    let plain = read(text, &options());
    let units = |order: fn(u16) -> [u8; 2]| {
        "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(order).collect::<Vec<u8>>()
    };
    for bytes in [units(u16::to_le_bytes), units(u16::to_be_bytes)] {
        let table = read_bytes(&bytes, "t.csv", &options()).unwrap();
        assert_eq!(table.fingerprint(), plain.fingerprint());
        assert!(matches!(table.asides(), [Aside::Encoding(_)]), "never silently");
    }
    let unmarked = &units(u16::to_le_bytes)[2..];
    let error = read_bytes(unmarked, "t.csv", &options()).unwrap_err();
    assert!(error.to_string().contains("zero bytes") && error.to_string().contains("utf-16le"), "{error}");
    let asked = |encoding| ReadOptions { encoding: Some(encoding), ..options() };
    let table = read_bytes(unmarked, "t.csv", &asked(TextEncoding::Utf16Le)).unwrap();
    assert_eq!(table.fingerprint(), plain.fingerprint());
    let windows = b"gr\xf6\xdfe,y\n1,\xe4\n2,\x80\n";
    let table = read_bytes(windows, "t.csv", &asked(TextEncoding::Windows1252)).unwrap();
    assert_eq!(table.fingerprint(), plain.fingerprint());
    let error = read_bytes(windows, "t.csv", &options()).unwrap_err();
    assert!(error.to_string().contains("encoding = windows-1252 or latin1"), "{error}");
}

#[test]
fn indices_from_zero() {
    for piece in [1, 8, 1000] {
        let table = read_with(b"1 3:1\n0 0:2 2:5\n1 1:1\n", "t.svm", &options(), piece).unwrap();
        assert_eq!(super::sparse_rows(&table), [vec![(3, 1.0)], vec![(0, 2.0), (2, 5.0)], vec![(1, 1.0)]]);
        assert_eq!((table.reading().index_from, table.sparse_width()), (Some(0), 4));
        assert_eq!(table.asides(), [Aside::FromZero]);
    }
    // A later file without index 0, for a model whose file had one.
    let table = read_bytes(b"1 1:1\n0 2:1\n", "t.svm", &options()).unwrap();
    assert_eq!((super::sparse_rows(&table)[0][0].0, table.reading().index_from), (0, None));
    let asked = ReadOptions { index_from: Some(0), ..options() };
    let table = read_bytes(b"1 1:1\n0 2:1\n", "t.svm", &asked).unwrap();
    assert_eq!(super::sparse_rows(&table)[0][0].0, 1);
    let one = ReadOptions { index_from: Some(1), ..options() };
    assert!(read_bytes(b"1 0:1\n", "t.svm", &one).unwrap_err().to_string().contains("index 0"));
}

/// The questions of a table, by column and code.
fn asked(text: &str, options: &ReadOptions, target: Option<&str>) -> Vec<(String, QuestionCode, String, Option<u64>)> {
    let found = questions(&read(text, options), target);
    found.into_iter().map(|q| (q.column, q.code, q.example, q.line)).collect()
}

#[test]
fn questions_name_a_cell_and_its_line() {
    let of = |text: &str| asked(text, &options(), None);
    let one = |column: &str, code, example: &str, line| vec![(column.to_owned(), code, example.to_owned(), Some(line))];
    assert_eq!(of("a;b\n1,5;x\n2;y\n3,25;z\n"), one("a", QuestionCode::NumberStyle, "1,5", 2));
    assert_eq!(of("a;b\n7;x\n1.234.567;y\n"), one("a", QuestionCode::NumberStyle, "1.234.567", 3));
    assert_eq!(of("a;b\n1 234;x\n2 345;y\n"), one("a", QuestionCode::NumberStyle, "1 234", 2));
    assert_eq!(of("a,b\n\"$1,200\",x\n\"$7,000\",y\n"), one("a", QuestionCode::NumberStyle, "$1,200", 2));
    assert_eq!(of("a,b\n5%,x\n7,y\n"), one("a", QuestionCode::MixedSigns, "7", 3));
    assert_eq!(of("a,b\n1/2/2024,x\n3/4/2024,y\n"), one("a", QuestionCode::DateOrder, "1/2/2024", 2));
    assert_eq!(of("a,b\n2024-01-01,x\n31.12.2024,y\n"), one("a", QuestionCode::MixedDates, "31.12.2024", 3));
    assert_eq!(of("a,b\n1,x\n2,y\nlow,z\n"), one("a", QuestionCode::MostlyNumbers, "low", 4));
    assert_eq!(of("a,b\n2024-01-01,x\n2024-01-02,y\nsoon,z\n"), one("a", QuestionCode::MostlyDates, "soon", 4));
    assert_eq!(of("a,b\n7,x\n01234,y\n"), one("a", QuestionCode::LeadingZeros, "01234", 3));
    assert_eq!(of("a,b\nYes,x\nyes,x\n"), one("a", QuestionCode::Variants, "`Yes` and `yes`", 3));
    assert_eq!(of("a,b\n0,x\n10,y\n0.5,z\n"), []);
    assert_eq!(of("a,b\nred,x\ngreen,y\n"), []);
    let text = ReadOptions { text: vec!["a".into()], ..options() };
    assert_eq!(asked("a;b\n1,5;x\n2;y\n", &text, None), []);
    assert_eq!(asked("a,b\n01,x\n2,y\n", &text, None), []);
    assert_eq!(asked("a;b\n1.5;x\n2.5;y\n", &comma(), None).len(), 1);
}

#[test]
fn identifiers_and_leaks() {
    let row = |i: usize| {
        format!("{},p{i},{},{},{}\n", i + 1, i % 3, if i.is_multiple_of(2) { "a" } else { "b" }, i * 7919 % 1000)
    };
    let text = format!("n,id,x,y,z\n{}", (0..60).map(row).collect::<String>());
    let found = asked(&text, &options(), Some("y"));
    let codes: Vec<(&str, QuestionCode)> = found.iter().map(|(c, code, ..)| (c.as_str(), *code)).collect();
    assert_eq!(codes, [("n", QuestionCode::Identifier), ("id", QuestionCode::Identifier)]);
    // A copy of the label as a number, one cell in sixty wrong: not quite; none wrong: a leak.
    let leak = |wrong: usize| {
        let row = |i: usize| {
            format!(
                "{},{}\n",
                usize::from(i.is_multiple_of(2) != (i < wrong)),
                if i.is_multiple_of(2) { "a" } else { "b" }
            )
        };
        asked(&format!("x,y\n{}", (0..60).map(row).collect::<String>()), &options(), Some("y")).len()
    };
    assert_eq!((leak(0), leak(1)), (1, 0));
    // A threshold that tells the label.
    let cut = |i: usize| format!("{}.5,{}\n", i * 37 % 101, if i * 37 % 101 < 50 { "a" } else { "b" });
    let found = asked(&format!("x,y\n{}", (0..101).map(cut).collect::<String>()), &options(), Some("y"));
    assert_eq!(found.iter().map(|f| f.1).collect::<Vec<_>>(), [QuestionCode::Leakage]);
}

/// The quick way of decimal commas and the general one agree, and it leaves alone what only looks like them.
#[test]
fn decimal_commas_by_the_quick_way() {
    let quick = ReadOptions { decimal: Some(','), ..options() };
    // A word of missing turns the quick way off.
    let general = ReadOptions { missing: vec!["none".into()], ..quick.clone() };
    let cells = [
        "1",
        "-2,5",
        ",5",
        "-,25",
        "3,",
        "0,1",
        "123456789,123456789",
        "0,12345678901234567890123",
        "-0",
        "1e3",
        "2,5e-1",
        "+4,5",
        "99999999999999999999",
        "7 ",
        " 8,5",
        "\"9,5\"",
        "",
        "NA",
    ];
    let text: String = ["x;y\n".to_owned()].into_iter().chain(cells.map(|cell| format!("{cell};a\n"))).collect();
    let (fast, slow) = (read(&text, &quick), read(&text, &general));
    for row in 0..cells.len() {
        assert_eq!(fast.number(row, 0).to_bits(), slow.number(row, 0).to_bits(), "{}", cells[row]);
    }
    assert_eq!((fast.number(1, 0), fast.number(2, 0), fast.number(6, 0)), (-2.5, 0.5, 123456789.123456789));
    // Between commas a comma ends a cell, and a word of missing that is a number is missing.
    let two = read("x,y\n1,2\n\"3,5\",4\n", &quick);
    assert_eq!((two.number(0, 0), two.number(0, 1), two.number(1, 0)), (1.0, 2.0, 3.5));
    let gone = read("x;y\n999;a\n1,5;b\n", &ReadOptions { missing: vec!["999".into()], ..quick.clone() });
    assert!(gone.number(0, 0).is_nan() && gone.number(1, 0) == 1.5);
    // Texts are texts.
    for cell in ["1,2,3", "1-2", "1,5x", "1.5"] {
        let table = read(&format!("x;y\n{cell};a\n{cell};b\n"), &quick);
        assert_eq!(table.text(0, 0), cell, "{cell}");
    }
}
