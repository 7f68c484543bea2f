//! What is to be predicted.

use crate::error::{Error, Result};
use crate::table::{Kind, Table};

/// The index of a class in its [`Labels`]; never a bare number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Class(pub u32);

impl Class {
    /// The class as an index into arrays with one entry per class.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One class per row, with the names of the classes.
///
/// ```
/// use linsep::table::{Class, Labels};
/// let labels = Labels::from_names(["b", "a", "b"]);
/// assert_eq!(labels.names(), ["a", "b"]);
/// assert_eq!(labels.codes(), [Class(1), Class(0), Class(1)]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Labels {
    codes: Vec<Class>,
    names: Vec<String>,
}

impl Labels {
    /// Labels from codes and the names they index.
    ///
    /// # Panics
    /// If a code has no name.
    pub fn new(codes: Vec<Class>, names: Vec<String>) -> Labels {
        assert!(codes.iter().all(|c| c.index() < names.len()), "every code needs a name");
        Labels { codes, names }
    }

    /// Labels from one name per row; names that are all numbers sort as numbers, others as text.
    pub fn from_names<S: AsRef<str>>(rows: impl IntoIterator<Item = S>) -> Labels {
        let rows: Vec<String> = rows.into_iter().map(|r| r.as_ref().to_owned()).collect();
        let mut names = rows.clone();
        names.sort();
        names.dedup();
        sort_names(&mut names);
        let code = |row: &String| Class(names.iter().position(|n| n == row).unwrap_or(0) as u32);
        let codes = rows.iter().map(code).collect();
        Labels { codes, names }
    }

    /// The class of every row.
    pub fn codes(&self) -> &[Class] {
        &self.codes
    }

    /// The class names, indexed by [`Class`].
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.codes.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }

    /// Number of classes.
    pub fn n_classes(&self) -> usize {
        self.names.len()
    }

    /// Names and total weight of the classes; `None` counts every row once.
    pub fn totals(&self, weights: Option<&[f64]>) -> Vec<f64> {
        let mut totals = vec![0.0; self.names.len()];
        for (i, class) in self.codes.iter().enumerate() {
            totals[class.index()] += weights.map_or(1.0, |w| w[i]);
        }
        totals
    }

    /// The labels of some rows, with all the class names kept.
    pub fn select(&self, rows: &[usize]) -> Labels {
        Labels { codes: rows.iter().map(|r| self.codes[*r]).collect(), names: self.names.clone() }
    }

    /// The same labels with `positive` as the last class: for two classes, the one whose score is reported.
    pub fn with_last(mut self, positive: &str) -> Result<Labels> {
        let from = self.names.iter().position(|n| n == positive).ok_or_else(|| {
            Error::usage(format!("there is no class `{positive}`"))
                .help(format!("the classes are: {}", self.names.join(", ")))
        })?;
        let name = self.names.remove(from);
        self.names.push(name);
        let last = self.names.len() as u32 - 1;
        for class in &mut self.codes {
            class.0 = match class.0 as usize {
                c if c == from => last,
                c if c > from => class.0 - 1,
                _ => class.0,
            };
        }
        Ok(self)
    }

    /// The same labels with `reference` as the first class.
    pub fn with_first(mut self, reference: &str) -> Result<Labels> {
        let from = self.names.iter().position(|n| n == reference).ok_or_else(|| {
            Error::usage(format!("there is no class `{reference}`"))
                .help(format!("the classes are: {}", self.names.join(", ")))
        })?;
        self.names[..=from].rotate_right(1);
        for class in &mut self.codes {
            class.0 = match class.0 as usize {
                c if c == from => 0,
                c if c < from => class.0 + 1,
                _ => class.0,
            };
        }
        Ok(self)
    }

    /// The column of a table as labels, with the rows whose label is missing.
    ///
    /// Numbers sort as numbers; text sorts by bytes, unless every level is a number.
    pub fn from_column(table: &Table, column: usize) -> (Vec<Option<Class>>, Vec<String>) {
        let mut values: Vec<f64> = Vec::with_capacity(table.n_rows());
        for chunk in table.chunks() {
            chunk.cells[column].for_each(|_, v| values.push(v));
        }
        match &table.columns()[column].kind {
            Kind::Text { levels } => {
                let mut order: Vec<usize> = (0..levels.len()).collect();
                if levels.iter().all(|l| number(l).is_some()) {
                    let value = |l: &usize| number(&levels[*l]).unwrap_or(f64::NAN);
                    order.sort_by(|a, b| value(a).total_cmp(&value(b)).then(a.cmp(b)));
                }
                let mut rank = vec![0u32; levels.len()];
                order.iter().enumerate().for_each(|(at, level)| rank[*level] = at as u32);
                let code = |v: &f64| (!v.is_nan()).then(|| Class(rank[*v as usize]));
                (values.iter().map(code).collect(), order.iter().map(|l| levels[*l].clone()).collect())
            }
            Kind::Number => {
                let mut distinct: Vec<f64> = Vec::new();
                let mut last = f64::NAN;
                for v in values.iter().copied().filter(|v| !v.is_nan()) {
                    // Runs of equal labels are common; the search is for the rest.
                    if v != last {
                        if distinct.len() > MANY {
                            break;
                        }
                        if let Err(at) = distinct.binary_search_by(|d| d.total_cmp(&(v + 0.0))) {
                            distinct.insert(at, v + 0.0);
                        }
                        last = v;
                    }
                }
                let code =
                    |v: &f64| distinct.binary_search_by(|d| d.total_cmp(&(v + 0.0))).ok().map(|i| Class(i as u32));
                (values.iter().map(code).collect(), distinct.iter().map(|v| format!("{v}")).collect())
            }
        }
    }
}

/// More distinct numbers are not collected: `workflow::fit` refuses them (its `MANY_CLASSES` must not exceed this), and
/// insertion in order takes time with their square.
const MANY: usize = 1000;

fn number(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok().filter(|v| !v.is_nan())
}

/// Sorts names as numbers when all of them are numbers.
fn sort_names(names: &mut [String]) {
    if names.iter().all(|n| number(n).is_some()) {
        let value = |name: &String| number(name).unwrap_or(f64::NAN);
        names.sort_by(|a, b| value(a).total_cmp(&value(b)).then_with(|| a.cmp(b)));
    }
}

/// What is to be predicted; this version fits classes, the other kinds are the room for later methods.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// One class per row.
    Class(Labels),
    /// One number per row.
    Real(Vec<f64>),
    /// Several yes/no labels per row, one vector per label.
    MultiLabel {
        /// Names of the labels.
        names: Vec<String>,
        /// `set[label][row]`.
        set: Vec<Vec<bool>>,
    },
    /// Grouped rows: how many cases of each class a row stands for.
    Counts {
        /// Class names.
        names: Vec<String>,
        /// `counts[row * names.len() + class]`.
        counts: Vec<f64>,
    },
}
