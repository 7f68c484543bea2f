//! A comparison of methods in words and for machines.

use super::text::{count, grid, p_text, short, wrap};
use crate::words::Voice;
use crate::workflow::{Contest, ContestEntry, ContestMethod};
use serde_json::{Value, json};

/// Width of the page.
const PAGE: usize = 80;
/// Seconds below which a time is said in milliseconds.
const MILLI: f64 = 1.0;

/// The table of all methods, what it means, and what was left out.
pub fn contest_text(contest: &Contest, voice: &dyn Voice) -> String {
    let metric = contest.metric.name().replace('_', " ");
    let again = if contest.repeats > 1 { format!(", dealt out {} times", contest.repeats) } else { String::new() };
    let mut out = format!(
        "{} by {metric} on {} in {}{again}, seed {}\n\n",
        count(contest.entries.len(), "method"),
        count(contest.rows, "row"),
        count(contest.folds, "fold"),
        contest.seed
    );
    let head = ["method", "mean", "low", "high", "p vs best", "fit", "predict", "size"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for (place, entry) in contest.entries.iter().enumerate() {
        let ends = entry.interval.map_or(["-", "-"].map(str::to_owned), |(low, high)| [three(low), three(high)]);
        let p = match (place, entry.ln_p_vs_best) {
            (0, _) => "best".to_owned(),
            (_, None) => "-".to_owned(),
            (_, Some(ln_p)) => p_text(ln_p),
        };
        let [low, high] = ends;
        rows.push(vec![
            entry.method.name().to_owned(),
            three(entry.mean),
            low,
            high,
            format!("{p}{}", if entry.worse { "*" } else { " " }),
            time(entry.fit_seconds),
            time(entry.predict_seconds),
            entry.size.to_string(),
        ]);
    }
    out.push_str(&grid(&rows, 0));
    out.push('\n');
    for note in notes(contest, &metric, voice) {
        for (i, line) in wrap(&note, PAGE - 2).iter().enumerate() {
            out.push_str(if i == 0 { "" } else { "  " });
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

/// A loss with three decimals, or with four digits where it is large or tiny.
fn three(value: f64) -> String {
    match value {
        v if v == 0.0 || (0.0005..1000.0).contains(&v.abs()) => format!("{v:.3}"),
        v => short(v),
    }
}

fn time(seconds: f64) -> String {
    match seconds {
        s if s >= MILLI => format!("{s:.1} s"),
        s => format!("{:.1} ms", 1000.0 * s),
    }
}

fn list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

/// The first letter in upper case.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// What the comparison says in one or two sentences.
pub fn contest_finding(contest: &Contest) -> String {
    let Some(best) = contest.entries.first() else { return "Nothing was compared.".to_owned() };
    let rows = count(contest.rows, "row");
    let others = &contest.entries[1..];
    if others.iter().any(|e| e.ln_p_vs_best.is_none()) {
        return format!(
            "{} has the least loss in the one fold; nothing is known of chance.",
            sentence(best.method.spoken())
        );
    }
    // From the simplest on: among methods that cannot be told apart that is what one would take.
    let spoken = |wanted: &dyn Fn(&ContestEntry) -> bool| -> Vec<&'static str> {
        let mut methods: Vec<ContestMethod> = others.iter().filter(|e| wanted(e)).map(|e| e.method).collect();
        methods.sort_unstable();
        methods.into_iter().map(ContestMethod::spoken).collect()
    };
    let alike = spoken(&|e: &ContestEntry| !e.worse);
    let worse = spoken(&|e: &ContestEntry| e.worse);
    let are = |names: &[&str]| if names.len() == 1 { "is" } else { "are" };
    let mut text = match alike.is_empty() {
        true => format!("{} is the best of these on these {rows}", sentence(best.method.spoken())),
        false => {
            let mut all: Vec<ContestMethod> = others.iter().filter(|e| !e.worse).map(|e| e.method).collect();
            all.push(best.method);
            all.sort_unstable();
            let all: Vec<&str> = all.into_iter().map(ContestMethod::spoken).collect();
            format!("{} cannot be told apart on these {rows}", sentence(&list(&all)))
        }
    };
    if !worse.is_empty() {
        text.push_str(&format!("; {} {} worse", list(&worse), are(&worse)));
    }
    text.push('.');
    let baseline = contest.entries.iter().filter(|e| e.method.is_baseline() && !e.worse).map(|e| e.method.spoken());
    let baseline: Vec<&str> = baseline.collect();
    if !baseline.is_empty() && !best.method.is_baseline() {
        text.push_str(&format!(" No method is shown to be better than {}.", list(&baseline)));
    }
    text
}

fn notes(contest: &Contest, metric: &str, voice: &dyn Voice) -> Vec<String> {
    let mut notes = vec![contest_finding(contest)];
    for entry in &contest.entries {
        if let Some(simpler) = entry.ties.first() {
            notes.push(format!(
                "Exact tie: {} predicts every row held out as {} does, which is simpler.",
                entry.method.spoken(),
                simpler.spoken()
            ));
        }
    }
    notes.push(format!(
        "Each method is tuned inside every fold and judged by rows that it never saw. The 95 % interval from low to high and \
         p ({metric} less that of the best is zero) are by the t law with the variance of Nadeau and Bengio; * is worse at 5 % \
         over all methods together (Holm). The majority class and a single column are baselines."
    ));
    if contest.entries.iter().any(|e| e.interval.is_some_and(|(low, high)| low == high)) {
        notes.push(
            "An interval of width zero is of losses that are the same in every fold: nothing can be learned from their spread, \
             which is not certainty."
                .to_owned(),
        );
    }
    let stopped: Vec<&str> = contest.entries.iter().filter(|e| !e.converged).map(|e| e.method.spoken()).collect();
    if !stopped.is_empty() {
        notes.push(format!("Not every fit reached its tolerance: {}.", list(&stopped)));
    }
    for (method, error) in &contest.left_out {
        notes.push(format!("Left out: {}: {}.", method.name(), error.said(voice).what));
    }
    notes
}

/// The same for programs.
pub fn contest_json(contest: &Contest, voice: &dyn Voice) -> Value {
    let settings = |pairs: &Vec<(String, String)>| -> Value {
        pairs.iter().map(|(name, value)| (name.clone(), json!(value))).collect::<serde_json::Map<_, _>>().into()
    };
    let method = |entry: &ContestEntry| {
        json!({
            "name": entry.method.name(),
            "baseline": entry.method.is_baseline(),
            "mean": entry.mean,
            "low": entry.interval.map(|i| i.0),
            "high": entry.interval.map(|i| i.1),
            "fit_s": entry.fit_seconds,
            "tune_s": entry.tune_seconds,
            "predict_s": entry.predict_seconds,
            "size": entry.size,
            "p_vs_best": entry.ln_p_vs_best.map(f64::exp),
            "worse": entry.worse,
            "ties_with": entry.ties.iter().map(|m| m.name()).collect::<Vec<&str>>(),
            "converged": entry.converged,
            "folds": entry.folds,
            "settings": entry.settings.iter().map(settings).collect::<Vec<Value>>(),
        })
    };
    json!({
        "metric": contest.metric.name(),
        "rows": contest.rows,
        "classes": contest.classes,
        "folds": contest.folds,
        "repeats": contest.repeats,
        "seed": contest.seed,
        "methods": contest.entries.iter().map(method).collect::<Vec<Value>>(),
        "left_out": contest.left_out.iter()
            .map(|(m, error)| json!({"name": m.name(), "why": error.said(voice).what})).collect::<Vec<Value>>(),
        "finding": contest_finding(contest),
        "incomplete": contest.incomplete,
    })
}
