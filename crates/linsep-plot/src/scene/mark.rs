//! Marks and their styles.

use super::Point;

/// What a mark is.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// A symbol at every point.
    Points {
        /// Where.
        at: Vec<Point>,
        /// Which symbol.
        symbol: Symbol,
        /// Its size, as a multiple of the usual one.
        size: f64,
    },
    /// Lines through points, each open.
    Line {
        /// The points of each line.
        paths: Vec<Vec<Point>>,
        /// Whether each ends in an arrow head.
        arrow: bool,
    },
    /// Areas within rings; where rings overlap by the rule of non-zero winding.
    Area {
        /// The corners of each ring.
        rings: Vec<Vec<Point>>,
        /// Hatched instead of filled.
        hatched: bool,
    },
    /// A word at a point; moved beside it where there is room.
    Text {
        /// Where.
        at: Point,
        /// The word.
        text: String,
        /// Whether the word is centred on the point and stays there.
        fixed: bool,
    },
}

/// A symbol of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Symbol {
    Circle,
    Square,
    Triangle,
    Diamond,
    TriangleDown,
    Cross,
    Plus,
    Hexagon,
    /// A circle without a filling, around another symbol.
    Ring,
}

impl Symbol {
    /// In the order in which classes take them.
    pub const OF_CLASSES: [Symbol; 8] = [
        Symbol::Circle,
        Symbol::Square,
        Symbol::Triangle,
        Symbol::Diamond,
        Symbol::TriangleDown,
        Symbol::Cross,
        Symbol::Plus,
        Symbol::Hexagon,
    ];

    /// The symbol of a class: with eight symbols and seven colours no two of the first 56 look alike.
    pub fn of_class(class: usize) -> Symbol {
        Symbol::OF_CLASSES[class % Symbol::OF_CLASSES.len()]
    }
}

/// A colour by its role; the theme says which it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Colour {
    /// The colour of a class, or of a series.
    Class(usize),
    /// That of text and axes.
    Ink,
    /// Less than ink.
    Muted,
    /// The background.
    Paper,
    /// From background (0) to ink (1) by way of blue.
    Heat(f64),
}

/// How a line is broken, so that it can be told without its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Dash {
    Solid,
    Dashed,
    Dotted,
    DashDot,
    Long,
}

impl Dash {
    /// The dash of a series.
    pub fn of_series(series: usize) -> Dash {
        [Dash::Solid, Dash::Dashed, Dash::DashDot, Dash::Long, Dash::Dotted][series % 5]
    }
}

/// Something that is drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    /// Its form.
    pub shape: Shape,
    /// Its colour.
    pub colour: Colour,
    /// From 0, not seen, to 1.
    pub opacity: f64,
    /// Width of lines, as a multiple of the usual one.
    pub width: f64,
    /// How lines are broken.
    pub dash: Dash,
    /// What it is, for programs that read the data.
    pub label: Option<String>,
}

impl Mark {
    fn new(shape: Shape) -> Mark {
        Mark { shape, colour: Colour::Ink, opacity: 1.0, width: 1.0, dash: Dash::Solid, label: None }
    }

    /// Symbols.
    pub fn points(at: Vec<Point>, symbol: Symbol) -> Mark {
        Mark::new(Shape::Points { at, symbol, size: 1.0 })
    }

    /// Lines.
    pub fn lines(paths: Vec<Vec<Point>>) -> Mark {
        Mark::new(Shape::Line { paths, arrow: false })
    }

    /// One line.
    pub fn line(path: Vec<Point>) -> Mark {
        Mark::lines(vec![path])
    }

    /// A line with an arrow head at its end.
    pub fn arrow(from: Point, to: Point) -> Mark {
        Mark::new(Shape::Line { paths: vec![vec![from, to]], arrow: true })
    }

    /// A filled area.
    pub fn area(rings: Vec<Vec<Point>>) -> Mark {
        Mark::new(Shape::Area { rings, hatched: false })
    }

    /// A word beside a point.
    pub fn text(at: Point, text: impl Into<String>) -> Mark {
        Mark::new(Shape::Text { at, text: text.into(), fixed: false })
    }

    /// A word on a point.
    pub fn word(at: Point, text: impl Into<String>) -> Mark {
        Mark::new(Shape::Text { at, text: text.into(), fixed: true })
    }

    /// The same, hatched.
    pub fn hatched(mut self) -> Mark {
        if let Shape::Area { hatched, .. } = &mut self.shape {
            *hatched = true;
        }
        self
    }

    /// The same in a colour.
    pub fn colour(mut self, colour: Colour) -> Mark {
        self.colour = colour;
        self
    }

    /// The same, less opaque.
    pub fn opacity(mut self, opacity: f64) -> Mark {
        self.opacity = opacity;
        self
    }

    /// The same with lines of another width, or symbols of another size.
    pub fn width(mut self, width: f64) -> Mark {
        match &mut self.shape {
            Shape::Points { size, .. } => *size = width,
            _ => self.width = width,
        }
        self
    }

    /// The same, broken.
    pub fn dash(mut self, dash: Dash) -> Mark {
        self.dash = dash;
        self
    }

    /// The same with a label.
    pub fn label(mut self, label: impl Into<String>) -> Mark {
        self.label = Some(label.into());
        self
    }

    /// Its name for programs.
    pub(super) fn name(&self) -> &'static str {
        match &self.shape {
            Shape::Points { .. } => "points",
            Shape::Line { arrow: true, .. } => "arrow",
            Shape::Line { .. } => "line",
            Shape::Area { .. } => "area",
            Shape::Text { .. } => "text",
        }
    }
}

/// An entry of the legend: a name beside a sample of a mark.
#[derive(Debug, Clone, PartialEq)]
pub struct Key {
    /// The name.
    pub label: String,
    /// The mark whose style is shown; its points do not matter.
    pub sample: Mark,
}

impl Key {
    /// A name with the style of a mark.
    pub fn new(label: impl Into<String>, sample: Mark) -> Key {
        Key { label: label.into(), sample }
    }
}
