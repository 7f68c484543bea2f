//! `linsep infer`: the fixed interface for programs, tables, refusals and bad input.

mod common;

use common::{Scratch, root};
use serde_json::Value;

fn scratch() -> Scratch {
    let scratch = Scratch::with_examples();
    for name in ["infer.csv", "infer_separated.csv"] {
        scratch.write(name, std::fs::read(root().join("golden/data").join(name)).expect("a golden table"));
    }
    scratch
}

fn asked(scratch: &Scratch, line: &str) -> (i32, Value) {
    let ran = scratch.run(line);
    assert_eq!(ran.stderr, "", "{line}");
    (ran.code, serde_json::from_str(&ran.stdout).unwrap_or_else(|e| panic!("{e}: {}", ran.stdout)))
}

const USED: &str = "infer infer.csv --target outcome --features age,dose,noise,group,treated";

#[test]
fn the_object_has_what_programs_were_promised() {
    let (code, found) = asked(&scratch(), &format!("{USED} --json"));
    assert_eq!(code, 0);
    let first = &found["coefficients"][0];
    for field in
        ["class", "name", "estimate", "se", "z", "p", "low", "high", "odds_ratio", "odds_low", "odds_high", "log10_p"]
    {
        assert!(first.get(field).is_some(), "{field}");
    }
    assert_eq!((&first["class"], &first["name"]), (&Value::Null, &"(intercept)".into()));
    let names: Vec<&str> =
        found["coefficients"].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["(intercept)", "age", "dose", "noise", "group=north", "group=south", "group=west", "treated"]);
    assert_eq!(found["reference"], serde_json::json!({"class": "no", "levels": {"group": "east"}}));
    assert_eq!((&found["interval"], &found["covariance"]), (&"wald".into(), &"model".into()));
    assert_eq!(found["n"], 300.0);
    let terms: Vec<&str> = found["terms"].as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap()).collect();
    assert_eq!(terms, ["age", "dose", "noise", "group", "treated"]);
    assert_eq!((&found["terms"][3]["df"], &found["terms"][3]["test"]), (&3.into(), &"likelihood ratio".into()));
    for field in ["deviance", "null_deviance", "log_likelihood", "aic", "bic"] {
        assert!(found[field].is_f64(), "{field}");
    }
    // The names are those of the model.
    let scratch = scratch();
    scratch.done("fit infer.csv --target outcome --features age,dose,noise,group,treated --penalty none -o m.json");
    let (_, model) = asked(&scratch, "inspect m.json --json");
    assert_eq!(model["features"].as_array().map(Vec::len), Some(7));
    for (name, weight) in model["features"].as_array().unwrap().iter().zip(model["weights"][0].as_array().unwrap()) {
        let line =
            found["coefficients"].as_array().unwrap().iter().find(|c| c["name"] == *name).expect("the same name");
        let (a, b) = (line["estimate"].as_f64().unwrap(), weight.as_f64().unwrap());
        assert!((a - b).abs() <= 1e-4 * line["se"].as_f64().unwrap(), "{name}: {a} {b}");
    }
}

#[test]
fn several_classes_name_their_class() {
    let line = "infer penguins.csv --target species --features flipper_length_mm,body_mass_g --json";
    let (code, found) = asked(&scratch(), line);
    assert_eq!(code, 0);
    let classes: Vec<&str> =
        found["coefficients"].as_array().unwrap().iter().map(|c| c["class"].as_str().unwrap()).collect();
    assert_eq!(classes, ["Chinstrap", "Chinstrap", "Chinstrap", "Gentoo", "Gentoo", "Gentoo"]);
    assert_eq!(found["reference"]["class"], "Adelie");
    assert_eq!(found["terms"][0]["df"], 2);
    let (_, one) = asked(
        &scratch(),
        "infer penguins.csv --target species --features flipper_length_mm,body_mass_g \
         --test 'Gentoo: flipper_length_mm = 0' --json",
    );
    assert_eq!(one["tests"][0]["df"], 1);
}

#[test]
fn separated_rows_are_an_answer_with_a_way_out() {
    let scratch = scratch();
    let ran = scratch.run("infer infer_separated.csv --target outcome");
    assert_eq!(ran.code, 1);
    for said in ["does not exist", "diverge: marker", "--firth", "supremum", "3.7e-12"] {
        assert!(ran.stdout.contains(said), "{said}: {}", ran.stdout);
    }
    assert!(!ran.stdout.contains("No model was written"), "{}", ran.stdout);
    let (code, found) = asked(&scratch, "infer infer_separated.csv --target outcome --json");
    assert_eq!((code, &found["diverging"], &found["coefficients"]), (1, &serde_json::json!(["marker"]), &Value::Null));
    assert!(found["terms"].as_array().unwrap().iter().any(|t| t["name"] == "marker"));
    let firth = scratch.done("infer infer_separated.csv --target outcome --firth --interval profile");
    assert!(firth.contains("local maximum") && !firth.contains("AIC "), "{firth}");
}

