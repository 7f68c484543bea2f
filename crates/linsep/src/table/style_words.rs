//! Styles of numbers that text is looked at for, in words.

use super::NumberStyle;
use crate::words::{Setting, Words, words};

/// Styles that are looked for, the simpler first.
pub(super) const STYLES: [NumberStyle; 7] = [
    NumberStyle { decimal: '.', thousands: None },
    NumberStyle { decimal: '.', thousands: Some(',') },
    NumberStyle { decimal: ',', thousands: None },
    NumberStyle { decimal: ',', thousands: Some('.') },
    NumberStyle { decimal: '.', thousands: Some(' ') },
    NumberStyle { decimal: ',', thousands: Some(' ') },
    NumberStyle { decimal: '.', thousands: Some('\'') },
];

/// What tells the numbers of a style.
pub(super) fn sign_words(style: NumberStyle) -> &'static str {
    match (style.decimal, style.thousands) {
        ('.', None) => "a decimal point",
        (_, None) => "a decimal comma",
        ('.', Some(_)) => "signs between thousands",
        (_, Some(_)) => "a decimal comma and signs between thousands",
    }
}

/// The settings that read a style.
pub(super) fn style_words(style: NumberStyle) -> Words {
    let decimal = Setting::Decimal.is(style.decimal);
    let sign = |t: char| if t == ' ' { "space".to_owned() } else { t.to_string() };
    match (style.decimal, style.thousands) {
        (_, None) => words!["read them with ", decimal],
        ('.', Some(t)) => words!["read them with ", Setting::Thousands.is(sign(t))],
        (_, Some(t)) => words!["read them with ", decimal, " ", Setting::Thousands.is(sign(t))],
    }
}
