//! Cross-validated paths against R's `cv.glmnet`, on folds that are given (`golden/cv_glmnet.json`).

mod common;

use common::Scratch;
use serde_json::Value;

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(|v| v.as_f64().expect("a number")).collect()
}

#[test]
fn means_errors_and_both_rules_are_those_of_cv_glmnet() {
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/../../golden/");
    let text = std::fs::read_to_string(format!("{golden}cv_glmnet.json")).expect("the golden file");
    let golden_values: Value = serde_json::from_str(&text).expect("JSON");
    let table = std::fs::read_to_string(format!("{golden}data/iris.csv")).expect("the table");
    let (folds, weights) = (numbers(&golden_values["fold"]), numbers(&golden_values["weights"]));
    let scratch = Scratch::new();
    let mut lines = table.lines();
    let header = lines.next().expect("a header");
    let rows: Vec<String> =
        lines.enumerate().map(|(i, line)| format!("{line},{},{}\n", folds[i], weights[i])).collect();
    let target = header.rsplit(',').next().expect("a column").trim_matches('"').to_owned();
    // The first class is that of the first rows.
    let first = rows[0].split(',').nth(4).expect("a class").to_owned();
    scratch.write("three.csv", format!("{header},fold,weight\n{}", rows.concat()));
    let two: String = rows.iter().filter(|row| row.split(',').nth(4) != Some(&first)).cloned().collect();
    scratch.write("two.csv", format!("{header},fold,weight\n{two}"));
    let cases = golden_values["cases"].as_array().expect("cases");
    assert_eq!(cases.len(), 6);
    for case in cases {
        let (name, alpha) = (case["name"].as_str().expect("a name"), case["alpha"].as_f64().expect("a share"));
        let sizes = numbers(&case["lambda"]);
        let file = if case["classes"] == 2 { "two.csv" } else { "three.csv" };
        let penalty = if alpha == 0.0 { "ridge".to_owned() } else { format!("elastic-net:{alpha}") };
        let weighted = if case["weighted"] == true { "--weights weight" } else { "--drop weight" };
        let standardize = if case["standardize"] == true { "yes" } else { "no" };
        let listed = sizes.iter().map(|l| format!("{l:?}")).collect::<Vec<String>>().join(",");
        let found = |rule: &str| -> Value {
            let shown = scratch.done(&format!(
                "tune {file} --target {target} --penalty {penalty} --standardize {standardize} {weighted} --fold-column fold \
                 --lambda-values {listed} --metric {} --rule {rule} --tol 1e-12 --json",
                case["metric"].as_str().expect("a metric")
            ));
            serde_json::from_str(&shown).expect("JSON")
        };
        let least = found("least");
        for (figure, expected) in [("mean", numbers(&case["mean"])), ("se", numbers(&case["se"]))] {
            let trials = least["trials"].as_array().expect("trials");
            assert_eq!(trials.len(), expected.len());
            for (trial, expected) in trials.iter().zip(expected) {
                let value = trial[figure].as_f64().expect("a number");
                // glmnet stops where a step changes the deviance by 1e-16 of it, which leaves about half the digits, of softmax one fewer.
                assert!((value - expected).abs() <= 2e-7 * expected.max(1e-2), "{name}: {figure} {value} {expected}");
            }
        }
        for (rule, expected) in [("least", "lambda_min"), ("one-se", "lambda_1se")] {
            let chosen = found(rule)["best"]["settings"]["lambda"].as_f64().expect("a size");
            assert_eq!(Some(chosen), case[expected].as_f64(), "{name}: {rule}");
        }
    }
}
