//! Labels, weights and offsets of the rows of a table.

use crate::error::{Error, Result};
use crate::table::{Class, Kind, Labels, Table};

/// What the named columns say about every row of a table.
pub(super) struct RowRoles {
    /// The class, `None` where the label is missing.
    pub(super) classes: Vec<Option<Class>>,
    /// Class names.
    pub(super) names: Vec<String>,
    /// Weights, where a column was named.
    pub(super) weights: Option<Vec<f64>>,
    /// Offsets row by row, and their number per row.
    pub(super) offsets: Option<(usize, Vec<f64>)>,
}

impl RowRoles {
    pub(super) fn of(table: &Table, target: &str, weights: Option<&str>, offsets: &[String]) -> Result<RowRoles> {
        let target = table.column(target)?;
        let (classes, names) = Labels::from_column(table, target);
        let weights = weights.map(|name| weight_column(table, name, &classes)).transpose()?;
        let offsets = offset_columns(table, offsets, |row| classes[row].is_some())?;
        Ok(RowRoles { classes, names, weights, offsets })
    }

    /// Rows with a label.
    pub(super) fn usable(&self) -> Vec<bool> {
        self.classes.iter().map(Option::is_some).collect()
    }

    /// How often each row counts for the recipe: not at all without a label or where `wanted` says no.
    pub(super) fn frequencies(&self, wanted: impl Fn(usize) -> bool) -> Vec<f64> {
        let weight = |row: usize| self.weights.as_ref().map_or(1.0, |w| w[row]);
        let counts = |row: usize| self.classes[row].is_some() && wanted(row);
        (0..self.classes.len()).map(|row| if counts(row) { weight(row) } else { 0.0 }).collect()
    }

    /// The classes of some rows, all of which have one.
    pub(super) fn codes(&self, rows: &[usize]) -> Vec<Class> {
        rows.iter().filter_map(|r| self.classes[*r]).collect()
    }

    /// The weights of some rows.
    pub(super) fn weights_of(&self, rows: &[usize]) -> Option<Vec<f64>> {
        self.weights.as_ref().map(|w| rows.iter().map(|r| w[*r]).collect())
    }

    /// The offsets of some rows.
    pub(super) fn offsets_of(&self, rows: &[usize]) -> Option<(usize, Vec<f64>)> {
        let (width, values) = self.offsets.as_ref()?;
        Some((*width, rows.iter().flat_map(|r| values[r * width..(r + 1) * width].iter().copied()).collect()))
    }

    /// Translates the table's classes to those of a model; a label the model does not know is an error.
    pub(super) fn in_terms_of(mut self, table: &Table, target: &str, known: &[String]) -> Result<RowRoles> {
        let translation: Vec<Option<u32>> =
            self.names.iter().map(|n| known.iter().position(|k| k == n).map(|p| p as u32)).collect();
        for (row, class) in self.classes.iter_mut().enumerate() {
            let Some(found) = *class else { continue };
            match translation[found.index()] {
                Some(code) => *class = Some(Class(code)),
                None => {
                    return Err(Error::data(format!(
                        "the model does not know the class `{}`",
                        self.names[found.index()]
                    ))
                    .at(table.place(row).column(target))
                    .help(format!("its classes are: {}", known.join(", "))));
                }
            }
        }
        self.names = known.to_vec();
        Ok(self)
    }
}

/// A column of numbers, all present where they are needed.
fn numbers(table: &Table, name: &str, what: &str, needed: impl Fn(usize) -> bool) -> Result<Vec<f64>> {
    let column = table.column(name)?;
    if table.columns()[column].kind != Kind::Number {
        return Err(Error::data(format!("the {what} column `{name}` holds text")).help("it must hold numbers"));
    }
    let mut values = Vec::with_capacity(table.n_rows());
    for chunk in table.chunks() {
        chunk.cells[column].for_each(|_, v| values.push(v));
    }
    match (0..values.len()).find(|r| needed(*r) && !values[*r].is_finite()) {
        Some(row) => {
            let fact = if values[row].is_nan() { "missing".to_owned() } else { values[row].to_string() };
            Err(Error::data(format!("the {what} is {fact}"))
                .at(table.place(row).column(name))
                .help("fill it in")
                .help("remove the row"))
        }
        None => Ok(values),
    }
}

fn weight_column(table: &Table, name: &str, classes: &[Option<Class>]) -> Result<Vec<f64>> {
    let weights = numbers(table, name, "weight", |row| classes[row].is_some())?;
    if let Some(row) = (0..weights.len()).find(|r| classes[*r].is_some() && weights[*r] < 0.0) {
        return Err(Error::data(format!("the weight {} is negative", weights[row]))
            .at(table.place(row).column(name))
            .help("weights are frequencies: zero or more"));
    }
    if (0..weights.len()).all(|r| classes[r].is_none() || weights[r] == 0.0) {
        return Err(Error::data(format!("all weights in column `{name}` are zero"))
            .help("at least one row of each class needs a positive weight"));
    }
    Ok(weights)
}

pub(super) fn offset_columns(
    table: &Table,
    names: &[String],
    needed: impl Fn(usize) -> bool + Copy,
) -> Result<Option<(usize, Vec<f64>)>> {
    if names.is_empty() {
        return Ok(None);
    }
    let columns = names.iter().map(|n| numbers(table, n, "offset", needed)).collect::<Result<Vec<_>>>()?;
    let rows = (0..table.n_rows()).flat_map(|r| columns.iter().map(move |c| c[r]));
    Ok(Some((names.len(), rows.collect())))
}
