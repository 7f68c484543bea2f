//! Colours of a light and a dark page.

use crate::scene::Colour;

/// The page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Theme {
    /// Dark on white.
    #[default]
    Light,
    /// Light on black.
    Dark,
}

/// Size and page of a picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    /// Width in pixels; the height follows.
    pub width: f64,
    /// The page.
    pub theme: Theme,
}

/// Width where none is asked for: a column of text on a screen. Chosen.
const WIDTH: f64 = 720.0;

impl Default for Look {
    fn default() -> Look {
        Look { width: WIDTH, theme: Theme::Light }
    }
}

/// Seven colours that people with any colour vision tell apart (M. Okabe and K. Ito, 2008), those that are far apart first.
/// Their yellow, which is lost on white, is left out.
const CLASSES: [u32; 7] = [0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00, 0x56b4e9, 0x6b6b6b];
/// The same on black: blue and grey are too dark there and give way to the sky blue and a light grey.
const CLASSES_DARK: [u32; 7] = [0x56b4e9, 0xe8743b, 0x1fbf92, 0xd98cb8, 0xf0b429, 0x8fa8ff, 0xb4b4b4];

impl Theme {
    /// A colour as SVG writes it.
    pub(crate) fn colour(self, colour: Colour) -> String {
        let is_dark = self == Theme::Dark;
        let number = match colour {
            Colour::Class(class) if is_dark => CLASSES_DARK[class % CLASSES_DARK.len()],
            Colour::Class(class) => CLASSES[class % CLASSES.len()],
            Colour::Ink if is_dark => 0xe9ebee,
            Colour::Ink => 0x1b1d20,
            Colour::Muted if is_dark => 0xa3a9b1,
            Colour::Muted => 0x5b6167,
            Colour::Paper if is_dark => 0x16191d,
            Colour::Paper => 0xffffff,
            Colour::Heat(share) if is_dark => blend(0x16191d, 0x56b4e9, share),
            Colour::Heat(share) => blend(0xffffff, 0x0072b2, share),
        };
        format!("#{number:06x}")
    }

    /// The lines behind the data.
    pub(crate) fn grid(self) -> &'static str {
        if self == Theme::Dark { "#2a2f36" } else { "#e7e9ec" }
    }

    /// Opacity of a region: on black the same share is seen less.
    pub(crate) fn region_factor(self) -> f64 {
        if self == Theme::Dark { 1.5 } else { 1.0 }
    }
}

fn blend(from: u32, to: u32, share: f64) -> u32 {
    let part = |shift: u32| {
        let (a, b) = (f64::from((from >> shift) & 0xff), f64::from((to >> shift) & 0xff));
        ((a + (b - a) * share.clamp(0.0, 1.0)).round() as u32) << shift
    };
    part(16) | part(8) | part(0)
}
