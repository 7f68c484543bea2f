//! Rows of a table with their classes and a place in the plane.

use crate::scene::Point;
use linsep::artifact::Model;
use linsep::table::{Labels, Table};
use linsep::watch::Watch;
use linsep::workflow::predict_table;
use linsep::{Error, Result};

/// Most rows that are drawn: with more nothing is seen but ink, and files grow without use. Chosen by eye.
pub(crate) const MOST_SHOWN: usize = 2000;

/// Rows that have all the cells a model needs.
pub(crate) struct LabelledPoints {
    /// The table row of each.
    pub table_rows: Vec<usize>,
    /// Where each is in the plane.
    pub at: Vec<Point>,
    /// The class of each, of the model's; `None` where it is missing or not one of them.
    pub classes: Vec<Option<usize>>,
    /// What the model predicts, `None` where it makes no decision.
    pub predicted: Vec<Option<usize>>,
    /// Names of the classes.
    pub names: Vec<String>,
    /// Rows of the table that were left out.
    pub left_out: usize,
}

impl LabelledPoints {
    /// The rows that a model can predict; their places come later.
    pub fn of(model: &Model, table: &Table, watch: &Watch) -> Result<LabelledPoints> {
        let found = predict_table(model, table, None, watch)?;
        if found.rows.is_empty() {
            return Err(Error::data("no row has all the cells the model needs: there is nothing to draw"));
        }
        let all = classes_of(table, &model.target, &model.classes)?;
        Ok(LabelledPoints {
            classes: found.rows.iter().map(|r| all.as_ref().and_then(|all| all[*r])).collect(),
            predicted: found.classes.iter().map(|c| c.map(linsep::table::Class::index)).collect(),
            left_out: table.n_rows() - found.rows.len(),
            table_rows: found.rows,
            at: Vec::new(),
            names: model.classes.iter().map(|c| class_label(&model.target, c)).collect(),
        })
    }

    /// The same with their places.
    pub fn at(mut self, at: Vec<Point>) -> LabelledPoints {
        self.at = at;
        self
    }

    /// Which rows of a table these are.
    pub fn wanted(&self, rows: usize) -> Vec<bool> {
        let mut wanted = vec![false; rows];
        self.table_rows.iter().for_each(|r| wanted[*r] = true);
        wanted
    }

    /// Rows whose class is known and differs from the decision.
    pub fn mistakes(&self) -> Vec<usize> {
        let wrong =
            |i: &usize| self.classes[*i].is_some() && self.predicted[*i].is_some_and(|p| Some(p) != self.classes[*i]);
        (0..self.classes.len()).filter(wrong).collect()
    }
}

/// A class as a legend says it: a number alone would say nothing.
pub(crate) fn class_label(target: &str, class: &str) -> String {
    match class.trim().parse::<f64>() {
        Ok(_) => format!("{target} = {class}"),
        Err(_) => class.to_owned(),
    }
}

/// The class of every row of a table in terms of known names; `None` where the table lacks the column.
pub(crate) fn classes_of(table: &Table, target: &str, names: &[String]) -> Result<Option<Vec<Option<usize>>>> {
    let Some(column) = table.columns().iter().position(|c| c.name == target) else { return Ok(None) };
    let (codes, found) = Labels::from_column(table, column);
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let same = |a: &str, b: &str| a == b || (number(a).is_some() && number(a) == number(b));
    let known: Vec<Option<usize>> = found.iter().map(|f| names.iter().position(|n| same(n, f))).collect();
    Ok(Some(codes.iter().map(|c| c.and_then(|c| known.get(c.index()).copied().flatten())).collect()))
}

/// Some of so many rows, evenly over the table: all where they are few.
pub(crate) fn thinned(rows: usize) -> Vec<usize> {
    match rows <= MOST_SHOWN {
        true => (0..rows).collect(),
        false => (0..MOST_SHOWN).map(|k| (k as u128 * rows as u128 / MOST_SHOWN as u128) as usize).collect(),
    }
}
