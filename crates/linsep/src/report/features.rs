//! How columns became features, in words.

use super::text::count;
use crate::artifact::Model;
use crate::design::{QuantileOutput, Transform};

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

/// The first names of a list, and how many more there are.
fn some_names(names: &[&str]) -> String {
    let more = if names.len() > 6 { format!(" and {} more", names.len() - 6) } else { String::new() };
    format!("{}{more}", names[..names.len().min(6)].join(", "))
}
