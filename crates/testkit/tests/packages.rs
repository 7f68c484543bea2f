//! What is published can be: the packages say what they are, and their minimum Rust version suffices for what they need.

use serde_json::Value;
use std::collections::BTreeSet;
use std::process::Command;

const PUBLISHED: [&str; 3] = ["linsep", "linsep-cli", "linsep-plot"];

/// Everything that cargo knows of the workspace and its dependencies.
fn metadata() -> Value {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo writes JSON")
}

fn array<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn package<'a>(all: &'a Value, name: &str) -> &'a Value {
    let own = |p: &&Value| p["name"] == name && p["source"].is_null();
    array(all, "packages").iter().find(own).unwrap_or_else(|| panic!("there is a package {name}"))
}

/// `1.88` and `1.88.0` as numbers.
fn version(said: &Value) -> Option<Vec<u64>> {
    let mut parts: Vec<u64> = said.as_str()?.split('.').map(|part| part.parse().unwrap_or(0)).collect();
    parts.resize(3, 0);
    Some(parts)
}

#[test]
fn packages_say_what_they_are() {
    let all = metadata();
    for name in PUBLISHED {
        let package = package(&all, name);
        for field in ["description", "license", "readme", "rust_version", "documentation"] {
            assert!(package[field].as_str().is_some_and(|text| !text.is_empty()), "{name} has no {field}");
        }
        assert!((1..=5).contains(&array(package, "keywords").len()), "{name}: one to five keywords");
        assert!((1..=5).contains(&array(package, "categories").len()), "{name}: one to five categories");
        assert!(package["publish"].is_null(), "{name} may be published");
        for dependency in array(package, "dependencies").iter().filter(|d| d["kind"].is_null()) {
            assert_ne!(dependency["req"], "*", "{name} needs {} of some version", dependency["name"]);
        }
    }
}

/// Whoever has the minimum version can build what is published: no dependency asks for a later one.
#[test]
fn the_minimum_rust_version_is_enough() {
    let all = metadata();
    let nodes = array(&all["resolve"], "nodes");
    let mut needed: BTreeSet<&str> = BTreeSet::new();
    let mut open: Vec<&str> = PUBLISHED.iter().filter_map(|name| package(&all, name)["id"].as_str()).collect();
    while let Some(id) = open.pop() {
        if !needed.insert(id) {
            continue;
        }
        let node = nodes.iter().find(|n| n["id"] == id).expect("every package is resolved");
        let built = |d: &&Value| array(d, "dep_kinds").iter().any(|kind| kind["kind"] != "dev");
        open.extend(array(node, "deps").iter().filter(built).filter_map(|d| d["pkg"].as_str()));
    }
    assert!(needed.len() > 50, "only {} packages were found", needed.len());
    let own = version(&package(&all, PUBLISHED[0])["rust_version"]).expect("a version");
    let later = |p: &&Value| {
        p["id"].as_str().is_some_and(|id| needed.contains(id)) && version(&p["rust_version"]).is_some_and(|v| v > own)
    };
    let later: Vec<String> = array(&all, "packages")
        .iter()
        .filter(later)
        .map(|p| format!("{} {} needs Rust {}", p["name"], p["version"], p["rust_version"]))
        .collect();
    assert!(later.is_empty(), "{later:?}");
}
