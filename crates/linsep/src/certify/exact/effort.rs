//! The work limit of exact integer arithmetic: counted in operations, so that the answer does not depend on the machine.

use crate::watch::Watch;

/// Operations of about a nanosecond, counted so that the answer does not depend on the machine: some seconds. Chosen
/// (bench/constants.md): it decides which tables stay undecided.
const SECONDS: f64 = 5e9;
/// The same for `--exact`: some minutes. Chosen, out of reach of bench/constants.md.
const MINUTES: f64 = 2e11;
/// Nanoseconds of a change by a pivot: allocation and calls. Chosen (bench/constants.md): only [`SECONDS`] is counted
/// in it.
const CHANGE: f64 = 150.0;
/// And for each pair of 64-bit digits: two schoolbook products and a division. Chosen (bench/constants.md).
const PER_DIGIT_PAIR: f64 = 8.0;
/// Nanoseconds of adding a product of a short number. Chosen (bench/constants.md).
const PRODUCT: f64 = 60.0;
/// And for each 64-bit digit. Chosen (bench/constants.md).
const PER_DIGIT: f64 = 4.0;

/// A limit on the work of exact arithmetic, beyond which it gives no answer.
#[derive(Debug, Clone, Copy)]
pub struct Effort<'a> {
    most: f64,
    watch: &'a Watch,
}

impl<'a> Effort<'a> {
    /// Some seconds.
    pub fn seconds(watch: &'a Watch) -> Effort<'a> {
        Effort { most: SECONDS, watch }
    }

    /// Some minutes.
    pub fn minutes(watch: &'a Watch) -> Effort<'a> {
        Effort { most: MINUTES, watch }
    }

    /// Whether this much work, in units of about a nanosecond, is within the limit and the watch has not halted it.
    pub(crate) fn allows(&self, work: f64) -> bool {
        work <= self.most && self.watch.halted().is_none()
    }
}

/// A work limit and the work done so far.
pub(super) struct Budget<'a> {
    effort: Effort<'a>,
    work: f64,
}

impl<'a> Budget<'a> {
    pub(super) fn new(effort: Effort<'a>) -> Budget<'a> {
        Budget { effort, work: 0.0 }
    }

    /// Adds work, in units of about a nanosecond, and says whether the total is within the limit.
    pub(super) fn allows(&mut self, work: f64) -> bool {
        self.work += work;
        self.effort.allows(self.work)
    }
}

/// Cost of updating an entry by a pivot: two products and a division of numbers of so many bits.
pub(crate) fn cost_of_change(bits: u64) -> f64 {
    let digits = (bits / 64 + 1) as f64;
    CHANGE + PER_DIGIT_PAIR * digits * digits
}

/// Cost of adding the product of a short number and one of so many bits.
pub(crate) fn cost_of_product(bits: u64) -> f64 {
    PRODUCT + PER_DIGIT * (bits / 64 + 1) as f64
}
