//! Pictures of linear classifiers.
//!
//! A [`Picture`] is data first: marks in the units of the columns, axes, keys of a legend, a caption that states the model and
//! its certificate. It is rendered last, by [`Picture::svg`], or to the format that a file's ending names by
//! [`Picture::encoded`]. [`Kind`] lists what can be drawn, [`Request`] says from what.
//!
//! ```
//! use linsep_plot::{Kind, Look, Request};
//! let picture = Kind::Losses.picture(&Request::default(), &Default::default())?;
//! assert!(picture.svg(&Look::default()).starts_with("<svg"));
//! # Ok::<(), linsep::Error>(())
//! ```

mod caption;
mod clip;
mod field;
mod font;
mod kinds;
mod render;
mod scene;
mod subject;

pub use kinds::{Kind, Request};
pub use render::{Drawing, Format, Look, TextBox, Theme};
pub use scene::{Axis, Colour, Dash, Key, Mark, Panel, Picture, Scale, Shape, Symbol};
pub use subject::PlaneChoice;
