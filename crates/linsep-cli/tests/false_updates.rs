//! Claims that an attack on updates, rankings and columns far from zero found to be false, on its tables.

mod common;

use common::Scratch;
use serde_json::Value;

/// The exact mean of timestamps is no double, and squares of differences of means were wrong by what was lost.
#[test]
fn updates_of_columns_far_from_zero_are_the_fit_of_all_rows() {
    let scratch = Scratch::new();
    let first = [(0.0, 'a'), (1.0, 'a'), (3.0, 'a'), (2.5, 'b'), (4.0, 'b'), (6.0, 'b')];
    let more = [(2.0, 'a'), (0.5, 'a'), (5.0, 'b'), (3.5, 'b')];
    let table = |shift: f64, rows: &[(f64, char)]| -> String {
        let lines = rows.iter().map(|(t, y)| format!("{:?},{y}\n", shift + t));
        "t,y\n".chars().chain(lines.collect::<String>().chars()).collect()
    };
    for shift in [0.0, 1e6, 1.7e9, 1.7e12] {
        scratch.write("a.csv", table(shift, &first));
        scratch.write("b.csv", table(shift, &more));
        scratch.write("ab.csv", table(shift, &[&first[..], &more].concat()));
        for method in ["least-squares", "lda", "qda", "spherical", "naive-bayes"] {
            scratch.done(&format!("fit a.csv -t y -m {method} --keep-statistics -o k.json"));
            scratch.done("update k.json b.csv -o added.json");
            let ran = scratch.run("verify added.json ab.csv");
            assert_eq!(ran.code, 0, "{method} at {shift}: {}", ran.stdout);
            scratch.done("update added.json --remove b.csv -o back.json");
            let ran = scratch.run("verify back.json a.csv");
            assert_eq!(ran.code, 0, "{method} at {shift}, taken away again: {}", ran.stdout);
        }
        scratch.done("fit a.csv -t y -m least-squares --keep-statistics -o k.json");
        scratch.done("update k.json b.csv -o added.json");
        let added: Value = serde_json::from_slice(&scratch.read("added.json")).expect("JSON");
        let weight = added["model"]["discriminant"]["weights"][0].as_f64();
        // By hand in whole numbers: 116/273.
        let error = (weight.expect("a weight") - 116.0 / 273.0).abs();
        assert!(error <= 1e-12, "{shift}: {weight:?}");
    }
}

/// An update took the sums of one level for those of another where the reference was not the first level.
#[test]
fn updates_keep_a_chosen_reference() {
    let scratch = Scratch::new();
    scratch.write("a.csv", "x,g,y\n1,u,a\n2,v,b\n.5,u,a\n3,u,b\n2.5,v,a\n1.2,v,b\n");
    scratch.write("b.csv", "x,g,y\n1.5,u,a\n2.2,u,b\n.7,u,b\n2,v,a\n");
    scratch.write("ab.csv", "x,g,y\n1,u,a\n2,v,b\n.5,u,a\n3,u,b\n2.5,v,a\n1.2,v,b\n1.5,u,a\n2.2,u,b\n.7,u,b\n2,v,a\n");
    for method in ["lda", "least-squares", "naive-bayes"] {
        for reference in ["", "--reference g=u", "--reference g=v"] {
            scratch.done(&format!("fit a.csv -t y -m {method} {reference} --keep-statistics -o k.json"));
            let added = scratch.done("update k.json b.csv -o added.json");
            let ran = scratch.run("verify added.json ab.csv");
            assert_eq!(ran.code, 0, "{method} {reference}: {added}{}", ran.stdout);
            scratch.done("update added.json --remove b.csv -o back.json");
            let ran = scratch.run("verify back.json a.csv");
            assert_eq!(ran.code, 0, "{method} {reference}, taken away again: {}", ran.stdout);
        }
    }
}

/// Knots and polynomials are learned from the rows: sums over columns that they make are no statistics of other rows.
#[test]
fn statistics_of_formulas_are_refused() {
    let scratch = Scratch::new();
    scratch.write("t.csv", "x,z,g,y\n0.5,-1.79,v,a\n-0.27,-0.59,u,a\n0.06,-0.96,u,a\n1.78,1.05,v,a\n1.07,0.72,v,a\n-1.17,0.5,u,a\n1.5,0.99,v,a\n0.15,-0.54,u,a\n0.25,0.18,u,b\n-1.95,2.0,v,b\n");
    for formula in ["y ~ x:g", "y ~ sqrt(x+10)+g", "y ~ poly(x,1)", "y ~ ns(x,3)", "y ~ x*z"] {
        let ran = scratch.run(&format!("fit t.csv --formula '{formula}' -m lda --keep-statistics -o k.json"));
        assert_eq!(ran.code, 2, "{formula}: {ran:?}");
        assert!(ran.stderr.contains("--formula"), "{}", ran.stderr);
    }
}

