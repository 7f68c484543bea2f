//! From a picture to pixels: layout, symbols, words that keep apart, and files.

mod drawing;
mod labels;
mod layout;
mod output;
mod panel;
mod symbol;
mod theme;

pub use drawing::{Drawing, TextBox};
pub use output::Format;
pub use theme::{Look, Theme};
