//! The sources, as text.

use std::path::{Path, PathBuf};

/// A file of the sources.
pub struct Source {
    /// Path below `src`, with forward slashes.
    pub name: String,
    /// The code without comments and tests, line by line; comment lines are empty.
    pub code: Vec<String>,
    /// Everything, as it is.
    pub text: String,
}

/// The root of the checkout.
pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn rust_files(directory: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap_or_else(|e| panic!("{}: {e}", directory.display())).flatten() {
        let path = entry.path();
        if path.is_dir() {
            rust_files(&path, into);
        } else if path.extension().is_some_and(|e| e == "rs") {
            into.push(path);
        }
    }
}

/// The sources below a directory, in name order.
pub fn sources(directory: &str) -> Vec<Source> {
    let base = root().join(directory);
    let mut paths = Vec::new();
    rust_files(&base, &mut paths);
    paths.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let name = path.strip_prefix(&base).expect("below the base").to_string_lossy().replace('\\', "/");
        Source { name, code: code(&text), text }
    };
    paths.into_iter().map(read).collect()
}

/// The lines before the tests, without comments. A `//` inside a string ends the line too: harmless here.
pub fn code(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    // `mod tests;` in a file of its own leaves code after it.
    let is_tests = |i: &usize| lines[*i].trim() == "#[cfg(test)]" && lines.get(i + 1).is_some_and(|l| l.ends_with('{'));
    let end = (0..lines.len()).find(is_tests).unwrap_or(lines.len());
    lines[..end].iter().map(|l| l.split("//").next().unwrap_or("").to_owned()).collect()
}

/// The library without its test modules.
pub fn library() -> Vec<Source> {
    let is_test = |name: &str| name.contains("/tests/") || name.ends_with("/tests.rs");
    sources("crates/linsep/src").into_iter().filter(|s| !is_test(&s.name)).collect()
}

/// Lines `path count` of a list beside these tests: what is still allowed, and how often.
pub fn allowed(list: &str) -> Vec<(String, usize)> {
    let path = root().join("crates/testkit/tests/tidy").join(list);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let entry = |line: &str| {
        let (name, count) = line.rsplit_once(' ').unwrap_or_else(|| panic!("{list}: `{line}` has no count"));
        (name.to_owned(), count.parse().unwrap_or_else(|_| panic!("{list}: `{count}` is no count")))
    };
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(entry).collect()
}

/// Compares what there is with what is allowed, which may only shrink: whoever mends something shortens the list.
pub fn assert_shrinking(rule: &str, list: &str, found: &[(String, usize)]) {
    let allowed = allowed(list);
    let count = |of: &[(String, usize)], name: &str| of.iter().find(|(n, _)| n == name).map_or(0, |(_, count)| *count);
    let mut faults = Vec::new();
    for (name, now) in found {
        let most = count(&allowed, name);
        if *now > most {
            faults.push(format!("{name}: {now}, and {most} are allowed"));
        }
    }
    for (name, most) in &allowed {
        let now = count(found, name);
        if now < *most {
            faults.push(format!(
                "{name}: {now} are left of {most}; write `{name} {now}` in {list}, or take the line out"
            ));
        }
    }
    assert!(faults.is_empty(), "{rule}:\n  {}", faults.join("\n  "));
}
