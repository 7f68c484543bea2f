//! The flags that say how scores become a class, for everything that fits or uses a model.

use crate::method::priors;
use crate::multiclass::{ApproachName, VoteArguments};
use clap::{Args, ValueEnum};
use linsep::artifact::Model;
use linsep::decide::{Decision, Rule, Tie, check_priors};
use linsep::error::{Place, nearest};
use linsep::read::{Format, ReadOptions, read_bytes};
use linsep::table::Table;
use linsep::workflow::Multiclass;
use linsep::{Error, Result};
use std::path::Path;

/// A decision other than the largest score.
#[derive(Args)]
pub struct DecisionArguments {
    /// Of two classes, predict the last (positive) one where its probability exceeds this
    #[arg(long, value_name = "P", allow_negative_numbers = true, help_heading = "Decision")]
    threshold: Option<f64>,

    /// Of two classes, predict the last (positive) one where its score exceeds this, whatever the score means
    #[arg(long, value_name = "T", allow_negative_numbers = true, help_heading = "Decision")]
    score_threshold: Option<f64>,

    /// Predict the class of the smallest expected cost: truth:prediction=cost,… (other mistakes cost 1), or a CSV file with a row per truth and a column per prediction
    #[arg(long, value_name = "COSTS", help_heading = "Decision")]
    costs: Option<String>,

    /// Predict nothing where the expected cost exceeds this (without --costs: the probability of a mistake)
    #[arg(long, value_name = "COST", allow_negative_numbers = true, help_heading = "Decision")]
    reject: Option<f64>,

    /// Which class where two are exactly equally good: equal scores, or a score on the threshold (default: first)
    #[arg(long, value_enum, value_name = "SIDE", help_heading = "Decision")]
    tie: Option<TieName>,

    #[command(flatten)]
    vote: VoteArguments,

    /// Shares of the classes where the model is used, as class=share pairs, if they differ from those it learned from
    /// (re-sampled rows, --class-weight): shifts the log-odds
    #[arg(long, value_name = "CLASS=P", value_delimiter = ',', help_heading = "Decision")]
    true_priors: Vec<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum TieName {
    /// The class that comes first
    First,
    /// The class that comes last
    Last,
    /// Of two classes the positive one, which is the last
    Positive,
    /// None: the row is rejected
    Reject,
}

impl DecisionArguments {
    /// The file of costs, where there is one.
    pub fn file(&self) -> Option<&Path> {
        self.costs.as_deref().map(Path::new).filter(|path| path.exists())
    }

    /// Refuses what is wrong whatever the classes are, before a table is read.
    pub fn check(&self) -> Result<()> {
        if self.threshold.is_some() && self.costs.is_some() {
            return Err(Error::usage("--threshold and --costs exclude each other").help(
                "costs imply a threshold: that of two classes is a/(a+b) if a false alarm costs a and a miss b",
            ));
        }
        if self.score_threshold.is_some() && (self.threshold.is_some() || self.costs.is_some()) {
            return Err(Error::usage("--score-threshold, --threshold and --costs exclude each other")
                .help("give one: a threshold p of the probability is log(p/(1-p)) of log-odds"));
        }
        let by_score = self.score_threshold.map(Rule::Score);
        let rule = self.threshold.map(Rule::Threshold).or(by_score).unwrap_or_default();
        Decision { rule, reject: self.reject, ..Decision::default() }.check(2, true)
    }

    /// The decision that the flags ask for; `None` without flags.
    pub fn decision(&self, classes: &[String]) -> Result<Option<Decision>> {
        let (decision, tie) = (self.but_for_ties(classes)?, self.tie(classes)?);
        Ok(match (decision, tie) {
            (None, None) => None,
            (decision, tie) => Some(Decision { tie: tie.unwrap_or_default(), ..decision.unwrap_or_default() }),
        })
    }

    /// The side of a tie that the flag asks for.
    fn tie(&self, classes: &[String]) -> Result<Option<Tie>> {
        match self.tie {
            None => Ok(None),
            Some(TieName::First) => Ok(Some(Tie::First)),
            Some(TieName::Last) => Ok(Some(Tie::Last)),
            Some(TieName::Reject) => Ok(Some(Tie::Reject)),
            Some(TieName::Positive) if classes.len() == 2 => Ok(Some(Tie::Last)),
            Some(TieName::Positive) => Err(Error::usage(format!(
                "--tie positive is the positive one of two classes, and there are {}",
                classes.len()
            ))
            .help("use --tie first, last or reject")),
        }
    }

