//! A recipe learned from the training rows.

use super::basis::{count_features, forecast};
use super::encoding::{Encoding, RecipeColumn};
use super::formula::FoundFormula;
use super::quantile::{Transform, learn_knots};
use super::recipe::{Coding, Missing, Recipe, RecipeOptions};
use crate::error::{Error, Result, nearest};
use crate::table::{ColumnQuestion, Kind, NameIndex, Table, unanswered};
use crate::words::{Setting, Span, words};
use rayon::prelude::*;

/// Sparse columns at most: a model keeps several numbers for each, used or not, half a gigabyte for each number.
const MOST_COLUMNS: usize = 1 << 26;

/// Learns a recipe from the rows with a positive frequency: zero for rows without a label, one where nothing is
/// weighted.
///
/// ```
/// use linsep::design::{RecipeOptions, fit_recipe};
/// use linsep::read::{ReadOptions, read_bytes};
/// let table = read_bytes(b"x,kind\n1,a\n2,b\n3,a\n", "demo.csv", &ReadOptions::default())?;
/// let recipe = fit_recipe(&table, &vec![1.0; 3], &RecipeOptions::default())?;
/// assert_eq!(recipe.features(), ["x", "kind=a", "kind=b"]);
/// # Ok::<(), linsep::Error>(())
/// ```
pub fn fit_recipe(table: &Table, frequency: &[f64], options: &RecipeOptions) -> Result<Recipe> {
    let usable: Vec<bool> = frequency.iter().map(|f| *f > 0.0).collect();
    if options.formula.is_some() {
        refuse_beside_formula(options)?;
    }
    let formula = match &options.formula {
        Some(formula) => Some(FoundFormula::new(formula, table, &excluded_columns(table, options)?)?),
        None => None,
    };
    let chosen = match &formula {
        Some(formula) => formula.columns.clone(),
        None => choose_columns(table, options)?,
    };
    check_references(table, &chosen, options)?;
    let keep = match options.missing {
        Missing::Drop => super::matching::rows_without_missing(table, &chosen, &usable),
        Missing::Mean | Missing::Indicator | Missing::Error => usable,
    };
    if table.sparse_width() > MOST_COLUMNS {
        let message =
            format!("the largest index is {}: more columns than {MOST_COLUMNS} do not fit", table.sparse_width());
        return Err(Error::data(message).help("renumber the columns from 1"));
    }
    let counted: Vec<f64> = frequency.iter().zip(&keep).map(|(f, k)| if *k { *f } else { 0.0 }).collect();
    let transformed = transformed_columns(table, &chosen, options)?;
    let mut is_transformed = vec![false; table.columns().len()];
    transformed.iter().for_each(|c| is_transformed[*c] = true);
    let as_they_are = |c: &usize| table.columns()[*c].kind == Kind::Number && !is_transformed[*c];
    // What a formula makes of small numbers need not be small: its matrix is checked.
    if formula.is_none() {
        super::tiny::check_table(table, chosen.iter().copied().filter(as_they_are), &keep)?;
    }
    let unit = |c: &usize| if is_transformed[*c] { None } else { table.printed_unit(*c, &counted) };
    let units: Vec<Option<f64>> = chosen.par_iter().map(unit).collect();
    let learn = |(c, unit): (&usize, Option<f64>)| {
        let column = Learned { column: *c, printed: unit, transformed: is_transformed[*c] };
        learn_column(table, column, &counted, options)
    };
    let mut columns = chosen.iter().zip(units).map(learn).collect::<Result<Vec<_>>>()?;
    if options.missing == Missing::Indicator {
        let indicated = chosen.iter().filter(|c| misses_cells(table, **c, &counted));
        let name = |c: &usize| table.columns()[*c].name.clone();
        columns.extend(indicated.map(|c| RecipeColumn { name: name(c), encoding: Encoding::Missing }));
    }
    if columns.is_empty() && table.sparse_width() == 0 {
        return Err(Error::data("no column is left to classify with")
            .help(words!["name the columns to use with ", Setting::Features])
            .help("drop fewer"));
    }
    if table.sparse_width() == 0 && columns.iter().all(|c| c.width() == 0) {
        return Err(Error::data("no column is left to classify with: each has the same text in every row")
            .help("use columns that differ between rows"));
    }
    let rows = counted.iter().filter(|f| **f > 0.0).count();
    if let Some(formula) = formula {
        let formula = formula.learn(&columns, table, &counted, options.max_levels)?;
        let recipe = Recipe {
            columns,
            sparse_width: 0,
            missing: options.missing,
            unknown: options.unknown,
            formula: Some(formula),
            ..Recipe::unnamed(0)
        };
        return match recipe.n_features() {
            0 => Err(Error::data("no column is left to classify with: each has the same text in every row")
                .help("use columns that differ between rows")),
            features => forecast(&recipe.columns, features as u128, rows).map(|()| recipe),
        };
    }
    check_basis(table, &columns, rows, options)?;
    Ok(Recipe {
        columns,
        sparse_width: table.sparse_width(),
        missing: options.missing,
        unknown: options.unknown,
        basis: options.basis,
        basis_columns: options.basis_columns.clone(),
        formula: None,
    })
}

