//! Sets of classes by flag: what is said, written, judged and verified.

mod common;

use common::Scratch;
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e} in {text}"))
}

#[test]
fn sets_are_promised_written_and_judged() {
    let scratch = Scratch::with_examples();
    let shown = scratch.done("fit penguins.csv --target species --drop year --conformal 0.9 --seed 1 -o sets.json");
    let flat = shown.split_whitespace().collect::<Vec<&str>>().join(" ");
    assert!(flat.contains("with probability 90 % at least the set of new rows holds their class"), "{shown}");
    assert!(flat.contains("if they are exchangeable with the rows here"), "{shown}");
    assert!(flat.contains("69 rows held back from the fit for sets of classes"), "{shown}");
    let written = scratch.done("predict sets.json penguins.csv --set --set-level 0.999");
    assert!(written.starts_with("prediction,set,set_size\n"), "{written}");
    // 0.999 needs 999 rows: every set of a complete row is all classes.
    let lines: Vec<&str> = written.lines().skip(1).collect();
    assert!(lines.iter().all(|l| l.ends_with(",Adelie|Chinstrap|Gentoo,3") || *l == ",,"), "{written}");
    assert!(lines.contains(&",,") && lines.len() == 344);
    let usual = scratch.done("predict sets.json penguins.csv --set --keep island");
    assert!(usual.starts_with("island,prediction,set,set_size\n") && usual.contains(",Adelie,Adelie,1\n"), "{usual}");
    let judged = json(&scratch.done("evaluate sets.json penguins.csv --json"));
    let sets = &judged["sets"];
    assert!(sets["coverage"]["value"].as_f64().is_some_and(|c| c > 0.85), "{sets}");
    assert_eq!(sets["of_classes"].as_array().map(Vec::len), Some(3));
    assert!(scratch.done("evaluate sets.json penguins.csv").contains("sets of classes, promised 0.9000;"));
    let verified = scratch.done("verify sets.json penguins.csv --refit");
    assert!(verified.contains("conformal"), "{verified}");
    let inspected = json(&scratch.done("inspect sets.json --json"));
    assert_eq!(inspected["conformal"]["level"], 0.9);
    assert_eq!(inspected["training"]["held_back"], 69);
    // Another seed holds other rows back.
    scratch.done("fit penguins.csv --target species --drop year --conformal 0.9 --seed 2 -o other.json");
    assert_ne!(inspected["conformal"], json(&scratch.done("inspect other.json --json"))["conformal"]);
}

#[test]
fn few_rows_of_a_class_are_said() {
    let scratch = Scratch::with_examples();
    let line = "fit penguins.csv --target species --drop year --conformal 0.95 --conformal-by class";
    let shown = scratch.done(&format!("{line} -o sets.json"));
    let flat = shown.split_whitespace().collect::<Vec<&str>>().join(" ");
    assert!(flat.contains("of every class") && flat.contains("Chinstrap always (fewer than 19 rows)"), "{shown}");
    let written = scratch.done("predict sets.json penguins.csv --set");
    assert!(written.lines().skip(1).all(|l| l == ",," || l.contains("Chinstrap")), "{written}");
    let few = scratch.done("fit penguins.csv --target species --drop year --conformal 0.999 -o few.json");
    let flat = few.split_whitespace().collect::<Vec<&str>>().join(" ");
    assert!(flat.contains("999 would be needed: every set is all classes"), "{few}");
}

#[test]
fn names_with_bars_can_be_told_apart() {
    let scratch = Scratch::new();
    let rows: String = (0..40).map(|i| format!("{},{}\n", i % 7, if i % 2 == 0 { "a|b" } else { "c\\d" })).collect();
    scratch.write("t.csv", format!("x,y\n{rows}"));
    scratch.done("fit t.csv -t y --conformal 0.9 -o m.json");
    let written = scratch.done("predict m.json t.csv --set --set-level 0.99");
    assert!(written.contains(",a\\|b|c\\\\d,2\n"), "{written}");
}

/// Other priors give other scores than the sets were calibrated on: nothing is promised of them.
#[test]
fn sets_are_not_promised_for_other_priors() {
    let scratch = Scratch::with_examples();
    scratch.done("fit iris.csv --target Species --conformal 0.9 -o m.json");
    let priors = "--true-priors setosa=0.9,versicolor=0.05,virginica=0.05";
    let ran = scratch.run(&format!("predict m.json iris.csv --set {priors}"));
    assert!(ran.code == 2 && ran.stderr.contains("promised for the scores of the fit"), "{}", ran.stderr);
    let judged = json(&scratch.done(&format!("evaluate m.json iris.csv --json {priors}")));
    assert!(judged.get("sets").is_none_or(Value::is_null), "{judged}");
}
