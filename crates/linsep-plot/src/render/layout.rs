//! The page: title, legend, panels, caption and notes, one below the other.

use super::drawing::{Anchor, Drawing, TextStyle, path_text, short};
use super::panel::PanelPlan;
use super::{Look, Theme, symbol};
use crate::font;
use crate::scene::{Colour, Dash, Key, Mark, Picture, Shape, Symbol};

/// Size of the text at 400 pixels, and how much it grows with every further pixel: 10.5 there, 15 at 1200. Chosen by eye.
const TEXT_AT_400: (f64, f64) = (10.5, 0.005_625);
/// Most entries of a legend: with more nobody finds theirs.
const MOST_KEYS: usize = 64;

/// Sizes and colours that all parts of a page share.
pub(super) struct Page {
    pub em: f64,
    pub theme: Theme,
    pub ink: String,
    pub muted: String,
    pub paper: String,
}

impl Page {
    fn new(look: &Look) -> Page {
        let colour = |c: Colour| look.theme.colour(c);
        let em = TEXT_AT_400.0 + TEXT_AT_400.1 * (look.width - 400.0).clamp(-100.0, 1000.0);
        Page {
            em,
            theme: look.theme,
            ink: colour(Colour::Ink),
            muted: colour(Colour::Muted),
            paper: colour(Colour::Paper),
        }
    }