/// A formula says all of these itself.
fn refuse_beside_formula(options: &RecipeOptions) -> Result<()> {
    let said = [
        (options.features.is_some(), Setting::Features),
        (!options.basis.is_none(), Setting::Basis),
        (options.transform != Transform::None, Setting::Transform),
        (!options.references.is_empty(), Setting::Reference),
    ];
    if options.missing == Missing::Indicator {
        return Err(Error::usage(words![
            "a formula says which columns there are, and ",
            Setting::Missing.is("indicator"),
            " adds others"
        ])
        .help(words!["use ", Setting::Missing.is("mean")])
        .help(words!["name the columns with ", Setting::Features, " instead of the formula"]));
    }
    match said.into_iter().find(|(given, _)| *given) {
        Some((_, setting)) => Err(Error::usage(words![
            "a formula says which columns are used and how, and ",
            setting,
            " is given as well"
        ])
        .help(words!["say it in the formula and leave ", setting, " out"])),
        None => Ok(()),
    }
}

/// Refuses a reference of a column that is not in use or holds numbers.
fn check_references(table: &Table, chosen: &[usize], options: &RecipeOptions) -> Result<()> {
    for (at, (name, _)) in options.references.iter().enumerate() {
        let column = table.column(name)?;
        if !chosen.contains(&column) {
            return Err(not_a_feature(name, Setting::Reference));
        }
        if table.columns()[column].kind == Kind::Number {
            return Err(Error::usage(format!("column `{name}` holds numbers, which have no reference level"))
                .help(words!["read it as text: ", Setting::TextColumns.is(name)]));
        }
        if options.references[..at].iter().any(|(other, _)| other == name) {
            return Err(Error::usage(format!("column `{name}` is given two reference levels")).help("give it one"));
        }
    }
    Ok(())
}

/// The columns that are no features.
fn excluded_columns(table: &Table, options: &RecipeOptions) -> Result<Vec<bool>> {
    let index = table.index();
    let mut excluded = vec![false; table.columns().len()];
    for name in &options.exclude {
        excluded[index.place(name).map_or_else(|| table.column(name), Ok)?] = true;
    }
    // The named columns of sparse rows are their labels, and one label is no feature of another.
    if table.sparse_width() > 0 {
        excluded.iter_mut().zip(table.columns()).for_each(|(excluded, c)| *excluded |= c.name.starts_with("label="));
    }
    Ok(excluded)
}

/// The number columns to be transformed; a column that cannot be is named.
fn transformed_columns(table: &Table, chosen: &[usize], options: &RecipeOptions) -> Result<Vec<usize>> {
    if options.transform == Transform::None {
        return Ok(Vec::new());
    }
    let is_number = |c: usize| table.columns()[c].kind == Kind::Number;
    let Some(names) = &options.transform_columns else {
        let numbers: Vec<usize> = chosen.iter().copied().filter(|c| is_number(*c)).collect();
        return match numbers.is_empty() {
            true => Err(Error::data("there is no named number column to transform").help(words![
                "leave ",
                Setting::Transform,
                " out"
            ])),
            false => Ok(numbers),
        };
    };
    let index = table.index();
    let used = |name: &String| used_column(table, &index, chosen, name);
    let columns = names.iter().map(used).collect::<Result<Vec<_>>>()?;
    match columns.iter().find(|c| !is_number(**c)) {
        Some(text) => {
            let name = &table.columns()[*text].name;
            Err(Error::usage(format!("column `{name}` holds text: only numbers can be transformed"))
                .help(words!["take it out of ", Setting::TransformColumns]))
        }
        None => Ok(columns),
    }
}

