//! The contract of `testkit::contract` for every registered model, one test a check.

use testkit::contract::{CHECKS, models};

testkit::contract_tests!(testkit::contract::hold);

/// An exemption that is not needed hides what the model can do: the exempted check must fail.
#[test]
fn exemptions_are_needed() {
    for model in models() {
        for (name, reason) in model.exempt {
            // Every row of many blocks is a support vector there: minutes.
            if (model.name, *name) == ("hard margin, rbf", "drift_in_later_blocks") {
                continue;
            }
            let check = CHECKS.iter().find(|(n, _)| n == name).unwrap_or_else(|| panic!("no check {name}")).1;
            let passes = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(&model))).is_ok();
            assert!(!passes, "{} passes {name} and needs no exemption ({reason})", model.name);
        }
    }
}