    pub fn style(&self, size: f64, bold: bool) -> TextStyle<'_> {
        TextStyle { size: size * self.em, bold, colour: &self.ink, anchor: Anchor::Start, upwards: false, halo: None }
    }

    /// The usual width of a line.
    pub fn stroke(&self) -> f64 {
        self.em / 8.0
    }

    /// The usual radius of a symbol.
    pub fn radius(&self) -> f64 {
        0.33 * self.em
    }

    /// Attributes of a line.
    pub fn line_attributes(&self, mark: &Mark) -> String {
        let width = self.stroke() * mark.width;
        let mut text = format!(
            r#"fill="none" stroke="{}" stroke-width="{}" stroke-linejoin="round""#,
            self.theme.colour(mark.colour),
            short(width)
        );
        let unit = width.max(0.8 * self.stroke());
        let dashes: &[f64] = match mark.dash {
            Dash::Solid => &[],
            Dash::Dashed => &[4.0, 2.6],
            Dash::Dotted => &[0.1, 2.2],
            Dash::DashDot => &[5.0, 2.4, 0.1, 2.4],
            Dash::Long => &[9.0, 3.0],
        };
        if !dashes.is_empty() {
            let parts: Vec<String> = dashes.iter().map(|d| short(d * unit)).collect();
            text.push_str(&format!(r#" stroke-dasharray="{}" stroke-linecap="round""#, parts.join(" ")));
        }
        if mark.opacity < 1.0 {
            text.push_str(&format!(r#" stroke-opacity="{}""#, short(mark.opacity)));
        }
        text
    }

    /// Attributes of a symbol: filled ones have a fine outline of the paper, so that neighbours stay apart.
    pub fn symbol_attributes(&self, mark: &Mark, symbol: Symbol) -> String {
        let colour = self.theme.colour(mark.colour);
        let opacity = if mark.opacity < 1.0 { format!(r#" opacity="{}""#, short(mark.opacity)) } else { String::new() };
        match symbol {
            Symbol::Ring => {
                format!(r#"fill="none" stroke="{colour}" stroke-width="{}"{opacity}"#, short(0.8 * self.stroke()))
            }
            _ => {
                format!(r#"fill="{colour}" stroke="{}" stroke-width="{}"{opacity}"#, self.paper, short(0.05 * self.em))
            }
        }
    }
}

/// Draws a picture.
pub(super) fn draw(picture: &Picture, look: &Look) -> Drawing {
    let page = Page::new(look);
    let mut drawing = Drawing::new(look.width);
    let pad = 1.3 * page.em;
    let inner = look.width - 2.0 * pad;
    let mut y = pad;
    for line in font::wrapped(&picture.title, 1.2 * page.em, true, inner) {
        drawing.text(&line, [pad, y + 1.1 * page.em], &page.style(1.2, true));
        y += 1.6 * page.em;
    }
    y = legend(&picture.keys, &page, [pad, y + 0.2 * page.em], inner, &mut drawing);
    y = panels(picture, &page, [pad, y + 0.5 * page.em], inner, &mut drawing);
    y += 0.9 * page.em;
    let mut notes = picture.notes.clone();
    notes.extend(unknown_characters(picture));
    if !drawing.dropped.is_empty() {
        notes.push(format!("No room for: {}.", drawing.dropped.join(", ")));
    }
    for paragraph in std::iter::once(&picture.caption).chain(&notes).filter(|p| !p.is_empty()) {
        let style = TextStyle { colour: &page.muted, ..page.style(0.88, false) };
        for line in font::wrapped(paragraph, style.size, false, inner) {
            y += 1.25 * page.em;
            drawing.text(&line, [pad, y], &style);
        }
        y += 0.25 * page.em;
    }
    drawing.height = (y + pad).ceil();
    drawing
}

impl Picture {
    /// The picture with a place for everything: what checks of a page read.
    pub fn drawing(&self, look: &Look) -> Drawing {
        draw(self, look)
    }
}

/// What has no glyph, as a note: in PNG and PDF it is an empty box.
fn unknown_characters(picture: &Picture) -> Option<String> {
    let mut all = picture.title.clone();
    picture.keys.iter().for_each(|key| all.push_str(&key.label));
    for panel in &picture.panels {
        for axis in [&panel.x, &panel.y] {
            all.push_str(&axis.label);
            axis.names.iter().flatten().for_each(|(_, name)| all.push_str(name));
        }
    }
    let missing = font::missing(&all);
    let codes: Vec<String> = missing.iter().take(6).map(|c| format!("U+{:04X}", *c as u32)).collect();
    let more = if missing.len() > 6 { " and others" } else { "" };
    (!missing.is_empty())
        .then(|| format!("The built-in font lacks {}{more}: PNG and PDF show boxes.", codes.join(", ")))
}

/// The legend as running text; returns where it ends.
fn legend(keys: &[Key], page: &Page, [left, top]: [f64; 2], width: f64, drawing: &mut Drawing) -> f64 {
    if keys.is_empty() {
        return top;
    }
    let (sample, gap, apart) = (1.7 * page.em, 0.45 * page.em, 1.3 * page.em);
    let size = if keys.len() > 16 { 0.85 } else { 1.0 };
    let style = page.style(size, false);
    let line = 1.55 * page.em * size;
    let (mut x, mut y) = (left, top);
    let shown = keys.len().min(MOST_KEYS);
    for key in &keys[..shown] {
        let label = font::shortened(&key.label, style.size, false, (0.7 * width).min(26.0 * page.em));
        let sample = match key.sample.shape {
            Shape::Points { symbol: Symbol::Ring, .. } => 1.35 * page.em,
            Shape::Points { .. } => 0.9 * page.em,
            _ => sample,
        };
        let needs = sample + gap + font::width(&label, style.size, false);
        if x > left && x + needs > left + width {
            x = left;
            y += line;
        }
        draw_sample(&key.sample, page, [x, y + 0.65 * page.em * size], sample, drawing);
        drawing.text(&label, [x + sample + gap, y + page.em * size], &style);
        x += needs + apart;
    }
    if keys.len() > shown {
        let rest = format!("and {} more", keys.len() - shown);
        if x + font::width(&rest, style.size, false) > left + width {
            x = left;
            y += line;
        }
        drawing.text(&rest, [x, y + page.em * size], &style);
    }
    y + line
}

fn draw_sample(mark: &Mark, page: &Page, [x, y]: [f64; 2], width: f64, drawing: &mut Drawing) {
    match &mark.shape {
        Shape::Points { symbol, size, .. } => {
            let d = symbol::path(*symbol, [x + 0.5 * width, y], page.radius() * size.max(1.0));
            drawing.path(&d, &page.symbol_attributes(mark, *symbol));
        }
        Shape::Line { .. } | Shape::Text { .. } => {
            let d = path_text(&[[x, y], [x + width, y]], false);
            drawing.path(&d, &page.line_attributes(mark));
        }
        Shape::Area { hatched, .. } => {
            let (top, bottom) = (y - 0.42 * page.em, y + 0.42 * page.em);
            let d = path_text(&[[x, top], [x + width, top], [x + width, bottom], [x, bottom]], true);
            let colour = page.theme.colour(mark.colour);
            let fill = if *hatched { drawing.hatch(&colour) } else { colour };
            let opacity = if *hatched { mark.opacity } else { (mark.opacity * page.theme.region_factor()).min(1.0) };
            drawing.path(&d, &format!(r#"fill="{fill}" fill-opacity="{}""#, short(opacity)));
        }
    }
}

/// The panels in rows; returns where they end.
fn panels(picture: &Picture, page: &Page, [left, top]: [f64; 2], width: f64, drawing: &mut Drawing) -> f64 {
    let narrow = width < 46.0 * page.em;
    let columns = match picture.panels.len() {
        0 | 1 => 1,
        2 if narrow => 1,
        2 | 4 => 2,
        // A third of less is too little to read.
        _ if width < 62.0 * page.em => 2,
        _ => 3,
    };
    let gap = 1.5 * page.em;
    let each = (width - gap * (columns - 1) as f64) / columns as f64;
    let mut y = top;
    for row in picture.panels.chunks(columns) {
        let mut bottom = y;
        for (at, panel) in row.iter().enumerate() {
            let plan = PanelPlan::new(panel, page, [left + at as f64 * (each + gap), y], each);
            bottom = f64::max(bottom, plan.draw(page, drawing));
        }
        y = bottom + 0.8 * page.em;
    }
    y - 0.8 * page.em
}
