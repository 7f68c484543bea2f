//! `linsep evaluate` beyond the usual figures: details, thresholds, and another model on the same rows.

mod common;

use common::Scratch;
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e} in {text}"))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Two models of the sex of penguins.
fn rivals() -> Scratch {
    let scratch = Scratch::with_examples();
    scratch.done("fit penguins.csv --target sex --features bill_length_mm,body_mass_g -o few.json");
    scratch.done("fit penguins.csv --target sex --drop year --model lda -o lda.json");
    scratch
}

/// One column of a CSV without quoted cells.
fn column(csv: &str, name: &str) -> Vec<String> {
    let mut lines = csv.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<String>>());
    let header = lines.next().expect("a header");
    let at = header.iter().position(|cell| cell == name).unwrap_or_else(|| panic!("no column {name}"));
    lines.map(|cells| cells[at].clone()).collect()
}

#[test]
fn mcnemar_counts_the_rows_on_which_one_is_right() {
    let scratch = rivals();
    let found = json(&scratch.done("evaluate few.json penguins.csv --against lda.json --json"));
    let rows = |model: &str| {
        let csv = scratch.done(&format!("predict {model} penguins.csv --keep sex"));
        (column(&csv, "sex"), column(&csv, "prediction"))
    };
    let ((truth, first), (_, second)) = (rows("few.json"), rows("lda.json"));
    let judged = |at: usize| !truth[at].is_empty() && !first[at].is_empty() && !second[at].is_empty();
    let only = |a: &[String], b: &[String]| {
        (0..truth.len()).filter(|i| judged(*i) && a[*i] == truth[*i] && b[*i] != truth[*i]).count() as f64
    };
    let test = &found["against"]["mcnemar"];
    let (b, c) = (number(&test["only_first"]), number(&test["only_second"]));
    assert_eq!((b, c), (only(&first, &second), only(&second, &first)));
    assert!(b + c > 5.0 && b != c);
    let n = b + c;
    let (mut term, mut sum) = (0.5f64.powi(n as i32), 0.0);
    for k in 0..=b.min(c) as usize {
        sum += term;
        term *= (n - k as f64) / (k as f64 + 1.0);
    }
    assert!((number(&test["p"]) / (2.0 * sum).min(1.0) - 1.0).abs() < 1e-11, "{test}");
    // The differences are those of the two evaluations, where both score the same rows.
    let other = json(&scratch.done("evaluate lda.json penguins.csv --json"));
    if found["rows"] == other["rows"] {
        for name in ["accuracy", "log_loss", "auc"] {
            let own = number(&found[name]["value"]) - number(&other[name]["value"]);
            let against = &found["against"][name];
            let value = if name == "auc" { &against["difference"] } else { against };
            assert!((number(&value["value"]) - own).abs() < 1e-12, "{name}: {value} {own}");
            let interval = value["interval"].as_array().expect("an interval");
            assert!(number(&interval[0]) < own && own < number(&interval[1]), "{name}");
        }
    }
}

#[test]
fn the_order_changes_signs_only_and_seeds_decide() {
    let scratch = rivals();
    let line = "--json --replicates 499 --seed";
    let of = |a: &str, b: &str, seed: u32| {
        json(&scratch.done(&format!("evaluate {a} penguins.csv --against {b} {line} {seed}")))["against"].clone()
    };
    let (one, again, other) =
        (of("few.json", "lda.json", 5), of("few.json", "lda.json", 5), of("few.json", "lda.json", 6));
    assert_eq!(one, again);
    assert_ne!(one["accuracy"]["interval"], other["accuracy"]["interval"]);
    let exchanged = of("lda.json", "few.json", 5);
    assert_eq!(number(&one["auc"]["z"]), -number(&exchanged["auc"]["z"]));
    assert_eq!(one["mcnemar"]["only_first"], exchanged["mcnemar"]["only_second"]);
    assert_eq!(one["mcnemar"]["p"], exchanged["mcnemar"]["p"]);
    // Against itself nothing differs.
    let same = of("lda.json", "lda.json", 5);
    assert_eq!((number(&same["mcnemar"]["p"]), number(&same["accuracy"]["value"])), (1.0, 0.0));
    assert!(same["auc"]["reason"].as_str().is_some_and(|r| r.contains("alike")));
    let threads = scratch.done("evaluate few.json penguins.csv --against lda.json --threads 1");
    assert_eq!(threads, scratch.done("evaluate few.json penguins.csv --against lda.json --threads 3"));
    assert!(threads.contains("McNemar") && threads.contains("DeLong"), "{threads}");
    assert!(threads.lines().all(|l| l.chars().count() <= 84), "{threads}");
}