    fn but_for_ties(&self, classes: &[String]) -> Result<Option<Decision>> {
        self.check()?;
        let rule = match (self.threshold, &self.costs) {
            (Some(threshold), _) => Rule::Threshold(threshold),
            (None, None) if self.score_threshold.is_some() => self.score_threshold.map(Rule::Score).unwrap_or_default(),
            (None, Some(text)) => Rule::Cost(costs(text, classes)?),
            (None, None) if self.reject.is_some() => Rule::ArgMax,
            (None, None) => return Ok(None),
        };
        Ok(Some(Decision { rule, reject: self.reject, ..Decision::default() }))
    }

    /// How more than two classes are to be fitted and decided.
    pub fn multiclass(&self, approach: Option<ApproachName>) -> Multiclass {
        self.vote.multiclass(approach)
    }

    /// Whether true priors were given.
    pub fn has_true_priors(&self) -> bool {
        !self.true_priors.is_empty()
    }

    /// The true priors in the order of the classes; `None` without the flag.
    pub fn true_priors(&self, classes: &[String]) -> Result<Option<Vec<f64>>> {
        if self.true_priors.is_empty() {
            return Ok(None);
        }
        let shares = priors("--true-priors", &self.true_priors, classes)?;
        check_priors(&shares, classes)?;
        Ok(Some(shares))
    }

    /// Refuses a threshold of models whose last class differs: it is not about the same class.
    pub fn check_same_meaning(&self, first: &Model, second: &Model) -> Result<()> {
        match (self.threshold, first.classes.last(), second.classes.last()) {
            (Some(_), Some(a), Some(b)) if a != b => Err(Error::usage(format!(
                "a threshold is that of the last class, which is `{a}` in one model and `{b}` in the other"
            ))
            .help("fit both models with the classes in the same order")
            .help("leave --threshold out")),
            _ => Ok(()),
        }
    }

