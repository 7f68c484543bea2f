//! A picture as data: what is drawn, in the units of the columns, before anything has a place in pixels.

mod axis;
mod json;
mod mark;
mod nice;

pub(crate) use axis::AxisTicks;
pub use axis::{Axis, Scale};
pub use mark::{Colour, Dash, Key, Mark, Shape, Symbol};
pub(crate) use nice::{nice_step, number_text};

/// A point in the units of the axes.
pub(crate) type Point = [f64; 2];

/// Axes and what is drawn between them.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// What tells it from other panels.
    pub title: Option<String>,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// Whether a unit has the same length on both axes, so that right angles are right.
    pub equal: bool,
    /// Height over width of the plotting area; where axes are equal the height follows from the ranges instead.
    pub aspect: f64,
    /// Height of a name on the vertical axis, in lines of text; only where it has names and axes are not equal.
    pub row_height: f64,
    /// Whether there is neither frame nor ticks: the marks are all there is, as in a drawing of three dimensions.
    pub bare: bool,
    /// What is drawn, the first at the bottom.
    pub marks: Vec<Mark>,
}

impl Panel {
    /// An empty panel.
    pub fn new(x: Axis, y: Axis) -> Panel {
        Panel { title: None, x, y, equal: false, aspect: ASPECT, row_height: 1.75, bare: false, marks: Vec::new() }
    }

    /// The ends of the axes: left, bottom, right, top.
    pub fn window(&self) -> [f64; 4] {
        [self.x.range.0, self.y.range.0, self.x.range.1, self.y.range.1]
    }
}

/// Height over width of a panel where nothing else is asked for: between a square and the page of a screen. Chosen.
const ASPECT: f64 = 0.7;

/// A picture before it is rendered.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// The name of its kind.
    pub kind: &'static str,
    /// The title.
    pub title: String,
    /// One panel, or several side by side.
    pub panels: Vec<Panel>,
    /// The legend, which stands above the panels.
    pub keys: Vec<Key>,
    /// What the picture shows: the model, its certificate, and what is exact.
    pub caption: String,
    /// What was left out or replaced, one sentence each.
    pub notes: Vec<String>,
}

impl Picture {
    /// A picture of one panel.
    pub fn new(kind: &'static str, title: impl Into<String>, panel: Panel) -> Picture {
        Picture {
            kind,
            title: title.into(),
            panels: vec![panel],
            keys: Vec::new(),
            caption: String::new(),
            notes: Vec::new(),
        }
    }
}
