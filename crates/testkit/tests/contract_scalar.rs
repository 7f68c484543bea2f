//! The contract once more, as on a machine without AVX2 and fused multiply-add: the loops that linsep compiles twice, and those
//! that it spells out in AVX2, take their portable form. faer chooses its own kernels and is not part of this.

use linsep::numeric::without_wide_units;
use testkit::contract::hold;

fn hold_without_vector_units(name: &str) {
    without_wide_units();
    hold(name);
}

testkit::contract_tests!(hold_without_vector_units);
