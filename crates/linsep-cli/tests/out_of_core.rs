//! `--memory`: tables that are larger than the memory their cells may take, with the same bits as in memory.

mod common;

use common::Scratch;
use serde_json::Value;
use std::process::Command;

/// Rows of numbers with fractions, whole numbers, text, missing cells and weights, in two classes.
fn table(rows: u32, columns: u32) -> String {
    let mut csv = (0..columns).map(|j| format!("x{j},")).collect::<String>() + "n,kind,s,y\n";
    for i in 0..rows {
        let class = u32::from(i * 7 % 13 > 5);
        for j in 0..columns {
            let noise = (i.wrapping_mul(2_654_435_761).wrapping_add(j * 40_503) >> 7) % 10_007;
            match i % 97 == 13 && j == 2 {
                true => csv.push(','),
                false => csv.push_str(&format!("{},", f64::from(noise) / 1000.0 + f64::from(class * (j % 3)) / 2.0)),
            }
        }
        csv.push_str(&format!(
            "{},{},{},{}\n",
            i % 300,
            ["u", "v", "w"][i as usize % 3],
            1 + i % 3,
            ["no", "yes"][class as usize]
        ));
    }
    csv
}

fn scratch() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("rows.csv", table(6000, 12));
    scratch
}

/// What is left besides these files.
fn leftovers(scratch: &Scratch, known: &[&str]) -> Vec<String> {
    scratch.names().into_iter().filter(|name| !known.contains(&name.as_str())).collect()
}

#[test]
fn every_method_comes_to_the_same_bits() {
    let scratch = scratch();
    for method in [
        "logistic",
        "logistic --penalty none",
        "logistic --penalty lasso:0.01",
        "svm --loss squared-hinge --penalty ridge:0.01",
        "lda",
        "qda --drop kind",
        "naive-bayes",
        "least-squares",
    ] {
        let fit = |more: &str, to: &str| {
            let line = format!("fit rows.csv --target y --weights s --missing drop --model {method} {more} -o {to}");
            let ran = scratch.run(&line);
            assert_eq!(ran.code, 0, "{line}: {}", ran.stderr);
            scratch.read(to)
        };
        let here = fit("", "here.json");
        for limit in ["--memory 0", "--memory 200kB", "--memory 1GB"] {
            assert!(fit(limit, "there.json") == here, "{method} {limit}");
        }
    }
    assert!(leftovers(&scratch, &["rows.csv", "here.json", "there.json"]).is_empty(), "{:?}", scratch.names());
}

#[test]
fn verify_predict_and_evaluate_read_from_disk_too() {
    let scratch = scratch();
    assert_eq!(scratch.run("fit rows.csv --target y --weights s -o model.json").code, 0);
    for line in ["verify model.json rows.csv", "evaluate model.json rows.csv", "predict model.json rows.csv --proba"] {
        let here = scratch.run(line);
        let there = scratch.run(&format!("{line} --memory 100kB --scratch ."));
        assert_eq!((there.code, &there.stdout), (here.code, &here.stdout), "{line}: {}", there.stderr);
    }
    assert!(leftovers(&scratch, &["rows.csv", "model.json"]).is_empty());
}

#[test]
fn a_fit_says_where_its_cells_are() {
    let scratch = scratch();
    let said = |limit: &str| -> Value {
        let ran = scratch.run(&format!("fit rows.csv --target y --json --memory {limit}"));
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        serde_json::from_str(&ran.stdout).unwrap()
    };
    let disk = said("0");
    assert_eq!(disk["storage"], "disk");
    // Twelve columns of doubles, two bytes of n, one of s, and the codes of two texts.
    assert!(disk["scratch_bytes"].as_u64().unwrap() >= 6000 * (12 * 8 + 2 + 1 + 8), "{}", disk["scratch_bytes"]);
    assert!(disk["seconds"].as_f64().unwrap() > 0.0 && disk["passes"].as_u64().unwrap() > 0);
    assert_eq!(disk["round_trips"], 0);
    let memory = said("1GB");
    assert_eq!((&memory["storage"], &memory["scratch_bytes"]), (&Value::from("memory"), &Value::from(0)));
    let summary = scratch.run("fit rows.csv --target y --memory 1kB");
    assert!(summary.stdout.contains("MB in scratch files (--memory)"), "{}", summary.stdout);
}

