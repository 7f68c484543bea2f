//! How long whole numbers may take: counted in operations, so that the answer does not depend on the machine.

use crate::watch::Watch;

/// How much exact arithmetic may cost before nothing is said.
#[derive(Debug, Clone, Copy)]
pub struct Effort<'a> {
    most: f64,
    watch: &'a Watch,
}

impl<'a> Effort<'a> {
    /// Some seconds.
    pub fn seconds(watch: &'a Watch) -> Effort<'a> {
        Effort { most: 5e9, watch }
    }

    /// Some minutes.
    pub fn minutes(watch: &'a Watch) -> Effort<'a> {
        Effort { most: 2e11, watch }
    }

    /// Whether so much is allowed, in about nanoseconds, and nobody has stopped it.
    pub(crate) fn allows(&self, work: f64) -> bool {
        work <= self.most && self.watch.halted().is_none()
    }
}

/// What changing an entry by a pivot costs: two products and a division of numbers of so many bits.
pub(crate) fn cost_of_change(bits: u64) -> f64 {
    let digits = (bits / 64 + 1) as f64;
    150.0 + 8.0 * digits * digits
}

/// What adding a product of a short number and one of so many bits costs.
pub(crate) fn cost_of_product(bits: u64) -> f64 {
    60.0 + 4.0 * (bits / 64 + 1) as f64
}
