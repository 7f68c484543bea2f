//! Rows taken from others, under labels and weights of their own.

use super::{PreparedDesign, Training, gather};
use crate::error::{Error, Place, Result};
use crate::table::Labels;

/// Some rows of a training, or all of them under other labels. Offsets stay behind.
#[derive(Debug)]
pub struct SelectedRows {
    /// Rows of the whole; `None` for all.
    rows: Option<Vec<usize>>,
    /// `None` for the features of the whole.
    design: Option<PreparedDesign>,
    labels: Labels,
    weights: Option<Vec<f64>>,
}

impl Training<'_> {
    /// All rows under other labels; the features are not copied.
    pub fn relabelled(&self, labels: Labels) -> SelectedRows {
        SelectedRows { rows: None, design: None, labels, weights: None }
    }

    /// Some rows with their weights, under given labels.
    ///
    /// ```
    /// use linsep::design::{DenseMatrix, Training};
    /// use linsep::table::Labels;
    /// let x = DenseMatrix::new(vec![0.0, 1.0, 2.0, 3.0], 1)?;
    /// let y = Labels::from_names(["a", "b", "a", "b"]);
    /// let all = Training::new(&x, &y).weighted(&[1.0, 2.0, 3.0, 4.0]);
    /// let some = all.select(vec![1, 2], y.select(&[1, 2]))?;
    /// assert_eq!(some.view(&all).weights, Some(&[2.0, 3.0][..]));
    /// # Ok::<(), linsep::Error>(())
    /// ```
    pub fn select(&self, rows: Vec<usize>, labels: Labels) -> Result<SelectedRows> {
        Ok(SelectedRows {
            design: Some(gather(self.design, &rows)?),
            labels,
            weights: self.weights.map(|w| rows.iter().map(|i| w[*i]).collect()),
            rows: Some(rows),
        })
    }

    /// The rows of positive weight; the features are copied only where there are others.
    pub fn counted(&self) -> Result<SelectedRows> {
        let rows = self.rows().counted();
        match rows.len() == self.labels.len() {
            true => Ok(self.relabelled(self.labels.clone())),
            false => {
                let labels = self.labels.select(&rows);
                self.select(rows, labels)
            }
        }
    }
}

impl SelectedRows {
    /// The rows with what they share with the whole.
    pub fn view<'a>(&'a self, whole: &Training<'a>) -> Training<'a> {
        Training {
            design: self.design.as_ref().map_or(whole.design, PreparedDesign::as_design),
            labels: &self.labels,
            weights: if self.rows.is_some() { self.weights.as_deref() } else { whole.weights },
            offsets: None,
            ..*whole
        }
    }

    /// Which rows of the whole these are; `None` for all.
    pub fn rows(&self) -> Option<&[usize]> {
        self.rows.as_deref()
    }

    /// The same, and nothing else.
    pub fn into_rows(self) -> Option<Vec<usize>> {
        self.rows
    }

    /// The same rows with other features.
    pub fn with_design(self, design: PreparedDesign) -> SelectedRows {
        SelectedRows { design: Some(design), ..self }
    }

    /// An error that names one of these rows, naming the row of the whole instead.
    pub fn locate(&self, error: Error) -> Error {
        let row = error.place().row.and_then(|r| usize::try_from(r).ok()?.checked_sub(1));
        match row.and_then(|r| self.rows.as_ref()?.get(r)) {
            Some(row) => error.at(Place::default().row(*row as u64 + 1)),
            None => error,
        }
    }
}
