//! Rows held out of a fit for calibration, and the sets of classes that are learned from them.
//!
//! The fit never sees these rows: recipe, units, method, calibration and folds are learned from the others. Nothing is
//! fitted again on all rows afterwards, or the coverage guarantee of the sets would be void.

use super::predict::scored_rows;
use super::rows::RowRoles;
use super::source::Source;
use crate::artifact::Model;
use crate::decide::{Conformal, ConformalOptions};
use crate::design::{Design, UnknownLevel};
use crate::error::{Error, Place, Result};
use crate::resample::{PartOf, random_part};
use crate::table::{Class, Table};
use crate::watch::Watch;
use crate::words::{Setting, words};

/// The class of each row that is held back, `None` for all others.
pub(super) struct HeldBack {
    classes: Vec<Option<Class>>,
}

/// Takes rows out of the fit, where sets are asked for.
pub(super) fn hold_back(
    mut roles: RowRoles,
    options: Option<&ConformalOptions>,
    seed: u64,
    place: &dyn Fn(usize) -> Place,
) -> Result<(RowRoles, Option<HeldBack>)> {
    let Some(options) = options else { return Ok((roles, None)) };
    let frequencies = roles.frequencies(|_| true);
    check_weights(&frequencies, place)?;
    let counted = |(class, s): (&Option<Class>, &f64)| class.filter(|_| *s > 0.0);
    let counted: Vec<Option<Class>> = roles.classes.iter().zip(&frequencies).map(counted).collect();
    let part = part_of(&counted, &roles.names, options, seed)?;
    let classes = counted.iter().zip(&part).map(|(class, held)| class.filter(|_| *held)).collect();
    roles.classes.iter_mut().zip(&part).filter(|(_, held)| **held).for_each(|(class, _)| *class = None);
    roles.held_back = part.iter().filter(|held| **held).count();
    Ok((roles, Some(HeldBack { classes })))
}

/// The sets, from the rows of a table that were held back.
pub(super) fn sets_of_table(
    model: &Model,
    options: ConformalOptions,
    table: &Table,
    held: &HeldBack,
    watch: &Watch,
) -> Result<Conformal> {
    let wanted: Vec<bool> = held.classes.iter().map(Option::is_some).collect();
    // Rows that prediction would refuse are left out, so that the scored rows are exchangeable with later ones.
    let unknown = match model.recipe.unknown {
        UnknownLevel::Error => UnknownLevel::Missing,
        other => other,
    };
    let (prepared, scores) = scored_rows(model, table, &wanted, Some(unknown), watch)?;
    let truth: Vec<Class> = prepared.rows.iter().filter_map(|row| held.classes[*row]).collect();
    Ok(sets(model, options, scores, &truth))
}

fn sets(model: &Model, options: ConformalOptions, scores: Vec<f64>, truth: &[Class]) -> Conformal {
    let strangeness = model.strangeness(&model.deciding_scores(scores));
    Conformal::of(options, &strangeness, truth, model.classes.len())
}

/// Rows of arrays, of which some may be held back.
pub(super) struct DividedSource<'a> {
    /// What is fitted.
    pub(super) source: Source<'a>,
    held: Option<(crate::design::PreparedDesign, Vec<Class>, ConformalOptions)>,
}

impl<'a> DividedSource<'a> {
    /// Takes rows out of the fit, where sets are asked for; these and the others are copied.
    pub(super) fn of(source: Source<'a>, options: Option<&ConformalOptions>, seed: u64) -> Result<DividedSource<'a>> {
        let Some(options) = options else { return Ok(DividedSource { source, held: None }) };
        if let Some(weights) = source.weights.as_deref() {
            check_weights(weights, &|row| source.place(source.rows[row]))?;
        }
        let classes: Vec<Option<Class>> = source.labels.codes().iter().map(|c| Some(*c)).collect();
        let part = part_of(&classes, source.labels.names(), options, seed)?;
        let truth = classes.iter().zip(&part).filter_map(|(class, held)| class.filter(|_| *held)).collect();
        let (source, apart) = source.divided(&part)?;
        Ok(DividedSource { source, held: Some((apart, truth, *options)) })
    }

    /// The sets of a model that was fitted to the rest; `None` where none are asked for.
    pub(super) fn sets(&self, model: &Model, watch: &Watch) -> Result<Option<Conformal>> {
        let Some((design, truth, options)) = &self.held else { return Ok(None) };
        let design: &dyn Design = design.as_design();
        let scores = match truth.is_empty() {
            true => Vec::new(),
            false => model.discriminant.scores(design, watch).map_err(|e| self.source.name(e))?,
        };
        Ok(Some(sets(model, *options, scores, truth)))
    }
}

/// Rows are held out whole: the copies of a row with a weight above one would all be in the same part.
fn check_weights(frequencies: &[f64], place: &dyn Fn(usize) -> Place) -> Result<()> {
    match frequencies.iter().position(|s| *s != 0.0 && *s != 1.0) {
        None => Ok(()),
        Some(row) => Err(Error::data(format!(
            "the weight {} of a row: conformal sets count rows, each of which is held back or fitted as a whole",
            frequencies[row]
        ))
        .at(place(row))
        .help("write a row of weight k as k rows")
        .help(words!["leave out ", Setting::Conformal])),
    }
}

fn part_of(classes: &[Option<Class>], names: &[String], options: &ConformalOptions, seed: u64) -> Result<Vec<bool>> {
    let of = if options.by_class { PartOf::EachClass } else { PartOf::AllRows };
    let part = random_part(classes, names.len(), options.share, of, seed);
    let mut left = vec![0_usize; names.len()];
    let mut held = left.clone();
    for (class, is_held) in classes.iter().zip(&part) {
        if let Some(class) = class {
            let count = if *is_held { &mut held } else { &mut left };
            count[class.index()] += 1;
        }
    }
    if let Some(k) = (0..names.len()).find(|k| left[*k] == 0 && held[*k] > 0) {
        let rows = if held[k] == 1 { "row".to_owned() } else { format!("{} rows", held[k]) };
        let error = Error::data(format!(
            "the {rows} of class `{}` would all be held back for conformal sets, and nothing would be left to learn it from",
            names[k]
        ));
        let error = error.help("give the class more rows").help(words![
            "hold fewer back: ",
            Setting::ConformalShare,
            format!(" below {}", options.share)
        ]);
        return Err(match options.by_class {
            true => error,
            false => error.help(words!["choose ", Setting::ConformalBy.is("class"), ", which divides every class"]),
        });
    }
    Ok(part)
}
