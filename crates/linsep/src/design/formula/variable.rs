//! What a function of a formula asks for: its arguments, read and checked before any table is.

use super::arithmetic::{Function, unknown_function};
use super::expression::{Argument, Expression, ExpressionKind, spelled_number};
use super::parse::wrong;
use super::spline::{MOST_DEGREE, SplineKind};
use crate::error::{Error, Result};

/// A variable: one column or function of columns, which terms multiply.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Variable {
    /// A column as it is: a number, or categories where it holds text.
    Column(String),
    /// A function of numbers.
    Number(Expression),
    /// Powers of one, as they are or orthonormal.
    Polynomial { of: Expression, degree: usize, raw: bool },
    /// A spline of one.
    Spline { of: Expression, kind: SplineKind },
    /// Categories, with their coding.
    Category { column: String, coding: CategoryCoding, reference: Option<String> },
}

/// How categories become columns where they are coded by contrasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CategoryCoding {
    /// One indicator for every level but the reference.
    Treatment,
    /// The same, and −1 in all of them for the level without a column: effects against the mean of the levels.
    Sum,
}

impl Variable {
    /// What a name or a call stands for.
    pub(super) fn of(expression: &Expression) -> Result<Variable> {
        match &expression.kind {
            ExpressionKind::Name(name) => Ok(Variable::Column(name.clone())),
            ExpressionKind::Call(name, arguments) => {
                let call = Call { name, arguments, at: expression.at };
                match name.as_str() {
                    "poly" => call.polynomial(),
                    "ns" | "bs" => call.spline(name == "ns"),
                    "C" => call.category(),
                    _ if Function::named(name).is_some() => Ok(Variable::Number(expression.clone())),
                    _ => Err(unknown_function(name, expression.at)),
                }
            }
            _ => Err(wrong(expression.at, "a column or a function is expected")),
        }
    }

    /// The expression whose numbers it takes; `None` for a column or categories.
    pub(super) fn argument(&self) -> Option<&Expression> {
        match self {
            Variable::Number(of) | Variable::Polynomial { of, .. } | Variable::Spline { of, .. } => Some(of),
            Variable::Column(_) | Variable::Category { .. } => None,
        }
    }
}

/// A call whose arguments are sought.
struct Call<'a> {
    name: &'a str,
    arguments: &'a [Argument],
    at: usize,
}

