//! New rows from a fitted model.

use crate::artifact::Model;
use crate::density::{Density, Family};
use crate::design::Encoding;
use crate::error::{Error, Result};
use crate::model::Method;
use crate::sample::Classes;
use crate::words::{Setting, words};

/// The classes of a generative model, ready to be drawn from. [`crate::design::Recipe::cells`] turns drawn rows into the
/// cells of a table like the one the model was fitted on.
///
/// Refuses a model without densities, columns that were transformed or multiplied, and text columns whose indicators the model does not take as levels.
pub fn model_classes(model: &Model) -> Result<Classes> {
    let Some(densities) = &model.density else {
        let (name, generative) = (model.method.name(), Method::GENERATIVE.join(", "));
        return Err(Error::model(format!("this {name} model does not hold what the classes look like"))
            .help(format!("rows can be drawn from models of {generative}, unless they are very wide")));
    };
    if densities.n_features() != model.recipe.n_features() || densities.n_classes() != model.classes.len() {
        return Err(Error::model("the parts of the model do not fit together"));
    }
    if !model.recipe.is_linear() {
        return Err(Error::model("the model transforms or multiplies columns, which cannot be undone for drawn rows")
            .help(words!["draw from a model fitted without ", Setting::Transform, " and ", Setting::Basis]));
    }
    let mut start = 0;
    for column in &model.recipe.columns {
        let columns: Vec<usize> = (start..start + column.width()).collect();
        start += column.width();
        let Encoding::Levels { reference, .. } = &column.encoding else { continue };
        if !columns.is_empty() && !draws_levels(&densities.density, &columns, reference.is_some()) {
            let name = &column.name;
            return Err(Error::model(format!(
                "the model takes the indicators of text column `{name}` as numbers: rows drawn from it have no level"
            ))
            .help(words!["fit without it (", Setting::Drop.is(name), ")"])
            .help(words![
                "fit by ",
                Setting::Model.is("naive-bayes"),
                ", which takes text columns as categories"
            ]));
        }
    }
    Classes::new(model.method.name(), densities.clone(), model.classes.clone(), model.recipe.features())
}

/// Whether the indicators of a text column are always those of one level.
fn draws_levels(density: &Density, columns: &[usize], has_reference: bool) -> bool {
    let is_level = |family: &Family| match family {
        Family::Categorical { .. } => !has_reference,
        // Two levels, one of them the reference.
        Family::Bernoulli { .. } => has_reference && columns.len() == 1,
        _ => false,
    };
    match density {
        Density::Gaussian(_) => false,
        Density::Independent { marginals } => marginals.iter().any(|m| m.columns == columns && is_level(&m.family)),
    }
}
