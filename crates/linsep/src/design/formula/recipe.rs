//! A formula in a model file: its right side, and what was learned.

use super::columns::FormulaColumns;
use super::layout::lay_out;
use super::teacher::{LearnedVariable, Teacher};
use super::terms::TermList;
use super::written::Formula;
use crate::design::encoding::RecipeColumn;
use crate::role::{Role, Roles};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, OnceLock};

/// The right side of a formula, and all that the training rows taught it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FormulaRecipe {
    /// The terms, with `.` written out.
    pub terms: String,
    /// What was learned of each variable that learns, in the order in which the terms name them.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub learned: Vec<LearnedVariable>,
    /// The matrix columns that follow; `None` where they do not.
    #[serde(skip)]
    columns: OnceLock<Option<Arc<FormulaColumns>>>,
}

// What follows from the rest does not tell recipes apart.
impl PartialEq for FormulaRecipe {
    fn eq(&self, other: &FormulaRecipe) -> bool {
        self.terms == other.terms && self.learned == other.learned
    }
}

impl FormulaRecipe {
    /// The terms are chosen, what is learned of them is not.
    #[doc(hidden)]
    pub const ROLES: Roles =
        Roles::Fields(&[("terms", Roles::All(Role::Setting)), ("learned", Roles::All(Role::Claim))]);

    pub(super) fn new(terms: String, learned: Vec<LearnedVariable>, columns: FormulaColumns) -> FormulaRecipe {
        FormulaRecipe { terms, learned, columns: OnceLock::from(Some(Arc::new(columns))) }
    }

    /// The matrix columns of the formula over these table columns; `None` where a file says what cannot be.
    pub(in crate::design) fn columns(&self, plain: &[RecipeColumn]) -> Option<&Arc<FormulaColumns>> {
        self.columns.get_or_init(|| self.laid_out(plain)).as_ref()
    }

    fn laid_out(&self, plain: &[RecipeColumn]) -> Option<Arc<FormulaColumns>> {
        let formula = self.formula()?;
        let list = TermList::of(formula.right()).ok()?;
        let (columns, taken) = lay_out(&list, plain, Teacher::File(self.learned.iter())).ok()?;
        (taken.len() == self.learned.len()).then(|| Arc::new(columns))
    }

    /// The formula, without a target.
    pub fn formula(&self) -> Option<Formula> {
        Formula::of_right(&self.terms).ok()
    }
}
