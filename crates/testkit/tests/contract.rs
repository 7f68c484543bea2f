//! The contract of `testkit::contract` for every registered model, one test a check.

use testkit::contract::{CHECKS, models};

/// Runs one check for every model that is not exempt, and collects all that fail.
fn run(name: &str) {
    let check = CHECKS.iter().find(|(n, _)| *n == name).unwrap_or_else(|| panic!("no check {name}")).1;
    let mut failed = Vec::new();
    for model in models().iter().filter(|m| m.exempt.iter().all(|(exempt, _)| *exempt != name)) {
        if std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(model))).is_err() {
            failed.push(model.name);
        }
    }
    assert!(failed.is_empty(), "{name} fails for {failed:?}");
}

macro_rules! contract {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            run(stringify!($name));
        })*

        #[test]
        fn every_check_is_run() {
            let run: Vec<&str> = vec![$(stringify!($name)),*];
            let listed: Vec<&str> = CHECKS.iter().map(|(name, _)| *name).collect();
            assert_eq!(run, listed);
        }
    };
}

contract! {
    row_order
    weights_are_copies
    zero_weight_rows_are_absent
    singles_equal_doubles
    dense_equals_sparse
    offsets_shift_scores
    offsets_of_all_classes
    label_renaming
    column_scaling
    one_class_is_an_error
    one_row_is_an_error
    constant_column_has_weight_zero
    duplicate_column_is_named
    duplicate_column_is_shared
    refit_gives_the_same_bits
    threads_give_the_same_bits
    large_common_offset
    classes_far_apart
    drift_in_later_blocks
    bad_features_are_named
    bad_weights_are_errors
    save_and_load_keep_the_bits
    fresh_fits_verify
}

/// An exemption that is not needed hides what the model can do: the exempted check must fail.
#[test]
fn exemptions_are_needed() {
    for model in models() {
        for (name, reason) in model.exempt {
            let check = CHECKS.iter().find(|(n, _)| n == name).unwrap_or_else(|| panic!("no check {name}")).1;
            let passes = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(&model))).is_ok();
            assert!(!passes, "{} passes {name} and needs no exemption ({reason})", model.name);
        }
    }
}
