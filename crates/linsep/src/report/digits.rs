//! Digits that are proved, and no others.
//!
//! A value printed with d decimals is within 0.55 units of its last digit of the optimum's if it is known to a twentieth
//! of that unit: half a unit is lost by rounding it for print.

use super::text::{beside, short};
use crate::artifact::Model;
use crate::certify::Certificate;

/// The share of the last digit's unit by which a value may be off.
const KNOWN: f64 = 0.05;

/// How far the weight of a score and a column may be from the optimum's, in the units of the column, where the model
/// proves that.
pub(super) fn weight_error(model: &Model, score: usize, column: usize) -> Option<f64> {
    let columns = model.units.scale().len();
    if !model.parts.is_empty() {
        return None;
    }
    match &model.certificate {
        Certificate::SelfConcordance { errors, .. } | Certificate::Quadratic { errors, .. } => {
            errors.as_ref().and_then(|e| e.weights.get(score * columns + column)).copied()
        }
        Certificate::DualityGap { weight_distance: Some(distance), .. } => Some(distance / model.units.scale()[column]),
        _ => None,
    }
}

/// A value as `print` would show it, with as many of its digits as are proved.
fn cut(value: f64, error: Option<f64>, printed: String) -> String {
    let Some(error) = error.filter(|e| *e > 0.0) else { return printed };
    let exponent = printed.find('e').and_then(|at| printed[at + 1..].parse::<i32>().ok());
    let mantissa = printed.split('e').next().unwrap_or_default();
    let decimals = mantissa.find('.').map_or(0, |at| mantissa.len() - at - 1) as i32;
    // 10^-d ≥ error/0.05 for the last decimal d that may be shown.
    let proved = -(error / KNOWN).log10().ceil() + f64::from(exponent.unwrap_or(0));
    if proved >= f64::from(decimals) {
        return printed;
    }
    let nothing = value.abs() < error || proved < 0.0 && value.abs() < 10f64.powf(-proved);
    match (nothing, exponent) {
        (true, _) => format!("±{}", rounded_up(value.abs() + error)),
        (false, None) if proved >= 0.0 => format!("{value:.*}", proved as usize),
        (false, Some(_)) if proved >= 0.0 => format!("{value:.*e}", proved as usize),
        // Whole numbers whose last digits are not known.
        (false, _) => {
            let digits = (value.abs().log10().floor() + proved).max(0.0) as usize;
            format!("{value:.digits$e}")
        }
    }
}

/// One digit, no smaller than the number.
fn rounded_up(value: f64) -> String {
    let power = value.log10().floor();
    let digit = (value / 10f64.powf(power)).ceil();
    format!("{digit:.0}e{power:.0}")
}

/// [`short`] with proved digits only.
pub(super) fn proved_short(value: f64, error: Option<f64>) -> String {
    cut(value, error, short(value))
}

/// [`beside`] with proved digits only.
pub(super) fn proved_beside(value: f64, largest: f64, error: Option<f64>) -> String {
    let printed = beside(value, largest);
    // A number that is not zero is not printed as zero.
    let vanishes = value != 0.0 && !printed.contains(|c: char| ('1'..='9').contains(&c));
    // Unless that is what is known of it.
    if vanishes && error.is_none() { format!("{value:.0e}") } else { cut(value, error, printed) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_proved_digits_are_printed() {
        assert_eq!(proved_short(-0.0645652, None), "-0.06457");
        assert_eq!(proved_short(-0.0645652, Some(4e-7)), "-0.06457");
        assert_eq!(proved_short(-0.0645652, Some(4e-5)), "-0.065");
        assert_eq!(proved_short(18.8612, Some(0.004)), "18.9");
        assert_eq!(proved_short(18.8612, Some(0.04)), "19");
        assert_eq!(proved_short(18.8612, Some(0.4)), "2e1");
        assert_eq!(proved_short(18.8612, Some(30.0)), "±5e1");
        assert_eq!(proved_short(1.23456e9, Some(1e5)), "1.23e9");
        assert_eq!(proved_short(0.0, Some(1e-9)), "0");
    }

    #[test]
    fn small_numbers_are_not_zeros() {
        assert_eq!(proved_beside(1.8e-16, 1.0, None), "2e-16");
        assert_eq!(proved_beside(0.0, 1.0, None), "0");
        assert_eq!(proved_beside(0.12345, 1.0, Some(1e-6)), "0.123");
        assert_eq!(proved_beside(1e-6, 1.0, Some(1e-5)), "0.000");
        assert_eq!(proved_beside(1e-6, 1.0, Some(1e-3)), "±2e-3");
    }
}
