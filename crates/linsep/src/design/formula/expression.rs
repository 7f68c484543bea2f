//! The language of formulas as a tree, and its spelling.
//!
//! One grammar serves both meanings: at the top level `+`, `:` and `*` combine terms, inside a function they are
//! arithmetic. What stands side by side under operators of one rank is one [`ExpressionKind::Chain`], however long, so that the
//! depth of a tree is that of its parentheses.

use std::fmt;

/// An operator between two parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Plus,
    Minus,
    Times,
    Over,
    Colon,
}

impl Operator {
    /// How tightly it binds: `:` before `*`, `*` before `+`, as in R.
    fn rank(self) -> u8 {
        match self {
            Operator::Plus | Operator::Minus => 1,
            Operator::Times | Operator::Over => 2,
            Operator::Colon => 3,
        }
    }

    /// The operators of each rank, loosest first.
    pub(super) fn of_sign(sign: char, rank: u8) -> Option<Operator> {
        let found = match sign {
            '+' => Operator::Plus,
            '-' => Operator::Minus,
            '*' => Operator::Times,
            '/' => Operator::Over,
            ':' => Operator::Colon,
            _ => return None,
        };
        (found.rank() == rank).then_some(found)
    }
}

/// The rank of a sign in front, looser than a power: −x² is −(x²).
pub(super) const SIGN_RANK: u8 = 4;
/// The rank of `^`.
pub(super) const POWER_RANK: u8 = 5;
/// The rank of names, numbers, calls and parentheses.
const WHOLE: u8 = 6;

/// A part of a formula and where it begins, in characters from 1.
#[derive(Debug, Clone)]
pub(super) struct Expression {
    pub(super) kind: ExpressionKind,
    pub(super) at: usize,
}

/// What a part is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ExpressionKind {
    /// A number that is not negative.
    Number(f64),
    /// A column, or a word such as TRUE where one is expected.
    Name(String),
    /// Text in quotes.
    Text(String),
    /// `.`: all other columns.
    Dot,
    /// A sign in front.
    Negative(Box<Expression>),
    /// Operators of one rank between parts.
    Chain(Box<Expression>, Vec<(Operator, Expression)>),
    /// Base and exponent.
    Power(Box<Expression>, Box<Expression>),
    /// A function.
    Call(String, Vec<Argument>),
}

/// An argument of a function.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Argument {
    pub(super) name: Option<String>,
    pub(super) value: Expression,
}

// Two formulas are equal wherever their words stand.
impl PartialEq for Expression {
    fn eq(&self, other: &Expression) -> bool {
        self.kind == other.kind
    }
}

impl Expression {
    fn rank(&self) -> u8 {
        match &self.kind {
            ExpressionKind::Chain(_, rest) => rest.first().map_or(WHOLE, |(operator, _)| operator.rank()),
            ExpressionKind::Negative(_) => SIGN_RANK,
            ExpressionKind::Power(..) => POWER_RANK,
            _ => WHOLE,
        }
    }

    /// Written with parentheses unless it binds more tightly than `least`, or as tightly where that is enough.
    fn within(&self, f: &mut fmt::Formatter<'_>, least: u8) -> fmt::Result {
        match self.rank() >= least {
            true => write!(f, "{self}"),
            false => write!(f, "({self})"),
        }
    }
}

/// The one spelling of a formula: terms are known by it, and model files hold it.
impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ExpressionKind::Number(number) => f.write_str(&spelled_number(*number)),
            ExpressionKind::Name(name) => f.write_str(&spelled_name(name)),
            ExpressionKind::Text(text) => write!(f, "\"{}\"", escaped(text, '"')),
            ExpressionKind::Dot => f.write_str("."),
            ExpressionKind::Negative(inner) => {
                f.write_str("-")?;
                inner.within(f, SIGN_RANK)
            }
            ExpressionKind::Power(base, exponent) => {
                base.within(f, WHOLE)?;
                f.write_str("^")?;
                // To the right: a^b^c is a^(b^c), and a sign there needs no parentheses but is clearer with them.
                exponent.within(f, POWER_RANK)
            }
            ExpressionKind::Chain(first, rest) => {
                let rank = self.rank();
                first.within(f, rank + 1)?;
                for (operator, part) in rest {
                    f.write_str(match operator {
                        Operator::Plus => " + ",
                        Operator::Minus => " - ",
                        Operator::Times => " * ",
                        Operator::Over => " / ",
                        Operator::Colon => ":",
                    })?;
                    part.within(f, rank + 1)?;
                }
                Ok(())
            }
            ExpressionKind::Call(name, arguments) => {
                write!(f, "{name}(")?;
                for (at, argument) in arguments.iter().enumerate() {
                    f.write_str(if at > 0 { ", " } else { "" })?;
                    if let Some(name) = &argument.name {
                        write!(f, "{name} = ")?;
                    }
                    write!(f, "{}", argument.value)?;
                }
                f.write_str(")")
            }
        }
    }
}

/// The shortest digits that are read as this number.
pub(super) fn spelled_number(number: f64) -> String {
    let digits = format!("{number:?}");
    digits.strip_suffix(".0").map(str::to_owned).unwrap_or(digits)
}

/// A name as it must be written: in backquotes unless it is a word.
pub(super) fn spelled_name(name: &str) -> String {
    match is_word(name) {
        true => name.to_owned(),
        false => format!("`{}`", escaped(name, '`')),
    }
}

fn escaped(text: &str, quote: char) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c == quote || c == '\\' {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Whether a character may begin a word.
pub(super) fn begins_word(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

/// Whether a character may follow in a word.
pub(super) fn continues_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '.'
}

fn is_word(name: &str) -> bool {
    name.chars().next().is_some_and(begins_word) && name.chars().all(continues_word)
}
