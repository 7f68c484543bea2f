//! Text to a tree, with the place of whatever is wrong.

use super::expression::{Argument, Expression, ExpressionKind, Operator, begins_word, continues_word};
use crate::error::{Error, Result};

/// Deepest nesting of parentheses, signs and powers: the reader, the printer and the evaluator recurse by them. Chosen;
/// nobody writes as many.
const DEEPEST: usize = 64;

/// What a formula is made of.
#[derive(Debug, Clone, PartialEq)]
enum FormulaToken {
    Number(f64),
    Name(String),
    /// A name in backquotes, which is a column and nothing else.
    Quoted(String),
    Text(String),
    Sign(char),
}

impl FormulaToken {
    fn said(&self) -> String {
        match self {
            FormulaToken::Number(number) => super::expression::spelled_number(*number),
            FormulaToken::Name(name) | FormulaToken::Quoted(name) | FormulaToken::Text(name) => name.clone(),
            FormulaToken::Sign(sign) => sign.to_string(),
        }
    }
}

/// A formula that cannot be read, at a character counted from 1.
pub(super) fn wrong(at: usize, why: impl AsRef<str>) -> Error {
    Error::usage(format!("the formula cannot be read: {} (character {at})", why.as_ref()))
}

/// The left side, if there is one, and the right side of `target ~ terms`.
pub(super) fn parse_formula(text: &str) -> Result<(Option<String>, Expression)> {
    let mut reader = Reader::new(text)?;
    let Some(tilde) = reader.tokens.iter().position(|(t, _)| *t == FormulaToken::Sign('~')) else {
        return Err(
            Error::usage("the formula has no `~`").help("write it as target ~ terms, for example y ~ a + log(b)")
        );
    };
    let target = match &reader.tokens[..tilde] {
        [] => None,
        [(FormulaToken::Name(name) | FormulaToken::Quoted(name), _)] => Some(name.clone()),
        [(token, at)] => return Err(wrong(*at, format!("`{}` is not a column to predict", token.said()))),
        [_, (_, at), ..] => {
            return Err(wrong(*at, "the left side is more than the name of a column")
                .help("name the column of the classes")
                .help("put names with signs or spaces in backquotes"));
        }
    };
    reader.next = tilde + 1;
    Ok((target, reader.whole()?))
}

/// A right side alone, as model files hold it.
pub(super) fn parse_right(text: &str) -> Result<Expression> {
    Reader::new(text)?.whole()
}

/// Tokens with their places, and how far they have been read.
struct Reader {
    tokens: Vec<(FormulaToken, usize)>,
    next: usize,
    end: usize,
    depth: usize,
}

impl Reader {
    fn new(text: &str) -> Result<Reader> {
        let all: Vec<char> = text.chars().collect();
        Ok(Reader { tokens: tokens(&all)?, next: 0, end: all.len() + 1, depth: 0 })
    }

    /// All that is left, as one expression.
    fn whole(&mut self) -> Result<Expression> {
        let found = self.chain(1)?;
        match self.tokens.get(self.next) {
            None => Ok(found),
            Some((FormulaToken::Sign(')'), at)) => Err(wrong(*at, "there is no `(` for this `)`")),
            Some((token, at)) => Err(wrong(*at, format!("`{}` does not continue what stands before it", token.said()))
                .help("put + or another operator between terms")
                .help("put names with signs or spaces in backquotes")),
        }
    }

    fn place(&self) -> usize {
        self.tokens.get(self.next).map_or(self.end, |(_, at)| *at)
    }

    fn sign(&self) -> Option<char> {
        match self.tokens.get(self.next) {
            Some((FormulaToken::Sign(sign), _)) => Some(*sign),
            _ => None,
        }
    }

    fn take(&mut self, sign: char) -> bool {
        let found = self.sign() == Some(sign);
        self.next += usize::from(found);
        found
    }

    /// Runs a reader one level deeper.
    fn deeper(&mut self, read: impl FnOnce(&mut Reader) -> Result<Expression>) -> Result<Expression> {
        if self.depth == DEEPEST {
            return Err(wrong(self.place(), format!("more than {DEEPEST} levels are nested")));
        }
        self.depth += 1;
        let found = read(self);
        self.depth -= 1;
        found
    }

    /// Parts between operators of a rank, or what binds more tightly.
    fn chain(&mut self, rank: u8) -> Result<Expression> {
        // Ranks above 3 are no chains.
        if rank > 3 {
            return self.signed();
        }
        let first = self.chain(rank + 1)?;
        let mut rest = Vec::new();
        while let Some(operator) = self.sign().and_then(|sign| Operator::of_sign(sign, rank)) {
            self.next += 1;
            rest.push((operator, self.chain(rank + 1)?));
        }
        let at = first.at;
        Ok(match rest.is_empty() {
            true => first,
            false => Expression { kind: ExpressionKind::Chain(Box::new(first), rest), at },
        })
    }

    fn signed(&mut self) -> Result<Expression> {
        let at = self.place();
        if self.take('-') {
            let inner = self.deeper(Reader::signed)?;
            return Ok(Expression { kind: ExpressionKind::Negative(Box::new(inner)), at });
        }
        if self.take('+') {
            return self.deeper(Reader::signed);
        }
        let base = self.part()?;
        if !self.take('^') {
            return Ok(base);
        }
        let exponent = self.deeper(Reader::signed)?;
        Ok(Expression { kind: ExpressionKind::Power(Box::new(base), Box::new(exponent)), at })
    }

