//! Comparisons of methods.

mod common;

use common::Scratch;
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e} in {text}"))
}

/// The methods without what the clock says.
fn timeless(mut found: Value) -> Value {
    for method in found["methods"].as_array_mut().expect("methods") {
        for name in ["fit_s", "tune_s", "predict_s"] {
            let time = method.as_object_mut().expect("an object").remove(name).expect("a time");
            assert!(time.as_f64().is_some_and(|s| s >= 0.0), "{time}");
        }
    }
    found
}

fn names(found: &Value) -> Vec<&str> {
    found["methods"].as_array().expect("methods").iter().map(|m| m["name"].as_str().expect("a name")).collect()
}

fn method<'v>(found: &'v Value, name: &str) -> &'v Value {
    let methods = found["methods"].as_array().expect("methods");
    methods.iter().find(|m| m["name"] == name).unwrap_or_else(|| panic!("{name} in {found}"))
}

const FEW: &str = "compare penguins.csv --target sex --drop year --methods lda,naive-bayes,least-squares --folds 4";

#[test]
fn runs_agree_whatever_the_threads_and_baselines_are_in() {
    let scratch = Scratch::with_examples();
    let of = |more: &str| timeless(json(&scratch.done(&format!("{FEW} --json {more}"))));
    let first = of("--threads 1");
    assert_eq!(first, of("--threads 3"));
    assert_eq!(first, of(""));
    assert_ne!(first, of("--seed 1"));
    assert_eq!(names(&first).len(), 5, "{first}");
    let (best, majority) = (&first["methods"][0], method(&first, "majority"));
    assert_eq!(best["p_vs_best"].as_f64(), Some(1.0));
    assert!(majority["worse"].as_bool() == Some(true) && majority["baseline"].as_bool() == Some(true));
    let finding = first["finding"].as_str().expect("a finding");
    assert!(finding.contains("on these 333 rows") && finding.contains("the majority class"), "{finding}");
    let shown = scratch.done(FEW);
    assert!(shown.contains(&finding.split(' ').take(5).collect::<Vec<&str>>().join(" ")), "{shown}");
    assert!(shown.lines().all(|l| l.chars().count() <= 80), "{shown}");
}

/// The t test by hand from the losses of the folds: folds of 333 rows in four have 84, 83, 83 and 83 rows in some order.
#[test]
fn intervals_and_tests_are_those_of_the_folds() {
    let scratch = Scratch::with_examples();
    // As many rows in every fold: 160 rows, 4 folds.
    let csv = (0..160).map(|i: usize| {
        let noise = (i * 7919 % 101) as f64 / 101.0;
        format!("{},{},{}\n", (i % 2) as f64 + 1.6 * noise, (i * 31) % 17, ["a", "b"][i % 2])
    });
    scratch.write("even.csv", format!("x,z,y\n{}", csv.collect::<String>()));
    let found = json(&scratch.done("compare even.csv -t y --methods lda,naive-bayes --folds 4 --json"));
    let losses = |m: &Value| -> Vec<f64> {
        m["folds"].as_array().expect("folds").iter().map(|v| v.as_f64().expect("a loss")).collect()
    };
    let best = losses(&found["methods"][0]);
    for m in found["methods"].as_array().expect("methods") {
        let own = losses(m);
        let mean = own.iter().sum::<f64>() / 4.0;
        assert!((m["mean"].as_f64().expect("a mean") - mean).abs() < 1e-12);
        let differences: Vec<f64> = own.iter().zip(&best).map(|(a, b)| a - b).collect();
        let centre = differences.iter().sum::<f64>() / 4.0;
        let spread = differences.iter().map(|d| (d - centre).powi(2)).sum::<f64>() / 3.0;
        let p = m["p_vs_best"].as_f64().expect("a p value");
        if spread > 0.0 && centre > 0.0 {
            // Three degrees of freedom: P(|T| > t) = 1 − 2/π (atan(u) + u/(1+u²)) with u = t/√3.
            let u = centre / (spread * (1.0 / 4.0 + 1.0 / 3.0)).sqrt() / 3.0_f64.sqrt();
            let expected = 1.0 - 2.0 / std::f64::consts::PI * (u.atan() + u / (1.0 + u * u));
            assert!((p - expected).abs() < 1e-9, "{p} and {expected} of {m}");
        }
    }
    // Something was tested above.
    assert!(method(&found, "majority")["p_vs_best"].as_f64().is_some_and(|p| p > 0.0 && p < 0.05), "{found}");
}

#[test]
fn noise_beats_nothing_and_ties_are_said() {
    let scratch = Scratch::new();
    // One column that says nothing: every method predicts the larger class.
    let csv = (0..90).map(|i: usize| format!("{},{}\n", (i * 37) % 10, ["a", "b"][usize::from(i.is_multiple_of(3))]));
    scratch.write("noise.csv", format!("x,y\n{}", csv.collect::<String>()));
    let line = "compare noise.csv -t y --methods lda,logistic-lasso --folds 5";
    let found = json(&scratch.done(&format!("{line} --json")));
    assert_eq!(found["methods"][0]["name"].as_str(), Some("majority"), "{found}");
    let tie = method(&found, "lda");
    assert_eq!(tie["ties_with"][0].as_str(), Some("majority"), "{found}");
    assert_eq!(tie["p_vs_best"].as_f64(), Some(1.0));
    let shown = scratch.done(line);
    assert!(shown.contains("Exact tie: LDA predicts every row held out as the majority class does"), "{shown}");
}

#[test]
fn what_cannot_take_part_is_left_out_aloud() {
    let scratch = Scratch::with_examples();
    let line = "compare penguins.csv --target sex --features body_mass_g,bill_depth_mm --folds 3 --metric brier --json";
    let found = json(&scratch.done(line));
    let out: Vec<&str> =
        found["left_out"].as_array().expect("a list").iter().filter_map(|m| m["name"].as_str()).collect();
    assert!(out.contains(&"svm") && out.contains(&"averaged-perceptron"), "{found}");
    assert!(names(&found).contains(&"logistic") && names(&found).contains(&"qda"));
    // Groups are kept together, in the folds within, too: three islands leave two for them.
    let grouped = json(&scratch.done("compare penguins.csv -t sex --groups island --folds 3 --methods lda --json"));
    assert_eq!(method(&grouped, "lda")["folds"].as_array().map(Vec::len), Some(3));
}
