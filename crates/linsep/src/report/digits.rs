//! Digits that are proved, and no others.
//!
//! A value printed with d decimals is within 0.55 units of its last digit of the optimum's if it is known to a twentieth
//! of that unit: half a unit is lost by rounding it for print.

use super::text::{beside, short};
use crate::artifact::Model;
use crate::certify::Certificate;
use crate::model::Method;
use crate::numeric::printed_above;
use crate::objective::Intercept;

/// The share of the last digit's unit by which a value may be off.
const KNOWN: f64 = 0.05;
/// Objectives from here on are printed with an exponent: a sum of losses of order one is far below it.
const LARGE: f64 = 1e6;

/// What proves the coefficients of a score: the certificate, the scale of the columns, and the place of the score in it.
fn proof_of(model: &Model, score: usize) -> Option<(&Certificate, &[f64], usize)> {
    if model.parts.is_empty() {
        return Some((&model.certificate, model.units.scale(), score));
    }
    model.parts.get(score).map(|part| (&part.certificate, part.units.scale(), 0))
}

/// How far the weight of a score and a column may be from the optimum's, in the units of the column, where the model
/// proves that.
pub(super) fn weight_error(model: &Model, score: usize, column: usize) -> Option<f64> {
    let (certificate, scale, at) = proof_of(model, score)?;
    match certificate {
        Certificate::SelfConcordance { errors: Some(errors), .. }
        | Certificate::CurvatureBall { errors: Some(errors), .. }
        | Certificate::Quadratic { errors: Some(errors), .. }
        | Certificate::ClosedForm { errors: Some(errors), .. }
        | Certificate::DualityGap { errors: Some(errors), .. } => {
            errors.weights.get(at * scale.len() + column).copied()
        }
        Certificate::DualityGap { weight_distance: Some(distance), .. } => Some(distance / scale[column]),
        _ => None,
    }
}

/// Whether the intercept is zero because there is none, so that all its digits are right.
fn has_no_intercept(model: &Model) -> bool {
    let none = match &model.method {
        Method::Risk(m) => m.intercept == Intercept::None,
        Method::LeastSquares(m) => m.intercept == Intercept::None,
        Method::Sigmoid(m) => m.intercept == Intercept::None,
        Method::Link(m) => m.intercept == Intercept::None,
        Method::Perceptron(m) => m.intercept == Intercept::None,
        _ => false,
    };
    let linear = model.discriminant.as_linear();
    none && model.true_priors.is_none() && linear.is_some_and(|l| l.intercept().iter().all(|b| *b == 0.0))
}

/// How far the intercept of a score, where all features are zero, may be from the optimum's, where the model proves that.
pub(super) fn intercept_error(model: &Model, score: usize) -> Option<f64> {
    if has_no_intercept(model) {
        return Some(0.0);
    }
    let (certificate, scale, at) = proof_of(model, score)?;
    let linear = model.discriminant.as_linear()?;
    let (centre, cols) = (linear.centre(), linear.n_cols());
    // It is derived from the intercept at the centre, each product and sum rounded once.
    let terms: f64 = linear.weights_of(score).iter().zip(centre).map(|(w, c)| (w * c).abs()).sum();
    let derived = f64::EPSILON * (cols as f64 + 4.0) * (terms + linear.intercept_at_centre()[score].abs());
    match certificate {
        Certificate::SelfConcordance { errors: Some(errors), .. }
        | Certificate::CurvatureBall { errors: Some(errors), .. }
        | Certificate::Quadratic { errors: Some(errors), .. }
        | Certificate::ClosedForm { errors: Some(errors), .. }
        | Certificate::DualityGap { errors: Some(errors), .. } => {
            let weights = errors.weights.get(at * cols..(at + 1) * cols)?;
            let moved: f64 = weights.iter().zip(centre).map(|(e, c)| e * c.abs()).sum();
            Some(errors.intercept.get(at)? + moved + derived)
        }
        Certificate::DualityGap { weight_distance: Some(weights), intercept_distance: Some(own), .. } => {
            let length = centre.iter().zip(scale).map(|(c, s)| (c / s) * (c / s)).sum::<f64>().sqrt();
            Some(own + weights * length + derived)
        }
        _ => None,
    }
}