    fn part(&mut self) -> Result<Expression> {
        let at = self.place();
        let Some((token, _)) = self.tokens.get(self.next).cloned() else {
            return Err(wrong(at, "something is missing at the end").help("write a column or a function there"));
        };
        self.next += 1;
        let kind = match token {
            FormulaToken::Number(number) => ExpressionKind::Number(number),
            FormulaToken::Text(text) => ExpressionKind::Text(text),
            FormulaToken::Quoted(name) => ExpressionKind::Name(name),
            FormulaToken::Sign('.') => ExpressionKind::Dot,
            FormulaToken::Name(name) if self.sign() == Some('(') => ExpressionKind::Call(name, self.arguments()?),
            FormulaToken::Name(name) => ExpressionKind::Name(name),
            FormulaToken::Sign('(') => {
                let inner = self.deeper(|reader| reader.chain(1))?;
                if !self.take(')') {
                    return Err(self.unclosed(at));
                }
                return Ok(inner);
            }
            FormulaToken::Sign(')') => return Err(wrong(at, "there is no `(` for this `)`, or nothing before it")),
            FormulaToken::Sign(sign) => {
                return Err(wrong(at, format!("a column or a function is missing before `{sign}`")));
            }
        };
        Ok(Expression { kind, at })
    }

    fn unclosed(&self, opened: usize) -> Error {
        match self.tokens.get(self.next) {
            None => wrong(opened, "this `(` is not closed"),
            Some((token, at)) => wrong(*at, format!("`{}` stands where `)` or `,` is expected", token.said())),
        }
    }

    /// The arguments of a call, whose name has been read.
    fn arguments(&mut self) -> Result<Vec<Argument>> {
        let opened = self.place();
        self.next += 1;
        let mut arguments = Vec::new();
        if self.take(')') {
            return Ok(arguments);
        }
        loop {
            let name = match (self.tokens.get(self.next), self.tokens.get(self.next + 1)) {
                (Some((FormulaToken::Name(name), _)), Some((FormulaToken::Sign('='), _))) => Some(name.clone()),
                _ => None,
            };
            self.next += if name.is_some() { 2 } else { 0 };
            let value = self.deeper(|reader| reader.chain(1))?;
            arguments.push(Argument { name, value });
            if self.take(')') {
                return Ok(arguments);
            }
            if !self.take(',') {
                return Err(self.unclosed(opened));
            }
        }
    }
}

/// The words and signs of a formula, with the characters at which they begin.
fn tokens(all: &[char]) -> Result<Vec<(FormulaToken, usize)>> {
    let (mut found, mut at) = (Vec::new(), 0);
    while at < all.len() {
        let (c, place) = (all[at], at + 1);
        let is_digit = |at: usize| all.get(at).is_some_and(char::is_ascii_digit);
        if c.is_whitespace() {
            at += 1;
        } else if c.is_ascii_digit() || (c == '.' && is_digit(at + 1)) {
            let end = number_end(all, at);
            let word: String = all[at..end].iter().collect();
            match word.parse::<f64>() {
                Ok(number) if number.is_finite() => found.push((FormulaToken::Number(number), place)),
                Ok(_) => return Err(wrong(place, format!("the number {word} is too large"))),
                Err(_) => {
                    return Err(wrong(place, format!("`{word}` is not a number"))
                        .help("put names that begin with a digit in backquotes"));
                }
            }
            at = end;
        } else if begins_word(c) {
            let length = all[at..].iter().take_while(|c| continues_word(**c)).count();
            found.push((FormulaToken::Name(all[at..at + length].iter().collect()), place));
            at += length;
        } else if matches!(c, '`' | '"' | '\'') {
            let (text, end) = quoted(all, at)?;
            found.push((if c == '`' { FormulaToken::Quoted(text) } else { FormulaToken::Text(text) }, place));
            at = end;
        } else if "+-*/:^()~,=.".contains(c) {
            found.push((FormulaToken::Sign(c), place));
            at += 1;
        } else {
            return Err(
                wrong(place, format!("`{c}` has no meaning here")).help("put names with signs or spaces in backquotes")
            );
        }
    }
    Ok(found)
}

/// Where a number that begins at `at` ends; letters and dots behind it belong to it, and make it none.
fn number_end(all: &[char], at: usize) -> usize {
    let mut end = at;
    while end < all.len() {
        let exponent = matches!(all[end], '+' | '-') && matches!(all[end - 1], 'e' | 'E');
        // The first character is a digit or a dot.
        if !(continues_word(all[end]) || (exponent && end > at)) {
            break;
        }
        end += 1;
    }
    end
}

/// Text between quotes, where a backslash takes the next character as it is, and the place behind it.
fn quoted(all: &[char], at: usize) -> Result<(String, usize)> {
    let quote = all[at];
    let (mut text, mut next) = (String::new(), at + 1);
    while let Some(c) = all.get(next) {
        match c {
            c if *c == quote => return Ok((text, next + 1)),
            '\\' if next + 1 < all.len() => {
                text.push(all[next + 1]);
                next += 2;
            }
            c => {
                text.push(*c);
                next += 1;
            }
        }
    }
    Err(wrong(at + 1, format!("this {} is not closed", if quote == '`' { "backquote" } else { "quote" })))
}
