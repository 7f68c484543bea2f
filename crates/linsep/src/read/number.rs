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
    cell.len() <= 4
        && matches!(cell, b"" | b"?" | b"NA" | b"NaN" | b"nan" | b"N/A" | b"null" | b"NULL" | b"n/a" | b"#N/A")
}

/// The number at the beginning of `bytes` and its length, correctly rounded; never NaN.
#[inline]
pub(super) fn leading_number(bytes: &[u8]) -> Option<(f64, usize)> {
    if !matches!(bytes.first()?, b'0'..=b'9' | b'+' | b'-' | b'.') {
        return None;
    }
    if let Some(found) = plain_decimal(bytes) {
        return Some(found);
    }
    fast_float2::parse_partial::<f64, _>(bytes).ok().filter(|(value, _)| !value.is_nan())
}

/// A number of the form `[+-]ddd.ddd` with at most nineteen digits, and its length. `None` if it has another form or
/// the short way does not decide its rounding.
#[inline]
fn plain_decimal(bytes: &[u8]) -> Option<(f64, usize)> {
    let signed = matches!(bytes.first()?, b'+' | b'-');
    let whole = usize::from(signed);
    let mut digits = Digits { at: whole, value: 0 };
    digits.take_few(bytes);
    let mut count = digits.at - whole;
    let mut decimals = 0;
    if bytes.get(digits.at) == Some(&b'.') {
        digits.at += 1;
        let point = digits.at;
        digits.take(bytes);
        decimals = digits.at - point;
        count += decimals;
    }
    // Nineteen digits fit a u64; an exponent is for the general parser.
    if count == 0 || count > 19 || matches!(bytes.get(digits.at), Some(b'e' | b'E')) {
        return None;
    }
    let value = quotient(digits.value, decimals)?;
    let sign = u64::from(bytes[0] == b'-') << 63;
    Some((f64::from_bits(value.to_bits() | sign), digits.at))
}

/// A decimal `[-]d.ddd` at `at` of which all but the sign fits seven bytes: its value, its length and the byte after it.
#[inline(always)]
pub(super) fn short_decimal(bytes: &[u8], at: usize) -> Option<(f64, usize, u8)> {
    let negative = bytes[at] == b'-';
    let word = word_at(bytes, at + usize::from(negative));
    let digits = word ^ 0x3030_3030_3030_3030;
    // The high bit of every byte that is not 0..=9. A point causes no carry, so the first two such bytes are right.
    let others = (digits | digits.wrapping_add(0x7676_7676_7676_7676)) & 0x8080_8080_8080_8080;
    let point = others.trailing_zeros() & 56;
    let after = others & others.wrapping_sub(1);
    // At least one digit before the point.
    if after == 0 || point == 0 || (word >> point) as u8 != b'.' {
        return None;
    }
    let end = after.trailing_zeros() & 56;
    // The digits after the point move over it; then all move to the end of the word and get leading zeros.
    let before = digits & ((1 << point) - 1);
    let joined = before | ((digits >> point) >> 8) << point;
    let value = eight_digits(joined << (72 - end)) as i64 as f64 / POWERS[((end - point) / 8 - 1) as usize];
    let sign = u64::from(negative) << 63;
    let length = usize::from(negative) + (end / 8) as usize;
    Some((f64::from_bits(value.to_bits() | sign), length, (word >> end) as u8))
}

/// Decimal digits in a row; the value wraps after nineteen.
struct Digits {
    at: usize,
    value: u64,
}

impl Digits {
    /// One at a time: few digits are before the point.
    #[inline(always)]
    fn take_few(&mut self, bytes: &[u8]) {
        while let Some(digit) = bytes.get(self.at).map(|b| b.wrapping_sub(b'0')).filter(|d| *d < 10) {
            self.value = self.value.wrapping_mul(10).wrapping_add(u64::from(digit));
            self.at += 1;
        }
    }

    /// Eight at a time.
    #[inline(always)]
    fn take(&mut self, bytes: &[u8]) {
        // Of ten, by the number of digits.
        const POWERS: [u64; 8] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];
        loop {
            let digits = word_at(bytes, self.at) ^ 0x3030_3030_3030_3030;
            // The high bit of every byte that is not 0..=9; a carry can only spoil bytes after the first of them.
            let others = (digits | digits.wrapping_add(0x7676_7676_7676_7676)) & 0x8080_8080_8080_8080;
            let count = (others.trailing_zeros() / 8) as usize;
            if count == 8 {
                self.value = self.value.wrapping_mul(100_000_000).wrapping_add(eight_digits(digits));
                self.at += 8;
                continue;
            }
            // Shifted to the end of the word the digits get leading zeros; no branch on their number, which varies.
            let value = eight_digits((digits << (56 - 8 * count)) << 8);
            self.value = self.value.wrapping_mul(POWERS[count]).wrapping_add(value);
            self.at += count;
            return;
        }
    }
}

