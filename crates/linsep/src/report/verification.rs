//! A verdict on a model, claim by claim.

use super::text::wrap;
use crate::workflow::Verification;
use std::fmt::Write;

/// Settings that are listed; a program sees all of them.
const SETTINGS: usize = 40;

/// A verdict, claim by claim, then the settings that were taken as given, and in one line what is proved. `second_fit` is how
/// the reader asks for what takes one.
pub fn verification_text(verification: &Verification, second_fit: &str) -> String {
    let verdict = match verification.passed() {
        true => "verified: every claim of the model follows from this data",
        false => "NOT verified: the model does not follow from this data",
    };
    let mut out = format!("{verdict}\n");
    for check in &verification.checks {
        let mark = if check.holds { "holds" } else { "FAILS" };
        let _ = writeln!(out, "  {mark}  {:<12} {}", check.claim, check.found);
    }
    let settings = &verification.settings;
    let mut shown: Vec<String> =
        settings.iter().take(SETTINGS).map(|(path, value)| format!("{path} = {value}")).collect();
    if settings.len() > SETTINGS {
        shown.push(format!("and {} more", settings.len() - SETTINGS));
    }
    for (i, line) in wrap(&shown.join(", "), 100).iter().enumerate() {
        let _ = writeln!(out, "  {}  {line}", if i == 0 { "taken as given:" } else { "               " });
    }
    let _ = write!(out, "  {}", verification.proved);
    if !verification.unchecked.is_empty() {
        let _ = write!(out, "; not checked: {}", verification.unchecked.join(", "));
        if !second_fit.is_empty() {
            let _ = write!(out, " ({second_fit})");
        }
    }
    out.push('\n');
    out
}
