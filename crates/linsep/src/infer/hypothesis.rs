//! Hypotheses about coefficients as people write them: `age`, `race, smoke`, `age - 2*bmi = 0`, `gentoo: mass = 0`.

use crate::error::{Error, Result};

/// A sum of coefficients that is said to have a value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Equation {
    /// The class whose coefficients these are; `None` is every class.
    pub class: Option<String>,
    /// Factor and name.
    pub terms: Vec<(f64, String)>,
    /// The value.
    pub value: f64,
}

/// What a test is about.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Hypothesis {
    /// Columns, text columns as a whole, or single coefficients: all of them are zero.
    Set(Vec<String>),
    /// Equations that hold together.
    Equations(Vec<Equation>),
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Name(String),
    Number(f64),
    Sign(char),
}

/// A token and where it begins, in characters from 1.
type Placed = (Token, usize);

/// Reads a hypothesis. Names that hold signs or spaces stand in backquotes; several equations are separated by commas.
pub(super) fn parse(text: &str, known: &dyn Fn(&str) -> bool) -> Result<Hypothesis> {
    // A name as it stands comes first: columns may be called `a-b`.
    // Terms of formulas may hold commas: `poly(bmi, 2)`.
    if known(text.trim()) {
        return Ok(Hypothesis::Set(vec![text.trim().to_owned()]));
    }
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    // Backquotes come in pairs: one that is not closed stays, and is refused below with its place.
    let bare = |part: &str| part.strip_prefix('`').and_then(|rest| rest.strip_suffix('`')).unwrap_or(part).to_owned();
    if parts.iter().all(|part| !part.is_empty() && known(&bare(part))) {
        return Ok(Hypothesis::Set(parts.iter().map(|p| bare(p)).collect()));
    }
    let tokens = tokens(text, known)?;
    let pieces: Vec<&[Placed]> = tokens.split(|(t, _)| *t == Token::Sign(',')).collect();
    let names_only = pieces.iter().all(|piece| matches!(piece, [(Token::Name(_), _)]));
    if names_only {
        let name = |piece: &&[Placed]| match &piece[0].0 {
            Token::Name(name) => name.clone(),
            _ => String::new(),
        };
        return Ok(Hypothesis::Set(pieces.iter().map(name).collect()));
    }
    let equations = pieces.iter().map(|piece| equation(piece, text)).collect::<Result<Vec<Equation>>>()?;
    Ok(Hypothesis::Equations(equations))
}

fn tokens(text: &str, known: &dyn Fn(&str) -> bool) -> Result<Vec<Placed>> {
    let all: Vec<char> = text.chars().collect();
    let (mut found, mut at) = (Vec::new(), 0);
    while at < all.len() {
        let (c, start) = (all[at], at);
        if c.is_whitespace() {
            at += 1;
        } else if c == '`' {
            let Some(length) = all[at + 1..].iter().position(|c| *c == '`') else {
                return Err(wrong(text, start + 1, "a backquote is not closed"));
            };
            found.push((Token::Name(all[at + 1..at + 1 + length].iter().collect()), start + 1));
            at += length + 2;
        } else if "+-*=,:".contains(c) {
            found.push((Token::Sign(c), start + 1));
            at += 1;
        } else if c.is_ascii_digit() || (c == '.' && all.get(at + 1).is_some_and(char::is_ascii_digit)) {
            let is_part = |at: usize| {
                let c = all[at];
                let exponent = (c == '-' || c == '+') && matches!(all[at - 1], 'e' | 'E');
                c.is_ascii_alphanumeric() || c == '.' || c == '_' || exponent
            };
            while at < all.len() && is_part(at) {
                at += 1;
            }
            let word: String = all[start..at].iter().collect();
            found.push(match word.parse::<f64>() {
                Ok(number) if number.is_finite() => (Token::Number(number), start + 1),
                Ok(_) => return Err(wrong(text, start + 1, "the number is too large")),
                // A name may begin with a digit.
                Err(_) => (Token::Name(word), start + 1),
            });
        } else {
            let in_word = |c: &char| !c.is_whitespace() && !"+-*,:`".contains(*c);
            let word: &[char] = &all[start..][..all[start..].iter().take_while(|c| in_word(c)).count()];
            let name = word_or_left_side(word, known);
            at += name.chars().count();
            found.push((Token::Name(name), start + 1));
        }
    }
    if found.is_empty() {
        return Err(wrong(text, 1, "it is empty"));
    }
    Ok(found)
}