/// σ(z) is one in doubles from z = 37 on; what is left for the other class tells such rows apart.
#[test]
fn rankings_do_not_tie_where_probabilities_are_one() {
    let scratch = Scratch::new();
    scratch.write("s.csv", "a,class\n41,n\n50,n\n52,n\n55,n\n60,y\n62,y\n64,y\n70,y\n");
    for (name, weight) in [("g.json", "1"), ("h.json", "0.001"), ("back.json", "-1")] {
        scratch.done(&format!("fit -m given --plane 'a={weight}' --classes n,y --log-odds -o {name}"));
    }
    let evaluated = |model: &str| -> Value {
        serde_json::from_str(&scratch.done(&format!("evaluate {model} s.csv --details --json"))).expect("JSON")
    };
    for (model, auc) in [("g.json", 1.0), ("h.json", 1.0), ("back.json", 0.0)] {
        let found = evaluated(model);
        assert_eq!(found["auc"]["value"].as_f64(), Some(auc), "{model}: {found}");
        let text = scratch.done(&format!("evaluate {model} s.csv --details"));
        assert!(text.contains(if auc == 1.0 { "Gini 1.0000" } else { "Gini -1.0000" }), "{text}");
    }
}

/// Rows so far apart that their products are no numbers of single precision.
#[test]
fn kernel_machines_of_huge_columns_end() {
    let scratch = Scratch::new();
    scratch.write(
        "t.csv",
        "a,b,y,w\n\
         7.08142710190044e+99,-1.7784662422033554e+100,y,3.0\n\
         9.300096996692218e+99,-1.458399984014738e+100,x,1.0\n\
         3.9819491214293936e+99,-2.8587736278104525e+99,x,2.0\n\
         -3.396060993054223e+99,3.1588147894179146e+99,x,1.0\n\
         -1.2080665247698812e+99,-1.0170611716565203e+100,x,1.0\n\
         1.7608468601997577e+100,1.505762473676794e+100,y,1.0\n\
         8.41695436008008e+99,4.259540925204834e+98,y,1.0\n\
         3.749434948459748e+99,-2.510684001276116e+100,x,1.0\n",
    );
    let ran = scratch.run(
        "fit t.csv -t y --features a,b --weights w -m svm --kernel rbf --standardize no --time-limit 30 -o m.json",
    );
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(scratch.run("verify m.json t.csv").code, 0);
}

/// A column left out for its printed digits is no lack of rank, and the gap is that of the model without it.
#[test]
fn a_column_left_out_qualifies_what_is_proved() {
    let scratch = Scratch::new();
    scratch.write("t.csv", "x0,x1,x2,y\n2.05,.57,.48,a\n.46,-.7,1.01,b\n-1.16,-.68,.8,a\n.65,1.86,-.38,b\n");
    let fitted = scratch.done("fit t.csv -t y -m least-squares -o m.json");
    assert!(fitted.contains("left out"), "{fitted}");
    assert!(!fitted.contains("rank 2 of 3"), "{fitted}");
    assert!(fitted.contains("of the optimum without the columns left out"), "{fitted}");
    let verified = scratch.done("verify m.json t.csv");
    assert!(verified.replace("\n         ", " ").contains("without the columns left out"), "{verified}");
}

/// Differences of class means are taken before they are rounded: two tests that are the same for two classes agree.
#[test]
fn tests_of_means_do_not_depend_on_a_common_offset() {
    let scratch = Scratch::new();
    let rows = [(0, 'p'), (1, 'q'), (3, 'p'), (2, 'q'), (8, 'p'), (5, 'q'), (1, 'p'), (4, 'q'), (2, 'p')];
    for shift in [0i64, 1_700_000_000_000, 1_700_000_000_000_000] {
        let lines: String = rows.iter().map(|(t, y)| format!("{},{y}\n", shift + t)).collect();
        scratch.write("t.csv", format!("t,y\n{lines}"));
        let found: Value = serde_json::from_str(&scratch.done("infer t.csv -t y -m lda --json")).expect("JSON");
        let tests = found["equal_means"].as_array().expect("tests");
        let exact: Vec<f64> = tests.iter().filter_map(|t| t["f"].as_f64()).collect();
        assert!(exact.len() >= 2, "{found}");
        for f in exact {
            // In whole numbers: 7/549.
            assert!((f - 7.0 / 549.0).abs() <= 1e-9, "{shift}: {f}");
        }
    }
}

/// A second fit does not repeat the search that chose its settings, and verify may not say that nothing is left to check.
#[test]
fn a_second_fit_does_not_vouch_for_the_search() {
    let scratch = Scratch::with_examples();
    scratch.done("tune iris.csv -t Species --penalty ridge --lambdas 3 --folds 3 -o m.json");
    let verified = scratch.done("verify m.json iris.csv --refit");
    assert!(verified.contains("not checked: the search over settings"), "{verified}");
}

/// The least possible loss of a logistic truth is a mean over drawn rows, and says so.
#[test]
fn ideal_losses_that_were_drawn_have_a_standard_error() {
    let scratch = Scratch::new();
    scratch.done("simulate logistic --weights 1,-2 --intercept 0.5 --rows 500 --seed 4 -o d.csv");
    scratch.done("fit -m given --parameters d.truth.json -o t.json");
    let shown = scratch.done("inspect t.json --truth d.truth.json");
    let line = shown.lines().find(|l| l.contains("cross entropy")).expect("a line");
    assert!(line.contains('±'), "{shown}");
}
