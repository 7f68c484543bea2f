//! Formulas: a model written down, as statisticians do (Wilkinson and Rogers 1973; R's `model.matrix` is the reference).
//!
//! Text becomes an expression (`parse`), which is written out as terms (`terms`) of variables (`variable`). With a table
//! (`training`) the variables learn what they need, and categories are coded (`coding`); `columns` makes matrix rows.

mod arithmetic;
mod coding;
mod columns;
mod expression;
mod layout;
mod parse;
mod polynomial;
mod recipe;
mod spline;
mod teacher;
mod terms;
mod training;
mod variable;
mod written;

pub(super) use columns::{FormulaColumns, FormulaRoom, RowFault};
pub use polynomial::OrthogonalPolynomial;
pub use recipe::FormulaRecipe;
pub use teacher::LearnedVariable;
pub(super) use training::{FoundFormula, undefined};
pub use written::{Formula, formula_of};

use std::ops::Range;

impl FormulaColumns {
    /// The name and the matrix columns of every term, and whether these are indicators of levels.
    pub(super) fn origins(&self) -> impl Iterator<Item = (&str, Range<usize>, bool)> {
        let indicates = |term: &columns::TermColumns| term.parts.iter().all(|part| self.parts[*part].indicates());
        self.terms.iter().map(move |term| (term.name.as_str(), term.range.clone(), indicates(term)))
    }

    /// The variables of every term.
    pub(super) fn term_variables(&self) -> impl Iterator<Item = &[usize]> {
        self.terms.iter().map(|term| &term.variables[..])
    }

    /// Whether every term is a column as it is, or the categories of one, and no two are of the same column: so that a column
    /// can be moved without another.
    pub(super) fn moves_apart(&self) -> bool {
        let mut seen = std::collections::BTreeSet::new();
        self.terms.iter().all(|term| match term.parts[..] {
            [part] => {
                let part = &self.parts[part];
                (part.plain.is_some() || part.indicates()) && part.columns.iter().all(|c| seen.insert(*c))
            }
            _ => false,
        })
    }

    /// Categories coded against a level: the column and the level.
    pub(super) fn references(&self) -> Vec<(String, String)> {
        let mut found: Vec<(String, String)> = Vec::new();
        for reference in self.parts.iter().filter_map(|part| part.reference.as_ref()) {
            if !found.contains(reference) {
                found.push(reference.clone());
            }
        }
        found
    }

    /// For every matrix column that is a number of the table as it is, the recipe's column.
    pub(super) fn plain_columns(&self) -> impl Iterator<Item = (usize, usize)> {
        self.terms.iter().filter_map(|term| match term.parts[..] {
            [part] if self.parts[part].plain.is_some() => Some((term.range.start, self.parts[part].columns[0])),
            _ => None,
        })
    }

    /// The words and the columns of what is wrong with a row.
    pub(super) fn fault_words(&self, fault: RowFault) -> (&str, &[usize]) {
        match fault {
            RowFault::Undefined(part) | RowFault::UnknownValue(part) => {
                (&self.parts[part].spelled, &self.parts[part].columns)
            }
            RowFault::TooLarge(term) => {
                let term = &self.terms[term];
                let columns = term.parts.first().map_or(&[][..], |part| &self.parts[*part].columns);
                (&term.name, columns)
            }
        }
    }
}