/// The value of eight digits 0..=9, the first in the lowest byte: pairs, then fours, then all.
#[inline(always)]
fn eight_digits(digits: u64) -> u64 {
    let pairs = (digits.wrapping_mul(10).wrapping_add(digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul(100).wrapping_add(pairs >> 16)) & 0x0000_ffff_0000_ffff;
    (fours.wrapping_mul(10_000).wrapping_add(fours >> 32)) & 0xffff_ffff
}

/// `value / 10^decimals`, correctly rounded; `None` where a 64-bit reciprocal cannot decide the rounding.
///
/// A whole number below 2⁵³ and a power of ten up to 10²² are exact in a double, so their quotient is correctly rounded
/// (Clinger, *How to read floating point numbers accurately*, 1990). A larger one, shifted to 64 bits, is multiplied
/// with the reciprocal truncated to 64 bits. Of the product's upper half the last bit is uncertain by less than two,
/// which matters only next to a tie between two doubles (the idea of Lemire, *Number parsing at a gigabyte per second*,
/// 2021, with all exponents so small that nothing under- or overflows).
#[inline(always)]
fn quotient(value: u64, decimals: usize) -> Option<f64> {
    if value < 1 << 53 {
        return Some(value as i64 as f64 / POWERS[decimals]);
    }
    let (reciprocal, scale) = RECIPROCALS[decimals];
    let zeros = value.leading_zeros();
    let top = ((u128::from(value << zeros) * u128::from(reciprocal)) >> 64) as u64;
    let shift = 11 - top.leading_zeros();
    let (rest, tie) = (top & ((1 << shift) - 1), 1 << (shift - 1));
    if rest == tie || rest + 1 == tie {
        return None;
    }
    let mantissa = (top >> shift) + u64::from(rest > tie);
    let exponent = i64::from(shift) + 64 - i64::from(zeros) - i64::from(scale);
    // As a signed number, which processors convert in one step.
    Some(mantissa as i64 as f64 * f64::from_bits(((1023 + exponent) as u64) << 52))
}

/// Powers of ten for as many decimals as 64 bits have; exact as doubles up to 10²², so all of them.
const POWERS: [f64; 20] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19];

/// `⌊2^scale / 10^d⌋` with its 64th bit set, and `scale`.
const RECIPROCALS: [(u64, u32); 20] = {
    let mut table = [(1 << 63, 63); 20];
    let (mut d, mut power) = (1, 1u128);
    while d < 20 {
        power *= 10;
        let scale = 63 + (128 - power.leading_zeros());
        table[d] = (((1u128 << scale) / power) as u64, scale);
        d += 1;
    }
    table
};

/// Eight bytes in memory order, zero if they are not all there.
#[inline(always)]
pub(super) fn word_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).and_then(|b| b.try_into().ok()).map_or(0, u64::from_le_bytes)
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200_000))]

        #[test]
        fn as_the_standard_library(value in any::<u64>(), cut in 0u32..64, decimals in 0usize..20, negative in any::<bool>()) {
            let digits = format!("{:0width$}", value >> cut, width = decimals + 1);
            let (whole, fraction) = digits.split_at(digits.len() - decimals);
            let text = format!("{}{whole}.{fraction}", if negative { "-" } else { "" });
            let padded = format!("{text},\n\0\0\0\0\0\0\0\0");
            let expected: f64 = text.parse().unwrap();
            prop_assert_eq!(leading_number(padded.as_bytes()), Some((expected, text.len())), "{}", text);
            prop_assert_eq!(number(text.as_bytes()), Some(expected));
        }
    }

    #[test]
    fn ties_and_their_neighbours() {
        // 2⁵³ + 1 and its like are halfway between two doubles.
        for (value, decimals) in [(1u64 << 53, 0), (1 << 54, 0), (9_007_199_254_740_993 * 10, 1), (u64::MAX - 2048, 0)]
        {
            for near in value - 3..value + 3 {
                let text = format!("{near}e-{decimals}");
                let expected: f64 = text.parse().unwrap();
                if let Some(found) = quotient(near, decimals) {
                    assert_eq!(found, expected, "{text}");
                }
            }
        }
    }
}