/// Whether the coefficients of a score are those of an optimum, so that digits beyond what is proved are nobody's.
fn has_optimum(model: &Model, score: usize) -> bool {
    let proof = proof_of(model, score);
    proof.is_some_and(|(certificate, ..)| {
        use Certificate::{Absent, ClosedForm, CurvatureBall, DualityGap, Quadratic, SelfConcordance};
        match certificate {
            SelfConcordance { .. } | CurvatureBall { .. } | Quadratic { .. } | DualityGap { .. } => true,
            // A minimum was looked for, and nothing was proved of what was found.
            Absent { .. } => matches!(&model.method, Method::Risk(_) | Method::Link(_) | Method::LeastSquares(_)),
            // Of parameters that somebody gave, and of counts, nothing is proved beyond the equations.
            ClosedForm { .. } => matches!(&model.method, Method::Gaussian(method) if method.known.is_none()),
            _ => false,
        }
    })
}

/// The objective with ten decimals, or as many as rounding leaves; six digits where its rounding was not bounded, marked
/// where large offsets or a value of the size of rounding may make them wrong.
pub(super) fn proved_objective(model: &Model) -> String {
    let value = model.objective.value;
    let error = match &model.certificate {
        // What the dual value allows for beyond the gap is the rounding of F. A gap that is F itself says nothing of it.
        Certificate::DualityGap { objective, dual, gap, .. } if *dual > 0.0 => objective - dual - gap,
        Certificate::SelfConcordance { objective_error: Some(error), .. }
        | Certificate::CurvatureBall { objective_error: error, .. } => *error,
        // Large offsets leave few digits of a loss, and nothing was proved of them.
        Certificate::Absent { .. } | Certificate::DualityGap { .. } if value != 0.0 => {
            return format!("~{} (its rounding is not bounded)", six_digits(value));
        }
        _ => return six_digits(value),
    };
    let known = if error.is_finite() { ProvedTo::Within(error) } else { ProvedTo::Nothing };
    let printed = if value.abs() < LARGE { format!("{value:.10}") } else { format!("{value:.9e}") };
    cut(value, known, printed)
}

/// Six significant digits.
pub(super) fn six_digits(value: f64) -> String {
    significant(value, 6)
}

/// Some significant digits, without an exponent where that is short.
pub(super) fn significant(value: f64, digits: usize) -> String {
    let (exponent, last) = (value.abs().log10().floor(), digits as f64 - 1.0);
    match exponent {
        e if e >= -4.0 && e <= last => format!("{value:.*}", (last - e) as usize),
        _ if value == 0.0 => "0".into(),
        _ => format!("{value:.*e}", digits - 1),
    }
}

/// What is known of a printed coefficient.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ProvedTo {
    /// It is what it is: no optimum is claimed.
    Exactly,
    /// So far from the optimum's, at most.
    Within(f64),
    /// Nothing is proved of it.
    Nothing,
}

impl ProvedTo {
    /// Of a coefficient of a score, with the error that is proved of it.
    pub(super) fn of(model: &Model, score: usize, error: Option<f64>) -> ProvedTo {
        match error {
            Some(error) => ProvedTo::Within(error),
            None if has_optimum(model, score) => ProvedTo::Nothing,
            None => ProvedTo::Exactly,
        }
    }

    /// The same per unit of another size.
    pub(super) fn scaled(self, scale: f64) -> ProvedTo {
        if let ProvedTo::Within(error) = self { ProvedTo::Within(error * scale) } else { self }
    }
}

/// What the mark before an unproved number says, where a text has one.
pub(super) fn explained_marks(text: &str) -> &'static str {
    if text.contains(" ~") { "  ~ no digit of this number is proved\n" } else { "" }
}

/// About a number: its size, and no more.
fn about(value: f64) -> String {
    if value == 0.0 { "~0".into() } else { format!("~{value:.0e}") }
}

/// A value as `print` would show it, with as many of its digits as are proved.
fn cut(value: f64, known: ProvedTo, printed: String) -> String {
    let error = match known {
        ProvedTo::Within(error) if error > 0.0 => error,
        ProvedTo::Nothing => return about(value),
        _ => return printed,
    };
    let exponent = printed.find('e').and_then(|at| printed[at + 1..].parse::<i32>().ok());
    let mantissa = printed.split('e').next().unwrap_or_default();
    let decimals = mantissa.find('.').map_or(0, |at| mantissa.len() - at - 1) as i32 - exponent.unwrap_or(0);
    // 10^-last ≥ error/0.05 for the last decimal that may be shown; it is negative where that is before the point.
    let last = -(error / KNOWN).log10().ceil();
    if last >= f64::from(decimals) {
        return printed;
    }
    // Digits after the first one that is not zero.
    let digits = value.abs().log10().floor() + last;
    match exponent {
        _ if value.abs() < error || !(digits >= 0.0) => format!("±{}", rounded_up(value.abs() + error)),
        None if last >= 0.0 => format!("{value:.*}", last as usize),
        // With an exponent, or a whole number whose last digits are not known.
        _ => format!("{value:.*e}", digits as usize),
    }
}

