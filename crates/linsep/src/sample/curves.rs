//! Classes along curves: rings about a point, and two moons that hold each other. No plane separates them.

use super::classes::class_at;
use super::{Generator, Truth};
use crate::density::{Draws, default_classes};
use crate::error::{Error, Result};
use crate::table::Class;
use std::f64::consts::{PI, TAU};

/// Which curves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CurveShape {
    /// Circles of radius 1, 2 … about the origin, one for each class.
    Rings,
    /// Half circles: `(cos t, sin t)` and `(1 − cos t, ½ − sin t)` for t from 0 to π.
    Moons,
}

/// Rows about curves in two columns: a class, a place on its curve, normal noise.
pub struct Curves {
    shape: CurveShape,
    noise: f64,
    /// How many rows of each class come first; rows beyond are of any class alike.
    counts: Vec<u64>,
    fixed: bool,
}

impl Curves {
    /// Classes of equal shares.
    pub fn new(shape: CurveShape, classes: usize, noise: f64) -> Result<Curves> {
        if shape == CurveShape::Moons && classes != 2 {
            return Err(Error::usage(format!("{classes} moons")).help("there are two"));
        }
        if classes < 2 {
            return Err(Error::usage(format!("{classes} classes")).help("there are at least two"));
        }
        if !(noise >= 0.0 && noise.is_finite()) {
            return Err(Error::usage(format!("a noise of {noise}")).help("it is a standard deviation from 0"));
        }
        Ok(Curves { shape, noise, counts: vec![0; classes], fixed: false })
    }

    /// The same with so many rows of each class, one class after the other.
    pub fn with_counts(self, counts: Vec<u64>) -> Result<Curves> {
        if counts.len() != self.counts.len() {
            return Err(Error::usage(format!("{} counts for {} classes", counts.len(), self.counts.len()))
                .help("give one for every class"));
        }
        Ok(Curves { counts, fixed: true, ..self })
    }

    fn point(&self, class: usize, draws: &mut Draws) -> [f64; 2] {
        let [x, y] = match self.shape {
            CurveShape::Rings => {
                let (radius, angle) = (class as f64 + 1.0, TAU * draws.uniform());
                [radius * angle.cos(), radius * angle.sin()]
            }
            CurveShape::Moons => {
                let angle = PI * draws.uniform();
                if class == 0 { [angle.cos(), angle.sin()] } else { [1.0 - angle.cos(), 0.5 - angle.sin()] }
            }
        };
        [x + self.noise * draws.normal(), y + self.noise * draws.normal()]
    }
}

impl Generator for Curves {
    fn kind(&self) -> &str {
        match self.shape {
            CurveShape::Rings => "rings",
            CurveShape::Moons => "moons",
        }
    }

    fn cols(&self) -> usize {
        2
    }

    fn classes(&self) -> Vec<String> {
        default_classes(self.counts.len())
    }

    fn fill(&self, first: u64, draws: &mut Draws, values: &mut [f64], classes: &mut [Class]) {
        let even: Vec<f64> = (1..=self.counts.len()).map(|k| k as f64 / self.counts.len() as f64).collect();
        for (i, (row, slot)) in values.chunks_exact_mut(2).zip(classes).enumerate() {
            let fixed = class_at(&self.counts, first + i as u64);
            *slot = fixed.unwrap_or_else(|| Class(draws.index(&even) as u32));
            row.copy_from_slice(&self.point(slot.index(), draws));
        }
    }

    fn truth(&self, _seed: u64) -> Result<Truth> {
        let counts = self.fixed.then(|| self.counts.clone());
        Ok(Truth { noise: Some(self.noise), counts, ..Truth::default() })
    }
}
