//! The decision: the class that a row's scores lead to, or none.

use super::costs::{Cut, least_cost, treats_mistakes_alike};
use super::{Scheme, Tie, Ties, classes, probabilities};
use crate::error::{Error, Result};
use crate::role::{Role, Roles};
use crate::table::Class;
use crate::words::{Setting, words};
use serde::{Deserialize, Serialize};

/// How scores become a class, or no class where every one is too uncertain.
///
/// Every rule has the same tie rule, [`Tie`]: of decisions that are exactly equally good the class that comes first, unless
/// another is asked for.
///
/// ```
/// use linsep::decide::{Decision, Rule};
/// use linsep::table::Class;
/// let log_odds = [-3.0, -2.0, 1.0];
/// // A missed sick patient costs as much as ten false alarms, so `sick` is decided from the probability 1/11 on.
/// let costs = Decision::from(Rule::Cost(vec![vec![0.0, 1.0], vec![10.0, 0.0]]));
/// assert_eq!(costs.classes(&log_odds, 2)?, [Some(Class(0)), Some(Class(1)), Some(Class(1))]);
/// // A decision that is wrong with more than one chance in ten is not made.
/// let careful = Decision { reject: Some(0.1), ..Decision::default() };
/// assert_eq!(careful.classes(&log_odds, 2)?, [Some(Class(0)), None, None]);
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(from = "StoredRule", into = "StoredRule")]
pub struct Decision {
    /// Which class.
    pub rule: Rule,
    /// The cost of making no decision: none is made where every class has a larger expected cost (C. K. Chow, IEEE Trans.
    /// Inf. Theory 16, 1970). On the scale of the cost matrix; without one a mistake costs 1, so this is the largest
    /// probability of a mistake that is accepted.
    pub reject: Option<f64>,
    /// The side of an exact tie; schemes have [`Ties`] instead.
    pub tie: Tie,
}

/// Which class scores lead to.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Rule {
    /// The largest score: with scores that have probabilities the fewest mistakes.
    #[default]
    ArgMax,
    /// Of two classes the last where its probability exceeds this, between 0 and 1. At ½ the same as [`Rule::ArgMax`]: the
    /// plug-in rule of a regression estimate.
    Threshold(f64),
    /// Of two classes the last where its score exceeds this number, whatever the score means.
    Score(f64),
    /// `costs[truth][decision]`: the class of the smallest expected cost `Σ_k p_k costs[k][decision]`.
    Cost(Vec<Vec<f64>>),
    /// The scores are those of two-class fits, and this is how they name one of several classes.
    Scheme(Scheme),
}

/// In the model file a decision without rejection and with the usual ties is its rule alone.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum StoredRule {
    // The first that fits is taken, so that the one with the most fields is first.
    Tied {
        rule: Rule,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reject: Option<f64>,
        tie: Tie,
    },
    Rejecting {
        rule: Rule,
        reject: f64,
    },
    Rule(Rule),
}

impl From<StoredRule> for Decision {
    fn from(stored: StoredRule) -> Decision {
        match stored {
            StoredRule::Rule(rule) => Decision::from(rule),
            StoredRule::Rejecting { rule, reject } => Decision { rule, reject: Some(reject), tie: Tie::First },
            StoredRule::Tied { rule, reject, tie } => Decision { rule, reject, tie },
        }
    }
}

impl From<Decision> for StoredRule {
    fn from(decision: Decision) -> StoredRule {
        let Decision { rule, reject, tie } = decision;
        match (reject, tie) {
            (None, Tie::First) => StoredRule::Rule(rule),
            (Some(reject), Tie::First) => StoredRule::Rejecting { rule, reject },
            (reject, tie) => StoredRule::Tied { rule, reject, tie },
        }
    }
}

impl From<Rule> for Decision {
    fn from(rule: Rule) -> Decision {
        Decision { rule, reject: None, tie: Tie::First }
    }
}

impl Decision {
    /// Thresholds, costs and votes are settings.
    #[doc(hidden)]
    pub const ROLES: Roles = Roles::All(Role::Setting);

