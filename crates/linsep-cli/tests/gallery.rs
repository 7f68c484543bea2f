//! docs/gallery.md is drawn again by its own commands, and compared with the pictures that are checked in.
//!
//! `LINSEP_GALLERY=write` writes them anew instead.

mod common;

use common::{Scratch, root};

/// A part of a file: a number, or what stands between numbers.
#[derive(Debug, PartialEq)]
enum Piece<'a> {
    Number(f64),
    Between(&'a str),
}

/// Coordinates are written to 0.01 pixels; what differs by no more than two of these is the same picture.
const TOLERANCE: f64 = 0.0201;

/// Numbers and what is between them. A sign and an exponent belong to a number.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let bytes = text.as_bytes();
    let is_number = |c: u8| c.is_ascii_digit() || matches!(c, b'.' | b'-' | b'+' | b'e');
    let (mut found, mut at, mut plain) = (Vec::new(), 0, 0);
    while at < bytes.len() {
        let starts =
            bytes[at].is_ascii_digit() || (bytes[at] == b'-' && bytes.get(at + 1).is_some_and(u8::is_ascii_digit));
        if !starts {
            at += 1;
            continue;
        }
        let run = bytes[at..].iter().position(|c| !is_number(*c)).map_or(bytes.len(), |n| at + n);
        // The longest part of the run that is a number: `1-2` is two of them.
        let end = (at + 1..=run).rev().find(|end| text[at..*end].parse::<f64>().is_ok());
        let Some(end) = end else {
            at += 1;
            continue;
        };
        found.push(Piece::Between(&text[plain..at]));
        found.push(Piece::Number(text[at..end].parse().unwrap_or(f64::NAN)));
        (at, plain) = (end, end);
    }
    found.push(Piece::Between(&text[plain..]));
    found
}

/// The first line in which two pictures differ.
fn difference(expected: &str, drawn: &str) -> Option<String> {
    let close = |(a, b): (&Piece<'_>, &Piece<'_>)| match (a, b) {
        (Piece::Number(a), Piece::Number(b)) => (a - b).abs() <= TOLERANCE,
        (a, b) => a == b,
    };
    let same = |(a, b): &(&str, &str)| {
        let (a, b) = (pieces(a), pieces(b));
        a.len() == b.len() && a.iter().zip(&b).all(close)
    };
    if expected.lines().count() != drawn.lines().count() {
        return Some(format!("{} lines, not {}", drawn.lines().count(), expected.lines().count()));
    }
    let short = |line: &str| line.chars().take(200).collect::<String>();
    let differs = expected.lines().zip(drawn.lines()).find(|pair| !same(pair));
    differs.map(|(a, b)| format!("\n  {}\n  {}", short(a), short(b)))
}

#[test]
fn the_gallery_is_what_its_commands_draw() {
    let scratch = Scratch::with_examples();
    let text = std::fs::read_to_string(root().join("docs/gallery.md")).expect("there is a gallery");
    let pictures = root().join("docs/gallery");
    let write = std::env::var("LINSEP_GALLERY").is_ok_and(|v| v == "write");
    let mut faults = Vec::new();
    let mut drawn_names = Vec::new();
    for command in text.lines().filter_map(|line| line.strip_prefix("$ linsep ")) {
        scratch.done(command);
        let Some(name) = command.split_once("-o ").map(|(_, name)| name).filter(|n| n.ends_with(".svg")) else {
            continue;
        };
        assert!(text.contains(&format!("(gallery/{name})")), "{name} is drawn and not shown");
        drawn_names.push(name.to_owned());
        let drawn = String::from_utf8(scratch.read(name)).expect("SVG is text");
        if write {
            std::fs::write(pictures.join(name), &drawn).expect("the gallery can be written");
            continue;
        }
        let expected = std::fs::read_to_string(pictures.join(name)).unwrap_or_default();
        faults.extend(difference(&expected, &drawn).map(|what| format!("{name}: {what}")));
    }
    let kept = std::fs::read_dir(&pictures).expect("there are pictures").flatten();
    for name in kept.map(|e| e.file_name().to_string_lossy().into_owned()) {
        assert!(drawn_names.contains(&name), "docs/gallery/{name} is not drawn any more");
    }
    let kinds = scratch.done("plot --list");
    for kind in kinds.lines().filter_map(|line| line.split_whitespace().next()) {
        assert!(text.contains(&format!("linsep plot {kind} ")), "the gallery has no `{kind}`");
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_comparison_sees_what_moved() {
    assert_eq!(difference("M1.00 2L-3 4e-13", "M1.02 2L-3.01 7e-12"), None);
    assert!(difference("M1 2", "M1.05 2").is_some() && difference("a 1", "b 1").is_some());
    assert!(difference("1", "1\n2").is_some() && difference("1 2", "1").is_some());
}
