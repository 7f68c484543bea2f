//! `linsep update`: a model with rows added and taken away is the model of the rows that it then stands for.

mod common;

use common::Scratch;
use linsep::artifact::Model;
use linsep::read::{ReadOptions, read_bytes};
use linsep::watch::Watch;
use linsep::workflow::verify_table;
use serde_json::Value;

/// Methods, and the columns that they leave out.
const METHODS: [(&str, &str); 9] = [
    ("lda", "note"),
    ("lda --shrinkage 0.2", "note"),
    // A class without rows of some level has no covariance of its own.
    ("qda", "note,kind"),
    ("spherical", "note"),
    ("naive-bayes", "note"),
    ("naive-bayes --family gaussian", "note,kind"),
    ("naive-bayes --family poisson", "note,kind,a,b"),
    ("least-squares", "note"),
    ("least-squares --penalty ridge:0.01", "note"),
];

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e} in {text}"))
}

/// Rows `from..to` of a table that never changes: numbers, a count, a text column, missing cells and labels, a weight.
fn rows(from: u32, to: u32, classes: &[&str], levels: &[&str]) -> String {
    let mut csv = String::from("a,b,count,kind,s,note,y\n");
    for i in from..to {
        let k = (i * 7 % classes.len() as u32) as usize;
        let a = 10.0 + f64::from(i * 37 % 101) / 50.0 + 0.6 * k as f64;
        let b = if i % 17 == 3 { String::new() } else { format!("{}", f64::from(i * 53 % 97) / 40.0 - 0.3 * k as f64) };
        let kind = levels[(i / 2 * 5 % levels.len() as u32) as usize];
        let class = if i % 23 == 5 { "" } else { classes[k] };
        csv.push_str(&format!(
            "{a},{b},{},{kind},{},n{i},{class}\n",
            i * 11 % 7 + 1,
            [1.0, 2.5, 0.0, 1.0, 0.5][i as usize % 5]
        ));
    }
    csv
}

fn body(csv: &str) -> &str {
    csv.split_once('\n').unwrap().1
}

/// Two values agree, numbers to 1e-12 of the largest of their array.
fn close(a: &Value, b: &Value, what: &str) {
    match (a, b) {
        (Value::Array(x), Value::Array(y)) if y.iter().all(Value::is_number) => {
            let numbers = |list: &[Value]| list.iter().map(|v| v.as_f64().unwrap()).collect::<Vec<f64>>();
            let (x, y) = (numbers(x), numbers(y));
            assert_eq!(x.len(), y.len(), "{what}");
            let largest = y.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
            for (x, y) in x.iter().zip(&y) {
                assert!((x - y).abs() <= 1e-12 * largest, "{what}: {x:e} against {y:e}, largest {largest:e}");
            }
        }
        (Value::Array(x), Value::Array(y)) => {
            assert_eq!(x.len(), y.len(), "{what}");
            x.iter().zip(y).for_each(|(x, y)| close(x, y, what));
        }
        (Value::Object(x), Value::Object(y)) => {
            assert!(x.keys().eq(y.keys()), "{what}");
            x.iter().for_each(|(name, v)| close(v, &y[name], &format!("{what}.{name}")));
        }
        (x, y) => assert_eq!(x, y, "{what}"),
    }
}

/// Two models state the same discriminant, classes, recipe and counts.
fn same(scratch: &Scratch, updated: &str, all: &str, what: &str) {
    let model = |name: &str| json(&String::from_utf8(scratch.read(name)).unwrap())["model"].clone();
    let (a, b) = (model(updated), model(all));
    close(&a["discriminant"], &b["discriminant"], &format!("{what}: discriminant"));
    close(&a["units"], &b["units"], &format!("{what}: units"));
    assert_eq!(a["classes"], b["classes"], "{what}");
    for key in ["rows", "used", "missing_target", "zero_weight", "missing"] {
        assert_eq!(a["training"][key], b["training"][key], "{what}: {key}");
    }
    let names = |m: &Value| {
        let columns = m["recipe"]["columns"].as_array().unwrap().clone();
        columns.into_iter().map(|c| (c["name"].clone(), c["encoding"]["levels"].clone())).collect::<Vec<_>>()
    };
    assert_eq!(names(&a), names(&b), "{what}");
    for key in ["columns", "class_rows", "level_rows"] {
        assert_eq!(a["statistics"][key], b["statistics"][key], "{what}: {key}");
    }
}

