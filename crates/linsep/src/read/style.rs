//! Cells in the style that was asked for: another decimal sign, other words of missing.

use super::ReadOptions;
use super::number::{Said, is_missing, read_cell, trim_spaces};
use crate::error::{Error, Result};
use crate::table::{NumberStyle, Reading};
use crate::words::{Setting, words};

/// How the cells of text files are read.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct CellStyle {
    pub numbers: NumberStyle,
    /// Words of missing besides those that always are.
    pub missing: Vec<String>,
}

impl CellStyle {
    /// What was asked for, and for the rest what the model's table was read with.
    pub(super) fn of(options: &ReadOptions) -> Result<CellStyle> {
        let before = &options.as_read;
        let decimal = options.decimal.or(before.decimal).unwrap_or('.');
        // A sign that is asked for takes the place of the same one of the model.
        let kept = before.thousands.filter(|t| *t != decimal);
        let numbers = NumberStyle { decimal, thousands: options.thousands.or(kept) };
        if !NumberStyle::is_decimal(decimal) {
            return Err(
                Error::usage(words![format!("`{decimal}` is no "), Setting::Decimal]).help("use a point or a comma")
            );
        }
        if let Some(t) = numbers.thousands.filter(|t| !NumberStyle::is_thousands(*t)) {
            return Err(Error::usage(words![format!("`{t}` is no "), Setting::Thousands])
                .help("use a point, a comma, a space, an apostrophe or an underscore"));
        }
        if numbers.thousands == Some(decimal) {
            return Err(Error::usage(words![
                format!("`{decimal}` cannot be both "),
                Setting::Decimal,
                " and ",
                Setting::Thousands
            ])
            .help(words![
                "say both, for example ",
                Setting::Decimal.is(","),
                " ",
                Setting::Thousands.is(".")
            ]));
        }
        let missing = if options.missing.is_empty() { &before.missing } else { &options.missing };
        Ok(CellStyle { numbers, missing: missing.iter().map(|word| word.trim().to_owned()).collect() })
    }

    /// Whether cells are read the plain way, which is the quick one.
    pub(super) fn is_plain(&self) -> bool {
        *self == CellStyle::default()
    }

    /// Whether numbers have a decimal comma and nothing between thousands, and none of them stands for missing.
    pub(super) fn is_decimal_comma(&self) -> bool {
        self.missing.is_empty() && self.numbers == NumberStyle { decimal: ',', thousands: None }
    }

    /// Whether a trimmed cell stands for nothing.
    pub(super) fn is_missing(&self, cell: &[u8]) -> bool {
        is_missing(cell) || self.missing.iter().any(|word| word.as_bytes() == cell)
    }

    /// What a whole cell says.
    pub(super) fn read(&self, cell: &[u8]) -> Said {
        let cell = trim_spaces(cell);
        if self.is_missing(cell) {
            return Said::Missing;
        }
        if self.numbers.is_plain() {
            return read_cell(cell);
        }
        match std::str::from_utf8(cell).ok().and_then(|text| self.numbers.number(text)) {
            Some(value) => Said::Number(value),
            None => Said::Text,
        }
    }

    /// What a model keeps of it.
    pub(super) fn reading(&self) -> Reading {
        Reading {
            decimal: Some(self.numbers.decimal).filter(|d| *d != '.'),
            thousands: self.numbers.thousands,
            missing: self.missing.clone(),
            ..Reading::default()
        }
    }
}