#[test]
fn another_order_of_classes_is_the_same_comparison() {
    let scratch = rivals();
    scratch.done("fit penguins.csv --target sex --drop year --model lda --positive female -o turned.json");
    let of = |b: &str| {
        json(&scratch.done(&format!("evaluate few.json penguins.csv --against {b} --json")))["against"].clone()
    };
    let (plain, turned) = (of("lda.json"), of("turned.json"));
    assert_eq!(plain["mcnemar"], turned["mcnemar"]);
    assert!((number(&plain["auc"]["z"]) - number(&turned["auc"]["z"])).abs() < 1e-6);
    assert!((number(&plain["log_loss"]["value"]) - number(&turned["log_loss"]["value"])).abs() < 1e-9);
}

#[test]
fn details_agree_with_the_figures() {
    let scratch = rivals();
    let found = json(&scratch.done("evaluate lda.json penguins.csv --details --json"));
    let details = &found["details"];
    assert_eq!(found["of_training"], true);
    let brier = &details["calibration"]["brier"];
    let parts = number(&brier["reliability"]) - number(&brier["resolution"])
        + number(&brier["uncertainty"])
        + number(&brier["within"]);
    assert!((parts - number(&found["brier"]["value"])).abs() < 1e-12, "{brier}");
    // On the rows of the fit two degrees of freedom are gone.
    let test = &details["calibration"]["hosmer_lemeshow"];
    assert_eq!(number(&test["df"]), number(&test["groups"]) - 2.0);
    let gini = number(&details["ranking"]["gini"]);
    assert!((gini - (2.0 * number(&found["auc"]["value"]) - 1.0)).abs() < 1e-12);
    assert!((number(&details["micro_f1"]) - number(&found["accuracy"]["value"])).abs() < 1e-15);
    let f1 = |class: usize| number(&details["classes"][class]["f1"]["value"]);
    assert!((number(&details["macro_f1"]) - 0.5 * (f1(0) + f1(1))).abs() < 1e-15);
    let said = scratch.done("evaluate lda.json penguins.csv --details");
    for part in ["Hosmer–Lemeshow", "Kolmogorov–Smirnov", "precision", "macro F1", "resolution"] {
        assert!(said.contains(part), "`{part}` is not in\n{said}");
    }
    // Of several classes there is no ranking, and of a perceptron no calibration.
    scratch.done("fit penguins.csv --target species -o model.json");
    assert!(
        json(&scratch.done("evaluate model.json penguins.csv --details --json"))["details"]["ranking"]["reason"]
            .is_string()
    );
    scratch.done("fit penguins.csv --target sex --drop year --model svm -o svm.json");
    let svm = json(&scratch.done("evaluate svm.json penguins.csv --details --json"));
    assert!(svm["details"]["calibration"]["reason"].is_string() && svm["details"]["macro_f1"].is_number());
    // Without probabilities the scores rank the rows.
    let against = json(&scratch.done("evaluate svm.json penguins.csv --against lda.json --json"))["against"].clone();
    assert!(against["auc"]["z"].is_number() && against["log_loss"]["reason"].is_string(), "{against}");
}

#[test]
fn a_wanted_recall_is_had_at_its_threshold() {
    let scratch = rivals();
    for (figure, share) in [("recall", 0.9), ("precision", 0.95), ("specificity", 0.97)] {
        let found = json(&scratch.done(&format!("evaluate lda.json penguins.csv --want {figure}={share} --json")));
        let target = &found["thresholds"]["targets"][0];
        let threshold = number(&target["found"]["threshold"]);
        assert!(number(&target["found"][figure]) >= share, "{target}");
        // What `--threshold` then does is what was promised.
        let judged =
            json(&scratch.done(&format!("evaluate lda.json penguins.csv --threshold {threshold} --details --json")));
        let (last, first) = (&judged["details"]["classes"][1], &judged["details"]["classes"][0]);
        let had = match figure {
            "recall" => &last["recall"],
            "precision" => &last["precision"],
            _ => &first["recall"],
        };
        assert!((number(&had["value"]) - number(&target["found"][figure])).abs() < 1e-15, "{figure}: {had} {target}");
    }
    assert!(
        scratch
            .done("evaluate lda.json penguins.csv --want recall=0.9")
            .contains("recall of at least 0.9: threshold 0.")
    );
}
