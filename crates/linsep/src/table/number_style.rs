//! Numbers as people write them: another decimal sign, groups of three digits, a percent or currency sign.

/// How numbers are written; the default is `1234.5`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberStyle {
    /// The sign before the decimals: a point or a comma.
    pub decimal: char,
    /// The sign between groups of three digits; a space stands for every kind of space.
    pub thousands: Option<char>,
}

impl Default for NumberStyle {
    fn default() -> NumberStyle {
        NumberStyle { decimal: '.', thousands: None }
    }
}

/// What stands beside a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark<'a> {
    /// A percent sign.
    Percent,
    /// The sign or the code of a currency.
    Currency(&'a str),
}

/// The signs and codes of currencies that are known.
const CURRENCIES: [&str; 14] = ["$", "€", "£", "¥", "₹", "₩", "₽", "₺", "₪", "EUR", "USD", "GBP", "CHF", "JPY"];
/// Digits in a group.
const GROUP: usize = 3;
/// Bytes of the longest number that is read; the shortest digits of a double are never more than 24.
const LONGEST: usize = 64;

impl NumberStyle {
    /// Whether numbers are written as programs write them.
    pub fn is_plain(self) -> bool {
        self == NumberStyle::default()
    }

    /// Whether a sign can stand before decimals.
    pub fn is_decimal(sign: char) -> bool {
        matches!(sign, '.' | ',')
    }

    /// Whether a sign can stand between groups of digits.
    pub fn is_thousands(sign: char) -> bool {
        matches!(sign, '.' | ',' | ' ' | '\'' | '_')
    }

    /// The number that a trimmed text is, correctly rounded; never NaN.
    pub fn number(self, text: &str) -> Option<f64> {
        let (negative, rest) = match text.strip_prefix(['-', '−']) {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        if rest.starts_with(['i', 'I']) {
            let value = fast_float2::parse::<f64, _>(rest).ok().filter(|v| !v.is_nan())?;
            return Some(if negative { -value } else { value });
        }
        let mut plain = PlainNumber { bytes: [0; LONGEST], length: 0 };
        let mut digits = Digits::default();
        let mut part = Part::Whole;
        for sign in rest.chars() {
            match (sign, part) {
                ('0'..='9', _) => {
                    digits.met(part);
                    plain.put(sign as u8)?;
                }
                (_, Part::Whole) if sign == self.decimal => {
                    digits.end_group()?;
                    part = Part::Decimals;
                    plain.put(b'.')?;
                }
                (_, Part::Whole) if self.separates(sign) => digits.separator()?,
                ('e' | 'E', Part::Whole | Part::Decimals) if digits.any => {
                    digits.end_group()?;
                    part = Part::Exponent;
                    digits.any = false;
                    plain.put(b'e')?;
                }
                ('+' | '-', Part::Exponent) if !digits.any && plain.text().ends_with(b"e") => plain.put(sign as u8)?,
                _ => return None,
            }
        }
        digits.end_group()?;
        if !digits.any {
            return None;
        }
        let value = fast_float2::parse::<f64, _>(plain.text()).ok().filter(|v| !v.is_nan())?;
        Some(if negative { -value } else { value })
    }

    fn separates(self, sign: char) -> bool {
        match self.thousands {
            Some(' ') => is_any_space(sign),
            // Swiss tables have the typographic one.
            Some('\'') => matches!(sign, '\'' | '’'),
            other => other == Some(sign),
        }
    }

    /// A number with a percent or currency sign, before or after it.
    pub fn marked(self, text: &str) -> Option<(Mark<'_>, f64)> {
        let (negative, rest) = match text.strip_prefix(['-', '−']) {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mark, rest) = mark_of(rest)?;
        let rest = rest.trim_matches(is_any_space);
        // One sign: -$5 or $-5, not both.
        if negative && rest.starts_with(['-', '−', '+']) {
            return None;
        }
        let value = self.number(rest)?;
        Some((mark, if negative { -value } else { value }))
    }
}

/// A number as programs write it, while it is made.
struct PlainNumber {
    bytes: [u8; LONGEST],
    length: usize,
}

impl PlainNumber {
    fn put(&mut self, byte: u8) -> Option<()> {
        *self.bytes.get_mut(self.length)? = byte;
        self.length += 1;
        Some(())
    }

    fn text(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// The sign beside a number, and the rest.
fn mark_of(text: &str) -> Option<(Mark<'_>, &str)> {
    if let Some(rest) = text.strip_suffix('%') {
        return Some((Mark::Percent, rest));
    }
    CURRENCIES.into_iter().find_map(|sign| {
        let rest = text.strip_prefix(sign).or_else(|| text.strip_suffix(sign))?;
        Some((Mark::Currency(sign), rest))
    })
}

/// A space of any width that does not end a line.
pub(crate) fn is_any_space(sign: char) -> bool {
    matches!(sign, ' ' | '\t' | '\u{a0}' | '\u{2009}' | '\u{202f}')
}

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Whole,
    Decimals,
    Exponent,
}

/// Digits as they come, and whether they stand in groups of three.
#[derive(Default)]
struct Digits {
    any: bool,
    /// Digits since the last separator, or since the beginning.
    run: usize,
    separators: usize,
}

impl Digits {
    fn met(&mut self, part: Part) {
        self.any = true;
        if part == Part::Whole {
            self.run += 1;
        }
    }

