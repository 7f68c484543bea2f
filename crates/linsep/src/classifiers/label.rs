//! What may be given as labels, and labels as the classes of a fit.

use crate::error::{Error, Result};
use crate::table::{Class, Labels};
use crate::words::{Span, words};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

/// Most distinct labels, as in a table: a measurement given for a label has about as many values as rows.
const MANY_LABELS: usize = 1000;

/// The class of a row, as a caller names it: text, whole numbers, booleans, characters and floats, or a type of the
/// caller's own. Predictions are of the same type; text comes back as `String`.
///
/// ```
/// use linsep::prelude::*;
/// use std::cmp::Ordering;
///
/// #[derive(Debug, Clone, Copy, PartialEq)]
/// enum Animal { Cat, Dog }
///
/// impl Label for Animal {
///     type Class = Animal;
///     fn class(&self) -> Animal { *self }
///     fn name(&self) -> String { format!("{self:?}") }
///     fn order(&self, other: &Animal) -> Ordering { (*self as u8).cmp(&(*other as u8)) }
/// }
///
/// let model = Lda::new().fit(&[[4.0], [5.0], [4.6], [30.0], [25.0]], &[Animal::Cat, Animal::Cat, Animal::Cat, Animal::Dog, Animal::Dog])?;
/// assert_eq!(model.predict(&[[28.0]])?, [Animal::Dog]);
/// # Ok::<(), linsep::FitError>(())
/// ```
pub trait Label {
    /// What a prediction is.
    type Class: Clone + PartialEq + fmt::Debug + Send + Sync + 'static;

    /// Whether its name is text and not a number: `01` is then not `1`. Names of text that are all numbers are in the order
    /// of these.
    const IS_TEXT: bool = true;

    /// The class of which this is the label.
    fn class(&self) -> Self::Class;

    /// The name of the class, in model files and reports; different classes have different names.
    fn name(&self) -> String;

    /// The order of the classes; equal where they are the same.
    fn order(&self, other: &Self) -> Ordering;

    /// Whether it names a class at all: NaN does not.
    fn is_class(&self) -> bool {
        true
    }
}

macro_rules! labels_in_order {
    ($is_text:expr, $($own:ty),+) => {
        $(impl Label for $own {
            type Class = $own;
            const IS_TEXT: bool = $is_text;

            fn class(&self) -> $own {
                *self
            }

            fn name(&self) -> String {
                self.to_string()
            }

            fn order(&self, other: &$own) -> Ordering {
                self.cmp(other)
            }
        })+
    };
}
labels_in_order!(false, i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize);
labels_in_order!(true, bool, char);

macro_rules! text_labels {
    ($($own:ty),+) => {
        $(impl Label for $own {
            type Class = String;

            fn class(&self) -> String {
                self.to_string()
            }

            fn name(&self) -> String {
                self.to_string()
            }

            fn order(&self, other: &$own) -> Ordering {
                self.cmp(other)
            }
        })+
    };
}
text_labels!(&str, String, Box<str>, Cow<'_, str>);

macro_rules! float_labels {
    ($($own:ty),+) => {
        $(impl Label for $own {
            type Class = $own;
            const IS_TEXT: bool = false;

            fn class(&self) -> $own {
                // Zero has one sign, in the name as well.
                *self + 0.0
            }

            fn name(&self) -> String {
                (*self + 0.0).to_string()
            }

            fn order(&self, other: &$own) -> Ordering {
                (*self + 0.0).total_cmp(&(*other + 0.0))
            }

            fn is_class(&self) -> bool {
                self.is_finite()
            }
        })+
    };
}
float_labels!(f32, f64);

/// The labels of rows as codes, and the class behind each code.
pub(super) fn encode<L: Label>(rows: &[L]) -> Result<(Labels, Vec<L::Class>)> {
    let mut distinct: Vec<&L> = Vec::new();
    for (row, label) in rows.iter().enumerate() {
        if !label.is_class() {
            return Err(Error::data(words!["the label of ", Span::Row(row), format!(" is {}", label.name())])
                .help("leave the row out"));
        }
        if let Err(at) = distinct.binary_search_by(|known| known.order(label)) {
            if distinct.len() == MANY_LABELS {
                return Err(Error::data(format!("there are more than {MANY_LABELS} different labels"))
                    .help("labels name classes; group their values"));
            }
            distinct.insert(at, label);
        }
    }
    let names: Vec<String> = distinct.iter().map(|label| label.name()).collect();
    let mut sorted: Vec<&String> = names.iter().collect();
    sorted.sort_unstable();
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(Error::usage(format!("two different labels have the name `{}`", pair[0])));
    }
    // Text is in the order in which a table would have it.
    let places: Vec<usize> = match L::IS_TEXT {
        true => Labels::from_names(&names).codes().iter().map(|code| code.index()).collect(),
        false => (0..names.len()).collect(),
    };
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_unstable_by_key(|at| places[*at]);
    let code = |label: &L| {
        let at = distinct.binary_search_by(|known| known.order(label)).unwrap_or(0);
        Class(places.get(at).copied().unwrap_or(0) as u32)
    };
    let codes = rows.iter().map(code).collect();
    let classes = order.iter().map(|at| distinct[*at].class()).collect();
    Ok((Labels::new(codes, order.iter().map(|at| names[*at].clone()).collect()), classes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names<L: Label>(rows: &[L]) -> Vec<String> {
        encode(rows).unwrap().0.names().to_vec()
    }

    #[test]
    fn classes_are_in_the_order_of_a_table() {
        assert_eq!(names(&["b", "a", "b"]), ["a", "b"]);
        assert_eq!(names(&["10", "9"]), ["9", "10"]);
        assert_eq!(names(&["10".to_owned(), "x".to_owned(), "9".to_owned()]), ["10", "9", "x"]);
        assert_eq!(names(&[10_i64, -9, 10]), ["-9", "10"]);
        assert_eq!(names(&[true, false]), ["false", "true"]);
        assert_eq!(names(&[0.5, -0.0, 0.0]), ["0", "0.5"]);
        assert_eq!(names(&[u64::MAX, u64::MAX - 1]), ["18446744073709551614", "18446744073709551615"]);
    }

    #[test]
    fn codes_lead_back_to_the_labels() {
        let rows = ["10", "9", "100", "9"];
        let (labels, classes) = encode(&rows).unwrap();
        let back: Vec<&str> = labels.codes().iter().map(|c| classes[c.index()].as_str()).collect();
        assert_eq!(back, rows);
        assert_eq!(labels, Labels::from_names(rows));
    }

    #[test]
    fn labels_that_are_no_classes_are_refused() {
        assert!(encode(&[1.0, f64::NAN]).unwrap_err().message().contains("row 2 is NaN"));
        let measured: Vec<i32> = (0..2000).collect();
        assert!(encode(&measured).unwrap_err().message().contains("more than 1000"));
        assert_eq!(encode::<i32>(&[]).unwrap().1, Vec::<i32>::new());
    }

    /// A name that does not tell classes apart.
    struct Nameless(u8);

    impl Label for Nameless {
        type Class = u8;

        fn class(&self) -> u8 {
            self.0
        }

        fn name(&self) -> String {
            "same".to_owned()
        }

        fn order(&self, other: &Nameless) -> Ordering {
            self.0.cmp(&other.0)
        }
    }

    #[test]
    fn different_classes_have_different_names() {
        assert!(encode(&[Nameless(1), Nameless(1)]).is_ok());
        assert!(encode(&[Nameless(1), Nameless(2)]).unwrap_err().message().contains("`same`"));
    }
}