impl<'a> Call<'a> {
    /// The arguments in the order of these names: those without a name take the names that are left.
    fn bound(&self, names: &[&str]) -> Result<Vec<Option<&'a Expression>>> {
        let mut found: Vec<Option<&'a Expression>> = vec![None; names.len()];
        for argument in self.arguments {
            let Some(name) = &argument.name else { continue };
            let Some(at) = names.iter().position(|known| known == name) else {
                return Err(wrong(argument.value.at, format!("`{}` has no argument `{name}`", self.name))
                    .help(format!("its arguments are {}", names.join(", "))));
            };
            if found[at].replace(&argument.value).is_some() {
                return Err(wrong(argument.value.at, format!("the argument `{name}` is given twice")));
            }
        }
        for argument in self.arguments.iter().filter(|a| a.name.is_none()) {
            let Some(free) = found.iter_mut().find(|f| f.is_none()) else {
                return Err(wrong(argument.value.at, format!("`{}` has too many arguments", self.name))
                    .help(format!("its arguments are {}", names.join(", "))));
            };
            *free = Some(&argument.value);
        }
        match found[0] {
            Some(_) => Ok(found),
            None => Err(wrong(self.at, format!("`{}` needs a column", self.name))
                .help(format!("for example {}", self.example()))),
        }
    }

    fn example(&self) -> &'static str {
        match self.name {
            "poly" => "poly(age, 2)",
            "ns" => "ns(age, 4)",
            "bs" => "bs(age, 5)",
            _ => "C(region, ref = \"west\")",
        }
    }

    fn polynomial(&self) -> Result<Variable> {
        let found = self.bound(&["x", "degree", "raw"])?;
        let degree = found[1].map_or(Ok(1), |e| count(e, "the degree", 1, MOST_DEGREE))?;
        let raw = found[2].map_or(Ok(false), flag)?;
        Ok(Variable::Polynomial { of: self.numbers(found[0])?, degree, raw })
    }

    fn spline(&self, natural: bool) -> Result<Variable> {
        let names: &[&str] = match natural {
            true => &["x", "df", "knots", "intercept", "Boundary.knots"],
            false => &["x", "df", "knots", "degree", "intercept", "Boundary.knots"],
        };
        let found = self.bound(names)?;
        let given = |name: &str| names.iter().position(|n| *n == name).and_then(|at| found[at]);
        let boundary = match given("Boundary.knots") {
            None => None,
            Some(e) => match vector(e)?[..] {
                [low, high] if low < high => Some([low, high]),
                _ => return Err(wrong(e.at, "the outer knots are two numbers, the smaller first")),
            },
        };
        let mut knots = given("knots").map(vector).transpose()?;
        knots.iter_mut().for_each(|k| k.sort_by(f64::total_cmp));
        let kind = SplineKind {
            natural,
            // 3: cubic, as in R.
            degree: given("degree").map_or(Ok(3), |e| count(e, "the degree", 1, MOST_DEGREE))?,
            intercept: given("intercept").map_or(Ok(false), flag)?,
            // More columns than this are no spline that anyone wants; the matrix has its own limit.
            df: given("df").map(|e| count(e, "df", 1, 1000)).transpose()?,
            knots,
            boundary,
        };
        if let (Some(df), Some(_)) = (given("df"), &kind.knots) {
            return Err(wrong(df.at, "both df and knots say how many columns there are").help("give one of them"));
        }
        if let Err(error) = kind.n_quantiles() {
            let at = given("df").map_or(self.at, |e| e.at);
            let help = error.help_text();
            let error = wrong(at, error.message());
            return Err(help.map_or(error.clone(), |help| error.help(help)));
        }
        Ok(Variable::Spline { of: self.numbers(found[0])?, kind })
    }

    fn category(&self) -> Result<Variable> {
        let found = self.bound(&["x", "coding", "ref"])?;
        let Some(Expression { kind: ExpressionKind::Name(column), .. }) = found[0] else {
            return Err(wrong(found[0].map_or(self.at, |e| e.at), "`C` takes the name of a column")
                .help("for example C(region, ref = \"west\")"));
        };
        let coding = match found[1] {
            None => CategoryCoding::Treatment,
            Some(e) => match &e.kind {
                ExpressionKind::Name(word)
                    if matches!(word.as_str(), "treatment" | "contr.treatment" | "Treatment") =>
                {
                    CategoryCoding::Treatment
                }
                ExpressionKind::Name(word) if matches!(word.as_str(), "sum" | "contr.sum" | "Sum") => {
                    CategoryCoding::Sum
                }
                _ => {
                    return Err(wrong(e.at, format!("`{e}` is not a coding"))
                        .help("the codings are treatment and sum")
                        .help("a reference level is given as ref = \"west\""));
                }
            },
        };
        let reference = found[2].map(level).transpose()?;
        Ok(Variable::Category { column: column.clone(), coding, reference })
    }

    /// The argument that holds numbers.
    fn numbers(&self, found: Option<&Expression>) -> Result<Expression> {
        match found {
            Some(e) => Ok(e.clone()),
            None => Err(wrong(self.at, format!("`{}` needs a column", self.name))),
        }
    }
}

/// A level: text in quotes, or a number.
fn level(e: &Expression) -> Result<String> {
    match &e.kind {
        ExpressionKind::Text(text) => Ok(text.clone()),
        _ => match number(e) {
            Some(number) => Ok(spelled_number(number)),
            None => Err(wrong(e.at, "a level stands in quotes").help("for example ref = \"west\"")),
        },
    }
}

/// A number with its sign.
fn number(e: &Expression) -> Option<f64> {
    match &e.kind {
        ExpressionKind::Number(number) => Some(*number),
        ExpressionKind::Negative(inner) => number(inner).map(|n| -n),
        _ => None,
    }
}

fn count(e: &Expression, what: &str, least: usize, most: usize) -> Result<usize> {
    match number(e) {
        Some(n) if n.fract() == 0.0 && n >= least as f64 && n <= most as f64 => Ok(n as usize),
        _ => Err(range_error(e, what, least, most)),
    }
}

fn range_error(e: &Expression, what: &str, least: usize, most: usize) -> Error {
    wrong(e.at, format!("{what} is a whole number from {least} to {most}, not `{e}`"))
}

fn flag(e: &Expression) -> Result<bool> {
    match &e.kind {
        ExpressionKind::Name(word) if matches!(word.as_str(), "TRUE" | "T" | "true" | "True") => Ok(true),
        ExpressionKind::Name(word) if matches!(word.as_str(), "FALSE" | "F" | "false" | "False") => Ok(false),
        _ => Err(wrong(e.at, format!("`{e}` is neither TRUE nor FALSE"))),
    }
}

/// Numbers: one, or several as `c(1, 2)`.
fn vector(e: &Expression) -> Result<Vec<f64>> {
    let wanted = |e: &Expression| number(e).ok_or_else(|| wrong(e.at, format!("`{e}` is not a number")));
    match &e.kind {
        ExpressionKind::Call(name, arguments) if name == "c" => arguments.iter().map(|a| wanted(&a.value)).collect(),
        _ => Ok(vec![wanted(e)?]),
    }
}
