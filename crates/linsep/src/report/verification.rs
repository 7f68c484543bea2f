//! A verdict on a model, claim by claim.

use super::text::wrap;
use crate::workflow::Verification;
use std::fmt::Write;

/// Characters of a line.
const WIDTH: usize = 80;
/// Settings that are listed; a program sees all of them.
const SETTINGS: usize = 40;

/// A verdict, claim by claim, then the settings that were taken as given, and in one sentence what is proved. `second_fit` is how
/// the reader asks for what takes one.
pub fn verification_text(verification: &Verification, second_fit: &str) -> String {
    let verdict = match verification.passed() {
        true => "verified: every claim of the model follows from this data",
        false => "NOT verified: the model does not follow from this data",
    };
    let mut out = format!("{verdict}\n");
    for check in &verification.checks {
        let mark = if check.holds { "holds" } else { "FAILS" };
        hanging(&mut out, &format!("  {mark}  {:<12} ", check.claim), &check.found);
    }
    // Entries of one list together: its values are told apart by their order.
    let mut settings: Vec<(String, Vec<&str>)> = Vec::new();
    for (path, value) in &verification.settings {
        let list: String = path.split('[').map(|part| part.split_once(']').map_or(part, |(_, rest)| rest)).collect();
        match settings.last_mut().filter(|(last, _)| *last == list) {
            Some((_, values)) => values.push(value),
            None => settings.push((list, vec![value])),
        }
    }
    let one = |(path, values): &(String, Vec<&str>)| match &values[..] {
        [first, .., last] => format!("{path} = {first} … {last} ({})", values.len()),
        _ => format!("{path} = {}", values.join(", ")),
    };
    let mut shown: Vec<String> = settings.iter().take(SETTINGS).map(one).collect();
    if settings.len() > SETTINGS {
        shown.push(format!("and {} more", settings.len() - SETTINGS));
    }
    hanging(&mut out, "  given  ", &shown.join(", "));
    hanging(&mut out, "  proved ", &verification.proved);
    if !verification.unchecked.is_empty() {
        let how = if second_fit.is_empty() { String::new() } else { format!(" ({second_fit})") };
        hanging(&mut out, "  not checked: ", &format!("{}{how}", verification.unchecked.join(", ")));
    }
    out
}

/// A text after its heading, further lines below its beginning.
fn hanging(out: &mut String, heading: &str, text: &str) {
    let indent = heading.chars().count();
    for (i, line) in wrap(text, WIDTH - indent).iter().enumerate() {
        let _ = writeln!(out, "{}{line}", if i == 0 { heading.to_owned() } else { " ".repeat(indent) });
    }
}
