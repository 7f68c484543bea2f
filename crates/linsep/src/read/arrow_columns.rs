//! What Parquet and Arrow files share: which column types are numbers or text, and arrays turned into cells.

use super::Wanted;
use super::column::{Numbers, RawColumn, TextColumn};
#[cfg(any(feature = "arrow", feature = "parquet"))]
use super::guarded::guarded;
use super::infer::{FIX, as_text, shown};
use super::number::{Said, read_cell};
use super::source::Input;
use crate::error::{Error, Place, Result};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal128Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Schema};
/// Rows per chunk of the table. Chosen, not measured: only the time depends on it.
pub(super) const CHUNK_ROWS: usize = 1 << 16;

/// The format, for its errors.
#[derive(Debug, Clone, Copy)]
pub(super) enum ArrowKind {
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "no reader names it"))]
    Parquet,
    Ipc,
}

impl ArrowKind {
    /// The error of a file that cannot be decoded.
    pub(super) fn damaged(self, input: &Input<'_>, what: &str) -> Error {
        let format = match self {
            ArrowKind::Parquet => "Parquet file",
            ArrowKind::Ipc => "Arrow file or stream",
        };
        Error::format(format!("this is not a readable {format}: {what}")).at(Place::file(&**input.name()))
    }

    /// Runs a decoder; what makes it panic is a damaged file.
    #[cfg(any(feature = "arrow", feature = "parquet"))]
    pub(super) fn guarded<T>(self, input: &Input<'_>, decode: impl FnOnce() -> Result<T>) -> Result<T> {
        guarded(decode).unwrap_or_else(|| Err(self.damaged(input, "it is damaged").help("make the file again")))
    }

    /// Refuses columns that are neither numbers nor text, names that occur twice, and tables without any values.
    pub(super) fn check(self, schema: &Schema, input: &Input<'_>) -> Result<()> {
        let file = || Place::file(&**input.name());
        for field in schema.fields() {
            let kind = field.data_type();
            if !(is_number(kind) || is_text(kind)) {
                return Err(Error::format(format!("a column of type {kind} can be neither numbers nor text"))
                    .at(file().column(field.name()))
                    .help("leave the column out")
                    .help("cast it to a number or a string where the file is written"));
            }
        }
        let mut names: Vec<&String> = schema.fields().iter().map(|f| f.name()).collect();
        names.sort();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::format("two columns have the same name")
                .at(file().column(twice[0]))
                .help("give every column its own name"));
        }
        if names.is_empty() {
            return Err(Error::format("the file has no column").at(file()));
        }
        // Nothing but a number in the file then says how many rows there are, and it may be anything.
        if schema.fields().iter().all(|f| *f.data_type() == DataType::Null) {
            return Err(Error::format("every column is of type Null: the file holds no values").at(file()));
        }
        Ok(())
    }

    /// Columns of strings are text, whatever they look like, unless the user decides.
    pub(super) fn decide(self, schema: &Schema, wanted: &mut [Wanted]) {
        for (wanted, field) in wanted.iter_mut().zip(schema.fields()) {
            if *wanted == Wanted::Infer && is_text(field.data_type()) {
                *wanted = Wanted::Text;
            }
        }
    }
}

fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_text(values),
        _ => matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View),
    }
}

fn is_number(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_number(values),
        _ => {
            kind.is_integer()
                || matches!(kind, DataType::Float16 | DataType::Float32 | DataType::Float64 | DataType::Boolean)
                || matches!(kind, DataType::Decimal128(..) | DataType::Null)
        }
    }
}

/// A cell that is not a number where one is wanted, with its row within the part.
pub(super) struct NotANumber {
    row: usize,
    cell: String,
}

impl NotANumber {
    /// The error, for a part whose first row is number `first` of the file.
    pub(super) fn at(self, input: &Input<'_>, first: u64, column: &str) -> Error {
        Error::format(format!("{} is not a number", shown(self.cell.as_bytes())))
            .at(Place::file(&**input.name()).row(first + self.row as u64).column(column))
            .help(FIX)
            .help(as_text(column))
    }
}

/// Cells of one column of the kind that is wanted.
pub(super) enum Builder {
    Numbers(Numbers, usize),
    Text(TextColumn, usize),
}

impl Builder {
    pub(super) fn new(wanted: Wanted) -> Builder {
        match wanted {
            Wanted::Text => Builder::Text(TextColumn::default(), 0),
            Wanted::Number | Wanted::Infer => Builder::Numbers(Numbers::with_capacity(0), 0),
        }
    }

    #[cfg(feature = "parquet")]
    pub(super) fn len(&self) -> usize {
        match self {
            Builder::Numbers(_, n) | Builder::Text(_, n) => *n,
        }
    }

    pub(super) fn finish(self) -> RawColumn {
        match self {
            Builder::Numbers(numbers, _) => RawColumn::Number(numbers.into_cells()),
            Builder::Text(text, _) => RawColumn::Text(text),
        }
    }