/// A level of a text column is named `column=level`; `age=0` without spaces is an equation unless it is such a name.
fn word_or_left_side(word: &[char], known: &dyn Fn(&str) -> bool) -> String {
    let signs = (1..word.len()).filter(|at| word[*at] == '=').chain([word.len()]);
    let candidates: Vec<String> = signs.map(|end| word[..end].iter().collect()).collect();
    candidates.iter().rev().find(|name| known(name)).unwrap_or(&candidates[0]).clone()
}

fn equation(tokens: &[Placed], text: &str) -> Result<Equation> {
    let (class, tokens) = match tokens {
        [(Token::Name(class), _), (Token::Sign(':'), _), rest @ ..] => (Some(class.clone()), rest),
        // Classes may be numbers.
        [(Token::Number(class), _), (Token::Sign(':'), _), rest @ ..] => (Some(class.to_string()), rest),
        all => (None, all),
    };
    let mut sides = tokens.split(|(t, _)| *t == Token::Sign('='));
    let end = tokens.last().map_or(1, |(_, at)| *at);
    let (left, right) = (sides.next().unwrap_or(&[]), sides.next());
    if let Some(third) = sides.next() {
        return Err(wrong(text, third.first().map_or(end, |t| t.1), "there is a second ="));
    }
    let (mut terms, constant) = side(left, text, end)?;
    let (moved, value) = match right {
        Some(right) => side(right, text, end)?,
        None => (Vec::new(), 0.0),
    };
    terms.extend(moved.into_iter().map(|(factor, name)| (-factor, name)));
    if terms.is_empty() {
        return Err(wrong(text, 1, "it names no coefficient"));
    }
    let terms = collected(terms);
    if terms.is_empty() {
        return Err(wrong(text, 1, "the coefficients that it names cancel"));
    }
    Ok(Equation { class, terms, value: value - constant })
}

/// Every name once, with the sum of its factors, unless that is zero.
fn collected(terms: Vec<(f64, String)>) -> Vec<(f64, String)> {
    let mut once: Vec<(f64, String)> = Vec::with_capacity(terms.len());
    for (factor, name) in terms {
        match once.iter_mut().find(|(_, known)| *known == name) {
            Some((sum, _)) => *sum += factor,
            None => once.push((factor, name)),
        }
    }
    once.retain(|(factor, _)| *factor != 0.0);
    once
}

/// Factors of names, and the sum of what stands alone.
fn side(tokens: &[Placed], text: &str, end: usize) -> Result<(Vec<(f64, String)>, f64)> {
    let (mut terms, mut constant, mut at) = (Vec::new(), 0.0, 0);
    if tokens.is_empty() {
        return Err(wrong(text, end, "a side of it is empty"));
    }
    while at < tokens.len() {
        let mut sign = 1.0;
        if let (Token::Sign(c @ ('+' | '-')), _) = &tokens[at] {
            sign = if *c == '-' { -1.0 } else { 1.0 };
            at += 1;
        } else if at > 0 {
            return Err(wrong(text, tokens[at].1, "+ or - is missing"));
        }
        let mut factor = sign;
        let mut name = None;
        loop {
            match tokens.get(at) {
                Some((Token::Number(number), _)) => factor *= number,
                Some((Token::Name(found), _)) if name.is_none() => name = Some(found.clone()),
                Some((Token::Name(_), place)) => {
                    return Err(wrong(text, *place, "a product of two coefficients is not linear"));
                }
                Some((_, place)) => return Err(wrong(text, *place, "a number or a name is missing")),
                None => {
                    let last = tokens.last().map_or(end, |(_, place)| *place);
                    return Err(wrong(text, last, "a number or a name is missing after it"));
                }
            }
            at += 1;
            match tokens.get(at) {
                Some((Token::Sign('*'), _)) => at += 1,
                _ => break,
            }
        }
        match name {
            Some(name) => terms.push((factor, name)),
            None => constant += factor,
        }
    }
    Ok((terms, constant))
}

