//! Pictures as files: SVG always, PNG and PDF by the file's ending.

use super::{Look, layout};
use crate::scene::{Colour, Picture};
use linsep::{Error, Result};
use resvg::{tiny_skia, usvg};
use std::path::Path;
use std::sync::Arc;

/// A format of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Scalable, text stays text.
    Svg,
    /// Pixels.
    Png,
    /// One page.
    Pdf,
}

/// The widest picture: more would be a mistake, and takes gigabytes as pixels. The narrowest has room for axes. Chosen.
const WIDTHS: std::ops::RangeInclusive<f64> = 240.0..=4000.0;

impl Format {
    /// The format that a file's ending names.
    ///
    /// # Errors
    /// For other endings.
    pub fn of(path: &Path) -> Result<Format> {
        let ending = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
        match ending.as_deref() {
            Some("svg") => Ok(Format::Svg),
            Some("png") => Ok(Format::Png),
            Some("pdf") => Ok(Format::Pdf),
            _ => Err(Error::usage(format!("`{}` does not say which kind of picture it is", path.display()))
                .help("end its name in .svg, .png or .pdf")),
        }
    }
}

impl Look {
    /// Whether a picture of this width can be drawn.
    ///
    /// # Errors
    /// Below 240 and above 4000 pixels.
    pub fn check(&self) -> Result<()> {
        match WIDTHS.contains(&self.width) {
            true => Ok(()),
            false => Err(Error::usage(format!("a picture cannot be {} pixels wide", self.width))
                .help("choose a width from 240 to 4000")),
        }
    }
}

impl Picture {
    /// The picture as SVG.
    pub fn svg(&self, look: &Look) -> String {
        let description = match self.notes.is_empty() {
            true => self.caption.clone(),
            false => format!("{} {}", self.caption, self.notes.join(" ")),
        };
        layout::draw(self, look).svg(&look.theme.colour(Colour::Paper), &self.title, &description)
    }

    /// The bytes of a file of a format.
    ///
    /// # Errors
    /// For a width that cannot be drawn, and where a picture has no room in memory.
    pub fn encoded(&self, format: Format, look: &Look) -> Result<Vec<u8>> {
        look.check()?;
        let svg = self.svg(look);
        match format {
            Format::Svg => Ok(svg.into_bytes()),
            Format::Png => png(&svg),
            Format::Pdf => pdf(&svg),
        }
    }
}

fn tree(svg: &str) -> Result<usvg::Tree> {
    let mut fonts = usvg::fontdb::Database::new();
    fonts.load_font_data(dejavu::sans::regular().to_vec());
    fonts.load_font_data(dejavu::sans::bold().to_vec());
    fonts.set_sans_serif_family(crate::font::FAMILY);
    let options =
        usvg::Options { fontdb: Arc::new(fonts), font_family: crate::font::FAMILY.to_owned(), ..Default::default() };
    usvg::Tree::from_str(svg, &options).map_err(|e| Error::model(format!("the picture cannot be rendered: {e}")))
}

fn png(svg: &str) -> Result<Vec<u8>> {
    let tree = tree(svg)?;
    let size = tree.size();
    let (width, height) = (size.width().ceil() as u32, size.height().ceil() as u32);
    let mut pixels = tiny_skia::Pixmap::new(width, height)
        .ok_or_else(|| Error::usage(format!("a picture of {width}×{height} pixels has no room in memory")))?;
    resvg::render(&tree, tiny_skia::Transform::identity(), &mut pixels.as_mut());
    pixels.encode_png().map_err(|e| Error::model(format!("the picture cannot be written as PNG: {e}")))
}

fn pdf(svg: &str) -> Result<Vec<u8>> {
    let tree = tree(svg)?;
    svg2pdf::to_pdf(&tree, svg2pdf::ConversionOptions::default(), svg2pdf::PageOptions::default())
        .map_err(|e| Error::model(format!("the picture cannot be written as PDF: {e}")))
}
