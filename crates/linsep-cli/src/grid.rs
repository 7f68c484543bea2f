//! Values of flags in all combinations.

use crate::tune::TuneArguments;
use clap::Parser;
use clap::error::ErrorKind;
use linsep::resample::permutation;
use linsep::{Error, Result};
use std::ffi::OsString;

/// Flags that are about the table, the search or what is printed.
const NOT_SEARCHED: [&str; 21] = [
    "grid",
    "trials",
    "folds",
    "fold-column",
    "repeats",
    "groups",
    "time",
    "metric",
    "rule",
    "nested",
    "lambdas",
    "lambda-ratio",
    "lambda-values",
    "journal",
    "budget",
    "target",
    "output",
    "json",
    "time-limit",
    "seed",
    "threads",
];
/// Combinations at most, before some are drawn: more is a slip of the pen.
const MOST_COMBINATIONS: usize = 100_000;
/// Values of one range at most, for the same reason.
const MOST_VALUES: usize = 10_000;

/// A flag and the values to try.
#[derive(Debug)]
pub struct Grid {
    name: String,
    values: Vec<String>,
}

impl Grid {
    /// `C=0.1,1,10`, `gamma=log:1e-3:10:9`, `basis=products;quadratic`.
    pub fn parse(text: &str) -> Result<Grid> {
        let Some((name, values)) = text.split_once('=') else {
            return Err(Error::usage(format!("`{text}` names no values")).help("for example --grid C=0.1,1,10"));
        };
        let name = name.trim().trim_start_matches("--").to_owned();
        if name.is_empty() || NOT_SEARCHED.contains(&name.as_str()) {
            return Err(Error::usage(format!("`{name}` is not a setting of a fit that can be searched"))
                .help("for example --grid C=0.1,1,10"));
        }
        let separator = if values.contains(';') { ';' } else { ',' };
        let mut all = Vec::new();
        for value in values.split(separator).map(str::trim) {
            match range(value)? {
                Some(values) => all.extend(values),
                None => all.push(value.to_owned()),
            }
        }
        let values = all;
        if values.iter().any(String::is_empty) {
            return Err(Error::usage(format!("`{text}` has an empty value")).help("for example --grid C=0.1,1,10"));
        }
        if let Some(twice) = values.iter().enumerate().find(|(i, v)| values[..*i].contains(v)) {
            return Err(Error::usage(format!("`{text}` has the value {} twice", twice.1)).help("give it once"));
        }
        Ok(Grid { name, values })
    }

    /// All combinations of the values, the last flag changing first; or so many of them, drawn by a seed, in the same order.
    pub fn combinations(grids: &[Grid], trials: Option<usize>, seed: u64) -> Result<Vec<Vec<(String, String)>>> {
        if let Some((i, grid)) = grids.iter().enumerate().find(|(i, g)| grids[..*i].iter().any(|h| h.name == g.name)) {
            return Err(Error::usage(format!("--grid {} is given {} times", grid.name, i + 1))
                .help("give all its values at once, separated by commas"));
        }
        let count = grids.iter().try_fold(1_usize, |n, grid| n.checked_mul(grid.values.len()));
        let count = count.filter(|n| *n <= MOST_COMBINATIONS).ok_or_else(|| {
            Error::usage(format!("there are more than {MOST_COMBINATIONS} combinations"))
                .help("give fewer values, or search in two steps")
        })?;
        let combination = |mut place: usize| {
            let mut settings = Vec::with_capacity(grids.len());
            for grid in grids.iter().rev() {
                settings.push((grid.name.clone(), grid.values[place % grid.values.len()].clone()));
                place /= grid.values.len();
            }
            settings.reverse();
            settings
        };
        let mut places: Vec<usize> = (0..count).collect();
        match trials {
            Some(0) => return Err(Error::usage("0 trials leave nothing to choose").help("choose at least 1")),
            Some(trials) if trials < count => {
                places = permutation(count, seed, 0);
                places.truncate(trials);
                places.sort_unstable();
            }
            _ => {}
        }
        Ok(places.into_iter().map(combination).collect())
    }
}

/// `log:FROM:TO:N` and `lin:FROM:TO:N`; `None` for anything else.
fn range(text: &str) -> Result<Option<Vec<String>>> {
    let parts: Vec<&str> = text.split(':').collect();
    let [kind @ ("log" | "lin"), from, to, count] = parts[..] else { return Ok(None) };
    let wrong = |why: &str| {
        Err(Error::usage(format!("the range `{text}` {why}")).help("for example log:0.001:10:9, from, to, how many"))
    };
    let (Ok(from), Ok(to), Ok(count)) = (from.parse::<f64>(), to.parse::<f64>(), count.parse::<usize>()) else {
        return wrong("is not made of two numbers and a count");
    };
    if !(from.is_finite() && to.is_finite() && (2..=MOST_VALUES).contains(&count)) {
        return wrong(&format!("needs two finite ends and from 2 to {MOST_VALUES} values"));
    }
    if kind == "log" && !(from > 0.0 && to > 0.0) {
        return wrong("in even steps of the logarithm needs two ends above 0");
    }
    let value = |i: usize| {
        let share = i as f64 / (count - 1) as f64;
        match (i, kind) {
            (0, _) => from,
            (i, _) if i + 1 == count => to,
            (_, "log") => (from.ln() + share * (to.ln() - from.ln())).exp(),
            _ => from + share * (to - from),
        }
    };
    // Twelve digits: what rounding adds to a power of ten is not worth printing.
    let text = |v: f64| format!("{:?}", format!("{v:.11e}").parse::<f64>().unwrap_or(v));
    Ok(Some((0..count).map(|i| text(value(i))).collect()))
}

/// The arguments of this process with some flags more.
pub fn settings_of(settings: &[(String, String)]) -> Result<TuneArguments> {
    let mut words: Vec<OsString> = std::env::args_os().collect();
    let after = words.iter().position(|word| word == "tune").map_or(words.len(), |at| at + 1);
    let flags = settings.iter().map(|(name, value)| OsString::from(format!("--{name}={value}")));
    words.splice(after..after, flags);
    let parsed = crate::Arguments::try_parse_from(words).map(|arguments| arguments.command);
    match parsed {
        Ok(crate::Command::Tune(arguments)) => Ok(*arguments),
        Ok(_) => Err(Error::usage("this is not a search")),
        Err(error) if error.kind() == ErrorKind::UnknownArgument => {
            let names: Vec<&str> = settings.iter().map(|(name, _)| name.as_str()).collect();
            Err(Error::usage(format!("no flag of `linsep fit` is called {}", names.join(" or ")))
                .help("see linsep fit --help; for example --grid C=0.1,1,10"))
        }
        Err(error) if error.kind() == ErrorKind::ArgumentConflict => {
            Err(Error::usage("a flag is both given and searched").help("leave it to --grid"))
        }
        Err(error) => {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
            Err(Error::usage(first).help("see linsep fit --help for the values of a flag"))
        }
    }
}