fn wrong(text: &str, place: usize, why: &str) -> Error {
    Error::usage(format!("the hypothesis `{text}` cannot be read: {why} (character {place})"))
        .help("write a name, names with commas between them, or an equation such as `age - 2*bmi = 0`")
        .help("put names with signs or spaces in backquotes")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Hypothesis> {
        parse(text, &|name| ["age", "bmi", "a-b", "race", "race=black"].contains(&name))
    }

    #[test]
    fn names_sets_and_equations() {
        assert_eq!(read("age").unwrap(), Hypothesis::Set(vec!["age".into()]));
        assert_eq!(read("a-b, race=black").unwrap(), Hypothesis::Set(vec!["a-b".into(), "race=black".into()]));
        let equation = |terms: &[(f64, &str)], value| Equation {
            class: None,
            terms: terms.iter().map(|(f, n)| (*f, (*n).to_owned())).collect(),
            value,
        };
        let one = |e| Hypothesis::Equations(vec![e]);
        assert_eq!(read("age - 2*bmi = 0").unwrap(), one(equation(&[(1.0, "age"), (-2.0, "bmi")], 0.0)));
        assert_eq!(read("age = 1.5e-1 + bmi").unwrap(), one(equation(&[(1.0, "age"), (-1.0, "bmi")], 0.15)));
        assert_eq!(read("race=black = 2").unwrap(), one(equation(&[(1.0, "race=black")], 2.0)));
        assert_eq!(read("race=black=2").unwrap(), one(equation(&[(1.0, "race=black")], 2.0)));
        assert_eq!(read("age + bmi = 1 - 2*age + bmi").unwrap(), one(equation(&[(3.0, "age")], 1.0)));
        assert_eq!(read("age=0").unwrap(), one(equation(&[(1.0, "age")], 0.0)));
        assert_eq!(read("age =0").unwrap(), one(equation(&[(1.0, "age")], 0.0)));
        assert_eq!(read("`a-b` + 3 = 1").unwrap(), one(equation(&[(1.0, "a-b")], -2.0)));
        let both = read("age = 1, bmi = 2").unwrap();
        assert_eq!(both, Hypothesis::Equations(vec![equation(&[(1.0, "age")], 1.0), equation(&[(1.0, "bmi")], 2.0)]));
        let classed = read("gentoo: age = 0").unwrap();
        assert!(matches!(classed, Hypothesis::Equations(e) if e[0].class.as_deref() == Some("gentoo")));
        let numbered = read("2: age = 0").unwrap();
        assert!(matches!(numbered, Hypothesis::Equations(e) if e[0].class.as_deref() == Some("2")));
    }

    #[test]
    fn what_cannot_be_read_is_placed() {
        for (text, place) in [
            ("age * bmi = 0", 7),
            ("age - = 0", 5),
            ("`age", 1),
            ("age`", 4),
            ("=", 1),
            ("age = 1e400", 7),
            ("age = 1 = 2", 11),
            ("", 1),
            ("age 2", 5),
            ("3 = 4", 1),
            ("age - age = 1", 1),
            ("2*age = age + age", 1),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(&format!("(character {place})")), "{text}: {error}");
        }
    }
}
