//! Every `console` block of the README and the documents, and every example of every help text, is run.
//!
//! In a block, `$ linsep …` (or `$ cargo run --release -- …`) is run and its output compared line by line: `...` alone
//! on a line stands for any lines, `[..]` for anything within a line, `| head -N` keeps N lines, and `$ echo $?` shows
//! the exit code of the line before, which is otherwise 0. Numbers with a decimal point may differ by 0.2 % or by one in
//! the last digit: a solver stops anywhere within its tolerance, and processors round differently.

mod common;

use common::{Ran, Scratch, root, words};
use std::path::{Path, PathBuf};

struct Example {
    line: usize,
    command: String,
    output: Vec<String>,
}

/// The examples in the `console` blocks of a document.
fn examples(markdown: &str) -> Vec<Example> {
    let mut found: Vec<Example> = Vec::new();
    let mut inside = false;
    for (number, line) in markdown.lines().enumerate() {
        match line {
            "```console" => inside = true,
            "```" => inside = false,
            _ if !inside => {}
            _ => match line.strip_prefix("$ ") {
                Some(command) => {
                    found.push(Example { line: number + 1, command: command.to_owned(), output: Vec::new() })
                }
                None => {
                    let last =
                        found.last_mut().unwrap_or_else(|| panic!("line {}: output before a command", number + 1));
                    last.output.push(line.to_owned());
                }
            },
        }
    }
    found
}

/// Runs one line and returns what a terminal would show.
fn run(scratch: &Scratch, command: &str) -> (Vec<String>, i32) {
    let (command, head) = match command.split_once(" | head -") {
        Some((command, n)) => (command, n.trim().parse().expect("head takes a number")),
        None => (command, usize::MAX),
    };
    let arguments = ["linsep ", "cargo run --release -- "].iter().find_map(|p| command.strip_prefix(p));
    let arguments = arguments.unwrap_or_else(|| panic!("`{command}` is not a linsep command"));
    let Ran { code, stdout, stderr } = scratch.run(arguments);
    (stdout.lines().take(head).chain(stderr.lines()).map(str::to_owned).collect(), code)
}

/// Whether a line is as expected, `[..]` standing for anything.
fn line_matches(expected: &str, line: &str) -> bool {
    let mut parts = expected.split("[..]");
    let first = parts.next().unwrap_or("");
    let Some(mut rest) = line.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// The worth of one in the last digit of a decimal number.
fn last_place(number: &str) -> f64 {
    let digits = number.split('.').nth(1).map_or(0, |d| d.chars().take_while(char::is_ascii_digit).count());
    0.1f64.powi(digits as i32)
}

/// Whether two lines say the same but for the last digits of their numbers.
fn nearly_same(expected: &str, line: &str) -> bool {
    let same = |a: &str, b: &str| match (a.contains('.'), a.parse::<f64>(), b.parse::<f64>()) {
        (true, Ok(x), Ok(y)) => (x - y).abs() <= (2e-3 * x.abs().max(y.abs())).max(1.01 * last_place(a)),
        _ => a == b,
    };
    let indent = |text: &str| text.len() - text.trim_start().len();
    let (a, b): (Vec<&str>, Vec<&str>) = (expected.split_whitespace().collect(), line.split_whitespace().collect());
    let starts = a.first().is_none_or(|w| w.parse::<f64>().is_ok()) || indent(expected) == indent(line);
    starts && a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| same(a, b))
}

/// Whether lines are as expected, `...` standing for any lines.
fn matches(expected: &[String], lines: &[String]) -> bool {
    match expected.split_first() {
        None => lines.is_empty(),
        Some((dots, rest)) if dots == "..." => (0..=lines.len()).any(|skip| matches(rest, &lines[skip..])),
        Some((first, rest)) => {
            let fits = |line: &String| line_matches(first, line) || nearly_same(first, line);
            lines.first().is_some_and(fits) && matches(rest, &lines[1..])
        }
    }
}

fn documents() -> Vec<PathBuf> {
    let docs = std::fs::read_dir(root().join("docs")).expect("there are documents");
    let mut paths: Vec<PathBuf> =
        docs.flatten().map(|e| e.path()).filter(|p| p.extension() == Some("md".as_ref())).collect();
    paths.push(root().join("README.md"));
    paths.sort();
    paths
}

/// A directory like a newcomer's: the example tables at hand, and in `examples/` as in the repository.
fn newcomer() -> Scratch {
    let scratch = Scratch::with_examples();
    std::fs::create_dir(scratch.file("examples")).expect("a directory can be made");
    for name in ["penguins.csv", "iris.csv"] {
        std::fs::copy(scratch.file(name), scratch.file("examples").join(name)).expect("an example can be copied");
    }
    scratch
}

