//! The algebra of terms: what `+`, `-`, `:`, `*` and `^` make of variables, in R's order.

use super::expression::{Expression, ExpressionKind, Operator, spelled_name};
use super::parse::wrong;
use super::variable::Variable;
use crate::error::{Error, Result};
use std::collections::BTreeMap;

/// Most terms that a formula may expand to, as many as a basis may have features.
const MOST_TERMS: usize = super::super::basis::MOST_BASIS_FEATURES;

/// The variables of a term, ascending; none for the intercept.
pub(super) type Term = Vec<u32>;

/// A variable where it first stands.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PlacedVariable {
    pub(super) variable: Variable,
    /// Its one spelling.
    pub(super) spelled: String,
    /// The character at which it begins.
    pub(super) at: usize,
}

/// A formula written out.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TermList {
    pub(super) intercept: bool,
    /// In the order in which they first stand.
    pub(super) variables: Vec<PlacedVariable>,
    /// Terms of one variable, then of two …: each order as written. The intercept is not among them.
    pub(super) terms: Vec<Term>,
}

impl TermList {
    /// Writes a right side out; `.` must have been replaced.
    pub(super) fn of(right: &Expression) -> Result<TermList> {
        let mut known = KnownVariables::default();
        let mut all = known.sum(right, true)?;
        let intercept = known.intercept;
        let mut list = TermList { intercept, variables: known.variables, terms: Vec::new() };
        all.terms.retain(|t| !t.is_empty());
        all.terms.sort_by_key(Vec::len);
        list.terms = all.terms;
        Ok(list)
    }

    /// Which variables take part in a term.
    pub(super) fn used(&self) -> Vec<bool> {
        let mut used = vec![false; self.variables.len()];
        self.terms.iter().flatten().for_each(|v| used[*v as usize] = true);
        used
    }
}

/// Terms without repetition, in the order in which they came.
#[derive(Debug, Default)]
struct TermSet {
    terms: Vec<Term>,
    index: BTreeMap<Term, ()>,
}

impl TermSet {
    fn one(term: Term) -> TermSet {
        TermSet { index: BTreeMap::from([(term.clone(), ())]), terms: vec![term] }
    }

    fn insert(&mut self, term: Term, at: usize) -> Result<()> {
        if self.index.insert(term.clone(), ()).is_none() {
            self.terms.push(term);
            if self.terms.len() > MOST_TERMS {
                return Err(too_many(at));
            }
        }
        Ok(())
    }

    fn extend(&mut self, other: TermSet, at: usize) -> Result<()> {
        other.terms.into_iter().try_for_each(|term| self.insert(term, at))
    }

    fn remove(&mut self, other: &TermSet) {
        self.terms.retain(|t| !other.index.contains_key(t));
        other.terms.iter().for_each(|t| {
            self.index.remove(t);
        });
    }

    /// Every term of one with every term of the other.
    fn crossed(&self, other: &TermSet, at: usize) -> Result<TermSet> {
        let mut found = TermSet::default();
        for left in &self.terms {
            for right in &other.terms {
                let mut term = left.clone();
                term.extend(right);
                term.sort_unstable();
                term.dedup();
                found.insert(term, at)?;
            }
        }
        Ok(found)
    }
}

fn too_many(at: usize) -> Error {
    wrong(at, format!("it stands for more than {MOST_TERMS} terms"))
        .help("name fewer columns")
        .help("use a lower power")
}

/// Variables seen so far.
#[derive(Debug)]
struct KnownVariables {
    variables: Vec<PlacedVariable>,
    index: BTreeMap<String, u32>,
    intercept: bool,
}

impl Default for KnownVariables {
    fn default() -> KnownVariables {
        KnownVariables { variables: Vec::new(), index: BTreeMap::new(), intercept: true }
    }
}

impl KnownVariables {
    /// The terms of a sum; the outermost one may speak of the intercept.
    fn sum(&mut self, e: &Expression, outermost: bool) -> Result<TermSet> {
        let (first, rest) = match &e.kind {
            ExpressionKind::Chain(first, rest)
                if matches!(rest.first(), Some((Operator::Plus | Operator::Minus, _))) =>
            {
                (&**first, &rest[..])
            }
            _ => (e, &[][..]),
        };
        let mut all = TermSet::default();
        match &first.kind {
            ExpressionKind::Negative(inner) if outermost => self.subtract(&mut all, inner, outermost)?,
            _ => self.add(&mut all, first, outermost)?,
        }
        for (operator, part) in rest {
            match operator {
                Operator::Minus => self.subtract(&mut all, part, outermost)?,
                _ => self.add(&mut all, part, outermost)?,
            }
        }
        Ok(all)
    }

    fn add(&mut self, all: &mut TermSet, e: &Expression, outermost: bool) -> Result<()> {
        match self.intercept_word(e, outermost)? {
            Some(there) => self.intercept = there,
            None => all.extend(self.terms(e)?, e.at)?,
        }
        Ok(())
    }

    fn subtract(&mut self, all: &mut TermSet, e: &Expression, outermost: bool) -> Result<()> {
        match self.intercept_word(e, outermost)? {
            Some(there) => self.intercept = !there,
            None => all.remove(&self.terms(e)?),
        }
        Ok(())
    }

