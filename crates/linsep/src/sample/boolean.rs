//! Functions of zeros and ones: parity, which no plane separates, and "at least m of d", which one does.

use super::{Generator, Truth, check_cols};
use crate::density::{Draws, LinearForm, default_classes};
use crate::error::{Error, Result};
use crate::table::Class;
use crate::words::{Setting, words};

/// When a row belongs to the second class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BooleanRule {
    /// An odd number of features are one: for two features, exclusive or.
    Parity,
    /// At least m features are one.
    AtLeast(usize),
}

/// Rows of zeros and ones (or −1 and 1) with a label that follows from them.
pub struct Boolean {
    cols: usize,
    rule: BooleanRule,
    signs: bool,
    /// All rows in counting order, instead of drawn ones.
    all: bool,
}

/// Most features of which all rows are listed: 2³⁰ rows.
const MOST_LISTED: usize = 30;
/// Rows are made of the bits of one 64-bit number where they are listed; drawn ones take several.
const BITS: usize = 64;

impl Boolean {
    /// Refuses a rule that no row or every row meets, and lists of more than 2³⁰ rows.
    pub fn new(cols: usize, rule: BooleanRule, signs: bool, all: bool) -> Result<Boolean> {
        check_cols(cols)?;
        if let BooleanRule::AtLeast(m) = rule
            && !(1..=cols).contains(&m)
        {
            return Err(Error::usage(format!("{m} of {cols} features make only one class")).help(words![
                "choose ",
                Setting::TrueOf,
                format!(" from 1 to {cols}")
            ]));
        }
        if all && cols > MOST_LISTED {
            return Err(Error::usage(format!("{cols} features have too many rows to list them all"))
                .help(words!["say how many to draw with ", Setting::Rows]));
        }
        Ok(Boolean { cols, rule, signs, all })
    }

    /// Number of different rows, where they can be listed.
    pub fn n_rows(&self) -> Option<u64> {
        (self.cols <= MOST_LISTED).then(|| 1 << self.cols)
    }

    /// The separating plane of "at least m of d": half way between m − 1 and m ones.
    fn plane(&self) -> Option<LinearForm> {
        let BooleanRule::AtLeast(m) = self.rule else { return None };
        let (m, d) = (m as f64, self.cols as f64);
        let intercept = if self.signs { d - 2.0 * m + 1.0 } else { 0.5 - m };
        Some(LinearForm { weights: vec![vec![1.0; self.cols]], intercept: vec![intercept] })
    }
}

impl Generator for Boolean {
    fn kind(&self) -> &str {
        match self.rule {
            BooleanRule::Parity => "parity",
            BooleanRule::AtLeast(_) => "m-of-d",
        }
    }

    fn cols(&self) -> usize {
        self.cols
    }

    fn classes(&self) -> Vec<String> {
        default_classes(2)
    }

    fn fill(&self, first: u64, draws: &mut Draws, values: &mut [f64], classes: &mut [Class]) {
        let zero = if self.signs { -1.0 } else { 0.0 };
        for (i, (row, class)) in values.chunks_exact_mut(self.cols).zip(classes).enumerate() {
            let mut bits = first + i as u64;
            let mut ones = 0;
            // The last feature counts fastest.
            for (j, x) in row.iter_mut().rev().enumerate() {
                if !self.all && j % BITS == 0 {
                    bits = draws.bits();
                }
                let one = bits >> (j % BITS) & 1 == 1;
                ones += usize::from(one);
                *x = if one { 1.0 } else { zero };
            }
            let second = match self.rule {
                BooleanRule::Parity => ones % 2 == 1,
                BooleanRule::AtLeast(m) => ones >= m,
            };
            *class = Class(u32::from(second));
        }
    }

    fn truth(&self, _seed: u64) -> Result<Truth> {
        let m = match self.rule {
            BooleanRule::AtLeast(m) => Some(m),
            BooleanRule::Parity => None,
        };
        Ok(Truth { m, signs: Some(self.signs), ..Truth::certain(self.plane()) })
    }
}