#[test]
fn bad_limits_and_directories_are_named() {
    let scratch = scratch();
    for (more, what) in [
        ("--memory lots", "`lots` is no amount of memory"),
        ("--memory 5XB", "`5XB` is no amount of memory"),
        ("--memory 1kB --scratch nowhere", "there is no directory `nowhere`"),
        ("--scratch .", "--memory"),
    ] {
        let ran = scratch.run(&format!("fit rows.csv --target y {more}"));
        assert_eq!(ran.code, 2, "{more}");
        assert!(ran.stderr.contains(what), "{more}: {}", ran.stderr);
    }
}

/// A method that visits single rows would bring all of them back into memory.
#[test]
fn methods_that_hold_all_rows_say_so() {
    let scratch = scratch();
    for method in ["svm --penalty ridge:0.1", "perceptron", "svm --kernel rbf"] {
        let ran = scratch.run(&format!("fit rows.csv --target y --model {method} --memory 1kB"));
        assert_eq!(ran.code, 2, "{method}");
        assert!(ran.stderr.contains("holds all rows in memory"), "{method}: {}", ran.stderr);
        assert!(ran.stderr.contains("--memory"), "{method}: {}", ran.stderr);
    }
}

/// A disk without room is an error that names the directory, not a signal: here a limit on the size of files.
#[test]
#[cfg(unix)]
fn a_full_disk_is_an_error() {
    let scratch = scratch();
    let line = format!(
        "trap '' XFSZ; ulimit -f 100; exec {} fit rows.csv --target y --memory 0",
        env!("CARGO_BIN_EXE_linsep")
    );
    let ran = Command::new("sh").args(["-c", &line]).current_dir(scratch.path()).output().unwrap();
    let stderr = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("cannot be written") && stderr.contains("--scratch"), "{stderr}");
    assert!(leftovers(&scratch, &["rows.csv"]).is_empty());
}

/// Under a limit on the memory of the process a table of many times that limit is fitted from disk.
#[test]
#[cfg(target_os = "linux")]
fn a_table_larger_than_the_memory_of_the_process() {
    let scratch = Scratch::new();
    // Rows of 2,000 bytes of cells; 40,000 of them are 80 MB. Some 90 MB are taken whatever the table is, most of them the room
    // that a reader makes sure of for the pieces that it parses.
    let (rows, columns) = (40_000, 250);
    let mut csv = (0..columns).map(|j| format!("x{j},")).collect::<String>() + "y\n";
    for i in 0..rows as u32 {
        let class = u32::from(i * 7 % 13 > 5);
        for j in 0..columns as u32 {
            let noise = (i.wrapping_mul(2_654_435_761).wrapping_add(j * 40_503) >> 9) % 997;
            csv.push_str(&format!("{},", f64::from(noise) / 8.0 + f64::from(class * (j % 2))));
        }
        csv.push_str(if class == 1 { "yes\n" } else { "no\n" });
    }
    scratch.write("wide.csv", csv);
    let under = |kilobytes: u32, more: &str| {
        let command = env!("CARGO_BIN_EXE_linsep");
        let line = format!(
            "ulimit -d {kilobytes}; exec {command} fit wide.csv --target y --model naive-bayes --threads 2 {more}"
        );
        Command::new("sh").args(["-c", &line]).current_dir(scratch.path()).output().unwrap()
    };
    let limit = 140_000;
    let without = under(limit, "");
    assert_ne!(without.status.code(), Some(0), "the table fits into the limit");
    let with = under(limit, "--memory 4MB -o model.json");
    assert_eq!(with.status.code(), Some(0), "{}", String::from_utf8_lossy(&with.stderr));
}