fn three_tables(scratch: &Scratch) {
    // The new rows have a class and a level of their own; the level comes before the reference of the first.
    let (one, two) =
        (rows(0, 150, &["yes", "no"], &["low", "mid"]), rows(150, 260, &["yes", "no", "maybe"], &["high", "low"]));
    scratch.write("one.csv", &one);
    scratch.write("two.csv", &two);
    scratch.write("all.csv", format!("{one}{}", body(&two)));
}

#[test]
fn rows_that_are_added_give_the_fit_of_all() {
    let scratch = Scratch::new();
    three_tables(&scratch);
    for (method, drop) in METHODS {
        for weights in [",s", " --weights s"] {
            let flags = format!("-t y --model {method} --keep-statistics --drop {drop}{weights}");
            scratch.done(&format!("fit one.csv {flags} -o one.json"));
            scratch.done(&format!("fit all.csv {flags} -o all.json"));
            let said = scratch.done("update one.json two.csv -o two.json");
            assert!(said.contains("updated by its statistics: 110 rows added"), "{said}");
            same(&scratch, "two.json", "all.json", &flags);
            let model = |name: &str| json(&String::from_utf8(scratch.read(name)).unwrap())["model"].clone();
            // The fingerprint is that of both tables, one behind the other.
            let (a, b) = (model("two.json"), model("all.json"));
            assert_eq!(a["provenance"]["fingerprint"], b["provenance"]["fingerprint"], "{flags}");
            let verified = scratch.done("verify two.json all.csv");
            assert!(verified.contains("the table it was fitted on"), "{verified}");
            assert_ne!(scratch.run("verify two.json one.csv").code, 0, "{flags}");
            scratch.done("verify one.json one.csv");
        }
    }
}

#[test]
fn rows_that_are_taken_away_leave_the_fit_of_the_rest() {
    let scratch = Scratch::new();
    three_tables(&scratch);
    for (method, drop) in METHODS {
        let flags = format!("-t y --model {method} --keep-statistics --drop {drop},s");
        scratch.done(&format!("fit one.csv {flags} -o one.json"));
        scratch.done(&format!("fit all.csv {flags} -o all.json"));
        // The class and the level that only the second table has go with it.
        let said = scratch.done("update all.json --remove two.csv -o left.json");
        assert!(said.contains("110 rows taken away"), "{said}");
        same(&scratch, "left.json", "one.json", &flags);
        let verified = scratch.done("verify left.json one.csv");
        assert!(verified.contains("no fingerprint: rows were taken away"), "{verified}");
        assert_ne!(scratch.run("verify left.json all.csv").code, 0, "{flags}");
        // There and back again.
        scratch.done("update left.json two.csv -o again.json");
        same(&scratch, "again.json", "all.json", &flags);
        let both = scratch.done("update one.json two.csv --remove one.csv -o two.json");
        assert!(both.contains("110 rows added, 150 taken away"), "{both}");
    }
}

#[test]
fn many_small_updates_are_one_large_one() {
    let scratch = Scratch::new();
    scratch.write("all.csv", rows(0, 200, &["u", "v"], &["x"]));
    scratch.write("p0.csv", rows(0, 20, &["u", "v"], &["x"]));
    scratch.done("fit p0.csv -t y --model qda --drop note,s,kind --keep-statistics -o m.json");
    for i in 1..10 {
        scratch.write("p.csv", rows(20 * i, 20 * i + 20, &["u", "v"], &["x"]));
        scratch.done("update m.json p.csv -o n.json");
        std::fs::rename(scratch.file("n.json"), scratch.file("m.json")).unwrap();
    }
    scratch.done("fit all.csv -t y --model qda --drop note,s,kind --keep-statistics -o all.json");
    same(&scratch, "m.json", "all.json", "ten parts");
    scratch.done("verify m.json all.csv");
    let refit = scratch.done("verify m.json all.csv --refit");
    let said = refit.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("updated by its statistics"), "{refit}");
    scratch.done("predict m.json all.csv -o p.csv");
}