    /// Puts the decision and the true priors that the flags ask for in the place of the model's.
    pub fn replace(&self, model: &mut Model) -> Result<()> {
        if let Some(shares) = self.true_priors(&model.classes)? {
            if !model.has_probabilities() {
                let message =
                    format!("true priors correct probabilities, and a {} model has none", model.method.name());
                return Err(Error::usage(message)
                    .help("fit it with --calibrate platt")
                    .help("leave --true-priors out"));
            }
            // Sets of classes are promised for the scores that they were calibrated on, and other priors give other scores.
            if model.true_priors.as_ref() != Some(&shares) {
                model.conformal = None;
            }
            model.true_priors = Some(shares);
        }
        if let Some(decision) = self.but_for_ties(&model.classes)? {
            decision.check(model.classes.len(), model.has_probabilities())?;
            // The scores of two-class fits have no other meaning; a decision by the sign alone leaves them theirs.
            if model.decision.scheme().is_none() {
                model.decision = Decision { tie: model.decision.tie, ..decision };
            }
        }
        if let Some(tie) = self.tie(&model.classes)? {
            model.decision.tie = tie;
            model.decision.check(model.classes.len(), model.has_probabilities())?;
        }
        self.vote.replace(model)
    }
}

/// The matrix `[truth][prediction]` from a file or from pairs.
fn costs(text: &str, classes: &[String]) -> Result<Vec<Vec<f64>>> {
    match text.contains('=') && !Path::new(text).exists() {
        true => costs_from_pairs(text, classes),
        false => costs_from_file(text, classes),
    }
}

/// Mistakes that are not named cost 1, so that naming one makes it better or worse than the others.
fn costs_from_pairs(text: &str, classes: &[String]) -> Result<Vec<Vec<f64>>> {
    let mut named = vec![vec![None; classes.len()]; classes.len()];
    for pair in text.split(',') {
        let parsed = pair.rsplit_once('=').and_then(|(cell, cost)| Some((cell, cost.trim().parse::<f64>().ok()?)));
        let Some((cell, cost)) = parsed else {
            return Err(Error::usage(format!("`{pair}` is not a cost")).help(PAIRS));
        };
        let (truth, decided) = cell_of(cell, classes)?;
        if named[truth][decided].replace(cost).is_some() {
            return Err(Error::usage(format!("the cost of `{cell}` is given twice")).help("give it once"));
        }
    }
    let cost = |k: usize, j: usize| named[k][j].unwrap_or(if k == j { 0.0 } else { 1.0 });
    Ok((0..classes.len()).map(|k| (0..classes.len()).map(|j| cost(k, j)).collect()).collect())
}

const PAIRS: &str = "write truth:prediction=cost, for example --costs sick:healthy=10,healthy:sick=1";

/// The classes around the colon; a name may have colons of its own.
fn cell_of(cell: &str, classes: &[String]) -> Result<(usize, usize)> {
    let place = |name: &str| classes.iter().position(|c| c == name.trim());
    let mut sides = cell.match_indices(':').map(|(at, _)| (&cell[..at], &cell[at + 1..]));
    let known = sides.clone().find_map(|(truth, decided)| Some((place(truth)?, place(decided)?)));
    match (known, sides.next()) {
        (Some(cell), _) => Ok(cell),
        (None, Some((truth, decided))) => {
            let unknown = if place(truth).is_none() { truth } else { decided };
            Err(no_class(unknown.trim(), classes))
        }
        (None, None) => Err(Error::usage(format!("`{cell}` does not name truth and prediction")).help(PAIRS)),
    }
}

fn no_class(name: &str, classes: &[String]) -> Error {
    let help = match nearest(name, classes.iter().map(String::as_str)).first() {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the classes are: {}", classes.join(", ")),
    };
    Error::usage(format!("there is no class `{name}`")).help(help)
}

/// A table with the predictions in its header and the truths in its first column, both in any order.
fn costs_from_file(path: &str, classes: &[String]) -> Result<Vec<Vec<f64>>> {
    let bytes = std::fs::read(path).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => {
            Error::io(path, &e).without_help().help(format!("name a CSV file of costs, or {PAIRS}"))
        }
        _ => Error::io(path, &e),
    })?;
    let options = ReadOptions { format: Some(Format::Csv), ..ReadOptions::default() };
    let header: Vec<String> = read_bytes(&bytes, path, &options)?.columns().iter().map(|c| c.name.clone()).collect();
    // The truths are names, also where they look like numbers; the costs are numbers.
    let options = ReadOptions { text: header[..1].to_vec(), number: header[1..].to_vec(), ..options };
    let table = read_bytes(&bytes, path, &options)?;
    let columns = found(&header[1..], classes).map_err(|e| e.at(Place::file(path).line(1)))?;
    let truths: Vec<String> = (0..table.n_rows()).map(|row| table.text(row, 0)).collect();
    let rows = found(&truths, classes).map_err(|e| e.at(Place::file(path).column(&header[0])))?;
    let cost = |row: usize, column: usize| cost_at(&table, row, column + 1, &header[column + 1]);
    rows.iter().map(|row| columns.iter().map(|column| cost(*row, *column)).collect()).collect()
}

fn cost_at(table: &Table, row: usize, column: usize, name: &str) -> Result<f64> {
    let cost = table.number(row, column);
    if cost.is_nan() {
        return Err(Error::data("a cost is missing")
            .at(table.place(row).column(name))
            .help("write 0 where it is none"));
    }
    Ok(cost)
}

/// Where each class is among names that are all of them, once each.
fn found(names: &[String], classes: &[String]) -> Result<Vec<usize>> {
    if let Some(name) = names.iter().find(|name| !classes.contains(name)) {
        return Err(no_class(name, classes));
    }
    let place = |class: &String| {
        let mut places = (0..names.len()).filter(|i| names[*i] == *class);
        match (places.next(), places.next()) {
            (Some(place), None) => Ok(place),
            (None, _) => Err(Error::usage(format!("the costs leave out class `{class}`"))
                .help("a row for every truth and a column for every prediction")),
            (Some(_), Some(_)) => Err(Error::usage(format!("class `{class}` is there twice")).help("give it once")),
        }
    };
    classes.iter().map(place).collect()
}
