//! Round numbers for ticks, and numbers as text.

/// Steps that readers can count in.
const STEPS: [f64; 3] = [1.0, 2.0, 5.0];

/// Round numbers within a range, at most so many.
pub(super) fn nice_ticks((low, high): (f64, f64), most: usize) -> Vec<(f64, String)> {
    let span = high - low;
    if !(span > 0.0 && span.is_finite()) || most == 0 {
        return Vec::new();
    }
    let mut exponent = (span / most as f64).log10().floor() as i32 - 1;
    loop {
        for factor in STEPS {
            let count = |step: f64| (high / step).floor() - (low / step).ceil() + 1.0;
            let step = factor * 10f64.powi(exponent);
            if count(step) <= most as f64 {
                let first = (low / step).ceil() as i64;
                let last = (high / step).floor() as i64;
                return (first..=last)
                    .map(|k| {
                        // A quotient of whole numbers where the step is below one: 0.3, not 0.30000000000000004.
                        let value = match exponent < 0 {
                            true => k as f64 * factor / 10f64.powi(-exponent),
                            false => k as f64 * step,
                        };
                        (value, tick_text(value, exponent, low.abs().max(high.abs())))
                    })
                    .collect();
            }
        }
        exponent += 1;
    }
}

/// A round step of which so many reach at least as far.
pub(crate) fn nice_step(reach: f64, steps: i32) -> f64 {
    let least = reach / f64::from(steps);
    if !(least > 0.0 && least.is_finite()) {
        return 1.0;
    }
    let power = 10f64.powi(least.log10().floor() as i32);
    STEPS.iter().map(|s| s * power).find(|s| *s >= least).unwrap_or(10.0 * power)
}

/// Powers of ten within a range, or of a short one round numbers.
pub(super) fn log_ticks((low, high): (f64, f64), most: usize) -> Vec<(f64, String)> {
    let (first, last) = (low.log10().ceil() as i32, high.log10().floor() as i32);
    if !(low > 0.0) || last - first < 1 {
        return nice_ticks((low, high), most);
    }
    let stride = ((last - first) as usize / most.max(1) + 1) as i32;
    let from = first.div_euclid(stride) * stride;
    let powers = (from..=last).step_by(stride as usize).filter(|e| *e >= first);
    // All in digits where that is short, else all as powers.
    let in_digits = first >= -2 && last <= 3;
    let text = |e: i32| if in_digits { number_text(10f64.powi(e)) } else { format!("10{}", superscript(e)) };
    powers.map(|e| (10f64.powi(e), text(e))).collect()
}

fn superscript(number: i32) -> String {
    let digit = |c: char| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '0' => '⁰',
        c => char::from_u32('⁴' as u32 + (c as u32 - '4' as u32)).unwrap_or(c),
    };
    number.to_string().chars().map(digit).collect()
}

/// A tick whose step has its last digit at 10^exponent.
fn tick_text(value: f64, exponent: i32, largest: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    // Longer numbers are unreadable beside an axis.
    if !(1e-4..1e7).contains(&largest) {
        let power = value.abs().log10().floor() as i32;
        let digits = (power - exponent).clamp(0, 9) as usize;
        let mantissa = format!("{:.digits$}", value / 10f64.powi(power));
        return minus(&format!("{mantissa}·10{}", superscript(power)));
    }
    minus(&grouped(&format!("{value:.*}", (-exponent).max(0) as usize)))
}

/// Digits of five and more in groups of three, by narrow spaces.
fn grouped(text: &str) -> String {
    let (sign, rest) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (whole, fraction) = rest.split_once('.').map_or((rest, None), |(w, f)| (w, Some(f)));
    let mut out = String::from(sign);
    for (at, digit) in whole.chars().enumerate() {
        if whole.len() >= 5 && at > 0 && (whole.len() - at) % 3 == 0 {
            out.push('\u{2009}');
        }
        out.push(digit);
    }
    if let Some(fraction) = fraction {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

fn minus(text: &str) -> String {
    text.replace('-', "−")
}

/// A number for captions and labels: four digits.
pub(crate) fn number_text(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if !value.is_finite() {
        return minus(&value.to_string().replace("inf", "∞"));
    }
    let power = value.abs().log10().floor() as i32;
    if !(-4..7).contains(&power) {
        let mantissa = format!("{:.2}", value / 10f64.powi(power));
        let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
        return minus(&format!("{mantissa}·10{}", superscript(power)));
    }
    let text = format!("{value:.*}", (3 - power).max(0) as usize);
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    minus(&grouped(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(ticks: Vec<(f64, String)>) -> Vec<String> {
        ticks.into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn ticks_are_round_and_within_the_range() {
        assert_eq!(texts(nice_ticks((-0.1, 1.04), 6)), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(texts(nice_ticks((2590.0, 6410.0), 5)), ["3000", "4000", "5000", "6000"]);
        assert_eq!(texts(nice_ticks((0.0, 30000.0), 4)), ["0", "10\u{2009}000", "20\u{2009}000", "30\u{2009}000"]);
        assert_eq!(texts(nice_ticks((-3e8, 3e8), 3)), ["−2·10⁸", "0", "2·10⁸"]);
        assert_eq!(texts(log_ticks((1e-9, 1.0), 4)), ["10⁻⁹", "10⁻⁶", "10⁻³", "10⁰"]);
        for most in 2..9 {
            let found = nice_ticks((1.234, 9.87), most);
            assert!(found.len() <= most && found.iter().all(|(v, _)| (1.234..=9.87).contains(v)));
        }
        assert!(nice_ticks((1.0, 1.0), 5).is_empty() && nice_ticks((0.0, f64::NAN), 5).is_empty());
    }

    #[test]
    fn numbers_have_four_digits() {
        assert_eq!(number_text(0.123456), "0.1235");
        assert_eq!(number_text(-1234.56), "−1235");
        assert_eq!(number_text(7.5e-13), "7.5·10⁻¹³");
        assert_eq!(number_text(2.0), "2");
        assert_eq!(number_text(f64::NEG_INFINITY), "−∞");
    }
}
