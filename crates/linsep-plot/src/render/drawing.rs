//! Things with a place in pixels, and the SVG they become.

use crate::font::{self, FAMILY};
use std::fmt::Write;

/// Where a text starts, ends or has its middle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A text with its place: what a checker of overlaps reads.
#[derive(Debug, Clone, PartialEq)]
pub struct TextBox {
    /// The text.
    pub text: String,
    /// Left, top, right, bottom in pixels.
    pub bounds: [f64; 4],
}

impl TextBox {
    /// Whether two boxes have more than an edge in common.
    pub fn overlaps(&self, other: &TextBox) -> bool {
        overlap(self.bounds, other.bounds)
    }
}

/// Whether two boxes have more than an edge in common.
pub(crate) fn overlap(a: [f64; 4], b: [f64; 4]) -> bool {
    a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]
}

/// A style of text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TextStyle<'a> {
    pub size: f64,
    pub bold: bool,
    pub colour: &'a str,
    pub anchor: Anchor,
    /// Whether the text is read from bottom to top.
    pub upwards: bool,
    /// The colour of an outline that sets it off from what is behind it.
    pub halo: Option<&'a str>,
}

/// A picture in pixels.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawing {
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
    /// The plotting areas: left, top, right, bottom.
    pub frames: Vec<[f64; 4]>,
    /// Every text.
    pub texts: Vec<TextBox>,
    /// The bounds of the marks of each frame, one for every path that was drawn.
    pub marks: Vec<(usize, [f64; 4])>,
    /// What the page had no room for.
    pub dropped: Vec<String>,
    body: String,
    hatches: Vec<String>,
}

/// Height of capitals and descent below the line, in em: the bounds of nearly all letters of the face.
const ASCENT: f64 = 0.76;
/// See [`ASCENT`].
const DESCENT: f64 = 0.24;

/// Bounds of a text that starts, ends or is centred at a point of its base line.
pub(crate) fn text_bounds(text: &str, at: [f64; 2], style: &TextStyle<'_>) -> [f64; 4] {
    let width = font::width(text, style.size, style.bold);
    let start = match style.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => -0.5 * width,
        Anchor::End => -width,
    };
    let (up, down) = (ASCENT * style.size, DESCENT * style.size);
    match style.upwards {
        false => [at[0] + start, at[1] - up, at[0] + start + width, at[1] + down],
        true => [at[0] - up, at[1] - start - width, at[0] + down, at[1] - start],
    }
}

impl Drawing {
    pub(super) fn new(width: f64) -> Drawing {
        Drawing {
            width,
            height: 0.0,
            frames: Vec::new(),
            texts: Vec::new(),
            marks: Vec::new(),
            dropped: Vec::new(),
            body: String::new(),
            hatches: Vec::new(),
        }
    }

    /// A path with its attributes as SVG writes them.
    pub(super) fn path(&mut self, d: &str, attributes: &str) {
        let _ = writeln!(self.body, r#"<path d="{d}" {attributes}/>"#);
    }

    pub(super) fn open(&mut self, attributes: &str) {
        let _ = writeln!(self.body, "<g {attributes}>");
    }

    pub(super) fn close(&mut self) {
        self.body.push_str("</g>\n");
    }

    /// The reference to a hatching in a colour.
    pub(super) fn hatch(&mut self, colour: &str) -> String {
        let name = format!("hatch-{}", colour.trim_start_matches('#'));
        let pattern = format!(
            r#"<pattern id="{name}" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M0 0V6" stroke="{colour}" stroke-width="1.6"/></pattern>"#
        );
        if !self.hatches.contains(&pattern) {
            self.hatches.push(pattern);
        }
        format!("url(#{name})")
    }

    pub(super) fn text(&mut self, text: &str, at: [f64; 2], style: &TextStyle<'_>) {
        self.texts.push(TextBox { text: text.to_owned(), bounds: text_bounds(text, at, style) });
        let (x, y, size) = (short(at[0]), short(at[1]), short(style.size));
        let mut attributes = format!(r#"x="{x}" y="{y}" font-size="{size}" fill="{}""#, style.colour);
        match style.anchor {
            Anchor::Start => {}
            Anchor::Middle => attributes.push_str(r#" text-anchor="middle""#),
            Anchor::End => attributes.push_str(r#" text-anchor="end""#),
        }
        if style.bold {
            attributes.push_str(r#" font-weight="bold""#);
        }
        if style.upwards {
            let _ = write!(attributes, r#" transform="rotate(-90 {x} {y})""#);
        }
        if let Some(halo) = style.halo {
            let width = short(0.28 * style.size);
            let _ = write!(
                attributes,
                r#" stroke="{halo}" stroke-width="{width}" stroke-linejoin="round" paint-order="stroke""#
            );
        }
        let _ = writeln!(self.body, "<text {attributes}>{}</text>", escaped(text));
    }

    /// The whole as SVG; title and description are for those who cannot see it.
    pub(super) fn svg(&self, paper: &str, title: &str, description: &str) -> String {
        let (w, h) = (short(self.width), short(self.height));
        let mut out = String::with_capacity(self.body.len() + 1024);
        let _ = writeln!(
            out,
            r#"<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}" role="img" font-family="'{FAMILY}', Verdana, sans-serif">"#
        );
        let _ = writeln!(out, "<title>{}</title>\n<desc>{}</desc>", escaped(title), escaped(description));
        if !self.hatches.is_empty() {
            let _ = writeln!(out, "<defs>{}</defs>", self.hatches.concat());
        }
        let _ = writeln!(out, r#"<rect width="{w}" height="{h}" fill="{paper}"/>"#);
        out.push_str(&self.body);
        out.push_str("</svg>\n");
        out
    }
}

/// A number rounded to hundredths of a pixel, without needless digits.
pub(super) fn short(value: f64) -> String {
    let rounded = (value * 100.0).round() / 100.0;
    // Not −0.
    let text = format!("{:.2}", rounded + 0.0);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Text without the characters that XML reserves or forbids.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// A path through points in pixels, closed or open.
pub(super) fn path_text(points: &[[f64; 2]], closed: bool) -> String {
    let mut d = String::with_capacity(points.len() * 12);
    for (at, p) in points.iter().enumerate() {
        let _ = write!(d, "{}{} {}", if at == 0 { "M" } else { "L" }, short(p[0]), short(p[1]));
    }
    if closed {
        d.push('Z');
    }
    d
}

/// The bounds of points.
pub(super) fn bounds_of<'a>(points: impl IntoIterator<Item = &'a [f64; 2]>) -> [f64; 4] {
    points.into_iter().fold([f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY], |b, p| {
        [b[0].min(p[0]), b[1].min(p[1]), b[2].max(p[0]), b[3].max(p[1])]
    })
}
