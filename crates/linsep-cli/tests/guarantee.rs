//! `linsep guarantee`: bounds that hold for the rows they are about, and refusals where they would not.

mod common;

use common::Scratch;
use linsep::evaluate::{clopper_pearson_upper, empirical_bernstein_upper, hoeffding_upper};
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e} in {text}"))
}

/// Sexes of penguins: every other row for the fit, the rest for the test.
fn halves() -> Scratch {
    let scratch = Scratch::with_examples();
    let all = String::from_utf8(scratch.read("penguins.csv")).expect("text");
    let (header, rows) = all.split_once('\n').expect("a header");
    let half = |odd: usize| -> String {
        let kept = rows.lines().enumerate().filter(|(i, _)| i % 2 == odd).map(|(_, row)| format!("{row}\n"));
        std::iter::once(format!("{header}\n")).chain(kept).collect()
    };
    scratch.write("train.csv", half(0));
    scratch.write("test.csv", half(1));
    scratch.done("fit train.csv --target sex --drop year -o sex.json");
    scratch
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn the_bounds_are_those_of_the_counts() {
    let scratch = halves();
    let found = json(&scratch.done("guarantee sex.json test.csv --delta 0.02 --json"));
    let judged = json(&scratch.done("evaluate sex.json test.csv --json"));
    let (rows, mistakes) = (number(&found["rows"]), number(&found["mistakes"]));
    assert!(rows > 150.0 && mistakes > 3.0);
    assert!((1.0 - mistakes / rows - number(&judged["accuracy"]["value"])).abs() < 1e-15);
    let bound = |kind: &str, of: &str| {
        let all = found["bounds"].as_array().expect("bounds");
        let one = all.iter().find(|b| b["kind"] == kind && b["of"] == of);
        number(&one.unwrap_or_else(|| panic!("no {kind} of {of}"))["limit"])
    };
    assert_eq!(found["bounds"][0]["kind"], "clopper_pearson");
    let (error, delta) = (mistakes / rows, 0.02);
    let variance = error * (1.0 - error) * rows / (rows - 1.0);
    for (kind, limit) in [
        ("clopper_pearson", clopper_pearson_upper(mistakes as u64, rows as u64, delta)),
        ("hoeffding", hoeffding_upper(error, 1.0, rows, delta)),
        ("empirical_bernstein", empirical_bernstein_upper(error, variance, 1.0, rows, delta)),
    ] {
        assert!((bound(kind, "error") - limit).abs() < 1e-12, "{kind}");
        assert!(limit > error);
    }
    let brier = bound("empirical_bernstein", "Brier score");
    assert!((bound("excess_risk", "error above the Bayes error") - (2.0 * brier.sqrt()).min(1.0)).abs() < 1e-14);
    assert!(brier > number(&judged["brier"]["value"]));
    // The first is the narrowest, and the others say that they are loose.
    for other in &found["bounds"].as_array().expect("bounds")[1..] {
        if other["of"] == "error" {
            assert!(number(&other["limit"]) > number(&found["bounds"][0]["limit"]));
            assert!(other["loose"].is_string());
        }
    }
    assert!(found["assumptions"].as_array().is_some_and(|a| a.len() >= 4));
}

#[test]
fn the_text_says_what_is_proved_and_assumed() {
    let scratch = halves();
    let said = scratch.done("guarantee sex.json test.csv");
    for part in [
        "With probability 0.95 the error on new rows is at most 0.",
        "Clopper–Pearson",
        "assumed:",
        "loose",
        "your word",
    ] {
        assert!(said.contains(part), "`{part}` is not in\n{said}");
    }
    assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
    // A smaller δ costs room.
    let limit = |delta: &str| {
        number(
            &json(&scratch.done(&format!("guarantee sex.json test.csv --delta {delta} --json")))["bounds"][0]["limit"],
        )
    };
    assert!(limit("0.001") > limit("0.05") && limit("0.05") > limit("0.5"));
}

#[test]
fn the_rows_of_the_fit_are_refused() {
    let scratch = halves();
    let ran = scratch.run("guarantee sex.json train.csv");
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("the table that the model was fitted on"), "{}", ran.stderr);
}

