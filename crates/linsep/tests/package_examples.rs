//! The examples of the package run, and their own assertions hold.

#[path = "../examples/checked_by_hand.rs"]
mod checked_by_hand;
#[path = "../examples/own_arrays.rs"]
mod own_arrays;
#[path = "../examples/streaming.rs"]
mod streaming;

#[test]
fn own_arrays() {
    own_arrays::main().unwrap();
}

#[test]
fn a_certificate_checked_by_hand() {
    checked_by_hand::main().unwrap();
}

#[test]
fn statistics_in_pieces() {
    streaming::main().unwrap();
}
