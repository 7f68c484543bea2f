//! Arithmetic of number columns inside a function: `log(a + 1)`, `I(a^2 / b)`.

use super::expression::{Expression, ExpressionKind, Operator};
use super::parse::wrong;
use crate::error::{Error, Result, nearest};

/// A function of one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    /// As it stands: only marks arithmetic.
    Identity,
    Log,
    Log1p,
    Log2,
    Log10,
    Sqrt,
    Exp,
    Sin,
    Cos,
    Abs,
}

impl Function {
    const ALL: [(&'static str, Function); 10] = [
        ("I", Function::Identity),
        ("log", Function::Log),
        ("log1p", Function::Log1p),
        ("log2", Function::Log2),
        ("log10", Function::Log10),
        ("sqrt", Function::Sqrt),
        ("exp", Function::Exp),
        ("sin", Function::Sin),
        ("cos", Function::Cos),
        ("abs", Function::Abs),
    ];

    /// The function of a name.
    pub(super) fn named(name: &str) -> Option<Function> {
        Function::ALL.iter().find(|(known, _)| *known == name).map(|(_, function)| *function)
    }

    fn of(self, x: f64) -> f64 {
        match self {
            Function::Identity => x,
            Function::Log => x.ln(),
            Function::Log1p => x.ln_1p(),
            Function::Log2 => x.log2(),
            Function::Log10 => x.log10(),
            Function::Sqrt => x.sqrt(),
            Function::Exp => x.exp(),
            Function::Sin => x.sin(),
            Function::Cos => x.cos(),
            Function::Abs => x.abs(),
        }
    }
}

/// A function that does not exist, with those that do.
pub(super) fn unknown_function(name: &str, at: usize) -> Error {
    let others = ["poly", "ns", "bs", "C"];
    let known = || Function::ALL.iter().map(|(name, _)| *name).chain(others);
    let near = nearest(name, known());
    let error = wrong(at, format!("there is no function `{name}`"));
    // What R and its kin have for the same.
    let meant = match name {
        "factor" | "as.factor" | "ordered" => Some("write C(column) for categories"),
        "scale" | "center" => Some("leave it out: columns are standardised before the fit, unless told otherwise"),
        "offset" => Some("name the column as an offset, outside the formula"),
        "pow" | "square" => Some("write I(column^2)"),
        "rcs" | "s" | "cr" | "splines" => {
            Some("write ns(column, df) for a natural spline, bs(column, df) for B-splines")
        }
        _ => None,
    };
    if let Some(meant) = meant {
        return error.help(meant);
    }
    match near.is_empty() {
        true => error.help(format!("the functions are {}", known().collect::<Vec<_>>().join(", "))),
        false => error.help(format!("did you mean `{}`?", near.join("`, `"))),
    }
}

/// A formula of numbers, its columns found: `column` says which number of a row each is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Arithmetic {
    Number(f64),
    Column(usize),
    Negative(Box<Arithmetic>),
    Chain(Box<Arithmetic>, Vec<(Operator, Arithmetic)>),
    Power(Box<Arithmetic>, Box<Arithmetic>),
    Of(Function, Box<Arithmetic>),
}

impl Arithmetic {
    /// Reads an expression as arithmetic; `find` gives the place of a number column in a row.
    pub(super) fn of(expression: &Expression, find: &dyn Fn(&str, usize) -> Result<usize>) -> Result<Arithmetic> {
        let inner = |e: &Expression| Arithmetic::of(e, find).map(Box::new);
        Ok(match &expression.kind {
            ExpressionKind::Number(number) => Arithmetic::Number(*number),
            ExpressionKind::Name(name) => Arithmetic::Column(find(name, expression.at)?),
            ExpressionKind::Negative(e) => Arithmetic::Negative(inner(e)?),
            ExpressionKind::Power(base, exponent) => Arithmetic::Power(inner(base)?, inner(exponent)?),
            ExpressionKind::Chain(first, rest) => {
                if let Some((_, part)) = rest.iter().find(|(operator, _)| *operator == Operator::Colon) {
                    return Err(wrong(part.at, "`:` combines terms and has no meaning inside a function")
                        .help("write * for a product of numbers"));
                }
                let rest = rest.iter().map(|(operator, part)| Ok((*operator, Arithmetic::of(part, find)?)));
                Arithmetic::Chain(inner(first)?, rest.collect::<Result<_>>()?)
            }
            ExpressionKind::Call(name, arguments) => {
                let Some(function) = Function::named(name) else {
                    return Err(match matches!(name.as_str(), "poly" | "ns" | "bs" | "C") {
                        true => wrong(
                            expression.at,
                            format!("`{name}` makes several columns, and stands here inside a function"),
                        )
                        .help(format!("take `{name}` out of the function")),
                        false => unknown_function(name, expression.at),
                    });
                };
                match &arguments[..] {
                    [only] if only.name.is_none() => Arithmetic::Of(function, inner(&only.value)?),
                    _ => {
                        return Err(wrong(
                            expression.at,
                            format!("`{name}` takes one argument without a name, not {}", arguments.len()),
                        ));
                    }
                }
            }
            ExpressionKind::Dot => {
                return Err(wrong(expression.at, "`.` has no meaning inside a function").help("name a column"));
            }
            ExpressionKind::Text(text) => {
                return Err(wrong(expression.at, format!("the text \"{text}\" is not a number")));
            }
        })
    }

    /// Its value at a row: not a number, or infinite, outside its domain.
    pub(super) fn at(&self, row: &impl Fn(usize) -> f64) -> f64 {
        match self {
            Arithmetic::Number(number) => *number,
            Arithmetic::Column(column) => row(*column),
            Arithmetic::Negative(inner) => -inner.at(row),
            Arithmetic::Power(base, exponent) => power(base.at(row), exponent.at(row)),
            Arithmetic::Of(function, inner) => function.of(inner.at(row)),
            Arithmetic::Chain(first, rest) => rest.iter().fold(first.at(row), |value, (operator, part)| {
                let part = part.at(row);
                match operator {
                    Operator::Plus => value + part,
                    Operator::Minus => value - part,
                    Operator::Times => value * part,
                    // Refused when it was read.
                    Operator::Over | Operator::Colon => value / part,
                }
            }),
        }
    }

    /// The columns that it reads, each once, in the order of their first use.
    pub(super) fn columns(&self, found: &mut Vec<usize>) {
        match self {
            Arithmetic::Number(_) => {}
            Arithmetic::Column(column) => {
                if !found.contains(column) {
                    found.push(*column);
                }
            }
            Arithmetic::Negative(inner) | Arithmetic::Of(_, inner) => inner.columns(found),
            Arithmetic::Power(base, exponent) => {
                base.columns(found);
                exponent.columns(found);
            }
            Arithmetic::Chain(first, rest) => {
                first.columns(found);
                rest.iter().for_each(|(_, part)| part.columns(found));
            }
        }
    }
}

/// Whole powers by multiplication where that is what they are.
fn power(base: f64, exponent: f64) -> f64 {
    // As R does for 2; others are as good by the library's power.
    if exponent == 2.0 { base * base } else { base.powf(exponent) }
}
