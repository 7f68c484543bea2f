//! What a cell says: a number, nothing, or text.

/// What a cell says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Said {
    Number(f64),
    Missing,
    Text,
}

/// Reads a whole cell; surrounding spaces do not count, and neither did quotes.
pub(super) fn read_cell(cell: &[u8]) -> Said {
    let cell = trim_spaces(cell);
    if is_missing(cell) {
        return Said::Missing;
    }
    match number(cell) {
        Some(value) => Said::Number(value),
        None => Said::Text,
    }
}

/// A correctly rounded decimal number, or an infinity; never NaN.
pub(super) fn number(cell: &[u8]) -> Option<f64> {
    // Everything that can begin a number: digits, sign, point, and the i of infinity.
    match cell.first()? {
        b'0'..=b'9' | b'+' | b'-' | b'.' | b'i' | b'I' => {
            fast_float2::parse::<f64, _>(cell).ok().filter(|v| !v.is_nan())
        }
        _ => None,
    }
}

/// Without the spaces and tabs around it.
pub(super) fn trim_spaces(mut cell: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = cell {
        cell = rest;
    }
    cell
}

/// Whether a trimmed cell stands for nothing.
pub(super) fn is_missing(cell: &[u8]) -> bool {
    matches!(cell, b"" | b"?" | b"NA" | b"NaN" | b"nan" | b"N/A" | b"null" | b"NULL")
}

/// The number at the beginning of `bytes` and its length; never NaN.
#[inline]
pub(super) fn leading_number(bytes: &[u8]) -> Option<(f64, usize)> {
    match bytes.first()? {
        b'0'..=b'9' | b'+' | b'-' | b'.' => {
            fast_float2::parse_partial::<f64, _>(bytes).ok().filter(|(value, _)| !value.is_nan())
        }
        _ => None,
    }
}

/// Digits at the beginning of eight bytes (in memory order): their value, their count, and the byte after them, which
/// is zero when all eight are digits.
#[inline(always)]
pub(super) fn leading_digits(word: u64) -> (i32, usize, u8) {
    let (mut value, mut count, mut rest) = (0i32, 0, word);
    loop {
        let digit = (rest as u8).wrapping_sub(b'0');
        if digit >= 10 {
            return (value, count, rest as u8);
        }
        value = value * 10 + i32::from(digit);
        count += 1;
        rest >>= 8;
    }
}
