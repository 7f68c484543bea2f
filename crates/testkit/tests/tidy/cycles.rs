//! Inside a stage, too, one file builds on another and not the other way round.
//!
//! The rooms of a stage are its files and its folders; a folder counts as one. What a stage's `mod.rs` hands on belongs to the
//! room it comes from, what it defines is a room of its own.

use super::sources::{Source, assert_shrinking, library};
use std::collections::{BTreeMap, BTreeSet};

/// The room of items that `mod.rs` itself defines.
const HALL: &str = "mod";

/// Every path below a place in code, braces taken apart: `a::{b::C, D}` is a::b::C and a::D.
fn paths(tree: &str) -> Vec<Vec<String>> {
    let tree = tree.trim_start();
    if let Some(list) = tree.strip_prefix('{') {
        let (mut depth, mut starts, mut end) = (0, vec![0], list.len());
        for (i, c) in list.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => {
                    end = i;
                    break;
                }
                '}' => depth -= 1,
                ',' if depth == 0 => starts.push(i + 1),
                _ => {}
            }
        }
        let ends = starts.iter().skip(1).map(|s| s - 1).chain([end]).collect::<Vec<usize>>();
        return starts.iter().zip(ends).flat_map(|(s, e)| paths(&list[*s..e])).collect();
    }
    let length = tree.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(tree.len());
    if length == 0 {
        return Vec::new();
    }
    let (word, rest) = tree.split_at(length);
    match rest.strip_prefix("::") {
        None => vec![vec![word.to_owned()]],
        Some(below) => {
            let mut found = paths(below);
            found.iter_mut().for_each(|path| path.insert(0, word.to_owned()));
            if found.is_empty() { vec![vec![word.to_owned()]] } else { found }
        }
    }
}

/// The stage, the room and how many `super::` lead to the stage.
fn place(name: &str) -> Option<(&str, &str, usize)> {
    let mut parts: Vec<&str> = name.split('/').collect();
    let file = parts.pop()?.strip_suffix(".rs")?;
    let stage = *parts.first()?;
    let room = match parts.get(1) {
        Some(folder) => folder,
        None => file,
    };
    let depth = parts.len() - usize::from(file == "mod");
    Some((stage, room, depth))
}

/// What `mod.rs` hands on: the room of each name.
fn handed_on(code: &str, rooms: &BTreeSet<&str>) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for (at, _) in code.match_indices("use ") {
        let statement = code[at + 4..].split(';').next().unwrap_or("");
        for path in paths(statement.trim_start_matches("self::")) {
            if let [room, .., name] = &path[..]
                && rooms.contains(room.as_str())
            {
                found.insert(name.clone(), room.clone());
            }
        }
        // `A as B` is B.
        for (at, _) in statement.match_indices(" as ") {
            let alias: String = statement[at + 4..].chars().take_while(|c| c.is_alphanumeric()).collect();
            let first = paths(statement).first().and_then(|p| p.first().cloned()).unwrap_or_default();
            if rooms.contains(first.as_str()) {
                found.insert(alias, first);
            }
        }
    }
    found
}

/// Which rooms of a stage a file asks.
fn asked(source: &Source, rooms: &BTreeSet<&str>, names: &BTreeMap<String, String>) -> BTreeSet<String> {
    let Some((stage, own, depth)) = place(&source.name) else { return BTreeSet::new() };
    let code = source.code.join("\n");
    let mut found = BTreeSet::new();
    let mut take = |below: &str| {
        for path in paths(below) {
            let Some(first) = path.first().filter(|first| *first != "super" && *first != "self") else { continue };
            let room = match rooms.contains(first.as_str()) {
                true => first.clone(),
                false => names.get(first).cloned().unwrap_or_else(|| HALL.to_owned()),
            };
            if room != own {
                found.insert(room);
            }
        }
    };
    let absolute = format!("crate::{stage}::");
    code.match_indices(&absolute).for_each(|(at, found)| take(&code[at + found.len()..]));
    let relative = "super::".repeat(depth);
    if depth > 0 {
        for (at, found) in code.match_indices(&relative) {
            let is_longer = code[..at].ends_with("super::") || code[at + found.len()..].starts_with("super::");
            if !is_longer {
                take(&code[at + found.len()..]);
            }
        }
    }
    found
}

/// Rooms that ask each other, by way of others or not.
fn circles(edges: &BTreeMap<String, BTreeSet<String>>) -> Vec<Vec<String>> {
    let reach = |from: &String| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(room) = open.pop() {
            for next in edges.get(room).into_iter().flatten() {
                if seen.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
        seen
    };
    let reached: BTreeMap<&String, BTreeSet<String>> = edges.keys().map(|room| (room, reach(room))).collect();
    let mut found: Vec<Vec<String>> = Vec::new();
    for room in edges.keys().filter(|room| reached[room].contains(*room)) {
        let circle: Vec<String> =
            edges.keys().filter(|o| reached[room].contains(*o) && reached[o].contains(room)).cloned().collect();
        if !found.contains(&circle) {
            found.push(circle);
        }
    }
    found
}

#[test]
fn no_file_of_a_stage_asks_who_asks_it() {
    let files = library();
    let stages: BTreeSet<&str> = files.iter().filter_map(|s| place(&s.name)).map(|(stage, ..)| stage).collect();
    let mut found = Vec::new();
    for stage in stages {
        let here: Vec<&Source> = files.iter().filter(|s| place(&s.name).is_some_and(|(of, ..)| of == stage)).collect();
        let rooms: BTreeSet<&str> =
            here.iter().filter_map(|s| place(&s.name)).map(|(_, room, _)| room).filter(|r| *r != HALL).collect();
        let hall = here.iter().find(|s| s.name == format!("{stage}/mod.rs"));
        let names = hall.map_or_else(BTreeMap::new, |s| handed_on(&s.code.join("\n"), &rooms));
        let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for source in &here {
            let Some((_, room, _)) = place(&source.name) else { continue };
            // What the hall hands on is no question of its own.
            if source.name != format!("{stage}/mod.rs") {
                edges.entry(room.to_owned()).or_default().extend(asked(source, &rooms, &names));
            }
        }
        found.extend(
            circles(&edges).into_iter().map(|circle| (format!("{stage}: {}", circle.join(", ")), circle.len())),
        );
    }
    assert_shrinking("files that need each other", "cycles.txt", &found);
}

#[test]
fn the_reader_of_the_graph_reads() {
    let words = |tree: &str| paths(tree).iter().map(|p| p.join(" ")).collect::<Vec<_>>();
    assert_eq!(words("a::{b::C, D, e::{F, G}};"), ["a b C", "a D", "a e F", "a e G"]);
    assert_eq!(place("workflow/fit.rs"), Some(("workflow", "fit", 1)));
    assert_eq!(place("solve/smooth/mod.rs"), Some(("solve", "smooth", 1)));
    assert_eq!(place("solve/smooth/lbfgs.rs"), Some(("solve", "smooth", 2)));
    assert_eq!(place("error.rs"), None);
    let edges = [("a", "b"), ("b", "c"), ("c", "a"), ("d", "a")];
    let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    edges.iter().for_each(|(from, to)| {
        graph.entry((*from).to_owned()).or_default().insert((*to).to_owned());
    });
    assert_eq!(circles(&graph), [["a", "b", "c"]]);
}
