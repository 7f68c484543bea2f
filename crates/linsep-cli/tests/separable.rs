//! `linsep separable`: verdicts, witnesses, exit codes.

mod common;

use common::Scratch;
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

fn asked(scratch: &Scratch, line: &str) -> (i32, Value) {
    let ran = scratch.run(line);
    assert_eq!(ran.stderr, "", "{line}");
    (ran.code, json(&ran.stdout))
}

fn with(table: &str) -> Scratch {
    let scratch = Scratch::with_examples();
    scratch.write("d.csv", table);
    scratch
}

#[test]
fn a_complete_verdict_has_a_plane_a_margin_and_hull_points() {
    let scratch = with("x,z,y\n0,5,a\n1,9,a\n4,7,b\n5,6,b\n");
    let (code, found) = asked(&scratch, "separable d.csv --target y --json --exact");
    assert_eq!(code, 0);
    assert_eq!(
        (&found["verdict"], &found["exact"], &found["complete"]),
        (&"complete".into(), &true.into(), &true.into())
    );
    let margin = found["margin"].as_f64().expect("a margin");
    let distance = found["witness"]["hull_distance"].as_f64().expect("a distance");
    assert!((2.0 * margin - distance).abs() <= 2e-6 * distance);
    // The nearest points: (1, 9) to the segment from (4, 7) to (5, 6) is nearest (4, 7); from (0, 5) to (1, 9) further along.
    let rows: Vec<u64> =
        found["witness"]["rows"].as_array().expect("rows").iter().filter_map(|r| r["line"].as_u64()).collect();
    assert!(rows.contains(&4), "{rows:?}");
    let text = scratch.run("separable d.csv --target y");
    assert!(text.stdout.starts_with("Completely separable"), "{}", text.stdout);
    assert_eq!(text.code, 0);
}

#[test]
fn a_quasi_complete_verdict_names_what_diverges() {
    // `rare` is 1 only for b; x overlaps.
    let table = "rare,x,y\n0,1,a\n0,2,b\n0,3,a\n0,4,b\n1,2,b\n1,3,b\n";
    let scratch = with(table);
    let (code, found) = asked(&scratch, "separable d.csv --target y --json --exact");
    assert_eq!(code, 1);
    assert_eq!((&found["verdict"], &found["exact"]), (&"quasi-complete".into(), &true.into()));
    assert_eq!(found["diverging"], serde_json::json!(["rare"]));
    assert_eq!(found["strict_rows"], 2);
    assert_eq!(found["boundary_rows"], serde_json::json!([1, 2, 3, 4]));
    let text = scratch.run("separable d.csv --target y").stdout;
    assert!(text.contains("diverging    `rare`:"), "{text}");
}

#[test]
fn an_overlap_has_weights_and_a_common_point() {
    let scratch = with("x,y\n0,a\n4,a\n1,b\n");
    let (code, found) = asked(&scratch, "separable d.csv --target y --json --exact");
    assert_eq!((code, &found["verdict"], &found["exact"]), (1, &"overlap".into(), &true.into()));
    let digits: Vec<&str> =
        found["witness"]["rows"].as_array().expect("rows").iter().filter_map(|r| r["exact"].as_str()).collect();
    assert_eq!(digits, ["3", "1", "4"]);
    // The same row with both labels.
    scratch.write("d.csv", "x,z,y\n1,2,a\n1,2,b\n");
    assert_eq!(asked(&scratch, "separable d.csv --target y --json").1["verdict"], "overlap");
}

