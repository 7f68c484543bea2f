//! A formula as it was written.

use super::arithmetic::Arithmetic;
use super::expression::{Expression, ExpressionKind, Operator, spelled_name};
use super::parse::{parse_formula, parse_right};
use super::terms::{TermList, without_dot};
use crate::error::Result;
use std::fmt;

/// A model written down: `chd ~ age * famhist + log(ldl) + ns(bmi, 3) - tobacco`.
///
/// ```
/// use linsep::design::Formula;
/// let formula = Formula::parse("chd ~ age*famhist + log( ldl )")?;
/// assert_eq!(formula.target(), Some("chd"));
/// assert_eq!(formula.to_string(), "chd ~ age * famhist + log(ldl)");
/// assert!(formula.has_intercept());
/// assert!(Formula::parse("chd ~ lgo(ldl)").is_err());
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Formula {
    target: Option<String>,
    right: Expression,
}

impl Formula {
    /// Reads `target ~ terms`; the target may be absent. An error says at which character.
    pub fn parse(text: &str) -> Result<Formula> {
        let (target, right) = parse_formula(text)?;
        let formula = Formula { target, right };
        formula.check()?;
        Ok(formula)
    }

    /// A right side alone, as a model file holds it.
    pub(in crate::design) fn of_right(text: &str) -> Result<Formula> {
        let formula = Formula { target: None, right: parse_right(text)? };
        formula.check()?;
        Ok(formula)
    }

    /// Whatever is wrong whichever table it meets.
    fn check(&self) -> Result<()> {
        for placed in self.terms()?.variables {
            if let Some(argument) = placed.variable.argument() {
                Arithmetic::of(argument, &|_, _| Ok(0))?;
            }
        }
        Ok(())
    }

    /// Its terms, `.` as one column.
    fn terms(&self) -> Result<TermList> {
        TermList::of(&without_dot(&self.right, &[".".to_owned()])?)
    }

    /// The column to predict.
    pub fn target(&self) -> Option<&str> {
        self.target.as_deref()
    }

    /// Whether there is an intercept.
    pub fn has_intercept(&self) -> bool {
        // Read once already, so that there is no error.
        self.terms().is_ok_and(|terms| terms.intercept)
    }

    /// The same formula without an intercept.
    #[must_use]
    pub fn without_intercept(self) -> Formula {
        if !self.has_intercept() {
            return self;
        }
        let zero = |at| Expression { kind: ExpressionKind::Number(1.0), at };
        let at = self.right.at;
        let kind = match self.right.kind {
            ExpressionKind::Chain(first, mut rest)
                if matches!(rest.first(), Some((Operator::Plus | Operator::Minus, _))) =>
            {
                rest.push((Operator::Minus, zero(at)));
                ExpressionKind::Chain(first, rest)
            }
            kind => ExpressionKind::Chain(Box::new(Expression { kind, at }), vec![(Operator::Minus, zero(at))]),
        };
        Formula { target: self.target, right: Expression { kind, at } }
    }

    pub(super) fn right(&self) -> &Expression {
        &self.right
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(target) = &self.target {
            write!(f, "{} ", spelled_name(target))?;
        }
        write!(f, "~ {}", self.right)
    }
}

/// The formula of a target and a right side.
#[doc(hidden)]
pub fn formula_of(target: &str, right: &str) -> String {
    format!("{} ~ {right}", spelled_name(target))
}
