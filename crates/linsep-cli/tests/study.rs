//! Studies of repeated samples, by flag.

mod common;

use common::Scratch;
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e} in {text}"))
}

#[test]
fn a_study_prints_tables_and_json() {
    let scratch = Scratch::with_examples();
    let asked = "study gaussian --model lda --model naive-bayes --rows 15,60 --samples 30 --test-rows 100";
    let shown = scratch.done(asked);
    for part in [
        "Bayes error 0.1587",
        "mean error",
        "mean log loss",
        "above Bayes",
        "Estimates of lda, samples of 60 rows",
        "Covered:",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(shown.lines().all(|l| l.chars().count() <= 80), "{shown}");
    let one = scratch.done(&format!("{asked} --json --threads 1"));
    let two = scratch.done(&format!("{asked} --json --threads 2"));
    assert_eq!(one, two);
    let found = json(&one);
    assert_eq!(found["sizes"].as_array().map(Vec::len), Some(4));
    let first = &found["sizes"][0];
    assert_eq!((first["method"].as_str(), first["rows"].as_u64()), (Some("lda"), Some(15)));
    let estimates = first["estimates"].as_array().cloned().unwrap_or_default();
    let mean = estimates.iter().find(|e| e["name"] == "mean of x1 in 0").expect("a mean");
    let off = mean["mean"].as_f64().unwrap_or(9.0) - mean["truth"].as_f64().unwrap_or(0.0);
    assert!((mean["bias"].as_f64().unwrap_or(9.0) - off).abs() < 1e-12, "{mean}");
    assert_eq!(mean["coverage"]["intervals"].as_u64(), first["fitted"].as_u64());
    assert_ne!(scratch.done(&format!("{asked} --json --seed 1")), one);
}

#[test]
fn a_method_takes_the_flags_of_fit() {
    let scratch = Scratch::with_examples();
    scratch.write("known.json", r#"{"means": [[0], [2]], "variance": 1}"#);
    let arguments = [
        "study",
        "--parameters",
        "known.json",
        "--model",
        "logistic --penalty none",
        "--model",
        "lda --priors 0=0.5,1=0.5",
        "--rows",
        "40",
        "--samples",
        "10",
        "--json",
    ];
    let output = scratch.command().args(arguments).output().expect("the command runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let found = json(&String::from_utf8_lossy(&output.stdout));
    assert_eq!(found["sizes"][0]["method"], "logistic --penalty none");
    let truth = |at: usize, name: &str| {
        let estimates = found["sizes"][at]["estimates"].as_array().cloned().unwrap_or_default();
        let line = estimates.iter().find(|e| e["name"] == name).cloned().unwrap_or_default();
        (line["truth"].as_f64(), line["sd"].as_f64())
    };
    // Log-odds of N(2, 1) against N(0, 1): 2x − 2.
    assert_eq!(truth(0, "weight of x1").0, Some(2.0));
    assert_eq!(truth(0, "intercept").0, Some(-2.0));
    assert_eq!(truth(1, "share of 0"), (Some(0.5), Some(0.0)), "given priors do not scatter");
}
