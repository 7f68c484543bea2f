//! How columns became features, in words.

use super::text::count;
use super::weights::contrasted_columns;
use crate::artifact::Model;
use crate::design::{Encoding, Missing, QuantileOutput, RecipeColumn, Transform, formula_of};
use crate::model::Method;
use crate::table::CellReading;

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

/// How text columns are coded without a formula where every level has an indicator, and why.
pub(super) fn all_levels_text(model: &Model) -> Option<String> {
    let all = |c: &RecipeColumn| matches!(&c.encoding, Encoding::Levels { reference: None, .. });
    if model.recipe.formula.is_some() || !model.recipe.columns.iter().any(all) {
        return None;
    }
    let why = match model.method {
        Method::NaiveBayes(_) => "an indicator for every level, whose shares are the categories' probabilities",
        _ => "an indicator for every level, none of which the penalty prefers",
    };
    let pairs = contrasted_columns(model);
    Some(match pairs.is_empty() {
        true => why.to_owned(),
        false => format!("{why}; two levels are one contrast below: {}", some_names(&pairs)),
    })
}

/// The first names of a list, and how many more there are.
fn some_names(names: &[&str]) -> String {
    let more = if names.len() > 6 { format!(" and {} more", names.len() - 6) } else { String::new() };
    format!("{}{more}", names[..names.len().min(6)].join(", "))
}

/// Columns that were text and became numbers, and what cells were read with; one line each.
pub(super) fn reading_text(model: &Model) -> Vec<String> {
    let reading = &model.reading;
    let mut lines = Vec::new();
    if !reading.style().is_plain() {
        let thousands = match reading.thousands {
            Some(' ') => ", a space between thousands".to_owned(),
            Some(sign) => format!(", `{sign}` between thousands"),
            None => String::new(),
        };
        lines.push(format!("numbers with the decimal sign `{}`{thousands}", reading.style().decimal));
    }
    if !reading.missing.is_empty() {
        lines.push(format!("missing where a cell says {}", reading.missing.join(", ")));
    }
    if reading.index_from == Some(0) {
        lines.push("indices that count from 0: index 0 is column 1".into());
    }
    for column in &reading.columns {
        let name = &column.name;
        lines.push(match &column.cells {
            CellReading::Percent => format!("{name} in percent: 12 % is 12"),
            CellReading::Currency { sign } => format!("{name} in {sign}"),
            CellReading::Boolean => format!("{name} as 1 for yes and 0 for no"),
            CellReading::Date { order, first } => {
                format!("{name} in days since {first} (dates as {})", order.words())
            }
        });
    }
    lines
}

/// Cells that training means stand in for, or an indicator tells, by column.
pub fn filled_text(filled: &[(String, usize)], missing: Missing) -> String {
    let cells: usize = filled.iter().map(|(_, n)| n).sum();
    let shown: Vec<String> = filled.iter().take(6).map(|(name, n)| format!("{name} {n}")).collect();
    let more = if filled.len() > 6 { format!(", {} more columns", filled.len() - 6) } else { String::new() };
    let how = match missing {
        Missing::Indicator => "missing, filled in with training means beside an indicator, or a level of its own",
        _ => "filled in with training means",
    };
    format!("{} {how}: {}{more}", count(cells, "cell"), shown.join(", "))
}