#[test]
fn tables_for_other_programs() {
    let scratch = scratch();
    let csv = scratch.done(&format!("{USED} --table csv"));
    assert_eq!(csv.lines().next(), Some("class,name,estimate,se,z,p,low,high,odds_ratio,odds_low,odds_high"));
    assert_eq!(csv.lines().count(), 9);
    let markdown = scratch.done(&format!("{USED} --table markdown"));
    assert!(markdown.lines().all(|l| l.starts_with("| ") && l.ends_with(" |")), "{markdown}");
    let latex = scratch.done(&format!("{USED} --table latex"));
    assert!(latex.starts_with("\\begin{tabular}{lrrrrrrrrr}") && latex.contains("$-1.886$"), "{latex}");
    let rows = scratch.done(&format!("{USED} --rows rows.csv --quiet"));
    assert!(rows.starts_with("Logistic regression"));
    let written = String::from_utf8(scratch.read("rows.csv")).unwrap();
    assert_eq!(
        written.lines().next(),
        Some("row,p(no),p(yes),deviance,pearson,quantile,leverage,cook,working_weight,working_response")
    );
    assert_eq!(written.lines().count(), 301);
    let at = scratch.done(&format!("{USED} --at infer.csv"));
    assert_eq!(at.lines().next(), Some("row,p(yes),low(yes),high(yes)"));
    let band = scratch.done(&format!("{USED} --at infer.csv --band scheffe"));
    let width = |text: &str| {
        let cells: Vec<f64> = text.lines().nth(1).unwrap().split(',').map(|c| c.parse().unwrap()).collect();
        cells[3] - cells[2]
    };
    assert!(width(&band) > 1.5 * width(&at));
}

#[test]
fn the_page_is_eighty_columns_wide() {
    let scratch = scratch();
    for line in [
        format!("{USED} --effects --adjust holm --test 'age, dose' --interval profile"),
        "infer infer_separated.csv --target outcome".to_owned(),
        "infer infer_separated.csv --target outcome --firth".to_owned(),
        format!("{USED} --covariance cluster:clinic"),
        "infer penguins.csv --target species --features flipper_length_mm,body_mass_g".to_owned(),
    ] {
        let text = scratch.run(&line).stdout;
        for said in text.lines() {
            assert!(said.chars().count() <= 80, "{line}: {said}");
        }
    }
}

#[test]
fn what_cannot_be_asked() {
    let scratch = scratch();
    for (line, said) in [
        (format!("{USED} --level 1.5"), "not between 0 and 1"),
        (format!("{USED} --level 0"), "not between 0 and 1"),
        (format!("{USED} --test agee"), "did you mean age"),
        (format!("{USED} --test 'age * dose = 0'"), "not linear"),
        (format!("{USED} --test 'age ='"), "empty"),
        (format!("{USED} --test 'group = 0'"), "several coefficients"),
        (format!("{USED} --test 'age = 0, age = 1'"), "same thing twice"),
        (format!("{USED} --test 'maybe: age = 0'"), "no class `maybe`"),
        (format!("{USED} --test 'no: age = 0'"), "reference class"),
        (format!("{USED} --covariance hc9"), "not a covariance"),
        (format!("{USED} --covariance cluster:nowhere"), "nowhere"),
        (format!("{USED} --covariance hc1 --interval profile"), "does not trust"),
        (format!("{USED} --covariance hc1 --firth"), "Firth"),
        (format!("{USED} --weights share"), "not frequencies"),
        ("infer infer.csv --target grade --features age --firth".into(), "two classes"),
        ("infer infer.csv --target grade --features age --effects".into(), "two classes"),
        ("infer infer.csv --target grade --features age --covariance hc3".into(), "two classes"),
        ("infer infer.csv --target outcome --features age,dose --basis products --effects".into(), "products"),
        (format!("{USED} --rows nowhere/rows.csv"), "nowhere"),
        (format!("{USED} --rows infer.csv"), "overwritten"),
    ] {
        let ran = scratch.run(&line);
        assert_eq!(ran.code, 2, "{line}: {} {}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains(said), "{line}: {}", ran.stderr);
        assert!(ran.stderr.contains("help:") || line.contains("effects"), "{line}: {}", ran.stderr);
    }
}

#[test]
fn columns_without_a_coefficient_are_named() {
    let scratch = scratch();
    let mut table = String::from("a,b,twice,one,y\n");
    for i in 0..40 {
        let a = i % 7;
        table.push_str(&format!("{a},{},{},1,{}\n", i % 5, 2 * a, if (i * i + a) % 3 == 0 { "yes" } else { "no" }));
    }
    scratch.write("d.csv", table);
    let (code, found) = asked(&scratch, "infer d.csv --target y --json");
    assert_eq!((code, &found["left_out"]), (0, &serde_json::json!(["twice", "one"])));
    let ran = scratch.run("infer d.csv --target y --test twice");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("was left out"), "{}", ran.stderr);
}