    /// 1 and 0 stand for the intercept, and for its absence.
    fn intercept_word(&self, e: &Expression, outermost: bool) -> Result<Option<bool>> {
        let ExpressionKind::Number(number) = e.kind else { return Ok(None) };
        match number {
            1.0 if outermost => Ok(Some(true)),
            0.0 if outermost => Ok(Some(false)),
            _ => Err(wrong(e.at, format!("the number {e} is no term"))
                .help("0 + or - 1 in the outermost sum leaves the intercept out")
                .help("put arithmetic into I(), for example I(2 * age)")),
        }
    }

    /// The terms of anything.
    fn terms(&mut self, e: &Expression) -> Result<TermSet> {
        match &e.kind {
            ExpressionKind::Name(_) | ExpressionKind::Call(..) => Ok(TermSet::one(vec![self.variable(e)?])),
            ExpressionKind::Chain(first, rest) => match rest.first() {
                Some((Operator::Colon, _)) => {
                    let mut all = self.terms(first)?;
                    for (_, part) in rest {
                        all = all.crossed(&self.terms(part)?, part.at)?;
                    }
                    Ok(all)
                }
                Some((Operator::Times | Operator::Over, _)) => {
                    let mut all = self.terms(first)?;
                    for (operator, part) in rest {
                        if *operator == Operator::Over {
                            return Err(wrong(part.at, "`/` is no operator of terms")
                                .help("write a + a:b for b within a")
                                .help("put a quotient into I(), for example I(a / b)"));
                        }
                        let other = self.terms(part)?;
                        let both = all.crossed(&other, part.at)?;
                        all.extend(other, part.at)?;
                        all.extend(both, part.at)?;
                    }
                    Ok(all)
                }
                _ => self.sum(e, false),
            },
            ExpressionKind::Power(base, exponent) => {
                let power = match exponent.kind {
                    // Beyond the number of variables nothing is added; 64 is far beyond what ends.
                    ExpressionKind::Number(k) if k.fract() == 0.0 && (1.0..=64.0).contains(&k) => k as u32,
                    _ => {
                        return Err(wrong(
                            exponent.at,
                            format!("the power of terms is a whole number from 1 to 64, not `{exponent}`"),
                        )
                        .help("put arithmetic into I(), for example I(age^2)"));
                    }
                };
                let one = self.terms(base)?;
                let mut all = TermSet::default();
                one.terms.iter().try_for_each(|t| all.insert(t.clone(), e.at))?;
                for _ in 1..power {
                    let more = all.crossed(&one, e.at)?;
                    let before = all.terms.len();
                    all.extend(more, e.at)?;
                    if all.terms.len() == before {
                        break;
                    }
                }
                Ok(all)
            }
            ExpressionKind::Number(_) => self.intercept_word(e, false).map(|_| TermSet::default()),
            ExpressionKind::Negative(_) => {
                Err(wrong(e.at, "a sign in front is no term").help("put arithmetic into I(), for example I(-age)"))
            }
            ExpressionKind::Text(text) => {
                Err(wrong(e.at, format!("the text \"{text}\" is no term")).help("put names of columns in backquotes"))
            }
            ExpressionKind::Dot => Err(wrong(e.at, "`.` has no meaning here")),
        }
    }

    fn variable(&mut self, e: &Expression) -> Result<u32> {
        let spelled = match &e.kind {
            ExpressionKind::Name(name) => spelled_name(name),
            _ => e.to_string(),
        };
        if let Some(at) = self.index.get(&spelled) {
            return Ok(*at);
        }
        let at = self.variables.len() as u32;
        self.variables.push(PlacedVariable { variable: Variable::of(e)?, spelled: spelled.clone(), at: e.at });
        self.index.insert(spelled, at);
        Ok(at)
    }
}

/// The expression with `.` written as a sum of columns.
pub(super) fn without_dot(e: &Expression, columns: &[String]) -> Result<Expression> {
    let again = |e: &Expression| without_dot(e, columns).map(Box::new);
    let kind = match &e.kind {
        ExpressionKind::Dot => {
            let name = |name: &String| Expression { kind: ExpressionKind::Name(name.clone()), at: e.at };
            match columns {
                [] => return Err(wrong(e.at, "`.` stands for all other columns, and there is none")),
                [only] => name(only).kind,
                [first, rest @ ..] => {
                    let rest = rest.iter().map(|c| (Operator::Plus, name(c))).collect();
                    ExpressionKind::Chain(Box::new(name(first)), rest)
                }
            }
        }
        ExpressionKind::Negative(inner) => ExpressionKind::Negative(again(inner)?),
        ExpressionKind::Power(base, exponent) => ExpressionKind::Power(again(base)?, exponent.clone()),
        ExpressionKind::Chain(first, rest) => {
            let rest = rest.iter().map(|(operator, part)| Ok((*operator, without_dot(part, columns)?)));
            ExpressionKind::Chain(again(first)?, rest.collect::<Result<_>>()?)
        }
        other => other.clone(),
    };
    Ok(Expression { kind, at: e.at })
}
