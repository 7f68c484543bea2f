//! How columns became features, in words.

use super::text::count;
use crate::artifact::Model;
use crate::design::{Encoding, QuantileOutput, RecipeColumn, Transform, formula_of};

/// What became of numbers before the fit.
pub(super) fn transform_text(model: &Model) -> Option<String> {
    let Transform::Quantile { output, knots } = model.recipe.transform() else { return None };
    let becomes = match output {
        QuantileOutput::Uniform => "ranks among the training rows, 0 to 1",
        QuantileOutput::Normal => "normal scores of the ranks among the training rows",
    };
    let columns = some_names(&model.recipe.transformed_columns());
    Some(format!("{becomes} ({}): {columns}", count(knots, "quantile")))
}

/// Which products of columns joined them.
pub(super) fn basis_text(model: &Model) -> Option<String> {
    if model.recipe.basis.is_none() {
        return None;
    }
    let among = match &model.recipe.basis_columns {
        Some(chosen) => format!(", among {}", some_names(&chosen.iter().map(String::as_str).collect::<Vec<_>>())),
        None => String::new(),
    };
    Some(format!("{}{among}", model.recipe.basis.describe()))
}

/// The formula of the model, and what its categories are coded by.
pub(super) fn formula_text(model: &Model) -> Option<String> {
    /// Characters of a formula that are shown: some lines. The model file has all of it.
    const SHOWN: usize = 400;
    let formula = model.recipe.formula.as_ref()?;
    let whole = formula_of(&model.target, &formula.terms);
    let shown: String = whole.chars().take(SHOWN).collect();
    Some(if shown.len() < whole.len() { format!("{shown} …") } else { shown })
}

/// How the categories of a formula are coded.
pub(super) fn coding_text(model: &Model) -> Option<&'static str> {
    let coded = |c: &RecipeColumn| matches!(c.encoding, Encoding::Levels { .. });
    let categories = model.recipe.formula.is_some() && model.recipe.columns.iter().any(coded);
    categories
        .then_some("contrasts as in R, whatever the penalty: all levels only where no other term implies their sum")
}

/// The first names of a list, and how many more there are.
fn some_names(names: &[&str]) -> String {
    let more = if names.len() > 6 { format!(" and {} more", names.len() - 6) } else { String::new() };
    format!("{}{more}", names[..names.len().min(6)].join(", "))
}
