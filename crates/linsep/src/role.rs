//! What each leaf of a model file is to whoever checks it: a setting, a claim, derived from the rest, or history.
//!
//! A type that is part of a model file has its table beside it (`ROLES`), so a new field cannot be written without saying how
//! it is to be checked: a test walks a model of every kind and asks for the role of every leaf.

use serde_json::Value;

/// What a leaf is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Chosen by whoever fitted: taken as given, and shown.
    Setting,
    /// Recomputed from the data, at the point that the model states or by a second fit, and compared.
    Claim,
    /// Follows from other leaves and the data, made again from them and compared.
    Derived,
    /// What the fit went through, which only a second fit can tell; until then it is said to be unchecked.
    History,
}

/// The roles of all leaves below a place.
#[derive(Debug, Clone, Copy)]
pub enum Roles {
    /// All the same.
    All(Role),
    /// By the name of the field; entries of arrays are not told apart. A variant of an enum counts as a field where the file
    /// has it as one, and all variants share a table where it has not.
    Fields(&'static [(&'static str, Roles)]),
}

impl Roles {
    /// Those below a field, `None` for a field that has none.
    pub fn of(self, field: &str) -> Option<Roles> {
        match self {
            Roles::All(_) => Some(self),
            Roles::Fields(fields) => fields.iter().find(|(name, _)| *name == field).map(|(_, roles)| *roles),
        }
    }

    /// That of a leaf here. A place with fields of its own has a claim in being there, or in being empty.
    pub fn here(self) -> Role {
        match self {
            Roles::All(role) => role,
            Roles::Fields(_) => Role::Claim,
        }
    }
}

/// Calls `visit` with the path, the role and the value of every leaf; `None` is the role of a leaf that has none. Empty arrays
/// and objects are leaves.
///
/// ```
/// use linsep::role::{Role, Roles, each_leaf};
/// const ROLES: Roles = Roles::Fields(&[("seed", Roles::All(Role::Setting))]);
/// let mut found = Vec::new();
/// each_leaf(&serde_json::json!({"seed": 1, "new": [2.5]}), Some(ROLES), &mut |path, role, _| found.push((path.to_owned(), role)));
/// assert_eq!(found, [("new[0]".to_owned(), None), ("seed".to_owned(), Some(Role::Setting))]);
/// ```
pub fn each_leaf<'v>(value: &'v Value, roles: Option<Roles>, visit: &mut dyn FnMut(&str, Option<Role>, &'v Value)) {
    walk(value, roles, &mut String::new(), visit);
}

fn walk<'v>(
    value: &'v Value,
    roles: Option<Roles>,
    path: &mut String,
    visit: &mut dyn FnMut(&str, Option<Role>, &'v Value),
) {
    let length = path.len();
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (name, value) in fields {
                push_field(path, name);
                walk(value, roles.and_then(|r| r.of(name)), path, visit);
                path.truncate(length);
            }
        }
        Value::Array(entries) if !entries.is_empty() => {
            for (i, value) in entries.iter().enumerate() {
                path.push_str(&format!("[{i}]"));
                walk(value, roles, path, visit);
                path.truncate(length);
            }
        }
        leaf => visit(path, roles.map(Roles::here), leaf),
    }
}

/// Adds the name of a field to a path.
pub(crate) fn push_field(path: &mut String, name: &str) {
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(name);
}
