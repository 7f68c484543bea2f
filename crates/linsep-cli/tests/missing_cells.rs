//! `--missing indicator`: what it makes of cells, against the same columns written out by hand.

mod common;

use common::Scratch;
use serde_json::Value;

/// Rows with and without cells: `x` misses every fifth, `kind` every seventh, `z` none.
fn rows(n: usize) -> Vec<(Option<f64>, Option<&'static str>, f64, &'static str)> {
    let row = |i: usize| {
        let x = (i % 5 != 3).then(|| (i * 37 % 101) as f64 / 10.0);
        let kind = (i % 7 != 2).then(|| ["a", "b", "c"][i * 5 % 3]);
        let z = (i * 13 % 29) as f64;
        let label = if (i * 37 % 101) + 3 * (i * 13 % 29) + 20 * (i % 4) > 110 { "yes" } else { "no" };
        (x, kind, z, label)
    };
    (0..n).map(row).collect()
}

/// As it is, and with indicators and fill-ins written out.
fn tables(n: usize) -> (String, String) {
    let rows = rows(n);
    let present: Vec<f64> = rows.iter().filter_map(|r| r.0).collect();
    let mean = present.iter().sum::<f64>() / present.len() as f64;
    let (mut plain, mut by_hand) = ("x,kind,z,y\n".to_owned(), "x,a,b,c,z,gone_x,gone_kind,y\n".to_owned());
    for (x, kind, z, y) in rows {
        let cell = x.map(|v| v.to_string()).unwrap_or_default();
        plain += &format!("{cell},{},{z},{y}\n", kind.unwrap_or(""));
        let is = |level: &str| u8::from(kind == Some(level));
        let (gone_x, gone_kind) = (u8::from(x.is_none()), u8::from(kind.is_none()));
        let x = x.unwrap_or(mean);
        by_hand += &format!("{x:?},{},{},{},{z},{gone_x},{gone_kind},{y}\n", is("a"), is("b"), is("c"));
    }
    (plain, by_hand)
}

fn scores(text: &str) -> Vec<f64> {
    text.lines().skip(1).map(|line| line.rsplit(',').next().unwrap().parse().unwrap()).collect()
}

#[test]
fn indicators_are_the_columns_written_out() {
    let scratch = Scratch::new();
    let (plain, by_hand) = tables(90);
    scratch.write("plain.csv", &plain);
    scratch.write("hand.csv", &by_hand);
    for method in ["--penalty ridge:0.1", "--penalty none --drop z --features x", "-m svm --C 0.5", "-m least-squares"]
    {
        let hand = method.replace("--features x", "--features x,gone_x").replace("--drop z ", "");
        let method = method.replace("--drop z ", "");
        let said = scratch.done(&format!("fit plain.csv -t y --missing indicator {method} -q -o plain.json"));
        scratch.done(&format!("fit hand.csv -t y {hand} -q -o hand.json"));
        assert!(said.contains("beside an indicator"), "{said}");
        scratch.done("verify plain.json plain.csv -q");
        let found = scores(&scratch.done("predict plain.json plain.csv --scores -q"));
        let wanted = scores(&scratch.done("predict hand.json hand.csv --scores -q"));
        assert_eq!(found.len(), 90, "no row is left out");
        for (found, wanted) in found.iter().zip(&wanted) {
            // The columns stand in another order, and the solvers stop at a gap of 1e-10 or so.
            assert!((found - wanted).abs() <= 1e-5 * (1.0 + wanted.abs()), "{method}: {found} and {wanted}");
        }
    }
}

#[test]
fn a_cell_that_training_never_missed_is_filled_in() {
    let scratch = Scratch::new();
    let (plain, _) = tables(60);
    scratch.write("plain.csv", &plain);
    scratch.done("fit plain.csv -t y --missing indicator --features x,z -q -o m.json");
    let model: Value = serde_json::from_slice(&scratch.read("m.json")).unwrap();
    let columns = model["model"]["recipe"]["columns"].as_array().unwrap();
    let kinds: Vec<(&str, bool)> =
        columns.iter().map(|c| (c["name"].as_str().unwrap(), c["encoding"] == "missing")).collect();
    assert_eq!(kinds, [("x", false), ("z", false), ("x", true)], "z has no indicator");
    let mean = columns[1]["encoding"]["number"]["mean"].as_f64().unwrap();
    scratch.write("gone.csv", "x,z\n4,\n");
    scratch.write("mean.csv", format!("x,z\n4,{mean:?}\n"));
    let ran = scratch.run("predict m.json gone.csv --scores");
    assert!(ran.stderr.contains("z 1"), "{}", ran.stderr);
    assert_eq!(ran.stdout, scratch.done("predict m.json mean.csv --scores -q"));
    // A level that training has not seen is missing where that is asked for.
    scratch.done("fit plain.csv -t y --missing indicator --features kind,z --unknown missing -q -o k.json");
    scratch.write("new.csv", "kind,z\nq,3\n");
    scratch.write("none.csv", "kind,z\n,3\n");
    assert_eq!(scratch.done("predict k.json new.csv --scores -q"), scratch.done("predict k.json none.csv --scores -q"));
}

#[test]
fn explanations_folds_inference_and_pictures_take_indicators() {
    let scratch = Scratch::new();
    let (plain, _) = tables(60);
    scratch.write("plain.csv", &plain);
    scratch.done("fit plain.csv -t y --missing indicator -q -o m.json");
    let explained = scratch.done("predict m.json plain.csv --explain all --row 4 -q");
    assert!(explained.contains("missing(x)"), "{explained}");
    scratch.done("fit plain.csv -t y --missing indicator --cv 5 -q");
    let inferred = scratch.done("infer plain.csv -t y --missing indicator --features x,z");
    assert!(inferred.contains("missing(x)"), "{inferred}");
    scratch.done("plot boundary m.json plain.csv --x x --y z -o p.svg -q");
    // Products are of columns, never of an indicator with what it stands for.
    let said = scratch.done("fit plain.csv -t y --missing indicator --features x,z --basis quadratic -q");
    assert!(said.contains("6 features from 2 columns"), "{said}");
}
