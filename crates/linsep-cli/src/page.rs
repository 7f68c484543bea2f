//! How wide text is: the terminal, or 80 columns where there is none.

use std::sync::OnceLock;

/// Columns where nobody says how many there are.
const PIPED: usize = 80;
/// The narrowest and the widest page: labels need room, and longer lines are hard to read.
const LIMITS: (usize, usize) = (40, 120);

/// Characters of a line on standard output: what `COLUMNS` says, the width of the terminal, or 80.
pub fn width() -> usize {
    static WIDTH: OnceLock<usize> = OnceLock::new();
    *WIDTH.get_or_init(|| {
        let said = std::env::var("COLUMNS").ok().and_then(|text| text.parse::<usize>().ok()).filter(|n| *n > 0);
        let terminal = || terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| usize::from(width.0));
        said.or_else(terminal).unwrap_or(PIPED).clamp(LIMITS.0, LIMITS.1)
    })
}

/// Text broken at spaces for a terminal on standard error, the lines behind the first indented; as it is where there is no
/// terminal, so that an error is found by its words.
pub fn wrapped_error(text: &str) -> String {
    match terminal_size::terminal_size_of(std::io::stderr()) {
        Some((width, _)) => text.lines().map(|line| hanging(line, usize::from(width.0))).collect::<Vec<_>>().join("\n"),
        None => text.to_owned(),
    }
}

/// A line broken at spaces, further lines indented by four columns more than the first.
fn hanging(line: &str, width: usize) -> String {
    let indent = line.len() - line.trim_start().len();
    let mut out = " ".repeat(indent);
    let mut used = indent;
    for (i, word) in line.split_whitespace().enumerate() {
        let length = word.chars().count();
        if i > 0 && used + 1 + length > width {
            out.push('\n');
            out.push_str(&" ".repeat(indent + 4));
            used = indent + 4;
        } else if i > 0 {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += length;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_hang_below_their_first() {
        assert_eq!(hanging("error: one two three four", 14), "error: one two\n    three four");
        assert_eq!(hanging("  help: use it", 40), "  help: use it");
        assert_eq!(hanging("", 40), "");
    }
}