    /// Whether the decision makes sense for this many classes and for scores that have probabilities or not.
    pub fn check(&self, n_classes: usize, has_probabilities: bool) -> Result<()> {
        match &self.rule {
            Rule::ArgMax => {}
            Rule::Threshold(threshold) => check_threshold(*threshold, n_classes)?,
            Rule::Score(threshold) => check_score_threshold(*threshold, n_classes)?,
            Rule::Cost(costs) => check_costs(costs, n_classes)?,
            Rule::Scheme(scheme) => scheme.check(n_classes)?,
        }
        if let Some(cost) = self.reject
            && !(cost >= 0.0 && cost.is_finite())
        {
            return Err(Error::usage(format!("{cost} is not a cost of making no decision")).help(
                "zero or more; without a cost matrix it is the largest probability of a mistake, for example 0.1",
            ));
        }
        if let Rule::Scheme(scheme) = self.rule
            && self.tie != Tie::First
        {
            return Err(Error::usage(words![
                Setting::Tie,
                format!(" is about scores that are equal, and {} decides by votes", scheme.name())
            ])
            .help(words!["use ", Setting::Ties.any(["undetermined", "scores", "first"])]));
        }
        // At ½ the threshold is where the score changes its sign, whatever the score estimates.
        let score_decides = matches!(self.rule, Rule::ArgMax | Rule::Threshold(0.5) | Rule::Score(_) | Rule::Scheme(_))
            && self.reject.is_none();
        let without = !has_probabilities || matches!(self.rule, Rule::Scheme(_));
        if without && !score_decides {
            return Err(Error::usage("thresholds, costs and rejection need probabilities, and this method has none")
                .help("decide for the largest score (a threshold of 0.5)")
                .help(words!["use a threshold of the score, ", Setting::ScoreThreshold])
                .help(words!["use ", Setting::Model.any(["logistic", "lda"])])
                .help(words!["use ", Setting::Calibrate]));
        }
        Ok(())
    }

    /// The class of each row, `None` where no decision is made; of scores that are log-odds (two classes) or
    /// log-probabilities up to a constant.
    ///
    /// Thresholds and the costs of two classes are compared on the scale of the log-odds, so that nothing underflows however
    /// far a score is out.
    ///
    /// # Errors
    /// As [`Decision::check`].
    pub fn classes(&self, scores: &[f64], n_classes: usize) -> Result<Vec<Option<Class>>> {
        self.check(n_classes, true)?;
        let decided = match &self.rule {
            Rule::Scheme(scheme) => return Ok(scheme.classes(scores, n_classes)),
            Rule::ArgMax if self.tie == Tie::First => classes(scores, n_classes).into_iter().map(Some).collect(),
            Rule::ArgMax if n_classes == 2 => Cut::Above(0.0).classes(scores, self.tie),
            Rule::ArgMax => scores.chunks_exact(n_classes).map(|row| self.tie.largest(row)).collect(),
            Rule::Threshold(threshold) => Cut::at_probability(*threshold).classes(scores, self.tie),
            Rule::Score(threshold) => Cut::Above(*threshold).classes(scores, self.tie),
            Rule::Cost(costs) => least_cost(costs, scores, self.tie),
        };
        let Some(reject) = self.reject else { return Ok(decided) };
        let expected = self.expected_costs(scores, &decided, n_classes);
        // Probabilities that are all 1/K have a risk of 1 − 1/K but for the rounding of K sums.
        let limit = reject * (1.0 + n_classes as f64 * f64::EPSILON);
        // Written so that NaN scores are rejected.
        Ok(decided.into_iter().zip(expected).map(|(class, cost)| class.filter(|_| cost <= limit)).collect())
    }

    /// Where decisions between classes change on the scale of the scores, rejection left aside: of two classes the log-odds
    /// above which the last is decided, of more 0 where the largest score decides. `None` where no one number says it:
    /// costs of more classes, and costs that always favour one class or reward mistakes.
    ///
    /// ```
    /// use linsep::decide::{Decision, Rule};
    /// assert_eq!(Decision::default().cut(3), Some(0.0));
    /// assert_eq!(Decision::from(Rule::Threshold(0.5)).cut(2), Some(0.0));
    /// let costs = Decision::from(Rule::Cost(vec![vec![0.0, 1.0], vec![4.0, 0.0]]));
    /// assert_eq!(costs.cut(2), Some(0.25f64.ln()));
    /// ```
    pub fn cut(&self, n_classes: usize) -> Option<f64> {
        let cut = match &self.rule {
            Rule::ArgMax => Cut::Above(0.0),
            Rule::Threshold(threshold) => Cut::at_probability(*threshold),
            Rule::Score(threshold) => Cut::Above(*threshold),
            Rule::Cost(costs) if n_classes == 2 => Cut::at_costs(costs),
            Rule::Cost(costs) if treats_mistakes_alike(costs) => Cut::Above(0.0),
            Rule::Scheme(scheme) if scheme.is_arg_max() => Cut::Above(0.0),
            Rule::Cost(_) | Rule::Scheme(_) => return None,
        };
        match cut {
            Cut::Above(cut) if cut.is_finite() => Some(cut),
            _ => None,
        }
    }