#[test]
fn a_smaller_model_is_tested_against() {
    let scratch = scratch();
    scratch.done("fit infer.csv --target outcome --features age,treated --penalty none -o small.json");
    let (code, found) = asked(&scratch, &format!("{USED} --against small.json --json"));
    assert_eq!((code, &found["tests"][0]["df"]), (0, &5.into()));
    let (_, small) = asked(&scratch, "infer infer.csv --target outcome --features age,treated --json");
    let fall = 2.0 * (found["log_likelihood"].as_f64().unwrap() - small["log_likelihood"].as_f64().unwrap());
    let ratio = found["tests"][0]["likelihood_ratio"]["statistic"].as_f64().unwrap();
    assert!((fall - ratio).abs() < 1e-8 * ratio, "{fall} {ratio}");
    scratch.done("fit infer.csv --target outcome --features age,treated -o ridge.json");
    scratch.done("fit infer.csv --target outcome --features age,count --penalty none -o other.json");
    scratch.done("fit infer.csv --target grade --features age --penalty none -o grade.json");
    for (model, said) in [
        ("ridge.json", "has a penalty"),
        ("other.json", "`count` is not among these"),
        ("grade.json", "classes"),
        ("infer.csv", "model"),
    ] {
        let ran = scratch.run(&format!("{USED} --against {model}"));
        assert_eq!(ran.code, 2, "{model}: {}", ran.stdout);
        assert!(ran.stderr.contains(said), "{model}: {}", ran.stderr);
    }
}

#[test]
fn threads_do_not_change_a_digit() {
    let scratch = scratch();
    let line = format!("{USED} --interval profile --covariance model --test 'age, dose' --effects --json");
    assert_eq!(scratch.done(&format!("{line} --threads 1")), scratch.done(&format!("{line} --threads 2")));
}

/// Without its one column a separated model has none left, which is no table without rows.
#[test]
fn one_column_that_separates_is_an_answer() {
    let scratch = Scratch::with_examples();
    scratch.write("two.csv", "a,y\n1,p\n2,p\n3,q\n4,q\n");
    scratch.write("touching.csv", "a,y\n1,p\n2,p\n2,q\n4,q\n");
    for table in ["two.csv", "touching.csv"] {
        let (code, found) = asked(&scratch, &format!("infer {table} --target y --json"));
        assert_eq!(code, 1, "{table}");
        // Twice the log-likelihood of the intercept alone is lost: 2·4·ln 2, less what rows on the boundary keep.
        let lost = found["terms"][0]["statistic"].as_f64().unwrap_or_else(|| panic!("{found}"));
        let expected = if table == "two.csv" { 8.0 * 2f64.ln() } else { 4.0 * 2f64.ln() };
        assert!((lost - expected).abs() < 1e-6, "{table}: {lost}");
    }
}

#[test]
fn a_failure_leaves_no_file_of_rows() {
    let scratch = scratch();
    let ran = scratch.run(&format!("{USED} --rows rows.csv --at nowhere.csv"));
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(!scratch.file("rows.csv").exists());
}

#[test]
fn classes_that_do_not_scatter_and_weights_that_are_no_counts_are_refused() {
    let scratch = Scratch::with_examples();
    scratch.write("still.csv", "a,y,w\n0,p,1e300\n0,p,1e300\n1,q,1e300\n1,q,1e300\n");
    for (line, what) in [
        ("infer still.csv --target y --features a --model spherical", "all columns are constant"),
        ("infer still.csv --target y --features a --model lda --weights w", "are no numbers of rows"),
        ("infer still.csv --target y --features a --model least-squares --weights w", "are no numbers of rows"),
    ] {
        let ran = scratch.run(line);
        assert_eq!(ran.code, 2, "{line}: {}", ran.stdout);
        assert!(ran.stderr.contains(what), "{line}: {}", ran.stderr);
    }
}
