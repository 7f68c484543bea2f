//! A formula whose columns are found and whose knots are known: what a row of the table becomes.
//!
//! The cells of the table columns in use, text as indicators of all levels, are the *plain row*. Each variable of the formula
//! makes some numbers of it, and a matrix column is a product of such numbers, one of each variable of its term; those of the
//! first variable run fastest, as in R.

use super::arithmetic::Arithmetic;
use super::coding::LevelCodes;
use super::polynomial::OrthogonalPolynomial;
use super::spline::SplineBasis;
use crate::design::tiny::LARGEST;
use std::ops::Range;

/// The numbers that a variable makes under one coding.
#[derive(Debug)]
pub(super) struct FormulaPart {
    /// The variable in the formula's words.
    pub(super) spelled: String,
    /// A column of numbers as it is: its place in the plain row.
    pub(super) plain: Option<usize>,
    pub(super) source: PartSource,
    /// Its numbers in the room for all parts.
    pub(super) range: Range<usize>,
    /// The name of each.
    pub(super) names: Vec<String>,
    /// The table column and its level without a column, where it is coded against a reference.
    pub(super) reference: Option<(String, String)>,
    /// The columns of the recipe that it reads.
    pub(super) columns: Vec<usize>,
}

/// How numbers are made of a plain row.
#[derive(Debug)]
pub(super) enum PartSource {
    Number(Arithmetic),
    Powers(Arithmetic),
    Orthogonal(Arithmetic, OrthogonalPolynomial),
    Spline(Arithmetic, Box<SplineBasis>),
    /// Indicators in the plain row.
    Text(Range<usize>, LevelCodes),
    /// A number that is one of these levels.
    Values(usize, Vec<f64>, LevelCodes),
}

/// The matrix columns of a term.
#[derive(Debug)]
pub(super) struct TermColumns {
    pub(super) name: String,
    /// Its variables.
    pub(super) variables: Vec<usize>,
    /// Its parts, one of each variable.
    pub(super) parts: Vec<usize>,
    pub(super) range: Range<usize>,
}

/// The matrix columns of a formula.
#[derive(Debug)]
pub struct FormulaColumns {
    pub(super) parts: Vec<FormulaPart>,
    pub(super) terms: Vec<TermColumns>,
    /// The numbers whose product each matrix column is: `factors[starts[j]..starts[j + 1]]`.
    factors: Vec<u32>,
    starts: Vec<usize>,
    /// Numbers of the plain row.
    plain: usize,
}

/// Room for the numbers of one row.
#[derive(Debug, Default)]
pub(in crate::design) struct FormulaRoom {
    numbers: Vec<f64>,
    splines: Vec<f64>,
}

/// Why a row cannot be used: the part, and what is wrong with it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::design) enum RowFault {
    /// Not defined, or infinite.
    Undefined(usize),
    /// A number that training has not seen as a level.
    UnknownValue(usize),
    /// Too large to be squared in sums.
    TooLarge(usize),
}

impl FormulaColumns {
    pub(super) fn new(parts: Vec<FormulaPart>, terms: Vec<TermColumns>, plain: usize) -> FormulaColumns {
        let (mut factors, mut starts) = (Vec::new(), vec![0]);
        for term in &terms {
            for mut offset in 0..term.range.len() {
                for part in &term.parts {
                    let range = &parts[*part].range;
                    factors.push((range.start + offset % range.len()) as u32);
                    offset /= range.len();
                }
                starts.push(factors.len());
            }
        }
        FormulaColumns { parts, terms, factors, starts, plain }
    }

    /// Number of matrix columns.
    pub(in crate::design) fn width(&self) -> usize {
        self.starts.len() - 1
    }

    /// Numbers of the plain row.
    pub(in crate::design) fn plain_width(&self) -> usize {
        self.plain
    }

    /// Whether the matrix row is the plain row.
    pub(in crate::design) fn is_plain(&self) -> bool {
        let number = |(at, term): (usize, &TermColumns)| match term.parts[..] {
            [part] => self.parts[part].plain == Some(at),
            _ => false,
        };
        self.terms.len() == self.plain && self.terms.iter().enumerate().all(number)
    }

    /// The name of a matrix column.
    pub(in crate::design) fn feature(&self, index: usize) -> String {
        let factors = &self.factors[self.starts[index]..self.starts[index + 1]];
        let name = |number: &u32| {
            let number = *number as usize;
            let part = &self.parts[self.parts.partition_point(|p| p.range.end <= number)];
            part.names[number - part.range.start].as_str()
        };
        factors.iter().map(name).collect::<Vec<_>>().join(":")
    }