/// The place of a column that must be in use.
fn used_column(table: &Table, index: &NameIndex<'_>, chosen: &[usize], name: &str) -> Result<usize> {
    let column = index.place(name).map_or_else(|| table.column(name), Ok)?;
    // The chosen columns are in the table's order.
    match chosen.binary_search(&column).is_ok() {
        true => Ok(column),
        false => Err(not_a_feature(name, Setting::TransformColumns)),
    }
}

fn not_a_feature(name: &str, of: Setting) -> Error {
    Error::usage(words![Span::NamedColumn(name.to_owned()), " of ", of, " is not among the features"])
        .help(words!["take it out of ", of])
        .help("use it as a feature")
}

/// Refuses a basis that cannot be made, before it is.
fn check_basis(table: &Table, columns: &[RecipeColumn], rows: usize, options: &RecipeOptions) -> Result<()> {
    if options.basis.is_none() {
        return Ok(());
    }
    if table.sparse_width() > 0 {
        return Err(Error::data("a basis needs named columns; those of LIBSVM data are too many to multiply")
            .help(words!["leave ", Setting::Basis, " out"])
            .help("give the table as CSV or Parquet"));
    }
    let (index, used) = (table.index(), NameIndex::new(columns.iter().map(|c| c.name.as_str())));
    for name in options.basis_columns.iter().flatten() {
        index.place(name).map_or_else(|| table.column(name), Ok)?;
        if !used.contains(name) {
            return Err(not_a_feature(name, Setting::BasisColumns));
        }
    }
    let chosen = options.basis_columns.as_ref().map(|b| NameIndex::new(b.iter().map(String::as_str)));
    let chosen = |name: &str| chosen.as_ref().is_none_or(|b| b.contains(name));
    forecast(columns, count_features(columns, options.basis, chosen), rows)
}

fn choose_columns(table: &Table, options: &RecipeOptions) -> Result<Vec<usize>> {
    let index = table.index();
    let place = |name: &String| index.place(name).map_or_else(|| table.column(name), Ok);
    let excluded = excluded_columns(table, options)?;
    let wanted: Option<Vec<usize>> = match &options.features {
        Some(names) => Some(names.iter().map(place).collect::<Result<_>>()?),
        None => None,
    };
    let used = match &wanted {
        Some(wanted) => {
            let mut used = vec![false; excluded.len()];
            wanted.iter().for_each(|c| used[*c] = true);
            used
        }
        None => excluded.iter().map(|e| !e).collect(),
    };
    if let Some(wanted) = &wanted
        && let Some(both) = wanted.iter().find(|c| excluded[**c])
    {
        let name = &table.columns()[*both].name;
        return Err(Error::usage(format!(
            "column `{name}` cannot be a feature: it is the target, a weight, an offset or dropped"
        ))
        .help(words!["take it out of ", Setting::Features]));
    }
    Ok((0..used.len()).filter(|c| used[*c]).collect())
}

/// A column to learn, and what is known of it.
struct Learned {
    column: usize,
    printed: Option<f64>,
    transformed: bool,
}

fn learn_column(table: &Table, learned: Learned, counted: &[f64], options: &RecipeOptions) -> Result<RecipeColumn> {
    let Learned { column, printed, transformed } = learned;
    let info = &table.columns()[column];
    let encoding = match &info.kind {
        Kind::Number => {
            let mean = options.missing.fills_in().then(|| column_mean(table, column, counted)).transpose()?;
            match options.transform {
                Transform::Quantile { output, knots } if transformed => {
                    let knots = learn_knots(table, column, counted, knots);
                    if knots.is_empty() && options.missing == Missing::Drop {
                        return Err(Error::data("no row has all the cells that are needed")
                            .help(words!["choose ", Setting::Missing.is("mean")])
                            .help("drop the columns that miss cells"));
                    }
                    if knots.is_empty() {
                        return Err(all_missing(&info.name));
                    }
                    Encoding::Quantile { knots, output, mean }
                }
                _ => Encoding::Number { mean, printed },
            }
        }
        Kind::Text { levels } => learn_levels(table, column, levels, counted, options)?,
    };
    Ok(RecipeColumn { name: info.name.clone(), encoding })
}

