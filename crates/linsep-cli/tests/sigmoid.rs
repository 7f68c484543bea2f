//! Least squares on sigmoid outputs at the command line.

mod common;

use common::Scratch;

#[test]
fn a_local_minimum_is_fitted_verified_and_used() {
    let scratch = Scratch::with_examples();
    for solver in ["newton", "gauss-newton", "gradient-descent --restarts 1"] {
        let line = format!("fit penguins.csv -t sex --model sigmoid-ls --solver {solver} -o m.json");
        let said = scratch.done(&line);
        assert!(said.contains("Least squares on sigmoid outputs: ridge"), "{said}");
        let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("a local minimum: gradient") && words.contains("there may be a lower one"), "{said}");
        let verified = scratch.done("verify m.json penguins.csv");
        assert!(verified.contains("holds  certificate  gradient"), "{verified}");
    }
    let predicted = scratch.done("predict m.json penguins.csv --proba");
    assert!(predicted.lines().next().is_some_and(|header| header.contains("male")), "{predicted}");
    let ran = scratch.run("fit penguins.csv -t sex --model sigmoid-ls --solver sgd --max-iter 2 -o drawn.json");
    assert!(ran.code == 3 && ran.stdout.contains("NOT CONVERGED (iteration limit): gradient"), "{}", ran.stdout);
    scratch.done("verify drawn.json penguins.csv");
}

#[test]
fn separable_classes_are_answered() {
    let scratch = Scratch::new();
    scratch.write("apart.csv", "x,y\n1,a\n2,a\n4,b\n5,b\n");
    let ran = scratch.run("fit apart.csv -t y --model sigmoid-ls --penalty none -o m.json");
    assert_eq!((ran.code, scratch.names()), (1, vec!["apart.csv".to_owned()]));
    assert!(ran.stdout.contains("There is no minimum, not even a local one"), "{}", ran.stdout);
    let ran = scratch.run("fit apart.csv -t y --model sigmoid-ls --penalty none --json");
    assert!(ran.code == 1 && ran.stdout.contains("\"no_minimum\""), "{}", ran.stdout);
}
