//! The perceptron family at the command line: its answers, exit codes and files.

mod common;

use common::Scratch;
#[cfg(target_os = "linux")]
use common::{
    Ran,
    running::{send, wait_until_computing},
};
use serde_json::Value;
#[cfg(target_os = "linux")]
use std::process::Stdio;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e} in {text}"))
}

/// The examples, with two of the irises' species that a plane separates.
fn scratch() -> Scratch {
    let scratch = Scratch::with_examples();
    let iris = String::from_utf8(scratch.read("iris.csv")).expect("text");
    let two: String = iris.lines().filter(|l| !l.contains("virginica")).map(|l| format!("{l}\n")).collect();
    scratch.write("two.csv", two);
    scratch
}

const FAMILY: [&str; 5] =
    ["perceptron", "perceptron --update batch", "pocket", "pocket --pocket run", "averaged-perceptron"];

#[test]
fn a_perceptron_without_a_plane_is_answered_with_one_and_writes_nothing() {
    let scratch = scratch();
    let before = scratch.names();
    for model in &FAMILY[..2] {
        let ran = scratch.run(&format!("fit penguins.csv --target sex --model {model} -o m.json"));
        assert_eq!((ran.code, ran.stderr.as_str()), (1, ""), "{model}");
        for said in [
            "No plane separates the classes",
            "Proof: these 333 rows",
            "= 0, exactly",
            "No model was written",
            "pocket",
        ] {
            assert!(ran.stdout.contains(said), "{model}: {said}\n{}", ran.stdout);
        }
        // Standard output is for the model, and there is none.
        let ran = scratch.run(&format!("fit penguins.csv --target sex --model {model} -o -"));
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{model}");
        assert!(ran.stderr.contains("No plane"), "{model}");
        let ran = scratch.run(&format!("fit penguins.csv --target sex --model {model} --json"));
        let answer = json(&ran.stdout);
        assert_eq!(ran.code, 1);
        assert_eq!((&answer["model"], &answer["outcome"]), (&Value::Null, &Value::from("not_separable")));
        assert_eq!((&answer["rows"], &answer["overlapping_rows"]), (&Value::from(333), &Value::from(333)));
        assert_eq!(answer["separability"]["verdict"], "overlap");
    }
    assert_eq!(scratch.names(), before);
    // Two rows of 101 that cannot both be right are named as the reason.
    let mut rows = String::from("x,z,y\n");
    (0..50).for_each(|i| rows.push_str(&format!("{i},{},a\n{i},{},b\n", 100 + i % 7, -100 - i % 5)));
    rows.push_str("3,0,a\n3,0,b\n");
    scratch.write("touching.csv", rows);
    let ran = scratch.run("fit touching.csv --target y --model perceptron");
    assert!(ran.code == 1 && ran.stdout.contains("Proof: 2 of these 102 rows"), "{}", ran.stdout);
    // In cross-validation it is the fold's fault.
    let ran = scratch.run("fit penguins.csv --target sex --model perceptron --cv 3");
    assert!(ran.code == 2 && ran.stderr.contains("without fold 1 the classes overlap"), "{}", ran.stderr);
}