/// One digit, no smaller than the number.
fn rounded_up(value: f64) -> String {
    printed_above(value, |x| format!("{x:.0e}"))
}

/// [`short`] with proved digits only.
pub(super) fn proved_short(value: f64, known: ProvedTo) -> String {
    cut(value, known, short(value))
}

/// [`beside`] with proved digits only.
pub(super) fn proved_beside(value: f64, largest: f64, known: ProvedTo) -> String {
    let printed = beside(value, largest);
    // A number that is not zero is not printed as zero.
    let vanishes = value != 0.0 && !printed.contains(|c: char| ('1'..='9').contains(&c));
    // Unless that is what is known of it.
    if vanishes && known == ProvedTo::Exactly { format!("{value:.0e}") } else { cut(value, known, printed) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_proved_digits_are_printed() {
        assert_eq!(proved_short(-0.0645652, ProvedTo::Exactly), "-0.06457");
        assert_eq!(proved_short(-0.0645652, ProvedTo::Within(4e-7)), "-0.06457");
        assert_eq!(proved_short(-0.0645652, ProvedTo::Within(4e-5)), "-0.065");
        assert_eq!(proved_short(18.8612, ProvedTo::Within(0.004)), "18.9");
        assert_eq!(proved_short(18.8612, ProvedTo::Within(0.04)), "19");
        assert_eq!(proved_short(18.8612, ProvedTo::Within(0.4)), "2e1");
        assert_eq!(proved_short(18.8612, ProvedTo::Within(30.0)), "±5e1");
        assert_eq!(proved_short(1.23456e9, ProvedTo::Within(1e5)), "1.23e9");
        assert_eq!(proved_short(0.0, ProvedTo::Within(1e-9)), "0");
        assert_eq!(proved_beside(2.862_441_038_9e11, 2.862_441_038_9e11, ProvedTo::Within(2.4e10)), "±4e11");
        assert_eq!(proved_beside(2.862_441_038_9e11, 2.862_441_038_9e11, ProvedTo::Within(4e8)), "2.9e11");
        assert_eq!(proved_short(6.640_906_894_582_15e149, ProvedTo::Within(5e147)), "7e149");
        assert_eq!(proved_short(-4.495_991_23e6, ProvedTo::Within(2e3)), "-4.5e6");
        assert_eq!(proved_short(0.3, ProvedTo::Within(0.02)), "±4e-1");
        assert_eq!(proved_short(9.5e11, ProvedTo::Within(9e11)), "±2e12");
        assert_eq!(proved_beside(0.0, 1.0, ProvedTo::Within(0.9)), "±9e-1");
    }

    #[test]
    fn of_what_is_not_proved_there_is_a_size() {
        assert_eq!(proved_short(-0.0645652, ProvedTo::Nothing), "~-6e-2");
        assert_eq!(proved_beside(0.0, 1.0, ProvedTo::Nothing), "~0");
    }

    #[test]
    fn six_digits_of_what_is_not_bounded() {
        assert_eq!(six_digits(0.398_915_096_8), "0.398915");
        assert_eq!(six_digits(12_345.678), "12345.7");
        assert_eq!(six_digits(7.394_628_501_33e29), "7.39463e29");
        assert_eq!(six_digits(1.234_567_89e-7), "1.23457e-7");
        assert_eq!(six_digits(0.0), "0");
    }

    #[test]
    fn small_numbers_are_not_zeros() {
        assert_eq!(proved_beside(1.8e-16, 1.0, ProvedTo::Exactly), "2e-16");
        assert_eq!(proved_beside(0.0, 1.0, ProvedTo::Exactly), "0");
        assert_eq!(proved_beside(0.12345, 1.0, ProvedTo::Within(1e-6)), "0.123");
        assert_eq!(proved_beside(1e-6, 1.0, ProvedTo::Within(1e-5)), "0.000");
        assert_eq!(proved_beside(1e-6, 1.0, ProvedTo::Within(1e-3)), "±2e-3");
    }
}
