//! Numbers and columns of text.

/// A number with four significant digits (more only where a whole part needs them), whatever its size.
pub(super) fn short(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        return "0".into();
    }
    if !(1e-4..1e6).contains(&size) {
        return format!("{value:.3e}");
    }
    // Rounding first: 0.99996 has the digits of 1.
    let rounded: f64 = format!("{size:.3e}").parse().unwrap_or(size);
    let decimals = (3 - rounded.log10().floor() as i32).max(1) as usize;
    format!("{value:.decimals$}")
}

/// A number to be compared with others of which this is the largest: all get the decimals that show its four digits.
pub(super) fn beside(value: f64, largest: f64) -> String {
    if value == 0.0 || !(1e-4..1e6).contains(&largest) {
        return short(value);
    }
    let decimals = (3 - largest.log10().floor() as i32).max(1) as usize;
    format!("{value:.decimals$}")
}

/// Text broken at spaces into lines of at most `width` characters, where its words allow.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > width {
            lines.push(String::new());
            used = 0;
        }
        if let Some(line) = lines.last_mut() {
            if used > 0 {
                line.push(' ');
                used += 1;
            }
            line.push_str(word);
            used += length;
        }
    }
    lines
}

/// A level of confidence in per cent: four decimals, and more where they would make 100 of less.
pub(super) fn level_text(level: f64) -> String {
    let text = format!("{:.4}", 100.0 * level);
    if text == "100.0000" && level < 1.0 {
        // Nines are added until the text is below 100; 100·level may itself be rounded to 100.
        let below = 1.0 - level;
        // A millionth is the rounding of `1 − level`.
        let decimals = (-(100.0 * below).log10() - 1e-6).ceil().max(4.0) as usize;
        let digit = 10 - ((100.0 * below) * 10f64.powi(decimals as i32) - 1e-6).ceil().clamp(1.0, 9.0) as usize;
        return format!("99.{}{digit}", "9".repeat(decimals - 1));
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A share as a percentage.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// A count with its noun.
pub(super) fn count(n: usize, noun: &str) -> String {
    format!("{} {noun}{}", thousands(n as f64), if n == 1 { "" } else { "s" })
}

/// A whole number with separated thousands; other numbers as they are.
pub(super) fn thousands(value: f64) -> String {
    if value.fract() != 0.0 || value.abs() >= 1e15 {
        return short(value);
    }
    let digits = format!("{}", value.abs());
    let mut out = String::new();
    for (i, d) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            out.push(',');
        }
        out.push(d);
    }
    if value < 0.0 { format!("-{out}") } else { out }
}

/// Rows of cells under headings: the first column to the left, the others to the right.
pub(super) fn grid(rows: &[Vec<String>], indent: usize) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |c: usize| rows.iter().filter_map(|r| r.get(c)).map(|s| s.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for row in rows {
        let mut line = " ".repeat(indent);
        for (c, cell) in row.iter().enumerate() {
            let padding = " ".repeat(widths[c] - cell.chars().count());
            match c {
                0 => line.extend([cell.as_str(), padding.as_str()]),
                _ => line.extend(["  ", padding.as_str(), cell.as_str()]),
            }
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// Cuts a name that would make a table unreadable.
pub(super) fn clip(name: &str, width: usize) -> String {
    if name.chars().count() <= width {
        return name.to_owned();
    }
    name.chars().take(width - 1).chain(['…']).collect()
}

/// A p value as people read it, also where it is below every double.
pub(super) fn p_text(ln_p: f64) -> String {
    let p = ln_p.exp();
    if p >= 0.001 {
        return format!("{p:.4}");
    }
    if ln_p.is_nan() {
        return "-".into();
    }
    if ln_p == f64::NEG_INFINITY {
        return "0".into();
    }
    let log10 = ln_p / std::f64::consts::LN_10;
    let mut exponent = log10.floor();
    let mut mantissa = 10f64.powf(log10 - exponent);
    // 9.96 rounds to 10.
    if mantissa >= 9.95 {
        (mantissa, exponent) = (1.0, exponent + 1.0);
    }
    format!("{mantissa:.1}e{exponent}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_four_digits() {
        let pairs = [
            (0.0, "0"),
            (0.003003003, "0.003003"),
            (-2.39741, "-2.397"),
            (0.99996, "1.000"),
            (9.9999, "10.00"),
            (99.99, "99.99"),
            (-175.9134, "-175.9"),
            (123456.78, "123456.8"),
            (2.035e-4, "0.0002035"),
            (8.42e-5, "8.420e-5"),
            (3e9, "3.000e9"),
        ];
        for (value, text) in pairs {
            assert_eq!(short(value), text);
        }
    }

    #[test]
    fn levels_below_one_are_below_a_hundred() {
        let texts = [0.95, 0.999, 0.9999999, 0.99999996, 0.99999949].map(level_text);
        assert_eq!(texts, ["95", "99.9", "99.99999", "99.999996", "99.9999"]);
        assert!(level_text(1.0 - f64::EPSILON).starts_with("99.999999999999"));
    }

    #[test]
    fn numbers_to_compare_share_their_decimals() {
        assert_eq!([2.39741, -0.05601, 0.0].map(|v| beside(v, 2.39741)), ["2.397", "-0.056", "0"]);
        assert_eq!(beside(-3.45678, 29.8), "-3.46");
        assert_eq!(beside(1e-7, 1e-7), "1.000e-7");
    }

    #[test]
    fn long_lines_break_at_spaces() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("unbreakable", 3), ["unbreakable"]);
        assert_eq!(wrap("", 3), [""]);
    }

    #[test]
    fn thousands_are_separated() {
        assert_eq!(
            (thousands(1234567.0), thousands(-1000.0), thousands(12.0)),
            ("1,234,567".into(), "-1,000".into(), "12".into())
        );
    }

    #[test]
    fn small_probabilities_keep_their_digits() {
        assert_eq!([0.0f64, 0.5f64.ln(), 0.00123f64.ln()].map(p_text), ["1.0000", "0.5000", "0.0012"]);
        assert_eq!([3.42e-7f64.ln(), 9.96e-5f64.ln()].map(p_text), ["3.4e-7", "1.0e-4"]);
        assert_eq!(p_text(-1000.0 * std::f64::consts::LN_10 + 2f64.ln()), "2.0e-1000");
        assert_eq!([f64::NEG_INFINITY, f64::NAN].map(p_text), ["0", "-"]);
    }
}
