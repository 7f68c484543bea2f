//! Bootstraps and permutation tests, and inference about other models, by flag.

mod common;

use common::Scratch;
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e} in {text}"))
}

const ROWS: &str = "penguins.csv --target sex --features body_mass_g,bill_depth_mm";

#[test]
fn a_bootstrap_says_what_it_is_about() {
    let scratch = Scratch::with_examples();
    let shown = scratch.done(&format!("resample {ROWS} --bootstrap 99 --level 0.9"));
    let flat = shown.split_whitespace().collect::<Vec<&str>>().join(" ");
    assert!(flat.contains("what this method with this penalty would give on the whole population"), "{shown}");
    assert!(flat.contains("90 % intervals: percentile, and BCa (by a jackknife of 200 groups)"), "{shown}");
    assert!(shown.lines().all(|l| l.chars().count() <= 110), "{shown}");
    let one = scratch.done(&format!("resample {ROWS} --bootstrap 99 --seed 4 --json --threads 1"));
    let two = scratch.done(&format!("resample {ROWS} --bootstrap 99 --seed 4 --json --threads 3"));
    assert_eq!(one, two);
    let found = json(&one);
    assert_eq!(found["coefficients"].as_array().map(Vec::len), Some(3));
    assert!(found["coefficients"][0]["bca"][0].as_f64() < found["coefficients"][0]["estimate"].as_f64());
    let lasso = scratch.done("resample penguins.csv --target species --drop year --penalty lasso:0.05 --bootstrap 39");
    assert!(lasso.contains("selected") && lasso.contains("There are no intervals"), "{lasso}");
    let none = scratch.run("resample penguins.csv --target species --drop year --penalty none --bootstrap 39");
    assert_eq!(none.code, 1, "{}", none.stdout);
}

#[test]
fn a_permutation_test_has_a_p_value() {
    let scratch = Scratch::with_examples();
    let shown = scratch.done(&format!("resample {ROWS} --model lda --permutations 39"));
    assert!(shown.contains("p 0.02500  (0 as good or better; (1 + 0)/(1 + 39))"), "{shown}");
    let found = json(&scratch.done(&format!("resample {ROWS} --model lda --permutations 9 --folds 3 --json")));
    assert_eq!((found["p"].as_f64(), found["folds"].as_u64()), (Some(0.1), Some(3)));
    assert_eq!(found["permuted"].as_array().map(Vec::len), Some(9));
}

#[test]
fn gaussian_classes_and_least_squares_are_inferred_about() {
    let scratch = Scratch::with_examples();
    let lda = scratch.done(&format!("infer {ROWS} --model lda"));
    for part in ["Hotelling T²", "Wilks Λ", "Box M, F", "share of the class", "mean in male", "exact"] {
        assert!(lda.contains(part), "{part}: {lda}");
    }
    let lda = json(&scratch.done(&format!("infer {ROWS} --model lda --json")));
    let squares = json(&scratch.done(&format!("infer {ROWS} --model least-squares --json")));
    let (t2, f) = (&lda["equal_means"][0]["f"], &squares["overall"]["f"]);
    assert!((t2.as_f64().unwrap_or(0.0) / f.as_f64().unwrap_or(1.0) - 1.0).abs() < 1e-9, "{t2} {f}");
    let qda = scratch.done(&format!("infer {ROWS} --model qda --level 0.9"));
    assert!(qda.contains("variance in female") && qda.contains("own covariances"), "{qda}");
    let robust = scratch.done(&format!("infer {ROWS} --model least-squares --covariance hc3"));
    assert!(robust.contains("standard errors robust (hc3)"), "{robust}");
    assert!(scratch.done(&format!("infer {ROWS} --model spherical")).contains("F of all columns"));
    for line in [lda.to_string(), squares.to_string()] {
        assert!(!line.contains("NaN"), "{line}");
    }
}