#[test]
fn other_methods_start_at_the_model() {
    let scratch = Scratch::new();
    let (one, two) = (rows(0, 150, &["yes", "no"], &["low", "mid"]), rows(150, 260, &["yes", "no"], &["low", "mid"]));
    scratch.write("one.csv", &one);
    scratch.write("two.csv", &two);
    scratch.write("three.csv", rows(150, 260, &["yes", "no", "maybe"], &["low"]));
    scratch.write("all.csv", format!("{one}{}", body(&two)));
    scratch.done("fit one.csv -t y --drop note,s -o one.json");
    let refused = scratch.run("update one.json two.csv -o two.json");
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("--keep-statistics") && refused.stderr.contains("--with"), "{}", refused.stderr);
    let said = scratch.done("update one.json two.csv --with one.csv -o two.json");
    assert!(said.contains("fitted on all 260 rows, starting at the model"), "{said}");
    let verified = scratch.done("verify two.json all.csv");
    assert!(verified.contains("of the optimum"), "{verified}");
    let said = scratch.done("update one.json three.csv --with one.csv -o three.json");
    assert!(said.contains("from the beginning: the class `maybe` is new"), "{said}");
    scratch.done("fit one.csv -t y --model svm --drop note,s -o svm.json");
    let said = scratch.done("update svm.json two.csv --with one.csv -o svm2.json");
    assert!(said.contains("fitted on all 260 rows"), "{said}");
    scratch.done("verify svm2.json all.csv");
}

#[test]
fn what_cannot_be_done_is_said() {
    let scratch = Scratch::new();
    three_tables(&scratch);
    scratch.done("fit one.csv -t y --model lda --drop note,s --keep-statistics -o m.json");
    let refused = |line: &str, words: &[&str]| {
        let ran = scratch.run(line);
        assert_eq!(ran.code, 2, "{line}: {}{}", ran.stdout, ran.stderr);
        words.iter().for_each(|word| assert!(ran.stderr.contains(word), "{line}: `{word}` in {}", ran.stderr));
    };
    refused("update m.json -o n.json", &["no rows are named", "--remove"]);
    refused("update m.json --remove all.csv -o n.json", &["all.csv", "maybe"]);
    scratch.write("more.csv", rows(0, 400, &["yes", "no"], &["low", "mid"]));
    refused("update m.json --remove more.csv -o n.json", &["more.csv", "not all among those of the model"]);
    refused("update m.json --remove one.csv -o n.json", &["no rows are left", "two classes"]);
    scratch.write("less.csv", "a,b,kind,s,note,y\n1,2,low,1,n,yes\n");
    refused("update m.json less.csv -o n.json", &["less.csv", "no column `count`"]);
    scratch.write("wide.csv", "a,b,count,kind,s,note,y,z\n1,2,3,low,1,n,yes,4\n");
    refused("update m.json wide.csv -o n.json", &["wide.csv", "no column `z`"]);
    scratch.write("text.csv", "a,b,count,kind,s,note,y\n1,2,few,low,1,n,yes\n");
    refused("update m.json text.csv -o n.json", &["text.csv", "line 2", "count", "few"]);
    scratch.write("blank.csv", "a,b,count,kind,s,note,y\n1,,3,low,1,n,yes\n");
    refused("update m.json blank.csv -o n.json", &["blank.csv", "cells"]);
    refused("update m.json two.csv -o two.csv", &["two.csv", "overwritten"]);
    scratch.write("header.csv", "a,b,count,kind,s,note,y\n");
    refused("update m.json header.csv -o n.json", &["header.csv"]);
    for flags in [
        "--model logistic",
        "--model lda --shrinkage auto",
        "--model lda --missing mean",
        "--model qda --calibrate temperature",
        "--model lda --transform quantile",
        "--model lda --class-weight balanced",
        "--model lda --conformal 0.9",
    ] {
        refused(&format!("fit one.csv -t y --drop note,s {flags} --keep-statistics -o n.json"), &["--keep-statistics"]);
    }
    // What is left varies too little beside what is taken away.
    let far: String = (0..40).map(|i| format!("{},{}\n", f64::from(i) * 1e6, ["u", "v"][i as usize % 2])).collect();
    let near: String =
        (0..40).map(|i| format!("{},{}\n", f64::from(i % 7) * 1e-3, ["u", "v"][i as usize % 2])).collect();
    scratch.write("far.csv", format!("x,y\n{far}"));
    scratch.write("both.csv", format!("x,y\n{near}{far}"));
    scratch.done("fit both.csv -t y --model lda --keep-statistics -o both.json");
    refused(
        "update both.json --remove far.csv -o n.json",
        &["column `x`", "too few digits", "fit the rows that are left"],
    );
    assert!(!scratch.file("n.json").exists());
}

