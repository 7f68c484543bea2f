//! Model files of earlier versions, one of every kind: each is loaded, and predicts what it predicted then.

mod common;

use common::{Scratch, root};

#[test]
fn files_of_version_one_predict_what_they_predicted() {
    let scratch = Scratch::new();
    let folder = root().join("golden/models/v1");
    let names = || {
        let entries = std::fs::read_dir(&folder).expect("golden/models/v1 is there").flatten();
        entries.map(|entry| entry.file_name().into_string().expect("a name"))
    };
    for name in names() {
        scratch.write(&name, std::fs::read(folder.join(&name)).expect("a golden file"));
    }
    let mut models = 0;
    for name in names() {
        let Some((model, rows)) = name.strip_suffix(".csv").and_then(|stem| stem.split_once(".of-")) else { continue };
        let stated = String::from_utf8(scratch.read(&name)).expect("text");
        let flags = if stated.lines().next().is_some_and(|head| head.contains(",p_")) { " --proba" } else { "" };
        let found = scratch.done(&format!("predict {model}.json {rows}.csv --scores{flags}"));
        assert_eq!(found, stated, "{model}");
        models += 1;
    }
    assert_eq!(models, names().filter(|name| name.ends_with(".json")).count(), "every model has predictions");
    assert!(models >= 29, "{models} kinds");
}
