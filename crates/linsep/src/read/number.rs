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

/// A short decimal at the beginning of `bytes` and its length: `[+-]ddd.ddd`. `None` for anything whose value is not
/// one exact division away: then [`number`] decides.
///
/// A whole number below 2⁵³ and a power of ten up to 10²² are exact in a double, so their quotient is correctly rounded
/// (Clinger, *How to read floating point numbers accurately*, 1990).
#[inline]
pub(super) fn short_decimal(bytes: &[u8]) -> Option<(f64, usize)> {
    const MANTISSA: u64 = 1 << 53;
    const POWERS: [f64; 23] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22,
    ];
    let mut at = 0;
    let negative = bytes.first() == Some(&b'-');
    if negative || bytes.first() == Some(&b'+') {
        at = 1;
    }
    let (mut mantissa, mut decimals, mut digits) = (0u64, 0usize, 0usize);
    let mut point = false;
    while let Some(byte) = bytes.get(at) {
        let digit = byte.wrapping_sub(b'0');
        if digit < 10 {
            // Nineteen digits fit a u64 without overflow.
            if digits == 19 {
                return None;
            }
            mantissa = mantissa * 10 + u64::from(digit);
            digits += 1;
            decimals += usize::from(point);
        } else if *byte == b'.' && !point {
            point = true;
        } else {
            break;
        }
        at += 1;
    }
    if digits == 0 || mantissa > MANTISSA {
        return None;
    }
    let value = mantissa as f64 / POWERS[decimals];
    Some((if negative { -value } else { value }, at))
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
