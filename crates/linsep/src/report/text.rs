//! Numbers and columns of text.

/// A number in at most about six characters of significance, whatever its size.
pub(super) fn short(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        "0".into()
    } else if !(1e-3..1e6).contains(&size) {
        format!("{value:.3e}")
    } else if size >= 100.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.4}")
    }
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
