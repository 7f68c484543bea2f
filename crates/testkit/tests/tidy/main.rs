//! The invariants of ARCHITECTURE.md, held by reading the source.

mod constants;
mod cycles;
mod flags;
mod names;
mod sources;

use sources::{code, library, root, sources};
use std::collections::BTreeSet;

/// The stages in order: a module imports only from those before it.
const STAGES: [&str; 31] = [
    "numeric",
    "words",
    "error",
    "role",
    "options",
    "watch",
    "linalg",
    "density",
    "table",
    "sample",
    "read",
    "design",
    "kernel",
    "stats",
    "objective",
    "certify",
    "partitions",
    "separate",
    "solve",
    "discriminant",
    "geometry",
    "resample",
    "model",
    "infer",
    "decide",
    "evaluate",
    "artifact",
    "workflow",
    "report",
    "classifiers",
    "prelude",
];

/// Imports that the order would allow and the design does not: (path prefix, stage, why).
const NEVER: [(&str, &str, &str); 10] = [
    ("certify", "solve", "a proof must not know how the solution was found"),
    ("objective/loss", "design", "a loss sees labels and scores, never features"),
    ("objective/loss", "linalg", "a loss sees labels and scores, never features"),
    ("objective/penalty", "design", "a penalty sees weights, never features"),
    ("stats", "objective", "statistics know no method"),
    ("discriminant", "solve", "a discriminant knows no method"),
    ("geometry", "solve", "geometry is that of a function, however it was found"),
    ("decide", "model", "a decision sees scores only"),
    ("evaluate", "model", "a judge must not know whom it judges"),
    ("report", "solve", "a report tells what the model file holds"),
];

/// Hash tables that are allowed: their iteration order must not reach a result.
const HASH_TABLES: [(&str, &str); 1] = [("read/csv/header.rs", "only looked up by column name, never iterated")];

/// Files longer than [`LONGEST`], with their own limit and the reason.
const LONG_FILES: [(&str, usize, &str); 0] = [];

/// Lines of a file before its tests.
const LONGEST: usize = 450;

/// The stage a file belongs to; `None` for `lib.rs`.
fn stage(name: &str) -> Option<&str> {
    let first = name.split('/').next().unwrap_or(name);
    let first = first.strip_suffix(".rs").unwrap_or(first);
    (first != "lib").then_some(first)
}

/// The stages that code names after `crate::`, also in braces: `use crate::{error::Error, table::Table}`.
fn imported(code: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        let word = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
        match rest.strip_prefix('{') {
            None => found.extend([word(rest)]),
            Some(list) => {
                let mut depth = 0;
                let mut starts = vec![0];
                for (i, c) in list.char_indices() {
                    match c {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' if depth == 0 => starts.push(i + 1),
                        _ => {}
                    }
                }
                found.extend(starts.into_iter().map(|s| word(list[s..].trim_start())));
            }
        }
    }
    found.retain(|w| STAGES.contains(&w.as_str()));
    found
}

fn assert_none(rule: &str, faults: &[String]) {
    assert!(faults.is_empty(), "{rule}:\n  {}", faults.join("\n  "));
}

#[test]
fn imports_follow_the_stages() {
    let mut faults = Vec::new();
    for source in library() {
        let Some(own) = stage(&source.name) else { continue };
        let Some(place) = STAGES.iter().position(|s| *s == own) else {
            faults.push(format!("{}: the stage `{own}` has no place in the order", source.name));
            continue;
        };
        for other in imported(&source.code.join("\n")).iter().filter(|o| *o != own) {
            if STAGES[place..].contains(&other.as_str()) {
                faults.push(format!("{} imports {other}, a later stage", source.name));
            }
        }
    }
    assert_none("a module imports only from stages above it", &faults);
}

#[test]
fn some_imports_are_never_made() {
    let mut faults = Vec::new();
    for source in library() {
        let imports = imported(&source.code.join("\n"));
        for (prefix, other, why) in NEVER {
            if source.name.starts_with(&format!("{prefix}/")) && imports.contains(other) {
                faults.push(format!("{} imports {other}: {why}", source.name));
            }
        }
    }
    assert_none("forbidden imports", &faults);
}

/// The lines of the library's code that contain one of some words.
fn lines_with(words: &[&str], skip: impl Fn(&str) -> bool) -> Vec<String> {
    let mut faults = Vec::new();
    for source in library().iter().filter(|s| !skip(&s.name)) {
        for (number, line) in source.code.iter().enumerate() {
            if let Some(word) = words.iter().find(|w| line.contains(**w)) {
                faults.push(format!("{}, line {}: {word}", source.name, number + 1));
            }
        }
    }
    faults
}

