//! Labels, weights and offsets of the rows of a table.

use super::options::FitOptions;
use crate::design::Recipe;
use crate::error::{Error, Result};
use crate::table::{Class, Kind, Labels, Table};
use crate::words::{Setting, words};

/// A target with more distinct values is taken for a measurement.
const MANY_CLASSES: usize = 1000;
/// So is one with more values than this and fewer than [`ROWS_PER_CLASS`] rows for each. Chosen (bench/constants.md): a
/// guard.
const SOME_CLASSES: usize = 50;
/// See [`SOME_CLASSES`].
const ROWS_PER_CLASS: usize = 4;

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
    /// Rows that have a class but are held back, so that they are without one here.
    pub(super) held_back: usize,
}

impl RowRoles {
    pub(super) fn of(table: &Table, target: &str, weights: Option<&str>, offsets: &[String]) -> Result<RowRoles> {
        let target = table.column(target)?;
        let (classes, names) = Labels::from_column(table, target);
        let weights = weights.map(|name| weight_column(table, name, &classes)).transpose()?;
        let offsets = offset_columns(table, offsets, |row| classes[row].is_some())?;
        Ok(RowRoles { classes, names, weights, offsets, held_back: 0 })
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
pub(super) fn numbers(table: &Table, name: &str, what: &str, needed: impl Fn(usize) -> bool) -> Result<Vec<f64>> {
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

/// Labels, weights and offsets, with the positive class last.
pub(super) fn read_roles(table: &Table, options: &FitOptions) -> Result<RowRoles> {
    let mut roles = RowRoles::of(table, &options.target, options.weights.as_deref(), &options.offsets)?;
    if roles.names.len() < 2 {
        let message = match roles.names.first() {
            Some(name) => format!("the target `{}` has only one class, `{name}`", options.target),
            None => format!("the target `{}` is missing in every row", options.target),
        };
        return Err(Error::data(message).help("a classifier needs rows of at least two classes"));
    }
    check_class_count(table, &roles, &options.target)?;
    if let Some(positive) = &options.positive {
        let codes: Vec<Class> = roles.classes.iter().map(|c| c.unwrap_or(Class(0))).collect();
        let labels = Labels::new(codes, roles.names.clone()).with_last(positive)?;
        let present = roles.classes.iter().zip(labels.codes()).map(|(old, new)| old.map(|_| *new));
        (roles.classes, roles.names) = (present.collect(), labels.names().to_vec());
    }
    Ok(roles)
}

/// Whether a target has so many values for its rows that they are hardly classes.
pub(super) fn looks_like_measurement(classes: usize, labelled: usize) -> bool {
    classes > MANY_CLASSES || (classes > SOME_CLASSES && classes * ROWS_PER_CLASS > labelled)
}

/// A measurement given as a target has about as many values as rows; say so before fitting thousands of classes.
fn check_class_count(table: &Table, roles: &RowRoles, target: &str) -> Result<()> {
    let labelled = roles.classes.iter().flatten().count();
    let classes = roles.names.len();
    if !looks_like_measurement(classes, labelled) {
        return Ok(());
    }
    let values = format!("the target `{target}` has {classes} distinct values in {labelled} rows");
    let is_number = table.column(target).is_ok_and(|c| matches!(table.columns()[c].kind, Kind::Number));
    let place = table.place(0).column(target);
    Err(match is_number {
        true => Error::data(format!("{values}: this looks like regression, and a classifier needs classes"))
            .at(place)
            .help("make classes of its values, such as above and below a limit that matters, and choose that column")
            .help("choose another column"),
        false => {
            Error::data(values).at(place).help("a target names classes; group its values, or choose another column")
        }
    })
}

/// Labels of the rows kept; a class that lost all its rows is named.
pub(super) fn labels_of(rows: &[usize], roles: &RowRoles, recipe: &Recipe) -> Result<Labels> {
    let labels = Labels::new(roles.codes(rows), roles.names.clone());
    let counts = labels.totals(None);
    if rows.is_empty() {
        return Err(Error::data("no row has all the cells that are needed")
            .help(words!["choose ", Setting::Missing.is("mean")])
            .help("drop the columns that miss cells"));
    }
    if let Some(k) = counts.iter().position(|c| *c == 0.0) {
        let of_class = |row: usize| roles.classes[row].is_some_and(|c| c.index() == k);
        if roles.weights.as_ref().is_some_and(|w| (0..w.len()).all(|row| !of_class(row) || w[row] == 0.0)) {
            return Err(Error::data(format!("class `{}` has no rows of positive weight", roles.names[k]))
                .help("give it rows")
                .help("leave the class out"));
        }
        let columns: Vec<&str> = recipe.columns.iter().map(|c| c.name.as_str()).take(8).collect();
        return Err(Error::data(format!(
            "class `{}` has no rows left: each misses a cell in one of the columns used",
            roles.names[k]
        ))
        .help(words!["choose ", Setting::Missing.is("mean")])
        .help(format!("drop columns (used: {})", columns.join(", "))));
    }
    Ok(labels)
}
