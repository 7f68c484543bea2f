//! Simulated data with its truth: labelled rows of chosen classes, so that a fit can be compared with what made them.
//!
//! A [`Generator`] fills blocks of rows, each from a stream of random numbers of its own: the rows of a seed do not depend
//! on threads, and a table larger than memory can be written block by block.

mod again;
mod boolean;
mod classes;
mod curves;
mod ideal;
mod law;
mod logistic;
mod mixture;
mod population;
mod separable;
mod sides;
mod truth;

pub use again::{Again, generator_at, generator_of};
pub use boolean::{Boolean, BooleanRule};
pub use classes::{Classes, bernoulli_classes, gaussian_classes, poisson_classes};
pub use curves::{CurveShape, Curves};
pub use law::{FeatureLaw, NormalPart, OwnRows};
pub use logistic::LogisticLabels;
pub use mixture::Mixtures;
pub use population::Population;
pub use separable::Separable;
pub use sides::PlaneLabels;
pub use truth::Truth;

use crate::density::{DRAW_BLOCK, Draws};
use crate::error::{Error, Result};
use crate::table::Class;
use crate::words::{Setting, words};
use rayon::prelude::*;

/// Something that makes labelled rows.
pub trait Generator: Sync {
    /// Its name on the command line.
    fn kind(&self) -> &str;

    /// Columns of a row.
    fn cols(&self) -> usize;

    /// Names of the classes; none where there is one population.
    fn classes(&self) -> Vec<String>;

    /// Names of the columns.
    fn features(&self) -> Vec<String> {
        crate::density::default_features(self.cols())
    }

    /// Fills rows and their classes; `first` is the number of the first of them.
    fn fill(&self, first: u64, draws: &mut Draws, values: &mut [f64], classes: &mut [Class]);

    /// What the rows were made from, without kind, rows and seed, which the simulation knows.
    fn truth(&self, seed: u64) -> Result<Truth>;

    /// Fewest rows that keep its promises.
    fn fewest_rows(&self) -> u64 {
        1
    }
}

/// Some rows of a generator.
///
/// ```
/// use linsep::sample::{Boolean, BooleanRule, Simulation};
/// let xor = Boolean::new(2, BooleanRule::Parity, false, true)?;
/// let simulation = Simulation::new(Box::new(xor), 4, 0)?;
/// let (values, classes) = simulation.draw();
/// assert_eq!(values, [0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0]);
/// assert_eq!(classes.iter().map(|c| c.0).collect::<Vec<_>>(), [0, 1, 1, 0]);
/// # Ok::<(), linsep::Error>(())
/// ```
pub struct Simulation {
    generator: Box<dyn Generator>,
    rows: u64,
    seed: u64,
}

impl Simulation {
    /// Refuses fewer rows than the generator needs.
    pub fn new(generator: Box<dyn Generator>, rows: u64, seed: u64) -> Result<Simulation> {
        let fewest = generator.fewest_rows();
        if rows < fewest {
            return Err(Error::usage(format!("{rows} rows cannot be drawn"))
                .help(words![format!("ask for at least {fewest} with "), Setting::Rows]));
        }
        Ok(Simulation { generator, rows, seed })
    }

    /// What makes the rows.
    pub fn generator(&self) -> &dyn Generator {
        &*self.generator
    }

    /// Number of rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Number of blocks.
    pub fn n_blocks(&self) -> u64 {
        self.rows.div_ceil(DRAW_BLOCK as u64)
    }

    /// The rows of one block, row by row, and their classes; whatever the order in which blocks are asked for.
    pub fn block(&self, block: u64) -> (Vec<f64>, Vec<Class>) {
        drawn_block(&*self.generator, self.rows, self.seed, block)
    }

    /// All rows and their classes in memory.
    pub fn draw(&self) -> (Vec<f64>, Vec<Class>) {
        draw_rows(&*self.generator, self.rows, self.seed)
    }

    /// What the rows were made from.
    pub fn truth(&self) -> Result<Truth> {
        let mut truth = self.generator.truth(self.seed)?;
        truth.kind = self.generator.kind().to_owned();
        truth.rows = self.rows;
        truth.seed = self.seed;
        truth.parameters.classes = self.generator.classes();
        truth.parameters.features = self.generator.features();
        Ok(truth)
    }
}

fn drawn_block(generator: &dyn Generator, rows: u64, seed: u64, block: u64) -> (Vec<f64>, Vec<Class>) {
    let first = block * DRAW_BLOCK as u64;
    let count = (rows - first).min(DRAW_BLOCK as u64) as usize;
    let mut values = vec![0.0; count * generator.cols()];
    let mut classes = vec![Class(0); count];
    generator.fill(first, &mut Draws::new(seed, block), &mut values, &mut classes);
    (values, classes)
}

/// Rows of a generator in memory, row by row, and their classes: those of a [`Simulation`] of as many rows and this seed.
pub fn draw_rows(generator: &dyn Generator, rows: u64, seed: u64) -> (Vec<f64>, Vec<Class>) {
    let blocks = 0..rows.div_ceil(DRAW_BLOCK as u64);
    let drawn: Vec<(Vec<f64>, Vec<Class>)> =
        blocks.into_par_iter().map(|block| drawn_block(generator, rows, seed, block)).collect();
    let (mut values, mut classes) = (Vec::new(), Vec::new());
    for (v, c) in drawn {
        values.extend(v);
        classes.extend(c);
    }
    (values, classes)
}

/// Columns of unit variance, every two with correlation ρ: it must leave the matrix `(1−ρ)I + ρ11ᵀ` positive definite.
fn check_correlation(correlation: f64, cols: usize) -> Result<()> {
    let lowest = if cols > 1 { -1.0 / (cols as f64 - 1.0) } else { -1.0 };
    if correlation > lowest && correlation < 1.0 {
        return Ok(());
    }
    Err(Error::usage(format!("a correlation of {correlation} between {cols} columns is not possible"))
        .help(format!("choose above {lowest:.4} and below 1")))
}

/// The matrix with ones on the diagonal and ρ elsewhere.
fn equal_correlation(correlation: f64, cols: usize) -> Vec<Vec<f64>> {
    (0..cols).map(|i| (0..cols).map(|j| if i == j { 1.0 } else { correlation }).collect()).collect()
}

/// At least one column.
fn check_cols(cols: usize) -> Result<()> {
    match cols {
        0 => Err(Error::usage("rows need at least one column").help(words!["for example ", Setting::Features.is("2")])),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