    /// Appends a batch.
    pub(super) fn extend(&mut self, array: &ArrayRef) -> std::result::Result<(), NotANumber> {
        if let Some(dictionary) = array.as_any_dictionary_opt() {
            let values = dictionary.values();
            let keys = if values.is_empty() { vec![0; array.len()] } else { dictionary.normalized_keys() };
            let key = |i: usize| (!values.is_empty() && !array.is_null(i)).then(|| keys[i]);
            if let Some(values) = numbers(values) {
                let cells: Vec<f64> = (0..array.len()).map(|i| key(i).map_or(f64::NAN, |key| values[key])).collect();
                self.numbers(&cells);
                return Ok(());
            }
            let values: Vec<Option<&str>> = texts(values).collect();
            return self.texts((0..array.len()).map(|i| key(i).and_then(|key| values[key])));
        }
        // As text a whole number keeps all its digits.
        if let (Builder::Text(..), Some(whole)) = (&mut *self, whole_numbers(array)) {
            let cells: Vec<Option<String>> = whole.iter().map(|v| v.map(|v| v.to_string())).collect();
            return self.texts(cells.iter().map(Option::as_deref));
        }
        match numbers(array) {
            Some(values) => {
                self.numbers(&values);
                Ok(())
            }
            None => self.texts(texts(array)),
        }
    }

    /// Appends numbers; NaN is missing.
    fn numbers(&mut self, values: &[f64]) {
        match self {
            Builder::Numbers(numbers, n) => {
                numbers.extend(values);
                *n += values.len();
            }
            Builder::Text(text, n) => {
                for value in values {
                    match value.is_nan() {
                        true => text.push_missing(),
                        false => text.push(value.to_string().as_bytes()),
                    }
                }
                *n += values.len();
            }
        }
    }

    /// Appends text; where numbers are wanted, the numbers that it says.
    fn texts<'t>(&mut self, cells: impl Iterator<Item = Option<&'t str>>) -> std::result::Result<(), NotANumber> {
        match self {
            Builder::Text(text, n) => {
                for cell in cells {
                    match cell {
                        Some(cell) => text.push(cell.as_bytes()),
                        None => text.push_missing(),
                    }
                    *n += 1;
                }
            }
            Builder::Numbers(numbers, n) => {
                for cell in cells {
                    match cell.map_or(Said::Missing, |cell| read_cell(cell.as_bytes())) {
                        Said::Number(value) => numbers.push(value),
                        Said::Missing => numbers.push(f64::NAN),
                        Said::Text => {
                            return Err(NotANumber { row: *n, cell: cell.unwrap_or_default().to_owned() });
                        }
                    }
                    *n += 1;
                }
            }
        }
        Ok(())
    }
}

/// The cells of an array of numbers, NaN where missing; `None` for an array of text.
fn numbers(array: &ArrayRef) -> Option<Vec<f64>> {
    macro_rules! numbers {
        ($($kind:ty),* => $wide:expr) => {
            $(if let Some(values) = array.as_primitive_opt::<$kind>() {
                let mut wide: Vec<f64> = values.values().iter().map($wide).collect();
                if values.null_count() > 0 {
                    (0..wide.len()).filter(|i| values.is_null(*i)).for_each(|i| wide[i] = f64::NAN);
                }
                return Some(wide);
            })*
        };
    }
    numbers!(Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type => |v| *v as f64);
    numbers!(Float32Type => |v| f64::from(*v));
    numbers!(Float64Type => |v| *v);
    numbers!(Float16Type => |v| v.to_f64());
    if let Some(values) = array.as_primitive_opt::<Decimal128Type>() {
        // Through the decimal text, so that the double is correctly rounded.
        let scale = -i32::from(values.scale());
        let value = |v: i128| format!("{v}e{scale}").parse().unwrap_or(f64::NAN);
        return Some(values.iter().map(|v| v.map_or(f64::NAN, value)).collect());
    }
    let values = array.as_boolean_opt()?;
    Some(values.iter().map(|v| v.map_or(f64::NAN, |v| f64::from(u8::from(v)))).collect())
}

/// The cells of an array of whole numbers.
fn whole_numbers(array: &ArrayRef) -> Option<Vec<Option<i128>>> {
    macro_rules! whole {
        ($($kind:ty),*) => {
            $(if let Some(values) = array.as_primitive_opt::<$kind>() {
                return Some(values.iter().map(|v| v.map(i128::from)).collect());
            })*
        };
    }
    whole!(Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type);
    None
}

/// The cells of a text array; all missing for an array of nulls.
fn texts(array: &ArrayRef) -> Box<dyn Iterator<Item = Option<&str>> + '_> {
    if let Some(values) = array.as_string_opt::<i32>() {
        Box::new(values.iter())
    } else if let Some(values) = array.as_string_opt::<i64>() {
        Box::new(values.iter())
    } else if let Some(values) = array.as_string_view_opt() {
        Box::new(values.iter())
    } else {
        Box::new((0..array.len()).map(|_| None))
    }
}