#[test]
fn weights_are_copies_or_refused() {
    let scratch = Scratch::new();
    scratch.write("train.csv", "x,w,y\n1,1,a\n2,1,a\n3,2,b\n2.5,1,b\n1.5,1,a\n2.2,1,b\n1.9,1,b\n");
    scratch.done("fit train.csv --target y --weights w -o m.json");
    scratch.write("whole.csv", "x,w,y\n1.2,3,a\n2.9,1,b\n1.1,2,b\n");
    scratch.write("copies.csv", "x,w,y\n1.2,1,a\n1.2,1,a\n1.2,1,a\n2.9,1,b\n1.1,1,b\n1.1,1,b\n");
    let of = |file: &str| json(&scratch.done(&format!("guarantee m.json {file} --json")));
    let (whole, copies) = (of("whole.csv"), of("copies.csv"));
    assert_eq!((number(&whole["rows"]), number(&whole["mistakes"])), (6.0, 2.0));
    for (a, b) in
        whole["bounds"].as_array().into_iter().flatten().zip(copies["bounds"].as_array().into_iter().flatten())
    {
        assert!((number(&a["limit"]) - number(&b["limit"])).abs() < 1e-12, "{a} {b}");
    }
    scratch.write("half.csv", "x,w,y\n1.2,0.5,a\n2.9,1,b\n");
    let ran = scratch.run("guarantee m.json half.csv");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("0.5 is not a number of copies"), "{}", ran.stderr);
}

#[test]
fn the_margin_bound_is_of_what_was_fixed_before() {
    let scratch = Scratch::new();
    scratch.done("simulate gaussian --rows 4000 --distance 6 --seed 3 -o train.csv");
    scratch.done("simulate gaussian --rows 50 --distance 6 --seed 3 -o test.csv");
    scratch.done("fit train.csv --target class --model svm --standardize no -o plane.json");
    let line = "guarantee plane.json test.csv --train train.csv --rho 0.5 --norm 30 --radius 40";
    let found = json(&scratch.done(&format!("{line} --json")));
    let bound =
        found["bounds"].as_array().expect("bounds").iter().find(|b| b["kind"] == "margin").expect("a margin bound");
    // 2ΛR/(ρ√n) alone is 2·30·40/(0.5·63.2) = 75.9: it says nothing, and says so.
    assert_eq!(number(&bound["limit"]), 1.0);
    assert!(bound["loose"].as_str().is_some_and(|l| l.contains("nothing")));
    assert!(scratch.done(line).contains("tuned"));
    // A limit that the rows refute was not known before them.
    let refuted = scratch.run("guarantee plane.json test.csv --train train.csv --rho 0.5 --norm 30 --radius 0.1");
    assert_eq!(refuted.code, 2);
    assert!(refuted.stderr.contains("more than the 0.1"), "{}", refuted.stderr);
    let other = scratch.run("guarantee plane.json test.csv --train test.csv --rho 0.5 --norm 30 --radius 40");
    assert!(other.code == 2 && other.stderr.contains("fitted on"), "{}", other.stderr);
}

#[test]
fn a_perceptron_has_a_bound_by_its_mistakes() {
    let scratch = Scratch::new();
    scratch.done("simulate separable --rows 3000 --seed 3 -o train.csv");
    scratch.done("simulate separable --rows 40 --seed 3 -o test.csv");
    scratch.done("fit train.csv --target class --model perceptron -o plane.json");
    let found = json(&scratch.done("guarantee plane.json test.csv --json"));
    let model = json(&String::from_utf8(scratch.read("plane.json")).expect("text"));
    let mistakes = number(&model["model"]["certificate"]["mistakes"]);
    let bounds = found["bounds"].as_array().expect("bounds");
    let bound = bounds.iter().find(|b| b["kind"] == "online_mistakes").expect("a mistake bound");
    let limit = mistakes / 3000.0 + (2.0 * 20f64.ln() / 3000.0).sqrt();
    assert!((number(&bound["limit"]) - limit.min(1.0)).abs() < 1e-12, "{bound}");
    assert_eq!(found["left_out"][0]["what"], "excess risk");
}
