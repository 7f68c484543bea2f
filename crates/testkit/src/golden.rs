//! The golden values beside the repository root and the small tables they were computed from.

use linsep::table::Labels;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The root of the checkout.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A file of the shared data beside the checkout. Tests that read it are ignored unless they are asked for, so that nobody
/// takes a test that read nothing for one that passed.
///
/// # Panics
/// Where it is absent.
#[track_caller]
pub fn shared_file(name: &str) -> PathBuf {
    let path = root().join("../shared/data").join(name);
    assert!(path.exists(), "../shared/data/{name} is absent: this test needs it");
    path
}

/// A golden file.
///
/// # Panics
/// If it cannot be read: goldens are part of the repository.
pub fn json(name: &str) -> Value {
    let path = root().join("golden").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// A number of a golden file.
///
/// # Panics
/// If it is none.
#[track_caller]
pub fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

/// A list of numbers; a single number is a list of one.
///
/// # Panics
/// If it is neither.
#[track_caller]
pub fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(items) => items.iter().map(number).collect(),
        other => vec![number(other)],
    }
}

/// A matrix by rows; a flat list is a matrix of one row.
///
/// # Panics
/// If it is neither.
#[track_caller]
pub fn matrix(value: &Value) -> Vec<Vec<f64>> {
    match value {
        Value::Array(items) if items.iter().all(Value::is_array) => items.iter().map(numbers).collect(),
        other => vec![numbers(other)],
    }
}

/// A list of strings.
///
/// # Panics
/// If it is none.
#[track_caller]
pub fn strings(value: &Value) -> Vec<String> {
    let items = value.as_array().unwrap_or_else(|| panic!("{value} is not a list"));
    items.iter().map(|v| v.as_str().unwrap_or_else(|| panic!("{v} is not a string")).to_owned()).collect()
}

/// A small comma-separated table without quoted commas: all the goldens need, and independent of the library's reader.
#[derive(Debug, Clone)]
pub struct Frame {
    names: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Frame {
    /// Reads a file.
    ///
    /// # Panics
    /// If it cannot be read or is ragged.
    pub fn read(path: &Path) -> Frame {
        let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let mut lines = text
            .lines()
            .filter(|line| !line.is_empty())
            .map(|line| line.split(',').map(|cell| cell.trim().trim_matches('"').to_owned()).collect::<Vec<String>>());
        let names = lines.next().unwrap_or_else(|| panic!("{} is empty", path.display()));
        let rows: Vec<Vec<String>> = lines.collect();
        assert!(rows.iter().all(|r| r.len() == names.len()), "{} is ragged", path.display());
        Frame { names, rows }
    }

    /// A table of `golden/data`.
    pub fn golden(name: &str) -> Frame {
        Frame::read(&root().join("golden/data").join(name))
    }

    /// A small table of the shared data beside the checkout.
    pub fn shared(name: &str) -> Frame {
        Frame::read(&shared_file(&format!("small/{name}")))
    }

    /// The column names.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The position of a column.
    ///
    /// # Panics
    /// If there is none of that name.
    #[track_caller]
    pub fn column(&self, name: &str) -> usize {
        self.names.iter().position(|n| n == name).unwrap_or_else(|| panic!("no column {name} in {:?}", self.names))
    }

    /// The rows that pass a test of their cells.
    pub fn filter(&self, keep: impl Fn(&[String]) -> bool) -> Frame {
        Frame { names: self.names.clone(), rows: self.rows.iter().filter(|r| keep(r)).cloned().collect() }
    }

    /// The rows complete in the given columns.
    pub fn complete(&self, columns: &[String]) -> Frame {
        let wanted: Vec<usize> = columns.iter().map(|c| self.column(c)).collect();
        self.filter(|row| wanted.iter().all(|c| !matches!(row[*c].as_str(), "" | "NA" | "NaN" | "?")))
    }

    /// The features, row after row, and the classes in sorted order.
    ///
    /// # Panics
    /// If a feature is not a number.
    pub fn labelled(&self, features: &[String], target: &str) -> crate::data::Data {
        let columns: Vec<usize> = features.iter().map(|c| self.column(c)).collect();
        let target = self.column(target);
        let cell = |text: &String| text.parse::<f64>().unwrap_or_else(|_| panic!("`{text}` is not a number"));
        let values = self.rows.iter().flat_map(|row| columns.iter().map(|c| cell(&row[*c]))).collect();
        let labels = Labels::from_names(self.rows.iter().map(|row| &row[target]));
        crate::data::Data::new(values, columns.len(), labels)
    }
}