    /// The scheme, where the scores are those of two-class fits.
    pub fn scheme(&self) -> Option<Scheme> {
        match self.rule {
            Rule::Scheme(scheme) => Some(scheme),
            _ => None,
        }
    }

    /// Whether rows may be undetermined: two-class fits may contradict each other.
    pub fn may_be_undetermined(&self) -> bool {
        self.scheme().is_some_and(|scheme| scheme.ties() == Ties::Undetermined)
    }

    /// Whether rows may be rejected: where the expected cost is too large, or at an exact tie.
    pub fn may_reject(&self) -> bool {
        self.reject.is_some() || self.tie == Tie::Reject
    }

    /// Whether rows may be without a class.
    pub fn may_leave_open(&self) -> bool {
        self.may_reject() || self.may_be_undetermined()
    }

    /// Number of scores that the decision asks for.
    pub fn n_scores(&self, n_classes: usize) -> usize {
        match self.scheme() {
            Some(scheme) => scheme.n_scores(n_classes),
            None if n_classes == 2 => 1,
            None => n_classes,
        }
    }

    /// What a decision costs when the truth is known; without a matrix a mistake costs 1. `None` where a row was rejected but
    /// rejection has no cost, and outside the matrix.
    pub fn cost(&self, truth: Class, decided: Option<Class>) -> Option<f64> {
        let Some(decided) = decided else { return self.reject };
        match &self.rule {
            Rule::Cost(costs) => costs.get(truth.index())?.get(decided.index()).copied(),
            _ => Some(f64::from(u8::from(truth != decided))),
        }
    }

    /// `Σ_k p_k cost(k, decided)` of each row: summed, since `1 − p` would cancel for a small risk.
    fn expected_costs(&self, scores: &[f64], decided: &[Option<Class>], n_classes: usize) -> Vec<f64> {
        let p = probabilities(scores, n_classes);
        let cost = |truth: usize, class: Option<Class>| self.cost(Class(truth as u32), class).unwrap_or(0.0);
        let expected =
            |(p, class): (&[f64], &Option<Class>)| p.iter().enumerate().map(|(k, p)| p * cost(k, *class)).sum();
        p.chunks_exact(n_classes).zip(decided).map(expected).collect()
    }
}

fn check_threshold(threshold: f64, n_classes: usize) -> Result<()> {
    // Written so that NaN is refused, too.
    if !(threshold > 0.0 && threshold < 1.0) {
        return Err(Error::usage(format!("the threshold {threshold} is not between 0 and 1"))
            .help("it is a probability, for example 0.2; at 0 or 1 there would be nothing to decide"));
    }
    if n_classes != 2 {
        return Err(Error::usage(format!("a threshold decides between two classes, and there are {n_classes}"))
            .help("give the costs of mistakes instead"));
    }
    Ok(())
}

fn check_score_threshold(threshold: f64, n_classes: usize) -> Result<()> {
    if !threshold.is_finite() {
        return Err(Error::usage(format!("{threshold} is not a threshold of scores")).help("it is a finite number"));
    }
    if n_classes != 2 {
        return Err(Error::usage(format!("a threshold decides between two classes, and there are {n_classes}"))
            .help("decide for the largest score"));
    }
    Ok(())
}

fn check_costs(costs: &[Vec<f64>], n_classes: usize) -> Result<()> {
    if costs.len() != n_classes || costs.iter().any(|row| row.len() != n_classes) {
        let width = costs.iter().map(Vec::len).find(|width| *width != n_classes).unwrap_or(n_classes);
        return Err(Error::usage(format!(
            "the cost matrix is {}×{width}, and there are {n_classes} classes",
            costs.len()
        ))
        .help("a row for every true class, and in it a column for every decision"));
    }
    match costs.iter().flatten().find(|cost| !cost.is_finite()) {
        Some(cost) => Err(Error::usage(format!("{cost} is not a cost")).help("costs are finite numbers")),
        None => Ok(()),
    }
}
