//! Calibration, true priors, the hard margin and the table of support vectors, by flag.

mod common;

use common::Scratch;
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e} in {text}"))
}

fn column<'a>(csv: &'a str, name: &str) -> Vec<&'a str> {
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<&str>>());
    let header = lines.next().expect("a header");
    let at = header.iter().position(|cell| *cell == name).unwrap_or_else(|| panic!("no column {name}"));
    lines.map(|cells| cells[at]).collect()
}

const SVM: &str = "fit penguins.csv --target sex --drop year --model svm";

#[test]
fn a_calibrated_machine_has_probabilities() {
    let scratch = Scratch::with_examples();
    let plain = scratch.run(&format!("{SVM} -o plain.json"));
    assert_eq!(plain.code, 0);
    let refused = scratch.run("predict plain.json penguins.csv --proba");
    assert!(refused.code == 2 && refused.stderr.contains("fit it with --calibrate"), "{}", refused.stderr);
    for map in ["platt", "isotonic", "temperature"] {
        let shown = scratch.done(&format!("{SVM} --calibrate {map} --seed 3 -o svm.json"));
        assert!(shown.contains("calibration  "), "{shown}");
        let found = scratch.done("predict svm.json penguins.csv --proba --scores --threshold 0.7");
        for (class, p) in column(&found, "prediction").iter().zip(column(&found, "p_male")) {
            assert_eq!(*class, p.parse::<f64>().map_or("", |p| if p > 0.7 { "male" } else { "female" }), "{map}");
        }
        // Scores are those of the plane, as they were.
        let before = scratch.done("predict plain.json penguins.csv --scores");
        assert_eq!(column(&found, "score_male"), column(&before, "score_male"));
        let judged = json(&scratch.done("evaluate svm.json penguins.csv --json"));
        assert!(judged["log_loss"]["value"].as_f64().is_some_and(|v| v < 0.3), "{judged}");
        assert!(judged["brier"]["value"].as_f64().is_some_and(|v| v < 0.1), "{judged}");
        assert!(scratch.done("verify svm.json penguins.csv").contains("calibration"));
        let inspected = json(&scratch.done("inspect svm.json --json"));
        assert_eq!(inspected["calibration"]["kind"], map);
        assert_eq!(inspected["calibration"]["folds"], 5);
        assert!(scratch.run("evaluate svm.json penguins.csv --reject 0.1").code == 0);
    }
}

#[test]
fn the_boundary_is_where_the_probability_is_one_half() {
    let scratch = Scratch::with_examples();
    scratch.done(&format!("{SVM} --calibrate platt --class-weight male=9 -o svm.json"));
    let inspected = json(&scratch.done("inspect svm.json --json"));
    let cut = inspected["calibration"]["score_at_one_half"].as_f64().expect("a score");
    assert!(cut.abs() > 0.05, "{cut}");
    let geometry = json(&scratch.done("geometry svm.json --json"));
    assert_eq!(geometry["cut"].as_f64(), Some(cut));
    let rows = scratch.done("geometry svm.json penguins.csv");
    let predicted = scratch.done("predict svm.json penguins.csv --proba");
    assert_eq!(column(&rows, "prediction"), column(&predicted, "prediction"));
    for (class, distance) in column(&rows, "prediction").iter().zip(column(&rows, "distance")) {
        let side = distance.parse::<f64>().map_or("", |d| if d > 0.0 { "male" } else { "female" });
        assert_eq!(*class, side);
    }
}

#[test]
fn true_priors_at_fit_and_at_predict_are_the_same() {
    let scratch = Scratch::with_examples();
    let fit = "fit penguins.csv --target species --features bill_length_mm,body_mass_g";
    scratch.done(&format!("{fit} -o plain.json"));
    let shown = scratch.done(&format!("{fit} --true-priors Adelie=0.2,Chinstrap=0.7,Gentoo=0.1 -o moved.json"));
    assert!(shown.contains("true priors  Adelie 0.2000 (learned 0.4415)"), "{shown}");
    let flag = "--proba --true-priors Gentoo=0.1,Chinstrap=0.7,Adelie=0.2";
    let by_flag = scratch.done(&format!("predict plain.json penguins.csv {flag}"));
    assert_eq!(scratch.done("predict moved.json penguins.csv --proba"), by_flag);
    assert_ne!(scratch.done("predict plain.json penguins.csv --proba"), by_flag);
    // The given priors of a generative model are the same thing.
    let lda = format!("{fit} --model lda");
    scratch.done(&format!("{lda} --priors Adelie=0.2,Chinstrap=0.7,Gentoo=0.1 -o given.json"));
    scratch.done(&format!("{lda} --true-priors Adelie=0.2,Chinstrap=0.7,Gentoo=0.1 -o lda.json"));
    let (a, b) = (
        scratch.done("predict given.json penguins.csv --proba"),
        scratch.done("predict lda.json penguins.csv --proba"),
    );
    for name in ["p_Adelie", "p_Chinstrap", "p_Gentoo"] {
        for (a, b) in column(&a, name).iter().zip(column(&b, name)) {
            let (a, b) = (a.parse::<f64>().unwrap_or(0.0), b.parse::<f64>().unwrap_or(0.0));
            assert!((a - b).abs() < 1e-12, "{name}: {a} {b}");
        }
    }
    assert_eq!(scratch.run("verify moved.json penguins.csv").code, 0);
}