/// Whether a row that counts misses the cell.
fn misses_cells(table: &Table, column: usize, counted: &[f64]) -> bool {
    let mut misses = false;
    for (c, chunk) in table.chunks().iter().enumerate() {
        let (start, cells) = (table.chunk_start(c), &chunk.cells[column]);
        if !misses && cells.any_missing() {
            cells.for_each(|i, v| misses |= v.is_nan() && counted[start + i] > 0.0);
        }
    }
    misses
}

fn all_missing(name: &str) -> Error {
    Error::data(format!("column `{name}` is missing in every row"))
        .help("fill in some of its cells")
        .help(words!["leave it out: ", Setting::Drop.is(name)])
}

/// Mean of the cells that are present, shifted by the first so that a large offset costs no digits.
fn column_mean(table: &Table, column: usize, counted: &[f64]) -> Result<f64> {
    let (mut shift, mut sum, mut count) = (0.0, 0.0, 0.0);
    for (c, chunk) in table.chunks().iter().enumerate() {
        let start = table.chunk_start(c);
        chunk.cells[column].for_each(|i, v| {
            let f = counted[start + i];
            if f > 0.0 && !v.is_nan() {
                if count == 0.0 {
                    shift = v;
                }
                sum += f * (v - shift);
                count += f;
            }
        });
    }
    if count == 0.0 {
        return Err(all_missing(&table.columns()[column].name));
    }
    Ok(shift + sum / count)
}

fn learn_levels(
    table: &Table,
    column: usize,
    levels: &[String],
    counted: &[f64],
    options: &RecipeOptions,
) -> Result<Encoding> {
    let name = &table.columns()[column].name;
    if let Some(question) = unanswered(table, column).filter(ColumnQuestion::is_refused) {
        return Err(question.into_error());
    }
    let mut counts = vec![0.0; levels.len()];
    for (c, chunk) in table.chunks().iter().enumerate() {
        let start = table.chunk_start(c);
        chunk.cells[column].for_each(|i, v| {
            if !v.is_nan() {
                counts[v as usize] += counted[start + i];
            }
        });
    }
    let seen: Vec<usize> = (0..levels.len()).filter(|l| counts[*l] > 0.0).collect();
    if seen.is_empty() {
        return Err(all_missing(name));
    }
    if seen.len() > options.max_levels {
        let message = format!("text column `{name}` has {} levels, more than {}", seen.len(), options.max_levels);
        return Err(Error::data(message)
            .help("group its levels")
            .help(words!["leave it out with ", Setting::Drop.is(name)])
            .help(words!["allow more with ", Setting::Levels.is(seen.len())]));
    }
    let total: f64 = counts.iter().sum();
    // A missing cell with an indicator is a level of its own.
    let by_shares = match options.missing {
        Missing::Mean => true,
        Missing::Indicator => !misses_cells(table, column, counted),
        Missing::Drop | Missing::Error => false,
    };
    let shares = by_shares.then(|| seen.iter().map(|l| counts[*l] / total).collect());
    let levels: Vec<String> = seen.iter().map(|l| levels[*l].clone()).collect();
    let reference = match options.references.iter().find(|(column, _)| column == name) {
        Some((_, level)) if levels.contains(level) => Some(level.clone()),
        Some((_, level)) => {
            let near = nearest(level, levels.iter().map(String::as_str));
            let known = levels.iter().take(12).cloned().collect::<Vec<_>>().join(", ");
            let error = Error::usage(format!("text column `{name}` has no level `{level}`"));
            return Err(match near.is_empty() {
                true => error.help(format!("its levels are: {known}")),
                false => error.help(format!("did you mean `{}`?", near.join("`, `"))),
            });
        }
        // A formula codes the indicators of all levels itself.
        None => (options.coding == Coding::DropReference && options.formula.is_none()).then(|| levels[0].clone()),
    };
    Ok(Encoding::Levels { levels, reference, shares })
}
