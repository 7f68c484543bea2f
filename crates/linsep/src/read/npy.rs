//! NumPy's `.npy`: one array of numbers of one or two dimensions. Its columns have no names and are called `column1`, `column2`
//! and so on.

use super::ReadOptions;
use super::column::Numbers;
use super::csv::numbered_names;
use super::source::{Input, halted, no_room};
use super::wanted;
use crate::error::{Error, Place, Result};
use crate::numeric::has_room;
use crate::table::{Cells, Chunk, Column, Kind, Origin, RowPlaces, Table};
use crate::watch::Watch;
use std::io::Read;
use std::sync::Arc;

/// How such a file begins.
pub(super) const MAGIC: &[u8] = b"\x93NUMPY";
/// Rows in a chunk. Chosen; results do not depend on it.
const ROWS: usize = 1 << 16;
/// Bytes that the longest header may have. NumPy's own limit is shorter.
const LONGEST: usize = 1 << 20;
/// Whole numbers up to here are exact as doubles: 2⁵³.
const EXACT: i128 = 1 << 53;

/// What the header says.
#[derive(Debug, PartialEq)]
struct ArrayHeader {
    number: NumberKind,
    little: bool,
    fortran: bool,
    rows: usize,
    cols: usize,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum NumberKind {
    Bool,
    Signed(usize),
    Unsigned(usize),
    Float(usize),
}

impl NumberKind {
    fn size(self) -> usize {
        match self {
            NumberKind::Bool => 1,
            NumberKind::Signed(n) | NumberKind::Unsigned(n) | NumberKind::Float(n) => n,
        }
    }
}

/// Reads arrays with the same number of columns.
pub(super) fn read(inputs: &[Input<'_>], options: &ReadOptions, watch: &Watch) -> Result<Table> {
    let mut chunks: Vec<Chunk> = Vec::new();
    let mut width: Option<usize> = None;
    for input in inputs {
        halted(watch)?;
        let mut bytes = Vec::new();
        input.open(&Arc::default())?.read_to_end(&mut bytes).map_err(|e| input.failed(&e))?;
        let (header, data) = array_header(&bytes)
            .map_err(|(message, help)| Error::format(message).at(Place::file(&**input.name())).help(help))?;
        if *width.get_or_insert(header.cols) != header.cols {
            let message = format!(
                "the array has {} columns, that of `{}` has {}",
                header.cols,
                inputs[0].name(),
                width.unwrap_or(0)
            );
            return Err(Error::format(message)
                .at(Place::file(&**input.name()))
                .help("read arrays of one width together"));
        }
        if !has_room(header.rows.saturating_mul(header.cols).saturating_mul(size_of::<f64>())) {
            return Err(no_room(input));
        }
        chunks.extend(rows_of(&header, data, input)?);
    }
    if chunks.is_empty() {
        return Err(Error::format("there is no row").at(Place::file(&**inputs[0].name())));
    }
    let names = numbered_names(width.unwrap_or(0));
    wanted(&names, options, inputs[0].name())?;
    let columns = names.into_iter().map(|name| Column { name, kind: Kind::Number }).collect();
    Ok(Table::new(columns, chunks, 0))
}

fn rows_of(header: &ArrayHeader, data: &[u8], input: &Input<'_>) -> Result<Vec<Chunk>> {
    let size = header.number.size();
    let mut chunks = Vec::new();
    for first in (0..header.rows).step_by(ROWS) {
        let rows = ROWS.min(header.rows - first);
        let mut cells = Vec::with_capacity(header.cols);
        for c in 0..header.cols {
            let mut values = Vec::with_capacity(rows);
            for row in first..first + rows {
                let at = if header.fortran { c * header.rows + row } else { row * header.cols + c };
                let value = number(&data[at * size..(at + 1) * size], header).ok_or_else(|| {
                    Error::format("the whole number is too large to be exact as a double")
                        .at(Place::file(&**input.name()).row(row as u64 + 1).column(format!("column{}", c + 1)))
                        .help("save the array as doubles")
                })?;
                values.push(value);
            }
            let mut numbers = Numbers::with_capacity(rows);
            numbers.extend(&values);
            cells.push(numbers.into_cells());
        }
        let cells: Vec<Cells> = cells;
        let origin = Origin { file: input.name().clone(), rows: RowPlaces::Numbered { first: first as u64 + 1 } };
        chunks.push(Chunk { n_rows: rows, cells, sparse: None, origin });
    }
    Ok(chunks)
}

/// One number; `None` where a double cannot hold it.
fn number(bytes: &[u8], header: &ArrayHeader) -> Option<f64> {
    let mut wide = [0u8; 8];
    for (i, byte) in bytes.iter().enumerate() {
        wide[if header.little { i } else { bytes.len() - 1 - i }] = *byte;
    }
    let bits = u64::from_le_bytes(wide);
    let whole = match header.number {
        NumberKind::Float(4) => return Some(f64::from(f32::from_bits(bits as u32))),
        NumberKind::Float(_) => return Some(f64::from_bits(bits)),
        NumberKind::Bool => return Some(f64::from(u8::from(bits != 0))),
        NumberKind::Unsigned(_) => i128::from(bits),
        NumberKind::Signed(size) => {
            // The sign is spread over the bytes that were not there.
            let unused = 64 - 8 * size as u32;
            i128::from(((bits << unused) as i64) >> unused)
        }
    };
    (whole.abs() <= EXACT).then_some(whole as f64)
}

type Refused = (String, &'static str);

/// The header and the bytes of the array.
fn array_header(bytes: &[u8]) -> std::result::Result<(ArrayHeader, &[u8]), Refused> {
    let damaged = || ("this is not a whole array of NumPy's".to_owned(), "save it again with `numpy.save`");
    let rest = bytes.strip_prefix(MAGIC).ok_or_else(damaged)?;
    let (length, rest) = match rest {
        [1, _, a, b, rest @ ..] => (usize::from(u16::from_le_bytes([*a, *b])), rest),
        [2 | 3, _, a, b, c, d, rest @ ..] => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, rest),
        _ => return Err(damaged()),
    };
    if length > LONGEST || length > rest.len() {
        return Err(damaged());
    }
    let (text, data) = rest.split_at(length);
    let text = std::str::from_utf8(text).map_err(|_| damaged())?;
    let kind = value_of(text, "descr").ok_or_else(damaged)?.trim_matches(['\'', '"']).to_owned();
    let fortran = value_of(text, "fortran_order").ok_or_else(damaged)? == "True";
    let shape: Vec<usize> = value_of(text, "shape")
        .and_then(|shape| {
            let inner = shape.strip_prefix('(')?.strip_suffix(')')?;
            inner.split(',').map(str::trim).filter(|n| !n.is_empty()).map(|n| n.parse().ok()).collect()
        })
        .ok_or_else(damaged)?;
    let (rows, cols) = match shape[..] {
        [rows] => (rows, 1),
        [rows, cols] => (rows, cols),
        _ => {
            let message = format!("the array has {} dimensions, a table has two", shape.len());
            return Err((message, "save an array of rows and columns"));
        }
    };
    let unknown =
        || (format!("numbers of the kind `{kind}` are not read"), "save the array as doubles: `a.astype(float)`");
    let mut signs = kind.chars();
    let (order, letter) = (signs.next().ok_or_else(unknown)?, signs.next().ok_or_else(unknown)?);
    let size: usize = signs.as_str().parse().map_err(|_| unknown())?;
    let number = match (letter, size) {
        ('f', 4 | 8) => NumberKind::Float(size),
        ('i', 1 | 2 | 4 | 8) => NumberKind::Signed(size),
        ('u', 1 | 2 | 4 | 8) => NumberKind::Unsigned(size),
        ('b', 1) => NumberKind::Bool,
        _ => return Err(unknown()),
    };
    let little = match order {
        '<' | '|' => true,
        '>' => false,
        _ => return Err(unknown()),
    };
    let needed = rows.checked_mul(cols).and_then(|n| n.checked_mul(size)).ok_or_else(damaged)?;
    if cols == 0 || data.len() < needed {
        return Err(damaged());
    }
    Ok((ArrayHeader { number, little, fortran, rows, cols }, &data[..needed]))
}

/// The value of a key in the header, which is a dictionary as Python writes it.
fn value_of<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let after = text.split_once(&format!("'{key}':"))?.1.trim_start();
    let end = match after.starts_with('(') {
        true => after.find(')')? + 1,
        false => after.find([',', '}'])?,
    };
    Some(after[..end].trim())
}

#[cfg(test)]
mod tests {
    use crate::read::{ReadOptions, read_bytes};