/// Runs the examples of one document in order in one directory.
fn check(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).expect("a document can be read");
    let scratch = newcomer();
    let (mut faults, mut code) = (Vec::new(), 0);
    let all = examples(&text);
    for (i, example) in all.iter().enumerate() {
        let place = format!("{}:{}: $ {}", path.display(), example.line, example.command);
        if example.command == "echo $?" {
            if example.output != [code.to_string()] {
                faults.push(format!("{place}\nthe exit code was {code}"));
            }
            continue;
        }
        let (mut lines, ended) = run(&scratch, &example.command);
        code = ended;
        let shown_next = all.get(i + 1).is_some_and(|next| next.command == "echo $?");
        if code != 0 && !shown_next {
            faults.push(format!("{place}\nthe exit code was {code}, and no `$ echo $?` says so"));
        }
        let mut expected = example.output.clone();
        // Blank lines around an example belong to the page.
        [&mut lines, &mut expected].into_iter().for_each(|v| {
            while v.last().is_some_and(|l| l.trim().is_empty()) {
                v.pop();
            }
        });
        if !matches(&expected, &lines) {
            faults.push(format!("{place}\nthe output was:\n{}", lines.join("\n")));
        }
    }
    faults
}

#[test]
fn every_console_block_is_true() {
    let faults: Vec<String> = documents().iter().flat_map(|path| check(path)).collect();
    assert!(faults.is_empty(), "{} faults\n\n{}", faults.len(), faults.join("\n\n"));
}

#[test]
fn the_documents_have_examples() {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("there is a README");
    let shown: String = examples(&readme).iter().map(|e| format!("{}\n", e.command)).collect();
    for command in ["fit", "predict", "evaluate", "inspect", "verify"] {
        assert!(shown.contains(&format!(" {command} ")), "the README does not show `{command}`");
    }
}

#[test]
fn every_help_example_runs() {
    let scratch = newcomer();
    // What the examples of the other subcommands start from.
    scratch.done("fit penguins.csv --target species -o model.json");
    for command in [
        "",
        "fit",
        "predict",
        "evaluate",
        "guarantee",
        "inspect",
        "verify",
        "geometry",
        "separable",
        "path",
        "update",
        "plot",
        "simulate",
    ] {
        let help = scratch.done(&format!("{command} --help"));
        let lines: Vec<&str> = help.lines().filter_map(|l| l.strip_prefix("  linsep ")).collect();
        assert!(!lines.is_empty(), "`{command} --help` has no example");
        for line in lines {
            let ran = scratch.run(line);
            // Penguins are separable: maximum likelihood does not exist, and that is the answer.
            let no = ["--penalty none", "separable penguins.csv --target sex", "separable iris.csv"];
            let expected = i32::from(no.iter().any(|part| line.contains(part)));
            assert_eq!(ran.code, expected, "linsep {line}\n{}", ran.stderr);
            assert_eq!(ran.stderr, "", "linsep {line}");
        }
    }
}

#[test]
fn every_flag_is_documented() {
    let scratch = Scratch::new();
    let document = std::fs::read_to_string(root().join("docs/command.md")).expect("the command is documented");
    for command in [
        "fit",
        "predict",
        "evaluate",
        "guarantee",
        "inspect",
        "verify",
        "geometry",
        "separable",
        "path",
        "update",
        "simulate",
    ] {
        let help = scratch.done(&format!("{command} --help"));
        for line in help.lines().map(str::trim_start).filter(|l| l.starts_with('-') && !l.starts_with("- ")) {
            for flag in words(line).iter().filter(|w| w.starts_with("--")) {
                assert!(document.contains(&format!("`{flag}")), "docs/command.md does not mention {flag} of {command}");
            }
        }
    }
}

#[test]
fn the_matcher_elides() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<String>>();
    assert!(matches(&lines("a\n...\nd"), &lines("a\nb\nc\nd")));
    assert!(matches(&lines("a\n...\nd"), &lines("a\nd")));
    assert!(!matches(&lines("a\n...\nd"), &lines("a\nb")));
    assert!(line_matches("x = [..], y = 2", "x = 17, y = 2"));
    assert!(!line_matches("x = [..], y = 2", "x = 17, y = 3"));
    assert!(!line_matches("x", "xy"));
    assert!(nearly_same("  weight  0.4331  -1.020", "  weight   0.4332  -1.020"));
    assert!(!nearly_same("  weight  0.4331", "  weight  0.4431"));
    assert!(!nearly_same("333 rows", "334 rows"));
    assert!(!nearly_same("  indented", "indented"));
}