#[test]
fn iris_by_every_scope() {
    let scratch = Scratch::with_examples();
    let (code, all) = asked(&scratch, "separable iris.csv --target Species --json");
    assert_eq!((code, &all["verdict"], &all["scope"]), (1, &"quasi-complete".into(), &"joint".into()));
    let further = all["further"].as_array().expect("six more");
    let verdicts: Vec<(&str, &str)> =
        further.iter().map(|f| (f["scope"].as_str().unwrap_or(""), f["verdict"].as_str().unwrap_or(""))).collect();
    assert_eq!(
        verdicts,
        [
            ("pair", "complete"),
            ("pair", "complete"),
            ("pair", "overlap"),
            ("rest", "complete"),
            ("rest", "overlap"),
            ("rest", "overlap"),
        ]
    );
    let (code, pairs) = asked(&scratch, "separable iris.csv --target Species --scope pairs --json");
    assert_eq!((code, &pairs["verdict"], &pairs["further"][1]["verdict"]), (1, &"complete".into(), &"overlap".into()));
    let text = scratch.run("separable iris.csv --target Species --scope rest").stdout;
    assert!(text.contains("the rest | setosa"), "{text}");
}

#[test]
fn missing_cells_and_weights_follow_the_usual_rules() {
    // The row that misses a cell, and the row of weight zero, would make the classes overlap.
    let scratch = with("x,w,y\n1,1,a\n2,1,a\n3,1,b\n4,1,b\n,1,a\n9,0,a\n");
    let (code, found) = asked(&scratch, "separable d.csv --target y --weights w --json");
    assert_eq!((code, &found["used"], &found["verdict"]), (0, &4.into(), &"complete".into()));
    let ran = scratch.run("separable d.csv --target y --weights w --missing error");
    assert_eq!(ran.code, 2, "{}", ran.stdout);
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let scratch = Scratch::with_examples();
    let line = "separable penguins.csv --target species --json";
    assert_eq!(scratch.run(&format!("{line} --threads 1")).stdout, scratch.run(&format!("{line} --threads 3")).stdout);
}

/// What a fit without a penalty says of the rows is what `separable` says of them.
#[test]
fn a_fit_and_the_verdict_count_the_same_rows() {
    let tables = [
        // Two classes: complete, a rare level, and two rows in common.
        "x,z,y\n0,5,a\n1,9,a\n4,7,b\n5,6,b\n",
        "rare,x,y\n0,1,a\n0,2,b\n0,3,a\n0,4,b\n1,2,b\n1,3,b\n",
        "x,z,y\n1,0,a\n2,0,a\n2,0,b\n3,0,b\n2,1,b\n2,1,b\n",
        // Three classes: c can be told from both, a and b overlap; and rows that are strict against one class only.
        "x,z,y\n0,0,a\n2,0,b\n1,0,a\n3,0,b\n2,0,a\n1,0,b\n0,9,c\n1,8,c\n",
        "x,z,y\n0,0,a\n1,0,a\n1,0,b\n2,0,b\n2,0,c\n3,0,c\n9,0,c\n-9,0,a\n",
        // A row that is missing its label, and one of weight zero, count for neither.
        "rare,x,y,w\n0,1,a,1\n0,1,,1\n0,2,b,1\n0,7,a,0\n0,3,a,2\n0,4,b,1\n1,2,b,1\n1,3,b,1\n",
    ];
    for table in tables {
        let scratch = with(table);
        let weights = if table.contains(",w\n") { " --weights w" } else { "" };
        let (_, found) = asked(&scratch, &format!("separable d.csv --target y --json{weights}"));
        let (code, fit) = asked(&scratch, &format!("fit d.csv --target y --penalty none --json{weights}"));
        assert_eq!(code, 1, "{table}");
        for key in ["verdict", "strict_rows", "boundary_rows"] {
            assert_eq!(fit[key], found[key], "{key} of {table}");
        }
        if found["verdict"] == "quasi-complete" {
            assert_eq!(fit["diverging"], found["diverging"], "{table}");
        }
        for (answer, routes) in
            [(&found, &["columns", "whole_numbers"][..]), (&fit, &["columns", "whole_numbers", "fit"])]
        {
            let route = answer["route"].as_str().expect("a route");
            assert!(routes.contains(&route), "{route} of {table}");
        }
        let text = scratch.run(&format!("separable d.csv --target y{weights}")).stdout;
        assert!(text.contains("  route        "), "{text}");
    }
}
