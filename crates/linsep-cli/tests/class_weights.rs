//! Weights of classes and starts from other models at the command line.

mod common;

use common::Scratch;
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e} in {text}"))
}

const METHODS: [&str; 8] = [
    "logistic",
    "svm --loss squared-hinge",
    "lda",
    "qda",
    "spherical",
    "least-squares",
    "naive-bayes --family gaussian",
    "pocket --max-iter 5",
];

/// Overlapping rows of two classes, one three times as frequent, with a weight per class beside them.
fn rows(scratch: &Scratch) {
    let mut plain = String::from("a,b,y\n");
    let mut weighted = String::from("a,b,w,y\n");
    for i in 0..120u32 {
        let (yes, u, v) = (i % 4 == 0, f64::from(i * 37 % 101) / 50.0, f64::from(i * 53 % 97) / 40.0);
        let (a, b) = (u + if yes { 0.7 } else { 0.0 }, v - if yes { 0.4 } else { 0.0 });
        let class = if yes { "yes" } else { "no" };
        plain.push_str(&format!("{a},{b},{class}\n"));
        weighted.push_str(&format!("{a},{b},{},{class}\n", if yes { "2.5" } else { "0.5" }));
    }
    scratch.write("plain.csv", plain);
    scratch.write("weighted.csv", weighted);
}

#[test]
fn class_weights_are_row_weights() {
    let scratch = Scratch::new();
    rows(&scratch);
    for method in METHODS {
        let by_class = scratch
            .done(&format!("fit plain.csv -t y --model {method} --class-weight yes=2.5,no=0.5 -o class.json --json"));
        let by_row = scratch.done(&format!("fit weighted.csv -t y --weights w --model {method} -o row.json --json"));
        let (by_class, by_row) = (json(&by_class), json(&by_row));
        for key in ["weights", "intercept", "terms", "objective", "lambda", "certificate"] {
            assert_eq!(by_class[key], by_row[key], "{method}: {key}");
        }
        // The accuracy is of the rows as they are.
        assert_eq!(by_class["training"]["class_weights"], json("[90.0, 30.0]"), "{method}");
        assert_eq!(by_class["training"]["total_weight"], json("120.0"), "{method}");
        assert_eq!(by_class["class_weights"]["factors"], json("[0.5, 2.5]"), "{method}");
        let verified = scratch.done("verify class.json plain.csv");
        assert!(verified.contains("class weight factors of the classes follow"), "{method}: {verified}");
    }
    let summary = scratch.done("fit plain.csv -t y --class-weight yes=2.5,no=0.5 --cv 3");
    assert!(summary.contains("weighted no 0.5000, yes 2.500"), "{summary}");
}

#[test]
fn balanced_classes_weigh_the_same() {
    let scratch = Scratch::new();
    rows(&scratch);
    let balanced = json(&scratch.done("fit plain.csv -t y --class-weight balanced -o b.json --json"));
    let given = json(&scratch.done("fit plain.csv -t y --class-weight no=0.6666666666666666,yes=2 --json"));
    assert_eq!(balanced["class_weights"]["factors"], given["class_weights"]["factors"]);
    assert_eq!(balanced["weights"], given["weights"]);
    scratch.done("verify b.json plain.csv");
    // Other rows, other factors.
    let fewer: String = String::from_utf8(scratch.read("plain.csv"))
        .expect("text")
        .lines()
        .take(60)
        .map(|l| format!("{l}\n"))
        .collect();
    scratch.write("fewer.csv", fewer.replacen("no\n", "yes\n", 5));
    let ran = scratch.run("verify b.json fewer.csv");
    assert!(ran.code == 1 && ran.stdout.contains("FAILS  class weight"), "{}", ran.stdout);
    // Equal counts: not a bit changes.
    let text = String::from_utf8(scratch.read("plain.csv")).expect("text");
    let (mut even, mut left) = (String::new(), 31);
    for line in text.lines() {
        if line.ends_with("no") {
            left -= 1;
        }
        if !line.ends_with("no") || left > 0 {
            even.push_str(line);
            even.push('\n');
        }
    }
    scratch.write("even.csv", even);
    for method in METHODS {
        let fit = |more: &str| json(&scratch.done(&format!("fit even.csv -t y --model {method} {more} --json")));
        let (balanced, plain) = (fit("--class-weight balanced"), fit(""));
        for key in ["weights", "intercept", "terms", "objective", "certificate", "training"] {
            assert_eq!(balanced[key], plain[key], "{method}: {key}");
        }
    }
    // In cross-validation the balance is that of the rows that are learned from, and accuracy is plain.
    let accuracy = |line: &str| json(&scratch.done(line))["cross_validation"]["accuracy"].as_f64().expect("a number");
    let always_no = 0.75;
    let weighted = accuracy("fit plain.csv -t y --class-weight balanced --cv 5 --json");
    assert!((weighted * 120.0 - (weighted * 120.0).round()).abs() < 1e-9 && weighted != always_no, "{weighted}");
}

#[test]
fn a_start_at_the_optimum_takes_no_steps() {
    let scratch = Scratch::with_examples();
    for (method, most) in [
        ("logistic", 1),
        ("logistic --solver newton-cg", 1),
        ("logistic --solver lbfgs", 1),
        ("logistic --solver gradient-descent", 1),
        ("logistic --solver svrg", 1),
        ("logistic --penalty none", 2),
        ("logistic --softmax reference", 1),
        ("logistic --standardize no --solver newton", 2),
    ] {
        let line = format!("fit penguins.csv -t species --features bill_depth_mm,year --model {method}");
        scratch.done(&format!("{line} -o m.json"));
        let again = json(&scratch.done(&format!("{line} --init m.json --json")));
        let steps = again["computation"]["iterations"].as_u64().expect("a number");
        assert!(steps <= most, "{method}: {steps} iterations from the optimum");
    }
    // Columns and classes in another order are found by their names.
    scratch.done("fit penguins.csv -t sex --features bill_depth_mm,body_mass_g -o m.json");
    let line = "fit penguins.csv -t sex --features body_mass_g,bill_depth_mm --positive female --init m.json --json";
    let again = json(&scratch.done(line));
    assert!(again["computation"]["iterations"].as_u64().is_some_and(|n| n <= 1), "{}", again["computation"]);
    // Any linear model will do, also one of another method.
    scratch.done("fit penguins.csv -t species --drop island,sex --model lda -o lda.json");
    scratch.done("fit penguins.csv -t species --drop island,sex --init lda.json");
}
