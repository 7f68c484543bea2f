//! Facts, remedies and reports before anybody says them.
//!
//! The library names a setting, a row or a column as a value. Whoever talks to a user has a [`Voice`]: the command says
//! `--penalty ridge:0.01` where Python says `C=`, one counts rows from 1 and the other from 0, and what a face does not
//! have it does not recommend. [`Plain`] is the library's own voice, for those who print an error as it is.

mod setting;
mod voice;

pub use setting::Setting;
pub use voice::{Plain, Voice};

// For the other stages, the command, the extension and the tests: nothing is promised about these.
#[doc(hidden)]
pub use self::voice::listed;

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Span {
    /// Words that every face says alike.
    Text(String),
    /// A setting: with a value, with some of which any will do, or by its name alone.
    Setting(Setting, Vec<String>),
    /// A matrix column by its index; [`Words::with_columns`] knows its name.
    Column(usize),
    /// A column by its name.
    NamedColumn(String),
    /// A row by its index.
    Row(usize),
    /// A class by its name.
    Class(String),
}

/// A text made of spans.
///
/// ```
/// use linsep::words::{Plain, Setting, Span, Words};
/// let remedy = Words::from(vec!["use ".into(), Setting::Penalty.is("ridge")]);
/// assert_eq!(remedy.said(&Plain).as_deref(), Some("use penalty = ridge"));
/// let fact = Words::from(vec![Span::Column(2), " is constant".into()]);
/// assert_eq!(fact.to_string(), "column 3 is constant");
/// assert_eq!(fact.with_columns(&|_| "age".into()).to_string(), "column `age` is constant");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Words(Vec<Span>);

impl Words {
    /// The text as a voice says it; `None` where it names a setting that this voice has no word for.
    pub fn said(&self, voice: &dyn Voice) -> Option<String> {
        self.0.iter().map(|span| span.said(voice)).collect()
    }

    /// The text as a voice says it, with the library's own word for a setting that the voice has none for: a fact stays a
    /// fact.
    pub fn said_in_full(&self, voice: &dyn Voice) -> String {
        self.0.iter().map(|span| span.said(voice).or_else(|| span.said(&Plain)).unwrap_or_default()).collect()
    }

    /// The same text with columns by their names.
    pub fn with_columns(&self, name: &dyn Fn(usize) -> String) -> Words {
        let named = |span: &Span| match span {
            Span::Column(j) => Span::NamedColumn(name(*j)),
            other => other.clone(),
        };
        Words(self.0.iter().map(named).collect())
    }

    /// The same text after another.
    pub(crate) fn after(self, before: impl Into<Words>) -> Words {
        let mut all = before.into();
        all.0.extend(self.0);
        all
    }
}

impl Span {
    fn said(&self, voice: &dyn Voice) -> Option<String> {
        match self {
            Span::Text(text) => Some(text.clone()),
            Span::Setting(setting, values) => match &values[..] {
                [] => voice.setting(*setting, None),
                [value] => voice.setting(*setting, Some(value)),
                several => voice.choice(*setting, several),
            },
            Span::Column(j) => Some(format!("column {}", j + voice.first())),
            Span::NamedColumn(name) => Some(format!("column `{name}`")),
            Span::Row(i) => Some(format!("row {}", i + voice.first())),
            Span::Class(name) => Some(format!("class `{name}`")),
        }
    }
}

/// In the library's own voice.
impl std::fmt::Display for Words {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.said_in_full(&Plain))
    }
}

impl From<&str> for Span {
    fn from(text: &str) -> Span {
        Span::Text(text.to_owned())
    }
}

impl From<String> for Span {
    fn from(text: String) -> Span {
        Span::Text(text)
    }
}

impl From<Setting> for Span {
    fn from(setting: Setting) -> Span {
        Span::Setting(setting, Vec::new())
    }
}

impl From<Vec<Span>> for Words {
    fn from(spans: Vec<Span>) -> Words {
        Words(spans)
    }
}

macro_rules! words_of_one {
    ($($of:ty),+) => {
        $(impl From<$of> for Words {
            fn from(span: $of) -> Words {
                Words(vec![Span::from(span)])
            }
        })+
    };
}
words_of_one!(&str, String, Setting, Span);

/// The alternatives of a remedy in one sentence: "use a, b, or drop the column". What begins with the verb of the one
/// before does without it.
#[doc(hidden)]
pub fn alternatives(said: &[String]) -> Option<String> {
    const VERBS: [&str; 4] = ["use ", "choose ", "take ", "add "];
    let verb = |text: &str| VERBS.into_iter().find(|verb| text.starts_with(verb));
    let short = |(at, text): (usize, &String)| match (verb(text), at.checked_sub(1).and_then(|b| verb(&said[b]))) {
        (Some(own), Some(before)) if own == before => text[own.len()..].to_owned(),
        _ => text.clone(),
    };
    let shown: Vec<String> = said.iter().enumerate().map(short).collect();
    let (last, before) = shown.split_last()?;
    Some(if before.is_empty() { last.clone() } else { format!("{}, or {last}", before.join(", ")) })
}

/// Spans in a row: `words!["use ", Setting::Loss.is("hinge")]`.
macro_rules! words {
    ($($span:expr),+ $(,)?) => { $crate::words::Words::from(vec![$($crate::words::Span::from($span)),+]) };
}
pub(crate) use words;

#[cfg(test)]
mod tests {
    use super::*;

    struct Deaf;

    impl Voice for Deaf {
        fn setting(&self, setting: Setting, value: Option<&str>) -> Option<String> {
            match (setting, value) {
                (Setting::Penalty, Some("none")) => Some("C=inf".into()),
                _ => None,
            }
        }

        fn first(&self) -> usize {
            0
        }
    }

    #[test]
    fn a_remedy_that_does_not_exist_is_dropped_and_a_fact_is_not() {
        let words = words!["use ", Setting::Penalty.is("none"), " in ", Span::Row(3)];
        assert_eq!(words.said(&Deaf).as_deref(), Some("use C=inf in row 3"));
        assert_eq!(words.said(&Plain).as_deref(), Some("use penalty = none in row 4"));
        let words = words![Setting::Loss, " has no use in ", Span::Column(0)];
        assert_eq!(words.said(&Deaf), None);
        assert_eq!(words.said_in_full(&Deaf), "loss has no use in column 0");
    }

    #[test]
    fn of_several_values_those_are_said_that_exist() {
        let any = words![Setting::Penalty.any(["ridge", "none"])];
        assert_eq!(any.said(&Deaf).as_deref(), Some("C=inf"));
        assert_eq!(any.said(&Plain).as_deref(), Some("penalty = ridge or none"));
        assert_eq!(words![Setting::Loss.any(["a", "b"])].said(&Deaf), None);
    }

    #[test]
    fn alternatives_share_their_verb() {
        let of = |said: &[&str]| alternatives(&said.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&[]), None);
        assert_eq!(of(&["use a"]).as_deref(), Some("use a"));
        assert_eq!(of(&["use a", "use b"]).as_deref(), Some("use a, or b"));
        assert_eq!(of(&["use a", "use b", "drop c"]).as_deref(), Some("use a, b, or drop c"));
        assert_eq!(of(&["drop c", "use b"]).as_deref(), Some("drop c, or use b"));
    }
}