#[test]
fn the_library_never_prints_and_never_exits() {
    // `eprint!` and `eprintln!` end in the first two.
    let words = ["print!(", "println!(", "dbg!(", "process::exit", "process::abort"];
    assert_none("the library takes an observer; the command prints", &lines_with(&words, |_| false));
}

#[test]
fn results_know_no_hash_order() {
    let skip = |name: &str| HASH_TABLES.iter().any(|(file, _)| *file == name);
    let faults = lines_with(&["HashMap", "HashSet", "RandomState"], skip);
    assert_none("hash tables outside the allow-list", &faults);
    for source in library().iter().filter(|s| skip(&s.name)) {
        assert!(source.text.contains("HashMap"), "{} needs no place in the allow-list any more", source.name);
    }
}

#[test]
fn linear_algebra_stays_sequential_and_in_its_room() {
    let outside = lines_with(&["faer::"], |name| name.starts_with("linalg/"));
    assert_none("faer stays behind linalg", &outside);
    assert_none("faer's own threads change bits", &lines_with(&["Par::rayon", "Par::Rayon"], |_| false));
}

#[test]
fn the_clock_is_the_watch() {
    let faults = lines_with(&["Instant::now", "SystemTime"], |name| name == "watch.rs");
    assert_none("only the watch looks at the clock", &faults);
}

#[test]
fn nothing_is_left_undone() {
    let marks = ["TODO", "FIXME", "XXX", "todo!", "unimplemented!"];
    let mut faults = Vec::new();
    let directories = [
        "crates/linsep/src",
        "crates/linsep-cli/src",
        "crates/linsep-plot/src",
        "crates/linsep-py/src",
        "crates/linsep/tests",
        "crates/testkit/src",
    ];
    for directory in directories {
        if !root().join(directory).is_dir() {
            continue;
        }
        for source in sources(directory) {
            for (number, line) in source.text.lines().enumerate() {
                if let Some(mark) = marks.iter().find(|m| line.contains(**m)) {
                    faults.push(format!("{directory}/{}, line {}: {mark}", source.name, number + 1));
                }
            }
        }
    }
    assert_none("finish it or leave it out", &faults);
}

#[test]
fn files_are_short() {
    let mut faults = Vec::new();
    for directory in ["crates/linsep/src", "crates/linsep-cli/src", "crates/linsep-plot/src", "crates/linsep-py/src"] {
        for source in sources(directory) {
            let own = LONG_FILES.iter().find(|(file, ..)| directory.ends_with("linsep/src") && *file == source.name);
            let limit = own.map_or(LONGEST, |(_, limit, _)| *limit);
            if source.code.len() > limit {
                faults.push(format!(
                    "{} has {} lines before its tests, more than {limit}",
                    source.name,
                    source.code.len()
                ));
            }
        }
    }
    assert_none("split it by nouns", &faults);
}

#[test]
fn every_public_module_is_on_the_map() {
    let map = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("there is an ARCHITECTURE.md");
    let lib = std::fs::read_to_string(root().join("crates/linsep/src/lib.rs")).expect("there is a library");
    let modules: Vec<&str> =
        lib.lines().filter_map(|l| l.strip_prefix("pub mod ")).map(|l| l.trim_end_matches(';')).collect();
    assert!(modules.len() >= 10, "lib.rs lists its modules one per line");
    let faults: Vec<String> = modules
        .iter()
        .filter(|m| !map.contains(&format!("\n  {m}/")) && !map.contains(&format!("\n  {m}.rs")))
        .map(|m| format!("`{m}` is not in the code map"))
        .collect();
    assert_none("ARCHITECTURE.md maps every public module", &faults);
    let unordered: Vec<String> =
        modules.iter().filter(|m| !STAGES.contains(m)).map(|m| format!("`{m}` has no place in the order")).collect();
    assert_none("every public module is a stage", &unordered);
}

#[test]
fn the_reader_of_imports_reads() {
    let found = imported("use crate::{error::{Error, Result}, table::Table};\nlet x = crate::solve::y();");
    assert_eq!(found.into_iter().collect::<Vec<_>>(), ["error", "solve", "table"]);
    assert_eq!(code("a // crate::solve\n#[cfg(test)]\nmod tests {\n}").len(), 1);
    assert_eq!(stage("read/csv/mod.rs"), Some("read"));
    assert_eq!(stage("lib.rs"), None);
}