    /// As `numpy.save` writes it: the header padded to 64 bytes.
    fn saved(kind: &str, fortran: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let mut text = format!("{{'descr': '{kind}', 'fortran_order': {fortran}, 'shape': {shape}, }}");
        while (10 + text.len() + 1) % 64 != 0 {
            text.push(' ');
        }
        text.push('\n');
        let length = (text.len() as u16).to_le_bytes();
        [&b"\x93NUMPY\x01\x00"[..], &length, text.as_bytes(), data].concat()
    }

    #[test]
    fn arrays_of_every_kind() {
        let read = |bytes: &[u8]| read_bytes(bytes, "a.npy", &ReadOptions::default()).unwrap();
        let doubles: Vec<u8> = [1.5f64, f64::NAN, -3.0, 4.0, 5.0, 6.0].iter().flat_map(|v| v.to_le_bytes()).collect();
        let table = read(&saved("<f8", "False", "(3, 2)", &doubles));
        assert_eq!((table.number(0, 0), table.number(1, 0), table.number(2, 1)), (1.5, -3.0, 6.0));
        assert!(table.number(0, 1).is_nan());
        assert_eq!((table.columns()[1].name.as_str(), table.place(1).row), ("column2", Some(2)));
        let table = read(&saved("<f8", "True", "(3, 2)", &doubles));
        assert_eq!((table.number(2, 0), table.number(0, 1)), (-3.0, 4.0));
        let shorts: Vec<u8> = [-2i16, 300].iter().flat_map(|v| v.to_be_bytes()).collect();
        let table = read(&saved(">i2", "False", "(2,)", &shorts));
        assert_eq!((table.number(0, 0), table.number(1, 0)), (-2.0, 300.0));
        let table = read(&saved("|b1", "False", "(1, 2)", &[1, 0]));
        assert_eq!((table.number(0, 0), table.number(0, 1)), (1.0, 0.0));
        let singles: Vec<u8> = [0.5f32, 2.0].iter().flat_map(|v| v.to_le_bytes()).collect();
        assert_eq!(read(&saved("<f4", "False", "(2, 1)", &singles)).number(0, 0), 0.5);
    }

    #[test]
    fn arrays_that_are_refused() {
        let whole = saved("<f8", "False", "(2, 2)", &[0; 32]);
        let cases: [(Vec<u8>, &str); 8] = [
            (whole[..whole.len() - 1].to_vec(), "not a whole array"),
            (whole[..20].to_vec(), "not a whole array"),
            (b"\x93NUMPY\x09\x00".to_vec(), "not a whole array"),
            (saved("<U3", "False", "(2, 2)", &[0; 48]), "`<U3` are not read"),
            (saved("<c16", "False", "(1, 1)", &[0; 16]), "`<c16` are not read"),
            (saved("<f8", "False", "(1, 1, 1)", &[0; 8]), "3 dimensions"),
            (saved("<f8", "False", "(0, 2)", &[]), "there is no row"),
            (saved("<u8", "False", "(1, 1)", &u64::MAX.to_le_bytes()), "too large"),
        ];
        for (bytes, said) in cases {
            let error = read_bytes(&bytes, "a.npy", &ReadOptions::default()).unwrap_err();
            assert!(error.to_string().contains(said), "{error}");
        }
        for end in 0..whole.len() {
            assert!(read_bytes(&whole[..end], "a.npy", &ReadOptions::default()).is_err());
        }
    }
}
