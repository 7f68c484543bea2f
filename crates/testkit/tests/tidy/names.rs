//! A name belongs to one type: whoever searches for it finds it.

use super::sources::{assert_shrinking, library};
use std::collections::BTreeMap;

/// The name of a struct, enum or trait that a line defines.
fn defined(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = match line.strip_prefix("pub(") {
        Some(rest) => rest.split_once(") ")?.1,
        None => line.strip_prefix("pub ").unwrap_or(line),
    };
    let rest = ["struct ", "enum ", "trait "].iter().find_map(|kind| line.strip_prefix(kind))?;
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
    (end > 0).then_some(&rest[..end])
}

#[test]
fn types_of_the_library_have_names_of_their_own() {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for source in library() {
        for name in source.code.iter().filter_map(|line| defined(line)) {
            *counts.entry(name.to_owned()).or_default() += 1;
        }
    }
    assert!(counts.len() > 200, "only {} types were found", counts.len());
    let twice: Vec<(String, usize)> = counts.into_iter().filter(|(_, count)| *count > 1).collect();
    assert_shrinking("no two structs, enums or traits of one name", "same_names.txt", &twice);
}

#[test]
fn the_reader_of_names_reads() {
    assert_eq!(defined("pub(in crate::model) struct Run<'a> {"), Some("Run"));
    assert_eq!(defined("    trait Loss: Sync {"), Some("Loss"));
    assert_eq!(defined("pub enum A {"), Some("A"));
    assert_eq!(defined("let structure = 1;"), None);
}
