//! Kernel machines at the command line.

mod common;

use common::Scratch;
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e} in {text}"))
}

/// A disc of one class within a ring of the other, not quite apart.
fn points() -> Vec<(f64, f64, &'static str)> {
    let point = |i: u32| {
        let angle = f64::from(i * 37 % 101) / 16.0;
        let radius = if i.is_multiple_of(2) { 0.5 } else { 1.5 } + f64::from(i * 53 % 97) / 100.0 - 0.5;
        (radius * angle.cos(), radius * angle.sin(), if i.is_multiple_of(2) { "in" } else { "out" })
    };
    (0..120).map(point).collect()
}

fn rows(scratch: &Scratch) {
    let lines: Vec<String> = points().iter().map(|(a, b, y)| format!("{a},{b},{y}")).collect();
    scratch.write("ring.csv", format!("a,b,y\n{}\n", lines.join("\n")));
}

#[test]
fn a_kernel_machine_goes_through_every_command() {
    let scratch = Scratch::new();
    rows(&scratch);
    let summary =
        scratch.done("fit ring.csv -t y --model svm --kernel rbf --gamma 1 --C 10 --standardize no -o m.json");
    assert!(summary.contains("rbf kernel with γ = 1"), "{summary}");
    assert!(summary.contains("support vectors"), "{summary}");
    let evaluation = json(&scratch.done("evaluate m.json ring.csv --json"));
    assert!(evaluation.to_string().contains("accuracy"));
    let predicted = scratch.done("predict m.json ring.csv --scores");
    assert_eq!(predicted.lines().count(), 121);
    let inspected = json(&scratch.done("inspect m.json --json"));
    assert_eq!(inspected["kernel"]["name"], "rbf");
    assert_eq!(inspected["kernel"]["gamma"], 1.0);
    assert!(inspected["weights"].is_null());
    assert!(scratch.done("verify m.json ring.csv").contains("certificate"));
    // A length in the feature space is called that, and no radius is given.
    let measured = scratch.done("geometry m.json ring.csv");
    let header = measured.lines().next().unwrap_or_default();
    assert_eq!(header, "prediction,boundary,feature_distance,feature_margin");
    let scores: Vec<f64> = predicted.lines().skip(1).map(|l| l.rsplit(',').next().unwrap().parse().unwrap()).collect();
    let distances: Vec<f64> = measured.lines().skip(1).map(|l| l.split(',').nth(2).unwrap().parse().unwrap()).collect();
    let norm = json(&scratch.done("geometry m.json --json"))["boundaries"][0]["norm"].as_f64().expect("a norm");
    for (z, d) in scores.iter().zip(&distances) {
        assert!((z / norm - d).abs() < 1e-12, "{z} / {norm} is not {d}");
    }
}

#[test]
fn c_is_a_ridge() {
    let scratch = Scratch::new();
    rows(&scratch);
    for method in ["svm", "svm --kernel rbf", "logistic"] {
        let a = json(&scratch.done(&format!("fit ring.csv -t y --model {method} --C 4 --json -o a.json")));
        let b = json(
            &scratch
                .done(&format!("fit ring.csv -t y --model {method} --penalty ridge:{} --json -o b.json", 1.0 / 480.0)),
        );
        assert_eq!(a["lambda"], b["lambda"], "{method}");
        assert_eq!(a["objective"], b["objective"], "{method}");
    }
}

#[test]
fn a_precomputed_kernel_predicts_from_its_columns() {
    let scratch = Scratch::new();
    rows(&scratch);
    let points = points();
    let value = |p: &(f64, f64, &str), q: &(f64, f64, &str)| (-((p.0 - q.0).powi(2) + (p.1 - q.1).powi(2))).exp();
    let header: Vec<String> = (0..points.len()).map(|j| format!("k{j}")).collect();
    let line = |p: &(f64, f64, &'static str)| {
        let cells: Vec<String> = points.iter().map(|q| value(p, q).to_string()).collect();
        format!("{},{}\n", cells.join(","), p.2)
    };
    let table: String = points.iter().map(line).collect();
    scratch.write("k.csv", format!("{},y\n{table}", header.join(",")));
    scratch.done("fit k.csv -t y --model svm --kernel precomputed --C 10 --tol 1e-9 -o k.json");
    scratch.done("fit ring.csv -t y --model svm --kernel rbf --gamma 1 --C 10 --tol 1e-9 --standardize no -o m.json");
    assert!(scratch.done("verify k.json k.csv").contains("certificate"));
    let classes = |text: String| text.lines().map(|l| l.split(',').next().unwrap_or("").to_owned()).collect::<Vec<_>>();
    assert_eq!(classes(scratch.done("predict k.json k.csv")), classes(scratch.done("predict m.json ring.csv")));
}

#[test]
fn evidence_against_a_sigmoid_kernel_is_shown() {
    let scratch = Scratch::new();
    rows(&scratch);
    let said = scratch.done("fit ring.csv -t y --model svm --kernel sigmoid --gamma 1 --coef0 -1 --tol 1e-3 -o s.json");
    assert!(said.contains("not positive semidefinite") && said.contains("stationary point"), "{said}");
    assert!(!said.contains("of the optimum"), "no gap is claimed: {said}");
    assert!(scratch.done("verify s.json ring.csv").contains("no gap is claimed"));
}

#[test]
fn mistakes_are_counted() {
    let scratch = Scratch::new();
    rows(&scratch);
    let said = scratch.done("fit ring.csv -t y --model kernel-perceptron --gamma 4 -o p.json");
    assert!(said.contains("Kernel perceptron, rbf kernel") && said.contains("mistake"), "{said}");
    scratch.done("verify p.json ring.csv");
    scratch.done("evaluate p.json ring.csv");
    // With x·y + 1 it is the perceptron: the same predictions.
    scratch.write("line.csv", "a,b,y\n2,1,u\n3,-1,u\n1,4,u\n-2,0,v\n-1,-3,v\n-4,1,v\n");
    let flags = "--standardize no --order given";
    scratch.done(&format!("fit line.csv -t y --model perceptron {flags} -o a.json"));
    scratch.done(&format!(
        "fit line.csv -t y --model kernel-perceptron --kernel polynomial --degree 1 --gamma 1 {flags} -o b.json"
    ));
    assert_eq!(scratch.done("predict a.json line.csv --scores"), scratch.done("predict b.json line.csv --scores"));
}