/// Sums that do not belong to the model are refused, whatever the checksum says.
#[test]
fn statistics_of_another_size_are_refused() {
    let scratch = Scratch::new();
    three_tables(&scratch);
    scratch.done("fit one.csv -t y --model lda --drop note,s --keep-statistics -o m.json");
    let text = String::from_utf8(scratch.read("m.json")).unwrap();
    scratch.write("cut.json", &text[..text.len() / 2]);
    assert_eq!(scratch.run("update cut.json two.csv -o n.json").code, 2);
    scratch.write("edited.json", text.replacen("\"class_rows\":[", "\"class_rows\":[1,", 1));
    let ran = scratch.run("update edited.json two.csv -o n.json");
    assert_eq!((ran.code, ran.stderr.contains("checksum")), (2, true), "{}", ran.stderr);
}

/// Every number in a value, by its place.
fn leaves(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Number(_) => found.push(at.to_owned()),
        Value::Array(list) => list.iter().enumerate().for_each(|(i, v)| leaves(v, &format!("{at}/{i}"), found)),
        Value::Object(fields) => fields.iter().for_each(|(name, v)| leaves(v, &format!("{at}/{name}"), found)),
        _ => {}
    }
}

/// No number of an updated model can be edited without verify saying so.
#[test]
fn an_edited_number_is_found() {
    let scratch = Scratch::new();
    three_tables(&scratch);
    let table = read_bytes(&scratch.read("all.csv"), "all.csv", &ReadOptions::default()).unwrap();
    for (method, drop) in
        [("lda", "note,s"), ("naive-bayes", "note,s"), ("qda", "note,s,kind"), ("least-squares", "note,s")]
    {
        scratch.done(&format!("fit one.csv -t y --model {method} --drop {drop} --keep-statistics -o one.json"));
        scratch.done("update one.json two.csv -o two.json");
        let stated = json(&String::from_utf8(scratch.read("two.json")).unwrap())["model"].clone();
        let verdict = |value: &Value| match serde_json::from_value::<Model>(value.clone()) {
            Ok(model) => verify_table(&model, &table, &Watch::default()).is_ok_and(|v| v.passed()),
            Err(_) => false,
        };
        assert!(verdict(&stated), "{method}");
        let mut places = Vec::new();
        for part in ["statistics", "training", "discriminant", "units", "objective"] {
            leaves(&stated[part], &format!("/{part}"), &mut places);
        }
        assert!(places.len() > 40, "{method}: {}", places.len());
        for place in places {
            let mut edited = stated.clone();
            let leaf = edited.pointer_mut(&place).unwrap();
            *leaf = match leaf.as_u64() {
                Some(count) => Value::from(count + 1),
                None => Value::from(leaf.as_f64().unwrap() * 1.01 + 1e-3),
            };
            assert!(!verdict(&edited), "{method}: {place}");
        }
        let mut edited = stated.clone();
        edited["provenance"]["fingerprint"] = Value::from("0123456789abcdef");
        assert!(!verdict(&edited), "{method}: fingerprint");
    }
}