    /// A separator: before the first one to three digits, then three.
    fn separator(&mut self) -> Option<()> {
        let right = if self.separators == 0 { (1..=GROUP).contains(&self.run) } else { self.run == GROUP };
        self.separators += 1;
        self.run = 0;
        right.then_some(())
    }

    /// The end of the whole part: the last group has three digits, too.
    fn end_group(&mut self) -> Option<()> {
        let right = self.separators == 0 || self.run == GROUP;
        self.separators = 0;
        right.then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn style(decimal: char, thousands: Option<char>) -> NumberStyle {
        NumberStyle { decimal, thousands }
    }

    #[test]
    fn what_is_a_number_and_what_is_not() {
        let german = style(',', Some('.'));
        for (text, value) in [
            ("1.234,5", Some(1234.5)),
            ("1234,5", Some(1234.5)),
            ("-0,25", Some(-0.25)),
            ("−0,25", Some(-0.25)),
            ("+7", Some(7.0)),
            ("1.234.567", Some(1_234_567.0)),
            (",5", Some(0.5)),
            ("5,", Some(5.0)),
            ("1,5e-3", Some(0.0015)),
            ("1.234,5e2", Some(123_450.0)),
            ("inf", Some(f64::INFINITY)),
            ("-Infinity", Some(f64::NEG_INFINITY)),
            ("1.5", None),
            ("1.2345", None),
            ("1234.567", None),
            (".123", None),
            ("1..234", None),
            ("1.234.", None),
            ("1,2,3", None),
            ("1,234.5", None),
            ("--1", None),
            ("+-1", None),
            ("1e", None),
            ("1e+", None),
            ("1e+-2", None),
            ("1e2e3", None),
            ("", None),
            (",", None),
            ("-", None),
            ("nan", None),
            ("inan", None),
            ("12a", None),
            ("1 234", None),
        ] {
            assert_eq!(german.number(text), value, "{text}");
        }
        let french = style(',', Some(' '));
        for text in ["1 234,5", "1\u{a0}234,5", "1\u{202f}234,5", "1234,5"] {
            assert_eq!(french.number(text), Some(1234.5), "{text}");
        }
        assert_eq!(style('.', Some('\'')).number("1’234.5"), Some(1234.5));
        assert_eq!(style('.', None).number("1,5"), None);
        assert_eq!(style('.', None).number(&"1".repeat(80)), None);
    }

    #[test]
    fn signs_stand_before_or_after() {
        let plain = NumberStyle::default();
        for (text, found) in [
            ("12.5%", Some((Mark::Percent, 12.5))),
            ("-3 %", Some((Mark::Percent, -3.0))),
            ("$1200", Some((Mark::Currency("$"), 1200.0))),
            ("-$5", Some((Mark::Currency("$"), -5.0))),
            ("$-5", Some((Mark::Currency("$"), -5.0))),
            ("5 €", Some((Mark::Currency("€"), 5.0))),
            ("EUR 7.25", Some((Mark::Currency("EUR"), 7.25))),
            ("-$-5", None),
            ("$1,200", None),
            ("%", None),
            ("$", None),
            ("12", None),
            ("5%%", None),
        ] {
            assert_eq!(plain.marked(text), found, "{text}");
        }
        assert_eq!(style('.', Some(',')).marked("$1,200"), Some((Mark::Currency("$"), 1200.0)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        /// Written in any style, every double reads back to the bit.
        #[test]
        fn every_style_reads_back(value in any::<f64>().prop_filter("finite", |v| v.is_finite()), which in 0usize..5) {
            let style = [style('.', Some(',')), style(',', Some('.')), style(',', Some(' ')), style('.', Some('\'')), style(',', None)][which];
            let text = format!("{value:e}");
            let (mantissa, exponent) = text.split_once('e').unwrap();
            let written = format!("{}e{exponent}", mantissa.replace('.', &style.decimal.to_string()));
            prop_assert_eq!(style.number(&written).map(f64::to_bits), Some(value.to_bits()), "{}", written);
        }

        /// Grouped by a slow writer.
        #[test]
        fn groups_read_back(whole in any::<u64>(), decimals in 0u32..1000, cut in 0u32..60, negative in any::<bool>(), which in 0usize..4) {
            let style = [style('.', Some(',')), style(',', Some('.')), style(',', Some(' ')), style('.', Some('_'))][which];
            let digits = (whole >> cut).to_string();
            let mut grouped = String::new();
            for (i, digit) in digits.chars().enumerate() {
                if i > 0 && (digits.len() - i) % 3 == 0 {
                    grouped.push(style.thousands.unwrap());
                }
                grouped.push(digit);
            }
            let sign = if negative { "-" } else { "" };
            let expected: f64 = format!("{sign}{digits}.{decimals:03}").parse().unwrap();
            let written = format!("{sign}{grouped}{}{decimals:03}", style.decimal);
            prop_assert_eq!(style.number(&written), Some(expected), "{}", written);
        }

        /// Without separators the plain style is the standard library's.
        #[test]
        fn plain_is_plain(text in "[-+]?[0-9.]{0,6}(e[-+]?[0-9]{0,2})?") {
            let expected = text.parse::<f64>().ok();
            prop_assert_eq!(NumberStyle::default().number(&text).map(f64::to_bits), expected.map(f64::to_bits), "{}", text);
        }
    }
}