    /// The term of a matrix column.
    pub(in crate::design) fn term_of(&self, index: usize) -> usize {
        self.terms.partition_point(|t| t.range.end <= index)
    }

    fn room(&self, room: &mut FormulaRoom) {
        room.numbers.resize(self.parts.last().map_or(0, |p| p.range.end), 0.0);
    }

    /// The matrix row of a plain row.
    pub(in crate::design) fn fill(&self, plain: &[f64], room: &mut FormulaRoom, out: &mut [f64]) {
        self.room(room);
        for part in &self.parts {
            part.fill(plain, &mut room.splines, &mut room.numbers[part.range.clone()]);
        }
        self.multiply(&room.numbers, out);
    }

    /// A row whose categories are those of the plain row, and whose other numbers are drawn one by one.
    pub(in crate::design) fn fill_drawn(&self, plain: &[f64], draw: &mut dyn FnMut() -> f64, out: &mut [f64]) {
        let mut numbers = vec![0.0; self.parts.last().map_or(0, |p| p.range.end)];
        for part in &self.parts {
            let own = &mut numbers[part.range.clone()];
            match &part.source {
                PartSource::Text(range, contrast) => contrast.fill(&plain[range.clone()], own),
                PartSource::Values(_, values, contrast) => {
                    contrast.level(Some((draw() * values.len() as f64) as usize % values.len().max(1)), own);
                }
                _ => own.iter_mut().for_each(|v| *v = 1.0 + draw()),
            }
        }
        self.multiply(&numbers, out);
    }

    /// The products of the numbers of all parts.
    fn multiply(&self, numbers: &[f64], out: &mut [f64]) {
        for (out, ends) in out.iter_mut().zip(self.starts.windows(2)) {
            *out = self.factors[ends[0]..ends[1]].iter().map(|f| numbers[*f as usize]).product();
        }
    }

    /// What is wrong with a row, if anything is. A number that is no level has no fault where its indicators may be zero.
    pub(in crate::design) fn fault(
        &self,
        plain: &[f64],
        zero: bool,
        room: &mut FormulaRoom,
        out: &mut [f64],
    ) -> Option<RowFault> {
        self.fill(plain, room, out);
        for (at, part) in self.parts.iter().enumerate() {
            if let PartSource::Values(number, values, _) = &part.source
                && !zero
                && level_of(values, plain[*number]).is_none()
            {
                return Some(RowFault::UnknownValue(at));
            }
            if room.numbers[part.range.clone()].iter().any(|v| !v.is_finite()) {
                return Some(RowFault::Undefined(at));
            }
        }
        let column = out.iter().position(|v| !(v.abs() <= LARGEST))?;
        Some(RowFault::TooLarge(self.term_of(column)))
    }
}

/// The place of a number among ascending levels.
fn level_of(values: &[f64], x: f64) -> Option<usize> {
    values.binary_search_by(|v| v.total_cmp(&(x + 0.0))).ok()
}

impl FormulaPart {
    fn fill(&self, plain: &[f64], splines: &mut Vec<f64>, out: &mut [f64]) {
        let at = |column: usize| plain[column];
        match &self.source {
            PartSource::Number(number) => out[0] = number.at(&at),
            PartSource::Powers(number) => {
                let (x, mut power) = (number.at(&at), 1.0);
                out.iter_mut().for_each(|out| {
                    power *= x;
                    *out = power;
                });
            }
            PartSource::Orthogonal(number, polynomial) => polynomial.fill(number.at(&at), out),
            PartSource::Spline(number, spline) => {
                let x = number.at(&at);
                match x.is_finite() {
                    true => spline.fill(x, splines, out),
                    false => out.fill(f64::NAN),
                }
            }
            PartSource::Text(range, contrast) => contrast.fill(&plain[range.clone()], out),
            PartSource::Values(number, values, contrast) => contrast.level(level_of(values, plain[*number]), out),
        }
    }

    /// Whether its numbers are indicators of levels.
    pub(super) fn indicates(&self) -> bool {
        match &self.source {
            PartSource::Text(_, contrast) | PartSource::Values(_, _, contrast) => contrast.indicates(),
            _ => false,
        }
    }
}