const APART: &str = "x,z,y\n0,0,no\n1,0,no\n0,1,no\n4,4,yes\n5,4,yes\n4,6,yes\n";

#[test]
fn the_widest_margin() {
    let scratch = Scratch::new();
    scratch.write("t.csv", APART);
    let shown = scratch.done("fit t.csv --target y --model hard-margin -o m.json");
    assert!(shown.starts_with("Hard margin support vector machine: distances of the columns as they are"), "{shown}");
    assert!(
        shown.contains("margin       geometric γ = 1/‖w‖ = 2.475, functional 1; the hulls are 4.950 apart"),
        "{shown}"
    );
    // The row 4 faces the middle of the rows 2 and 3: (4,4) − (½,½).
    let inspected = json(&scratch.done("inspect m.json --json"));
    let w = inspected["weights"][0].as_array().expect("weights");
    assert!(w.iter().all(|w| (w.as_f64().unwrap_or(0.0) - 2.0 / 7.0).abs() < 1e-8), "{w:?}");
    let support = inspected["support_vectors"]["multipliers"].as_array().expect("pairs");
    assert_eq!(support.iter().map(|p| p[0].as_u64().unwrap_or(0)).collect::<Vec<_>>(), [2, 3, 4]);
    assert!(scratch.done("verify m.json t.csv").contains("certificate"));
    let table = scratch.done("inspect m.json t.csv --rows 2");
    assert!(table.contains("3 support vectors") && table.contains("… 1 more: see --rows all"), "{table}");
    let all = scratch.done("inspect m.json t.csv --rows all");
    assert!(!all.contains("more: see"), "{all}");
    let rows = json(&scratch.done("inspect m.json t.csv --json"))["support_table"].clone();
    assert_eq!(rows.as_array().map(Vec::len), Some(3));
    assert_eq!((&rows[2]["label"], &rows[2]["row"], &rows[2]["bounded"]), (&"yes".into(), &4.into(), &false.into()));
    assert!((rows[2]["distance"].as_f64().unwrap_or(0.0) - 3.5 / 2f64.sqrt()).abs() < 1e-7);
    // In other units it is another margin, and the summary says which.
    let other = scratch.done("fit t.csv --target y --model hard-margin --standardize yes");
    assert!(other.starts_with("Hard margin support vector machine: distances of standardised columns"), "{other}");
    // Probabilities, too.
    scratch.done("fit t.csv --target y --model hard-margin --calibrate platt --calibrate-folds 3 -o p.json");
    assert!(scratch.done("predict p.json t.csv --proba").contains("p_no,p_yes"));
}

#[test]
fn no_margin_is_an_answer() {
    let scratch = Scratch::new();
    for (csv, said) in [
        ("x,z,y\n0,0,no\n1,1,no\n0,1,yes\n1,0,yes\n", "all 4 rows have positive weights"),
        ("x,z,y\n0,0,no\n2,1,no\n2,1,yes\n3,3,yes\n", "lines 3 and 4 are the same in every column"),
    ] {
        scratch.write("t.csv", csv);
        let ran = scratch.run("fit t.csv --target y --model hard-margin -o m.json");
        assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
        assert!(ran.stdout.starts_with("No plane separates the classes: there is no hard margin."), "{}", ran.stdout);
        let text = ran.stdout.replace("\n ", "").replace("  ", " ");
        assert!(text.contains(said) && text.contains("No model was written"), "{}", ran.stdout);
        assert!(text.contains("witness row") && text.contains("line 4"), "{}", ran.stdout);
        assert_eq!(scratch.names(), ["t.csv"]);
        let ran = scratch.run("fit t.csv --target y --model hard-margin --calibrate platt --calibrate-folds 2 --json");
        assert_eq!(ran.code, 1);
        assert_eq!(json(&ran.stdout)["outcome"], "not_separable");
        let witness = &json(&ran.stdout)["separability"]["witness"]["rows"];
        assert!(witness.as_array().is_some_and(|rows| rows.len() >= 2 && rows[0]["weight"].is_f64()), "{witness}");
    }
}
