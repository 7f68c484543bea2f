//! `linsep describe`.

mod common;

use common::Scratch;
use serde_json::Value;

fn described(scratch: &Scratch, line: &str) -> Value {
    serde_json::from_str(&scratch.done(&format!("describe {line} --json -q"))).expect("JSON")
}

#[test]
fn figures_are_those_of_plain_loops() {
    let scratch = Scratch::with_examples();
    let found = described(&scratch, "iris.csv --target Species");
    let csv = String::from_utf8(scratch.read("iris.csv")).expect("text");
    for (j, name) in ["Sepal.Length", "Sepal.Width", "Petal.Length", "Petal.Width"].iter().enumerate() {
        let mut x: Vec<f64> =
            csv.lines().skip(1).map(|l| l.split(',').nth(j).expect("a cell").parse().expect("a number")).collect();
        x.sort_by(f64::total_cmp);
        let n = x.len() as f64;
        let mean = x.iter().sum::<f64>() / n;
        let moment = |p: i32| x.iter().map(|v| (v - mean).powi(p)).sum::<f64>() / n;
        let column = &found["columns"][j];
        let figure = |name: &str| column["figures"][name].as_f64().expect("a number");
        assert_eq!(column["name"], *name);
        assert_eq!((column["kind"].as_str(), column["becomes"].as_str()), (Some("number"), Some("number")));
        assert_eq!((figure("min"), figure("max")), (x[0], x[x.len() - 1]));
        assert!((figure("median") - 0.5 * (x[74] + x[75])).abs() < 1e-12);
        assert!((figure("mean") - mean).abs() < 1e-12);
        assert!((figure("deviation") - (moment(2) * n / (n - 1.0)).sqrt()).abs() < 1e-12);
        assert!((figure("skew") - moment(3) / moment(2).powf(1.5)).abs() < 1e-10);
        x.dedup();
        assert_eq!(column["levels"].as_u64(), Some(x.len() as u64));
    }
    assert_eq!(found["columns"][4]["becomes"], "target");
    assert_eq!(found["classes"].as_array().map(Vec::len), Some(3));
    // The one pair of equal rows in these data.
    assert_eq!(found["duplicate_rows"]["rows"], 1);
    assert_eq!(found["duplicate_rows"]["lines"], serde_json::json!([103, 144]));
    assert_eq!(found["contradictory_rows"], Value::Null);
}

#[test]
fn what_is_odd_is_named() {
    let scratch = Scratch::new();
    let mut csv = String::from("id,price,copy,flat,empty,code,y\n");
    for i in 0..40 {
        let y = if i % 3 == 0 { "a" } else { "b" };
        csv.push_str(&format!("k{i},\"{i},5\",{},1,,{},{y}\n", 2 * i, i));
    }
    csv.push_str("k1,\"1,5\",2,1,,1,a\n");
    scratch.write("t.csv", csv);
    let found = described(&scratch, "t.csv --target y");
    let column = |name: &str| {
        let all = found["columns"].as_array().expect("columns");
        all.iter().find(|c| c["name"] == name).unwrap_or_else(|| panic!("no {name}")).clone()
    };
    assert_eq!(column("flat")["becomes"], "constant");
    assert_eq!((column("empty")["becomes"].as_str(), column("empty")["missing"].as_u64()), (Some("empty"), Some(41)));
    let price = &column("price")["questions"][0];
    assert_eq!((price["line"].as_u64(), price["code"].as_str()), (Some(2), Some("number_style")));
    assert!(price["setting"].as_str().is_some_and(|s| s.contains("--decimal")), "{price}");
    assert_eq!(found["correlated"][0]["first"], "copy");
    assert_eq!(found["correlated"][0]["second"], "code");
    assert_eq!(found["contradictory_rows"]["lines"], serde_json::json!([3, 42]));
    let text = scratch.done("describe t.csv --target y -q");
    for said in ["constant", "nearly the same", "another label", "for example line 3", "questions", "2 classes"] {
        assert!(text.contains(said), "{said}\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn numbers_of_any_size_and_sparse_rows() {
    let scratch = Scratch::new();
    scratch.write("big.csv", "x,y\n1e300,a\n-1e300,b\n1e300,a\n-1e300,b\n");
    let found = described(&scratch, "big.csv");
    assert_eq!(found["columns"][0]["figures"]["mean"], 0.0);
    let deviation = found["columns"][0]["figures"]["deviation"].as_f64().expect("finite");
    assert!((deviation / 1e300 - (4.0f64 / 3.0).sqrt()).abs() < 1e-12, "{deviation}");
    assert_eq!(found["columns"][0]["figures"]["skew"], 0.0);
    scratch.write("s.svm", "1 3:1 7:2\n0 1:1\n");
    let found = described(&scratch, "s.svm");
    assert_eq!(found["sparse"], serde_json::json!({"columns": 7, "stored": 3}));
    assert!(scratch.done("describe s.svm -q").contains("7 without names (3 entries stored"));
}

#[test]
fn a_measurement_is_no_target() {
    let scratch = Scratch::new();
    let rows: String = (0..200).map(|i| format!("{},{}\n", i % 7, 0.5 * f64::from(i))).collect();
    scratch.write("t.csv", format!("x,y\n{rows}"));
    assert_eq!(described(&scratch, "t.csv --target y")["looks_like_regression"], true);
    assert!(scratch.done("describe t.csv --target y -q").contains("this looks like regression"));
    let ran = scratch.run("fit t.csv --target y");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("this looks like regression"), "{}", ran.stderr);
}

/// Times, months and dates as numbers are asked about: they would be levels or numbers without a word.
#[test]
fn moments_that_are_not_read_are_asked_about() {
    let scratch = Scratch::new();
    let mut text = "time,month,named,compact,plain,y\n".to_owned();
    for i in 0..40 {
        let names = ["Jan", "Feb", "Mar"];
        let compact = format!("2024{:02}{:02}", 1 + i % 12, 1 + i * 7 % 28);
        let label = ["a", "b"][i / 3 % 2];
        let plain = 10_000_000 + i;
        text += &format!(
            "{}:{:02},2024-{:02},{} {} 2024,{compact},{plain},{label}\n",
            i % 24,
            i,
            1 + i % 12,
            1 + i % 28,
            names[i % 3]
        );
    }
    scratch.write("d.csv", &text);
    let found: Value = serde_json::from_str(&scratch.done("describe d.csv -t y --json -q")).unwrap();
    let asked: Vec<(&str, Vec<&str>)> = found["columns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| {
            let codes = c["questions"].as_array().unwrap().iter().map(|q| q["code"].as_str().unwrap()).collect();
            (c["name"].as_str().unwrap(), codes)
        })
        .collect();
    for name in ["time", "month", "named", "compact"] {
        assert!(asked.iter().any(|(n, codes)| *n == name && codes.contains(&"unread_dates")), "{name}: {asked:?}");
    }
    assert!(asked.iter().all(|(n, codes)| *n != "plain" || !codes.contains(&"unread_dates")), "{asked:?}");
    // As text they are what was asked for.
    let text = scratch.done("describe d.csv -t y --json -q --text time,month,named,compact");
    assert!(!text.contains("unread_dates"), "{text}");
}
