//! Widths of text in the faces that pictures are set in.

use std::sync::OnceLock;
use ttf_parser::Face;

/// The family that SVG files name first; the faces themselves are built in for PNG and PDF.
pub(crate) const FAMILY: &str = "DejaVu Sans";

/// Width of a character that no face has, in em: what the box drawn for it takes.
const UNKNOWN_WIDTH: f64 = 0.6;

fn face(bold: bool) -> Option<&'static Face<'static>> {
    static REGULAR: OnceLock<Option<Face<'static>>> = OnceLock::new();
    static BOLD: OnceLock<Option<Face<'static>>> = OnceLock::new();
    let (cell, bytes) = if bold { (&BOLD, dejavu::sans::bold()) } else { (&REGULAR, dejavu::sans::regular()) };
    cell.get_or_init(|| Face::parse(bytes, 0).ok()).as_ref()
}

/// Width of a text of a size in pixels.
pub(crate) fn width(text: &str, size: f64, bold: bool) -> f64 {
    let Some(face) = face(bold) else { return text.chars().count() as f64 * UNKNOWN_WIDTH * size };
    let advance = |c: char| match face.glyph_index(c).and_then(|glyph| face.glyph_hor_advance(glyph)) {
        Some(units) => f64::from(units) / f64::from(face.units_per_em()),
        None => UNKNOWN_WIDTH,
    };
    text.chars().map(advance).sum::<f64>() * size
}

/// The characters of a text that the faces lack, each once.
pub(crate) fn missing(text: &str) -> Vec<char> {
    let Some(face) = face(false) else { return Vec::new() };
    let mut found: Vec<char> = text.chars().filter(|c| !c.is_control() && face.glyph_index(*c).is_none()).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// The text, shortened from its end where it is wider than allowed.
pub(crate) fn shortened(text: &str, size: f64, bold: bool, most: f64) -> String {
    if width(text, size, bold) <= most {
        return text.to_owned();
    }
    let mut kept: Vec<char> = text.chars().collect();
    while kept.pop().is_some() {
        let short: String = kept.iter().collect::<String>().trim_end().to_owned() + "…";
        if width(&short, size, bold) <= most {
            return short;
        }
    }
    "…".to_owned()
}

/// The text in lines of at most a width, broken at spaces; a word that is too long alone is shortened.
pub(crate) fn wrapped(text: &str, size: f64, bold: bool, most: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
        if width(&longer, size, bold) <= most {
            line = longer;
            continue;
        }
        if !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        line = shortened(word, size, bold, most);
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_the_face() {
        // DejaVu Sans has 2048 units to the em; a digit takes 1303 of them.
        assert!((width("0", 2048.0, false) - 1303.0).abs() < 1e-9);
        assert!(width("0", 10.0, true) > width("0", 10.0, false));
        assert!((width("ab", 10.0, false) - width("a", 10.0, false) - width("b", 10.0, false)).abs() < 1e-12);
    }

    #[test]
    fn lines_are_not_wider_than_allowed() {
        let text =
            "certificate objective within 8.5e-13 of the optimum, by a dual point and aVeryLongWordThatHasNoSpaceAtAll";
        for line in wrapped(text, 10.0, false, 120.0) {
            assert!(width(&line, 10.0, false) <= 120.0, "{line}");
        }
        assert_eq!(shortened("short", 10.0, false, 1000.0), "short");
        assert!(missing("größe α Ж א ع").is_empty());
        assert_eq!(missing("日本日"), ['日', '本']);
    }
}
