//! Random tables written in random ways come back as they were, whatever the pieces and the threads.

use super::{ReadOptions, contents, read_with, sparse_rows};
use crate::table::Kind;
use proptest::prelude::*;

#[derive(Debug, Clone)]
pub(super) enum Drawn {
    Numbers(Vec<Option<f64>>),
    Texts(Vec<Option<String>>),
}

fn column(rows: usize) -> impl Strategy<Value = Drawn> {
    let cell = prop_oneof![
        6 => (-9i32..10).prop_map(f64::from),
        2 => (-40_000i32..40_000).prop_map(f64::from),
        1 => any::<i32>().prop_map(f64::from),
        1 => any::<f64>().prop_filter("NaN is missing", |v| !v.is_nan()),
        1 => (-1000i32..1000).prop_map(|v| f64::from(v) / 8.0),
    ];
    // Spaces around a cell are not part of it.
    let text = "([a-c,;|\"é][a-c,;\t|\"\n\r é]{0,4})?z";
    prop_oneof![
        prop::collection::vec(prop::option::weighted(0.9, 0i32..2), rows)
            .prop_map(|v| Drawn::Numbers(v.into_iter().map(|v| v.map(f64::from)).collect())),
        prop::collection::vec(prop::option::weighted(0.9, cell), rows).prop_map(Drawn::Numbers),
        prop::collection::vec(prop::option::weighted(0.9, text), rows).prop_map(Drawn::Texts),
    ]
}

pub(super) fn table() -> impl Strategy<Value = Vec<Drawn>> {
    (1usize..30, 2usize..12).prop_flat_map(|(rows, columns)| prop::collection::vec(column(rows), columns))
}

/// The table as CSV; `dice` decides quoting and spelling.
pub(super) fn write(columns: &[Drawn], rows: usize, delimiter: char, newline: &str, dice: &[u8]) -> String {
    let mut dice = dice.iter().cycle().copied();
    let mut roll = |n: u8| dice.next().unwrap_or(0) % n;
    let names: Vec<String> = (0..columns.len()).map(|c| format!("c{c}")).collect();
    let mut out = names.join(&delimiter.to_string()) + newline;
    for row in 0..rows {
        for (c, column) in columns.iter().enumerate() {
            if c > 0 {
                out.push(delimiter);
            }
            let cell = match column {
                Drawn::Numbers(v) => v[row].map(|v| if roll(2) == 0 { format!("{v}") } else { format!("{v:e}") }),
                Drawn::Texts(v) => v[row].clone(),
            };
            let cell = cell.unwrap_or_else(|| ["", "NA", "?", "null"][usize::from(roll(4))].to_owned());
            if roll(4) == 0 || cell.contains([delimiter, '"', '\n', '\r']) || (cell.is_empty() && columns.len() == 1) {
                out.push_str(&format!("\"{}\"", cell.replace('"', "\"\"")));
            } else {
                out.push_str(&cell);
            }
        }
        if row + 1 < rows || roll(2) == 0 {
            out.push_str(newline);
        }
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn csv_round_trip(
        columns in table(),
        delimiter in prop::sample::select(vec![',', ';', '\t', '|']),
        newline in prop::sample::select(vec!["\n", "\r\n"]),
        dice in prop::collection::vec(any::<u8>(), 50),
    ) {
        let rows = match &columns[0] { Drawn::Numbers(v) => v.len(), Drawn::Texts(v) => v.len() };
        let text = write(&columns, rows, delimiter, newline, &dice);
        // Rows without any cell at the end of a file are left out, which other tests are about.
        let last = text.strip_suffix(newline).unwrap_or(&text).rsplit('\n').next().unwrap_or_default();
        prop_assume!(last.chars().any(|c| c != delimiter && !c.is_whitespace() && c != '"'));
        let whole = read_with(text.as_bytes(), "t.csv", &ReadOptions::default(), 1 << 20).unwrap();
        prop_assert_eq!(whole.n_rows(), rows);
        for (c, column) in columns.iter().enumerate() {
            for row in 0..rows {
                match column {
                    Drawn::Numbers(v) => {
                        let read = whole.number(row, c);
                        prop_assert_eq!(read.to_bits(), v[row].unwrap_or(f64::NAN).to_bits(), "{} {}", row, c);
                    }
                    Drawn::Texts(v) => prop_assert_eq!(whole.text(row, c), v[row].clone().unwrap_or_default()),
                }
            }
            if let Kind::Text { levels } = &whole.columns()[c].kind {
                prop_assert!(levels.is_sorted());
            }
        }
        for (piece, threads) in [(1, 2), (64, 1), (100, 5), (1000, 2)] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let read = || read_with(text.as_bytes(), "t.csv", &ReadOptions::default(), piece).unwrap();
            let other = pool.install(read);
            prop_assert_eq!(contents(&other), contents(&whole));
            prop_assert_eq!(other.fingerprint(), whole.fingerprint());
        }
    }

    #[test]
    fn libsvm_round_trip(
        rows in prop::collection::vec((-3i32..4, prop::collection::btree_map(1u32..2_000_000_000, any::<f32>(), 0..8)), 1..20),
        piece in 1usize..200,
    ) {
        let rows: Vec<(i32, Vec<(u32, f64)>)> = rows.into_iter().map(|(label, entries)| {
            (label, entries.into_iter().map(|(i, v)| (i, f64::from(v))).filter(|(_, v)| *v != 0.0 && !v.is_nan()).collect())
        }).collect();
        let line = |(label, entries): &(i32, Vec<(u32, f64)>)| {
            entries.iter().fold(format!("{label:+}"), |l, (i, v)| format!("{l} {i}:{v}")) + "\n"
        };
        let text: String = rows.iter().map(line).collect();
        let table = read_with(text.as_bytes(), "t.svm", &ReadOptions::default(), piece).unwrap();
        let expected: Vec<Vec<(u32, f64)>> =
            rows.iter().map(|(_, e)| e.iter().map(|(i, v)| (i - 1, *v)).collect()).collect();
        prop_assert_eq!(sparse_rows(&table), expected);
        for (r, (label, _)) in rows.iter().enumerate() {
            prop_assert_eq!(table.number(r, 0), f64::from(*label));
        }
    }
}
