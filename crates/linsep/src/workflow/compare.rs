//! Two models leaf by leaf: what one states and the other does not.

use crate::artifact::Model;
use crate::error::{Error, Result};
use crate::role::{Role, Roles, push_field};
use serde_json::Value;

/// Agreement asked of numbers that nothing else is known of, relative to themselves: sums in another order over up to
/// millions of rows stay within it.
pub(super) const NUMBERS: f64 = 1e-9;
/// Numbers below this share of the largest of their array are its rounding: about half a unit.
const ROUNDING: f64 = 1e-16;
/// Differences that are kept; the rest are counted. A limit of memory and of what anybody reads.
const KEPT: usize = 1_000;

/// A leaf that is not what it should be.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Difference {
    /// Where in the file.
    pub(super) path: String,
    /// What the file states.
    pub(super) stated: String,
    /// What was found.
    pub(super) found: String,
}

/// How closely two models are to agree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Closeness {
    /// Numbers within this of themselves; history is left aside.
    Within(f64),
    /// Every bit of every leaf.
    Bits,
}

/// Where two models differ.
pub(super) fn differences(stated: &Model, found: &Model, closeness: Closeness) -> Result<Vec<Difference>> {
    let value = |model: &Model| {
        serde_json::to_value(model).map_err(|e| Error::model(format!("the model cannot be written: {e}")))
    };
    Ok(value_differences(&value(stated)?, &value(found)?, Model::ROLES, closeness))
}

/// Where two values with the same roles differ.
pub(super) fn value_differences(stated: &Value, found: &Value, roles: Roles, closeness: Closeness) -> Vec<Difference> {
    let mut comparison = Comparison { closeness, path: String::new(), differences: Vec::new() };
    comparison.values(Some(stated), Some(found), roles, 0.0);
    comparison.differences
}

struct Comparison {
    closeness: Closeness,
    path: String,
    differences: Vec<Difference>,
}

impl Comparison {
    /// `largest` is the size of the numbers of an array, where both are entries of one.
    fn values(&mut self, stated: Option<&Value>, found: Option<&Value>, roles: Roles, largest: f64) {
        if self.closeness != Closeness::Bits && matches!(roles, Roles::All(Role::History)) {
            return;
        }
        match (stated, found) {
            (Some(Value::Object(a)), Some(Value::Object(b))) => {
                for name in a.keys().chain(b.keys().filter(|name| !a.contains_key(*name))) {
                    let before = self.path.len();
                    push_field(&mut self.path, name);
                    // A leaf without a role counts as a claim.
                    let roles = roles.of(name).unwrap_or(Roles::All(Role::Claim));
                    self.values(a.get(name), b.get(name), roles, 0.0);
                    self.path.truncate(before);
                }
            }
            (Some(Value::Array(a)), Some(Value::Array(b))) => {
                if a.len() != b.len() {
                    return self.differ(format!("{} entries", a.len()), format!("{} entries", b.len()));
                }
                let size = |values: &[Value]| values.iter().filter_map(Value::as_f64).fold(0.0, |m, v| v.abs().max(m));
                let largest = size(a).max(size(b));
                for (i, (a, b)) in a.iter().zip(b).enumerate() {
                    let before = self.path.len();
                    self.path.push_str(&format!("[{i}]"));
                    self.values(Some(a), Some(b), roles, largest);
                    self.path.truncate(before);
                }
            }
            (Some(a), Some(b)) if self.agree(a, b, largest) => {}
            (a, b) => self.differ(shown(a), shown(b)),
        }
    }

    fn agree(&self, a: &Value, b: &Value, largest: f64) -> bool {
        if a == b {
            return true;
        }
        let (Closeness::Within(relative), Some(x), Some(y)) = (self.closeness, a.as_f64(), b.as_f64()) else {
            return false;
        };
        // Counts are exact.
        (a.is_f64() || b.is_f64())
            && ((x - y).abs() <= relative * x.abs().max(y.abs()) || x.abs().max(y.abs()) <= ROUNDING * largest)
    }

    fn differ(&mut self, stated: String, found: String) {
        if self.differences.len() < KEPT {
            self.differences.push(Difference { path: self.path.clone(), stated, found });
        }
    }
}

/// A leaf, or what stands in its place, short enough for a line.
pub(super) fn shown(value: Option<&Value>) -> String {
    let text = match value {
        None => "nothing".to_owned(),
        Some(Value::Null) => "nothing".to_owned(),
        Some(Value::Number(n)) => match n.as_f64() {
            Some(v) if n.is_f64() && v != 0.0 && !(1e-4..1e7).contains(&v.abs()) => format!("{v:.6e}"),
            _ => n.to_string(),
        },
        Some(Value::Object(fields)) => format!("{} fields", fields.len()),
        Some(Value::Array(entries)) if !entries.is_empty() => format!("{} entries", entries.len()),
        Some(other) => other.to_string(),
    };
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