#[test]
fn separated_classes_give_a_model_that_every_subcommand_takes() {
    let scratch = scratch();
    for model in FAMILY {
        for more in ["", " --standardize no", " --intercept none --step 0.5", " --seed 7"] {
            let line = format!("fit two.csv --target Species --model {model}{more} --cv 3 -o m.json");
            let shown = scratch.done(&line);
            for said in ["no objective", "errors       0 of 100 rows", "separates the classes", " ≤ R²"] {
                assert!(shown.contains(said), "{line}: {said}\n{shown}");
            }
            let verdict = scratch.done("verify m.json two.csv");
            assert!(verdict.starts_with("verified") && verdict.contains("separates with margin"), "{line}: {verdict}");
            assert!(scratch.done("inspect m.json").contains("score of versicolor"), "{line}");
            let inspected = json(&scratch.done("inspect m.json --json"));
            let number = |key: &str| inspected["certificate"][key].as_f64().unwrap_or(f64::NAN);
            assert_eq!(inspected["certificate"]["kind"], "separates", "{line}");
            assert!(number("mistakes") <= number("bound") && number("margin") > 0.0, "{line}");
            let bound = (number("radius") * number("norm") / number("margin")).powi(2);
            // The bound is that of the plane found, or of a wider one.
            let widest = number("radius") / number("widest");
            let best = if widest.is_nan() { bound } else { widest.powi(2) };
            assert!((best / number("bound") - 1.0).abs() < 1e-12 && best <= bound, "{line}");
            assert_eq!(inspected["model"], model.split(' ').next().expect("a name"), "{line}");
            let right = json(&scratch.done("evaluate m.json two.csv --json"));
            assert_eq!((&right["accuracy"]["value"], &right["log_loss"]), (&Value::from(1.0), &Value::Null), "{line}");
            let predicted = scratch.done("predict m.json two.csv --scores --keep Species");
            assert_eq!(predicted.lines().filter(|l| l.starts_with("versicolor,versicolor,")).count(), 50, "{line}");
            scratch.done("geometry m.json two.csv");
        }
    }
}

#[test]
fn overlapping_classes_give_pockets_and_averages() {
    let scratch = scratch();
    for model in &FAMILY[2..] {
        let line = format!("fit penguins.csv --target sex --model {model} --max-iter 20 -o m.json");
        let shown = scratch.done(&line);
        for said in ["of 333 rows not strictly on their side", "the classes overlap", "20 epochs"] {
            assert!(shown.contains(said), "{line}: {said}\n{shown}");
        }
        assert!(scratch.done("verify m.json penguins.csv").contains("on the wrong side, stated"), "{line}");
        assert_eq!(json(&scratch.done("inspect m.json --json"))["certificate"]["kind"], "errors");
        // The seed decides, and nothing else.
        let first = scratch.read("m.json");
        scratch.done(&line);
        assert_eq!(scratch.read("m.json"), first, "{line}");
        scratch.done(&line.replace("-o", "--seed 1 -o"));
        assert_ne!(scratch.read("m.json"), first, "{line}");
    }
}

#[test]
fn limits_are_three() {
    let scratch = scratch();
    scratch.done("simulate separable --rows 400 --features 3 --margin 0.0001 --seed 3 -o near.csv");
    let ran = scratch.run("fit near.csv --target class --model perceptron --max-iter 2 -o m.json");
    assert_eq!((ran.code, ran.stderr.as_str()), (3, ""), "{}", ran.stdout);
    for said in ["NOT CONVERGED (iteration limit)", "a plane separates the classes", "allow more epochs"] {
        assert!(ran.stdout.contains(said), "{said}\n{}", ran.stdout);
    }
    assert!(scratch.done("verify m.json near.csv").starts_with("verified"));
    for model in &FAMILY[2..] {
        let line = format!("fit penguins.csv -t sex --model {model} --max-iter 1000000000 --time-limit 0.3 -o m.json");
        let ran = scratch.run(&line);
        assert_eq!((ran.code, ran.stderr.as_str()), (3, ""), "{line}\n{}", ran.stdout);
        assert!(ran.stdout.contains("NOT CONVERGED (time limit)"), "{line}\n{}", ran.stdout);
        assert!(scratch.done("verify m.json penguins.csv").starts_with("verified"), "{line}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_is_130_and_writes_nothing() {
    let scratch = scratch();
    let before = scratch.names();
    for model in ["pocket", "averaged-perceptron"] {
        let mut command = scratch.command();
        command.args(["fit", "penguins.csv", "-t", "sex", "-m", model, "--max-iter", "1000000000", "-o", "m.json"]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts");
        wait_until_computing(&child, 30);
        send("-INT", &child);
        let ran = Ran::of(child.wait_with_output().expect("the command ends"));
        let said = (ran.code, ran.stdout.as_str(), ran.stderr.as_str());
        assert_eq!(said, (130, "", "interrupted: nothing was written\n"), "{model}");
        assert_eq!(scratch.names(), before, "{model}");
    }
}
