//! The library speaks of settings; how a face spells them is the face's word.

use super::sources::library;

/// The string literals of some Rust code, raw ones too; comments and characters are skipped.
fn literals(code: &str) -> Vec<String> {
    let bytes: Vec<char> = code.chars().collect();
    let (mut found, mut at) = (Vec::new(), 0);
    let starts = |at: usize, what: &str| what.chars().enumerate().all(|(i, c)| bytes.get(at + i) == Some(&c));
    while at < bytes.len() {
        if starts(at, "//") {
            while at < bytes.len() && bytes[at] != '\n' {
                at += 1;
            }
        } else if bytes[at] == '\'' {
            // A character, or the mark of a lifetime.
            let end = if bytes.get(at + 1) == Some(&'\\') { at + 3 } else { at + 2 };
            at = if bytes.get(end) == Some(&'\'') { end + 1 } else { at + 1 };
        } else if bytes[at] == 'r' && matches!(bytes.get(at + 1), Some('"' | '#')) && !is_word(&bytes, at) {
            let hashes = bytes[at + 1..].iter().take_while(|c| **c == '#').count();
            if bytes.get(at + 1 + hashes) != Some(&'"') {
                at += 1;
                continue;
            }
            let close: String = std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
            let start = at + 2 + hashes;
            let end = (start..bytes.len()).find(|i| starts(*i, &close)).unwrap_or(bytes.len());
            found.push(bytes[start..end].iter().collect());
            at = end + close.len();
        } else if bytes[at] == '"' {
            let (start, mut end) = (at + 1, at + 1);
            while end < bytes.len() && bytes[end] != '"' {
                end += if bytes[end] == '\\' { 2 } else { 1 };
            }
            found.push(bytes[start..end.min(bytes.len())].iter().collect());
            at = end + 1;
        } else {
            at += 1;
        }
    }
    found
}

/// Whether the letter here goes on a word.
fn is_word(bytes: &[char], at: usize) -> bool {
    at > 0 && (bytes[at - 1].is_alphanumeric() || bytes[at - 1] == '_')
}

fn has_flag(text: &str) -> bool {
    text.match_indices("--").any(|(at, _)| text[at + 2..].starts_with(|c: char| c.is_ascii_alphabetic()))
}

#[test]
fn the_library_knows_no_flags() {
    let mut found = Vec::new();
    for source in library() {
        let lines: Vec<&str> = source.text.lines().take(source.code.len()).collect();
        let flags = literals(&lines.join("\n")).into_iter().filter(|text| has_flag(text));
        found.extend(flags.map(|text| format!("{}: {text}", source.name)));
    }
    assert!(found.is_empty(), "settings are spans, which each face says its own way:\n  {}", found.join("\n  "));
}

#[test]
fn the_reader_of_literals_reads() {
    let code =
        "let a = \"one \\\" two\"; // \"three\"\nlet b = ('\"', '\\'', r#\"fo\"ur\"#); let c: &'a str = \"five\";";
    assert_eq!(literals(code), ["one \\\" two", "fo\"ur", "five"]);
    assert!(has_flag("use --model lda") && !has_flag("a -- b") && !has_flag("1--2"));
}
