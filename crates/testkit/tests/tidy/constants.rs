//! A number with a name says where it comes from: derived, measured or chosen.

use super::assert_none;
use super::sources::library;

/// What makes a type one of numbers.
const NUMBERS: [&str; 14] =
    ["f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize"];

/// The name of a constant of numbers that a line of code defines, arrays, tuples and ranges of them included.
fn numeric(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = match line.strip_prefix("pub(") {
        Some(rest) => rest.split_once(") ")?.1,
        None => line.strip_prefix("pub ").unwrap_or(line),
    };
    let (name, rest) = line.strip_prefix("const ")?.split_once(": ")?;
    let kind = rest.split(['=']).next().unwrap_or(rest);
    let is_number = kind.split(|c: char| !c.is_alphanumeric()).any(|word| NUMBERS.contains(&word));
    // A slice of bytes is text.
    (is_number && !kind.contains("&[u8]")).then_some(name)
}

/// Whether a comment stands on a line or directly above it and its attributes.
fn explained(lines: &[&str], at: usize) -> bool {
    let says = |text: &str| text.trim_start_matches('/').chars().any(char::is_alphanumeric);
    let above = lines[..at].iter().rev().map(|l| l.trim()).find(|l| !l.starts_with("#["));
    lines[at].split_once("//").is_some_and(|(_, text)| says(text))
        || above.is_some_and(|l| l.starts_with("//") && !l.starts_with("//!") && says(l))
}

/// The constants of numbers in a text without a comment, and how many there are in all.
fn unexplained(text: &str, code: &[String]) -> (Vec<(usize, String)>, usize) {
    let lines: Vec<&str> = text.lines().collect();
    let found: Vec<(usize, &str)> =
        code.iter().enumerate().filter_map(|(at, line)| numeric(line).map(|name| (at, name))).collect();
    let faults = found.iter().filter(|(at, _)| !explained(&lines, *at));
    (faults.map(|(at, name)| (at + 1, (*name).to_owned())).collect(), found.len())
}

#[test]
fn constants_say_where_they_come_from() {
    let (mut faults, mut all) = (Vec::new(), 0);
    for source in library() {
        let (found, count) = unexplained(&source.text, &source.code);
        all += count;
        faults.extend(found.iter().map(|(line, name)| format!("{}, line {line}: {name}", source.name)));
    }
    assert!(all > 400, "only {all} constants were found");
    assert_none(
        "a constant says what it is derived from, which measurement it comes from, or that it was chosen",
        &faults,
    );
}

#[test]
fn the_reader_of_constants_reads() {
    assert_eq!(numeric("pub(in crate::model) const MOST: usize = 3;"), Some("MOST"));
    assert_eq!(numeric("    const NEAR: [f64; 2] = [1.2, 1.05];"), Some("NEAR"));
    assert_eq!(numeric("const SINGLE: std::ops::Range<f64> = 1e-25..1e25;"), Some("SINGLE"));
    assert_eq!(numeric("const NAME: &str = \"u8\";"), None);
    assert_eq!(numeric("const BOM: &[u8] = b\"x\";"), None);
    assert_eq!(numeric("fn multiply<const L: usize>() {}"), None);
    let faults = |text: &str| unexplained(text, &super::code(text)).0.len();
    assert_eq!(faults("/// Half of a cache.\nconst ROWS: usize = 2048;\n"), 0);
    assert_eq!(faults("/// Half of a cache.\n#[allow(unused)]\nconst ROWS: usize = 2048;\n"), 0);
    assert_eq!(faults("const ROWS: usize = 2048; // Half of a cache.\n"), 0);
    assert_eq!(faults("const ROWS: usize = 2048;\n"), 1);
    assert_eq!(faults("//! Of a file.\nconst ROWS: usize = 2048;\n"), 1);
    assert_eq!(faults("/// Of the first.\nconst A: usize = 1;\nconst B: usize = 2;\n"), 1);
    assert_eq!(faults("/// Of the first.\n\nconst A: usize = 1; //\n"), 1);
}
